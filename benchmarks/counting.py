"""Counting ten million rows of Parquet: against a bare GROUP BY, and against pandas."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import causalfairness as cf
from benchmarks.measuring import Finding, best_of, peak_megabytes
from causalfairness.estimators import Strata
from causalfairness.estimators import strata as strata_module
from causalfairness.estimators.saturated import Saturated
from causalfairness.tables import open_table

ROWS = {"small": 10**6, "standard": 10**7, "large": 10**8}
MODEL = cf.StandardFairnessModel(
    protected="grp",
    reference="a",
    comparison="b",
    confounders=["c1", "c2"],
    mediators=["m1", "m2"],
    outcome="y",
)
KEYS = "grp, c1, c2, m1, m2"  # 2 x 8 x 7 x 16 x 8 = 14,336 cells


TABLES = {  # how the columns c1 and m2 are stored; engines and pandas differ in what they like
    "numbers": ("(h >> 8) % 8", "(h >> 32) % 8"),
    "words": ("'schooling ' || (h >> 8) % 8", "'occupation ' || (h >> 32) % 8"),
}


def write_rows(path: Path, rows: int, kind: str) -> None:
    """Rows with every cell filled and an outcome on all columns; the group is always a word."""
    import duckdb

    c1, m2 = TABLES[kind]

    duckdb.sql(f"""
        COPY (
            SELECT CASE WHEN h % 5 < 2 THEN 'a' ELSE 'b' END AS grp,
                   {c1} AS c1, (h >> 16) % 7 AS c2, (h >> 24) % 16 AS m1, {m2} AS m2,
                   CAST((h >> 40) % 100 < 20 + (h >> 24) % 16 + 3 * ((h >> 8) % 8)
                        + CASE WHEN h % 5 < 2 THEN 0 ELSE 10 END AS INTEGER) AS y
            FROM (SELECT hash(range) AS h FROM range({rows}))
        ) TO '{path}' (FORMAT parquet)""")


def bare_group_by(path: str) -> None:
    """The least that any counting must do."""
    import duckdb

    duckdb.connect().sql(
        f"SELECT {KEYS}, count(*), sum(y), sum(y * y) FROM read_parquet('{path}') GROUP BY {KEYS}"
    ).to_arrow_table()


def with_pandas(path: str) -> None:
    """What most people would write."""
    import pandas

    frame = pandas.read_parquet(path)
    frame["y2"] = frame["y"] * frame["y"]
    frame.groupby(KEYS.split(", "), observed=True).agg(
        n=("y", "size"), s=("y", "sum"), s2=("y2", "sum")
    )


def decompose(path: str) -> None:
    """End to end: count, fingerprint, twelve world means with standard errors, every effect."""
    cf.decompose_disparity(path, MODEL, estimator=Strata()).table().to_records()


def measure(size: str) -> Iterator[Finding]:
    """The same targets for a table of numbers and for one with words in it."""
    for kind in TABLES:
        yield from _measure(size, kind)


def _measure(size: str, kind: str) -> Iterator[Finding]:
    """Ratios against the peers, memory, and the price of standard errors."""
    rows = ROWS[size]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, rows, kind)
        name = f"counting {rows:,} rows, {kind}"
        for work in (decompose, bare_group_by):
            work(str(path))  # imports and file cache
        peers = {
            "ours": lambda: decompose(str(path)),
            "bare": lambda: bare_group_by(str(path)),
        }
        if size != "large":
            peers["pandas"] = lambda: with_pandas(str(path))
        times = best_of(peers, rounds=5 if size != "large" else 2)
        yield Finding(f"{name}, end to end", times["ours"], "s")
        ratio = times["ours"] / times["bare"]
        yield Finding(f"{name} / bare GROUP BY", ratio, "x", "<= 1.5", ratio <= 1.5)
        if "pandas" in times:
            yield Finding(f"pandas groupby, {kind}", times["pandas"], "s")
            gain = times["pandas"] / times["ours"]
            yield Finding(f"pandas groupby / {name}", gain, "x", ">= 5", gain >= 5)
        peak = peak_megabytes(decompose, str(path))
        yield Finding(f"{name}, peak memory", peak, "MB", "< 600", peak < 600)
        yield _price_of_standard_errors(str(path), times["ours"])


def _price_of_standard_errors(path: str, whole: float) -> Finding:
    pair = open_table(path).cells(MODEL, "outcome").pair(MODEL)
    weight, total = pair.by_profile(pair.sums.w), pair.by_profile(pair.sums.wy)
    everyone = weight.min(axis=0) > 0
    cells = Saturated(weight, total / weight, pair.stratum)
    pieces = strata_module._pieces(pair, everyone, cells)
    started = time.perf_counter()
    (
        pieces.spreads(),
        pieces.share_spread(),
        pieces.group_mean_spread(0),
        pieces.group_mean_spread(1),
    )
    share = (time.perf_counter() - started) / whole
    return Finding("standard errors, share of the whole", 100 * share, "%", "< 10", share < 0.10)
