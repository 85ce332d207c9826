"""Which learner predicts unseen people best, and what does it say about each person?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import LearnerLoss
from causalfairness.errors import SmallGroupError
from causalfairness.estimators.fit_memory import solve_once
from causalfairness.estimators.learners import (
    Learner,
    fit,
    is_classifier,
    loss_of,
    predict_mean,
)
from causalfairness.inference import run_all

Array = NDArray[np.float64]
Folds = NDArray[np.int64]
Mask = NDArray[np.bool_]
FEWEST_ROWS_PER_FOLD = 2


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be predicted from what, by whom, and learned from which rows?

    `target` has one value per row, or one per fold and row where it comes from models fitted
    without that fold. Every fold's model also predicts the rows in `also`.
    """

    name: str
    features: Array
    target: Array
    learners: Sequence[Learner]
    rows: Mask
    also: Mask | None = None

    def target_without(self, fold: int) -> Array:
        """What is the target of the model that must not see this fold?"""
        return self.target if self.target.ndim == 1 else self.target[fold]


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """What does the best candidate say about unseen people?"""

    unseen: Array  # (n,) each row by the model that has not seen its fold
    by_fold: Array  # (folds, n) each fold's model, where asked for; NaN elsewhere
    loss: LearnerLoss

    @property
    def nbytes(self) -> int:
        """How many bytes do the predictions take?"""
        return self.unseen.nbytes + self.by_fold.nbytes


def assign_folds(group: NDArray[np.int8], folds: int, rng: np.random.Generator) -> Folds:
    """Which fold is each person in? Both groups are spread evenly over all folds.

    >>> group = np.array([0] * 6 + [1] * 4, dtype=np.int8)
    >>> fold = assign_folds(group, 2, np.random.default_rng(0))
    >>> np.bincount(fold[group == 0]).tolist(), np.bincount(fold[group == 1]).tolist()
    ([3, 3], [2, 2])
    """
    fold = np.empty(len(group), dtype=np.int64)
    for g in (0, 1):
        inside = np.flatnonzero(group == g)
        if len(inside) < FEWEST_ROWS_PER_FOLD * folds:
            raise SmallGroupError(
                f"the {('reference', 'comparison')[g]} group has {len(inside)} rows, too few for "
                f"{folds} folds; it needs at least {FEWEST_ROWS_PER_FOLD * folds}"
            )
        fold[inside] = rng.permutation(len(inside)) % folds
    return fold


def cross_fit(
    problems: Sequence[Problem], fold: Folds, weights: Array | None, workers: int
) -> list[CrossFitted]:
    """What do models fitted on the other folds say, problem by problem?

    Within `remembered_fits` a problem that was solved before is not solved again.
    """

    def solve(new: Sequence[Problem]) -> list[CrossFitted]:
        if not new:
            return []
        predict = partial(_predict_fold, new, fold, weights)
        folds = range(int(fold.max()) + 1)
        fitted = run_all(predict, folds, workers=workers, what="fitting nuisance models")
        return [
            _best(problem, fold, [of_fold[at] for of_fold in fitted], weights)
            for at, problem in enumerate(new)
        ]

    return solve_once(solve, problems, fold, weights)


def _predict_fold(
    problems: Sequence[Problem], fold: Folds, weights: Array | None, left_out: int
) -> list[Array]:
    """Predictions of every problem's candidates for the rows in `_predicted_rows`."""
    results = []
    for problem in problems:
        train = np.flatnonzero(problem.rows & (fold != left_out))
        target = problem.target_without(left_out)[train]
        w = None if weights is None else weights[train]
        x = problem.features[train]
        asked = problem.features[_predicted_rows(problem, fold, left_out)]
        models = (fit(learner.model, x, target, w) for learner in problem.learners)
        results.append(np.stack([predict_mean(model, asked) for model in models]))
    return results


def _predicted_rows(problem: Problem, fold: Folds, left_out: int) -> NDArray[np.int64]:
    rows = fold == left_out
    return np.flatnonzero(rows if problem.also is None else rows | problem.also)


def _best(
    problem: Problem, fold: Folds, predicted: Sequence[Array], weights: Array | None
) -> CrossFitted:
    unseen = np.empty((len(problem.learners), len(fold)))
    target = np.empty(len(fold))
    for f, values in enumerate(predicted):
        here = fold[_predicted_rows(problem, fold, f)] == f
        unseen[:, fold == f] = values[:, here]
        target[fold == f] = problem.target_without(f)[fold == f]
    rows = problem.rows
    y, w = target[rows], np.ones(int(rows.sum())) if weights is None else weights[rows]
    losses = [
        loss_of(problem.name, name, is_classifier(model), y, row[rows], w)
        for (name, model), row in zip(problem.learners, unseen, strict=True)
    ]
    best = int(np.argmin([loss.loss for loss in losses]))
    by_fold = np.empty((0, len(fold)))
    if problem.also is not None:
        by_fold = np.full((len(predicted), len(fold)), np.nan)
        for f, values in enumerate(predicted):
            by_fold[f, _predicted_rows(problem, fold, f)] = values[best]
    return CrossFitted(unseen[best], by_fold, losses[best])
