"""Do the pictures of group metrics show the numbers of the result, legibly, whatever the names?"""

import re
import warnings
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import causalfairness as cf
from causalfairness import plots
from causalfairness.plots import DARK, LIGHT
from test_plots import (
    HOSTILE,
    SIZES,
    axes,
    difference,
    drawing,
    labels,
    outside,
    overlaps,
    visible_texts,
    words_of,
)

SELECTED = {"one": (48, 80), "other": (30, 70), "few": (9, 12), "top": (90, 100)}


def counted(selected, attribute="group", **settings):
    """The metrics of groups with so many selected of so many."""
    group = np.repeat(list(selected), [n for _, n in selected.values()])
    y = np.concatenate([np.arange(n) < x for x, n in selected.values()]).astype(int)
    model = cf.StandardFairnessModel(
        protected=attribute, reference=next(iter(selected)), comparison=None, outcome="y"
    )
    return cf.group_metrics(
        pd.DataFrame({attribute: group, "y": y}), model, **{"favorable": 1} | settings
    )


def scored(groups=3, people=120, score=None, **settings):
    """The metrics of groups with a score, an outcome, and two protected attributes."""
    rng = np.random.default_rng(0)
    rows = groups * people
    chance = rng.random(rows)
    data = pd.DataFrame(
        {
            "group": np.repeat([f"group {nth}" for nth in range(groups)], people),
            "side": rng.choice(["left", "right"], rows),
            "score": chance if score is None else score(chance),
            "y": (rng.random(rows) < chance).astype(int),
        }
    )
    settings = {"protected": "group", "reference": "group 0"} | settings
    model = cf.StandardFairnessModel(comparison=None, outcome="y", prediction="score", **settings)
    return cf.group_metrics(data, model, bins=5, favorable=1)


def crossed():
    return scored(protected=["group", "side"], reference=("group 0", "left"))


def dots(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


def spans(ax):
    return [line for line in ax.lines if line.get_linewidth() == 2.0]


def dashes(ax):
    return [line for line in ax.lines if line.get_linestyle() == "--"]


# --- rates ----------------------------------------------------------------------------------------


def test_each_group_has_its_rate_its_interval_and_its_people():
    found = counted(SELECTED, level=0.9)
    ax = plots.rates(found, axes())
    names = found.partitions[0].names
    assert labels(ax) == list(names)
    for name, dot, span in zip(names, dots(ax), spans(ax), strict=True):
        rate = found[name]["selection_rate"]
        assert dot.get_xdata()[0] == rate.value
        assert list(span.get_xdata()) == [rate.low, rate.high]
        assert {f"{100 * rate.value:.1f}%", f"{rate.people:,}"} <= set(words_of(ax))
    assert "90% interval" in words_of(ax)
    assert "selection rate: y = 1" in words_of(ax)


def test_small_groups_are_hollow_and_the_note_says_so():
    ax = plots.rates(counted(SELECTED), axes())
    hollow = {
        name: dot.get_markerfacecolor() == LIGHT.background
        for name, dot in zip(labels(ax), dots(ax), strict=True)
    }
    assert hollow == {"one": False, "other": False, "few": True, "top": False}
    assert "hollow: fewer than 30 people" in ax.get_xlabel()
    assert "hollow" not in plots.rates(counted(SELECTED, smallest=5), axes()).get_xlabel()


def test_what_lies_below_four_fifths_is_shaded():
    ax = plots.rates(counted(SELECTED), axes())
    (shade,) = ax.patches
    assert shade.get_visible()
    assert shade.get_x() + shade.get_width() == pytest.approx(0.8 * 0.9)
    (line,) = dashes(ax)
    assert list(line.get_xdata()) == pytest.approx([0.72, 0.72])
    assert "a screen and no verdict" in " ".join(ax.get_xlabel().split())
    for quiet in (
        plots.rates(counted({"a": (0, 40), "b": (0, 40)}), axes()),
        plots.rates(scored(), axes(), metric="base_rate"),
    ):
        assert len(quiet.patches) == 0
        assert "shaded" not in quiet.get_xlabel()


def test_each_way_of_dividing_people_has_its_own_line():
    found = crossed()
    ax = plots.rates(found, axes(SIZES[1]))
    heads = [label.get_text() for label in ax.get_yticklabels() if label.get_fontweight() == "bold"]
    assert heads == ["group", "side", "group, side"]
    assert len(dots(ax)) == 3 + 2 + 6
    assert len(ax.patches) == 3
    for part, line in zip(found.partitions, dashes(ax), strict=True):
        top = np.nanmax(part.measures["selection_rate"].value)
        assert line.get_xdata()[0] == pytest.approx(0.8 * top)
    alone = plots.rates(found, axes(), by="side")
    assert labels(alone) == ["left", "right"]


def test_nobody_is_drawn_as_nobody():
    data = pd.DataFrame({"g": ["a"] * 40 + ["b"] * 40, "y": [0, 1] * 20 + [0] * 40})
    data["p"] = [0, 1] * 40
    model = cf.StandardFairnessModel(
        protected="g", reference="a", comparison="b", outcome="y", prediction="p"
    )
    ax = plots.rates(cf.group_metrics(data, model, favorable=1), axes(), metric="tpr")
    assert len(dots(ax)) == 1
    assert "no such people" in words_of(ax)
    assert labels(ax) == ["a", "b"]
    assert overlaps(ax) == []


def test_means_are_drawn_in_their_own_unit_and_one_person_is_unbounded():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"g": ["a"] * 50 + ["b"] * 50 + ["c"], "y": rng.normal(-20, 5, 101)})
    model = cf.StandardFairnessModel(protected="g", reference="a", comparison=None, outcome="y")
    ax = plots.rates(cf.group_metrics(data, model, favorable=1), axes(), metric="mean_outcome")
    assert "unbounded" in words_of(ax)
    assert any(word.startswith("\N{MINUS SIGN}2") for word in words_of(ax))
    start, end = ax.get_xlim()
    assert start < dots(ax)[0].get_xdata()[0] < end < 0
    assert np.all(np.isfinite(spans(ax)[2].get_xdata()))
    error = plots.rates(scored(), axes(), metric="calibration_error")
    assert not any("interval" in word for word in words_of(error))


@pytest.mark.parametrize("draw", [plots.rates, plots.rates_caption])
def test_what_cannot_be_drawn_is_refused_with_the_reason(draw):
    with pytest.raises(ValueError, match="no 'tpr' to draw: the model names no prediction"):
        draw(counted(SELECTED), metric="tpr")
    with pytest.raises(ValueError, match="no 'recall' to draw: there are selection_rate"):
        draw(counted(SELECTED), metric="recall")
    with pytest.raises(ValueError, match="not divided by 'sex'; there are 'group'"):
        draw(counted(SELECTED), by="sex")


# --- calibration ----------------------------------------------------------------------------------


def test_each_group_has_a_panel_with_its_bins():
    found = scored()
    ax = plots.calibration(found, axes())
    part = found.partitions[0]
    low, high = part.calibration.interval(0.95)
    assert [panel.get_title(loc="left") for panel in ax.child_axes] == list(part.names)
    for at, panel in enumerate(ax.child_axes):
        drawn = np.concatenate([dot.get_xydata() for dot in dots(panel)])
        drawn = drawn[np.argsort(drawn[:, 0])]
        expected = np.column_stack([part.calibration.score[at], part.calibration.observed[at]])
        assert drawn == pytest.approx(expected)
        (lines,) = panel.collections
        ends = np.array([segment[:, 1] for segment in lines.get_segments()])
        assert ends == pytest.approx(np.column_stack([low[at], high[at]]))
    assert "120 people" in words_of(ax)


def test_the_reference_stands_behind_the_others_and_chances_have_a_diagonal():
    found = scored()
    panels = plots.calibration(found, axes()).child_axes
    curve = found.partitions[0].calibration
    for nth, panel in enumerate(panels):
        behind = [line for line in panel.lines if line.get_color() == LIGHT.rest]
        assert len(behind) == (nth > 0)
        if nth:
            assert behind[0].get_ydata() == pytest.approx(curve.observed[0])
        assert len([line for line in panel.lines if list(line.get_xdata()) == [0, 1]]) == 1
    points = plots.calibration(scored(score=lambda chance: np.ceil(10 * chance)), axes())
    for panel in points.child_axes:
        assert not [line for line in panel.lines if list(line.get_xdata()) == [0, 1]]
    assert "means what it says" not in points.get_xlabel()


def test_bins_of_few_people_are_hollow():
    ax = plots.calibration(scored(people=120), axes())
    faces = [dot.get_markerfacecolor() for panel in ax.child_axes for dot in dots(panel)]
    assert set(faces) == {LIGHT.background}  # 24 of 120 in each
    ax = plots.calibration(scored(people=400), axes())
    faces = [dot.get_markerfacecolor() for panel in ax.child_axes for dot in dots(panel)]
    assert set(faces) == {LIGHT.ink}
    assert "hollow" not in ax.get_xlabel()


def test_groups_can_be_chosen_and_those_not_drawn_are_named():
    found = scored(groups=14, people=40)
    ax = plots.calibration(found, axes((8, 8)))
    assert len(ax.child_axes) == 12
    assert ax.child_axes[0].get_title(loc="left") == "group 0"
    drawn = [panel.get_title(loc="left") for panel in ax.child_axes]
    left = [name for name in found.partitions[0].names if name not in drawn]
    assert len(left) == 2
    assert all(name in " ".join(ax.get_xlabel().split()) for name in left)
    assert all(name in plots.calibration_caption(found) for name in left)
    two = plots.calibration(found, axes(), groups=["group 3", "group 1"])
    assert [panel.get_title(loc="left") for panel in two.child_axes] == ["group 3", "group 1"]
    both = plots.calibration(crossed(), axes(), by="group, side", groups=[("group 1", "left")])
    assert both.child_axes[0].get_title(loc="left") == "group 1, left"
    for bad in ("group 1", [], ["group 1"] * 13):
        with pytest.raises(ValueError, match="groups is a list of 1 to 12 groups"):
            plots.calibration(found, axes(), groups=bad)
    with pytest.raises(ValueError, match="no group 'x'; there are group 0"):
        plots.calibration(found, axes(), groups=["x"])
    with pytest.raises(ValueError, match="no calibration to draw: the model names no prediction"):
        plots.calibration(counted(SELECTED), axes())


# --- words ----------------------------------------------------------------------------------------


def test_a_caption_says_what_the_rates_support():
    two = {"one": (48, 80), "top": (90, 100)}
    assert plots.rates_caption(counted(two)) == (
        "Selection rate (y = 1) by group, with 95% intervals: one 60.0% (49.0% to 70.0%) and top "
        "90.0% (82.6% to 94.5%). 1 of 2 groups is below four fifths of the highest rate, that of "
        "top (100 people). Were all rates equal, chance alone would flag some group in under 1% of "
        "tables with groups of these sizes. Four fifths (29 CFR 1607.4 D) is a screen: it says "
        "where to look, and is no verdict."
    )
    many = plots.rates_caption(counted({**SELECTED, "more": (20, 40)}))
    assert "of 5 groups lowest other 42.9%" in many
    assert "Fewer than 30 people: few (12)." in many


def test_a_caption_says_what_the_calibration_supports():
    found = scored()
    caption = plots.calibration_caption(found)
    assert "in 5 bins that are the same in all groups, with 95% intervals of each" in caption
    assert re.search(r"group 1: the interval excludes the mean score in \d of 5 bins\.", caption)
    points = plots.calibration_caption(scored(score=lambda chance: np.ceil(10 * chance)))
    assert re.search(r"group 1: from \d+\.\d% in the lowest bin with people to", points)


@pytest.mark.parametrize("draw", [plots.rates, plots.calibration])
def test_captions_are_drawn_on_request_and_give_no_verdict(draw):
    found = scored()
    quiet, loud = draw(found, axes()), draw(found, axes((6.4, 6.0)), caption=True)
    assert loud.get_xlabel().count("\n") > quiet.get_xlabel().count("\n")
    assert overlaps(loud) == []
    for ax in (quiet, loud):
        said = " ".join([*words_of(ax), plots.to_svg(ax).split("</desc>")[0]])
        assert not re.search(r"\b(un)?fair", said, re.IGNORECASE)


# --- legible whatever the names -------------------------------------------------------------------


def pictures_of(name):
    found = scored()
    renamed = replace(found.partitions[0], groups=(name, f"{name} ", "plain"), by=(name,))
    hostile = replace(found, partitions=(renamed, renamed), about=dict.fromkeys(found.about, name))
    yield plots.rates(hostile, axes())
    yield plots.rates(hostile, axes((6.4, 6.0)), metric="mean_score", caption=len(name) < 100)
    yield plots.calibration(hostile, axes())


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_drawn_inside_the_picture_without_a_warning(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in pictures_of(HOSTILE[name]):
            assert overlaps(ax) == []
            assert outside(ax) == []


@pytest.mark.parametrize("count", [1, 2, 6, 12])
def test_texts_stay_apart_and_inside_however_many_groups(count):
    from matplotlib import pyplot

    long = {f"African-American and female, aged {nth}": (nth + 3, 40) for nth in range(count)}
    found = scored(groups=count)
    wide = replace(found, partitions=(replace(found.partitions[0], groups=tuple(long)),))
    for ax in (plots.rates(counted(long)), plots.calibration(wide), plots.rates(wide)):
        assert overlaps(ax) == []
        assert outside(ax) == []
        pyplot.close(ax.figure)


def test_long_names_take_two_lines_where_rows_have_room():
    ends = ("men, under forty years of age", "women, under forty years of age")
    names = {f"Native Hawaiian or other Pacific Islander, {end}": (20, 40) for end in ends}
    roomy, tight = (plots.rates(counted(names), axes((6.4, high))) for high in (3.0, 1.0))
    assert [label.count("\n") for label in labels(roomy)] == [1, 1]
    assert [label.count("\n") for label in labels(tight)] == [0, 0]
    assert len(set(labels(roomy))) == 2
    assert overlaps(roomy) == []


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_theme_colors_every_text_and_the_whole_background(theme):
    for ax in (
        plots.rates(crossed(), axes(SIZES[1]), theme=theme),
        plots.calibration(scored(), axes(), theme=theme),
    ):
        used = {matplotlib.colors.to_hex(text.get_color()) for text in visible_texts(ax)}
        assert used <= {theme.ink, theme.muted}
        corner = drawing(ax)[0, 0] / 255
        assert corner == pytest.approx(matplotlib.colors.to_rgb(theme.background), abs=0.003)


# --- manners --------------------------------------------------------------------------------------

PICTURES = (
    lambda ax=None: plots.rates(counted(SELECTED), ax),
    lambda ax=None: plots.calibration(scored(), ax),
)


@pytest.mark.parametrize("draw", PICTURES)
def test_the_given_axes_are_used_and_settings_are_left_alone(draw):
    ax = Figure(layout="constrained").subplots()
    before = dict(matplotlib.rcParams)
    assert draw(ax) is ax
    assert dict(matplotlib.rcParams) == before
    loud = {
        "font.size": 30,
        "axes.facecolor": "yellow",
        "lines.linestyle": ":",
        "text.color": "red",
    }
    loud |= {"axes.grid": True, "xtick.color": "red", "lines.marker": "x", "grid.color": "red"}
    plain = drawing(draw(axes()))
    with matplotlib.rc_context(loud):
        assert difference(plain, drawing(draw(axes()))) < 0.5


@pytest.mark.parametrize("draw", PICTURES)
def test_a_saved_picture_has_the_same_bytes_each_time_and_carries_its_caption(draw, tmp_path):
    first, second = (
        plots.save(draw(axes()), tmp_path / f"{nth}.svg").read_bytes() for nth in range(2)
    )
    assert first == second
    assert b"with 95% intervals" in first
