"""Which single questions does an audit come to? One for each question, pair of groups and rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from causalfairness.audit.answers.answer import Answer
from causalfairness.audit.answers.gaps import (
    asked_of,
    attributes,
    disparity,
    each_group,
    error_rate,
)
from causalfairness.audit.answers.metrics import metrics, rule_of, screening
from causalfairness.audit.answers.people import shifts, situations
from causalfairness.audit.answers.predictions import invariance, necessity, predictive_parity
from causalfairness.audit.predictor import digest_of
from causalfairness.audit.study import Study
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity.error_rate import RATES

Ask = Callable[[Study, Any, StandardFairnessModel], Answer]
CALLED = {"necessity": "business necessity"}  # all others by their kind
ASK: dict[str, Ask] = {
    "predictive_parity": predictive_parity,
    "necessity": necessity,
    "counterfactual_fairness": shifts,
    "situations": situations,
    "invariance": invariance,
}
BY_SCORE = ("predictive_parity", "invariance")


@dataclass(frozen=True, eq=False)
class Unit:
    """What is one question, about which groups, and how is it answered?"""

    title: str
    kind: str
    question: Any
    model: StandardFairnessModel
    ask: Ask
    detail: str = ""

    @property
    def about(self) -> dict[str, Any]:
        """What is asked, as plain data?"""
        asked = self.question.model_dump(mode="json")
        return {"title": self.title, "kind": self.kind, "detail": self.detail, "question": asked}

    @property
    def groups(self) -> dict[str, str]:
        """Who is compared with whom, in words?"""
        return {
            "reference": self.model.reference_label,
            "comparison": self.model.comparison_label,
        }


def units_of(study: Study) -> tuple[Unit, ...]:
    """Which single questions are asked, in which order? Titles tell them apart."""
    found: list[Unit] = []
    for question in study.audit.asked:
        for unit in _units(study, question):
            same = sum(each.title.partition(" (#")[0] == unit.title for each in found)
            found.append(replace(unit, title=f"{unit.title} (#{same + 1})") if same else unit)
    return tuple(found)


def _units(study: Study, question: Any) -> Iterator[Unit]:
    kind = question.ask
    if kind == "group_metrics":
        yield Unit("group metrics", kind, question, study.scored, metrics)
    elif kind == "screens":
        title, rule = f"screen by {question.rule}", rule_of(study, question)
        version = digest_of(rule) if isinstance(rule, Path) and rule.is_file() else ""
        yield Unit(title, kind, question, study.scored, screening, detail=version)
    elif kind == "disparity":
        yield from _disparities(study, question)
    elif kind == "error_rates":
        for model in _pairs(study, study.decided):
            for rate in question.rates:
                title = f"{RATES[rate].name}: {_against(model)}"
                ask = partial(error_rate, rate=rate)
                yield Unit(title, kind, question, model, ask, detail=rate)
    else:
        about = study.scored if kind in BY_SCORE else study.decided
        called = CALLED.get(kind, kind.replace("_", " "))
        for model in _pairs(study, about):
            yield Unit(f"{called}: {_against(model)}", kind, question, model, ASK[kind])


def _disparities(study: Study, question: Any) -> Iterator[Unit]:
    of = asked_of(study, question)
    model = study.decided
    what = model.outcome if of == "outcome" else model.prediction_column or "prediction"
    for pair in _pairs(study, model):
        title = f"disparity of {what}: {_against(pair)}"
        yield Unit(title, "disparity", question, pair, disparity)
    if study.audit.groups.each:
        title = f"disparity of {what}: each group against {model.reference_label}"
        yield Unit(title, "groups", question, model, each_group)
    if study.audit.groups.intersections:
        title = f"disparity of {what}: one attribute at a time"
        yield Unit(title, "attributes", question, model, attributes)


def _pairs(study: Study, model: StandardFairnessModel) -> Iterator[StandardFairnessModel]:
    for reference, comparison in study.pairs:
        yield model.for_groups(reference=reference, comparison=comparison)


def _against(model: StandardFairnessModel) -> str:
    return f"{model.comparison_label} against {model.reference_label}"
