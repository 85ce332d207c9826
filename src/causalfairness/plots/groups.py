"""Which groups are drawn, with which numbers? What the pictures of metrics are made of."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan

import numpy as np

from causalfairness.inference import Interval
from causalfairness.parity import GroupMetrics
from causalfairness.parity.metrics.partitions import Partition
from causalfairness.parity.metrics.records import FOUR_FIFTHS, is_below
from causalfairness.parity.metrics.sums import Shares
from causalfairness.plots.numbers import Unit


@dataclass(frozen=True)
class GroupRow:
    """What is drawn of one group? A value of None is that of nobody."""

    name: str
    value: float | None
    interval: Interval
    people: int
    is_small: bool

    @property
    def has_interval(self) -> bool:
        """Is it known how sure the value is?"""
        return not isnan(self.interval.low)


@dataclass(frozen=True)
class Division:
    """What is drawn of one way to divide people? `line` is four fifths of the highest rate."""

    attribute: str
    rows: tuple[GroupRow, ...]
    line: float | None
    is_rate: bool

    @property
    def known(self) -> list[GroupRow]:
        """Which groups have a value?"""
        return [row for row in self.rows if row.value is not None]

    @property
    def below(self) -> list[GroupRow]:
        """Which groups lie below four fifths of the highest rate?"""
        if self.line is None:
            return []
        highest = max(map(value_of, self.known))
        return [row for row in self.known if is_below(value_of(row) / highest)]

    @property
    def ends(self) -> list[float]:
        """Where do all values and intervals lie? Without those that have no end."""
        found = [end for row in self.known for end in (value_of(row), *row.interval)]
        return [end for end in found if np.isfinite(end)]


def divisions_of(metrics: GroupMetrics, metric: str, by: str | None) -> list[Division]:
    """What is drawn of a metric? By the attribute that is named, or by all that there are."""
    there = metrics.partitions[0].measures
    if metric not in there:
        why = metrics.absent.get(metric, f"there are {', '.join(there)}")
        raise ValueError(f"there is no {metric!r} to draw: {why}")
    return [_division(part, metrics, metric) for part in partitions_by(metrics, by)]


def partitions_by(metrics: GroupMetrics, by: str | None) -> list[Partition]:
    """By which attributes are people divided? By the one that is named, or by all."""
    found = [part for part in metrics.partitions if by is None or part.attribute == by]
    if not found:
        names = ", ".join(repr(part.attribute) for part in metrics.partitions)
        raise ValueError(f"people are not divided by {by!r}; there are {names}")
    return found


def value_of(row: GroupRow) -> float:
    """How large is the value of a group that has one?"""
    assert row.value is not None
    return row.value


def unit_of_divisions(shown: list[Division]) -> Unit:
    """Which unit do all rows share? Rates are written in percent."""
    values = [value_of(row) for each in shown for row in each.known]
    return Unit.of(values, percent=shown[0].is_rate)


def interval_text(row: GroupRow, unit: Unit) -> str:
    """How is an interval written? Not at all where there is none."""
    low, high = row.interval
    if not row.has_interval:
        return ""
    return "unbounded" if isinf(high) else f"{unit.level(low)} to {unit.level(high)}"


def _division(part: Partition, metrics: GroupMetrics, metric: str) -> Division:
    measure = part.measures[metric]
    low, high = measure.interval(metrics.level)
    rows = tuple(
        GroupRow(
            name,
            None if np.isnan(measure.value[at]) else float(measure.value[at]),
            Interval(float(low[at]), float(high[at])),
            int(measure.people[at]),
            bool(measure.total[at] < metrics.smallest),
        )
        for at, name in enumerate(part.names)
    )
    top = max((row.value for row in rows if row.value is not None), default=0.0)
    line = FOUR_FIFTHS * top if metric == "selection_rate" and top > 0 else None
    return Division(part.attribute, rows, line, isinstance(measure, Shares))
