"""Frames come back the way they came: library, order, index, types and categories."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import ColumnTypeError
from causalfairness.scm import Additive, Categorical, Linear, Ordered, Poisson
from causalfairness.tables.frames import Labels, Numbers, column_from, frame_rows

fit = cf.StructuralCausalModel.fit
GRAPH = cf.CausalGraph.parse("group -> {job, level, visits, pay, ok} -> hired")
MECHANISMS = {
    "job": Categorical(),
    "level": Ordered(),
    "visits": Poisson(),
    "pay": Linear(),
    "ok": Categorical(),
    "hired": Categorical(),
}


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    lean = rng.normal(size=n) + group
    return pa.table(
        {
            "group": np.array(["red", "blue"])[group],
            "job": np.array(["clerk", "nurse", "smith"])[np.digitize(lean, [0, 1])],
            "level": np.array(["low", "mid", "top"])[
                np.digitize(lean + rng.normal(size=n), [0, 1])
            ],
            "visits": rng.poisson(2 + group),
            "pay": lean + rng.normal(size=n),
            "ok": lean + rng.normal(size=n) > 0,
            "hired": (lean + rng.normal(size=n) > 0.5).astype(np.int64),
        }
    )


def in_pandas():
    frame = table().to_pandas()
    frame["group"] = pd.Categorical(frame["group"], categories=["none", "red", "blue"])
    frame["level"] = pd.Categorical(frame["level"], ["low", "mid", "top", "peak"], ordered=True)
    frame["job"] = frame["job"].astype(object)
    return frame.astype({"visits": "Int16", "pay": "float32", "hired": "uint8"})


def in_polars():
    frame = pl.from_arrow(table())
    return frame.with_columns(
        pl.col("group").cast(pl.Categorical),
        pl.col("level").cast(pl.Enum(["low", "mid", "top", "peak"])),
        pl.col("visits").cast(pl.Int16),
        pl.col("pay").cast(pl.Float32),
        pl.col("hired").cast(pl.UInt8),
    )


def in_pyarrow():
    frame = table()
    types = {
        "group": pa.dictionary(pa.int8(), pa.string()),
        "job": pa.large_string(),
        "visits": pa.int16(),
        "pay": pa.float32(),
        "hired": pa.uint8(),
    }
    for name, kind in types.items():
        at = frame.column_names.index(name)
        frame = frame.set_column(at, name, frame[name].cast(kind))
    return frame


def schema(frame):
    if isinstance(frame, pd.DataFrame):
        return dict(frame.dtypes)
    return frame.schema


FORMS = {"pandas": in_pandas, "polars": in_polars, "pyarrow": in_pyarrow}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_types_and_categories_are_kept(make):
    data = make()
    scm = fit(GRAPH, data, MECHANISMS)
    for found in (
        scm.counterfactual(data, do={"group": "blue"}),
        scm.counterfactual(data, do={"group": "blue"}, draws=2),
        scm.intervene(data, do={"group": "blue"}),
        scm.intervene(50, do={"group": "blue"}),
        scm.sample(50),
    ):
        assert schema(found) == schema(data)
        assert list(found["hired"]) != list(data["hired"])[: len(found)]


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_one_row_can_be_told_a_group_it_has_never_seen_beside_it(make):
    data = make()
    scm = fit(GRAPH, data, MECHANISMS)
    row = data[:1] if not isinstance(data, pa.Table) else data.slice(0, 1)
    others = {"red": "blue", "blue": "red"}
    found = scm.counterfactual(row, do={"group": others})
    assert schema(found) == schema(data)
    now, was = (
        str(frame["group"].to_list()[0])
        if not isinstance(frame, pa.Table)
        else frame["group"].to_pylist()[0]
        for frame in (found, row)
    )
    assert now == others[was]


def test_a_new_table_in_another_library_or_with_another_coding_is_understood():
    data = table().to_pandas()
    scm = fit(GRAPH, data, MECHANISMS)
    expected = scm.counterfactual(data, do={"group": "blue"})
    for other in (in_polars(), in_pyarrow()):
        found = scm.counterfactual(other, do={"group": "blue"})
        assert list(
            map(str, found["job"].to_pylist() if isinstance(found, pa.Table) else found["job"])
        ) == list(expected["job"])


def test_integers_with_added_noise_become_floats_and_the_model_says_so():
    data = in_pandas()
    scm = fit(GRAPH, data, MECHANISMS | {"visits": Linear()})
    assert scm.counterfactual(data, do={"group": "blue"})["visits"].dtype == np.float64
    assert any(
        line.startswith("visits: stored as integers, but noise is added")
        for line in scm.assumptions
    )
    scm = fit(GRAPH, data, MECHANISMS)
    assert not any("stored as integers" in line for line in scm.assumptions)


def test_ordered_categories_keep_their_order_and_are_chosen_as_such():
    data = in_pandas()
    scm = fit(GRAPH, data, {**MECHANISMS, "level": Ordered()})
    assert scm.equations.domains["level"].labels == ("low", "mid", "top")
    assert scm.equations.domains["job"].labels == ("clerk", "nurse", "smith")
    reversed_ = data.assign(
        level=data["level"].cat.reorder_categories(["peak", "top", "mid", "low"], ordered=True)
    )
    scm = fit(GRAPH, reversed_, MECHANISMS)
    assert scm.equations.domains["level"].labels == ("top", "mid", "low")


def test_dates_and_decimals_are_carried():
    days = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 20
    data = pa.table(
        {
            "sex": ["F", "M"] * 20,
            "day": days[1:] + days[:1],
            "cost": pa.array(range(40)).cast(pa.decimal128(21, 2)),
        }
    )
    graph = cf.CausalGraph.parse("sex -> {day, cost}")
    scm = fit(graph, data, {"day": Categorical(), "cost": Additive()})
    found = scm.counterfactual(data, do={"sex": "M"})
    assert found["day"].type == data["day"].type
    assert found["cost"].type == pa.float64()


def test_columns_of_the_frame_that_are_no_nodes_may_hold_anything():
    data = table().to_pandas()
    data["notes"] = [{"free": i} for i in range(len(data))]
    data["gap"] = np.nan
    scm = fit(GRAPH, data, MECHANISMS)
    found = scm.counterfactual(data, do={"group": "blue"})
    pd.testing.assert_frame_equal(found[["notes", "gap"]], data[["notes", "gap"]])


def test_the_data_brought_is_never_changed():
    data = in_pandas()
    copy = data.copy()
    scm = fit(GRAPH, data, MECHANISMS)
    found = scm.counterfactual(data, do={"group": "blue"})
    found.loc[:, "pay"] = 0
    pd.testing.assert_frame_equal(data, copy)


def test_a_model_does_not_see_later_changes_of_the_data():
    group, pay = np.tile([0.0, 1.0], 200), np.arange(400.0)
    data = pd.DataFrame({"group": group, "pay": pay}, copy=False)
    graph = cf.CausalGraph.parse("group -> pay")
    before = fit(graph, data, {"pay": Linear()}).sample(20)
    scm = fit(graph, data, {"pay": Linear()})
    group[:], pay[:] = 0.0, 0.0
    assert np.ptp(data["pay"]) == 0  # the frame holds these very arrays
    pd.testing.assert_frame_equal(scm.sample(20), before)


# --- the layer below -----------------------------------------------------------------------------


def test_a_label_without_room_in_the_type_is_refused():
    frame = pd.DataFrame({"sex": pd.Categorical(["F", "F"])})
    rows = frame_rows(frame, ["sex"])
    with pytest.raises(ColumnTypeError, match="has no value 'M' in this data; add it to the cat"):
        rows.replaced({"sex": Labels(np.array([1, 1]), ("F", "M"))})
    enum = frame_rows(pl.DataFrame({"sex": pl.Series(["F"], dtype=pl.Enum(["F"]))}), ["sex"])
    with pytest.raises(ColumnTypeError, match="no value 'M'"):
        enum.replaced({"sex": Labels(np.array([1]), ("F", "M"))})
    day = frame_rows(pa.table({"day": [datetime.date(2020, 1, 1)]}), ["day"])
    with pytest.raises(ColumnTypeError, match="no value '2021-01-01'"):
        day.replaced({"day": Labels(np.array([1]), ("2020-01-01", "2021-01-01"))})


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_numbers_that_a_type_cannot_hold_are_refused(kind):
    for frame in (
        pd.DataFrame({"x": np.array([1], kind)}),
        pl.DataFrame({"x": np.array([1], kind)}),
        pa.table({"x": np.array([1], kind)}),
    ):
        rows = frame_rows(frame, ["x"])
        with pytest.raises(ColumnTypeError, match="cannot hold new values from -200 to 300"):
            rows.replaced({"x": Numbers(np.array([300.0, -200.0]), whole=True)}, copies=2)


def test_loose_values_are_read_whatever_holds_them():
    for values in (
        ["M", "F"],
        ("M", "F"),
        np.array(["M", "F"]),
        pd.Series(["M", "F"]),
        pl.Series(["M", "F"]),
        pa.chunked_array([["M", "F"]]),
    ):
        column = column_from("sex", values)
        assert (column.labels, column.codes.tolist()) == (("F", "M"), [1, 0])
    assert column_from("x", [np.int8(3), 2.5]).values.tolist() == [3.0, 2.5]
    with pytest.raises(ColumnTypeError, match="the values for column 'x' cannot be read"):
        column_from("x", [1, "one"])
    with pytest.raises(ColumnTypeError, match="give a list, an array or a series"):
        column_from("x", {1, 2})
