"""What is changed? The protected inputs, from their reference to their comparison values.

A level is a value (one per protected input, where there are several: a one-hot block, or an
intersection), or a `Shift` of what each row has. Level 0 is the reference. Rows that hold a level's
values are its group; where the protected input is continuous there are no groups, and everyone is
asked about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from causalfairness.errors import RoleError

if TYPE_CHECKING:
    from torch import Tensor

UNGROUPED = 2  # asked about, without a group
OUTSIDE = -1  # of another group, not asked about
Values = tuple[float, ...]


@dataclass(frozen=True)
class Shift:
    """What if the protected input were this much higher for everyone? For continuous inputs.

    >>> import numpy as np
    >>> import causalfairness as cf
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = cf.neural.effects(lambda X: 2 * X[:, 0], X, protected_index=0,
    ...                           mediator_indices=[], comparison=Shift(0.5))
    >>> round(found.total_effect.value, 9)
    1.0
    """

    by: float

    def __str__(self) -> str:
        return f"as it is {self.by:+g}" if self.by else "as it is"


Level = Values | Shift


@dataclass(frozen=True)
class Change:
    """Which inputs are changed, between which levels, and do rows form groups?

    >>> import torch
    >>> change = Change((0,), ((0.0,), (1.0,)), grouped=True)
    >>> rows = torch.tensor([[0.0, 5.0], [1.0, 6.0], [7.0, 7.0]])
    >>> change.groups(rows).tolist(), change.told(rows, 1)[:, 0].tolist()
    ([0, 1, -1], [1.0, 1.0, 1.0])
    """

    indices: tuple[int, ...]
    levels: tuple[Level, ...]
    grouped: bool

    def told(self, rows: Tensor, level: int) -> Tensor:
        """What would these rows be, were the protected inputs set to a level? A copy."""
        told = rows.clone()
        to = self.levels[level]
        for place, index in enumerate(self.indices):
            if isinstance(to, Shift):
                told[:, index] += to.by
            else:
                told[:, index] = to[place]
        return told

    def groups(self, rows: Tensor) -> Tensor:
        """Which level does each row hold, as it is stored?"""
        import torch

        code = torch.full((len(rows),), OUTSIDE, dtype=torch.int8, device=rows.device)
        if not self.grouped:
            return torch.full_like(code, UNGROUPED)
        held = rows if rows.is_floating_point() else rows.to(torch.float64)
        for level, values in enumerate(self.levels):
            assert not isinstance(values, Shift)
            same = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
            for index, value in zip(self.indices, values, strict=True):
                same &= held[:, index] == torch.tensor(value, dtype=held.dtype).item()
            code = torch.where(same, level, code)
        return code

    def missing(self, rows: Tensor) -> Tensor:
        """Does a protected input of any row hold no number?"""
        import torch

        return torch.stack([rows[:, index].isnan().any() for index in self.indices]).any()

    def named(self, level: int) -> str:
        """How is a level written?"""
        to = self.levels[level]
        if isinstance(to, Shift):
            return str(to)
        return ", ".join(f"{value:g}" for value in to)


def change_between(indices: tuple[int, ...], levels: Sequence[Any], continuous: bool) -> Change:
    """Between which levels are these inputs changed? As they were given, the reference first.

    >>> change_between((3,), [None, Shift(2.0)], continuous=False).grouped
    False
    """
    reference, *others = levels
    if any(isinstance(level, Shift) for level in others) and reference is None:
        reference = Shift(0.0)
    read = tuple(
        _level(level, default, indices)
        for level, default in zip((reference, *others), (0.0, *[1.0] * len(others)), strict=True)
    )
    shifts = [isinstance(level, Shift) for level in read]
    if any(shifts) != all(shifts):
        raise RoleError(
            "a Shift is measured from what each row has: leave reference out, or make it "
            "a Shift too; found a value and a Shift"
        )
    for at, level in enumerate(read):
        if level in read[:at]:
            raise RoleError(f"the level {_shown(level)} is there twice: nothing would change")
    return Change(indices, read, grouped=not (continuous or any(shifts)))


def _level(level: Any, default: float, indices: tuple[int, ...]) -> Level:
    if isinstance(level, Shift):
        if not math.isfinite(level.by):
            raise RoleError(f"a shift must be a number; found {level.by!r}")
        return level
    if level is None:
        level = default if len(indices) == 1 else ()
    values = (level,) if isinstance(level, Real) else tuple(level)
    numbers = all(isinstance(value, Real) and math.isfinite(value) for value in values)
    if len(values) != len(indices) or not numbers:
        raise RoleError(
            f"reference and comparison must give one number for each of the {len(indices)} "
            f"protected inputs {indices}, such as {tuple([0.0] * len(indices))}; found {values!r}"
        )
    return tuple(float(value) for value in values)


def _shown(level: Level) -> str:
    return str(level) if isinstance(level, Shift) else ", ".join(f"{v:g}" for v in level)
