"""How sure can we be of a share, and of how two shares differ? Intervals from counts.

A share is `successes / total`. Differences are first minus second, ratios first over second.

    Wilson            all p with |share - p| <= z sqrt(p (1 - p) / n), a quadratic in p
    Newcombe          difference; Wilson's limits, squared and added
    Agresti-Caffo     difference; the plain interval after one more success and failure in either
    added people      difference; the same around the same center, for the people there were
    Wald              difference; the plain interval. Of width 0 where both shares are 0 or 1
    Katz              ratio; log(p1 / p2) +- z sqrt(1/x1 - 1/n1 + 1/x2 - 1/n2)

Katz's formula breaks down where a count is none or all of its total. There the ratio's interval is
made of Wilson's limits, squared and added as Newcombe does for differences (Donner and Zou 2012);
it starts at 0 where the first share is 0, and has no upper end where the second one is.

Where many groups are held against the one with the highest share, some lie far below it though all
have one rate p; how often is simulated:

    flagged           X_k / n_k < threshold * max_j X_j / n_j,    X_k ~ Binomial(n_k, p)

Counts may be fractions: with weights, pass shares times the effective size (`effective_size`). Of
nobody nothing is known: the interval then holds everything that is possible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causalfairness.inference.intervals import normal_reach

Array = NDArray[np.float64]
SUMMED = 1e-12  # relative size of what long sums lose to rounding
ROUNDING = 1e-9  # by which sums of weights may exceed their total
TINY = 1e-300
DRAWS = 10_000  # tables with equal rates; the standard error of a chance is at most 0.005


class Bounds(NamedTuple):
    """Between which values do many truths lie? Two arrays; two numbers for a single one.

    >>> Bounds(np.array([0.1, 0.2]), np.array([0.3, 0.4])).high.tolist()
    [0.3, 0.4]
    """

    low: Array
    high: Array


def wilson_interval(successes: ArrayLike, total: ArrayLike, level: float) -> Bounds:
    """Which shares fit the counts? Wilson's score interval.

    >>> low, high = wilson_interval(81, 263, level=0.95)
    >>> print(f"{low:.4f} to {high:.4f}")
    0.2553 to 0.3662
    """
    x, n = _counts(successes, total)
    z = normal_reach(level)
    p = _share(x, n)
    reach = z * np.sqrt(p * (1 - p) * n + z**2 / 4)
    low, high = (x + z**2 / 2 - reach) / (n + z**2), (x + z**2 / 2 + reach) / (n + z**2)
    low, high = np.minimum(low, p), np.maximum(high, p)  # rounding may cross the share itself
    return Bounds(
        np.where(x > 0, np.maximum(low, 0.0), 0.0)[()],
        np.where(x < n, np.minimum(high, 1.0), 1.0)[()],
    )


def newcombe_interval(
    successes: ArrayLike,
    total: ArrayLike,
    other_successes: ArrayLike,
    other_total: ArrayLike,
    level: float,
) -> Bounds:
    """Which differences of two shares fit the counts? Newcombe's hybrid of two Wilson intervals.

    >>> low, high = newcombe_interval(56, 70, 48, 80, level=0.95)
    >>> print(f"{low:.4f} to {high:.4f}")
    0.0524 to 0.3339
    """
    (x, n), (y, m) = _counts(successes, total), _counts(other_successes, other_total)
    p, q = _share(x, n), _share(y, m)
    first, second = wilson_interval(x, n, level), wilson_interval(y, m, level)
    low = p - q - np.hypot(p - first.low, second.high - q)
    high = p - q + np.hypot(first.high - p, q - second.low)
    return _where_counted(low, high, n, m)


def agresti_caffo_interval(
    successes: ArrayLike,
    total: ArrayLike,
    other_successes: ArrayLike,
    other_total: ArrayLike,
    level: float,
) -> Bounds:
    """Which differences of two shares fit the counts? After one more success and failure each.

    >>> low, high = agresti_caffo_interval(0, 10, 0, 10, level=0.95)
    >>> print(f"{low:.2f} to {high:.2f}")
    -0.22 to 0.22
    """
    (x, n), (y, m) = _counts(successes, total), _counts(other_successes, other_total)
    low, high = _plain_difference(x + 1, n + 2, y + 1, m + 2, level)
    return _where_counted(np.maximum(low, -1.0), np.minimum(high, 1.0), n, m)


def wald_interval(
    successes: ArrayLike,
    total: ArrayLike,
    other_successes: ArrayLike,
    other_total: ArrayLike,
    level: float,
) -> Bounds:
    """Which differences of two shares fit the counts? The plain interval, for large counts only.

    Where both shares are 0 or 1 it has no width, however few people were counted.

    >>> low, high = wald_interval(56, 70, 48, 80, level=0.95)
    >>> print(f"{low:.4f} to {high:.4f}")
    0.0575 to 0.3425
    """
    (x, n), (y, m) = _counts(successes, total), _counts(other_successes, other_total)
    return _where_counted(*_plain_difference(x, n, y, m, level), n, m)


def ratio_interval(
    successes: ArrayLike,
    total: ArrayLike,
    other_successes: ArrayLike,
    other_total: ArrayLike,
    level: float,
) -> Bounds:
    """Which ratios of two shares fit the counts? Katz's interval on the logarithm.

    Where a count is none or all of its total, the interval is made of Wilson's limits instead: from
    0 where the first share is 0, without an upper end (infinity) where the second is.

    >>> low, high = ratio_interval(48, 80, 56, 70, level=0.95)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.606 to 0.929
    >>> low, high = ratio_interval(0, 10, 30, 60, level=0.95)
    >>> print(f"{low:.1f} to {high:.2f}")
    0.0 to 0.57
    """
    (x, n), (y, m) = _counts(successes, total), _counts(other_successes, other_total)
    inside = (x > 0) & (x < n) & (y > 0) & (y < m)
    with np.errstate(divide="ignore", invalid="ignore"):  # where a count is 0 it is not used
        reach = normal_reach(level) * np.sqrt(1 / x - 1 / n + 1 / y - 1 / m)
        center = np.log(x / n) - np.log(y / m)
        katz = Bounds(np.exp(center - reach), np.exp(center + reach))
    limits = _squared_and_added(x, n, y, m, level)
    unknown = (n == 0) | (m == 0) | ((x == 0) & (y == 0))
    low = np.where(inside, katz.low, limits.low)
    high = np.where(inside, katz.high, limits.high)
    return Bounds(np.where(unknown, 0.0, low)[()], np.where(unknown, np.inf, high)[()])


def added_people(share: ArrayLike, size: ArrayLike) -> tuple[Array, Array]:
    """What two more people, one with the outcome and one without, add to a share and its variance.

        q = (n p + 1) / (n + 2) = p + (1 - 2 p) / (n + 2)
        q (1 - q) = p (1 - p) + (1 - 2 p)^2 (n + 1) / (n + 2)^2

    Returns
    -------
    tuple of array and array
        q - p, and what one person's variance grows by.

    >>> shift, variance = added_people(0.0, 100)
    >>> print(f"{shift:.5f} {variance:.5f}")
    0.00980 0.00971
    """
    p, n = np.asarray(share, dtype=float), np.asarray(size, dtype=float)
    tilt = 1 - 2 * p
    return tilt / (n + 2), tilt**2 * (n + 1) / (n + 2) ** 2


def added_people_interval(
    successes: ArrayLike,
    total: ArrayLike,
    other_successes: ArrayLike,
    other_total: ArrayLike,
    level: float,
) -> Bounds:
    """Which differences of two shares fit the counts, with two more people in either group?

        q1 - q0 +- z sqrt(q1 (1 - q1) / n1 + q0 (1 - q0) / n0)

    >>> low, high = added_people_interval(0, 100, 20, 1000, level=0.95)
    >>> print(f"{low:.4f} to {high:.4f}")
    -0.0324 to 0.0101
    """
    (x, n), (y, m) = _counts(successes, total), _counts(other_successes, other_total)
    p, q = (x + 1) / (n + 2), (y + 1) / (m + 2)
    return _where_counted(*_plain_difference(p * n, n, q * m, m, level), n, m)


def effective_size(weight: ArrayLike, squares: ArrayLike) -> Array:
    """How many people of equal weight are these worth? Kish: (sum of w)^2 / sum of w^2.

    >>> w = np.array([1.0, 1.0, 4.0])
    >>> print(effective_size(w.sum(), (w**2).sum()))
    2.0
    """
    w, w2 = np.asarray(weight, dtype=float), np.asarray(squares, dtype=float)
    size: Array = np.divide(w**2, w2, out=np.zeros(np.broadcast(w, w2).shape), where=w2 > 0)[()]
    return size


def flag_chances(successes: ArrayLike, total: ArrayLike, threshold: float) -> tuple[Array, float]:
    """Chances that each group, and any of them, is flagged where all have the pooled share.

    Groups of one size have the same chance, and the draws are those of sorted sizes: the order of
    the groups does not matter.

    Parameters
    ----------
    successes, total
        The counts of each group; effective sizes are rounded.
    threshold
        A group is flagged where its share is below this part of the highest one.

    Returns
    -------
    tuple of array and float
        The chance of each group, and that of any.

    >>> each, some = flag_chances([10, 310, 14], [40, 1000, 40], threshold=0.8)
    >>> print(each.round(1), round(some, 1))
    [0.3 0.3 0.3] 0.7
    """
    x, n = _counts(successes, total)
    sizes, kind = np.unique(np.rint(n).astype(np.int64), return_inverse=True)
    order = np.sort(kind)
    drawn = np.maximum(sizes[order], 1)
    hits = np.random.default_rng(0).binomial(drawn, x.sum() / n.sum(), (DRAWS, len(order)))
    shares = np.where(sizes[order] > 0, hits / drawn, np.nan)
    highest = np.nanmax(shares, axis=1, keepdims=True)
    flagged = shares < threshold * highest - ROUNDING
    chance = np.bincount(order, flagged.mean(axis=0)) / np.bincount(order)
    return chance[kind], float(flagged.any(axis=1).mean())


def quantiles(values: Array, weights: Array | None, shares: ArrayLike) -> Array:
    """Below which value lie these shares of the people? Between two values: their mean.

    >>> quantiles(np.array([4.0, 1.0, 3.0, 2.0]), None, [0.5]).tolist()
    [2.5]
    >>> quantiles(np.array([1.0, 2.0]), np.array([3.0, 1.0]), [0.5]).tolist()
    [1.0]
    """
    if weights is None:
        ranked, below = np.sort(values), np.arange(1, len(values) + 1.0)
    else:
        order = np.argsort(values, kind="stable")
        ranked, below = values[order], np.cumsum(weights[order])
    wanted = np.asarray(shares, dtype=float) * below[-1]
    slack = SUMMED * below[-1]
    last = len(values) - 1
    low = np.minimum(np.searchsorted(below, wanted - slack, side="left"), last)
    high = np.minimum(np.searchsorted(below, wanted + slack, side="right"), last)
    return np.asarray((ranked[low] + ranked[high]) / 2)


def _counts(successes: ArrayLike, total: ArrayLike) -> tuple[Array, Array]:
    x, n = np.asarray(successes, dtype=float), np.asarray(total, dtype=float)
    if not (np.all(np.isfinite(n)) and np.all((x >= 0) & (x <= n * (1 + ROUNDING)))):
        raise ValueError(
            f"successes lie between 0 and total, which is finite; found {successes!r} of {total!r}"
        )
    return np.minimum(x, n), n


def _share(x: Array, n: Array) -> Array:
    """The share; one half where nobody was counted."""
    share: Array = np.divide(x, n, out=np.full(np.broadcast(x, n).shape, 0.5), where=n > 0)
    return share


def _where_counted(low: Array, high: Array, n: Array, m: Array) -> Bounds:
    """Of nobody nothing is known: every difference is possible."""
    known = (n > 0) & (m > 0)
    return Bounds(np.where(known, low, -1.0)[()], np.where(known, high, 1.0)[()])


def _plain_difference(x: Array, n: Array, y: Array, m: Array, level: float) -> Bounds:
    p, q = _share(x, n), _share(y, m)
    variance = p * (1 - p) / np.maximum(n, TINY) + q * (1 - q) / np.maximum(m, TINY)
    reach = normal_reach(level) * np.sqrt(variance)
    return Bounds(p - q - reach, p - q + reach)


def _squared_and_added(x: Array, n: Array, y: Array, m: Array, level: float) -> Bounds:
    """Donner and Zou's interval of a ratio, from the Wilson intervals of both shares.

    The lower end is written such that nothing cancels where the second share is small.
    """
    p, q = _share(x, n), _share(y, m)
    (l1, u1), (l2, u2) = wilson_interval(x, n, level), wilson_interval(y, m, level)
    below = p * q + np.sqrt(np.maximum((p * q) ** 2 - l1 * u2 * (2 * p - l1) * (2 * q - u2), 0.0))
    above = p * q + np.sqrt(np.maximum((p * q) ** 2 - u1 * l2 * (2 * p - u1) * (2 * q - l2), 0.0))
    low = np.divide(l1 * (2 * p - l1), below, out=np.zeros_like(below), where=below > 0)
    under = l2 * (2 * q - l2)
    high = np.divide(above, under, out=np.full_like(above, np.inf), where=under > 0)
    return Bounds(low, high)
