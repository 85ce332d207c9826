"""How do groups and intersections fare? Sizes, comparisons, plain metrics and screens.

Sizes and rates are about groups; nobody is listed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from causalfairness.report.page.blocks import Block, Column, Folded, Section, Sentences, Table
from causalfairness.report.study.gaps import waterfalls
from causalfairness.report.study.metrics import metrics, screen
from causalfairness.report.study.reading import Reading, is_answered
from causalfairness.report.study.rows import intervals, row_of
from causalfairness.report.study.told import Told
from causalfairness.report.study.verdicts import question_by_question
from causalfairness.report.study.words import full_stop, table_of
from causalfairness.report.summary import Row

ASKED = ("groups", "attributes", "group_metrics", "screens")
TOGETHER = (
    "These intervals hold together, for all groups and parts at once, and the p-values allow for "
    "all of them."
)


def groups(reading: Reading) -> Section | None:
    """How do groups and intersections fare, and how many people are in each?"""
    asked = reading.of_kind(*ASKED)
    if not asked:
        return None
    parts = question_by_question(asked, reading, _about, lambda each: _title(each, reading))
    return Section("groups", "Groups and intersections", (_sizes(reading), *parts))


def _about(answer: Told, reading: Reading) -> list[Block]:
    kind, level = answer["kind"].value, reading.level
    if kind == "groups":
        return _each_group(answer, level)
    if kind == "attributes":
        return _attributes(answer, level)
    if kind == "group_metrics":
        return metrics(answer, level, reading.smallest)
    return screen(answer, level)


def _title(answer: Told, reading: Reading) -> str:
    if answer["kind"].value != "screens" or not is_answered(answer):
        return reading.called(answer["title"])
    return answer["details"]["rule"]["name"].text


def _sizes(reading: Reading) -> Table:
    by = Column("group", f"group, by {reading.roles['protected'].shown}")
    people = Column("people", "people", "number")
    title = "How many people are in each group"
    return table_of(title, reading.told["data"]["groups"], by, people, sortable=True)


def _each_group(answer: Told, level: float) -> list[Block]:
    details = answer["details"]
    rows = _named(answer, [each["comparison"].exact for each in details["groups"]])
    blocks: list[Block] = [
        Sentences(answer["sentences"].texts, listed=True),
        *intervals("The gap to the reference group, and its parts", rows, level=level),
        Sentences((TOGETHER,), quiet=True),
    ]
    blocks += _refused([(each["group"].text, each["reason"].text) for each in details["refused"]])
    drawn = waterfalls([*details["groups"]], level)
    blocks += [Folded("Group by group, drawn", tuple(drawn))] if drawn else []
    return blocks


def _attributes(answer: Told, level: float) -> list[Block]:
    details = answer["details"]
    rows = _named(answer, details["attributes"].keys)
    columns = (Column("group", "intersection"), Column("people", "people", "number"))
    people = table_of("", details["people"], *columns)
    blocks: list[Block] = [
        Sentences(answer["sentences"].texts, listed=True),
        *intervals("Each attribute alone, and all together", rows, level=level),
        Folded("How many people are in each intersection", (people,)),
        *_refused([(name, reason.text) for name, reason in details["refused"].items()]),
    ]
    drawn = waterfalls([each for _, each in details["attributes"].items()], level)
    blocks += [Folded("Attribute by attribute, drawn", tuple(drawn))] if drawn else []
    return blocks


def _named(answer: Told, groups: Sequence[str]) -> list[Row]:
    """Effects are called after their group and their part; a row has each in its place.

    What the parts mean is said for the first group only.
    """
    found: list[Row] = []
    for effect in answer["effects"]:
        name = effect["name"].exact
        group = next(
            (one for one in sorted(groups, key=len, reverse=True) if name.startswith(f"{one}: ")),
            "",
        )
        part = name.removeprefix(f"{group}: ") if group else name
        row = row_of(effect, answer.cut(group), part)
        if row is not None:
            is_first = not found or found[0].group == row.group
            found.append(row if is_first else replace(row, meaning=""))
    return found


def _refused(refused: Sequence[tuple[str, str]]) -> list[Block]:
    lines = tuple(full_stop(f"not compared: {group}: {reason}") for group, reason in refused)
    return [Sentences(lines, listed=True)] if lines else []
