"""Conditional distributions, each against what it must be by definition."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import QuantileRegressor

from causalfairness.adaptation import BoostedQuantiles, LinearQuantiles, QuantileForest
from causalfairness.adaptation.forest import choose_cuts
from causalfairness.adaptation.grid import GridDistribution
from causalfairness.adaptation.linear import LEVELS, fit_levels
from causalfairness.adaptation.steps import steps_of
from causalfairness.scm.domain import Domain

LEARNERS = {
    "forest": QuantileForest(trees=30),
    "linear": LinearQuantiles(),
    "boosting": BoostedQuantiles(rounds=20),
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


def sample(n=1_500, seed=0):
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    return causes, causes[:, 0] - causes[:, 1] + rng.normal(size=n)


def edges_of(values):
    return steps_of(Domain("v"), values).edges


# --- every learner -------------------------------------------------------------------------------


@each_learner
def test_ranks_are_uniform_and_quantiles_undo_them(name):
    causes, values = sample()
    found = LEARNERS[name].fit(causes, values, edges=edges_of(values), seed=0)
    ranks = found.rank(causes, values)
    assert ranks.min() >= 0
    assert ranks.max() <= 1
    # 1,500 uniform numbers are within 1.63 / sqrt(1,500) of a uniform distribution 99 times in 100
    grid = (np.arange(len(ranks)) + 0.5) / len(ranks)
    assert np.abs(np.sort(ranks) - grid).max() < 1.63 / np.sqrt(len(ranks))
    back = found.quantile(causes, ranks)
    inside = (ranks > 1e-3) & (ranks < 1 - 1e-3)
    assert np.abs(back - values)[inside].max() < 0.02


@each_learner
def test_quantiles_rise_with_their_rank(name):
    causes, values = sample()
    found = LEARNERS[name].fit(causes, values, edges=edges_of(values), seed=0)
    asked = np.linspace(0, 1, 301)
    one = np.repeat(causes[:1], len(asked), axis=0)
    told = found.quantile(one, asked)
    assert np.isfinite(told).all()
    assert (np.diff(told) >= 0).all()
    assert found.rank(one, told + 1).min() >= 0


@each_learner
def test_a_column_without_causes_has_the_plain_quantiles(name):
    _, values = sample()
    none = np.empty((len(values), 0))
    found = LEARNERS[name].fit(none, values, edges=edges_of(values), seed=0)
    asked = np.array([0.1, 0.5, 0.9])
    # density 0.11 and more at these quantiles: a standard error of at most 0.07
    assert np.abs(found.quantile(none[:3], asked) - np.quantile(values, asked)).max() < 0.07


@each_learner
def test_the_same_seed_gives_the_same_ranks(name):
    causes, values = sample(400)
    one, other = (
        LEARNERS[name].fit(causes, values, edges=edges_of(values), seed=7).rank(causes, values)
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


# --- forests -------------------------------------------------------------------------------------


def test_ranks_are_weighted_shares_of_people_in_the_same_leaves():
    causes, values = sample(300)
    codes = np.digitize(values, [-1.0, 0.5, 1.5]).astype(float)
    edges = np.arange(5) - 0.5
    found = QuantileForest(trees=20, leaf=15).fit(causes, codes, edges=edges, seed=0)
    leaves = np.stack([tree.leaves(causes.astype(np.float32)) for tree in found.trees])
    shared = leaves[:, :, None] == leaves[:, None, :]  # (trees, people, people)
    weights = (shared / shared.sum(axis=2, keepdims=True)).mean(axis=0)
    assert weights.sum(axis=1) == pytest.approx(1)
    for edge in (0.5, 1.5, 2.5):
        expected = weights @ (codes < edge)
        assert found.rank(causes, np.full(300, edge)) == pytest.approx(expected, abs=1e-6)


def test_a_forest_is_exact_for_discrete_causes_and_values():
    rng = np.random.default_rng(1)
    causes = rng.integers(0, 3, size=(3_000, 1)).astype(float)
    value = rng.binomial(2, 0.2 + 0.2 * causes[:, 0]).astype(float)
    found = QuantileForest(rows=3_000).fit(
        causes, value + rng.random(3_000) - 0.5, edges=np.arange(4) - 0.5, seed=0
    )
    for cause in (0.0, 1.0, 2.0):
        inside = value[causes[:, 0] == cause]
        told = found.rank(np.full((2, 1), cause), np.array([0.5, 1.5]))
        assert told == pytest.approx([np.mean(inside < 1), np.mean(inside < 2)], abs=1e-5)


def test_a_value_that_many_share_keeps_a_bin_to_itself():
    rng = np.random.default_rng(2)
    values = np.where(rng.random(4_000) < 0.4, 0.0, rng.normal(size=4_000))
    steps = steps_of(Domain("v"), values)
    assert steps.is_step.sum() == 1
    spread = steps.spread(values, rng.random(4_000))
    cuts = choose_cuts(steps.edges, spread)
    at = np.flatnonzero(steps.seen == 0.0)[0]
    assert {steps.edges[at], steps.edges[at + 1]} <= set(cuts)
    found = QuantileForest().fit(np.empty((4_000, 0)), spread, edges=steps.edges, seed=0)
    ranks = np.sort(found.rank(np.empty((4_000, 0)), spread))
    # the 1,600 rows that share the value are spread at random over 0.4 of the ranks
    assert np.abs(ranks - (np.arange(4_000) + 0.5) / 4_000).max() < 0.4 * 1.63 / np.sqrt(1_600)
    settled = steps.settle(found.quantile(np.empty((4_000, 0)), (np.arange(4_000) + 0.5) / 4_000))
    assert abs(np.mean(settled == 0.0) - np.mean(values == 0.0)) < 0.002


def test_no_distribution_goes_beyond_what_was_seen():
    causes, values = sample(500)
    found = QuantileForest().fit(causes, values, edges=edges_of(values), seed=0)
    told = found.quantile(causes[:2] * 50, np.array([0.0, 1.0]))
    assert values.min() - 1 < told[0]
    assert told[1] < values.max() + 1


@pytest.mark.parametrize("people", [40, 2_000])
def test_no_distribution_takes_over_what_only_others_have(people):
    rng = np.random.default_rng(3)
    own, others = np.exp(rng.normal(size=people)), 100 + np.exp(2 * rng.normal(size=people))
    edges = edges_of(np.concatenate([own, others, -others]))
    none = np.empty((people, 0))
    found = QuantileForest().fit(none, own, edges=edges, seed=0)
    told = found.quantile(none[:3], np.array([0.0, 0.5, 1.0]))
    # edges are halfway to other groups' values; ranks are known in single precision
    assert told == pytest.approx([own.min(), np.median(own), own.max()], rel=0.02)
    assert found.rank(none[:3], np.array([-5.0, own.max(), 90.0])) == pytest.approx([0, 1, 1])


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
