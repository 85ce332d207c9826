"""Does a predictor that looks clean on adapted mediators look clean on those people have?

A predictor trained on adapted rows is a function of adapted mediators m~ = g(A, C, M), which are
alike in both groups. On these, nothing leads from the group to the prediction. But people have M,
not m~: with M held, a change of the group changes m~, and so the prediction (direct); and a change
of M moves it back (indirect). The two cancel in the sum and are there all the same (methods §6).
In a linear world, with M = b A + ... and a prediction t m~: direct = -t b, indirect = +t b.

Effects are changes from the reference group to the comparison group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.held_out import Warned, said_of_warnings
from causalfairness.effects import Decomposition, EffectTable
from causalfairness.effects.table import in_columns
from causalfairness.errors import PathError
from causalfairness.estimators import Estimator
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.inference import run_all
from causalfairness.parity.frontier.people import read_people, with_values
from causalfairness.parity.frontier.predictors import Study, score_of
from causalfairness.parity.frontier.question import Learner
from causalfairness.parity.frontier.sets import AllowedPaths, Named, read_set
from causalfairness.parity.frontier.splits import Split, fold_splits
from causalfairness.parity.statistical import decompose_disparity
from causalfairness.tables import add_column
from causalfairness.tables.frames import FrameRows
from causalfairness.tables.missing import said_of_dropped

Array = NDArray[np.float64]
AS_THEY_ARE, AS_ADAPTED = "as people have them", "as adapted"
WHY = (
    "the predictor sees adapted columns only, so effects on these are near zero by construction; "
    "on the columns people have, a direct and an indirect effect of opposite sign can remain, "
    "which cancel in the sum"
)
FOLDS = (
    "everyone is predicted and adapted by one of {} predictors, which has not seen them; standard "
    "errors are over people and take the predictors as given"
)
PREDICTED = "prediction"


@dataclass(frozen=True, eq=False)
class CoordinateAudit:
    """How does a predictor look on the mediators people have, and on adapted ones?

    `original` and `adapted` decompose the same predictions.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian(direct=0.5, indirect=1.0)
    >>> found = cf.parity.audit_coordinates(
    ...     world.draw(800, seed=0), world.model, allowed={"spurious"}, folds=2,
    ...     learner=cf.adaptation.LinearQuantiles(),
    ...     effects=cf.estimators.Regression(replicates=20))
    >>> bool(found.original.direct.value < -0.5 < 0.5 < found.original.indirect.value)
    True
    >>> bool(abs(found.adapted.direct.value) + abs(found.adapted.indirect.value) < 0.15)
    True
    """

    allowed: AllowedPaths
    original: Decomposition
    adapted: Decomposition
    notes: tuple[str, ...]

    def tables(self, level: float = 0.95) -> Mapping[str, EffectTable]:
        """What are the effects on the prediction, in both coordinates?"""
        return {
            AS_THEY_ARE: self.original.summary(level),
            AS_ADAPTED: self.adapted.summary(level),
        }

    def to_records(self, level: float = 0.95) -> list[dict[str, Any]]:
        """What was found, as plain data? One record per coordinates and effect."""
        return [
            {"columns": columns, **record}
            for columns, table in self.tables(level).items()
            for record in table.to_records()
        ]

    def __str__(self) -> str:
        title = (
            f"{self.original.what} with {self.allowed.name} allowed, {self.original.comparison} "
            f"against {self.original.reference}: mediators as people have them, and as adapted"
        )
        lines = [title, in_columns(self.tables()), f"{self.allowed.name}: {self.allowed.meaning}"]
        stated = [*self.original.diagnostics.assumptions, *self.adapted.diagnostics.assumptions]
        lines += [f"assumes: {assumption}" for assumption in dict.fromkeys(stated)]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__


def audit_coordinates(
    data: Any,
    model: StandardFairnessModel,
    graph: CausalGraph | None = None,
    *,
    allowed: Iterable[str] = ("spurious",),
    named: Named | None = None,
    estimator: Any = None,
    learner: Learner | None = None,
    effects: Estimator | None = None,
    folds: int = 3,
    workers: int = 1,
    seed: int = 0,
) -> CoordinateAudit:
    """Does a predictor that looks clean on adapted mediators look clean on those people have?

    The predictor may use the paths `allowed` and no others; it is built as in `frontier`, once per
    fold, and predicts the rows of that fold. Its predictions are decomposed twice: with the columns
    as people have them, and as adapted. `effects` is the estimator of both decompositions.

    >>> import causalfairness as cf
    >>> from causalfairness.parity import audit_coordinates
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> found = audit_coordinates(
    ...     world.draw(300, seed=0), world.model, learner=cf.adaptation.LinearQuantiles(), folds=2,
    ...     effects=cf.estimators.Regression(replicates=20))
    >>> [*found.tables()], found.tables()["as adapted"].names
    (['as people have them', 'as adapted'], ('total', 'direct', 'indirect', 'spurious'))
    """
    people = read_people(data, model, graph)
    groups = {name: tuple(columns) for name, columns in (named or {}).items()}
    paths = read_set(allowed, groups, people.model, people.graph)
    if paths.is_unconstrained:
        raise PathError(
            "with everything allowed nothing is adapted, so there is one set of coordinates only; "
            "decompose the prediction with decompose_disparity"
        )
    study = Study(people, groups, estimator, learner)
    splits = fold_splits(people.group, people.model, folds=folds, seed=seed)
    score, columns, warned = _predicted(study, paths, splits, workers)
    original, called = add_column(people.as_brought, score.tolist(), name=PREDICTED)
    moved = original
    for name in (*paths.adapted, *paths.transported):
        moved = with_values(moved, name, columns[name].tolist())
    asked = replace(people.model, prediction=called)
    found = [
        decompose_disparity(
            each, asked, of="prediction", estimator=effects, workers=workers, seed=seed
        )
        for each in (original, moved)
    ]
    notes = (WHY, FOLDS.format(folds), *warned, *said_of_dropped(people.account))
    return CoordinateAudit(paths, found[0], found[1], notes)


def _predicted(
    study: Study, paths: AllowedPaths, splits: list[Split], workers: int
) -> tuple[Array, dict[str, NDArray[np.object_]], tuple[str, ...]]:
    """Everyone's score and adapted columns, by the predictor of their fold, and warnings."""
    tasks = [(study, paths, split) for split in splits]
    seen = run_all(_seen, tasks, workers=workers, what="building predictors")
    score = np.empty(len(study.people.group))
    columns = {name: np.empty(len(score), dtype=object) for name in study.people.features}
    for split, (scores, adapted, _) in zip(splits, seen, strict=True):
        score[split.test] = scores
        for name, values in adapted.items():
            columns[name][split.test] = values
    return score, columns, said_of_warnings([warnings for _, _, warnings in seen])


def _seen(
    task: tuple[Study, AllowedPaths, Split],
) -> tuple[Array, dict[str, list[Any]], tuple[Warned, ...]]:
    """The scores of held-out rows, what the predictor saw of them, and what is warned of."""
    study, allowed, split = task
    predictor, rows = study.fitted(allowed, split), study.people.rows(split.test)
    frame = FrameRows(predictor.adapted_features(rows)).frame
    seen = {name: frame[name].to_list() for name in frame.columns}
    return score_of(predictor, rows), seen, predictor.adapter_.report_.warnings
