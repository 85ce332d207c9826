"""What are the world means, given models of the nuisances?

    mu[i, j, k] = mean over group k of nu_ij
                + weighted mean over group j of Q_i - nu_ij      weights P(c | k) / P(c | j)
                + weighted mean over group i of y - Q_i          times P(m | j, c) / P(m | i, c)

Errors in the models matter only through their products. Weights are density ratios, with mean 1
in the group they weight whatever the group's size; they are clipped, then normalised to sum to the
group. The spread of each term is that of a ratio of sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Remainder
from causalfairness.effects.second_moments import SecondMoments, StageArrays, second_moments
from causalfairness.effects.world_means import pool
from causalfairness.errors import OverlapError, SmallGroupError, WeightError
from causalfairness.estimators.correction import World, missed_by, subtracted
from causalfairness.estimators.learners import FLOOR
from causalfairness.estimators.nuisance import Nuisance, Sample
from causalfairness.estimators.remainder import WeightedTerm
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import detectable_effect, difference_error, effective_size
from causalfairness.tables.groups import ROLES

Array = NDArray[np.float64]
EVEN = 0.25  # of its rows a group counts for at least, where it overlaps and is only small
MOST_REPEATED = 0.4  # of rows that are copies; with more, models have seen nearly everybody
FEWEST_DISTINCT = 30  # people, below whom columns are coarse rather than rows copied


@dataclass(frozen=True)
class Guard:
    """When is a weighted mean still about a group, and not about a few of its rows?

    Weights above `clip` times the average are cut there; by default sqrt(n) log(n) / 5 with n the
    rows of the weighted group, at least 10, which grows too slowly for one row to dominate and fast
    enough to vanish from the answer. What then remains is refused if the rows count for fewer than
    `least_effective`, if one row makes up more than `most_of_one`, or if the weights average less
    than `least_average`: a density ratio averages 1 over its group, and one that does not looks
    for people who are not there.
    """

    clip: float | None = None
    least_effective: float = 15.0
    most_of_one: float = 0.25
    least_average: float = 0.5
    called: str = "reference against comparison group"

    @classmethod
    def of(cls, clip: float | None, model: StandardFairnessModel) -> Guard:
        """Which guard speaks of these groups?"""
        reference, comparison = model.reference_label, model.comparison_label
        return cls(clip, called=f"reference group {reference!r}, comparison group {comparison!r}")

    def level(self, rows: int) -> float:
        """At what multiple of the average are weights cut in a group of this size?"""
        if self.clip is not None:
            return self.clip
        return max(10.0, float(np.sqrt(rows) * np.log(max(rows, 2)) / 5))


class Strain(NamedTuple):
    """How much is asked of one group's rows in one world?"""

    world: tuple[int, int, int]
    group: int
    rows: int
    effective: float
    largest: float
    average: float  # of the weights before they are normalised; 1 where the groups overlap
    level: float
    clipped: float  # share of rows
    heaviest: int  # the row that counts most


class OneStep(NamedTuple):
    """What are the twelve means, their spreads over rows, and the strain on overlap?"""

    values: Array  # (2, 2, 3)
    spreads: Array  # (2, 2, 3, n)
    counts: Array  # (2, 2, 3, n): what the outcome of a row counts in a mean
    strains: tuple[Strain, ...]
    second_moments: SecondMoments
    missed: tuple[Remainder, ...]  # subtracted from the values
    errors: Array  # (2, 2, 3, 8), of what was subtracted


def density_ratio(p: Array, share: Array, *, to: int, of: int) -> Array:
    """How much more common are a row's values in group `to` than in group `of`?

    By Bayes' rule, from the chance `p` of each group given the values, (2, n), and the groups'
    shares. It averages 1 over group `of`.

    >>> density_ratio(np.array([[0.2], [0.8]]), np.array([0.5, 0.5]), to=1, of=0).round(6).tolist()
    [4.0]
    """
    if to == of:
        return np.ones(p.shape[1])
    p = np.maximum(p, FLOOR)
    return np.asarray(p[to] / p[of] * (share[of] / share[to]))


def weigh(
    ratio: Array,
    weights: Array,
    inside: NDArray[np.bool_],
    world: tuple[int, int, int],
    group: int,
    guard: Guard,
) -> tuple[Array, Strain]:
    """How much does each row of a group count in a world, and how much is asked of them?

    `weights` are the rows' own, `inside` says who is in the group, `ratio` is cut by the guard.
    """
    level = guard.level(int(inside.sum()))
    counted = weights * inside * np.minimum(ratio, level)
    total = counted.sum()
    strain = Strain(
        world=world,
        group=group,
        rows=int(np.sum(weights[inside] > 0)),
        effective=float(total**2 / (counted @ counted)) if total > 0 else 0.0,
        largest=float(counted.max() / total) if total > 0 else 1.0,
        average=float(total / weights[inside].sum()),
        level=level,
        clipped=float(np.mean(ratio[inside] > level)),
        heaviest=int(np.argmax(counted)),
    )
    return counted, strain


def one_step(sample: Sample, nuisance: Nuisance, guard: Guard, seed: int = 0) -> OneStep:
    """What are the world means, less what the models miss?

    First-order errors of the models cancel. Of products of errors what is linear in the columns is
    subtracted; `seed` picks the people around whom smooth functions look for the rest.
    """
    terms = _Terms(sample, nuisance, guard)
    values, (spreads, counts) = np.empty((2, 2, 2)), np.empty((2, 2, 2, 2, len(sample)))
    strains: list[Strain] = []
    for i, j, k in product((0, 1), repeat=3):
        values[i, j, k], spreads[i, j, k], counts[i, j, k] = terms.mean(i, j, k, strains)
    share = float(terms.share[1])
    share_spread = terms.weights * (sample.group - share) / terms.weights.sum()
    missed = missed_by(sample, terms.found, seed)
    values, errors = subtracted(values, missed)
    pooled = pool(values, spreads, share, share_spread)
    further = pool(np.zeros_like(values), errors, share, np.zeros(errors.shape[-1]))[1]
    counted = pool(values, counts, share, np.zeros(len(sample)))[1]
    moments = second_moments(
        stage_arrays(sample, nuisance, guard),
        counted_in_groups(sample),
        without_mediators=not sample.has_mediators,
    )
    return OneStep(*pooled, counted, tuple(strains), moments, missed, further)


def counted_in_groups(sample: Sample) -> Array:
    """How much does a row count in each group? (2, n), with a total of 1."""
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    return np.asarray(weights * (sample.group == np.array([[0], [1]])) / weights.sum())


def stage_arrays(sample: Sample, nuisance: Nuisance, guard: Guard) -> StageArrays:
    """What does each row count, and what do the models leave unexplained of it? (methods §12)

    Weights are cut as those of the means are, and average 1 over all rows.
    """
    terms = _Terms(sample, nuisance, guard)
    weights = np.stack([terms.alpha(*world) for world in product((0, 1), repeat=3)])
    own = np.stack([nuisance.nested[g, g] for g in (0, 1)])
    left = sample.outcome - nuisance.outcome
    rest = nuisance.outcome - np.swapaxes(nuisance.nested, 0, 1)  # by j, then i
    whole = sample.outcome - own
    if sample.known is not None:  # the prediction is what the model says: nothing is left
        left, whole = np.zeros_like(left), nuisance.outcome - own
        if not sample.has_mediators:
            rest, whole = np.zeros_like(rest), left  # plain averages of the model are exact
    return StageArrays(weights.reshape(2, 2, 2, -1), left**2, rest, whole**2)


@dataclass(frozen=True, eq=False)
class _Terms:
    """The three terms of a world mean, each a value, a spread over rows, and what rows count."""

    sample: Sample
    nuisance: Nuisance
    guard: Guard
    found: dict[tuple[World, int], WeightedTerm] = field(default_factory=dict)

    def _among(self, group: int) -> Array:
        counted = self.weights * (self.sample.group == group)
        return np.asarray(counted / counted.sum())

    def _stood_for(self, world: World, group: int) -> Array:
        """The rows whom those of a group are made to resemble."""
        _, j, k = world
        if group == j:
            return self._among(k)
        inside = self.sample.group == j
        counted, _ = weigh(self._ratio_c(j, k), self.weights, inside, world, j, self.guard)
        return np.asarray(counted / counted.sum())

    @cached_property
    def weights(self) -> Array:
        given = self.sample.weights
        return np.ones(len(self.sample)) if given is None else given

    @cached_property
    def share(self) -> Array:
        return np.bincount(self.sample.group, self.weights) / float(self.weights.sum())

    def mean(self, i: int, j: int, k: int, strains: list[Strain]) -> _Term:
        """The last term weighs outcomes; of a known model people are all there is to count."""
        known = self.sample.known
        if not self.sample.has_mediators:
            if known is not None:  # exact: nothing else is told
                found = self._average(known[i], k)
                alike = not self.sample.has_confounders
                return found._replace(counts=np.zeros(len(self.sample))) if alike else found
            j = i  # there is nobody to tell j
        if not self.sample.has_confounders:
            k = j  # the groups do not differ in anything that k decides
        world = (i, j, k)
        y = self.sample.outcome if known is None else known[i]
        q = y if i == j else self.nuisance.outcome[i]  # for i = j the first residual cancels
        if j == k:
            parts = [self._average(q, k)]
        else:
            nu = self.nuisance.nested[i, j]
            residual = self._weighted(q - nu, self._ratio_c(j, k), world, j, strains)
            parts = [self._average(nu, k), residual]
        if i != j and known is None:
            ratio = self._ratio_m(i, j) * self._ratio_c(j, k)
            parts.append(self._weighted(y - q, ratio, world, i, strains))
        counts = parts[-1 if known is None else 0].counts
        return _Term(sum(p.value for p in parts), np.sum([p.spread for p in parts], axis=0), counts)

    def alpha(self, i: int, j: int, k: int) -> Array:
        """What a row of group i counts in mu[i, j, k], with mean 1 over all rows."""
        inside = self.sample.group == i
        ratio = self._ratio_m(i, j) * self._ratio_c(j, k)
        counted = inside * np.minimum(ratio, self.guard.level(int(inside.sum())))
        return np.asarray(counted * (self.weights.sum() / (self.weights @ counted)))

    def _ratio_c(self, j: int, k: int) -> Array:
        """P(c | k) / P(c | j): mean 1 over group j."""
        return density_ratio(self.nuisance.p_c, self.share, to=k, of=j)

    def _ratio_m(self, i: int, j: int) -> Array:
        """P(m, c | j) / P(m, c | i): mean 1 over group i, also after times `_ratio_c(j, k)`."""
        return density_ratio(self.nuisance.p_mc, self.share, to=j, of=i)

    def _average(self, values: Array, k: int) -> _Term:
        return _ratio_of_sums(values, self.weights * (self.sample.group == k))

    def _weighted(
        self,
        values: Array,
        ratio: Array,
        world: tuple[int, int, int],
        group: int,
        strains: list[Strain],
    ) -> _Term:
        inside = self.sample.group == group
        weights, strain = weigh(ratio, self.weights, inside, world, group, self.guard)
        refuse_if_strained(strain, self.guard, self.sample, unseen=True)
        strains.append(strain)
        resembled = self._stood_for(world, group)
        self.found[world, group] = WeightedTerm(
            weights / weights.sum(), self._among(group), resembled, values
        )
        return _ratio_of_sums(values, weights)


class _Term(NamedTuple):
    """A weighted mean, its spread over rows, and what each row counts in it."""

    value: float
    spread: Array
    counts: Array


def _ratio_of_sums(values: Array, weights: Array) -> _Term:
    total = weights.sum()
    mean = float(weights @ values / total)
    return _Term(mean, weights * (values - mean) / total, weights / total)


def refuse_if_strained(strain: Strain, guard: Guard, sample: Sample, *, unseen: bool) -> None:
    """Is too much asked of a group's rows? What is refused is the first cause that is there.

    A group too small, rows that weigh much by themselves, rows that repeat (which matters only to
    models that are to judge `unseen` people), and groups that hardly overlap look alike by their
    weights, and are mended in four ways.
    """
    alone = strain.rows < guard.least_effective
    lost = strain.average < guard.least_average
    few = strain.effective < guard.least_effective or strain.largest > guard.most_of_one
    if not (alone or lost or few):
        return
    own, other = ROLES[strain.group], ROLES[1 - strain.group]
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    inside, plain = sample.group == strain.group, np.ones(len(sample))
    as_given = weigh(plain, weights, inside, strain.world, strain.group, Guard(np.inf))[1]
    enough, share = guard.least_effective, strain.effective / strain.rows
    who = f"({guard.called})"
    if not alone and (
        as_given.largest > guard.most_of_one or as_given.effective < min(enough, 0.5 * strain.rows)
    ):
        typical = as_given.largest * weights[inside].sum() / np.median(weights[inside])
        raise WeightError(
            f"by their own weights, before anything is compared, the {strain.rows:,} rows of the "
            f"{own} group count for only {as_given.effective:.1f} (at least {enough:g} are asked "
            f"for): one row weighs {typical:,.0f} times as much as the median one and makes up "
            f"{as_given.largest:.0%} of its group. Check the column of weights, or trim it {who}"
        )
    if alone or (few and (strain.rows < 2 * enough or (share >= EVEN and not lost))):
        raise SmallGroupError(
            f"the {own} group has only {strain.rows} rows, too few to be weighted: made like the "
            f"{other} group they count for {strain.effective:.1f}, and {enough:g} are needed. "
            f"{_seen_by(sample, weights)}. Pool it with another or bring more people {who}"
        )
    both = np.column_stack([sample.group, sample.confounders, sample.mediators])
    alike = np.all(both[:, 1:] == both[strain.heaviest, 1:], axis=1)
    if unseen and (repeated := _repeated(both, sample.outcome)) > MOST_REPEATED:
        raise OverlapError(
            f"{repeated:.0%} of the rows are copies of others in group, confounders, mediators and "
            f"outcome (the row that counts most comes {int(alike.sum())} times): models have seen "
            "the copies of people they are to judge, and weights say nothing about overlap. Bring "
            f"everybody once, with a column of weights that says for how many they stand {who}"
        )
    found = (
        f"hardly anyone in the {own} group resembles the {other} group: weights that would make it "
        f"do so average {strain.average:.2g}, where 1 is expected"
        if lost
        else f"weighted to resemble the {other} group, the {strain.rows:,} rows of the {own} group "
        f"count for only {strain.effective:.1f} (at least {enough:g} are asked for), and one row "
        f"makes up {strain.largest:.0%} of the mean"
    )
    others, counterparts = alike[inside].sum() - 1, alike[~inside].sum()
    raise OverlapError(
        f"{found}: the groups hardly overlap. The row that counts most weighs "
        f"{strain.largest * strain.rows:,.0f} times the average; its confounders and mediators are "
        f"those of {others:,} others in its group and of {counterparts:,} in the other. Leave out "
        "columns that all but reveal the group, restrict the question to where both groups are "
        f"seen (Strata(empty_cells='restrict')), or choose a less extreme model of the group {who}"
    )


def _repeated(people: Array, outcome: Array) -> float:
    """What share of rows are copies? None, where people who are alike in columns differ in outcome:
    then columns are coarse, and nobody is there twice."""
    of_row, times = np.unique(people, axis=0, return_inverse=True, return_counts=True)[1:]
    told = np.column_stack([of_row.reshape(-1), outcome])
    if len(np.unique(told, axis=0)) > len(times) or len(times) < FEWEST_DISTINCT:
        return 0.0
    return float(1 - len(times) / len(people))


def _seen_by(sample: Sample, weights: Array) -> str:
    """Which difference of means would so few people show?"""
    rows, variances = [], []
    for role in (0, 1):
        own, w = sample.outcome[sample.group == role], weights[sample.group == role]
        rows.append(float(effective_size(w.sum(), w @ w)))
        variances.append(float(own.var()))
    least = detectable_effect(difference_error(variances, rows))
    return (
        f"Between {rows[0]:,.0f} and {rows[1]:,.0f} people even a plain gap is distinguished "
        f"from zero four times in five only if it is {least:.2g} or more"
    )
