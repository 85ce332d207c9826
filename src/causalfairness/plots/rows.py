"""Which effects of a table are drawn, in which order, and under which names?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from causalfairness.effects import Effect, EffectTable
from causalfairness.inference import Interval

Names = Sequence[str] | Mapping[str, str] | None


@dataclass(frozen=True)
class Row:
    """What is drawn in one row of a forest plot?"""

    name: str
    effect: Effect
    interval: Interval


def rows_of(table: EffectTable, names: Names) -> list[Row]:
    """Which effects are drawn? All, those named, or those of a mapping under its new names.

    >>> rows_of(EffectTable(()), None)
    Traceback (most recent call last):
    ...
    ValueError: there is no effect to draw; give a table with at least one row
    """
    chosen = table.names if names is None else names
    if isinstance(chosen, str):
        raise ValueError(f"names is a list of effects, got the text {chosen!r}; write [{chosen!r}]")
    if not chosen:
        raise ValueError("there is no effect to draw; give a table with at least one row")
    if names is None:  # by position: two effects may have one name
        records = table.to_records()
        return [
            Row(effect.name, effect, Interval(record["low"], record["high"]))
            for effect, record in zip(table.effects, records, strict=True)
        ]
    labels = chosen if isinstance(chosen, Mapping) else {name: name for name in chosen}
    return [Row(label, table[name], table.interval(name)) for name, label in labels.items()]
