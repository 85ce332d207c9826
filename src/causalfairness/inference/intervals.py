"""How far may the truth be from the estimate? Intervals and p-values from a standard error.

Two tests ask whether an effect is larger than matters, or smaller, with a margin between them:

    minimum effect   rejects |truth| <= margin,
                     p = Phi(-(|d| - margin) / s) + Phi(-(|d| + margin) / s)
    equivalence      rejects |truth| >= margin,
                     p = Phi((|d| - margin) / s)

for an estimate d that is normal around the truth with standard error s. Where s has degrees of
freedom of its own, t takes the place of the normal. The second is the larger of two one-sided
p-values. Below a level of one half, no estimate rejects both. With a margin of
zero the first is the ordinary two-sided test, and the second never rejects.

An estimate without any uncertainty is the truth, and the tests only read it off: 0 where it lies on
the side that is claimed, 1 where it does not, or lies at the margin itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from statistics import NormalDist
from typing import NamedTuple

ROUNDING = 1e-12  # relative size of what rounding leaves


class Interval(NamedTuple):
    """Where does the truth lie, at the level that was asked for? A closed interval.

    >>> Interval(0.1, 0.3).high
    0.3
    """

    low: float
    high: float


def normal_interval(
    value: float, standard_error: float, level: float, freedom: float = math.inf
) -> Interval:
    """Which values fit the data, if the estimate is normal around the truth?

    `freedom` is that of the standard error.

    >>> low, high = normal_interval(0.0, 1.0, level=0.95)
    >>> round(low, 2), round(high, 2)
    (-1.96, 1.96)
    >>> round(normal_interval(0.0, 1.0, level=0.95, freedom=29).high, 2)
    2.05
    """
    half_width = normal_reach(level, freedom) * standard_error
    return Interval(value - half_width, value + half_width)


def normal_reach(level: float, freedom: float = math.inf) -> float:
    """How many standard errors does a two-sided interval reach?

    >>> round(normal_reach(0.95), 2)
    1.96
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for instance 0.95; found {level!r}")
    if freedom < math.inf:
        from scipy.special import stdtrit

        return float(stdtrit(freedom, (1 + level) / 2))
    return NormalDist().inv_cdf((1 + level) / 2)


def two_sided_p_value(value: float, standard_error: float, freedom: float = math.inf) -> float:
    """How often would chance alone give a value this far from zero?

    A value that is exactly zero is never evidence; a nonzero one without any uncertainty always is.

    >>> round(two_sided_p_value(1.96, 1.0), 3), two_sided_p_value(0.0, 0.0)
    (0.05, 1.0)
    """
    if value == 0:
        return 1.0
    if standard_error == 0:
        return 0.0
    return 2 * _tail(abs(value) / standard_error, freedom)


def minimum_effect_p_value(
    value: float, standard_error: float, margin: float, freedom: float = math.inf
) -> float:
    """How often would chance give a value this far out, were the truth within the margin?

    At worst: were it at the margin itself. This is the test for "more than the margin".

    >>> round(minimum_effect_p_value(0.0296, 0.01, margin=0.01), 3)
    0.025
    >>> minimum_effect_p_value(0.5, 0.0, margin=0.5), minimum_effect_p_value(0.6, 0.0, margin=0.5)
    (1.0, 0.0)
    """
    check_margin(margin)
    size = abs(value)
    if _is_known(size, standard_error, margin):
        return 0.0 if size > margin and not _is_at(size, margin) else 1.0
    tails = (_tail((size + side * margin) / standard_error, freedom) for side in (-1, 1))
    return min(1.0, sum(tails))


def equivalence_p_value(
    value: float, standard_error: float, margin: float, freedom: float = math.inf
) -> float:
    """How often would chance give a value this close to zero, were the truth beyond the margin?

    Two one-sided tests, of which the larger p-value counts: the test for "less than the margin".

    >>> round(equivalence_p_value(0.0, 0.0051, margin=0.01), 3)
    0.025
    >>> equivalence_p_value(0.0, 0.0, margin=0.01), equivalence_p_value(0.0, 0.0, margin=0.0)
    (0.0, 1.0)
    """
    check_margin(margin)
    size = abs(value)
    if _is_known(size, standard_error, margin):
        return 0.0 if size < margin and not _is_at(size, margin) else 1.0
    return _tail((margin - size) / standard_error, freedom)


def difference_error(variances: Sequence[float], rows: Sequence[float]) -> float:
    """How sure is a plain difference of two means? By variances and (effective) rows of each group.

    >>> round(difference_error([0.21, 0.21], [200, 800]), 3)
    0.036
    """
    return math.sqrt(sum(variance / n for variance, n in zip(variances, rows, strict=True)))


def detectable_effect(standard_error: float, *, power: float = 0.8, level: float = 0.95) -> float:
    """How large must an effect be to be distinguished from zero, with this chance?

        (z_{1 - alpha/2} + z_power) standard errors,  alpha = 1 - level

    >>> round(detectable_effect(0.0362), 3)
    0.101
    """
    return (normal_reach(level) + _quantile(power)) * standard_error


def rows_to_rule_out(
    margin: float,
    variances: Sequence[float],
    shares: Sequence[float] = (0.5, 0.5),
    *,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """How many rows are needed to show, with this chance, that an effect of zero is below a margin?

    `variances` and `shares` are those of the two groups. Equivalence takes two one-sided tests, so
    the standard error may be margin / (z_level + z_{(1 + power) / 2}) at most.

    >>> rows_to_rule_out(0.01, [0.25, 0.25])
    85639
    """
    check_margin(margin)
    if margin == 0:
        raise ValueError("no number of rows rules out every effect; give a margin above 0")
    error = margin / (_quantile(level) + _quantile((1 + power) / 2))
    return math.ceil((difference_error(variances, shares) / error) ** 2)


def _quantile(chance: float) -> float:
    if not 0 < chance < 1:
        raise ValueError(f"a chance lies between 0 and 1, for instance 0.8; found {chance!r}")
    return NormalDist().inv_cdf(chance)


def check_margin(margin: float) -> None:
    """Is this how much an effect may differ from zero without mattering?

    >>> check_margin(0.01)
    """
    number = isinstance(margin, Real) and not isinstance(margin, bool)
    if not (number and 0 <= margin < math.inf):
        raise ValueError(
            "margin is how far from zero an effect may be without mattering, 0 or more, for "
            f"instance 0.01; found {margin!r}"
        )


def _is_known(size: float, standard_error: float, margin: float) -> bool:
    """Is there no uncertainty, but for what rounding leaves?"""
    return standard_error <= ROUNDING * max(size, margin)


def _is_at(size: float, margin: float) -> bool:
    """Is this the margin itself, but for rounding? Then it is neither within nor beyond."""
    return math.isclose(size, margin, rel_tol=ROUNDING)


def _tail(z: float, freedom: float) -> float:
    """The chance that a standard normal, or t of so many degrees of freedom, exceeds z."""
    if freedom < math.inf:
        from scipy.special import stdtr

        return float(stdtr(freedom, -z))
    return math.erfc(z / math.sqrt(2)) / 2
