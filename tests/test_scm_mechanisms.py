"""Mechanisms one by one: what they learn, what they keep, what they cannot be."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from causalfairness.errors import LearnerError, MechanismError
from causalfairness.scm import (
    Additive,
    Bounded,
    Categorical,
    Deterministic,
    Empirical,
    Linear,
    LogNormal,
    NegativeBinomial,
    Ordered,
    Poisson,
    StructuralEquation,
)
from causalfairness.scm import least_squares as module
from causalfairness.scm.causes import Causes
from causalfairness.scm.counts import CountEquation
from causalfairness.scm.domain import Domain
from causalfairness.scm.least_squares import Design, Regression, regress
from causalfairness.scm.linear import LinearEquation
from scm_people import levels, sample

RNG = np.random.default_rng


# --- least squares -------------------------------------------------------------------------------


def by_lstsq(columns, y):
    x = np.column_stack([np.ones(len(y)), *columns])
    return np.linalg.lstsq(x, y, rcond=None)[0]


@pytest.mark.parametrize(
    ("scale", "center"),
    [(1, 0), (1e-6, 0), (1e6, 1e3), (1, 1e5)],
    ids=["plain", "tiny", "big", "far"],
)
def test_lines_are_those_of_an_orthogonal_factorization(scale, center):
    rng = RNG(0)
    x = rng.normal(size=(3, 30_000)) * scale + center
    y = x[0] / scale - 2 * x[1] / scale + rng.normal(size=30_000)
    (line,) = regress([*map(Design, x), Design(y)], [Regression(3, (0, 1, 2))])
    shifted = (x - x.mean(axis=1, keepdims=True)) / scale
    expected = by_lstsq(shifted, y)
    assert np.abs(line.slopes * scale - expected[1:]).max() < 1e-12
    at_mean = line.intercept + line.slopes @ x.mean(axis=1)
    assert abs(at_mean - expected[0]) < 1e-10 * max(1, abs(center / scale))


def test_sorted_rows_cost_no_digits():
    rng = RNG(1)
    x = np.sort(rng.normal(size=50_000)) + np.repeat([0, 1e6], 25_000)
    y = 3 * x + rng.normal(size=50_000)
    (line,) = regress([Design(x), Design(y)], [Regression(1, (0,))])
    expected = by_lstsq([x - x.mean()], y)[1]
    assert abs(line.slopes[0] / expected - 1) < 1e-13


def test_columns_that_are_almost_alike_are_solved_with_a_second_pass(monkeypatch):
    rng = RNG(2)
    x = rng.normal(size=20_000)
    z = x + 1e-5 * rng.normal(size=20_000)
    y = x + z + rng.normal(size=20_000)
    designs, regressions = [Design(x), Design(z), Design(y)], [Regression(2, (0, 1))]
    expected = by_lstsq([x - x.mean(), z - z.mean()], y)[1:]
    (refined,) = regress(designs, regressions)
    monkeypatch.setattr(module, "STIFF", 0.0)
    (plain,) = regress(designs, regressions)
    errors = [np.abs(line.slopes / expected - 1).max() for line in (refined, plain)]
    assert errors[0] < 1e-9
    assert errors[1] > 10 * errors[0]


def test_a_regressor_that_others_replace_is_named_and_the_fit_is_the_smallest():
    rng = RNG(3)
    x, w = rng.normal(size=(2, 500))
    y = x + 0.1 * rng.normal(size=500)
    (line,) = regress([Design(x), Design(2 * x), Design(w), Design(y)], [Regression(3, (0, 1, 2))])
    assert line.alike in (0, 1)
    (honest,) = regress([Design(x), Design(w), Design(y)], [Regression(2, (0, 1))])
    assert line.alike is not None
    assert honest.alike is None
    predicted = line.slopes[0] * x + line.slopes[1] * 2 * x
    assert np.abs(predicted - honest.slopes[0] * x).max() < 1e-9


def test_labels_enter_by_one_indicator_each_and_regressions_share_the_pass():
    rng = RNG(4)
    region = rng.choice(["east", "north", "west"], 3_000)
    age = rng.normal(size=3_000)
    y = age + np.select([region == "east", region == "north"], [0.0, 2.0], -1.0)
    equation = Linear().fit(sample(y, {"region": region, "age": age}))
    slopes, per_year = equation.slopes
    assert np.allclose(slopes, (0.0, 2.0, -1.0), atol=1e-12)
    assert per_year == pytest.approx(1.0, abs=1e-12)
    assert equation.intercept == pytest.approx(0.0, abs=1e-12)


def test_causes_that_cannot_be_told_apart_are_refused_by_name():
    rng = RNG(5)
    x = rng.normal(size=100)
    with pytest.raises(
        MechanismError, match=r"'(x|z)' is a weighted sum of the other causes of 'v'"
    ):
        Linear().fit(sample(x + rng.normal(size=100), {"x": x, "z": 3 * x - 1}))


# --- numbers on other scales ---------------------------------------------------------------------


def test_scales_recover_their_equations_and_never_leave_their_range():
    rng = RNG(6)
    x = rng.normal(size=5_000)
    eta = 0.3 + 0.5 * x + 0.2 * rng.normal(size=5_000)
    logs = LogNormal().fit(sample(np.exp(eta), {"x": x}))
    odds = Bounded(10, 30).fit(sample(10 + 20 / (1 + np.exp(-eta)), {"x": x}))
    for equation in (logs, odds):
        assert equation.line.slopes[0] == pytest.approx(0.5, abs=4 * 0.2 / np.sqrt(5_000))
    far = Causes(3, (Domain("x"),), (np.array([-50.0, 0.0, 50.0]),))
    noise = np.array([-3.0, 0.0, 3.0])
    assert (logs.apply(noise, far) > 0).all()
    assert ((odds.apply(noise, far) >= 10) & (odds.apply(noise, far) <= 30)).all()


# --- equations of users --------------------------------------------------------------------------


def test_given_functions_may_return_words():
    score = np.linspace(0, 10, 40)
    band = Domain("band", labels=("high", "low"))
    observed = np.where(score > 4, 0.0, 1.0)
    rule = Deterministic(lambda causes: np.where(causes["score"] > 4, "high", "low"))
    data = sample(observed, {"score": score}, target=band)
    equation = rule.fit(data)
    up = Causes(40, data.causes.domains, (score + 5,))
    assert (equation.apply(np.zeros(40), up) == 0).all()
    with pytest.raises(MechanismError, match=r"returned 'medium'; known are 'high', 'low'"):
        Deterministic(lambda causes: np.full(40, "medium")).fit(data)


def test_given_functions_are_held_to_the_data():
    score = np.linspace(0, 10, 40)
    data = sample(2 * score, {"score": score})
    with pytest.raises(
        MechanismError, match=r"in 39 of 40 rows; .*\nit says 0\.25\d+ where 0\.51\d+ is"
    ):
        Deterministic(lambda causes: causes["score"]).fit(data)
    with pytest.raises(MechanismError, match=r"returned shape \(3,\) for 40 rows; expected one"):
        Deterministic(lambda causes: np.ones(3)).fit(data)
    wrong = StructuralEquation(lambda causes, noise: noise, lambda values, causes: values + 1)
    with pytest.raises(MechanismError, match="the given function of the given inverse differs"):
        wrong.fit(data)
    short = StructuralEquation(lambda causes, noise: noise, lambda values, causes: values[:2])
    with pytest.raises(MechanismError, match=r"inverse returned shape \(2,\) for 40 rows"):
        short.fit(data)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda causes: np.ones((5, 2)), r"returned shape \(5, 2\); expected \(20, 2\)"),
        (lambda causes: np.tile([0.5, 0.6], (20, 1)), "negative or do not add up to 1"),
        (lambda causes: np.tile([-0.5, 1.5], (20, 1)), "negative or do not add up to 1"),
    ],
)
def test_given_probabilities_are_held_to_be_probabilities(function, said):
    data = sample([0, 1] * 10, {"x": np.arange(20)}, target=Domain("v", labels=("a", "b")))
    with pytest.raises(MechanismError, match=said):
        Categorical(function).fit(data).predict(data.causes)


# --- what does not fit ---------------------------------------------------------------------------


WORDS = sample([0, 1] * 10, {"x": np.arange(20)}, target=Domain("v", labels=("no", "yes")))
NUMBERS = sample(np.linspace(-1, 1, 20), {"x": np.arange(20)})


@pytest.mark.parametrize(
    ("mechanism", "data", "said"),
    [
        (Linear(), WORDS, r"Linear\(\) describes numbers, but 'v' holds words such as 'no'"),
        (Additive(), WORDS, r"Additive\(boosting\) describes numbers"),
        (Additive(), sample(np.arange(20)), r"'v' has no causes to learn from; use Empirical\(\)"),
        (LogNormal(), WORDS, r"LogNormal\(\) describes numbers"),
        (LogNormal(), NUMBERS, r"LogNormal\(\) describes positive values, but 'v' has 10 of 20"),
        (Bounded(), NUMBERS, r"Bounded\(0, 1\) .* has 11 of 20 rows on or outside them \(from -1"),
        (Poisson(), NUMBERS, r"Poisson\(\) describes counts 0, 1, 2, \.\.\., but 'v' has values"),
        (NegativeBinomial(), WORDS, r"NegativeBinomial\(\) describes numbers"),
        (Categorical(), NUMBERS, r"Categorical\(\) describes words or a few whole numbers"),
        (Ordered(), NUMBERS, r"Ordered\(\) describes words or a few whole numbers"),
        (Empirical(), NUMBERS, r"Empirical\(\) is for nodes without causes, but 'v' has 'x'"),
    ],
    ids=str,
)
def test_a_mechanism_that_does_not_suit_its_node_is_refused(mechanism, data, said):
    with pytest.raises(MechanismError, match=said):
        mechanism.fit(data)


def test_counts_that_are_always_zero_have_no_rate():
    data = sample(np.zeros(20), {"x": np.arange(20)}, target=levels([0]))
    with pytest.raises(MechanismError, match="'v' is 0 in every row"):
        Poisson().fit(data)


def test_values_that_a_mechanism_cannot_have_produced_are_refused():
    data = sample(np.exp(np.linspace(-1, 1, 20)), {"x": np.arange(20.0) ** 0.5})
    with pytest.raises(MechanismError, match="20 rows have values that are not between 0 and inf"):
        LogNormal().fit(data).abduct(-data.values, data.causes, RNG(0))
    inside = sample(np.linspace(0.1, 0.9, 20), {"x": np.arange(20.0) ** 0.5})
    with pytest.raises(MechanismError, match="not between 0 and 1"):
        Bounded().fit(inside).abduct(inside.values + 1, inside.causes, RNG(0))
    rate = CountEquation(LinearEquation(0.0, ()), 0.0)
    with pytest.raises(MechanismError, match=r"values that are not 0, 1, 2"):
        rate.abduct(np.array([1.5]), Causes(1, (), ()), RNG(0))
    with pytest.raises(
        MechanismError, match=r"a count is too unlikely.*\na count of 900 where 1 is expected"
    ):
        rate.abduct(np.array([900.0]), Causes(1, (), ()), RNG(0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Additive(LogisticRegression()),
        lambda: Additive(Ridge),
        lambda: Categorical(Ridge()),
        lambda: Categorical(LinearSVC()),
        lambda: Ordered(DummyClassifier),
    ],
)
def test_a_learner_of_the_wrong_kind_is_refused(make):
    with pytest.raises(LearnerError, match="expected an unfitted scikit-learn"):
        make()


def test_bounds_must_be_in_order():
    with pytest.raises(MechanismError, match=r"Bounded\(1, 0\): expected low below high"):
        Bounded(1, 0)


def test_learners_are_never_fitted_in_place():
    model = Ridge()
    Additive(model).fit(NUMBERS)
    assert not hasattr(model, "coef_")
