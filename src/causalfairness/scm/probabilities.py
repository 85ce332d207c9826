"""How likely is each category, given the causes?

Four answers: plain frequencies for a node without causes, a logistic regression, any scikit-learn
classifier, or a function of the user. Each gives one row per person and one column per category.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.learners import fit_learner
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]
Given = Callable[[Mapping[str, NDArray[Any]]], Any]
PENALTY = 0.01  # on squared slopes per standard deviation; keeps separated categories finite


class Probabilities(Protocol):
    """How likely is each category?"""

    def __call__(self, causes: Causes) -> Array:
        """One row per person, one column per category."""


def fit_probabilities(model: Any, sample: Sample) -> Probabilities:
    """How likely is each category? `model` is a classifier, or None for a logistic regression."""
    places, size = sample.target.positions(sample.values), sample.target.size
    counts = np.bincount(places, sample.weights, minlength=size)
    if not sample.causes.names or np.count_nonzero(counts) == 1:
        return Frequencies(tuple((counts / counts.sum()).tolist()))
    design = sample.causes.design()
    if model is None:
        return _fit_logistic(design, places, size, sample)
    fitted = fit_learner(model, design, places, sample)
    return Learned(fitted, size)


@dataclass(frozen=True)
class Frequencies:
    """What if nothing is known about a person? The shares of all.

    >>> Frequencies((0.25, 0.75))(Causes(1, (), ())).tolist()
    [[0.25, 0.75]]
    """

    shares: tuple[float, ...]

    def __call__(self, causes: Causes) -> Array:
        """The same for everyone."""
        return np.tile(np.array(self.shares), (len(causes), 1))


@dataclass(frozen=True)
class Logistic:
    """What if log odds are linear? One intercept and one row of slopes for each category.

    A category that was never seen has an intercept of None and probability 0.

    >>> Logistic((0.0, 0.0), ((), ()))(Causes(1, (), ())).tolist()
    [[0.5, 0.5]]
    """

    intercepts: tuple[float | None, ...]
    slopes: tuple[tuple[float, ...], ...]

    def __call__(self, causes: Causes) -> Array:
        """Softmax of the linear scores."""
        starts = np.array([-np.inf if start is None else start for start in self.intercepts])
        scores = causes.design() @ np.array(self.slopes).T + starts
        return np.asarray(softmax(scores, axis=1))


@dataclass(frozen=True, eq=False)
class Learned:
    """What does a fitted scikit-learn classifier say? Categories it never saw are impossible."""

    model: Any
    size: int

    def __call__(self, causes: Causes) -> Array:
        """Its probabilities, in the order of the categories."""
        found = np.asarray(self.model.predict_proba(causes.design()), dtype=float)
        whole = np.zeros((len(causes), self.size))
        whole[:, np.asarray(self.model.classes_, dtype=np.intp)] = found
        return whole


@dataclass(frozen=True, eq=False)
class Told:
    """What does the user say? A function of the causes, by name, gives the probabilities."""

    function: Given
    size: int

    def __call__(self, causes: Causes) -> Array:
        """The function's own answer, checked."""
        found = np.asarray(self.function(causes.by_name()), dtype=float)
        if found.shape == (self.size,):
            found = np.tile(found, (len(causes), 1))
        if found.shape != (len(causes), self.size):
            raise MechanismError(
                f"the function of probabilities returned shape {found.shape}; expected "
                f"{(len(causes), self.size)}: one row per person, one column per category"
            )
        if not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1, rtol=0, atol=1e-6):
            raise MechanismError(
                "the function of probabilities returned rows that are negative or do not add up to "
                "1; return one probability for each category, in their sorted order"
            )
        return found


def _fit_logistic(design: Array, places: NDArray[np.intp], size: int, sample: Sample) -> Logistic:
    from sklearn.linear_model import LogisticRegression

    center, scale = sample.scales(design)
    model = LogisticRegression(C=1 / PENALTY, solver="newton-cholesky", tol=1e-6, max_iter=10_000)
    fitted = fit_learner(model, (design - center) / scale, places, sample)
    slopes, starts = fitted.coef_ / scale, fitted.intercept_
    if len(fitted.classes_) == 2:  # one row for two categories
        slopes, starts = np.vstack([0 * slopes, slopes]), np.array([0.0, starts[0]])
    starts = starts - slopes @ center
    intercepts: list[float | None] = [None] * size
    rows = np.zeros((size, design.shape[1]))
    for at, category in enumerate(fitted.classes_):
        intercepts[int(category)] = float(starts[at])
        rows[int(category)] = slopes[at]
    return Logistic(tuple(intercepts), tuple(map(tuple, rows.tolist())))
