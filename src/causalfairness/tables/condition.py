"""Which rows is a question about? Those where a column has one value.

Error rates ask among people whose outcome is 0, or is 1. The other rows stay in the table, so that
answers about different rows of one table can be combined; they are counted as left aside, which
is neither dropped for missing values nor of another group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.tables.columns import Column
from causalfairness.tables.groups import canonical, shown_value


@dataclass(frozen=True)
class Within:
    """Which rows is a question about? Those whose `column` equals a value.

    >>> within = Within("reoffended", 0)
    >>> within.holds(Column.numbers("reoffended", np.array([0.0, 1.0, np.nan]))).tolist()
    [True, False, False]
    >>> print(within)
    reoffended = 0
    """

    column: str
    equals: Any

    def holds(self, column: Column) -> NDArray[np.bool_]:
        """Which rows are asked about? Those without a value are not."""
        wanted = canonical(self.equals)
        if column.values is not None:
            return np.asarray(column.values == wanted)
        return np.array([*(label == wanted for label in column.labels), False])[column.codes]

    @property
    def others(self) -> str:
        """What do the rows have that are not asked about, in words?"""
        return f"{self.column} other than {shown_value(canonical(self.equals))}"

    def __str__(self) -> str:
        return f"{self.column} = {shown_value(canonical(self.equals))}"
