"""What does the audited model say about these rows, and what does it decide?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import PredictorError
from causalfairness.estimators.answers import answers, as_numbers
from causalfairness.tables import only_columns

Array = NDArray[np.float64]
LIKE_THE_DATA = "a frame like the data"


@dataclass(frozen=True)
class Auditee:
    """How is the audited model asked? Scores are numbers; decisions, if any, are 0 or 1."""

    ask: Callable[[Any], Any]
    model: Any  # a fitted scikit-learn model; None for a function
    threshold: float | None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Which columns does the model use, if it says so?"""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    def features(self, frame: Any) -> Any:
        """What does the model see of these rows?"""
        return frame if self.columns is None else only_columns(frame, self.columns)

    def score(self, frame: Any) -> Array:
        """Which number does the model give each row?"""
        return as_numbers(answers(self.ask, self.features(frame), LIKE_THE_DATA))

    def judge(self, frame: Any) -> tuple[Array, Array | None]:
        """Which score does each row get, and which decision?"""
        score = self.score(frame)
        return score, self.decide(frame, score)

    def decide(self, frame: Any, score: Array) -> Array | None:
        """What is decided about each row? None where scores are not decisions."""
        if self.threshold is not None:
            return (score >= self.threshold).astype(float)
        if _has_two_classes(self.model):
            predicted = np.asarray(self.model.predict(self.features(frame)))
            return np.asarray(predicted == self.model.classes_[1], dtype=float)
        return score if np.isin(score, (0.0, 1.0)).all() else None


def auditee_of(predict: Any, threshold: float | None) -> Auditee:
    """How is this model asked?

    >>> auditee_of(lambda frame: [0.2] * len(frame), None).score([1, 2]).tolist()
    [0.2, 0.2]
    """
    if isinstance(predict, type):
        raise PredictorError(f"found the class {predict.__name__}; give a fitted model")
    owner = getattr(predict, "__self__", None)
    if getattr(predict, "__name__", "") == "predict" and hasattr(owner, "feature_names_in_"):
        return Auditee(predict, owner, threshold)  # classifier.predict: its decisions are followed
    if _has_two_classes(predict):
        return Auditee(lambda frame: predict.predict_proba(frame)[:, 1], predict, threshold)
    if hasattr(predict, "classes_") and len(predict.classes_) > 2:
        raise PredictorError(
            f"the classifier has {len(predict.classes_)} classes; say which one is followed, with "
            "a function such as lambda people: classifier.predict(people) == 'high'"
        )
    if hasattr(predict, "predict"):
        return Auditee(predict.predict, predict, threshold)
    if callable(predict):
        return Auditee(predict, None, threshold)
    raise PredictorError(
        "expected a fitted scikit-learn model or a function of a frame; found "
        f"{type(predict).__name__}"
    )


def _has_two_classes(model: Any) -> bool:
    return hasattr(model, "predict_proba") and len(getattr(model, "classes_", ())) == 2
