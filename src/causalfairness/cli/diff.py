"""What changed between two records? The command `causalfairness diff`."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.failing import readable
from causalfairness.cli.lines import bullet, width_of

HELP = """What changed between two records: data, assumptions, settings, estimates, verdicts?

Example:

[bold]causalfairness diff[/] before.json after.json

Exit codes: 0 nothing changed, 1 something did, 3 a record cannot be read.
"""
SHOWN = 8  # differences of a group that are printed
First = Annotated[
    str, typer.Argument(metavar="BEFORE", help="Record of an audit.", show_default=False)
]
Second = Annotated[str, typer.Argument(metavar="AFTER", help="Another record.", show_default=False)]
Tolerance = Annotated[
    float,
    typer.Option(
        min=0.0,
        help="Relative size below which numbers count as the same.",
        rich_help_panel=o.METHOD,
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


def show(found: Any, page: Console, *, as_json: bool) -> None:
    """What changed? One line each, by what it is about."""
    if as_json:
        sys.stdout.write(json.dumps(found.to_records(), indent=1) + "\n")
        sys.stdout.flush()
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
