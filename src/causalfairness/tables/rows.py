"""What do row-level estimators need? Arrays of the columns with a role.

Other groups' rows stay in the table: spreads have one coordinate per row of the whole table, so
that effects of different groups, or of outcome and prediction, can be combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError, WeightError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.columns import LARGEST, NOTHING, SMALLEST, Column, Declared, column_of
from causalfairness.tables.fingerprint import (
    Arrangement,
    Identity,
    arrange,
    digest_of,
    identify,
)
from causalfairness.tables.groups import (
    NEITHER,
    GroupLabel,
    check_filled,
    check_one_value,
    count_rows,
    label_groups,
    members,
)
from causalfairness.tables.missing import Missing, RowAccount, check_policy
from causalfairness.tables.source import select
from causalfairness.tables.target import Target, Within, check_varies

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """What is each person's group, confounders, mediators, outcome and weight?

    >>> import pyarrow as pa
    >>> from causalfairness.tables import open_table
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = open_table(pa.table({"sex": ["M", "F", "M"], "hired": [1, 0, 0]}))
    >>> table.rows(model, "outcome").pair(model).group.tolist()
    [1, 0, 0]
    """

    frame: nw.DataFrame[Any]
    columns: Mapping[str, Column]
    groups: tuple[GroupLabel, ...]
    group_of_row: Positions
    outcome: Array | None
    weights: Array | None
    kept: Mask
    missing: Mapping[str, int]
    identity: Identity
    target: Target | None
    aside: Mapping[str, int]  # complete rows that are not asked about, by what they have
    complete: Mask  # rows without missing values, asked about or not
    ties: tuple[str, ...]  # columns that only decide between rows that are alike in all others
    declared: Declared = NOTHING

    def arranged(self, among: Positions | None = None) -> Arrangement:
        """In which order do these rows come by what they hold, and the columns of a learner?"""
        told = (column for name, column in self.columns.items() if name not in self.ties)
        return arrange(told, [self.columns[name] for name in self.ties], among)

    @cached_property
    def arrangement(self) -> Arrangement:
        """In which order do all rows of the table come?"""
        return self.arranged()

    @cached_property
    def in_order(self) -> Positions:
        """Which rows are kept, in the order of their content?"""
        return self.arranged(np.flatnonzero(self.kept)).rows

    def places(self, index: Positions) -> Positions:
        """Where do these rows come among those that are kept?"""
        places = np.zeros(len(self.kept), dtype=np.int64)
        places[self.in_order] = np.arange(len(self.in_order))
        return places[index]

    def drawn(self, rows: Positions) -> Identity:
        """Which data is it, and to which of its rows, in this order, does what is drawn fall?"""
        return self.identity._replace(order=digest_of(rows))

    def pair(self, model: StandardFairnessModel) -> RowPair:
        """Which rows do the two groups of this model have, and with what values?"""
        role = members(self.groups, model)[self.group_of_row]
        index, columns = self.arranged(np.flatnonzero(self.kept & (role != NEITHER)))
        outcome = None if self.outcome is None else self.outcome[index]
        pair = RowPair(
            rows=self,
            model=model,
            index=index,
            group=role[index],
            columns=columns,
            confounders=self.encoded(model.confounders, index, columns),
            mediators=self.encoded(model.mediators, index, columns),
            outcome=outcome,
            weights=np.ones(len(index)) if self.weights is None else self.weights[index],
            account=self._account(role, index),
        )
        pair.check()
        return pair

    def encoded(self, names: Sequence[str], index: Positions, order: Sequence[str]) -> Array:
        """How do these columns look to a learner, in this order?"""
        return encode([self.columns[name] for name in order if name in names], index)

    def _account(self, role: NDArray[np.int8], index: Positions) -> RowAccount:
        lost = np.bincount(self.group_of_row[~self.complete], minlength=len(self.groups))
        return RowAccount(
            read=len(self.kept),
            used=len(index),
            outside=int(np.sum(self.kept & (role == NEITHER))),
            dropped=count_rows(self.groups, lost),
            missing={column: count for column, count in self.missing.items() if count},
            aside=self.aside,
        )


@dataclass(frozen=True, eq=False)
class RowPair:
    """What do the rows of two groups hold, ready for a learner?

    Rows, and columns of confounders and mediators, come in the order of their content (`arrange`),
    whatever order they were brought in. `index` places the rows in the whole table as it was
    brought; `weights` are 1 where none were given.

    >>> import pyarrow as pa
    >>> from causalfairness.tables import open_table
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = open_table(pa.table({"sex": ["M", "F", "M"], "hired": [1, 0, 0]}))
    >>> table.rows(model, "outcome").pair(model).outcome.tolist()
    [0.0, 0.0, 1.0]
    """

    rows: Rows
    model: StandardFairnessModel
    index: Positions
    columns: tuple[str, ...]  # of confounders, mediators and others, in the order of content
    group: NDArray[np.int8]
    confounders: Array
    mediators: Array
    outcome: Array | None
    weights: Array
    account: RowAccount

    def __len__(self) -> int:
        return len(self.index)

    @property
    def measured(self) -> Array:
        """What is the outcome? Only a model that is asked does without one."""
        assert self.outcome is not None
        return self.outcome

    def check(self) -> None:
        """Is there a gap to explain, and does each group weigh something?"""
        check_filled(self.weights, self.group, self.model)
        if self.outcome is not None and self.rows.target is not None:
            counted = self.outcome[self.weights > 0]
            check_varies(counted.min(), counted.max(), self.rows.target)

    @property
    def places(self) -> Positions:
        """Where do these rows come among all rows of the table, in the order of their content?"""
        return self.rows.arrangement.places[self.index]

    def without(self, confounder: str) -> RowPair:
        """What do the same rows hold, had nobody recorded this confounder?"""
        rest = tuple(name for name in self.model.confounders if name != confounder)
        model = replace(self.model, confounders=rest)
        return replace(
            self, model=model, confounders=self.rows.encoded(rest, self.index, self.columns)
        )

    @property
    def is_binary(self) -> bool:
        """Is the outcome only ever 0 or 1?"""
        return self.outcome is not None and bool(np.isin(self.outcome, (0.0, 1.0)).all())

    def scatter(self, values: Array) -> Array:
        """Where do these rows' values stand in the whole table? Other rows get 0."""
        whole = np.zeros((*values.shape[:-1], len(self.rows.kept)))
        whole[..., self.index] = values
        return whole

    def features(self, group: int | None = None) -> Any:
        """What does the audited model see, in the library of the data?

        With `group` 0 or 1 every row is told it belongs to that group; with None it is as it is.
        """
        columns = (*self.model.protected_columns, *self.model.confounders, *self.model.mediators)
        frame = select(self.rows.frame, columns)
        told = frame[self.index]
        if group is None:
            return told.to_native()
        inside = self.index[self.group == group]
        check_one_value(self.rows.group_of_row[inside], group, self.model)
        example = np.full(len(self.index), inside[0])
        changed = [frame[name][example].alias(name) for name in self.model.protected_columns]
        return told.with_columns(*changed).to_native()


def read_rows(
    frame: nw.DataFrame[Any],
    model: StandardFairnessModel,
    target: Target | None,
    missing: Missing,
    *,
    declared: Declared = NOTHING,
    within: Within | None = None,
    known_by: Sequence[str] = (),
    needed: Sequence[str] = (),
) -> Rows:
    """What do the role columns hold, row by row?

    Confounders and mediators that are `declared` codes are read as labels. Rows that are not
    `within` stay in the table but are not kept. The data is identified by the columns of the frame,
    or by those in `known_by`. Columns in `needed` must not be missing.
    """
    columns = {name: column_of(frame[name]) for name in frame.columns}
    for name in {*model.confounders, *model.mediators} & {*declared.categorical}:
        columns[name] = columns[name].as_codes()
    groups, group_of_row = label_groups([columns[name] for name in model.protected_columns])
    outcome = None if target is None else target.read(columns[target.column])
    weights = None if model.weights is None else read_weights(columns[model.weights])
    asked = [*([within.column] if within else []), *needed]
    absent = {name: columns[name].is_missing for name in (*_used(model, target), *asked)}
    counts = {name: int(mask.sum()) for name, mask in absent.items()}
    measured = [name for name in (target and target.column, model.weights, *asked) if name]
    check_policy(counts, missing, measured=measured)
    complete = np.ones(len(frame), dtype=bool)
    if missing == "drop":
        for mask in absent.values():
            complete &= ~mask
    kept = complete & within.holds(columns[within.column]) if within else complete
    unasked = int(complete.sum() - kept.sum())
    measures = (model.outcome, model.weights, model.prediction_column, *model.protected_columns)
    return Rows(
        frame=frame,
        columns=columns,
        groups=groups,
        group_of_row=group_of_row,
        outcome=outcome,
        weights=weights,
        kept=kept,
        missing=counts,
        identity=identify(columns[name] for name in known_by or columns),
        target=target,
        aside={within.others: unasked} if within and unasked else {},
        complete=complete,
        ties=tuple(name for name in measures if name is not None and name in columns),
        declared=declared,
    )


def encode(columns: Sequence[Column], index: Positions) -> Array:
    """How do these columns look to a learner? Numbers as they are, labels as indicators.

    Two labels make one indicator, more make one each; a missing label is a label. A missing
    number becomes the mean of the others, with an indicator that says so.

    >>> encode([Column("sex", None, np.array([0, 1, 0]), ("F", "M"))], np.arange(3)).tolist()
    [[0.0], [1.0], [0.0]]
    """
    parts = [part for column in columns for part in _encoded(column, index)]
    return np.column_stack(parts) if parts else np.empty((len(index), 0))


def _encoded(column: Column, index: Positions) -> list[Array]:
    if column.values is not None:
        values = column.values[index]
        if np.isinf(values).any():
            raise ColumnTypeError(
                f"column {column.name!r} holds infinite values; remove or cap them"
            )
        absent = np.isnan(values)
        if not absent.any():
            return [values]
        filled = np.where(absent, np.nanmean(values) if not absent.all() else 0.0, values)
        return [filled, absent.astype(float)]
    column.check_amounts()
    present, codes = np.unique(column.codes[index], return_inverse=True)
    first = 1 if len(present) == 2 else 0
    return [(codes == level).astype(float) for level in range(first, len(present))]


def read_weights(column: Column) -> Array:
    """How much does each row count?"""
    column.check_amounts()
    if column.values is None:
        raise WeightError(f"weights column {column.name!r} holds words; expected numbers")
    known = column.values[~column.is_missing]
    if known.size:
        check_weights(column.name, known.min(), known.max())
    return column.values


def check_weights(name: str, low: float, high: float) -> None:
    """Can rows count for numbers in this range?"""
    if low < 0 or np.isinf(high):
        raise WeightError(
            f"weights column {name!r} goes from {low:g} to {high:g}; expected finite numbers, none "
            "negative"
        )
    if high > LARGEST or 0 < high < SMALLEST:
        raise WeightError(
            f"weights column {name!r} goes up to {high:g}, beyond what squares can be computed "
            "of; divide all weights by their mean"
        )


def _used(model: StandardFairnessModel, target: Target | None) -> list[str]:
    """The columns this question reads: an outcome that is not asked about may have gaps."""
    asked = (target.column,) if target else ()
    weights = (model.weights,) if model.weights else ()
    return [*model.protected_columns, *model.confounders, *model.mediators, *asked, *weights]
