"""Does the README keep its word? Its examples run, and the demo prints what it shows."""

import re

from audit_pages import SECTIONS
from page_checks import axe_findings, sticking_out, thin_out
from snippets import PROJECT, README, SIGNED, check_same, run_demo, run_page, shown_demo


def test_the_examples_run_and_print_what_is_shown(tmp_path):
    checked = 0
    for snippet, printed in run_page(README, tmp_path):
        if snippet.shown:
            check_same(printed, snippet.shown[2], f"README.md, line {snippet.line}")
            checked += 1
    assert checked


def test_the_demo_prints_what_is_shown_and_its_report_opens_in_a_browser(tmp_path, visit):
    check_same(run_demo(tmp_path), shown_demo()[2], "the demo", numbers=SIGNED)
    page = visit(tmp_path / "report.html")
    for key in SECTIONS:
        assert page.locator(f"section#{key}").is_visible(), key
    page.locator(".open-dossier").first.click()
    page.locator("details.dossier[open]").wait_for()
    assert page.locator("details.dossier[open]").count() == 1
    table = page.locator("#individuals table[data-sortable]").first
    rows = table.locator("tbody tr:visible")
    before = rows.all_inner_texts()
    table.get_by_role("button", name="row of the data").click()
    assert rows.all_inner_texts() != before
    assert sticking_out(page) == []
    thin_out(page)
    assert axe_findings(page) == []


def test_every_file_that_is_linked_exists():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README.read_text("utf-8")):
        assert (PROJECT / target).exists(), target
