"""What does a structural causal model itself say about the twelve world means? (methods §2, §7)

    mu[i, j, k] = mean over the rows of group k of  Y in the world where A is set to j, the
                  mediators follow, and the outcome (or the audited model) is told i

for every row with the noise that was abducted from it. A row told its own group comes back as it
is, so mu[k, k, k] is the plain mean of group k and the parts add up to the plain gap. Nothing
corrects the mechanisms, and where the groups do not overlap they extrapolate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis, Diagnostics, Estimate, LearnerLoss, Overlap, WorldMeans
from causalfairness.errors import MechanismError, NotIdentifiedError
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.answers import check_varies
from causalfairness.estimators.graph_roles import check_roles
from causalfairness.estimators.nested_worlds import People, people_of
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.inference.resampling import check_count
from causalfairness.scm import Additive, StructuralCausalModel
from causalfairness.scm.evaluation import Equations
from causalfairness.scm.goodness import NodeFit
from causalfairness.scm.paths import encoded
from causalfairness.scm.refits import (
    RefitPlan,
    Refits,
    Uncertainty,
    check_replicates,
    plan,
    refits_of,
    replicate,
    resampled_basis,
)
from causalfairness.tables import Of, RowPair, Rows, Table
from causalfairness.tables.frames import FrameRows

Array = NDArray[np.float64]
EXTRAPOLATES = (
    "the mechanisms are right, also for people unlike any that were seen: where the groups do not "
    "overlap, they extrapolate"
)
DEPENDS = 0.001  # p-value below which the noise of a node is said to depend on its causes


@dataclass(frozen=True)
class Structural:
    """What does a structural causal model itself say about the twelve world means?

    `scm` is a fitted model, or a graph: then it is fitted to the data that is asked about, with
    `mechanisms` as in `StructuralCausalModel.fit`. Its graph must give the columns the roles that
    the fairness model does. For standard errors the mechanisms are fitted again to that many
    tables of rows drawn anew; `replicates=None` takes them as given, so that standard errors are
    of rows alone, unless nothing was learned. `draws` averages over drawn noise.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> structural = cf.estimators.Structural(graph, replicates=20)
    >>> found = cf.decompose_disparity(
    ...     world.draw(1_000, seed=0), world.model, estimator=structural)
    >>> error = found.direct.value - world.true_effects()["direct"]
    >>> bool(abs(error) < 4 * found.direct.standard_error)
    True
    """

    scm: StructuralCausalModel | CausalGraph
    mechanisms: Mapping[str, Any] | None = None
    replicates: int | None = 100
    draws: int = 1

    def __post_init__(self) -> None:
        check_replicates(self.replicates)
        check_count("draws", self.draws, least=1)
        if not isinstance(self.scm, StructuralCausalModel | CausalGraph):
            raise MechanismError(
                f"Structural needs a fitted StructuralCausalModel, or a CausalGraph to fit; found "
                f"{type(self.scm).__name__}"
            )
        if isinstance(self.scm, StructuralCausalModel) and self.mechanisms is not None:
            raise MechanismError(
                "the structural model is fitted, so mechanisms=... would not be heard; give its "
                "graph to have it fitted again, or leave mechanisms out"
            )

    def __str__(self) -> str:
        made = "as given" if isinstance(self.scm, StructuralCausalModel) else "fitted here"
        settings = [] if self.replicates is None else [f"replicates={self.replicates}"]
        settings += [f"draws={self.draws}"] if self.draws > 1 else []
        return f"Structural({', '.join([f'mechanisms {made}', *settings])})"

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold?"""
        if table.within is not None:
            raise NotIdentifiedError(
                f"Structural answers for whole groups, not among people with {table.within}: their "
                "mediators in another world would be those of people whom this outcome did not "
                "select. Use KnownModel or Strata"
            )
        by_function = of == "prediction" and model.predict is not None
        rows = table.rows(model, None if by_function else of)
        scm = self.scm
        check_roles(scm if isinstance(scm, CausalGraph) else scm.graph, model, of)
        return rows

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by the structural model?"""
        pair = reading.pair(model)
        scm = self._fitted(reading, model, seed)
        people = people_of(scm.equations, pair, draws=self.draws, seed=seed)
        worlds = _Worlds(people, pair.weights)
        outcomes = people.outcomes(scm.equations)
        values, own = worlds.means(outcomes), outcomes[pair.group, pair.group, np.arange(len(pair))]
        if pair.outcome is None:  # one that was measured was checked when it was read
            check_varies(own)
        stated, added = (*scm.assumptions, EXTRAPOLATES), AddedPeople.of_rows(pair, own)
        fits = [fit for fit in scm.fits if fit.node in people.question.moved]
        if self.replicates:
            (spreads, basis, how), notes = self._refitted(scm, reading, worlds, pair, workers, seed)
        else:
            how = plan(scm, people.values, people.question.moved, None, 0, people.outcomes, values)
            stated, notes = (*stated, how.said), (*_too_short(fits),)
            basis = Basis(reading.identity.fingerprint, "rows", reading.identity.order)
            apart = outcomes[:, :, None, :] - values[..., None]
            spreads = pair.scatter(worlds.shares * apart)  # what each row adds to the errors
        counts = np.broadcast_to(worlds.shares, (2, 2, *worlds.shares.shape))
        corrections, block = added.worlds(counts, pair.group)  # people are drawn, not mechanisms
        blocks = {added.block: pair.scatter(block)}
        means = WorldMeans(
            *(values, spreads, basis, frozenset(stated), corrections, blocks),
            freedom=how.freedom,
            rows_alone=how.rows_alone,
        )
        weighted = () if model.weights is None else (scm.said_of_weights(),)
        diagnostics = Diagnostics(
            estimator=str(self),
            rows=pair.account,
            overlap=Overlap(),
            learners=tuple(map(_loss, (fit for fit in fits if fit.value is not None))),
            assumptions=stated,
            notes=(*added.notes, *_doubts(fits), *weighted, *notes),
        )
        return Estimate(means, (means[1, 1, 1] - means[0, 0, 0]).named("total"), diagnostics)

    def _fitted(
        self, reading: Rows, model: StandardFairnessModel, seed: int
    ) -> StructuralCausalModel:
        """The model as given, or fitted to these rows: as much of the graph as has a role."""
        if isinstance(self.scm, StructuralCausalModel):
            return self.scm
        target = () if reading.target is None else (reading.target.column,)
        follow = (*model.mediators, *target)
        kept = self.scm.latent_projection((*model.protected_columns, *model.confounders, *follow))
        arrows = [edge for edge in kept.arrows if edge[1] in follow]
        graph = CausalGraph.from_edges(arrows, kept.hidden, kept.nodes)
        mechanisms = {
            node: mechanism
            for node, mechanism in (self.mechanisms or {}).items()
            if node in graph.nodes or node not in self.scm.nodes
        }
        frame = reading.frame[np.flatnonzero(reading.kept)].to_native()
        table = Table(frame, weights=model.weights)
        return StructuralCausalModel.fit(graph, table, mechanisms, seed=seed)

    def _refitted(
        self,
        scm: StructuralCausalModel,
        reading: Rows,
        worlds: _Worlds,
        pair: RowPair,
        workers: int,
        seed: int,
    ) -> tuple[Uncertainty, tuple[str, ...]]:
        """Spreads over replicates, and what to know about them."""
        count, asked = self.replicates or 0, worlds.people
        kept = None if reading.weights is None else reading.weights[reading.in_order]
        frame = FrameRows(reading.frame[reading.in_order])  # every row that is not dropped
        values = encoded(frame, scm.equations.domains, tuple(asked.values))
        refits = refits_of(scm, values, asked.question.moved, kept)
        place = reading.places(pair.index)
        counted = np.zeros((2, int(reading.kept.sum())), dtype=bool)
        counted[pair.group, place] = pair.weights > 0
        needed = dict(zip(("reference group", "comparison group"), counted, strict=True))
        answer = partial(_redrawn, worlds, place)
        spreads = replicate(refits, answer, needed, count, workers=workers, seed=seed)
        basis = resampled_basis(reading.drawn(reading.in_order), count, seed)
        how = RefitPlan("", refits, replicates=count)
        return Uncertainty(spreads, basis, how), tuple(_about_refits(refits))


@dataclass(frozen=True, eq=False)
class _Worlds:
    """Two groups of people, and how much each of them counts."""

    people: People
    weights: Array

    @property
    def shares(self) -> Array:
        """What each row contributes to the mean of the reference, the comparison, both. (3, n)"""
        group = self.people.group
        counted = np.stack([self.weights * (group == 0), self.weights * (group == 1), self.weights])
        return np.asarray(counted / counted.sum(axis=1, keepdims=True))

    def means(self, outcomes: Array) -> Array:
        """The twelve means of outcomes [i, j, row]."""
        return np.asarray(outcomes @ self.shares.T)


def _redrawn(
    worlds: _Worlds, place: NDArray[np.intp], equations: Equations, counts: Array
) -> Array:
    """The twelve means over people who count as often as they were drawn.

    `place` is that of the two groups' rows among all rows that are drawn from.
    """
    weights = counts[place] * worlds.weights
    drawn = np.flatnonzero(weights)
    people = worlds.people.take(drawn)
    return _Worlds(people, weights[drawn]).means(people.outcomes(equations))


def _loss(fit: NodeFit) -> LearnerLoss:
    """How well a mechanism predicts, as a loss: for numbers the share of variance it misses."""
    assert fit.value is not None
    assert fit.baseline is not None
    target = f"{fit.node} given {', '.join(fit.causes)}"
    if fit.measure == "R2":
        return LearnerLoss(target, fit.mechanism, "unexplained variance", 1 - fit.value, 1.0)
    return LearnerLoss(target, fit.mechanism, fit.measure, fit.value, fit.baseline)


def _doubts(fits: Sequence[NodeFit]) -> Iterator[str]:
    for fit in fits:
        if fit.independence is not None and fit.independence < DEPENDS:
            yield (
                f"the noise of {fit.node!r} depends on its causes (p = {fit.independence:.2g}): "
                "its mechanism does not fit, and what follows from it may be wrong"
            )


def _too_short(fits: Sequence[NodeFit]) -> Iterator[str]:
    learned = [fit.node for fit in fits if fit.value is not None]
    if learned:
        yield (
            f"the mechanisms of {', '.join(learned)} were learned, and standard errors leave that "
            "out: intervals may be far too short. Structural(..., replicates=200) has both"
        )


def _about_refits(refits: Refits) -> Iterator[str]:
    if refits.others:
        yield (
            f"the model was fitted to {refits.rows:,} other rows: these are redrawn on their own, "
            "and the mechanisms fitted to them again"
        )
    learned = [
        node
        for node, mechanism in refits.mechanisms.items()
        if isinstance(mechanism, Additive) or getattr(mechanism, "model", None) is not None
    ]
    if learned:
        yield (
            f"the mechanism of {', '.join(learned)} is a learner that may follow single rows; rows "
            "drawn twice then mislead it, and standard errors are rough"
        )
