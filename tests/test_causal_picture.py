"""A causal picture: right colors on right paths, nothing on top of anything, foreign text inert."""

import re
from dataclasses import dataclass, replace
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causalfairness as cf
from causalfairness import plots
from causalfairness.errors import RoleError, UnknownNodeError
from causalfairness.report import causal_picture
from causalfairness.report.picture import svg
from causalfairness.report.picture.parts import fitted, width_of

SVG = "{http://www.w3.org/2000/svg}"
GRAPH = cf.CausalGraph.parse(
    "race <-> age; race <-> sex; {age, sex, race} -> priors; {age, sex, race, priors} -> recid"
)
MODEL = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["sex", "age_cat"],
    mediators=["c_charge_degree"],
    outcome="two_year_recid",
    prediction="decile_score",
)
LONG = cf.CausalGraph.parse("""
    {age, sex, race} -> {juv_fel_count, juv_misd_count, juv_other_count} -> priors_count
    priors_count -> c_charge_degree -> two_year_recid -> sentence; {age, race} -> two_year_recid
    race <-> age; lottery -> race; weather -> two_year_recid; juv_fel_count <-> c_charge_degree
""")
HOSTILE = (
    "<script>alert(1)</script>",
    "\" onmouseover='alert(1)' x=\"",
    "--> <!-- ]]> </style></title></svg>",
    "&lt;b&gt; &amp;",
    "👩‍👩‍👧‍👦 family",
    "قسم المبيعات 123 (שלום)",
    "abc\u202edef\u2066ghi",
    "a\nb\tc\x1b[31md\x00e",
    "x" * 10_000,
    "half \ud83d",
    "no character \ufffe\uffff",
    "漢字" * 30,
)


@dataclass(frozen=True)
class Drawn:
    """What stands in a picture? Boxes as (left, top, right, bottom), lines as points on them."""

    root: ElementTree.Element

    @property
    def page(self):
        return tuple(map(float, self.root.get("viewBox").split()))

    @property
    def boxes(self):
        found = {}
        for group in self.groups("box"):
            rect = group.find(f"{SVG}rect")
            x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
            found[group.find(f"{SVG}title").text] = (x, y, x + w, y + h)
        return found

    @property
    def links(self):
        """For each title: the class, whether dashed, points on the line, and its tips."""
        found = {}
        for group in self.groups("link"):
            lines = group.findall(f"{SVG}path")
            tips = [numbers(line.get("d"))[0] for line in lines[1:]]
            title = group.find(f"{SVG}title").text
            dashed = "dashed" in lines[0].get("class")
            found[title] = (group.get("class").split()[1], dashed, on_line(lines[0]), tips)
        return found

    def groups(self, kind):
        return [g for g in self.root.iter(f"{SVG}g") if kind in g.get("class").split()]

    def texts(self, kind):
        return [t for t in self.root.iter(f"{SVG}text") if t.get("class") == kind]

    @property
    def legend(self):
        return [text.text for text in self.texts("entry")]


def drawn(shown, **asked):
    return Drawn(ElementTree.fromstring(causal_picture(shown, **asked)))


def numbers(path):
    found = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", path)]
    return list(zip(found[::2], found[1::2], strict=True))


def on_line(path):
    """Points on a chain of cubic curves."""
    points = np.array(numbers(path.get("d")))
    t = np.linspace(0, 1, 40)[:, None]
    found = []
    for at in range(0, len(points) - 1, 3):
        a, b, c, d = points[at : at + 4]
        curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        found.append(curve)
    return np.concatenate(found)


def check_geometry(picture):
    """Nothing on top of anything, nothing off the page, arrows end where boxes begin."""
    _, _, width, height = picture.page
    boxes = list(picture.boxes.values())
    for left, top, right, bottom in boxes:
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart
    for _, dashed, line, tips in picture.links.values():
        assert (line >= -0.1).all()
        assert (line <= [width + 0.1, height + 0.1]).all()
        assert len(tips) == (2 if dashed else 1)
        for tip in tips:
            assert any(is_on_border(tip, box) for box in boxes)
        for left, top, right, bottom in boxes:
            x, y = line.T
            inside = (x > left + 0.3) & (x < right - 0.3) & (y > top + 0.3) & (y < bottom - 0.3)
            assert not inside.any()


def is_on_border(point, box, slack=0.02):
    (x, y), (left, top, right, bottom) = point, box
    within = left - slack <= x <= right + slack and top - slack <= y <= bottom + slack
    sides = (abs(x - left), abs(x - right), abs(y - top), abs(y - bottom))
    return within and min(sides) <= slack


# --- which path is which ------------------------------------------------------------------------


def test_every_arrow_has_the_color_of_its_path():
    links = drawn(GRAPH, protected="race", outcome="recid").links
    assert {title: (path, dashed) for title, (path, dashed, _, _) in links.items()} == {
        "race causes recid (direct)": ("direct", False),
        "race causes priors (indirect)": ("indirect", False),
        "priors causes recid (indirect)": ("indirect", False),
        "age causes priors (spurious)": ("spurious", False),
        "sex causes priors (spurious)": ("spurious", False),
        "age causes recid (spurious)": ("spurious", False),
        "sex causes recid (spurious)": ("spurious", False),
        "race and age may share a hidden cause (spurious)": ("spurious", True),
        "race and sex may share a hidden cause (spurious)": ("spurious", True),
    }


def test_what_lies_on_no_path_has_no_color():
    links = drawn(LONG, protected="race", outcome="two_year_recid").links
    plain = {title for title, (path, *_) in links.items() if path == "other"}
    assert plain == {
        "lottery causes race",
        "weather causes two_year_recid",
        "two_year_recid causes sentence",
        "juv_fel_count and c_charge_degree may share a hidden cause",
    } | {f"sex causes juv_{kind}_count" for kind in ("fel", "misd", "other")}


def test_without_a_question_there_are_no_paths():
    picture = drawn(GRAPH)
    assert {path for path, *_ in picture.links.values()} == {"other"}
    assert picture.legend == ["hidden common cause"]


def test_an_arrow_that_is_cut_is_not_drawn():
    graph = cf.CausalGraph.parse("race -> priors -> recid; race <-> age; age -> recid")
    picture = drawn(graph, protected="race", outcome="recid")
    assert "direct" not in {path for path, *_ in picture.links.values()}
    assert picture.legend[0] == "indirect, through mediators"


def test_arrows_lead_from_cause_to_effect():
    picture = drawn(GRAPH, protected="race", outcome="recid")
    boxes = {name.split(" (")[0]: box for name, box in picture.boxes.items()}
    for title, (_, dashed, line, (tip, *_)) in picture.links.items():
        one, other = re.split(" causes | and ", title.split(" (")[0].split(" may")[0])
        assert is_on_border(tip, boxes[other])
        assert dashed or is_on_border(line[0], boxes[one])
        assert dashed or boxes[one][2] < boxes[other][0]  # from left to right


# --- models -------------------------------------------------------------------------------------


def test_a_model_is_drawn_role_by_role():
    picture = drawn(MODEL)
    assert list(picture.boxes) == [
        "confounders: sex, age_cat",
        "mediators: c_charge_degree",
        "protected: race",
        "outcome: two_year_recid",
    ]
    assert {title: path for title, (path, *_) in picture.links.items()} == {
        "protected causes outcome (direct)": "direct",
        "protected causes mediators (indirect)": "indirect",
        "mediators causes outcome (indirect)": "indirect",
        "protected and confounders may share a hidden cause (spurious)": "spurious",
        "confounders causes outcome (spurious)": "spurious",
        "confounders causes mediators (spurious)": "spurious",
    }
    confounders, mediators, protected, outcome = picture.boxes.values()
    assert protected[2] < mediators[0] < mediators[2] < outcome[0]
    assert confounders[3] < mediators[1] < mediators[3] < protected[1]


def test_outcome_or_prediction():
    assert "outcome: two_year_recid" in drawn(MODEL).boxes
    assert "prediction: decile_score" in drawn(MODEL, of="prediction").boxes
    only = replace(MODEL, outcome=None, prediction=lambda frame: frame["age"])
    assert "prediction: a function of the others" in drawn(only).boxes


def test_effects_stand_beside_their_paths_and_in_the_legend():
    found = cf.decompose_disparity(cf.datasets.load_compas(), MODEL)
    picture = drawn(MODEL, effects=found)
    sizes = {part: f"{getattr(found, part).value:+.4f}" for part in ("direct", "indirect")}
    labels = [text.text for text in picture.texts("label")]
    assert labels == [
        f"direct {sizes['direct']}",
        f"indirect {sizes['indirect']}",
        "spurious",
        f"{found.spurious.value:+.4f}",
    ]
    low, high = found.direct.interval()
    assert picture.legend[0] == f"direct: {sizes['direct']} ({low:+.4f} to {high:+.4f})"
    assert f"the whole gap: {found.total.value:+.4f}" in picture.legend[-1]
    assert "95% intervals" in picture.legend[-1]
    described = picture.root.find(f"{SVG}desc").text
    assert f"direct part: {sizes['direct']}" in described
    rows = cf.report.summarise(found, model=MODEL).table
    assert causal_picture(MODEL, effects=rows) == causal_picture(MODEL, effects=found)
    narrower = drawn(MODEL, effects=found, level=0.5).legend
    assert narrower[0] != picture.legend[0]
    assert "50% intervals" in narrower[-1]


def test_labels_lie_on_no_box_and_no_line():
    found = cf.decompose_disparity(cf.datasets.load_compas(), MODEL)
    for model in (MODEL, replace(MODEL, confounders=["sex"]), replace(MODEL, mediators=())):
        picture = drawn(model, effects=found)
        for text in picture.texts("label"):
            left, baseline = float(text.get("x")) - 15, float(text.get("y"))
            right = left + 15 + 1.08 * width_of(text.text)
            top, bottom = baseline - 10, baseline + 3
            assert 0 <= left < right <= picture.page[2]
            for box in picture.boxes.values():
                assert right <= box[0] or left >= box[2] or bottom <= box[1] or top >= box[3]
            for _, _, line, _ in picture.links.values():
                x, y = line.T
                assert not ((x > left) & (x < right) & (y > top) & (y < bottom)).any()


@pytest.mark.parametrize("confounders", [0, 1, 9])
@pytest.mark.parametrize("mediators", [0, 1, 9])
@pytest.mark.parametrize("protected", [1, 3])
def test_models_of_any_size_have_their_place(confounders, mediators, protected):
    model = cf.StandardFairnessModel(
        protected=[f"a{at}" for at in range(protected)],
        reference=(0,) * protected,
        comparison=(1,) * protected,
        confounders=[f"confounder number {at}" for at in range(confounders)],
        mediators=[f"m{at}" for at in range(mediators)],
        outcome="y",
    )
    picture = drawn(model)
    check_geometry(picture)
    assert len(picture.boxes) == 2 + bool(confounders) + bool(mediators)
    if confounders == 9:
        assert "and 5 more" in [text.text for text in picture.texts("name")]
        assert any("confounder number 8" in title for title in picture.boxes)


# --- graphs -------------------------------------------------------------------------------------


def test_a_long_graph_is_drawn_downwards_so_that_it_fits_a_phone():
    wide = drawn(GRAPH, protected="race", outcome="recid")
    high = drawn(LONG, protected="race", outcome="two_year_recid")
    assert wide.page[2] > wide.boxes["recid (outcome)"][2] > wide.boxes["race (protected)"][2]
    assert high.boxes["two_year_recid (outcome)"][1] > high.boxes["race (protected)"][3]
    assert high.page[2] < 640
    for picture in (wide, high):
        check_geometry(picture)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_the_graph_nothing_lies_on_top_of_anything(data):
    nodes = [f"column {at}" * (1 + at % 3) for at in range(data.draw(st.integers(1, 15)))]
    pairs = list(combinations(nodes, 2))
    some = st.lists(st.sampled_from(pairs), max_size=25) if pairs else st.just([])
    graph = cf.CausalGraph.from_edges(data.draw(some), data.draw(some)[:8], nodes)
    asked = {"protected": nodes[0], "outcome": nodes[-1]} if len(nodes) > 1 else {}
    picture = drawn(graph, **asked)
    check_geometry(picture)
    assert len(picture.boxes) == len(nodes)
    assert len(picture.links) == len(graph.arrows) + len(graph.hidden)


def test_a_hidden_cause_and_an_arrow_between_the_same_columns_are_both_drawn():
    picture = drawn(cf.CausalGraph.parse("a -> b; a <-> b"), protected="a", outcome="b")
    check_geometry(picture)
    assert list(picture.links) == [
        "a causes b (direct)",
        "a and b may share a hidden cause (spurious)",
    ]


def test_few_lines_cross():
    graph = cf.CausalGraph.from_edges([("a", "z"), ("b", "y"), ("c", "x")], nodes=[*"abcxyz"])
    # in the order of the columns all three would cross
    lines = [line for _, _, line, _ in drawn(graph).links.values()]
    ends = sorted((line[0][1], line[-1][1]) for line in lines)
    assert [end for _, end in ends] == sorted(end for _, end in ends)


# --- for everyone -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_foreign_text_is_inert(name):
    graph = cf.CausalGraph.from_edges([(name, "y"), ("a", name)])
    model = replace(MODEL, protected=name, confounders=[name + "c"], mediators=["m", name + "m"])
    for text in (causal_picture(graph, protected="a", outcome="y"), causal_picture(model)):
        text.encode("utf-8")
        root = ElementTree.fromstring(text)
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags <= {"svg", "title", "desc", "style", "rect", "path", "g", "text"}
        kinds = {attribute for element in root.iter() for attribute in element.attrib}
        assert not any(kind.startswith("on") or "href" in kind for kind in kinds)
        check_geometry(Drawn(root))
        assert len(text) < 20_000


def test_a_long_name_is_cut_and_whole_on_hovering():
    name = "number of prior convictions on record, juvenile ones included"
    picture = drawn(cf.CausalGraph.from_edges([(name, "y")]))
    assert name in picture.boxes
    (shown, _) = (text.text for text in picture.texts("name"))
    assert shown == "number of prior co…" or (shown.endswith("…") and name.startswith(shown[:-1]))
    left, _, right, _ = picture.boxes[name]
    assert width_of(shown) <= right - left


def test_fitting_cuts_by_width_and_not_by_number():
    assert len(fitted("i" * 99, 100)) > len(fitted("m" * 99, 100)) > len(fitted("漢" * 99, 100)) - 2
    assert width_of(fitted("m" * 99, 100)) <= 100
    assert fitted("short", 100) == "short"


def test_the_picture_says_in_words_what_it_shows():
    root = ElementTree.fromstring(causal_picture(GRAPH, protected="race", outcome="recid"))
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == title.get("id")
    assert root.get("aria-describedby") == desc.get("id")
    assert "recid" in title.text
    assert "race causes priors (indirect)" in desc.text
    assert "race and age may share a hidden cause (spurious)" in desc.text
    other = ElementTree.fromstring(causal_picture(MODEL))
    assert other.find(f"{SVG}title").get("id") != title.get("id")  # both may stand on one page


def test_the_picture_follows_page_and_reader_and_a_theme_fixes_it():
    text = causal_picture(GRAPH)
    assert "var(--ink, var(--picture-ink))" in text
    assert "@media (prefers-color-scheme: dark)" in text
    assert "VAR(" not in text
    fixed = causal_picture(GRAPH, theme=plots.DARK)
    assert "var(" not in fixed
    assert "VAR(" not in fixed
    assert plots.DARK.ink in fixed
    assert 'width="100%"' not in text  # the page decides; the view box keeps the proportions
    assert "width: 100%" in text


@pytest.mark.parametrize(("colors", "theme"), [(svg.LIGHT, plots.LIGHT), (svg.DARK, plots.DARK)])
def test_colors_are_those_of_every_other_picture(colors, theme):
    found = dict(zip(svg.NAMES, colors, strict=True))
    assert found["paper"] == theme.background
    for name in ("ink", "muted", "direct", "indirect", "spurious", "rest"):
        assert found[name] == getattr(theme, name)


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "asked", "says"),
    [
        ("a -> b", {}, "expected a CausalGraph or a StandardFairnessModel"),
        (cf.CausalGraph(()), {}, "nothing to draw"),
        (GRAPH, {"protected": "race"}, "give both, or neither"),
        (GRAPH, {"of": "outcome"}, "goes with a model"),
        (GRAPH, {"effects": []}, "say which column is protected"),
        (MODEL, {"outcome": "recid"}, "the model says"),
        (replace(MODEL, prediction=None), {"of": "prediction"}, "the model has an outcome; ask"),
        (MODEL, {"of": "score"}, "an outcome and a prediction"),
    ],
    ids=range(8),
)
def test_what_cannot_be_drawn_is_refused(shown, asked, says):
    with pytest.raises(RoleError, match=says):
        causal_picture(shown, **asked)


def test_a_column_that_is_not_in_the_graph_is_refused():
    with pytest.raises(UnknownNodeError, match="no node 'rase'"):
        causal_picture(GRAPH, protected="rase", outcome="recid")


def test_effects_of_other_groups_are_refused():
    compas = cf.datasets.load_compas()
    found = cf.decompose_disparity(compas, MODEL)
    with pytest.raises(RoleError, match="the effects compare African-American with Caucasian"):
        causal_picture(MODEL.for_groups(comparison="Hispanic"), effects=found)
    rows = cf.report.summarise(found).table
    with pytest.raises(RoleError, match="several groups"):
        causal_picture(MODEL, effects=[*rows, replace(rows[0], group="Hispanic")])
