"""Can everyone read an audit report: on a phone, in the dark, with a screen reader, on paper?"""

import re

import pytest

from audit_pages import SECTIONS
from page_checks import axe_findings, inked, looks, photograph, sticking_out, thin_out, unfold

FOLDED = "details:not([open]) > :not(summary)"
UNSEEN = """all => all.filter(e => !e.checkVisibility({contentVisibilityAuto: true}))
                      .map(e => e.outerHTML.slice(0, 150))"""
TEXT = """() => {
  const copy = document.querySelector('main').cloneNode(true);
  copy.querySelectorAll('.count').forEach(each => each.remove());  // how many rows are shown
  return copy.textContent.replace(/\\s+/g, ' ');
}"""

everywhere = pytest.mark.parametrize("width", ["desktop", "phone"])
by_day_and_night = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


@pytest.mark.parametrize(("width", "dark"), [("desktop", False), ("phone", True)])
def test_it_looks_like_something_and_fits(visit, tame_report, tmp_path, width, dark):
    page = visit(tame_report, width=width, dark=dark)
    picture = photograph(page, f"audit-{width}-{'dark' if dark else 'light'}", tmp_path)
    assert inked(picture) > 0.02
    for key in SECTIONS:
        box = page.locator(f"section#{key}").bounding_box()
        part = picture[int(box["y"]) : int(box["y"] + box["height"])]
        assert inked(part) > 0.01, f"{key} is blank"
    assert sticking_out(page) == []
    unfold(page)
    assert sticking_out(page) == []


@everywhere
@by_day_and_night
def test_axe_finds_nothing(visit, tame_report, width, dark):
    page = visit(tame_report, width=width, dark=dark)
    unfold(page)
    thin_out(page)
    assert axe_findings(page, only="color-contrast" if dark else "") == []


@by_day_and_night
def test_a_chosen_theme_looks_like_that_of_the_system(visit, tame_report, dark):
    system, chosen = visit(tame_report, dark=dark), visit(tame_report, dark=not dark)
    assert looks(system) != looks(chosen)
    chosen.locator(f"label[for=theme-{'dark' if dark else 'light'}]").click()
    assert looks(system) == looks(chosen)


# --- without scripts --------------------------------------------------------------------------


def test_everything_can_be_read_without_scripts(visit, tame_report):
    plain, usual = visit(tame_report, scripts=False), visit(tame_report)
    assert plain.evaluate(TEXT) == usual.evaluate(TEXT)
    assert plain.locator("tbody tr").count() > 60
    unseen = plain.locator("section, tbody tr, figure").evaluate_all(
        "all => all.filter(e => !e.closest('details') && !e.checkVisibility())"
        ".map(e => e.outerHTML.slice(0, 150))"
    )
    assert unseen == []


def test_a_dossier_opens_without_scripts(visit, tame_report):
    page = visit(tame_report, scripts=False)
    dossier = page.locator("details.dossier").first
    dossier.locator("summary").first.click()
    assert dossier.get_attribute("open") is not None
    assert dossier.locator("table, dl").first.is_visible()


def test_themes_need_no_scripts(visit, tame_report):
    page = visit(tame_report, scripts=False)
    before = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    page.locator("label[for=theme-dark]").click()
    assert page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") != before


# --- on paper ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_paper_shows_what_is_folded_and_nothing_to_click(visit, tame_report, scripts):
    page = visit(tame_report, scripts=scripts, dark=True)
    assert page.locator(FOLDED).evaluate_all(UNSEEN) != []
    page.emulate_media(media="print")
    assert page.locator(FOLDED).evaluate_all(UNSEEN) == []
    assert page.locator("tbody tr:not([hidden])").evaluate_all(UNSEEN) == []
    for gone in ["nav", ".theme", ".skip", ".show-all"]:
        assert not page.locator(gone).first.is_visible(), gone
    paper, ink = page.locator("body").evaluate(
        "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    )
    assert paper == "rgb(255, 255, 255)"
    assert ink == "rgb(0, 0, 0)"


def test_paper_shows_as_many_rows_as_the_screen_and_says_how_many_there_are(visit, tame_report):
    page = visit(tame_report)
    whole = page.locator("#individuals .tabular:has(.show-all)").first
    table, said = whole.locator("table"), whole.locator(".count")
    every = table.locator("tbody tr").count()
    page.emulate_media(media="print")
    shown = table.locator("tbody tr:visible").count()
    assert 0 < shown < every
    assert said.is_visible()
    assert said.text_content() == f"{shown} of {every} rows"
    page.emulate_media(media="screen")
    whole.locator(".show-all").click()
    page.emulate_media(media="print")
    assert table.locator("tbody tr:visible").count() == every
    assert said.text_content() == f"{every} rows"


def test_it_becomes_a_pdf_with_all_that_is_folded(visit, tame_report):
    page = visit(tame_report)
    as_it_is = pages_of(page.pdf(format="A4"))
    unfold(page)
    assert pages_of(page.pdf(format="A4")) == as_it_is > 3


def pages_of(pdf):
    assert pdf.startswith(b"%PDF-")
    return len(re.findall(rb"/Type\s*/Page\b", pdf))
