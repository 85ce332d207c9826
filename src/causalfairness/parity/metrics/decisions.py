"""What counts as selected, and which metrics do the data allow?

    prediction 0 or 1      selected: the favorable value; error rates if the outcome is 0 or 1
    prediction a score     selected: at or above `threshold`; without one, above the pooled median
                           (a screen: no error rates), and calibration if the outcome is 0 or 1
    outcome numeric        means, mean error (prediction - outcome) and root mean squared error
    no prediction          the outcome takes its place: how often is it the favorable value?

With `favorable=0` being selected is the mirror image: 0, below the threshold, below the median.
Error rates always speak of 1: a true positive has outcome 1 and prediction 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import RoleError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.metrics.calibration import quantiles
from causalfairness.parity.metrics.rows import People

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
ERROR_RATES = ("accuracy", "tpr", "fpr", "fnr", "tnr", "ppv", "npv")
NO_PREDICTION = "the model names no prediction"
RATES = ("selection_rate", "base_rate", *ERROR_RATES)


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided about each person, and what can be asked about it?

    `decided` is true for those predicted 1 (above the median, for a screen), and `selected` is the
    value of it that counts as selected. `values` are averaged; `absent` says why a metric is not
    there.
    """

    about: Mapping[str, str]  # what each metric speaks of, in words
    decided: Mask | None
    selected: bool
    positive: Mask | None  # outcome 1
    rates: tuple[str, ...]
    values: Mapping[str, Array]
    score: Array | None  # to be calibrated
    absent: Mapping[str, str]


def decision_of(
    people: People, model: StandardFairnessModel, threshold: float | None, favorable: int
) -> Decision:
    """What counts as selected here, and which metrics does that allow?"""
    prediction, outcome = people.prediction, people.outcome
    if favorable not in (0, 1):
        raise ValueError(f"favorable is the value of a decision, 0 or 1; found {favorable!r}")
    if threshold is not None and prediction is None:
        raise RoleError(
            f"threshold={threshold:g} says from which prediction on someone is selected, and the "
            "model names no prediction"
        )
    absent = {
        "selection_rate": _why_no_selection(people, threshold),
        "base_rate": _why_no_base_rate(people),
        **dict.fromkeys(ERROR_RATES, _why_no_error_rates(people, threshold)),
        "calibration": _why_no_calibration(people),
    }
    selection = None if absent["selection_rate"] else _select(people, model, threshold, favorable)
    return Decision(
        about=_about(model, selection),
        decided=selection.decided if selection else None,
        selected=selection.selected if selection else True,
        positive=outcome == 1 if outcome is not None and is_binary(outcome) else None,
        rates=tuple(name for name in RATES if not absent[name]),
        values=_averaged(prediction, outcome),
        score=None if absent["calibration"] else prediction,
        absent={name: reason for name, reason in absent.items() if reason},
    )


class _Selection(NamedTuple):
    what: str  # being selected
    predicted: str  # being predicted 1
    decided: Mask
    selected: bool


def _select(
    people: People, model: StandardFairnessModel, threshold: float | None, favorable: int
) -> _Selection:
    """Who is selected? By threshold, by a decision of 0 or 1, or by the pooled median."""
    subject = people.outcome if people.prediction is None else people.prediction
    assert subject is not None
    name = _name(model, of_prediction=people.prediction is not None)
    if threshold is not None:
        sides = f"{name} below {threshold:g}", f"{name} at or above {threshold:g}"
        return _Selection(sides[favorable], sides[1], subject >= threshold, bool(favorable))
    if is_binary(subject):
        bare = model.outcome_value is None
        sides = (f"{name} = 0", f"{name} = 1") if bare else (f"not {name}", name)
        return _Selection(sides[favorable], sides[1], subject == 1, bool(favorable))
    (median,) = quantiles(subject, people.weights, [0.5])
    what = f"{name} {'above' if favorable else 'below'} its pooled median ({median:.4g})"
    beyond = subject > median if favorable else subject < median
    return _Selection(what, what, beyond, True)


def _name(model: StandardFairnessModel, *, of_prediction: bool) -> str:
    column = (model.prediction_column or "prediction") if of_prediction else model.outcome
    return f"{column}" if model.outcome_value is None else f"{column} = {model.outcome_value}"


def _about(model: StandardFairnessModel, selection: _Selection | None) -> dict[str, str]:
    """What does each metric speak of?"""
    prediction, outcome = (_name(model, of_prediction=which) for which in (True, False))
    against = f"{prediction} against {outcome}"
    found = {"mean_score": prediction, "mean_prediction": prediction, "mean_outcome": outcome}
    found |= dict.fromkeys(("mean_error", "rmse", "calibration_error"), against)
    found["base_rate"] = outcome if model.outcome_value is not None else f"{outcome} = 1"
    if selection is not None:
        found["selection_rate"] = selection.what
        found |= dict.fromkeys(ERROR_RATES, f"{selection.predicted} against {outcome}")
    return found


def _averaged(prediction: Array | None, outcome: Array | None) -> dict[str, Array]:
    """Which numbers are averaged in each group? Errors are prediction minus outcome."""
    scored = prediction is not None and not is_binary(prediction)
    numeric = outcome is not None and not is_binary(outcome)
    found: dict[str, Array] = {}
    if scored and prediction is not None:
        found["mean_prediction" if numeric else "mean_score"] = prediction
    if numeric and outcome is not None:
        found["mean_outcome"] = outcome
    if prediction is None or outcome is None or not scored:
        return found
    if numeric or is_probability(prediction):
        found["mean_error"] = prediction - outcome
    if numeric:
        found["rmse"] = (prediction - outcome) ** 2
    return found


def _why_no_selection(people: People, threshold: float | None) -> str:
    prediction, outcome = people.prediction, people.outcome
    if threshold is not None or (prediction is not None and is_binary(prediction)):
        return ""
    if outcome is None or is_binary(outcome):
        return ""
    say = (
        "name the outcome_value that counts"
        if prediction is None
        else "say from where on a prediction selects, with threshold=..."
    )
    return f"the outcome is numeric ({_range(outcome)}), so nobody is selected or not; {say}"


def _why_no_base_rate(people: People) -> str:
    if people.prediction is None:
        return NO_PREDICTION
    return _why_no_outcome(people.outcome)


def _why_no_error_rates(people: People, threshold: float | None) -> str:
    if people.prediction is None:
        return NO_PREDICTION
    if why := _why_no_outcome(people.outcome):
        return why
    if threshold is None and not is_binary(people.prediction):
        return (
            f"the prediction is a score ({_range(people.prediction)}), right or wrong only once it "
            "selects; say from where on with threshold=..."
        )
    return ""


def _why_no_calibration(people: People) -> str:
    if people.prediction is None:
        return NO_PREDICTION
    if is_binary(people.prediction):
        return "the prediction is 0 or 1, not a score; ppv and npv say how often it comes true"
    return _why_no_outcome(people.outcome)


def _why_no_outcome(outcome: Array | None) -> str:
    if outcome is None:
        return "the model names no outcome"
    return "" if is_binary(outcome) else f"the outcome is numeric ({_range(outcome)}), not 0 or 1"


def is_binary(values: Array) -> bool:
    """Are there only zeros and ones?

    >>> is_binary(np.array([0.0, 1.0])), is_binary(np.array([0.5, 1.0]))
    (True, False)
    """
    return bool(np.all((values == 0) | (values == 1)))


def is_probability(values: Array) -> bool:
    """Can these scores be read as chances?"""
    return bool(values.min() >= 0 and values.max() <= 1)


def _range(values: Array) -> str:
    return f"from {values.min():g} to {values.max():g}"
