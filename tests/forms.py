"""One table in every form that is accepted, and what its cells hold: shared by tests."""

from __future__ import annotations

import gzip
import shutil

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import causalfairness as cf
from causalfairness.tables import open_table

WEIGHTED = ("w", "w2", "wy", "w2y", "w2y2")
BINARY_COMPAS = {"reference": "Caucasian", "comparison": "African-American"}


def every_form(table, folder, *, csv=True):
    """The same arrow table as a frame, lazy frame, relation, file and several files.

    CSV keeps no types: leave it out where the types are the point.
    """
    folder.mkdir(exist_ok=True)
    whole, parts = folder / "whole.parquet", folder / "parts"
    pq.write_table(table, whole)
    parts.mkdir(exist_ok=True)
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), parts / "part-1.parquet")
    pq.write_table(table.slice(half), parts / "part-2.parquet")
    forms = {
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "lazy polars": pl.from_arrow(table).lazy(),
        "pyarrow": table,
        "duckdb relation": duckdb.from_arrow(table),
        "parquet file": whole,
        "parquet parts": str(parts / "part-*.parquet"),
    }
    if csv:
        plain, zipped = folder / "plain.csv", folder / "zipped.csv.gz"
        pa.csv.write_csv(table, plain)
        with plain.open("rb") as source, gzip.open(zipped, "wb") as target:
            shutil.copyfileobj(source, target)
        forms |= {"csv file": plain, "zipped csv": zipped}
    return forms


def in_memory_and_lazy(frame):
    """A pandas frame as it is and where nothing is read at once: for the same refusals."""
    return {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "lazy polars": pl.from_pandas(frame).lazy(),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "duckdb relation": duckdb.from_df(frame),
    }


def compas(**roles):
    """Recidivism, all races; few enough values to count by."""
    return cf.StandardFairnessModel(
        **{
            "protected": "race",
            **BINARY_COMPAS,
            "confounders": ["sex", "age_cat"],
            "mediators": ["c_charge_degree"],
            "outcome": "two_year_recid",
            **roles,
        }
    )


def loans(rows=400, seed=0):
    """A small made-up pandas table: group a, b, c; confounder c; mediator m; outcome y."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2])
    c, m = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    y = (rng.random(rows) < 0.2 + 0.2 * (group == "b") + 0.3 * m).astype(int)
    return pd.DataFrame({"group": group, "c": c, "m": m, "y": y})


def lending(**roles):
    """The roles of `loans`."""
    return cf.StandardFairnessModel(
        **{
            "protected": "group",
            "reference": "a",
            "comparison": "b",
            "confounders": ["c"],
            "mediators": ["m"],
            "outcome": "y",
            **roles,
        }
    )


def cells_of(data, model, *, missing="refuse", of="outcome"):
    return open_table(data, missing=missing).cells(model, of)


def contents(cells):
    """Values of group, confounders and mediators -> sums, as a dict."""
    levels = [key.levels() for key in cells.keys]
    sums = np.column_stack([cells.sums.rows, *(getattr(cells.sums, name) for name in WEIGHTED)])
    return {
        tuple(level.values[level.codes[at]] for level in levels): sums[at]
        for at in range(len(cells))
    }


def assert_same_cells(found, expected):
    """Counts and values exactly, sums to rounding: engines add in different orders."""
    assert list(contents(found)) == list(contents(expected))
    assert found.sums.rows.tolist() == expected.sums.rows.tolist()
    for name in WEIGHTED:
        one, other = getattr(found.sums, name), getattr(expected.sums, name)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * np.abs(other).max())
    for name in ("group", "profile", "stratum"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.fingerprint == expected.fingerprint
    assert (found.groups, found.is_binary) == (expected.groups, expected.is_binary)
    assert found.account == expected.account
