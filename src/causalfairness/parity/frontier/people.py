"""Who is compared, and with what outcome? The rows of the two groups, ready for any predictor.

The protected columns are written as 0 (reference group) and 1 (comparison group), whatever they
were, and the outcome as a number: so a group may pool several values, and any model can take them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MissingValuesError, OutcomeError, RoleError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.tables import Column, RowAccount, add_column, only_columns
from causalfairness.tables.fingerprint import arrange
from causalfairness.tables.frames import FrameRows, frame_rows
from causalfairness.tables.groups import COMPARISON, NEITHER, Members, label_groups, members
from causalfairness.tables.source import open_frame
from causalfairness.tables.target import target_of

Array = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class People:
    """Whose rows are they? `as_brought` has the groups' own names, `coded` 0 and 1."""

    model: StandardFairnessModel
    graph: CausalGraph
    as_brought: Any
    coded: Any
    group: Members
    outcome: Array
    account: RowAccount
    categorical: tuple[str, ...] = ()  # columns whose numbers are codes

    @property
    def is_binary(self) -> bool:
        """Is the outcome a yes or no?"""
        return bool(np.isin(self.outcome, (0.0, 1.0)).all())

    @property
    def features(self) -> tuple[str, ...]:
        """What may a predictor see, the group aside?"""
        return (*self.model.confounders, *self.model.mediators)

    def rows(self, index: Positions) -> Any:
        """Which rows are these, group and outcome as numbers?"""
        return FrameRows(self.coded).frame[index].to_native()


def read_people(data: Any, model: StandardFairnessModel, graph: CausalGraph | None) -> People:
    """Who is compared? Rows of neither group are left aside and counted.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", mediators=["pay"], outcome="hired")
    >>> rows = pa.table({"sex": ["M", "F", "X"], "pay": [1, 2, 3], "hired": [0, 1, 1]})
    >>> people = read_people(rows, model, None)
    >>> people.coded.to_pylist(), str(people.account)
    ([{'sex': 0, 'pay': 1, 'hired': 0.0}, {'sex': 1, 'pay': 2, 'hired': 1.0}],
     '3 rows read, 2 used, 1 of other groups left aside')
    """
    if model.outcome is None:
        raise RoleError(
            "predictors are trained on an outcome, and the model names none; give outcome=..."
        )
    model = replace(model, prediction=None)
    graph = model.to_graph() if graph is None else CausalGraph.of(graph)
    _check_roles(model, graph)
    outcome, protected = str(model.outcome), model.protected_columns
    after, present = graph.descendants(outcome), open_frame(data).collect_schema().names()
    kept = [name for name in present if name in graph.nodes and name not in after]
    rows = frame_rows(data, [*model.role_columns, *kept], unweighted="adaptation")
    _refuse_missing(rows, protected)  # nobody knows whether such a row belongs to the groups
    groups, of_row = label_groups([rows.read(name) for name in protected])
    role = members(groups, model)[of_row]
    there = np.flatnonzero(role != NEITHER)
    told = [rows.read(name) for name in kept if name not in (*protected, outcome)]
    there = arrange(
        told, [rows.read(outcome), Column.numbers("group", role.astype(float))], there
    ).rows
    frame = FrameRows(only_columns(rows.frame[there], kept), rows.categorical)
    _refuse_missing(frame, kept)
    numbers = target_of(model, "outcome").read(frame.read(outcome))
    if np.ptp(numbers) == 0:
        raise OutcomeError(f"the outcome {outcome!r} is {numbers[0]:g} for everyone in both groups")
    coded = with_values(frame.native, outcome, numbers.tolist())
    for name in protected:
        coded = with_values(coded, name, (role[there] == COMPARISON).astype(int).tolist())
    account = RowAccount(read=len(role), used=len(there), outside=len(role) - len(there))
    if rows.account is not None:
        account = replace(rows.account, used=len(there), outside=account.outside)
    codes = tuple(name for name in rows.categorical if name in kept)
    return People(model, graph, frame.native, coded, role[there], numbers, account, codes)


def with_values(native: Any, name: str, values: Sequence[Any]) -> Any:
    """What is this frame with other values in one column, which keeps its name and its place?"""
    whole, called = add_column(native, values, name=name)
    frame = FrameRows(whole).frame
    order = frame.columns[:-1]
    return only_columns(frame.with_columns(frame[called].alias(name)), order)


def _check_roles(model: StandardFairnessModel, graph: CausalGraph) -> None:
    """Do model and graph mean the same?"""
    if model.weights is not None:
        raise RoleError(
            f"rows count by {model.weights!r}, which adaptation cannot take into account; leave "
            "weights out of the model"
        )
    graph.parents(model.role_columns)  # refuses what is not in the graph
    caused = graph.descendants(model.protected_columns)
    for role, columns, wrong in (
        ("confounder", model.confounders, set(caused)),
        ("mediator", model.mediators, set(graph.nodes).difference(caused)),
    ):
        for column in columns:
            if column in wrong:
                does = "causes it" if role == "confounder" else "does not lead to it"
                raise RoleError(
                    f"{column!r} is a {role} of the model, but in the graph the protected "
                    f"attribute {does}; correct one of the two"
                )
    if not (model.confounders or model.mediators):
        raise RoleError(
            "the model names neither confounders nor mediators, so there is nothing to predict "
            "from; give some"
        )


def _refuse_missing(frame: FrameRows, names: Sequence[str]) -> None:
    for name in names:
        if absent := int(frame.read(name).is_missing.sum()):
            raise MissingValuesError(
                f"column {name!r} has {absent:,} missing values, and adaptation needs the whole "
                "row; drop these rows or complete the data first"
            )
