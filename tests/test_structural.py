"""The model's own world means: against worlds that are known, and beside identified estimators."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

import causalfairness as cf
from causalfairness.errors import (
    InterventionError,
    MechanismError,
    MissingValuesError,
    MixedBasisError,
    NotIdentifiedError,
    OutcomeError,
    OverlapError,
    PredictorError,
    RoleError,
    UnknownNodeError,
)
from causalfairness.estimators import DoublyRobust, KnownModel, Structural
from causalfairness.scm import Additive, Categorical, Deterministic, Linear, Poisson
from judging import (
    PARTS,
    errors_in_standard_errors,
    fewest_and_most_hits,
    gap_between_sum_and_total,
    graph_of,
)

WORLDS = cf.datasets.worlds
GAUSSIAN = WORLDS.linear_gaussian()
LINES = {"m1": Linear(), "y": Linear()}
BENT = Additive(make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression()))


GRAPH = graph_of(GAUSSIAN)


def ask(data, model=GAUSSIAN.model, scm=GRAPH, mechanisms=LINES, of="outcome", seed=0, **settings):
    given = None if isinstance(scm, cf.StructuralCausalModel) else mechanisms
    return cf.decompose_disparity(
        data,
        model,
        of=of,
        estimator=Structural(scm, given, **{"replicates": None, **settings}),
        seed=seed,
    )


# --- against worlds with known answers ----------------------------------------------------------

RIGHT = {
    "linear_gaussian": LINES,
    "interacting": {"m1": Linear(), "y": BENT},
    "heavy_tailed": LINES,
    "rare_group": {"m1": Linear(), "m2": Linear(), "y": BENT},
    "binary": {"m1": Categorical(), "y": Categorical()},
    "count_mediator": {"priors": Poisson(), "reoffended": Categorical()},
}


@pytest.mark.parametrize("name", RIGHT)
def test_all_means_meet_the_truth(name):
    world = WORLDS.WORLDS[name]()
    found = ask(world.draw(4_000, seed=3), world.model, graph_of(world), RIGHT[name], replicates=40)
    errors = errors_in_standard_errors(found, world)
    assert max(map(abs, errors.values())) < 4, errors
    assert gap_between_sum_and_total(found) < 1e-9


@pytest.mark.parametrize("settings", [{}, {"replicates": 20}, {"draws": 3}], ids=str)
@pytest.mark.parametrize("name", RIGHT)
def test_the_parts_add_up_to_the_plain_gap(name, settings):
    world = WORLDS.WORLDS[name]()
    data = world.draw(600, seed=1)
    found = ask(data, world.model, graph_of(world), RIGHT[name], **settings)
    y = np.asarray(data[world.model.outcome], dtype=float)
    group = np.asarray(data["group"]) == world.model.comparison
    plain = y[group].mean() - y[~group].mean()
    assert found.total.value == pytest.approx(plain, abs=1e-9)
    assert gap_between_sum_and_total(found) < 1e-9
    for k, inside in ((0, ~group), (1, group)):
        assert found.world_means[k, k, k].value == pytest.approx(y[inside].mean(), abs=1e-9)


@pytest.mark.parametrize("arrow", ["direct", "indirect", "spurious"])
def test_a_cut_arrow_has_no_effect(arrow):
    world = GAUSSIAN.without(arrow)
    found = getattr(ask(world.draw(3_000, seed=2), replicates=40), arrow)
    assert abs(found.value) < 4 * found.standard_error


def test_an_arrow_that_is_not_in_the_graph_has_exactly_no_effect():
    data = GAUSSIAN.draw(500, seed=0)
    graph = cf.CausalGraph.from_edges(
        [edge for edge in GRAPH.arrows if edge != ("group", "y")], GRAPH.hidden
    )
    found = ask(data, scm=graph)
    assert (found.direct.value, found.direct.standard_error) == (0.0, 0.0)
    assert gap_between_sum_and_total(found) < 1e-9


def test_a_mechanism_of_the_wrong_form_is_not_rescued_and_is_reported():
    world = WORLDS.interacting()
    data = world.draw(4_000, seed=3)
    found = ask(data, world.model, graph_of(world), LINES, replicates=40)
    errors = errors_in_standard_errors(found, world)
    assert max(map(abs, errors.values())) > 6
    notes = " ".join(found.diagnostics.notes)
    assert "the noise of 'y' depends on its causes (p = " in notes
    assert gap_between_sum_and_total(found) < 1e-9  # adding up proves nothing


# --- beside other answers -----------------------------------------------------------------------


def test_it_is_the_path_effect_of_the_same_model():
    world = WORLDS.binary()
    data = world.draw(1_000, seed=0)
    scm = cf.StructuralCausalModel.fit(graph_of(world), data, RIGHT["binary"])
    found = ask(data, world.model, scm)
    mu = found.world_means
    for k, group in ((0, "blue"), (1, "green"), ("everyone", None)):
        for edges, world_of in (
            ("group -> y", (1, 0, k)),
            ("group -> m1", (0, 1, k)),
            (None, (1, 1, k)),
        ):
            path = scm.path_effect(data, world.model, edges=edges, among=group, replicates=0)
            same = mu[world_of] - mu[0, 0, k]
            assert path.value == pytest.approx(same.value, abs=1e-12)
            assert (path - same).standard_error < 1e-12


def test_one_call_compares_the_model_with_an_identified_estimator():
    data = GAUSSIAN.draw(2_000, seed=0)
    scm = cf.StructuralCausalModel.fit(GRAPH, data, LINES)
    plain = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())
    found = cf.compare_estimators(data, GAUSSIAN.model, [plain, Structural(scm, replicates=None)])
    assert list(found.by_estimator) == ["DoublyRobust", "Structural"]
    assert found.disagreements() == ()
    assert all(pair.is_exact for pair in found.differences())  # both live on the rows


def test_a_wrong_model_stands_out_in_that_call():
    world = WORLDS.interacting()
    data = world.draw(6_000, seed=0)
    plain = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())
    wrong = Structural(graph_of(world), LINES, replicates=None)
    found = cf.compare_estimators(data, world.model, [plain, wrong])
    assert {pair.part for pair in found.disagreements()} >= {"indirect"}


def test_on_compas_it_comes_close_to_the_doubly_robust_answer():
    compas = cf.datasets.load_compas()
    graph = cf.CausalGraph.parse(
        "race <-> {age, sex}; {race, age, sex} -> priors_count; "
        "{race, age, sex, priors_count} -> two_year_recid"
    )
    model = cf.StandardFairnessModel.from_graph(
        graph,
        protected="race",
        reference="Caucasian",
        comparison="African-American",
        outcome="two_year_recid",
    )
    logistic = {"two_year_recid": Categorical()}
    structural = ask(compas, model, graph, logistic, draws=5)
    robust = cf.decompose_disparity(
        compas,
        model,
        estimator=DoublyRobust(
            outcome=LogisticRegression(), group=LogisticRegression(), nested=LinearRegression()
        ),
    )
    assert structural.total.value == pytest.approx(robust.total.value, abs=1e-9)
    for part in ("direct", "indirect", "spurious"):
        apart = getattr(structural, part).value - getattr(robust, part).value
        assert abs(apart) < 0.03, part
    assert structural.indirect.value > 0.05 > structural.direct.value


def test_several_groups_are_compared_from_one_reading():
    data = GAUSSIAN.draw(900, seed=0)
    third = np.where(np.arange(900) % 3 == 0, "red", np.asarray(data["group"]))
    data = data.set_column(0, "group", pa.array(third))
    found = cf.compare_groups(
        data, GAUSSIAN.model, estimator=Structural(GRAPH, LINES, replicates=None)
    )
    assert set(found.by_group) == {"green", "red"}
    alone = ask(data, GAUSSIAN.model.for_groups(comparison="red"))
    assert found["red"].direct.value == alone.direct.value
    assert alone.diagnostics.rows.outside == np.sum(third == "green")


def test_weights_count_in_the_means_and_are_mentioned():
    data = GAUSSIAN.draw(600, seed=0)
    weight = np.random.default_rng(0).random(600)
    data = data.append_column("w", pa.array(weight))
    found = ask(data, replace(GAUSSIAN.model, weights="w"))
    inside = np.asarray(data["group"]) == "green"
    plain = np.average(np.asarray(data["y"])[inside], weights=weight[inside])
    assert found.world_means[1, 1, 1].value == pytest.approx(plain, abs=1e-9)
    assert "where mechanisms are fitted too" in " ".join(found.diagnostics.notes)
    given = cf.StructuralCausalModel.fit(GRAPH, data, LINES)
    found = ask(data, replace(GAUSSIAN.model, weights="w"), given)
    assert "mechanisms were fitted without them" in " ".join(found.diagnostics.notes)


def test_several_protected_columns_are_set_at_once():
    rng = np.random.default_rng(0)
    race, sex = rng.choice(["a", "b"], 3_000), rng.choice(["F", "M"], 3_000)
    both = 1.0 * (race == "b") + 0.5 * (sex == "F")
    m = both + rng.normal(size=3_000)
    y = 2 * m + 3.0 * (race == "b") - 1.0 * (sex == "F") + rng.normal(size=3_000)
    data = pa.table({"race": race, "sex": sex, "m": m, "y": y})
    graph = cf.CausalGraph.parse("{race, sex} -> m; {race, sex, m} -> y")
    model = cf.StandardFairnessModel(
        protected=["race", "sex"],
        reference=("a", "M"),
        comparison=("b", "F"),
        mediators=["m"],
        outcome="y",
    )
    found = ask(data, model, graph, {"m": Linear(), "y": Linear()}, replicates=40)
    assert abs(found.direct.value - 2) < 4 * found.direct.standard_error
    assert abs(found.indirect.value - 3) < 4 * found.indirect.standard_error


# --- predictions --------------------------------------------------------------------------------


def score(frame):
    """A model that uses group, mediator and confounder, with an interaction."""
    group = np.asarray(frame["group"]) == "green"
    m, c = np.asarray(frame["m1"], dtype=float), np.asarray(frame["c1"], dtype=float)
    return 0.4 * group + (1 + 0.5 * group) * m - 0.3 * c


SCORED = replace(GAUSSIAN.model, prediction=score)


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_a_function_is_asked_about_the_mediators_of_the_other_world(frame):
    observed, other = GAUSSIAN.draw_with_counterfactuals(2_000, seed=4, frame="pandas")
    data = GAUSSIAN.draw(2_000, seed=4, frame=frame)
    found = ask(data, SCORED, of="prediction").world_means
    slope = LinearRegression().fit(
        np.column_stack([observed["group"] == "green", observed["c1"], observed["c2"]]),
        observed["m1"],
    )
    shift = slope.coef_[0]  # what the fitted line says of the group, near the true 0.6
    green = (observed["group"] == "green").to_numpy()
    for j in (0, 1):
        m = observed["m1"] + shift * (j - green.astype(int))
        for i, told in enumerate(("blue", "green")):
            said = score({"group": np.repeat(told, 2_000), "m1": m, "c1": observed["c1"]})
            for k, inside in ((0, ~green), (1, green), ("everyone", green | ~green)):
                assert found[i, j, k].value == pytest.approx(said[inside].mean(), abs=1e-9)
    assert abs(other["m1"] - (observed["m1"] + shift * (1 - 2 * green))).max() < 0.2


def test_for_functions_it_agrees_with_the_known_model():
    data = GAUSSIAN.draw(4_000, seed=5)
    model = replace(SCORED, outcome=None)
    structural = ask(data, model, of="prediction", replicates=40)
    learners = {"group": LogisticRegression(C=1e6), "nested": LinearRegression()}
    known = cf.decompose_disparity(
        data, model, of="prediction", estimator=KnownModel(score, **learners)
    )
    for part in PARTS:
        one, other = getattr(structural, part), getattr(known, part)
        assert abs(one.value - other.value) < 4 * (one.standard_error + other.standard_error)
    assert structural.direct.value == pytest.approx(known.direct.value, abs=1e-9)
    assert gap_between_sum_and_total(structural) < 1e-9


def test_whole_numbers_and_labels_reach_the_function_as_they_were():
    world = WORLDS.count_mediator()
    kinds = set()

    def peek(frame):
        kinds.add((str(frame["priors"].dtype), str(frame["group"].dtype)))
        return frame["priors"] > 2

    model = replace(world.model, prediction=peek)
    data = world.draw(500, seed=0, frame="pandas")
    found = ask(data, model, graph_of(world), RIGHT["count_mediator"], of="prediction")
    assert kinds == {(str(data["priors"].dtype), str(data["group"].dtype))}
    assert found.direct.value == 0.0
    assert gap_between_sum_and_total(found) < 1e-9


def test_a_prediction_in_the_graph_is_a_node_like_the_outcome():
    data = GAUSSIAN.draw(1_000, seed=0)
    data = data.append_column("score", pa.array(score(data.to_pandas())))
    graph = cf.CausalGraph.from_edges(
        [*GRAPH.arrows, *((cause, "score") for cause in ("group", "m1", "c1"))], GRAPH.hidden
    )
    as_column = replace(GAUSSIAN.model, prediction="score")
    mechanisms = {**LINES, "score": Deterministic(score)}
    column = ask(data, as_column, graph, mechanisms, of="prediction")
    function = ask(data, SCORED, of="prediction")
    for part in PARTS:
        expected = getattr(function, part).value
        assert getattr(column, part).value == pytest.approx(expected, abs=1e-9)
    with pytest.raises(UnknownNodeError, match="prediction column 'score' is not in the graph"):
        ask(data, as_column, of="prediction")


@pytest.mark.parametrize(
    ("changes", "of", "message"),
    [
        ({}, "prediction", "the model names no prediction"),
        ({"outcome": None, "prediction": score}, "outcome", "the model names no outcome column"),
        ({}, "guess", "of must be 'outcome' or 'prediction'; found 'guess'"),
    ],
    ids=["no prediction", "no outcome", "neither"],
)
def test_questions_about_nothing_are_refused(changes, of, message):
    with pytest.raises(RoleError, match=message):
        ask(GAUSSIAN.draw(200, seed=0), replace(GAUSSIAN.model, **changes), of=of)


def test_functions_that_cannot_be_audited_are_refused():
    data = GAUSSIAN.draw(300, seed=0)
    constant = replace(SCORED, prediction=lambda frame: np.ones(frame.num_rows))
    with pytest.raises(OutcomeError, match="the model predicts 1 for everyone"):
        ask(data, constant, of="prediction")
    tree = DecisionTreeRegressor().fit(data.to_pandas()[["m1", "y"]], np.asarray(data["y"]))
    with pytest.raises(PredictorError, match="the model uses 'y', which have no role"):
        ask(data, replace(SCORED, prediction=tree.predict), of="prediction")


# --- standard errors ----------------------------------------------------------------------------


def test_standard_errors_over_rows_are_those_of_plain_means():
    data = GAUSSIAN.draw(800, seed=0)
    found = ask(data)
    y = np.asarray(data["y"])[np.asarray(data["group"]) == "green"]
    mean = found.world_means[1, 1, 1]
    assert np.linalg.norm(mean.spread) == pytest.approx(y.std() / np.sqrt(len(y)), rel=1e-9)
    everyone = found.world_means[1, 1, "everyone"]
    assert everyone.spread.shape == (800,)
    notes = " ".join(found.diagnostics.notes)
    assert "mechanisms of m1, y were learned, and standard errors leave that out" in notes


def hits(draws, rows, replicates, first_seed=20_000):
    """How often do intervals hold the truth, by refitting and with mechanisms as given?"""
    truth = GAUSSIAN.true_effects()
    counts = {(kind, part): 0 for kind in ("refitted", "given") for part in truth}
    for seed in range(first_seed, first_seed + draws):
        data = GAUSSIAN.draw(rows, seed=seed)
        for kind, how in (("refitted", {"replicates": replicates}), ("given", {})):
            found = ask(data, seed=seed, **how)
            for part, value in truth.items():
                low, high = getattr(found, part).interval()
                counts[kind, part] += low <= value <= high
    return counts


def test_intervals_by_refitting_hold_the_truth_and_those_without_do_not():
    counts = hits(draws=50, rows=200, replicates=40)
    fewest, _ = fewest_and_most_hits(50, len(PARTS))
    assert min(counts["refitted", part] for part in PARTS) >= fewest, counts
    assert counts["given", "total"] >= fewest  # no mechanism is involved
    assert counts["given", "direct"] == 0  # the same for everyone: rows alone show no error


@pytest.mark.slow
def test_intervals_by_refitting_hold_the_truth_in_many_draws():
    counts = hits(draws=400, rows=500, replicates=200)
    print(counts)
    fewest, most = fewest_and_most_hits(400, len(PARTS))
    for part in PARTS:
        assert fewest <= counts["refitted", part] <= most, counts


def test_the_answer_does_not_depend_on_workers_but_on_the_seed():
    world = WORLDS.binary()
    data = world.draw(400, seed=0)
    estimator = Structural(graph_of(world), RIGHT["binary"], replicates=20)
    one, two, other = (
        cf.decompose_disparity(
            data, world.model, estimator=estimator, workers=workers, seed=seed
        ).world_means
        for workers, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert np.array_equal(one.values, two.values)
    assert np.array_equal(one.spreads, two.spreads)
    assert not np.array_equal(one.values, other.values)  # the noise of categories is drawn


def test_replicates_of_rows_and_of_weights_are_not_subtracted():
    data = GAUSSIAN.draw(300, seed=0)
    rows = ask(data, replicates=20)
    weights = cf.decompose_disparity(
        data, GAUSSIAN.model, estimator=cf.estimators.Regression(replicates=20)
    )
    with pytest.raises(MixedBasisError):
        _ = rows.direct - weights.direct
    scm = cf.StructuralCausalModel.fit(GRAPH, data, LINES)
    path = scm.path_effect(data, GAUSSIAN.model, edges="group -> y", among="blue", replicates=20)
    assert (rows.direct - path).standard_error < 1e-12  # the same draws


def test_a_model_of_other_rows_is_noticed():
    scm = cf.StructuralCausalModel.fit(GRAPH, GAUSSIAN.draw(300, seed=1), LINES)
    own = cf.StructuralCausalModel.fit(GRAPH, GAUSSIAN.draw(300, seed=0), LINES)
    data = GAUSSIAN.draw(300, seed=0)
    said = "the model was fitted to 300 other rows"
    assert said in str(ask(data, scm=scm, replicates=20).diagnostics)
    assert "other rows" not in str(ask(data, scm=own, replicates=20).diagnostics)


def test_learners_that_follow_single_rows_are_mentioned():
    mechanisms = {"m1": Additive(DecisionTreeRegressor(max_depth=3)), "y": Linear()}
    found = ask(GAUSSIAN.draw(200, seed=0), mechanisms=mechanisms, replicates=20)
    assert "the mechanism of m1 is a learner that may follow single rows" in str(found.diagnostics)


# --- graphs and models that do or do not agree ---------------------------------------------------


def test_a_graph_or_the_model_fitted_to_it_give_the_same_answer():
    data = GAUSSIAN.draw(500, seed=0)
    scm = cf.StructuralCausalModel.fit(GRAPH, data, LINES)
    for part in PARTS:
        assert getattr(ask(data), part).value == getattr(ask(data, scm=scm), part).value
    assert str(Structural(scm, replicates=None)) == "Structural(mechanisms as given)"
    shown = "Structural(mechanisms fitted here, replicates=20, draws=2)"
    assert str(Structural(GRAPH, LINES, replicates=20, draws=2)) == shown


def test_only_what_has_a_role_is_fitted():
    """Causes of the group and effects of the outcome need not even be in the data."""
    data = GAUSSIAN.draw(500, seed=0)
    wider = cf.CausalGraph.from_edges(
        [*GRAPH.arrows, ("birth", "group"), ("y", "later"), ("c1", "c2"), ("group", "hobby")],
        GRAPH.hidden,
    )
    assert ask(data, scm=wider).direct.value == ask(data).direct.value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"confounders": ["c1", "c2", "m1"], "mediators": []},
            "'m1' is a confounder in the fairness model, but a mediator by the graph",
        ),
        (
            {"confounders": ["c1"], "mediators": ["m1", "c2"]},
            "'c2' is a mediator in the fairness model, but a confounder by the graph",
        ),
        ({"confounders": ["c1"]}, "'c2' is left out in the fairness model, but a confounder"),
        ({"confounders": ["c1", "c2", "c3"]}, "but the graph of the structural model has no such"),
    ],
    ids=str,
)
def test_roles_that_contradict_the_graph_are_refused(changes, message):
    data = GAUSSIAN.draw(200, seed=0).append_column("c3", pa.array(np.arange(200.0)))
    with pytest.raises(RoleError, match=message):
        ask(data, replace(GAUSSIAN.model, **changes))
    if "outcome" not in changes:
        with pytest.raises(RoleError, match=message):
            ask(data, replace(SCORED, **changes), of="prediction")


def test_graphs_that_break_the_fairness_model_are_refused():
    hidden = cf.CausalGraph.from_edges(GRAPH.arrows, [*GRAPH.hidden, ("group", "m1")])
    with pytest.raises(NotIdentifiedError, match="group <-> m1"):
        ask(GAUSSIAN.draw(200, seed=0), scm=hidden)


def test_a_subpopulation_that_the_outcome_selects_is_refused():
    data = GAUSSIAN.draw(300, seed=0)
    sick = np.asarray(data["y"]) > 0
    data = data.set_column(data.column_names.index("y"), "y", pa.array(sick.astype(int)))
    model = replace(SCORED, prediction=lambda frame: np.asarray(frame["m1"]) > 0)
    with pytest.raises(NotIdentifiedError, match="not among people with y = "):
        cf.decompose_error_rates(
            data, model, "fpr", estimator=Structural(GRAPH, LINES), with_mediators=True
        )


def test_groups_that_are_no_single_value_are_refused():
    data = GAUSSIAN.draw(300, seed=0)
    third = np.where(np.arange(300) % 3 == 0, "red", np.asarray(data["group"]))
    data = data.set_column(0, "group", pa.array(third))
    with pytest.raises(PredictorError, match="the comparison group pools several values"):
        ask(data, GAUSSIAN.model.for_groups(comparison=None))


def test_groups_that_the_model_has_not_seen_are_refused():
    scm = cf.StructuralCausalModel.fit(GRAPH, GAUSSIAN.draw(300, seed=0), LINES)
    data = GAUSSIAN.draw(300, seed=1)
    data = data.set_column(0, "group", pa.array(np.where(np.arange(300) % 2, "red", "blue")))
    with pytest.raises((InterventionError, cf.errors.ColumnTypeError), match="'red'"):
        ask(data, GAUSSIAN.model.for_groups(comparison="red"), scm=scm)


def test_missing_values_are_dropped_only_on_request():
    data = GAUSSIAN.draw(400, seed=0)
    holes = np.where(np.arange(400) % 10 == 0, np.nan, np.asarray(data["m1"]))
    holed = data.set_column(data.column_names.index("m1"), "m1", pa.array(holes, from_pandas=True))
    with pytest.raises(MissingValuesError, match="missing values in 'm1': 40"):
        ask(holed)
    for how in ({}, {"replicates": 20}):
        estimator = Structural(GRAPH, LINES, **{"replicates": None, **how})
        found = cf.decompose_disparity(
            holed, GAUSSIAN.model, estimator=estimator, missing="drop", seed=0
        )
        complete = ask(data.filter(pa.array(np.arange(400) % 10 != 0)), **how)
        assert found.direct.value == pytest.approx(complete.direct.value, abs=1e-12)
        assert sum(found.diagnostics.rows.dropped.values()) == 40
        assert found.spurious.standard_error == pytest.approx(
            complete.spurious.standard_error, rel=1e-9
        )


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"scm": "a -> b"}, MechanismError, "or a CausalGraph to fit; found str"),
        ({"scm": GRAPH, "draws": 0}, ValueError, "draws must be a whole number, at least 1"),
        ({"scm": GRAPH, "replicates": 3}, ValueError, "at least 10, 0 or None; found 3"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        Structural(**settings)


def test_a_fitted_model_takes_no_mechanisms_and_a_graph_only_its_own():
    data = GAUSSIAN.draw(300, seed=0)
    scm = cf.StructuralCausalModel.fit(GRAPH, data, LINES)
    with pytest.raises(MechanismError, match="the structural model is fitted, so mechanisms="):
        Structural(scm, LINES)
    with pytest.raises(UnknownNodeError, match="mechanisms names 'm9'"):
        ask(data, mechanisms={**LINES, "m9": Linear()})


def test_what_cannot_be_refitted_is_refused(tmp_path):
    data = GAUSSIAN.draw(300, seed=0)
    cf.StructuralCausalModel.fit(GRAPH, data, LINES).save(tmp_path / "model.json")
    loaded = cf.StructuralCausalModel.load(tmp_path / "model.json")
    assert ask(data, scm=loaded).direct.value == ask(data).direct.value
    with pytest.raises(MechanismError, match="loaded from a file"):
        ask(data, scm=loaded, replicates=20)
    green = np.asarray(data["group"]) == "green"
    few = data.filter(pa.array(~green | (np.cumsum(green) <= 9)))
    with pytest.raises(OverlapError, match="the comparison group has only 9 rows, too few"):
        ask(few, replicates=20)
