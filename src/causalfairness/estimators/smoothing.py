"""What do small cells say, if they lean on their neighbors?

    P(m | j, c)     = (n_jmc + s P(m | c)) / (n_jc + s)
    E[y | i, m, c]  = (sum of y + s g(i, m, c)) / (n_imc + s)

with `s` pseudo-rows: those of a stratum have the mediators of both groups pooled, those of a cell
the outcome of a guess g, the additive fit to all cells. How people are spread over strata is left
alone. With many rows per cell nothing changes; with few, noise is traded for some bias towards
equal mediators and additive outcomes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalfairness.estimators.saturated import Saturated

Array = NDArray[np.float64]


def smooth(cells: Saturated, rows: float, guess: Array) -> Saturated:
    """What do the cells look like with this many pseudo-rows?

    >>> few = Saturated(np.array([[1.0, 3.0], [2.0, 2.0]]), np.ones((2, 2)), np.zeros(2, int))
    >>> leaned = smooth(few, 4.0, np.zeros((2, 2)))
    >>> leaned.weight.tolist(), leaned.outcome.round(3).tolist()
    ([[1.25, 2.75], [1.75, 2.25]], [[0.2, 0.429], [0.333, 0.333]])
    """
    of_stratum = cells.stratum_weight[..., cells.stratum]
    pooled = cells.weight.sum(axis=-2, keepdims=True)
    share = pooled / of_stratum.sum(axis=-2, keepdims=True)
    weight = of_stratum * (cells.weight + rows * share) / (of_stratum + rows)
    outcome = (cells.weight * cells.outcome + rows * guess) / (cells.weight + rows)
    return Saturated(weight, outcome, cells.stratum)
