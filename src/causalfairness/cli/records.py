"""What changed between records? The commands `causalfairness diff` and `causalfairness verify`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.audit import Trust
from causalfairness.cli.failing import readable
from causalfairness.cli.lines import bullet, width_of
from causalfairness.cli.writing import print_answer

DIFF_HELP = """What changed between two records: data, assumptions, settings, estimates, verdicts?

Example:

[bold]causalfairness diff[/] before.json after.json

Exit codes: 0 nothing changed, 1 something did, 3 a record cannot be read.
"""
VERIFY_HELP = """Does this data give this record? Asks every question again and compares.

Example:

[bold]causalfairness verify[/] record.json --data people.parquet

Exit codes: 0 the record is found again, 1 something differs (it is named), 3 nobody can say.
"""
SHOWN = 8  # differences of a group that are printed
First = Annotated[str, o.argument("BEFORE", "Record of an audit.")]
Second = Annotated[str, o.argument("AFTER", "Another record.")]
Tolerance = Annotated[
    float, o.method("Relative size below which numbers count as the same.", min=0.0)
]
Data = Annotated[
    str,
    o.plain(
        "CSV or Parquet file, a pattern, or dataset:NAME for bundled data.",
        "--data",
        metavar="FILE",
    ),
]


def diff(
    before: First,
    after: Second,
    tolerance: Tolerance = 1e-6,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """What changed between two records?"""
    with readable(debug=debug):
        from causalfairness import audit

        found = audit.diff(before, after, tolerance=tolerance)
        show(found, Console(highlight=False), as_json=as_json)
    raise typer.Exit(int(not found.is_same))


def verify(
    record: o.GivenRecord,
    data: Data,
    trust: Trust = False,
    tolerance: Tolerance = 1e-6,
    workers: o.Workers = 1,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Does this data give this record?"""
    with readable(debug=debug):
        from causalfairness import audit

        found = audit.verify(record, data, trust=trust, workers=workers, tolerance=tolerance)
        show(found, Console(highlight=False), as_json=as_json)
        if not as_json and found.first is not None:  # beside the answer, so that nobody misses it
            from causalfairness.report.legible import legible

            said = Text(f"first difference: {legible(str(found.first))}", style="red")
            Console(stderr=True, highlight=False).print(said, soft_wrap=True)
    raise typer.Exit(int(not found.is_same))


def show(found: Any, page: Console, *, as_json: bool) -> None:
    """What changed? One line each, by what it is about."""
    if as_json:
        print_answer(json.dumps(found.to_records(), indent=1) + "\n")
        return
    width = width_of(page)
    page.print(Text(str(found).splitlines()[0], style="bold"), width=width)
    for group, differences in found.by_group().items():
        if differences:
            page.print(Text(group, style="bold"), width=width)
            page.print(*map(bullet, map(str, differences[:SHOWN])), sep="\n", width=width)
            if len(differences) > SHOWN:
                page.print(f"... and {len(differences) - SHOWN:,} more", width=width)
    for note in found.notes:
        page.print(bullet(f"note: {note}"), width=width)
