"""On which path does an arrow lie: direct, indirect or spurious?

With the protected attribute A and the outcome Y,

    mediators     descendants of A that cause Y by a way around A
    confounders   other causes of Y by a way around A that depend on A

    direct        A -> Y
    indirect      arrows from A or a mediator to a mediator or Y, the direct one aside
    spurious      arrows out of confounders, and hidden common causes that tie A or a confounder
                  to another of these columns

Everything else (what causes A alone, what follows from Y, causes of Y that have nothing to do with
A) lies on none of the three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from causalfairness.graph import CausalGraph

Pair = tuple[str, str]
PATHS = ("direct", "indirect", "spurious")
OTHER = ""


@dataclass(frozen=True)
class Paths:
    """On which path does each arrow and each hidden pair lie, and which role has each column?"""

    roles: Mapping[str, str]
    arrows: Mapping[Pair, str]
    hidden: Mapping[Pair, str]


def paths_of(graph: CausalGraph, protected: Sequence[str], outcome: str | None) -> Paths:
    """On which path does everything in a graph lie?

    >>> graph = CausalGraph.parse("a <-> c; {a, c} -> m; {a, c, m} -> y; u -> y")
    >>> found = paths_of(graph, ["a"], "y")
    >>> found.arrows["a", "y"], found.arrows["m", "y"], found.arrows["c", "m"]
    ('direct', 'indirect', 'spurious')
    >>> found.hidden["a", "c"], found.arrows["u", "y"], found.roles["u"]
    ('spurious', '', 'other')
    """
    roles = _roles(graph, protected, outcome)
    return Paths(
        roles,
        {(one, other): _of_arrow(roles[one], roles[other]) for one, other in graph.arrows},
        {(one, other): _of_hidden(roles[one], roles[other]) for one, other in graph.hidden},
    )


def _roles(graph: CausalGraph, protected: Sequence[str], outcome: str | None) -> dict[str, str]:
    roles = dict.fromkeys(graph.nodes, "other")
    if outcome is None:
        return roles
    caused = frozenset(graph.descendants(protected))
    for node in graph.ancestors(outcome, avoiding=protected):
        if node in caused:
            roles[node] = "mediator"
        elif not graph.separated(node, protected):
            roles[node] = "confounder"
    return roles | dict.fromkeys(protected, "protected") | {outcome: "outcome"}


def _of_arrow(cause: str, effect: str) -> str:
    if (cause, effect) == ("protected", "outcome"):
        return "direct"
    if cause in ("protected", "mediator") and effect in ("mediator", "outcome"):
        return "indirect"
    if cause == "confounder" and effect != "other":
        return "spurious"
    return OTHER


def _of_hidden(one: str, other: str) -> str:
    both = {one, other}
    if "other" in both or both == {"protected"}:
        return OTHER
    return "spurious" if both & {"protected", "confounder"} else OTHER
