"""How are cells counted? In memory through integer codes and bincounts, elsewhere by a GROUP BY.

Two measurements of the same people, such as an outcome and its prediction, are counted in one pass,
of the rows that have both. Their products are added up as well: how two measurements vary together
within a cell is what the standard error of their difference needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import Beside, Cells, CellSums, arrange
from causalfairness.tables.columns import Column, column_of
from causalfairness.tables.counted import Counted, cell_of_row, fixed_point, split
from causalfairness.tables.counting_there import count_there
from causalfairness.tables.groups import count_rows, label_groups
from causalfairness.tables.missing import Missing, RowAccount, check_policy
from causalfairness.tables.rows import read_weights
from causalfairness.tables.source import select
from causalfairness.tables.target import Target, Within

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


def count_cells(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    model: StandardFairnessModel,
    targets: Sequence[Target],
    missing: Missing,
    within: Within | None = None,
) -> list[Cells]:
    """How many people are in each cell, and what do one or two measurements add up to?

    The column of `within` is counted by like any other, and only its cells are kept.
    """
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    asked = [within.column] if within else []
    if isinstance(frame, nw.LazyFrame):
        counted = count_there(frame, (*roles, *asked), model, targets)
    else:
        counted = count_here(frame, (*roles, *asked), model, targets)
    absent = {key.name: key.is_missing for key in counted.keys}
    counts = {name: int(counted.rows[mask].sum()) for name, mask in absent.items()}
    counts |= {name: int(rows.sum()) for name, rows in counted.unmeasured.items()}
    check_policy(counts, missing, measured=[*counted.unmeasured, *asked])
    complete = counted.sums[0].rows
    if missing == "drop":
        complete = np.where(np.logical_or.reduce(list(absent.values())), 0.0, complete)
    holds = within.holds(counted.keys[-1]) if within else np.ones(len(complete), dtype=bool)
    at = np.flatnonzero((complete > 0) & holds)
    unasked = int(complete[~holds].sum())
    account = RowAccount(
        read=int(counted.rows.sum()),
        used=int(complete[at].sum()),
        dropped=_per_group(counted.keys[: len(model.protected_columns)], counted.rows - complete),
        missing={name: count for name, count in counts.items() if count},
        aside={within.others: unasked} if within and unasked else {},
    )
    return [
        arrange(
            select(counted.frame, roles)[at],
            [key.take(at) for key in counted.keys[: len(roles)]],
            counted.sums[nth].take(at),
            model,
            beside=_beside(counted, targets, nth, at),
            is_binary=counted.is_binary[nth],
            target=target,
            weights=model.weights,
            account=account,
            within=within,
        )
        for nth, target in enumerate(targets)
    ]


def _beside(counted: Counted, targets: Sequence[Target], nth: int, at: Positions) -> Beside | None:
    """The other of two measurements, in these cells."""
    if counted.products is None:
        return None
    other = 1 - nth
    return Beside(targets[other], counted.sums[other], counted.products, nth == 1).take(at)


def _per_group(protected: Sequence[Column], lost: Array) -> dict[str, int]:
    groups, group = label_groups(protected)
    return count_rows(groups, np.bincount(group, lost, minlength=len(groups)))


def count_here(
    frame: nw.DataFrame[Any],
    names: Sequence[str],
    model: StandardFairnessModel,
    targets: Sequence[Target],
) -> Counted:
    """What do rows in memory add up to, for each combination of these columns?"""
    keys = [column_of(frame[name]) for name in names]
    cell, first = cell_of_row(keys, len(frame))
    cells = len(first)

    def added(values: Array | None = None) -> Array:
        return np.bincount(cell, values, minlength=cells).astype(float)

    ys = {target.column: target.read(column_of(frame[target.column])) for target in targets}
    given = {}
    if model.weights is not None:
        given[model.weights] = read_weights(column_of(frame[model.weights]))
    absent = {name: np.isnan(values) for name, values in (ys | given).items()}
    measured = ~np.logical_or.reduce(list(absent.values()))
    w = [_Measured.of(values, measured) for values in given.values()]
    parts = [_Measured.of(values, measured) for values in ys.values()]
    counted = added() if measured.all() else added(measured.astype(float))
    weighted = [part.values * w[0].values if w else part.values for part in parts]
    sums = [
        _weighted_sums(w[0], part, counted, cell) if w else _plain_sums(part, counted, cell)
        for part in parts
    ]
    is_binary = tuple(bool(np.isin(part.values, (0.0, 1.0)).all()) for part in parts)
    there = w[0].values if w else measured.astype(float)
    return Counted(
        frame=select(frame, names)[first],
        keys=tuple(key.take(first) for key in keys),
        rows=added(),
        sums=tuple(
            each if yes else each._replace(powers=_powers(part.values, there, cell, cells))
            for each, part, yes in zip(sums, parts, is_binary, strict=True)
        ),
        is_binary=is_binary,
        products=added(weighted[0] * weighted[1]) if len(targets) > 1 else None,
        unmeasured={name: added(mask.astype(float)) for name, mask in absent.items()},
    )


class _Measured(NamedTuple):
    """Numbers of all rows, 0 where something is missing, and the largest size of any."""

    values: Array
    largest: float

    @classmethod
    def of(cls, values: Array, measured: NDArray[np.bool_]) -> _Measured:
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        return cls(np.where(measured, values, 0.0), largest)


def _plain_sums(y: _Measured, counted: Array, cell: Positions) -> CellSums:
    total, squares = _added(cell, len(counted), y.values, y.values * y.values)
    exact = _exact_sums(y.values, y.largest, cell, len(counted))
    return CellSums(counted, counted, counted, total, total, squares, exact)


def _weighted_sums(w: _Measured, y: _Measured, counted: Array, cell: Positions) -> CellSums:
    one, wy, cells = w.values, w.values * y.values, len(counted)
    exact = (
        *_exact_sums(one, w.largest, cell, cells),
        *_exact_sums(wy, w.largest * y.largest, cell, cells),
    )
    w1, w2, wy1, w2y, w2y2 = _added(cell, cells, one, one * one, wy, one * wy, wy * wy)
    return CellSums(counted, w1, w2, wy1, w2y, w2y2, exact)


def _powers(y: Array, w: Array, cell: Positions, cells: int) -> tuple[Array, ...]:
    """Sums of w d, w d^2 and w d^3, with d the distance to the mean of all."""
    d = y - y @ w / w.sum() if w.any() else y
    first = w * d
    return tuple(_added(cell, cells, first, first * d, first * d * d))


def _added(cell: Positions, cells: int, *columns: Array) -> list[Array]:
    return [np.bincount(cell, values, cells).astype(float) for values in columns]


def _exact_sums(values: Array, largest: float, cell: Positions, cells: int) -> tuple[Array, Array]:
    """Sums that do not depend on the order of the rows, as a high and a low part."""
    scale = fixed_point(largest)
    total = np.zeros(cells, dtype=np.int64)
    np.add.at(total, cell, np.floor(values * scale).astype(np.int64))
    return split(total, scale)
