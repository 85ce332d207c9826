"""How are many effects shown together? One row each, with interval and p-value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from causalfairness.effects.effect import ROWS_ALONE, Effect
from causalfairness.inference import Interval

HEADINGS = ("effect", "value", "std. error", "low", "high", "p")


@dataclass(frozen=True, eq=False)
class EffectTable:
    """What did several questions answer, side by side?

    Rows are effects, found by name. Where many questions were asked at once, `reach` is the
    number of standard errors that makes all intervals hold together, and `adjusted` the p-values
    that allow for it.

    >>> import numpy as np
    >>> from causalfairness.effects import Basis
    >>> gap = Effect("gap", 0.2, np.array([0.05]), Basis("3f9a", "rows"))
    >>> table = EffectTable((gap,), ("the whole gap",))
    >>> table["gap"].value
    0.2
    >>> print(table)
    effect   value  std. error     low    high       p
    gap     0.2000      0.0500  0.1020  0.2980  <0.001
    """

    effects: tuple[Effect, ...]
    meanings: tuple[str, ...] = ()
    level: float = 0.95
    reach: float | None = None
    adjusted: tuple[float, ...] | None = None

    def __getitem__(self, name: str) -> Effect:
        for effect in self.effects:
            if effect.name == name:
                return effect
        raise KeyError(f"no effect is named {name!r}; there are {', '.join(self.names)}")

    def __len__(self) -> int:
        return len(self.effects)

    def __iter__(self) -> Iterator[Effect]:
        return iter(self.effects)

    @property
    def names(self) -> tuple[str, ...]:
        """Which effects are in the table?"""
        return tuple(effect.name for effect in self.effects)

    def interval(self, name: str) -> Interval:
        """Which values of this effect fit the data, given all that was asked?"""
        return self._interval(self[name])

    def to_records(self) -> list[dict[str, Any]]:
        """What is in the table, as plain data?

        >>> EffectTable(()).to_records()
        []
        """
        return [self._record(row, effect) for row, effect in enumerate(self.effects)]

    def to_pandas(self) -> Any:
        """What is in the table, as a pandas data frame?"""
        return as_pandas(self.to_records())

    def to_polars(self) -> Any:
        """What is in the table, as a polars data frame?"""
        return as_polars(self.to_records())

    def __str__(self) -> str:
        return "\n".join([as_text([self._headings, *self._cells()]), *self._remarks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = as_html([self._headings, *self._cells()])
        return as_section("", table, self._remarks) if self._remarks else table

    @property
    def _remarks(self) -> list[str]:
        alone = [effect.name for effect in self.effects if effect.rows_alone]
        which = "all of these" if len(alone) == len(self) else ", ".join(alone)
        return [f"{ROWS_ALONE}, the fit of a model left out: {which}"] if alone else []

    @property
    def _headings(self) -> tuple[str, ...]:
        return HEADINGS if self.adjusted is None else (*HEADINGS[:-1], "p (adjusted)")

    def _interval(self, effect: Effect) -> Interval:
        if self.reach is None:
            return effect.interval(self.level)
        half_width = self.reach * effect.standard_error
        return Interval(effect.center - half_width, effect.center + half_width)

    def _record(self, row: int, effect: Effect) -> dict[str, Any]:
        record = record_of(effect, self._interval(effect))
        if self.adjusted is not None:
            record["p_adjusted"] = self.adjusted[row]
        if self.meanings:
            record["meaning"] = self.meanings[row]
        return record

    def _cells(self) -> list[tuple[str, ...]]:
        rows = []
        places = decimals((effect.standard_error for effect in self.effects), least=4)
        for record in self.to_records():
            numbers = (
                f"{record[name]:.{places}f}" for name in ("value", "standard_error", "low", "high")
            )
            p_value = record.get("p_adjusted", record["p_value"])
            rows.append((record["name"], *numbers, format_p_value(p_value)))
        return rows


def record_of(effect: Effect, interval: Interval) -> dict[str, Any]:
    """What is known about one effect, as plain data?"""
    return {
        "name": effect.name,
        "value": effect.value,
        "standard_error": effect.standard_error,
        "correction": effect.correction,
        "low": interval.low,
        "high": interval.high,
        "p_value": effect.p_value,
        **({"rows_alone": True} if effect.rows_alone else {}),
    }


def as_pandas(records: Sequence[Mapping[str, Any]]) -> Any:
    """What do records hold, as a pandas data frame?"""
    import pandas

    return pandas.DataFrame.from_records(list(records))


def as_polars(records: Sequence[Mapping[str, Any]]) -> Any:
    """What do records hold, as a polars data frame? Types are judged by all of them."""
    import polars

    return polars.DataFrame(list(records), infer_schema_length=None)


def as_text(lines: Sequence[Sequence[str]], *, words: Collection[int] = (0,)) -> str:
    """How are lines of cells written below each other? Columns of `words` stand to the left.

    >>> print(as_text([("effect", "value"), ("gap", "0.2")]))
    effect  value
    gap       0.2
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) if column in words else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def as_html(lines: Sequence[Sequence[str]]) -> str:
    """How are lines of cells written on a page? The first one holds the headings."""
    head = "".join(f"<th>{escape(text)}</th>" for text in lines[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in line) + "</tr>"
        for line in lines[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def as_section(title: str, tables: str, sentences: Iterable[str], remarks: str = "") -> str:
    """How is a whole result written on a page? `tables` is HTML; what is empty is left out.

    >>> as_section("a < b", as_html([("gap",), ("0.2",)]), ["It is 0.2."])
    '<h4>a &lt; b</h4><table>...</table><ul><li>It is 0.2.</li></ul>'
    """
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return (
        (f"<h4>{escape(title)}</h4>" if title else "")
        + tables
        + (f"<ul>{said}</ul>" if said else "")
        + (f"<pre>{escape(remarks)}</pre>" if remarks else "")
    )


def decimals(errors: Iterable[float], *, least: int) -> int:
    """How many decimals does it take to see the smallest of these standard errors?

    One below a hundredth of the largest has no say: seven digits of everything for its sake.

    >>> decimals([0.02, 0.005], least=3), decimals([3e-9], least=3), decimals([0.0], least=3)
    (3, 9, 3)
    >>> decimals([0.02, 1e-8], least=3)
    3
    """
    known = [error for error in errors if error > 0]
    smallest = min((error for error in known if error >= 0.01 * max(known)), default=1.0)
    return min(15, max(least, least - 3 - math.floor(math.log10(smallest))))


def format_p_value(p_value: float) -> str:
    """How is a p-value written?

    >>> format_p_value(0.0321), format_p_value(1e-9)
    ('0.032', '<0.001')
    """
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def in_columns(tables: Mapping[str, EffectTable]) -> str:
    """What does each table say about each effect? The value, and its standard error.

    >>> import numpy as np
    >>> from causalfairness.effects import Basis, Effect
    >>> gap = EffectTable((Effect("gap", 0.2, np.array([0.05]), Basis("", "rows")),))
    >>> print(in_columns({"one": gap, "other": gap}))
    (std. error)               one             other
    gap           +0.2000 (0.0500)  +0.2000 (0.0500)
    """
    names = dict.fromkeys(name for table in tables.values() for name in table.names)
    places = decimals((e.standard_error for table in tables.values() for e in table), least=4)
    lines = [["(std. error)", *tables]]
    for name in names:
        cells = (
            f"{table[name].value:+.{places}f} ({table[name].standard_error:.{places}f})"
            if name in table.names
            else "-"
            for table in tables.values()
        )
        lines.append([name, *cells])
    return as_text(lines)
