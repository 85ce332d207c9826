"""How are cells counted? In memory through integer codes, elsewhere by one GROUP BY.

Two measurements of the same people, such as an outcome and its prediction, are counted in one pass,
of the rows that have both. Their products are added up as well: how two measurements vary together
within a cell is what the standard error of their difference needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.cells import Beside, Cells, arrange
from causalfairness.tables.columns import Column
from causalfairness.tables.condition import Within
from causalfairness.tables.counted import Counted
from causalfairness.tables.counting_here import count_here
from causalfairness.tables.counting_there import count_there
from causalfairness.tables.groups import count_rows, label_groups
from causalfairness.tables.missing import Missing, RowAccount, check_policy
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
Positions = NDArray[np.int64]


def count_cells(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    model: StandardFairnessModel,
    targets: Sequence[Target],
    missing: Missing,
    within: Within | None = None,
) -> list[Cells]:
    """How many people are in each cell, and what do one or two measurements add up to?

    The column of `within` is counted by like any other, and only its cells are kept.
    """
    roles = (*model.protected_columns, *model.confounders, *model.mediators)
    asked = [within.column] if within else []
    if isinstance(frame, nw.LazyFrame):
        counted = count_there(frame, (*roles, *asked), model, targets)
    else:
        counted = count_here(frame, (*roles, *asked), model, targets)
    absent = {key.name: key.is_missing for key in counted.keys}
    counts = {name: int(counted.rows[mask].sum()) for name, mask in absent.items()}
    counts |= {name: int(rows.sum()) for name, rows in counted.unmeasured.items()}
    check_policy(counts, missing, measured=[*counted.unmeasured, *asked])
    complete = counted.sums[0].rows
    if missing == "drop":
        complete = np.where(np.logical_or.reduce(list(absent.values())), 0.0, complete)
    holds = within.holds(counted.keys[-1]) if within else np.ones(len(complete), dtype=bool)
    at = np.flatnonzero((complete > 0) & holds)
    unasked = int(complete[~holds].sum())
    account = RowAccount(
        read=int(counted.rows.sum()),
        used=int(complete[at].sum()),
        dropped=_per_group(counted.keys[: len(model.protected_columns)], counted.rows - complete),
        missing={name: count for name, count in counts.items() if count},
        aside={within.others: unasked} if within and unasked else {},
    )
    return [
        arrange(
            counted.frame.select(*roles)[at],
            [key.take(at) for key in counted.keys[: len(roles)]],
            counted.sums[nth].take(at),
            model,
            beside=_beside(counted, targets, nth, at),
            is_binary=counted.is_binary[nth],
            target=target,
            weights=model.weights,
            account=account,
            within=within,
        )
        for nth, target in enumerate(targets)
    ]


def _beside(counted: Counted, targets: Sequence[Target], nth: int, at: Positions) -> Beside | None:
    """The other of two measurements, in these cells."""
    if counted.products is None:
        return None
    other = 1 - nth
    return Beside(targets[other], counted.sums[other], counted.products, nth == 1).take(at)


def _per_group(protected: Sequence[Column], lost: Array) -> dict[str, int]:
    groups, group = label_groups(protected)
    return count_rows(groups, np.bincount(group, lost, minlength=len(groups)))
