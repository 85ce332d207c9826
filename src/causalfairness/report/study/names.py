"""Which names are too long to be shown wherever they occur? Cut there, and given in full once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from causalfairness.report.legible import LONGEST, shortened

LONGEST_TEXT = 1_200  # characters of a text that somebody wrote
DEEPEST = 40  # lists and tables within each other
SHOWN_WHOLE = ("text", "words", "result")  # of graphs, roles, row accounts and assumptions
NAMED_BY = (
    "comparison",
    "decision",
    "features",
    "group",
    "groups",
    "highest",
    "id",
    "lowest",
    "outcome",
    "person",
    "prediction",
    "protected",
    "reference",
    "source",
    "confounders",
    "mediators",
    "left_out",
    "values",
    "weights",
)


@dataclass(frozen=True)
class Names:
    """Which texts of a record are cut wherever they occur? The longest first.

    >>> names = Names(("x" * 100,))
    >>> names.cut("mean " + "x" * 100 + " is 0.1")[-10:]
    'xx… is 0.1'
    """

    long: tuple[str, ...]
    texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Names:
        """Which names in this record are long, and which other texts?

        >>> Names.of({"data": {"columns": {"y" * 50: ""}}}).long == ("y" * 50,)
        True
        """
        found = {text for text in _names(record, "", 0) if len(text) > LONGEST}
        names = cls(tuple(sorted(found, key=lambda text: (-len(text), text))))
        written = dict.fromkeys(_texts(record, 0))
        return cls(names.long, tuple(t for t in written if len(names.whole(t)) > LONGEST_TEXT))

    def whole(self, text: str) -> str:
        """How is a text shown with its names cut, however long it is?"""
        if len(text) <= LONGEST:
            return text
        for name in self.long:
            for spelled in (name, repr(name)[1:-1]):
                if spelled in text:
                    text = text.replace(spelled, shortened(name))
        return text

    def cut(self, text: str) -> str:
        """How is a text shown where there is little room?"""
        return shortened(self.whole(text), LONGEST_TEXT)

    def in_full(self) -> Iterator[tuple[str, str]]:
        """Which names and texts were cut, and what are they in full?"""
        for name in self.long:
            yield shortened(name), name
        for text in self.texts:
            yield shortened(self.whole(text)), self.whole(text)


def _names(value: Any, key: str, depth: int) -> Iterator[str]:
    """Texts at places where names stand; columns of a table have their names above."""
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        if key in NAMED_BY:
            yield value
    elif isinstance(value, Mapping):
        if key in ("columns", "attributes", "refused"):
            yield from (name for name in value if isinstance(name, str))
        if key == "columns":  # under each a fingerprint, which is no name
            return
        if isinstance(value.get("columns"), list) and isinstance(value.get("rows"), list):
            for row in value["rows"]:
                if isinstance(row, list):
                    for name, cell in zip(value["columns"], row, strict=False):
                        yield from _names(cell, str(name), depth + 1)
        for name, each in value.items():
            yield from _names(each, str(name), depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _names(each, key, depth + 1)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if name not in SHOWN_WHOLE:
                yield from _texts(each, depth + 1)
