"""How well does a mechanism predict people it has not seen, and does its noise look like noise?

Fit is cross-validated: R^2 = 1 - (squared errors) / (squared errors of the mean) for numbers, and
log loss, beside that of plain frequencies, for categories. The noise should not depend on the
causes; whether it does is tested by rank correlations of the out-of-sample residual, and of its
size, with each cause, its square and the prediction. Categories and counts enter by their
randomized quantile residual. p is the smallest p-value times the number of correlations: small
means that the noise depends on the causes and counterfactuals are not to be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from causalfairness.inference import run_all
from causalfairness.scm.causes import Causes
from causalfairness.scm.couplings import Monotone
from causalfairness.scm.mechanism import Mechanism, Sample

Array = NDArray[np.float64]
ROUNDING = 1e-12  # share of the predictions' range below which residuals are no noise
FOLDS = 5
CHECKED = 20_000  # rows that mechanisms are compared and checked on
FLOOR = 1e-12  # keeps log losses finite


@dataclass(frozen=True)
class NodeFit:
    """How well does the mechanism of one node fit?

    >>> print(NodeFit("pay", "linear", "chosen", ("sex",), "R2", 0.4, 0.0, 0.21, 500))
    pay: linear (chosen), R2 0.400, noise against causes p = 0.21
    """

    node: str
    mechanism: str
    why: str
    causes: tuple[str, ...]
    measure: str = ""
    value: float | None = None
    baseline: float | None = None
    independence: float | None = None
    rows: int = 0

    @property
    def fit(self) -> str:
        """How is the fit written?"""
        if self.value is None or self.baseline is None:
            return ""
        if self.measure == "R2":
            return f"R2 {self.value:.3f}"
        return f"{self.measure} {self.value:.3f} ({self.baseline:.3f} without causes)"

    def __str__(self) -> str:
        text = f"{self.node}: {self.mechanism} ({self.why})"
        if self.fit:
            text += f", {self.fit}"
        if self.independence is not None:
            text += f", noise against causes p = {self.independence:.2g}"
        return text


@dataclass(frozen=True, eq=False)
class Check:
    """What did cross-validation show? One loss and one residual for every row.

    >>> check = Check("R2", np.array([1.0, 1.0]), np.array([2.0, 2.0]), np.zeros(2), np.zeros(2))
    >>> check.value, check.baseline
    (0.5, 0.0)
    """

    measure: str
    losses: Array
    baselines: Array
    residuals: Array
    predicted: Array

    @property
    def value(self) -> float:
        """R^2, or the mean log loss."""
        if self.measure != "R2":
            return float(self.losses.mean())
        total = float(self.baselines.sum())
        return 1 - float(self.losses.sum()) / total if total > 0 else 0.0

    @property
    def baseline(self) -> float:
        """The same without causes."""
        return 0.0 if self.measure == "R2" else float(self.baselines.mean())

    def is_worse_than(self, other: Check) -> bool:
        """Does the other mechanism predict better by more than a standard error?"""
        gain = self.losses - other.losses
        error = float(gain.std(ddof=1)) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
        return bool(gain.mean() > error)


def cross_validate(mechanism: Mechanism, sample: Sample) -> Check:
    """How well does this mechanism predict rows that it was not fitted on?"""
    n = len(sample)
    rng = np.random.default_rng([sample.seed, n])
    fold_of = rng.permutation(n) % min(FOLDS, n)
    folds = [fold_of == fold for fold in range(min(FOLDS, n))]

    def check(fold: NDArray[np.bool_]) -> Check:
        return _check(mechanism, sample, fold, rng)

    pieces = run_all(check, folds, workers=1, what="checking a mechanism")
    order = np.argsort(np.concatenate([np.flatnonzero(fold_of == f) for f in range(len(pieces))]))
    joined = [
        np.concatenate([getattr(piece, name) for piece in pieces])[order]
        for name in ("losses", "baselines", "residuals", "predicted")
    ]
    return Check(pieces[0].measure, *joined)


def independence(check: Check, causes: Causes) -> float:
    """How surprising is the dependence of the noise on the causes? A p-value.

    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> from causalfairness.scm.domain import Domain
    >>> causes = Causes(500, (Domain("x"),), (x,))
    >>> honest = Check("R2", noise, noise, noise, x)
    >>> spread = Check("R2", noise, noise, noise * np.exp(x), x)
    >>> independence(honest, causes) > 0.05, independence(spread, causes) < 1e-6
    (True, True)
    >>> independence(Check("R2", noise, noise, 1e-15 * x, x), causes)
    1.0
    """
    if np.ptp(check.residuals) <= ROUNDING * np.ptp(check.predicted):
        return 1.0  # there is no noise, only rounding
    columns = [*causes.design().T, check.predicted]
    features = [feature for x in columns for feature in (x, (x - x.mean()) ** 2)]
    center = check.residuals - np.median(check.residuals)
    scores = [_ranks(check.residuals), _ranks(np.abs(center))]
    p_values = [
        2 * float(ndtr(-abs(float(score @ standard)) / np.sqrt(len(score))))
        for feature in features
        if (standard := _standard(feature)) is not None
        for score in scores
    ]
    return min(1.0, min(p_values, default=1.0) * len(p_values))


def _check(
    mechanism: Mechanism, sample: Sample, held_out: NDArray[np.bool_], rng: np.random.Generator
) -> Check:
    train, test = sample.take(~held_out), sample.take(held_out)
    fitted = mechanism.fit(train)
    predicted = fitted.predict(test.causes)
    if predicted.ndim == 1:
        residual = fitted.abduct(test.values, test.causes, rng)
        return Check(
            "R2",
            (test.values - predicted) ** 2,
            (test.values - train.values.mean()) ** 2,
            residual if residual.ndim == 1 else test.values - predicted,
            predicted,
        )
    return _check_categories(train, test, predicted, rng)


def _check_categories(
    train: Sample, test: Sample, predicted: Array, rng: np.random.Generator
) -> Check:
    domain = test.target
    places, rows = domain.positions(test.values), np.arange(len(test))
    counts = np.bincount(domain.positions(train.values), minlength=domain.size)
    chance, plain = predicted[rows, places], (counts / counts.sum())[places]
    smooth = np.maximum(predicted, FLOOR)
    return Check(
        "log loss",
        -np.log(np.maximum(chance, FLOOR)),
        -np.log(np.maximum(plain, FLOOR)),
        Monotone().abduct(places, smooth, rng),
        predicted @ np.arange(domain.size),
    )


def _ranks(values: Array) -> Array:
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    return np.asarray((ranks - ranks.mean()) / ranks.std()) if len(values) > 1 else ranks


def _standard(feature: Array) -> Array | None:
    sd = float(feature.std())
    if not sd > 1e-12 * max(1.0, float(np.abs(feature).max())):
        return None
    return np.asarray((feature - feature.mean()) / sd)
