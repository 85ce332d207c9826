"""How strong are the confounders that were seen, as a measure for one that was not?

Each confounder is left out in turn, as if nobody had recorded it, and its two shares are read off
in each stage of each effect: what it explains of the residual that its absence leaves, and what it
adds to the weights. A hidden confounder can then be told to be "as strong as age", or so many times
as strong. That is a yardstick and no evidence: hidden causes need not resemble those recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from causalfairness.effects import Decomposition
from causalfairness.effects.contrasts import Convention, Terms
from causalfairness.effects.table import as_section
from causalfairness.errors import SensitivityError
from causalfairness.estimators import Estimator
from causalfairness.estimators.doubly_robust import DoublyRobust
from causalfairness.estimators.fit_memory import remembered_fits
from causalfairness.estimators.known_model import KnownModel
from causalfairness.estimators.leaving_out import Comparable, LeftOut, leaving_out
from causalfairness.estimators.role_columns import estimate_from
from causalfairness.estimators.strata import Strata
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference.intervals import check_margin, normal_reach
from causalfairness.parity.metrics.table import MetricTable
from causalfairness.parity.statistical import check_convention, describe, explain, pick
from causalfairness.progress import track
from causalfairness.sensitivity.effect_sensitivity import EffectSensitivity
from causalfairness.sensitivity.question import SUPPORTED, about, asked, contrasts_of, moments_of
from causalfairness.sensitivity.stages import STAGES, StageName, stages_of
from causalfairness.sensitivity.strengths import Shares, Strengths, times_to_reach
from causalfairness.sensitivity.words import percent
from causalfairness.tables import Missing, Of, ask


@dataclass(frozen=True, eq=False)
class Benchmark:
    """How strong is one confounder that was seen, in one effect?

    `as_strong` is what a hidden cause could do that has the same shares, stage by stage.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> shown = cf.sensitivity.benchmark_confounders(world.draw(4_000, seed=0), world.model)
    >>> direct = shown["direct"][0]
    >>> direct.confounder, direct.times_as_strong() > 1
    ('c1', True)
    """

    confounder: str
    as_strong: EffectSensitivity

    def shares(self, stage: StageName | None = None) -> Shares:
        """What are its shares in a stage? Without one, the larger of both stages."""
        if stage is not None:
            return self.as_strong.strengths[stage]
        both = self.as_strong.strengths.values()
        return Shares(max(each.outcome for each in both), max(each.group for each in both))

    def times_as_strong(self) -> float:
        """How many times as strong must a hidden cause be for the estimate to reach the margin?"""
        found = self.as_strong
        return times_to_reach(found.distance, found.stages, found.strengths)

    def times_as_strong_for_interval(self) -> float:
        """How many times as strong must it be for the interval to reach the margin?"""
        found = self.as_strong
        return times_to_reach(found.room, found.stages, found.strengths)

    def to_dict(self) -> dict[str, Any]:
        """What is known about it, as plain data? Its shares in both stages, and what they do."""
        mediators, group = self.shares("mediators"), self.shares("group")
        return {
            "confounder": self.confounder,
            "effect": self.as_strong.name,
            "mediators_outcome": mediators.outcome,
            "mediators_weights": mediators.group,
            "group_outcome": group.outcome,
            "group_weights": group.group,
            "bound": self.as_strong.bound(),
            "times": self.times_as_strong(),
            "times_interval": self.times_as_strong_for_interval(),
        }


@dataclass(frozen=True, eq=False)
class ConfounderBenchmarks:
    """How strong are the confounders that were seen, in each effect?

    `shown["direct"]` are the benchmarks of one effect, strongest first.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> shown = cf.sensitivity.benchmark_confounders(world.draw(4_000, seed=0), world.model)
    >>> sorted({each.confounder for each in shown})
    ['c1', 'c2']
    """

    found: Decomposition
    benchmarks: tuple[Benchmark, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Benchmark]:
        return iter(self.benchmarks)

    def __len__(self) -> int:
        return len(self.benchmarks)

    def __getitem__(self, effect: str) -> tuple[Benchmark, ...]:
        own = [each for each in self.benchmarks if each.as_strong.name == effect]
        if not own:
            names = dict.fromkeys(each.as_strong.name for each in self.benchmarks)
            raise KeyError(f"no effect is named {effect!r}; there are {', '.join(names)}")
        return tuple(sorted(own, key=lambda each: -each.as_strong.bound()))

    def table(self) -> MetricTable:
        """What are the shares of each confounder, and how many times as strong is needed?

        `mediators_outcome` is its share of the outcome in the stage of the mediators, and so on;
        `bound` is what a hidden cause just as strong could do, `times` how many times as strong one
        must be for the estimate to reach the margin, and `times_interval` for the interval.
        """
        return MetricTable(tuple(each.to_dict() for each in self.benchmarks))

    def sentences(self) -> tuple[str, ...]:
        """How strong would a hidden confounder have to be, beside those that were seen?

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary()
        >>> shown = cf.sensitivity.benchmark_confounders(world.draw(4_000, seed=0), world.model)
        >>> print(shown.sentences()[0])
        Direct: a hidden confounder as strong as c1 could move it by ... at most; to reach zero ...
        """
        return tuple(_sentence(each) for each in self.benchmarks)

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([str(self.table()), *self.sentences(), *notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section("", self.table()._repr_html_(), (*self.sentences(), *self.notes))


NOTES = (
    "each confounder was left out as if nobody had recorded it, and all that was learned was "
    "learned again without it",
    "that hidden confounders are no stronger than those recorded is a judgment, and nothing in "
    "the data speaks for it",
)


def benchmark_confounders(
    data: Any,
    model: StandardFairnessModel,
    *,
    of: Of = "outcome",
    estimator: Estimator | None = None,
    convention: Convention = "sequential",
    effects: Sequence[str] | None = None,
    confounders: Sequence[str] | None = None,
    found: Decomposition | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    missing: Missing = "refuse",
    workers: int = 1,
    seed: int = 0,
) -> ConfounderBenchmarks:
    """How strong is each confounder that was seen, if it is left out as if it had not been?

    `confounders` are those left out in turn, by default all. `found` is the decomposition of the
    same data with the same settings, where there is one: it is then not made again.
    The estimator learns everything once with all confounders and once without each of them: that
    takes about twice as many times as long as one decomposition as there are confounders. With
    `Strata` cells are added up instead, which takes no time.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> shown = cf.sensitivity.benchmark_confounders(world.draw(4_000, seed=0), world.model)
    >>> shares = shown["spurious"][0].shares("group")
    >>> shares.outcome > 0.01, shares.group > 0.01
    (True, True)
    """
    check_convention(convention)
    check_margin(margin)
    normal_reach(level)  # refuses what is no level
    if not model.confounders:
        raise SensitivityError(
            "the model names no confounders, so there is none to measure a hidden one by; state "
            "shares yourself with sensitivity_to_confounding"
        )
    table, model = ask(data, model, missing=missing)
    chosen, because = pick(table, [model], of, estimator)
    comparable = _comparable(chosen)
    with remembered_fits():
        if found is None:
            reading = chosen.read(table, model, of)
            estimate = estimate_from(chosen, reading, model, workers=workers, seed=seed)
            found = describe(explain(estimate, because), model, of, convention)
        names, outside = asked(found, effects), _left_out(model, confounders)
        without = leaving_out(comparable, table, model, of, workers=workers, seed=seed)
        left = list(track(map(without, outside), total=len(outside), what="benchmarks"))
    benchmarks = [
        Benchmark(each.confounder, _as_strong(found, each, name, margin, level))
        for each in left
        for name in names
    ]
    return ConfounderBenchmarks(found, tuple(benchmarks), NOTES)


def _left_out(model: StandardFairnessModel, confounders: Sequence[str] | None) -> Sequence[str]:
    """Which confounders are left out in turn?"""
    unknown = [name for name in confounders or () if name not in model.confounders]
    if unknown:
        raise SensitivityError(
            f"{unknown[0]!r} is no confounder that could be left out; there are "
            f"{', '.join(map(repr, model.confounders))}"
        )
    return model.confounders if confounders is None else confounders


def _comparable(chosen: Estimator) -> Comparable:
    if isinstance(chosen, Strata | DoublyRobust | KnownModel):
        return chosen
    raise SensitivityError(
        f"{chosen} has no weights and residuals to leave a confounder out of; give "
        f"estimator={SUPPORTED}"
    )


def _as_strong(
    found: Decomposition, left: LeftOut, name: str, margin: float, level: float
) -> EffectSensitivity:
    strengths = _strengths(left, contrasts_of(found)[name].terms)
    return about(found, moments_of(found), name, strengths, margin, level)


def _strengths(left: LeftOut, terms: Terms) -> Strengths:
    """Shares below zero are chance: the confounder explains nothing there."""
    without, with_it = stages_of(left.without, terms), stages_of(left.with_it, terms)
    shares: dict[StageName, Shares] = {}
    for stage in STAGES:
        before, after = without[stage], with_it[stage]
        explained = 1 - after.residual / before.residual if before.residual > 0 else 0.0
        added = 1 - before.weight / after.weight if after.weight > 0 else 0.0
        shares[stage] = Shares(max(explained, 0.0), max(added, 0.0))
    return shares


def _sentence(each: Benchmark) -> str:
    found = each.as_strong
    opening = f"{found.name.replace('_', ' ').capitalize()}: a hidden confounder as strong as"
    goal = "zero" if found.margin == 0 else f"the margin of {found.margin:g}"
    times = each.times_as_strong()
    if times == float("inf"):
        return f"{opening} {each.confounder} could not move it, however many times as strong."
    again = each.times_as_strong_for_interval()
    whole = f"{again:.2g} times for the interval" if again else "the interval does so already"
    shares = "; ".join(
        f"{percent(own.outcome)} of what is left unexplained and {percent(own.group)} of the "
        f"weights in the stage of the {stage}"
        for stage, own in found.strengths.items()
        if found.stages[stage].scale > 0
    )
    return (
        f"{opening} {each.confounder} could move it by {found.bound():.3g} at most; to reach "
        f"{goal} it would have to be {times:.2g} times as strong; "
        f"{whole} ({shares})."
    )
