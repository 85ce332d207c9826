"""Names that adapters saved before 0.2.0 hold: opening one is refused by a named error."""

from __future__ import annotations

from typing import Any

from causalfairness.errors import LearnerError

SAVED_EARLIER = (
    "this adapter was saved by a version of causalfairness that learned each group on its own "
    "(before 0.2.0); fit it again, or open it with the version that saved it"
)
MODULES = ("boosting", "forest")
NAMES = ("Boosted", "BoostedQuantiles", "ForestDistribution", "QuantileForest", "_Tree")


def __getattr__(name: str) -> Any:
    if name in NAMES:
        raise LearnerError(SAVED_EARLIER)
    raise AttributeError(name)
