"""What are the answers of an audit? One question after the other, none of them twice.

A question that the library refuses is not answered, with the reason, and the others go on. So they
do where one meets an error that nobody foresaw, a defect of the program: the record names the
question, the error's kind and what it says, without numbers, quoted values and paths, which may be
about people or machines. With a folder, what is finished is kept, defects left out: a run that was
interrupted takes up where it stopped, and ends with the same record, but for timings.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from causalfairness.audit.answers.answer import Answer
from causalfairness.audit.defects import said_by
from causalfairness.audit.hidden_causes.asking import not_about
from causalfairness.audit.hidden_causes.words import NO_BOUND
from causalfairness.audit.record import SCHEMA, record_of, versions
from causalfairness.audit.register import independences
from causalfairness.audit.result import AuditResult
from causalfairness.audit.schema import Audit
from causalfairness.audit.store import Store, key_of
from causalfairness.audit.study import Study, prepare
from causalfairness.audit.units import Unit, units_of
from causalfairness.errors import CausalFairnessError
from causalfairness.estimators.fit_memory import remembered_fits
from causalfairness.inference import run_all

Kept = dict[str, Any]
REGISTER = "assumptions"


def run_audit(
    audit: Audit,
    data: Any = None,
    *,
    trust: bool,
    workers: int,
    folder: str | os.PathLike[str] | None,
) -> AuditResult:
    """What are the answers of this audit?"""
    started = datetime.now(UTC)
    study = prepare(audit, data, trust=trust, workers=workers)
    run = _Run(study, Store.at(folder))
    tasks: list[Unit | None] = [*units_of(study), None]
    with remembered_fits():
        *answers, tests = run_all(run.ask, tasks, workers=1, what="asking questions")
    return AuditResult(record_of(study, answers, tests, started))


@dataclass(frozen=True, eq=False)
class _Run:
    """What is asked, and where are answers kept?"""

    study: Study
    store: Store

    def ask(self, unit: Unit | None) -> Kept:
        """What is the answer? None stands for the tests of what the graph implies."""
        if unit is None:
            return self._once({"title": REGISTER}, lambda: {"tests": independences(self.study)})
        return self._once(unit.about | unit.groups, lambda: {"answer": answer_of(self.study, unit)})

    def _once(self, about: Kept, work: Callable[[], Kept]) -> Kept:
        key = key_of({**identity_of(self.study), "about": about})
        kept = self.store.find(key)
        if kept is not None:
            return {**kept, "restored": True, "damaged": False}
        began, damaged = time.perf_counter(), self.store.holds(key)
        found = work()
        found["seconds"] = round(time.perf_counter() - began, 3)
        parts = [found["answer"]] if "answer" in found else found["tests"]
        if not any(each.get("defect") for each in parts):  # which is asked again
            self.store.keep(key, found)
        return {**found, "restored": False, "damaged": damaged}


def identity_of(study: Study) -> Kept:
    """On what does every answer depend, besides its question?"""
    told = study.audit.to_dict()
    parts = ("roles", "predictor", "estimator", "sensitivity", "settings")
    return {
        "schema": SCHEMA,
        "versions": versions(),
        "fingerprint": study.identity.fingerprint,
        "order": study.identity.order,
        "missing": study.missing,
        "reading": {} if study.audit.data is None else study.audit.data.reading,
        "columns": study.columns,
        "model": "" if study.predictor is None else study.predictor.digest,
        **{part: told[part] for part in parts},
    }


def answer_of(study: Study, unit: Unit) -> Kept:
    """What is the answer to one question? Or why is there none?"""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            if unit.kind != "screens":  # which compare whom their rule names
                study.check_sizes(unit.model)
            found, refused = unit.ask(study, unit.question, unit.model), None
        except Exception as error:  # the other questions are answered all the same
            found, refused = Answer(sentences=()), error
    if refused is None and getattr(unit.question, "margin", None) is not None:
        found = replace(found, notes=(*found.notes, unit.question.margin_note))
    if refused is None and unit.kind in NO_BOUND and study.audit.sensitivity.ask:
        found = replace(found, sensitivity=not_about(NO_BOUND[unit.kind]))
    said = dict.fromkeys(f"{each.category.__name__}: {each.message}" for each in heard)
    is_defect = refused is not None and not isinstance(refused, CausalFairnessError)
    return {
        **unit.about,
        "groups": unit.groups,
        "status": "answered" if refused is None else "not answered",
        "reason": "" if refused is None else said_by(refused, map(study.column, study.columns)),
        **({"defect": True} if is_defect else {}),
        "refused_by": "" if refused is None else type(refused).__name__,
        "warnings": [*said],
        **found.to_dict(study.audit.settings.smallest),
    }
