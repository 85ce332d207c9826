"""How are means and changes written? In the unit of the outcome, or in percent.

Means are written in percent, and changes in percentage points, where all twelve world means lie
between 0 and 1, as they do for a yes-or-no outcome. The arithmetic is the same either way: 39.1% is
0.391. `percent=False` writes a rate or a score as the number it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, isfinite, log10

FEWEST, MOST = 1e-6, 1e7  # sizes between which digits are written out
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Unit:
    """How is a number written next to others of its kind?

    >>> points = Unit.of([0.132, 0.0096], percent=True)
    >>> points.level(0.391), points.change(0.0096), points.spoken(-0.132)
    ('39.1%', '+1.0', '-13.2 points')
    >>> Unit.of([1834.2], percent=False).level(20145.9)
    '20,146'
    """

    percent: bool
    decimals: int | None  # None: three figures and an exponent

    @classmethod
    def of(cls, changes: Iterable[float], *, percent: bool) -> Unit:
        """Which unit shows the largest of these changes with three figures? (Points: with two.)"""
        sizes = [abs(change) for change in changes if isfinite(change)]
        largest = max(sizes, default=0.0) * (100 if percent else 1)
        if largest == 0:
            return cls(percent, 1 if percent else 3)
        if not FEWEST <= largest < MOST:
            return cls(percent, None)
        figures, fewest = (2, 1) if percent else (3, 0)
        return cls(percent, max(fewest, figures - 1 - floor(log10(largest))))

    def level(self, value: float) -> str:
        """How is a mean written?"""
        return f"{self._digits(value)}%" if self.percent else self._digits(value)

    def tick(self, value: float) -> str:
        """How is a round number on an axis written?"""
        return f"{100 * value:g}%" if self.percent else f"{value:,g}"

    def step(self, value: float) -> str:
        """How is a round number on an axis of changes written? Without the sign of percent."""
        return self.tick(value).rstrip("%")

    def change(self, value: float) -> str:
        """How is a change written? Signed; exactly nothing is 0."""
        if value == 0:
            return "0"
        digits = self._digits(value)
        return digits if digits.startswith("-") else f"+{digits}"

    def spoken(self, value: float) -> str:
        """How is a change written within a sentence?"""
        return f"{self.change(value)} points" if self.percent else self.change(value)

    def size(self, value: float) -> str:
        """How is the size of a change written within a sentence?"""
        return f"{self._digits(abs(value))} points" if self.percent else self._digits(abs(value))

    def _digits(self, value: float) -> str:
        scaled = value * 100 if self.percent else value
        if self.decimals is None:
            return f"{scaled:.3g}"
        return f"{scaled:,.{self.decimals}f}"


def drawn(number: str) -> str:
    """How is a written number drawn? With a minus sign as wide as the plus sign.

    >>> drawn("-1.5")
    '\\u22121.5'
    """
    return number.replace("-", MINUS)
