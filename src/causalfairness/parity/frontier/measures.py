"""How far is a predictor from statistical and from predictive parity, and how good is it?

On rows it has not seen, with a1 the comparison group and a0 the reference group:

    spm            E[score | a1] - E[score | a0]
    ippm           mean over bins of  E[y | a1, bin] - E[y | a0, bin]
    absolute_ippm  mean over bins of |E[y | a1, bin] - E[y | a0, bin]|

over bins of the score with people of both groups; y is the outcome as it was, not as adapted. How
good: accuracy (a chance of 0.5 or more is a yes) and AUC of a yes or no, R^2 and mean squared error
of a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.held_out import Warned
from causalfairness.errors import OutcomeError, OverlapError
from causalfairness.parity.predictive.averages import Placed
from causalfairness.parity.predictive.binning import Binning, bin_scores
from causalfairness.tables.groups import Members

Array = NDArray[np.float64]
PARITY = ("spm", "ippm", "absolute_ippm")
OF_CHANCES, OF_NUMBERS = ("accuracy", "auc"), ("r2", "mse")


class Judged(NamedTuple):
    """What was measured on one split, in how many bins was one group, what is warned of?"""

    values: dict[str, float]
    one_sided: int
    warnings: tuple[Warned, ...] | None = None  # None where nobody was adapted


def judge(score: Array, outcome: Array, group: Members, *, bins: int, binary: bool) -> Judged:
    """How far from parity are these scores, and how good?

    >>> score, outcome = np.array([0.2, 0.8, 0.2, 0.8]), np.array([0.0, 1.0, 1.0, 1.0])
    >>> judge(score, outcome, np.array([0, 0, 1, 1], dtype=np.int8), bins=2, binary=True).values
    {'spm': 0.0, 'ippm': 0.5, 'absolute_ippm': 0.5, 'accuracy': 0.75, 'auc': 0.833...}
    """
    binning = bin_scores(score, None, bins, name="score")
    placed = Placed(
        columns=np.stack([outcome, score]),
        cell=group.astype(np.int64) * len(binning) + binning.of_row,
        bins=len(binning),
        weights=np.ones(len(score)),
        places=np.arange(len(score)),
        table=len(score),
    )
    reference, comparison = placed.means()[0]
    gaps = comparison - reference
    known = gaps[~np.isnan(gaps)]
    if not len(known):
        raise OverlapError(_apart(binning))
    values = {
        "spm": float(score[group == 1].mean() - score[group == 0].mean()),
        "ippm": float(known.mean()),
        "absolute_ippm": float(np.abs(known).mean()),
    }
    good = _of_chances(score, outcome) if binary else _of_numbers(score, outcome)
    return Judged(values | good, len(gaps) - len(known))


def _apart(binning: Binning) -> str:
    """Why nobody can be compared, and what to do."""
    text = "no bin of the score holds people of both groups: there is no score to compare them at"
    if binning.values is None:
        return f"{text}. Use fewer bins"
    fewer = max(1, len(binning) // 2)
    return (
        f"{text}. The score has {len(binning)} values, each of one group only, as where a "
        f"predictor sees the group beside a few labels; with bins={fewer} values share bins"
    )


def _of_chances(score: Array, outcome: Array) -> dict[str, float]:
    from scipy.stats import rankdata

    yes = outcome == 1
    if not 0 < yes.sum() < len(yes):
        raise OutcomeError(
            f"all {len(yes):,} test rows of a split have the same outcome, so nothing can be said "
            "about how good predictions are; hold out more rows"
        )
    first = rankdata(score)[yes].sum() - yes.sum() * (yes.sum() + 1) / 2
    return {
        "accuracy": float(((score >= 0.5) == yes).mean()),
        "auc": float(first / (yes.sum() * (~yes).sum())),
    }


def _of_numbers(score: Array, outcome: Array) -> dict[str, float]:
    error = float(((outcome - score) ** 2).mean())
    return {"r2": float(1 - error / outcome.var()), "mse": error}
