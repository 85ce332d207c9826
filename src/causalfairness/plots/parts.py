"""Which effects are drawn, in which order, and under which names? Parts of a gap, rows, series."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from causalfairness.effects import Decomposition, Effect, EffectTable
from causalfairness.inference import Interval

Names = Sequence[str] | Mapping[str, str] | None
T = TypeVar("T")
MOST = 6  # fillings that can be told apart
APART = 0.4  # rows between two groups of rows
PATHS: Final = ("direct", "indirect", "spurious")
REMAINDERS: Final = ("outside_support", "misfit")
GLOSSES: Final = {
    "total": "the whole gap",
    "direct": "all else alike",
    "indirect": "through mediators",
    "spurious": "with confounders",
    "outside_support": "no counterpart",
    "misfit": "missed by the model",
}
COMPARABLE: Final = {"outside_support": "where comparable", "misfit": "as modeled"}


def paths_of(found: Decomposition) -> tuple[Effect, ...]:
    """What are the direct, indirect and spurious parts?"""
    return found.direct, found.indirect, found.spurious


def remainder_of(found: Decomposition) -> Effect | None:
    """What do the three paths leave over? None where they add up to the gap."""
    for rest in (found.outside_support, found.misfit):
        if rest.value or rest.standard_error:
            return rest
    return None


def path_in(name: str) -> str:
    """Which part does the name of an effect speak of? The last one it mentions, or none.

    >>> path_in("natural_direct_effect"), path_in("direct labor: total"), path_in("score")
    ('direct', 'total', '')
    """
    known = (*PATHS, "total", "misfit")
    words = [word for word in re.split(r"[^a-z]+", name.lower()) if word in known]
    return "outside_support" if name.endswith("outside_support") else (words or [""])[-1]


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


@dataclass(frozen=True)
class Line(Generic[T]):
    """What stands in one line of a picture? A row under its name, or the heading of several."""

    name: str
    at: float
    row: T | None = None


def lines_of(groups: Iterable[tuple[str, Sequence[tuple[str, T]]]]) -> list[Line[T]]:
    """Where does each row stand? One below the other, those of a group under its heading, if any.

    >>> [(line.name, line.at) for line in lines_of([("", [("a", 1)]), ("group", [("b", 2)])])]
    [('a', 0.0), ('group', 1.4), ('b', 2.4)]
    """
    lines: list[Line[T]] = []
    at = 0.0
    for heading, rows in groups:
        if heading:
            at += APART if lines else 0.0
            lines.append(Line(heading, at))
            at += 1
        for name, row in rows:
            lines.append(Line(name, at, row))
            at += 1
    return lines


@dataclass(frozen=True)
class Series:
    """Which decomposition is drawn under which name?"""

    name: str
    found: Decomposition

    def part(self, name: str) -> Effect | None:
        """How large is this part? None for a remainder that is not there."""
        if name in ("outside_support", "misfit"):
            rest = remainder_of(self.found)
            return rest if rest is not None and rest.name == name else None
        effect: Effect = getattr(self.found, name)
        return effect


def series_of(found: Sequence[Decomposition] | Mapping[str, Decomposition]) -> list[Series]:
    """Which decompositions are drawn? Without names, each is called by what sets it apart.

    >>> series_of([])
    Traceback (most recent call last):
    ...
    ValueError: between 1 and 6 decompositions can be drawn side by side, found 0; ...
    """
    if not 1 <= len(found) <= MOST:
        raise ValueError(
            f"between 1 and {MOST} decompositions can be drawn side by side, found {len(found)}; "
            "for more, draw a forest of their effects"
        )
    if isinstance(found, Mapping):
        return [Series(name, each) for name, each in found.items()]
    return [Series(name, each) for name, each in zip(_told_apart(found), found, strict=True)]


def _told_apart(found: Sequence[Decomposition]) -> list[str]:
    traits = [
        (
            each.what,
            f"{each.comparison} against {each.reference}",
            each.diagnostics.estimator.partition("(")[0],
            each.convention,
        )
        for each in found
    ]
    columns = [column for column in zip(*traits, strict=True) if len(set(column)) > 1]
    if not columns:
        return [found[0].what] if len(found) == 1 else [f"{at + 1}" for at in range(len(found))]
    return [", ".join(row) for row in zip(*columns, strict=True)]
