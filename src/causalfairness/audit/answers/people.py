"""Is this person treated differently? Counterfactual shifts, and situation tests.

Single people are listed where the question asks for them, and never those in groups of fewer than
`settings.smallest`: a row about so few says too much about each of them. They are counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from causalfairness.audit.answers.answer import Answer, judged
from causalfairness.audit.answers.gaps import asked_of
from causalfairness.audit.plain import plain
from causalfairness.audit.questions import CounterfactualFairnessQuestion, SituationsQuestion
from causalfairness.audit.study import Study, two_groups
from causalfairness.errors import InterventionError, RoleError, SituationError
from causalfairness.estimators.answers import check_order
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.individuals import (
    CounterfactualFairness,
    Dossier,
    SituationTest,
    counterfactual_fairness,
    counterfactual_situation_test,
    situation_test,
)
from causalfairness.tables import add_column, only_columns
from causalfairness.tables.frames import frame_rows
from causalfairness.tables.target import favorable_in, favors_one

POINTS = 64  # at which densities are kept
BINS = 20  # of the histogram of shifts
COLUMN_MODEL = (
    "the model itself is not at hand: what it would have said in the other world follows from "
    "a mechanism that was fitted to its column {column!r}"
)
NOBODY = (
    "nobody is listed: single people are shown where listed and dossiers of the question say so"
)
OF_SITUATIONS = ("features", "complaining", "compared", "declined")
ONLY_THESE = "only people of the two groups are asked about, not those of other combinations"


def shifts(
    study: Study, question: CounterfactualFairnessQuestion, model: StandardFairnessModel
) -> Answer:
    """Would each person's prediction have been the same, had they been in the other group?"""
    settings, column = study.audit.settings, model.prediction_column
    scm = study.structural_model(column)
    needed = [*scm.graph.nodes, *([model.weights] if model.weights else [])]
    data, said = study.complete(needed)
    if question.do is None and len(model.protected_columns) > 1:
        data, _ = two_groups(data, model)  # others share a value with them, and would be told too
        said = (*said, ONLY_THESE)
    if study.predictor is None:
        data = only_columns(data, needed)
    told = _told(study, question, model)
    data, few = study.large_groups([*told], data)
    found = counterfactual_fairness(
        _column_of_people(column) if study.predictor is None else study.predictor.decide,
        replace(study.reading(data), weights=model.weights),
        scm,
        told,
        draws=question.draws,
        replicates=question.replicates,
        workers=study.workers,
        seed=settings.seed,
    )
    moved = [group for group in found if group.changed]
    effects, people = [group.shift for group in moved], [group.people for group in moved]
    extra = (COLUMN_MODEL.format(column=column),) if study.predictor is None else ()
    answer = Answer(
        sentences=found.sentences(settings.level),
        table=[_large_tails(row, settings.smallest) for row in found.to_records(settings.level)],
        effects=found.table(settings.level).to_records(),
        details={
            "told": found.told,
            "groups": [_spread(found, at, settings.smallest) for at in range(len(found.groups))],
            "mechanisms": scm.fits,
        },
        assumptions=(*found.assumptions, *extra),
        notes=(*found.notes, *said, *few),
    )
    return judged(answer, effects, question.margin, settings.level, people)


def situations(study: Study, question: SituationsQuestion, model: StandardFairnessModel) -> Answer:
    """Are people like each one declined more often than like people of the other group?"""
    data, decision, favorable = _decisions(study, question, model)
    features = question.features or (*model.confounders, *model.mediators)
    if not features:
        raise SituationError("there are no features that make people alike; name features")
    settings = study.audit.settings
    asked: dict[str, Any] = {
        **{name: getattr(model, name) for name in ("protected", "comparison", "reference")},
        "features": list(features),
        "decision": decision,
        "favorable": favorable,
        "k": list(question.k),
        "level": settings.level,
        "workers": study.workers,
        **question.model_dump(include={"tau", "sided", "interval", "within", "ids"}),
    }
    people = replace(study.reading(data), missing=study.missing, weights=model.weights)
    if not question.counterfactual:
        return _about_situations(situation_test(people, **asked), question, settings.smallest)
    scm = study.structural_model(None)
    found = counterfactual_situation_test(people, scm, seed=settings.seed, **asked)
    said = _about_situations(found, question, settings.smallest)
    return replace(said, details={**said.details, "mechanisms": scm.fits})


def _column_of_people(column: str | None) -> Any:
    if column is None:
        raise RoleError("there is no prediction to follow; name roles.prediction")
    return lambda people: frame_rows(people, [column]).read(column).values


def _told(study: Study, question: Any, model: StandardFairnessModel) -> Any:
    """What is set: as the question says, or the reference group for those of the comparison."""
    if question.do is not None:
        return {
            name: {_as_in(study, name, old): new for old, new in value.items()}
            if isinstance(value, dict)
            else value
            for name, value in question.do.items()
        }
    if model.comparison is None or model.reference is None:
        raise InterventionError(
            "the other group must be a single one; name both reference and comparison, or say "
            "with do what is set for everyone"
        )
    if isinstance(model.protected, str):
        return {model.protected: {model.comparison: model.reference}}
    return {
        name: {old: new}
        for name, old, new in zip(
            model.protected_columns, model.comparison, model.reference, strict=True
        )
        if old != new
    }


def _as_in(study: Study, name: str, key: str) -> Any:
    """Keys of a file are text; where the column holds numbers, numbers are meant."""
    if name in study.columns and study.column(name).is_number:
        try:
            return float(key)
        except ValueError:
            return key
    return key


def _large_tails(row: dict[str, Any], smallest: int) -> dict[str, Any]:
    """Quantiles of shifts are told where so many people are at least as far out."""
    beyond = {f"q{q}": row["people"] * min(q, 100 - q) / 100 for q in (5, 25, 50, 75, 95)}
    return row | {key: None for key, people in beyond.items() if people < smallest}


def _spread(found: CounterfactualFairness, at: int, smallest: int) -> dict[str, Any]:
    """How predictions and shifts are spread in a group; the furthest together, so many a side.

    Bars that stand for fewer people are left out.
    """
    group, inside = [*found][at], found.group == at
    together = replace(
        found,
        fact=_drawn_in(found.fact, inside, smallest),
        otherwise=np.stack([_drawn_in(draw, inside, smallest) for draw in found.otherwise]),
    )
    curves = together.densities(found.groups[at], POINTS)
    counts, edges = _bars(_drawn_in(found.shift, inside, smallest)[inside])
    return {
        "group": group.name,
        "people": group.people,
        "densities": {"at": curves.at, "fact": curves.fact, "otherwise": curves.otherwise},
        "shifts": {"edges": edges, "counts": np.where(counts < smallest, 0, counts)},
    }


def _bars(shifts: Any) -> tuple[Any, Any]:
    """Counts and edges of a histogram; shifts that differ by rounding alone are one bar."""
    size = float(np.abs(shifts).max())
    if np.ptp(shifts) > 1e-9 * size:
        return np.histogram(shifts, bins=BINS)
    middle, reach = (shifts.min() + shifts.max()) / 2, max(0.5, 1e-9 * size)
    ends = (middle - reach, middle + reach)
    return np.histogram(np.full(len(shifts), middle), bins=BINS, range=ends)


def _drawn_in(values: Any, inside: Any, smallest: int) -> Any:
    """Values, no further out than those that so many people of the group share or pass."""
    ordered = np.sort(values[inside])
    end = min(max(smallest, 1), len(ordered)) - 1
    low, high = sorted((ordered[end], ordered[len(ordered) - 1 - end]))
    return np.clip(values, low, high)


def _decisions(
    study: Study, question: SituationsQuestion, model: StandardFairnessModel
) -> tuple[Any, str, Any]:
    """Which column holds decisions, and which of its values is the good one?"""
    of = question.of
    if of is None:
        of = asked_of(study, question) if model.prediction is None else "prediction"
    data, name = study.data, str(model.outcome if of == "outcome" else model.prediction_column)
    if of != "outcome" and study.predictor is not None:
        check_order(study.predictor.decide, study.data)
        made = study.predictor.decide(study.data)
        data, name = add_column(study.data, [int(each) for each in made], name="decision")
    elif of == "outcome" or study.decision is None:
        return data, name, favorable_in(study.column(name), model)
    wanted = favors_one(model, None if model.outcome is None else study.column(model.outcome))
    return data, name, wanted if wanted is None else int(wanted)


def _about_situations(found: SituationTest, question: Any, smallest: int) -> Answer:
    allowed, suppressed, said = _allowed(found, question, smallest)
    key = "id" if question.ids is not None else "row"
    first = [row for row in allowed if row["evidence"]][: question.dossiers]
    return Answer(
        sentences=found.sentences(),
        table=allowed[: question.listed],
        details={
            "method": found.name,
            "summary": found.summary().to_records(),
            **{name: getattr(found.situations, name) for name in OF_SITUATIONS},
            "suppressed": suppressed,
            "smallest": smallest,
            "dossiers": [
                {key: row[key], **_dossier(found.dossier(row[key], k=row["k"]))} for row in first
            ],
        },
        assumptions=found.assumptions,
        notes=(*found.notes, *said),
    )


def _allowed(
    found: SituationTest, question: Any, smallest: int
) -> tuple[list[dict[str, Any]], int, list[str]]:
    """Who may be listed, discoveries first, and how many not, for being so few?"""
    table = found.table().to_records()
    few = len(found.situations.complainants) < smallest
    large = [row for row in table if min(row["control_size"], row["test_size"]) >= smallest]
    shown = [] if few else sorted(large, key=_place, reverse=True)
    suppressed, said = len(table) - len(shown), []
    if suppressed:
        said.append(
            f"{suppressed:,} of {len(table):,} lines are about groups of fewer than {smallest} "
            "people, and are not listed"
        )
    if not question.listed and not question.dossiers:
        said.append(NOBODY)
    elif 0 < question.listed < len(shown):
        said.append(
            f"{question.listed:,} of {len(shown):,} differences are listed: discoveries first, "
            "then the largest"
        )
    return shown, suppressed, said


def _place(row: dict[str, Any]) -> tuple[bool, float]:
    return row["discovery"], -2.0 if row["delta"] is None else float(row["delta"])


def _dossier(found: Dossier) -> dict[str, Any]:
    kept = ("person", "k", "features", "fact", "otherwise", "finding")
    groups = {
        name: {"about": group.about, "declined": group.declined, "peers": group.peers}
        for name, group in (("control", found.control), ("test", found.test))
    }
    said = {"sentences": found.sentences(), "rows": found.rows()}
    told: dict[str, Any] = plain({**{key: getattr(found, key) for key in kept}, **groups, **said})
    return told
