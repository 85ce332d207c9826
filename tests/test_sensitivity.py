"""Does the band hold the truth where something is hidden, and no more than it must?"""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.effects.contrasts import CONTRASTS, PARTS
from causalfairness.effects.second_moments import StageArrays, second_moments
from causalfairness.estimators import DoublyRobust, KnownModel, Strata
from causalfairness.sensitivity.stages import stages_of
from confounded_world import KINDS, SEEN, Table, anything, planted
from judging import fewest_and_most_hits

EVERY_CONTRAST = {
    **CONTRASTS,
    **{f"{c} {name}": part for c, parts in PARTS.items() for name, part in parts.items()},
}
QUICK = DoublyRobust(
    outcome=LogisticRegression(), group=LogisticRegression(), nested=LinearRegression()
)


def moments_of(table: Table):
    """Second moments of a table of probabilities, without an estimator."""
    cells, q, nu = table.cells, table.outcome, table.nested
    weights = np.stack(
        [
            [[table.alpha(i, j, k).reshape(-1) for k in (0, 1)] for j in (0, 1)] for i in (0, 1)
        ]  # by i, j, k
    )
    within = np.stack([(q * (1 - q))[:, i].reshape(-1) for i in (0, 1)])
    nested = np.stack([[(q[:, i] - nu[i, j][:, None]).reshape(-1) for i in (0, 1)] for j in (0, 1)])
    own = np.stack([nested[g, g] for g in (0, 1)])
    counted = np.stack([cells[:, g].reshape(-1) for g in (0, 1)])
    arrays = StageArrays(weights, within, nested, within + own**2)
    return second_moments(arrays, counted, without_mediators=False)


def true_shares(world, terms):
    stages = world.stages(terms)
    return {
        "outcome_share": {name: stage.outcome_share for name, stage in stages.items()},
        "group_share": {name: stage.group_share for name, stage in stages.items()},
    }


def shown_at_truth(found, world, name, **more):
    """Sensitivity of one effect, told how strong the hidden cause truly is."""
    terms = ({**PARTS[found.convention], **CONTRASTS})[name].terms
    shares = true_shares(world, terms)
    return cf.sensitivity_to_confounding(found, effects=[name], **shares, **more)[name]


# --- the theory ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_biases_of_the_stages_add_up_and_stay_within_their_bounds(seed):
    world = anything(np.random.default_rng(seed))
    moments = moments_of(world.short)
    for name, contrast in EVERY_CONTRAST.items():
        truth = world.stages(contrast.terms)
        found = stages_of(moments, contrast.terms)
        bias = world.long.effect(contrast.terms) - world.short.effect(contrast.terms)
        assert bias == pytest.approx(sum(each.bias for each in truth.values()), abs=1e-12), name
        for stage, each in truth.items():
            assert found[stage].residual == pytest.approx(each.residual, abs=1e-12), name
            assert found[stage].weight == pytest.approx(each.weight, abs=1e-12), name
            assert 0 <= each.outcome_share <= 1
            assert 0 <= each.group_share < 1
            bound = found[stage].bound(
                outcome_share=each.outcome_share, group_share=each.group_share
            )
            assert bound == pytest.approx(each.bound, abs=1e-12), name
            assert abs(each.bias) <= bound + 1e-12, name


@pytest.mark.parametrize(("kind", "silent"), [("A-M", "mediators"), ("M-Y", "group")])
def test_two_stories_enter_one_stage_each(kind, silent):
    world = planted(kind)
    for name, contrast in EVERY_CONTRAST.items():
        assert world.stages(contrast.terms)[silent].bound == pytest.approx(0, abs=1e-12), name


def test_a_common_cause_of_group_and_outcome_enters_both_stages():
    direct = planted("A-Y").stages(PARTS["sequential"]["direct"].terms)
    spurious = planted("A-Y").stages(PARTS["sequential"]["spurious"].terms)
    assert direct["mediators"].bound > 0.01
    assert spurious["group"].bound > 0.01


# --- the band -----------------------------------------------------------------------------------


@pytest.mark.parametrize("convention", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_band_contains_the_truth(kind, convention):
    """Frequencies are the probabilities here: only the rounding of counts is left, 1e-4."""
    world = planted(kind)
    found = cf.decompose_disparity(world.table(), SEEN, estimator=Strata(), convention=convention)
    moved = 0
    for name in ("direct", "indirect", "spurious", "total_effect"):
        terms = ({**PARTS[convention], **CONTRASTS})[name].terms
        truth = world.long.effect(terms)
        bias = truth - world.short.effect(terms)
        shown = shown_at_truth(found, world, name)
        low, high = shown.band()
        assert low - 1e-4 <= truth <= high + 1e-4, name
        if abs(bias) > 0.01:  # not vacuous where the hidden cause matters
            moved += 1
            assert shown.bound() < 2 * abs(bias), name
    assert moved >= 2


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_widening_the_truth_is_missed(kind):
    world = planted(kind)
    found = cf.decompose_disparity(world.table(), SEEN, estimator=Strata())
    name = {"A-M": "indirect", "M-Y": "direct", "A-Y": "direct"}[kind]
    low, high = getattr(found, name).interval()
    truth = world.long.effect(PARTS["sequential"][name].terms)
    assert not low <= truth <= high


@pytest.mark.parametrize("kind", KINDS)
def test_models_give_the_band_that_counting_gives(kind):
    """At 20,000 rows second moments of bounded things err by 1 or 2 % of their size, and where
    nothing is left the noise of Q in a cell of 2,000 rows is: sqrt(2 * 0.25 / 2,000) = 0.016."""
    world = planted(kind)
    data = world.draw(20_000, seed=3)
    counted, modeled = (
        cf.decompose_disparity(data, SEEN, estimator=each) for each in (Strata(), QUICK)
    )
    for name, contrast in EVERY_CONTRAST.items():
        exact = stages_of(moments_of(world.short), contrast.terms)
        for found in (counted, modeled):
            stages = stages_of(found.estimate.second_moments, contrast.terms)
            for stage, each in stages.items():
                assert each.scale == pytest.approx(exact[stage].scale, rel=0.06, abs=0.02), name


def test_a_wrong_model_of_the_outcome_widens_the_band():
    world = planted("M-Y")
    data = world.draw(4_000, seed=0)
    wrong = DoublyRobust(outcome=DummyClassifier(), group=LogisticRegression())
    bands = [
        shown_at_truth(cf.decompose_disparity(data, SEEN, estimator=each), world, "direct")
        for each in (QUICK, wrong)
    ]
    assert bands[1].bound() > bands[0].bound()
    low, high = bands[1].interval()
    assert low <= world.long.effect(PARTS["sequential"]["direct"].terms) <= high


@pytest.mark.parametrize("kind", KINDS)
def test_a_cause_of_one_thing_only_has_no_band(kind):
    """Cut either of its arrows, and what is hidden confounds nothing."""
    ends = {"A-M": ("group", "mediators"), "M-Y": ("mediators", "outcome")}
    for cut in ends.get(kind, ("group", "outcome")):
        world = planted(kind, **{cut: 0.0})
        for name, contrast in EVERY_CONTRAST.items():
            stages = world.stages(contrast.terms)
            assert sum(stage.bound for stage in stages.values()) == pytest.approx(0, abs=1e-9), name
            gap = world.long.effect(contrast.terms) - world.short.effect(contrast.terms)
            assert gap == pytest.approx(0, abs=1e-12), name


# --- chance -------------------------------------------------------------------------------------


def hits(kind, name, draws, rows=1_500):
    """How often do the widened and the plain interval hold the truth?"""
    world, found = planted(kind), []
    truth = world.long.effect(PARTS["sequential"][name].terms)
    for seed in range(draws):
        each = cf.decompose_disparity(world.draw(rows, seed), SEEN, estimator=Strata())
        widened = shown_at_truth(each, world, name).interval()
        plain = getattr(each, name).interval()
        found.append([low <= truth <= high for low, high in (widened, plain)])
    return np.sum(found, axis=0)


CONFOUNDED = {"A-M": "indirect", "M-Y": "direct", "A-Y": "spurious"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_widened_interval_covers(kind):
    draws = 150
    widened, plain = hits(kind, CONFOUNDED[kind], draws)
    fewest, _ = fewest_and_most_hits(draws, comparisons=2 * len(KINDS))
    assert widened >= fewest
    assert plain < fewest


@pytest.mark.slow
@pytest.mark.parametrize("rows", [400, 1_500])
@pytest.mark.parametrize("kind", KINDS)
def test_the_widened_interval_covers_often(kind, rows):
    draws = 1_000
    widened, _ = hits(kind, CONFOUNDED[kind], draws, rows)
    fewest, _ = fewest_and_most_hits(draws, comparisons=4 * len(KINDS))
    assert widened >= fewest


# --- what is known needs no band ------------------------------------------------------------------


def test_a_known_model_has_no_first_stage():
    world = planted("A-M")
    data = world.draw(3_000, seed=1).to_pandas()
    known = KnownModel(lambda people: 0.2 + 0.3 * people["m"] + 0.1 * people["a"])
    found = cf.decompose_disparity(data, SEEN, of="prediction", estimator=known)
    shown = cf.sensitivity_to_confounding(found, outcome_share=0.3, group_share=0.3)
    assert {each.bound("mediators") for each in shown} == {0.0}
    assert not shown["direct"].is_exposed
    assert shown["direct"].robustness() == 1.0
    assert shown["direct"].band() == (found.direct.value, found.direct.value)
    assert shown["indirect"].bound("group") > 0
    assert shown["spurious"].bound("group") > 0
    assert "no hidden cause can move" in shown.sentences()[1]


def test_the_gap_of_a_group_is_beyond_doubt():
    stages = stages_of(moments_of(planted("A-Y").short), {(1, 1, 1): 1.0, (0, 0, 0): -1.0})
    assert all(stage.scale == 0 for stage in stages.values())
