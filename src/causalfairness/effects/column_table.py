"""How are the answers about many people, or many models, shown? Columns, and the rows that matter.

A table of this kind can be long: what is printed are its first rows in an order of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.table import as_html, as_pandas, as_polars, as_text


@dataclass(frozen=True, eq=False)
class ColumnTable(ABC):
    """What was found, row by row? Columns by name; printed, it shows the rows that matter most.

    >>> class Ages(ColumnTable):
    ...     headings, shown, others = ("who", "age"), 1, "younger"
    ...     def order(self):
    ...         return np.argsort(-self["age"])
    ...     def line(self, at):
    ...         return self["who"][at], f"{self['age'][at]:g}"
    >>> table = Ages({"who": np.array(["Ann", "Bo"]), "age": np.array([31.0, 40.0])})
    >>> print(table)
    who  age
    Bo    40
    ... and 1 more, younger
    >>> table["age"].tolist(), len(table), table.to_records()[0]
    ([31.0, 40.0], 2, {'who': 'Ann', 'age': 31.0})
    """

    columns: Mapping[str, Any]  # arrays, or lists of lists

    headings: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[int] = 10  # rows that are printed
    others: ClassVar[str] = ""  # what rows that are not printed are like

    @abstractmethod
    def order(self) -> NDArray[np.int64]:
        """Which rows are printed first?"""

    @abstractmethod
    def line(self, at: int) -> tuple[str, ...]:
        """What is printed of this row, under the headings?"""

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            raise KeyError(f"no column is named {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def to_lists(self) -> dict[str, list[Any]]:
        """What is in each column, as plain data? None where a number is not known."""
        return {name: plain(values) for name, values in self.columns.items()}

    def to_records(self) -> list[dict[str, Any]]:
        """What is in the table, as plain data? None where a number is not known."""
        rows = zip(*self.to_lists().values(), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def to_pandas(self) -> Any:
        """What is in the table, as a pandas data frame?"""
        return as_pandas(self.to_records())

    def to_polars(self) -> Any:
        """What is in the table, as a polars data frame?"""
        return as_polars(self.to_records())

    def __str__(self) -> str:
        rest = len(self) - self.shown
        more = f"\n... and {rest:,} more, {self.others}" if rest > 0 else ""
        return as_text(self._lines()) + more

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._lines())

    def _lines(self) -> list[tuple[str, ...]]:
        return [self.headings, *(self.line(int(row)) for row in self.order()[: self.shown])]


def plain(values: Any) -> list[Any]:
    """Which Python values are these? None for numbers that are not known.

    >>> plain(np.array([0.5, np.nan]))
    [0.5, None]
    """
    if not isinstance(values, np.ndarray):
        return list(values)
    found: list[Any] = values.tolist()
    if values.dtype.kind != "f":
        return found
    return [None if value != value else value for value in found]
