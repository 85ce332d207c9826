"""Which quantiles do boosted trees predict? One gradient boosting per level.

Every level has its own model, fitted to the check loss; predictions that cross are put in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.adaptation.grid import GridDistribution
from causalfairness.adaptation.learner import Array
from causalfairness.adaptation.linear import Planes

LEVELS = np.concatenate([[0.01], np.arange(1, 20) / 20, [0.99]])


@dataclass(frozen=True)
class BoostedQuantiles:
    """Which quantiles do boosted trees predict? Smoother than a forest, and slower.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(400)
    >>> y = np.sin(6 * x) + 0.1 * rng.normal(size=400)
    >>> found = BoostedQuantiles(rounds=40).fit(x[:, None], y, edges=np.sort(y), seed=0)
    >>> bool(abs(found.quantile(np.array([[0.25]]), np.array([0.5]))[0] - np.sin(1.5)) < 0.3)
    True
    """

    rounds: int = 100
    leaves: int = 8

    def fit(self, causes: Array, values: Array, *, edges: Array, seed: int) -> GridDistribution:
        """How are these values distributed given these causes?"""
        if not causes.shape[1]:
            nothing = np.empty(0)
            flat = Planes(nothing, nothing, np.quantile(values, LEVELS)[None])
            return GridDistribution(LEVELS, flat)
        models = tuple(self._model(level, seed).fit(causes, values) for level in LEVELS)
        return GridDistribution(LEVELS, Boosted(models))

    def _model(self, level: float, seed: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            loss="quantile",
            quantile=level,
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=20,
            early_stopping=False,
            random_state=seed,
        )


@dataclass(frozen=True, eq=False)
class Boosted:
    """Which quantiles do rows have, if each level has a model?"""

    models: tuple[Any, ...]

    def __call__(self, causes: Array) -> Array:
        """Which quantiles do these rows have?"""
        return np.column_stack([model.predict(causes) for model in self.models])
