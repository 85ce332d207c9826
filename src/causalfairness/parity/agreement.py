"""Do several estimators give one question the same answer? Where not, that is a finding.

Two estimators see the same people and share their luck, so the difference of their answers has a
smaller standard error than either. It is exact where both answers live on one basis; elsewhere the
sum of the two standard errors is used, which no correlation exceeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any, NamedTuple

from causalfairness.effects import Decomposition, Effect, EffectTable
from causalfairness.effects.contrasts import Convention
from causalfairness.effects.table import decimals, format_p_value, in_columns
from causalfairness.errors import CausalFairnessError
from causalfairness.estimators import Estimator
from causalfairness.estimators.role_columns import estimate_from
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import holm, two_sided_p_value
from causalfairness.parity.statistical import check_convention, describe, explain
from causalfairness.tables import Missing, Of, ask

PARTS = ("direct", "indirect", "spurious")


class Difference(NamedTuple):
    """How far are two estimators apart on one part, and could chance explain it?

    `standard_error` is exact if `is_exact`, else an upper bound; `p_value` is adjusted after Holm
    for all pairs and parts.

    >>> Difference("direct", "Strata", "Regression", 0.03, 0.01, True, 0.02).value
    0.03
    """

    part: str
    first: str
    second: str
    value: float
    standard_error: float
    is_exact: bool
    p_value: float


@dataclass(frozen=True, eq=False)
class EstimatorComparison:
    """What does each estimator say, and where do they contradict each other?

    `by_estimator` maps each name to its decomposition (draw it with `plots.side_by_side`),
    `refused` those that could not answer to the reason.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> both = [cf.estimators.Strata(), cf.estimators.Weighting(replicates=20)]
    >>> found = cf.compare_estimators(world.draw(1_000, seed=0), world.model, both)
    >>> list(found.by_estimator), found.disagreements()
    (['Strata', 'Weighting'], ())
    """

    by_estimator: Mapping[str, Decomposition]
    refused: Mapping[str, str]

    def table(self, level: float = 0.95) -> EffectTable:
        """What is each estimator's gap and its parts, one row each?"""
        effects = [
            effect.named(f"{name}: {effect.name}")
            for name, found in self.by_estimator.items()
            for effect in found.summary(level)
        ]
        return EffectTable(tuple(effects), level=level)

    def differences(self) -> tuple[Difference, ...]:
        """How far is every estimator from every other, on each part?"""
        pairs = [(part, *pair) for part in PARTS for pair in combinations(self.by_estimator, 2)]
        apart = [self._apart(*pair) for pair in pairs]
        adjusted = holm([two_sided_p_value(center, error) for center, _, error, _ in apart])
        return tuple(
            Difference(*pair, *found[1:], float(p))
            for pair, found, p in zip(pairs, apart, adjusted, strict=True)
        )

    def disagreements(self, level: float = 0.95) -> tuple[Difference, ...]:
        """Which answers are further apart than chance explains? The clearest first."""
        found = [pair for pair in self.differences() if pair.p_value <= 1 - level]
        return tuple(sorted(found, key=lambda pair: pair.p_value))

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """Where do the estimators agree, in plain words?"""
        clear = self.disagreements(level)
        return tuple(self._sentence(part, clear) for part in PARTS)

    def __str__(self) -> str:
        first = next(iter(self.by_estimator.values()))
        title = f"{first.what}: {first.comparison} against {first.reference} ({first.convention})"
        refused = [f"no answer: {name}: {reason}" for name, reason in self.refused.items()]
        summaries = {name: found.summary() for name, found in self.by_estimator.items()}
        settings = [
            f"{name}: {found.diagnostics.estimator}"
            for name, found in self.by_estimator.items()
            if "#" in name
        ]
        return "\n".join([title, in_columns(summaries), *settings, *self.sentences(), *refused])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _apart(self, part: str, first: str, second: str) -> tuple[float, float, float, bool]:
        """The center of the difference, its value and standard error, and whether that is exact."""
        one, other = (_part(self.by_estimator[name], part) for name in (first, second))
        if one.basis == other.basis and one.spread.shape == other.spread.shape:
            difference = one - other
            return difference.center, difference.value, difference.standard_error, True
        error = one.standard_error + other.standard_error
        return one.center - other.center, one.value - other.value, error, False

    def _sentence(self, part: str, clear: Sequence[Difference]) -> str:
        effects = {name: _part(found, part) for name, found in self.by_estimator.items()}
        places = decimals((effect.standard_error for effect in effects.values()), least=3)
        low, high = (pick(effects, key=lambda n: effects[n].value) for pick in (min, max))
        opening = (
            f"{part.capitalize()}: from {effects[low].value:+.{places}f} ({low}) to "
            f"{effects[high].value:+.{places}f} ({high})"
        )
        apart = [pair for pair in clear if pair.part == part]
        if not apart:
            return f"{opening}, no further apart than chance explains."
        named = "; ".join(
            f"{pair.first} and {pair.second} by {abs(pair.value):.{places}f} "
            f"(p {format_p_value(pair.p_value)})"
            for pair in apart
        )
        return f"{opening}, further apart than chance explains: {named}."


def compare_estimators(
    data: Any,
    model: StandardFairnessModel,
    estimators: Sequence[Estimator] | Mapping[str, Estimator],
    *,
    of: Of = "outcome",
    convention: Convention = "sequential",
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> EstimatorComparison:
    """Do these estimators agree on how much of a gap is direct, indirect or spurious?

    An estimator that refuses is reported with its reason; only if all refuse is there no answer.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> print(cf.compare_estimators(
    ...     world.draw(1_000, seed=0), world.model,
    ...     {"counted": cf.estimators.Strata(), "smoothed": cf.estimators.Strata(smoothing=1)}))
    y: green against blue (sequential)
    (std. error)           counted          smoothed
    total        ...
    """
    check_convention(convention)
    named = _named(estimators)
    table, model = ask(data, model, missing=missing)
    by_estimator: dict[str, Decomposition] = {}
    refused: dict[str, CausalFairnessError] = {}
    for name, estimator in named.items():
        try:
            reading = estimator.read(table, model, of)
            estimate = estimate_from(estimator, reading, model, workers=workers, seed=seed)
        except CausalFairnessError as reason:
            refused[name] = reason
        else:
            by_estimator[name] = describe(explain(estimate, ""), model, of, convention)
    if not by_estimator:
        raise next(iter(refused.values()))
    return EstimatorComparison(by_estimator, {name: str(why) for name, why in refused.items()})


def _named(estimators: Sequence[Estimator] | Mapping[str, Estimator]) -> dict[str, Estimator]:
    """A short name each; two of one kind are numbered."""
    if not len(estimators):
        raise ValueError("there is no estimator to compare; give at least one, such as Strata()")
    if isinstance(estimators, Mapping):
        return dict(estimators)
    kinds = [type(each).__name__ for each in estimators]
    names = [
        kind if kinds.count(kind) == 1 else f"{kind} #{kinds[:at].count(kind) + 1}"
        for at, kind in enumerate(kinds)
    ]
    return dict(zip(names, estimators, strict=True))


def _part(found: Decomposition, part: str) -> Effect:
    effect: Effect = getattr(found, part)
    return effect
