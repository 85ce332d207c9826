"""Does situation testing find whom it should? Against the definition, and in worlds with answers.

The oracle below is the definition of methods §8, one person at a time, in plain Python.
"""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from benchmarks.coverage.situations import applicants, compared
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import causalfairness as cf
from causalfairness.datasets.loan import make_loan_application_counterfactual
from causalfairness.errors import (
    ColumnNotFoundError,
    ColumnTypeError,
    GroupNotFoundError,
    InterventionError,
    MissingValuesError,
    OutcomeError,
    PredictorError,
    RoleColumnError,
    RoleError,
    SituationError,
    WeightError,
)
from causalfairness.individuals import MixedDistance, published_situation_test
from causalfairness.individuals.situation_evidence import (
    Counts,
    IntervalRule,
    PublishedRule,
    interval_rule,
)
from causalfairness.individuals.situation_rows import read_situations
from causalfairness.inference import (
    agresti_caffo_interval,
    benjamini_hochberg,
    exact_p_values,
    newcombe_interval,
    wald_interval,
)

ASKED = {
    "protected": "gender",
    "comparison": "Female",
    "features": ["annual_salary", "account_balance"],
    "decision": "approved",
    "favorable": 1,
}
MIXED = {
    "protected": "sex",
    "comparison": "F",
    "features": ["pay", "age", "job"],
    "decision": "hired",
    "favorable": 1,
}


PUBLISHED = {
    "compas": {
        "protected": "race",
        "reference": "Caucasian",
        "comparison": "African-American",
        "features": ["age", "sex", "priors_count", "juv_fel_count", "c_charge_degree"],
        "decision": "two_year_recid",
        "favorable": 0,
    },
    "law_school": {
        "protected": "race",
        "reference": "White",
        "comparison": "Black",
        "features": ["lsat", "ugpa", "sex"],
        "decision": "pass_bar",
        "favorable": 1,
    },
}


# --- the definition -------------------------------------------------------------------------------


def distance(one, other, ranges, weights):
    """Mean over features; missing is 1 from anything, a constant number 0 from its like."""
    total = 0.0
    for name, weight in weights.items():
        a, b = one[name], other[name]
        if pd.isna(a) or pd.isna(b):
            apart = 1.0
        elif name in ranges:
            apart = abs(a - b) / ranges[name] if ranges[name] else float(a != b)
        else:
            apart = float(a != b)
        total += weight * apart
    return round(total / sum(weights.values()), 9)


def nearest(center, candidates, k, ranges, weights, lots, within=None):
    ranked = sorted(
        (distance(center, one, ranges, weights), lots[row], row) for row, one in candidates
    )
    return [(d, row) for d, _, row in ranked if within is None or d <= within][:k]


def oracle(data, centers, k, weights=None, within=None, others=None):
    """Rows and counts for every complainant: {row: (control rows, test rows, delta)}."""
    weights = weights or dict.fromkeys(MIXED["features"], 1.0)
    numbers = [name for name in weights if data[name].dtype.kind in "fi"]
    ranges = {name: data[name].max() - data[name].min() for name in numbers}
    lots = read_situations(data, reference=None, ids=None, **MIXED).lots()
    everyone, asked = data.to_dict("index"), centers.to_dict("index")
    women = [(row, one) for row, one in everyone.items() if one["sex"] == "F"]
    men = [(row, one) for row, one in everyone.items() if one["sex"] in (others or ["M"])]
    found = {}
    for row, woman in women:
        own = [other for other in women if other[0] != row]
        control = nearest(woman, own, k, ranges, weights, lots, within)
        test = nearest(asked[row], men, k, ranges, weights, lots, within)
        rates = [
            np.mean([data.loc[r, "hired"] == 0 for _, r in group]) if group else np.nan
            for group in (control, test)
        ]
        found[row] = ([r for _, r in control], [r for _, r in test], rates[0] - rates[1])
    return found


def people(rng, n=60, tied=True):
    """Mixed features with many ties and some missing values."""
    pay = rng.integers(1, 6 if tied else 1000, n).astype(float)
    pay[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "sex": rng.permutation(["F"] * (n // 2) + ["M"] * (n - n // 2)),
            "pay": pay,
            "age": rng.integers(20, 24, n),
            "job": rng.choice(["a", "b", None], n, p=[0.5, 0.4, 0.1]),
            "hired": rng.permutation([0, 1] * (n // 2)),
        }
    )


def otherwise(data, rng):
    """Another world, in which pay is a little higher and some jobs differ."""
    there = data.copy()
    there["pay"] = data["pay"] + 1
    there.loc[rng.random(len(data)) < 0.2, "job"] = "b"
    there["hired"] = np.where(rng.random(len(data)) < 0.3, 1, data["hired"])
    return there


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([1, 2]))
def test_groups_are_those_of_the_definition(seed, k, workers):
    rng = np.random.default_rng(seed)
    data = people(rng)
    there = otherwise(data, rng)
    plain = cf.situation_test(data, k=k, workers=workers, **MIXED)
    counterfactual = cf.counterfactual_situation_test(data, there, k=k, workers=workers, **MIXED)
    for found, centers in ((plain, data), (counterfactual, there)):
        expected = oracle(data, centers, k)
        table = found.table(neighbors=True)
        assert table["row"].tolist() == list(expected)
        for at, (control, test, delta) in enumerate(expected.values()):
            assert table["control_rows"][at] == control
            assert table["test_rows"][at] == test
            assert table["delta"][at] == pytest.approx(delta, abs=1e-12)


def test_several_k_come_from_one_search_and_agree_with_each_alone():
    data = people(np.random.default_rng(1))
    together = cf.situation_test(data, k=[9, 3, 5], **MIXED)
    assert together.ks == (9, 3, 5)
    table = together.table().to_pandas()
    assert len(table) == 3 * 30
    for k in (3, 5, 9):
        alone = cf.situation_test(data, k=k, **MIXED)
        assert together.summary()[k] == alone.summary()[k]
        of_k = table[table["k"] == k].reset_index(drop=True)
        pd.testing.assert_frame_equal(of_k, alone.table().to_pandas())


def test_weights_make_features_count_more():
    data = people(np.random.default_rng(2))
    weights = {"pay": 3.0, "job": 0.5}
    found = cf.situation_test(data, k=5, weights=weights, **MIXED)
    expected = oracle(data, data, 5, weights=weights | {"age": 1.0})
    assert found.table(neighbors=True)["control_rows"] == [c for c, _, _ in expected.values()]
    unweighted = cf.situation_test(data, k=5, **MIXED).table(neighbors=True)["control_rows"]
    assert found.table(neighbors=True)["control_rows"] != unweighted


def test_ranges_are_those_of_the_whole_factual_table():
    """Rows that are left aside count too, and the other world does not."""
    rng = np.random.default_rng(15)
    data = people(rng, tied=False)
    data.loc[60] = ["X", 5_000.0, 22, "a", 1]  # of no group that is compared, and far away
    there = data.assign(pay=data["pay"] + rng.integers(0, 40_000, 61))
    found = cf.counterfactual_situation_test(data, there, k=6, **(MIXED | {"reference": "M"}))
    expected = oracle(data, there, 6)
    table = found.table(neighbors=True)
    assert table["control_rows"] == [control for control, _, _ in expected.values()]
    assert table["test_rows"] == [test for _, test, _ in expected.values()]
    without = cf.situation_test(data.iloc[:60], k=6, **MIXED).table(neighbors=True)
    assert without["control_rows"] != table["control_rows"]


def test_beyond_a_distance_nobody_is_compared():
    data = people(np.random.default_rng(3))
    found = cf.situation_test(data, k=8, within=0.12, **MIXED)
    expected = oracle(data, data, 8, within=0.12)
    table = found.table(neighbors=True).to_records()
    empty = 0
    for record, (control, test, delta) in zip(table, expected.values(), strict=True):
        assert (record["control_rows"], record["test_rows"]) == (control, test)
        assert (record["control_size"], record["test_size"]) == (len(control), len(test))
        assert max(record["control_distances"], default=0) <= 0.12
        if control and test:
            assert record["delta"] == pytest.approx(delta)
        else:
            empty += 1
            assert record["delta"] is record["low"] is record["p_value"] is None
            assert record["evidence"] is record["significant"] is record["positive"] is False
    line = found.summary()[8]
    assert 0 < empty == line.no_verdict < line.complainants
    assert f"Nothing can be said, because nobody near enough is in a group: {empty}." in str(found)


def test_centers_add_one_to_both_groups():
    rng = np.random.default_rng(4)
    data = people(rng)
    there = otherwise(data, rng)
    without = cf.counterfactual_situation_test(data, there, k=6, **MIXED)
    with_them = cf.counterfactual_situation_test(data, there, k=6, include_centers=True, **MIXED)
    women = without.table()["row"]
    own, other = (table["hired"].to_numpy()[women] == 0 for table in (data, there))
    assert (with_them.counts.control == 7).all()
    assert (with_them.counts.test == 7).all()
    added = with_them.counts.control_negative - without.counts.control_negative
    assert added[:, 0].tolist() == own.astype(float).tolist()
    added = with_them.counts.test_negative - without.counts.test_negative
    assert added[:, 0].tolist() == other.astype(float).tolist()
    assert with_them.flipped.tolist() == (own & ~other).tolist()
    assert with_them.summary()[6].flipped == int((own & ~other).sum()) > 0


def test_ordered_categories_are_as_far_apart_as_their_ranks():
    rng = np.random.default_rng(5)
    data = people(rng)
    levels = ["low", "middle", "high", "top"]  # nobody has the last one
    rank = rng.integers(0, 3, len(data))
    data["grade"] = pd.Categorical(np.array(levels)[rank], categories=levels, ordered=True)
    asked = MIXED | {"features": ["age", "grade"]}
    by_label = cf.situation_test(data, k=4, **asked)
    data["grade"] = rank
    by_number = cf.situation_test(data, k=4, **asked)
    tables = [found.table(neighbors=True) for found in (by_label, by_number)]
    for name in ("control_distances", "test_distances"):  # other codes, other lots
        assert tables[0][name] == tables[1][name]
    data["grade"] = np.array(levels)[rank]
    by_word = cf.situation_test(data, k=4, **asked).table(neighbors=True)
    assert by_word["control_distances"] != tables[0]["control_distances"]


@pytest.mark.parametrize("library", ["polars", "pyarrow", "csv"])
def test_the_answer_does_not_depend_on_the_library(library, tmp_path):
    rng = np.random.default_rng(6)
    data = people(rng)
    there = otherwise(data, rng)
    expected = cf.counterfactual_situation_test(data, there, k=5, **MIXED)
    if library == "csv":
        given_as = []
        for name, frame in (("data", data), ("there", there)):
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
            given_as.append(tmp_path / f"{name}.csv")
    else:
        make = pl.from_pandas if library == "polars" else pa.Table.from_pandas
        given_as = [make(data), make(there)]
    found = cf.counterfactual_situation_test(*given_as, k=5, **MIXED)
    assert found.table(neighbors=True).to_records() == expected.table(neighbors=True).to_records()


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compas", "law_school", "loan"])
def test_the_answer_is_the_same_with_and_without_the_compiler(name, monkeypatch):
    if name == "loan":
        data, asked = cf.datasets.make_loan_application(3_000, seed=0, frame="pandas"), ASKED
    else:
        data, asked = getattr(cf.datasets, f"load_{name}")(), PUBLISHED[name]
    with_tree = cf.situation_test(data, k=[15, 50], **asked).table(neighbors=True)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "causalfairness.individuals.neighbor_search", raising=False)
    without = cf.situation_test(data, k=[15, 50], **asked).table(neighbors=True)
    assert "causalfairness.individuals.neighbor_search" not in sys.modules
    assert with_tree.to_records() == without.to_records()


def counts_of(*numbers):
    return Counts(*(np.array([[float(number)]]) for number in numbers))


def grid(k=15, m=15):
    x, y = np.meshgrid(np.arange(k + 1.0), np.arange(m + 1.0), indexing="ij")
    return Counts(*(a.reshape(-1, 1) for a in (x, np.full_like(x, k), y, np.full_like(y, m))))


METHODS = {
    "wald": wald_interval,
    "newcombe": newcombe_interval,
    "agresti-caffo": agresti_caffo_interval,
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("sided", "inner"), [("one", 0.90), ("two", 0.95)])
def test_intervals_are_those_of_inference(name, sided, inner):
    counts = grid()
    said = interval_rule(0.1, 0.95, sided, name).weigh(counts)
    ends = METHODS[name](*counts, inner)
    assert np.array_equal(said.low, ends.low)
    assert np.array_equal(said.high, ends.high)
    delta = counts.control_negative / 15 - counts.test_negative / 15
    assert np.array_equal(said.found, delta > 0.1 + 1e-9)
    assert np.array_equal(said.significant, said.found & (ends.low > 0.1 + 1e-9))


@pytest.mark.parametrize("tau", [0.0, 0.1, -0.2])
def test_p_values_are_exact_whatever_the_interval(tau):
    counts = grid(15, 12)
    one, two = (
        interval_rule(tau, 0.95, sided, "newcombe").p_values(counts)[:, 0]
        for sided in ("one", "two")
    )
    x, n, y, m = (column[:, 0] for column in counts)
    assert one.tolist() == exact_p_values(x, n, y, m, tau).tolist()
    lower = exact_p_values(y, m, x, n, -tau)
    assert two.tolist() == np.minimum(1, 2 * np.minimum(one, lower)).tolist()
    wald = interval_rule(tau, 0.95, "one", "wald").weigh(counts)
    assert wald.p_value[:, 0].tolist() == one.tolist()


def test_what_chance_gives_moves_the_difference_that_is_tested():
    counts = Counts(*np.full((4, 1, 3), [[[13]], [[15]], [[6]], [[15]]], dtype=float))
    by_chance = np.array([[0.124, -0.3, 0.0]])
    rule = interval_rule(0.05, 0.95, "one", "newcombe")
    found = rule.weigh(counts, by_chance).p_value[0]
    assert found[0] == exact_p_values(13, 15, 6, 15, 0.05 + 0.13)  # rounded up
    assert found[1] == found[2] == exact_p_values(13, 15, 6, 15, 0.05)  # never easier
    assert found[0] > 3 * found[1]
    assert rule.weigh(counts, np.full((1, 3), 0.99)).p_value.min() > 0.9


def test_published_evidence_has_exact_p_values_too():
    x, n, y, m = grid(15, 12)
    said = PublishedRule(0.05).weigh(grid(15, 12))
    assert np.array_equal(said.p_value, exact_p_values(x, n, y, m, 0.05))


def test_an_interval_without_width_is_sure_and_is_pointed_out():
    rule = interval_rule(0.0, 0.95, "one", "wald")
    nothing = rule.weigh(counts_of(15, 15, 15, 15))
    assert nothing.p_value.item() == 1.0
    assert not nothing.found.item()
    assert rule.weigh(counts_of(15, 15, 0, 15)).low.item() == 1.0
    careful = interval_rule(0.0, 0.95, "one", "newcombe").weigh(counts_of(15, 15, 0, 15))
    assert 0 < careful.p_value.item() < 0.001
    assert careful.low.item() < 0.9
    data = people(np.random.default_rng(7))
    data["hired"] = (data["sex"] == "M").astype(int)
    wald = cf.situation_test(data, k=5, interval="wald", **MIXED)
    assert "30 of 30 intervals have no width" in wald.notes[-1]
    newcombe = cf.situation_test(data, k=5, **MIXED)
    assert not any("no width" in note for note in newcombe.notes)


@pytest.mark.parametrize(("x", "y"), [(14, 11), (9, 6), (8, 5), (3, 0)])
def test_a_difference_of_exactly_tau_is_no_evidence(x, y):
    said = interval_rule(0.2, 0.95, "one", "wald").weigh(counts_of(x, 15, y, 15))
    assert not said.found.item()  # 14/15 - 11/15 is a little more than 0.2 in floating point
    assert interval_rule(0.199, 0.95, "one", "wald").weigh(counts_of(x, 15, y, 15)).found.item()


def test_the_mirror_image_exchanges_the_groups():
    rng = np.random.default_rng(8)
    data = people(rng, n=120)
    women = cf.situation_test(data, k=7, tau=0.1, interval="newcombe", **MIXED)
    mirrored = women.rule.weigh(women.counts.exchanged(), -women.chance.delta)
    delta = women.evidence.delta
    assert np.array_equal(women.positive.found, delta < -0.1 - 1e-9)
    assert np.array_equal(women.positive.significant, women.evidence.high < -0.1 - 1e-9)
    assert mirrored.p_value == pytest.approx(women.positive.p_value)
    line = women.summary()[7]
    assert line.positive == int((delta < -0.1 - 1e-9).sum()) > 0
    assert line.positive_discoveries <= line.positive_significant <= line.positive
    assert women.table()["positive_discovery"].sum() == line.positive_discoveries


def test_discoveries_are_those_of_benjamini_and_hochberg():
    loans = cf.datasets.make_loan_application(2_000, seed=1)
    as_men = make_loan_application_counterfactual(2_000, seed=1, do="Male")
    found = cf.counterfactual_situation_test(
        loans, as_men, k=[10, 20], interval="newcombe", **ASKED
    )
    table = found.table().to_pandas()
    for k in (10, 20):
        of_k = table[table["k"] == k]
        adjusted = benjamini_hochberg(of_k["p_value"])
        assert of_k["p_adjusted"].to_numpy() == pytest.approx(adjusted)
        line = found.summary()[k]
        assert line.discoveries == int(((adjusted <= 0.05) & of_k["evidence"]).sum())
        assert 0 < line.discoveries < line.significant < line.evidence


def test_an_interval_may_be_a_function():
    data = people(np.random.default_rng(9))

    def newcombe(x, n, y, m, level):
        return newcombe_interval(x, n, y, m, level)

    own = cf.situation_test(data, k=5, interval=newcombe, **MIXED)
    named = cf.situation_test(data, k=5, interval="newcombe", **MIXED)
    assert own.table().to_records() == named.table().to_records()
    assert own.rule.words == "newcombe, one-sided at the 95% level"


def coverage(interval, k, shares, rng, draws):
    """How often do 95 % intervals hold the difference of two simulated proportions?"""
    p, q = (rng.uniform(*ends, draws) for ends in shares)
    x, y = rng.binomial(k, p), rng.binomial(k, q)
    low, high = interval(x, np.full(draws, k), y, np.full(draws, k), 0.95)
    return np.mean((low <= p - q) & (p - q <= high))


@pytest.mark.parametrize("shares", [((0.8, 1.0), (0.0, 0.2)), ((0.0, 1.0), (0.0, 0.1))])
def test_newcombe_keeps_its_promise_where_wald_does_not(shares):
    rng = np.random.default_rng(10)
    draws = 40_000  # a standard error of at most 0.002
    assert coverage(wald_interval, 15, shares, rng, draws) < 0.90 - 0.01
    assert 0.93 < coverage(newcombe_interval, 15, shares, rng, draws) < 0.97


def test_rules_that_make_no_sense_are_refused():
    for arguments, says in (
        ((1.0, 0.95, "one", "wald"), "tau is a difference of two shares"),
        ((0.0, 0.95, "left", "wald"), "sided is 'one' or 'two'; found 'left'"),
        ((0.0, 0.5, "one", "wald"), "level of one-sided intervals lies between 0.5 and 1"),
        ((0.0, 1.0, "two", "wald"), "level of two-sided intervals lies between 0 and 1"),
        ((0.0, 0.95, "one", "exact"), "interval is one of 'wald', 'newcombe', 'agresti-caffo'"),
    ):
        with pytest.raises(SituationError, match=says):
            interval_rule(*arguments)
    assert isinstance(interval_rule(0.0, 0.4, "two", "wald"), IntervalRule)


# --- worlds with answers --------------------------------------------------------------------------


def through_pay(n, seed, direct=0.0, indirect=0.3):
    """Women earn less by `indirect`, and need more by `direct`: hired if pay > 0.5 (+ direct)."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.4
    noise = rng.uniform(0, 1, n)
    pay = noise - indirect * woman
    data = pd.DataFrame({"sex": np.where(woman, "F", "M"), "pay": pay})
    data["hired"] = (pay > 0.5 + direct * woman).astype(int)
    as_men = data.assign(pay=noise, hired=(noise > 0.5).astype(int))
    return data, as_men


PAY = {
    "protected": "sex",
    "comparison": "F",
    "features": ["pay"],
    "decision": "hired",
    "favorable": 1,
}
NEAR = 0.02  # pay within which the 10 nearest of 1,200 women or 1,800 men lie, with room to spare


def test_what_runs_through_pay_is_found_by_the_other_world_only():
    data, as_men = through_pay(3_000, 0)
    plain = cf.situation_test(data, k=10, **PAY)
    counterfactual = cf.counterfactual_situation_test(data, as_men, k=10, **PAY)
    pay = data["pay"].to_numpy()[plain.table()["row"]]
    # Like men are treated alike: no difference, but for the edge where groups hold both kinds.
    away = np.abs(pay - 0.5) > NEAR
    assert (plain.evidence.delta[away] == 0).all()
    # Those who would have been hired with a man's pay are declined: 0.2 < pay <= 0.5.
    inside = (pay > 0.2 + NEAR) & (pay < 0.5 - NEAR)
    outside = (pay < 0.2 - NEAR) | (pay > 0.5 + NEAR)
    assert (counterfactual.evidence.delta[inside, 0] == 1).all()
    assert (counterfactual.evidence.delta[outside, 0] == 0).all()
    assert inside.sum() > 200 < outside.sum()
    flipped = (pay > 0.2) & (pay <= 0.5)
    assert np.array_equal(counterfactual.flipped, flipped)


def test_a_bar_that_is_higher_for_women_is_found_by_both():
    data, as_men = through_pay(3_000, 1, direct=0.1, indirect=0.0)
    pay = data["pay"].to_numpy()[np.flatnonzero(data["sex"] == "F")]
    inside = (pay > 0.5 + NEAR) & (pay < 0.6 - NEAR)
    outside = (pay < 0.5 - NEAR) | (pay > 0.6 + NEAR)
    for found in (
        cf.situation_test(data, k=10, **PAY),
        cf.counterfactual_situation_test(data, as_men, k=10, **PAY),
    ):
        assert (found.evidence.delta[inside, 0] == 1).all()
        assert (found.evidence.delta[outside, 0] == 0).all()
        assert (found.positive.found[outside] == 0).all()
        assert inside.sum() > 30


def test_with_both_arrows_cut_nothing_stands_after_adjustment():
    rng = np.random.default_rng(2)
    n = 4_000
    data = pd.DataFrame({"sex": rng.choice(["F", "M"], n, p=[0.4, 0.6]), "pay": rng.random(n)})
    data["hired"] = (rng.random(n) < 0.5).astype(int)
    line = cf.situation_test(data, k=30, interval="newcombe", **PAY).summary()[30]
    assert line.discoveries == line.positive_discoveries == 0
    # Raw findings are what chance gives: groups of 30 differ upwards 45 % of the time, and a
    # one-sided 95 % interval excludes 0 in 5 % of cases. Neighbors overlap, so that about
    # 1,600 / 30 of the tests are independent: three standard errors are 0.2 and 0.09.
    assert abs(line.share - 0.45) < 0.2
    assert line.significant / line.complainants < 0.05 + 0.09


def test_intervals_cover_the_difference_of_rates():
    """Rates are flat in pay, so neighbors are binomial draws, and coverage is known exactly."""
    p, q, k = 0.35, 0.15, 20
    x, y = np.meshgrid(np.arange(k + 1), np.arange(k + 1), indexing="ij")
    chance = binom.pmf(x, k, p) * binom.pmf(y, k, q)
    counts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame({"sex": rng.permutation(["F"] * 120 + ["M"] * 180)})
        data["pay"] = rng.random(300)
        rate = np.where(data["sex"] == "F", p, q)
        data["hired"] = (rng.random(300) >= rate).astype(int)
        counts.append(cf.situation_test(data, k=k, **PAY).counts)
    together = Counts(*np.concatenate(counts, axis=1))
    for name, interval in METHODS.items():
        low, high = interval(x, np.full_like(x, k), y, np.full_like(y, k), 0.95)
        exact = chance[(low <= p - q) & (p - q <= high)].sum()
        said = interval_rule(0.0, 0.95, "two", name).weigh(together)
        covered = (said.low <= p - q) & (p - q <= said.high)
        hits = covered.reshape(40, -1).mean(axis=1)  # by data set: its neighbors overlap
        assert abs(np.mean(hits) - exact) < 4 * np.std(hits) / np.sqrt(40)


def test_a_model_makes_the_other_world_itself():
    data, as_men = through_pay(2_000, 3)
    scm = cf.StructuralCausalModel.fit(
        cf.CausalGraph.parse("sex -> pay"), data, {"pay": cf.scm.Linear()}
    )
    rule = {"predict": lambda frame: (frame["pay"] > 0.5).astype(int)}
    found = cf.counterfactual_situation_test(data, scm, k=10, **rule, **PAY)
    table = scm.counterfactual(data, do={"sex": "M"})
    same = cf.counterfactual_situation_test(data, table, k=10, **rule, **PAY)
    assert found.table().to_records() == same.table().to_records()
    stated = cf.counterfactual_situation_test(data, scm, do={"sex": "M"}, k=10, **rule, **PAY)
    assert stated.table().to_records() == found.table().to_records()
    # The model's line misses the noise's true mean by its standard error, 0.29 / sqrt(800) and
    # 0.29 / sqrt(1,200); who is three of them away from the bar is found as in the true world.
    truth = cf.counterfactual_situation_test(data, as_men, k=10, **PAY)
    noise = as_men["pay"].to_numpy()[truth.table()["row"]]
    clear = np.abs(noise - 0.5) > NEAR + 3 * 0.29 * np.sqrt(1 / 800 + 1 / 1_200)
    assert np.array_equal(found.evidence.found[clear], truth.evidence.found[clear])
    assert "pay: noise is added to a linear prediction and is the same in every world" in str(found)


def test_without_a_model_that_decides_nothing_is_said_about_flips():
    data, as_men = through_pay(500, 4)
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse("sex -> pay"), data)
    found = cf.counterfactual_situation_test(data, scm, k=5, **PAY)
    assert found.flipped is None
    assert found.summary()[5].flipped is None
    assert "flipped" not in found.table().columns
    with pytest.raises(SituationError, match=r"add column 'hired' .* or give predict="):
        cf.counterfactual_situation_test(data, scm, k=5, include_centers=True, **PAY)
    unknown = as_men.drop(columns="hired")
    assert cf.counterfactual_situation_test(data, unknown, k=5, **PAY).flipped is None
    with pytest.raises(SituationError, match="include_centers needs the decision"):
        cf.counterfactual_situation_test(data, unknown, k=5, include_centers=True, **PAY)
    decides = cf.CausalGraph.parse("sex -> pay; {sex, pay} -> hired")
    whole = cf.StructuralCausalModel.fit(decides, data)
    known = cf.counterfactual_situation_test(data, whole, k=5, include_centers=True, **PAY)
    assert known.flipped is not None


def test_a_wrong_model_of_the_decision_is_pointed_out():
    data, as_men = through_pay(500, 5)
    wrong = lambda frame: (frame["pay"] > 0.4).astype(int)  # noqa: E731
    found = cf.counterfactual_situation_test(data, as_men, predict=wrong, k=5, **PAY)
    apart = int(((data["pay"] > 0.4).astype(int) != data["hired"]).sum())
    assert (
        f"decides {apart} of 500 rows of the data otherwise than column 'hired'" in found.notes[0]
    )
    copied = cf.counterfactual_situation_test(data, as_men.assign(hired=data["hired"]), k=5, **PAY)
    assert any("nobody's decision differs" in note for note in copied.notes)
    honest = cf.counterfactual_situation_test(data, as_men, k=5, **PAY)
    assert not any("nobody's decision differs" in note for note in honest.notes)


# --- several attributes ---------------------------------------------------------------------------


def by_sex_and_race(n, seed):
    """Women need 0.1 more, Black people 0.1 more, and Black women 0.3 more."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["F", "M"], n), rng.choice(["Black", "white"], n)
    pay = rng.uniform(0, 1, n)
    bar = 0.5 + 0.1 * (sex == "F") + 0.1 * (race == "Black")
    bar += 0.1 * ((sex == "F") & (race == "Black"))
    data = pd.DataFrame({"sex": sex, "race": race, "pay": pay, "hired": (pay > bar).astype(int)})
    return data, pay


def test_multiple_discrimination_is_evidence_on_every_attribute():
    data, _ = by_sex_and_race(2_000, 0)
    common = {"features": ["pay"], "decision": "hired", "favorable": 1, "k": 10}
    tests = {
        "sex": cf.situation_test(data, protected="sex", comparison="F", **common),
        "race": cf.situation_test(data, protected="race", comparison="Black", **common),
    }
    both = cf.compare_situations(tests, by="evidence")
    found = {
        name: set(test.table()["row"][test.table()["evidence"]].tolist())
        for name, test in tests.items()
    }
    assert set(both.found_by_any.tolist()) == found["sex"] | found["race"]
    assert set(both.found_by_all.tolist()) == found["sex"] & found["race"]
    assert both.overlap("sex", "race") == len(found["sex"] & found["race"]) > 0
    assert set(both.only("sex").tolist()) == found["sex"] - found["race"]
    assert both.counts == {name: len(rows) for name, rows in found.items()}
    twice = data.loc[both.found_by_all]
    assert (twice["sex"] == "F").all()
    assert (twice["race"] == "Black").all()
    assert "found by every one of the 2 tests" in str(both)


def test_flips_stand_beside_and_are_not_required():
    data, as_men = through_pay(2_000, 6, direct=0.05)
    as_men["hired"] = 0  # everybody would have been declined: nobody flips
    test = cf.counterfactual_situation_test(data, as_men, k=10, **PAY)
    for by in ("evidence", "discovery"):
        both = cf.compare_situations({"CST": test}, by=by)
        assert both.names == ("CST", "counterfactual fairness")
        assert len(both.found_by_all) == len(both.found_by_any) == both.counts["CST"] > 0
        assert both.counts["counterfactual fairness"] == 0
        assert "by every one of the 1 tests" in str(both)


def test_several_attributes_are_judged_by_the_largest_p_and_by_simes():
    """Women and Black people need 0.2 more, and decisions on others are the same for all."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"sex": rng.choice(["F", "M"], 3_000), "pay": rng.random(3_000)})
    data["race"] = rng.choice(["Black", "white"], 3_000)
    bar = 0.4 + 0.2 * (data["sex"] == "F") + 0.2 * (data["race"] == "Black")
    data["hired"] = (data["pay"] > bar).astype(int)
    asked = {"features": ["pay"], "decision": "hired", "favorable": 1, "k": 30}
    groups = {"sex": "F", "race": "Black"}
    tests = {
        name: cf.situation_test(data, protected=name, comparison=group, **asked)
        for name, group in groups.items()
    }
    both = cf.compare_situations(tests)
    p = {name: test.table().to_pandas().set_index("row")["p_value"] for name, test in tests.items()}
    together = pd.concat(p, axis=1)
    on_all = together.dropna().max(axis=1)
    kept = on_all[benjamini_hochberg(on_all) <= 0.05]
    assert both.found_by_all.tolist() == kept.index.tolist()
    simes = together.apply(
        lambda row: (np.sort(row.dropna()) * row.count() / np.arange(1, row.count() + 1)).min(),
        axis=1,
    ).sort_index()
    kept = simes[benjamini_hochberg(simes) <= 0.05]
    assert both.found_by_any.tolist() == kept.index.tolist()
    assert 0 < len(both.found_by_all) < len(both.found_by_any)
    assert (data.loc[both.found_by_all, ["sex", "race"]] == ["F", "Black"]).all(axis=None)


def test_intersectional_discrimination_compares_with_everyone_else():
    data, pay = by_sex_and_race(4_000, 1)
    found = cf.situation_test(
        data,
        protected=["sex", "race"],
        comparison=("F", "Black"),
        features=["pay"],
        decision="hired",
        favorable=1,
        k=10,
    )
    women = ((data["sex"] == "F") & (data["race"] == "Black")).to_numpy()
    assert found.table()["row"].tolist() == np.flatnonzero(women).tolist()
    assert np.array_equal(found.situations.others, np.flatnonzero(~women))
    own = pay[women]
    sure = (own > 0.6 + NEAR) & (own < 0.8 - NEAR)  # declined, while everyone else is hired
    assert (found.evidence.delta[sure, 0] == 1).all()
    assert (found.evidence.delta[own > 0.8 + NEAR, 0] == 0).all()
    assert "people with sex = F and race = Black" in str(found)
    as_white_men = data.assign(pay=pay, hired=(pay > 0.5).astype(int), sex="M", race="white")
    other = cf.counterfactual_situation_test(
        data,
        as_white_men,
        protected=["sex", "race"],
        comparison=("F", "Black"),
        reference=("M", "white"),
        features=["pay"],
        decision="hired",
        favorable=1,
        k=10,
    )
    sure = (own > 0.5 + NEAR) & (own < 0.8 - NEAR)
    assert (other.evidence.delta[sure, 0] == 1).all()
    aside = int((data["sex"].eq("M") ^ data["race"].eq("white")).sum())
    assert other.notes[0] == f"{aside:,} rows of other groups, or of none, are left aside"


def test_what_is_set_for_an_intersection_must_be_said():
    data, _ = by_sex_and_race(400, 2)
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse("{sex, race} -> pay"), data)
    asked = {
        "protected": ["sex", "race"],
        "comparison": ("F", "Black"),
        "features": ["pay"],
        "decision": "hired",
        "favorable": 1,
        "k": 5,
    }
    with pytest.raises(InterventionError, match="everyone else is 3 groups"):
        cf.counterfactual_situation_test(data, scm, **asked)
    both = {"sex": "M", "race": "white"}
    stated = cf.counterfactual_situation_test(data, scm, do=both, **asked)
    assert stated.test.rows.shape == stated.control.rows.shape
    named = asked | {"reference": ("M", "white")}
    for found in (
        cf.counterfactual_situation_test(data, scm, **named),
        cf.counterfactual_situation_test(data, scm.counterfactual(data, do=both), **named),
    ):
        assert set(data["race"].iloc[found.test.rows[:, :5].ravel()]) == {"white"}


def test_who_is_found_by_which_test():
    data, as_men = through_pay(2_000, 6, direct=0.05)
    tests = {
        "ST": cf.situation_test(data, k=[5, 10], **PAY),
        "CST": cf.counterfactual_situation_test(data, as_men, k=[10, 5], **PAY),
    }
    for by, column in (
        ("evidence", "evidence"),
        ("significant", "significant"),
        ("discovery", "discovery"),
    ):
        both = cf.compare_situations(tests, k=10, by=by)
        assert both.names == ("ST", "CST", "counterfactual fairness")
        records = both.to_pandas().set_index("row")
        for name, test in tests.items():
            table = test.table().to_pandas()
            table = table[table["k"] == 10].set_index("row")
            assert records[name].equals(table[column].rename(name))
        flipped = tests["CST"].flipped
        assert records["counterfactual fairness"].to_numpy().tolist() == flipped.tolist()
        assert sum(both.patterns().values()) == int(both.found.any(axis=1).sum())
    assert cf.compare_situations(tests).by == "discovery"
    both = cf.compare_situations(tests, by="evidence")
    assert both.k == 5
    assert both.overlap("ST", "CST") == both.counts["ST"] < both.counts["CST"]
    assert f"All {both.counts['ST']} found by ST are found by CST." in both.sentences()
    assert both.to_polars()["ST"].sum() == both.counts["ST"]
    assert "<pre>" in both._repr_html_()


def test_comparisons_that_make_no_sense_are_refused():
    data, _ = through_pay(300, 7)
    one = cf.situation_test(data, k=5, **PAY)
    with pytest.raises(SituationError, match="k = 7 was not asked for; there are 5"):
        cf.compare_situations({"one": one}, k=7)
    with pytest.raises(SituationError, match="by is one of 'evidence'"):
        cf.compare_situations({"one": one}, by="found")
    with pytest.raises(SituationError, match="at least one"):
        cf.compare_situations({})
    other = cf.situation_test(data.assign(hired=1 - data["hired"]), k=5, **PAY)
    with pytest.raises(SituationError, match="one and other are tests of different data"):
        cf.compare_situations({"one": one, "other": other})
    both = cf.compare_situations({"one": one})
    with pytest.raises(KeyError, match="no test is named 'two'"):
        both.only("two")


# --- results --------------------------------------------------------------------------------------


def test_tables_and_summaries_in_every_form():
    loans = cf.datasets.make_loan_application(800, seed=2)
    found = cf.situation_test(loans, k=[15, 30], **ASKED)
    table = found.table()
    frame = table.to_pandas()
    assert len(table) == len(frame) == table.to_polars().height == 2 * len(set(table["row"]))
    assert list(frame.columns) == list(table.columns) == list(table.to_lists())
    assert "... and" in str(table)
    assert table._repr_html_().count("<tr>") == 11
    with pytest.raises(KeyError, match="no column is named 'gap'"):
        table["gap"]
    summary = found.summary()
    assert summary.ks == (15, 30)
    assert len(summary) == summary.to_pandas().shape[0] == summary.to_polars().height == 2
    assert [line.k for line in summary] == [15, 30]
    with pytest.raises(KeyError, match="k = 7 was not asked for"):
        summary[7]
    assert "<td>15</td>" in found._repr_html_()
    assert summary[15].evidence == int(frame[frame["k"] == 15]["evidence"].sum())


def test_words_are_counts_and_never_a_verdict():
    data, as_men = through_pay(1_000, 8)
    found = cf.counterfactual_situation_test(data, as_men, k=[5, 10], tau=0.1, **PAY)
    said = str(found)
    line = found.summary()[10]
    assert "evidence of a difference above 0.1, under these assumptions" in said
    assert f"{line.evidence} ({line.share:.1%}) at k = 10" in said
    assert "The mirror image, a difference below -0.1" in said
    chance = ", ".join(f"{each.evidence_by_chance:,.0f}" for each in found.summary())
    assert f"(groups exchanged among neighbors give {chance})" in said
    first = found.sentences()[0]
    assert first.startswith(f"Of {line.complainants} people of the comparison group, ")
    assert f"{line.discoveries} at k = 10 stand out when chance among so many" in first
    assert f"{line.positive_discoveries} at k = 10 stand out." in first
    assert "people with sex = F compared with other people" in said
    for word in ("unfair", "fair ", "discriminat", "guilty", "verdict:", "proves"):
        assert word not in said


def test_ties_that_a_lot_decides_are_counted():
    data = pd.DataFrame({"sex": ["F"] * 4 + ["M"] * 3, "pay": [1.0, 1, 1, 9, 1, 1, 5]})
    data["hired"] = [0, 1, 0, 1, 1, 0, 1]
    found = cf.situation_test(data, k=1, **PAY)
    # rows 0 to 2 have two equally near women and men, row 3 three women and a single nearest man
    assert found.summary()[1].tied == 4
    assert found.control.tied([1])[:, 0].tolist() == [True, True, True, True]
    assert found.test.tied([1])[:, 0].tolist() == [True, True, True, False]
    assert "A lot decides" in str(found)
    apart = data.assign(pay=[1.0, 2, 4, 9, 3.1, 5.3, 7.9])
    assert cf.situation_test(apart, k=1, **PAY).summary()[1].tied == 0


def test_ids_name_people():
    data, as_men = through_pay(200, 9)
    data["id"] = 1_000_000 + np.arange(200)
    found = cf.situation_test(data, k=5, ids="id", **PAY)
    assert found.table()["id"] == (1_000_000 + found.table()["row"]).tolist()
    assert found.table()["id"][0] in found.table().to_pandas()["id"].tolist()
    as_men["id"] = data["id"]
    same = cf.counterfactual_situation_test(data, as_men, k=5, ids="id", **PAY)
    assert same.summary()[5].complainants == len(found.table())
    swapped = as_men.assign(id=as_men["id"].to_numpy()[::-1])
    with pytest.raises(
        SituationError, match=r"from row 0 on, id is another .*\n1000000 and 1000199"
    ):
        cf.counterfactual_situation_test(data, swapped, k=5, ids="id", **PAY)
    with pytest.raises(ColumnNotFoundError, match="counterfactuals: the data has no column 'id'"):
        cf.counterfactual_situation_test(data, as_men.drop(columns="id"), k=5, ids="id", **PAY)
    with pytest.raises(SituationError, match="'place' holds 7 more than once"):
        cf.situation_test(data.assign(place=7), k=5, ids="place", **PAY)
    holes = data.assign(id=data["id"].where(data.index > 3))
    with pytest.raises(SituationError, match="'id' has missing values"):
        cf.situation_test(holes, k=5, ids="id", **PAY)


# --- the replication setting ----------------------------------------------------------------------


def test_the_replication_setting_does_what_it_says():
    """Against a loop: own z-scores, exact ties to the larger row, k + 1 without the complainant."""
    rng = np.random.default_rng(11)
    data = people(rng).fillna({"pay": 1.0, "job": "a"})
    there = otherwise(data, rng)
    found = published_situation_test(data, there, k=[1, 7], **MIXED)
    scores = []
    for table in (data, there):
        columns = [table[name].to_numpy(float) for name in ("pay", "age")]
        scores.append([(c - np.mean(c)) / np.sqrt(np.var(c)) for c in columns])
    women, men = (np.flatnonzero(data["sex"] == sex) for sex in ("F", "M"))
    jobs = data["job"].to_numpy()

    def ranked(row, own_job, own_scores, rows):
        """Rows by distance as floating-point numbers add up, then from the largest down."""
        total = np.zeros(len(rows))
        for own, everyone in zip(own_scores, scores[0], strict=True):
            total += np.abs(everyone[rows] - own[row])
        total = (total + (jobs[rows] != own_job[row])) / 3
        return [-at for _, at in sorted(zip(total, -rows, strict=True))]

    pushed_out = 0
    for place, row in enumerate(women):
        for k in (1, 7):
            near = [int(at) for at in ranked(row, jobs, scores[0], women)[: k + 1]]
            control = [at for at in near if at != row]
            pushed_out += len(control) == k + 1
            assert found.control.members(place, k)[0].tolist() == control
            test = ranked(row, there["job"].to_numpy(), scores[1], men)[:k]
            assert found.test.members(place, k)[0].tolist() == test
    assert pushed_out > 0  # by copies of themselves
    assert set(found.counts.control[:, 0]) == {1.0, 2.0}
    assert found.notes[0].startswith("replication setting")


def test_published_evidence_is_rounded():
    rule = published_situation_test(
        people(np.random.default_rng(12)).fillna({"pay": 1.0, "job": "a"}), k=5, **MIXED
    ).rule
    said = rule.weigh(counts_of(1, 2_001, 0, 10))  # a difference of 0.0005
    assert not said.found.item()
    sure = rule.weigh(counts_of(15, 15, 0, 15))
    assert sure.significant.item()
    assert sure.low.item() == 1.0


# --- refusals and documented behavior -------------------------------------------------------------


def small(**changed):
    data, as_men = through_pay(60, 10)
    return data.assign(**changed), as_men


def ask(data, **changed):
    return cf.situation_test(data, **(PAY | {"k": 5} | changed))


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"k": 60}, SituationError, "k = 60 is larger than the control group can be: there are"),
        ({"k": 30}, SituationError, "besides the person; ask for a smaller k"),
        (
            {"k": 0},
            SituationError,
            "none below 1; found 0. Counterfactual fairness, the case k = 0",
        ),
        ({"k": [5, 5]}, SituationError, "each size of a group once"),
        ({"k": []}, SituationError, "k is a whole number, or a list of them"),
        ({"k": 2.5}, SituationError, "k is a whole number, or a list of them"),
        ({"k": "15"}, SituationError, "k is a whole number, or a list of them"),
        ({"k": [True]}, SituationError, "k is a whole number"),
        ({"comparison": "X"}, GroupNotFoundError, "the comparison group 'X' has no rows"),
        ({"reference": "X"}, GroupNotFoundError, "the reference group 'X' has no rows"),
        ({"reference": "F"}, RoleError, "the same group"),
        ({"features": []}, SituationError, "features is empty"),
        ({"features": ["sex"]}, RoleError, "sex"),
        ({"features": ["pai"]}, ColumnNotFoundError, "did you mean 'pay'"),
        ({"decision": "pay"}, RoleError, "the column 'pay' has two roles"),
        ({"favorable": 2}, OutcomeError, "favorable is 2, which column 'hired' does not hold"),
        ({"favorable": "yes"}, OutcomeError, "it holds 0, 1. Give one of these"),
        ({"weights": {"rank": 1.0}}, WeightError, "weights name 'rank', which is no feature"),
        ({"weights": {"pay": -1.0}}, WeightError, "none negative"),
        ({"weights": [1.0]}, WeightError, "weights map features to numbers"),
        ({"ids": "id"}, ColumnNotFoundError, "no column 'id'"),
        ({"interval": "exact"}, SituationError, "interval is one of"),
    ],
)
def test_what_cannot_be_answered_is_refused(changed, error, says):
    with pytest.raises(error, match=says):
        ask(small()[0], **changed)


def test_decisions_must_be_yes_or_no():
    three = small(hired=np.arange(60) % 3)[0]
    with pytest.raises(
        OutcomeError, match=r"'hired' holds 3 values \(0, 1, 2\); expected a decision"
    ):
        ask(three)
    one = small(hired=1)[0]
    with pytest.raises(
        OutcomeError, match=r"holds 1 values \(1\); expected a decision with exactly"
    ):
        ask(one)
    holes = small()[0]
    holes["hired"] = holes["hired"].where(holes.index > 2)
    with pytest.raises(MissingValuesError, match="'hired' has 3 missing values in the data"):
        ask(holes)
    words = small()[0]
    words["hired"] = words["hired"].map({0: "no", 1: "yes"})
    found = ask(words, favorable="yes")
    assert found.situations.declined == "hired = no"
    assert found.evidence.delta.tolist() == ask(small()[0]).evidence.delta.tolist()


def test_a_constant_feature_tells_nobody_apart():
    data = small(site="here", floor=3)[0]
    plain, with_them = ask(data), ask(data, features=["pay", "site", "floor"])
    assert with_them.table().to_records() == plain.table().to_records()
    assert "floor is the same for everyone, and tells nobody apart" in with_them.notes
    assert "site is the same for everyone, and tells nobody apart" in with_them.notes
    with pytest.raises(SituationError, match="everyone is alike in floor, site: no feature varies"):
        ask(data, features=["site", "floor"])


def test_missing_features_are_told_and_far_from_everything():
    data = small()[0]
    data.loc[[0, 1, 2], "pay"] = np.nan
    found = ask(data)
    assert "pay: 3 values are missing, at distance 1 from any other" in found.notes
    with pytest.raises(ColumnTypeError, match="feature 'pay' is inf in row 5"):
        ask(data.assign(pay=np.where(np.arange(60) == 5, np.inf, data["pay"])))


def test_people_without_a_group_are_left_aside():
    data = small()[0]
    data.loc[[0, 1], "sex"] = None
    found = ask(data)
    assert found.notes[0] == "2 rows of other groups, or of none, are left aside"
    assert 0 not in found.table()["row"]
    assert 0 not in found.situations.others


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda t: t.iloc[:-1], SituationError, "has 59 rows and the data 60"),
        (lambda t: t.sample(frac=1, random_state=0), SituationError, "another index than the data"),
        (
            lambda t: t.sample(frac=1, random_state=0).reset_index(drop=True),
            SituationError,
            "rows seem to be in another order",
        ),
        (
            lambda t: t.sort_values("pay").reset_index(drop=True),
            SituationError,
            "no feature of the .* people who are tested goes along with itself",
        ),
        (lambda t: t.drop(columns="pay"), ColumnNotFoundError, "counterfactuals: the data has no"),
        (lambda t: t.assign(hired=2), OutcomeError, "holds 2 in the counterfactual table"),
        (lambda t: t.assign(pay="high"), ColumnTypeError, "numbers in one table and words in the"),
    ],
)
def test_tables_that_do_not_fit_are_refused(change, error, says):
    data, as_men = through_pay(60, 11)
    with pytest.raises(error, match=says):
        cf.counterfactual_situation_test(data, change(as_men), k=5, **PAY)


def test_words_in_another_order_are_noticed_too():
    rng = np.random.default_rng(13)
    data = pd.DataFrame({"sex": rng.choice(["F", "M"], 200), "job": rng.choice(list("abcd"), 200)})
    data["hired"] = rng.integers(0, 2, 200)
    asked = PAY | {"features": ["job"], "k": 5}
    cf.counterfactual_situation_test(data, data, **asked)
    mixed = data.sample(frac=1, random_state=1).reset_index(drop=True)
    with pytest.raises(SituationError, match="another order"):
        cf.counterfactual_situation_test(data, mixed, **asked)


def test_a_world_that_keeps_little_is_not_mistaken_for_another_order():
    """Nearly everyone changes job: agreement is weak, and still more than chance."""
    rng = np.random.default_rng(14)
    n = 4_000
    woman, luck = rng.random(n) < 0.5, rng.random(n)
    job = lambda is_woman: np.where(luck < np.where(is_woman, 0.1, 0.9), "a", "b")  # noqa: E731
    data = pd.DataFrame({"sex": np.where(woman, "F", "M"), "job": job(woman)})
    data["hired"] = rng.integers(0, 2, n)
    there = data.assign(job=job(np.zeros(n, bool)))
    found = cf.counterfactual_situation_test(data, there, **(PAY | {"features": ["job"], "k": 5}))
    assert found.summary()[5].complainants == int(woman.sum())


def test_do_is_for_models_only():
    data, as_men = through_pay(60, 12)
    with pytest.raises(SituationError, match="leave do out"):
        cf.counterfactual_situation_test(data, as_men, do={"sex": "M"}, k=5, **PAY)


def test_a_distance_may_be_made_of_the_data():
    data = small()[0]
    found = ask(data, distance=lambda points: MixedDistance(points.numbers.std(axis=0), np.ones(1)))
    assert found.table().to_records() == ask(data).table().to_records()  # one feature: same ranks
    with pytest.raises(SituationError, match="leave weights out"):
        ask(data, weights={"pay": 2.0}, distance=lambda points: MixedDistance([1.0], [1.0]))


@pytest.mark.parametrize(
    ("predict", "says"),
    [
        (lambda frame: frame["no such"], "the model failed on a frame like the data: KeyError"),
        (lambda frame: [1, 0], "returned 2 values for 60 rows"),
        (7, "expected a fitted scikit-learn model or a function"),
    ],
)
def test_models_that_cannot_decide_are_refused(predict, says):
    data, as_men = through_pay(60, 13)
    with pytest.raises(PredictorError, match=says):
        cf.counterfactual_situation_test(data, as_men, predict=predict, k=5, **PAY)


def test_a_model_must_answer_with_decisions():
    data, as_men = through_pay(60, 13)
    half = lambda frame: np.full(len(frame), 0.5)  # noqa: E731
    with pytest.raises(
        OutcomeError, match=r"holds 0\.5 in the model's answers; expected only 0, 1"
    ):
        cf.counterfactual_situation_test(data, as_men, predict=half, k=5, **PAY)


def test_a_fitted_classifier_may_decide():
    from sklearn.tree import DecisionTreeClassifier

    data, as_men = through_pay(300, 14)
    tree = DecisionTreeClassifier(random_state=0).fit(data[["pay"]], data["hired"])
    found = cf.counterfactual_situation_test(
        data, as_men, predict=tree, include_centers=True, k=5, **PAY
    )
    expected = tree.predict(as_men[["pay"]])[found.table()["row"]] == 0
    declined = data["hired"].to_numpy()[found.table()["row"]] == 0
    assert found.flipped.tolist() == (declined & ~expected).tolist()


# --- what chance gives ----------------------------------------------------------------------------


def discoveries(test, by_chance):
    """How many people stand out, upwards, with this shift by chance."""
    return int(test.rule.weigh(test.counts, by_chance).discoveries.sum())


def test_neighbors_who_are_alike_and_not_the_same_make_no_discoveries():
    """Nobody is treated differently, groups are 1 sd apart: 8 of 20 data sets without the shift."""
    tests = [compared(applicants(500, seed, apart=1.0), k=30) for seed in range(20)]
    without = sum(discoveries(test, 0.0) > 0 for test in tests)
    found = sum(line.discoveries > 0 for test in tests for line in test.summary())
    assert without >= 5
    assert found <= 3  # of 20, where one is expected at most: a binomial error of .05
    above = [test.chance.delta.mean() for test in tests]
    assert 0.05 < np.mean(above) < 0.15
    # what chance gives is what the tests count
    observed = np.mean([line.evidence for test in tests for line in test.summary()])
    by_chance = np.mean([line.evidence_by_chance for test in tests for line in test.summary()])
    assert by_chance == pytest.approx(observed, rel=0.1)


def test_who_is_declined_more_often_stands_out_all_the_same():
    for apart in (0.0, 1.0):
        line = compared(applicants(1_000, 3, apart=apart, harsher=2.0), k=30).summary()[30]
        assert line.discoveries > 0.2 * line.complainants
        assert line.positive_discoveries == 0
        assert line.evidence > 1.3 * line.evidence_by_chance


def test_what_chance_gives_follows_what_rows_hold_and_not_where_they_stand():
    data = applicants(300, 4, apart=1.0)
    order = np.random.default_rng(0).permutation(300)
    plain, mixed = compared(data), compared(data.iloc[order].reset_index(drop=True))
    back = np.argsort(order)[plain.situations.complainants]
    place = np.searchsorted(mixed.situations.complainants, back)
    assert np.array_equal(plain.chance.delta, mixed.chance.delta[place])
    assert np.array_equal(plain.chance.evidence, mixed.chance.evidence)
    alone = cf.situation_test(
        data[["x2", "ok", "x0", "group", "x1"]].rename(columns={"x0": "zz"}),
        protected="group",
        comparison=1,
        features=["x2", "zz", "x1"],
        decision="ok",
        favorable=True,
        workers=2,
    )
    assert np.array_equal(plain.chance.delta, alone.chance.delta)


def test_chance_is_left_out_of_the_replication_setting():
    data = applicants(200, 5)
    asked = {"protected": "group", "comparison": 1, "decision": "ok", "favorable": True}
    found = published_situation_test(data, features=["x0", "x1"], k=[5, 10], **asked)
    assert found.chance is None
    assert [line.evidence_by_chance for line in found.summary()] == [None, None]
    assert "by_chance" not in found.table().columns
    assert "groups exchanged" not in str(found)
    both = cf.compare_situations({"one": found})
    assert both.by == "evidence"
    assert len(both.found_by_all) == found.summary()[5].evidence
    assert "groups exchanged" not in str(found.dossier(int(found.table()["row"][0])))


def test_everybody_near_may_be_of_one_group():
    """Groups that live apart: no neighbor is of the other one, and chance gives nothing known."""
    data = pd.DataFrame({"sex": ["F"] * 30 + ["M"] * 30, "pay": np.r_[0:30, 1000:1030] / 1.0})
    data["hired"] = np.tile([0, 1], 30)
    found = cf.situation_test(data, k=5, within=0.05, **PAY)
    assert found.summary()[5].no_verdict == 30
    assert found.chance.delta.tolist() == [[0.0]] * 30
    assert found.chance.evidence.tolist() == [0.0]


# --- features that no comparison can stand on -----------------------------------------------------


def leaning(n=1_200):
    """Women are hired less often than men of the same pay, and as many columns that mislead."""
    rng = np.random.default_rng(8)
    sex, pay = rng.choice(["F", "M"], n), rng.normal(size=n)
    hired = (rng.random(n) < 0.3 + 0.4 * (sex == "M")).astype(int)
    return pd.DataFrame({"sex": sex, "pay": pay, "hired": hired}).assign(
        copy=1 - hired, woman=(sex == "F") * 1, id=np.arange(n) + 7, text=pay.round(2).astype(str)
    )


@pytest.mark.parametrize(
    ("features", "said"),
    [
        (["pay", "copy"], "'copy' tells 'hired' in 100.0% of rows. As a feature"),
        (["pay", "woman"], "'woman' tells the group in 100.0% of rows. As a feature"),
        (["id"], "'id' has a value of its own"),
        (["text"], "'text' holds numbers as text"),
    ],
)
def test_features_that_mislead_are_refused_wherever_they_are_asked_about(features, said):
    data, asked = leaning(), MIXED | {"features": features, "k": 10}
    for ask in (
        lambda data: cf.situation_test(data, **asked),
        lambda data: published_situation_test(data, **asked),
        lambda data: cf.counterfactual_situation_test(data, leaning(), **asked),
    ):
        with pytest.raises(RoleColumnError, match=said):
            ask(data)
    waived = "categorical" if features == ["text"] else "accept"
    cf.situation_test(cf.Table(data, **{waived: features[-1:]}), **asked)


def test_an_amount_that_the_decision_goes_by_is_noted():
    data = leaning().assign(hired=lambda d: (d.pay > 0).astype(int))
    found = cf.situation_test(data, **(MIXED | {"features": ["pay"], "k": 10}))
    assert any("'pay' tells 'hired' (AUC" in note for note in found.notes)
