"""How strong may a hidden cause be, stage by stage? Shares that were stated, checked and named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import NamedTuple

from causalfairness.sensitivity.stages import STAGES, Stage, StageName, strength

Share = float | Mapping[StageName, float]
LIMIT = 1 - 1e-12  # a share of the weights that stands for any strength
HALVINGS = 80


class Shares(NamedTuple):
    """How much of the outcome's residual, and of the weights, does a hidden cause account for?

    >>> Shares(outcome=0.1, group=0.05).times(3).group
    0.15000000000000002
    """

    outcome: float  # R_y²
    group: float  # R_a²

    def times(self, factor: float) -> Shares:
        """What are the shares of a cause so many times as strong? Never more than all."""
        return Shares(min(factor * self.outcome, 1.0), min(factor * self.group, LIMIT))


Strengths = Mapping[StageName, Shares]


def strengths_of(outcome_share: Share, group_share: Share) -> Strengths:
    """Which shares were stated for which stage? One number holds for both.

    >>> strengths_of(0.1, {"mediators": 0.2, "group": 0.0})["group"]
    Shares(outcome=0.1, group=0.0)
    """
    outcome = _by_stage("outcome_share", outcome_share)
    group = _by_stage("group_share", group_share)
    return {stage: Shares(outcome[stage], group[stage]) for stage in STAGES}


def bound_of(stages: Mapping[StageName, Stage], strengths: Strengths) -> float:
    """How far could a hidden cause of these strengths move an effect, over its stages?"""
    return math.fsum(
        stage.scale * strength(*strengths[name]) if stage.scale else 0.0
        for name, stage in stages.items()
    )


def times_to_reach(
    distance: float, stages: Mapping[StageName, Stage], strengths: Strengths
) -> float:
    """How many times as strong would it have to be to move an effect by this much?

    Infinitely many times, if no multiple of it moves the effect at all.

    >>> stages: dict[StageName, Stage] = {"mediators": Stage(0.25, 4.0)}
    >>> round(times_to_reach(0.1, stages, {"mediators": Shares(0.05, 0.05)}), 3)
    1.902
    """
    if distance <= 0:
        return 0.0

    def bound(factor: float) -> float:
        return bound_of(stages, {name: each.times(factor) for name, each in strengths.items()})

    return least(lambda factor: bound(factor) >= distance, most=1 / (1 - LIMIT))


def least(reaches: Callable[[float], bool], *, most: float) -> float:
    """Which is the least number that reaches something, as all larger ones do?

    By doubling, then by halving; infinity where none up to `most` does.

    >>> round(least(lambda number: number**2 >= 2, most=1e9), 6)
    1.414214
    """
    low, high = 0.0, 1.0
    while not reaches(high):
        low, high = high, 2 * high
        if high > most:
            return math.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _by_stage(name: str, given: Share) -> Mapping[StageName, float]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(STAGES, _checked(name, given))
    if set(given) != set(STAGES):
        raise ValueError(
            f"{name} by stage needs one share for each of {', '.join(map(repr, STAGES))}; found "
            f"{', '.join(map(repr, given)) or 'none'}"
        )
    return {stage: _checked(f"{name}[{stage!r}]", given[stage]) for stage in STAGES}


def _checked(name: str, share: object) -> float:
    if isinstance(share, Real) and not isinstance(share, bool) and 0 <= float(share) < 1:
        return float(share)
    raise ValueError(
        f"{name} is a share of a variance, at least 0 and below 1, for instance 0.05; found "
        f"{share!r}"
    )
