"""Fair adaptation: CPU time on COMPAS, memory and growth on rows like those of the census.

R's fairadapt needs 16.6 CPU s (forests) and 10.7 CPU s (linear quantiles) for the same COMPAS rows,
and about 9 GB for 48,000 rows of 17 columns: published figures, not measured here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import causalfairness as cf
from benchmarks.measuring import Finding, cpu_seconds, peak_megabytes
from causalfairness.adaptation import LinearQuantiles

MEDIATORS = (
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "c_charge_degree",
)
COMPAS = cf.CausalGraph.parse(
    f"race <-> {{age, sex}}; {{race, age, sex}} -> {{{', '.join(MEDIATORS)}}}; "
    f"{{race, age, sex, {', '.join(MEDIATORS)}}} -> two_year_recid"
)
CENSUS_ROWS = 48_000
CENSUS_COLUMNS = 17
GROWTH = {"small": (3_000, 12_000), "standard": (6_000, 24_000), "large": (24_000, 96_000)}


def census_graph() -> cf.CausalGraph:
    """Seventeen columns: a group, three roots, twelve mediators in a chain, an outcome."""
    roots = ["c0", "c1", "c2"]
    arrows, before = [], ["sex", *roots]
    for column in [*(f"m{k}" for k in range(12)), "income"]:
        arrows += [(cause, column) for cause in before]
        before.append(column)
    return cf.CausalGraph.from_edges(arrows, [("sex", root) for root in roots])


def census(rows: int, seed: int = 0) -> Any:
    """Rows like those of a census: numbers, counts and words, all of them shifted by the group."""
    import pandas

    rng = np.random.default_rng(seed)
    group = rng.random(rows) < 0.33
    data: dict[str, Any] = {"sex": np.where(group, "Female", "Male")}
    for k in range(3):
        data[f"c{k}"] = rng.normal(size=rows)
    drive = 0.5 * group + 0.3 * data["c0"]
    for k in range(12):
        value = drive + 0.2 * data[f"c{k % 3}"] + rng.normal(size=rows)
        if k % 3 == 1:
            value = np.floor(np.exp(0.8 * value))
        elif k % 3 == 2:
            value = np.array(["a", "b", "c", "d"])[np.digitize(value, (-1, 0.2, 1.5))]
        data[f"m{k}"] = value
    data["income"] = (drive + rng.normal(size=rows) > 0.5).astype(int)
    return pandas.DataFrame(data)


def compas(learner: Any = None) -> None:
    """All 7,214 rows, everyone adapted to the Caucasian group, age and sex untouched."""
    rows = cf.datasets.load_compas(propublica_filter=False, frame="pandas")
    columns = ["race", "age", "sex", *MEDIATORS, "two_year_recid"]
    adapter = cf.FairAdapter(COMPAS, protected="race", reference="Caucasian", learner=learner)
    adapter.fit(rows[columns]).transform(rows[columns])


def adapt_census(rows: int) -> None:
    """Fit on the rows and adapt them."""
    people = census(rows)
    adapter = cf.FairAdapter(census_graph(), protected="sex", reference="Male", outcome="income")
    adapter.fit(people).transform(people)


def measure(size: str) -> Iterator[Finding]:
    """CPU time on COMPAS by two learners, memory at 48,000 rows, and growth with rows."""
    from threadpoolctl import threadpool_limits

    compas()  # what is loaded on first use
    with threadpool_limits(limits=1):
        for name, learner in (("by default", None), ("linear quantiles", LinearQuantiles())):
            seconds = min(cpu_seconds(lambda learner=learner: compas(learner)) for _ in range(2))
            yield Finding(f"COMPAS adapted, {name}", seconds, "CPU s", "< 8", seconds < 8)
        few, many = GROWTH[size]
        times = [cpu_seconds(lambda rows=rows: adapt_census(rows)) for rows in (few, many)]
        exponent = float(np.log(times[1] / times[0]) / np.log(many / few))
    name = f"{CENSUS_COLUMNS} columns adapted"
    yield Finding(f"{name}, {many:,} rows", times[1], "CPU s")
    yield Finding(
        f"{name}, {few:,} to {many:,} rows, exponent", exponent, "", "<= 1.2", exponent <= 1.2
    )
    rows = few if size == "small" else CENSUS_ROWS
    peak = peak_megabytes(adapt_census, rows)
    yield Finding(f"{name}, {rows:,} rows, peak memory", peak, "MB", "< 2000", peak < 2000)
