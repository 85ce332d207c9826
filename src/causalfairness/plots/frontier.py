"""What does it cost, and what does it gain, to forbid a predictor some paths? One dot per set.

Across, the gap in mean scores (SPM), up, the gap in mean outcomes at equal scores (iPPM): where
the two lines cross is parity of both kinds. Lines through a dot reach one standard deviation over
repetitions to each side. Names stand where there is room, and thin lines lead to those farther off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from causalfairness.parity import Frontier
from causalfairness.plots.canvas import (
    LINE,
    draw_dots,
    draw_line,
    empty_picture,
    footnote,
    leading_line,
    measured,
    name_across,
    points_across,
    remember,
    set_scale,
    write_beside,
)
from causalfairness.plots.captions import brief
from causalfairness.plots.lettering import fit, width_of
from causalfairness.plots.numbers import Unit
from causalfairness.plots.theme import LIGHT, Theme

Point = tuple[float, float]
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
    places = [
        _Place(
            point.name,
            (point.mean("spm"), point.mean("ippm")),
            (point.sd("spm"), point.sd("ippm")),
        )
        for point in found
    ]
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
    at: Point
    reach: Point


def _set_range(ax: Axes, places: Sequence[_Place], unit: Unit, theme: Theme) -> None:
    which: Literal["x", "y"]
    for axis, which in ((0, "x"), (1, "y")):
        ends = [each.at[axis] + side * each.reach[axis] for each in places for side in (-1, 1)]
        set_scale(ax, which, [0.0, *ends], unit.step, theme, room=0.12)
    for line in (ax.axvline, ax.axhline):
        line(0.0, color=theme.muted, linewidth=1.0, linestyle="-", zorder=1.5)


def _draw(ax: Axes, place: _Place, theme: Theme) -> None:
    (x, y), (wide, high), color = place.at, place.reach, theme.color(place.name)
    draw_line(ax, (x - wide, x + wide), (y, y), color, width=1.2, zorder=3)
    draw_line(ax, (x, x), (y - high, y + high), color, width=1.2, zorder=3)
    draw_dots(ax, [x], [y], color, theme, markersize=2 * MARK * theme.size, zorder=4)


def _name(ax: Axes, places: Sequence[_Place], theme: Theme) -> None:
    """Names beside their dots, each where it covers as little as possible."""
    width, height = points_across(ax)
    taken = [box for place in places for box in _covered(ax, place, theme)]

    def covers(candidate: _Candidate) -> float:
        """How much does a name take of what is taken, and how far does it stick out?"""
        box = candidate.box
        shared = filter(None, (Bbox.intersection(box, other) for other in taken))
        over = (-box.x0, -box.y0, box.x1 - width, box.y1 - height)
        covered = sum(float(part.width * part.height) for part in shared)
        return round(covered + 50 * sum(max(float(each), 0) for each in over), 3)

    for place in places:
        name = fit(place.name, theme, width=NAME * width)
        best = min(_candidates(name, _in_points(ax, place.at), theme), key=covers)
        taken.append(best.box)
        lead = leading_line(theme) if best.is_far else None
        look: Any = {"away": best.offset, "sides": best.sides, "arrowprops": lead}
        write_beside(ax, name, place.at, theme, zorder=5, **look)


class _Candidate(NamedTuple):
    """Where could a name stand?"""

    offset: Point
    sides: tuple[str, str]
    box: Bbox
    is_far: bool


def _candidates(name: str, dot: Point, theme: Theme) -> Iterator[_Candidate]:
    """All places around a dot, the best ones first."""
    wide, high = width_of(name, theme), LINE * theme.size
    for away, (right, up) in product(AWAY, DIRECTIONS):
        x, y = right * away * theme.size, up * away * theme.size
        left = dot[0] + x - wide * (1 - right) / 2
        bottom = dot[1] + y - high * (1 - up) / 2
        sides = ("right", "center", "left")[right + 1], ("top", "center", "bottom")[up + 1]
        box = Bbox.from_extents(left, bottom, left + wide, bottom + high)
        yield _Candidate((x, y), sides, box, away > AWAY[1])


def _covered(ax: Axes, place: _Place, theme: Theme) -> Iterator[Bbox]:
    """A dot and the lines through it."""
    x, y = _in_points(ax, place.at)
    (across, up), (wide, high) = place.at, place.reach
    left, bottom = _in_points(ax, (across - wide, up - high))
    right, top = _in_points(ax, (across + wide, up + high))
    radius = 1.3 * MARK * theme.size
    yield Bbox.from_extents(x - radius, y - radius, x + radius, y + radius)
    yield Bbox.from_extents(left, y - 2, right, y + 2)
    yield Bbox.from_extents(x - 2, bottom, x + 2, top)


def _in_points(ax: Axes, at: Point) -> Point:
    width, height = points_across(ax)
    x, y = np.interp(at[0], ax.get_xlim(), (0, width)), np.interp(at[1], ax.get_ylim(), (0, height))
    return float(x), float(y)
