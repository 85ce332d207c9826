"""What does each group's own outcome say, weighted to resemble another group? (methods §2.1 item 4)

    mu[i, j, k] = weighted mean of y over group i
    weights       p_j(m, c) / p_i(m, c)  *  p_k(c) / p_j(c)

with p_a(m, c) = P(A = a | m, c) and p_a(c) = P(A = a | c), normalised to sum to 1. No model of the
outcome is needed, and nothing corrects those of the group: they must be right. For i = j = k all
weights are 1, so the parts add up to the plain gap exactly. Standard errors come from fitting
everything again under random row weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Diagnostics, Estimate, LearnerLoss
from causalfairness.estimators.bootstrap import bootstrap, check_replicates, row_weights
from causalfairness.estimators.default_learners import REACH, capped
from causalfairness.estimators.doubly_robust import check_clip, sample_of, summarise
from causalfairness.estimators.learners import (
    check_probabilities,
    check_takes_weights,
)
from causalfairness.estimators.one_step import (
    Guard,
    Strain,
    density_ratio,
    refuse_if_strained,
    weigh,
)
from causalfairness.estimators.protocol import ASSUMPTIONS, described
from causalfairness.estimators.refitting import (
    LearnerRefit,
    Refit,
    caveats,
    design_of,
    logistic_refit,
    loss_in_sample,
)
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Of, RowPair, Rows, Table

Array = NDArray[np.float64]
RIGHT_MODELS = "the models of the group have the right form: nothing corrects them"
WHERE_CUT = "the answer is drawn towards people whom both groups have"


@dataclass(frozen=True)
class Weighting:
    """What does each group's own outcome say, weighted to resemble another group?

    `group` is an unfitted scikit-learn classifier for the group, given confounders and given
    mediators as well. None takes a logistic model, lightly penalised, on all columns with their
    squares, products and splines as long as the smaller group has ten rows for each. It must take
    `sample_weight`: standard errors come from `replicates` fits with random row weights. `clip`
    cuts weights at that multiple of their average (see the docs for the default).

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data, weighting = world.draw(500, seed=0), cf.estimators.Weighting(replicates=20)
    >>> found = cf.decompose_disparity(data, world.model, estimator=weighting)
    >>> parts = found.direct.value + found.indirect.value + found.spurious.value
    >>> bool(abs(parts - found.total.value) < 1e-12)
    True
    """

    group: Any = None
    replicates: int = 200
    clip: float | None = None

    def __post_init__(self) -> None:
        check_replicates(self.replicates)
        check_clip(self.clip)
        check_probabilities(self.group)
        check_takes_weights(self.group)

    __str__ = described

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold?"""
        return table.rows(model, of)

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by weighting?"""
        pair, guard = reading.pair(model), Guard.of(self.clip, model)
        models = self._models(pair, guard)
        whole, sample = row_weights(pair), sample_of(pair, pair.measured)
        strains = models.weighted(whole)[1]
        for strain in strains:
            refuse_if_strained(strain, guard, sample, unseen=False)
        found = bootstrap(
            pair,
            models.means,
            replicates=self.replicates,
            workers=workers,
            seed=seed,
            assumptions=(*ASSUMPTIONS, RIGHT_MODELS),
        )
        overlap, notes = summarise(strains, WHERE_CUT)
        limits = capped(pair) if self.group is None else ()
        diagnostics = Diagnostics(
            estimator=str(self),
            rows=pair.account,
            overlap=overlap,
            learners=models.losses(whole),
            assumptions=(*ASSUMPTIONS, RIGHT_MODELS),
            notes=(*found.notes, *notes, *limits, *models.caveats()),
        )
        return Estimate(found.world_means, found.raw_gap, diagnostics)

    def _models(self, pair: RowPair, guard: Guard) -> _Models:
        both = np.column_stack([pair.mediators, pair.confounders])
        return _Models(
            group=pair.group,
            outcome=pair.measured,
            given_c=self._model(pair, pair.confounders) if pair.confounders.shape[1] else None,
            given_mc=self._model(pair, both) if pair.mediators.shape[1] else None,
            guard=guard,
        )

    def _model(self, pair: RowPair, features: Array) -> Refit:
        rows = np.flatnonzero(pair.weights > 0)
        if self.group is not None:
            return LearnerRefit(self.group, features, rows)
        smaller = int(np.bincount(pair.group[rows]).min())
        design = design_of(features, smaller, reach=REACH)
        return logistic_refit(design, rows, pair.group.astype(float), row_weights(pair))


@dataclass(frozen=True, eq=False)
class _Models:
    """Which models are fitted, and what follows for the world means?"""

    group: NDArray[np.int8]
    outcome: Array
    given_c: Refit | None  # None where there is nothing to be given
    given_mc: Refit | None
    guard: Guard

    def means(self, weights: Array) -> Array:
        """The means within each group; nothing is refused here."""
        return self.weighted(weights)[0]

    def weighted(self, weights: Array) -> tuple[Array, list[Strain]]:
        """The means within each group, [i, j, k], by weights that the guard cuts, and strains."""
        p_c, p_mc = (self._chances(model, weights) for model in (self.given_c, self.given_mc))
        share = np.bincount(self.group, weights) / float(weights.sum())
        means, strains = np.empty((2, 2, 2)), []
        for i, j, k in product((0, 1), repeat=3):
            told = j if self.given_mc else i  # without mediators there is nobody to tell j
            among = k if self.given_c else told  # without confounders k decides nothing
            ratio = density_ratio(p_mc, share, to=told, of=i)
            ratio = ratio * density_ratio(p_c, share, to=among, of=told)
            inside = self.group == i
            counted, strain = weigh(ratio, weights, inside, (i, told, among), i, self.guard)
            means[i, j, k] = counted @ self.outcome / counted.sum()
            if not i == told == among:
                strains.append(strain)
        return means, strains

    def losses(self, weights: Array) -> tuple[LearnerLoss, ...]:
        """How well do the models describe the rows they were fitted to?"""
        given = "M, C" if self.given_c else "M"
        named = (("P(A | C)", self.given_c), (f"P(A | {given})", self.given_mc))
        target = self.group.astype(float)
        return tuple(
            loss_in_sample(name, model, target, self._chances(model, weights)[1], weights)
            for name, model in named
            if model is not None
        )

    def caveats(self) -> tuple[str, ...]:
        """When are the standard errors not to be trusted?"""
        return caveats([model for model in (self.given_c, self.given_mc) if model is not None])

    def _chances(self, model: Refit | None, weights: Array) -> Array:
        """P(A = a) of every row, [a, row]."""
        if model is None:
            comparison = np.full(len(weights), 0.5)  # never looked at
        else:
            comparison = model.predict(self.group.astype(float)[None], weights)[0]
        return np.stack([1 - comparison, comparison])
