"""What do the columns of a graph hold, row by row? Read for fitting, and again for new rows.

New rows may lack columns that no other moved column needs: the outcome, above all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from causalfairness.adaptation.learner import Array
from causalfairness.adaptation.plan import Plan
from causalfairness.errors import MissingValuesError, RoleError
from causalfairness.scm.domain import Domain, read_domain
from causalfairness.tables import Column
from causalfairness.tables.frames import FrameRows, column_from, frame_rows
from causalfairness.tables.source import open_frame

Values = Mapping[str, Array]


class Read(NamedTuple):
    """Which rows were brought, and what do the columns that matter hold?"""

    rows: FrameRows
    domains: Mapping[str, Domain]
    values: Values


def read_new(data: Any, plan: Plan) -> Read:
    """What do rows hold that an adapter is to be fitted on?"""
    rows = _rows(data, plan, aligned=False)
    there = [name for name in plan.columns if name in rows.frame.columns]
    read = {name: read_domain(rows, name) for name in there}
    domains = {name: domain for name, (domain, _) in read.items()}
    return Read(rows, domains, {name: values for name, (_, values) in read.items()})


def read_again(data: Any, plan: Plan, domains: Mapping[str, Domain]) -> Read:
    """What do rows hold that a fitted adapter is to move? Unknown labels are refused."""
    rows = _rows(data, plan, aligned=True)
    values = {
        name: domains[name].encode(rows.read(name))
        for name in plan.columns
        if name in domains and name in rows.frame.columns and name not in plan.protected
    }
    for name, column in values.items():
        domains[name].check_present(column)
    return Read(rows, domains, values)


def outcome_numbers(rows: FrameRows, outcome: str, y: Any) -> Array:
    """Which number is the outcome of each row? Of two words the later one counts as 1."""
    column = rows.read(outcome) if y is None else column_from(outcome, y)
    if y is not None and rows.kept is not None:
        column = column.take(rows.kept)
    refuse_missing(column)
    if column.values is not None:
        return column.values
    if len(column.labels) > 2:
        raise RoleError(
            f"the outcome {outcome!r} has {len(column.labels)} unordered labels, so categories "
            "cannot be ordered by its mean; give the categories an order of their own (a ranked "
            "categorical), or name a numeric outcome"
        )
    return column.codes.astype(np.float64)


def _rows(data: Any, plan: Plan, *, aligned: bool) -> FrameRows:
    """The frame; everything that a column needs which is there must be there too."""
    present = {*open_frame(data).collect_schema().names()}
    needed = [
        name
        for move in plan.moves
        if move.column in present
        for name in (move.column, *move.causes)
    ]
    columns = [*plan.protected, *needed]
    rows = frame_rows(data, columns, unweighted="adaptation", aligned=aligned)
    for name in dict.fromkeys(needed):
        refuse_missing(rows.read(name))
    return rows


def refuse_missing(column: Column, why: str = "adaptation needs the whole row") -> None:
    """Is every value there? Else the column is refused by its name, and why."""
    absent = int(column.is_missing.sum())
    if absent:
        raise MissingValuesError(
            f"column {column.name!r} has {absent:,} missing values, and {why}; drop these rows or "
            "complete the data first"
        )
