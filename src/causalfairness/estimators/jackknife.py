"""How much an answer moves when a twentieth of the rows is left out, models included.

Rows of either group are dealt out to 20 parts. World means are estimated again without each part,
by the learners that were taken with all rows. With v their values, sqrt(19 / 20) (v - mean) are 20
coordinates of a block by itself: of an effect, its norm is the jackknife's standard error.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from causalfairness.estimators.cross_fitting import Folds, assign_folds
from causalfairness.estimators.nuisance import Candidates, Nuisance, Sample, fit_nuisance
from causalfairness.estimators.one_step import Guard, one_step

Array = NDArray[np.float64]
PARTS = 20


def left_out(
    sample: Sample,
    candidates: Candidates,
    nuisance: Nuisance,
    fold: Folds,
    guard: Guard,
    *,
    workers: int,
    seed: int,
) -> Array:
    """Return the coordinates of the world means, (2, 2, 3, 20)."""
    taken = {loss.target: loss.learner for loss in nuisance.losses}
    part, values = assign_folds(sample.group, PARTS, np.random.default_rng(seed)), []
    for at in range(PARTS):
        some = _among(sample, part != at)
        fitted = fit_nuisance(some, candidates, fold[part != at], workers=workers, taken=taken)
        values.append(one_step(some, fitted, guard, seed).values)
    found = np.stack(values, axis=-1)
    return np.asarray(np.sqrt((PARTS - 1) / PARTS) * (found - found.mean(axis=-1, keepdims=True)))


def _among(sample: Sample, rows: NDArray[np.bool_]) -> Sample:
    return replace(
        sample,
        group=sample.group[rows],
        confounders=sample.confounders[rows],
        mediators=sample.mediators[rows],
        outcome=sample.outcome[rows],
        weights=None if sample.weights is None else sample.weights[rows],
    )
