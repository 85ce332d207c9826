"""What data was brought, and how are missing values to be treated? The door to both products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import Cells
from causalfairness.tables.coarsening import Bins, Cuts, coarsen
from causalfairness.tables.columns import Value, column_of
from causalfairness.tables.counting import count_cells
from causalfairness.tables.groups import GroupLabel, label_groups
from causalfairness.tables.missing import Missing
from causalfairness.tables.rows import Rows, read_rows
from causalfairness.tables.source import Frame, check_columns, collect, open_frame, reading
from causalfairness.tables.target import Of, Target, Within, target_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """What data was brought? Not read until an estimator asks for rows or cells.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = open_table(pa.table({"sex": ["M", "F", "M"], "hired": [1, 0, 0]}))
    >>> len(table.cells(model, "outcome")), table.rows(model, "outcome").groups
    (2, (('F',), ('M',)))
    """

    frame: Frame
    missing: Missing
    within: Within | None = None  # the rows that are asked about; None for all
    known_by: tuple[str, ...] = ()  # columns that tell this data from other; by default all read
    needed: tuple[str, ...] = ()  # columns that rows must have besides those that are asked about

    def rows(self, model: StandardFairnessModel, of: Of | None) -> Rows:
        """What does each person's row hold? `of` is None where no measured column is asked for."""
        target = None if of is None else target_of(model, of)
        asked = (self.within.column,) if self.within else ()
        names = tuple(dict.fromkeys((*model.role_columns, *asked, *self.known_by, *self.needed)))
        with reading():
            check_columns(self.frame, names)
            frame = collect(self.frame.select(*names))
        return read_rows(
            frame,
            model,
            target,
            self.missing,
            within=self.within,
            known_by=self.known_by,
            needed=self.needed,
        )

    def cells(self, model: StandardFairnessModel, of: Of) -> Cells:
        """How many people are in each cell, and what do their outcomes add up to?"""
        with reading():
            check_columns(self.frame, model.role_columns)
            targets = [target_of(model, of)]
            return count_cells(self.frame, model, targets, self.missing, self.within)[0]

    def cells_of_both(self, model: StandardFairnessModel) -> tuple[Cells, Cells]:
        """What do outcomes, and what do predictions add up to? Of the rows that have both.

        One pass counts both, and how they vary together: their effects can be subtracted.

        >>> import pyarrow as pa
        >>> model = StandardFairnessModel(
        ...     protected="sex", reference="M", comparison="F", outcome="hired", prediction="p")
        >>> data = pa.table({"sex": ["M", "F", "F"], "hired": [1, 0, 1], "p": [0.5, 0.1, 0.9]})
        >>> outcome, prediction = open_table(data).cells_of_both(model)
        >>> prediction.sums.wy.tolist(), outcome.fingerprint == prediction.fingerprint
        ([1.0, 0.5], True)
        """
        targets = [target_of(model, "outcome"), target_of(model, "prediction")]
        with reading():
            check_columns(self.frame, model.role_columns)
            first, second = count_cells(self.frame, model, targets, self.missing, self.within)
        return first, second

    def needing(self, *columns: str) -> Table:
        """What is the table for a question that needs these columns too, though not their means?

        A row without them is one with a missing value: refused, or dropped and counted.

        >>> import pyarrow as pa
        >>> model = StandardFairnessModel(
        ...     protected="sex", reference="M", comparison="F", outcome="hired", prediction="p")
        >>> data = pa.table({"sex": ["M", "F", "F"], "hired": [1, 0, 1], "p": [0.5, 0.1, None]})
        >>> table = open_table(data, missing="drop").needing("p")
        >>> table.rows(model, "outcome").kept.tolist()
        [True, True, False]
        """
        return replace(self, needed=columns)

    def among(self, column: str, equals: Any) -> Table:
        """What is the table for a question about the rows where a column has this value?

        Rows keep their place: effects found among different rows of a table can be combined.

        >>> import pyarrow as pa
        >>> model = StandardFairnessModel(
        ...     protected="sex", reference="M", comparison="F", outcome="hired")
        >>> data = pa.table({"sex": ["M", "F", "F"], "hired": [1, 0, 1], "old": [0, 0, 1]})
        >>> print(open_table(data).among("old", 0).rows(model, "outcome").pair(model).account)
        3 rows read, 2 used, 1 with old other than 0 left aside
        """
        with reading():
            check_columns(self.frame, [column])
        return replace(self, within=Within(column, equals))

    def values(self, column: str) -> tuple[Value, ...]:
        """Which values does a column hold? Sorted; missing comes last, as None.

        >>> import pyarrow as pa
        >>> open_table(pa.table({"hired": [1, 0, None, 1]})).values("hired")
        (0.0, 1.0, None)
        """
        with reading():
            check_columns(self.frame, [column])
            found = collect(self.frame.select(column).unique())
        return column_of(found[column]).levels().values

    def with_indicator(self, name: str, column: str, value: Any) -> Table:
        """What is the table with one more column: 1 where another has this value, else 0?

        Missing stays missing, and data that is not in memory stays where it is.

        >>> import pyarrow as pa
        >>> table = open_table(pa.table({"grade": ["high", "low", None]}))
        >>> table.with_indicator("is high", "grade", "high").values("is high")
        (0.0, 1.0, None)
        """
        target = Target(column, value, "outcome")
        with reading():
            check_columns(self.frame, [column])
            if isinstance(self.frame, nw.LazyFrame):
                extended = self.frame.with_columns(target.expression(self.frame).alias(name))
                return replace(self, frame=extended)
            numbers = target.read(column_of(self.frame[column]))
        return replace(self, frame=_with_numbers(self.frame, name, numbers))

    def with_numbers(self, rows: Rows, name: str, numbers: Array) -> Table:
        """What is the table of these rows with one more column? `rows` were read from this table.

        >>> import pyarrow as pa
        >>> model = StandardFairnessModel(
        ...     protected="sex", reference="M", comparison="F", outcome="hired")
        >>> table = open_table(pa.table({"sex": ["M", "F"], "hired": [1, 0]}))
        >>> told = table.with_numbers(table.rows(model, None), "score", np.array([0.2, 0.7]))
        >>> told.values("score")
        (0.2, 0.7)
        """
        return replace(self, frame=_with_numbers(rows.frame, name, numbers))

    def coarsened(self, bins: Mapping[str, Bins]) -> tuple[Table, Cuts]:
        """What is the table with these columns cut into bins, and where were they cut?

        >>> import pyarrow as pa
        >>> open_table(pa.table({"age": [20, 30, 40, 50]})).coarsened({"age": 2})[1]
        {'age': (35.0,)}
        """
        with reading():
            frame, cuts = coarsen(self.frame, bins)
        return replace(self, frame=frame), cuts

    def groups(self, model: StandardFairnessModel) -> tuple[GroupLabel, ...]:
        """Which groups do the protected columns make?"""
        names = model.protected_columns
        with reading():
            check_columns(self.frame, names)
            lazy = isinstance(self.frame, nw.LazyFrame)
            frame = collect(self.frame.select(*names).unique()) if lazy else collect(self.frame)
        return label_groups([column_of(frame[name]) for name in names])[0]

    def people(self, model: StandardFairnessModel) -> dict[GroupLabel, int]:
        """How many rows does each group have, whatever is asked about it?

        >>> import pyarrow as pa
        >>> model = StandardFairnessModel(
        ...     protected="sex", reference="M", comparison="F", outcome="hired")
        >>> open_table(pa.table({"sex": ["M", "F", "M"]})).people(model)
        {('F',): 1, ('M',): 2}
        """
        names = model.protected_columns
        with reading():
            check_columns(self.frame, names)
            if isinstance(self.frame, nw.LazyFrame):
                rows = nw.len().alias("number of rows")
                counted = collect(self.frame.group_by(list(names)).agg(rows))
                weights = column_of(counted["number of rows"]).values
            else:
                counted, weights = self.frame, None
        groups, group = label_groups([column_of(counted[name]) for name in names])
        found = np.bincount(group, weights, minlength=len(groups))
        return {label: int(count) for label, count in zip(groups, found, strict=True)}

    def value_counts(self, columns: tuple[str, ...]) -> dict[str, int]:
        """How many distinct values does each column have?

        >>> import pyarrow as pa
        >>> open_table(pa.table({"sex": ["M", "F", "M"]})).value_counts(("sex",))
        {'sex': 2}
        """
        if not columns:
            return {}
        with reading():
            check_columns(self.frame, columns)
            if isinstance(self.frame, nw.LazyFrame):
                distinct = [
                    nw.col(name).n_unique().alias(f"key{at}") for at, name in enumerate(columns)
                ]
                found = collect(self.frame.select(*distinct)).rows()[0]
                return {name: int(n or 0) for name, n in zip(columns, found, strict=True)}
        return {
            name: len(np.unique(column_of(self.frame[name]).levels().codes)) for name in columns
        }


def open_table(data: Any, *, missing: Missing = "refuse") -> Table:
    """How is this data read? Frames, relations, paths and globs, through one door.

    >>> import pyarrow as pa
    >>> open_table(pa.table({"age": [31, 45]})).missing
    'refuse'
    """
    return Table(open_frame(data), missing)


def _with_numbers(frame: nw.DataFrame[Any], name: str, numbers: Array) -> nw.DataFrame[Any]:
    column = nw.new_series(name, numbers, nw.Float64, backend=frame.implementation)
    return frame.with_columns(column)
