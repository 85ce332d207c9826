"""What was found out about an error rate? Which rates there are, and the parts of a gap in one.

    fpr, tpr    P(prediction = 1 | outcome = 0), P(prediction = 1 | outcome = 1)
    fnr, tnr    one minus tpr, one minus fpr
    ppv, npv    P(outcome = 1 | prediction = 1), P(outcome = 0 | prediction = 0)

Gaps are the rate of the comparison group minus that of the reference group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from causalfairness.effects import (
    Decomposition,
    Diagnostics,
    Effect,
    EffectTable,
    Estimate,
    WorldMeans,
)
from causalfairness.effects.contrasts import Convention
from causalfairness.effects.decomposition import READINGS
from causalfairness.effects.table import as_section
from causalfairness.tables import Of


class Rate(NamedTuple):
    """What is a rate called, whose mean is it, and among whom?

    The mean of `of` is taken among people whose other answer is `given`; `complement` asks for one
    minus the mean.
    """

    name: str
    of: Of
    given: bool
    complement: bool

    def turn(self, estimate: Estimate) -> Estimate:
        """What is the rate, given the mean? One minus it for a complement: parts change sign."""
        if not self.complement:
            return estimate
        means = estimate.world_means
        told = estimate.diagnostics
        told = replace(told, remainders=tuple(each.turned() for each in told.remainders))
        gap = self.turn_gap(estimate.raw_gap)
        return replace(estimate, world_means=means.complement(), raw_gap=gap, diagnostics=told)

    def turn_gap(self, gap: Effect) -> Effect:
        """What is the gap of the rate, given that of the mean?"""
        return (-gap if self.complement else gap).named("total")


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "fpr": Rate("false positive rate", "prediction", given=False, complement=False),
        "fnr": Rate("false negative rate", "prediction", given=True, complement=True),
        "tpr": Rate("true positive rate", "prediction", given=True, complement=False),
        "tnr": Rate("true negative rate", "prediction", given=False, complement=True),
        "ppv": Rate("positive predictive value", "outcome", given=True, complement=False),
        "npv": Rate("negative predictive value", "outcome", given=False, complement=True),
    }
)


@dataclass(frozen=True, eq=False)
class ErrorRateDecomposition:
    """How much of a gap in an error rate is direct, indirect or spurious?

    `decomposition` holds the parts like any other (pictures and reports take it); `audited` is the
    audited model's own gap. Where the audited model uses mediators that were to be left out,
    `comparison_model` names the model that is decomposed in its place, and the two gaps differ.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> data = world.draw(2_000, seed=0, frame="pandas").assign(decision=lambda d: d.m1)
    >>> model = cf.StandardFairnessModel(
    ...     protected="group", reference="blue", comparison="green", confounders=["c1", "c2"],
    ...     mediators=["m1"], outcome="y", prediction="decision")
    >>> found = cf.decompose_error_rates(data, model, "fpr", with_mediators=True)
    >>> found.what
    'false positive rate of decision among y = 0'
    >>> found.direct.value, found.audited.value == found.total.value
    (0.0, True)
    """

    rate: str
    decomposition: Decomposition
    audited: Effect
    comparison_model: str | None = None
    lumped: tuple[str, ...] = ()  # mediators whose share is in the direct part

    @property
    def what(self) -> str:
        """Which rate, of whose decisions, among whom?"""
        return self.decomposition.what

    @property
    def reference(self) -> str:
        """Which group is compared with?"""
        return self.decomposition.reference

    @property
    def comparison(self) -> str:
        """Which group is compared?"""
        return self.decomposition.comparison

    @property
    def convention(self) -> Convention:
        """In which of the two ways do the parts add up?"""
        return self.decomposition.convention

    @property
    def world_means(self) -> WorldMeans:
        """What would the rate be in each of the twelve worlds?"""
        return self.decomposition.world_means

    @property
    def diagnostics(self) -> Diagnostics:
        """How much should this result be trusted?"""
        return self.decomposition.diagnostics

    @property
    def settled(self) -> bool | None:
        """Have the models caught how confounders act? None where that could not be checked."""
        return self.decomposition.settled

    @property
    def total(self) -> Effect:
        """How large is the gap that is decomposed, comparison group minus reference group?"""
        return self.decomposition.total

    @property
    def direct(self) -> Effect:
        """How much of the gap runs directly from group to decision?"""
        return self.decomposition.direct

    @property
    def indirect(self) -> Effect:
        """How much of the gap runs through the mediators?"""
        return self.decomposition.indirect

    @property
    def spurious(self) -> Effect:
        """How much of the gap comes from confounders, not from the group?"""
        return self.decomposition.spurious

    @property
    def outside_support(self) -> Effect:
        """How much of the gap concerns people without a counterpart? Zero unless restricted."""
        return self.decomposition.outside_support

    @property
    def misfit(self) -> Effect:
        """How much of the gap does the fitted model miss? Zero unless the estimator is plug-in."""
        return self.decomposition.misfit

    def table(self, level: float = 0.95) -> EffectTable:
        """What is every effect that the world means can tell?"""
        return self.decomposition.table(level)

    def summary(self, level: float = 0.95) -> EffectTable:
        """What are the gap and its parts? The first rows of `table`."""
        return self.decomposition.summary(level)

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """What do the numbers say, in plain words?

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary()
        >>> data = world.draw(2_000, seed=0, frame="pandas").assign(decision=lambda d: d.m1)
        >>> model = cf.StandardFairnessModel(
        ...     protected="group", reference="blue", comparison="green", confounders=["c1", "c2"],
        ...     mediators=["m1"], outcome="y", prediction="decision")
        >>> print(cf.decompose_error_rates(data, model, "fpr").sentences()[1])
        Another model: the audited one uses m1. What is decomposed is a LogisticRegression ...
        """
        gap, *parts = self.decomposition.sentences(level)
        if self.lumped:
            parts = [self._without_mediators(part) for part in parts]
        return gap.replace("Gap: mean ", "Gap: the ", 1), *self._about_the_model(level), *parts

    def __str__(self) -> str:
        return "\n".join(
            [self._title, str(self.summary()), *self.sentences(), str(self.diagnostics)]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.summary()._repr_html_()
        return as_section(self._title, table, self.sentences(), str(self.diagnostics))

    @property
    def _title(self) -> str:
        return f"{self.what}: {self.comparison} against {self.reference} ({self.convention})"

    def _without_mediators(self, sentence: str) -> str:
        """Where mediators were left out, the direct part holds what runs through them."""
        left_out = " and ".join(self.lumped)
        if sentence.startswith("Indirect"):
            return f"Indirect: not shown apart; what runs through {left_out} is in the direct part."
        return sentence.replace(READINGS["direct"], "remains when confounders are held alike")

    def _about_the_model(self, level: float) -> tuple[str, ...]:
        if self.comparison_model is None:
            return ()
        low, high = self.audited.interval(level)
        without = self.comparison_model.partition(" without ")[2]
        return (
            f"Another model: the audited one uses {without}. What is decomposed is a "
            f"{self.comparison_model}, fitted for this comparison. The audited model's own gap is "
            f"{self.audited.value:+.3f} ({low:+.3f} to {high:+.3f}), and these parts do not add "
            "up to it.",
        )
