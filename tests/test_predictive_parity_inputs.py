"""Where do scores and counterfactual outcomes come from, what is refused, and what is said?"""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.adaptation import LinearQuantiles
from causalfairness.errors import (
    ColumnNotFoundError,
    ConstantPredictionError,
    GroupNotFoundError,
    MissingValuesError,
    OutcomeError,
    OverlapError,
    RoleError,
    SourceError,
    WeightError,
)
from judging import graph_of
from parity_world import CURVED, GRAPH, MODEL, drawn, fitted

ask = cf.decompose_predictive_parity


@pytest.fixture(scope="module")
def people():
    return drawn(600, seed=0)


@pytest.fixture(scope="module")
def scm(people):
    return fitted(people)


@pytest.fixture(scope="module")
def found(people):
    return ask(people, MODEL, counterfactual="y_blue", bins=4, replicates=50)


class ToBlue:
    """An adapter that knows the world: everyone's row as blue."""

    def __init__(self, people, reference="blue"):
        self.rows, self.reference = people.set_index(people["w1"]), reference

    def transform(self, data):
        known = self.rows.loc[data["w1"]]
        return data.assign(group="blue", y=known["y_blue"].to_numpy())


def values_of(found):
    return np.array([gap.values for gap in found.gaps])


# --- where counterfactual outcomes come from ------------------------------------------------------


def test_a_column_an_adapter_and_a_model_say_the_same(people, scm):
    otherwise = scm.counterfactual(people, do={"group": "blue"})["y"]
    said = people.assign(y_blue=otherwise)
    adapter = ToBlue(said)
    answers = [
        ask(said, MODEL, counterfactual=source, bins=4, replicates=20)
        for source in ("y_blue", adapter, scm)
    ]
    for other in answers[1:]:
        assert values_of(other) == pytest.approx(values_of(answers[0]), abs=1e-12)
    sources = [one.diagnostics.estimator.split(": ")[-1] for one in answers]
    assert sources == ["column y_blue", "ToBlue", "structural causal model"]
    assert set(scm.assumptions) <= answers[2].causal.integrated.assumptions
    assert not answers[2].ppm.integrated.assumptions  # the gap itself needs no counterfactual


def test_a_fair_adapter_says_where_outcomes_would_be():
    world = cf.datasets.worlds.linear_gaussian(direct=0.5, indirect=0.6)
    data = world.draw(2_000, seed=0, frame="pandas").assign(score=lambda rows: rows["m1"])
    model = replace(world.model, prediction="score")
    settings = {
        "protected": "group",
        "reference": "blue",
        "learner": LinearQuantiles(),
    }
    adapter = cf.FairAdapter(graph_of(world), **settings).fit(data)
    found = ask(data, model, counterfactual=adapter, bins=4)
    assert found.causal.values == pytest.approx(0.6 * 0.8 + 0.5, abs=0.15)
    assert "outcomes otherwise: FairAdapter" in found.diagnostics.estimator
    kept = cf.FairAdapter(graph_of(world), resolving=["m1"], **settings).fit(data)
    direct = ask(data, model, counterfactual=kept, bins=4)
    assert direct.causal.values == pytest.approx(0.5, abs=0.15)
    assert "leaves m1 as observed: the causal term does not contain" in str(direct)
    wrong = cf.FairAdapter(graph_of(world), **settings | {"reference": "green"}).fit(data)
    with pytest.raises(RoleError, match="moves people to 'green'"):
        ask(data, model, counterfactual=wrong)


def test_without_counterfactuals_there_are_a_gap_and_a_drift(people, found):
    alone = ask(people, MODEL, bins=4, replicates=50)
    assert type(alone) is type(found)
    assert alone.causal is None
    assert alone.reverse_causal is None
    assert alone.table().names[:2] == ("ppm", "drift")
    assert alone.ppm.values == pytest.approx(found.ppm.values, abs=1e-12)  # in another order
    assert len(alone.sentences()) == 2
    assert "causal" not in alone.to_records()[0]


def test_the_given_column_is_needed_for_the_comparison_group_only(people, found):
    there = people["group"] == "green"
    holes = people.assign(y_blue=people["y_blue"].where(there))
    again = ask(holes, MODEL, counterfactual="y_blue", bins=4, replicates=50)
    assert values_of(again) == pytest.approx(values_of(found), abs=1e-12)  # in another order
    assert again.means[2, 0] == pytest.approx(
        again.means[0, 0], abs=1e-12
    )  # blue people are blue already
    off = people.assign(y_blue=people["y_blue"] + np.where(there, 0.0, 1.0))
    noted = ask(off, MODEL, counterfactual="y_blue", bins=4, replicates=50)
    assert values_of(noted) == pytest.approx(values_of(found), abs=1e-12)
    assert f"differs from the outcome in {int((~there).sum())} rows" in str(noted.diagnostics)


def test_an_outcome_that_nobody_moved_is_pointed_out(people):
    class Still:
        def transform(self, data):
            return data

    found = ask(people, MODEL, counterfactual=Still(), bins=4)
    assert (found.causal.values == 0).all()
    assert "Does the counterfactual include the outcome?" in str(found.diagnostics)


def test_draws_average_over_what_a_row_does_not_fix():
    rng = np.random.default_rng(0)
    n = 1_500
    group, score = rng.integers(0, 2, n), rng.random(n)
    y = (rng.random(n) < 0.2 + 0.3 * group + 0.4 * score).astype(int)
    data = pd.DataFrame({"group": group, "score": score, "y": y})
    model = cf.StandardFairnessModel(
        protected="group", reference=0, comparison=1, outcome="y", prediction="score"
    )
    graph = cf.CausalGraph.parse("{group, score} -> y")
    scm = cf.StructuralCausalModel.fit(graph, data)
    once, often = (ask(data, model, counterfactual=scm, bins=3, draws=d) for d in (1, 40))
    truth = 0.3
    assert abs(often.causal.integrated.value - truth) < 0.08
    assert often.causal.integrated.standard_error < once.causal.integrated.standard_error


# --- outcomes and scores --------------------------------------------------------------------------


def test_labels_are_read_like_numbers(people):
    high = people["y"] > 1
    numbers = people.assign(y=high.astype(int), y_blue=(people["y_blue"] > 1).astype(int))
    words = numbers.assign(y=np.where(high, "high", "low"))
    words["y_blue"] = np.where(numbers["y_blue"] == 1, "high", "low")
    named = replace(MODEL, outcome_value="high")
    one = ask(numbers, MODEL, counterfactual="y_blue", bins=4)
    other = ask(words, named, counterfactual="y_blue", bins=4)
    chances = ask(words.assign(y_blue=numbers["y_blue"]), named, counterfactual="y_blue", bins=4)
    coded = ask(
        numbers.assign(y=numbers["y"] + 1, y_blue=numbers["y_blue"] + 1),
        replace(MODEL, outcome_value=2),
        counterfactual="y_blue",
        bins=4,
    )
    for again in (other, chances, coded):
        assert values_of(again) == pytest.approx(values_of(one), abs=1e-12)
    assert other.what == "y = high"
    low, high = one.mean_outcomes()[1]
    assert (low >= 0).all()
    assert (high <= 1).all()


def test_a_prediction_may_be_a_function_of_the_columns_with_a_role(people, found):
    model = replace(MODEL, prediction=lambda rows: people.loc[rows.index, "score"].to_numpy())
    again = ask(people, model, counterfactual="y_blue", bins=4, replicates=50)
    assert np.array_equal(values_of(again), values_of(found))
    assert again.score == "prediction"


def test_a_score_of_few_values_has_one_bin_for_each():
    compas = cf.datasets.load_compas()
    model = cf.StandardFairnessModel(
        protected="sex",
        reference="Male",
        comparison="Female",
        outcome="two_year_recid",
        prediction="decile_score",
    )
    found = ask(compas, model)
    assert [each.low for each in found.bins] == list(range(1, 11))
    assert (found.drift.values == 0).all()
    assert "in the 10 values of the score" in found.diagnostics.estimator
    assert "not on the scale of the outcome" in str(found.diagnostics)
    tenths = pa.compute.divide(compas["decile_score"], 10.0)  # their means are rounded
    rounded = ask(compas.append_column("tenths", tenths), replace(model, prediction="tenths"))
    assert rounded.drift.integrated.value == rounded.drift.integrated.standard_error == 0
    assert rounded.drift.integrated_absolute.p_value == 1
    assert rounded.ppm.values == pytest.approx(found.ppm.values)
    halves = ask(compas, model, bins=[4])
    assert [each.high for each in halves.bins] == [4, 10]
    nine = ask(compas, model, bins=9)
    assert len(nine.bins) < 9
    assert f"{len(nine.bins)} bins instead of 9" in str(nine.diagnostics)
    wide = ask(compas, model, bins=[-3, 4, 50])
    assert "bins with nobody: 2" in str(wide.diagnostics)
    assert [each.reference > 0 for each in wide.bins] == [False, True, True, False]


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_every_kind_of_table_gives_the_same(people, found, scm, convert):
    again = ask(convert(people), MODEL, counterfactual="y_blue", bins=4, replicates=50)
    assert np.array_equal(values_of(again), values_of(found))
    assert again.basis == found.basis
    fitted_to = ask(convert(people), MODEL, counterfactual=scm, bins=4, replicates=20)
    assert fitted_to.causal.integrated.value > 1


def test_weights_count_rows_as_often_as_they_say(people):
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, len(people))
    heavy = people.assign(w=times)
    weighted = replace(MODEL, weights="w")
    one = ask(heavy, weighted, counterfactual="y_blue", bins=6)
    other = ask(people.loc[people.index.repeat(times)], MODEL, counterfactual="y_blue", bins=6)
    assert values_of(one) == pytest.approx(values_of(other), abs=1e-12)
    assert one.ppm.integrated.standard_error > 1.1 * other.ppm.integrated.standard_error
    idle = int((times == 0).sum())
    assert f"{idle} with weight 0 left aside" in str(one.diagnostics)
    assert "rows count by w" in str(one.diagnostics)
    with pytest.raises(WeightError, match="no row of the comparison group 'green' has a positive"):
        ask(people.assign(w=(people["group"] == "blue").astype(int)), weighted)


def test_standard_errors_know_of_weights(people):
    weight = np.exp(np.random.default_rng(2).normal(0, 1, len(people)))
    found = ask(people.assign(w=weight), replace(MODEL, weights="w"), bins=1, replicates=4_000)
    squared = 0.0
    for group in ("blue", "green"):
        inside = (people["group"] == group).to_numpy()
        w, y = weight[inside], people["y"].to_numpy()[inside]
        residual = y - np.average(y, weights=w)
        squared += np.sum((w * residual) ** 2) / w.sum() ** 2
    assert found.ppm.integrated.standard_error == pytest.approx(np.sqrt(squared), rel=0.06)


def test_other_groups_are_left_aside_and_everyone_else_is_a_comparison(people, scm):
    third = people.assign(group=np.where(people["w2"] > 1.5, "red", people["group"]))
    found = ask(third, MODEL, bins=3)
    assert found.diagnostics.rows.outside == int((third["group"] == "red").sum())
    rest = ask(third, replace(MODEL, comparison=None), counterfactual="y_blue", bins=3)
    assert sum(each.comparison for each in rest.bins) == int((third["group"] != "blue").sum())
    with pytest.raises(RoleError, match="the reference group is everyone else"):
        ask(people, replace(MODEL, reference=None), counterfactual=scm)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"bins": 0}, ValueError, "at least 1, or rising cut points"),
        ({"bins": True}, ValueError, "found True"),
        ({"bins": [0.5, 0.1]}, ValueError, "rising cut points"),
        ({"replicates": 5}, ValueError, "at least 10"),
        ({"counterfactual": 3}, RoleError, "found int"),
        ({"counterfactual": "y_bleu"}, ColumnNotFoundError, "did you mean 'y_blue'"),
        ({"counterfactual": "y_blue", "draws": 5}, RoleError, "draws=5"),
        ({"counterfactual": "w1"}, RoleError, "'w1', which has another role"),
        ({"counterfactual": "score"}, RoleError, "'score', which has another role"),
        ({"missing": "ignore"}, MissingValuesError, "must be one of"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_to_do(people, settings, error, message):
    with pytest.raises(error, match=message):
        ask(people, MODEL, **settings)


def test_data_without_an_answer_are_refused(people):
    with pytest.raises(OutcomeError, match="holds words such as 'blue'"):
        ask(people.assign(color=people["group"]), MODEL, counterfactual="color")
    for changed, model, error, message in (
        (people.assign(score=1.0), MODEL, ConstantPredictionError, "is 1 for everyone"),
        (people.assign(y=1.0), MODEL, OutcomeError, "no gap to explain"),
        (people, replace(MODEL, comparison="red"), GroupNotFoundError, "'red' has no rows"),
        (people, replace(MODEL, prediction=None), RoleError, "names no prediction"),
        (people, replace(MODEL, outcome=None), RoleError, "names no outcome"),
        (
            people.assign(score=np.where(people["group"] == "green", 5.0, -5.0)),
            MODEL,
            OverlapError,
            "no bin of the score holds people of both groups",
        ),
        (
            people.head(2).assign(group=["blue", "green"], y=[0, 1]),
            MODEL,
            OverlapError,
            "a single row in each bin",
        ),
    ):
        with pytest.raises(error, match=message):
            ask(changed, model, bins=2)


def test_missing_values_are_refused_or_dropped_and_counted(people):
    holes = people.copy()
    holes.loc[holes.index[:30], "score"] = np.nan
    green = holes.index[holes["group"] == "green"]
    holes.loc[green[-20:], "y_blue"] = np.nan
    with pytest.raises(MissingValuesError, match="'score': 30, 'y_blue': 20"):
        ask(holes, MODEL, counterfactual="y_blue")
    with pytest.raises(MissingValuesError, match="'score' has 30 missing values where a number"):
        ask(holes, MODEL, counterfactual="y_blue", missing="category")
    found = ask(holes, MODEL, counterfactual="y_blue", missing="drop", bins=4)
    rest = holes.drop(index=[*holes.index[:30], *green[-20:]])
    assert sum(each.comparison + each.reference for each in found.bins) == len(rest)
    assert values_of(found) == pytest.approx(
        values_of(ask(rest, MODEL, counterfactual="y_blue", bins=4)), abs=1e-12
    )
    assert sum(found.diagnostics.rows.dropped.values()) == 50


def test_sources_that_do_not_fit_are_refused(people, scm):
    graph = cf.CausalGraph.parse("group -> {w1, w2}; w1 -> w2")
    blind = cf.StructuralCausalModel.fit(graph, people)
    with pytest.raises(RoleError, match="knows nothing of 'y'"):
        ask(people, MODEL, counterfactual=blind)
    with pytest.raises(RoleError, match="moves people to 'green', while the reference"):
        ask(people, MODEL, counterfactual=ToBlue(people, reference="green"))

    class Short:
        def transform(self, data):
            return data.head(5)

    with pytest.raises(SourceError, match="returned 5 rows for 600"):
        ask(people, MODEL, counterfactual=Short())
    words = people.assign(y=np.where(people["y"] > 1, "high", "low"))
    named = replace(MODEL, outcome_value="high")
    with pytest.raises(OutcomeError, match="'odd', which is no value of the outcome"):
        ask(words.assign(y_blue="odd"), named, counterfactual="y_blue")
    with pytest.raises(OutcomeError, match="expected its words, or chances between 0 and 1"):
        ask(words, named, counterfactual="y_blue")
    with pytest.raises(OutcomeError, match="infinite"):
        ask(people.assign(y_blue=np.inf), MODEL, counterfactual="y_blue")


# --- what is said ---------------------------------------------------------------------------------


def test_what_was_found_is_said_in_plain_words(found):
    said = " ".join(found.sentences())
    assert "mean y of green is" in said
    assert "Causal (Term I): outcomes of green are" in said
    assert "higher than what they would have been" in said
    assert "had green been blue, their outcomes would be" in said
    assert "lower than those of blue" in said
    assert "The two terms have opposite signs" in said
    assert "noise alone would make it" in said
    assert "fair" not in str(found)
    assert str(found).startswith("y at equal score: green against blue\n")
    assert "absolute values are too large on average" in str(found)
    assert "<table>" in found._repr_html_()


def test_confounders_are_said_to_be_in_the_second_term():
    world = cf.datasets.worlds.linear_gaussian()
    data, other = world.draw_with_counterfactuals(500, seed=0, frame="pandas")
    data = data.assign(score=data["m1"], y_blue=other["y"])
    model = replace(world.model, prediction="score")
    found = ask(data, model, counterfactual="y_blue", bins=3)
    assert "may also differ in c1, c2: reverse_causal (Term II) contains this spurious" in str(
        found
    )
    assert "spurious" not in str(ask(data, model, bins=3))
    plain = replace(model, confounders=())
    assert "spurious" not in str(ask(data, plain, counterfactual="y_blue", bins=3))


def test_tables_and_records_hold_every_bin(found):
    table = found.table()
    assert len(table) == 2 * 4 + 4 * 4
    assert table["causal in bin 2"].value == found.causal.values[1]
    assert "Term I" in table.to_records()[1]["meaning"]
    assert found.summary().names == table.names[:8]
    records = found.to_records(level=0.9)
    assert [record["bin"] for record in records] == [1, 2, 3, 4]
    low, high = found.ppm.by_bin[0].interval(0.9)
    assert (records[0]["ppm_low"], records[0]["ppm_high"]) == (low, high)
    assert len(found.to_pandas()) == len(found.to_polars()) == 4


def test_a_bin_without_one_of_the_groups_has_no_gap(people):
    far = people.copy()
    far.loc[far["group"] == "green", "score"] += 3.0
    found = ask(far, MODEL, counterfactual="y_blue", bins=10)
    at = next(at for at, each in enumerate(found.bins) if not each.is_compared)
    assert found.ppm.by_bin[at] is None
    assert found.to_records()[at]["ppm"] is None
    assert f"ppm in bin {at + 1}" not in found.table().names
    assert np.isnan(found.mean_outcomes()[0]).sum() == 10 - found.compared
    assert len(found.to_polars()) == 10


def test_a_model_may_be_asked_about_data_that_stay_in_a_file(people, scm, found, tmp_path):
    path = tmp_path / "people.parquet"
    people.to_parquet(path)
    again = ask(str(path), MODEL, counterfactual="y_blue", bins=4, replicates=50)
    assert np.array_equal(values_of(again), values_of(found))
    from_model = ask(str(path), MODEL, counterfactual=scm, bins=4, replicates=20)
    assert from_model.causal.integrated.value > 1


def test_the_graph_of_the_world_is_the_one_the_model_states():
    projected = cf.StandardFairnessModel.from_graph(
        GRAPH, protected="group", reference="blue", comparison="green", outcome="y"
    )
    assert set(projected.mediators) == set(CURVED.model.mediators)
