"""What if the equation of a node is known? Then nothing is learned.

    V = function(causes)                    (Deterministic)
    V = function(causes, noise), noise = inverse(V, causes)      (StructuralEquation)

Functions take the causes by name, as arrays of numbers or words, and return one value per row. They
are held to the data: what was observed must be what the equation says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.domain import Domain, nearest
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]
ByName = Mapping[str, NDArray[Any]]
SAME = 1e-6  # how far an equation may be from the data, as a share of the largest value


@dataclass(frozen=True)
class Deterministic:
    """What if a node is a function of its causes, without noise? A rule, a threshold, a sum.

    >>> rule = Deterministic(lambda causes: causes["score"] > 4)
    >>> rule.learns
    False
    """

    function: Callable[[ByName], Any]

    learns = False

    def fit(self, sample: Sample) -> DeterministicEquation:
        """Does the function say what was observed?"""
        equation = DeterministicEquation(self.function, sample.target)
        equation.abduct(sample.values, sample.causes, np.random.default_rng(sample.seed))
        return equation

    def __str__(self) -> str:
        return "given, without noise"


@dataclass(frozen=True)
class StructuralEquation:
    """What if the equation of a node is known, noise and all?

    `function(causes, noise)` gives the values and `inverse(values, causes)` the noise.

    >>> pay = StructuralEquation(
    ...     lambda causes, noise: 2 * causes["rank"] * noise,
    ...     lambda values, causes: values / (2 * causes["rank"]))
    >>> pay.learns
    False
    """

    function: Callable[[ByName, Array], Any]
    inverse: Callable[[Any, ByName], Any]

    learns = False

    def fit(self, sample: Sample) -> GivenEquation:
        """Does the inverse undo the function on the data?"""
        equation = GivenEquation(self.function, self.inverse, sample.target, 0.0)
        noise = equation.abduct(sample.values, sample.causes, np.random.default_rng(sample.seed))
        mean = float(sample.mean(noise)) if len(noise) else 0.0
        return GivenEquation(self.function, self.inverse, sample.target, mean)

    def __str__(self) -> str:
        return "given"


@dataclass(frozen=True, eq=False)
class DeterministicEquation:
    """How does a node follow from its causes without noise?"""

    function: Callable[[ByName], Any]
    domain: Domain

    assumption = "the equation is given and has no noise"
    whole = True

    def predict(self, causes: Causes) -> Array:
        """What the function says."""
        return _as_values(self.function(causes.by_name()), self.domain, len(causes))

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """No noise; but what was observed must be what the function says."""
        _check_same(self.predict(causes), values, "the given function")
        return np.zeros(len(values))

    def apply(self, noise: Array, causes: Causes) -> Array:
        """What the function says."""
        return self.predict(causes)


@dataclass(frozen=True, eq=False)
class GivenEquation:
    """How does a node follow from its causes and its noise, as the user says?"""

    function: Callable[[ByName, Array], Any]
    inverse: Callable[[Any, ByName], Any]
    domain: Domain
    usual: float  # the mean noise

    assumption = "the equation is given; noise is the same in every world"
    whole = False

    def predict(self, causes: Causes) -> Array:
        """The value at the mean noise."""
        return self.apply(np.full(len(causes), self.usual), causes)

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """The noise by the inverse, checked by the function."""
        observed = self.domain.decode(values)
        noise = np.asarray(self.inverse(observed, causes.by_name()), dtype=float)
        if noise.shape[:1] != (len(values),):
            raise MechanismError(
                f"the given inverse returned shape {noise.shape} for {len(values):,} rows; "
                "expected one noise per row"
            )
        _check_same(self.apply(noise, causes), values, "the given function of the given inverse")
        return noise

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The value by the function."""
        return _as_values(self.function(causes.by_name(), noise), self.domain, len(causes))


def _as_values(found: Any, domain: Domain, rows: int) -> Array:
    values = np.asarray(found)
    if values.shape == ():
        values = np.full(rows, values)
    if values.shape != (rows,):
        raise MechanismError(
            f"the given function returned shape {values.shape} for {rows:,} rows; expected one "
            "value per row"
        )
    if not domain.labels:
        return np.asarray(values, dtype=float)
    words, codes = np.unique(values.astype(str), return_inverse=True)
    for word in words:
        if str(word) not in domain.labels:
            raise MechanismError(
                f"the given function returned {str(word)!r}; {nearest(str(word), domain.labels)}"
            )
    places = np.array([domain.labels.index(str(word)) for word in words], dtype=float)
    return places[codes.reshape(-1)]


def _check_same(said: Array, observed: Array, who: str) -> None:
    if not len(observed):
        return
    allowed = SAME * max(float(np.ptp(observed)), float(np.abs(observed).max()))
    off = ~(np.abs(said - observed) <= allowed)
    if off.any():
        said, observed = said[off], observed[off]
        raise MechanismError(
            f"{who} differs from the data in {int(off.sum()):,} of {len(off):,} rows; correct the "
            "equation, or let the mechanism be fitted"
        ).about(f"it says {said[0]:g} where {observed[0]:g} is observed")
