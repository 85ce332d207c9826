"""Does an audit ask what it says, and record what the library answers?"""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy.stats import norm

import causalfairness as cf
from audit_studies import EVERY_KIND, PREDICTED, ROLES, people, study, without_timings
from causalfairness.audit import register, units
from causalfairness.audit.answers.people import _bars
from causalfairness.audit.running import identity_of
from causalfairness.audit.store import key_of
from causalfairness.audit.study import prepare
from causalfairness.audit.units import units_of
from causalfairness.cli.findings import print_findings
from causalfairness.individuals.shifts import _bandwidth

MODEL = cf.StandardFairnessModel(**PREDICTED)


@pytest.fixture(scope="module")
def data():
    return people()


@pytest.fixture(scope="module")
def everything(data):
    return study(questions=EVERY_KIND).run(data)


# --- answers ----------------------------------------------------------------------------------


def test_every_kind_of_question_is_answered(everything):
    assert everything.unanswered == {}
    kinds = [answer["kind"] for answer in everything.record["answers"]]
    assert kinds == [question["ask"] for question in EVERY_KIND]
    for answer in everything.record["answers"]:
        assert answer["sentences"]
        assert answer["table"]["rows"]


def test_the_record_is_plain_data(everything):
    text = json.dumps(everything.record, allow_nan=False)
    assert json.loads(text) == everything.record


def test_estimates_are_those_of_the_library(data, everything):
    found = cf.decompose_disparity(data, MODEL)
    answer = everything["disparity of y: green against blue"]
    for record in answer["effects"]:
        effect = getattr(found, record["name"])
        low, high = effect.interval(0.95)
        expected = (effect.value, effect.standard_error, low, high, effect.p_value)
        names = ("value", "standard_error", "low", "high", "p_value")
        assert [record[name] for name in names] == pytest.approx(expected, rel=1e-10, abs=1e-12)
    assert answer["sentences"][:4] == list(found.sentences())
    columns = answer["table"]["columns"]
    assert len(answer["table"]["rows"]) == len(found.table())
    assert columns[:2] == ["name", "value"]


def test_world_means_and_parts_are_kept_for_a_waterfall(data, everything):
    found = cf.decompose_disparity(data, MODEL, of="prediction", convention="symmetric")
    details = everything["disparity of score: green against blue"]["details"]
    assert details["convention"] == "symmetric"
    assert len(details["world_means"]) == 12
    for mean in details["world_means"]:
        world = mean["direct_path_told"], mean["mediators_told"], mean["among"]
        assert mean["value"] == pytest.approx(found.world_means[world].value, abs=1e-11)
    parts = {part["name"]: part["value"] for part in details["parts"]}
    assert sum(parts[name] for name in parts if name != "total") == pytest.approx(parts["total"])


def test_necessity_keeps_its_report(data, everything):
    report = cf.check_business_necessity(data, MODEL, allowed={"indirect", "spurious"}, margin=0.05)
    answer = everything["business necessity: green against blue"]
    assert answer["verdict"] == report.verdict
    assert answer["sentences"] == list(report.sentences())
    assert [row["verdict"] for row in answer["judgment"]["paths"]] == [p.verdict for p in report]


def test_declarations_are_kept():
    declared = {"path": "spurious", "by": "the court", "because": "law", "on": "2020-01-02"}
    asked = [{"ask": "necessity", "declarations": [declared]}]
    answer = study(questions=asked).run(people(600)).record["answers"][0]
    assert answer["details"]["declarations"] == [declared]
    assert answer["details"]["allowed"] == ["spurious"]


def test_counterfactual_fairness_of_a_column_says_that_the_model_is_not_at_hand(everything):
    answer = everything["counterfactual fairness: green against blue"]
    assert any("not at hand" in line for line in answer["assumptions"])
    groups = {group["group"]: group for group in answer["details"]["groups"]}
    assert len(groups["green"]["densities"]["at"]) == 64
    assert sum(groups["green"]["shifts"]["counts"]) == groups["green"]["people"]
    assert {fit["node"] for fit in answer["details"]["mechanisms"]} >= {"m1", "score"}


def test_screens_and_metrics_have_no_verdict(everything):
    assert everything["group metrics"]["verdict"] is None
    assert everything["screen by four_fifths"]["verdict"] is None
    assert everything["group metrics"]["details"]["gaps"]
    assert everything["group metrics"]["details"]["calibration"] is None  # decisions, no scores


# --- verdicts ---------------------------------------------------------------------------------


def test_a_cut_arrow_is_satisfied_and_a_strong_one_violated():
    world = cf.datasets.worlds.binary()
    asked = [{"ask": "disparity", "margin": 0.05}]
    cut = study(roles=ROLES, questions=asked).run(world.without("direct").draw(20_000, seed=0))
    assert cut.verdict == "satisfied"
    asked = [{"ask": "disparity", "margin": 0.001, "judge": ["total", "direct"]}]
    whole = study(roles=ROLES, questions=asked).run(world.draw(20_000, seed=0))
    assert whole.verdict == "violated"
    few = study(roles=ROLES, questions=[{"ask": "disparity", "margin": 0.02}])
    assert few.run(world.without("direct").draw(300, seed=0)).verdict == "undecided"


def test_nothing_is_judged_without_a_margin(data):
    result = study().run(data)
    assert result.verdicts == {}
    assert result.verdict is None
    assert "Nothing was judged" in str(result)


def test_necessity_without_a_margin_is_reported_and_whose_margin_it_is_is_said(data, tmp_path):
    asked = [
        {"ask": "necessity"},
        {"ask": "disparity", "margin": 0.5, "margin_set_by": "the board"},
        {"ask": "error_rates", "rates": ["fpr"], "margin": 0.25},
    ]
    result = study(questions=asked).run(data)
    plain, board, nobody = result.record["answers"]
    assert (plain["status"], plain["verdict"], plain["judgment"]) == ("answered", None, None)
    assert "No margin was set" in plain["sentences"][-1]
    assert plain["title"] not in result.verdicts
    assert "the margin of 0.5 was set by the board" in board["notes"]
    assert "nobody said who set the margin of 0.25" in nobody["notes"]
    page = cf.report.write_html(result, tmp_path / "report.html").read_text("utf-8")
    for said in ("0.5 (set by the board)", "0.25 (nobody said who set it)", "No margin was set"):
        assert said in page


@pytest.mark.parametrize(("margin", "verdict"), [(0.9, "satisfied"), (0.01, "violated")])
def test_invariance_is_judged_by_its_bounds(data, margin, verdict):
    asked = [{"ask": "invariance", "features": ["c1"], "margin": margin}]
    assert study(questions=asked).run(data).verdict == verdict


def test_a_question_that_is_refused_does_not_stop_the_others(data):
    asked = [
        {"ask": "situations", "k": [100_000], "features": ["c1"]},
        {"ask": "disparity"},
        {"ask": "invariance", "features": ["c1"]},
    ]
    result = study(questions=asked).run(data)
    statuses = [answer["status"] for answer in result.record["answers"]]
    assert statuses == ["not answered", "answered", "answered"]
    (reason,) = result.unanswered.values()
    assert "k = 100000 is larger" in reason
    assert result.record["answers"][0]["refused_by"] == "SituationError"
    assert "Not answered" in str(result)


def test_a_margin_out_of_reach_is_said_wherever_a_verdict_stands(tmp_path):
    few = people(512, frame="pandas")
    few["group"] = few["group"].sample(frac=1, random_state=0).to_numpy()  # no effect of it
    asked = [
        {"ask": "disparity", "margin": 0.01},
        {"ask": "necessity", "margin": 0.01},
        {"ask": "error_rates", "rates": ["fpr"], "margin": 0.01},
        {"ask": "predictive_parity", "bins": 2, "replicates": 50, "margin": 0.01},
    ]
    result = study(questions=asked).run(few)
    reach = "with 512 people a margin of "
    for answer in result.record["answers"]:
        assert answer["verdict"] == "undecided"
        assert "is out of reach; about " in answer["sentences"][-1]
        judged = answer["judgment"].get("effects") or answer["judgment"]["paths"]
        needed = [each["people_needed"] for each in judged if each["people_needed"]]
        for each in judged:
            times = (norm.ppf(0.95) + norm.ppf(0.9)) * each["standard_error"] / 0.01
            if each["people_needed"]:
                assert each["people_needed"] == pytest.approx(each["people"] * times**2, rel=1e-3)
        assert max(needed) > 10 * 512
    assert reach in result.record["answers"][0]["sentences"][-1]
    page = cf.report.write_html(result, tmp_path / "page.html").read_text("utf-8")
    assert page.count("with 512 people a margin of this size is out of reach") >= 3
    printed = io.StringIO()
    print_findings(result.record, "four questions", Console(file=printed, width=100))
    assert "is out of reach; about" in " ".join(printed.getvalue().split())
    model = cf.StandardFairnessModel(**PREDICTED)
    report = cf.check_business_necessity(few, model, margin=0.01)
    assert "with 512 people a margin of 1 point is out of reach" in str(report)


def equal_shifts():
    """A score that is .5 higher in one group, for everybody: by rounding alone, shifts differ."""
    rng = np.random.default_rng(0)
    group, x = rng.integers(0, 2, 300), rng.normal(size=300)
    outcome = np.round(x + rng.normal(size=300) + 0.7 * group, 1)
    data = {"g": np.where(group, "b", "w"), "x": x, "y": outcome}
    return pd.DataFrame(data | {"score": np.round(x) + 0.5 * group})


EQUAL = {
    "protected": "g",
    "reference": "w",
    "comparison": "b",
    "confounders": ["x"],
    "outcome": "y",
    "prediction": "score",
}


def test_shifts_that_are_equal_for_everybody_are_answered_and_drawn(tmp_path):
    result = cf.Audit(roles=EQUAL, questions=[{"ask": "counterfactual_fairness"}]).run(
        equal_shifts()
    )
    assert result.unanswered == {}
    shifts = result.record["answers"][0]["details"]["groups"][0]["shifts"]
    assert max(shifts["counts"]) == sum(shifts["counts"]) > 100  # one bar
    assert np.ptp(shifts["edges"]) == pytest.approx(1.0)
    page = cf.report.write_html(result, tmp_path / "page.html").read_text("utf-8")
    assert "Counterfactual fairness" in page


@pytest.mark.parametrize("score", [0.1 + 0.2, 1e9, -3e15, 0.0, 1e-300])
@pytest.mark.parametrize("rounding", [0.0, 1e-16, 3e-16])
def test_scores_that_are_equal_for_everybody_are_spread_out(score, rounding):
    rng = np.random.default_rng(0)
    values = score * (1 + rounding * rng.integers(-3, 4, 50))
    counts, edges = _bars(values)
    assert sorted(counts) == [0] * 19 + [50]
    assert (np.diff(edges) > 0).all()
    assert _bandwidth(values) > 0
    at = np.linspace(values.min() - 3 * _bandwidth(values), values.max(), 64)
    assert (np.diff(at) > 0).all()


def test_a_defect_in_one_question_is_recorded_and_the_others_are_answered(data, monkeypatch):
    def broken(*_):
        raise KeyError("Smith, aged 53, of ~/someone/people.csv")

    asked = [{"ask": "disparity"}, {"ask": "invariance", "features": ["c1"], "margin": 0.1}]
    monkeypatch.setitem(units.ASK, "invariance", broken)
    result = study(questions=[*asked, {"ask": "group_metrics"}]).run(data)
    statuses = [answer["status"] for answer in result.record["answers"]]
    assert statuses == ["answered", "not answered", "answered"]
    failed = result.record["answers"][1]
    assert failed["refused_by"] == "KeyError"
    assert failed["reason"].startswith("a defect of the program stopped this, and nothing else: ")
    for private in ("Smith", "53", "someone", "people.csv"):
        assert private not in str(result.record["answers"][1])
    assert result.defects == {failed["title"]: failed["reason"]}
    assert result.verdict == "undecided"  # it was to be judged
    assert "Not answered: a defect of the program" in str(result)


def test_a_defect_in_a_test_of_the_graph_costs_no_answer(data, monkeypatch):
    def broken(*_):
        raise ValueError("no such luck with blue people")

    monkeypatch.setattr(register, "checked", broken)
    result = study().run(data)
    assert result.unanswered == {}
    (said,) = set(result.defects.values())
    assert said.endswith("ValueError: no such luck with ... people")  # a label of the data


def test_a_judged_question_without_an_answer_leaves_the_whole_undecided(data):
    asked = [{"ask": "disparity", "margin": 0.5}, {"ask": "necessity", "margin": 0.01}]
    roles = PREDICTED | {"weights": "w"}
    weighted = data.append_column("w", [[1.0] * len(data)])
    fine = study(roles=roles, questions=asked[:1]).run(weighted)
    assert fine.verdict == "satisfied"
    constant = data.set_column(data.column_names.index("score"), "score", [[1] * len(data)])
    result = study(questions=asked).run(constant)
    assert result.record["answers"][1]["status"] == "not answered"
    assert result.verdict == "undecided"


# --- groups -----------------------------------------------------------------------------------


def test_pairs_each_group_and_intersections_are_asked():
    roles = {
        "protected": ["race", "sex"],
        "reference": ["Caucasian", "Male"],
        "comparison": ["African-American", "Female"],
        "mediators": ["c_charge_degree"],
        "outcome": "two_year_recid",
    }
    more = {"reference": ["Caucasian", "Male"], "comparison": ["African-American", "Male"]}
    groups = {"pairs": [more], "intersections": True, "each": True}
    audit = cf.Audit(
        data="dataset:compas", roles=roles, groups=groups, questions=[{"ask": "disparity"}],
        estimator={"method": "strata", "empty_cells": "restrict"},
    )  # fmt: skip
    record = audit.run().record
    kinds = [answer["kind"] for answer in record["answers"]]
    assert kinds == ["disparity", "disparity", "groups", "attributes"]
    people_of = record["answers"][3]["details"]["people"]
    assert {"group": "African-American, Female", "people": 549} in people_of
    assert record["answers"][1]["groups"]["comparison"] == "African-American, Male"
    assert all(answer["status"] == "answered" for answer in record["answers"])


def test_titles_tell_questions_apart(data):
    found = study(questions=[{"ask": "disparity"}] * 3)
    titles = [unit.title for unit in units_of(prepare(found, data, trust=False, workers=1))]
    assert len({*titles}) == 3
    assert titles[1].endswith("(#2)")


def test_questions_follow_from_the_roles():
    assert [one.ask for one in cf.Audit(roles=ROLES).asked] == ["disparity", "group_metrics"]
    both = [one.ask for one in cf.Audit(roles=PREDICTED).asked]
    assert both == ["disparity", "disparity", "group_metrics", "error_rates", "predictive_parity",
                    "necessity"]  # fmt: skip


def test_roles_may_come_from_a_graph(data):
    graph = "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y"
    roles = {name: ROLES[name] for name in ("protected", "reference", "comparison", "outcome")}
    drawn = study(roles=roles | {"graph": graph}).run(data).record
    listed = study(roles=ROLES).run(data).record
    assert drawn["answers"][0]["effects"] == listed["answers"][0]["effects"]
    assert drawn["graph"]["given"]
    assert not listed["graph"]["given"]


# --- people -----------------------------------------------------------------------------------


def test_a_threshold_makes_decisions_of_scores():
    data = people(800)
    scores = [2 * score + 3 for score in data["score"].to_pylist()]
    scored = data.set_column(data.column_names.index("score"), "score", [scores])
    asked = [{"ask": "error_rates", "rates": ["fpr"]}]
    found = study(questions=asked, predictor={"threshold": 4}).run(scored).record
    plain = study(questions=asked).run(data).record
    assert found["roles"]["decision"] == "score from 4"
    values = [[each["value"] for each in one["answers"][0]["effects"]] for one in (found, plain)]
    assert values[0] == values[1]
    asked = [{"ask": "group_metrics", "bins": 2}]
    details = study(questions=asked, predictor={"threshold": 4}).run(scored).record["answers"][0]
    assert {row["bin"] for row in details["details"]["calibration"]} == {1, 2}


def test_groups_of_few_people_are_not_listed():
    data = people(800)
    asked = {"ask": "situations", "features": ["c1", "m1"], "listed": 500, "dossiers": 3}
    declined = PREDICTED | {"favorable": 0}
    listed = study(questions=[asked | {"k": [12]}], roles=declined).run(data).record["answers"][0]
    assert listed["table"]["rows"]
    assert listed["details"]["dossiers"]
    small = study(questions=[asked | {"k": [9]}]).run(data).record["answers"][0]
    assert small["table"]["rows"] == []
    assert small["details"]["dossiers"] == []
    assert small["details"]["suppressed"] == small["details"]["summary"][0]["complainants"]
    assert any("fewer than 10" in note for note in small["notes"])
    shown = study(questions=[asked | {"k": [9]}], settings={"smallest": 9}).run(data)
    assert shown.record["answers"][0]["table"]["rows"]


def test_shifts_of_small_groups_are_not_drawn():
    asked = [{"ask": "counterfactual_fairness"}]
    result = study(questions=asked, settings={"smallest": 10_000}).run(people(800))
    answer = result.record["answers"][0]
    assert answer["refused_by"] == "TooFewRowsError"
    assert "fewer than 10000 people" in answer["reason"]
    assert answer["details"] == {}


def test_missing_values_are_dropped_only_where_that_is_said():
    data = people(800, frame="pandas")
    data.loc[::50, "c1"] = None
    asked = [{"ask": "disparity"}, {"ask": "counterfactual_fairness"}]
    with_policy = study(questions=asked, data={"source": "-", "missing": "drop"}).run(data)
    assert with_policy.unanswered == {}
    assert "dropped" in str(with_policy.record["answers"][0]["diagnostics"][0]["rows"]["text"])
    assert any("16 of 800 rows" in note for note in with_policy.record["answers"][1]["notes"])
    refused = study(questions=asked[:1]).run(data)
    assert "missing values" in next(iter(refused.unanswered.values()))


# --- repeating --------------------------------------------------------------------------------


def test_the_record_does_not_depend_on_workers(data):
    audit = study(questions=EVERY_KIND[:6])
    records = [audit.run(data, workers=workers).record for workers in (1, 2)]
    assert without_timings(records[0]) == without_timings(records[1])


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"seed": 1}},
        {"settings": {"level": 0.9}},
        {"roles": PREDICTED | {"confounders": ["c1"]}},
        {"estimator": {"method": "strata"}},
        {"sensitivity": {"benchmarks": False}},
        {"sensitivity": {"outcome_share": 0.1}},
        {"data": {"source": "-", "missing": "drop"}},
    ],
)
def test_the_key_of_an_answer_follows_what_it_depends_on(data, change):
    one, other = (prepare(study(**more), data, trust=False, workers=1) for more in ({}, change))
    assert key_of(identity_of(one)) != key_of(identity_of(other))
    assert key_of(identity_of(one)) == key_of(identity_of(replace(one, workers=2)))


def test_warnings_are_kept_and_do_not_escape(data, monkeypatch):
    import warnings

    from causalfairness.audit import units

    def loud(study, question, model):
        warnings.warn("something odd", RuntimeWarning, stacklevel=1)
        return original(study, question, model)

    original = units.disparity
    monkeypatch.setattr(units, "disparity", loud)
    record = study().run(data).record
    said = "RuntimeWarning: something odd"
    assert record["answers"][0]["warnings"] == [said]
    assert record["warnings"][0]["warning"] == said


def test_an_intersection_is_told_the_other_group_and_nobody_else_is():
    data = people(900, frame="pandas")
    data["sex"] = np.where(np.arange(900) % 3 == 0, "woman", "man")
    pair = {"reference": ["blue", "man"], "comparison": ["blue", "woman"]}
    roles = PREDICTED | {"protected": ["group", "sex"]} | pair
    asked = [{"ask": "counterfactual_fairness"}]
    answer = study(roles=roles, questions=asked).run(data).record["answers"][0]
    of_blue = (data["group"] == "blue").to_numpy()
    told = [group for group in answer["details"]["groups"] if "woman" in group["group"]]
    assert [group["people"] for group in told] == [(of_blue & (data["sex"] == "woman")).sum()]
    assert sum(group["people"] for group in answer["details"]["groups"]) == of_blue.sum()
    assert any("only people of the two groups" in note for note in answer["notes"])
