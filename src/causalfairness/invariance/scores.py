"""How much does knowing the group help to predict the predictions? One score per person.

With g(a, z) = E[prediction | group a, features z] and h(z) = sum_a pi(a | z) g(a, z),

    d_i = (prediction_i - h_i) (g(a_i, z_i) - h_i),          E[d] = E[(g - h)^2] at the true g,

which is 0 if and only if the prediction does not depend on the group given the features. The
effect is estimated by 2 (prediction - h)(g - h) - (g - h)^2: errors of g then count squared only,
and lower it. g and pi come from other people. Where h is learned by itself (`nuisances`), g - h is
what the other half's prediction - h follows, e(a, z), less sum_a pi(a | z) e(a, z).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from causalfairness.invariance.reading import Array, Codes

NEGLIGIBLE = 1e-13  # of the variance of a prediction; less is rounding

# from features, groups and predictions of others, for the features of those unseen
Regress = Callable[[Array, Codes, Array, Array, int], Array]  # -> (levels, people, models)
Chances = Callable[[Array, Codes, Array, int], Array]  # -> (levels, people)


class Split(NamedTuple):
    """Whom are the regressions learned from, and who is judged by them?"""

    learned: Codes
    judged: Codes


@dataclass(frozen=True, eq=False)
class Judged:
    """What do regressions learned from others say about these people?"""

    predictions: Array  # (people, models)
    group: Codes
    expected: Array  # g, (levels, people, models)
    chances: Array  # pi, (levels, people)

    @cached_property
    def apart(self) -> Array:
        """How far is each group's expectation from the average over groups, g - h?

        Measured from the first group, so that it is exactly 0 where groups do not differ.
        """
        beyond = self.expected - self.expected[0]
        return np.asarray(beyond - np.einsum("anm,an->nm", beyond, self.chances))

    @cached_property
    def surprise(self) -> Array:
        """How far is the prediction from what the features suggest, prediction - h?"""
        return self.predictions - (self.of_own(self.expected) - self.of_own(self.apart))

    @cached_property
    def told(self) -> Array:
        """What would the score be in each group? (levels, people, models).

        Exactly 0 where everyone has the same prediction, or where all are too small to mean more
        than rounding.
        """
        scores = self.surprise * self.apart
        size = NEGLIGIBLE * self.predictions.var(axis=0)
        varied = np.ptp(self.predictions, axis=0) > 0
        told = varied & (np.abs(scores).max(axis=(0, 1)) > size)
        return np.asarray(np.where(told, scores, 0.0))

    @cached_property
    def scores(self) -> Array:
        """What is d? (people, models)."""
        return self.of_own(self.told)

    @cached_property
    def effects(self) -> Array:
        """What does each person say about the effect? (people, models)."""
        return np.asarray(2 * self.scores - self.of_own(self.apart) ** 2)

    def of_own(self, by_level: Array) -> Array:
        """What holds for the group that each person is in?"""
        return np.asarray(by_level[self.group, np.arange(len(self.group))])


def halves(group: Codes, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Which people form either half? By chance, with as many of each group in both.

    >>> [half.size for half in halves(np.repeat([0, 1], [9, 8]), np.random.default_rng(0))]
    [9, 8]
    """
    mixed = rng.permutation(len(group))
    order = mixed[np.argsort(group[mixed], kind="stable")]
    return rng.permutation(order[::2]), rng.permutation(order[1::2])


class Means(NamedTuple):
    """What is the mean of each model's scores, and its standard error?"""

    value: Array
    error: Array


def means_of(scores: Array) -> Means:
    """What is the mean of each column, and its standard error?

    >>> means_of(np.array([[1.0], [3.0]])).error.tolist()
    [1.0]
    """
    return Means(scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores)))


class EffectSize(NamedTuple):
    """How large is E[(g - h)^2], with its standard error, and how far are predictions from h?

    `score` is the mean of d: errors of g do not lower it, but its spread does not show them.
    """

    value: Array
    error: Array
    score: Array
    noise: Array  # root mean square of prediction - h


def effect_of(parts: Sequence[Judged]) -> EffectSize:
    """How large is the effect, over all who were judged?"""
    found = means_of(np.concatenate([part.effects for part in parts]))
    squares = np.concatenate([part.surprise**2 for part in parts])
    score = np.concatenate([part.scores for part in parts]).mean(axis=0)
    return EffectSize(found.value, found.error, score, np.sqrt(squares.mean(axis=0)))


def studentized(found: Means) -> Array:
    """How many standard errors is each mean from 0? 0 for scores of 0, infinite for constants."""
    flat = found.error <= NEGLIGIBLE * np.abs(found.value)
    endless = np.where(found.value == 0, 0.0, np.copysign(np.inf, found.value))
    return np.where(flat, endless, found.value / np.where(flat, 1.0, found.error))
