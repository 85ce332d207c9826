"""Reasons not to be sure of a finding: what the learners of h and pi leave behind, or cannot show.

With b_i = (g - h)_i times the mean of (prediction - h) over those who are alike, b has the mean 0
wherever h or pi is right, and that of the bias of d where neither is. "Alike" are all others as
near as the tenth nearest, by one feature, by two, or by all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import ndtri

from causalfairness.invariance.kernel_ridge import standardized
from causalfairness.invariance.reading import Array, Brought, Codes, sets_of
from causalfairness.invariance.result import Explained
from causalfairness.invariance.scores import Judged, means_of, studentized

NEAREST = 10
MOST_PAIRED = 20  # features; beyond, pairs of them are not looked at
MISTAKEN = 0.01  # chance of a doubt without reason, over all sets of features
COUNTS = 0.1  # of t, from which on deviations alike matter
FEW = (1, 2, 3, 5)  # people without whom a finding is to stand
NEARLY, WHOLLY, EXACTLY = 0.9, 0.999, 1 - 1e-6  # shares of the variance that features reproduce
ROUNDING = 1e-9  # of a distance
SHARED = 0.9  # of people, who must be alike in all features with somebody of the other group

ALIKE = (
    "people alike in {names} deviate alike in group and prediction: the learners have not settled"
)
HANDFUL = "it rests on a handful of people whose prediction the features almost fix"
LITTLE = "what the features leave open is no larger than the error of regressions"


def explained_by(brought: Brought, left: Array) -> Explained:
    """Return how far features reproduce predictions, by what they leave: prediction - h.

    Predictions are a function of the features where all but a millionth of their variance is
    reproduced, or where all who are alike in every feature have the same prediction, and nine in
    ten people are alike with somebody of another group.

    >>> from causalfairness.invariance.reading import read
    >>> z, a = np.arange(80)[:, None] // 8, np.arange(80) % 2
    >>> explained_by(read(z > 4, a, z), np.full((80, 1), 0.5)).function.tolist()
    [True]
    """
    y, alike, missed = brought.predictions, sets_of(brought.features), means_of(left**2)
    variance = np.where(np.ptp(y, axis=0) > 0, y.var(axis=0), 0.0)
    share = 1 - np.where(variance > 0, missed.value / np.where(variance > 0, variance, 1.0), 0.0)
    rows, people = np.argsort(alike, kind="stable"), np.bincount(alike)
    values, starts = np.column_stack([brought.group, y])[rows], np.cumsum(people) - people
    apart = np.maximum.reduceat(values, starts) != np.minimum.reduceat(values, starts)
    shared = people[apart[:, 0]].sum() >= SHARED * len(y)
    return Explained(share, *missed, (share >= EXACTLY) | (shared & ~apart[:, 1:].any(axis=0)))


def doubts_of(
    brought: Brought,
    left: Array,
    share: Array,
    halves: Sequence[tuple[Codes, Judged]],
    level: float,
) -> tuple[str, ...]:
    """Return for each model why a finding would not be sure; an empty text where it would be.

    `left` is prediction - h of everybody, `share` that of the variance that features reproduce;
    `halves` says who was judged, and how.

    >>> from causalfairness.invariance.reading import read
    >>> rng = np.random.default_rng(0)
    >>> z, a = rng.normal(size=(80, 1)), np.arange(80) % 2
    >>> brought = read(z + rng.normal(size=(80, 1)), a, z)
    >>> told = np.stack([-brought.predictions, brought.predictions])
    >>> judged = Judged(brought.predictions, brought.group, told, np.full((2, 80), 0.5))
    >>> doubts_of(brought, brought.predictions, np.zeros(1), [(np.arange(80), judged)], 0.95)
    ('',)
    """
    scores, said = [it.scores for _, it in halves], np.full(left.shape[1], "", dtype=object)
    t, errors = _mean_t(scores), [_error(half) for half in scores]
    sets = _sets_of_features(brought.features)
    worst = np.full(len(t), ndtri(1 - MISTAKEN / max(len(sets), 1)))
    for columns in sets:
        alike = mean_of_alike(brought.features[:, columns], left)
        bias = [it.of_own(it.apart) * alike[judged] for judged, it in halves]
        standing = studentized(means_of(np.concatenate(bias)))
        weight = [one.mean(axis=0) / error for one, error in zip(bias, errors, strict=True)]
        found = (standing > worst) & (np.mean(weight, axis=0) > COUNTS * t)
        said[found] = ALIKE.format(names=", ".join(brought.names[column] for column in columns))
        worst = np.where(found, standing, worst)
    said[(share >= NEARLY) & ~_survives(scores, level)] = HANDFUL
    said[share >= WHOLLY] = LITTLE
    return tuple(said.tolist())


def _error(scores: Array) -> Array:
    error = means_of(scores).error
    return np.where(error > 0, error, np.inf)


def _mean_t(scores: Sequence[Array]) -> Array:
    return np.asarray(np.mean([studentized(means_of(half)) for half in scores], axis=0))


def _survives(scores: Sequence[Array], level: float) -> NDArray[np.bool_]:
    """Whether t stays large when the most telling people of each half count as 0."""
    ordered = [np.sort(half, axis=0) for half in scores]
    less = [[np.vstack([half[:-few], 0 * half[-few:]]) for half in ordered] for few in FEW]
    return np.asarray(np.min([_mean_t(each) for each in less], axis=0) >= ndtri(level))


def _sets_of_features(features: Array) -> list[tuple[int, ...]]:
    """Every feature that varies, every pair of them unless there are too many, and all of them."""
    varied = np.flatnonzero(np.ptp(features, axis=0) > 0).tolist()
    sizes = {1, 2, len(varied)} if len(varied) <= MOST_PAIRED else {1, len(varied)}
    return [each for size in sorted(sizes - {0}) for each in combinations(varied, size)]


def mean_of_alike(features: Array, values: Array) -> Array:
    """Return the mean of each column of values over the others who are as near as the tenth.

    >>> z, y = np.repeat([0.0, 5.0], 11)[:, None], np.repeat([1.0, 2.0], 11)[:, None]
    >>> mean_of_alike(z, y)[[0, 21], 0].tolist()
    [1.0, 2.0]
    """
    place = sets_of(features)
    first, people = np.unique(place, return_index=True, return_counts=True)[1:]
    points = standardized(features)(features[first])
    tree, near = cKDTree(points), np.arange(1, min(NEAREST + 1, len(points)) + 1)
    distance, which = tree.query(points, near)
    enough = people[which].cumsum(axis=1) > NEAREST
    last = np.where(enough.any(axis=1), enough.argmax(axis=1), len(near) - 1)
    inside = tree.query_ball_point(points, distance[np.arange(len(points)), last] * (1 + ROUNDING))
    starts = np.cumsum([0, *map(len, inside[:-1])])
    sums = np.stack([np.bincount(place, column) for column in values.T], axis=1)
    total, many = (np.add.reduceat(each[np.concatenate(inside)], starts) for each in (sums, people))
    return np.asarray((total[place] - values) / (many[place] - 1)[:, None])
