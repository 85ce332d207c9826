"""Does a score mean the same in both groups, and what would it take? (methods §5)"""

from causalfairness.parity.predictive.otherwise import Adapter
from causalfairness.parity.predictive.question import decompose_predictive_parity
from causalfairness.parity.predictive.result import BinnedGap, PredictiveParity, ScoreBin

__all__ = [
    "Adapter",
    "BinnedGap",
    "PredictiveParity",
    "ScoreBin",
    "decompose_predictive_parity",
]
