"""How is any scikit-learn model used for the two regressions?

A regressor sees the features and one 0/1 column per group but the first; it is asked what it
expects of each person in each group. One that takes several targets is fitted once for all
models, any other once per model. A classifier gives the chance of 1, for predictions of 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from causalfairness.errors import LearnerError
from causalfairness.estimators.learners import (
    check_learner,
    check_means,
    check_probabilities,
    fit,
    is_classifier,
    predict_mean,
)
from causalfairness.invariance.kernel_ridge import regress, regress_by_group
from causalfairness.invariance.propensity import chances_of_groups
from causalfairness.invariance.reading import Array, Codes
from causalfairness.invariance.scores import Chances, Regress


def regression_by(model: Any, predictions: Array) -> Regress:
    """How is the expected prediction learned? By ridge regression where no model is given.

    >>> from sklearn.linear_model import LinearRegression
    >>> regress = regression_by(LinearRegression(), np.zeros((1, 1)))
    >>> a, z = np.array([0, 1, 0, 1]), np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> regress(z, a, a[:, None] + z, z[:1], 2).round(6).tolist()
    [[[0.0]], [[1.0]]]
    """
    if model is None:
        return regress_by_group
    _check(model, predictions)

    def regress(features: Array, group: Codes, target: Array, unseen: Array, levels: int) -> Array:
        rows = _with_group(features, group, levels)
        asked = [
            _with_group(unseen, np.full(len(unseen), level), levels) for level in range(levels)
        ]
        return np.stack(_expected(model, rows, target, asked))

    return regress


def means_by(model: Any, predictions: Array) -> Regress:
    """Return how h is learned by one model, from the features alone, (people, models).

    >>> from sklearn.linear_model import LinearRegression
    >>> z, a = np.arange(16.0)[:, None], np.arange(16) % 2
    >>> means_by(LinearRegression(), z)(z, a, 2 * z, z[:2], 2).round(6).tolist()
    [[0.0], [2.0]]
    """
    if model is None:
        return lambda features, group, target, unseen, levels: regress(features, target, unseen)
    _check(model, predictions)
    return lambda features, group, target, unseen, levels: _expected(
        model, features, target, [unseen]
    )[0]


def propensity_by(model: Any) -> Chances:
    """How are the chances of the groups learned by one model? Logistic regression if none is given.

    >>> from sklearn.dummy import DummyClassifier
    >>> chances = propensity_by(DummyClassifier())
    >>> chances(np.zeros((4, 1)), np.array([0, 1, 1, 1]), np.zeros((1, 1)), 2).tolist()
    [[0.25], [0.75]]
    """
    if model is None:
        return chances_of_groups
    check_probabilities(model)

    def chances(features: Array, group: Codes, unseen: Array, levels: int) -> Array:
        from sklearn.base import clone

        found = np.asarray(clone(model).fit(features, group).predict_proba(unseen), dtype=float).T
        if found.shape != (levels, len(unseen)) or not np.isfinite(found).all():
            raise LearnerError(
                f"{type(model).__name__} gave chances of shape {found.shape[::-1]}, expected "
                f"finite numbers of shape {(len(unseen), levels)}, one column per group"
            )
        return found

    return chances


def _check(model: Any, predictions: Array) -> None:
    check_learner(model)
    binary = bool(np.isin(predictions, (0.0, 1.0)).all())
    check_means(model, binary=binary, what="a prediction")


def _with_group(features: Array, group: Codes, levels: int) -> Array:
    return np.hstack([features, group[:, None] == np.arange(1, levels)]).astype(float)


def _expected(model: Any, rows: Array, target: Array, asked: list[Array]) -> list[Array]:
    """What is expected of each table of rows? (people, models) each."""
    from sklearn.base import clone
    from sklearn.utils import get_tags

    several = target.shape[1] > 1 and not is_classifier(model)
    if several and get_tags(model).target_tags.multi_output:
        together = clone(model).fit(rows, target)
        return [np.asarray(together.predict(table), dtype=float) for table in asked]
    fitted = [fit(model, rows, column, None) for column in target.T]
    return [np.column_stack([predict_mean(each, table) for each in fitted]) for table in asked]
