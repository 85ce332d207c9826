"""Is it said which value people want, wherever the answer depends on it, and in one place?"""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalfairness as cf
from audit_studies import PREDICTED
from causalfairness.cli import app
from causalfairness.errors import AuditError, CausalFairnessError, OutcomeError, RoleError
from causalfairness.invariance import equal_opportunity_test
from causalfairness.parity import screens

MODEL = {"protected": "sex", "reference": "M", "comparison": "F", "mediators": ["pay"]}
SITUATION = {key: MODEL[key] for key in ("protected", "comparison")}
SITUATION |= {"features": ["pay"], "k": 10}
NOT_SAID = "nobody said which value people want"


def people(n=400):
    """Women are rejected more often; `passed` tells the same the other way round."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "pay": rng.normal(size=n)})
    chance = 0.3 + 0.3 * (data["sex"] == "F")
    data["reject"] = (rng.random(n) < chance).astype(int)
    data["risky"] = np.where(rng.random(n) < 0.8, data["reject"], 1 - data["reject"])
    data["score"] = data["risky"] + rng.normal(size=n)
    return data.assign(
        passed=1 - data["reject"], safe=1 - data["risky"], mark=-data["score"],
        said=np.where(data["reject"] == 1, "no", "yes"), grade=data["reject"] + 1,
    )  # fmt: skip


DATA = people()


def model(**more):
    return cf.StandardFairnessModel(**MODEL | more)


def audit(question, roles, **more):
    """The answer to one question of an audit of these people."""
    asked = cf.Audit(roles=MODEL | roles, questions=[question], **more)
    (answer,) = asked.run(DATA).record["answers"]
    return answer


# --- refused until it is said ---------------------------------------------------------------------


def test_what_depends_on_what_people_want_is_refused_until_it_is_said():
    with pytest.raises(RoleError, match=f"{NOT_SAID}.* 'reject' holds 0, 1"):
        cf.situation_test(DATA, decision="reject", **SITUATION)
    with pytest.raises(RoleError, match=NOT_SAID):
        cf.counterfactual_situation_test(DATA, DATA, decision="reject", **SITUATION)
    with pytest.raises(RoleError, match="with the value that people want"):
        screens.screen(DATA, "four_fifths", columns={"sex": "sex"}, selected="reject")
    with pytest.raises(RoleError, match="'higher' or 'lower', whichever people want"):
        screens.screen(DATA, "four_fifths", columns={"sex": "sex"}, score="score")
    with pytest.raises(CausalFairnessError, match=f"{NOT_SAID}.*the outcome holds 0.0, 1.0"):
        equal_opportunity_test(DATA["score"], DATA["sex"], DATA["reject"])
    found = cf.group_metrics(DATA, model(outcome="reject", prediction="risky"))
    with pytest.raises(OutcomeError, match=NOT_SAID):
        found.screen()


def test_metrics_without_a_direction_are_answered_and_speak_of_one():
    found = cf.group_metrics(DATA, model(outcome="reject", prediction="risky"))
    assert NOT_SAID in found.absent["selection_rate"]
    assert {"base_rate", "accuracy", "tpr", "fpr", "ppv"} <= {*found["F"]}
    women = DATA[DATA["sex"] == "F"]
    assert found["F"]["tpr"].value == pytest.approx(women.loc[women["reject"] == 1, "risky"].mean())
    assert "fifths" not in str(found)
    alone = cf.group_metrics(DATA, model(outcome="reject"))
    assert {*alone["F"]} == {"base_rate"}
    assert alone["F"]["base_rate"].value == pytest.approx(women["reject"].mean())
    assert "Base rate by sex (reject = 1): lowest M" in str(alone)
    with pytest.raises(RoleError, match=f"nothing to measure: {NOT_SAID}"):
        cf.group_metrics(DATA, model(prediction="risky"))


def test_pages_say_why_there_is_no_selection_rate(tmp_path):
    asked = cf.Audit(roles=MODEL | {"outcome": "reject"}, questions=[{"ask": "group_metrics"}])
    page = cf.report.write_html(asked.run(DATA), tmp_path / "report.html").read_text("utf-8")
    for said in ("No selection rate, and no screen", NOT_SAID):
        assert said in page


@pytest.mark.parametrize("question", ["situations", "screens"])
def test_audits_refuse_what_nobody_said(question):
    asked = {"ask": question}
    if question == "screens":
        asked |= {"rule": "four_fifths", "columns": {"sex": "sex"}, "selected": "reject"}
    answer = audit(asked, {"outcome": "reject"})
    assert answer["status"] == "not answered"
    assert "people want" in answer["reason"]
    said = audit(asked, {"outcome": "reject", "favorable": 0})
    assert said["status"] == "answered"


# --- the same answer however it is written --------------------------------------------------------


@pytest.mark.parametrize(
    "roles",
    [
        {"outcome": "passed", "prediction": "safe", "favorable": 1},
        {"outcome": "reject", "prediction": "risky", "favorable": "lower"},
        {"outcome": "said", "prediction": "safe", "outcome_value": "yes", "favorable": "yes"},
        {"outcome": "said", "prediction": "risky", "outcome_value": "no", "favorable": "yes"},
    ],
)
def test_metrics_are_the_same_however_good_news_is_written(roles):
    expected = cf.group_metrics(DATA, model(outcome="reject", prediction="risky", favorable=0))
    found = cf.group_metrics(DATA, model(**roles))
    for table in ("table", "gaps", "ratios", "extremes", "screen"):
        assert getattr(found, table)().to_records() == getattr(expected, table)().to_records()
    women = DATA[DATA["sex"] == "F"]
    assert found["F"]["selection_rate"].value == pytest.approx(women["safe"].mean())
    assert found["F"]["tpr"].value == pytest.approx(women.loc[women["passed"] == 1, "safe"].mean())


def test_calibration_stays_that_of_the_score():
    scored = model(outcome="reject", prediction="score")
    one, other = (cf.group_metrics(DATA, scored, favorable=side) for side in (0, 1))
    assert one.calibration().to_records() == other.calibration().to_records()
    rates = {row["group"]: row["selection_rate"] for row in one.screen()}
    above = {row["group"]: row["selection_rate"] for row in other.screen()}
    assert rates == pytest.approx({group: 1 - rate for group, rate in above.items()}, abs=0.01)


@pytest.mark.parametrize(
    ("decision", "favorable"),
    [("passed", 1), ("reject", "lower"), ("said", "yes"), ("grade", 1), ("grade", "lower")],
)
def test_situations_are_the_same_however_good_news_is_written(decision, favorable):
    expected = cf.situation_test(DATA, decision="reject", favorable=0, **SITUATION)
    turned = cf.situation_test(DATA, decision="reject", favorable=1, **SITUATION)
    found = cf.situation_test(DATA, decision=decision, favorable=favorable, **SITUATION)
    assert found.summary().to_records() == expected.summary().to_records()
    assert turned.summary()[10].evidence < expected.summary()[10].evidence


def test_screens_are_the_same_however_good_news_is_written():
    asked = {"rule": "four_fifths", "columns": {"sex": "sex"}}
    plain = screens.screen(DATA, selected="passed", favorable=1, **asked)
    assert plain.flagged == (("sex", "F"),)
    turned = screens.screen(DATA, selected="reject", favorable=0, **asked)
    assert turned.table().to_records() == plain.table().to_records()
    low = screens.screen(DATA, score="score", favorable="lower", **asked)
    high = screens.screen(DATA, score="mark", favorable="higher", **asked)
    assert low.table().to_records() == high.table().to_records()
    assert "below the pooled median" in str(low)


@pytest.mark.parametrize(
    "roles",
    [
        {"outcome": "reject", "favorable": 0},
        {"outcome": "passed", "favorable": 1},
        {"outcome": "said", "outcome_value": "no", "favorable": "yes"},
        {"outcome": "said", "outcome_value": "no", "favorable": "lower"},
        {"outcome": "grade", "favorable": "lower"},
        {"outcome": "reject", "prediction": "score", "favorable": 0},
    ],
)
def test_audits_ask_about_the_same_people_however_good_news_is_written(roles):
    asked = {"ask": "situations", "of": "outcome", "k": [10]}
    expected = cf.situation_test(
        DATA, decision="reject", favorable=0, reference="M", interval="newcombe", **SITUATION
    )
    (line,) = audit(asked, roles)["details"]["summary"]
    assert line["evidence"] == expected.summary()[10].evidence
    screened = {"ask": "screens", "rule": "four_fifths", "columns": {"sex": "sex"}}
    (part,) = audit(screened | {"selected": roles["outcome"]}, roles)["details"]["divisions"]
    assert [row["flagged"] for row in part["categories"] if row["group"] == "F"] == [True]


def test_a_threshold_decides_and_the_roles_say_which_decision_is_wanted():
    asked = {"ask": "situations", "of": "prediction", "k": [10]}
    roles = {"outcome": "reject", "prediction": "score"}
    expected = cf.situation_test(
        DATA.assign(low=(DATA["score"] < 0.5).astype(int)), decision="low", favorable=1,
        reference="M", interval="newcombe", **SITUATION,
    )  # fmt: skip
    for predictor, favorable in (({}, {"favorable": 0}), ({"favorable": 0}, {})):
        found = audit(asked, roles | favorable, predictor={"threshold": 0.5} | predictor)
        assert found["details"]["summary"][0]["evidence"] == expected.summary()[10].evidence
    low = audit(
        {"ask": "screens", "rule": "four_fifths", "columns": {"sex": "sex"}, "score": "score"},
        roles | {"favorable": 0},
    )
    assert low["details"]["favorable"] == "lower"


# --- said twice, or not to be understood ----------------------------------------------------------


def test_two_places_that_disagree_are_refused():
    wanted = model(outcome="reject", prediction="risky", favorable=0)
    assert cf.group_metrics(DATA, wanted, favorable=0).about["selection_rate"] == "risky = 0"
    with pytest.raises(RoleError, match=r"favorable is said twice: 0 .* 1 beside them"):
        cf.group_metrics(DATA, wanted, favorable=1)
    roles = PREDICTED | {"favorable": 0}
    assert cf.Audit(roles=roles, predictor={"favorable": 0}).roles.favorable == 0
    with pytest.raises(AuditError, match=r"predictor\.favorable: 1 is wanted here and 0 in roles"):
        cf.Audit(roles=roles, predictor={"favorable": 1})
    asked = {"ask": "screens", "rule": "four_fifths", "columns": {"sex": "sex"}, "favorable": 1}
    answer = audit(asked | {"selected": "reject"}, {"outcome": "reject", "favorable": 0})
    assert "said twice for 'reject': 1 by the question and 0 by the roles" in answer["reason"]


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        (
            {"outcome": "reject", "favorable": "no"},
            "'no' leaves open whether 1 is what",
        ),
        ({"outcome": "grade", "outcome_value": 2, "favorable": 0}, "0 leaves open whether 2"),
        ({"outcome": "age", "outcome_value": "old", "favorable": "new"}, "whether 'old' is what"),
        ({"outcome": "reject", "favorable": float("nan")}, "favorable is a missing value"),
    ],
)
def test_what_does_not_say_it_is_refused(roles, says):
    age = np.resize(["old", "new", "young"], len(DATA))
    with pytest.raises(RoleError, match=says):
        cf.group_metrics(DATA.assign(age=age), model(**roles))


def test_a_value_of_a_score_does_not_say_which_scores_people_want():
    scored = {"prediction": "score"}
    found = cf.group_metrics(DATA, model(**scored, favorable=1))
    assert "does not say whether people want it high" in found.absent["selection_rate"]
    said = cf.group_metrics(DATA, model(**scored, favorable="lower"))
    assert said.about["selection_rate"].startswith("score below its pooled median")


# --- every other place ----------------------------------------------------------------------------


def test_the_roles_carry_it_everywhere():
    graph = cf.CausalGraph.parse("sex -> pay; {sex, pay} -> reject")
    roles = {"protected": "sex", "reference": "M", "comparison": "F", "outcome": "reject"}
    for found in (
        cf.StandardFairnessModel.from_graph(graph, **roles, favorable=0),
        model(outcome="reject", favorable=0).for_groups(comparison=None),
        cf.CausalFairnessDecomposition(DATA, "reject", **MODEL, favorable=0).model,
        cf.Audit(roles=MODEL | {"outcome": "reject"}, predictor={"favorable": 0})
        .model(None)
        .wanting("lower"),
    ):
        assert found.favorable in (0, "lower")
        assert " - what people want" in str(found)


def test_a_proposal_leaves_it_to_people(tmp_path):
    path = tmp_path / "audit.toml"
    text = cf.audit.propose(DATA[["sex", "pay", "reject", "score"]])
    assert '# FILL IN which value of "reject" people want for themselves: 0 or 1.' in text
    path.write_text(text)
    with pytest.raises(AuditError, match=r"favorable is still '\?': say which value"):
        cf.Audit.from_file(path)
    path.write_text(text.replace('"?"', "0"))
    assert cf.Audit.from_file(path).roles.favorable == 0


def test_the_command_asks_for_it(tmp_path):
    path = tmp_path / "people.csv"
    DATA.to_csv(path, index=False)
    words = ["situations", path, "--protected", "sex", "--comparison", "F", "--features", "pay"]
    words += ["--decision", "reject"]
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 2
    assert "--favorable" in done.stderr
    expected = cf.situation_test(DATA, decision="reject", favorable=0, **SITUATION | {"k": 15})
    for word in ("0", "lower"):
        done = CliRunner().invoke(app, [*map(str, words), "--favorable", word])
        assert "situation testing: people with sex = F" in done.stdout, done.output
        assert str(expected.summary()[15].evidence) in done.stdout
