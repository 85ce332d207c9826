"""Which model learns from adapted rows, if nobody names one? Boosted trees, for frames of any kind.

Numbers are seen as they are and labels as indicators. A label that fitting has not seen is refused.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from causalfairness.estimators.default_learners import BOOSTING
from causalfairness.scm.causes import Causes
from causalfairness.scm.domain import read_domain
from causalfairness.tables.frames import FrameRows, frame_rows


class BoostedTrees(BaseEstimator):  # type: ignore[misc]
    """Which model learns from a frame with columns of any kind?

    Gradient boosting with 60 small trees. It gives chances with `classifies`, else numbers.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "M"] * 40, "age": [*range(20, 100)]})
    >>> model = BoostedTrees().fit(people, np.arange(80) % 2)
    >>> model.predict_proba(people).shape, model.predict(people)[:2].tolist()
    ((80, 2), [0, 1])
    """

    def __init__(self, *, classifies: bool = True, seed: int = 0) -> None:
        self.classifies = classifies
        self.seed = seed

    def fit(self, data: Any, y: Any) -> Self:
        """How does the target follow from these columns?"""
        rows = FrameRows(data)
        read = [read_domain(rows, name) for name in rows.frame.columns]
        self.domains_ = tuple(domain for domain, _ in read)
        design = Causes(len(rows), self.domains_, tuple(values for _, values in read)).design()
        kind = HistGradientBoostingClassifier if self.classifies else HistGradientBoostingRegressor
        self.model_ = kind(**BOOSTING, random_state=self.seed).fit(design, y)
        if self.classifies:
            self.classes_ = self.model_.classes_
        return self

    def predict(self, data: Any) -> NDArray[Any]:
        """What is predicted for these rows?"""
        return np.asarray(self._fitted().predict(self._design(data)))

    @available_if(lambda self: self.classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, data: Any) -> NDArray[Any]:
        """Which chance has each class? Columns as in `classes_`."""
        return np.asarray(self._fitted().predict_proba(self._design(data)))

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.model_

    def _design(self, data: Any) -> NDArray[np.float64]:
        rows = frame_rows(data, [domain.name for domain in self.domains_])
        values = tuple(domain.encode(rows.read(domain.name)) for domain in self.domains_)
        return Causes(len(rows), self.domains_, values).design()
