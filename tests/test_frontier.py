"""Predictors that may use some paths only, against worlds whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.adaptation import LinearQuantiles
from causalfairness.datasets import worlds
from causalfairness.estimators import Regression
from causalfairness.parity import audit_coordinates
from causalfairness.parity.frontier.measures import judge
from judging import graph_of

LINE, PLAIN = LinearQuantiles(), LinearRegression()
DEFAULT = ["nothing", "spurious", "indirect", "spurious + indirect", "everything"]
WORLD = worlds.linear_gaussian(direct=0.5, indirect=0.6)
BOTH = [{"spurious"}, {"spurious", "indirect"}]


def frontier_of(world, n=4_000, seed=0, **choices):
    chosen = {"learner": LINE, "estimator": PLAIN, "repetitions": 2, "seed": seed} | choices
    return cf.frontier(
        world.draw(n, seed=seed, frame="pandas"), world.model, graph_of(world), **chosen
    )


@pytest.fixture(scope="module")
def found():
    return frontier_of(WORLD, seed=2)


# --- closed forms --------------------------------------------------------------------------------


def test_each_allowed_path_adds_its_own_effect_to_the_gap_in_scores(found):
    """All on the same test rows, so that only fitted coefficients differ from the truth.

    A shift of a mediator has a standard error of about 0.03 / 0.7 for 2,800 training rows, and
    counts 0.8 times; the direct effect likewise.
    """
    truth = WORLD.true_effects()
    gap = {point.name: point.mean("spm") for point in found}
    error = 0.03 / np.sqrt(0.7)
    assert gap["spurious + indirect"] - gap["spurious"] == pytest.approx(
        truth["indirect"], abs=3 * 0.8 * error
    )
    assert gap["everything"] - gap["spurious + indirect"] == pytest.approx(
        truth["direct"], abs=3 * error
    )
    # means of scores with a sd of 1.2 in groups of about 700 and 500 test rows, twice over
    chance = 1.2 * np.sqrt(1 / 700 + 1 / 500)
    assert abs(gap["nothing"]) < 3 * chance
    assert abs(gap["spurious"] - truth["spurious"]) < 3 * chance


def test_without_the_spurious_path_only_what_leads_through_mediators_is_left(found):
    """The confounders' own share goes: 0.7 and -0.4 times how far the groups' means differ."""
    people = WORLD.draw(200_000, seed=1, frame="pandas")
    means = people.groupby("group")[["c1", "c2"]].mean()
    own = (means.loc["green"] - means.loc["blue"]) @ [0.7, -0.4]
    gap = {point.name: point.mean("spm") for point in found}
    # transported confounders meet the reference group's up to 0.05 each
    assert gap["spurious + indirect"] - gap["indirect"] == pytest.approx(own, abs=3 * 0.05 * 0.8)


def test_at_equal_scores_outcomes_differ_by_what_was_removed():
    """y = score + what was removed + noise; within bins scores still drift, by less than 0.05."""
    found = frontier_of(WORLD, n=6_000, bins=20)
    truth = WORLD.true_effects()
    removed = {
        "everything": 0.0,
        "spurious + indirect": truth["direct"],
        "spurious": truth["direct"] + truth["indirect"],
    }
    # 20 bins of 90 test rows, outcomes with a sd of 1 about the score
    error = 2 / np.sqrt(1_800)
    for name, gap in removed.items():
        assert found[name].mean("ippm") == pytest.approx(gap, abs=3 * error + 0.05)
    assert found["nothing"].mean("ippm") > found["spurious"].mean("ippm")


@pytest.mark.parametrize("path", ["indirect", "direct"])
def test_a_path_that_is_not_there_is_not_missed(path):
    everything = {"spurious", "indirect", "direct"}
    fewer, more = BOTH if path == "indirect" else (BOTH[1], everything)
    found = frontier_of(WORLD.without(path), allowed=[fewer, more])
    apart = found[more].mean("spm") - found[fewer].mean("spm")
    assert abs(apart) < 3 * 0.03 / np.sqrt(0.7)


class Unmoved:
    """A learner under which nothing ever changes: deliberately wrong."""

    def fit(self, causes, values, *, edges, seed):
        return self

    def rank(self, causes, values):
        return values

    def quantile(self, causes, ranks):
        return ranks


def test_an_adapter_that_moves_nothing_removes_nothing(found):
    wrong = frontier_of(WORLD, learner=Unmoved(), allowed=BOTH)
    assert wrong["spurious"].values == wrong["spurious + indirect"].values
    assert wrong["spurious"].mean("spm") > found["spurious"].mean("spm") + 0.5


def test_a_yes_or_no_outcome_is_judged_by_its_chances():
    world = worlds.binary()
    people = world.draw(3_000, seed=0)
    found = cf.frontier(people, world.model, repetitions=2)
    assert found.measures == ("spm", "ippm", "absolute_ippm", "accuracy", "auc")
    sizes = [abs(found[name].mean("spm")) for name in ("nothing", "everything")]
    # shares of 540 and 360 test rows, twice over
    assert sizes[0] < 0.5 * np.sqrt(1 / 540 + 1 / 360) * 2 < sizes[1]
    assert 0.5 < found["everything"].mean("auc") < 1


def test_measures_are_those_of_a_calculation_by_hand():
    score = np.array([0.1, 0.2, 0.6, 0.9, 0.1, 0.7, 0.8, 0.9])
    outcome = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    group = np.repeat([0, 1], 4).astype(np.int8)
    judged = judge(score, outcome, group, bins=2, binary=True)
    # bins: up to 0.65 and beyond; reference 1/3 and 0, comparison 0 and 2/3
    assert judged.values["spm"] == pytest.approx(2.5 / 4 - 1.8 / 4)
    assert judged.values["ippm"] == pytest.approx((2 / 3 - 1 / 3) / 2)
    assert judged.values["absolute_ippm"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert judged.values["accuracy"] == 4 / 8
    pairs = [(a > b) + 0.5 * (a == b) for a in score[outcome == 1] for b in score[outcome == 0]]
    assert judged.values["auc"] == pytest.approx(np.mean(pairs))
    numbers = judge(score, score + [0.1, -0.1] * 4, group, bins=2, binary=False).values
    assert numbers["mse"] == pytest.approx(0.01)
    assert numbers["r2"] == pytest.approx(1 - 0.01 / np.var(score + [0.1, -0.1] * 4))


def test_a_chance_of_one_half_is_a_yes():
    score, yes = np.array([0.5, 0.2, 0.5, 0.2]), np.array([1.0, 0.0, 1.0, 0.0])
    judged = judge(score, yes, np.array([0, 0, 1, 1], dtype=np.int8), bins=2, binary=True)
    assert judged.values["accuracy"] == 1


def test_a_bin_with_one_group_only_is_not_compared():
    score, group = np.arange(8.0), np.repeat([0, 0, 1, 1], 2).astype(np.int8)
    group[3] = 1
    judged = judge(score, np.array([0, 0, 0, 5.0, 0, 0, 0, 0]), group, bins=4, binary=False)
    assert judged.one_sided == 3
    assert judged.values["ippm"] == 5
    with pytest.raises(cf.errors.OverlapError, match="people of both groups"):
        judge(score, score, (score > 3).astype(np.int8), bins=4, binary=False)
    with pytest.raises(cf.errors.OverlapError, match=r"8 values, each of one group.*bins=4"):
        judge(score, score, (score % 2).astype(np.int8), bins=10, binary=False)
    by_twos = judge(score, score, (score % 2).astype(np.int8), bins=4, binary=False)
    assert by_twos.values["ippm"] == 1


# --- two coordinates -----------------------------------------------------------------------------


def test_effects_that_cancel_show_on_the_mediators_that_people_have():
    """With M = b A + ... and a prediction of t m~: direct = -t b, indirect = +t b."""
    world = worlds.linear_gaussian(direct=0.5, indirect=1.0)
    found = audit_coordinates(
        world.draw(3_000, seed=1),
        world.model,
        graph_of(world),
        learner=LINE,
        estimator=PLAIN,
        effects=Regression(),
        seed=1,
    )
    truth, own = world.true_effects()["spurious"], 0.8 * 1.0
    # standard errors know of people, not of the shift, which three predictors find to 0.05
    shift = 0.8 * 0.05
    for effect, value in (
        (found.original.direct, -own),
        (found.original.indirect, own),
        (found.original.spurious, truth),
        (found.adapted.direct, 0.0),
        (found.adapted.indirect, 0.0),
        (found.adapted.spurious, truth),
    ):
        assert abs(effect.value - value) < 3 * np.hypot(effect.standard_error, shift), effect.name
        assert effect.standard_error < 0.06
    both = found.original.direct + found.original.indirect
    assert abs(both.value) < 3 * np.hypot(both.standard_error, shift)
    assert found.original.total.value == pytest.approx(found.adapted.total.value, abs=1e-12)


def test_with_mediators_kept_both_coordinates_are_the_same():
    found = audit_coordinates(
        WORLD.draw(900, seed=0),
        WORLD.model,
        graph_of(WORLD),
        allowed={"spurious", "indirect"},
        learner=LINE,
        estimator=PLAIN,
        effects=Regression(replicates=20),
    )
    assert found.to_records()[:4] == [
        record | {"columns": "as people have them"} for record in found.to_records()[4:]
    ]
    said = str(found)
    assert "as people have them" in said.splitlines()[1]
    assert "cancel in the sum" in said
    assert "not seen them" in said


# --- the same answer -----------------------------------------------------------------------------


def test_the_answer_depends_on_the_seed_and_on_nothing_else():
    forest = RandomForestRegressor(5)
    choices = {"n": 300, "estimator": forest, "allowed": BOTH}
    one = frontier_of(WORLD, **choices)
    again = frontier_of(WORLD, **choices, workers=2)
    assert [point.values for point in one] == [point.values for point in again]
    assert forest.random_state is None
    alone = frontier_of(WORLD, **choices | {"allowed": BOTH[1:]})
    assert alone[BOTH[1]].values == one[BOTH[1]].values  # the same splits for every set
    people = WORLD.draw(300, seed=0, frame="pandas")
    other = cf.frontier(people, WORLD.model, learner=LINE, repetitions=2, allowed=BOTH[1:], seed=1)
    assert other[BOTH[1]].values != one[BOTH[1]].values


def test_frames_of_all_libraries_and_groups_by_other_names_give_the_same():
    people = WORLD.draw(300, seed=0, frame="pandas")
    model = replace(WORLD.model, prediction=lambda frame: 1 / 0)  # of no concern here
    settings = {"learner": LINE, "repetitions": 2, "allowed": BOTH[:1]}
    expected = [point.values for point in cf.frontier(people, model, **settings)]
    two = people.assign(sort=np.where(people["group"] == "blue", "x", "z"))
    several = replace(
        model, protected=["group", "sort"], reference=("blue", "x"), comparison=("green", "z")
    )
    pooled = people.copy()
    greens = pooled.index[pooled["group"] == "green"]
    pooled.loc[greens[::2], "group"] = "lime"
    for data, asked in (
        (WORLD.draw(300, seed=0, frame="polars"), model),
        (WORLD.draw(300, seed=0), model),
        (pooled, replace(model, comparison=None)),
        (two, several),
    ):
        assert [point.values for point in cf.frontier(data, asked, **settings)] == expected
    turned = cf.frontier(
        pooled, replace(model, reference=None, comparison="blue"), **settings | {"allowed": [set()]}
    )
    assert turned.reference == "everyone else"


def test_rows_of_neither_group_are_left_aside_and_counted():
    people = WORLD.draw(500, seed=0, frame="pandas")
    more = people.copy()
    more.loc[more.index[:30], "group"] = "gray"
    settings = {"learner": LINE, "repetitions": 2, "allowed": BOTH[1:]}
    found = cf.frontier(more, WORLD.model, **settings)
    fewer = cf.frontier(people[30:], WORLD.model, **settings)
    assert [point.values for point in found] == [point.values for point in fewer]
    assert "30 of other groups left aside" in str(found)


# --- what is asked and what is said --------------------------------------------------------------


def test_sets_say_what_they_mean_and_single_mediators_have_names():
    world = worlds.ten_confounders()
    m1, m2 = world.model.mediators
    found = frontier_of(
        world,
        n=600,
        allowed=[{"spurious"}, ["spurious", m2], {"first", "spurious"}],
        named={"first": [m1]},
    )
    assert [point.name for point in found] == ["spurious", f"spurious + {m2}", "spurious + first"]
    one = found["spurious + first"].allowed
    assert (one.adapted, m1 in one.stay, one.transported) == ((m2,), True, ())
    assert one.meaning.startswith(f"removed: the direct path; adapted: {m2}; as they are: c1")
    assert found[["first", "spurious"]] is found["spurious + first"]
    with pytest.raises(KeyError, match="no set of allowed paths is 'everything'"):
        found["everything"]


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("confounders", ["nothing", "indirect", "everything"]),
        ("mediators", ["nothing", "spurious", "everything"]),
    ],
)
def test_paths_that_a_model_does_not_have_are_not_asked_about(role, names):
    model = replace(WORLD.model, **{role: ()})
    found = cf.frontier(WORLD.draw(300, seed=0), model, learner=LINE, repetitions=2)
    assert [point.name for point in found] == names


def test_the_result_says_all_there_is_to_say(found):
    assert [point.name for point in found] == DEFAULT
    said = " ".join(str(found).split())
    for words in (
        "mean (sd) over 2 splits, 1,200 rows held out",
        "It is no standard error",
        "no counterfactual, since the group does not cause them",
        "1 for green and 0 for blue",
        "assumes: every arrow",
        "nothing: removed: the direct path; adapted: m1; transported: c1, c2",
        "Closest to statistical parity (SPM 0) with nothing allowed",
        "Closest to predictive parity (iPPM 0) with everything allowed",
        "A trade-off: no set is farther",
        "R^2, by the outcome as it was, goes from",
    ):
        assert words in said
    assert "fair" not in said
    table = found.table()
    assert table.where(allowed="spurious").records[0]["spm_sd"] == found["spurious"].sd("spm")
    assert len(found.to_pandas()) == len(found.to_polars()) == len(found) == 5
    assert "<table>" in found._repr_html_()
    values = found["spurious"].values["spm"]
    assert found["spurious"].sd("spm") == pytest.approx(abs(values[0] - values[1]) / np.sqrt(2))
    with pytest.raises(KeyError, match="no measure is named 'auc'"):
        found["spurious"].mean("auc")


def test_a_set_behind_another_in_both_respects_is_named(found):
    near, far = found["spurious"], found["nothing"]
    worse = replace(far, values=near.values | dict.fromkeys(("spm", "ippm"), (9.0, 9.1)))
    said = " ".join(replace(found, points=(near, worse)).sentences())
    assert "farther from both kinds of parity than another: nothing lies behind spurious" in said
    # farther on average, but not by more than splits differ
    close = near.values | {
        name: (values[0] + 0.3, values[1] - 0.2) for name, values in near.values.items()
    }
    said = " ".join(replace(found, points=(near, replace(far, values=close))).sentences())
    assert "A trade-off: no set is farther" in said


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ([{"spurius"}], "'spurius' is no path"),
        ([{"c1"}], "'c1' is no path"),
        (["spurious"], "write {'spurious'}"),
        ("spurious", r"write \[{'spurious'}\]"),
        ([{"direct"}], "allow {'direct', 'spurious', 'indirect'}"),
        ([{"spurious"}, ["spurious"]], "'spurious' twice"),
        ([], "empty list"),
    ],
)
def test_sets_that_mean_nothing_are_refused(allowed, words):
    with pytest.raises(cf.errors.PathError, match=words):
        frontier_of(WORLD, n=200, allowed=allowed)


PEOPLE = WORLD.draw(200, seed=0, frame="pandas")
LACKING = PEOPLE.assign(c1=PEOPLE["c1"].where(PEOPLE["c1"] < 1))
NAMELESS = PEOPLE.assign(group=PEOPLE["group"].where(np.arange(200) % 5 > 0))


@pytest.mark.parametrize(
    ("data", "changes", "choices", "error", "words"),
    [
        (PEOPLE, {"outcome": None, "prediction": "y"}, {}, "RoleError", "names none"),
        (PEOPLE, {"weights": "c2", "confounders": ["c1"]}, {}, "RoleError", "rows count by 'c2'"),
        (PEOPLE, {"confounders": (), "mediators": ()}, {}, "RoleError", "neither confounders"),
        (PEOPLE, {"comparison": "red"}, {}, "GroupNotFoundError", "'red' has no rows"),
        (PEOPLE[:30], {}, {}, "TooFewRowsError", "rows, at least 10 are needed"),
        (LACKING, {}, {}, "MissingValuesError", "'c1' has"),
        (NAMELESS, {"comparison": None}, {}, "MissingValuesError", "'group' has 40"),
        (PEOPLE.assign(y=1.0), {}, {}, "OutcomeError", "1 for everyone"),
        (PEOPLE.drop(columns="m1"), {}, {}, "ColumnNotFoundError", "m1"),
        (PEOPLE, {}, {"estimator": LogisticRegression()}, "LearnerError", "'y' is a number"),
        (PEOPLE, {}, {"estimator": LinearRegression}, "LearnerError", "unfitted scikit-learn"),
        (PEOPLE, {}, {"named": {"indirect": ["m1"]}}, "PathError", "a path or a column already"),
    ],
)
def test_what_cannot_be_asked_is_refused(data, changes, choices, error, words):
    with pytest.raises(getattr(cf.errors, error), match=words):
        cf.frontier(data, replace(WORLD.model, **changes), repetitions=2, **choices)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"repetitions": 1}, "repetitions must be a whole number, at least 2; found 1"),
        ({"holdout": 1.5}, "holdout is the share"),
        ({"bins": 0}, "bins must be a whole number"),
        ({"workers": 0}, "workers must be 1 or more"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(choices, words):
    with pytest.raises(ValueError, match=words):
        cf.frontier(PEOPLE, WORLD.model, **choices)


def test_a_graph_that_contradicts_the_model_is_refused():
    for text, words in (
        ("group -> c1; {group, c1, c2} -> m1; {group, m1, c2} -> y", "attribute causes it"),
        ("{c1, c2} -> m1; {group, m1} -> y", "'m1' is a mediator of the model"),
    ):
        with pytest.raises(cf.errors.RoleError, match=words):
            cf.frontier(PEOPLE, WORLD.model, cf.CausalGraph.parse(text))
    with pytest.raises(cf.errors.UnknownNodeError):
        cf.frontier(PEOPLE, WORLD.model, cf.CausalGraph.parse("group -> y"))


def test_an_audit_of_rows_as_they_are_is_refused():
    with pytest.raises(cf.errors.PathError, match="one set of coordinates only"):
        audit_coordinates(PEOPLE, WORLD.model, allowed={"direct", "indirect", "spurious"})
    with pytest.raises(ValueError, match="folds must be a whole number"):
        audit_coordinates(PEOPLE, WORLD.model, folds=1)
    with pytest.raises(cf.errors.TooFewRowsError, match="test rows"):
        audit_coordinates(PEOPLE[:40], WORLD.model, folds=5)
