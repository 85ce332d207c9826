"""How far may the truth be from the estimate? Intervals and p-values from a standard error."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    """Where does the truth lie, at the level that was asked for? A closed interval.

    >>> Interval(0.1, 0.3).high
    0.3
    """

    low: float
    high: float


def normal_interval(value: float, standard_error: float, level: float) -> Interval:
    """Which values fit the data, if the estimate is normal around the truth?

    >>> low, high = normal_interval(0.0, 1.0, level=0.95)
    >>> round(low, 2), round(high, 2)
    (-1.96, 1.96)
    """
    half_width = normal_reach(level) * standard_error
    return Interval(value - half_width, value + half_width)


def normal_reach(level: float) -> float:
    """How many standard errors does a two-sided interval reach?

    >>> round(normal_reach(0.95), 2)
    1.96
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for instance 0.95; found {level!r}")
    return NormalDist().inv_cdf((1 + level) / 2)


def two_sided_p_value(value: float, standard_error: float) -> float:
    """How often would chance alone give a value this far from zero?

    A value that is exactly zero is never evidence; a nonzero one without any uncertainty always is.

    >>> round(two_sided_p_value(1.96, 1.0), 3), two_sided_p_value(0.0, 0.0)
    (0.05, 1.0)
    """
    if value == 0:
        return 1.0
    if standard_error == 0:
        return 0.0
    return math.erfc(abs(value) / standard_error / math.sqrt(2))
