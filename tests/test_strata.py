"""Counting against worlds with known answers, and against its own definition."""

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.effects.diagnostics import LearnerLoss
from causalfairness.errors import EmptyCellsError, OutcomeError, PredictorError, WeightError
from causalfairness.estimators import Strata
from causalfairness.estimators.nuisance import Nuisance, Sample
from causalfairness.estimators.one_step import Guard, one_step
from causalfairness.estimators.within_cells import Moments, shrunk_covariance
from causalfairness.tables import open_table
from judging import PARTS, errors_in_standard_errors, gap_between_sum_and_total

WORLDS = cf.datasets.worlds.WORLDS
DISCRETE = ("binary", "sparse_cells")
HOLES = cf.StandardFairnessModel(
    protected="group",
    reference="a",
    comparison="b",
    confounders=["c"],
    mediators=["m"],
    outcome="y",
)


def table_with_holes(*, lone_stratum=False):
    """Group a is seen with m = 0, 1, 2 and group b with m = 1, 2, 3; c is 0 or 1."""
    rng = np.random.default_rng(5)
    group = np.repeat(["a", "b"], 300)
    m = rng.integers(0, 3, 600) + (group == "b")
    c = rng.integers(0, 2, 600)
    if lone_stratum:
        c[:20] = 2
    y = 0.5 * m + c + 0.3 * (group == "b") + rng.normal(size=600)
    return pa.table({"group": group, "c": c, "m": m, "y": y})


def predict_from_holes(frame):
    """The noise-free outcome of `table_with_holes`."""
    told = {name: np.asarray(frame[name]) for name in ("group", "m", "c")}
    return 0.5 * told["m"] + told["c"] + 0.3 * (told["group"] == "b")


def brute_force_means(table, fill):
    """mu[i, j, k] by the definition, one cell at a time."""
    columns = {name: np.asarray(table[name]) for name in table.column_names}
    group = (columns["group"] == "b").astype(int)

    def mean_outcome(i, m, c):
        inside = (group == i) & (columns["m"] == m) & (columns["c"] == c)
        return columns["y"][inside].mean() if inside.any() else fill(i, m, c)

    means = np.zeros((2, 2, 2))
    for i, j, k in product((0, 1), repeat=3):
        for c in np.unique(columns["c"]):
            share = np.mean(columns["c"][group == k] == c)
            among = columns["m"][(group == j) & (columns["c"] == c)]
            for m in np.unique(among):
                means[i, j, k] += share * np.mean(among == m) * mean_outcome(i, m, c)
    return means


@pytest.mark.parametrize("name", DISCRETE)
def test_all_twelve_means_meet_the_truth(name):
    world = WORLDS[name]()
    found = cf.decompose_disparity(world.draw(20_000, seed=1), world.model, estimator=Strata())
    errors = errors_in_standard_errors(found, world)
    assert max(map(abs, errors.values())) < 4, errors
    assert found.direct.standard_error < 0.03  # a wide interval would pass emptily


@pytest.mark.parametrize("part", ["direct", "indirect", "spurious"])
@pytest.mark.parametrize("name", DISCRETE)
def test_cutting_an_arrow_silences_its_part(name, part):
    world = WORLDS[name]().without(part)
    found = cf.decompose_disparity(world.draw(5_000, seed=2), world.model, estimator=Strata())
    silent = getattr(found, part)
    assert abs(silent.value) < 4 * silent.standard_error
    whole = WORLDS[name]()
    heard = cf.decompose_disparity(whole.draw(5_000, seed=2), whole.model, estimator=Strata())
    assert abs(getattr(heard, part).value) > 4 * silent.standard_error


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize("policy", ["restrict", "regression", "zero", predict_from_holes])
def test_parts_add_up_to_the_raw_gap_under_every_fill(policy, convention):
    table = table_with_holes()
    found = cf.decompose_disparity(
        table, HOLES, estimator=Strata(empty_cells=policy), convention=convention
    )
    y, group = np.asarray(table["y"]), np.asarray(table["group"])
    raw = y[group == "b"].mean() - y[group == "a"].mean()
    assert found.total.value == pytest.approx(raw, abs=1e-12)
    assert gap_between_sum_and_total(found) < 1e-12
    assert (found.outside_support.value != 0) == (policy == "restrict")


@pytest.mark.parametrize(
    ("policy", "fill"),
    [
        ("zero", lambda i, m, c: 0.0),
        (predict_from_holes, lambda i, m, c: 0.5 * m + c + 0.3 * i),
    ],
)
def test_fills_are_what_the_definition_says(policy, fill):
    table = table_with_holes()
    found = cf.decompose_disparity(table, HOLES, estimator=Strata(empty_cells=policy))
    expected = brute_force_means(table, fill)
    assert np.allclose(found.world_means.values[:, :, :2], expected, atol=1e-12)


def test_a_regression_fill_lands_near_the_truth_that_zero_misses():
    table = table_with_holes()
    truth = brute_force_means(table, lambda i, m, c: 0.5 * m + c + 0.3 * i)[1, 0, 0]
    filled, zero = (
        cf.decompose_disparity(table, HOLES, estimator=Strata(empty_cells=how)).world_means[1, 0, 0]
        for how in ("regression", "zero")
    )
    assert abs(filled.value - truth) < 0.1 < abs(zero.value - truth)


def test_restricting_equals_counting_the_common_rows_alone():
    table = table_with_holes()
    m = np.asarray(table["m"])
    common = table.filter(pa.array((m >= 1) & (m <= 2)))
    restricted = cf.decompose_disparity(table, HOLES, estimator=Strata(empty_cells="restrict"))
    alone = cf.decompose_disparity(common, HOLES, estimator=Strata())
    for part in PARTS[1:]:
        one, other = getattr(restricted, part), getattr(alone, part)
        assert one.value == pytest.approx(other.value, abs=1e-12)
        plain, expected = map(np.linalg.norm, (one.spread, other.spread))
        assert plain == pytest.approx(expected, rel=1e-9)
        # what is added for skewed numbers comes of whole groups
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-3)


def test_one_sided_cells_are_refused_by_name_and_share():
    with pytest.raises(
        EmptyCellsError, match=r"(?s)combinations .* 3\d\.\d% of the rows.*c=\d, m=\d"
    ):
        cf.decompose_disparity(table_with_holes(), HOLES, estimator=Strata())


@pytest.mark.parametrize("policy", ["regression", predict_from_holes])
def test_no_fill_invents_people_where_a_group_has_none(policy):
    table = table_with_holes(lone_stratum=True)
    with pytest.raises(EmptyCellsError, match=r"(?s)combinations of confounders.*c=2"):
        cf.decompose_disparity(table, HOLES, estimator=Strata(empty_cells=policy))
    found = cf.decompose_disparity(
        table, HOLES, estimator=Strata(empty_cells=policy, empty_strata="restrict")
    )
    assert found.outside_support.value != 0
    assert gap_between_sum_and_total(found) < 1e-12


def test_no_common_cell_at_all_is_refused():
    table = pa.table({"group": ["a", "b"] * 5, "c": [0, 1] * 5, "m": [0] * 10, "y": [0, 1] * 5})
    with pytest.raises(EmptyCellsError, match=r"no combination .* seen in both groups"):
        cf.decompose_disparity(table, HOLES, estimator=Strata(empty_cells="restrict"))


def test_a_model_that_needs_other_columns_is_refused_as_a_fill():
    with pytest.raises(PredictorError, match="postcode"):
        cf.decompose_disparity(
            table_with_holes(),
            HOLES,
            estimator=Strata(empty_cells=lambda frame: frame["postcode"]),
        )


def saturated_nuisance(sample):
    """Every nuisance as an observed frequency: what counting is a special case of."""
    profile = np.column_stack([sample.mediators, sample.confounders])
    _, mc = np.unique(profile, axis=0, return_inverse=True)
    _, c = np.unique(sample.confounders, axis=0, return_inverse=True)
    mc, c, group = mc.reshape(-1), c.reshape(-1), sample.group

    def within(key, values, rows):
        size = np.bincount(key[rows], minlength=key.max() + 1)
        return (np.bincount(key[rows], values[rows], minlength=key.max() + 1) / size)[key]

    everyone = np.ones(len(group), dtype=bool)
    p_c, p_mc = within(c, group * 1.0, everyone), within(mc, group * 1.0, everyone)
    outcome = np.stack([within(mc, sample.outcome, group == i) for i in (0, 1)])
    nested = np.stack(
        [np.stack([within(c, outcome[i], group == j) for j in (0, 1)]) for i in (0, 1)]
    )
    none: tuple[LearnerLoss, ...] = ()
    return Nuisance(np.stack([1 - p_c, p_c]), np.stack([1 - p_mc, p_mc]), outcome, nested, none)


@pytest.mark.parametrize("noisy", [False, True])
def test_counting_is_the_doubly_robust_estimator_with_saturated_models(noisy):
    world = WORLDS["binary"]()
    table, model = world.draw(3_000, seed=4), world.model
    if not noisy:  # an outcome that is a function of the cell: no shrinkage of variances involved
        score = 0.3 * np.asarray(table["m1"]) + 0.2 * (np.asarray(table["group"]) == "green")
        score = score + 0.1 * np.asarray(table["c1"]) * np.asarray(table["m1"])
        table = table.set_column(table.column_names.index("y"), "y", pa.array(score))
    found = cf.decompose_disparity(table, model, estimator=Strata())
    pair = open_table(table).rows(model, "outcome").pair(model)
    sample = Sample(pair.group, pair.confounders, pair.mediators, pair.outcome, None)
    by_rows = one_step(sample, saturated_nuisance(sample), Guard(clip=1e9))
    assert np.allclose(found.world_means.values, by_rows.values, atol=1e-12)
    errors = np.linalg.norm(found.world_means.spreads, axis=-1)
    expected = np.linalg.norm(by_rows.spreads, axis=-1)
    assert np.allclose(errors, expected, rtol=0.01 if noisy else 1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_closed_form_and_resampled_standard_errors_agree(seed):
    world = WORLDS["binary"]()
    data = world.draw(4_000, seed=seed)
    closed, drawn = (
        cf.decompose_disparity(data, world.model, estimator=Strata(replicates=b), seed=seed)
        for b in (None, 8_000)
    )
    for name in PARTS:
        one, other = getattr(closed, name), getattr(drawn, name)
        assert one.value == other.value
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.03), name


def test_resampling_numeric_outcomes_agrees_too_and_follows_its_seed():
    world = WORLDS["sparse_cells"]()
    data = world.draw(30_000, seed=0)
    closed = cf.decompose_disparity(data, world.model, estimator=Strata())
    one, same, other = (
        cf.decompose_disparity(data, world.model, estimator=Strata(replicates=6_000), seed=seed)
        for seed in (1, 1, 2)
    )
    for name in PARTS:
        expected = getattr(closed, name).standard_error
        assert getattr(one, name).standard_error == pytest.approx(expected, rel=0.03), name
    assert one.direct.standard_error == same.direct.standard_error != other.direct.standard_error


def test_cells_of_one_row_are_not_taken_for_certain():
    """Every cell has one row: no cell shows any variation, yet the answer is anything but sure."""
    rng = np.random.default_rng(8)
    m = np.tile(np.arange(200), 2)
    y = rng.normal(size=400)
    table = pa.table({"group": np.repeat(["a", "b"], 200), "c": np.zeros(400), "m": m, "y": y})
    found = cf.decompose_disparity(table, HOLES, estimator=Strata())
    truly = np.sqrt(2 / 200)
    assert 0.95 * truly < found.direct.standard_error < 1.2 * truly  # 1.41 if noise counts twice


def test_integer_weights_count_like_repeated_rows():
    world = WORLDS["binary"]()
    table = world.draw(1_500, seed=6)
    weight = np.random.default_rng(0).integers(1, 4, len(table))
    repeated = table.take(pa.array(np.repeat(np.arange(len(table)), weight)))
    weighted = table.append_column("w", pa.array(weight))
    model = cf.StandardFairnessModel(
        protected=world.model.protected,
        reference=world.model.reference,
        comparison=world.model.comparison,
        confounders=world.model.confounders,
        mediators=world.model.mediators,
        outcome=world.model.outcome,
        weights="w",
    )
    one = cf.decompose_disparity(weighted, model, estimator=Strata())
    other = cf.decompose_disparity(repeated, world.model, estimator=Strata())
    assert np.allclose(one.world_means.values, other.world_means.values, atol=1e-12)
    assert one.direct.standard_error > other.direct.standard_error  # copies are not new people


def test_weighted_standard_errors_are_those_of_weighted_rows():
    world = WORLDS["binary"]()
    table = world.draw(3_000, seed=7)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(table))
    model = cf.StandardFairnessModel(
        protected="group",
        reference=world.model.reference,
        comparison=world.model.comparison,
        outcome="y",
        weights="w",
    )
    found = cf.decompose_disparity(table.append_column("w", pa.array(weight)), model)
    y, green = np.asarray(table["y"]), np.asarray(table["group"]) == world.model.comparison
    variance = 0.0
    for inside in (green, ~green):
        mean = np.average(y[inside], weights=weight[inside])
        variance += np.sum((weight[inside] * (y[inside] - mean)) ** 2) / weight[inside].sum() ** 2
    assert found.total.standard_error == pytest.approx(np.sqrt(variance), rel=0.005)
    assert found.indirect.value == found.spurious.value == 0


@pytest.mark.parametrize(
    "wrong",
    [{"empty_cells": "drop"}, {"empty_strata": "regression"}, {"replicates": 1}],
)
def test_unknown_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        Strata(**wrong)


def small_survey(n=300, seed=21):
    """Three groups, few values, and weights that go with the outcome."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "d"], n, p=[0.4, 0.35, 0.25])
    c, m = rng.integers(0, 2, n), rng.integers(0, 2, n)
    m = np.where(rng.random(n) < 0.3, (group != "a").astype(int), m)
    y = 0.4 * (group == "d") + 0.5 * m + 0.3 * c * (group != "a") + rng.normal(size=n)
    return pa.table({"group": group, "c": c, "m": m, "y": y, "w": np.exp(0.4 * y)})


def jackknife_standard_errors(table, model, estimator, parts):
    """Leave each row out in turn: slow, and indifferent to any formula."""
    values = []
    for row in range(len(table)):
        rest = table.take(pa.array(np.delete(np.arange(len(table)), row)))
        found = cf.decompose_disparity(rest, model, estimator=estimator)
        values.append([getattr(found, part).value for part in parts])
    deviations = np.array(values) - np.mean(values, axis=0)
    return np.sqrt((len(values) - 1) / len(values) * np.sum(deviations**2, axis=0))


def test_standard_errors_of_weighted_and_pooled_groups_meet_the_jackknife():
    table, parts = small_survey(), ("total", "direct", "indirect")
    model = replace(HOLES, comparison=None, weights="w")
    found = cf.decompose_disparity(table, model, estimator=Strata())
    expected = jackknife_standard_errors(table, model, Strata(), parts)
    for part, error in zip(parts, expected, strict=True):
        assert getattr(found, part).standard_error == pytest.approx(error, rel=0.05), part


def test_standard_error_of_what_lies_outside_support_meets_the_jackknife():
    table = table_with_holes().take(pa.array(np.arange(0, 600, 3)))
    estimator = Strata(empty_cells="restrict")
    found = cf.decompose_disparity(table, HOLES, estimator=estimator)
    (expected,) = jackknife_standard_errors(table, HOLES, estimator, ["outside_support"])
    assert found.outside_support.standard_error == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("policy", ["restrict", "zero"])
def test_the_total_has_the_standard_error_of_two_plain_means_whatever_the_cells(policy):
    table = table_with_holes()
    found = cf.decompose_disparity(table, HOLES, estimator=Strata(empty_cells=policy))
    y, group = np.asarray(table["y"]), np.asarray(table["group"])
    variance = sum(y[group == g].var() / np.sum(group == g) for g in ("a", "b"))
    assert np.linalg.norm(found.total.spread) == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_a_cell_of_two_equal_rows_borrows_variance_from_its_group():
    rows = np.array([2.0, 50.0])
    sum_y, sum_y2 = np.array([2.0, 25.0]), np.array([2.0, 25.0])
    cells = Moments(rows, rows, sum_y, sum_y, sum_y2)
    lonely, crowded = shrunk_covariance(cells, np.zeros(2, dtype=int))
    assert 0.1 < lonely < crowded < 0.26


def test_resampled_effects_of_different_groups_err_together_as_they_should():
    """Two groups share the reference; their difference does not involve it at all."""
    rng = np.random.default_rng(22)
    table = pa.table(
        {
            "group": rng.choice(["a", "b", "d"], 6_000),
            "c": rng.integers(0, 2, 6_000),
            "m": rng.integers(0, 2, 6_000),
            "y": rng.integers(0, 2, 6_000),
        }
    )
    closed, drawn = (
        cf.compare_groups(table, HOLES, groups=["b", "d"], estimator=Strata(replicates=b))
        for b in (None, 4_000)
    )
    one, other = (found["b"].total - found["d"].total for found in (closed, drawn))
    assert other.standard_error == pytest.approx(one.standard_error, rel=0.05)


def test_values_far_from_zero_beside_their_variation_are_refused_not_misjudged():
    table = table_with_holes()
    far = table.set_column(3, "y", pa.array(np.asarray(table["y"]) + 1e9))
    with pytest.raises(OutcomeError, match="subtract a constant"):
        cf.decompose_disparity(far, HOLES, estimator=Strata(empty_cells="restrict"))


def test_an_additive_fill_does_not_depend_on_the_scale_of_weights():
    table, model = table_with_holes(), replace(HOLES, weights="w")
    estimator = Strata(empty_cells="regression")
    small, large = (
        cf.decompose_disparity(
            table.append_column("w", pa.array(np.full(len(table), size))),
            model,
            estimator=estimator,
        )
        for size in (1e-6, 1e3)
    )
    assert np.allclose(small.world_means.values, large.world_means.values, atol=1e-9)


def test_rows_of_no_weight_are_no_evidence():
    table = small_survey()
    weight = np.where(np.arange(len(table)) % 3 == 0, 1.0, 0.0)
    table = table.set_column(4, "w", pa.array(weight))
    model = replace(HOLES, comparison=None, weights="w")
    all_rows = cf.decompose_disparity(table, model, estimator=Strata())
    some = cf.decompose_disparity(table.filter(pa.array(weight > 0)), model, estimator=Strata())
    assert all_rows.direct.value == pytest.approx(some.direct.value, abs=1e-12)
    assert all_rows.direct.standard_error == pytest.approx(some.direct.standard_error, rel=1e-9)


def test_resampling_weighted_tables_is_refused_before_they_are_read():
    with pytest.raises(WeightError, match="closed-form standard errors only"):
        cf.decompose_disparity(
            small_survey(), replace(HOLES, weights="w"), estimator=Strata(replicates=100)
        )
