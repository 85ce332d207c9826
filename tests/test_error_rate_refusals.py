"""Error rates: questions without an answer, what is said about them, and how answers are shown."""

import re
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import causalfairness as cf
from causalfairness.errors import (
    ColumnNotFoundError,
    ConstantPredictionError,
    GroupNotFoundError,
    OutcomeError,
    PredictorError,
    RoleError,
)
from causalfairness.parity.error_rate import RATES
from forms import in_memory_and_lazy
from judging import PARTS
from odds_world import (
    ALONE,
    MODEL,
    by_route,
    deaf_to_the_mediator,
    draw,
    listens_to_all,
    predicting,
    same_answer,
)

# --- refusals ------------------------------------------------------------------------------------


def refused(data, model, error, said, rate="fpr", **options):
    for name, form in in_memory_and_lazy(data).items():
        with pytest.raises(error) as caught:
            cf.decompose_error_rates(form, model, rate, **options)
        assert type(caught.value) is error, name
        assert said in str(caught.value), (name, str(caught.value))


def test_numbers_have_no_error_rates():
    people = draw(listens_to_all, 300, seed=33)
    numeric = people.assign(y=np.random.default_rng(33).normal(size=300))
    said = "error rates need an outcome of yes or no, and column 'y' holds numbers such as "
    refused(numeric, MODEL, OutcomeError, said)
    refused(numeric, MODEL, OutcomeError, "Use decompose_disparity, which explains gaps of numbers")


@pytest.mark.parametrize("value", [None, 1, "x"])
def test_a_score_is_not_a_decision(value):
    people = draw(listens_to_all, 300, seed=34)
    scored = people.assign(yhat=np.where(people.index % 2, 0.25, 1.0))
    if value == "x":
        scored = scored.assign(y=scored.y.map({0: "o", 1: "x"}))
    model = replace(MODEL, outcome_value=value)
    said = (
        "the prediction column 'yhat' has values such as 0.25, 1: a score is not a decision, and "
        "only decisions have error rates. Choose a threshold first, for instance "
        "decision = data['yhat'] >= 0.5 as a column of its own"
    )
    refused(scored, model, PredictorError, said)
    score = replace(model, prediction=lambda people: np.where(np.asarray(people["m"]), 0.25, 1.0))
    refused(scored, score, PredictorError, "classifier.predict_proba(people)[:, 1] >= 0.5")


def test_a_model_that_scores_some_people_only_is_refused_when_it_does():
    """0 and 1 as people are, a score for people told another group."""
    people = draw(listens_to_all, 300, seed=35)

    def predict(frame):
        told = len({*np.asarray(frame["a"])}) == 1
        return np.where(np.asarray(frame["c"]), 1.0, 0.3 * told)

    with pytest.raises(PredictorError, match=r"values such as 0\.3, 1: a score"):
        cf.decompose_error_rates(people, replace(ALONE, prediction=predict), "fpr")


def test_zero_and_one_beside_a_numeric_label_cannot_be_told():
    people = draw(listens_to_all, 300, seed=36)
    model = replace(MODEL, outcome_value=0)
    said = (
        "the prediction column 'yhat' holds 0 and 1 while outcome_value=0: 1 could mean that 0 is "
        "predicted, or that 1 is. Leave outcome_value out and ask for the rate of the other class"
    )
    refused(people, model, OutcomeError, said)


def test_words_need_the_one_that_counts():
    people = draw(listens_to_all, 300, seed=37)
    words = people.assign(y=people.y.map({0: "no", 1: "yes"}))
    refused(
        words,
        MODEL,
        OutcomeError,
        "column 'y' holds words; say which counts as yes with outcome_value=..., one of 'no'",
    )
    said = "outcome_value='maybe' does not occur in column 'y'; its values are 'no', 'yes'"
    refused(words, replace(MODEL, outcome_value="maybe"), OutcomeError, said)
    spoken = people.assign(yhat=people.yhat.map({0: "no", 1: "yes"}))
    refused(spoken, MODEL, OutcomeError, "the prediction column 'yhat' holds words; say which")


def test_a_label_that_is_never_predicted_is_a_constant_prediction():
    people = draw(listens_to_all, 300, seed=38).assign(
        y=lambda d: d.y.map({0: "<=50K", 1: ">50K"}),
        yhat=lambda d: d.yhat.map({0: "<=50K.", 1: ">50K."}),
    )
    said = (
        "the prediction column 'yhat' is never '>50K', only '<=50K.', '>50K.': nobody is predicted "
        "to be what counts as yes, so there are no error rates to compare. Check the spelling"
    )
    refused(people, replace(MODEL, outcome_value=">50K"), ConstantPredictionError, said)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("says", [0, 1])
def test_a_predictor_that_says_the_same_to_everyone_has_no_gap(rate, says):
    people = draw(listens_to_all, 300, seed=39).assign(yhat=says)
    said = (
        f"the prediction 'yhat' is the same for everyone in both groups (yhat = {says}): a "
        "predictor that never tells people apart has no error-rate gap to explain"
    )
    refused(people, MODEL, ConstantPredictionError, said, rate)
    others = pd.concat([people, people.assign(a=2, yhat=1 - says)])  # of no group that is asked
    refused(others, MODEL, ConstantPredictionError, said, rate)
    with pytest.raises(ConstantPredictionError, match="the prediction 'prediction' is the same"):
        cf.decompose_error_rates(
            people, replace(MODEL, prediction=lambda frame: [says] * len(frame)), rate
        )


def test_a_predictor_that_says_the_same_to_all_it_is_asked_about_has_no_gap():
    people = draw(listens_to_all, 300, seed=40)
    never = people.assign(yhat=people.yhat * people.y)
    said = "everyone with y = 0 in both groups has yhat = 0: there is no gap in the false positive"
    refused(never, MODEL, ConstantPredictionError, said)
    said = "everyone with yhat = 1 in both groups has y = 1: there is no gap in the positive pred"
    refused(never, MODEL, OutcomeError, said, "ppv")
    weighted = people.assign(w=np.where((people.y == 0) & (people.yhat == 1), 0.0, 0.1))
    said = "everyone with y = 0 in both groups has yhat = 0"
    refused(weighted, replace(MODEL, weights="w"), ConstantPredictionError, said)


def test_a_group_in_which_nobody_has_the_outcome_has_no_such_rate():
    people = draw(listens_to_all, 300, seed=41)
    good = people[(people.a == 0) | (people.y == 1)]
    said = "nobody in the comparison group '1' has y = 0, so it has no false positive rate"
    refused(good, MODEL, GroupNotFoundError, said)
    picky = people.assign(yhat=people.yhat * people.a)
    said = "nobody in the reference group '0' has yhat = 1, so it has no positive predictive value"
    refused(picky, MODEL, GroupNotFoundError, said, "ppv")
    said = "the comparison group 7 has no rows"
    refused(people, replace(MODEL, comparison=7), GroupNotFoundError, said)


def test_questions_without_an_answer():
    people = draw(listens_to_all, 300, seed=42)
    with pytest.raises(ValueError, match=r"rate must be one of 'fpr', 'fnr', .*; found"):
        cf.decompose_error_rates(people, MODEL, "accuracy")
    with pytest.raises(ValueError, match="convention must be 'sequential' or 'symmetric'"):
        cf.decompose_error_rates(people, MODEL, convention="neither")
    with pytest.raises(RoleError, match="the model names no prediction; give prediction="):
        cf.decompose_error_rates(people, replace(MODEL, prediction=None))
    with pytest.raises(RoleError, match="the model names no outcome; give outcome="):
        cf.decompose_error_rates(people, replace(MODEL, outcome=None))
    with pytest.raises(ColumnNotFoundError, match="no column 'yhats'"):
        cf.decompose_error_rates(people, replace(MODEL, prediction="yhats"))
    with pytest.raises(OutcomeError, match="column 'yhat' holds no value at all"):
        cf.decompose_error_rates(people.assign(yhat=np.nan), MODEL)


@pytest.mark.parametrize(
    ("predict", "words"),
    [
        (lambda frame: [1.0], "1 values for 300 rows"),
        (lambda frame: [None] * len(frame), "missing ones included; expected one decision"),
        (lambda frame: [np.nan] * len(frame), "missing ones included; expected one decision"),
        (lambda frame: frame["postcode"], "postcode.*columns with a role"),
    ],
)
def test_a_model_that_gives_no_usable_answers_is_refused(predict, words):
    people = draw(listens_to_all, 300, seed=43)
    with pytest.raises(PredictorError, match=words):
        cf.decompose_error_rates(people, replace(MODEL, prediction=predict))


# --- shown ---------------------------------------------------------------------------------------


def test_the_result_is_shown_like_any_decomposition():
    people = draw(listens_to_all, 1_000, seed=44)
    found = by_route("counted", people, "fpr")
    lines = str(found).splitlines()
    assert lines[0] == "false positive rate of yhat among y = 0: 1 against 0 (sequential)"
    assert [line.split()[0] for line in lines[2:6]] == list(PARTS)
    assert lines[6].startswith("Gap: the false positive rate of yhat among y = 0 is ")
    assert "with y other than 0 left aside" in str(found)
    assert found.summary().names == found.decomposition.summary().names
    assert repr(found) == str(found)
    assert not re.search(r"\bfair\b", str(found).lower())


def test_pictures_and_reports_take_it():
    people = draw(listens_to_all, 1_000, seed=45)
    found = cf.decompose_error_rates(people, MODEL, "fnr")
    for shown in (found, found.decomposition):
        ax = cf.plots.waterfall(shown, Figure(layout="constrained").subplots())
        assert ax.patches[0].get_height() == pytest.approx(found.direct.value, abs=1e-12)
    summary = cf.report.summarise(found.decomposition, model=MODEL)
    assert "a different model is decomposed" in cf.report.render_markdown(summary)


def test_hostile_names_are_escaped():
    hostile = "<script>alert(1)</script>"
    people = draw(listens_to_all, 1_000, seed=46).rename(columns={"yhat": hostile, "m": "<m>"})
    model = replace(MODEL, prediction=hostile, mediators=["<m>"])
    html = cf.decompose_error_rates(people, model, "fpr", with_mediators=True)._repr_html_()
    assert "<script>" not in html
    assert "<m>" not in cf.decompose_error_rates(people, model, "fpr")._repr_html_()


def test_names_that_are_taken_are_not_overwritten():
    people = draw(deaf_to_the_mediator, 800, seed=47).rename(columns={"c": "prediction"})
    model = replace(
        ALONE,
        confounders=["prediction"],
        prediction=lambda d: np.asarray(d["a"] != d["prediction"]),
    )
    found = cf.decompose_error_rates(people, model, "fpr")
    plain = people.rename(columns={"prediction": "c"})
    model = replace(ALONE, prediction=lambda d: np.asarray(d["a"] != d["c"]))
    same_answer(found, cf.decompose_error_rates(plain, model, "fpr"))
    words = plain.assign(y=plain.y.map({0: "no", 1: "yes"})).rename(columns={"c": "y = yes"})
    model = replace(ALONE, confounders=["y = yes"], outcome_value="yes")
    found = cf.decompose_error_rates(words, model, "fpr")
    same_answer(found, cf.decompose_error_rates(plain, ALONE, "fpr"))


def test_a_relation_of_a_database_is_asked_with_its_model():
    people = draw(listens_to_all, 500, seed=48)
    relation = duckdb.from_df(people)
    model = replace(MODEL, prediction=predicting(listens_to_all))
    one, other = (cf.decompose_error_rates(data, model, "tpr") for data in (relation, people))
    same_answer(one, other)
    assert one.audited.basis == other.audited.basis
