"""How much do measurements vary within a cell, and how do two of them vary together?

    cov(y, z | cell) = sum w^2 y z / sum w^2 - mean(y) mean(z)

A cell of one row shows no variation at all and one of two hardly any, so what a cell shows is
averaged with what its group shows, which counts for two rows. That is the same mixture for every
pair of measurements, so covariances remain covariances: the variance of a difference is what it
would be, had the difference been measured itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.tables import CellSums
from causalfairness.tables.cells import Beside

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
ROUNDING = 1e-14
PRIOR_ROWS = 2.0  # how many rows the group's residual variance counts for in a cell's own


class Moments(NamedTuple):
    """What do two measurements y and z add up to in each cell? They may be one and the same."""

    w: Array
    w2: Array
    w2y: Array
    w2z: Array
    w2yz: Array

    @classmethod
    def of(cls, sums: CellSums) -> Moments:
        """What does one measurement add up to with itself?"""
        return cls(sums.w, sums.w2, sums.w2y, sums.w2y, sums.w2y2)

    @classmethod
    def across(cls, sums: CellSums, beside: Beside) -> Moments:
        """What does a measurement add up to with the one beside it?"""
        return cls(sums.w, sums.w2, sums.w2y, beside.sums.w2y, beside.products)


def covariance(cells: Moments) -> Array:
    """How do two measurements vary together within each cell, as it is?

    >>> two = np.array([2.0])
    >>> covariance(Moments(two, two, np.array([1.0]), np.array([3.0]), np.array([2.0]))).tolist()
    [0.25]
    """
    products = ratio(cells.w2y, cells.w2) * ratio(cells.w2z, cells.w2)
    found = ratio(cells.w2yz, cells.w2) - products
    found[np.abs(found) < ROUNDING * (np.abs(products) + np.abs(found))] = 0.0  # rounding only
    return np.maximum(found, 0.0) if cells.w2y is cells.w2z else found


def shrunk_covariance(cells: Moments, group: Positions) -> Array:
    """How do two measurements vary together within each cell, if small ones borrow from others?

    With weights, a cell has as many rows as its weights are worth, (sum w)^2 / sum w^2.

    >>> rows, sum_y = np.array([1.0, 100.0]), np.array([0.0, 50.0])
    >>> cells = Moments(rows, rows, sum_y, sum_y, sum_y)
    >>> shrunk_covariance(cells, np.zeros(2, int)).round(3).tolist()
    [0.253, 0.253]
    """
    rows = ratio(cells.w**2, cells.w2)
    freedom = np.where(rows > 1 + 1e-9, rows - 1, 0.0)
    own = covariance(cells) * ratio(rows, freedom)
    residual = np.zeros(int(group.max(initial=0)) + 1)
    for g in range(len(residual)):
        inside = group == g
        if freedom[inside].any():
            residual[g] = np.average(own[inside], weights=freedom[inside])
        elif rows[inside].any():
            residual[g] = _between(cells, rows, inside)
    return (freedom * own + PRIOR_ROWS * residual[group]) / (freedom + PRIOR_ROWS)


def factor_of(variance: Array, beside: tuple[Array, Array] | None) -> Array:
    """Which coordinates have inner products that are variances and covariances? (cells, 1 or 2)

    `beside` is the variance of a measurement that has the first coordinate to itself, and its
    covariance with this one: together, the two rows of a Cholesky factor.

    >>> one, other, shared = np.array([4.0]), np.array([1.0]), np.array([1.2])
    >>> factor_of(one, (other, shared)).round(6).tolist()
    [[1.2, 1.6]]
    """
    own = np.sqrt(variance)
    if beside is None:
        return own[:, None]
    other, shared = beside
    along = np.clip(ratio(shared, np.sqrt(other)), -own, own)
    return np.column_stack([along, np.sqrt(np.maximum(variance - along**2, 0.0))])


def ratio(top: Array, bottom: Array) -> Array:
    """What is a share of nothing? 0.

    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    top, bottom = np.broadcast_arrays(top, bottom)
    return np.divide(top, bottom, out=np.zeros(top.shape), where=bottom > 0)


def _between(cells: Moments, rows: Array, inside: NDArray[np.bool_]) -> float:
    """How the means of cells vary together, where no cell shows any variation of its own."""
    y, z = (ratio(total, cells.w2)[inside] for total in (cells.w2y, cells.w2z))
    apart = (mean - np.average(mean, weights=rows[inside]) for mean in (y, z))
    return float(np.average(next(apart) * next(apart), weights=rows[inside]))
