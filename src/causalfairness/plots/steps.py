"""How does a gap build up, path by path? A waterfall from one group's mean to the other's.

    reference's mean + direct + indirect + spurious = comparison's mean

Group means are lines, not bars, so that the axis need not start at zero and the steps can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from causalfairness.effects import Decomposition, Effect
from causalfairness.inference import Interval
from causalfairness.plots.canvas import (
    SMALL,
    empty_picture,
    footnote,
    heading,
    headline,
    patch_behind,
    points_across,
    remember,
    round_ticks,
    thin_line,
    write_numbers,
)
from causalfairness.plots.captions import percentage, unit_of, waterfall_caption
from causalfairness.plots.lettering import fit, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.parts import COMPARABLE, GLOSSES, REMAINDERS, paths_of, remainder_of
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, HEIGHT = 6.4, 4.0  # inches
HALF = 0.31  # of the distance between columns
ROOM = 22.0  # points above and below for the numbers


def waterfall(
    found: Decomposition,
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    level: float = 0.95,
    percent: bool | None = None,
    caption: bool = False,
) -> Axes:
    """How does the gap build up from the reference group's mean to the comparison group's?

    Each step is a bar from where the last one ended, with its interval as a thin line around its
    end. What the three paths leave over (people outside common support, or the misfit of a plug-in
    model) stands hatched behind the comparison group, and the means are then those of the people
    or the model that the paths speak of. `percent=None` writes percent where all twelve world
    means lie between 0 and 1; `caption=True` writes `waterfall_caption` below.

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> ax = cf.plots.waterfall(found, Figure(layout="constrained").subplots())
    >>> bool(abs(ax.patches[0].get_height() - found.direct.value) < 1e-12)
    True
    """
    unit = unit_of([found], percent)
    words = waterfall_caption(found, level=level, percent=unit.percent)
    note = words if caption else f"In brackets and as thin lines: {percentage(level)} intervals."
    below = words if caption else ""
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="y", note=below)
    columns = _columns(found, level)
    _set_range(ax, columns, unit, theme)
    _connect(ax, columns, theme)
    for at, column in enumerate(columns):
        _draw(ax, at, column, unit, theme)
    depth = _name(ax, columns, theme)
    low, high = map(unit.change, found.total.interval(level))
    gap = f"Gap {unit.spoken(found.total.value)} ({low} to {high})"
    headline(ax, drawn(gap), theme)
    heading(ax, fit(f"mean {found.what}", theme, width=points_across(ax)[0]), theme)
    footnote(ax, note, theme, width=points_across(ax)[0], below=depth)
    title = f"{found.what}: from {found.reference} to {found.comparison}"
    remember(ax, title=title, caption=words)
    return ax


@dataclass(frozen=True)
class _Column:
    """A group's mean, or a step with the interval around its end."""

    name: str
    gloss: str
    start: float
    end: float
    interval: Interval | None = None

    @property
    def is_mean(self) -> bool:
        return self.interval is None

    @property
    def rises(self) -> bool:
        return self.end >= self.start

    @property
    def reach(self) -> tuple[float, float]:
        """The lowest and the highest point that is drawn."""
        ends = [self.start, self.end, *(self.interval or ())]
        return min(ends), max(ends)


def _columns(found: Decomposition, level: float) -> list[_Column]:
    rest = remainder_of(found)
    gloss = "" if rest is None else COMPARABLE[rest.name]
    start, end = found.world_means[0, 0, 0].value, found.world_means[1, 1, 1].value
    columns = [_Column(found.reference, gloss, start, start)]
    for part in paths_of(found):
        columns.append(_step(part, columns[-1].end, level))
    columns.append(_Column(found.comparison, gloss, end, end))
    if rest is not None:
        columns.append(_step(rest, end, level))
    return columns


def _step(part: Effect, start: float, level: float) -> _Column:
    low, high = part.interval(level)
    around = Interval(start + low, start + high)
    return _Column(part.name, GLOSSES[part.name], start, start + part.value, around)


def _set_range(ax: Axes, columns: list[_Column], unit: Unit, theme: Theme) -> None:
    low = min(column.reach[0] for column in columns)
    high = max(column.reach[1] for column in columns)
    span = (high - low) or abs(high) or 1.0
    points = max(points_across(ax)[1] - 2 * ROOM, ROOM)
    room = ROOM * span / points
    ax.set_ylim(low - room, high + room)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    write_numbers(ax, "y", round_ticks(low - room, high + room), unit.tick, theme)


def _connect(ax: Axes, columns: list[_Column], theme: Theme) -> None:
    for at, column in enumerate(columns[:-1]):
        ends = at + HALF, at + 1 - HALF
        ax.plot(ends, [column.end] * 2, color=theme.muted, linewidth=0.8, linestyle=(0, (2, 2)))


def _draw(ax: Axes, at: int, column: _Column, unit: Unit, theme: Theme) -> None:
    if column.interval is None:
        ax.plot(
            (at - HALF, at + HALF), [column.end] * 2, color=theme.ink, linewidth=3.5, linestyle="-"
        )
        text = unit.level(column.end)
    else:
        color = theme.color(column.name)
        rest = column.name in REMAINDERS
        ax.bar(
            at,
            column.end - column.start,
            width=2 * HALF,
            bottom=column.start,
            color=theme.background if rest else color,
            edgecolor=color,
            hatch="////" if rest else None,
            linewidth=1.0,
        )
        thin_line(ax, at, column.interval, theme)
        text = unit.change(column.end - column.start)
    above = column.is_mean or column.rises
    ax.annotate(
        drawn(text),
        (at, column.reach[1] if above else column.reach[0]),
        xytext=(0, 5 if above else -5),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        bbox=patch_behind(theme),
        **written(theme, bold=True),
    )


def _name(ax: Axes, columns: list[_Column], theme: Theme) -> float:
    """Names below the columns, then what they mean; returns the points below the names."""
    width = 0.96 * points_across(ax)[0] / len(columns)
    names = [
        fit(
            column.name.replace("_", " ") if column.interval else column.name,
            theme,
            width=width,
            lines=2,
        )
        for column in columns
    ]
    ax.set_xticks(range(len(columns)), names, **written(theme))
    deepest = max(name.count("\n") for name in names) + 1
    below = 0.0
    for at, (column, name) in enumerate(zip(columns, names, strict=True)):
        if column.gloss:
            depth = 5 + 1.3 * theme.size * (name.count("\n") + 1)
            below = max(below, _explain(ax, at, column.gloss, depth, width, theme))
    return max(0.0, below - 1.3 * theme.size * deepest)


def _explain(ax: Axes, at: int, gloss: str, depth: float, width: float, theme: Theme) -> float:
    size = SMALL * theme.size
    text = fit(gloss, theme, width=width, lines=2, size=size)
    ax.annotate(
        text,
        (at, 0),
        xycoords=("data", "axes fraction"),
        xytext=(0, -depth),
        textcoords="offset points",
        ha="center",
        va="top",
        annotation_clip=False,
        **written(theme, color=theme.muted, size=size),
    )
    return depth + 1.3 * size * (text.count("\n") + 1)
