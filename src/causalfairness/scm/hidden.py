"""Which hidden common causes can a structural model live with?

A fitted mechanism needs noise that is independent of its causes. A hidden cause of a node and of
one of its ancestors breaks that: what the ancestor does and what comes along with it cannot be
told apart. A hidden cause of two nodes of which neither leads to the other does no harm to fitting
or to invertible abduction: noises then come together, and are drawn together (`districts`).
"""

from __future__ import annotations

from collections.abc import Collection

from causalfairness.errors import NotIdentifiedError
from causalfairness.graph import CausalGraph


def check_hidden(graph: CausalGraph, learned: Collection[str]) -> None:
    """Can the mechanisms of these nodes be learned in spite of hidden causes?

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
    seen: set[str] = set()
    found = []
    for node in graph.nodes:
        if node in seen:
            continue
        waiting, together = [node], {node}
        while waiting:
            for partner in graph.partner_map[waiting.pop()]:
                if partner not in together:
                    together.add(partner)
                    waiting.append(partner)
        seen |= together
        found.append(tuple(name for name in graph.nodes if name in together))
    return tuple(found)
