"""Which share of the highest rate does each category have?

    rate          selected / people, with Wilson's interval
    impact ratio  rate / highest rate, with Katz's interval on the logarithm (Wilson's limits,
                  squared and added, where a count is none or all)

The highest rate is that of a category which is not excluded; of several with the same rate, the
one with the most people stands in the intervals. Its own ratio is 1, which is no comparison and has
no interval. The intervals take the category with the highest rate as given, though it was found by
looking. Equal rates, thresholds and shares are judged in whole numbers, not after rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from causalfairness.inference import Interval, ratio_interval, wilson_interval
from causalfairness.parity.metrics.records import NONE_SELECTED
from causalfairness.parity.screens.people import Counted
from causalfairness.parity.screens.rule import Limit

SMALLEST = 30  # people; categories of fewer are marked
ALONE = "no other category to compare with"


@dataclass(frozen=True)
class CategoryRate:
    """How many of one category are selected, and which share of the highest rate is that?

    `ratio` is None where the category is excluded or nobody at all is selected; `flagged` and
    `interval_lies` (below, contains or above the threshold) where the rule has no threshold.

    >>> from causalfairness.parity import screens
    >>> import pyarrow as pa
    >>> data = pa.table({"sex": ["F"] * 10 + ["M"] * 10, "hired": [1] * 3 + [0] * 7 + [1, 0] * 5})
    >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
    >>> women = found.divisions[0]["F"]
    >>> women.rate, women.ratio, women.flagged, women.interval_lies
    (0.3, 0.6, True, 'contains')
    """

    category: str
    people: int
    share: float  # of the people whose category is known
    selected: int
    rate: float
    rate_interval: Interval
    excluded: bool = False
    ratio: float | None = None
    ratio_interval: Interval | None = None
    flagged: bool | None = None
    interval_lies: str | None = None
    remark: str = ""


@dataclass(frozen=True)
class Division:
    """How do the categories compare that people are divided into, by one attribute or several?

    `highest` are the categories with the highest rate: none where nobody is selected, several
    where they are equal. `unknown` counts people who are in no category.

    >>> Division(("sex", "race"), (), (), unknown=3).attribute
    'sex, race'
    """

    by: tuple[str, ...]
    rates: tuple[CategoryRate, ...]
    highest: tuple[str, ...]
    unknown: int = 0

    @property
    def attribute(self) -> str:
        """By what are people divided, in words?"""
        return ", ".join(self.by)

    @property
    def people(self) -> int:
        """How many people have a known category?"""
        return sum(each.people for each in self.rates)

    @property
    def excluded(self) -> tuple[CategoryRate, ...]:
        """Which categories are left out of the ratios?"""
        return tuple(each for each in self.rates if each.excluded)

    def __getitem__(self, category: str) -> CategoryRate:
        for each in self.rates:
            if each.category == category:
                return each
        there = "; ".join(each.category for each in self.rates)
        raise KeyError(f"no category {category!r} by {self.attribute}; there are {there}")


def compared(
    by: tuple[str, ...],
    counts: Sequence[Counted],
    *,
    unknown: int,
    exclusion: Limit | None,
    threshold: Limit | None,
    level: float,
) -> Division:
    """Which rate and which ratio has each category of a division?"""
    total = sum(each.people for each in counts)
    small = [
        exclusion is not None and Fraction(each.people, total) < _exact(exclusion.value)
        for each in counts
    ]
    kept = [each for each, left_out in zip(counts, small, strict=True) if not left_out]
    top = max((Fraction(each.selected, each.people) for each in kept), default=Fraction(0))
    tied = [each for each in kept if top and Fraction(each.selected, each.people) == top]
    against = max(tied, key=lambda each: each.people, default=None)
    rates = []
    for each, left_out in zip(counts, small, strict=True):
        ratio = {} if left_out else _ratio(each, against, len(kept), threshold, level)
        low, high = wilson_interval(each.selected, each.people, level)
        rates.append(
            CategoryRate(
                category=_called(each),
                people=each.people,
                share=each.people / total,
                selected=each.selected,
                rate=each.selected / each.people,
                rate_interval=Interval(float(low), float(high)),
                excluded=left_out,
                remark="; ".join(_remarks(each, against, left_out, len(kept), exclusion)),
                **ratio,
            )
        )
    return Division(by, tuple(rates), tuple(map(_called, tied)), unknown)


def _ratio(
    each: Counted, against: Counted | None, kept: int, threshold: Limit | None, level: float
) -> dict[str, Any]:
    if against is None:
        return {}
    ratio = Fraction(each.selected * against.people, each.people * against.selected)
    found: dict[str, Any] = {"ratio": float(ratio)}
    if each is not against:
        low, high = ratio_interval(
            each.selected, each.people, against.selected, against.people, level
        )
        found["ratio_interval"] = Interval(float(low), float(high))
    if threshold is not None and kept > 1:
        found["flagged"] = ratio < _exact(threshold.value)
        if each is not against:
            found["interval_lies"] = _lies(found["ratio_interval"], threshold.value)
    return found


def _lies(interval: Interval, threshold: float) -> str:
    if interval.high < threshold:
        return "below"
    return "above" if interval.low >= threshold else "contains"


def _remarks(
    each: Counted, against: Counted | None, left_out: bool, kept: int, exclusion: Limit | None
) -> Iterator[str]:
    if left_out and exclusion is not None:
        yield f"excluded: under {100 * exclusion.value:g}% of the people"
    elif against is None:
        yield NONE_SELECTED
    elif kept == 1:
        yield ALONE
    if each.people < SMALLEST:
        yield f"fewer than {SMALLEST} people"


def _called(each: Counted) -> str:
    return ", ".join(each.category)


def _exact(value: float) -> Fraction:
    """The number as it was written: 0.8 is four fifths."""
    return Fraction(str(value))
