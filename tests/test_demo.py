"""Does the demo print what an audit finds, legibly, and does it write what it says?"""

import io
import json
import re

import pytest
from rich.console import Console

import causalfairness as cf
from causalfairness.audit import Audit
from causalfairness.demo import BUNDLED, main

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
    ],
)


def run_demo(*, folder=None, audit=QUICK, **console):
    page = io.TextIOWrapper(io.BytesIO(), encoding=console.pop("encoding", "utf-8"))
    main(Console(file=page, width=80, **console), folder, audit)
    page.flush()
    return page.buffer.getvalue().decode(page.encoding)


@pytest.fixture(scope="module")
def printed():
    return run_demo()


@pytest.fixture(scope="module")
def record():
    return QUICK.run().record


def test_the_parts_are_those_of_the_record(printed, record):
    answers = [each for each in record["answers"] if each["kind"] in ("disparity", "error_rates")]
    rows = [(name, [*map(float, numbers)]) for name, *numbers in ROW.findall(printed)]
    assert [name for name, _ in rows] == [*PARTS] * len(answers)
    effects = [effect for answer in answers for effect in answer["effects"]]
    for (name, numbers), effect in zip(rows, effects, strict=True):
        assert effect["name"] == name
        expected = [effect[key] for key in ("value", "low", "high")]
        assert numbers == pytest.approx(expected, abs=HALF_A_DIGIT)


def test_intervals_are_drawn_on_one_scale(printed):
    """Zero is at the same place in every line, and dots keep the order of the values."""
    drawn = [line for line in printed.splitlines() if "●" in line]
    marks = {line.index(mark) for line in drawn for mark in "┊┼" if mark in line}
    assert len(marks) == 1
    values = [(float(ROW.match(line)[2]), line.index("●")) for line in drawn]
    places = [place for _, place in sorted(values)]
    assert places == sorted(places)
    totals = [line for line in drawn if line.startswith("  total")]
    assert all("─●─" in line for line in totals)  # in the middle of its interval


def test_every_question_is_listed_with_its_verdict(printed, record):
    text = " ".join(printed.split())
    for answer in record["answers"]:
        about = answer["title"].removesuffix(": African-American against Caucasian")
        assert f"{answer['verdict'] or 'reported'} {about} {answer['sentences'][0]}" in text
    assert "under these assumptions: violated" in text


def test_hidden_causes_are_told_for_every_verdict(printed, record):
    text = " ".join(printed.split())
    for answer in record["answers"]:
        told = answer["sensitivity"]
        if told["applies"] and told["verdict"]:
            nearest = told["by_story"][-1]["strongest"]
            share = cf.sensitivity.words.percent(told["to_change_verdict"])
            assert f"{share} {nearest['times']:.2g} x {nearest['confounder']}" in text
    assert text.count(" x ") == 2


def test_without_verdicts_nothing_could_change():
    asked = QUICK.model_copy(update={"questions": QUICK.questions[:1]})
    assert "no verdict that a hidden cause could change" in run_demo(audit=asked)


def test_doubtful_assumptions_are_told(printed, record):
    text = " ".join(printed.split())
    doubts = [e for e in record["assumptions"] if e["status"] in ("contradicted", "in doubt")]
    assert doubts
    for entry in doubts:
        assert f"{entry['assumption']}: {entry['status']}" in text
    assert f"{len(record['assumptions'])} assumptions are listed" in text


def test_no_verdict_of_fairness_is_given(printed):
    assert not re.search(r"\b(un)?fair(ness|ly)?\b", printed, re.IGNORECASE)


def test_lines_fit_80_columns_without_color(printed):
    assert max(map(len, printed.splitlines())) <= 80
    assert "\x1b" not in printed


def test_a_terminal_gets_color():
    assert "\x1b[" in run_demo(force_terminal=True, color_system="standard")


def test_a_page_that_knows_only_ascii_is_served(printed):
    plain = run_demo(encoding="ascii")
    assert plain.isascii()
    assert ROW.findall(plain) == ROW.findall(printed)


def test_report_and_record_are_written(tmp_path, record):
    printed = "".join(run_demo(folder=tmp_path).split())
    for name in ("report.html", "record.json"):
        assert name in printed
    kept = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert {**kept, "timings": None} == {**record, "timings": None}
    assert "COMPAS, in short" in (tmp_path / "report.html").read_text("utf-8")


def test_the_bundled_audit_asks_everything():
    bundled = Audit.from_file(BUNDLED)
    kinds = {question.ask for question in bundled.asked}
    assert kinds == {"disparity", "error_rates", "group_metrics", "predictive_parity", "necessity",
                     "counterfactual_fairness", "situations", "invariance", "screens"}  # fmt: skip
    assert bundled.sensitivity.ask
    assert bundled.sensitivity.benchmarks


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
