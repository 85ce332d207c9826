"""What happens to rows with missing values? A declared policy, and an account of its effect."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from causalfairness.errors import MissingValuesError

Missing = Literal["refuse", "drop", "category"]
POLICIES = ("refuse", "drop", "category")


@dataclass(frozen=True)
class RowAccount:
    """Which rows were read, used, left aside, dropped, and why?

    `outside` counts rows of groups that the question is not about; `dropped` counts rows with
    missing values per group; `missing` counts missing values per column; `aside` counts rows, of
    any group, that a question about part of the table leaves aside, by what they have.

    >>> str(RowAccount(read=10, used=8, outside=2))
    '10 rows read, 8 used, 2 of other groups left aside'
    """

    read: int
    used: int
    outside: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    aside: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        text = f"{self.read:,} rows read, {self.used:,} used"
        if self.outside:
            text += f", {self.outside:,} of other groups left aside"
        for others, count in self.aside.items():
            text += f", {count:,} with {others} left aside"
        if self.dropped:
            per_group = ", ".join(f"{group}: {count:,}" for group, count in self.dropped.items())
            text += f", {sum(self.dropped.values()):,} dropped for missing values ({per_group})"
        return text


def said_of_dropped(account: RowAccount | None) -> tuple[str, ...]:
    """What must be said of rows that were left out for missing values? Nothing where none was.

    >>> said_of_dropped(RowAccount(read=10, used=9, dropped={"age": 1}))[0][:60]
    '10 rows read, 9 used, 1 dropped for missing values (age: 1),'
    """
    if account is None or not account.dropped:
        return ()
    return (f"{account}, as if chance had chosen them among people like them",)


def check_missing(policy: Missing) -> None:
    """Is this something that can happen to missing values?

    >>> check_missing("drop")
    """
    if policy not in POLICIES:
        raise MissingValuesError(f"missing must be one of {POLICIES}; found {policy!r}")


def check_policy(missing: Mapping[str, int], policy: Missing, *, measured: Collection[str]) -> None:
    """May the work go on with these missing values per column?

    Columns in `measured` (outcome, weights) have no use for a category of their own.

    >>> check_policy({"age": 0}, "refuse", measured=["hired"])
    """
    check_missing(policy)
    found = {column: count for column, count in missing.items() if count}
    if found and policy == "refuse":
        counts = ", ".join(f"{column!r}: {count:,}" for column, count in found.items())
        category = " or missing='category' (missing becomes a value of its own)"
        raise MissingValuesError(
            f"missing values in {counts}; choose missing='drop' (rows are left out and counted)"
            f"{'' if any(column in found for column in measured) else category}, or complete the "
            "data"
        )
    if policy == "category":
        for column in measured:
            if column in found:
                raise MissingValuesError(
                    f"column {column!r} has {found[column]:,} missing values, and a measurement "
                    "cannot be a category, nor what a model of whole rows needs; choose "
                    "missing='drop' or complete the data"
                )
