"""What are the effects in each of several groups, with intervals that hold together?

Groups may be the levels of the protected input, or any others: given by labels, one per row, or by
several of them for intersections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Effect, EffectTable
from causalfairness.errors import GroupNotFoundError, MissingValuesError, TooFewRowsError
from causalfairness.inference import holm, simultaneous_quantile
from causalfairness.neural.change import OUTSIDE
from causalfairness.neural.result import MAIN, NetworkEffects

Array = NDArray[np.float64]
FEWEST = 2  # rows that have a standard error


@dataclass(frozen=True, eq=False)
class GroupedEffects:
    """What are the effects in each group? `refused` says which groups have none, and why.

    >>> import causalfairness as cf
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 3.0], [1.0, 3.0]])
    >>> found = cf.neural.effects(
    ...     lambda X: X[:, 0] * X[:, 1], X, protected_index=0, mediator_indices=[])
    >>> by_group = found.within(["low", "low", "high", "high"])
    >>> by_group["high"].total_effect.value
    3.0
    >>> by_group.table().names[0]
    'high: total_effect'
    """

    by_group: Mapping[Any, NetworkEffects]
    refused: Mapping[Any, str]
    seed: int = 0

    def table(self, level: float = 0.95) -> EffectTable:
        """What are all groups' effects, with intervals that hold together and p-values by Holm?"""
        effects = [
            getattr(found, name).named(f"{_spelled(group)}: {name}")
            for group, found in self.by_group.items()
            for name in MAIN
        ]
        reach = simultaneous_quantile(_small(effects), level, np.random.default_rng(self.seed))
        adjusted = holm([effect.p_value for effect in effects])
        return EffectTable(
            tuple(effects), level=level, reach=reach, adjusted=tuple(adjusted.tolist())
        )

    def __getitem__(self, group: Any) -> NetworkEffects:
        if group not in self.by_group:
            why = self.refused.get(group, f"there are {', '.join(map(repr, self.by_group))}")
            raise KeyError(f"no effects of group {group!r}: {why}")
        return self.by_group[group]

    def __len__(self) -> int:
        return len(self.by_group)

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self._left_out()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        refused = "".join(f"<li>{escape(line)}</li>" for line in self._left_out())
        return self.table()._repr_html_() + (f"<ul>{refused}</ul>" if refused else "")

    def _left_out(self) -> list[str]:
        return [f"left out: {_spelled(group)}: {why}" for group, why in self.refused.items()]


def grouped(found: NetworkEffects, labels: Sequence[Any]) -> GroupedEffects:
    """What are the effects within each group of rows? Groups without a standard error have none."""
    columns = [_column(label) for label in labels]
    wrong = [column.shape for column in columns if column.shape != found.group.shape]
    if wrong or not columns:
        raise GroupNotFoundError(
            f"labels have the shape {wrong[0] if wrong else ()} for {len(found.group)} rows; give "
            "one label per row"
        )
    groups, place = _groups(columns)
    by_group, refused = {}, {}
    for at, group in enumerate(groups):
        inside = place == at
        rows = int((inside & (found.group != OUTSIDE)).sum())
        if rows < FEWEST:
            refused[group] = f"too few rows for a standard error ({rows})"
        else:
            by_group[group] = found.among(inside)
    if not by_group:
        raise TooFewRowsError(f"no group has {FEWEST} rows or more; make larger groups")
    return GroupedEffects(by_group, refused)


def _column(labels: Any) -> NDArray[Any]:
    """Labels as numpy reads them, from any device; a missing one is no group and is refused."""
    column = np.asarray(labels.detach().cpu() if hasattr(labels, "detach") else labels)
    missing = sum(map(_is_missing, column.ravel().tolist())) if column.dtype.kind in "fO" else 0
    if missing:
        raise MissingValuesError(
            f"labels are missing for {missing:,} of {column.size:,} rows, which belong to no group "
            "then; give them a label of their own, or leave them out of X"
        )
    return column


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def _groups(columns: list[NDArray[Any]]) -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct labels, tuples where there are several columns, and the place of each row's."""
    levels, codes = zip(
        *(np.unique(column, return_inverse=True) for column in columns), strict=True
    )
    sizes = tuple(map(len, levels))
    flat, place = np.unique(np.ravel_multi_index(codes, sizes), return_inverse=True)
    met = [np.unravel_index(code, sizes) for code in flat]
    spelled = [
        tuple(level[at : at + 1].tolist()[0] for level, at in zip(levels, ats, strict=True))
        for ats in met
    ]
    return [group[0] if len(columns) == 1 else group for group in spelled], place


def _spelled(group: Any) -> str:
    parts = group if isinstance(group, tuple) else (group,)
    return ", ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in parts)


def _small(effects: list[Effect]) -> Array:
    """Short spreads with the same covariances: one coordinate per effect, whatever the rows."""
    covariance = np.array([[one.covariance(other) for other in effects] for one in effects])
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
