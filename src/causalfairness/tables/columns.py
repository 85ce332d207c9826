"""What values does a column hold? Numbers as float64, everything else as labels.

The same content gives the same column, whichever library it came from: booleans and all numbers
become float64 (missing: NaN), strings, categories and dates become labels (missing: code -1).
"""

from __future__ import annotations

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
        """What do these rows hold?"""
        if self.values is not None:
            return Column(self.name, self.values[positions], self.codes)
        return Column(self.name, None, self.codes[positions], self.labels)

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
    try:
        array = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as cause:
        raise ColumnTypeError(
            f"column {name!r} mixes values of different types ({cause}); give it one type"
        ) from cause
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if _is_numeric(kind):
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        return Column.numbers(name, _as_floats(array))
    if _is_label(kind):
        return _as_labels(name, array, kind)
    raise ColumnTypeError(
        f"column {name!r} has type {array.type}; expected numbers, booleans, strings, categories "
        "or dates"
    )


def _is_numeric(kind: Any) -> bool:
    types = pa.types
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(number or types.is_boolean(kind) or types.is_null(kind))


def _is_label(kind: Any) -> bool:
    types = pa.types
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return bool(text or types.is_temporal(kind))


def _as_floats(array: Any) -> Array:
    floats = pc.cast(array, pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _as_labels(name: str, array: Any, kind: Any) -> Column:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    words = pc.cast(encoded.dictionary, pa.large_string()).to_pylist()
    positions = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    used = np.zeros(len(words), dtype=bool)
    used[positions[positions >= 0]] = True  # unused categories are not levels
    labels = sorted(
        {word for word, seen in zip(words, used, strict=True) if seen and word is not None}
    )
    place = {label: code for code, label in enumerate(labels)}
    recode = np.array([place.get(word, -1) for word in words] + [-1], dtype=np.int64)
    return Column(name, None, recode[positions], tuple(labels))


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
