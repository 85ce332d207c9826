"""Does this data give this record? The command `causalfairness verify`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from causalfairness.cli import options as o
from causalfairness.cli.audit import Trust
from causalfairness.cli.diff import Tolerance, show
from causalfairness.cli.failing import readable

HELP = """Does this data give this record? Asks every question again and compares.

Example:

[bold]causalfairness verify[/] record.json --data people.parquet

Exit codes: 0 the record is found again, 1 something differs (it is named), 3 nobody can say.
"""
RecordFile = Annotated[
    str, typer.Argument(metavar="RECORD", help="Record of an audit.", show_default=False)
]
Data = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="FILE",
        help="CSV or Parquet file, a pattern, or dataset:NAME for bundled data.",
        show_default=False,
    ),
]


def verify(
    record: RecordFile,
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
        if not as_json and found.first is not None:
            show_first(found.first)
    raise typer.Exit(int(not found.is_same))


def show_first(first: object) -> None:
    """What is the first difference? Said beside the answer, so that nobody misses it."""
    from rich.text import Text

    from causalfairness.report.legible import legible

    page = Console(stderr=True, highlight=False)
    page.print(Text(f"first difference: {legible(str(first))}", style="red"), soft_wrap=True)
