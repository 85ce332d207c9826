"""What if a node is a weighted sum of its causes plus noise?

    V = intercept + sum over causes of slope times cause + noise

Numbers enter as they are, labels by one indicator for each label but the first; there are no
interactions. The noise of a row is its residual, so worlds are coupled exactly: the counterfactual
is the value plus the difference of two predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import MechanismError
from causalfairness.scm.causes import Causes, terms_of
from causalfairness.scm.domain import Domain
from causalfairness.scm.least_squares import ALIKE, Design, Line, Regression, regress
from causalfairness.scm.mechanism import Sample

Array = NDArray[np.float64]
Slope = float | tuple[float, ...]  # per unit, or one shift for each label


@dataclass(frozen=True)
class Linear:
    """What if a node is a weighted sum of its causes plus noise? Fitted by least squares.

    >>> import pyarrow as pa
    >>> import causalfairness as cf
    >>> data = pa.table({"sex": ["F", "M"] * 6, "pay": [2.0, 3.0, 2.5, 3.5] * 3})
    >>> graph = cf.CausalGraph.parse("sex -> pay")
    >>> model = cf.StructuralCausalModel.fit(graph, data, {"pay": Linear()})
    >>> model.counterfactual(data, do={"sex": "M"})["pay"].to_pylist()[:2]
    [3.0, 3.0]
    """

    learns = True

    def fit(self, sample: Sample) -> LinearEquation:
        """Which line fits best?"""
        return fit_together([sample])[0]

    def __str__(self) -> str:
        return "linear"


@dataclass(frozen=True)
class LinearEquation:
    """How does a node follow from its causes along a line?

    `slopes` has one entry for each cause: a number, or one number for each of its labels.

    >>> from causalfairness.scm.domain import Domain
    >>> causes = Causes(2, (Domain("age"),), (np.array([30.0, 40.0]),))
    >>> LinearEquation(1.0, (0.1,)).predict(causes).tolist()
    [4.0, 5.0]
    """

    intercept: float
    slopes: tuple[Slope, ...]

    assumption = "noise is added to a linear prediction and is the same in every world"
    whole = False

    def predict(self, causes: Causes) -> Array:
        """The mean given the causes."""
        predicted = np.full(len(causes), self.intercept)
        for slope, values in zip(self.slopes, causes.values, strict=True):
            predicted += contribution(slope, values)
        return predicted

    def abduct(self, values: Array, causes: Causes, rng: np.random.Generator) -> Array:
        """The residual."""
        return values - self.predict(causes)

    def apply(self, noise: Array, causes: Causes) -> Array:
        """The prediction plus the noise."""
        return self.predict(causes) + noise


def fit_together(samples: Sequence[Sample]) -> list[LinearEquation]:
    """Which lines fit these nodes best? One pass over the rows for all of them.

    Samples must be of the same rows.
    """
    designs: dict[tuple[int, float | None], Design] = {}

    def place(values: Array, level: float | None) -> int:
        designs.setdefault((id(values), level), Design(values, level))
        return list(designs).index((id(values), level))

    regressions = []
    for sample in samples:
        sample.check_numbers("Linear()")
        sample.check_size()
        on = tuple(
            place(sample.causes.values[term.cause], term.level)
            for term in terms_of(sample.causes.domains)
        )
        regressions.append(Regression(place(sample.values, None), on))
    weights = samples[0].weights if samples else None
    lines = regress(tuple(designs.values()), regressions, weights)
    return [_equation(sample, line) for sample, line in zip(samples, lines, strict=True)]


def slopes_by_cause(domains: Sequence[Domain], slopes: Array) -> tuple[Slope, ...]:
    """What does each cause do? One number per unit, or one for each of its labels.

    >>> slopes_by_cause([Domain("age"), Domain("race", labels=("a", "b", "c"))], np.arange(3.0))
    (0.0, (0.0, 1.0, 2.0))
    """
    terms = terms_of(domains)
    found: list[Slope] = []
    for at, domain in enumerate(domains):
        own = [float(slopes[k]) for k, term in enumerate(terms) if term.cause == at]
        found.append(own[0] if len(domain.labels) <= 2 else (0.0, *own))
    return tuple(found)


def _equation(sample: Sample, line: Line) -> LinearEquation:
    if line.alike is not None and not sample.partial:
        alike = terms_of(sample.causes.domains)[line.alike]
        raise MechanismError(
            f"{sample.causes.names[alike.cause]!r} is a weighted sum of the other "
            f"causes of {sample.target.name!r}, so what each of them does cannot be "
            "separated; leave one of the arrows out"
        )
    return LinearEquation(line.intercept, slopes_by_cause(sample.causes.domains, line.slopes))


def slope_influences(equation: LinearEquation, sample: Sample) -> Array:
    """What each row adds to the error of each slope, to first order. (slopes, rows)

    >>> from causalfairness.scm.domain import Domain
    >>> causes = Causes(4, (Domain("x"),), (np.array([0.0, 0.0, 1.0, 1.0]),))
    >>> sample = Sample(Domain("y"), np.array([0.0, 2.0, 3.0, 3.0]), causes, seed=0)
    >>> slope_influences(LinearEquation(1.0, (2.0,)), sample).round(9).tolist()
    [[0.5, -0.5, 0.0, 0.0]]
    """
    design = sample.causes.design()
    center, scale = sample.scales(design)
    apart = (design - center) / scale
    counted = np.ones(len(sample)) if sample.weights is None else sample.weights
    share = counted / counted.sum()
    residuals = sample.values - equation.predict(sample.causes)
    pulls = apart * (share * (residuals - sample.mean(residuals)))[:, None]
    spread = np.linalg.pinv(apart.T @ (share[:, None] * apart), rcond=ALIKE, hermitian=True)
    return np.asarray((spread @ pulls.T) / scale[:, None])


def flat_slopes(equation: LinearEquation) -> Array:
    """One slope for each column that a learner sees of the causes (`terms_of`).

    >>> flat_slopes(LinearEquation(0.0, (0.5, (0.0, 1.0, 2.0)))).tolist()
    [0.5, 1.0, 2.0]
    """
    parts = [slope if isinstance(slope, tuple) else (0.0, slope) for slope in equation.slopes]
    return np.array([each for part in parts for each in part[1:]])


def contribution(slope: Slope, values: Array) -> Array:
    """What does one cause add to the prediction?

    >>> contribution((0.0, 5.0), np.array([1.0, 0.0])).tolist()
    [5.0, 0.0]
    """
    if isinstance(slope, float):
        return slope * values
    return np.array(slope)[values.astype(np.intp)]
