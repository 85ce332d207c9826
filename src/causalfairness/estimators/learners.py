"""Which model predicts a nuisance best? Candidates, and how any scikit-learn model is used.

By default each nuisance is learned by penalised linear models, plain and on all squares and
products of the columns, and by gradient boosting, and the one that predicts unseen people best is
taken. Boosting alone is too noisy in small groups, a linear model alone too stiff in large ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import LearnerLoss
from causalfairness.errors import LearnerError
from causalfairness.scm.learners import BOOSTING as SETTINGS
from causalfairness.scm.learners import weight_argument

if TYPE_CHECKING:
    from causalfairness.tables import RowPair

Array = NDArray[np.float64]
MOST_PRODUCTS = 400  # columns after squares and products; beyond, linear models stay plain
REACH = 3.0  # standard deviations that the linear models of probabilities see
MOST_CUT = 0.01  # of rows, that may go unsaid
BOOSTING = {**SETTINGS, "max_iter": 60, "max_leaf_nodes": 8}
FLOOR = 1e-12  # keeps log losses and odds finite; far below any weight that is not clipped


class Learner(NamedTuple):
    """What is a candidate called, and how is it made?"""

    name: str
    model: Any  # an unfitted scikit-learn model; cloned, never modified


def regressors(columns: int, seed: int) -> tuple[Learner, ...]:
    """Which models may predict a numeric outcome from this many columns?"""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.preprocessing import StandardScaler

    last = RidgeCV(alphas=np.logspace(-2, 4, 13))
    boosted = HistGradientBoostingRegressor(**BOOSTING, random_state=seed)
    return (*_linear(columns, "", [StandardScaler()], last), Learner("boosting", boosted))


def classifiers(columns: int, seed: int) -> tuple[Learner, ...]:
    """Which models may predict a probability from this many columns?

    The linear ones see no value further than three standard deviations out: squares and products
    of a few extreme counts would else drive probabilities to 0 and 1.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    cut = FunctionTransformer(np.clip, kw_args={"a_min": -REACH, "a_max": REACH})
    linear = [
        learner
        for c in (0.01, 0.1, 1.0)
        for learner in _linear(
            columns, f", C={c:g}", [StandardScaler(), cut], LogisticRegression(C=c, max_iter=1_000)
        )
    ]
    boosted = HistGradientBoostingClassifier(**BOOSTING, random_state=seed)
    return (*linear, Learner("boosting", boosted))


def capped(pair: RowPair) -> tuple[str, ...]:
    """Of which columns did linear models of chances not see the outermost values?"""
    found, columns = [], pair.rows.columns
    for name in (*pair.model.confounders, *pair.model.mediators):
        column = columns[name].take(pair.index)
        if (values := column.values) is None or column.is_missing.all():
            continue
        away = np.abs(values - np.nanmean(values)) / (np.nanstd(values) or 1.0)
        cut = float(np.mean(away > REACH))  # of a normal column .27 %
        if (cut > MOST_CUT or np.nanmax(away) > 2 * REACH) and len(np.unique(values)) > 2:
            found.append(f"{name} ({cut:.2%} of rows)")
    said = f"linear models of chances take values more than {REACH:g} standard deviations out as if"
    return (f"{said} they lay there: {', '.join(found)}",) if found else ()


def _linear(columns: int, setting: str, first: Sequence[Any], last: Any) -> tuple[Learner, ...]:
    """A plain linear model and one on all squares and products, unless these are too many."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    plain = Learner(f"linear{setting}", make_pipeline(*first, last))
    if columns * (columns + 3) // 2 > MOST_PRODUCTS:
        return (plain,)
    squares = PolynomialFeatures(2, include_bias=False)
    products = make_pipeline(*first, squares, StandardScaler(), last)
    return plain, Learner(f"linear with interactions{setting}", products)


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


def log_loss(target: Array, predicted: Array, weights: Array) -> float:
    """How surprised is a probability by what happened?

    >>> round(log_loss(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.ones(2)), 4)
    0.6931
    """
    p = np.clip(predicted, FLOOR, 1 - FLOOR)
    return float(np.average(-np.where(target == 1, np.log(p), np.log1p(-p)), weights=weights))


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
    measure, words = (log_loss, "log loss") if chances else (squared_loss, "squared error")
    flat = np.full_like(y, np.average(y, weights=weights))
    loss, baseline = (measure(y, guess, weights) for guess in (predicted, flat))
    return LearnerLoss(target, name, f"{words}{where}", loss, baseline)


def squared_loss(target: Array, predicted: Array, weights: Array) -> float:
    """How far is a prediction from what happened, squared?

    >>> squared_loss(np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.ones(2))
    0.25
    """
    return float(np.average((target - predicted) ** 2, weights=weights))


def last_step(model: Any) -> Any:
    """What does a pipeline end in? A model that is none is its own last step."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else model


class _Constant(NamedTuple):
    """A fitted model of a target that never varied."""

    value: float

    def predict(self, features: Array) -> Array:
        return np.full(len(features), self.value)
