"""How is the distribution of a column given its causes learned? What every learner must offer.

A learner turns rows into a conditional distribution F(v | causes), which answers two questions
that undo each other:

    rank      u = F(v | causes)          which place does a value have among people alike?
    quantile  v = F^-1(u | causes)       which value has this place?

Values that several rows share come spread over a cell of their own, at random but evenly, so that
learners meet no ties; `edges` are the ends of these cells. Between two edges in a row lies what was
one value, and a learner that knows them can be exact for discrete columns.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]  # of groups; 0 is the reference


class ConditionalDistribution(Protocol):
    """How are the values of a column distributed, given its causes? One row a person.

    >>> from causalfairness.adaptation import LinearQuantiles
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.normal(size=(500, 1))
    >>> values = causes[:, 0] + rng.normal(size=500)
    >>> found = LinearQuantiles().fit(causes, values, edges=np.sort(values), seed=0)
    >>> back = found.quantile(causes, found.rank(causes, values))
    >>> bool(np.abs(back - values).max() < 1e-6)
    True
    """

    def rank(self, causes: Array, values: Array) -> Array:
        """Which share of people with the same causes has a lower value? Between 0 and 1."""

    def quantile(self, causes: Array, ranks: Array) -> Array:
        """Which value has this place among people with the same causes?"""


class QuantileLearner(Protocol):
    """What learns a conditional distribution of one group? Anything with this `fit`.

    >>> from causalfairness.adaptation import LinearQuantiles
    >>> hasattr(LinearQuantiles(), "fit")
    True
    """

    def fit(
        self, causes: Array, values: Array, *, edges: Array, seed: int
    ) -> ConditionalDistribution:
        """How are these values distributed given these causes? `causes` may have no columns."""


class GroupDistributions(Protocol):
    """How values are distributed given causes, in every group; group 0 is the reference."""

    def rank(self, causes: Array, values: Array, group: Codes) -> Array:
        """The share of people with these causes in this group that has a lower value."""

    def quantile(self, causes: Array, ranks: Array, group: Codes) -> Array:
        """The value that has this place among them."""

    def moved(self, values: Array, causes: Array, group: Codes, causes_to: Array) -> Array:
        """What these values would be in the reference group with other causes."""
