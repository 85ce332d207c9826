"""What does the study say, in five sentences? What was asked, the gap, the verdicts, people, and
what it all rests on.

Each sentence is made of the record by rules, and says so where a question was not asked or could
not be answered. Under them stand the verdicts, one line for each question.
"""

from __future__ import annotations

from collections.abc import Sequence

from causalfairness.audit.record import VERDICTS
from causalfairness.report.numbers import percent, written
from causalfairness.report.page.blocks import Section, Sentences
from causalfairness.report.study.assumptions import status_of
from causalfairness.report.study.reading import ABOUT_PEOPLE, Reading, against, is_answered
from causalfairness.report.study.rows import rows_of, spoken
from causalfairness.report.study.told import Told
from causalfairness.report.study.verdicts import all_judgments, verdict_of
from causalfairness.report.study.words import counted, listed, opening

NAMED = 4  # questions named one by one
MEANS = {
    "violated": "shown to lie beyond it",
    "undecided": "left open by the data",
    "satisfied": "shown to lie within it",
}


def summary(reading: Reading) -> Section:
    """What does the study say, in five sentences, and which verdicts are there?"""
    lines = tuple(part(reading) for part in (_asked, _gap, _judged, _people, _rests_on))
    return Section("summary", "In short", (Sentences(lines), *all_judgments(reading)))


def _asked(reading: Reading) -> str:
    roles, rows = reading.roles, reading.told["data"]["rows"].count
    sizes = {g["group"].exact: g["people"].number for g in reading.told["data"]["groups"]}
    named = [f"the {key} {roles[key].shown}" for key in ("prediction", "outcome") if roles.get(key)]
    groups = [_with_size(roles[key], sizes) for key in ("comparison", "reference")]
    others = len({against(each) for each in reading.answers})
    more = f" and {counted(others - 1, 'other pair')}" if others > 1 else ""
    refused = sum(not is_answered(each) for each in reading.answers)
    answered = "all were answered" if not refused else f"{refused:,} could not be answered"
    if len(reading.answers) == 1:
        answered = "it was answered" if not refused else "it could not be answered"
    return (
        f"This audit compares {groups[0]} with {groups[1]}{more} in {counted(rows, 'record')}, and "
        f"asks {counted(len(reading.answers), 'question')} about {listed(named)}; {answered}."
    )


def _with_size(group: Told, sizes: dict[str, float | None]) -> str:
    people = sizes.get(str(group.value))
    return group.shown if people is None else f"{group.shown} ({people:,.0f})"


def _gap(reading: Reading) -> str:
    said = [_about_gap(each, reading.level) for each in reading.main_gaps[:2]]
    if not any(said):
        return _without_gap(reading)
    who = f"for {reading.roles['comparison'].shown} than for {reading.roles['reference'].shown}"
    first, *rest = [each for each in said if each]
    parts = [f"{first[0]} {who} {first[1]}", *(f"{each[0]} {each[1]}" for each in rest)]
    return f"On average {', and '.join(parts)}."


def _about_gap(answer: Told, level: float) -> tuple[str, str] | None:
    """How large one gap is, and its parts: before and after the groups are named."""
    rows = {row.name: row for row in rows_of(answer["details"]["parts"])}
    if "total" not in rows:
        return None
    total = rows["total"]
    places = spoken([total])
    low, high = (written(end, places) for end in (total.low, total.high))
    shares = [
        f"{name.replace('_', ' ')} {written(row.value, places)}"
        for name, row in rows.items()
        if name != "total" and row.value != 0
    ]
    parts = f"; {', '.join(shares)}" if shares else ""
    way = "higher" if total.value >= 0 else "lower"
    said = f"{answer['details']['what'].text} is {abs(total.value):,.{places}f} {way}"
    return said, f"({percent(level)} interval {low} to {high}{parts})"


def _without_gap(reading: Reading) -> str:
    asked = reading.of_kind("disparity")
    why = "could not be answered" if asked else "was not asked"
    plain = [each for each in reading.answered("group_metrics") if each["sentences"]]
    if not plain:
        return f"What a gap between the groups is made of {why}."
    said = plain[0]["sentences"].texts[0].rstrip(".")
    first = said[:1].lower() + said[1:]
    return f"What a gap between the groups is made of {why}; of the plain metrics, {first}."


def _judged(reading: Reading) -> str:
    titles: dict[str, list[str]] = {}
    for answer in reading.answers:
        if is_answered(answer) and (verdict := verdict_of(answer)) is not None:
            titles.setdefault(verdict, []).append(reading.called(answer["title"]))
    unsettled = sum(
        each.get("settled").value is False and each["question"].get("margin").value is not None
        for each in reading.answers
        if is_answered(each) and verdict_of(each) is None
    )
    if not titles and unsettled:
        return "No verdict is given, since models have not caught how the confounders act."
    if not titles:
        return "No verdict is given, since no question that sets a margin was answered."
    count = sum(map(len, titles.values()))
    left = sum(
        not is_answered(each) and each["question"].get("margin").value is not None
        for each in reading.answers
    )
    rest = f"; {left} more with a margin could not be answered" if left else ""
    if unsettled:
        rest += f"; {unsettled} more with a margin not judged, since models have not settled"
    if count == 1:
        ((verdict, (title,)),) = titles.items()
        return (
            f"The one question judged by a margin, under the stated assumptions, is {verdict}, "
            f"{MEANS[verdict]} ({title}){rest}."
        )
    parts = [
        f"{len(named)} {'is' if len(named) == 1 else 'are'} {verdict}, {MEANS[verdict]} "
        f"({_titles(named)})"
        for verdict in VERDICTS
        if (named := titles.get(verdict))
    ]
    return (
        f"Of {counted(count, 'question')} judged by a margin, under the stated assumptions, "
        f"{'; '.join(parts)}{rest}."
    )


def _titles(titles: Sequence[str]) -> str:
    more = [f"{len(titles) - NAMED:,} more"] if len(titles) > NAMED else []
    return "; ".join([*titles[:NAMED], *more])


def _people(reading: Reading) -> str:
    asked = reading.of_kind(*ABOUT_PEOPLE)
    if not asked:
        return "No question about individual people was asked."
    said = [_shifted(each) for each in reading.answered("counterfactual_fairness")[:1]]
    said += [_complained(each) for each in reading.answered("situations")[:1]]
    known = [each for each in said if each]
    if not known:
        return "Questions about individual people were asked, and could not be answered."
    return f"{opening('; '.join(known))}."


def _shifted(answer: Told) -> str:
    rows = rows_of(answer["effects"])
    if not rows:
        return "nobody's prediction was followed into the other group"
    mine = [row for row in rows if row.name == answer["groups"]["comparison"].text]
    row = mine[0] if mine else max(rows, key=lambda each: abs(each.value))
    places = spoken([row])
    way = "lower" if row.value >= 0 else "higher"
    told = listed(answer["details"]["told"].texts)
    return (
        f"had their {told} been another, predictions for {row.name} would have been "
        f"{abs(row.value):,.{places}f} {way} on average"
    )


def _complained(answer: Told) -> str:
    lines = [*answer["details"]["summary"]]
    if not lines:
        return ""
    line, tau = lines[0], answer["question"].get("tau").number or 0.0
    stand, mirror = (line[key].count for key in ("discoveries", "positive_discoveries"))
    by = f" by more than {tau:g}" if tau else ""
    everyone = counted(line["complainants"].count, "person", "people")
    chance = line.get("evidence_by_chance").number
    among = "" if chance is None else f", where chance alone gives {chance:,.0f}"
    return (
        f"for {stand or 'none'} of {everyone}, like people of their own group were declined more "
        f"often than like people of the other{by} when chance among so many is allowed for, and "
        f"less often for {mirror or 'none'}; chance not allowed for, more often for "
        f"{line['evidence'].count:,}{among}"
    )


def _rests_on(reading: Reading) -> str:
    entries = [*reading.told["assumptions"]]
    against_it = [each for each in entries if status_of(each) in ("contradicted", "in doubt")]
    silent = sum(status_of(each) == "cannot be tested" for each in entries)
    if not entries:
        return "No assumption beyond the data itself is stated."
    opening_words = f"All of this rests on {counted(len(entries), 'assumption')}"
    if silent:
        opening_words += f", {silent:,} of which no data can test"
    if against_it:
        named = [f"that {each['assumption'].text.partition(':')[0]}" for each in against_it]
        opening_words += f"; the data speaks against {len(named)}: {_titles(named)}"
    else:
        opening_words += "; the data contradicts none of those that it was asked about"
    return f"{opening_words}{_weakest(reading)}."


def _weakest(reading: Reading) -> str:
    """The verdict that the weakest hidden cause would change, where the record tells it."""
    shares = []
    for answer in reading.answers:
        found = answer.get("sensitivity", {})
        share = found.get("to_change_verdict").number
        if share is not None and 0 < share < 1:
            shares.append((share, reading.called(answer["title"])))
    if not shares:
        return ""
    share, title = min(shares)
    return (
        f"; a hidden common cause that accounts for {percent(round(share, 3))}, both of what is "
        "left unexplained and of the weights that make the groups alike, could change the verdict "
        f"on {title}"
    )
