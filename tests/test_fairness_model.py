"""Roles of columns: what contradicts itself, and which graphs project onto the model."""

import copy
import math
import pickle
from decimal import Decimal
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalfairness.errors import NotIdentifiedError, RoleError, UnknownNodeError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from test_graph import repeatable

GROUPS = {"reference": "Caucasian", "comparison": "African-American"}


def recidivism(**changes):
    roles = {"confounders": ["age", "sex"], "mediators": ["priors"], "weights": "w"}
    targets = {"outcome": "recid", "prediction": "score"}
    return StandardFairnessModel(**{"protected": "race", **GROUPS, **roles, **targets, **changes})


def project(text, protected="a", **roles):
    """Roles from a graph; 0 and 1 stand for the groups."""
    groups = {"reference": 0, "comparison": 1}
    if not isinstance(protected, str):
        groups = {"reference": (0,) * len(protected), "comparison": (1,) * len(protected)}
    graph = CausalGraph.parse(text) if isinstance(text, str) else text
    return StandardFairnessModel.from_graph(
        graph, protected=protected, **groups, **(roles or {"outcome": "y"})
    )


def positive(frame):
    return [1.0] * len(frame)


def test_columns_are_stored_as_tuples_and_listed_in_the_order_of_roles():
    model = recidivism()
    assert model.confounders == ("age", "sex")
    assert model.mediators == ("priors",)
    assert model.protected_columns == ("race",)
    assert model.role_columns == ("race", "age", "sex", "priors", "recid", "score", "w")
    assert (model.prediction_column, model.predict) == ("score", None)
    assert recidivism(confounders={"sex", "age"}) == model
    assert recidivism(confounders=pd.Index(["age", "sex"])) == model


def test_a_function_may_stand_for_the_prediction():
    model = recidivism(prediction=positive, outcome=None)
    assert model.prediction_column is None
    assert model.predict is positive
    assert model.role_columns == ("race", "age", "sex", "priors", "w")


def test_models_are_values():
    model = recidivism()
    assert model == recidivism(left_out=["zip"])
    assert hash(model) == hash(recidivism())
    assert model != recidivism(confounders=["sex", "age"])
    assert pickle.loads(pickle.dumps(model)) == copy.deepcopy(model) == model
    with pytest.raises(AttributeError):
        model.outcome = "other"


def test_several_protected_columns_combine():
    model = recidivism(
        protected=["race", "sex"],
        confounders=["age"],
        reference=["Caucasian", "Male"],
        comparison=("African-American", "Female"),
    )
    assert model.protected == ("race", "sex")
    assert model.reference == ("Caucasian", "Male")
    assert model.reference_label == "Caucasian, Male"
    assert model.comparison_label == "African-American, Female"
    assert model.role_columns[:2] == ("race", "sex")


@pytest.mark.parametrize("value", ["Caucasian", ("Caucasian",), ["Caucasian"]])
def test_one_protected_column_may_stand_in_a_list(value):
    single = recidivism(reference=value)
    assert single.reference == "Caucasian"
    listed = recidivism(protected=["race"], reference=value)
    assert listed.protected == ("race",)
    assert (listed.reference, listed.comparison) == (("Caucasian",), ("African-American",))
    assert listed.reference_label == single.reference_label == "Caucasian"


def test_other_groups():
    model = recidivism(left_out=["zip"])
    other = model.for_groups(reference=None)
    assert (other.reference, other.comparison) == (None, "African-American")
    assert (other.reference_label, other.left_out) == ("everyone else", ("zip",))
    assert other.for_groups(reference="Asian", comparison=None).comparison_label == "everyone else"
    with pytest.raises(RoleError, match="both None"):
        other.for_groups(comparison=None)


def test_the_description_names_the_groups_and_every_role():
    model = recidivism(outcome_value="yes", left_out=["zip", "lottery"])
    assert str(model) == model.describe()
    assert str(model).splitlines() == [
        "African-American compared with Caucasian (race): "
        "a change from Caucasian to African-American.",
        "  protected    race",
        "  confounders  age, sex - not caused by race, may share hidden causes with it",
        "  mediators    priors - may be caused by race and the confounders",
        "  outcome      recid (counts as 1 where it is 'yes')",
        "  prediction   score",
        "  weights      w",
        "  left out     zip, lottery - neither a confounder nor a mediator",
    ]
    bare = recidivism(confounders=(), comparison=None, prediction=positive, outcome=None)
    assert "everyone else compared with Caucasian" in str(bare)
    assert "confounders  none" in str(bare)
    assert "prediction   a function of the columns above" in str(bare)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"confounders": ["age", "priors"]}, r"'priors' has two roles, confounders and mediators"),
        ({"outcome": "race"}, r"'race' has two roles, protected and outcome"),
        ({"prediction": "recid"}, r"'recid' has two roles, outcome and prediction"),
        ({"weights": "age"}, r"'age' has two roles, confounders and weights"),
        ({"mediators": ["priors", "priors"]}, r"mediators names the column 'priors' twice"),
        ({"confounders": "age"}, r"confounders is a list .* got the text 'age'; write \['age'\]"),
        ({"mediators": None}, r"mediators is a list of columns, got None; write \[\] for none"),
        ({"confounders": ["age", ""]}, r"confounders names the column ''; .* not empty"),
        ({"confounders": [3]}, r"confounders names the column 3"),
        ({"protected": ""}, r"protected names the column ''"),
        ({"protected": []}, r"protected names no column"),
        ({"protected": None}, r"protected is a list of columns, got None"),
        ({"outcome": ""}, r"outcome names the column ''"),
        ({"outcome": None, "prediction": None}, r"neither an outcome nor a prediction"),
        ({"prediction": 3}, r"prediction is a column or a function of a frame, got int"),
        ({"comparison": "Caucasian"}, r"the same group, 'Caucasian'"),
        ({"reference": None, "comparison": None}, r"both None"),
        ({"reference": ("a", "b")}, r"reference has 2 values \(a, b\) .* has 1 column \(race\)"),
        (
            {"protected": ["race", "region"]},
            r"reference has 1 value \(Caucasian\) and protected has 2 columns \(race, region\)",
        ),
        (
            {"protected": ["race", "region"], "reference": ("a", None)},
            r"reference has a missing value for 'region'",
        ),
        ({"comparison": math.nan}, r"comparison has a missing value for 'race'"),
        ({"comparison": np.float32("nan")}, r"comparison has a missing value"),
        ({"comparison": Decimal("nan")}, r"comparison has a missing value"),
        ({"reference": pd.NA}, r"reference has a missing value"),
        ({"reference": pd.NaT}, r"reference has a missing value"),
        ({"outcome_value": math.nan}, r"outcome_value is a missing value"),
    ],
)
def test_roles_that_contradict_each_other_are_refused(changes, message):
    with pytest.raises(RoleError, match=message):
        recidivism(**changes)


def test_an_object_that_can_predict_is_not_a_function():
    class Fitted:
        def predict(self, frame):
            return positive(frame)

    with pytest.raises(RoleError, match=r"got Fitted; pass its predict function"):
        recidivism(prediction=Fitted())
    assert recidivism(prediction=Fitted().predict).predict is not None


def test_everything_is_named():
    with pytest.raises(TypeError, match="positional"):
        StandardFairnessModel("race", "Caucasian", "African-American")


# The projection of a graph


@pytest.mark.parametrize(
    ("text", "confounders", "mediators", "left_out"),
    [
        ("a <-> c; {a, c} -> m; {a, c, m} -> y", "c", "m", ""),
        ("c -> a; {a, c} -> m; {a, c, m} -> y", "c", "m", ""),
        ("a -> y", "", "", ""),
        ("a; y", "", "", ""),
        ("a; c -> y", "c", "", ""),
        ("a -> m -> y", "", "m", ""),
        ("i -> a -> y", "", "", "i"),  # a pure instrument
        ("i -> j -> a -> y; i -> y", "i", "", "j"),  # i is none, j is
        ("i -> c; c -> {a, y}; a -> y", "ic", "", ""),
        ("a -> y; a -> d; y -> e", "", "", "de"),  # effects that cause nothing
        ("a -> m -> y; c -> m", "c", "m", ""),
        ("a -> m -> n -> y; m <-> n; c <-> d; {c, d} -> y", "cd", "mn", ""),
        ("a <-> l; l -> m; a -> m -> y", "l", "m", ""),  # not left out: it causes m
        ("a <-> i; i -> a -> y", "", "", "i"),
        ("i <-> c; i -> a -> y; c -> y", "c", "", "i"),  # the same as a <-> c
        ("a -> m -> y; d <-> y; a -> d", "", "m", "d"),  # a collider nobody looks at
        ("a -> d; d <-> m; a -> m -> y; z <-> y; z <-> a", "", "m", "dz"),
        ("a -> y -> b; b <-> a", "", "", "b"),
    ],
)
def test_roles_follow_from_the_graph(text, confounders, mediators, left_out):
    model = project(text)
    assert set(model.confounders) == set(confounders)
    assert set(model.mediators) == set(mediators)
    assert set(model.left_out) == set(left_out)
    assert (model.outcome, model.reference, model.comparison) == ("y", 0, 1)


@pytest.mark.parametrize(
    ("text", "edges", "why"),
    [
        ("a -> m -> y; a <-> m", "a <-> m", "of the protected attribute and a mediator"),
        ("a -> y; a <-> y", "a <-> y", "of the protected attribute and the outcome"),
        ("a -> m -> y; m <-> y", "m <-> y", "of a mediator and the outcome"),
        ("a -> y; c -> y; c <-> y", "y <-> c", "of a confounder and the outcome"),
        ("a -> m -> y; c -> m; c <-> m", "m <-> c", "of a confounder and a mediator"),
        ("i -> a -> y; i <-> y", "a <-> y (from i -> a, i <-> y)", "protected attribute"),
        (
            "i -> j -> a; a -> m -> y; i <-> m",
            "a <-> m (from i -> j, j -> a, i <-> m)",
            "of the protected attribute and a mediator",
        ),
        ('"the a" -> a; a -> y; "the a" <-> y', 'a <-> y (from "the a" -> a, "the a" <-> y)', ""),
        ("y -> a", "y -> a", "the outcome causes the protected attribute"),
        ("y -> b -> a; y -> c", "y -> b -> a", "the outcome causes the protected attribute"),
    ],
)
def test_a_graph_that_breaks_the_assumptions_is_refused_by_edge(text, edges, why):
    with pytest.raises(NotIdentifiedError) as refused:
        project(text)
    line = next(line for line in str(refused.value).splitlines() if edges in line)
    assert line.startswith(f"  {edges}: ")
    assert why in line
    assert "add it to the graph as a column" in str(refused.value)


def test_every_offending_edge_is_named():
    with pytest.raises(NotIdentifiedError) as refused:
        project("a -> m -> y; c -> y; a <-> y; m <-> y; c <-> m; a <-> c")
    named = [line.split(":")[0].strip() for line in str(refused.value).splitlines()[1:-1]]
    assert named == ["a <-> y", "m <-> y", "m <-> c"]


@pytest.mark.parametrize(
    ("text", "roles", "mediators"),
    [
        ("a -> m -> {y, p}; a -> n -> p", {"outcome": "y", "prediction": "p"}, "mn"),
        ("a -> m -> y", {"outcome": "y", "prediction": "p"}, "m"),  # p is not in the graph
        ("a -> m -> y", {"outcome": "y", "prediction": positive}, "m"),
        ("a -> m -> p; m -> y", {"prediction": "p"}, "m"),
        ("a -> m -> p; m <-> y", {"prediction": "p"}, "m"),  # y is nobody's question here
        ("a -> m -> p -> y", {"outcome": "y", "prediction": "p"}, "m"),  # p acts on y
    ],
)
def test_predictions_in_and_outside_the_graph(text, roles, mediators):
    model = project(text, **roles)
    assert set(model.mediators) == set(mediators)
    assert model.prediction == roles["prediction"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a -> m -> {y, p}; a <-> p", r"a <-> p: .* protected attribute and the prediction"),
        ("a -> m -> {y, p}; m <-> p", r"m <-> p: .* mediator and the prediction"),
        ("a -> {y, p}; c -> p; c <-> p", r"p <-> c: .* confounder and the prediction"),
        ("a -> {y, p}; y <-> p", r"y <-> p: .* the outcome and the prediction"),
        ("a -> y -> p", r"y -> p: the outcome causes the prediction.* becomes a mediator"),
        ("a -> y -> m -> p", r"y -> m: the outcome causes a mediator.*separate models"),
        ("a -> p -> m -> y", r"p -> m: the prediction causes a mediator.*separate models"),
        ("a -> p; y -> c -> p", r"y -> c: the outcome causes a confounder"),
    ],
)
def test_outcome_and_prediction_both_come_last(text, message):
    with pytest.raises(NotIdentifiedError, match=message):
        project(text, outcome="y", prediction="p")


def test_several_protected_columns_act_as_one():
    model = project(
        "race -> sex_roles -> pay; sex -> sex_roles; race -> religion -> pay; age <-> race;"
        "age -> {sex, pay}; race -> village -> religion",
        protected=["race", "religion", "sex"],
        outcome="pay",
    )
    assert model.mediators == ("sex_roles",)
    assert model.confounders == ("age",)
    assert model.left_out == ("village",)  # matters only through religion


def test_a_mediator_between_two_protected_columns_is_refused():
    text = "race -> village -> {religion, pay}; religion -> pay"
    assert project(text, protected="race", outcome="pay").mediators == ("village", "religion")
    with pytest.raises(NotIdentifiedError, match=r"village -> religion: a mediator, caused by one"):
        project(text, protected=["race", "religion"], outcome="pay")


def test_a_hidden_cause_through_a_column_between_protected_ones_is_refused():
    with pytest.raises(NotIdentifiedError, match=r"b <-> y \(from l -> b, l <-> y\)"):
        project("a -> l -> b -> y; l <-> y", protected=["a", "b"])


def test_questions_the_graph_knows_nothing_about():
    with pytest.raises(UnknownNodeError, match=r"no node 'yy'; did you mean 'y'"):
        project("a -> y", outcome="yy")
    with pytest.raises(UnknownNodeError, match=r"no node 'b'"):
        project("a -> y", protected="b")
    with pytest.raises(RoleError, match=r"says nothing about the prediction.*name an outcome"):
        project("a -> y", prediction=positive)
    with pytest.raises(RoleError, match=r"add the prediction to the graph"):
        project("a -> y", prediction="score")
    with pytest.raises(RoleError, match=r"neither an outcome nor a prediction"):
        project("a -> y", weights="w")
    with pytest.raises(RoleError, match=r"'a' has two roles, protected and outcome"):
        project("a -> y", outcome="a")
    with pytest.raises(RoleError, match=r"'m' has two roles, mediators and weights"):
        project("a -> m -> y", outcome="y", weights="m")
    assert project("a -> y; w", outcome="y", weights="w").left_out == ()


def test_the_graph_of_a_model_says_what_the_model_says():
    groups = {"reference": (0, 0), "comparison": (1, 1)}
    model = recidivism(
        protected=["race", "sex"], confounders=["age"], mediators=["priors", "job"], **groups
    )
    assert model.to_graph() == CausalGraph.parse(
        "{race, sex} <-> age; {race, sex, age} -> {priors, job};"
        "{race, sex, age, priors, job} -> {recid, score}"
    )
    alone = recidivism(prediction=positive, outcome=None, confounders=())
    assert alone.to_graph() == CausalGraph.parse("race -> priors")


@repeatable
@given(st.data())
def test_the_model_comes_back_from_its_own_graph(data):
    names = data.draw(st.permutations(["race", "age", "sex", "priors", "zip", "recid", "score"]))
    protected = data.draw(st.sampled_from([names[0], names[:1], names[:2]]))
    rest = names[2:]
    cut, end = data.draw(st.integers(0, 3)), data.draw(st.integers(3, 4))
    model = StandardFairnessModel(
        protected=protected,
        reference=(0, 0) if len(protected) == 2 else 0,
        comparison=None,
        confounders=rest[:cut],
        mediators=rest[cut:3],
        outcome=rest[3],
        prediction=data.draw(st.sampled_from([None, positive, rest[4]])) if end == 4 else None,
    )
    again = StandardFairnessModel.from_graph(
        model.to_graph(),
        protected=protected,
        reference=model.reference,
        comparison=None,
        outcome=model.outcome,
        prediction=model.prediction,
    )
    assert again == model
    assert again.left_out == ()


# Identification: the formula of the world means against the worlds themselves


class World:
    """Binary columns with random mechanisms; every state of the noise is enumerated.

    A column is 1 where its noise (0 to 3, all alike) lies below a level of 1 to 3 that depends
    on its parents and on the hidden causes it shares, so every combination of values occurs.
    """

    def __init__(self, graph, seed):
        rng = np.random.default_rng(seed)
        self.graph = graph
        sizes = [4] * len(graph.nodes) + [2] * len(graph.hidden)
        states = np.indices(sizes).reshape(len(sizes), -1)
        self.noise = dict(zip(graph.nodes, states, strict=False))
        self.hidden = dict(zip(graph.hidden, states[len(graph.nodes) :], strict=True))
        self.levels = {
            node: rng.integers(1, 4, 2 ** (len(graph.parents(node)) + len(self.hidden_of(node))))
            for node in graph.nodes
        }

    def hidden_of(self, node):
        return [values for pair, values in self.hidden.items() if node in pair]

    def run(self, do):
        values = {}
        for node in self.graph.topological_order():
            code = np.zeros_like(self.noise[node])
            causes = [values[parent] for parent in self.graph.parents(node)]
            for cause in [*causes, *self.hidden_of(node)]:
                code = 2 * code + cause
            natural = (self.noise[node] < self.levels[node][code]).astype(int)
            values[node] = np.broadcast_to(do.get(node, natural), code.shape)
        return values

    def among(self, columns, *values):
        fact = self.run({})
        pairs = zip(columns, values, strict=True)
        everyone = np.ones(len(fact[self.graph.nodes[0]]), dtype=bool)
        return np.all([everyone, *(fact[column] == value for column, value in pairs)], axis=0)

    def group(self, model, value):
        return self.among(model.protected_columns, *[value] * len(model.protected_columns))

    def true_mean(self, model, target, i, j, k):
        """E[Y_{A=i, M_{A=j}} | A=k] by running the worlds."""
        to_i, to_j = (dict.fromkeys(model.protected_columns, value) for value in (i, j))
        world_j = self.run(to_j)
        mediators = {column: world_j[column] for column in model.mediators}
        return self.run(to_i | mediators)[target][self.group(model, k)].mean()

    def formula(self, model, target, i, j, k):
        """The same from what is observed: the sum of E[y | i,m,c] P(m | j,c) P(c | k)."""
        observed = self.run({})[target]
        in_i, in_j, in_k = (self.group(model, value) for value in (i, j, k))
        total = 0.0
        for c in product((0, 1), repeat=len(model.confounders)):
            in_c = self.among(model.confounders, *c)
            for m in product((0, 1), repeat=len(model.mediators)):
                in_m = self.among(model.mediators, *m)
                mean = observed[in_i & in_c & in_m].mean()
                total += mean * in_m[in_j & in_c].mean() * in_c[in_k].mean()
        return total

    def largest_error(self, model, target):
        return max(
            abs(self.true_mean(model, target, *told) - self.formula(model, target, *told))
            for told in product((0, 1), repeat=3)
        )


def random_graph(rng):
    """Three inner columns, an outcome and perhaps a prediction; up to three hidden causes."""
    late = ["y", "p"][: rng.integers(1, 3)]
    nodes = [*rng.permutation(["a", "b", "m"]).tolist(), *rng.permutation(late).tolist()]
    if rng.random() < 0.15:
        nodes = rng.permutation(nodes).tolist()
    pairs = list(combinations(nodes, 2))
    arrows = [pair for pair in pairs if rng.random() < 0.6]
    hidden = [pairs[number] for number in rng.choice(len(pairs), rng.integers(0, 4), replace=False)]
    return CausalGraph.from_edges(arrows, hidden, nodes)


def test_in_every_accepted_graph_the_formula_gives_the_true_world_means():
    rng, accepted, refused = np.random.default_rng(0), 0, 0
    for seed in range(250):
        graph = random_graph(rng)
        protected = ["a", "b"] if rng.random() < 0.3 else "a"
        prediction = "p" if "p" in graph.nodes and rng.random() < 0.7 else None
        try:
            model = project(graph, protected=protected, outcome="y", prediction=prediction)
        except NotIdentifiedError:
            refused += 1
            continue
        accepted += 1
        world = World(graph, seed)
        for target in filter(None, ("y", prediction)):
            assert world.largest_error(model, target) < 1e-9, (graph, target)
    assert accepted > 50
    assert refused > 50


@pytest.mark.parametrize(
    ("text", "confounders", "mediators"),
    [
        ("a -> m -> y; a <-> m", "", "m"),
        ("a -> y; a <-> y", "", ""),
        ("a -> m -> y; m <-> y; a -> y", "", "m"),
        ("a -> y; c -> y; c <-> y; a <-> c", "c", ""),
        ("a -> m -> y; c -> m; c <-> m; a <-> c", "c", "m"),
        ("i -> a -> y; i <-> y", "", ""),
        ("y -> a", "", ""),
    ],
)
def test_in_refused_graphs_the_formula_misses_the_truth(text, confounders, mediators):
    graph = CausalGraph.parse(text)
    with pytest.raises(NotIdentifiedError):
        project(graph)
    stubborn = StandardFairnessModel(
        protected="a",
        reference=0,
        comparison=1,
        confounders=list(confounders),
        mediators=list(mediators),
        outcome="y",
    )
    assert max(World(graph, seed).largest_error(stubborn, "y") for seed in range(20)) > 0.01
