"""How far could a hidden cause move one effect, and how strong must it be to change the answer?

    band                       effect ± bound
    interval                   the confidence interval, widened by the bound to both sides
    robustness                 the R = R_y² = R_a² at which the band reaches the margin
    robustness of the interval the same for the interval

The margin is the size of an effect that would not matter. An effect beyond it reaches it when the
band comes back to it, one within it when the band leaves it; an interval that holds the margin
already has a robustness of 0. Effects are signed as everywhere: comparison minus reference group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from causalfairness.effects import Effect
from causalfairness.inference import Interval
from causalfairness.sensitivity.stages import Stage, StageName, equal_strength
from causalfairness.sensitivity.strengths import Strengths, bound_of, strengths_of


@dataclass(frozen=True, eq=False)
class EffectSensitivity:
    """How far could a hidden cause move one effect, and how strong must it be to matter?

    Every question may be asked of one stage alone: `stage="mediators"`, of a hidden common cause of
    mediators and outcome, or `stage="group"`, of the group and what follows it. Without a stage the
    hidden cause enters both, and what it does in them adds up.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
    >>> direct = cf.sensitivity_to_confounding(found, outcome_share=0.1, group_share=0.1)["direct"]
    >>> low, high = direct.band()
    >>> low < found.direct.value < high, direct.bound("group")
    (True, 0.0)
    """

    effect: Effect
    meaning: str
    stages: Mapping[StageName, Stage]
    strengths: Strengths
    margin: float = 0.0
    level: float = 0.95

    @property
    def name(self) -> str:
        """Which effect is it?"""
        return self.effect.name

    @property
    def is_exposed(self) -> bool:
        """Could any hidden cause move it? Not an effect without residuals or weights."""
        return self.scale() > 0

    def scale(self, stage: StageName | None = None) -> float:
        """How far would a hidden cause of strength 1 move it? sqrt(E[residual²] E[weight²])."""
        return sum(each.scale for each in self._only(stage).values())

    def bound(self, stage: StageName | None = None) -> float:
        """How far could a hidden cause of the stated strength move the effect at most?"""
        return bound_of(self._only(stage), self.strengths)

    def bound_at(
        self, outcome_share: float, group_share: float, stage: StageName | None = None
    ) -> float:
        """How far could one with these shares move it?"""
        return bound_of(self._only(stage), strengths_of(outcome_share, group_share))

    def band(self, stage: StageName | None = None) -> Interval:
        """Between which values could the effect lie, chance aside?"""
        return _widened(Interval(self.effect.value, self.effect.value), self.bound(stage))

    def interval(self, stage: StageName | None = None) -> Interval:
        """Which values fit the data and a hidden cause of the stated strength?"""
        return _widened(self.effect.interval(self.level), self.bound(stage))

    def robustness(self, stage: StageName | None = None) -> float:
        """How strong must a hidden cause be for the estimate to reach the margin?

        A share, the same of outcome and weights; 1 if no hidden cause can.
        """
        return self._share_to_move(self.distance, stage)

    def robustness_of_interval(self, stage: StageName | None = None) -> float:
        """How strong must a hidden cause be for the interval to reach the margin?

        0 if it holds the margin already, or lies on both sides of it.
        """
        return self._share_to_move(self.room, stage)

    @property
    def distance(self) -> float:
        """How far is the estimate from the margin?"""
        return abs(abs(self.effect.value) - self.margin)

    @property
    def room(self) -> float:
        """How far is the interval from the margin? 0 if it holds it."""
        low, high = self.effect.interval(self.level)
        beyond = max(low - self.margin, -self.margin - high)
        within = min(self.margin - high, self.margin + low)
        return max(beyond, within, 0.0)

    def _share_to_move(self, distance: float, stage: StageName | None) -> float:
        scale = self.scale(stage)
        if distance == 0:
            return 0.0
        return equal_strength(distance / scale) if scale > 0 else 1.0

    def _only(self, stage: StageName | None) -> Mapping[StageName, Stage]:
        if stage is None:
            return self.stages
        if stage not in self.stages:
            raise KeyError(f"no stage is named {stage!r}; there are {', '.join(self.stages)}")
        return {stage: self.stages[stage]}


def _widened(interval: Interval, by: float) -> Interval:
    return Interval(interval.low - by, interval.high + by)
