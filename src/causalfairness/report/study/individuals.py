"""Are individual people treated differently? How predictions would change, and whose case it is.

Nobody is listed who belongs to a group smaller than the audit allows: the record leaves them out,
and what a record should not have listed is left out here as well, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from causalfairness.errors import RecordError
from causalfairness.report.page.blocks import (
    Beside,
    Block,
    Column,
    Curve,
    Curves,
    Folded,
    Histogram,
    Section,
    Sentences,
    Table,
)
from causalfairness.report.study.reading import ABOUT_PEOPLE, Reading
from causalfairness.report.study.rows import intervals, rows_of
from causalfairness.report.study.situations import situations
from causalfairness.report.study.told import Told
from causalfairness.report.study.verdicts import margin_of, question_by_question
from causalfairness.report.study.words import bounds, counted, full_stop, listed, said_of, table_of

FEW = (
    "People in groups of fewer than {smallest} are not listed or drawn: so little would say too "
    "much about each of them."
)
NEVER = "This audit sets no smallest group, so that everyone may be listed."
SMOOTHED = "A decision is 0 or 1: the curves are smoothed, and only their two heights matter."


def individuals(reading: Reading) -> Section | None:
    """Would predictions have been the same in the other group, and how do like people fare?"""
    asked = reading.of_kind(*ABOUT_PEOPLE)
    if not asked:
        return None
    few = FEW.format(smallest=reading.smallest) if reading.smallest > 1 else NEVER
    parts = question_by_question(asked, reading, _about)
    return Section("individuals", "Individual people", (Sentences((few,), quiet=True), *parts))


def _about(answer: Told, reading: Reading) -> list[Block]:
    if answer["kind"].value == "situations":
        return situations(answer, reading)
    return _shifts(answer, reading)


def _shifts(answer: Told, reading: Reading) -> list[Block]:
    """How predictions would change, group by group, if people were of the other group."""
    rows = {row["group"].exact: row for row in answer["table"].rows}
    moved = [name for name, row in rows.items() if row["changed"].count]
    blocks: list[Block] = [
        said_of(answer),
        *intervals(
            "Mean change of predictions, in fact minus otherwise",
            rows_of(answer["effects"]),
            level=reading.level,
            margin=margin_of(answer),
        ),
    ]
    unmoved = [answer.cut(name) for name in rows if name not in moved]
    told = listed(answer["details"]["told"].texts)
    if unmoved:
        said = f"Nobody was given another {told}, so that nothing changes: {listed(unmoved)}"
        blocks.append(Sentences((full_stop(said),), quiet=True))
    for group in answer["details"]["groups"]:
        if group["group"].value in moved:
            blocks += _spread(group, answer, reading.smallest)
    blocks.append(Folded("Group by group", (_by_group([*rows.values()], reading.level),)))
    return blocks


def _spread(group: Told, answer: Told, smallest: int) -> Iterator[Block]:
    name, people = group["group"].text, group["people"].count
    if group.get("suppressed") or people < smallest:
        said = f"{name}: fewer than {smallest} people, so that nothing is drawn"
        yield Sentences((full_stop(said),), quiet=True)
        return
    curves, shifts = group["densities"], group["shifts"]
    at, fact, otherwise = (
        tuple(each.sure for each in curves[key]) for key in ("at", "fact", "otherwise")
    )
    edges = tuple(each.sure for each in shifts["edges"])
    counts = tuple(each.count for each in shifts["counts"])
    if len({len(at), len(fact), len(otherwise)}) > 1 or len(edges) != len(counts) + 1:
        raise RecordError(f"{group.where}: expected as many heights as there are places for them")
    told = listed(answer["details"]["told"].texts)
    decided = _is_decision(edges, counts)
    drawn = Curves(
        f"{name}: predictions in fact and otherwise",
        "prediction",
        (Curve("in fact", at, fact), Curve(f"had {told} been another", at, otherwise)),
        SMOOTHED if decided else "How predictions are spread; the higher, the more people.",
    )
    bars = Histogram(
        f"{name}: how far each prediction moves",
        "in fact minus otherwise",
        edges,
        counts,
        f"{counted(people, 'person', 'people')}; at 0 nothing would change.",
    )
    yield Beside((bars, drawn))


def _is_decision(edges: tuple[float, ...], counts: tuple[int, ...]) -> bool:
    """Do shifts lie at -1, 0 and 1 only? Then predictions are decisions."""
    if not edges or (edges[0], edges[-1]) not in ((-1.0, 1.0), (-1.0, 0.0), (0.0, 1.0)):
        return False
    filled = [at for at, count in enumerate(counts) if count]
    return all(at in (0, len(counts) - 1) or edges[at] <= 0 <= edges[at + 1] for at in filled)


def _by_group(rows: list[Told], level: float) -> Table:
    flips = (
        Column("lowered", "decided 1, otherwise 0", "share"),
        Column("raised", "decided 0, otherwise 1", "share"),
    )
    return table_of(
        "Predictions in fact and otherwise",
        rows,
        Column("group", "group"),
        Column("people", "people", "number"),
        Column("changed", "of another group", "number"),
        Column("in_fact", "mean prediction in fact", "number"),
        Column("otherwise", "otherwise", "number"),
        Column("shift", "mean change", "number"),
        *bounds(level),
        *(flips if rows and rows[0].get("lowered").value is not None else ()),
        first=lambda row: (row["group"].text,),
    )
