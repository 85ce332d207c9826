"""Which studies do the tests of audit reports in a browser share? Every question, tame and hostile.

Both are run by the library itself on a small binary world: `tame` with two protected columns, their
intersections and every kind of question; `hostile` with names, values and texts that try to
run, to break out of their place, to turn the line around or to burst it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

import causalfairness as cf
from audit_studies import EVERY_KIND, people

SECTIONS = (
    "summary",
    "picture",
    "disparity",
    "groups",
    "error-rates",
    "predictive",
    "individuals",
    "invariance",
    "diagnostics",
    "assumptions",
    "provenance",
)
HOSTILE = {
    "script": "<script>window.hacked=1</script>",
    "image": '"><img src=x onerror=window.hacked=1>',
    "attribute": "' onmouseover=window.hacked=1 autofocus onfocus='window.hacked=1",
    "end": "</script></style></title></svg>--><svg onload=window.hacked=1>",
    "address": "javascript:window.hacked=1",
    "template": "{{7*7}} {% raw %} ${7*7} {0} %s",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 family",
    "back": "قسم المبيعات 123 (שלום)",
    "override": "abc\u202edef\u2066ghi",
    "controls": "a\nb\tc\x1b[31md\x07e\x7f",
    "long": "w" * 10_000,
    "words": "a long story " * 770,
}
NAMES = {
    "group": HOSTILE["script"],
    "c1": HOSTILE["image"],
    "c2": HOSTILE["long"],
    "m1": HOSTILE["controls"],
    "y": HOSTILE["end"],
    "score": HOSTILE["override"],
    "person": HOSTILE["address"],
}


def tame() -> Any:
    """The result of an audit that asks everything, about two protected columns."""
    data = people(1_000, frame="pandas")
    rng = np.random.default_rng(1)
    data["sex"] = rng.choice(["Female", "Male"], len(data))
    data["age"] = rng.integers(18, 80, len(data))
    data["person"] = [f"P{number}" for number in range(len(data))]
    audit = cf.Audit(
        title="Decisions in a small world",
        roles={
            "protected": ["group", "sex"],
            "reference": ["blue", "Male"],
            "comparison": ["green", "Female"],
            "confounders": ["c1", "c2"],
            "mediators": ["m1"],
            "outcome": "y",
            "prediction": "score",
        },
        groups={"each": True, "intersections": True},
        predictor={"favorable": 0},
        questions=_questions(features=["c1", "m1", "age"]),
        notes=["Made for tests."],
    )
    return audit.run(data)


def hostile() -> Any:
    """The result of such an audit where every name that somebody chose is hostile."""
    data = people(1_000, frame="pandas")
    texts = list(HOSTILE.values())
    data["person"] = [f"{texts[row % len(texts)]} {row}" for row in range(len(data))]
    groups = {"blue": HOSTILE["words"], "green": HOSTILE["back"] + HOSTILE["image"]}
    data["group"] = data["group"].map(groups)
    third = np.random.default_rng(2).random(len(data)) < 0.25
    data.loc[third, "group"] = HOSTILE["end"]
    audit = cf.Audit(
        title=HOSTILE["image"] + HOSTILE["emoji"] + HOSTILE["override"] + "w" * 800,
        roles={
            "protected": NAMES["group"],
            "reference": groups["blue"],
            "comparison": groups["green"],
            "confounders": [NAMES["c1"], NAMES["c2"]],
            "mediators": [NAMES["m1"]],
            "outcome": NAMES["y"],
            "prediction": NAMES["score"],
        },
        groups={"each": True},
        predictor={"favorable": 0},
        questions=_questions(NAMES, features=["c1", "m1"], by=HOSTILE["attribute"]),
        notes=texts,
    )
    return audit.run(data.rename(columns=NAMES))


def _questions(
    names: Mapping[str, str] = MappingProxyType({}), *, features: list[str], by: str = "this test"
) -> list[dict[str, Any]]:
    """Every kind of question, with columns called by these names and people by their own."""
    more = {
        "necessity": {
            "allowed": [],
            "declarations": [{"path": "spurious", "by": by, "because": f"{by} finds it necessary"}],
        },
        "situations": {
            "features": [names.get(name, name) for name in features],
            "ids": names.get("person", "person"),
            "listed": 24,
            "dossiers": 3,
        },
        "invariance": {"features": [names.get(name, name) for name in ("c1", "c2")]},
        "screens": {
            "columns": {"sex": names.get("group", "group")},
            "selected": names.get("score", "score"),
        },
    }
    return [{**question, **more.get(question["ask"], {})} for question in EVERY_KIND]
