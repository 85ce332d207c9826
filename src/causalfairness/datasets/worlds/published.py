"""Which worlds come from the literature? Two with three confounders, without and with mediators.

Both are standard tests for decompositions: the outcome is nonlinear and the group's effect varies
with the confounders. Groups are equally likely, as published. N(0, .5) is read as sd 0.5, which
no mean depends on. Integrals use product rules, not simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit, ndtri

from causalfairness.datasets.worlds.quadrature import (
    kinked_normal_rule,
    normal_rule,
    product_rule,
    uniform_rule,
)
from causalfairness.datasets.worlds.world import World, roles_of

Array = NDArray[np.float64]
Z = ("z1", "z2", "z3")


def nomed() -> World:
    """What if nothing lies between group and outcome? Then there is no indirect part.

    Z ~ U(-1, 1)^3; A ~ Bern(expit(sum(Z) / 2)); Y = sum(Z) + A (Z1^2 + Z3^2) + noise.

    >>> {part: round(value, 4) for part, value in nomed().true_effects().items()}
    {'total': 1.1419, 'direct': 0.6667, 'indirect': 0.0, 'spurious': 0.4752}
    """
    return World("nomed", "three confounders, no mediator", roles_of(Z, []), Nomed())


def med() -> World:
    """What if three chained mediators lie between group and outcome, all nonlinear?

    With e normal and u uniform, one of each per mediator: Z ~ N(0, 1)^3;
    A ~ Bern(expit(mean(Z) / 2)); W1 = 1{u < .2 + .6 A} ((Z1 + Z2) / 2 - 1) + e;
    W2 = W1^2 / 8 - 1 + 1{u < .3 + .6 A} ((Z2^2 + Z3^2) / 12 - 1) + e;
    W3 = W1 W2 / 16 + 1{u < .2 + .6 A} (Z1 / 4 - 2) + e;
    Y = mean(|Z1|, ..., |W3|) / 4 + (A / 6) (Z1^2 + Z3^2 + W2^2) + noise.

    >>> {part: round(value, 3) for part, value in med().true_effects().items()}
    {'total': 0.959, 'direct': 0.733, 'indirect': 0.219, 'spurious': 0.007}
    """
    return World(
        "med", "three chained, nonlinear mediators", roles_of(Z, ["w1", "w2", "w3"]), Med()
    )


@dataclass(frozen=True)
class Nomed:
    """Which equations make the world without mediators?

    >>> Nomed().outcome_mean(1, np.ones((1, 3)), np.empty((1, 0)))
    array([5.])
    """

    def confounders(self, noise: Array) -> Array:
        """Which C comes from this noise?"""
        return 2 * noise - 1

    def group_probability(self, c: Array) -> Array:
        """How likely is the comparison group, given C?"""
        return np.asarray(expit(c.sum(axis=1) / 2))

    def mediators(self, a: Array, c: Array, noise: Array) -> Array:
        """Which M comes from A, C and this noise? None."""
        return np.empty((len(c), 0))

    def mediator_density(self, a: int, c: Array, m: Array) -> Array:
        """How likely is no mediator at all? Certain."""
        return np.ones(len(c))

    def outcome(self, a: Array, c: Array, m: Array, noise: Array) -> Array:
        """Which Y comes from A, C and this noise?"""
        return np.asarray(self._mean(a, c) + 0.5 * ndtri(noise))

    def outcome_mean(self, a: int, c: Array, m: Array) -> Array:
        """Which Y is expected given A and C?"""
        return self._mean(np.full(len(c), float(a)), c)

    def nested_mean(self, i: int, j: int, c: Array) -> Array:
        """Which Y is expected given C if Y is told i? What M is told does not matter."""
        return self._mean(np.full(len(c), float(i)), c)

    def confounder_grid(self) -> tuple[Array, Array]:
        """Over which values of C do averages run?"""
        return product_rule([uniform_rule(16)] * 3)

    def _mean(self, a: Array, c: Array) -> Array:
        return np.asarray(c.sum(axis=1) + a * (c[:, 0] ** 2 + c[:, 2] ** 2))


SWITCH = (0.2, 0.3, 0.2)  # chance that a mediator's switch is on in the reference group
SWITCH_GAIN = 0.6  # what the comparison group adds to it
NODES = 8  # of each mediator's noise


@dataclass(frozen=True)
class Med:
    """Which equations make the world with three mediators?

    >>> c, m = np.zeros((1, 3)), np.array([[0.0, 3.0, 0.0]])
    >>> Med().outcome_mean(1, c, m) - Med().outcome_mean(0, c, m)
    array([1.5])
    """

    def confounders(self, noise: Array) -> Array:
        """Which C comes from this noise?"""
        return np.asarray(ndtri(noise))

    def group_probability(self, c: Array) -> Array:
        """How likely is the comparison group, given C?"""
        return np.asarray(expit(c.mean(axis=1) / 2))

    def mediators(self, a: Array, c: Array, noise: Array) -> Array:
        """Which M comes from A, C and this noise?"""
        spread, choice = ndtri(noise[:, 0]), noise[:, 1]
        m = np.empty((len(c), 3))
        for which in range(3):
            on = choice[:, which] < SWITCH[which] + SWITCH_GAIN * a
            floor, jump = _center(which, c, m)
            m[:, which] = floor + on * jump + spread[:, which]
        return m

    def mediator_density(self, a: int, c: Array, m: Array) -> Array:
        """How dense is M given A and C? A product of three mixtures of two normals."""
        density = np.ones(len(c))
        for which in range(3):
            on = SWITCH[which] + SWITCH_GAIN * a
            floor, jump = _center(which, c, m)
            above = m[:, which] - floor
            density = density * (on * _bell(above - jump) + (1 - on) * _bell(above))
        return density

    def outcome(self, a: Array, c: Array, m: Array, noise: Array) -> Array:
        """Which Y comes from A, C, M and this noise?"""
        return np.asarray(self._mean(a, c, m) + 0.5 * ndtri(noise))

    def outcome_mean(self, a: int, c: Array, m: Array) -> Array:
        """Which Y is expected given A, C and M?"""
        return self._mean(np.full(len(c), float(a)), c, m)

    def nested_mean(self, i: int, j: int, c: Array) -> Array:
        """Which Y is expected given C if Y is told i and M is told j?

        Sums over the switches, closed forms for the last noise of each term (a folded normal for
        |W|), Gauss-Hermite nodes for the noises of W1 and W2 that reach later mediators.
        """
        m = np.zeros((len(c), 3))
        total = np.abs(c).sum(axis=1) / 24 + i / 6 * (c[:, 0] ** 2 + c[:, 2] ** 2)
        total += _average(0, j, c, m, _folded) / 24
        for weight, first in _values(0, j, c, m):
            m[:, 0] = first
            later = _average(1, j, c, m, _folded) / 24
            later += i / 6 * _average(1, j, c, m, _squared)
            for share, second in _values(1, j, c, m):
                m[:, 1] = second
                later += share * _average(2, j, c, m, _folded) / 24
            total += weight * later
        return np.asarray(total)

    def confounder_grid(self) -> tuple[Array, Array]:
        """Over which values of C do averages run? |Z| has a kink at 0."""
        return product_rule([kinked_normal_rule(12)] * 3)

    def _mean(self, a: Array, c: Array, m: Array) -> Array:
        sizes = (np.abs(c).sum(axis=1) + np.abs(m).sum(axis=1)) / 6
        squares = c[:, 0] ** 2 + c[:, 2] ** 2 + m[:, 1] ** 2
        return np.asarray(sizes / 4 + a / 6 * squares)


def _center(which: int, c: Array, m: Array) -> tuple[Array, Array]:
    """Where a mediator is centered while its switch is off, and how far switching on moves it."""
    if which == 0:
        return np.zeros(len(c)), (c[:, 0] + c[:, 1]) / 2 - 1
    if which == 1:
        return m[:, 0] ** 2 / 8 - 1, (c[:, 1] ** 2 + c[:, 2] ** 2) / 12 - 1
    return m[:, 0] * m[:, 1] / 16, c[:, 0] / 4 - 2


def _average(which: int, j: int, c: Array, m: Array, of: Callable[[Array], Array]) -> Array:
    """Mean of a function of one mediator; `of` gives it for a normal of known center."""
    on = SWITCH[which] + SWITCH_GAIN * j
    floor, jump = _center(which, c, m)
    return on * of(floor + jump) + (1 - on) * of(floor)


def _values(which: int, j: int, c: Array, m: Array) -> Iterator[tuple[float, Array]]:
    """Weighted values that stand for the distribution of one mediator given what precedes it."""
    on = SWITCH[which] + SWITCH_GAIN * j
    floor, jump = _center(which, c, m)
    for node, weight in zip(*normal_rule(NODES), strict=True):
        yield float(weight * (1 - on)), floor + node
        yield float(weight * on), floor + jump + node


def _folded(center: Array) -> Array:
    """E|N(center, 1)|."""
    tail = np.sqrt(2 / np.pi) * np.exp(-(center**2) / 2)
    return np.asarray(tail + center * erf(center / np.sqrt(2)))


def _squared(center: Array) -> Array:
    """E[N(center, 1)^2]."""
    return np.asarray(center**2 + 1)


def _bell(x: Array) -> Array:
    return np.asarray(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))
