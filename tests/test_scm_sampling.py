"""Randomness, new people, interventions, nested worlds and memory of structural models."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.tree import DecisionTreeRegressor

import causalfairness as cf
from causalfairness.datasets import worlds
from causalfairness.scm import (
    Additive,
    Deterministic,
    Linear,
    structural_causal_model,
)
from scm_people import PLAIN, SWAP, WORK, graph_of, people

fit = cf.StructuralCausalModel.fit


# --- randomness ----------------------------------------------------------------------------------


def test_same_seed_same_result_twice_and_another_seed_another_draw():
    data = people(600)
    first, second = (
        fit(WORK, data, PLAIN | {"pay": Additive()}, seed=5).counterfactual(data, do=SWAP, seed=6)
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    other = fit(WORK, data, PLAIN | {"pay": Additive()}, seed=5).counterfactual(
        data, do=SWAP, seed=7
    )
    assert (other["job"] != first["job"]).any()
    pd.testing.assert_series_equal(other["pay"], first["pay"], check_exact=True)


def test_an_open_seed_of_a_learner_is_set_and_a_given_one_kept():
    data, tree = people(300), DecisionTreeRegressor(max_features=1)
    found = [
        fit(WORK, data, PLAIN | {"pay": tree.set_params(random_state=inside)}, seed=s)
        .counterfactual(data, do=SWAP)["pay"]
        .to_numpy()
        for inside, s in ((None, 0), (None, 0), (None, 1), (3, 0), (3, 1))
    ]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert np.array_equal(found[3], found[4])


def test_the_size_of_blocks_does_not_show(monkeypatch):
    data = people(500)
    scm = fit(WORK, data, PLAIN, seed=1)
    whole = scm.counterfactual(data, do=SWAP, draws=2, seed=2)
    drawn, set_, made = scm.sample(400), scm.intervene(data, do=SWAP), scm.intervene(9, do=SWAP)
    monkeypatch.setattr(structural_causal_model, "BLOCK", 37)
    pd.testing.assert_frame_equal(scm.counterfactual(data, do=SWAP, draws=2, seed=2), whole)
    pd.testing.assert_frame_equal(scm.sample(400), drawn)
    pd.testing.assert_frame_equal(scm.intervene(data, do=SWAP), set_)
    pd.testing.assert_frame_equal(scm.intervene(9, do=SWAP), made)


def test_draws_stand_one_below_the_other_and_the_first_does_not_depend_on_their_number():
    data = people(200)
    data.index = range(1000, 1200)
    scm = fit(WORK, data, PLAIN)
    one = scm.counterfactual(data, do=SWAP)
    three = scm.counterfactual(data, do=SWAP, draws=3)
    assert list(three.index) == [*data.index] * 3
    pd.testing.assert_frame_equal(three.iloc[:200], one)
    assert (three["job"].to_numpy()[200:400] != one["job"].to_numpy()).any()
    assert np.array_equal(three["pay"].to_numpy()[400:], one["pay"].to_numpy())
    for kind in (pl.from_pandas(data), pa.Table.from_pandas(data, preserve_index=False)):
        again = scm.counterfactual(kind, do=SWAP, draws=3).to_pandas()
        pd.testing.assert_frame_equal(again, three.reset_index(drop=True), check_dtype=False)


# --- sampling and intervening --------------------------------------------------------------------


def test_new_people_resemble_the_old_ones():
    world = worlds.linear_gaussian()
    data = world.draw(20_000, seed=14, frame="pandas")
    scm = fit(graph_of(world), data)
    new = scm.sample(40_000, seed=1)
    assert list(new.columns) == list(scm.graph.nodes)
    assert list(new.index) == list(range(40_000))
    for column in ("c1", "c2", "m1", "y"):
        error = data[column].std() * np.sqrt(1 / 20_000 + 1 / 40_000)
        assert abs(new[column].mean() - data[column].mean()) < 4 * error, column
        assert abs(new[column].std() / data[column].std() - 1) < 0.04, column
    for frame in (data, new):  # group and confounders come together: they share a hidden cause
        gap_in_c = frame.groupby("group")["c1"].mean()
        assert 0.3 < gap_in_c["green"] - gap_in_c["blue"] < 0.6


def test_noise_of_nodes_without_hidden_causes_is_drawn_apart():
    rng = np.random.default_rng(15)
    x = rng.normal(size=5_000)
    data = pa.table({"x": x, "z": x + 0.1 * rng.normal(size=5_000)})
    together = fit(cf.CausalGraph.parse("x <-> z"), data).sample(5_000)
    apart = fit(cf.CausalGraph.parse("x; z"), data).sample(5_000)
    assert np.corrcoef(together["x"], together["z"])[0, 1] > 0.98
    assert abs(np.corrcoef(apart["x"], apart["z"])[0, 1]) < 4 / np.sqrt(5_000)


def test_intervening_draws_descendants_anew_and_leaves_the_rest():
    world, n = worlds.linear_gaussian(), 20_000
    data = world.draw(n, seed=16, frame="pandas")
    scm = fit(graph_of(world), data)
    found = scm.intervene(data, do={"group": "green"})
    truth = world.counterfactual(n, seed=16, do="green", frame="pandas")
    pd.testing.assert_frame_equal(found[["c1", "c2"]], data[["c1", "c2"]], check_exact=True)
    assert set(found["group"]) == {"green"}
    assert abs(found["y"].mean() - truth["y"].mean()) < 4 * np.sqrt(2 * data["y"].var() / n)
    own = np.corrcoef(found["y"], truth["y"])[0, 1]
    assert own < 0.6  # new noise: the same in distribution, not the same person
    new = scm.intervene(n, do={"group": "green"}, seed=1)
    assert abs(new["y"].mean() - truth["y"].mean()) < 4 * np.sqrt(2 * data["y"].var() / n)


def test_a_mapping_changes_what_new_people_would_have_been():
    data = people(2_000)
    scm = fit(WORK, data, PLAIN)
    made, plain = scm.intervene(500, do={"sex": {"F": "M"}}), scm.sample(500)
    assert set(made["sex"]) == {"M"}
    was_male = (plain["sex"] == "M").to_numpy()
    pd.testing.assert_frame_equal(made[was_male], plain[was_male])


# --- nested worlds -------------------------------------------------------------------------------


def test_an_edge_can_carry_another_value_than_its_cause_has():
    world = worlds.linear_gaussian(direct=0.5, indirect=0.6)
    data = world.draw(500, seed=17)
    scm = fit(graph_of(world), data, {"m1": Linear(), "y": Linear()})
    values = scm.encode(data)
    noise = scm.abduct(values)
    zero, one = np.zeros(500), np.ones(500)
    c = {name: values[name] for name in ("c1", "c2")}
    blue = scm.propagate(noise, {"group": zero, **c})
    direct = scm.propagate(noise, {"group": zero, **c}, told={("group", "y"): one})
    indirect = scm.propagate(noise, {"group": zero, **c}, told={("group", "m1"): one})
    green_world = scm.propagate(noise, {"group": one, **c})
    parts = (direct["y"] - blue["y"]) + (indirect["y"] - blue["y"])
    assert np.abs(parts - (green_world["y"] - blue["y"])).max() < 1e-12
    assert np.array_equal(direct["m1"], blue["m1"])
    nested = scm.propagate(noise, {"group": zero, **c}, told={("m1", "y"): green_world["m1"]})
    assert np.abs(nested["y"] - indirect["y"]).max() < 1e-12


def test_a_rule_without_noise_follows_its_causes():
    data = people(300)
    data["hired"] = (data["pay"] > 25).astype(int)
    graph = cf.CausalGraph.parse(WORK.to_text() + "; pay -> hired")
    rule = Deterministic(lambda causes: causes["pay"] > 25)
    scm = fit(graph, data, PLAIN | {"hired": rule})
    found = scm.counterfactual(data, do={"sex": "M"})
    assert found["hired"].dtype == data["hired"].dtype
    assert ((found["pay"] > 25) == found["hired"]).all()
    assert found["hired"].sum() > data["hired"].sum()


# --- size ----------------------------------------------------------------------------------------


def test_memory_is_what_the_new_columns_take():
    n = 400_000
    rng = np.random.default_rng(18)
    a, c = rng.integers(0, 2, n).astype(float), rng.normal(size=n)
    m = a + c + rng.normal(size=n)
    data = pa.table({"a": a, "c": c, "m": m, "y": m - a + rng.normal(size=n)})
    graph = cf.CausalGraph.parse("{a, c} -> m; {a, c, m} -> y")
    linear = {"m": Linear(), "y": Linear()}
    scm = fit(graph, data, linear)
    scm.counterfactual(data, do={"a": 1})  # whatever is imported on first use
    column = 8 * n
    tracemalloc.start()
    fit(graph, data, linear)
    _, for_fitting = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    scm.counterfactual(data, do={"a": 1})
    _, for_worlds = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert for_fitting < 1.5 * column  # fitting keeps 32,768 rows and a few blocks
    assert for_worlds < 3 * column + 12 * 2**16 * 8  # three new columns and a few blocks
