"""Error rates: whose model is decomposed, what its answers may look like, and in which data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import causalfairness as cf
from causalfairness.errors import (
    ConstantPredictionError,
    LearnerError,
    MissingValuesError,
    PredictorError,
    RoleError,
)
from causalfairness.estimators import KnownModel, Strata
from forms import every_form, in_memory_and_lazy
from judging import PARTS, gap_between_sum_and_total
from odds_world import (
    ALONE,
    MODEL,
    ROUTES,
    by_route,
    deaf_to_the_group,
    deaf_to_the_mediator,
    draw,
    listens_to_all,
    predicting,
    same_answer,
)

# --- whose model is it? --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prediction", ["yhat", predicting(listens_to_all)], ids=["column", "model"]
)
def test_a_model_that_uses_mediators_is_replaced_and_the_result_says_so(prediction):
    people = draw(listens_to_all, 3_000, seed=10)
    found = cf.decompose_error_rates(people, replace(MODEL, prediction=prediction), "fpr")
    assert found.comparison_model == "LogisticRegression without m"
    assert "LogisticRegression without m (not the audited model)" in found.what
    rates = people[people.y == 0].groupby("a").yhat.mean()
    assert found.audited.value == pytest.approx(rates[1] - rates[0], abs=1e-12)
    own = people[people.y == 0].groupby("a").yhat
    error = np.sqrt((own.var(ddof=0) / own.size()).sum())
    assert np.linalg.norm(found.audited.spread) == pytest.approx(error, rel=1e-9)
    assert found.audited.standard_error == pytest.approx(error, rel=2e-3)
    fitted = LogisticRegression(C=1e6).fit(people[["a", "c"]], people.y)
    again = people.assign(again=fitted.predict(people[["a", "c"]]))[people.y == 0]
    gap = again.groupby("a").again.mean()
    assert found.total.value == pytest.approx(gap[1] - gap[0], abs=1e-12)
    assert found.indirect.value == 0
    assert (found.audited - found.total).standard_error > 0  # one basis
    if prediction == "yhat":
        plain = by_route("learned", people, "fpr").total
        np.testing.assert_allclose(found.audited.spread, plain.spread, rtol=0, atol=1e-15)
    first, second = found.sentences()[:2]
    assert first.startswith("Gap: the false positive rate of LogisticRegression without m (not")
    assert second.startswith("Another model: the audited one uses m.")
    assert f"The audited model's own gap is {found.audited.value:+.3f}" in second
    note = found.diagnostics.notes[0]
    assert note.startswith("a different model is decomposed: the audited model uses m (")
    assert "fitted to the 3,000 rows of the two groups" in note
    for text in (str(found), found._repr_html_()):
        assert "Another model" in text
        assert "a different model is decomposed" in text


def test_the_comparison_model_is_the_users_and_is_not_touched():
    people = draw(listens_to_all, 2_000, seed=11)
    people = people.assign(age=np.random.default_rng(11).normal(size=2_000))
    model = replace(MODEL, confounders=["c", "age"])
    forest = RandomForestClassifier(n_estimators=1, max_depth=5)
    one, two, other = (
        cf.decompose_error_rates(people, model, "tpr", comparison_model=forest, seed=seed)
        for seed in (4, 4, 5)
    )
    assert one.comparison_model == "RandomForestClassifier without m"
    assert one.total.value == two.total.value != other.total.value  # draws follow from the seed
    assert not hasattr(forest, "estimators_")
    assert forest.random_state is None
    plain = cf.decompose_error_rates(
        people, MODEL, "tpr", comparison_model=DecisionTreeClassifier(max_depth=2)
    )
    assert gap_between_sum_and_total(plain) < 1e-12


def test_the_comparison_model_sees_labels_numbers_and_gaps_alike_wherever_it_is_asked():
    """Encoded on all rows, asked about some: labels that these lack must not shift columns."""
    rng = np.random.default_rng(12)
    people = draw(listens_to_all, 2_000, seed=12)
    place = np.where(people.y == 0, rng.choice(list("xy"), 2_000), rng.choice(list("wxyz"), 2_000))
    age = np.where(rng.random(2_000) < 0.1, np.nan, rng.normal(40 + 5 * people.y, 10))
    people = people.assign(place=place, age=age)
    model = replace(MODEL, confounders=["c", "place", "age"])
    found = cf.decompose_error_rates(people, model, "fpr", missing="category")
    blank, filled = people.age.isna(), people.age.fillna(people.age.mean())
    design = np.column_stack(
        [people.a, people.c, *(people.place == label for label in "wxyz"), filled, blank]
    ).astype(float)
    design = (design - design.mean(axis=0)) / design.std(axis=0)
    decided = LogisticRegression().fit(design, people.y).predict(design)
    rates = [decided[(people.y == 0) & (people.a == a)].mean() for a in (0, 1)]
    assert found.total.value == pytest.approx(rates[1] - rates[0], abs=1e-12)
    assert found.diagnostics.rows.missing == {"age": int(blank.sum())}


@pytest.mark.parametrize(
    ("classifier", "words"),
    [
        (LinearRegression(), "must decide between yes and no"),
        (LogisticRegression, "unfitted scikit-learn model"),
        ("logit", "unfitted scikit-learn model"),
    ],
)
def test_a_comparison_model_that_cannot_decide_is_refused(classifier, words):
    with pytest.raises(LearnerError, match=words):
        cf.decompose_error_rates(
            draw(listens_to_all, 300, seed=13), MODEL, "fpr", comparison_model=classifier
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"with_mediators": True}, "never needed with_mediators=True; leave it out"),
        ({"rate": "ppv"}, "never needed for rate='ppv'; leave it out"),
    ],
)
def test_a_comparison_model_that_nobody_needs_is_refused(options, words):
    people = draw(listens_to_all, 300, seed=13)
    with pytest.raises(RoleError, match=words):
        cf.decompose_error_rates(people, MODEL, comparison_model=LogisticRegression(), **options)


def test_a_comparison_model_that_tells_nobody_apart_is_said_so():
    people = draw(listens_to_all, 1_000, seed=14)
    with pytest.raises(ConstantPredictionError) as caught:
        cf.decompose_error_rates(
            people, MODEL, "fpr", comparison_model=DummyClassifier(strategy="most_frequent")
        )
    said = str(caught.value)
    assert "the comparison model, DummyClassifier without m, is the same for everyone" in said
    assert "The audited model uses m" in said
    assert "with_mediators=True" in said


def test_a_model_that_ignores_its_mediators_is_not_replaced():
    people = draw(deaf_to_the_mediator, 1_000, seed=15)
    model = replace(MODEL, prediction=predicting(deaf_to_the_mediator))  # reads m, and forgets it
    found = cf.decompose_error_rates(people, model, "fpr", comparison_model=LogisticRegression())
    assert found.comparison_model is None
    assert found.audited.value == found.total.value
    assert (found.indirect.value, found.indirect.standard_error) == (0.0, 0.0)
    note = found.diagnostics.notes[0]
    assert "does not use m: none of 1,000 decisions changes when the mediators" in note
    assert note.endswith("(the comparison model was not needed)")
    alone = cf.decompose_error_rates(
        people, replace(ALONE, prediction=lambda d: np.asarray(d["a"] != d["c"])), "fpr"
    )
    assert found.direct.value == pytest.approx(alone.direct.value, abs=1e-12)
    column = cf.decompose_error_rates(people, MODEL, "fpr")
    assert column.comparison_model is None
    assert "decided about alike, whatever mediators" in column.diagnostics.notes[0]
    assert column.direct.value == pytest.approx(alone.direct.value, abs=1e-12)


def test_a_column_that_cannot_be_judged_counts_as_using_the_mediators():
    people = draw(deaf_to_the_mediator, 600, seed=16)
    people = people.assign(age=np.random.default_rng(16).normal(size=600))
    model = replace(MODEL, confounders=["c", "age"])
    found = cf.decompose_error_rates(people, model, "fpr")
    assert found.comparison_model == "LogisticRegression without m"
    assert "only 0% of people share group and confounders" in found.diagnostics.notes[0]
    known = replace(model, prediction=predicting(deaf_to_the_mediator))
    assert cf.decompose_error_rates(people, known, "fpr").comparison_model is None


def test_a_fitted_classifier_is_asked_by_its_columns_even_where_it_ignores_one():
    people = draw(deaf_to_the_mediator, 2_000, seed=17)
    people = people.assign(yhat=(people.a + people.c >= 1).astype(int))
    fitted = LogisticRegression(C=1e6).fit(people[["m", "c", "a"]], people.yhat)
    fitted.coef_[0, 0] = 0.0
    model = replace(MODEL, prediction=fitted.predict)
    found = cf.decompose_error_rates(people, model, "fpr")
    assert found.comparison_model is None
    expected = cf.decompose_error_rates(people, MODEL, "fpr")
    assert found.total.value == pytest.approx(expected.total.value, abs=1e-12)
    assert found.diagnostics.estimator.startswith("KnownModel(LinearClassifierMixin.predict")


def test_a_known_model_given_as_estimator_stands_for_the_column():
    people = draw(deaf_to_the_mediator, 1_000, seed=18)
    found = cf.decompose_error_rates(
        people, MODEL, "fpr", estimator=KnownModel(predicting(deaf_to_the_mediator))
    )
    assert found.comparison_model is None
    assert "dealt out anew" in found.diagnostics.notes[0]
    with pytest.raises(PredictorError, match="'yhat' differs from the model's own values"):
        cf.decompose_error_rates(
            people,
            MODEL,
            "fpr",
            with_mediators=True,
            estimator=KnownModel(predicting(listens_to_all)),
        )
    replaced = cf.decompose_error_rates(
        draw(listens_to_all, 1_000, seed=18),
        MODEL,
        "fpr",
        estimator=KnownModel(predicting(listens_to_all), folds=3),
    )
    assert replaced.diagnostics.estimator == "KnownModel(LogisticRegression, folds=3, repeats=1)"


# --- labels, groups, forms -----------------------------------------------------------------------

CODES = {
    "booleans": (lambda s: s.astype(bool), lambda s: s.astype(bool), None),
    "booleans of which True counts": (lambda s: s.astype(bool), lambda s: s.astype(bool), True),
    "words": (lambda s: s.map({0: "no", 1: "yes"}), lambda s: s.map({0: "no", 1: "yes"}), "yes"),
    "words and 0/1": (lambda s: s.map({0: "no", 1: "yes"}), lambda s: s, "yes"),
    "numbers of classes": (lambda s: s.map({0: 1, 1: 2}), lambda s: s.map({0: 1, 1: 2}), 2),
    "categories": (
        lambda s: pd.Categorical(s.map({0: "low", 1: "high"}), ["none", "low", "high"]),
        lambda s: s.map({0: "low", 1: "high"}),
        "high",
    ),
}


@pytest.mark.parametrize("case", CODES)
@pytest.mark.parametrize("rate", ["fpr", "fnr", "npv"])
def test_answers_may_be_coded_in_any_clear_way(case, rate):
    people = draw(deaf_to_the_group, 1_500, seed=21)
    outcome, prediction, value = CODES[case]
    coded = people.assign(y=outcome(people.y), yhat=prediction(people.yhat))
    model = replace(MODEL, outcome_value=value)
    found = cf.decompose_error_rates(coded, model, rate, with_mediators=True, estimator=Strata())
    expected = cf.decompose_error_rates(
        people, MODEL, rate, with_mediators=True, estimator=Strata()
    )
    same_answer(found, expected)


def test_one_class_of_several_is_set_against_all_others():
    people = draw(deaf_to_the_group, 2_000, seed=22)
    rng = np.random.default_rng(22)
    other = np.array(["b", "c"])[rng.integers(0, 2, (2, 2_000))]
    coded = people.assign(
        y=np.where(people.y == 1, "a", other[0]), yhat=np.where(people.yhat == 1, "a", other[1])
    )
    model = replace(MODEL, outcome_value="a")
    expected = by_route("counted", people, "fpr")
    found = cf.decompose_error_rates(coded, model, "fpr", with_mediators=True)
    same_answer(found, expected)
    assert found.what == "false positive rate of yhat = a among y other than a"
    numbers = {"a": 3, "b": 0, "c": 1}
    coded = coded.assign(y=coded.y.map(numbers), yhat=coded.yhat.map(numbers))
    model = replace(MODEL, outcome_value=3)
    same_answer(cf.decompose_error_rates(coded, model, "fpr", with_mediators=True), expected)


def test_a_model_may_answer_in_words():
    people = draw(deaf_to_the_mediator, 1_000, seed=23).assign(
        y=lambda d: d.y.map({0: "stays", 1: "leaves"})
    )

    def predict(frame):
        return np.where(np.asarray(frame["a"] != frame["c"]), "leaves", "stays")

    model = replace(ALONE, outcome_value="leaves", prediction=predict)
    found = cf.decompose_error_rates(people, model, "tpr")
    plain = people.assign(y=(people.y == "leaves").astype(int))
    model = replace(ALONE, prediction=lambda d: np.asarray(d["a"] != d["c"]))
    same_answer(found, cf.decompose_error_rates(plain, model, "tpr"))
    assert found.diagnostics.estimator.startswith(
        "KnownModel(test_a_model_may_answer_in_words.<locals>.predict"
    )


def test_every_form_of_data_gives_the_same_answer(tmp_path):
    people = draw(deaf_to_the_group, 1_200, seed=24)
    coded = people.assign(
        a=people.a.map({0: "blue", 1: "green"}),
        y=people.y.map({0: "no", 1: "yes"}),
        yhat=people.yhat.map({0: "no", 1: "yes"}),
    )
    strangers = coded.iloc[:40].assign(a="red")
    table = pa.Table.from_pandas(pd.concat([coded, strangers]), preserve_index=False)
    model = replace(MODEL, reference="blue", comparison="green", outcome_value="yes")
    for rate in ("fnr", "ppv"):
        expected = cf.decompose_error_rates(table, model, rate, with_mediators=True)
        assert expected.diagnostics.rows.read == 1_240
        for name, data in every_form(table, tmp_path / rate).items():
            found = cf.decompose_error_rates(data, model, rate, with_mediators=True)
            assert found.total.basis == expected.total.basis, name
            same_answer(found, expected)
            assert str(found.diagnostics) == str(expected.diagnostics), name


def test_a_model_is_asked_in_any_library_about_the_two_groups_only():
    people = draw(listens_to_all, 600, seed=25)
    people = pd.concat([people, people.iloc[:50].assign(a=2)]).sample(frac=1.0, random_state=0)

    def predict(frame):
        group = np.asarray(frame["a"])
        assert {*group} <= {0, 1}
        return predicting(listens_to_all)(frame)

    model = replace(MODEL, prediction=predict)
    expected = cf.decompose_error_rates(people, model, "fpr")  # the index is not in order
    assert expected.audited.value != 0
    pair = people[(people.a < 2) & (people.y == 0)]
    rates = pair.groupby("a").yhat.mean()
    assert expected.audited.value == pytest.approx(rates[1] - rates[0], abs=1e-12)
    account = expected.diagnostics.rows
    assert account.read == 650
    assert account.outside == int(((people.a == 2) & (people.y == 0)).sum())
    assert account.aside == {"y other than 0": int((people.y == 1).sum())}
    assert account.dropped == {}
    for name, data in in_memory_and_lazy(people.reset_index(drop=True)).items():
        found = cf.decompose_error_rates(data, model, "fpr")
        same_answer(found, expected)
        assert found.audited.value == pytest.approx(expected.audited.value, abs=1e-12), name
    for rate in ("ppv", "npv"):  # nobody was asked what is decided about the others
        assert cf.decompose_error_rates(people, model, rate).diagnostics.rows.outside == 50


def test_intersectional_groups():
    people = draw(listens_to_all, 4_000, seed=26)
    people = people.assign(sex=np.random.default_rng(26).choice(["F", "M"], 4_000))
    pairs = {"protected": ["a", "sex"], "reference": (0, "M"), "comparison": (1, "F")}
    model = replace(MODEL, **pairs)
    alone = people[
        ((people.a == 0) & (people.sex == "M")) | ((people.a == 1) & (people.sex == "F"))
    ]
    for options in ({"with_mediators": True, "estimator": Strata()}, {}):
        found = cf.decompose_error_rates(people, model, "fpr", **options)
        expected = cf.decompose_error_rates(alone, MODEL, "fpr", **options)
        assert (found.reference, found.comparison) == ("0, M", "1, F")
        assert found.comparison_model == expected.comparison_model
        for part in PARTS:
            assert getattr(found, part).value == pytest.approx(
                getattr(expected, part).value, abs=1e-12
            )


def test_a_pooled_group_can_be_counted_but_not_told_to_a_model():
    people = draw(listens_to_all, 2_000, seed=27)
    people = people.assign(a=np.where(people.index % 3 == 0, 2 * people.a, people.a))
    model = replace(MODEL, reference=0, comparison=None)
    found = cf.decompose_error_rates(people, model, "fpr", with_mediators=True, estimator=Strata())
    assert gap_between_sum_and_total(found) < 1e-12
    with pytest.raises(PredictorError, match="comparison group pools several values of 'a'"):
        cf.decompose_error_rates(people, model, "fpr")


def test_rows_with_missing_values_are_dropped_and_counted_or_refused():
    people = draw(listens_to_all, 1_000, seed=28).astype({"y": float, "yhat": float})
    people.loc[::50, "y"] = np.nan
    people.loc[1::50, "yhat"] = np.nan
    for name, data in in_memory_and_lazy(people).items():
        for policy, words in (("refuse", "missing values in"), ("category", "missing values")):
            with pytest.raises(MissingValuesError, match=words):
                cf.decompose_error_rates(data, MODEL, "fpr", missing=policy)
        for estimator in (Strata(), ROUTES["learned"][1]):
            found = cf.decompose_error_rates(
                data, MODEL, "fpr", with_mediators=True, missing="drop", estimator=estimator
            )
            known = people.dropna()
            account = found.diagnostics.rows
            assert account.used == int((known.y == 0).sum()), name
            assert sum(account.dropped.values()) == 40
            assert account.missing == {"y": 20, "yhat": 20}
            assert account.aside == {"y other than 0": int((known.y == 1).sum())}
            rates = known[known.y == 0].groupby("a").yhat.mean()
            assert found.total.value == pytest.approx(rates[1] - rates[0], abs=1e-12)


def test_people_without_mediators_are_not_asked_about():
    people = draw(listens_to_all, 1_000, seed=29).astype({"m": float})
    people.loc[::10, "m"] = np.nan
    model = replace(MODEL, prediction=predicting(listens_to_all))
    found = cf.decompose_error_rates(people, model, "fpr", missing="drop")
    asked = people.dropna()[people.dropna().y == 0]
    rates = asked.groupby("a").yhat.mean()
    assert found.audited.value == pytest.approx(rates[1] - rates[0], abs=1e-12)
