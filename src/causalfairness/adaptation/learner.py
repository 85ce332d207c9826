"""How is the distribution of a column given its causes learned? What every learner must offer.

A learner turns rows into a conditional distribution F(v | causes), which answers two questions
that undo each other:

    rank      u = F(v | causes)          which place does a value have among people alike?
    quantile  v = F^-1(u | causes)       which value has this place?

Values that several rows share come spread over a cell of their own, at random but evenly, so that
learners meet no ties; `edges` are the ends of these cells. Between two edges in a row lies what was
one value, and a learner that knows them can be exact for discrete columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]  # of groups; 0 is the reference


class ConditionalDistribution(Protocol):
    """How are the values of a column distributed, given its causes? One row a person.

    >>> from causalfairness.adaptation import LinearQuantiles
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.normal(size=(500, 1))
    >>> values = causes[:, 0] + rng.normal(size=500)
    >>> found = LinearQuantiles().fit(causes, values, edges=np.sort(values), seed=0)
    >>> back = found.quantile(causes, found.rank(causes, values))
    >>> bool(np.abs(back - values).max() < 1e-6)
    True
    """

    def rank(self, causes: Array, values: Array) -> Array:
        """Which share of people with the same causes has a lower value? Between 0 and 1."""

    def quantile(self, causes: Array, ranks: Array) -> Array:
        """Which value has this place among people with the same causes?"""


class QuantileLearner(Protocol):
    """What learns a conditional distribution of one group? Anything with this `fit`.

    >>> from causalfairness.adaptation import LinearQuantiles
    >>> hasattr(LinearQuantiles(), "fit")
    True
    """

    def fit(
        self, causes: Array, values: Array, *, edges: Array, seed: int
    ) -> ConditionalDistribution:
        """How are these values distributed given these causes? `causes` may have no columns."""


@dataclass(frozen=True, eq=False)
class OwnDistributions:
    """A distribution for each group, by a learner that sees one group at a time."""

    by_group: tuple[ConditionalDistribution, ...]

    def rank(self, causes: Array, values: Array, group: Codes) -> Array:
        """The share of people alike that has a lower value."""
        return self._each("rank", causes, values, group)

    def quantile(self, causes: Array, ranks: Array, group: Codes) -> Array:
        """The value that has this place among people alike."""
        return self._each("quantile", causes, ranks, group)

    def moved(self, values: Array, causes: Array, group: Codes, causes_to: Array) -> Array:
        """What values would be in the reference group with other causes."""
        return self.by_group[0].quantile(causes_to, self.rank(causes, values, group))

    def _each(self, what: str, causes: Array, asked: Array, group: Codes) -> Array:
        result = np.empty(len(asked))
        for code in np.unique(group):
            here = group == code
            result[here] = getattr(self.by_group[code], what)(causes[here], asked[here])
        return result


def fit_each(
    learner: QuantileLearner, causes: Array, values: Array, group: Codes, edges: Array, seed: int
) -> OwnDistributions:
    """How values are distributed given causes, in each group on its own."""
    rows = [group == code for code in range(int(group.max()) + 1)]
    found = (
        learner.fit(causes[here], values[here], edges=edges, seed=seed + code)
        for code, here in enumerate(rows)
    )
    return OwnDistributions(tuple(found))
