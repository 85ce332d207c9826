"""What would the mean outcome be in each world? Estimators of the twelve world means."""

from causalfairness.estimators.choice import choose_estimator
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.mixture import Mixture
from causalfairness.estimators.protocol import Estimator
from causalfairness.estimators.regression import Regression
from causalfairness.estimators.strata import Strata
from causalfairness.estimators.structural import Structural
from causalfairness.estimators.weighting import Weighting

__all__ = [
    "DoublyRobust",
    "Estimator",
    "KnownModel",
    "Mixture",
    "Regression",
    "Strata",
    "Structural",
    "Weighting",
    "choose_estimator",
]
