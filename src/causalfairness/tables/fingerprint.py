"""Is this the same data? Digests and an order that do not depend on how its rows were brought.

Rows are put in an order that depends on their content alone (a 64-bit mix of their values), and
the values are digested with SHA-256 in that order. A second digest, of the order itself, tells
apart two arrangements of the same rows. Whatever is drawn or placed by position is drawn for rows
in such an order (`arrange`), so that answers are those of the people, not of a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.tables.columns import Column, Value

Array = NDArray[np.float64]
Words = NDArray[np.uint64]
Ranks = NDArray[np.uint32]
Positions = NDArray[np.int64]


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
    return Identity(digest.hexdigest(), digest_of(arrangement))


class Arrangement(NamedTuple):
    """In which order do rows and columns come, whatever order they were brought in?"""

    rows: Positions
    columns: tuple[str, ...]

    @property
    def places(self) -> Positions:
        """Where does each row come?"""
        places = np.empty_like(self.rows)
        places[self.rows] = np.arange(len(self.rows))
        return places


def arrange(
    columns: Iterable[Column], ties: Sequence[Column] = (), among: Positions | None = None
) -> Arrangement:
    """In which order do these rows and columns come, by their content alone?

    Of a column only the ranks of its values matter (of labels, how rare they are), not its name or
    unit; it comes where these put it beside the others. Rows alike in these come in the order of
    the values in `ties`; rows alike in all are interchangeable. Only rows `among` these count.

    >>> age, pay = np.array([41.0, 30.0, 30.0]), np.array([2.0, 5.0, 3.0])
    >>> rows = arrange([Column.numbers("age", age)], [Column.numbers("pay", pay)]).rows
    >>> again = arrange([Column.numbers("n", age[::-1])], [Column.numbers("pay", pay[::-1])]).rows
    >>> pay[rows].tolist() == pay[::-1][again].tolist()
    True
    """
    chosen: Any = slice(None) if among is None else among
    named = {column.name: _ranks(column, chosen) for column in columns}
    last = [(c.codes if c.values is None else c.values)[chosen] for c in ties]
    whole = np.zeros(len(last[0] if last else next(iter(named.values()), ())), dtype=np.uint64)
    for content in named.values():
        whole += _mixed([content])
    place = {name: (int(_mixed([whole, own]).sum()), name) for name, own in named.items()}
    ordered = sorted(named, key=place.__getitem__)
    mixed = _mixed([whole, *(named[name] for name in ordered)])
    rows = np.argsort(mixed, kind="stable")
    if ties and np.any(np.diff(mixed[rows]) == 0):
        rows = np.lexsort([*last[::-1], mixed])
    return Arrangement(rows if among is None else among[rows], tuple(ordered))


def mix(columns: Sequence[Array], seed: int) -> Words:
    """Which random number does each row get, by what it holds, whatever the columns are called?

    >>> mix([np.array([30.0])], seed=0).dtype
    dtype('uint64')
    """
    whole = np.full(len(columns[0]), seed, dtype=np.uint64)
    for column in columns:
        whole += _mixed([np.ascontiguousarray(column + 0.0).view(np.uint64)])
    return _mixed([whole])


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


def digest_of(order: Positions) -> str:
    """Which order is it?

    >>> digest_of(np.arange(3)) == digest_of(np.array([0, 2, 1]))
    False
    """
    return hashlib.sha256(order.astype("<i8").tobytes()).hexdigest()


def _content(column: Column) -> Words:
    if column.values is None:
        return column.codes.astype("<i8").view(np.uint64)
    canonical = np.where(np.isnan(column.values), np.nan, column.values)
    return np.ascontiguousarray(canonical, dtype="<f8").view(np.uint64)


def _ranks(column: Column, among: Any) -> Ranks:
    values = column.codes if column.values is None else column.values
    of_row = np.unique(values[among], return_inverse=True)[1]
    if column.values is None:  # labels have no order: the rarest first
        of_row = np.argsort(np.argsort(np.bincount(of_row.reshape(-1)), kind="stable"))[of_row]
    return of_row.reshape(-1).astype(np.uint32)


def _mixed(contents: Sequence[Words | Ranks]) -> Words:
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
