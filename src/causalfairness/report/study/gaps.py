"""What is a gap made of? Waterfalls, parts with their intervals, and all effects behind them.

The same for gaps of outcomes, of predictions and of error rates: from the reference group's mean
through the direct, indirect and spurious part to the comparison group's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from causalfairness.report.page.blocks import (
    Block,
    Column,
    Folded,
    Part,
    Section,
    Sentences,
    Table,
    Waterfall,
    Waterfalls,
)
from causalfairness.report.study.reading import Reading, against, is_answered
from causalfairness.report.study.rows import intervals, row_of, rows_of, unknown
from causalfairness.report.study.told import Told
from causalfairness.report.study.verdicts import judgments_of, margin_of
from causalfairness.report.study.words import bounds, opening, remarks, said_of, table_of
from causalfairness.report.summarise import WALKS, walk

PATHS = ("direct", "indirect", "spurious")
HOW = (
    "Read from the top: the reference group's mean, then what changes along each path, down to the "
    "comparison group's mean. Direct is what remains when everything else is held alike; indirect "
    "runs through the mediators; spurious comes along with the confounders."
)
ADD_UP = (
    "The parts add up to the gap by construction, for right and for wrong assumptions alike. An "
    "interval that includes zero may mean that there is nothing, or that the data cannot tell."
)
WORLD = ("direct_path_told", "mediators_told", "among")
TOLD = {"0": "reference", "1": "comparison"}
GROUP = re.compile(r"\b([01]) to ([01])\b|\b(as in|told) ([01])\b")
SHORT = {"TE": "total effect", "NDE": "natural direct effect", "NIE": "natural indirect effect"}


def disparity(reading: Reading) -> Section | None:
    """How much of the gap in outcomes, and in predictions, is direct, indirect or spurious?"""
    return _section(reading, "disparity", "Where the gap comes from")


def error_rates(reading: Reading) -> Section | None:
    """How much of the gap in error rates is direct, indirect or spurious?"""
    return _section(reading, "error_rates", "Errors")


def waterfall(found: Told) -> Waterfall | None:
    """From one group's mean through the paths to the other's: which steps are there?"""
    parts = {row.name: row for row in rows_of(found["parts"])}
    means = {_told(mean): row_of(mean) for mean in found["world_means"]}
    first, last = means.get((0, 0, 0)), means.get((1, 1, 1))
    if first is None or last is None or not all(path in parts for path in PATHS):
        return None
    reference, comparison = found["reference"].text, found["comparison"].text
    what = found["what"].text
    steps = walk(parts.values(), first, last, reference, comparison)
    return Waterfall(what, what, reference, comparison, steps)


def waterfalls(found: Sequence[Told], level: float) -> list[Block]:
    """Which waterfalls stand side by side? On one scale where all are shares."""
    drawn = [one for each in found if (one := waterfall(each)) is not None]
    if not drawn:
        return []
    ends = [end for one in drawn for step in one.steps for end in (step.end, step.low, step.high)]
    shares = all(0 <= step.end <= 1 for one in drawn for step in one.steps if step.kind == "level")
    shared = len(drawn) > 1 and shares and max(ends) <= 1
    return [Waterfalls(tuple(drawn), level, shared)]


def _section(reading: Reading, kind: str, title: str) -> Section | None:
    asked = reading.of_kind(kind)
    if not asked:
        return None
    pairs = dict.fromkeys(against(answer) for answer in asked)
    by_pair = [[one for one in asked if against(one) == pair] for pair in pairs]
    blocks: list[Block] = [Sentences((HOW,), quiet=True)]
    if len(by_pair) == 1:
        blocks += _about(by_pair[0], reading.level)
    else:
        blocks += [
            Part(opening(pair), tuple(_about(answers, reading.level)))
            for pair, answers in zip(pairs, by_pair, strict=True)
        ]
    return Section(kind, title, (*blocks, Sentences((ADD_UP,), quiet=True)))


def _about(answers: Sequence[Told], level: float) -> list[Block]:
    """All that is said about one pair of groups."""
    found = [each for each in answers if is_answered(each)]
    blocks = waterfalls([each["details"] for each in found], level)
    blocks += judgments_of(*answers)
    for answer in found:
        about = answer["details"]["what"].text
        rows = rows_of(answer["details"]["parts"], about)
        blocks += intervals(
            f"The gap in {about}, and its parts", rows, level=level, margin=margin_of(answer)
        )
        blocks += unknown(answer["details"]["parts"])
    return [*blocks, *(_behind(answer, level) for answer in found)]


def _behind(answer: Told, level: float) -> Folded:
    """All effects and the twelve means, for who wants to see them."""
    details = answer["details"]
    groups = {key: details[key].text for key in ("reference", "comparison")}
    convention = details["convention"].text
    walk = f"The paths are taken so: {WALKS.get(convention, convention)}."
    said = said_of(answer)
    blocks: list[Block] = [
        replace(said, lines=(*said.lines, walk)),
        _effects(answer["table"].rows, groups, level),
        _means(details["world_means"], groups, level),
        *remarks(answer),
    ]
    title = f"{details['what'].text}: in words, all effects, and the twelve means"
    return Folded(title, tuple(blocks))


def _effects(rows: Sequence[Told], groups: dict[str, str], level: float) -> Table:
    return table_of(
        "All effects",
        rows,
        Column("meaning", "what is compared"),
        Column("value", "effect", "number"),
        *bounds(level),
        Column("standard_error", "standard error", "number"),
        Column("p_value", "p-value", "p", "how often chance alone would show as much"),
        first=lambda row: (_meaning(row["meaning"].text, groups),),
    )


def _means(means: Told, groups: dict[str, str], level: float) -> Table:
    return table_of(
        "The twelve means that all effects are differences of",
        means,
        Column("direct", "direct path as for"),
        Column("mediators", "mediators as for"),
        Column("among", "confounders as for"),
        Column("value", "mean", "number"),
        *bounds(level),
        first=lambda mean: tuple(_group(mean[key], groups) for key in WORLD),
    )


def _meaning(text: str, groups: dict[str, str]) -> str:
    """The words of an effect, with the groups by their names."""

    def named(found: re.Match[str]) -> str:
        if found[1]:
            return f"from {groups[TOLD[found[1]]]} to {groups[TOLD[found[2]]]}"
        how = "paths as in" if found[3] == "told" else found[3]  # records of 0.1 say told
        return f"{how} {groups[TOLD[found[4]]]}"

    head, comma, rest = text.partition(", ")
    return opening(GROUP.sub(named, SHORT.get(head, head) + comma + rest))


def _group(told: Told, groups: dict[str, str]) -> str:
    return groups.get(TOLD.get(str(told.value), ""), str(told.cell))


def _told(mean: Told) -> tuple[object, ...]:
    return tuple(mean[key].cell for key in WORLD)
