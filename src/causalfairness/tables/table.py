"""What data was brought, and how is it read? The door to both products: rows and cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MissingValuesError, RoleError, WeightError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import Cells
from causalfairness.tables.coarsening import Bins, Cuts, coarsen
from causalfairness.tables.columns import Declared, Value, column_of
from causalfairness.tables.counting import count_cells
from causalfairness.tables.groups import GroupLabel, label_groups
from causalfairness.tables.missing import Missing, check_missing
from causalfairness.tables.rows import Rows, read_rows
from causalfairness.tables.source import (
    Frame,
    check_columns,
    collect,
    column_there,
    open_frame,
    reading,
    select,
    with_numbers_of_words,
)
from causalfairness.tables.stand_ins import refuse_stand_ins
from causalfairness.tables.target import Of, Target, Within, target_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """What data was brought, how were its rows drawn, and how are its columns read?

    Every function takes it in place of the data alone; `missing=` of functions and `weights=` of
    roles are short forms, and only one of the two places may say something. `weights` is the
    column that says for how many people a row stands. `missing` says what happens to missing
    values: `"refuse"`, `"drop"` (counted per group) or `"category"`. Columns in `categorical` hold
    codes, though they look like amounts: a confounder or mediator of codes has a level for each.
    Those in `numeric` are amounts: text in them is read as numbers, and whole numbers are taken as
    such without a note. `accept` names columns that were looked at and are no copies of the
    outcome. Nothing is read until a question is asked.

    >>> import causalfairness as cf
    >>> import pyarrow as pa
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = cf.Table(
    ...     pa.table({"sex": ["M", "F", "M", "F", "F"], "hired": [1, 0, 0, None, 1]}),
    ...     missing="drop")
    >>> print(cf.decompose_disparity(table, model).diagnostics.rows)
    5 rows read, 4 used, 1 dropped for missing values (F: 1)
    """

    data: Any
    _: KW_ONLY
    weights: str | None = None
    missing: Missing = "refuse"
    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    accept: Sequence[str] = ()
    within: Within | None = None  # the rows that are asked about; None for all
    known_by: tuple[str, ...] = ()  # columns that tell this data from other; by default all read
    needed: tuple[str, ...] = ()  # columns that rows must have besides those that are asked about

    def __post_init__(self) -> None:
        if isinstance(self.data, Table):
            raise RoleError("the data is a Table already; say everything in one of the two")
        check_missing(self.missing)
        for setting in ("categorical", "numeric", "accept"):
            names = getattr(self, setting)
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise RoleError(f"{setting}={names!r}; expected a list of names of columns")
        both = [name for name in self.categorical if name in self.numeric]
        if both:
            raise RoleError(f"column {both[0]!r} is both in categorical and in numeric; choose one")

    @cached_property
    def frame(self) -> Frame:
        """What is read from? Files, relations and lazy frames stay where they are."""
        frame = open_frame(self.data)
        weights = () if self.weights is None else (self.weights,)
        with reading():
            check_columns(frame, (*self.categorical, *self.numeric, *self.accept, *weights))
            return with_numbers_of_words(frame, self.numeric)

    @property
    def declared(self) -> Declared:
        """What was said about columns, that what is read of them carries along."""
        return Declared(tuple(self.categorical), tuple(self.numeric), tuple(self.accept))

    def rows(self, model: StandardFairnessModel, of: Of | None) -> Rows:
        """What does each person's row hold? `of` is None where no measured column is asked for."""
        target = None if of is None else target_of(model, of)
        asked = (self.within.column,) if self.within else ()
        names = tuple(dict.fromkeys((*model.role_columns, *asked, *self.known_by, *self.needed)))
        with reading():
            check_columns(self.frame, names)
            self._refuse_stand_ins(model, *([] if target is None else [target]))
            frame = collect(select(self.frame, names))
        return read_rows(
            frame,
            model,
            target,
            self.missing,
            declared=self.declared,
            within=self.within,
            known_by=self.known_by,
            needed=self.needed,
        )

    def cells(self, model: StandardFairnessModel, of: Of) -> Cells:
        """How many people are in each cell, and what do their outcomes add up to?"""
        with reading():
            check_columns(self.frame, model.role_columns)
            targets = [target_of(model, of)]
            self._refuse_stand_ins(model, *targets)
            counted = count_cells(self.frame, model, targets, self.missing, self.within)[0]
        return replace(counted, declared=self.declared)

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
            self._refuse_stand_ins(model, *targets)
            first, second = count_cells(self.frame, model, targets, self.missing, self.within)
        return replace(first, declared=self.declared), replace(second, declared=self.declared)

    def _refuse_stand_ins(self, model: StandardFairnessModel, *targets: Target) -> None:
        """Refuse codes for missing values in what is measured, unless a column was spoken of."""
        said = {name for names in self.declared for name in names}
        outcomes = [target.column for target in targets if target.column not in said]
        protected = [name for name in model.protected_columns if name not in said]
        named: set[Any] = {target.value for target in targets} | {model.favorable}
        if all(target.value is None for target in targets):
            named.add(-1)  # of amounts it may be one, as the change from 1 to 0 is
        refuse_stand_ins(self.frame, [*protected, *outcomes], outcomes, named)

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
            found = collect(select(self.frame, [column]).unique())
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
                expression = target.expression(self.frame).alias(name)
                return self._holding(self.frame.with_columns(expression))
            numbers = target.read(column_of(self.frame[column]))
        return self._holding(_with_numbers(self.frame, name, numbers))

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
        return self._holding(_with_numbers(rows.frame, name, numbers))

    def coarsened(self, bins: Mapping[str, Bins]) -> tuple[Table, Cuts]:
        """What is the table with these columns cut into bins, and where were they cut?

        >>> import pyarrow as pa
        >>> open_table(pa.table({"age": [20, 30, 40, 50]})).coarsened({"age": 2})[1]
        {'age': (35.0,)}
        """
        with reading():
            frame, cuts = coarsen(self.frame, bins)
        return self._holding(frame), cuts

    def _holding(self, frame: Frame) -> Table:
        """What is said here, of a frame made from this one: text is numbers in it already."""
        there = {*frame.collect_schema().names()}
        kept: dict[str, Any] = {
            setting: tuple(name for name in names if name in there)
            for setting, names in self.declared._asdict().items()
        }
        return replace(self, data=frame, **kept)

    def groups(self, model: StandardFairnessModel) -> tuple[GroupLabel, ...]:
        """Which groups do the protected columns make?"""
        return tuple(self.people(model))

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
                inner = {f"key{at}": name for at, name in enumerate(names)}
                keys = (column_there(self.frame, name).alias(key) for key, name in inner.items())
                rows = nw.len().alias("rows")
                counted = collect(self.frame.select(*keys).group_by([*inner]).agg(rows))
                weights = column_of(counted["rows"]).values
                columns = [column_of(counted[key].alias(name)) for key, name in inner.items()]
            else:
                columns, weights = [column_of(self.frame[name]) for name in names], None
        groups, group = label_groups(columns)
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
                    column_there(self.frame, name).n_unique().alias(f"key{at}")
                    for at, name in enumerate(columns)
                ]
                found = collect(self.frame.select(*distinct)).rows()[0]
                return {name: int(n or 0) for name, n in zip(columns, found, strict=True)}
        return {
            name: len(np.unique(column_of(self.frame[name]).levels().codes)) for name in columns
        }


def open_table(data: Any, *, missing: Missing = "refuse") -> Table:
    """How is this data read? Frames, relations, paths, globs and tables, through one door.

    >>> import pyarrow as pa
    >>> open_table(pa.table({"age": [31, 45]})).missing
    'refuse'
    """
    if not isinstance(data, Table):
        table = Table(data, missing=missing)
        _ = table.frame  # what cannot be read is refused here
        return table
    if "refuse" not in (missing, data.missing):
        raise MissingValuesError(
            f"the table says missing={data.missing!r} and the question missing={missing!r}; say it "
            "in one place"
        )
    return data if missing == "refuse" else replace(data, missing=missing)


def ask(
    data: Any, model: StandardFairnessModel, *, missing: Missing = "refuse"
) -> tuple[Table, StandardFairnessModel]:
    """Which table is asked, with which roles? Weights that the table names are those of the roles.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> data = pa.table({"sex": ["M", "F"], "hired": [1, 0], "w": [2.0, 3.0]})
    >>> ask(Table(data, weights="w"), model)[1].weights
    'w'
    """
    table = open_table(data, missing=missing)
    if table.weights is None:
        return table, model
    if model.weights is not None:
        raise WeightError(
            f"the table says weights={table.weights!r} and the roles weights={model.weights!r}; "
            "say it in one place"
        )
    return replace(table, weights=None), replace(model, weights=table.weights)


def _with_numbers(frame: nw.DataFrame[Any], name: str, numbers: Array) -> nw.DataFrame[Any]:
    column = nw.new_series(name, numbers, nw.Float64, backend=frame.implementation)
    return frame.with_columns(column)
