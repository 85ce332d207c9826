"""EM for Gaussian mixtures: as likely as scikit-learn's, with weights, and BIC that counts."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from causalfairness.estimators.gaussian_mixture import (
    Gaussians,
    bayesian_criterion,
    climb,
    count_parameters,
    fit_gaussians,
    gaussians_of,
    log_densities,
    products_of,
)


def three_clouds(n, seed, apart):
    rng = np.random.default_rng(seed)
    cloud = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    centers = apart * np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 0.0, 1.0]])
    widths = np.array([1.0, 0.6, 1.4])
    return centers[cloud] + widths[cloud, None] * rng.normal(size=(n, 3))


@pytest.mark.parametrize("apart", [4.0, 1.5])
def test_fits_are_as_likely_as_those_of_scikit_learn(apart):
    rows = three_clouds(3_000, seed=13, apart=apart)
    ridge, products = np.full(3, 1e-6), products_of(rows)
    fitted = fit_gaussians(products, np.ones(3_000), 3, ridge, np.random.default_rng(0))
    peer = GaussianMixture(3, tol=1e-7, max_iter=2_000, n_init=3, random_state=0).fit(rows)
    assert fitted.settled
    assert fitted.log_likelihood == pytest.approx(peer.score(rows), abs=1e-3)
    gaussians = gaussians_of(fitted.sums, ridge)
    ours, theirs = np.argsort(gaussians.shares), np.argsort(peer.weights_)
    assert gaussians.shares[ours] == pytest.approx(peer.weights_[theirs], abs=0.01)
    assert gaussians.means[ours] == pytest.approx(peer.means_[theirs], abs=0.03)
    assert (gaussians.shares @ gaussians.means) == pytest.approx(rows.mean(axis=0), abs=1e-12)


def test_log_densities_are_those_of_the_normal_distribution():
    rng = np.random.default_rng(14)
    root = rng.normal(size=(2, 3, 3))
    gaussians = Gaussians(
        np.array([0.3, 0.7]), rng.normal(size=(2, 3)), root @ np.swapaxes(root, 1, 2) + np.eye(3)
    )
    rows = rng.normal(size=(5, 3))
    logs = log_densities(products_of(rows), gaussians)
    for g in (0, 1):
        known = multivariate_normal(gaussians.means[g], gaussians.covariances[g]).logpdf(rows)
        assert logs[g] == pytest.approx(np.log(gaussians.shares[g]) + known, abs=1e-10)


@pytest.mark.parametrize("clouds", [1, 2, 3])
def test_the_criterion_picks_the_number_of_separate_clouds(clouds):
    rng = np.random.default_rng(15)
    centers = 6 * np.array([[0.0, 0.0], [1.0, 1.0], [1.0, -1.0]])[:clouds]
    rows = centers[rng.integers(0, clouds, 900)] + rng.normal(size=(900, 2))
    products, ridge = products_of(rows), np.full(2, 1e-6)
    criteria = {
        number: bayesian_criterion(
            fit_gaussians(products, np.ones(900), number, ridge, rng).log_likelihood,
            900,
            count_parameters(number, 2),
        )
        for number in (1, 2, 3, 4)
    }
    assert min(criteria, key=criteria.get) == clouds


def test_a_weight_of_three_is_three_rows():
    rows = three_clouds(600, seed=16, apart=3.0)
    times = np.random.default_rng(16).integers(1, 4, 600)
    ridge = np.full(3, 1e-6)
    weighted, repeated = (
        fit_gaussians(products_of(some), weights, 3, ridge, np.random.default_rng(1))
        for some, weights in (
            (rows, times.astype(float)),
            (np.repeat(rows, times, axis=0), np.ones(times.sum())),
        )
    )
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, abs=1e-4)


def test_every_step_climbs_and_keeps_the_sums_of_all_rows():
    rows = three_clouds(2_000, seed=24, apart=1.0)
    products, weights, ridge = products_of(rows), np.ones(2_000), np.full(3, 1e-6)
    owner = (rows[:, 0] > np.array([[-9.0], [-0.5], [0.5]])).sum(axis=0) - 1
    start = (owner == np.arange(3)[:, None]) @ products.T
    reached = [climb(products, weights, start, ridge, most_steps=steps) for steps in range(1, 40)]
    likelihoods = np.array([fitted.log_likelihood for fitted in reached])
    assert (np.diff(likelihoods) >= -1e-12).all()
    for fitted in reached:  # every step keeps the sums of all rows
        assert fitted.sums.sum(axis=0) == pytest.approx(products.sum(axis=1), abs=1e-8)


def test_a_component_that_vanishes_ends_the_climb():
    rows = three_clouds(200, seed=25, apart=1.0)
    products, ridge = products_of(rows), np.full(3, 1e-6)
    start = np.stack([np.ones(200), np.full(200, 1e-12)]) @ products.T
    fitted = climb(products, np.ones(200), start, ridge)
    assert fitted.log_likelihood == -np.inf
    assert not fitted.settled
