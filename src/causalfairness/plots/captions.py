"""How are names, levels and effects written within the sentence that a picture supports?

A caption says what was found and how sure one can be, and under which assumptions. Where an
interval includes zero it says what the data are consistent with. It gives no verdict.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from causalfairness.effects import Effect
from causalfairness.inference import Interval
from causalfairness.plots.numbers import Unit

LONGEST_NAME = 60
LISTED = 4  # effects named one by one; more are counted


def brief(name: str) -> str:
    """How is a name written within a sentence? On one line, shortened in the middle.

    >>> len(brief("x" * 10_000)) <= LONGEST_NAME
    True
    """
    text = " ".join(name.split()) or "(no name)"
    if len(text) > LONGEST_NAME:
        half = (LONGEST_NAME - 1) // 2
        text = f"{text[:half].rstrip()}…{text[-half:].lstrip()}"
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text):
        return f"\u2068{text}\u2069"  # keeps its direction from spreading to the numbers beside it
    return text


def percentage(level: float) -> str:
    """How is a level of confidence written?

    >>> percentage(0.95), percentage(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.6g}%"


def with_interval(effect: Effect, interval: Interval, unit: Unit) -> str:
    """How is an effect written within a sentence? As a change, with its interval."""
    low, high = map(unit.change, interval)
    return f"{unit.change(effect.value)} ({low} to {high})"


def assuming(stated: Iterable[str]) -> str:
    """How are assumptions written? Each of them once."""
    listed = "; ".join(dict.fromkeys(stated))
    return f"under the stated assumptions{f': {listed}' if listed else ''}."


def enumerated(items: Sequence[str]) -> str:
    """How are several things said in one sentence?"""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
