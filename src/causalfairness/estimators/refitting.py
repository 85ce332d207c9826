"""How is a model fitted again and again, when only the weights of the rows change?

Linear and logistic models with a light penalty, on the columns and, where there are rows enough,
their squares, products and splines: their answers move smoothly with the weights, which is what the
bootstrap asks of a model. Columns are prepared once and each fit starts where the plain one ended.
Any other scikit-learn model is cloned and fitted anew.

    linear:    minimise  sum w (y - a - x b)^2 + |b|^2
    logistic:  minimise  sum w (log(1 + exp(a + x b)) - y (a + x b)) + |b|^2 / 2

over standardised columns x; the constant a is never penalised, so that fitted means are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from causalfairness.effects import LearnerLoss
from causalfairness.errors import LearnerError
from causalfairness.estimators.learners import (
    fit,
    is_classifier,
    last_step,
    loss_of,
    predict_mean,
)

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
MOST_COLUMNS = 200  # with squares and products; beyond, models stay plain
ROWS_PER_COLUMN = 10  # that the smaller side must have; with fewer, models stay plain
PENALTY = 1.0  # counts like one row
ROUNDING = 1e-12  # relative size below which a difference is none
SETTLED = 1e-24  # squared change of the log-odds, per row, at which a fit has ended
GOOD_ENOUGH = 1e-12  # the same where rounding allows no better
REUSE = 1e-4  # how far a step must have shrunk for its curvature to serve the next one
MOST_STEPS = 100
MOST_HALVINGS = 40


class Design(NamedTuple):
    """Which columns does a linear model see, standardised?"""

    columns: Array
    kind: str
    short_of_rows: bool = False  # fewer than ten for each column


def design_of(features: Array, rows: int, *, reach: float = np.inf) -> Design:
    """Which columns does a linear model see, if its smaller side has this many rows?

    All squares and products join the columns, and splines of those with more than eight values,
    unless that makes more than 200, or more than one for every ten rows; then squares and products
    alone, then squares, then none of these. Values further out than `reach` standard deviations
    are cut there. What follows from other columns is left out, such as the square of an indicator.

    >>> people = np.random.default_rng(0).normal(size=(50, 3))
    >>> [design_of(people, rows=rows).columns.shape[1] for rows in (240, 90, 89, 59)]
    [24, 9, 6, 3]
    """
    if features.shape[1] == 0:
        return Design(features, "plain mean")
    most = min(MOST_COLUMNS, rows / ROWS_PER_COLUMN)
    plain = np.clip(_standardized(features), -reach, reach)
    first, second = _informative_pairs(plain)
    square = first == second
    splines = _splines(plain) if plain.shape[1] + len(first) < most else plain[:, :0]
    if plain.shape[1] + len(first) + splines.shape[1] <= most and splines.shape[1]:
        kind = "linear with interactions and splines"
        design = _with_products(plain, first, second, kind)
        return design._replace(columns=np.hstack([design.columns, _standardized(splines)]))
    if plain.shape[1] + len(first) <= most:
        return _with_products(plain, first, second, "linear with interactions")
    if plain.shape[1] + square.sum() <= most:
        return _with_products(plain, first[square], first[square], "linear with squares")
    return Design(plain, "linear", plain.shape[1] > rows / ROWS_PER_COLUMN)


@dataclass(frozen=True, eq=False)
class LinearRefit:
    """Which plane lies closest to the targets?

    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> model = LinearRefit(Design(x, "linear"), np.arange(3))
    >>> model.predict(np.array([[0.0, 3.0, 6.0]]), np.ones(3)).tolist()
    [[1.0, 3.0, 5.0]]
    """

    design: Design
    rows: Positions

    is_parametric = True
    gives_chances = False

    @property
    def name(self) -> str:
        """What is the model called?"""
        return self.design.kind

    @cached_property
    def _own(self) -> Array:
        return self.design.columns[self.rows]

    def predict(self, targets: Array, weights: Array) -> Array:
        """What does the plane say about every row?"""
        w = weights[self.rows]
        share, root = w / w.sum(), np.sqrt(w)[:, None]
        center, level = share @ self._own, targets[:, self.rows] @ share
        scaled = (self._own - center) * root
        above = (targets[:, self.rows] - level[:, None]).T * root
        curvature = scaled.T @ scaled
        np.fill_diagonal(curvature, curvature.diagonal() + PENALTY)
        slopes = np.linalg.solve(curvature, scaled.T @ above)
        return np.asarray((self.design.columns @ slopes + (level - center @ slopes)).T)


@dataclass(frozen=True, eq=False)
class LogisticRefit:
    """Which log-odds, linear in the columns, fit a yes or no best?

    Fits begin at `start`; `logistic_refit` makes that the answer for the rows as they are.

    >>> x = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> model = LogisticRefit(Design(x, "linear"), np.arange(4), np.zeros(2))
    >>> y = np.array([[0.0, 1.0, 1.0, 0.0]])
    >>> model.predict(y, np.array([3.0, 3.0, 1.0, 1.0])).round(2).tolist()
    [[0.34, 0.66, 0.34, 0.66]]
    """

    design: Design
    rows: Positions
    start: Array

    is_parametric = True
    gives_chances = True

    @property
    def name(self) -> str:
        """What is the model called?"""
        return self.design.kind.replace("linear", "logistic")

    @cached_property
    def _own(self) -> Array:
        return np.column_stack([np.ones(len(self.rows)), self.design.columns[self.rows]])

    def predict(self, targets: Array, weights: Array) -> Array:
        """What chance does every row have?"""
        fits = (self.fit(target, weights) for target in targets)
        return np.stack([expit(at[0] + self.design.columns @ at[1:]) for at in fits])

    def fit(self, target: Array, weights: Array) -> Array:
        """Which coefficients fit best? The constant first."""
        y, w = target[self.rows], weights[self.rows]
        if np.ptp(y) == 0:  # no log-odds are large enough: the constant alone says it
            at = np.zeros_like(self.start)
            at[0] = np.inf if y[0] else -np.inf
            return at
        return _maximize(_Likelihood(self._own, y, w), self.start)


def logistic_refit(design: Design, rows: Positions, target: Array, weights: Array) -> LogisticRefit:
    """How is a logistic model made that starts where the plain fit ended?"""
    cold = LogisticRefit(design, rows, np.zeros(1 + design.columns.shape[1]))
    found = cold.fit(target, weights)
    return cold if np.isinf(found[0]) else LogisticRefit(design, rows, found)


@dataclass(frozen=True, eq=False)
class LearnerRefit:
    """What does a scikit-learn model say, fitted anew each time?"""

    model: Any
    features: Array
    rows: Positions

    @property
    def name(self) -> str:
        """What is the model called? A pipeline is called by what it ends in."""
        return type(last_step(self.model)).__name__

    @property
    def is_parametric(self) -> bool:
        """Is it a linear model of scikit-learn, or a pipeline that ends in one?"""
        return type(last_step(self.model)).__module__.startswith("sklearn.linear_model")

    @property
    def gives_chances(self) -> bool:
        """Does it predict a probability?"""
        return is_classifier(self.model)

    def predict(self, targets: Array, weights: Array) -> Array:
        """What does it say about every row, target by target?"""
        x, w = self.features[self.rows], weights[self.rows]
        models = (fit(self.model, x, target[self.rows], w) for target in targets)
        return np.stack([predict_mean(model, self.features) for model in models])


Refit = LinearRefit | LogisticRefit | LearnerRefit


def loss_in_sample(
    name: str, model: Refit, target: Array, predicted: Array, weights: Array
) -> LearnerLoss:
    """How well does a model describe the very rows it was fitted to?

    >>> model = LinearRefit(Design(np.empty((2, 0)), "plain mean"), np.arange(2))
    >>> y, w = np.array([0.0, 2.0]), np.ones(2)
    >>> print(loss_in_sample("E[y]", model, y, model.predict(y[None], w)[0], w))
    E[y]: plain mean, squared error in sample 1 (1 without a model)
    """
    chances = model.gives_chances
    return loss_of(name, model.name, chances, target, predicted, weights, " in sample")


def caveats(models: Sequence[Refit]) -> tuple[str, ...]:
    """When are standard errors from refitting these models not to be trusted?

    >>> people = np.random.default_rng(0).normal(size=(50, 3))
    >>> caveats([LinearRefit(design_of(people, rows=20), np.arange(20))])
    ('fewer than 10 rows for each column of a model, ... standard errors tend to be too small',)
    """
    found = []  # learners have means of their own against a shortage of rows
    if any(not isinstance(each, LearnerRefit) and each.design.short_of_rows for each in models):
        found.append(
            f"fewer than {ROWS_PER_COLUMN} rows for each column of a model, counting the smaller "
            "group (or its rarer answer): standard errors tend to be too small"
        )
    flexible = sorted({model.name for model in models if not model.is_parametric})
    if flexible:
        found.append(
            f"standard errors with {' and '.join(flexible)} are not valid in general: refitting "
            "shows how the answer varies, not what a flexible learner smooths away or memorizes; "
            "DoublyRobust corrects for that"
        )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """How well do log-odds fit, and which way is better?"""

    x: Array
    y: Array
    w: Array

    @cached_property
    def penalty(self) -> Array:
        return np.append(0.0, np.full(self.x.shape[1] - 1, PENALTY))

    def loss(self, at: Array) -> float:
        odds = self.x @ at
        return float(self.w @ (np.logaddexp(0.0, odds) - self.y * odds) + self.penalty @ at**2 / 2)

    def slope(self, at: Array) -> Array:
        ahead = self.w * (self.y - expit(self.x @ at))
        return np.asarray(ahead @ self.x - self.penalty * at)

    def curvature(self, at: Array) -> tuple[Array, bool]:
        chance = expit(self.x @ at)
        scaled = self.x * np.sqrt(self.w * chance * (1 - chance))[:, None]
        return cho_factor(scaled.T @ scaled + np.diag(self.penalty))  # type: ignore[no-any-return]


def _maximize(likelihood: _Likelihood, start: Array) -> Array:
    """Newton's steps, halved where they overshoot; curvature is reused once steps shrink fast."""
    at, loss, total = start, likelihood.loss(start), float(likelihood.w.sum())
    factor, previous = likelihood.curvature(start), np.inf
    for _ in range(MOST_STEPS):
        slope = likelihood.slope(at)
        step = cho_solve(factor, slope)
        if slope @ step > REUSE * previous:
            factor = likelihood.curvature(at)
            step = cho_solve(factor, slope)
        previous = float(slope @ step)
        for _ in range(MOST_HALVINGS):
            if (closer := likelihood.loss(at + step)) <= loss + ROUNDING * abs(loss):
                break
            step = step / 2
        at, loss = at + step, closer
        if previous <= SETTLED * total:
            return np.asarray(at)
    if previous <= GOOD_ENOUGH * total:
        return np.asarray(at)
    raise LearnerError(
        f"the logistic model did not settle within {MOST_STEPS} steps: its columns differ by too "
        "many orders of magnitude; rescale them, or give a model of your own"
    )


def _splines(plain: Array) -> Array:
    """Splines of the columns with more than eight values."""
    from causalfairness.estimators.spline_basis import bendable, splines_of

    bent = plain[:, bendable(plain)]
    splines = splines_of(bent)
    return bent if splines is None else np.asarray(splines.transform(bent))


def _with_products(plain: Array, first: Positions, second: Positions, kind: str) -> Design:
    return Design(_standardized(np.hstack([plain, plain[:, first] * plain[:, second]])), kind)


def _standardized(columns: Array) -> Array:
    """Columns with mean 0 and variance 1; those that do not vary are left out."""
    center, spread = columns.mean(axis=0), columns.std(axis=0)
    varies = spread > ROUNDING * np.maximum(np.abs(center), np.abs(columns).max(axis=0))
    return np.asarray((columns[:, varies] - center[varies]) / spread[varies])


def _informative_pairs(columns: Array) -> tuple[Positions, Positions]:
    """Which squares and products do not follow from the columns themselves?

    The square of a column with two values does, and so does the product of two such columns if
    one of the four combinations never occurs.
    """
    low, high = columns.min(axis=0), columns.max(axis=0)
    upper = (columns == high).astype(float)
    two_valued = ((columns == low) | (columns == high)).all(axis=0)
    both, n = upper.T @ upper, len(columns)
    single = both.diagonal()
    one = single[:, None] - both
    neither = n - single[:, None] - single + both
    possible = (both > 0) & (one > 0) & (one.T > 0) & (neither > 0)
    first, second = np.triu_indices(columns.shape[1])
    follows = (two_valued[first] & two_valued[second]) & ~possible[first, second]
    return first[~follows], second[~follows]
