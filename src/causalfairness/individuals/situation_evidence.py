"""Do two groups of people differ in their decisions by more than tau, and by more than chance?

    p_c, p_t      shares of negative decisions in the control and in the test group
    delta         p_c - p_t: positive where people like the person fare worse
    evidence      delta > tau
    significant   evidence, and the lower end of the interval is above tau

One-sided, each end of an interval holds at the level by itself (z = 1.645 at 95 %); two-sided,
both hold together (z = 1.96). P-values are those of the exact unconditional test of a difference of
at most tau, or of what groups exchanged among neighbors give there where that is more (rounded up
to .01), so that neither few people nor neighbors who are alike and not the same make a discovery;
two-sided, they are doubled. Differences of up to 1e-9 are ties. Positive discrimination is the
mirror image, with the two groups exchanged: delta < -tau.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np

from causalfairness.errors import SituationError
from causalfairness.individuals.distances import Array, Truths
from causalfairness.inference import (
    Bounds,
    agresti_caffo_interval,
    benjamini_hochberg,
    exact_p_values,
    newcombe_interval,
    wald_interval,
)

Sided = Literal["one", "two"]
IntervalName = Literal["wald", "newcombe", "agresti-caffo"]
TIE = 1e-9
REACH, LEVEL, DIGITS = 1.645, 0.95, 3  # of the published experiments
GRID = 100  # shifts by chance are rounded up to one in so many, since each needs its own table
MOST = 0.99  # and end here


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
    error: float  # 1 - level

    @property
    def delta(self) -> Array:
        """How much larger is the share of negative decisions in the control group?"""
        return np.asarray(self.control_rate - self.test_rate)

    @cached_property
    def p_adjusted(self) -> Array:
        """Which p-values allow for the number of people? Benjamini-Hochberg, for each k."""
        result = np.full_like(self.p_value, np.nan)
        for at, column in enumerate(self.p_value.T):
            known = ~np.isnan(column)
            result[known, at] = benjamini_hochberg(column[known])
        return result

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
        return f"{self.name}, {self.sided}-sided at the {100 * self.level:.6g}% level"

    def weigh(self, counts: Counts, by_chance: Array | float = 0.0) -> Evidence:
        """What do these counts say, where chance alone gives such differences?"""
        known = counts.known
        rates = [
            np.divide(negative, size, out=np.full(size.shape, np.nan), where=size > 0)
            for negative, size in (counts[:2], counts[2:])
        ]
        inner = 2 * self.level - 1 if self.sided == "one" else self.level
        ends = self.interval(*counts, inner)
        found = known & (np.where(known, rates[0] - rates[1], 0.0) - self.tau > TIE)
        return Evidence(
            control_rate=rates[0],
            test_rate=rates[1],
            low=np.where(known, ends.low, np.nan),
            high=np.where(known, ends.high, np.nan),
            found=found,
            significant=found & (ends.low - self.tau > TIE),
            p_value=np.where(known, self.p_values(counts, by_chance), np.nan),
            error=1 - self.level,
        )

    def p_values(self, counts: Counts, by_chance: Array | float = 0.0) -> Array:
        """How often does equal treatment give such a difference, beyond what chance gives there?"""
        tail = _tail(counts, self.tau, by_chance)
        if self.sided == "one":
            return tail
        other = _tail(counts.exchanged(), -self.tau, -np.asarray(by_chance))
        return np.asarray(np.minimum(1.0, 2 * np.minimum(tail, other)))


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
        return Evidence(
            control_rate=p,
            test_rate=q,
            low=low,
            high=delta + REACH * error,
            found=found,
            significant=found & (np.round(low, DIGITS) > self.tau),
            p_value=exact_p_values(*counts, tau=self.tau),
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


def _tail(counts: Counts, tau: float, by_chance: Array | float) -> Array:
    """One-sided p-values of a difference above tau, and above what chance gives."""
    shift = np.ceil(np.maximum(by_chance, 0.0) * GRID - TIE) / GRID
    x, n, y, m = counts
    return exact_p_values(x, n, y, m, np.minimum(tau + shift, MOST))
