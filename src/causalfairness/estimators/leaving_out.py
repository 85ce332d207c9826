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

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import SecondMoments
from causalfairness.effects.second_moments import StageArrays, second_moments
from causalfairness.estimators.cross_fitting import assign_folds
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.nuisance import fit_nuisance
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
    pair = estimator.read(table, model, of).pair(model)
    return _among_rows(estimator, pair, workers=workers, seed=seed)


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


def _among_rows(
    estimator: DoublyRobust | KnownModel, pair: RowPair, *, workers: int, seed: int
) -> Callable[[str], LeftOut]:
    """Models of everyone with all confounders in sight are learned once."""
    sample = estimator.sample(pair)
    fold = assign_folds(sample.group, estimator.folds, np.random.default_rng(seed).spawn(1)[0])
    candidates = estimator.candidates(pair, seed)
    guard = Guard.of(estimator.clip, pair.model)
    whole = stage_arrays(sample, fit_nuisance(sample, candidates, fold, workers=workers), guard)
    counted, mediated = counted_in_groups(sample), sample.has_mediators

    def nested(outcome: Array) -> Array:
        """What is the mean of these Q_i given all confounders? By j, then i."""
        told = np.where(sample.group == 1, outcome[1], outcome[0])
        asked = replace(sample, outcome=told, known=outcome)
        means = candidates._replace(outcome_given_c=candidates.nested)
        return fit_nuisance(asked, means, fold, workers=workers).nested.swapaxes(0, 1)

    def without(confounder: str) -> LeftOut:
        fewer = pair.without(confounder)
        short = replace(sample, confounders=fewer.confounders)
        found = fit_nuisance(short, estimator.candidates(fewer, seed), fold, workers=workers)
        with_it = whole
        if sample.known is None and mediated:
            with_it = whole._replace(nested=found.outcome - nested(found.outcome))
        before = stage_arrays(short, found, guard)
        return _compared(confounder, before, with_it, counted, mediated=mediated)

    return without
