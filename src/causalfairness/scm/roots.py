"""How are nodes without causes distributed? As they were observed.

The noise of such a node is its value. `predict` gives the overall mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Empirical:
    """What if a node has no causes? Then it is distributed as observed.

    >>> from causalfairness.scm.domain import Domain
    >>> sample = Sample(Domain("age"), np.array([20.0, 30.0]), Causes(2, (), ()), seed=0)
    >>> Empirical().fit(sample)
    Observed(mean=25.0)
    """

    learns = True

    def fit(self, sample: Sample) -> Observed:
        """Which distribution was observed?"""
        if sample.causes.names:
            raise MechanismError(
                f"Empirical() is for nodes without causes, but {sample.target.name!r} has "
                f"{', '.join(map(repr, sample.causes.names))}; choose another mechanism"
            )
        return Observed(float(sample.mean(sample.values)) if len(sample) else 0.0)

    def __str__(self) -> str:
        return "as observed"


@dataclass(frozen=True)
class Observed:
    """How does a node without causes come about? It is its own noise.

    >>> Observed(25.0).apply(np.array([20.0]), Causes(1, (), ())).tolist()
    [20.0]
    """

    mean: float

    assumption = ""
    whole = True

    def predict(self, causes: Causes) -> Array:
        """The overall mean."""
        return np.full(len(causes), self.mean)

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """The values themselves."""
        return values

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The values themselves."""
        return noise
