"""Which findings survive when many questions are asked at once?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causalfairness.inference.intervals import normal_reach

Array = NDArray[np.float64]


def holm(p_values: ArrayLike) -> Array:
    """Which p-values hold when none of the claims may be wrong? Holm's step-down adjustment.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(stepped, 1.0)[np.argsort(order)]


def benjamini_hochberg(p_values: ArrayLike) -> Array:
    """Which p-values hold when a small share of the claims may be wrong? Step-up adjustment.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    return np.minimum(stepped, 1.0)[np.argsort(order)]


def simultaneous_quantile(
    spreads: Array, level: float, rng: np.random.Generator, draws: int = 100_000
) -> float:
    """How many standard errors must intervals reach to hold all at once?

    The quantile of max |t| over estimates whose joint normal covariance is spread by spread
    inner products, from random draws: never below the quantile of a single interval, never above
    Bonferroni's. Estimates without any uncertainty do not count.

    >>> alone = simultaneous_quantile(np.eye(1), 0.95, np.random.default_rng(0))
    >>> three = simultaneous_quantile(np.eye(3), 0.95, np.random.default_rng(0))
    >>> round(alone, 2), round(three, 1)
    (1.96, 2.4)
    """
    single = normal_reach(level)
    covariance = spreads @ spreads.T
    scale = np.sqrt(np.diag(covariance))
    moving = scale > 0
    if not moving.any():
        return 0.0
    correlation = covariance[np.ix_(moving, moving)] / np.outer(scale[moving], scale[moving])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    largest = np.abs(rng.standard_normal((draws, len(root))) @ root.T).max(axis=1)
    bonferroni = normal_reach(1 - (1 - level) / len(root))
    return float(np.clip(np.quantile(largest, level), single, bonferroni))
