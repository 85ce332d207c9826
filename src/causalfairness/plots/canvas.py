"""Where is a picture drawn, and what does it carry besides the drawing?

Nothing here or in the pictures changes matplotlib's settings, and what is drawn does not depend on
them: every property that shows is set on the drawing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import IdentityTransform, ScaledTranslation, blended_transform_factory

from causalfairness.inference import Interval
from causalfairness.plots.lettering import fit, paragraph, written
from causalfairness.plots.numbers import drawn
from causalfairness.plots.theme import Theme

TITLE, CAPTION = "causalfairness-title", "causalfairness-caption"
INCH = 72.0  # points
SMALL = 0.86  # of the ordinary size of text
DASHED = (0, (4, 3))
PAD = 0.14  # inches around a picture
GROWTH = 1.13  # by which a layout engine widens axes that have little beside them
LINE = 1.35  # height of a line, in multiples of the size of its text


def empty_picture(
    ax: Axes | None,
    theme: Theme,
    *,
    size: tuple[float, float],
    lines: Literal["x", "y", "none"],
    note: str,
    across: float = 0.84,
    head: float = 0.0,
) -> Axes:
    """Where is a picture drawn? New axes are so many inches wide and high, and higher by the note.

    The note takes the share `across` of the width, words above the drawing `head` inches; without
    lines the picture is made of panels.
    """
    if ax is None:  # new ones, that a notebook shows by itself
        from matplotlib import pyplot

        (width, height), letters = size, SMALL * theme.size
        if note:
            below = paragraph(note, theme, width=across * width * INCH, size=letters)
            height += (below.count("\n") + 1) * LINE * letters / INCH
        figure, ax = pyplot.subplots(figsize=(width, height + head), layout="constrained")
        engine: Any = figure.get_layout_engine()
        engine.set(w_pad=PAD, h_pad=PAD)
    clean(ax, theme, lines="y" if lines == "none" else lines)
    if lines == "none":
        ax.set_xticks([])
        ax.set_yticks([])
    return ax


def clean(ax: Axes, theme: Theme, *, lines: Literal["x", "y"]) -> None:
    """How does an empty picture look? Background, no frame, faint lines across one axis."""
    root: Any = ax.figure  # labels stand outside the axes, on the figure's own background
    root.set_facecolor(theme.background)
    ax.set_facecolor(theme.background)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    ax.grid(True, axis=lines, color=theme.faint, linewidth=0.8, linestyle="-", alpha=1.0)
    ax.set_axisbelow(True)
    ax.minorticks_off()
    ax.tick_params(which="both", length=0, pad=5)


def empty_panel(ax: Axes, bounds: tuple[float, float, float, float], theme: Theme) -> Axes:
    """Where is a part of a picture drawn? In these shares: left, bottom, width and height."""
    panel = ax.inset_axes(bounds)
    clean(panel, theme, lines="y")
    return panel


def points_across(ax: Axes) -> tuple[float, float]:
    """How many points wide and high will the axes be, roughly?"""
    root: Any = ax.figure
    box = ax.get_window_extent()
    growth = GROWTH if makes_room(ax) else 1.0
    return growth * box.width / root.dpi * INCH, box.height / root.dpi * INCH


def makes_room(ax: Axes) -> bool:
    """Does the figure move its axes until all labels have room?"""
    root: Any = ax.figure
    return root.get_layout_engine() is not None


def round_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Which round numbers lie between two others?

    >>> round_ticks(0.38, 0.54)
    [0.4, 0.45, 0.5]
    """
    found = MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [round(float(tick), 12) for tick in found if low <= tick <= high]


def set_scale(
    ax: Axes,
    which: Literal["x", "y"],
    ends: Iterable[float],
    write: Callable[[float], str],
    theme: Theme,
    *,
    room: float = 0.06,
) -> None:
    """How far does an axis reach? A little beyond all of these ends, with round numbers."""
    found = [float(end) for end in ends]
    low, high = min(found), max(found)
    free = room * ((high - low) or 1.0)
    (ax.set_xlim if which == "x" else ax.set_ylim)(low - free, high + free)
    write_numbers(ax, which, round_ticks(low - free, high + free), write, theme)


def write_numbers(
    ax: Axes,
    which: Literal["x", "y"],
    ticks: Sequence[float],
    write: Callable[[float], str],
    theme: Theme,
) -> None:
    """Which numbers stand along an axis? Small ones, that step back."""
    style = written(theme, color=theme.muted, size=SMALL * theme.size)
    labels = [drawn(write(tick)) for tick in ticks]
    (ax.set_xticks if which == "x" else ax.set_yticks)(ticks, labels, **style)


def draw_dots(
    ax: Axes, across: Any, up: Any, color: str, theme: Theme, *, hollow: bool = False, **look: Any
) -> Line2D:
    """Where are numbers marked? With filled dots, or hollow ones."""
    dots: dict[str, Any] = {
        "linestyle": "",
        "marker": "o",
        "markeredgewidth": 1.2,
        "markeredgecolor": color,
        "markerfacecolor": theme.background if hollow else color,
        "zorder": 3,
    }
    (line,) = ax.plot(across, up, **dots | look)
    return line


def draw_line(
    ax: Axes, across: Any, up: Any, color: str, *, width: float, dash: Any = "-", **look: Any
) -> None:
    """What runs from here to there? A line without marks."""
    ax.plot(across, up, color=color, linewidth=width, linestyle=dash, marker="", **look)


def draw_kinds(
    ax: Axes, across: Any, up: Any, filled: Any, color: str, theme: Theme, **look: Any
) -> None:
    """Which numbers are of one kind, which of the other? Hollow dots, and filled ones over them."""
    for kind in (False, True):
        chosen = filled == kind
        if chosen.any():  # nothing, drawn outside of its panel, would take up room at the corner
            at = across[chosen], up[chosen]
            draw_dots(ax, *at, color, theme, hollow=not kind, clip_on=False, **look)


def write_beside(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    theme: Theme,
    *,
    away: tuple[float, float],
    sides: tuple[str, str],
    within: Any = "data",
    color: str = "",
    size: float = 0.0,
    bold: bool = False,
    **look: Any,
) -> None:
    """What is written beside a place? Words so many points away from it, never cut off.

    `sides` says which side of the words stands there, and `within` in what the place is measured.
    """
    look |= written(theme, color=color, size=size, bold=bold)
    look |= {"ha": sides[0], "va": sides[1], "annotation_clip": False}
    ax.annotate(text, at, xycoords=within, xytext=away, textcoords="offset points", **look)


def legend_above(
    ax: Axes, handles: Sequence[Any], names: Sequence[str], theme: Theme, **layout: Any
) -> None:
    """Which mark is which? Said above the axes."""
    legend = ax.legend(
        handles,
        ["name"] * len(names),  # some names would be left out; they are set below
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        borderaxespad=0,
        borderpad=0.3,
        columnspacing=1.6,
        frameon=False,
        fontsize=theme.size,
        **layout,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.update(written(theme))
        text.set_text(name)


def thin_line(ax: Axes, at: float, interval: Interval, theme: Theme) -> None:
    """Which values fit the data? A line that shows on a bar as well as beside it."""
    draw_line(ax, (at, at), interval, theme.background, width=2.8)
    draw_line(ax, (at, at), interval, theme.ink, width=1.1)


def moved(ax: Axes, right: float, up: float) -> ScaledTranslation:
    """What moves words by so many points?"""
    root: Any = ax.figure
    return ScaledTranslation(right / INCH, up / INCH, root.dpi_scale_trans)


def patch_behind(theme: Theme) -> dict[str, Any]:
    """What keeps lines from running through a number?"""
    return {"boxstyle": "square,pad=0.1", "facecolor": theme.background, "edgecolor": "none"}


def leading_line(theme: Theme) -> dict[str, Any]:
    """What leads from a place to its words, where they stand farther off?"""
    return {"arrowstyle": "-", "color": theme.muted, "linewidth": 0.7, "shrinkB": 4}


def heading(ax: Axes, text: str, theme: Theme) -> None:
    """What is measured? Said above the axes, where it is read first, not along their side."""
    ax.set_ylabel(text, rotation=0, ha="left", va="bottom", **written(theme, color=theme.muted))
    ax.yaxis.set_label_coords(0, 1, transform=ax.transAxes + moved(ax, 0, 8))


def name_across(ax: Axes, text: str, theme: Theme) -> None:
    """What is measured across? Said at the right, below the numbers."""
    away = (0, -6 - LINE * SMALL * theme.size)
    look: Any = {"within": "axes fraction", "color": theme.muted}
    write_beside(ax, text, (1, 0), theme, away=away, sides=("right", "top"), **look)


def measured(
    ax: Axes,
    text: str,
    theme: Theme,
    *,
    pad: float = 10,
    width: float | None = None,
    indent: float = 0.0,
) -> None:
    """What is measured? Said above the axes, shortened to their width, from `indent` left of them.

    With names beside the axes another width, in points, can be free.
    """
    words = fit(text, theme, width=points_across(ax)[0] if width is None else width)
    title: Any = ax.set_title(words, loc="left", pad=pad, **written(theme, color=theme.muted))
    title.set_transform(title.get_transform() + moved(ax, -indent, 0))


def footnote(
    ax: Axes, text: str, theme: Theme, *, width: float, indent: float = 0.0, below: float = 0.0
) -> None:
    """What is said below? A paragraph `width` points wide that starts `indent` left of the axes.

    It stands `below` points lower than the names of the ticks need. It is the label of the x-axis:
    every layout engine leaves room for it.
    """
    size = SMALL * theme.size
    ax.set_xlabel(
        paragraph(text, theme, width=width, size=size),
        loc="left",
        labelpad=10 + below,
        **written(theme, color=theme.muted, size=size),
    )
    across = ax.transAxes + moved(ax, -indent, 0)
    ax.xaxis.label.set_transform(blended_transform_factory(across, IdentityTransform()))


def remember(ax: Axes, *, title: str, caption: str) -> None:
    """What does the picture say, for those who cannot see it? Kept with it, not drawn."""
    for known in _kept([ax]):
        known.remove()
    for name, text in ((TITLE, title), (CAPTION, caption)):
        ax.text(0, 0, text, gid=name, visible=False, parse_math=False, usetex=False)


def recall(figure: Figure) -> tuple[str, str]:
    """What do the pictures of a figure say? Their titles and their captions."""
    kept = _kept(figure.axes)
    titles = [text.get_text() for text in kept if text.get_gid() == TITLE]
    captions = [text.get_text() for text in kept if text.get_gid() == CAPTION]
    return "; ".join(titles), " ".join(captions)


def _kept(axes: Sequence[Axes]) -> list[Text]:
    return [text for ax in axes for text in ax.texts if text.get_gid() in (TITLE, CAPTION)]
