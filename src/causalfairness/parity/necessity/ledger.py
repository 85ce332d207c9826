"""Who declared which path a business necessity, and why?

Which paths a business may use is not a finding. It is decided by people, by a court or by law,
and the answer depends on it: so the record keeps who decided, and their reasons in their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from causalfairness.errors import NecessityError


@dataclass(frozen=True)
class Declaration:
    """Who declared a path necessary, why, and when?

    `because` is free text and is kept as it is; `on` is a date, or text that says when.

    >>> court = Declaration("spurious", by="the district court", because="age is relevant to risk")
    >>> print(court)
    spurious: declared necessary by the district court: age is relevant to risk
    """

    path: str
    by: str
    because: str
    on: date | str | None = None

    def __post_init__(self) -> None:
        for name in ("path", "by", "because"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip():
                raise NecessityError(
                    f"a declaration says which path, by whom and why; {name} is {text!r}, expected "
                    "some words"
                )
        if not (self.on is None or isinstance(self.on, date | str)):
            raise NecessityError(
                f"on={self.on!r} does not say when the declaration was made; give a date or text"
            )

    @property
    def when(self) -> str:
        """When was it declared? Dates as in 2023-05-01; empty where nobody said."""
        if self.on is None:
            return ""
        return self.on if isinstance(self.on, str) else self.on.isoformat()

    def to_dict(self) -> dict[str, str | None]:
        """What was declared, as plain data?

        >>> Declaration("direct", "the board", "licensed by law", on=date(2023, 5, 1)).to_dict()
        {'path': 'direct', 'by': 'the board', 'because': 'licensed by law', 'on': '2023-05-01'}
        """
        return {
            "path": self.path,
            "by": self.by,
            "because": self.because,
            "on": None if self.on is None else self.when,
        }

    def __str__(self) -> str:
        return f"{self.path}: declared necessary {self.words}"

    @property
    def words(self) -> str:
        """By whom, when and why, in words?"""
        return f"by {self.by}{f' ({self.when})' if self.when else ''}: {self.because}"


@dataclass(frozen=True)
class Ledger:
    """Which paths are allowed, and on whose word?

    >>> ledger = ledger_of(["spurious"], ("direct", "indirect", "spurious"))
    >>> ledger.allows("spurious"), ledger.lines()
    (True, ('spurious: allowed; nobody is named who declared it necessary',))
    """

    allowed: tuple[str, ...]
    declarations: tuple[Declaration, ...] = ()

    def allows(self, path: str) -> bool:
        """May the business use this path?"""
        return path in self.allowed

    def about(self, path: str) -> tuple[Declaration, ...]:
        """What was declared about this path?"""
        return tuple(one for one in self.declarations if one.path == path)

    def lines(self) -> tuple[str, ...]:
        """What does the ledger say, line by line?"""
        if not self.allowed:
            return ("no path is allowed: nothing was declared necessary",)
        said: list[str] = []
        for path in self.allowed:
            unnamed = f"{path}: allowed; nobody is named who declared it necessary"
            said += [str(one) for one in self.about(path)] or [unnamed]
        return tuple(said)


def ledger_of(allowed: Any, paths: Sequence[str]) -> Ledger:
    """Which of these paths are allowed? Names of paths, and declarations about them.

    >>> ledger_of({"spurios"}, ("direct", "spurious"))
    Traceback (most recent call last):
    ...
    causalfairness.errors.NecessityError: there is no path 'spurios'; the paths are direct, spurious
    """
    if isinstance(allowed, str | Declaration) or not isinstance(allowed, Iterable):
        raise NecessityError(
            f"allowed is a collection of paths, found {allowed!r}; write [{allowed!r}], or [] "
            "where no path is allowed"
        )
    entries = [*allowed]
    for entry in entries:
        if not isinstance(entry, str | Declaration):
            raise NecessityError(
                f"allowed holds {entry!r}; expected names of paths, or Declaration(path, by, "
                "because)"
            )
    named = {entry if isinstance(entry, str) else entry.path for entry in entries}
    unknown = sorted(named - {*paths})
    if unknown:
        raise NecessityError(
            f"there is no path {', '.join(map(repr, unknown))}; the paths are {', '.join(paths)}"
        )
    declared = [entry for entry in entries if isinstance(entry, Declaration)]
    in_order = sorted(declared, key=lambda one: (paths.index(one.path), one.when, one.by))
    return Ledger(tuple(path for path in paths if path in named), tuple(in_order))
