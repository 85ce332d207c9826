"""What are a group's mean outcome and mean score in each bin, and how sure are they?

Rows are weighted by the Bayesian bootstrap with the bins fixed: each replicate draws one
exponential weight per row of the table, and all bins of both groups follow by one matrix product.
No bin ever becomes empty. Questions about the same table share their weights, so that their answers
can be subtracted.

A bin with n rows of a group has too small a spread under these weights, by (n - 1) / (n + 1), and
none with a single row. What is missing is made up for by residuals of the whole group that count
for two rows: the variance of a mean is then

    ( sum of squared residuals in the bin + 2 variance in the group ) / ( n (n + 1) )
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from causalfairness.errors import OverlapError
from causalfairness.inference import effective_size
from causalfairness.progress import track

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
PRIOR_ROWS = 2.0  # how many rows the group's residuals count for in a bin
BLOCK = 2**12  # rows weighted at once


@dataclass(frozen=True, eq=False)
class Placed:
    """Who is in which bin, and what is averaged?

    `columns` (quantities, rows) are averaged by `cell`, which is group * bins + bin; `places` are
    those of the rows in a table of `table` rows.

    >>> placed = Placed(np.array([[1.0, 3.0]]), np.array([0, 0]), 1, np.ones(2), np.arange(2), 2)
    >>> placed.means().tolist()
    [[[2.0], [nan]]]
    """

    columns: Array
    cell: Positions
    bins: int
    weights: Array
    places: Positions
    table: int

    @property
    def rows(self) -> Array:
        """How many rows does each group have in each bin? (2, bins)"""
        return self._sums(np.ones(len(self.cell)))

    @property
    def effective(self) -> Array:
        """How many rows of equal weight is that? (2, bins)"""
        return effective_size(self._sums(self.weights), self._sums(self.weights**2))

    def means(self, counts: Array | None = None) -> Array:
        """What is the mean of each quantity, if rows count this often? (quantities, 2, bins)"""
        weight = self.weights if counts is None else self.weights * counts
        size = self._sums(weight)
        totals = np.stack([self._sums(weight * values) for values in self.columns])
        unknown = np.full(totals.shape, np.nan)
        return np.asarray(np.divide(totals, size, out=unknown, where=size > 0))

    @cached_property
    def residuals(self) -> Array:
        """How far is each row from the mean of its cell? (quantities, rows)"""
        means = self.means().reshape(len(self.columns), -1)
        return np.asarray(self.columns - means[:, self.cell])

    def _sums(self, values: Array) -> Array:
        sums = np.bincount(self.cell, values, minlength=2 * self.bins).astype(float)
        return sums.reshape(2, self.bins)


def reweighted(placed: Placed, *, replicates: int, seed: int, fit: Array | None = None) -> Array:
    """How do the means vary over people? Centred replicates. (quantities, 2, bins, replicates)

    `fit` (bins, rows of the table, or others) is what rows that a model was fitted to add to the
    means of the last quantity among the comparison group.

    >>> placed = Placed(np.array([[1.0, 3.0, 2.0, 2.0]]), np.array([0, 0, 1, 1]), 1,
    ...                 np.ones(4), np.arange(4), 4)
    >>> spreads = reweighted(placed, replicates=4_000, seed=0)
    >>> np.linalg.norm(spreads, axis=-1).round(1).ravel().tolist()
    [1.0, 0.0]
    """
    moved = _drawn(placed, replicates, seed, fit)
    moved += borrowed(placed, replicates, seed)
    moved -= moved.mean(axis=-1, keepdims=True)
    return np.asarray(moved / np.sqrt(replicates - 1))


def _drawn(placed: Placed, replicates: int, seed: int, fit: Array | None) -> Array:
    """Mean residuals under the weights of each replicate, 0 where a bin has nobody."""
    quantities, cells = len(placed.columns), 2 * placed.bins
    layers = np.concatenate([np.ones((1, len(placed.cell))), placed.residuals]) * placed.weights
    at = np.arange(quantities + 1)[:, None] * cells + placed.cell
    columns = np.broadcast_to(placed.places, at.shape)
    shape = ((quantities + 1) * cells, placed.table)
    adding = sparse.csc_array((layers.ravel(), (at.ravel(), columns.ravel())), shape=shape)
    sums, along = np.zeros((shape[0], replicates)), np.zeros((placed.bins, replicates))
    others = fit is not None and fit.shape[1] != placed.table
    if fit is not None and others:
        along += fit @ np.random.default_rng([seed, 1]).normal(size=(fit.shape[1], replicates))
    starts = range(0, placed.table, BLOCK)
    streams = np.random.default_rng(seed).spawn(len(starts))
    work = zip(starts, streams, strict=True)
    for start, rng in track(work, total=len(starts), what="weighting rows"):
        part = adding[:, start : start + BLOCK]
        weights = rng.standard_exponential((part.shape[1], replicates))
        sums += part @ weights
        if fit is not None and not others:
            along += fit[:, start : start + BLOCK] @ weights
    size, *totals = sums.reshape(quantities + 1, 2, placed.bins, replicates)
    moved = np.zeros((quantities, *size.shape))
    np.divide(totals, size, out=moved, where=size > 0)
    moved[-1, 1] += along
    return moved


def borrowed(placed: Placed, replicates: int, seed: int) -> Array:
    """What small bins borrow from their group: a residual each, smaller the more rows there are."""
    rng = np.random.default_rng([seed, zlib.crc32(placed.cell.tobytes())])
    found = np.zeros((len(placed.columns), 2, placed.bins, replicates))
    size = placed.effective
    for group in (0, 1):
        of_group = placed.cell // placed.bins == group
        filled = np.flatnonzero(placed.rows[group])
        free = int(of_group.sum()) - len(filled)
        if free == 0:
            raise OverlapError(
                f"the {('reference', 'comparison')[group]} group has a single row in each bin, "
                "which says nothing about how outcomes vary; use fewer bins"
            )
        chance = placed.weights[of_group] / placed.weights[of_group].sum()
        picked = rng.choice(int(of_group.sum()), (len(filled), replicates), p=chance)
        n = size[group, filled, None]
        scale = np.sqrt(PRIOR_ROWS / (n * (n + 1)) * of_group.sum() / free)
        found[:, group, filled] = scale * placed.residuals[:, of_group][:, picked]
    return found
