"""Do two decompositions tell the same story? Their parts next to each other.

Outcome against prediction, one estimator against another, one convention against the other. A
part keeps the color of its path; decompositions differ in how their bars are filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from causalfairness.effects import Decomposition, Effect
from causalfairness.plots.canvas import (
    SMALL,
    empty_picture,
    footnote,
    legend_above,
    measured,
    patch_behind,
    points_across,
    remember,
    round_ticks,
    thin_line,
    write_numbers,
)
from causalfairness.plots.captions import parts_of, percentage, side_by_side_caption, unit_of
from causalfairness.plots.lettering import fit, width_of, written
from causalfairness.plots.numbers import Unit, drawn
from causalfairness.plots.parts import Series, series_of
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, HEIGHT = 6.4, 4.0  # inches
BAND = 0.8  # of the distance between parts
ROOM = 18.0  # points above and below for the numbers
FILLINGS = ((1.0, ""), (0.35, ""), (0.0, ""), (0.0, "////"), (0.35, "...."), (0.0, "xxxx"))


def side_by_side(
    found: Sequence[Decomposition] | Mapping[str, Decomposition],
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    level: float = 0.95,
    percent: bool | None = None,
    caption: bool = False,
) -> Axes:
    """Do decompositions agree, part by part? Up to six, each bar with its interval.

    A mapping names them; a list calls each by what sets it apart: what is measured, the groups, the
    estimator or the convention. Numbers are left out where they would not fit. Two intervals that
    overlap do not show that two bars agree: for effects on one basis, subtract them.

    >>> from dataclasses import replace
    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> both = [found, replace(found, convention="symmetric")]
    >>> ax = cf.plots.side_by_side(both, Figure(layout="constrained").subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['sequential', 'symmetric']
    """
    series = series_of(found)
    unit = unit_of([each.found for each in series], percent)
    words = side_by_side_caption(found, level=level, percent=unit.percent)
    note = words if caption else f"Thin lines: {percentage(level)} intervals, each of one bar."
    below = words if caption else ""
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="y", note=below)
    parts = parts_of(series)
    _set_range(ax, series, parts, level, unit, theme)
    numbers = _fits(ax, series, parts, unit, theme)
    for nth, each in enumerate(series):
        for at, part in enumerate(parts):
            effect = each.part(part)
            if effect is not None:
                place = at + _offset(nth, len(series))
                _draw(ax, place, effect, FILLINGS[nth], BAND / len(series), level, theme)
                if numbers:
                    _label(ax, place, effect, level, unit, theme)
    _name(ax, parts, theme)
    lift = _legend(ax, series, theme)
    measured(ax, _changes(series, unit), theme, pad=lift)
    footnote(ax, note, theme, width=points_across(ax)[0])
    remember(ax, title=f"Side by side: {', '.join(each.name for each in series)}", caption=words)
    return ax


def _offset(nth: int, count: int) -> float:
    return BAND * ((nth + 0.5) / count - 0.5)


def _changes(series: Sequence[Series], unit: Unit) -> str:
    found = series[0].found
    same = {(each.found.reference, each.found.comparison) for each in series}
    points = ", percentage points" if unit.percent else ""
    whom = f"from {found.reference} to {found.comparison}" if len(same) == 1 else "between groups"
    return f"change {whom}{points}"


def _set_range(
    ax: Axes, series: Sequence[Series], parts: list[str], level: float, unit: Unit, theme: Theme
) -> None:
    shown = [effect for each in series for part in parts if (effect := each.part(part))]
    ends = [0.0, *(end for effect in shown for end in effect.interval(level))]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0
    room = ROOM * span / max(points_across(ax)[1] - 2 * ROOM, ROOM)
    below = low - room if low < 0 else low - 0.2 * room
    ax.set_ylim(below, high + room)
    ax.set_xlim(-0.5, len(parts) - 0.5)
    ax.axhline(0.0, color=theme.muted, linewidth=1.0, linestyle="-")
    write_numbers(ax, "y", round_ticks(below, high + room), unit.step, theme)


def _draw(
    ax: Axes,
    place: float,
    effect: Effect,
    filling: tuple[float, str],
    width: float,
    level: float,
    theme: Theme,
) -> None:
    color = theme.muted if effect.name == "total" else theme.color(effect.name)
    ax.bar(place, effect.value, width=0.86 * width, **_filled(color, filling, theme))
    ends = effect.interval(level)
    thin_line(ax, place, ends, theme)


def _filled(color: str, filling: tuple[float, str], theme: Theme) -> dict[str, Any]:
    strength, hatch = filling
    tint = [
        strength * one + (1 - strength) * other
        for one, other in zip(to_rgb(color), to_rgb(theme.background), strict=True)
    ]
    return {"facecolor": tint, "edgecolor": color, "hatch": hatch or None, "linewidth": 1.2}


def _fits(ax: Axes, series: Sequence[Series], parts: list[str], unit: Unit, theme: Theme) -> bool:
    slot = points_across(ax)[0] / len(parts) * BAND / len(series)
    shown = [effect for each in series for part in parts if (effect := each.part(part))]
    size = SMALL * theme.size
    widest = max(width_of(unit.change(each.value), theme, size=size) for each in shown)
    return widest * 1.08 <= slot


def _label(ax: Axes, place: float, effect: Effect, level: float, unit: Unit, theme: Theme) -> None:
    low, high = effect.interval(level)
    above = effect.value >= 0
    ax.annotate(
        drawn(unit.change(effect.value)),
        (place, max(0.0, high) if above else min(0.0, low)),
        xytext=(0, 4 if above else -4),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        bbox=patch_behind(theme),
        **written(theme, size=SMALL * theme.size),
    )


def _name(ax: Axes, parts: list[str], theme: Theme) -> None:
    width = 0.96 * points_across(ax)[0] / len(parts)
    names = [fit(part.replace("_", " "), theme, width=width, lines=2) for part in parts]
    ax.set_xticks(range(len(parts)), names, **written(theme))


def _legend(ax: Axes, series: Sequence[Series], theme: Theme) -> float:
    """Which filling is which? Returns the points it takes above the axes."""
    if len(series) == 1:
        return 8.0
    across = points_across(ax)[0]
    names = [fit(each.name, theme, width=0.4 * across) for each in series]
    entry = max(width_of(name, theme) for name in names) + 5 * theme.size
    rows = ceil(len(series) / max(1, int(across / entry)))
    patches = [Patch(**_filled(theme.muted, filling, theme)) for filling in FILLINGS]
    columns = ceil(len(series) / rows)
    legend_above(ax, patches[: len(series)], names, theme, ncols=columns, handlelength=1.6)
    return 12 + 1.75 * theme.size * rows
