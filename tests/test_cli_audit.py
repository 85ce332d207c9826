"""Do `init`, `audit`, `verify` and `diff` give the library's answers, exit codes and words?"""

import json
import re
from dataclasses import dataclass

import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

import causalfairness as cf
from audit_studies import PREDICTED, people, without_timings
from causalfairness.cli import app


@dataclass(frozen=True)
class Home:
    """A folder with data, and audit files of some questions."""

    place: object

    def audit(self, *questions, name="audit.json", **more):
        told = {"data": "people.parquet", "roles": PREDICTED, "questions": questions} | more
        (self.place / name).write_text(json.dumps(told), "utf-8")
        return self.place / name


@pytest.fixture
def home(tmp_path):
    parquet.write_table(people(900), tmp_path / "people.parquet")
    return Home(tmp_path)


def run(*words, code=0):
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def flat(text):
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


# --- audit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ({"ask": "disparity"}, 0),
        ({"ask": "disparity", "margin": 0.9}, 0),
        ({"ask": "disparity", "margin": 0.0, "judge": ["total"]}, 1),
        ({"ask": "disparity", "margin": 0.12}, 4),
    ],
)
def test_the_exit_code_says_what_was_found(home, question, code):
    run("audit", home.audit(question), code=code)


def test_a_defect_in_one_question_has_an_exit_code_of_its_own(home, monkeypatch):
    from causalfairness.audit import units

    def broken(*_):
        raise RuntimeError("not today")

    monkeypatch.setitem(units.ASK, "invariance", broken)
    asked = [{"ask": "disparity", "margin": 0.0}, {"ask": "invariance", "features": ["c1"]}]
    done = run("audit", home.audit(*asked), code=70)
    assert (
        "Not answered: a defect of the program stopped this, and nothing else: RuntimeError:"
        in (flat(done.output))
    )
    assert "violated" in done.output


def test_no_answer_at_all_is_an_error(home):
    done = run("audit", home.audit({"ask": "situations", "k": [5_000]}), code=3)
    assert "Not answered: k = 5000 is larger" in flat(done.stdout)


def test_the_record_is_that_of_the_library(home):
    path, record = home.audit({"ask": "disparity"}, {"ask": "group_metrics"}), home.place / "r.json"
    done = run("audit", path, "--record", record)
    expected = cf.Audit.from_file(path).run().record
    assert without_timings(json.loads(record.read_text("utf-8"))) == without_timings(expected)
    assert "written" in done.stderr
    shown = json.loads(run("audit", path, "--json").stdout)
    assert without_timings(shown) == without_timings(expected)


def test_answers_are_printed_with_verdicts_and_doubts(home):
    path = home.audit({"ask": "disparity", "margin": 0.0, "judge": ["total"]})
    text = flat(run("audit", path, code=1).stdout)
    assert "disparity of y: green against blue: violated" in text
    assert "Judged under the stated assumptions: 1 violated." in text


def test_a_file_that_is_wrong_is_refused_in_words(home):
    path = home.audit({"ask": "disparty"}, settings={"sead": 1})
    said = flat(run("audit", path, code=3).stderr)
    assert "questions[0].ask: found 'disparty'; did you mean disparity?" in said
    assert "settings.sead: is no key here; did you mean seed?" in said


def test_check_says_what_would_be_asked_and_runs_nothing(home):
    done = run("audit", home.audit({"ask": "disparity"}, {"ask": "necessity"}), "--check")
    assert "900 rows, 6 columns; these would be asked:" in done.stdout
    assert "business necessity: green against blue" in done.stdout


def test_other_data_and_a_folder_may_be_given(home):
    parquet.write_table(people(300), home.place / "other.parquet")
    path, folder = home.audit({"ask": "disparity"}), home.place / "kept"
    words = ("audit", path, "--data", home.place / "other.parquet", "--folder", folder, "--json")
    assert json.loads(run(*words).stdout)["data"]["rows"] == 300
    again = json.loads(run(*words).stdout)["timings"]["questions"]
    assert all(each["restored"] for each in again)


def test_a_model_needs_trust(home):
    (home.place / "cli_scoring.py").write_text("def predict(people):\n    return people['m1']\n")
    roles = {name: value for name, value in PREDICTED.items() if name != "prediction"}
    predictor = {"function": "cli_scoring:predict"}
    path = home.audit({"ask": "group_metrics"}, roles=roles, predictor=predictor)
    assert "--trust" in flat(run("audit", path, code=3).stderr)
    run("audit", path, "--trust")


def test_a_record_must_be_json(home):
    done = run("audit", home.audit({"ask": "disparity"}), "--record", "r.txt", code=2)
    assert "expected .json" in flat(done.stderr)


def test_the_bundled_audit_of_compas_fits_its_data():
    done = run("audit", "compas", "--check")
    assert "6,172 rows" in done.stdout
    assert "false negative rate: African-American against Caucasian" in done.stdout


def test_a_bundled_audit_gives_way_to_a_file_of_its_name(home, monkeypatch):
    monkeypatch.chdir(home.place)
    (home.place / "compas").mkdir()  # a folder is no audit
    assert "6,172 rows" in run("audit", "compas", "--check").stdout
    (home.place / "compas").rmdir()
    home.audit({"ask": "disparity"}).rename(home.place / "compas")
    assert "is not TOML" in flat(run("audit", "compas", "--check", code=3).stderr)


def test_an_unknown_audit_is_refused_with_those_that_are_bundled():
    said = flat(run("audit", "compass", code=3).stderr)
    assert "no file 'compass', and no bundled audit of that name; bundled: compas." in said
    assert "'compass.toml' cannot be read" in flat(run("audit", "compass.toml", code=3).stderr)


# --- init -------------------------------------------------------------------------------------


def test_a_proposed_file_can_be_checked_once_it_says_which_value_people_want(home, monkeypatch):
    monkeypatch.chdir(home.place)
    run("init", "people.parquet", "--out", "audit.toml")
    proposed = (home.place / "audit.toml").read_text("utf-8")
    assert run("init", "people.parquet").stdout == proposed
    refused = run("audit", "audit.toml", "--check", code=3)
    assert "favorable is still '?'" in flat(refused.stderr)
    (home.place / "audit.toml").write_text(
        re.sub(r'(favorable = )"\?"', r"\1 1", proposed), "utf-8"
    )
    run("audit", "audit.toml", "--check")


def test_a_file_is_never_overwritten(home):
    out = home.place / "audit.toml"
    out.write_text("mine", "utf-8")
    done = run("init", home.place / "people.parquet", "--out", out, code=2)
    assert "there already" in flat(done.stderr)
    assert out.read_text("utf-8") == "mine"
    run("init", home.place / "nothing.csv", code=3)


# --- verify and diff --------------------------------------------------------------------------


@pytest.fixture
def record(home):
    path = home.place / "record.json"
    run("audit", home.audit({"ask": "disparity"}, {"ask": "group_metrics"}), "--record", path)
    return path


def test_verify_finds_the_record_again_from_another_engine(home, record):
    people(900, frame="pandas").to_csv(home.place / "people.csv", index=False)
    done = run("verify", record, "--data", home.place / "people.csv")
    assert "No difference." in done.stdout


def test_verify_names_the_first_difference(home, record):
    data = people(900, frame="pandas")
    data.loc[3, "m1"] = 1 - data.loc[3, "m1"]
    data.to_parquet(home.place / "changed.parquet", index=False)
    done = run("verify", record, "--data", home.place / "changed.parquet", code=1)
    assert "first difference: data: columns: m1" in flat(done.stderr)
    assert "nothing was asked again" in flat(done.stdout)


def test_diff_shows_what_changed_by_group(home, record):
    other = home.place / "other.json"
    path = home.audit({"ask": "disparity"}, settings={"level": 0.9}, name="b.json")
    run("audit", path, "--record", other)
    text = flat(run("diff", record, other, code=1).stdout)
    assert "settings: settings: level: 0.95 before, 0.9 now" in text
    assert "estimates" in text
    run("diff", record, record)
    found = json.loads(run("diff", record, other, "--json", code=1).stdout)
    assert {"group", "where", "before", "now"} == {*found[0]}


def test_what_is_no_record_is_an_error(home):
    said = flat(run("diff", home.place / "no.json", home.place / "no.json", code=3).stderr)
    assert "cannot be read" in said
