"""How large is the effect along single mediators, or groups of them, by a structural model?

A change of group from reference to comparison leaves the protected attribute by its arrows. Each
arrow belongs to one path: the arrow to the outcome, or to the prediction, is the direct path; an
arrow to a mediator is on the path that names it, or on `other mediators`. The effect of a path is

    mean over the reference group of  ( Y, this path told the comparison group  -  Y )

with everything else told the reference group (methods §7). What the groups differ in beforehand,
the spurious path, is that of the sequential decomposition, by the same model. Effects of single
paths need not add up to the gap: paths may work together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalfairness.effects import Diagnostics, Effect, Overlap
from causalfairness.effects.contrasts import PARTS
from causalfairness.errors import NecessityError
from causalfairness.estimators import Structural
from causalfairness.estimators.graph_roles import check_roles
from causalfairness.estimators.role_columns import estimate_from, look_at
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.necessity.paths import NO_WAY, Findings, PathEffects
from causalfairness.parity.necessity.prediction_node import with_prediction_node
from causalfairness.scm import StructuralCausalModel
from causalfairness.scm.paths import PathQuestion, ask_along, effects_along
from causalfairness.scm.refits import check_replicates
from causalfairness.tables import Missing, Of, RowAccount, Rows, Table, ask, only_rows, open_table
from causalfairness.tables.source import collect

OTHERS = "other mediators"
RESERVED = ("direct", "indirect", "spurious", OTHERS)
TARGETS: tuple[Of, Of] = ("outcome", "prediction")
NOT_A_SUM = (
    "effects of single paths are changes from the reference group's world, one path at a time, "
    "among the reference group; where paths work together they do not add up to the gap"
)


Effects = dict[tuple[str, Of], Effect]  # by path, of outcome and prediction


@dataclass(frozen=True, eq=False)
class MediatorPaths:
    """Which mediators make up which path, in which structural model? Made by `read_paths`."""

    model: StandardFairnessModel
    scm: StructuralCausalModel
    groups: Mapping[str, tuple[str, ...]]  # the first arrow's end, by path; none for direct
    replicates: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """Which paths are there?"""
        return (*self.groups, "spurious")

    def findings(self, data: Any, *, missing: Missing, workers: int, seed: int) -> Findings:
        """How large is the effect along each path, on outcome and prediction?"""
        table, model = ask(data, self.model, missing=missing)
        data, account = _complete(table, model)
        scm = self.scm
        if model.predict is not None:
            data, model, scm = with_prediction_node(data, model, scm)
        return replace(self, model=model, scm=scm)._found(data, account, workers, seed)

    def _found(self, data: Any, account: RowAccount, workers: int, seed: int) -> Findings:
        table = open_table(data)
        readings = [table.rows(self.model, of) for of in TARGETS]
        measured = [reading.pair(self.model).outcome for reading in readings]
        for of in TARGETS:
            check_roles(self.scm.graph, self.model, of)
        looked = [note for reading in readings for note in look_at(reading, self.model)]
        effects = self._along_arrows(data, workers, seed)
        effects |= self._spurious(readings, effects, workers, seed)
        paths = tuple(
            PathEffects(name, self._through(name), *(effects[name, of] for of in TARGETS))
            for name in self.names
        )
        stated = dict.fromkeys(
            line for each in effects.values() for line in sorted(each.assumptions)
        )
        made = "as given" if self.replicates is None else f"replicates={self.replicates}"
        told = Diagnostics(f"path effects of a structural model ({made})", account, Overlap())
        notes = dict.fromkeys((NOT_A_SUM, *looked))
        shares = all(np.all((each >= 0) & (each <= 1)) for each in measured if each is not None)
        return Findings(paths, (told,), tuple(stated), tuple(notes), in_points=bool(shares))

    def _along_arrows(self, data: Any, workers: int, seed: int) -> Effects:
        """The effects of all paths but the spurious one, from one set of refits."""
        asked: dict[tuple[str, Of], PathQuestion] = {}
        for name, of, edges in self._ways():
            if edges:
                asked[name, of] = ask_along(
                    self.scm, data, self.model, of=of, edges=edges, seed=seed
                )
        if not asked:
            raise NecessityError(
                f"no arrow leads from {' and '.join(self.model.protected_columns)} towards the "
                "outcome or the prediction, so there is no path to check; look at the graph"
            )
        found = effects_along(
            list(asked.values()),
            among=self.model.reference,
            replicates=self.replicates,
            workers=workers,
        )
        effects = {
            (name, of): effect.named(name) for (name, of), effect in zip(asked, found, strict=True)
        }
        nothing = _nothing(found[0])
        return effects | {
            (name, of): nothing.named(name) for name, of, edges in self._ways() if not edges
        }

    def _spurious(
        self, readings: Sequence[Rows], known: Effects, workers: int, seed: int
    ) -> Effects:
        """What comes along with the confounders: exactly nothing where there are none."""
        if not self.model.confounders:
            nothing = _nothing(next(iter(known.values())))
            return {("spurious", of): nothing.named("spurious") for of in TARGETS}
        structural, found = Structural(self.scm, replicates=self.replicates), {}
        for of, reading in zip(TARGETS, readings, strict=True):
            estimate = estimate_from(structural, reading, self.model, workers=workers, seed=seed)
            terms = PARTS["sequential"]["spurious"].terms
            found["spurious", of] = estimate.world_means.combine(terms, "spurious")
        return found

    def _ways(self) -> Iterator[tuple[str, Of, list[tuple[str, str]]]]:
        """The arrows on which each path begins, towards outcome and prediction."""
        graph, protected = self.scm.graph, self.model.protected_columns
        for of, target in zip(
            TARGETS, (self.model.outcome, self.model.prediction_column), strict=True
        ):
            assert target is not None
            leads = {target, *graph.ancestors(target, avoiding=protected)}
            for name, ends in self.groups.items():
                here = ends or (target,)
                edges = [
                    (cause, effect)
                    for cause, effect in graph.arrows
                    if cause in protected and effect in here and effect in leads
                ]
                yield name, of, edges

    def _through(self, name: str) -> str:
        if name == "spurious":
            names = ", ".join(self.model.confounders)
            return f"with {names}" if names else NO_WAY
        return f"through {', '.join(self.groups[name])}" if self.groups[name] else ""


def read_paths(
    model: StandardFairnessModel,
    scm: StructuralCausalModel,
    paths: Mapping[str, Sequence[str]],
    replicates: int | None,
) -> MediatorPaths:
    """Which mediators make up which path? All arrows out of the protected attribute get one."""
    check_replicates(replicates)
    if not isinstance(scm, StructuralCausalModel):
        raise NecessityError(
            f"scm must be a fitted StructuralCausalModel; found {type(scm).__name__}"
        )
    if not isinstance(paths, Mapping) or not paths:
        raise NecessityError(
            "paths names groups of mediators, such as {'record': ['priors', 'charge']}; found "
            f"{paths!r}"
        )
    direct = {effect for cause, effect in scm.graph.arrows if cause in model.protected_columns}
    taken: dict[str, str] = {}
    for name, mediators in paths.items():
        _check_group(name, mediators, model)
        for mediator in mediators:
            if mediator in taken:
                raise NecessityError(
                    f"{mediator!r} is on two paths, {taken[mediator]!r} and {name!r}; name it once"
                )
            if mediator not in direct:
                raise NecessityError(_has_no_arrow(name, mediator, model, scm))
            taken[mediator] = name
    others = tuple(m for m in model.mediators if m in direct and m not in taken)
    groups = {"direct": (), **{name: tuple(ends) for name, ends in paths.items()}}
    return MediatorPaths(model, scm, groups | ({OTHERS: others} if others else {}), replicates)


def _nothing(like: Effect) -> Effect:
    """No effect at all, on the basis of another."""
    return like.vanished()


def _check_group(name: Any, mediators: Any, model: StandardFairnessModel) -> None:
    if not isinstance(name, str) or name in RESERVED:
        raise NecessityError(
            f"a path of mediators cannot be called {name!r}; give it a name of its own, other than "
            f"{', '.join(RESERVED)}"
        )
    if isinstance(mediators, str) or not isinstance(mediators, Sequence) or not mediators:
        raise NecessityError(
            f"path {name!r} is {mediators!r}; expected a list of mediators, such as ['priors']"
        )
    for mediator in mediators:
        if mediator not in model.mediators:
            raise NecessityError(
                f"path {name!r} names {mediator!r}, which is no mediator of the model; there are "
                f"{', '.join(model.mediators) or 'none'}"
            )


def _has_no_arrow(
    name: str, mediator: str, model: StandardFairnessModel, scm: StructuralCausalModel
) -> str:
    protected = " and ".join(model.protected_columns)
    if mediator not in scm.graph.nodes:
        return f"path {name!r} names {mediator!r}, which is no node of the structural model"
    causes = ", ".join(scm.graph.parents([mediator])) or "nothing"
    return (
        f"path {name!r} names {mediator!r}, to which no arrow leads from {protected}: it follows "
        f"from {causes}. Paths differ in how they begin; name the mediators they begin with"
    )


def _complete(table: Table, model: StandardFairnessModel) -> tuple[Any, RowAccount]:
    """The rows that have all that is asked for, and which they are."""
    needed = (model.outcome, model.prediction_column)
    rows = table.needing(*filter(None, needed)).rows(model, "outcome")
    native = collect(table.frame).to_native()
    if not rows.kept.all():
        native = only_rows(native, np.flatnonzero(rows.kept))
    return native, rows.pair(model).account
