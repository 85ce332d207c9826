"""Do the tests of invariance answer rightly where the answer is known?

Linear-Gaussian people have a closed form: with ŷ = slope . z + shift A + noise and A independent
of z given its chance p, E[(g - h)^2] = shift^2 p (1 - p).
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from scipy.stats import binom
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import causalfairness as cf
from causalfairness.invariance import demographic_parity_test
from causalfairness.invariance.kernel_ridge import regress, regress_by_group
from causalfairness.invariance.nuisances import folds_of
from causalfairness.invariance.propensity import chances_of_groups
from causalfairness.invariance.reading import read
from causalfairness.invariance.scores import Judged, halves, means_of, studentized
from causalfairness.invariance.statistics import redrawn
from causalfairness.invariance.tails import log_f_tail, log_normal_tail

METHODS = ("projected", "randomization", "paired")
HONEST = METHODS[:2]
SHARE = 0.4
STRAIGHT = {"regressor": LinearRegression(), "propensity": LogisticRegression()}  # as `people` are


def people(n, rng, *, shift=0.0, confounding=0.0, noise=1.0, columns=3):
    """Linear-Gaussian predictions; `confounding` is the log odds of the group per sd of z1."""
    z = rng.normal(size=(n, columns))
    odds = np.log(SHARE / (1 - SHARE)) + confounding * z[:, 0]
    a = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    return z @ np.linspace(1, -1, columns) + shift * a + noise * rng.normal(size=n), a, z


# --- the closed form ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_effect_is_that_of_the_closed_form(method):
    y, a, z = people(6_000, np.random.default_rng(0), shift=0.5)
    found = cf.invariance_test(y, a, z, method=method, **STRAIGHT)
    truth = 0.25 * SHARE * (1 - SHARE)
    assert abs(found.effect[0] - truth) < 3 * found.standard_error[0]
    assert found.standard_error[0] < 0.3 * truth
    assert found.rejected[0]
    assert found.n == (3_000 if method == "randomization" else 6_000)


@pytest.mark.parametrize("shift", [0.0, 0.4, 0.8])
def test_the_bound_of_the_effect_covers_near_zero_and_away_from_it(shift):
    draws, rng = 60, np.random.default_rng(1)
    truth = shift**2 * SHARE * (1 - SHARE)
    found = [cf.invariance_test(*people(300, rng, shift=shift), **STRAIGHT) for _ in range(draws)]
    covered = sum(test.upper[0] >= truth for test in found)
    assert covered >= binom.ppf(0.005, draws, 0.95)
    assert all(test.upper[0] > 0 for test in found)  # the data never exclude every effect
    reach = 2 * 1.645 * 1.1 / np.sqrt(300)  # twice z times noise: how far a bound lies at zero
    assert np.median([test.upper[0] for test in found]) < (np.sqrt(truth) + reach) ** 2


def test_errors_of_g_do_not_lower_the_bound():
    y, a, z = people(100, np.random.default_rng(4))
    found = cf.invariance_test(y, a, z)
    exact = replace(found, standard_error=np.zeros(1), noise=np.zeros(1))
    for effect, score in ((-1.0, 0.04), (0.04, -1.0)):
        given = replace(exact, effect=np.array([effect]), score=np.array([score]))
        assert given.upper[0] == pytest.approx(0.04)


def test_the_interval_of_the_effect_covers_where_g_is_simple():
    draws, rng = 30, np.random.default_rng(2)
    truth = 0.8**2 * SHARE * (1 - SHARE)
    inside = 0
    for _ in range(draws):
        y, a, z = people(600, rng, shift=0.8)
        found = cf.invariance_test(y, a, z, **STRAIGHT)
        inside += abs(found.effect[0] - truth) <= 1.96 * found.standard_error[0]
    assert inside >= binom.ppf(0.005, draws, 0.95)


def test_scores_are_those_that_methods_states():
    """d = (ŷ - h)(g - h) by hand, with h and pi of given models."""
    rng = np.random.default_rng(2)
    y, a, z = people(500, rng, shift=1.0, noise=0.5)
    fixed = LinearRegression()
    found = cf.invariance_test(y, a, z, regressor=fixed, propensity=DummyClassifier())
    brought = read(y, a, z)  # people in the order of what they have
    y, a, z = brought.predictions[:, 0], brought.group, brought.features
    one, other = halves(a, np.random.default_rng(0).spawn(2)[0])
    h, pi, t = np.empty(500), np.empty(500), []
    for fold in folds_of((one, other), a):
        rest = np.setdiff1d(np.arange(500), fold)
        h[fold], pi[fold] = fixed.fit(z[rest], y[rest]).predict(z[fold]), a[rest].mean()
    for learned, judged in ((one, other), (other, one)):
        left = (y - h)[:, None]
        e = regress_by_group(z[learned], a[learned], left[learned], z[judged], 2)[:, :, 0]
        apart = np.where(a[judged] == 1, 1 - pi[judged], -pi[judged]) * (e[1] - e[0])
        d = (y - h)[judged] * apart
        t.append(d.mean() / d.std(ddof=1) * np.sqrt(len(d)))
    assert found.statistic[0] == pytest.approx(np.mean(t), rel=1e-9)
    assert found.log_p_value[0] == pytest.approx(stats.norm.logsf(np.mean(t)), rel=1e-9)
    assert found.explained.share[0] == pytest.approx(1 - np.mean((y - h) ** 2) / y.var())


# --- level and power, reduced ---------------------------------------------------------------------


@pytest.mark.parametrize("draws", [100, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("confounding", [0.0, 1.0])
def test_true_invariance_is_rejected_at_most_as_often_as_said(confounding, draws):
    """The standard error of a level of 5 % is 2.2 %; one of 15 % is seen in three of four runs."""
    rng = np.random.default_rng(3)
    rejected = dict.fromkeys((*METHODS, "parity"), 0)
    for draw in range(draws):
        y, a, z = people(200, rng, confounding=confounding)
        for method in METHODS:
            by = STRAIGHT if method in HONEST else {}
            found = cf.invariance_test(y > 0, a, z, method=method, seed=draw, draws=99, **by)
            rejected[method] += found.p_value[0] <= 0.05
        rejected["parity"] += demographic_parity_test(y > 0, a).p_value[0] <= 0.05
    most = binom.ppf(0.999, draws, 0.05)
    assert all(rejected[method] <= most for method in HONEST), rejected
    assert rejected["paired"] > 2 * most  # as documented
    assert (rejected["parity"] > most) == (confounding > 0)


def test_chances_of_groups_are_followed_where_there_is_something_to_follow():
    """Noise in 32 columns is shrunk away; a real dependence is not, for two and three groups."""
    rng = np.random.default_rng(21)
    z, unseen = rng.normal(size=(150, 32)), rng.normal(size=(500, 32))
    noise = chances_of_groups(z, (rng.random(150) < 0.3).astype(int), unseen, 2)
    assert noise[1].std() < 0.1  # 0.3 without a penalty
    big, asked = rng.normal(size=(2_000, 3)), rng.normal(size=(500, 3))
    weights = np.array([[0.0, 1.0, -1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.0]])
    for levels in (2, 3):

        def truth(rows, levels=levels):
            odds = np.exp(rows @ weights[:, :levels])
            return (odds / odds.sum(axis=1, keepdims=True)).T

        group = (rng.random(2_000) > truth(big).cumsum(axis=0)).sum(axis=0)
        found = chances_of_groups(big, group, asked, levels)
        np.testing.assert_allclose(found.sum(axis=0), 1.0)
        assert np.abs(found - truth(asked)).mean() < 0.04
        assert truth(asked).std(axis=1).min() > 0.12


def curved(rows, rng):
    """A square drives the group and the prediction, which the group does not reach."""
    z = rng.normal(size=(rows, 2))
    chance = expit(1.5 * (z[:, 0] ** 2 - 1))
    return z[:, 0] ** 2 + rng.normal(size=rows), (rng.random(rows) < chance).astype(int), z, chance


def test_columns_beside_are_followed_no_further_than_they_were_seen():
    """A product that is rare among those learned from would else be drawn out without a limit."""
    rng = np.random.default_rng(0)
    z, rare = rng.normal(size=(120, 2)), np.zeros((120, 1))
    rare[:2] = 0.01
    said = z[:, :1] + rng.normal(size=(120, 4)) + 30 * rare
    far = np.array([[5.0]])
    plain = regress(z, said, z[:1])
    found = regress(z, said, z[:1], beside=(rare, far))
    assert abs(found - plain).max() < 2
    near = regress(z, said, z[:1], beside=(rare, np.array([[rare.mean() + 3 * rare.std()]])))
    assert found == pytest.approx(near)


def test_columns_beside_are_used_as_far_as_they_help():
    rng = np.random.default_rng(1)
    z, wave = rng.normal(size=(300, 3)), rng.choice([-1.0, 1.0], size=(300, 1))
    said = np.hstack([3 * wave, 0 * wave]) + z[:, :1] + 0.3 * rng.normal(size=(300, 2))
    asked = np.zeros((2, 3)), np.array([[-1.0], [1.0]])
    found = regress(z, said, asked[0], beside=(wave, asked[1]))
    assert np.diff(found, axis=0)[0] == pytest.approx([6, 0], abs=0.3)


@pytest.mark.parametrize("levels", [2, 3])
def test_chances_of_groups_follow_columns_beside_where_they_tell_something(levels):
    rng = np.random.default_rng(3)
    z, product = rng.normal(size=(600, 2)), rng.choice([-1.0, 1.0], size=(600, 1))
    own = rng.random(600) < 1 / (1 + np.exp(-1.5 * product[:, 0]))
    group = own.astype(int) + (levels == 3) * (rng.random(600) < 0.3)
    asked = np.zeros((2, 2)), np.array([[-1.0], [1.0]])
    with_it = chances_of_groups(z, group, asked[0], levels, beside=(product, asked[1]))
    without = chances_of_groups(z, group, asked[0], levels)
    shares = [(group[product[:, 0] == at] == 0).mean() for at in (-1, 1)]
    assert with_it[0] == pytest.approx(shares, abs=0.06)
    assert np.ptp(without[0]) == 0
    noise = rng.normal(size=(600, 1))
    silent = chances_of_groups(z, group, asked[0], levels, beside=(noise, asked[1]))
    assert np.abs(np.diff(silent[0])) < 0.1


def test_chances_of_groups_follow_curves():
    rng = np.random.default_rng(31)
    (_, group, z, _), (_, _, unseen, chance) = curved(500, rng), curved(500, rng)
    found = chances_of_groups(z, group, unseen, 2)[1]
    assert np.sqrt(np.mean((found - chance) ** 2)) < 0.1  # 0.28 for a straight line


def test_confounding_along_a_curve_is_not_taken_for_dependence():
    """With a straight h the default pi alone has to follow it."""
    rejected, straight = 0, LinearRegression()
    for draw in range(40):
        y, group, z, _ = curved(300, np.random.default_rng(1_000 + draw))
        rejected += (
            cf.invariance_test(y, group, z, seed=draw, regressor=straight).p_value[0] <= 0.05
        )
    assert rejected <= binom.ppf(0.99, 40, 0.07)  # 7; 10 with a straight line for the group


def test_a_dependence_is_found_more_often_the_stronger_it_is():
    draws, rng = 30, np.random.default_rng(4)
    power = []
    for shift in (0.0, 0.4, 0.8):
        found = [
            cf.invariance_test(*people(200, rng, shift=shift), **STRAIGHT).rejected[0]
            for _ in range(draws)
        ]
        power.append(np.mean(found))
    assert power[0] < 0.15 < power[1] < power[2]
    assert power[2] > 0.9


def test_interactions_are_found_that_parity_cannot_see():
    rng = np.random.default_rng(5)
    _, a, z = people(600, rng)
    y = z[:, 0] * np.where(a == 1, 1, -1) > 0  # opposite for the groups, equal on average
    assert cf.invariance_test(y, a, z).log_p_value[0] < -30
    assert demographic_parity_test(y, a).p_value[0] > 0.01


def judged_by_half(brought, learned, judged):
    """What g and pi of one half, by the default learners, say of the other."""
    known, asked = (brought.features[learned], brought.group[learned]), brought.features[judged]
    g = regress_by_group(*known, brought.predictions[learned], asked, 2)
    pi = chances_of_groups(*known, asked, 2)
    return Judged(brought.predictions[judged], brought.group[judged], g, pi)


@pytest.mark.parametrize(("columns", "least", "most"), [(0, 0.56, 0.72), (3, 0.4, 0.9)])
def test_the_two_halves_are_correlated_so_that_the_normal_errs_on_the_safe_side(
    columns, least, most
):
    """With one coefficient t1 = N1 sign(N2) and t2 = N2 sign(N1): a correlation of 2 / pi."""
    rng, pairs = np.random.default_rng(6), []
    for _ in range(400 if columns == 0 else 150):
        y, a, z = people(200, rng)
        brought = read(y - z @ [1, 0, -1], a, z[:, :columns])
        one, other = halves(brought.group, rng)
        parts = [judged_by_half(brought, *split) for split in ((one, other), (other, one))]
        pairs.append([studentized(means_of(part.scores))[0] for part in parts])
    pairs = np.array(pairs)
    assert least < np.corrcoef(pairs.T)[0, 1] < most  # 2 / pi within three standard errors
    assert 0.7 < pairs.mean(axis=1).std() < 1.05  # independence would give 0.71


# --- deliberately wrong models --------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS[:2])
def test_a_propensity_that_knows_the_group_finds_nothing(method):
    """Whoever could be of one group only says nothing: g - h is 0."""
    y, a, z = people(200, np.random.default_rng(7), shift=3.0)
    told = np.column_stack([z, a])
    sure = make_pipeline(ColumnTransformer([("a", "passthrough", [-1])]), DecisionTreeClassifier())
    place = read(y, a, told).names.index("feature 4")
    sure.set_params(columntransformer__transformers=[("a", "passthrough", [place])])
    by = {"regressor": DummyRegressor(), "propensity": sure}
    found = cf.invariance_test(y, a, told, method=method, **by)
    assert found.statistic.tolist() == [0.0]
    assert found.log_p_value.tolist() == [0.0]
    assert found.effect.tolist() == [0.0]


def test_a_wrong_propensity_costs_the_level_only_where_there_is_confounding():
    draws, rng = 20, np.random.default_rng(8)
    plain = np.zeros((300, 0))  # the features are kept from both regressions
    for confounding in (0.0, 1.5):
        biased = []
        for _ in range(draws):
            y, a, _ = people(300, rng, confounding=confounding)
            biased.append(cf.invariance_test(y, a, plain).rejected[0])
        assert (np.mean(biased) > 0.5) == (confounding > 0)


def test_right_chances_repair_an_h_that_knows_nothing_and_the_other_way_round():
    """Confounding drives h and the groups; one right regression keeps the level, none does not."""
    draws, rng = 30, np.random.default_rng(9)
    rejected = dict.fromkeys(("pi", "h", "none"), 0)
    for _ in range(draws):
        y, a, z = people(300, rng, confounding=1.0)
        for name in rejected:
            h = LinearRegression() if name == "h" else DummyRegressor()
            pi = LogisticRegression() if name == "pi" else DummyClassifier()
            found = cf.invariance_test(y, a, z, regressor=h, propensity=pi)
            rejected[name] += found.p_value[0] <= 0.05
    most = binom.ppf(0.999, draws, 0.05)
    assert rejected["pi"] <= most
    assert rejected["h"] <= most
    assert rejected["none"] > 1.5 * most  # a third of the draws


def test_groups_are_drawn_anew_from_their_own_chances():
    """Mean and spread of redrawn means against their exact values, for three groups."""
    rng = np.random.default_rng(22)
    chances = rng.dirichlet([1, 2, 4], size=50).T
    expected = rng.normal(size=(3, 50, 2))
    judged = Judged(rng.normal(size=(50, 2)), rng.integers(0, 3, 50), expected, chances)
    told = judged.told
    mean = np.einsum("an,anm->m", chances, told) / 50
    each = np.einsum("an,anm->nm", chances, told**2) - np.einsum("an,anm->nm", chances, told) ** 2
    exact = (judged.scores.mean(axis=0) - mean) / np.sqrt(each.sum(axis=0)) * 50
    standing, log_p = redrawn(judged, 20_000, rng)
    assert standing == pytest.approx(
        exact, abs=4 * np.sqrt(1.5 / 20_000) * (1 + np.abs(exact).max())
    )
    assert np.exp(log_p) == pytest.approx(stats.norm.sf(exact), abs=0.05)  # nearly normal


# --- degenerate scores ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_prediction_is_never_evidence(method):
    _, a, z = people(100, np.random.default_rng(10))
    for value in (0.0, 1.0, 0.1):
        found = cf.invariance_test(np.full(100, value), a, z, method=method)
        assert found.p_value.tolist() == [1.0]
        assert found.effect.tolist() == [0.0]


@pytest.mark.parametrize("method", METHODS[:2])
def test_constant_positive_scores_are_rejected_by_redrawing(method):
    a = np.tile([0, 1], 60)
    z = np.zeros((120, 1))
    model = DummyClassifier()  # pi = 1/2 exactly, in halves of equal groups
    found = cf.invariance_test(
        a, a, z, method=method, regressor=LinearRegression(), propensity=model, draws=199
    )
    assert found.p_value[0] == pytest.approx(1 / 200)
    assert np.isfinite(found.statistic).all()
    assert ("redrawn groups" in str(found)) == (method == "projected")


def test_tiny_chances_keep_their_logarithm():
    y, a, z = people(4_000, np.random.default_rng(11), shift=5.0, noise=0.05)
    found = cf.invariance_test(y, a, z)
    assert found.p_value[0] == 0.0 > found.log_p_value[0] > -np.inf
    assert log_normal_tail(3.0) == pytest.approx(stats.norm.logsf(3.0))
    assert log_f_tail(4.0, 1, 20) == pytest.approx(np.log(2 * stats.t.sf(2.0, 20)))
    assert log_f_tail(3.0, 2, 50) == pytest.approx(stats.f.logsf(3.0, 2, 50))
    near, far = log_f_tail([1e5, 1.0001e5], 1, 200)  # both sides of the smallest float
    step = stats.t.logpdf(np.sqrt([1e5]), 200)[0]
    assert near > far
    assert log_f_tail(1e5, 1, 200) == pytest.approx(
        step + 0.5 * np.log(1e5) + np.log(2 / 200), abs=0.1
    )
