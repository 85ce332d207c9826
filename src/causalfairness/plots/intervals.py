"""How large are many effects, and how sure are we of each? A forest plot: one row each.

A dot is the estimate, a line its interval. The dot is hollow where the interval includes zero.
Where many questions were asked at once, the table's intervals hold together, and those are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes

from causalfairness.effects import EffectTable
from causalfairness.plots.canvas import (
    LINE,
    SMALL,
    draw_dots,
    empty_picture,
    footnote,
    makes_room,
    points_across,
    remember,
    set_scale,
)
from causalfairness.plots.captions import forest_caption, percentage
from causalfairness.plots.lettering import SLACK, fit, width_of, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.parts import Line, Names, Row, lines_of, path_in, rows_of
from causalfairness.plots.theme import LIGHT, Theme

WIDTH = 6.4  # inches
ROW, MARGIN = 0.3, 0.8  # inches
NAMES = 0.4  # of the width of the picture, at most, for the names
SMALLEST = 4.0  # points
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
    _set_range(ax, rows, lines[-1].at, unit, theme)
    for line in lines:
        if line.row is not None:
            _draw(ax, line.at, line.row, size, theme)
    right = _write(ax, lines, unit, size, theme)
    left = _name(ax, lines, size, NAMES * across, theme)
    whole = across if makes_room(ax) else left + across + right
    footnote(ax, note, theme, width=whole, indent=left)
    remember(ax, title=f"{len(rows)} effects with intervals", caption=words)
    return ax


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


def _note(table: EffectTable, percent: bool) -> str:
    unit = "Percentage points" if percent else "Effects"
    together = " that hold all together" if table.reach is not None else ""
    return f"{unit} with {percentage(table.level)} intervals{together}; hollow: includes zero."


def _set_range(ax: Axes, rows: Sequence[Row], last: float, unit: Unit, theme: Theme) -> None:
    ends = [0.0, *(end for row in rows for end in row.interval)]
    set_scale(ax, "x", ends, unit.step, theme)
    ax.set_ylim(last + 0.6, -0.6)
    ax.axvline(0.0, color=theme.muted, linewidth=1.0, linestyle="-", zorder=1.5)


def _draw(ax: Axes, at: float, row: Row, size: float, theme: Theme) -> None:
    low, high = row.interval
    color = theme.color(path_in(row.effect.name))
    ax.plot((low, high), (at, at), color=color, linewidth=2.0, solid_capstyle="butt", linestyle="-")
    look: Any = {"markersize": 0.72 * size, "markeredgewidth": 1.6}
    draw_dots(ax, [row.effect.value], [at], color, theme, hollow=low <= 0 <= high, **look)


def _write(ax: Axes, lines: Sequence[Line[Row]], unit: Unit, size: float, theme: Theme) -> float:
    """Values to the right, with intervals in smaller letters; returns how far they reach."""
    rows = [(line.at, line.row) for line in lines if line.row is not None]
    values = [drawn(unit.change(row.effect.value)) for _, row in rows]
    column = size + max(width_of(value, theme, size=size) for value in values)
    place: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    reach = 0.0
    for (at, row), value in zip(rows, values, strict=True):
        between = drawn(" to ".join(map(unit.change, row.interval)))
        reach = max(reach, width_of(between, theme, size=SMALL * size))
        style = written(theme, size=size)
        ax.annotate(value, (1, at), xytext=(column, -HALF * size), ha="right", **place, **style)
        style = written(theme, color=theme.muted, size=SMALL * size)
        start = column + size, -HALF * SMALL * size
        ax.annotate(between, (1, at), xytext=start, ha="left", **place, **style)
    return column + size + reach


def _name(ax: Axes, lines: Sequence[Line[Row]], size: float, width: float, theme: Theme) -> float:
    """Names to the left; returns how far they reach."""
    bold = [line.row is None for line in lines]
    labels = [
        fit(line.name, theme, width=width, size=size, bold=heading)
        for line, heading in zip(lines, bold, strict=True)
    ]
    ax.set_yticks([line.at for line in lines], labels, **written(theme, size=size))
    reach = 0.0
    for label, heading in zip(ax.get_yticklabels(), bold, strict=True):
        label.set_fontweight("bold" if heading else "normal")
        reach = max(reach, width_of(label.get_text(), theme, size=size, bold=heading))
    return reach / SLACK
