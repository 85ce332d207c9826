"""How are effects of a record shown? As rows with a drawn interval; what is unknown is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from causalfairness.report.numbers import decimals_for, written
from causalfairness.report.page.blocks import Block, Intervals, Sentences
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import MEANINGS, listed, part_called
from causalfairness.report.summary import Row

SMALL = 0.01
NUMBERS = ("value", "standard_error", "low", "high", "p_value")


def row_of(effect: Told, group: str = "", name: str = "") -> Row | None:
    """How large is this effect, and how sure is it? None where that is not known."""
    if any(effect[key].number is None for key in NUMBERS):
        return None
    called = name or effect["name"].text
    return Row(
        group=group,
        name=called,
        **{key: effect[key].sure for key in NUMBERS},
        p_adjusted=effect.get("p_adjusted").number,
        meaning=MEANINGS.get(called, ""),
    )


def rows_of(effects: Iterable[Told], group: str = "") -> tuple[Row, ...]:
    """How large are these effects? Those that are not known are left out."""
    return tuple(row for each in effects if (row := row_of(each, group)) is not None)


def intervals(
    caption: str, rows: Sequence[Row], *, level: float, margin: float | None = None
) -> list[Block]:
    """How are rows shown? Nothing, where there are none."""
    return [Intervals(caption, tuple(rows), level, margin)] if rows else []


def unknown(effects: Iterable[Told]) -> list[Block]:
    """Which effects have no number? Said, so that nobody misses them."""
    lacking = [part_called(each["name"].text) for each in effects if row_of(each) is None]
    said = f"Not known: {listed(lacking)}."
    return [Sentences((said,), quiet=True)] if lacking else []


def spoken(rows: Sequence[Row]) -> int:
    """How many decimals does a sentence have? Three, but where effects are so small as to vanish.

    >>> spoken([Row("", "direct", 0.1726, 0.0068, 0.16, 0.19, 0.0)])
    3
    """
    places = decimals_for(rows)
    largest = max((abs(row.value) for row in rows), default=0.0)
    return min(places, 3) if largest >= SMALL else places


def between(row: Row) -> str:
    """How is an effect written with its interval, to the digits that mean something?

    >>> between(Row("", "direct", 0.0749, 0.0125, 0.0505, 0.0994, 0.0))
    '+0.075 (+0.051 to +0.099)'
    """
    places = spoken([row])
    ends = f"{written(row.low, places)} to {written(row.high, places)}"
    return f"{written(row.value, places)} ({ends})"
