"""Columns as smooth functions see them: squares and products, and cubic splines of each column.

Splines are linear beyond the outermost knots. Knots lie at quantiles, more of them the more rows
there are. scikit-learn is imported with this module, so import it where models are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

Array = NDArray[np.float64]
FEWEST_VALUES = 8  # of a column that gets splines has more


def fewest_knots(rows: int) -> int:
    """Return how many knots a column gets, learned from so many rows.

    >>> [fewest_knots(rows) for rows in (50, 2_000, 100_000)]
    [4, 7, 12]
    """
    return int(np.clip(round(rows**0.2) + 2, 4, 12))


def splines_of(columns: Array) -> SplineTransformer | None:
    """Return fitted splines of these columns; None where there is no column to bend."""
    if columns.shape[1] == 0:
        return None
    knots = fewest_knots(len(columns))
    return SplineTransformer(
        knots, degree=3, knots="quantile", extrapolation="linear", include_bias=False
    ).fit(columns)


def bendable(columns: Array) -> NDArray[np.intp]:
    """Return which columns have more than eight values.

    >>> bendable(np.column_stack([np.arange(20.0), np.arange(20) % 2])).tolist()
    [0]
    """
    return np.array(
        [at for at, each in enumerate(columns.T) if len(np.unique(each)) > FEWEST_VALUES], np.intp
    )


class SplineBasis(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Squares and products of columns beside splines of each, to be scaled afterwards.

    >>> people = np.random.default_rng(0).normal(size=(50, 2))
    >>> SplineBasis(most=400).fit_transform(people).shape
    (50, 15)
    """

    def __init__(self, most: int) -> None:
        self.most = most  # columns after squares and products; beyond, there are none of these

    def fit(self, features: Array, target: Array | None = None) -> SplineBasis:
        """Learn where the knots lie."""
        d = features.shape[1]
        degree = 1 if d * (d + 3) // 2 > self.most else 2
        self.products_ = PolynomialFeatures(degree, include_bias=False).fit(features)
        self.bent_ = bendable(features)
        self.splines_ = splines_of(features[:, self.bent_])
        return self

    def transform(self, features: Array) -> Array:
        """Return the functions of these rows, one column each."""
        found = [self.products_.transform(features)]
        if self.splines_ is not None:
            found.append(self.splines_.transform(features[:, self.bent_]))
        return np.hstack(found)


class Chained(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A second regressor learns what a first one leaves; the sum of both predicts."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second

    def fit(self, features: Array, target: Array, sample_weight: Array | None = None) -> Chained:
        """Fit the first, then the second to what is left."""
        from causalfairness.estimators.learners import fit, predict_mean

        self.first_ = fit(self.first, features, target, sample_weight)
        left = target - predict_mean(self.first_, features)
        self.second_ = fit(self.second, features, left, sample_weight)
        return self

    def predict(self, features: Array) -> Array:
        """Return the sum of both predictions."""
        return np.asarray(self.first_.predict(features) + self.second_.predict(features))
