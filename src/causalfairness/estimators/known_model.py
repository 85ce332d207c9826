"""What would the audited model itself have said? World means where the model is at hand.

With y = f(A, M, C) and f callable, Q_i(m, c) = f(i, m, c) exactly: nothing is learned about the
outcome, there is no residual, and the direct part is a plain average of f. What remains to learn is
how mediators and confounders differ between the groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.effects import Estimate
from causalfairness.errors import PredictorError
from causalfairness.estimators.answers import check_varies, evaluate
from causalfairness.estimators.default_learners import classifiers, regressors
from causalfairness.estimators.doubly_robust import check_settings, cross_fitted, given, sample_of
from causalfairness.estimators.learners import (
    check_learner,
    check_means,
    check_probabilities,
)
from causalfairness.estimators.nuisance import Candidates, Sample
from causalfairness.estimators.protocol import described
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Of, RowPair, Rows, Table

SAME = 1e-6  # how far a column may be from the model's values, as a share of their range


@dataclass(frozen=True)
class KnownModel:
    """What would the audited model itself have said in each world?

    `predict` takes a frame of the protected, confounder and mediator columns, in the library of the
    data (pyarrow for files and database relations), and returns one number per row. `group` and
    `nested` are the learners for P(A | C) and for the mean prediction given C; None chooses.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data, model = world.draw(400, seed=0, frame="pandas"), world.model
    >>> score = lambda people: 0.5 * (people["group"] == model.comparison)
    >>> found = cf.decompose_disparity(
    ...     data, model, of="prediction", estimator=cf.estimators.KnownModel(score))
    >>> round(found.direct.value, 12), round(found.indirect.value, 12)
    (0.5, 0.0)
    """

    predict: Callable[[Any], Any]
    group: Any = None
    nested: Any = None
    folds: int = 5
    repeats: int = 1
    clip: float | None = None

    def __post_init__(self) -> None:
        check_settings(self.folds, self.repeats, self.clip)
        check_probabilities(self.group)
        check_learner(self.nested)
        check_means(self.nested, binary=False, what="a mean prediction")
        if not callable(self.predict):
            raise PredictorError(
                f"KnownModel needs a function of a frame, such as classifier.predict; "
                f"found {type(self.predict).__name__}"
            )

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold?"""
        if of == "outcome":
            raise PredictorError(
                "KnownModel answers questions about the prediction (of='prediction'): the model "
                "does not produce the outcome"
            )
        measured = model.prediction_column is not None
        return table.rows(model, "prediction" if measured else None)

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means of the model's predictions?"""
        return cross_fitted(self, reading.pair(model), workers=workers, seed=seed)

    def sample(self, pair: RowPair) -> Sample:
        """What would the model say about everyone, told either group?"""
        known = np.stack([evaluate(self.predict, pair.features(g), pair.model) for g in (0, 1)])
        predicted = np.where(pair.group == 1, known[1], known[0])
        self._check(pair, predicted)
        return sample_of(pair, predicted, known)

    def candidates(self, pair: RowPair, seed: int) -> Candidates:
        """Which learners compete for what is left to learn?"""
        c = pair.confounders.shape[1]
        learners = given(self.nested, regressors(c, seed))
        return Candidates(given(self.group, classifiers(c, seed)), (), (), learners, learners)

    __str__ = described

    def _check(self, pair: RowPair, predicted: Any) -> None:
        check_varies(predicted)
        if pair.outcome is None:
            return
        off = np.abs(pair.outcome - predicted) > SAME * float(np.ptp(predicted))
        if off.any():
            raise PredictorError(
                f"the prediction column {pair.model.prediction_column!r} differs from the model's "
                f"own values in {int(off.sum()):,} of {len(off):,} rows; give the model that made "
                "the column (same threshold, same columns), or leave the column out"
            )
