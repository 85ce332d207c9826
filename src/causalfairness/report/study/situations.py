"""How do people like each one fare, here and in the other group? A table, and dossiers.

The control group is made of the person's own group, the test group of the other one. A line
about groups smaller than the audit allows is never shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from causalfairness.report.page.blocks import (
    Beside,
    Block,
    Cell,
    Column,
    Dossier,
    Dossiers,
    Folded,
    Pairs,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import ABOUT_PEOPLE, Reading
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import bounds, counted, opening, said_of, table_of

SHOWN = 15  # people before a reader asks for more
HOW = (
    "For each person, the most similar people of the own group and of the other group are "
    "found. If the own group is declined more often, like people are not treated alike, under the "
    "assumptions below. Lines open a dossier where there is one."
)
CHANCE = (
    "So many people are tested at once that chance alone finds some, and neighbors are alike, not "
    "the same. Those who stand out do so when both are allowed for, among all tests. Under 'by "
    "chance' stands how many differ as much where groups are exchanged among neighbors."
)


def situations(answer: Told, reading: Reading) -> list[Block]:
    """How do people like each one fare, and what is known about single cases?"""
    details = answer["details"]
    rows = answer["table"].rows
    shown = [row for row in rows if _is_shown(row, reading.smallest)]
    cases = [each for each in details["dossiers"] if _is_large(each, reading.smallest)]
    place = 1 + reading.of_kind(*ABOUT_PEOPLE).index(answer)
    keys = {_who(case): f"{place}-{at}" for at, case in enumerate(cases, 1)}
    left_out = details["suppressed"].count + len(rows) - len(shown)
    said = f"Lines that are not shown, for being about too few people: {left_out:,}."
    blocks: list[Block] = [
        Sentences((HOW,), quiet=True),
        _facts(details),
        _summary(details["summary"], answer["question"].get("tau").number or 0.0),
        Sentences((CHANCE, said), quiet=True),
    ]
    if shown:
        blocks.append(_people(shown, keys, _covering(answer, reading.level)))
    if cases:
        blocks.append(Dossiers(tuple(_dossier(case, keys[_who(case)], details) for case in cases)))
    blocks.append(Folded("In words", (said_of(answer),)))
    return blocks


def _is_shown(row: Told, smallest: int) -> bool:
    return min(row["control_size"].count, row["test_size"].count) >= smallest


def _is_large(case: Told, smallest: int) -> bool:
    return min(len([*case[group]["peers"]]) for group in ("control", "test")) >= smallest


def _who(case: Told) -> tuple[str, int]:
    """Which line is meant? The person, and how many people they are compared with."""
    person = case.get("id") if case.get("id").value is not None else case["row"]
    return person.shown, case["k"].count


def _facts(details: Told) -> Pairs:
    return Pairs(
        (
            ("comparison group", details["complaining"].text),
            ("compared with", details["compared"].text),
            ("declined means", details["declined"].text),
            ("alike in", details["features"].shown),
            ("method", details["method"].text),
        )
    )


def _summary(lines: Told, tau: float) -> Table:
    by = f" by more than {tau:g}" if tau else ""
    return table_of(
        "How many people were found",
        lines,
        Column("k", "people in each group", "number"),
        Column("complainants", "people of the comparison group", "number"),
        Column("discoveries", f"stand out: own group declined more often{by}", "number"),
        Column("positive_discoveries", "stand out: other group declined more often", "number"),
        Column("evidence", "own group declined more often, chance not allowed for", "number"),
        Column("evidence_by_chance", "by chance", "number"),
        Column("significant", "by their interval, one by one", "number"),
        Column("positive", "other group declined more often", "number"),
        Column("positive_by_chance", "by chance", "number"),
    )


def _covering(answer: Told, level: float) -> float:
    """How sure are both ends together? Of one-sided intervals each end has the level."""
    return 2 * level - 1 if answer["question"].get("sided").value == "one" else level


def _people(rows: Sequence[Told], keys: dict[tuple[str, int], str], level: float) -> Table:
    several = len({row["k"].count for row in rows}) > 1
    table = table_of(
        f"People who stand out, then the largest differences ({counted(len(rows), 'line')})",
        rows,
        Column("id", "person" if rows[0].get("id").value is not None else "row of the data"),
        *([Column("k", "people in each group", "number")] if several else []),
        Column("control_rate", "like people of the own group declined", "share"),
        Column("test_rate", "of the other group", "share"),
        Column("delta", "difference", "number"),
        *bounds(level),
        Column("p_value", "p-value", "p"),
        Column("p_adjusted", "p-value, for all tests at once", "p"),
        Column("discovery", "stands when all tests are allowed for", "yes"),
        first=lambda row: (_who(row)[0],),
        sortable=True,
        shown=SHOWN,
    )
    return replace(table, links=tuple(keys.get(_who(row), "") for row in rows))


def _dossier(case: Told, key: str, details: Told) -> Dossier:
    heads, *lines = [[cell.text for cell in line] for line in case["rows"]]
    columns = [Column(f"c{at}", head or "feature") for at, head in enumerate(heads)]
    widest = len(columns)
    facts = Table(
        "The person, and people like them: the median, and the range",
        tuple(columns),
        tuple((*line, *[""] * (widest - len(line)))[:widest] for line in lines),
    )
    title = f"{opening(case['person'].text)}, compared with {case['k'].count} people in each group"
    peers = [_peers(case, group) for group in ("control", "test")]
    blocks: list[Block] = [
        Sentences(case["sentences"].texts, listed=True),
        facts,
        Folded("Everyone they are compared with", (Beside(tuple(peers)),)),
        Sentences((f"Declined means: {details['declined'].text}.",), quiet=True),
    ]
    return Dossier(key, title, tuple(blocks))


def _peers(case: Told, group: str) -> Table:
    peers, features = [*case[group]["peers"]], case["features"].texts
    lines: list[tuple[Cell, ...]] = []
    for peer in peers:
        values = [each.shown for each in peer["values"]]
        padded = (*values, *[""] * (len(features) - len(values)))[: len(features)]
        lines.append((peer["name"].text, *padded, peer["distance"].number, peer["declined"].cell))
    columns = (
        Column("person", "person"),
        *(Column(f"f{at}", name) for at, name in enumerate(features)),
        Column("distance", "distance", "number"),
        Column("declined", "declined", "yes"),
    )
    caption = f"{opening(group)} group: {case[group]['about'].text}"
    return Table(caption, columns, tuple(lines))
