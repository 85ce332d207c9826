"""What do plain counts say? World means from the cells of discrete mediators and confounders.

Exact counting: one GROUP BY, no model, standard errors in closed form. It needs every profile
(combination of mediators and confounders) to be seen in both groups. What happens where it is not
is an explicit choice, because the parts add up to the gap under any fill: adding up proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from causalfairness.effects import Basis, Diagnostics, Effect, Estimate, WorldMeans
from causalfairness.effects.effect import Blocks
from causalfairness.effects.world_means import pool
from causalfairness.errors import EmptyCellsError, RoleError, WeightError
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.answers import evaluate
from causalfairness.estimators.protocol import ASSUMPTIONS, described
from causalfairness.estimators.saturated import CellPieces, Saturated, fit_additive, smooth
from causalfairness.estimators.support import (
    Support,
    check_sizes,
    overlap_of,
    refusal,
    support_of,
)
from causalfairness.estimators.within_cells import Moments, shrunk_covariance
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import bayesian_cells
from causalfairness.tables import CellPair, Cells, Of, Table
from causalfairness.tables.coarsening import Bins, Cuts, bin_names, check_bins

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
EmptyCells = Literal["refuse", "restrict", "regression", "zero"] | Callable[[Any], Any]
EmptyStrata = Literal["refuse", "restrict", "zero"]
FEW = 15  # people of a group in a stratum, below whom intervals may be too short
REPLICATES_AT_ONCE = 2_000_000  # cell draws held in memory together


@dataclass(frozen=True)
class Strata:
    """What do plain counts say about the world means?

    `empty_cells` decides where a group has nobody with some combination of mediators and
    confounders: `"refuse"` (the default), `"restrict"` to combinations seen in both groups (the
    rest becomes the effect `outside_support`), a callable model `f(frame)` (right where the
    outcome is that model's prediction), `"regression"` (an additive fit), or `"zero"`, which is
    wrong and exists to replicate published numbers. `empty_strata` decides where a group has
    nobody with some combination of confounders at all, which no model can fill; by default it
    follows `empty_cells` and refuses for the two fills. `replicates` replaces the closed-form
    standard errors by that many Bayesian-bootstrap draws.

    `bins` counts columns of numbers in bins: a number of quantile bins, or cut points. `smoothing`
    lets small cells lean on their neighbors with that many pseudo-rows; what the groups' means
    lose by it is the effect `misfit`.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> data = world.draw(2_000, seed=0)
    >>> found = cf.decompose_disparity(data, world.model, estimator=cf.estimators.Strata())
    >>> found.diagnostics.overlap.share_outside_support
    0.0
    """

    empty_cells: EmptyCells = "refuse"
    empty_strata: EmptyStrata | None = None
    replicates: int | None = None
    bins: Mapping[str, Bins] | None = None
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        words = ("refuse", "restrict", "regression", "zero")
        if not callable(self.empty_cells) and self.empty_cells not in words:
            raise ValueError(
                f"empty_cells must be one of {words} or a model to call; found {self.empty_cells!r}"
            )
        if self.empty_strata not in (None, "refuse", "restrict", "zero"):
            raise ValueError(
                f"empty_strata must be 'refuse', 'restrict' or 'zero'; found {self.empty_strata!r}"
            )
        if self.replicates is not None and self.replicates < 2:
            raise ValueError(f"replicates must be None or at least 2; found {self.replicates!r}")
        check_bins(self.bins or {})
        if self.bins and callable(self.empty_cells):
            raise ValueError(
                "a model cannot be asked about bins; leave out bins, or choose another empty_cells"
            )
        if not 0 <= self.smoothing < np.inf:
            raise ValueError(
                f"smoothing is a number of pseudo-rows, 0 or more; found {self.smoothing!r}"
            )
        if self.smoothing and "restrict" in (self.empty_cells, self.empty_strata):
            raise ValueError(
                "smoothing and restricting to common support leave one remainder with two "
                "meanings; choose one of them"
            )

    __str__ = described

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Counts:
        """How many people are in each cell?"""
        if self.replicates is not None and model.weights is not None:
            raise WeightError(
                "weighted tables have closed-form standard errors only; leave out replicates, or "
                f"the weights column {model.weights!r}"
            )
        coarse, cuts = self._coarsened(table, model)
        return Counts(coarse.cells(model, of), cuts)

    def read_both(self, table: Table, model: StandardFairnessModel) -> tuple[Counts, Counts]:
        """What do outcomes and predictions add up to in each cell? Counted in one pass."""
        if self.replicates is not None:
            raise ValueError(
                "replicates draw outcome and prediction apart, so that their effects could not be "
                "subtracted; leave out replicates, for standard errors in closed form"
            )
        coarse, cuts = self._coarsened(table, model)
        outcome, prediction = coarse.cells_of_both(model)
        return Counts(outcome, cuts), Counts(prediction, cuts)

    def estimate(
        self, reading: Counts, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by counting?"""
        pair = reading.cells.pair(model)
        check_sizes(pair)
        support = support_of(pair)
        whole, pieces, guess = self._used(pair, support)
        if self.replicates is None:
            means, raw_gap = _closed_form(pair, pieces, whole)
        else:
            rng = np.random.default_rng(seed)
            means, raw_gap = self._resampled(pair, pieces, whole, guess, rng, seed)
        diagnostics = self._diagnostics(pair, support, pieces, reading.cuts)
        remainder: Literal["misfit", "outside_support"]
        remainder = "misfit" if self.smoothing else "outside_support"
        return Estimate(means, raw_gap, diagnostics, remainder, pieces.second_moments())

    def pieces(self, pair: CellPair) -> CellPieces:
        """Which cells of two groups are in use, and what is each one's mean?"""
        _, pieces, _ = self._used(pair, support_of(pair))
        return pieces

    def _used(self, pair: CellPair, support: Support) -> tuple[CellPieces, CellPieces, Array]:
        """All cells, those in use, and the means that would be guessed without looking."""
        kept = self._kept(pair, support)
        weight = pair.by_profile(pair.sums.w)
        outcome, guess = self._filled(pair, weight, kept)
        everyone = np.ones(len(pair.stratum), dtype=bool)
        whole = _pieces(pair, everyone, Saturated(weight, outcome, pair.stratum))
        pieces = _pieces(pair, kept, self._smoothed(whole.saturated, guess, pair))
        return whole, pieces, guess

    def _coarsened(self, table: Table, model: StandardFairnessModel) -> tuple[Table, Cuts]:
        for column in self.bins or {}:
            if column not in (*model.confounders, *model.mediators):
                raise RoleError(
                    f"bins names {column!r}, which is neither a confounder nor a mediator; only "
                    "these are counted by"
                )
        return table.coarsened(self.bins or {})

    @property
    def _strata_policy(self) -> EmptyStrata:
        if self.empty_strata is not None:
            return self.empty_strata
        if self.empty_cells == "restrict":
            return "restrict"
        return "zero" if self.empty_cells == "zero" else "refuse"

    def _kept(self, pair: CellPair, support: Support) -> Mask:
        if self.empty_cells == "refuse" and support.one_sided.any():
            raise refusal(pair, support.one_sided, "mediators and ")
        if self._strata_policy == "refuse" and support.in_lone_stratum.any():
            raise refusal(pair, support.in_lone_stratum, "")
        kept = np.ones_like(support.one_sided)
        if self.empty_cells == "restrict":
            kept &= ~support.one_sided
        if self._strata_policy == "restrict":
            kept &= ~support.in_lone_stratum
        if not kept.any():
            raise EmptyCellsError(
                "no combination of mediators and confounders is seen in both groups; use fewer or "
                "coarser columns, or an estimator with models (DoublyRobust)"
            )
        return kept

    def _filled(self, pair: CellPair, weight: Array, kept: Mask) -> tuple[Array, Array]:
        """Every group's mean in every profile, observed or filled, and what would be guessed."""
        total = pair.by_profile(pair.sums.wy)
        outcome = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        empty = (weight == 0) & kept
        fills = empty.any() and self.empty_cells != "zero"
        if not (fills or self.smoothing):
            return outcome, outcome
        if callable(self.empty_cells):
            known = [evaluate(self.empty_cells, pair.features(g), pair.model) for g in (0, 1)]
            guess = np.stack(known)
        else:
            guess = fit_additive(pair, weight, outcome)
        return np.where(empty, guess, outcome) if fills else outcome, guess

    def _smoothed(self, cells: Saturated, guess: Array, pair: CellPair) -> Saturated:
        if not self.smoothing:
            return cells
        per_row = pair.sums.w.sum() / pair.sums.rows.sum()
        return smooth(cells, self.smoothing * float(per_row), guess)

    def _resampled(
        self,
        pair: CellPair,
        pieces: CellPieces,
        whole: CellPieces,
        guess: Array,
        rng: np.random.Generator,
        seed: int,
    ) -> tuple[WorldMeans, Effect]:
        """All cells of the table are drawn, whichever groups are asked about: effects of different
        groups then share the draws of the rows they share."""
        assert self.replicates is not None
        cells = pair.cells
        size, total = cells.sums.rows, cells.sums.wy
        variance = shrunk_covariance(Moments.of(cells.sums), cells.group)
        seen, shape = pair.by_profile(pair.sums.rows) > 0, whole.saturated.weight.shape
        collapse = _collapse(pair)
        block = max(1, REPLICATES_AT_ONCE // len(cells))
        drawn, gaps = [], []
        for start in range(0, self.replicates, block):
            draws = min(block, self.replicates - start)
            of_cells = bayesian_cells(
                size, total, variance, binary=cells.is_binary, draws=draws, rng=rng
            )
            weight, sums = ((part @ collapse).reshape(draws, *shape) for part in of_cells)
            means = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
            outcome = np.where(seen, means, whole.saturated.outcome)
            replicate = Saturated(weight, outcome, whole.saturated.stratum)
            drawn.append(_with_everyone(_only(self._smoothed(replicate, guess, pair), pieces.kept)))
            plain = sums.sum(axis=-1) / weight.sum(axis=-1)
            gaps.append(plain[:, 1] - plain[:, 0])
        basis = Basis(cells.fingerprint, "replicates", seed=f"{seed}/{self.replicates}")
        values, root = _with_everyone(pieces.saturated), np.sqrt(self.replicates - 1)
        worlds, plain = np.concatenate(drawn), np.concatenate(gaps)
        spreads = np.moveaxis((worlds - worlds.mean(axis=0)) / root, 0, -1)
        label, labels = cells.group[pair.index], len(cells.groups)
        means, gap = whole.added.told(label, labels, pair.group, pair.sums.w2)
        spread = (plain - plain.mean()) / root
        return _on_basis(basis, whole, (values, spreads, means), (spread, gap))

    def _diagnostics(
        self, pair: CellPair, support: Support, pieces: CellPieces, cuts: Cuts
    ) -> Diagnostics:
        return Diagnostics(
            estimator=str(self),
            rows=pair.account,
            overlap=overlap_of(pieces, support.share_outside),
            assumptions=(
                *self._assumptions(support),
                *(f"within a bin, {column} makes no further difference" for column in cuts),
            ),
            notes=(*self._notes(pair, support, pieces.added), *self._said_of_choices(cuts)),
        )

    def _assumptions(self, support: Support) -> tuple[str, ...]:
        if not support.one_sided.any() or self.empty_cells == "zero":
            return ASSUMPTIONS
        if self.empty_cells == "restrict":
            return *ASSUMPTIONS[:-1], "the answer is about people with a counterpart only"
        fill = "is the given model's value"
        if self.empty_cells == "regression":
            fill = "follows from an additive fit"
        return *ASSUMPTIONS, f"where a group has no rows, its mean {fill}"

    def _said_of_choices(self, cuts: Cuts) -> tuple[str, ...]:
        notes = [
            f"{column} is counted in {len(at) + 1} bins: {', '.join(bin_names(at))}"
            for column, at in cuts.items()
        ]
        if self.smoothing:
            towards = "the given model's value" if callable(self.empty_cells) else "an additive fit"
            notes.append(
                f"cells are smoothed with {self.smoothing:g} pseudo-rows, mediators towards both "
                f"groups pooled and outcomes towards {towards}: small cells are less noisy and "
                "somewhat biased, and standard errors do not know of the bias"
            )
        return tuple(notes)

    def _notes(self, pair: CellPair, support: Support, added: AddedPeople) -> tuple[str, ...]:
        notes = [*(added.notes if self.replicates is None else added.notes_on_replicates)]
        if support.one_sided.any():
            share = (
                f"{support.share_outside:.1%} of rows sit in combinations seen in one group only"
            )
            done = {
                "restrict": "they are left out and reported as outside_support",
                "zero": "their missing means are set to 0, which is wrong: for replication only",
                "regression": "filled by an additive fit; standard errors treat the fill as known",
            }.get(
                str(self.empty_cells),
                "filled by the given model; standard errors treat it as known",
            )
            notes.append(f"{share}: {done}")
        if support.in_lone_stratum.any():
            share = f"{support.share_in_lone_strata:.1%} of rows have confounders seen in one group"
            done = {
                "restrict": "left out and reported as outside_support",
                "zero": "the other group's mean given them is set to 0, for replication only",
            }[self._strata_policy]
            notes.append(f"{share} only: {done}")
        small = int(np.sum(pair.sums.rows <= 2))
        if small and (self.replicates is None or not pair.cells.is_binary):
            notes.append(
                f"{small:,} of {len(pair.index):,} cells hold one or two rows; their "
                "variance is borrowed from their group's"
            )
        of_group = pair.by_profile(pair.sums.rows)
        rows = Saturated(of_group, of_group, pair.stratum).stratum_weight
        if few := int(((rows > 0) & (rows < FEW)).any(axis=0).sum()):
            notes.append(
                f"{few:,} of {rows.shape[1]:,} combinations of confounders are seen in fewer than "
                f"{FEW} people of a group: intervals of parts may be too short"
            )
        return tuple(notes)


class Counts(NamedTuple):
    """How many people are in each cell, and where were columns of numbers cut into bins?"""

    cells: Cells
    cuts: Cuts


def _pieces(pair: CellPair, kept: Mask, cells: Saturated) -> CellPieces:
    return CellPieces(pair, kept, _only(cells, kept))


def _only(cells: Saturated, kept: Mask) -> Saturated:
    if kept.all():
        return cells
    _, stratum = np.unique(cells.stratum[kept], return_inverse=True)
    return Saturated(cells.weight[..., kept], cells.outcome[..., kept], stratum.reshape(-1))


def _closed_form(
    pair: CellPair, pieces: CellPieces, whole: CellPieces
) -> tuple[WorldMeans, Effect]:
    basis = Basis(pair.cells.fingerprint, "cells")
    share = pieces.saturated.group_weight[1] / pieces.saturated.weight.sum()
    values, spreads = pool(
        pieces.saturated.means, pieces.spreads(), float(share), pieces.share_spread()
    )
    spreads, blocks = whole.split(spreads)
    spread, block = whole.split(whole.group_mean_spread(1) - whole.group_mean_spread(0))
    return _on_basis(basis, whole, (values, spreads, blocks), (spread, block))


def _on_basis(
    basis: Basis, whole: CellPieces, means: tuple[Array, Array, Blocks], gap: tuple[Array, Blocks]
) -> tuple[WorldMeans, Effect]:
    """The world means, and the plain gap between the groups, with their spreads and blocks."""
    weight, stated = whole.saturated.weight, frozenset(ASSUMPTIONS)
    plain = (whole.saturated.outcome * weight).sum(axis=-1) / weight.sum(axis=-1)
    (values, spreads, blocks), added = means, whole.added
    change = float(plain[1] - plain[0])
    raw_gap = Effect("total", change, gap[0], basis, stated, added.of_gap, gap[1])
    return WorldMeans(values, spreads, basis, stated, added.of_told, blocks), raw_gap


def _with_everyone(saturated: Saturated) -> Array:
    means, weight = saturated.means, saturated.group_weight
    share = (weight[..., 1] / weight.sum(axis=-1))[..., None, None]
    pooled = (1 - share) * means[..., 0] + share * means[..., 1]
    return np.concatenate([means, pooled[..., None]], axis=-1)


def _collapse(pair: CellPair) -> sparse.csr_array:
    """The matrix that adds the cells of the whole table up to those of the two groups' profiles."""
    profiles = len(pair.stratum)
    at = pair.group.astype(np.int64) * profiles + pair.profile
    shape = (len(pair.cells), 2 * profiles)
    return sparse.csr_array((np.ones(len(at)), (pair.index, at)), shape=shape)
