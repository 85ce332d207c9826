"""Intervals of shares, differences and ratios: textbook figures, edges, and exact coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from causalfairness.inference import (
    agresti_caffo_interval,
    effective_size,
    exact_p_values,
    newcombe_interval,
    ratio_interval,
    wald_interval,
    wilson_interval,
)

repeatable = settings(max_examples=150, deadline=None, derandomize=True)
DIFFERENCES = (newcombe_interval, agresti_caffo_interval, wald_interval)


@st.composite
def counts(draw):
    total = draw(st.integers(1, 60))
    return draw(st.integers(0, total)), total


# --- published figures ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [  # Newcombe (1998), Two-sided confidence intervals for the single proportion, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_limits(successes, total, low, high):
    assert wilson_interval(successes, total, 0.95) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Newcombe (1998), Interval estimation for the difference, table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0000),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_newcombe_gives_the_published_limits(first, second, low, high):
    assert newcombe_interval(*first, *second, 0.95) == pytest.approx((low, high), abs=5e-5)


def test_wald_gives_the_published_limits():
    # the same table, method 1
    assert wald_interval(56, 70, 48, 80, 0.95) == pytest.approx((0.0575, 0.3425), abs=5e-5)
    assert wald_interval(9, 10, 3, 10, 0.95) == pytest.approx((0.2605, 0.9395), abs=5e-5)
    assert wald_interval(10, 10, 0, 20, 0.95) == (1.0, 1.0)


def test_agresti_and_caffo_add_two_people_to_each_group():
    z = norm.ppf(0.975)
    first, second = 9 / 12, 4 / 12  # 8 of 10 and 3 of 10, one success and one failure more
    reach = z * np.sqrt(first * (1 - first) / 12 + second * (1 - second) / 12)
    expected = first - second - reach, first - second + reach
    assert agresti_caffo_interval(8, 10, 3, 10, 0.95) == pytest.approx(expected, abs=1e-12)


def test_the_ratio_is_log_normal_where_no_count_is_at_an_edge():
    z = norm.ppf(0.95)
    error = np.sqrt(1 / 48 - 1 / 80 + 1 / 56 - 1 / 70)
    expected = 0.75 * np.exp([-z * error, z * error])
    assert ratio_interval(48, 80, 56, 70, 0.9) == pytest.approx(expected, rel=1e-12)


# --- edges ----------------------------------------------------------------------------------------


def test_of_nobody_nothing_is_known():
    assert wilson_interval(0, 0, 0.95) == (0.0, 1.0)
    for interval in DIFFERENCES:
        assert interval(0, 0, 3, 10, 0.95) == (-1.0, 1.0)
        assert interval(3, 10, 0, 0, 0.95) == (-1.0, 1.0)
    assert ratio_interval(0, 0, 3, 10, 0.95) == (0.0, np.inf)
    assert ratio_interval(3, 10, 0, 0, 0.95) == (0.0, np.inf)


def test_a_ratio_with_a_count_at_its_edge_has_an_honest_interval():
    low, high = ratio_interval(0, 10, 30, 60, 0.95)
    assert low == 0
    assert 0.3 < high < wilson_interval(0, 10, 0.95).high / wilson_interval(30, 60, 0.95).low
    low, high = ratio_interval(5, 10, 0, 10, 0.95)
    assert low > 1
    assert high == np.inf
    assert ratio_interval(0, 10, 0, 10, 0.95) == (0.0, np.inf)
    low, high = ratio_interval(5, 5, 5, 5, 0.95)  # the log-normal interval has no width here
    assert low == pytest.approx(1 / high)
    assert low < 0.6


def test_near_an_edge_the_two_intervals_of_a_ratio_agree_for_large_counts():
    inside = ratio_interval(9_999, 10_000, 5_000, 10_000, 0.95)
    edge = ratio_interval(10_000, 10_000, 5_000, 10_000, 0.95)
    assert edge == pytest.approx(inside, rel=1e-3)


def test_arrays_give_what_each_count_gives_alone():
    x, n, y, m = np.array([0, 3, 10]), np.array([10, 10, 10]), np.array([[1], [0]]), 7
    for interval in (*DIFFERENCES, ratio_interval):
        low, high = interval(x, n, y, m, 0.9)
        assert low.shape == high.shape == (2, 3)
        for row, column in np.ndindex(2, 3):
            alone = interval(x[column], 10, y[row, 0], m, 0.9)
            assert (low[row, column], high[row, column]) == alone
    assert wilson_interval(x, n, 0.9).low.tolist() == [wilson_interval(k, 10, 0.9).low for k in x]


@pytest.mark.parametrize("bad", [(-1, 5), (6, 5), (1, np.inf), (np.nan, 5), (1, np.nan)])
def test_impossible_counts_are_refused(bad):
    with pytest.raises(ValueError, match="successes lie between 0 and total"):
        wilson_interval(*bad, 0.95)
    with pytest.raises(ValueError, match="successes lie between 0 and total"):
        ratio_interval(1, 5, *bad, 0.95)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_impossible_levels_are_refused(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        newcombe_interval(1, 5, 2, 5, level)


# --- properties -----------------------------------------------------------------------------------


@repeatable
@given(counts(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_wilson_solves_its_quadratic_and_holds_the_share(count, level):
    x, n = count
    low, high = wilson_interval(x, n, level)
    assert 0 <= low <= x / n <= high <= 1
    z = norm.ppf((1 + level) / 2)
    for end in (low, high):
        assert (x / n - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / n, abs=1e-9)


@repeatable
@given(counts(), counts(), st.sampled_from([0.8, 0.95]))
def test_turning_a_comparison_around_turns_its_interval_around(first, second, level):
    for interval in DIFFERENCES:
        low, high = interval(*first, *second, level)
        turned = interval(*second, *first, level)
        assert turned == pytest.approx((-high, -low), abs=1e-12)
    low, high = ratio_interval(*first, *second, level)
    turned = ratio_interval(*second, *first, level)
    assert turned.low == pytest.approx(1 / high if high else np.inf, rel=1e-9)
    if low > 0:
        assert turned.high == pytest.approx(1 / low, rel=1e-9)


@repeatable
@given(counts(), counts())
def test_a_higher_level_reaches_farther_and_holds_the_estimate(first, second):
    difference = first[0] / first[1] - second[0] / second[1]
    for interval in (newcombe_interval, ratio_interval):
        inner, outer = interval(*first, *second, 0.8), interval(*first, *second, 0.99)
        assert outer.low <= inner.low <= inner.high <= outer.high
    low, high = newcombe_interval(*first, *second, 0.8)
    assert -1 <= low <= difference <= high <= 1
    if second[0]:
        low, high = ratio_interval(*first, *second, 0.8)
        assert low <= first[0] / first[1] / (second[0] / second[1]) * (1 + 1e-12)
        assert high >= first[0] / first[1] / (second[0] / second[1]) * (1 - 1e-12)


# --- coverage, exactly ----------------------------------------------------------------------------


def coverage(interval, first, second, truth):
    """How often the interval holds the truth, over all possible counts."""
    (p, n), (q, m) = first, second
    x, y = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
    chance = binom.pmf(x, n, p) * binom.pmf(y, m, q)
    low, high = interval(x, n, y, m, 0.95)
    return float(chance[(low <= truth) & (truth <= high)].sum())


CASES = [
    (first, second)
    for sizes in [(10, 10), (30, 30), (100, 40), (8, 300), (300, 8)]
    for shares in [(0.05, 0.1), (0.1, 0.5), (0.5, 0.5), (0.8, 0.95), (0.95, 0.95)]
    for first, second in [((shares[0], sizes[0]), (shares[1], sizes[1]))]
]


def test_intervals_cover_as_often_as_they_say():
    # Exact sums over all counts: there is no chance in these numbers. Counts are whole, so that no
    # interval covers 95 % everywhere; it should on average, and stay near it with eight people.
    for interval, least in ((newcombe_interval, 0.93), (agresti_caffo_interval, 0.925)):
        found = [coverage(interval, *case, case[0][0] - case[1][0]) for case in CASES]
        assert min(found) > least
        assert np.mean(found) > 0.95
    found = [coverage(ratio_interval, *case, case[0][0] / case[1][0]) for case in CASES]
    assert min(found) > 0.91
    assert np.mean(found) > 0.95


def test_the_plain_interval_does_not_cover_with_few_people():
    # why it is not the default: one of eight against many, and both shares near 1
    assert coverage(wald_interval, (0.95, 8), (0.95, 300), 0.0) < 0.5


# --- weights --------------------------------------------------------------------------------------


def test_the_effective_size_is_that_of_kish():
    w = np.random.default_rng(0).exponential(size=50)
    assert effective_size(w.sum(), (w**2).sum()) == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert effective_size(7.0, 7.0) == 7.0
    assert effective_size([0.0, 4.0], [0.0, 16.0]).tolist() == [0.0, 1.0]


def test_weighted_shares_vary_as_the_effective_size_says():
    rng = np.random.default_rng(1)
    n, draws, share = 400, 4_000, 0.3
    w = rng.exponential(size=n)
    found = (rng.random((draws, n)) < share) @ w / w.sum()
    size = effective_size(w.sum(), (w**2).sum())
    low, high = wilson_interval(found * size, np.full(draws, size), 0.95)
    hits = int(np.sum((low <= share) & (share <= high)))
    assert abs(hits / draws - 0.95) < 4 * np.sqrt(0.95 * 0.05 / draws)


# --- exact tests ----------------------------------------------------------------------------------


def tables(n, m):
    """All pairs of counts, and their chances where the shares are p and q."""
    x, y = np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij")
    return x, y, lambda p, q: binom.pmf(x, n, p) * binom.pmf(y, m, q)


def largest_level(rejects, chance, tau, shares=401):
    """The largest chance of a rejection, over all pairs of shares that differ by tau."""
    return max(float(chance(q + tau, q)[rejects].sum()) for q in np.linspace(0, 1 - tau, shares))


@pytest.mark.parametrize(("k", "newcombe", "wald"), [(15, 0.050, 0.059), (30, 0.055, 0.058)])
def test_exact_p_values_keep_their_level_where_intervals_exceed_it(k, newcombe, wald):
    """Enumerated, no draws: one-sided at .05, as situation tests are."""
    x, y, chance = tables(k, k)
    for interval, level in ((newcombe_interval, newcombe), (wald_interval, wald)):
        low = interval(x, np.full_like(x, k), y, np.full_like(y, k), 0.9).low
        inside = np.linspace(0.05, 0.95, 181)  # beyond, Wald's intervals have no width
        found = max(float(chance(q, q)[low > 1e-9].sum()) for q in inside)
        assert found == pytest.approx(level, abs=0.0015)
    p_values = exact_p_values(x, k, y, k, 0.0)
    assert 0.03 < largest_level(p_values <= 0.05, chance, 0.0) <= 0.05
    score = chance_of_score(x, y, k)
    assert largest_level(score <= 0.05, chance, 0.0) > 0.051  # the normal stand-in does not


def chance_of_score(x, y, k):
    """The p-value of the same statistic by its normal distribution, which is not exact."""
    pooled = (x + y) / (2 * k)
    error = np.sqrt(pooled * (1 - pooled) * 2 / k)
    z = np.divide((x - y) / k, error, out=np.zeros(x.shape), where=error > 0)
    return norm.sf(z)


@pytest.mark.parametrize(("n", "m", "tau"), [(15, 15, 0.1), (12, 7, -0.2), (9, 20, 0.3)])
def test_exact_p_values_hold_at_every_level_and_nuisance_share(n, m, tau):
    x, y, chance = tables(n, m)
    p_values = exact_p_values(x, n, y, m, tau)
    shares = np.linspace(max(0.0, -tau), min(1.0, 1 - tau), 301)
    for level in np.unique(p_values[p_values < 0.3])[::5]:
        rejects = p_values <= level
        worst = max(float(chance(q + tau, q)[rejects].sum()) for q in shares)
        assert worst <= level * (1 + 2e-3)
        assert worst >= level * (1 - 2e-2)  # attained: no power is given away
    assert (np.diff(p_values, axis=0) <= 1e-12).all()  # more events above, smaller p
    assert (np.diff(p_values, axis=1) >= -1e-12).all()


def test_exact_p_values_are_those_of_barnard_at_no_difference():
    for (x, n, y, m), p_value in (  # scipy.stats.barnard_exact(..., alternative="greater")
        ((6, 15, 1, 15), 0.021532404),
        ((7, 12, 1, 10), 0.010989993),
        ((5, 30, 0, 30), 0.011194811),
    ):
        assert exact_p_values(x, n, y, m, 0.0) == pytest.approx(p_value, rel=0.03)
    assert exact_p_values(0, 0, 0, 5, 0.0) == exact_p_values(0, 5, 0, 5, 0.0) == 1.0
    large = exact_p_values(130, 1_000, 100, 1_000, 0.0)  # beyond 200 people: normal
    assert large == pytest.approx(norm.sf(0.03 / np.sqrt(0.115 * 0.885 * 2 / 1_000)))


@pytest.mark.parametrize(
    "bad",
    [(6, 5, 0, 5, 0), (1, 5, -1, 5, 0), (1.5, 5, 1, 5, 0), (1, 5, 1, 5, 1), (np.nan, 5, 1, 5, 0)],
)
def test_counts_without_an_exact_test_are_refused(bad):
    with pytest.raises(ValueError, match="successes are whole numbers of at most as many people"):
        exact_p_values(*bad)
