"""What do the metrics of groups say, in plain words? And how do they fit on one page?

Sentences name the numbers and how sure they are. A screen says where to look; no sentence gives a
verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from causalfairness.parity.metrics.partitions import Partition
from causalfairness.parity.metrics.records import (
    FOUR_FIFTHS,
    extreme_records,
    gap_records,
    number,
    rate_records,
    screen_records,
)
from causalfairness.parity.metrics.table import Record, written

CALLED = {
    "selection_rate": "selection rate",
    "base_rate": "base rate",
    "accuracy": "accuracy",
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "tnr": "true negative rate",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
    "mean_score": "mean score",
    "mean_prediction": "mean prediction",
    "mean_outcome": "mean outcome",
    "mean_error": "mean error",
    "rmse": "root mean squared error",
    "calibration_error": "expected calibration error",
    "equalized_odds": "equalized odds",
}
SHORT = {
    **{name: name for name in ("tpr", "fpr", "fnr", "tnr", "ppv", "npv", "rmse")},
    "calibration_error": "calibration error",
}
OPENING = ("base_rate", "selection_rate")
IMPLIED = ("fnr", "tnr")  # 1 - tpr and 1 - fpr
SPOKEN = (
    "selection_rate",
    "accuracy",
    "tpr",
    "fpr",
    "mean_prediction",
    "mean_outcome",
    "mean_error",
    "rmse",
    "calibration_error",
)
GROUPS_DIFFER = "These are plain comparisons of groups: they say that groups differ, not why."
CAUTION = (
    f"{GROUPS_DIFFER} Small groups are reported like all others: none was pooled or left out for "
    "its size."
)
SCREEN = "Four fifths (29 CFR 1607.4 D) is a screen: it says where to look, and is no verdict."
LISTED = 6  # groups named one by one; more are counted


def sentences_about(
    part: Partition, about: Mapping[str, str], level: float, smallest: int
) -> Iterator[str]:
    """What do the numbers of one partition say?"""
    extremes = {record["metric"]: record for record in extreme_records(part, level, smallest)}
    rates = [*rate_records(part, level, smallest)]
    hidden = any(np.isnan(measure.people).any() for measure in part.measures.values())
    others = "all others are left out" if hidden else "there is no other group to compare with"
    for metric in _spoken(rates):
        known = [each for each in rates if each["metric"] == metric and each["value"] is not None]
        if not known:
            continue
        called = f"{CALLED[metric].capitalize()} by {part.attribute} ({about[metric]})"
        if metric in extremes:
            yield _from_lowest_to_highest(called, extremes[metric], known)
        else:
            yield f"{called}: {_at(known[0])}; {others}."
        if metric == "selection_rate" and metric in extremes:
            yield _screened([*screen_records(part, level, smallest)], part)
    if len(part.compared) > 1:
        yield from _gaps_to_reference([*gap_records(part, level, smallest)])
    few = [
        f"{name} ({int(people):,})"
        for name, people, size in zip(part.names, part.people, part.effective, strict=True)
        if size < smallest
    ]
    if few:
        told = "left out in part" if hidden else "reported as they are"
        yield (
            f"Fewer than {smallest} people (*) by {part.attribute}: {_listed(few)}. Their numbers "
            f"are {told}; read them with their intervals."
        )


def _spoken(records: Sequence[Record]) -> list[str]:
    """The metrics of these records that sentences are about; the base rate only at the worst."""
    there = {record["metric"] for record in records}
    return [each for each in SPOKEN if each in there] or [each for each in OPENING if each in there]


def page_tables(part: Partition, level: float, smallest: int) -> list[list[list[str]]]:
    """How are all groups shown on one page? Selection with intervals, then the rest in brief."""
    groups = [[part.attribute, *_marked(part, smallest)]]
    people = [["people", *(f"{int(count):,}" for count in part.people)]]
    brief = [
        [SHORT.get(metric, CALLED[metric]), *(written(number(each)) for each in measure.value)]
        for metric, measure in part.measures.items()
        if metric not in (*OPENING, *IMPLIED)
    ]
    opening = [*_selection_columns(part, level, smallest)]
    tables = [groups + people + opening, groups + brief] if opening else [groups + people + brief]
    return [[*map(list, zip(*table, strict=True))] for table in tables if len(table) > 1]


def _selection_columns(part: Partition, level: float, smallest: int) -> Iterator[list[str]]:
    for metric in OPENING:
        if metric in part.measures:
            low, high = part.measures[metric].interval(level)
            ends = zip(part.measures[metric].value, low, high, strict=True)
            yield [CALLED[metric], *(between(*map(number, each)) for each in ends)]
    if "selection_rate" in part.measures:
        screen = screen_records(part, level, smallest)
        ratios = (between(each["ratio"], each["low"], each["high"]) for each in screen)
        yield ["of highest", *ratios]


def _marked(part: Partition, smallest: int) -> list[str]:
    return [
        f"{name} *" if size < smallest else name
        for name, size in zip(part.names, part.effective, strict=True)
    ]


def _from_lowest_to_highest(called: str, found: Record, known: Sequence[Record]) -> str:
    by_name = {record["group"]: record for record in known}
    low, high = found["difference_low"], found["difference_high"]
    apart = f"{found['difference']:.3f} apart"
    if low is not None and high is not None:
        pairs = ", allowing for any pair of groups" if len(known) > 2 else ""
        apart += f" ({written(low)} to {written(high)}{pairs})"
    lowest, highest = by_name[found["lowest"]], by_name[found["highest"]]
    return f"{called}: lowest {_at(lowest)}, highest {_at(highest)}; {apart}."


def _gaps_to_reference(gaps: Sequence[Record]) -> Iterator[str]:
    """How far is each group from the reference, in what matters first?"""
    known = [gap for gap in gaps if None not in (gap["value"], gap["low"])]
    for first in _spoken(known)[:1]:
        listed = [
            f"{gap['group']} {gap['value']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})"
            for gap in known
            if gap["metric"] == first
        ]
        yield f"{CALLED[first].capitalize()} against {gaps[0]['reference']}: {_listed(listed)}."


def _at(record: Record) -> str:
    return f"{record['group']} {between(record['value'], record['low'], record['high'])}"


def between(value: float | None, low: float | None, high: float | None) -> str:
    """How is a number written with its interval?

    >>> between(0.25, 0.1, 0.4), between(1.0, 1.0, 1.0)
    ('0.250 (0.100 to 0.400)', '1.000')
    """
    if value is None:
        return "-"
    if low is None or high is None or low == high:
        return written(value)
    return f"{written(value)} ({written(low)} to {written(high)})"


def _screened(screen: Sequence[Record], part: Partition) -> str:
    """Which groups lie below four fifths, and of which does the interval leave it open?"""
    known = [each for each in screen if each["ratio"] is not None]
    if not known:
        return "Four-fifths screen: not defined, since nobody is selected."
    top, some = known[0]["highest"], known[0]["any_by_chance"]
    of = f", that of {top} ({int(part.people[part.names.index(top)]):,} people)"
    ratios = [
        f"{each['group']} {between(each['ratio'], each['low'], each['high'])}"
        for each in known
        if each["flagged"]
    ]
    said = said_of_screen(known, ratios, FOUR_FIFTHS, some, of)
    return f"Four-fifths screen by {part.attribute}: {said}"


def said_of_screen(
    rows: Sequence[Record], flagged: Sequence[str], limit: float, some: float, of: str = ""
) -> str:
    """Who lies below the limit, of whom the interval leaves it open, and what chance alone does."""
    below = f": {_listed(flagged)}" if flagged else ""
    unsure = [row["group"] for row in rows if "interval" in (row["reading"] or "")]
    wide = f" Intervals reach both sides of {limit:g} for {_listed(unsure)}." if unsure else ""
    each = [f"{row['group']} in {_share(row['by_chance'])}" for row in rows if row["flagged"]]
    named = f" ({_listed(each)})" if each else ""
    return (
        f"{len(flagged)} of {len(rows)} groups below {limit:g} of the highest rate{of}{below}."
        f"{wide} {by_chance(some)}{named}."
    )


def by_chance(some: float) -> str:
    """How often equal rates would lead to a flag, without a full stop.

    >>> print(by_chance(0.7102))
    Were all rates equal, chance alone would flag some group in 71% of tables with groups of these
    sizes
    """
    return (
        f"Were all rates equal, chance alone would flag some group in {_share(some)} of tables "
        "with groups of these sizes"
    )


def _share(chance: float) -> str:
    return f"{chance:.0%}" if chance >= 0.01 else "under 1%"


def _listed(items: Sequence[str]) -> str:
    """Items one after the other; names of groups may hold commas."""
    more = [f"and {len(items) - LISTED} more"] if len(items) > LISTED else []
    return "; ".join([*items[:LISTED], *more])
