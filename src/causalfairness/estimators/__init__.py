"""What would the mean outcome be in each world? Estimators of the twelve world means."""

from causalfairness.estimators.choice import choose_estimator
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.protocol import Estimator
from causalfairness.estimators.strata import Strata

__all__ = ["DoublyRobust", "Estimator", "KnownModel", "Strata", "choose_estimator"]
