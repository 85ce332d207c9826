"""Which values can a node take, and how do they stand in arrays?

Inside a structural causal model every node is an array of floats: a number stands for itself, a
label for its position among the labels seen in fitting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError, MechanismError, MissingValuesError
from causalfairness.tables import Column
from causalfairness.tables.frames import FrameRows, Labels, New, Numbers
from causalfairness.tables.groups import shown_value

Array = NDArray[np.float64]
PEEK = 1_024  # rows after which most columns of fractions have given themselves away
STEP = 2**16  # rows looked at in one go
MOST_LEVELS = 200  # whole numbers with more distinct values are not listed


@dataclass(frozen=True)
class Domain:
    """Which values can a node take?

    `labels` are those of a column of words, in their order if `ranked`; `levels` are the distinct
    values of a column of whole numbers, if they are few. `integers` tells how numbers are stored.

    >>> sex = Domain("sex", labels=("Female", "Male"))
    >>> sex.decode(np.array([1.0, 0.0])).tolist(), sex.is_categorical
    (['Male', 'Female'], True)
    """

    name: str
    labels: tuple[str, ...] = ()
    ranked: bool = False
    levels: tuple[float, ...] = ()
    whole: bool = False
    integers: bool = False

    @property
    def is_categorical(self) -> bool:
        """Are these categories rather than quantities? Words, and numbers that are one of two."""
        return bool(self.labels) or len(self.levels) == 2

    @property
    def size(self) -> int:
        """How many distinct values are known? 0 for quantities."""
        return len(self.labels or self.levels)

    def positions(self, values: Array) -> NDArray[np.intp]:
        """Which of the known values is each? The place among labels or levels."""
        if self.labels:
            return values.astype(np.intp)
        levels = np.array(self.levels)
        at = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
        strange = levels[at] != values
        if strange.any():
            value = values[strange][0]
            raise MechanismError(
                f"{self.name!r} has the value {value:g} in {int(strange.sum()):,} rows, which was "
                "not there when its mechanism was fitted, so it has no probability; leave these "
                "rows out, or fit on data that has it"
            )
        return at

    def values_at(self, positions: NDArray[np.intp]) -> Array:
        """Which values stand at these places?"""
        if self.labels:
            return positions.astype(np.float64)
        return np.array(self.levels)[positions]

    def decode(self, values: Array) -> NDArray[Any]:
        """How would a person write these values? Words for labels, numbers as they are."""
        if not self.labels:
            return values
        return np.array(self.labels, dtype=object)[values.astype(np.intp)]

    def encode(self, column: Column) -> Array:
        """How do the values of such a column stand in arrays? Missing and unknown are refused."""
        if not self.labels:
            column.check_amounts()
        elif column.is_number or column.exact:  # codes, where any of them is known
            codes = column.as_codes()
            column = codes if {*codes.labels} & {*self.labels} else column
        if column.is_number == bool(self.labels):
            if not len(column):
                return np.empty(0)
            self._refuse_missing(column)
            found, expected = ("numbers", "words") if column.is_number else ("words", "numbers")
            raise ColumnTypeError(
                f"column {self.name!r} holds {found}, but the model knows it as {expected}; "
                "convert it first"
            )
        if column.values is not None:
            return column.values
        if (column.codes < 0).any():
            self._refuse_missing(column)
        if column.labels == self.labels:
            return column.codes.astype(np.float64)
        known = {label: place for place, label in enumerate(self.labels)}
        for label in column.labels:
            if label not in known:
                raise ColumnTypeError(
                    f"column {self.name!r} has the value {label!r}, which was not there when the "
                    f"model was fitted; {nearest(label, self.labels)}"
                )
        recode = np.array([known[label] for label in column.labels], dtype=np.float64)
        return recode[column.codes]

    def check_present(self, values: Array) -> None:
        """Is every number there, and finite? Labels were checked when they were read."""
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):
                return
        absent = np.isnan(values)
        if absent.any():
            raise MissingValuesError(_missing(self.name, int(absent.sum())))
        if np.isinf(values).any():
            raise ColumnTypeError(f"column {self.name!r} holds infinite values; remove or cap them")
        raise ColumnTypeError(
            f"column {self.name!r} holds values so large that they cannot be added up; divide it "
            "by a power of ten"
        )

    def new(self, values: Array, *, whole: bool) -> New:
        """How are these values written into a frame? As integers only if all of them are whole."""
        if self.labels:
            return Labels(values.astype(np.int64), self.labels)
        whole = whole and self.whole and (self.is_categorical or _is_whole(values))
        return Numbers(values, whole)

    def _refuse_missing(self, column: Column) -> None:
        absent = int(column.is_missing.sum())
        if absent:
            raise MissingValuesError(_missing(self.name, absent))


def read_domain(rows: FrameRows, name: str) -> tuple[Domain, Array]:
    """Which values does this column take, and what are they, row by row?

    >>> import pyarrow as pa
    >>> from causalfairness.tables.frames import frame_rows
    >>> rows = frame_rows(pa.table({"sex": ["F", "M", "F"], "hired": [0, 1, 1]}), ["sex"])
    >>> read_domain(rows, "sex")
    (Domain(name='sex', labels=('F', 'M'), ...), array([0., 1., 0.]))
    >>> read_domain(rows, "hired")[0].levels
    (0.0, 1.0)
    """
    column = rows.read(name)
    column.check_amounts()
    if column.values is None:
        domain = Domain(name, labels=column.labels, ranked=rows.is_ranked(name))
        return domain, domain.encode(column)
    domain = Domain(name)
    domain.check_present(column.values)
    if not _is_whole(column.values[:PEEK]):
        return domain, column.values
    levels = _two_levels(column.values)
    if not levels:
        if not _is_whole(column.values):
            return domain, column.values
        levels = _few_levels(column.values)
    integers = rows.holds_integers(name)
    return Domain(name, levels=levels, whole=True, integers=integers), column.values


def nearest(value: Any, known: Iterable[Any]) -> str:
    """What may have been meant? Words for the end of an error message.

    >>> nearest("Femal", ["Female", "Male", "Other"])
    "did you mean 'Female'?"
    """
    words = [value if isinstance(value, str) else shown_value(value) for value in known]
    close = get_close_matches(str(value), words, n=3)
    if close and isinstance(value, str):
        return f"did you mean {' or '.join(map(repr, close))}?"
    listed = ", ".join(repr(v) if isinstance(v, str) else shown_value(v) for v in list(known)[:20])
    return f"known are {listed}{', ...' if len(words) > 20 else ''}"


def _missing(name: str, count: int) -> str:
    return (
        f"column {name!r} has {count:,} missing values, and a structural model needs the whole "
        "row; drop these rows or complete the data first"
    )


def _two_levels(values: Array) -> tuple[float, ...]:
    """The two whole numbers of a column that has no others, as its first rows let suppose."""
    first = np.unique(values[:PEEK])
    if len(first) != 2:
        return ()
    hits = sum(int(np.count_nonzero(values == value)) for value in first)
    return tuple(first.tolist()) if hits == len(values) else ()


def _is_whole(values: Array) -> bool:
    pieces = (values[at : at + STEP] for at in range(0, len(values), STEP))
    return all(bool((piece == np.rint(piece)).all()) for piece in pieces)


def _few_levels(values: Array) -> tuple[float, ...]:
    """The distinct whole numbers in increasing order, or none if they are too many."""
    if not len(values):
        return ()
    low, high = float(values.min()), float(values.max())
    if high - low > STEP:
        return ()
    seen = np.zeros(int(high - low) + 1, dtype=bool)
    for at in range(0, len(values), STEP):
        seen[(values[at : at + STEP] - low).astype(np.intp)] = True
    levels = np.flatnonzero(seen)
    return tuple((low + levels).tolist()) if len(levels) <= MOST_LEVELS else ()
