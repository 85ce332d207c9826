"""Which model learns from adapted rows, if nobody names one? Boosted trees, for frames of any kind.

Numbers are seen as they are and labels as indicators. A label that fitting has not seen is refused.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from causalfairness.estimators.default_learners import BOOSTING
from causalfairness.scm.causes import Causes
from causalfairness.scm.domain import read_domain
from causalfairness.tables.frames import FrameRows, frame_rows


class Indicators(BaseEstimator):  # type: ignore[misc]
    """Numbers of a frame as they are, labels as indicators."""

    def fit(self, data: Any, y: Any = None) -> Self:
        """Learn which labels there are."""
        rows = FrameRows(data)
        self.domains_ = tuple(read_domain(rows, name)[0] for name in rows.frame.columns)
        return self

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return what a learner sees of these rows."""
        check_is_fitted(self)
        rows = frame_rows(data, [domain.name for domain in self.domains_])
        values = tuple(domain.encode(rows.read(domain.name)) for domain in self.domains_)
        return Causes(len(rows), self.domains_, values).design()


def boosted_trees(*, classifies: bool = True, seed: int = 0) -> Pipeline:
    """Return 60 small boosted trees, not yet fitted, for chances if it `classifies`, else numbers.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "M"] * 40, "age": [*range(20, 100)]})
    >>> model = boosted_trees().fit(people, np.arange(80) % 2)
    >>> model.predict_proba(people).shape, model.predict(people)[:2].tolist()
    ((80, 2), [0, 1])
    """
    kind = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    return make_pipeline(Indicators(), kind(**BOOSTING, random_state=seed))
