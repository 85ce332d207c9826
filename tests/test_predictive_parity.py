"""Are the gap at equal scores and its two terms those of worlds whose counterfactuals are known?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import causalfairness as cf
from causalfairness.datasets.worlds import true_terms
from judging import fewest_and_most_hits, graph_of
from parity_world import CURVED, GRAPH, MODEL, columns_of, drawn, fitted, oracle

LINEAR = cf.datasets.worlds.linear_gaussian(direct=0.5, indirect=0.6).without("spurious")
EFFECT = 0.6 * 0.8 + 0.5  # A -> M -> Y, and A -> Y
CUTS = np.quantile(oracle(CURVED.draw(100_000, seed=99, frame="pandas")), np.arange(1, 20) / 20)
NAMES = ("ppm", "causal", "reverse_causal", "drift")


@pytest.fixture(scope="module")
def people():
    return drawn(4_000, seed=0)


@pytest.fixture(scope="module")
def found(people):
    return cf.decompose_predictive_parity(people, MODEL, counterfactual="y_blue")


@pytest.fixture(scope="module")
def truth():
    return true_terms(CURVED, oracle, CUTS, people=1_000_000, seed=5)


def linear_people(n, seed, world=LINEAR):
    """The linear world with an efficient learner's score and everyone's outcome as blue."""
    data = world.draw(n, seed=seed, frame="pandas")
    blue, green = (world.outcome_given_all(data, told=group) for group in (0, 1))
    other = world.counterfactual(n, seed=seed, do="blue", frame="pandas")["y"]
    return data.assign(score=np.where(data["group"] == "green", green, blue), y_blue=other)


# --- definitions ----------------------------------------------------------------------------------


def test_every_number_is_the_plain_mean_that_defines_it(people, found):
    cuts = [each.high for each in found.bins[:-1]]
    place = np.searchsorted(cuts, people["score"])
    green = (people["group"] == "green").to_numpy()
    assert len(found.bins) == 20
    for at, each in enumerate(found.bins):
        there, other = people[green & (place == at)], people[~green & (place == at)]
        assert (each.comparison, each.reference) == (len(there), len(other))
        assert found.ppm.values[at] == pytest.approx(there.y.mean() - other.y.mean())
        assert found.causal.values[at] == pytest.approx((there.y - there.y_blue).mean())
        assert found.reverse_causal.values[at] == pytest.approx(
            there.y_blue.mean() - other.y.mean()
        )
        assert found.drift.values[at] == pytest.approx(there.score.mean() - other.score.mean())


@pytest.mark.parametrize("bins", [1, 3, 20, 200])
def test_the_terms_add_up_in_every_bin_and_over_all(people, bins):
    found = cf.decompose_predictive_parity(
        people, MODEL, counterfactual="y_blue", bins=bins, replicates=20
    )
    both = found.causal.values + found.reverse_causal.values
    there = found.ppm.compared
    assert np.abs(both - found.ppm.values)[there].max() < 1e-12
    for whole, one, other in zip(
        found.ppm.by_bin, found.causal.by_bin, found.reverse_causal.by_bin, strict=True
    ):
        if whole is not None:
            rest = one + other - whole
            assert abs(rest.value) < 1e-12
            assert rest.standard_error < 1e-12
    integrated = found.causal.integrated + found.reverse_causal.integrated - found.ppm.integrated
    assert abs(integrated.value) < 1e-12


def test_integrated_values_are_unweighted_means_over_bins_with_both_groups(people):
    far = people.copy()
    far.loc[far["group"] == "green", "score"] += 2.0
    found = cf.decompose_predictive_parity(far, MODEL, bins=40)
    one_sided = sum(not each.is_compared for each in found.bins)
    assert found.compared == 40 - one_sided < 40
    known = found.ppm.values[~np.isnan(found.ppm.values)]
    assert len(known) == found.compared
    assert found.ppm.integrated.value == pytest.approx(known.mean())
    assert found.ppm.integrated_absolute.value == pytest.approx(np.abs(known).mean())
    assert f"({one_sided} more with people of one group only)" in found.sentences()[0]
    assert f"one group only, which are not compared: {one_sided}" in str(found.diagnostics)


# --- the linear corollary -------------------------------------------------------------------------


def test_in_a_linear_world_the_causal_term_is_the_effect_and_the_other_its_reverse():
    found = cf.decompose_predictive_parity(
        linear_people(20_000, seed=1),
        replace(LINEAR.model, prediction="score"),
        counterfactual="y_blue",
    )
    assert found.compared == 20
    assert np.abs(found.causal.values - EFFECT).max() < 1e-12
    assert max(effect.standard_error for effect in found.causal.by_bin) < 1e-12
    for reverse, drift in zip(found.reverse_causal.by_bin, found.drift.by_bin, strict=True):
        off = reverse - drift
        assert abs(off.value + EFFECT) < 3.5 * off.standard_error  # 20 bins at once
    off = found.ppm.integrated - found.drift.integrated
    assert abs(off.value) < 3 * off.standard_error


def test_a_fitted_linear_model_finds_the_same_up_to_its_coefficients():
    data = linear_people(4_000, seed=2)
    linear = {"m1": cf.scm.Linear(), "y": cf.scm.Linear()}
    scm = cf.StructuralCausalModel.fit(graph_of(LINEAR), data, linear)
    model = replace(LINEAR.model, prediction="score")
    found = cf.decompose_predictive_parity(data, model, counterfactual=scm, bins=10)
    assert np.ptp(found.causal.values) < 1e-9
    causal = found.causal.integrated
    assert 0.02 < causal.standard_error < 0.06  # of two coefficients and their product
    assert abs(causal.value - EFFECT) < 3 * causal.standard_error


def test_without_arrows_out_of_the_group_nothing_is_causal():
    world = LINEAR.without("direct").without("indirect")
    data = linear_people(4_000, seed=3, world=world)
    found = cf.decompose_predictive_parity(
        data, replace(world.model, prediction="score"), counterfactual="y_blue"
    )
    assert (found.causal.values == 0).all()
    assert found.causal.integrated.p_value == 1.0
    assert np.array_equal(found.reverse_causal.values, found.ppm.values)
    assert "the same as what they would have been" in found.sentences()[2]


# --- the published simulation ---------------------------------------------------------------------


def test_the_curved_world_is_the_published_one():
    people, other = CURVED.draw_with_counterfactuals(400_000, seed=1, frame="pandas")
    green = people["group"] == "green"
    assert abs(green.mean() - 0.5) < 0.004
    gap = people.loc[green, "y"].mean() - people.loc[~green, "y"].mean()
    assert gap == pytest.approx(CURVED.true_effects()["total"], abs=0.02)
    one, two = people.loc[green], other.loc[green]
    noise = two["w2"] - two["w1"] ** 2 / 4  # of a person of blue: no term of the group
    assert np.allclose(one["w1"] - two["w1"], 1.0)
    assert np.allclose(one["w2"], one["w1"] ** 2 / 4 - 1 / 3 + noise)
    left = two["y"] - two["w1"] * two["w2"] / 6 - two["w1"]
    assert np.allclose(one["y"], one["w1"] * one["w2"] / 6 + one["w1"] + 0.5 + left)
    moved = (one["y"] - two["y"]).mean()  # nothing confounds: both paths together
    assert moved == pytest.approx(CURVED.true_effects()["total"], abs=0.01)
    assert (noise.std(), left.std()) == pytest.approx((1, 1), abs=0.01)
    assert abs((people["y"] - oracle(people)).mean()) < 0.008
    share = CURVED.group_given_all(people)
    assert abs(np.mean(share - green)) < 0.003
    near = (share > 0.7) & (share < 0.75)
    assert green[near].mean() == pytest.approx(share[near].mean(), abs=0.01)


def test_the_gap_approaches_its_drift_while_the_terms_stay_apart_and_cancel():
    def answers(n, draws=8):
        found = []
        for seed in range(draws):
            data = CURVED.draw(n, seed=seed, frame="pandas")
            learner = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=16)
            data["score"] = learner.fit(columns_of(data), data["y"]).predict(columns_of(data))
            one = cf.decompose_predictive_parity(
                data, MODEL, counterfactual=fitted(data), replicates=20
            )
            found.append([gap.integrated.value for gap in one.gaps])
        return np.array(found).T

    away = {}
    for n in (1_000, 8_000):
        ppm, causal, reverse, drift = answers(n)
        assert causal.min() > 1.3
        assert reverse.max() < -1.3
        assert np.abs(ppm).max() < 0.15
        away[n] = np.abs(ppm - drift).mean()
    assert away[8_000] < 0.5 * away[1_000]


def test_the_causal_term_of_a_fitted_model_meets_the_truth_in_every_bin(truth):
    found = []
    for seed in range(20):
        people = drawn(5_000, seed=100 + seed)
        one = cf.decompose_predictive_parity(
            people, MODEL, counterfactual=fitted(people), bins=CUTS, replicates=20
        )
        found.append(one.causal.values)
    mean, deviation = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    assert np.abs(mean - truth.causal).max() < 2 * deviation.min()
    error = np.hypot(deviation / np.sqrt(len(found)), truth.causal_error)
    assert (np.abs(mean - truth.causal) < 4 * error).all()


def test_an_efficient_learner_has_no_gap_beyond_its_drift(truth):
    assert np.abs(truth.ppm - truth.drift).max() < 0.08  # simulation error in the outer bins
    assert np.mean(truth.drift) == pytest.approx(0.03, abs=0.005)
    assert truth.causal.min() > 1
    assert np.abs(truth.causal + truth.reverse_causal - truth.ppm).max() < 1e-12


def test_a_wrong_mechanism_gives_a_wrong_causal_term(truth):
    people = drawn(20_000, seed=7)
    straight = dict.fromkeys(("w1", "w2", "y"), cf.scm.Linear())
    scm = cf.StructuralCausalModel.fit(GRAPH, people, straight)
    found = cf.decompose_predictive_parity(
        people, MODEL, counterfactual=scm, bins=CUTS, replicates=20
    )
    assert np.ptp(found.causal.values) < 1e-9  # a straight line moves everyone alike
    assert np.abs(found.causal.values - truth.causal).max() > 0.3


# --- uncertainty ----------------------------------------------------------------------------------


def covered(draws, n, truth, replicates):
    """How often does each interval cover the truth: integrated, and bin by bin?"""
    targets = {name: getattr(truth, name) for name in NAMES}
    hits = {name: np.zeros(1 + len(truth.ppm)) for name in NAMES}
    for seed in range(draws):
        found = cf.decompose_predictive_parity(
            drawn(n, seed=1_000 + seed),
            MODEL,
            counterfactual="y_blue",
            bins=CUTS[3::4],
            replicates=replicates,
            seed=seed,
        )
        for gap in found.gaps:
            aims = [targets[gap.name].mean(), *targets[gap.name]]
            for at, (effect, aim) in enumerate(
                zip([gap.integrated, *gap.by_bin], aims, strict=True)
            ):
                low, high = effect.interval()
                hits[gap.name][at] += low <= aim <= high
    return hits


@pytest.fixture(scope="module")
def coarse_truth():
    return true_terms(CURVED, oracle, CUTS[3::4], people=1_000_000, seed=6)


def test_intervals_cover_as_often_as_they_say(coarse_truth):
    hits = covered(120, 1_000, coarse_truth, replicates=200)
    least, most = fewest_and_most_hits(120, 4 * 6)
    for name, counts in hits.items():
        assert least <= counts.min() <= counts.max() <= most, name


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say_over_many_draws(coarse_truth):
    """At least 60 rows of a group in each bin; with 15 the normal interval covers .92 to .93."""
    hits = covered(600, 4_000, coarse_truth, replicates=300)
    least, most = fewest_and_most_hits(600, 4 * 6)
    for name, counts in hits.items():
        assert least <= counts.min() <= counts.max() <= most, name


@pytest.mark.slow
def test_refitted_intervals_cover_the_causal_term_where_fixed_ones_do_not():
    cuts = CUTS[4::5]
    aim = true_terms(CURVED, oracle, cuts, people=1_000_000, seed=6).causal.mean()
    hits, draws = {40: 0, 0: 0}, 120
    for seed in range(draws):
        people = drawn(2_000, seed=5_000 + seed)
        scm = fitted(people)
        for replicates in hits:
            found = cf.decompose_predictive_parity(
                people, MODEL, counterfactual=scm, bins=cuts, replicates=replicates
            )
            low, high = found.causal.integrated.interval()
            hits[replicates] += low <= aim <= high
    assert hits[40] >= fewest_and_most_hits(draws, 1, level=0.94)[0]
    assert hits[0] < 0.5 * draws


def test_standard_errors_are_those_of_means(found, people):
    """Where bins are large, the bootstrap agrees with the textbook."""
    whole = cf.decompose_predictive_parity(
        people, MODEL, counterfactual="y_blue", bins=[0.0, 1.0], replicates=4_000
    )
    place = np.searchsorted([0.0, 1.0], people["score"])
    green = (people["group"] == "green").to_numpy()
    for at, effect in enumerate(whole.ppm.by_bin):
        one, other = people.y[green & (place == at)], people.y[~green & (place == at)]
        textbook = np.hypot(one.std() / np.sqrt(len(one)), other.std() / np.sqrt(len(other)))
        assert effect.standard_error == pytest.approx(textbook, rel=0.06)


def test_small_bins_borrow_their_spread_from_the_group():
    """With 3 rows per bin and group the mean variance is still that of a mean of 3 rows."""
    rng = np.random.default_rng(0)
    score = np.repeat(np.arange(200.0), 6)
    group = np.tile([0, 0, 0, 1, 1, 1], 200)
    data = pd.DataFrame({"g": group, "score": score, "y": rng.normal(0, 2, 1_200)})
    model = cf.StandardFairnessModel(
        protected="g", reference=0, comparison=1, outcome="y", prediction="score"
    )
    found = cf.decompose_predictive_parity(data, model, bins=200)
    errors = np.array([effect.standard_error for effect in found.ppm.by_bin])
    assert np.mean(errors**2) == pytest.approx(4 * 2 / 3, rel=0.08)
    assert errors.min() > 0.5
    assert found.ppm.integrated.standard_error == pytest.approx(np.sqrt(8 / 600), rel=0.08)
    assert "bins with fewer than 10 rows of a group: 200" in str(found.diagnostics)


def test_mean_sizes_are_held_against_what_noise_alone_gives(people):
    rng = np.random.default_rng(3)
    same = people.assign(y=people["score"] + rng.normal(0, 1, len(people)))
    found = cf.decompose_predictive_parity(same, MODEL, bins=CUTS[3::4])
    gap = found.ppm
    assert gap.integrated_absolute.value < 2 * gap.noise_alone
    assert gap.lift > 0  # replicates of a size near 0 are larger than it
    assert gap.noise_alone == pytest.approx(
        np.sqrt(2 / np.pi) * np.mean([e.standard_error for e in gap.by_bin]), rel=0.1
    )
    clear = cf.decompose_predictive_parity(people, MODEL, counterfactual="y_blue", bins=CUTS[3::4])
    assert clear.causal.lift == pytest.approx(0.0, abs=1e-9)  # never near 0: no lift
    assert clear.causal.integrated_absolute.value == pytest.approx(clear.causal.integrated.value)


def test_the_same_seed_gives_the_same_answer_and_questions_share_their_draws(people):
    def ask(seed, score="score", **settings):
        data = people.assign(other=people["w1"])
        model = replace(MODEL, prediction=score)
        return cf.decompose_predictive_parity(data, model, bins=5, seed=seed, **settings)

    one, again, other = ask(0), ask(0), ask(1)
    assert np.array_equal(one.ppm.spreads, again.ppm.spreads)
    assert not np.array_equal(one.ppm.spreads, other.ppm.spreads)
    with pytest.raises(cf.errors.MixedBasisError):
        one.ppm.integrated - other.ppm.integrated
    rival = ask(0, "other")
    between = one.ppm.integrated - rival.ppm.integrated
    apart = np.hypot(one.ppm.integrated.standard_error, rival.ppm.integrated.standard_error)
    assert 0 < between.standard_error < apart


def test_refits_do_not_depend_on_the_number_of_workers(people):
    scm = fitted(people)
    answers = [
        cf.decompose_predictive_parity(
            people, MODEL, counterfactual=scm, bins=4, replicates=20, workers=workers
        )
        for workers in (1, 2)
    ]
    assert np.array_equal(answers[0].causal.spreads, answers[1].causal.spreads)
    fixed = cf.decompose_predictive_parity(people, MODEL, counterfactual=scm, bins=4, replicates=0)
    assert fixed.causal.rows_alone
    assert not fixed.ppm.rows_alone
    assert answers[0].causal.integrated.standard_error > 3 * fixed.causal.integrated.standard_error
    assert "fitted to them, 20 times anew" in str(answers[0].diagnostics)
    assert "taken as given" in str(fixed.diagnostics)
