"""What is done with weights, pooled groups and missing values: the same as doing it by hand."""

import math

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import MissingValuesError
from causalfairness.tables import open_table
from forms import every_form, in_memory_and_lazy, lending, loans

# --- weights -------------------------------------------------------------------------------------


def test_whole_weights_are_repeated_rows():
    frame = loans().assign(w=lambda d: d.index % 3, z=lambda d: d.y + d.index / 50)
    repeated = frame.loc[frame.index.repeat(frame.w)]
    for outcome in ("y", "z"):
        weighted = cf.decompose_disparity(frame, lending(outcome=outcome, weights="w"))
        plain = cf.decompose_disparity(repeated, lending(outcome=outcome))
        np.testing.assert_allclose(
            weighted.world_means.values, plain.world_means.values, rtol=1e-12
        )
        assert weighted.total.standard_error > plain.total.standard_error  # rows, not copies


def test_weights_of_one_change_nothing_and_their_scale_does_not_matter():
    frame = loans().assign(one=1.0, w=lambda d: 1 + d.index % 5, large=lambda d: 1e6 * d.w)
    plain = cf.decompose_disparity(frame, lending())
    ones = cf.decompose_disparity(frame, lending(weights="one"))
    for effect, same in zip(ones.table(), plain.table(), strict=True):
        assert (effect.value, effect.standard_error) == pytest.approx(
            (same.value, same.standard_error), abs=1e-14
        )
    small, large = (cf.decompose_disparity(frame, lending(weights=w)) for w in ("w", "large"))
    assert large.direct.value == pytest.approx(small.direct.value, rel=1e-12)
    assert large.direct.standard_error == pytest.approx(small.direct.standard_error, rel=1e-12)


def test_rows_that_weigh_nothing_change_nothing():
    frame = loans().assign(w=lambda d: 1.0 + d.index % 2)
    with_ghosts = pd.concat([frame, frame.assign(w=0.0, y=1 - frame.y)])
    one, other = (
        cf.decompose_disparity(data, lending(weights="w")) for data in (frame, with_ghosts)
    )
    np.testing.assert_allclose(one.world_means.values, other.world_means.values, rtol=1e-12)
    assert other.diagnostics.rows.read == 2 * len(frame)


# --- everyone else -------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["reference", "comparison"])
def test_everyone_else_is_a_hand_made_second_group(side):
    """Values agree exactly. Standard errors borrow variance per original cell: 0.5 % apart."""
    frame = loans(6000).assign(z=lambda d: d.y + d.index % 7)
    frame["pooled"] = np.where(frame.group == "a", "a", "the rest")
    groups = {"reference": "a", "comparison": "a", side: None}
    by_hand = groups | {side: "the rest"}
    for outcome in ("y", "z"):
        found = cf.decompose_disparity(frame, lending(outcome=outcome, **groups))
        model = lending(protected="pooled", outcome=outcome, **by_hand)
        expected = cf.decompose_disparity(frame, model)
        np.testing.assert_allclose(
            found.world_means.values, expected.world_means.values, rtol=1e-12
        )
        for effect, same in zip(found.table(), expected.table(), strict=True):
            assert effect.standard_error == pytest.approx(same.standard_error, rel=5e-3)
        assert getattr(found, side) == "everyone else"


def test_people_without_a_known_group_are_not_everyone_else():
    frame = loans().assign(group=lambda d: d.group.where(d.group != "c", None))
    for name, data in in_memory_and_lazy(frame).items():
        found = cf.decompose_disparity(data, lending(comparison=None), missing="category")
        pair = cf.decompose_disparity(data, lending(), missing="category")
        assert found.total.value == pair.total.value, name
        assert found.diagnostics.rows.outside == (frame.group.isna()).sum(), name


# --- missing values ------------------------------------------------------------------------------


def with_gaps():
    frame = loans().astype({"c": float, "y": float})
    frame.loc[[0, 1, 2], "c"] = np.nan
    frame.loc[[2, 3], "y"] = np.nan
    frame.loc[[4], "group"] = None
    return frame


@pytest.mark.parametrize("read", ["cells", "rows"])
def test_missing_values_are_refused_counted_or_a_category_of_their_own(read, tmp_path):
    frame = with_gaps()
    forms = every_form(pa.Table.from_pandas(frame, preserve_index=False), tmp_path)
    per_group = frame.iloc[:4].group.value_counts().to_dict() | {"missing": 1}
    for name, data in forms.items():
        open_with = {policy: open_table(data, missing=policy) for policy in ("drop", "category")}
        with pytest.raises(MissingValuesError, match=r"'group': 1, 'c': 3, 'y': 2; choose"):
            getattr(open_table(data), read)(lending(), "outcome")
        account = getattr(open_with["drop"], read)(lending(), "outcome").pair(lending()).account
        assert (account.read, account.used + account.outside) == (400, 395), name
        assert account.outside == int((frame.iloc[5:].group == "c").sum()), name
        assert account.dropped == per_group, name
        assert account.missing == {"group": 1, "c": 3, "y": 2}, name
        assert "5 dropped for missing values" in str(account), name
        with pytest.raises(MissingValuesError, match=r"'y' has 2 missing .* cannot be a category"):
            getattr(open_with["category"], read)(lending(), "outcome")
    complete = frame.assign(y=frame.y.fillna(0.0))
    found = getattr(open_table(complete, missing="category"), read)(lending(), "outcome")
    account = found.pair(lending()).account
    assert (account.dropped, account.missing) == ({}, {"group": 1, "c": 3})
    assert account.used == int(complete.group.isin(["a", "b"]).sum())


def test_missing_as_a_category_is_a_hand_made_value():
    frame = with_gaps().assign(y=loans().y, group=loans().group)
    frame.loc[::7, "c"] = np.nan  # in both groups
    by_hand = frame.assign(c=frame.c.fillna(-1.0))
    one = cf.decompose_disparity(frame, lending(), missing="category")
    other = cf.decompose_disparity(by_hand, lending())
    np.testing.assert_allclose(one.world_means.values, other.world_means.values, rtol=1e-12)


def test_dropping_is_leaving_the_rows_out_by_hand():
    frame = with_gaps()
    one = cf.decompose_disparity(frame, lending(), missing="drop")
    other = cf.decompose_disparity(frame.dropna(), lending())
    np.testing.assert_allclose(one.world_means.values, other.world_means.values, rtol=1e-12)
    assert one.total.basis == other.total.basis


def test_dropping_rows_without_outcome_or_weight_is_leaving_them_out_by_hand():
    frame = with_gaps().assign(w=lambda d: 1 + d.index % 3 / 4)
    frame.loc[[8, 9, 10], "w"] = np.nan
    frame.loc[::11, "y"] = np.nan
    expected = open_table(frame.dropna()).cells(lending(weights="w"), "outcome")
    for name, data in in_memory_and_lazy(frame).items():
        found = open_table(data, missing="drop").cells(lending(weights="w"), "outcome")
        for one, other in zip(found.sums[:-1], expected.sums[:-1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=name)
        assert found.fingerprint == expected.fingerprint, name
        assert found.account.missing["w"] == 3, name


@pytest.mark.parametrize("other", [None, math.nan])
@pytest.mark.parametrize("column", ["c", "y", "w"])
def test_nan_and_null_are_both_missing_wherever_they_are_written(column, other, tmp_path):
    """Parquet statistics leave NaN out: an engine that trusts them never finds any."""
    frame = loans().assign(w=1.5, y=lambda d: d.y / 2, c=lambda d: d.c / 2)
    values = frame[column].tolist()
    values[3], values[5] = math.nan, other
    arrays = {name: pa.array(frame[name]) for name in frame} | {column: pa.array(values)}
    table, model = pa.table(arrays), lending(weights="w")
    assert table[column].null_count == (other is None)
    forms = every_form(table, tmp_path, csv=False)
    pl.from_arrow(table).write_parquet(tmp_path / "polars.parquet")
    forms["relation of a file"] = duckdb.read_parquet(str(tmp_path / "polars.parquet"))
    expected = open_table(frame.drop(index=[3, 5])).cells(model, "outcome")
    for name, data in forms.items():
        cells = open_table(data, missing="drop").cells(model, "outcome")
        assert cells.account.missing == {column: 2}, name
        assert cells.fingerprint == expected.fingerprint, name
        rows = open_table(data, missing="drop").rows(model, "outcome").pair(model)
        assert rows.account.missing == {column: 2}, name
        with pytest.raises(MissingValuesError, match=f"'{column}': 2"):
            cf.decompose_disparity(data, model)


def test_nan_and_null_are_one_category():
    table = pa.table({"group": list("abab"), "c": [math.nan, None, 1.0, 1.0], "y": [0, 1, 1, 0]})
    for data in (table, pl.from_arrow(table).lazy(), duckdb.from_arrow(table)):
        cells = open_table(data, missing="category").cells(lending(mediators=[]), "outcome")
        assert cells.keys[1].levels().values == (1.0, None)
        assert cells.stratum.tolist() == [0, 0, 1, 1]


def test_only_the_columns_of_the_question_must_be_complete():
    frame = with_gaps().assign(score=0.5, group=loans().group, c=loans().c)
    frame.loc[::2, "score"] = 0.25
    found = cf.decompose_disparity(frame, lending(prediction="score"), of="prediction")
    assert found.diagnostics.rows.used == int(frame.group.isin(["a", "b"]).sum())
