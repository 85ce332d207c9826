"""Who belongs to the reference group, who to the comparison group, who to neither?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import GroupNotFoundError, PredictorError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.columns import Column, Value

GroupLabel = tuple[Value, ...]  # one value per protected column
Members = NDArray[np.int8]
REFERENCE, COMPARISON, NEITHER = 0, 1, -1


def members(labels: Sequence[GroupLabel], model: StandardFairnessModel) -> Members:
    """Which of these groups is the reference (0), the comparison (1), or neither (-1)?

    A group given as None is everyone else whose protected attribute is known.

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
            raise GroupNotFoundError(_not_found(role, group, labels, model))
    return found


def label_groups(columns: Sequence[Column]) -> tuple[tuple[GroupLabel, ...], NDArray[np.int64]]:
    """Which groups do the protected columns make, and which does each row belong to?

    >>> groups, of_row = label_groups([Column.numbers("female", np.array([1.0, 0.0, 1.0]))])
    >>> groups, of_row.tolist()
    (((0.0,), (1.0,)), [1, 0, 1])
    """
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

    >>> canonical(np.int64(3)), canonical(True), canonical("Male")
    (3.0, 1.0, 'Male')
    """
    if isinstance(value, np.generic):
        value = value.item()
    return float(value) if isinstance(value, bool | int | float) else str(value)


def check_one_value(groups: NDArray[np.int64], role: int, model: StandardFairnessModel) -> None:
    """Is there a single value of the protected attribute that a model can be told?"""
    if len(np.unique(groups)) > 1:
        raise PredictorError(
            f"the {('reference', 'comparison')[role]} group pools several values of "
            f"{model.protected!r}, so there is no single value to tell the model; compare one "
            "group at a time (compare_groups)"
        )


def shown(label: Iterable[Value]) -> str:
    """How is a group written for people?

    >>> shown((1.0, "Female"))
    '1, Female'
    """
    return ", ".join("missing" if value is None else shown_value(value) for value in label)


def shown_value(value: Value) -> str:
    """How is one value written for people? Whole numbers without a decimal point."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _not_found(
    role: int, group: GroupLabel | None, labels: Sequence[GroupLabel], model: StandardFairnessModel
) -> str:
    name = ("reference", "comparison")[role]
    column = ", ".join(repr(column) for column in model.protected_columns)
    present = "; ".join(_quoted(label) for label in labels[:20])
    if group is None:
        return (
            f"the {name} group is everyone else, but {column} has no other known value: "
            f"found only {present}"
        )
    return (
        f"the {name} group {_quoted(group)} has no rows: {column} has the values {present}. "
        "Give one of these (numbers without quotes, words with)"
    )


def _quoted(label: GroupLabel) -> str:
    return ", ".join(repr(v) if isinstance(v, str) else shown((v,)) for v in label)
