"""What does an audited model answer, and are its answers numbers?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import PredictorError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import only_columns

Array = NDArray[np.float64]
ONLY_ROLES = ". It is given the columns with a role, in the library of the data, and nothing else"


def answers(
    ask: Callable[[Any], Any], features: Any, what: str, hint: str = ""
) -> NDArray[np.object_]:
    """What does the model answer about these rows, in its own words? One answer per row.

    Of a model that fails, `what` says on what it failed and `hint` what it is given.

    >>> answers(lambda rows: ["low"] * len(rows), [1, 2], "a frame like the data").tolist()
    ['low', 'low']
    """
    try:
        predicted = ask(features)
    except PredictorError:
        raise
    except Exception as cause:
        raise PredictorError(
            f"the model failed on {what}: {type(cause).__name__}: {cause}{hint}"
        ) from cause
    found = np.asarray(predicted, dtype=object).reshape(-1)
    if len(found) != len(features):
        raise PredictorError(
            f"the model returned {len(found):,} values for {len(features):,} rows; expected one "
            "per row"
        )
    return found


def as_numbers(found: NDArray[np.object_]) -> Array:
    """Which number is each answer? A model that gives words, or no number, is refused.

    >>> as_numbers(np.array([True, 0.25], dtype=object)).tolist()
    [1.0, 0.25]
    """
    try:
        numbers = found.astype(float)
    except (TypeError, ValueError) as cause:
        raise PredictorError(
            f"the model returned {found[0]!r}; expected one number per row, such as a score or a "
            "0/1 decision"
        ) from cause
    if not np.isfinite(numbers).all():
        raise PredictorError(
            f"the model returned {len(numbers):,} values, {int(np.sum(~np.isfinite(numbers))):,} "
            "of them not finite; expected one finite number per row"
        )
    return numbers


def evaluate(predict: Callable[[Any], Any], features: Any, model: StandardFairnessModel) -> Array:
    """What does the audited model say about these people?

    The model sees the columns with a role and nothing else; one that needs more is refused.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> evaluate(lambda frame: [0.2] * len(frame), pa.table({"sex": ["M", "F"]}), model).tolist()
    [0.2, 0.2]
    """
    return as_numbers(consult(predict, features, model))


def consult(
    predict: Callable[[Any], Any], features: Any, model: StandardFairnessModel
) -> NDArray[np.object_]:
    """What does the audited model answer about these people, in its own words?

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> consult(lambda frame: ["low"] * len(frame), pa.table({"sex": ["M"]}), model).tolist()
    ['low']
    """
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    owner = getattr(predict, "__self__", None)
    wanted = getattr(owner, "feature_names_in_", None)
    names = [] if wanted is None else [str(name) for name in wanted]
    extra = [name for name in names if name not in roles]
    if extra:
        raise PredictorError(
            f"the model uses {', '.join(map(repr, extra))}, which have no role; make them "
            "confounders or mediators (they may carry the group's influence), or audit the "
            "prediction as a column"
        )
    if names:  # a fitted scikit-learn model: its own columns, in its own order
        features = only_columns(features, names)
    given = f"a frame with the columns {', '.join(map(repr, roles))}"
    return answers(predict, features, given, ONLY_ROLES)
