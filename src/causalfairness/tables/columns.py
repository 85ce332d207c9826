"""What values does a column hold? Numbers as float64, everything else as labels.

The same content gives the same column, whichever library it came from: booleans and all numbers
become float64 (missing: NaN), strings, categories and dates become labels (missing: code -1). A
column without a single known value is one of numbers, all missing. Whole numbers that float64
would merge with their neighbors become labels that are told apart exactly, and are no amounts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Never

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from causalfairness.errors import ColumnTypeError
from causalfairness.tables.source import Frame, column_there

Value = float | int | str | None  # None stands for missing, int for what float64 cannot hold
Codes = NDArray[np.int64]
Array = NDArray[np.float64]
GAPS = 2**53  # the size from which float64 has gaps between whole numbers
DIGITS = 15  # that decimals may have without any two becoming one in float64
LARGEST, SMALLEST = 1e70, 1e-70  # squares of measurements times squares of weights stay finite
EXPECTED = "expected numbers, booleans, strings, categories or dates"


class Declared(NamedTuple):
    """What was said about columns: these hold codes, those amounts, and these are accepted.

    >>> Declared(accept=("score",)).categorical
    ()
    """

    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()


NOTHING = Declared()


@dataclass(frozen=True, eq=False)
class Levels:
    """Which distinct values occur, and which of them does each row have?

    Values are sorted, so codes compare like values; missing comes last.

    >>> levels = Column.numbers("n", np.array([3.0, 1.0, np.nan])).levels()
    >>> levels.codes.tolist(), levels.values
    ([1, 0, 2], (1.0, 3.0, None))
    """

    codes: Codes
    values: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """What does one column hold, whichever library it came from?

    >>> column = column_of(nw.from_native(pa.table({"sex": ["F", "M", None]}))["sex"])
    >>> column.labels, column.codes.tolist(), column.is_missing.tolist()
    (('F', 'M'), [0, 1, -1], [False, False, True])
    """

    name: str
    values: Array | None  # numbers; None for labels
    codes: Codes  # positions in labels; empty for numbers
    labels: tuple[str, ...] = ()
    exact: bool = False  # of integers or decimals, no two of which became one

    @classmethod
    def numbers(cls, name: str, values: Array, *, exact: bool = False) -> Column:
        """Which numbers does the column hold?"""
        return cls(name, values + 0.0, np.empty(0, np.int64), exact=exact)  # -0.0 becomes 0.0

    @property
    def is_number(self) -> bool:
        """Are these numbers, or labels?"""
        return self.values is not None

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which rows have no value?"""
        return self.codes < 0 if self.values is None else np.isnan(self.values)

    def __len__(self) -> int:
        return len(self.codes) if self.values is None else len(self.values)

    def take(self, positions: NDArray[np.int64]) -> Column:
        """What do these rows hold? Labels that none of them has are forgotten."""
        if self.values is not None:
            return Column(self.name, self.values[positions], self.codes, exact=self.exact)
        taken = self.codes[positions]
        used, codes = np.unique(taken, return_inverse=True)
        codes = codes.reshape(-1) - int(np.any(taken < 0))  # missing stays -1
        labels = tuple(self.labels[code] for code in used if code >= 0)
        return Column(self.name, None, codes, labels, self.exact)

    def as_codes(self) -> Column:
        """What is the column, if its numbers are codes? Labels, as they are written for people.

        >>> Column.numbers("job", np.array([110.0, 9.0, np.nan])).as_codes().labels
        ('110', '9')
        """
        if self.values is None and not self.exact:
            return self
        self.check_levels()
        codes, values = self.levels().codes, self.levels().values
        numbers = [value for value in values if isinstance(value, float | int)]
        texts = [str(int(number)) if number % 1 == 0 else repr(number) for number in numbers]
        order = np.argsort(texts)
        place = np.append(np.argsort(order), -1)
        return Column(self.name, None, place[codes], tuple(texts[at] for at in order))

    def levels(self) -> Levels:
        """Which distinct values occur?"""
        values: tuple[Value, ...]
        if self.values is None:
            codes = self.codes
            values = tuple(map(int, self.labels)) if self.exact else self.labels
        else:
            distinct, codes = _distinct(self.values)
            in_full = self.exact and largest(distinct) >= GAPS
            values = tuple(map(int, distinct.tolist()) if in_full else distinct.tolist())
        missing = codes < 0
        if missing.any():
            codes, values = np.where(missing, len(values), codes), (*values, None)
        return Levels(codes, values)

    def is_value(self, wanted: Value) -> NDArray[np.bool_]:
        """Which rows have this value? Compared exactly; rows without a value have none.

        >>> Column.numbers("n", np.array([3.0, np.nan])).is_value(3.0).tolist()
        [True, False]
        """
        if isinstance(wanted, float) and self.values is not None:
            if abs(wanted) >= GAPS:
                self.check_levels()
            return np.asarray(self.values == wanted)
        levels = self.levels()
        return np.array([value == wanted for value in levels.values], dtype=bool)[levels.codes]

    def check_levels(self) -> None:
        """Do rows have the same value only if they had it where it came from?

        >>> Column.numbers("id", np.array([1e17])).check_levels()
        Traceback (most recent call last):
        ...
        causalfairness.errors.ColumnTypeError: column 'id' holds floats as large as 1e+17, and ...
        """
        if self.values is None or self.exact or largest(self.values) < GAPS:
            return
        if (size := largest(self.values[np.isfinite(self.values)])) >= GAPS:
            raise ColumnTypeError(
                f"column {self.name!r} holds floats as large as {size:g}, and from 2^53 (about "
                "9e15) on floats merge whole numbers; store the column as integers or as text "
                "where they come from, or cut it into bins"
            )

    def check_amounts(self) -> None:
        """Can these numbers be calculated with, none of them changed?"""
        if self.values is None and self.exact:
            _refuse_amounts(self.name, map(int, self.labels))


def column_of(series: nw.Series[Any]) -> Column:
    """What does this series hold? Strings stay labels even if they look like numbers.

    >>> column_of(nw.from_native(pa.table({"x": [True, False]}))["x"]).values.tolist()
    [1.0, 0.0]
    """
    name = series.name
    array = _as_arrow(series)
    kind = array.type.value_type if types.is_dictionary(array.type) else array.type
    if isinstance(kind, pa.BaseExtensionType):  # pandas intervals and periods: labels by their text
        native = series.to_native()
        if not hasattr(native, "map"):  # as numbers of DuckDB that no other library has
            raise ColumnTypeError(f"{name!r} holds values of type {kind}; cast it to another one")
        text = native.map(str, na_action="ignore")
        return column_of(nw.from_native(text, series_only=True))
    if _is_numeric(kind):
        if types.is_dictionary(array.type):
            array = array.dictionary_decode()
        return _as_numbers(name, array)
    if _is_label(kind):
        return _as_labels(name, array)
    raise ColumnTypeError(f"column {name!r} has type {array.type}; {EXPECTED}")


def largest(values: Array) -> float:
    """What is the largest size of any of these numbers? 0 without one.

    >>> largest(np.array([-3.0, 2.0]))
    3.0
    """
    return float(max(-values.min(), values.max())) if len(values) else 0.0


def number_there(frame: Frame, name: str) -> nw.Expr:
    """What is each row's number, where the data lives? Missing values come as null.

    Two roads are closed. A cast of booleans fails where DuckDB passes it on to a CSV reader. And
    `is_nan` is never true of a Parquet column whose statistics, which leave NaN out, are trusted.

    >>> frame = nw.from_native(pa.table({"x": [True, None, False]}))
    >>> frame.select(number_there(frame, "x"))["x"].to_list()
    [1.0, None, 0.0]
    """
    column, kind = column_there(frame, name), frame.collect_schema()[name]
    if kind == nw.Boolean:
        known = nw.when(column).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        return nw.when(~column.is_null()).then(known).alias(name)
    number = column.cast(nw.Float64)
    if not kind.is_float():
        return number
    known = number.is_finite() | (number.abs() == math.inf)
    return nw.when(known).then(number).alias(name)


def spell_moment(word: str) -> str:
    """How is a date or time written, whatever its resolution? As Python does; midnight is a date.

    >>> spell_moment("2020-01-01 00:00:00.000"), spell_moment("2020-01-01 09:30:00.500Z")
    ('2020-01-01', '2020-01-01 09:30:00.500000+00:00')
    """
    zone = "+00:00" if word.endswith("Z") else ""
    whole, _, fraction = word.removesuffix("Z").partition(".")
    if fraction := fraction.rstrip("0"):
        whole += f".{fraction:0<6}"
    return whole + zone if zone else whole.removesuffix(" 00:00:00")


def _as_arrow(series: nw.Series[Any]) -> Any:
    try:
        array = series.alias("values").to_arrow()  # whatever the name is
    except (pa.ArrowException, OverflowError) as cause:
        raise ColumnTypeError(
            f"column {series.name!r} cannot be read ({cause}); {EXPECTED}, of one kind throughout"
        ) from cause
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _is_numeric(kind: Any) -> bool:
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(number or types.is_boolean(kind) or types.is_null(kind))


def _is_label(kind: Any) -> bool:
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return bool(text or _is_moment(kind))


def _is_moment(kind: Any) -> bool:
    return bool(types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind))


def _as_floats(array: Any) -> Array:
    if types.is_decimal(array.type):  # a direct cast is off by a rounding error
        array = pc.cast(array, pa.string())
    floats = pc.cast(array, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _as_numbers(name: str, array: Any) -> Column:
    """Floats, or labels of whole numbers where two of them could become one float."""
    kind, floats = array.type, _as_floats(array)
    if not (types.is_integer(kind) or types.is_decimal(kind)):
        return Column.numbers(name, floats)
    limit = 10.0 ** (DIGITS - kind.scale) if types.is_decimal(kind) else GAPS
    ends = [end for end in pc.min_max(array).as_py().values() if end is not None]
    if max(map(abs, ends), default=0) < limit:
        return Column.numbers(name, floats, exact=True)
    encoded = array.dictionary_encode()
    found = encoded.dictionary.to_pylist()
    whole = [value for value in found if value == int(value)]
    if len({*map(float, found)}) == len(found) and all(value == float(value) for value in whole):
        return Column.numbers(name, floats, exact=True)
    if len(whole) < len(found):
        _refuse_amounts(name, found)
    place = {value: at for at, value in enumerate(sorted(found))}
    codes = np.array([*(place[value] for value in found), -1])
    positions = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Column(name, None, codes[positions], tuple(str(int(each)) for each in place), exact=True)


def _refuse_amounts(name: str, values: Iterable[Any]) -> Never:
    worst = max((value for value in values if value != float(value)), key=abs)
    raise ColumnTypeError(
        f"column {name!r} holds {worst}, which floating-point numbers merge with its neighbors, "
        "so it is no amount to calculate with; subtract a constant or round it in the data, or, "
        "where it is a code or an id, store it as text or name it in categorical= of cf.Table"
    )


def _as_labels(name: str, array: Any) -> Column:
    encoded = array if types.is_dictionary(array.type) else array.dictionary_encode()
    words = _words(encoded.dictionary)
    indices = pc.cast(encoded.indices, pa.int64())  # unsigned in polars
    positions = indices.fill_null(-1).to_numpy(zero_copy_only=False)
    used = np.zeros(len(words), dtype=bool)
    used[positions[positions >= 0]] = True  # unused categories are not levels
    seen = {words[at] for at in np.flatnonzero(used)}
    labels = sorted(word for word in seen if word is not None)
    if not labels:
        return Column.numbers(name, np.full(len(positions), np.nan))
    place: dict[str | None, int] = {label: code for code, label in enumerate(labels)}
    recode = np.array([*(place.get(word, -1) for word in words), -1], dtype=np.int64)
    return Column(name, None, recode[positions], tuple(labels))


def _words(values: Any) -> list[str | None]:
    kind = values.type
    if types.is_timestamp(kind) and kind.tz is not None:
        values = pc.cast(values, pa.timestamp(kind.unit, "UTC"))
    words = pc.cast(values, pa.large_string()).to_pylist()
    if not _is_moment(kind):
        return list(words)
    return [word if word is None else spell_moment(word) for word in words]


def _distinct(values: Array) -> tuple[Array, Codes]:
    """Sorted distinct numbers and the position of each value; -1 for missing."""
    missing = np.isnan(values)
    encoded = pa.array(values, mask=missing).dictionary_encode()
    found = encoded.dictionary.to_numpy(zero_copy_only=False)
    order = np.argsort(found)
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    positions = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return found[order], rank[positions]
