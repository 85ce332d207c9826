"""What would the mean outcome be, if each path took the value of another group?

    mu[i, j, k] = E[ Y_{A=i, M_{A=j}} | A = k ]

is the mean outcome of group k when the direct path takes i and the mediators take j; 0 is
the reference group, 1 the comparison group, and k may be "everyone", both groups pooled. Every
group question is a signed sum of these twelve numbers (methods §2), so an estimator's only job
is to produce them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.diagnostics import Diagnostics
from causalfairness.effects.effect import Basis, Blocks, Effect
from causalfairness.effects.second_moments import SecondMoments

Array = NDArray[np.float64]
Told = Literal[0, 1]
Among = Literal[0, 1, "everyone"]
World = tuple[Told, Told, Among]
EVERYONE = 2  # position of "everyone" on the third axis
ROUNDING = 1e-12  # relative size below which a sum of means is a rounding error


@dataclass(frozen=True, eq=False)
class WorldMeans:
    """What would the mean outcome be in each of the twelve worlds?

    >>> shape = (2, 2, 3)
    >>> means = WorldMeans(np.arange(12.0).reshape(shape), np.zeros((*shape, 1)), Basis("", "rows"))
    >>> means[1, 0, "everyone"].value, means[1, 0, 0].name
    (8.0, 'mu[1, 0, 0]')
    """

    values: Array  # (2, 2, 3)
    spreads: Array  # (2, 2, 3, d)
    basis: Basis
    assumptions: frozenset[str] = frozenset()
    corrections: Array = field(default_factory=lambda: np.zeros((2, 2, 3)))
    blocks: Blocks = field(default_factory=dict)  # (2, 2, 3, size) each
    freedom: float = math.inf  # of their standard errors
    rows_alone: bool = False  # do spreads leave out how a model was fitted?

    def __getitem__(self, world: World) -> Effect:
        i, j, k = _checked(world)
        return self._sum({world: 1.0}, f"mu[{i}, {j}, {k}]")

    def combine(self, terms: Mapping[World, float], name: str) -> Effect:
        """What does a signed sum of world means come to? Rounding errors come to zero.

        >>> shape = (2, 2, 3)
        >>> values, spreads = np.arange(12.0).reshape(shape), np.ones((*shape, 1))
        >>> means = WorldMeans(values, spreads, Basis("", "rows"))
        >>> means.combine({(1, 1, 1): 1.0, (0, 0, 0): -1.0}, "total").value
        10.0
        """
        return self.rounded(self._sum(terms, name))

    def rounded(self, effect: Effect) -> Effect:
        """Is this effect only what rounding left over of these means? Then it is zero.

        >>> mu = WorldMeans(np.ones((2, 2, 3)), np.ones((2, 2, 3, 1)), Basis("", "rows"))
        >>> mu.rounded(Effect("nothing", 1e-16, np.array([-1e-16]), mu.basis)).p_value
        1.0
        """
        value, error = self._scale
        if abs(effect.value) > ROUNDING * value or effect.standard_error > ROUNDING * error:
            return effect
        return effect.vanished()

    def __str__(self) -> str:
        rows = [
            f"  mu[{i}, {j}, {k}] = {self[i, j, k].value:.4f} ± {self[i, j, k].standard_error:.4f}"
            for i, j, k in ALL_WORLDS
        ]
        return "\n".join(["mu[direct path, mediators, among]", *rows])

    __repr__ = __str__

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """The largest mean in size, and the largest standard error."""
        squared = np.einsum("...d,...d->...", self.spreads, self.spreads)
        return float(np.abs(self.values).max()), float(np.sqrt(squared.max()))

    def complement(self) -> WorldMeans:
        """The means of one minus the outcome."""
        return replace(
            self,
            values=1.0 - self.values,
            spreads=-self.spreads,
            corrections=-self.corrections,
            blocks={at: -block for at, block in self.blocks.items()},
        )

    def _sum(self, terms: Mapping[World, float], name: str) -> Effect:
        weights, places = list(terms.values()), [_place(world) for world in terms]

        def added(of: Array) -> Array:
            return np.asarray(sum(w * of[at] for w, at in zip(weights, places, strict=True)))

        return Effect(
            name,
            float(added(self.values)),
            added(self.spreads),
            self.basis,
            self.assumptions,
            correction=float(added(self.corrections)),
            blocks={at: added(block) for at, block in self.blocks.items()},
            freedom=self.freedom,
            rows_alone=self.rows_alone,
        )


@dataclass(frozen=True, eq=False)
class Estimate:
    """What did an estimator find, on which rows, and with what caveats?

    `raw_gap` is the plain difference of the two groups' means. Where the estimator speaks for
    common support only, or misses the group means, it differs from mu[1,1,1] - mu[0,0,0], and
    `remainder` says what the difference is called. `second_moments` are those of the weights and
    residuals, of an estimator that has them: what a hidden cause could do depends on them.

    >>> Estimate.__dataclass_fields__["remainder"].default
    'outside_support'
    """

    world_means: WorldMeans
    raw_gap: Effect
    diagnostics: Diagnostics
    remainder: Literal["outside_support", "misfit"] = "outside_support"
    second_moments: SecondMoments | None = None


def pool(values: Array, spreads: Array, share: float, share_spread: Array) -> tuple[Array, Array]:
    """What are the means among everyone, given those within each group?

    `values` is (2, 2, 2) and `spreads` (2, 2, 2, d); `share` is that of the comparison group. The
    third axis gains the mixture mu[i, j, everyone] = (1 - share) mu[i, j, 0] + share mu[i, j, 1],
    whose spread also carries the uncertainty of the share.

    >>> within = np.zeros((2, 2, 2)) + [0.0, 1.0]
    >>> values, _ = pool(within, np.zeros((2, 2, 2, 1)), 0.25, np.zeros(1))
    >>> values[0, 0].tolist()
    [0.0, 1.0, 0.25]
    """
    among_0, among_1 = values[..., 0], values[..., 1]
    mixture = (1 - share) * among_0 + share * among_1
    mixed = (1 - share) * spreads[..., 0, :] + share * spreads[..., 1, :]
    mixed = mixed + (among_1 - among_0)[..., None] * share_spread
    return (
        np.concatenate([values, mixture[..., None]], axis=-1),
        np.concatenate([spreads, mixed[..., None, :]], axis=-2),
    )


def _place(world: World) -> tuple[int, int, int]:
    """Where does a world's mean stand?"""
    i, j, k = _checked(world)
    return int(i), int(j), EVERYONE if k == "everyone" else int(k)


def _checked(world: World) -> World:
    if world not in ALL_WORLDS:
        raise KeyError(
            "a world is three things: the group of the direct path (0 or 1), that of the mediators "
            f"(0 or 1), and among whom (0, 1 or 'everyone'); found {world!r}"
        )
    return world


ALL_WORLDS: tuple[World, ...] = tuple(
    (i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1, "everyone")
)
