"""What is written down about an audit? One plain record that a stranger can read and check.

The layout is versioned by `SCHEMA`: new keys may be added under the same version, none disappears
or changes its meaning. `timings` holds all that differs between two runs of the same study.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from causalfairness.audit.plain import DEEPEST, is_deep, plain
from causalfairness.audit.register import register
from causalfairness.audit.study import Study
from causalfairness.errors import RecordError
from causalfairness.tables.disclosure import group_sizes
from causalfairness.tables.fingerprint import identify
from causalfairness.tables.groups import shown

SCHEMA = "causalfairness.audit/1"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "pyarrow", "duckdb", "numba")
PARTS = {"data": dict, "settings": dict, "versions": dict, "answers": list, "assumptions": list}
AS_IS = ("confounders", "mediators", "outcome", "outcome_value", "weights", "left_out")
VERDICTS = ("violated", "undecided", "satisfied")


def record_of(
    study: Study,
    answers: Sequence[Mapping[str, Any]],
    tests: Mapping[str, Any],
    started: datetime,
) -> dict[str, Any]:
    """What is written down about these answers?"""
    audit, model, told = study.audit, study.predictor, [each["answer"] for each in answers]
    return {
        "schema": SCHEMA,
        "title": audit.title,
        "data": data_section(study),
        "roles": _roles(study),
        "graph": {"text": study.graph.to_text(), "given": audit.roles.graph is not None},
        "settings": audit.to_dict(),
        "asked": [question.model_dump(mode="json") for question in audit.asked],
        "seed": audit.settings.seed,
        "model": None if model is None else {"name": model.name, "sha256": model.digest},
        "versions": versions(),
        "answers": told,
        "people": _held(told),
        "assumptions": register(told, tests["tests"], audit.settings.level),
        "verdict": overall(told),
        "warnings": [
            {"question": answer["title"], "warning": said}
            for answer in told
            for said in answer["warnings"]
        ],
        "notes": list(audit.notes),
        "timings": _timings([*answers, tests], [answer["title"] for answer in told], started),
    }


def data_section(study: Study) -> dict[str, Any]:
    """Which data was it? Fingerprints do not depend on the engine or the order of rows."""
    return {
        "rows": study.rows,
        "columns": {name: identify([study.column(name)]).fingerprint for name in study.columns},
        "fingerprint": study.identity.fingerprint,
        "groups": _people(study),
        "order": study.identity.order,
        "source": study.source,
    }


def overall(answers: Sequence[Mapping[str, Any]]) -> str | None:
    """What is said about all questions that are judged? None where none is.

    A question that was to be judged and could not be, because it was not answered or its models
    have not settled, leaves the whole undecided.

    >>> judged = {"verdict": "satisfied", "status": "answered", "question": {"margin": 0.1}}
    >>> overall([judged]), overall([judged, {**judged, "verdict": "violated"}]), overall([])
    ('satisfied', 'violated', None)
    """
    found = [
        answer["verdict"] or "undecided"
        for answer in answers
        if answer["verdict"] is not None or answer["question"].get("margin") is not None
        if answer["verdict"] is not None or not _could_be_judged(answer)
    ]
    return next((verdict for verdict in VERDICTS if verdict in found), None)


def _could_be_judged(answer: Mapping[str, Any]) -> bool:
    return answer["status"] == "answered" and answer.get("settled") is not False


def versions() -> dict[str, Any]:
    """Which programs found the answers?

    >>> sorted(versions())
    ['causalfairness', 'libraries', 'python']
    """
    return {
        "causalfairness": _version("causalfairness"),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
    }


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What does the record in this file say?

    >>> read_record("nowhere.json")
    Traceback (most recent call last):
    ...
    causalfairness.errors.RecordError: the record 'nowhere.json' cannot be read: No such file ...
    """
    return check_record(stored_record(path), os.fspath(path))


def stored_record(path: str | os.PathLike[str]) -> Any:
    """What is in this file, whatever kind of study it is the record of?"""
    file = Path(path)
    try:
        return json.loads(file.read_text("utf-8-sig"), parse_constant=_no_number)
    except OSError as cause:
        raise RecordError(
            f"the record {str(file)!r} cannot be read: {cause.strerror or cause}"
        ) from None
    except (ValueError, RecursionError) as cause:
        raise RecordError(f"{str(file)!r} is no record: {cause}") from None


def check_record(found: Any, where: str) -> dict[str, Any]:
    """Is this a record that can be compared?"""
    if is_deep(found):
        raise RecordError(f"{where!r} is no record: it is nested deeper than {DEEPEST} times")
    if not isinstance(found, dict) or not str(found.get("schema", "")).startswith(
        SCHEMA.partition("/")[0]
    ):
        raise RecordError(f"{where!r} is no record of an audit; expected one of schema {SCHEMA}")
    if found["schema"] != SCHEMA:
        raise RecordError(
            f"{where!r} is a record of schema {found['schema']!r}, and this version reads {SCHEMA}"
        )
    lacking = [key for key, kind in PARTS.items() if not isinstance(found.get(key), kind)]
    answers = found["answers"] if "answers" not in lacking else []
    if any(not isinstance(answer, dict) or "title" not in answer for answer in answers):
        lacking.append("the title of every answer")
    if lacking:
        raise RecordError(f"{where!r} is no whole record: {', '.join(lacking)} is not in it")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON knows")


def _timings(
    kept: Sequence[Mapping[str, Any]], titles: Sequence[str], started: datetime
) -> dict[str, Any]:
    """When was it asked, how long did it take, and what had been answered before?"""
    return {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round((datetime.now(UTC) - started).total_seconds(), 3),
        "questions": [
            {"question": title, **{key: each[key] for key in ("seconds", "restored", "damaged")}}
            for title, each in zip([*titles, "assumptions"], kept, strict=True)
        ],
    }


def _people(study: Study) -> list[dict[str, Any]]:
    sizes = {shown(group): count for group, count in study.sizes.items()}
    models = [study.scored.for_groups(reference=a, comparison=b) for a, b in study.pairs]
    compared = {each for one in models for each in (one.reference_label, one.comparison_label)}
    return group_sizes(sizes, study.audit.settings.smallest, compared)


def _held(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many single people does the record tell about, and which of their columns?"""
    people, columns = set[str](), dict[str, None]()
    for answer in (each for each in answers if each["kind"] == "situations"):
        names, rows = answer["table"]["columns"], answer["table"]["rows"]
        ids = answer["question"]["ids"]
        at = names.index("row" if ids is None else "id") if rows else 0
        people |= {f"{ids or 'row'} {row[at]}" for row in rows}
        columns |= dict.fromkeys(names)
        for case in answer["details"].get("dossiers", ()):
            peers = [peer for side in ("control", "test") for peer in case[side]["peers"]]
            people |= {case["person"], *(peer["name"] for peer in peers)}
            columns |= dict.fromkeys(case["features"])
    return {"single": len(people), "columns": [*columns]}


def _roles(study: Study) -> dict[str, Any]:
    model = study.scored
    found: dict[str, Any] = plain(
        {
            "protected": model.protected_columns,
            "reference": model.reference_label,
            "comparison": model.comparison_label,
            **{name: getattr(model, name) for name in AS_IS},
            "prediction": model.prediction_column
            or (None if study.predictor is None else study.predictor.name),
            "decision": study.decision,
            "words": model.describe(),
        }
    )
    return found


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
