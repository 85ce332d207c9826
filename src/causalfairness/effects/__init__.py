"""What was found? Numbers that know their uncertainty, and the sums made of them."""

from causalfairness.effects.column_table import ColumnTable
from causalfairness.effects.decomposition import Decomposition
from causalfairness.effects.diagnostics import Diagnostics, LearnerLoss, Overlap, Remainder
from causalfairness.effects.effect import Basis, Effect, spreads_of
from causalfairness.effects.second_moments import SecondMoments
from causalfairness.effects.table import EffectTable
from causalfairness.effects.world_means import Estimate, WorldMeans

__all__ = [
    "Basis",
    "ColumnTable",
    "Decomposition",
    "Diagnostics",
    "Effect",
    "EffectTable",
    "Estimate",
    "LearnerLoss",
    "Overlap",
    "Remainder",
    "SecondMoments",
    "WorldMeans",
    "spreads_of",
]
