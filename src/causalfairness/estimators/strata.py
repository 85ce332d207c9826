"""What do plain counts say? World means from the cells of discrete mediators and confounders.

Exact counting: one GROUP BY, no model, standard errors in closed form. It needs every profile
(combination of mediators and confounders) to be seen in both groups. What happens where it is not
is an explicit choice, because the parts add up to the gap under any fill: adding up proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from causalfairness.effects import Basis, Diagnostics, Effect, Estimate, Overlap, WorldMeans
from causalfairness.effects.world_means import pool
from causalfairness.errors import EmptyCellsError, OverlapError, WeightError
from causalfairness.estimators.fills import evaluate, fit_additive
from causalfairness.estimators.protocol import ASSUMPTIONS
from causalfairness.estimators.saturated import CellPieces, Saturated, within_variance
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import bayesian_cells
from causalfairness.tables import CellPair, Cells, Of, Table

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
EmptyCells = Literal["refuse", "restrict", "regression", "zero"] | Callable[[Any], Any]
EmptyStrata = Literal["refuse", "restrict", "zero"]
WORST_CELLS_NAMED = 3
FEWEST_ROWS = 2
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

    def __str__(self) -> str:
        cells = self.empty_cells
        name = (
            getattr(cells, "__qualname__", type(cells).__name__) if callable(cells) else repr(cells)
        )
        settings = [f"empty_cells={name}"]
        if self.empty_strata is not None:
            settings.append(f"empty_strata={self.empty_strata!r}")
        if self.replicates is not None:
            settings.append(f"replicates={self.replicates}")
        return f"Strata({', '.join(settings)})"

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Cells:
        """How many people are in each cell?"""
        if self.replicates is not None and model.weights is not None:
            raise WeightError(
                "weighted tables have closed-form standard errors only; leave out replicates, or "
                f"the weights column {model.weights!r}"
            )
        return table.cells(model, of)

    def estimate(
        self, reading: Cells, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by counting?"""
        pair = reading.pair(model)
        _check_sizes(pair)
        weight, total = pair.by_profile(pair.sums.w), pair.by_profile(pair.sums.wy)
        support = support_of(pair)
        kept = self._kept(pair, support)
        outcome = self._filled(pair, weight, total, kept)
        pieces = _pieces(pair, kept, weight, outcome)
        everyone = np.ones(len(pair.stratum), dtype=bool)
        whole = pieces if kept.all() else _pieces(pair, everyone, weight, outcome)
        if self.replicates is None:
            means, raw_gap = _closed_form(pair, pieces, whole)
        else:
            rng = np.random.default_rng(seed)
            means, raw_gap = self._resampled(pair, pieces, whole, rng, seed)
        diagnostics = self._diagnostics(pair, support, pieces)
        return Estimate(means, raw_gap, diagnostics)

    @property
    def _strata_policy(self) -> EmptyStrata:
        if self.empty_strata is not None:
            return self.empty_strata
        if self.empty_cells == "restrict":
            return "restrict"
        return "zero" if self.empty_cells == "zero" else "refuse"

    def _kept(self, pair: CellPair, support: Support) -> Mask:
        if self.empty_cells == "refuse" and support.one_sided.any():
            raise EmptyCellsError(_refusal(pair, support.one_sided, "mediators and "))
        if self._strata_policy == "refuse" and support.in_lone_stratum.any():
            raise EmptyCellsError(_refusal(pair, support.in_lone_stratum, ""))
        kept = (
            ~support.one_sided
            if self.empty_cells == "restrict"
            else np.ones_like(support.one_sided)
        )
        if self._strata_policy == "restrict":
            kept &= ~support.in_lone_stratum
        if not kept.any():
            raise EmptyCellsError(
                "no combination of mediators and confounders is seen in both groups; use fewer or "
                "coarser columns, or an estimator with models (DoublyRobust)"
            )
        return kept

    def _filled(self, pair: CellPair, weight: Array, total: Array, kept: Mask) -> Array:
        """The mean outcome of every group in every profile, observed or filled."""
        outcome = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        empty = (weight == 0) & kept
        if not empty.any() or self.empty_cells == "zero":
            return outcome
        if callable(self.empty_cells):
            known = [evaluate(self.empty_cells, pair.features(g), pair.model) for g in (0, 1)]
            return np.where(empty, np.stack(known), outcome)
        return np.where(empty, fit_additive(pair, weight, outcome), outcome)

    def _resampled(
        self,
        pair: CellPair,
        pieces: CellPieces,
        whole: CellPieces,
        rng: np.random.Generator,
        seed: int,
    ) -> tuple[WorldMeans, Effect]:
        """All cells of the table are drawn, whichever groups are asked about: effects of different
        groups then share the draws of the rows they share."""
        assert self.replicates is not None
        cells = pair.cells
        size, total = cells.sums.rows, cells.sums.wy
        variance = within_variance(size, size, total, cells.sums.w2y2, cells.group)
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
            kept = pieces.kept
            replicate = Saturated(weight[..., kept], outcome[..., kept], pieces.saturated.stratum)
            drawn.append(_with_everyone(replicate))
            plain = sums.sum(axis=-1) / weight.sum(axis=-1)
            gaps.append(plain[:, 1] - plain[:, 0])
        basis = Basis(cells.fingerprint, "replicates", seed=f"{seed}/{self.replicates}")
        return _from_replicates(np.concatenate(drawn), np.concatenate(gaps), pieces, whole, basis)

    def _diagnostics(self, pair: CellPair, support: Support, pieces: CellPieces) -> Diagnostics:
        return Diagnostics(
            estimator=str(self),
            rows=pair.account,
            overlap=_overlap(pieces, support.share_outside),
            assumptions=(*self._assumptions(support), *self._fill_assumption(support)),
            notes=self._notes(pair, support, pieces),
        )

    def _assumptions(self, support: Support) -> tuple[str, ...]:
        if self.empty_cells == "restrict" and support.one_sided.any():
            return *ASSUMPTIONS[:-1], "the answer is about people with a counterpart only"
        return ASSUMPTIONS

    def _fill_assumption(self, support: Support) -> tuple[str, ...]:
        if not support.one_sided.any():
            return ()
        if self.empty_cells == "regression":
            return ("where a group has no rows, its mean follows from an additive fit",)
        if callable(self.empty_cells):
            return ("where a group has no rows, its mean is the given model's value",)
        return ()

    def _notes(self, pair: CellPair, support: Support, pieces: CellPieces) -> tuple[str, ...]:
        notes = []
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
        return tuple(notes)


@dataclass(frozen=True, eq=False)
class Support:
    """Which profiles are seen in one group only, and how many people are in them?"""

    one_sided: Mask  # per profile
    in_lone_stratum: Mask  # per profile: its stratum is seen in one group only
    weight: Array  # per profile, both groups

    @property
    def share_outside(self) -> float:
        """What share of people has no counterpart with the same values?"""
        return float(self.weight[self.one_sided].sum() / self.weight.sum())

    @property
    def share_in_lone_strata(self) -> float:
        """What share of people has confounders that the other group never has?"""
        return float(self.weight[self.in_lone_stratum].sum() / self.weight.sum())


def support_of(pair: CellPair) -> Support:
    """Where do the two groups meet?"""
    weight, stratum = pair.by_profile(pair.sums.w), pair.stratum
    starts = np.flatnonzero(np.diff(stratum, prepend=-1))
    lone = (np.add.reduceat(weight, starts, axis=1) == 0).any(axis=0)
    return Support((weight == 0).any(axis=0), lone[stratum], weight.sum(axis=0))


def _check_sizes(pair: CellPair) -> None:
    """One person says nothing about how much people vary."""
    rows = np.bincount(pair.group, pair.sums.rows * (pair.sums.w > 0), minlength=2)
    for role, name in enumerate(("reference", "comparison")):
        if rows[role] < FEWEST_ROWS:
            raise OverlapError(
                f"the {name} group has {rows[role]:.0f} row; at least {FEWEST_ROWS} are needed to "
                "tell how sure one can be of its mean"
            )


def _pieces(pair: CellPair, kept: Mask, weight: Array, outcome: Array) -> CellPieces:
    _, stratum = np.unique(pair.stratum[kept], return_inverse=True)
    saturated = Saturated(weight[:, kept], outcome[:, kept], stratum.reshape(-1))
    return CellPieces(pair, kept, saturated)


def _closed_form(
    pair: CellPair, pieces: CellPieces, whole: CellPieces
) -> tuple[WorldMeans, Effect]:
    basis = Basis(pair.cells.fingerprint, "cells")
    share = pieces.saturated.group_weight[1] / pieces.saturated.weight.sum()
    values, spreads = pool(
        pieces.saturated.means, pieces.spreads(), float(share), pieces.share_spread()
    )
    plain = _plain_means(whole.saturated)
    spread = whole.group_mean_spread(1) - whole.group_mean_spread(0)
    raw_gap = Effect("total", float(plain[1] - plain[0]), spread, basis, frozenset(ASSUMPTIONS))
    return WorldMeans(values, spreads, basis, frozenset(ASSUMPTIONS)), raw_gap


def _plain_means(saturated: Saturated) -> Array:
    weight = saturated.weight
    return np.asarray((saturated.outcome * weight).sum(axis=-1) / weight.sum(axis=-1))


def _with_everyone(saturated: Saturated) -> Array:
    means, weight = saturated.means, saturated.group_weight
    share = (weight[..., 1] / weight.sum(axis=-1))[..., None, None]
    pooled = (1 - share) * means[..., 0] + share * means[..., 1]
    return np.concatenate([means, pooled[..., None]], axis=-1)


def _from_replicates(
    drawn: Array, gaps: Array, pieces: CellPieces, whole: CellPieces, basis: Basis
) -> tuple[WorldMeans, Effect]:
    root = np.sqrt(len(drawn) - 1)
    values = _with_everyone(pieces.saturated)
    spreads = np.moveaxis((drawn - drawn.mean(axis=0)) / root, 0, -1)
    plain = _plain_means(whole.saturated)
    raw_gap = Effect(
        "total",
        float(plain[1] - plain[0]),
        (gaps - gaps.mean()) / root,
        basis,
        frozenset(ASSUMPTIONS),
    )
    return WorldMeans(values, spreads, basis, frozenset(ASSUMPTIONS)), raw_gap


def _overlap(pieces: CellPieces, share_outside: float) -> Overlap:
    """How much are a group's rows worth, weighted as some world asks? The worst of all worlds."""
    strained = []
    sums, group, profile = pieces.pair.sums, pieces.pair.group, pieces.pair.profile
    for i, j, k in ((i, 1 - i, k) for i in (0, 1) for k in (0, 1)):
        ratio = np.zeros(len(pieces.kept))
        ratio[pieces.kept] = pieces.weights(i, j, k)
        inside = (group == i) & (sums.w > 0)
        on_rows = ratio[profile[inside]]
        total = float(on_rows @ sums.w[inside])
        squares = float(on_rows**2 @ sums.w2[inside])
        if squares > 0:
            of_rows = int(sums.rows[inside].sum())
            per_row = on_rows * sums.w[inside] / np.maximum(sums.rows[inside], 1)
            strained.append((total**2 / squares, of_rows, float(per_row.max()) / total))
    if not strained:
        return Overlap(share_outside_support=share_outside)
    effective, of_rows, _ = min(strained, key=lambda found: found[0] / found[1])
    return Overlap(share_outside, effective, of_rows, max(found[2] for found in strained))


def _collapse(pair: CellPair) -> sparse.csr_array:
    """The matrix that adds the cells of the whole table up to those of the two groups' profiles."""
    profiles = len(pair.stratum)
    at = pair.group.astype(np.int64) * profiles + pair.profile
    shape = (len(pair.cells), 2 * profiles)
    return sparse.csr_array((np.ones(len(at)), (pair.index, at)), shape=shape)


def _refusal(pair: CellPair, where: Mask, kind: str) -> str:
    rows = pair.by_profile(pair.sums.rows).sum(axis=0)
    lost = np.where(where, rows, 0.0)
    worst = np.argsort(-lost, kind="stable")[: min(WORST_CELLS_NAMED, int(where.sum()))]
    named = "; ".join(f"{pair.describe(p)} ({lost[p]:,.0f} rows)" for p in worst)
    share = lost.sum() / rows.sum()
    count = int(where.sum())
    many = f"{count:,} combinations of" if count > 1 else "one combination of"
    return (
        f"{many} {kind}confounders, with {share:.1%} of the rows, {'are' if count > 1 else 'is'} "
        f"seen in one group only, for instance {named}. Choose what to do: "
        "Strata(empty_cells='restrict') compares where both groups are seen, a model given as "
        "empty_cells fills in its own predictions, DoublyRobust() smooths over the gaps; or use "
        "fewer or coarser columns"
    )
