"""Does the README keep its word? Its links lead somewhere, and it stays short."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import causalfairness as cf
from audit_pages import SECTIONS
from causalfairness.cli import app
from page_checks import axe_findings, sticking_out, thin_out
from plain_words import words_out
from snippets import FENCE, PROJECT, README

KINDS = (
    "disparity",
    "error_rates",
    "group_metrics",
    "predictive_parity",
    "necessity",
    "counterfactual_fairness",
    "situations",
    "invariance",
    "screens",
)


def demo_words():
    """What does `make demo` say to the command line?"""
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    said = re.search(r"^demo:.*\n\t@?\S*/causalfairness (.+?) \|\| test", makefile, re.MULTILINE)
    return shlex.split(said[1])


@pytest.mark.parametrize("people", [800, pytest.param(6_172, marks=pytest.mark.slow)])
def test_the_demo_is_answered_and_its_report_opens_in_a_browser(
    people, tmp_path, monkeypatch, visit
):
    """Asked about some of the people, and, in the slow tests, about all of them."""
    monkeypatch.chdir(tmp_path)
    compas = cf.datasets.load_compas(frame="pandas")
    compas.sample(people, random_state=0).to_parquet("people.parquet")
    words = [*demo_words(), "--data", "people.parquet"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80"})
    assert done.exit_code == 1, done.output  # something is violated
    record = json.loads(Path("record.json").read_text("utf-8"))
    assert [answer["status"] for answer in record["answers"]] == ["answered"] * 11
    assert {answer["kind"] for answer in record["answers"]} == {*KINDS}
    assert all(answer["title"] in done.stdout for answer in record["answers"])
    assert any(each["times"] for each in record["answers"][0]["sensitivity"]["benchmarks"])
    page = visit(tmp_path / "report.html")
    assert words_out(done.stdout) == words_out(page.locator("body").text_content()) == []
    for key in SECTIONS:
        assert page.locator(f"section#{key}").is_visible(), key
    assert "nothing is said about single people" in page.locator("body").text_content()
    assert page.locator(".dossier").count() == 0  # nobody asked for them
    assert sticking_out(page) == []
    thin_out(page)
    assert axe_findings(page) == []


def test_every_file_that_is_linked_exists():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README.read_text("utf-8")):
        assert (PROJECT / target).exists(), target


def test_it_is_short_and_what_it_shows_of_a_terminal_shorter():
    text = README.read_text("utf-8")
    assert text.count("\n") <= 150
    assert max(block[2].count("\n") for block in FENCE.finditer(text)) <= 25
