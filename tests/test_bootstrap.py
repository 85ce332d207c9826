"""Standard errors by refitting: as large as theory says, on draws that answers share."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import MixedBasisError, OverlapError
from causalfairness.estimators.bootstrap import (
    bootstrap,
    check_replicates,
    draw_rows,
    draw_weights,
)
from causalfairness.tables import open_table

REPLICATES = 400
MONTE_CARLO = 4 / np.sqrt(2 * REPLICATES)  # four relative standard errors of a standard error
MODEL = cf.StandardFairnessModel(protected="group", reference="a", comparison="b", outcome="y")


def people(n=300, seed=0, **columns):
    rng = np.random.default_rng(seed)
    group = np.array(["a", "b", "c"])[rng.permutation(n) % 3]
    return pa.table({"group": group, "y": rng.normal(size=n) + (group == "b"), **columns})


def pair_of(table, model=MODEL):
    return open_table(table).rows(model, "outcome").pair(model)


def group_means(pair):
    """Each group's plain mean, whatever else is told: k decides, i and j do not."""

    def means(weights):
        among = [np.average(pair.outcome, weights=weights * (pair.group == g)) for g in (0, 1)]
        return np.broadcast_to(among, (2, 2, 2)).copy()

    return means


def run(pair, replicates=REPLICATES, workers=1, seed=0, draw=draw_weights):
    means = group_means(pair)
    return bootstrap(pair, means, draw=draw, replicates=replicates, workers=workers, seed=seed)


def test_the_standard_error_of_a_mean_is_the_textbook_one():
    pair = pair_of(people())
    found = run(pair)
    variance = 0.0
    for g in (0, 1):
        y = pair.outcome[pair.group == g]
        mean = found.world_means[0, 0, g]
        assert mean.value == pytest.approx(y.mean(), abs=1e-12)
        variance += y.var() / (len(y) + 1)  # of the Bayesian bootstrap, exactly
        assert mean.standard_error == pytest.approx(
            np.sqrt(y.var() / (len(y) + 1)), rel=MONTE_CARLO
        )
    assert found.raw_gap.standard_error == pytest.approx(np.sqrt(variance), rel=MONTE_CARLO)


def test_rows_drawn_with_replacement_are_whole_and_as_many_and_tell_the_same_error():
    rng = np.random.default_rng(2)
    drawn = draw_rows(rng, 300)
    assert drawn.sum() == 300
    assert (drawn == drawn.round()).all()
    pair = pair_of(people())
    found = run(pair, draw=draw_rows)
    for g in (0, 1):
        y = pair.outcome[pair.group == g]
        assert found.world_means[0, 0, g].value == pytest.approx(y.mean(), abs=1e-12)
        assert found.world_means[0, 0, g].standard_error == pytest.approx(
            np.sqrt(y.var() / len(y)), rel=MONTE_CARLO
        )


def test_everyone_is_the_mixture_of_both_groups_and_so_is_its_error():
    pair = pair_of(people())
    everyone = run(pair).world_means[1, 0, "everyone"]
    assert everyone.value == pytest.approx(pair.outcome.mean(), abs=1e-12)
    expected = np.sqrt(pair.outcome.var() / (len(pair) + 1))
    assert everyone.standard_error == pytest.approx(expected, rel=MONTE_CARLO)


def test_weighted_rows_count_by_their_weight_and_rows_without_weight_never():
    weight = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    table = people(w=pa.array(weight))
    y = np.where(weight == 0, 1e6, np.asarray(table["y"]))
    table = table.set_column(1, "y", pa.array(y))
    pair = pair_of(table, replace(MODEL, weights="w"))
    mean = run(pair).world_means[0, 0, 0]
    inside = np.asarray(table["group"]) == "a"
    center = np.average(y[inside], weights=weight[inside])
    spread = weight[inside] * (y[inside] - center) / weight[inside].sum()
    assert mean.value == pytest.approx(center, abs=1e-9)
    assert mean.standard_error == pytest.approx(np.linalg.norm(spread), rel=MONTE_CARLO)


def test_the_answer_does_not_depend_on_the_number_of_workers_but_on_the_seed():
    world = cf.datasets.worlds.linear_gaussian()
    table, plug_in = world.draw(300, seed=0), cf.estimators.Regression(replicates=20)
    one, two, other = (
        cf.decompose_disparity(
            table, world.model, estimator=plug_in, workers=workers, seed=seed
        ).world_means
        for workers, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert np.array_equal(one.values, two.values)
    assert np.array_equal(one.spreads, two.spreads)
    assert np.array_equal(one.values, other.values)  # only the standard errors are drawn
    assert not np.array_equal(one.spreads, other.spreads)


def test_answers_about_different_groups_share_the_draws_of_the_people_they_share():
    table = people()
    rows = open_table(table).rows(MODEL, "outcome")
    b, c = (run(rows.pair(MODEL.for_groups(comparison=group))) for group in ("b", "c"))
    between = b.raw_gap - c.raw_gap  # the reference group cancels
    direct = run(rows.pair(replace(MODEL, reference="c", comparison="b"))).raw_gap
    assert between.value == pytest.approx(direct.value, abs=1e-12)
    plain, expected = map(np.linalg.norm, (between.spread, direct.spread))
    assert plain == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("other", [{"seed": 1}, {"replicates": 40}, {"draw": draw_rows}])
def test_answers_from_other_draws_are_not_subtracted(other):
    pair = pair_of(people())
    with pytest.raises(MixedBasisError, match="draws"):
        _ = run(pair, **({"replicates": 20} | other)).raw_gap - run(pair, replicates=20).raw_gap


def test_what_does_not_vary_has_no_spread_at_all():
    """Rounding would otherwise pass for an error a trillion times too small."""
    pair = pair_of(people())
    rng = np.random.default_rng(0)

    def means(weights):
        return 1 + 1e-15 * rng.normal(size=(2, 2, 2))

    found = bootstrap(pair, means, replicates=20, workers=1, seed=0)
    assert not found.world_means.spreads[:, :, :2].any()


@pytest.mark.parametrize("wrong", [19, 0, -1, 50.0, "200", None])
def test_too_few_replicates_are_refused(wrong):
    with pytest.raises(ValueError, match="whole number, at least 20; found"):
        check_replicates(wrong)


def test_a_handful_of_people_is_not_drawn_again():
    group = ["a"] * 50 + ["b"] * 9
    table = pa.table({"group": group, "y": np.random.default_rng(0).normal(size=59)})
    with pytest.raises(OverlapError, match="comparison group has only 9 rows, too few"):
        run(pair_of(table), replicates=20)
    weightless = table.append_column("w", pa.array([0.0] * 41 + [1.0] * 18))
    with pytest.raises(OverlapError, match="reference group has only 9 rows"):
        run(pair_of(weightless, replace(MODEL, weights="w")), replicates=20)
