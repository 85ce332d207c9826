"""What does an audited model answer, and are its answers numbers?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import PredictorError

Array = NDArray[np.float64]


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
