"""How does a prediction that is a function become a node of a structural model?

A function of the columns with a role has an arrow from each of them and no noise. In a world where
mediators are others, it is asked about people with those mediators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import NecessityError
from causalfairness.estimators.answers import evaluate
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.scm import StructuralCausalModel
from causalfairness.scm.causes import Causes
from causalfairness.scm.choice import Choice
from causalfairness.scm.domain import Domain
from causalfairness.scm.fitting import Remembered
from causalfairness.scm.mechanism import Sample
from causalfairness.tables import add_column, only_columns
from causalfairness.tables.frames import Template, frame_rows

Array = NDArray[np.float64]


def with_prediction_node(
    data: Any, model: StandardFairnessModel, scm: StructuralCausalModel
) -> tuple[Any, StandardFairnessModel, StructuralCausalModel]:
    """What are data, fairness model and structural model with the prediction as a column?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> people = world.draw(100, seed=0)
    >>> graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> scm = cf.StructuralCausalModel.fit(graph, people)
    >>> model = replace(world.model, prediction=lambda rows: 2 * rows["m1"].to_numpy())
    >>> data, told, wider = with_prediction_node(people, model, scm)
    >>> told.prediction, wider.graph.parents(["prediction"])
    ('prediction', ('group', 'c1', 'c2', 'm1'))
    """
    assert model.predict is not None
    columns = (*model.protected_columns, *model.confounders, *model.mediators)
    for column in columns:
        if column not in scm.graph.nodes:
            raise NecessityError(
                f"the prediction is a function of {column!r} among others, which is no node of the "
                "structural model; add it to the graph, or leave it out of the fairness model"
            )
    rows = frame_rows(data, columns)
    for column in columns:
        rows.read(column)
    people = only_columns(rows.frame, columns)
    data, name = add_column(data, evaluate(model.predict, people, model), name="prediction")
    function = AuditedFunction(model, rows.template(columns))
    graph = scm.graph
    wider = CausalGraph.from_edges(
        [*graph.arrows, *((column, name) for column in columns)],
        graph.hidden,
        (*graph.nodes, name),
    )
    equations = scm.equations._replace(
        graph=wider,
        domains={**scm.equations.domains, name: Domain(name)},
        fitted={**scm.equations.fitted, name: function},
    )
    background = scm.background
    if isinstance(background, Remembered):
        choices = {**background.choices, name: Choice(function, "given")}
        background = replace(background, equations=equations, choices=choices)
    told = replace(model, prediction=name)
    return data, told, StructuralCausalModel(equations, background, scm.template)


@dataclass(frozen=True, eq=False)
class AuditedFunction:
    """What does the audited function say, as the mechanism of a node?"""

    model: StandardFairnessModel
    template: Template  # how its columns are written in the library of the data

    learns = False
    assumption = "the audited function, without noise"
    whole = False

    def fit(self, sample: Sample) -> AuditedFunction:
        """There is nothing to learn."""
        return self

    def predict(self, causes: Causes) -> Array:
        """What the function says about people with these causes."""
        assert self.model.predict is not None
        pairs = zip(causes.domains, causes.values, strict=True)
        columns = {domain.name: domain.new(values, whole=True) for domain, values in pairs}
        return evaluate(self.model.predict, self.template.filled(columns), self.model)

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """It has no noise."""
        return np.zeros(len(values))

    def apply(self, noise: Array, causes: Causes) -> Array:
        """What the function says."""
        return self.predict(causes)

    def __str__(self) -> str:
        return "the audited function"
