"""Whole numbers beyond 2^53 are kept apart exactly, or refused by name, on every engine."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import ColumnTypeError, GroupNotFoundError, OutcomeError
from causalfairness.estimators import DoublyRobust
from causalfairness.tables import open_table
from causalfairness.tables.columns import Column
from causalfairness.tables.groups import canonical, shown
from forms import cells_of, every_form, lending, loans

EDGE = 2**53
PLAIN = pa.Table.from_pandas(loans(), preserve_index=False).replace_schema_metadata(None)
KINDS = {
    "integers": (EDGE, pa.int64()),
    "negative": (-EDGE - 1, pa.int64()),
    "at the end": (2**63 - 2, pa.int64()),
    "unsigned": (2**64 - 2, pa.uint64()),
    "decimals": (10**30, pa.decimal128(38, 0)),
    "fractions of zero": (10**30, pa.decimal128(38, 2)),
}


def with_column(name, values, kind=None):
    place = PLAIN.column_names.index(name)
    return PLAIN.set_column(place, name, pa.array(values, kind))


def moved(name, base, kind=None):
    """The table with a 0/1 column moved far away; its differences stay."""
    kind = pa.int64() if kind is None else kind
    values = [base + value for value in PLAIN[name].to_pylist()]
    return with_column(name, map(Decimal, values) if pa.types.is_decimal(kind) else values, kind)


def parts(data, model=None, **options):
    found = cf.decompose_disparity(data, model or lending(), **options)
    return [each.value for each in (found.direct, found.indirect, found.spurious, found.total)]


EXPECTED = parts(PLAIN)


@pytest.mark.parametrize(("kind", "role"), [*((kind, "m") for kind in KINDS), ("integers", "c")])
def test_levels_beyond_2_to_the_53_stay_apart(kind, role, tmp_path):
    base, arrow = KINDS[kind]
    table = moved(role, base, arrow)
    csv = kind != "fractions of zero"  # which text makes floats of
    prints = set()
    for name, data in every_form(table, tmp_path, csv=csv).items():
        assert parts(data) == pytest.approx(EXPECTED, abs=1e-12), name
        opened = open_table(data)
        assert opened.value_counts((role,)) == {role: 2}, name
        assert opened.values(role) == (base, base + 1), name
        prints.add(opened.cells(lending(), "outcome").fingerprint)
    assert len(prints) == 1


def test_integers_of_pandas_are_exact_whatever_holds_them():
    words = [EDGE + value for value in PLAIN["m"].to_pylist()]
    for kind in ("Int64", "object", "UInt64"):
        frame = PLAIN.to_pandas().assign(m=pd.Series(words, dtype=kind))
        assert parts(frame) == pytest.approx(EXPECTED, abs=1e-12), kind
    with pytest.raises(ColumnTypeError, match="column 'm' cannot be read"):
        parts(PLAIN.to_pandas().assign(m=[word * 2**70 for word in words]))


def test_groups_are_named_by_ids_of_any_size(tmp_path):
    ids = {"a": EDGE, "b": EDGE + 1, "c": 5}
    table = with_column("group", [ids[group] for group in PLAIN["group"].to_pylist()])
    model = lending(reference=EDGE, comparison=EDGE + 1)
    sizes = {
        (ids[group],): count for (group,), count in open_table(PLAIN).people(lending()).items()
    }
    for name, data in every_form(table, tmp_path).items():
        assert parts(data, model) == pytest.approx(EXPECTED, abs=1e-12), name
        assert open_table(data).people(model) == sizes, name
        with pytest.raises(GroupNotFoundError, match=r"9007199254740995.*5; 9007199254740992"):
            parts(data, lending(reference=EDGE, comparison=EDGE + 3))
    assert shown((EDGE + 1, 1e15 + 1, 0.5)) == "9007199254740993, 1000000000000001, 0.5"


def test_an_outcome_value_of_any_size_counts_where_it_is_that_value(tmp_path):
    for kind in (pa.int64(), pa.decimal128(38, 2)):
        table = moved("y", EDGE, kind)
        for name, data in every_form(table, tmp_path, csv=kind == pa.int64()).items():
            one = parts(data, lending(outcome_value=EDGE + 1))
            assert one == pytest.approx(EXPECTED, abs=1e-12), (name, kind)
            with pytest.raises(OutcomeError, match="outcome_value=9007199254740995 does not occur"):
                parts(data, lending(outcome_value=EDGE + 3))


@pytest.mark.parametrize("role", ["outcome", "prediction", "weights"])
def test_measurements_that_floats_would_change_are_refused(role, tmp_path):
    table = PLAIN.append_column("z", pa.array([EDGE + v for v in PLAIN["m"].to_pylist()]))
    model, of = lending(**{role: "z"}), "prediction" if role == "prediction" else "outcome"
    for name, data in every_form(table, tmp_path).items():
        with pytest.raises(
            ColumnTypeError, match="'z' holds 9007199254740993, which floating"
        ) as e:
            parts(data, model, of=of)
        assert "subtract a constant" in str(e.value), name


def test_amounts_that_floats_would_change_are_refused_unless_they_are_codes(tmp_path):
    table = moved("m", EDGE)
    with pytest.raises(ColumnTypeError, match="'m' holds 9007199254740993"):
        parts(table, estimator=DoublyRobust())
    words = with_column("m", [f"{word}" for word in table["m"].to_pylist()])
    expected = open_table(words).rows(lending(), "outcome").pair(lending()).mediators
    for name, data in every_form(table, tmp_path).items():
        with pytest.raises(ColumnTypeError, match="'m' holds 9007199254740993"):
            open_table(data).rows(lending(), "outcome").pair(lending())
        codes = cf.Table(data, categorical=["m"]).rows(lending(), "outcome").pair(lending())
        assert codes.mediators.tolist() == expected.tolist(), name


def test_large_amounts_that_floats_hold_are_amounts(tmp_path):
    table = moved("y", EDGE)
    even = table.set_column(3, "y", pa.array([EDGE + 2 * y for y in PLAIN["y"].to_pylist()]))
    rows = [
        open_table(data).rows(lending(), "outcome") for data in every_form(even, tmp_path).values()
    ]
    assert all({*each.outcome} == {EDGE, EDGE + 2} for each in rows)
    weighted = PLAIN.append_column("w", pa.array([EDGE + 2 * m for m in PLAIN["m"].to_pylist()]))
    for data in every_form(weighted, tmp_path).values():
        assert parts(data, lending(weights="w")) == pytest.approx(EXPECTED, abs=1e-12)


def test_floats_of_that_size_are_no_levels(tmp_path):
    """Whoever made floats of ids has merged some of them: pandas does where one is missing."""
    ids = [float(EDGE + 2 * value) for value in PLAIN["m"].to_pylist()]
    for role, model in {"m": lending(), "group": lending(reference=1, comparison=2)}.items():
        for data in every_form(with_column(role, ids), tmp_path, csv=False).values():
            with pytest.raises(ColumnTypeError, match=r"holds floats as large as 9.0072e\+15"):
                parts(data, model)
    for data in every_form(with_column("y", ids), tmp_path, csv=False).values():
        with pytest.raises(ColumnTypeError, match=r"'y' holds floats as large as 9.0072e\+15"):
            parts(data, lending(outcome_value=EDGE))


def test_decimals_that_floats_merge_are_refused(tmp_path):
    digits = "0.1000000000000000000"
    values = [Decimal(f"{digits}{value}") for value in PLAIN["m"].to_pylist()]
    for data in every_form(with_column("m", values), tmp_path, csv=False).values():
        with pytest.raises(ColumnTypeError, match=f"'m' holds {digits}1"):
            parts(data)


@pytest.mark.parametrize("read", ["cells", "rows"])
def test_fingerprints_tell_tables_apart_that_differ_beyond_2_to_the_53(read):
    prints = set()
    for values in ([EDGE, EDGE], [EDGE, EDGE + 1], [EDGE + 1, EDGE + 1], [EDGE + 1, EDGE + 2]):
        table = with_column("m", [values[m] for m in PLAIN["m"].to_pylist()])
        found = getattr(open_table(table), read)(lending(), "outcome")
        prints.add(found.fingerprint if read == "cells" else found.identity.fingerprint)
    words = with_column("m", [f"{EDGE + m}" for m in PLAIN["m"].to_pylist()])
    found = getattr(open_table(words), read)(lending(), "outcome")
    prints.add(found.fingerprint if read == "cells" else found.identity.fingerprint)
    assert len(prints) == 5


def test_fingerprints_of_ordinary_data_are_those_of_earlier_versions():
    """Kept answers and records are recognized by them."""
    model = cf.StandardFairnessModel(
        protected="race",
        reference="Caucasian",
        comparison="African-American",
        confounders=["sex", "age"],
        mediators=["priors_count"],
        outcome="two_year_recid",
    )
    table = open_table(cf.datasets.load_compas())
    assert table.cells(model, "outcome").fingerprint[:16] == "a8e4c86f6953f9c5"
    assert table.rows(model, "outcome").identity.fingerprint[:16] == "f8f9f834f1b2c7f0"


def test_people_are_found_by_ids_of_any_size():
    ids = [EDGE + at for at in range(len(PLAIN))]
    table = PLAIN.append_column("id", pa.array(ids))
    roles = {"protected": "group", "comparison": "b", "reference": "a", "decision": "y"}
    for data in (table, table.to_pandas(), pl.from_arrow(table)):
        found = cf.situation_test(data, **roles, features=["c", "m"], favorable=1, ids="id", k=5)
        for row in found.table()["row"][:3]:
            assert found.dossier(ids[row]).person == f"id {ids[row]}"
    with pytest.raises(ColumnTypeError, match="'id' holds 9007199254741391"):
        cf.situation_test(table, **roles, features=["c", "id"], favorable=1, k=5)


def test_structural_models_refuse_what_they_cannot_calculate_with():
    graph = cf.CausalGraph.parse("group -> m; {group, m} -> y")
    table = moved("m", EDGE).select(["group", "m", "y"])
    with pytest.raises(ColumnTypeError, match="'m' holds 9007199254740993"):
        cf.StructuralCausalModel.fit(graph, table)


def test_a_value_is_compared_exactly():
    large = Column("id", None, np.array([0, 1, -1]), (f"{EDGE}", f"{EDGE + 1}"), exact=True)
    assert large.is_value(canonical(EDGE + 1)).tolist() == [False, True, False]
    assert large.is_value(float(EDGE)).tolist() == [True, False, False]
    floats = Column.numbers("id", np.array([float(EDGE), np.nan]), exact=True)
    assert not floats.is_value(EDGE + 1).any()
    assert canonical(Decimal(EDGE + 1)) == EDGE + 1
    assert canonical(Decimal("0.1")) == 0.1
    assert canonical(10**400) == 10**400
    assert large.as_codes().labels == (f"{EDGE}", f"{EDGE + 1}")
    assert large.take(np.array([1])).levels().values == (EDGE + 1,)


def test_bins_are_cut_only_where_floats_tell_whole_numbers_apart(tmp_path):
    for data in every_form(moved("m", EDGE), tmp_path).values():
        with pytest.raises(ColumnTypeError, match="'m' would be cut at"):
            open_table(data).coarsened({"m": [EDGE]})
    assert cells_of(moved("m", EDGE), lending()).keys[2].exact
