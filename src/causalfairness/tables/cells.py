"""How many people are in each cell, and what do their outcomes add up to?

A cell is one combination of group, confounders and mediators; a *profile* is one of confounders and
mediators, a *stratum* one of confounders alone. Counting estimators need no more than the sums of
each cell, whatever the number of rows. Cells come in the order of their values (confounders, then
mediators, then group), so nothing depends on the engine that counted them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OutcomeError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.columns import NOTHING, Column, Declared
from causalfairness.tables.fingerprint import identify_cells
from causalfairness.tables.groups import (
    NEITHER,
    GroupLabel,
    check_filled,
    check_one_value,
    label_groups,
    members,
    shown_value,
)
from causalfairness.tables.missing import RowAccount
from causalfairness.tables.target import Target, Within, check_varies

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
OFFSET = 1e-4  # share of the variance that may be lost to the size of the values
ROUNDING = 1e-12  # relative size of what long sums lose to rounding


class CellSums(NamedTuple):
    """What do the rows of each cell add up to? Without weights, w is 1 for every row.

    `exact` holds the sums of y (of w and w y with weights) in fixed-point arithmetic: the same
    whatever the order of summation, for the fingerprint. `powers` holds the sums of w d, w d^2 and
    w d^3, with d = y less a number that is the same in all cells; a yes or no may go without.

    >>> one = np.ones(2)
    >>> CellSums(one, one, one, one, one, one, (one,)).take(np.array([0])).rows.tolist()
    [1.0]
    """

    rows: Array
    w: Array
    w2: Array
    wy: Array
    w2y: Array
    w2y2: Array
    exact: tuple[Array, ...]
    powers: tuple[Array, ...] = ()

    def take(self, positions: Positions) -> CellSums:
        """What are the sums of these cells?"""
        exact, powers = (tuple(part[positions] for part in of) for of in (self.exact, self.powers))
        return CellSums._make((*(part[positions] for part in self[:-2]), exact, powers))


class Beside(NamedTuple):
    """Which other measurement of the same rows was added up in the same pass?

    `products` are the sums of w^2 y z, with y one measurement and z the other. Of the two, the one
    that `goes_first` decides the first coordinate of what varies within a cell (methods §2.1).

    >>> one, score = np.ones(2), Target("score", None, "prediction")
    >>> sums = CellSums(one, one, one, one, one, one, (one,))
    >>> Beside(score, sums, one, False).take(np.array([1])).products.tolist()
    [1.0]
    """

    target: Target
    sums: CellSums
    products: Array
    goes_first: bool

    def take(self, positions: Positions) -> Beside:
        """What was added up in these cells?"""
        return self._replace(sums=self.sums.take(positions), products=self.products[positions])


@dataclass(frozen=True, eq=False)
class Cells:
    """How many people are in each combination of group, confounders and mediators?

    >>> import pyarrow as pa
    >>> from causalfairness.tables import open_table
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = open_table(pa.table({"sex": ["M", "F", "M"], "hired": [1, 0, 0]}))
    >>> table.cells(model, "outcome").sums.rows.tolist()
    [1.0, 2.0]
    """

    frame: nw.DataFrame[Any]  # one row per cell: its values, in the library of the data
    keys: tuple[Column, ...]  # protected, then confounders, then mediators, one value per cell
    groups: tuple[GroupLabel, ...]
    group: Positions  # which of `groups`, per cell
    profile: Positions  # which combination of confounders and mediators, per cell, from 0
    stratum: Positions  # which combination of confounders, per cell, from 0
    sums: CellSums
    is_binary: bool
    target: Target
    weights: str | None
    account: RowAccount
    within: Within | None = None
    beside: Beside | None = None
    declared: Declared = NOTHING

    def __len__(self) -> int:
        return len(self.profile)

    @cached_property
    def fingerprint(self) -> str:
        """Which cell table is it, whatever engine counted it? Two measurements share one."""
        levels = [key.levels() for key in self.keys]
        numbers = [level.codes.astype(float) for level in levels]
        numbers += [self.sums.rows, *(part for _, sums in self._measured for part in sums.exact)]
        values = {key.name: level.values for key, level in zip(self.keys, levels, strict=True)}
        measured = [
            word for target, _ in self._measured for word in (target.column, str(target.value))
        ]
        measured.append(self.weights or "")
        measured += [str(self.within)] if self.within else []
        return identify_cells(values, measured, numbers)

    def pair(self, model: StandardFairnessModel) -> CellPair:
        """How do the two groups of this model fill the cells?"""
        role = members(self.groups, model, self.account.dropped)[self.group]
        pair = CellPair(self, model, np.flatnonzero(role != NEITHER), role[role != NEITHER])
        pair.check()
        return pair

    @property
    def _measured(self) -> list[tuple[Target, CellSums]]:
        """What was added up in this pass, in the order of the pass?"""
        own, other = (self.target, self.sums), self.beside
        if other is None:
            return [own]
        beside = other.target, other.sums
        return [beside, own] if other.goes_first else [own, beside]


@dataclass(frozen=True, eq=False)
class CellPair:
    """How do two groups fill the combinations of confounders and mediators?

    `index` holds the cells of the two groups and `group` their side, 0 or 1. A group that pools
    several values of the protected attribute has several cells of one profile.

    >>> import pyarrow as pa
    >>> from causalfairness.tables import open_table
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = open_table(pa.table({"sex": ["M", "F", "M"], "hired": [1, 0, 0]}))
    >>> table.cells(model, "outcome").pair(model).by_profile(np.array([1.0, 2.0])).tolist()
    [[2.0], [1.0]]
    """

    cells: Cells
    model: StandardFairnessModel
    index: Positions
    group: NDArray[np.int8]

    @cached_property
    def sums(self) -> CellSums:
        """What does each cell of the two groups add up to?"""
        return self.cells.sums.take(self.index)

    @cached_property
    def beside(self) -> Beside | None:
        """What was added up beside it?"""
        return None if self.cells.beside is None else self.cells.beside.take(self.index)

    @cached_property
    def profile(self) -> Positions:
        """Which profile does each cell have? Numbered from 0 among those in use."""
        return self._profiles[1]

    @cached_property
    def stratum(self) -> Positions:
        """Which stratum does each profile belong to? Sorted, numbered from 0."""
        found = self.cells.stratum[self.index[self._profiles[0]]]
        return np.unique(found, return_inverse=True)[1].reshape(-1)

    @cached_property
    def account(self) -> RowAccount:
        """Which rows were used, and which not?"""
        used = int(self.sums.rows.sum())
        outside = int(self.cells.sums.rows.sum()) - used
        whole = self.cells.account
        return replace(whole, used=used, outside=outside)

    def by_profile(self, values: Array) -> Array:
        """What do values per cell add up to, per group and profile? (2, profiles)"""
        profiles = len(self.stratum)
        at = self.group.astype(np.int64) * profiles + self.profile
        added = np.bincount(at, values, minlength=2 * profiles).astype(float)
        return added.reshape(2, profiles)

    def check(self) -> None:
        """Is there a gap to explain, and does each group weigh something?"""
        sums = self.sums
        check_filled(sums.w, self.group, self.model)
        filled = sums.w > 0
        mean = sums.wy[filled] / sums.w[filled]
        within = sums.w2y2[filled] - 2 * mean * sums.w2y[filled] + mean**2 * sums.w2[filled]
        same = np.ptp(mean) <= ROUNDING * np.abs(mean).max()
        if same and within.max() <= ROUNDING * sums.w2y2[filled].max():
            check_varies(mean[0], mean[0], self.cells.target)
        self._check_offset(sums)

    def _check_offset(self, sums: CellSums) -> None:
        """Sums of squares say nothing about variation that is tiny beside the values themselves."""
        mean = float(sums.wy.sum() / sums.w.sum())
        spread = float(sums.w2y2.sum() / sums.w2.sum() - (sums.w2y.sum() / sums.w2.sum()) ** 2)
        if mean**2 * np.finfo(float).eps > OFFSET * max(spread, 0.0):
            raise OutcomeError(
                f"the values of column {self.cells.target.column!r} lie around {mean:g} and vary "
                "too little beside that to be distinguished in sums; subtract a constant from the "
                "column first, which changes no effect"
            )

    def describe(self, profile: int) -> str:
        """Which values does this profile have, in words?"""
        cell = self.index[self._profiles[0][profile]]
        keys = self.cells.keys[len(self.model.protected_columns) :]
        values = ((key.name, key.take(np.array([cell])).levels().values[0]) for key in keys)
        return ", ".join(
            f"{name}={'missing' if value is None else shown_value(value)}" for name, value in values
        )

    def features(self, group: int) -> Any:
        """What does the audited model see of each profile, told that its group is `group`?"""
        frame = self.cells.frame[self.index[self._profiles[0]]]
        inside = self.index[self.group == group]
        check_one_value(self.cells.group[inside], group, self.model)
        example = np.full(len(frame), inside[0])
        names = self.model.protected_columns
        changed = [self.cells.frame[name][example].alias(name) for name in names]
        return frame.with_columns(*changed).to_native()

    @cached_property
    def _profiles(self) -> tuple[Positions, Positions]:
        """The first cell of each profile in use, and the profile of each cell."""
        found = self.cells.profile[self.index]
        _, first, profile = np.unique(found, return_index=True, return_inverse=True)
        return first, profile.reshape(-1)


def arrange(
    frame: nw.DataFrame[Any],
    keys: Sequence[Column],
    sums: CellSums,
    model: StandardFairnessModel,
    *,
    beside: Beside | None = None,
    **facts: Any,
) -> Cells:
    """Which group, profile and stratum does each counted cell have? Cells come out sorted."""
    protected = len(model.protected_columns)
    codes = [key.levels().codes for key in (*keys[protected:], *keys[:protected])]
    order = np.lexsort(codes[::-1])
    arranged = tuple(key.take(order) for key in keys)
    codes = [code[order] for code in codes]
    groups, group = label_groups(arranged[:protected])
    return Cells(
        frame=frame[order],
        keys=arranged,
        groups=groups,
        group=group,
        profile=_runs(codes[: len(keys) - protected], len(order)),
        stratum=_runs(codes[: len(model.confounders)], len(order)),
        sums=sums.take(order),
        beside=None if beside is None else beside.take(order),
        **facts,
    )


def _runs(codes: Sequence[Positions], length: int) -> Positions:
    """Number the runs of equal keys among sorted cells, from 0."""
    changes = np.zeros(length, dtype=bool)
    for code in codes:
        changes[1:] |= code[1:] != code[:-1]
    return np.cumsum(changes)
