"""What would a model predict that has only seen rows as if of the reference group?

The adapter is fitted and moves the training rows, outcome included; the model learns from the moved
rows, and new rows are moved before it predicts. It never sees the protected attribute. What it may
use is what the adapter keeps: see `causalfairness.adaptation.plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from causalfairness.adaptation.fair_adapter import FairAdapter
from causalfairness.errors import ColumnNotFoundError, LearnerError, RoleError, SourceError
from causalfairness.tables import RowAccount, Table, add_column, only_columns
from causalfairness.tables.frames import FrameRows, frame_rows
from causalfairness.tables.source import open_frame


class FairPredictor(BaseEstimator):  # type: ignore[misc]
    """What would a model predict that has only seen rows as if of the reference group?

    `adapter` is a `FairAdapter` and `estimator` any scikit-learn model; both are cloned. With
    `keep` the adapter keeps these paths and no others: "spurious", "indirect", columns between the
    group and the outcome, or names of your own for several of them, explained in `named`. Without
    it the adapter is taken as it is. `features` are the columns of the model; None takes all
    columns of the graph but the protected ones, the outcome and what follows from it.

    >>> import causalfairness as cf
    >>> from sklearn.linear_model import LinearRegression
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> graph = cf.CausalGraph.parse(
    ...     "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> adapter = cf.FairAdapter(
    ...     graph, protected="group", reference="blue", outcome="y",
    ...     learner=cf.adaptation.LinearQuantiles())
    >>> train, test = (world.draw(500, seed=seed, frame="pandas") for seed in (0, 1))
    >>> predictor = cf.FairPredictor(adapter, LinearRegression()).fit(train)
    >>> predictor.features_
    ('c1', 'c2', 'm1')
    >>> predictor.predict(test.drop(columns="y")).shape
    (500,)
    """

    def __init__(
        self,
        adapter: FairAdapter,
        estimator: Any,
        *,
        keep: Iterable[str] | None = None,
        named: Mapping[str, Iterable[str]] | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self.adapter = adapter
        self.estimator = estimator
        self.keep = keep
        self.named = named
        self.features = features

    def fit(self, data: Any, y: Any = None) -> Self:
        """What does the model learn from rows as if of the reference group?

        `y` is the outcome where it is not a column of the data.
        """
        adapter = self._adapter()
        outcome = adapter.outcome_column
        whole, account = _joined(data, y, adapter)
        self.adapter_ = adapter.fit(whole)
        self.adapter_.report_ = replace(self.adapter_.report_, account=account)
        adapted = self.adapter_.transform(whole)
        self.features_ = self._features(adapted, adapter)
        rows = FrameRows(adapted)
        learned = rows.frame[rows.arrangement(self.features_, [outcome]).rows]
        self.estimator_ = clone(self.estimator)
        told = only_columns(learned.to_native(), self.features_)
        self.estimator_.fit(told, learned[outcome].to_numpy())
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        self.feature_names_in_ = np.array(
            [name for name in self.adapter_.feature_names_in_ if name != outcome], dtype=object
        )
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def predict(self, data: Any) -> NDArray[Any]:
        """What does the model predict about these rows, as if of the reference group?"""
        return np.asarray(self._fitted().predict(self.adapted_features(data)))

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, data: Any) -> NDArray[Any]:
        """Which chance does the model give each class? Columns as in `classes_`."""
        return np.asarray(self._fitted().predict_proba(self.adapted_features(data)))

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, data: Any) -> NDArray[Any]:
        """How far is each row from the border between classes?"""
        return np.asarray(self._fitted().decision_function(self.adapted_features(data)))

    def score(self, data: Any, y: Any = None) -> float:
        """How well do predictions fit the outcome as it was, not as it would have been?

        `y` is the outcome where it is not a column of the data. Accuracy of a classifier, R^2 of a
        regressor, as the model has it.
        """
        if y is None:
            outcome = self.adapter_.outcome_column
            rows = frame_rows(data, [outcome], unweighted="adaptation", aligned=True)
            y = rows.frame[outcome].to_numpy()
        return float(self._fitted().score(self.adapted_features(data), y))

    def adapted_features(self, data: Any) -> Any:
        """What does the model see of these rows? Its columns, adapted."""
        check_is_fitted(self)
        return only_columns(self.adapter_.transform(data), self.features_)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags = own.classifier_tags
        tags.regressor_tags = own.regressor_tags
        return tags

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.estimator_

    def _adapter(self) -> FairAdapter:
        if not isinstance(self.adapter, FairAdapter):
            raise LearnerError(f"the adapter must be a FairAdapter; found {self.adapter!r}")
        if self.keep is None:
            if self.named:
                raise RoleError("named explains names in keep, but keep is not given")
            return clone(self.adapter)  # type: ignore[no-any-return]
        return self.adapter.keeping(self.keep, named=self.named)

    def _features(self, adapted: Any, adapter: FairAdapter) -> tuple[str, ...]:
        present = FrameRows(adapted).frame.columns
        outcome, graph = adapter.outcome_column, adapter.graph
        barred = {*adapter.protected_columns, outcome, *graph.descendants(outcome)}
        if self.features is None:
            return tuple(name for name in present if name in graph.nodes and name not in barred)
        if not self.features or len(set(self.features)) < len(self.features):
            raise RoleError(f"features is {self.features!r}; expected names of columns, each once")
        for name in self.features:
            if name in barred:
                raise RoleError(
                    f"features names {name!r}, which is protected, the outcome, or follows from "
                    "it; leave it out"
                )
            if name not in present:
                raise ColumnNotFoundError(f"features names {name!r}, which is not in the data")
        return tuple(self.features)


def _joined(data: Any, y: Any, adapter: FairAdapter) -> tuple[Any, RowAccount | None]:
    """The rows with their outcome; of a table those that it lets in, read as it says."""
    outcome = adapter.outcome_column
    present = open_frame(data).collect_schema().names()
    if y is not None and outcome in present:
        raise SourceError(f"the outcome {outcome!r} is a column of the data and given as y; choose")
    if y is not None:
        named = getattr(y, "name", outcome)
        if named not in (None, outcome):
            raise SourceError(f"y is called {named!r}, but the outcome of the graph is {outcome!r}")
        data = _like(data, add_column(data, y, name=outcome)[0])
    nodes = [name for name in present if name in adapter.graph.nodes]
    rows = frame_rows(data, [*nodes, outcome], unweighted="adaptation")
    return _like(data, rows.native), rows.account


def _like(data: Any, native: Any) -> Any:
    """A table of these rows, if there was one."""
    return replace(data, data=native) if isinstance(data, Table) else native
