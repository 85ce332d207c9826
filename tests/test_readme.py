"""Does the README keep its word? Its examples run, and the demo prints what it shows."""

import re

from snippets import PROJECT, README, SIGNED, check_same, run_demo, run_page, shown_demo


def test_the_examples_run_and_print_what_is_shown(tmp_path):
    checked = 0
    for snippet, printed in run_page(README, tmp_path):
        if snippet.shown:
            check_same(printed, snippet.shown[2], f"README.md, line {snippet.line}")
            checked += 1
    assert checked


def test_the_demo_prints_what_is_shown():
    check_same(run_demo(), shown_demo()[2], "the demo", numbers=SIGNED)


def test_every_file_that_is_linked_exists():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README.read_text("utf-8")):
        assert (PROJECT / target).exists(), target
