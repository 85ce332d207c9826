"""Where could a hidden cause enter an effect, and how far could it move it? (methods §12)

    |bias| <= sum over stages of  sqrt( E[residual²] E[weight²] R_y² R_a² / (1 - R_a²) )

An effect is a signed sum of world means mu[i, j, k], and a hidden cause can enter each of them in
two stages:

    mediators   y - Q_i      weighted by alpha1(i, j, k) on rows of group i
    group       Q_i - nu_ij  weighted by alpha2(j, k)    on rows of group j; absent if j = k

A common cause of mediators and outcome enters in the first alone, one of group and mediators in the
second alone, and one of group and outcome in both.
Of terms that share i the weights of the first stage add up; of terms that share j and k the
residuals of the second do. In a group whose rows serve terms with i = j only, the stages are one,
y - E[y | i, c] weighted by alpha2(i, k), and it counts as the second. The group's own mean,
i = j = k, needs no assumption and has no stage. Rows of the two groups are apart, so that within a
stage their squares add up.

R_y² is the share of a stage's residual variance that the hidden cause explains, and
R_a² / (1 - R_a²) is the variance that it adds to the weights, given all that is observed, over
their mean square.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import SecondMoments
from causalfairness.effects.world_means import Among, World

Array = NDArray[np.float64]
StageName = Literal["mediators", "group"]
STAGES: tuple[StageName, ...] = ("mediators", "group")
STORIES: Mapping[StageName, str] = {
    "mediators": "a hidden common cause of the outcome and of mediators or group",
    "group": "a hidden common cause of the group and of mediators or outcome",
}
ROUNDING = 1e-12


class Stage(NamedTuple):
    """How large are the residuals and the weights of one stage, on average over all rows?

    >>> round(Stage(residual=0.25, weight=4.0).bound(outcome_share=0.1, group_share=0.1), 4)
    0.1054
    """

    residual: float  # mean square, over rows whose weight is not zero
    weight: float  # mean square

    @property
    def scale(self) -> float:
        """How far would a hidden cause move the effect at most, per unit of strength?"""
        return math.sqrt(self.residual * self.weight)

    def bound(self, *, outcome_share: float, group_share: float) -> float:
        """How far could a hidden cause with these shares move the effect?"""
        return self.scale * strength(outcome_share, group_share)


NO_STAGE = Stage(0.0, 0.0)


def strength(outcome_share: float, group_share: float) -> float:
    """How strong is a hidden cause? sqrt(R_y² R_a² / (1 - R_a²)).

    >>> strength(0.0, 0.5), round(strength(0.5, 0.5), 4)
    (0.0, 0.7071)
    """
    return math.sqrt(outcome_share * group_share / (1 - group_share))


def equal_strength(reach: float) -> float:
    """Which share, the same for outcome and weights, has this strength?

    The solution R of R / sqrt(1 - R) = reach: 0 for none, and towards 1 for any strength.

    >>> round(equal_strength(strength(0.3, 0.3)), 6), equal_strength(math.inf)
    (0.3, 1.0)
    """
    if reach > 1e6:
        return 1.0
    square = reach * reach
    return (math.sqrt(square * square + 4 * square) - square) / 2


def stages_of(moments: SecondMoments, terms: Mapping[World, float]) -> dict[StageName, Stage]:
    """What are the two stages of an effect, with terms combined where they share rows?

    >>> none = np.zeros(2)
    >>> half = SecondMoments(np.ones((2,) * 5), none + 0.25, np.ones((2,) * 3), none, none + 0.5)
    >>> stages_of(half, {(1, 0, 0): 1.0, (0, 0, 0): -1.0})
    {'mediators': Stage(residual=0.25, weight=1.0), 'group': Stage(residual=0.0, weight=0.0)}
    """
    told = [
        (i, i if moments.without_mediators else j, k, weight) for (i, j, k), weight in terms.items()
    ]
    used = [(i, j, k, weight) for i, j, k, weight in told if not i == j == k]
    crossed = {g for i, j, _, _ in used if i != j for g in (i, j)}
    first, second = [], []
    for g in (0, 1):
        if g in crossed:
            first.append(_outcome_stage(moments, [term for term in used if term[0] == g], g))
            second.append(_nested_stage(moments, [term for term in used if term[1] == g], g))
        else:
            second.append(_joint_stage(moments, [term for term in used if term[0] == g], g))
    return {"mediators": _together(first), "group": _together(second)}


Term = tuple[int, int, Among, float]


def _outcome_stage(moments: SecondMoments, terms: Iterable[Term], i: int) -> Stage:
    """y - Q_i in group i: weights add up."""
    weight = np.zeros((2, 2))
    for _, j, k, size in terms:
        weight[j] += size * _mixture(moments, k)
    square = float(np.einsum("ab,abcd,cd->", weight, moments.weights[i], weight))
    return _stage(float(moments.outcome[i]), square)


def _nested_stage(moments: SecondMoments, terms: Iterable[Term], j: int) -> Stage:
    """Q_i - nu_ij in group j: residuals of terms with one k add up, or weights of those with one i.

    In both cases the table of k by i is a product of weights and residuals.
    """
    table = np.zeros((2, 2))
    for i, _, k, size in terms:
        if k != j:
            table[:, i] += size * _mixture(moments, k)
    largest = np.unravel_index(np.abs(table).argmax(), table.shape)
    if table[largest] == 0:
        return NO_STAGE
    residual, weight = table[largest[0]] / table[largest], table[:, largest[1]]
    if not np.allclose(np.outer(weight, residual), table, rtol=0, atol=ROUNDING):
        raise ValueError(
            "terms that differ both in the group that is set and in whom it is about do not "
            "combine; ask for their sums one by one"
        )
    return _stage(
        float(residual @ moments.nested[j] @ residual),
        float(weight @ moments.of_group(j) @ weight),
    )


def _joint_stage(moments: SecondMoments, terms: Iterable[Term], g: int) -> Stage:
    """y - E[y | g, c] in group g: both stages are one."""
    weight = np.zeros(2)
    for _, _, k, size in terms:
        weight += size * _mixture(moments, k)
    return _stage(float(moments.unmediated[g]), float(weight @ moments.of_group(g) @ weight))


def _mixture(moments: SecondMoments, k: Among) -> Array:
    """What of each group is in k?"""
    return moments.share if k == "everyone" else np.eye(2)[k]


def _stage(residual: float, weight: float) -> Stage:
    """Residuals count on rows that have a weight."""
    return Stage(max(residual, 0.0), weight) if weight > ROUNDING else NO_STAGE


def _together(parts: Sequence[Stage]) -> Stage:
    return Stage(sum(part.residual for part in parts), sum(part.weight for part in parts))
