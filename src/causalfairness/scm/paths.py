"""How much of a change of the protected attribute reaches the outcome along some paths?

    effect = mean over rows of  ( Y in the path-specific world  -  Y in the reference world )

In the reference world A is set to a0. In the path-specific world the arrows that carry the change
(`causalfairness.scm.routes`) tell a1, or what their cause has become of it, and all others tell
what their cause is in the reference world (methods §7). Both worlds have the noise that was
abducted from the row, so they are worlds of the same person. Positive means that the change from
the reference group to the comparison group raises the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Effect
from causalfairness.errors import (
    GroupNotFoundError,
    PredictorError,
    RoleError,
    WeightError,
)
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.scm.domain import Domain
from causalfairness.scm.evaluation import Equations, Streams, Values, abduct, propagate
from causalfairness.scm.intervention import check_count, read_intervention
from causalfairness.scm.refits import check_replicates, uncertainty
from causalfairness.scm.routes import Routes, routes_of, written
from causalfairness.tables import Column, Of, RowAccount, Rows, ask, open_table
from causalfairness.tables.frames import FrameRows, frame_rows
from causalfairness.tables.groups import NEITHER, canonical, group_label, members, shown
from causalfairness.tables.missing import said_of_dropped
from causalfairness.tables.target import Target, target_of

if TYPE_CHECKING:
    from causalfairness.scm.structural_causal_model import StructuralCausalModel

Array = NDArray[np.float64]
Told = Mapping[str, tuple[float, float]]  # protected column -> its reference and comparison value
BLOCK = 2**16  # rows handled in one go


@dataclass(frozen=True, eq=False)
class PathQuestion:
    """Along which routes is the outcome asked about, and of whom? Made by `ask_along`.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(200, seed=0)
    >>> graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> scm = cf.StructuralCausalModel.fit(graph, data)
    >>> question = ask_along(scm, data, world.model, edges="group -> m1")
    >>> len(question.by_row()), question.effect().name
    (200, 'group -> m1 among everyone')
    """

    scm: StructuralCausalModel
    model: StandardFairnessModel
    rows: Rows
    worlds: Worlds  # of the rows in the order of their content
    account: RowAccount | None = None

    def effect(
        self, *, among: Any = None, replicates: int | None = None, workers: int = 1
    ) -> Effect:
        """How much of the change reaches the outcome, on average over these people?"""
        return effects_along([self], among=among, replicates=replicates, workers=workers)[0]

    def by_row(self) -> Array:
        """How much of the change reaches the outcome of each row?"""
        return self.worlds.row_effects(self.scm.equations)[self.rows.arrangement.places]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does the answer rest on, beyond the data?"""
        routes = self.worlds.routes
        split = (
            f"{node}: passes the change on along some of its arrows "
            f"({_arrows(routes.held, node)} not among them), so it has two values at once for the "
            "same person; no data, not even an experiment, can check what follows from that"
            for node in routes.splitting
        )
        return (*self.scm.assumptions, *split, *said_of_dropped(self.account))


def ask_along(
    scm: StructuralCausalModel,
    data: Any,
    model: StandardFairnessModel,
    *,
    of: Of = "outcome",
    edges: Any = None,
    paths: Any = None,
    draws: int = 1,
    seed: int = 0,
    whole: bool = False,
) -> PathQuestion:
    """What is asked, of which rows? Everything that can be refused is refused here.

    `whole` is for answers row by row, where no row can be left out.
    """
    check_count(draws, "draws")
    if of == "prediction" and model.predict is not None:
        raise PredictorError(
            "the prediction is a function and no node of the graph; add its predictions to the "
            "data as a column, put that into the graph with an arrow from every column it uses, "
            "and give the function as its mechanism (Deterministic)"
        )
    target = target_of(model, of)
    graph, domains = scm.graph, scm.equations.domains
    routes = routes_of(graph, model.protected_columns, target.column, edges=edges, paths=paths)
    told = _told(model, scm.equations)
    needed = (*routes.moved, *graph.parents(routes.moved), target.column, *told)
    table, model = ask(data, model)
    frame = frame_rows(table, list(dict.fromkeys((*needed, *model.role_columns))), aligned=whole)
    rows = open_table(frame.frame.to_native()).rows(model, of)
    order = rows.arrangement.rows
    values = {node: column[order] for node, column in encoded(frame, domains, needed).items()}
    worlds = Worlds(routes, values, told, target, draws, seed)
    return PathQuestion(scm, model, rows, worlds, frame.account)


def effects_along(
    questions: Sequence[PathQuestion],
    *,
    among: Any = None,
    replicates: int | None = None,
    workers: int = 1,
) -> tuple[Effect, ...]:
    """How much of the change travels along each of several routes? Of one model and its rows.

    Mechanisms are fitted again once for all of them, and the effects can be subtracted.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(200, seed=0)
    >>> graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> scm = cf.StructuralCausalModel.fit(graph, data)
    >>> ways = ("group -> m1", "group -> y")
    >>> found = effects_along([ask_along(scm, data, world.model, edges=way) for way in ways])
    >>> (found[0] - found[1]).name
    'group -> m1 among everyone - group -> y among everyone'
    """
    check_replicates(replicates)
    first = questions[0]
    weights = _weights(first.rows, first.model, among)
    whom = "everyone" if among is None else shown(group_label(among) or ())
    names = [f"{asked.worlds.routes} among {whom}" for asked in questions]
    stated = [frozenset(asked.assumptions) for asked in questions]
    by_row = [asked.by_row() for asked in questions]
    values = [float(weights @ effects) for effects in by_row]
    rows, order = first.rows, first.rows.arrangement.rows
    moved = dict.fromkeys(node for asked in questions for node in asked.worlds.routes.moved)
    spreads, basis, plan = uncertainty(
        first.scm,
        {node: column for asked in questions for node, column in asked.worlds.values.items()},
        tuple(moved),
        None if rows.weights is None else rows.weights[order],
        replicates,
        answer=partial(_means, tuple(asked.worlds for asked in questions), weights[order]),
        by_row=weights * (np.stack(by_row) - np.array(values)[:, None]),
        needed={"table" if among is None else f"group {whom!r}": weights[order] > 0},
        places=rows.arrangement.places,
        identity=rows.identity,
        drawn=rows.drawn(rows.in_order),
        workers=workers,
        seed=first.worlds.seed,
    )
    found = zip(names, values, spreads, stated, strict=True)
    return tuple(
        Effect(
            *(name, value, spread, basis, told | {plan.said}),
            freedom=plan.freedom,
            rows_alone=plan.rows_alone,
        )
        for name, value, spread, told in found
    )


@dataclass(frozen=True, eq=False)
class Worlds:
    """What are the nodes of some people, and which two worlds are set against each other?"""

    routes: Routes
    values: Values
    told: Told
    target: Target
    draws: int
    seed: int

    def row_effects(self, equations: Equations) -> Array:
        """How much of the change reaches the outcome of each row, averaged over the draws?"""
        n = len(self.values[self.target.column])
        shifts = np.zeros(n)
        if self.target.column not in self.routes.moved:
            return shifts
        for draw in range(self.draws):
            luck = Streams(equations.graph.nodes, self.seed, draw)
            for start in range(0, n, BLOCK):
                part = slice(start, min(start + BLOCK, n))
                block = {node: column[part] for node, column in self.values.items()}
                shifts[part] += self._shift(equations, block, luck)
        return shifts / self.draws

    def _shift(self, equations: Equations, observed: Values, luck: Streams) -> Array:
        outcome, n = self.target.column, len(observed[self.target.column])
        noise = abduct(equations, observed, luck, self.routes.moved)
        settled = {node: observed[node] for node in observed if node not in noise}
        settled |= {node: np.full(n, reference) for node, (reference, _) in self.told.items()}
        plain = propagate(equations, noise, settled)
        told = {edge: np.full(n, self.told[edge[0]][1]) for edge in self.routes.told}
        told |= {edge: plain[edge[0]] for edge in self.routes.held}
        follow = {node: noise[node] for node in self.routes.reached}
        stay = {node: column for node, column in plain.items() if node not in follow}
        changed = propagate(equations, follow, stay, told)
        domain = equations.domains[outcome]
        after, before = (
            measured(world[outcome], domain, self.target) for world in (changed, plain)
        )
        return after - before


def measured(values: Array, domain: Domain, target: Target) -> Array:
    """What number is averaged where a node has these values? 1 or 0 where one of them counts.

    >>> income = Domain("income", labels=("<=50K", ">50K"))
    >>> measured(np.array([1.0, 0.0]), income, Target("income", ">50K", "outcome")).tolist()
    [1.0, 0.0]
    """
    if domain.labels:
        return np.asarray(values == domain.labels.index(str(canonical(target.value))), dtype=float)
    if target.value is None or target.role == "prediction":
        return values
    column = Column.numbers(target.column, values, exact=True)
    return column.is_value(canonical(target.value)).astype(float)


def encoded(
    rows: FrameRows, domains: Mapping[str, Domain], nodes: tuple[str, ...]
) -> dict[str, Array]:
    """What do these nodes hold, as arrays? Missing and unknown values are refused."""
    values = {node: domains[node].encode(rows.read(node)) for node in dict.fromkeys(nodes)}
    for node, column in values.items():
        domains[node].check_present(column)
    return values


def _means(asked: tuple[Worlds, ...], weights: Array, equations: Equations, counts: Array) -> Array:
    """The means over rows, each of which counts as often as it was drawn."""
    counted = counts * weights
    effects = [worlds.row_effects(equations) for worlds in asked]
    return np.asarray(np.stack(effects) @ counted / counted.sum())


def _told(model: StandardFairnessModel, equations: Equations) -> Told:
    """The two values of each protected column, as they stand in arrays."""
    columns = model.protected_columns
    ends = []
    for role, group in (("reference", model.reference), ("comparison", model.comparison)):
        if group is None:
            raise RoleError(
                f"the {role} group is everyone else, which is no value that "
                f"{', '.join(map(repr, columns))} could be set to; name one group"
            )
        values = group if isinstance(group, tuple) else (group,)
        do = dict(zip(columns, values, strict=True))
        ends.append(read_intervention(do, equations.graph, equations.domains, 1).same)
    return {column: (ends[0][column], ends[1][column]) for column in columns}


def _weights(rows: Rows, model: StandardFairnessModel, among: Any) -> Array:
    """How much does each row count? They add up to 1; rows that are not asked about get 0."""
    if among is None:
        inside = members(rows.groups, model)[rows.group_of_row] != NEITHER
    elif (wanted := group_label(among)) in rows.groups:
        inside = rows.group_of_row == rows.groups.index(wanted)
    else:
        present = "; ".join(map(shown, rows.groups[:20]))
        raise GroupNotFoundError(
            f"among={among!r} has no rows: {', '.join(map(repr, model.protected_columns))} has the "
            f"values {present}. Give one of these, or None for both groups of the model"
        )
    weights = inside.astype(float) if rows.weights is None else inside * rows.weights
    if not weights.sum() > 0:
        raise WeightError(
            f"no row that is asked about has a positive weight; check the column {model.weights!r}"
        )
    return np.asarray(weights / weights.sum())


def _arrows(held: tuple[tuple[str, str], ...], node: str) -> str:
    return ", ".join(written(edge) for edge in held if edge[0] == node)
