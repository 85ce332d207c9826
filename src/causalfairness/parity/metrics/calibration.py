"""Does a score mean the same in every group? How often it comes true, bin by bin.

Bins hold equal shares of the people of all groups together, so that a bin is the same range of
scores in every group:

    bin k = ( quantile (k - 1) / bins,  quantile k / bins ]  of the pooled score

A score that many people share fills several bins at once; there are then fewer of them. Within a
group, the expected calibration error is the mean over its people of |observed rate - mean score| of
their bin. It is never below 0 and so too large on average, the more so the smaller the group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalfairness.inference import Bounds, effective_size, quantiles, wilson_interval
from causalfairness.parity.metrics.rows import Array, Mask, Positions

SUMS = 5  # rows, w, w2, w score, w outcome


@dataclass(frozen=True, eq=False)
class Calibration:
    """How often does a score come true, per group and bin?

    `sums` are (groups, bins, 5): rows, w, w squared, w times score, w times outcome.

    >>> score, hit = np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, True, True, True])
    >>> found = calibrate(score, hit, np.zeros(4, dtype=int), None, 1, bins=2)
    >>> found.score.round(2).tolist(), found.observed.tolist()
    ([[0.15, 0.85]], [[0.5, 1.0]])
    """

    edges: Array
    sums: Array

    @property
    def rows(self) -> Array:
        """How many people are in each bin?"""
        return np.asarray(self.sums[..., 0])

    @property
    def score(self) -> Array:
        """What is the mean score? NaN where there is nobody."""
        return _ratio(self.sums[..., 3], self.sums[..., 1])

    @property
    def observed(self) -> Array:
        """How often did it come true? NaN where there is nobody."""
        return _ratio(self.sums[..., 4], self.sums[..., 1])

    @property
    def effective(self) -> Array:
        """How many people of equal weight is each bin worth?"""
        return effective_size(self.sums[..., 1], self.sums[..., 2])

    @property
    def of_chances(self) -> bool:
        """Can the scores be read as chances, between 0 and 1?"""
        return bool(self.edges[0] >= 0 and self.edges[-1] <= 1)

    def interval(self, level: float) -> Bounds:
        """Which rates fit? Wilson's intervals, by the effective size where rows have weights."""
        size = self.effective
        low, high = wilson_interval(np.nan_to_num(self.observed) * size, size, level)
        empty = self.rows == 0
        return Bounds(np.where(empty, np.nan, low), np.where(empty, np.nan, high))

    def expected_error(self) -> Array:
        """How far are scores from what comes true, on average over each group's people?"""
        weight = self.sums[..., 1]
        off = np.abs(self.sums[..., 4] - self.sums[..., 3])
        return _ratio(off.sum(axis=1), weight.sum(axis=1))

    def merge(self, member: Array) -> Calibration:
        """What do groups amount to together? `member` is (merged groups, groups) of 0 and 1."""
        return Calibration(self.edges, np.asarray(np.tensordot(member, self.sums, axes=(1, 0))))


def calibrate(
    score: Array,
    positive: Mask,
    group: Positions,
    weights: Array | None,
    groups: int,
    *,
    bins: int,
) -> Calibration:
    """How often does each range of scores come true, in every group?"""
    if not (isinstance(bins, int) and bins >= 1):
        raise ValueError(f"bins is a whole number of at least 1; found {bins!r}")
    cuts = quantiles(score, weights, np.linspace(0, 1, bins + 1)[1:-1])
    inner = np.unique(cuts[cuts < score.max()])
    code = group * (len(inner) + 1) + np.searchsorted(inner, score, side="left")
    cells = groups * (len(inner) + 1)
    w = np.ones(len(score)) if weights is None else weights
    parts = [None, w, w * w, w * score, w * positive]
    sums = [np.bincount(code, part, minlength=cells).astype(float) for part in parts]
    edges = np.array([score.min(), *inner, score.max()])
    return Calibration(edges, np.stack(sums, axis=-1).reshape(groups, len(inner) + 1, SUMS))


def _ratio(above: Array, below: Array) -> Array:
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))
