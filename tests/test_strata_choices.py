"""Does `Strata` count in the bins it was asked for, and lean on neighbors as far as it says?"""

from dataclasses import replace
from functools import partial

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

import causalfairness as cf
from causalfairness.errors import ColumnNotFoundError, ColumnTypeError, EmptyCellsError, RoleError
from causalfairness.estimators import Strata
from causalfairness.estimators.saturated import Saturated, smooth
from causalfairness.tables import open_table
from judging import ALL_WORLDS, PARTS, errors_in_standard_errors, fewest_and_most_hits

WORLDS = cf.datasets.worlds
GAUSSIAN = WORLDS.linear_gaussian()
COMPAS = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age", "sex"],
    mediators=["priors_count"],
    outcome="two_year_recid",
)
BINS = {"age": 4, "priors_count": [0, 2, 6]}


def means(found):
    return np.array([found.world_means[at].value for at in ALL_WORLDS])


# --- bins -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compas():
    return cf.datasets.load_compas(propublica_filter=True)


@pytest.fixture(scope="module")
def counted(compas):
    return cf.decompose_disparity(compas, COMPAS, estimator=Strata(bins=BINS))


def test_bins_are_those_of_a_column_cut_by_hand(compas, counted):
    age, priors = (np.asarray(compas[name], dtype=float) for name in ("age", "priors_count"))
    cuts = np.quantile(age, [0.25, 0.5, 0.75])
    by_hand = compas.set_column(
        compas.column_names.index("age"), "age", pa.array(np.searchsorted(cuts, age))
    ).set_column(
        compas.column_names.index("priors_count"),
        "priors_count",
        pa.array(np.searchsorted([0, 2, 6], priors)),
    )
    plain = cf.decompose_disparity(by_hand, COMPAS, estimator=Strata())
    assert means(counted) == pytest.approx(means(plain), abs=1e-14)
    assert counted.direct.standard_error == pytest.approx(plain.direct.standard_error, rel=1e-12)


def test_bins_and_what_they_assume_are_reported(counted):
    text = str(counted.diagnostics)
    assert "age is counted in 4 bins: up to 25, above 25 up to 31, above 31 up to 42" in text
    assert "priors_count is counted in 4 bins: up to 0, above 0 up to 2, above 2 up to 6" in text
    assert "within a bin, age makes no further difference" in text
    assert "bins={'age': 4, 'priors_count': [0, 2, 6]}" in text


def forms_of(table, folder):
    pa.csv.write_csv(table, folder / "people.csv")
    yield "pandas", table.to_pandas()
    yield "polars", pl.from_arrow(table)
    yield "lazy", pl.from_arrow(table).lazy()
    yield "duckdb", duckdb.from_arrow(table)
    yield "csv", str(folder / "people.csv")


def test_bins_do_not_depend_on_where_the_data_lives(compas, counted, tmp_path):
    named = compas.select(["race", "age", "sex", "priors_count", "two_year_recid"])
    for name, form in forms_of(named, tmp_path):
        found = cf.decompose_disparity(form, COMPAS, estimator=Strata(bins=BINS))
        assert (means(found) == means(counted)).all(), name
        assert found.diagnostics.notes == counted.diagnostics.notes, name


def test_missing_numbers_stay_missing(tmp_path):
    ages = [20.0, None, float("nan"), 30.0, 40.0, 50.0]
    for name, form in forms_of(pa.table({"age": ages, "n": [1, 2, 3, 4, 5, 6]}), tmp_path):
        coarse, cuts = open_table(form).coarsened({"age": 2, "n": [3]})
        frame = coarse.frame.collect() if hasattr(coarse.frame, "collect") else coarse.frame
        shown = {
            n: age for age, n in zip(frame["age"].to_list(), frame["n"].to_list(), strict=True)
        }
        assert cuts["age"] == (35.0,), name
        assert len(shown) == 2, name  # n itself is binned
        column = open_table(frame.to_native()).value_counts(("age",))
        assert column == {"age": 3}, name  # two bins and missing


def test_close_cut_points_make_different_bins():
    income = pa.table({"income": [1234567.1, 1234567.2, 1234567.3]})
    coarse, _ = open_table(income).coarsened({"income": [1234567.15, 1234567.25]})
    assert coarse.value_counts(("income",)) == {"income": 3}


def test_a_heap_of_equal_values_makes_fewer_bins_and_says_so():
    counts = pa.table({"priors": [0] * 90 + [1] * 5 + [7] * 5})
    assert open_table(counts).coarsened({"priors": 4})[1] == {"priors": (0.0,)}
    assert open_table(counts).coarsened({"priors": [0, 5]})[1] == {"priors": (0.0, 5.0)}


def test_finer_bins_come_closer_to_the_truth():
    data = GAUSSIAN.draw(300_000, seed=3)
    truth = GAUSSIAN.true_effects()
    columns = (*GAUSSIAN.model.confounders, *GAUSSIAN.model.mediators)
    errors = []
    for bins in (2, 6, 18):
        estimator = Strata(bins=dict.fromkeys(columns, bins), empty_cells="regression")
        found = cf.decompose_disparity(data, GAUSSIAN.model, estimator=estimator)
        errors.append(max(abs(getattr(found, part).value - truth[part]) for part in PARTS))
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 0.5 * errors[1]


@pytest.mark.parametrize(
    ("bins", "error", "message"),
    [
        ({"age": 1}, ValueError, "bins of 'age' must be at least 2; found 1"),
        ({"age": [30, 30]}, ValueError, "rising cut points"),
        ({"age": "four"}, ValueError, "rising cut points.*'four'"),
        ({"age": ["a", "b"]}, ValueError, "rising cut points"),
        ({"age": []}, ValueError, "rising cut points"),
        ({"age": [30, float("inf")]}, ValueError, "rising cut points"),
        ({"age": 2.5}, ValueError, "rising cut points.*2.5"),
        ({"age": True}, ValueError, "rising cut points.*True"),
        ({"sex": 2}, ColumnTypeError, "'sex' has type String; only numbers"),
        ({"two_year_recid": 2}, RoleError, "'two_year_recid', which is neither"),
        ({"ages": 2}, RoleError, "'ages'"),
    ],
)
def test_bins_that_cannot_be_made_are_refused(compas, bins, error, message):
    with pytest.raises(error, match=message):
        cf.decompose_disparity(compas, COMPAS, estimator=Strata(bins=bins))


def test_a_missing_column_and_a_constant_one_are_refused_by_name():
    table = open_table(pa.table({"age": [40, 40]}))
    with pytest.raises(ColumnNotFoundError, match="no column 'ages'; did you mean 'age'"):
        table.coarsened({"ages": 3})
    with pytest.raises(ColumnTypeError, match="'age' holds one number only, 40"):
        table.coarsened({"age": 3})
    with pytest.raises(ColumnTypeError, match="'age' holds no number at all"):
        open_table(pa.table({"age": pa.array([None, None], pa.int64())})).coarsened({"age": 3})


def test_a_model_is_not_asked_about_bins():
    with pytest.raises(ValueError, match="a model cannot be asked about bins"):
        Strata(bins={"age": 4}, empty_cells=lambda frame: frame)


def test_too_fine_bins_still_refuse_one_sided_cells(compas):
    with pytest.raises(EmptyCellsError, match="age=above"):
        cf.decompose_disparity(compas, COMPAS, estimator=Strata(bins={"age": 12}))


# --- smoothing --------------------------------------------------------------------------------

SPARSE = WORLDS.sparse_cells()
smoothed = partial(cf.decompose_disparity, model=SPARSE.model)


def test_pseudo_rows_enter_as_the_formula_says():
    table = pa.table(
        {
            "a": [0, 0, 0, 0, 1, 1, 1, 1, 1],
            "m": [0, 0, 0, 1, 0, 0, 1, 1, 1],
            "y": [1, 0, 1, 0, 1, 1, 0, 1, 1],
        }
    )
    model = cf.StandardFairnessModel(
        protected="a", reference=0, comparison=1, mediators=["m"], outcome="y"
    )
    s = 2.0
    pooled = np.array([5, 4]) / 9
    share = [(np.array([3, 1]) + s * pooled) / (4 + s), (np.array([2, 3]) + s * pooled) / (5 + s)]
    guess = additive_guess(table)
    sums, rows = np.array([[2, 0], [2, 2]]), np.array([[3, 1], [2, 3]])
    outcome = (sums + s * guess) / (rows + s)
    found = cf.decompose_disparity(table, model, estimator=Strata(smoothing=s))
    for i, j in np.ndindex(2, 2):
        assert found.world_means[i, j, 0].value == pytest.approx(outcome[i] @ share[j], abs=1e-12)


def additive_guess(table):
    """Ridge on standardised group and mediator, one row a cell, as the fill is documented."""
    rows, sums = np.array([3.0, 1, 2, 3]), np.array([2.0, 0, 2, 2])
    x = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = sums / rows
    center_x, center_y = np.average(x, axis=0, weights=rows), np.average(y, weights=rows)
    xc, yc = x - center_x, y - center_y
    beta = np.linalg.solve(xc.T @ (rows[:, None] * xc) + np.eye(2), xc.T @ (rows * yc))
    return (center_y + xc @ beta).reshape(2, 2)


def test_people_stay_in_their_strata():
    weight = np.array([[1.0, 3, 5, 0], [2, 2, 1, 9]])
    cells = Saturated(weight, np.zeros((2, 4)), np.array([0, 0, 1, 1]))
    leaned = smooth(cells, 7.0, np.ones((2, 4)))
    assert leaned.stratum_weight == pytest.approx(cells.stratum_weight)
    assert (leaned.weight > 0).all()


def test_parts_and_misfit_add_up_to_the_gap():
    found = smoothed(SPARSE.draw(2_000, seed=0), estimator=Strata(smoothing=3))
    parts = (found.direct, found.indirect, found.spurious, found.misfit)
    assert sum(part.value for part in parts) == pytest.approx(found.total.value, abs=1e-12)
    assert found.misfit.value != 0
    assert found.outside_support.value == 0
    plain = smoothed(SPARSE.draw(2_000, seed=0), estimator=Strata())
    assert found.total.value == pytest.approx(plain.total.value, abs=1e-12)
    assert found.total.standard_error == pytest.approx(plain.total.standard_error, rel=1e-9)


def test_smoothing_is_reported_with_what_it_costs():
    found = smoothed(SPARSE.draw(2_000, seed=0), estimator=Strata(smoothing=3))
    assert "smoothed with 3 pseudo-rows" in str(found.diagnostics)
    assert "standard errors do not know of the bias" in str(found.diagnostics)
    assert "smoothing=3" in str(found.diagnostics)


@pytest.mark.parametrize("name", ["binary", "sparse_cells"])
def test_with_many_rows_smoothing_changes_next_to_nothing(name):
    world = WORLDS.WORLDS[name]()
    data = world.draw(100_000, seed=1)
    found = cf.decompose_disparity(data, world.model, estimator=Strata(smoothing=1))
    assert max(map(abs, errors_in_standard_errors(found, world).values())) < 4


def test_intervals_cover_with_a_pseudo_row():
    world = WORLDS.binary()
    truth, hits, draws = world.true_effects(), dict.fromkeys(PARTS, 0), 300
    for seed in range(draws):
        data = world.draw(2_000, seed=50_000 + seed)
        found = cf.decompose_disparity(data, world.model, estimator=Strata(smoothing=1))
        for part in PARTS:
            low, high = getattr(found, part).interval()
            hits[part] += low <= truth[part] <= high
    fewest, most = fewest_and_most_hits(draws, len(PARTS))
    assert all(fewest <= count <= most for count in hits.values()), hits


def test_smoothing_is_worth_it_where_cells_are_small():
    """Mean squared error of the direct part over draws with about three rows a cell."""
    truth = SPARSE.true_effects()["direct"]
    errors = {0.0: [], 2.0: []}
    for seed in range(60):
        data = SPARSE.draw(300, seed=seed)
        for rows, found in errors.items():
            estimator = Strata(smoothing=rows, empty_cells="regression", empty_strata="zero")
            found.append(smoothed(data, estimator=estimator).direct.value - truth)
    assert np.mean(np.square(errors[2.0])) < 0.8 * np.mean(np.square(errors[0.0]))


def test_resampled_and_closed_form_standard_errors_agree():
    data = SPARSE.draw(3_000, seed=2)
    closed = smoothed(data, estimator=Strata(smoothing=2))
    drawn = smoothed(data, estimator=Strata(smoothing=2, replicates=1_500))
    for part in PARTS:
        ratio = getattr(drawn, part).standard_error / getattr(closed, part).standard_error
        assert ratio == pytest.approx(1, abs=0.1), part
        assert getattr(drawn, part).value == pytest.approx(getattr(closed, part).value, abs=1e-12)


def test_replicates_are_smoothed_too():
    """What leans on many pseudo-rows hardly moves with the rows that were drawn."""
    data = SPARSE.draw(2_000, seed=2)
    plain, heavy = (
        smoothed(data, estimator=Strata(smoothing=rows, replicates=200)) for rows in (0, 1_000)
    )
    assert heavy.direct.standard_error < 0.2 * plain.direct.standard_error


def test_pseudo_rows_do_not_depend_on_the_scale_of_weights():
    data = SPARSE.draw(2_000, seed=4)
    weight = np.random.default_rng(0).uniform(0.5, 2, 2_000)
    model = replace(SPARSE.model, weights="w")
    found = [
        cf.decompose_disparity(
            data.append_column("w", pa.array(weight * scale)), model, estimator=Strata(smoothing=2)
        )
        for scale in (1.0, 1e4)
    ]
    assert means(found[0]) == pytest.approx(means(found[1]), abs=1e-9)


def test_a_known_model_is_what_cells_lean_on():
    data = SPARSE.draw(2_000, seed=5)
    heavy = Strata(smoothing=1e9, empty_cells=lambda frame: np.full(len(frame), 0.25))
    found = smoothed(data, estimator=heavy)
    assert means(found) == pytest.approx(0.25, abs=1e-6)


@pytest.mark.parametrize("rows", [-1, float("nan"), float("inf")])
def test_impossible_smoothing_is_refused(rows):
    with pytest.raises(ValueError, match="smoothing is a number of pseudo-rows"):
        Strata(smoothing=rows)


@pytest.mark.parametrize("policy", [{"empty_cells": "restrict"}, {"empty_strata": "restrict"}])
def test_smoothing_and_restricting_are_not_mixed(policy):
    with pytest.raises(ValueError, match="one remainder with two meanings"):
        Strata(smoothing=1, **policy)


def test_smoothing_alone_fills_no_one_sided_cell():
    data = SPARSE.draw(2_000, seed=6)
    one = data.filter(
        pc.invert(
            pc.and_(
                pc.equal(data["group"], data["group"][0]),
                pc.equal(data[SPARSE.model.mediators[0]], data[SPARSE.model.mediators[0]][0]),
            )
        )
    )
    with pytest.raises(EmptyCellsError, match="seen in one group only"):
        smoothed(one, estimator=Strata(smoothing=5))
