"""By which features are people alike? Columns of several tables, coded alike.

Numbers stand for themselves and ordered categories for their rank, so that distances between them
are differences; all other labels get a code, and are alike or not. Missing is NaN or -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalfairness.errors import ColumnTypeError
from causalfairness.individuals.distances import Array, Points, Positions
from causalfairness.tables import Column
from causalfairness.tables.frames import FrameRows


@dataclass(frozen=True)
class FeatureOrder:
    """Which features are numbers (or ranks), and which are words? In the order of `Points`."""

    numbers: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What are all features called, in the order of `Points`?"""
        return (*self.numbers, *self.words)


def read_points(
    tables: Sequence[FrameRows], features: Sequence[str]
) -> tuple[FeatureOrder, tuple[Points, ...]]:
    """Where does every person stand, by features that all tables code alike?

    Numbers stand for themselves, ordered categories for their rank, other labels for a code.

    >>> import pyarrow as pa
    >>> from causalfairness.tables.frames import frame_rows
    >>> table = frame_rows(pa.table({"job": ["b", "a"], "pay": [1.0, 2.0]}), ["job", "pay"])
    >>> order, (points,) = read_points([table], ["job", "pay"])
    >>> order.names, points.numbers.tolist(), points.codes.tolist()
    (('pay', 'job'), [[1.0], [2.0]], [[1], [0]])
    """
    numbers: dict[str, list[Array]] = {}
    words: dict[str, list[Positions]] = {}
    for name in features:
        columns = [table.read(name) for table in tables]
        for column in columns:
            column.check_amounts()
        if all(column.is_number for column in columns):
            numbers[name] = [_finite(column) for column in columns]
        elif not any(column.is_number and not column.is_missing.all() for column in columns):
            if tables[0].is_ranked(name):
                numbers[name] = _ranks(columns, tuple(tables[0].types[name].categories))
            else:
                words[name] = _codes(columns)
        else:
            raise ColumnTypeError(
                f"feature {name!r} holds numbers in one table and words in the other; store it the "
                "same way in both"
            )
    points = []
    for at, table in enumerate(tables):
        none = np.empty((len(table), 0))
        places = np.column_stack([none, *(column[at] for column in numbers.values())])
        codes = np.column_stack([none, *(column[at] for column in words.values())])
        points.append(Points(places, codes.astype(np.int32)))
    return FeatureOrder(tuple(numbers), tuple(words)), tuple(points)


def _finite(column: Column) -> Array:
    values = np.asarray(column.values)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise ColumnTypeError(
            f"feature {column.name!r} is {values[row]} in row {row}; expected finite numbers, or a "
            "missing value"
        )
    return values


def _ranks(columns: Sequence[Column], order: tuple[str, ...]) -> list[Array]:
    """Positions in the declared order of the categories; missing is NaN."""
    place = {str(label): float(at) for at, label in enumerate(order)}
    found = []
    for column in columns:
        unknown = [label for label in column.labels if label not in place]
        if unknown:
            raise ColumnTypeError(
                f"feature {column.name!r} has the value {unknown[0]!r}, which is not among its "
                f"ordered categories {', '.join(place)}"
            )
        if column.values is not None:  # no value is known
            found.append(np.full(len(column), np.nan))
        else:
            found.append(np.array([*map(place.get, column.labels), np.nan], float)[column.codes])
    return found


def _codes(columns: Sequence[Column]) -> list[Positions]:
    """One code per label, the same in all tables; missing is -1."""
    labels = sorted({label for column in columns for label in column.labels})
    place = {label: at for at, label in enumerate(labels)}
    found = []
    for column in columns:
        if column.values is not None:
            found.append(np.full(len(column), -1, dtype=np.int64))
        else:
            found.append(np.array([*map(place.get, column.labels), -1])[column.codes])
    return found
