"""Does a score mean the same in both groups, and what is the difference made of? (methods §5)

    ppm = E[y | a1, score] - E[y | a0, score]  =  causal + reverse_causal
    causal (Term I)          = E[y | a1, score] - E[y_{a0} | a1, score]
    reverse_causal (Term II) = E[y_{a0} | a1, score] - E[y | a0, score]

within bins of the score; a1 is the comparison group. Scores are those in fact: people of both
groups with the same score are compared, and y_{a0} is what the outcome of a person of the
comparison group would have been in the reference group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis, Diagnostics, Overlap
from causalfairness.errors import OverlapError
from causalfairness.estimators.role_columns import look_at
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.predictive.averages import Placed, reweighted, reweighted_basis
from causalfairness.parity.predictive.binning import Binning, bin_scores
from causalfairness.parity.predictive.otherwise import (
    Counterfactual,
    Otherwise,
    by_model,
    check_counterfactual,
    outcomes_otherwise,
)
from causalfairness.parity.predictive.result import PredictiveParity, ScoreBin
from causalfairness.parity.predictive.rows import Scored, read_scored
from causalfairness.scm import StructuralCausalModel
from causalfairness.scm.evaluation import Equations
from causalfairness.scm.refits import check_replicates, refits_of, replicate, resampled_basis
from causalfairness.tables import Missing, Table, ask, only_rows, open_table
from causalfairness.tables.source import collect

Array = NDArray[np.float64]
FEW = 10  # rows of a group in a bin
FIXED = (
    "intervals are over people, with the bins fixed: the prediction and what outcomes would have "
    "been are taken as given"
)
REFITTED = (
    "intervals are over people and the mechanisms fitted to them, {} times anew, with the bins "
    "fixed; the prediction is taken as given"
)
SPURIOUS = (
    "the groups may also differ in {}: reverse_causal (Term II) contains this spurious part as well"
)
ABSOLUTE = (
    "absolute values are too large on average, the more so the smaller the gaps, and their "
    "intervals are rough near 0: compare them with what noise alone would give"
)
UNITS = "the score is not on the scale of the outcome: drift is in its own units"


def decompose_predictive_parity(
    data: Any,
    model: StandardFairnessModel,
    *,
    counterfactual: Counterfactual = None,
    bins: int | Sequence[float] = 20,
    replicates: int = 1_000,
    refit: bool = False,
    draws: int = 1,
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> PredictiveParity:
    """Does a score mean the same in both groups, and what is the difference made of?

    `model` names an outcome and its prediction, a column or a function. `counterfactual` says what
    outcomes of the comparison group would have been in the reference group: a
    `StructuralCausalModel`, a `FairAdapter` (anything with `transform`), or the name of a column.
    Without it the gap and the drift are found, and the two terms are None. `bins` is a number of
    quantile bins of the pooled score (one per value where it has few), or the cut points.

    Standard errors come from `replicates` of the Bayesian bootstrap over rows. With `refit=True`
    rows are redrawn instead and a structural model fits its mechanisms to them again, so that
    intervals know of their uncertainty; `workers` share that work. `draws` averages over noise that
    the data cannot fix.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian().without("spurious")
    >>> data = world.draw(2_000, seed=0, frame="pandas")
    >>> data["score"] = world.outcome_given_all(data, told=1)
    >>> graph = cf.CausalGraph.parse("{group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> scm = cf.StructuralCausalModel.fit(
    ...     graph, data, {"m1": cf.scm.Linear(), "y": cf.scm.Linear()})
    >>> model = cf.StandardFairnessModel(
    ...     protected="group", reference="blue", comparison="green", confounders=["c1", "c2"],
    ...     mediators=["m1"], outcome="y", prediction="score")
    >>> found = cf.decompose_predictive_parity(data, model, counterfactual=scm, bins=4)
    >>> [bool(abs(one + other - both) < 1e-12) for one, other, both in zip(
    ...     found.causal.values, found.reverse_causal.values, found.ppm.values)]
    [True, True, True, True]
    """
    check_replicates(replicates)
    check_counterfactual(counterfactual, model, draws=draws, refit=refit)
    given = counterfactual if isinstance(counterfactual, str) else None
    native = None
    if counterfactual is not None and given is None:
        native = collect(open_table(data).frame).to_native()  # once, so that rows stay in order
        data = replace(data, data=native) if isinstance(data, Table) else native
    table, model = ask(data, model, missing=missing)
    people = read_scored(table, model, given)
    otherwise = outcomes_otherwise(counterfactual, people, native, draws=draws, seed=seed)
    if otherwise is not None and given is None:
        looked = look_at(table.rows(model, "outcome"), model)
        otherwise = replace(otherwise, notes=(*looked, *otherwise.notes))
    binning = bin_scores(people.score, people.weights, bins, name=people.called)
    placed = _placed(people, binning, otherwise)
    rows = people.pair.rows
    if refit:
        assert isinstance(counterfactual, StructuralCausalModel)
        again = _Redrawn(counterfactual, people, native, placed, draws, seed)
        spreads = again.spreads(replicates, workers)
        basis = resampled_basis(rows.drawn(rows.in_order), replicates, seed)
    else:
        spreads = reweighted(placed, replicates=replicates, seed=seed)
        basis = reweighted_basis(rows.drawn(rows.arrangement.rows), replicates, seed)
    found = _Found(people, binning, placed, otherwise, replicates, refit)
    return found.result(spreads, basis)


def _placed(people: Scored, binning: Binning, otherwise: Otherwise | None) -> Placed:
    columns = [people.outcome, people.score]
    if otherwise is not None:
        columns.append(otherwise.outcome)
    return Placed(
        columns=np.stack(columns),
        cell=people.pair.group.astype(np.int64) * len(binning) + binning.of_row,
        bins=len(binning),
        weights=people.pair.weights,
        places=people.pair.places,
        table=len(people.pair.rows.kept),
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """What the answer is made of, and what must be said about it."""

    people: Scored
    binning: Binning
    placed: Placed
    otherwise: Otherwise | None
    replicates: int
    refit: bool

    def result(self, spreads: Array, basis: Basis) -> PredictiveParity:
        model, rows = self.people.model, self.placed.rows
        if not (rows.min(axis=0) > 0).any():
            raise OverlapError(
                f"no bin of the score holds people of both groups, {model.reference_label!r} and "
                f"{model.comparison_label!r}: there is no score to compare them at. Use fewer or "
                "wider bins"
            )
        return PredictiveParity(
            what=model.target_label(),
            score=self.people.called,
            reference=model.reference_label,
            comparison=model.comparison_label,
            bins=tuple(
                ScoreBin(*self.binning.limits(at), int(rows[0, at]), int(rows[1, at]))
                for at in range(len(self.binning))
            ),
            means=self.placed.means(),
            spreads=spreads,
            effective=self.placed.effective,
            is_binary=self.people.pair.is_binary,
            basis=basis,
            diagnostics=self._diagnostics(),
        )

    def _diagnostics(self) -> Diagnostics:
        draws = "rows redrawn" if self.refit else "Bayesian bootstrap"
        source = "" if self.otherwise is None else f", outcomes otherwise: {self.otherwise.source}"
        return Diagnostics(
            estimator=f"means in {self.binning}, {draws} ({self.replicates:,} replicates){source}",
            rows=self.people.pair.account,
            overlap=Overlap(),
            assumptions=() if self.otherwise is None else self.otherwise.assumptions,
            notes=tuple(self._notes()),
        )

    def _notes(self) -> Iterator[str]:
        yield REFITTED.format(self.replicates) if self.refit else FIXED
        yield from self.binning.notes()
        rows = self.placed.rows
        one_sided = int(np.sum((rows.min(axis=0) == 0) & (rows.max(axis=0) > 0)))
        if one_sided:
            yield f"bins with people of one group only, which are not compared: {one_sided}"
        if empty := int(np.sum(rows.max(axis=0) == 0)):
            yield f"bins with nobody: {empty}"
        if few := int(np.sum((rows > 0).all(axis=0) & (rows.min(axis=0) < FEW))):
            yield (
                f"bins with fewer than {FEW} rows of a group: {few}; how outcomes vary there is "
                "partly taken from the rest of the group"
            )
        yield ABSOLUTE
        yield from self._remarks()

    def _remarks(self) -> Iterator[str]:
        model, score = self.people.model, self.people.score
        if self.otherwise is not None:
            if model.confounders:
                yield SPURIOUS.format(", ".join(model.confounders))
            yield from self.otherwise.notes
        if self.people.pair.is_binary and not 0 <= score.min() <= score.max() <= 1:
            yield UNITS
        if self.people.weights is not None:
            yield f"rows count by {model.weights}"


@dataclass(frozen=True, eq=False)
class _Redrawn:
    """The same question, asked of mechanisms that were fitted to redrawn rows.

    Rows are drawn with replacement, the model learns its mechanisms from them again, and outcomes
    of the comparison group in the other world follow from these. Bins stay where they are.
    """

    scm: StructuralCausalModel
    people: Scored
    native: Any
    placed: Placed
    draws: int
    seed: int

    def spreads(self, replicates: int, workers: int) -> Array:
        """How do the means vary over people and mechanisms? (3, 2, bins, replicates)"""
        rows = self.placed.rows
        few = (rows > 0) & (rows < FEW)
        if few.any():
            raise OverlapError(
                f"refit=True redraws rows, and of {self.placed.bins} bins "
                f"{int(few.any(axis=0).sum())} hold fewer than {FEW} rows of a group, which a draw "
                "may leave empty; use fewer bins, or do without refit"
            )
        kept = self.people.pair.rows.in_order
        place = self.people.pair.rows.places(self.people.pair.index)
        needed = {}
        for cell in np.unique(self.placed.cell):
            inside = np.zeros(len(kept), dtype=bool)
            inside[place[self.placed.cell == cell]] = True
            needed[f"cell {cell}"] = inside
        values = self.scm.encode(only_rows(self.native, kept))
        nodes = self.scm.graph.descendants(self.people.model.protected_columns)
        weights = self.people.pair.rows.weights
        return replicate(
            refits_of(self.scm, values, nodes, None if weights is None else weights[kept]),
            partial(self.answer, place),
            needed,
            replicates=replicates,
            workers=workers,
            seed=self.seed,
        )

    def answer(self, place: NDArray[np.int64], equations: Equations, counts: Array) -> Array:
        """All means, if rows count this often. (3, 2, bins); 0 where a group has nobody.

        `place` is that of each person among the rows that are redrawn.
        """
        scm = replace(self.scm, equations=equations)
        columns = self.placed.columns.copy()
        moved = by_model(scm, self.people, self.native, draws=self.draws, seed=self.seed)
        columns[2, self.people.is_comparison] = moved
        return np.nan_to_num(replace(self.placed, columns=columns).means(counts[place]))
