"""What does the protected input do to a network's output? Effects as in methods §2.

    TE = mu[1,1,*] - mu[0,0,*],   NDE = mu[1,0,*] - mu[0,0,*],   NIE = mu[0,1,*] - mu[0,0,*]

where mu[i, j, k] is the mean output of group k when the network is told i and the mediators follow
j; 0 is the reference, 1 the comparison. The answers are kept row by row, and effects with their
standard errors over rows are worked out when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

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
from causalfairness.effects.world_means import ALL_WORLDS, Among, Told
from causalfairness.errors import GroupNotFoundError
from causalfairness.neural.change import OUTSIDE
from causalfairness.neural.passes import Codes

if TYPE_CHECKING:
    from causalfairness.neural.grouped import GroupedEffects

Array = NDArray[np.float64]
MAIN = ("total_effect", "natural_direct_effect", "natural_indirect_effect")
GIVEN = ("treatment_given_{}", "direct_01_given_{}", "indirect_01_given_{}")


@dataclass(frozen=True, eq=False)
class NetworkEffects:
    """What does the protected input do to a network's output? Made by `effects`.

    `outputs[i, j]` is what the network answers for each row, told i with mediators of j, and
    `group` the group of each row: 0, 1, 2 where there are no groups, -1 where it is not asked
    about. Effects of several networks on the same X can be subtracted.

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
    group: Codes
    basis: Basis
    assumptions: tuple[str, ...]

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

    def mean(self, told: Told, heard: Told, among: Among = "everyone") -> Effect:
        """What is mu[told, heard, among], the mean output in one world?"""
        name = f"mu[{told}, {heard}, {among}]"
        return self._effect(name, self.outputs[told, heard].astype(np.float64), among)

    @cached_property
    def world_means(self) -> WorldMeans:
        """What is the mean output in each of the twelve worlds of methods §2? Needs two groups."""
        means = [self.mean(*world) for world in ALL_WORLDS]
        values = np.array([mean.value for mean in means]).reshape(2, 2, 3)
        spreads = np.stack([mean.spread for mean in means]).reshape(2, 2, 3, -1)
        return WorldMeans(values, spreads, self.basis, frozenset(self.assumptions))

    @property
    def diagnostics(self) -> Diagnostics:
        """How much should this result be trusted?"""
        from causalfairness.tables import RowAccount

        outside = int((self.group == OUTSIDE).sum())
        rows = RowAccount(len(self.group), len(self.group) - outside, outside)
        return Diagnostics("neural.effects", rows, Overlap(), assumptions=self.assumptions)

    def decompose(self, convention: Convention = "sequential") -> Decomposition:
        """How much of the gap between the groups' outputs is direct, indirect or spurious?"""
        means = self.world_means
        gap = (means[1, 1, 1] - means[0, 0, 0]).named("total")
        estimate = Estimate(means, gap, self.diagnostics)
        return Decomposition(self.title, self.reference, self.comparison, convention, estimate)

    def table(self, level: float = 0.95) -> EffectTable:
        """What are the total, direct and indirect effects, among everyone and in each group?"""
        names = [*MAIN]
        for k in (0, 1):
            if (self.group == k).any():
                names += [name.format(k) for name in GIVEN]
        meanings = tuple(CONTRASTS[name].meaning for name in names)
        return EffectTable(tuple(map(self._contrast, names)), meanings, level=level)

    def among(self, rows: Any) -> NetworkEffects:
        """What are the effects among some of the rows? `rows` is a mask, one value per row.

        >>> import causalfairness as cf
        >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 4.0]])
        >>> found = cf.neural.effects(
        ...     lambda X: X[:, 0] * X[:, 1], X, protected_index=0, mediator_indices=[])
        >>> found.total_effect.value, found.among(X[:, 1] > 2).total_effect.value
        (2.5, 3.5)
        """
        given = np.asarray(rows)
        mask = given.astype(bool)
        if mask.shape != self.group.shape or not np.array_equal(mask, given):
            raise GroupNotFoundError(
                f"the mask holds {given.dtype} values with the shape {given.shape} for "
                f"{len(self.group)} rows; give True or False for each row"
            )
        return replace(self, group=np.where(mask, self.group, OUTSIDE).astype(np.int8))

    def within(self, *labels: Any) -> GroupedEffects:
        """What are the effects within groups of rows? Several labels make intersections.

        >>> import causalfairness as cf
        >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 3.0], [1.0, 3.0]])
        >>> found = cf.neural.effects(
        ...     lambda X: X[:, 0] * X[:, 1], X, protected_index=0, mediator_indices=[])
        >>> by_group = found.within(X[:, 1], ["a", "a", "b", "b"])
        >>> by_group[3.0, "b"].total_effect.value
        3.0
        """
        from causalfairness.neural.grouped import grouped

        return grouped(self, labels)

    def __str__(self) -> str:
        return "\n".join([self._headline, str(self.table()), *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        remarks = "".join(f"<li>{escape(line)}</li>" for line in self._remarks())
        title = f"<h4>{escape(self._headline)}</h4>"
        return f"{title}{self.table()._repr_html_()}<ul>{remarks}</ul>"

    @property
    def _headline(self) -> str:
        return f"{self.title} = {self.comparison} against {self.reference}"

    def _remarks(self) -> Iterator[str]:
        outside = int((self.group == OUTSIDE).sum())
        aside = f", {outside:,} of other groups left aside" if outside else ""
        yield f"rows: {len(self.group) - outside:,} used{aside}"
        yield from (f"assumes: {assumption}" for assumption in self.assumptions)

    def _contrast(self, name: str) -> Effect:
        """A change from one world to another among the same people."""
        (to, start) = CONTRASTS[name].terms
        by_row = np.subtract(self.outputs[to[:2]], self.outputs[start[:2]], dtype=np.float64)
        effect = self._effect(name, by_row, to[2])
        if abs(effect.value) <= self._rounding and np.abs(effect.spread).sum() <= self._rounding:
            return replace(effect, value=0.0, spread=np.zeros_like(effect.spread))
        return effect

    def _effect(self, name: str, by_row: Array, among: Among) -> Effect:
        share = self._shares(among)
        value = float(share @ by_row)
        by_row -= value
        by_row *= share
        return Effect(name, value, by_row, self.basis, frozenset(self.assumptions))

    def _shares(self, among: Among) -> Array:
        """What each row contributes to the mean among these people."""
        if among not in self._known_shares:
            inside = self.group != OUTSIDE if among == "everyone" else self.group == among
            if not inside.any():
                whom = {0: self.reference, 1: self.comparison, "everyone": "any value"}[among]
                raise GroupNotFoundError(
                    f"no row of {self.title} holds {whom}, so nothing can be said about such a "
                    "group. Where the protected input is continuous there is only everyone"
                )
            self._known_shares[among] = inside / np.count_nonzero(inside)
        return self._known_shares[among]

    @cached_property
    def _known_shares(self) -> dict[Among, Array]:
        return {}

    @cached_property
    def _rounding(self) -> float:
        """How large are differences that rounding alone makes?"""
        typical = np.abs(self.outputs[0, 0]).mean(dtype=np.float64)
        return float(np.finfo(self.outputs.dtype).eps * typical)
