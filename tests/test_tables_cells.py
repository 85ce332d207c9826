"""Cells: the same counts, fingerprint and answer wherever the data lives."""

import datetime as dt
import math
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.effects import Effect
from causalfairness.errors import MixedBasisError
from causalfairness.estimators import Strata
from causalfairness.estimators.strata import Counts
from causalfairness.tables import open_table
from forms import (
    assert_same_cells,
    cells_of,
    compas,
    contents,
    every_form,
    in_memory_and_lazy,
    lending,
    loans,
)

ADULT = cf.StandardFairnessModel(
    protected="sex",
    reference="Male",
    comparison="Female",
    confounders=["race"],
    mediators=["workclass"],
    outcome="income",
    outcome_value=">50K",
    weights="fnlwgt",
)
REAL = {
    "counts": (cf.datasets.load_compas, compas(), "refuse"),
    "numbers": (cf.datasets.load_compas, compas(outcome="priors_count"), "refuse"),
    "weights": (cf.datasets.load_adult, ADULT, "category"),
}


# --- the same everywhere --------------------------------------------------------------------------


@pytest.mark.parametrize("case", REAL)
def test_real_data_give_the_same_cells_and_answer_in_every_form(case, tmp_path):
    load, model, missing = REAL[case]
    table = load().select(model.role_columns)
    forms = every_form(table, tmp_path)
    expected = cells_of(forms.pop("pandas"), model, missing=missing)
    strata = Strata(empty_cells="restrict")  # a few combinations of Adult are one-sided
    answer = strata.estimate(Counts(expected, {}), model, workers=1, seed=0)
    assert answer.raw_gap.value != 0
    for name, data in forms.items():
        cells = cells_of(data, model, missing=missing)
        assert_same_cells(cells, expected)
        found = strata.estimate(Counts(cells, {}), model, workers=1, seed=0)
        np.testing.assert_allclose(
            found.world_means.values, answer.world_means.values, rtol=1e-12, err_msg=name
        )
        largest = np.abs(answer.world_means.spreads).max()
        np.testing.assert_allclose(
            found.world_means.spreads, answer.world_means.spreads, rtol=0, atol=1e-12 * largest
        )
        (found.raw_gap - answer.raw_gap).named("same basis")  # refuses if the bases differ


def test_the_whole_question_has_one_answer_for_every_form(tmp_path):
    table, model = cf.datasets.load_compas().select(compas().role_columns), compas()
    found = {
        name: cf.decompose_disparity(data, model)
        for name, data in every_form(table, tmp_path).items()
    }
    expected = found.pop("pandas")
    assert expected.diagnostics.estimator.startswith("Strata")
    for name, one in found.items():
        assert one.total.basis == expected.total.basis, name
        for effect, same in zip(one.table(), expected.table(), strict=True):
            assert effect.value == pytest.approx(same.value, abs=1e-12), (name, effect.name)
            assert effect.standard_error == pytest.approx(same.standard_error, abs=1e-12), name
        assert str(one) == str(expected), name


def test_cells_come_in_the_order_of_their_values_confounders_first():
    frame = pd.DataFrame({"group": list("baab"), "c": [10, 9, 10, 9], "m": list("xyyx")})
    cells = cells_of(frame.assign(y=[0, 1, 1, 0]), lending())
    assert [cell[1:] + cell[:1] for cell in contents(cells)] == [
        (9.0, "x", "b"),
        (9.0, "y", "a"),
        (10.0, "x", "b"),
        (10.0, "y", "a"),
    ]
    assert cells.profile.tolist() == [0, 1, 2, 3]
    assert cells.stratum.tolist() == [0, 0, 1, 1]


def test_whole_numbers_too_large_for_float64_make_the_same_cells_everywhere(tmp_path):
    table = pa.table(
        {
            "group": list("abab"),
            "c": [2**60, 2**60 + 1, 2**60 + 1, 5],
            "m": [Decimal(10) ** 30, Decimal(10) ** 30 + 1, Decimal(1), Decimal(1)],
            "y": [0.25, 1.0, 1.0, 0.0],
        }
    )
    forms = every_form(table, tmp_path, csv=False)
    expected = cells_of(forms.pop("pandas"), lending())
    assert len(expected) == 4
    assert len(cells_of(table, lending(mediators=[]))) == 4
    for data in forms.values():
        assert_same_cells(cells_of(data, lending()), expected)
        assert len(cells_of(data, lending(mediators=[]))) == 4


@pytest.mark.parametrize(
    ("values", "kind", "binary"),
    [
        ([1.2, 0.6], pa.float64(), False),  # add up to as much as their squares do
        ([1.0, 0.0], pa.float64(), True),
        ([2.0, -1.0], pa.float64(), False),
        ([1, 0], pa.int8(), True),
        ([2, -1], pa.int8(), False),
    ],
)
def test_an_outcome_is_binary_only_if_every_value_is(values, kind, binary, tmp_path):
    outcome = pa.array(np.repeat(values, 2), kind)
    table = pa.table({"group": list("abab"), "c": [1] * 4, "y": outcome})
    for name, data in every_form(table, tmp_path).items():
        assert cells_of(data, lending(mediators=[])).is_binary == binary, name


def test_decimals_are_the_nearest_numbers_everywhere(tmp_path):
    amounts = [Decimal(cents) / 100 for cents in range(400)]
    frame = loans().assign(y=amounts)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    floats = frame.astype({"y": float})
    expected = cells_of(floats, lending())
    for name, data in every_form(table, tmp_path).items():
        assert_same_cells(cells_of(data, lending()), expected)
        rows = open_table(data).rows(lending(), "outcome")
        assert rows.outcome.tolist() == floats.y.tolist(), name


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["c", "b", "unused", "a"])])
def test_categories_are_labels_whatever_their_order_and_numbering(kind):
    frame = loans().assign(c=lambda d: d.c.map({0: "rural", 1: "town"}))
    polars = pl.from_pandas(frame).with_columns(pl.col("group").cast(kind))
    pandas = frame.assign(group=pd.Categorical(frame.group, ["b", "unused", "c", "a"]))
    expected = cells_of(frame, lending())
    for data in (polars, polars.lazy(), polars.to_arrow(), pandas, duckdb.from_df(pandas)):
        assert_same_cells(cells_of(data, lending()), expected)


def test_outcomes_of_very_different_size_keep_one_fingerprint(tmp_path):
    """Also where the sums of a cell no longer fit into 64 bits."""
    frame = loans(60_000).assign(y=lambda d: d.y * 3e25 + 1e25)
    frame.loc[0, "y"] = -1e-9
    forms = every_form(pa.Table.from_pandas(frame, preserve_index=False), tmp_path)
    assert len({cells_of(data, lending()).fingerprint for data in forms.values()}) == 1


def test_a_column_without_any_value_is_the_same_whatever_type_it_claims():
    empty = {
        "text": pa.nulls(4, pa.string()),
        "numbers": pa.array([math.nan] * 4),
        "no type": pa.nulls(4),
    }
    frame = pa.table({"group": list("abab"), "y": [0, 1, 1, 0]})
    for read in ("cells", "rows"):
        found = set()
        for column in empty.values():
            table = open_table(frame.append_column("c", column), missing="category")
            reading = getattr(table, read)(lending(mediators=[]), "outcome")
            found.add(reading.fingerprint if read == "cells" else reading.identity.fingerprint)
        assert len(found) == 1


def test_categories_of_intervals_are_labels():
    ages = [21.0, 35.0, 62.0, math.nan]
    frame = pd.DataFrame({"group": list("abab"), "c": pd.cut(ages, [0, 30, 99]), "y": [0, 1, 1, 0]})
    cells = cells_of(frame, lending(mediators=[]), missing="category")
    assert {cell[1] for cell in contents(cells)} == {"(0, 30]", "(30, 99]", None}
    periods = frame.assign(c=pd.period_range("2020", periods=4, freq="Y"))
    assert {cell[1] for cell in contents(cells_of(periods, lending(mediators=[])))} == {
        "2020",
        "2021",
        "2022",
        "2023",
    }


def test_dictionary_chunks_with_different_dictionaries_are_one_column():
    parts = [pa.array(words).dictionary_encode() for words in (["b", "a"], ["c", "b"])]
    table = pa.table({"group": pa.chunked_array(parts), "c": [0, 0, 1, 1], "y": [0, 1, 1, 0]})
    assert contents(cells_of(table, lending(mediators=[]))).keys() == {
        ("b", 0.0),
        ("a", 0.0),
        ("c", 1.0),
        ("b", 1.0),
    }


@pytest.mark.parametrize(
    "moment",
    [
        dt.datetime(2020, 1, 1, 9, 30, tzinfo=dt.UTC),
        dt.datetime(2020, 1, 1, 10, 30, tzinfo=dt.timezone(dt.timedelta(hours=1))),
        pd.Timestamp("2020-01-01 09:30", tz="UTC"),
    ],
)
def test_moments_are_the_same_in_every_time_zone_and_can_name_a_group(moment, tmp_path):
    times = [moment, moment + dt.timedelta(days=1)] * 50
    values = pa.array(times, pa.timestamp("us", "Europe/Berlin"))
    table = pa.table({"group": values, "c": [0] * 100, "y": [0, 0, 1, 0, 1] * 20})
    model = lending(mediators=[], reference=moment, comparison=times[1])
    forms = every_form(table, tmp_path, csv=False)
    prints = {cells_of(data, model).pair(model).cells.fingerprint for data in forms.values()}
    assert len(prints) == 1


def test_days_name_groups_as_dates_moments_and_text():
    frame = loans().assign(group=lambda d: d.group.map({"a": "2020-01-01", "b": "2020-01-02"}))
    frame = frame.dropna().assign(group=lambda d: pd.to_datetime(d.group))
    expected = cf.decompose_disparity(loans(), lending()).total.value
    for one, other in (
        (dt.date(2020, 1, 1), dt.datetime(2020, 1, 2)),
        ("2020-01-01", np.datetime64("2020-01-02")),
    ):
        model = lending(reference=one, comparison=other)
        assert cf.decompose_disparity(frame, model).total.value == pytest.approx(expected)


# --- names and values that are hostile to an engine ----------------------------------------------

HOSTILE = [
    ("key0", "key1", "y", "w", "rows"),
    ("y", "w", "rows", "key0", "sum_y"),
    ("select", "from", "group", "order", "null"),
    ('"; DROP TABLE people; --', "it's", 'say "hi"', "back\\slash", "a.b"),
    ("🙂", " ", "\t", "naïve café", "%s"),
    ("has_y", "sum_w1", "exact_wy", "measured", "w1"),
    ("len", "literal", "index", "level_0", "count"),
]


@pytest.mark.parametrize("names", HOSTILE)
@pytest.mark.parametrize("weighted", [False, True])
def test_hostile_column_names_collide_with_nothing(names, weighted, tmp_path):
    plain = loans(120).assign(w=lambda d: 1 + d.m / 4, y=lambda d: d.y + d.c / 10)
    rename = dict(zip(["group", "c", "m", "y", "w"], names, strict=True))
    hostile = pa.Table.from_pandas(plain.rename(columns=rename), preserve_index=False)
    protected, c, m, y, w = names
    model = lending(
        protected=protected,
        confounders=[c],
        mediators=[m],
        outcome=y,
        weights=w if weighted else None,
    )
    expected = contents(cells_of(plain, lending(weights="w" if weighted else None)))
    csv = " " not in names  # the CSV reader takes a blank name for no name
    for name, data in every_form(hostile, tmp_path, csv=csv).items():
        found = contents(cells_of(data, model))
        assert found.keys() == expected.keys(), name
        for cell, sums in expected.items():
            np.testing.assert_allclose(found[cell], sums, rtol=1e-12, err_msg=name)


def test_hostile_values_are_only_values(tmp_path):
    words = ["'; DROP TABLE people; --", '"', "\\", "🙂", " ", "NULL", "nan", "None", "missing"]
    frame = pd.DataFrame({"group": list("ab") * len(words), "c": words * 2})
    frame["y"] = np.arange(len(frame)) % 2
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, data in every_form(table, tmp_path, csv=False).items():
        cells = cells_of(data, lending(mediators=[]))
        assert {cell[1] for cell in contents(cells)} == set(words), name


# --- fingerprint ---------------------------------------------------------------------------------


def test_the_fingerprint_does_not_depend_on_the_order_of_rows_or_on_number_types():
    frame = loans().assign(y=lambda d: d.y + d.index / 7, w=lambda d: 1 + d.index / 3)
    model = lending(weights="w")
    expected = cells_of(frame, model).fingerprint
    shuffled = frame.sample(frac=1, random_state=1)
    stored = frame.assign(c=frame.c.astype("float32"), m=frame.m.astype(bool), extra=1)
    for name, same in {"order": shuffled, "types": stored}.items():
        for form, data in in_memory_and_lazy(same).items():
            assert cells_of(data, model).fingerprint == expected, (name, form)


def test_the_fingerprint_notices_every_change():
    frame = loans().assign(y=lambda d: d.y + 0.1, w=2.0, y_again=lambda d: d.y)
    same_sums = frame.copy()
    a, b = frame.index[(frame.group == "a") & (frame.c == 0) & (frame.m == 0)][:2]
    same_sums.loc[[a, b], "y"] = [0.35, 0.85]  # added up, as much as before
    frame.loc[[a, b], "y"] = [0.1, 1.1]
    changed = frame.copy()
    changed.loc[5, "y"] += 1e-6
    moved = frame.copy()
    moved.loc[[0, 1], "c"] = [1 - moved.c[0], moved.c[0]]
    seen = [
        cells_of(frame, lending()),
        cells_of(changed, lending()),
        cells_of(moved, lending()),
        cells_of(frame.rename(columns={"c": "d"}), lending(confounders=["d"])),
        cells_of(frame.rename(columns={"y": "z"}), lending(outcome="z")),
        cells_of(frame, lending(weights="w")),
        cells_of(frame.iloc[1:], lending()),
        cells_of(frame.assign(group=frame.group.replace("c", "d")), lending()),
        cells_of(frame.assign(y=frame.y > 1), lending()),
        cells_of(frame.assign(y=frame.y > 1), lending(outcome_value=True)),
        cells_of(frame.assign(y=frame.y > 1), lending(outcome_value=False)),
    ]
    prints = [cells.fingerprint for cells in seen]
    assert len(set(prints)) == len(prints)
    assert cells_of(same_sums, lending()).fingerprint == prints[0]  # cells know no more than sums


def test_outcome_and_prediction_with_equal_counts_do_not_pass_for_one():
    """Equal sums per cell say nothing about how two measurements move together within it."""
    frame = loans().assign(
        score=lambda d: d.groupby(["group", "c", "m"])["y"].transform(lambda y: y.values[::-1])
    )
    assert (frame.score != frame.y).any()
    model = lending(prediction="score")
    one, other = (
        cf.decompose_disparity(frame, model, of=of).total for of in ("outcome", "prediction")
    )
    assert one.value == other.value
    with pytest.raises(MixedBasisError):
        _ = one - other


def test_answers_for_several_groups_of_one_table_can_be_combined():
    hispanic, black = (
        cf.decompose_disparity(
            cf.datasets.load_compas(), compas(comparison=group, mediators=[]), estimator=Strata()
        ).total
        for group in ("Hispanic", "African-American")
    )
    assert isinstance(black - hispanic, Effect)
