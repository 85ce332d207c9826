"""Do a causal graph and a fairness model give the columns the same roles?

A structural model moves the descendants of the protected attribute. Its world means are those of
a fairness model only if these are the model's mediators, and everything else that leads to the
outcome (or to what the audited model uses) its confounders.
"""

from __future__ import annotations

from causalfairness.errors import RoleError, UnknownNodeError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.tables import Of

NOTHING = "left out"


def check_roles(graph: CausalGraph, model: StandardFairnessModel, of: Of) -> None:
    """Does the graph, projected, have this model's mediators and confounders? Refuses if not.

    >>> graph = CausalGraph.parse("{sex, age} -> rank; {sex, age, rank} -> pay")
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", confounders=["age"],
    ...     mediators=["rank"], outcome="pay")
    >>> check_roles(graph, model, "outcome")
    """
    by_graph, by_model = _roles(_projected(graph, model, of)), _roles(model)
    for column in (*model.confounders, *model.mediators, *by_graph):
        told, found = by_model.get(column, NOTHING), by_graph.get(column, NOTHING)
        if column not in graph.nodes:
            raise RoleError(
                f"{column!r} is {told} in the fairness model, but the graph of the structural "
                "model has no such node; add it to the graph, or leave it out of the model"
            )
        if told != found:
            raise RoleError(
                f"{column!r} is {told} in the fairness model, but {found} by the graph of the "
                "structural model; make the two agree, for instance with "
                "StandardFairnessModel.from_graph(graph, ...)"
            )


def _projected(graph: CausalGraph, model: StandardFairnessModel, of: Of) -> StandardFairnessModel:
    outcome = model.outcome if model.outcome in graph.nodes or of == "outcome" else None
    prediction = model.prediction
    if of == "prediction":
        graph, prediction, outcome = _with_prediction(graph, model, outcome)
    return StandardFairnessModel.from_graph(
        graph,
        protected=model.protected,
        reference=model.reference,
        comparison=model.comparison,
        outcome=outcome,
        prediction=prediction,
    )


def _with_prediction(
    graph: CausalGraph, model: StandardFairnessModel, outcome: str | None
) -> tuple[CausalGraph, str, str | None]:
    """The prediction as a node: a function is caused by every column that it is given."""
    column = model.prediction_column
    if column is not None:
        if column not in graph.nodes:
            raise UnknownNodeError(
                f"the prediction column {column!r} is not in the graph, so the structural model "
                "cannot say what it would be in another world; add it to the graph, or give the "
                "model that made it as prediction=..."
            )
        return graph, column, outcome
    used = (*model.protected_columns, *model.confounders, *model.mediators)
    known = [name for name in used if name in graph.nodes]
    added = "prediction"
    while added in graph.nodes:
        added += "'"
    arrows = (*graph.arrows, *((name, added) for name in known))
    return CausalGraph.from_edges(arrows, graph.hidden, (*graph.nodes, added)), added, None


def _roles(model: StandardFairnessModel) -> dict[str, str]:
    confounders = dict.fromkeys(model.confounders, "a confounder")
    return confounders | dict.fromkeys(model.mediators, "a mediator")
