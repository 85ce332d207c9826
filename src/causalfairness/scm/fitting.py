"""How is a structural causal model fitted? One mechanism per node, each on its own causes.

Linear nodes are fitted together in one pass over the rows; all others one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.graph import CausalGraph
from causalfairness.scm.background import KEPT, Remembered, sample_of, spread_rows
from causalfairness.scm.choice import Choice, as_mechanisms, choose
from causalfairness.scm.domain import read_domain
from causalfairness.scm.evaluation import Equations, Values
from causalfairness.scm.hidden import check_hidden
from causalfairness.scm.linear import Linear, fit_together
from causalfairness.scm.mechanism import FittedMechanism, Sample
from causalfairness.scm.roots import Empirical
from causalfairness.tables.frames import Template, frame_rows

Array = NDArray[np.float64]


class Fitted(NamedTuple):
    """What came out of fitting?"""

    equations: Equations
    background: Remembered
    template: Template


def fit_model(
    graph: CausalGraph, data: Any, mechanisms: Mapping[str, Any] | None, seed: int
) -> Fitted:
    """Which equations fit this data, given the graph and what the user said about mechanisms?"""
    given = as_mechanisms(mechanisms, graph)
    rows = frame_rows(data, graph.nodes)
    picked = spread_rows(len(rows), KEPT, seed)
    domains, values, kept = {}, {}, {}
    for node in graph.nodes:
        domains[node], values[node] = read_domain(rows, node)
        kept[node] = values[node].take(picked)
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
    equations = Equations(graph, domains, _fit_nodes(unfitted, values, choices, seed))
    background = Remembered(equations, kept, choices, seed)
    return Fitted(equations, background, rows.template(graph.nodes))


def _fit_nodes(
    equations: Equations, values: Values, choices: Mapping[str, Choice], seed: int
) -> dict[str, FittedMechanism]:
    samples = {node: _sample(equations, values, node, seed) for node in choices}
    linear = [node for node, choice in choices.items() if isinstance(choice.mechanism, Linear)]
    together = fit_together([samples[node] for node in linear]) if linear else []
    fitted: dict[str, FittedMechanism] = dict(zip(linear, together, strict=True))
    return {
        node: fitted[node] if node in fitted else choices[node].mechanism.fit(samples[node])
        for node in choices
    }


def _sample(equations: Equations, values: Values, node: str, seed: int) -> Sample:
    column = values[node]
    causes = equations.causes(node, values, len(column))
    return Sample(equations.domains[node], column, causes, seed)


def _check_varies(graph: CausalGraph, values: Values, learned: set[str]) -> None:
    """Can something be learned about what each cause does?"""
    for node in graph.nodes:
        effects = [child for child in graph.child_map[node] if child in learned]
        column = values[node]
        if effects and len(column) and _is_constant(column):
            raise MechanismError(
                f"{node!r} never varies in this data, so nothing can be learned about what it does "
                f"to {effects[0]!r}; bring rows where it does, or leave it out of the graph"
            )


def _is_constant(column: Array) -> bool:
    return (
        column[0] == column[-1]
        and column[0] == column[len(column) // 2]
        and bool(np.all(column == column[0]))
    )
