"""Does a report say what the result says, to everyone, and is foreign text harmless in it?"""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import causalfairness as cf
from causalfairness import plots, report
from causalfairness.report.legible import legible, shortened
from causalfairness.report.page.drawings import draw
from causalfairness.report.summary import Row, Sentence, Step
from causalfairness.writing import write_whole

MODEL = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["sex"],
    mediators=["c_charge_degree"],
    outcome="two_year_recid",
)
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": "\" onmouseover='alert(1)' x=\"",
    "template": "{{7*7}} {% raw %} ${7*7}",
    "comment": "--> <!-- ]]> </style></title>",
    "markdown": "a | b `c` *d* [e](javascript:alert(1)) # f\n\n- g",
    "entity": "&lt;b&gt; &amp;",
    "emoji": "👩‍👩‍👧‍👦 family",
    "right-to-left": "قسم المبيعات 123 (שלום)",
    "override": "abc\u202edef\u2066ghi",
    "controls": "a\nb\tc\x1b[31md\x00e",
    "long": "x" * 10_000,
    "surrogate": "half \ud83d",
    "place": "{what} {reference} {comparison} {0}",
}
VOID = {"meta", "input", "br", "hr", "link", "img"}


class Page(HTMLParser):
    """Elements, attributes and visible text of a page; fails where tags do not match."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def found():
    return cf.decompose_disparity(cf.datasets.load_compas(), MODEL)


@pytest.fixture(scope="module")
def groups():
    everyone = MODEL.for_groups(comparison=None)
    return cf.compare_groups(cf.datasets.load_compas(), everyone, estimator=cf.estimators.Strata())


@pytest.fixture(scope="module")
def restricted():
    model = replace(MODEL, mediators=["priors_count"])
    strata = cf.estimators.Strata(empty_cells="restrict")
    return cf.decompose_disparity(cf.datasets.load_compas(), model, estimator=strata)


@pytest.fixture(params=["found", "groups", "restricted"])
def result(request):
    return request.getfixturevalue(request.param)


# --- summary ------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_result(found):
    summary = report.summarise(found, level=0.9)
    for row, effect in zip(summary.table, found.summary(), strict=True):
        low, high = effect.interval(0.9)
        assert row == Row(
            found.comparison,
            effect.name,
            effect.value,
            effect.standard_error,
            low,
            high,
            effect.p_value,
            correction=effect.correction,
        )
    assert len(summary.findings[0].effects) == len(found.table())
    assert [str(said) for said in summary.sentences] == list(found.sentences(0.9))


def test_simultaneous_numbers_are_those_of_the_comparison(groups):
    summary = report.summarise(groups)
    records = groups.table().to_records()
    for row, record in zip(summary.table, records, strict=True):
        assert f"{row.group}: {row.name}" == record["name"]
        assert (row.low, row.high, row.p_adjusted) == (
            record["low"],
            record["high"],
            record["p_adjusted"],
        )
    assert [fact.name for fact in summary.not_compared] == [str(g) for g in groups.refused]


def test_the_waterfall_walks_from_one_mean_to_the_other(found):
    steps = report.summarise(found).findings[0].waterfall
    assert [step.name for step in steps] == [
        "reference",
        "direct",
        "indirect",
        "spurious",
        "comparison",
    ]
    for before, step in pairwise(steps[:-1]):
        assert step.start == before.end
    assert steps[-2].end == pytest.approx(steps[-1].end, abs=1e-12)


def test_what_is_left_over_stands_behind_the_comparison_group(restricted):
    steps = report.summarise(restricted).findings[0].waterfall
    assert [step.name for step in steps][-2:] == ["comparison", "outside_support"]
    assert steps[-1].end - steps[0].end == pytest.approx(restricted.total.value, abs=1e-12)
    assert steps[0].note == steps[-2].note == "where comparable"
    assert "outside support" in Page(report.render_html(report.summarise(restricted))).text


def test_other_results_are_refused():
    with pytest.raises(TypeError, match="found a str"):
        report.summarise("text")


def test_provenance_is_complete_and_the_date_is_only_quoted(found):
    origin = report.summarise(found, source="a.csv", seed=3, date="2024-05-01").provenance
    assert (origin.source, origin.seed, origin.date) == ("a.csv", "3", "2024-05-01")
    assert origin.fingerprint == found.total.basis.fingerprint
    assert origin.package == cf.__version__
    assert {"numpy", "scikit-learn", "pyarrow"} <= set(origin.libraries)
    assert report.summarise(found).provenance.date == ""


def test_a_known_name_is_marked_only_where_it_is_quoted():
    marked = Sentence.mark("column 'a' has a 'b'", ["a", "b"])
    assert [marked.text[start:end] for start, end in marked.names] == ["a", "b"]
    assert Sentence.mark("a b", ["a"]).names == ()


# --- every form of it ---------------------------------------------------------------------------


def test_the_same_result_gives_the_same_bytes(result, tmp_path):
    for write in (report.write_html, report.write_markdown, report.write_json):
        first = write(result, tmp_path / "first", model=MODEL, date="2024-05-01").read_bytes()
        assert (
            first == write(result, tmp_path / "second", model=MODEL, date="2024-05-01").read_bytes()
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]


def test_json_has_a_stable_shape(found):
    told = json.loads(report.to_json(report.summarise(found, model=MODEL)))
    assert told["schema"] == "causalfairness.report/1"
    assert list(told) == [
        "schema",
        "kind",
        "title",
        "sentences",
        "level",
        "roles",
        "findings",
        "table",
        "not_compared",
        "assumptions",
        "provenance",
    ]
    assert set(told["table"][0]) == {
        "group",
        "name",
        "value",
        "standard_error",
        "low",
        "high",
        "p_value",
        "p_adjusted",
        "meaning",
        "correction",
    }
    assert told["table"][0]["value"] == found.total.value
    assert set(told["findings"][0]["waterfall"][0]) == {
        *("name", "label", "kind", "start", "end", "low", "high", "note")
    }


def test_json_has_no_numbers_that_json_lacks(found):
    summary = report.summarise(found)
    row = replace(summary.table[0], high=float("inf"), p_value=float("nan"))
    told = json.loads(report.to_json(replace(summary, table=(row,))))
    assert told["table"][0]["high"] is told["table"][0]["p_value"] is None


def test_html_is_one_sound_page_without_network_or_script(result):
    page = Page(report.render_html(report.summarise(result, model=MODEL)))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "iframe", "link", "object", "embed", "form"}
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert all(attributes.get(name, "#").startswith("#") for name in ("href", "src"))
    (policy,) = [m for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy["content"].startswith("default-src 'none'")
    assert page.all("html") == [{"lang": "en", "dir": "ltr"}]
    assert tags >= {"title", "main", "header", "footer", "h1", "svg", "desc", "caption"}
    assert page.all("a")[0]["href"] == "#content"


def test_headings_are_in_order_and_tables_are_labelled(result):
    page = Page(report.render_html(report.summarise(result, model=MODEL)))
    depths = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert depths[0] == 1
    assert depths.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(depths))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attributes for attributes in page.all("th"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = [a["aria-labelledby"].split() for _, a in page.elements if "aria-labelledby" in a]
    assert {name for names in named for name in names} <= set(ids)


def test_html_shows_every_number_sentence_and_assumption(result):
    summary = report.summarise(result, model=MODEL, date="2024-05-01", source="compas.csv", seed=7)
    text = Page(report.render_html(summary)).text
    for said in (*summary.sentences, *summary.assumptions, summary.title):
        assert str(said) in text
    for row in summary.table:
        assert f"{row.value:+.4f}" in text or f"{row.value:.4f}" in text or row.value == 0
    for shown in ("compas.csv", "2024-05-01", summary.provenance.fingerprint, "c_charge_degree"):
        assert shown in text


def test_no_verdict_is_given(result):
    summary = report.summarise(result, model=MODEL)
    for text in (Page(report.render_html(summary)).text, report.render_markdown(summary)):
        assert not re.search(r"\b(un)?fair(ly)?\b", text, re.IGNORECASE)


def test_the_colors_are_those_of_the_plots():
    css = report.html.environment().loader.get_source(report.html.environment(), "page.css")[0]
    light, dark = re.findall(
        r":root:has\(#theme-(?:light|dark):checked\) \{(.*?)\n\}", css, re.DOTALL
    )[:2]
    names = {"background": "paper", "ink": "ink", "muted": "muted", "faint": "faint"}
    names |= {part: part for part in ("direct", "indirect", "spurious", "rest")}
    for block, theme in ((light, plots.LIGHT), (dark, plots.DARK)):
        for name, variable in names.items():
            assert f"--{variable}: {getattr(theme, name)};" in block, name


def test_markdown_tables_are_valid_and_complete(result):
    summary = report.summarise(result, model=MODEL)
    page = Page(MarkdownIt("commonmark").enable("table").render(report.render_markdown(summary)))
    several = summary.kind == "group comparison"
    models = sum(len(finding.models) + bool(finding.models) for finding in summary.findings)
    assert len(page.all("tr")) == 1 + len(summary.table) + models
    assert len(page.all("th")) >= (6 if several else 5)
    for said in summary.sentences:
        assert str(said) in page.text


# --- foreign text -------------------------------------------------------------------------------


def with_names(found, name):
    hostile = replace(found, what=name, reference=f"{name}0", comparison=f"{name}1")
    model = replace(MODEL, protected=name, mediators=[f"{name}2"], outcome=f"{name}3")
    return report.summarise(hostile, model=model, source=name, date=name)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_hostile_names_are_inert_and_legible(found, name, tmp_path):
    summary = with_names(found, name)
    clean = Page(report.render_html(with_names(found, "plain")))
    page = Page(report.render_html(summary))
    shown = shortened(legible(name))
    kinds = [tag for tag, _ in page.elements if tag not in ("details", "summary", "section", "h2")]
    plain = [tag for tag, _ in clean.elements if tag not in ("details", "summary", "section", "h2")]
    assert [tag for tag in kinds if tag not in ("p", "bdi")] == [
        tag for tag in plain if tag not in ("p", "bdi")
    ]
    assert shown in page.text
    assert legible(name) in page.text  # also in full
    assert page.text.count("49 ") == clean.text.count("49 ")
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table")
    words = Page(rendered.render(report.render_markdown(summary)))
    assert not {tag for tag, _ in words.elements} & {"script", "a", "code", "em", "img", "b"}
    assert shown in words.text
    for write in (report.write_html, report.write_markdown, report.write_json):
        hostile = replace(found, what=name)
        assert write(hostile, tmp_path / "page").stat().st_size > 1000


def test_hostile_groups_are_inert_in_a_comparison(groups):
    named = {
        group: replace(one, comparison=name)
        for (group, one), name in zip(groups.by_group.items(), HOSTILE.values(), strict=False)
    }
    hostile = replace(groups, by_group=named, refused={HOSTILE["script"]: HOSTILE["markdown"]})
    summary = report.summarise(hostile)
    page = Page(report.render_html(summary))
    assert "script" not in {tag for tag, _ in page.elements}
    assert [row.name for row in summary.table[:4]] == ["total", "direct", "indirect", "spurious"]
    assert legible(HOSTILE["markdown"]) in page.text
    assert HOSTILE["script"] in Page(MarkdownIt().render(report.render_markdown(summary))).text


@settings(max_examples=40, deadline=None)
@given(name=st.text(min_size=1, max_size=60))
def test_any_name_comes_out_as_it_went_in(found, name):
    summary = with_names(found, name)
    shown = shortened(legible(name))
    assert shown in Page(report.render_html(summary)).text
    json.loads(report.to_json(summary))
    report.render_markdown(summary).encode("utf-8")


def test_names_of_others_are_isolated_and_long_ones_open_in_full(found):
    page = Page(report.render_html(with_names(found, HOSTILE["long"])))
    assert all(attributes["class"] == "name" for attributes in page.all("bdi"))
    assert any("title" in attributes for attributes in page.all("bdi"))
    assert "Names in full" in page.text
    assert len(report.render_html(with_names(found, HOSTILE["long"]))) < 200_000


def test_a_cut_never_splits_an_emoji():
    family = "👩‍👩‍👧‍👦"
    for limit in range(2, 20):
        cut = shortened("ab" + family * 3, limit).removesuffix("…")
        assert not cut.endswith("\u200d")
        assert len(cut) <= limit


# --- drawing and writing ------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_a_waterfall_of_any_scale_stays_on_its_page(scale):
    steps = [
        Step("reference", "a", "level", 0.0, -1.0 * scale, -1.5 * scale, -0.5 * scale),
        Step("direct", "direct", "change", -1.0 * scale, 2 * scale, 1 * scale, 3 * scale),
        Step("comparison", "b", "level", 0.0, 2 * scale, 1.0 * scale, 3 * scale),
    ]
    drawing = draw(steps)
    for bar in drawing.bars:
        assert 0 <= bar.left <= bar.left + bar.width <= 100
        assert 0 <= bar.low <= bar.at <= bar.high <= 100
    assert 2 <= len(drawing.ticks) <= 8
    assert len({tick.text for tick in drawing.ticks}) == len(drawing.ticks)


def test_a_waterfall_without_any_width_is_drawn():
    (bar,) = draw([Step("reference", "a", "level", 0.0, 0.0, 0.0, 0.0)]).bars
    assert 0 <= bar.at <= 100


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("before")
    with pytest.raises(UnicodeEncodeError):
        write_whole("half \ud83d", page)
    assert page.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
