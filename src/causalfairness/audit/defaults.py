"""Which questions do roles allow, and what do sections of an audit have against each other?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from causalfairness.audit.questions import (
    Disparity,
    ErrorRates,
    GroupMetricsQuestion,
    Necessity,
    PredictiveParityQuestion,
)
from causalfairness.errors import CausalFairnessError
from causalfairness.tables.target import favors_one

if TYPE_CHECKING:
    from causalfairness.audit.schema import Audit

BOTH = ("error_rates", "predictive_parity", "necessity")
NEEDS_PREDICTION = ("counterfactual_fairness", "invariance")


def usual_questions(audit: Audit) -> tuple[Any, ...]:
    """Which questions are asked where none is listed?

    >>> from causalfairness.audit.schema import Audit
    >>> audit = Audit(roles={"protected": "sex", "reference": "M", "outcome": "hired"})
    >>> [question.ask for question in usual_questions(audit)]
    ['disparity', 'group_metrics']
    """
    found: list[Any] = []
    if audit.roles.outcome is not None:
        found.append(Disparity(of="outcome"))
    if has_prediction(audit):
        found.append(Disparity(of="prediction"))
    found.append(GroupMetricsQuestion())
    if audit.roles.outcome is not None and has_prediction(audit):
        found += [ErrorRates(), PredictiveParityQuestion(), Necessity()]
    return tuple(found)


def has_prediction(audit: Audit) -> bool:
    """Is a prediction audited, as a column or as a model?"""
    return audit.roles.prediction is not None or audit.predictor.is_code


def contradictions(audit: Audit) -> Iterator[str]:
    """What contradicts itself? By the path of the key."""
    roles, predicted = audit.roles, has_prediction(audit)
    if roles.prediction is not None and audit.predictor.is_code:
        yield (
            "predictor: the prediction is a column (roles.prediction) and a model; leave out one "
            "of the two"
        )
    said, beside = roles.favorable, audit.predictor.favorable
    if None not in (said, beside) and (roles.outcome or roles.prediction):
        try:
            if favors_one(roles.model(roles.prediction)) != bool(beside):
                yield (
                    f"predictor.favorable: {beside} is wanted here and {said!r} in "
                    "roles.favorable; leave out one of the two"
                )
        except CausalFairnessError as refusal:
            yield f"roles.favorable: {refusal}"
    if roles.outcome is None and not predicted:
        yield "roles: there is neither an outcome nor a prediction; name at least one"
    weights = None if audit.data is None else audit.data.weights
    if weights not in (None, roles.weights):
        yield (
            f"data.weights: the data says {weights!r} and the roles {roles.weights!r}; say it in "
            "one place"
        )
    if audit.predictor.threshold is not None and not predicted:
        yield "predictor.threshold: there is no prediction to decide by; name roles.prediction"
    for at, question in enumerate(audit.questions):
        for lacking in _lacking(question, roles.outcome is not None, predicted):
            yield f"questions[{at}]: {question.ask} needs {lacking}"
    columns = [roles.protected] if isinstance(roles.protected, str) else [*roles.protected]
    if audit.groups.intersections and len(columns) < 2:
        yield (
            f"groups.intersections: there is one protected column, {columns[0]!r}, and so no "
            "intersection; list two or more"
        )
    for at, pair in enumerate(audit.groups.pairs):
        try:
            roles.model(roles.prediction).for_groups(
                reference=pair.reference, comparison=pair.comparison
            ) if roles.outcome or roles.prediction else None
        except CausalFairnessError as refusal:
            yield f"groups.pairs[{at}]: {refusal}"


def _lacking(question: Any, outcome: bool, prediction: bool) -> Iterator[str]:
    wanted = getattr(question, "of", None)
    if not outcome and (question.ask in BOTH or wanted == "outcome"):
        yield "an outcome; name roles.outcome"
    needs = question.ask in (*BOTH, *NEEDS_PREDICTION) or wanted == "prediction"
    if not prediction and needs:
        yield "a prediction; name roles.prediction, or give predictor.function or predictor.file"
    if question.ask == "screens" and (question.selected is None) == (question.score is None):
        yield "either selected, the column of decisions, or score"
