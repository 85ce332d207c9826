"""Are effects on outcome and prediction estimated together, so that their difference is honest?

The standard error of a difference is held against counting the difference itself, against the
bootstrap over rows, and against the doubly robust estimator with saturated models.
"""

from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import causalfairness as cf
from causalfairness.effects.contrasts import PARTS
from causalfairness.errors import (
    EmptyCellsError,
    MissingValuesError,
    MixedBasisError,
    PredictorError,
    RoleError,
)
from causalfairness.estimators import (
    DoublyRobust,
    KnownModel,
    Mixture,
    Regression,
    Strata,
    Structural,
    Weighting,
)
from causalfairness.estimators.joint import estimate_both
from causalfairness.tables import open_table

WORLD = cf.datasets.worlds.binary()
MODEL = replace(WORLD.model, prediction="p")
SEQUENTIAL = PARTS["sequential"]
LINE = LinearRegression()
LINEAR = {"outcome": LINE, "group": LogisticRegression(), "nested": LINE}


def people(n=3_000, seed=0, *, world=WORLD):
    """A world with a score that knows the outcome a little, and their difference."""
    data, rng = world.draw(n, seed=seed), np.random.default_rng(seed + 1)
    y, m = (np.asarray(data[name], dtype=float) for name in ("y", "m1"))
    group = np.asarray(data["group"]) == world.model.comparison
    score = 0.3 + 0.2 * m + 0.1 * group + 0.2 * y + 0.1 * rng.normal(size=n)
    weight = rng.integers(1, 4, n)
    extra = {"p": score, "d": score - y, "w": weight}
    for name, values in extra.items():
        data = data.append_column(name, pa.array(values))
    return data


DATA, SOME = people(), people(500)


def differences(both):
    """The prediction's minus the outcome's, part by part."""
    return {
        name: both.prediction.world_means.combine(part.terms, name)
        - both.outcome.world_means.combine(part.terms, name)
        for name, part in SEQUENTIAL.items()
    } | {"total": both.prediction.raw_gap - both.outcome.raw_gap}


def of_rows(effect):
    """The standard error without the people who are added."""
    return np.linalg.norm(effect.spread)


def alone(found):
    return {name: getattr(found, name) for name in (*SEQUENTIAL, "total")}


# Counting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize(
    "strata",
    [Strata(), Strata(smoothing=1.0), Strata(empty_cells="restrict")],
    ids=["plain", "smoothed", "restricted"],
)
def test_the_difference_is_that_of_the_difference_counted_itself(strata, weights):
    model = replace(MODEL, weights=weights)
    found = differences(estimate_both(open_table(DATA), model, strata))
    itself = replace(model, outcome="d", prediction=None)
    counted = alone(cf.decompose_disparity(DATA, itself, estimator=strata))
    for name, effect in found.items():
        assert effect.value == pytest.approx(counted[name].value, abs=1e-12), name
        assert of_rows(effect) == pytest.approx(of_rows(counted[name]), rel=1e-5), name
        # people are added to either measurement: no less than to their difference
        assert effect.standard_error >= counted[name].standard_error * (1 - 1e-5), name


def test_with_few_rows_per_cell_it_still_is():
    world = cf.datasets.worlds.sparse_cells()
    data = people(2_000, seed=3, world=world)
    model = replace(world.model, prediction="p")
    strata = Strata(empty_cells="restrict")
    found = differences(estimate_both(open_table(data), model, strata))
    itself = replace(model, outcome="d", prediction=None)
    counted = alone(cf.decompose_disparity(data, itself, estimator=strata))
    for name, effect in found.items():  # the spurious part meets two forms of small-cell variance
        within = 2e-2 if name == "spurious" else 1e-6
        assert of_rows(effect) / of_rows(counted[name]) == pytest.approx(1, abs=within), name


def test_each_effect_alone_is_what_it_is_without_the_other():
    both = estimate_both(open_table(DATA), MODEL, Strata())
    for of in ("outcome", "prediction"):
        single = cf.decompose_disparity(DATA, MODEL, of=of, estimator=Strata())
        for name, effect in alone(single).items():
            terms = SEQUENTIAL[name].terms if name in SEQUENTIAL else None
            estimate = getattr(both, of)
            joint = estimate.world_means.combine(terms, name) if terms else estimate.raw_gap
            assert joint.value == effect.value
            assert joint.standard_error == pytest.approx(effect.standard_error, rel=1e-6)


def test_one_coordinate_for_both_would_claim_too_much():
    """Outcome and prediction of a cell vary together, but not as one."""
    both = estimate_both(open_table(DATA), MODEL, Strata())
    found = differences(both)["direct"]
    errors = [
        estimate.world_means.combine(SEQUENTIAL["direct"].terms, "").standard_error
        for estimate in (both.outcome, both.prediction)
    ]
    assert found.standard_error > 1.05 * abs(errors[0] - errors[1])
    assert found.standard_error < 0.95 * np.hypot(*errors)


def test_it_is_the_spread_over_rows_drawn_anew():
    rng, strata, draws = np.random.default_rng(5), Strata(), 250
    data = people(1_500, seed=6)
    closed = differences(estimate_both(open_table(data), MODEL, strata))
    drawn = {name: [] for name in closed}
    for _ in range(draws):
        again = data.take(rng.integers(0, len(data), len(data)))
        for name, effect in differences(estimate_both(open_table(again), MODEL, strata)).items():
            drawn[name].append(effect.value)
    for name, effect in closed.items():  # an sd of 250 draws has a standard error of 4.5 %
        assert np.std(drawn[name]) / effect.standard_error == pytest.approx(1, abs=0.14), name


def test_it_is_the_doubly_robust_difference_with_saturated_models():
    data = people(6_000, seed=8)
    tree = {"outcome": DecisionTreeRegressor(), "group": DecisionTreeClassifier()}
    by_models = DoublyRobust(**tree, nested=DecisionTreeRegressor(), clip=1e9)
    rows = differences(estimate_both(open_table(data), MODEL, by_models))
    cells = differences(estimate_both(open_table(data), MODEL, Strata()))
    for name, effect in cells.items():  # cross-fitting leaves noise of second order, and counts it
        assert rows[name].standard_error == pytest.approx(effect.standard_error, rel=0.04), name
        assert abs(rows[name].value - effect.value) < 0.15 * effect.standard_error, name


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("values", [pa.float64(), pa.int64()], ids=["scores", "decisions"])
def test_counting_where_the_data_lives_gives_the_same(weights, values):
    decided = pa.array(np.asarray(DATA["p"]) > 0.5).cast(pa.int64())
    data = DATA if values == pa.float64() else DATA.set_column(5, "p", decided)
    assert data.column_names[5] == "p"
    model = replace(MODEL, weights=weights)
    here = estimate_both(open_table(data), model, Strata())
    relation = duckdb.from_arrow(data)
    for there in (relation, pl.from_arrow(data).lazy()):
        both = estimate_both(open_table(there), model, Strata())
        assert both.outcome.world_means.basis == here.outcome.world_means.basis
        for name, effect in differences(both).items():
            plain = differences(here)[name]
            assert effect.value == pytest.approx(plain.value, abs=1e-12)
            assert effect.standard_error == pytest.approx(plain.standard_error, rel=1e-9)


def test_two_other_measurements_are_another_basis():
    one = estimate_both(open_table(DATA), MODEL, Strata())
    other = estimate_both(open_table(DATA), replace(MODEL, prediction="d"), Strata())
    with pytest.raises(MixedBasisError, match="cannot subtract"):
        one.prediction.raw_gap - other.prediction.raw_gap


def test_replicates_are_refused_and_a_filling_model_fills_the_prediction_only():
    with pytest.raises(ValueError, match="replicates draw outcome and prediction apart"):
        estimate_both(open_table(DATA), MODEL, Strata(replicates=50))
    filling = Strata(empty_cells=lambda rows: np.full(len(rows), 0.4))
    estimate_both(open_table(DATA), MODEL, filling)  # no cell is empty
    group, m = np.asarray(DATA["group"]), np.asarray(DATA["m1"])
    one_sided = DATA.filter(pa.array(~((group == "green") & (m == 1))))
    with pytest.raises(EmptyCellsError, match="seen in one group only"):
        estimate_both(open_table(one_sided), MODEL, filling)


# Missing values ------------------------------------------------------------------------------


def with_gaps():
    y, p = (DATA[name].to_pylist() for name in ("y", "p"))
    y[:40] = [None] * 40
    p[30:100] = [None] * 70
    gaps = DATA.drop(["y", "p"]).append_column("y", pa.array(y)).append_column("p", pa.array(p))
    return gaps, DATA.slice(100)


@pytest.mark.parametrize("estimator", [Strata(), DoublyRobust(**LINEAR)], ids=["cells", "rows"])
@pytest.mark.parametrize("lazy", [False, True])
def test_both_use_the_rows_that_have_both(estimator, lazy):
    gaps, complete = with_gaps()
    data = duckdb.from_arrow(gaps) if lazy else gaps
    both = estimate_both(open_table(data, missing="drop"), MODEL, estimator)
    for estimate in (both.outcome, both.prediction):
        rows = estimate.diagnostics.rows
        assert (rows.read, rows.used, sum(rows.dropped.values())) == (3_000, 2_900, 100)
        assert rows.missing == {"y": 40, "p": 70}
    plain = differences(estimate_both(open_table(complete), MODEL, Strata()))
    assert differences(both)["total"].value == pytest.approx(plain["total"].value, abs=1e-12)
    with pytest.raises(MissingValuesError, match=r"'(y|p)': (40|70)"):
        estimate_both(open_table(data), MODEL, estimator)


# Models --------------------------------------------------------------------------------------


class Counting(LogisticRegression):
    """A model of the group that counts how often it is fitted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("repeats", [1, 3])
def test_doubly_robust_shares_folds_and_fits_the_group_once(repeats):
    settings = {**LINEAR, "group": Counting(), "repeats": repeats, "folds": 3}
    estimator = DoublyRobust(**settings)
    Counting.fits = 0
    both = estimate_both(open_table(DATA), MODEL, estimator, seed=4)
    assert Counting.fits == 2 * 3 * repeats  # P(A | C) and P(A | M, C), in every fold
    for of in ("outcome", "prediction"):
        single = cf.decompose_disparity(DATA, MODEL, of=of, estimator=estimator, seed=4)
        means = getattr(both, of).world_means
        assert np.array_equal(means.values, single.world_means.values)
        assert np.array_equal(means.spreads, single.world_means.spreads)
        assert len(getattr(both, of).diagnostics.learners) == len(single.diagnostics.learners)
    found = differences(both)["indirect"]
    assert found.spread.shape == (3_000 + (repeats if repeats > 1 else 0),)


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("named", [DoublyRobust, KnownModel])
def test_a_function_stands_beside_the_doubly_robust_outcome(named, repeats):
    def score(rows):
        return 0.2 + 0.3 * rows["m1"].to_numpy() + 0.1 * (np.asarray(rows["group"]) == "green")

    model = replace(MODEL, prediction=score)
    shared = {"group": LogisticRegression(), "nested": LinearRegression(), "repeats": repeats}
    estimator = (
        DoublyRobust(outcome=LinearRegression(), **shared)
        if named is DoublyRobust
        else KnownModel(score, **shared)
    )
    both = estimate_both(open_table(SOME), model, estimator)
    assert both.outcome.world_means.basis == both.prediction.world_means.basis
    known = cf.decompose_disparity(
        SOME, model, of="prediction", estimator=KnownModel(score, **shared)
    )
    assert np.array_equal(both.prediction.world_means.values, known.world_means.values)
    direct = both.prediction.world_means.combine(SEQUENTIAL["direct"].terms, "direct")
    assert direct.value == pytest.approx(0.1, abs=1e-12)
    assert differences(both)["direct"].standard_error > 0


def test_a_function_is_chosen_for_by_itself():
    model = replace(MODEL, prediction=lambda rows: 0.5 * rows["m1"].to_numpy())
    both = estimate_both(open_table(SOME), model)
    assert both.because == "the prediction comes with its model"
    assert both.outcome.diagnostics.estimator.startswith("DoublyRobust")
    assert both.prediction.diagnostics.estimator.startswith("KnownModel")
    assert differences(both)["total"].standard_error > 0
    with pytest.raises(PredictorError, match="the prediction is a model, not a column"):
        estimate_both(open_table(SOME), model, Strata())


@pytest.mark.parametrize(
    ("estimator", "world"),
    [
        (Regression(replicates=30), WORLD),
        (Weighting(replicates=30), WORLD),
        (Mixture(replicates=20, draws=64), cf.datasets.worlds.linear_gaussian()),
        (
            Structural(
                cf.CausalGraph.parse(
                    "{group, c1, c2} -> m1; {group, c1, c2, m1} -> y; {group, c1, c2, m1} -> p"
                ),
                replicates=20,
            ),
            WORLD,
        ),
    ],
    ids=["regression", "weighting", "mixture", "structural"],
)
def test_estimators_that_draw_share_their_draws(estimator, world):
    some, model = people(500, world=world), replace(world.model, prediction="p")
    found = differences(estimate_both(open_table(some), model, estimator))
    itself = replace(model, outcome="d", prediction=None, confounders=(), mediators=())
    gap = cf.decompose_disparity(some, itself, estimator=Strata()).total
    # 20 replicates give a standard error up to 16 %, of which three are allowed
    assert found["total"].standard_error / gap.standard_error == pytest.approx(1, abs=0.5)
    assert found["total"].value == pytest.approx(gap.value, abs=gap.standard_error)


def test_both_must_be_named():
    with pytest.raises(RoleError, match="the model names no prediction"):
        estimate_both(open_table(DATA), WORLD.model)
    with pytest.raises(RoleError, match="the model names no outcome"):
        estimate_both(open_table(DATA), replace(MODEL, outcome=None))
