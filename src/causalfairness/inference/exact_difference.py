"""Exact tests of whether one share exceeds another by more than a margin.

For x of n and y of m people, the hypothesis p - q <= tau, and every pair of counts (i, j):

    T(i, j)   = (i/n - j/m - tau) / sqrt(p~ (1 - p~) / n + q~ (1 - q~) / m)
    p-value   = max over q of  sum over T(i, j) >= T(x, y) of  B(i; n, q + tau) B(j; m, q)

where p~ = q~ + tau are the shares that fit (i, j) best (Farrington and Manning 1990), and B is the
binomial probability. Nothing is conditioned on, and no share is assumed: the level holds whatever
the true shares are. All pairs of counts of one (n, m, tau) are answered together and remembered.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
LARGEST = 200  # people per group up to whom tables are exact
SHARES = 257  # nuisance shares among which the maximum is looked for
SAME = 1e-9  # relative distance below which two statistics are one


def exact_p_values(x: ArrayLike, n: ArrayLike, y: ArrayLike, m: ArrayLike, tau: ArrayLike) -> Array:
    """Return how often equal luck gives a first share so far above the second, at worst.

    One-sided: small where x / n exceeds y / m by more than `tau`. Groups of more than 200 people
    are answered by the normal distribution of the statistic; of nobody the answer is 1.

    Parameters
    ----------
    x, n, y, m
        Whole counts: successes of how many people, in both groups.
    tau
        The difference that is put up with, between -1 and 1.

    Returns
    -------
    array
        One p-value for each pair of counts.

    Examples
    --------
    >>> exact_p_values([6, 4], 15, [1, 4], 15, tau=0.0).round(4).tolist()
    [0.0215, 1.0]
    """
    asked = (np.asarray(each, dtype=float) for each in (n, m, tau, x, y))
    from scipy.special import ndtr

    n, m, margins, x, y = np.broadcast_arrays(*asked)
    inside = (x >= 0) & (x <= n) & (y >= 0) & (y <= m) & (np.abs(margins) < 1)
    if not (inside.all() and all((each == np.rint(each)).all() for each in (n, m, x, y))):
        raise ValueError(
            "successes are whole numbers of at most as many people, and tau lies between -1 and 1; "
            f"found {x!r} of {n!r}, {y!r} of {m!r} and {tau!r}"
        )
    found = np.ones(n.shape)
    kinds, kind = np.unique(np.stack([n, m, margins]).reshape(3, -1), axis=1, return_inverse=True)
    for at, (first, second, margin) in enumerate(kinds.T.tolist()):
        here = (kind == at).reshape(n.shape)
        if max(first, second) > LARGEST:
            found[here] = ndtr(-score(x[here] / first, first, y[here] / second, second, margin))
        elif min(first, second) > 0:
            table = _table(int(first), int(second), margin)
            found[here] = table[x[here].astype(int), y[here].astype(int)]
    return found


def score(p: Array, n: float, q: Array, m: float, tau: float) -> Array:
    """The score statistic of p - q <= tau; 0 where its variance is.

    >>> score(np.array([0.4]), 15, np.array([0.1]), 15, 0.0).round(3).tolist()
    [1.897]
    """
    fitted = _fitted(p, q, m / n, tau)
    variance = (fitted + tau) * (1 - fitted - tau) / n + fitted * (1 - fitted) / m
    above = p - q - tau
    error = np.sqrt(np.maximum(variance, 0.0))
    return np.divide(above, error, out=np.zeros(np.shape(above)), where=error > SAME)


def _fitted(p: Array, q: Array, ratio: float, tau: float) -> Array:
    """The second share that fits best where the first is larger by tau: a root of a cubic."""
    a = 1 + ratio
    b = -(1 + ratio + p + ratio * q + tau * (ratio + 2))
    c = tau**2 + tau * (2 * p + ratio + 1) + p + ratio * q
    d = -p * tau * (1 + tau)
    v = (b / (3 * a)) ** 3 - b * c / (6 * a**2) + d / (2 * a)
    u = np.where(v < 0, -1.0, 1.0) * np.sqrt(np.maximum((b / (3 * a)) ** 2 - c / (3 * a), 0.0))
    cosine = np.divide(v, u**3, out=np.zeros(np.shape(v)), where=u != 0)
    turned = (np.pi + np.arccos(np.clip(cosine, -1, 1))) / 3
    first = 2 * u * np.cos(turned) - b / (3 * a)
    return np.asarray(np.clip(first - tau, max(0.0, -tau), min(1.0, 1 - tau)))


@lru_cache(maxsize=512)
def _table(n: int, m: int, tau: float) -> Array:
    """P-values of all counts (i, j): (n + 1, m + 1)."""
    i, j = np.arange(n + 1), np.arange(m + 1)
    statistic = score(i[:, None] / n, n, j / m, m, tau).ravel()
    order = np.argsort(-statistic, kind="stable")
    falls = -np.diff(statistic[order]) > SAME * (1 + np.abs(statistic[order][1:]))
    ends = np.flatnonzero(np.append(falls, True))  # where all that are at least so large are in
    low, high = max(0.0, -tau), min(1.0, 1 - tau)
    shares = low + (high - low) * np.sin(np.linspace(0, np.pi / 2, SHARES)[:, None]) ** 2
    largest = np.zeros(len(ends))
    for pair in zip(_chances(i, n, shares + tau), _chances(j, m, shares), strict=True):
        np.maximum(largest, np.cumsum(np.outer(*pair).ravel()[order])[ends], out=largest)
    found = np.empty(len(order))
    found[order] = np.repeat(np.minimum(largest, 1.0), np.diff(ends, prepend=-1))
    return found.reshape(n + 1, m + 1)


def _chances(counts: NDArray[np.int64], n: int, share: Array) -> Array:
    """Binomial probabilities of these counts."""
    from scipy.special import gammaln, xlog1py, xlogy

    ways = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    return np.asarray(np.exp(ways + xlogy(counts, share) + xlog1py(n - counts, -share)))
