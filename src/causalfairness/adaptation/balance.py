"""How much should each row count, for its group to have the confounders of the reference group?

    w(c) = P(c | a0) / P(c | a1) = P(a0 | c) P(a1) / (P(a1 | c) P(a0)),

with a0 the reference group and a1 the row's own. P(a | c) is cross-fitted: no row is weighted by a
model that has seen it. Weights are scaled to a mean of 1 in each group and never clipped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.learner import Array, Codes
from causalfairness.adaptation.mechanisms import REFERENCE
from causalfairness.adaptation.reading import Read
from causalfairness.errors import OverlapError
from causalfairness.estimators.cross_fitting import Problem, assign_folds, cross_fit
from causalfairness.estimators.default_learners import classifiers
from causalfairness.scm.causes import Causes
from causalfairness.scm.evaluation import in_order

FOLDS = 5


def reference_weights(
    read: Read, confounders: Sequence[str], group: Codes, *, seed: int, workers: int
) -> Array:
    """How much should each row count? 1 in the reference group."""
    weights = np.ones(len(group))
    if not confounders:
        return weights
    order = in_order(read.values, {"group": group})[0].rows
    domains = tuple(read.domains[name] for name in confounders)
    values = tuple(read.values[name] for name in confounders)
    design = Causes(len(group), domains, values).design()
    for code in np.unique(group[group != REFERENCE]):
        rows = order[np.isin(group[order], (REFERENCE, code))]
        own = (group[rows] == code).astype(np.int8)
        chance = _chance(design[rows], own, seed, workers)
        odds = (1 - chance) / chance
        if not np.isfinite(odds[own == 1]).all():
            raise OverlapError(
                "some rows have no chance at all of being in their own group, so they cannot be "
                "weighted; look for a confounder that settles the group"
            )
        weights[rows[own == 1]] = odds[own == 1] / odds[own == 1].mean()
    return weights


def _chance(design: Array, own: NDArray[np.int8], seed: int, workers: int) -> Array:
    """The chance of the own group, not the reference, by models that have not seen the row."""
    fold = assign_folds(own, FOLDS, np.random.default_rng(seed))
    everyone = np.ones(len(own), dtype=bool)
    learners = classifiers(design.shape[1], seed)
    problem = Problem("P(A | C)", design, own.astype(float), learners, everyone, corrected=False)
    return cross_fit([problem], fold, None, workers)[0].unseen
