"""What would a confounder do if nobody had seen it? Each in turn is left out and compared.

A confounder that was measured shows how strong one may be that was not (methods §12). With all
else observed, and alpha and Q, nu those learned without it:

    share of the outcome   what it explains of y - Q_i, of Q_i - nu_ij and of y - E[y | i, c]
    share of the weights   R_a² / (1 - R_a²) = E[(alpha with it - alpha)²] / E[alpha²]

The second is exact where alpha is the mean of the weights with it, given what is still seen, and
otherwise says rather too much: it never makes a hidden cause look weaker than it would have to be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import SecondMoments
from causalfairness.effects.second_moments import StageArrays, second_moments
from causalfairness.estimators.cross_fitting import assign_folds
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.nuisance import Nuisance, Sample, fit_nuisance
from causalfairness.estimators.one_step import Guard, counted_in_groups, stage_arrays
from causalfairness.estimators.saturated import CellPieces, Saturated
from causalfairness.estimators.strata import Strata
from causalfairness.estimators.within_cells import ratio
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Of, RowPair, Table

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
Comparable = Strata | DoublyRobust | KnownModel


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What are weights and residuals without a confounder, and what are they once it is seen?

    Residuals `with_it` are what is left of those `without` it; the squares of the weights grow by
    what it adds to them.

    >>> LeftOut.__dataclass_fields__.keys()
    dict_keys(['confounder', 'without', 'with_it'])
    """

    confounder: str
    without: SecondMoments
    with_it: SecondMoments


def leaving_out(
    estimator: Comparable,
    table: Table,
    model: StandardFairnessModel,
    of: Of,
    *,
    workers: int,
    seed: int,
) -> Callable[[str], LeftOut]:
    """How does one ask what a confounder would do if nobody had seen it?

    What needs all columns is learned at once; the function that is returned learns the rest for
    the confounder it is given. Of repeated cross-fitting the first repetition is used.
    """
    if isinstance(estimator, Strata):
        pieces = estimator.pieces(estimator.read(table, model, of).cells.pair(model))
        return lambda confounder: _among_cells(pieces, confounder)
    people = _People.of(estimator, table, model, of, workers, seed)
    return people.without


def _compared(
    confounder: str, without: StageArrays, with_it: StageArrays, counted: Array, *, mediated: bool
) -> LeftOut:
    """`with_it` holds the weights with the confounder; what counts is how they differ."""
    before = second_moments(without, counted, without_mediators=not mediated)
    added = with_it._replace(weights=with_it.weights - without.weights)
    after = second_moments(added, counted, without_mediators=not mediated)
    return LeftOut(confounder, before, replace(after, weights=before.weights + after.weights))


# --- cells ----------------------------------------------------------------------------------------


def _among_cells(pieces: CellPieces, confounder: str) -> LeftOut:
    """Profiles that differ in the confounder alone become one."""
    whole, within = pieces.saturated, pieces.residual_squares()
    profile, stratum = _merged(pieces, confounder)
    weight, pooled = np.zeros((2, 2, len(stratum)))
    np.add.at(weight.T, profile, whole.weight.T)
    np.add.at(pooled.T, profile, (whole.weight * whole.outcome).T)
    everyone, filled = np.zeros((2, 2, len(stratum)))
    np.add.at(everyone.T, profile, (whole.weight.sum(axis=0) * np.ones((2, 1))).T)
    np.add.at(filled.T, profile, (whole.weight.sum(axis=0) * whole.outcome).T)
    outcome = np.where(weight > 0, ratio(pooled, weight), ratio(filled, everyone))
    short = Saturated(weight, outcome, stratum)
    arrays = short.stage_arrays(np.zeros_like(weight))
    told = outcome[:, profile]
    own = np.stack([short.nested[g, g][stratum[profile]] for g in (0, 1)])
    without = StageArrays(
        arrays.weights[..., profile],
        within + (whole.outcome - told) ** 2,
        arrays.nested[..., profile],
        within + (whole.outcome - own) ** 2,
    )
    nested = Saturated(whole.weight, told, whole.stratum).stage_arrays(within).nested
    with_it = whole.stage_arrays(within)._replace(nested=nested)
    mediated = bool(pieces.pair.model.mediators)
    return _compared(confounder, without, with_it, whole.counted, mediated=mediated)


def _merged(pieces: CellPieces, confounder: str) -> tuple[Positions, Positions]:
    """Which profile does each become without the confounder, and which stratum are those in?"""
    pair = pieces.pair
    first = np.unique(pair.profile, return_index=True)[1][pieces.kept]
    cell, model = pair.index[first], pair.model
    codes = {key.name: key.levels().codes[cell] for key in pair.cells.keys}
    outside = [codes[name] for name in model.confounders if name != confounder]
    told = [codes[name] for name in model.mediators]
    profile = _numbered([*outside, *told], len(cell))
    _, example = np.unique(profile, return_index=True)
    return profile, _numbered([column[example] for column in outside], len(example))


def _numbered(columns: Sequence[Positions], rows: int) -> Positions:
    """Which combination is each row? Numbered from 0, in the order of the first column first."""
    if not columns:
        return np.zeros(rows, dtype=np.int64)
    found = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1]
    return np.asarray(found.reshape(-1), dtype=np.int64)


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _People:
    """What was learned about everyone with all confounders in sight?"""

    estimator: DoublyRobust | KnownModel
    pair: RowPair
    sample: Sample
    fold: NDArray[np.int64]
    nuisance: Nuisance
    candidates: Any
    workers: int
    seed: int

    @classmethod
    def of(
        cls,
        estimator: DoublyRobust | KnownModel,
        table: Table,
        model: StandardFairnessModel,
        of_what: Of,
        workers: int,
        seed: int,
    ) -> _People:
        pair = estimator.read(table, model, of_what).pair(model)
        sample = estimator.sample(pair)
        rng = np.random.default_rng(seed).spawn(1)[0]
        fold = assign_folds(sample.group, estimator.folds, rng)
        candidates = estimator.candidates(pair, seed)
        nuisance = fit_nuisance(sample, candidates, fold, workers=workers)
        return cls(estimator, pair, sample, fold, nuisance, candidates, workers, seed)

    def without(self, confounder: str) -> LeftOut:
        pair = self.pair.without(confounder)
        short = replace(self.sample, confounders=pair.confounders)
        candidates = self.estimator.candidates(pair, self.seed)
        models = fit_nuisance(short, candidates, self.fold, workers=self.workers)
        guard = Guard.of(self.estimator.clip, pair.model)
        without = stage_arrays(short, models, guard)
        with_it = stage_arrays(self.sample, self.nuisance, guard)
        if self.sample.known is None and self.sample.has_mediators:
            nested = np.swapaxes(self._nested(models.outcome), 0, 1)
            with_it = with_it._replace(nested=models.outcome - nested)
        return _compared(
            confounder,
            without,
            with_it,
            counted_in_groups(self.sample),
            mediated=self.sample.has_mediators,
        )

    def _nested(self, outcome: Array) -> Array:
        """What is the mean of these Q_i given all confounders?"""
        told = np.where(self.sample.group == 1, outcome[1], outcome[0])
        sample = replace(self.sample, outcome=told, known=outcome)
        means = self.candidates._replace(outcome_given_c=self.candidates.nested)
        return fit_nuisance(sample, means, self.fold, workers=self.workers).nested
