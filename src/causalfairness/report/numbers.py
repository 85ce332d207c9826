"""How many digits are worth printing? As many as the standard errors leave meaning."""

from __future__ import annotations

import math
from collections.abc import Iterable

from causalfairness.report.summary import Row

FEWEST, MOST = 0, 9


def decimals_for(rows: Iterable[Row]) -> int:
    """How many decimals show the smallest standard error with two digits?

    >>> decimals_for([Row("F", "direct", 0.01, 0.0142, 0.0, 0.1, 0.5)])
    3
    >>> decimals_for([Row("F", "direct", 1200.0, 340.0, 500.0, 1900.0, 0.01)])
    0
    """
    errors = [row.standard_error for row in rows if 0 < row.standard_error < math.inf]
    if not errors:
        return 3
    return min(max(1 - math.floor(math.log10(min(errors))), FEWEST), MOST)


def written(value: float, decimals: int) -> str:
    """How is a number written? With a sign, and with commas from a thousand on.

    >>> written(0.0123, 3), written(-1234.5, 0), written(-0.0001, 2)
    ('+0.012', '-1,234', '0.00')
    """
    text = f"{value:+,.{decimals}f}"
    return text[1:] if not text.strip("+-0.,") else text


def percent(level: float) -> str:
    """How is a level written?

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.6g}%"
