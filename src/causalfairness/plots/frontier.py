"""What does it cost, and what does it gain, to forbid a predictor some paths? One dot per set.

Across, the gap in mean scores (SPM), up, the gap in mean outcomes at equal scores (iPPM): where
the two lines cross is parity of both kinds. Lines through a dot reach one standard deviation over
repetitions to each side. Names stand where there is room, and thin lines lead to those farther off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from causalfairness.parity import Frontier
from causalfairness.plots.canvas import (
    LINE,
    draw_dots,
    empty_picture,
    footnote,
    measured,
    name_across,
    points_across,
    remember,
    set_scale,
)
from causalfairness.plots.captions import brief
from causalfairness.plots.lettering import fit, width_of, written
from causalfairness.plots.numbers import Unit
from causalfairness.plots.theme import LIGHT, Theme

WIDTH, HEIGHT = 6.4, 4.6  # inches
NAME = 0.36  # of the width of the picture, at most, for one name
MARK = 0.42  # radius of a dot, in multiples of the size of text
AWAY = (0.9, 2.2, 3.8, 5.6, 7.6)  # how far a name may stand from its dot, in the same unit
DIRECTIONS = ((1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def frontier(
    found: Frontier,
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    percent: bool | None = None,
    caption: bool = False,
) -> Axes:
    """What does it cost, and what does it gain, to forbid a predictor some paths?

    >>> from matplotlib.figure import Figure
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian(direct=1.0)
    >>> found = cf.frontier(
    ...     world.draw(400, seed=0), world.model, allowed=[{"spurious"}, {"spurious", "indirect"}],
    ...     learner=cf.adaptation.LinearQuantiles(), repetitions=2)
    >>> ax = cf.plots.frontier(found, Figure(layout="constrained").subplots())
    >>> sorted(text.get_text() for text in ax.texts if text.get_visible())[1:]
    ['spurious', 'spurious + indirect']
    """
    unit = _unit(found, percent)
    words = frontier_caption(found, percent=unit.percent)
    note = words if caption else _note(found)
    ax = empty_picture(ax, theme, size=(WIDTH, HEIGHT), lines="y", note=note)
    ax.grid(True, axis="x", color=theme.faint, linewidth=0.8, linestyle="-", alpha=1.0)
    places = [_Place.of(point.name, found) for point in found]
    _set_range(ax, places, unit, theme)
    for place in places:
        _draw(ax, place, theme)
    _name(ax, places, theme)
    across = points_across(ax)[0]
    points = ", percentage points" if unit.percent else ""
    measured(ax, f"iPPM: gap in mean outcome at equal scores{points}", theme)
    name_across(ax, fit(f"SPM: gap in mean score{points}", theme, width=across), theme)
    footnote(ax, note, theme, width=across, below=LINE * theme.size)
    remember(ax, title=f"Statistical against predictive parity: {found.what}", caption=words)
    return ax


def frontier_caption(found: Frontier, *, percent: bool | None = None) -> str:
    """Which sentences does the picture of a frontier support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian(direct=1.0)
    >>> found = cf.frontier(
    ...     world.draw(400, seed=0), world.model, allowed=[{"spurious"}, {"spurious", "indirect"}],
    ...     learner=cf.adaptation.LinearQuantiles(), repetitions=2)
    >>> print(frontier_caption(found))
    Predictors of y that may use some paths only, green against blue. With spurious allowed, SPM ...
    """
    unit = _unit(found, percent)
    told = [
        f"With {brief(point.name)} allowed, SPM {unit.change(point.mean('spm'))} "
        f"(sd {_digits(unit, point.sd('spm'))}) and iPPM {unit.change(point.mean('ippm'))} "
        f"(sd {_digits(unit, point.sd('ippm'))})"
        for point in found
    ]
    points = ", in percentage points" if unit.percent else ""
    return (
        f"Predictors of {brief(found.what)} that may use some paths only, {brief(found.comparison)}"
        f" against {brief(found.reference)}. {'. '.join(told)}{points}. Means over "
        f"{found.repetitions} splits; sd is the standard deviation over them and no standard "
        "error, under the stated assumptions."
    )


def _unit(found: Frontier, percent: bool | None) -> Unit:
    values = [point.mean(measure) for point in found for measure in ("spm", "ippm")]
    return Unit.of(values, percent="accuracy" in found.measures if percent is None else percent)


def _digits(unit: Unit, value: float) -> str:
    return unit.change(value).lstrip("+")


def _note(found: Frontier) -> str:
    return (
        f"Dots: predictors that may use the named paths, measured on {found.held_out:,} rows held "
        f"out. Lines: one standard deviation over {found.repetitions} splits. Gaps: "
        f"{brief(found.comparison)} minus {brief(found.reference)}."
    )


class _Place(NamedTuple):
    """Where is a dot, how far do its lines reach, and what is it called?"""

    name: str
    at: tuple[float, float]
    reach: tuple[float, float]

    @classmethod
    def of(cls, name: str, found: Frontier) -> _Place:
        point = found[name]
        return cls(
            name,
            (point.mean("spm"), point.mean("ippm")),
            (point.sd("spm"), point.sd("ippm")),
        )

    def ends(self, axis: int) -> tuple[float, float]:
        """Where do its lines end, across (0) or up (1)?"""
        return self.at[axis] - self.reach[axis], self.at[axis] + self.reach[axis]


class _Box(NamedTuple):
    """Which rectangle is taken, in points?"""

    left: float
    bottom: float
    right: float
    top: float

    def shared(self, other: _Box) -> float:
        """How large is the part that both take?"""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(wide, 0.0) * max(high, 0.0)

    def outside(self, width: float, height: float) -> float:
        """How far does it stick out of the picture?"""
        return (
            max(-self.left, 0)
            + max(-self.bottom, 0)
            + max(self.right - width, 0)
            + max(self.top - height, 0)
        )


def _set_range(ax: Axes, places: Sequence[_Place], unit: Unit, theme: Theme) -> None:
    across, up = ([end for place in places for end in place.ends(axis)] for axis in (0, 1))
    set_scale(ax, "x", [0.0, *across], unit.step, theme, room=0.12)
    set_scale(ax, "y", [0.0, *up], unit.step, theme, room=0.12)
    for line in (ax.axvline, ax.axhline):
        line(0.0, color=theme.muted, linewidth=1.0, linestyle="-", zorder=1.5)


def _draw(ax: Axes, place: _Place, theme: Theme) -> None:
    (x, y), (wide, high), color = place.at, place.reach, theme.color(place.name)
    ax.plot((x - wide, x + wide), (y, y), color=color, linewidth=1.2, linestyle="-", zorder=3)
    ax.plot((x, x), (y - high, y + high), color=color, linewidth=1.2, linestyle="-", zorder=3)
    draw_dots(ax, [x], [y], color, theme, markersize=2 * MARK * theme.size, zorder=4)


def _name(ax: Axes, places: Sequence[_Place], theme: Theme) -> None:
    """Names beside their dots, each where it covers as little as possible."""
    width, height = points_across(ax)
    names = [fit(place.name, theme, width=NAME * width) for place in places]
    dots = [_in_points(ax, place.at, width, height) for place in places]
    taken = [box for place in places for box in _covered(ax, place, width, height, theme)]
    for name, dot in zip(names, dots, strict=True):
        best = min(
            _candidates(name, dot, theme),
            key=lambda each: (
                round(sum(map(each.box.shared, taken)) + 50 * each.box.outside(width, height), 3),
                each.order,
            ),
        )
        taken.append(best.box)
        lead: Any = {"arrowstyle": "-", "color": theme.muted, "linewidth": 0.7, "shrinkB": 4}
        ax.annotate(
            name,
            places[dots.index(dot)].at,
            xytext=best.offset,
            textcoords="offset points",
            ha=best.sides[0],
            va=best.sides[1],
            arrowprops=lead if best.is_far else None,
            zorder=5,
            annotation_clip=False,
            **written(theme),
        )


class _Candidate(NamedTuple):
    """Where could a name stand?"""

    order: int
    offset: tuple[float, float]
    sides: tuple[str, str]
    box: _Box
    is_far: bool


def _candidates(name: str, dot: tuple[float, float], theme: Theme) -> Iterator[_Candidate]:
    wide, high = width_of(name, theme), LINE * theme.size
    places = [(away, *side) for away in AWAY for side in DIRECTIONS]
    for order, (away, right, up) in enumerate(places):
        x, y = right * away * theme.size, up * away * theme.size
        left = dot[0] + x - wide * (1 - right) / 2
        bottom = dot[1] + y - high * (1 - up) / 2
        sides = ("right", "center", "left")[right + 1], ("top", "center", "bottom")[up + 1]
        box = _Box(left, bottom, left + wide, bottom + high)
        yield _Candidate(order, (x, y), sides, box, away > AWAY[1])


def _covered(ax: Axes, place: _Place, width: float, height: float, theme: Theme) -> Iterator[_Box]:
    """A dot and the lines through it."""
    x, y = _in_points(ax, place.at, width, height)
    ends = [
        _in_points(
            ax,
            (place.at[0] + side * place.reach[0], place.at[1] + side * place.reach[1]),
            width,
            height,
        )
        for side in (-1, 1)
    ]
    radius = 1.3 * MARK * theme.size
    yield _Box(x - radius, y - radius, x + radius, y + radius)
    yield _Box(ends[0][0], y - 2, ends[1][0], y + 2)
    yield _Box(x - 2, ends[0][1], x + 2, ends[1][1])


def _in_points(
    ax: Axes, at: tuple[float, float], width: float, height: float
) -> tuple[float, float]:
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return (
        float(np.interp(at[0], (left, right), (0, width))),
        float(np.interp(at[1], (bottom, top), (0, height))),
    )
