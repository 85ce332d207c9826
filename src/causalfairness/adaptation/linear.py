"""Which quantiles are linear in the causes? Linear quantile regression at many levels.

At every level t the coefficients minimize the check loss, sum of (t - 1{r < 0}) r over residuals
r, by repeated weighted least squares (Hunter and Lange 2000): with weights 1 / (e + |r|) of the
last round,

    b = (X' W X)^-1 (X' W y + (2 t - 1) X' 1).

No round can make the loss worse, all levels run side by side, and a round costs what one least
squares fit costs. e is a thousandth of the residuals' spread. Slopes are shrunk by as much as one
row more, at the mean, would do: nothing in large groups, and what keeps small ones solvable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from causalfairness.adaptation.forms import pulled, ridge
from causalfairness.adaptation.grid import GridDistribution
from causalfairness.adaptation.learner import Array

LEVELS = np.concatenate([[0.005], np.arange(1, 100) / 100, [0.995]])
ROUNDS = 60
CLOSENESS = 1e-3  # of the residuals' spread: where the check loss is rounded off
SETTLED = 1e-4  # of the residuals' spread: coefficients that move less are done
AT_ONCE = 2**21  # residuals held at once


@dataclass(frozen=True)
class LinearQuantiles:
    """Which quantiles are linear in the causes? Right where causes shift and stretch linearly.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(4_000)
    >>> y = 2 * x + (1 + x) * rng.normal(size=4_000)
    >>> found = LinearQuantiles().fit(x[:, None], y, edges=np.sort(y), seed=0)
    >>> at = np.array([[0.0], [1.0]])
    >>> np.round(found.quantile(at, np.array([0.9, 0.9])), 0).tolist()  # 1.28 and 2 + 2 * 1.28
    [1.0, 5.0]
    """

    rounds: int = ROUNDS

    def fit(self, causes: Array, values: Array, *, edges: Array, seed: int) -> GridDistribution:
        """How are these values distributed given these causes?"""
        center, scale = causes.mean(axis=0), causes.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        design = np.column_stack([np.ones(len(values)), (causes - center) / scale])
        slopes = fit_levels(design, values, LEVELS, self.rounds)
        return GridDistribution(LEVELS, partial(_planes, center, scale, slopes))


def _planes(center: Array, scale: Array, slopes: Array, causes: Array) -> Array:
    """The quantiles that rows have, each level a plane; slopes are (1 + causes, levels)."""
    return np.asarray(slopes[0] + (causes - center) / scale @ slopes[1:])


def fit_levels(design: Array, values: Array, levels: Array, rounds: int = ROUNDS) -> Array:
    """Which coefficients minimize the check loss at each level? (columns, levels)

    >>> design = np.ones((101, 1))
    >>> fit_levels(design, np.arange(101.0), np.array([0.25, 0.5])).round(0).tolist()
    [[25.0, 50.0]]
    """
    start = ridge(design, values, pulled(design.shape[1]))
    residuals = values - design @ start
    spread = float(residuals.std()) or 1.0
    slopes = np.repeat(start[:, None], len(levels), axis=1)
    slopes[0] += np.quantile(residuals, levels)
    width = max(1, AT_ONCE // len(values))
    for first in range(0, len(levels), width):
        part = slice(first, first + width)
        slopes[:, part] = _descend(design, values, levels[part], slopes[:, part], spread, rounds)
    return slopes


def _descend(
    design: Array, values: Array, levels: Array, slopes: Array, spread: float, rounds: int
) -> Array:
    """The rounds of weighted least squares, for some levels side by side."""
    pull = np.outer(2 * levels - 1, design.sum(axis=0))
    penalties = np.diag(pulled(design.shape[1]))
    for _ in range(rounds):
        weights = np.abs(values - slopes.T @ design.T)
        weights += CLOSENESS * spread
        np.reciprocal(weights, out=weights)
        square = _squares(design, weights) + weights.mean(axis=1)[:, None, None] * penalties
        right = (weights * values) @ design + pull
        new = np.asarray(np.linalg.solve(square, right[:, :, None])[:, :, 0].T, dtype=np.float64)
        moved = float(np.abs(new - slopes).max())
        slopes = new
        if moved < SETTLED * spread:
            break
    return slopes


def _squares(design: Array, weights: Array) -> Array:
    """X' W X for each row of weights, some people at a time. (levels, columns, columns)"""
    n, columns = design.shape
    total = np.zeros((len(weights), columns**2))
    step = max(1, AT_ONCE // columns**2)
    for start in range(0, n, step):
        part = design[start : start + step]
        pairs = (part[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        total += weights[:, start : start + step] @ pairs
    return total.reshape(-1, columns, columns)
