"""Do the drawings and the cells of a page show their numbers, and only what is harmless?"""

import math
import re
from itertools import pairwise

import pytest

from causalfairness.errors import PictureError
from causalfairness.graph import CausalGraph
from causalfairness.report import causal_picture
from causalfairness.report.page.blocks import (
    Column,
    Curve,
    Curves,
    Histogram,
    Page,
    Picture,
    Points,
    Section,
    Table,
)
from causalfairness.report.page.cells import write_rows
from causalfairness.report.page.drawings import (
    UNITS,
    Axis,
    draw_curves,
    draw_histogram,
    draw_points,
)
from causalfairness.report.page.html import render_page
from causalfairness.report.page.pictures import own_svg, styles_of
from page_of_everything import page_with

NAN, INF = float("nan"), float("inf")


def cells(kind, *values):
    table = Table("c", (Column("x", "x", kind),), tuple((value,) for value in values))
    return [row[0] for row in write_rows(table)]


def places(path):
    return [tuple(map(int, each)) for each in re.findall(r"[ML](\d+) (\d+)", path)]


# --- cells --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        ("number", (0.5, 0.123456), ["0.500", "0.123"]),
        ("number", (3175, 11), ["3,175", "11"]),
        ("number", (1234.5, 0.5), ["1,234.50", "0.50"]),
        ("number", (0.00012, -0.00034), ["0.000120", "-0.000340"]),
        ("number", (12.25, 3), ["12.25", "3.00"]),
        ("number", (INF, 0.5), ["inf", "0.500"]),
        ("share", (0.4239, 1), ["42.4%", "100.0%"]),
        ("p", (1e-9, 0.0321), ["<0.001", "0.032"]),
        ("yes", (True, False), ["yes", "no"]),
        ("text", ("a", True, 3), ["a", "yes", "3"]),
        ("verdict", ("violated", "refused"), ["violated", "refused"]),
    ],
)
def test_cells_are_written_as_their_column_says(kind, values, texts):
    assert [cell.text for cell in cells(kind, *values)] == texts


def test_what_is_missing_is_marked_and_has_no_order():
    for kind in ("number", "share", "p", "yes", "text", "verdict"):
        found = cells(kind, None, NAN, "")
        assert all(cell.missing and not cell.order and not cell.text for cell in found)


def test_numbers_are_ordered_as_numbers_and_verdicts_have_their_tone():
    assert [float(cell.order) for cell in cells("number", 10, 9, -1e-7)] == [10, 9, -1e-7]
    assert [cell.order for cell in cells("yes", True, False)] == ["1", "0"]
    assert [cell.tone for cell in cells("verdict", "violated", "<b>")] == ["violated", ""]
    assert cells("text", "violated")[0].tone == ""


# --- curves, bars, points -----------------------------------------------------------------------


def test_curves_run_through_their_numbers():
    drawn = draw_curves(
        Curves(
            "t", "x", (Curve("a", (0.0, 5.0, 10.0), (0.0, 1.0, 0.5)), Curve("b", (5.0,), (1.0,)))
        )
    )
    first, second = (places(line.outline) for line in drawn.lines)
    assert [x for x, _ in first] == [0, UNITS // 2, UNITS]
    assert first[0][1] == UNITS
    assert UNITS - first[2][1] == pytest.approx((UNITS - first[1][1]) / 2, abs=1)
    assert second == [first[1]]  # the same point of both on the same place
    assert drawn.lines[0].area.endswith("Z")
    assert drawn.levels == ()
    assert drawn.words == "a is highest at 5; b is highest at 5"


def test_heights_that_are_read_have_numbers_and_no_areas():
    read = Curves("t", "x", (Curve("a", (0.0, 1.0), (0.2, 0.8)),), height_axis="share")
    assert [tick.text for tick in draw_curves(read).levels] == ["0.00", "0.25", "0.50", "0.75"]
    text = render_page(Page("t", "k", (Section("s", "S", (read,)),), "f"))
    assert 'class="area"' not in text
    assert "↑" in text


def test_the_line_of_zero_is_drawn_where_zero_lies():
    assert draw_curves(Curves("t", "x", (Curve("a", (-1.0, 3.0), (1.0, 1.0)),))).zero == 25.0
    assert draw_curves(Curves("t", "x", (Curve("a", (1.0, 3.0), (1.0, 1.0)),))).zero is None


def test_bars_stand_side_by_side_and_are_as_high_as_they_count():
    drawn = draw_histogram(Histogram("t", "x", (-1.0, 0.0, 1.0, 3.0), (10, 20, 0)))
    assert all(a.left + a.width == pytest.approx(b.left) for a, b in pairwise(drawn.columns))
    assert drawn.columns[-1].left + drawn.columns[-1].width == pytest.approx(100)
    assert drawn.columns[1].height == pytest.approx(2 * drawn.columns[0].height, abs=0.01)
    assert drawn.columns[2].height == 0
    assert drawn.zero == 25.0
    assert [level.text for level in drawn.levels] == ["10", "20"]
    many = draw_histogram(Histogram("t", "x", (0.0, 1.0), (5_000,)))
    assert many.levels[-1].text == "4,000"


def test_points_share_one_axis_and_those_without_a_place_are_counted():
    drawn = draw_points(Points("t", "x", "y", (0.0, 1.0, NAN), (0.0, 2.0, 1.0)))
    assert re.findall(r"M(\d+) (\d+)h0", drawn.path) == [("0", "1000"), ("500", "0")]
    assert drawn.words.startswith("2 points; 1 above the line of no change, 0 below, 1 on it")
    assert drawn.words.endswith("1 more have no place")


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: draw_curves(Curves("t", "x", ())),
        lambda: draw_curves(Curves("t", "x", (Curve("a", (), ()),))),
        lambda: draw_curves(Curves("t", "x", (Curve("a", (1.0,), (0.0,)),))),
        lambda: draw_curves(Curves("t", "x", (Curve("a", (NAN, 1.0), (1.0, INF)),))),
        lambda: draw_histogram(Histogram("t", "x", (), ())),
        lambda: draw_histogram(Histogram("t", "x", (1.0, 1.0), (0,))),
        lambda: draw_points(Points("t", "x", "y", (), ())),
        lambda: draw_points(Points("t", "x", "y", (2.0,), (2.0,))),
    ],
    ids=["no curve", "empty", "one point", "no number", "no bar", "no width", "none", "alone"],
)
def test_a_drawing_of_little_or_nothing_is_drawn(drawn):
    found = drawn()
    assert "nan" not in str(getattr(found, "path", "")).lower()
    assert all(0 <= tick.at <= 100 for tick in found.ticks)


def test_an_axis_has_round_numbers_between_its_ends():
    for low, high in ((0.0, 1.0), (-3e-7, 8e-7), (1e9, 3e9)):
        ticks = Axis(low, high).ticks()
        assert 2 <= len(ticks) <= 7
        assert all(math.isclose(Axis(low, high).place(float(t.text)), t.at) for t in ticks)


# --- drawings that come as text -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("svg", "message"),
    [
        ("<svg><script>alert(1)</script></svg>", "found the element 'script'"),
        ("<svg><foreignObject/></svg>", "foreignObject"),
        ("<svg><image/></svg>", "'image'"),
        ('<svg onload="alert(1)"></svg>', "found 'onload' at 'svg'"),
        ('<svg><a href="#x"/></svg>', "found the element 'a'"),
        ('<svg xmlns:x="u"><g x:href="#y"/></svg>', "found 'href' at 'g'"),
        ('<svg><rect fill="url(http://x)"/></svg>', "found an address in 'fill'"),
        ("<svg><g>", "not SVG text"),
    ],
)
def test_drawings_with_more_than_shapes_are_refused(svg, message):
    with pytest.raises(PictureError, match=re.escape(message)):
        own_svg(svg, "-1")
    with pytest.raises(PictureError):
        render_page(Page("t", "k", (Section("s", "S", (Picture(svg, ""),)),), "f"))


@pytest.mark.parametrize("rules", ["@import 'x'", "g { fill: url(x) }", "&lt;/style>&lt;b>"])
def test_styles_that_lead_elsewhere_are_refused(rules):
    with pytest.raises(PictureError):
        styles_of([f"<svg><style>{rules}</style></svg>"])


def test_the_same_picture_may_stand_twice_and_its_style_once():
    (picture,) = page_with().sections[1].blocks
    text = render_page(Page("t", "k", (Section("s", "S", (picture, picture)),), "f"))
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for named in re.findall(r'aria-labelledby="([^"]+)"', text):
        assert set(named.split()) <= set(ids)
    assert text.count("<style") == 1
    assert text.count(".causal-picture .ground") == 1


def test_hostile_names_in_a_picture_do_no_harm():
    names = ['"><script>alert(1)</script>', "url(javascript:x)", "&lt;style>"]
    graph = CausalGraph.from_edges([(names[0], names[1]), (names[1], names[2])])
    svg = own_svg(causal_picture(graph), "-1")
    assert "<script" not in svg
    assert "&lt;script" in svg
