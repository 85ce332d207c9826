"""Are hostile names, values and texts inert in the report of an audit, and readable?"""

import pytest

from audit_pages import HOSTILE, NAMES, SECTIONS
from page_checks import axe_findings, inked, photograph, sticking_out, thin_out, unfold

everywhere = pytest.mark.parametrize("width", ["desktop", "phone"])
FOREIGN = """() => {
  const own = new Set(['script', 'style', 'svg']), found = [];
  if (document.querySelectorAll('script').length > 1) found.push('a script more');
  if (document.querySelectorAll('style').length > 1) found.push('a style more');
  for (const e of document.querySelectorAll('*')) {
    for (const a of e.attributes) {
      if (/^on/i.test(a.name)) found.push(`${e.tagName} ${a.name}`);
      if (/^(href|src|action|xlink:href)$/i.test(a.name) && !/^(#|data:image\\/)/.test(a.value))
        found.push(`${e.tagName} ${a.name}=${a.value.slice(0, 80)}`);
    }
    if (/^(IFRAME|OBJECT|EMBED|FORM|BASE|LINK)$/.test(e.tagName)) found.push(e.tagName);
  }
  return found;
}"""


def stir(page):
    """Does all that a reader might do: opens everything, points at it, sorts, goes along."""
    unfold(page)
    for link in page.locator("a.open-dossier").all()[:3]:
        link.click()
    for button in page.locator("th button").all()[:8]:
        button.click()
    page.locator("h1").hover()
    for _ in range(10):
        page.keyboard.press("Tab")
    page.wait_for_timeout(100)


@pytest.mark.parametrize("where", ["file", "server"])
def test_nothing_hostile_ever_runs(visit, hostile_report, served, where):
    page = visit(hostile_report if where == "file" else served(hostile_report))
    assert page.evaluate(FOREIGN) == []
    stir(page)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(FOREIGN) == []
    ids = page.locator("main > section").evaluate_all("all => all.map(e => e.id)")
    assert ids == [*SECTIONS, "in-full"]


def test_no_script_but_the_own_one_may_run(visit, hostile_report, tmp_path):
    """Should some text ever escape its place, the page itself forbids it to run or to ask."""
    text = hostile_report.read_text("utf-8")
    escaped = HOSTILE["script"] + '<svg onload="window.hacked=1"></svg><img src="x.png">'
    path = tmp_path / "escaped.html"
    path.write_text(text.replace("</main>", escaped + "</main>"), "utf-8")
    page = visit(path)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    *said, picture = sorted(visit.troubles, key=lambda it: it.endswith("x.png: csp"))
    for forbidden in ("inline script", "inline event handler"):  # in the order of the browser
        assert sum(f"Executing {forbidden} violates" in it for it in said) == 1, forbidden
    assert picture.endswith("x.png: csp")
    visit.troubles.clear()


@everywhere
def test_it_fits_and_everyone_can_read_it(visit, hostile_report, tmp_path, width):
    page = visit(hostile_report, width=width)
    assert inked(photograph(page, f"hostile-{width}", tmp_path)) > 0.02
    assert sticking_out(page) == []
    unfold(page)
    assert sticking_out(page) == []
    thin_out(page)
    assert axe_findings(page) == []


def test_names_are_shown_as_they_are(visit, hostile_report):
    """Markup as text, hidden characters spelled out; nothing turns the line around."""
    page = visit(hostile_report)
    unfold(page)
    text = page.locator("main").inner_text()
    for name in ["script", "image", "end", "address", "attribute", "template", "emoji", "back"]:
        assert HOSTILE[name] in text, name
    assert "a⏎b⇥c\\x1b[31md" in text
    assert "abc\\u202edef\\u2066ghi" in text
    everything = page.content()
    assert not set("\u202e\u2066\x1b\x07\x7f") & set(everything)
    assert len(everything) < 3_000_000  # long texts are not said again and again
    assert NAMES["c2"] in text.replace("\n", "")  # but once in full


def test_the_table_can_be_sorted_and_dossiers_open(visit, hostile_report):
    page = visit(hostile_report, width="phone")
    table = page.locator("#individuals table[data-sortable]").first
    button = table.locator("th button").first
    button.click()
    first = table.locator("tbody tr").first.inner_text()
    button.click()
    assert table.locator("tbody tr").first.inner_text() != first
    link = table.locator("a.open-dossier").first
    link.click()
    page.locator(f"details.dossier[open]{link.get_attribute('href')}").wait_for()
    assert sticking_out(page) == []
