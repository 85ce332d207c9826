"""How does a gap build up, path by path? A waterfall from one group's mean to the other's.

    reference's mean + direct + indirect + spurious = comparison's mean

Group means are lines, not bars, so that the axis need not start at zero and the steps can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from causalfairness.effects import Decomposition, Effect
from causalfairness.inference import Interval
from causalfairness.plots.canvas import (
    SMALL,
    draw_line,
    empty_picture,
    footnote,
    heading,
    patch_behind,
    points_across,
    remember,
    round_ticks,
    thin_line,
    write_beside,
    write_numbers,
)
from causalfairness.plots.captions import assuming, brief, enumerated, percentage
from causalfairness.plots.lettering import fit, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, HEIGHT = 6.4, 4.0  # inches
HALF = 0.31  # of the distance between columns
ROOM = 22.0  # points above and below for the numbers
REMAINDERS: Final = ("outside_support", "misfit")
GLOSSES: Final = {
    "direct": "all else alike",
    "indirect": "through mediators",
    "spurious": "with confounders",
    "outside_support": "no counterpart",
    "misfit": "missed by the model",
}
COMPARABLE: Final = {"outside_support": "where comparable", "misfit": "as modeled"}


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
    for at, column in enumerate(columns[:-1]):
        ends = at + HALF, at + 1 - HALF
        draw_line(ax, ends, [column.end] * 2, theme.muted, width=0.8, dash=(0, (2, 2)))
    for at, column in enumerate(columns):
        _draw(ax, at, column, unit, theme)
    depth = _explain(ax, columns, theme)
    low, high = map(unit.change, found.total.interval(level))
    gap = f"Gap {unit.spoken(found.total.value)} ({low} to {high})"
    style = written(theme, size=1.2 * theme.size, bold=True)
    ax.set_title(drawn(gap), loc="left", pad=26, **style)
    heading(ax, fit(f"mean {found.what}", theme, width=points_across(ax)[0]), theme)
    footnote(ax, note, theme, width=points_across(ax)[0], below=depth)
    title = f"{found.what}: from {found.reference} to {found.comparison}"
    remember(ax, title=title, caption=words)
    return ax


def waterfall_caption(
    found: Decomposition, *, level: float = 0.95, percent: bool | None = None
) -> str:
    """Which sentence does the waterfall support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary().without("direct")
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=1), world.model)
    >>> print(waterfall_caption(found))
    Mean y is ...% for blue and ...% for green: a gap of ... points (95% interval ... to ...).
    Of it, ... is direct (... to ..., consistent with no direct effect above ... points), ...
    """
    unit = unit_of([found], percent)
    start, end = found.world_means[0, 0, 0], found.world_means[1, 1, 1]
    rest = remainder_of(found)
    whom = "" if rest is None else f" ({COMPARABLE[rest.name]})"
    low, high = found.total.interval(level)
    gap = (
        f"Mean {brief(found.what)} is {unit.level(start.value)} for {brief(found.reference)} and "
        f"{unit.level(end.value)} for {brief(found.comparison)}{whom}: a gap of "
        if rest is None
        else f"Mean {brief(found.what)}{whom} is {unit.level(start.value)} for "
        f"{brief(found.reference)} and {unit.level(end.value)} for {brief(found.comparison)}. "
        "The plain gap between all of them is "
    )
    gap += (
        f"{unit.spoken(found.total.value)} ({percentage(level)} interval {unit.change(low)} to "
        f"{unit.change(high)}{_none_above('gap', Interval(low, high), unit)})."
    )
    parts = [*paths_of(found), *([] if rest is None else [rest])]
    shares = enumerated([_share(part, level, unit) for part in parts])
    return f"{gap} Of it, {shares}, {assuming(found.diagnostics.assumptions)}"


class _Column(NamedTuple):
    """A group's mean, or a step with the interval around its end."""

    name: str
    gloss: str
    start: float
    end: float
    interval: Interval | None = None

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
    room = room_for_numbers(ax, low, high, ROOM)
    ax.set_ylim(low - room, high + room)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    write_numbers(ax, "y", round_ticks(low - room, high + room), unit.tick, theme)


def _draw(ax: Axes, at: int, column: _Column, unit: Unit, theme: Theme) -> None:
    if column.interval is None:
        draw_line(ax, (at - HALF, at + HALF), [column.end] * 2, theme.ink, width=3.5)
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
    rises = column.end >= column.start
    write_number(ax, text, at, column.reach, theme, rises=rises, gap=5, bold=True)


def _explain(ax: Axes, columns: list[_Column], theme: Theme) -> float:
    """Names below the columns, then what they mean; returns the points below the names."""
    names = name_columns(
        ax,
        [each.name.replace("_", " ") if each.interval else each.name for each in columns],
        theme,
    )
    width, size = 0.96 * points_across(ax)[0] / len(columns), SMALL * theme.size
    look: Any = {"within": ("data", "axes fraction"), "color": theme.muted, "size": size}
    below = 0.0
    for at, (column, name) in enumerate(zip(columns, names, strict=True)):
        if column.gloss:
            depth = 5 + 1.3 * theme.size * (name.count("\n") + 1)
            text = fit(column.gloss, theme, width=width, lines=2, size=size)
            write_beside(
                ax, text, (at, 0), theme, away=(0, -depth), sides=("center", "top"), **look
            )
            below = max(below, depth + 1.3 * size * (text.count("\n") + 1))
    deepest = max(name.count("\n") for name in names) + 1
    return max(0.0, below - 1.3 * theme.size * deepest)


def write_number(
    ax: Axes,
    number: str,
    at: float,
    ends: Sequence[float],
    theme: Theme,
    *,
    rises: bool,
    gap: float,
    **look: Any,
) -> None:
    """How large is a column? Said beyond what is drawn of it: above where it rises, or below."""
    place = (at, max(ends) if rises else min(ends))
    look |= {"away": (0, gap if rises else -gap), "bbox": patch_behind(theme)}
    sides = ("center", "bottom" if rises else "top")
    write_beside(ax, drawn(number), place, theme, sides=sides, **look)


def room_for_numbers(ax: Axes, low: float, high: float, points: float) -> float:
    """How much higher must the axis reach, so that so many points stay free above and below?"""
    span = (high - low) or abs(high) or 1.0
    return points * span / max(points_across(ax)[1] - 2 * points, points)


def name_columns(ax: Axes, names: Sequence[str], theme: Theme) -> list[str]:
    """How are columns called? On two lines where they have no room on one."""
    width = 0.96 * points_across(ax)[0] / len(names)
    fitted = [fit(name, theme, width=width, lines=2) for name in names]
    ax.set_xticks(range(len(names)), fitted, **written(theme))
    return fitted


def paths_of(found: Decomposition) -> tuple[Effect, ...]:
    """What are the direct, indirect and spurious parts?"""
    return found.direct, found.indirect, found.spurious


def remainder_of(found: Decomposition) -> Effect | None:
    """What do the three paths leave over? None where they add up to the gap."""
    for rest in (found.outside_support, found.misfit):
        if rest.value or rest.standard_error:
            return rest
    return None


def unit_of(all_found: Sequence[Decomposition], percent: bool | None) -> Unit:
    """Which unit do decompositions share? Percent where all means lie between 0 and 1."""
    if percent is None:
        means = np.array([found.world_means.values for found in all_found])
        percent = bool(np.all((means >= 0) & (means <= 1)))
    parts = [part.value for found in all_found for part in (found.total, *paths_of(found))]
    return Unit.of(parts, percent=percent)


def _share(part: Effect, level: float, unit: Unit) -> str:
    low, high = interval = part.interval(level)
    name = part.name.replace("_", " ")
    if part.value == 0 and part.standard_error == 0:
        return f"nothing is {name}"
    effect = f"{name} effect" if part.name not in REMAINDERS else name
    between = f"{unit.change(low)} to {unit.change(high)}{_none_above(effect, interval, unit)}"
    return f"{unit.change(part.value)} is {name} ({between})"


def _none_above(what: str, interval: Interval, unit: Unit) -> str:
    low, high = interval
    if not low <= 0 <= high:
        return ""
    return f", consistent with no {what} above {unit.size(max(-low, high))}"
