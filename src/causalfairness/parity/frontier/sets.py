"""Which paths may a predictor use, and what does it take to leave out the others? (methods §6)

    "spurious"      confounders stay as they are; not allowed, they are moved to the reference
                    group's distribution, which is no counterfactual
    "indirect"      all mediators stay as they are
    a mediator, or a name for several of them (`named`)      these stay as they are
    "direct"        the predictor sees the group itself, and rows as they are; with all other paths

Mediators that do not stay are adapted to the reference group, and so is the outcome that the
predictor learns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from causalfairness.adaptation.plan import DIRECT, INDIRECT, SPURIOUS, keeping, plan_of
from causalfairness.errors import PathError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph

Allowed = Iterable[Iterable[str]]
Named = Mapping[str, Sequence[str]]
NOTHING, EVERYTHING = "nothing", "everything"


@dataclass(frozen=True)
class AllowedPaths:
    """Which paths may be used, what are they called, and what does that mean for the columns?

    >>> nothing = AllowedPaths((), (), ("priors",), ("age",))
    >>> print(nothing.name, "-", nothing.meaning)
    nothing - removed: the direct path; adapted: priors; transported: age
    """

    paths: tuple[str, ...]
    stay: tuple[str, ...]
    adapted: tuple[str, ...]
    transported: tuple[str, ...]

    @property
    def name(self) -> str:
        """What is the set called?"""
        if self.is_unconstrained:
            return EVERYTHING
        return " + ".join(self.paths) or NOTHING

    @property
    def is_unconstrained(self) -> bool:
        """May the group itself be used, so that rows stay as they are?"""
        return DIRECT in self.paths

    @property
    def meaning(self) -> str:
        """What happens to which column?"""
        if self.is_unconstrained:
            return "rows as they are, with the group among the columns"
        parts = (
            ("adapted", self.adapted),
            ("transported", self.transported),
            ("as they are", self.stay),
        )
        told = [f"{what}: {', '.join(columns)}" for what, columns in parts if columns]
        return "; ".join(["removed: the direct path", *told])


def read_sets(
    allowed: Allowed | None, named: Named, model: StandardFairnessModel, graph: CausalGraph
) -> tuple[AllowedPaths, ...]:
    """Which sets are asked about? By default all that the model has, and everything.

    >>> model = StandardFairnessModel(
    ...     protected="race", reference="a", comparison="b", confounders=["age"],
    ...     mediators=["priors"], outcome="recid")
    >>> [each.name for each in read_sets(None, {}, model, model.to_graph())]
    ['nothing', 'spurious', 'indirect', 'spurious + indirect', 'everything']
    """
    if allowed is None:
        there = _whole(model)
        some = [set(c) for size in range(len(there) + 1) for c in combinations(there, size)]
        allowed = [*some, {*there, DIRECT}]
    if isinstance(allowed, str):
        raise PathError(f"allowed is a list of sets of paths; write [{{{allowed!r}}}]")
    found = tuple(read_set(paths, named, model, graph) for paths in allowed)
    if not found:
        raise PathError("allowed is an empty list; [set()] asks what is left if nothing is allowed")
    twice = [each.name for at, each in enumerate(found) if each in found[:at]]
    if twice:
        raise PathError(f"allowed has the set {twice[0]!r} twice; name it once")
    return found


def read_set(
    paths: Iterable[str], named: Named, model: StandardFairnessModel, graph: CausalGraph
) -> AllowedPaths:
    """What does one set mean for the columns?"""
    if isinstance(paths, str):
        raise PathError(f"each set of allowed paths is a set of names; write {{{paths!r}}}")
    wanted = set(paths)
    _check_names(named, model)
    whole = _whole(model)
    if DIRECT in wanted:
        if wanted != {DIRECT, *whole}:
            raise PathError(
                "a predictor that sees the group itself is trained on rows as they are, which "
                f"leaves no path out; allow {{{', '.join(map(repr, (DIRECT, *whole)))}}} or no "
                f"{DIRECT!r}"
            )
        return AllowedPaths((*whole, DIRECT), (), (), ())
    protected, columns = model.protected_columns, (*model.confounders, *model.mediators)
    kept = keeping(graph, protected, model.outcome, wanted, named)
    plan = plan_of(graph, protected, resolving=kept.resolving, transport=not kept.spurious)
    moved = [move for move in plan.moves if move.column in columns]
    order = [SPURIOUS, INDIRECT, *named, *model.mediators, *graph.nodes]
    return AllowedPaths(
        tuple(sorted(wanted, key=order.index)),
        tuple(name for name in columns if name not in plan.moved),
        tuple(move.column for move in moved if not move.transported),
        tuple(move.column for move in moved if move.transported),
    )


def _whole(model: StandardFairnessModel) -> tuple[str, ...]:
    """The paths that there are, the direct one aside."""
    there = ((SPURIOUS, model.confounders), (INDIRECT, model.mediators))
    return tuple(path for path, columns in there if columns)


def _check_names(named: Named, model: StandardFairnessModel) -> None:
    taken = {SPURIOUS, INDIRECT, DIRECT, *model.role_columns}
    for name in named:
        if name in taken:
            raise PathError(
                f"named calls a group of mediators {name!r}, which is a path or a column already; "
                "choose another name"
            )
