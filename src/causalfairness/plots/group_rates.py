"""How large is a rate in every group, and how sure are we? One row per group.

A dot is the rate, a line its interval. The dot is hollow for a small group. For selection rates the
shaded side of the dashed line is below four fifths of the highest rate: a screen, no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation

from causalfairness.parity import GroupMetrics
from causalfairness.parity.metrics.records import NOBODY
from causalfairness.parity.metrics.words import CALLED, SCREEN
from causalfairness.plots.canvas import (
    INCH,
    LINE,
    SMALL,
    draw_dots,
    empty_picture,
    footnote,
    makes_room,
    points_across,
    remember,
    round_ticks,
    write_numbers,
)
from causalfairness.plots.captions import brief, percentage
from causalfairness.plots.groups import (
    Division,
    GroupRow,
    divisions_of,
    interval_text,
    unit_of_divisions,
    value_of,
)
from causalfairness.plots.lettering import ELLIPSIS, SLACK, fit, width_of, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.parts import Line, lines_of
from causalfairness.plots.theme import LIGHT, Theme

Lines = Sequence[Line[GroupRow]]
WIDTH = 6.4  # inches
ROW, MARGIN = 0.3, 1.0  # inches
NAMES = 0.4  # of the width of the picture, at most, for the names
SMALLEST = 4.0  # points
ABOVE = 1.1  # rows above the first one, for headings of columns
TIGHT = 0.82  # of the size of text, for names on two lines
HALF = 0.36  # of the size of text: half the height of a digit
ABSENT = "\N{EN DASH}"
LISTED = 4  # groups named one by one in a caption; of more, the lowest and the highest


def rates(
    metrics: GroupMetrics,
    ax: Axes | None = None,
    *,
    metric: str = "selection_rate",
    by: str | None = None,
    theme: Theme = LIGHT,
    caption: bool = False,
) -> Axes:
    """How large is a rate, or a mean, in every group?

    `metric` is one of the metrics of the result; `by` picks one attribute, or the intersections, by
    the name that the tables use; without it all stand below each other.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.group_metrics(world.draw(2_000, seed=0), world.model)
    >>> ax = cf.plots.rates(found, Figure(layout="constrained").subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['blue', 'green']
    """
    shown = divisions_of(metrics, metric, by)
    lines = _lines(shown)
    last = lines[-1].at
    words = rates_caption(metrics, metric=metric, by=by)
    note = words if caption else _note(metrics, shown)
    height = MARGIN + ROW * (last + ABOVE)
    ax = empty_picture(ax, theme, size=(WIDTH, height), lines="x", note=note, across=0.94)
    across, high = points_across(ax)
    size = max(SMALLEST, min(theme.size, high / (last + ABOVE + 1) / LINE))
    unit = unit_of_divisions(shown)
    _set_range(ax, shown, last, unit, theme)
    _shade(ax, shown, lines, theme)
    for line in lines:
        if line.row is not None:
            _draw(ax, line.at, line.row, size, theme)
    right = _write(ax, lines, unit, metrics.level, size, theme)
    left = _name(ax, lines, size, NAMES * across, theme)
    whole = across if makes_room(ax) else left + across + right
    _head(ax, f"{CALLED[metric]}: {metrics.about[metric]}", theme, width=whole, indent=left)
    footnote(ax, note, theme, width=whole, indent=left)
    remember(ax, title=f"{CALLED[metric].capitalize()} of groups", caption=words)
    return ax


def rates_caption(
    metrics: GroupMetrics, *, metric: str = "selection_rate", by: str | None = None
) -> str:
    """Which sentence does the picture of rates support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.group_metrics(world.draw(4_000, seed=0), world.model)
    >>> print(rates_caption(found))
    Selection rate (y = 1) by group, with 95% intervals: blue 42.4% (... to ...) and green 71.2%
    (... to ...). 1 of 2 groups is below four fifths of the highest rate, that of green (...). Four
    fifths is a screen: it says where to look, and is no verdict.
    """
    shown = divisions_of(metrics, metric, by)
    unit = unit_of_divisions(shown)
    sentences = []
    for each in shown:
        what = f"{CALLED[metric].capitalize()} ({brief(metrics.about[metric])})"
        sure = f", with {percentage(metrics.level)} intervals" * any(
            row.has_interval for row in each.rows
        )
        sentences.append(f"{what} by {brief(each.attribute)}{sure}: {_values(each, unit)}.")
        if each.line is not None:
            sentences.append(_below(each))
        few = [f"{brief(row.name)} ({row.people:,})" for row in each.rows if row.is_small]
        if few:
            more = [f"{len(few) - LISTED} more"] if len(few) > LISTED else []
            sentences.append(
                f"Fewer than {metrics.smallest} people: {'; '.join([*few[:LISTED], *more])}."
            )
    return " ".join([*sentences, *([SCREEN] if shown[0].line is not None else [])])


def _values(each: Division, unit: Unit) -> str:
    known = each.known
    if not known:
        return NOBODY
    ends = [min(known, key=value_of), max(known, key=value_of)]
    listed = [_valued(row, unit) for row in (known if len(known) <= LISTED else ends)]
    if len(known) > LISTED:
        return f"of {len(known)} groups lowest {listed[0]}, highest {listed[1]}"
    return " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))


def _valued(row: GroupRow, unit: Unit) -> str:
    ends = interval_text(row, unit)
    return f"{brief(row.name)} {unit.level(value_of(row))}{f' ({ends})' if ends else ''}"


def _below(each: Division) -> str:
    top = max(each.known, key=value_of)
    verb = "is" if len(each.below) == 1 else "are"
    return (
        f"{len(each.below)} of {len(each.known)} groups {verb} below four fifths of the highest "
        f"rate, that of {brief(top.name)} ({top.people:,} people)."
    )


def _lines(shown: Sequence[Division]) -> list[Line[GroupRow]]:
    """Groups in order; where people are divided in several ways, under their attribute."""
    return lines_of(
        (each.attribute if len(shown) > 1 else "", [(row.name, row) for row in each.rows])
        for each in shown
    )


def _note(metrics: GroupMetrics, shown: Sequence[Division]) -> str:
    parts = []
    if any(row.has_interval for each in shown for row in each.rows):
        parts.append(f"lines: {percentage(metrics.level)} intervals")
    if any(row.is_small for each in shown for row in each.rows):
        parts.append(f"hollow: fewer than {metrics.smallest} people")
    if shown[0].line is not None:
        parts.append("shaded: below four fifths of the highest rate, a screen and no verdict")
    text = "; ".join(parts) or "dots: values"
    return f"{text[0].upper()}{text[1:]}."


def _set_range(ax: Axes, shown: Sequence[Division], last: float, unit: Unit, theme: Theme) -> None:
    ends = [end for each in shown for end in each.ends] or [0.0]
    low, high = 0.0 if shown[0].is_rate else min(ends), max(ends)
    room = 0.03 * ((high - low) or 1.0)
    start = low - room
    ax.set_xlim(start, high + room)
    ax.set_ylim(last + 0.7, -ABOVE)
    write_numbers(ax, "x", round_ticks(start, high + room), unit.tick, theme)


def _shade(ax: Axes, shown: Sequence[Division], lines: Lines, theme: Theme) -> None:
    """Below four fifths of the highest rate, for each way of dividing people by itself."""
    start = ax.get_xlim()[0]
    place = {id(line.row): line.at for line in lines if line.row is not None}
    for each in shown:
        if each.line is None:
            continue
        top, bottom = place[id(each.rows[0])] - 0.5, place[id(each.rows[-1])] + 0.5
        ax.add_patch(
            Rectangle(
                (start, top),
                each.line - start,
                bottom - top,
                facecolor=theme.faint,
                alpha=0.55,
                linewidth=0,
            )
        )
        ax.plot(
            (each.line, each.line),
            (top, bottom),
            color=theme.muted,
            linewidth=1.1,
            linestyle=(0, (4, 3)),
            marker="",
        )


def _draw(ax: Axes, at: float, row: GroupRow, size: float, theme: Theme) -> None:
    if row.value is None:
        return
    start, end = ax.get_xlim()
    low, high = max(row.interval.low, start), min(row.interval.high, end)
    line: Any = {"color": theme.ink, "linewidth": 2.0, "linestyle": "-", "marker": ""}
    ax.plot((low, high), (at, at), solid_capstyle="butt", **line)
    look: Any = {"markersize": 0.72 * size, "markeredgewidth": 1.6, "clip_on": False}
    draw_dots(ax, [row.value], [at], theme.ink, theme, hollow=row.is_small, **look)


def _write(ax: Axes, lines: Lines, unit: Unit, level: float, size: float, theme: Theme) -> float:
    """Values, intervals and people to the right, under headings; returns how far they reach."""
    rows = [(line.at, line.row) for line in lines if line.row is not None]
    small = SMALL * size
    columns: list[list[str]] = [
        ["", *(_level(row, unit) for _, row in rows)],
        [f"{percentage(level)} interval", *(_between(row, unit) for _, row in rows)],
        ["people", *(f"{row.people:,}" for _, row in rows)],
    ]
    if not any(columns[1][1:]):
        columns[1][0] = ""
    places = [-ABOVE + 0.45, *(at for at, _ in rows)]
    reach = 0.0
    for nth, column in enumerate(columns):
        letters = size if nth == 0 else small
        reach += size + max(width_of(text, theme, size=letters) for text in column)
        for at, text in zip(places, column, strict=True):
            color = theme.ink if nth == 0 else theme.muted
            ax.annotate(
                text,
                (1, at),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                xytext=(reach, -HALF * letters),
                ha="right",
                **written(theme, color=color, size=letters),
            )
    return reach


def _level(row: GroupRow, unit: Unit) -> str:
    return ABSENT if row.value is None else drawn(unit.level(row.value))


def _between(row: GroupRow, unit: Unit) -> str:
    return NOBODY if row.value is None else drawn(interval_text(row, unit).replace("%", ""))


def _name(ax: Axes, lines: Lines, size: float, width: float, theme: Theme) -> float:
    """Names to the left, long ones on two lines where rows allow; returns how far they reach."""
    names = [_fitted(ax, line, size, width, theme) for line in lines]
    texts = [text for text, _ in names]
    ax.set_yticks([line.at for line in lines], texts, **written(theme, size=size))
    reach = 0.0
    for label, line, (text, letters) in zip(ax.get_yticklabels(), lines, names, strict=True):
        bold = line.row is None
        label.set(fontweight="bold" if bold else "normal", fontsize=letters)
        widths = (width_of(each, theme, size=letters, bold=bold) for each in text.split("\n"))
        reach = max(reach, *widths)
    return reach / SLACK


def _fitted(
    ax: Axes, line: Line[GroupRow], size: float, width: float, theme: Theme
) -> tuple[str, float]:
    """A name as it is written, and in which size."""
    bold = line.row is None
    text = fit(line.name, theme, width=width, size=size, bold=bold)
    bottom, top = ax.get_ylim()
    row = points_across(ax)[1] / (bottom - top)
    smaller = TIGHT * size
    if ELLIPSIS not in text or 2 * LINE * smaller > row or smaller < SMALLEST:
        return text, size
    return fit(line.name, theme, width=width, lines=2, size=smaller, bold=bold), smaller


def _head(ax: Axes, text: str, theme: Theme, *, width: float, indent: float) -> None:
    """What is shown? Above the names, where the picture starts."""
    title: Any = ax.set_title(
        fit(text, theme, width=width), loc="left", pad=6, **written(theme, color=theme.muted)
    )
    root: Any = ax.figure
    shift = ScaledTranslation(-indent / INCH, 0, root.dpi_scale_trans)
    title.set_transform(title.get_transform() + shift)
