"""What can the library say about a real data set? A whole audit of the COMPAS score.

    python -m causalfairness.demo

Runs the bundled audit file, prints what was found and what it rests on, and writes `report.html`,
to read and to hand on, and `record.json`, which anybody with the data can check:

    causalfairness verify record.json --data ...

All signs are a change from the reference group to the comparison group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from causalfairness import report
from causalfairness.audit import Audit, AuditResult
from causalfairness.cli.lines import bullet, width_of
from causalfairness.sensitivity.words import percent

BUNDLED = Path(str(files("causalfairness.audit"))) / "files" / "compas.toml"
DOUBTFUL = ("contradicted", "in doubt")
VERDICTS = {"violated": "bold red", "undecided": "yellow", "satisfied": "green", None: "dim"}
PARTS = ("total", "direct", "indirect", "spurious")
TRACK = 30  # columns of an interval drawn as a line
Record = Mapping[str, Any]


def main(
    console: Console | None = None, folder: Path | None = None, audit: Audit | None = None
) -> None:
    """What does a whole audit of COMPAS say? Prints the findings, with a bar while it works.

    With a folder, `report.html` and `record.json` are written there. Another audit may take the
    place of the bundled one.

    >>> import io
    >>> import causalfairness as cf
    >>> page = Console(file=io.StringIO(), width=80)
    >>> roles = {"protected": "sex", "reference": "Male", "comparison": "Female",
    ...          "confounders": ["age_cat"], "outcome": "two_year_recid"}
    >>> asked = [{"ask": "disparity", "margin": 0.02}]
    >>> main(page, audit=cf.Audit(data="dataset:compas", roles=roles, questions=asked))
    >>> "violated   disparity of two_year_recid" in page.file.getvalue()
    True
    """
    page = console or Console()
    width = width_of(page)
    asked = audit or Audit.from_file(BUNDLED)
    page.print(_opening(asked), width=width)
    result = asked.run()
    for part in _findings(result, ascii_only=page.options.ascii_only):
        page.print(part, width=width)
    if folder is not None:
        written = report.write_html(result, folder / "report.html")
        record = result.to_json(folder / "record.json")
        lines = (f"To read, and to hand on: {written}", f"To check: {record}")
        page.print(Text("\n" + "\n".join(lines)), width=width)


def _opening(audit: Audit) -> RenderableType:
    roles = Table.grid(padding=(0, 2))
    model = audit.roles.model(audit.roles.prediction)
    roles.add_row("groups", f"{model.comparison_label} against {model.reference_label}")
    roles.add_row("confounders", ", ".join(model.confounders))
    roles.add_row("mediators", ", ".join(model.mediators))
    title = Text(f"An audit: {audit.title or 'without a title'}", style="bold")
    notes = [Text(note) for note in audit.notes]
    return Group("", title, *notes, "", Padding(roles, (0, 0, 0, 2)))


def _findings(result: AuditResult, *, ascii_only: bool) -> Iterator[RenderableType]:
    roles = result.record["roles"]
    pair = f": {roles['comparison']} against {roles['reference']}"  # said at the top
    answers = [
        {**each, "title": each["title"].removesuffix(pair)}
        for each in result.record["answers"]
        if each["status"] == "answered"
    ]
    line = "-" if ascii_only else "─"
    for title, body in (
        ("what was asked, and what is said", _verdicts(answers)),
        ("where gaps come from", _gaps(answers, ascii_only=ascii_only)),
        ("how strong a hidden cause would have to be", _hidden(answers)),
        ("what the data says against assumptions", _doubts(result.record["assumptions"])),
    ):
        rule = Rule(f"[bold]{title}", align="left", characters=line)
        yield Group("", rule, *body)
    yield Group("", Text(str(result).splitlines()[0], style="bold"))


def _verdicts(answers: Sequence[Record]) -> Iterator[RenderableType]:
    """One line for each question, the first sentence of its answer, and why it is judged so."""
    for answer in answers:
        row = Table.grid(padding=(0, 2))
        row.add_column(width=9)
        verdict = answer["verdict"]
        first, *more = answer["sentences"]
        said = f"{first} {more[-1]}" if verdict and more else first
        about = Text.assemble((f"{answer['title']}\n", "bold"), said)
        row.add_row(Text(verdict or "reported", style=VERDICTS[verdict]), about)
        yield Padding(row, (1, 0, 0, 0))


def _gaps(answers: Sequence[Record], *, ascii_only: bool) -> Iterator[RenderableType]:
    """Every gap with its parts, all on one scale."""
    shown = [each for each in answers if each["kind"] in ("disparity", "error_rates")]
    rows = [part for each in shown for part in _parts(each)]
    if not rows:
        return
    scale = _Scale.around(rows, ascii_only=ascii_only)
    for answer in shown:
        table = Table.grid(padding=(0, 2))
        for part in _parts(answer):
            held = part["low"] <= 0 <= part["high"]
            drawn = Text(scale.draw(part), style="dim" if held else "cyan")
            interval = f"{part['low']:+.3f} to {part['high']:+.3f}"
            table.add_row(part["name"], f"{part['value']:+.3f}", interval, drawn)
        yield Padding(Text(answer["title"], style="bold"), (1, 0, 0, 0))
        yield Padding(table, (0, 0, 0, 2))


def _parts(answer: Record) -> list[Record]:
    return [each for each in answer["effects"] if each["name"] in PARTS]


def _hidden(answers: Sequence[Record]) -> Iterator[RenderableType]:
    """At which strength could each verdict change, beside what confounders are like?"""
    bounds = [(each["title"], each["sensitivity"]) for each in answers if each["sensitivity"]]
    judged = [(title, told) for title, told in bounds if told["applies"] and told["verdict"]]
    if not judged:
        yield Text("There is no verdict that a hidden cause could change.")
        return
    yield Text(
        "Nobody can show that nothing is hidden. A common cause of group and outcome that nobody "
        "recorded would have to account for so much, both of what is left unexplained and of the "
        "weights that make the groups alike, to change a verdict:"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("verdict", "share", "that is", "about"):
        table.add_column(heading)
    for title, told in judged:
        nearest, share = told["by_story"][-1]["strongest"], told["to_change_verdict"]
        times = "" if nearest is None else f"{nearest['times']:.2g} x {nearest['confounder']}"
        verdict = Text(told["verdict"], style=VERDICTS[told["verdict"]])
        table.add_row(verdict, "none can" if share >= 1 else percent(share), times, title)
    yield Padding(table, (1, 0, 0, 2))


def _doubts(assumptions: Sequence[Record]) -> Iterator[RenderableType]:
    doubts = [entry for entry in assumptions if entry["status"] in DOUBTFUL]
    for entry in doubts:
        yield bullet(f"{entry['assumption']}: {entry['status']}. {entry['result']}.")
    tested = [entry for entry in assumptions if entry["testable"]]
    yield Text(
        f"{len(assumptions)} assumptions are listed in the record, {len(tested)} of them can be "
        f"tested, and {len(doubts)} do not stand."
    )


@dataclass(frozen=True)
class _Scale:
    """Where on a line of text does a number stand?"""

    low: float
    high: float
    ascii_only: bool

    @classmethod
    def around(cls, rows: Sequence[Record], *, ascii_only: bool) -> _Scale:
        ends = [row[end] for row in rows for end in ("low", "high")]
        return cls(min(0.0, *ends), max(0.0, *ends), ascii_only)

    def draw(self, row: Record) -> str:
        """An interval as a line with a dot, and zero as a mark."""
        apart, zero, line, crossed, dot = " :-+o" if self.ascii_only else " ┊─┼●"
        track = [apart] * TRACK
        for at in range(self._place(row["low"]), self._place(row["high"]) + 1):
            track[at] = line
        at_zero = self._place(0.0)
        track[at_zero] = crossed if track[at_zero] == line else zero
        track[self._place(row["value"])] = dot
        return "".join(track)

    def _place(self, value: float) -> int:
        return round((value - self.low) / (self.high - self.low) * (TRACK - 1))


if __name__ == "__main__":
    main(folder=Path())
