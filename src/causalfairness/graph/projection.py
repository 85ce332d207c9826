"""What does a graph say about some of its columns, once the others are out of sight?

The latent projection of a graph onto `keep` has an arrow x -> y where a directed path leads
from x to y with every column between them out of sight, and x <-> y where x and y have an
unseen common cause: a path that ends in arrowheads at both x and y, has no collider, and
passes only through columns out of sight. Separation among the kept columns stays the same.
What remains among columns with a role tells whether a graph breaks the standard fairness model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from causalfairness.errors import NotIdentifiedError
from causalfairness.graph.notation import Pair, quote

if TYPE_CHECKING:
    from causalfairness.graph.causal_graph import CausalGraph

_ONE = {
    "protected": "the protected attribute",
    "confounders": "a confounder",
    "mediators": "a mediator",
    "outcome": "the outcome",
    "prediction": "the prediction",
}


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
    return _routes(start, graph.child_map.__getitem__).get(goal, ())


def _unseen_sources(
    graph: CausalGraph, node: str, through: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Each node that leads to `node` unseen (and itself), with the arrows on the way."""
    routes = _routes(node, lambda effect: [c for c in graph.parent_map[effect] if c in through])
    return {
        source: tuple(f"{quote(cause)} -> {quote(effect)}" for cause, effect in pairwise(way[::-1]))
        for source, way in routes.items()
    }


def _routes(start: str, step: Callable[[str], Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Each node that steps from `start` lead to (and itself), by the nodes of the shortest way."""
    routes: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for following in step(node):
            if following not in routes:
                routes[following] = (*routes[node], following)
                waiting.append(following)
    return routes


def check_roles(graph: CausalGraph, roles: Mapping[str, str]) -> None:
    """Refuse a graph that contradicts the model, naming every edge that does.

    The columns without a role go out of sight first: a left-out column with an arrow into the
    protected attribute and a hidden cause in common with the outcome confounds the two. What
    remains is enough: all parents of M and Y have a role, so given C no open path leads back
    from A to M or Y, and given A and C none leads back from M to Y.
    """
    role_of = {
        column: role
        for column, role in roles.items()
        if column in graph.nodes and role != "weights"
    }
    projected = graph.latent_projection(role_of)
    unseen = frozenset(graph.nodes).difference(role_of)
    problems = [
        f"{' -> '.join(map(quote, directed_route(graph, cause, effect)))}: {why}"
        for cause, effect in projected.arrows
        if (why := _why_backward(role_of[cause], role_of[effect]))
    ]
    problems += [
        f"{_edges(graph, one, other, unseen)}: {why}"
        for one, other in projected.hidden
        if (why := _why_confounded(role_of[one], role_of[other]))
    ]
    if problems:
        raise NotIdentifiedError(
            "the graph breaks the assumptions of the standard fairness model:\n"
            + "\n".join(f"  {problem}" for problem in problems)
            + "\nNo amount of data mends this. Correct the edge if it is wrong, record the hidden "
            "cause and add it to the graph as a column, or ask another question of the graph"
        )


def _why_backward(cause: str, effect: str) -> str | None:
    """What an arrow between two roles breaks, if anything."""
    if cause == "outcome" and effect == "prediction":
        return (
            "the outcome causes the prediction, which must follow from the protected attribute, "
            "confounders and mediators alone; without an outcome this column becomes a mediator "
            "or a confounder"
        )
    if cause in ("outcome", "prediction") and effect not in ("outcome", "prediction"):
        return (
            f"{_ONE[cause]} causes {_ONE[effect]}, which must come before it; if that column "
            "matters for only one of outcome and prediction, ask about them in separate models"
        )
    if cause == "mediators" and effect == "protected":
        return (
            "a mediator, caused by one protected column, causes another; what a change of all "
            "protected columns together does to it cannot be separated from what it does to them"
        )
    return None


def _why_confounded(one: str, other: str) -> str | None:
    """What a hidden common cause of two roles breaks, if anything."""
    roles = {one, other}
    if roles <= {"protected", "confounders"} or roles == {"mediators"}:
        return None
    if roles == {"outcome", "prediction"}:
        return (
            "a hidden cause of the outcome and the prediction; the prediction must follow from "
            "the protected attribute, confounders and mediators alone"
        )
    if "confounders" in roles:
        (target,) = roles - {"confounders"}
        return (
            f"a hidden cause of a confounder and {_ONE[target]}; holding the confounders equal "
            f"can then tie the protected attribute to {_ONE[target]}"
        )
    first, second = (role for role in _ONE if role in roles)
    return (
        f"a hidden cause of {_ONE[first]} and {_ONE[second]}; what it does to both "
        "cannot be separated from what the first does to the second"
    )


def _edges(graph: CausalGraph, one: str, other: str, unseen: frozenset[str]) -> str:
    """The hidden pair; if left-out columns bring it about, the edges that do."""
    route = hidden_route(graph, one, other, through=unseen)
    if len(route) == 1:
        return route[0]
    return f"{quote(one)} <-> {quote(other)} (from {', '.join(route)})"
