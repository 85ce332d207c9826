"""What stands at a place of a record? Read with care: what is not as expected is named.

A record is somebody's file. Every value is asked for by the kind it should have, and one that is
missing or of another kind raises a `RecordError` that says where. Texts come with long names cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from causalfairness.errors import RecordError
from causalfairness.report.page.blocks import Cell

LARGEST = 10**15  # of counts; beyond it no record of people is true


@dataclass(frozen=True, eq=False)
class Told:
    """What stands at a place of a record?

    >>> record = Told({"data": {"rows": 12}}, "record")
    >>> record["data"]["rows"].count
    12
    >>> record["data"]["source"]
    Traceback (most recent call last):
    ...
    causalfairness.errors.RecordError: record: data: source is missing; ...
    """

    value: Any
    where: str
    cut: Callable[[str], str] = str  # as it is

    def __getitem__(self, key: str) -> Told:
        found = self._mapping()
        if key not in found:
            raise RecordError(
                f"{self.where}: {key} is missing; expected a whole record, as an audit writes it"
            )
        return self._at(key, found[key])

    def get(self, key: str, default: Any = None) -> Told:
        """What stands under a key that may be missing?"""
        found = self._mapping().get(key)
        return self._at(key, default if found is None else found)

    def __bool__(self) -> bool:
        return self.value not in (None, "", [], {})

    def __iter__(self) -> Iterator[Told]:
        if not isinstance(self.value, list):
            raise self._other("a list")
        return (self._at(f"[{at}]", each) for at, each in enumerate(self.value))

    @property
    def keys(self) -> list[str]:
        """Which keys are there, as they stand?"""
        return sorted(str(key) for key in self._mapping())

    def items(self) -> Iterator[tuple[str, Told]]:
        """What stands under each key? Sorted, as in a file; keys are names, and cut like them."""
        found = sorted(
            ((str(key), value) for key, value in self._mapping().items()), key=lambda item: item[0]
        )
        return ((self.cut(key), self._at(key, value)) for key, value in found)

    @property
    def rows(self) -> list[Told]:
        """Which rows has a table? Each by the names of its columns."""
        names = [each.exact for each in self["columns"]]
        found = []
        for row in self["rows"]:
            if not isinstance(row.value, list) or len(row.value) != len(names):
                raise row._other(f"a list of {len(names)} values")
            found.append(self._at(row.where, dict(zip(names, row.value, strict=True))))
        return found

    @property
    def exact(self) -> str:
        """Which text is it, as it stands?"""
        if not isinstance(self.value, str):
            raise self._other("a text")
        return self.value

    @property
    def text(self) -> str:
        """Which text is it, with long names cut?"""
        return self.cut(self.exact)

    @property
    def texts(self) -> tuple[str, ...]:
        """Which texts are listed?"""
        return tuple(each.text for each in self)

    @property
    def number(self) -> float | None:
        """Which number is it? None where it is not known."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self._other("a number")
        if abs(self.value) >= LARGEST:
            return None
        return float(self.value) if math.isfinite(self.value) else None

    @property
    def sure(self) -> float:
        """Which number is it? It has to be known."""
        found = self.number
        if found is None:
            raise self._other("a finite number")
        return found

    @property
    def count(self) -> int:
        """How many is it?"""
        whole = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not whole or not 0 <= self.value < LARGEST:
            raise self._other("a count")
        return int(self.value)

    @property
    def cell(self) -> Cell:
        """What stands in this cell of a table?"""
        if isinstance(self.value, str):
            return self.text
        if isinstance(self.value, bool):
            return self.value
        if isinstance(self.value, int):
            return None if abs(self.value) >= LARGEST else self.value
        if self.value is None or isinstance(self.value, float):
            return self.number
        raise self._other("a text or a number")

    @property
    def shown(self) -> str:
        """How is a value written that somebody chose: a text, a number, or several?"""
        if isinstance(self.value, list):
            return ", ".join(each.shown for each in self)
        if isinstance(self.value, float) and self.number is not None:
            return f"{self.sure:.15g}"
        found = self.cell
        return "" if found is None else str(found)

    def _mapping(self) -> Mapping[str, Any]:
        if not isinstance(self.value, Mapping):
            raise self._other("a table of names and values")
        return self.value

    def _at(self, key: str, value: Any) -> Told:
        place = key if key.startswith(self.where) else f"{self.where}: {key}"
        return Told(value, place.replace(": [", "["), self.cut)

    def _other(self, expected: str) -> RecordError:
        found = repr(self.value)
        short = found if len(found) <= 60 else f"{found[:59]}…"
        return RecordError(f"{self.where} is {short}; expected {expected}")
