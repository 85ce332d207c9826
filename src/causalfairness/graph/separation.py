"""Which columns carry no information about each other, once others are known?

A path between two columns is blocked by the columns in `given` when it passes through one of
them that is not a collider, or through a collider (two arrowheads meeting) that neither is in
`given` nor causes anything in it. Columns are separated when every path is blocked; a hidden
common cause is an edge with an arrowhead at both ends. Data drawn from the graph then shows
the columns independent given the others.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalfairness.graph.notation import quote

if TYPE_CHECKING:
    from causalfairness.graph.causal_graph import CausalGraph


@dataclass(frozen=True, slots=True)
class Independence:
    """What should data show if the graph is right? `left` and `right` independent given `given`.

    >>> print(Independence("age", "zip", ("sex", "race")))
    age _||_ zip | sex, race
    >>> print(Independence("age", "sex"))
    age _||_ sex
    """

    left: str
    right: str
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        pair = f"{quote(self.left)} _||_ {quote(self.right)}"
        return f"{pair} | {', '.join(map(quote, self.given))}" if self.given else pair


def connected_nodes(
    graph: CausalGraph, start: Collection[str], given: Collection[str]
) -> frozenset[str]:
    """Which nodes does an open path from `start` reach? Every end of an edge is passed once.

    A walk turns around only at known colliders. That finds the open paths through causes of
    known columns too: the walk goes down to the known column and comes back.

    >>> from causalfairness.graph import CausalGraph
    >>> graph = CausalGraph.parse("a -> b -> c; d -> b")
    >>> sorted(connected_nodes(graph, {"a"}, given={"b"}))
    ['a', 'd']
    """
    known = frozenset(given)
    reached: set[tuple[str, bool]] = set()  # the node, and whether an arrowhead led into it
    waiting = [(node, False) for node in start if node not in known]
    while waiting:
        state = waiting.pop()
        if state in reached:
            continue
        reached.add(state)
        node, by_arrowhead = state
        if node not in known:
            waiting += [(effect, True) for effect in graph.child_map[node]]
        if by_arrowhead == (node in known):  # a known collider, or no collider and not known
            waiting += [(cause, False) for cause in graph.parent_map[node]]
            waiting += [(partner, True) for partner in graph.partner_map[node]]
    return frozenset(node for node, _ in reached if node not in known)


def implied_independences(graph: CausalGraph) -> list[Independence]:
    """Which pairwise independences follow from the graph, each with a small set given?

    For `earlier` before `later` in causal order, look only at the two and their causes. There,
    everything that `later` depends on directly is its *blanket*: the columns linked to it by
    hidden causes, and the parents of those and of itself. Given the blanket, `later` is
    independent of the rest; a pair with `earlier` in the blanket cannot be separated at all.
    Without hidden causes the blanket is the set of parents.

    >>> from causalfairness.graph import CausalGraph
    >>> graph = CausalGraph.parse("a -> b -> c <-> d; a -> d")
    >>> print(*implied_independences(graph), sep="; ")
    a _||_ c | b; b _||_ d | a
    """
    order = graph.topological_order()
    bit = {node: 1 << place for place, node in enumerate(order)}
    parents = {node: _mask(graph.parent_map[node], bit) for node in order}
    partners = {node: _mask(graph.partner_map[node], bit) for node in order}
    causes: dict[str, int] = {}  # with the node itself
    for node in order:
        causes[node] = bit[node]
        for parent in graph.parent_map[node]:
            causes[node] |= causes[parent]
    found = []
    for place, later in enumerate(order):
        linked = _district(later, -1, bit, order, partners)
        blankets: dict[int, tuple[int, tuple[str, ...]]] = {}
        for earlier in order[:place]:
            seen = (causes[earlier] | causes[later]) & linked
            if seen not in blankets:
                district = _district(later, seen, bit, order, partners)
                blanket = district
                for node in _members(district, order):
                    blanket |= parents[node]
                blanket &= ~bit[later]
                blankets[seen] = blanket, _members(blanket, order)
            blanket, given = blankets[seen]
            if not blanket & bit[earlier]:
                found.append(Independence(earlier, later, given))
    return found


def _district(
    node: str, within: int, bit: dict[str, int], order: tuple[str, ...], partners: dict[str, int]
) -> int:
    """The nodes that hidden causes link to `node`, step by step, inside the mask `within`."""
    district = fresh = bit[node]
    while fresh:
        linked = 0
        for member in _members(fresh, order):
            linked |= partners[member]
        fresh = linked & within & ~district
        district |= fresh
    return district


def _mask(nodes: Collection[str], bit: dict[str, int]) -> int:
    return sum(bit[node] for node in nodes)


def _members(mask: int, order: tuple[str, ...]) -> tuple[str, ...]:
    members = []
    while mask:
        lowest = mask & -mask
        members.append(order[lowest.bit_length() - 1])
        mask ^= lowest
    return tuple(members)
