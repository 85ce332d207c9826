"""Columns of few values: the chance to lie below each cut, by logistic regressions on a form.

Chances that fall from one cut to the next are raised to what they were; inside a cell values lie
evenly. A value is moved by its rank: what has this place in the reference group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.forms import Form, Sample
from causalfairness.adaptation.learner import Array, Codes
from causalfairness.adaptation.steps import cells

REACH = 3.0  # standard deviations that regressions see
OWN = 0.4  # of slopes of single groups: a few rows lean on the others
FEWEST = 3  # rows on either side of a cut that has a regression
LEAST_RANK = 1e-6
JUDGED = np.arange(1, 6) / 6  # quantiles next to which cuts are judged


@dataclass(frozen=True, eq=False)
class Discrete:
    """The cuts, and a regression for each between the first and the last."""

    cuts: Array
    slopes: Array  # (columns, inner cuts)
    own: slice

    def below(self, design: Array) -> Array:
        """The chance to lie below each cut. (rows, cuts)"""
        chance = 1 / (1 + np.exp(-_seen(design, self.own) @ self.slopes))
        inner = np.maximum.accumulate(chance, axis=1)
        return np.column_stack([np.zeros(len(design)), inner, np.ones(len(design))])

    def rank(self, design: Array, values: Array, group: Codes) -> Array:
        """The share of people alike that has a lower value."""
        below, at = self.below(design), cells(self.cuts, values)
        rows = np.arange(len(at))
        low, high = below[rows, at], below[rows, at + 1]
        inside = (values - self.cuts[at]) / (self.cuts[at + 1] - self.cuts[at])
        return np.asarray(low + np.clip(inside, 0, 1) * (high - low))

    def quantile(self, design: Array, ranks: Array, group: Codes) -> Array:
        """The value that has this place among people alike."""
        below, rows = self.below(design), np.arange(len(ranks))
        asked = np.clip(ranks, LEAST_RANK, 1.0)
        at = np.minimum((below[:, 1:] < asked[:, None]).sum(axis=1), len(self.cuts) - 2)
        low, high = below[rows, at], below[rows, at + 1]
        inside = np.clip((asked - low) / np.maximum(high - low, LEAST_RANK), 0, 1)
        return np.asarray(self.cuts[at] + inside * (self.cuts[at + 1] - self.cuts[at]))

    def moved(self, design: Array, values: Array, group: Codes, after: Array) -> Array:
        """What the values would be with the reference group's design `after`."""
        return self.quantile(after, self.rank(design, values, group), group)

    def losses(self, design: Array, values: Array, group: Codes) -> Array:
        """How surprising the side of each cut is, row by row."""
        return log_losses(values, self.cuts[1:-1], self.below(design)[:, 1:-1])


def fit_discrete(sample: Sample, form: Form, rows: NDArray[np.bool_], cuts: Array) -> Discrete:
    """The form fitted to these rows, at these cuts; the first and the last have no regression."""
    own = sample.basis.own(form)
    seen, values = _seen(sample.designs[form][rows], own), sample.values[rows]
    slopes = [_regression(seen, values < cut) for cut in cuts[1:-1]]
    return Discrete(cuts, np.column_stack(slopes), own)


def judged_cuts(cuts: Array, values: Array) -> Array:
    """Up to five cuts between the first and the last, at sixths of the rows."""
    at = np.searchsorted(cuts, np.quantile(values, JUDGED))
    return cuts[np.r_[0, np.unique(np.clip(at, 1, len(cuts) - 2)), len(cuts) - 1]]


def log_losses(values: Array, cuts: Array, below: Array) -> Array:
    """The mean over cuts of what chances to lie below them lose, row by row."""
    chance = np.clip(below, 1e-12, 1 - 1e-12)
    lower = values[:, None] < cuts
    return np.asarray(-np.mean(np.where(lower, np.log(chance), np.log1p(-chance)), axis=1))


def _seen(design: Array, own: slice) -> Array:
    seen = np.clip(design, -REACH, REACH)
    seen[:, own] *= OWN
    return seen


def _regression(seen: Array, lower: NDArray[np.bool_]) -> Array:
    """Intercept and slopes; of a cut with hardly a row on one side the share alone."""
    from sklearn.linear_model import LogisticRegression

    slopes, count = np.zeros(seen.shape[1]), int(lower.sum())
    if min(count, len(lower) - count) < FEWEST or seen.shape[1] == 1:
        slopes[0] = np.log((count + 0.5) / (len(lower) - count + 0.5))
        return slopes
    model = LogisticRegression(C=1.0, solver="newton-cholesky").fit(seen[:, 1:], lower)
    return np.asarray(np.r_[model.intercept_, model.coef_[0]])
