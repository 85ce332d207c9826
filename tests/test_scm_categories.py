"""Who changes category when causes change? Posterior draws against known joint distributions."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import causalfairness as cf
from causalfairness.datasets import worlds
from causalfairness.scm import (
    Categorical,
    Gumbel,
    Monotone,
    Poisson,
)
from scm_people import graph_of, green

fit = cf.StructuralCausalModel.fit


BEFORE, AFTER = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
TRIAGE = cf.CausalGraph.parse("group -> job")


def told_probabilities(causes):
    return np.where((causes["group"] == "b")[:, None], AFTER, BEFORE)


def known_joint(coupling, rng, n=400_000):
    """P(job under b | job under a), by simulating the noise forwards: no abduction involved."""
    if isinstance(coupling, Gumbel):
        noise = rng.gumbel(size=(n, 3))
        one, other = ((np.log(p) + noise).argmax(axis=1) for p in (BEFORE, AFTER))
    else:
        u = rng.random(n)
        one, other = (np.searchsorted(np.cumsum(p)[:-1], u, side="right") for p in (BEFORE, AFTER))
    counts = np.zeros((3, 3))
    np.add.at(counts, (one, other), 1)
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("coupling", [Gumbel(), Monotone()], ids=str)
def test_posterior_draws_of_categories_have_the_known_frequencies(coupling):
    rng, n, draws = np.random.default_rng(6), 3_000, 20
    job = np.array(["x", "y", "z"])[rng.choice(3, n, p=BEFORE)]
    data = pd.DataFrame({"group": "a", "job": job})
    data.loc[n] = ("b", "x")  # so that the group varies
    scm = fit(TRIAGE, data, {"job": Categorical(told_probabilities, coupling)})
    found = scm.counterfactual(data, do={"group": "b"}, draws=draws)
    truth = known_joint(coupling, rng)
    drawn = found["job"].to_numpy().reshape(draws, n + 1)[:, :n]
    for k, was in enumerate("xyz"):
        people_here = int((job == was).sum())
        for at, now in enumerate("xyz"):
            share = (drawn[:, job == was] == now).mean()
            p = truth[k, at]
            error = np.sqrt(p * (1 - p) * (1 / (people_here * draws) + 1 / 400_000 / BEFORE[k]))
            assert abs(share - p) <= 4 * error + 1e-12, (was, now)


def test_gumbel_keeps_a_category_as_often_as_its_closed_form_says():
    """P(same category k in both worlds) = 1 / sum_j max(p_j / p_k, q_j / q_k)."""
    rng, n = np.random.default_rng(7), 60_000
    places = rng.choice(3, n, p=BEFORE)
    before, after = np.tile(BEFORE, (n, 1)), np.tile(AFTER, (n, 1))
    noise = Gumbel().abduct(places, before, rng)
    stays = (Gumbel().apply(noise, after) == places).mean()
    truth = sum(1 / np.maximum(BEFORE / BEFORE[k], AFTER / AFTER[k]).sum() for k in range(3))
    assert abs(stays - truth) < 4 * np.sqrt(truth * (1 - truth) / n)


def test_couplings_agree_on_how_many_but_not_on_who():
    rng, n = np.random.default_rng(8), 60_000
    places = rng.choice(3, n, p=BEFORE)
    before, after = np.tile(BEFORE, (n, 1)), np.tile(AFTER, (n, 1))
    moved = {}
    for coupling in (Gumbel(), Monotone()):
        now = coupling.apply(coupling.abduct(places, before, rng), after)
        shares = np.bincount(now, minlength=3) / n
        assert np.abs(shares - AFTER).max() < 4 * np.sqrt(0.25 / n), str(coupling)
        moved[str(coupling)] = (now != places).mean()
    assert moved["monotone"] - moved["Gumbel"] > 0.1


def test_for_two_categories_the_couplings_are_one():
    rng, n = np.random.default_rng(9), 60_000
    p, q = np.tile([0.7, 0.3], (n, 1)), np.tile([0.4, 0.6], (n, 1))
    places = rng.choice(2, n, p=[0.7, 0.3])
    for coupling in (Gumbel(), Monotone()):
        now = coupling.apply(coupling.abduct(places, p, rng), q)
        assert (now[places == 1] == 1).all()  # nobody moves against the tide
        share = (now[places == 0] == 1).mean()
        assert abs(share - 0.3 / 0.7) < 4 * np.sqrt(0.25 / (0.7 * n))


@pytest.mark.parametrize("coupling", [Gumbel(), Monotone()], ids=str)
@pytest.mark.parametrize("gone", [0, 1, 2])
def test_an_impossible_category_never_comes_out(coupling, gone):
    rng, n = np.random.default_rng(10), 20_000
    after = np.array([0.4, 0.35, 0.25])
    after[gone] = 0
    after /= after.sum()
    places = rng.choice(3, n, p=BEFORE)
    noise = coupling.abduct(places, np.tile(BEFORE, (n, 1)), rng)
    assert not (coupling.apply(noise, np.tile(after, (n, 1))) == gone).any()


def test_discrete_counterfactuals_are_calibrated_against_the_world():
    """Averages over every observed cell, with the world's own probabilities and coupling."""
    world, n, draws = worlds.binary(), 40_000, 4
    observed = world.draw(n, seed=11, frame="pandas")
    truth = world.counterfactual(n, seed=11, do="blue", frame="pandas")

    def mediator(v):
        chance = expit(-0.2 + 1.0 * green(v) + 0.6 * v["c1"] - 0.5 * v["c2"])
        return np.stack([1 - chance, chance], axis=1)

    def outcome(v):
        a = green(v)
        chance = expit(-1.0 + 0.5 * a + (1.0 + 0.5 * a) * v["m1"] + 0.7 * v["c1"] - 0.4 * v["c2"])
        return np.stack([1 - chance, chance], axis=1)

    scm = fit(
        graph_of(world),
        observed,
        {"m1": Categorical(mediator, Monotone()), "y": Categorical(outcome, Gumbel())},
    )
    found = scm.counterfactual(observed, do={"group": "blue"}, draws=draws)
    assert found["m1"].dtype == observed["m1"].dtype
    cells = observed.groupby(["group", "c1", "c2", "m1", "y"]).indices
    checked = 0
    for column in ("m1", "y"):
        drawn = found[column].to_numpy().reshape(draws, n)
        for cell, rows in cells.items():
            p = truth[column].to_numpy()[rows].mean()
            here = drawn[:, rows].mean()
            # the truth of these rows is itself one draw; repeated draws share the rows
            error = np.sqrt(max(p * (1 - p), 1 / len(rows)) / len(rows) * (1 + 1 / draws))
            assert abs(here - p) < 4.5 * error, (column, cell)
            checked += 1
    assert checked == 64


def test_fitted_counts_meet_the_world_on_average():
    world, n = worlds.count_mediator(), 20_000
    observed = world.draw(n, seed=12, frame="pandas")
    scm = fit(graph_of(world), observed, {"priors": Poisson(), "reoffended": Categorical()})
    for told in ("blue", "green"):
        found = scm.counterfactual(observed, do={"group": told})
        truth = world.counterfactual(n, seed=12, do=told, frame="pandas")
        assert found["priors"].dtype == np.int64
        for column in ("priors", "reoffended"):
            for group in ("blue", "green"):
                mine, true = (f.loc[observed["group"] == group, column] for f in (found, truth))
                error = np.sqrt(mine.var() / len(mine)) * 2  # of two averages and a fitted rate
                assert abs(mine.mean() - true.mean()) < 4 * error, (told, group, column)
        # the same person: a count in the other world is within what one draw of noise leaves open
        assert np.corrcoef(found["priors"], truth["priors"])[0, 1] > 0.85
