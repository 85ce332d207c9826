"""Does the page of a study say what its record says, in order, and nothing that it should not?"""

import json
import re

import pytest

from audit_studies import PREDICTED, people, study
from causalfairness import report
from causalfairness.audit import AuditResult
from causalfairness.report.page import blocks as b
from plain_words import words_out
from study_records import answer, every_record, grouped_record, inside, of_kind, section, texts

KEYS = [
    "summary",
    "picture",
    "disparity",
    "groups",
    "error_rates",
    "predictive",
    "individuals",
    "invariance",
    "diagnostics",
    "assumptions",
    "provenance",
]
ALWAYS = ["summary", "picture", "diagnostics", "assumptions", "provenance"]


@pytest.fixture
def every():
    return every_record()


@pytest.fixture
def grouped():
    return grouped_record()


# --- what is there ------------------------------------------------------------------------------


def test_sections_come_in_the_order_in_which_people_ask(every):
    page = report.study_page(every)
    assert [each.key for each in page.sections] == KEYS
    assert page.title == "Everything"
    assert page.generator.startswith("causalfairness ")


def test_sections_about_what_was_not_asked_are_left_out():
    record = study(questions=[{"ask": "group_metrics"}]).run(people(300)).record
    found = [each.key for each in report.study_page(record).sections]
    assert found == sorted([*ALWAYS, "groups"], key=KEYS.index)


def test_a_study_without_a_title_is_called_after_what_is_audited(grouped):
    assert report.study_page(grouped).title == "An audit of score"


def test_the_same_record_gives_the_same_page(every):
    result = AuditResult(every)
    assert report.study_page(result) == report.study_page(every_record())
    assert report.render_markdown(result) == report.render_markdown(every)


# --- five sentences -----------------------------------------------------------------------------


def test_the_summary_has_five_sentences_with_the_numbers_of_the_record(every):
    said, judged = section(report.study_page(every), "summary").blocks
    assert len(said.lines) == 5
    assert all(re.search(r"[.]$", line) and ". " not in line for line in said.lines)
    asked, gap, verdicts, persons, rests = said.lines
    assert "green (530) with blue (370) in 900 records, and asks 10 questions" in asked
    for what in ("y", "score"):
        parts = answer(every, f"disparity of {what}")["details"]["parts"]
        for part in parts[1:]:
            assert f"{part['name']} {part['value']:+.3f}" in gap
        assert f"{what} is {parts[0]['value']:.3f} higher" in gap
    assert verdicts.startswith("Of 2 questions judged by a margin")
    assert "2 are violated" in verdicts
    assert "satisfied" not in verdicts
    shift = answer(every, "counterfactual")["effects"][0]["value"]
    assert f"predictions for green would have been {shift:.3f} lower" in persons
    assert f"rests on {len(every['assumptions'])} assumptions" in rests
    assert [line.tone for line in judged.lines] == ["violated", "violated"]


def test_the_summary_says_what_was_not_asked():
    record = study(questions=[{"ask": "invariance", "features": ["c1"]}]).run(people(300)).record
    _, gap, verdicts, persons, _ = section(report.study_page(record), "summary").blocks[0].lines
    assert gap == "What a gap between the groups is made of was not asked."
    assert verdicts.startswith("No verdict is given")
    assert persons == "No question about individual people was asked."


def test_plain_metrics_stand_in_where_no_gap_was_asked_about():
    record = study(questions=[{"ask": "group_metrics"}]).run(people(300)).record
    said = section(report.study_page(record), "summary").blocks[0].lines
    assert "was not asked; of the plain metrics, selection rate by group" in said[1]
    assert len(said) == 5


def test_a_question_without_answer_is_shown_with_its_reason(every):
    record = every
    for each in record["answers"]:
        if each["kind"] in ("disparity", "situations", "counterfactual_fairness"):
            each |= {"status": "not answered", "reason": "too few people", "verdict": None}
            each |= {"judgment": None, "details": {}, "effects": [], "sentences": []}
            each |= {"diagnostics": [], "table": {"columns": [], "rows": []}}
    page = report.study_page(record)
    said, judged = section(page, "summary").blocks
    assert "4 could not be answered" in said.lines[0]
    assert "made of could not be answered" in said.lines[1]
    assert said.lines[3].endswith("could not be answered.")
    assert [line.tone for line in judged.lines].count("unanswered") == 4
    for key in ("disparity", "individuals", "diagnostics"):
        assert any("too few people" in text for text in texts(section(page, key)))
    assert not of_kind(section(page, "disparity"), b.Waterfalls)


def test_the_weakest_verdict_is_named_where_the_record_tells_it(every):
    shares = [
        (each["sensitivity"]["to_change_verdict"], each["title"])
        for each in every["answers"]
        if each["sensitivity"].get("to_change_verdict")
    ]
    share, title = min(shares)
    last = section(report.study_page(every), "summary").blocks[0].lines[4]
    assert f"accounts for {100 * share:.3g}%, both of what is left" in last
    assert last.endswith(f"the verdict on {title.partition(': green')[0]}.")


# --- the numbers are those of the record --------------------------------------------------------


def test_waterfalls_lead_from_one_mean_to_the_other(every):
    falls = of_kind(section(report.study_page(every), "disparity"), b.Waterfalls)[0]
    assert [one.what for one in falls.drawings] == ["y", "score"]
    assert falls.shared
    for one in falls.drawings:
        details = answer(every, f"disparity of {one.what}")["details"]
        means = {each["name"]: each["value"] for each in details["world_means"]}
        first, *steps, last = one.steps
        assert first.end == means["mu[0, 0, 0]"]
        assert last.end == means["mu[1, 1, 1]"]
        assert steps[-1].end == pytest.approx(last.end, abs=1e-9)
        assert [step.name for step in steps] == ["direct", "indirect", "spurious"]


def test_intervals_and_margins_are_those_of_the_record(every):
    drawn = of_kind(section(report.study_page(every), "disparity"), b.Intervals)
    assert [each.margin for each in drawn] == [0.02, None]
    parts = answer(every, "disparity of y")["details"]["parts"]
    assert [(row.name, row.value, row.low, row.high) for row in drawn[0].rows] == [
        (part["name"], part["value"], part["low"], part["high"]) for part in parts
    ]


def test_all_effects_and_the_twelve_means_are_folded_with_groups_by_name(every):
    folded = of_kind(section(report.study_page(every), "disparity"), b.Folded)[0]
    effects, means = (block for block in folded.blocks if isinstance(block, b.Table))
    assert len(means.rows) == 12
    assert means.rows[0][:3] == ("blue", "blue", "blue")
    words = [row[0] for row in effects.rows]
    assert "Direct path from blue to green, among the reference group" in words
    assert not any(re.search(r"\b[01] to [01]\b|told [01]", text) for text in words)


def test_effects_of_a_record_of_an_earlier_version_read_the_same(every):
    earlier = re.sub(r"paths as in ([01])", r"told \1", json.dumps(every))
    assert "told 0" in earlier
    one, other = (
        section(report.study_page(each), "disparity") for each in (every, json.loads(earlier))
    )
    assert [*texts(one)] == [*texts(other)]


def test_a_study_speaks_in_plain_words(every):
    assert words_out(report.render_markdown(every)) == []


def test_verdicts_of_necessity_are_given_path_by_path(every):
    part = section(report.study_page(every), "predictive")
    told = answer(every, "business")["judgment"]["paths"]
    judged = [line for block in of_kind(part, b.Judgments) for line in block.lines]
    assert [line.tone for line in judged] == [path["verdict"] for path in told]
    assert judged[0].what == "Direct path (not allowed)"
    assert f"{told[0]['difference']:+.3f}" in judged[0].because
    table = next(each for each in of_kind(part, b.Table) if each.caption == "Path by path")
    assert [row[4] for row in table.rows] == [path["difference"] for path in told]


def test_groups_and_intersections_are_told_apart(grouped):
    part = section(report.study_page(grouped), "groups")
    by_group, by_attribute = of_kind(part, b.Intervals)
    assert {row.group for row in by_group.rows} == {"blue, woman", "green, man", "green, woman"}
    assert {row.group for row in by_attribute.rows} == {"group", "sex", "group and sex"}
    assert {row.name for row in by_group.rows} == {"total", "direct", "indirect", "spurious"}
    assert all(row.p_adjusted is not None for row in by_group.rows)
    sizes = of_kind(part, b.Table)[0]
    assert dict(sizes.rows) == {each["group"]: each["people"] for each in grouped["data"]["groups"]}


def test_the_picture_is_colored_by_what_was_found(every):
    drawn = of_kind(section(report.study_page(every), "picture"), b.Picture)
    assert len(drawn) == 2
    assert all(one.svg.startswith("<svg") for one in drawn)
    direct = answer(every, "disparity of y")["details"]["parts"][1]["value"]
    assert f"direct {direct:+.3f}" in drawn[0].svg


def test_a_graph_that_was_given_is_drawn_arrow_by_arrow():
    graph = "group <-> c1; {group, c1} -> m1; {group, c1, m1} -> y"
    roles = {key: PREDICTED[key] for key in ("protected", "reference", "comparison", "outcome")}
    record = study(roles=roles | {"graph": graph}).run(people(400)).record
    drawn = of_kind(section(report.study_page(record), "picture"), b.Picture)
    assert len(drawn) == 1
    assert "4 columns" in drawn[0].svg


def test_screens_and_metrics_never_judge(every):
    part = section(report.study_page(every), "groups")
    assert not of_kind(part, b.Judgments)
    assert all(
        column.kind != "verdict" for table in of_kind(part, b.Table) for column in table.columns
    )
    assert "neither passes nor fails anything" in " ".join(texts(part))


def test_beside_every_flag_stands_how_often_chance_alone_would_set_it(every):
    tables = of_kind(section(report.study_page(every), "groups"), b.Table)
    screened = [each for each in tables if "by_chance" in [one.key for one in each.columns]]
    assert len(screened) == 2  # four fifths among the metrics, and the published rule
    for table in screened:
        at = [one.key for one in table.columns].index("by_chance")
        assert all(0 <= row[at] <= 1 for row in table.rows)
    assert "chance alone would flag some group in" in screened[-1].caption


def test_nothing_is_called_fair(every):
    words = " ".join(texts(report.study_page(every)))
    assert not re.search(r"\b(?:un)?fair\b", words, re.IGNORECASE)


def test_headings_of_columns_are_words(every):
    page = report.study_page(every)
    for part in page.sections:
        for table in of_kind(part, b.Table):
            assert not [
                each.title for each in table.columns if re.search(r"p_|_rate|ppm", each.title)
            ]
            assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_command_that_checks_the_record_is_exact(every):
    page = section(report.study_page(every), "provenance")
    facts = dict(line for block in of_kind(page, b.Pairs) for line in block.lines)
    assert facts["to verify"] == "causalfairness verify record.json --data FILE"
    assert facts["fingerprint of the data"] == every["data"]["fingerprint"]
    other = {**every, "data": {**every["data"], "source": "my people.csv"}, "model": None}
    other["model"] = {"name": "f", "sha256": "0"}
    page = section(report.study_page(other), "provenance")
    facts = dict(line for block in of_kind(page, b.Pairs) for line in block.lines)
    assert facts["to verify"].endswith("--data 'my people.csv' --trust")


def test_every_assumption_is_there_the_contradicted_first(every):
    record = every
    record["assumptions"][-2] |= {"status": "contradicted", "result": "it does not hold"}
    part = section(report.study_page(record), "assumptions")
    first = of_kind(part, b.Pairs)[0]
    assert first.lines[0][0] == "Contradicted"
    assert "It does not hold." in first.lines[0][1]
    said = " ".join(texts(part)).lower()
    for entry in record["assumptions"]:
        assert entry["assumption"].lower() in said


# --- people -------------------------------------------------------------------------------------


def test_the_table_of_complainants_opens_dossiers(every):
    part = section(report.study_page(every), "individuals")
    table = next(each for each in of_kind(part, b.Table) if each.links)
    cases = of_kind(part, b.Dossiers)[0].cases
    told = answer(every, "situations")
    assert table.sortable
    assert len(table.rows) == len(told["table"]["rows"])
    opened = [key for key in table.links if key]
    assert sorted(opened) == sorted(case.key for case in cases)
    for case, dossier in zip(cases, told["details"]["dossiers"], strict=True):
        at = table.links.index(case.key)
        assert table.rows[at][0] == str(dossier["row"])
        tables = [block for block in inside(case) if isinstance(block, b.Table)]
        assert [len(each.rows) for each in tables[1:]] == [
            len(dossier[group]["peers"]) for group in ("control", "test")
        ]


def test_small_groups_are_never_listed_even_if_the_record_does(every):
    record = every
    record["settings"]["settings"]["smallest"] = 13  # of people who are compared with 12
    part = section(report.study_page(record), "individuals")
    assert not of_kind(part, b.Dossiers)
    assert not [table for table in of_kind(part, b.Table) if table.links]
    said = " ".join(texts(part))
    listed = len(answer(every, "situations")["table"]["rows"])
    assert f"for being about too few people: {listed:,}." in said
    assert "groups of fewer than 13 are not listed" in said


def test_spreads_of_small_groups_are_not_drawn(every):
    record = every
    moved = answer(record, "counterfactual")["details"]["groups"]
    green = next(each for each in moved if each["group"] == "green")
    del green["densities"], green["shifts"]
    green |= {"people": 3, "suppressed": "fewer than 10 people"}
    part = section(report.study_page(record), "individuals")
    assert not of_kind(part, b.Histogram)
    assert not of_kind(part, b.Curves)
    assert "green: fewer than 10 people".lower() in " ".join(texts(part)).lower()


def test_shifts_are_drawn_for_those_who_were_told_another_group(every):
    part = section(report.study_page(every), "individuals")
    (bars,) = of_kind(part, b.Histogram)
    green = answer(every, "counterfactual")["details"]["groups"]
    told = next(each for each in green if each["group"] == "green")
    assert list(bars.counts) == told["shifts"]["counts"]
    assert sum(bars.counts) == told["people"]


@pytest.mark.parametrize(("sided", "level"), [("one", "90%"), ("two", "95%")])
def test_an_interval_is_called_by_how_often_both_its_ends_hold(every, sided, level):
    record = answer(every, "situations")
    record["question"]["sided"] = sided
    tables = of_kind(section(report.study_page(every), "individuals"), b.Table)
    titles = [column.title for table in tables for column in table.columns]
    assert f"{level} interval, from" in titles
