"""Would each person's prediction have been the same in the other group? (methods §7)

    shift = f(row in fact) - f(row under do)

for every person: how much higher the prediction is than it would have been. The audited model f
is the same in both worlds; what changes are the nodes in `do` and what they cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from causalfairness.errors import PredictorError, RoleError
from causalfairness.estimators.answers import own_order
from causalfairness.individuals.auditee import Auditee, auditee_of
from causalfairness.individuals.distances import Array, Positions, Truths
from causalfairness.individuals.shifts import CounterfactualFairness
from causalfairness.scm import StructuralCausalModel
from causalfairness.scm.evaluation import Equations, in_order
from causalfairness.scm.refits import FEWEST_ROWS, check_replicates, uncertainty
from causalfairness.tables import Column
from causalfairness.tables.fingerprint import identify
from causalfairness.tables.frames import FrameRows, frame_rows
from causalfairness.tables.groups import label_groups, shown
from causalfairness.tables.missing import said_of_dropped

SCALE = "shifts are differences of {}"
DECISIONS = "decisions (0 or 1)"
FIXED = "the audited model is taken as it is"
FEW = "groups of fewer than {} people are of rows alone: {}"
REFITTED = (
    "replication setting: the counterfactual rows are judged by a model refitted to them against "
    "the observed outcome, and not by the audited one. With the group among its features the "
    "shift then nearly vanishes by construction, whatever the audited model does"
)


def counterfactual_fairness(
    predict: Any,
    data: Any,
    scm: StructuralCausalModel,
    do: Any,
    *,
    predictor_columns: Sequence[str] = (),
    threshold: float | None = None,
    refit: bool = False,
    outcome: str | None = None,
    draws: int = 1,
    replicates: int | None = None,
    workers: int = 1,
    seed: int = 0,
) -> CounterfactualFairness:
    """Would each person's prediction have been the same, had `do` been the case?

    `predict` is a fitted scikit-learn model or a function of a frame, which sees all columns of the
    data, or the `predictor_columns`, in this order, where it does not know their names. Of a
    classifier with two classes the probability of the second is followed, and its decisions; of a
    function its numbers, with decisions where these are 0 and 1 or where a `threshold` makes them
    so; `scale` of the result says which of these shifts are differences of. Weights and missing
    values are heeded as a `Table` says. `do` is what `scm.counterfactual` takes: a value, a mapping
    from old to new values, or one value for each row that is used. `draws` averages over that many
    draws of noise that the data cannot fix.

    Intervals know that mechanisms were fitted: exactly where all of them are lines and predictions
    are smooth, else by fitting them again to redrawn tables, 100 for up to 10,000 rows, 30 for up
    to 50,000, or as many as `replicates` says. Where neither can be had, or with `replicates=0`,
    they are of rows alone, and say so. `refit=True` replicates a published calculation and answers
    another question: the model is fitted again on the counterfactual rows and the observed
    `outcome`.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> data = world.draw(1_000, seed=0, frame="pandas")
    >>> graph = cf.CausalGraph.parse(
    ...     "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y")
    >>> scm = cf.StructuralCausalModel.fit(graph, data)
    >>> found = cf.counterfactual_fairness(
    ...     lambda people: 2 * people["m1"], data, scm, do={"group": {"green": "blue"}})
    >>> found["blue"].shift.value
    0.0
    >>> moved = scm.counterfactual(data, do={"group": "blue"})["m1"][data["group"] == "green"]
    >>> shift = 2 * (data["m1"][data["group"] == "green"] - moved).mean()
    >>> bool(abs(found["green"].shift.value - shift) < 1e-12)
    True
    """
    check_replicates(replicates)
    rows = frame_rows(data, [*scm.graph.nodes], unweighted=None)
    said = tuple(predictor_columns) or own_order(predict, rows.frame.columns)
    auditee = auditee_of(predict, threshold, said)
    native = rows.frame.to_native()
    auditee.check_order(native)
    otherwise = scm.counterfactual(native, do=do, draws=draws, seed=seed)
    judge = _refitted(auditee, rows, otherwise, outcome, draws) if refit else auditee
    fact, decided = auditee.judge(native)
    score, decided_otherwise = _judged(judge, otherwise, draws)
    if decided is None or decided_otherwise is None:
        decided = decided_otherwise = None  # scores may happen to be 0 and 1 in one world only
    columns = [rows.read(node) for node in do]
    groups, group = label_groups(columns)
    scale = DECISIONS if np.isin(np.append(fact, score), (0.0, 1.0)).all() else auditee.scale
    weighing = () if rows.weights is None else (scm.said_of_weights(),)
    notes = (*([REFITTED] if refit else []), SCALE.format(scale), *weighing)
    found = CounterfactualFairness(
        data=native,
        told=tuple(do),
        groups=groups,
        group=group,
        changed=_changed(columns, FrameRows(otherwise, rows.categorical), len(rows)),
        fact=fact,
        otherwise=score,
        decided=decided,
        decided_otherwise=decided_otherwise,
        identity=identify([rows.read(node) for node in scm.graph.nodes]),
        assumptions=(*scm.assumptions, *_outside(auditee, rows, scm)),
        notes=(FIXED, *notes, *said_of_dropped(rows.account)),
        scale=scale,
        weights=rows.weights,
        kept=rows.kept,
        account=rows.account,
    )
    if refit and replicates:
        raise RoleError("refit=True replicates a calculation without intervals; leave one out")
    again = _Again(scm, auditee, found, do, draws, seed)
    return again.answered(0 if refit else replicates, workers)


@dataclass(frozen=True, eq=False)
class _Again:
    """The same question, asked of other equations."""

    scm: StructuralCausalModel
    auditee: Auditee
    found: CounterfactualFairness
    do: Any
    draws: int
    seed: int

    def answered(self, replicates: int | None, workers: int) -> CounterfactualFairness:
        """Return what was found, with the uncertainty of each group that is set to another value.

        Without `replicates`, groups that are too small to be redrawn have none.
        """
        found, moved = self.found, set(self.found.group[self.found.changed].tolist())
        small = {at for at in moved if (found.group == at).sum() < FEWEST_ROWS and not replicates}
        groups = sorted(moved - small)
        if not groups:
            return found
        beside = None if found.weights is None else {"weights": found.weights}
        order, values = in_order(self.scm.encode(found.data), beside)
        sure = uncertainty(
            self.scm,
            values,
            self.scm.graph.descendants(tuple(self.do)),
            None if found.weights is None else found.weights[order.rows],
            replicates,
            answer=partial(self.answer, order.places, groups),
            by_row=np.stack([found.by_row(at) for at in groups]),
            needed={shown(found.groups[at]): (found.group == at)[order.rows] for at in groups},
            places=order.places,
            identity=found.identity,
            drawn=found.identity,
            workers=workers,
            seed=self.seed,
        )
        each = {at: sure._replace(spreads=sure.spreads[k]) for k, at in enumerate(groups)}
        said = [FEW.format(FEWEST_ROWS, "; ".join(shown(found.groups[at]) for at in sorted(small)))]
        notes = (sure.plan.said, *(said if small else ()), *found.notes)
        return replace(found, uncertainty=each, notes=notes)

    def answer(
        self, places: Positions, groups: list[int], equations: Equations, counts: Array
    ) -> Array:
        """Mean shift and both shares of flips, for each of these groups. (groups, 3)"""
        found, scm = self.found, replace(self.scm, equations=equations)
        otherwise = scm.counterfactual(found.data, do=self.do, draws=self.draws, seed=self.seed)
        score, decided = _judged(self.auditee, otherwise, self.draws)
        world = replace(found, otherwise=score, decided_otherwise=decided)
        return world.means(counts[places])[groups]


def _judged(judge: Auditee, otherwise: Any, draws: int) -> tuple[Array, Array | None]:
    """Scores and decisions of people who come once per draw. (draws, people)"""
    score, decided = judge.judge(otherwise)
    return score.reshape(draws, -1), None if decided is None else decided.reshape(draws, -1)


def _changed(columns: list[Column], otherwise: FrameRows, n: int) -> Truths:
    """Whose group is another one under `do`? The first draw tells: all draws set the same."""
    changed = np.zeros(n, dtype=bool)
    for column in columns:
        both = [each.levels() for each in (column, otherwise.read(column.name))]
        was, new = (np.array(each.values, dtype=object)[each.codes] for each in both)
        changed |= was != new[:n]
    return changed


def _outside(auditee: Auditee, rows: FrameRows, scm: StructuralCausalModel) -> tuple[str, ...]:
    """Columns that the model may see and the graph says nothing about."""
    seen = auditee.columns if auditee.columns is not None else tuple(rows.frame.columns)
    unknown = [name for name in seen if name not in scm.graph.nodes]
    if not unknown:
        return ()
    listed = ", ".join(unknown[:8]) + (", ..." if len(unknown) > 8 else "")
    whether = "uses" if auditee.columns is not None else "may use"
    return (f"columns that the model {whether} and the graph leaves out do not change: {listed}",)


def _refitted(
    auditee: Auditee, rows: FrameRows, otherwise: Any, outcome: str | None, draws: int
) -> Auditee:
    if auditee.model is None:
        raise PredictorError(
            "refit=True fits the audited model again, so it must be a scikit-learn model; found a "
            "function"
        )
    if outcome is None or draws != 1:
        raise RoleError(
            "refit=True needs the outcome column that the model was fitted to, and a single draw; "
            f"found outcome={outcome!r}, draws={draws}"
        )
    features = auditee.features(otherwise)
    again = deepcopy(auditee.model).fit(features, np.asarray(rows.frame[outcome].to_numpy()))
    decides = getattr(auditee.ask, "__name__", "") == "predict"
    return auditee_of(again.predict if decides else again, auditee.threshold, auditee.said)
