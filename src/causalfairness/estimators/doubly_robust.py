"""What do models of group and outcome say together, so that either may be wrong?

Cross-fitted one-step estimates of the twelve world means (methods §2.1 item 5). Consistent if the
outcome models, or the group models, are right; the standard errors need both. The parts add up to
the plain gap exactly, because mu[i, i, i] is the plain mean of group i.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import (
    Basis,
    Diagnostics,
    Estimate,
    LearnerLoss,
    Overlap,
    SecondMoments,
    WorldMeans,
)
from causalfairness.effects.effect import LEFT_OUT, Blocks
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.correction import averaged
from causalfairness.estimators.cross_fitting import assign_folds
from causalfairness.estimators.default_learners import (
    Learner,
    capped,
    classifiers,
    regressors,
)
from causalfairness.estimators.jackknife import PARTS, left_out
from causalfairness.estimators.learners import (
    check_learner,
    check_means,
    check_probabilities,
    is_classifier,
)
from causalfairness.estimators.nuisance import (
    Candidates,
    Sample,
    fit_nuisance,
)
from causalfairness.estimators.one_step import Guard, OneStep, Strain, one_step
from causalfairness.estimators.protocol import ASSUMPTIONS, described
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference.resampling import check_count
from causalfairness.tables import Of, RowPair, Rows, Table

if TYPE_CHECKING:
    from causalfairness.estimators.known_model import KnownModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DoublyRobust:
    """What do models of group and outcome say together?

    `outcome` and `group` are unfitted scikit-learn models: a regressor, or for a binary outcome a
    classifier, and a classifier. None tries penalised linear models, plain and with interactions,
    splines and gradient boosting for each nuisance and takes whichever predicts unseen people best;
    candidates and losses are in the diagnostics. `nested` is the regressor for nu_ij, by default
    `outcome` where that is a regressor. `repeats` repeats the whole with new folds and averages.
    `clip` cuts weights at that multiple of their average (see the docs for the default). With
    `spread="jackknife"` everything is estimated again without each of 20 parts of the rows, and
    standard errors are never below what that shows: for few rows, at 20 times the cost.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(500, seed=0)
    >>> found = cf.decompose_disparity(data, world.model, estimator=cf.estimators.DoublyRobust())
    >>> error = found.direct.value - world.true_effects()["direct"]
    >>> bool(abs(error) < 4 * found.direct.standard_error)
    True
    """

    outcome: Any = None
    group: Any = None
    nested: Any = None
    folds: int = 5
    repeats: int = 1
    clip: float | None = None
    spread: Literal["jackknife"] | None = None

    def __post_init__(self) -> None:
        check_settings(self.folds, self.repeats, self.clip)
        if self.spread not in (None, "jackknife"):
            raise ValueError(f"spread must be None or 'jackknife'; found {self.spread!r}")
        check_learner(self.outcome)
        check_learner(self.nested)
        check_probabilities(self.group)
        check_means(self.nested, binary=False, what="a mean over mediators")

    __str__ = described

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold?"""
        return table.rows(model, of)

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by models of group and outcome?"""
        return cross_fitted(self, reading.pair(model), workers=workers, seed=seed)

    def sample(self, pair: RowPair) -> Sample:
        """What do the models learn from?"""
        check_means(self.outcome, binary=pair.is_binary, what="the outcome")
        return sample_of(pair, pair.measured)

    def candidates(self, pair: RowPair, seed: int) -> Candidates:
        """Which learners compete for each kind of nuisance?"""
        c = pair.confounders.shape[1]
        both = c + pair.mediators.shape[1]
        nested = self.nested
        if nested is None and self.outcome is not None and not is_classifier(self.outcome):
            nested = self.outcome
        predictors = classifiers if pair.is_binary else regressors
        return Candidates(
            group_given_c=given(self.group, classifiers(c, seed)),
            group_given_mc=given(self.group, classifiers(both, seed)),
            outcome=given(self.outcome, predictors(both, seed)),
            outcome_given_c=given(self.outcome, predictors(c, seed)),
            nested=given(nested, regressors(c, seed)),
        )


def check_settings(folds: int, repeats: int, clip: float | None) -> None:
    """Can there be this many folds and repetitions, and such a limit on weights?"""
    check_count("folds", folds, least=2)
    check_count("repeats", repeats, least=1)
    check_clip(clip)


def check_clip(clip: float | None) -> None:
    """Can weights be cut at this multiple of their average?"""
    if clip is not None and not clip >= 1:
        raise ValueError(f"clip must be at least 1 times the average weight; found {clip!r}")


def sample_of(pair: RowPair, outcome: Array, known: Array | None = None) -> Sample:
    """What do the models learn from?"""
    weights = None if pair.model.weights is None else pair.weights / pair.weights.mean()
    return Sample(pair.group, pair.confounders, pair.mediators, outcome, weights, known)


def cross_fitted(
    estimator: DoublyRobust | KnownModel,
    pair: RowPair,
    *,
    workers: int,
    seed: int,
) -> Estimate:
    """What are the world means, over repeated splits into folds?"""
    sample, candidates = estimator.sample(pair), estimator.candidates(pair, seed)
    runs: list[OneStep] = []
    further: dict[str, Array] = {}
    guard = Guard.of(estimator.clip, pair.model)
    losses: list[tuple[LearnerLoss, ...]] = []
    for rng in np.random.default_rng(seed).spawn(estimator.repeats):
        fold = assign_folds(sample.group, estimator.folds, rng)
        nuisance = fit_nuisance(sample, candidates, fold, workers=workers)
        runs.append(one_step(sample, nuisance, guard, seed))
        if getattr(estimator, "spread", None) and not further:
            fits = (sample, candidates, nuisance, fold, guard)
            further = {LEFT_OUT: left_out(*fits, workers=workers, seed=seed)}
        losses.append(nuisance.losses)
    mean_losses = tuple(average_loss(of_one) for of_one in zip(*losses, strict=True))
    added = AddedPeople.of_rows(pair, sample.outcome)
    return assemble(pair, runs, mean_losses, added, further, name=str(estimator), seed=seed)


def average_loss(losses: Sequence[LearnerLoss]) -> LearnerLoss:
    """How well did the models of one target do over all repetitions, and which were taken?

    >>> one, two = (LearnerLoss("y", name, "log loss", 0.5, 0.6) for name in ("linear", "boosting"))
    >>> average_loss([one, one, two]).learner
    'linear (2 of 3), boosting (1 of 3)'
    """
    taken = Counter(loss.learner for loss in losses)
    first, times, names = losses[0], len(losses), losses[0].learner
    if len(taken) > 1:
        names = ", ".join(f"{name} ({count} of {times})" for name, count in taken.most_common())
    mean, flat = (float(np.mean([getattr(x, f) for x in losses])) for f in ("loss", "baseline"))
    tried = [dict(loss.candidates) for loss in losses]
    means = tuple((name, float(np.mean([each[name] for each in tried]))) for name in tried[0])
    return LearnerLoss(first.target, names, first.measure, mean, flat, means)


def assemble(
    pair: RowPair,
    runs: Sequence[OneStep],
    losses: tuple[LearnerLoss, ...],
    added: AddedPeople,
    further: Blocks,
    *,
    name: str,
    seed: int,
) -> Estimate:
    """How do rows' spreads become effects of the whole table?"""
    repeats = len(runs)
    draws = f"{seed}/{repeats}" if repeats > 1 else ""
    basis = Basis(pair.rows.identity.fingerprint, "rows", pair.rows.identity.order, draws)
    values = np.mean([run.values for run in runs], axis=0)
    spreads = pair.scatter(np.mean([run.spreads for run in runs], axis=0))
    if repeats > 1:
        scatter = [(run.values - values) / np.sqrt(repeats * (repeats - 1)) for run in runs]
        spreads = np.concatenate([spreads, np.stack(scatter, axis=-1)], axis=-1)
    corrections, block = added.worlds(np.mean([run.counts for run in runs], axis=0), pair.group)
    blocks = {
        **further,
        added.block: pair.scatter(block),
        f"remainder, {pair.model.comparison_label}, {added.block}": np.mean(
            [run.errors for run in runs], axis=0
        ),
    }
    freedom = PARTS - 1 if further else np.inf
    stated = frozenset(ASSUMPTIONS)
    means = WorldMeans(values, spreads, basis, stated, corrections, blocks, freedom)
    raw_gap = (means[1, 1, 1] - means[0, 0, 0]).named("total")
    overlap, notes = summarise([strain for run in runs for strain in run.strains])
    linear_chances = any(x.measure == "log loss" and "linear" in x.learner for x in losses)
    diagnostics = Diagnostics(
        estimator=name,
        rows=pair.account,
        overlap=overlap,
        learners=losses,
        remainders=averaged([run.missed for run in runs]),
        assumptions=ASSUMPTIONS,
        notes=(*added.notes, *notes, *(capped(pair) if linear_chances else ())),
    )
    moments = SecondMoments.average([run.second_moments for run in runs])
    return Estimate(means, raw_gap, diagnostics, second_moments=moments)


def summarise(
    strains: Sequence[Strain], consequence: str = "the answer leans on outcome models"
) -> tuple[Overlap, tuple[str, ...]]:
    """Where is overlap worst, over all worlds, and what follows where weights were cut?"""
    if not strains:
        return Overlap(), ()
    worst = min(strains, key=lambda strain: strain.effective / strain.rows)
    clipped = max(strains, key=lambda strain: strain.clipped)
    notes = []
    if clipped.clipped > 0:
        notes.append(
            f"{clipped.clipped:.2%} of a group's rows had their weight cut at {clipped.level:.3g} "
            f"times the average: where the groups overlap poorly {consequence}"
        )
    shown = clipped if clipped.clipped > 0 else worst
    overlap = Overlap(
        effective_rows=worst.effective,
        of_rows=worst.rows,
        largest_share=max(strain.largest for strain in strains),
        clip_level=shown.level,
        share_clipped=shown.clipped,
    )
    return overlap, tuple(notes)


def given(model: Any, default: tuple[Learner, ...]) -> tuple[Learner, ...]:
    """Which learners compete: the user's alone, or the default candidates?"""
    return default if model is None else (Learner(type(model).__name__, model),)
