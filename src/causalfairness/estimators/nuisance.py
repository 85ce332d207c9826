"""What do models say about people they have not seen? Cross-fitted nuisances (methods §2.1 item 5).

    p_c[a]        P(A = a | C)
    p_mc[a]       P(A = a | M, C)
    outcome[i]    Q_i(m, c)   = E[y | A = i, m, c]
    nested[i, j]  nu_ij(c)    = E[Q_i(M, c) | A = j, c], and E[y | A = i, c] for i = j

Each fold is predicted by models fitted on the others; Q_i is learned in group i and its mean over
the mediators in group j, so the second regression never sees a fitted value of its own first.
Without confounders nothing depends on C and plain means take the place of models; without
mediators Q_i is nu_ii.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import LearnerLoss
from causalfairness.estimators.cross_fitting import CrossFitted, Problem, cross_fit
from causalfairness.estimators.default_learners import Learner

Array = NDArray[np.float64]
Fitted = dict[str, CrossFitted]  # by what is modeled


@dataclass(frozen=True, eq=False)
class Sample:
    """What do the models learn from? Group 0 or 1, features and outcome, one row a person.

    `known` is Q_0 and Q_1 where the audited model itself gives them; then no model of the outcome
    given mediators, and none of the group given mediators, is needed.
    """

    group: NDArray[np.int8]
    confounders: Array
    mediators: Array
    outcome: Array
    weights: Array | None
    known: Array | None = None

    def __len__(self) -> int:
        return len(self.group)

    @property
    def has_confounders(self) -> bool:
        """Is there anything in C?"""
        return bool(self.confounders.shape[1] > 0)

    @property
    def has_mediators(self) -> bool:
        """Is there anything in M?"""
        return bool(self.mediators.shape[1] > 0)

    def mean(self, values: Array, group: int) -> float:
        """What is the (weighted) mean of these values in a group?"""
        inside = self.group == group
        weights = None if self.weights is None else self.weights[inside]
        return float(np.average(values[inside], weights=weights))


class Candidates(NamedTuple):
    """Which learners compete for each kind of nuisance?"""

    group_given_c: Sequence[Learner]
    group_given_mc: Sequence[Learner]
    outcome: Sequence[Learner]
    outcome_given_c: Sequence[Learner]
    nested: Sequence[Learner]


@dataclass(frozen=True, eq=False)
class Nuisance:
    """What do models fitted on other people say about each person?"""

    p_c: Array  # (2, n)
    p_mc: Array  # (2, n)
    outcome: Array  # (2, n)
    nested: Array  # (2, 2, n)
    losses: tuple[LearnerLoss, ...]


def fit_nuisance(
    sample: Sample,
    candidates: Candidates,
    fold: NDArray[np.int64],
    *,
    workers: int,
    taken: Mapping[str, str] | None = None,
) -> Nuisance:
    """What do models fitted on the other folds say about each fold?

    `taken` names the one learner that is left of the candidates for each nuisance.
    """

    def fit(problems: dict[str, Problem]) -> Fitted:
        asked = [_with_learner(each, (taken or {}).get(each.name)) for each in problems.values()]
        found = cross_fit(asked, fold, sample.weights, workers)
        return dict(zip(problems, found, strict=True))

    fitted = fit(_first_stage(sample, candidates))
    fitted |= fit(_second_stage(sample, candidates, fitted, int(fold.max()) + 1))
    p_c = _probabilities(fitted.get("P(A | C)"), sample)
    outcome = _outcome(sample, fitted)
    return Nuisance(
        p_c=p_c,
        p_mc=_probabilities(fitted["P(A | M, C)"], sample) if "P(A | M, C)" in fitted else p_c,
        outcome=outcome,
        nested=_nested(sample, fitted, outcome),
        losses=tuple(found.loss for found in fitted.values()),
    )


def _with_learner(problem: Problem, name: str | None) -> Problem:
    learners = [each for each in problem.learners if name in (None, each.name)]
    return replace(problem, learners=learners)


def _first_stage(sample: Sample, candidates: Candidates) -> dict[str, Problem]:
    if sample.known is not None and not sample.has_mediators:
        return {}  # the audited model's own averages answer everything
    everyone = np.ones(len(sample), dtype=bool)
    label, c = sample.group.astype(float), sample.confounders
    both = np.column_stack([sample.mediators, c])
    problems = []
    if sample.has_confounders:
        problems.append(Problem("P(A | C)", c, label, candidates.group_given_c, everyone))
    if sample.has_mediators and sample.known is None:
        problems.append(Problem("P(A | M, C)", both, label, candidates.group_given_mc, everyone))
    for i in (0, 1):
        own = sample.group == i
        if sample.has_mediators and sample.known is None:
            name = f"E[y | A={i}, M, C]"
            problems.append(Problem(name, both, sample.outcome, candidates.outcome, own, ~own))
        if sample.has_confounders:
            name = f"E[y | A={i}, C]"
            problems.append(Problem(name, c, sample.outcome, candidates.outcome_given_c, own))
    return {problem.name: problem for problem in problems}


def _second_stage(
    sample: Sample, candidates: Candidates, fitted: Fitted, folds: int
) -> dict[str, Problem]:
    if not (sample.has_mediators and sample.has_confounders):
        return {}
    problems = {}
    for i in (0, 1):
        name = f"E[Q_{i} | A={1 - i}, C]"
        if sample.known is not None:
            target = np.broadcast_to(sample.known[i], (folds, len(sample)))
        else:
            target = fitted[f"E[y | A={i}, M, C]"].by_fold
        inside = sample.group == 1 - i
        problems[name] = Problem(name, sample.confounders, target, candidates.nested, inside)
    return problems


def _probabilities(found: CrossFitted | None, sample: Sample) -> Array:
    share = np.average(sample.group, weights=sample.weights)
    comparison = np.full(len(sample), share) if found is None else found.unseen
    return np.stack([1 - comparison, comparison])


def _outcome(sample: Sample, fitted: Fitted) -> Array:
    if sample.known is not None:
        return sample.known
    if sample.has_mediators:
        return np.stack([fitted[f"E[y | A={i}, M, C]"].unseen for i in (0, 1)])
    return np.stack([_own_nested(sample, fitted, i) for i in (0, 1)])


def _nested(sample: Sample, fitted: Fitted, outcome: Array) -> Array:
    nested = np.empty((2, 2, len(sample)))
    for i in (0, 1):
        j = 1 - i
        nested[i, i] = _own_nested(sample, fitted, i)
        if f"E[Q_{i} | A={j}, C]" in fitted:
            nested[i, j] = fitted[f"E[Q_{i} | A={j}, C]"].unseen
        elif sample.has_mediators:
            nested[i, j] = sample.mean(outcome[i], j)
        else:
            nested[i, j] = nested[i, i]
    return nested


def _own_nested(sample: Sample, fitted: Fitted, i: int) -> Array:
    if (name := f"E[y | A={i}, C]") in fitted:
        return fitted[name].unseen
    return np.full(len(sample), sample.mean(sample.outcome, i))
