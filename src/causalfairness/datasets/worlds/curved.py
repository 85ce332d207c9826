"""Which world tells the two terms of predictive parity apart? One with two curved mediators.

From the literature on predictive parity (methods §5), with coins and normal noise:

    A ~ Bern(.5);  W1 = A + e1;  W2 = W1^2 / 4 - A / 3 + e2;  Y = W1 W2 / 6 + W1 + A / 2 + e

Nothing confounds. A prediction that knows E[y | a, w1, w2] means the same in both groups, and still
each person of the comparison group would have had another outcome in the reference group.
`true_terms` gives that truth for any world and any score, bin by bin, by simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from causalfairness.datasets.worlds.world import COMPARISON, GROUP, World, roles_of

Array = NDArray[np.float64]
PEOPLE = 400_000


def curved() -> World:
    """What if mediators are squared and multiplied, and nothing confounds?

    It is not among `WORLDS`, whose members all have confounders.

    >>> {part: round(value, 4) for part, value in curved().true_effects().items()}
    {'total': 1.6111, 'direct': 0.5, 'indirect': 1.1111, 'spurious': 0.0}
    """
    roles = roles_of([], ["w1", "w2"])
    return World("curved", "two curved mediators, no confounder", roles, Curved())


@dataclass(frozen=True)
class Curved:
    """Which equations make the world with two curved mediators?

    >>> Curved().outcome_mean(1, np.empty((1, 0)), np.array([[3.0, 2.0]]))
    array([4.5])
    """

    def confounders(self, noise: Array) -> Array:
        """Which C comes from this noise? None."""
        return noise

    def group_probability(self, c: Array) -> Array:
        """How likely is the comparison group? A coin, as published."""
        return np.full(len(c), 0.5)

    def mediators(self, a: Array, c: Array, noise: Array) -> Array:
        """Which M comes from A and this noise?"""
        first, second = ndtri(noise[:, 0]).T
        w1 = a + first
        return np.column_stack([w1, w1**2 / 4 - a / 3 + second])

    def mediator_density(self, a: int, c: Array, m: Array) -> Array:
        """How dense is M given A? A product of two normals."""
        first, second = m[:, 0] - a, m[:, 1] - m[:, 0] ** 2 / 4 + a / 3
        return np.asarray(np.exp(-(first**2 + second**2) / 2) / (2 * np.pi))

    def outcome(self, a: Array, c: Array, m: Array, noise: Array) -> Array:
        """Which Y comes from A, M and this noise?"""
        return np.asarray(_mean(a, m) + ndtri(noise))

    def outcome_mean(self, a: int, c: Array, m: Array) -> Array:
        """Which Y is expected given A and M?"""
        return _mean(np.full(len(m), float(a)), m)

    def nested_mean(self, i: int, j: int, c: Array) -> Array:
        """Which Y is expected if Y is told i and M is told j? Moments of a normal."""
        product = (j**3 + 3 * j) / 4 - j**2 / 3  # E[W1 W2]
        return np.full(len(c), product / 6 + j + i / 2)

    def confounder_grid(self) -> tuple[Array, Array]:
        """Over which values of C do averages run? There is nothing to average over."""
        return np.empty((1, 0)), np.ones(1)


class TrueTerms(NamedTuple):
    """What is true of each bin of a score? See `causalfairness.decompose_predictive_parity`.

    `causal_error` is what simulation leaves open about `causal`. NaN where a group has nobody.

    >>> TrueTerms._fields
    ('ppm', 'causal', 'reverse_causal', 'drift', 'causal_error')
    """

    ppm: Array
    causal: Array
    reverse_causal: Array
    drift: Array
    causal_error: Array


def true_terms(
    world: World,
    score: Callable[[Any], Any],
    cuts: Sequence[float],
    *,
    people: int = PEOPLE,
    seed: int = 0,
) -> TrueTerms:
    """What are the gap at equal scores and its two terms, if everyone's other outcome is known?

    `score` is a function of a pandas frame; bins lie between the `cuts` and beyond them.

    >>> world = curved()
    >>> truth = true_terms(world, lambda people: people["w1"], [0.0, 1.0], people=20_000)
    >>> len(truth.ppm), bool((abs(truth.causal + truth.reverse_causal - truth.ppm) < 1e-12).all())
    (3, True)
    """
    observed, otherwise = world.draw_with_counterfactuals(people, seed=seed, frame="pandas")
    y, scores = observed["y"].to_numpy(), np.asarray(score(observed), dtype=float)
    place = np.searchsorted(np.asarray(cuts, dtype=float), scores, side="left")
    inside = (observed[GROUP] == COMPARISON).to_numpy()
    bins = len(cuts) + 1

    def mean(values: Array, of: NDArray[np.bool_]) -> Array:
        size = np.bincount(place[of], minlength=bins)
        total = np.bincount(place[of], values[of], minlength=bins)
        return np.asarray(np.divide(total, size, out=np.full(bins, np.nan), where=size > 0))

    would = otherwise["y"].to_numpy()
    causal = mean(y - would, inside)
    variance = mean((y - would) ** 2, inside) - causal**2
    people_there = np.maximum(np.bincount(place[inside], minlength=bins), 1)
    return TrueTerms(
        ppm=mean(y, inside) - mean(y, ~inside),
        causal=causal,
        reverse_causal=mean(would, inside) - mean(y, ~inside),
        drift=mean(scores, inside) - mean(scores, ~inside),
        causal_error=np.sqrt(np.maximum(variance, 0) / people_there),
    )


def _mean(a: Array, m: Array) -> Array:
    return np.asarray(m[:, 0] * m[:, 1] / 6 + m[:, 0] + a / 2)
