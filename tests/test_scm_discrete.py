"""Counts and categories one by one: what they learn and what they keep."""

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from causalfairness.errors import MechanismError
from causalfairness.scm import (
    Categorical,
    Gumbel,
    Monotone,
    NegativeBinomial,
    Ordered,
    Poisson,
)
from causalfairness.scm.causes import Causes
from causalfairness.scm.counts import CountEquation
from causalfairness.scm.domain import Domain
from causalfairness.scm.linear import LinearEquation
from scm_people import levels, sample

RNG = np.random.default_rng


# --- counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dispersion", [0.0, 0.7])
def test_counts_follow_their_distribution(dispersion):
    equation = CountEquation(LinearEquation(float(np.log(4.0)), ()), dispersion)
    nobody = Causes(4_000, (), ())
    z = stats.norm.ppf((np.arange(4_000) + 0.5) / 4_000)
    law = stats.poisson(4)
    if dispersion:
        law = stats.nbinom(1 / dispersion, 1 / (1 + 4 * dispersion))
    assert np.array_equal(equation.apply(z, nobody), law.ppf(stats.norm.cdf(z)))


@pytest.mark.parametrize("dispersion", [0.0, 0.7])
@pytest.mark.parametrize("mean", [0.01, 0.5, 30.0, 4_000.0])
def test_abducted_quantiles_lead_back_even_far_out(dispersion, mean):
    equation = CountEquation(LinearEquation(float(np.log(mean)), ()), dispersion)
    spread = np.sqrt(mean + dispersion * mean**2)
    counts = np.unique(np.rint(np.maximum(mean + spread * np.linspace(-6, 12, 60), 0)))
    rng, causes = RNG(7), Causes(len(counts), (), ())
    for _ in range(20):
        noise = equation.abduct(counts, causes, rng)
        assert np.array_equal(equation.apply(noise, causes), counts)


def test_the_noise_of_counts_is_normal_where_the_mechanism_is_right():
    rng = RNG(8)
    x = rng.normal(size=20_000)
    counts = rng.poisson(np.exp(0.5 + 0.4 * x))
    data = sample(counts, {"x": x}, target=levels(counts))
    equation = Poisson().fit(data)
    assert equation.rate.slopes[0] == pytest.approx(0.4, abs=4 * 0.006)
    z = equation.abduct(data.values, data.causes, rng)
    assert stats.kstest(z, "norm").pvalue > 0.001
    assert abs(np.corrcoef(z, x)[0, 1]) < 4 / np.sqrt(20_000)


def test_dispersion_is_found_where_there_is_some_and_only_there():
    rng = RNG(9)
    x = rng.normal(size=20_000)
    mean = np.exp(0.5 + 0.4 * x)
    wide, plain = rng.poisson(mean * rng.gamma(2.0, 0.5, 20_000)), rng.poisson(mean)
    fitted = [
        NegativeBinomial().fit(sample(counts, {"x": x}, target=levels(counts))).dispersion
        for counts in (wide, plain)
    ]
    assert fitted[0] == pytest.approx(0.5, abs=0.08)
    assert fitted[1] < 0.02


def test_counts_without_causes_have_their_mean():
    counts = np.array([0, 1, 2, 3, 4] * 4)
    equation = Poisson().fit(sample(counts, target=levels(counts)))
    assert equation.predict(Causes(1, (), ()))[0] == pytest.approx(2.0)


# --- categories ----------------------------------------------------------------------------------


def test_logistic_probabilities_are_those_of_maximum_likelihood():
    rng = RNG(10)
    x = rng.normal(size=(2, 4_000))
    scores = np.stack([0 * x[0], 1 + x[0], -0.5 + 0.5 * x[1]], axis=1)
    places = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    labels = Domain("v", labels=("a", "b", "c"))
    data = sample(places, {"x": x[0], "z": x[1]}, target=labels)
    found = Categorical().fit(data).predict(data.causes)
    free = LogisticRegression(C=1e6, tol=1e-8, max_iter=2_000).fit(x.T, places)
    assert np.abs(found - free.predict_proba(x.T)).max() < 1e-3
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12


def test_two_categories_have_one_pair_of_probabilities():
    rng = RNG(11)
    x = rng.normal(size=2_000)
    y = (rng.random(2_000) < 1 / (1 + np.exp(-x))).astype(int)
    data = sample(y, {"x": x}, target=levels(y))
    found = Categorical().fit(data).predict(data.causes)
    assert found.shape == (2_000, 2)
    assert np.corrcoef(found[:, 1], x)[0, 1] > 0.9


@pytest.mark.parametrize(
    "classifier",
    [GaussianNB(), HistGradientBoostingClassifier(max_iter=20)],
    ids=["nb", "boosting"],
)
@pytest.mark.parametrize("kind", [Categorical, Ordered])
def test_any_classifier_serves(classifier, kind):
    rng = RNG(12)
    x = rng.normal(size=600)
    v = np.clip(np.rint(x + rng.normal(size=600)) + 2, 0, 4)
    data = sample(v, {"x": x}, target=levels(v))
    equation = kind(classifier).fit(data)
    noise = equation.abduct(data.values, data.causes, rng)
    assert np.array_equal(equation.apply(noise, data.causes), data.values)
    up = Causes(600, data.causes.domains, (x + 1,))
    assert equation.apply(noise, up).mean() > data.values.mean() + 0.5


def test_ordered_values_move_with_the_tide_only():
    rng = RNG(13)
    x = rng.normal(size=2_000)
    v = np.clip(np.rint(x + rng.normal(size=2_000)) + 2, 0, 4)
    data = sample(v, {"x": x}, target=levels(v))
    equation = Ordered().fit(data)
    noise = equation.abduct(data.values, data.causes, rng)
    up = equation.apply(noise, Causes(2_000, data.causes.domains, (x + 0.5,)))
    assert (up >= data.values).mean() > 0.99  # a multinomial fit is only nearly monotone
    assert up.mean() > data.values.mean() + 0.3


def test_a_category_missing_from_some_rows_has_probability_zero_there():
    rng = RNG(14)
    x = rng.normal(size=60)
    places = (x > 0).astype(float)
    three = Domain("v", labels=("a", "b", "c"))
    for model in (None, GaussianNB()):
        fitted = Categorical(model).fit(sample(places, {"x": x}, target=three))
        found = fitted.predict(Causes(60, (Domain("x"),), (x,)))
        assert (found[:, 2] == 0).all()


def test_categories_without_causes_have_their_shares():
    equation = Categorical().fit(sample([0, 0, 1, 1, 1] * 4, target=Domain("v", labels=("a", "b"))))
    assert equation.predict(Causes(2, (), ())).tolist() == [[0.4, 0.6]] * 2


def test_what_a_classifier_rules_out_cannot_have_happened():
    x = np.repeat([0.0, 1.0], 20)
    data = sample(np.repeat([0, 1], 20), {"x": x}, target=Domain("v", labels=("a", "b")))
    for coupling in (Gumbel(), Monotone()):
        equation = Categorical(
            lambda causes: np.stack([causes["x"], 1 - causes["x"]], axis=1), coupling
        ).fit(data)
        with pytest.raises(MechanismError, match=r"40 rows are in a category .* probability 0"):
            equation.abduct(data.values, data.causes, RNG(0))
