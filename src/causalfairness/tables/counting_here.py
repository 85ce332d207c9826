"""How are the rows of a table in memory counted? Integer codes, and one bincount per sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import CellSums
from causalfairness.tables.columns import column_of
from causalfairness.tables.counted import Counted, cell_of_row, fixed_point, split
from causalfairness.tables.rows import read_weights
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


def count_here(
    frame: nw.DataFrame[Any],
    names: Sequence[str],
    model: StandardFairnessModel,
    targets: Sequence[Target],
) -> Counted:
    """What do the rows of each combination of these columns add up to?"""
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
    return Counted(
        frame=frame.select(*names)[first],
        keys=tuple(key.take(first) for key in keys),
        rows=added(),
        sums=tuple(
            _weighted_sums(w[0], part, counted, cell) if w else _plain_sums(part, counted, cell)
            for part in parts
        ),
        is_binary=tuple(bool(np.isin(part.values, (0.0, 1.0)).all()) for part in parts),
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


def _added(cell: Positions, cells: int, *columns: Array) -> list[Array]:
    return [np.bincount(cell, values, cells).astype(float) for values in columns]


def _exact_sums(values: Array, largest: float, cell: Positions, cells: int) -> tuple[Array, Array]:
    """Sums that do not depend on the order of the rows, as a high and a low part."""
    scale = fixed_point(largest)
    total = np.zeros(cells, dtype=np.int64)
    np.add.at(total, cell, np.floor(values * scale).astype(np.int64))
    return split(total, scale)
