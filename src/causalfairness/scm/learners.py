"""How is a scikit-learn model fitted so that the same seed gives the same model?

Models are cloned, never modified; seeds inside them that were left open are set; and numerical
libraries run on one thread, so that sums are formed in one order.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import LearnerError
from causalfairness.inference import run_all

if TYPE_CHECKING:
    from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]
BOOSTING = {
    "learning_rate": 0.1,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "early_stopping": False,
}


def boosted_regressor() -> Any:
    """Which model learns any smooth or stepwise mean? Gradient boosting, not yet fitted."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=100, max_leaf_nodes=15, **BOOSTING)


def boosted_classifier() -> Any:
    """Which model learns any probabilities? Gradient boosting, not yet fitted."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, **BOOSTING)


def fit_learner(model: Any, features: Array, target: NDArray[Any], sample: Sample) -> Any:
    """What is this model, fitted? A copy; the model itself stays as it is."""
    counting = {} if sample.weights is None else weight_argument(model, sample.weights)
    fit = partial(seeded(model, sample.seed).fit, features, target, **counting)
    return run_all(lambda each: each(), [fit], workers=1, what="fitting a mechanism")[0]


def takes_weights(model: Any) -> bool:
    """Can this model be told that rows count differently? A logistic regression, None, can.

    >>> takes_weights(None)
    True
    """
    try:
        return model is None or bool(weight_argument(model, np.ones(1)))
    except LearnerError:
        return False


def seeded(model: Any, seed: int) -> Any:
    """What is this model, with its draws, if it makes any, following from a seed? A copy."""
    from sklearn.base import clone

    copy = clone(model)
    open_seeds = {
        name: seed
        for name, value in copy.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return copy.set_params(**open_seeds)


def is_learner(value: Any) -> bool:
    """Is this an unfitted scikit-learn model?"""
    return hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type)


def check_learner(model: Any, *, classifier: bool) -> None:
    """Can this model give means, or probabilities?"""
    from sklearn.base import is_classifier

    wanted = "classifier with predict_proba" if classifier else "regressor"
    suits = is_learner(model) and is_classifier(model) == classifier
    if not suits or (classifier and not hasattr(model, "predict_proba")):
        raise LearnerError(f"expected an unfitted scikit-learn {wanted}; found {model!r}")


def name_of(model: Any) -> str:
    """What is a model called in a summary? Gradient boosting of the default kind is "boosting".

    >>> from sklearn.linear_model import Ridge
    >>> name_of(boosted_regressor()), name_of(Ridge())
    ('boosting', 'Ridge')
    """
    name = type(model).__name__
    return "boosting" if name.startswith("HistGradientBoosting") else name


def weight_argument(model: Any, weights: Array) -> dict[str, Array]:
    """How is a model told that rows count differently? Refused by name where it cannot be.

    >>> from sklearn.linear_model import Ridge
    >>> list(weight_argument(Ridge(), np.ones(1)))
    ['sample_weight']
    """
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    last = model.steps[-1] if isinstance(model, Pipeline) else ("", model)
    if not has_fit_parameter(last[1], "sample_weight"):
        raise LearnerError(
            f"{type(last[1]).__name__} takes no sample_weight, but rows count differently here: a "
            "weights column is named, or standard errors come from refitting with random weights "
            "(Regression, Weighting); choose a learner that takes them"
        )
    return {f"{last[0]}__sample_weight" if last[0] else "sample_weight": weights}
