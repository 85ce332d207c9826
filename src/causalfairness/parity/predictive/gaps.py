"""How large is a gap at equal scores: bin by bin, over all bins, and whichever its sign?

    integrated           mean over bins with both groups of  gap(bin)
    integrated_absolute  mean over the same bins of         |gap(bin)|

Gaps of opposite sign cancel in the first. The second never does, and is too large on average: noise
alone makes gaps, and their sizes add up. `noise_alone` says what it would be if there were no gap
at any score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis, Effect

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BinnedGap:
    """How large is a gap at equal scores?

    `values` holds one number per bin, NaN where a group has nobody, and `spreads` the replicates.

    >>> basis = Basis("3f9a", "replicates")
    >>> gap = BinnedGap("ppm", "the gap", np.array([0.1, -0.3]), np.zeros((2, 4)), basis)
    >>> round(gap.integrated.value, 3), round(gap.integrated_absolute.value, 3)
    (-0.1, 0.2)
    >>> print(gap.by_bin[1])
    ppm in bin 2 = -0.3000 (95% interval -0.3000 to -0.3000)
    """

    name: str
    meaning: str
    values: Array  # (bins,)
    spreads: Array  # (bins, replicates)
    basis: Basis
    assumptions: frozenset[str] = frozenset()

    @property
    def compared(self) -> Mask:
        """Which bins have people of both groups?"""
        return ~np.isnan(self.values)

    @property
    def by_bin(self) -> tuple[Effect | None, ...]:
        """How large is it in each bin? None where a group has nobody."""
        return tuple(
            self._effect(f"{self.name} in bin {at + 1}", value, spread) if there else None
            for at, (value, spread, there) in enumerate(
                zip(self.values, self.spreads, self.compared, strict=True)
            )
        )

    @cached_property
    def integrated(self) -> Effect:
        """How large is it on average over bins? Signs may cancel."""
        there = self.compared
        return self._effect(self.name, self.values[there].mean(), self.spreads[there].mean(axis=0))

    @cached_property
    def integrated_absolute(self) -> Effect:
        """How large is it on average, whichever its sign? Too large by chance, see `lift`."""
        value = float(np.abs(self.values[self.compared]).mean())
        sizes = self._sizes
        spread = (sizes - sizes.mean()) / np.sqrt(len(sizes) - 1)
        return self._effect(f"absolute_{self.name}", value, spread)

    @property
    def lift(self) -> float:
        """By how much do replicates exceed the mean size? About what noise adds to it."""
        return float(self._sizes.mean() - np.abs(self.values[self.compared]).mean())

    @property
    def noise_alone(self) -> float:
        """What would the mean size be, if there were no gap in any bin?"""
        return float(np.abs(self._moved).mean())

    @cached_property
    def _moved(self) -> Array:
        return np.asarray(self.spreads[self.compared] * np.sqrt(self.spreads.shape[1] - 1))

    @cached_property
    def _sizes(self) -> Array:
        """The mean size in each replicate."""
        moved = self.values[self.compared, None] + self._moved
        return np.asarray(np.abs(moved).mean(axis=0))

    def _effect(self, name: str, value: float, spread: Array) -> Effect:
        return Effect(name, float(value), spread, self.basis, self.assumptions)
