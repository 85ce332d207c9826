"""What is changed? The protected inputs, from their reference to their comparison values.

A level is a value (one per protected input of a one-hot block or an intersection), or a `Shift` of
what each row has. Level 0 is the reference. Rows that hold a level's values are its group; where
the protected input is continuous there are no groups, and everyone is asked about.
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

MISSING = 3  # it cannot be said which
UNGROUPED = 2  # asked about, without a group
OUTSIDE = -1  # of another group, not asked about


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


Level = tuple[float, ...] | Shift


@dataclass(frozen=True)
class Change:
    """Which inputs are changed, between which levels, and do rows form groups?"""

    indices: tuple[int, ...]
    levels: tuple[Level, ...]
    grouped: bool

    def told(self, rows: Tensor, level: int) -> Tensor:
        """What would these rows be, were the protected inputs set to a level? A copy."""
        told, to = rows.clone(), self.levels[level]
        for place, index in enumerate(self.indices):
            told[:, index] = told[:, index] + to.by if isinstance(to, Shift) else to[place]
        return told

    def groups(self, rows: Tensor) -> Tensor:
        """Which level does each row hold, as it is stored?"""
        import torch

        outside = OUTSIDE if self.grouped else UNGROUPED
        code = torch.full((len(rows),), outside, dtype=torch.int8, device=rows.device)
        held = rows if rows.is_floating_point() else rows.to(torch.float64)
        for level, values in enumerate(self.levels):
            if self.grouped and not isinstance(values, Shift):
                same = torch.ones_like(code, dtype=torch.bool)
                for index, value in zip(self.indices, values, strict=True):
                    same &= held[:, index] == torch.tensor(value, dtype=held.dtype).item()
                code = torch.where(same, level, code)
        for index in self.indices:
            code = torch.where(held[:, index].isnan(), MISSING, code)
        return code


def change_between(indices: tuple[int, ...], levels: Sequence[Any], continuous: bool) -> Change:
    """Between which levels are these inputs changed? As they were given, the reference first."""
    reference, *others = levels
    if reference is None and any(isinstance(level, Shift) for level in others):
        reference = Shift(0.0)
    read = (_level(reference, 0.0, indices), *(_level(level, 1.0, indices) for level in others))
    shifts = [isinstance(level, Shift) for level in read]
    if any(shifts) != all(shifts):
        raise RoleError(
            "a Shift is measured from what each row has: leave reference out, or make it "
            "a Shift too; found a value and a Shift"
        )
    for at, level in enumerate(read):
        if level in read[:at]:
            raise RoleError(f"the level {written(level)} is there twice: nothing would change")
    return Change(indices, read, grouped=not (continuous or any(shifts)))


def written(level: Level) -> str:
    """How is a level written?"""
    return str(level) if isinstance(level, Shift) else ", ".join(f"{v:g}" for v in level)


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
