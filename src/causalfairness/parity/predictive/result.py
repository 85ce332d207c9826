"""What was found about a score in two groups? The gap at equal scores, and what it is made of.

    ppm            = E[y | a1, bin] - E[y | a0, bin]
    causal         = E[y | a1, bin] - E[y_{a0} | a1, bin]          (Term I)
    reverse_causal = E[y_{a0} | a1, bin] - E[y | a0, bin]          (Term II)
    drift          = E[score | a1, bin] - E[score | a0, bin]

    integrated           mean over bins with both groups of  gap(bin)
    integrated_absolute  mean over the same bins of         |gap(bin)|

Gaps of opposite sign cancel in the first. The second never does, and is too large on average: noise
alone makes gaps, and their sizes add up. `noise_alone` says what it would be if there were no gap
at any score. All are the comparison group minus the reference group, and causal + reverse_causal is
ppm in every bin.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis, Diagnostics, Effect, EffectTable
from causalfairness.effects.table import as_pandas, as_polars, as_section, decimals
from causalfairness.inference import Bounds, wilson_interval
from causalfairness.inference.intervals import normal_reach

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
ROUNDING = 1e-12  # relative size below which two means differ by rounding only
MEANINGS = {
    "ppm": "mean outcome at equal scores, comparison minus reference",
    "causal": "Term I: what the group itself does to the outcomes of the comparison group",
    "reverse_causal": "Term II: who of the two groups gets the same score",
    "drift": "mean score within bins, comparison minus reference",
}


class ScoreBin(NamedTuple):
    """From which score to which does a bin reach, and how many people of each group are in it?

    >>> ScoreBin(0.2, 0.3, 12, 40).is_compared
    True
    """

    low: float
    high: float
    reference: int
    comparison: int

    @property
    def is_compared(self) -> bool:
        """Are there people of both groups?"""
        return self.reference > 0 and self.comparison > 0


@dataclass(frozen=True, eq=False, repr=False)
class BinnedGap:
    """How large is a gap at equal scores?

    `values` holds one number per bin, NaN where a group has nobody, and `spreads` the replicates.

    >>> basis = Basis("3f9a", "replicates")
    >>> gap = BinnedGap("ppm", "the gap", np.array([0.1, -0.3]), np.zeros((2, 4)), basis)
    >>> round(gap.integrated.value, 3), round(gap.integrated_absolute.value, 3)
    (-0.1, 0.2)
    >>> print(gap.by_bin[1])
    ppm in bin 2 = -0.3000 (95% interval -0.3000 to -0.3000)
    >>> gap
    mean over 2 of 2 bins: ppm = -0.1000 (95% interval -0.1000 to -0.1000)
    """

    name: str
    meaning: str
    values: Array  # (bins,)
    spreads: Array  # (bins, replicates)
    basis: Basis
    assumptions: frozenset[str] = frozenset()
    freedom: float = math.inf  # of standard errors
    rows_alone: bool = False  # do spreads leave out how a model was fitted?

    @property
    def compared(self) -> Mask:
        """Which bins have people of both groups?"""
        return ~np.isnan(self.values)

    @property
    def by_bin(self) -> tuple[Effect | None, ...]:
        """How large is it in each bin? None where a group has nobody."""
        return tuple(
            self._effect(f"{self.name} in bin {at + 1}", value, spread) if there else None
            for at, (value, spread, there) in enumerate(
                zip(self.values, self.spreads, self.compared, strict=True)
            )
        )

    @cached_property
    def integrated(self) -> Effect:
        """How large is it on average over bins? Signs may cancel."""
        there = self.compared
        return self._effect(self.name, self.values[there].mean(), self.spreads[there].mean(axis=0))

    @cached_property
    def integrated_absolute(self) -> Effect:
        """How large is it on average, whichever its sign? Too large by chance, see `lift`."""
        value = float(np.abs(self.values[self.compared]).mean())
        sizes = self._sizes
        spread = (sizes - sizes.mean()) / np.sqrt(len(sizes) - 1)
        return self._effect(f"absolute_{self.name}", value, spread)

    @property
    def lift(self) -> float:
        """By how much do replicates exceed the mean size? About what noise adds to it."""
        return float(self._sizes.mean() - np.abs(self.values[self.compared]).mean())

    @property
    def noise_alone(self) -> float:
        """What would the mean size be, if there were no gap in any bin?"""
        return float(np.abs(self._moved).mean())

    @cached_property
    def _moved(self) -> Array:
        return np.asarray(self.spreads[self.compared] * np.sqrt(self.spreads.shape[1] - 1))

    @cached_property
    def _sizes(self) -> Array:
        """The mean size in each replicate."""
        moved = self.values[self.compared, None] + self._moved
        return np.asarray(np.abs(moved).mean(axis=0))

    def __repr__(self) -> str:
        there = f"{int(self.compared.sum())} of {len(self.values)} bins"
        return f"mean over {there}: {self.integrated}"

    def _effect(self, name: str, value: float, spread: Array) -> Effect:
        return Effect(
            *(name, float(value), spread, self.basis, self.assumptions),
            freedom=self.freedom,
            rows_alone=self.rows_alone,
        )


@dataclass(frozen=True, eq=False)
class PredictiveParity:
    """Does a score mean the same in both groups, and what is the difference made of?

    `ppm`, `causal`, `reverse_causal` and `drift` hold one effect per bin, their mean, and their
    mean size. The two terms are None where nobody said what outcomes would have been. All effects
    are on one basis: add them, subtract them, ask each for its `interval(level)`.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.curved()
    >>> data, otherwise = world.draw_with_counterfactuals(2_000, seed=0, frame="pandas")
    >>> data = data.assign(score=data["w1"], y_blue=otherwise["y"])
    >>> model = cf.StandardFairnessModel(
    ...     protected="group", reference="blue", comparison="green", mediators=["w1", "w2"],
    ...     outcome="y", prediction="score")
    >>> found = cf.decompose_predictive_parity(data, model, counterfactual="y_blue", bins=5)
    >>> both = found.causal.integrated + found.reverse_causal.integrated
    >>> bool(abs(both.value - found.ppm.integrated.value) < 1e-12), len(found.bins)
    (True, 5)
    """

    what: str
    score: str
    reference: str
    comparison: str
    bins: tuple[ScoreBin, ...]
    means: Array  # (2 or 3, 2, bins): outcome, score and, where known, y_{a0}
    spreads: Array  # (2 or 3, 2, bins, replicates)
    effective: Array  # (2, bins)
    is_binary: bool
    basis: Basis
    diagnostics: Diagnostics
    freedom: float = math.inf  # of standard errors
    rows_alone: bool = False  # do those of the terms leave out how a model was fitted?

    @cached_property
    def ppm(self) -> BinnedGap:
        """How far apart are mean outcomes of the two groups at equal scores?"""
        return self._gap("ppm", (0, 1), (0, 0))

    @cached_property
    def drift(self) -> BinnedGap:
        """How far apart are the mean scores of the two groups within a bin?"""
        return self._gap("drift", (1, 1), (1, 0))

    @cached_property
    def causal(self) -> BinnedGap | None:
        """How much higher are outcomes of the comparison group than in the other world? Term I."""
        return self._gap("causal", (0, 1), (2, 1)) if len(self.means) > 2 else None

    @cached_property
    def reverse_causal(self) -> BinnedGap | None:
        """How far apart would the groups be at equal scores in that world? Term II."""
        return self._gap("reverse_causal", (2, 1), (0, 0)) if len(self.means) > 2 else None

    @property
    def gaps(self) -> tuple[BinnedGap, ...]:
        """What is known at each score? The gap, its terms if there are any, and the drift."""
        every = (self.ppm, self.causal, self.reverse_causal, self.drift)
        return tuple(gap for gap in every if gap is not None)

    @property
    def compared(self) -> int:
        """How many bins have people of both groups?"""
        return sum(each.is_compared for each in self.bins)

    def mean_outcomes(self, level: float = 0.95) -> tuple[Array, Bounds]:
        """What is the mean outcome per group and bin, and which means fit the data? (2, bins)

        Wilson intervals for shares, else normal ones; NaN where there is nobody.
        """
        means, errors = self.means[0], np.linalg.norm(self.spreads[0], axis=-1)
        reach = normal_reach(level, self.freedom)
        low, high = means - reach * errors, means + reach * errors
        if self.is_binary:
            size = self.effective
            low, high = wilson_interval(np.nan_to_num(means) * size, size, level)
        empty = np.isnan(means)
        return means, Bounds(np.where(empty, np.nan, low), np.where(empty, np.nan, high))

    @property
    def mean_scores(self) -> Array:
        """What is the mean score per group and bin? (2, bins), NaN where there is nobody."""
        return np.asarray(self.means[1])

    def summary(self, level: float = 0.95) -> EffectTable:
        """What is found on average over bins: signed first, then whichever the sign?"""
        return self._tabulate([*_integrated(self.gaps)], level)

    def table(self, level: float = 0.95) -> EffectTable:
        """What is found on average, and in every bin with both groups?

        >>> import causalfairness as cf
        >>> model = cf.StandardFairnessModel(
        ...     protected="sex", reference="Male", comparison="Female",
        ...     outcome="two_year_recid", prediction="decile_score")
        >>> found = cf.decompose_predictive_parity(cf.datasets.load_compas(), model)
        >>> found.table().names[:5]
        ('ppm', 'drift', 'absolute_ppm', 'absolute_drift', 'ppm in bin 1')
        """
        within = [
            (effect, f"{gap.meaning}, {self.range_of(at)}")
            for gap in self.gaps
            for at, effect in enumerate(gap.by_bin)
            if effect is not None
        ]
        return self._tabulate([*_integrated(self.gaps), *within], level)

    def range_of(self, at: int) -> str:
        """Which scores does a bin hold, in words?"""
        low, high = self.bins[at].low, self.bins[at].high
        return f"{self.score} {low:.4g}" + ("" if low == high else f" to {high:.4g}")

    def to_records(self, level: float = 0.95) -> list[dict[str, Any]]:
        """What was found in each bin, as plain data? None where a group has nobody."""
        return [self._record(at, level) for at in range(len(self.bins))]

    def to_pandas(self, level: float = 0.95) -> Any:
        """What was found in each bin, as a pandas data frame?"""
        return as_pandas(self.to_records(level))

    def to_polars(self, level: float = 0.95) -> Any:
        """What was found in each bin, as a polars data frame?"""
        return as_polars(self.to_records(level))

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        return _sentences(self, level)

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
        return f"{self.what} at equal {self.score}: {self.comparison} against {self.reference}"

    def _gap(self, name: str, one: tuple[int, int], other: tuple[int, int]) -> BinnedGap:
        """A difference of two means; a bin is compared where all means are known."""
        there = np.array([each.is_compared for each in self.bins])
        apart = self.means[one] - self.means[other]
        moved = self.spreads[one] - self.spreads[other]
        size = np.maximum(np.abs(self.means[one]), np.abs(self.means[other]))
        real = np.maximum(np.abs(apart), np.abs(moved).max(axis=-1)) > ROUNDING * size
        values = np.where(there, np.where(real, apart, 0.0), np.nan)
        spreads = np.where((there & real)[:, None], moved, 0.0)
        is_term = "causal" in name
        rests = frozenset(self.diagnostics.assumptions if is_term else ())
        stated = (rests, self.freedom, self.rows_alone and is_term)
        return BinnedGap(name, MEANINGS[name], values, spreads, self.basis, *stated)

    def _tabulate(self, rows: list[tuple[Effect, str]], level: float) -> EffectTable:
        effects, meanings = zip(*rows, strict=True)
        return EffectTable(effects, meanings, level=level)

    def _record(self, at: int, level: float) -> dict[str, Any]:
        place = self.bins[at]
        record: dict[str, Any] = {"bin": at + 1, "score_from": place.low, "score_to": place.high}
        for group, people in enumerate((place.reference, place.comparison)):
            whose = ("reference", "comparison")[group]
            record[f"{whose}_people"] = people
            for name, means in (("outcome", self.means[0]), ("score", self.means[1])):
                record[f"{whose}_{name}"] = float(means[group, at]) if people else None
        for gap in self.gaps:
            effect = gap.by_bin[at]
            low, high = (None, None) if effect is None else effect.interval(level)
            record |= {
                gap.name: None if effect is None else effect.value,
                f"{gap.name}_low": low,
                f"{gap.name}_high": high,
            }
        return record


def _integrated(gaps: tuple[BinnedGap, ...]) -> Iterator[tuple[Effect, str]]:
    for gap in gaps:
        yield gap.integrated, f"{gap.meaning}; mean over bins"
    for gap in gaps:
        yield gap.integrated_absolute, f"{gap.meaning}; mean over bins of its size"


def _sentences(found: PredictiveParity, level: float) -> tuple[str, ...]:
    """What was found, one sentence per question?"""
    places = decimals((gap.integrated.standard_error for gap in found.gaps), least=3)
    said = [_gap(found, level, places), _size(found, places)]
    if found.causal is not None and found.reverse_causal is not None:
        causal, reverse = found.causal.integrated, found.reverse_causal.integrated
        said.append(
            f"Causal (Term I): outcomes of {found.comparison} are "
            f"{_signed(causal, level, places, 'what they would have been')} as {found.reference}."
        )
        said.append(
            f"Reverse-causal (Term II): had {found.comparison} been {found.reference}, their "
            f"outcomes would be {_signed(reverse, level, places, f'those of {found.reference}')} "
            f"with the same {found.score}."
        )
        if _apart(causal, level) and _apart(reverse, level) and causal.value * reverse.value < 0:
            kept = found.ppm.integrated.value
            said.append(
                f"The two terms have opposite signs: of {abs(causal.value):.{places}f} and "
                f"{abs(reverse.value):.{places}f} all but {abs(kept):.{places}f} cancels."
            )
    return tuple(said)


def _gap(found: PredictiveParity, level: float, places: int) -> str:
    gap, drift = found.ppm.integrated, found.drift.integrated
    bins = f"{found.compared} bin{'s' if found.compared > 1 else ''}"
    if one_sided := len(found.bins) - found.compared:
        bins += f" ({one_sided} more with people of one group only)"
    return (
        f"Gap: at equal {found.score}, mean {found.what} of {found.comparison} is "
        f"{_signed(gap, level, places, f'that of {found.reference}')}, on average over {bins}; "
        f"the drift of scores within bins is {drift.value:+.{places}f}."
    )


def _size(found: PredictiveParity, places: int) -> str:
    gap = found.ppm
    return (
        f"Size: whichever its sign, the gap of a bin is {gap.integrated_absolute.value:.{places}f} "
        f"on average, where noise alone would make it {gap.noise_alone:.{places}f}."
    )


def _signed(effect: Effect, level: float, places: int, than: str) -> str:
    """How much higher or lower, with what the data are consistent with."""
    low, high = effect.interval(level)
    if effect.value == 0 and effect.standard_error == 0:
        return f"the same as {than}"
    side = "higher" if effect.value > 0 else "lower"
    percent = f"{100 * level:.6g}% level"
    text = f"{abs(effect.value):.{places}f} {side} than {than} ({low:+.{places}f} to "
    text += f"{high:+.{places}f} at the {percent}"
    if low <= 0 <= high:
        text += f", consistent with no difference above {max(-low, high):.{places}f}"
    return f"{text})"


def _apart(effect: Effect, level: float) -> bool:
    low, high = effect.interval(level)
    return not low <= 0 <= high
