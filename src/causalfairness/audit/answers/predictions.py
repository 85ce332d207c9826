"""What does a prediction mean, may it use the paths it uses, and does it depend on the group?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from causalfairness.audit.answers.answer import Answer, judged
from causalfairness.audit.hidden_causes.asking import about_necessity
from causalfairness.audit.plain import diagnosis
from causalfairness.audit.questions import (
    InvarianceQuestion,
    Necessity,
    PredictiveParityQuestion,
)
from causalfairness.audit.study import Study, two_groups
from causalfairness.errors import InvarianceError, OutcomeError
from causalfairness.estimators.answers import evaluate
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference.intervals import normal_reach
from causalfairness.invariance import InvarianceTest, invariance_test
from causalfairness.parity import (
    Declaration,
    check_business_necessity,
    decompose_predictive_parity,
)
from causalfairness.tables import Of, only_columns
from causalfairness.tables.disclosure import without_few
from causalfairness.tables.frames import frame_rows, refuse_weights
from causalfairness.tables.target import target_of


def predictive_parity(
    study: Study, question: PredictiveParityQuestion, model: StandardFairnessModel
) -> Answer:
    """Does a score mean the same in both groups, and what is the difference made of?"""
    level = study.audit.settings.level
    scm = study.structural_model(model.outcome) if question.counterfactual else None
    data, said = study.complete(study.columns) if scm is not None else (study.data, ())
    found = decompose_predictive_parity(
        study.reading(data),
        model,
        counterfactual=scm,
        bins=question.bins,
        replicates=question.replicates,
        **study.usual,
    )
    means, bounds = found.mean_outcomes(level)
    rows, hidden = _large_bins(found.to_records(level), study.audit.settings.smallest)
    answer = Answer(
        sentences=found.sentences(level),
        table=rows,
        effects=found.summary(level).to_records(),
        details={
            **{name: getattr(found, name) for name in ("what", "score", "reference", "comparison")},
            "mean_outcomes": {
                key: np.where(hidden, np.nan, ends)
                for key, ends in (("value", means), ("low", bounds.low), ("high", bounds.high))
            },
            "mean_scores": np.where(hidden, np.nan, found.mean_scores),
            "mechanisms": [] if scm is None else scm.fits,
        },
        diagnostics=[diagnosis(found.diagnostics)],
        assumptions=found.diagnostics.assumptions,
        notes=(*found.diagnostics.notes, *said),
    )
    people = [found.diagnostics.rows.used]
    return judged(answer, [found.ppm.integrated], question.margin, level, people)


def _large_bins(rows: list[dict[str, Any]], smallest: int) -> tuple[list[dict[str, Any]], Any]:
    """Rows without numbers of few people, and whose they were: (2, bins)."""
    sides, hidden = ("reference", "comparison"), []
    for side in sides:
        rows = without_few(rows, smallest, f"{side}_people", f"{side}_")
        hidden.append([row[f"{side}_outcome"] is None for row in rows])
    for row, few in zip(rows, np.any(hidden, axis=0), strict=True):
        gaps = [key for key in row if not key.startswith((*sides, "bin", "score"))]
        row.update(dict.fromkeys(gaps if few else ()))
    return rows, np.array(hidden)


def necessity(study: Study, question: Necessity, model: StandardFairnessModel) -> Answer:
    """Does the predictor use only the paths it may, and those as the world does?"""
    if question.allowed or question.declarations:
        _check_one_scale(study, model)
    declared = [Declaration(one.path, one.by, one.because, one.on) for one in question.declarations]
    report = check_business_necessity(
        study.table,
        model,
        allowed=[*question.allowed, *declared],
        margin=question.margin,
        level=study.audit.settings.level,
        estimator=study.estimator,
        **study.usual,
    )
    told = report.to_dict()
    held = {"margin": report.margin, "level": report.level}
    return Answer(
        sentences=report.sentences(),
        table=report.table().to_records(),
        effects=report.effects().to_records(),
        verdict=report.verdict,
        judgment=None if report.verdict is None else {**held, "paths": told["paths"]},
        sensitivity=about_necessity(study, report, model),
        details={
            **{name: told[name] for name in ("what", "reference", "comparison", "allowed")},
            "declarations": told["declarations"],
            "ledger": report.ledger.lines(),
        },
        diagnostics=[diagnosis(each) for each in report.diagnostics],
        assumptions=report.assumptions,
        notes=report.notes,
    )


def _check_one_scale(study: Study, model: StandardFairnessModel) -> None:
    """Along an allowed path effects are held against each other: they must have one unit."""
    if model.prediction_column is None or model.outcome is None:
        return
    names = (model.outcome, model.prediction_column)
    rows = frame_rows(study.data, names)
    sides: tuple[Of, ...] = ("outcome", "prediction")
    read = [
        np.asarray(target_of(model, of).read(rows.read(name)))
        for of, name in zip(sides, names, strict=True)
    ]
    yes_or_no = [bool(np.isin(values[~np.isnan(values)], (0, 1)).all()) for values in read]
    beyond = [bool((values < 0).any() or (values > 1).any()) for values in read]
    for one, other in ((0, 1), (1, 0)):
        if yes_or_no[one] and beyond[other]:
            raise OutcomeError(
                f"{names[one]!r} is yes or no and {names[other]!r} reaches from "
                f"{np.nanmin(read[other]):g} to {np.nanmax(read[other]):g}: their effects have no "
                "common unit, and along an allowed path one is held against the other. Bring both "
                "to one scale (predictor.threshold makes decisions), or allow no path"
            )


def invariance(study: Study, question: InvarianceQuestion, model: StandardFairnessModel) -> Answer:
    """Does the prediction depend on the group once the features are known?"""
    refuse_weights(model.weights, "a test of invariance")
    features = question.features or tuple(model.confounders)
    if not features:
        raise InvarianceError(
            "there are no features that could block other ways from group to prediction; name "
            "some, none of which the group brings about"
        )
    settings = study.audit.settings
    used = (*model.protected_columns, *features)
    score = () if model.prediction_column is None else (model.prediction_column,)
    complete, said = study.complete((*used, *score))
    inside, labels = two_groups(complete, model)
    found = invariance_test(
        _scores(inside, model),
        labels,
        only_columns(inside, list(features)),
        method=question.method,
        draws=question.draws,
        level=settings.level,
        workers=study.workers,
        seed=settings.seed,
    )
    named = replace(found, models=(model.prediction_column or "prediction",))
    answer = Answer(
        sentences=named.sentences(),
        table=named.table().to_records(),
        details={"method": named.method, "groups": named.groups, "features": features},
        assumptions=named.assumptions,
        notes=(*named.notes, *said),
    )
    return _within(answer, named, question.margin)


def _scores(data: Any, model: StandardFairnessModel) -> Any:
    if model.predict is not None:
        return evaluate(model.predict, data, model)
    column = frame_rows(data, [str(model.prediction_column)]).read(str(model.prediction_column))
    return target_of(model, "prediction").read(column)


def _within(answer: Answer, found: InvarianceTest, margin: float | None) -> Answer:
    """Does the group move predictions by more than the margin, root mean square?

    Satisfied if the bound of the test lies below, violated if the finding stands, is sure, and a
    one-sided interval of the effect lies above.
    """
    if margin is None:
        return answer
    upper = math.sqrt(max(float(found.upper[0]), 0.0))
    reach = normal_reach(2 * found.level - 1) * float(found.standard_error[0])
    lower = math.sqrt(max(float(found.effect[0]) - reach, 0.0)) if found.rejected[0] else 0.0
    verdict = "violated" if lower > margin else "satisfied" if upper <= margin else "undecided"
    moved = f"the group moves predictions by {lower:.3g} to {upper:.3g}, root mean square"
    if found.untestable:
        verdict, moved = "undecided", found.untestable
    sentence = (
        f"Judged with a margin of {margin:g} at the {100 * found.level:.6g}% level, under these "
        f"assumptions: {verdict} ({moved})."
    )
    return answer.judged(verdict, sentence, margin=margin, level=found.level, low=lower, high=upper)
