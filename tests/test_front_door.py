"""Does the one class give exactly what the functions give, for every way to bring the data?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import causalfairness as cf
from causalfairness.errors import (
    ColumnNotFoundError,
    OutcomeError,
    PredictorError,
    RoleError,
    SourceError,
)
from causalfairness.estimators import KnownModel, Strata
from judging import PARTS

ROLES = {
    "protected": "race",
    "reference": "Caucasian",
    "comparison": "African-American",
    "confounders": ["sex", "age_cat"],
    "mediators": ["c_charge_degree"],
}
FEATURES = ["race", "sex", "age_cat", "c_charge_degree"]


@pytest.fixture(scope="module")
def compas():
    data = cf.datasets.load_compas(frame="pandas")
    data = data[data["race"].isin(["African-American", "Caucasian"])]
    return data.assign(high=(data["decile_score"] > 4).astype(int))


@pytest.fixture(scope="module")
def classifier(compas):
    encoded = make_column_transformer((OneHotEncoder(), FEATURES))
    return make_pipeline(encoded, LogisticRegression()).fit(
        compas[FEATURES], compas["two_year_recid"]
    )


def values(found):
    return [getattr(found, part).value for part in PARTS]


@pytest.fixture(scope="module")
def plain(compas):
    model = cf.StandardFairnessModel(**ROLES, outcome="two_year_recid", prediction="high")
    return cf.decompose_disparity(compas, model, of="prediction")


def every_form(data):
    x, y, p = data[FEATURES], data["two_year_recid"], data["high"]
    yield "column names", (data, "two_year_recid", "high")
    yield "series", (x, y, p)
    yield "arrays", (x, y.to_numpy(), p.to_numpy())
    yield "lists", (x, y.tolist(), p.tolist())
    yield "columns of width one", (x, y.to_numpy()[:, None], data[["high"]])
    yield "polars", (pl.from_pandas(x), pl.Series(y.to_numpy()), pl.Series("p", p.to_numpy()))
    yield "pyarrow", (pa.Table.from_pandas(x, preserve_index=False), pa.array(y), p.to_numpy())


def test_every_form_of_the_data_gives_the_functions_answer(compas, plain):
    for name, (x, y, predicted) in every_form(compas):
        found = cf.CausalFairnessDecomposition(x, y, predicted, **ROLES)
        assert values(found.analyse_mean_difference()) == values(plain), name


def test_rows_of_a_frame_with_a_strange_index_stay_together(compas, plain):
    x = compas[FEATURES].set_index(np.arange(len(compas))[::-1] * 7)
    found = cf.CausalFairnessDecomposition(
        x, compas["two_year_recid"].to_numpy(), compas["high"].to_numpy(), **ROLES
    )
    assert values(found.analyse_mean_difference()) == values(plain)


def test_a_series_of_other_people_is_refused(compas):
    shuffled = compas["two_year_recid"].sample(frac=1, random_state=0)
    with pytest.raises(SourceError, match="outcome has another index than the data"):
        cf.CausalFairnessDecomposition(compas[FEATURES], shuffled, **ROLES)


def test_without_a_prediction_the_outcome_is_explained(compas):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", **ROLES)
    model = cf.StandardFairnessModel(**ROLES, outcome="two_year_recid")
    alone = cf.decompose_disparity(compas, model)
    assert values(found.analyse_mean_difference()) == values(alone)


def test_outcome_and_convention_can_be_asked_for(compas, plain):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", **ROLES)
    other = found.analyse_mean_difference(convention="symmetric")
    assert values(other) == values(replace(plain, convention="symmetric"))
    outcome = found.analyse_mean_difference(of="outcome")
    assert outcome.what == "two_year_recid"


def test_a_fitted_model_is_asked_and_not_estimated(compas, classifier):
    found = cf.CausalFairnessDecomposition(
        compas, "two_year_recid", predictor=classifier, **ROLES
    ).analyse_mean_difference()
    model = cf.StandardFairnessModel(**ROLES, outcome="two_year_recid")
    alone = cf.decompose_disparity(
        compas, model, of="prediction", estimator=KnownModel(classifier.predict)
    )
    assert values(found) == values(alone)
    assert found.diagnostics.estimator.startswith("KnownModel")


def test_a_fitted_model_of_labels_answers_for_the_label(compas):
    labels = np.where(compas["two_year_recid"] == 1, "yes", "no")
    encoded = make_column_transformer((OneHotEncoder(), FEATURES))
    fitted = make_pipeline(encoded, LogisticRegression()).fit(compas[FEATURES], labels)
    found = cf.CausalFairnessDecomposition(
        compas[FEATURES], labels, predictor=fitted, outcome_value="yes", **ROLES
    )
    plain = np.asarray(fitted.predict(compas[FEATURES]) == "yes", dtype=float)
    gap = plain[compas["race"] == "African-American"].mean()
    gap -= plain[compas["race"] == "Caucasian"].mean()
    assert found.analyse_mean_difference().total.value == pytest.approx(gap, abs=1e-12)


def test_a_column_that_is_not_the_models_is_refused(compas, classifier):
    found = cf.CausalFairnessDecomposition(
        compas, "two_year_recid", "high", predictor=classifier, **ROLES
    )
    with pytest.raises(PredictorError, match="'high' differs from the model's own values"):
        found.analyse_mean_difference()


def test_a_model_that_uses_columns_without_a_role_is_refused(compas, classifier):
    fewer = {**ROLES, "mediators": []}
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", predictor=classifier, **fewer)
    with pytest.raises(PredictorError, match="'c_charge_degree', which have no role"):
        found.analyse_mean_difference()


def test_a_graph_gives_the_roles(compas, plain):
    graph = cf.CausalGraph.parse(
        "race <-> sex; race <-> age_cat; {race, sex, age_cat} -> c_charge_degree;"
        "{race, sex, age_cat, c_charge_degree} -> two_year_recid"
    )
    groups = {name: ROLES[name] for name in ("protected", "reference", "comparison")}
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", graph=graph, **groups)
    assert values(found.analyse_mean_difference()) == pytest.approx(values(plain), abs=1e-12)
    with pytest.raises(RoleError, match="roles are given twice"):
        cf.CausalFairnessDecomposition(compas, "two_year_recid", graph=graph, **ROLES)
    with pytest.raises(RoleError, match="called 'outcome', which is not in the graph"):
        cf.CausalFairnessDecomposition(
            compas, compas["two_year_recid"].to_numpy(), graph=graph, **groups
        )


def test_error_rates_are_those_of_the_function(compas):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", **ROLES)
    model = cf.StandardFairnessModel(**ROLES, outcome="two_year_recid", prediction="high")
    odds = found.analyse_equalized_odds(rates=["fpr", "npv"], with_mediators=True)
    assert list(odds) == ["fpr", "npv"]
    for rate, each in odds.items():
        alone = cf.decompose_error_rates(compas, model, rate, with_mediators=True)
        assert values(each) == values(alone)
    with pytest.raises(ValueError, match=r"write \['fpr'\]"):
        found.analyse_equalized_odds(rates="fpr")


def test_error_rates_of_a_fitted_model_use_the_model(compas, classifier):
    fewer = FEATURES[:3]
    encoded = make_column_transformer((OneHotEncoder(), fewer))
    fitted = make_pipeline(encoded, LogisticRegression()).fit(
        compas[fewer], compas["two_year_recid"]
    )
    found = cf.CausalFairnessDecomposition(
        compas, "two_year_recid", predictor=fitted, **{**ROLES, "mediators": []}
    ).analyse_equalized_odds()
    predicted = fitted.predict(compas[fewer])
    innocent = compas["two_year_recid"] == 0
    rates = [
        predicted[innocent & (compas["race"] == race)].mean()
        for race in ("Caucasian", "African-American")
    ]
    assert found["fpr"].total.value == pytest.approx(rates[1] - rates[0], abs=1e-12)
    assert found["fpr"].indirect.value == 0


# --- regression -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def students():
    return cf.datasets.load_law_school(frame="pandas").sample(5_000, random_state=0)


LAW = {
    "protected": "race",
    "reference": "White",
    "comparison": "Black",
    "confounders": ["sex"],
    "mediators": ["ugpa", "lsat"],
    "task": "regression",
}


def test_a_regression_is_explained_and_has_no_error_rates(students):
    features = ["race", "sex", "ugpa", "lsat"]
    encoded = make_column_transformer((OneHotEncoder(), ["race", "sex"]), remainder="passthrough")
    fitted = make_pipeline(encoded, LinearRegression()).fit(students[features], students["zfya"])
    found = cf.CausalFairnessDecomposition(students, "zfya", predictor=fitted, **LAW)
    gap = found.analyse_mean_difference()
    slope = dict(zip(fitted[0].get_feature_names_out(), fitted[1].coef_, strict=True))
    direct = slope["onehotencoder__race_Black"] - slope["onehotencoder__race_White"]
    assert gap.direct.value == pytest.approx(direct, abs=1e-9)  # the model is linear
    with pytest.raises(OutcomeError, match="yes or no"):
        found.analyse_equalized_odds()
    assert "Who bears the errors?" not in str(found)


# --- intersections, the page, bad input -------------------------------------------------------

BOTH = {
    "protected": ["race", "sex"],
    "reference": ("Caucasian", "Male"),
    "comparison": ("African-American", "Female"),
    "confounders": ["age_cat"],
    "mediators": ["c_charge_degree"],
}


def test_intersections_are_those_of_the_function(compas):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", **BOTH)
    model = cf.StandardFairnessModel(**BOTH, outcome="two_year_recid", prediction="high")
    one = found.analyse_intersections()
    other = cf.compare_attributes(compas, model, of="prediction")
    assert list(one.by_attribute) == ["race", "sex", "race and sex"]
    for name in one.by_attribute:
        assert values(one.by_attribute[name]) == values(other.by_attribute[name])


def test_individuals_are_those_of_the_function(compas, classifier):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", predictor=classifier, **ROLES)
    graph = cf.CausalGraph.parse("race <-> {sex, age_cat}; {race, sex, age_cat} -> c_charge_degree")
    scm = cf.StructuralCausalModel.fit(graph, compas)
    exchanged = {"African-American": "Caucasian", "Caucasian": "African-American"}
    decide = classifier.predict  # shifts of decisions, as the mean difference has them
    alone = cf.counterfactual_fairness(decide, compas, scm, {"race": exchanged})
    one = found.analyse_counterfactual_fairness()
    assert one.shift.tolist() == alone.shift.tolist()
    told = found.analyse_counterfactual_fairness(scm=scm, do={"race": "Caucasian"})
    assert told["Caucasian"].shift.value == 0
    assert "And for whom?" in str(found)
    assert "would have been decided 0" in str(found)


def test_people_of_an_intersection_are_told_both_attributes(compas, classifier):
    found = cf.CausalFairnessDecomposition(
        compas, "two_year_recid", predictor=classifier, **BOTH
    ).analyse_counterfactual_fairness()
    changed = {group.name: group.changed for group in found}
    assert changed["African-American, Female"] == 549
    assert changed["Caucasian, Male"] == 1621
    assert changed["African-American, Male"] == changed["Caucasian, Female"] == 0


def test_only_the_model_itself_can_be_asked_about_individuals(compas):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", **ROLES)
    with pytest.raises(PredictorError, match="give it as predictor"):
        found.analyse_counterfactual_fairness()
    rest = {**ROLES, "comparison": None}
    found = cf.CausalFairnessDecomposition(
        compas, "two_year_recid", predictor=lambda people: np.ones(len(people)), **rest
    )
    with pytest.raises(RoleError, match="the other group must be a single one"):
        found.analyse_counterfactual_fairness()


def test_the_summary_is_one_page_in_plain_language(compas, capsys):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", **ROLES)
    found.summary()
    page = capsys.readouterr().out
    assert page.strip() == str(found).strip() == repr(found).strip()
    assert len(page.splitlines()) <= 66
    assert max(map(len, page.splitlines())) <= 100
    for words in ("Why does high differ?", "Who bears the errors?", "True only if", "Direct: "):
        assert words in page
    assert "false positive rate" in page.lower()
    assert "fair" not in page.replace("CausalFairness", "").lower()


def test_the_summary_of_an_intersection_shows_single_attributes(compas):
    page = str(cf.CausalFairnessDecomposition(compas, "two_year_recid", "high", **BOTH))
    assert "One attribute at a time" in page
    assert "race and sex" in page


def test_a_question_without_an_answer_says_why_and_leaves_the_others(compas):
    everyone = np.ones(len(compas), dtype=int)
    everyone[compas["two_year_recid"] == 1] = 0
    found = cf.CausalFairnessDecomposition(compas, "two_year_recid", everyone, **ROLES)
    assert "No answer: " in str(found)
    assert "Why does prediction differ?" in str(found)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": None, "y_pred": None}, RoleError, "nothing to explain"),
        ({"task": "ranking"}, ValueError, "task must be"),
        ({"y": [0, 1]}, SourceError, "outcome holds 2 values; expected one for each"),
        ({"y_pred": 1}, SourceError, "the single value 1"),
        ({"y_pred": np.zeros((5278, 2))}, SourceError, "2 columns; expected one value"),
        ({"predictor": LogisticRegression}, PredictorError, "the class LogisticRegression"),
        ({"predictor": 3}, PredictorError, "found int"),
    ],
)
def test_bad_input_is_refused_at_the_door(compas, change, error, message):
    with pytest.raises(error, match=message):
        cf.CausalFairnessDecomposition(
            compas, **{"y": "two_year_recid", "y_pred": "high", **ROLES, **change}
        )


def test_a_column_that_is_not_there_is_named(compas):
    found = cf.CausalFairnessDecomposition(compas, "two_year_recidd", **ROLES)
    with pytest.raises(ColumnNotFoundError, match="did you mean 'two_year_recid'"):
        found.analyse_mean_difference()


def test_files_are_read_by_column_names_only(compas, tmp_path, plain):
    path = tmp_path / "people.csv"
    compas[[*FEATURES, "two_year_recid", "high"]].to_csv(path, index=False)
    found = cf.CausalFairnessDecomposition(str(path), "two_year_recid", "high", **ROLES)
    assert values(found.analyse_mean_difference()) == values(plain)
    with pytest.raises(SourceError, match="name a column of the data instead"):
        cf.CausalFairnessDecomposition(
            str(path), "two_year_recid", compas["high"].to_numpy(), **ROLES
        )


def test_settings_reach_the_functions(compas):
    found = cf.CausalFairnessDecomposition(
        compas, "two_year_recid", "high", **ROLES, estimator=Strata(smoothing=2)
    )
    assert "smoothing=2" in found.analyse_mean_difference().diagnostics.estimator
    assert isinstance(found.data, pd.DataFrame)
