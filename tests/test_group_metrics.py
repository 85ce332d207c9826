"""Plain metrics of groups: the same numbers as fairlearn, honest intervals, nobody left out."""

import re
from dataclasses import replace

import fairlearn.metrics as fairlearn
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, precision_score, root_mean_squared_error

import causalfairness as cf
from causalfairness.errors import (
    GroupNotFoundError,
    MissingValuesError,
    OutcomeError,
    PredictorError,
    RoleError,
    WeightError,
)
from causalfairness.individuals.auditee import auditee_of
from causalfairness.inference import (
    added_people_interval,
    quantiles,
    ratio_interval,
    wilson_interval,
)
from forms import every_form
from judging import fewest_and_most_hits

SAME = {
    "selection_rate": fairlearn.selection_rate,
    "base_rate": lambda y, _, sample_weight=None: np.average(y, weights=sample_weight),
    "accuracy": accuracy_score,
    "tpr": fairlearn.true_positive_rate,
    "fpr": fairlearn.false_positive_rate,
    "fnr": fairlearn.false_negative_rate,
    "tnr": fairlearn.true_negative_rate,
    "ppv": precision_score,
}
LEVELS = {"race": list("abcd"), "sex": ["f", "m"]}


def applicants(rows=600, seed=0):
    """Two protected attributes, a score, a decision that leans on them, an outcome, weights."""
    rng = np.random.default_rng(seed)
    race = rng.choice(LEVELS["race"], rows, p=[0.4, 0.3, 0.2, 0.1])
    sex = rng.choice(LEVELS["sex"], rows, p=[0.4, 0.6])
    lean = 0.1 * (race == "b") - 0.15 * (race == "c") + 0.1 * (sex == "m")
    score = np.clip(rng.beta(2, 3, rows) + lean, 0, 1)
    return pd.DataFrame(
        {
            "race": race,
            "sex": sex,
            "score": score,
            "hired": (score > 0.4).astype(int),
            "able": (rng.random(rows) < 0.2 + 0.6 * score).astype(int),
            "output": 3 * score + rng.normal(size=rows),
            "w": rng.exponential(size=rows),
            "skill": rng.normal(size=rows),
        }
    )


def asked(**roles):
    return cf.StandardFairnessModel(
        **{
            "protected": "race",
            "reference": "a",
            "comparison": None,
            "outcome": "able",
            "prediction": "hired",
            "favorable": 1,
            **roles,
        }
    )


def both(**roles):
    return asked(protected=["race", "sex"], reference=("a", "m"), **roles)


def values(table, column="value"):
    return {record["group"]: record[column] for record in table}


def assert_same(found, expected):
    """Words exactly, numbers to rounding: sums are added up in different orders."""
    for one, other in zip(found, expected, strict=True):
        assert list(one) == list(other)
        for column in one:
            if isinstance(other[column], float):
                assert one[column] == pytest.approx(other[column], rel=1e-9, abs=1e-12), column
            else:
                assert one[column] == other[column], column


def row(table, **where):
    (record,) = table.where(**where)
    return record


# --- the numbers of fairlearn --------------------------------------------------------------------


def frame_of(data, by, weights=None):
    """Fairlearn's metrics of the same decisions."""
    params = {name: {"sample_weight": data[weights]} for name in SAME} if weights else None
    return fairlearn.MetricFrame(
        metrics=SAME,
        y_true=data["able"],
        y_pred=data["hired"],
        sensitive_features=data[by],
        sample_params=params,
    )


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("by", ["race", "sex"])
def test_rates_of_groups_are_those_of_fairlearn(by, weights):
    data = applicants()
    model = asked(protected=by, reference=LEVELS[by][0], weights=weights)
    found, expected = cf.group_metrics(data, model), frame_of(data, by, weights)
    for metric in SAME:
        ours = values(found.table().where(metric=metric))
        theirs = expected.by_group[metric].to_dict()
        assert ours == pytest.approx(theirs, abs=1e-12), metric


@pytest.mark.parametrize("weights", [None, "w"])
def test_rates_of_intersections_are_those_of_fairlearn(weights):
    data = applicants()
    found = cf.group_metrics(data, both(weights=weights))
    expected = frame_of(data, ["race", "sex"], weights).by_group
    for metric in SAME:
        ours = values(found.table().where(by="race, sex", metric=metric))
        theirs = {", ".join(key): value for key, value in expected[metric].items()}
        assert ours == pytest.approx(theirs, abs=1e-12), metric


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("protected", ["race", ["race", "sex"]])
def test_differences_and_ratios_are_those_of_fairlearn(protected, weights):
    data = applicants()
    model = asked(weights=weights) if protected == "race" else both(weights=weights)
    by = "race" if protected == "race" else "race, sex"
    extremes = cf.group_metrics(data, model).extremes().where(by=by)
    frame = frame_of(data, protected, weights)
    for metric in SAME:
        ours = row(extremes, metric=metric)
        assert ours["difference"] == pytest.approx(frame.difference()[metric], abs=1e-12)
        assert ours["ratio"] == pytest.approx(frame.ratio()[metric], abs=1e-12)
    given = {
        "sensitive_features": data[protected],
        "sample_weight": None if weights is None else data[weights],
    }
    named = {
        ("selection_rate", "difference"): fairlearn.demographic_parity_difference,
        ("selection_rate", "ratio"): fairlearn.demographic_parity_ratio,
        ("equalized_odds", "difference"): fairlearn.equalized_odds_difference,
        ("equalized_odds", "ratio"): fairlearn.equalized_odds_ratio,
        ("tpr", "difference"): fairlearn.equal_opportunity_difference,
        ("tpr", "ratio"): fairlearn.equal_opportunity_ratio,
    }
    for (metric, kind), theirs in named.items():
        expected = theirs(data["able"], data["hired"], **given)
        assert row(extremes, metric=metric)[kind] == pytest.approx(expected, abs=1e-12)


def test_selection_of_the_favorable_zero_is_that_of_fairlearn():
    data = applicants()
    found = cf.group_metrics(data, asked(favorable=0))
    for group, people in data.groupby("race"):
        expected = fairlearn.selection_rate(people["able"], people["hired"], pos_label=0)
        assert found[group]["selection_rate"].value == pytest.approx(expected, abs=1e-12)
        tpr = fairlearn.true_positive_rate(people["able"], people["hired"], pos_label=0)
        assert found[group]["tpr"].value == pytest.approx(tpr, abs=1e-12)  # of the same value
    assert found.about["selection_rate"] == "hired = 0"
    assert found.about["tpr"] == "hired = 0 against able = 0"
    assert "a false negative rate of this table" in str(found)


@pytest.mark.parametrize("weights", [None, "w"])
def test_means_and_errors_of_a_regression_are_those_of_scikit_learn(weights):
    data = applicants()
    model = asked(outcome="output", prediction="score", weights=weights)
    found = cf.group_metrics(data, model)
    for group, people in data.groupby("race"):
        w = None if weights is None else people[weights]
        metrics = {name: each.value for name, each in found[group].items()}
        error = people["score"] - people["output"]
        assert metrics == pytest.approx(
            {
                "mean_prediction": np.average(people["score"], weights=w),
                "mean_outcome": np.average(people["output"], weights=w),
                "mean_error": np.average(error, weights=w),
                "rmse": root_mean_squared_error(people["output"], people["score"], sample_weight=w),
            },
            abs=1e-12,
        )


# --- intervals -----------------------------------------------------------------------------------


def test_intervals_are_those_of_the_counts():
    data = applicants()
    found = cf.group_metrics(data, asked(), level=0.9)
    counts = data.groupby("race")["hired"].agg(["sum", "count"])
    top = (counts["sum"] / counts["count"]).idxmax()
    reference = counts.loc["a"]
    for group in "bcd":
        x, n = counts.loc[group]
        rate = row(found.table(), group=group, metric="selection_rate")
        assert (rate["low"], rate["high"]) == pytest.approx(wilson_interval(x, n, 0.9))
        gap = row(found.gaps(), group=group, metric="selection_rate")
        assert gap["value"] == pytest.approx(x / n - reference["sum"] / reference["count"])
        assert (gap["low"], gap["high"]) == pytest.approx(
            added_people_interval(x, n, *reference, 0.9)
        )
        ratio = row(found.ratios(), group=group, metric="selection_rate")
        if group != top:
            expected = ratio_interval(x, n, *counts.loc[top], 0.9)
            assert (ratio["low"], ratio["high"]) == pytest.approx(expected)
    positives = data[(data["race"] == "b") & (data["able"] == 1)]
    tpr = row(found.table(), group="b", metric="tpr")
    assert tpr["people"] == len(positives)
    expected = wilson_interval(positives["hired"].sum(), len(positives), 0.9)
    assert (tpr["low"], tpr["high"]) == pytest.approx(expected)


def test_weights_shrink_the_number_of_people_to_its_effective_size():
    data = applicants()
    record = row(
        cf.group_metrics(data, asked(weights="w")).table(), group="b", metric="selection_rate"
    )
    people = data[data["race"] == "b"]
    size = people["w"].sum() ** 2 / (people["w"] ** 2).sum()
    share = np.average(people["hired"], weights=people["w"])
    assert record["people"] == len(people)
    assert record["effective"] == pytest.approx(size)
    assert (record["low"], record["high"]) == pytest.approx(
        wilson_interval(share * size, size, 0.95)
    )


def test_equal_weights_change_nothing():
    data = applicants().assign(two=2.0)
    plain, weighted = (
        cf.group_metrics(data, both(weights=name, prediction="score"), threshold=0.4)
        for name in (None, "two")
    )
    for table in ("table", "gaps", "ratios", "extremes", "screen", "calibration"):
        assert_same(*(getattr(each, table)() for each in (plain, weighted)))


def test_rates_and_gaps_of_a_known_world_are_covered():
    world = cf.datasets.worlds.binary()
    truth = world.true_means()
    rates = {"blue": truth[0, 0, 0], "green": truth[1, 1, 1]}
    draws, hits = 300, np.zeros(3, dtype=int)
    for seed in range(draws):
        found = cf.group_metrics(world.draw(400, seed=seed), world.model, favorable=1)
        for nth, (group, rate) in enumerate(rates.items()):
            measured = found[group]["selection_rate"]
            hits[nth] += measured.low <= rate <= measured.high
        (gap,) = found.gaps()
        hits[2] += gap["low"] <= rates["green"] - rates["blue"] <= gap["high"]
    fewest, most = fewest_and_most_hits(draws, comparisons=3)
    assert np.all((fewest <= hits) & (hits <= most)), hits


def test_without_any_path_there_is_no_gap():
    world = cf.datasets.worlds.binary()
    for path in ("direct", "indirect", "spurious"):
        world = world.without(path)
    found = cf.group_metrics(world.draw(20_000, seed=0), world.model, favorable=1)
    (gap,) = found.gaps()
    assert gap["low"] < 0 < gap["high"]
    assert not any(each["flagged"] for each in found.screen())


def many_groups(rng, rates, people=150):
    group = np.repeat(np.arange(len(rates)), people)
    return pa.table({"g": group, "y": (rng.random(len(group)) < np.asarray(rates)[group]) * 1})


@pytest.mark.parametrize("rates", [(0.4,) * 5, (0.3, 0.4, 0.45, 0.5, 0.55)])
def test_intervals_of_extremes_hold_for_whichever_groups_come_out_farthest_apart(rates):
    model = cf.StandardFairnessModel(protected="g", reference=0, comparison=None, outcome="y")
    rng, draws, hits = np.random.default_rng(5), 200, np.zeros(2, dtype=int)
    for _ in range(draws):
        (found,) = cf.group_metrics(many_groups(rng, rates), model).extremes()
        gap, ratio = max(rates) - min(rates), min(rates) / max(rates)
        hits[0] += found["difference_low"] <= gap <= found["difference_high"]
        hits[1] += found["ratio_low"] <= ratio <= found["ratio_high"]
        assert found["difference_low"] <= found["difference"] <= found["difference_high"]
    fewest, _ = fewest_and_most_hits(draws, comparisons=4)  # conservative: too often is no fault
    assert np.all(hits >= fewest), hits


def test_the_mean_of_one_person_is_of_unbounded_uncertainty():
    data = applicants()
    data.loc[0, "race"] = "alone"
    found = cf.group_metrics(data, asked(outcome="output", prediction="score"))
    alone = found["alone"]["mean_outcome"]
    assert (alone.value, alone.low, alone.high) == (data.loc[0, "output"], -np.inf, np.inf)
    assert "unbounded" in str(found.table())


def test_means_are_covered():
    rng = np.random.default_rng(2)
    model = cf.StandardFairnessModel(
        protected="g", reference=0, comparison=1, outcome="y", prediction="p", weights="w"
    )
    draws, hits = 400, np.zeros(3, dtype=int)
    for _ in range(draws):
        group = np.repeat([0, 1], [80, 160])
        y, p = rng.normal(group, 1.0), rng.normal(size=240)  # errors have variance 2 and group^2
        data = pa.table({"g": group, "y": y, "p": p, "w": rng.uniform(0.5, 1.5, 240)})
        found = cf.group_metrics(data, model)
        one, gaps = found[1], found.gaps()
        hits[0] += one["mean_outcome"].low <= 1 <= one["mean_outcome"].high
        hits[1] += one["rmse"].low <= np.sqrt(3) <= one["rmse"].high
        gap = row(gaps, metric="mean_error")
        hits[2] += gap["low"] <= -1 <= gap["high"]
    fewest, most = fewest_and_most_hits(draws, comparisons=3)
    assert np.all((fewest <= hits) & (hits <= most)), hits


# --- the screen ----------------------------------------------------------------------------------


def screened(**rates):
    """A screen of groups with so many selected of so many."""
    group = np.repeat(list(rates), [n for _, n in rates.values()])
    y = np.concatenate([np.arange(n) < x for x, n in rates.values()]).astype(int)
    model = cf.StandardFairnessModel(
        protected="g", reference=next(iter(rates)), comparison=None, outcome="y"
    )
    return cf.group_metrics(pa.table({"g": group, "y": y}), model, favorable=1)


def test_the_screen_flags_what_is_below_four_fifths_and_says_how_sure_it_is():
    found = screened(
        top=(500, 1000), far=(300, 1000), near=(16, 42), close=(41, 100), up=(480, 1000)
    )
    readings = {each["group"]: (each["flagged"], each["reading"]) for each in found.screen()}
    assert readings == {
        "top": (False, "not below"),
        "far": (True, "below"),
        "near": (True, "below, interval reaches 0.8"),
        "close": (False, "not below, interval reaches under 0.8"),
        "up": (False, "not below"),
    }
    said = " ".join(found.sentences())
    assert "2 of 5 groups below 0.8 of the highest rate, that of top (1,000 people): far" in said
    assert "both sides of 0.8 for close; near" in said
    assert "screen: it says where to look, and is no verdict" in said


def test_a_ratio_of_exactly_four_fifths_is_not_flagged():
    assert row(screened(a=(50, 100), b=(40, 100)).screen(), group="b")["flagged"] is False
    assert row(screened(a=(50, 100), b=(39, 100)).screen(), group="b")["flagged"] is True
    for n in range(2, 60):  # whatever the rounding of the two rates
        assert row(screened(a=(5, 5 * n), b=(4, 5 * n)).screen(), group="b")["flagged"] is False


def test_the_screen_says_how_often_chance_alone_would_flag():
    """As `screens` does, whose numbers are held against exact ones."""
    counts = {"a": (300, 1000), "b": (20, 90), "c": (18, 60), "d": (90, 300)}
    found = screened(**counts)
    data = pa.table(
        {
            "sex": [name for name, (_, size) in counts.items() for _ in range(size)],
            "y": [int(at < hits) for hits, size in counts.values() for at in range(size)],
        }
    )
    asked = {"columns": {"sex": "sex"}, "selected": "y", "favorable": 1}
    by_rule = cf.parity.screens.screen(data, "four_fifths", **asked)
    assert values(found.screen(), "by_chance") == values(by_rule.table(), "by_chance")
    some = by_rule.divisions[0]["any_by_chance"]
    assert {*values(found.screen(), "any_by_chance").values()} == {some}
    said = next(each for each in found.sentences() if each.startswith("Four-fifths"))
    chance = row(found.screen(), group="b")["by_chance"]
    assert said.endswith(
        f"Were all rates equal, chance alone would flag some group in {some:.0%} of tables with "
        f"groups of these sizes (b in {chance:.0%})."
    )
    assert f"{some:.0%} of tables" in str(found)
    assert f"{some:.0%} of tables" in found._repr_html_()
    assert f"{some:.0%} of tables" in cf.plots.rates_caption(found)
    turned = screened(**dict(reversed(counts.items())))
    assert values(turned.screen(), "by_chance") == values(found.screen(), "by_chance")
    nobody = screened(a=(0, 40), b=(0, 50))
    assert {*values(nobody.screen(), "by_chance").values()} == {None}


def test_where_nobody_is_selected_there_is_no_ratio():
    found = screened(a=(0, 40), b=(0, 50))
    for record in found.screen():
        assert (record["ratio"], record["flagged"]) == (None, None)
        assert record["reading"] == "not defined"
        assert record["remark"] == "the highest rate is 0"
    assert row(found.extremes(), metric="selection_rate")["ratio"] is None
    assert "not defined, since nobody is selected" in " ".join(found.sentences())


def test_a_group_of_which_nobody_is_selected_has_a_ratio_of_zero_with_an_upper_end():
    record = row(screened(a=(20, 40), b=(0, 50)).screen(), group="b")
    assert record["ratio"] == record["low"] == 0
    assert 0 < record["high"] < 0.3


# --- intersections and small groups --------------------------------------------------------------


def test_single_attributes_and_intersections_stand_side_by_side():
    data = applicants()
    found = cf.group_metrics(data, both())
    assert [part.by for part in found.partitions] == [("race",), ("sex",), ("race", "sex")]
    for by, reference in (("race", "a"), ("sex", "m")):
        alone = cf.group_metrics(data, asked(protected=by, reference=reference))
        for table in ("table", "gaps", "ratios", "extremes", "screen"):
            together = getattr(found, table)().where(by=by).to_records()
            assert together == getattr(alone, table)().to_records(), table
    gaps = found.gaps().where(by="race, sex", metric="tpr")
    assert {gap["reference"] for gap in gaps} == {"a, m"}
    assert len(gaps) == 7
    assert sum(values(found.screen().where(by="race, sex"), "people").values()) == len(data)


def test_small_groups_are_marked_and_never_left_out():
    data = applicants()
    data.loc[data.index[:2], ["race", "sex"]] = ["e", "f"]
    found = cf.group_metrics(data, both())
    table = found.table().where(metric="selection_rate")
    assert row(table, group="e, f")["people"] == 2
    assert row(table, group="e, f")["remark"] == "fewer than 30 people"
    assert row(table, by="race", group="b")["remark"] == ""
    assert "e, f *" in str(found)
    assert "Fewer than 30 people (*) by race, sex: e, f (2)." in " ".join(found.sentences())
    lenient = cf.group_metrics(data, both(), smallest=1)
    assert all(record["remark"] == "" for record in lenient.table().where(metric="selection_rate"))
    assert len(lenient.table()) == len(found.table())


def test_a_rate_of_nobody_is_none_and_says_so():
    data = applicants()
    data.loc[data["race"] == "d", "able"] = 0
    found = cf.group_metrics(data, asked())
    record = row(found.table(), group="d", metric="tpr")
    assert [record[name] for name in ("value", "low", "high")] == [None] * 3
    assert (record["people"], record["remark"]) == (0, "no such people")
    gap = row(found.gaps(), group="d", metric="tpr")
    assert (gap["value"], gap["low"], gap["remark"]) == (None, None, "no such people")
    assert row(found.ratios(), group="d", metric="tpr")["value"] is None
    nobody = data[data["race"] == "d"]
    assert fairlearn.true_positive_rate(nobody["able"], nobody["hired"]) == 0  # there: zero
    kept = data[data["race"] != "d"]
    expected = frame_of(kept, "race").difference()["tpr"]
    assert row(found.extremes(), metric="tpr")["difference"] == pytest.approx(expected)


def test_some_groups_can_be_asked_about_and_the_reference_is_among_them():
    data = applicants()
    found = cf.group_metrics(data, asked(), groups=["b"])
    assert found.partitions[0].groups == ("a", "b")
    inside = data["race"].isin(["a", "b"])
    assert found.account.used == inside.sum()
    assert found.account.outside == (~inside).sum()
    scores = cf.group_metrics(data, asked(prediction="score"), groups=["b"])
    median = data.loc[inside, "score"].median()
    expected = (data.loc[data["race"] == "b", "score"] > median).mean()
    assert scores["b"]["selection_rate"].value == pytest.approx(expected)
    pair = cf.group_metrics(data, both(), groups=[("b", "f"), ("c", "m")])
    assert [part.groups for part in pair.partitions] == [(("a", "m"), ("b", "f"), ("c", "m"))]
    assert any("single attributes are left out" in note for note in pair.notes)


def test_everyone_else_is_the_reference_where_the_model_says_so():
    data = applicants()
    found = cf.group_metrics(data, asked(reference=None, comparison="c"))
    (gap,) = found.gaps().where(metric="selection_rate")
    inside = data["race"] == "c"
    sides = [data.loc[side, "hired"] for side in (inside, ~inside)]
    assert (gap["group"], gap["reference"]) == ("c", "everyone else")
    assert gap["value"] == pytest.approx(sides[0].mean() - sides[1].mean())
    counts = (x for side in sides for x in (side.sum(), len(side)))
    assert (gap["low"], gap["high"]) == pytest.approx(added_people_interval(*counts, 0.95))
    assert len(found.screen()) == 4
    assert any("everyone else together" in note for note in found.notes)
    data.loc[data.index[:50], "race"] = None
    known = data[data["race"].notna()]
    found = cf.group_metrics(data, asked(reference=None, comparison="c"), missing="category")
    (gap,) = found.gaps().where(metric="selection_rate")
    sides = [known.loc[(known["race"] == "c") == side, "hired"].mean() for side in (True, False)]
    assert gap["value"] == pytest.approx(sides[0] - sides[1])  # not the unknown


# --- scores and calibration ----------------------------------------------------------------------


def test_scores_are_screened_at_the_pooled_median():
    data = applicants()
    found = cf.group_metrics(data, asked(prediction="score"))
    median = data["score"].median()
    expected = (data["score"] > median).groupby(data["race"]).mean().to_dict()
    assert values(found.table().where(metric="selection_rate")) == pytest.approx(expected)
    means = data.groupby("race")["score"].mean().to_dict()
    assert values(found.table().where(metric="mean_score")) == pytest.approx(means)
    below = cf.group_metrics(data, asked(prediction="score", favorable=0))
    expected = (data["score"] < median).groupby(data["race"]).mean().to_dict()
    assert values(below.table().where(metric="selection_rate")) == pytest.approx(expected)
    assert "tpr" not in found["a"]
    assert "say from where on with threshold=..." in found.absent["tpr"]


def test_a_threshold_turns_scores_into_decisions():
    data = applicants()
    data["at_least"] = (data["score"] >= 0.45).astype(int)
    by_score = cf.group_metrics(data, asked(prediction="score"), threshold=0.45)
    by_decision = cf.group_metrics(data, asked(prediction="at_least"))
    for metric in SAME:
        one, other = (
            found.table().where(metric=metric).to_records() for found in (by_score, by_decision)
        )
        assert one == other
    assert by_score.about["selection_rate"] == "score at or above 0.45"
    exact = cf.group_metrics(
        data.assign(score=data["score"].round(1)), asked(prediction="score"), threshold=0.4
    )
    expected = (data["score"].round(1) >= 0.4)[data["race"] == "b"].mean()
    assert exact["b"]["selection_rate"].value == pytest.approx(expected)


def test_calibration_counts_what_comes_true_in_bins_of_the_pooled_score():
    data = applicants(1_000)
    found = cf.group_metrics(data, asked(prediction="score"), bins=4, level=0.9)
    cuts = quantiles(data["score"].to_numpy(), None, [0.25, 0.5, 0.75])
    nth = np.searchsorted(cuts, data["score"])
    assert np.bincount(nth).tolist() == [250] * 4
    error = 0.0
    for at in range(4):
        people = data[(nth == at) & (data["race"] == "b")]
        record = row(found.calibration(), group="b", bin=at + 1)
        assert record["people"] == len(people)
        assert record["mean_score"] == pytest.approx(people["score"].mean())
        assert record["observed_rate"] == pytest.approx(people["able"].mean())
        expected = wilson_interval(people["able"].sum(), len(people), 0.9)
        assert (record["low"], record["high"]) == pytest.approx(expected)
        error += len(people) * abs(people["able"].mean() - people["score"].mean())
    whole = found["b"]["calibration_error"]
    assert whole.value == pytest.approx(error / (data["race"] == "b").sum())
    assert (whole.low, whole.high) == (None, None)
    off = data.loc[data["race"] == "b"]
    assert found["b"]["mean_error"].value == pytest.approx((off["score"] - off["able"]).mean())


def test_a_score_that_means_what_it_says_is_calibrated_in_every_group():
    rng = np.random.default_rng(3)
    score = rng.random(40_000)
    data = pa.table(
        {
            "g": (score + rng.normal(size=40_000) > 0.6).astype(int),
            "s": score,
            "y": (rng.random(40_000) < score).astype(int),
        }
    )
    model = cf.StandardFairnessModel(
        protected="g", reference=0, comparison=1, outcome="y", prediction="s"
    )
    found = cf.group_metrics(data, model)
    held = [each["low"] <= each["mean_score"] <= each["high"] for each in found.calibration()]
    fewest, most = fewest_and_most_hits(20, comparisons=1)
    assert fewest <= sum(held) <= most
    for group in (0, 1):
        assert found[group]["calibration_error"].value < 0.015  # 0.003 by sampling alone
        low, high = found[group]["mean_error"][1:3]
        assert low < 0 < high


def test_tied_scores_make_fewer_bins_and_a_note():
    compas = cf.datasets.load_compas(frame="pandas")
    model = cf.StandardFairnessModel(
        protected="race",
        reference="Caucasian",
        comparison=None,
        outcome="two_year_recid",
        prediction="decile_score",
    )
    found = cf.group_metrics(compas, model)
    assert any("9 bins for calibration instead of 10" in note for note in found.notes)
    assert any("no chances between 0 and 1" in note for note in found.notes)
    records = found.calibration().where(group="Asian")
    assert sum(record["people"] for record in records) == 31
    empty = row(records, bin=4)
    assert (empty["observed_rate"], empty["remark"]) == (None, "no such people")
    constant = cf.group_metrics(compas.assign(decile_score=5), model, favorable=0)
    assert len(constant.calibration().where(group="Asian")) == 1
    assert constant["Asian"]["selection_rate"].value == 0


def test_weighted_quantiles_are_those_of_repeated_people():
    rng = np.random.default_rng(4)
    x, times = rng.normal(size=30).round(1), rng.integers(1, 5, 30)
    shares = np.linspace(0, 1, 11)
    repeated = np.repeat(x, times)
    expected = np.quantile(repeated, shares, method="averaged_inverted_cdf")
    assert quantiles(x, times.astype(float), shares) == pytest.approx(expected)
    assert quantiles(repeated, None, shares) == pytest.approx(expected)
    assert quantiles(repeated, None, [0.5])[0] == pytest.approx(np.median(repeated))


# --- what the data may hold ----------------------------------------------------------------------


def test_without_a_prediction_rates_are_those_of_the_outcome():
    data = applicants()
    found = cf.group_metrics(data, asked(prediction=None))
    expected = data.groupby("race")["able"].mean().to_dict()
    assert values(found.table().where(metric="selection_rate")) == pytest.approx(expected)
    assert set(found["a"]) == {"selection_rate"}
    assert found.absent["tpr"] == found.absent["calibration"] == "the model names no prediction"
    assert "rates are those of the outcome itself" in str(found)
    with pytest.raises(OutcomeError, match="no calibration: the model names no prediction"):
        found.calibration()
    with pytest.raises(RoleError, match=r"threshold=0\.5 .* names no prediction"):
        cf.group_metrics(data, asked(prediction=None), threshold=0.5)


def test_without_an_outcome_there_are_selection_rates_only():
    found = cf.group_metrics(applicants(), asked(outcome=None))
    assert set(found["a"]) == {"selection_rate"}
    assert found.absent["fpr"] == "the model names no outcome"
    scored = cf.group_metrics(
        applicants(), asked(outcome=None, prediction="score", favorable="higher")
    )
    assert set(scored["a"]) == {"selection_rate", "mean_score"}


def test_numeric_outcomes_have_no_rates_and_say_why():
    data = applicants()
    found = cf.group_metrics(data, asked(outcome="output", prediction="score"))
    for table in (found.screen, found.ratios):
        with pytest.raises(OutcomeError, match=r"outcome is numeric \(from .*threshold=\.\.\."):
            table()
    with pytest.raises(OutcomeError, match="not 0 or 1"):
        found.calibration()
    assert len(found.gaps()) == 3 * 4
    assert row(found.extremes(), metric="rmse")["ratio"] is None
    assert "Mean prediction by race" in str(found)
    alone = cf.group_metrics(data, asked(outcome="output", prediction=None))
    assert set(alone["a"]) == {"mean_outcome"}
    with pytest.raises(OutcomeError, match="name the outcome_value that counts"):
        alone.screen()
    decided = cf.group_metrics(data, asked(outcome="output"))
    assert set(decided["a"]) == {"selection_rate", "mean_outcome"}
    selected = cf.group_metrics(data, asked(outcome="output", prediction="score"), threshold=0.5)
    assert {"selection_rate", "rmse"} < set(selected["a"])


def test_labels_count_by_the_outcome_value():
    data = applicants()
    words = data.assign(
        able=np.where(data["able"] == 1, "yes", "no"),
        hired=np.where(data["hired"] == 1, "yes", "no"),
    )
    found = cf.group_metrics(words, asked(outcome_value="yes"))
    assert found.table().to_records() == cf.group_metrics(data, asked()).table().to_records()
    assert found.about["selection_rate"] == "hired = yes"
    turned = cf.group_metrics(words, asked(outcome_value="yes", favorable="no"))
    assert turned.about["selection_rate"] == "not hired = yes"


def test_one_class_of_several_can_be_asked_about():
    data = applicants()
    several = data.assign(able=data["able"] + 2 * (data["skill"] > 1), hired=data["hired"])
    found = cf.group_metrics(several, asked(outcome_value=2, favorable=2))
    people = several[several["race"] == "b"]
    expected = fairlearn.true_positive_rate((people["able"] == 2).astype(int), people["hired"])
    assert found["b"]["tpr"].value == pytest.approx(expected)
    assert found["b"]["base_rate"].value == pytest.approx((people["able"] == 2).mean())
    with pytest.raises(OutcomeError, match="outcome_value=2 asks for one class"):
        cf.group_metrics(several.assign(hired=several["able"]), asked(outcome_value=2, favorable=2))


@pytest.mark.parametrize("always", [0, 1])
def test_constant_predictions_are_reported_as_they_are(always):
    found = cf.group_metrics(applicants().assign(hired=always), asked())
    for group in "abcd":
        metrics = {name: each.value for name, each in found[group].items()}
        assert metrics["selection_rate"] == metrics["tpr"] == metrics["fpr"] == always
        assert metrics["npv" if always else "ppv"] is None
        assert metrics["ppv" if always else "npv"] is not None
    difference = row(found.extremes(), metric="selection_rate")
    assert difference["difference"] == difference["difference_low"] == 0
    str(found)


def test_one_group_alone_has_rates_and_nothing_to_compare_with():
    data = applicants()
    found = cf.group_metrics(data[data["race"] == "a"], asked())
    assert len(found.gaps()) == len(found.extremes()) == 0
    assert str(found.gaps()) == "(no rows)"
    assert "there is no other group to compare with" in str(found)
    assert row(found.screen(), group="a")["flagged"] is False
    found._repr_html_()


def test_a_function_predicts_from_the_columns_with_a_role():
    data = applicants()
    fitted = LogisticRegression().fit(data[["skill", "w"]], data["able"])
    model = asked(prediction=fitted.predict, mediators=["skill"], confounders=["w"])
    found = cf.group_metrics(data, model)
    expected = cf.group_metrics(data.assign(hired=fitted.predict(data[["skill", "w"]])), asked())
    assert found.table().to_records() == expected.table().to_records()
    assert found.about["selection_rate"] == "prediction = 1"
    chances = asked(
        prediction=lambda people: 1 / (1 + np.exp(-people["skill"])), mediators=["skill"]
    )
    assert "calibration_error" in cf.group_metrics(data, chances)["a"]
    with pytest.raises(PredictorError, match="which have no role"):
        cf.group_metrics(data, asked(prediction=fitted.predict))
    labelled = asked(
        prediction=lambda people: people["skill"], outcome_value=1, mediators=["skill"]
    )
    with pytest.raises(OutcomeError, match="asks for one class"):
        cf.group_metrics(data, labelled)


def test_columns_that_are_not_needed_may_have_gaps():
    data = applicants()
    data.loc[:10, "skill"] = np.nan
    found = cf.group_metrics(data, asked(mediators=["skill"]))
    assert found.table().to_records() == cf.group_metrics(data, asked()).table().to_records()


def test_missing_values_are_refused_dropped_or_a_group():
    data = applicants()
    data.loc[data.index[:7], "able"] = np.nan
    data.loc[data.index[5:9], "hired"] = np.nan
    with pytest.raises(MissingValuesError, match="'able': 7, 'hired': 4"):
        cf.group_metrics(data, asked())
    found = cf.group_metrics(data, asked(), missing="drop")
    assert found.account.used == len(data) - 9
    assert found.account.missing == {"able": 7, "hired": 4}
    lost = data.iloc[:9]["race"].value_counts().to_dict()
    assert found.account.dropped == lost
    assert "9 dropped for missing values" in str(found)
    clean = cf.group_metrics(data.iloc[9:], asked())
    assert found.table().to_records() == clean.table().to_records()
    with pytest.raises(MissingValuesError, match="a measurement cannot be a category"):
        cf.group_metrics(data, asked(), missing="category")
    unknown = applicants()
    unknown.loc[unknown.index[:40], "race"] = None
    with pytest.raises(MissingValuesError, match="'race': 40"):
        cf.group_metrics(unknown, asked())
    kept = cf.group_metrics(unknown, asked(), missing="category")
    assert row(kept.screen(), group="missing")["people"] == 40
    assert kept["missing"]["selection_rate"].value == unknown["hired"][:40].mean()


def test_rows_without_weight_count_for_nothing():
    data = applicants()
    data.loc[data.index[:20], "w"] = 0.0
    found = cf.group_metrics(data, asked(weights="w"))
    rest = cf.group_metrics(data.iloc[20:], asked(weights="w"))
    assert found.table().to_records() == rest.table().to_records()
    assert "20 rows of weight 0 count for nothing" in str(found)
    assert "effective number of people (Kish)" in str(found)
    with pytest.raises(WeightError, match="no row of the group 'a' has a positive weight"):
        cf.group_metrics(data.assign(w=data["w"] * (data["race"] != "a")), asked(weights="w"))


def test_numbers_name_groups_as_well_as_words():
    data = applicants().assign(
        race=lambda each: each["race"].map({c: n for n, c in enumerate("abcd")})
    )
    found = cf.group_metrics(data, asked(reference=0))
    words = cf.group_metrics(applicants(), asked())
    assert found[1] == words["b"]
    assert found["1"] == found[1]
    assert found.partitions[0].groups == (0, 1, 2, 3)


def test_all_forms_of_a_table_give_the_same_answer(tmp_path):
    data = pa.Table.from_pandas(applicants(200), preserve_index=False)
    expected = cf.group_metrics(data, both(weights="w")).table()
    for form in every_form(data, tmp_path).values():
        assert_same(cf.group_metrics(form, both(weights="w")).table(), expected)


# --- refusals ------------------------------------------------------------------------------------


def test_groups_that_are_not_there_are_refused_by_name():
    with pytest.raises(
        GroupNotFoundError, match=r"'zebra' has no rows: 'race' has the values a; b"
    ):
        cf.group_metrics(applicants(), asked(reference="zebra"))
    with pytest.raises(GroupNotFoundError, match="'b, f, x' has no rows"):
        cf.group_metrics(applicants(), both(), groups=[("b", "f", "x")])
    for bad in ("b", []):
        with pytest.raises(RoleError, match="groups is a list of at least one group"):
            cf.group_metrics(applicants(), asked(), groups=bad)
    gone = applicants()
    gone.loc[gone["race"] == "a", "able"] = np.nan
    with pytest.raises(GroupNotFoundError, match="every row of the group 'a' was dropped"):
        cf.group_metrics(gone, asked(), missing="drop")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"bins": 0}, "bins is a whole number of at least 1; found 0"),
    ],
)
def test_impossible_settings_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        cf.group_metrics(applicants(), asked(prediction="score"), **setting)


def test_an_unknown_or_ambiguous_group_is_named():
    data = applicants().assign(other=lambda each: np.where(each["sex"] == "f", "a", "z"))
    found = cf.group_metrics(data, asked(protected=["race", "other"], reference=("a", "z")))
    assert found[("b", "z")] == found["b, z"]
    with pytest.raises(KeyError, match="a group by race and by other"):
        found["a"]
    with pytest.raises(KeyError, match="no group 'q'; there are a; b"):
        found["q"]


# --- how it is shown -----------------------------------------------------------------------------


def test_tables_become_frames():
    found = cf.group_metrics(applicants(), both(prediction="score"), threshold=0.4)
    for table in (found.table(), found.gaps(), found.extremes(), found.screen()):
        pandas, polars = table.to_pandas(), table.to_polars()
        assert len(pandas) == len(polars) == len(table)
        assert list(pandas.columns) == polars.columns == list(table.to_records()[0])
    with pytest.raises(KeyError, match="no column is named 'metrc'"):
        found.table().where(metrc="tpr")


def test_a_missing_number_late_in_a_table_is_no_trouble_for_any_frame():
    data = applicants(2_000)
    data["race"] = np.arange(2_000) % 40
    data.loc[data["race"] < 30, "able"] = 0
    found = cf.group_metrics(data, asked(reference=0))
    assert found.table().where(metric="tpr").to_polars()["value"].null_count() == 30
    assert found.table().where(metric="tpr").to_pandas()["value"].isna().sum() == 30


def test_the_page_says_what_matters_and_gives_no_verdict():
    for found in (
        cf.group_metrics(applicants(), both(prediction="score", weights="w"), threshold=0.4),
        cf.group_metrics(applicants(), asked(outcome="output", prediction="score")),
    ):
        page = str(found)
        assert "they say that groups differ, not why" in page
        assert "rows: 600 rows read, 600 used" in page
        assert not re.search(r"\b(un)?fair", page, re.IGNORECASE)
        assert page == repr(found)


def test_names_from_data_cannot_break_the_page():
    data = applicants()
    data["race"] = data["race"].replace("b", "<script>alert(1)</script>")
    html = cf.group_metrics(data, asked())._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_the_order_of_rows_does_not_matter():
    data = applicants()
    mixed = data.sample(frac=1, random_state=0)
    model = both(prediction="score", weights="w")
    one, other = (cf.group_metrics(each, model, threshold=0.4) for each in (data, mixed))
    assert_same(one.table(), other.table())
    assert_same(one.calibration(), other.calibration())


def test_a_large_constant_in_the_outcome_changes_no_standard_error():
    data = applicants()
    model = asked(outcome="output", prediction=None)
    near = cf.group_metrics(data, model)["b"]["mean_outcome"]
    far = cf.group_metrics(data.assign(output=data["output"] + 1e6), model)["b"]["mean_outcome"]
    assert far.high - far.low == pytest.approx(near.high - near.low, rel=1e-6)


def test_models_can_be_asked_again_for_another_reference():
    data = applicants()
    model = asked()
    turned = cf.group_metrics(data, replace(model, reference="b")).gaps()
    there = row(cf.group_metrics(data, model).gaps(), group="b", metric="tpr")
    back = row(turned, group="a", metric="tpr")
    assert (back["value"], back["low"], back["high"]) == pytest.approx(
        (-there["value"], -there["high"], -there["low"])
    )


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), "0.6"])
def test_a_threshold_is_a_finite_number_wherever_it_is_taken(threshold):
    model = cf.StandardFairnessModel(
        protected="race", reference="Caucasian", comparison=None, prediction="decile_score"
    )
    with pytest.raises(RoleError, match=r"threshold=.*expected a finite number"):
        cf.group_metrics(cf.datasets.load_compas(), model, threshold=threshold)
    with pytest.raises(RoleError, match=r"threshold=.*expected a finite number"):
        auditee_of(lambda people: people["age"], threshold)
