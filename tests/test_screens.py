"""Statistical screens: the arithmetic of the rules, counted by hand, and rules that are data."""

import json
from fractions import Fraction
from importlib.resources import files
from itertools import product
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import causalfairness as cf
from causalfairness.errors import (
    ColumnNotFoundError,
    MissingValuesError,
    OutcomeError,
    RoleError,
)
from causalfairness.inference import ratio_interval, wilson_interval
from causalfairness.parity import screens
from forms import every_form

BY_SEX = {"sex": "sex"}
BOTH = {"sex": "sex", "race": "race"}
AUDIT = "nyc_local_law_144"


def people(counts, **more):
    """One row per person; `counts` holds for each category (people, selected)."""
    names = list(counts)
    sizes = [size for size, _ in counts.values()]
    hired = [[1] * hits + [0] * (size - hits) for size, hits in counts.values()]
    return pa.table(
        {"sex": np.repeat(names, sizes).tolist(), "hired": [one for row in hired for one in row]}
        | more
    )


def crossed(counts):
    """One row per person; `counts` holds (people, selected) for each pair of sex and race."""
    rows = [
        (sex, race, int(at < hits))
        for (sex, race), (size, hits) in counts.items()
        for at in range(size)
    ]
    sex, race, hired = zip(*rows, strict=True)
    return pa.table({"sex": sex, "race": race, "hired": hired})


class Part(SimpleNamespace):
    """One division of a screen: `part["F"].ratio` is a number of one category."""

    def __init__(self, part):
        rows = tuple(SimpleNamespace(**row) for row in part["categories"])
        super().__init__(**part | {"categories": rows})

    def __getitem__(self, group):
        return {each.group: each for each in self.categories}[group]


def parts(found):
    return tuple(map(Part, found.divisions))


def screened(counts, rule="four_fifths", **more):
    return screens.screen(
        people(counts), rule, columns=BY_SEX, selected="hired", favorable=1, **more
    )


# --- the numbers --------------------------------------------------------------------------------


def test_rates_ratios_and_intervals_are_those_of_the_counts():
    (part,) = parts(screened({"Female": (40, 12), "Male": (80, 48)}))
    women, men = part.categories
    assert (women.people, women.selected, women.rate, women.ratio) == (40, 12, 0.3, 0.5)
    assert women.share == 40 / 120
    assert (women.rate_low, women.rate_high) == tuple(wilson_interval(12, 40, 0.95))
    assert (women.ratio_low, women.ratio_high) == tuple(ratio_interval(12, 40, 48, 80, 0.95))
    # Katz by hand: log 0.5 -+ 1.96 sqrt(1/12 - 1/40 + 1/48 - 1/80)
    reach = 1.959964 * np.sqrt(1 / 12 - 1 / 40 + 1 / 48 - 1 / 80)
    assert women.ratio_low == pytest.approx(0.5 * np.exp(-reach), abs=1e-6)
    assert women.ratio_high == pytest.approx(0.5 * np.exp(reach), abs=1e-6)
    assert (men.rate, men.ratio, men.ratio_low, men.ratio_high) == (0.6, 1.0, None, None)
    assert part.highest == ("Male",)


def test_a_level_moves_the_intervals_and_nothing_else():
    wide, narrow = (screened({"F": (40, 12), "M": (80, 48)}, level=x) for x in (0.99, 0.5))
    one, other = parts(wide)[0]["F"], parts(narrow)[0]["F"]
    assert one.ratio == other.ratio
    assert one.ratio_low < other.ratio_low
    assert one.rate_high > other.rate_high


def test_the_four_fifths_screen_flags_below_four_fifths_and_says_where_the_interval_lies():
    found = screened({"a": (1000, 500), "b": (1000, 300), "c": (1000, 395), "d": (1000, 490)})
    (part,) = parts(found)
    flags = {each.group: (each.flagged, each.reading) for each in part.categories}
    assert flags == {
        "a": (False, None),
        "b": (True, "below"),
        "c": (True, "below, interval reaches 0.8"),
        "d": (False, "not below"),
    }
    assert found.flagged == (("sex", "b"), ("sex", "c"))
    assert "2 of 4 groups below 0.8 of the highest rate: b; c." in str(found)
    assert "Intervals reach both sides of 0.8 for c." in str(found)
    row = found.table().where(group="c").to_records()[0]
    assert (row["flagged"], row["reading"]) == (True, "below, interval reaches 0.8")


@pytest.mark.parametrize(
    ("women", "men"),
    [((100, 28), (100, 35)), ((20, 12), (20, 15)), ((20, 3), (160, 30)), ((20, 6), (160, 60))],
)
def test_four_fifths_exactly_is_not_below(women, men):
    found = screened({"F": women, "M": men})
    assert parts(found)[0]["F"].ratio == 0.8
    assert found.flagged == ()


def test_a_rule_without_a_threshold_flags_nothing_and_says_so():
    found = screened({"F": (100, 1), "M": (100, 90)}, AUDIT)
    assert found.flagged == ()
    assert [each.flagged for each in parts(found)[0].categories] == [None, None]
    assert all(row["by_chance"] is row["reading"] is None for row in found.table())
    assert not {"flagged", "reading", "chance"} & {*str(found.table()).split()}
    assert "sets no threshold for the impact ratio" in str(found)
    for words in ("pass", "compliant", "unfair", "violat"):
        assert words not in " ".join(found.sentences()).replace("neither passes nor", "")


def test_every_screen_says_that_it_is_no_verdict():
    for rule in screens.bundled_rules():
        assert (
            screened({"F": (50, 9), "M": (50, 10)}, rule)
            .sentences()[-1]
            .startswith("This is a screen, not a verdict")
        )


# --- corners ------------------------------------------------------------------------------------


def test_categories_that_share_the_highest_rate_are_named_and_the_largest_is_held_against():
    (part,) = parts(screened({"a": (50, 20), "b": (500, 200), "c": (400, 80)}))
    a, b, c = part.categories
    assert part.highest == ("a", "b")
    assert a.ratio == b.ratio == 1.0
    assert b.ratio_low is None
    assert (a.ratio_low, a.ratio_high) == tuple(ratio_interval(20, 50, 200, 500, 0.95))
    assert (c.ratio_low, c.ratio_high) == tuple(ratio_interval(80, 400, 200, 500, 0.95))
    said = screened({"a": (50, 20), "b": (500, 200)}).sentences()[0]
    assert said.startswith("By sex: the highest selection rate is that of a, 0.400 (0.2")
    assert "; b, 0.400 (0.3" in said


def test_rates_that_only_look_equal_after_rounding_are_not_shared():
    (part,) = parts(screened({"a": (3, 1), "b": (30_000, 9_999)}))
    assert part.highest == ("a",)


def test_where_nobody_is_selected_there_are_rates_and_no_ratios():
    found = screened({"F": (40, 0), "M": (60, 0)})
    (part,) = parts(found)
    assert part.highest == ()
    assert [(e.rate, e.ratio, e.flagged) for e in part.categories] == [(0.0, None, None)] * 2
    assert part["F"].rate_high > 0
    assert "no selection rate above 0 is left to compare" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_category_of_whom_nobody_is_selected_has_ratio_zero_and_a_bounded_interval():
    women = parts(screened({"F": (40, 0), "M": (60, 30)}))[0]["F"]
    assert (women.ratio, women.flagged) == (0.0, True)
    assert women.ratio_low == 0.0
    assert 0 < women.ratio_high < 1


def test_a_single_category_is_compared_with_nobody():
    found = screened({"F": (40, 10)})
    (only,) = parts(found)[0].categories
    assert (only.rate, only.ratio, only.flagged) == (0.25, 1.0, None)
    assert only.remark == "no other category to compare with"
    assert found.flagged == ()
    assert "no other category to compare with" in str(found)


def test_few_people_are_marked():
    (part,) = parts(screened({"F": (29, 10), "M": (30, 10)}))
    assert (part["F"].remark, part["M"].remark) == ("fewer than 30 people", "")


# --- who is left out ----------------------------------------------------------------------------


def test_a_category_under_two_percent_has_a_rate_and_a_count_but_no_ratio():
    counts = {"a": (900, 300), "b": (81, 27), "c": (19, 19)}
    found = screened(counts, AUDIT, justification="too few to estimate")
    (part,) = parts(found)
    left_out = part["c"]
    assert (part.excluded, left_out.people, left_out.rate) == (("c",), 19, 1.0)
    assert (left_out.ratio, left_out.ratio_low, left_out.ratio_high) == (None, None, None)
    assert left_out.share == 0.019
    assert part.highest == ("a", "b")  # nobody is held against a category that is left out
    assert part["b"].ratio == 1.0
    (row,) = found.table().where(group="c").to_records()
    assert (row["people"], row["rate"], row["ratio"]) == (19, 1.0, None)
    assert row["remark"] == "excluded: under 2% of the people; fewer than 30 people"
    assert "Excluded from the ratios by sex, as the rule allows: c 1.000 (0.8" in str(found)
    assert "Justification: too few to estimate" in str(found)
    assert "Justification: none was given" in str(screened(counts, AUDIT))


def test_two_percent_exactly_is_kept():
    (part,) = parts(screened({"a": (980, 300), "c": (20, 10)}, AUDIT))
    assert part.excluded == ()


def test_small_categories_may_be_kept_and_the_result_says_so():
    found = screened({"a": (990, 300), "c": (10, 10)}, AUDIT, exclude_small=False)
    assert parts(found)[0].highest == ("c",)
    assert parts(found)[0].excluded == ()
    assert any("small categories were kept" in note for note in found.notes)


def test_where_every_category_is_small_nothing_is_compared():
    found = screened({f"group {at:02}": (10, 5) for at in range(60)}, AUDIT)
    assert parts(found)[0].highest == ()
    assert all(each.ratio is None for each in parts(found)[0].categories)
    assert "no selection rate above 0 is left to compare" in str(found)


def test_the_four_fifths_screen_leaves_nobody_out():
    (part,) = parts(screened({"a": (990, 300), "c": (10, 10)}))
    assert (part.highest, part.excluded) == (("c",), ())


def test_people_without_a_category_are_counted_and_left_out():
    sex = ["F", "M", None, "F", "M", "no answer", "M"]
    race = ["x", None, "x", "y", "y", "y", "x"]
    data = pa.table({"sex": sex, "race": race, "hired": [1, 0, 1, 0, 1, 1, 1]})
    asked = {"columns": BOTH, "selected": "hired", "favorable": 1, "exclude_small": False}
    found = screens.screen(data, AUDIT, **asked, unknown=["no answer"])
    unknown = {", ".join(part.by): part.unknown for part in parts(found)}
    assert unknown == {"sex": 2, "race": 1, "sex, race": 3}
    by_sex, by_race, both = parts(found)
    assert [(e.group, e.people, e.selected) for e in by_sex.categories] == [
        ("F", 2, 1),
        ("M", 3, 2),
    ]
    assert [(e.group, e.people, e.selected) for e in by_race.categories] == [
        ("x", 3, 3),
        ("y", 3, 2),
    ]
    assert [(e.group, e.people) for e in both.categories] == [
        ("F, x", 1), ("F, y", 1), ("M, x", 1), ("M, y", 1)
    ]  # fmt: skip
    assert by_sex["F"].share == 2 / 5
    assert "Not included by sex because the category is not known: 2 people." in str(found)
    assert parts(screens.screen(data, AUDIT, **asked))[0].unknown == 1


def test_rows_without_a_decision_are_refused_or_dropped_and_counted():
    data = pa.table({"sex": ["F", "M", "M"], "hired": [1, None, 0]})
    with pytest.raises(MissingValuesError, match="'hired': 1"):
        screens.screen(data, "four_fifths", columns=BY_SEX, selected="hired", favorable=1)
    found = screens.screen(
        data, "four_fifths", columns=BY_SEX, selected="hired", favorable=1, missing="drop"
    )
    assert (found.account.read, found.account.used) == (3, 2)
    assert "1 dropped for missing values" in str(found)


# --- scores and intersections -------------------------------------------------------------------


def test_scores_are_held_against_the_median_of_everyone_also_of_those_without_a_category():
    sex = ["F", "F", "F", "M", "M", "M", None, None]
    data = pa.table({"sex": sex, "score": [1.0, 2.0, 5.0, 3.0, 5.0, 6.0, 9.0, 9.0]})
    found = screens.screen(data, AUDIT, columns=BY_SEX, score="score", favorable="higher")
    assert (found.measure, found.median) == ("scoring rate", 5.0)
    counted = [(each.group, each.selected, each.people) for each in parts(found)[0].categories]
    assert counted == [("F", 0, 3), ("M", 1, 3)]  # above the median, not at it
    assert "above the pooled median of 5" in str(found)


def test_intersections_are_those_of_both_attributes():
    counts = {
        ("Female", "Black"): (100, 20),
        ("Female", "White"): (200, 60),
        ("Male", "Black"): (150, 45),
        ("Male", "White"): (250, 125),
    }
    found = screens.screen(crossed(counts), AUDIT, columns=BOTH, selected="hired", favorable=1)
    by_sex, by_race, both = parts(found)
    assert by_sex["Female"].ratio == pytest.approx((80 / 300) / (170 / 400))
    assert by_race["Black"].ratio == pytest.approx((65 / 250) / (185 / 450))
    assert both.by == ("sex", "race")
    for pair, (size, hits) in counts.items():
        assert both[", ".join(pair)].ratio == pytest.approx((hits / size) / 0.5)
    found = screens.screen(
        crossed(counts), "four_fifths", columns=BOTH, selected="hired", favorable=1
    )
    assert [part.by for part in parts(found)] == [("sex",), ("race",)]


def test_the_screen_of_adult_agrees_with_group_metrics():
    adult = cf.datasets.load_adult()
    model = cf.StandardFairnessModel(
        protected="race", reference="White", comparison=None, outcome="income", outcome_value=">50K"
    )
    plain = cf.group_metrics(adult, model, favorable=">50K").screen()
    _, found = parts(
        screens.screen(adult, "four_fifths", columns=BOTH, selected="income", favorable=">50K")
    )
    for row in plain:
        each = found[row["group"]]
        assert (each.people, each.ratio, each.flagged) == pytest.approx(
            (row["people"], row["ratio"], row["flagged"])
        )
        if each.ratio_low is not None:
            assert (each.ratio_low, each.ratio_high) == pytest.approx((row["low"], row["high"]))


def test_every_form_of_the_data_gives_the_same_screen(tmp_path):
    data = crossed({pair: (30, 7 + 3 * at) for at, pair in enumerate(product("fm", "xyz"))})
    found = {
        name: screens.screen(form, AUDIT, columns=BOTH, selected="hired", favorable=1).to_dict()
        for name, form in every_form(data, tmp_path / "forms").items()
    }
    first = next(iter(found.values()))
    assert all(each == first for each in found.values())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([AUDIT, "four_fifths"]),
)
def test_whatever_the_counts_ratios_are_those_of_whole_numbers(counts, rule):
    named = {f"g{at}": pair for at, pair in enumerate(counts)}
    found = screened(named, rule)
    (part,) = parts(found)
    kept = [each for each in part.categories if each.group not in part.excluded]
    top = max((Fraction(each.selected, each.people) for each in kept), default=Fraction(0))
    assert part.people == sum(size for size, _ in counts)
    for each in part.categories:
        share = Fraction(each.selected, each.people)
        assert each.rate_low <= each.rate <= each.rate_high
        if each not in kept or not top:
            assert each.ratio is None
            continue
        assert each.ratio == float(share / top)
        assert (each.group in part.highest) == (share == top)
        if each.ratio_low is not None:
            assert each.ratio_low <= each.ratio <= each.ratio_high
        if rule == "four_fifths" and len(kept) > 1:
            assert each.flagged == (share / top < Fraction(4, 5))
    json.dumps(found.to_dict(), allow_nan=False)
    assert len(found.table()) == len(counts)


# --- what chance alone would do ------------------------------------------------------------------


def chances_by_hand(sizes, rate, threshold):
    """Exactly, of each group and of any: sums over all shares, with products over the others."""
    support = [binom.pmf(np.arange(size + 1), size, rate) for size in sizes]

    def held(at, low, high):
        """The chance that the share of a group lies between two fractions, ends included."""
        first, last = -(-low * sizes[at] // 1), high * sizes[at] // 1
        return support[at][int(first) : int(last) + 1].sum()

    each, others = [], [[j for j in range(len(sizes)) if j != k] for k in range(len(sizes))]
    for k, size in enumerate(sizes):
        clear = (  # nobody is so far above that k is flagged
            chance * np.prod([held(j, 0, min(Fraction(x, size) / threshold, 1)) for j in others[k]])
            for x, chance in enumerate(support[k])
        )
        each.append(1 - sum(clear))
    tops = sorted({Fraction(x, size) for size in sizes for x in range(size + 1)})
    everyone = range(len(sizes))
    below = [0, *tops[:-1]]
    none = 0.0  # the highest share is `top`, and nobody is flagged
    for top, under in zip(tops, below, strict=True):
        up_to = np.prod([held(j, top * threshold, top) for j in everyone])
        less = np.prod([held(j, top * threshold, under) for j in everyone]) if top else 0.0
        none += up_to - less
    return each, 1 - none


@pytest.mark.parametrize("sizes", [(40, 25, 60), (12, 12, 30, 50)])
def test_how_often_chance_alone_flags_is_what_can_be_counted_exactly(sizes):
    """Within 3.5 standard errors of 10,000 draws; the pooled rate is the one that was asked for."""
    selected = [size // 2 for size in sizes]
    rate = sum(selected) / sum(sizes)
    named = {f"g{at}": pair for at, pair in enumerate(zip(sizes, selected, strict=True))}
    (part,) = parts(screened(named))
    each, some = chances_by_hand(sizes, rate, Fraction(4, 5))
    for found, exact in zip([*part.categories], each, strict=True):
        assert abs(found.by_chance - exact) < 3.5 * np.sqrt(exact * (1 - exact) / 10_000)
    assert abs(part.any_by_chance - some) < 3.5 * np.sqrt(some * (1 - some) / 10_000)


FIVE = {"a": (900, 270), "b": (300, 90), "c": (150, 45), "d": (90, 27), "e": (60, 12)}


def test_of_five_groups_with_one_rate_chance_flags_some_in_seven_of_ten_tables():
    """A million other draws with a rate of .3 say .714; 10,000 are within .016 of that."""
    found = screened(FIVE | {"e": (60, 18)})
    assert found.flagged == ()
    assert parts(found)[0].any_by_chance == pytest.approx(0.714, abs=0.016)
    assert "Were all rates equal, chance alone would flag some group in 71% of" in str(found)
    found = screened(FIVE)
    assert found.flagged == (("sex", "e"),)
    chance = parts(found)[0]["e"].by_chance
    assert f"with groups of these sizes (e in {chance:.0%})." in str(found)
    assert found.table().where(group="e").to_records()[0]["by_chance"] == chance
    assert json.loads(json.dumps(found.to_dict()))["divisions"][0]["any_by_chance"] > 0.6


def test_what_chance_does_is_the_same_in_any_order_of_groups_and_rows():
    names, (first,) = [*FIVE], parts(screened(FIVE))
    assert screened(FIVE).to_dict() == screened(FIVE).to_dict()
    rows = people(FIVE)
    shuffled = rows.take(np.random.default_rng(1).permutation(rows.num_rows))
    again = screens.screen(shuffled, "four_fifths", columns=BY_SEX, selected="hired", favorable=1)
    assert again.to_dict() == screened(FIVE).to_dict()
    for order in ("edcba", "cabed"):
        (part,) = parts(
            screened({name: FIVE[other] for name, other in zip(names, order, strict=True)})
        )
        assert part.any_by_chance == first.any_by_chance
        for name, other in zip(names, order, strict=True):
            assert part[name].by_chance == first[other].by_chance
    alike = parts(screened({"a": (50, 10), "b": (200, 40), "c": (50, 15)}))[0]
    assert alike["a"].by_chance == alike["c"].by_chance


def test_chance_is_about_the_categories_that_are_compared(tmp_path):
    path = tmp_path / "own.toml"
    text = files("causalfairness.parity.screens").joinpath("rules/four_fifths.toml").read_text()
    path.write_text(text.replace("ratio_below", "share_below = 0.02\nratio_below"), "utf-8")
    counts = {"a": (600, 200), "b": (400, 100)}
    (with_few,) = parts(screened(counts | {"few": (10, 10)}, path))
    (without,) = parts(screened(counts, path))
    assert with_few.excluded == ("few",)
    assert with_few["few"].by_chance is None
    assert with_few.any_by_chance == without.any_by_chance
    (alone,) = parts(screened({"F": (40, 10)}))
    assert (alone.any_by_chance, alone["F"].by_chance) == (None, None)


# --- refusals -----------------------------------------------------------------------------------

HIRED = pa.table({"sex": ["F", "M"], "hired": ["no", "yes"], "score": [1.0, np.inf]})


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({}, RoleError, "give exactly one"),
        ({"selected": "hired", "score": "score"}, RoleError, "give exactly one"),
        (
            {"score": "hired", "favorable": "higher"},
            OutcomeError,
            "'hired' is neither binary nor numeric",
        ),
        ({"score": "score", "favorable": "lower"}, OutcomeError, "'score' holds infinite values"),
        ({"score": "score"}, RoleError, "with favorable='higher' or 'lower'"),
        ({"score": "score", "favorable": 1}, RoleError, "whichever people want"),
        ({"selected": "hired"}, RoleError, "with the value that people want"),
        ({"selected": "hired", "favorable": "Yes"}, OutcomeError, "its values are 'no', 'yes'"),
        ({"selected": "hird", "favorable": "yes"}, ColumnNotFoundError, "did you mean 'hired'"),
        (
            {"selected": "hired", "favorable": "yes", "columns": {}},
            RoleError,
            "expected the column of each attribute",
        ),
        (
            {"selected": "hired", "favorable": "yes", "columns": {"age": "sex"}},
            RoleError,
            "it has sex, race",
        ),
        (
            {"selected": "hired", "favorable": "yes", "columns": ["sex"]},
            RoleError,
            "it has sex, race",
        ),
        (
            {"selected": "hired", "favorable": "yes", "columns": {"sex": "gender"}},
            ColumnNotFoundError,
            "gender",
        ),
        ({"selected": "hired", "favorable": "yes", "unknown": "F"}, RoleError, "expected a list"),
        (
            {"selected": "hired", "favorable": "yes", "unknown": ["F", "M"]},
            OutcomeError,
            "the category of nobody is known by sex",
        ),
        ({"selected": "hired", "favorable": "yes", "level": 95}, ValueError, "level"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(asked, error, says):
    with pytest.raises(error, match=says):
        screens.screen(HIRED, "four_fifths", **{"columns": BY_SEX} | asked)


def test_values_that_the_rule_does_not_name_are_taken_as_they_are_and_said():
    found = screened({"female": (50, 10), "Divers": (50, 10)}, AUDIT)
    assert any("the rule does not name Divers: values" in note for note in found.notes)
    assert any("also divides people by race; by sex and race" in note for note in found.notes)


def test_hostile_names_are_inert_in_a_notebook():
    page = screened({"<script>alert(1)</script>": (50, 10), "M": (50, 20)})._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
