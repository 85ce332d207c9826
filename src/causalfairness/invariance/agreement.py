"""How often would the prediction stay the same in another group? Expected agreement (ECA).

    ECA = P(prediction under do(group = a) equals the prediction at hand),

a drawn with equal chances from all groups, the own one included, and people as they come: with two
groups, one minus half the share of people whose prediction changes in the other group.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from causalfairness.errors import InvarianceError
from causalfairness.invariance.reading import Array, read_predictions


def expected_counterfactual_agreement(
    predictions: Any, counterfactuals: Any, *, tolerance: float = 0.0
) -> Array:
    """How often does the prediction under do(a) equal the one at hand? One number per model.

    `counterfactuals` holds one table of predictions per group, each shaped like `predictions`:
    what would be predicted if everyone were of that group. Decisions must be equal; scores may
    differ by `tolerance`.

    >>> expected_counterfactual_agreement([1, 0, 1, 1], [[1, 0, 1, 0], [1, 0, 0, 1]]).tolist()
    [0.75]
    >>> expected_counterfactual_agreement([0.50, 0.7], [[0.51, 0.7]], tolerance=0.02).tolist()
    [1.0]
    """
    if tolerance < 0:
        raise InvarianceError(f"tolerance must be 0 or more; found {tolerance!r}")
    _, factual = read_predictions(predictions)
    tables = [read_predictions(table)[1] for table in counterfactuals]
    if not tables or any(table.shape != factual.shape for table in tables):
        shapes = ", ".join(str(table.shape) for table in tables) or "none"
        raise InvarianceError(
            f"predictions have shape {factual.shape}, their counterfactuals {shapes}; give one "
            "table per group, with the same people and models"
        )
    same = np.abs(np.stack(tables) - factual) <= tolerance
    return np.asarray(same.mean(axis=(0, 1)))
