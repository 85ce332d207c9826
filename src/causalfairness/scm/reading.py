"""How does a structural model read? Its mechanisms, their fit and its assumptions, in words."""

from __future__ import annotations

from collections.abc import Sequence

from causalfairness.scm.categorical import CategoricalEquation
from causalfairness.scm.counts import CountEquation
from causalfairness.scm.evaluation import Equations
from causalfairness.scm.goodness import NodeFit

GRAPH = (
    "every arrow between these columns, and every hidden common cause of two of them, is in the "
    "graph"
)


def assumptions_of(equations: Equations) -> tuple[str, ...]:
    """What do counterfactuals rest on, beyond the data?"""
    by_text: dict[str, list[str]] = {}
    for node in equations.graph.nodes:
        text = equations.fitted[node].assumption
        if text:
            by_text.setdefault(text, []).append(node)
    return (
        GRAPH,
        *(f"{', '.join(nodes)}: {text}" for text, nodes in by_text.items()),
        *_about_hidden(equations),
        *_about_whole_numbers(equations),
    )


def _about_hidden(equations: Equations) -> list[str]:
    """A drawn noise does not listen to a partner's; one that is read off the row need not."""
    fitted, graph = equations.fitted, equations.graph
    return [
        f"{one} <-> {other}: a counterfactual noise of {node} that is drawn is drawn given its own "
        "causes only, not given what the other shows about the hidden cause"
        for one, other in graph.hidden
        for node in (one, other)
        if graph.parent_map[node] and isinstance(fitted[node], CategoricalEquation | CountEquation)
    ]


def _about_whole_numbers(equations: Equations) -> list[str]:
    changed = [
        node
        for node in equations.graph.nodes
        if equations.domains[node].integers
        and equations.graph.parent_map[node]
        and not equations.fitted[node].whole
    ]
    if not changed:
        return []
    return [
        f"{', '.join(changed)}: stored as integers, but noise is added, so counterfactual values "
        "are fractions and the column becomes one of floats"
    ]


def summary_of(fits: Sequence[NodeFit], assumptions: Sequence[str]) -> str:
    """Which mechanism does each node have, how well does it fit, and what is assumed?"""
    head = ("node", "mechanism", "causes", "cross-validated fit", "noise against causes")
    rows = [
        (
            fit.node,
            fit.mechanism,
            ", ".join(fit.causes) or "none",
            fit.fit,
            "" if fit.independence is None else f"p = {fit.independence:.2g}",
        )
        for fit in fits
    ]
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
    reasons = [f"{fit.node}: {fit.why}" for fit in fits if fit.why not in ("given", "no causes")]
    return "\n".join(
        [
            *lines,
            *(f"chosen for {reason}" for reason in reasons),
            *(f"assumes: {assumption}" for assumption in assumptions),
        ]
    )
