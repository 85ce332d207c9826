"""Which metrics of which groups are not told, since they are about few people, or tell of few.

    selection rate         few are decided one way
    base rate, mean error  few have one outcome
    all other rates, and calibration: either

Few are some, and fewer than `smallest`. All rates of one decision against one outcome are hidden
together, since a few of them give the others. Whatever compares groups is made of what is left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from causalfairness.parity.metrics.decisions import ERROR_RATES
from causalfairness.parity.metrics.partitions import Partition
from causalfairness.parity.metrics.rows import Mask
from causalfairness.parity.metrics.sums import Measure, Shares
from causalfairness.tables.disclosure import hidden_groups, is_few

OF_DECISIONS = ("selection_rate",)
OF_OUTCOMES = ("base_rate", "mean_error")
OF_BOTH = (*ERROR_RATES, "calibration_error")
SAID = (
    "{metrics} of some groups by {attribute} are left out: fewer than {smallest} people of one of "
    "them have one outcome or decision, and numbers of so few would tell on each of them"
)


def without_few(part: Partition, smallest: int) -> tuple[Partition, tuple[str, ...]]:
    """Return the partition without metrics that tell of few people, and what is said of it."""
    if part.cells is None:
        return part, ()
    outcomes, decisions = part.cells.sum(axis=2), part.cells.sum(axis=1)
    by_decision, by_outcome = (hidden_groups(each, smallest) for each in (decisions, outcomes))
    both = np.hstack([outcomes, decisions])
    either = hidden_groups(both, smallest, by_decision | by_outcome)
    rules = ((OF_DECISIONS, by_decision, decisions), (OF_OUTCOMES, by_outcome, outcomes))
    measures, against = dict(part.measures), dict(part.against)
    for names, hidden, counts in (*rules, (OF_BOTH, either, both)):
        those = counts[part.held]
        few = is_few(those.sum(axis=0), smallest) | (len(those) == 1 and hidden[part.held])
        for name in {*names} & {*measures}:
            measures[name] = _without(measures[name], hidden)
            against[name] = _without(against[name], np.atleast_1d(few))
    left_out = [name for name in measures if np.isnan(measures[name].people).any()]
    if not left_out:
        return part, ()
    if (calibration := part.calibration) is not None:
        sums = np.where(either[:, None, None], 0.0, calibration.sums)
        calibration = replace(calibration, sums=sums)
    said = SAID.format(metrics=", ".join(left_out), attribute=part.attribute, smallest=smallest)
    return replace(part, measures=measures, against=against, calibration=calibration), (said,)


def _without(measure: Measure, hidden: Mask) -> Measure:
    """The same, with nothing known where it is hidden: neither the number nor how many it is of."""
    *parts, people = vars(measure).values()
    nothing = 0.0 if isinstance(measure, Shares) else np.nan
    kept = (np.where(hidden, nothing, part) for part in parts)
    made: Any = type(measure)
    return cast(Measure, made(*kept, np.where(hidden, np.nan, people)))
