"""Models that are fitted hundreds of times: the same answers as scikit-learn's, only faster."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from causalfairness.errors import LearnerError
from causalfairness.estimators import refitting
from causalfairness.estimators.refitting import (
    PENALTY,
    Design,
    LearnerRefit,
    LinearRefit,
    LogisticRefit,
    caveats,
    design_of,
    logistic_refit,
)


def some(n=500, columns=3, seed=0):
    """Columns, a number and a yes or no that follow from them, and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    x[:, -1] = x[:, -1] > 0
    level = x @ np.arange(1, columns + 1) / columns
    yes = (rng.random(n) < 1 / (1 + np.exp(-level))).astype(float)
    return x, level + rng.normal(size=n), yes, rng.exponential(size=n)


def test_a_linear_refit_is_ridge_regression_on_its_own_rows():
    x, y, _, w = some()
    design, rows = design_of(x, 500), np.arange(0, 500, 2)
    ridge = Ridge(alpha=PENALTY, tol=1e-12).fit(
        design.columns[rows], y[rows], sample_weight=w[rows]
    )
    both = np.stack([y, y**2])
    found = LinearRefit(design, rows).predict(both, w)
    assert np.allclose(found[0], ridge.predict(design.columns), atol=1e-9)
    alone = LinearRefit(design, rows).predict(both[1:], w)
    assert np.allclose(found[1], alone[0], atol=1e-12)  # targets do not disturb each other


@pytest.mark.parametrize("n", [200, 5_000])
def test_a_logistic_refit_is_penalised_logistic_regression_wherever_it_starts(n):
    x, _, yes, w = some(n)
    design, rows = design_of(x, n, reach=3.0), np.arange(0, n, 2)
    engine = LogisticRegression(C=1 / PENALTY, solver="newton-cholesky", tol=1e-12)
    expected = engine.fit(design.columns[rows], yes[rows], sample_weight=w[rows])
    warm = logistic_refit(design, rows, yes, np.ones(n))
    cold = LogisticRefit(design, rows, np.zeros_like(warm.start))
    for model in (warm, cold):
        found = model.predict(yes[None], w)[0]
        assert np.allclose(found, expected.predict_proba(design.columns)[:, 1], atol=1e-8)
        assert abs(np.average(yes[rows] - found[rows], weights=w[rows])) < 1e-15


def test_columns_that_reveal_the_answer_leave_the_log_odds_finite():
    x = np.repeat([[0.0], [1.0]], 200, axis=0)
    yes = x[:, 0]
    model = logistic_refit(design_of(x, 200), np.arange(400), yes, np.ones(400))
    chance = model.predict(yes[None], np.ones(400))[0]
    assert 0 < chance.min() < 0.05
    assert 0.95 < chance.max() < 1


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_an_answer_that_never_varies_is_certain(answer):
    x, _, _, w = some()
    model = logistic_refit(design_of(x, 500), np.arange(100), np.full(500, answer), w)
    assert np.array_equal(model.predict(np.full((1, 500), answer), w)[0], np.full(500, answer))


def test_a_fit_that_does_not_settle_says_so(monkeypatch):
    monkeypatch.setattr(refitting, "MOST_STEPS", 1)
    x, _, yes, w = some()
    with pytest.raises(LearnerError, match="did not settle within 1 steps"):
        logistic_refit(design_of(x, 500), np.arange(500), yes, w)


def test_squares_and_products_stand_for_themselves():
    x, *_ = some(columns=3)
    design = design_of(x, 10_000)
    assert design.columns.shape[1] == 3 + 2 + 3 + 2 * 6  # the indicator is its own square
    assert design.kind == "linear with interactions and splines"
    products = np.column_stack([x[:, 0] * x[:, 1], x[:, 0] ** 2, x[:, 1] * x[:, 2]])
    ones = np.column_stack([np.ones(500), design.columns])
    for column in (*x.T, *products.T):
        fitted = ones @ np.linalg.lstsq(ones, column, rcond=None)[0]
        assert np.allclose(fitted, column, atol=1e-9)


def test_labels_of_one_column_are_not_multiplied_with_each_other():
    label = np.arange(400) % 4
    marks = (label[:, None] == np.arange(4)).astype(float)
    number = np.random.default_rng(0).normal(size=(400, 1))
    design = design_of(np.hstack([marks, number]), 10_000)
    splines = 6  # of the number; labels do not bend
    assert design.columns.shape[1] == 5 + 1 + 4 + splines  # a square, each label with the number


def test_columns_that_do_not_vary_are_left_out():
    x = np.column_stack([np.full(50, 0.1), np.arange(50.0), np.full(50, 1e9)])
    assert design_of(x, 1_000).columns.shape[1] == 1 + 1 + 5  # with its square and splines
    assert design_of(x[:, :1], 1_000).columns.shape == (50, 0)


def test_extreme_values_are_cut_where_asked():
    x = np.r_[np.zeros(999), 1e6][:, None]
    x[:500] = 1.0
    assert np.abs(design_of(x, 10, reach=3.0).columns).max() == 3.0
    assert np.abs(design_of(x, 10).columns).max() > 30


@pytest.mark.parametrize(
    ("columns", "rows", "kind"),
    [
        (3, 90, "linear with interactions"),
        (3, 89, "linear with squares"),
        (3, 59, "linear"),
        (18, 100_000, "linear with interactions"),  # 189 columns
        (19, 100_000, "linear with squares"),  # 209 would be too many
        (101, 100_000, "linear"),
    ],
)
def test_models_grow_with_the_rows_they_have(columns, rows, kind):
    x = np.random.default_rng(0).normal(size=(30, columns))
    assert design_of(x, rows).kind == kind


def test_too_few_rows_for_plain_columns_are_reported():
    x = np.random.default_rng(0).normal(size=(30, 3))
    enough, few = (LinearRefit(design_of(x, rows), np.arange(30)) for rows in (30, 29))
    assert caveats([enough]) == ()
    (said,) = caveats([enough, few])
    assert "fewer than 10 rows for each column" in said


@pytest.mark.parametrize(
    ("model", "name", "is_parametric"),
    [
        (LinearRegression(), "LinearRegression", True),
        (make_pipeline(StandardScaler(), LogisticRegression()), "LogisticRegression", True),
        (RandomForestClassifier(), "RandomForestClassifier", False),
        (make_pipeline(StandardScaler(), DecisionTreeRegressor()), "DecisionTreeRegressor", False),
    ],
)
def test_flexible_learners_are_told_from_linear_ones(model, name, is_parametric):
    refit = LearnerRefit(model, np.empty((0, 0)), np.arange(0))
    assert (refit.name, refit.is_parametric) == (name, is_parametric)
    told = " ".join(caveats([refit]))
    assert (f"standard errors with {name} are not valid in general" in told) != is_parametric
    assert ("DoublyRobust" in told) != is_parametric


def test_a_learner_is_fitted_to_its_own_rows_with_their_weights():
    x, y, _, w = some()
    rows = np.arange(0, 500, 3)
    found = LearnerRefit(LinearRegression(), x, rows).predict(y[None], w)[0]
    expected = LinearRegression().fit(x[rows], y[rows], sample_weight=w[rows])
    assert np.allclose(found, expected.predict(x), atol=1e-12)


def test_without_columns_a_model_is_the_weighted_mean():
    _, y, _, w = some()
    rows = np.arange(200)
    nothing = Design(np.empty((500, 0)), "plain mean")
    found = LinearRefit(nothing, rows).predict(y[None], w)[0]
    assert np.allclose(found, np.average(y[rows], weights=w[rows]), atol=1e-12)
