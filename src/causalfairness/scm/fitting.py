"""How is a structural causal model fitted, and what is remembered of the rows it was fitted on?

One mechanism per node, each on its own causes, with the weights that rows have; which kind suits is
chosen, and checked, among people who count once. Linear nodes are fitted together in one pass over
the rows; all others one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError, NotIdentifiedError
from causalfairness.graph import CausalGraph
from causalfairness.scm.choice import Choice, as_mechanisms, choose
from causalfairness.scm.domain import read_domain
from causalfairness.scm.evaluation import Equations, Streams, Values, abduct, in_order
from causalfairness.scm.goodness import CHECKED, NodeFit, cross_validate, independence
from causalfairness.scm.linear import Linear, fit_together
from causalfairness.scm.mechanism import FittedMechanism, Sample
from causalfairness.scm.roots import Empirical
from causalfairness.tables.fingerprint import mix
from causalfairness.tables.frames import Template, frame_rows

Array = NDArray[np.float64]
KEPT = 2**15  # rows


def fit_model(
    graph: CausalGraph, data: Any, mechanisms: Mapping[str, Any] | None, seed: int
) -> tuple[Equations, Remembered, Template]:
    """Which equations fit this data, given the graph and what the user said about mechanisms?"""
    given = as_mechanisms(mechanisms, graph)
    rows = frame_rows(data, graph.nodes, unweighted=None)
    read = {node: read_domain(rows, node) for node in graph.nodes}
    domains = {node: domain for node, (domain, _) in read.items()}
    values, weights = {node: column for node, (_, column) in read.items()}, rows.weights
    picked = picked_rows(values, KEPT, seed)
    kept, counted = _in_order(values, weights, picked)
    learned = {node for node in graph.nodes if node not in given or given[node].learns}
    check_hidden(graph, learned)
    _check_varies(graph, values, learned)
    unfitted = Equations(graph, domains, {})
    choices = {node: Choice(mechanism, "given") for node, mechanism in given.items()}
    for node in graph.nodes:
        if node not in given:
            causes = graph.parent_map[node]
            sample = sample_of(unfitted, kept, node, seed) if causes else None
            choices[node] = choose(sample) if sample else Choice(Empirical(), "no causes")
    if not all(isinstance(choice.mechanism, Linear | Empirical) for choice in choices.values()):
        values, weights = _in_order(values, weights, slice(None))  # what learns may draw
    samples = {node: unfitted.sample(node, values, seed, weights) for node in choices}
    linear = [node for node, choice in choices.items() if isinstance(choice.mechanism, Linear)]
    together = fit_together([samples[node] for node in linear]) if linear else []
    lines = dict(zip(linear, together, strict=True))
    fitted: dict[str, FittedMechanism] = {
        node: lines[node] if node in lines else choices[node].mechanism.fit(samples[node])
        for node in choices
    }
    equations = Equations(graph, domains, fitted)
    digests = {node: _digest(column) for node, column in values.items()}
    count = len(values[graph.nodes[0]])
    background = Remembered(equations, kept, choices, seed, counted, count, digests)
    return equations, background, rows.template(graph.nodes)


def _digest(column: Array) -> int:
    """A number for what a column holds, whatever the order of its rows."""
    parts = (column[at : at + KEPT] for at in range(0, len(column), KEPT))
    return sum(int(mix([part], len(column)).sum()) for part in parts) % 2**64


def _in_order(
    values: Values, weights: Array | None, rows: Any
) -> tuple[dict[str, Array], Array | None]:
    """What do these rows hold, and how much do they count, in the order of their content?"""
    taken = {node: column[rows] for node, column in values.items()}
    if weights is None:
        return in_order(taken)[1], None
    order, found = in_order(taken, {"weights": weights[rows]})
    return found, weights[rows][order.rows]


def _check_varies(graph: CausalGraph, values: Values, learned: set[str]) -> None:
    """Can something be learned about what each cause does?"""
    for node in graph.nodes:
        effects = [child for child in graph.child_map[node] if child in learned]
        column = values[node]
        if effects and len(column) and column.min() == column.max():
            raise MechanismError(
                f"{node!r} never varies in this data, so nothing can be learned about what it does "
                f"to {effects[0]!r}; bring rows where it does, or leave it out of the graph"
            )


@dataclass(frozen=True, eq=False)
class Remembered:
    """What do remembered rows say about noise and fit?

    A model remembers up to 32,768 of the rows that it was fitted on. Their noises, abducted when
    they are first asked for, are what new people are drawn from: each node on its own, nodes with
    hidden common causes together. Fit and independence are worked out on up to 20,000 of them.
    """

    equations: Equations
    rows: Values
    choices: Mapping[str, Choice]
    seed: int
    weights: Array | None = None  # of the remembered rows; None: all count alike
    count: int = 0  # of all rows that it was fitted to
    digests: Mapping[str, int] = field(default_factory=dict)  # of each node in all of them

    def fitted_to(self, values: Values) -> bool:
        """Are these all rows that the model was fitted to, in any order? By the nodes given."""
        return all(
            _digest(column) == self.digests[node]
            for node, column in values.items()
            if node in self.digests
        )

    @cached_property
    def noise(self) -> dict[str, Array]:
        """The noises of the remembered rows; where these count differently, as often as they do."""
        nodes = self.equations.graph.nodes
        found = abduct(self.equations, self.rows, Streams(nodes, self.seed), nodes)
        if self.weights is None:
            return found
        until = np.cumsum(self.weights)
        often = np.searchsorted(until, (np.arange(KEPT) + 0.5) * until[-1] / KEPT)
        return {node: noise[often] for node, noise in found.items()}

    @cached_property
    def fits(self) -> tuple[NodeFit, ...]:
        """How well does each mechanism fit, by cross-validation?"""
        return tuple(self._fit(node) for node in self.equations.graph.nodes)

    def _fit(self, node: str) -> NodeFit:
        choice, causes = self.choices[node], self.equations.graph.parent_map[node]
        plain = NodeFit(node, str(choice.mechanism), choice.why, causes)
        if not causes or not choice.mechanism.learns:
            return plain
        sample = sample_of(self.equations, self.rows, node, self.seed)
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


Background = Remembered | Recorded  # what is known about noise and fit


def sample_of(equations: Equations, rows: Values, node: str, seed: int) -> Sample:
    """On which of these rows is a mechanism chosen and checked?"""
    picked = spread_rows(len(rows[node]), CHECKED, seed)
    return replace(equations.sample(node, rows, seed).take(picked), partial=False)


def picked_rows(values: Values, most: int, seed: int) -> NDArray[np.intp]:
    """Which rows are remembered? All, or those that a mix of what they hold puts first.

    >>> values = {"age": np.arange(100_000.0)}
    >>> picked = picked_rows(values, 10, seed=0)
    >>> again = picked_rows({"age": values["age"][::-1]}, 10, seed=0)
    >>> sorted(picked) == sorted(99_999 - again)
    True
    """
    n = len(next(iter(values.values())))
    first = np.arange(min(n, most))
    for start in range(most, n, step := most // 8 + 1):
        first = np.append(first, np.arange(start, min(start + step, n)))
        words = mix([column[first] for column in values.values()], seed)
        first = first[np.argpartition(words, most - 1)[:most]]
    return first


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


def check_hidden(graph: CausalGraph, learned: Collection[str]) -> None:
    """Can the mechanisms of these nodes be learned in spite of hidden causes?

    A fitted mechanism needs noise that is independent of its causes. A hidden cause of a node and
    of one of its ancestors breaks that: what the ancestor does and what comes along with it cannot
    be told apart. One of two nodes of which neither leads to the other does no harm to fitting or
    to invertible abduction: noises then come together, and are drawn together (`districts`).

    >>> check_hidden(CausalGraph.parse("race <-> age; {race, age} -> pay"), ["pay"])
    """
    for one, other in graph.hidden:
        for cause, effect in ((one, other), (other, one)):
            if effect in learned and cause in graph.ancestors(effect):
                raise NotIdentifiedError(
                    f"{cause} <-> {effect}: a hidden common cause of {effect!r} and of {cause!r}, "
                    "which leads to it. What the one does to the other cannot be learned from "
                    "data. Correct the edge if it is wrong, record the hidden cause as a column, "
                    f"or give the equation of {effect!r} (StructuralEquation)"
                )


def districts(graph: CausalGraph) -> tuple[tuple[str, ...], ...]:
    """Which nodes have noises that come together? Those linked by hidden causes, step by step.

    >>> districts(CausalGraph.parse("a <-> b; b <-> c; {a, b, c} -> d"))
    (('a', 'b', 'c'), ('d',))
    """
    district = {node: {node} for node in graph.nodes}
    for one, other in graph.hidden:
        together = district[one] | district[other]
        district |= dict.fromkeys(together, together)
    in_order = ([node for node in graph.nodes if node in names] for names in district.values())
    return tuple(dict.fromkeys(map(tuple, in_order)))
