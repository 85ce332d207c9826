"""What are the world means of the outcome and of the prediction, so that they can be subtracted?

Both come from the same rows, and from the same cells, folds or replicates: on one basis, so that
the difference of two effects has a standard error that knows how the two err together
(methods §6). Rows without either measurement are rows with a missing value.

    Strata                 one GROUP BY, which also adds up the products
    DoublyRobust           the same folds and models of the group; KnownModel beside it where the
                           prediction is a function
    all others             the same draws
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from causalfairness.effects import Estimate
from causalfairness.errors import RoleError
from causalfairness.estimators.choice import choose_estimator
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.fit_memory import remembered_fits
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.protocol import Estimator
from causalfairness.estimators.role_columns import estimate_from
from causalfairness.estimators.strata import Strata
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Table


@dataclass(frozen=True, eq=False)
class Both:
    """What was found about the outcome, and what about the prediction? On one basis.

    >>> Both.__dataclass_fields__.keys()
    dict_keys(['outcome', 'prediction', 'because'])
    """

    outcome: Estimate
    prediction: Estimate
    because: str = ""  # why these estimators, where nobody chose them


def estimate_both(
    table: Table,
    model: StandardFairnessModel,
    estimator: Estimator | None = None,
    *,
    workers: int = 1,
    seed: int = 0,
) -> Both:
    """What are the world means of outcome and prediction, on one basis?

    >>> from dataclasses import replace
    >>> import causalfairness as cf
    >>> from causalfairness.tables import open_table
    >>> compas = cf.datasets.load_compas()
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female", confounders=["age_cat"],
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> both = estimate_both(open_table(compas), model)
    >>> (both.prediction.raw_gap - both.outcome.raw_gap).name
    'total - total'
    """
    check_both(model)
    because = ""
    if estimator is None:
        chosen = choose_estimator(table, [model], "prediction")
        estimator, because = chosen.estimator, chosen.because
    if isinstance(estimator, Strata):
        return replace(_counted(table, model, estimator, workers, seed), because=because)
    needed = [column for column in (model.outcome, model.prediction_column) if column is not None]
    table = table.needing(*needed)
    for_outcome, for_prediction = _paired(estimator, model)
    measured = for_outcome.read(table, model, "outcome")
    predicted = for_prediction.read(table, model, "prediction")
    with remembered_fits():  # a prediction that cannot be explained is refused before the outcome
        prediction = estimate_from(for_prediction, predicted, model, workers=workers, seed=seed)
        outcome = estimate_from(for_outcome, measured, model, workers=workers, seed=seed)
    return Both(outcome, prediction, because)


def check_both(model: StandardFairnessModel) -> None:
    """Does the model name both an outcome and a prediction?

    >>> check_both(StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired"))
    Traceback (most recent call last):
    ...
    causalfairness.errors.RoleError: the model names no prediction, and the question is how ...
    """
    for role, named in (("outcome", model.outcome), ("prediction", model.prediction)):
        if named is None:
            raise RoleError(
                f"the model names no {role}, and the question is how outcome and prediction "
                f"compare; give {role}=... to the StandardFairnessModel"
            )


def _paired(estimator: Any, model: StandardFairnessModel) -> tuple[Estimator, Estimator]:
    """The estimators of outcome and prediction: the same folds, whichever of the two is named."""
    if isinstance(estimator, DoublyRobust) and model.predict is not None:
        return estimator, KnownModel(model.predict, **_settings(estimator))
    if isinstance(estimator, KnownModel):
        return DoublyRobust(**_settings(estimator)), estimator
    return estimator, estimator


def _settings(estimator: DoublyRobust | KnownModel) -> dict[str, Any]:
    shared = ("group", "nested", "folds", "repeats", "clip")
    return {name: getattr(estimator, name) for name in shared}


def _counted(
    table: Table, model: StandardFairnessModel, strata: Strata, workers: int, seed: int
) -> Both:
    """A model that fills the prediction's empty cells says nothing about the outcome's."""
    filled = callable(strata.empty_cells)
    for_outcome = replace(strata, empty_cells="refuse") if filled else strata
    outcome, prediction = strata.read_both(table, model)
    return Both(
        estimate_from(for_outcome, outcome, model, workers=workers, seed=seed),
        estimate_from(strata, prediction, model, workers=workers, seed=seed),
    )
