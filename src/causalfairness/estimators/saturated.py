"""What do the cells of two groups say about the world means?

    mu[i, j, k] = sum_s P(s | k) sum_{p in s} P(p | j, s) Q[i, p]

over strata s (values of the confounders) and the profiles p in them (values of confounders and
mediators), where Q[i, p] is the mean outcome of group i in profile p and all frequencies are the
observed ones. The uncertainty is the influence function of methods §2.1 item 5 with exactly these
frequencies in place of models, so it is a sum over cells and needs no resampling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.effect import Blocks
from causalfairness.effects.second_moments import SecondMoments, StageArrays, second_moments
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.within_cells import (
    Moments,
    covariance,
    factor_of,
    ratio,
    shrunk_covariance,
)
from causalfairness.tables import CellPair, CellSums
from causalfairness.tables.rows import encode

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Saturated:
    """How do two groups fill the profiles in use, and what is the mean outcome in each?

    `weight` and `outcome` are (..., 2, profiles); leading axes are replicates. `stratum` numbers
    each profile's stratum from 0, in order.
    """

    weight: Array
    outcome: Array  # Q: mean outcome, filled where a group has no rows
    stratum: Positions

    @cached_property
    def starts(self) -> Positions:
        """Where does each stratum's run of profiles begin?"""
        return np.flatnonzero(np.diff(self.stratum, prepend=-1))

    @cached_property
    def stratum_weight(self) -> Array:
        """How much does each group weigh in each stratum? (..., 2, strata)"""
        return np.add.reduceat(self.weight, self.starts, axis=-1)

    @cached_property
    def nested(self) -> Array:
        """What is the mean of Q[i] over group j's profiles in a stratum? (..., i, j, strata)

        Zero where group j is not in the stratum.
        """
        products = self.outcome[..., :, None, :] * self.weight[..., None, :, :]
        return ratio(
            np.add.reduceat(products, self.starts, axis=-1), self.stratum_weight[..., None, :, :]
        )

    @cached_property
    def means(self) -> Array:
        """What are the world means within each group? (..., i, j, k)"""
        weight = self.stratum_weight
        total = weight.sum(axis=-1)
        added = np.einsum("...ijs,...ks->...ijk", self.nested, weight)
        return np.asarray(added / total[..., None, None, :])

    @property
    def group_weight(self) -> Array:
        """How much does each group weigh?"""
        return np.asarray(self.weight.sum(axis=-1), dtype=float)

    @property
    def counted(self) -> Array:
        """What share of all people is in each group and profile? (2, profiles)"""
        return np.asarray(self.weight / self.weight.sum())

    def weights_of(self, i: int, j: int, k: int) -> Array:
        """By how much does a row of group i count in mu[i, j, k]? Mean 1 over the group."""
        to_j = ratio(self.weight[j], self.weight[i])
        to_k = ratio(self.stratum_weight[k], self.stratum_weight[j])[self.stratum]
        return to_j * to_k * float(self.group_weight[i] / self.group_weight[k])

    def stage_arrays(self, within: Array) -> StageArrays:
        """What does each profile count, and what is left unexplained in it? (methods §12)

        `within` (2, profiles) is the mean of (y - Q)^2.
        """
        weights = np.stack([self.weights_of(*world) for world in product((0, 1), repeat=3)])
        weights = weights.reshape(2, 2, 2, -1) / self.counted.sum(axis=1)[:, None, None, None]
        between = self.outcome - np.swapaxes(self.nested, 0, 1)[..., self.stratum]  # by j, then i
        own = np.stack([between[g, g] for g in (0, 1)])
        return StageArrays(weights, within, between, within + own**2)


@dataclass(frozen=True, eq=False)
class CellPieces:
    """What does each cell contribute to the uncertainty?

    For every row of a cell the influence on a world mean is m + q (y - Q). Per cell this makes two
    coordinates: what the cell has in common, and what varies within it (methods §2.1 item 1); with
    weights, or pooled groups, deviations from Q do not average to zero and join the first.

    In small cells Q is noisy itself, and its noise already shows in how m varies from cell to cell:
    by 1 / (rows of group j in the profile) of what varies within. That much is taken off the second
    coordinate. For a group's own mean nothing is estimated at all, and both coordinates together
    are the plain variance of its rows.

    Two measurements that were counted together have one coordinate more: what varies within a cell
    is the Cholesky factor of their covariance there, one row of it for each. The last coordinate is
    that of two more people per group.
    """

    pair: CellPair
    kept: Mask  # which profiles are in use
    saturated: Saturated  # those profiles only

    def spreads(self) -> Array:
        """What are the spreads of the world means within each group? (2, 2, 2, coordinates)"""
        pieces = np.zeros((2, 2, 2, self._width * len(self.pair.cells)))
        for world in product((0, 1), repeat=3):
            i, j, k = self._collapsed(*world)
            if i == j == k:
                pieces[world] = self.group_mean_spread(k)
            else:
                pieces[world] = self.place(*self._influence(i, j, k), self._noise[j])
        return pieces

    def _collapsed(self, i: int, j: int, k: int) -> tuple[int, int, int]:
        """The simplest world with this mean: without mediators j has nobody to tell, without
        confounders the groups do not differ in anything that k decides."""
        model, everywhere = self.pair.model, bool((self.saturated.weight > 0).all())
        if everywhere and not model.mediators:
            j = i
        if everywhere and not model.confounders:
            k = j
        return i, j, k

    def group_mean_spread(self, k: int) -> Array:
        """What is the spread of a group's plain mean?"""
        sat = self.saturated
        share = sat.group_weight[k] / sat.weight.sum()
        common, slope = np.zeros_like(sat.weight), np.zeros_like(sat.weight)
        mean = np.average(sat.outcome[k], weights=sat.weight[k])
        common[k], slope[k] = (sat.outcome[k] - mean) / share, 1 / share
        return self.place(common, slope, self._plain_noise)

    def share_spread(self) -> Array:
        """What is the spread of the comparison group's share?"""
        weight = self.saturated.weight
        share = self.saturated.group_weight[1] / weight.sum()
        common = np.zeros_like(weight)
        common[0], common[1] = -share, 1 - share
        return self.place(common, np.zeros_like(weight), self._plain_noise)

    def place(self, common: Array, slope: Array, noise: Array) -> Array:
        """Where do influences m and q per (group, profile) stand among the coordinates?"""
        sums, group, profile = self._cells
        m, q = common[group, profile], slope[group, profile]
        # sum w^2 (y - Q): zero without weights and pooling
        deviation = sums.w2y - self.saturated.outcome[group, profile] * sums.w2
        first = np.sqrt(sums.w2) * m + ratio(deviation, np.sqrt(sums.w2)) * q
        spread = np.zeros((len(self.pair.cells), self._width))
        index = self.pair.index[self._inside]
        spread[index, 0], spread[index, 1:-1] = first, noise * q[:, None]
        spread[index, -1] = np.sqrt(sums.w2 * self.added.variance[group]) * q
        return spread.reshape(-1) / float(self.saturated.weight.sum())

    def second_moments(self) -> SecondMoments:
        """What are the second moments of weights and residuals?"""
        arrays = self.saturated.stage_arrays(self.residual_squares())
        without = not self.pair.model.mediators
        return second_moments(arrays, self.saturated.counted, without_mediators=without)

    def residual_squares(self) -> Array:
        """What is the mean of (y - Q)^2 in each group and profile? Small cells borrow."""
        sums, at = self._cells[0], self._cells[1:]
        away = ratio(sums.wy, sums.w) - self.saturated.outcome[at]
        squares = shrunk_covariance(Moments.of(sums), at[0]) + away**2
        added, weight = np.zeros((2, *self.saturated.weight.shape))
        np.add.at(added, at, sums.w * squares)
        np.add.at(weight, at, sums.w)
        return ratio(added, weight)

    def _influence(self, i: int, j: int, k: int) -> tuple[Array, Array]:
        sat = self.saturated
        share = sat.group_weight / sat.weight.sum()
        nested, mean = sat.nested[i, j], sat.means[i, j, k]
        to_k = ratio(sat.stratum_weight[k], sat.stratum_weight[j])[sat.stratum] / share[k]
        common, slope = np.zeros_like(sat.weight), np.zeros_like(sat.weight)
        common[j] += to_k * (sat.outcome[i] - nested[sat.stratum])
        common[k] += (nested[sat.stratum] - mean) / share[k]
        slope[i] = ratio(sat.weight[j], sat.weight[i]) * to_k
        return common, slope

    @cached_property
    def _inside(self) -> Positions:
        return np.flatnonzero(self.kept[self.pair.profile])

    @cached_property
    def _cells(self) -> tuple[CellSums, Positions, Positions]:
        inside, renumbered = self._inside, np.cumsum(self.kept) - 1
        profile = renumbered[self.pair.profile[inside]]
        return self.pair.sums.take(inside), self.pair.group[inside].astype(np.int64), profile

    @property
    def _width(self) -> int:
        """How many coordinates does a cell have?"""
        return 3 if self.pair.beside is None else 4

    @cached_property
    def added(self) -> AddedPeople:
        """Two more people per group, of all its rows, in use or not."""
        return AddedPeople.of_cells(self.pair)

    def split(self, spreads: Array) -> tuple[Array, Blocks]:
        """Spreads over the cells' own coordinates, and the block of the last one."""
        of_cell = spreads.reshape(*spreads.shape[:-1], -1, self._width)
        own = of_cell[..., :-1].reshape(*spreads.shape[:-1], -1)
        return own, {self.added.block: of_cell[..., -1]}

    @cached_property
    def _plain_noise(self) -> Array:
        """Root of sum w^2 (y - cell mean)^2 per cell, as it is. (cells, 1 or 2)"""
        sums, _, _ = self._cells
        return np.asarray(np.sqrt(sums.w2)[:, None] * self._factor(covariance))

    @cached_property
    def _noise(self) -> tuple[Array, Array]:
        """The same where mediators are told 0 or 1, small cells borrowing from their group."""
        sums, group, profile = self._cells
        factor = self._factor(lambda cells: shrunk_covariance(cells, group))
        rows = np.zeros((2, self.saturated.weight.shape[-1]))
        np.add.at(rows, (group, profile), ratio(sums.w**2, sums.w2))
        told = (np.sqrt(sums.w2 * _unshared(rows[j, profile]))[:, None] for j in (0, 1))
        return next(told) * factor, next(told) * factor

    def _factor(self, of: Callable[[Moments], Array]) -> Array:
        """What varies within each cell, as coordinates whose inner products are covariances."""
        sums, beside = self._cells[0], self.pair.beside
        variance = of(Moments.of(sums))
        if beside is None:
            return factor_of(variance, None)
        if not beside.goes_first:
            return np.column_stack([factor_of(variance, None), np.zeros(len(variance))])
        inside = beside.take(self._inside)
        first = of(Moments.of(inside.sums)), of(Moments.across(sums, inside))
        return factor_of(variance, first)


def _unshared(rows: Array) -> Array:
    """The part of a cell's noise that does not show in the means of the cells already."""
    return np.maximum(1 - ratio(np.ones_like(rows), rows), 0.0)


def smooth(cells: Saturated, rows: float, guess: Array) -> Saturated:
    """What do small cells say, if they lean on their neighbors with this many pseudo-rows, s?

        P(m | j, c)     = (n_jmc + s P(m | c)) / (n_jc + s)
        E[y | i, m, c]  = (sum of y + s g(i, m, c)) / (n_imc + s)

    Pseudo-rows of a stratum have the mediators of both groups pooled, those of a cell the outcome
    of a guess g, the additive fit to all cells. How people are spread over strata is left alone.
    With many rows per cell nothing changes; with few, noise is traded for some bias towards equal
    mediators and additive outcomes.

    >>> few = Saturated(np.array([[1.0, 3.0], [2.0, 2.0]]), np.ones((2, 2)), np.zeros(2, int))
    >>> leaned = smooth(few, 4.0, np.zeros((2, 2)))
    >>> leaned.weight.tolist(), leaned.outcome.round(3).tolist()
    ([[1.25, 2.75], [1.75, 2.25]], [[0.2, 0.429], [0.333, 0.333]])
    """
    of_stratum = cells.stratum_weight[..., cells.stratum]
    pooled = cells.weight.sum(axis=-2, keepdims=True)
    share = pooled / of_stratum.sum(axis=-2, keepdims=True)
    weight = of_stratum * (cells.weight + rows * share) / (of_stratum + rows)
    outcome = (cells.weight * cells.outcome + rows * guess) / (cells.weight + rows)
    return Saturated(weight, outcome, cells.stratum)


def fit_additive(pair: CellPair, weight: Array, outcome: Array) -> Array:
    """What does an additive fit to the observed cells say about every group and profile?

    Ridge regression of the cell means on group, confounders and mediators, labels as indicators;
    rows count by their weight. (2, profiles)
    """
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    first = pair.index[np.unique(pair.profile, return_index=True)[1]]
    keys = pair.cells.keys[len(pair.model.protected_columns) :]
    known = encode(keys, first)
    design = np.vstack([np.column_stack([np.full(len(known), g), known]) for g in (0.0, 1.0)])
    seen = weight.ravel() > 0
    fit = make_pipeline(StandardScaler(), Ridge(alpha=1.0))
    per_row = weight.ravel()[seen] * (pair.sums.rows.sum() / weight.sum())  # whatever their scale
    fit.fit(design[seen], outcome.ravel()[seen], ridge__sample_weight=per_row)
    return np.asarray(fit.predict(design), dtype=float).reshape(2, -1)
