"""What does the protected input do to a network's output? The names of the PyTorch metrics.

The same answers as `effects`, under the names under which they are often looked for: total, direct,
indirect and path-specific effects, each with a standard error. Direct and indirect are the natural
effects, with mediators that were moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import cached_property
from typing import Any

from causalfairness.effects import Effect, EffectTable
from causalfairness.neural.effects import (
    controlled_direct_effect,
    effects,
    path_specific_effects,
)
from causalfairness.neural.network import Output
from causalfairness.neural.question import Indices
from causalfairness.neural.result import NetworkEffects

ALONE = ("protected_index", "reference", "comparison", "continuous", "output", "batch_size")


@dataclass(frozen=True, eq=False, repr=False)
class CausalFairnessMetrics:
    """What are a network's total, direct, indirect and path-specific effects, by these names?

    The keywords are those of `effects`. The network is asked once, when the first of total, direct
    and indirect effect is asked for.

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [0.0, 2.0], [1.0, 2.0]])
    >>> metrics = CausalFairnessMetrics(lambda X: X[:, 0] + X[:, 1], X, protected_index=0,
    ...     mediator_indices=[1], mediator_model=lambda rows: 2 * rows[:, 0])
    >>> metrics.total_effect().value, metrics.direct_effect().value
    (3.0, 1.0)
    >>> metrics.indirect_effect().value, metrics.controlled_direct_effect().value
    (2.0, 1.0)
    """

    network: Any
    X: Any
    _: KW_ONLY
    protected_index: Indices
    mediator_indices: Sequence[int] | None = None
    mediator_model: Any = None
    reference: Any = None
    comparison: Any = None
    continuous: bool = False
    output: Output = None
    names: Sequence[str] | None = None
    draws: int = 1
    batch_size: int | None = None
    seed: int = 0

    @cached_property
    def effects(self) -> NetworkEffects:
        """What was found, with all worlds?"""
        return effects(self.network, self.X, **self._asked)

    def total_effect(self) -> Effect:
        """How much does the output change, with all that follows?"""
        return self.effects.total_effect

    def direct_effect(self) -> Effect:
        """How much does it change, with the mediators as they are under the reference?"""
        return self.effects.natural_direct_effect

    def indirect_effect(self) -> Effect:
        """How much does it change through the mediators alone?"""
        return self.effects.natural_indirect_effect

    def path_specific_effects(
        self, carriers: Mapping[str, Sequence[int]] | None = None
    ) -> EffectTable:
        """How much of the change reaches the output through which mediators?"""
        return path_specific_effects(self.network, self.X, carriers=carriers, **self._asked)

    def controlled_direct_effect(self) -> Effect:
        """How does the output change if the protected input alone is set, all else as observed?"""
        asked = {name: value for name, value in self._asked.items() if name in ALONE}
        return controlled_direct_effect(self.network, self.X, **asked)

    def __str__(self) -> str:
        return str(self.effects)

    __repr__ = __str__

    @property
    def _asked(self) -> dict[str, Any]:
        names = (field.name for field in fields(self) if field.name not in ("network", "X"))
        return {name: getattr(self, name) for name in names}
