"""Does the Markdown of a page show every kind of block, and is foreign text harmless in it?"""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from causalfairness import report
from causalfairness.report.page.blocks import (
    Beside,
    Column,
    Curve,
    Curves,
    Dossier,
    Dossiers,
    Folded,
    Histogram,
    Images,
    Intervals,
    Judgment,
    Judgments,
    Page,
    Pairs,
    Part,
    Picture,
    Points,
    Section,
    Sentences,
    Table,
    Waterfall,
    Waterfalls,
)
from causalfairness.report.page.markdown import render_page, shown
from causalfairness.report.summary import Row, Step
from study_records import every_record

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": "\" onmouseover='alert(1)' x=\"",
    "comment": "--> <!-- ]]> </style></title></summary></details>",
    "markdown": "a | b `c` *d* [e](javascript:alert(1)) ![f](x) # f\n\n- g",
    "entity": "&lt;b&gt; &amp;",
    "list": "1. one",
    "rule": "---",
    "heading": "===",
    "address": "see http://example.org and www.example.org",
    "math": "$x^2$ :smile: @someone ~~gone~~",
    "right-to-left": "قسم المبيعات 123 (שלום)",
    "override": "abc\u202edef\u2066ghi",
    "controls": "a\nb\tc\x1b[31md\x00e",
    "surrogate": "half \ud83d",
}
GITHUB = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def written(*blocks):
    return render_page(Page("Title", "An audit", (Section("one", "One", blocks),), "The end."))


def tokens(text):
    """Every token of rendered Markdown, however deep."""
    for token in GITHUB.parse(text):
        yield token
        yield from token.children or ()


def tables(text):
    return [part for part in text.split("\n\n") if part.startswith("|")]


# --- every kind of block ------------------------------------------------------------------------


def test_sentences_are_paragraphs_or_points():
    text = written(Sentences(("One.", "Two.")), Sentences(("Three.",), listed=True))
    assert "One.\n\nTwo.\n\n- Three." in text
    assert "*Small.*" in written(Sentences(("Small.",), quiet=True))


def test_facts_and_verdicts_have_words():
    text = written(
        Pairs((("rows", "12"),)),
        Judgments((Judgment("violated", "Direct", "too large"), Judgment("unanswered", "A", "b"))),
    )
    assert "- **rows**: 12" in text
    assert "- ✗ **violated**: Direct. too large" in text
    assert "**not answered**: A. b" in text


def test_a_waterfall_is_a_table_of_steps():
    steps = (
        Step("reference", "Male", "level", 0.0, 0.2, 0.1, 0.3),
        Step("direct", "direct", "change", 0.2, 0.4, 0.3, 0.5, "as modeled"),
    )
    text = written(Waterfalls((Waterfall("pay", "pay", "Male", "Female", steps),), 0.95))
    assert "| **Male** | **0.200** | 0.100 to 0.300 |" in text
    assert "| direct (as modeled) | +0.200 | +0.100 to +0.300 |" in text
    assert "| --- | ---: | ---: |" in text


def test_intervals_are_a_table_with_groups_only_where_there_are_several():
    rows = tuple(Row(group, "direct", 0.1, 0.02, 0.06, 0.14, 1e-9, 0.03) for group in "AB")
    one, two = written(Intervals("Parts", rows[:1], 0.9)), written(Intervals("Parts", rows, 0.9))
    assert "| direct | +0.100 | +0.060 to +0.140 | 0.020 | 0.030 |" in one
    assert "| group | part | value | 90% interval | standard error |" in two
    assert "margin of 0.02" in written(Intervals("Parts", rows, 0.9, 0.02))


def test_numbers_stand_on_the_right_and_rows_open_dossiers():
    columns = (Column("who", "who"), Column("rate", "rate", "share"), Column("p", "p-value", "p"))
    table = Table("People", columns, (("7", 0.25, 1e-9), ("8", None, 0.2)), links=("1-1", ""))
    text = written(table, Dossiers((Dossier("1-1", "Person 7", (Sentences(("Alone.",)),)),)))
    assert tables(text)[0].splitlines() == [
        "| who | rate | p-value |",
        "| --- | ---: | ---: |",
        "| [7](#dossier-1-1) | 25.0% | \\<0.001 |",
        "| 8 |  | 0.200 |",
    ]
    assert '<details><a id="dossier-1-1"></a><summary>Person 7</summary>\n\nAlone.' in text


def test_rows_beyond_the_first_can_be_opened():
    rows = tuple((at,) for at in range(5))
    text = written(Table("", (Column("n", "n", "number"),), rows, shown=2))
    assert [len(each.splitlines()) for each in tables(text)] == [4, 5]
    assert "<summary>3 more</summary>" in text


def test_what_cannot_be_drawn_comes_in_words_and_numbers():
    at = tuple(float(x) for x in range(41))
    curves = Curves("Spread", "score", (Curve("in fact", at, at),), "Higher is more.")
    text = written(curves)
    assert "in fact is highest at 40. Higher is more." in text
    lines = tables(text)[0].splitlines()[2:]
    assert len(lines) == 9
    assert (lines[0], lines[-1]) == ("| in fact | 0 | 0 |", "| in fact | 40 | 40 |")
    bars = written(Histogram("Moved", "shift", (0.0, 1.0, 2.0), (3, 0), "At 0 nothing."))
    assert "| 0 to 1 | 3 |" in bars
    assert "1 to 2 |" not in bars
    points = written(Points("Film", "now", "then", (0.0, 1.0), (0.0, 2.0)))
    assert "2 points; 1 above the line of no change" in points
    assert "An arrow." in written(Picture("<svg></svg>", "An arrow.", "Causes"))
    assert "<svg" not in written(Picture("<svg></svg>", "An arrow.", "Causes"))
    images = written(Images(("factual", "otherwise"), ((b"1", b"2"),), "A film."))
    assert "1 rows of images, each with factual, otherwise" in images


def test_parts_are_smaller_headings_and_folded_parts_open():
    text = written(Part("Two", (Beside((Sentences(("In.",)), Part("Three", ()))),)))
    assert "### Two\n\nIn.\n\n#### Three" in text
    folded = written(Folded("More <b>", (Sentences(("Within.",)),)))
    assert "<details><summary>More &lt;b&gt;</summary>\n\nWithin.\n\n</details>" in folded


# --- a whole study ------------------------------------------------------------------------------


def test_a_whole_study_is_read_as_markdown():
    text = report.render_markdown(every_record())
    found = [token for token in tokens(text) if token.type == "heading_open"]
    assert [token.tag for token in found].count("h1") == 1
    assert [token.tag for token in found].count("h2") == 11
    for each in tables(text):
        head, rule, *lines = each.splitlines()
        count = len(re.findall(r"(?<!\\)\|", head))
        assert set(rule) <= set("| -:")
        assert all(len(re.findall(r"(?<!\\)\|", line)) == count for line in lines)
    opened = re.findall(r"\(#(dossier-[\w-]+)\)", text)
    assert opened
    assert set(opened) == set(re.findall(r'id="(dossier-[\w-]+)"', text))
    assert text.count("<details>") == text.count("</details>")


# --- foreign text -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE)
def test_foreign_text_is_inert_in_every_block(name):
    text = HOSTILE[name]
    row = Row(text, text, 0.1, 0.02, 0.06, 0.14, 0.5)
    step = Step("direct", text, "change", 0.2, 0.4, 0.3, 0.5, text)
    table = Table(text, (Column("a", text),), ((text,),), links=("k",))
    blocks = (
        Sentences((text,)),
        Sentences((text,), listed=True),
        Pairs(((text, text),)),
        Judgments((Judgment("plain", text, text),)),
        Waterfalls((Waterfall(text, text, text, text, (step,)),), 0.95),
        Intervals(text, (row, Row("other", "x", 0.1, 0.02, 0.06, 0.14, 0.5)), 0.95),
        table,
        Curves(text, text, (Curve(text, (0.0,), (1.0,)),), text),
        Histogram(text, text, (0.0, 1.0), (1,), text),
        Points(text, text, text, (0.0,), (1.0,), text),
        Picture("<svg></svg>", text, text),
        Images((text,), (), text, caption=text),
        Part(text, (Folded(text, ()),)),
        Dossiers((Dossier("k", text, ()),)),
    )
    page = render_page(Page(text, text, (Section("one", text, blocks),), text, (text,)))
    for token in tokens(page):
        assert token.type not in ("image", "code_inline", "s_open", "ordered_list_open", "fence")
        if token.type == "link_open":
            assert token.attrs["href"] == "#dossier-k"
        if token.type in ("html_block", "html_inline"):
            tags = re.findall(r"<[^>]*>", token.content)
            assert all(
                re.fullmatch(r'</?details>|</?summary>|<a id="dossier-k">|</a>', tag)
                for tag in tags
            ), token.content
    assert "\u202e" not in page
    assert "\x1b" not in page


@given(text=st.text(st.characters(codec="utf-8"), max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_shown_as_it_is(text):
    """Rendered again, a paragraph holds the text it was made of, and nothing else."""
    from causalfairness.report.legible import legible

    wanted = " ".join(legible(text).split())
    inline = [token for token in GITHUB.parse(f"x {shown(text)}") if token.type == "inline"]
    assert len(inline) == 1
    plain = "".join(
        child.content for child in inline[0].children if child.type in ("text", "text_special")
    )
    assert plain.split() == ["x", *wanted.split()]
    assert all(child.type in ("text", "text_special") for child in inline[0].children)


@given(text=st.text("1234567890.)-+=*#>|: ab", min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_no_text_begins_anything_but_a_paragraph(text):
    if not text.strip():
        return
    kinds = {token.type for token in GITHUB.parse(f"above\n\n{shown(text)}\n\nbelow")}
    assert kinds == {"paragraph_open", "inline", "paragraph_close"}
    below = {token.type for token in GITHUB.parse(f"{shown(text)}\n")}
    assert below <= {"paragraph_open", "inline", "paragraph_close"}


def test_long_names_are_cut_and_given_in_full_once():
    record = json.loads(json.dumps(every_record()).replace("green", "g" * 5_000))
    text = report.render_markdown(record)
    assert text.count("g" * 4_999) == 1
    assert "ggg…" in text
    assert "Names in full" in text
