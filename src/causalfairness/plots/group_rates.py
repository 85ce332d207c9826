"""How large is a rate in every group, and how sure are we? One row per group.

A dot is the rate, a line its interval. The dot is hollow for a small group. For selection rates the
shaded side of the dashed line is below four fifths of the highest rate: a screen, no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isinf, isnan
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from causalfairness.inference import Interval
from causalfairness.parity import GroupMetrics
from causalfairness.parity.metrics.partitions import Partition
from causalfairness.parity.metrics.records import FOUR_FIFTHS, NOBODY, chances_of, is_below
from causalfairness.parity.metrics.sums import Shares
from causalfairness.parity.metrics.words import CALLED, SCREEN, by_chance
from causalfairness.plots.canvas import (
    DASHED,
    LINE,
    SMALL,
    draw_dots,
    draw_line,
    empty_picture,
    footnote,
    makes_room,
    measured,
    points_across,
    remember,
    round_ticks,
    write_beside,
    write_numbers,
)
from causalfairness.plots.captions import brief, enumerated, percentage
from causalfairness.plots.intervals import (
    HALF,
    NAMES,
    ROW,
    SMALLEST,
    WIDTH,
    Line,
    lines_of,
    name_lines,
)
from causalfairness.plots.lettering import ELLIPSIS, fit, width_of
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.theme import LIGHT, Theme

MARGIN = 1.0  # inches
ABOVE = 1.1  # rows above the first one, for headings of columns
TIGHT = 0.82  # of the size of text, for names on two lines
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
    >>> found = cf.group_metrics(world.draw(2_000, seed=0), world.model, favorable=1)
    >>> ax = cf.plots.rates(found, Figure(layout="constrained").subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['blue', 'green']
    """
    shown = _divisions_of(metrics, metric, by)
    lines = lines_of(
        (each.attribute if len(shown) > 1 else "", [(row.name, row) for row in each.rows])
        for each in shown
    )
    last = lines[-1].at
    words = rates_caption(metrics, metric=metric, by=by)
    note = words if caption else _note(metrics, shown)
    height = MARGIN + ROW * (last + ABOVE)
    ax = empty_picture(ax, theme, size=(WIDTH, height), lines="x", note=note, across=0.94)
    across, high = points_across(ax)
    size = max(SMALLEST, min(theme.size, high / (last + ABOVE + 1) / LINE))
    unit = _unit(shown)
    _set_range(ax, shown, last, unit, theme)
    _shade(ax, shown, lines, theme)
    for line in lines:
        if line.row is not None:
            _draw(ax, line.at, line.row, size, theme)
    right = _write(ax, lines, unit, metrics.level, size, theme)
    names = [_fitted(ax, line, size, NAMES * across, theme) for line in lines]
    left = name_lines(ax, lines, names, theme)
    whole = across if makes_room(ax) else left + across + right
    what = f"{CALLED[metric]}: {metrics.about[metric]}"
    measured(ax, what, theme, pad=6, width=whole, indent=left)
    footnote(ax, note, theme, width=whole, indent=left)
    remember(ax, title=f"{CALLED[metric].capitalize()} of groups", caption=words)
    return ax


def rates_caption(
    metrics: GroupMetrics, *, metric: str = "selection_rate", by: str | None = None
) -> str:
    """Which sentence does the picture of rates support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.group_metrics(world.draw(4_000, seed=0), world.model, favorable=1)
    >>> print(rates_caption(found))
    Selection rate (y = 1) by group, with 95% intervals: blue 42.4% (... to ...) and green 71.2%
    (... to ...). 1 of 2 groups is below four fifths of the highest rate, that of green (...). Were
    all rates equal, chance alone would flag some group in under 1% of tables with groups of these
    sizes. Four fifths (29 CFR 1607.4 D) is a screen: it says where to look, and is no verdict.
    """
    shown = _divisions_of(metrics, metric, by)
    unit = _unit(shown)
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


class _Row(NamedTuple):
    """What is drawn of one group; a value of NaN is that of nobody."""

    name: str
    value: float
    interval: Interval
    people: int
    is_small: bool

    @property
    def has_interval(self) -> bool:
        return not isnan(self.interval.low)


class _Division(NamedTuple):
    """What is drawn of one way to divide people; `line` is four fifths of the highest rate."""

    attribute: str
    rows: tuple[_Row, ...]
    line: float | None
    is_rate: bool
    by_chance: float = 0.0  # how often some group is below the line though all rates are equal

    @property
    def known(self) -> list[_Row]:
        return [row for row in self.rows if not isnan(row.value)]

    @property
    def highest(self) -> _Row:
        return max(self.known, key=lambda row: row.value)


def _divisions_of(metrics: GroupMetrics, metric: str, by: str | None) -> list[_Division]:
    there = metrics.partitions[0].measures
    if metric not in there:
        why = metrics.absent.get(metric, f"there are {', '.join(there)}")
        raise ValueError(f"there is no {metric!r} to draw: {why}")
    return [_division(part, metrics, metric) for part in partitions_by(metrics, by)]


def partitions_by(metrics: GroupMetrics, by: str | None) -> list[Partition]:
    """By which attributes are people divided? By the one that is named, or by all."""
    found = [part for part in metrics.partitions if by is None or part.attribute == by]
    if not found:
        names = ", ".join(repr(part.attribute) for part in metrics.partitions)
        raise ValueError(f"people are not divided by {by!r}; there are {names}")
    return found


def _division(part: Partition, metrics: GroupMetrics, metric: str) -> _Division:
    measure = part.measures[metric]
    low, high = measure.interval(metrics.level)
    rows = tuple(
        _Row(
            name,
            float(measure.value[at]),
            Interval(float(low[at]), float(high[at])),
            int(measure.people[at]),
            bool(measure.total[at] < metrics.smallest),
        )
        for at, name in enumerate(part.names)
    )
    top = max((row.value for row in rows if not isnan(row.value)), default=0.0)
    line = FOUR_FIFTHS * top if metric == "selection_rate" and top > 0 else None
    chance = 0.0 if line is None else chances_of(part)[1]
    return _Division(part.attribute, rows, line, isinstance(measure, Shares), chance)


def _unit(shown: list[_Division]) -> Unit:
    """Rates are written in percent."""
    values = [row.value for each in shown for row in each.known]
    return Unit.of(values, percent=shown[0].is_rate)


def _interval(row: _Row, unit: Unit) -> str:
    low, high = row.interval
    if not row.has_interval:
        return ""
    return "unbounded" if isinf(high) else f"{unit.level(low)} to {unit.level(high)}"


def _values(each: _Division, unit: Unit) -> str:
    known = each.known
    if not known:
        return NOBODY
    ends = [min(known, key=lambda row: row.value), each.highest]
    listed = [_valued(row, unit) for row in (known if len(known) <= LISTED else ends)]
    if len(known) > LISTED:
        return f"of {len(known)} groups lowest {listed[0]}, highest {listed[1]}"
    return enumerated(listed)


def _valued(row: _Row, unit: Unit) -> str:
    ends = _interval(row, unit)
    return f"{brief(row.name)} {unit.level(row.value)}{f' ({ends})' if ends else ''}"


def _below(each: _Division) -> str:
    top = each.highest
    below = sum(is_below(row.value / top.value) for row in each.known)
    verb = "is" if below == 1 else "are"
    return (
        f"{below} of {len(each.known)} groups {verb} below four fifths of the highest "
        f"rate, that of {brief(top.name)} ({top.people:,} people). {by_chance(each.by_chance)}."
    )


def _note(metrics: GroupMetrics, shown: Sequence[_Division]) -> str:
    parts = []
    if any(row.has_interval for each in shown for row in each.rows):
        parts.append(f"lines: {percentage(metrics.level)} intervals")
    if any(row.is_small for each in shown for row in each.rows):
        parts.append(f"hollow: fewer than {metrics.smallest} people")
    if shown[0].line is not None:
        parts.append("shaded: below four fifths of the highest rate, a screen and no verdict")
    text = "; ".join(parts) or "dots: values"
    return f"{text[0].upper()}{text[1:]}."


def _set_range(ax: Axes, shown: Sequence[_Division], last: float, unit: Unit, theme: Theme) -> None:
    known = [end for each in shown for row in each.known for end in (row.value, *row.interval)]
    ends = [end for end in known if isfinite(end)] or [0.0]
    low, high = 0.0 if shown[0].is_rate else min(ends), max(ends)
    room = 0.03 * ((high - low) or 1.0)
    start = low - room
    ax.set_xlim(start, high + room)
    ax.set_ylim(last + 0.7, -ABOVE)
    write_numbers(ax, "x", round_ticks(start, high + room), unit.tick, theme)


def _shade(ax: Axes, shown: Sequence[_Division], lines: Sequence[Line[_Row]], theme: Theme) -> None:
    """Below four fifths of the highest rate, for each way of dividing people by itself."""
    start = ax.get_xlim()[0]
    place = {id(line.row): line.at for line in lines if line.row is not None}
    for each in shown:
        if each.line is None:
            continue
        top, bottom = place[id(each.rows[0])] - 0.5, place[id(each.rows[-1])] + 0.5
        size = each.line - start, bottom - top
        look: Any = {"facecolor": theme.faint, "alpha": 0.55, "linewidth": 0}
        ax.add_patch(Rectangle((start, top), *size, **look))
        border = (each.line, each.line)
        draw_line(ax, border, (top, bottom), theme.muted, width=1.1, dash=DASHED)


def _draw(ax: Axes, at: float, row: _Row, size: float, theme: Theme) -> None:
    if isnan(row.value):
        return
    start, end = ax.get_xlim()
    low, high = max(row.interval.low, start), min(row.interval.high, end)
    draw_line(ax, (low, high), (at, at), theme.ink, width=2.0, solid_capstyle="butt")
    look: Any = {"markersize": 0.72 * size, "markeredgewidth": 1.6, "clip_on": False}
    draw_dots(ax, [row.value], [at], theme.ink, theme, hollow=row.is_small, **look)


def _write(
    ax: Axes, lines: Sequence[Line[_Row]], unit: Unit, level: float, size: float, theme: Theme
) -> float:
    """Values, intervals and people to the right, under headings; returns how far they reach."""
    rows = [(line.at, line.row) for line in lines if line.row is not None]
    small = SMALL * size
    told = [
        (ABSENT, NOBODY)
        if isnan(row.value)
        else (drawn(unit.level(row.value)), drawn(_interval(row, unit).replace("%", "")))
        for _, row in rows
    ]
    columns: list[list[str]] = [
        ["", *(value for value, _ in told)],
        [f"{percentage(level)} interval", *(interval for _, interval in told)],
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
            look: Any = {"within": ("axes fraction", "data"), "color": color, "size": letters}
            away, sides = (reach, -HALF * letters), ("right", "baseline")
            write_beside(ax, text, (1, at), theme, away=away, sides=sides, **look)
    return reach


def _fitted(
    ax: Axes, line: Line[_Row], size: float, width: float, theme: Theme
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
