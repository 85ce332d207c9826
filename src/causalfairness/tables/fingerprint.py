"""Is this the same data? A digest that does not depend on the library or the order of rows.

Rows are put in an order that depends on their content alone (a 64-bit mix of their values), and
the values are digested with SHA-256 in that order. A second digest, of the order itself, tells
apart two arrangements of the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.tables.columns import Column, Value

Array = NDArray[np.float64]
Words = NDArray[np.uint64]


class Identity(NamedTuple):
    """Which data is it, and in which order do its rows come?

    >>> one = identify([Column.numbers("age", np.array([30.0, 41.0]))])
    >>> two = identify([Column.numbers("age", np.array([41.0, 30.0]))])
    >>> one.fingerprint == two.fingerprint, one.order == two.order
    (True, False)
    """

    fingerprint: str
    order: str


def identify(columns: Iterable[Column]) -> Identity:
    """Which data is in these columns? Their order does not matter, their names do."""
    named = sorted(columns, key=lambda column: column.name)
    contents = [_content(column) for column in named]
    arrangement = np.argsort(_mixed(contents), kind="stable")
    digest = hashlib.sha256()
    for column, content in zip(named, contents, strict=True):
        kind = "number" if column.is_number else "whole" if column.exact else "label"
        _update_text(digest, (kind, column.name))
        _update_text(digest, column.labels)
        digest.update(content[arrangement].tobytes())
    order = hashlib.sha256(arrangement.astype("<i8").tobytes())
    return Identity(digest.hexdigest(), order.hexdigest())


def identify_cells(
    values: Mapping[str, Sequence[Value]], measured: Sequence[str], numbers: Iterable[Array]
) -> str:
    """Which cell table is it? `values` are the sorted levels of each column that makes cells.

    `measured` says what was added up: two measurements with the same sums are still two.

    >>> identify_cells({"sex": ("F", "M")}, ["hired"], [np.array([1.0, 2.0])])[:8]
    '987a7bde'
    """
    digest = hashlib.sha256()
    for words in (*((name, *map(_spelled, levels)) for name, levels in values.items()), measured):
        digest.update(len(words).to_bytes(8, "little"))
        _update_text(digest, words)
    for array in numbers:
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def _content(column: Column) -> Words:
    if column.values is None:
        return column.codes.astype("<i8").view(np.uint64)
    canonical = np.where(np.isnan(column.values), np.nan, column.values)
    return np.ascontiguousarray(canonical, dtype="<f8").view(np.uint64)


def _mixed(contents: Sequence[Words]) -> Words:
    """One well-mixed word per row (the finaliser of SplitMix64, chained over the columns)."""
    state = np.zeros(len(contents[0]), dtype=np.uint64)
    for content in contents:
        state = state + content + np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(30)
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(27)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def _spelled(level: Value) -> str:
    return "missing" if level is None else f"{type(level).__name__}:{level!r}"


def _update_text(digest: hashlib._Hash, words: Iterable[str]) -> None:
    for word in words:
        encoded = word.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
