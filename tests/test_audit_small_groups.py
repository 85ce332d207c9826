"""Do audits keep single people out of sight, and call every group by one name?"""

import numpy as np
import pytest

import causalfairness as cf
from audit_studies import PREDICTED, people, study
from causalfairness import report
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
