"""A shuffled table has the same answers: of every analysis that draws, splits or picks by position.

Rows, columns, role lists and names of columns are changed; people stay who they are. Answers are
equal but for the order of sums, and results per person stay in the order of the caller's rows.
"""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import causalfairness as cf
from causalfairness.estimators import (
    DoublyRobust,
    KnownModel,
    Mixture,
    Regression,
    Structural,
    Weighting,
)
from causalfairness.tables import Column
from causalfairness.tables.fingerprint import arrange

TREES = DoublyRobust(
    outcome=DecisionTreeRegressor(max_depth=3, random_state=0),
    group=DecisionTreeClassifier(max_depth=2, random_state=0),
)
WORLD = cf.datasets.worlds.linear_gaussian()
ESTIMATORS = (
    TREES,
    replace(TREES, repeats=2),
    Regression(replicates=20),
    Weighting(replicates=20),
    Mixture(replicates=20),
)
COMPAS = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age", "sex"],
    mediators=["priors_count", "c_charge_degree"],
    outcome="two_year_recid",
)
GRAPH = COMPAS.to_graph()
MECHANISMS = {
    "priors_count": cf.scm.NegativeBinomial(),
    "c_charge_degree": cf.scm.Categorical(),
    "two_year_recid": cf.scm.Categorical(),
}


def shuffled(table, seed):
    rng = np.random.default_rng(seed)
    names = rng.permutation(table.column_names).tolist()
    return table.take(rng.permutation(len(table))).select(names)


def parts(found):
    effects = (found.total, found.direct, found.indirect, found.spurious)
    return np.array([[effect.value, effect.standard_error] for effect in effects])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_neither_order_nor_names_move_what_is_learned(estimator):
    table, model = WORLD.draw(300, seed=1), WORLD.model
    plain = parts(cf.decompose_disparity(table, model, estimator=estimator))
    turned = replace(model, confounders=model.confounders[::-1])
    again = cf.decompose_disparity(shuffled(table, 2), turned, estimator=estimator)
    np.testing.assert_allclose(parts(again), plain, rtol=0, atol=1e-9)
    names = {name: f"z{len(table.column_names) - at}" for at, name in enumerate(table.column_names)}
    called = cf.StandardFairnessModel(
        protected=names[model.protected],
        reference=model.reference,
        comparison=model.comparison,
        confounders=[names[name] for name in model.confounders],
        mediators=[names[name] for name in model.mediators],
        outcome=names[model.outcome],
    )
    other = table.rename_columns([names[name] for name in table.column_names])
    again = cf.decompose_disparity(other, called, estimator=estimator)
    np.testing.assert_allclose(parts(again), plain, rtol=0, atol=1e-9)


@pytest.mark.parametrize("estimator", [TREES, Regression(replicates=20)], ids=str)
def test_weights_may_be_scaled_and_rows_may_be_alike(estimator):
    rng = np.random.default_rng(3)
    frame = people().to_pandas()
    frame["w"] = rng.integers(1, 5, len(frame)) / 7
    model = replace(COMPAS, weights="w")
    plain = parts(cf.decompose_disparity(frame, model, estimator=estimator))
    again = frame.sample(frac=1, random_state=1).assign(w=lambda d: 3 * d.w)
    np.testing.assert_allclose(
        parts(cf.decompose_disparity(again, model, estimator=estimator)), plain, rtol=0, atol=1e-9
    )


def test_a_known_model_and_what_confounders_left_out_would_do():
    table, model = WORLD.draw(400, seed=1), WORLD.model

    def score(frame):
        return np.asarray(frame["c1"]) + np.asarray(frame["m1"])

    model = replace(model, prediction=score)
    known = KnownModel(score, group=LogisticRegression(), nested=LinearRegression())
    linear = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())
    found = []
    for data in (table, shuffled(table, 4)):
        plain = cf.decompose_disparity(data, model, of="prediction", estimator=known)
        shown = cf.sensitivity.benchmark_confounders(data, WORLD.model, estimator=linear)
        numbers = [v for each in shown for v in each.to_dict().values() if isinstance(v, float)]
        found.append([*parts(plain).ravel(), *numbers])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)


@cache
def people():
    data = cf.datasets.load_compas()
    race = np.asarray(data["race"])
    return data.take(np.flatnonzero(np.isin(race, ["Caucasian", "African-American"]))[:500])


@cache
def orders():
    """The same people twice, and where the people of the second stand in the first."""
    table = people()
    back = np.random.default_rng(7).permutation(len(table))
    names = np.random.default_rng(8).permutation(table.column_names).tolist()
    return table.to_pandas(), table.take(back).select(names).to_pandas(), back


@cache
def fitted():
    return tuple(cf.StructuralCausalModel.fit(GRAPH, data, MECHANISMS) for data in orders()[:2])


def person_by_person(one, other, columns):
    """Are rows the same in both orders? People who are alike in fact may change places."""
    first, second = orders()[:2]
    inside = [*GRAPH.nodes]
    sides = []
    for fact, frame in ((first, one), (second, other)):
        key = fact[inside].astype(str).agg("|".join, axis=1)
        whole = frame[columns].assign(key=key.to_numpy()).sort_values(["key", *columns])
        sides.append(whole.drop(columns="key").to_numpy(float))
    np.testing.assert_allclose(*sides, rtol=0, atol=1e-9)


def test_structural_models_give_each_person_the_same_luck():
    do = {"race": "Caucasian"}
    worlds = [
        scm.counterfactual(data, do=do) for scm, data in zip(fitted(), orders()[:2], strict=True)
    ]
    assert worlds[0]["age"].equals(orders()[0]["age"])
    person_by_person(*worlds, ["priors_count", "two_year_recid"])
    drawn = [scm.intervene(data, do=do) for scm, data in zip(fitted(), orders()[:2], strict=True)]
    person_by_person(*drawn, ["priors_count", "two_year_recid"])


def of_structural_model(data, scm):
    estimator = Structural(GRAPH, mechanisms=MECHANISMS, replicates=20)
    effect = scm.path_effect(data, COMPAS, edges="race -> priors_count", replicates=20)
    yield from (effect.value, effect.standard_error)
    yield from parts(cf.decompose_disparity(data, COMPAS, estimator=estimator)).ravel()
    found = cf.counterfactual_fairness(
        lambda people: 1.0 * (people["priors_count"] > 2),
        data,
        scm,
        {"race": {"African-American": "Caucasian"}},
        replicates=20,
    )
    shift = found["African-American"].shift
    yield from (shift.value, shift.standard_error)


def of_predictions(data, scm):
    asked = replace(COMPAS, prediction="p")
    scored = data.assign(p=data.decile_score / 10)
    for refit in (False, True):
        found = cf.decompose_predictive_parity(
            scored, asked, counterfactual=scm, bins=3, replicates=20, refit=refit
        )
        yield from (found.causal.integrated.value, found.causal.integrated.standard_error)
    data = data.assign(p=(data.decile_score > 5).astype(int))
    found = cf.decompose_error_rates(data, asked, with_mediators=True, estimator=TREES)
    yield from (found.direct.value, found.direct.standard_error)


def of_splits(data, scm):
    group, seen = data["race"].to_numpy(), data[["age", "priors_count"]]
    found = cf.invariance_test(data["decile_score"].to_numpy(), group, seen)
    yield from (*found.statistic, *found.effect)
    points = cf.frontier(
        data,
        COMPAS,
        allowed=[{"spurious"}],
        learner=cf.adaptation.LinearQuantiles(),
        repetitions=2,
    )
    yield from (v for line in points.to_records() for v in line.values() if isinstance(v, float))


def of_neighbors(data, scm):
    """Of COMPAS, where hundreds are equally near."""
    found = cf.situation_test(
        data,
        protected="race",
        comparison="African-American",
        reference="Caucasian",
        features=["age", "priors_count"],
        decision="two_year_recid",
        favorable=0,
    )
    yield from (found.summary()[15].evidence, found.summary()[15].significant)
    yield float(np.nansum(found.table()["delta"]))


@pytest.mark.parametrize(
    "answers",
    [of_structural_model, of_predictions, of_splits, of_neighbors],
    ids=lambda f: f.__name__,
)
def test_other_analyses_do_not_move(answers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (
            [*answers(data, scm)] for data, scm in zip(orders()[:2], fitted(), strict=True)
        )
    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)


def test_adapted_rows_and_weights_stay_with_their_people():
    first, second, back = orders()
    moved = []
    for data in (first, second):
        adapter = cf.FairAdapter(
            GRAPH,
            protected="race",
            reference="Caucasian",
        )
        frame = adapter.fit(data).transform(data)
        moved.append(frame.assign(weight=adapter.weights(data)))
    assert moved[1]["age"].tolist() == moved[0]["age"].to_numpy()[back].tolist()
    person_by_person(*moved, ["priors_count", "two_year_recid", "weight"])


def test_people_who_are_equally_near_are_picked_by_lot_and_not_by_what_was_decided():
    """All are alike: the groups of 15 must look like the groups they are of."""
    rng = np.random.default_rng(0)
    n = 400
    data = {
        "sex": np.repeat(["F", "M"], n),
        "age": np.full(2 * n, 30),
        "hired": rng.random(2 * n) < 0.5,
    }
    data["age"][::2] = 31
    import pandas as pd

    frame = pd.DataFrame(data)
    frame["hired"] = frame["hired"].astype(int)
    found = cf.situation_test(
        frame,
        protected="sex",
        comparison="F",
        features=["age"],
        decision="hired",
        favorable=1,
        k=100,
    )
    table = found.table()
    assert abs(np.mean(table["delta"])) < 0.25


def test_an_arrangement_is_one_of_content():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (3, 200)).astype(float)
    rank = rng.permutation(200).astype(float)

    def arranged(rows, names):
        columns = [
            Column.numbers(name, column[rows]) for name, column in zip(names, values, strict=True)
        ]
        found = arrange(columns, [Column.numbers("tie", rank[rows])])
        assert found.places[found.rows].tolist() == list(range(200))
        return rank[rows][found.rows].tolist(), [names.index(name) for name in found.columns]

    plain = arranged(np.arange(200), ["a", "b", "c"])
    assert arranged(rng.permutation(200), ["a", "b", "c"]) == plain
    assert arranged(rng.permutation(200), ["z", "b", "a"]) == plain
