"""Table 2 of the library paper: what was printed, and what the same data says when done right.

Numbers cite `paper_000_table2` of the reference file. "Zero fill" replicates the paper; the known
model fills empty cells with the audited classifier's own values (methods §2.1 item 1).
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

import causalfairness as cf
from causalfairness.errors import EmptyCellsError
from causalfairness.estimators import KnownModel, Strata
from judging import gap_between_sum_and_total

TOLERANCE = 0.002
PARTS = ("total", "direct", "indirect", "spurious")


class Classifier:
    """The paper's auditee: a default logistic regression on race, sex, age and priors."""

    def __init__(self, data):
        self.fitted = LogisticRegression(max_iter=1_000).fit(self.encode(data), data["is_recid"])

    @staticmethod
    def encode(data):
        return np.column_stack(
            [
                data["race"] == "African-American",
                data["sex"] == "Male",
                data["age"],
                data["priors_count"],
            ]
        ).astype(float)

    def __call__(self, data):
        return self.fitted.predict(self.encode(data)).astype(float)


@pytest.fixture(scope="module")
def compas():
    data = cf.datasets.load_compas(propublica_filter=True, frame="pandas")
    data = data[data["race"].isin(["African-American", "Caucasian"])]
    assert len(data) == 5278
    assert (data["race"] == "African-American").sum() == 3175
    return data.assign(predicted=Classifier(data)(data))


RACE = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age", "sex"],
    mediators=["priors_count"],
    outcome="is_recid",
    prediction="predicted",
)
INTERSECTION = cf.StandardFairnessModel(
    protected=["race", "sex"],
    reference=("Caucasian", "Female"),
    comparison=("African-American", "Male"),
    confounders=["age"],
    mediators=["priors_count"],
    outcome="is_recid",
    prediction="predicted",
)


def symmetric(data, model, estimator):
    return cf.decompose_disparity(
        data, model, of="prediction", estimator=estimator, convention="symmetric"
    )


def values(found):
    return [getattr(found, part).value for part in PARTS]


@pytest.mark.parametrize(
    ("model", "printed", "outside"),
    [
        (RACE, (0.326, 0.154, 0.071, 0.101), 0.187),
        (INTERSECTION, (0.620, 0.513, 0.081, 0.027), 0.3275),
    ],
    ids=["race", "intersectional"],
)
def test_zero_fill_replicates_the_printed_compas_rows(compas, model, printed, outside):
    found = symmetric(compas, model, Strata(empty_cells="zero"))
    assert values(found) == pytest.approx(printed, abs=TOLERANCE)
    assert found.diagnostics.overlap.share_outside_support == pytest.approx(outside, abs=0.0005)
    assert any("wrong: for replication only" in note for note in found.diagnostics.notes)
    assert gap_between_sum_and_total(found) < 1e-12


@pytest.mark.parametrize(
    ("model", "measured"),
    [
        (RACE, (0.3257, 0.0747, 0.1498, 0.1012)),
        (INTERSECTION, (0.6203, 0.3814, 0.2123, 0.0266)),
    ],
    ids=["race", "intersectional"],
)
def test_the_models_own_values_reverse_the_conclusion(compas, model, measured):
    estimator = Strata(empty_cells=Classifier(compas), empty_strata="zero")
    found = symmetric(compas, model, estimator)
    assert values(found) == pytest.approx(measured, abs=0.00006)
    if model is RACE:
        assert found.direct.interval().high < found.indirect.interval().low


def test_the_default_refuses_and_names_the_cells(compas):
    with pytest.raises(EmptyCellsError, match=r"(?s)18\.7% of the rows.*age=20, sex=Male"):
        symmetric(compas, RACE, Strata())


def test_the_known_model_estimator_agrees_without_any_fill(compas):
    found = symmetric(compas, RACE, KnownModel(Classifier(compas)))
    assert found.total.value == pytest.approx(0.3257, abs=0.00006)
    assert found.direct.value == pytest.approx(0.0747, abs=TOLERANCE)
    assert found.indirect.value == pytest.approx(0.1498, abs=TOLERANCE)
    assert found.spurious.value == pytest.approx(0.1012, abs=TOLERANCE)


ADULT = {
    "gender": (
        {"protected": "sex", "reference": "Male", "comparison": "Female"},
        (-0.203, -0.165, -0.039, 0.0),
    ),
    "intersectional": (
        {
            "protected": ["race", "sex"],
            "reference": ("White", "Male"),
            "comparison": ("Black", "Female"),
        },
        (-0.221, -0.152, -0.069, 0.0),
    ),
}


@pytest.mark.parametrize("row", ADULT)
def test_zero_fill_replicates_the_printed_adult_rows(row):
    """The paper prints absolute values; signs here are comparison minus reference."""
    groups, printed = ADULT[row]
    data = cf.datasets.load_adult(frame="pandas").fillna({"occupation": "unknown"})
    labels = OneHotEncoder().fit_transform(data[["sex", "race", "occupation"]]).toarray()
    features = np.column_stack([labels, data[["education_num", "hours_per_week"]]])
    fit = LogisticRegression(max_iter=5_000).fit(features, data["income"] == ">50K")
    data = data.assign(predicted=fit.predict(features).astype(float))
    model = cf.StandardFairnessModel(
        **groups,
        mediators=["education_num", "occupation", "hours_per_week"],
        outcome="income",
        outcome_value=">50K",
        prediction="predicted",
    )
    found = symmetric(data, model, Strata(empty_cells="zero"))
    assert values(found) == pytest.approx(printed, abs=0.01)
    assert gap_between_sum_and_total(found) < 1e-12
