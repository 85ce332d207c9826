"""Rows: the arrays learners see, whose data it is, and in which order."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.errors import ColumnTypeError, PredictorError
from causalfairness.estimators import DoublyRobust, Regression
from causalfairness.tables import Column, open_table
from causalfairness.tables.fingerprint import identify
from causalfairness.tables.rows import encode
from forms import compas, every_form, in_memory_and_lazy, lending, loans

LINEAR = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())
FITTED = Regression(LinearRegression(), replicates=20)  # its means come of no folds


def rows_of(data, model=None, *, missing="refuse"):
    return open_table(data, missing=missing).rows(model or lending(), "outcome")


def labels(name, codes, *words):
    return Column(name, None, np.array(codes), words)


# --- the same everywhere -------------------------------------------------------------------------


def test_every_form_gives_the_same_arrays_fingerprint_and_order(tmp_path):
    model = compas(mediators=["c_charge_degree", "priors_count"], weights="age")
    forms = every_form(cf.datasets.load_compas().select(model.role_columns), tmp_path)
    expected = rows_of(forms.pop("pandas"), model)
    pair = expected.pair(model)
    for name, data in forms.items():
        found = rows_of(data, model)
        assert found.identity == expected.identity, name
        assert found.groups == expected.groups, name
        same = found.pair(model)
        for array in ("index", "group", "confounders", "mediators", "outcome", "weights"):
            assert np.array_equal(getattr(same, array), getattr(pair, array)), (name, array)
        assert same.account == pair.account, name


def test_row_estimators_give_the_same_answer_for_every_form(tmp_path):
    table = pa.Table.from_pandas(loans(600), preserve_index=False)
    found = {
        name: cf.decompose_disparity(data, lending(), estimator=LINEAR)
        for name, data in every_form(table, tmp_path).items()
    }
    expected = found.pop("pandas")
    for name, one in found.items():
        assert np.array_equal(one.world_means.values, expected.world_means.values), name
        assert np.array_equal(one.total.spread, expected.total.spread), name
        assert (one.direct - expected.direct).value == 0, name  # one basis


def test_numbers_stay_and_labels_become_indicators():
    ages = Column.numbers("age", np.array([30.0, 41.0, 25.0]))
    everyone = np.arange(3)
    assert encode([ages], everyone).tolist() == [[30.0], [41.0], [25.0]]
    two = labels("sex", [0, 1, 0], "F", "M")
    assert encode([two], everyone).tolist() == [[0.0], [1.0], [0.0]]
    three = labels("race", [2, 0, 1], "a", "b", "c")
    assert encode([three], everyone).tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert encode([ages, two, three], np.array([1])).shape == (1, 3)  # one label left each
    assert encode([], everyone).shape == (3, 0)


def test_a_missing_label_is_a_label_and_a_missing_number_is_marked():
    everyone = np.arange(3)
    assert encode([labels("sex", [0, -1, 0], "F")], everyone).tolist() == [[1.0], [0.0], [1.0]]
    age = Column.numbers("age", np.array([30.0, math.nan, 40.0]))
    assert encode([age], everyone).tolist() == [[30.0, 0.0], [35.0, 1.0], [40.0, 0.0]]
    assert encode([age], np.array([0, 2])).tolist() == [[30.0], [40.0]]
    unknown = Column.numbers("age", np.array([math.nan, math.nan]))
    assert encode([unknown], np.arange(2)).tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_missing_numbers_as_a_category_reach_row_estimators():
    frame = loans(600).assign(age=lambda d: 20.0 + d.index % 30)
    frame.loc[::9, "age"] = np.nan
    model = lending(confounders=["age"])
    found = cf.decompose_disparity(frame, model, estimator=FITTED, missing="category")
    assert found.diagnostics.rows.missing == {"age": 67}
    assert found.diagnostics.rows.dropped == {}
    by_hand = frame.assign(unknown=frame.age.isna())
    pair = frame.group.isin(["a", "b"])
    by_hand["age"] = by_hand.age.fillna(frame.age[pair].mean())
    model = lending(confounders=["age", "unknown"])
    expected = cf.decompose_disparity(by_hand, model, estimator=FITTED)
    np.testing.assert_allclose(
        found.world_means.values, expected.world_means.values, rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_confounders_are_refused_where_a_model_would_learn_from_them(value):
    frame = loans().astype({"c": float})
    frame.loc[3, "c"] = value
    with pytest.raises(ColumnTypeError, match="column 'c' holds infinite values; remove or cap"):
        rows_of(frame, lending(reference=frame.group[3], comparison=None)).pair(
            lending(reference=frame.group[3], comparison=None)
        )


# --- fingerprint ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2)), min_size=2, max_size=9),
    st.randoms(use_true_random=False),
)
def test_shuffled_rows_keep_the_fingerprint_and_equal_rows_keep_the_order(rows, random):
    shuffled = random.sample(rows, len(rows))

    def identity(rows):
        words, numbers = zip(*rows, strict=True)
        codes = ["abc".index(word) for word in words]
        return identify([labels("g", codes, *"abc"), Column.numbers("x", np.array(numbers) * 1.0)])

    one, other = identity(rows), identity(shuffled)
    assert one.fingerprint == other.fingerprint
    assert (one.order == other.order) == (rows == shuffled)


def test_the_fingerprint_of_rows_ignores_storage_and_notices_content():
    frame = loans()
    frame.loc[[0, 1]] = [["a", 0, 0, 1], ["a", 1, 1, 1]]
    expected = rows_of(frame).identity
    for same in (
        frame.astype({"c": float, "m": bool, "y": "float32", "group": "category"}),
        frame.assign(group=pd.Categorical(frame.group, ["c", "nobody", "b", "a"])),
        frame[["y", "m", "group", "c"]].assign(extra="no role"),
        frame.assign(m=frame.m * -1 * -1.0, c=frame.c.where(frame.c > 0, -0.0)),
        frame.set_index(frame.index[::-1]),
    ):
        assert rows_of(same).identity == expected
    moved = frame.copy()
    moved.loc[[0, 1], "c"] = [1, 0]  # every column holds the same values, in other company
    variants = [
        frame,
        frame.assign(y=frame.y.where(frame.index != 7, 2)),
        frame.assign(c=frame.c.where(frame.index != 7, math.nan)),
        moved,
        frame.iloc[:-1],
        pd.concat([frame, frame.iloc[:1]]),
        frame.astype({"c": str}),
        frame.assign(group=frame.group.replace("c", "d")),
        frame.assign(group=frame.group.str.upper().replace({"A": "a", "B": "b"})),
    ]
    prints = [rows_of(one, missing="category").identity.fingerprint for one in variants]
    prints.append(
        rows_of(frame.rename(columns={"c": "d"}), lending(confounders=["d"])).identity.fingerprint
    )
    assert len(set(prints)) == len(prints)


# --- groups --------------------------------------------------------------------------------------


def test_everyone_else_is_a_hand_made_second_group_row_by_row():
    frame = loans(900)
    frame["pooled"] = np.where(frame.group == "a", "a", "the rest")
    found = cf.decompose_disparity(frame, lending(comparison=None), estimator=LINEAR)
    model = lending(protected="pooled", comparison="the rest")
    expected = cf.decompose_disparity(frame, model, estimator=LINEAR)
    for effect, same in zip(found.table(), expected.table(), strict=True):
        assert effect.value == pytest.approx(same.value, abs=1e-12)  # sums in another order
        assert effect.standard_error == pytest.approx(same.standard_error, abs=1e-12)


def test_intersectional_groups_are_a_hand_made_combination():
    frame = loans(1200).assign(sex=lambda d: np.where(d.index % 3, "F", "M"))
    frame["both"] = frame.group + frame.sex
    model = lending(
        protected=["group", "sex"], reference=("a", "M"), comparison=("b", "F"), mediators=[]
    )
    by_hand = lending(protected="both", reference="aM", comparison="bF", mediators=[])
    for estimator in (None, LINEAR):
        for data in in_memory_and_lazy(frame).values():
            found = cf.decompose_disparity(data, model, estimator=estimator)
            expected = cf.decompose_disparity(frame, by_hand, estimator=estimator)
            assert found.direct.value == pytest.approx(expected.direct.value, abs=1e-12)
            assert found.direct.standard_error == pytest.approx(
                expected.direct.standard_error, abs=1e-12
            )
    assert (found.reference, found.comparison) == ("a, M", "b, F")


def test_spreads_have_a_coordinate_for_every_row_of_the_table():
    frame = loans(600).astype({"c": float})
    frame.loc[::20, "c"] = np.nan
    pair = rows_of(frame, missing="drop").pair(lending())
    assert pair.scatter(np.ones((2, len(pair)))).sum(axis=-1).tolist() == [len(pair)] * 2
    found = cf.decompose_disparity(frame, lending(), estimator=LINEAR, missing="drop")
    used = frame.group.isin(["a", "b"]) & frame.c.notna()
    assert found.total.spread.shape == (600,)
    assert np.array_equal(found.total.spread != 0, used.to_numpy())


def test_the_total_with_whole_weights_is_that_of_repeated_rows():
    frame = loans(600).assign(w=lambda d: d.index % 3)
    repeated = frame.loc[frame.index.repeat(frame.w)]
    weighted = cf.decompose_disparity(frame, lending(weights="w"), estimator=LINEAR)
    plain = cf.decompose_disparity(repeated, lending(), estimator=LINEAR)
    assert weighted.total.value == pytest.approx(plain.total.value, abs=1e-12)
    assert weighted.total.standard_error > plain.total.standard_error


# --- what the audited model sees -----------------------------------------------------------------


def test_a_model_is_told_another_group_and_nothing_else():
    frame = loans(50).set_index(pd.Index([7, 7] + [f"row {n}" for n in range(48)]))
    frame = frame.sample(frac=1, random_state=2)
    for name, data in in_memory_and_lazy(frame.reset_index(drop=True)).items():
        pair = rows_of(data).pair(lending())
        told = {group: pa.table(pair.features(group)).to_pandas() for group in (None, 0, 1)}
        assert set(told[0].group) == {"a"}, name
        assert set(told[1].group) == {"b"}, name
        assert list(told[1].columns) == ["group", "c", "m"], name
        inside = frame.iloc[pair.index].reset_index(drop=True)
        assert sorted(inside.index) == list(range(frame.group.isin(["a", "b"]).sum()))
        for group in (None, 0, 1):
            assert told[group][["c", "m"]].values.tolist() == inside[["c", "m"]].values.tolist()
        assert told[None].group.tolist() == inside.group.tolist()
    odd_index = rows_of(frame).pair(lending()).features(1)
    assert odd_index["c"].tolist() == inside.c.tolist()
    assert set(odd_index["group"]) == {"b"}


def test_a_model_sees_the_library_of_the_data(tmp_path):
    table = pa.Table.from_pandas(loans(50), preserve_index=False)
    kinds = {
        name: type(rows_of(data).pair(lending()).features(0)).__module__.split(".")[0]
        for name, data in every_form(table, tmp_path).items()
    }
    memory = {name: name.removeprefix("lazy ") for name in ("pandas", "polars", "lazy polars")}
    assert kinds == dict.fromkeys(kinds, "pyarrow") | memory


def test_a_pooled_group_has_no_single_value_to_tell_a_model():
    model = lending(comparison=None)
    with pytest.raises(PredictorError, match="comparison group pools several values of 'group'"):
        rows_of(loans()).pair(model).features(1)
    with pytest.raises(PredictorError, match="comparison group pools several values of 'group'"):
        open_table(loans()).cells(model, "outcome").pair(model).features(1)
    assert set(rows_of(loans()).pair(model).features(0)["group"]) == {"a"}
