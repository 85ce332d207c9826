"""What would a model decide that sees group and confounders only?

A named comparison model for questions that leave the mediators out. It is fitted to all rows of
the two groups, on an indicator of the comparison group and the confounders (numbers as they are,
labels as indicators), and its predicted class is what it decides: a known function of A and C, but
not the audited model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import LearnerError
from causalfairness.estimators.learners import check_learner, fit, is_classifier, last_step
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.scm.learners import seeded
from causalfairness.tables import Column, RowPair
from causalfairness.tables.frames import read_columns
from causalfairness.tables.groups import group_label, label_groups

Array = NDArray[np.float64]


class ComparisonModel(NamedTuple):
    """What is the comparison model called, and what does it decide about people?"""

    name: str
    decide: Callable[[Any], Array]  # a frame of group and confounders -> 0 or 1 for each


def fit_comparison_model(pair: RowPair, classifier: Any, seed: int) -> ComparisonModel:
    """What does a classifier learn about the outcome from group and confounders alone?

    `classifier` is an unfitted scikit-learn classifier, cloned and never modified; None is a
    logistic regression on standardized columns. The outcome of `pair` is 0 or 1.

    >>> import causalfairness as cf
    >>> from causalfairness.tables import open_table
    >>> world = cf.datasets.worlds.binary()
    >>> rows = open_table(world.draw(500, seed=0)).rows(world.model, "outcome")
    >>> found = fit_comparison_model(rows.pair(world.model), None, seed=0)
    >>> found.name, sorted({*found.decide(rows.pair(world.model).features()).tolist()})
    ('LogisticRegression', [0.0, 1.0])
    """
    check_learner(classifier)
    if classifier is not None and not is_classifier(classifier):
        raise LearnerError(
            "the comparison model must decide between yes and no: an unfitted scikit-learn "
            f"classifier is expected; found {classifier!r}"
        )
    model = pair.model
    seen = [pair.rows.columns[name].take(pair.index) for name in model.confounders]
    design = np.column_stack([pair.group, *_coded(seen, seen)])
    weights = None if model.weights is None else pair.weights
    chosen = _default() if classifier is None else seeded(classifier, seed)
    fitted = fit(chosen, design, pair.measured, weights)

    def decide(people: Any) -> Array:
        told = _is_comparison(people, model)
        confounders = read_columns(people, model.confounders)
        features = np.column_stack([told, *_coded(confounders, seen)])
        return np.asarray(fitted.predict(features), dtype=float)

    name = type(last_step(chosen)).__name__
    decide.__qualname__ = name
    return ComparisonModel(name, decide)


def _default() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000))


def _is_comparison(people: Any, model: StandardFairnessModel) -> Array:
    """1 where people are told to be of the comparison group."""
    groups, group = label_groups(read_columns(people, model.protected_columns))
    reference, comparison = group_label(model.reference), group_label(model.comparison)
    told = [label == comparison if reference is None else label != reference for label in groups]
    return np.array(told, dtype=float)[group]


def _coded(columns: Sequence[Column], seen: Sequence[Column]) -> list[Array]:
    """How do columns look to the model? Coded like those it has seen, label by label."""
    return [
        part
        for column, like in zip(columns, seen, strict=True)
        for part in (_numbers(column, like) if like.is_number else _indicators(column, like))
    ]


def _numbers(column: Column, like: Column) -> list[Array]:
    assert column.values is not None
    assert like.values is not None
    if not like.is_missing.any():
        return [column.values]
    mean = 0.0 if like.is_missing.all() else float(np.nanmean(like.values))
    return [np.where(column.is_missing, mean, column.values), column.is_missing.astype(float)]


def _indicators(column: Column, like: Column) -> list[Array]:
    """Two labels make one indicator, more make one each; a missing label is a label."""
    labels, own = like.levels().values, column.levels()
    places = [labels.index(value) if value in labels else -1 for value in own.values]
    code = np.array(places, dtype=np.int64)[own.codes]
    first = 1 if len(labels) == 2 else 0
    return [(code == at).astype(float) for at in range(first, len(labels))]
