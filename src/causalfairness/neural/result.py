"""What was found about a network? Effects as in methods §2, among everyone and within groups.

The answers are kept row by row, and effects with their standard errors over rows are worked out
when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import (
    Basis,
    Decomposition,
    Diagnostics,
    Effect,
    EffectTable,
    Estimate,
    Overlap,
    WorldMeans,
)
from causalfairness.effects.contrasts import CONTRASTS, Convention
from causalfairness.effects.table import as_section
from causalfairness.effects.world_means import ALL_WORLDS, Among, Told
from causalfairness.errors import GroupNotFoundError, MissingValuesError, TooFewRowsError
from causalfairness.inference import holm, simultaneous_quantile
from causalfairness.neural.change import OUTSIDE
from causalfairness.neural.fit import Sure

MAIN = ("total_effect", "natural_direct_effect", "natural_indirect_effect")
GIVEN = ("treatment_given_{}", "direct_01_given_{}", "indirect_01_given_{}")
FEWEST = 2  # rows that have a standard error


@dataclass(frozen=True, eq=False)
class NetworkEffects:
    """What does the protected input do to a network's output? Made by `effects`.

    `outputs[i, j]` is what the network answers for each row, told i with mediators of j, and
    `group` the group of each row: 0, 1, 2 where there are no groups, -1 where it is not asked
    about. `sure` tells what spreads hold of a fitted mediator model. Effects of several networks on
    the same X can be subtracted.

    >>> import torch
    >>> import causalfairness as cf
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(np.float32)
    >>> found = cf.neural.effects(torch.nn.Linear(2, 1), X, protected_index=0, mediator_indices=[])
    >>> found.table().names[:3]
    ('total_effect', 'natural_direct_effect', 'natural_indirect_effect')
    >>> found.natural_indirect_effect.value
    0.0
    """

    title: str
    reference: str
    comparison: str
    outputs: NDArray[Any]  # (2, 2, n)
    group: NDArray[np.int8]
    basis: Basis
    assumptions: tuple[str, ...]
    sure: Sure

    @property
    def total_effect(self) -> Effect:
        """How much does the output change, with all that follows?"""
        return self._contrast("total_effect")

    @property
    def natural_direct_effect(self) -> Effect:
        """How much does it change, with the mediators as they are under the reference?"""
        return self._contrast("natural_direct_effect")

    @property
    def natural_indirect_effect(self) -> Effect:
        """How much does it change through the mediators alone?"""
        return self._contrast("natural_indirect_effect")

    def rows_among(self, among: Among) -> NDArray[np.bool_]:
        """Which rows are these people? There must be some."""
        inside = self.group != OUTSIDE if among == "everyone" else self.group == among
        if not inside.any():
            whom = {0: self.reference, 1: self.comparison, "everyone": "any value"}[among]
            raise GroupNotFoundError(
                f"no row of {self.title} holds {whom}. Give reference and comparison as X has "
                "them; where the protected input is continuous there is only everyone, and "
                "continuous=True asks about all rows"
            )
        return np.asarray(inside)

    def mean(self, told: Told, heard: Told, among: Among = "everyone") -> Effect:
        """What is mu[told, heard, among], the mean output in one world?"""
        name = f"mu[{told}, {heard}, {among}]"
        moved = None if self.sure.fit is None else self.sure.fit.by_row[told, heard]
        return self._effect(name, self.outputs[told, heard].astype(np.float64), moved, among)

    @cached_property
    def world_means(self) -> WorldMeans:
        """What is the mean output in each of the twelve worlds of methods §2? Needs two groups."""
        means = [self.mean(*world) for world in ALL_WORLDS]
        values = np.array([mean.value for mean in means]).reshape(2, 2, 3)
        spreads = np.stack([mean.spread for mean in means]).reshape(2, 2, 3, -1)
        return WorldMeans(
            *(values, spreads, self.basis, frozenset(self.assumptions)),
            freedom=self.sure.freedom,
            rows_alone=self.sure.rows_alone,
        )

    @property
    def diagnostics(self) -> Diagnostics:
        """How much should this result be trusted?"""
        from causalfairness.tables import RowAccount

        used = int((self.group != OUTSIDE).sum())
        rows = RowAccount(len(self.group), used, len(self.group) - used)
        return Diagnostics("neural.effects", rows, Overlap(), assumptions=self.assumptions)

    def decompose(self, convention: Convention = "sequential") -> Decomposition:
        """How much of the gap between the groups' outputs is direct, indirect or spurious?"""
        means = self.world_means
        gap = (means[1, 1, 1] - means[0, 0, 0]).named("total")
        estimate = Estimate(means, gap, self.diagnostics)
        return Decomposition(self.title, self.reference, self.comparison, convention, estimate)

    def table(self, level: float = 0.95) -> EffectTable:
        """What are the total, direct and indirect effects, among everyone and in each group?"""
        held = [k for k in (0, 1) if (self.group == k).any()]
        names = [*MAIN, *(name.format(k) for k in held for name in GIVEN)]
        meanings = tuple(CONTRASTS[name].meaning for name in names)
        return EffectTable(tuple(map(self._contrast, names)), meanings, level=level)

    def within(self, *labels: Any) -> GroupedEffects:
        """What are the effects within groups of rows? Several labels make intersections."""
        columns = [_column(column, len(self.group)) for column in labels]
        rows = columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]
        places = {group: at for at, group in enumerate(sorted({*rows}))}
        place = np.array([places[group] for group in rows])
        by_group, refused = {}, {}
        for group, at in places.items():
            among = replace(self, group=np.where(place == at, self.group, OUTSIDE).astype(np.int8))
            inside = np.count_nonzero(among.group != OUTSIDE)
            if inside < FEWEST:
                refused[group] = f"too few rows for a standard error ({inside})"
            else:
                by_group[group] = among
        if not by_group:
            raise TooFewRowsError(f"no group has {FEWEST} rows or more; make larger groups")
        return GroupedEffects(by_group, refused)

    def __str__(self) -> str:
        return "\n".join([self._headline, str(self.table()), *self._remarks])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section(self._headline, self.table()._repr_html_(), self._remarks)

    @property
    def _headline(self) -> str:
        return f"{self.title} = {self.comparison} against {self.reference}"

    @property
    def _remarks(self) -> list[str]:
        rows = self.diagnostics.rows
        aside = f", {rows.outside:,} of other groups left aside" if rows.outside else ""
        assumed = (f"assumes: {assumption}" for assumption in self.assumptions)
        return [f"rows: {rows.used:,} used{aside}", *assumed]

    def _contrast(self, name: str) -> Effect:
        """A change from one world to another among the same people."""
        (to, start) = CONTRASTS[name].terms
        by_row = np.subtract(self.outputs[to[:2]], self.outputs[start[:2]], dtype=np.float64)
        fit = self.sure.fit
        moved = None if fit is None else fit.by_row[to[:2]] - fit.by_row[start[:2]]
        effect = self._effect(name, by_row, moved, to[2])
        if abs(effect.value) <= self._rounding and np.abs(effect.spread).sum() <= self._rounding:
            return effect.vanished()
        return effect

    def _effect(
        self,
        name: str,
        by_row: NDArray[np.float64],
        moved: NDArray[Any] | None,
        among: Among,
    ) -> Effect:
        """A mean over the rows among these people, and what each row contributes to it.

        `moved` tells how `by_row` moves with what was fitted.
        """
        inside = self.rows_among(among)
        share = inside / np.count_nonzero(inside)
        value = float(share @ by_row)
        by_row -= value
        by_row *= share
        sure, spread = self.sure, by_row
        if sure.fit is not None and moved is not None:
            spread = sure.fit.spread(by_row, moved, inside)
        return Effect(
            *(name, value, spread, self.basis, frozenset(self.assumptions)),
            freedom=sure.freedom,
            rows_alone=sure.rows_alone,
        )

    @cached_property
    def _rounding(self) -> float:
        """How large are differences that rounding alone makes?"""
        typical = np.abs(self.outputs[0, 0]).mean(dtype=np.float64)
        return float(np.finfo(self.outputs.dtype).eps * typical)


@dataclass(frozen=True, eq=False)
class GroupedEffects:
    """What are the effects in each group? `refused` says which groups have none, and why.

    Groups may be the levels of the protected input, or any others. The intervals of their table
    hold together, and its p-values are adjusted after Holm.

    >>> import causalfairness as cf
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 3.0], [1.0, 3.0]])
    >>> found = cf.neural.effects(
    ...     lambda X: X[:, 0] * X[:, 1], X, protected_index=0, mediator_indices=[])
    >>> by_group = found.within(X[:, 1], ["a", "a", "b", "b"])
    >>> by_group[3.0, "b"].total_effect.value
    3.0
    >>> by_group.table().names[0]
    '1, a: total_effect'
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
        covariance = np.array([[one.covariance(other) for other in effects] for one in effects])
        values, vectors = np.linalg.eigh(covariance)
        spreads = vectors * np.sqrt(np.maximum(values, 0.0))  # short ones, whatever the rows
        reach = simultaneous_quantile(spreads, level, np.random.default_rng(self.seed))
        adjusted = tuple(holm([effect.p_value for effect in effects]).tolist())
        return EffectTable(tuple(effects), level=level, reach=reach, adjusted=adjusted)

    def __getitem__(self, group: Any) -> NetworkEffects:
        if group not in self.by_group:
            why = self.refused.get(group, f"there are {', '.join(map(repr, self.by_group))}")
            raise KeyError(f"no effects of group {group!r}: {why}")
        return self.by_group[group]

    def __len__(self) -> int:
        return len(self.by_group)

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self._left_out])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section("", self.table()._repr_html_(), self._left_out)

    @property
    def _left_out(self) -> list[str]:
        return [f"left out: {_spelled(group)}: {why}" for group, why in self.refused.items()]


def _column(labels: Any, rows: int) -> list[Any]:
    """Labels, as numpy reads them from any device; a missing one is no group and is refused."""
    column = np.asarray(labels.detach().cpu() if hasattr(labels, "detach") else labels)
    if column.shape != (rows,):
        raise GroupNotFoundError(
            f"labels have the shape {column.shape} for {rows} rows; give one label per row"
        )
    found: list[Any] = column.tolist()
    missing = sum(x is None or type(x).__name__ == "NAType" or x != x for x in found)
    if missing:
        raise MissingValuesError(
            f"labels are missing for {missing:,} of {rows:,} rows, which belong to no group then; "
            "give them a label of their own, or leave them out of X"
        )
    return found


def _spelled(group: Any) -> str:
    parts = group if isinstance(group, tuple) else (group,)
    return ", ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in parts)
