"""Do groups fare differently, by plain metrics and by published screens? Nothing here is causal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from causalfairness.audit.answers.answer import Answer
from causalfairness.audit.questions import GroupMetricsQuestion, ScreensQuestion
from causalfairness.audit.study import Study
from causalfairness.errors import OutcomeError, RoleError
from causalfairness.fairness_model import HIGHER, LOWER, StandardFairnessModel
from causalfairness.parity import group_metrics, screens
from causalfairness.parity.metrics.table import MetricTable
from causalfairness.parity.metrics.words import GROUPS_DIFFER
from causalfairness.parity.screens.question import Screening
from causalfairness.tables import RowAccount
from causalfairness.tables.disclosure import without_few
from causalfairness.tables.frames import refuse_weights
from causalfairness.tables.target import favorable_in, favors_one


def metrics(study: Study, question: GroupMetricsQuestion, model: StandardFairnessModel) -> Answer:
    """Do groups fare differently, by the plain metrics that people expect?"""
    settings, choice = study.audit.settings, study.audit.predictor
    known = study.predictor is None and study.decision is not None
    data, said = study.large_groups(model.protected_columns)
    found = group_metrics(
        study.reading(data),
        model,
        threshold=choice.threshold if known or study.predictor is not None else None,
        level=settings.level,
        bins=question.bins,
        missing=study.missing,
    ).without_few(settings.smallest, whole=not said)
    tables: dict[str, Callable[[], MetricTable]] = {
        "gaps": found.gaps,
        "ratios": found.ratios,
        "extremes": found.extremes,
        "four_fifths": found.screen,
        "calibration": found.calibration,
    }
    return Answer(
        sentences=found.sentences(),
        table=found.table().to_records(),
        details={
            **{name: _records(table, settings.smallest) for name, table in tables.items()},
            "about": found.about,
            "absent": found.absent,
        },
        diagnostics=[_rows(found.account)],
        assumptions=(),
        notes=(*found.notes, *said),
    )


def screening(study: Study, question: ScreensQuestion, model: StandardFairnessModel) -> Answer:
    """Which rates and impact ratios does a published rule ask for? Never a verdict."""
    refuse_weights(model.weights, "a published screen")
    wanted, said = _wanted(study, question, model), [GROUPS_DIFFER]
    found = _screened(study, question, wanted, study.data)
    data, divisions = study.data, reversed(found.to_dict()["divisions"])
    for names in [[question.columns[key] for key in each["by"]] for each in divisions]:
        data, of_few = study.large_groups(names, data)
        said += of_few
    if data is not study.data:
        found = _screened(study, question, wanted, data)
    return Answer(
        sentences=found.sentences(),
        table=found.table().to_records(),
        details=found.to_dict(),
        diagnostics=[_rows(found.account)],
        notes=(*found.notes, *said),
    )


def _screened(study: Study, question: ScreensQuestion, wanted: Any, data: Any) -> Screening:
    return screens.screen(
        data,
        rule_of(study, question),
        favorable=wanted,
        unknown=list(question.unknown),
        **question.model_dump(include={"columns", "selected", "score", "exclude_small"}),
        justification=question.justification or "",
        level=study.audit.settings.level,
        missing=study.missing,
    )


def _wanted(study: Study, question: ScreensQuestion, model: StandardFairnessModel) -> Any:
    """What people want of the column that is screened, by the question or by the roles."""
    measured = question.selected or question.score
    if measured not in (model.outcome, model.prediction_column) or model.favorable is None:
        return question.favorable
    wanted: Any = HIGHER if favors_one(model) else LOWER
    if question.selected is not None:
        wanted = favorable_in(study.column(question.selected), model)
    if question.favorable not in (None, wanted):
        raise RoleError(
            f"favorable is said twice for {measured!r}: {question.favorable!r} by the question and "
            f"{wanted!r} by the roles; leave out one of the two"
        )
    return wanted


def rule_of(study: Study, question: ScreensQuestion) -> Path | str:
    """Which rule is meant? A bundled one by its name, or a file, from the audit's folder on."""
    own = question.rule.endswith(".toml")
    return study.audit.beside / question.rule if own else question.rule


def _records(table: Callable[[], MetricTable], smallest: int) -> Any:
    """The rows of a table, group by group; None of one that there is no reason to draw up."""
    try:
        return without_few(table().to_records(), smallest, within=("by", "group"))
    except OutcomeError:
        return None


def _rows(account: RowAccount) -> dict[str, Any]:
    return {"rows": {"text": str(account), **vars(account)}}
