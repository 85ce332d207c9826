"""How any scikit-learn model is checked, fitted and held against what happened."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import LearnerLoss
from causalfairness.errors import LearnerError
from causalfairness.scm.learners import weight_argument

Array = NDArray[np.float64]
FLOOR = 1e-12  # keeps log losses and odds finite; far below any weight that is not clipped


def check_probabilities(model: Any) -> None:
    """Can this model give the probability of a group?"""
    check_learner(model)
    if model is not None and not (is_classifier(model) and hasattr(model, "predict_proba")):
        raise LearnerError(
            f"the model of the group must be a classifier with predict_proba; found {model!r}"
        )


def check_means(model: Any, *, binary: bool, what: str) -> None:
    """Can this model give the mean of such a target?"""
    if model is not None and is_classifier(model):
        if not binary:
            raise LearnerError(
                f"{type(model).__name__} is a classifier, but {what} is a number; give a regressor"
            )
        check_probabilities(model)


def check_learner(model: Any) -> None:
    """Is this something that can learn? None stands for the default candidates."""
    if model is not None and (isinstance(model, type) or not hasattr(model, "fit")):
        raise LearnerError(
            "a learner must be an unfitted scikit-learn model with fit and predict; "
            f"found {model!r}"
        )


def check_takes_weights(model: Any) -> None:
    """Can rows count differently for this model? None stands for the default."""
    if model is not None:
        weight_argument(model, np.empty(0))


def fit(model: Any, features: Array, target: Array, weights: Array | None) -> Any:
    """How is a copy of this model fitted, with row weights where there are any?"""
    from sklearn.base import clone

    if np.ptp(target) == 0:
        return _Constant(float(target[0]))
    copy = clone(model)
    if weights is None:
        return copy.fit(features, target)
    return copy.fit(features, target, **weight_argument(copy, weights))


def predict_mean(model: Any, features: Array) -> Array:
    """What mean, or what probability of 1, does a fitted model give each row?"""
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(features), dtype=float)
    return np.asarray(model.predict_proba(features)[:, 1], dtype=float)


def is_classifier(model: Any) -> bool:
    """Does this model predict classes?"""
    from sklearn.base import is_classifier as asked

    return bool(asked(model))


def losses_of(target: Array, predicted: Array, *, chances: bool) -> Array:
    """Return each row's loss: the log loss of chances, or the squared error of means.

    >>> losses_of(np.array([1.0, 0.0]), np.array([0.5, 0.5]), chances=True).round(4).tolist()
    [0.6931, 0.6931]
    """
    if not chances:
        return np.asarray((target - predicted) ** 2)
    p = np.clip(predicted, FLOOR, 1 - FLOOR)
    return -np.where(target == 1, np.log(p), np.log1p(-p))


def loss_of(
    target: str,
    name: str,
    chances: bool,
    y: Array,
    predicted: Array,
    weights: Array,
    where: str = "",
) -> LearnerLoss:
    """How well does a model predict, in log loss if it gives chances, beside the plain mean?"""
    words = "log loss" if chances else "squared error"
    flat = np.full_like(y, np.average(y, weights=weights))
    loss, baseline = (
        float(np.average(losses_of(y, guess, chances=chances), weights=weights))
        for guess in (predicted, flat)
    )
    return LearnerLoss(target, name, f"{words}{where}", loss, baseline)


def last_step(model: Any) -> Any:
    """What does a pipeline end in? A model that is none is its own last step."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else model


class _Constant(NamedTuple):
    """A fitted model of a target that never varied."""

    value: float

    def predict(self, features: Array) -> Array:
        return np.full(len(features), self.value)
