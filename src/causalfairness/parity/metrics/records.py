"""How do the groups of a partition compare? Rows of tables: rates, gaps, ratios, extremes.

    gap      = metric of a group - metric of the reference
    ratio    = rate of a group / highest rate of a group
    extremes = highest - lowest, and lowest / highest, over all groups with such people

Gaps and ratios have the interval of that one comparison. Which two groups are farthest apart is
known only after looking, so the intervals of the extremes hold for all pairs of groups at once
(Bonferroni): the difference lies between the largest lower and the largest upper end of any pair,
the ratio between the smallest ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from causalfairness.inference.proportions import flag_chances
from causalfairness.parity.metrics.partitions import Partition
from causalfairness.parity.metrics.rows import Array, Positions
from causalfairness.parity.metrics.sums import Means, Shares
from causalfairness.parity.metrics.table import Record

FOUR_FIFTHS = 0.8
ROUNDING = 1e-12
NOBODY = "no such people"
HIDDEN = "left out, as it tells of few people"
NONE_SELECTED = "the highest rate is 0"
RATIO = ("ratio", "ratio_low", "ratio_high")
Extremes = tuple[Record, float]  # which groups are farthest apart, and how many people are in one


def rate_records(part: Partition, level: float, smallest: int) -> Iterator[Record]:
    """How large is every metric in every group?"""
    for metric, measure in part.measures.items():
        (low, high), sizes = measure.interval(level), _sizes(measure)
        for at, name in enumerate(part.names):
            yield {
                "by": part.attribute,
                "group": name,
                "metric": metric,
                "value": number(measure.value[at]),
                "low": number(low[at]),
                "high": number(high[at]),
                "people": None if np.isnan(measure.people[at]) else int(measure.people[at]),
                "effective": number(sizes[at]),
                "remark": remark_of(sizes[at], smallest=smallest),
            }


def gap_records(part: Partition, level: float, smallest: int) -> Iterator[Record]:
    """How far is every group from whom it is held against?"""
    for metric, measure in part.measures.items():
        against = part.against[metric]
        (low, high), sizes = measure.minus(against, level), _sizes(measure)
        for at in part.compared:
            yield {
                "by": part.attribute,
                "group": part.names[at],
                "reference": part.reference,
                "metric": metric,
                "value": number(measure.value[at] - against.value[0]),
                "low": number(low[at]),
                "high": number(high[at]),
                "remark": remark_of(sizes[at], _sizes(against)[0], smallest=smallest),
            }


def ratio_records(part: Partition, level: float, smallest: int) -> Iterator[Record]:
    """Which share of the highest rate does every group have?"""
    for metric, measure in part.measures.items():
        if not isinstance(measure, Shares) or np.isnan(measure.value).all():
            continue
        top = int(np.nanargmax(measure.value))
        highest = measure.value[top]
        (low, high), sizes = measure.over(measure.at([top]), level), _sizes(measure)
        for at, name in enumerate(part.names):
            itself = at == top and highest > 0  # no comparison of two groups, and no interval
            remark = remark_of(sizes[at], sizes[top], smallest=smallest)
            yield {
                "by": part.attribute,
                "group": name,
                "highest": part.names[top],
                "metric": metric,
                "value": number(measure.value[at] / highest) if highest > 0 else None,
                "low": 1.0 if itself else number(low[at]),
                "high": 1.0 if itself else number(high[at]),
                "remark": remark if highest > 0 or remark in (NOBODY, HIDDEN) else NONE_SELECTED,
            }


def screen_records(part: Partition, level: float, smallest: int) -> Iterator[Record]:
    """Which groups are selected at less than four fifths of the highest rate?"""
    selection = part.measures["selection_rate"]
    each, some = chances_of(part)
    ratios = ratio_records(part, level, smallest)
    of_selection = [ratio for ratio in ratios if ratio["metric"] == "selection_rate"]
    for at, ratio in enumerate(of_selection):
        value, low, high = (ratio[name] for name in ("value", "low", "high"))
        below = None if value is None else is_below(value)
        yield {
            "by": part.attribute,
            "group": ratio["group"],
            "people": int(part.people[at]),
            "selection_rate": number(selection.value[at]),
            "highest": ratio["highest"],
            "ratio": value,
            "low": low,
            "high": high,
            "flagged": below,
            "by_chance": None if value is None else float(each[at]),
            "any_by_chance": None if value is None else some,
            "reading": reading_of(below, low, high, FOUR_FIFTHS) or "not defined",
            "remark": ratio["remark"],
        }


def extreme_records(part: Partition, level: float, smallest: int) -> Iterator[Record]:
    """How far apart are the groups at most?"""
    for metric, (found, fewest) in _all_extremes(part, level).items():
        remark = remark_of(fewest, smallest=smallest)
        yield {"by": part.attribute, "metric": metric, **found, "remark": remark}


def calibration_records(part: Partition, level: float, smallest: int) -> Iterator[Record]:
    """How often does a score come true, per group and bin?"""
    assert part.calibration is not None
    found = part.calibration
    score, observed = found.score, found.observed
    low, high = found.interval(level)
    size = found.effective
    for at, name in enumerate(part.names):
        if not found.rows[at].any():  # hidden
            continue
        for nth in range(len(found.edges) - 1):
            yield {
                "by": part.attribute,
                "group": name,
                "bin": nth + 1,
                "above": float(found.edges[nth]),
                "up_to": float(found.edges[nth + 1]),
                "people": int(found.rows[at, nth]),
                "mean_score": number(score[at, nth]),
                "observed_rate": number(observed[at, nth]),
                "low": number(low[at, nth]),
                "high": number(high[at, nth]),
                "remark": remark_of(size[at, nth], smallest=smallest),
            }


def _all_extremes(part: Partition, level: float) -> dict[str, Extremes]:
    several = {  # where there are two to be compared
        metric: known
        for metric, measure in part.measures.items()
        if len(known := np.flatnonzero(~np.isnan(measure.value))) > 1
    }
    found = {metric: _extremes(part, metric, known, level) for metric, known in several.items()}
    if "tpr" in found and "fpr" in found:
        odds = (_extremes(part, rate, several[rate], level, questions=2) for rate in ("tpr", "fpr"))
        found["equalized_odds"] = _worst([*odds])
    return found


def _extremes(
    part: Partition, metric: str, known: Positions, level: float, *, questions: int = 1
) -> Extremes:
    """The two groups farthest apart, and how many people are in the smaller of them."""
    measure = part.measures[metric]
    value = measure.value[known]
    top, bottom = known[np.argmax(value)], known[np.argmin(value)]
    pairs = len(known) * (len(known) - 1) / 2 * questions
    strict = 1 - (1 - level) / pairs
    rows, columns = measure.at(known[:, None]), measure.at(known[None, :])
    apart = ~np.eye(len(known), dtype=bool)
    low, high = rows.minus(columns, strict)
    most = 1.0 if isinstance(rows, Shares) else np.inf
    found = {
        "highest": part.names[top],
        "lowest": part.names[bottom],
        "difference": float(value.max() - value.min()),
        "difference_low": max(0.0, float(low[apart].max())),
        "difference_high": min(most, float(high[apart].max())),
        **dict.fromkeys(RATIO),
    }
    if isinstance(rows, Shares) and isinstance(columns, Shares) and value.max() > 0:
        low, high = rows.over(columns, strict)
        ends = float(low[apart].min()), min(1.0, float(high[apart].min()))
        found |= dict(zip(RATIO, (float(value.min() / value.max()), *ends), strict=True))
    return found, float(min(measure.total[top], measure.total[bottom]))


def _worst(odds: list[Extremes]) -> Extremes:
    """Equalized odds: the larger of the two differences, the smaller of the two ratios."""
    widest, fewest = max(odds, key=lambda each: each[0]["difference"])
    both = [found for found, _ in odds]
    ends = {key: max(each[key] for each in both) for key in ("difference_low", "difference_high")}
    known = all(each["ratio"] is not None for each in both)
    least = {key: min(each[key] for each in both) if known else None for key in RATIO}
    return {**widest, **ends, **least}, fewest


def chances_of(part: Partition) -> tuple[Array, float]:
    """How often chance alone would put each group, and any of them, below four fifths."""
    selection = part.measures["selection_rate"]
    assert isinstance(selection, Shares)
    return flag_chances(selection.hits, selection.total, FOUR_FIFTHS)


def reading_of(
    below: bool | None, low: float | None, high: float | None, limit: float | None
) -> str | None:
    """What a screen says of a ratio, and whether the data leave it open.

    >>> reading_of(True, 0.6, 0.9, 0.8), reading_of(False, 0.9, 1.1, 0.8)
    ('below, interval reaches 0.8', 'not below')
    """
    if below is None or low is None or high is None or limit is None:
        return None
    if below:
        return "below" if high < limit else f"below, interval reaches {limit:g}"
    return "not below" if low >= limit else f"not below, interval reaches under {limit:g}"


def is_below(ratio: float) -> bool:
    """Is a ratio below four fifths, by more than rounding?

    >>> is_below((28 / 100) / (35 / 100)), is_below(0.79)
    (False, True)
    """
    return ratio < FOUR_FIFTHS - ROUNDING


def remark_of(*sizes: float, smallest: int) -> str:
    """What is remarked of a number that rests on so many people."""
    if np.isnan(sizes).any():
        return HIDDEN
    if not min(sizes) > 0:
        return NOBODY
    return f"fewer than {smallest} people" if min(sizes) < smallest else ""


def _sizes(measure: Shares | Means) -> Array:
    """On how many people each number rests; NaN where it is hidden."""
    return np.where(np.isnan(measure.people), np.nan, measure.total)


def number(value: Any) -> float | None:
    """What is a number as plain data? None where there is none.

    >>> number(np.float64(0.5)), number(np.nan)
    (0.5, None)
    """
    return None if np.isnan(value) else float(value)
