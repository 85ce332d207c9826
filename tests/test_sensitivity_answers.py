"""Do bands, robustness values and benchmarks agree with each other, and is bad input refused?"""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.effects import Basis, Effect
from causalfairness.effects.contrasts import CONTRASTS, PARTS
from causalfairness.errors import SensitivityError
from causalfairness.estimators import DoublyRobust, KnownModel, Regression, Strata, Weighting
from causalfairness.sensitivity import EffectSensitivity, Stage, benchmark_confounders
from causalfairness.sensitivity.stages import stages_of
from causalfairness.sensitivity.strengths import strengths_of
from confounded_world import ALL_SEEN, KINDS, SEEN, anything, planted

WORLD = planted("A-Y")
FOUND = cf.decompose_disparity(WORLD.draw(4_000, seed=0), SEEN)
NAMES = ("direct", "indirect", "spurious", "total_effect")
QUICK = DoublyRobust(
    outcome=LogisticRegression(), group=LogisticRegression(), nested=LinearRegression()
)


def effect(value, error, margin, stages=None):
    basis = Basis("", "rows")
    return EffectSensitivity(
        Effect("direct", value, np.array([error]), basis),
        "",
        stages or {"mediators": Stage(0.2, 3.0), "group": Stage(0.1, 2.0)},
        strengths_of(0.1, 0.1),
        margin,
    )


# --- bands and robustness -------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", [{"outcome_share": 0.0}, {"group_share": 0.0}])
def test_a_hidden_cause_of_nothing_has_no_band(nothing):
    shares = {"outcome_share": 0.5, "group_share": 0.5} | nothing
    for each in cf.sensitivity_to_confounding(FOUND, **shares):
        assert each.bound() == 0
        assert each.band() == (each.effect.value, each.effect.value)
        assert each.interval() == each.effect.interval()


def test_stronger_causes_have_wider_bands():
    steps = np.linspace(0.0, 0.9, 7)
    for each in cf.sensitivity_to_confounding(FOUND, outcome_share=0.1, group_share=0.1):
        bounds = np.array([[each.bound_at(y, a) for a in steps] for y in steps])
        assert (np.diff(bounds[1:], axis=1) > 0).all()
        assert (np.diff(bounds[:, 1:], axis=0) > 0).all()


def test_what_the_stages_do_adds_up():
    for each in cf.sensitivity_to_confounding(FOUND, outcome_share=0.2, group_share=0.1):
        assert each.bound() == pytest.approx(each.bound("mediators") + each.bound("group"))
        low, high = each.interval()
        plain = each.effect.interval()
        assert (low, high) == pytest.approx((plain.low - each.bound(), plain.high + each.bound()))


def test_shares_may_differ_by_stage():
    apart = {"mediators": 0.3, "group": 0.0}
    shown = cf.sensitivity_to_confounding(FOUND, outcome_share=apart, group_share=0.2)
    same = cf.sensitivity_to_confounding(FOUND, outcome_share=0.3, group_share=0.2)
    for name in NAMES:
        assert shown[name].bound() == same[name].bound("mediators")


@pytest.mark.parametrize("stage", [None, "mediators", "group"])
@pytest.mark.parametrize(
    ("value", "margin", "goal"),
    [(0.3, 0.0, 0.0), (-0.3, 0.05, -0.05), (0.3, 0.05, 0.05), (0.02, 0.2, 0.2), (-0.02, 0.2, -0.2)],
)
def test_at_the_robustness_value_the_band_reaches_the_margin(value, margin, goal, stage):
    found = effect(value, 0.02, margin)
    share = found.robustness(stage)
    bound = found.bound_at(share, share, stage)
    assert min(abs(value - bound - goal), abs(value + bound - goal)) < 1e-9
    share = found.robustness_of_interval(stage)
    bound = found.bound_at(share, share, stage)
    low, high = found.effect.interval()
    assert min(abs(low - bound - goal), abs(high + bound - goal)) < 1e-9


def test_an_interval_that_holds_the_margin_has_no_robustness():
    assert effect(0.03, 0.02, 0.0).robustness_of_interval() == 0
    assert effect(0.03, 0.02, 0.04).robustness_of_interval() == 0
    assert effect(0.0, 0.5, 0.04).robustness_of_interval() == 0  # on both sides
    assert effect(0.03, 0.02, 0.0).robustness() > 0


def test_what_cannot_be_moved_is_told_so():
    still = effect(0.3, 0.02, 0.0, {"mediators": Stage(0.0, 0.0), "group": Stage(0.0, 0.0)})
    assert (still.robustness(), still.robustness_of_interval()) == (1.0, 1.0)
    assert not still.is_exposed


def test_both_conventions_and_every_other_effect_can_be_asked():
    data = WORLD.draw(2_000, seed=1)
    found = cf.decompose_disparity(data, SEEN, convention="symmetric")
    every = [*PARTS["symmetric"], *CONTRASTS]
    shown = cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1, effects=every)
    assert [each.name for each in shown] == every
    assert all(each.bound() > 0 for each in shown)
    assert shown["direct"].effect.value == found.direct.value
    assert shown["direct"].bound() == shown["direct_symmetric_given_1"].bound()


def test_the_result_can_be_read():
    shown = cf.sensitivity_to_confounding(FOUND, outcome_share=0.1, group_share=0.1, margin=0.02)
    text = str(shown)
    assert "not whether there is one" in text
    assert "the margin of 0.020" in text
    assert "hidden common cause of the outcome" in text
    assert "hidden common cause of the group" in text
    assert "fair" not in text.lower()
    assert len(shown.table().to_pandas()) == len(shown) == 4
    assert "<table>" in shown._repr_html_()
    assert shown.assumptions == FOUND.diagnostics.assumptions


def test_without_mediators_there_is_one_stage():
    model = replace(SEEN, mediators=[])
    for estimator in (Strata(), QUICK):
        found = cf.decompose_disparity(WORLD.draw(3_000, seed=0), model, estimator=estimator)
        shown = cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1)
        assert shown["direct"].bound("mediators") == 0
        assert shown["direct"].bound("group") > 0.01
        assert shown["indirect"].bound() == pytest.approx(0, abs=1e-12)


def test_without_confounders_something_hidden_may_still_be_one():
    model = replace(SEEN, confounders=[])
    scales = []
    for estimator in (Strata(), QUICK):
        found = cf.decompose_disparity(WORLD.draw(3_000, seed=0), model, estimator=estimator)
        shown = cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1)
        assert found.spurious.value == 0
        scales.append(shown["spurious"].bound("group"))
    assert scales[0] > 0.01
    assert scales[0] == pytest.approx(scales[1], rel=0.01)


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (Strata(empty_cells="restrict"), "outside common support is not in them"),
        (Strata(empty_cells="regression", empty_strata="restrict"), "mean was filled in"),
        (replace(QUICK, outcome=LinearRegression(), clip=1.5), "some weights were cut"),
    ],
)
def test_what_the_bounds_leave_out_is_noted(estimator, said):
    world = cf.datasets.worlds.sparse_cells()
    found = cf.decompose_disparity(world.draw(600, seed=0), world.model, estimator=estimator)
    shown = cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1)
    assert said in shown.notes[-1]
    assert all(each.bound() > 0 for each in shown)


def test_weights_count_like_rows():
    data = WORLD.draw(2_000, seed=2)
    twice = np.where(np.asarray(data["c"]) == 1, 2, 1)
    repeated = data.take(np.repeat(np.arange(len(data)), twice))
    weighted = data.append_column("w", pa.array(twice))
    for estimator in (Strata(), QUICK):
        one = cf.decompose_disparity(repeated, SEEN, estimator=estimator)
        other = cf.decompose_disparity(weighted, replace(SEEN, weights="w"), estimator=estimator)
        for name in ("weights", "outcome", "nested", "share"):
            first, second = (getattr(d.estimate.second_moments, name) for d in (one, other))
            assert second == pytest.approx(first, rel=0.03, abs=0.002), name


def test_repetitions_are_averaged():
    data = WORLD.draw(800, seed=0)
    once, thrice = (
        cf.decompose_disparity(data, SEEN, estimator=replace(QUICK, repeats=repeats))
        for repeats in (1, 3)
    )
    first, mean = (d.estimate.second_moments.outcome for d in (once, thrice))
    assert first != pytest.approx(mean, rel=1e-9)
    assert first == pytest.approx(mean, rel=0.05)


# --- benchmarks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [*KINDS, "anything"])
def test_a_confounder_left_out_has_the_shares_of_one_never_seen(kind, name):
    """Counts are rounded probabilities; shares of the weights may be overstated, never under."""
    world = anything(np.random.default_rng(5)) if kind == "anything" else planted(kind)
    shown = benchmark_confounders(world.table(), ALL_SEEN, estimator=Strata(), effects=[name])
    (mark,) = (each for each in shown if each.confounder == "u")
    terms = ({**PARTS["sequential"], **CONTRASTS})[name].terms
    for stage, truth in world.stages(terms).items():
        shares = mark.shares(stage)
        assert shares.outcome == pytest.approx(truth.outcome_share, abs=2e-3)
        assert shares.group >= truth.group_share - 2e-3
        if stage == "group" or name == "direct":
            assert shares.group == pytest.approx(truth.group_share, abs=2e-3)


def test_models_find_the_shares_that_counting_finds():
    world = planted("A-Y")
    counted = benchmark_confounders(world.table(), ALL_SEEN, estimator=Strata())
    modeled = benchmark_confounders(world.draw(8_000, seed=0), ALL_SEEN, estimator=QUICK)
    for one, other in zip(counted, modeled, strict=True):
        assert (one.confounder, one.as_strong.name) == (other.confounder, other.as_strong.name)
        for stage in ("mediators", "group"):
            assert other.shares(stage).outcome == pytest.approx(one.shares(stage).outcome, abs=0.03)
    direct = {each.confounder: each.shares("mediators") for each in modeled["direct"]}
    assert direct["u"].group == pytest.approx(0.27, abs=0.1)


def test_a_known_model_has_benchmarks_of_the_second_stage():
    data = planted("A-M").draw(3_000, seed=0).to_pandas()
    known = KnownModel(lambda people: 0.2 + 0.3 * people["m"] + 0.1 * people["u"])
    shown = benchmark_confounders(data, ALL_SEEN, of="prediction", estimator=known)
    (mark,) = (each for each in shown["spurious"] if each.confounder == "u")
    assert mark.shares("mediators").outcome == 0
    assert mark.shares("group").outcome > 0.05
    assert mark.shares("group").group > 0.05


def test_so_many_times_as_strong_reaches_the_margin():
    shown = benchmark_confounders(WORLD.draw(4_000, seed=0), ALL_SEEN, margin=0.01)
    assert len(shown) == 2 * len(NAMES)
    for each in shown:
        found, times = each.as_strong, each.times_as_strong()
        assert 0 < times < math.inf
        moved = sum(
            found.stages[stage].scale
            * times
            * math.sqrt(own.outcome * own.group / (1 - times * own.group))
            for stage, own in found.strengths.items()
        )
        assert moved == pytest.approx(found.distance, rel=1e-6)
        assert each.times_as_strong_for_interval() <= times
    bounds = [each.as_strong.bound() for each in shown["direct"]]
    assert bounds == sorted(bounds, reverse=True)
    assert "times as strong" in str(shown)


def test_a_confounder_of_nothing_is_no_yardstick():
    world = planted("M-Y", mediators=0.0)  # causes the outcome only
    shown = benchmark_confounders(world.table(), ALL_SEEN, effects=["direct"])
    (mark,) = (each for each in shown if each.confounder == "u")
    assert mark.as_strong.bound() == pytest.approx(0, abs=1e-4)
    assert mark.times_as_strong() > 100


def test_rows_without_a_confounder_stay_out_when_it_is_left_out():
    data = WORLD.draw(2_000, seed=0)
    u = np.asarray(data["u"]).astype(float)
    u[:100] = np.nan
    holes = data.set_column(1, "u", pa.array(u, from_pandas=True))
    for estimator in (Strata(), QUICK):
        dropped = benchmark_confounders(holes, ALL_SEEN, estimator=estimator, missing="drop")
        whole = benchmark_confounders(data.slice(100), ALL_SEEN, estimator=estimator)
        for one, other in zip(dropped, whole, strict=True):
            assert one.as_strong.bound() == pytest.approx(other.as_strong.bound(), rel=1e-6)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [-0.1, 1.0, 2, math.nan, math.inf, "0.1", None, True])
@pytest.mark.parametrize("which", ["outcome_share", "group_share"])
def test_a_share_lies_between_nothing_and_all(which, share):
    shares = {"outcome_share": 0.1, "group_share": 0.1} | {which: share}
    with pytest.raises(ValueError, match=f"{which} is a share of a variance"):
        cf.sensitivity_to_confounding(FOUND, **shares)


def test_a_share_by_stage_names_both_stages():
    with pytest.raises(ValueError, match="needs one share for each of 'mediators', 'group'"):
        cf.sensitivity_to_confounding(FOUND, outcome_share={"group": 0.1}, group_share=0.1)


@pytest.mark.parametrize("estimator", [Regression(replicates=20), Weighting(replicates=20)])
def test_other_estimators_are_refused_with_those_that_can(estimator):
    data = WORLD.draw(400, seed=0)
    found = cf.decompose_disparity(data, SEEN, estimator=estimator)
    with pytest.raises(SensitivityError, match="Strata, DoublyRobust or KnownModel"):
        cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1)
    with pytest.raises(SensitivityError, match="Strata, DoublyRobust or KnownModel"):
        benchmark_confounders(data, SEEN, estimator=estimator)


@pytest.mark.parametrize("wrong", [None, 0.1, FOUND.direct])
def test_other_things_are_refused(wrong):
    with pytest.raises(SensitivityError, match="expected a decomposition"):
        cf.sensitivity_to_confounding(wrong, outcome_share=0.1, group_share=0.1)


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        (["total"], "no hidden cause can move it"),
        (["sidewise"], "no effect is named 'sidewise'"),
        ("direct", "a list of names"),
    ],
)
def test_unknown_effects_are_refused(effects, said):
    with pytest.raises(SensitivityError, match=said):
        cf.sensitivity_to_confounding(FOUND, outcome_share=0.1, group_share=0.1, effects=effects)


def test_other_bad_input_is_refused():
    with pytest.raises(ValueError, match="margin"):
        cf.sensitivity_to_confounding(FOUND, outcome_share=0.1, group_share=0.1, margin=-1)
    with pytest.raises(ValueError, match="level"):
        cf.sensitivity_to_confounding(FOUND, outcome_share=0.1, group_share=0.1, level=1.5)
    with pytest.raises(SensitivityError, match="names no confounders"):
        benchmark_confounders(WORLD.draw(100, seed=0), replace(SEEN, confounders=[]))
    shown = cf.sensitivity_to_confounding(FOUND, outcome_share=0.1, group_share=0.1)
    with pytest.raises(KeyError, match="no effect is named"):
        shown["total"]
    with pytest.raises(KeyError, match="no stage is named"):
        shown["direct"].bound("outcome")
    crossed = {(0, 0, 1): 1.0, (1, 0, 1): 1.0, (0, 0, "everyone"): 1.0}
    with pytest.raises(ValueError, match="do not combine"):
        stages_of(FOUND.estimate.second_moments, crossed)
