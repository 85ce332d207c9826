"""How likely is each group, given the features? Penalized logistic regression.

    log odds of level a against the rest = base + z . slopes,     penalty |slopes|^2 / 2 each

on standardized features. The penalty is the one under which people who are left out would be
least surprising; leaving one out is approximated by one Newton step. With several groups each is
set against the rest and the chances are made to add to one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
PENALTIES = np.logspace(4, -1, 11)  # largest first
ROUNDS = 30
CLOSE = 1e-8  # Newton step at which the search has ended
REACH = 3.0  # standard deviations beyond which features are not followed


def chances_of_groups(features: Array, group: Codes, unseen: Array, levels: int) -> Array:
    """How likely would each group be for unseen people? (levels, people); they add to one.

    >>> z = np.linspace(-1, 1, 400)[:, None]
    >>> a = (np.arange(400) * 7 % 10 < 4.5 + 4 * z[:, 0]).astype(np.int64)
    >>> chances_of_groups(z, a, np.array([[0.0]]), 2).round(1).tolist()
    [[0.5], [0.5]]
    """
    center, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def design(rows: Array) -> Array:
        near = np.clip((rows - center) / scale, -REACH, REACH)
        return np.hstack([np.ones((len(rows), 1)), near])

    asked = range(1, levels) if levels == 2 else range(levels)
    rows = design(features)
    found = [expit(design(unseen) @ _logistic(rows, group == level)) for level in asked]
    if levels == 2:
        return np.stack([1 - found[0], found[0]])
    return np.asarray(found / np.sum(found, axis=0))


class _Fit(NamedTuple):
    slopes: Array
    surprise: float  # of those who are left out


def _logistic(rows: Array, chosen: NDArray[np.bool_]) -> Array:
    """Base and slopes; every penalty starts from the solution of a larger one."""
    target = chosen.astype(float)
    share = np.clip(target.mean(), 1e-9, 1 - 1e-9)
    slopes = np.zeros(rows.shape[1])
    slopes[0] = np.log(share / (1 - share))
    fits = []
    for penalty in PENALTIES:
        fits.append(_newton(rows, target, penalty, slopes))
        slopes = fits[-1].slopes
    return min(fits, key=lambda fit: fit.surprise).slopes


def _newton(rows: Array, target: Array, penalty: float, slopes: Array) -> _Fit:
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = 1e-9
    for _ in range(ROUNDS):
        chance = expit(rows @ slopes)
        weight = chance * (1 - chance)
        curvature = (rows.T * weight) @ rows + np.diag(ridge)
        step = np.linalg.solve(curvature, rows.T @ (target - chance) - ridge * slopes)
        slopes = slopes + step
        if np.abs(step).max() < CLOSE:
            break
    inverse = np.linalg.inv(curvature)
    pull = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    line = rows @ slopes - pull * (target - chance) / np.maximum(1 - weight * pull, 1e-3)
    return _Fit(slopes, float(np.logaddexp(0, np.where(target == 1, -line, line)).mean()))
