"""Does an audit print what it finds, legibly: verdicts, gaps as drawings, hidden causes, doubts?"""

import io
import re

import pytest
from rich.console import Console

from causalfairness.audit import Audit
from causalfairness.cli.findings import print_findings

PARTS = ("total", "direct", "indirect", "spurious")
ROW = re.compile(
    r"^  (total|direct|indirect|spurious) +([+-]\d\.\d{3}) +([+-]\d\.\d{3}) to ([+-]\d\.\d{3}) ",
    re.MULTILINE,
)
HALF_A_DIGIT = 0.0005 + 1e-12
QUICK = Audit(
    title="COMPAS, in short",
    data="dataset:compas",
    notes=["an offense on record is not an offense"],
    roles={
        "protected": "race",
        "reference": "Caucasian",
        "comparison": "African-American",
        "confounders": ["sex", "age_cat"],
        "mediators": ["c_charge_degree"],
        "outcome": "two_year_recid",
        "prediction": "decile_score",
    },
    predictor={"threshold": 5, "favorable": 0},
    questions=[
        {"ask": "disparity", "of": "outcome"},
        {"ask": "disparity", "of": "prediction", "margin": 0.02},
        {"ask": "error_rates", "rates": ["fnr"]},
        {"ask": "group_metrics"},
        {"ask": "necessity", "margin": 0.02},
        {"ask": "invariance", "features": ["two_year_recid"], "margin": 0.0},
        {"ask": "situations", "k": [100_000]},
    ],
)


@pytest.fixture(scope="module")
def record():
    return QUICK.run().record


@pytest.fixture(scope="module")
def printed(record):
    return print_on_page(record)


def print_on_page(record, **console):
    page = io.TextIOWrapper(io.BytesIO(), encoding=console.pop("encoding", "utf-8"))
    print_findings(record, "7 questions asked", Console(file=page, width=80, **console))
    page.flush()
    return page.buffer.getvalue().decode(page.encoding)


def flat(text):
    return " ".join(text.split())


def test_the_parts_are_those_of_the_record(printed, record):
    answers = [each for each in record["answers"] if each["kind"] in ("disparity", "error_rates")]
    rows = [(name, [*map(float, numbers)]) for name, *numbers in ROW.findall(printed)]
    assert [name for name, _ in rows] == [*PARTS] * len(answers)
    effects = [effect for answer in answers for effect in answer["effects"]]
    for (name, numbers), effect in zip(rows, effects, strict=True):
        assert effect["name"] == name
        expected = [effect[key] for key in ("value", "low", "high")]
        assert numbers == pytest.approx(expected, abs=HALF_A_DIGIT)


def test_shares_are_drawn_on_one_scale(printed):
    """Zero is at the same place in every line, and dots keep the order of the values."""
    drawn = [line for line in printed.splitlines() if "●" in line]
    marks = {line.index(mark) for line in drawn for mark in "┊┼" if mark in line}
    assert len(marks) == 1
    values = [(float(ROW.match(line)[2]), line.index("●")) for line in drawn]
    places = [place for _, place in sorted(values)]
    assert places == sorted(places)
    totals = [line for line in drawn if line.startswith("  total")]
    assert all("─●─" in line for line in totals)  # in the middle of its interval


def test_gaps_in_other_units_have_a_scale_of_their_own(printed, record):
    first, *others = record["answers"]
    numbers = ("value", "low", "high", "standard_error")
    parts = [
        each | {name: 1_000 * each[name] for name in numbers} for each in first["details"]["parts"]
    ]
    pay = first | {"details": first["details"] | {"parts": parts}}
    lines = print_on_page(record | {"answers": [pay, *others]}).splitlines()
    drawn = [line for line in lines if "●" in line]
    assert re.match(r"  total +\+132\.279 +\+105\.017 to \+159\.305 ", drawn[0])
    assert drawn[0].index("●") > 60  # the largest of its own gap
    assert drawn[4:] == [line for line in printed.splitlines() if "●" in line][4:]


def test_a_gap_without_an_interval_is_not_drawn(record):
    first, *others = record["answers"]
    parts = [each | {"low": None, "high": None} for each in first["details"]["parts"]]
    endless = first | {"details": first["details"] | {"parts": parts}}
    text = print_on_page(record | {"answers": [endless, *others]})
    assert len(ROW.findall(text)) == len(PARTS) * 2
    assert first["sentences"][2] in flat(text)


def test_every_question_is_listed_with_its_verdict_and_why(printed, record):
    text = flat(printed)
    for answer in record["answers"]:
        verdict = answer["verdict"] or ("reported" if answer["status"] == "answered" else "")
        assert f"{answer['title']}: {verdict}".removesuffix(": ") in text
        if answer["verdict"]:
            assert answer["sentences"][-1] in text
        if answer["status"] == "answered":
            assert answer["sentences"][0] in text
    assert "under these assumptions: violated" in text
    assert "Not answered: k = 100000 is larger" in text


def test_a_gap_says_what_its_direct_part_means(printed, record):
    assert record["answers"][0]["sentences"][1] in flat(printed)


def test_hidden_causes_are_named_for_every_verdict(printed, record):
    text = flat(printed)
    named = [each["sensitivity"] for each in record["answers"] if each["sensitivity"]]
    told = [each["sentences"][0] for each in named if each["applies"]]
    assert sum("to change the verdict" in sentence for sentence in told) == 2
    assert all(sentence in text for sentence in told)


def test_groups_roles_and_notes_are_at_the_top(printed):
    top = flat(printed.split("disparity")[0])
    assert top.startswith("COMPAS, in short: 6,172 people - an offense on record is not an")
    assert "groups African-American against Caucasian confounders sex, age_cat" in top
    assert top.endswith("mediators c_charge_degree")


def test_doubtful_assumptions_are_named(printed, record):
    text = flat(printed)
    doubts = [e for e in record["assumptions"] if e["status"] in ("contradicted", "in doubt")]
    assert doubts
    for entry in doubts:
        assert f"{entry['assumption']}: {entry['status']}. {entry['result']}." in text
    assert f"{len(record['assumptions'])} assumptions are listed" in text


def test_no_verdict_of_fairness_is_given(printed):
    assert not re.search(r"\b(un)?fair(ness|ly)?\b", printed, re.IGNORECASE)


def test_lines_fit_80_columns_without_color(printed):
    assert max(map(len, printed.splitlines())) <= 80
    assert "\x1b" not in printed


def test_a_terminal_gets_color(record):
    assert "\x1b[" in print_on_page(record, force_terminal=True, color_system="standard")


def test_a_page_that_knows_only_ascii_is_served(printed, record):
    plain = print_on_page(record, encoding="ascii")
    assert plain.isascii()
    assert ROW.findall(plain) == ROW.findall(printed)


def test_names_from_the_data_do_no_harm(record):
    roles = record["roles"] | {"comparison": "\x1b[31m[red]", "confounders": ["c" * 500]}
    hostile = record | {"title": "\u202eSAPMOC", "notes": ["a\nb"], "roles": roles}
    text = print_on_page(hostile)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m[red] against" in text
    assert max(map(len, text.splitlines())) <= 80


def test_one_bar_is_shown_at_a_time(monkeypatch):
    """Loops within a loop whose bar is in sight show none; one that is first by itself does."""
    from rich import progress as bars

    from causalfairness import progress

    shown = []
    add = bars.Progress.add_task
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(
        bars.Progress,
        "add_task",
        lambda self, what, **more: (shown.append(what), add(self, what))[1],
    )
    for _ in progress.track(range(3), total=3, what="outer"):
        assert list(progress.track(range(3), total=3, what="inner")) == [0, 1, 2]
    assert shown == ["inner", "outer"]
    list(progress.track(range(2), total=2, what="next"))
    assert shown[-1] == "next"
