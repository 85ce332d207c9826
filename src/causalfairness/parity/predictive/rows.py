"""What is each person's group, score and outcome? One reading of the table.

Columns are read only where they matter: confounders and mediators, if the prediction is a function
of them. The data is known by all columns with a role but the prediction, so that the same question
about two predictions for the same people can be subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MissingValuesError, RoleError
from causalfairness.estimators.answers import evaluate
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Missing, RowPair, Rows, Table
from causalfairness.tables.groups import COMPARISON, members
from causalfairness.tables.missing import check_policy
from causalfairness.tables.target import Target, target_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scored:
    """Who is compared, at which scores, with what outcome?

    `score` and `outcome` have one number per row of the pair.
    """

    model: StandardFairnessModel
    pair: RowPair
    score: Array
    outcome: Array

    @property
    def weights(self) -> Array | None:
        """How much does each row count? None where all count alike."""
        return None if self.pair.rows.weights is None else self.pair.weights

    @property
    def called(self) -> str:
        """What is the score called?"""
        return self.model.prediction_column or "prediction"

    @property
    def is_comparison(self) -> Mask:
        """Which rows are those of the comparison group?"""
        return np.asarray(self.pair.group == COMPARISON)

    @property
    def target(self) -> Target:
        """Which column is the outcome, and which of its values counts as 1?"""
        return target_of(self.model, "outcome")


def read_scored(table: Table, model: StandardFairnessModel, given: str | None) -> Scored:
    """What do the rows hold? `given` names a column of counterfactual outcomes, if there is one."""
    _check_roles(model)
    measured = filter(None, (model.outcome, model.weights, given))
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    table = replace(table, known_by=(*roles, *dict.fromkeys(measured)))
    rows = table.rows(_narrow(model), "outcome")
    predicted = _prediction_column(rows, model)
    absent: dict[str, Mask] = {}
    if predicted is not None:
        absent[str(model.prediction_column)] = np.isnan(predicted)
    if given is not None:
        asked = members(rows.groups, model)[rows.group_of_row] == COMPARISON
        absent[given] = rows.columns[given].is_missing & asked
    rows = _without(rows, absent, table.missing)
    rows.pair(_narrow(model))  # refuses groups without a row, or without weight
    pair = _weighing(rows).pair(_narrow(model))
    if predicted is None:
        assert model.predict is not None
        score = evaluate(model.predict, pair.features(), model)
    else:
        score = predicted[pair.index]
    assert pair.outcome is not None
    return Scored(model, pair, score, pair.outcome)


def _check_roles(model: StandardFairnessModel) -> None:
    for role, value in (("outcome", model.outcome), ("prediction", model.prediction)):
        if value is None:
            raise RoleError(
                f"predictive parity holds a prediction against its outcome, and the model names no "
                f"{role}; give {role}=..."
            )


def _narrow(model: StandardFairnessModel) -> StandardFairnessModel:
    """Confounders and mediators may have gaps where no prediction is made of them."""
    return model if model.predict is not None else replace(model, confounders=(), mediators=())


def _prediction_column(rows: Rows, model: StandardFairnessModel) -> Array | None:
    """The scores of a column: numbers are scores as they are, words are held to the outcome's."""
    if model.prediction_column is None:
        return None
    column = rows.columns[model.prediction_column]
    value = None if column.is_number else model.outcome_value
    return Target(model.prediction_column, value, "prediction").read(column)


def _without(rows: Rows, absent: dict[str, Mask], missing: Missing) -> Rows:
    """The rows that have a score and, where needed, a counterfactual outcome."""
    counts = {name: int(mask.sum()) for name, mask in absent.items()}
    if missing == "category" and any(counts.values()):
        name = next(name for name, count in counts.items() if count)
        raise MissingValuesError(
            f"column {name!r} has {counts[name]:,} missing values where a number is needed; choose "
            "missing='drop' or complete the data"
        )
    check_policy(counts, missing, measured=list(counts))
    known = np.ones(len(rows.kept), dtype=bool)
    for mask in absent.values():
        known &= ~mask
    return replace(
        rows,
        kept=rows.kept & known,
        complete=rows.complete & known,
        missing={**rows.missing, **counts},
    )


def _weighing(rows: Rows) -> Rows:
    """The rows that count for something."""
    if rows.weights is None or not (idle := rows.kept & (rows.weights == 0)).any():
        return rows
    aside = {**rows.aside, "weight 0": int(idle.sum())}
    return replace(rows, kept=rows.kept & ~idle, aside=aside)
