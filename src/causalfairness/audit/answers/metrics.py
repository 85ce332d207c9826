"""Do groups fare differently, by plain metrics and by published screens? Nothing here is causal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from causalfairness.audit.answers.answer import Answer
from causalfairness.audit.questions import GroupMetricsQuestion, ScreensQuestion
from causalfairness.audit.study import Study
from causalfairness.errors import OutcomeError, RoleError, TooFewRowsError
from causalfairness.fairness_model import HIGHER, LOWER, StandardFairnessModel
from causalfairness.parity import group_metrics, screens
from causalfairness.parity.metrics.table import MetricTable
from causalfairness.parity.metrics.words import GROUPS_DIFFER
from causalfairness.tables import RowAccount, only_rows
from causalfairness.tables.frames import frame_rows, refuse_weights
from causalfairness.tables.groups import NEITHER, label_groups, members
from causalfairness.tables.target import favorable_in, favors_one


def metrics(study: Study, question: GroupMetricsQuestion, model: StandardFairnessModel) -> Answer:
    """Do groups fare differently, by the plain metrics that people expect?"""
    settings, choice = study.audit.settings, study.audit.predictor
    known = study.predictor is None and study.decision is not None
    data, said = _large_groups(study, model)
    found = group_metrics(
        study.reading(data),
        model,
        threshold=choice.threshold if known or study.predictor is not None else None,
        level=settings.level,
        bins=question.bins,
        missing=study.missing,
    )
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
            **{name: _records(table) for name, table in tables.items()},
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
    found = screens.screen(
        study.data,
        rule_of(study, question),
        columns=question.columns,
        selected=question.selected,
        favorable=_wanted(study, question, model),
        score=question.score,
        unknown=list(question.unknown),
        exclude_small=question.exclude_small,
        justification=question.justification or "",
        level=study.audit.settings.level,
        missing=study.missing,
    )
    return Answer(
        sentences=found.sentences(),
        table=found.table().to_records(),
        details=found.to_dict(),
        diagnostics=[_rows(found.account)],
        notes=(*found.notes, GROUPS_DIFFER),
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


def _large_groups(study: Study, model: StandardFairnessModel) -> tuple[Any, tuple[str, ...]]:
    """The rows of groups that are not so small that a rate tells on single people."""
    rows, smallest = frame_rows(study.data, model.protected_columns), study.audit.settings.smallest
    columns = [rows.read(name) for name in model.protected_columns]
    groups, group = label_groups(columns)
    people = np.bincount(group, minlength=len(groups))
    known = np.all([~column.is_missing for column in columns], axis=0)
    few = np.flatnonzero(known & (people[group] < smallest))
    if not len(few):
        return study.data, ()
    if (members(groups, model)[group[few]] != NEITHER).any():
        raise TooFewRowsError(
            f"a group that is compared has fewer than {smallest} people, and rates would tell on "
            "each of them; lower settings.smallest to have them all the same"
        )
    several = len(np.unique(group[few]))
    said = (
        f"{several:,} {'groups' if several > 1 else 'group'} of fewer than {smallest} people "
        f"({len(few):,} in all) left out here: rates of so few would tell on each of them"
    )
    return only_rows(study.data, np.setdiff1d(np.arange(len(group)), few)), (said,)


def _records(table: Callable[[], MetricTable]) -> Any:
    """The rows of a table; None of one that there is no reason to draw up."""
    try:
        return table().to_records()
    except OutcomeError:
        return None


def _rows(account: RowAccount) -> dict[str, Any]:
    return {"rows": {"text": str(account), **vars(account)}}
