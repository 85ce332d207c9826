"""Who belongs to the reference group, who to the comparison group, who to neither?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import GroupNotFoundError, PredictorError, WeightError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.columns import Column, Value, spell_moment

GroupLabel = tuple[Value, ...]  # one value per protected column
Array = NDArray[np.float64]
Members = NDArray[np.int8]
REFERENCE, COMPARISON, NEITHER = 0, 1, -1
IN_FULL = 1e20  # whole numbers below are written with all their digits, as ids need it
ROLES = ("reference", "comparison")


def members(
    labels: Sequence[GroupLabel], model: StandardFairnessModel, dropped: Collection[str] = ()
) -> Members:
    """Which of these groups is the reference (0), the comparison (1), or neither (-1)?

    A group given as None is everyone else whose protected attribute is known. `dropped` names
    the groups with rows left out for missing values.

    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison=None, outcome="hired")
    >>> members([("Female",), ("Male",), (None,)], model).tolist()
    [1, 0, -1]
    """
    wanted = [group_label(group) for group in (model.reference, model.comparison)]
    found = np.full(len(labels), NEITHER, dtype=np.int8)
    known = [None not in label for label in labels]
    for role, group in enumerate(wanted):
        for position, label in enumerate(labels):
            if label == group or (group is None and known[position] and label not in wanted):
                found[position] = role
    for role, group in enumerate(wanted):
        if role not in found:
            if group is not None and shown(group) in dropped:
                raise GroupNotFoundError(_all_dropped(role, model))
            raise GroupNotFoundError(_not_found(role, group, labels, model))
    return found


def check_filled(weight: Array, group: Members, model: StandardFairnessModel) -> None:
    """Does each of the two groups weigh something?"""
    for role, name in enumerate(ROLES):
        inside = weight[group == role]
        if not len(inside):
            raise GroupNotFoundError(_all_dropped(role, model))
        if not inside.max() > 0:
            raise WeightError(
                f"no row of the {name} group {_label(role, model)!r} has a positive weight; check "
                f"the weights column {model.weights!r}"
            )


def count_rows(groups: Sequence[GroupLabel], counts: Iterable[float]) -> dict[str, int]:
    """How many rows does each group have, written for people? Groups without any are left out.

    >>> count_rows([("F",), ("M",), (None,)], [2.0, 0.0, 1.0])
    {'F': 2, 'missing': 1}
    """
    found: dict[str, int] = {}
    for group, count in zip(groups, counts, strict=True):
        if count:
            found[shown(group)] = found.get(shown(group), 0) + int(count)
    return found


def label_groups(columns: Sequence[Column]) -> tuple[tuple[GroupLabel, ...], NDArray[np.int64]]:
    """Which groups do the protected columns make, and which does each row belong to?

    >>> groups, of_row = label_groups([Column.numbers("female", np.array([1.0, 0.0, 1.0]))])
    >>> groups, of_row.tolist()
    (((0.0,), (1.0,)), [1, 0, 1])
    """
    for column in columns:
        column.check_levels()
    levels = [column.levels() for column in columns]
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for level in levels:
        code = code * max(len(level.values), 1) + level.codes
    _, first, group_of_row = np.unique(code, return_index=True, return_inverse=True)
    labels = tuple(tuple(level.values[level.codes[row]] for level in levels) for row in first)
    return labels, group_of_row.reshape(-1)


def group_label(group: Any) -> GroupLabel | None:
    """How does a group given by the user appear in the data?"""
    if group is None:
        return None
    values = group if isinstance(group, tuple) else (group,)
    return tuple(canonical(value) for value in values)


def canonical(value: Any) -> Value:
    """How does a value given by the user appear in a column?

    >>> canonical(np.int64(3)), canonical(True), canonical("Male"), canonical(2**53 + 1)
    (3.0, 1.0, 'Male', 9007199254740993)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        value = int(value)
    if isinstance(value, int) and (value.bit_length() > 1000 or float(value) != value):
        return value  # floats cannot hold it
    if isinstance(value, bool | int | float | Decimal):
        return float(value)
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return spell_moment(str(moment) if value.tzinfo is None else f"{moment}Z")
    return str(value)


def check_one_value(groups: NDArray[np.int64], role: int, model: StandardFairnessModel) -> None:
    """Is there a single value of the protected attribute that a model can be told?"""
    if len(np.unique(groups)) > 1:
        raise PredictorError(
            f"the {ROLES[role]} group pools several values of "
            f"{model.protected!r}, so there is no single value to tell the model; compare one "
            "group at a time (compare_groups)"
        )


def shown(label: Iterable[Value]) -> str:
    """How is a group written for people?

    >>> shown((1.0, "Female"))
    '1, Female'
    """
    return ", ".join("missing" if value is None else shown_value(value) for value in label)


def typed(value: Any) -> Any:
    """How would a user type a value of a column? Whole numbers without a decimal point.

    >>> typed(3.0), typed(0.5), typed("Male")
    (3, 0.5, 'Male')
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shown_value(value: Value) -> str:
    """How is one value written for people? Whole numbers without a decimal point."""
    if isinstance(value, float) and abs(value) < IN_FULL and value.is_integer():
        return f"{value:.0f}"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def quoted(label: Iterable[Value]) -> str:
    """How are values written such that words can be told from numbers?

    >>> quoted((1.0, "Female"))
    "1, 'Female'"
    """
    return ", ".join(repr(v) if isinstance(v, str) else shown((v,)) for v in label)


def _not_found(
    role: int, group: GroupLabel | None, labels: Sequence[GroupLabel], model: StandardFairnessModel
) -> str:
    name = ROLES[role]
    column = ", ".join(repr(column) for column in model.protected_columns)
    present = "; ".join(quoted(label) for label in labels[:20])
    if not labels:
        return f"the {name} group has no rows: the table has no rows, or all were dropped"
    if group is None:
        return (
            f"the {name} group is everyone else, but {column} has no other known value: "
            f"found only {present}"
        )
    return (
        f"the {name} group {quoted(group)} has no rows: {column} has the values {present}. "
        "Give one of these (numbers without quotes, words with)"
    )


def _all_dropped(role: int, model: StandardFairnessModel) -> str:
    return (
        f"every row of the {ROLES[role]} group {_label(role, model)!r} was dropped for missing "
        "values; choose missing='category', or complete the data"
    )


def _label(role: int, model: StandardFairnessModel) -> str:
    return (model.reference_label, model.comparison_label)[role]
