"""How is a frame read column by column, and given back the way it came?

Where some columns of a frame get new values, the result is a frame of the same library: other
columns, their order, the index of pandas, types and categories stay as they are. Two things can
change: integers whose new values are not whole become floats, and so do decimals.

What a `Table` says of its data is heeded here, for all that needs rows as they are: who asks says
what cannot be done (rows that weigh, rows that are left out), and that is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import get_pandas
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError, MissingValuesError, WeightError
from causalfairness.tables.columns import GAPS, Column, column_of, largest
from causalfairness.tables.fingerprint import Arrangement, arrange
from causalfairness.tables.missing import Missing, RowAccount, check_policy
from causalfairness.tables.rows import read_weights
from causalfairness.tables.source import (
    check_columns,
    check_names,
    collect,
    only_rows,
    open_frame,
    reading,
)
from causalfairness.tables.table import Table

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


class Numbers(NamedTuple):
    """Which numbers does a column get, and are they whole, so that integers stay integers?"""

    values: Array
    whole: bool


class Labels(NamedTuple):
    """Which labels does a column get? Positions in `labels`, one per row."""

    codes: Codes
    labels: tuple[str, ...]


New = Numbers | Labels


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Which frame was brought, and what do its columns hold?

    >>> rows = frame_rows(pa.table({"sex": ["F", "M"], "age": [31, 45]}), ["age"])
    >>> rows.read("age").values.tolist(), rows.holds_integers("age")
    ([31.0, 45.0], True)
    >>> rows.replaced({"age": Numbers(np.array([30.0, 45.0]), whole=True)})["age"].to_pylist()
    [30, 45]
    """

    native: Any  # a frame of pandas, polars or pyarrow; one of narwhals is unwrapped
    categorical: tuple[str, ...] = ()  # columns whose numbers are codes
    weights: Array | None = None  # how much each row counts; None where all count alike
    kept: Codes | None = None  # where these rows stand in what was brought; None: all are there
    account: RowAccount | None = None  # of rows that are not there
    _columns: dict[str, Any] = field(default_factory=dict)  # as they came, fetched once
    _labels: dict[str, Column] = field(default_factory=dict)  # columns of words, read once

    def __post_init__(self) -> None:
        object.__setattr__(self, "native", nw.to_native(self.native, pass_through=True))

    def __len__(self) -> int:
        return len(self.native)

    @cached_property
    def frame(self) -> nw.DataFrame[Any]:
        """What is it to narwhals? Asked for only where the library makes a difference."""
        return nw.from_native(self.native, eager_only=True)

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """Of which type is each column?"""
        return self.frame.schema

    def read(self, name: str) -> Column:
        """What does this column hold? Numbers without a copy where the frame has them as floats.

        Missing numbers are NaN, missing labels have code -1. Labels stand in the order of the
        categories where these are ordered, else in alphabetical order.
        """
        if name in self.categorical:
            return self._labels.setdefault(name, column_of(self.frame[name]).as_codes())
        native = self._column(name)
        if (_kind(native) or "f" * _is_number(self.types[name])) in tuple("fiub"):
            with reading():
                values = native.to_numpy()
            if values.dtype.kind in "fiub":
                numbers, whole = np.asarray(values, dtype=np.float64), self.holds_integers(name)
                if not whole or largest(numbers[~np.isnan(numbers)]) < GAPS:
                    return Column(name, numbers, np.empty(0, np.int64), exact=whole)
        if name not in self._labels:
            series = self.frame[name]
            self._labels[name] = _in_order(column_of(series), series)
        return self._labels[name]

    def arrangement(self, names: Sequence[str], ties: Sequence[str] = ()) -> Arrangement:
        """In which order do rows come, by what they hold? `ties` decide between rows alike."""
        told = [self.read(name) for name in names if name not in ties]
        return arrange(told, [self.read(name) for name in ties])

    def holds_integers(self, name: str) -> bool:
        """Is this a column of integers or booleans, by its type?"""
        kind = _kind(self._column(name))
        if kind:
            return kind in "iub"
        return bool(self.types[name].is_integer() or self.types[name] == nw.Boolean)

    def is_ranked(self, name: str) -> bool:
        """Are these labels with an order of their own?"""
        return isinstance(self.types[name], nw.Enum)

    def replaced(self, new: Mapping[str, New], *, copies: int = 1) -> Any:
        """What is the frame with these columns replaced, in the library it came in?

        With `copies` the rows come that many times, one whole frame below the other; the new
        columns then have values for all of them.
        """
        whole = self if copies == 1 else FrameRows(nw.concat([self.frame] * copies))
        if _is_pandas(self.native):
            return self._replaced_in_pandas(whole.native, new)
        columns = [made_like(self._example(name), values) for name, values in new.items()]
        return whole.frame.with_columns(*columns).to_native()

    def _replaced_in_pandas(self, native: Any, new: Mapping[str, New]) -> Any:
        """The same without a copy of the numbers, which narwhals makes."""
        result = native.copy(deep=False)
        for name, values in new.items():
            column = self._column(name)
            if isinstance(values, Numbers) and column.dtype == np.dtype(np.float64):
                result[name] = type(column)(values.values, index=native.index, copy=False)
            else:
                made = made_like(self._example(name), values).to_native()
                made.index = native.index
                result[name] = made
        return result

    def template(self, names: Sequence[str]) -> Template:
        """How would rows of these columns, all of them read, be written? The rows are let go."""
        labels = {name: self._example(name) for name in names if name in self._labels}
        if _is_pandas(self.native):
            return Template("pandas", self.native.head(1).copy(), labels)
        first = self.frame[[0]] if len(self) else self.frame.head(1)
        return Template(self.frame.implementation.value, first.to_native(), labels)

    def _column(self, name: str) -> Any:
        if name not in self._columns:
            self._columns[name] = self.native[name]
        return self._columns[name]

    def _example(self, name: str) -> nw.Series[Any]:
        """A few rows that show the type of a column, and each of its labels."""
        column = self.read(name)
        if column.is_number:
            return self.frame[name].head(1)
        first = np.zeros(len(column.labels) + 1, dtype=np.int64)  # the last place is for missing
        first[column.codes[::-1]] = np.arange(len(column))[::-1]
        return self.frame[name][first[:-1]]


@dataclass(frozen=True, eq=False)
class Template:
    """In which library and with which types are new rows written?

    `first` is a row that shows the types, `labels` has all labels of the columns of words. Without
    them columns become integers, floats or text.

    >>> new = {"age": Numbers(np.array([31.0]), True), "sex": Labels(np.array([1]), ("F", "M"))}
    >>> Template("pyarrow").filled(new).to_pylist()
    [{'age': 31, 'sex': 'M'}]
    """

    library: Any  # as narwhals names it
    first: Any = None
    labels: Mapping[str, nw.Series[Any]] = field(default_factory=dict)

    def filled(self, new: Mapping[str, New]) -> Any:
        """Which frame holds these columns, in this order?"""
        columns = [self._column(name, values) for name, values in new.items()]
        return nw.concat([column.to_frame() for column in columns], how="horizontal").to_native()

    def _column(self, name: str, new: New) -> nw.Series[Any]:
        if self.first is not None:
            first = nw.from_native(self.first, eager_only=True)
            return made_like(self.labels.get(name, first[name]), new)
        plain: Any
        if isinstance(new, Labels):
            plain = np.array(new.labels, dtype=object)[new.codes].tolist()
        else:
            plain = new.values.astype(np.int64) if new.whole else new.values
        return nw.new_series(name, plain, backend=self.library)


def frame_rows(
    data: Any,
    names: Sequence[str],
    *,
    unweighted: str | None = "this question",
    aligned: bool = False,
    as_is: bool = False,
) -> FrameRows:
    """Which rows does this data have? `names` must be among its columns.

    Lazy polars frames come as polars, files and database relations as pyarrow. Of a `Table` those
    rows come that are complete in `names` and count for something. Weights are refused for what
    `unweighted` names, None heeds them; `aligned` says that rows go together one for one, so that
    none is left out (nor weighed), and `as_is` that a missing value may stand for itself.

    >>> len(frame_rows(pa.table({"age": [31, 45]}), ["age"]))
    2
    """
    rows = _collected(data, names)
    if not isinstance(data, Table):
        return rows
    if unweighted is not None:
        refuse_weights(data.weights, unweighted)
    if as_is and data.missing == "category":
        return rows
    weights = None if aligned else data.weights
    return _heeding(rows, [*names, *([weights] if weights else [])], data.missing, weights, aligned)


def _collected(data: Any, names: Sequence[str]) -> FrameRows:
    with reading():
        if _is_pandas(data) and data.columns.is_unique and set(names) <= set(data.columns):
            check_names(data.columns)
            return FrameRows(data)
        frame = open_frame(data)
        if isinstance(frame, nw.LazyFrame) or not set(names) <= set(frame.columns):
            check_columns(frame, names)
        return FrameRows(collect(frame), tuple(getattr(data, "categorical", ())))


def refuse_weights(weights: str | None, what: str) -> None:
    """Are there weights that something cannot have?

    >>> refuse_weights(None, "situation tests")
    """
    if weights is not None:
        raise WeightError(
            f"rows count by {weights!r}, which {what} cannot take into account: every row counts "
            "once; leave weights out of the table and of the roles, or ask another question"
        )


def _heeding(
    rows: FrameRows, names: Sequence[str], missing: Missing, weighing: str | None, aligned: bool
) -> FrameRows:
    """The rows that a table lets in: complete by its policy, and of some weight."""
    absent = {name: rows.read(name).is_missing for name in names}
    counts = {name: int(mask.sum()) for name, mask in absent.items() if mask.any()}
    if counts and aligned:
        raise MissingValuesError(
            f"missing values in {', '.join(map(repr, counts))}, and rows go together one for one "
            "here: none can be left out; complete the data, or leave these rows out first"
        )
    check_policy(counts, missing, measured=names)
    weights = np.ones(len(rows)) if weighing is None else read_weights(rows.read(weighing))
    lost = np.any([*absent.values(), np.zeros(len(rows), dtype=bool)], axis=0)
    kept = np.flatnonzero(~lost & (weights > 0))
    if len(rows) and not len(kept):
        raise WeightError(f"no row has {', '.join(map(repr, names))} and counts for something")
    idle, gone = int(np.sum(~lost & (weights == 0))), {", ".join(counts): int(lost.sum())}
    aside = {"weight 0": idle} if idle else {}
    account = RowAccount(len(rows), len(kept), 0, gone if counts else {}, counts, aside)
    native = rows.native if len(kept) == len(rows) else only_rows(rows.native, kept)
    own = None if weighing is None else weights[kept] / weights[kept].mean()
    return FrameRows(native, rows.categorical, own, kept, account)


def column_from(name: str, values: Any) -> Column:
    """What do these loose values hold? A list, an array, or a series of any library.

    >>> column_from("sex", ["M", "F"]).labels
    ('F', 'M')
    """
    try:
        if not isinstance(values, list | tuple | np.ndarray):
            return column_of(nw.from_native(values, series_only=True).alias(name))
        array = pa.chunked_array([pa.array(values)])
    except (pa.ArrowException, TypeError) as cause:
        raise ColumnTypeError(
            f"the values for column {name!r} cannot be read ({cause}); give a list, an array or a "
            "series, all numbers or all words"
        ) from cause
    return column_of(nw.from_native(array, series_only=True).alias(name))


def made_like(example: nw.Series[Any], new: New) -> nw.Series[Any]:
    """What is a column of the same library and type as `example` that holds these values?

    >>> example = nw.from_native(pa.table({"x": pa.array([1, 2], pa.int8())}))["x"]
    >>> made_like(example, Numbers(np.array([2.0]), whole=True)).to_native().type
    DataType(int8)
    >>> made_like(example, Numbers(np.array([2.5]), whole=False)).to_native().type
    DataType(double)
    """
    if isinstance(new, Labels) and _is_number(example.dtype):  # codes
        new = Numbers(np.array([*map(float, new.labels)])[new.codes], whole=True)
    if isinstance(new, Labels):
        return nw.maybe_reset_index(_palette(example, new.labels)[new.codes])
    series = nw.new_series(example.name, new.values, backend=example.implementation)
    dtype = example.dtype
    if dtype == nw.Float64 or dtype.is_decimal() or not (dtype.is_float() or new.whole):
        return series
    if dtype.is_integer():
        _check_range(example.name, new.values, dtype)
    return _cast(series, example)


def _cast(series: nw.Series[Any], example: nw.Series[Any]) -> nw.Series[Any]:
    """The native type, since narwhals does not tell nullable types of pandas from others."""
    if not example.implementation.is_pandas_like():
        return series.cast(example.dtype)
    native = series.to_native().astype(example.to_native().dtype)
    return nw.from_native(native, series_only=True)


def _check_range(name: str, values: Array, dtype: Any) -> None:
    limits = np.iinfo(str(dtype).lower())
    if len(values) and (values.min() < limits.min or values.max() > limits.max):
        raise ColumnTypeError(
            f"column {name!r} is stored as {dtype}, which cannot hold new values from "
            f"{values.min():g} to {values.max():g}; store it in a wider type first"
        )


def _palette(example: nw.Series[Any], labels: tuple[str, ...]) -> nw.Series[Any]:
    """One row per label, of the type of `example`: taken from it, or made where it has none."""
    seen = column_of(example)
    place = {seen.labels[code]: at for at, code in enumerate(seen.codes)}
    absent = [label for label in labels if label not in place]
    if absent:
        place |= {label: len(example) + at for at, label in enumerate(absent)}
        made = [example.to_frame(), _made(example, absent).to_frame()]
        example = nw.concat(made)[example.name]
    return example[np.array([place[label] for label in labels], dtype=np.int64)]


def _made(example: nw.Series[Any], labels: list[str]) -> nw.Series[Any]:
    """Labels that the example does not have, in its type; refused where the type has no room."""
    dtype, name = example.dtype, example.name
    text = dtype == nw.String or dtype == nw.Categorical or dtype == nw.Object
    fixed = tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None
    if fixed is None and example.implementation.is_pandas_like() and dtype == nw.Categorical:
        fixed = tuple(map(str, example.to_native().cat.categories))
    for label in labels:
        if not (label in fixed if fixed is not None else text):
            raise ColumnTypeError(
                f"column {name!r} is of type {dtype}, which has no value {label!r} in this data; "
                "add it to the categories of the column, or store the column as text"
            )
    if example.implementation.is_pyarrow():
        native = pa.chunked_array([pa.array(labels, type=example.to_native().type)])
    elif example.implementation.is_polars():
        native = type(example.to_native())(name, labels, dtype=example.to_native().dtype)
    else:
        native = type(example.to_native())(labels, name=name, dtype=example.to_native().dtype)
    made: nw.Series[Any] = nw.from_native(native, series_only=True).alias(name)
    return made


def _is_pandas(data: Any) -> bool:
    pandas = get_pandas()  # None where it is not loaded
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _kind(native: Any) -> str:
    """The letter numpy has for the type of a pandas series; empty for all other columns."""
    dtype = getattr(native, "dtype", None)
    return dtype.kind if isinstance(dtype, np.dtype) else ""


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def _in_order(column: Column, series: nw.Series[Any]) -> Column:
    if not isinstance(series.dtype, nw.Enum) or column.is_number:
        return column
    labels = tuple(label for label in series.dtype.categories if label in column.labels)
    place = np.array([*map(labels.index, column.labels), -1], dtype=np.int64)
    return Column(column.name, None, place[column.codes], labels)


def dealt_anew(people: Any, columns: Sequence[str], order: NDArray[np.int64]) -> Any:
    """What would a model see, had these columns been dealt out among people in this order?

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "M"], "priors": [0, 7]})
    >>> dealt_anew(people, ["priors"], np.array([1, 0]))["priors"].to_pylist()
    [7, 0]
    """
    frame = nw.from_native(people, eager_only=True)
    return frame.with_columns(*(frame[name][order].alias(name) for name in columns)).to_native()


def made_alike(people: Any, example: Any) -> Any:
    """What would a model see, had everybody what the one person in `example` has?

    >>> import pyarrow as pa
    >>> one = pa.table({"priors": [3]})
    >>> made_alike(pa.table({"sex": ["F", "M"]}), one)["priors"].to_pylist()
    [3, 3]
    """
    frame = nw.from_native(people, eager_only=True)
    one = nw.from_native(example, eager_only=True)
    same = np.zeros(len(frame), dtype=np.int64)
    return frame.with_columns(*(one[name][same].alias(name) for name in one.columns)).to_native()


def read_columns(people: Any, names: Sequence[str]) -> tuple[Column, ...]:
    """What do these columns hold, whatever library the frame came in?

    >>> import pyarrow as pa
    >>> read_columns(pa.table({"age": [31, 45]}), ["age"])[0].values.tolist()
    [31.0, 45.0]
    """
    frame = nw.from_native(people, eager_only=True)
    return tuple(column_of(frame[name]) for name in names)
