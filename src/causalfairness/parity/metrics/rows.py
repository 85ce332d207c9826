"""Who belongs to which group, what was decided about them, and what came of it?

One reading of the table: the columns of group, outcome, prediction and weight, and no others
unless the prediction is a function of them. Rows of weight 0 count for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import GroupNotFoundError, RoleError, WeightError
from causalfairness.estimators.answers import evaluate
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Missing, RowAccount, Rows, ask, only_columns
from causalfairness.tables.groups import GroupLabel, count_rows, group_label, shown
from causalfairness.tables.missing import check_policy
from causalfairness.tables.target import Of, Target, favors_one, target_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class People:
    """What is each person's group, prediction, outcome and weight?

    `group` is a position in `groups`, which have one value per protected column.
    """

    groups: tuple[GroupLabel, ...]
    group: Positions
    prediction: Array | None
    outcome: Array | None
    weights: Array | None
    account: RowAccount
    weightless: int  # rows of weight 0, which are not among these
    wants_one: bool | None  # None where nobody said which value people want

    def __len__(self) -> int:
        return len(self.group)


def read_people(
    data: Any, model: StandardFairnessModel, groups: Sequence[Any] | None, missing: Missing
) -> People:
    """What do the rows hold that the metrics are made of?"""
    table, model = ask(data, model, missing=missing)
    rows = table.rows(_narrow(model), None)
    measured = {
        of: target_of(model, of).read(rows.columns[name])
        for of, name in _measured_columns(model).items()
    }
    known, lacking = _known(rows, model, measured, table.missing)
    wanted = _chosen(rows.groups, model, groups)[rows.group_of_row]
    heavy = np.ones(len(known), dtype=bool) if rows.weights is None else rows.weights != 0
    at = np.flatnonzero(known & wanted & heavy)
    _check_left(rows, model, known, at)
    present, group = np.unique(rows.group_of_row[at], return_inverse=True)
    lost = np.bincount(rows.group_of_row[~known], minlength=len(rows.groups))
    account = RowAccount(
        read=len(known),
        used=len(at),
        outside=int(np.sum(known & ~wanted)),
        dropped=count_rows(rows.groups, lost),
        missing={**{c: n for c, n in rows.missing.items() if n}, **lacking},
    )
    return People(
        groups=tuple(rows.groups[position] for position in present),
        group=group.reshape(-1),
        prediction=_predicted(rows, model, at, measured.get("prediction")),
        outcome=measured["outcome"][at] if "outcome" in measured else None,
        weights=None if rows.weights is None else rows.weights[at],
        account=account,
        weightless=int(np.sum(known & wanted & ~heavy)),
        wants_one=favors_one(model, rows.columns.get(str(model.outcome))),
    )


def _narrow(model: StandardFairnessModel) -> StandardFairnessModel:
    """Confounders and mediators matter only to a prediction that is a function of them."""
    return model if model.predict is not None else replace(model, confounders=(), mediators=())


def _measured_columns(model: StandardFairnessModel) -> dict[Of, str]:
    named: dict[Of, str | None] = {
        "outcome": model.outcome,
        "prediction": model.prediction_column,
    }
    return {of: name for of, name in named.items() if name is not None}


def _known(
    rows: Rows, model: StandardFairnessModel, measured: Mapping[Of, Array], missing: Missing
) -> tuple[Mask, dict[str, int]]:
    """Which rows have a value wherever one is needed, and how many lack one, per column?"""
    columns = _measured_columns(model)
    absent = {columns[of]: np.isnan(values) for of, values in measured.items()}
    counts = {name: int(mask.sum()) for name, mask in absent.items()}
    check_policy(counts, missing, measured=list(counts))
    known = rows.kept.copy()
    for mask in absent.values():
        known &= ~mask
    return known, {name: count for name, count in counts.items() if count}


def _chosen(
    present: Sequence[GroupLabel], model: StandardFairnessModel, groups: Sequence[Any] | None
) -> Mask:
    """Which groups are asked about? The one that others are held against always is."""
    asked = [model.comparison if model.reference is None else model.reference]
    if groups is not None:
        if isinstance(groups, str) or not len(groups):
            raise RoleError(f"groups is a list of at least one group, or None; got {groups!r}")
        asked += groups
    labels = [group_label(group) for group in asked]
    for group, label in zip(asked, labels, strict=True):
        if label not in present:
            listed = "; ".join(map(shown, present[:20]))
            raise GroupNotFoundError(
                f"the group {model.group_label(group)!r} has no rows: "
                f"{', '.join(map(repr, model.protected_columns))} has the values "
                f"{listed or 'of no row at all'}. Give one of these (numbers without quotes, words "
                "with)"
            )
    return np.array([groups is None or label in labels for label in present])


def _check_left(rows: Rows, model: StandardFairnessModel, known: Mask, at: Positions) -> None:
    """Is anyone left of the group that others are held against?"""
    held = model.comparison if model.reference is None else model.reference
    of_group = rows.group_of_row == rows.groups.index(group_label(held) or ())
    if of_group[at].any():
        return
    if not (known & of_group).any():
        raise GroupNotFoundError(
            f"every row of the group {model.group_label(held)!r} was dropped for missing values; "
            "complete the data, or ask without the column that lacks them"
        )
    raise WeightError(
        f"no row of the group {model.group_label(held)!r} has a positive weight; check the weights "
        f"column {model.weights!r}"
    )


def _predicted(
    rows: Rows, model: StandardFairnessModel, at: Positions, column: Array | None
) -> Array | None:
    if column is not None:
        return column[at]
    if model.predict is None:
        return None
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    features = only_columns(rows.frame[at], roles)
    found = evaluate(model.predict, features, model)
    Target("prediction", model.outcome_value, "prediction").check_range(found.min(), found.max())
    return found
