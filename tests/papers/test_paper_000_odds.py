"""Error rates in Table 2 of the library paper: COMPAS, and why Adult and law school have none.

Numbers cite `measured_without_mediators` of `paper_000_table2` in the reference file. The paper
prints absolute values for a reference of African-American defendants.
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import causalfairness as cf
from causalfairness.errors import ConstantPredictionError, OutcomeError
from causalfairness.estimators import Strata
from judging import gap_between_sum_and_total

TOLERANCE = 0.002
MEASURED = {  # gap, direct, spurious; the audited model's own gap
    "fpr": (-0.4108, -0.2974, -0.1133, -0.253),
    "fnr": (0.4279, 0.2657, 0.1622, 0.310),
}


def encode(people):
    """Race, sex, age and priors as numbers."""
    return np.column_stack(
        [
            people["race"] == "African-American",
            people["sex"] == "Male",
            people["age"],
            people["priors_count"],
        ]
    ).astype(float)


@pytest.fixture(scope="module")
def compas():
    data = cf.datasets.load_compas(propublica_filter=True, frame="pandas")
    data = data[data["race"].isin(["African-American", "Caucasian"])]
    assert len(data) == 5278
    return data


@pytest.fixture(scope="module")
def race(compas):
    """The paper's question, about its default logistic regression."""
    fitted = LogisticRegression(max_iter=1_000).fit(encode(compas), compas["is_recid"])
    return cf.StandardFairnessModel(
        protected="race",
        reference="African-American",
        comparison="Caucasian",
        confounders=["age", "sex"],
        mediators=["priors_count"],
        outcome="is_recid",
        prediction=lambda people: fitted.predict(encode(people)),
    )


@pytest.mark.parametrize("rate", MEASURED)
def test_the_refitted_model_gives_the_printed_parts(compas, race, rate):
    gap, direct, spurious, own = MEASURED[rate]
    found = cf.decompose_error_rates(compas, race, rate)
    assert found.comparison_model == "LogisticRegression without priors_count"
    assert found.total.value == pytest.approx(gap, abs=TOLERANCE)
    assert found.direct.value == pytest.approx(direct, abs=TOLERANCE)
    assert found.spurious.value == pytest.approx(spurious, abs=TOLERANCE)
    assert found.indirect.value == 0
    assert found.audited.value == pytest.approx(own, abs=TOLERANCE)
    assert gap_between_sum_and_total(found) < 1e-12
    assert str(found.diagnostics.rows).startswith("5,278 rows read, 2,6")


@pytest.mark.parametrize("rate", MEASURED)
def test_with_mediators_the_audited_model_itself_is_decomposed(compas, race, rate):
    found = cf.decompose_error_rates(compas, race, rate, with_mediators=True)
    assert found.comparison_model is None
    assert found.total.value == pytest.approx(MEASURED[rate][3], abs=TOLERANCE)
    assert gap_between_sum_and_total(found) < 1e-12
    people = compas[compas["is_recid"] == (rate == "fnr")]
    blamed = people[people["race"] == race.reference]
    told = [
        np.mean(race.prediction(blamed.assign(race=group)))
        for group in (race.reference, race.comparison)
    ]
    sign = -1 if rate == "fnr" else 1
    assert found.direct.value == pytest.approx(sign * (told[1] - told[0]), abs=1e-12)
    assert abs(found.direct.value) < abs(found.indirect.value)


@pytest.mark.parametrize("rate", ["ppv", "npv"])
def test_predictive_values_of_the_same_model(compas, race, rate):
    found = cf.decompose_error_rates(compas, race, rate)
    decided = race.prediction(compas)
    right = np.where(decided, compas["is_recid"], 1 - compas["is_recid"])
    shares = [
        right[(compas["race"] == group) & (decided == (rate == "ppv"))].mean()
        for group in (race.reference, race.comparison)
    ]
    assert found.total.value == pytest.approx(shares[1] - shares[0], abs=1e-12)
    assert gap_between_sum_and_total(found) < 1e-12


def test_without_its_mediators_the_model_of_adult_predicts_the_same_for_everyone():
    """The paper calls the decomposition uninformative; here it is refused with the reason."""
    data = cf.datasets.load_adult(frame="pandas").fillna({"occupation": "unknown"})
    model = cf.StandardFairnessModel(
        protected="sex",
        reference="Male",
        comparison="Female",
        mediators=["education_num", "occupation", "hours_per_week"],
        outcome="income",
        outcome_value=">50K",
        prediction="guess",
    )
    data = data.assign(guess=(data["education_num"] >= 13).astype(int))
    with pytest.raises(ConstantPredictionError) as caught:
        cf.decompose_error_rates(data, model, "fpr")
    said = str(caught.value)
    assert "LogisticRegression without education_num, occupation, hours_per_week" in said
    assert "never tells people apart has no error-rate gap to explain" in said
    found = cf.decompose_error_rates(
        data, model, "fpr", with_mediators=True, estimator=Strata(empty_cells="restrict")
    )
    assert gap_between_sum_and_total(found) < 1e-12


def test_grades_have_no_error_rates():
    model = cf.StandardFairnessModel(
        protected="race",
        reference="White",
        comparison="Black",
        mediators=["ugpa"],
        outcome="zfya",
        prediction="lsat",
    )
    with pytest.raises(OutcomeError, match=r"error rates need an outcome of yes or no.*'zfya'"):
        cf.decompose_error_rates(cf.datasets.load_law_school(), model)
