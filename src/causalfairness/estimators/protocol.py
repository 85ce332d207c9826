"""What must an estimator do? Read what it needs of a table, and give the twelve world means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
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


def described(estimator: Any) -> str:
    """How is an estimator written in a line? What was left to choose goes unmentioned.

    >>> from causalfairness.estimators import DoublyRobust, Strata
    >>> described(Strata(bins={"age": 4})), described(DoublyRobust(clip=20.0))
    ("Strata(empty_cells='refuse', bins={'age': 4})", 'DoublyRobust(folds=5, repeats=1, clip=20)')
    """
    chosen = [(field.name, getattr(estimator, field.name)) for field in fields(estimator)]
    settings = [
        _written(of) if name == "predict" else f"{name}={_written(of)}"
        for name, of in chosen
        if of not in (None, 0, {})
    ]
    return f"{type(estimator).__name__}({', '.join(settings)})"


def _written(setting: Any) -> str:
    if isinstance(setting, str):
        return repr(setting)
    if isinstance(setting, Real):
        return str(setting) if isinstance(setting, Integral) else f"{setting:g}"
    if isinstance(setting, Mapping):
        return str(dict(setting))
    return str(getattr(setting, "__qualname__", type(setting).__name__))
