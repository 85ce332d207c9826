"""What values does a column hold? Numbers as float64, everything else as labels.

The same content gives the same column, whichever library it came from: booleans and all numbers
become float64 (missing: NaN), strings, categories and dates become labels (missing: code -1). A
column without a single known value is one of numbers, all missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError

Value = float | str | None  # None stands for missing
Codes = NDArray[np.int64]
Array = NDArray[np.float64]
LARGEST, SMALLEST = 1e70, 1e-70  # squares of measurements times squares of weights stay finite
EXPECTED = "expected numbers, booleans, strings, categories or dates"


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

    @classmethod
    def numbers(cls, name: str, values: Array) -> Column:
        """Which numbers does the column hold?"""
        return cls(name, values + 0.0, np.empty(0, np.int64))  # + 0.0 turns -0.0 into 0.0

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
            return Column(self.name, self.values[positions], self.codes)
        taken = self.codes[positions]
        used, codes = np.unique(taken, return_inverse=True)
        codes = codes.reshape(-1) - int(np.any(taken < 0))  # missing stays -1
        labels = tuple(self.labels[code] for code in used if code >= 0)
        return Column(self.name, None, codes, labels)

    def as_codes(self) -> Column:
        """What is the column, if its numbers are codes? Labels, as they are written for people.

        >>> Column.numbers("job", np.array([110.0, 9.0, np.nan])).as_codes().labels
        ('110', '9')
        """
        if self.values is None:
            return self
        distinct, codes = _distinct(self.values)
        texts = [f"{v:.0f}" if v.is_integer() else repr(v) for v in distinct.tolist()]
        order = np.argsort(texts)
        place = np.append(np.argsort(order), -1)
        known = np.where(codes < 0, len(texts), codes)
        return Column(self.name, None, place[known], tuple(texts[at] for at in order))

    def levels(self) -> Levels:
        """Which distinct values occur?"""
        values: tuple[Value, ...]
        if self.values is None:
            codes, values = self.codes, self.labels
        else:
            distinct, codes = _distinct(self.values)
            values = tuple(distinct.tolist())
        missing = codes < 0
        if missing.any():
            codes, values = np.where(missing, len(values), codes), (*values, None)
        return Levels(codes, values)


def column_of(series: nw.Series[Any]) -> Column:
    """What does this series hold? Strings stay labels even if they look like numbers.

    >>> column_of(nw.from_native(pa.table({"x": [True, False]}))["x"]).values.tolist()
    [1.0, 0.0]
    """
    name = series.name
    array = _as_arrow(series)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if isinstance(kind, pa.BaseExtensionType):  # pandas intervals and periods: labels by their text
        text = series.to_native().map(str, na_action="ignore")
        return column_of(nw.from_native(text, series_only=True))
    if _is_numeric(kind):
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        return Column.numbers(name, _as_floats(array))
    if _is_label(kind):
        return _as_labels(name, array)
    raise ColumnTypeError(f"column {name!r} has type {array.type}; {EXPECTED}")


def number_there(name: str, kind: Any) -> nw.Expr:
    """What is each row's number, where the data lives? Missing values come as null.

    Two roads are closed. A cast of booleans fails where DuckDB passes it on to a CSV reader. And
    `is_nan` is never true of a Parquet column whose statistics, which leave NaN out, are trusted.

    >>> frame = nw.from_native(pa.table({"x": [True, None, False]}))
    >>> frame.select(number_there("x", nw.Boolean()))["x"].to_list()
    [1.0, None, 0.0]
    """
    column = nw.col(name)
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
        array = series.to_arrow()
    except (pa.ArrowException, OverflowError) as cause:
        raise ColumnTypeError(
            f"column {series.name!r} cannot be read ({cause}); {EXPECTED}, of one kind throughout"
        ) from cause
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _is_numeric(kind: Any) -> bool:
    types = pa.types
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(number or types.is_boolean(kind) or types.is_null(kind))


def _is_label(kind: Any) -> bool:
    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return bool(text or _is_moment(kind))


def _is_moment(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind))


def _as_floats(array: Any) -> Array:
    if pa.types.is_decimal(array.type):  # a direct cast is off by a rounding error
        array = pc.cast(array, pa.string())
    floats = pc.cast(array, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _as_labels(name: str, array: Any) -> Column:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    words = _words(encoded.dictionary)
    indices = pc.cast(encoded.indices, pa.int64())  # unsigned in polars
    positions = indices.fill_null(-1).to_numpy(zero_copy_only=False)
    used = np.zeros(len(words), dtype=bool)
    used[positions[positions >= 0]] = True  # unused categories are not levels
    labels = sorted(
        {word for word, seen in zip(words, used, strict=True) if seen and word is not None}
    )
    if not labels:
        return Column.numbers(name, np.full(len(positions), np.nan))
    place = {label: code for code, label in enumerate(labels)}
    codes = [-1 if word is None else place.get(word, -1) for word in words]
    recode = np.array([*codes, -1], dtype=np.int64)
    return Column(name, None, recode[positions], tuple(labels))


def _words(values: Any) -> list[str | None]:
    kind = values.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
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
