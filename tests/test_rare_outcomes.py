"""Rare outcomes and small groups: two more people per group, for uncertainty only."""

from dataclasses import replace
from math import hypot, sqrt

import duckdb
import numpy as np
import polars as pl
import pytest
from benchmarks.coverage import rare
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.effects import Basis, Effect, WorldMeans, spreads_of
from causalfairness.estimators import DoublyRobust, KnownModel, Regression, Strata, Weighting
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.joint import estimate_both
from causalfairness.inference import added_people, agresti_caffo_interval
from causalfairness.parity.necessity.rules import EquivalenceRule
from causalfairness.tables import open_table

ROLES = {"protected": "A", "reference": 0, "comparison": 1, "outcome": "Y"}
PLAIN = cf.StandardFairnessModel(**ROLES)
MODEL = cf.StandardFairnessModel(**ROLES, confounders=["C"])
LINE = LinearRegression()
ROBUST = DoublyRobust(outcome=LINE, group=LogisticRegression(), nested=LINE)
PARTS = ("total", "direct", "indirect", "spurious")


def counted(*cells):
    """People of (group, confounder), so many of them with the outcome."""
    rows = [(a, c, int(at < events)) for a, c, events, n in cells for at in range(n)]
    return pl.DataFrame(rows, schema=["A", "C", "Y"], orient="row")


def ask(data, model=MODEL, estimator=None, **options):
    return cf.decompose_disparity(data, model, estimator=estimator or Strata(), **options)


def two(events, n, others, m):
    return counted((0, 0, events, n), (1, 0, others, m))


def numbers(seed=0, n=600):
    """Skewed amounts, a small group, and weights."""
    rng = np.random.default_rng(seed)
    a = (rng.random(n) < 0.1).astype(int)
    c = (rng.random(n) < 0.4 + 0.2 * a).astype(int)
    y = rng.exponential(1 + c + 0.3 * a)
    return pl.DataFrame({"A": a, "C": c, "Y": y, "W": rng.choice([0.5, 1.0, 2.0], n)})


# Figures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [Strata(), ROBUST], ids=["counted", "rows"])
@pytest.mark.parametrize(
    ("counts", "value", "center", "low", "high", "p"),
    [
        ((20, 1_000, 0, 100), -0.02, -0.011154, -0.0324, 0.0101, 0.304),
        ((300, 1_000, 350, 1_000), 0.05, 0.049900, 0.0089, 0.0909, 0.017),
        ((20, 1_000, 7, 100), 0.05, 0.057473, 0.0040, 0.1109, 0.035),
    ],
)
def test_a_gap_of_few_events_is_no_more_certain_than_they_are(
    counts, value, center, low, high, p, estimator
):
    found = ask(two(*counts), PLAIN, estimator)
    for effect in (found.total, found.direct):
        assert effect.value == pytest.approx(value, abs=1e-9)
        assert effect.center == pytest.approx(center, abs=5e-7)
        assert effect.interval() == pytest.approx((low, high), abs=5e-5)
        assert effect.p_value == pytest.approx(p, abs=5e-4)
    assert found.indirect.p_value == found.spurious.p_value == 1.0


def test_a_gap_by_chance_is_neither_violated_nor_satisfied():
    rule = EquivalenceRule(margin=0.005, level=0.95)
    assert rule.judge([ask(two(20, 1_000, 0, 100), PLAIN).total]).verdict == "undecided"


def test_with_a_confounder_the_parts_know_of_the_people_added():
    found = ask(counted((0, 0, 12, 600), (0, 1, 8, 400), (1, 0, 0, 40), (1, 1, 0, 60)))
    assert found.direct.value == pytest.approx(-0.02)
    assert found.direct.standard_error == pytest.approx(0.011566, abs=5e-7)
    assert found.direct.correction == pytest.approx(0.008846, abs=5e-7)
    assert (found.spurious.value, found.spurious.correction) == (0.0, 0.0)
    assert found.spurious.standard_error == pytest.approx(0.004022, abs=5e-7)


def test_where_events_are_many_hardly_anything_changes():
    world = cf.datasets.worlds.binary()
    found = ask(world.draw(2_000, seed=0), world.model)
    errors = [getattr(found, part).standard_error for part in PARTS]
    assert errors == pytest.approx([0.021877, 0.023649, 0.012376, 0.008102], abs=5e-7)
    assert not any("two more people" in note for note in found.diagnostics.notes)


@pytest.mark.parametrize("n", [2, 3, 9, 100])
def test_group_metrics_and_the_total_are_one_answer(n):
    for events in {0, 1, n // 2, n}:
        for others, m in ((0, 30), (1, 30), (20, 30), (30, 30)):
            data, alone = two(events, n, others, m), len({events / n, others / m}) == 1
            (gap,) = cf.group_metrics(data, PLAIN).gaps()
            if alone and others in (0, m):
                continue  # nobody differs: a decomposition has nothing to explain
            total = ask(data, PLAIN).total
            assert (gap["low"], gap["high"]) == pytest.approx(total.interval(), abs=1e-12)
            assert gap["value"] == pytest.approx(total.value, abs=1e-12)


def test_group_metrics_of_nobody_selected_have_an_interval():
    (gap,) = cf.group_metrics(two(0, 1_000, 0, 100), PLAIN).gaps()
    assert (gap["low"], gap["high"]) == pytest.approx((-0.0106, 0.0282), abs=5e-5)


def test_the_center_is_that_of_agresti_and_caffo():
    low, high = agresti_caffo_interval(7, 100, 20, 1_000, level=0.95)
    assert ask(two(20, 1_000, 7, 100), PLAIN).total.center == pytest.approx((low + high) / 2)
    shift, more = added_people(0.07, 100)
    q = 8 / 102
    assert 0.07 + shift == pytest.approx(q)
    assert 0.07 * 0.93 + more == pytest.approx(q * (1 - q))


# Algebra -----------------------------------------------------------------------------------------


def test_corrections_and_blocks_follow_sums_and_multiples():
    basis = Basis("", "rows")
    one = Effect(
        "a", 0.1, np.array([0.3]), basis, correction=0.01, blocks={"x": np.array([0.4, 0.0])}
    )
    other = Effect("b", 0.2, np.array([0.1]), basis, correction=0.03, blocks={"y": np.array([1.0])})
    assert (one + other).correction == pytest.approx(0.04)
    assert (one - other).correction == pytest.approx(-0.02)
    assert ((-one).correction, (2 * one).correction) == (-0.01, 0.02)
    assert one.standard_error == pytest.approx(0.5)
    assert (one - other).standard_error == pytest.approx(sqrt(0.2**2 + 0.4**2 + 1))
    assert (one - one).standard_error == 0
    assert one.covariance(one) == pytest.approx(0.25)
    assert one.covariance(other) == pytest.approx(0.03)
    assert spreads_of([one, other]).tolist() == [[0.3, 0.4, 0.0, 0.0], [0.1, 0.0, 0.0, 1.0]]
    nothing = one.vanished()
    assert (nothing.value, nothing.standard_error, nothing.correction) == (0.0, 0.0, 0.0)
    assert nothing.p_value == 1.0


def test_a_world_mean_s_complement_is_corrected_the_other_way():
    means = ask(two(20, 1_000, 7, 100), PLAIN).world_means
    turned = means.complement()
    assert isinstance(turned, WorldMeans)
    one, other = means[1, 0, "everyone"], turned[1, 0, "everyone"]
    assert (other.value, other.correction) == (1 - one.value, -one.correction)
    assert (one + other).standard_error == 0


def test_the_record_carries_the_correction():
    found = ask(two(20, 1_000, 0, 100), PLAIN)
    (record, *_) = found.table().to_records()
    assert record["correction"] == found.total.correction != 0
    middle = (record["low"] + record["high"]) / 2
    assert middle == pytest.approx(record["value"] + record["correction"])


# Invariances -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [Strata(), Strata(replicates=50)])
def test_an_outcome_turned_around_has_the_same_interval_turned_around(estimator):
    data = rare.people(rare.FEW, seed=3)
    one = ask(data, MODEL, estimator)
    other = ask(data.with_columns(Y=1 - pl.col("Y")), MODEL, estimator)
    for part in ("total", "direct", "spurious"):
        here, there = getattr(one, part), getattr(other, part)
        assert there.value == pytest.approx(-here.value, abs=1e-9)
        assert there.correction == pytest.approx(-here.correction, abs=1e-12)
        if estimator != Strata(replicates=50):  # other draws
            low, high = here.interval()
            assert there.interval() == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize("estimator", [Strata(), ROBUST, Weighting(replicates=20)])
@pytest.mark.parametrize("of", ["yes or no", "numbers"])
def test_only_what_weights_are_to_each_other_counts(estimator, of):
    data = rare.people(rare.FEW, seed=3) if of == "yes or no" else numbers()
    model = replace(MODEL, weights="W")
    one = ask(data, model, estimator)
    other = ask(data.with_columns(W=7 * pl.col("W")), model, estimator)
    for part in PARTS:
        assert getattr(other, part).interval() == pytest.approx(
            getattr(one, part).interval(), abs=1e-9
        )


@pytest.mark.parametrize(("estimator", "sign"), [(Strata(), -1), (Strata(), 1), (ROBUST, 1)])
def test_numbers_may_be_scaled_and_shifted(estimator, sign):
    data = numbers()
    one = ask(data, MODEL, estimator)
    other = ask(data.with_columns(Y=1_000 + 5 * sign * pl.col("Y")), MODEL, estimator)
    for part in PARTS:
        here, there = getattr(one, part), getattr(other, part)
        assert there.value == pytest.approx(5 * sign * here.value, abs=1e-6)
        assert there.standard_error == pytest.approx(5 * here.standard_error, rel=1e-6)
        assert there.correction == 0


def test_a_model_that_ignores_the_group_has_no_direct_effect_at_all():
    data, model = rare.people(rare.FEW, seed=0).rename({"Y": "M"}), rare.DEAF
    found = cf.decompose_disparity(data, model, of="prediction")
    assert (found.direct.value, found.direct.standard_error) == (0.0, 0.0)
    assert (found.direct.correction, found.direct.p_value) == (0.0, 1.0)
    measured = data.rename({"M": "Y"})
    assert found.total.interval() == pytest.approx(ask(measured, PLAIN).total.interval())


def test_a_model_of_the_group_alone_is_known_exactly():
    data = two(20, 1_000, 0, 100)
    known = KnownModel(lambda people: people["A"].to_numpy() * 0.5)
    found = ask(data, PLAIN, known, of="prediction")
    assert (found.total.value, found.total.standard_error, found.total.correction) == (0.5, 0, 0)


def test_engines_count_what_is_added_alike():
    data, model = numbers(), replace(MODEL, weights="W")
    far = data.with_columns(Y=pl.col("Y") + 1_000.0)
    for table, relation in ((data, "data"), (far, "far")):
        expected = ask(table, model)
        for form in (table.lazy(), duckdb.sql(f"select * from {relation}")):
            found = ask(form, model)
            for part in PARTS:
                assert getattr(found, part).standard_error == pytest.approx(
                    getattr(expected, part).standard_error, rel=1e-7
                )


def test_what_is_added_for_numbers_follows_its_formula():
    data = numbers()
    pair = open_table(data).cells(MODEL, "outcome").pair(MODEL)
    added = AddedPeople.of_cells(pair)
    y, group = data["Y"].to_numpy(), data["A"].to_numpy()
    for g in (0, 1):
        own = y[group == g]
        n, away = len(own), y - own.mean()
        u, t = (away**2).mean(), (away**3).mean()
        expected = (t / u) ** 2 / n * max(0.0, 1 - own.var(ddof=1) / u)
        assert added.variance[g] == pytest.approx(expected, rel=1e-9)
    assert added.correction.tolist() == [0.0, 0.0]
    rows = open_table(data).rows(MODEL, "outcome").pair(MODEL)
    assert AddedPeople.of_rows(rows, rows.measured).variance == pytest.approx(added.variance)


# Every estimator, and two measurements -----------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        ROBUST,
        Strata(replicates=50),
        Strata(empty_cells="restrict"),
        Weighting(replicates=20),
        Regression(replicates=20),
    ],
    ids=str,
)
def test_every_estimator_adds_the_same_people_to_the_total(estimator):
    data = rare.people(rare.FEW, seed=1)
    counts, found = ask(data).total, ask(data, MODEL, estimator)
    (block,) = counts.blocks.values()
    # remainders of models are no part of the total
    (added,) = (each for each in found.total.blocks.values() if np.any(each))
    assert np.linalg.norm(added) == pytest.approx(np.linalg.norm(block), rel=1e-9)
    assert found.total.correction == pytest.approx(counts.correction, abs=1e-12)
    assert found.direct.correction == pytest.approx(counts.correction, abs=1e-12)
    assert abs(found.spurious.correction) < 1e-12
    assert any("two more people" in note for note in found.diagnostics.notes)
    drawn = any("replicates alone" in note for note in found.diagnostics.notes)
    assert drawn is (getattr(estimator, "replicates", None) is not None)


@pytest.mark.parametrize("estimator", [Strata(), ROBUST], ids=["counted", "rows"])
def test_two_measurements_are_not_taken_for_one(estimator):
    """As many events in every cell, of other people: what is added to both does not cancel."""
    data = two(20, 1_000, 3, 100).with_columns(P=pl.col("Y").reverse().over("A"))
    both = estimate_both(open_table(data), replace(PLAIN, prediction="P"), estimator)
    apart = both.prediction.raw_gap - both.outcome.raw_gap
    added = [np.linalg.norm(block) for block in both.outcome.raw_gap.blocks.values()]
    own = np.linalg.norm(apart.spread)
    assert apart.standard_error == pytest.approx(hypot(own, sqrt(2) * added[0]), rel=1e-9)
    same = data.with_columns(P=pl.col("Y"))
    both = estimate_both(open_table(same), replace(PLAIN, prediction="P"), estimator)
    apart = both.prediction.raw_gap - both.outcome.raw_gap
    assert (apart.value, apart.correction) == (0.0, 0.0)
    assert apart.standard_error == pytest.approx(0, abs=1e-9)


def test_groups_compared_at_once_share_what_is_added_to_the_reference():
    sizes = {"a": (20, 1_000), "b": (0, 100), "c": (2, 80)}
    rows = [(g, int(at < events)) for g, (events, n) in sizes.items() for at in range(n)]
    data = pl.DataFrame(rows, schema=["A", "Y"], orient="row")
    model = cf.StandardFairnessModel(protected="A", reference="a", comparison=None, outcome="Y")
    for estimator in (Strata(), ROBUST, Strata(replicates=50)):
        found = cf.compare_groups(data, model, estimator=estimator)
        b, c = found["b"].total, found["c"].total
        against = replace(model, reference="c", comparison="b")
        direct = cf.decompose_disparity(data, against, estimator=estimator).total
        assert (b - c).correction == pytest.approx(direct.correction)
        assert (b - c).standard_error == pytest.approx(direct.standard_error, rel=1e-9)
        for name, single in (("b: total", b), ("c: total", c)):
            low, high = found.table().interval(name)
            assert (low + high) / 2 == pytest.approx(single.center)
            assert high - low > np.subtract(*single.interval()[::-1])


def test_error_rates_and_their_complements_are_corrected_alike():
    data = rare.people(rare.SELDOM, seed=0).rename({"Y": "P"})
    data = data.with_columns(Y=np.random.default_rng(0).integers(0, 2, len(data)))
    rates = {
        rate: cf.decompose_error_rates(data, rare.AUDITED, rate, estimator=Strata())
        for rate in ("fpr", "tnr")
    }
    for part in ("total", "direct", "spurious"):
        one, other = (getattr(found, part) for found in rates.values())
        low, high = one.interval()
        assert other.interval() == pytest.approx((-high, -low))
    found = rates["fpr"]
    narrowed = data.filter(pl.col("Y") == 0).drop("Y").rename({"P": "Y"})
    assert found.total.interval() == pytest.approx(ask(narrowed).total.interval())
    assert found.audited.interval() == pytest.approx(found.total.interval())


# What is said ------------------------------------------------------------------------------------


def test_few_events_and_small_strata_are_named():
    said = "\n".join(ask(two(20, 1_000, 0, 100), PLAIN).diagnostics.notes)
    assert "Only 0 of 100 people of 1 have the outcome: intervals count two more people" in said
    assert "people of 0" not in said
    said = "\n".join(ask(two(20, 1_000, 98, 100), PLAIN).diagnostics.notes)
    assert "Only 2 of 100 people of 1 lack the outcome" in said
    few = counted((0, 0, 300, 600), (0, 1, 200, 400), (1, 0, 7, 14), (1, 1, 30, 60))
    (said,) = ask(few).diagnostics.notes
    assert said.startswith("1 of 2 combinations of confounders are seen in fewer than 15 people")
    enough = counted((0, 0, 300, 600), (0, 1, 200, 400), (1, 0, 7, 15), (1, 1, 30, 60))
    assert ask(enough).diagnostics.notes == ()


# Coverage ----------------------------------------------------------------------------------------


def test_intervals_cover_where_a_group_has_few_events():
    """Without the people added, .82 (total) and .84 (direct): 150 tables, binomial error .03."""
    drawn = [rare.parts(rare.SMALL, seed) for seed in range(150)]
    for part in ("total", "direct"):
        found = [each[part] for each in drawn if each]
        assert np.mean([each.low <= each.truth <= each.high for each in found]) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("world", rare.RARE, ids=lambda world: world.name)
def test_intervals_of_rare_outcomes_cover(world):
    """2,000 tables: the binomial error at .95 is .005, that of p < .001 at .002 is .001."""
    drawn = [found for seed in range(2_000) if (found := rare.parts(world, seed))]
    for part in ("total", "direct"):
        found = [each[part] for each in drawn]
        assert np.mean([each.low <= each.truth <= each.high for each in found]) >= 0.93, part
        away = [(e.low + e.high) / 2 - e.truth for e in found]
        surely = [abs(a) > 3.2905 * e.standard_error for a, e in zip(away, found, strict=True)]
        assert np.mean(surely) <= 0.005, part


@pytest.mark.slow
@pytest.mark.parametrize("world", rare.ORDINARY, ids=lambda world: world.name)
def test_intervals_of_ordinary_outcomes_stay(world):
    """With and without the people added, on the same 2,000 tables: .006 apart at most.

    The difference has a binomial error of .002 (one table in a hundred falls on the other side).
    """
    now, before = {part: [] for part in rare.PARTS}, {part: [] for part in rare.PARTS}
    for seed in range(2_000):
        found = ask(rare.people(world, seed), MODEL)
        for part, truth in world.truth.items():
            effect = getattr(found, part)
            low, high = effect.interval()
            now[part].append(low <= truth <= high)
            own = replace(effect, correction=0.0, blocks={}).interval()
            before[part].append(own.low <= truth <= own.high)
    for part in rare.PARTS:
        assert np.mean(now[part]) == pytest.approx(np.mean(before[part]), abs=0.006 + 2 * 0.002), (
            part
        )
