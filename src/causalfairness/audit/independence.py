"""Do two columns carry information about each other, once others are known?

Both are regressed on the columns given (with squares, bends and products of them, and with curves
of their own for each of two groups, as far as there are people to learn these from), and the
products of their residuals should have mean zero (the generalized covariance measure of Shah and
Peters, 2020):

    statistic = n m' S^+ m,   m and S mean and covariance of the products,

chi-squared with as many degrees of freedom as S has rank. Residual variances may differ between
people. A small p-value says that the columns are connected, or that the regressions miss a curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from causalfairness.graph import Independence
from causalfairness.inference import holm
from causalfairness.tables import Column
from causalfairness.tables.rows import encode

Array = NDArray[np.float64]
MOST_PRODUCTS = 60
PER_TERM = 10  # rows for each term of a regression, at least
PER_EXTRA = 20  # rows for each term once bends, or products, are added
BENDS = (0.1, 0.3, 0.5, 0.7, 0.9)  # where lines bend, as shares of the people
ROUNDING = 1e-9  # share of a column's spread below which nothing is left of it
NO_VARIATION = "nothing is left of one of the columns once the others are known"


@dataclass(frozen=True)
class CheckedIndependence:
    """What does the data say about one independence? `p_value` is None where it was not tested.

    >>> CheckedIndependence("a _||_ b", 100, 1.0, 1, 0.3).remark
    ''
    """

    independence: str
    rows: int
    statistic: float | None = None
    degrees: int | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    remark: str = ""
    defect: bool = False  # of the program, which the remark is then about


def checked(independence: Independence, columns: dict[str, Column]) -> CheckedIndependence:
    """Does the data contradict this independence? People with missing values are left aside.

    >>> rng = np.random.default_rng(0)
    >>> z, e, f = rng.normal(size=(3, 2_000))
    >>> data = {name: Column.numbers(name, x) for name, x in
    ...         {"z": z, "x": z + e, "y": z + f, "w": z + f + e}.items()}
    >>> bool(checked(Independence("x", "y", ("z",)), data).p_value > 0.05)
    True
    >>> bool(checked(Independence("x", "w", ("z",)), data).p_value < 1e-6)
    True
    """
    names = (independence.left, independence.right, *independence.given)
    complete = ~np.any([columns[name].is_missing for name in names], axis=0)
    rows = np.flatnonzero(complete)
    left, right = (_known([columns[name]], rows) for name in names[:2])
    text, wide = str(independence), left.shape[1] * right.shape[1]
    if wide > MOST_PRODUCTS:
        return CheckedIndependence(text, len(rows), remark="too many categories to be tested")
    given = _terms(_known([columns[name] for name in names[2:]], rows), wide)
    if len(rows) < PER_TERM * (given.shape[1] + wide):
        return CheckedIndependence(text, len(rows), remark="too few people to be tested")
    one, other = _residuals(left, given), _residuals(right, given)
    if not one.shape[1] or not other.shape[1]:
        return CheckedIndependence(text, len(rows), remark=NO_VARIATION)
    products = (one[:, :, None] * other[:, None, :]).reshape(len(rows), -1)
    mean, covariance = products.mean(axis=0), np.atleast_2d(np.cov(products, rowvar=False))
    values, vectors = np.linalg.eigh(covariance)
    kept = values > ROUNDING * max(values.max(), np.finfo(float).tiny)
    if not kept.any():
        return CheckedIndependence(text, len(rows), remark=NO_VARIATION)
    along = vectors[:, kept].T @ mean
    statistic = float(len(rows) * np.sum(along**2 / values[kept]))
    degrees = int(kept.sum())
    return CheckedIndependence(
        text, len(rows), statistic, degrees, float(chdtrc(degrees, statistic))
    )


def adjusted(found: Sequence[CheckedIndependence]) -> tuple[CheckedIndependence, ...]:
    """Which independences stand when all are tested at once? With Holm's adjustment.

    >>> one = CheckedIndependence("a _||_ b", 100, 6.0, 1, 0.02)
    >>> [each.p_adjusted for each in adjusted([one, one])]
    [0.04, 0.04]
    """
    known = [each.p_value for each in found if each.p_value is not None]
    stepped = iter(holm(known).tolist() if known else [])
    return tuple(
        each if each.p_value is None else replace(each, p_adjusted=next(stepped)) for each in found
    )


def _known(columns: Sequence[Column], rows: NDArray[np.int64]) -> Array:
    return encode([column.take(rows) for column in columns], np.arange(len(rows)))


def _terms(given: Array, wide: int) -> Array:
    """A constant, the columns on one scale, and squares; bends and products where rows allow."""
    found = np.ones((len(given), 1))
    moving = given[:, given.std(axis=0) > 0]
    if not moving.shape[1]:
        return found
    scaled = (moving - moving.mean(axis=0)) / moving.std(axis=0)
    curved = [column for column in scaled.T if len(np.unique(column)) > 2]
    squares = [column**2 for column in curved]
    found = np.column_stack([found, scaled, *squares])
    bends = [
        np.maximum(column - knot, 0.0)
        for column in curved
        for knot in np.unique(np.quantile(column, BENDS))
    ]
    products = [one * other for one, other in combinations(scaled.T, 2)]
    flags = [column for column in scaled.T if len(np.unique(column)) == 2]
    apart = [flag * curve for flag in flags for curve in (*squares, *bends)]
    triples = [one * two * three for one, two, three in combinations(scaled.T, 3)]
    for extra in (bends, products, apart, triples):
        if extra and len(given) >= PER_EXTRA * (found.shape[1] + len(extra) + wide):
            found = np.column_stack([found, *extra])
    return found


def _residuals(values: Array, given: Array) -> Array:
    """What is left of each column; columns of which nothing is left are dropped."""
    fitted = given @ np.linalg.lstsq(given, values, rcond=None)[0]
    rest, spread = values - fitted, values.std(axis=0)
    kept = rest.std(axis=0) > ROUNDING * np.maximum(spread, np.finfo(float).tiny)
    return np.asarray(rest[:, kept] / rest[:, kept].std(axis=0)) if kept.any() else rest[:, kept]
