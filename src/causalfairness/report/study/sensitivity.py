"""How strong would a hidden common cause have to be to change an answer?

Shown for answers whose record tells it: records of earlier versions have nothing here.
"""

from __future__ import annotations

from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import Block, Column, Folded, Part, Sentences, Table
from causalfairness.report.study.reading import Reading
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import full_stop, listed, opening

MEANT = (
    "No data can show that nothing was left out. What can be said is how strong a cause that "
    "nobody recorded would have to be, to change what was found: which share it would have to "
    "account for, both of what is left unexplained of the outcome and of the weights that make the "
    "groups alike. Verdicts come from one-sided tests: to change one takes somewhat more than for "
    "an interval to reach the margin."
)


def sensitivity(reading: Reading) -> list[Block]:
    """How strong would a hidden common cause have to be, answer by answer?"""
    told = [each for each in reading.answers if each.get("sensitivity")]
    bounded = [each for each in told if each["sensitivity"].get("applies").value is True]
    if not bounded:
        return []
    blocks: list[Block] = [
        Sentences((MEANT,), quiet=True),
        _overview(bounded, reading),
        *(_about(answer, reading) for answer in bounded),
    ]
    reasons: dict[str, list[str]] = {}
    for each in told:
        if each not in bounded:
            why = each["sensitivity"].get("reason", "").text
            reasons.setdefault(why, []).append(reading.called(each["title"]))
    if reasons:
        lines = [f"no such bound for {listed(names)}: {why}" for why, names in reasons.items()]
        blocks.append(Sentences(tuple(map(full_stop, lines)), listed=True, quiet=True))
    notes = dict.fromkeys(
        line for answer in bounded for line in answer["sensitivity"].get("notes", []).texts
    )
    blocks.append(Sentences(tuple(map(full_stop, notes)), listed=True, quiet=True))
    return [Part("If something was left out", tuple(blocks))]


def _overview(bounded: list[Told], reading: Reading) -> Sentences:
    """One line for each answer: what it would take to change it."""
    lines = []
    for answer in bounded:
        said = answer["sensitivity"].get("sentences", []).texts
        if said:
            lines.append(f"{opening(reading.called(answer['title']))}: {said[0]}")
    return Sentences(tuple(lines), listed=True)


def _about(answer: Told, reading: Reading) -> Folded:
    found = answer["sensitivity"]
    blocks: list[Block] = [
        Sentences(found.get("sentences", []).texts, listed=True),
        _effects(found),
    ]
    stories = [each.get("sentence", "").text for each in found.get("by_story", [])]
    if any(stories):
        blocks.insert(1, Sentences(tuple(filter(None, stories)), listed=True))
    if found.get("benchmarks"):
        blocks.append(_benchmarks(found["benchmarks"]))
    return Folded(opening(reading.called(answer["title"])), tuple(blocks))


def _effects(found: Told) -> Table:
    keys = ("value", "bound", "band_low", "band_high", "robustness", "robustness_of_interval")
    lines = tuple(
        (opening(each["name"].text), *(each.get(key).number for key in keys))
        for each in found.get("effects", [])
    )
    goal = found.get("goal", "zero").text
    columns = (
        Column("name", "part"),
        Column("value", "as estimated", "number"),
        Column("bound", "could move by", "number"),
        Column("low", "to between", "number"),
        Column("high", "and", "number"),
        Column("share", f"share to reach {goal}", "share"),
        Column("interval", "for its interval to reach it", "share"),
    )
    outcome, group = (found.get(key).number for key in ("outcome_share", "group_share"))
    stated = ""
    if outcome is not None and group is not None:
        stated = (
            f", if it accounts for {percent(outcome)} of what is left unexplained and "
            f"{percent(group)} of the weights"
        )
    return Table(f"What a hidden cause could do{stated}", columns, lines)


def _benchmarks(benchmarks: Told) -> Table:
    keys = ("bound", "times", "times_interval")
    lines = tuple(
        (
            each["confounder"].text,
            opening(each["effect"].text),
            *(each.get(key).number for key in keys),
        )
        for each in benchmarks
    )
    columns = (
        Column("confounder", "as strong as"),
        Column("effect", "part"),
        Column("bound", "could move by", "number"),
        Column("times", "times as strong, to reach it", "number"),
        Column("interval", "for its interval", "number"),
    )
    return Table("Measured by confounders that were recorded", columns, lines, shown=15)
