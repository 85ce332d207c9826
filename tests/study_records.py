"""Which records do the tests of study reports share, and how are their pages read?"""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass
from functools import cache

import causalfairness as cf
from audit_studies import EVERY_KIND, PREDICTED, people, study
from causalfairness.report.page import blocks as b

TWO_ATTRIBUTES = {
    "protected": ["group", "sex"],
    "reference": ["blue", "man"],
    "comparison": ["green", "woman"],
    "confounders": ["c1"],
    "mediators": ["m1"],
    "outcome": "y",
    "prediction": "score",
}


def every_record():
    """The record of a study that asks every kind of question; a fresh copy each time."""
    return copy.deepcopy(_every())


@cache
def _every():
    roles = PREDICTED | {"favorable": 0}
    audit = study(questions=EVERY_KIND, title="Everything", notes=["A note."], roles=roles)
    return audit.run(people(900)).record


@cache
def grouped_record():
    """The record of a study of two attributes, with each group and with intersections."""
    data = people(1_200, frame="pandas")
    data["sex"] = ["woman" if at % 2 else "man" for at in range(len(data))]
    audit = cf.Audit(
        roles=TWO_ATTRIBUTES,
        groups={"each": True, "intersections": True},
        questions=[{"ask": "disparity", "margin": 0.02}],
        sensitivity={"ask": False},
    )
    return audit.run(data).record


def answer(record, title):
    """The answer whose title begins so."""
    return next(each for each in record["answers"] if each["title"].startswith(title))


def section(page, key):
    """The section of a page with this key."""
    return next(each for each in page.sections if each.key == key)


def inside(part):
    """Every block of a section, however deep."""
    for block in part.blocks:
        yield block
        if isinstance(block, b.Dossiers):
            for case in block.cases:
                yield from inside(case)
        elif hasattr(block, "blocks"):
            yield from inside(block)


def of_kind(part, kind):
    """Every block of one kind, however deep."""
    return [block for block in inside(part) if isinstance(block, kind)]


def texts(thing):
    """Every text of a page, however deep."""
    if isinstance(thing, str):
        yield thing
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from texts(getattr(thing, field.name))
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from texts(each)
