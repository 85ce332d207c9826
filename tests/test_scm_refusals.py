"""Questions that a structural model declines, and what it says."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import (
    ColumnNotFoundError,
    ColumnTypeError,
    CycleError,
    InterventionError,
    MechanismError,
    MissingValuesError,
    NotIdentifiedError,
    SourceError,
    TooFewRowsError,
    UnknownNodeError,
)
from causalfairness.scm import Additive, Categorical, Linear, Ordered, StructuralEquation

fit = cf.StructuralCausalModel.fit
GRAPH = cf.CausalGraph.parse("sex -> priors -> score; sex -> score; age -> score")
LINES = {"priors": Ordered(), "score": Linear()}


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["Female", "Male"], n)
    priors = rng.integers(0, 4, n) + (sex == "Male")
    age = rng.normal(40, 9, n)
    return pd.DataFrame(
        {"sex": sex, "age": age, "priors": priors, "score": priors + age / 9 + rng.normal(size=n)}
    )


def in_every_library(frame):
    return frame, pl.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)


@pytest.fixture(scope="module")
def scm():
    return fit(GRAPH, people(), LINES)


# --- the graph and the columns -------------------------------------------------------------------


def test_a_cycle_is_refused_before_there_is_a_model():
    with pytest.raises(CycleError, match="the arrows form a cycle: a -> b -> a"):
        fit(cf.CausalGraph.parse("a -> b -> a"), people())


def test_a_node_that_is_no_column_is_refused_with_the_nearest_names():
    graph = cf.CausalGraph.parse("sex -> prior_s -> score")
    for data in in_every_library(people()):
        with pytest.raises(
            ColumnNotFoundError, match=r"the data has no column 'prior_s'; did you mean 'priors'\?"
        ):
            fit(graph, data)


def test_a_column_that_a_question_needs_is_missed(scm):
    with pytest.raises(ColumnNotFoundError, match="the data has no column 'age'"):
        scm.counterfactual(people().drop(columns="age"), do={"sex": "Male"})
    with pytest.raises(ColumnNotFoundError, match="the data has no column 'sex'"):
        scm.counterfactual(people().drop(columns="sex"), do={"age": 50.0})  # a cause of the score
    assert (scm.counterfactual(people()[["score"]], do={"score": 1.0})["score"] == 1).all()


def test_hidden_causes_of_a_node_and_its_ancestors_are_refused_by_edge():
    for text, said in (
        ("sex -> priors -> score; sex -> score; priors <-> score", "priors <-> score: a hidden"),
        (
            "sex -> priors -> score; score <-> sex",
            "sex <-> score: a hidden common cause of 'score'",
        ),
    ):
        with pytest.raises(NotIdentifiedError, match=said):
            fit(cf.CausalGraph.parse(text), people())


def test_a_given_equation_is_not_misled_by_a_hidden_cause():
    graph = cf.CausalGraph.parse("age -> score; age <-> score")
    with pytest.raises(NotIdentifiedError, match="or give the equation of 'score'"):
        fit(graph, people(), {"score": Linear()})
    given = StructuralEquation(lambda v, u: v["age"] / 9 + u, lambda y, v: y - v["age"] / 9)
    found = fit(graph, people(), {"score": given}).counterfactual(people(), do={"age": 49.0})
    assert np.abs(found["score"] - (people()["score"] + (49 - people()["age"]) / 9)).max() < 1e-12


def test_hidden_causes_elsewhere_are_allowed():
    graph = cf.CausalGraph.parse(
        "sex <-> age; sex -> priors; {sex, age} -> score; priors <-> score"
    )
    assert fit(graph, people(), {"priors": Ordered(), "score": Linear()})


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["age", "score", "priors", "sex"])
def test_missing_values_are_refused_with_their_number(column):
    frame = people()
    frame[column] = frame[column].astype(object if column == "sex" else float)
    frame.loc[[3, 5], column] = None if column == "sex" else np.nan
    scm = fit(GRAPH, people(), LINES)
    for data in in_every_library(frame):
        with pytest.raises(MissingValuesError, match=f"column '{column}' has 2 missing values"):
            fit(GRAPH, data, LINES)
        with pytest.raises(MissingValuesError, match=f"'{column}' has 2 missing values, and a str"):
            scm.counterfactual(data, do={"sex": "Male"})


def test_missing_values_beside_the_question_do_not_matter(scm):
    frame = people().astype({"age": float})
    frame.loc[0, "sex"] = None
    found = scm.counterfactual(frame.assign(sex="Male"), do={"sex": "Male"})
    assert len(found) == len(frame)
    untouched = people()
    untouched["unused"] = np.nan
    assert scm.counterfactual(untouched, do={"sex": "Male"})["unused"].isna().all()


def test_infinite_values_are_refused(scm):
    frame = people()
    frame.loc[3, "age"] = np.inf
    with pytest.raises(ColumnTypeError, match="column 'age' holds infinite values"):
        fit(GRAPH, frame, LINES)
    with pytest.raises(ColumnTypeError, match="column 'age' holds infinite values"):
        scm.counterfactual(frame, do={"sex": "Male"})


def test_values_too_large_to_reckon_with_are_refused():
    graph = cf.CausalGraph.parse("age -> score")
    with pytest.raises(ColumnTypeError, match="'age' holds values so large that they cannot be ad"):
        fit(graph, people().assign(age=lambda d: d.age * 1e305))
    with pytest.raises(MechanismError, match="values too large to be squared; divide them by a po"):
        fit(graph, people().assign(age=lambda d: d.age * 1e200), {"score": Linear()})


def test_values_that_were_not_there_in_fitting_are_refused(scm):
    frame = people()
    frame.loc[0, "sex"] = "Femal"
    with pytest.raises(ColumnTypeError, match=r"has the value 'Femal', .* did you mean 'Female'\?"):
        scm.counterfactual(frame, do={"age": 30.0, "priors": 1, "sex": "Male"})
    frame = people()
    frame.loc[0, "priors"] = 17
    with pytest.raises(MechanismError, match=r"mechanism of 'priors': .* value 17 in 1 rows"):
        scm.counterfactual(frame, do={"sex": "Male"})


def test_words_are_not_numbers(scm):
    with pytest.raises(
        ColumnTypeError, match="'sex' holds numbers, but the model knows it as words"
    ):
        scm.counterfactual(people().assign(sex=1), do={"sex": "Male"})
    with pytest.raises(
        ColumnTypeError, match="'age' holds words, but the model knows it as numbers"
    ):
        scm.counterfactual(people().assign(age="old"), do={"sex": "Male"})


def test_a_node_with_too_few_rows_is_refused():
    for n, graph in ((9, GRAPH), (5, cf.CausalGraph.parse("age -> score"))):
        with pytest.raises(TooFewRowsError, match=rf"to be learned from {n} rows; at least 10 are"):
            fit(graph, people(n))
    many = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 7)), columns=list("abcdefy"))
    wide = cf.CausalGraph.parse("{a, b, c, d, e, f} -> y")
    said = r"'y' \(causes: 'a', 'b', .*\) is to be learned from 12 rows; at least 14 are needed"
    for mechanism in (Linear(), Additive(), None):
        with pytest.raises(TooFewRowsError, match=said):
            fit(wide, many, {"y": mechanism} if mechanism else None)
    with pytest.raises(TooFewRowsError):
        fit(GRAPH, people().iloc[:0], LINES)


def test_a_cause_that_never_varies_is_refused():
    for mechanisms in (LINES, {"priors": Categorical(), "score": Additive()}):
        with pytest.raises(MechanismError, match="'sex' never varies in this data, so nothing can"):
            fit(GRAPH, people().assign(sex="Male"), mechanisms)


def test_data_of_no_known_kind_is_refused(scm):
    with pytest.raises(SourceError, match="found a dict"):
        fit(GRAPH, {"sex": ["F"]})
    with pytest.raises(SourceError, match="found a list"):
        scm.counterfactual([1, 2], do={"sex": "Male"})


def test_two_columns_of_the_same_name_are_refused(scm):
    twice = pd.concat([people(), people()[["score"]]], axis=1)
    with pytest.raises(SourceError, match="two columns of the same name"):
        fit(GRAPH, twice, LINES)
    with pytest.raises(SourceError, match="two columns of the same name"):
        scm.counterfactual(twice, do={"sex": "Male"})


# --- interventions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("do", "error", "said"),
    [
        ({}, InterventionError, "do is {}; expected the nodes to set and their values"),
        ("sex", InterventionError, "do is 'sex'; expected"),
        ({"sexx": "Male"}, UnknownNodeError, r"no node 'sexx'; did you mean 'sex'\?"),
        ({"sex": "Mal"}, InterventionError, r"do sets 'sex' to 'Mal', .* did you mean 'Male'\?"),
        ({"sex": "x"}, InterventionError, r"do sets 'sex' to 'x', .* known are 'Female', 'Male'"),
        ({"sex": 1}, InterventionError, "do sets 'sex' to 1, which was not there"),
        ({"sex": None}, InterventionError, "do sets 'sex' to None: a missing value cannot be set"),
        ({"sex": {"F": "Male"}}, InterventionError, "do sets 'sex' to 'F', which was not there"),
        ({"sex": {}}, InterventionError, "do maps no value of 'sex' to another"),
        (
            {"sex": ["Male"] * 3},
            InterventionError,
            "do gives 3 values for 'sex', but there are 200",
        ),
        ({"sex": ["Male"] * 199 + ["M"]}, InterventionError, "do sets 'sex' to 'M'"),
        ({"age": "old"}, InterventionError, "do sets 'age' to 'old', but 'age' holds numbers"),
        ({"age": np.nan}, InterventionError, "do sets 'age' to nan, but 'age' holds numbers"),
        ({"age": [np.inf] * 200}, InterventionError, "do sets 'age' to inf"),
        (
            {"priors": 1.5},
            InterventionError,
            "do sets 'priors' to 1.5, but 'priors' holds integers",
        ),
        ({"priors": [1.5] * 200}, InterventionError, "do sets 'priors' to 1.5"),
    ],
    ids=str,
)
def test_an_intervention_that_makes_no_sense_is_refused(scm, do, error, said):
    for data in in_every_library(people()):
        with pytest.raises(error, match=said):
            scm.counterfactual(data, do=do)
    with pytest.raises(error, match=said if "199" not in said else "do"):
        scm.intervene(people(), do=do)
    if not isinstance(do, dict) or not any(isinstance(v, list) for v in do.values()):
        with pytest.raises(error, match=said):
            scm.intervene(200, do=do)


def test_a_number_that_is_one_of_two_is_a_category():
    data = people().assign(sex=lambda d: (d.sex == "Male").astype(int))
    scm = fit(GRAPH, data, LINES)
    for one in (1, 1.0, True, np.int8(1)):
        assert (scm.counterfactual(data, do={"sex": one})["sex"] == 1).all()
    with pytest.raises(InterventionError, match="do sets 'sex' to 2, but it is only ever 0 and 1"):
        scm.counterfactual(data, do={"sex": 2})
    with pytest.raises(InterventionError, match="do sets 'sex' to 2"):
        scm.counterfactual(data, do={"sex": [0, 2] * 100})


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "3"])
def test_numbers_of_draws_and_of_people_are_whole_and_positive(scm, count):
    with pytest.raises(
        InterventionError, match=r"draws is .*; expected a whole number of at least"
    ):
        scm.counterfactual(people(), do={"sex": "Male"}, draws=count)
    with pytest.raises(InterventionError, match=r"n is .*; expected a whole number of at least 1"):
        scm.sample(count)
