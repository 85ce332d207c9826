"""Do two decompositions tell the same story? Their parts next to each other.

Outcome against prediction, one estimator against another, one convention against the other. A
part keeps the color of its path; decompositions differ in how their bars are filled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

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
    points_across,
    remember,
    round_ticks,
    thin_line,
    write_numbers,
)
from causalfairness.plots.captions import assuming, brief, enumerated, percentage, with_interval
from causalfairness.plots.lettering import fit, width_of
from causalfairness.plots.numbers import Unit
from causalfairness.plots.steps import (
    name_columns,
    paths_of,
    remainder_of,
    room_for_numbers,
    unit_of,
    write_number,
)
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, HEIGHT = 6.4, 4.0  # inches
MOST = 6  # fillings that can be told apart
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
    series = _series_of(found)
    unit = unit_of([each.found for each in series], percent)
    words = side_by_side_caption(found, level=level, percent=unit.percent)
    note = words if caption else f"Thin lines: {percentage(level)} intervals, each of one bar."
    below = words if caption else ""
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="y", note=below)
    parts = _parts_of(series)
    _set_range(ax, series, len(parts), level, unit, theme)
    slot = BAND / len(series)
    numbers = _widest(series, unit, theme) <= points_across(ax)[0] / len(parts) * slot
    for nth, each in enumerate(series):
        for part, effect in each.parts.items():
            place = parts.index(part) + BAND * ((nth + 0.5) / len(series) - 0.5)
            color = theme.muted if effect.name == "total" else theme.color(effect.name)
            ax.bar(place, effect.value, width=0.86 * slot, **_filled(color, FILLINGS[nth], theme))
            thin_line(ax, place, effect.interval(level), theme)
            if numbers:
                number, ends = unit.change(effect.value), (0.0, *effect.interval(level))
                look: Any = {"rises": effect.value >= 0, "gap": 4, "size": SMALL * theme.size}
                write_number(ax, number, place, ends, theme, **look)
    name_columns(ax, [part.replace("_", " ") for part in parts], theme)
    lift = _legend(ax, series, theme)
    measured(ax, _changes(series, unit), theme, pad=lift)
    footnote(ax, note, theme, width=points_across(ax)[0])
    remember(ax, title=f"Side by side: {', '.join(each.name for each in series)}", caption=words)
    return ax


def side_by_side_caption(
    found: Sequence[Decomposition] | Mapping[str, Decomposition],
    *,
    level: float = 0.95,
    percent: bool | None = None,
) -> str:
    """Which sentence do decompositions side by side support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=1), world.model)
    >>> print(side_by_side_caption({"once": found, "again": found}))
    Total: once ... (... to ...) and again ... (... to ...), in percentage points. Direct: ...
    """
    series = _series_of(found)
    unit = unit_of([each.found for each in series], percent)
    points = ", in percentage points" if unit.percent else ""
    sentences = []
    for part in _parts_of(series):
        values = [
            f"{brief(each.name)} {with_interval(effect, effect.interval(level), unit)}"
            for each in series
            if (effect := each.parts.get(part))
        ]
        sentences.append(f"{part.replace('_', ' ').capitalize()}: {enumerated(values)}{points}.")
        points = ""
    caution = (
        f"Each interval ({percentage(level)}) is that of one bar: whether two bars differ is a "
        "question about their difference."
    )
    under = assuming(text for each in series for text in each.found.diagnostics.assumptions)
    return " ".join([*sentences, caution, under[0].upper() + under[1:]])


class _Series(NamedTuple):
    """A decomposition and the name it is drawn under."""

    name: str
    found: Decomposition

    @property
    def parts(self) -> dict[str, Effect]:
        """The gap, the three paths, and what they leave over where there is such a thing."""
        rest = remainder_of(self.found)
        found = [self.found.total, *paths_of(self.found), *([] if rest is None else [rest])]
        return {part.name: part for part in found}


def _series_of(found: Sequence[Decomposition] | Mapping[str, Decomposition]) -> list[_Series]:
    """What is drawn; without names, each is called by what sets it apart."""
    if not 1 <= len(found) <= MOST:
        raise ValueError(
            f"between 1 and {MOST} decompositions can be drawn side by side, found {len(found)}; "
            "for more, draw a forest of their effects"
        )
    if isinstance(found, Mapping):
        return [_Series(name, each) for name, each in found.items()]
    return [_Series(name, each) for name, each in zip(_told_apart(found), found, strict=True)]


def _told_apart(found: Sequence[Decomposition]) -> list[str]:
    traits = [
        (
            each.what,
            f"{each.comparison} against {each.reference}",
            each.diagnostics.estimator.partition("(")[0],
            each.convention,
        )
        for each in found
    ]
    columns = [column for column in zip(*traits, strict=True) if len(set(column)) > 1]
    if not columns:
        return [found[0].what] if len(found) == 1 else [f"{at + 1}" for at in range(len(found))]
    return [", ".join(row) for row in zip(*columns, strict=True)]


def _parts_of(series: Sequence[_Series]) -> list[str]:
    """Remainders last, and only where there is one."""
    return list(dict.fromkeys(name for each in series for name in each.parts))


def _changes(series: Sequence[_Series], unit: Unit) -> str:
    found = series[0].found
    same = {(each.found.reference, each.found.comparison) for each in series}
    points = ", percentage points" if unit.percent else ""
    whom = f"from {found.reference} to {found.comparison}" if len(same) == 1 else "between groups"
    return f"change {whom}{points}"


def _set_range(
    ax: Axes, series: Sequence[_Series], parts: int, level: float, unit: Unit, theme: Theme
) -> None:
    shown = [effect for each in series for effect in each.parts.values()]
    ends = [0.0, *(end for effect in shown for end in effect.interval(level))]
    low, high = min(ends), max(ends)
    room = room_for_numbers(ax, low, high, ROOM)
    below = low - room if low < 0 else low - 0.2 * room
    ax.set_ylim(below, high + room)
    ax.set_xlim(-0.5, parts - 0.5)
    ax.axhline(0.0, color=theme.muted, linewidth=1.0, linestyle="-")
    write_numbers(ax, "y", round_ticks(below, high + room), unit.step, theme)


def _filled(color: str, filling: tuple[float, str], theme: Theme) -> dict[str, Any]:
    strength, hatch = filling
    tint = [
        strength * one + (1 - strength) * other
        for one, other in zip(to_rgb(color), to_rgb(theme.background), strict=True)
    ]
    return {"facecolor": tint, "edgecolor": color, "hatch": hatch or None, "linewidth": 1.2}


def _widest(series: Sequence[_Series], unit: Unit, theme: Theme) -> float:
    """The points that the longest number takes."""
    shown = [unit.change(part.value) for each in series for part in each.parts.values()]
    return 1.08 * max(width_of(number, theme, size=SMALL * theme.size) for number in shown)


def _legend(ax: Axes, series: Sequence[_Series], theme: Theme) -> float:
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
