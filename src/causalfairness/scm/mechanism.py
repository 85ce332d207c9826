"""What must a mechanism do? Be fitted, predict, abduct the noise, and apply it again.

A node V with causes pa(V) follows V = f(pa(V), noise). A `Mechanism` says what kind of f is looked
for; fitted to data it becomes a `FittedMechanism`, which never changes. For every row

    apply(abduct(v, causes), causes) == v,

so that a counterfactual with unchanged causes returns the row. Where several noises fit what was
seen (categories, counts), `abduct` draws one of them from its posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError, TooFewRowsError
from causalfairness.scm.causes import Causes, terms_of
from causalfairness.scm.domain import Domain

Array = NDArray[np.float64]
FEWEST = 10  # rows below which nothing is learned


@dataclass(frozen=True, eq=False)
class Sample:
    """From which rows is a mechanism learned, and how much does each count? None: all alike.

    A `partial` sample has some of the rows, to check a mechanism on the others: what the whole
    sample shows need not all show in it.

    >>> rows = Causes(3, (Domain("age"),), (np.array([30.0, 40.0, 50.0]),))
    >>> len(Sample(Domain("pay"), np.array([2.0, 3.0, 4.0]), rows, seed=0))
    3
    """

    target: Domain
    values: Array
    causes: Causes
    seed: int
    partial: bool = False
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> Sample:
        """Which sample has only these rows?"""
        values, causes = self.values[rows], self.causes.take(rows)
        weights = None if self.weights is None else self.weights[rows]
        return Sample(self.target, values, causes, self.seed, partial=True, weights=weights)

    def mean(self, values: Array) -> Any:
        """What is the mean over rows, as much as each of them counts?"""
        return np.average(values, axis=0, weights=self.weights)

    def scales(self, design: Array) -> tuple[Array, Array]:
        """Where does each column lie, and how far does it spread? 1 where it does not."""
        center = self.mean(design)
        scale = np.sqrt(self.mean((design - center) ** 2))
        return center, np.where(scale == 0, 1.0, scale)

    def check_size(self) -> None:
        """Are there enough rows to learn from?"""
        needed = max(FEWEST, 2 * (len(terms_of(self.causes.domains)) + 1))
        if len(self) < needed and not self.partial:
            causes = ", ".join(map(repr, self.causes.names)) or "no causes"
            raise TooFewRowsError(
                f"the mechanism of {self.target.name!r} (causes: {causes}) is to be learned from "
                f"{len(self):,} rows; at least {needed} are needed. Bring more rows, or give the "
                "equation"
            )

    def check_numbers(self, mechanism: str) -> None:
        """Are the values quantities? Words have no mean."""
        if self.target.labels:
            raise MechanismError(
                f"{mechanism} describes numbers, but {self.target.name!r} holds words such as "
                f"{self.target.labels[0]!r}; use Categorical()"
            )


class Mechanism(Protocol):
    """Which kind of equation is looked for?

    `learns` is False where the equation is given: then nothing hidden can mislead it.

    >>> from causalfairness.scm import Linear
    >>> mechanism: Mechanism = Linear()
    """

    @property
    def learns(self) -> bool:
        """Is anything learned from data?"""

    def fit(self, sample: Sample) -> FittedMechanism:
        """Which equation of this kind fits the sample?"""


class FittedMechanism(Protocol):
    """How does a node follow from its causes and its noise?

    `predict` gives one mean per row, or one probability per row and category. Noise has one row
    per person and one or more columns. `assumption` says what the coupling of worlds rests on;
    `whole` tells whether applying noise gives one of the values seen in fitting, so that whole
    numbers stay whole.

    >>> from causalfairness.scm.roots import Observed
    >>> fitted: FittedMechanism = Observed(mean=0.0)
    """

    @property
    def assumption(self) -> str:
        """What is assumed about the noise?"""

    @property
    def whole(self) -> bool:
        """Do whole numbers stay whole?"""

    def predict(self, causes: Causes) -> Array:
        """Which value is expected, or how likely is each category?"""

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """Which noise made these values of these causes?"""

    def apply(self, noise: Array, causes: Causes) -> Array:
        """Which values does this noise make of these causes?"""
