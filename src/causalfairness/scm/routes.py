"""Along which arrows does a change of the protected attribute travel to the outcome?

An edge set lists, for the nodes that it speaks of, the arrows that pass the change on:

    out of the protected attribute     only the listed arrows carry the comparison value
    out of a node with listed arrows   only those carry what the node has become
    out of any other node              all arrows do

and every other arrow carries what its cause is in the reference world. So {A -> W} stands for all
paths that begin with A -> W, and {A -> W, W -> Y} for the path A -> W -> Y alone. This is always
defined in a structural model (methods §7; Avin, Shpitser and Pearl 2005).

A set of paths is an edge set out of A, unless one arrow A -> W begins both a path that is asked
for and one that is not. W is then a recanting witness: it would have to have both of its values at
once. The effect is not identified, by any data, and is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from causalfairness.errors import NotIdentifiedError, PathError
from causalfairness.graph import CausalGraph
from causalfairness.graph.notation import quote, read_notation

Edge = tuple[str, str]
Path = tuple[str, ...]


@dataclass(frozen=True)
class Routes:
    """Which arrows carry the change, and which hold it back?

    `moved` are the nodes between the protected attribute and the outcome, the outcome among them,
    and `reached` those of them that the change reaches. `told` are the arrows out of the protected
    attribute that carry the comparison value; `held` are arrows out of reached nodes that carry the
    reference world's value all the same.

    >>> graph = CausalGraph.parse("a -> w -> y; a -> y")
    >>> print(routes_of(graph, ("a",), "y", edges=["a -> w"]))
    a -> w
    """

    protected: tuple[str, ...]
    outcome: str
    moved: tuple[str, ...]
    reached: tuple[str, ...]
    told: tuple[Edge, ...]
    held: tuple[Edge, ...] = ()
    listed: tuple[Edge, ...] | None = None  # None where all were meant

    @property
    def splitting(self) -> tuple[str, ...]:
        """Which nodes pass the change on along some of their arrows only?"""
        return tuple(dict.fromkeys(cause for cause, _ in self.held))

    def __str__(self) -> str:
        if self.listed is None:
            return f"{', '.join(map(quote, self.protected))} -> ... -> {quote(self.outcome)}"
        return "; ".join(map(written, self.listed))


def routes_of(
    graph: CausalGraph,
    protected: tuple[str, ...],
    outcome: str,
    *,
    edges: Any = None,
    paths: Any = None,
) -> Routes:
    """Which arrows carry the change? All of them, unless `edges` or `paths` says otherwise.

    >>> graph = CausalGraph.parse("a -> v -> w -> y; {a, v} -> y")
    >>> routes_of(graph, ("a",), "y").told
    (('a', 'v'), ('a', 'y'))
    >>> routes_of(graph, ("a",), "y", paths=["a -> y"]).told
    (('a', 'y'),)
    >>> routes_of(graph, ("a",), "y", edges=["a -> v", "v -> w"]).held
    (('v', 'y'),)
    """
    if edges is not None and paths is not None:
        raise PathError(
            "edges and paths are two ways to say which arrows carry the change: give one"
        )
    field = _field(graph, protected, outcome)
    if edges is not None:
        return field.along_edges(_read_edges(edges))
    if paths is not None:
        return field.along_paths(frozenset(_read_paths(paths)))
    told = tuple(edge for edge in field.arrows if edge[0] in protected)
    return Routes(protected, outcome, field.moved, field.moved, told)


def written(edge: Sequence[str]) -> str:
    """How is an arrow, or a path, written?

    >>> written(("a", "years worked", "y"))
    'a -> "years worked" -> y'
    """
    return " -> ".join(map(quote, edge))


def _field(graph: CausalGraph, protected: tuple[str, ...], outcome: str) -> _Field:
    caused = frozenset(graph.descendants(protected))
    causes = frozenset((*graph.ancestors(outcome, avoiding=protected), outcome))
    moved = tuple(node for node in graph.nodes if node in caused and node in causes)
    starts = frozenset((*protected, *moved))
    arrows = tuple(edge for edge in graph.arrows if edge[0] in starts and edge[1] in moved)
    return _Field(graph, protected, outcome, moved, arrows)


@dataclass(frozen=True)
class _Field:
    """All that lies between the protected attribute and the outcome: nodes, and arrows."""

    graph: CausalGraph
    protected: tuple[str, ...]
    outcome: str
    moved: tuple[str, ...]
    arrows: tuple[Edge, ...]

    def along_edges(self, wanted: Collection[Edge]) -> Routes:
        """The routes on which the listed arrows are the ones that pass the change on."""
        for edge in wanted:
            self._check(edge)
        listed = tuple(edge for edge in self.arrows if edge in wanted)
        speaking = {cause for cause, _ in listed}
        told = tuple(edge for edge in listed if edge[0] in self.protected)
        held = tuple(
            (cause, effect)
            for cause, effect in self.arrows
            if cause in speaking and cause in self.moved and (cause, effect) not in listed
        )
        reached = self._reached_from(told, held)
        for edge in listed:
            if edge[0] in self.moved and edge[0] not in reached:
                way = next(arrow for arrow in self.arrows if arrow[1] == edge[0])
                raise PathError(
                    f"{written(edge)} has nothing to pass on: along the arrows listed before it no "
                    f"change of {_names(self.protected)} reaches {edge[0]!r}. List the arrows that "
                    f"lead there as well, such as {written(way)}"
                )
        return Routes(self.protected, self.outcome, self.moved, reached, told, held, listed)

    def along_paths(self, wanted: Collection[Path]) -> Routes:
        """The routes that take these paths and no others, where that can be told."""
        for path in wanted:
            self._check_path(path)
        first = {path[:2]: path for path in wanted}
        told = tuple(edge for edge in self.arrows if edge in first)
        for edge in told:
            other = next((path for path in self._paths(edge) if path not in wanted), None)
            if other is not None:
                raise NotIdentifiedError(_recants(edge, first[edge], other))
        reached = self._reached_from(told, ())
        return Routes(self.protected, self.outcome, self.moved, reached, told, (), told)

    def _check(self, edge: Edge) -> None:
        cause, effect = edge
        effects = self.graph.children(cause)
        if effect not in (*effects, *self.graph.nodes):
            self.graph.children(effect)  # refuses, naming what is similar
        if effect not in effects:
            found = (
                f"{cause} leads to {', '.join(effects)}" if effects else f"{cause} causes nothing"
            )
            raise PathError(f"the graph has no arrow {written(edge)}; {found}")
        if effect in self.protected:
            raise PathError(
                f"{written(edge)} leads into {effect!r}, which is set itself; list arrows out of it"
            )
        if edge not in self.arrows:
            raise PathError(
                f"{written(edge)} is on no path from {_names(self.protected)} to {self.outcome!r}, "
                "so nothing travels along it; leave it out"
            )

    def _check_path(self, path: Path) -> None:
        if len(path) < 2 or path[0] not in self.protected or path[-1] != self.outcome:
            raise PathError(
                f"{written(path)} is not a path from {_names(self.protected)} to {self.outcome!r}; "
                "write every node on the way, from the first to the last"
            )
        for edge in pairwise(path):
            self._check(edge)

    def _reached_from(self, told: Collection[Edge], held: Collection[Edge]) -> tuple[str, ...]:
        """The nodes that the change reaches."""
        reached = {effect for _, effect in told}
        for node in self.graph.topological_order():
            if node in reached:
                reached |= {e for c, e in self.arrows if c == node and (c, e) not in held}
        return tuple(node for node in self.moved if node in reached)

    def _paths(self, start: Path) -> Iterator[Path]:
        """All paths to the outcome that begin so, one at a time: there may be very many."""
        if start[-1] == self.outcome:
            yield start
            return
        for cause, effect in self.arrows:
            if cause == start[-1]:
                yield from self._paths((*start, effect))


def _recants(edge: Edge, asked: Path, other: Path) -> str:
    witness = edge[1]
    return (
        f"{written(edge)} begins both a path that is asked for ({written(asked)}) and one that is "
        f"not ({written(other)}): {witness!r} is a recanting witness. It would have to be as in "
        "the comparison world for one and as in the reference world for the other, for the same "
        "person, and no data shows that. Ask for all paths that begin with this arrow, or for "
        "none of them; or give edges, and rely on the noise of the model"
    )


def _read_edges(edges: Any) -> list[Edge]:
    """Arrows as text or as pairs; a text may hold several."""
    found: list[Edge] = []
    for each in _several(edges, "edges", "a -> b"):
        if isinstance(each, str):
            parts = read_notation(each)
            if parts.hidden or not parts.arrows:
                raise PathError(f"{each!r} is not an arrow; write the edge as 'a -> b'")
            found += parts.arrows
        else:
            cause, effect = _names_in(each, "an edge", "'a -> b' or a pair of two nodes", 2)
            found.append((cause, effect))
    return found


def _read_paths(paths: Any) -> list[Path]:
    """Paths as text, one each, or as tuples of nodes."""
    found: list[Path] = []
    for each in _several(paths, "paths", "a -> b -> c"):
        if not isinstance(each, str):
            found.append(_names_in(each, "a path", "'a -> b -> c' or the nodes on the way"))
            continue
        parts = read_notation(each)
        chained = all(one[1] == other[0] for one, other in pairwise(parts.arrows))
        if parts.hidden or not parts.arrows or not chained:
            raise PathError(f"{each!r} is not a path; write one path per text, as 'a -> b -> c'")
        found.append((*(cause for cause, _ in parts.arrows), parts.arrows[-1][1]))
    return found


def _several(given: Any, what: str, example: str) -> list[Any]:
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise PathError(f"{what} is {given!r}; expected a list such as [{example!r}]")
    found = [*given]
    if not found:
        raise PathError(f"{what} is empty, so nothing would change; list at least one")
    return found


def _names_in(given: Any, what: str, expected: str, size: int | None = None) -> Path:
    names = tuple(given) if isinstance(given, Iterable) else ()
    if len(names) != (size or max(len(names), 1)) or not all(isinstance(n, str) for n in names):
        raise PathError(f"{given!r} is not {what}; write {expected}")
    return names


def _names(nodes: Sequence[str]) -> str:
    return " and ".join(map(repr, nodes))
