"""The models that compete by default for every mean and every chance.

Penalized linear models, plain and on all squares and products of the columns; the same beside
splines of each column; gradient boosting of a small fixed size, and of a size that grows until
rows set aside are predicted no better; for means also such boosting on what splines leave. Which
of them predicts unseen people best is for `cross_fitting` to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalfairness.scm.learners import BOOSTING as SETTINGS

if TYPE_CHECKING:
    from causalfairness.tables import RowPair

MOST_PRODUCTS = 400  # columns after squares and products; beyond, linear models stay plain
REACH = 3.0  # standard deviations that the linear models of probabilities see
MOST_CUT = 0.01  # of rows, that may go unsaid
FEWEST_ANSWERS = 20  # some of which are set aside to say when boosting has grown enough
BOOSTING = {**SETTINGS, "max_iter": 60, "max_leaf_nodes": 8}
GROWN = {
    **SETTINGS,
    "max_iter": 1_000,
    "max_leaf_nodes": 15,
    "early_stopping": True,
    "n_iter_no_change": 10,
    "validation_fraction": 0.1,
}


class Learner(NamedTuple):
    """What a candidate is called, and how it is made."""

    name: str
    model: Any  # an unfitted scikit-learn model; cloned, never modified
    fewest: int = 0  # times that the rarer answer must be seen for this candidate to be tried


def regressors(columns: int, seed: int) -> tuple[Learner, ...]:
    """Return the models that may predict a numeric outcome from this many columns.

    >>> [learner.name for learner in regressors(2, seed=0)]
    ['linear', 'linear with interactions', 'splines', 'boosting', 'grown', 'splines, then grown']
    """
    from sklearn.ensemble import HistGradientBoostingRegressor as Boosting
    from sklearn.linear_model import RidgeCV
    from sklearn.preprocessing import StandardScaler

    from causalfairness.estimators.spline_basis import Chained

    first, grown = [StandardScaler()], Boosting(**GROWN, random_state=seed)
    splines = _on_splines("splines", first, RidgeCV(alphas=np.logspace(-2, 5, 15)))
    return (
        *_linear(columns, "", first, RidgeCV(alphas=np.logspace(-2, 4, 13))),
        splines,
        Learner("boosting", Boosting(**BOOSTING, random_state=seed)),
        Learner("grown", grown),
        Learner("splines, then grown", Chained(splines.model, grown)),
    )


def classifiers(columns: int, seed: int) -> tuple[Learner, ...]:
    """Return the models that may predict a probability from this many columns.

    The linear ones see no value further than three standard deviations out: squares and products
    of a few extreme counts would else drive probabilities to 0 and 1.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier as Boosting
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    cut = FunctionTransformer(np.clip, kw_args={"a_min": -REACH, "a_max": REACH})
    first = [StandardScaler(), cut]
    linear = [
        learner
        for c in (0.01, 0.1, 1.0)
        for learner in _linear(
            columns, f", C={c:g}", first, LogisticRegression(C=c, max_iter=1_000)
        )
    ]
    newton = partial(LogisticRegression, max_iter=500, solver="newton-cholesky")
    splines = [_on_splines(f"splines, C={c:g}", first, newton(C=c)) for c in (0.01, 0.1)]
    boosted = Learner("boosting", Boosting(**BOOSTING, random_state=seed))
    grown = Learner("grown", Boosting(**GROWN, random_state=seed), FEWEST_ANSWERS)
    return (*linear, *splines, boosted, grown)


def capped(pair: RowPair) -> tuple[str, ...]:
    """Say of which columns linear models of chances did not see the outermost values."""
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


def _on_splines(name: str, first: Sequence[Any], last: Any) -> Learner:
    """A model that is linear in squares, products and splines of the columns."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from causalfairness.estimators.spline_basis import SplineBasis

    return Learner(name, make_pipeline(*first, SplineBasis(MOST_PRODUCTS), StandardScaler(), last))
