"""Which people have nearly the same score? Bins of the score that are the same in both groups.

    bin k = ( cut k - 1,  cut k ]      cuts: quantiles of the pooled score, or given

A score with few values has one bin for each of them. A value that many people share fills several
quantile bins at once; there are then fewer of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ConstantPredictionError
from causalfairness.inference import quantiles
from causalfairness.tables.coarsening import check_bins

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Binning:
    """Where is the score cut, and into which bin does each row fall?

    `values` are the scores themselves where each has a bin of its own, else None.

    >>> found = bin_scores(np.array([0.1, 0.4, 0.6, 0.9]), None, 2, name="score")
    >>> found.edges.tolist(), found.of_row.tolist()
    ([0.1, 0.5, 0.9], [0, 0, 1, 1])
    """

    edges: Array
    of_row: Positions
    values: Array | None = None
    asked: int | None = None  # how many quantile bins; None for given cuts

    def __len__(self) -> int:
        return len(self.edges) - 1

    def limits(self, at: int) -> tuple[float, float]:
        """From which score to which does a bin reach?"""
        if self.values is not None:
            return float(self.values[at]), float(self.values[at])
        return float(self.edges[at]), float(self.edges[at + 1])

    def __str__(self) -> str:
        if self.values is not None:
            return f"the {len(self)} values of the score"
        return f"{len(self)} {'given' if self.asked is None else 'quantile'} bins of the score"

    def notes(self) -> tuple[str, ...]:
        """What became of the bins that were asked for?"""
        if self.values is not None or self.asked is None or len(self) == self.asked:
            return ()
        return (f"many people share a score: {len(self)} bins instead of {self.asked}",)


def bin_scores(
    score: Array, weights: Array | None, bins: int | Sequence[float], *, name: str
) -> Binning:
    """Into which bin does each score fall? `bins` is a number of quantile bins, or cut points.

    >>> bin_scores(np.array([1.0, 3.0, 3.0, 7.0]), None, 20, name="decile").values.tolist()
    [1.0, 3.0, 7.0]
    >>> bin_scores(np.array([1.0, 3.0, 7.0]), None, [2, 5], name="decile").of_row.tolist()
    [0, 1, 2]
    """
    _check(bins, name)
    distinct = np.unique(score)
    if len(distinct) == 1:
        raise ConstantPredictionError(
            f"the prediction {name!r} is {distinct[0]:g} for everyone in both groups: there are no "
            "scores to compare people at. For the plain gap ask decompose_disparity"
        )
    if not isinstance(bins, int):
        cuts = np.asarray(bins, dtype=float)
        ends = min(distinct[0], cuts[0]), max(distinct[-1], cuts[-1])
        return Binning(np.array([ends[0], *cuts, ends[1]]), _place(cuts, score))
    if len(distinct) <= bins:
        edges = np.array([distinct[0], *distinct])
        return Binning(edges, _place(distinct[:-1], score), distinct, bins)
    found = quantiles(score, weights, np.linspace(0, 1, bins + 1)[1:-1])
    cuts = np.unique(found[found < distinct[-1]])
    return Binning(np.array([distinct[0], *cuts, distinct[-1]]), _place(cuts, score), asked=bins)


def _place(cuts: Array, score: Array) -> Positions:
    return np.asarray(np.searchsorted(cuts, score, side="left"))


def _check(bins: Any, name: str) -> None:
    if isinstance(bins, bool) or (isinstance(bins, int) and bins < 1):
        raise ValueError(
            f"bins must be a number of quantile bins, at least 1, or rising cut points such as "
            f"[0.3, 0.7]; found {bins!r}"
        )
    if not isinstance(bins, int):
        check_bins({name: bins})
