"""What if a node is any function of its causes plus noise?

    V = g(causes) + noise,      g = a scikit-learn regressor

The noise of a row is its residual, and worlds are coupled exactly: the counterfactual is the value
plus the difference of two predictions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.learners import boosted_regressor, check_learner, fit_learner, name_of
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Additive:
    """What if a node is any function of its causes plus noise?

    `regressor` is an unfitted scikit-learn model; None takes gradient boosting. A seed that the
    model leaves open is set by `StructuralCausalModel.fit`.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> print(Additive(), "or", Additive(DecisionTreeRegressor()))
    additive (boosting) or additive (DecisionTreeRegressor)
    """

    regressor: Any = None

    learns = True

    def __post_init__(self) -> None:
        if self.regressor is not None:
            check_learner(self.regressor, classifier=False)

    def fit(self, sample: Sample) -> AdditiveEquation:
        """Which function of the causes predicts best?"""
        sample.check_numbers(f"Additive({name_of(self._model())})")
        sample.check_size()
        if not sample.causes.names:
            raise MechanismError(
                f"{sample.target.name!r} has no causes to learn from; use Empirical()"
            )
        design = sample.causes.design()
        return AdditiveEquation(fit_learner(self._model(), design, sample.values, sample))

    def _model(self) -> Any:
        return boosted_regressor() if self.regressor is None else self.regressor

    def __str__(self) -> str:
        return f"additive ({name_of(self._model())})"


@dataclass(frozen=True, eq=False)
class AdditiveEquation:
    """How does a node follow from its causes by a learned function?

    >>> from causalfairness.scm.domain import Domain
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LinearRegression().fit(np.array([[0.0], [1.0]]), np.array([1.0, 3.0]))
    >>> causes = Causes(1, (Domain("age"),), (np.array([2.0]),))
    >>> AdditiveEquation(model).apply(np.array([0.5]), causes).round(6).tolist()
    [5.5]
    """

    model: Any

    assumption = "noise is added to a learned prediction and is the same in every world"
    whole = False

    def predict(self, causes: Causes) -> Array:
        """The mean given the causes."""
        return np.asarray(self.model.predict(causes.design()), dtype=float)

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """The residual."""
        return values - self.predict(causes)

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The prediction plus the noise."""
        return self.predict(causes) + noise
