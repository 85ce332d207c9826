"""Which estimator fits this question? The rule behind `estimator=None`.

Strata if every mediator and confounder has few values and no cell is one-sided, KnownModel if the
prediction comes with its model, DoublyRobust otherwise. The reason is stated with the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from causalfairness.errors import GroupNotFoundError, OutcomeError, WeightError
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.protocol import Estimator
from causalfairness.estimators.strata import Strata
from causalfairness.estimators.support import support_of
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables import Cells, Of, Table

FEW_VALUES = 20


class Choice(NamedTuple):
    """Which estimator was chosen, and why?"""

    estimator: Estimator
    because: str


def choose_estimator(table: Table, models: Sequence[StandardFairnessModel], of: Of) -> Choice:
    """Which estimator fits this question, for all these pairs of groups?

    >>> import causalfairness as cf
    >>> from causalfairness.tables import open_table
    >>> world = cf.datasets.worlds.binary()
    >>> choose_estimator(open_table(world.draw(2_000, seed=0)), [world.model], "outcome").because
    'every mediator and confounder has at most 20 values and every combination is seen in both ...'
    """
    model = models[0]
    if of == "prediction" and model.predict is not None:
        return Choice(KnownModel(model.predict), "the prediction comes with its model")
    counts = table.value_counts((*model.confounders, *model.mediators))
    for column, count in counts.items():
        if count > FEW_VALUES:
            many = f"column {column!r} has {count} values, too many to count by"
            return Choice(DoublyRobust(), many)
    cells = table.cells(model, of)
    if any(_one_sided(cells, pair, alone=len(models) == 1) for pair in models):
        return Choice(
            DoublyRobust(),
            "some combinations of mediators and confounders are seen in one group only",
        )
    return Choice(
        Strata(),
        f"every mediator and confounder has at most {FEW_VALUES} values and every combination is "
        "seen in both groups",
    )


def _one_sided(cells: Cells, model: StandardFairnessModel, *, alone: bool) -> bool:
    """Are there cells that one group of this pair does not fill?

    Of many pairs, one that cannot be compared at all has no say: it is refused in its own turn.
    """
    try:
        return bool(support_of(cells.pair(model)).one_sided.any())
    except (GroupNotFoundError, OutcomeError, WeightError):
        if alone:
            raise
        return False
