"""Conditional distributions, each against what it must be by definition."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import QuantileRegressor

from causalfairness.adaptation import LinearQuantiles
from causalfairness.adaptation.grid import GridDistribution
from causalfairness.adaptation.linear import LEVELS, fit_levels
from causalfairness.adaptation.steps import steps_of
from causalfairness.scm.domain import Domain


def sample(n=1_500, seed=0):
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    return causes, causes[:, 0] - causes[:, 1] + rng.normal(size=n)


def edges_of(values):
    return steps_of(Domain("v"), values).edges


# --- linear quantiles ----------------------------------------------------------------------------


def test_ranks_are_uniform_and_quantiles_undo_them():
    causes, values = sample()
    found = LinearQuantiles().fit(causes, values, edges=edges_of(values), seed=0)
    ranks = found.rank(causes, values)
    assert ranks.min() >= 0
    assert ranks.max() <= 1
    # 1,500 uniform numbers are within 1.63 / sqrt(1,500) of a uniform distribution 99 times in 100
    grid = (np.arange(len(ranks)) + 0.5) / len(ranks)
    assert np.abs(np.sort(ranks) - grid).max() < 1.63 / np.sqrt(len(ranks))
    back = found.quantile(causes, ranks)
    inside = (ranks > 1e-3) & (ranks < 1 - 1e-3)
    assert np.abs(back - values)[inside].max() < 0.02


def test_quantiles_rise_with_their_rank():
    causes, values = sample()
    found = LinearQuantiles().fit(causes, values, edges=edges_of(values), seed=0)
    asked = np.linspace(0, 1, 301)
    one = np.repeat(causes[:1], len(asked), axis=0)
    told = found.quantile(one, asked)
    assert np.isfinite(told).all()
    assert (np.diff(told) >= 0).all()
    assert found.rank(one, told + 1).min() >= 0


def test_a_column_without_causes_has_the_plain_quantiles():
    _, values = sample()
    none = np.empty((len(values), 0))
    found = LinearQuantiles().fit(none, values, edges=edges_of(values), seed=0)
    asked = np.array([0.1, 0.5, 0.9])
    # density 0.11 and more at these quantiles: a standard error of at most 0.07
    assert np.abs(found.quantile(none[:3], asked) - np.quantile(values, asked)).max() < 0.07


def test_the_same_seed_gives_the_same_ranks():
    causes, values = sample(400)
    one, other = (
        LinearQuantiles().fit(causes, values, edges=edges_of(values), seed=7).rank(causes, values)
        for _ in range(2)
    )
    assert np.array_equal(one, other)


# --- linear --------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9])
def test_repeated_least_squares_reach_the_smallest_check_loss(level):
    causes, values = sample(600)
    design = np.column_stack([np.ones(600), causes])
    found = fit_levels(design, values, np.array([level]))[:, 0]
    exact = QuantileRegressor(quantile=level, alpha=0, solver="highs").fit(causes, values)
    best = np.array([exact.intercept_, *exact.coef_])

    def loss(slopes):
        residual = values - design @ slopes
        return np.mean((level - (residual < 0)) * residual)

    assert loss(best) - 1e-9 <= loss(found) < loss(best) * 1.002


def test_planes_of_a_normal_world_have_the_slopes_and_distances_of_the_normal_quantiles():
    causes, values = sample(20_000)
    found = LinearQuantiles().fit(causes, values, edges=edges_of(values), seed=0)
    at = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    for level in (0.1, 0.5, 0.9):
        expected = norm.ppf(level) + np.array([0.0, 2.0, -2.0])
        # a slope has a standard error of 0.012 at the outer levels
        error = found.quantile(at, np.full(3, level)) - expected
        assert np.abs(error).max() < 4 * 0.012 * np.sqrt(5)


def test_few_rows_and_a_constant_cause_are_no_trouble():
    rng = np.random.default_rng(0)
    causes = np.column_stack([rng.normal(size=(12, 9)), np.ones(12)])
    values = rng.normal(size=12)
    found = LinearQuantiles().fit(causes, values, edges=edges_of(values), seed=0)
    assert np.isfinite(found.quantile(causes, found.rank(causes, values))).all()


# --- quantiles at some levels --------------------------------------------------------------------


def test_crossing_quantiles_are_put_in_order_and_tails_go_on():
    crossed = np.array([0.0, 2.0, 1.0, 3.0])
    levels = np.array([0.2, 0.4, 0.6, 0.8])
    found = GridDistribution(levels, lambda causes: np.tile(crossed, (len(causes), 1)))
    none = np.empty((5, 0))
    assert found.quantile(none, np.array([0.2, 0.4, 0.5, 0.6, 0.8])).tolist() == [0, 1, 1.5, 2, 3]
    far = np.array([-10.0, -1.0, 4.0, 8.0, 20.0])
    ranks = found.rank(none, far)
    assert (np.diff(ranks) > 0).all()
    assert found.quantile(none, ranks) == pytest.approx(far)
    # above the last level 1 - F falls at the pace at which it did before: 0.6 at 1, 0.2 at 3
    assert 1 - ranks[2] == pytest.approx(0.2 / np.sqrt(3))


def test_each_tail_goes_on_at_its_own_pace():
    uneven = np.array([-1.0, 0.0, 10.0])
    found = GridDistribution(
        np.array([0.1, 0.5, 0.9]), lambda causes: np.tile(uneven, (len(causes), 1))
    )
    # 1 and 10 while the share beyond falls from 0.5 to 0.1, and so on down to 0.01
    steps = np.log(10) / np.log(5)
    none, asked = np.empty((2, 0)), np.array([0.01, 0.99])
    assert found.quantile(none, asked) == pytest.approx([-1 - steps, 10 + 10 * steps])
    assert found.rank(none, found.quantile(none, asked)) == pytest.approx(asked)


def test_outer_quantiles_that_all_but_coincide_do_not_end_a_tail():
    close = norm.ppf(LEVELS)
    close[0], close[-1] = close[1] - 1e-12, close[-2] + 1e-12
    found = GridDistribution(LEVELS, lambda causes: np.tile(close, (len(causes), 1)))
    none, far = np.empty((2, 0)), np.array([-4.0, 4.0])
    ranks = found.rank(none, far)
    assert 1e-6 < ranks[0] < 1e-2
    assert 1e-6 < 1 - ranks[1] < 1e-2
    apart = GridDistribution(LEVELS, lambda causes: np.tile(norm.ppf(LEVELS), (len(causes), 1)))
    assert np.abs(apart.quantile(none, ranks) - far).max() < 1.0


def test_tied_quantiles_have_no_tail_and_no_warning():
    found = GridDistribution(LEVELS, lambda causes: np.zeros((len(causes), len(LEVELS))))
    none = np.empty((3, 0))
    assert np.abs(found.quantile(none, np.array([0.0, 0.5, 1.0]))).max() < 1e-100
    assert np.isfinite(found.rank(none, np.array([-1.0, 0.0, 1.0]))).all()


# --- steps ---------------------------------------------------------------------------------------


def test_spread_rows_lie_evenly_in_the_cell_of_their_step_and_settle_back():
    values = np.repeat([0.0, 1.0, 5.0], 1_000)
    steps = steps_of(Domain("n", whole=True), values)
    spread = steps.spread(values, np.random.default_rng(0).random(3_000))
    assert np.array_equal(steps.settle(spread), values)
    for value, (low, high) in zip((0, 1, 5), ((-0.5, 0.5), (0.5, 3), (3, 7)), strict=True):
        inside = spread[values == value]
        assert low <= inside.min() < inside.max() <= high
        assert abs(inside.mean() - (low + high) / 2) < 0.05 * (high - low)


def test_numbers_seen_once_stay_as_they_are():
    values = np.array([0.25, 1.5, 1.5, 2.75])
    steps = steps_of(Domain("v"), values)
    assert steps.is_step.tolist() == [False, True, False]
    spread = steps.spread(values, np.full(4, 0.9))
    assert spread[[0, 3]].tolist() == [0.25, 2.75]
    assert spread[1] == pytest.approx(0.875 + 0.9 * 1.25)
    assert steps.settle(np.array([0.3, 1.9, 9.0])).tolist() == [0.3, 1.5, 9.0]
