"""What is asked of which data? An audit, its rows in memory, and the model of every pair of groups.

All columns that the audit names are read once, as one pyarrow table, whichever engine they came
from: the answers then depend on what the data says, and not on who reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from causalfairness.audit.predictor import Predictor, decisions, load_predictor
from causalfairness.audit.schema import Audit
from causalfairness.audit.sections import DataSource, not_loaded
from causalfairness.errors import (
    AuditError,
    CausalFairnessError,
    ColumnTypeError,
    TooFewRowsError,
)
from causalfairness.fairness_model import StandardFairnessModel, graph_of_roles
from causalfairness.graph import CausalGraph
from causalfairness.scm import StructuralCausalModel
from causalfairness.tables import Column, Table, add_column, only_rows, open_table
from causalfairness.tables.columns import column_of
from causalfairness.tables.fingerprint import Identity, identify
from causalfairness.tables.frames import frame_rows
from causalfairness.tables.groups import (
    COMPARISON,
    NEITHER,
    REFERENCE,
    label_groups,
    members,
)
from causalfairness.tables.source import check_columns, open_frame, select

BUNDLED = "dataset:"
DROPPED = "{count:,} of {rows:,} rows have missing values in {columns} and were left out here"


@dataclass(frozen=True, eq=False)
class Study:
    """What is asked of which data? Made by `prepare`; questions read from it only.

    `data` has, besides the columns that were read, the decisions that a threshold makes.
    """

    audit: Audit
    source: str
    data: Any
    identity: Identity
    columns: tuple[str, ...]
    predictor: Predictor | None
    decision: str | None  # the column of decisions by a threshold, if there is one
    workers: int
    left_out: dict[Any, Any] = field(default_factory=dict)  # what was learned without confounders
    _fitted: dict[str, StructuralCausalModel] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows were read?"""
        return len(self.data)

    @property
    def table(self) -> Table:
        """Which data is asked, and how is it read?"""
        return self.reading(self.data)

    def reading(self, data: Any) -> Table:
        """Which table is this, if some of the study's rows are left out or columns added?"""
        said = {} if self.audit.data is None else self.audit.data.reading
        there = {*open_frame(data).collect_schema().names()}
        read: dict[str, Any] = {key: [*filter(there.__contains__, said[key])] for key in said}
        return Table(data, **read)

    @property
    def missing(self) -> Any:
        """What happens to missing values?"""
        return "refuse" if self.audit.data is None else self.audit.data.missing

    @cached_property
    def decided(self) -> StandardFairnessModel:
        """Which model holds decisions against outcomes? Scores, where there are no decisions."""
        if self.predictor is not None:
            return self.audit.model(self.predictor.decide)
        return self.audit.model(self.decision or self.audit.roles.prediction)

    @cached_property
    def scored(self) -> StandardFairnessModel:
        """Which model holds scores against outcomes?"""
        if self.predictor is not None:
            return self.audit.model(self.predictor.score)
        return self.audit.model(self.audit.roles.prediction)

    @cached_property
    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """Which groups are compared? Reference and comparison."""
        roles = self.audit.roles
        more = ((pair.reference, pair.comparison) for pair in self.audit.groups.pairs)
        return tuple(dict.fromkeys(((roles.reference, roles.comparison), *more)))

    @property
    def estimator(self) -> Any:
        """Which estimator was asked for? None lets the library choose."""
        from causalfairness import estimators

        choice = self.audit.estimator
        if choice.method == "strata":
            return estimators.Strata(empty_cells=choice.empty_cells)
        if choice.method == "doubly_robust":
            return estimators.DoublyRobust(folds=choice.folds, repeats=choice.repeats)
        if choice.method == "regression":
            return estimators.Regression()
        return estimators.Weighting() if choice.method == "weighting" else None

    @property
    def usual(self) -> dict[str, Any]:
        """Which keywords do questions about world means take?"""
        settings = self.audit.settings
        return {"missing": self.missing, "workers": self.workers, "seed": settings.seed}

    @cached_property
    def graph(self) -> CausalGraph:
        """Which graph is assumed, among the columns of the data?"""
        if self.audit.roles.graph is None:
            return self.audit.roles.model(self.audit.roles.prediction or not_loaded).to_graph()
        whole = CausalGraph.parse(self.audit.roles.graph)
        return whole.latent_projection([node for node in whole.nodes if node in self.columns])

    def structural_model(self, target: str | None) -> StructuralCausalModel:
        """Which mechanisms made mediators, and the target column if there is one? Fitted once."""
        key = target or ""
        if key not in self._fitted:
            graph, weights = self._graph_towards(target), self.audit.roles.weights
            data, _ = self.complete([*graph.nodes, *([weights] if weights else [])])
            self._fitted[key] = StructuralCausalModel.fit(
                graph,
                replace(self.reading(data), weights=weights),
                seed=self.audit.settings.seed,
            )
        return self._fitted[key]

    def complete(self, names: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
        """Which rows have all of these columns? With `missing = 'drop'`, and what is said of it."""
        if self.missing != "drop":
            return self.data, ()
        rows = frame_rows(self.data, names)
        absent = np.zeros(len(rows), dtype=bool)
        for name in names:
            absent |= rows.read(name).is_missing
        if not absent.any():
            return self.data, ()
        said = DROPPED.format(count=int(absent.sum()), rows=len(rows), columns=", ".join(names))
        return only_rows(self.data, np.flatnonzero(~absent)), (said,)

    @cached_property
    def sizes(self) -> dict[Any, int]:
        """How many people are in each group?"""
        return open_table(self.data).people(self.scored)

    def check_sizes(self, model: StandardFairnessModel) -> None:
        """Refuse a compared group that is so small that numbers tell on single people."""
        role, counts = members([*self.sizes], model), np.array([*self.sizes.values()])
        fewest = min(int(counts[role == side].sum()) for side in (REFERENCE, COMPARISON))
        if fewest < self.audit.settings.smallest:
            raise TooFewRowsError(
                f"a group that is compared has fewer than {self.audit.settings.smallest} people, "
                "and numbers would tell on each of them; lower settings.smallest to have them all "
                "the same"
            )

    def large_groups(self, names: Sequence[str], data: Any = None) -> tuple[Any, tuple[str, ...]]:
        """The rows of groups by these columns that are not so small, and what is said of others."""
        data, smallest = self.data if data is None else data, self.audit.settings.smallest
        rows = frame_rows(data, names)
        columns = [rows.read(name) for name in names]
        group = label_groups(columns)[1]
        known = np.all([~column.is_missing for column in columns], axis=0)
        few = np.flatnonzero(known & (np.bincount(group)[group] < smallest))
        if not len(few):
            return data, ()
        if len(few) == len(group):
            raise TooFewRowsError(f"all groups by {', '.join(names)} are of fewer than {smallest}")
        several = len(np.unique(group[few]))
        said = (
            f"{several:,} {'groups' if several > 1 else 'group'} of fewer than {smallest} people "
            f"({len(few):,} in all) left out here: numbers of so few would tell on each of them"
        )
        return only_rows(data, np.setdiff1d(np.arange(len(group)), few)), (said,)

    def column(self, name: str) -> Column:
        """What does a column hold?"""
        return column_of(frame_rows(self.data, [name]).frame[name])

    def _graph_towards(self, target: str | None) -> CausalGraph:
        """Columns with a role and the target; mediators may share hidden causes."""
        roles, model = self.audit.roles, self.decided
        used = (*model.protected_columns, *model.confounders, *model.mediators)
        if roles.graph is None:
            among = graph_of_roles(model)
        else:
            among = self.graph.latent_projection([*used])
        if target is None:
            return CausalGraph.from_edges(among.arrows, among.hidden, used)
        parents = used
        named = roles.prediction if target == self.decision else target
        if roles.graph is not None and named in self.graph.nodes:
            parents = self.graph.latent_projection([*used, named]).parent_map[named]
        return CausalGraph.from_edges(
            [*among.arrows, *product(parents, (target,))], among.hidden, (*used, target)
        )


def two_groups(data: Any, model: StandardFairnessModel) -> tuple[Any, list[str]]:
    """Which rows are of the two groups that are compared, and of which group is each?"""
    rows = frame_rows(data, model.protected_columns)
    groups, group = label_groups([rows.read(name) for name in model.protected_columns])
    role = members(groups, model)[group]
    inside = np.flatnonzero(role != NEITHER)
    names = (model.reference_label, model.comparison_label)
    return only_rows(data, inside), [names[each] for each in role[inside]]


def prepare(audit: Audit, data: Any, *, trust: bool, workers: int) -> Study:
    """What is asked of which data? All that is wrong with the data is said at once."""
    predictor = load_predictor(audit, trust=trust)
    audit = _told_of(audit, data)
    source, frame = _open(audit, data)
    names = _present(audit, frame)
    numeric = () if audit.data is None else audit.data.numeric
    rows = frame_rows(Table(frame, numeric=numeric, missing="category"), names, as_is=True)
    table = select(rows.frame, names).to_arrow()
    columns = frame_rows(table, names)
    identity = identify([column_of(columns.frame[name]) for name in names])
    decided = None
    threshold, score = audit.predictor.threshold, audit.roles.prediction
    if threshold is not None and score is not None:
        values = column_of(columns.frame[score]).values
        if values is None:
            raise ColumnTypeError(
                f"the prediction {score!r} holds words, so that no threshold decides; leave out "
                "predictor.threshold"
            )
        name = f"{score} from {threshold:g}"
        table, decided = add_column(table, decisions(values, threshold), name=name)
    study = Study(audit, source, table, identity, names, predictor, decided, workers)
    _check_groups(study)
    return study


def _told_of(audit: Audit, data: Any) -> Audit:
    """What a table says of its rows and columns, the audit says: it then stands in the record."""
    if not isinstance(data, Table):
        return audit
    stated = audit.data or DataSource(source=_library(data))
    silent = DataSource(source=stated.source, columns=stated.columns)
    said = silent.model_copy(
        update={
            "missing": data.missing,
            "weights": data.weights,
            **{name: tuple(getattr(data, name)) for name in silent.reading},
        }
    )
    if silent not in (stated, said):
        raise AuditError(
            "the table and data in the audit both say how rows and columns are read; say it in one "
            "place"
        )
    return audit if said == silent else audit.model_copy(update={"data": said}).checked()


def _open(audit: Audit, data: Any) -> tuple[str, Any]:
    if data is None:
        if audit.data is None:
            raise AuditError(
                "the audit names no data; add data.source to it, or hand the data to run(data)"
            )
        return audit.data.source, open_source(audit.data.source, audit.beside)
    if isinstance(data, str | Path):
        return str(data), open_source(str(data), Path())
    return _library(data), open_frame(data)


def _library(data: Any) -> str:
    own = data.data if isinstance(data, Table) else data
    return own if isinstance(own, str) else type(own).__module__.partition(".")[0]


def open_source(name: str, folder: Path) -> Any:
    """Where is the data? Bundled data by its name, or files, from this folder on.

    >>> open_source("dataset:german_credit", Path()).shape
    (1000, 22)
    """
    if name.startswith(BUNDLED):
        from causalfairness import datasets

        wanted = name.removeprefix(BUNDLED)
        datasets.describe(wanted)  # or an error that lists what there is
        return open_frame(getattr(datasets, f"load_{wanted}")())
    return open_frame(str(folder / name))


def _present(audit: Audit, frame: Any) -> tuple[str, ...]:
    """The columns that are read, or an error that names all that are not there."""
    problems = []
    for name in audit.columns:
        try:
            check_columns(frame, [name])
        except CausalFairnessError as refusal:
            problems.append(str(refusal))
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise AuditError(f"the data does not fit the audit:\n{listed}")
    there = {*frame.collect_schema().names()}
    graph = () if audit.roles.graph is None else CausalGraph.parse(audit.roles.graph).nodes
    return tuple(dict.fromkeys((*audit.columns, *(node for node in graph if node in there))))


def _check_groups(study: Study) -> None:
    """Is anybody there to compare? Better known before the work than after it."""
    table = study.table
    problems = []
    for reference, comparison in study.pairs:
        try:
            model = study.scored.for_groups(reference=reference, comparison=comparison)
            members(table.groups(replace(model)), model)
        except CausalFairnessError as refusal:
            problems.append(f"  {refusal}")
    if problems:
        raise AuditError("\n".join(["the groups of the audit are not in the data:", *problems]))
