"""Do audits keep single people out of sight, and call every group by one name?"""

import json
import re

import numpy as np
import pytest

import causalfairness as cf
from audit_studies import PREDICTED, people, study
from causalfairness import report
from causalfairness.parity.metrics.decisions import ERROR_RATES
from causalfairness.report.page import markdown
from causalfairness.tables.disclosure import group_sizes, hidden_groups, without_few
from causalfairness.tables.groups import shown_value


def with_a_third_group(count, n=600):
    """The usual people, of whom the last few belong to a group of their own."""
    data = people(n, frame="pandas")
    data.loc[data.index[-count:], "group"] = "violet"
    return data


def asked(data, question, **more):
    return study(questions=[question], **more).run(data)


@pytest.mark.parametrize(("count", "listed"), [(9, False), (10, True)])
def test_rates_of_few_people_are_in_no_table_and_no_sentence(count, listed):
    result = asked(with_a_third_group(count), {"ask": "group_metrics"})
    answer = result.record["answers"][0]
    said = str([answer[key] for key in ("table", "details", "sentences")])
    assert ("violet" in said) is listed
    noted = any("1 group of fewer than 10 people (9 in all)" in note for note in answer["notes"])
    assert noted is not listed


def with_few_positives():
    """Three groups, of which one has 17 people, three of them with the outcome."""
    data = people(600, frame="pandas")
    last = data.index[-17:]
    data.loc[last, "group"] = "violet"
    data.loc[last, "y"] = [1] * 3 + [0] * 14
    data.loc[last, "score"] = [1, 0, 0] + [1] * 10 + [0] * 4
    return data


def leaves(value):
    """Every number and every word of plain data, however deep."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)
    else:
        yield value


def test_no_number_of_a_hidden_metric_is_anywhere_in_the_record():
    data = with_few_positives()
    answer = asked(data, {"ask": "group_metrics"}).record["answers"][0]
    model = cf.StandardFairnessModel(**PREDICTED)
    whole = cf.group_metrics(data, model)
    rows = {(r["group"], r["metric"]): r for r in in_rows(answer["table"]) if "metric" in r}
    of_violet = {metric for (group, metric), row in rows.items() if row["value"] is None}
    assert of_violet == {"selection_rate", "base_rate", *ERROR_RATES}
    told, said = [*leaves(answer)], " ".join(map(str, leaves(answer)))
    tables = [whole.table(), whole.gaps(), whole.ratios(), whole.extremes()]
    for row in (row for table in tables for row in table.to_records()):
        about = {row.get(key) for key in ("group", "highest", "lowest")}
        if row["metric"] not in of_violet or "violet" not in about:
            continue
        numbers = [each for each in row.values() if isinstance(each, float) and each not in (0, 1)]
        assert not {*numbers} & {each for each in told if isinstance(each, float)}
        assert not any(f"violet {each:.3f}" in said for each in numbers)
    assert all(row["people"] is row["effective"] is None for row in rows.values() if hidden(row))
    assert any("tpr" in note and "fewer than 10 people" in note for note in answer["notes"])
    assert "reported like all others" not in said
    assert "there is no other group" not in said


def hidden(row):
    return row["value"] is None


def test_groups_that_were_left_out_are_not_said_to_be_reported():
    for count, there in ((9, False), (100, True)):
        answer = asked(with_a_third_group(count), {"ask": "group_metrics"}).record["answers"][0]
        assert ("reported like all others" in answer["sentences"][-1]) is there


def test_groups_that_tell_of_few_are_hidden_until_they_are_not_few_together():
    cells = np.array([[40.0, 60.0], [6.0, 30.0], [11.0, 40.0], [0.0, 15.0]])
    assert hidden_groups(cells, 10).tolist() == [False, True, True, True]
    assert hidden_groups(cells[2:], 10).tolist() == [False, False]


def test_whoever_wants_small_groups_says_so():
    result = asked(with_a_third_group(9), {"ask": "group_metrics"}, settings={"smallest": 5})
    assert "violet" in str(result.record["answers"][0]["table"])


def test_a_compared_group_that_is_too_small_gives_no_rates():
    data = with_a_third_group(6)
    roles = PREDICTED | {"comparison": "violet"}
    answer = asked(data, {"ask": "group_metrics"}, roles=roles).record["answers"][0]
    assert answer["status"] == "not answered"
    assert "fewer than 10 people" in answer["reason"]


def test_bins_of_few_people_say_how_many_and_no_more():
    data = people(200, frame="pandas")
    data["score"] = np.round(0.05 * np.arange(200) % 1, 2)
    record = asked(data, {"ask": "predictive_parity", "bins": 20, "replicates": 20}).record
    rows = record["answers"][0]["table"]["rows"]
    page = report.study_page(record)
    blank = [line for line in lines_of(page, "Outcomes at equal scores") if None in line]
    assert rows
    assert blank
    for line in blank:
        assert min(line[2], line[3]) < 10


def lines_of(page, caption):
    """The lines of the table with this caption, wherever it stands."""
    waiting = [block for section in page.sections for block in section.blocks]
    for block in waiting:
        waiting += getattr(block, "blocks", ())
        if getattr(block, "caption", "") == caption:
            return block.rows
    raise AssertionError(f"no table {caption!r}")


def test_a_group_too_small_for_folds_says_nothing_against_overlap():
    data = with_a_third_group(12)
    roles = PREDICTED | {"comparison": "violet"}
    record = asked(
        data, {"ask": "disparity"}, roles=roles, estimator={"method": "doubly_robust"}
    ).record
    assert record["answers"][0]["refused_by"] == "SmallGroupError"
    overlap = [each for each in record["assumptions"] if "counterpart" in each["assumption"]]
    assert all(each["status"] != "contradicted" for each in overlap)


@pytest.mark.parametrize("codes", [(2020001.0, 2020002.0), (1.0, 2.0), (0.1, 0.2)])
def test_groups_have_one_name_and_no_two_groups_share_it(codes):
    names = [shown_value(code) for code in codes]
    assert len({*names}) == 2
    model = cf.StandardFairnessModel(
        protected="a", reference=codes[0], comparison=codes[1], outcome="y"
    )
    assert [model.reference_label, model.comparison_label] == names


def test_a_truth_value_is_called_as_its_column_is():
    model = cf.StandardFairnessModel(protected="a", reference=False, comparison=True, outcome="y")
    assert [model.reference_label, model.comparison_label] == ["0", "1"]


# --- one scale ----------------------------------------------------------------------------------


def test_effects_in_different_units_are_not_held_against_each_other():
    data = people(600, frame="pandas")
    data["score"] = 1_000.0 * (1 + data["score"]) + np.arange(600) % 7
    question = {"ask": "necessity", "allowed": ["indirect"], "margin": 0.05}
    answer = asked(data, question).record["answers"][0]
    assert answer["status"] == "not answered"
    assert "'y' is yes or no and 'score' reaches from 1000 to" in answer["reason"]
    plain = asked(data, question | {"allowed": []}).record["answers"][0]
    assert plain["status"] == "answered"


def test_the_summary_says_how_many_questions_with_a_margin_found_no_answer():
    questions = [
        {"ask": "disparity", "margin": 0.5},
        {"ask": "invariance", "features": ["nothing"], "margin": 0.1},
    ]
    data = people(600, frame="pandas")
    data["nothing"] = None
    data["nothing"] = data["nothing"].astype("float64")
    record = study(questions=questions, data={"source": "x", "missing": "drop"}).run(data).record
    assert [each["status"] for each in record["answers"]] == ["answered", "not answered"]
    summary = report.study_page(record).sections[0].blocks[0].lines
    assert any("1 more with a margin could not be answered" in line for line in summary)


# --- single people ------------------------------------------------------------------------------

DECLINED = PREDICTED | {"favorable": 0}
LONE = [
    {"ask": "disparity"},
    {"ask": "group_metrics"},
    {"ask": "predictive_parity", "bins": 4, "replicates": 20},
    {"ask": "counterfactual_fairness"},
    {"ask": "situations", "k": [12], "features": ["c1", "m1"]},
    {"ask": "screens", "rule": "four_fifths", "columns": {"sex": "group"}, "selected": "score"},
]


def lone_person():
    """A study of everyone but one, who is of a group of their own."""
    data = with_a_third_group(1, 400)
    told = {"groups": {"each": True}, "roles": DECLINED, "sensitivity": {"ask": False}}
    return study(questions=LONE, **told).run(data).record


@pytest.fixture(scope="module")
def lone():
    return lone_person()


def in_rows(value):
    """Every row of plain data, however deep."""
    if isinstance(value, dict):
        if {*value} == {"columns", "rows"}:
            yield from (dict(zip(value["columns"], row, strict=True)) for row in value["rows"])
        yield value
        for each in value.values():
            yield from in_rows(each)
    elif isinstance(value, list):
        for each in value:
            yield from in_rows(each)


def test_a_lone_person_is_in_no_table_no_sentence_and_no_drawing(lone):
    assert all(each["status"] == "answered" for each in lone["answers"])
    assert "violet" not in json.dumps(lone)
    sizes = [row.get("people") for row in in_rows(lone)]
    assert not {*range(1, 10)} & {size for size in sizes if isinstance(size, int)}
    page = markdown.render_page(report.study_page(lone))
    assert "violet" not in page
    assert lone["data"]["groups"][-1] == {"group": "a smaller group", "people": None}


def test_nobody_is_listed_unless_the_question_asks_for_it(lone):
    answer = next(each for each in lone["answers"] if each["kind"] == "situations")
    assert answer["table"]["rows"] == []
    assert answer["details"]["dossiers"] == []
    assert answer["details"]["summary"][0]["complainants"] > 200
    assert any("nobody is listed" in note for note in answer["notes"])
    assert lone["people"] == {"single": 0, "columns": []}
    page = markdown.render_page(report.study_page(lone))
    assert "nothing is said about single people" in page
    assert not re.search(r"\brow \d", json.dumps(answer))


@pytest.mark.parametrize("ids", [None, "number"])
def test_the_page_counts_the_people_that_it_tells_about(ids):
    data = people(400, frame="pandas").assign(number=np.arange(400) + 7_000)
    asked_for = {"ask": "situations", "k": [12], "features": ["c1", "m1"], "ids": ids}
    record = asked(data, asked_for | {"listed": 3, "dossiers": 1}, roles=DECLINED).record
    answer = record["answers"][0]
    case, rows = answer["details"]["dossiers"][0], answer["table"]["rows"]
    peers = {peer["name"] for side in ("control", "test") for peer in case[side]["peers"]}
    listed = {f"{ids or 'row'} {row[1 if ids else 0]}" for row in rows}
    assert case["person"] in listed
    assert record["people"]["single"] == len(peers | listed)
    assert {"c1", "m1", "delta"} <= {*record["people"]["columns"]}
    page = markdown.render_page(report.study_page(record))
    assert f"{len(peers | listed)} people, with " in page


def test_dossiers_may_be_asked_for_without_a_list():
    question = {"ask": "situations", "k": [12], "features": ["c1", "m1"], "dossiers": 2}
    answer = asked(people(400), question, roles=DECLINED).record["answers"][0]
    assert answer["table"]["rows"] == []
    assert len(answer["details"]["dossiers"]) == 2


@pytest.mark.parametrize("question", [{"ask": "disparity"}, {"ask": "counterfactual_fairness"}])
def test_a_compared_group_of_few_people_is_refused_by_every_question(question):
    roles = PREDICTED | {"comparison": "violet"}
    answer = asked(with_a_third_group(9), question, roles=roles).record["answers"][0]
    assert answer["refused_by"] == "TooFewRowsError"
    assert "violet" not in answer["reason"]
    assert answer["table"]["rows"] == []


def test_small_groups_are_put_with_the_next_so_that_no_difference_gives_them_away():
    sizes = {"a": 90, "b": 1, "c": 12, "d": 20, "e": 11}
    assert group_sizes(sizes, 10) == [
        *({"group": name, "people": sizes[name]} for name in "acd"),
        {"group": "2 smaller groups together", "people": 12},
    ]
    kept = group_sizes(sizes, 10, compared={"e", "c", "d", "a"})
    assert kept[-1] == {"group": "a smaller group", "people": None}


def test_numbers_of_few_people_are_left_out_with_the_next_larger_ones():
    rows = [
        {"by": by, "people": size, "rate": size / 100, "above": 0.5, "remark": "x"}
        for by in ("sex", "race")
        for size in (90, 3, 12, 40, 0)
    ]
    found = without_few(rows, 10, within=("by",))
    assert [row["rate"] for row in found] == [0.9, None, None, 0.4, 0.0] * 2
    assert {row["above"] for row in found} == {0.5}


def test_bins_of_few_people_are_left_out_of_the_record_with_one_more():
    data = people(400, frame="pandas")
    data["score"] = np.where(np.arange(400) % 100 < 3, 0.9, 0.1 * (np.arange(400) % 3))
    record = asked(data, {"ask": "predictive_parity", "bins": 20, "replicates": 20}).record
    answer = record["answers"][0]
    for side in ("reference", "comparison"):
        rows = [*in_rows(answer["table"])]
        rows = [row for row in rows if f"{side}_people" in row]
        hidden = [row for row in rows if row[f"{side}_outcome"] is None]
        assert min(row[f"{side}_people"] for row in rows) < 10
        assert sum(row[f"{side}_people"] for row in hidden) >= 10
        assert len(hidden) == 2
        assert all(row["ppm"] is row["ppm_low"] is row["drift"] is None for row in hidden)
        at = ("reference", "comparison").index(side)
        means = answer["details"]["mean_outcomes"]["value"][at]
        assert [mean is None for mean in means] == [row in hidden for row in rows]


def test_the_furthest_shifts_are_drawn_together_and_bars_of_few_people_are_not():
    data = people(400, frame="pandas")
    data["score"] = data["m1"] + 0.001 * np.arange(400) + 50.0 * (np.arange(400) == 7)
    answer = asked(data, {"ask": "counterfactual_fairness"}).record["answers"][0]
    for group in answer["details"]["groups"]:
        counts = [count for count in group["shifts"]["counts"] if count]
        assert min(counts) >= 10
        assert max(group["densities"]["at"]) < 10
    rows = [row for row in in_rows(answer["table"]) if "q5" in row]
    assert len(rows) == 2
    for row in rows:
        assert row["q50"] is not None
        assert (row["q5"] is None) == (row["people"] < 200)


def test_a_proposal_names_no_value_that_few_people_have():
    data = people(400, frame="pandas").drop(columns=["y", "score"])
    data["income"] = np.where(np.arange(400) % 4 == 0, 12.0, np.arange(400) * 17.5)
    text = cf.audit.propose(data)
    assert "'income' has 301 different numbers, such as 12" in text.replace('"', "'")
    assert "17.5" not in text


def test_a_refusal_in_a_record_names_no_cell_of_few_people():
    data = people(400, frame="pandas")
    data.loc[7, "c1"] = 77
    strata = {"method": "strata"}
    answer = asked(data, {"ask": "disparity"}, estimator=strata).record["answers"][0]
    assert answer["refused_by"] == "EmptyCellsError"
    assert "77" not in answer["reason"]
    with pytest.raises(cf.errors.EmptyCellsError) as refused:
        cf.decompose_disparity(
            data,
            cf.StandardFairnessModel(
                protected="group", reference="blue", comparison="green", confounders=["c1"],
                outcome="y",
            ),
            estimator=cf.estimators.Strata(),
        )  # fmt: skip
    assert any("c1=77" in note for note in refused.value.__notes__)
