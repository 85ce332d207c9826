"""What do the rates and ratios of a screen say, in plain words?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from causalfairness.inference import Interval
from causalfairness.parity.metrics.table import written
from causalfairness.parity.screens.ratios import CategoryRate, Division
from causalfairness.parity.screens.rule import Rule


def sentences_about(
    part: Division, rule: Rule, measure: str, level: float, justification: str
) -> Iterator[str]:
    """What do the numbers of one division say?"""
    yield f"By {part.attribute}: {_highest(part, measure)}"
    others = [each for each in part.rates if each.ratio_interval is not None]
    if others:
        listed = "; ".join(
            f"{each.category} {_between(each.ratio, each.ratio_interval)}" for each in others
        )
        yield f"Impact ratios by {part.attribute} ({100 * level:.6g}% intervals): {listed}."
    if rule.threshold is not None and others:
        yield _flags(part, rule, rule.threshold.value)
    if part.excluded and rule.exclusion is not None:
        listed = "; ".join(map(_left_out, part.excluded))
        yield (
            f"Excluded from the ratios by {part.attribute}, each under "
            f"{100 * rule.exclusion.value:g}% of {part.people:,} people: {listed}. "
            f"{_because(justification)}"
        )
    yield (
        f"Not included by {part.attribute} because the category is not known: "
        f"{part.unknown:,} {'person' if part.unknown == 1 else 'people'}."
    )


def _highest(part: Division, measure: str) -> str:
    kept = [each for each in part.rates if not each.excluded]
    if not kept:
        return "no category is left to compare."
    if not part.highest:
        return f"no {measure} is above 0, so that there are no ratios."
    first = part[part.highest[0]]
    rate = _between(first.rate, first.rate_interval)
    if len(kept) == 1:
        return f"{measure} {rate} for {first.category}; there is no other category to compare with."
    if len(part.highest) > 1:
        names = "; ".join(part.highest)
        return f"the highest {measure}, {written(first.rate)}, is shared by {names}."
    return f"the highest {measure} is that of {first.category}, {rate}."


def _flags(part: Division, rule: Rule, threshold: float) -> str:
    below = [each for each in part.rates if each.flagged]
    judged = [each for each in part.rates if each.flagged is not None]
    text = (
        f"{rule.name} by {part.attribute}: {len(below)} of {len(judged)} categories below "
        f"{threshold:g} of the highest rate"
    )
    if below:
        text += f" ({'; '.join(each.category for each in below)})"
    unsure = [each.category for each in judged if each.interval_lies == "contains"]
    if unsure:
        text += f"; intervals contain {threshold:g} for {'; '.join(unsure)}"
    return f"{text}."


def _left_out(each: CategoryRate) -> str:
    rate = _between(each.rate, each.rate_interval)
    people = "person" if each.people == 1 else "people"
    return f"{each.category} ({each.people:,} {people}, {100 * each.share:.2g}%, rate {rate})"


def _because(justification: str) -> str:
    return f"Justification: {justification}" if justification else "No justification was given."


def _between(value: float | None, interval: Interval | Sequence[float] | None) -> str:
    assert interval is not None
    low, high = interval
    return f"{written(value)} ({written(low)} to {written(high)})"
