"""Weighting against worlds with known answers, against counting, and against its own limits."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import causalfairness as cf
from causalfairness.errors import LearnerError, OverlapError
from causalfairness.estimators import DoublyRobust, Strata, Weighting
from judging import ALL_WORLDS, errors_in_standard_errors, gap_between_sum_and_total

WORLDS = cf.datasets.worlds.WORLDS
BENT = ("heavy_tailed", "med")  # the log-odds of the group are no polynomial of second order
QUICK = Weighting(replicates=40)
ROLES = cf.StandardFairnessModel(
    protected="group", reference=0, comparison=1, confounders=["c"], mediators=["m"], outcome="y"
)


def decompose(world, n, seed, estimator=QUICK, **options):
    return cf.decompose_disparity(
        world.draw(n, seed=seed), world.model, estimator=estimator, **options
    )


@pytest.mark.parametrize("name", [name for name in WORLDS if name not in BENT])
def test_where_the_log_odds_are_of_second_order_all_twelve_means_are_found(name):
    errors = errors_in_standard_errors(decompose(WORLDS[name](), 4_000, seed=11), WORLDS[name]())
    assert max(map(abs, errors.values())) < 4, errors


def test_where_the_log_odds_bend_otherwise_the_default_is_wrong():
    """Student noise makes far-out mediators say less about the group than the model believes."""
    world = WORLDS["heavy_tailed"]()
    found = decompose(world, 40_000, seed=1)
    assert max(map(abs, errors_in_standard_errors(found, world).values())) > 2.5
    assert "assumes: the models of the group have the right form" in str(found.diagnostics)


def test_the_weights_are_those_of_the_formula():
    """By hand, from two fitted models: every index of mu has its own place."""
    world = WORLDS["interacting"]()
    table = world.draw(900, seed=2)
    engine = LogisticRegression(C=10)
    found = cf.decompose_disparity(
        table, world.model, estimator=Weighting(engine, replicates=20, clip=1e9)
    )
    group = (np.asarray(table["group"]) == world.model.comparison).astype(int)
    c = np.column_stack([np.asarray(table[name]) for name in world.model.confounders])
    both = np.column_stack([*(np.asarray(table[name]) for name in world.model.mediators), c])
    p_c, p_mc = (engine.fit(x, group).predict_proba(x).T for x in (c, both))
    y = np.asarray(table["y"])
    for i, j, k in np.ndindex(2, 2, 2):
        weight = (group == i) * p_mc[j] / p_mc[i] * p_c[k] / p_c[j]
        expected = np.average(y, weights=weight)
        assert found.world_means[i, j, k].value == pytest.approx(expected, abs=1e-10), (i, j, k)


@cache
def uncut(name):
    return decompose(WORLDS[name](), 4_000, seed=3)


@pytest.mark.parametrize("part", ["direct", "indirect", "spurious"])
@pytest.mark.parametrize("name", ["linear_gaussian", "interacting", "binary"])
def test_cutting_an_arrow_silences_its_part(name, part):
    silent = getattr(decompose(WORLDS[name]().without(part), 4_000, seed=3), part)
    assert abs(silent.value) < 4 * silent.standard_error
    heard = getattr(uncut(name), part)
    assert abs(heard.value) > 4 * silent.standard_error


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize("name", WORLDS)
def test_the_parts_add_up_to_the_raw_gap(name, convention):
    world = WORLDS[name]()
    table = world.draw(700, seed=4)
    found = cf.decompose_disparity(
        table, world.model, estimator=Weighting(replicates=20), convention=convention
    )
    y, group = np.asarray(table[world.model.outcome]), np.asarray(table["group"])
    raw = y[group == world.model.comparison].mean() - y[group == world.model.reference].mean()
    assert found.total.value == pytest.approx(raw, abs=1e-12)
    assert gap_between_sum_and_total(found) < 1e-12
    assert found.outside_support.value == found.misfit.value == 0


def test_a_blind_model_of_the_group_is_not_forgiven():
    """All rows weigh the same, so the whole gap passes for direct; a doubly robust answer from the
    same model leans on the outcome instead."""
    world = WORLDS["linear_gaussian"]()
    blind = decompose(world, 4_000, seed=5, estimator=replace(QUICK, group=DummyClassifier()))
    assert blind.direct.value == pytest.approx(blind.total.value, abs=1e-12)
    assert max(map(abs, errors_in_standard_errors(blind, world).values())) > 8
    first = blind.diagnostics.learners[0]
    assert first.loss == pytest.approx(first.baseline)  # no better than no model, and shown so
    assert "the models of the group have the right form" in " ".join(blind.direct.assumptions)
    forgiving = DoublyRobust(outcome=LinearRegression(), group=DummyClassifier())
    truth = world.true_effects()["direct"]
    forgiven = decompose(world, 4_000, seed=5, estimator=forgiving).direct
    assert abs(forgiven.value - truth) < 4 * forgiven.standard_error


def test_the_outcome_has_no_say_in_the_weights():
    """Whatever the outcome depends on: a sum of outcomes has the sum of the effects."""
    world = WORLDS["linear_gaussian"]()
    table = world.draw(1_000, seed=6)
    y = np.asarray(table["y"])
    odd = np.sin(5 * np.asarray(table["m1"])) * y
    outcomes = {"one": y, "other": odd, "sum": 2 * y + odd + 7}
    for name, values in outcomes.items():
        table = table.append_column(name, pa.array(values))
    one, other, both = (
        cf.decompose_disparity(table, replace(world.model, outcome=name), estimator=QUICK)
        for name in outcomes
    )
    for part in ("total", "direct", "indirect", "spurious"):
        expected = 2 * getattr(one, part).value + getattr(other, part).value
        assert getattr(both, part).value == pytest.approx(expected, abs=1e-12), part


def test_without_mediators_nothing_is_indirect_and_without_confounders_nothing_is_spurious():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(800, seed=7)
    no_mediators = replace(world.model, mediators=())
    no_confounders = replace(world.model, confounders=())
    indirect = cf.decompose_disparity(table, no_mediators, estimator=QUICK).indirect
    without = cf.decompose_disparity(table, no_confounders, estimator=QUICK)
    assert indirect.value == without.spurious.value == 0
    assert indirect.standard_error == without.spurious.standard_error == 0
    assert [loss.target for loss in without.diagnostics.learners] == ["P(A | M)"]
    neither = replace(no_mediators, confounders=())
    plain = cf.decompose_disparity(table, neither, estimator=QUICK)
    assert plain.direct.value == pytest.approx(plain.total.value, abs=1e-12)
    assert plain.diagnostics.learners == ()


def saturated_logit():
    steps = PolynomialFeatures(3, interaction_only=True, include_bias=False)
    engine = LogisticRegression(C=1e12, solver="newton-cholesky", tol=1e-12)
    return make_pipeline(steps, engine)


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(), saturated_logit()], ids=["tree", "logit"]
)
def test_with_saturated_models_it_is_counting(model):
    """The standard errors agree to Monte Carlo error."""
    world = WORLDS["binary"]()
    table = world.draw(3_000, seed=8)
    weighted, counted = (
        cf.decompose_disparity(table, world.model, estimator=estimator)
        for estimator in (Weighting(model, replicates=100), Strata())
    )
    assert np.allclose(weighted.world_means.values, counted.world_means.values, atol=1e-7)
    for at in ALL_WORLDS:
        one, other = (found.world_means[at].standard_error for found in (weighted, counted))
        assert one == pytest.approx(other, rel=4 / np.sqrt(2 * 100)), at


@pytest.mark.parametrize("group", [None, LogisticRegression()], ids=["default", "sklearn"])
def test_same_seed_same_answer_for_one_and_two_workers(group):
    world = WORLDS["interacting"]()
    one, two = (
        decompose(world, 400, 9, Weighting(group, replicates=20), workers=workers)
        for workers in (1, 2)
    )
    assert np.array_equal(one.world_means.values, two.world_means.values)
    assert np.array_equal(one.world_means.spreads, two.world_means.spreads)


def test_integer_weights_give_the_same_means_as_repeated_rows():
    world = WORLDS["binary"]()
    table = world.draw(1_500, seed=10)
    weight = np.random.default_rng(2).integers(0, 4, len(table))
    repeated = table.take(pa.array(np.repeat(np.arange(len(table)), weight)))
    weighted = table.append_column("w", pa.array(weight))
    for group, tolerance in ((DecisionTreeClassifier(), 1e-9), (None, 1e-3)):  # penalty: one row
        weighting = Weighting(group, replicates=40)
        one, other = (
            cf.decompose_disparity(rows, replace(world.model, weights=w), estimator=weighting)
            for rows, w in ((weighted, "w"), (repeated, None))
        )
        assert np.allclose(one.world_means.values, other.world_means.values, atol=tolerance)
        assert one.direct.standard_error > other.direct.standard_error


def test_weights_undo_a_biased_selection():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(12_000, seed=12)
    chance = 1 / (1 + np.exp(-1.5 * np.asarray(table[world.model.confounders[0]])))
    picked = np.flatnonzero(np.random.default_rng(3).random(len(table)) < chance)
    sample = table.take(pa.array(picked)).append_column("w", pa.array(1 / chance[picked]))
    weighted, plain = (
        cf.decompose_disparity(sample, replace(world.model, weights=w), estimator=QUICK)
        for w in ("w", None)
    )
    assert max(map(abs, errors_in_standard_errors(weighted, world).values())) < 4
    assert max(map(abs, errors_in_standard_errors(plain, world).values())) > 6


def test_weights_are_cut_where_asked_in_replicates_too_and_said():
    world = WORLDS["interacting"]()
    table = world.draw(1_000, seed=13)
    free, cut = (
        cf.decompose_disparity(table, world.model, estimator=replace(QUICK, clip=clip))
        for clip in (1e9, 1.2)
    )
    assert free.diagnostics.overlap.share_clipped == 0
    assert cut.diagnostics.overlap.clip_level == 1.2
    assert cut.diagnostics.overlap.share_clipped > 0.1
    (note,) = cut.diagnostics.notes
    assert "of a group's rows had their weight cut at 1.2 times the average" in note
    assert "outcome models" not in note  # there are none to lean on
    assert cut.world_means[1, 0, 0].value != free.world_means[1, 0, 0].value
    assert cut.world_means[1, 0, 0].standard_error < free.world_means[1, 0, 0].standard_error
    assert str(cut.diagnostics).startswith("estimator: Weighting(replicates=40, clip=1.2)")


def people(n=600, *, distance=0.5, revealed=False):
    rng = np.random.default_rng(14)
    group = rng.integers(0, 2, n)
    c = rng.normal(size=n) + distance * group
    m = group.astype(float) if revealed else rng.normal(size=n)
    return pa.table({"group": group, "c": c, "m": m, "y": 2 * m + c + rng.normal(size=n)})


@pytest.mark.parametrize(
    "table",
    [people(revealed=True), people(distance=4), people(distance=6), people(distance=20)],
    ids=["revealed", "4", "6", "20"],
)
def test_no_overlap_at_all_is_refused_however_far_apart_the_groups_are(table):
    with pytest.raises(OverlapError, match="hardly overlap"):
        cf.decompose_disparity(table, ROLES, estimator=QUICK)


def test_a_group_of_a_dozen_is_told_that_it_is_small():
    rng = np.random.default_rng(15)
    group = np.repeat([0, 1], [200, 12])
    table = pa.table({"group": group, "c": rng.normal(size=212), "y": rng.normal(size=212)})
    with pytest.raises(OverlapError, match="comparison group has only 12 rows"):
        cf.decompose_disparity(table, replace(ROLES, mediators=()), estimator=QUICK)


def test_replicates_are_never_refused():
    """Sixteen rows of equal weight pass; under random weights they count for about eight."""
    rng = np.random.default_rng(16)
    group = np.repeat([0, 1], [200, 16])
    table = pa.table({"group": group, "c": rng.normal(size=216), "y": rng.normal(size=216)})
    found = cf.decompose_disparity(
        table, replace(ROLES, mediators=()), estimator=replace(QUICK, group=DummyClassifier())
    )
    assert found.diagnostics.overlap.largest_share == pytest.approx(1 / 16)
    assert found.direct.standard_error > 0


def test_diagnostics_tell_overlap_and_losses_for_what_they_are():
    world = WORLDS["linear_gaussian"]()
    found = decompose(world, 1_000, seed=17)
    told = {loss.target: loss for loss in found.diagnostics.learners}
    assert set(told) == {"P(A | C)", "P(A | M, C)"}
    assert {loss.measure for loss in told.values()} == {"log loss in sample"}
    assert told["P(A | M, C)"].loss < told["P(A | C)"].loss < told["P(A | C)"].baseline
    overlap = found.diagnostics.overlap
    assert overlap.effective_rows < overlap.of_rows
    assert 0 < overlap.largest_share < 0.1
    assert found.diagnostics.notes == ()


@pytest.mark.parametrize(
    ("learner", "named"),
    [
        (RandomForestClassifier(n_estimators=5, min_samples_leaf=20, random_state=0), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
    ],
)
def test_standard_errors_of_flexible_learners_are_said_not_to_be_valid(learner, named):
    found = decompose(WORLDS["linear_gaussian"](), 600, 18, Weighting(learner, replicates=20))
    told = str(found.diagnostics)
    assert ("with RandomForestClassifier are not valid in general" in told) == named
    assert ("DoublyRobust corrects for that" in told) == named


def test_learners_are_never_fitted_in_place():
    learner = LogisticRegression()
    decompose(WORLDS["linear_gaussian"](), 200, 19, Weighting(learner, replicates=20))
    assert not hasattr(learner, "coef_")


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"group": "logit"}, LearnerError, "unfitted scikit-learn model"),
        ({"group": LinearRegression()}, LearnerError, "classifier with predict_proba"),
        ({"group": RidgeClassifier()}, LearnerError, "classifier with predict_proba"),
        (
            {"group": KNeighborsClassifier()},
            LearnerError,
            "takes no sample_weight.*refitting with random weights",
        ),
        ({"replicates": 5}, ValueError, "at least 20; found 5"),
        ({"clip": 0.5}, ValueError, "clip must be at least 1"),
    ],
)
def test_unusable_settings_are_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        Weighting(**wrong)
