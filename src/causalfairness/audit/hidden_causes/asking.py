"""How far could a hidden common cause move the effects behind an answer? (methods §12)

The bounds are those of `sensitivity_to_confounding`, for the direct, indirect and spurious part.
Confounders are left out in turn only where that is asked for: with models each takes as long as an
answer does. What was learned for one question is kept for the next.

A path that a business may use is held against the outcome's own: what counts is the difference of
two effects. What a hidden cause does to a difference is at most what it does to both, so that the
scales of both add up, and of two shares the larger one counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from causalfairness.audit.hidden_causes.telling import told
from causalfairness.audit.hidden_causes.verdicts import Exposed
from causalfairness.audit.study import Study
from causalfairness.effects import Decomposition
from causalfairness.errors import CausalFairnessError, SensitivityError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity import NecessityReport
from causalfairness.parity.necessity.paths import PATHS
from causalfairness.parity.necessity.report import PathVerdict
from causalfairness.parity.statistical import describe, pick
from causalfairness.sensitivity import (
    EffectSensitivity,
    Shares,
    Stage,
    benchmark_confounders,
    sensitivity_to_confounding,
)
from causalfairness.sensitivity.benchmarks import NOTES
from causalfairness.sensitivity.stages import NO_STAGE, STAGES
from causalfairness.sensitivity.strengths import Strengths
from causalfairness.tables import Of, open_table

Told = dict[str, Any]
Measured = Mapping[tuple[str, str], Strengths]  # by confounder and effect
Measure = tuple[StandardFairnessModel, Of, Any]  # of whose mean, found by which estimator
SIDES: tuple[Of, ...] = ("outcome", "prediction")
BESIDES = (
    "confounders were left out in turn for disparities and for business necessity only: error "
    "rates and further groups have no such measure"
)
DIFFERENCE = (
    "along an allowed path the prediction's effect is held against the outcome's: a hidden cause "
    "may move both, and the bounds of the two were added up"
)
OTHER_ESTIMATOR = "confounders were not left out in turn: {one} would be used for it, and not {two}"


def about_gap(
    study: Study,
    found: Decomposition,
    question: Any,
    measure: Measure | None,
) -> Told | None:
    """What could a hidden cause do to the parts of a gap? `measure` says how it was estimated."""
    if not study.audit.sensitivity.ask:
        return None
    margin = question.margin or 0.0
    try:
        shown = _shown(study, found, margin)
    except SensitivityError as refusal:
        return not_about(str(refusal))
    measured: Measured = {}
    notes: tuple[str, ...] = (BESIDES,)
    if measure is not None:
        measured, notes = _measured(study, study.data, found, measure)
    judge = () if question.margin is None else question.judge
    exposed = [Exposed(each, each.name in judge, _benchmarks(measured, each)) for each in shown]
    if "total" in judge:
        # The gap itself, which no hidden cause can move.
        still = dict.fromkeys(STAGES, NO_STAGE)
        gap = replace(shown[0], effect=found.total, meaning="", stages=still)
        exposed.insert(0, Exposed(gap, judged=True))
    return told(exposed, study.audit, found.what, margin=question.margin, notes=notes)


def about_groups(study: Study, named: Mapping[str, Decomposition]) -> Told | None:
    """What could a hidden cause do to the parts of several gaps, none of which is judged?"""
    if not study.audit.sensitivity.ask:
        return None
    try:
        shown = [
            Exposed(replace(each, effect=each.effect.named(f"{name}: {each.name}")))
            for name, found in named.items()
            for each in _shown(study, found, 0.0)
        ]
    except SensitivityError as refusal:
        return not_about(str(refusal))
    what = next(found.what for found in named.values())
    return told(shown, study.audit, what, margin=None, notes=(BESIDES,))


def about_necessity(
    study: Study, report: NecessityReport, model: StandardFairnessModel
) -> Told | None:
    """What could a hidden cause do to what must vanish on each path?"""
    if not study.audit.sensitivity.ask:
        return None
    sides = {
        of: describe(estimate, model, of, "sequential")
        for of, estimate in zip(SIDES, report.findings.estimates, strict=True)
    }
    try:
        shown = {of: _shown(study, found, report.margin or 0.0) for of, found in sides.items()}
    except SensitivityError as refusal:
        return not_about(str(refusal))
    both = [name for name in (model.outcome, model.prediction_column) if name is not None]
    data, _ = study.complete(both)
    measured = {
        of: _measured(study, data, found, (model, of, study.estimator))
        for of, found in sides.items()
    }
    exposed = []
    for path in report:
        used = {of: _one(found, path.name) for of, found in shown.items()}
        known = {of: _benchmarks(measured[of][0], each) for of, each in used.items()}
        exposed.append(_along(path, used, known))
    said = [line for _, notes in measured.values() for line in notes]
    notes = (*said, *((DIFFERENCE,) if any(path.allowed for path in report) else ()))
    return told(exposed, study.audit, report.what, margin=report.margin, notes=notes)


def not_about(reason: str) -> Told:
    """What is said where no bound applies?

    >>> not_about("nothing about causes is assumed")["applies"]
    False
    """
    return {"applies": False, "reason": reason}


def _shown(study: Study, found: Decomposition, margin: float) -> list[EffectSensitivity]:
    stated = study.audit.sensitivity
    return [
        *sensitivity_to_confounding(
            found,
            outcome_share=stated.outcome_share,
            group_share=stated.group_share,
            margin=margin,
            level=study.audit.settings.level,
            effects=PATHS,
        )
    ]


def _measured(
    study: Study, data: Any, found: Decomposition, measure: Measure
) -> tuple[Measured, tuple[str, ...]]:
    """How strong are the confounders that were seen? Learned once for each pair of groups."""
    stated, (model, of, _) = study.audit.sensitivity, measure
    if not stated.benchmarks or not stated.most:
        return {}, ()
    if not model.confounders:
        return {}, ("there is no confounder to measure a hidden one by",)
    used, groups = found.diagnostics, (model.reference_label, model.comparison_label)
    key = (of, *groups, found.convention, used.estimator, used.rows.used)
    if key not in study.left_out:
        study.left_out[key] = _leave_out(study, data, found, measure)
    strengths, notes = study.left_out[key]
    return strengths, notes


def _leave_out(
    study: Study, data: Any, found: Decomposition, measure: Measure
) -> tuple[Measured, tuple[str, ...]]:
    """What were the shares of each confounder, and what must be said about it?"""
    most, (model, of, estimator) = study.audit.sensitivity.most, measure
    chosen, _ = pick(open_table(study.reading(data), missing=study.missing), [model], of, estimator)
    if str(chosen) != found.diagnostics.estimator:
        return {}, (OTHER_ESTIMATOR.format(one=chosen, two=found.diagnostics.estimator),)
    try:
        seen = benchmark_confounders(
            study.reading(data),
            model,
            of=of,
            estimator=chosen,
            convention=found.convention,
            effects=PATHS,
            confounders=model.confounders[:most],
            found=found,
            **study.usual,
        )
    except CausalFairnessError as refusal:
        return {}, (f"confounders were not left out in turn: {refusal}",)
    rest = model.confounders[most:]
    more = (f"not left out in turn, as the audit asks for {most}: {', '.join(rest)}",)
    strengths = {(each.confounder, each.as_strong.name): each.as_strong.strengths for each in seen}
    return strengths, (*NOTES, *(more if rest else ()))


def _benchmarks(measured: Measured, shown: EffectSensitivity) -> dict[str, EffectSensitivity]:
    return {
        confounder: replace(shown, strengths=strengths)
        for (confounder, effect), strengths in measured.items()
        if effect == shown.name
    }


def _one(shown: Sequence[EffectSensitivity], name: str) -> EffectSensitivity:
    return next(each for each in shown if each.name == name)


def _along(
    path: PathVerdict,
    used: Mapping[Of, EffectSensitivity],
    known: Mapping[Of, Mapping[str, EffectSensitivity]],
) -> Exposed:
    """What must vanish on a path: the prediction's effect, or its distance from the outcome's."""
    if not path.allowed:
        return Exposed(used["prediction"], True, known["prediction"])
    shown = replace(
        used["prediction"],
        effect=path.difference,
        stages={
            stage: _added(used["prediction"].stages[stage], used["outcome"].stages[stage])
            for stage in STAGES
        },
    )
    both = {
        confounder: replace(
            shown,
            strengths={
                stage: _larger(each.strengths[stage], known["outcome"][confounder].strengths[stage])
                for stage in STAGES
            },
        )
        for confounder, each in known["prediction"].items()
        if confounder in known["outcome"]
    }
    return Exposed(shown, True, both)


def _added(one: Stage, other: Stage) -> Stage:
    """A stage whose scale is the sum of both."""
    weight = max(one.weight, other.weight)
    return Stage((one.scale + other.scale) ** 2 / weight, weight) if weight else NO_STAGE


def _larger(one: Shares, other: Shares) -> Shares:
    return Shares(max(one.outcome, other.outcome), max(one.group, other.group))
