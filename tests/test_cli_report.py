"""Does `report` write the page of a record, and `audit --report` that of a study?"""

import json

import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from audit_studies import PREDICTED, people, study
from causalfairness import report
from causalfairness.cli import app


@pytest.fixture(scope="module")
def result():
    return study(title="A study").run(people(300))


@pytest.fixture
def record(result, tmp_path):
    return result.to_json(tmp_path / "record.json")


def run(*words, code=0):
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


def test_the_report_is_written_beside_the_record(record):
    run("report", record)
    page = (record.parent / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page == report.render_html(json.loads(record.read_text("utf-8")))


def test_both_formats_are_written_where_asked(record, result):
    goals = [record.parent / name for name in ("a.html", "b.md")]
    run("report", record, "--html", goals[0], "--markdown", goals[1])
    assert goals[1].read_text("utf-8") == report.render_markdown(result)
    assert "A study" in goals[0].read_text("utf-8")
    assert not (record.parent / "report.html").exists()


def test_markdown_alone_writes_no_page(record):
    run("report", record, "--markdown", record.parent / "b.md")
    assert sorted(each.name for each in record.parent.iterdir()) == ["b.md", "record.json"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no record"),
        ("[]", "no record of an audit"),
        ('{"schema": "causalfairness.audit/2"}', "schema 'causalfairness.audit/2'"),
        ('{"schema": "causalfairness.audit/1"}', "is no whole record"),
    ],
)
def test_what_is_no_record_is_named(tmp_path, text, said):
    file = tmp_path / "record.json"
    file.write_text(text, "utf-8")
    done = run("report", file, code=3)
    assert said in " ".join(done.output.split())
    assert [each.name for each in tmp_path.iterdir()] == ["record.json"]


def test_a_record_with_a_hole_is_named_and_nothing_is_written(record):
    told = json.loads(record.read_text("utf-8"))
    del told["answers"][0]["details"]["parts"]
    record.write_text(json.dumps(told), "utf-8")
    done = run("report", record, code=3)
    assert "answers[0]: details: parts is missing" in " ".join(done.output.split())
    assert [each.name for each in record.parent.iterdir()] == ["record.json"]


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert "cannot be read" in run("report", tmp_path / "none.json", code=3).output


def test_other_endings_and_folders_are_refused(record):
    run("report", record, "--html", record.parent / "page.pdf", code=2)
    run("report", record, "--markdown", record.parent / "page.html", code=2)
    run("report", record, "--html", record.parent / "nowhere" / "page.html", code=2)


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_an_audit_writes_its_report(tmp_path, name):
    parquet.write_table(people(300), tmp_path / "people.parquet")
    told = {"title": "A study", "data": "people.parquet", "roles": PREDICTED}
    told["questions"] = [{"ask": "group_metrics"}]
    (tmp_path / "audit.json").write_text(json.dumps(told), "utf-8")
    done = run("audit", tmp_path / "audit.json", "--report", tmp_path / name)
    text = (tmp_path / name).read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>" if name.endswith("html") else "# A study")
    assert "written: " in done.output


def test_an_audit_refuses_another_ending_before_it_asks(tmp_path):
    done = run("audit", "compas", "--report", tmp_path / "page.pdf", code=2)
    assert "'.pdf'" in done.output


def test_results_and_records_are_written_in_every_format(result, tmp_path):
    for given in (result, result.record):
        path = report.write_json(given, tmp_path / "record.json")
        assert json.loads(path.read_text("utf-8")) == result.record
        assert report.write_html(given, tmp_path / "a.html").is_file()
        assert report.write_markdown(given, tmp_path / "a.md").is_file()


@pytest.mark.parametrize("option", ["--record", "--report"])
def test_a_folder_in_the_way_is_found_before_anything_is_asked(tmp_path, option):
    goal = tmp_path / ("goal.json" if option == "--record" else "goal.html")
    goal.mkdir()
    done = run("audit", "compas", option, goal, code=2)
    assert "is a folder" in " ".join(
        done.output.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", "").split()
    )
