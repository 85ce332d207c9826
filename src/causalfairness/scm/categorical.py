"""What if a node is one of several categories, or one of a few whole numbers?

    P(V = k | causes) from a logistic regression, any classifier, or a function;
    V = the category to which the noise leads, by a coupling

Several noises fit what was seen, so a counterfactual is a draw from a posterior: seeded, and
repeated on request. Categories that are impossible given the new causes never come out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes
from causalfairness.scm.couplings import Coupling, Gumbel, Monotone
from causalfairness.scm.domain import Domain
from causalfairness.scm.learners import check_learner, is_learner, name_of
from causalfairness.scm.mechanism import Sample
from causalfairness.scm.probabilities import Probabilities, Told, fit_probabilities

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Classifying:
    """What both kinds of categories have in common: how likely each of them is."""

    model: Any = None

    def __post_init__(self) -> None:
        given = callable(self.model) and not hasattr(self.model, "fit")
        if self.model is not None and not given:
            check_learner(self.model, classifier=True)

    @property
    def learns(self) -> bool:
        """Is anything learned from data?"""
        return self.model is None or is_learner(self.model)

    @property
    def _name(self) -> str:
        if self.model is None:
            return "logistic"
        return name_of(self.model) if self.learns else "given"

    def _fitted(self, sample: Sample, coupling: Coupling) -> CategoricalEquation:
        domain = sample.target
        if not domain.size:
            raise MechanismError(
                f"{type(self).__name__}() describes words or a few whole numbers, but "
                f"{domain.name!r} has too many different values, or fractions; use Linear(), "
                "Additive() or Poisson()"
            )
        if not self.learns:
            return CategoricalEquation(domain, Told(self.model, domain.size), coupling)
        sample.check_size()
        return CategoricalEquation(domain, fit_probabilities(self.model, sample), coupling)


@dataclass(frozen=True)
class Categorical(_Classifying):
    """What if a node is one of several categories?

    `model` is an unfitted scikit-learn classifier, None for a logistic regression, or a function
    that takes the causes by name and returns one probability per row and category, categories in
    sorted order. `coupling` says who changes category: `Gumbel()` or `Monotone()`.

    >>> print(Categorical(), "or", Categorical(coupling=Monotone()))
    categorical (logistic, Gumbel) or categorical (logistic, monotone)
    """

    coupling: Coupling = field(default_factory=Gumbel)

    def fit(self, sample: Sample) -> CategoricalEquation:
        """How likely is each category, given the causes?"""
        return self._fitted(sample, self.coupling)

    def __str__(self) -> str:
        return f"categorical ({self._name}, {self.coupling})"


@dataclass(frozen=True)
class Ordered(_Classifying):
    """What if a node is one of a few whole numbers, or of categories with an order?

    `model` is as in `Categorical`. Worlds are coupled monotonely: whoever is high among people with
    the same causes stays high.

    >>> print(Ordered())
    ordered (logistic, monotone)
    """

    def fit(self, sample: Sample) -> CategoricalEquation:
        """How likely is each value, given the causes?"""
        return self._fitted(sample, Monotone())

    def __str__(self) -> str:
        return f"ordered ({self._name}, monotone)"


@dataclass(frozen=True, eq=False)
class CategoricalEquation:
    """How does a category follow from its causes and its noise?

    >>> from causalfairness.scm.probabilities import Frequencies
    >>> sex = Domain("sex", labels=("F", "M"))
    >>> equation = CategoricalEquation(sex, Frequencies((0.5, 0.5)), Monotone())
    >>> equation.apply(np.array([0.1, 0.7]), Causes(2, (), ())).tolist()
    [0.0, 1.0]
    """

    domain: Domain
    probabilities: Probabilities
    coupling: Coupling

    whole = True

    @property
    def assumption(self) -> str:
        """What is assumed about the noise?"""
        return self.coupling.assumption

    def predict(self, causes: Causes) -> Array:
        """How likely is each category?"""
        return self.probabilities(causes)

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """A draw from the noises that lead to these categories."""
        return self.coupling.abduct(self.domain.positions(values), self.predict(causes), rng)

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The categories to which the noise leads."""
        return self.domain.values_at(self.coupling.apply(noise, self.predict(causes)))
