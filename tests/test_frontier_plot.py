"""Does the picture of a frontier show the numbers of the result, legibly?"""

import itertools
import warnings

import numpy as np
import pytest
from matplotlib.text import Text

from causalfairness import plots
from causalfairness.parity import Frontier, FrontierPoint
from causalfairness.parity.frontier.sets import AllowedPaths
from causalfairness.plots import DARK, LIGHT
from causalfairness.tables import RowAccount
from test_plots import HOSTILE, axes, drawing, outside, visible_texts

SIZE = (6.4, 5.4)
COMPAS = {  # mean and half the difference of two repetitions: SPM, iPPM
    (): ((0.002, 0.009), (0.080, 0.008)),
    ("spurious",): ((0.037, 0.008), (0.047, 0.012)),
    ("indirect",): ((0.046, 0.007), (0.037, 0.007)),
    ("spurious", "indirect"): ((0.081, 0.005), (0.0003, 0.013)),
    ("spurious", "indirect", "direct"): ((0.091, 0.008), (-0.001, 0.008)),
}


def frontier_of(points, what="recid", reference="Blue", comparison="Green", share=True):
    made = []
    for paths, values in points.items():
        pairs = {
            name: (mean - half, mean + half)
            for name, (mean, half) in zip(("spm", "ippm"), values, strict=True)
        }
        judged = {"accuracy": (0.6, 0.7)} if share else {"r2": (0.1, 0.2)}
        made.append(FrontierPoint(AllowedPaths(paths, (), (), ()), pairs | judged))
    rows = RowAccount(read=100, used=100)
    return Frontier(what, reference, comparison, tuple(made), 2, 10, rows, 30, (), ())


FOUND = frontier_of(COMPAS)
NAMES = {point.name for point in FOUND}


def names_in(ax, names=NAMES):
    return [text for text in visible_texts(ax) if text.get_text() in names]


def boxes(ax, names=NAMES):
    """Where names are in the finished drawing, the lines that lead to them aside."""
    drawing(ax, dpi=100)
    renderer = ax.figure.canvas.get_renderer()
    return [Text.get_window_extent(text, renderer) for text in names_in(ax, names)]


def test_dots_and_lines_are_means_and_standard_deviations():
    ax = plots.frontier(FOUND, axes(SIZE))
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    at = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in dots]
    assert at == [(point.mean("spm"), point.mean("ippm")) for point in FOUND]
    lines = [(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in ax.lines]
    for point, (x, y) in zip(FOUND, at, strict=True):
        wide, high = point.sd("spm"), point.sd("ippm")
        assert ((x - wide, x + wide), (y, y)) in lines
        assert ((x, x), (y - high, y + high)) in lines
    assert {text.get_text() for text in names_in(ax)} == NAMES
    assert "percentage points" in ax.get_title(loc="left")
    said = " ".join(ax.get_xlabel().split())
    assert "one standard deviation over 2 splits. Gaps: Green minus Blue." in said


@pytest.mark.parametrize("size", [SIZE, (5.0, 4.5), (9.0, 6.0)])
def test_names_neither_overlap_nor_leave_the_picture(size):
    ax = plots.frontier(FOUND, axes(size))
    found = boxes(ax)
    assert len(found) == len(FOUND)
    for one, other in itertools.combinations(found, 2):
        assert not one.overlaps(other)
    assert not outside(ax)


def test_names_find_room_where_dots_lie_close():
    close = {
        (f"mediator {at}",): ((0.05 + 0.001 * at, 0.001), (0.03 + 0.0007 * (at % 3), 0.001))
        for at in range(7)
    }
    found = frontier_of(close | {(): ((0.0, 0.002), (0.09, 0.002))})
    names = {point.name for point in found}
    ax = plots.frontier(found, axes(SIZE))
    for one, other in itertools.combinations(boxes(ax, names), 2):
        assert not one.overlaps(other)


def test_numbers_that_are_no_shares_are_written_as_they_are():
    ax = plots.frontier(frontier_of(COMPAS, share=False), axes(SIZE))
    assert "percentage points" not in ax.get_title(loc="left")
    assert "percentage points" in plots.frontier(FOUND, axes(SIZE), percent=True).get_title("left")


def test_a_caption_says_what_the_picture_supports():
    said = plots.frontier_caption(FOUND)
    assert said.startswith("Predictors of recid that may use some paths only, Green against Blue.")
    assert "With spurious allowed, SPM +3.7 (sd 1.1) and iPPM +4.7 (sd 1.7)." in said
    assert "no standard error" in said
    assert "fair" not in said
    ax = plots.frontier(FOUND, axes((6.4, 7.0)), caption=True)
    assert " ".join(ax.get_xlabel().split()) == said


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_inside_the_picture(name):
    strange = HOSTILE[name]
    told = {(strange,): COMPAS[()], ("spurious",): COMPAS[("spurious",)]}
    found = frontier_of(told, what=strange, reference=strange, comparison=strange)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plots.frontier(found, axes((6.4, 6.0)))
        drawing(ax)
    assert not outside(ax)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_theme_colors_every_text_and_the_background(theme):
    ax = plots.frontier(FOUND, axes(SIZE), theme=theme)
    assert {text.get_color() for text in visible_texts(ax)} <= {theme.ink, theme.muted}
    assert np.allclose(
        ax.figure.get_facecolor()[:3],
        [int(theme.background[at : at + 2], 16) / 255 for at in (1, 3, 5)],
        atol=0.01,
    )


def test_a_saved_picture_carries_its_caption(tmp_path):
    path = tmp_path / "frontier.svg"
    plots.save(plots.frontier(FOUND, axes(SIZE)), path)
    assert "may use some paths only" in path.read_text("utf-8")
