"""What does an intervention set each row to?

`do` maps nodes to one value for everyone, to a mapping from old to new values (rows with other
values stay as they are), or to one value per row. Values must be ones that the model knows: words
and two-valued numbers must have been seen, and whole numbers stay whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import InterventionError
from causalfairness.graph import CausalGraph
from causalfairness.scm.domain import Domain, nearest
from causalfairness.tables.frames import column_from
from causalfairness.tables.groups import canonical, shown_value

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Intervention:
    """What is set, for all rows? Made by `read_intervention`."""

    same: Mapping[str, float]
    changes: Mapping[str, tuple[Array, Array]]  # old and new values, old ones sorted
    per_row: Mapping[str, Array]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Which nodes are set?"""
        return (*self.same, *self.changes, *self.per_row)

    def take(self, rows: NDArray[np.intp]) -> Intervention:
        """What is set for these rows?"""
        per_row = {node: values[rows] for node, values in self.per_row.items()}
        return replace(self, per_row=per_row)

    def settle(self, observed: Mapping[str, Array], part: slice) -> dict[str, Array]:
        """Which values do these rows get? `observed` holds these rows only."""
        rows = part.stop - part.start
        settled = {node: np.full(rows, value) for node, value in self.same.items()}
        for node, (old, new) in self.changes.items():
            at = np.minimum(np.searchsorted(old, observed[node]), len(old) - 1)
            settled[node] = np.where(old[at] == observed[node], new[at], observed[node])
        return settled | {node: values[part] for node, values in self.per_row.items()}


def read_intervention(
    do: Any, graph: CausalGraph, domains: Mapping[str, Domain], rows: int
) -> Intervention:
    """What is to be set?

    >>> graph = CausalGraph.parse("sex -> pay")
    >>> domains = {"sex": Domain("sex", labels=("F", "M")), "pay": Domain("pay")}
    >>> read_intervention({"sex": {"F": "M"}}, graph, domains, 3).nodes
    ('sex',)
    """
    same, changes, per_row = {}, {}, {}
    for node, value in do.items():
        domain = domains[node]
        if isinstance(value, Mapping):
            changes[node] = _change(value, domain)
        elif _is_one(value):
            same[node] = _number(value, domain)
        else:
            per_row[node] = _rows(value, domain, rows)
    return Intervention(same, changes, per_row)


def check_nodes(do: Any, graph: CausalGraph) -> tuple[str, ...]:
    """Which nodes are to be set? Names that are not in the graph are refused.

    >>> check_nodes({"sex": "F"}, CausalGraph.parse("sex -> pay"))
    ('sex',)
    """
    if not isinstance(do, Mapping) or not do:
        raise InterventionError(
            f"do is {do!r}; expected the nodes to set and their values, such as "
            f"do={{{graph.nodes[0]!r}: ...}}"
        )
    nodes = tuple(do)
    graph.descendants(nodes)
    return nodes


def _is_one(value: Any) -> bool:
    return isinstance(value, str) or not hasattr(value, "__len__") or np.ndim(value) == 0


def _change(change: Mapping[Any, Any], domain: Domain) -> tuple[Array, Array]:
    if not change:
        raise InterventionError(f"do maps no value of {domain.name!r} to another: {{}}")
    pairs = sorted((_number(old, domain), _number(new, domain)) for old, new in change.items())
    old, new = np.array(pairs).T
    return old, new


def _rows(values: Any, domain: Domain, rows: int) -> Array:
    if len(values) != rows:
        raise InterventionError(
            f"do gives {len(values):,} values for {domain.name!r}, but there are {rows:,} rows; "
            "give one value per row, or one for all"
        )
    column = column_from(domain.name, values)
    if column.values is not None and not domain.is_categorical:
        sound = np.isfinite(column.values)
        if domain.integers:
            sound &= column.values == np.rint(column.values)
        for value in column.values[~sound][:1]:
            _number(float(value), domain)  # refuses it
        return column.values
    levels = column.levels()
    known = [_number(value, domain) for value in levels.values]
    return np.array(known, dtype=np.float64)[levels.codes]


def _number(value: Any, domain: Domain) -> float:
    """How does this value stand in arrays? Values the model does not know are refused."""
    where = f"do sets {domain.name!r} to {value!r}"
    if value is None:
        raise InterventionError(f"{where}: a missing value cannot be set")
    wanted = canonical(value)
    if domain.labels:
        if not isinstance(wanted, str) or wanted not in domain.labels:
            raise InterventionError(
                f"{where}, which was not there when the model was fitted; "
                f"{nearest(value, domain.labels)}"
            )
        return float(domain.labels.index(wanted))
    if not isinstance(wanted, float) or not np.isfinite(wanted):
        raise InterventionError(f"{where}, but {domain.name!r} holds numbers; give a finite number")
    if domain.is_categorical and wanted not in domain.levels:
        listed = " and ".join(map(shown_value, domain.levels))
        raise InterventionError(f"{where}, but it is only ever {listed}")
    if domain.integers and wanted != round(wanted):
        raise InterventionError(
            f"{where}, but {domain.name!r} holds integers; give a whole number, or store the "
            "column as floats"
        )
    return wanted


def check_count(count: Any, name: str) -> None:
    """Is this a number of rows or draws?"""
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise InterventionError(f"{name} is {count!r}; expected a whole number of at least 1")
