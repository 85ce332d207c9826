"""What do the answers rest on, where, and what does the data say against it?

First what the data can speak about, the contradicted first; then what it cannot, and how strong a
hidden common cause would have to be to change an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from causalfairness.errors import RecordError
from causalfairness.report.numbers import percent
from causalfairness.report.page.blocks import (
    Block,
    Cell,
    Column,
    Folded,
    Pairs,
    Part,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import Reading
from causalfairness.report.study.told import Told
from causalfairness.report.study.words import counted, full_stop, listed, opening, table_of

STATUSES = ("contradicted", "in doubt", "not contradicted", "not tested", "cannot be tested")
SAID = (
    "Every answer above holds only if what stands here is true. Some of it data can contradict, "
    "and was asked to; the rest is about what nobody observed, and must be judged by people who "
    "know where the data comes from."
)
HIDDEN = (
    "No data can show that nothing was left out. What can be said is how strong a cause that "
    "nobody recorded would have to be, to change what was found: which share it would have to "
    "account for, both of what is left unexplained of the outcome and of the weights that make the "
    "groups alike. Verdicts come from one-sided tests: to change one takes somewhat more than for "
    "an interval to reach the margin."
)
USERS = 3  # questions named one by one


def assumptions(reading: Reading) -> Section:
    """What does each answer rest on, and what does the data say about it?"""
    entries = [*reading.told["assumptions"]]
    spoken = [each for status in STATUSES[:-1] for each in entries if status_of(each) == status]
    silent = [each for each in entries if status_of(each) == STATUSES[-1]]
    blocks: list[Block] = [Sentences((SAID,), quiet=True)]
    if spoken:
        asked: list[Block] = [_testable(spoken, reading), *_behind(spoken, reading)]
        blocks.append(Part("What the data was asked about", tuple(asked)))
    blocks += _silent(silent, reading)
    blocks += _sensitivity(reading)
    return Section("assumptions", "What it rests on", tuple(blocks))


def status_of(entry: Told) -> str:
    """What does the data say about an assumption?"""
    found = entry["status"].exact
    if found not in STATUSES:
        raise RecordError(
            f"{entry.where}: status is {found[:60]!r}; expected one of {', '.join(STATUSES)}"
        )
    return found


def _testable(entries: Sequence[Told], reading: Reading) -> Pairs:
    """Each with what the data says, why, and where it is used."""
    lines = []
    for entry in entries:
        why = full_stop(reading.names.whole(entry["result"].exact))
        used = _users(entry, reading)
        said = f"{reading.sentence(entry['assumption'].text)} {why} Used by {used}."
        lines.append((opening(status_of(entry)), said))
    return Pairs(tuple(lines))


def _users(entry: Told, reading: Reading) -> str:
    used = [reading.called(each) for each in entry["used_by"]]
    return listed(used, USERS) if used else "no question that was answered"


def _silent(entries: Sequence[Told], reading: Reading) -> list[Block]:
    """What no data can contradict: what several answers share, then what single ones add."""
    if not entries:
        return []
    shared = [each for each in entries if len([*each["used_by"]]) != 1]
    lines = tuple((opening(each["assumption"].text), _users(each, reading)) for each in shared)
    columns = (Column("assumption", "assumption"), Column("used", "used by"))
    blocks: list[Block] = []
    if lines:
        blocks.append(Table("Shared by several answers", columns, lines))
    single: dict[str, list[str]] = {}
    for each in entries:
        used = [reading.called(title) for title in each["used_by"]]
        if len(used) == 1:
            single.setdefault(used[0], []).append(reading.sentence(each["assumption"].text))
    for title, texts in single.items():
        about = f"{opening(title)}: {counted(len(texts), 'further assumption')}"
        blocks.append(Folded(about, (Sentences(tuple(texts), listed=True),)))
    return [Part("What no data can contradict", tuple(blocks))]


def _behind(entries: Sequence[Told], reading: Reading) -> list[Block]:
    """The tests behind what the data says: independences, mechanisms, overlap."""
    tests = [test for entry in entries for test in entry["tests"]]
    found: list[Block] = []
    for title, key, drawn in (
        ("Independences that the picture implies", "independence", _independences),
        ("Mechanisms whose noise was tested", "node", _mechanisms),
        ("How well the groups overlap", "effective_rows", _overlaps),
    ):
        chosen = [test for test in tests if _is_about(test, key)]
        found += [Folded(title, (drawn(chosen, reading),))] if chosen else []
    return found


def _is_about(test: Told, key: str) -> bool:
    """Tests of noise have an adjusted p-value; other tests of mechanisms are said in words."""
    kinds = ("node", "effective_rows", "independence")
    found = next((kind for kind in kinds if test.get(kind).value is not None), "")
    return found == key and (key != "node" or test.get("p_adjusted").value is not None)


def _independences(tests: Sequence[Told], _: Reading) -> Table:
    return table_of(
        "A small p-value speaks against the picture",
        tests,
        Column("independence", "should be independent"),
        Column("rows", "people", "number"),
        Column("statistic", "test statistic", "number"),
        Column("p_value", "p-value", "p"),
        Column("p_adjusted", "p-value, for all tests at once", "p"),
        first=lambda test: (_independent(test["independence"].text),),
        whole=False,
    )


def _independent(text: str) -> str:
    left, sign, rest = text.partition(" _||_ ")
    right, bar, given = rest.partition(" | ")
    if not sign:
        return text
    return f"{left} and {right}" + (f", given {given}" if bar else "")


def _mechanisms(tests: Sequence[Told], _: Reading) -> Table:
    def first(test: Told) -> tuple[Cell, ...]:
        causes = listed(test.get("causes", []).texts)
        return test["node"].text, test.get("mechanism", "").text, causes

    return table_of(
        "A small p-value says that the noise depends on the causes",
        tests,
        Column("node", "column"),
        Column("mechanism", "mechanism"),
        Column("causes", "causes"),
        Column("independence", "p-value", "p"),
        Column("p_adjusted", "p-value, for all tests at once", "p"),
        first=first,
        whole=False,
    )


def _overlaps(tests: Sequence[Told], reading: Reading) -> Table:
    keys = ("of_rows", "effective_rows", "largest_share", "share_outside_support")
    lines = dict.fromkeys(
        (opening(reading.called(test["question"])), *(test.get(key).number for key in keys))
        for test in tests
    )
    columns = (
        Column("question", "question"),
        Column("rows", "people who stand in for others", "number"),
        Column("worth", "count for", "number"),
        Column("largest", "largest share of one person", "share"),
        Column("outside", "without a counterpart", "share"),
    )
    return Table("Fewer counterparts make answers less sure", columns, tuple(lines))


def _sensitivity(reading: Reading) -> list[Block]:
    """How strong a hidden common cause would have to be; nothing in records that do not say it."""
    told = [each for each in reading.answers if each.get("sensitivity")]
    bounded = [each for each in told if each["sensitivity"].get("applies").value is True]
    if not bounded:
        return []
    blocks: list[Block] = [
        Sentences((HIDDEN,), quiet=True),
        _in_short(bounded, reading),
        *(_hidden(answer, reading) for answer in bounded),
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


def _in_short(bounded: list[Told], reading: Reading) -> Sentences:
    """One line for each answer: what it would take to change it."""
    lines = []
    for answer in bounded:
        said = answer["sensitivity"].get("sentences", []).texts
        if said:
            lines.append(f"{opening(reading.called(answer['title']))}: {said[0]}")
    return Sentences(tuple(lines), listed=True)


def _hidden(answer: Told, reading: Reading) -> Folded:
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
    goal = found.get("goal", "zero").text
    outcome, group = (found.get(key).number for key in ("outcome_share", "group_share"))
    stated = ""
    if outcome is not None and group is not None:
        stated = (
            f", if it accounts for {percent(outcome)} of what is left unexplained and "
            f"{percent(group)} of the weights"
        )
    return table_of(
        f"What a hidden cause could do{stated}",
        found.get("effects", []),
        Column("name", "part"),
        Column("value", "as estimated", "number"),
        Column("bound", "could move by", "number"),
        Column("band_low", "to between", "number"),
        Column("band_high", "and", "number"),
        Column("robustness", f"share to reach {goal}", "share"),
        Column("robustness_of_interval", "for its interval to reach it", "share"),
        first=lambda each: (opening(each["name"].text),),
        whole=False,
    )


def _benchmarks(benchmarks: Told) -> Table:
    return table_of(
        "Measured by confounders that were recorded",
        benchmarks,
        Column("confounder", "as strong as"),
        Column("effect", "part"),
        Column("bound", "could move by", "number"),
        Column("times", "times as strong, to reach it", "number"),
        Column("times_interval", "for its interval", "number"),
        first=lambda each: (each["confounder"].text, opening(each["effect"].text)),
        whole=False,
        shown=15,
    )
