"""The twelve world means once more: rational arithmetic over plain dictionaries (methods §2)."""

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import causalfairness as cf
from causalfairness.estimators import Strata
from causalfairness.estimators.strata import Counts
from causalfairness.tables import open_table
from forms import every_form

EDGE = 2**53
KINDS = {  # three levels, their type, and whether text keeps them
    "whole numbers": ([-1, 0, 7], pa.int16(), True),
    "ids": ([EDGE, EDGE + 1, 5], pa.int64(), True),
    "negative ids": ([-EDGE - 1, -EDGE, 0], pa.int64(), True),
    "unsigned ids": ([2**64 - 1, 2**64 - 2, 2**63], pa.uint64(), False),
    "ids of 30 digits": ([Decimal(10**29 + at) for at in range(3)], pa.decimal128(38, 0), False),
    "truths": ([True, False], pa.bool_(), True),
    "words": (["a", "A", "é b"], pa.string(), True),
    "digits in words": (["x1", "x01", "x1.0"], pa.string(), True),
    "days": ([dt.date(2020, 1, 1), dt.date(1969, 12, 31), dt.date(2020, 1, 2)], pa.date32(), True),
    "categories": (["low", "high", "NA "], pa.dictionary(pa.int8(), pa.string()), False),
    "floats": ([0.1, -2.5, 1e9], pa.float64(), True),
    "near floats": ([1.0, 1.0 + 2**-52, -0.0], pa.float64(), False),
    "decimals": ([Decimal("1.20"), Decimal("-0.60")], pa.decimal128(5, 2), False),
}
WITH_GAPS = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}  # pandas: else floats
NAMES = [
    ("g", "c", "m", "y", "score", "w"),
    ("^q$", "^.*$", "**", "q", "^y$", "^w"),
    ("key0", "key1", "number of rows", "y0", "rows", "wy0"),
    ("select", "from", "group", "order", "null", "count(*)"),
    ('"', "'", "{0}", "a,b", "日本語", "%s"),
]


@st.composite
def studies(draw):
    """Rows, types and roles. Every profile is there in both groups: nothing is filled."""
    names = draw(st.sampled_from(NAMES))
    kinds = [KINDS[draw(st.sampled_from(sorted(KINDS)))] for _ in range(3)]
    missing = draw(st.sampled_from(["refuse", "drop", "category"]))
    levels = [list(kind[0]) for kind in kinds]
    if missing != "refuse":
        for each in levels[1:]:
            each[-1] = None
    weights = st.sampled_from([0.25, 1.0, 3.0, 1024.5]) if draw(st.booleans()) else st.just(None)
    values = st.sampled_from(draw(st.sampled_from([[0.0, 1.0], [-1.5, 0.1, 40.0]])))
    seeds = list(product(levels[0], levels[1], levels[2])) * 2
    more = st.tuples(*(st.sampled_from(each) for each in levels))
    seeds += draw(st.lists(more, max_size=12))
    rows = [
        (*seed, draw(values), draw(st.sampled_from([0.25, 0.7])), draw(weights)) for seed in seeds
    ]
    rows[0] = (*rows[0][:3], draw(values) + 1.0, 1.0, rows[0][5])  # outcomes vary
    types = [*(kind[1] for kind in kinds), pa.float64(), pa.float64(), pa.float64()]
    weighted = rows[0][5] is not None
    table = pa.table(
        {
            name: pa.array([row[at] for row in rows], types[at])
            for at, name in enumerate(names)
            if at < 5 or weighted
        }
    )
    model = cf.StandardFairnessModel(
        protected=names[0],
        reference=levels[0][0],
        comparison=levels[0][1],
        confounders=[names[1]],
        mediators=[names[2]],
        outcome=names[3],
        prediction=names[4],
        weights=names[5] if weighted else None,
    )
    return table, model, missing, rows, all(kind[2] for kind in kinds)


def world_means(rows, groups, measured, missing):
    """mu[i, j, k] = sum over c, m of E[y | i, m, c] P(m | j, c) P(c | k), in fractions."""
    weight, outcome = defaultdict(Fraction), defaultdict(Fraction)
    for row in rows:
        group, c, m = row[:3]
        if group not in groups or (missing == "drop" and None in (c, m)):
            continue
        w = Fraction(1 if row[5] is None else row[5])
        for key in product((groups.index(group), "all"), (c, "all"), (m, "all")):
            weight[key] += w
            outcome[key] += w * Fraction(row[measured])
    strata = {c for _, c, _ in weight} - {"all"}
    mediators = {m for _, _, m in weight} - {"all"}
    found = {}
    for i, j, k in product((0, 1), (0, 1), (0, 1, "all")):
        found[i, j, "everyone" if k == "all" else k] = sum(
            outcome[i, c, m] / weight[i, c, m]
            * weight[j, c, m] / weight[j, c, "all"]
            * weight[k, c, "all"] / weight[k, "all", "all"]
            for c, m in product(strata, mediators)
        )  # fmt: skip
    return found


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(studies())
def test_strata_agrees_with_fractions_on_every_kind_of_column_and_engine(tmp_path, study):
    table, model, missing, rows, csv = study
    groups = [model.reference, model.comparison]
    expected = [world_means(rows, groups, measured, missing) for measured in (3, 4)]
    forms = every_form(table, tmp_path, csv=csv)
    forms["pandas"] = table.to_pandas(types_mapper=WITH_GAPS.get)
    for name, data in forms.items():
        both = open_table(data, missing=missing).cells_of_both(model)
        for cells, means in zip(both, expected, strict=True):
            found = Strata().estimate(Counts(cells, {}), model, workers=1, seed=0).world_means
            size = max(abs(float(mean)) for mean in means.values())
            for world, mean in means.items():
                error = abs(found[world].value - float(mean))
                assert error <= 1e-12 * size, (name, world, table.schema)


def test_the_second_implementation_knows_the_textbook_example():
    """One confounder, no mediator that matters: the means of a table worked out by hand."""
    rows = [(g, c, 0, y, 0.0, None) for g, c, y in [
        (0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 0), (1, 1, 1)
    ]]  # fmt: skip
    found = world_means(rows, [0, 1], 3, "refuse")
    assert found[0, 0, 0] == Fraction(3, 4)
    assert found[1, 1, 1] == Fraction(1, 2)
    assert found[1, 1, 0] == Fraction(1, 2) * 1 + Fraction(1, 2) * Fraction(1, 3)
    assert found[0, 0, "everyone"] == Fraction(3, 8) * Fraction(1, 2) + Fraction(5, 8)
    assert np.isclose(float(found[0, 1, 1]), 7 / 8)
