"""What must an estimator do? Read what it needs of a table, and give the twelve world means."""

from __future__ import annotations

from typing import Any, Protocol

from causalfairness.effects import Estimate
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Of, Table

ASSUMPTIONS = (
    "no hidden common cause of group and mediators, group and outcome, or mediators and outcome, "
    "given the confounders",
    "confounders are not caused by the group, mediators do not cause confounders",
    "everyone has a counterpart in the other group (overlap)",
)


class Estimator(Protocol):
    """Which world means does the data show?

    Reading and estimating are two steps, so that many groups can be compared from one reading.

    >>> from causalfairness.estimators import Strata
    >>> estimator: Estimator = Strata()
    """

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Any:
        """What does the estimator need of the table?"""

    def estimate(
        self, reading: Any, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means for the two groups of this model?"""
