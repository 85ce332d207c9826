"""What would the data be, had everyone been of the reference group?

`FairAdapter` moves rows, `FairPredictor` trains any scikit-learn model on moved rows. The two are
loaded on first use, since they are scikit-learn's own kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from causalfairness.adaptation.boosting import BoostedQuantiles
from causalfairness.adaptation.forest import QuantileForest
from causalfairness.adaptation.learner import ConditionalDistribution, QuantileLearner
from causalfairness.adaptation.linear import LinearQuantiles
from causalfairness.adaptation.report import AdaptationReport, RankFit

if TYPE_CHECKING:
    from causalfairness.adaptation.fair_adapter import FairAdapter
    from causalfairness.adaptation.fair_predictor import FairPredictor

__all__ = [
    "AdaptationReport",
    "BoostedQuantiles",
    "ConditionalDistribution",
    "FairAdapter",
    "FairPredictor",
    "LinearQuantiles",
    "QuantileForest",
    "QuantileLearner",
    "RankFit",
]


def __getattr__(name: str) -> Any:
    if name == "FairAdapter":
        from causalfairness.adaptation.fair_adapter import FairAdapter

        return FairAdapter
    if name == "FairPredictor":
        from causalfairness.adaptation.fair_predictor import FairPredictor

        return FairPredictor
    raise AttributeError(f"module 'causalfairness.adaptation' has no attribute {name!r}")
