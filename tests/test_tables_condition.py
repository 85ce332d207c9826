"""Tables asked about some of their rows: the same cells and places, wherever the data lives."""

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import ColumnNotFoundError, MissingValuesError
from causalfairness.tables import Column, Within, open_table
from forms import assert_same_cells, cells_of, contents, every_form, in_memory_and_lazy
from odds_world import MODEL, deaf_to_the_group, draw, listens_to_all


def test_cells_of_some_rows_are_those_of_the_filtered_table(tmp_path):
    people = draw(listens_to_all, 900, seed=30).assign(w=lambda d: 0.5 + d.index % 4)
    people["where"] = np.where(people.index % 3 == 0, "here", "there")
    table = pa.Table.from_pandas(people, preserve_index=False)
    for model in (MODEL, replace(MODEL, weights="w")):
        filtered = cells_of(people[people["where"] == "here"], model)
        for name, data in every_form(table, tmp_path / str(model.weights)).items():
            found = open_table(data).among("where", "here").cells(model, "outcome")
            assert list(contents(found)) == list(contents(filtered)), name
            for key, sums in contents(found).items():
                np.testing.assert_allclose(sums, contents(filtered)[key], rtol=1e-12)
            assert found.fingerprint != filtered.fingerprint
            assert found.account.aside == {"where other than here": 600}, name
            assert "where" not in found.frame.columns
        whole = open_table(people)
        there = whole.among("where", "there").cells(model, "outcome")
        assert len({there.fingerprint, found.fingerprint, filtered.fingerprint}) == 3
    assert_same_cells(cells_of(people, MODEL), cells_of(table, MODEL))


def test_rows_keep_their_place_when_some_are_asked_about():
    people = draw(listens_to_all, 300, seed=31)
    whole = open_table(people)
    rows = whole.among("yhat", 1).rows(replace(MODEL, prediction=None), "outcome")
    assert rows.kept.tolist() == (people.yhat == 1).tolist()
    pair = rows.pair(MODEL)
    assert sorted(pair.index.tolist()) == np.flatnonzero(people.yhat == 1).tolist()
    assert len(pair.scatter(np.ones(len(pair)))) == 300
    assert rows.identity == whole.rows(MODEL, "outcome").identity
    with pytest.raises(ColumnNotFoundError, match="no column 'yhatt'; did you mean"):
        whole.among("yhatt", 1)


def test_lazy_data_is_not_read_whole_to_count_a_rate():
    people = draw(deaf_to_the_group, 500, seed=32)
    brought = []
    collect = pl.LazyFrame.collect

    def spy(self, *args, **kwargs):
        found = collect(self, *args, **kwargs)
        brought.append(len(found))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pl.LazyFrame, "collect", spy)
        lazy = pl.from_pandas(people.assign(y=people.y.map({0: "n", 1: "y"}))).lazy()
        model = replace(MODEL, outcome_value="y")
        cf.decompose_error_rates(lazy, model, "fpr", with_mediators=True)
    assert brought
    assert max(brought) <= 32


def test_rows_without_the_value_that_decides_follow_the_policy():
    people = draw(listens_to_all, 300, seed=33).astype({"yhat": float})
    people.loc[::30, "yhat"] = np.nan
    model = replace(MODEL, prediction=None)
    for name, data in in_memory_and_lazy(people).items():
        for policy in ("refuse", "category"):
            table = open_table(data, missing=policy).among("yhat", 1)
            for read in (table.rows, table.cells):
                with pytest.raises(MissingValuesError, match="'yhat'"):
                    read(model, "outcome")
        table = open_table(data, missing="drop").among("yhat", 1)
        accounts = [
            read(model, "outcome").pair(model).account for read in (table.rows, table.cells)
        ]
        assert accounts[0] == accounts[1], name
        assert sum(accounts[0].dropped.values()) == 10
        assert accounts[0].used == int((people.yhat == 1).sum())
        assert accounts[0].aside == {"yhat other than 1": int((people.yhat == 0).sum())}


def test_a_condition_reads_numbers_words_and_gaps():
    words = Column("x", None, np.array([1, -1, 0]), ("a", "b"))
    assert Within("x", "b").holds(words).tolist() == [True, False, False]
    assert Within("x", "c").holds(words).tolist() == [False, False, False]
    numbers = Column.numbers("x", np.array([0.0, 1.0, np.nan]))
    assert Within("x", True).holds(numbers).tolist() == [False, True, False]
    assert (str(Within("x", 1.0)), Within("x", "b").others) == ("x = 1", "x other than b")


def test_new_columns_stay_in_line_with_the_rows_whatever_the_library():
    people = draw(listens_to_all, 50, seed=34).sample(frac=1.0, random_state=1)  # and its index
    words = people.assign(y=people.y.map({0: "n", 1: "y"}))
    words.iloc[3, words.columns.get_loc("y")] = None
    for name, data in {"shuffled": words, **in_memory_and_lazy(words)}.items():
        table = open_table(data, missing="drop").with_indicator("is y", "y", "y")
        assert table.values("is y") == (0.0, 1.0, None), name
        rows = table.rows(replace(MODEL, outcome="is y", prediction=None), None)
        found = rows.columns["is y"].values
        expected = np.where(words.y.isna(), np.nan, words.y == "y")
        np.testing.assert_array_equal(found, expected)
        numbered = table.with_numbers(rows, "at", np.arange(50.0))
        again = numbered.rows(replace(MODEL, outcome="at", prediction=None), "outcome")
        assert again.columns["at"].values.tolist() == list(range(50)), name
        assert again.columns["c"].values.tolist() == people.c.tolist(), name
