"""Gaussian mixtures and exact counting at 50,000 rows: in CPU seconds, and against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import causalfairness as cf
from benchmarks.measuring import Finding, cpu_seconds
from causalfairness.estimators import Mixture, Strata

ROWS = 50_000
ROUNDS = 1


def measure(size: str) -> Iterator[Finding]:
    """All twelve means with standard errors, from rows to effects, where the truth is known."""
    worlds = cf.datasets.worlds
    for world, estimator, target in (
        (worlds.binary(), Strata(), 0.05),
        (worlds.linear_gaussian(), Mixture(), 60),
        (worlds.rare_group(), Mixture(), 60),
        (worlds.ten_confounders(), Mixture(), 60),  # four of its columns are discrete
        (worlds.heavy_tailed(), Mixture(), 60),  # takes five components
    ):
        rows = world.draw(ROWS, seed=0)

        def decompose(world: Any = world, rows: Any = rows, estimator: Any = estimator) -> Any:
            return cf.decompose_disparity(rows, world.model, estimator=estimator)

        seconds = _fastest(decompose)
        name = f"{type(estimator).__name__}, {ROWS:,} rows of {world.name}"
        yield Finding(name, seconds, "CPU s", f"<= {target:g}", seconds <= target)
        yield from _errors(decompose(), world, name)


def _errors(found: Any, world: Any, name: str) -> Iterator[Finding]:
    """How far the twelve means and the three parts are from the truth."""
    means = found.world_means
    errors = np.abs(means.values - world.true_means())
    worst = float((errors / np.linalg.norm(means.spreads, axis=-1)).max())
    truth = world.true_effects()
    parts = [abs(getattr(found, p).value - truth[p]) for p in ("direct", "indirect", "spurious")]
    yield Finding(f"{name}: largest error of the 12 means", float(errors.max()), "outcome units")
    yield Finding(f"{name}: the same in standard errors", worst, "", "< 4", worst < 4)
    yield Finding(f"{name}: largest error of the parts", max(parts), "outcome units")


def _fastest(work: Callable[[], Any]) -> float:
    """The least CPU time; the first round only warms up."""
    return min([cpu_seconds(work) for _ in range(ROUNDS + 1)][1:])
