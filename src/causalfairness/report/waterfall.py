"""Where on a page does each step of a waterfall stand? Numbers to places, in percent of the width.

Rows lie below each other: the label and the number of a step on one line, its bar on the next. All
places across are percentages, so that bars follow the width of the page while letters keep their
size, on a phone as on a desk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from causalfairness.report.axis import Axis, Tick
from causalfairness.report.summary import Step

ROW_HEIGHT = 58
BAR_TOP = 23
BAR_HEIGHT = 16
AXIS_HEIGHT = 30
MARGIN = 0.03  # of the drawn range, left free on both sides


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
    return Axis(low - MARGIN * span, low + (1 + MARGIN) * span)


def _written(step: Step) -> str:
    return f"{step.end:.3f}" if step.kind == "level" else f"{step.end - step.start:+.3f}"
