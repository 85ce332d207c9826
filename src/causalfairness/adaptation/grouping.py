"""Which group is each row of, as the adapter sees it? The reference group is 0, others follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.adaptation.learner import Codes
from causalfairness.adaptation.reading import refuse_missing
from causalfairness.errors import GroupNotFoundError, RoleError, TooFewRowsError
from causalfairness.tables import Column
from causalfairness.tables.groups import GroupLabel, group_label, label_groups, quoted, shown

FEWEST_ROWS = 10
FEW_ROWS = 50
EVERYONE_ELSE = "everyone else"


@dataclass(frozen=True)
class Grouping:
    """Which groups are there? The first is the reference; `pooled` makes the others one group.

    >>> grouping = Grouping(("sex",), (("M",), ("F",)), (60, 40))
    >>> grouping.names, grouping.codes([Column("sex", None, np.array([1, 0]), ("F", "M"))]).tolist()
    (('M', 'F'), [0, 1])
    """

    protected: tuple[str, ...]
    labels: tuple[GroupLabel, ...]
    rows: tuple[int, ...]
    pooled: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What are the groups called?"""
        if self.pooled:
            return shown(self.labels[0]), EVERYONE_ELSE
        return tuple(shown(label) for label in self.labels)

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many rows does each group have?"""
        rows = (self.rows[0], sum(self.rows[1:])) if self.pooled else self.rows
        return list(zip(self.names, rows, strict=True))

    def codes(self, columns: Sequence[Column]) -> Codes:
        """Which group is each row of? A group that fitting has not seen is refused."""
        found, of_row = _groups(columns)
        place = {label: code for code, label in enumerate(self.labels)}
        strange = [label for label in found if label not in place]
        if strange and not self.pooled:
            raise GroupNotFoundError(
                f"{_named(self.protected)} has the value {shown(strange[0])!r}, a group that was "
                f"not there when the adapter was fitted; known are {', '.join(self.names)}. Fit on "
                "data that has it, or with pooled=True, where all other groups share one mechanism"
            )
        last = 1 if self.pooled else len(self.labels)
        codes = [min(place.get(label, 1), last) for label in found]
        return np.array(codes, dtype=np.int64)[of_row]


def grouping_of(
    columns: Sequence[Column], protected: tuple[str, ...], reference: Any, *, pooled: bool
) -> Grouping:
    """Which groups does the data have, and is the reference one of them?

    >>> sex = Column("sex", None, np.array([0] * 10 + [1] * 10), ("F", "M"))
    >>> grouping_of([sex], ("sex",), "M", pooled=False).names
    ('M', 'F')
    """
    found, of_row = _groups(columns)
    wanted = group_label(tuple(reference) if isinstance(reference, list) else reference)
    if wanted is None or len(wanted) != len(protected):
        raise RoleError(
            f"reference is {reference!r}, but protected has {len(protected)} columns "
            f"({_named(protected)}); give one value for each, several as a tuple"
        )
    if wanted not in found:
        raise GroupNotFoundError(
            f"the reference group {quoted(wanted)} has no rows: {_named(protected)} has the values "
            f"{', '.join(map(quoted, found[:20]))} (numbers without quotes, words with)"
        )
    if len(found) == 1:
        raise GroupNotFoundError(
            f"everyone is of the reference group {shown(wanted)!r}, so there is nobody to adapt"
        )
    counts = dict(zip(found, np.bincount(of_row).tolist(), strict=True))
    labels = (wanted, *(label for label in found if label != wanted))
    grouping = Grouping(protected, labels, tuple(counts[label] for label in labels), pooled)
    for name, count in grouping.counts:
        if count < FEWEST_ROWS:
            raise TooFewRowsError(
                f"the group {name!r} has {count} rows, too few to learn a mechanism from: at least "
                f"{FEWEST_ROWS} are needed. Join it with another group, leave it out, or choose "
                "pooled=True, where all groups but the reference share one mechanism"
            )
    return grouping


def _groups(columns: Sequence[Column]) -> tuple[tuple[GroupLabel, ...], Codes]:
    for column in columns:
        refuse_missing(column, "nobody can be adapted from an unknown group")
    if not len(columns[0]):
        return (), np.empty(0, dtype=np.int64)
    return label_groups(columns)


def _named(protected: Sequence[str]) -> str:
    return ", ".join(map(repr, protected))
