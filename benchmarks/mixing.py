"""Gaussian mixtures and exact counting at 50,000 rows: in CPU seconds, and against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import causalfairness as cf
from benchmarks.measuring import Finding, cpu_seconds
from causalfairness.estimators import Mixture, Strata
from causalfairness.estimators.gaussian_mixture import (
    Gaussians,
    fit_gaussians,
    gaussians_of,
    log_densities,
    products_of,
)

Array = NDArray[np.float64]
ROWS, COLUMNS, COMPONENTS = 50_000, 6, 3
RIDGE = np.full(COLUMNS, 1e-6)
ROUNDS = 5


def measure(size: str) -> Iterator[Finding]:
    """Fits and counts, each with its error beside its time."""
    yield from _fitting()
    yield from _estimating()


def _fitting() -> Iterator[Finding]:
    """One fit of three overlapping components, by this package and by scikit-learn."""
    from sklearn.mixture import GaussianMixture  # before threads are limited, or it escapes

    truth, rows = _three_clouds()

    def ours() -> Any:
        return fit_gaussians(
            products_of(rows), np.ones(ROWS), COMPONENTS, RIDGE, np.random.default_rng(0)
        )

    def theirs() -> Any:
        return GaussianMixture(COMPONENTS, random_state=0).fit(rows)

    with threadpool_limits(limits=1):  # threads that wait for each other would count as work
        times = _fastest({"ours": ours, "theirs": theirs})
    name = f"mixture fit, {ROWS:,} x {COLUMNS}, {COMPONENTS} components"
    yield Finding(name, times["ours"], "CPU s", "<= 0.5", times["ours"] <= 0.5)
    yield Finding(f"scikit-learn, {name}", times["theirs"], "CPU s")
    yield Finding(f"scikit-learn / {name}", times["theirs"] / times["ours"], "x")
    known = _likelihood(rows, truth)
    fitted, peer = gaussians_of(ours().sums, RIDGE), theirs()
    reached = _likelihood(rows, fitted) - known
    yield Finding("log-likelihood per row beyond the truth's", 1e3 * reached, "/ 1000")
    yield Finding("the same, scikit-learn", 1e3 * (peer.score(rows) - known), "/ 1000")
    yield Finding("largest error of a component's mean", _off(fitted.means, truth), "sd")
    yield Finding("the same, scikit-learn", _off(peer.means_, truth), "sd")


def _estimating() -> Iterator[Finding]:
    """All twelve means with standard errors, from rows to effects, where the truth is known."""
    worlds = cf.datasets.worlds
    for world, estimator, target in (
        (worlds.binary(), Strata(), 0.05),
        (worlds.rare_group(), Mixture(), None),
    ):
        rows = world.draw(ROWS, seed=0)

        def decompose(world: Any = world, rows: Any = rows, estimator: Any = estimator) -> Any:
            return cf.decompose_disparity(rows, world.model, estimator=estimator)

        seconds = _fastest({"": decompose})[""]
        name = f"{type(estimator).__name__}, {ROWS:,} rows of {world.name}"
        met = None if target is None else seconds <= target
        yield Finding(name, seconds, "CPU s", "" if target is None else f"<= {target:g}", met)
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


def _fastest(work: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """The least CPU time of each; rounds are interleaved, the first one only warms up."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS + 1):
        for name, run in work.items():
            times[name].append(cpu_seconds(run))
    return {name: min(found[1:]) for name, found in times.items()}


def _three_clouds() -> tuple[Gaussians, Array]:
    """Three components two to three standard deviations apart, each with its own covariance."""
    rng = np.random.default_rng(0)
    roots = np.eye(COLUMNS) + 0.3 * rng.normal(size=(COMPONENTS, COLUMNS, COLUMNS))
    shares, means = np.array([0.5, 0.3, 0.2]), rng.normal(size=(COMPONENTS, COLUMNS))
    cloud = rng.choice(COMPONENTS, ROWS, p=shares)
    noise = rng.normal(size=(ROWS, COLUMNS))
    rows = means[cloud] + np.einsum("nij,nj->ni", roots[cloud], noise)
    return Gaussians(shares, means, roots @ np.swapaxes(roots, 1, 2)), rows


def _likelihood(rows: Array, gaussians: Gaussians) -> float:
    """The mean log-likelihood of the rows."""
    from scipy.special import logsumexp

    return float(logsumexp(log_densities(products_of(rows), gaussians), axis=0).mean())


def _off(means: Array, truth: Gaussians) -> float:
    """How far the means are from the nearest true ones, in standard deviations, at most."""
    scale = np.sqrt(np.diagonal(truth.covariances, axis1=1, axis2=2))
    apart = np.abs(means[:, None] - truth.means) / scale
    return float(apart.max(axis=2).min(axis=0).max())
