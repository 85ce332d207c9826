"""What do two groups' mixtures say about the world means?

Within a group, components h have a share, a normal distribution of confounders and mediators, and
an outcome that is linear in both. From the Cholesky factor of each covariance, in the order
confounders, mediators, everything follows: with e the whitened values,

    P(c | k)         share_h N(e_c)                       the marginal mixture
    P(m | j, c)      mean_m + L_mc e_c + L_mm noise       within h, chosen in proportion to N(e_c)
    E[y | i, m, c]   level_h + slope_h . e                weighted in proportion to N(e)

and mu[i, j, k] averages the third over the second over the first. mu[k, k, k] is the mean of the
outcomes' levels, without any integral. The other means are integrals of differences from that
world over quasi-random draws, which are drawn once and kept for every replicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
FEWEST_DRAWS = 16  # for a component, however small its share
BITS = 30


@dataclass(frozen=True, eq=False)
class Components:
    """Which normal distributions make up one group? Sorted by profile, hence by stratum.

    >>> unit = Components(
    ...     share=np.ones(1), stratum=np.zeros(1, int), profile=np.zeros(1, int),
    ...     mean=np.zeros((1, 1)), factor=np.ones((1, 1, 1)), inverse=np.ones((1, 1, 1)),
    ...     level=np.full(1, 0.5), slope=np.full((1, 1), 2.0))
    >>> unit.expected_outcome(np.array([[3.0]]))
    array([6.5])
    """

    share: Array  # (h,)
    stratum: Positions  # (h,)
    profile: Positions  # (h,)
    mean: Array  # (h, d) confounders, then mediators
    factor: Array  # (h, d, d) lower triangular: covariance = factor factor'
    inverse: Array  # (h, d, d) of the factor
    level: Array  # (h,) mean outcome
    slope: Array  # (h, d) change of the outcome with the whitened values

    def __len__(self) -> int:
        return len(self.share)

    def part(self, chosen: slice) -> Components:
        """Which components are these alone?"""
        return Components(
            share=self.share[chosen],
            stratum=self.stratum[chosen],
            profile=self.profile[chosen],
            mean=self.mean[chosen],
            factor=self.factor[chosen],
            inverse=self.inverse[chosen],
            level=self.level[chosen],
            slope=self.slope[chosen],
        )

    def in_stratum(self, stratum: int) -> Components:
        """Which components have these discrete confounders?"""
        return self.part(_run(self.stratum, stratum))

    def in_profile(self, profile: int) -> Components:
        """Which components have these discrete confounders and mediators?"""
        return self.part(_run(self.profile, profile))

    @cached_property
    def log_root(self) -> Array:
        """How wide is each component, coordinate by coordinate? Cumulated logs of the factor."""
        return np.cumsum(np.log(np.diagonal(self.factor, axis1=1, axis2=2)), axis=1)

    def whiten(self, points: Array) -> Array:
        """How many standard deviations off is each point, for each component? (points, h, d)

        Points may have the first few coordinates only.
        """
        d = points.shape[1]
        inverse = self.inverse[:, :d, :d]
        center = np.einsum("hab,hb->ha", inverse, self.mean[:, :d])
        return np.asarray(np.tensordot(points, inverse, ((1,), (2,))) - center)

    def log_density(self, whitened: Array) -> Array:
        """How dense is each component there, its share included, up to a constant? (points, h)"""
        d = whitened.shape[2]
        constant = np.log(self.share) - (self.log_root[:, d - 1] if d else 0.0)
        return np.asarray(constant - np.einsum("phd,phd->ph", whitened, whitened) / 2)

    def ownership(self, whitened: Array) -> Array:
        """How likely does each point come from each component? (points, h)"""
        logs = self.log_density(whitened)
        owned = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(owned / owned.sum(axis=1, keepdims=True))

    def expected_outcome(self, points: Array) -> Array:
        """Which outcome is expected, given the coordinates that the points have?"""
        whitened = self.whiten(points)
        within = self.level + np.einsum("phd,hd->ph", whitened, self.slope[:, : points.shape[1]])
        return np.asarray((self.ownership(whitened) * within).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Draws:
    """Which standard normal numbers stand for the people of each group and stratum?

    One block per component of the group: (draws, confounders + mediators). Without continuous
    confounders the components of a stratum do not differ in them, and share the first block.
    """

    blocks: tuple[tuple[tuple[Array, ...], ...], ...]  # by group, stratum, component
    confounders: int

    def people(self, k: int, stratum: int, components: Components) -> tuple[Array, Array, Array]:
        """Which confounders do they have, how much do they count, and which noise moves M?"""
        blocks, c = self.blocks[k][stratum], self.confounders
        if c == 0:
            counts = np.full(len(blocks[0]), components.share.sum() / len(blocks[0]))
            return blocks[0][:, :0], counts, blocks[0]
        factor, mean = components.factor[:, :c, :c], components.mean[:, :c]
        points = [m + block[:, :c] @ f.T for m, f, block in zip(mean, factor, blocks, strict=True)]
        sizes = np.array([len(block) for block in blocks])
        counts = np.repeat(components.share / sizes, sizes)
        return np.concatenate(points), counts, np.concatenate(blocks)[:, c:]


def draw_people(
    groups: Sequence[Components], confounders: int, draws: int, rng: np.random.Generator
) -> Draws:
    """Which draws stand for each group? About `draws` each, shared out by the components' shares.

    Sobol points with a random digital shift, each with its mirror image: linear functions are
    integrated exactly, smooth ones with an error that falls almost as fast as the draws grow.
    """
    d = groups[0].mean.shape[1]
    grid = _sobol(draws // 2, d)
    strata = range(int(groups[0].stratum.max()) + 1)

    def block(share: float) -> Array:
        wanted = np.clip(share * draws, FEWEST_DRAWS, draws)
        return _normals(grid[: 2 ** round(np.log2(wanted / 2))], rng)

    if confounders == 0:
        largest = [max(g.in_stratum(s).share.sum() for g in groups) for s in strata]
        shared = tuple((block(share),) for share in largest)
        return Draws((shared, shared), 0)
    blocks = [
        tuple(tuple(block(share) for share in group.in_stratum(s).share) for s in strata)
        for group in groups
    ]
    return Draws(tuple(blocks), confounders)


def world_means(groups: tuple[Components, Components], draws: Draws) -> Array:
    """What is the mean outcome in each world, among either group? (2, 2, 2)"""
    means = np.empty((2, 2, 2))
    for k, own in enumerate(groups):
        means[:, :, k] = own.share @ own.level
        for stratum in range(len(draws.blocks[k])):
            inside = tuple(group.in_stratum(stratum) for group in groups)
            points, counts, noise = draws.people(k, stratum, inside[k])
            plain = [one.expected_outcome(points) for one in inside]
            for i in (0, 1):
                means[i, i, k] += counts @ (plain[i] - plain[k])
                j = 1 - i
                moved = _direct(inside[i], inside[j], points, noise)
                means[i, j, k] += counts @ (plain[j] + moved - plain[k])
    return means


def _sobol(count: int, d: int) -> NDArray[np.int64]:
    """The first points of the Sobol sequence, as whole numbers below 2^30."""
    from scipy.stats import qmc

    points = qmc.Sobol(d, scramble=False).random_base2(int(np.log2(count)))
    return np.asarray(points * 2**BITS).astype(np.int64)


def _normals(grid: NDArray[np.int64], rng: np.random.Generator) -> Array:
    shifted = grid ^ rng.integers(0, 2**BITS, grid.shape[1])
    half = ndtri((shifted + 0.5) / 2**BITS)
    return np.concatenate([half, -half])


def _direct(told: Components, others: Components, points: Array, noise: Array) -> Array:
    """How much more than `others` would people with `others`' mediators get in group `told`?"""
    c = points.shape[1]
    whitened = others.whiten(points)
    owned = others.ownership(whitened)
    mediators = (
        others.mean[:, c:]
        + np.einsum("phc,hmc->phm", whitened, others.factor[:, c:, :c])
        + np.einsum("pn,hmn->phm", noise, others.factor[:, c:, c:])
    )
    moved = np.zeros(len(points))
    for profile in np.unique(others.profile):
        run = _run(others.profile, profile)
        m = mediators[:, run]
        known = np.broadcast_to(points[:, None], (*m.shape[:2], c))
        people = np.concatenate([known, m], axis=2)
        people = people.reshape(len(points) * m.shape[1], c + m.shape[2])
        gain = told.in_profile(profile).expected_outcome(people)
        gain = gain - others.part(run).expected_outcome(people)
        moved += (owned[:, run] * gain.reshape(m.shape[:2])).sum(axis=1)
    return moved


def _run(sorted_codes: Positions, code: int) -> slice:
    low, high = np.searchsorted(sorted_codes, (code, code + 1))
    return slice(int(low), int(high))
