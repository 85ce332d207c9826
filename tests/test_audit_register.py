"""Does the register say what answers rest on, and what the data says about it?"""

import numpy as np
import pytest

import causalfairness as cf
from audit_studies import PREDICTED, ROLES, people, study
from causalfairness.audit.independence import CheckedIndependence, adjusted, checked
from causalfairness.audit.register import register
from causalfairness.graph import Independence
from causalfairness.tables import Column
from judging import fewest_and_most_hits


def columns(**values):
    return {
        name: Column.numbers(name, np.asarray(each, dtype=float))
        if not isinstance(each, tuple)
        else Column(name, None, np.asarray(each[0]), each[1])
        for name, each in values.items()
    }


def confounded(rng, n):
    """x and y follow z with noise that depends on it: independent given z, and only then."""
    z, e, f = rng.normal(size=(3, n))
    return z, z + e * (1 + np.abs(z)), (z + f > 0).astype(float)


# --- the test of one independence -------------------------------------------------------------


def reject(rng, n, connect=0.0):
    z, x, y = confounded(rng, n)
    found = checked(Independence("x", "y", ("z",)), columns(z=z, x=x + connect * y, y=y))
    return found.p_value <= 0.05


def test_the_test_keeps_its_level_where_residuals_spread_unevenly():
    """z drives y through a threshold that a line with squares follows only nearly."""
    draws = 400
    rejected = sum(reject(rng, 300) for rng in np.random.default_rng(0).spawn(draws))
    fewest, most = fewest_and_most_hits(draws, 1, level=0.05)
    assert fewest <= rejected <= most


def test_the_test_finds_a_missing_arrow():
    """At 300 people bends and squares of z cost some power: 49 of 50 are found there."""
    rejected = sum(reject(rng, 600, connect=1.0) for rng in np.random.default_rng(1).spawn(50))
    assert rejected == 50


def entangled(rng, n, connect=0.0):
    """Three columns that follow a category, a number and a yes or no, which act on each other."""
    kind, age, yes = rng.integers(0, 3, n), rng.normal(size=n), rng.integers(0, 2, n)
    pull = 0.8 * (kind == 1) - 0.6 * (kind == 2) + 0.7 * age - 0.5 * yes
    pull = pull + 0.8 * age * yes + 0.7 * age * (kind == 1) + 0.9 * yes * (kind == 2)
    x = (rng.random(n) < 1 / (1 + np.exp(-pull))).astype(int)
    w = pull + rng.normal(size=n) * (1 + 0.5 * yes) + connect * x
    y = (w + 2 * rng.normal(size=n) > 0).astype(int) + (age > rng.normal(size=n))
    return columns(
        kind=(kind, ("a", "b", "c")), age=age, yes=yes, x=(x, ("n", "y")), w=w,
        y=(y, ("low", "mid", "high")),
    )  # fmt: skip


GIVEN = ("kind", "age", "yes")


def test_several_given_columns_of_mixed_types_are_allowed_for():
    """Without products of what is given, a third of the true independences is rejected."""
    draws, pairs = 300, (("x", "w"), ("y", "x"))
    given = {"x": GIVEN, "y": (*GIVEN, "w")}
    rejected = dict.fromkeys(pairs, 0)
    for rng in np.random.default_rng(2).spawn(draws):
        data = entangled(rng, 600)
        for one, other in pairs:
            found = checked(Independence(one, other, given[one]), data)
            rejected[one, other] += found.p_value <= 0.05
    assert checked(Independence("y", "x", given["y"]), data).degrees == 2
    fewest, most = fewest_and_most_hits(draws, 1, level=0.05)
    for pair, count in rejected.items():
        assert fewest <= count <= 1.5 * most, pair  # curves of logits are followed nearly
    tied = checked(Independence("x", "w", GIVEN), entangled(rng, 600, connect=1.0))
    assert tied.p_value < 1e-6


def test_a_curve_of_its_own_in_each_group_is_allowed_for():
    """x and w both bend with c, in one group only: given group and c they are independent."""
    draws, rejected = 150, 0
    for rng in np.random.default_rng(5).spawn(draws):
        a, c = rng.integers(0, 2, 1_000), rng.normal(size=1_000)
        x, w = (0.5 * a * c**2 + rng.normal(size=1_000) for _ in range(2))
        data = columns(a=(a, ("n", "y")), c=c, x=x, w=w)
        rejected += checked(Independence("x", "w", ("a", "c")), data).p_value <= 0.05
    _, most = fewest_and_most_hits(draws, 1, level=0.05)
    assert rejected <= most


def test_of_many_true_independences_hardly_one_is_ever_rejected():
    """Ten at once, adjusted: one in twenty draws has a false rejection, not one in two."""
    draws, false = 200, 0
    for rng in np.random.default_rng(3).spawn(draws):
        names = [f"x{at}" for at in range(5)]
        data = columns(**{name: rng.normal(size=200) for name in names})
        pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
        found = adjusted([checked(Independence(*pair), data) for pair in pairs])
        false += min(each.p_adjusted for each in found) <= 0.05
    _, most = fewest_and_most_hits(draws, 1, level=0.05)
    assert false <= most


def test_bends_and_products_need_enough_people():
    """Where there are too few for them, the plain regression is asked."""
    rng = np.random.default_rng(4)
    few = checked(Independence("x", "w", GIVEN), entangled(rng, 120))
    assert few.p_value is not None


def test_categories_are_tested_by_all_their_levels():
    rng = np.random.default_rng(2)
    z = rng.integers(0, 3, 3_000)
    x, y = rng.integers(0, 4, 3_000), rng.integers(0, 3, 3_000)
    names = ("a", "b", "c", "d")
    free = checked(
        Independence("x", "y", ("z",)),
        columns(z=(z, names[:3]), x=(x, names), y=(y, names[:3])),
    )
    assert free.degrees == 6
    assert free.p_value > 0.01
    tied = checked(
        Independence("x", "y", ("z",)),
        columns(z=(z, names[:3]), x=(x, names), y=(np.where(x == 1, 0, y), names[:3])),
    )
    assert tied.p_value < 1e-8


def test_what_cannot_be_tested_says_why():
    few = checked(Independence("x", "y"), columns(x=np.arange(8), y=np.arange(8)))
    assert "too few" in few.remark
    same = columns(x=np.arange(100) % 7, y=np.arange(100) % 3, z=np.arange(100) % 7)
    assert "nothing is left" in checked(Independence("x", "y", ("z",)), same).remark
    many = np.arange(2_000) % 40
    words = tuple(f"w{at:02}" for at in range(40))
    wide = columns(x=(many, words), y=(many, words))
    assert "too many" in checked(Independence("x", "y"), wide).remark


def test_people_with_missing_values_are_left_aside():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 200))
    x[:50] = np.nan
    assert checked(Independence("x", "y"), columns(x=x, y=y)).rows == 150


def test_all_tests_are_adjusted_together():
    found = adjusted(
        [
            CheckedIndependence("a", 10, 1.0, 1, 0.01),
            CheckedIndependence("b", 10, remark="not tested"),
            CheckedIndependence("c", 10, 1.0, 1, 0.04),
        ]
    )
    assert [each.p_adjusted for each in found] == [0.02, None, 0.04]


# --- the register -----------------------------------------------------------------------------


def entry(record, words):
    (found,) = (each for each in record["assumptions"] if words in each["assumption"])
    return found


def test_a_graph_that_the_data_contradicts_is_named():
    data = people(4_000)
    roles = {name: ROLES[name] for name in ("protected", "reference", "comparison", "outcome")}
    right = "group <-> {c1, c2}; c1 <-> c2; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y"
    wrong = right.replace("{group, c1, c2} -> m1", "c2 -> m1")
    fine = entry(study(roles=roles | {"graph": right}).run(data).record, "the causal graph")
    assert not fine["testable"]
    assert fine["tests"] == []
    told = entry(study(roles=roles | {"graph": wrong}).run(data).record, "the causal graph")
    assert told["status"] == "contradicted"
    assert "group _||_ m1 | c2" in told["result"] or "m1 _||_ group | c2" in told["result"]


def test_a_prediction_that_knows_more_than_its_roles_is_found():
    """Of listed roles, only the prediction can be held against: it follows from group, m and c."""
    data = people(4_000, frame="pandas")
    honest = study().run(data).record
    told = entry(honest, "the causal graph")
    assert told["status"] == "not contradicted"
    (only,) = told["tests"]
    assert only["independence"] == "y _||_ score | group, c1, c2, m1"
    cheat = data.assign(score=data["y"].where(data.index % 2 == 0, data["score"]))
    found = entry(study().run(cheat).record, "the causal graph")
    assert found["status"] == "contradicted"
    assert "disparity of y: green against blue" in found["used_by"]


def test_every_assumption_of_every_answer_is_in_the_register():
    asked = [{"ask": "disparity"}, {"ask": "necessity"}, {"ask": "counterfactual_fairness"}]
    record = study(questions=asked).run(people(800)).record
    listed = {each["assumption"]: each for each in record["assumptions"]}
    for answer in record["answers"]:
        for text in answer["assumptions"]:
            assert answer["title"] in listed[text]["used_by"]
    hidden = entry(record, "no hidden common cause of group")
    assert not hidden["testable"]
    assert hidden["status"] == "cannot be tested"
    assert [each["question"] for each in hidden["bounds"]] == [
        answer["title"] for answer in record["answers"][:2]
    ]
    for each in hidden["bounds"]:
        assert each["sentence"].rstrip(".") in hidden["result"]
        assert f"({each['question']})" in hidden["result"]
    assert hidden["bounds"][1]["verdict"] == record["answers"][1]["verdict"]
    assert all(each["bounds"] == [] for each in record["assumptions"] if each is not hidden)
    noise = entry(record, "what a mechanism does not explain")
    assert {each["node"] for each in noise["tests"]} == {"m1", "score"}


def test_a_mechanism_that_does_not_fit_is_found():
    rng = np.random.default_rng(0)
    data = people(2_000, frame="pandas")
    spread = np.where(data["group"] == "green", 5.0, 0.2)
    data["m1"] = data["c1"] + rng.normal(size=len(data)) * spread
    asked = [{"ask": "counterfactual_fairness"}]
    record = study(roles=PREDICTED, questions=asked).run(data).record
    noise = entry(record, "what a mechanism does not explain")
    assert noise["status"] == "contradicted"
    assert "m1" in noise["result"]


def mechanism(node, value, baseline, measure="log loss"):
    return {"node": node, "mechanism": "logistic", "measure": measure, "value": value,
            "baseline": baseline, "independence": 0.5, "causes": ["group"], "rows": 100,
            "why": ""}  # fmt: skip


@pytest.mark.parametrize(
    ("fit", "status"),
    [
        (mechanism("m1", 0.60, 0.69), "not contradicted"),
        (mechanism("m1", 0.692, 0.69), "not contradicted"),  # there may be nothing to learn
        (mechanism("m1", 0.75, 0.69), "in doubt"),
        (mechanism("m1", -0.002, 0.0, "R2"), "not contradicted"),
        (mechanism("m1", -0.2, 0.0, "R2"), "in doubt"),
    ],
)
def test_a_mechanism_that_predicts_worse_than_nothing_is_in_doubt(fit, status):
    answer = {
        "title": "shifts",
        "kind": "counterfactual_fairness",
        "assumptions": [],
        "diagnostics": [],
        "details": {"mechanisms": [fit, mechanism("m2", 0.3, 0.69)]},
    }
    found = entry({"assumptions": register([answer], [], 0.95)}, "follow their columns")
    assert found["status"] == status
    assert [each["better"] for each in found["tests"]] == [status != "in doubt", True]
    assert ("not so m1" in found["result"]) == (status == "in doubt")
    assert found["used_by"] == ["shifts"]


def test_overlap_that_is_lacking_is_contradicted():
    data = people(2_000, frame="pandas")
    asked = [{"ask": "disparity"}]
    fine = entry(study(questions=asked).run(data).record, "counterpart")
    assert fine["status"] == "not contradicted"
    apart = data.assign(c1=np.where(data["group"] == "green", 1, data["c1"]))
    cells = {"method": "strata", "empty_cells": "restrict"}
    lacking = entry(study(questions=asked, estimator=cells).run(apart).record, "counterpart")
    assert lacking["status"] == "contradicted"
    assert "outside common support" in lacking["result"]


def test_a_question_refused_for_lack_of_overlap_contradicts_it():
    data = people(2_000, frame="pandas")
    apart = data.assign(c1=np.where(data["group"] == "green", 1, data["c1"]))
    refused = study(estimator={"method": "strata"}).run(apart).record
    assert refused["answers"][0]["refused_by"] == "EmptyCellsError"
    found = entry(refused, "counterpart")
    assert found["status"] == "contradicted"
    assert found["used_by"] == ["disparity of y: green against blue"]
    assert refused["answers"][0]["reason"] in found["result"]


def overlap(**told):
    known = {"share_outside_support": 0.0, "effective_rows": 900.0, "of_rows": 1_000,
             "largest_share": 0.01, "clip_level": 50.0, "share_clipped": 0.0}  # fmt: skip
    return {"overlap": {**known, **told, "text": "as it is"}}


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({}, "not contradicted"),
        ({"effective_rows": 99.0}, "in doubt"),
        ({"effective_rows": 19.0}, "contradicted"),
        ({"largest_share": 0.06}, "in doubt"),
        ({"share_clipped": 0.02}, "in doubt"),
        ({"share_outside_support": 0.001}, "in doubt"),
        ({"share_outside_support": 0.06}, "contradicted"),
        ({"share_outside_support": None, "share_clipped": None}, "not contradicted"),
    ],
)
def test_overlap_is_judged_by_what_rows_are_worth(told, status):
    text = "everyone has a counterpart in the other group (overlap)"
    answer = {
        "title": "disparity",
        "kind": "disparity",
        "assumptions": [text],
        "diagnostics": [overlap(), overlap(**told)],
        "details": {},
    }
    found = entry({"assumptions": register([answer], [], 0.95)}, "counterpart")
    assert (found["status"], found["testable"]) == (status, True)
    assert len(found["tests"]) == 2


def test_answers_without_diagnostics_say_that_overlap_was_not_tested():
    answer = {
        "title": "invariance",
        "kind": "invariance",
        "assumptions": ["every group can occur with any features"],
        "diagnostics": [],
        "details": {},
    }
    found = {each["assumption"]: each for each in register([answer], [], 0.95)}
    assert found["every group can occur with any features"]["status"] == "not tested"


@pytest.mark.slow
def test_the_test_keeps_its_level_in_a_larger_world():
    world = cf.datasets.worlds.binary().without("direct")
    independence = Independence("group", "y", ("c1", "c2", "m1"))
    draws, rejected = 1_000, 0
    for seed in range(draws):
        data = world.draw(500, seed=seed, frame="pandas")
        known = {"group": (data["group"] == "green").to_numpy()}
        known |= {name: data[name].to_numpy() for name in ("c1", "c2", "m1", "y")}
        rejected += checked(independence, columns(**known)).p_value <= 0.05
    fewest, most = fewest_and_most_hits(draws, 1, level=0.05)
    assert fewest <= rejected <= most
