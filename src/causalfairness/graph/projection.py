"""What does a graph say about some of its columns, once the others are out of sight?

The latent projection of a graph onto `keep` has an arrow x -> y where a directed path leads
from x to y with every column between them out of sight, and x <-> y where x and y have an
unseen common cause: a path that ends in arrowheads at both x and y, has no collider, and
passes only through columns out of sight. Separation among the kept columns stays the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import TYPE_CHECKING

from causalfairness.graph.notation import Pair, quote

if TYPE_CHECKING:
    from causalfairness.graph.causal_graph import CausalGraph


def project(graph: CausalGraph, keep: Collection[str]) -> tuple[list[Pair], list[Pair]]:
    """Which arrows and which hidden pairs remain among the kept nodes?

    >>> from causalfairness.graph import CausalGraph
    >>> project(CausalGraph.parse("u -> {a, b}; a -> v -> c"), {"a", "b", "c"})
    ([('a', 'c')], [('a', 'b')])
    """
    bit = {node: 1 << place for place, node in enumerate(graph.nodes)}
    causes: dict[str, int] = {}  # kept nodes with a path to this one through unseen nodes
    sources: dict[str, int] = {}  # the node, and the unseen ones that lead to it unseen
    partners: dict[str, int] = {}  # what shares a hidden cause with one of the sources
    for node in graph.topological_order():
        causes[node], sources[node] = 0, bit[node]
        partners[node] = sum(bit[partner] for partner in graph.partner_map[node])
        for parent in graph.parent_map[node]:
            if parent in keep:
                causes[node] |= bit[parent]
            else:
                causes[node] |= causes[parent]
                sources[node] |= sources[parent]
                partners[node] |= partners[parent]
    kept = [node for node in graph.nodes if node in keep]
    arrows = [(cause, effect) for cause in kept for effect in kept if causes[effect] & bit[cause]]
    hidden = [
        (one, other)
        for place, one in enumerate(kept)
        for other in kept[place + 1 :]
        if (sources[one] | partners[one]) & sources[other]
    ]
    return arrows, hidden


def hidden_route(
    graph: CausalGraph, one: str, other: str, *, through: Collection[str]
) -> tuple[str, ...]:
    """Which edges give two nodes an unseen common cause? The fewest, or none if there is none.

    >>> from causalfairness.graph import CausalGraph
    >>> graph = CausalGraph.parse("lottery -> school; lottery <-> grade; school -> grade")
    >>> hidden_route(graph, "school", "grade", through={"lottery"})
    ('lottery -> school', 'lottery <-> grade')
    """
    to_one, to_other = _unseen_sources(graph, one, through), _unseen_sources(graph, other, through)
    routes = [
        (*to_one[left], f"{quote(left)} <-> {quote(right)}", *to_other[right])
        for pair in graph.hidden
        for left, right in (pair, pair[::-1])
        if left in to_one and right in to_other
    ]
    routes += [(*to_one[node], *to_other[node]) for node in to_one if node in to_other]
    return min(routes, key=len, default=())


def directed_route(graph: CausalGraph, start: str, goal: str) -> tuple[str, ...]:
    """By which nodes does `start` cause `goal`? The shortest way, or none if there is none.

    >>> from causalfairness.graph import CausalGraph
    >>> directed_route(CausalGraph.parse("a -> b -> c -> d; b -> d"), "a", "d")
    ('a', 'b', 'd')
    """
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for effect in graph.child_map[node]:
            if effect not in came_from:
                came_from[effect] = node
                waiting.append(effect)
    if goal not in came_from:
        return ()
    route = [goal]
    while route[-1] != start:
        route.append(came_from[route[-1]])
    return tuple(reversed(route))


def _unseen_sources(
    graph: CausalGraph, node: str, through: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Each node that leads to `node` unseen (and itself), with the arrows on the way."""
    routes: dict[str, tuple[str, ...]] = {node: ()}
    waiting = deque([node])
    while waiting:
        effect = waiting.popleft()
        for cause in graph.parent_map[effect]:
            if cause in through and cause not in routes:
                routes[cause] = (f"{quote(cause)} -> {quote(effect)}", *routes[effect])
                waiting.append(cause)
    return routes
