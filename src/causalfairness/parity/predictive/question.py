"""Does a score mean the same in both groups, and what is the difference made of? (methods §5)

    ppm = E[y | a1, score] - E[y | a0, score]  =  causal + reverse_causal
    causal (Term I)          = E[y | a1, score] - E[y_{a0} | a1, score]
    reverse_causal (Term II) = E[y_{a0} | a1, score] - E[y | a0, score]

within bins of the score; a1 is the comparison group. Scores are those in fact: people of both
groups with the same score are compared, and y_{a0} is what the outcome of a person of the
comparison group would have been in the reference group.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Diagnostics, Overlap
from causalfairness.errors import OverlapError
from causalfairness.estimators.role_columns import look_at
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.predictive.averages import Placed, borrowed, reweighted
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
from causalfairness.scm.refits import (
    UNDRAWN,
    RefitPlan,
    Uncertainty,
    check_replicates,
    plan,
    replicate,
    resampled_basis,
)
from causalfairness.tables import Missing, Table, ask, only_rows, open_table
from causalfairness.tables.source import collect

Array = NDArray[np.float64]
FEW = 10  # rows of a group in a bin
DRAWS = 1_000  # of the Bayesian bootstrap
FIXED = "bins are fixed, and the prediction is taken as given"
OVER_PEOPLE = "intervals are over people"
REFIT = "refit is no longer heard: mechanisms are fitted again where that is needed; leave it out"
UNFITTED = (
    "rows alone: intervals of the two terms are over people, with what outcomes would have been "
    "taken as given"
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
    replicates: int | None = None,
    refit: bool | None = None,
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

    Standard errors come from 1,000 draws, or `replicates`, of the Bayesian bootstrap over rows.
    Those of the two terms know that a structural model was fitted: exactly where all mechanisms are
    lines, else rows are redrawn and mechanisms fitted to them again, 100 times for up to 10,000
    rows, 30 times for up to 50,000, or as often as `replicates` says; `workers` share that work.
    Where neither can be had, or with `replicates=0`, and where an adapter or a column says what
    outcomes would have been, they are of rows alone. `draws` averages over noise that the data
    cannot fix. `refit` is no longer heard.

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
    if refit is not None:
        warnings.warn(REFIT, DeprecationWarning, stacklevel=2)
    check_counterfactual(counterfactual, model, draws=draws)
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
    if isinstance(counterfactual, StructuralCausalModel):
        again = _Again(counterfactual, people, native, placed, draws, seed)
        sure = again.uncertainty(replicates, workers)
    else:
        how = RefitPlan(OVER_PEOPLE) if otherwise is None else RefitPlan(UNFITTED, rows_alone=True)
        sure = _over_people(people, placed, how, replicates, seed)
    return _Found(people, binning, placed, otherwise).result(sure)


def _over_people(
    people: Scored, placed: Placed, plan: RefitPlan, replicates: int | None, seed: int
) -> Uncertainty:
    """Spreads of all means over people, and over a fit of which it is known what rows add."""
    rows, draws, fit = people.pair.rows, replicates or DRAWS, None
    basis = resampled_basis(rows.drawn(rows.arrangement.rows), draws, seed, "reweighted")
    if plan.refits is not None and plan.moves is not None:
        adding = np.zeros((len(plan.refits.influences), placed.table))
        if plan.refits.others:
            adding = plan.refits.coordinates(rows.in_order)
            basis = replace(basis, seed=f"{basis.seed}, {plan.said}")
        else:
            adding[:, rows.arrangement.places[rows.in_order]] = plan.refits.influences
        fit = plan.moves[-1, 1] @ adding
    spreads = reweighted(placed, replicates=draws, seed=seed, fit=fit)
    return Uncertainty(spreads, basis, plan)


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

    def result(self, sure: Uncertainty) -> PredictiveParity:
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
            spreads=sure.spreads,
            effective=self.placed.effective,
            is_binary=self.people.pair.is_binary,
            basis=sure.basis,
            diagnostics=self._diagnostics(sure),
            freedom=sure.plan.freedom,
            rows_alone=sure.plan.rows_alone,
        )

    def _diagnostics(self, sure: Uncertainty) -> Diagnostics:
        draws = "rows redrawn" if sure.plan.replicates else "Bayesian bootstrap"
        draws += f" ({sure.spreads.shape[-1]:,} replicates)"
        source = "" if self.otherwise is None else f", outcomes otherwise: {self.otherwise.source}"
        return Diagnostics(
            estimator=f"means in {self.binning}, {draws}{source}",
            rows=self.people.pair.account,
            overlap=Overlap(),
            assumptions=() if self.otherwise is None else self.otherwise.assumptions,
            notes=(sure.plan.said, FIXED, *self._notes()),
        )

    def _notes(self) -> Iterator[str]:
        yield from self.binning.notes()
        rows = self.placed.rows
        if one_sided := int(np.sum((rows.min(axis=0) == 0) & (rows.max(axis=0) > 0))):
            yield f"bins with people of one group only, which are not compared: {one_sided}"
        if empty := int(np.sum(rows.max(axis=0) == 0)):
            yield f"bins with nobody: {empty}"
        if few := int(np.sum((rows > 0).all(axis=0) & (rows.min(axis=0) < FEW))):
            yield (
                f"bins with fewer than {FEW} rows of a group: {few}; how outcomes vary there is "
                "partly taken from the rest of the group"
            )
        yield ABSOLUTE
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
class _Again:
    """The same question, asked of other equations. Bins stay where they are."""

    scm: StructuralCausalModel
    people: Scored
    native: Any
    placed: Placed
    draws: int
    seed: int

    def uncertainty(self, replicates: int | None, workers: int) -> Uncertainty:
        """How do the means vary over people and mechanisms?"""
        rows = self.people.pair.rows
        place = rows.places(self.people.pair.index)
        once, fewest = np.ones(len(rows.in_order)), self.placed.effective.min(axis=0)
        spread = self.placed.columns.std(axis=1)[:, None, None]  # a rough error over people
        found = plan(
            self.scm,
            self.scm.encode(only_rows(self.native, rows.in_order)),
            self.scm.graph.descendants(self.people.model.protected_columns),
            None if rows.weights is None else rows.weights[rows.in_order],
            replicates,
            lambda equations: self.answer(place, equations, once),
            spread / np.sqrt(np.maximum(fewest, 1.0)),
        )
        if found.refits is None or found.moves is not None:
            return _over_people(self.people, self.placed, found, replicates, self.seed)
        drawn = replicate(
            *(found.refits, partial(self.answer, place), {"table": once > 0}, found.replicates),
            workers=workers,
            seed=self.seed,
        )
        apart = borrowed(self.placed, found.replicates, self.seed)
        apart -= apart.mean(axis=-1, keepdims=True)
        basis = resampled_basis(rows.drawn(rows.in_order), found.replicates, self.seed)
        return Uncertainty(drawn + apart / np.sqrt(found.freedom), basis, found)

    def answer(self, place: NDArray[np.int64], equations: Equations, counts: Array) -> Array:
        """All means, if rows count this often. (3, 2, bins); 0 where a group has nobody.

        `place` is that of each person among the rows that are redrawn.
        """
        scm = replace(self.scm, equations=equations)
        columns = self.placed.columns.copy()
        moved = by_model(scm, self.people, self.native, draws=self.draws, seed=self.seed)
        columns[2, self.people.is_comparison] = moved
        placed = replace(self.placed, columns=columns)
        return np.nan_to_num(placed.means(counts[place] + UNDRAWN))
