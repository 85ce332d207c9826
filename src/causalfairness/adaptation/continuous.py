"""Columns of many values: a line, a spread that depends on the causes, and a shape.

    v = m_g(x) + s(x) e,      moved v = m_0(x') + s(x') T(e),

with m_g the form's value in group g, log s linear in the causes, and e of one shape in all groups
(then T(e) = e) or of a shape of its own in each: then T joins the quantiles of group and reference
by straight lines and goes on beyond them with the ratio of the paces of their tails. A common shape
is never left through ranks, since these hold no more than the outermost quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.forms import Form, Sample, pulled, ridge
from causalfairness.adaptation.grid import GridDistribution, tail_paces
from causalfairness.adaptation.learner import Array, Codes
from causalfairness.adaptation.linear import LEVELS

OWN = 30.0  # penalty of slopes of single groups: a few rows lean on the others
LEAST = 0.02  # of the residuals' spread: keeps logarithms of small ones finite
FEWEST = 50  # rows of a group that has a shape of its own
JUDGED = np.arange(1, 20) / 20  # levels of the loss
AT = np.searchsorted(LEVELS, JUDGED - 1e-9)


@dataclass(frozen=True, eq=False)
class Continuous:
    """A line for each group, a spread, and the quantiles of what remains, group by group."""

    slopes: Array
    spread: Array  # slopes of the logarithm of s
    bounds: tuple[float, float]  # of that logarithm
    line: NDArray[np.intp]
    shapes: Array  # (groups, levels)

    def rank(self, design: Array, values: Array, group: Codes) -> Array:
        """The share of people alike that has a lower value."""
        middle, spread = self._at(design)
        return self._shapes().rank(group, (values - middle) / spread)

    def quantile(self, design: Array, ranks: Array, group: Codes) -> Array:
        """The value that has this place among people alike."""
        middle, spread = self._at(design)
        return middle + spread * self._shapes().quantile(group, ranks)

    def moved(self, design: Array, values: Array, group: Codes, after: Array) -> Array:
        """What the values would be with the reference group's design `after`."""
        middle, spread = self._at(design)
        rest = (values - middle) / spread
        for code, shape in enumerate(self.shapes):
            if (shape != self.shapes[0]).any():
                here = group == code
                rest[here] = _joined(rest[here], shape, self.shapes[0])
        middle, spread = self._at(after)
        return middle + spread * rest

    def losses(self, design: Array, values: Array, group: Codes) -> Array:
        """How far the quantiles are off, by the check loss, row by row."""
        middle, spread = self._at(design)
        shapes = self.shapes[group][:, AT]
        return check_loss(values, middle[:, None] + spread[:, None] * shapes)

    def _at(self, design: Array) -> tuple[Array, Array]:
        """The line and the spread of each row."""
        logs = np.clip(design[:, self.line] @ self.spread, *self.bounds)
        return design @ self.slopes, np.exp(logs)

    def _shapes(self) -> GridDistribution:
        """The distribution of e, given the group."""
        return GridDistribution(LEVELS, lambda group: self.shapes[group])


def fit_continuous(sample: Sample, form: Form, rows: NDArray[np.bool_], own: bool) -> Continuous:
    """The form fitted to these rows; with `own` large groups have a shape of their own."""
    design, values, group = sample.designs[form][rows], sample.values[rows], sample.group[rows]
    line = sample.basis.line
    penalties = pulled(design.shape[1])
    penalties[sample.basis.own(form)] = OWN
    slopes = ridge(design, values, penalties)
    rest = values - design @ slopes
    least = LEAST * float(rest.std()) or 1.0
    logs = np.log(np.abs(rest) + least)
    spread = ridge(design[:, line], logs, pulled(len(line)))
    fitted = design[:, line] @ spread
    low, high = np.quantile(fitted, [0.01, 0.99])
    e = rest / np.exp(np.clip(fitted, low, high))
    shapes = np.tile(np.quantile(e, LEVELS), (sample.basis.groups, 1))
    if own:
        for code in np.flatnonzero(np.bincount(group) >= FEWEST):
            shapes[code] = np.quantile(e[group == code], LEVELS)
    return Continuous(slopes, spread, (float(low), float(high)), line, shapes)


def _joined(values: Array, own: Array, reference: Array) -> Array:
    """Where values between quantiles of one shape lie between those of the other."""
    inside = np.interp(values, own, reference)
    paces = [tail_paces(shape[None], LEVELS) for shape in (reference, own)]
    below, above = (float(to[0] / of[0]) for to, of in zip(*paces, strict=True))
    inside += below * np.minimum(values - own[0], 0) + above * np.maximum(values - own[-1], 0)
    return inside


def check_loss(values: Array, quantiles: Array) -> Array:
    """The mean check loss of quantiles at the levels judged, row by row."""
    off = values[:, None] - quantiles
    return np.asarray(np.mean(np.maximum(JUDGED * off, (JUDGED - 1) * off), axis=1))
