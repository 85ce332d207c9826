"""What happens in a world? Every node from its causes and its noise, causes before effects.

This is the one loop behind sampling, interventions, counterfactuals and nested worlds:

    propagate(model, noise, settled, told)

`settled` holds the nodes whose value is not computed: those set by an intervention, and those that
it does not reach. `told` maps an edge (cause, effect) to what the effect is told about the cause,
in place of the cause's value in this world. So a path-specific world, in which some edges out of A
carry a1 and all others a0, is one call:

    settled = {A: a0}, told = {(A, child): a1 for the edges that carry a1}

and a nested world reads values of another by putting arrays returned by one call into `told` of the
next. Noise is the same in all of them: that is what makes them worlds of the same people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.graph import CausalGraph
from causalfairness.scm.causes import Causes
from causalfairness.scm.domain import Domain
from causalfairness.scm.linear import LinearEquation, contribution
from causalfairness.scm.mechanism import FittedMechanism, Sample
from causalfairness.tables import Column
from causalfairness.tables.fingerprint import Arrangement, arrange

Array = NDArray[np.float64]
Edge = tuple[str, str]
Values = Mapping[str, Array]  # node -> one value per row


class Equations(NamedTuple):
    """Which equations make a model? One for each node, with the values it can take."""

    graph: CausalGraph
    domains: Mapping[str, Domain]
    fitted: Mapping[str, FittedMechanism]

    def causes(self, node: str, values: Values, rows: int) -> Causes:
        """What are the causes of a node, given the values of all?"""
        parents = self.graph.parent_map[node]
        return Causes(
            rows,
            tuple(self.domains[parent] for parent in parents),
            tuple(values[parent] for parent in parents),
        )

    def sample(self, node: str, values: Values, seed: int, weights: Array | None = None) -> Sample:
        """From which rows is the mechanism of a node learned, given the values of all?"""
        column = values[node]
        causes = self.causes(node, values, len(column))
        return Sample(self.domains[node], column, causes, seed, weights=weights)


@dataclass(frozen=True, eq=False)
class Streams:
    """Which random numbers does each node get? Its own, whatever is asked of other nodes.

    >>> first, again = (Streams(("a", "b"), seed=0)["b"].random() for _ in range(2))
    >>> first == again
    True
    """

    nodes: tuple[str, ...]
    seed: int
    draw: int = 0
    _started: dict[str, np.random.Generator] = field(default_factory=dict)

    def __getitem__(self, node: str) -> np.random.Generator:
        if node not in self._started:
            key = (self.nodes.index(node), self.draw)
            sequence = np.random.SeedSequence(self.seed, spawn_key=key)
            self._started[node] = np.random.default_rng(sequence)
        return self._started[node]


def in_order(
    values: Values, beside: Mapping[str, NDArray[Any]] | None = None
) -> tuple[Arrangement, dict[str, Array]]:
    """In which order do rows come by what they hold, and what do they hold then?

    Rows alike in `values` come in the order of what stands `beside` them.

    >>> in_order({"age": np.array([41.0, 30.0])})[1]["age"].tolist() == in_order(
    ...     {"age": np.array([30.0, 41.0])})[1]["age"].tolist()
    True
    """
    columns = [Column.numbers(node, column) for node, column in values.items()]
    ties = [Column.numbers(node, column) for node, column in (beside or {}).items()]
    found = arrange(columns, ties)
    return found, {node: column[found.rows] for node, column in values.items()}


def abduct(
    equations: Equations, values: Values, streams: Streams, nodes: Collection[str]
) -> dict[str, Array]:
    """Which noise made these nodes what they are?

    Each node draws from its own stream, so that its noise does not depend on which others are asked
    for.
    """
    found = {}
    for node in nodes:
        causes = equations.causes(node, values, len(values[node]))
        with _naming(node):
            found[node] = equations.fitted[node].abduct(values[node], causes, streams[node])
    return found


def propagate(
    equations: Equations,
    noise: Values,
    settled: Values,
    told: Mapping[Edge, Array] | None = None,
) -> dict[str, Array]:
    """What is every node in the world with this noise, these settled values, and this hearsay?

    Nodes that are neither settled nor have noise are left out, and so must be their effects.

    >>> from causalfairness.scm.roots import Observed
    >>> graph = CausalGraph.parse("a -> m -> y; a -> y")
    >>> domains = {node: Domain(node) for node in graph.nodes}
    >>> fitted = {"a": Observed(0.0), "m": LinearEquation(0.0, (2.0,)),
    ...           "y": LinearEquation(0.0, (1.0, 10.0))}
    >>> equations = Equations(graph, domains, fitted)
    >>> noise = {"m": np.zeros(1), "y": np.zeros(1)}
    >>> zero, one = np.zeros(1), np.ones(1)
    >>> graph.parents("y")
    ('a', 'm')
    >>> propagate(equations, noise, {"a": one})["y"].tolist()
    [21.0]
    >>> propagate(equations, noise, {"a": zero}, told={("a", "y"): one})["y"].tolist()
    [1.0]
    """
    values = dict(settled)
    for node in equations.graph.topological_order():
        if node in values or node not in noise:
            continue
        heard = {cause: value for (cause, effect), value in (told or {}).items() if effect == node}
        causes = equations.causes(node, values | heard, len(noise[node]))
        with _naming(node):
            values[node] = equations.fitted[node].apply(noise[node], causes)
    return values


def carry(
    equations: Equations, observed: Values, settled: Values, streams: Streams, into: Values
) -> None:
    """What would these people's values be, had the settled nodes had these values?

    Abduction and propagation in one walk over the descendants, which are written to `into`,
    together with the settled nodes. Where noise is added to a line the value is moved by what the
    changes of its causes add up to, which is the same with fewer roundings.
    """
    for node, values in settled.items():
        into[node][:] = values
    reached = frozenset(equations.graph.descendants(settled))
    worlds = _Worlds(observed, dict(settled), {})
    for node in equations.graph.topological_order():
        if node not in reached:
            continue
        fitted, own = equations.fitted[node], observed[node]
        if isinstance(fitted, LinearEquation):
            move = _move(fitted, equations.graph.parent_map[node], worlds)
            worlds.moves[node] = move
            np.multiply(move.times, move.by, out=into[node])
            into[node][:] += own
        else:
            before = equations.causes(node, observed, len(own))
            after = equations.causes(node, {**observed, **worlds.changed}, len(own))
            with _naming(node):
                noise = fitted.abduct(own, before, streams[node])
                into[node][:] = fitted.apply(noise, after)
        worlds.changed[node] = into[node]


class _Move(NamedTuple):
    """By how much a node moves. Nodes that follow from one change share the array."""

    times: float
    by: Array


class _Worlds(NamedTuple):
    """The factual world, what differs from it in the other, and by how much."""

    observed: Values
    changed: dict[str, Array]
    moves: dict[str, _Move]

    def move(self, node: str) -> _Move:
        if node not in self.moves:
            self.moves[node] = _Move(1.0, self.changed[node] - self.observed[node])
        return self.moves[node]


def _move(fitted: LinearEquation, parents: tuple[str, ...], worlds: _Worlds) -> _Move:
    """By how much a linear node moves: the sum over causes that changed."""
    parts = []
    for slope, parent in zip(fitted.slopes, parents, strict=True):
        if parent not in worlds.changed:
            continue
        if isinstance(slope, float):
            move = worlds.move(parent)
            parts.append(_Move(slope * move.times, move.by))
        else:
            by = contribution(slope, worlds.changed[parent])
            by -= contribution(slope, worlds.observed[parent])
            parts.append(_Move(1.0, by))
    first = parts[0].by  # there is one: a node is reached through one of its causes
    if all(part.by is first for part in parts):
        return _Move(sum(part.times for part in parts), first)
    total = parts[0].times * first
    for part in parts[1:]:
        total += part.times * part.by
    return _Move(1.0, total)


@contextmanager
def _naming(node: str) -> Iterator[None]:
    """Whose mechanism is it that failed?"""
    try:
        yield
    except MechanismError as error:
        raise MechanismError(f"the mechanism of {node!r}: {error}") from error
