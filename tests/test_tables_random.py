"""Cells of random tables of every kind of column, against a dict of lists."""

import datetime as dt
import math
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import causalfairness as cf
from forms import assert_same_cells, cells_of, contents, every_form, lending

repeatable = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

LABELS = st.sampled_from(["a", "b", "B", "é", "two words", "1", "NA"])
WHOLE = st.integers(-2, 2)
FLOATS = st.sampled_from([-0.0, 0.0, 1.5, -2.25, 0.1, 1e9])
DAYS = st.sampled_from([dt.date(2020, 1, 1), dt.date(1969, 12, 31), dt.date(2020, 1, 2)])
MOMENTS = st.sampled_from(
    [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 9, 30), dt.datetime(2020, 1, 1, 9, 30, 0, 5)]
)
KEYS = {
    "strings": (LABELS, pa.string()),
    "categories": (LABELS, pa.dictionary(pa.int8(), pa.string())),
    "booleans": (st.booleans(), pa.bool_()),
    "whole numbers": (WHOLE, pa.int16()),
    "whole numbers as floats": (WHOLE.map(float), pa.float64()),
    "floats": (st.one_of(FLOATS, st.just(math.nan)), pa.float64()),
    "single floats": (FLOATS.map(lambda v: float(np.float32(v))), pa.float32()),
    "days": (DAYS, pa.date32()),
    "moments": (MOMENTS, pa.timestamp("us")),
    "milliseconds": (MOMENTS.filter(lambda m: not m.microsecond), pa.timestamp("ms")),
    "decimals": (st.sampled_from([Decimal("1.20"), Decimal("-0.60")]), pa.decimal128(5, 2)),
}
OUTCOMES = {
    "whole": (WHOLE, pa.int32()),
    "binary": (st.booleans(), pa.bool_()),
    "binary as floats": (st.booleans().map(float), pa.float64()),
    "floats": (st.floats(-1e6, 1e6).map(lambda y: round(y, 9)), pa.float64()),
    "large and small": (st.sampled_from([1e-9, -3e15, 7.0, 0.1]), pa.float64()),
    "decimals": (st.sampled_from(list(map(Decimal, ("1.2", "0.6", "1")))), pa.decimal128(4, 1)),
}
WEIGHTS = {"none": None, "whole": st.integers(0, 3), "survey": st.sampled_from([0.0, 0.1, 17.25])}


@st.composite
def tables(draw):
    """A table of protected g, confounder c, mediator m, outcome y and perhaps weights w."""
    rows = draw(st.integers(1, 12))
    missing = draw(st.sampled_from(["drop", "category"]))

    def column(values, kind, gaps):
        missing = st.sampled_from([None, math.nan] if kind == pa.float64() else [None])
        may_miss = st.one_of(values, missing) if gaps else values
        return pa.array(draw(st.lists(may_miss, min_size=rows, max_size=rows)), kind)

    columns = {
        name: column(*KEYS[draw(st.sampled_from(sorted(KEYS)))], draw(st.booleans()))
        for name in ("g", "c", "m")
    }
    gaps = missing == "drop"
    columns["y"] = column(*OUTCOMES[draw(st.sampled_from(sorted(OUTCOMES)))], gaps)
    weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    if weights is not None:
        columns["w"] = column(weights, pa.float64(), gaps)
    return pa.table(columns), missing


def plainly(value):
    """A value as the library should see it: a number, a word, or None for missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, (bool, int, float, Decimal)):
        return float(value) + 0.0
    return str(value).removesuffix(" 00:00:00")


def counted_slowly(table, missing):
    """The definition of cells: a dict of lists. Also rows dropped per group, gaps per column."""
    members, dropped, gaps = defaultdict(list), defaultdict(int), defaultdict(int)
    for row in table.to_pylist():
        row = {name: plainly(value) for name, value in row.items()}
        for name, value in row.items():
            gaps[name] += value is None
        if missing == "drop" and None in row.values():
            dropped[row["g"]] += 1
        else:
            members[row["g"], row["c"], row["m"]].append((row.get("w", 1.0), row["y"]))
    powers = [(1, 0), (2, 0), (1, 1), (2, 1), (2, 2)]
    sums = {
        cell: [len(rows), *(math.fsum(w**i * y**j for w, y in rows) for i, j in powers)]
        for cell, rows in members.items()
    }
    return sums, dict(dropped), {name: count for name, count in gaps.items() if count}


@repeatable
@given(tables())
def test_random_tables_give_the_cells_of_a_slow_count_in_every_form(tmp_path, made):
    table, missing = made
    model = cf.StandardFairnessModel(
        protected="g",
        reference="a",
        comparison="b",
        confounders=["c"],
        mediators=["m"],
        outcome="y",
        weights="w" if "w" in table.column_names else None,
    )
    slow, dropped, gaps = counted_slowly(table, missing)
    fingerprints = set()
    for name, data in every_form(table, tmp_path, csv=False).items():
        cells = cells_of(data, model, missing=missing)
        found = contents(cells)
        assert found.keys() == slow.keys(), name
        for cell, sums in slow.items():
            size = max(map(abs, sums))
            np.testing.assert_allclose(found[cell], sums, rtol=1e-12, atol=1e-12 * size)
        fingerprints.add(cells.fingerprint)
        account = cells.account
        assert (account.read, account.used) == (len(table), sum(s[0] for s in slow.values()))
        assert sorted(account.dropped.values()) == sorted(dropped.values()), name
        assert account.missing == gaps, name
        binary = {plainly(y) for y in table["y"].to_pylist()} <= {0.0, 1.0, None}
        assert cells.is_binary == binary or "w" in table.column_names, name
    assert len(fingerprints) == 1


TEXT_KEEPS = {
    "strings": (["a", "é", "two words", "yes", None], pa.string()),
    "categories": (["a", "no", "yes", None], pa.dictionary(pa.int8(), pa.string())),
    "booleans": ([True, False, None], pa.bool_()),
    "whole numbers": ([-2, 0, 1, None], pa.int16()),
    "floats": ([-2.5, 0.1, 1e9, None], pa.float64()),
    "days": ([dt.date(2020, 1, 1), dt.date(1969, 12, 31), None], pa.date32()),
    "moments": ([dt.datetime(2020, 1, 1, 9, 30), dt.datetime(2020, 1, 1), None], None),
}


@pytest.mark.parametrize("kind", TEXT_KEEPS)
def test_csv_files_keep_the_kinds_of_columns_that_text_can_keep(kind, tmp_path):
    values, arrow = TEXT_KEEPS[kind]
    rows = 2 * len(values)
    table = pa.table(
        {
            "group": ["a", "b"] * len(values),
            "c": pa.array(values + values[::-1], arrow),
            "y": [float(row % 3) for row in range(rows)],
        }
    )
    model = lending(mediators=[])
    forms = every_form(table, tmp_path)
    expected = cells_of(table, model, missing="category")
    assert len({cell[1] for cell in contents(expected)}) == len(values)
    assert_same_cells(cells_of(forms["csv file"], model, missing="category"), expected)
    assert_same_cells(cells_of(forms["zipped csv"], model, missing="category"), expected)
