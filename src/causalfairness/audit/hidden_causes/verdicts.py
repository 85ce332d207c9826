"""How strong must a hidden common cause be for a verdict to change?

A verdict is made by tests with a margin (`EquivalenceRule`). A hidden cause of a given strength can
move each effect by its bound at most: towards zero where effects were found to be too large, away
from it where they were found to be small. The verdict can change from the strength on at which the
same tests, asked about the effects so moved, say something else:

    violated    once no effect stands out any more
    satisfied   once one of them might lie beyond the margin
    undecided   is undecided without any hidden cause: a strength of 0

Strength is one share R = R_y² = R_a², or how many times as strong as a confounder that was seen.
That all effects are moved at once is the worst case: a real cause may need to be stronger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from causalfairness.effects import Effect
from causalfairness.parity.necessity.rules import EquivalenceRule
from causalfairness.sensitivity import EffectSensitivity
from causalfairness.sensitivity.stages import STAGES, StageName, equal_strength
from causalfairness.sensitivity.strengths import bound_of, least

STORIES: Mapping[str, tuple[StageName, ...]] = {
    "mediators and outcome": ("mediators",),
    "group and mediators": ("group",),
    "group and outcome": STAGES,
}
MOST = 1e9  # times, or strength, beyond which nothing is expected to change


@dataclass(frozen=True, eq=False)
class Exposed:
    """How far could a hidden common cause move one effect of an answer?

    `shown` has the strength that was stated, and each of `benchmarks` that of a confounder.

    >>> Exposed.__dataclass_fields__.keys()
    dict_keys(['shown', 'judged', 'benchmarks'])
    """

    shown: EffectSensitivity
    judged: bool = False
    benchmarks: Mapping[str, EffectSensitivity] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Which effect is it?"""
        return self.shown.name

    def bound(self, strength: float, stages: Sequence[StageName]) -> float:
        """How far could a cause of this strength move it, in these stages?"""
        return strength * math.fsum(self.shown.scale(stage) for stage in stages)

    def bound_as(self, confounder: str, times: float, stages: Sequence[StageName]) -> float:
        """How far could a cause so many times as strong as a confounder move it?"""
        if confounder not in self.benchmarks:
            return 0.0
        found = self.benchmarks[confounder]
        shares = {stage: found.strengths[stage].times(times) for stage in stages}
        return bound_of({stage: found.stages[stage] for stage in stages}, shares)


def share_to_change(
    judged: Sequence[Exposed], rule: EquivalenceRule, stages: Sequence[StageName] = STAGES
) -> float:
    """Which share, of outcome and weights alike, changes the verdict? 1 if none does."""
    return equal_strength(_least(judged, rule, lambda each, size: each.bound(size, stages)))


def times_to_change(
    judged: Sequence[Exposed],
    rule: EquivalenceRule,
    confounder: str,
    stages: Sequence[StageName] = STAGES,
) -> float:
    """How many times as strong as a confounder changes the verdict? Infinity if none does."""
    return _least(judged, rule, lambda each, times: each.bound_as(confounder, times, stages))


def _least(
    judged: Sequence[Exposed], rule: EquivalenceRule, bound: Callable[[Exposed, float], float]
) -> float:
    """The least strength at which the verdict is another."""
    effects = [  # the same centers and standard errors, without the rows behind them
        replace(each.vanished(), value=each.center, spread=np.array([each.standard_error]))
        for each in (one.shown.effect for one in judged)
    ]
    verdict = rule.judge(effects).verdict
    if verdict == "undecided":
        return 0.0
    inwards = verdict == "violated"

    def is_another(strength: float) -> bool:
        moved = [
            _moved(effect, bound(each, strength), inwards=inwards)
            for effect, each in zip(effects, judged, strict=True)
        ]
        return rule.judge(moved).verdict != verdict

    return least(is_another, most=MOST)


def _moved(effect: Effect, by: float, *, inwards: bool) -> Effect:
    size = max(abs(effect.value) - by, 0.0) if inwards else abs(effect.value) + by
    return replace(effect, value=size)
