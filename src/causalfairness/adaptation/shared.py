"""Conditional distributions whose shape all groups share, as far as the data let them.

Groups are learned together: a group apart pulls its quantiles to its own middle. Eight candidates
race on held-out loss, four forms (`forms`), each with one shape for all groups or one for each; of
columns with few values the four forms (`discrete`). The first one within a standard error of the
lowest loss is fitted to all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.continuous import Continuous, fit_continuous
from causalfairness.adaptation.discrete import Discrete, fit_discrete, judged_cuts
from causalfairness.adaptation.forms import FOLDS, Form, ReferenceBasis, Sample, sample_of
from causalfairness.adaptation.learner import Array, Codes
from causalfairness.adaptation.steps import cells, choose_cuts

MOST_VALUES = 32  # of a column that counts as discrete
COVERED = 0.9  # of the rows, by as many values

Fitted = Continuous | Discrete


@dataclass(frozen=True)
class SharedQuantiles:
    """Groups share the shape of a column's distribution given its causes, unless data say no.

    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 900)
    >>> cause = rng.normal(size=(900, 1)) + group[:, None]
    >>> noise = rng.normal(size=900)
    >>> values = cause[:, 0] + 2 * group + noise
    >>> found = SharedQuantiles().fit(cause, values, group, edges=np.sort(values), seed=0)
    >>> moved = found.moved(values, cause, group, cause)
    >>> found.chosen, bool(np.abs(moved - cause[:, 0] - noise).max() < 0.3)
    ('line', True)
    """

    def fit(
        self, causes: Array, values: Array, group: Codes, *, edges: Array, seed: int
    ) -> SharedDistribution:
        """How values are distributed given causes and group; group 0 is the reference."""
        return race(sample_of(causes, values, group, seed), edges).winner()


class Candidate(NamedTuple):
    """A form, what fits it to rows, and what fits it as far as its loss is concerned."""

    name: str
    form: Form
    fit: Callable[[NDArray[np.bool_]], Fitted]
    judge: Callable[[NDArray[np.bool_]], Fitted]


@dataclass(frozen=True, eq=False)
class SharedDistribution:
    """How values are distributed given causes and group."""

    chosen: str
    basis: ReferenceBasis
    form: Form
    fitted: Fitted

    def rank(self, causes: Array, values: Array, group: Codes) -> Array:
        """The share of people alike that has a lower value."""
        return self.fitted.rank(self.basis.design(self.form, causes, group), values, group)

    def quantile(self, causes: Array, ranks: Array, group: Codes) -> Array:
        """The value that has this place among people alike."""
        return self.fitted.quantile(self.basis.design(self.form, causes, group), ranks, group)

    def moved(self, values: Array, causes: Array, group: Codes, causes_to: Array) -> Array:
        """What values would be in the reference group with other causes."""
        before = self.basis.design(self.form, causes, group)
        after = self.basis.design(self.form, causes_to, np.zeros_like(group))
        return self.fitted.moved(before, values, group, after)


@dataclass(frozen=True, eq=False)
class Race:
    """Candidates, and what each loses on rows that it has not seen."""

    sample: Sample
    candidates: tuple[Candidate, ...]
    losses: Array  # (candidates, rows)
    cuts: Array | None  # next to which losses are counted; None where it is at levels

    @property
    def first(self) -> int:
        """The first candidate within a standard error of the lowest loss."""
        means = self.losses.mean(axis=1)
        beyond = self.losses - self.losses[means.argmin()]
        close = beyond.mean(axis=1) <= beyond.std(axis=1) / np.sqrt(self.losses.shape[1])
        return int(close.argmax())

    def winner(self) -> SharedDistribution:
        """The candidate that won, fitted to all rows."""
        name, form, fit, _ = self.candidates[self.first]
        everyone = np.ones(len(self.sample.values), dtype=bool)
        return SharedDistribution(name, self.sample.basis, form, fit(everyone))

    def ranks(self) -> Array:
        """The place of each row by the winner, fitted to rows of other folds."""
        one = self.candidates[self.first]
        return _held_out(self.sample, one.form, one.fit, "rank")


def race(sample: Sample, edges: Array) -> Race:
    """What each candidate loses on rows that it has not seen."""
    if is_discrete(edges, sample.values):
        cuts = choose_cuts(edges, sample.values, MOST_VALUES)
        few = judged_cuts(cuts, sample.values)
        judged, candidates = few[1:-1], tuple(_discrete(sample, cuts, few))
    else:
        judged, candidates = None, tuple(_continuous(sample))
    losses = [_held_out(sample, one.form, one.judge, "losses") for one in candidates]
    return Race(sample, candidates, np.array(losses), judged)


def is_discrete(edges: Array, values: Array) -> bool:
    """Whether a few values, shared by several rows each, make up nearly all rows."""
    rows = np.bincount(cells(edges, values))
    most = np.sort(rows)[-MOST_VALUES:].sum()
    shared = 2 <= np.count_nonzero(rows) <= len(values) / 2
    return bool(shared and most >= COVERED * len(values))


def _continuous(sample: Sample) -> Iterator[Candidate]:
    for form in sample.designs:
        for own in (False, True)[: sample.basis.groups]:
            fit = partial(fit_continuous, sample, form, own=own)
            yield Candidate(form.name + (", own shapes" if own else ""), form, fit, fit)


def _discrete(sample: Sample, cuts: Array, few: Array) -> Iterator[Candidate]:
    for form in sample.designs:
        fit = partial(fit_discrete, sample, form)
        yield Candidate(form.name, form, partial(fit, cuts=cuts), partial(fit, cuts=few))


def _held_out(
    sample: Sample, form: Form, fit: Callable[[NDArray[np.bool_]], Fitted], what: str
) -> Array:
    """Losses or ranks of all rows, by what was fitted to the rows of other folds."""
    found = np.empty(len(sample.values))
    for left_out in range(FOLDS):
        rows = sample.fold == left_out
        fitted = fit(~rows)
        told = sample.designs[form][rows], sample.values[rows], sample.group[rows]
        found[rows] = fitted.losses(*told) if what == "losses" else fitted.rank(*told)
    return found
