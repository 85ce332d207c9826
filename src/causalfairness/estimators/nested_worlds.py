"""What would each person's outcome be, were it told i and the mediators j?

For every row of two groups and i, j in {reference, comparison}: the noise of mediators and outcome
is abducted from the row, A is set to j, the mediators follow, and the outcome is told i on its
arrow from A. Where the outcome is the prediction of an audited model, that model is asked instead,
about a row that says i and has the mediators of j. Mediators of the row's own group are its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.estimators.answers import evaluate
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.scm.evaluation import Equations, Streams, Values, abduct, propagate
from causalfairness.scm.intervention import read_intervention
from causalfairness.scm.paths import Told, encoded, measured
from causalfairness.scm.routes import routes_of
from causalfairness.tables import RowPair
from causalfairness.tables.frames import FrameRows, frame_rows
from causalfairness.tables.groups import check_one_value
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
Positions = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class People:
    """Who are the people of the two groups, and what is to be known about them?"""

    values: Values
    group: NDArray[np.int8]
    told: Told
    question: Question
    draws: int
    seed: int

    def take(self, rows: Positions) -> People:
        """What does this look like for some of the rows?"""
        values = {node: column[rows] for node, column in self.values.items()}
        return replace(
            self, values=values, group=self.group[rows], question=self.question.take(rows)
        )

    def outcomes(self, equations: Equations) -> Array:
        """What is the outcome of each row, told i with mediators told j? [i, j, row]"""
        total = np.zeros((2, 2, len(self.group)))
        for draw in range(self.draws):
            luck = Streams(equations.graph.nodes, self.seed, draw)
            noise = abduct(equations, self.values, luck, self.question.moved)
            for j in (0, 1):
                world = self._world(equations, noise, j)
                for i in (0, 1):
                    total[i, j] += self.question.answer(i, world, noise, equations, self.told)
        return total / self.draws

    def _world(self, equations: Equations, noise: Values, j: int) -> dict[str, Array]:
        """Everything but the outcome in the world where A is set to j."""
        mediators = {node: noise[node] for node in noise if node != self.question.outcome}
        settled = {node: column for node, column in self.values.items() if node not in noise}
        settled |= {node: np.full(len(self.group), ends[j]) for node, ends in self.told.items()}
        world = propagate(equations, mediators, settled)
        own = self.group == j
        return {
            node: np.where(own, self.values[node], column) if node in mediators else column
            for node, column in world.items()
        }


@dataclass(frozen=True, eq=False)
class Measured:
    """What is the outcome, as a node of the graph?"""

    moved: tuple[str, ...]
    target: Target
    observed: Array

    @property
    def outcome(self) -> str:
        """Which node is it?"""
        return self.target.column

    def take(self, rows: Positions) -> Measured:
        """What is asked about some of the rows?"""
        return replace(self, observed=self.observed[rows])

    def answer(
        self, i: int, world: Values, noise: Values, equations: Equations, told: Told
    ) -> Array:
        """What does its mechanism make of this world, if its arrow from A tells i?"""
        if self.outcome not in noise:
            return self.observed
        n = len(self.observed)
        heard = {(node, self.outcome): np.full(n, ends[i]) for node, ends in told.items()}
        found = propagate(equations, {self.outcome: noise[self.outcome]}, world, heard)
        return measured(found[self.outcome], equations.domains[self.outcome], self.target)


@dataclass(frozen=True, eq=False)
class Predicted:
    """What does the audited model say? `frames` has its columns, told 0 and told 1."""

    moved: tuple[str, ...]
    predict: Callable[[Any], Any]
    model: StandardFairnessModel
    frames: tuple[FrameRows, FrameRows]

    outcome = None

    def take(self, rows: Positions) -> Predicted:
        """What is asked about some of the rows?"""
        told_0, told_1 = (FrameRows(frame.frame[rows]) for frame in self.frames)
        return replace(self, frames=(told_0, told_1))

    def answer(
        self, i: int, world: Values, noise: Values, equations: Equations, told: Told
    ) -> Array:
        """What does the model say about people who are told i and have this world's mediators?"""
        domains, fitted = equations.domains, equations.fitted
        mediators = {
            node: domains[node].new(world[node], whole=fitted[node].whole) for node in self.moved
        }
        return evaluate(self.predict, self.frames[i].replaced(mediators), self.model)


Question = Measured | Predicted  # whose mean is asked for: a node of the graph, or a function


def people_of(equations: Equations, pair: RowPair, *, draws: int, seed: int) -> People:
    """Who are the people, and what is asked? The roles of graph and model were found to agree."""
    question = _question(equations, pair)
    needed = (*question.moved, *equations.graph.parents(question.moved))
    frame = FrameRows(pair.rows.frame[pair.index])
    return People(
        values=encoded(frame, equations.domains, needed),
        group=pair.group,
        told=_told(equations, pair),
        question=question,
        draws=draws,
        seed=seed,
    )


def _question(equations: Equations, pair: RowPair) -> Question:
    model, target = pair.model, pair.rows.target
    if target is None:
        assert model.predict is not None
        columns = (*model.protected_columns, *model.confounders, *model.mediators)
        told_0, told_1 = (frame_rows(pair.features(group), columns) for group in (0, 1))
        return Predicted(tuple(model.mediators), model.predict, model, (told_0, told_1))
    routes = routes_of(equations.graph, model.protected_columns, target.column)
    return Measured(routes.moved, target, pair.measured)


def _told(equations: Equations, pair: RowPair) -> Mapping[str, tuple[float, float]]:
    """The values that stand for the two groups, column by column, as numbers."""
    ends = []
    for role in (0, 1):
        groups = pair.rows.group_of_row[pair.index[pair.group == role]]
        check_one_value(groups, role, pair.model)
        label = pair.rows.groups[groups[0]]
        do = dict(zip(pair.model.protected_columns, label, strict=True))
        ends.append(read_intervention(do, equations.graph, equations.domains, 1).same)
    return {column: (ends[0][column], ends[1][column]) for column in ends[0]}
