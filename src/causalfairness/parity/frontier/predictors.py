"""Which predictor uses the allowed paths and no others?

A `FairPredictor` whose adapter keeps the allowed paths; or, where the group itself may be used, the
same model trained on rows as they are, with the group as one more column (1: comparison group).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.held_out import Warned
from causalfairness.errors import LearnerError
from causalfairness.estimators.answers import as_numbers
from causalfairness.estimators.learners import check_learner, check_means
from causalfairness.parity.frontier.people import People
from causalfairness.parity.frontier.sets import AllowedPaths, Named
from causalfairness.parity.frontier.splits import Split
from causalfairness.tables import Table, only_columns

Array = NDArray[np.float64]
Warnings = tuple[Warned, ...] | None  # of an adapter, if there is one


@dataclass(frozen=True, eq=False)
class Study:
    """What do all predictors share? The people, the model to be trained, and how rows are adapted.

    `estimator` is any scikit-learn model, None takes boosted trees.
    """

    people: People
    named: Named
    estimator: Any
    learner: Any

    def __post_init__(self) -> None:
        check_learner(self.estimator)
        outcome = f"the outcome {self.people.model.outcome!r}"
        check_means(self.estimator, binary=self.people.is_binary, what=outcome)

    def scores(self, allowed: AllowedPaths, split: Split) -> tuple[Array, Warnings]:
        """Scores of held-out rows by a predictor that may use these paths, and its warnings."""
        if not allowed.is_unconstrained:
            found = self.fitted(allowed, split)
            scores = score_of(found, self.people.rows(split.test))
            return scores, found.adapter_.report_.warnings
        group = self.people.model.protected_columns[0]
        columns = [group, *self.people.features]
        train, test = self.people.rows(split.train), self.people.rows(split.test)
        model = self._model(split.seed)
        model.fit(only_columns(train, columns), self.people.outcome[split.train])
        return score_of(model, only_columns(test, columns)), None

    def fitted(self, allowed: AllowedPaths, split: Split) -> Any:
        """Which predictor removes all paths but these, trained on the training rows?"""
        from causalfairness.adaptation import FairAdapter, FairPredictor

        model = self.people.model
        single = isinstance(model.protected, str)
        adapter = FairAdapter(
            self.people.graph,
            protected=model.protected,
            reference=0 if single else (0,) * len(model.protected_columns),
            outcome=model.outcome,
            learner=self.learner,
            seed=split.seed,
        )
        predictor = FairPredictor(
            adapter,
            self._model(split.seed),
            keep=allowed.paths,
            named=self.named,
            features=self.people.features,
        )
        train = Table(self.people.rows(split.train), categorical=self.people.categorical)
        return predictor.fit(train)

    def _model(self, seed: int) -> Any:
        """A copy of the model; where it takes a random state and has none, that of the split."""
        from causalfairness.adaptation.boosted_trees import boosted_trees

        if self.estimator is None:
            return boosted_trees(classifies=self.people.is_binary, seed=seed)
        model = deepcopy(self.estimator)
        if not hasattr(model, "get_params"):
            raise LearnerError(f"a predictor must be a scikit-learn model; found {model!r}")
        open_ = {
            name: seed
            for name, value in model.get_params().items()
            if name.endswith("random_state") and value is None
        }
        return model.set_params(**open_) if open_ else model


def score_of(model: Any, rows: Any) -> Array:
    """Which number does a fitted model give each row? A chance of 1 where it gives chances."""
    if not hasattr(model, "predict_proba"):
        return as_numbers(np.asarray(model.predict(rows), dtype=object))
    chances = np.asarray(model.predict_proba(rows), dtype=float)
    return np.asarray(chances[:, np.asarray(model.classes_) == 1].sum(axis=1))
