"""Which straight lines fit best? Several regressions on shared columns, in one pass over the rows.

For each regression of y on columns x the coefficients solve S_xx b = S_xy, with S the sums of
products of deviations from the mean, in which rows count by their weights. All sums are formed
together, block by block: the rows are read once, whatever the number of regressions, and memory
does not grow with them. Each column is shifted to where its first rows lie, and S_xx is scaled to a
correlation matrix before it is solved; where columns are so alike that digits would be lost, the
solution is refined with residuals of a second pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError

Array = NDArray[np.float64]
PEEK = 256  # rows that show where a column lies
BLOCK = 8_192  # rows; dot products of this length are formed on one thread, in one order
ALIKE = 1e-11  # smallest eigenvalue of a correlation matrix that can still be told from 0
STIFF = 1e-4  # eigenvalue below which a second pass pays
FAR = 1e3  # squared distance, in variances, between the shift and the mean that costs digits


class Design(NamedTuple):
    """Which column enters? An array as it is, or whether it equals a level."""

    values: Array
    level: float | None = None


class Regression(NamedTuple):
    """Which column is regressed on which? Positions in the list of designs."""

    target: int
    on: tuple[int, ...]


class Line(NamedTuple):
    """Which line fits best? Among several that fit alike, the one with the smallest slopes.

    `alike` is then the place of a regressor that the others can replace.
    """

    intercept: float
    slopes: Array
    alike: int | None = None


def regress(
    designs: Sequence[Design], regressions: Sequence[Regression], weights: Array | None = None
) -> list[Line]:
    """Which line fits each of these regressions best? `weights` say how much rows count.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    >>> (line,) = regress([Design(x), Design(y)], [Regression(1, (0,))])
    >>> round(line.intercept, 12), line.slopes.round(12).tolist()
    (1.0, [2.0])
    """
    columns = _Columns(tuple(designs), None if weights is None else weights / weights.mean())
    moments = _moments(columns, regressions, columns.first_shifts())
    if moments.is_far(columns.rows):
        moments = _moments(columns, regressions, moments.means)
    return [_line(columns, moments, regression) for regression in regressions]


@dataclass(frozen=True, eq=False)
class _Columns:
    designs: tuple[Design, ...]
    weights: Array | None

    @property
    def rows(self) -> int:
        return len(self.designs[0].values) if self.designs else 0

    def first_shifts(self) -> Array:
        """The mean over the first rows; 0 where that is no further from 0 than the values are."""
        first = np.array([_block(design, 0, PEEK) for design in self.designs], dtype=np.float64)
        means = first.mean(axis=1)
        return np.where(2 * np.abs(means) > np.ptp(first, axis=1), means, 0.0)

    def blocks(self, shift: Array) -> Iterator[tuple[list[Array], Array]]:
        """The columns, block by block, shifted, and what rows count. Buffers are used again."""
        ones = np.ones(BLOCK)
        buffer = np.empty((len(self.designs), BLOCK))
        for start in range(0, self.rows, BLOCK):
            rows = min(BLOCK, self.rows - start)
            counted = ones[:rows] if self.weights is None else self.weights[start : start + rows]
            columns = [
                design.values[start : start + rows]
                if design.level is None and not shift[at]
                else np.subtract(
                    _block(design, start, start + rows), shift[at], out=buffer[at, :rows]
                )
                for at, design in enumerate(self.designs)
            ]
            yield columns, counted


class _Moments(NamedTuple):
    means: Array
    products: Array  # sums of products of deviations from the mean
    lost: Array  # what the difference between shift and mean took away

    def is_far(self, rows: int) -> bool:
        varies = np.diag(self.products) > 0
        return bool((self.lost[varies] > FAR * np.diag(self.products)[varies]).any())


def _block(design: Design, start: int, stop: int) -> NDArray[np.float64] | NDArray[np.bool_]:
    values = design.values[start:stop]
    return values if design.level is None else values == design.level


def _moments(columns: _Columns, regressions: Sequence[Regression], shift: Array) -> _Moments:
    size = len(columns.designs)
    pairs = sorted(
        {
            (max(one, other), min(one, other))
            for regression in regressions
            for one in (regression.target, *regression.on)
            for other in (regression.target, *regression.on)
        }
    )
    totals, sums = [0.0] * len(pairs), [0.0] * size
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        for block, counted in columns.blocks(shift):
            weighed = block if columns.weights is None else [each * counted for each in block]
            for at, column in enumerate(block):
                sums[at] += column.dot(counted)
            for at, (one, other) in enumerate(pairs):
                totals[at] += block[one].dot(weighed[other])
    products = np.zeros((size, size))
    for (one, other), total in zip(pairs, totals, strict=True):
        products[one, other] = products[other, one] = total
    if not np.isfinite(totals).all():
        raise MechanismError(
            "columns of a regression hold values too large to be squared; divide them by a power "
            "of ten"
        )
    off = np.array(sums) / columns.rows
    products -= columns.rows * np.outer(off, off)
    return _Moments(shift + off, products, columns.rows * off**2)


def _line(columns: _Columns, moments: _Moments, regression: Regression) -> Line:
    target, on = regression.target, np.array(regression.on, dtype=np.intp)
    slopes = np.zeros(len(on))
    spread = np.sqrt(np.maximum(moments.products[on, on], 0.0))
    rounding = 1e-13 * np.sqrt(columns.rows) * np.abs(moments.means[on])
    varies = np.flatnonzero(spread > rounding)
    alike = None
    if len(varies):
        used, scale = on[varies], spread[varies]
        correlation = moments.products[used][:, used] / scale / scale[:, None]
        values, vectors = np.linalg.eigh(correlation)
        sound = values >= ALIKE
        inverse = (vectors[:, sound] / values[sound]) @ vectors[:, sound].T
        if not sound.all():
            alike = int(varies[np.argmax(np.abs(vectors[:, 0]))])
        found = inverse @ (moments.products[used, target] / scale) / scale
        for _ in range(2 if values[0] < STIFF else 0):
            found += (
                inverse @ (_gradient(columns, moments.means, target, used, found) / scale) / scale
            )
        slopes[varies] = found
    intercept = float(moments.means[target] - moments.means[on] @ slopes)
    return Line(intercept, slopes, alike)


def _gradient(
    columns: _Columns, means: Array, target: int, on: NDArray[np.intp], slopes: Array
) -> Array:
    """What the residuals still have in common with the regressors."""
    found = np.zeros(len(on))
    for block, counted in columns.blocks(means):
        regressors = np.stack([block[at] for at in on])
        residuals = block[target] - slopes @ regressors
        found += regressors @ (residuals if columns.weights is None else residuals * counted)
    return found
