"""Learners of one group, used for each group on its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalfairness.adaptation.learner import (
    Array,
    Codes,
    ConditionalDistribution,
    QuantileLearner,
)


@dataclass(frozen=True)
class EachGroup:
    """A learner that sees one group at a time."""

    learner: QuantileLearner

    def fit(
        self, causes: Array, values: Array, group: Codes, *, edges: Array, seed: int
    ) -> OwnDistributions:
        """How values are distributed given causes, in each group."""
        return OwnDistributions(
            tuple(
                self.learner.fit(
                    causes[group == code], values[group == code], edges=edges, seed=seed + code
                )
                for code in range(int(group.max()) + 1)
            )
        )


@dataclass(frozen=True, eq=False)
class OwnDistributions:
    """A distribution for each group."""

    by_group: tuple[ConditionalDistribution, ...]

    def rank(self, causes: Array, values: Array, group: Codes) -> Array:
        """The share of people alike that has a lower value."""
        return self._each("rank", causes, values, group)

    def quantile(self, causes: Array, ranks: Array, group: Codes) -> Array:
        """The value that has this place among people alike."""
        return self._each("quantile", causes, ranks, group)

    def moved(self, values: Array, causes: Array, group: Codes, causes_to: Array) -> Array:
        """What values would be in the reference group with other causes."""
        return self.by_group[0].quantile(causes_to, self.rank(causes, values, group))

    def _each(self, what: str, causes: Array, asked: Array, group: Codes) -> Array:
        result = np.empty(len(asked))
        for code in np.unique(group):
            here = group == code
            result[here] = getattr(self.by_group[code], what)(causes[here], asked[here])
        return result
