"""Which mechanism is taken, how well it fits, and whether its noise looks like noise."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, Ridge

import causalfairness as cf
from causalfairness.datasets import worlds
from causalfairness.errors import MechanismError, UnknownNodeError
from causalfairness.scm import (
    Additive,
    Categorical,
    Deterministic,
    Gumbel,
    Linear,
    LogNormal,
    Monotone,
    NegativeBinomial,
    Ordered,
    Poisson,
)
from causalfairness.scm.fitting import districts, spread_rows
from judging import fewest_and_most_hits

fit = cf.StructuralCausalModel.fit
GRAPH = cf.CausalGraph.parse("x -> y")


def chosen(y, x=None, n=1_500, seed=0):
    """The fit of y on x when nothing is said about mechanisms."""
    x = np.random.default_rng(seed).normal(size=n) if x is None else x
    scm = fit(GRAPH, pd.DataFrame({"x": x, "y": y(x) if callable(y) else y}))
    return scm.fits[1]


def noise(n=1_500, seed=1):
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize(
    ("y", "mechanism"),
    [
        (lambda x: 2 * x + noise(), "linear"),
        (lambda x: 3 * np.sin(3 * x) + noise(), "additive (boosting)"),
        (lambda x: np.where(x + noise() > 0, "yes", "no"), "categorical (logistic, Gumbel)"),
        (lambda x: (np.abs(x) + 0.1 * noise() > 1).astype(int), "categorical (boosting, Gumbel)"),
        (lambda x: x + noise() > 0, "categorical (logistic, Gumbel)"),
        (lambda x: np.where(x + noise() > 0, -1, 1), "categorical (logistic, Gumbel)"),
        (
            lambda x: np.clip(np.rint(x + noise()), -2, 2).astype(int),
            "ordered (logistic, monotone)",
        ),
        (
            lambda x: np.random.default_rng(2).poisson(np.exp(2.2 + 0.6 * x)).clip(max=60),
            "negative binomial",
        ),
        (lambda x: np.rint(50 + 10 * x + 5 * noise()).astype(int), "linear"),
        (lambda x: np.rint(3_000 * np.exp(x / 9 + noise() / 9)).astype(int), "linear"),
    ],
    ids=[
        "line",
        "wave",
        "words",
        "two values",
        "truth",
        "signs",
        "few",
        "counts",
        "ages",
        "dollars",
    ],
)
def test_the_mechanism_follows_from_what_the_node_holds_and_what_predicts_best(y, mechanism):
    assert chosen(y).mechanism == mechanism


def test_ranked_words_are_ordered():
    x = noise()
    words = np.array(["low", "mid", "top"])[np.digitize(x + noise(seed=3), [-0.5, 0.5])]
    data = pd.DataFrame({"x": x, "y": pd.Categorical(words, ["low", "mid", "top"], ordered=True)})
    assert fit(GRAPH, data).fits[1].mechanism == "ordered (logistic, monotone)"


def test_the_reason_names_both_candidates():
    line, wave = chosen(lambda x: 2 * x + noise()), chosen(lambda x: 3 * np.sin(3 * x) + noise())
    assert line.why.startswith("numbers; R2 0.")
    assert ", boosting R2 0." in line.why
    assert ", simpler R2 " in wave.why


def test_a_named_mechanism_is_taken_without_looking_further():
    x = noise()
    data = pd.DataFrame({"x": x, "y": np.exp(x)})
    found = fit(GRAPH, data, {"y": LogNormal()}).fits[1]
    assert (found.mechanism, found.why) == ("linear in the logarithm", "given")


def test_a_bare_learner_is_put_where_it_belongs():
    x = noise()
    data = pd.DataFrame({"x": x, "y": (x > 0).astype(int)})
    assert fit(GRAPH, data, {"y": Ridge()}).fits[1].mechanism == "additive (Ridge)"
    logistic = fit(GRAPH, data, {"y": LogisticRegression()}).fits[1]
    assert logistic.mechanism == "categorical (LogisticRegression, Gumbel)"


def test_what_is_no_mechanism_is_refused():
    data = pd.DataFrame({"x": noise(), "y": noise()})
    with pytest.raises(
        MechanismError, match=r"the mechanism of 'y' is 'linear'; expected one such"
    ):
        fit(GRAPH, data, {"y": "linear"})
    with pytest.raises(
        MechanismError, match=r"the mechanism of 'y' is <class .*Linear'>; expected"
    ):
        fit(GRAPH, data, {"y": Linear})
    with pytest.raises(UnknownNodeError, match="mechanisms names 'z', which is not in the graph"):
        fit(GRAPH, data, {"z": Linear()})


# --- goodness of fit -----------------------------------------------------------------------------


def test_the_fit_of_a_line_is_the_share_of_variance_it_explains():
    found = chosen(lambda x: 2 * x + noise())
    assert found.measure == "R2"
    assert found.value == pytest.approx(0.8, abs=0.03)  # 4 / (4 + 1); sd of R2 about 0.01
    assert found.baseline == 0.0
    assert found.rows == 1_500
    assert found.independence > 0.01


def test_a_blind_mechanism_explains_nothing():
    found = chosen(noise(seed=4))
    assert found.value < 0.01


def test_the_fit_of_categories_is_their_log_loss_beside_that_of_frequencies():
    rng = np.random.default_rng(5)
    x = rng.normal(size=4_000)
    p = expit(2 * x)
    y = (rng.random(4_000) < p).astype(int)
    found = chosen(y, x)
    entropy = -np.mean(p * np.log(p) + (1 - p) * np.log(1 - p))
    assert found.measure == "log loss"
    assert found.value == pytest.approx(entropy, abs=4 * 0.5 / np.sqrt(4_000))
    assert found.baseline == pytest.approx(np.log(2), abs=0.01)
    assert "without causes" in found.fit


MISFITS = {
    "spread grows": (lambda x, e: x + np.exp(x) * e, Linear()),
    "curve": (lambda x, e: x**2 + e, Linear()),
    "spread, learned": (lambda x, e: x + np.exp(x) * e, Additive()),
}


@pytest.mark.parametrize(("y", "mechanism"), MISFITS.values(), ids=MISFITS)
def test_noise_that_depends_on_the_causes_is_noticed(y, mechanism):
    x = noise(2_000, 6)
    data = pd.DataFrame({"x": x, "y": y(x, noise(2_000, 7))})
    found = fit(GRAPH, data, {"y": mechanism}).fits[1]
    assert found.independence < 1e-6


def test_counts_and_categories_are_checked_by_their_quantiles():
    rng = np.random.default_rng(8)
    x = rng.normal(size=4_000)
    curved = expit(x**2 - 1)
    y = (rng.random(4_000) < curved).astype(int)
    counts = np.minimum(rng.poisson(np.exp(0.3 * x**2)), 150)
    data = pd.DataFrame({"x": x, "y": y, "n": counts})
    graph = cf.CausalGraph.parse("x -> y; x -> n")
    found = {
        each.node: each for each in fit(graph, data, {"y": Categorical(), "n": Poisson()}).fits
    }
    assert found["y"].independence < 1e-6
    assert found["n"].independence < 1e-6


def rejections(draws, n, start=0):
    """How often a true mechanism is rejected at 0.05, for a line and for categories."""
    hits = np.zeros(2)
    for seed in range(start, start + draws):
        rng = np.random.default_rng(seed)
        x, e = rng.normal(size=(2, n))
        y = (rng.random(n) < expit(x)).astype(int)
        data = pd.DataFrame({"x": x, "v": x + e, "y": y})
        graph = cf.CausalGraph.parse("x -> {v, y}")
        fits = fit(graph, data, {"v": Linear(), "y": Categorical()}, seed=seed).fits
        hits += [each.independence < 0.05 for each in fits if each.causes]
    return hits


def test_true_mechanisms_are_rarely_suspected():
    _, most = fewest_and_most_hits(40, 2, level=0.05)
    assert (rejections(40, 300) <= most).all()


@pytest.mark.slow
def test_true_mechanisms_are_suspected_no_more_often_than_said():
    _, most = fewest_and_most_hits(600, 2, level=0.05)
    assert (rejections(600, 300, start=1_000) <= most).all()


# --- what the model says about itself ------------------------------------------------------------


def test_the_summary_names_mechanisms_fits_and_assumptions():
    world = worlds.binary()
    data = world.draw(1_000, seed=0)
    graph = cf.CausalGraph.parse(
        "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y"
    )
    scm = fit(graph, data, {"m1": Categorical(coupling=Monotone()), "y": Linear()})
    text = scm.summary()
    assert text == str(scm)
    assert text.splitlines()[0].split() == [
        *("node", "mechanism", "causes", "cross-validated", "fit", "noise", "against", "causes")
    ]
    assert "categorical (logistic, monotone)" in text
    assert "log loss 0." in text
    assert "R2 0." in text
    assert "p = " in text
    assert "fair" not in text.lower()
    automatic = fit(graph, data).summary()
    assert "chosen for m1: categories; log loss" in automatic


@pytest.mark.parametrize("coupling", [Gumbel(), Monotone()], ids=str)
def test_the_coupling_of_categories_is_printed_as_an_assumption(coupling):
    data = pd.DataFrame({"x": noise(), "y": np.where(noise(seed=2) > 0, "a", "b")})
    scm = fit(GRAPH, data, {"y": Categorical(coupling=coupling)})
    (line,) = (line for line in scm.assumptions if line.startswith("y: categories are coupled"))
    assert "the data cannot show the coupling" in line
    assert ("Gumbel" in line) == (coupling == Gumbel())
    assert line in scm.summary()


def test_every_kind_of_noise_is_stated():
    x = noise()
    data = pd.DataFrame(
        {
            "x": x,
            "y": x + noise(seed=2),
            "n": np.random.default_rng(0).poisson(np.exp(x / 2)),
            "r": x > 0,
            "o": np.clip(np.rint(x), -1, 1),
        }
    )
    graph = cf.CausalGraph.parse("x -> {y, n, r, o}")
    scm = fit(
        graph,
        data,
        {
            "y": Linear(),
            "n": NegativeBinomial(),
            "r": Deterministic(lambda causes: causes["x"] > 0),
            "o": Ordered(),
        },
    )
    text = "\n".join(scm.assumptions)
    assert "y: noise is added to a linear prediction" in text
    assert "n: counts are coupled by quantiles" in text
    assert "r: the equation is given and has no noise" in text
    assert "o: categories are coupled monotonely in their order" in text
    assert scm.assumptions[0].startswith("every arrow between these columns")


def test_a_drawn_noise_with_a_hidden_partner_is_stated():
    rng = np.random.default_rng(9)
    x, u = rng.normal(size=(2, 800))
    data = pd.DataFrame({"x": x, "m": x + u > 0, "w": x + u})
    graph = cf.CausalGraph.parse("x -> {m, w}; m <-> w")
    scm = fit(graph, data, {"m": Categorical(), "w": Linear()})
    (line,) = (line for line in scm.assumptions if line.startswith("m <-> w"))
    assert "a counterfactual noise of m that is drawn is drawn given its own causes only" in line


# --- hidden causes and remembered rows -----------------------------------------------------------


def test_noises_come_together_along_hidden_causes():
    graph = cf.CausalGraph.parse("a <-> b; c; d <-> e; e <-> a; b -> f")
    assert districts(graph) == (("a", "b", "d", "e"), ("c",), ("f",))


def test_remembered_rows_are_spread_over_the_table():
    rows = spread_rows(100_000, 1_000, seed=0)
    assert len(rows) == 1_000
    assert np.array_equal(rows // 100, np.arange(1_000))  # one out of each stretch
    assert not np.array_equal(rows, spread_rows(100_000, 1_000, seed=1))
    assert 40 < (rows % 100).mean() < 60
    odd = spread_rows(1_037, 1_000, seed=0)
    assert (np.diff(odd) > 0).all()
    assert odd.max() < 1_037


def test_a_large_table_is_remembered_in_part_and_fitted_in_whole(monkeypatch):
    from causalfairness.scm import fitting

    monkeypatch.setattr(fitting, "KEPT", 500)
    world = worlds.linear_gaussian()
    data = world.draw(5_000, seed=1)
    graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    scm = fit(graph, data, {"m1": Linear(), "y": Linear()})
    assert {len(noise) for noise in scm.background.noise.values()} == {500}
    assert scm.fits[-1].rows == 500
    monkeypatch.undo()
    whole = fit(graph, data, {"m1": Linear(), "y": Linear()})
    assert whole.equations.fitted == scm.equations.fitted
