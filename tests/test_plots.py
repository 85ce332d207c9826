"""Do the pictures show the numbers of the result, legibly, whatever names the data bring?

All results here are made by hand from round numbers, so that the pictures depend on no estimator.
The pictures in `tests/pictures` were drawn by `python tests/test_plots.py` and looked at.
"""

import itertools
import re
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from causalfairness import plots
from causalfairness.effects import (
    Basis,
    Decomposition,
    Diagnostics,
    Effect,
    EffectTable,
    Estimate,
    Overlap,
    WorldMeans,
)
from causalfairness.plots import DARK, LIGHT, lettering
from causalfairness.tables import RowAccount

PICTURES = Path(__file__).resolve().parent / "pictures"
BASIS = Basis("3f9a", "rows")
SIZES = ((6.4, 4.0), (10.0, 5.0))
THEMES = {"light": LIGHT, "dark": DARK}
HOSTILE = {
    "markup": "<script>alert('x')</script> & <b>",
    "quotes": "\"quoted\" 'twice' `and` \\again\\",
    "long": "very long name " * 700,
    "long word": "W" * 10_000,
    "emoji": "\U0001f680 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
    "arabic": "\u0645\u062c\u0645\u0648\u0639\u0629 \u0623\u0648\u0644\u0649",
    "hebrew": "\u05e7\u05d1\u05d5\u05e6\u05d4 1",
    "chinese": "\u7b2c\u4e00\u7ec4",
    "formula": "$x_1$ and $\\frac{1}{2$",
    "lines": "one\ntwo\r\n\tthree",
    "control": "a\x00b\x07c\ud800d\u202ee",
    "marks": "z" + "\u0301\u0302" * 200,
    "underscore": "_hidden",
    "empty": "",
}


def decomposition(
    levels=(0.39, 0.40, 0.48, 0.52),
    errors=(0.006, 0.014, 0.007, 0.005),
    rest=0.0,
    remainder="outside_support",
    **words,
):
    """Means of the four worlds on the way from one group to the other, on independent errors."""
    values, spreads = np.full((2, 2, 3), levels[0]), np.zeros((2, 2, 3, 5))
    spreads[..., 0] = errors[0]
    for step, world in enumerate([(1, 0, 0), (1, 1, 0), (1, 1, 1)], start=1):
        values[world] = levels[step]
        spreads[world][: step + 1] = errors[: step + 1]
    gap = spreads[1, 1, 1] - spreads[0, 0, 0]
    gap[4] = abs(rest) / 4
    words = {"what": "recid", "reference": "Blue", "comparison": "Green"} | words
    diagnostics = Diagnostics(
        words.pop("estimator", "Strata()"),
        RowAccount(read=100, used=100),
        Overlap(),
        assumptions=("no hidden common cause", "everyone has a counterpart"),
    )
    total = Effect("total", levels[3] - levels[0] + rest, gap, BASIS)
    means = WorldMeans(values, spreads, BASIS)
    estimate = Estimate(means, total, diagnostics, remainder)
    return Decomposition(convention="sequential", estimate=estimate, **words)


def table(names=("total", "direct", "indirect", "spurious"), **more):
    values, errors = itertools.cycle([0.13, 0.01, 0.08, -0.04]), itertools.cycle([0.014, 0.02])
    effects = [
        Effect(name, next(values), np.array([next(errors)]), BASIS, frozenset({"overlap"}))
        for name in names
    ]
    return EffectTable(tuple(effects), **more)


FALLING = decomposition(levels=(-0.15, 0.27, -0.18, 0.12), errors=(0.05, 0.05, 0.04, 0.03))
RESTRICTED = decomposition(rest=-0.03)


def axes(size=SIZES[0]):
    return Figure(figsize=size, layout="constrained").subplots()


def drawing(ax, dpi=72):
    """The pixels of a picture."""
    canvas = FigureCanvasAgg(ax.figure)
    ax.figure.set_dpi(dpi)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(float)


def visible_texts(ax):
    return [text for text in ax.figure.findobj(matplotlib.text.Text) if is_seen(text)]


def is_seen(text):
    return text.get_visible() and text.get_text().strip()


def words_of(ax):
    return [text.get_text() for text in visible_texts(ax)]


# --- the numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [decomposition(), FALLING, RESTRICTED])
def test_each_step_is_a_bar_from_where_the_last_one_ended(found):
    bars = plots.waterfall(found, axes()).patches
    parts = [found.direct, found.indirect, found.spurious]
    parts += [found.outside_support] if found.outside_support.value else []
    assert len(bars) == len(parts)
    level = found.world_means[0, 0, 0].value
    for bar, part in zip(bars, parts, strict=True):
        assert bar.get_y() == pytest.approx(level, abs=1e-12)
        assert bar.get_height() == pytest.approx(part.value, abs=1e-12)
        level += part.value


def test_the_steps_lead_from_one_mean_to_the_other():
    ax = plots.waterfall(FALLING, axes())
    means = [line.get_ydata() for line in ax.lines if line.get_linewidth() > 3]
    assert [list(ends) for ends in means] == [[-0.15, -0.15], [0.12, 0.12]]
    assert ax.patches[2].get_y() + ax.patches[2].get_height() == pytest.approx(0.12, abs=1e-12)


def test_the_interval_of_a_step_stands_around_its_end():
    ax = plots.waterfall(decomposition(), axes(), level=0.9)
    lines = [line.get_ydata() for line in upright(ax)]
    found = decomposition()
    for at, part in enumerate([found.direct, found.indirect, found.spurious]):
        start = ax.patches[at].get_y()
        expected = [start + end for end in part.interval(0.9)]
        assert list(lines[at]) == pytest.approx(expected, abs=1e-12)
    assert "90% intervals" in ax.get_xlabel()


def upright(ax):
    """The lines that show intervals of bars."""
    return [
        line for line in ax.lines if line.get_linewidth() == 1.1 and len(set(line.get_xdata())) == 1
    ]


def test_the_steps_carry_their_values_and_the_groups_their_means():
    words = words_of(plots.waterfall(decomposition(), axes()))
    for word in ("39.0%", "+1.0", "+8.0", "+4.0", "52.0%", "Blue", "Green", "mean recid"):
        assert word in words
    assert "Gap +13.0 points (+9.8 to +16.2)" in words


def test_a_falling_step_is_written_below_with_a_true_minus():
    ax = plots.waterfall(FALLING, axes())
    words = words_of(ax)
    assert "\N{MINUS SIGN}0.450" in words
    assert "\N{MINUS SIGN}0.150" in words
    label = next(text for text in ax.texts if text.get_text() == "\N{MINUS SIGN}0.450")
    assert label.xy[1] < -0.18


def test_percent_can_be_asked_for_or_refused():
    assert "39.0%" in words_of(plots.waterfall(decomposition(), axes()))
    assert "0.390" in words_of(plots.waterfall(decomposition(), axes(), percent=False))
    assert "+42.0" in words_of(plots.waterfall(FALLING, axes(), percent=True))


@pytest.mark.parametrize(
    ("remainder", "word", "whom"),
    [("outside_support", "outside", "comparable"), ("misfit", "misfit", "modeled")],
)
def test_what_the_paths_leave_over_stands_apart(remainder, word, whom):
    found = decomposition(rest=-0.03, remainder=remainder)
    ax = plots.waterfall(found, axes())
    words = " ".join(words_of(ax))
    assert word in words
    assert whom in words
    assert ax.patches[-1].get_hatch()
    assert ax.patches[-1].get_y() == pytest.approx(0.52)
    assert "10.0 points" in words
    assert whom in plots.waterfall_caption(found)


def test_nothing_is_written_as_nothing():
    found = decomposition(levels=(0.4, 0.5, 0.5, 0.5), errors=(0.01, 0.01, 0, 0))
    assert words_of(plots.waterfall(found, axes())).count("0") == 2
    assert "nothing is spurious" in plots.waterfall_caption(found)
    still = decomposition(levels=(0.4,) * 4, errors=(0,) * 4)
    drawing(plots.waterfall(still, axes()))
    drawing(plots.side_by_side([still], axes()))


def test_the_forest_shows_each_effect_and_its_interval():
    found = table(level=0.9)
    ax = plots.forest(found, axes())
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    spans = [line for line in ax.lines if line.get_linewidth() == 2.0]
    for effect, dot, span in zip(found, dots, spans, strict=True):
        assert dot.get_xdata()[0] == effect.value
        assert list(span.get_xdata()) == pytest.approx(list(effect.interval(0.9)), abs=1e-12)
    hollow = [dot.get_markerfacecolor() == LIGHT.background for dot in dots]
    assert hollow == [False, True, False, False]
    assert [dot.get_markeredgecolor() for dot in dots][1] == LIGHT.direct
    words = words_of(ax)
    assert {"+0.130", "\N{MINUS SIGN}0.040", "+0.107 to +0.153"} <= set(words)


def test_the_forest_shows_intervals_that_hold_together():
    ax = plots.forest(table(reach=3.0), axes())
    span = next(line for line in ax.lines if line.get_linewidth() == 2.0)
    assert list(span.get_xdata()) == pytest.approx([0.13 - 0.042, 0.13 + 0.042], abs=1e-12)
    assert "hold all together" in ax.get_xlabel()
    assert "hold all together" in plots.forest_caption(table(reach=3.0))


def test_rows_can_be_chosen_ordered_and_renamed():
    assert labels(plots.forest(table(), axes(), names=["spurious", "direct"])) == [
        "spurious",
        "direct",
    ]
    assert labels(plots.forest(table(), axes(), names={"direct": "like cases"})) == ["like cases"]
    with pytest.raises(KeyError, match="no effect is named"):
        plots.forest(table(), axes(), names=["absent"])
    with pytest.raises(ValueError, match=r"write \['direct'\]"):
        plots.forest(table(), axes(), names="direct")


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_rows_of_one_group_stand_under_its_name():
    names = [f"{group}: {part}" for group in ("Green", "a: b") for part in ("total", "direct")]
    ax = plots.forest(table(names), axes())
    assert labels(ax) == ["Green", "total", "direct", "a: b", "total", "direct"]
    assert [label.get_fontweight() for label in ax.get_yticklabels()][:2] == ["bold", "normal"]
    assert len([line for line in ax.lines if line.get_marker() == "o"]) == 4


def test_two_effects_of_one_name_are_two_rows():
    ax = plots.forest(table(["same", "same"]), axes())
    assert [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"] == [0.13, 0.01]


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_bars_side_by_side_have_the_height_of_their_effects(count):
    found = {f"model {nth}": replace(FALLING, what=f"{nth}") for nth in range(count)}
    ax = plots.side_by_side(found, axes(SIZES[1]))
    parts = [FALLING.total, FALLING.direct, FALLING.indirect, FALLING.spurious]
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == pytest.approx([part.value for part in parts] * count, abs=1e-12)
    spans = [list(line.get_ydata()) for line in upright(ax)]
    for span, part in zip(spans, parts * count, strict=True):
        assert span == pytest.approx(list(part.interval(0.95)), abs=1e-12)
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in ax.patches[1::4]}
    assert len(looks) == count


def test_decompositions_are_called_by_what_sets_them_apart():
    one = decomposition()
    for other, names in {
        replace(one, what="score"): ["recid", "score"],
        decomposition(estimator="DoublyRobust(folds=5)"): ["Strata", "DoublyRobust"],
        replace(one, convention="symmetric"): ["sequential", "symmetric"],
        replace(one, comparison="Red"): ["Green against Blue", "Red against Blue"],
        one: ["1", "2"],
    }.items():
        ax = plots.side_by_side([one, other], axes())
        assert [text.get_text() for text in ax.get_legend().get_texts()] == names


def test_a_remainder_is_drawn_for_those_that_have_one():
    ax = plots.side_by_side({"all": decomposition(), "comparable": RESTRICTED}, axes())
    assert len(ax.patches) == 9
    assert ax.patches[-1].get_height() == pytest.approx(-0.03, abs=1e-12)
    assert "outside support" in " ".join(words_of(ax)).replace("\n", " ")


def test_too_many_or_too_few_decompositions_are_refused():
    for found in ([], [FALLING] * 7):
        with pytest.raises(ValueError, match="between 1 and 6 decompositions"):
            plots.side_by_side(found, axes())
    with pytest.raises(ValueError, match="no effect to draw"):
        plots.forest(EffectTable(()), axes())


# --- the words ----------------------------------------------------------------------------------


def test_a_caption_says_what_the_waterfall_supports():
    assert plots.waterfall_caption(decomposition()) == (
        "Mean recid is 39.0% for Blue and 52.0% for Green: a gap of +13.0 points (95% interval "
        "+9.8 to +16.2). Of it, +1.0 is direct (-1.7 to +3.7, consistent with no direct effect "
        "above 3.7 points), +8.0 is indirect (+6.6 to +9.4) and +4.0 is spurious (+3.0 to +5.0), "
        "under the stated assumptions: no hidden common cause; everyone has a counterpart."
    )


def test_a_caption_says_when_there_may_be_no_gap():
    found = decomposition(levels=(0.4, 0.41, 0.42, 0.41), errors=(0.01, 0.02, 0.02, 0.02))
    assert "consistent with no gap above 7.8 points" in plots.waterfall_caption(found)


def test_captions_state_assumptions_and_give_no_verdict():
    captions = [plots.waterfall_caption(found) for found in (decomposition(), FALLING, RESTRICTED)]
    captions += [
        plots.forest_caption(table()),
        plots.forest_caption(table(f"e{n}" for n in "abcdefgh")),
    ]
    captions += [plots.side_by_side_caption([decomposition(), RESTRICTED])]
    for caption in captions:
        assert "nder the stated assumptions: " in caption
        assert not re.search(r"\b(un)?fair", caption, re.IGNORECASE)
        assert caption.endswith(".")


def test_a_caption_of_many_effects_names_the_largest():
    caption = plots.forest_caption(table(f"e{n}" for n in "abcdefgh"))
    assert "for 6 of 8 effects, the largest of them: ea +0.130" in caption
    assert "consistent with no effect above 0.049" in caption


@pytest.mark.parametrize(
    "draw", [plots.waterfall, lambda *a, **k: plots.side_by_side([a[0]], *a[1:], **k)]
)
def test_a_caption_is_drawn_on_request(draw):
    ax = draw(decomposition(), axes((6.4, 6.0)), caption=True)
    assert "everyone has a counterpart" in " ".join(ax.get_xlabel().split())
    assert overlaps(ax) == []
    assert "counterpart" not in draw(decomposition(), axes()).get_xlabel()


# --- legible whatever the names -------------------------------------------------------------------


def pictures_with(name, size):
    other = f"{name} "
    found = decomposition(what=name, reference=name, comparison=other)
    yield plots.waterfall(found, axes(size))
    yield plots.side_by_side({name: found, other: found}, axes(size))
    yield plots.side_by_side([found, replace(found, what="score")], axes(size))
    yield plots.forest(table([name, f"{name}: direct", f"{name}: total", "x"]), axes(size))
    yield plots.forest(table(), axes(size), names={"direct": name, "total": other})


@pytest.mark.parametrize("size", SIZES, ids=["small", "large"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_drawn_inside_the_picture_without_a_warning(name, size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in pictures_with(HOSTILE[name], size):
            assert overlaps(ax) == []
            assert outside(ax) == []


def overlaps(ax):
    """Pairs of texts that cover each other."""
    drawing(ax)
    seen = [(text.get_text(), extent(text)) for text in visible_texts(ax)]
    return [
        (one, other)
        for (one, box), (other, covered) in itertools.combinations(seen, 2)
        if (both := Bbox.intersection(box, covered)) and both.width > 1 and both.height > 1
    ]


def extent(text):
    """What a text covers: its ink, not the patch behind it."""
    return matplotlib.text.Text.get_window_extent(text)


def outside(ax):
    """Texts that reach over the edge of the picture."""
    page = ax.figure.bbox.padded(1)
    return [
        text.get_text()
        for text in visible_texts(ax)
        if not (page.contains(*extent(text).min) and page.contains(*extent(text).max))
    ]


@pytest.mark.parametrize("size", SIZES, ids=["small", "large"])
def test_texts_stay_apart_and_inside(size):
    many = table([f"{group}: {part}" for group in "ABC" for part in ("total", "direct", "misfit")])
    for ax in (
        plots.waterfall(decomposition(), axes(size)),
        plots.waterfall(FALLING, axes(size)),
        plots.waterfall(RESTRICTED, axes(size)),
        plots.side_by_side([decomposition(), FALLING], axes(size)),
        plots.side_by_side({str(n): RESTRICTED for n in range(6)}, axes(size)),
        plots.forest(table(), axes(size)),
        plots.forest(many, axes(size)),
        plots.forest(table(), axes((6.4, 5)), caption=True),
    ):
        assert overlaps(ax) == []
        assert outside(ax) == []


def test_names_keep_what_can_be_read():
    def legible(name):
        return lettering.legible(HOSTILE[name], LIGHT)

    assert legible("markup") == HOSTILE["markup"]
    assert legible("formula") == HOSTILE["formula"]
    assert legible("emoji") == "[U+1F680] [U+1F468][U+1F469][U+1F467] \u2764"
    assert legible("arabic") == lettering.in_reading_order(HOSTILE["arabic"])
    assert legible("chinese") == "[U+7B2C][U+4E00][U+7EC4]"
    assert legible("lines") == "one two three"
    assert legible("control") == "a[U+0000]b[U+0007]c[U+D800]de"
    assert legible("empty") == "(no name)"
    assert len(legible("marks")) < 5


def test_long_names_keep_both_ends():
    name = lettering.fit("first group " + "and more " * 100 + "last group", LIGHT, width=150)
    assert name.startswith("first")
    assert name.endswith("group")
    assert "…" in name
    assert lettering.width_of(name, LIGHT) <= 150


def test_widths_are_those_that_are_drawn():
    ax = axes()
    text = ax.text(0, 0, "African-American, 17", fontsize=LIGHT.size, family="DejaVu Sans")
    drawing(ax, dpi=72)
    width = extent(text).width
    assert width <= lettering.width_of(text.get_text(), LIGHT) <= 1.12 * width


def test_a_font_of_ones_own_adds_letters_and_an_absent_one_is_named():
    letter = "\ue000"  # in a font that comes with matplotlib, though not in DejaVu Sans
    more = replace(LIGHT, fonts=("DejaVu Sans", "STIXNonUnicode"))
    assert lettering._shapes(LIGHT.fonts) < lettering._shapes(more.fonts)
    assert lettering.legible(letter, LIGHT) == "[U+E000]"
    drawing(plots.waterfall(decomposition(), axes(), theme=more))
    with pytest.raises(ValueError, match="No Such Font"):
        plots.waterfall(decomposition(), axes(), theme=replace(LIGHT, fonts=("No Such Font",)))


def test_right_to_left_words_are_turned_where_matplotlib_does_not(monkeypatch):
    assert lettering.turned("x \u05d0\u05d1\u05d2 1") == "x \u05d2\u05d1\u05d0 1"
    monkeypatch.setattr(lettering, "SHAPES_ITSELF", False)
    assert lettering.legible("\u05d0\u05d1", LIGHT) == "\u05d1\u05d0"
    monkeypatch.setattr(lettering, "SHAPES_ITSELF", True)
    assert lettering.legible("\u05d0\u05d1", LIGHT) == "\u05d0\u05d1"


# --- colors -------------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes (2009), complete loss, on linear RGB.
SEEN = {
    "all cones": "1 0 0 0 1 0 0 0 1",
    "protanopia": "0.15229 1.05258 -0.20487 0.1145 0.78628 0.09922 -0.00388 -0.04812 1.052",
    "deuteranopia": "0.36732 0.86065 -0.22797 0.28009 0.6725 0.04741 -0.01182 0.04294 0.96888",
    "tritanopia": "1.25553 -0.07675 -0.17878 -0.07841 0.93081 0.1476 0.00473 0.69137 0.3039",
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)


def linear(color):
    rgb = np.array(matplotlib.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b*, in which a distance of 2 can just be seen."""
    t = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    low, high = sorted(float(linear(color) @ TO_XYZ[1]) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_path_colors_stay_apart_for_all_eyes(theme, eyes):
    colors = [theme.direct, theme.indirect, theme.spurious]
    cones = np.array(SEEN[eyes].split(), dtype=float).reshape(3, 3)
    for one, other in itertools.combinations(colors, 2):
        seen = [lab(cones @ linear(color)) for color in (one, other)]
        assert np.linalg.norm(seen[0] - seen[1]) > 25


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_colors_stand_out_from_the_background(theme):
    for color in (theme.direct, theme.indirect, theme.spurious, theme.rest):
        assert contrast(color, theme.background) >= 3
    for color in (theme.ink, theme.muted):
        assert contrast(color, theme.background) >= 4.5


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_theme_colors_every_text_and_the_whole_background(theme):
    for ax in (
        plots.waterfall(RESTRICTED, axes(), theme=theme),
        plots.side_by_side([decomposition(), FALLING], axes(), theme=theme),
        plots.forest(table(), axes(), theme=theme),
    ):
        used = {matplotlib.colors.to_hex(text.get_color()) for text in visible_texts(ax)}
        assert used <= {theme.ink, theme.muted}
        corner = drawing(ax)[0, 0] / 255
        assert corner == pytest.approx(matplotlib.colors.to_rgb(theme.background), abs=0.003)


# --- manners ------------------------------------------------------------------------------------


ALL_PICTURES = (
    lambda ax=None: plots.waterfall(decomposition(), ax),
    lambda ax=None: plots.forest(table(), ax),
    lambda ax=None: plots.side_by_side([decomposition(), FALLING], ax),
)


def test_the_given_axes_are_used_and_returned():
    for figure in (Figure(), Figure(layout="constrained").subfigures(1, 2)[0]):
        ax = figure.subplots()
        for draw in ALL_PICTURES:
            ax.clear()
            assert draw(ax) is ax


def test_without_axes_a_figure_is_made_that_a_notebook_shows():
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    for draw in ALL_PICTURES:
        ax = draw()
        assert ax.figure.number in pyplot.get_fignums()
        assert overlaps(ax) == []
        pyplot.close(ax.figure)
    assert pyplot.get_fignums() == before


def test_settings_are_neither_changed_nor_used():
    plain = [drawing(draw(axes())) for draw in ALL_PICTURES]
    before = dict(matplotlib.rcParams)
    for draw in ALL_PICTURES:
        plots.to_svg(draw(axes()))
    assert dict(matplotlib.rcParams) == before
    loud = {
        "font.family": "serif",
        "font.size": 30,
        "text.color": "red",
        "axes.grid": True,
        "axes.edgecolor": "red",
        "axes.facecolor": "yellow",
        "xtick.color": "red",
        "ytick.major.size": 20,
        "axes.titleweight": "bold",
        "axes.titlelocation": "right",
        "lines.linestyle": "--",
        "grid.linestyle": ":",
        "savefig.facecolor": "red",
    }
    with matplotlib.rc_context(loud):
        again = [drawing(draw(axes())) for draw in ALL_PICTURES]
    for one, other in zip(plain, again, strict=True):
        assert difference(one, other) < 0.5


def test_drawing_twice_on_one_axes_leaves_one_caption():
    ax = axes()
    plots.forest(table(), ax)
    plots.forest(table(), ax)
    assert plots.to_svg(ax).count("the interval excludes zero") == 1


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_saved_picture_has_the_same_bytes_each_time(kind, tmp_path):
    files = []
    for nth in range(2):
        for at, draw in enumerate(ALL_PICTURES):
            files.append(plots.save(draw(axes()), tmp_path / f"{nth}-{at}.{kind}").read_bytes())
    assert files[:3] == files[3:]
    assert len(set(files)) == 3


def test_an_svg_tells_its_caption_and_refers_to_nothing_outside(tmp_path):
    name = '<script>alert(1)</script> & "x" ]]> --> \x00'
    found = decomposition(reference=name, what=name)
    text = plots.save(plots.waterfall(found, axes()), tmp_path / "a.svg").read_text("utf-8")
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    title, desc = root.find(f"{space}title"), root.find(f"{space}desc")
    assert root.get("aria-labelledby").split() == [title.get("id"), desc.get("id")]
    assert root.get("role") == "img"
    assert "<script>" in title.text
    assert desc.text.startswith("Mean <script>")
    assert {element.tag for element in root.iter()}.isdisjoint({f"{space}script", f"{space}image"})
    links = [
        value
        for element in root.iter()
        for key, value in element.attrib.items()
        if key.endswith("href") or "url(" in value
    ]
    assert links
    assert all(link.startswith(("#", "url(#")) for link in links)
    assert "<!DOCTYPE" not in text
    without_namespaces = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert "http" not in without_namespaces


def test_png_and_pdf_carry_the_caption_and_no_date(tmp_path):
    ax = plots.waterfall(decomposition(), axes())
    assert b"a gap of +13.0 points" in plots.save(ax, tmp_path / "a.png").read_bytes()
    pdf = plots.save(ax.figure, tmp_path / "a.pdf").read_bytes()
    assert b"a gap of +13.0 points" in pdf
    assert b"CreationDate" not in pdf


def test_a_figure_without_layout_is_saved_whole(tmp_path):
    ax = plots.forest(table(), Figure(figsize=(3, 2)).subplots())
    root = ElementTree.fromstring(plots.to_svg(ax))
    assert float(root.get("width").removesuffix("pt")) > 3 * 72


def test_an_unknown_kind_of_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.svg, \.png or \.pdf; found .*gif"):
        plots.save(axes(), tmp_path / "picture.gif")


# --- the pictures themselves ----------------------------------------------------------------------

# Axes at a fixed place: a layout would move all bars when a letter is a little wider.


def placed(height=3.5, left=0.1, width=0.86):
    return Figure(figsize=(5.6, height)).add_axes((left, 0.25, width, 0.75 - 0.65 / height))


DRAWN = {
    "waterfall": lambda theme=LIGHT, found=None: plots.waterfall(
        found or decomposition(), placed(), theme=theme
    ),
    "waterfall-falling": lambda theme=LIGHT, found=None: plots.waterfall(
        found or FALLING, placed(), theme=theme
    ),
    "waterfall-restricted": lambda theme=LIGHT, found=None: plots.waterfall(
        found or RESTRICTED, placed(), theme=theme
    ),
    "side-by-side": lambda theme=LIGHT, found=None: plots.side_by_side(
        {"outcome": found or decomposition(), "prediction": RESTRICTED}, placed(), theme=theme
    ),
    "forest": lambda theme=LIGHT, found=None: plots.forest(
        (found or decomposition()).summary(), placed(2.2, left=0.16, width=0.5), theme=theme
    ),
}
TOLERANCE = 5.0  # of 255, root mean square
MARGIN = 5  # pixels around a text, which versions of fonts place and shape differently


def difference(one, other):
    """The root mean square difference of two pictures."""
    assert one.shape == other.shape
    return float(np.sqrt(np.mean((one - other) ** 2)))


def without_texts(pixels, ax):
    """A picture with all texts of the drawing cut out: bars, lines and colors."""
    left = pixels.copy()
    for text in visible_texts(ax):
        (x0, y0), (x1, y1) = extent(text).padded(MARGIN).get_points()
        rows = slice(max(0, int(len(left) - y1)), max(0, int(len(left) - y0)))
        left[rows, max(0, int(x0)) : max(0, int(x1))] = 0
    return left


def looks_like(ax, name):
    """Are shapes and colors those of the kept picture, and texts where it has some?"""
    now, before = drawing(ax), kept(name)
    return difference(without_texts(now, ax), without_texts(before, ax)) < TOLERANCE


def kept(name):
    return np.asarray(matplotlib.image.imread(PICTURES / f"{name}.png"))[..., :3] * 255.0


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_looks_as_it_did(name, theme):
    assert looks_like(DRAWN[name](THEMES[theme]), f"{name}-{theme}")


@pytest.mark.parametrize("name", DRAWN)
def test_a_moved_bar_another_color_or_lost_words_are_noticed(name):
    moved = decomposition(levels=(0.39, 0.41, 0.48, 0.52))
    if name == "waterfall-falling":
        moved = decomposition(levels=(-0.15, 0.24, -0.18, 0.12), errors=(0.05, 0.05, 0.04, 0.03))
    if name == "waterfall-restricted":
        moved = decomposition(levels=(0.39, 0.41, 0.48, 0.52), rest=-0.03)
    swapped = replace(LIGHT, direct=LIGHT.indirect, indirect=LIGHT.direct)
    assert not looks_like(DRAWN[name](found=moved), f"{name}-light")
    assert not looks_like(DRAWN[name](swapped), f"{name}-light")
    mute = DRAWN[name]()
    for text in visible_texts(mute):
        text.set_text("")
    assert not looks_like(mute, f"{name}-light")


def test_the_kept_pictures_are_small():
    files = list(PICTURES.iterdir())
    assert {path.stem for path in files} == {f"{n}-{theme}" for n in DRAWN for theme in THEMES}
    assert sum(path.stat().st_size for path in files) < 200_000


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for each, draw in DRAWN.items():
        for kind, colors in THEMES.items():
            figure = draw(colors).figure
            plain = {"Software": None}
            figure.savefig(PICTURES / f"{each}-{kind}.png", dpi=72, metadata=plain)
