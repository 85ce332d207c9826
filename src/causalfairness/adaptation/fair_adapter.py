"""What would these rows be, had everyone been of the reference group? (methods §9)

Descendants of the protected attribute are taken in causal order. Each row's value v is replaced by

    F_a0^-1( F_a(v | causes in fact) | causes adapted ),

with F_a the distribution in the row's own group and F_a0 that in the reference group: the row keeps
its place among people alike. By default all groups are learned together (`shared`). Adapted group
means are E[V_a0 | a]; given the confounders they meet the reference group's, but the plain means do
so only if confounders and group are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from causalfairness.adaptation.balance import reference_weights
from causalfairness.adaptation.grouping import grouping_of
from causalfairness.adaptation.learner import Array, Codes, QuantileLearner
from causalfairness.adaptation.mechanisms import Mechanism, adapt, fit_mechanisms
from causalfairness.adaptation.plan import Move, Plan, keeping, plan_of
from causalfairness.adaptation.reading import Read, outcome_numbers, read_again, read_new
from causalfairness.adaptation.report import AdaptationReport, RankFit, rank_fits
from causalfairness.adaptation.shared import SharedQuantiles
from causalfairness.adaptation.steps import steps_of
from causalfairness.errors import LearnerError, RoleError
from causalfairness.graph import CausalGraph
from causalfairness.scm.domain import Domain
from causalfairness.tables import Table, only_columns
from causalfairness.tables.frames import FrameRows
from causalfairness.tables.joining import check_indexes

Learner = QuantileLearner | SharedQuantiles


class FairAdapter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What would these rows be, had everyone been of the reference group?

    A scikit-learn transformer of frames (pandas, polars, pyarrow; the same library comes out). Rows
    of the reference group and columns that the protected attribute does not cause come back exactly
    as they are; everyone's protected attribute is set to the reference.

    `protected` is a column or several, then `reference` is a tuple. `resolving` columns stay.
    `outcome` orders categories without an order; None takes the one column of the graph that the
    group influences and that influences nothing. `learner` is one learner, or a mapping from
    columns to learners (`SharedQuantiles` elsewhere, and by default); others see one group at a
    time. With `pooled` all groups but the reference share one mechanism. `transport_confounders`
    moves what the group does not cause to the reference group's distribution as well, which is no
    counterfactual.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian(direct=0.5, indirect=0.6)
    >>> graph = cf.CausalGraph.parse(
    ...     "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> people, truth = world.draw(1_000, seed=0), world.counterfactual(1_000, seed=0, do="blue")
    >>> adapter = cf.FairAdapter(
    ...     graph, protected="group", reference="blue", learner=cf.adaptation.LinearQuantiles())
    >>> adapted = adapter.fit(people).transform(people)
    >>> bool(np.corrcoef(adapted["m1"], truth["m1"])[0, 1] > 0.99)
    True
    >>> set(adapted["group"].to_pylist()), adapted["c1"].equals(people["c1"])
    ({'blue'}, True)
    """

    def __init__(
        self,
        graph: CausalGraph,
        *,
        protected: Any,
        reference: Any,
        resolving: Iterable[str] = (),
        outcome: str | None = None,
        learner: Learner | Mapping[str, Learner] | None = None,
        transport_confounders: bool = False,
        pooled: bool = False,
        workers: int = 1,
        seed: int = 0,
    ) -> None:
        self.graph = graph
        self.protected = protected
        self.reference = reference
        self.resolving = resolving
        self.outcome = outcome
        self.learner = learner
        self.transport_confounders = transport_confounders
        self.pooled = pooled
        self.workers = workers
        self.seed = seed

    def fit(self, data: Any, y: Any = None) -> Self:
        """How does each column follow from its causes, group by group?

        Of a `Table` rows with missing values may be dropped; rows that are moved cannot be.
        `y` is the outcome where it is not a column of the data; it only orders categories.
        """
        self._outcome()  # refuses what cannot be the outcome
        plan = plan_of(
            self._graph,
            self.protected_columns,
            resolving=self.resolving,
            transport=self.transport_confounders,
        )
        check_indexes(data=data.data if isinstance(data, Table) else data, y=y)
        read = read_new(data, plan)
        protected = [read.rows.read(name) for name in plan.protected]
        self.grouping_ = grouping_of(protected, plan.protected, self.reference, pooled=self.pooled)
        group = self.grouping_.codes(protected)
        moves = [move for move in plan.moves if move.column in read.values]
        learners = [self._learner(move.column) for move in moves]
        blanks, names = self._blanks(moves, read, y), self.grouping_.names
        self.plan_, self.domains_ = plan, read.domains
        self.mechanisms_ = fit_mechanisms(
            blanks, learners, read.values, group, names, seed=self.seed, workers=self.workers
        )
        self.feature_names_in_ = np.array(read.rows.frame.columns, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.report_ = self._report(plan, read, group)
        return self

    def transform(self, data: Any) -> Any:
        """What would these rows be in the reference group? A frame like the one that was brought.

        The outcome, and what else no other moved column follows from, may be absent.
        """
        read, group = self._read(data)
        adapted = adapt(self.mechanisms_, read.values, group, seed=self.seed)
        new = {
            name: self.domains_[name].new(values, whole=True)
            for name, values in adapted.items()
            if values is not read.values[name]
        }
        for name, value in zip(self.plan_.protected, self.grouping_.labels[0], strict=True):
            domain = self.domains_[name]
            code = domain.labels.index(str(value)) if domain.labels else float(value or 0.0)
            new[name] = domain.new(np.full(len(read.rows), float(code)), whole=True)
        return read.rows.replaced(new)

    def twins(self, data: Any) -> Any:
        """What is each person next to their adapted self? Changed columns twice, side by side.

        >>> import causalfairness as cf
        >>> graph = cf.CausalGraph.parse("group -> y")
        >>> people = cf.datasets.worlds.linear_gaussian().draw(200, seed=0).select(["group", "y"])
        >>> adapter = cf.FairAdapter(graph, protected="group", reference="blue").fit(people)
        >>> adapter.twins(people).column_names
        ['group', 'group_adapted', 'y', 'y_adapted']
        """
        adapted = FrameRows(self.transform(data)).frame
        rows = read_again(data, self.plan_, self.domains_).rows
        changed = {*self.plan_.protected, *self.plan_.moved}
        names = {name: f"{name}_adapted" for name in rows.frame.columns if name in changed}
        for name, new in names.items():
            while names[name] in rows.frame.columns:
                names[name] = new = f"{new}_"
        beside = [adapted[name].alias(new) for name, new in names.items()]
        both = [(name, names.get(name)) for name in rows.frame.columns]
        order = [each for pair in both for each in pair if each is not None]
        return only_columns(rows.frame.with_columns(*beside), order)

    def goodness(self, data: Any) -> tuple[RankFit, ...]:
        """Do ranks look uniform among these rows? Ask about rows that were not fitted on."""
        return self._fits(*self._read(data))

    def weights(self, data: Any) -> Array:
        """How much should each row count, for its group to have the reference's confounders?

        P(c | reference) / P(c | own group), by models that have not seen the row; 1 for rows of the
        reference group, and a mean of 1 in every other. The alternative to moving confounders:
        nobody's values change, and weighted means of adapted columns meet the reference group's.

        >>> import causalfairness as cf
        >>> graph = cf.CausalGraph.parse("group <-> c1; {group, c1} -> y")
        >>> world = cf.datasets.worlds.linear_gaussian(spurious=1.0)
        >>> people = world.draw(600, seed=0, frame="pandas")
        >>> adapter = cf.FairAdapter(graph, protected="group", reference="blue").fit(people)
        >>> green = people["group"] == "green"
        >>> weights = adapter.weights(people)
        >>> gaps = [np.average(people["c1"][green], weights=w) - people["c1"][~green].mean()
        ...         for w in (None, weights[green])]
        >>> bool(abs(gaps[1]) < 0.3 * abs(gaps[0]))
        True
        """
        read, group = self._read(data)
        columns = self.plan_.confounders
        return reference_weights(read, columns, group, seed=self.seed, workers=self.workers)

    def keeping(
        self, paths: Iterable[str], *, named: Mapping[str, Iterable[str]] | None = None
    ) -> FairAdapter:
        """Which adapter removes all paths but these? One that is not fitted yet.

        What each name keeps is told in `causalfairness.adaptation.plan`.

        >>> import causalfairness as cf
        >>> graph = cf.CausalGraph.parse("race <-> age; {race, age} -> priors; priors -> recid")
        >>> adapter = cf.FairAdapter(graph, protected="race", reference="white", outcome="recid")
        >>> kept = adapter.keeping({"indirect"})
        >>> kept.resolving, kept.transport_confounders
        (('priors',), True)
        """
        kept = keeping(self._graph, self.protected_columns, self._outcome(), paths, named or {})
        return clone(self).set_params(  # type: ignore[no-any-return]
            resolving=kept.resolving, transport_confounders=not kept.spurious
        )

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Which columns come out? Those that go in."""
        check_is_fitted(self)
        return self.feature_names_in_ if input_features is None else np.asarray(input_features)

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """Which columns make up the protected attribute? Always a tuple."""
        return (self.protected,) if isinstance(self.protected, str) else tuple(self.protected)

    @property
    def outcome_column(self) -> str:
        """Which column is the outcome? The one that was named, or the only one it can be."""
        outcome = self._outcome()
        if outcome is None:
            raise RoleError(
                "several columns that the group influences lead nowhere in the graph, so it does "
                "not say which one is the outcome; name it (outcome=...)"
            )
        return outcome

    @property
    def _graph(self) -> CausalGraph:
        return CausalGraph.of(self.graph)

    def _outcome(self) -> str | None:
        """The outcome that was named, or the one descendant that leads nowhere."""
        protected = self.protected_columns
        caused = self._graph.descendants(protected)
        if self.outcome is not None:
            if self.outcome in protected:
                raise RoleError(f"{self.outcome!r} is protected and cannot be the outcome as well")
            self._graph.parents(self.outcome)  # refuses what is not in the graph
            return self.outcome
        last = [node for node in caused if not self._graph.child_map[node]]
        return last[0] if len(last) == 1 else None

    def _read(self, data: Any) -> tuple[Read, Codes]:
        """What rows hold, and which group each is of."""
        check_is_fitted(self)
        read = read_again(data, self.plan_, self.domains_)
        protected = [read.rows.read(name) for name in self.plan_.protected]
        return read, self.grouping_.codes(protected)

    def _learner(self, column: str) -> Learner:
        learner = self.learner
        if isinstance(learner, Mapping):
            self._graph.parents(learner)  # refuses what is not in the graph
            learner = learner.get(column)
        if learner is None:
            return SharedQuantiles()
        if isinstance(learner, type) or not hasattr(learner, "fit"):
            raise LearnerError(
                f"the learner of {column!r} is {learner!r}; expected one such as "
                "SharedQuantiles() or LinearQuantiles()"
            )
        return learner

    def _blanks(self, moves: Sequence[Move], read: Read, y: Any) -> list[Mechanism]:
        """Mechanisms before anything is learned: causes, and the values of each column."""
        streams = read.rows.arrangement([move.column for move in moves]).columns
        blanks = []
        for move in moves:
            domain = read.domains[move.column]
            outcome = self._ordering(read, y, move.column) if _needs_order(domain) else None
            steps = steps_of(domain, read.values[move.column], outcome)
            causes = tuple(read.domains[cause] for cause in move.causes)
            blanks.append(Mechanism(move, causes, steps, streams.index(move.column)))
        return blanks

    def _ordering(self, read: Read, y: Any, column: str) -> Array | None:
        outcome = self._outcome()
        if outcome == column:
            return None  # in alphabetical order; the report says so
        if outcome is None or (y is None and outcome not in read.rows.frame.columns):
            found = "no outcome is named" if outcome is None else f"{outcome!r} is not in the data"
            raise RoleError(
                f"{column!r} has categories without an order, which are ordered by their mean "
                f"outcome, but {found}; name it (outcome=...), bring it, or give the categories an "
                "order of their own (a ranked categorical)"
            )
        return outcome_numbers(read.rows, outcome, y)

    def _report(self, plan: Plan, read: Read, group: Codes) -> AdaptationReport:
        orders = {
            mechanism.move.column: tuple(
                read.domains[mechanism.move.column].labels[code] for code in mechanism.steps.order
            )
            for mechanism in self.mechanisms_
            if _needs_order(read.domains[mechanism.move.column])
        }
        present = read.rows.frame.columns
        return AdaptationReport(
            grouping=self.grouping_,
            plan=plan,
            held_out=tuple(one.held_out for one in self.mechanisms_ if one.held_out),
            orders=orders,
            absent=tuple(column for column in plan.moved if column not in present),
            outside=tuple(name for name in present if name not in self._graph.nodes),
            fits=self._fits(read, group),
            account=read.rows.account,
        )

    def _fits(self, read: Read, group: Codes) -> tuple[RankFit, ...]:
        names = self.grouping_.names
        return tuple(rank_fits(self.mechanisms_, names, read.values, group, seed=self.seed))


def _needs_order(domain: Domain) -> bool:
    """Labels without an order; of two labels any order gives the same answer."""
    return len(domain.labels) > 2 and not domain.ranked
