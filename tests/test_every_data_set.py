"""On every bundled data set, do the parts add up to the raw gap, whoever estimates them?"""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import causalfairness as cf
from causalfairness.estimators import DoublyRobust, KnownModel, Strata
from judging import gap_between_sum_and_total

QUESTIONS = {
    "adult": (
        cf.datasets.load_adult,
        {
            "protected": "sex",
            "reference": "Male",
            "comparison": "Female",
            "confounders": ["age", "race"],
            "mediators": ["education_num", "hours_per_week"],
            "outcome": "income",
            "outcome_value": ">50K",
        },
    ),
    "compas": (
        cf.datasets.load_compas,
        {
            "protected": "race",
            "reference": "Caucasian",
            "comparison": "African-American",
            "confounders": ["age", "sex"],
            "mediators": ["priors_count", "c_charge_degree"],
            "outcome": "two_year_recid",
        },
    ),
    "german_credit": (
        cf.datasets.load_german_credit,
        {
            "protected": "sex",
            "reference": "Male",
            "comparison": "Female",
            "confounders": ["age"],
            "mediators": ["savings", "housing"],
            "outcome": "credit_risk",
            "outcome_value": "good",
        },
    ),
    "law_school": (
        cf.datasets.load_law_school,
        {
            "protected": "race",
            "reference": "White",
            "comparison": None,
            "confounders": ["sex"],
            "mediators": ["lsat", "ugpa"],
            "outcome": "zfya",
        },
    ),
}
GROUP = make_pipeline(StandardScaler(), LogisticRegression(C=10))


def score(frame):
    """A model of every column it is shown: words count by their length, numbers as they are."""
    total = np.zeros(len(frame))
    for name in frame.columns:
        values = frame[name]
        total += values.str.len() if values.dtype.kind not in "if" else values / values.max()
    return total


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_counting_and_models_close_on_the_outcome(name, convention):
    load, roles = QUESTIONS[name]
    data, model = load(frame="pandas"), cf.StandardFairnessModel(**roles)
    y = data[model.outcome]
    y = y if model.outcome_value is None else y == model.outcome_value
    reference = data[model.protected] == model.reference
    others = ~reference if model.comparison is None else data[model.protected] == model.comparison
    raw = y[others].mean() - y[reference].mean()
    for estimator in (
        Strata(empty_cells="restrict"),
        DoublyRobust(outcome=LinearRegression(), group=GROUP, folds=2),
    ):
        found = cf.decompose_disparity(data, model, estimator=estimator, convention=convention)
        assert found.total.value == pytest.approx(raw, abs=1e-12)
        assert gap_between_sum_and_total(found) < 1e-12


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_known_model_closes_on_its_prediction(name, convention):
    load, roles = QUESTIONS[name]
    comparison = roles["comparison"] or "Black"
    data = load(frame="pandas")
    model = cf.StandardFairnessModel(**(roles | {"comparison": comparison}))
    estimator = KnownModel(score, group=GROUP, nested=LinearRegression(), folds=2)
    found = cf.decompose_disparity(
        data, model, of="prediction", estimator=estimator, convention=convention
    )
    seen = data[[*model.protected_columns, *model.confounders, *model.mediators]]
    used = seen[seen[model.protected].isin([model.reference, model.comparison])]
    predicted, group = score(used), used[model.protected]
    raw = predicted[group == model.comparison].mean() - predicted[group == model.reference].mean()
    assert found.total.value == pytest.approx(raw, abs=1e-12)
    assert gap_between_sum_and_total(found) < 1e-12
