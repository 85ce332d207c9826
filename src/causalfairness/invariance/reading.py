"""What was brought? Predictions of one or many models, a group per person, and features.

Predictions are numbers: scores, chances, or decisions as 0 and 1, one column per model. Features
that are words get one column per word. Nothing is filled or dropped: missing values are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import (
    ColumnTypeError,
    InvarianceError,
    MissingValuesError,
    TooFewRowsError,
)
from causalfairness.tables import Column, Table
from causalfairness.tables.fingerprint import arrange
from causalfairness.tables.frames import column_from, frame_rows
from causalfairness.tables.joining import check_indexes
from causalfairness.tables.source import open_frame

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
MOST_GROUPS = 20
MOST_WORDS = 100  # in one feature
FEWEST = 8  # people of a group: four to learn from and four to judge by


@dataclass(frozen=True, eq=False)
class Brought:
    """Which predictions, groups and features are compared? One row per person."""

    models: tuple[str, ...]
    predictions: Array  # (people, models)
    levels: tuple[str, ...]  # of groups, in an order that their content gives
    group: Codes
    features: Array  # (people, columns), in an order that their content gives
    groups: tuple[str, ...]  # in the order of their names
    names: tuple[str, ...] = ()  # of features

    def __len__(self) -> int:
        return len(self.group)


def read(predictions: Any, group: Any, features: Any) -> Brought:
    """What was brought, as arrays? Rows meet by position: another index is refused.

    >>> read([0.2, 0.9] * 8, ["f", "m"] * 8, np.zeros((16, 1))).groups
    ('f', 'm')
    """
    models, scores = read_predictions(predictions)
    levels, codes = read_group(group)
    names, columns = _read_features(features, len(codes))
    sizes = {"predictions": len(scores), "group": len(codes), "features": len(columns)}
    if len({*sizes.values()}) > 1:
        found = ", ".join(f"{name} {count:,}" for name, count in sizes.items())
        raise InvarianceError(f"rows do not match ({found}); row i must be the same person in all")
    frame = features.data if isinstance(features, Table) else features
    check_indexes(predictions=predictions, group=group, features=frame)
    told = [Column.numbers(f"{_skewness(it):+.6f} {at}", it) for at, it in enumerate(columns.T)]
    placed = [int(name.split()[1]) for name in arrange(told).columns]
    about = (scores.sum(axis=1), sets_of(columns[:, placed]), np.ones(len(codes)))
    order = np.lexsort([np.bincount(codes, each) for each in about])  # whatever groups are called
    codes = np.argsort(order)[codes]
    rows = arrange(told, [Column.numbers("", column) for column in (codes, *scores.T)]).rows
    return Brought(
        models,
        scores[rows],
        tuple(levels[at] for at in order),
        codes[rows],
        columns[rows][:, placed],
        levels,
        tuple(names[at] for at in placed),
    )


def sets_of(features: Array) -> Codes:
    """Return a number for every set of people who are equal in all features.

    >>> sets_of(np.array([[2.0], [1.0], [2.0]])).tolist()
    [1, 0, 1]
    """
    found = np.unique(np.insert(features, 0, 0.0, axis=1), axis=0, return_inverse=True)
    return found[1].reshape(-1)


def _skewness(column: Array) -> float:
    """What tells columns apart whose values have the same ranks, in whatever unit they are."""
    scale = column.std()
    return float(np.mean(((column - column.mean()) / scale) ** 3)) if scale > 0 else 0.0


def read_predictions(predictions: Any) -> tuple[tuple[str, ...], Array]:
    """What are the models called, and what do they predict? (people, models).

    >>> read_predictions(np.zeros((2, 2)))[0]
    ('model 1', 'model 2')
    """
    columns = _columns_of(predictions, "model", alone="the model")
    for column in columns:
        if not column.is_number:
            raise ColumnTypeError(
                f"{column.name} holds words ({', '.join(map(repr, column.labels[:3]))}); "
                "predictions are compared as numbers: pass scores, or decisions as 0 and 1"
            )
        check_known(column)
    if not columns:
        raise InvarianceError("there are no predictions to test; pass one column per model")
    names = tuple(column.name for column in columns)
    return names, np.hstack([_numbers(column) for column in columns])


def read_group(group: Any) -> tuple[tuple[str, ...], Codes]:
    """Which groups are there, and which one does each person belong to?

    >>> read_group([2, 1] * 8)[0]
    ('1', '2')
    """
    column = column_from("group", group)
    if not len(column):
        raise TooFewRowsError("there are no people: the group is empty")
    check_known(column)
    found = column.levels()
    levels = tuple(
        f"{value:.15g}" if isinstance(value, float) else str(value) for value in found.values
    )
    if len(levels) > MOST_GROUPS:
        raise InvarianceError(
            f"the group has {len(levels):,} different values, at most {MOST_GROUPS} can be "
            "compared; cut a continuous attribute into bins first, for instance with numpy.digitize"
        )
    if len(levels) < 2:
        raise InvarianceError(f"everyone is of the group {levels[0]}; two groups are needed")
    sizes = np.bincount(found.codes)
    if sizes.min() < FEWEST:
        raise TooFewRowsError(
            f"the group {levels[int(sizes.argmin())]} has {sizes.min()} people; at least {FEWEST} "
            "are needed, half to learn from and half to judge by: merge small groups or leave them "
            "out"
        )
    return levels, found.codes


def _read_features(features: Any, rows: int) -> tuple[list[str], Array]:
    columns = _columns_of(features, "feature", alone="feature")
    for column in columns:
        check_known(column)
    found = [*map(_numbers, columns)]
    names = [one.name for one, many in zip(columns, found, strict=True) for _ in many.T]
    return names, np.hstack(found) if found else np.empty((rows, 0))


def _columns_of(values: Any, what: str, *, alone: str) -> list[Column]:
    """The columns of a matrix or a frame; a plain list of values is one column, `alone`."""
    if isinstance(values, Table) or hasattr(values, "columns"):
        names = open_frame(values).collect_schema().names()
        rows = frame_rows(values, names, unweighted=f"a test of {what}s", aligned=True)
        return [rows.read(name) for name in names]
    if isinstance(values, list | tuple) and len(values) and isinstance(values[0], list | tuple):
        values = np.array(values, dtype=object)
    if not isinstance(values, np.ndarray) or values.ndim < 2:
        return [column_from(alone, values)]
    if values.ndim > 2:
        raise InvarianceError(
            f"there are {values.ndim} dimensions; pass one row per person and one column per {what}"
        )
    return [column_from(f"{what} {at}", column) for at, column in enumerate(values.T, 1)]


def _numbers(column: Column) -> Array:
    if column.values is not None:
        return column.values[:, None]
    if len(column.labels) > MOST_WORDS:
        raise ColumnTypeError(
            f"{column.name} has {len(column.labels):,} different words, at most {MOST_WORDS} can "
            "be distinguished; leave out names and numbers of people, and merge rare categories"
        )
    return np.asarray(column.codes[:, None] == np.arange(len(column.labels)), dtype=float)


def check_known(column: Column) -> None:
    """Is every value there, and finite? Else the column is refused by its name."""
    missing = int(column.is_missing.sum())
    if missing:
        raise MissingValuesError(
            f"{column.name} is missing for {missing:,} of {len(column):,} people; fill or leave "
            "out these rows first, in predictions, group and features alike"
        )
    if column.values is not None and not np.isfinite(column.values).all():
        raise ColumnTypeError(f"{column.name} holds infinite values; numbers must be finite")
