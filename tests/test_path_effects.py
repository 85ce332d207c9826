"""Path-specific effects: products of coefficients, sums over cells, and refusals that name."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import (
    GroupNotFoundError,
    InterventionError,
    MechanismError,
    NotIdentifiedError,
    OverlapError,
    PathError,
    PredictorError,
    RoleError,
    UnknownNodeError,
    WeightError,
)
from causalfairness.scm import Categorical, Deterministic, Linear, StructuralEquation
from causalfairness.scm.routes import routes_of
from judging import fewest_and_most_hits, graph_of

# --- a linear model, in which every path is a product of coefficients ---------------------------

LINEAR = cf.CausalGraph.parse(
    "{sex, age} -> w1; {sex, age, w1} -> w2; {sex, age, w1, w2} -> y; y -> later"
)
TO_W1, TO_W2, TO_Y = 0.7, -0.4, 0.3  # from sex
W1_W2, W1_Y, W2_Y = 0.5, 0.9, -1.2
PATHS = {
    "sex -> y": TO_Y,
    "sex -> w1 -> y": TO_W1 * W1_Y,
    "sex -> w2 -> y": TO_W2 * W2_Y,
    "sex -> w1 -> w2 -> y": TO_W1 * W1_W2 * W2_Y,
}
MODEL = cf.StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")


def female(causes):
    return (np.asarray(causes["sex"]) == "F").astype(float)


def mean_of_w1(causes):
    return TO_W1 * female(causes) + 0.2 * causes["age"]


def mean_of_w2(causes):
    return TO_W2 * female(causes) + 0.1 * causes["age"] + W1_W2 * causes["w1"]


def mean_of_y(causes):
    from_age = -0.3 * causes["age"]
    return TO_Y * female(causes) + from_age + W1_Y * causes["w1"] + W2_Y * causes["w2"]


def added(mean):
    """An equation that is known, with noise added to a mean."""
    return StructuralEquation(
        lambda causes, noise: mean(causes) + noise, lambda values, causes: values - mean(causes)
    )


GIVEN = {"w1": added(mean_of_w1), "w2": added(mean_of_w2), "y": added(mean_of_y)}


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = {"age": rng.normal(size=n)}
    frame["sex"] = np.where(rng.random(n) < 0.4, "F", "M")
    for node, mean in (("w1", mean_of_w1), ("w2", mean_of_w2), ("y", mean_of_y)):
        frame[node] = mean(frame) + rng.normal(size=n)
    frame["later"] = frame["y"] + rng.normal(size=n)
    return pd.DataFrame(frame)


def worth_its_age():
    """An outcome that is age for women and 0 for men, so that the direct effect is age."""
    return added(lambda causes: female(causes) * causes["age"])


def aged(data):
    return data.assign(y=female(data) * data["age"])


@pytest.fixture(scope="module")
def linear():
    return cf.StructuralCausalModel.fit(LINEAR, people(), {**GIVEN, "later": Linear()})


@pytest.mark.parametrize("path", ["sex -> y", "sex -> w2 -> y"])
def test_a_path_that_begins_alone_is_the_product_of_its_coefficients(linear, path):
    found = linear.path_effect(people(), MODEL, paths=[path])
    assert found.value == pytest.approx(PATHS[path], abs=1e-10)


ALONG = {
    ("sex -> y",): ["sex -> y"],
    ("sex -> w2",): ["sex -> w2 -> y"],
    ("sex -> w1",): ["sex -> w1 -> y", "sex -> w1 -> w2 -> y"],
    ("sex -> {w1, y}",): ["sex -> y", "sex -> w1 -> y", "sex -> w1 -> w2 -> y"],
    ("sex -> {w1, w2, y}",): list(PATHS),
    ("sex -> w1", "w1 -> y"): ["sex -> w1 -> y"],
    ("sex -> w1 -> w2",): ["sex -> w1 -> w2 -> y"],
    ("sex -> w1 -> w2 -> y",): ["sex -> w1 -> w2 -> y"],
    ("sex -> {w1, w2}", "w1 -> y"): ["sex -> w1 -> y", "sex -> w2 -> y"],
    ("sex -> {w1, w2}", "w1 -> w2"): ["sex -> w2 -> y", "sex -> w1 -> w2 -> y"],
    ("sex -> w1", "w1 -> {w2, y}"): ["sex -> w1 -> y", "sex -> w1 -> w2 -> y"],
}


@pytest.mark.parametrize("edges", ALONG, ids="; ".join)
def test_an_edge_set_is_the_sum_over_its_paths(linear, edges):
    found = linear.path_effect(people(), MODEL, edges=edges)
    assert found.value == pytest.approx(sum(PATHS[path] for path in ALONG[edges]), abs=1e-10)
    assert found.standard_error < 1e-10  # nobody differs, and the equations are given


def test_all_ways_of_writing_the_same_edges_give_the_same():
    scm = cf.StructuralCausalModel.fit(LINEAR, people(), {**GIVEN, "later": Linear()})
    ways = ["sex -> {w1, y}", ["sex -> y", "sex -> w1"], {("sex", "w1"), ("sex", "y")}]
    found = [scm.path_effect(people(), MODEL, edges=way) for way in ways]
    assert len({effect.value for effect in found}) == 1
    assert {effect.name for effect in found} == {"sex -> w1; sex -> y among everyone"}
    whole = [("sex", "w1", "y"), "sex -> w1 -> w2 -> y", ["sex", "y"]]
    assert scm.path_effect(people(), MODEL, paths=whole).value == found[0].value


def test_the_sign_is_that_of_a_change_from_reference_to_comparison(linear):
    turned = replace(MODEL, reference="F", comparison="M")
    found = linear.path_effect(people(), turned, edges="sex -> w2")
    assert found.value == pytest.approx(-PATHS["sex -> w2 -> y"], abs=1e-10)


def test_all_edges_are_the_total_effect_that_counterfactuals_give(linear):
    data = people()
    worlds = [linear.counterfactual(data, do={"sex": sex})["y"].to_numpy() for sex in "MF"]
    inside = (data["sex"] == "F").to_numpy()
    found = linear.path_effect(data, MODEL, among="F")
    assert found.value == pytest.approx((worlds[1] - worlds[0])[inside].mean(), abs=1e-10)
    assert found.name == "sex -> ... -> y among F"
    listed = linear.path_effect(data, MODEL, edges="sex -> {w1, w2, y}", among="F")
    assert listed.value == found.value


def test_each_row_has_its_own_effect_and_they_average_to_the_whole():
    data = aged(people())
    given = {**GIVEN, "y": worth_its_age(), "later": Linear()}
    scm = cf.StructuralCausalModel.fit(LINEAR, data, given)
    rows = scm.individual_path_effects(data, MODEL, edges="sex -> y")
    assert rows == pytest.approx(data["age"].to_numpy(), abs=1e-12)
    effect = scm.path_effect(data, MODEL, edges="sex -> y", among="M")
    men = rows[(data["sex"] == "M").to_numpy()]
    assert effect.value == pytest.approx(men.mean(), abs=1e-12)
    assert effect.standard_error == pytest.approx(men.std() / np.sqrt(len(men)), rel=1e-9)
    assert effect.spread.shape == (len(data),)
    assert not effect.spread[(data["sex"] == "F").to_numpy()].any()


# --- what the model says of whom ----------------------------------------------------------------


def test_weighted_rows_count_by_their_weight():
    data = aged(people()).assign(w=lambda frame: np.abs(frame["age"]))
    weighted = replace(MODEL, weights="w")
    given = {**GIVEN, "y": worth_its_age(), "later": Linear()}
    scm = cf.StructuralCausalModel.fit(LINEAR, data, given)
    found = scm.path_effect(data, weighted, edges="sex -> y")
    assert found.value == pytest.approx(np.average(data["age"], weights=data["w"]), abs=1e-12)
    with pytest.raises(WeightError, match="no row that is asked about has a positive weight"):
        scm.path_effect(data.assign(w=0.0), weighted)


def test_a_third_group_may_be_asked_about_but_everyone_is_the_two_of_the_model():
    data = people()
    data.loc[:49, "sex"] = "X"
    data = aged(data)
    lines = dict.fromkeys(("w1", "w2", "later"), Linear())
    scm = cf.StructuralCausalModel.fit(LINEAR, data, {**lines, "y": worth_its_age()})
    third = scm.path_effect(data, MODEL, edges="sex -> y", among="X")
    both = scm.path_effect(data, MODEL, edges="sex -> y")
    assert third.value == pytest.approx(data["age"][:50].mean(), abs=1e-12)
    assert both.value == pytest.approx(data["age"][50:].mean(), abs=1e-12)
    with pytest.raises(GroupNotFoundError, match="among='Y' has no rows: 'sex' has the values F;"):
        scm.path_effect(data, MODEL, among="Y")


def test_several_protected_columns_are_set_at_once():
    rng = np.random.default_rng(0)
    race, sex = rng.choice(["a", "b"], 400), rng.choice(["F", "M"], 400)
    w = 1.0 * (race == "b") + rng.normal(size=400)
    y = 2.0 * (sex == "F") + 3.0 * w + 4.0 * (race == "b") + rng.normal(size=400)
    data = pa.table({"race": race, "sex": sex, "w": w, "y": y})
    graph = cf.CausalGraph.parse("race -> sex; race -> w; {race, sex, w} -> y")
    given = {
        "w": added(lambda causes: 1.0 * (causes["race"] == "b")),
        "y": added(
            lambda causes: (
                2.0 * (causes["sex"] == "F") + 3.0 * causes["w"] + 4.0 * (causes["race"] == "b")
            )
        ),
    }
    scm = cf.StructuralCausalModel.fit(graph, data, given)
    model = cf.StandardFairnessModel(
        protected=["race", "sex"], reference=("a", "M"), comparison=("b", "F"), outcome="y"
    )
    whole = scm.path_effect(data, model, among=("a", "M"))
    assert whole.value == pytest.approx(2 + 3 + 4, abs=1e-10)
    parts = [scm.path_effect(data, model, edges=edge) for edge in ("race -> {w, y}", "sex -> y")]
    assert [part.value for part in parts] == pytest.approx([7, 2], abs=1e-10)
    with pytest.raises(PathError, match="race -> sex leads into 'sex', which is set itself"):
        scm.path_effect(data, model, edges="race -> sex")


def test_a_label_may_be_the_outcome():
    data = people()
    data["y"] = np.where(data["w1"] > 0.5, "hired", "turned down")
    graph = cf.CausalGraph.parse("{sex, age} -> w1 -> y")
    rule = Deterministic(lambda causes: np.where(causes["w1"] > 0.5, "hired", "turned down"))
    scm = cf.StructuralCausalModel.fit(graph, data, {"w1": GIVEN["w1"], "y": rule})
    w1 = [scm.counterfactual(data, do={"sex": sex})["w1"] > 0.5 for sex in "MF"]
    shift = w1[1].mean() - w1[0].mean()
    assert shift > 0.1
    for value, sign in (("hired", 1), ("turned down", -1)):
        model = replace(MODEL, outcome_value=value)
        assert scm.path_effect(data, model).value == pytest.approx(sign * shift, abs=1e-12)
    scored = replace(model, outcome=None, outcome_value=None, prediction="w1")
    column = scm.path_effect(data, scored, of="prediction")
    assert column.value == pytest.approx(TO_W1, abs=1e-10)


@pytest.mark.parametrize("form", [pl.from_pandas, pa.Table.from_pandas])
def test_every_library_gives_the_same_answer(linear, form):
    expected = linear.path_effect(people(), MODEL, edges="sex -> w1")
    found = linear.path_effect(form(people()), MODEL, edges="sex -> w1")
    assert (found.value, found.basis) == (expected.value, expected.basis)


def test_files_give_the_same_answer(linear, tmp_path):
    people().to_parquet(tmp_path / "people.parquet")
    expected = linear.path_effect(people(), MODEL, edges="sex -> w1")
    found = linear.path_effect(tmp_path / "people.parquet", MODEL, edges="sex -> w1")
    assert (found.value, found.basis) == (expected.value, expected.basis)


def test_path_effects_and_decompositions_of_one_table_can_be_subtracted():
    world = cf.datasets.worlds.linear_gaussian()
    data = world.draw(500, seed=0)
    scm = cf.StructuralCausalModel.fit(graph_of(world), data, {"m1": Linear(), "y": Linear()})
    identified = cf.decompose_disparity(data, world.model).direct
    structural = scm.path_effect(data, world.model, edges="group -> y", among="blue")
    apart = identified - structural
    assert abs(apart.value) < 4 * apart.standard_error


# --- categories, against sums over all noises ----------------------------------------------------

DISCRETE = cf.CausalGraph.parse("{a, c} -> v; {a, c, v} -> w; {a, c, v, w} -> y; a <-> c")
CHANCES = {
    "v": lambda x: 0.2 + 0.5 * x["a"] + 0.2 * x["c"],
    "w": lambda x: 0.1 + 0.3 * x["a"] + 0.4 * x["v"] + 0.1 * x["c"] - 0.2 * x["a"] * x["v"],
    "y": lambda x: 0.05 + 0.2 * x["a"] + 0.3 * x["v"] + (0.4 - 0.3 * x["a"]) * x["w"],
}
DISCRETE_MODEL = cf.StandardFairnessModel(protected="a", reference=0, comparison=1, outcome="y")
EDGE_SETS = [
    *(("a -> v",), ("a -> w",), ("a -> y",), ("a -> {v, w}",), ("a -> {v, y}",), ("a -> {w, y}",)),
    *(("a -> {v, w, y}",), ("a -> v", "v -> y"), ("a -> {v, w}", "v -> y", "w -> y")),
    *(("a -> v", "v -> w"), ("a -> {v, y}", "v -> w")),
]


def draw_discrete(n, seed):
    rng = np.random.default_rng(seed)
    frame = {"c": (rng.random(n) < 0.5).astype(int)}
    frame["a"] = (rng.random(n) < 0.3 + 0.4 * frame["c"]).astype(int)
    for node, chance in CHANCES.items():
        frame[node] = (rng.random(n) < chance(frame)).astype(int)
    return pa.table(frame)


def two_chances(node):
    def chances(causes):
        p = CHANCES[node](causes)
        return np.column_stack([1 - p, p])

    return Categorical(chances)


def by_enumeration(edges, group):
    """The path effect among a group: a sum over c and over the noises of v, w and y.

    A node is 1 where its noise lies below its chance, so a noise matters only through the piece
    between two possible chances that it lies in.
    """
    listed = cf.CausalGraph.parse("; ".join(edges)).arrows
    speaking = {cause for cause, _ in listed}

    def passes(cause, effect):
        return cause == "c" or (cause, effect) in listed or (cause not in {"a", *speaking})

    total = 0.0
    for c in (0, 1):
        share = 0.3 + 0.4 * c if group == 1 else 0.7 - 0.4 * c  # P(c | group)
        for noise, weight in noises(c):
            plain, path = {"a": 0, "c": c}, {"a": 1, "c": c}
            for node, chance in CHANCES.items():
                heard = {x: path[x] if passes(x, node) else plain[x] for x in plain}
                plain[node], path[node] = (int(noise[node] < chance(x)) for x in (plain, heard))
            total += share * weight * (path["y"] - plain["y"])
    return total


def noises(c):
    """One noise out of every piece, with the chance of the piece."""
    pieces = []
    for chance in CHANCES.values():
        worlds = (dict(zip("avw", at, strict=True), c=c) for at in product((0, 1), repeat=3))
        ends = sorted({0.0, 1.0, *map(chance, worlds)})
        pieces.append([((low + high) / 2, high - low) for low, high in pairwise(ends)])
    for picked in product(*pieces):
        middles, widths = zip(*picked, strict=True)
        yield dict(zip(CHANCES, middles, strict=True)), np.prod(widths)


@pytest.fixture(scope="module")
def discrete():
    data = draw_discrete(30_000, seed=0)
    given = {node: two_chances(node) for node in CHANCES}
    return data, cf.StructuralCausalModel.fit(DISCRETE, data, given)


@pytest.mark.parametrize("group", [0, 1])
@pytest.mark.parametrize("edges", EDGE_SETS, ids="; ".join)
def test_categories_meet_the_sum_over_all_noises(discrete, edges, group):
    data, scm = discrete
    found = scm.path_effect(data, DISCRETE_MODEL, edges=edges, among=group)
    assert abs(found.value - by_enumeration(edges, group)) < 4 * found.standard_error
    assert found.standard_error < 0.006


def test_more_draws_take_the_luck_out_of_the_noise(discrete):
    data, scm = discrete
    one, many, again = (
        scm.path_effect(data, DISCRETE_MODEL, edges="a -> v", draws=draws) for draws in (1, 10, 10)
    )
    assert many.standard_error < 0.6 * one.standard_error
    expected = np.mean([by_enumeration(["a -> v"], group) for group in (0, 1)])
    assert abs(many.value - expected) < 4 * many.standard_error
    assert np.array_equal(many.spread, again.spread)  # the same seed, the same answer
    other = scm.path_effect(data, DISCRETE_MODEL, edges="a -> v", seed=1)
    assert other.value != one.value


# --- fitted mechanisms ---------------------------------------------------------------------------

GAUSSIAN = cf.datasets.worlds.linear_gaussian()
LINES = {"m1": Linear(), "y": Linear()}
TRUTH = {"group -> m1": 0.6 * 0.8, "group -> y": 0.5, "group -> {m1, y}": 0.5 + 0.6 * 0.8}


def fitted(n, seed, world=GAUSSIAN, graph=None):
    data = world.draw(n, seed=seed)
    return data, cf.StructuralCausalModel.fit(graph or graph_of(world), data, LINES)


@pytest.mark.parametrize("edges", TRUTH)
def test_fitted_mechanisms_meet_the_truth_within_their_standard_errors(edges):
    data, scm = fitted(2_000, seed=0)
    found = scm.path_effect(data, GAUSSIAN.model, edges=edges, replicates=50)
    assert abs(found.value - TRUTH[edges]) < 4 * found.standard_error
    assert found.standard_error < 0.1
    assert found.basis.unit == "replicates"


def test_a_cut_arrow_has_no_effect():
    world = GAUSSIAN.without("direct")
    data, scm = fitted(2_000, seed=0, world=world)
    absent = scm.path_effect(data, world.model, edges="group -> y", replicates=50)
    assert abs(absent.value) < 4 * absent.standard_error
    graph = cf.CausalGraph.parse("{c1, c2} -> m1; {c1, c2, m1} -> y; group <-> {c1, c2}")
    data, scm = fitted(500, seed=0, graph=graph)
    nothing = scm.path_effect(data, GAUSSIAN.model)
    assert (nothing.value, nothing.standard_error, nothing.p_value) == (0.0, 0.0, 1.0)


def test_a_mechanism_of_the_wrong_form_is_not_rescued():
    """Lines know of no interaction: the answer is then wrong, and a right form mends it."""
    world = cf.datasets.worlds.interacting()
    truth = world.true_means()
    data = world.draw(4_000, seed=0)
    bends = added(
        lambda causes: (
            (causes["group"] == "green")
            * (0.4 + 0.6 * causes["m1"] - 0.5 * causes["c1"] + 0.2 * causes["c2"])
            + 0.5 * causes["m1"]
            + 0.8 * causes["c1"]
            + 0.3 * causes["c2"]
        )
    )
    errors = {}
    for name, outcome in {"line": Linear(), "right": bends}.items():
        lines = {"m1": Linear(), "y": outcome}
        scm = cf.StructuralCausalModel.fit(graph_of(world), data, lines)
        found = scm.path_effect(data, world.model, edges="group -> m1", among="blue", replicates=50)
        error = found.value - (truth[0, 1, 0] - truth[0, 0, 0])
        errors[name] = abs(error) / found.standard_error
    assert errors["right"] < 4
    assert errors["line"] > 6


def test_intervals_by_refitting_hold_the_truth_and_those_without_may_not():
    draws = 50
    hits = dict.fromkeys((*TRUTH, "as given"), 0)
    for seed in range(draws):
        data, scm = fitted(200, seed=5_000 + seed)
        for edges, truth in TRUTH.items():
            low, high = scm.path_effect(data, GAUSSIAN.model, edges=edges, replicates=30).interval()
            hits[edges] += low <= truth <= high
        given = scm.path_effect(data, GAUSSIAN.model, edges="group -> y", replicates=0)
        low, high = given.interval()
        hits["as given"] += low <= 0.5 <= high
    assert given.rows_alone
    assert hits.pop("as given") == 0  # the same for everyone, so rows alone show no error at all
    fewest, _ = fewest_and_most_hits(draws, len(TRUTH))
    assert min(hits.values()) >= fewest, hits


def test_where_nothing_is_learned_drawing_rows_again_gives_the_error_of_a_plain_mean():
    data = aged(people())
    given = {**GIVEN, "y": worth_its_age(), "later": Linear()}
    scm = cf.StructuralCausalModel.fit(LINEAR, data, given)
    over_rows, drawn = (
        scm.path_effect(data, MODEL, edges="sex -> y", among="F", replicates=replicates)
        for replicates in (None, 400)
    )
    assert drawn.value == over_rows.value
    monte_carlo = 4 / np.sqrt(2 * 400)  # four relative standard errors of a standard error
    assert drawn.standard_error == pytest.approx(over_rows.standard_error, rel=monte_carlo)


def test_refitting_does_not_depend_on_workers_but_on_the_seed():
    data, scm = fitted(300, seed=0)
    one, two, other = (
        scm.path_effect(
            data, GAUSSIAN.model, edges="group -> m1", replicates=20, workers=workers, seed=seed
        )
        for workers, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert np.array_equal(one.spread, two.spread)
    assert one.value == other.value
    assert not np.array_equal(one.spread, other.spread)
    whole = scm.path_effect(data, GAUSSIAN.model, replicates=20)
    direct = scm.path_effect(data, GAUSSIAN.model, edges="group -> y", replicates=20)
    rest = whole - direct  # they share their draws; in a linear model the rest is the other path
    assert rest.value == pytest.approx(one.value, abs=1e-12)
    assert rest.standard_error == pytest.approx(one.standard_error, rel=1e-9)


def test_what_cannot_be_refitted_is_refused(tmp_path):
    data, scm = fitted(300, seed=0)
    scm.save(tmp_path / "model.json")
    loaded = cf.StructuralCausalModel.load(tmp_path / "model.json")
    value = loaded.path_effect(data, GAUSSIAN.model).value
    assert value == scm.path_effect(data, GAUSSIAN.model).value
    with pytest.raises(MechanismError, match=r"loaded from a file, .* cannot be learned again"):
        loaded.path_effect(data, GAUSSIAN.model, replicates=20)
    with pytest.raises(ValueError, match="replicates must be a whole number, at least 10, 0 or"):
        scm.path_effect(data, GAUSSIAN.model, replicates=5)
    green = np.asarray(data["group"]) == "green"
    few = data.filter(pa.array(~green | (np.cumsum(green) <= 9)))
    with pytest.raises(OverlapError, match="the group 'green' has only 9 rows, too few"):
        scm.path_effect(few, GAUSSIAN.model, among="green", replicates=20)


# --- what is refused -----------------------------------------------------------------------------


def test_a_recanting_witness_is_named(linear):
    with pytest.raises(NotIdentifiedError) as refusal:
        linear.path_effect(people(), MODEL, paths=["sex -> w1 -> y", "sex -> y"])
    message = str(refusal.value)
    assert "'w1' is a recanting witness" in message
    assert "asked for (sex -> w1 -> y) and one that is not (sex -> w1 -> w2 -> y)" in message


def test_a_witness_may_recant_further_down():
    graph = cf.CausalGraph.parse("a -> v -> w -> {x, y}; x -> y; a -> x")
    routes = causal_routes(graph, paths=["a -> x -> y"])
    assert routes.told == (("a", "x"),)
    with pytest.raises(NotIdentifiedError, match=r"a -> v begins both .*\(a -> v -> w -> y\)"):
        causal_routes(graph, paths=["a -> v -> w -> y"])


def causal_routes(graph, **which):
    return routes_of(graph, ("a",), "y", **which)


def test_paths_are_not_enumerated_where_that_would_take_forever():
    """Thirty layers of two nodes have a billion paths."""
    layers = [["a"], *([f"l{at}", f"r{at}"] for at in range(30)), ["y"]]
    arrows = [(one, two) for upper, lower in pairwise(layers) for one in upper for two in lower]
    graph = cf.CausalGraph.from_edges([*arrows, ("a", "y")])
    left = ["a", *(f"l{at}" for at in range(30)), "y"]
    with pytest.raises(NotIdentifiedError, match="'l0' is a recanting witness"):
        causal_routes(graph, paths=[left])
    assert causal_routes(graph, paths=["a -> y"]).told == (("a", "y"),)
    assert causal_routes(graph, edges="a -> l0").told == (("a", "l0"),)


def test_a_node_that_passes_on_some_of_its_change_is_an_assumption(linear):
    split = linear.path_effect(people(), MODEL, edges=["sex -> w1", "w1 -> y"])
    stated = [text for text in split.assumptions if text.startswith("w1: passes the change on")]
    assert len(stated) == 1
    assert "(w1 -> w2 not among them)" in stated[0]
    whole = linear.path_effect(people(), MODEL, edges=["sex -> w1", "w1 -> {w2, y}"])
    assert not [text for text in whole.assumptions if "passes the change on" in text]


@pytest.mark.parametrize(
    ("which", "error", "message"),
    [
        ({"edges": "sex -> w9"}, UnknownNodeError, "the graph has no node 'w9'; its nodes are"),
        ({"edges": "sex -> age"}, PathError, "has no arrow sex -> age; sex leads to w1, w2, y"),
        ({"edges": "later -> y"}, PathError, "no arrow later -> y; later causes nothing"),
        ({"edges": "y -> later"}, PathError, "y -> later is on no path from 'sex' to 'y'"),
        ({"edges": "age -> w1"}, PathError, "age -> w1 is on no path from 'sex' to 'y'"),
        ({"edges": "w1 -> y"}, PathError, "w1 -> y has nothing to pass on: .* such as sex -> w1"),
        ({"edges": ["sex -> y", "w2 -> y"]}, PathError, "no change of 'sex' reaches 'w2'"),
        ({"edges": "sex"}, PathError, "'sex' is not an arrow; write the edge as 'a -> b'"),
        ({"edges": "sex <-> y"}, PathError, "'sex <-> y' is not an arrow"),
        ({"edges": []}, PathError, "edges is empty, so nothing would change"),
        ({"edges": 3}, PathError, "edges is 3; expected a list such as"),
        ({"edges": [("sex", "w1", "y")]}, PathError, "is not an edge; write 'a -> b' or a pair"),
        ({"edges": [3]}, PathError, "3 is not an edge"),
        ({"paths": "sex -> w1"}, PathError, "sex -> w1 is not a path from 'sex' to 'y'; write"),
        ({"paths": "w1 -> y"}, PathError, "w1 -> y is not a path from 'sex' to 'y'"),
        ({"paths": ["sex -> age -> y"]}, PathError, "the graph has no arrow sex -> age"),
        ({"paths": ["sex -> {w1, w2} -> y"]}, PathError, "is not a path; write one path per text"),
        ({"paths": [()]}, PathError, "is not a path; write"),
        ({"paths": [None]}, PathError, "None is not a path; write"),
        ({"edges": "sex -> y", "paths": "sex -> y"}, PathError, "edges and paths are two ways"),
        ({"draws": 0}, InterventionError, "draws is 0; expected a whole number of at least 1"),
    ],
    ids=str,
)
def test_questions_that_make_no_sense_are_refused(linear, which, error, message):
    with pytest.raises(error, match=message):
        linear.path_effect(people(), MODEL, **which)


def test_groups_and_outcomes_that_the_model_does_not_know_are_refused(linear):
    with pytest.raises(InterventionError, match="do sets 'sex' to 'X', which was not there"):
        linear.path_effect(people(), replace(MODEL, comparison="X"))
    with pytest.raises(RoleError, match="the comparison group is everyone else, which is no value"):
        linear.path_effect(people(), replace(MODEL, comparison=None))
    with pytest.raises(UnknownNodeError, match="the graph has no node 'ages'"):
        linear.path_effect(people(), replace(MODEL, outcome="ages"))
    with pytest.raises(UnknownNodeError, match="the graph has no node 'gender'"):
        linear.path_effect(people(), replace(MODEL, protected="gender"))
    function = replace(MODEL, prediction=lambda frame: frame["w1"])
    with pytest.raises(PredictorError, match="the prediction is a function and no node"):
        linear.path_effect(people(), function, of="prediction")
    women = people()[lambda frame: frame["sex"] == "F"]
    with pytest.raises(GroupNotFoundError, match="the reference group 'M' has no rows"):
        linear.path_effect(women, MODEL)
    found = linear.path_effect(women, MODEL, edges="sex -> y", among="F")
    assert found.value == pytest.approx(TO_Y, abs=1e-10)
