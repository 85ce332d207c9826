"""Does an audit that was killed take up where it stopped, and end with the same record?"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import cache

import pyarrow.parquet as parquet
import pytest

import causalfairness as cf
from audit_studies import EVERY_KIND, PREDICTED, people, study, without_timings
from causalfairness.audit.store import Store

QUESTIONS = [
    {"ask": "disparity", "margin": 0.05},
    {"ask": "disparity", "of": "prediction"},
    {"ask": "error_rates", "rates": ["fpr", "fnr"]},
    {"ask": "group_metrics"},
    {"ask": "predictive_parity", "replicates": 200},
    {"ask": "necessity"},
    {"ask": "counterfactual_fairness"},
    {"ask": "situations", "k": [12]},
]
ANSWERS = 9  # of these questions
SLOW = {"method": "doubly_robust", "folds": 2}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("audit")
    parquet.write_table(people(900), place / "people.parquet")
    told = {"data": "people.parquet", "roles": PREDICTED, "questions": QUESTIONS}
    (place / "quick.json").write_text(json.dumps(told), "utf-8")
    (place / "slow.json").write_text(json.dumps(told | {"estimator": SLOW}), "utf-8")
    return place


@cache
def uninterrupted(path):
    return without_timings(cf.Audit.from_file(path).run().record)


def start(audit, folder):
    """The audit in a process of its own, which can be killed."""
    command = [sys.executable, "-m", "causalfairness.cli", "audit", str(audit)]
    command += ["--folder", str(folder), "--record", str(folder / "record.json")]
    folder.mkdir(exist_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, **quiet)


def finished(folder):
    return len(list((folder / "answers").glob("*.json"))) if (folder / "answers").is_dir() else 0


def kill_after(process, folder, answers, delay):
    """Kill without a warning, once so many questions are finished and a moment has passed."""
    patience = time.monotonic() + 300
    while process.poll() is None and finished(folder) < answers and time.monotonic() < patience:
        time.sleep(0.01)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()


def check_killed_and_resumed(audit, folder, points):
    for answers, delay in points:
        kill_after(start(audit, folder), folder, answers, delay)
    before = finished(folder)
    assert before >= points[0][0]
    assert not (folder / "record.json").exists() or before == ANSWERS + 1
    process = start(audit, folder)
    assert process.wait(timeout=600) == 1  # violated
    record = json.loads((folder / "record.json").read_text("utf-8"))
    assert without_timings(record) == uninterrupted(audit)
    restored = [each["restored"] for each in record["timings"]["questions"]]
    assert sum(restored) == before
    assert len(restored) == ANSWERS + 1


def test_an_audit_that_was_killed_ends_with_the_same_record(home, tmp_path):
    points = [(2, random.Random(0).uniform(0, 0.2))]
    check_killed_and_resumed(home / "quick.json", tmp_path / "answers of it", points)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_an_audit_that_was_killed_anywhere_ends_with_the_same_record(home, tmp_path, seed):
    draw = random.Random(seed)
    count = draw.randint(1, 3)
    points = sorted((draw.randint(0, ANSWERS), draw.uniform(0, 0.5)) for _ in range(count))
    check_killed_and_resumed(home / "slow.json", tmp_path / "folder", points)


# --- answers that are kept --------------------------------------------------------------------


def test_nothing_is_asked_twice(tmp_path, monkeypatch):
    data, audit = people(400), study(questions=EVERY_KIND[:5])
    first = audit.run(data, folder=tmp_path).record
    from causalfairness.audit import running

    def refuse(*_):
        raise AssertionError("this was answered before")

    monkeypatch.setattr(running, "answer_of", refuse)
    monkeypatch.setattr(running, "independences", refuse)
    again = audit.run(data, folder=tmp_path).record
    assert without_timings(again) == without_timings(first)
    assert all(each["restored"] for each in again["timings"]["questions"])


def test_a_question_that_met_a_defect_is_asked_again_and_no_other(tmp_path, monkeypatch):
    from causalfairness.audit import units

    def broken(*_):
        raise RuntimeError("not today")

    data = people(400)
    audit = study(questions=[{"ask": "disparity"}, {"ask": "invariance", "features": ["c1"]}])
    with monkeypatch.context() as patched:
        patched.setitem(units.ASK, "invariance", broken)
        assert list(audit.run(data, folder=tmp_path).defects) == ["invariance: green against blue"]
    again = audit.run(data, folder=tmp_path)
    assert again.defects == again.unanswered == {}
    assert [each["restored"] for each in again.record["timings"]["questions"]] == [
        True,
        False,
        True,
    ]
    assert without_timings(again.record) == without_timings(audit.run(data).record)


def test_one_more_question_leaves_the_others_alone(tmp_path):
    data = people(400)
    study(questions=EVERY_KIND[:2]).run(data, folder=tmp_path)
    record = study(questions=EVERY_KIND[:4]).run(data, folder=tmp_path).record
    restored = [each["restored"] for each in record["timings"]["questions"]]
    assert restored == [True, True, False, False, True]


@pytest.mark.parametrize(
    "change", [{"settings": {"seed": 3}}, {"settings": {"level": 0.9}}, {"estimator": SLOW}]
)
def test_other_settings_are_other_answers(tmp_path, change):
    data = people(400)
    study().run(data, folder=tmp_path)
    record = study(**change).run(data, folder=tmp_path).record
    assert not record["timings"]["questions"][0]["restored"]


def test_one_changed_value_is_another_answer(tmp_path):
    study().run(people(400), folder=tmp_path)
    changed = people(400, frame="pandas")
    changed.loc[7, "c1"] = 1 - changed.loc[7, "c1"]
    record = study().run(changed, folder=tmp_path).record
    assert not record["timings"]["questions"][0]["restored"]


def test_an_answer_that_is_damaged_is_asked_again(tmp_path):
    data = people(400)
    first = study().run(data, folder=tmp_path).record
    for path in (tmp_path / "answers").glob("*.json"):
        path.write_text(path.read_text("utf-8")[:-40], "utf-8")
    again = study().run(data, folder=tmp_path).record
    assert without_timings(first) == without_timings(again)
    assert not any(each["restored"] for each in again["timings"]["questions"])


def test_an_answer_under_a_wrong_name_is_not_believed(tmp_path):
    store = Store.at(tmp_path)
    store.keep("one", {"answer": 1})
    (tmp_path / "answers" / "one.json").rename(tmp_path / "answers" / "two.json")
    assert store.find("two") is None


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(cf.errors.AuditError, match="cannot be kept"):
        study().run(people(100), folder=tmp_path / "file")


def test_another_version_of_a_rule_is_another_answer(tmp_path):
    from importlib.resources import files

    rule = files("causalfairness.parity.screens").joinpath("rules", "four_fifths.toml")
    text = rule.read_text("utf-8")
    (tmp_path / "own.toml").write_text(text, "utf-8")
    asked = [EVERY_KIND[-1] | {"rule": "own.toml"}]
    told = {"roles": PREDICTED, "questions": asked}
    (tmp_path / "audit.json").write_text(json.dumps(told), "utf-8")
    audit, data = cf.Audit.from_file(tmp_path / "audit.json"), people(400)
    audit.run(data, folder=tmp_path)
    assert audit.run(data, folder=tmp_path).record["timings"]["questions"][0]["restored"]
    (tmp_path / "own.toml").write_text(text.replace("0.8", "0.9"), "utf-8")
    again = audit.run(data, folder=tmp_path).record
    assert not again["timings"]["questions"][0]["restored"]
    assert again["answers"][0]["details"]["rule"]["ratio_below"] == 0.9
