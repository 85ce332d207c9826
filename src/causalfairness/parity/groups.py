"""How do all groups fare against the reference, with intervals that hold together?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.effects import Decomposition, EffectTable, spreads_of
from causalfairness.effects.contrasts import Convention
from causalfairness.effects.table import as_section
from causalfairness.errors import (
    CausalFairnessError,
    GroupNotFoundError,
    OutcomeError,
    OverlapError,
    RoleError,
    WeightError,
)
from causalfairness.estimators import Estimator
from causalfairness.estimators.role_columns import estimate_from
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import holm, simultaneous_quantile
from causalfairness.parity.statistical import check_convention, describe, explain, pick
from causalfairness.tables import Missing, Of, ask
from causalfairness.tables.groups import COMPARISON, GroupLabel, members, typed

TOO_FEW = (GroupNotFoundError, OutcomeError, WeightError)  # of a group that nobody asked for
ROWS = ("total", "direct", "indirect", "spurious")


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """How does each group fare against the reference?

    `by_group` maps each group (a tuple where it is intersectional) to its decomposition; `refused`
    maps those that cannot be compared, for lack of people or of overlap, to the reason. `table()`
    holds all of them at once: intervals reach as far as it takes to hold together at the level, and
    p-values are adjusted after Holm.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="race", reference="Caucasian", comparison=None,
    ...     confounders=["sex"], mediators=["c_charge_degree"], outcome="two_year_recid")
    >>> compas = cf.datasets.load_compas(propublica_filter=False)
    >>> found = cf.compare_groups(compas, model, groups=["African-American", "Hispanic"])
    >>> found.largest().comparison
    'African-American'
    """

    by_group: Mapping[Any, Decomposition]
    refused: Mapping[Any, str]
    seed: int = 0

    def table(self, level: float = 0.95) -> EffectTable:
        """What are all groups' gaps and parts, with intervals that hold together?"""
        effects = [
            getattr(found, part).named(f"{found.comparison}: {part}")
            for found in self.by_group.values()
            for part in self._rows()
        ]
        reach = simultaneous_quantile(spreads_of(effects), level, np.random.default_rng(self.seed))
        adjusted = holm([effect.p_value for effect in effects])
        return EffectTable(
            tuple(effects), level=level, reach=reach, adjusted=tuple(adjusted.tolist())
        )

    def largest(self) -> Decomposition:
        """Which group's gap to the reference is largest in size?"""
        return max(self.by_group.values(), key=lambda found: abs(found.total.value))

    def smallest(self) -> Decomposition:
        """Which group's gap to the reference is smallest in size?"""
        return min(self.by_group.values(), key=lambda found: abs(found.total.value))

    def __getitem__(self, group: Any) -> Decomposition:
        if group in self.refused:
            raise KeyError(f"{group!r} was not compared: {self.refused[group]}")
        if group not in self.by_group:
            raise KeyError(f"no group {group!r}; there are {', '.join(map(repr, self.by_group))}")
        return self.by_group[group]

    def __str__(self) -> str:
        first = next(iter(self.by_group.values()))
        title = f"{first.what}: each group against {first.reference}"
        return "\n".join([title, str(self.table()), *self._not_compared()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section("", self.table()._repr_html_(), self._not_compared())

    def _not_compared(self) -> list[str]:
        return [f"not compared: {group}: {reason}" for group, reason in self.refused.items()]

    def _rows(self) -> tuple[str, ...]:
        found = self.by_group.values()
        rests = ("outside_support", "misfit")
        return ROWS + tuple(rest for rest in rests if any(getattr(f, rest).value for f in found))


def compare_groups(
    data: Any,
    model: StandardFairnessModel,
    *,
    groups: Sequence[Any] | None = None,
    of: Of = "outcome",
    estimator: Estimator | None = None,
    convention: Convention = "sequential",
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> GroupComparison:
    """How do all groups fare against the reference, one by one?

    `groups=None` takes every group in the data; for an intersectional attribute groups are tuples.
    The `comparison` of the model is not used. The estimator is chosen once, for all groups.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected=["race", "sex"], reference=("Caucasian", "Male"), comparison=None,
    ...     mediators=["c_charge_degree"], outcome="two_year_recid")
    >>> compas = cf.datasets.load_compas(propublica_filter=False)
    >>> pairs = [("African-American", "Male"), ("African-American", "Female")]
    >>> print(cf.compare_groups(compas, model, groups=pairs).table().names[0])
    African-American, Male: total
    """
    check_convention(convention)
    if model.reference is None:
        raise RoleError("compare_groups needs a reference group to compare with; found None")
    table, model = ask(data, model, missing=missing)
    wanted = _given(groups) if groups is not None else _other_groups(table.groups(model), model)
    pairs = [model.for_groups(comparison=group) for group in wanted]
    chosen, because = pick(table, pairs, of, estimator)
    reading = chosen.read(table, model, of)
    lacking = OverlapError if groups is not None else (OverlapError, *TOO_FEW)
    by_group: dict[Any, Decomposition] = {}
    refused: dict[Any, CausalFairnessError] = {}
    for pair in pairs:
        try:
            estimate = estimate_from(chosen, reading, pair, workers=workers, seed=seed)
        except lacking as error:
            refused[pair.comparison] = error
        else:
            by_group[pair.comparison] = describe(explain(estimate, because), pair, of, convention)
    if not by_group:
        reason = next(iter(refused.values()))
        raise type(reason)(f"no group can be compared. {reason}")
    return GroupComparison(by_group, {group: str(why) for group, why in refused.items()}, seed)


def _given(groups: Sequence[Any]) -> list[Any]:
    if isinstance(groups, str):
        raise RoleError(f"groups is a list of groups, got the text {groups!r}; write [{groups!r}]")
    if not len(groups):
        raise RoleError("groups is empty; name at least one, or take all with groups=None")
    for at, group in enumerate(groups):
        if group in groups[:at]:
            raise RoleError(f"group {group!r} is named twice")
    return [*groups]


def _other_groups(present: Sequence[GroupLabel], model: StandardFairnessModel) -> list[Any]:
    """Every known group but the reference, spelled as a user would."""
    role = members(present, model.for_groups(comparison=None))
    others = [label for label, r in zip(present, role, strict=True) if r == COMPARISON]
    spelled = [tuple(typed(value) for value in label) for label in others]
    return [label[0] if isinstance(model.protected, str) else label for label in spelled]
