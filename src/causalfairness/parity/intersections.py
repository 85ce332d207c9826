"""What does an intersection show that single attributes hide? Both, side by side (methods §3).

For protected columns race and sex and the groups (White, Male) and (Black, Female) three questions
are asked: Black against White, Female against Male, and Black women against white men. Where one
attribute is compared the others are confounders: they differ between the groups, and the compared
one does not cause them. People of other groups are outside each question and are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from causalfairness.effects import Decomposition, EffectTable
from causalfairness.effects.contrasts import Convention
from causalfairness.effects.table import in_columns
from causalfairness.errors import OverlapError, RoleError, WeightError
from causalfairness.estimators import Estimator
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.statistical import decompose_disparity
from causalfairness.tables import Missing, Of, ask
from causalfairness.tables.groups import shown

SMALL = 30  # people; fewer are pointed out


@dataclass(frozen=True, eq=False)
class AttributeComparison:
    """How do single attributes compare with their intersection?

    `by_attribute` maps each attribute, and all of them together ("race and sex"), to its
    decomposition; `refused` those that cannot be compared to the reason. `people` counts the rows
    of every intersectional group, small ones included: none is pooled with another.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected=["race", "sex"], reference=("Caucasian", "Male"),
    ...     comparison=("African-American", "Female"),
    ...     mediators=["c_charge_degree"], outcome="two_year_recid")
    >>> found = cf.compare_attributes(cf.datasets.load_compas(), model)
    >>> list(found.by_attribute), found.people[("African-American", "Female")]
    (['race', 'sex', 'race and sex'], 549)
    """

    by_attribute: Mapping[str, Decomposition]
    refused: Mapping[str, str]
    people: Mapping[tuple[Any, ...], int]

    def table(self, level: float = 0.95) -> EffectTable:
        """What are the gap and its parts for each attribute, one row each?"""
        effects = [
            effect.named(f"{name}: {effect.name}")
            for name, found in self.by_attribute.items()
            for effect in found.summary(level)
        ]
        return EffectTable(tuple(effects), level=level)

    def small(self, fewer_than: int = SMALL) -> dict[tuple[Any, ...], int]:
        """Which intersectional groups have so few people that little can be said of them?"""
        return {group: rows for group, rows in self.people.items() if rows < fewer_than}

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        return tuple(
            f"{name} ({found.comparison} against {found.reference}): {sentence}"
            for name, found in self.by_attribute.items()
            for sentence in found.sentences(level)[:1]
        ) + tuple(
            f"Only {rows} people are {shown(group)}: little can be said of them."
            for group, rows in self.small().items()
        )

    def __str__(self) -> str:
        refused = [f"not compared: {name}: {reason}" for name, reason in self.refused.items()]
        summaries = {name: found.summary() for name, found in self.by_attribute.items()}
        return "\n".join([in_columns(summaries), *self.sentences(), *refused])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def compare_attributes(
    data: Any,
    model: StandardFairnessModel,
    *,
    of: Of = "outcome",
    estimator: Estimator | None = None,
    convention: Convention = "sequential",
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> AttributeComparison:
    """Is the gap of an intersectional group more than its attributes show one by one?

    The model names two or more protected columns and groups as tuples. Each attribute is compared
    with the others as confounders; the intersection is compared as it is.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected=["race", "sex"], reference=("Caucasian", "Male"),
    ...     comparison=("African-American", "Female"),
    ...     mediators=["c_charge_degree"], outcome="two_year_recid")
    >>> print(cf.compare_attributes(cf.datasets.load_compas(), model))
    (std. error)              race               sex      race and sex
    total         +0.1323 (0.0138)  -0.1280 (0.0156)  -0.0325 (0.0239)
    ...
    """
    table, model = ask(data, model, missing=missing)
    by_attribute: dict[str, Decomposition] = {}
    refused: dict[str, Exception] = {}
    for name, question in _questions(model).items():
        try:
            by_attribute[name] = decompose_disparity(
                table,
                question,
                of=of,
                estimator=estimator,
                convention=convention,
                workers=workers,
                seed=seed,
            )
        except (OverlapError, WeightError) as reason:
            refused[name] = reason
    if not by_attribute:
        raise next(iter(refused.values()))
    reasons = {name: str(why) for name, why in refused.items()}
    return AttributeComparison(by_attribute, reasons, table.people(model))


def _questions(model: StandardFairnessModel) -> dict[str, StandardFairnessModel]:
    columns = model.protected_columns
    if len(columns) < 2:
        raise RoleError(
            f"there is one protected column, {columns[0]!r}, and so no intersection; name two or "
            "more, with groups as tuples"
        )
    if model.reference is None or model.comparison is None:
        raise RoleError(
            "single attributes can be compared only between named groups; name both reference "
            "and comparison as tuples"
        )
    single = {
        column: replace(
            model,
            protected=column,
            reference=reference,
            comparison=comparison,
            confounders=[*model.confounders, *(other for other in columns if other != column)],
        )
        for column, reference, comparison in zip(
            columns, model.reference, model.comparison, strict=True
        )
        if reference != comparison
    }
    return {**single, " and ".join(columns): model}
