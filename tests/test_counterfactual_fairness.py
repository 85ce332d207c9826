"""Are people's shifts those of a world whose counterfactuals are known, and counted right?"""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.errors import InterventionError, PredictorError, RoleError
from causalfairness.inference import wilson_interval
from causalfairness.scm import Categorical, Gumbel, Linear, Monotone
from judging import fewest_and_most_hits

WORLD = cf.datasets.worlds.linear_gaussian()
GRAPH = cf.CausalGraph.parse("group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
FEATURES = ["m1", "c1", "c2"]
TO_BLUE = {"group": {"green": "blue"}}


@pytest.fixture(scope="module")
def data():
    return WORLD.draw(2_000, seed=0, frame="pandas")


@pytest.fixture(scope="module")
def scm(data):
    return cf.StructuralCausalModel.fit(GRAPH, data, {"m1": Linear(), "y": Linear()})


def score(people):
    """A model that uses the mediator, the group and a confounder."""
    return 2 * people["m1"] + 0.5 * (people["group"] == "green") - people["c1"]


@pytest.fixture(scope="module")
def found(data, scm):
    return cf.counterfactual_fairness(score, data, scm, TO_BLUE)


def test_every_persons_shift_is_what_the_model_makes_of_two_rows(data, scm, found):
    otherwise = scm.counterfactual(data, do=TO_BLUE)
    assert found.shift == pytest.approx(score(data) - score(otherwise), abs=1e-12)
    green = (data["group"] == "green").to_numpy()
    assert (found.shift[~green] == 0).all()
    assert found.changed.tolist() == green.tolist()


def test_the_mean_shift_meets_the_world(found, scm):
    """In the linear world the mediator moves by its coefficient: 2 of it, and 0.5 directly."""
    people, otherwise = WORLD.draw_with_counterfactuals(200_000, seed=1, frame="pandas")
    green = people["group"] == "green"
    truth = (score(people) - score(otherwise))[green].mean()
    fitted_error = 4 * 2 * 0.05  # the coefficient of the group on m1 has an error of about .05
    assert abs(found["green"].shift.value - truth) < fitted_error
    assert found["green"].shift.standard_error == pytest.approx(2 * 0.05, rel=0.3)
    given = cf.counterfactual_fairness(score, found.data, scm, TO_BLUE, replicates=0)["green"].shift
    assert given.standard_error < 1e-12  # everyone's shift is the same here
    assert given.rows_alone


def test_without_arrows_out_of_the_group_nobody_moves(data):
    graph = cf.CausalGraph.parse("group <-> {c1, c2, m1}; {c1, c2} -> m1")
    scm = cf.StructuralCausalModel.fit(graph, data)
    blind = cf.counterfactual_fairness(lambda people: people["m1"], data, scm, TO_BLUE)
    assert (blind.shift == 0).all()
    assert "nobody's prediction would have been another" in blind.sentences()[0]


def test_groups_sum_up_their_own_people(data, found):
    green = (data["group"] == "green").to_numpy()
    group = found["green"]
    assert (group.people, group.changed) == (int(green.sum()), int(green.sum()))
    assert group.fact == pytest.approx(score(data)[green].mean())
    assert group.shift.value == pytest.approx(group.fact - group.otherwise)
    assert found.table().names == ("green",)  # nobody blue is told anything
    assert [each.name for each in found] == ["blue", "green"]
    with pytest.raises(KeyError, match="no group 'red'; there are blue; green"):
        found["red"]


def test_flips_are_counted_in_both_directions_with_wilson_intervals(data, scm):
    decide = lambda people: (np.asarray(score(people)) > 0.5).astype(int)  # noqa: E731
    found = cf.counterfactual_fairness(decide, data, scm, TO_BLUE, replicates=0)["green"]
    otherwise = scm.counterfactual(data, do=TO_BLUE)
    green = (data["group"] == "green").to_numpy()
    was, would = decide(data)[green], decide(otherwise)[green]
    assert found.lowered == pytest.approx(np.mean((was == 1) & (would == 0)))
    assert found.raised == pytest.approx(np.mean((was == 0) & (would == 1)))
    assert found.lowered > 0.05
    low, high = wilson_interval(found.lowered * found.people, found.people, 0.95)
    assert found.flips()[0] == pytest.approx((low, high))


def test_a_threshold_makes_scores_decisions(data, scm):
    plain = cf.counterfactual_fairness(score, data, scm, TO_BLUE)
    assert plain["green"].lowered is None
    assert plain["green"].flips() is None
    cut = cf.counterfactual_fairness(score, data, scm, TO_BLUE, threshold=0.5)
    assert cut["green"].lowered > 0
    assert "would have been decided 0" in str(cut)
    assert cut["green"].shift.value == plain["green"].shift.value


def test_a_classifier_is_followed_by_its_probability_and_its_decisions(data, scm):
    good = np.where(data["y"] > data["y"].median(), "yes", "no")
    fitted = LogisticRegression().fit(data[FEATURES], good)
    found = cf.counterfactual_fairness(fitted, data, scm, TO_BLUE)
    assert found.fact == pytest.approx(fitted.predict_proba(data[FEATURES])[:, 1])
    assert found.decided.tolist() == (fitted.predict(data[FEATURES]) == "yes").tolist()
    by_method = cf.counterfactual_fairness(
        lambda people: fitted.predict(people[FEATURES]) == "yes", data, scm, TO_BLUE
    )
    assert by_method["green"].lowered == found["green"].lowered


def test_a_bound_method_of_a_fitted_model_sees_its_own_columns(data, scm):
    fitted = LinearRegression().fit(data[FEATURES], data["y"])
    found = cf.counterfactual_fairness(fitted.predict, data, scm, TO_BLUE)
    again = cf.counterfactual_fairness(fitted, data, scm, TO_BLUE)
    assert found.shift.tolist() == again.shift.tolist()
    assert "columns that the model" not in str(found)


def test_columns_that_the_graph_leaves_out_are_stated(data, scm):
    extra = data.assign(zip_code=1.0)
    fitted = LinearRegression().fit(extra[[*FEATURES, "zip_code"]], extra["y"])
    found = cf.counterfactual_fairness(fitted, extra, scm, TO_BLUE)
    assert "the model uses and the graph leaves out do not change: zip_code" in str(found)
    any_of_them = cf.counterfactual_fairness(score, extra, scm, TO_BLUE)
    assert "the model may use and the graph leaves out do not change: zip_code" in str(any_of_them)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_libraries_give_the_same_people(data, scm, found, library):
    frame = pl.from_pandas(data) if library == "polars" else pa.Table.from_pandas(data)

    def same(people):
        return score({name: np.asarray(people[name]) for name in ("m1", "group", "c1")})

    other = cf.counterfactual_fairness(same, frame, scm, TO_BLUE)
    assert other.shift == pytest.approx(found.shift, abs=1e-12)
    assert type(other.most_affected(3)) is type(frame)


def test_the_most_affected_are_the_furthest_from_what_they_would_have_been(data, scm):
    uneven = cf.counterfactual_fairness(lambda p: p["m1"] * p["c1"], data, scm, TO_BLUE)
    first = uneven.most_affected(5)
    assert isinstance(first, pd.DataFrame)
    order = np.argsort(-np.abs(uneven.shift), kind="stable")[:5]
    assert first["row"].tolist() == order.tolist()
    assert first["shift"].tolist() == uneven.shift[order].tolist()
    assert (first["prediction in fact"] - first["prediction otherwise"]).tolist() == pytest.approx(
        first["shift"].tolist()
    )
    assert first["c1"].tolist() == data["c1"].iloc[order].tolist()


def test_densities_are_densities_and_move_with_the_shift(found):
    spread = found.densities("green")
    for curve in (spread.fact, spread.otherwise):
        assert np.trapezoid(curve, spread.at) == pytest.approx(1, abs=0.01)
    means = [np.trapezoid(c * spread.at, spread.at) for c in (spread.fact, spread.otherwise)]
    assert means[0] - means[1] == pytest.approx(found["green"].shift.value, abs=0.02)


def test_intervals_of_the_mean_are_those_of_a_mean(data, scm):
    uneven, whole = (
        cf.counterfactual_fairness(
            lambda p: p["m1"] * p["c1"], data, scm, TO_BLUE, replicates=replicates
        )
        for replicates in (0, None)
    )
    green = (data["group"] == "green").to_numpy()
    shift = uneven.shift[green]
    assert uneven["green"].shift.standard_error == pytest.approx(
        shift.std() / np.sqrt(len(shift)), rel=1e-9
    )
    assert whole["green"].shift.standard_error > 1.1 * uneven["green"].shift.standard_error
    assert uneven["green"].quantiles[2] == pytest.approx(np.median(shift))
    assert uneven["green"].quantiles[0] == pytest.approx(np.quantile(shift, 0.05))


def test_records_hold_everything(found):
    record = found.to_pandas().set_index("group").loc["green"]
    assert record["shift"] == found["green"].shift.value
    assert {"low", "high", "q5", "q95", "people", "changed"} <= {*record.index}
    assert "lowered" not in record.index
    assert found.to_polars()["people"].sum() == 2_000
    assert "<table>" in found._repr_html_()


# --- noise that the data cannot fix -----------------------------------------------------------


def hired(n, seed):
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(n) < 0.5, "f", "m")
    job = np.array(["desk", "field", "none"])[
        (
            rng.random(n)[:, None]
            > np.cumsum(np.where((sex == "f")[:, None], [0.6, 0.3, 0.1], [0.3, 0.5, 0.2]), axis=1)
        ).sum(axis=1)
    ]
    return pd.DataFrame({"sex": sex, "job": job})


def in_the_field(people):
    return (people["job"] == "field").astype(float)


def test_draws_average_over_noise_and_keep_how_sure_each_person_is():
    data = hired(3_000, seed=0)
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse("sex -> job"), data)
    do = {"sex": {"f": "m"}}
    one = cf.counterfactual_fairness(in_the_field, data, scm, do)
    many = cf.counterfactual_fairness(in_the_field, data, scm, do, draws=20)
    assert many.otherwise.shape == (20, 3_000)
    assert many.otherwise[0].tolist() == one.otherwise[0].tolist()
    assert (one.uncertain == 0).all()
    assert many.uncertain.max() > 0.3
    assert many["f"].shift.value == pytest.approx(-0.2, abs=0.06)  # .3 in fact, .5 otherwise
    assert one["f"].raised is not None


def test_the_coupling_of_categories_is_an_assumption_that_shows():
    data = hired(3_000, seed=0)
    graph, do = cf.CausalGraph.parse("sex -> job"), {"sex": {"f": "m"}}
    flips = {}
    for coupling in (Gumbel(), Monotone()):
        scm = cf.StructuralCausalModel.fit(graph, data, {"job": Categorical(coupling=coupling)})
        found = cf.counterfactual_fairness(in_the_field, data, scm, do, draws=5)
        flips[type(coupling).__name__] = found["f"].lowered + found["f"].raised
        assert "coupled" in str(found)
    assert abs(flips["Gumbel"] - flips["Monotone"]) > 0.02


def test_replicates_know_how_uncertain_the_mechanisms_are():
    """The mean shift of a linear model is its coefficient: intervals must cover the true one."""
    people, otherwise = WORLD.draw_with_counterfactuals(50_000, seed=9, frame="pandas")
    green = people["group"] == "green"
    slope = (score(people) - score(otherwise))[green].mean()
    hits = 0
    for seed in range(40):
        data = WORLD.draw(400, seed=seed, frame="pandas")
        scm = cf.StructuralCausalModel.fit(GRAPH, data, {"m1": Linear(), "y": Linear()})
        found = cf.counterfactual_fairness(score, data, scm, TO_BLUE, replicates=25, seed=seed)
        low, high = found["green"].shift.interval()
        hits += low <= slope <= high
    fewest, most = fewest_and_most_hits(40, 1)
    assert fewest <= hits <= most, hits
    assert "fitted to them, 25 times anew" in str(found)


def test_replicates_change_no_value_and_not_with_the_number_of_workers(data, scm):
    plain = cf.counterfactual_fairness(score, data, scm, TO_BLUE, threshold=0.5, replicates=0)
    one, two = (
        cf.counterfactual_fairness(
            score, data, scm, TO_BLUE, threshold=0.5, replicates=20, workers=workers
        )
        for workers in (1, 2)
    )
    assert one["green"].shift.value == plain["green"].shift.value
    assert one["green"].shift.spread.tolist() == two["green"].shift.spread.tolist()
    assert one["green"].shift.standard_error > 0.01 > plain["green"].shift.standard_error
    (low, high), _ = one["green"].flips()
    assert low < one["green"].lowered < high
    assert one["green"].flips() != plain["green"].flips()
    with pytest.raises(ValueError, match="replicates must be a whole number"):
        cf.counterfactual_fairness(score, data, scm, TO_BLUE, replicates=3)


# --- refitting, graphs, bad input -------------------------------------------------------------


def test_a_refit_model_follows_the_people_and_hides_the_shift(data, scm):
    """With the group among its features, refitting on exchanged rows undoes the exchange."""
    exchanged = {"group": {"green": "blue", "blue": "green"}}
    coded = data.assign(green=(data["group"] == "green").astype(float))
    graph = cf.CausalGraph.parse("green <-> {c1, c2}; {green, c1, c2} -> m1")
    scm = cf.StructuralCausalModel.fit(graph, coded, {"m1": Linear()})
    exchanged = {"green": {1: 0, 0: 1}}
    fitted = LinearRegression().fit(coded[[*FEATURES, "green"]], coded["y"])
    fixed = cf.counterfactual_fairness(fitted, coded, scm, exchanged)
    refit = cf.counterfactual_fairness(fitted, coded, scm, exchanged, refit=True, outcome="y")
    assert fixed[1].changed == fixed[1].people
    assert abs(fixed[1].shift.value) > 0.5
    assert abs(refit[1].shift.value) < 1e-9  # an invertible linear map of the features
    assert "replication setting" in str(refit)
    assert "replication setting" not in str(fixed)


def test_what_cannot_be_refitted_is_refused(data, scm):
    with pytest.raises(PredictorError, match="must be a scikit-learn model; found a function"):
        cf.counterfactual_fairness(score, data, scm, TO_BLUE, refit=True, outcome="y")
    fitted = LinearRegression().fit(data[FEATURES], data["y"])
    with pytest.raises(RoleError, match="needs the outcome column"):
        cf.counterfactual_fairness(fitted, data, scm, TO_BLUE, refit=True)


def test_competing_graphs_are_asked_the_same_question(data):
    graphs = {
        "caused": GRAPH,
        "not caused": cf.CausalGraph.parse("group <-> {c1, c2, m1}; {c1, c2} -> m1"),
        "circular": cf.CausalGraph.parse("group -> m1; m1 <-> group"),
    }
    found = cf.compare_graphs(lambda people: people["m1"], data, graphs, TO_BLUE)
    assert list(found.by_graph) == ["caused", "not caused"]
    assert "hidden common cause" in found.refused["circular"]
    assert found.by_graph["caused"]["green"].shift.value > 0.3
    assert "green: the answer depends on the graph: higher than otherwise under caused" in str(
        found
    )
    assert found.table().names == ("caused: green", "not caused: green")
    alone = cf.counterfactual_fairness(
        lambda people: people["m1"], data, cf.StructuralCausalModel.fit(GRAPH, data), TO_BLUE
    )
    assert found.by_graph["caused"].shift.tolist() == alone.shift.tolist()


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (lambda people: people["missing"], "failed on a frame like the data: KeyError"),
        (lambda people: ["yes"] * len(people), "returned 'yes'; expected one number per row"),
        (lambda people: [1.0], "returned 1 values"),
        (lambda people: [float("nan")] * len(people), "2,000 of them not finite"),
        (LinearRegression, "found the class LinearRegression"),
        (3, "found int"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(data, scm, predict, message):
    with pytest.raises(PredictorError, match=message):
        cf.counterfactual_fairness(predict, data, scm, TO_BLUE)


def test_one_of_many_classes_must_be_named(data, scm):
    thirds = pd.cut(data["y"], 3, labels=["low", "middle", "high"]).astype(str)
    fitted = LogisticRegression().fit(data[FEATURES], thirds)
    with pytest.raises(PredictorError, match="has 3 classes; say which one"):
        cf.counterfactual_fairness(fitted, data, scm, TO_BLUE)


def test_unknown_values_and_nodes_are_refused(data, scm):
    with pytest.raises(InterventionError):
        cf.counterfactual_fairness(score, data, scm, {"group": "purple"})
    with pytest.raises((InterventionError, cf.errors.UnknownNodeError)):
        cf.counterfactual_fairness(score, data, scm, {"groop": "blue"})
    with pytest.raises(ValueError, match="graphs maps a name to each graph"):
        cf.compare_graphs(score, data, {}, TO_BLUE)


def test_the_same_seed_gives_the_same_people():
    data = hired(1_000, seed=1)
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse("sex -> job"), data)
    one, two, other = (
        cf.counterfactual_fairness(in_the_field, data, scm, {"sex": {"f": "m"}}, seed=seed)
        for seed in (0, 0, 1)
    )
    assert one.shift.tolist() == two.shift.tolist() != other.shift.tolist()
