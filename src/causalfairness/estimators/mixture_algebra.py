"""What do two groups' Gaussian mixtures say about the world means, and how far do they overlap?

Within a group, components h have a share, a normal distribution of confounders and mediators, and
an outcome that is linear in both. From the Cholesky factor of each covariance, in the order
confounders, mediators, everything follows: with e the whitened values,

    P(c | k)         share_h N(e_c)                       the marginal mixture
    P(m | j, c)      mean_m + L_mc e_c + L_mm noise       within h, chosen in proportion to N(e_c)
    E[y | i, m, c]   level_h + slope_h . e                weighted in proportion to N(e)

and mu[i, j, k] averages the third over the second over the first. mu[k, k, k] is the mean of the
outcomes' levels, without any integral; the other means are integrals of differences from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from causalfairness.effects import Overlap
from causalfairness.estimators.nuisance import Sample
from causalfairness.estimators.one_step import Guard, refuse_if_strained, weigh
from causalfairness.tables import RowPair

Array = NDArray[np.float64]
RIDGE = 1e-6  # added to variances, as a share of each column's variance
LARGEST = 100.0  # logarithm of a ratio; far above any level at which ratios are cut


class Cell(NamedTuple):
    """Which rows of a group have one combination of discrete columns, the outcome included if it is
    one of them, and which mixture describes their numbers?"""

    group: int
    stratum: str  # discrete confounders
    profile: str  # discrete confounders and mediators
    level: float  # the outcome if it is discrete, else what 0 among `numbers` stands for
    rows: NDArray[np.int64]  # of the pair
    numbers: Array  # other confounders, other mediators, and the outcome unless it is discrete
    shares: bool = True  # does its one component have the covariance within all of the group's?
    mixture: Any = None  # of several components, fitted by scikit-learn


class Components(NamedTuple):
    """Which normal distributions make up one group?"""

    share: Array  # (h,)
    stratum: NDArray[np.str_]  # (h,)
    profile: NDArray[np.str_]  # (h,)
    mean: Array  # (h, d) confounders, then mediators
    factor: Array  # (h, d, d) lower triangular: covariance = factor factor'
    level: Array  # (h,) mean outcome
    slope: Array  # (h, d) change of the outcome with the whitened values

    @classmethod
    def of(cls, cells: Sequence[Cell], d: int, scale: float) -> Components:
        """Which ones make up a group's cells? An outcome follows d numbers, in units of `scale`."""
        sizes = np.array([len(cell.numbers) for cell in cells])
        centers = [cell.numbers.mean(axis=0) for cell in cells]
        apart = [cell.numbers - at for cell, at in zip(cells, centers, strict=True)]
        own = np.array([x.T @ x / len(x) for x in apart]) + RIDGE * np.eye(apart[0].shape[1])
        shared = np.average(own, axis=0, weights=sizes)
        fitted = [
            (np.ones(1), center[None], (shared if cell.shares else covariance)[None])
            if cell.mixture is None
            else (cell.mixture.weights_, cell.mixture.means_, cell.mixture.covariances_)
            for cell, center, covariance in zip(cells, centers, own, strict=True)
        ]
        which = np.repeat(np.arange(len(cells)), [len(shares) for shares, _, _ in fitted])
        shares, mean, covariance = (np.concatenate(each) for each in zip(*fitted, strict=True))
        factor = np.linalg.cholesky(covariance)
        return cls(
            share=shares * sizes[which] / sizes.sum(),
            stratum=np.array([cell.stratum for cell in cells])[which],
            profile=np.array([cell.profile for cell in cells])[which],
            mean=mean[:, :d],
            factor=factor[:, :d, :d],
            level=np.array([cell.level for cell in cells])[which] + scale * mean[:, d:].sum(axis=1),
            slope=scale * factor[:, d:, :d].sum(axis=1),
        )

    def part(self, chosen: Any) -> Components:
        """Which components are these alone?"""
        return Components(*(field[chosen] for field in self))

    def log_density(self, points: Array) -> tuple[Array, Array]:
        """How dense is each component at each point, up to a constant (points, h), and how far off
        is the point in standard deviations (points, h, d)? Points may lack the last coordinates."""
        d = points.shape[1]
        inverse = np.linalg.inv(self.factor[:, :d, :d])
        center = np.einsum("hab,hb->ha", inverse, self.mean[:, :d])
        whitened = np.tensordot(points, inverse, ((1,), (2,))) - center
        narrow = np.log(np.diagonal(inverse, axis1=1, axis2=2)).sum(axis=1)
        logs = np.log(self.share) + narrow - np.einsum("phd,phd->ph", whitened, whitened) / 2
        return logs, whitened

    def expected_outcome(self, points: Array) -> Array:
        """Which outcome is expected, given the coordinates that the points have?"""
        logs, whitened = self.log_density(points)
        within = self.level + np.einsum("phd,hd->ph", whitened, self.slope[:, : points.shape[1]])
        return np.asarray((softmax(logs, axis=1) * within).sum(axis=1))


def means_of(groups: Sequence[Components], confounders: int, normals: Array) -> Array:
    """What is the mean outcome in each world (2, 2, 2)? The draws are people of every component."""
    means, c = np.empty((2, 2, 2)), confounders
    for k, own in enumerate(groups):
        means[:, :, k] = own.share @ own.level
        for stratum in np.unique(own.stratum):
            inside = [group.part(group.stratum == stratum) for group in groups]
            share, center, factor = inside[k].share, inside[k].mean[:, None, :c], inside[k].factor
            points = center + normals[:, :c] @ factor[:, :c, :c].swapaxes(1, 2)
            counts = np.repeat(share / len(normals), len(normals))
            points, noise = points.reshape(len(counts), c), np.tile(normals[:, c:], (len(share), 1))
            plain = [group.expected_outcome(points) for group in inside]
            for i, j in ((0, 1), (1, 0)):
                means[i, i, k] += counts @ (plain[i] - plain[k])
                moved = _direct(inside[i], inside[j], points, noise)
                means[i, j, k] += counts @ (plain[j] + moved - plain[k])
    return means


def _direct(told: Components, others: Components, points: Array, noise: Array) -> Array:
    """How much more than `others` would people with `others`' mediators get in group `told`?"""
    c, moved = points.shape[1], np.zeros(len(points))
    logs, whitened = others.log_density(points)
    owned = softmax(logs, axis=1)
    for h, profile in enumerate(others.profile):
        factor = others.factor[h, c:]
        mediators = others.mean[h, c:] + whitened[:, h] @ factor[:, :c].T + noise @ factor[:, c:].T
        people = np.column_stack([points, mediators])
        gain, lost = (g.part(g.profile == profile).expected_outcome(people) for g in (told, others))
        moved += owned[:, h] * (gain - lost)
    return moved


def overlap_of(
    groups: Sequence[Components], cells: Sequence[Cell], confounders: int, pair: RowPair
) -> Overlap:
    """How far do the groups overlap, in the world that asks most? Refuses if hardly at all.

    A row of group i needs the weight P(m | j, c) P(c | k) / P(m, c | i) in world (i, j, k)."""
    dense = np.concatenate([_log_densities(groups, cell, confounders) for cell in cells], axis=2)
    group = np.repeat([cell.group for cell in cells], [len(cell.numbers) for cell in cells])
    rows = np.concatenate([cell.rows for cell in cells])
    told = pair.confounders[rows], pair.mediators[rows], pair.measured[rows]
    sample, guard = Sample(pair.group[rows], *told, None), Guard.of(None, pair.model)
    (everything, given_c), strains = dense, []
    for i, k in product((0, 1), repeat=2):
        wanted = everything[1 - i] - everything[i] + given_c[k] - given_c[1 - i]
        ratio, ones = np.exp(np.minimum(wanted, LARGEST)), np.ones(len(group))
        strains.append(weigh(ratio, ones, group == i, (i, 1 - i, k), i, guard)[1])
        refuse_if_strained(strains[-1], guard, sample, unseen=False)
    worst = min(strains, key=lambda strain: strain.effective / strain.rows)
    return Overlap(None, worst.effective, worst.rows, max(strain.largest for strain in strains))


def _log_densities(groups: Sequence[Components], cell: Cell, c: int) -> Array:
    """How dense are the groups at these rows, in all columns and in confounders? (2, 2, rows)"""
    points = cell.numbers[:, : groups[0].mean.shape[1]]
    both = [
        [(group.part(group.profile == cell.profile), points) for group in groups],
        [(group.part(group.stratum == cell.stratum), points[:, :c]) for group in groups],
    ]
    return np.array([[logsumexp(g.log_density(x)[0], axis=1) for g, x in pair] for pair in both])
