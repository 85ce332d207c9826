"""What do the counterfactual images look like? A row of pictures for each of a few people."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from causalfairness.report.imaging.words import group_called
from causalfairness.report.page.blocks import Images, Part, Section, Sentences

MEANT = (
    "The first people of each group, not chosen by what they show. If a picture has changed where "
    "the group has no business, such as in a finding, the audit is about more than the group."
)


def images(record: Mapping[str, Any]) -> Section | None:
    """What do counterfactual images look like? None where the record holds none."""
    pictures = record.get("pictures", {})
    if not pictures.get("people"):
        return None
    groups, factor = [*map(group_called, pictures["groups"])], pictures["factor"]
    people = pictures["people"]
    worlds = _grid(
        people,
        ("as it is", *(f"as {group}" for group in groups)),
        [(person["factual"], *person["counterfactuals"]) for person in people],
        "as they are, and as generated under each of the groups",
        "Under the own group nothing should change.",
    )
    changes = _grid(
        people,
        tuple(f"change to {group}" for group in groups),
        [person["differences"] for person in people],
        "and what changes on them under each of the groups",
        f"Changes are drawn {factor} times as strong as they are: red is brighter than the image "
        "as it is, blue darker, gray the same.",
    )
    blocks = (
        Sentences((MEANT,), quiet=True),
        Part("Had the group been another", (worlds,)),
        Part(f"What changed, x {factor}", (changes,)),
    )
    return Section("images", "What the generator does to images", blocks)


def _grid(
    people: Sequence[Mapping[str, Any]],
    columns: tuple[str, ...],
    files: Sequence[Sequence[str]],
    words: str,
    caption: str,
) -> Images:
    return Images(
        columns=columns,
        rows=tuple(tuple(map(base64.b64decode, row)) for row in files),
        words=f"Radiographs of {len(people)} people {words}",
        row_names=tuple(_name(person) for person in people),
        caption=caption,
    )


def _name(person: Mapping[str, Any]) -> str:
    told = [group_called(person["group"])]
    if person.get("age") is not None:
        told.append(f"{person['age']:.0f} years")
    return ", ".join(told)
