"""How do predicted quantiles at a few levels make a whole distribution?

Between two levels quantiles are joined by a straight line. Beyond the outermost ones an exponential
tail goes on at the pace of the last stretch: above the highest level t, with quantile q,

    1 - F(v) = (1 - t) exp(-(v - q) / s),      s = (q - q') / log((1 - t') / (1 - t)),

and likewise below, where t' is the first level beyond which ten times as many people are, or the
middle one. Two neighboring quantiles may all but coincide by chance, and would end the tail there.
Predicted quantiles that cross are put in order first, which brings them closer
to the true ones (Chernozhukov, Fernandez-Val and Galichon 2010).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.learner import Array

BLOCK = 2**14  # rows whose quantiles are held at once
WIDER = 10.0  # times as many people beyond the stretch that sets a tail's pace


@dataclass(frozen=True, eq=False)
class GridDistribution:
    """How are values distributed, given predicted quantiles at some levels?

    >>> found = GridDistribution(np.array([0.1, 0.5, 0.9]), lambda causes: np.tile(
    ...     np.array([-1.0, 0.0, 1.0]), (len(causes), 1)))
    >>> found.rank(np.empty((3, 0)), np.array([-0.5, 0.0, 3.0])).round(3).tolist()
    [0.3, 0.5, 0.996]
    """

    levels: Array
    quantiles: Callable[[Any], Array]  # of rows of causes: (rows, levels), in any order of size

    def rank(self, causes: NDArray[Any], values: Array) -> Array:
        """Which share has a lower value?"""
        return self._in_blocks(_rank, causes, values)

    def quantile(self, causes: NDArray[Any], ranks: Array) -> Array:
        """Which value has this place?"""
        return self._in_blocks(_quantile, causes, ranks)

    def _in_blocks(self, of: Callable[..., Array], causes: NDArray[Any], asked: Array) -> Array:
        result = np.empty(len(asked))
        for start in range(0, len(asked), BLOCK):
            part = slice(start, start + BLOCK)
            quantiles = np.sort(self.quantiles(causes[part]), axis=1)
            result[part] = of(quantiles, asked[part], self.levels)
        return result


def tail_paces(q: Array, levels: Array) -> tuple[Array, Array]:
    """At which pace values thin out below the lowest quantile, and above the highest."""
    middle = len(levels) // 2
    low_end = min(max(int(np.searchsorted(levels, WIDER * levels[0])), 1), middle)
    above = 1 - levels[::-1]
    high_end = min(max(int(np.searchsorted(above, WIDER * above[0])), 1), middle)
    low = (q[:, low_end] - q[:, 0]) / np.log(levels[low_end] / levels[0])
    high = (q[:, -1] - q[:, -1 - high_end]) / np.log(above[high_end] / above[0])
    least = np.finfo(float).tiny
    return np.maximum(low, least), np.maximum(high, least)


def _rank(q: Array, values: Array, levels: Array) -> Array:
    at = np.clip((q <= values[:, None]).sum(axis=1) - 1, 0, len(levels) - 2)
    low, high = _beside(q, at)
    width = np.maximum(high - low, np.finfo(float).tiny)
    inside = np.clip((values - low) / width, 0, 1)
    rank = levels[at] + inside * (levels[at + 1] - levels[at])
    pace_below, pace_above = tail_paces(q, levels)
    under, over = q[:, 0] - values, values - q[:, -1]
    with np.errstate(over="ignore"):
        rank = np.where(under > 0, levels[0] * np.exp(-np.maximum(under, 0) / pace_below), rank)
        above = 1 - (1 - levels[-1]) * np.exp(-np.maximum(over, 0) / pace_above)
    return np.asarray(np.where(over > 0, above, rank))


def _quantile(q: Array, ranks: Array, levels: Array) -> Array:
    asked = np.clip(ranks, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
    at = np.clip(np.searchsorted(levels, asked, side="right") - 1, 0, len(levels) - 2)
    low, high = _beside(q, at)
    inside = np.clip((asked - levels[at]) / (levels[at + 1] - levels[at]), 0, 1)
    pace_below, pace_above = tail_paces(q, levels)
    value = low + inside * (high - low)
    value += pace_below * np.minimum(np.log(asked / levels[0]), 0)
    value -= pace_above * np.minimum(np.log((1 - asked) / (1 - levels[-1])), 0)
    return value


def _beside(q: Array, at: NDArray[np.intp]) -> tuple[Array, Array]:
    rows = np.arange(len(q))
    return q[rows, at], q[rows, at + 1]
