"""Do learned ranks look like ranks? Uniform in every group, and unrelated to the causes.

If a mechanism is right, the rank u = F(v | causes) of a row is uniform between 0 and 1 whatever its
causes. Two departures are measured, group by group: the distance of the ranks from uniform
(Kolmogorov and Smirnov), and the largest rank correlation of u with one of the causes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from causalfairness.adaptation.learner import Array
from causalfairness.adaptation.mechanisms import MOVING, Codes, Mechanism, Values

CHECKED = 20_000  # rows of a group that are looked at


@dataclass(frozen=True)
class RankFit:
    """Do the ranks of a column look uniform in a group?

    `distance` is 0 for perfectly uniform ranks, `p_value` that of a test for it: meant for rows
    that the adapter was not fitted on. `dependence` is the largest rank correlation with a cause.

    >>> print(RankFit("pay", "F", 500, 0.031, 0.72, 0.04))
    pay, F: distance from uniform 0.031 (p = 0.72), correlation with a cause 0.04
    """

    column: str
    group: str
    rows: int
    distance: float
    p_value: float
    dependence: float

    def __str__(self) -> str:
        return (
            f"{self.column}, {self.group}: distance from uniform {self.distance:.3f} "
            f"(p = {self.p_value:.2g}), correlation with a cause {self.dependence:.2f}"
        )


def rank_fits(
    mechanisms: Sequence[Mechanism],
    names: Sequence[str],
    values: Values,
    group: Codes,
    *,
    seed: int,
) -> Iterator[RankFit]:
    """Do the ranks of every column look uniform in every group? Up to 20,000 rows of each."""
    from scipy.stats import kstest

    for at, mechanism in enumerate(mechanisms):
        if mechanism.move.column not in values:
            continue
        luck = np.random.default_rng([seed, MOVING, at]).random(len(group))
        for code, name in enumerate(names):
            rows = np.flatnonzero(group == code)[:CHECKED]
            if not len(rows):
                continue
            ranks = mechanism.ranks(values, group, rows, luck)
            test = kstest(ranks, "uniform")
            related = _dependence(ranks, mechanism.design(values, rows))
            yield RankFit(
                mechanism.move.column,
                name,
                len(rows),
                float(test.statistic),
                float(test.pvalue),
                related,
            )


def _dependence(ranks: Array, design: Array) -> float:
    """The largest rank correlation with a cause that varies."""
    from scipy.stats import rankdata

    varying = design[:, np.ptp(design, axis=0) > 0] if len(design) else design
    if len(ranks) < 3 or not varying.shape[1]:
        return 0.0
    both = np.column_stack([rankdata(ranks), rankdata(varying, axis=0)])
    found = np.abs(np.corrcoef(both, rowvar=False)[0, 1:])
    return float(found.max())
