"""How are the findings of an audit printed? Every answer with its verdict, gaps also as a drawing.

Intervals are lines, estimates dots; shares (from -1 to 1) are drawn on one scale, so that gaps can
be compared, and other gaps each on their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from causalfairness.cli.lines import WIDEST, Numbers, bullet, naming, width_of
from causalfairness.cli.necessity import VERDICTS

DOUBTFUL = ("contradicted", "in doubt")
SENTENCES = 3  # of an answer, besides its judgment; one less where the parts of a gap are drawn
NUMBERS = ("value", "low", "high", "standard_error")  # of a part that can be drawn
TRACK = 30  # columns of a drawn interval
Record = Mapping[str, Any]


def print_findings(record: Record, summary: str, page: Console) -> None:
    """What did an audit find? Printed for people, in at most 100 columns.

    >>> import io
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> roles = {"protected": "group", "reference": "blue", "comparison": "green",
    ...          "confounders": ["c1", "c2"], "mediators": ["m1"], "outcome": "y"}
    >>> asked = cf.Audit(roles=roles, questions=[{"ask": "disparity", "margin": 0.02}])
    >>> page = Console(file=io.StringIO(), width=80)
    >>> print_findings(asked.run(world.draw(2_000, seed=0)).record, "1 question", page)
    >>> "disparity of y: green against blue: violated" in page.file.getvalue()
    True
    """
    from causalfairness.report.legible import legible

    width = width_of(page)
    page.print(_opening(record), width=width)
    shares = _Scale.around([each for each in map(_parts, record["answers"]) if _are_shares(each)])
    for answer in record["answers"]:
        parts = _parts(answer)
        scale = shares if _are_shares(parts) else _Scale.around([parts])
        drawn = _drawn(parts, scale, ascii_only=page.options.ascii_only)
        page.print(_heading(answer), *drawn, *_lines(answer), "", sep="\n", width=width)
    last = Text(legible(summary), style="bold")
    page.print(_doubts(record["assumptions"]), "", last, sep="\n", width=width)


def _opening(record: Record) -> RenderableType:
    title = f"{naming(record['title'] or 'Audit')}: {record['data']['rows']:,} people"
    roles = record["roles"]
    table = Table.grid(padding=(0, 2))
    groups = f"{naming(roles['comparison'])} against {naming(roles['reference'])}"
    table.add_row("groups", Text(groups))
    for role in ("confounders", "mediators"):
        if roles[role]:
            table.add_row(role, Text(", ".join(map(naming, roles[role]))))
    notes = [bullet(note) for note in record["notes"]]
    return Group(Text(title, style="bold"), *notes, "", Padding(table, (0, 0, 1, 2)))


def _heading(answer: Record) -> Text:
    from causalfairness.report.legible import legible, shortened

    heading = Text(shortened(legible(answer["title"]), WIDEST), style="bold")
    if answer["status"] != "answered":
        return heading
    verdict = answer["verdict"]
    return heading.append(": ").append(verdict or "reported", style=VERDICTS.get(verdict, "dim"))


def _lines(answer: Record) -> Iterator[RenderableType]:
    """What is said first, the judgment, and what a hidden cause would have to do to change it."""
    if answer["status"] != "answered":
        yield bullet(f"Not answered: {answer['reason']}")
        return
    said = answer["sentences"]
    first = SENTENCES - bool(_parts(answer))
    judgment = said[first:][-1:] if answer["verdict"] else []
    yield from map(bullet, [*said[:first], *judgment])
    hidden = answer["sensitivity"]
    if hidden and hidden["applies"]:
        yield bullet(hidden["sentences"][0])


def _doubts(assumptions: Sequence[Record]) -> RenderableType:
    doubts = [entry for entry in assumptions if entry["status"] in DOUBTFUL]
    said = (f"{each['assumption']}: {each['status']}. {each['result']}." for each in doubts)
    tested = sum(entry["testable"] for entry in assumptions)
    count = (
        f"{len(assumptions)} assumptions are listed in the record, {tested} of them can be "
        f"tested, and {len(doubts)} do not stand."
    )
    heading = Text("What the data says against assumptions", style="bold")
    return Group(heading, *map(bullet, said), Text(count))


# --- the parts of a gap ---------------------------------------------------------------------------


def _parts(answer: Record) -> Sequence[Record]:
    """The parts of a gap between two groups, where all are finite; else nothing."""
    parts = answer["details"].get("parts", ())
    return () if any(each[name] is None for each in parts for name in NUMBERS) else parts


def _are_shares(parts: Sequence[Record]) -> bool:
    return all(-1 <= each["low"] <= each["high"] <= 1 for each in parts)


def _drawn(parts: Sequence[Record], scale: _Scale, *, ascii_only: bool) -> Iterator[RenderableType]:
    from causalfairness.effects.table import decimals

    if not parts:
        return
    table = Numbers.grid(padding=(0, 2))
    places = decimals([each["standard_error"] for each in parts], least=3)
    for each in parts:
        value, low, high = (f"{each[name]:+,.{places}f}" for name in NUMBERS[:3])
        drawing = scale.draw(each, [*(" :-+o" if ascii_only else " ┊─┼●")])
        style = "dim" if each["low"] <= 0 <= each["high"] else "cyan"
        name = each["name"].replace("_", " ")
        table.add_row(name, value, f"{low} to {high}", Text(drawing, style=style))
    yield Padding(table, (0, 0, 0, 2))


class _Scale(NamedTuple):
    """Where on a line of text does a number stand?"""

    low: float
    high: float

    @classmethod
    def around(cls, gaps: Sequence[Sequence[Record]]) -> _Scale:
        ends = [each[end] for parts in gaps for each in parts for end in ("low", "high")]
        return cls(min([0.0, *ends]), max([0.0, *ends]))

    def draw(self, part: Record, letters: Sequence[str]) -> str:
        """An interval as a line with a dot, and zero as a mark."""
        apart, zero, line, crossed, dot = letters
        track = [apart] * TRACK
        for at in range(self._place(part["low"]), self._place(part["high"]) + 1):
            track[at] = line
        at_zero = self._place(0.0)
        track[at_zero] = crossed if track[at_zero] == line else zero
        track[self._place(part["value"])] = dot
        return "".join(track)

    def _place(self, value: float) -> int:
        wide = self.high - self.low
        return round((value - self.low) / wide * (TRACK - 1)) if wide else 0
