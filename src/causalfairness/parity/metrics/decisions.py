"""What counts as selected, and which metrics do the data allow?

    prediction 0 or 1      selected: the favorable value; error rates if the outcome is 0 or 1
    prediction a score     selected: at or above `threshold`; without one, above the pooled median
                           (a screen: no error rates), and calibration if the outcome is 0 or 1
    outcome numeric        means, mean error (prediction - outcome) and root mean squared error
    no prediction          the outcome takes its place: how often is it the favorable value?

All rates point one way: a positive is the value that people want, in prediction and outcome. Where
that is 0, being selected is the mirror image: 0, below the threshold, below the median. Where
nobody said what people want there is no selection rate, and a positive is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from causalfairness.errors import RoleError
from causalfairness.fairness_model import HIGHER, LOWER, NOBODY_SAID, StandardFairnessModel
from causalfairness.inference import quantiles
from causalfairness.parity.metrics.rows import Array, Mask, People
from causalfairness.tables.target import check_threshold

ERROR_RATES = ("accuracy", "tpr", "fpr", "fnr", "tnr", "ppv", "npv")
NO_PREDICTION = "the model names no prediction"
RATES = ("selection_rate", "base_rate", *ERROR_RATES)


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided about each person, and what can be asked about it?

    `decided` is true for those predicted positive (beyond the median, for a screen). `values` are
    averaged; `absent` says why a metric is not there.
    """

    about: Mapping[str, str]  # what each metric speaks of, in words
    decided: Mask | None
    positive: Mask | None  # by the outcome
    rates: tuple[str, ...]
    values: Mapping[str, Array]
    score: Array | None  # to be calibrated
    absent: Mapping[str, str]


def decision_of(people: People, model: StandardFairnessModel, threshold: float | None) -> Decision:
    """What counts as selected here, and which metrics does that allow?"""
    prediction, outcome = people.prediction, people.outcome
    positive = people.wants_one is not False
    check_threshold(threshold)
    if threshold is not None and prediction is None:
        raise RoleError(
            f"threshold={threshold:g} says from which prediction on someone is selected, and the "
            "model names no prediction"
        )
    undecided = _why_no_decision(people, threshold)
    absent = {
        "selection_rate": undecided or _why_no_side(people, model, threshold),
        "base_rate": _why_no_outcome(outcome),
        **dict.fromkeys(ERROR_RATES, _why_no_error_rates(people, threshold)),
        "calibration": _why_no_calibration(people),
    }
    if prediction is None and not absent["selection_rate"]:
        absent["base_rate"] = NO_PREDICTION  # it is the selection rate
    selection = None if undecided else _select(people, model, threshold, positive)
    return Decision(
        about=_about(model, selection, positive),
        decided=selection.decided if selection else None,
        positive=outcome == positive if outcome is not None and is_binary(outcome) else None,
        rates=tuple(name for name in RATES if not absent[name]),
        values=_averaged(prediction, outcome),
        score=None if absent["calibration"] else prediction,
        absent={name: reason for name, reason in absent.items() if reason},
    )


class _Selection(NamedTuple):
    what: str
    decided: Mask


def _select(
    people: People, model: StandardFairnessModel, threshold: float | None, positive: bool
) -> _Selection:
    """Who is selected? By threshold, by a decision of 0 or 1, or by the pooled median."""
    subject = people.outcome if people.prediction is None else people.prediction
    assert subject is not None
    name = model.target_label("outcome" if people.prediction is None else "prediction")
    if threshold is not None:
        sides = f"{name} below {threshold:g}", f"{name} at or above {threshold:g}"
        return _Selection(sides[positive], (subject >= threshold) == positive)
    if is_binary(subject):
        return _Selection(_valued(name, model, positive), subject == positive)
    (median,) = quantiles(subject, people.weights, [0.5])
    what = f"{name} {'above' if positive else 'below'} its pooled median ({median:.4g})"
    return _Selection(what, subject > median if positive else subject < median)


def _valued(name: str, model: StandardFairnessModel, positive: bool) -> str:
    if model.outcome_value is None:
        return f"{name} = {int(positive)}"
    return name if positive else f"not {name}"


def _about(
    model: StandardFairnessModel, selection: _Selection | None, positive: bool
) -> dict[str, str]:
    """What does each metric speak of?"""
    prediction, outcome = (model.target_label(of) for of in ("prediction", "outcome"))
    against = f"{prediction} against {outcome}"
    found = {"mean_score": prediction, "mean_prediction": prediction, "mean_outcome": outcome}
    found |= dict.fromkeys(("mean_error", "rmse", "calibration_error"), against)
    found["base_rate"] = _valued(outcome, model, positive)
    if selection is not None:
        found["selection_rate"] = selection.what
        came = outcome if positive else found["base_rate"]
        found |= dict.fromkeys(ERROR_RATES, f"{selection.what} against {came}")
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
    if numeric or (prediction.min() >= 0 and prediction.max() <= 1):  # a chance
        found["mean_error"] = prediction - outcome
    if numeric:
        found["rmse"] = (prediction - outcome) ** 2
    return found


def _why_no_decision(people: People, threshold: float | None) -> str:
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


def _why_no_side(people: People, model: StandardFairnessModel, threshold: float | None) -> str:
    if people.wants_one is None:
        return NOBODY_SAID
    score = people.prediction if people.outcome is None and threshold is None else None
    if score is None or is_binary(score) or model.favorable in (HIGHER, LOWER):
        return ""
    return (
        f"the prediction is a score, and favorable={model.favorable!r} does not say whether people "
        f"want it high; say {HIGHER!r} or {LOWER!r}"
    )


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


def _range(values: Array) -> str:
    return f"from {values.min():g} to {values.max():g}"
