"""Do two groups of people differ in their decisions by more than tau, and by more than chance?

    p_c, p_t      shares of negative decisions in the control and in the test group
    delta         p_c - p_t: positive where people like the person fare worse
    evidence      delta > tau
    significant   evidence, and the lower end of the interval is above tau

One-sided, each end of an interval holds at the level by itself (z = 1.645 at 95 %); two-sided,
both hold together (z = 1.96). A p-value is the error at which the interval just meets tau, so that
both always agree; two-sided, it is doubled. Differences of up to 1e-9 are ties. Positive
discrimination is the mirror image, with the two groups exchanged: delta < -tau.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from causalfairness.errors import SituationError
from causalfairness.inference import (
    Bounds,
    agresti_caffo_interval,
    benjamini_hochberg,
    newcombe_interval,
    wald_interval,
)

Array = NDArray[np.float64]
Truths = NDArray[np.bool_]
Sided = Literal["one", "two"]
IntervalName = Literal["wald", "newcombe", "agresti-caffo"]
TIE = 1e-9
REACH, LEVEL, DIGITS = 1.645, 0.95, 3  # of the published experiments
FURTHEST, STEP = 8.0, 0.05  # standard errors looked at for p-values, and how finely


class IntervalMethod(Protocol):
    """Which differences of two shares fit the counts? As in `causalfairness.inference`."""

    def __call__(self, x: Array, n: Array, y: Array, m: Array, /, level: float) -> Bounds:
        """Which differences x / n - y / m fit, two-sided at the level?"""
        ...


NAMED: dict[str, IntervalMethod] = {
    "wald": wald_interval,
    "newcombe": newcombe_interval,
    "agresti-caffo": agresti_caffo_interval,
}


class Counts(NamedTuple):
    """How many people are in the two groups, and how many of them were declined? Arrays alike."""

    control_negative: Array
    control: Array
    test_negative: Array
    test: Array

    @property
    def known(self) -> Truths:
        """Is there somebody in both groups?"""
        return (self.control > 0) & (self.test > 0)

    def exchanged(self) -> Counts:
        """What are the counts with both groups exchanged?"""
        return Counts(self.test_negative, self.test, self.control_negative, self.control)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What do the counts say? (people, ks); NaN where a group is empty."""

    control_rate: Array
    test_rate: Array
    low: Array
    high: Array
    found: Truths
    significant: Truths
    p_value: Array
    p_adjusted: Array  # over the people, for each k
    error: float  # 1 - level

    @property
    def delta(self) -> Array:
        """How much larger is the share of negative decisions in the control group?"""
        return np.asarray(self.control_rate - self.test_rate)

    @property
    def discoveries(self) -> Truths:
        """Which differences stand after adjustment for the number of people?"""
        adjusted = np.where(np.isnan(self.p_adjusted), 1.0, self.p_adjusted)
        return np.asarray(self.found & (adjusted <= self.error))


@dataclass(frozen=True)
class IntervalRule:
    """Is the difference above tau, and does its interval lie above tau?

    >>> counts = Counts(*(np.array([[value]]) for value in (13.0, 15.0, 2.0, 15.0)))
    >>> said = IntervalRule(0.0, 0.95, "one", wald_interval, "Wald").weigh(counts)
    >>> said.delta.round(3).tolist(), said.low.round(3).tolist(), said.significant.tolist()
    ([[0.733]], [[0.529]], [[True]])
    """

    tau: float
    level: float
    sided: Sided
    interval: IntervalMethod
    name: str

    @property
    def words(self) -> str:
        """How are the intervals described?"""
        percent = f"{100 * self.level:.6g}%"
        return f"{self.name}, {self.sided}-sided at the {percent} level"

    def weigh(self, counts: Counts) -> Evidence:
        """What do these counts say?"""
        known = counts.known
        rates = [_rate(*pair) for pair in (counts[:2], counts[2:])]
        inner = 2 * self.level - 1 if self.sided == "one" else self.level
        ends = self.interval(*counts, inner)
        found = known & (np.where(known, rates[0] - rates[1], 0.0) - self.tau > TIE)
        p_value = np.where(known, self.p_values(counts), np.nan)
        return Evidence(
            control_rate=rates[0],
            test_rate=rates[1],
            low=np.where(known, ends.low, np.nan),
            high=np.where(known, ends.high, np.nan),
            found=found,
            significant=found & (ends.low - self.tau > TIE),
            p_value=p_value,
            p_adjusted=adjusted(p_value),
            error=1 - self.level,
        )

    def p_values(self, counts: Counts) -> Array:
        """At which error does each interval just stop to exclude tau?"""
        shape = counts.control.shape
        flat = np.stack([column.reshape(-1) for column in counts], axis=1)
        distinct, back = np.unique(flat, axis=0, return_inverse=True)
        once = Counts(*distinct.T)
        tail = self._tail(once, self.tau)
        if self.sided == "two":
            tail = np.minimum(1.0, 2 * np.minimum(tail, self._tail(once.exchanged(), -self.tau)))
        return np.asarray(tail[back.reshape(-1)].reshape(shape))

    def _tail(self, counts: Counts, tau: float) -> Array:
        tail = ndtr(-_crossings(self.interval, counts, tau, self.level))
        return np.asarray(np.where(tail <= ndtr(-FURTHEST), 0.0, tail))  # beyond what is looked at


@dataclass(frozen=True)
class PublishedRule:
    """When did the published experiments count a difference as evidence?

    >>> counts = Counts(*(np.array([[value]]) for value in (16.0, 16.0, 15.0, 16.0)))
    >>> said = PublishedRule(0.0).weigh(counts)
    >>> said.found.tolist(), said.significant.tolist(), said.low.round(2).tolist()
    ([[True]], [[False]], [[-0.04]])
    """

    tau: float
    level: float = LEVEL

    @property
    def words(self) -> str:
        """How are the intervals described?"""
        return f"Wald with {REACH} standard errors, as published"

    def weigh(self, counts: Counts) -> Evidence:
        """What do these counts say?"""
        p, q = counts.control_negative / counts.control, counts.test_negative / counts.test
        error = np.sqrt(p * (1 - p) / counts.control + q * (1 - q) / counts.test)
        delta = p - q
        low = delta - REACH * error
        found = np.round(delta, DIGITS) > self.tau
        usual = IntervalRule(self.tau, self.level, "one", wald_interval, "Wald")
        p_value = usual.p_values(counts)
        return Evidence(
            control_rate=p,
            test_rate=q,
            low=low,
            high=delta + REACH * error,
            found=found,
            significant=found & (np.round(low, DIGITS) > self.tau),
            p_value=p_value,
            p_adjusted=adjusted(p_value),
            error=1 - self.level,
        )


Rule = IntervalRule | PublishedRule  # when a difference counts as evidence


def interval_rule(
    tau: float, level: float, sided: Sided, interval: IntervalName | IntervalMethod
) -> IntervalRule:
    """Which rule is meant? Checked here, where it comes in.

    >>> interval_rule(0.0, 0.95, "one", "newcombe").words
    'Newcombe, one-sided at the 95% level'
    """
    if not -1 < tau < 1:
        raise SituationError(f"tau is a difference of two shares, between -1 and 1; found {tau!r}")
    if sided not in get_args(Sided):
        raise SituationError(f"sided is 'one' or 'two'; found {sided!r}")
    least = 0.5 if sided == "one" else 0.0
    if not least < level < 1:
        raise SituationError(
            f"the level of {sided}-sided intervals lies between {least:g} and 1; found {level!r}"
        )
    if isinstance(interval, str):
        if interval not in NAMED:
            raise SituationError(
                f"interval is one of {', '.join(map(repr, NAMED))}, or a function of counts and a "
                f"level; found {interval!r}"
            )
        return IntervalRule(tau, level, sided, NAMED[interval], interval.title())
    name = str(getattr(interval, "__name__", type(interval).__name__))
    return IntervalRule(tau, level, sided, interval, name)


def adjusted(p_value: Array) -> Array:
    """Which p-values allow for the number of people? Benjamini-Hochberg, for each k."""
    result = np.full_like(p_value, np.nan)
    for at in range(p_value.shape[1]):
        known = ~np.isnan(p_value[:, at])
        if known.any():
            result[known, at] = benjamini_hochberg(p_value[known, at])
    return result


def _rate(negative: Array, size: Array) -> Array:
    rate: Array = np.divide(negative, size, out=np.full(size.shape, np.nan), where=size > 0)
    return rate


def _crossings(interval: IntervalMethod, counts: Counts, tau: float, level: float) -> Array:
    """How many standard errors does an interval reach when its end meets tau? Negative beyond."""
    reach = float(ndtri(level)), float(ndtri((1 + level) / 2))  # there, all must agree exactly
    steps = np.arange(-FURTHEST, FURTHEST + STEP / 2, STEP)
    grid = np.unique([*steps.round(6), *reach, *(-end for end in reach)])
    ends = np.stack([_end(interval, counts, float(z)) for z in grid]) - tau
    above = ends > TIE
    last = np.maximum.accumulate(np.arange(len(grid))[:, None] * above, axis=0)[-1]
    last = np.where(above.any(axis=0), last, -1)
    after = np.minimum(last + 1, len(grid) - 1)
    column = np.arange(ends.shape[1])
    before = np.maximum(last, 0)
    fall = ends[before, column] - ends[after, column]
    share = np.divide(ends[before, column], fall, out=np.zeros_like(fall), where=fall > 0)
    crossing = grid[before] + np.clip(share, 0.0, 1.0) * (grid[after] - grid[before])
    return np.asarray(np.where(last < 0, -np.inf, np.where(after == last, np.inf, crossing)))


def _end(interval: IntervalMethod, counts: Counts, z: float) -> Array:
    """The lower end for z > 0, the upper end for z < 0, both by as many standard errors."""
    level = min(max(2 * float(ndtr(abs(z))) - 1, 1e-12), 1 - 1e-15)
    ends = interval(*counts, level)
    return np.asarray(ends.low if z >= 0 else ends.high)
