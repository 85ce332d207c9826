"""Uncertainty on plain arrays, against slow definitions and known theory."""

import math
import sys

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm
from threadpoolctl import ThreadpoolController, threadpool_info

from causalfairness.inference import (
    Interval,
    bayesian_cells,
    benjamini_hochberg,
    holm,
    multinomial_cells,
    normal_interval,
    parallel,
    run_all,
    simultaneous_quantile,
    two_sided_p_value,
)

repeatable = settings(max_examples=100, deadline=None, derandomize=True)
p_values = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=9)


# --- intervals and p-values ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "reach"), [(0.95, 1.959963985), (0.9, 1.644853627), (0.5, 0.674)]
)
def test_intervals_reach_as_far_as_the_normal_tables_say(level, reach):
    low, high = normal_interval(3.0, 2.0, level)
    assert (3.0 - low, high - 3.0) == pytest.approx((2 * reach, 2 * reach), rel=1e-3)
    assert normal_interval(1.0, 0.0, level) == Interval(1.0, 1.0)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan])
def test_a_level_is_between_zero_and_one(level):
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1, for instance 0\.95"):
        normal_interval(0.0, 1.0, level)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        simultaneous_quantile(np.eye(2), level, np.random.default_rng(0))


@pytest.mark.parametrize("z", [0.0, 1e-12, 0.5, 1.96, 5.0, 30.0])
def test_p_values_are_two_normal_tails(z):
    expected = 2 * norm.sf(z)
    for value in (z, -z):
        assert two_sided_p_value(value, 1.0) == pytest.approx(expected, rel=1e-9)
        assert two_sided_p_value(7 * value, 7.0) == pytest.approx(expected, rel=1e-9)


def test_p_values_at_the_edges_are_numbers():
    assert two_sided_p_value(0.0, 0.0) == 1.0
    assert two_sided_p_value(0.0, 5.0) == 1.0
    assert two_sided_p_value(1e-300, 0.0) == 0.0
    assert two_sided_p_value(1.0, 1e-320) == 0.0
    assert two_sided_p_value(1e200, 1e-200) == 0.0
    assert 0 < two_sided_p_value(37.0, 1.0) < 1e-298


@repeatable
@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e3), st.floats(0.01, 0.99))
def test_an_interval_excludes_zero_exactly_when_the_p_value_is_small(value, error, level):
    low, high = normal_interval(value, error, level)
    p_value = two_sided_p_value(value, error)
    if abs(p_value - (1 - level)) > 1e-9:
        assert (low <= 0 <= high) == (p_value > 1 - level)


# --- many questions at once ----------------------------------------------------------------------


def holm_by_definition(p):
    """The largest over smaller p-values of (how many are at least that large) times it."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [0.0] * len(p)
    for rank, i in enumerate(order):
        steps = ((len(p) - step) * p[order[step]] for step in range(rank + 1))
        adjusted[i] = min(1.0, max(steps))
    return adjusted


def benjamini_hochberg_by_definition(p):
    """The smallest over larger p-values of m times it over its rank."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [0.0] * len(p)
    for rank, i in enumerate(order):
        steps = (len(p) * p[order[step]] / (step + 1) for step in range(rank, len(p)))
        adjusted[i] = min(1.0, min(steps))
    return adjusted


@repeatable
@given(p_values)
def test_adjusted_p_values_follow_their_definitions(p):
    np.testing.assert_allclose(holm(p), holm_by_definition(p), rtol=1e-12)
    np.testing.assert_allclose(
        benjamini_hochberg(p), benjamini_hochberg_by_definition(p), rtol=1e-12
    )


@repeatable
@given(p_values)
def test_adjusted_p_values_are_larger_bounded_and_in_the_same_order(p):
    order = np.argsort(p, kind="stable")
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(p)
        assert np.all(adjusted >= np.array(p) * (1 - 1e-12))
        assert np.all(adjusted <= 1)
        assert np.all(np.diff(adjusted[order]) >= 0)
    bonferroni = np.minimum(np.array(p) * len(p), 1)
    assert np.all(holm(p) <= bonferroni * (1 + 1e-12))
    assert np.all(benjamini_hochberg(p) <= holm(p) * (1 + 1e-12))


def test_one_question_needs_no_adjustment():
    assert holm([0.03]).tolist() == [0.03]
    assert benjamini_hochberg([0.03]).tolist() == [0.03]
    assert simultaneous_quantile(np.array([[3.0, 4.0]]), 0.95, rng()) == pytest.approx(
        norm.ppf(0.975), rel=1e-12
    )


def rng(seed=0):
    return np.random.default_rng(seed)


def bonferroni(level, k):
    return norm.ppf(1 - (1 - level) / (2 * k))


@repeatable
@given(st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.5, 0.9, 0.99]), st.integers(0, 99))
def test_simultaneous_reach_lies_between_one_interval_and_bonferroni(k, d, level, seed):
    spreads = rng(seed).normal(size=(k, d))
    reach = simultaneous_quantile(spreads, level, rng(), draws=2000)
    assert norm.ppf((1 + level) / 2) * (1 - 1e-12) <= reach <= bonferroni(level, k) * (1 + 1e-12)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_simultaneous_reach_of_independent_estimates_is_that_of_sidak(k):
    spreads = np.diag(np.geomspace(1e-3, 1e3, k))
    expected = norm.ppf((1 + 0.95 ** (1 / k)) / 2)
    assert simultaneous_quantile(spreads, 0.95, rng()) == pytest.approx(expected, abs=0.015)


def test_simultaneous_reach_of_one_estimate_repeated_is_that_of_one():
    spread = np.array([1.0, -2.0, 0.5])
    copies = np.stack([spread, -3 * spread, 1e-3 * spread])
    expected = norm.ppf(0.975)
    assert simultaneous_quantile(copies, 0.95, rng()) == pytest.approx(expected, abs=0.015)


def test_simultaneous_reach_of_two_correlated_estimates_is_that_of_their_joint_normal():
    spreads = np.array([[1.0, 0.0], [0.8, 0.6]])  # correlation 0.8
    reach = simultaneous_quantile(spreads, 0.95, rng())
    square = multivariate_normal(cov=[[1, 0.8], [0.8, 1]])
    inside = square.cdf([reach, reach], lower_limit=[-reach, -reach])
    assert inside == pytest.approx(0.95, abs=0.003)


def test_estimates_without_uncertainty_do_not_widen_the_others():
    spreads = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert simultaneous_quantile(spreads, 0.95, rng()) == pytest.approx(norm.ppf(0.975))
    assert simultaneous_quantile(np.zeros((3, 2)), 0.95, rng()) == 0.0


# --- shared work ---------------------------------------------------------------------------------


def draw_and_count_threads(task):
    number, generator = task
    threads = [pool["num_threads"] for pool in threadpool_info()]
    return number, float(generator.normal(size=3).sum()), set(threads)


def fail_on_two(task):
    if task == 2:
        raise ZeroDivisionError(f"task {task} fails")
    return task


def test_results_are_the_same_for_any_number_of_workers_and_in_order():
    tasks = list(enumerate(rng(3).spawn(7)))
    alone = run_all(draw_and_count_threads, tasks, workers=1, what="drawing")
    fresh = list(enumerate(rng(3).spawn(7)))
    together = run_all(draw_and_count_threads, fresh, workers=2, what="drawing")
    assert [number for number, _, _ in together] == list(range(7))
    assert alone == together
    assert {threads for _, _, found in together for threads in found} == {1}


def test_threads_are_looked_for_once_and_again_after_an_import(monkeypatch):
    looks = []

    class Pools(ThreadpoolController):
        def __init__(self):
            looks.append(len(sys.modules))
            super().__init__()

    def import_something(task):
        if task == 3:
            monkeypatch.setitem(sys.modules, "imported_by_a_task", sys)
        return task

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", Pools)
    parallel._thread_pools.cache_clear()
    run_all(import_something, range(3), workers=1, what="working")
    assert len(looks) == 1
    run_all(import_something, range(3, 6), workers=1, what="importing")
    assert np.diff(looks).tolist() == [1]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_one_task_is_the_error_of_all(workers):
    with pytest.raises(ZeroDivisionError, match="task 2 fails"):
        run_all(fail_on_two, [1, 2, 3], workers=workers, what="failing")


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_no_work_gives_no_results(workers):
    assert run_all(fail_on_two, [], workers=workers, what="nothing") == []
    assert run_all(fail_on_two, [1], workers=workers, what="one thing") == [1]


@pytest.mark.parametrize("workers", [0, -1])
def test_work_needs_a_worker(workers):
    with pytest.raises(ValueError, match=f"workers must be 1 or more; found {workers}"):
        run_all(fail_on_two, [1], workers=workers, what="nothing")


# --- resampled cells -----------------------------------------------------------------------------

SIZE = np.array([40.0, 5.0, 1.0, 200.0])
TOTAL = np.array([10.0, 5.0, 0.0, 120.0])
VARIANCE = np.array([0.3, 0.0, 0.5, 2.0])
DRAWS = 20_000


def within(found, expected, error):
    """Monte Carlo means are normal: five standard errors, and exact where nothing varies."""
    return np.all(np.abs(found - expected) <= 5 * error + 1e-12)


def moments(values):
    return values.mean(axis=0), values.var(axis=0), values.std(axis=0) / np.sqrt(len(values))


@pytest.mark.parametrize("resample", [bayesian_cells, multinomial_cells])
@pytest.mark.parametrize("binary", [True, False])
def test_resampled_sizes_and_sums_have_the_moments_of_theory(resample, binary):
    drawn = resample(SIZE, TOTAL, VARIANCE, binary=binary, draws=DRAWS, rng=rng(1))
    n, mean = SIZE.sum(), TOTAL / SIZE
    size, size_variance, error = moments(drawn.size)
    assert within(size, SIZE, error)
    theory = SIZE if resample is bayesian_cells else SIZE * (1 - SIZE / n)
    np.testing.assert_allclose(size_variance, theory, rtol=0.06)  # 1 row: kurtosis of exponential
    total, total_variance, error = moments(drawn.total)
    assert within(total, TOTAL, error)
    inner = mean * (1 - mean) if binary else VARIANCE
    squares = SIZE * (inner + mean**2)
    if resample is multinomial_cells:
        expected = squares - TOTAL**2 / n
    else:  # Gamma sizes times normal means: the product adds a little
        expected = squares if binary else squares + VARIANCE
    moving = expected > 0
    np.testing.assert_allclose(total_variance[moving], expected[moving], rtol=0.06)
    assert np.all(total_variance[~moving] == 0)


@pytest.mark.parametrize("binary", [True, False])
def test_the_bayesian_bootstrap_never_empties_a_cell_with_rows(binary):
    size, total = np.array([1.0, 1.0, 2.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    drawn = bayesian_cells(size, total, np.zeros(4), binary=binary, draws=DRAWS, rng=rng(2))
    assert np.all(drawn.size[:, :3] > 0)
    assert np.all(drawn.size[:, 3] == 0)
    assert np.all(drawn.total[:, 3] == 0)
    means = drawn.total[:, :3] / drawn.size[:, :3]
    np.testing.assert_allclose(means[:, 0], 1.0, rtol=1e-12)
    assert np.all(means[:, 1] == 0)
    if binary:
        assert np.all((means[:, 2] > 0) & (means[:, 2] < 1))


def test_redrawn_rows_keep_their_number_and_empty_lone_cells_as_often_as_theory_says():
    size, total = np.array([1.0, 9.0, 10.0]), np.array([1.0, 3.0, 0.0])
    drawn = multinomial_cells(size, total, np.zeros(3), binary=True, draws=DRAWS, rng=rng(3))
    assert np.all(drawn.size.sum(axis=1) == 20)
    emptied = np.mean(drawn.size[:, 0] == 0)
    expected = (1 - 1 / 20) ** 20
    assert emptied == pytest.approx(expected, abs=5 * math.sqrt(expected * (1 - expected) / DRAWS))
    assert np.all(drawn.total <= drawn.size)
    assert np.all(drawn.total == np.round(drawn.total))


@pytest.mark.parametrize("resample", [bayesian_cells, multinomial_cells])
def test_a_seed_decides_the_draws(resample):
    one, same, other = (
        resample(SIZE, TOTAL, VARIANCE, binary=False, draws=5, rng=rng(seed)) for seed in (4, 4, 5)
    )
    assert np.array_equal(one.total, same.total)
    assert not np.array_equal(one.total, other.total)
