"""How does a person's category in one world go with the category in another?

Probabilities say how many people change, not who. A coupling says who, by a noise that is the same
in every world. Two are offered, and they disagree (methods §7):

    Gumbel     the category that wins a race: time_k = exponential_k / p_k, the smallest wins
               (the same as the largest of log p_k + Gumbel noise). Whoever stays in a category
               whose chance, relative to every other, does not fall, stays.
    Monotone   a number u in [0, 1): the category in whose part of the cumulative
               probabilities, in the order of the categories, u lies

Both draw the noise from its posterior given the observed category, and neither ever leads to a
category of probability 0. For two categories they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError

Array = NDArray[np.float64]
Places = NDArray[np.intp]


class Coupling(Protocol):
    """Who changes category when probabilities change?

    Probabilities have one row per person and one column per category.

    >>> coupling: Coupling = Gumbel()
    """

    @property
    def assumption(self) -> str:
        """What is assumed about the noise?"""

    def abduct(self, places: Places, probabilities: Array, rng: np.random.Generator) -> Array:
        """Which noise led to these categories?"""

    def apply(self, noise: Array, probabilities: Array) -> Places:
        """To which categories does this noise lead?"""


@dataclass(frozen=True)
class Gumbel:
    """Who changes category? Those whose category loses the race against one that became faster.

    The winner's time T is exponential; given that k won, its own exponential is p_k T and that of
    every other category is p_j T plus a fresh exponential.

    >>> rng = np.random.default_rng(0)
    >>> before, after = np.array([[0.5, 0.5, 0.0]]), np.array([[0.5, 0.25, 0.25]])
    >>> noise = Gumbel().abduct(np.array([0]), before, rng)
    >>> Gumbel().apply(noise, before).tolist()
    [0]
    """

    assumption = (
        "categories are coupled by Gumbel-max noise, drawn from its posterior; the data cannot "
        "show the coupling, and another one would change other people's category"
    )

    def abduct(self, places: Places, probabilities: Array, rng: np.random.Generator) -> Array:
        """One exponential for each category, such that the observed one wins."""
        rows = np.arange(len(places))
        _check_possible(probabilities[rows, places])
        fresh = rng.standard_exponential((len(places), probabilities.shape[1] + 1))
        noise = fresh[:, :-1]
        noise[rows, places] = 0.0
        noise += probabilities * fresh[:, -1:]
        return noise

    def apply(self, noise: Array, probabilities: Array) -> Places:
        """The category with the smallest time."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.argmin(noise / probabilities, axis=1))

    def __str__(self) -> str:
        return "Gumbel"


@dataclass(frozen=True)
class Monotone:
    """Who changes category? Those whose place in the order of people falls to another category.

    >>> before, after = np.array([[0.5, 0.5]]), np.array([[0.1, 0.9]])
    >>> Monotone().apply(np.array([0.3]), before), Monotone().apply(np.array([0.3]), after)
    (array([0]), array([1]))
    """

    assumption = (
        "categories are coupled monotonely in their order, the place within a category drawn; "
        "the data cannot show the coupling, and another one would change other people's category"
    )

    def abduct(self, places: Places, probabilities: Array, rng: np.random.Generator) -> Array:
        """A number in the part of the observed category."""
        rows = np.arange(len(places))
        _check_possible(probabilities[rows, places])
        upper = _cumulative(probabilities)
        top = upper[rows, places]
        bottom = np.where(places > 0, upper[rows, places - 1], 0.0)
        drawn = bottom + rng.random(len(places)) * (top - bottom)
        return np.asarray(np.minimum(drawn, np.nextafter(top, 0.0)))

    def apply(self, noise: Array, probabilities: Array) -> Places:
        """The category in whose part the number lies."""
        return np.asarray(np.sum(_cumulative(probabilities) <= noise[:, None], axis=1))

    def __str__(self) -> str:
        return "monotone"


def _cumulative(probabilities: Array) -> Array:
    """Ends at exactly 1, and stays level over categories of probability 0."""
    upper = np.cumsum(probabilities, axis=1)
    upper /= upper[:, -1:].copy()
    return upper


def _check_possible(chance: Array) -> None:
    if (chance <= 0).any():
        raise MechanismError(
            f"{int(np.sum(chance <= 0)):,} rows are in a category that the mechanism gives "
            "probability 0, so no noise leads there; use a classifier that rules nothing out that "
            "was seen, such as a logistic regression"
        )
