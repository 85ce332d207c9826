"""Is the page of a whole study one sound file, for every kind of block and every reader?"""

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalfairness.report.environment import environment
from causalfairness.report.legible import legible, shortened
from causalfairness.report.page import blocks
from causalfairness.report.page.blocks import (
    Column,
    Dossier,
    Dossiers,
    Intervals,
    Judgment,
    Judgments,
    Page,
    Section,
    Sentences,
    Table,
    Waterfall,
    Waterfalls,
)
from causalfairness.report.page.html import render_page
from causalfairness.report.summary import Row, Step
from page_of_everything import page_with
from test_report import HOSTILE
from test_report import Page as Parsed

NUMBER = Column("x", "x", "number")


class Read(Parsed):
    """A page as it is read: what is said, apart from its style and its script."""

    def handle_data(self, data):
        if "script" not in self.open:
            super().handle_data(data)

    def with_class(self, name):
        return [a for _, a in self.elements if name in (a.get("class") or "").split()]


def rendered(*shown):
    return Read(render_page(Page("t", "k", (Section("s", "S", shown),), "f")))


@pytest.fixture(scope="module")
def text():
    return render_page(page_with())


@pytest.fixture(scope="module")
def page(text):
    return Read(text)


# --- one file -----------------------------------------------------------------------------------


def test_it_is_one_file_that_loads_nothing_and_runs_only_its_own_script(text, page):
    (policy,) = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["content"].startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'"
    )
    assert "unsafe-eval" not in policy["content"]
    assert page.all("script") == [{}]
    assert len(page.all("style")) == 1
    assert not {tag for tag, _ in page.elements} & {"iframe", "link", "object", "embed", "form"}
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")
        assert attributes.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", text)


def test_the_same_page_gives_the_same_bytes(text):
    assert render_page(page_with()) == text
    assert "\r" not in text


def test_every_kind_of_block_is_in_the_page_of_everything():
    def kinds(shown):
        for block in shown:
            yield type(block)
            for case in block.cases if isinstance(block, Dossiers) else ():
                yield from kinds(case.blocks)
            yield from kinds(getattr(block, "blocks", ()))

    found = {kind for section in page_with().sections for kind in kinds(section.blocks)}
    assert found == set(get_args(blocks.Block))


def test_every_kind_of_block_says_what_it_holds(page):
    said = page.text
    for words in (
        "One assumption is contradicted",  # sentences
        "neither shown above 0.05",  # judgments
        "Score of 5 or more",  # waterfalls
        "a part of their own naming",  # intervals
        "the reference group",  # a table
        "not African-American",  # curves
        "between 0.3 and 0.4",  # a histogram, in words
        "above the line of no change",  # points, in words
        "race causes recid",  # a picture
        "had they been African-American",  # images
        "Person 2, African-American",  # dossiers
        "Every effect",  # folded
        "Women",  # a part of a part
        "compas.parquet",  # pairs
    ):
        assert words in said
    assert len(page.with_class("series-1")) == 2  # a key and a curve


def test_a_page_without_anything_is_a_page():
    empty = Read(render_page(Page("t", "k", (), "the end")))
    assert empty.all("main")
    assert "the end" in empty.text


def test_the_number_of_verdicts_stands_at_the_top(page):
    assert re.search(r"1 satisfied\s+1 violated\s+1 undecided\s+1 unanswered", page.text)
    assert "1 reported" not in page.text


# --- for every reader ---------------------------------------------------------------------------


def test_headings_are_in_order_and_sections_are_named(page):
    depths = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert depths.count(1) == 1
    assert depths[0] == 1
    assert max(depths) == 4
    assert all(later <= earlier + 1 for earlier, later in pairwise(depths))
    keys = [section.key for section in page_with().sections]
    assert [section["id"] for section in page.all("section")] == keys
    links = [link["href"] for link in page.all("a")]
    assert links[0] == "#content"
    assert links[1 : 1 + len(keys)] == [f"#{key}" for key in keys]


def test_places_are_unique_and_whatever_is_referred_to_is_there(page):
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert set(attributes.get(name, "").split()) <= set(ids)
        assert attributes.get("href", "#content")[1:] in ids


def test_tables_scroll_by_themselves_and_are_labelled(page):
    assert len(page.all("caption")) == len(page.all("table")) == len(page.with_class("scroll"))
    assert all("scope" in attributes for attributes in page.all("th"))
    for region in page.with_class("scroll"):
        assert region["tabindex"] == "0"
        assert region["aria-labelledby"]
    assert all(image["alt"] for image in page.all("img"))
    assert len({image["alt"] for image in page.all("img")}) == 6


def test_drawings_say_what_they_show_and_decoration_is_silent(page):
    drawings = [svg for svg in page.all("svg") if "role" in svg]
    assert len(drawings) == 6  # two waterfalls, curves, a histogram, points, a picture
    assert all("aria-labelledby" in svg for svg in drawings)
    inner = [svg for svg in page.all("svg") if "preserveaspectratio" in svg]
    rest = len(page.all("svg")) - len(drawings) - len(inner)
    assert len([svg for svg in page.all("svg") if svg.get("aria-hidden") == "true"]) == rest


def test_verdicts_have_a_sign_and_a_word():
    for tone, word in (("violated", "violated"), ("plain", "reported")):
        page = rendered(Judgments((Judgment(tone, "a path", "because"),)))
        assert word in page.text
        assert {"href": f"#sign-{tone}"} in page.all("use")
        assert f"sign-{tone}" in [symbol["id"] for symbol in page.all("symbol")]


def test_without_the_script_everything_can_be_read(page):
    assert not [a for tag, a in page.elements if "hidden" in a and tag != "button"]
    assert all("disabled" in a or "hidden" in a for a in page.all("button"))
    assert all(a["type"] == "button" for a in page.all("button"))
    (table,) = [a for a in page.all("table") if "data-shown" in a]
    assert table["data-shown"] == "12"
    assert len([a for a in page.all("th") if a.get("data-v")]) == 60  # all rows, not twelve
    assert "60 rows" in page.text


def test_the_theme_is_chosen_without_a_script(page):
    radios = [a for a in page.all("input") if a["type"] == "radio"]
    assert [a["id"] for a in radios] == ["theme-auto", "theme-light", "theme-dark"]
    assert [a["for"] for a in page.all("label")] == [a["id"] for a in radios]


def colors(kind):
    """The variables of a theme, as a reader chooses it and as the reader's system does."""
    chosen, auto = {}, {}
    for sheet in ("page", "study"):
        css = environment().loader.get_source(environment(), f"{sheet}.css")[0]
        screen = css[: css.index("@media print")]
        dark = screen.index("@media (prefers-color-scheme: dark)")
        end = screen.index("\n}\n", dark)
        night, day = screen[dark:end], screen[:dark]
        auto |= variables(day if kind == "light" else night)
        at = screen.index(f":root:has(#theme-{kind}:checked)")
        chosen |= variables(screen[at : screen.index("}", at)])
    return chosen, auto


def variables(lines):
    return dict(re.findall(r"--([\w-]+): (#\w{6})", lines))


def luminance(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    line = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_text_and_verdicts_can_be_told_from_their_ground(kind):
    color, auto = colors(kind)
    assert color == auto
    grounds = ("paper", "wash")
    pairs = [(name, ground) for name in ("ink", "muted", "violated") for ground in grounds]
    pairs += [(name, f"{name}-wash") for name in ("satisfied", "undecided")]
    pairs += [(name, "paper") for name in ("satisfied", "undecided")]
    for name, ground in pairs:
        assert contrast(color[name], color[ground]) >= 4.5, (name, ground)
    for name in ("accent", "direct", "indirect", "spurious", "rest"):
        assert contrast(color[name], color["wash"]) >= 3, name


# --- numbers ------------------------------------------------------------------------------------


def test_waterfalls_that_measure_the_same_stand_on_one_scale():
    steps = [
        (Step("reference", "Male", "level", 0.0, at, at - 0.01, at + 0.01),) for at in (0.2, 0.6)
    ]
    drawings = tuple(Waterfall(str(at), "y", "a", "b", each) for at, each in enumerate(steps))
    shared = rendered(Waterfalls(drawings, level=0.95, shared=True))
    apart = rendered(Waterfalls(drawings, level=0.95))
    dots = [[a["cx"] for a in page.with_class("dot")] for page in (shared, apart)]
    assert len(set(dots[0])) == 2
    assert set(dots[1]) == {"50.0%"}
    assert "one scale for all" in shared.text
    assert "one scale" not in apart.text


def test_intervals_without_numbers_are_not_drawn():
    nan, inf = float("nan"), float("inf")
    rows = (Row("g", "direct", 0.1, 0.01, 0.08, 0.12, 0.5), Row("g", "b", nan, nan, -inf, inf, nan))
    page = rendered(Intervals("c", rows, level=0.9, margin=0.05))
    assert "nan" not in page.text
    assert "inf" not in page.text
    assert len([a for tag, a in page.elements if tag == "circle"]) == 1
    assert "within the margin of 0.05" in page.text
    assert "90% interval" in page.text
    (dot,) = page.with_class("dot")
    band = page.with_class("margin")[0]
    low, wide = float(band["x"][:-1]), float(band["width"][:-1])
    assert low + wide < float(dot["cx"][:-1]) < 100  # 0.1 lies beyond the margin
    assert rendered(Intervals("c", (), level=0.9)).all("table")


def test_a_table_that_can_be_sorted_holds_its_numbers():
    columns = (Column("name", "name"), NUMBER, Column("p", "p", "p"), Column("b", "b", "yes"))
    rows = (("b", 1234.5, 1e-9, True), ("a", None, 0.04, False), ("", 2.25, None, None))
    page = rendered(Table("c", columns, rows, sortable=True))
    assert "data-sortable" in page.all("table")[0]
    heads = [a for a in page.all("th") if a["scope"] == "col"]
    assert all(a["aria-sort"] == "none" for a in heads)
    assert len(page.all("button")) == 4
    cells = [a.get("data-v") for a in page.all("td")]
    assert cells == ["1234.5", "1e-09", "1", None, "0.04", "0", "2.25", None, None]
    assert "1,234.5" in page.text
    assert "<0.001" in page.text
    assert len(page.with_class("none")) == 4
    assert [a.get("class") for a in heads] == [None, "n", "n", None]


def test_a_single_row_needs_no_sorting_and_no_rows_are_said():
    assert not rendered(Table("c", (NUMBER,), ((1.0,),), sortable=True)).all("button")
    assert "No rows." in rendered(Table("c", (NUMBER,), (), sortable=True)).text


# --- dossiers -----------------------------------------------------------------------------------


def test_a_row_opens_its_dossier_and_the_dossier_leads_back(page):
    links = page.with_class("open-dossier")
    assert [a["href"] for a in links] == ["#dossier-0", "#dossier-1", "#dossier-2"]
    found = [a for a in page.all("details") if a.get("class") == "dossier"]
    assert [a["id"] for a in found] == ["dossier-0", "dossier-1", "dossier-2"]
    assert "open" not in found[0]
    (table,) = {a["href"][1:] for a in page.with_class("back")}
    assert table in [a["id"] for a in page.with_class("tabular")]


def test_hostile_keys_make_harmless_places():
    keys = ["a b", "a-b", '"><script>', "\u202e", "é" * 90, "content"]
    cases = tuple(Dossier(key, "case", (Sentences(("said",)),)) for key in keys)
    rows = tuple((float(at),) for at in range(len(keys) + 1))
    table = Table("c", (NUMBER,), rows, links=(*keys, "nobody"))
    page = rendered(table, Dossiers(cases))
    places = [a["id"] for a in page.all("details") if a.get("class") == "dossier"]
    assert len(set(places)) == len(keys)
    assert all(re.fullmatch(r"dossier[a-z0-9-]*", place) for place in places)
    assert [a["href"][1:] for a in page.with_class("open-dossier")] == places


# --- foreign text -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_inert_and_legible_everywhere(name, page):
    text = render_page(page_with(name))
    hostile = Read(text)
    ignored = ("a", "span", "section", "h2", "p", "details", "summary", "bdi")
    assert [tag for tag, _ in hostile.elements if tag not in ignored] == [
        tag for tag, _ in page.elements if tag not in ignored
    ]
    assert shortened(legible(name)) in hostile.text
    assert legible(name) in hostile.text
    assert not set("\u202e\u2066\x1b\x00") & set(text)
    assert len(text) < 160_000  # a long name stands in full once
    text.encode("utf-8")
    if len(name) > 1_000:
        assert hostile.with_class("whole-text")
        assert "in-full" in [a["id"] for a in hostile.all("section")]
    else:
        assert not hostile.with_class("whole-text")


@settings(max_examples=25, deadline=None)
@given(name=st.text(min_size=1, max_size=60))
def test_any_text_comes_out_as_it_went_in(name):
    shown = (Sentences((name,)), Table(name, (Column(name, name),), ((name,),)))
    page = Read(render_page(Page(name, name, (Section(name, name, shown),), name)))
    assert legible(name).strip() in page.text.replace("\r", "")
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_the_beginning_of_a_sentence_stands_out_only_where_it_is_a_label():
    said = ("Direct: +0.1", "At 12:30 it rained", "A (b): c", "No label here.")
    page = rendered(Sentences(said, listed=True))
    assert len(page.all("strong")) == 1
    assert {"class": "swatch direct"} in page.all("span")
    for line in said:
        assert line in page.text


def test_titles_are_cut_where_there_is_little_room():
    text = render_page(replace(page_with(), title="word " * 200))
    head = re.findall(r"<title>(.*?)</title>", text)[0]
    assert len(head) < 200
    assert text.count("word " * 150) == 1  # in full, at the end
