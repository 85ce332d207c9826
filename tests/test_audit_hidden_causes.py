"""Does a record say how strong a hidden common cause would have to be to change its verdicts?"""

from dataclasses import replace

import numpy as np
import pytest

import causalfairness as cf
from audit_studies import EVERY_KIND, PREDICTED, ROLES, people, study
from causalfairness.audit.hidden_causes.verdicts import (
    STORIES,
    Exposed,
    share_to_change,
    times_to_change,
)
from causalfairness.audit.hidden_causes.words import about_verdict
from causalfairness.effects import Basis, Effect
from causalfairness.effects.contrasts import PARTS
from causalfairness.errors import AuditError, SensitivityError
from causalfairness.estimators import Strata
from causalfairness.inference import equivalence_p_value, minimum_effect_p_value
from causalfairness.parity.necessity.rules import EquivalenceRule
from causalfairness.sensitivity import (
    EffectSensitivity,
    Shares,
    Stage,
    benchmark_confounders,
    sensitivity_to_confounding,
)
from causalfairness.sensitivity.stages import NO_STAGE, strength
from causalfairness.sensitivity.strengths import strengths_of
from confounded_world import KINDS, planted

MODEL = cf.StandardFairnessModel(**PREDICTED)
STAGES = {"mediators": Stage(0.2, 3.0), "group": Stage(0.1, 2.0)}
RULE = EquivalenceRule(0.05, 0.95)


def exposed(value, error, *, name="direct", stages=STAGES, shares=None):
    effect = Effect(name, value, np.array([error]), Basis("", "rows"))
    shown = EffectSensitivity(effect, "", stages, strengths_of(0.1, 0.1), RULE.margin)
    known = {} if shares is None else {"age": replace(shown, strengths=shares)}
    return Exposed(shown, judged=True, benchmarks=known)


# --- when does a verdict change? --------------------------------------------------------------


@pytest.mark.parametrize("value", [0.3, -0.3])
def test_a_violation_ends_where_its_own_test_does(value):
    one = exposed(value, 0.02)
    share = share_to_change([one], RULE)
    left = abs(value) - one.bound(strength(share, share), tuple(STAGES))
    assert minimum_effect_p_value(left, 0.02, 0.05) == pytest.approx(0.05, abs=1e-9)


def test_what_was_shown_to_be_small_ends_where_its_own_test_does():
    one = exposed(-0.005, 0.01)
    share = share_to_change([one], RULE)
    reached = 0.005 + one.bound(strength(share, share), tuple(STAGES))
    assert equivalence_p_value(reached, 0.01, 0.05) == pytest.approx(0.05, abs=1e-9)


def test_several_effects_are_judged_together():
    """A violation ends with its last effect (of two, by Holm, at half the error), what is small
    with its first one."""
    far, near = exposed(0.4, 0.01), exposed(0.2, 0.01, name="indirect")
    both = share_to_change([far, near], RULE)
    assert both == pytest.approx(share_to_change([far], EquivalenceRule(0.05, 0.975)), rel=1e-9)
    tiny, small = exposed(0.0, 0.001), exposed(0.03, 0.001, name="indirect")
    assert share_to_change([tiny, small], RULE) == share_to_change([small], RULE)


def test_what_is_undecided_needs_no_hidden_cause():
    assert share_to_change([exposed(0.05, 0.02)], RULE) == 0
    assert "undecided as it is" in about_verdict("undecided", 0.0, None, "group and outcome")


def test_a_gap_that_cannot_be_moved_keeps_its_verdict():
    still = exposed(0.3, 0.01, name="total", stages=dict.fromkeys(STAGES, NO_STAGE))
    assert share_to_change([still], RULE) == 1
    assert share_to_change([still, exposed(0.3, 0.01)], RULE) == 1
    assert "however strong" in about_verdict("violated", 1.0, None, "group and outcome")


def test_stories_enter_their_own_stages():
    one = exposed(0.3, 0.01)
    shares = {story: share_to_change([one], RULE, stages) for story, stages in STORIES.items()}
    assert shares["group and outcome"] < shares["mediators and outcome"]
    assert shares["mediators and outcome"] < shares["group and mediators"]
    only = exposed(0.3, 0.01, stages=STAGES | {"group": NO_STAGE})
    assert share_to_change([only], RULE, STORIES["group and mediators"]) == 1


def test_times_as_strong_multiplies_the_shares_of_a_confounder():
    shares = {"mediators": Shares(0.02, 0.03), "group": Shares(0.01, 0.02)}
    one = exposed(0.3, 0.02, shares=shares)
    times = times_to_change([one], RULE, "age")
    more = {stage: each.times(times) for stage, each in shares.items()}
    left = 0.3 - sum(STAGES[stage].scale * strength(*more[stage]) for stage in STAGES)
    assert minimum_effect_p_value(left, 0.02, 0.05) == pytest.approx(0.05, abs=1e-9)
    weak = exposed(0.3, 0.02, shares=dict.fromkeys(STAGES, Shares(0.0, 0.0)))
    assert times_to_change([weak], RULE, "age") == np.inf


# --- a planted cause --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_band_of_a_record_holds_the_truth_and_a_true_cause_is_strong_enough(kind):
    """Where the margin lies between truth and finding, the verdict is wrong because of U: so U
    must be at least as strong as the record says that it takes. Frequencies are probabilities."""
    world = planted(kind)
    name = {"A-M": "indirect", "M-Y": "direct", "A-Y": "direct"}[kind]
    terms = PARTS["sequential"][name].terms
    truth, seen = world.long.effect(terms), world.short.effect(terms)
    stages = world.stages(terms).values()
    largest = max(share for each in stages for share in (each.outcome_share, each.group_share))
    margin = (abs(truth) + abs(seen)) / 2
    roles = {"protected": "a", "reference": 0, "comparison": 1, "confounders": ["c"],
             "mediators": ["m"], "outcome": "y"}  # fmt: skip
    stated = {"outcome_share": largest, "group_share": largest}
    asked = [{"ask": "disparity", "margin": margin, "judge": [name]}]
    audit = cf.Audit(roles=roles, questions=asked, sensitivity=stated)
    answer = audit.run(world.table()).record["answers"][0]
    told = answer["sensitivity"]
    (effect,) = (each for each in told["effects"] if each["name"] == name)
    assert effect["band_low"] - 1e-4 <= truth <= effect["band_high"] + 1e-4
    assert answer["verdict"] == ("violated" if abs(seen) > abs(truth) else "satisfied")
    assert 0 < told["to_change_verdict"] <= largest + 1e-3


# --- what stands in a record ------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    return people()


@pytest.fixture(scope="module")
def everything(data):
    return study(questions=EVERY_KIND).run(data)


def test_bounds_and_benchmarks_are_those_of_the_library(data, everything):
    answer = everything["disparity of y: green against blue"]
    told = answer["sensitivity"]
    found = cf.decompose_disparity(data, MODEL)
    shown = sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05, margin=0.02)
    for each in told["effects"]:
        one = shown[each["name"]]
        assert each["robustness"] == pytest.approx(one.robustness(), rel=1e-9)
        assert each["robustness_of_interval"] == pytest.approx(one.robustness_of_interval())
        assert (each["band_low"], each["band_high"]) == pytest.approx(one.band())
        assert (each["widened_low"], each["widened_high"]) == pytest.approx(one.interval())
        for stage, known in each["stages"].items():
            assert known["bound"] == pytest.approx(one.bound(stage))
            assert "hidden common cause" in known["story"]
    seen = benchmark_confounders(data, MODEL, margin=0.02, effects=["direct"])
    for known in seen:
        (each,) = (e for e in told["benchmarks"] if e["name"] == f"direct: {known.confounder}")
        assert each["bound"] == pytest.approx(known.as_strong.bound())
        assert each["times_interval"] == pytest.approx(known.times_as_strong_for_interval())
        assert each["mediators_outcome"] == pytest.approx(known.shares("mediators").outcome)
    assert told["verdict"] == answer["verdict"] == "violated"
    assert told["by_story"][-1]["to_change_verdict"] == told["to_change_verdict"]
    assert told["by_story"][-1]["strongest"]["confounder"] in ("c1", "c2")
    assert "to change the verdict 'violated'" in told["sentences"][0]
    assert [each["judged"] for each in told["effects"]] == [True, False, False]


def test_benchmarks_of_one_confounder_reuse_what_was_found(data, monkeypatch):
    found = cf.decompose_disparity(data, MODEL, estimator=Strata())
    monkeypatch.setattr(Strata, "estimate", None)  # nothing is estimated again
    seen = benchmark_confounders(
        data, MODEL, estimator=Strata(), found=found, confounders=["c2"], effects=["direct"]
    )
    (only,) = seen
    assert only.confounder == "c2"
    assert seen.found is found
    with pytest.raises(SensitivityError, match="'m1' is no confounder that could be left out"):
        benchmark_confounders(data, MODEL, estimator=Strata(), found=found, confounders=["m1"])


def test_without_a_margin_effects_are_held_against_zero(everything):
    told = everything["disparity of score: green against blue"]["sensitivity"]
    assert (told["verdict"], told["to_change_verdict"], told["by_story"]) == (None, None, [])
    assert told["goal"] == "zero"
    assert not any(each["judged"] for each in told["effects"])
    assert told["sentences"][0].startswith("For its interval to reach zero")


def test_error_rates_have_bounds_without_benchmarks(everything):
    told = everything["false positive rate: green against blue"]["sensitivity"]
    assert told["applies"]
    assert told["benchmarks"] == []
    assert any("left out in turn for disparities" in note for note in told["notes"])


def test_what_rests_on_no_bound_says_why(everything):
    for answer in everything.record["answers"]:
        told = answer["sensitivity"]
        if answer["kind"] in ("disparity", "error_rates", "necessity"):
            assert told["applies"], answer["title"]
        else:
            assert not told["applies"]
            assert told["reason"]


def test_a_path_that_is_not_allowed_has_the_bound_of_the_prediction(data):
    asked = [{"ask": "necessity", "margin": 0.05}]
    told = study(questions=asked).run(data).record["answers"][0]["sensitivity"]
    found = cf.decompose_disparity(data, MODEL, of="prediction", estimator=Strata())
    shown = sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05, margin=0.05)
    for each in told["effects"]:
        assert each["bound"] == pytest.approx(shown[each["name"]].bound(), rel=1e-6)
        assert each["value"] == pytest.approx(shown[each["name"]].effect.value)


def test_an_allowed_path_has_a_bound_for_the_difference(data):
    """That of prediction minus outcome as one column, with residuals of its own, is smaller."""
    allowed = ["direct", "indirect", "spurious"]
    asked = [{"ask": "necessity", "allowed": allowed, "margin": 0.05}]
    told = study(questions=asked).run(data).record["answers"][0]["sensitivity"]
    apart = [s - y for s, y in zip(*(data[n].to_pylist() for n in ("score", "y")), strict=True)]
    joined = data.append_column("apart", [apart])
    found = cf.decompose_disparity(joined, cf.StandardFairnessModel(**ROLES | {"outcome": "apart"}))
    shown = sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05)
    for each in told["effects"]:
        exact = shown[each["name"]]
        assert each["value"] == pytest.approx(exact.effect.value)
        assert exact.bound() < each["bound"] < 2.5 * exact.bound()
    assert any("added up" in note for note in told["notes"])


def test_groups_and_attributes_have_bounds_too():
    roles = {"protected": "race", "reference": "Caucasian", "comparison": "African-American",
             "confounders": ["sex"], "outcome": "two_year_recid"}  # fmt: skip
    audit = cf.Audit(
        data="dataset:compas", roles=roles, groups={"each": True}, questions=[{"ask": "disparity"}]
    )
    told = audit.run().record["answers"][1]["sensitivity"]
    names = [each["name"] for each in told["effects"]]
    assert "Hispanic: spurious" in names
    assert len(names) == 15


def test_total_among_the_judged_is_told_to_stand_fast(data):
    asked = [{"ask": "disparity", "margin": 0.02, "judge": ["total", "direct"]}]
    told = study(questions=asked).run(data).record["answers"][0]["sensitivity"]
    assert told["effects"][0]["name"] == "total"
    assert not told["effects"][0]["exposed"]
    assert told["to_change_verdict"] == 1
    assert "could not change the verdict" in told["sentences"][0]


# --- what may be asked for --------------------------------------------------------------------


def test_it_is_asked_only_where_it_is_wanted(data):
    asked = EVERY_KIND[:1] + EVERY_KIND[3:6:2]
    silent = study(questions=asked, sensitivity={"ask": False}).run(data).record
    assert [answer["sensitivity"] for answer in silent["answers"]] == [None] * 3
    hidden = next(e for e in silent["assumptions"] if e["assumption"].startswith("no hidden"))
    assert hidden["bounds"] == []
    plain = study(sensitivity={"benchmarks": False}).run(data).record["answers"][0]["sensitivity"]
    assert plain["applies"]
    assert plain["benchmarks"] == []
    one = study(sensitivity={"most": 1}).run(data).record["answers"][0]["sensitivity"]
    assert {each["confounder"] for each in one["benchmarks"]} == {"c1"}
    assert any("not left out in turn" in note and "c2" in note for note in one["notes"])


def test_an_estimator_without_weights_is_told_so(data):
    record = study(estimator={"method": "regression"}).run(data).record
    told = record["answers"][0]["sensitivity"]
    assert not told["applies"]
    assert "no weights and residuals" in told["reason"]


def test_without_confounders_there_is_nothing_to_measure_by(data):
    roles = {key: value for key, value in PREDICTED.items() if key != "confounders"}
    told = study(roles=roles).run(data).record["answers"][0]["sensitivity"]
    assert told["benchmarks"] == []
    assert any("no confounder to measure" in note for note in told["notes"])


def test_questions_share_what_was_learned_only_if_it_is_of_the_same_people():
    """With rows dropped for a missing score, necessity has other people than the outcome's gap."""
    data = people(900, frame="pandas")
    data.loc[::9, "score"] = None
    asked = [{"ask": "disparity"}, {"ask": "necessity", "allowed": ["direct"]}]
    source = {"source": "-", "missing": "drop"}
    both = study(questions=asked, data=source).run(data)
    alone = study(questions=asked[1:], data=source).run(data)
    title = "business necessity: green against blue"
    assert both[title]["sensitivity"]["benchmarks"]
    assert both[title] == alone[title]


def test_the_stated_strength_widens_the_band(data):
    narrow, wide = (
        study(sensitivity={"outcome_share": share}).run(data).record["answers"][0]["sensitivity"]
        for share in (0.01, 0.2)
    )
    assert narrow["effects"][0]["bound"] < wide["effects"][0]["bound"]
    assert narrow["effects"][0]["robustness"] == wide["effects"][0]["robustness"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"outcome_share": 1}, "sensitivity.outcome_share: found 1; expected a share, 0 or more"),
        ({"group_share": -0.1}, "sensitivity.group_share: found -0.1; expected a share"),
        ({"benchmarks": "yes"}, "sensitivity.benchmarks: found 'yes'; expected true or false"),
        ({"most": 1.5}, "sensitivity.most: found 1.5; expected a whole number"),
        ({"benchmark": True}, "sensitivity.benchmark: is no key here; did you mean benchmarks?"),
        (5, "sensitivity: found 5; expected a table"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, words):
    with pytest.raises(AuditError) as refusal:
        study(sensitivity=given)
    assert words in str(refusal.value)
