"""Does an audit report work in a real browser: sections, sorting, dossiers, light and dark?"""

import re

import pytest

from audit_pages import SECTIONS
from page_checks import READABLE, background, contrast

MISSING = "\N{EN DASH}"
TABLE = "#individuals table[data-sortable]"
ROWS = """table => [...table.tBodies[0].rows].map(
  row => [...row.cells].map(cell => cell.textContent.trim()))"""


@pytest.fixture(params=["file", "server"])
def address(request, tame_report, served):
    return tame_report if request.param == "file" else served(tame_report)


@pytest.fixture
def page(visit, tame_report):
    return visit(tame_report)


# --- sections ---------------------------------------------------------------------------------


def test_every_section_is_there_and_says_something(visit, address):
    page = visit(address)
    there = page.locator("main > section").evaluate_all("all => all.map(e => e.id)")
    assert there[: len(SECTIONS)] == [*SECTIONS]
    assert set(there[len(SECTIONS) :]) <= {"in-full"}
    for key in SECTIONS:
        section = page.locator(f"section#{key}")
        assert section.is_visible(), key
        heading = section.get_by_role("heading", level=2)
        assert heading.count() == 1, key
        assert heading.is_visible()
        said = section.inner_text().removeprefix(heading.inner_text()).strip()
        assert len(said) > 60, f"{key}: {said!r}"
    assert page.locator("h1").inner_text() == "Decisions in a small world"
    assert "Decisions in a small world" in page.title()


def test_links_within_the_page_lead_somewhere(page):
    dead = page.evaluate(
        "[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"
        ".filter(to => !to.startsWith('#') || !document.getElementById(to.slice(1)))"
    )
    assert dead == []
    linked = page.locator("nav a").evaluate_all("all => all.map(a => a.hash.slice(1))")
    assert linked == [*SECTIONS]
    doubled = page.evaluate(
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, at, all) => all.indexOf(id) !== at)"
    )
    assert doubled == []


def test_a_section_is_reached_from_the_list_of_contents(page):
    page.locator("nav a[href='#groups']").click()
    top = page.locator("#groups").evaluate("e => e.getBoundingClientRect().top")
    assert 0 <= top < 200


def test_the_keyboard_can_skip_to_the_findings(page):
    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.get_attribute("href") == "#content"
    assert skip.bounding_box()["x"] >= 0  # it shows itself when it is reached
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_keyboard_reaches_everything_visibly(page):
    """Whatever can have the focus shows that it has it; a theme shows it on its label."""
    hidden = """() => {
      const e = document.activeElement, label = e.labels && e.labels[0];
      const seen = x => x && getComputedStyle(x).outlineStyle !== 'none'
                          && parseFloat(getComputedStyle(x).outlineWidth) >= 2;
      return seen(e) || seen(label) ? '' : e.outerHTML.slice(0, 120);
    }"""
    page.locator("#theme-auto").focus()
    reached = []
    while len(reached) < 80 and "BODY" not in reached:  # the end of the page
        assert page.evaluate(hidden) == ""
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName"))
    assert {*reached} >= {"A", "DIV", "BUTTON", "SUMMARY"}


# --- the table of situations ------------------------------------------------------------------


def number(text):
    """What a cell says, as a number; None if it says nothing or something else."""
    plain = text.strip().replace("\N{MINUS SIGN}", "-").replace(",", "")
    found = re.fullmatch(r"([<>]?)([+-]?\d+(?:\.\d+)?)(%?)", plain)
    if not found:
        return None
    return float(found[2]) * {"": 1.0, "<": 0.999, ">": 1.001}[found[1]]


def ordered(values, direction):
    """Are these in this order, and what is missing at the end?"""
    there = [value for value in values if value is not None]
    wanted = sorted(there, reverse=direction == "descending")
    return values == wanted + [None] * (len(values) - len(there))


def numeric_columns(rows):
    """Which columns hold different numbers, and nothing else but gaps?"""
    for at in range(len(rows[0])):
        cells = [row[at] for row in rows]
        filled = {cell for cell in cells if not cell.startswith(MISSING)}
        if len(filled) > 1 and all(number(cell) is not None for cell in filled):
            yield at


def directions(table):
    """How is each column said to be ordered?"""
    return table.locator("thead th").evaluate_all(
        "all => all.map(th => th.getAttribute('aria-sort') || 'none')"
    )


def test_every_column_of_numbers_can_be_put_in_order(page):
    table = page.locator(TABLE).first
    before = table.evaluate(ROWS)
    assert len(before) > 20
    misled = 0
    for at in numeric_columns(before):
        button = table.locator("thead th").nth(at).locator("button")
        seen = []
        for _ in range(2):
            button.click()
            told = directions(table)
            assert [where for where, said in enumerate(told) if said != "none"] == [at]
            now = table.evaluate(ROWS)
            assert sorted(now) == sorted(before)  # rows stay whole, and none is lost
            cells = [row[at] for row in now]
            assert ordered([number(cell) for cell in cells], told[at]), (told[at], cells)
            misled += cells != sorted(cells, reverse=told[at] == "descending")
            seen.append(told[at])
        assert sorted(seen) == ["ascending", "descending"]
    assert misled >= 2  # as text they would have been in another order


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_sorts_as_well(visit, address, key):
    page = visit(address)
    table = page.locator(TABLE).first
    at = next(numeric_columns(table.evaluate(ROWS)))
    button = table.locator("thead th").nth(at).locator("button")
    button.focus()
    page.keyboard.press(key)
    first = directions(table)[at]
    page.keyboard.press(key)
    second = directions(table)[at]
    assert {first, second} == {"ascending", "descending"}
    assert ordered([number(row[at]) for row in table.evaluate(ROWS)], second)
    assert button.evaluate("e => e === document.activeElement")


# --- dossiers ---------------------------------------------------------------------------------


def first_dossier(page):
    """The link of a row that has a dossier, and the dossier."""
    link = page.locator(f"{TABLE} a.open-dossier").first
    return link, page.locator("details.dossier" + link.get_attribute("href"))


def assert_opened(page, dossier):
    page.locator("details.dossier[open]").wait_for()
    assert dossier.get_attribute("open") is not None
    assert page.locator("details.dossier[open]").count() == 1
    top = dossier.evaluate("e => e.getBoundingClientRect().top")
    assert -1 <= top < page.viewport_size["height"] - 50  # it was brought into view
    assert len(dossier.inner_text()) > len(dossier.locator("summary").first.inner_text()) + 60


def test_a_row_opens_its_dossier(visit, address):
    page = visit(address)
    link, dossier = first_dossier(page)
    assert dossier.get_attribute("open") is None
    person = re.search(r"P\d+", link.inner_text())[0]
    link.click()
    assert_opened(page, dossier)
    assert person in dossier.locator("summary").first.inner_text()


def test_the_keyboard_opens_a_dossier_and_goes_there(page):
    link, dossier = first_dossier(page)
    link.focus()
    page.keyboard.press("Enter")
    assert_opened(page, dossier)
    assert dossier.evaluate("e => e.contains(document.activeElement)")


def test_an_address_opens_a_dossier(visit, address, page):
    link, _ = first_dossier(page)
    there = visit(address, fragment=link.get_attribute("href"))
    _, dossier = first_dossier(there)
    assert_opened(there, dossier)


def test_sorting_keeps_links_with_their_rows(page):
    table = page.locator(TABLE).first
    pairs = "t => [...t.querySelectorAll('a.open-dossier')].map(a => a.textContent + a.hash).sort()"
    before = table.evaluate(pairs)
    at = next(numeric_columns(table.evaluate(ROWS)))
    table.locator("thead th").nth(at).locator("button").click()
    assert table.evaluate(pairs) == before


# --- light and dark ---------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True], ids=["by day", "at night"])
def test_light_and_dark_can_be_chosen(visit, address, dark):
    page = visit(address, dark=dark)
    for choice, is_dark in [("dark", True), ("light", False), ("auto", dark)]:
        page.locator(f"label[for=theme-{choice}]").click()
        assert page.locator(f"#theme-{choice}").is_checked()
        assert background(page) < 0.05 if is_dark else background(page) > 0.9
        for text in ["body", "h1", "#summary", f"{TABLE} caption", "nav a", "footer"]:
            assert contrast(page, text) > READABLE, (choice, text)


def test_the_keyboard_chooses_light_and_dark(page):
    page.locator("#theme-auto").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#theme-light").is_checked()
    page.keyboard.press("ArrowRight")
    assert page.locator("#theme-dark").is_checked()
    assert background(page) < 0.05
