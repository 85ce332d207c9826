"""What is known about the noise of all nodes, and about how well their mechanisms fit?

A model remembers up to 32,768 of the rows that it was fitted on. Their noises, abducted when they
are first asked for, are what new people are drawn from: each node on its own, nodes with hidden
common causes together. Fit and independence are worked out on up to 20,000 of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from causalfairness.scm.choice import Choice
from causalfairness.scm.evaluation import Equations, Streams, Values, abduct
from causalfairness.scm.goodness import CHECKED, NodeFit, cross_validate, independence
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]
KEPT = 2**15  # rows


class Background(Protocol):
    """What is known about noise and fit?"""

    @property
    def noise(self) -> Values:
        """The noises of some observed people; entries at the same place are the same person's."""
        ...

    @property
    def fits(self) -> tuple[NodeFit, ...]:
        """How well does each mechanism fit?"""
        ...


@dataclass(frozen=True, eq=False)
class Remembered:
    """What do remembered rows say about noise and fit?"""

    equations: Equations
    rows: Values
    choices: Mapping[str, Choice]
    seed: int

    @cached_property
    def noise(self) -> dict[str, Array]:
        """The noises of the remembered rows."""
        nodes = self.equations.graph.nodes
        return abduct(self.equations, self.rows, Streams(nodes, self.seed), nodes)

    @cached_property
    def fits(self) -> tuple[NodeFit, ...]:
        """How well does each mechanism fit, by cross-validation?"""
        return tuple(self._fit(node) for node in self.equations.graph.nodes)

    def sample(self, node: str) -> Sample:
        """On which rows is the mechanism of a node checked?"""
        return sample_of(self.equations, self.rows, node, self.seed)

    def _fit(self, node: str) -> NodeFit:
        choice, causes = self.choices[node], self.equations.graph.parent_map[node]
        plain = NodeFit(node, str(choice.mechanism), choice.why, causes)
        if not causes or not choice.mechanism.learns:
            return plain
        sample = self.sample(node)
        check = choice.check or cross_validate(choice.mechanism, sample)
        return replace(
            plain,
            measure=check.measure,
            value=check.value,
            baseline=check.baseline,
            independence=independence(check, sample.causes),
            rows=len(sample),
        )


@dataclass(frozen=True, eq=False)
class Recorded:
    """What did a file say about noise and fit?"""

    noise: Values
    fits: tuple[NodeFit, ...]


def sample_of(equations: Equations, rows: Values, node: str, seed: int) -> Sample:
    """On which of these rows is a mechanism chosen and checked?"""
    n = len(rows[node])
    picked = spread_rows(n, CHECKED, seed)
    causes = equations.causes(node, rows, n).take(picked)
    return Sample(equations.domains[node], rows[node][picked], causes, seed)


def spread_rows(n: int, most: int, seed: int) -> NDArray[np.intp]:
    """Which rows are remembered? All, or one at random out of each of `most` equal stretches.

    >>> spread_rows(3, 10, seed=0).tolist(), len(spread_rows(1_000, 10, seed=0))
    ([0, 1, 2], 10)
    """
    if n <= most:
        return np.arange(n)
    edges = np.arange(most + 1)
    edges *= n
    edges //= most
    luck = np.random.default_rng(seed).random(most)
    luck *= np.diff(edges)
    luck += edges[:-1]
    return luck.astype(np.intp)
