"""Which learner predicts unseen people best, and what does it say about each person?

All candidates are fitted without the first fold, to at most 20,000 rows, and held against that
fold: with five folds one split into 80 and 20 %. Only the best is fitted in the other folds. Where
the first fold holds too few rows to tell candidates apart, as with fewer than 2,000 rows in five
folds, those that are not clearly worse there are fitted in all folds and held against all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import LearnerLoss
from causalfairness.errors import SmallGroupError
from causalfairness.estimators.default_learners import Learner
from causalfairness.estimators.fit_memory import solve_once
from causalfairness.estimators.learners import (
    fit,
    is_classifier,
    loss_of,
    losses_of,
    predict_mean,
)
from causalfairness.inference import run_all

Array = NDArray[np.float64]
Folds = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]
FEWEST_ROWS_PER_FOLD = 2
TINY = 1e-300
MOST_RACED = 20_000  # rows of a problem on which candidates race
FEWEST_HELD, FEWEST_TO_DROP = 400, 50  # unseen rows that single out one candidate, or drop some
CLEARLY = 2.0  # standard errors of the difference by which a dropped candidate is worse


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be predicted from what, by whom, and learned from which rows?

    `target` has one value per row, or one per fold and row where it comes from models fitted
    without that fold. Every fold's model also predicts the rows in `also`. `corrected` says that
    the answer allows for errors of the model; where it does not, one fold never settles the choice.
    """

    name: str
    features: Array
    target: Array
    learners: Sequence[Learner]
    rows: Mask
    also: Mask | None = None
    corrected: bool = True

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
        return _solved([_with_enough(each) for each in new], fold, weights, workers)

    return solve_once(solve, problems, fold, weights)


def _with_enough(problem: Problem) -> Problem:
    """The problem with those candidates for which its rarer answer is seen often enough."""
    y = problem.target_without(0)[problem.rows]
    rarer = min(int(np.sum(y == 1)), int(np.sum(y != 1)))
    learners = [each for each in problem.learners if rarer >= each.fewest]
    return replace(problem, learners=learners)


class _Task(NamedTuple):
    """Models of one problem, the rows they are fitted to, and those they are asked about."""

    problem: Problem
    learners: Sequence[Learner]
    left_out: int
    train: Positions
    asked: Positions


class _Said(NamedTuple):
    """What the models of a task say, and how far off they are."""

    values: Array  # (learners, asked)
    losses: Array  # (learners, held)
    weights: Array  # (held,)

    def hopeful(self, *, corrected: bool) -> list[int]:
        """The best model; where few rows were held against it, all that are not clearly worse."""
        held, mean = len(self.weights), _mean_losses([self])
        best = int(np.argmin(mean))
        if held >= FEWEST_HELD and corrected:
            return [best]
        if held < FEWEST_TO_DROP:
            return [*range(len(mean))]
        more = (self.losses - self.losses[best]).std(axis=1) / np.sqrt(held)
        return [int(at) for at in np.flatnonzero(mean - mean[best] <= CLEARLY * more)]

    def only(self, left: Sequence[int]) -> _Said:
        return _Said(self.values[left], self.losses[left], self.weights)


def _mean_losses(said: Iterable[_Said]) -> Array:
    losses, weights = zip(*((each.losses, each.weights) for each in said), strict=True)
    w = np.concatenate(weights)
    return np.asarray(np.hstack(losses) @ w / max(float(w.sum()), TINY))


def _solved(
    problems: Sequence[Problem], fold: Folds, weights: Array | None, workers: int
) -> list[CrossFitted]:
    """All candidates in the first fold, then those that are left in the others."""
    say, folds = partial(_say, fold, weights), range(int(fold.max()) + 1)

    def run(tasks: Sequence[_Task]) -> list[_Said]:
        return run_all(say, tasks, workers=workers, what="fitting nuisance models")

    first = run([_race(problem, fold) for problem in problems])
    left = [
        said.hopeful(corrected=problem.corrected)
        for problem, said in zip(problems, first, strict=True)
    ]
    again = [folds[int(np.sum(problem.rows) <= MOST_RACED) :] for problem in problems]
    others = iter(
        run(
            [
                _in_fold(problem, [problem.learners[at] for at in kept], fold, f)
                for problem, kept, rest in zip(problems, left, again, strict=True)
                for f in rest
            ]
        )
    )
    return [
        _settled(problem, kept, said, {f: next(others) for f in rest}, fold, weights)
        for problem, kept, said, rest in zip(problems, left, first, again, strict=True)
    ]


def _race(problem: Problem, fold: Folds) -> _Task:
    """All candidates without the first fold; of many rows those of every size in proportion."""
    rows = np.flatnonzero(problem.rows)
    if len(rows) <= MOST_RACED:
        return _in_fold(problem, problem.learners, fold, 0)
    order = np.argsort(problem.target_without(0)[rows], kind="stable")
    raced = np.sort(rows[order[np.arange(MOST_RACED) * len(rows) // MOST_RACED]])
    held = fold[raced] == 0
    return _Task(problem, problem.learners, 0, raced[~held], raced[held])


def _in_fold(problem: Problem, learners: Sequence[Learner], fold: Folds, left_out: int) -> _Task:
    train = np.flatnonzero(problem.rows & (fold != left_out))
    return _Task(problem, learners, left_out, train, _predicted_rows(problem, fold, left_out))


def _say(fold: Folds, weights: Array | None, task: _Task) -> _Said:
    """What models say that were fitted without a fold, and their losses in it."""
    problem, learners, left_out, train, asked = task
    target, x = problem.target_without(left_out), problem.features
    w = None if weights is None else weights[train]
    models = [fit(each.model, x[train], target[train], w) for each in learners]
    values = np.stack([predict_mean(model, x[asked]) for model in models])
    held = problem.rows[asked] & (fold[asked] == left_out)
    losses = [
        losses_of(target[asked[held]], said[held], chances=is_classifier(each.model))
        for each, said in zip(learners, values, strict=True)
    ]
    counted = np.ones(int(held.sum())) if weights is None else weights[asked[held]]
    return _Said(values, np.stack(losses), counted)


def _settled(
    problem: Problem,
    kept: Sequence[int],
    first: _Said,
    others: Mapping[int, _Said],
    fold: Folds,
    weights: Array | None,
) -> CrossFitted:
    """The winner, by its losses in all folds, with what it says about everybody."""
    said = {0: first.only(kept), **others}
    losses, overall = _mean_losses([first]), _mean_losses(said.values())
    if len(kept) > 1:  # else the rows of the first fold are those on which all were compared
        losses[kept] = overall
    best = int(np.argmin(overall))
    unseen, target = np.empty((2, len(fold)))
    by_fold = np.full((0 if problem.also is None else len(said), len(fold)), np.nan)
    for f, of_fold in said.items():
        asked, own = _predicted_rows(problem, fold, f), fold == f
        unseen[own] = of_fold.values[best, fold[asked] == f]
        target[own] = problem.target_without(f)[own]
        if problem.also is not None:
            by_fold[f, asked] = of_fold.values[best]
    name, model = problem.learners[kept[best]][:2]
    rows = problem.rows
    w = np.ones(int(rows.sum())) if weights is None else weights[rows]
    loss = loss_of(problem.name, name, is_classifier(model), target[rows], unseen[rows], w)
    tried = zip((each.name for each in problem.learners), losses.tolist(), strict=True)
    return CrossFitted(unseen, by_fold, replace(loss, candidates=tuple(tried)))


def _predicted_rows(problem: Problem, fold: Folds, left_out: int) -> Positions:
    rows = fold == left_out
    return np.flatnonzero(rows if problem.also is None else rows | problem.also)
