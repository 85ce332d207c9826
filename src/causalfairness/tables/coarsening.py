"""How is a column of many numbers counted by? In bins, at the cut points that a user asks for.

A bin holds the numbers above one cut point up to and including the next; missing values stay
missing. Quantiles are taken, and bins are made, where the data lives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from causalfairness.errors import ColumnTypeError
from causalfairness.tables.columns import GAPS, largest, number_there
from causalfairness.tables.source import Frame, check_columns, collect

Bins = int | Sequence[float]  # a number of quantile bins, or the cut points between bins
Cuts = Mapping[str, tuple[float, ...]]
DIGITS = 12  # of a cut point: engines differ beyond, and a value on the edge must not


def check_bins(bins: Mapping[str, Bins]) -> None:
    """Can columns be cut like this?

    >>> check_bins({"age": 4, "priors_count": [0, 1, 5]})
    """
    for column, wanted in bins.items():
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            if wanted < 2:
                raise ValueError(f"bins of {column!r} must be at least 2; found {wanted}")
            continue
        if not _are_cut_points(wanted):
            raise ValueError(
                f"bins of {column!r} must be a number of quantile bins or rising cut points, such "
                f"as [25, 45]; found {wanted!r}"
            )


def _are_cut_points(wanted: Any) -> bool:
    """Finite numbers, each above the one before."""
    if not isinstance(wanted, Sequence | np.ndarray) or not len(wanted):
        return False
    if not all(isinstance(cut, Real) and np.isfinite(float(cut)) for cut in wanted):
        return False
    return all(low < high for low, high in pairwise(wanted))


def coarsen(frame: Frame, bins: Mapping[str, Bins]) -> tuple[Frame, Cuts]:
    """Which bin is each number in, and where were the columns cut?

    >>> import pyarrow as pa
    >>> frame, cuts = coarsen(nw.from_native(pa.table({"age": [20, 30, 40, 50]})), {"age": 2})
    >>> frame["age"].to_list(), cuts
    (['up to 35', 'up to 35', 'above 35', 'above 35'], {'age': (35.0,)})
    """
    if not bins:
        return frame, {}
    check_columns(frame, bins)
    kinds = frame.collect_schema()
    for column in bins:
        if not kinds[column].is_numeric():
            raise ColumnTypeError(
                f"column {column!r} has type {kinds[column]}; only numbers can be cut into bins"
            )
    cuts = {
        column: _quantiles(frame, column, wanted)
        if isinstance(wanted, int)
        else tuple(float(cut) for cut in wanted)
        for column, wanted in bins.items()
    }
    binned = [_bin(frame, column, at) for column, at in cuts.items()]
    return frame.with_columns(*binned), cuts


def bin_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """What is each bin called, from the lowest to the highest?

    >>> bin_names([25, 45])
    ('up to 25', 'above 25 up to 45', 'above 45')
    """
    at = [np.format_float_positional(cut, trim="-") for cut in cuts]  # never two alike
    between = (f"above {low} up to {high}" for low, high in pairwise(at))
    return (f"up to {at[0]}", *between, f"above {at[-1]}")


def _quantiles(frame: Frame, column: str, count: int) -> tuple[float, ...]:
    """Cut points between quantile bins; where many people share a value there are fewer."""
    number = number_there(frame, column)
    wanted = [
        number.quantile(at / count, interpolation="linear").alias(f"cut{at}")
        for at in range(1, count)
    ]
    ends = [number.min().alias("low"), number.max().alias("high")]
    found = collect(frame.select(*wanted, *ends)).rows(named=True)[0]
    low, high = found["low"], found["high"]
    if low is None or low == high:
        held = "no number at all" if low is None else f"one number only, {low:g}"
        raise ColumnTypeError(f"column {column!r} holds {held}; there is nothing to cut into bins")
    cuts = sorted({float(f"{found[f'cut{at}']:.{DIGITS}g}") for at in range(1, count)})
    return tuple(cut for cut in cuts if low <= cut < high) or (float(low),)


def _bin(frame: Frame, column: str, cuts: Sequence[float]) -> nw.Expr:
    if largest(np.array(cuts)) >= GAPS and not frame.collect_schema()[column].is_float():
        raise ColumnTypeError(
            f"column {column!r} would be cut at {max(cuts, key=abs):g}, where floating-point "
            "numbers merge whole ones; subtract a constant from the column first"
        )
    number, names = number_there(frame, column), bin_names(cuts)
    chosen: nw.Expr = nw.when(number > cuts[-1]).then(nw.lit(names[-1]))
    for cut, name in zip(reversed(cuts), reversed(names[:-1]), strict=True):
        chosen = nw.when(number <= cut).then(nw.lit(name)).otherwise(chosen)
    return chosen.alias(column)
