"""Where does everyone stand, feature by feature? Places on strips, for pages and pictures.

A strip is one feature, drawn from left (0) to right (1): numbers by size, labels one beside the
other. A lane is one group on it. Who would be drawn on top of each other is stacked, declined
people first; a stack that grows too high spreads to both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from math import ceil
from typing import NamedTuple

from causalfairness.individuals.dossier import Dossier, Group, Peer, written
from causalfairness.tables.columns import Value

COLUMNS = 60  # places across a strip where people are stacked
LABELS = 8  # labels with a place of their own; the rest share the last one
MARGIN = 0.04
HIGHEST, WIDEST = 6, 8  # people in a stack, and stacks beside each other, before stacks get higher


class Mark(NamedTuple):
    """Where is one person drawn, and how?"""

    across: float  # 0 to 1
    level: int  # how many are below
    declined: bool
    name: str
    value: str


class Lane(NamedTuple):
    """Where do the people of one group stand on a feature, and their center?"""

    group: str
    marks: tuple[Mark, ...]
    center: float | None  # the person, or the counterfactual
    center_name: str
    missing: int = 0

    @property
    def height(self) -> int:
        """How many people are stacked, at most?"""
        return 1 + max((mark.level for mark in self.marks), default=0)


class Strip(NamedTuple):
    """How is one feature drawn?"""

    feature: str
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[float, str], ...]


def strips_of(found: Dossier) -> tuple[Strip, ...]:
    """Where does everyone stand, feature by feature?

    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> test = cf.situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> strips = strips_of(test.dossier(2))
    >>> [strip.feature for strip in strips], [lane.group for lane in strips[0].lanes]
    (['annual_salary', 'account_balance'], ['control group', 'test group'])
    """
    return tuple(_strip(found, at) for at in range(len(found.features)))


def _strip(found: Dossier, at: int) -> Strip:
    groups = [(found.control, found.fact), (found.test, found.otherwise or found.fact)]
    if found.plain is not None:
        groups.append((found.plain, found.fact))
    values = [value for group, center in groups for value in (*group.values(at), center.values[at])]
    scale = _scale(values)
    lanes = tuple(_lane(group, center, at, scale) for group, center in groups)
    return Strip(found.features[at], lanes, scale.ticks)


class _Scale(NamedTuple):
    """Which place has a value? Numbers between two ends, or labels in a row."""

    low: float
    high: float
    labels: tuple[str, ...]

    def place(self, value: Value) -> float | None:
        if isinstance(value, str):
            if value not in self.labels:
                return 1 - MARGIN
            at = self.labels.index(value)
            return MARGIN + (1 - 2 * MARGIN) * (at + 0.5) / len(self.labels)
        if value is None:
            return None
        span = self.high - self.low
        share = (value - self.low) / span if span > 0 else 0.5
        return MARGIN + (1 - 2 * MARGIN) * share

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        if self.labels:
            return tuple((self.place(label) or 0.0, label) for label in self.labels)
        ends = [self.low] if self.low == self.high else [self.low, self.high]
        return tuple((self.place(end) or 0.0, written(end)) for end in ends)


def _scale(values: Sequence[Value]) -> _Scale:
    words = sorted({value for value in values if isinstance(value, str)})
    if words:
        often = sorted(words, key=lambda word: (-values.count(word), word))[:LABELS]
        return _Scale(0.0, 1.0, tuple(sorted(often)))
    numbers = [value for value in values if isinstance(value, float)] or [0.0]
    return _Scale(min(numbers), max(numbers), ())


def _lane(group: Group, center: Peer, at: int, scale: _Scale) -> Lane:
    marks: list[Mark] = []
    heights: dict[int, int] = {}
    highest = max(HIGHEST, ceil(len(group) / WIDEST))
    for peer in sorted(group.peers, key=lambda peer: not peer.declined):
        across = scale.place(peer.values[at])
        if across is None:
            continue
        home = round(across * COLUMNS)
        column = next(place for place in _around(home) if heights.get(place, 0) < highest)
        level = heights.get(column, 0)
        heights[column] = level + 1
        shifted = min(max(across + (column - home) / COLUMNS, 0.0), 1.0)
        value = written(peer.values[at])
        marks.append(Mark(shifted, level, bool(peer.declined), peer.name, value))
    missing = sum(value is None for value in group.values(at))
    return Lane(group.name, tuple(marks), scale.place(center.values[at]), center.name, missing)


def _around(home: int) -> Iterator[int]:
    """The stack itself, then those beside it, on both sides in turn."""
    yield home
    for step in count(1):
        yield from (home + step, home - step)
