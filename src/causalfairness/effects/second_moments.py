"""How large are the weights and the residuals behind the world means, on average?

A world mean weights what is left of the outcome in two stages (methods §12): alpha1(i, j, k)
against y - Q_i on rows of group i, and alpha2(j, k) = alpha1(j, j, k) against Q_i - nu_ij on rows
of group j. How far a hidden cause could move an effect depends on the second moments of the two
alone, so an estimate carries these few numbers and no rows. Means are over the rows of both groups;
weights are those of the estimator, as it cut and normalised them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """How large are the weights and the residuals behind the world means, on average?

    `without_mediators` says that there are none: then what the mediators are told plays no part.

    >>> none = np.zeros(2)
    >>> nothing = SecondMoments(np.zeros((2,) * 5), none, np.zeros((2,) * 3), none, none + 0.5)
    >>> nothing.of_group(1).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """

    weights: Array  # [i, j, k, j', k']: E[alpha1(i, j, k) alpha1(i, j', k')]
    outcome: Array  # [i]: E[1{A=i} (y - Q_i)^2]
    nested: Array  # [j, i, i']: E[1{A=j} (Q_i - nu_ij) (Q_i' - nu_i'j)]
    unmediated: Array  # [i]: E[1{A=i} (y - nu_ii)^2]
    share: Array  # [k]: of the people in the two groups
    without_mediators: bool = False

    def of_group(self, j: int) -> Array:
        """How large are the weights of the second stage in a group? By k and k'."""
        return np.asarray(self.weights[j, j, :, j, :])

    @classmethod
    def average(cls, several: Sequence[SecondMoments]) -> SecondMoments:
        """What are the moments on average over repetitions?"""
        numbers = ("weights", "outcome", "nested", "unmediated", "share")
        means = {name: np.mean([getattr(m, name) for m in several], axis=0) for name in numbers}
        return cls(**means, without_mediators=several[0].without_mediators)


class StageArrays(NamedTuple):
    """What are the weights and the residuals of single rows, or the mean squares within cells?

    >>> StageArrays._fields
    ('weights', 'outcome', 'nested', 'unmediated')
    """

    weights: Array  # (2, 2, 2, n): alpha1 by i, j and k
    outcome: Array  # (2, n): (y - Q_i)^2 by i
    nested: Array  # (2, 2, n): Q_i - nu_ij by j and i
    unmediated: Array  # (2, n): (y - nu_ii)^2 by i


def second_moments(
    arrays: StageArrays, counted: Array, *, without_mediators: bool
) -> SecondMoments:
    """What do weights and residuals come to on average?

    `counted` (2, n) is how much a row, or cell, counts in each group; its total is 1.

    >>> one, both = np.ones((2, 1)), np.array([[0.4], [0.6]])
    >>> arrays = StageArrays(np.ones((2, 2, 2, 1)), one, np.ones((2, 2, 1)), 2 * one)
    >>> second_moments(arrays, both, without_mediators=False).unmediated.tolist()
    [0.8, 1.2]
    """
    flat, nested = arrays.weights.reshape(2, 4, -1), arrays.nested
    return SecondMoments(
        weights=np.einsum("ian,ibn,in->iab", flat, flat, counted).reshape(2, 2, 2, 2, 2),
        outcome=np.einsum("in,in->i", arrays.outcome, counted),
        nested=np.einsum("jan,jbn,jn->jab", nested, nested, counted),
        unmediated=np.einsum("in,in->i", arrays.unmediated, counted),
        share=counted.sum(axis=1),
        without_mediators=without_mediators,
    )
