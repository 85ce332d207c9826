"""What if a node counts events: 0, 1, 2, ...?

    V ~ Poisson(mu)  or  negative binomial with mean mu and variance mu + dispersion mu^2,
    log mu = linear prediction

Worlds are coupled by quantiles: the noise z of a row is a standard normal score with
F(v - 1) < Phi(z) <= F(v), drawn at random within that range, and other causes give the smallest
count with F >= Phi(z). Tails are computed from their own side, so that far values keep their noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammainc, gammaincc, ndtr, ndtri

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.learners import fit_learner
from causalfairness.scm.linear import LinearEquation, slopes_by_cause
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]
INSIDE = 1e-9  # how far from the ends of its range a score is drawn at least
SMALLEST_DISPERSION = 1e-8  # below, a negative binomial is a Poisson to all digits


@dataclass(frozen=True)
class Poisson:
    """What if a node counts events at a rate that its causes multiply?

    >>> print(Poisson())
    Poisson
    """

    learns = True

    def fit(self, sample: Sample) -> CountEquation:
        """Which rate fits best, by maximum likelihood?"""
        return CountEquation(_fit_rate(sample, "Poisson()"), 0.0)

    def __str__(self) -> str:
        return "Poisson"


@dataclass(frozen=True)
class NegativeBinomial:
    """What if counts vary more than a rate explains? A Poisson whose rate varies.

    The mean is fitted as in `Poisson`; the dispersion by moments, and it is 0 where counts vary
    less than a Poisson does.

    >>> print(NegativeBinomial())
    negative binomial
    """

    learns = True

    def fit(self, sample: Sample) -> CountEquation:
        """Which rate and which dispersion fit best?"""
        rate = _fit_rate(sample, "NegativeBinomial()")
        mean = np.exp(rate.predict(sample.causes))
        excess = float(sample.mean((sample.values - mean) ** 2 - mean) / sample.mean(mean**2))
        return CountEquation(rate, excess if excess > SMALLEST_DISPERSION else 0.0)

    def __str__(self) -> str:
        return "negative binomial"


@dataclass(frozen=True)
class CountEquation:
    """How does a count follow from its causes and its quantile?

    >>> equation = CountEquation(LinearEquation(float(np.log(3.0)), ()), 0.0)
    >>> equation.apply(np.array([-2.0, 0.0, 2.0]), Causes(3, (), ())).tolist()
    [0.0, 3.0, 7.0]
    """

    rate: LinearEquation
    dispersion: float

    assumption = (
        "counts are coupled by quantiles: whoever is high among people with the same causes is as "
        "high in every world; within the range that a count leaves open the quantile is drawn"
    )
    whole = True

    def predict(self, causes: Causes) -> Array:
        """The mean given the causes."""
        return np.asarray(np.exp(self.rate.predict(causes)))

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """A normal score within the range that leads to this count."""
        mean, luck = self.predict(causes), INSIDE + (1 - 2 * INSIDE) * rng.random(len(values))
        if ((values < 0) | (values != np.rint(values))).any():
            raise MechanismError(
                "some rows have values that are not 0, 1, 2, ..., which a count cannot be; leave "
                "them out, or choose another mechanism"
            )
        up_to, above = self._below(values, mean), self._above(values, mean)
        low = up_to < 0.5
        before = np.where(low, self._below(values - 1, mean), self._above(values - 1, mean))
        here = np.where(low, up_to, above)
        tail = here + luck * (before - here)
        score = np.where(low, ndtri(tail), -ndtri(tail))
        if not np.isfinite(score).all():
            worst = int(np.flatnonzero(~np.isfinite(score))[0])
            raise MechanismError(
                "a count is too unlikely to have a noise; counts vary more than this mechanism "
                "allows: use NegativeBinomial(), or Additive()"
            ).about(f"a count of {values[worst]:g} where {mean[worst]:.3g} is expected")
        return np.asarray(score)

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The count at this quantile."""
        mean = self.predict(causes)
        sd = np.sqrt(mean + self.dispersion * mean**2)
        skew = (1 + 2 * self.dispersion * mean) / sd
        guess = np.floor(mean + sd * (noise + skew * (noise**2 - 1) / 6))
        return self._search(np.maximum(guess, 0.0), noise, mean)

    def _search(self, guess: Array, noise: Array, mean: Array) -> Array:
        """The smallest count that reaches the quantile: widen around a guess, then halve."""
        low, high, step = guess - 1, guess + 0, 1.0
        while (short := ~self._reaches(high, noise, mean)).any():
            low, high = np.where(short, high, low), np.where(short, high + step, high)
            step *= 2
        step = 1.0
        while (past := self._reaches(low, noise, mean)).any():
            low, high = np.where(past, low - step, low), np.where(past, low, high)
            step *= 2
        while (open_still := high - low > 1).any():
            middle = np.floor((low + high) / 2)
            reached = self._reaches(middle, noise, mean)
            high = np.where(open_still & reached, middle, high)
            low = np.where(open_still & ~reached, middle, low)
        return high

    def _reaches(self, count: Array, noise: Array, mean: Array) -> NDArray[np.bool_]:
        low = noise < 0
        reached = np.where(
            low,
            self._below(count, mean) >= ndtr(noise),
            self._above(count, mean) <= ndtr(-noise),
        )
        return np.asarray((count >= 0) & reached)

    def _below(self, count: Array, mean: Array) -> Array:
        """P(V <= count)."""
        k = np.maximum(count, 0.0)
        if not self.dispersion:
            chance = gammaincc(k + 1, mean)
        else:
            chance = betainc(1 / self.dispersion, k + 1, 1 / (1 + self.dispersion * mean))
        return np.asarray(np.where(count < 0, 0.0, chance))

    def _above(self, count: Array, mean: Array) -> Array:
        """P(V > count)."""
        k = np.maximum(count, 0.0)
        if not self.dispersion:
            chance = gammainc(k + 1, mean)
        else:
            odds = self.dispersion * mean  # betainc of the other end: the same, and much faster
            chance = betainc(k + 1, 1 / self.dispersion, odds / (1 + odds))
        return np.asarray(np.where(count < 0, 1.0, chance))


def _fit_rate(sample: Sample, mechanism: str) -> LinearEquation:
    from sklearn.linear_model import PoissonRegressor

    sample.check_numbers(mechanism)
    sample.check_size()
    if not sample.target.whole or sample.values.min() < 0:
        raise MechanismError(
            f"{mechanism} describes counts 0, 1, 2, ..., but {sample.target.name!r} has values "
            f"such as {_no_count(sample.values):g}; use Linear() or Additive()"
        )
    if sample.values.max() == 0:
        raise MechanismError(f"{sample.target.name!r} is 0 in every row: there is no rate to learn")
    design = sample.causes.design()
    if not design.shape[1]:
        return LinearEquation(float(np.log(sample.mean(sample.values))), ())
    center, scale = sample.scales(design)
    model = PoissonRegressor(alpha=1e-9, solver="newton-cholesky", tol=1e-10, max_iter=200)
    fitted = fit_learner(model, (design - center) / scale, sample.values, sample)
    per_unit = fitted.coef_ / scale
    slopes = slopes_by_cause(sample.causes.domains, per_unit)
    return LinearEquation(float(fitted.intercept_ - center @ per_unit), slopes)


def _no_count(values: Array) -> float:
    return float(values[(values < 0) | (values != np.rint(values))][0])
