"""How large are many effects, and how sure are we of each? A forest plot: one row each.

A dot is the estimate, a line its interval. The dot is hollow where the interval includes zero.
Where many questions were asked at once, the table's intervals hold together, and those are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeVar

from matplotlib.axes import Axes

from causalfairness.effects import Effect, EffectTable
from causalfairness.inference import Interval
from causalfairness.plots.canvas import (
    LINE,
    SMALL,
    draw_dots,
    draw_line,
    empty_picture,
    footnote,
    makes_room,
    points_across,
    remember,
    set_scale,
    write_beside,
)
from causalfairness.plots.captions import (
    LISTED,
    assuming,
    brief,
    enumerated,
    percentage,
    with_interval,
)
from causalfairness.plots.lettering import SLACK, fit, width_of, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.theme import LIGHT, Theme

Names = Sequence[str] | Mapping[str, str] | None
T = TypeVar("T")
WIDTH = 6.4  # inches
ROW, MARGIN = 0.3, 0.8  # inches
NAMES = 0.4  # of the width of the picture, at most, for the names
SMALLEST = 4.0  # points
APART = 0.4  # rows between two groups of rows
HALF = 0.36  # of the size of text: half the height of a digit


def forest(
    table: EffectTable,
    ax: Axes | None = None,
    *,
    names: Names = None,
    theme: Theme = LIGHT,
    percent: bool = False,
    caption: bool = False,
) -> Axes:
    """How large is each effect of a table, and which values does its interval leave open?

    `names` picks rows and their order; a mapping also renames them: `{"direct": "same record"}`.
    Rows called `group: part`, as `compare_groups` names them, stand under one heading per group.
    A table does not know whether it speaks of shares: `percent=True` writes percentage points.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> ax = cf.plots.forest(found.summary(), Figure(layout="constrained").subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['total', 'direct', 'indirect', 'spurious']
    """
    rows = rows_of(table, names)
    lines = _lines(rows, grouped=names is None)
    words = forest_caption(table, names=names, percent=percent)
    note = words if caption else _note(table, percent)
    height, below = MARGIN + ROW * (lines[-1].at + 1), words if caption else ""
    ax = empty_picture(ax, theme, size=(WIDTH, height), lines="x", note=below, across=0.94)
    across, high = points_across(ax)
    size = max(SMALLEST, min(theme.size, high / (lines[-1].at + 1) / LINE))
    unit = Unit.of([row.effect.value for row in rows], percent=percent)
    set_scale(ax, "x", [0.0, *(end for row in rows for end in row.interval)], unit.step, theme)
    ax.set_ylim(lines[-1].at + 0.6, -0.6)
    ax.axvline(0.0, color=theme.muted, linewidth=1.0, linestyle="-", zorder=1.5)
    for line in lines:
        if line.row is not None:
            _draw(ax, line.at, line.row, size, theme)
    right = _write(ax, lines, unit, size, theme)
    labels = [
        (fit(line.name, theme, width=NAMES * across, size=size, bold=line.row is None), size)
        for line in lines
    ]
    left = name_lines(ax, lines, labels, theme)
    whole = across if makes_room(ax) else left + across + right
    footnote(ax, note, theme, width=whole, indent=left)
    remember(ax, title=f"{len(rows)} effects with intervals", caption=words)
    return ax


def forest_caption(table: EffectTable, *, names: Names = None, percent: bool = False) -> str:
    """Which sentence does the forest plot support?

    >>> import numpy as np
    >>> from causalfairness.effects import Basis
    >>> gap = Effect("gap", 0.2, np.array([0.05]), Basis("3f9a", "rows"))
    >>> print(forest_caption(EffectTable((gap,))))
    At the 95% level the interval excludes zero for 1 of 1 effects: gap +0.200 (+0.102 to +0.298),
    under the stated assumptions.
    """
    rows = rows_of(table, names)
    unit = Unit.of([row.effect.value for row in rows], percent=percent)
    apart = [row for row in rows if not row.interval.low <= 0 <= row.interval.high]
    open_ = [row for row in rows if row not in apart]
    together = "" if table.reach is None else ", with intervals that hold all together,"
    text = (
        f"At the {percentage(table.level)} level{together} the interval excludes zero for "
        f"{len(apart)} of {len(rows)} effects"
    )
    if apart:
        largest = sorted(apart, key=lambda row: -abs(row.effect.value))[:LISTED]
        some = ", the largest of them" if len(apart) > LISTED else ""
        text += f"{some}: " + enumerated(
            [
                f"{brief(row.name)} {with_interval(row.effect, row.interval, unit)}"
                for row in largest
            ]
        )
    if open_:
        widest = max(open_, key=lambda row: max(-row.interval.low, row.interval.high))
        bound = unit.size(max(-widest.interval.low, widest.interval.high))
        whose = "That of" if len(open_) == 1 else "Of the others, that of"
        wide = "" if len(open_) == 1 else "reaches farthest and "
        text += f". {whose} {brief(widest.name)} {wide}is consistent with no effect above {bound}"
    stated = sorted({text for effect in table for text in effect.assumptions})
    return f"{text}, {assuming(stated)}"


@dataclass(frozen=True)
class Row:
    """What is drawn in one row of a forest plot?"""

    name: str
    effect: Effect
    interval: Interval


def rows_of(table: EffectTable, names: Names) -> list[Row]:
    """Which effects are drawn? All, those named, or those of a mapping under its new names.

    >>> rows_of(EffectTable(()), None)
    Traceback (most recent call last):
    ...
    ValueError: there is no effect to draw; give a table with at least one row
    """
    chosen = table.names if names is None else names
    if isinstance(chosen, str):
        raise ValueError(f"names is a list of effects, got the text {chosen!r}; write [{chosen!r}]")
    if not chosen:
        raise ValueError("there is no effect to draw; give a table with at least one row")
    if names is None:  # by position: two effects may have one name
        records = table.to_records()
        return [
            Row(effect.name, effect, Interval(record["low"], record["high"]))
            for effect, record in zip(table.effects, records, strict=True)
        ]
    labels = chosen if isinstance(chosen, Mapping) else {name: name for name in chosen}
    return [Row(label, table[name], table.interval(name)) for name, label in labels.items()]


@dataclass(frozen=True)
class Line(Generic[T]):
    """What stands in one line of a picture? A row under its name, or the heading of several."""

    name: str
    at: float
    row: T | None = None


def lines_of(groups: Iterable[tuple[str, Sequence[tuple[str, T]]]]) -> list[Line[T]]:
    """Where does each row stand? One below the other, those of a group under its heading, if any.

    >>> [(line.name, line.at) for line in lines_of([("", [("a", 1)]), ("group", [("b", 2)])])]
    [('a', 0.0), ('group', 1.4), ('b', 2.4)]
    """
    lines: list[Line[T]] = []
    at = 0.0
    for heading, rows in groups:
        if heading:
            at += APART if lines else 0.0
            lines.append(Line(heading, at))
            at += 1
        for name, row in rows:
            lines.append(Line(name, at, row))
            at += 1
    return lines


def _lines(rows: Sequence[Row], *, grouped: bool) -> list[Line[Row]]:
    """Rows in order; those of one group under its heading."""
    groups = []
    for group, members in groupby(rows, key=lambda row: _group(row.name) if grouped else ""):
        found = list(members)
        heading = group if len(found) > 1 else ""
        begin = len(heading) + 2 if heading else 0
        groups.append((heading, [(row.name[begin:], row) for row in found]))
    return lines_of(groups)


def _group(name: str) -> str:
    group, found, part = name.rpartition(": ")
    return group if found and path_in(part) else ""


def path_in(name: str) -> str:
    """Which part does the name of an effect speak of? The last one it mentions, or none.

    >>> path_in("natural_direct_effect"), path_in("direct labor: total"), path_in("score")
    ('direct', 'total', '')
    """
    known = ("direct", "indirect", "spurious", "total", "misfit")
    words = [word for word in re.split(r"[^a-z]+", name.lower()) if word in known]
    return "outside_support" if name.endswith("outside_support") else (words or [""])[-1]


def _note(table: EffectTable, percent: bool) -> str:
    unit = "Percentage points" if percent else "Effects"
    together = " that hold all together" if table.reach is not None else ""
    return f"{unit} with {percentage(table.level)} intervals{together}; hollow: includes zero."


def _draw(ax: Axes, at: float, row: Row, size: float, theme: Theme) -> None:
    low, high = row.interval
    color = theme.color(path_in(row.effect.name))
    draw_line(ax, (low, high), (at, at), color, width=2.0, solid_capstyle="butt")
    look: Any = {"markersize": 0.72 * size, "markeredgewidth": 1.6}
    draw_dots(ax, [row.effect.value], [at], color, theme, hollow=low <= 0 <= high, **look)


def _write(ax: Axes, lines: Sequence[Line[Row]], unit: Unit, size: float, theme: Theme) -> float:
    """Values to the right, with intervals in smaller letters; returns how far they reach."""
    rows = [(line.at, line.row) for line in lines if line.row is not None]
    values = [drawn(unit.change(row.effect.value)) for _, row in rows]
    column = size + max(width_of(value, theme, size=size) for value in values)
    small = SMALL * size
    look: Any = {"within": ("axes fraction", "data")}
    reach = 0.0
    for (at, row), value in zip(rows, values, strict=True):
        between = drawn(" to ".join(map(unit.change, row.interval)))
        reach = max(reach, width_of(between, theme, size=small))
        look |= {"away": (column, -HALF * size), "sides": ("right", "baseline")}
        write_beside(ax, value, (1, at), theme, size=size, **look)
        look |= {"away": (column + size, -HALF * small), "sides": ("left", "baseline")}
        write_beside(ax, between, (1, at), theme, size=small, color=theme.muted, **look)
    return column + size + reach


def name_lines(
    ax: Axes,
    lines: Sequence[Line[T]],
    names: Sequence[tuple[str, float]],
    theme: Theme,
) -> float:
    """Which words stand to the left, in which size? Headings bold; returns how far they reach."""
    ax.set_yticks([line.at for line in lines], [text for text, _ in names], **written(theme))
    reach = 0.0
    for label, line, (text, letters) in zip(ax.get_yticklabels(), lines, names, strict=True):
        bold = line.row is None
        label.set(fontweight="bold" if bold else "normal", fontsize=letters)
        widths = (width_of(each, theme, size=letters, bold=bold) for each in text.split("\n"))
        reach = max(reach, *widths)
    return reach / SLACK
