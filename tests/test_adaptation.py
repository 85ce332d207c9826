"""Rows as if of the reference group, against worlds whose counterfactuals are known."""

import numpy as np
import pandas as pd
import pytest

import causalfairness as cf
from causalfairness.adaptation import LinearQuantiles
from causalfairness.adaptation.grid import GridDistribution
from causalfairness.datasets import worlds
from judging import graph_of

LINE = LinearQuantiles()


def adapter_of(world, **choices):
    return cf.FairAdapter(graph_of(world), protected="group", reference="blue", **choices)


def adapted(world, n, seed=0, **choices):
    """Observed, adapted and true rows of the comparison group, and the reference group's rows."""
    people = world.draw(n, seed=seed, frame="pandas")
    truth = world.counterfactual(n, seed=seed, do="blue", frame="pandas")
    moved = adapter_of(world, **choices).fit(people).transform(people)
    green = (people["group"] == "green").to_numpy()
    return people[green], moved[green], truth[green], people[~green], moved[~green]


def slope_on_group(column, moved, reference, confounders):
    """What the group still explains given the confounders, in standard errors."""
    both = pd.concat([moved, reference])
    group = np.repeat([1.0, 0.0], [len(moved), len(reference)])
    design = np.column_stack([np.ones(len(both)), group, both[list(confounders)]])
    solution = np.linalg.lstsq(design, both[column], rcond=None)[0]
    residual = both[column] - design @ solution
    variance = residual.var() * np.linalg.inv(design.T @ design)[1, 1]
    return solution[1] / np.sqrt(variance)


# --- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_adapted_values_are_the_counterfactuals_of_a_linear_world(seed):
    world = worlds.linear_gaussian(direct=0.5, indirect=0.6)
    _, moved, truth, reference, _ = adapted(world, 5_000, seed, learner=LINE)
    for column in ("m1", "y"):
        assert np.corrcoef(moved[column], truth[column])[0, 1] > 0.995
        assert abs(slope_on_group(column, moved, reference, ("c1", "c2"))) < 2
    # a shift has a standard error of about 1 / (sd of A given C * sqrt(n)) = 0.03
    assert abs((moved["m1"] - truth["m1"]).mean()) < 3 * 0.03
    assert abs((moved["y"] - truth["y"]).mean()) < 3 * 0.03 * (1 + 0.8)


def test_new_people_are_moved_to_what_the_reference_group_has():
    rng = np.random.default_rng(4)
    rich = rng.random(4_000) < 0.5
    people = pd.DataFrame({"group": np.where(rich, "green", "blue"), "pay": rng.normal(size=4_000)})
    people["pay"] = np.exp(people["pay"] + 3 * rich)  # in the other world: without the 3
    graph = cf.CausalGraph.parse("group -> pay")
    adapter = cf.FairAdapter(graph, protected="group", reference="blue").fit(people[:2_000])
    new, moved = people[2_000:], adapter.transform(people[2_000:])
    green = new["group"] == "green"
    truth = new["pay"][green] / np.exp(3)
    # the pace of a tail of 50 people has a standard error of 16 %, a ratio of two one of 23 %
    assert moved["pay"][green].max() == pytest.approx(truth.max(), rel=2 * 0.23)
    # 1,000 people have a standard error of 2.2 / sqrt(1,000) = 0.07, and so have those learned from
    assert abs(moved["pay"][green].mean() - truth.mean()) < 3 * 0.07 * np.sqrt(2)


def test_linear_quantiles_follow_a_spread_that_depends_on_group_and_confounder():
    rng, n = np.random.default_rng(0), 6_000
    group, c, noise = rng.random(n) < 0.6, rng.random(n), rng.normal(size=n)
    y = np.where(group, 1 + c + (2 + c) * noise, 3 * c + (1 + 2 * c) * noise)
    people = pd.DataFrame({"group": np.where(group, "green", "blue"), "c": c, "y": y})
    adapter = cf.FairAdapter(
        cf.CausalGraph.parse("{group, c} -> y"), protected="group", reference="blue", learner=LINE
    )
    moved = adapter.fit(people).transform(people)
    truth = 3 * c + (1 + 2 * c) * noise
    assert np.corrcoef(moved["y"][group], truth[group])[0, 1] > 0.995
    # a residual from the truth of 0.1 sd everywhere, upper tail included
    high = group & (noise > 1.5)
    assert abs((moved["y"][high] - truth[high]).mean()) < 0.15 * truth[high].std()


def test_a_chance_is_adapted_to_that_of_the_reference_group_given_the_confounders():
    world = worlds.binary()
    people, moved, _, reference, _ = adapted(world, 20_000)
    cells = ["c1", "c2"]
    for column in ("m1", "y"):
        own = moved.groupby(cells)[column].agg(["mean", "size"])
        other = reference.groupby(cells)[column].agg(["mean", "size"])
        error = np.sqrt(sum(0.25 / each["size"] for each in (own, other)))
        assert (np.abs(own["mean"] - other["mean"]) < 3 * error).all()
        before = people.groupby(cells)[column].mean()
        assert (np.abs(before - other["mean"]) > 3 * error).any()


def test_adapted_means_are_the_counterfactual_means_and_not_the_reference_groups():
    world = worlds.linear_gaussian(spurious=1.0)
    _, moved, _, reference, _ = adapted(world, 6_000, learner=LINE)
    would_have_been = world.true_means()[0, 0, 1]  # E[Y_a0 | a1]
    # 3 standard errors of the mean of Y, which has a standard deviation of 1.6 given the group
    assert abs(moved["y"].mean() - would_have_been) < 3 * 1.6 / np.sqrt(len(moved))
    assert abs(moved["y"].mean() - reference["y"].mean()) > 0.3


def test_a_world_without_arrows_from_the_group_stays_where_it_is():
    world = worlds.linear_gaussian().without("direct").without("indirect")
    people, moved, _, _, _ = adapted(world, 5_000, learner=LINE)
    for column in ("m1", "y"):
        assert abs((moved[column] - people[column]).mean()) < 3 * 0.03 * 1.8


class Blind:
    """A learner that looks at no cause: deliberately wrong."""

    def fit(self, causes, values, *, edges, seed):
        levels = np.arange(1, 100) / 100
        flat = np.quantile(values, levels)
        return GridDistribution(levels, lambda causes: np.tile(flat, (len(causes), 1)))


def test_a_learner_that_looks_at_no_cause_is_found_out_by_its_ranks():
    world = worlds.linear_gaussian(spurious=1.0)
    people, new = (world.draw(2_000, seed=seed) for seed in (0, 1))
    blind, seeing = (adapter_of(world, learner=each).fit(people) for each in (Blind(), LINE))
    assert max(fit.dependence for fit in blind.goodness(new)) > 0.3
    for fit in seeing.goodness(new):  # both halves of the data have a say in a correlation
        assert fit.dependence < 4 * np.sqrt(2 / fit.rows)
    assert min(fit.p_value for fit in seeing.goodness(new)) > 0.001
    _, moved, truth, _, _ = adapted(world, 2_000, learner=Blind())
    assert abs((moved["y"] - truth["y"]).mean()) > 0.3  # the marginal means are forced to meet


# --- what stays ----------------------------------------------------------------------------------


def test_the_reference_group_and_what_the_group_does_not_cause_stay_exactly():
    world = worlds.linear_gaussian()
    people, moved, _, reference, kept = adapted(world, 1_000)
    pd.testing.assert_frame_equal(kept, reference)
    pd.testing.assert_frame_equal(moved[["c1", "c2"]], people[["c1", "c2"]])
    assert (moved["group"] == "blue").all()
    assert (moved["y"] != people["y"]).mean() > 0.99


CHAIN = cf.CausalGraph.parse("a <-> c; {a, c} -> m; m -> n; {n, c} -> o; {a, n, o} -> y")


def chain(n=800, seed=0):
    rng = np.random.default_rng(seed)
    a, c = rng.random(n) < 0.4, rng.normal(size=n)
    m = a + 0.5 * c + rng.normal(size=n)
    k = m + rng.normal(size=n)
    o = k + c + rng.normal(size=n)
    y = 0.5 * a + k + o + rng.normal(size=n)
    return pd.DataFrame({"a": a.astype(int), "c": c, "m": m, "n": k, "o": o, "y": y})


@pytest.mark.parametrize(
    ("resolving", "too", "changed"),
    [
        ((), (), {"m", "n", "o", "y"}),
        (("m",), ("n", "o"), {"y"}),
        (("n",), ("o",), {"m", "y"}),
        (("o",), (), {"m", "n", "y"}),
        (("m", "y"), ("n", "o"), set()),
    ],
)
def test_resolving_columns_stay_and_so_does_what_follows_from_them_alone(resolving, too, changed):
    people = chain()
    adapter = cf.FairAdapter(
        CHAIN, protected="a", reference=0, resolving=resolving, learner=LINE
    ).fit(people)
    moved = adapter.transform(people)
    assert {name for name in "cmnoy" if not moved[name].equals(people[name])} == changed
    assert adapter.report_.plan.resolving == resolving
    assert adapter.report_.plan.resolved_too == too


def test_a_resolved_mediator_leaves_only_the_direct_shift():
    world = worlds.linear_gaussian(direct=0.5, indirect=0.6)
    people, moved, _, _, _ = adapted(world, 5_000, learner=LINE, resolving=["m1"])
    shift = people["y"] - moved["y"]
    assert abs(shift.mean() - 0.5) < 3 * 0.03
    assert shift.std() < 0.15


def test_rows_whose_causes_do_not_change_keep_their_value_where_groups_share_a_mechanism():
    people = chain()
    adapter = cf.FairAdapter(CHAIN, protected="a", reference=0, learner={"m": Still()})
    moved = adapter.fit(people).transform(people)
    assert moved[["m", "n", "o"]].equals(people[["m", "n", "o"]])
    assert not moved["y"].equals(people["y"])


class Still:
    """A learner under which nothing ever changes: the same distribution in both groups."""

    def fit(self, causes, values, *, edges, seed):
        return self

    def rank(self, causes, values):
        return values

    def quantile(self, causes, ranks):
        return ranks


# --- several groups, confounders -----------------------------------------------------------------


def three_groups(n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(["low", "mid", "top"], n, p=[0.5, 0.3, 0.2])
    c = rng.normal(size=n)
    shift = np.select([group == "mid", group == "top"], [1.0, 3.0], 0.0)
    y = c + shift + rng.normal(size=n)
    return pd.DataFrame({"group": group, "c": c, "y": y}), y - shift


def test_every_group_has_its_own_mechanism_unless_they_are_pooled():
    people, truth = three_groups()
    graph = cf.CausalGraph.parse("{group, c} -> y")
    own = cf.FairAdapter(graph, protected="group", reference="low", learner=LINE).fit(people)
    pooled = cf.FairAdapter(
        graph, protected="group", reference="low", learner=LINE, pooled=True
    ).fit(people)
    for group in ("mid", "top"):
        inside = people["group"] == group
        error = own.transform(people)["y"][inside] - truth[inside]
        assert abs(error.mean()) < 4 * np.sqrt(1 / inside.sum() + 1 / 2_000)
        assert abs((pooled.transform(people)["y"][inside] - truth[inside]).mean()) > 0.5
    assert pooled.report_.grouping.names == ("low", "everyone else")
    strange = people.head(5).assign(group="new")
    assert (pooled.transform(strange)["group"] == "low").all()


def test_transported_confounders_meet_the_reference_group_and_are_off_by_default():
    world = worlds.linear_gaussian(spurious=1.0)
    people, moved, _, reference, kept = adapted(
        world, 4_000, learner=LINE, transport_confounders=True
    )
    pd.testing.assert_frame_equal(kept, reference)
    for column in ("c1", "c2", "m1", "y"):
        error = np.sqrt(moved[column].var() / len(moved) + reference[column].var() / len(reference))
        assert abs(moved[column].mean() - reference[column].mean()) < 2 * error
        assert abs(moved[column].std() / reference[column].std() - 1) < 0.05
    one, other = (frame[["c1", "c2"]].corr().iloc[0, 1] for frame in (moved, reference))
    assert abs(one - other) < 0.05
    assert abs(people["c1"].mean() - reference["c1"].mean()) > 0.5


def test_weights_make_weighted_means_meet_the_reference_group():
    world = worlds.linear_gaussian(spurious=1.0)
    people = world.draw(3_000, seed=3, frame="pandas")
    adapter = adapter_of(world, learner=LINE).fit(people)
    weights, green = adapter.weights(people), (people["group"] == "green").to_numpy()
    assert (weights[~green] == 1).all()
    assert weights[green].mean() == pytest.approx(1)
    moved = adapter.transform(people)
    for column in ("c1", "c2", "y"):
        value, reference = moved[column][green], people[column][~green]
        w = weights[green]
        error = np.sqrt(
            np.sum((w * (value - np.average(value, weights=w))) ** 2) / w.sum() ** 2
            + reference.var() / len(reference)
        )
        assert abs(np.average(value, weights=w) - reference.mean()) < 2.5 * error
    assert abs(moved["y"][green].mean() - people["y"][~green].mean()) > 0.3


def test_chance_among_equals_is_drawn_for_every_column_anew():
    """With one draw for all columns, the same people would be moved in each of them."""
    rng, n = np.random.default_rng(0), 4_000
    group = rng.integers(0, 2, n)
    people = pd.DataFrame(
        {
            "group": np.where(group == 1, "green", "blue"),
            "first": (rng.random(n) < 0.4 + 0.4 * group).astype(int),
            "second": (rng.random(n) < 0.4 + 0.4 * group).astype(int),
        }
    )
    graph = cf.CausalGraph.parse("group -> {first, second}")
    adapter = cf.FairAdapter(graph, protected="group", reference="blue", outcome="second")
    adapted = adapter.fit(people).transform(people)
    both = ((group == 1) & (people["first"] == 1) & (people["second"] == 1)).to_numpy()
    moved = [(people[name] != adapted[name]).to_numpy()[both] for name in ("first", "second")]
    assert min(np.mean(one) for one in moved) > 0.3  # half of them are expected to move
    assert abs(np.corrcoef(moved)[0, 1]) < 4 / np.sqrt(both.sum())
