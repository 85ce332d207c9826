"""Who is in which category, and who is selected? The people a screen counts, one row each.

A person is selected if a decision has its favorable value or, for scores, if the score lies above
the pooled median: that of everyone with a score, whether or not their category is known. People
count one by one; screens know no weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError, OutcomeError, RoleError
from causalfairness.parity.screens.rule import Rule
from causalfairness.tables import Column, Missing, RowAccount
from causalfairness.tables.columns import Value, column_of
from causalfairness.tables.groups import canonical, label_groups, shown_value
from causalfairness.tables.missing import check_policy
from causalfairness.tables.source import check_columns, collect, open_frame, reading

Mask = NDArray[np.bool_]
SELECTION, SCORING = "selection rate", "scoring rate"


@dataclass(frozen=True)
class Asked:
    """Which column holds the decision or the score, and which decision is the favorable one?"""

    measure: str
    column: str
    favorable: Any = None


@dataclass(frozen=True)
class Counted:
    """How many people of one category are there, and how many of them are selected?"""

    category: tuple[str, ...]
    people: int
    selected: int


@dataclass(frozen=True, eq=False)
class People:
    """What is everyone's category by each attribute, and who is selected?

    `known` says by attribute who has a category; `median` is the pooled one, for scores.
    """

    columns: Mapping[str, Column]
    known: Mapping[str, Mask]
    selected: Mask
    account: RowAccount
    median: float | None = None

    def counted(self, division: Sequence[str]) -> tuple[Counted, ...]:
        """How many people are in each category of a division, and how many are selected?"""
        at = np.flatnonzero(self._known(division))
        columns = [self.columns[attribute].take(at) for attribute in division]
        labels, category = label_groups(columns)
        people = np.bincount(category, minlength=len(labels))
        chosen = np.bincount(category, weights=self.selected[at], minlength=len(labels))
        return tuple(
            Counted(tuple(map(_named, label)), int(size), int(hits))
            for label, size, hits in zip(labels, people, chosen, strict=True)
        )

    def unknown(self, division: Sequence[str]) -> int:
        """How many people are in no category of a division, because theirs is not known?"""
        return int(np.sum(~self._known(division)))

    def _known(self, division: Sequence[str]) -> Mask:
        known: Mask = np.all([self.known[attribute] for attribute in division], axis=0)
        return known


def asked_of(rule: Rule, selected: str | None, favorable: Any, score: str | None) -> Asked:
    """What is measured: a decision or a score? Exactly one, and the rule must know it."""
    if (selected is None) == (score is None):
        raise RoleError(
            f"found selected={selected!r} and score={score!r}; give exactly one: the column of "
            "decisions, or that of scores"
        )
    if score is not None and favorable is not None:
        raise RoleError(
            f"favorable={favorable!r} goes with a decision, not with a score: the share above the "
            "median is counted. Where low scores are the good ones, give their negative"
        )
    asked = Asked(SCORING, score) if score is not None else Asked(SELECTION, str(selected))
    if asked.measure not in rule.measures:
        raise RoleError(
            f"{rule.name} measures the {' or the '.join(rule.measures)}, and not the "
            f"{asked.measure}; {'give selected=...' if score else 'give score=...'} instead"
        )
    return Asked(asked.measure, asked.column, favorable)


def read_people(
    data: Any, asked: Asked, columns: Mapping[str, str], unknown: Sequence[Any], missing: Missing
) -> People:
    """What do the rows hold that a screen counts?"""
    with reading():
        frame = open_frame(data)
        names = [*dict.fromkeys([*columns.values(), asked.column])]
        check_columns(frame, names)
        rows = collect(frame.select(*names))
    found = {name: column_of(rows[name]) for name in names}
    measured = found[asked.column]
    lacking = {asked.column: int(measured.is_missing.sum())}
    check_policy(lacking, missing, measured=[asked.column])
    kept = np.flatnonzero(~measured.is_missing)
    if not len(kept):
        raise OutcomeError(f"nobody is left to count: column {asked.column!r} holds no value")
    account = RowAccount(
        read=len(measured),
        used=len(kept),
        dropped={"missing " + asked.column: lacking[asked.column]} if lacking[asked.column] else {},
    )
    measured = measured.take(kept)
    categories = {attribute: found[name].take(kept) for attribute, name in columns.items()}
    known = {attribute: _known(column, unknown) for attribute, column in categories.items()}
    if asked.measure == SCORING:
        values = _scores(measured)
        median = float(np.median(values))
        return People(categories, known, values > median, account, median)
    return People(categories, known, _decided(measured, asked.favorable), account)


def _known(column: Column, unknown: Sequence[Any]) -> Mask:
    """Who has a category? Nobody with a missing value, or with one that stands for unknown."""
    levels = column.levels()
    none = {None, *map(canonical, unknown)}
    return np.array([value not in none for value in levels.values], dtype=bool)[levels.codes]


def _scores(column: Column) -> NDArray[np.float64]:
    if column.values is None:
        raise ColumnTypeError(
            f"the score column {column.name!r} holds words such as {column.labels[0]!r}; expected "
            "numbers, or give it as selected=... with favorable=... the value that is selected"
        )
    if not np.isfinite(column.values).all():
        raise ColumnTypeError(f"the score column {column.name!r} holds infinite values")
    return column.values


def _decided(column: Column, favorable: Any) -> Mask:
    levels = column.levels()
    values = list(levels.values)
    if favorable is None and column.is_number and set(values) <= {0.0, 1.0}:
        return np.array([value == 1.0 for value in values], dtype=bool)[levels.codes]
    present = ", ".join(_spelled(value) for value in values[:20])
    if favorable is None:
        raise OutcomeError(
            f"column {column.name!r} is not 0 or 1, so it does not say who is selected; name the "
            f"value that is with favorable=..., one of {present}, or ask with score=..."
        )
    if canonical(favorable) not in values:
        raise OutcomeError(
            f"favorable={favorable!r} does not occur in column {column.name!r}; its values are "
            f"{present} (numbers without quotes, words with)"
        )
    return np.array([value == canonical(favorable) for value in values], dtype=bool)[levels.codes]


def _named(value: Value) -> str:
    assert value is not None
    return shown_value(value)


def _spelled(value: Value) -> str:
    return repr(value) if isinstance(value, str) else _named(value)
