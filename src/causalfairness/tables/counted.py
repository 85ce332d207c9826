"""What comes out of counting, whoever counts? Cells, their sums, and sums that are exact.

Sums of floating-point numbers depend on their order. The fingerprint of a cell table must not, so
what it is made of is added up in whole numbers: values times a power of two, rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.tables.cells import CellSums
from causalfairness.tables.columns import Column

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
FIXED_POINT_BITS = 30  # kept of the largest value in the exact sums, more where it is whole
WHOLE_BITS = 53  # beyond which float64 has gaps between whole numbers


class Counted(NamedTuple):
    """What did an engine count? Cells in any order, rows without a measurement set apart.

    There is one entry of `sums` and `is_binary` for each measurement, of the rows that have all
    of them; `products` adds up w^2 y z of the first two.
    """

    frame: nw.DataFrame[Any]
    keys: tuple[Column, ...]
    rows: Array  # all rows of the cell, measured or not
    sums: tuple[CellSums, ...]
    is_binary: tuple[bool, ...]
    products: Array | None
    unmeasured: Mapping[str, Array]  # rows per cell without a measurement, without weight


def cell_of_row(keys: Sequence[Column], rows: int) -> tuple[Positions, Positions]:
    """Which cell is each row in? The number of each row's, and each one's first row.

    >>> sex = Column("sex", None, np.array([0, 1, 0]), ("F", "M"))
    >>> [part.tolist() for part in cell_of_row([sex], 3)]
    [[0, 1, 0], [0, 1]]
    """
    code, size = np.zeros(rows, dtype=np.int64), 1
    for key in keys:
        key.check_levels()
        levels = key.levels()
        code = code * max(len(levels.values), 1) + levels.codes
        size *= max(len(levels.values), 1)
        if size > 4 * rows + 1000:  # too many combinations to count by position: renumber
            found, code = np.unique(code, return_inverse=True)
            code, size = code.reshape(-1), len(found)
    first = np.full(size, rows, dtype=np.int64)
    np.minimum.at(first, code, np.arange(rows))
    used = np.flatnonzero(first < rows)
    number = np.empty(size, dtype=np.int64)
    number[used] = np.arange(len(used))
    return number[code], first[used]


def fixed_point(largest: float) -> float:
    """Which power of two turns values into whole numbers with enough digits to tell apart?

    >>> fixed_point(1.0) == 2.0**29
    True
    """
    exponent = math.frexp(largest)[1] if largest > 0 else 0
    if exponent > WHOLE_BITS:
        return 2.0 ** (WHOLE_BITS - exponent)
    return float(2.0 ** max(0, FIXED_POINT_BITS - exponent))


def split(total: NDArray[np.int64], scale: float) -> tuple[Array, Array]:
    """What are whole numbers as floating-point ones, in a high and a low part?

    >>> [part.tolist() for part in split(np.array([2**53 + 1]), 1.0)]
    [[9007199254740992.0], [1.0]]
    """
    high = total.astype(float)
    low = (total - high.astype(np.int64)).astype(float)
    return high / scale, low / scale
