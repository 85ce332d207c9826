"""Questions that make no sense for the data at hand, and what is said about them."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import (
    EmptyCellsError,
    GroupNotFoundError,
    MissingValuesError,
    OutcomeError,
    OverlapError,
    PredictorError,
    RoleError,
    WeightError,
)
from causalfairness.estimators import DoublyRobust, Strata
from forms import every_form, in_memory_and_lazy, lending, loans

BY_COUNTS_AND_BY_ROWS = (Strata(), DoublyRobust())


def refused(frame, model, error, said, **options):
    """Every form of data, read as cells and as rows, is refused with the same words."""
    for name, data in in_memory_and_lazy(frame).items():
        for estimator in BY_COUNTS_AND_BY_ROWS:
            with pytest.raises(error) as caught:
                cf.decompose_disparity(data, model, estimator=estimator, **options)
            assert said in str(caught.value), (name, estimator, str(caught.value))


# --- groups --------------------------------------------------------------------------------------


def test_a_group_that_is_not_there_is_refused_with_those_that_are():
    refused(
        loans(),
        lending(comparison="B"),
        GroupNotFoundError,
        "the comparison group 'B' has no rows: 'group' has the values 'a'; 'b'; 'c'. Give one",
    )
    refused(
        loans(),
        lending(reference="z"),
        GroupNotFoundError,
        "the reference group 'z' has no rows",
    )


@pytest.mark.parametrize("given", ["1", 7, 1.5, "a"])
def test_numbers_and_words_are_not_the_same_group(given):
    frame = loans().assign(group=lambda d: d.group.map({"a": 0, "b": 1, "c": 2}))
    said = f"the comparison group {given!r} has no rows: 'group' has the values 0; 1; 2."
    refused(frame, lending(reference=0, comparison=given), GroupNotFoundError, said)
    words = frame.assign(group=frame.group.astype(str))
    said = "the comparison group 1 has no rows: 'group' has the values '0'; '1'; '2'."
    refused(words, lending(reference="0", comparison=1), GroupNotFoundError, said)


@pytest.mark.parametrize("one", [1, 1.0, True, np.int8(1), np.float32(1), np.True_])
def test_one_is_one_however_it_is_written(one):
    frame = loans().assign(group=lambda d: (d.group == "b").astype(int))
    expected = cf.decompose_disparity(frame, lending(reference=0, comparison=1)).total.value
    for kind in (int, float, bool):
        stored = frame.astype({"group": kind})
        model = lending(reference=0, comparison=one)
        assert cf.decompose_disparity(stored, model).total.value == expected


def test_an_intersectional_group_that_is_not_there_is_refused_with_those_that_are():
    frame = loans().assign(sex=1)
    model = lending(protected=["group", "sex"], reference=("a", 1), comparison=("b", 0))
    said = "the comparison group 'b', 0 has no rows: 'group', 'sex' has the values 'a', 1; 'b', 1;"
    refused(frame, model, GroupNotFoundError, said)


def test_everyone_else_needs_somebody_else():
    frame = loans().query("group == 'a'")
    said = "the comparison group is everyone else, but 'group' has no other known value"
    refused(frame, lending(comparison=None), GroupNotFoundError, said)


def test_a_table_without_rows_has_no_groups(tmp_path):
    said = "the reference group has no rows: the table has no rows, or all were dropped"
    refused(loans().iloc[:0].astype({"group": str}), lending(), GroupNotFoundError, said)
    loans().iloc[:0].to_csv(tmp_path / "header.csv", index=False)
    with pytest.raises(OutcomeError, match="column 'y' holds no value at all"):
        cf.decompose_disparity(tmp_path / "header.csv", lending())
    for estimator in BY_COUNTS_AND_BY_ROWS:
        frame = loans().astype({"c": float}).assign(c=math.nan)
        with pytest.raises(GroupNotFoundError):
            cf.decompose_disparity(frame, lending(), missing="drop", estimator=estimator)


def test_a_group_whose_every_row_was_dropped_is_refused_as_that():
    frame = loans().astype({"c": float})
    frame.loc[frame.group == "b", "c"] = np.nan
    said = "every row of the comparison group 'b' was dropped for missing values"
    refused(frame, lending(), GroupNotFoundError, said, missing="drop")


def test_a_group_of_one_person_is_refused_because_one_person_does_not_vary():
    frame = loans()
    frame.loc[0, "group"] = "alone"
    with pytest.raises(OverlapError, match="comparison group has 1 row; at least 2 are needed"):
        cf.decompose_disparity(frame, lending(comparison="alone"), estimator=Strata())


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_the_worst_one_sided_cells_are_named_by_their_own_values(kind):
    frame = loans().assign(c=lambda d: d.c.map({0: "rural", 1: "town"}))
    if kind == "numbers":
        frame["c"] = frame.c.map({"rural": 10.5, "town": 20.0})
    frame = frame[(frame.group != "b") | (frame.c != frame.c.max()) | (frame.m != 1)]
    named = f"c={'town' if kind == 'words' else '20'}, m=1"
    for data in in_memory_and_lazy(frame).values():
        with pytest.raises(EmptyCellsError, match=f"for instance {named} "):
            cf.decompose_disparity(data, lending(), estimator=Strata())


# --- outcomes ------------------------------------------------------------------------------------


def test_an_outcome_in_words_needs_the_word_that_counts():
    frame = loans().assign(y=lambda d: d.y.map({0: "denied", 1: "granted"}))
    said = (
        "column 'y' is neither binary nor numeric; say which value counts with "
        "outcome_value=..., one of 'denied', 'granted'"
    )
    refused(frame, lending(), OutcomeError, said)


@pytest.mark.parametrize("value", ["yes", 1, True, 0.5])
def test_a_value_that_does_not_occur_is_refused_with_those_that_do(value):
    frame = loans().assign(y=lambda d: d.y.map({0: "denied", 1: "granted"}))
    said = f"outcome_value={value!r} does not occur in column 'y'; its values are 'denied', 'gra"
    refused(frame, lending(outcome_value=value), OutcomeError, said)


@pytest.mark.parametrize("value", ["1", "yes", 2, -1])
@pytest.mark.parametrize("kind", [int, float, bool])
def test_a_word_is_not_looked_for_among_numbers(value, kind):
    said = f"outcome_value={value!r} does not occur in column 'y'; its values are 0, 1 (numbers wi"
    refused(loans().astype({"y": kind}), lending(outcome_value=value), OutcomeError, said)


def test_one_class_of_several_is_counted(tmp_path):
    frame = loans().assign(
        grade=lambda d: np.where(d.y == 1, "high", np.where(d.m == 1, "low", "none")),
        level=lambda d: np.where(d.y == 1, 3, d.m),
    )
    expected = cf.decompose_disparity(frame, lending()).total.value
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for name, data in every_form(table, tmp_path).items():
        for column, value in (("grade", "high"), ("level", 3), ("level", 3.0)):
            model = lending(outcome=column, outcome_value=value)
            found = cf.decompose_disparity(data, model).total.value
            assert found == expected, (name, column)


@pytest.mark.parametrize("constant", [0, 1, 0.1, -2.5e-7, 1e9, True])
def test_an_outcome_that_never_varies_has_no_gap(constant):
    said = f"column 'y' has the same value ({constant:g}) in every row of both groups"
    refused(loans().assign(y=constant), lending(), OutcomeError, said)
    varies_elsewhere = loans().assign(y=lambda d: np.where(d.group == "c", d.y + 7, constant))
    refused(varies_elsewhere, lending(), OutcomeError, said)
    weighed = loans().assign(y=constant, w=lambda d: 0.1 + d.index % 7)
    refused(weighed, lending(weights="w"), OutcomeError, said)
    varies_without_weight = loans().assign(
        w=lambda d: d.index % 2, y=lambda d: np.where(d.index % 2, constant, d.y + 7)
    )
    refused(varies_without_weight, lending(weights="w"), OutcomeError, said)


def test_a_small_variation_beside_large_values_is_still_one():
    frame = loans().assign(y=lambda d: 1e6 + d.y * 10)
    found = cf.decompose_disparity(frame, lending()).total
    expected = cf.decompose_disparity(loans(), lending()).total
    assert found.value == pytest.approx(expected.value * 10, abs=1e-8)
    plain, tenfold = (np.linalg.norm(each.spread) for each in (expected, found))
    assert tenfold == pytest.approx(10 * plain, rel=1e-4)  # amounts and yes/no add people otherwise


def test_a_variation_that_sums_of_squares_cannot_show_is_refused_where_sums_are_used():
    frame = loans().assign(y=lambda d: 1e6 + d.y * 1e-3)
    for data in in_memory_and_lazy(frame).values():
        with pytest.raises(OutcomeError, match=r"'y' lie around 1e\+06 .* subtract a constant"):
            cf.decompose_disparity(data, lending(), estimator=Strata())
    by_rows = cf.decompose_disparity(frame, lending(), estimator=DoublyRobust()).total
    expected = cf.decompose_disparity(loans(), lending()).total
    assert by_rows.value == pytest.approx(expected.value * 1e-3, abs=1e-9)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.inf, "column 'y' holds infinite values; remove or cap them"),
        (-math.inf, "column 'y' holds infinite values; remove or cap them"),
        (1e300, "column 'y' has values of size 1e+300, beyond what squares can be computed of"),
    ],
)
def test_outcomes_beyond_arithmetic_are_refused(value, said):
    frame = loans().astype({"y": float})
    frame.loc[3, "y"] = value
    refused(frame, lending(), OutcomeError, said)
    refused(loans().assign(y=lambda d: d.y * 1e-100), lending(), OutcomeError, "size 1e-100")


def test_scores_outside_zero_and_one_are_no_answer_about_one_class():
    frame = loans().assign(score=lambda d: d.index / 100, label="granted")
    model = lending(outcome="label", outcome_value="granted", prediction="score")
    said = "the prediction column 'score' is numeric with values from 0 to 3.99, but outcome_value="
    refused(frame, model, OutcomeError, said, of="prediction")
    deciles = frame.assign(score=lambda d: d.index % 11)
    said = "the prediction column 'score' is numeric with values from 0 to 10"
    refused(deciles, model, OutcomeError, said, of="prediction")


def test_a_question_without_a_column_is_refused():
    cases = [
        (lending(outcome=None, prediction="y"), "outcome", RoleError, "names no outcome column"),
        (lending(), "prediction", RoleError, "names no prediction"),
        (
            lending(),
            "forecast",
            RoleError,
            "of must be 'outcome' or 'prediction'; found 'forecast'",
        ),
    ]
    for model, of, error, said in cases:
        refused(loans(), model, error, said, of=of)
    predicts = lending(prediction=lambda frame: [0.5] * len(frame))
    refused(
        loans(),
        predicts,
        PredictorError,
        "the prediction is a model, not a column",
        of="prediction",
    )


@pytest.mark.parametrize("ask", [cf.decompose_disparity, cf.compare_groups])
def test_misspelled_choices_are_refused_with_the_right_spellings(ask):
    with pytest.raises(
        ValueError, match="convention must be 'sequential' or 'symmetric'; found 'x'"
    ):
        ask(loans(), lending(), convention="x")
    with pytest.raises(
        MissingValuesError, match=r"missing must be one of .*'drop'.*; found 'skip'"
    ):
        ask(loans(), lending(), missing="skip")


# --- weights -------------------------------------------------------------------------------------

WEIGHTS = {
    "negative": (-1.0, WeightError, "weights column 'w' goes from -1 to 1; expected finite"),
    "infinite": (math.inf, WeightError, "weights column 'w' goes from 1 to inf; expected finite"),
    "minus infinite": (-math.inf, WeightError, "weights column 'w' goes from -inf to 1"),
    "huge": (1e300, WeightError, "weights column 'w' goes up to 1e+300, beyond what squares"),
    "missing": (math.nan, MissingValuesError, "missing values in 'w': 1; choose missing='drop'"),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_that_are_no_weights_are_refused(kind):
    value, error, said = WEIGHTS[kind]
    frame = loans().assign(w=1.0)
    frame.loc[3, "w"] = value
    refused(frame, lending(weights="w"), error, said)


def test_weights_in_words_and_weights_that_vanish_are_refused():
    refused(loans().assign(w="heavy"), lending(weights="w"), WeightError, "weights column 'w' h")
    refused(loans().assign(w=1e-300), lending(weights="w"), WeightError, "goes up to 1e-300")
    weightless = loans().assign(w=lambda d: (d.group != "b") * 1.0)
    said = "no row of the comparison group 'b' has a positive weight; check the weights column 'w'"
    refused(weightless, lending(weights="w"), WeightError, said)


def test_a_missing_weight_is_no_category_and_is_not_offered_as_one():
    frame = loans().assign(w=1.0)
    frame.loc[3, "w"] = math.nan
    model = lending(weights="w")
    with pytest.raises(MissingValuesError) as caught:
        cf.decompose_disparity(frame, model)
    assert "category" not in str(caught.value)
    said = "column 'w' has 1 missing values, and a measurement cannot be a category"
    refused(frame, model, MissingValuesError, said, missing="category")
    found = cf.decompose_disparity(frame, model, missing="drop")
    assert found.diagnostics.rows.dropped == {frame.group[3]: 1}


def test_two_groups_with_one_spelling_are_both_counted_when_dropped():
    frame = pd.DataFrame({"group": ["missing", None, "a", "b"] * 5, "c": 1.0, "y": [0, 1] * 10})
    frame.loc[0, "c"] = math.nan
    model = lending(mediators=[])
    for data in (frame, pl.from_pandas(frame).lazy()):
        found = cf.decompose_disparity(data, model, missing="drop")
        assert found.diagnostics.rows.dropped == {"missing": 6}
