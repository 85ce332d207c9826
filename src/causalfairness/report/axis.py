"""Which round numbers stand where on an axis? Places are percentages of its length."""

from __future__ import annotations

import math
from dataclasses import dataclass

TICKS = 5


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
        places = [(self.place(at), text) for at, text in _round_numbers(self.low, self.high, most)]
        return tuple(Tick(place, text, _anchor(place)) for place, text in places)


def _anchor(at: float) -> str:
    return "start" if at < 6 else "end" if at > 94 else "middle"


def _round_numbers(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers between two ends, at most `most` steps apart."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    decimals = next(d for d in range(400) if math.isclose(round(step, d), step, rel_tol=1e-9))
    first = math.ceil(low / step)
    count = math.floor(high / step) - first + 1
    return [((first + at) * step, f"{(first + at) * step:.{decimals}f}") for at in range(count)]
