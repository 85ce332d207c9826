"""Who is tested, whom may they be compared with, and what was decided about them?

Tested are the rows of the comparison group. Their control group is looked for among them, their
test group among the rows of the reference group (or everyone else). A decision is negative
where it is not the favorable one. Rows of other groups, and those whose protected attribute is
missing, are left aside; ranges of features are those of the whole table all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalfairness.errors import MissingValuesError, OutcomeError, RoleError, SituationError
from causalfairness.estimators.role_columns import look_at
from causalfairness.fairness_model import HIGHER, LOWER, NOBODY_SAID, StandardFairnessModel
from causalfairness.individuals.distances import Positions, Truths
from causalfairness.tables import Column, Table
from causalfairness.tables.columns import NOTHING, Declared, Value
from causalfairness.tables.frames import FrameRows, frame_rows
from causalfairness.tables.groups import (
    COMPARISON,
    REFERENCE,
    canonical,
    group_label,
    label_groups,
    members,
    shown,
)
from causalfairness.tables.missing import said_of_dropped


@dataclass(frozen=True, eq=False)
class Situations:
    """Which people are compared with which, by which features, and what was decided?"""

    rows: FrameRows
    roles: StandardFairnessModel
    features: tuple[str, ...]
    decision: str
    decisions: tuple[Value, Value]  # negative, favorable
    negative: Truths  # one per row
    complainants: Positions
    others: Positions
    ids: Column | None
    notes: tuple[str, ...]
    declared: Declared = NOTHING

    def looked_at(self) -> tuple[str, ...]:
        """Notes on the features. Copies of decision or group, ids and numbers as text are refused.

        Of an amount that a decision goes by people still have more and less, and it is noted.
        """
        table = Table(self.rows.native, missing="drop", **self.declared._asdict())
        asked = replace(self.roles, outcome_value=self.decisions[1])
        return look_at(table.rows(asked, "outcome"), asked, role="feature")

    def lots(self) -> Positions:
        """Who comes first of people who are equally near? A draw, whatever the order of rows."""
        ties = (self.decision, *self.roles.protected_columns)
        varying = [name for name in self.features if len(self.rows.read(name).levels().values) > 1]
        places = self.rows.arrangement(varying, ties).places
        return np.random.default_rng(0).permutation(len(places))[places]

    @property
    def attribute(self) -> str:
        """What is the protected attribute called?"""
        return " and ".join(self.roles.protected_columns)

    @property
    def complaining(self) -> str:
        """What are the people of the comparison group called?"""
        return _people(self.roles.protected_columns, self.roles.comparison)

    @property
    def compared(self) -> str:
        """What are those called whom they are compared with?"""
        return _people(self.roles.protected_columns, self.roles.reference)

    @property
    def declined(self) -> str:
        """How is a negative decision written?"""
        return f"{self.decision} = {spelled(self.decisions[0])}"

    def brought(self, rows: Positions) -> Positions:
        """Where do these rows stand in what was brought, some of which may be left out?"""
        return rows if self.rows.kept is None else self.rows.kept[rows]

    def called(self, row: int) -> str:
        """What is this person called? By their id, or by the position of their row."""
        if self.ids is None:
            return f"row {self.brought(np.array(row))}"
        return f"{self.ids.name} {spelled(value_of(self.ids, row))}"

    def find(self, key: Any) -> int:
        """Which person is meant, counted among those of the comparison group?"""
        row = self._row(key)
        place = int(np.searchsorted(self.complainants, row))
        if place < len(self.complainants) and self.complainants[place] == row:
            return place
        raise SituationError(
            f"{self.called(row)} is not in the comparison group: {self.attribute} is "
            f"{shown(value_of(self.rows.read(name), row) for name in self.roles.protected_columns)}"
            f"; that group are {self.complaining}"
        )

    def _row(self, key: Any) -> int:
        if self.ids is not None:
            levels = self.ids.levels()
            wanted = canonical(key)
            if wanted not in levels.values:
                raise SituationError(f"no row has {self.ids.name} {key!r}; give one of its values")
            return int(np.flatnonzero(levels.codes == levels.values.index(wanted))[0])
        account = self.rows.account
        n = len(self.negative) if account is None else account.read
        if isinstance(key, bool) or not isinstance(key, int | np.integer) or not 0 <= key < n:
            raise SituationError(
                f"{key!r} is no row; give the position of a row, from 0 to {n - 1}, or name people "
                "by a column of their own with ids="
            )
        if self.rows.kept is None:
            return int(key)
        place = int(np.searchsorted(self.rows.kept, key))
        if place == len(self.rows.kept) or self.rows.kept[place] != key:
            raise SituationError(f"row {key} was left out: it has missing values")
        return place


def read_situations(
    data: Any,
    *,
    protected: str | Sequence[str],
    comparison: Any,
    reference: Any,
    features: Sequence[str],
    decision: str,
    favorable: Any,
    ids: str | None,
) -> Situations:
    """Who is tested, and whom may they be compared with?

    >>> import pyarrow as pa
    >>> data = pa.table({"sex": ["F", "M", "F"], "pay": [1, 2, 3], "hired": [0, 1, 1]})
    >>> found = read_situations(
    ...     data, protected="sex", comparison="F", reference=None, features=["pay"],
    ...     decision="hired", favorable=1, ids=None)
    >>> found.complainants.tolist(), found.others.tolist(), found.negative.tolist()
    ([0, 2], [1], [True, False, False])
    """
    roles = StandardFairnessModel(
        protected=protected,
        reference=reference,
        comparison=comparison,
        mediators=features,
        outcome=decision,
    )
    names = tuple(roles.mediators)
    if not names:
        raise SituationError("features is empty; name the columns that make people alike")
    needed = [*roles.role_columns, *([] if ids is None else [ids])]
    rows = frame_rows(data, needed, unweighted="a situation test", as_is=True)
    decided = rows.read(decision)
    decisions = _both(decided, favorable)
    labels, group = label_groups([rows.read(name) for name in roles.protected_columns])
    role = members(labels, roles)[group]
    aside = int(np.sum((role != COMPARISON) & (role != REFERENCE)))
    said = (f"{aside:,} rows of other groups, or of none, are left aside",) if aside else ()
    return Situations(
        rows=rows,
        roles=roles,
        features=names,
        decision=decision,
        decisions=decisions,
        negative=is_negative(decided, decisions, "the data"),
        complainants=np.flatnonzero(role == COMPARISON),
        others=np.flatnonzero(role == REFERENCE),
        ids=None if ids is None else _named(rows.read(ids)),
        notes=(*said, *said_of_dropped(rows.account)),
        declared=data.declared if isinstance(data, Table) else NOTHING,
    )


def is_negative(decided: Column, decisions: tuple[Value, Value], where: str) -> Truths:
    """Who got the negative decision? Every row must have one of the two."""
    missing = int(decided.is_missing.sum())
    if missing:
        raise MissingValuesError(
            f"column {decided.name!r} has {missing:,} missing values in {where}; every person "
            "needs a decision: leave those rows out first"
        )
    levels = decided.levels()
    unknown = [value for value in levels.values if value not in decisions]
    if unknown:
        raise OutcomeError(
            f"column {decided.name!r} holds {shown(unknown[:5])} in {where}; expected only "
            f"{shown(decisions)}, as in the data"
        )
    codes = [at for at, value in enumerate(levels.values) if value == decisions[0]]
    return np.asarray(np.isin(levels.codes, codes))


def value_of(column: Column, row: int) -> Value:
    """What does a column hold in one row?

    >>> value_of(Column.numbers("age", np.array([31.0, np.nan])), 1) is None
    True
    """
    if column.values is not None:
        number = float(column.values[row])
        return None if np.isnan(number) else number
    code = int(column.codes[row])
    return None if code < 0 else column.labels[code]


def spelled(value: Value) -> str:
    """How is one value written for people? Whole numbers in full, as ids need it.

    >>> spelled(1234567.0), spelled(0.5), spelled("F"), spelled(None)
    ('1234567', '0.5', 'F', 'missing')
    """
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return "missing" if value is None else str(value)


def _people(columns: Sequence[str], group: Any) -> str:
    if group is None:
        return "other people"
    values = group_label(group) or ()
    said = (f"{name} = {spelled(value)}" for name, value in zip(columns, values, strict=True))
    return f"people with {' and '.join(said)}"


def _both(decided: Column, favorable: Any) -> tuple[Value, Value]:
    """The negative and the favorable decision."""
    values = [value for value in decided.levels().values if value is not None]
    if favorable is None:
        raise RoleError(
            f"{NOBODY_SAID}: column {decided.name!r} holds {shown(values[:10]) or 'nothing'}"
        )
    wanted = canonical(favorable)
    if wanted not in values and wanted in (LOWER, HIGHER) and decided.is_number and values:
        wanted = (max if wanted == HIGHER else min)(values)
    if wanted not in values:
        raise OutcomeError(
            f"favorable is {favorable!r}, which column {decided.name!r} does not hold: it holds "
            f"{shown(values[:10]) or 'nothing'}. Give one of these"
        )
    if len(values) != 2:
        found = f"{len(values)} values ({shown(values[:10])}{', ...' if len(values) > 10 else ''})"
        raise OutcomeError(
            f"column {decided.name!r} holds {found}; expected a decision with exactly two, one of "
            "them favorable: add a column that says which decisions are"
        )
    return next(value for value in values if value != wanted), wanted


def _named(ids: Column) -> Column:
    if ids.is_missing.any():
        raise SituationError(
            f"column {ids.name!r} has missing values, so it cannot name people; choose another"
        )
    levels = ids.levels()
    if len(levels.values) != len(ids):
        often = int(np.argmax(np.bincount(levels.codes)))
        raise SituationError(
            f"column {ids.name!r} holds {spelled(levels.values[often])} more than once, so it "
            "cannot name people; choose a column with one value per row"
        )
    return ids
