"""Does `causalfairness necessity` give the library's verdicts, and fail in words that help?"""

import json
import re

import pytest
from typer.testing import CliRunner

import causalfairness as cf
from causalfairness.cli import app

WORDS = (
    "dataset:compas",
    *("--protected", "race", "--reference", "Caucasian", "--comparison", "African-American"),
    *("--confounders", "sex", "--mediators", "c_charge_degree"),
    *("--outcome", "two_year_recid", "--prediction", "is_recid"),
)
MODEL = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["sex"],
    mediators=["c_charge_degree"],
    outcome="two_year_recid",
    prediction="is_recid",
)


def run(*words, code=0):
    done = CliRunner().invoke(app, ["necessity", *map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def flat(text):
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


def test_the_record_is_that_of_the_library():
    found = json.loads(
        run(*WORDS, "--allow", "spurious,indirect", "--margin", 0.02, "--json").stdout
    )
    expected = cf.check_business_necessity(
        cf.datasets.load_compas(), MODEL, allowed={"spurious", "indirect"}, margin=0.02
    )
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert found["allowed"] == ["indirect", "spurious"]


def test_sentences_and_verdicts_are_printed():
    text = flat(run(*WORDS, "--allow", "spurious", "--margin", "0.01").stdout)
    report = cf.check_business_necessity(
        cf.datasets.load_compas(), MODEL, allowed={"spurious"}, margin=0.01
    )
    for sentence in (*report.sentences(), *report.assumptions):
        assert sentence in text
    direct = report["direct"]
    row = f"direct no {direct.outcome.value:+.5f} {direct.prediction.value:+.5f}"
    assert row in text
    assert "against Caucasian: violated" in text


def test_nothing_is_allowed_unless_it_is_said():
    assert json.loads(run(*WORDS, "--json").stdout)["allowed"] == []


def test_without_a_margin_nothing_is_judged():
    text = flat(run(*WORDS).stdout)
    assert "against Caucasian: reported" in text
    assert "No margin was set: effects are reported, and nothing is judged." in text


def test_a_declaration_allows_its_path_and_is_kept():
    said = "spurious: the district court: age, by law: relevant"
    found = json.loads(run(*WORDS, "--declare", said, "--json").stdout)
    assert found["allowed"] == ["spurious"]
    declared = {"path": "spurious", "by": "the district court", "because": "age, by law: relevant"}
    assert found["declarations"] == [declared | {"on": None}]
    assert "declared necessary by the district court" in flat(run(*WORDS, "--declare", said).stdout)


def test_a_picture_is_drawn(tmp_path):
    path = tmp_path / "necessity.svg"
    done = run(*WORDS, "--allow", "spurious", "--plot", path)
    assert "<svg" in path.read_text("utf-8")
    assert "written" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--allow", "spurios"), 2, "'spurios' is no path; expected direct, indirect, spurious"),
        (("--declare", "spurious: the court"), 2, "who declared it necessary, and why"),
        (("--declare", "age: the court: because"), 2, "does not say which path"),
        (("--margin", "-0.1"), 2, "'--margin'"),
        (("--level", "95"), 2, "a level lies between 0 and 1"),
        (("--level", "0.4"), 2, "level must lie between 0.5 and 1"),
        (("--margin", "inf"), 2, "an effect may be without mattering, 0 or more"),
        (("--plot", "picture.txt"), 2, "expected .svg, .png, .pdf"),
        (("--mediators", "charge"), 3, "charge"),
        (("--estimator", "auto", "--empty-cells", "zero"), 2, "only --estimator strata has cells"),
    ],
)
def test_bad_words_are_refused(words, code, message):
    done = run(*WORDS, *words, code=code)
    assert message in flat(done.stderr)


def test_outcome_and_prediction_are_both_needed():
    without = [word for word in WORDS if word not in ("--prediction", "is_recid")]
    assert "--prediction" in flat(run(*without, code=2).stderr)
