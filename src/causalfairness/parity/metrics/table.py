"""How are the metrics of many groups shown together? One record per row, under plain headings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from causalfairness.effects.table import as_html, as_pandas, as_polars, as_text

Record = Mapping[str, Any]
WORDS = (
    "by",
    "group",
    "metric",
    "reference",
    "highest",
    "lowest",
    "reading",
    "remark",
    "allowed",
    "meaning",
    "effect",
    "confounder",
)
JUDGED = ("flagged", "by_chance", "reading")  # not there where a screen has no threshold


@dataclass(frozen=True)
class MetricTable:
    """What are the metrics of all groups, row by row?

    A value is None where there is nobody to have one, and the remark says so.

    >>> table = MetricTable(({"group": "a", "value": 0.25}, {"group": "b", "value": None}))
    >>> print(table)
    group  value
    a      0.250
    b          -
    >>> len(table.where(group="a"))
    1
    """

    records: tuple[Record, ...]

    def where(self, **values: Any) -> MetricTable:
        """Which rows have these values? `table.where(metric="tpr", by="race")`.

        >>> MetricTable(({"group": "a"},)).where(grup="a")
        Traceback (most recent call last):
        ...
        KeyError: "no column is named 'grup'; there are group"
        """
        for name in values:
            if self.records and name not in self.records[0]:
                there = ", ".join(self.records[0])
                raise KeyError(f"no column is named {name!r}; there are {there}")
        kept = (
            record
            for record in self.records
            if all(record[name] == value for name, value in values.items())
        )
        return MetricTable(tuple(kept))

    def to_records(self) -> list[dict[str, Any]]:
        """What is in the table, as plain data?"""
        return [dict(record) for record in self.records]

    def to_pandas(self) -> Any:
        """What is in the table, as a pandas data frame?"""
        return as_pandas(self.records)

    def to_polars(self) -> Any:
        """What is in the table, as a polars data frame?"""
        return as_polars(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __str__(self) -> str:
        if not self.records:
            return "(no rows)"
        words = [at for at, name in enumerate(self._shown) if name in WORDS]
        return as_text(self._lines(), words=words)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._lines()) if self.records else "<p>(no rows)</p>"

    @property
    def _shown(self) -> list[str]:
        """The columns that are printed: all but those that add nothing to the others."""
        idle = {
            "remark": not any(record.get("remark") for record in self.records),
            "effective": all(each.get("effective") == each.get("people") for each in self.records),
            **{name: all(each.get(name) is None for each in self.records) for name in JUDGED},
        }
        return [name for name in self.records[0] if not idle.get(name, False)]

    def _lines(self) -> list[list[str]]:
        names = self._shown
        cells = ([written(record[name]) for name in names] for record in self.records)
        return [[name.replace("_", " ") for name in names], *cells]


def written(value: Any) -> str:
    """How is a value written in a table?

    >>> written(0.12345), written(None), written(True), written(12000), written(math.inf)
    ('0.123', '-', 'yes', '12,000', 'unbounded')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    if math.isinf(value):
        return "unbounded"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"
