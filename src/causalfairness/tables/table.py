"""What data was brought, and how are missing values to be treated? The door to both products."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import Cells
from causalfairness.tables.coarsening import Bins, Cuts, coarsen
from causalfairness.tables.columns import column_of
from causalfairness.tables.counting import count_cells
from causalfairness.tables.groups import GroupLabel, label_groups
from causalfairness.tables.missing import Missing
from causalfairness.tables.rows import Rows, read_rows
from causalfairness.tables.source import Frame, check_columns, collect, open_frame, reading
from causalfairness.tables.target import Of, target_of


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

    def rows(self, model: StandardFairnessModel, of: Of | None) -> Rows:
        """What does each person's row hold? `of` is None where no measured column is asked for."""
        target = None if of is None else target_of(model, of)
        with reading():
            check_columns(self.frame, model.role_columns)
            frame = collect(self.frame.select(*model.role_columns))
        return read_rows(frame, model, target, self.missing)

    def cells(self, model: StandardFairnessModel, of: Of) -> Cells:
        """How many people are in each cell, and what do their outcomes add up to?"""
        with reading():
            check_columns(self.frame, model.role_columns)
            return count_cells(self.frame, model, target_of(model, of), self.missing)

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
