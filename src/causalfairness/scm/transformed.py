"""What if a node is linear on another scale: positive, or between two bounds?

    log V                       = linear prediction + noise      (LogNormal)
    log (V - low) / (high - V)  = linear prediction + noise      (Bounded)

No noise need be normal. The noise of a row is its residual on that scale, and worlds are coupled
exactly. Applied to other causes it never leaves the range. `predict` gives the value at noise 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.linear import LinearEquation, fit_together
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LogNormal:
    """What if causes and noise multiply a positive value? Linear in its logarithm.

    >>> print(LogNormal())
    linear in the logarithm
    """

    learns = True

    def fit(self, sample: Sample) -> TransformedEquation:
        """Which line fits the logarithms best?"""
        sample.check_numbers("LogNormal()")
        outside = int(np.sum(sample.values <= 0))
        if outside:
            raise MechanismError(
                f"LogNormal() describes positive values, but {sample.target.name!r} has "
                f"{outside:,} of {len(sample):,} rows at or below 0; use Linear(), or "
                "Bounded(low, high)"
            )
        return _fit(sample, Scale(None, None))

    def __str__(self) -> str:
        return "linear in the logarithm"


@dataclass(frozen=True)
class Bounded:
    """What if a value lies between two bounds? Linear in the log odds of where it lies.

    Bounds are never reached: give them a little wider than the values, for instance half a unit.

    >>> print(Bounded(0, 100))
    linear in the log odds between 0 and 100
    """

    low: float = 0.0
    high: float = 1.0

    learns = True

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise MechanismError(f"Bounded({self.low}, {self.high}): expected low below high")

    def fit(self, sample: Sample) -> TransformedEquation:
        """Which line fits the log odds best?"""
        sample.check_numbers(str(self))
        outside = int(np.sum((sample.values <= self.low) | (sample.values >= self.high)))
        if outside:
            raise MechanismError(
                f"Bounded({self.low:g}, {self.high:g}) describes values between its bounds, but "
                f"{sample.target.name!r} has {outside:,} of {len(sample):,} rows on or outside "
                f"them (from {sample.values.min():g} to {sample.values.max():g}); widen the bounds"
            )
        return _fit(sample, Scale(float(self.low), float(self.high)))

    def __str__(self) -> str:
        return f"linear in the log odds between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Scale:
    """On which scale is a node linear? Logarithms without bounds, log odds with them.

    >>> Scale(0.0, 2.0).back(Scale(0.0, 2.0).to(np.array([1.5]))).tolist()
    [1.5]
    """

    low: float | None
    high: float | None

    def to(self, values: Array) -> Array:
        """Where do values lie on the scale?"""
        if self.low is None or self.high is None:
            return np.asarray(np.log(values))
        return np.asarray(logit((values - self.low) / (self.high - self.low)))

    def back(self, scaled: Array) -> Array:
        """Which values lie there?"""
        if self.low is None or self.high is None:
            return np.asarray(np.exp(scaled))
        return np.asarray(self.low + (self.high - self.low) * expit(scaled))


@dataclass(frozen=True)
class TransformedEquation:
    """How does a node follow from its causes along a line on another scale?

    >>> from causalfairness.scm.domain import Domain
    >>> causes = Causes(1, (Domain("age"),), (np.array([2.0]),))
    >>> equation = TransformedEquation(LinearEquation(0.0, (0.5,)), Scale(None, None))
    >>> equation.apply(np.array([0.0]), causes).round(4).tolist()
    [2.7183]
    """

    line: LinearEquation
    scale: Scale

    whole = False

    @property
    def assumption(self) -> str:
        """What is assumed about the noise?"""
        name = "logarithm" if self.scale.low is None else "log odds"
        return f"noise is added to a linear prediction of the {name} and is the same in every world"

    def predict(self, causes: Causes) -> Array:
        """The value at noise 0."""
        return self.scale.back(self.line.predict(causes))

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """The residual on the scale."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = self.scale.to(values)
        if not np.isfinite(scaled).all():
            bounds = "0 and infinity"
            if self.scale.low is not None:
                bounds = f"{self.scale.low:g} and {self.scale.high:g}"
            raise MechanismError(
                f"{int(np.sum(~np.isfinite(scaled))):,} rows have values that are not between "
                f"{bounds}, which this mechanism cannot have produced; leave them out, or choose "
                "another mechanism"
            )
        return scaled - self.line.predict(causes)

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The value at this noise."""
        return self.scale.back(self.line.apply(noise, causes))


def _fit(sample: Sample, scale: Scale) -> TransformedEquation:
    scaled = replace(sample, values=scale.to(sample.values))
    return TransformedEquation(fit_together([scaled])[0], scale)
