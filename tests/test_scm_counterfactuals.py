"""Individual counterfactuals against worlds whose counterfactuals are known."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestRegressor

import causalfairness as cf
from causalfairness.datasets import worlds
from causalfairness.scm import (
    Additive,
    Bounded,
    Categorical,
    Gumbel,
    Linear,
    LogNormal,
    Monotone,
    NegativeBinomial,
    Ordered,
    Poisson,
    StructuralEquation,
)
from scm_people import PLAIN, SWAP, WORK, gap, graph_of, green, people

fit = cf.StructuralCausalModel.fit


def additive_equation(mean):
    """A known equation with added noise."""
    return StructuralEquation(
        lambda causes, noise: mean(causes) + noise, lambda values, causes: values - mean(causes)
    )


# --- closed forms --------------------------------------------------------------------------------


def test_known_linear_equations_give_the_counterfactuals_of_the_world():
    world = worlds.linear_gaussian(direct=0.5, indirect=0.6)
    observed, otherwise = world.draw_with_counterfactuals(2_000, seed=1)
    scm = fit(
        graph_of(world),
        observed,
        {
            "m1": additive_equation(lambda v: 0.6 * green(v) + 0.5 * v["c1"] + 0.3 * v["c2"]),
            "y": additive_equation(
                lambda v: 0.5 * green(v) + 0.8 * v["m1"] + 0.7 * v["c1"] - 0.4 * v["c2"]
            ),
        },
    )
    found = scm.counterfactual(observed, do={"group": {"blue": "green", "green": "blue"}})
    assert found["group"].equals(otherwise["group"])
    assert gap(found, otherwise, ["m1", "y"]) < 1e-10
    for told in ("blue", "green"):
        truth = world.counterfactual(2_000, seed=1, do=told)
        assert gap(scm.counterfactual(observed, do={"group": told}), truth, ["m1", "y"]) < 1e-10


@pytest.mark.parametrize("n", [500, 20_000, 70_000])  # within a block, several dots, several blocks
def test_fitted_lines_give_the_closed_form_of_least_squares(n):
    world = worlds.linear_gaussian()
    data = world.draw(n, seed=2, frame="pandas")
    scm = fit(graph_of(world), data, {"m1": Linear(), "y": Linear()})
    found = scm.counterfactual(data, do={"group": "green"})
    a = (data["group"] == "green").to_numpy(float)
    ones = np.ones(n)
    on_m = np.column_stack([ones, a, data["c1"], data["c2"]])
    on_y = np.column_stack([on_m, data["m1"]])
    b, d = (np.linalg.lstsq(x, y, rcond=None)[0] for x, y in ((on_m, data.m1), (on_y, data.y)))
    shift = (1 - a) * b[1]
    assert np.abs(found["m1"] - (data["m1"] + shift)).max() < 1e-10
    assert np.abs(found["y"] - (data["y"] + d[1] * (1 - a) + d[4] * shift)).max() < 1e-10


def test_a_fitted_line_is_within_its_standard_error_of_the_world():
    world, n = worlds.linear_gaussian(), 20_000
    observed, otherwise = world.draw_with_counterfactuals(n, seed=3)
    scm = fit(graph_of(world), observed)
    assert [each.mechanism for each in scm.fits if each.causes] == ["linear", "linear"]
    found = scm.counterfactual(observed, do={"group": {"blue": "green", "green": "blue"}})
    # a slope on the group has a standard error of about 1 / (sd of A given C * sqrt(n)) = 0.015
    assert gap(found, otherwise, ["m1"]) < 4 * 0.015
    assert gap(found, otherwise, ["y"]) < 4 * 0.015 * (1 + 0.8)


def test_cutting_an_arrow_leaves_the_mediator_where_it_is():
    world = worlds.linear_gaussian().without("indirect")
    data = world.draw(20_000, seed=4)
    found = fit(graph_of(world), data).counterfactual(data, do={"group": "green"})
    assert gap(found, data, ["m1"]) < 4 * 0.015
    assert gap(found, data, ["y"]) > 0.4  # the direct arrow is still there


def test_a_model_without_interactions_is_wrong_where_there_are_some_and_boosting_less_so():
    world, n = worlds.interacting(), 20_000
    observed, otherwise = world.draw_with_counterfactuals(n, seed=5)
    swap = {"group": {"blue": "green", "green": "blue"}}

    def error(mechanism):
        scm = fit(graph_of(world), observed, {"m1": Linear(), "y": mechanism})
        found = np.asarray(scm.counterfactual(observed, do=swap)["y"])
        return np.sqrt(np.mean((found - np.asarray(otherwise["y"])) ** 2))

    by_line, boosted = error(Linear()), error(Additive())
    assert by_line > 0.5  # sd of 0.6 M + 0.5 C1 - 0.2 C2 given the mean shift
    assert boosted < 0.6 * by_line


# --- composition and reversibility ---------------------------------------------------------------

INVERTIBLE = {
    "linear": Linear(),
    "boosting": Additive(),
    "forest": RandomForestRegressor(20, min_samples_leaf=5),
    "logarithm": LogNormal(),
    "bounded": Bounded(0, 60),
    "given": StructuralEquation(
        lambda v, u: (1 + v["age"] / 50) * u, lambda y, v: y / (1 + v["age"] / 50)
    ),
}
DRAWN = {
    "Poisson": Poisson(),
    "negative binomial": NegativeBinomial(),
}


@pytest.mark.parametrize("mechanism", INVERTIBLE.values(), ids=INVERTIBLE)
def test_unchanged_causes_return_the_row_and_there_and_back_is_where_one_was(mechanism):
    data = people(800)
    scm = fit(WORK, data, PLAIN | {"pay": mechanism}, seed=1)
    same = scm.counterfactual(data, do={"sex": data["sex"]})
    assert gap(same, data, ["pay"]) < 1e-9
    there = scm.counterfactual(data, do=SWAP)
    back = scm.counterfactual(there, do=SWAP)
    assert gap(back, data, ["pay"]) < 1e-9
    if mechanism is not INVERTIBLE["given"]:  # whose equation does not look at sex
        assert gap(there, data, ["pay"]) > 0.1


@pytest.mark.parametrize("mechanism", DRAWN.values(), ids=DRAWN)
def test_counts_with_unchanged_causes_return_exactly(mechanism):
    data = people(800)
    data.loc[:4, "visits"] = [60, 45, 0, 30, 80]  # far out in the tail
    scm = fit(WORK, data, PLAIN | {"visits": mechanism})
    for seed in range(5):
        same = scm.counterfactual(data, do={"sex": data["sex"]}, seed=seed)
        pd.testing.assert_series_equal(same["visits"], data["visits"])


@pytest.mark.parametrize("coupling", [Gumbel(), Monotone()], ids=str)
def test_categories_with_unchanged_causes_return_exactly(coupling):
    data = people(800)
    discrete = {"job": Categorical(coupling=coupling), "visits": Ordered()}
    scm = fit(WORK, data, PLAIN | discrete)
    for seed in range(5):
        same = scm.counterfactual(data, do={"sex": data["sex"]}, seed=seed)
        pd.testing.assert_frame_equal(same[["job", "visits"]], data[["job", "visits"]])


def test_carrying_is_abducting_and_applying():
    data = people(300)
    scm = fit(WORK, data, PLAIN | {"visits": Linear()})
    values = scm.encode(data)
    noise = scm.abduct(values)
    told = {"sex": np.ones(300), "age": values["age"], "region": values["region"]}
    world = scm.propagate(noise, told)
    found = scm.counterfactual(data, do={"sex": "M"})
    assert np.abs(world["pay"] - found["pay"]).max() < 1e-12
    assert np.abs(world["visits"] - found["visits"]).max() < 1e-12
    labels = np.array(scm.equations.domains["job"].labels)
    assert (labels[world["job"].astype(int)] == found["job"]).all()


# --- what changes and what does not --------------------------------------------------------------


def test_only_descendants_change_and_everything_else_is_bit_identical():
    data = people(500).assign(name=[f"p{i}" for i in range(500)], score=1.5)
    data.index = pd.Index(np.arange(500) * 3 + 7, name="id")
    scm = fit(WORK, data, PLAIN)
    found = scm.counterfactual(data, do={"region": "west"})
    pd.testing.assert_index_equal(found.index, data.index)
    assert list(found.columns) == list(data.columns)
    for column in ("sex", "age", "name", "score"):
        pd.testing.assert_series_equal(found[column], data[column], check_exact=True)
    for column in ("region", "pay", "visits", "job"):
        assert (found[column] != data[column]).any(), column


def test_several_nodes_at_once_and_a_set_node_stays_set():
    graph = cf.CausalGraph.parse("a -> m -> y; a -> y; c -> y")
    rng = np.random.default_rng(13)
    a, c = rng.normal(size=(2, 400))
    m = 2 * a + rng.normal(size=400)
    y = a + 3 * m - c + rng.normal(size=400)
    data = pa.table({"a": a, "c": c, "m": m, "y": y})
    scm = fit(graph, data, {"m": Linear(), "y": Linear()})
    slopes = scm.equations.fitted["y"].slopes
    found = scm.counterfactual(data, do={"a": 1.0, "m": 0.5, "c": -2.0})
    assert set(found["m"].to_pylist()) == {0.5}
    order = {"a": 1.0 - a, "m": 0.5 - m, "c": -2.0 - c}
    moved = sum(s * order[p] for p, s in zip(graph.parents("y"), slopes, strict=True))
    assert np.abs(np.asarray(found["y"]) - (y + moved)).max() < 1e-10


def test_the_three_ways_to_say_do_agree():
    data = people(300)
    scm = fit(WORK, data, PLAIN)
    by_value = scm.counterfactual(data, do={"sex": "M"})
    by_mapping = scm.counterfactual(data, do={"sex": {"F": "M"}})
    for rows in (["M"] * 300, np.full(300, "M"), pd.Series("M", index=data.index)):
        pd.testing.assert_frame_equal(scm.counterfactual(data, do={"sex": rows}), by_value)
    pd.testing.assert_frame_equal(by_mapping, by_value)
    per_row = pl.Series(np.linspace(20, 70, 300))
    found = scm.counterfactual(data, do={"age": per_row})
    assert np.array_equal(found["age"], per_row)


def test_a_mapping_leaves_other_values_alone():
    data = people(300)
    found = fit(WORK, data, PLAIN).counterfactual(data, do={"region": {"west": "north"}})
    others = data["region"] != "west"
    assert set(found["region"]) == {"north", "south"}
    pd.testing.assert_frame_equal(found[others], data[others])
    assert (found.loc[~others, "pay"] != data.loc[~others, "pay"]).all()
    ages = fit(WORK, data, PLAIN).counterfactual(data, do={"age": {data["age"][0]: 30.0}})
    assert (ages["age"] != data["age"]).sum() == 1


def test_rows_that_lack_some_labels_mean_the_same():
    data = people(300)
    scm = fit(WORK, data, PLAIN)
    part = (data["region"] != "north") & (data["job"] != "clerk")
    whole = scm.counterfactual(data, do={"sex": "M"})
    found = scm.counterfactual(data[part], do={"sex": "M"})
    pd.testing.assert_series_equal(found["pay"], whole.loc[part, "pay"])
    same = scm.counterfactual(data[part], do={"sex": data.loc[part, "sex"]})
    pd.testing.assert_frame_equal(same, data[part])


def test_the_three_libraries_agree_and_come_back_as_they_came():
    table = pa.Table.from_pandas(people(400), preserve_index=False)
    forms = {"pyarrow": table, "polars": pl.from_arrow(table), "pandas": table.to_pandas()}
    found = {}
    for name, data in forms.items():
        scm = fit(WORK, data, PLAIN, seed=3)
        found[name] = scm.counterfactual(data, do={"sex": "M"}, seed=4)
        assert type(found[name]) is type(data)
        assert type(scm.sample(5)) is type(data)
        assert type(scm.intervene(data, do={"sex": "F"})) is type(data)
    expected = found["pandas"]
    for name in ("pyarrow", "polars"):
        pd.testing.assert_frame_equal(found[name].to_pandas(), expected, check_dtype=False)


def test_a_lazy_frame_and_a_file_are_read(tmp_path):
    data = people(200)
    scm = fit(WORK, data, PLAIN)
    expected = scm.counterfactual(data, do={"sex": "M"})["pay"]
    lazy = scm.counterfactual(pl.from_pandas(data).lazy(), do={"sex": "M"})
    assert isinstance(lazy, pl.DataFrame)
    assert np.abs(lazy["pay"].to_numpy() - expected).max() == 0
    data.to_csv(tmp_path / "people.csv", index=False)
    from_file = scm.counterfactual(tmp_path / "people.csv", do={"sex": "M"})
    assert isinstance(from_file, pa.Table)
    assert np.abs(np.asarray(from_file["pay"]) - expected).max() < 1e-12
