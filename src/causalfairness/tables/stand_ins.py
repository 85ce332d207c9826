"""Labels and numbers that usually stand for missing values, in columns that are measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals as nw

from causalfairness.errors import RoleColumnError
from causalfairness.tables.source import Frame, collect, column_there, select

LABELS = ("", "NA", "N/A", "n/a", "nan", "NaN", "NAN", "NULL", "null", "None", "?", "-")
UNSURE = ("none", "missing", "Missing", "unknown", "Unknown")  # noted only: they may be answers
NUMBERS = (-1, *(sign * (10**digits - 1) for sign in (-1, 1) for digits in range(1, 6)))
FEWEST, OFTEN = 50, 0.01  # rows of a table, and share of rows of such a value, to say anything


def refuse_stand_ins(
    frame: Frame, names: Iterable[str], outcomes: Iterable[str], named: Iterable[Any] = ()
) -> None:
    """Refuse columns where a frequent value stands for a missing one.

    Of labels in any of `names`, of numbers in `outcomes` that are otherwise 0 and 1. Values
    that were `named`, as the one that counts as 1, mean what they say.

    >>> from causalfairness.tables.source import open_frame
    >>> import pyarrow as pa
    >>> data = open_frame(pa.table({"paid": ["1", "0", "NA"] * 20}))
    >>> refuse_stand_ins(data, ["paid"], ["paid"])
    Traceback (most recent call last):
    ...
    causalfairness.errors.RoleColumnError: 'NA' stands in 33.3% of rows of 'paid', as missing ...
    """
    kinds, outcomes = frame.collect_schema(), {*outcomes}
    odd = {}
    for name in dict.fromkeys(names):
        column = column_there(frame, name)
        if kinds[name] in (nw.String, nw.Categorical, nw.Enum):
            odd[name] = column.cast(nw.String).is_in(LABELS) & ~column.is_null()
        elif name in outcomes and kinds[name].is_numeric():
            wide = column if kinds[name].is_integer() else column.cast(nw.Float64)
            odd[name] = nw.any_horizontal(*(wide == each for each in NUMBERS), ignore_nulls=True)
    if not odd:
        return
    sums = (each.cast(nw.Int64).sum().alias(f"odd{at}") for at, each in enumerate(odd.values()))
    n, *found = collect(frame.select(nw.len().alias("rows"), *sums)).row(0)
    for name, count in zip(odd, found, strict=True):
        if n < FEWEST or (count or 0) < OFTEN * n:
            continue
        some = _values(frame.filter(odd[name]), name) - {*named}
        if some and (not kinds[name].is_numeric() or _values(frame, name) - some == {0, 1}):
            raise RoleColumnError(
                f"{min(some)!r} stands in {count / n:.1%} of rows of {name!r}, as missing values "
                f"do. Read it as missing, or accept=[{name!r}] says that it is an answer"
            )


def _values(frame: Frame, name: str) -> set[Any]:
    found = collect(select(frame, [name]).unique())[name].to_list()
    return {value for value in found if value is not None and value == value}
