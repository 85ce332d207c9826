"""How much of a gap is direct, indirect or spurious? Of outcomes, predictions and error rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from causalfairness.audit.answers.answer import Answer, judged
from causalfairness.audit.hidden_causes.asking import about_gap, about_groups
from causalfairness.audit.plain import diagnosis
from causalfairness.audit.questions import Disparity, ErrorRates
from causalfairness.audit.study import Study
from causalfairness.effects import Decomposition, EffectTable
from causalfairness.effects.table import record_of
from causalfairness.effects.world_means import ALL_WORLDS
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity import (
    ErrorRateDecomposition,
    compare_attributes,
    compare_groups,
    decompose_disparity,
    decompose_error_rates,
)
from causalfairness.tables.disclosure import group_sizes

Found = Decomposition | ErrorRateDecomposition
ABOUT = ("what", "reference", "comparison", "convention")


def asked_of(study: Study, question: Any) -> Any:
    """Whose mean is asked for: the outcome's, or the prediction's?"""
    return question.of or ("outcome" if study.audit.roles.outcome is not None else "prediction")


def disparity(study: Study, question: Disparity, model: StandardFairnessModel) -> Answer:
    """How much of the gap between two groups is direct, indirect or spurious?"""
    asked = _settings(study, question)
    found = decompose_disparity(study.table, model, **asked)
    hidden = about_gap(study, found, question, (model, asked["of"], asked["estimator"]))
    return replace(_answer(study, question, found, {}), sensitivity=hidden)


def error_rate(
    study: Study, question: ErrorRates, model: StandardFairnessModel, rate: str
) -> Answer:
    """How much of the gap in an error rate is direct, indirect or spurious?"""
    found = decompose_error_rates(
        study.table,
        model,
        rate,
        with_mediators=question.with_mediators,
        estimator=study.estimator,
        convention=question.convention,
        **study.usual,
    )
    level = study.audit.settings.level
    more = {
        "rate": rate,
        "audited": record_of(found.audited, found.audited.interval(level)),
        "comparison_model": found.comparison_model,
    }
    hidden = about_gap(study, found.decomposition, question, None)
    return replace(_answer(study, question, found, more), sensitivity=hidden)


def each_group(study: Study, question: Disparity, model: StandardFairnessModel) -> Answer:
    """How does each group fare against the reference, with intervals that hold together?"""
    level = study.audit.settings.level
    data, few = study.large_groups(model.protected_columns)
    found = compare_groups(study.reading(data), model, **_settings(study, question))
    groups = found.by_group.values()
    said = [f"{each.comparison}: {each.sentences(level)[0]}" for each in groups]
    hidden = about_groups(study, {each.comparison: each for each in groups})
    details = {
        "groups": [_parts(each, level) for each in groups],
        "refused": [
            {"group": model.group_label(group), "reason": reason}
            for group, reason in found.refused.items()
        ],
    }
    answer = _answer_of_several(groups, said, found.table(level), hidden, details)
    return replace(answer, notes=(*answer.notes, *few))


def attributes(study: Study, question: Disparity, model: StandardFairnessModel) -> Answer:
    """What does an intersection show that single attributes hide?"""
    level = study.audit.settings.level
    found = compare_attributes(study.table, model, **_settings(study, question))
    details = {
        "attributes": {name: _parts(one, level) for name, one in found.by_attribute.items()},
        "refused": found.refused,
        "people": group_sizes(
            {model.group_label(group): count for group, count in found.people.items()},
            study.audit.settings.smallest,
            (model.reference_label, model.comparison_label),
        ),
    }
    each, said = found.by_attribute.values(), found.sentences(level)
    hidden = about_groups(study, found.by_attribute)
    return _answer_of_several(each, said, found.table(level), hidden, details)


def _answer_of_several(
    found: Iterable[Decomposition],
    sentences: Sequence[str],
    table: EffectTable,
    hidden: dict[str, Any] | None,
    details: dict[str, Any],
) -> Answer:
    told = [each.diagnostics for each in found]
    return Answer(
        sentences=sentences,
        table=table.to_records(),
        effects=table.to_records(),
        sensitivity=hidden,
        details=details,
        diagnostics=[diagnosis(each) for each in told],
        assumptions=[line for each in told for line in each.assumptions],
        notes=[line for each in told for line in each.notes],
    )


def _settings(study: Study, question: Any) -> dict[str, Any]:
    """How a disparity is asked for."""
    of = asked_of(study, question)
    # A model at hand is asked; estimators of outcomes are for what is only observed.
    estimator = None if of == "prediction" and study.predictor is not None else study.estimator
    return {"of": of, "estimator": estimator, "convention": question.convention, **study.usual}


def _answer(study: Study, question: Any, found: Found, more: dict[str, Any]) -> Answer:
    level = study.audit.settings.level
    answer = Answer(
        sentences=found.sentences(level),
        table=found.table(level).to_records(),
        effects=found.summary(level).to_records(),
        details={**_parts(found, level), **more},
        diagnostics=[diagnosis(found.diagnostics)],
        assumptions=found.diagnostics.assumptions,
        notes=found.diagnostics.notes,
    )
    effects = [getattr(found, part) for part in question.judge]
    people = [found.diagnostics.rows.used] * len(effects)
    return judged(answer, effects, question.margin, level, people)


def _parts(found: Found, level: float) -> dict[str, Any]:
    """What a waterfall is drawn from: the parts of the gap, and the twelve world means."""
    means = [
        {
            "direct_path_told": direct,
            "mediators_told": mediators,
            "among": among,
            **record_of(mean, mean.interval(level)),
        }
        for direct, mediators, among in ALL_WORLDS
        for mean in (found.world_means[direct, mediators, among],)
    ]
    return {
        **{name: getattr(found, name) for name in ABOUT},
        "parts": found.summary(level).to_records(),
        "world_means": means,
    }
