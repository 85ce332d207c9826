"""How large is each metric in each group, and how sure are we? From sums made in one pass.

A rate is a share of hits among some people, both told by outcome (row) and decision (column):

    tpr = P(decided + | outcome +)      ppv = P(outcome + | decided +)      accuracy = P(equal)

so that all of them follow from the four cells of each group. Sums of groups are the sums of larger
groups: those of one attribute are made from those of the intersections.

Rates have Wilson intervals, their ratios log-normal ones (Katz), their differences those of two
more people in either group, as decompositions have; with weights, the effective size (Kish) takes
the place of the number of people. Means have normal intervals. Differences are first minus second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.inference import (
    Bounds,
    added_people_interval,
    effective_size,
    ratio_interval,
    wilson_interval,
)
from causalfairness.inference.intervals import normal_reach
from causalfairness.parity.metrics.calibration import Calibration, calibrate
from causalfairness.parity.metrics.decisions import Decision
from causalfairness.parity.metrics.rows import Array, Mask, People

ROUNDING = 1e-9
ANYONE: Mask = np.ones((2, 2), dtype=bool)
POSITIVE: Mask = np.array([[False, False], [True, True]])  # by the outcome
DECIDED: Mask = np.array([[False, True], [False, True]])


class Rate(NamedTuple):
    """Which cells are hits, and among which? Both of [outcome, decided]."""

    hits: Mask
    among: Mask


RATES = {
    "selection_rate": Rate(DECIDED, ANYONE),
    "base_rate": Rate(POSITIVE, ANYONE),
    "accuracy": Rate(POSITIVE == DECIDED, ANYONE),
    "tpr": Rate(DECIDED, POSITIVE),
    "fpr": Rate(DECIDED, ~POSITIVE),
    "fnr": Rate(~DECIDED, POSITIVE),
    "tnr": Rate(~DECIDED, ~POSITIVE),
    "ppv": Rate(POSITIVE, DECIDED),
    "npv": Rate(~POSITIVE, ~DECIDED),
}


@dataclass(frozen=True, eq=False)
class Shares:
    """How large is a rate in every group? NaN where there is nobody to have one.

    `hits` and `total` count people by their weight, scaled to the effective size; `people` counts
    those the rate is about.

    >>> found = Shares(np.array([8.0, 0.0]), np.array([10.0, 0.0]), np.array([10.0, 0.0]))
    >>> found.value.tolist()
    [0.8, nan]
    """

    hits: Array
    total: Array
    people: Array

    @property
    def value(self) -> Array:
        """How large is the rate?"""
        empty = np.full(self.total.shape, np.nan)
        return np.asarray(np.divide(self.hits, self.total, out=empty, where=self.total > 0))

    def interval(self, level: float) -> Bounds:
        """Which rates fit the data?"""
        return self._where_known(wilson_interval(self.hits, self.total, level))

    def minus(self, other: Any, level: float) -> Bounds:
        """Which differences fit the data?"""
        found = added_people_interval(self.hits, self.total, other.hits, other.total, level)
        return self._where_known(found, other)

    def over(self, other: Shares, level: float) -> Bounds:
        """Which ratios fit the data?"""
        found = ratio_interval(self.hits, self.total, other.hits, other.total, level)
        return self._where_known(found, other)

    def at(self, groups: Any) -> Shares:
        """How large is the rate in these groups?"""
        return Shares(self.hits[groups], self.total[groups], self.people[groups])

    def _where_known(self, found: Bounds, other: Shares | None = None) -> Bounds:
        known = (self.total > 0) & (True if other is None else other.total > 0)
        return Bounds(np.where(known, found.low, np.nan), np.where(known, found.high, np.nan))


@dataclass(frozen=True, eq=False)
class Means:
    """How large is a mean in every group? Of one person alone the standard error is infinite.

    >>> nine = np.array([9.0])
    >>> low, high = Means(np.array([1.0]), np.array([0.5]), nine, nine).interval(0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.02], [1.98])
    """

    value: Array
    standard_error: Array
    total: Array  # effective size
    people: Array

    def interval(self, level: float) -> Bounds:
        """Which means fit the data?"""
        reach = normal_reach(level) * self.standard_error
        return Bounds(self.value - reach, self.value + reach)

    def minus(self, other: Any, level: float) -> Bounds:
        """Which differences fit the data?"""
        error = np.hypot(self.standard_error, other.standard_error)
        reach = normal_reach(level) * error
        return Bounds(self.value - other.value - reach, self.value - other.value + reach)

    def at(self, groups: Any) -> Means:
        """How large is the mean in these groups?"""
        parts = self.value, self.standard_error, self.total, self.people
        return Means(*(part[groups] for part in parts))


Measure = Shares | Means


@dataclass(frozen=True, eq=False)
class Sums:
    """What do the rows of each group add up to? Groups come first in every array."""

    people: Array  # (groups, 3): rows, w, w squared
    cells: Array | None  # (groups, 3, outcome, decided): the same, cell by cell
    moments: Mapping[str, Array]  # (groups, 3): w x, w^2 x, w^2 x^2 of each averaged value
    centers: Mapping[str, float]  # subtracted from the values first
    calibration: Calibration | None

    def merge(self, member: Array) -> Sums:
        """What do groups amount to together? `member` is (merged groups, groups) of 0 and 1."""

        def merged(sums: Array) -> Array:
            return np.asarray(np.tensordot(member, sums, axes=(1, 0)))

        return Sums(
            people=merged(self.people),
            cells=None if self.cells is None else merged(self.cells),
            moments={name: merged(sums) for name, sums in self.moments.items()},
            centers=self.centers,
            calibration=None if self.calibration is None else self.calibration.merge(member),
        )


def add_up(people: People, decision: Decision, *, bins: int) -> Sums:
    """What do the rows of each group add up to? One pass over the rows per sum."""
    groups, group, w = len(people.groups), people.group, people.weights
    cells = None
    if decision.decided is not None:
        positive = 0 if decision.positive is None else decision.positive
        code = group * 4 + positive * 2 + decision.decided
        cells = _counted(code, 4 * groups, w).reshape(3, groups, 2, 2).transpose(1, 0, 2, 3)
    moments, centers = {}, {}
    for name, values in decision.values.items():
        centers[name] = center = float(values.mean())
        moments[name] = _moments(group, groups, values - center, w)
    calibration = None
    if decision.score is not None and people.outcome is not None:
        came = people.outcome == 1
        calibration = calibrate(decision.score, came, group, w, groups, bins=bins)
    return Sums(_counted(group, groups, w).T, cells, moments, centers, calibration)


def measures_of(sums: Sums, decision: Decision) -> dict[str, Measure]:
    """How large is each metric in each group?"""
    found: dict[str, Measure] = {}
    for name in decision.rates:
        assert sums.cells is not None
        found[name] = _shares(sums.cells, RATES[name])
    for name, moments in sums.moments.items():
        found[name] = _means(sums.people, moments, sums.centers[name])
    if "rmse" in found:
        found["rmse"] = _root(found["rmse"])
    if sums.calibration is not None and sums.calibration.of_chances:
        off = sums.calibration.expected_error()
        unknown = np.full(off.shape, np.nan)
        size = effective_size(sums.people[:, 1], sums.people[:, 2])
        found["calibration_error"] = Means(off, unknown, size, sums.people[:, 0])
    return found


def _counted(code: NDArray[np.int64], length: int, w: Array | None) -> Array:
    """Rows, sums of weights and of their squares. (3, length)"""
    rows = np.bincount(code, minlength=length).astype(float)
    if w is None:
        return np.stack([rows, rows, rows])
    return np.stack([rows, *(np.bincount(code, each, minlength=length) for each in (w, w * w))])


def _moments(group: NDArray[np.int64], groups: int, x: Array, w: Array | None) -> Array:
    if w is None:
        first, second = (np.bincount(group, each, minlength=groups) for each in (x, x * x))
        return np.stack([first, first, second], axis=1)
    parts = (w * x, w * w * x, (w * x) ** 2)
    return np.stack([np.bincount(group, part, minlength=groups) for part in parts], axis=1)


def _shares(cells: Array, rate: Rate) -> Shares:
    rows, w, w2 = (cells[:, kind][:, rate.among].sum(axis=1) for kind in range(3))
    hits = cells[:, 1][:, rate.hits & rate.among].sum(axis=1)
    size = effective_size(w, w2)
    scale = np.divide(size, w, out=np.zeros_like(w), where=w > 0)
    return Shares(np.minimum(hits * scale, size), size, rows)


def _means(people: Array, moments: Array, center: float) -> Means:
    """The mean, and its standard error from the spread of w (x - mean) over the rows."""
    rows, w, w2 = people.T
    wx, w2x, w2x2 = moments.T
    mean = np.divide(wx, w, out=np.full_like(w, np.nan), where=w > 0)
    size = effective_size(w, w2)
    several = size > 1 + ROUNDING
    spread = np.maximum(w2x2 - 2 * mean * w2x + mean**2 * w2, 0.0)
    scale = np.divide(size, size - 1, out=np.full_like(w, np.inf), where=several)
    error = np.where(several, np.sqrt(spread) / w, 1.0) * np.sqrt(scale)
    return Means(mean + center, error, size, rows)


def _root(squares: Measure) -> Means:
    """The root of a mean square, and its standard error by linearization."""
    assert isinstance(squares, Means)
    root = np.sqrt(squares.value)
    error = np.divide(squares.standard_error, 2 * root, out=np.zeros_like(root), where=root > 0)
    return Means(root, error, squares.total, squares.people)
