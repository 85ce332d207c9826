"""What do Gaussian mixtures say about the world means?

Each group's confounders, mediators and outcome are described by mixtures of normal distributions,
one per combination of the discrete columns; P(c | k), P(m | j, c) and E[y | i, m, c] follow from
them by conditioning and are put together as they are (methods §2.1 item 2). A plug-in: where the
columns are not mixtures of a few normal distributions, the answer is biased. EM keeps the groups'
means, so the parts add up to the plain gap; `misfit` would show what is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Diagnostics, Estimate, WorldMeans
from causalfairness.estimators.bootstrap import bootstrap, check_replicates, row_weights
from causalfairness.estimators.mixture_algebra import (
    Components,
    Draws,
    draw_people,
    world_means,
)
from causalfairness.estimators.mixture_columns import RIDGE, Arranged, Discrete, arrange
from causalfairness.estimators.mixture_fit import MixtureFit, fit_mixtures
from causalfairness.estimators.mixture_overlap import overlap_of
from causalfairness.estimators.protocol import ASSUMPTIONS
from causalfairness.estimators.saturated import Saturated
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import run_all
from causalfairness.tables import Of, Rows, Table

Array = NDArray[np.float64]
SETS, FINER = 4, 4  # sets of draws for the values, and how much larger than the replicates' each is
FEWEST = 64  # draws
LARGE = 0.1  # share of a standard error that integration should not reach
MIXTURES = (
    "in each stratum of either group the continuous columns follow a mixture of a few normal "
    "distributions",
    "standard errors hold the number of components fixed",
)


@dataclass(frozen=True)
class Mixture:
    """What do Gaussian mixtures say about the world means?

    `components` is the number of normal distributions in each stratum; None lets BIC choose, up to
    `most`. `discrete` says what happens to columns with few values: `"strata"` fits a mixture to
    each combination of them, `"dequantize"` adds seeded uniform noise to whole numbers, which
    needs fewer rows and blurs the answer a little. Standard errors come from `replicates` refits
    under random row weights, each integrated over about `draws` quasi-random people per group; the
    means themselves are integrated over sixteen times as many.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> mixture = cf.estimators.Mixture(replicates=20)
    >>> found = cf.decompose_disparity(world.draw(500, seed=0), world.model, estimator=mixture)
    >>> error = found.direct.value - world.true_effects()["direct"]
    >>> bool(abs(error) < 4 * found.direct.standard_error)
    True
    >>> found.diagnostics.notes[2]
    'reference group: 1 component'
    """

    components: int | None = None
    most: int = 5
    discrete: Discrete = "strata"
    replicates: int = 100
    draws: int = 1024

    def __post_init__(self) -> None:
        if self.components is not None and not _is_count(self.components):
            raise ValueError(
                f"components must be None or a whole number, at least 1; found {self.components!r}"
            )
        if not _is_count(self.most):
            raise ValueError(f"most must be a whole number, at least 1; found {self.most!r}")
        if self.discrete not in ("strata", "dequantize"):
            raise ValueError(f"discrete must be 'strata' or 'dequantize'; found {self.discrete!r}")
        check_replicates(self.replicates)
        if not _is_count(self.draws) or self.draws < FEWEST or self.draws & (self.draws - 1):
            raise ValueError(f"draws must be a power of 2, at least {FEWEST}; found {self.draws!r}")

    def __str__(self) -> str:
        number = f"most={self.most}" if self.components is None else f"components={self.components}"
        return f"Mixture({number}, discrete={self.discrete!r}, replicates={self.replicates})"

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold?"""
        return table.rows(model, of)

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by mixtures?"""
        pair = reading.pair(model)
        jitter, starts, shifts = np.random.default_rng((seed, 1)).spawn(3)
        arranged = arrange(pair, self.discrete, jitter)
        weights = row_weights(pair)[arranged.rows]
        fit = fit_mixtures(arranged, weights, numbers=self._numbers, workers=workers, rng=starts)
        groups = fit.components(weights)
        overlap = overlap_of(groups, arranged, weights)
        draws = self._draw(groups, arranged.confounders, shifts) if arranged.has_numbers else []
        stated = (*ASSUMPTIONS, *MIXTURES) if arranged.has_numbers else ASSUMPTIONS
        found = bootstrap(
            pair,
            Reweighted(fit, draws[0]) if draws else Counted(arranged),
            replicates=self.replicates,
            workers=workers,
            seed=seed,
            assumptions=stated,
        )
        means, notes = found.world_means, (*arranged.notes, *fit.notes)
        if draws:
            share = float(np.average(arranged.group, weights=weights))
            integrate = partial(world_means, groups)
            each = run_all(integrate, draws[1:], workers=workers, what="integrating")
            means, small_print = _integrated(means, np.stack(each), share)
            notes = (*notes, small_print)
        diagnostics = Diagnostics(
            estimator=str(self), rows=pair.account, overlap=overlap, assumptions=stated, notes=notes
        )
        return Estimate(means, found.raw_gap, diagnostics, remainder="misfit")

    def _draw(
        self, groups: Sequence[Components], confounders: int, rng: np.random.Generator
    ) -> list[Draws]:
        """One set of draws for the replicates, then larger ones for the means themselves."""
        sizes = [self.draws, *SETS * [FINER * self.draws]]
        shifts = rng.spawn(len(sizes))
        return [
            draw_people(groups, confounders, size, shift)
            for size, shift in zip(sizes, shifts, strict=True)
        ]

    @property
    def _numbers(self) -> tuple[int, ...]:
        """How many components may a mixture have?"""
        return tuple(range(1, self.most + 1)) if self.components is None else (self.components,)


@dataclass(frozen=True, eq=False)
class Reweighted:
    """What are the world means under other row weights, the numbers of components held fixed?"""

    fit: MixtureFit
    draws: Draws

    def __call__(self, weights: Array) -> Array:
        """What are the (2, 2, 2) means, if the rows of the pair count like this?"""
        groups = self.fit.components(weights[self.fit.arranged.rows])
        return world_means(groups, self.draws)


@dataclass(frozen=True, eq=False)
class Counted:
    """What are the world means under other row weights, where all that matters is discrete?"""

    arranged: Arranged

    def __call__(self, weights: Array) -> Array:
        """What are the (2, 2, 2) means, if the rows of the pair count like this?"""
        at = self.arranged
        cell = at.group * np.int64(len(at.stratum)) + at.profile
        counted = weights[at.rows]
        weight, total = (
            np.bincount(cell, part).astype(float).reshape(2, -1)
            for part in (counted, counted * at.outcome.each)
        )
        return Saturated(weight, total / weight, at.stratum).means


def _integrated(means: WorldMeans, each: Array, share: float) -> tuple[WorldMeans, str]:
    """The means averaged over several sets of draws, and what integration may still be off by."""
    within = each.mean(axis=0)
    pooled = (1 - share) * within[..., 0] + share * within[..., 1]
    errors = np.linalg.norm(means.spreads[..., :2, :], axis=-1)
    off = each.std(axis=0, ddof=1) / np.sqrt(len(each))
    worst = np.divide(off, errors, out=np.zeros_like(off), where=errors > 0).max()
    advice = "; raise draws" if worst > LARGE else ""
    return (
        replace(means, values=np.concatenate([within, pooled[..., None]], axis=-1)),
        f"integrals by quasi-random draws are off by about {worst:.1%} of a standard error at most"
        f"{advice}; variances carry a ridge of {RIDGE:g} times that of their column",
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 1
