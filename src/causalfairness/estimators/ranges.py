"""Who has values that nobody in the other group reaches? Where models can only be extended.

A model fitted to one group and asked about the other is on its own wherever the other group has
values beyond those it was fitted on. Ranges are compared column by column, labels by whether they
occur: a coarse look, since every value may be common while their combination is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OverlapError
from causalfairness.tables import RowPair
from causalfairness.tables.rows import encode

MOST_OUTSIDE = 0.9  # of a group; with more there is nothing to compare


class Ranges(NamedTuple):
    """What share of each group has a value beyond the other's range, and in which column mostly?"""

    outside: tuple[float, float]
    column: str

    def notes(self) -> tuple[str, ...]:
        """What should a reader know?"""
        if not self.column:
            return ()
        if not any(self.outside):
            return (
                "overlap was looked at column by column only: every value lies within the other "
                "group's range",
            )
        return (
            f"{self.outside[0]:.2%} of the reference group and {self.outside[1]:.2%} of the "
            f"comparison group have values beyond the other group's range (most often "
            f"{self.column!r}): there models are extended past the people they were fitted on",
        )

    def check(self) -> None:
        """Is there anyone to compare with?"""
        for own, other, share in zip(
            ("reference", "comparison"), ("comparison", "reference"), self.outside, strict=True
        ):
            if share > MOST_OUTSIDE:
                raise OverlapError(
                    f"{share:.0%} of the {own} group have values beyond the range of the {other} "
                    f"group, most often in {self.column!r}: the groups hardly overlap. Leave out "
                    "columns that all but reveal the group, or restrict the question to where "
                    "both groups are seen (Strata(empty_cells='restrict'))"
                )


def ranges_of(pair: RowPair) -> Ranges:
    """Who has values that nobody in the other group reaches?

    >>> import pyarrow as pa
    >>> from causalfairness.fairness_model import StandardFairnessModel
    >>> from causalfairness.tables import open_table
    >>> data = pa.table({"a": [0, 0, 1, 1], "c": [1.0, 2.0, 2.0, 3.0], "y": [0, 1, 0, 1]})
    >>> model = StandardFairnessModel(
    ...     protected="a", reference=0, comparison=1, confounders=["c"], outcome="y")
    >>> ranges_of(open_table(data).rows(model, "outcome").pair(model)).outside
    (0.5, 0.5)
    """
    names = (*pair.model.confounders, *pair.model.mediators)
    if not names:
        return Ranges((0.0, 0.0), "")
    weights = pair.weights
    outside = np.stack([_outside(pair, name) for name in names])
    worst = int(np.argmax(outside @ weights))
    shares = [
        float(np.average(outside.any(axis=0), weights=weights * (pair.group == g))) for g in (0, 1)
    ]
    return Ranges((shares[0], shares[1]), names[worst])


def _outside(pair: RowPair, name: str) -> NDArray[np.bool_]:
    """Whose value in this column is beyond the range of the other group?"""
    values = encode([pair.rows.columns[name]], pair.index)
    beyond = np.zeros(len(pair), dtype=bool)
    for g in (0, 1):
        others = values[(pair.group != g) & (pair.weights > 0)]
        past = (values < others.min(axis=0)) | (values > others.max(axis=0))
        beyond |= (pair.group == g) & past.any(axis=1)
    return beyond
