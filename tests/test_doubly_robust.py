"""Models of group and outcome against worlds with known answers, with one of them blinded."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import causalfairness as cf
from causalfairness.errors import LearnerError, MixedBasisError, OverlapError
from causalfairness.estimators import DoublyRobust
from causalfairness.estimators.cross_fitting import Problem, assign_folds, cross_fit
from causalfairness.estimators.default_learners import Learner
from causalfairness.estimators.doubly_robust import sample_of
from causalfairness.estimators.learners import fit
from causalfairness.estimators.nuisance import Candidates, Sample, fit_nuisance
from causalfairness.estimators.one_step import Guard, one_step
from causalfairness.tables import open_table
from judging import NORTHPOINTE, PARTS, errors_in_standard_errors, gap_between_sum_and_total

WORLDS = cf.datasets.worlds.WORLDS
PLAIN = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression(C=1e6))
BLIND = {
    "sighted": DoublyRobust(),
    "blind to the outcome": DoublyRobust(outcome=DummyRegressor(), nested=DummyRegressor()),
    "blind to the group": DoublyRobust(group=DummyClassifier(), folds=2),  # fewer fits
}


def decompose(world, n, seed, estimator=PLAIN, **options):
    return cf.decompose_disparity(
        world.draw(n, seed=seed), world.model, estimator=estimator, **options
    )


@cache
def seen(name, sight):
    """What one of the three answers in a world; each is fitted once."""
    return decompose(WORLDS[name](), 4_000, seed=11, estimator=BLIND[sight])


@pytest.mark.parametrize("sight", BLIND)
@pytest.mark.parametrize("name", WORLDS)
def test_in_every_world_one_blind_model_is_forgiven(name, sight):
    """A blind model may cost the standard error its validity (methods §2.1), never the value: a
    blind one's own is used only where it is larger than the sighted one's."""
    world, found, sighted = WORLDS[name](), seen(name, sight), seen(name, "sighted")
    for at, error in errors_in_standard_errors(found, world).items():
        own, full = found.world_means[at].standard_error, sighted.world_means[at].standard_error
        assert abs(error) * own < 4 * max(own, full), at


def test_two_blind_models_are_not_forgiven():
    world = WORLDS["linear_gaussian"]()
    blind = DoublyRobust(outcome=DummyRegressor(), group=DummyClassifier())
    errors = errors_in_standard_errors(decompose(world, 4_000, seed=11, estimator=blind), world)
    assert max(map(abs, errors.values())) > 8


@pytest.mark.parametrize("part", ["direct", "indirect", "spurious"])
@pytest.mark.parametrize("name", ["linear_gaussian", "interacting", "rare_group"])
def test_cutting_an_arrow_silences_its_part(name, part):
    silent = getattr(decompose(WORLDS[name]().without(part), 4_000, seed=3), part)
    assert abs(silent.value) < 4 * silent.standard_error
    if name == "linear_gaussian":  # with the arrow there, it is heard well above the same error
        heard = getattr(decompose(WORLDS[name](), 4_000, seed=3), part)
        assert abs(heard.value) > 4 * silent.standard_error


@pytest.mark.parametrize("convention", ["sequential", "symmetric"])
@pytest.mark.parametrize("name", WORLDS)
def test_the_parts_add_up_to_the_raw_gap(name, convention):
    world = WORLDS[name]()
    table = world.draw(700, seed=4)
    found = cf.decompose_disparity(table, world.model, estimator=PLAIN, convention=convention)
    y, group = np.asarray(table[world.model.outcome]), np.asarray(table["group"])
    raw = y[group == world.model.comparison].mean() - y[group == world.model.reference].mean()
    assert found.total.value == pytest.approx(raw, abs=1e-12)
    assert gap_between_sum_and_total(found) < 1e-12
    assert found.outside_support.value == 0


def test_the_standard_error_of_the_total_is_that_of_two_means():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(900, seed=5)
    y, group = np.asarray(table["y"]), np.asarray(table["group"])
    found = cf.decompose_disparity(table, world.model, estimator=PLAIN)
    variance = sum(y[group == g].var() / np.sum(group == g) for g in np.unique(group))
    assert np.linalg.norm(found.total.spread) == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_without_mediators_nothing_is_indirect_and_without_confounders_nothing_is_spurious():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(800, seed=6)
    no_mediators = replace(world.model, mediators=())
    no_confounders = replace(world.model, confounders=())
    indirect = cf.decompose_disparity(table, no_mediators, estimator=PLAIN).indirect
    spurious = cf.decompose_disparity(table, no_confounders, estimator=PLAIN).spurious
    assert indirect.value == spurious.value == 0
    assert indirect.standard_error == spurious.standard_error == 0


def test_a_memorising_model_does_not_recall_the_person_it_predicts():
    rng = np.random.default_rng(0)
    features, target = rng.normal(size=(300, 2)), rng.normal(size=300)
    fold = assign_folds((np.arange(300) % 2).astype(np.int8), 5, rng)
    everyone = np.ones(300, dtype=bool)
    memoriser = [Learner("memoriser", KNeighborsRegressor(n_neighbors=1))]
    problem = Problem("y", features, target, memoriser, everyone, everyone)
    (found,) = cross_fit([problem], fold, None, 1)
    assert not np.any(found.unseen == target)
    assert np.all(found.by_fold[0][fold != 0] == target[fold != 0])  # it does recall the others


def test_the_candidate_with_the_lower_loss_on_unseen_people_is_taken():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(400, 1))
    target = 2 * features[:, 0] + rng.normal(size=400)
    fold = assign_folds((np.arange(400) % 2).astype(np.int8), 4, rng)
    candidates = [Learner("flat", DummyRegressor()), Learner("line", LinearRegression())]
    problem = Problem("y", features, target, candidates, np.ones(400, dtype=bool))
    (found,) = cross_fit([problem], fold, None, 1)
    assert found.loss.learner == "line"
    assert found.loss.loss == pytest.approx(np.mean((target - found.unseen) ** 2))
    assert found.loss.baseline == pytest.approx(target.var())


@pytest.mark.parametrize("estimator", [DoublyRobust(), replace(PLAIN, repeats=3)])
def test_same_seed_same_answer_for_one_and_two_workers(estimator):
    world = WORLDS["interacting"]()
    one, two, other = (
        cf.decompose_disparity(
            world.draw(600, seed=7), world.model, estimator=estimator, workers=workers, seed=seed
        )
        for workers, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert np.array_equal(one.world_means.values, two.world_means.values)
    assert np.array_equal(one.world_means.spreads, two.world_means.spreads)
    assert one.direct.value != other.direct.value


def test_repetitions_are_averaged_and_their_scatter_joins_the_spread():
    world = WORLDS["interacting"]()
    once = decompose(world, 600, seed=8, estimator=PLAIN)
    often = decompose(world, 600, seed=8, estimator=replace(PLAIN, repeats=4))
    assert often.direct.spread.shape == (once.direct.spread.shape[0] + 4,)
    scatter = often.world_means.spreads[..., -4:]
    assert np.allclose(scatter.sum(axis=-1), 0, atol=1e-12)
    runs = scatter * np.sqrt(4 * 3) + often.world_means.values[..., None]
    first = cf.decompose_disparity(
        world.draw(600, seed=8), world.model, estimator=replace(PLAIN, repeats=1)
    )
    assert any(np.allclose(runs[..., r], first.world_means.values) for r in range(4))
    assert gap_between_sum_and_total(often) < 1e-12
    with pytest.raises(MixedBasisError, match="draws"):
        _ = often.direct - once.direct


def test_outcome_and_prediction_share_a_basis_so_their_difference_has_a_standard_error():
    world = WORLDS["binary"]()
    table = world.draw(1_000, seed=9)
    table = table.append_column("score", table["y"])
    model = replace(world.model, prediction="score")
    y, score = (
        cf.decompose_disparity(table, model, of=of, estimator=PLAIN)
        for of in ("outcome", "prediction")
    )
    difference = y.direct - score.direct
    assert difference.value == pytest.approx(0, abs=1e-12)
    assert difference.standard_error == pytest.approx(0, abs=1e-12)
    shuffled = table.take(pa.array(np.random.default_rng(0).permutation(len(table))))
    elsewhere = cf.decompose_disparity(shuffled, model, estimator=PLAIN)
    assert elsewhere.direct.basis.fingerprint == y.direct.basis.fingerprint
    with pytest.raises(MixedBasisError, match="same row order"):
        _ = y.direct - elsewhere.direct


def test_integer_weights_give_the_same_group_means_as_repeated_rows():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(1_200, seed=10)
    weight = np.random.default_rng(2).integers(1, 4, len(table))
    repeated = table.take(pa.array(np.repeat(np.arange(len(table)), weight)))
    weighted = table.append_column("w", pa.array(weight))
    one = cf.decompose_disparity(weighted, replace(world.model, weights="w"), estimator=PLAIN)
    other = cf.decompose_disparity(repeated, world.model, estimator=PLAIN)
    assert one.total.value == pytest.approx(other.total.value, abs=1e-12)
    assert abs(one.direct.value - other.direct.value) < one.direct.standard_error
    assert one.direct.standard_error > other.direct.standard_error


def test_weights_undo_a_biased_selection():
    """People with high c1 are sampled more often; weights restore the population's answer."""
    world = WORLDS["linear_gaussian"]()
    table = world.draw(12_000, seed=12)
    chance = 1 / (1 + np.exp(-1.5 * np.asarray(table[world.model.confounders[0]])))
    picked = np.flatnonzero(np.random.default_rng(3).random(len(table)) < chance)
    sample = table.take(pa.array(picked)).append_column("w", pa.array(1 / chance[picked]))
    found = cf.decompose_disparity(sample, replace(world.model, weights="w"), estimator=PLAIN)
    errors = errors_in_standard_errors(found, world)
    assert max(map(abs, errors.values())) < 4, errors
    plain = cf.decompose_disparity(sample, world.model, estimator=PLAIN)
    assert max(map(abs, errors_in_standard_errors(plain, world).values())) > 6


def test_a_learner_that_ignores_weights_is_refused():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(300, seed=13).append_column("w", pa.array(np.ones(300)))
    with pytest.raises(LearnerError, match="KNeighborsClassifier takes no sample_weight"):
        cf.decompose_disparity(
            table,
            replace(world.model, weights="w"),
            estimator=DoublyRobust(group=KNeighborsClassifier()),
        )


def test_learners_are_never_fitted_in_place():
    decompose(WORLDS["linear_gaussian"](), 300, seed=14)
    assert not hasattr(PLAIN.outcome, "coef_")


def test_something_that_is_not_a_learner_is_refused():
    with pytest.raises(LearnerError, match="unfitted scikit-learn model"):
        decompose(WORLDS["linear_gaussian"](), 300, seed=14, estimator=DoublyRobust(outcome="ols"))


@pytest.mark.parametrize(
    "wrong", [{"folds": 1}, {"repeats": 0}, {"clip": 0.5}, {"clip": -1}, {"folds": 2.5}]
)
def test_unknown_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        DoublyRobust(**wrong)


def test_a_group_too_small_for_the_folds_is_refused():
    world = WORLDS["rare_group"]()
    with pytest.raises(OverlapError, match=r"comparison group has .* too few for 5 folds"):
        decompose(world, 60, seed=15)


def separated_groups(n=600):
    """Confounders that all but reveal the group."""
    rng = np.random.default_rng(16)
    group = rng.integers(0, 2, n)
    c = 6 * group + rng.normal(size=n)
    table = pa.table({"group": group, "c": c, "y": c + rng.normal(size=n)})
    model = cf.StandardFairnessModel(
        protected="group", reference=0, comparison=1, confounders=["c"], outcome="y"
    )
    return table, model


def test_groups_without_overlap_are_refused_with_advice():
    table, model = separated_groups()
    with pytest.raises(OverlapError, match=r"resembles the .* group.*hardly overlap.*restrict"):
        cf.decompose_disparity(table, model, estimator=PLAIN)


def test_a_healthy_world_with_a_rare_group_is_not_refused():
    world = WORLDS["rare_group"]()
    for seed in range(40, 80):
        assert decompose(world, 2_000, seed=seed).diagnostics.overlap.share_clipped < 0.01


def exploding_propensity():
    """Quadratic in heavy-tailed counts and hardly penalised: its odds reach astronomical sizes."""
    steps = StandardScaler(), PolynomialFeatures(2), LogisticRegression(C=1e6, max_iter=5_000)
    return make_pipeline(*steps)


def test_exploding_weights_are_clipped_or_refused_and_said():
    compas, model = cf.datasets.load_compas(propublica_filter=False), NORTHPOINTE
    logistic = LogisticRegression(max_iter=5_000)
    exploding = DoublyRobust(logistic, exploding_propensity(), nested=LinearRegression())
    guarded = cf.decompose_disparity(compas, model, estimator=exploding)
    boosted = cf.decompose_disparity(compas, model, estimator=DoublyRobust())
    assert 0 < guarded.diagnostics.overlap.share_clipped < 0.01
    assert any("cut at" in note for note in guarded.diagnostics.notes)
    for part in PARTS:
        low, high = getattr(guarded, part).interval()
        assert low <= getattr(boosted, part).value <= high, part
        assert getattr(guarded, part).standard_error < 0.02
    with pytest.raises(OverlapError, match=r"one row makes up \d+%"):
        cf.decompose_disparity(compas, model, estimator=replace(exploding, clip=1e12))


def test_diagnostics_tell_rows_learners_losses_overlap_and_assumptions():
    world = WORLDS["linear_gaussian"]()
    told = str(decompose(world, 500, seed=17, estimator=DoublyRobust()).diagnostics)
    for words in (
        "500 rows read",
        "P(A | C)",
        "without a model",
        "count for",
        "clipped",
        "assumes",
    ):
        assert words in told


def test_labels_and_missing_values_reach_the_models_as_indicators():
    world = WORLDS["linear_gaussian"]()
    table = world.draw(800, seed=18)
    region = np.array(["north", "south", None], dtype=object)[np.arange(800) % 3]
    table = table.append_column("region", pa.array(region))
    model = replace(world.model, confounders=(*world.model.confounders, "region"))
    pair = open_table(table, missing="category").rows(model, "outcome").pair(model)
    assert pair.confounders.shape[1] == len(world.model.confounders) + 3
    found = cf.decompose_disparity(table, model, estimator=PLAIN, missing="category")
    assert found.diagnostics.rows.missing == {"region": 266}


def revealed_group(n=600, *, distance=None):
    """A mediator that is the group itself, or a confounder far apart: nobody has a counterpart."""
    rng = np.random.default_rng(19)
    group, c = rng.integers(0, 2, n), rng.normal(size=n)
    m = group.astype(float)
    if distance is not None:
        c, m = c + distance * group, rng.normal(size=n)
    return pa.table({"group": group, "c": c, "m": m, "y": 2 * m + c + rng.normal(size=n)})


@pytest.mark.parametrize("distance", [None, 6, 12, 20])
@pytest.mark.parametrize("estimator", [PLAIN, DoublyRobust()], ids=["plain", "default"])
def test_no_overlap_at_all_is_refused_however_far_apart_the_groups_are(estimator, distance):
    model = cf.StandardFairnessModel(
        protected="group",
        reference=0,
        comparison=1,
        confounders=["c"],
        mediators=["m"],
        outcome="y",
    )
    with pytest.raises(OverlapError, match="hardly overlap"):
        cf.decompose_disparity(revealed_group(distance=distance), model, estimator=estimator)


def test_weights_of_overlapping_groups_average_one():
    for name in ("linear_gaussian", "rare_group", "med"):
        world = WORLDS[name]()
        pair = open_table(world.draw(2_000, seed=20)).rows(world.model, "outcome").pair(world.model)
        sample = sample_of(pair, pair.outcome)
        fold = assign_folds(sample.group, 5, np.random.default_rng(0))
        learners = DoublyRobust(outcome=LinearRegression(), nested=LinearRegression())  # not asked
        nuisance = fit_nuisance(sample, learners.candidates(pair, 0), fold, workers=1)
        averages = [strain.average for strain in one_step(sample, nuisance, Guard()).strains]
        assert min(averages) > 0.7, name
        assert max(averages) < 1.4, name


def test_the_second_regression_never_hears_of_the_fold_it_predicts():
    """Outcomes of one fold are spoilt: what is said about that fold's mediators must not change."""
    rng = np.random.default_rng(21)
    n = 400
    group = (np.arange(n) % 2).astype(np.int8)
    c, m, y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), rng.normal(size=n)
    fold = assign_folds(group, 4, rng)
    learner = (Learner("trees", DecisionTreeRegressor(random_state=0)),)
    classes = (Learner("logit", LogisticRegression()),)
    candidates = Candidates(classes, classes, learner, learner, learner)
    spoilt = np.where(fold == 0, 100 + 50 * rng.normal(size=n), y)
    before, after = (
        fit_nuisance(Sample(group, c, m, values, None), candidates, fold, workers=1)
        for values in (y, spoilt)
    )
    for i in (0, 1):
        at = fold == 0
        assert np.array_equal(before.nested[i, 1 - i, at], after.nested[i, 1 - i, at])
        assert np.array_equal(before.outcome[i, at], after.outcome[i, at])
        assert not np.array_equal(before.nested[i, 1 - i, ~at], after.nested[i, 1 - i, ~at])


def test_row_weights_reach_the_learners():
    rng = np.random.default_rng(22)
    x = rng.normal(size=(200, 1))
    y, w = x[:, 0] ** 2 + rng.normal(size=200), np.exp(x[:, 0])
    learned = fit(make_pipeline(StandardScaler(), LinearRegression()), x, y, w)
    root = np.sqrt(w)
    design = np.column_stack([np.ones(200), x[:, 0]])
    by_hand, *_ = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)
    assert np.allclose(learned.predict(x), design @ by_hand)


@pytest.mark.parametrize(
    ("learners", "words"),
    [
        ({"group": LinearRegression()}, "classifier with predict_proba"),
        ({"group": RidgeClassifier()}, "classifier with predict_proba"),
        ({"nested": LogisticRegression()}, "give a regressor"),
        ({"outcome": LinearRegression}, "unfitted scikit-learn model"),
    ],
)
def test_a_learner_of_the_wrong_kind_is_refused(learners, words):
    with pytest.raises(LearnerError, match=words):
        DoublyRobust(**learners)


def test_a_classifier_cannot_learn_a_numeric_outcome():
    with pytest.raises(LearnerError, match="the outcome is a number"):
        decompose(WORLDS["linear_gaussian"](), 300, 1, DoublyRobust(outcome=LogisticRegression()))


def test_a_group_of_a_dozen_is_told_that_it_is_small_not_that_it_does_not_overlap():
    rng = np.random.default_rng(23)
    group = np.repeat([0, 1], [200, 12])
    table = pa.table({"group": group, "c": rng.normal(size=212), "y": rng.normal(size=212)})
    model = cf.StandardFairnessModel(
        protected="group", reference=0, comparison=1, confounders=["c"], outcome="y"
    )
    with pytest.raises(OverlapError, match="comparison group has only 12 rows"):
        cf.decompose_disparity(table, model, estimator=PLAIN)
