"""How far apart are two people, when some of their features are numbers and some are words?

    mixed          mean over features of |x - x'| / range (numbers) or [x != x'] (categories)
    standardized   (categories that differ + sum |z - z'|) / features, the published variant

A missing value is at distance 1 from anything, another missing value included. Ranges are those
of one table, the factual one, and are used for all points that are compared: a number beyond them
may be farther away than 1. A number that never varies in that table has range 0 and counts as a
category: at distance 0 from an equal value, 1 from any other.

Every distance here is a sum over features, and is handed to the search as such (`Terms`), with the
`Rule` by which such sums are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causalfairness.errors import MissingValuesError, NeighborError, WeightError

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
Truths = NDArray[np.bool_]
MISSING = -1  # the code of a missing category
LARGEST = np.iinfo(np.int32).max  # code
STEPS = 1e9  # steps of rounding in a unit of distance
HALF = 0.500002  # halves are rounded up, also those that float noise puts a little below


@dataclass(frozen=True, eq=False)
class Points:
    """Which people are compared, and by which features?

    `numbers` has one row per person and NaN where a number is missing, `codes` the categories as
    whole numbers from 0, and -1 where one is missing. Points that are compared use the same codes.

    >>> people = Points(np.array([[1.0], [2.0], [np.nan]]), np.array([[0], [1], [-1]]))
    >>> len(people), people.features
    (3, 2)
    """

    numbers: Array  # (n, p)
    codes: Codes  # (n, q)

    def __post_init__(self) -> None:
        numbers, codes = np.asarray(self.numbers, dtype=float), np.asarray(self.codes)
        if numbers.ndim != 2 or codes.ndim != 2 or len(numbers) != len(codes):
            raise NeighborError(
                f"found numbers of shape {numbers.shape} and codes of shape {codes.shape}; "
                "expected two tables with one row per person, (n, 0) without such features"
            )
        if np.isinf(numbers).any():
            row, column = np.argwhere(np.isinf(numbers))[0]
            raise NeighborError(
                f"number {column} of row {row} is {numbers[row, column]}; expected finite numbers, "
                "or NaN where one is missing"
            )
        whole = codes.dtype.kind in "iu"
        if codes.size and not (whole and codes.min() >= MISSING and codes.max() <= LARGEST):
            raise NeighborError(
                f"codes are {codes.dtype} from {codes.min()} up to {codes.max()}; expected whole "
                f"numbers from 0 to {LARGEST}, or {MISSING} where a category is missing"
            )
        object.__setattr__(self, "numbers", numbers)
        object.__setattr__(self, "codes", codes.astype(np.int32, copy=False))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, int]:
        """How many numbers and how many categories are there?"""
        return self.numbers.shape[1], self.codes.shape[1]

    @property
    def features(self) -> int:
        """How many features are compared?"""
        return sum(self.shape)

    def take(self, rows: Truths | Positions | slice) -> Points:
        """Which are these people alone?"""
        return Points(self.numbers[rows], self.codes[rows])


@dataclass(frozen=True, eq=False)
class Terms:
    """Which sum is the distance of a candidate from a query?

        distance = (sum |u - v| + sum of penalties of categories that differ) / divisor

    u and v are the scaled numbers of both; where one of them is missing, the penalty of that
    number stands for |u - v|. Ties are distances that are equal after rounding, where there is
    some; they go to the smaller position, or to the larger one.

    >>> one = Points(np.array([[0.25]]), np.array([[0]]))
    >>> terms = Terms(one, one, penalties=np.array([0.5, 0.5]))
    >>> terms.divisor, terms.rounded, terms.larger_first
    (1.0, True, False)
    """

    candidates: Points
    queries: Points
    penalties: Array  # (p + q,)
    divisor: float = 1.0
    rounded: bool = True
    larger_first: bool = False

    def __post_init__(self) -> None:
        mine, theirs = self.candidates.shape, self.queries.shape
        if mine != theirs:
            raise NeighborError(
                f"candidates have {mine[0]} numbers and {mine[1]} categories, queries {theirs[0]} "
                f"and {theirs[1]}; expected the same features in the same order"
            )
        sound = np.isfinite(self.penalties).all() and (self.penalties >= 0).all()
        if self.penalties.shape != (sum(mine),) or not sound or not 0 < self.divisor < np.inf:
            raise NeighborError(
                f"found the penalties {self.penalties.tolist()} and the divisor {self.divisor}; "
                f"expected {sum(mine)} finite penalties >= 0 and a finite divisor > 0"
            )


class Rule(NamedTuple):
    """How is a sum over features turned into a key, and how far away may neighbors be?

        key = floor(sum * steps + HALF), or sum / divisor where distances are not rounded

    Candidates are compared by their keys, and by their ranks where keys are equal.
    """

    penalties: Array  # (p + q,)
    divisor: float
    steps: float  # of rounding in a unit of the sum; 0 where distances are not rounded
    limit: float  # the largest key of a neighbor


def rule_of(terms: Terms, within: float) -> Rule:
    """How are these distances compared?

    >>> one = Points(np.zeros((1, 1)), np.zeros((1, 0), np.int32))
    >>> rule_of(Terms(one, one, penalties=np.ones(1)), within=0.1).limit
    100000000.0
    """
    penalties = np.require(terms.penalties, float, ("C", "W"))
    if terms.rounded:
        steps, limit = STEPS / terms.divisor, float(np.floor(within * STEPS + HALF))
    else:
        steps, limit = 0.0, float(within)
    return Rule(penalties, float(terms.divisor), float(steps), limit)


class Distance(Protocol):
    """How is a distance told to the search?"""

    def terms(self, candidates: Points, queries: Points) -> Terms:
        """Which sum is the distance of a candidate from a query?"""
        ...


@dataclass(frozen=True, eq=False)
class MixedDistance:
    """How far apart are two people on average over their features, between 0 and 1 each?

    `ranges` has one entry per number, `weights` one per number, then one per category; a feature of
    weight 0 is not looked at. `mixed_distance` reads both from a table.

    >>> people = Points(np.array([[0.0], [5.0]]), np.array([[0], [1]]))
    >>> distance = MixedDistance(ranges=np.array([10.0]), weights=np.ones(2))
    >>> distance.terms(people, people).candidates.numbers.ravel().tolist()
    [0.0, 0.25]
    """

    ranges: Array  # (p,)
    weights: Array  # (p + q,)

    def __post_init__(self) -> None:
        ranges, weights = np.asarray(self.ranges, float), np.asarray(self.weights, float)
        if not (np.isfinite(ranges).all() and (ranges >= 0).all()):
            raise NeighborError(f"found the ranges {ranges.tolist()}; expected finite numbers >= 0")
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise WeightError(
                f"found the weights {weights.tolist()} of the features; expected numbers, none "
                "negative, at least one of them above 0"
            )
        object.__setattr__(self, "ranges", ranges)
        object.__setattr__(self, "weights", weights)

    def terms(self, candidates: Points, queries: Points) -> Terms:
        """Which sum is the distance of a candidate from a query?"""
        p = len(self.ranges)
        for points in (candidates, queries):
            if points.shape != (p, len(self.weights) - p):
                raise NeighborError(
                    f"the distance is of {p} numbers and {len(self.weights) - p} categories; found "
                    f"points of {points.shape[0]} numbers and {points.shape[1]} categories"
                )
        shares = self.weights / self.weights.sum()
        scaled = np.flatnonzero((self.ranges > 0) & (shares[:p] > 0))
        constant = np.flatnonzero((self.ranges == 0) & (shares[:p] > 0))
        worded = np.flatnonzero(shares[p:] > 0)
        numbers = _scaled(candidates, queries, scaled, self.ranges, shares)
        codes = _coded(candidates, queries, constant, worded)
        kept = np.concatenate([scaled, p + worded, constant])
        return Terms(
            candidates=Points(numbers[0], codes[0]),
            queries=Points(numbers[1], codes[1]),
            penalties=shares[kept],
        )


def _scaled(
    candidates: Points, queries: Points, columns: Positions, ranges: Array, shares: Array
) -> tuple[Array, Array]:
    """Numbers in units of the distance, from the smallest candidate on, so that little is lost."""
    found = candidates.numbers[:, columns], queries.numbers[:, columns]
    origin = _least(found[0])
    for values in found:
        with np.errstate(over="ignore"):
            values -= origin
            values /= ranges[columns]
            values *= shares[columns]
    if any(np.isinf(values).any() for values in found):
        raise NeighborError(
            "some numbers are too many ranges apart for floating point; expected "
            "ranges of the size that numbers differ by"
        )
    return found


def _coded(
    candidates: Points, queries: Points, constant: Positions, worded: Positions
) -> tuple[Codes, Codes]:
    """Categories, then numbers that never vary, each value being a category of its own."""
    mine, theirs = [candidates.codes[:, worded]], [queries.codes[:, worded]]
    for column in constant:
        values = np.concatenate([candidates.numbers[:, column], queries.numbers[:, column]])
        codes = np.unique(values, return_inverse=True)[1].astype(np.int32)
        codes[np.isnan(values)] = MISSING
        mine.append(codes[: len(candidates), None])
        theirs.append(codes[len(candidates) :, None])
    return np.hstack(mine), np.hstack(theirs)


def mixed_distance(points: Points, weights: ArrayLike | None = None) -> MixedDistance:
    """How far apart are people, relative to how far apart people in this table can be?

    Ranges are taken from `points`, the factual table; without `weights` all features count alike.

    >>> people = Points(np.array([[1.0, 7.0], [3.0, 7.0]]), np.array([[0], [1]]))
    >>> mixed_distance(people).ranges.tolist()
    [2.0, 0.0]
    """
    with np.errstate(over="ignore"):  # an infinite range is refused
        ranges = -_least(-points.numbers) - _least(points.numbers)
    return MixedDistance(
        ranges=ranges,
        weights=np.ones(points.features) if weights is None else np.asarray(weights, float),
    )


def _least(numbers: Array) -> Array:
    """The smallest number of each column; 0 where all are missing."""
    least = np.min(np.where(np.isnan(numbers), np.inf, numbers), axis=0, initial=np.inf)
    return np.asarray(np.where(np.isinf(least), 0.0, least))


@dataclass(frozen=True, eq=False)
class StandardizedDistance:
    """How far apart did the published experiments find two people? A replication setting.

        distance = (categories that differ + sum |z - z'|) / features

    of points that were standardized by their own table first (`standardized`). Distances are
    compared as the floating-point numbers that they are, and ties go to the larger position.
    `features` is how many were declared; by default all there are.

    >>> people = standardized(Points(np.array([[1.0], [3.0]]), np.zeros((2, 0), np.int32)))
    >>> StandardizedDistance(features=3).terms(people, people).divisor
    3.0
    """

    features: int | None = None

    def terms(self, candidates: Points, queries: Points) -> Terms:
        """Which sum is the distance of a candidate from a query?"""
        return Terms(
            candidates=candidates,
            queries=queries,
            penalties=np.ones(candidates.features),
            divisor=float(candidates.features if self.features is None else self.features),
            rounded=False,
            larger_first=True,
        )


def standardized(points: Points) -> Points:
    """How many standard deviations of its own table is each number above the mean?

    >>> table = Points(np.array([[1.0], [3.0]]), np.zeros((2, 0), np.int32))
    >>> standardized(table).numbers.ravel().tolist()
    [-1.0, 1.0]
    """
    if np.isnan(points.numbers).any():
        raise MissingValuesError(
            "numbers are missing, and the published variant has no rule for that; leave those rows "
            "out, or use the mixed distance"
        )
    columns = [np.ascontiguousarray(column) for column in points.numbers.T]
    for at, column in enumerate(columns):
        if (column == column[:1]).all():
            raise NeighborError(
                f"number {at} is the same for everyone, so it has no standard deviations to be "
                "measured in; leave it out, or use the mixed distance"
            )
    scores = [(column - np.mean(column)) / np.sqrt(np.var(column)) for column in columns]
    return Points(np.array(scores).T.reshape(points.numbers.shape), points.codes)
