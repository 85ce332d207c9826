"""The audited model itself: nothing to learn about the outcome, and no way to misuse it."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.errors import LearnerError, OutcomeError, PredictorError
from causalfairness.estimators import DoublyRobust, KnownModel
from judging import gap_between_sum_and_total

WORLD = cf.datasets.worlds.linear_gaussian()
C1, M1 = WORLD.model.confounders[0], WORLD.model.mediators[0]
LEARNERS = {"group": LogisticRegression(C=1e6), "nested": LinearRegression()}


def score(frame):
    """A model that uses group, mediator and confounder, with an interaction."""
    group = np.asarray(frame["group"]) == WORLD.model.comparison
    m, c = np.asarray(frame[M1], dtype=float), np.asarray(frame[C1], dtype=float)
    return 0.4 * group + (1 + 0.5 * group) * m - 0.3 * c


def true_means(n=400_000):
    """World means of `score`, from the world's own counterfactuals."""
    told = {}
    factual, other = WORLD.draw_with_counterfactuals(n, seed=99)
    group = np.asarray(factual["group"]) == WORLD.model.comparison
    mediator = {}
    for j in (0, 1):
        own = group == bool(j)
        mediator[j] = np.where(own, np.asarray(factual[M1]), np.asarray(other[M1]))
    labels = np.array([WORLD.model.reference, WORLD.model.comparison])
    for i in (0, 1):
        for j in (0, 1):
            frame = {"group": np.repeat(labels[i], n), M1: mediator[j], C1: factual[C1]}
            for k in (0, 1):
                told[i, j, k] = score(frame)[group == bool(k)]
    return {
        world: (values.mean(), values.std() / np.sqrt(len(values)))
        for world, values in told.items()
    }


@pytest.mark.parametrize(
    "blind", [{}, {"group": DummyClassifier()}, {"nested": DummyRegressor()}], ids=str
)
def test_all_means_meet_the_truth_with_one_learner_blinded(blind):
    data = WORLD.draw(20_000, seed=1)
    found, sighted = (
        cf.decompose_disparity(
            data, WORLD.model, of="prediction", estimator=KnownModel(score, **(LEARNERS | how))
        )
        for how in (blind, {})
    )
    for world, (expected, error) in true_means().items():
        mean = found.world_means[world]
        full = max(mean.standard_error, sighted.world_means[world].standard_error)
        assert abs(mean.value - expected) < 4 * np.hypot(full, error), world


def test_the_direct_part_is_a_plain_average_of_the_model():
    data = WORLD.draw(2_000, seed=2)
    found = cf.decompose_disparity(
        data, WORLD.model, of="prediction", estimator=KnownModel(score, **LEARNERS)
    )
    reference = np.asarray(data["group"]) == WORLD.model.reference
    m = np.asarray(data[M1])[reference]
    shift = 0.4 + 0.5 * m
    assert found.direct.value == pytest.approx(shift.mean(), abs=1e-12)
    assert found.direct.standard_error == pytest.approx(shift.std() / np.sqrt(len(m)), rel=1e-9)
    assert gap_between_sum_and_total(found) < 1e-12


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_the_model_is_given_the_library_and_the_columns_of_the_data(frame):
    seen = []

    def spy(features):
        seen.append(features)
        return score(features)

    data = WORLD.draw(300, seed=3, frame=frame)
    cf.decompose_disparity(
        data, WORLD.model, of="prediction", estimator=KnownModel(spy, **LEARNERS)
    )
    assert all(type(features) is type(data) for features in seen)
    columns = seen[0].column_names if frame == "pyarrow" else list(seen[0].columns)
    assert set(columns) == {"group", *WORLD.model.confounders, *WORLD.model.mediators}
    told = [set(np.asarray(features["group"])) for features in seen]  # more than once, for order
    assert [group for group, _ in groupby(told)] == [
        {WORLD.model.reference},
        {WORLD.model.comparison},
    ]


def test_a_prediction_that_comes_with_its_model_chooses_it_and_says_so():
    model = replace(WORLD.model, prediction=score)
    found = cf.decompose_disparity(WORLD.draw(400, seed=4), model, of="prediction")
    assert found.diagnostics.estimator.startswith("KnownModel(score")
    assert "comes with its model" in str(found.diagnostics)


def test_a_fitted_pipeline_that_uses_a_column_without_a_role_is_refused_by_name():
    data = WORLD.draw(200, seed=5, frame="pandas").assign(postcode=1.0)
    fitted = LinearRegression().fit(data[[M1, "postcode"]], data["y"])
    with pytest.raises(PredictorError, match="uses 'postcode', which have no role"):
        cf.decompose_disparity(
            data, WORLD.model, of="prediction", estimator=KnownModel(fitted.predict)
        )


def test_a_column_that_the_model_did_not_make_is_refused():
    data = WORLD.draw(400, seed=6)
    data = data.append_column("flag", pa.array((score(data) > 0).astype(float)))
    model = replace(WORLD.model, prediction="flag")
    with pytest.raises(
        PredictorError, match="'flag' differs from the model's own values in 400 of"
    ):
        cf.decompose_disparity(data, model, of="prediction", estimator=KnownModel(score))


def test_a_learned_and_a_known_model_agree():
    data = WORLD.draw(4_000, seed=7)
    data = data.append_column("score", pa.array(score(data)))
    model = replace(WORLD.model, prediction="score")
    known, learned = (
        cf.decompose_disparity(data, model, of="prediction", estimator=estimator)
        for estimator in (
            KnownModel(score, **LEARNERS),
            DoublyRobust(outcome=LinearRegression(), group=LogisticRegression(C=1e6)),
        )
    )
    for part in ("total", "direct", "indirect", "spurious"):
        one, other = getattr(known, part), getattr(learned, part)
        assert abs((one - other).value) < 0.1 * one.standard_error + 1e-9, part


@pytest.mark.parametrize(
    ("predict", "error", "words"),
    [
        (lambda frame: [0.5] * len(frame), OutcomeError, "predicts 0.5 for everyone"),
        (lambda frame: [0.5], PredictorError, "1 values for 400 rows; expected one per row"),
        (
            lambda frame: ["high"] * len(frame),
            PredictorError,
            "returned 'high'; expected one number",
        ),
        (lambda frame: [np.nan] * len(frame), PredictorError, "400 of them not finite"),
        (lambda frame: frame["postcode"], PredictorError, "postcode.*columns with a role"),
    ],
)
def test_a_model_that_gives_no_usable_numbers_is_refused(predict, error, words):
    with pytest.raises(error, match=words):
        cf.decompose_disparity(
            WORLD.draw(400, seed=8), WORLD.model, of="prediction", estimator=KnownModel(predict)
        )


def test_a_pooled_group_cannot_be_told_to_a_model():
    compas = cf.datasets.load_compas()
    model = cf.StandardFairnessModel(
        protected="race", reference="Caucasian", comparison=None, outcome="is_recid"
    )
    with pytest.raises(PredictorError, match="comparison group pools several values of 'race'"):
        cf.decompose_disparity(
            compas, model, of="prediction", estimator=KnownModel(lambda f: np.arange(len(f)))
        )


def test_questions_about_the_outcome_are_not_for_a_known_model():
    with pytest.raises(PredictorError, match="of='prediction'"):
        cf.decompose_disparity(WORLD.draw(50, seed=9), WORLD.model, estimator=KnownModel(score))


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(PredictorError, match=r"classifier\.predict; found LinearRegression"):
        KnownModel(LinearRegression())
    with pytest.raises(LearnerError, match="found 'logit'"):
        KnownModel(score, group="logit")


@pytest.mark.parametrize("distance", [0.0, 6.0])
def test_without_mediators_the_answer_is_exact_and_needs_no_overlap(distance):
    rng = np.random.default_rng(10)
    group = rng.integers(0, 2, 800)
    c = rng.normal(size=800) + distance * group
    table = pa.table({"group": group, "c": c})

    def model_of(frame):
        told, at = np.asarray(frame["group"]), np.asarray(frame["c"])
        return np.tanh(3 * at) * (1 + told)

    roles = cf.StandardFairnessModel(
        protected="group", reference=0, comparison=1, confounders=["c"], prediction=model_of
    )
    found = cf.decompose_disparity(table, roles, of="prediction")
    shift = np.tanh(3 * c[group == 0])
    assert found.direct.value == pytest.approx(shift.mean(), abs=1e-12)
    expected = shift.std() / np.sqrt(len(shift))
    assert found.direct.standard_error == pytest.approx(expected, rel=1e-9)
    assert found.indirect.value == 0
    assert gap_between_sum_and_total(found) < 1e-12
    assert found.diagnostics.learners == ()


def test_a_fitted_model_gets_its_own_columns_in_its_own_order():
    data = WORLD.draw(300, seed=11, frame="pandas")
    fitted = LinearRegression().fit(data[[M1, C1]], data["y"])  # no group, another order
    found = cf.decompose_disparity(
        data, WORLD.model, of="prediction", estimator=KnownModel(fitted.predict, **LEARNERS)
    )
    predicted = fitted.predict(data[[M1, C1]])
    green = (data["group"] == WORLD.model.comparison).to_numpy()
    raw = predicted[green].mean() - predicted[~green].mean()
    assert found.total.value == pytest.approx(raw, abs=1e-12)
    assert found.direct.value == pytest.approx(0, abs=1e-12)
