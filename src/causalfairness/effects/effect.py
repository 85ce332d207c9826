"""How large is an effect, and how sure can we be?

An `Effect` is a value and a *spread*: a vector with `standard_error = ||spread||` and
`covariance(e1, e2) = <spread1, spread2>`. Influence values divided by n, pieces per cell, and
centred replicates divided by sqrt(B - 1) are all spreads. Adding effects adds spreads, so the
standard error of any contrast accounts for the correlation of its parts and no contrast needs a
variance formula of its own.

The coordinates of a spread mean something only on their `Basis`; effects of different bases
refuse to combine. Some coordinates belong to one measurement alone: these are `blocks`, by name,
and an effect that does not name a block has zeros there.

An interval is centered at `value + correction`. The correction allows for rare outcomes (methods
§2.1): it is linear in the effects, as the value is, and moves nothing but interval and tests.

refuse to combine. A spread of a fitted model's answer that leaves the fit out is of *rows alone*,
and so is every sum with it: such an effect is shown, and never judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MixedBasisError
from causalfairness.inference import Interval, normal_interval, two_sided_p_value

Array = NDArray[np.float64]
Blocks = Mapping[str, Array]
LEFT_OUT = "left out"  # a block that stands beside the others: the larger error counts
Unit = Literal["rows", "cells", "replicates"]
ROWS_ALONE = "rows alone"


@dataclass(frozen=True)
class Basis:
    """What does each coordinate of a spread stand for?

    `fingerprint` identifies the data whatever the order of its rows; `order` identifies that
    order where coordinates are rows; `seed` identifies draws where coordinates hold some.

    >>> Basis("3f9a", "rows", order="11") == Basis("3f9a", "rows", order="12")
    False
    """

    fingerprint: str
    unit: Unit
    order: str = ""
    seed: str = ""

    def __str__(self) -> str:
        details = ("order", self.order[:12]), ("draws", self.seed)
        extra = "".join(f", {name} {text}" for name, text in details if text)
        return f"data {self.fingerprint[:12]}, {self.unit}{extra}"


@dataclass(frozen=True, eq=False)
class Effect:
    """How large is one effect, and how sure can we be?

    >>> basis = Basis("3f9a", "rows")
    >>> gap = Effect("gap", 0.2, np.array([0.03, -0.04]), basis)
    >>> round(gap.standard_error, 3)
    0.05
    >>> print(gap)
    gap = 0.2000 (95% interval 0.1020 to 0.2980)
    >>> (gap - gap).standard_error
    0.0

    With a correction the interval is centered elsewhere, and blocks widen it:

    >>> rare = Effect("gap", -0.02, np.array([0.004]), basis, correction=0.009,
    ...               blocks={"added people": np.array([0.01])})
    >>> print(rare)
    gap = -0.0200 (95% interval -0.0321 to 0.0101)
    """

    name: str
    value: float
    spread: Array
    basis: Basis
    assumptions: frozenset[str] = frozenset()
    correction: float = 0.0
    blocks: Blocks = field(default_factory=dict)
    freedom: float = math.inf  # degrees of freedom of the standard error
    rows_alone: bool = False  # is the fit of a model left out of the spread?
    settled: bool | None = True  # False where models behind it were found wanting: no verdict

    @property
    def center(self) -> float:
        """The middle of the interval, from which tests measure too."""
        return self.value + self.correction

    @cached_property
    def standard_error(self) -> float:
        """How far is the estimate from the truth, typically?"""
        sizes = {at: float(np.linalg.norm(block)) for at, block in self.blocks.items()}
        left_out = sizes.pop(LEFT_OUT, 0.0)
        return max(math.hypot(float(np.linalg.norm(self.spread)), *sizes.values()), left_out)

    def interval(self, level: float = 0.95) -> Interval:
        """Which values fit the data at this level? By the normal, or by t with `freedom`."""
        return normal_interval(self.center, self.standard_error, level, self.freedom)

    @property
    def p_value(self) -> float:
        """How often would chance alone give a value this far from zero? Two-sided."""
        return two_sided_p_value(self.center, self.standard_error, self.freedom)

    def covariance(self, other: Effect) -> float:
        """Do two estimates err together?

        >>> gap = Effect("gap", 0.2, np.array([0.03, -0.04]), Basis("3f9a", "rows"))
        >>> round(gap.covariance(-gap), 4)
        -0.0025
        """
        self._check_same_basis(other, "relate")
        shared = (
            block @ other.blocks[at]
            for at, block in self.blocks.items()
            if at in other.blocks and at != LEFT_OUT
        )
        return float(self.spread @ other.spread + sum(shared))

    def named(self, name: str) -> Effect:
        """What shall this effect be called from here on?"""
        return replace(self, name=name)

    def vanished(self) -> Effect:
        """The same effect where it is known to be exactly zero.

        >>> gap = Effect("gap", 1e-17, np.array([1e-17]), Basis("3f9a", "rows"))
        >>> gap.vanished().p_value
        1.0
        """
        nothing = np.zeros_like(self.spread)
        return replace(self, value=0.0, spread=nothing, correction=0.0, blocks={})

    def __add__(self, other: Effect) -> Effect:
        if not isinstance(other, Effect):
            return NotImplemented
        return self._combined(other, "add", "+", 1.0)

    def __sub__(self, other: Effect) -> Effect:
        if not isinstance(other, Effect):
            return NotImplemented
        return self._combined(other, "subtract", "-", -1.0)

    def __neg__(self) -> Effect:
        return self._scaled(-1.0, f"-{self.name}")

    def __mul__(self, factor: float) -> Effect:
        if not isinstance(factor, Real):
            return NotImplemented
        return self._scaled(factor, f"{factor:g} * {self.name}")

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Effect:
        if not isinstance(divisor, Real):
            return NotImplemented
        return (self * (1 / divisor)).named(f"{self.name} / {divisor:g}")

    def __str__(self) -> str:
        low, high = self.interval()
        alone = f", {ROWS_ALONE}" if self.rows_alone else ""
        return f"{self.name} = {self.value:.4f} (95% interval {low:.4f} to {high:.4f}{alone})"

    __repr__ = __str__

    def _scaled(self, factor: float, name: str) -> Effect:
        return replace(
            self,
            name=name,
            value=factor * self.value,
            spread=factor * self.spread,
            correction=factor * self.correction,
            blocks={at: factor * block for at, block in self.blocks.items()},
        )

    def _combined(self, other: Effect, verb: str, sign: str, times: float) -> Effect:
        self._check_same_basis(other, verb)
        return replace(
            self,
            name=f"{self.name} {sign} {other.name}",
            value=self.value + times * other.value,
            spread=self.spread + times * other.spread,
            assumptions=self.assumptions | other.assumptions,
            correction=self.correction + times * other.correction,
            blocks={
                at: np.asarray(self.blocks.get(at, 0.0) + times * other.blocks.get(at, 0.0))
                for at in {**self.blocks, **other.blocks}
            },
            freedom=min(self.freedom, other.freedom),
            rows_alone=self.rows_alone or other.rows_alone,
            settled=worst([self.settled, other.settled]),
        )

    def _check_same_basis(self, other: Effect, verb: str) -> None:
        if self.basis != other.basis or self.spread.shape != other.spread.shape:
            raise MixedBasisError(
                f"cannot {verb} {self.name!r} ({self.basis}) and {other.name!r} ({other.basis}): "
                "how their errors move together is known only for effects of the same data, in "
                "the same row order, from the same draws. Estimate both in one call, or compare "
                "their intervals instead"
            )


def spreads_of(effects: Sequence[Effect]) -> Array:
    """The spreads of several effects on one basis, one row each, with their blocks side by side.

    >>> gap = Effect("gap", 0.2, np.array([0.03]), Basis("3f9a", "rows"))
    >>> spreads_of([gap, replace(gap, blocks={"added people": np.array([0.04])})]).tolist()
    [[0.03, 0.0], [0.03, 0.04]]
    """
    sizes = {at: len(block) for effect in effects for at, block in effect.blocks.items()}
    rows = (
        (e.spread, *(e.blocks.get(at, np.zeros(n)) for at, n in sizes.items())) for e in effects
    )
    return np.stack([np.concatenate(row) for row in rows])


def worst(statuses: Iterable[bool | None]) -> bool | None:
    """Return what several alarms say together: False beats None, and None beats True.

    >>> worst([True, None]), worst([None, False]), worst([])
    (None, False, True)
    """
    found = [*statuses]
    return False if False in found else None if None in found else True
