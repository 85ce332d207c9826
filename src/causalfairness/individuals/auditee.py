"""What does the audited model say about these rows, and what does it decide?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import PredictorError
from causalfairness.estimators.answers import (
    answers,
    as_numbers,
    check_order,
    columns_of,
    features_of,
    owner_of,
)
from causalfairness.tables.target import check_threshold

Array = NDArray[np.float64]
LIKE_THE_DATA = "a frame like the data"


@dataclass(frozen=True)
class Auditee:
    """How is the audited model asked? Scores are numbers; decisions, if any, are 0 or 1.

    `said` are the columns that it takes, in order, where it does not know them by name.
    """

    ask: Callable[[Any], Any]
    model: Any  # a fitted scikit-learn model; None for a function
    threshold: float | None
    said: tuple[str, ...] = ()

    @property
    def _asked(self) -> Any:
        return self.ask if self.model is None else self.model

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Which columns does the model use, if it says so?"""
        return columns_of(self._asked, self.said) or None

    @property
    def scale(self) -> str:
        """What are scores? Where they are 0 and 1 throughout they are decisions, whatever it is."""
        if _has_two_classes(self.model) and getattr(self.ask, "__name__", "") != "predict":
            return f"the probability of {self.model.classes_[1]!s}"
        return "the numbers that the model gives"

    def features(self, frame: Any) -> Any:
        """What does the model see of these rows?"""
        return features_of(self._asked, frame, self.said)

    def check_order(self, frame: Any) -> None:
        """Is it sure which column is which?"""
        if not isinstance(self.features(frame), np.ndarray) and self.columns is None:
            check_order(self.ask, frame)

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


def auditee_of(predict: Any, threshold: float | None, said: Sequence[str] = ()) -> Auditee:
    """How is this model asked?

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [31, 45]})
    >>> auditee_of(lambda frame: [0.2] * len(frame), None).score(people).tolist()
    [0.2, 0.2]
    """
    check_threshold(threshold)
    if isinstance(predict, type):
        raise PredictorError(f"found the class {predict.__name__}; give a fitted model")
    owner, columns = owner_of(predict), tuple(said)
    bound = owner is not predict and getattr(predict, "__name__", "") == "predict"
    if (bound or owner is predict) and len(getattr(owner, "classes_", ())) > 2:
        raise PredictorError(
            f"the classifier has {len(owner.classes_)} classes; say which one is followed, with "
            "a function such as lambda people: classifier.predict(people) == 'high'"
        )
    if bound and (hasattr(owner, "feature_names_in_") or hasattr(owner, "n_features_in_")):
        return Auditee(predict, owner, threshold, columns)  # its decisions are followed
    if _has_two_classes(predict):
        chance = lambda frame: predict.predict_proba(frame)[:, 1]  # noqa: E731
        return Auditee(chance, predict, threshold, columns)
    if hasattr(predict, "predict"):
        return Auditee(predict.predict, predict, threshold, columns)
    if callable(predict):
        return Auditee(predict, None, threshold, columns)
    raise PredictorError(
        "expected a fitted scikit-learn model or a function of a frame; found "
        f"{type(predict).__name__}"
    )


def _has_two_classes(model: Any) -> bool:
    return hasattr(model, "predict_proba") and len(getattr(model, "classes_", ())) == 2
