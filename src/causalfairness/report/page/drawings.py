"""Where on a page does everything in a drawing stand? Numbers to places, in percent of the width.

Places across are percentages, so that drawings follow the width of the page while letters keep
their size, on a phone as on a desk. Steps of a waterfall lie below each other: the label and the
number of a step on one line, its bar on the next. Lines and points are written as paths in a box of
`UNITS` by `UNITS`, which is stretched to the drawing; around points the box is wider by `MARGIN` on
each side, so that the outermost stand free of the frame. What has no place (not a number, infinite)
is left out and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from causalfairness.report.page.blocks import Curves, Histogram, Points
from causalfairness.report.summary import Step

TICKS = 5
UNITS = 1000
HEADROOM = 1.06  # of the highest point
MARGIN = 45  # units between the outermost points and the frame
SHORT = 6  # letters; where numbers are longer, every second stands below an axis
ROW_HEIGHT = 58
BAR_TOP = 23
BAR_HEIGHT = 16
AXIS_HEIGHT = 30
FREE = 0.03  # of the drawn range, left free on both sides


@dataclass(frozen=True)
class Tick:
    """Which number stands where on the axis?

    >>> Tick(50.0, "0.5", "middle").text
    '0.5'
    """

    at: float
    text: str
    anchor: str


@dataclass(frozen=True)
class Axis:
    """Where does a number stand between two ends?

    >>> Axis(0.0, 4.0).place(1.0)
    25.0
    >>> [tick.text for tick in Axis(-0.01, 0.31).ticks()]
    ['0.0', '0.1', '0.2', '0.3']
    """

    low: float
    high: float

    def place(self, value: float) -> float:
        """How far along is this number, in percent?"""
        return round(100 * (value - self.low) / (self.high - self.low), 3)

    def ticks(self, most: int = TICKS) -> tuple[Tick, ...]:
        """Which round numbers lie between the ends?"""
        ticks = []
        for number, text in _round_numbers(self.low, self.high, most):
            at = self.place(number)
            ticks.append(Tick(at, text, "start" if at < 6 else "end" if at > 94 else "middle"))
        return tuple(ticks)


@dataclass(frozen=True)
class Bar:
    """Where is one step drawn, and what is written beside it?"""

    step: Step
    top: float
    left: float  # of the bar, percent
    width: float
    at: float  # where the step ends
    low: float
    high: float
    value: str

    @property
    def bar_top(self) -> float:
        """At which height does the bar begin?"""
        return self.top + BAR_TOP

    @property
    def middle(self) -> float:
        """At which height is the bar's middle?"""
        return self.bar_top + BAR_HEIGHT / 2

    @property
    def whisker(self) -> float:
        """At which height is the interval drawn? Through a level, below a change."""
        return self.middle if self.step.kind == "level" else self.bar_top + BAR_HEIGHT + 5

    @property
    def next_middle(self) -> float:
        """At which height is the middle of the bar below?"""
        return self.middle + ROW_HEIGHT


@dataclass(frozen=True)
class Drawing:
    """Where does everything in a waterfall stand?

    >>> steps = [
    ...     Step("reference", "Male", "level", 0.0, 0.2, 0.1, 0.3),
    ...     Step("direct", "direct", "change", 0.2, 0.4, 0.3, 0.5),
    ...     Step("comparison", "Female", "level", 0.0, 0.4, 0.3, 0.5)]
    >>> drawing = draw(steps)
    >>> [bar.value for bar in drawing.bars]
    ['0.200', '+0.200', '0.400']
    """

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]

    @property
    def height(self) -> int:
        """How high is the drawing, in pixels?"""
        return self.base + AXIS_HEIGHT

    @property
    def thickness(self) -> int:
        """How thick is a bar, in pixels?"""
        return BAR_HEIGHT

    @property
    def base(self) -> int:
        """At which height does the axis lie?"""
        return ROW_HEIGHT * len(self.bars)


def draw(steps: Sequence[Step], axis: Axis | None = None) -> Drawing:
    """Where does every step stand? With an `axis` of other drawings too, they can be compared."""
    axis = axis or axis_around(steps)
    place = axis.place
    bars = []
    for row, step in enumerate(steps):
        start = step.end if step.kind == "level" else step.start
        left, right = sorted((place(start), place(step.end)))
        bars.append(
            Bar(
                step=step,
                top=ROW_HEIGHT * row,
                left=left,
                width=round(right - left, 3),
                at=place(step.end),
                low=place(step.low),
                high=place(step.high),
                value=_written(step),
            )
        )
    return Drawing(tuple(bars), axis.ticks())


def axis_around(steps: Sequence[Step]) -> Axis:
    """Which axis holds all these steps and their intervals?

    >>> axis_around([Step("reference", "Male", "level", 0.0, 0.2, 0.1, 0.3)]).place(0.2)
    50.0
    """
    ends = [end for step in steps for end in (step.end, step.low, step.high)]
    low, high = min(ends), max(ends)
    span = (high - low) or max(abs(high), 1.0)
    return Axis(low - FREE * span, low + (1 + FREE) * span)


@dataclass(frozen=True)
class Line:
    """Which way does a curve go? `outline` is open, `area` closed along the axis."""

    name: str
    outline: str
    area: str
    peak: str


@dataclass(frozen=True)
class Column:
    """Where does one bar of a histogram stand, and whom does it count?"""

    left: float
    width: float
    height: float
    low: str
    high: str
    count: int


@dataclass(frozen=True)
class Plot:
    """Where does everything stand in a drawing of curves, or in a histogram?"""

    ticks: tuple[Tick, ...]
    levels: tuple[Tick, ...]  # where heights are read
    zero: float | None
    words: str
    lines: tuple[Line, ...] = ()
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class PointDrawing:
    """Where does everything in a drawing of points stand?"""

    path: str
    box: str  # of the path, with the margin
    ticks: tuple[Tick, ...]  # beside, in that box
    below: tuple[Tick, ...]
    letters: int  # of the longest number at a tick
    words: str


def draw_curves(block: Curves) -> Plot:
    """Where do curves run?

    >>> from causalfairness.report.page.blocks import Curve
    >>> drawn = draw_curves(Curves("scores", "score", (Curve("a", (0.0, 1.0), (0.0, 2.0)),)))
    >>> drawn.lines[0].outline
    'M0 1000L1000 57'
    """
    pairs = [
        [(x, y) for x, y in zip(curve.at, curve.height, strict=True) if _finite(x, y)]
        for curve in block.curves
    ]
    axis = _around(x for curve in pairs for x, _ in curve)
    height = _upwards(y for curve in pairs for _, y in curve)
    lines = []
    for curve, points in zip(block.curves, pairs, strict=True):
        outline = _path(axis, height, points)
        peak = max(points, key=lambda point: point[1], default=(math.nan, 0.0))[0]
        ends = (axis.place(points[0][0]), axis.place(points[-1][0])) if points else (0.0, 0.0)
        left, right = (round(UNITS * end / 100) for end in ends)
        area = f"M{left} {UNITS}{outline.replace('M', 'L')}L{right} {UNITS}Z" if points else ""
        lines.append(Line(curve.name, outline, area, f"{peak:.3g}"))
    words = "; ".join(f"{line.name} is highest at {line.peak}" for line in lines)
    levels = height.ticks(4) if block.height_axis else ()
    return Plot(axis.ticks(), levels, _zero(axis), words, lines=tuple(lines))


def draw_histogram(block: Histogram) -> Plot:
    """Where do the bars of a histogram stand?

    >>> draw_histogram(Histogram("shift", "score", (0.0, 1.0, 2.0), (3, 5))).words
    '8 people in 2 bars from 0 to 2; most, 5, between 1 and 2'
    """
    axis = _around(block.edges)
    height = _upwards(block.counts)
    columns = []
    for low, high, count in zip(block.edges, block.edges[1:], block.counts, strict=False):
        left, right = axis.place(low), axis.place(high)
        wide, high_up = round(right - left, 3), height.place(count)
        columns.append(Column(left, wide, high_up, f"{low:.4g}", f"{high:.4g}", count))
    levels = tuple(level for level in height.ticks(4) if "." not in level.text and level.at > 0)
    levels = tuple(replace(level, text=f"{int(level.text):,}") for level in levels)
    words = f"{sum(block.counts):,} people in {len(columns)} bars"
    if columns:
        fullest = max(columns, key=lambda column: column.count)
        words += f" from {columns[0].low} to {columns[-1].high}; most, {fullest.count:,}, "
        words += f"between {fullest.low} and {fullest.high}"
    return Plot(axis.ticks(), levels, _zero(axis), words, columns=tuple(columns))


def draw_points(block: Points) -> PointDrawing:
    """Where do points lie, on one axis both ways?

    >>> drawn = draw_points(Points("film", "now", "then", (0.0, 1.0), (0.0, 2.0)))
    >>> drawn.words
    '2 points; 1 above the line of no change, 0 below, 1 on it'
    >>> drawn.path, drawn.box
    ('M0 1000h0M500 0h0', '-45 -45 1090 1090')
    """
    points = [(x, y) for x, y in zip(block.x, block.y, strict=True) if _finite(x, y)]
    axis = _around(value for point in points for value in point)
    path = "".join(f"M{_unit(axis, x)} {UNITS - _unit(axis, y)}h0" for x, y in points)
    above = sum(y > x for x, y in points)
    below = sum(y < x for x, y in points)
    words = f"{len(points):,} points; {above:,} above the line of no change, {below:,} below, "
    words += f"{len(points) - above - below:,} on it"
    if left_out := len(block.x) - len(points):
        words += f"; {left_out:,} more have no place"
    box = f"{-MARGIN} {-MARGIN} {UNITS + 2 * MARGIN} {UNITS + 2 * MARGIN}"
    share = MARGIN / UNITS  # the axis has a margin at both ends
    ticks = tuple(
        replace(tick, at=round((tick.at + 100 * share) / (1 + 2 * share), 3))
        for tick in axis.ticks()
    )
    letters = max((len(tick.text) for tick in ticks), default=0)
    fewer = ticks[::2] if letters > SHORT else ticks
    return PointDrawing(path, box, ticks, fewer, letters, words)


def _round_numbers(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers between two ends, at most `most` steps apart."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    decimals = next(d for d in range(400) if math.isclose(round(step, d), step, rel_tol=1e-9))
    first = math.ceil(low / step)
    count = math.floor(high / step) - first + 1
    return [((first + at) * step, f"{(first + at) * step:.{decimals}f}") for at in range(count)]


def _written(step: Step) -> str:
    return f"{step.end:.3f}" if step.kind == "level" else f"{step.end - step.start:+.3f}"


def _around(numbers: Iterable[float]) -> Axis:
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    return Axis(low, high) if high > low else Axis(low - 0.5, low + 0.5)


def _upwards(heights: Iterable[float]) -> Axis:
    """From zero, or from the lowest number below it, to a little above the highest."""
    found = [0.0, *heights]
    low, high = min(found), max(found)
    return Axis(low, high + (HEADROOM - 1) * (high - low)) if high > low else Axis(0.0, 1.0)


def _finite(*numbers: float) -> bool:
    return all(math.isfinite(number) for number in numbers)


def _zero(axis: Axis) -> float | None:
    return axis.place(0.0) if axis.low < 0 < axis.high else None


def _path(axis: Axis, height: Axis, points: Sequence[tuple[float, float]]) -> str:
    at = [f"{_unit(axis, x)} {UNITS - _unit(height, y)}" for x, y in points]
    return "M" + "L".join(at) if at else ""


def _unit(axis: Axis, value: float) -> int:
    return round(UNITS * axis.place(value) / 100)
