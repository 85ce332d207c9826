"""What the features alone say of predictions and groups: h and pi, stacked from several learners.

    h(z) = mean + sum_k c_k (h_k(z) - mean),        pi(a | z) = sum_k w_k pi_k(a | z)

Everything is learned from four fifths of the people and said of the last. The h_k are ridge
regression on smooth functions, splines, the best tree and boosting; c are the non-negative least
squares of predictions, divided by their sum where that is above 1. The pi_k are penalized logistic
regression, plain or with smooth functions, splines and the best tree; w are those under which the
groups are likeliest. A test is misled by what h and pi both miss, so they hold learners of their
own: one that follows an edge is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from causalfairness.inference import run_all
from causalfairness.invariance import candidates as by
from causalfairness.invariance.kernel_ridge import (
    Columns,
    regress,
    regress_by_group,
    smooth_functions,
    standardized,
)
from causalfairness.invariance.propensity import chances_of_groups
from causalfairness.invariance.reading import Array, Brought, Codes
from causalfairness.invariance.regressors import means_by, propensity_by
from causalfairness.invariance.scores import Judged, Split

FOLDS = 5
MOST_SPLINES = 8  # features; beyond, there are too many functions
LEAST, LIKELIEST = 0.005, 0.995  # chances
ROUNDS = 200  # of expectation and maximization


class Nuisances(NamedTuple):
    """What is expected of each person by the features alone, learned from others."""

    means: Array  # h, (people, models)
    chances: Array  # pi, (levels, people)


def learn_nuisances(
    brought: Brought, halves: Sequence[Codes], regressor: Any, propensity: Any, workers: int
) -> Nuisances:
    """Return h and pi of everybody, learned without their fold: stacked, or by the models given.

    >>> from causalfairness.invariance.reading import read
    >>> z, a = np.arange(80)[:, None] % 10, np.arange(80) % 4 == 0
    >>> halves = [np.arange(0, 40), np.arange(40, 80)]
    >>> learned = learn_nuisances(read(z > 4, a, z), halves, None, None, 1)
    >>> learned.means.shape, learned.chances.shape
    ((80, 1), (2, 80))
    """
    y, group, features = brought.predictions, brought.group, brought.features
    levels, folds = len(brought.levels), folds_of(halves, group)
    shared = partial(means_of_all, smooth_functions(features))
    means = shared if regressor is None else means_by(regressor, y)
    chances = chances_of_all if propensity is None else propensity_by(propensity)

    def held_out(fold: Codes) -> tuple[Array, Array]:
        rest = np.setdiff1d(np.arange(len(group)), fold)
        known = features[rest], group[rest]
        asked = features[fold], levels
        return means(*known, y[rest], *asked), chances(*known, *asked)

    found = run_all(held_out, folds, workers=workers, what="learning the regressions")
    places = np.argsort(np.concatenate(folds))
    h = np.concatenate([one for one, _ in found], axis=-2)[..., places, :]
    pi = np.concatenate([other for _, other in found], axis=-1)[..., places]
    return Nuisances(
        stack_means(h, y) if regressor is None else h,
        stack_chances(pi, group) if propensity is None else pi,
    )


def folds_of(halves: Sequence[Codes], group: Codes) -> list[Codes]:
    """Return who is left out together: a fifth of each half, its groups dealt out alike.

    >>> [fold.tolist() for fold in folds_of([np.arange(6), np.arange(6, 10)], np.arange(10) % 2)]
    [[0, 5, 6], [2, 8], [4, 7], [1, 9], [3]]
    """
    dealt = [half[np.argsort(group[half], kind="stable")] for half in halves]
    return [np.sort(np.concatenate([half[at::FOLDS] for half in dealt])) for at in range(FOLDS)]


def means_of_all(
    basis: Columns, features: Array, group: Codes, predictions: Array, unseen: Array, levels: int
) -> Array:
    """Return what each learner of h expects of unseen people, (candidates, people, models).

    `basis` holds smooth functions of the features. The last candidates are trees by size.

    >>> z, a = np.linspace(-1, 1, 80)[:, None], np.arange(80) % 2
    >>> told = means_of_all(smooth_functions(z), z, a, np.sign(z), np.array([[0.5]]), 2)
    >>> told.round(1).ravel().tolist()
    [1.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    z, asked = map(standardized(features), (features, unseen))
    groups, jumping = _indicators(group, levels), []
    for of_model in predictions.T:
        rows, others = by.with_indices(z, np.column_stack([of_model, groups]), asked)
        jumping.append(by.cut_means(rows, of_model, others))
    smooth = [regress(features, predictions, unseen, basis=basis)]
    if features.shape[1] <= MOST_SPLINES:
        smooth.append(by.spline_means(z, predictions, asked))
    return np.concatenate([smooth, np.stack(jumping, axis=2)])


def chances_of_all(features: Array, group: Codes, unseen: Array, levels: int) -> Array:
    """Return what each learner of pi says of unseen people, (candidates, levels, people).

    >>> z, a = np.linspace(-1, 1, 80)[:, None], np.arange(80) % 2
    >>> chances_of_all(z, a, np.array([[0.5]]), 2)[:, 1].round(1).ravel().tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.6]
    """
    z, asked = map(standardized(features), (features, unseen))
    rows, others = by.with_indices(z, _indicators(group, levels), asked)
    trees = by.tree_chances(rows, group, others, levels)
    smooth = [chances_of_groups(features, group, unseen, levels)]
    if features.shape[1] <= MOST_SPLINES:
        smooth.append(by.spline_chances(z, group, asked, levels))
    inside = np.clip(np.concatenate([smooth, trees]), LEAST, LIKELIEST)
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def _indicators(group: Codes, levels: int) -> Array:
    return np.asarray(group[:, None] == np.arange(int(levels == 2), levels), dtype=float)


def stack_means(held: Array, predictions: Array) -> Array:
    """Return h from what candidates expect, (candidates, people, models).

    >>> y = np.arange(8.0)[:, None]
    >>> stack_means(np.stack([y, *[0 * y] * 4]), y).ravel().round(6).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    loss = ((held - predictions) ** 2).mean(axis=1)
    found = np.empty_like(predictions)
    for at, y in enumerate(predictions.T):
        rows, mean = held[_with_best_tree(loss[:, at]), :, at].T, y.mean()
        shares = nnls(rows - mean, y - mean, maxiter=1_000)[0]
        found[:, at] = mean + (rows - mean) @ shares / max(1.0, float(shares.sum()))
    return found


def stack_chances(held: Array, group: Codes) -> Array:
    """Return pi from what candidates say, (candidates, levels, people).

    >>> right, wrong = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.1, 0.9], [0.9, 0.1]])
    >>> stack_chances(np.stack([right, *[wrong] * 4]), np.array([0, 1]))[1].round(2).tolist()
    [0.1, 0.9]
    """
    own = held[:, group, np.arange(len(group))]
    kept = _with_best_tree(-np.log(own).mean(axis=1))
    shares = np.full((len(kept), 1), 1 / len(kept))
    for _ in range(ROUNDS):
        mixed = shares * own[kept]
        shares = (mixed / mixed.sum(axis=0)).mean(axis=1, keepdims=True)
    return np.asarray(np.einsum("k,kln->ln", shares[:, 0], held[kept]))


def _with_best_tree(loss: Array) -> Codes:
    """Which candidates are stacked: of the trees, which are the last, the best one."""
    first = len(loss) - len(by.LEAVES)
    return np.asarray([*range(first), first + int(np.argmin(loss[first:]))])


def judged_beyond(brought: Brought, learned: Nuisances, split: Split) -> Judged:
    """Return what is expected of some people in each group: h, and what others deviate from it.

    >>> from causalfairness.invariance.reading import read
    >>> brought = read(np.arange(80) % 2, np.arange(80) % 2, np.zeros((80, 1)))
    >>> learned = Nuisances(np.full((80, 1), 0.5), np.full((2, 80), 0.5))
    >>> half = Split(np.arange(0, 80, 2), np.arange(1, 80, 2))
    >>> judged_beyond(brought, learned, half).expected[:, 0, 0].round(3).tolist()
    [0.0, 1.0]
    """
    others, judged = split
    left, chances = brought.predictions - learned.means, learned.chances[:, judged]
    features, group, levels = brought.features, brought.group, len(brought.levels)
    told = regress_by_group(features[others], group[others], left[others], features[judged], levels)
    expected = learned.means[judged] + told - np.einsum("anm,an->nm", told, chances)
    return Judged(brought.predictions[judged], group[judged], expected, chances)
