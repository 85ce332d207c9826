"""Does the demo print what the library finds, legibly and without a verdict?"""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from causalfairness.datasets import load_compas
from causalfairness.demo import MODEL, error_rates, main
from causalfairness.parity import decompose_disparity

PARTS = ("total", "direct", "indirect", "spurious")
CONVENTIONS = ("sequential", "symmetric")
ROW = re.compile(
    r"^  (total|direct|indirect|spurious) +([+-]\d\.\d{3}) +([+-]\d\.\d{3}) to ([+-]\d\.\d{3}) ",
    re.MULTILINE,
)
ERRORS = re.compile(
    r"^  (total|direct|indirect|spurious) +"
    + r" +".join([r"([+-]\d\.\d{3}) \(([+-]\d\.\d{3}) to ([+-]\d\.\d{3})\)"] * 2),
    re.MULTILINE,
)
HALF_A_DIGIT = 0.0005 + 1e-12


def run_demo(**console):
    page = io.TextIOWrapper(io.BytesIO(), encoding=console.pop("encoding", "utf-8"))
    main(Console(file=page, width=80, **console))
    page.flush()
    return page.buffer.getvalue().decode(page.encoding)


@pytest.fixture(scope="module")
def printed():
    return run_demo()


@pytest.fixture(scope="module")
def tables(printed):
    """The printed numbers: convention -> part -> value, low, high."""
    rows = [(name, [*map(float, numbers)]) for name, *numbers in ROW.findall(printed)]
    assert [name for name, _ in rows] == [*PARTS, *PARTS]
    return {"sequential": dict(rows[:4]), "symmetric": dict(rows[4:])}


def test_the_numbers_are_those_of_the_library(tables):
    found = decompose_disparity(load_compas(), MODEL)
    for convention in CONVENTIONS:
        view = replace(found, convention=convention)
        for name, printed in tables[convention].items():
            part = getattr(view, name)
            expected = [part.value, *part.interval(0.95)]
            assert printed == pytest.approx(expected, abs=HALF_A_DIGIT), (convention, name)


def test_error_rates_are_those_of_the_library_and_the_plain_ones(printed):
    rows = {name: [*map(float, numbers)] for name, *numbers in ERRORS.findall(printed)}
    assert list(rows) == [*PARTS]
    for at, found in enumerate(error_rates(load_compas()).values()):
        for name in PARTS:
            part = getattr(found, name)
            expected = [part.value, *part.interval(0.95)]
            assert rows[name][3 * at : 3 * at + 3] == pytest.approx(expected, abs=HALF_A_DIGIT)
    compas = load_compas().to_pylist()
    text = " ".join(printed.split())
    for race in ("Caucasian", "African-American"):
        innocent = [row for row in compas if row["race"] == race and not row["two_year_recid"]]
        rate = sum(row["decile_score"] > 4 for row in innocent) / len(innocent)
        assert f"{rate:.1%} of {race}" in text
    assert "Assumes, besides the lines below, that asking only about people" in text


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_printed_parts_add_up_within_rounding(tables, convention):
    total, *parts = (tables[convention][name][0] for name in PARTS)
    assert sum(parts) == pytest.approx(total, abs=4 * HALF_A_DIGIT)


def test_every_part_has_its_sentence(printed):
    sentences = last_column(printed)
    for convention in CONVENTIONS:
        assert sentences[convention].count(".") >= len(PARTS)
        assert "Consistent with no direct effect above 0.0" in sentences[convention]
        assert "Runs through the criminal record" in sentences[convention]
        assert "Comes along with age and sex" in sentences[convention]


def test_the_rates_behind_the_gap_are_the_plain_ones(printed):
    sentences = last_column(printed)["sequential"]
    compas = load_compas().to_pylist()
    for race in ("Caucasian", "African-American"):
        rows = [row["two_year_recid"] for row in compas if row["race"] == race]
        assert f"{sum(rows) / len(rows):.1%} of {race}" in sentences


def last_column(printed):
    """The words beside the numbers, joined per convention."""
    start = next(line.index("in words") for line in printed.splitlines() if "in words" in line)
    pages = re.split(r"^(?:sequential|symmetric) ─+$", printed, flags=re.MULTILINE)[1:]
    columns = (" ".join(line[start:] for line in page.splitlines()) for page in pages)
    return {name: " ".join(words.split()) for name, words in zip(CONVENTIONS, columns, strict=True)}


def test_reasons_rows_and_assumptions_are_stated(printed):
    text = " ".join(printed.split())
    assert "DoublyRobust chosen because column 'age' has 65 values" in text
    assert "6,172 rows read, 5,278 used" in text
    assert "no hidden common cause" in text


def test_no_verdict_is_given(printed):
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
