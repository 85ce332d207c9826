"""What are all the group answers about one decision system? One class for everything.

A thin layer: it joins features, outcome and prediction to one table, states the roles, and asks
the questions of `parity`. All signs are a change from the reference to the comparison group.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from causalfairness.effects import Decomposition
from causalfairness.effects.contrasts import Convention
from causalfairness.effects.table import in_columns
from causalfairness.errors import CausalFairnessError, PredictorError, RoleError
from causalfairness.estimators import Estimator, KnownModel
from causalfairness.estimators.answers import own_order
from causalfairness.fairness_model import StandardFairnessModel, graph_of_roles
from causalfairness.graph import CausalGraph
from causalfairness.individuals import CounterfactualFairness, counterfactual_fairness
from causalfairness.parity import (
    AttributeComparison,
    ErrorRateDecomposition,
    compare_attributes,
    decompose_disparity,
    decompose_error_rates,
)
from causalfairness.scm import StructuralCausalModel
from causalfairness.tables import Missing, Of, Table, add_column, ask, open_table
from causalfairness.tables.frames import frame_rows
from causalfairness.tables.joining import exchange
from causalfairness.tables.source import open_frame
from causalfairness.tables.target import check_classes, check_decides

WIDTH = 88  # columns of the page


@dataclass(frozen=True, eq=False)
class CausalFairnessDecomposition:
    """Why does this decision system treat two groups differently?

    `X` holds one row per person: a pandas, polars or pyarrow table (or, with column names for `y`
    and `y_pred`, anything that `decompose_disparity` reads). `y` and `y_pred` are arrays, series or
    names of columns of `X`. `predictor` is the audited model itself, a fitted scikit-learn model or
    a function of a frame: what it would have said in another world is then asked and not
    estimated. A model that was fitted to an array takes `predictor_columns`, in this order, or
    those of `X`, if there are as many. Roles come as lists of columns or from a `graph`. For
    intersections, `protected` is a list of columns and groups are tuples. How rows were drawn and
    columns are read, a `cf.Table` as `X` says, or the keywords of the same names.

    >>> import causalfairness as cf
    >>> compas = cf.datasets.load_compas(frame="pandas")
    >>> cfd = cf.CausalFairnessDecomposition(
    ...     compas, "two_year_recid", compas["decile_score"] > 4,
    ...     protected="race", reference="Caucasian", comparison="African-American",
    ...     confounders=["sex", "age_cat"], mediators=["c_charge_degree"])
    >>> round(cfd.analyse_mean_difference().total.value, 3)
    0.245
    >>> round(cfd.analyse_equalized_odds()["fpr"].audited.value, 3)
    0.203
    """

    X: Any
    y: Any = None
    y_pred: Any = None
    _: KW_ONLY
    protected: str | Sequence[str]
    reference: Any
    comparison: Any
    confounders: Sequence[str] = ()
    mediators: Sequence[str] = ()
    graph: CausalGraph | None = None
    predictor: Any = None
    predictor_columns: Sequence[str] = ()
    task: Literal["classification", "regression"] = "classification"
    outcome_value: Any = None
    weights: str | None = None
    favorable: Any = None
    estimator: Estimator | None = None
    missing: Missing = "refuse"
    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    accept: Sequence[str] = ()
    workers: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.task not in ("classification", "regression"):
            raise ValueError(f"task must be 'classification' or 'regression'; found {self.task!r}")
        if self.graph is not None:
            object.__setattr__(self, "graph", CausalGraph.of(self.graph))
        if isinstance(self.X, Table) and any(self._read.values()):
            raise RoleError("X is a Table; say there how its columns are read")
        if self.graph is not None and (len(self.confounders) or len(self.mediators)):
            raise RoleError(
                "roles are given twice, by a graph and by lists; leave out one of the two"
            )
        if self.y is None and self.y_pred is None and self.predictor is None:
            raise RoleError("there is nothing to explain; give y, y_pred or a predictor")
        _ = self.model, self._predict  # what contradicts itself is refused here, not later

    @cached_property
    def data(self) -> Any:
        """What is the table that questions are asked of?"""
        joined = self._joined
        column = joined.outcome or joined.prediction
        if self.task == "classification" and self.outcome_value is None and column is not None:
            values = open_table(joined.data).values(column)
            check_classes(values, f"column {column!r} has the values")
        if isinstance(self.X, Table):
            return replace(self.X, data=joined.data)
        return Table(joined.data, **self._read) if any(self._read.values()) else joined.data

    @cached_property
    def model(self) -> StandardFairnessModel:
        """Which role does every column play?"""
        joined = self._joined
        prediction = joined.prediction or self._predict
        same = ("protected", "reference", "comparison", "outcome_value", "weights", "favorable")
        shared = {name: getattr(self, name) for name in same} | {
            "outcome": joined.outcome,
            "prediction": prediction,
            "predictor_columns": self._predictor_columns,
        }
        if self.graph is None:
            return StandardFairnessModel(
                confounders=self.confounders, mediators=self.mediators, **shared
            )
        if joined.outcome is not None and joined.outcome not in self.graph.nodes:
            raise RoleError(
                f"the outcome is called {joined.outcome!r}, which is not in the graph "
                f"({', '.join(self.graph.nodes)}); give y as the name of a column, or as a series "
                "of that name"
            )
        return StandardFairnessModel.from_graph(self.graph, **shared)

    def analyse_mean_difference(
        self, *, of: Of | None = None, convention: Convention = "sequential"
    ) -> Decomposition:
        """How much of the gap is direct, indirect or spurious?

        Of the prediction where there is one, else of the outcome.
        """
        return decompose_disparity(self.data, self.model, **self._about_means(of, convention))

    def analyse_equalized_odds(
        self,
        *,
        rates: Sequence[str] = ("fpr", "fnr"),
        with_mediators: bool = False,
        comparison_model: Any = None,
        convention: Convention = "sequential",
    ) -> Mapping[str, ErrorRateDecomposition]:
        """How much of each gap in error rates is direct, indirect or spurious?

        `rates` are any of fpr, fnr, tpr, tnr, ppv and npv.
        """
        if isinstance(rates, str):
            raise ValueError(f"rates is a list of rates, got the text {rates!r}; write [{rates!r}]")
        model = self.model
        if self._predict is not None:  # the predictor is at hand, so it is asked
            model = replace(model, prediction=self._predict)
        return {
            rate: decompose_error_rates(
                self.data,
                model,
                rate,
                with_mediators=with_mediators,
                comparison_model=comparison_model,
                estimator=self.estimator,
                convention=convention,
                **self._usual,
            )
            for rate in rates
        }

    def analyse_intersections(
        self, *, of: Of | None = None, convention: Convention = "sequential"
    ) -> AttributeComparison:
        """What does the intersection show that single attributes hide?"""
        return compare_attributes(self.data, self.model, **self._about_means(of, convention))

    def analyse_counterfactual_fairness(
        self,
        *,
        scm: StructuralCausalModel | None = None,
        mechanisms: Mapping[str, Any] | None = None,
        do: Any = None,
        refit: bool = False,
        draws: int = 1,
        replicates: int | None = None,
    ) -> CounterfactualFairness:
        """Would each person's prediction have been the same in the other group?

        Needs the `predictor`. Without a fitted `scm`, one is fitted to the graph, or to the one
        that the roles stand for, in which mediators follow from group and confounders and may
        share hidden causes. Without `do`, people of both groups are set to the other group. Shifts
        are on the scale of `analyse_mean_difference`: decisions, where the predictor has classes.
        """
        if self._predict is None:
            raise PredictorError(
                "what a model would have said about somebody in the other group only the model "
                "itself can tell; give it as predictor=..."
            )
        table, model = ask(self.data, self.model, missing=self.missing)
        table = replace(table, weights=model.weights)
        if scm is None:
            graph = self.graph or graph_of_roles(self.model)
            scm = StructuralCausalModel.fit(graph, table, mechanisms, seed=self.seed)
        used = frame_rows(table, scm.graph.nodes, unweighted=None).native
        return counterfactual_fairness(
            self._followed,
            table,
            scm,
            self._other_group(used) if do is None else do,
            predictor_columns=self._predictor_columns,
            refit=refit,
            outcome=self.model.outcome,
            draws=draws,
            replicates=replicates,
            workers=self.workers,
            seed=self.seed,
        )

    def summary(self) -> None:
        """What was found, on one page in plain language? Prints it; `str()` gives the text."""
        print(self)

    def __str__(self) -> str:
        return self._page

    __repr__ = __str__

    @cached_property
    def _page(self) -> str:
        """Every question that can be asked with defaults; one that has no answer says why."""
        gap = self._gap
        sections = [
            self.model.describe(),
            _section(f"Why does {gap.what} differ?", [str(gap.summary()), *gap.sentences()]),
        ]
        if len(self.model.protected_columns) > 1:
            sections.append(_answered("One attribute at a time", self._said_of_attributes))
        if self._predict is not None:
            sections.append(_answered("And for whom?", self._said_of_individuals))
        judged = self.model.outcome is not None and self.model.prediction is not None
        if judged and self.task == "classification":
            sections.append(_answered("Who bears the errors?", self._said_of_errors))
        assumed = [f"- {line}" for line in gap.diagnostics.assumptions]
        sections.append(_section("True only if", assumed))
        sections.append(_section("Before you believe it", _cautions(gap)))
        return "\n\n".join(sections)

    def _other_group(self, data: Any) -> dict[str, list[Any]]:
        """Each protected column with the two groups exchanged; other people stay as they are."""
        if self.model.reference is None or self.model.comparison is None:
            raise RoleError(
                "the other group must be a single one; name both reference and comparison, or "
                "say what is set for everyone with do=..."
            )
        return exchange(data, self.model)

    @cached_property
    def _gap(self) -> Decomposition:
        return self.analyse_mean_difference()

    def _said_of_attributes(self) -> list[str]:
        found = self.analyse_intersections()
        summaries = {name: each.summary() for name, each in found.by_attribute.items()}
        refused = [f"Not compared: {name}: {why}" for name, why in found.refused.items()]
        return [in_columns(summaries), *found.sentences()[len(summaries) :], *refused]

    def _said_of_errors(self) -> list[str]:
        """The audited model's own errors: with mediators, under an assumption that is printed."""
        odds = self.analyse_equalized_odds(with_mediators=bool(self.model.mediators))
        summaries = {rate: found.summary() for rate, found in odds.items()}
        gaps = [found.sentences()[0] for found in odds.values()]
        usual = self._gap.diagnostics.assumptions
        assumed = dict.fromkeys(
            f"Assumes also that {line}."
            for found in odds.values()
            for line in found.diagnostics.assumptions
            if line not in usual
        )
        return [in_columns(summaries), *gaps, *assumed]

    def _said_of_individuals(self) -> list[str]:
        found = self.analyse_counterfactual_fairness()
        usual = self._gap.diagnostics.assumptions
        assumed = [f"Assumes also: {line}." for line in found.assumptions if line not in usual]
        return [*found.sentences(), *assumed]

    @cached_property
    def _joined(self) -> _Joined:
        data, names = self.X.data if isinstance(self.X, Table) else self.X, []
        for values, name in ((self.y, "outcome"), (self.y_pred, "prediction")):
            if values is None or isinstance(values, str):
                names.append(values)
            else:
                data, called = add_column(data, values, name=name)
                names.append(called)
        return _Joined(data, *names)

    @cached_property
    def _predict(self) -> Callable[[Any], Any] | None:
        if self.predictor is None:
            return None
        if isinstance(self.predictor, type):
            raise PredictorError(
                f"predictor is the class {self.predictor.__name__}; give a fitted model"
            )
        asked: Callable[[Any], Any] = getattr(self.predictor, "predict", self.predictor)
        classes = self.task == "classification"
        if asked is not self.predictor and (self.outcome_value is not None or not classes):
            return _Decision(self.predictor, self.outcome_value if classes else None).predict
        if callable(asked):
            return asked
        raise PredictorError(
            "predictor must be a fitted scikit-learn model or a function of a frame; found "
            f"{type(self.predictor).__name__}"
        )

    @cached_property
    def _predictor_columns(self) -> Sequence[str]:
        if self.predictor_columns or self.predictor is None:
            return self.predictor_columns
        return own_order(self._predict, open_frame(self.X).collect_schema().names())

    @property
    def _followed(self) -> Callable[[Any], Any] | None:
        """What the mean difference asks; where it answers with two words, whether it is the later.

        Which word that is moves no shift but its sign, and the mean difference asks for it.
        """
        classes = [*getattr(self.predictor, "classes_", ())]
        if self.outcome_value is None and len(classes) == 2 and isinstance(classes[1], str):
            return _Decision(self.predictor, classes[1]).predict
        return self._predict

    @property
    def _read(self) -> dict[str, Any]:
        """How are columns read, where X does not say it?"""
        return {name: getattr(self, name) for name in ("categorical", "numeric", "accept")}

    @property
    def _usual(self) -> dict[str, Any]:
        """What is the same for every question."""
        return {"missing": self.missing, "workers": self.workers, "seed": self.seed}

    def _about_means(self, of: Of | None, convention: Convention) -> dict[str, Any]:
        """What is asked, and by which estimator: the model itself, where it is at hand."""
        if of is None:
            of = "outcome" if self.model.prediction is None else "prediction"
        estimator = self.estimator
        if estimator is None and of == "prediction" and self._predict is not None:
            estimator = KnownModel(self._predict)
        return {"of": of, "estimator": estimator, "convention": convention, **self._usual}


class _Joined(NamedTuple):
    """One table, and the names of its outcome and prediction columns."""

    data: Any
    outcome: str | None
    prediction: str | None


class _Decision(NamedTuple):
    """A fitted model that answers 1 where it predicts the class in question."""

    model: Any
    value: Any

    @property
    def feature_names_in_(self) -> Any:
        """Which columns does the model use?"""
        return getattr(self.model, "feature_names_in_", None)

    @property
    def n_features_in_(self) -> Any:
        """How many columns does the model use?"""
        return getattr(self.model, "n_features_in_", None)

    def fit(self, features: Any, target: Any) -> _Decision:
        """What is it, its model fitted to these rows?"""
        return self._replace(model=self.model.fit(features, target))

    def predict(self, people: Any) -> Any:
        """What does the model say about these people?"""
        predicted = self.model.predict(people)
        if self.value is None:
            return predicted
        check_decides(getattr(self.model, "classes_", ()), self.value)
        return np.asarray(predicted) == self.value


def _answered(title: str, ask: Callable[[], Sequence[str]]) -> str:
    """A section of the page; a question that has no answer says why."""
    try:
        return _section(title, ask())
    except CausalFairnessError as reason:
        return _section(title, [f"No answer: {reason}"])


def _section(title: str, paragraphs: Sequence[str]) -> str:
    lines = [
        part if "\n" in part else textwrap.fill(part, WIDTH, subsequent_indent="  ")
        for part in paragraphs
    ]
    return "\n".join([title, "-" * len(title), *lines])


def _cautions(gap: Decomposition) -> list[str]:
    told = gap.diagnostics
    reason = f", chosen because {told.chosen_because}" if told.chosen_because else ""
    overlap = [f"overlap: {told.overlap}"] if str(told.overlap) else []
    return [f"estimator: {told.estimator}{reason}", f"rows: {told.rows}", *overlap, *told.notes]
