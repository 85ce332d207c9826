"""What would the data be, had everyone been of the reference group?

`FairAdapter` moves rows, `FairPredictor` trains any scikit-learn model on moved rows. The two are
loaded on first use, since they are scikit-learn's own kind.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from warnings import warn

from causalfairness.adaptation import saved_earlier
from causalfairness.adaptation.learner import ConditionalDistribution, QuantileLearner
from causalfairness.adaptation.linear import LinearQuantiles
from causalfairness.adaptation.report import AdaptationReport, RankFit
from causalfairness.adaptation.shared import SharedQuantiles

if TYPE_CHECKING:
    from causalfairness.adaptation.fair_adapter import FairAdapter
    from causalfairness.adaptation.fair_predictor import FairPredictor

sys.modules.update({f"{__name__}.{gone}": saved_earlier for gone in saved_earlier.MODULES})
FORMER = ("QuantileForest", "BoostedQuantiles")  # until 0.3

__all__ = [
    "AdaptationReport",
    "ConditionalDistribution",
    "FairAdapter",
    "FairPredictor",
    "LinearQuantiles",
    "QuantileLearner",
    "RankFit",
    "SharedQuantiles",
]


def __getattr__(name: str) -> Any:
    if name == "FairAdapter":
        from causalfairness.adaptation.fair_adapter import FairAdapter

        return FairAdapter
    if name == "FairPredictor":
        from causalfairness.adaptation.fair_predictor import FairPredictor

        return FairPredictor
    if name in FORMER:
        warn(
            f"{name} is gone: it moved groups apart by pulling each to its own middle. "
            "SharedQuantiles, the default, is taken instead, whatever settings are given; this "
            "name goes with 0.3",
            DeprecationWarning,
            stacklevel=2,
        )
        return lambda *settings, **named: SharedQuantiles()
    raise AttributeError(f"module 'causalfairness.adaptation' has no attribute {name!r}")
