"""Doubly robust estimation: against the bare scikit-learn fits it needs, and in CPU seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

import causalfairness as cf
from benchmarks.measuring import Finding, cpu_seconds
from causalfairness.estimators import DoublyRobust, cross_fitting

MODEL = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison=None,
    confounders=["age", "sex"],
    mediators=[
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "priors_count",
        "c_charge_degree",
    ],
    outcome="two_year_recid",
)


def measure(size: str) -> Iterator[Finding]:
    """CPU seconds per repetition on COMPAS, and what of them is not scikit-learn's."""
    compas = cf.datasets.load_compas(propublica_filter=False)

    def decompose() -> Any:
        return cf.decompose_disparity(compas, MODEL, estimator=DoublyRobust())

    fits = _record(decompose)
    whole, bare = [], []
    for _ in range(3):
        whole.append(cpu_seconds(decompose))
        bare.append(cpu_seconds(lambda: _bare(fits)))
    yield Finding("COMPAS, one repetition", min(whole), "CPU s", "< 8", min(whole) < 8)
    ratio = min(whole) / min(bare)
    yield Finding("doubly robust / bare fits", ratio, "x", "<= 1.1", ratio <= 1.1)


def _record(decompose: Any) -> list[tuple[Any, Any, Any, Any]]:
    """Every fit that is made, with the rows it then predicts."""
    fits: list[Any] = []
    true_fit, true_predict = cross_fitting.fit, cross_fitting.predict_mean

    def fit(model: Any, features: Any, target: Any, weights: Any) -> Any:
        fitted = true_fit(model, features, target, weights)
        fits.append([model, features, target, None])
        return fitted

    def predict(model: Any, features: Any) -> Any:
        fits[-1][-1] = features
        return true_predict(model, features)

    with (
        mock.patch.object(cross_fitting, "fit", fit),
        mock.patch.object(cross_fitting, "predict_mean", predict),
    ):
        decompose()
    return [tuple(found) for found in fits]


def _bare(fits: list[tuple[Any, Any, Any, Any]]) -> None:
    """Nothing but scikit-learn: clone, fit, predict, on one thread as in the estimator."""
    from sklearn.base import clone
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        for model, features, target, asked in fits:
            fitted = clone(model).fit(features, target)
            if hasattr(fitted, "predict_proba"):
                np.asarray(fitted.predict_proba(asked))
            else:
                np.asarray(fitted.predict(asked))
