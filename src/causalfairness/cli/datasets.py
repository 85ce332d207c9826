"""Which data can be tried at once? The command `causalfairness datasets`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from causalfairness.cli.decompose import check_goal
from causalfairness.cli.failing import readable
from causalfairness.cli.lines import columns, width_of
from causalfairness.cli.options import Debug, Json, plain
from causalfairness.cli.writing import print_answer, write_frame

FILES = (".parquet", ".pq", ".csv")
HELP = """Which data can be tried at once? Lists the bundled data sets, describes or writes one.

Examples:

[bold]causalfairness datasets[/]

[bold]causalfairness datasets[/] compas

[bold]causalfairness datasets[/] compas --out compas.parquet

Every other command takes bundled data as [bold]dataset:compas[/] in place of a file.
"""


def _names() -> list[str]:
    from causalfairness.datasets import available

    return list(available())


Name = Annotated[
    str | None,
    typer.Argument(help="One data set, to describe it.", autocompletion=_names, show_default=False),
]
Out = Annotated[Path | None, plain("Write it to this .parquet or .csv file.")]
AllRows = Annotated[
    bool,
    plain(
        "With --out compas...: all 7,214 defendants, not the 6,172 of ProPublica's analysis.",
        "--all-rows",
    ),
]


def datasets(
    name: Name = None,
    out: Out = None,
    all_rows: AllRows = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Which data can be tried at once?"""
    with readable(debug=debug):
        if out is not None:
            if name is None:
                raise typer.BadParameter("say which data set to write", param_hint="--out")
            check_goal(out, FILES, "--out")
            _write(name, out, all_rows=all_rows)
        elif all_rows:
            raise typer.BadParameter("it says what --out writes", param_hint="--all-rows")
        elif as_json:
            _print_json(name)
        elif name is None:
            _print_list()
        else:
            _print_one(name)


def _print_list() -> None:
    from causalfairness.datasets import available, describe

    table = columns("name", "rows", "columns", "about", right=("rows", "columns"))
    for name in available():
        about, called = describe(name), Text(name, style="bold")
        table.add_row(called, f"{about.rows:,}", str(len(about.columns)), Text(about.title))
    Console().print(table)


def _print_one(name: str) -> None:
    from causalfairness.datasets import describe

    about = describe(name)
    page = Console(highlight=False)
    width = width_of(page)
    heading = f"{about.title}: {about.rows:,} rows, {len(about.columns)} columns"
    page.print(Text(heading, style="bold"), "", Text(about.about), "", sep="\n", width=width)
    facts = Table.grid(padding=(0, 2))
    known = [
        (label, getattr(about, label)) for label in ("source", "license", "citation", "sha256")
    ]
    for label, text in (*known, *(("caveat", caveat) for caveat in about.caveats)):
        facts.add_row(Text(label, style="dim"), Text(text, overflow="fold"))
    page.print(facts, "", width=width)
    table = columns("column", "type", "missing", "meaning", right=("missing",))
    for column in about.columns:
        missing = f"{column.missing:,}" if column.missing else ""
        table.add_row(Text(column.name, style="bold"), column.type, missing, Text(column.meaning))
    page.print(table, width=width)


def _print_json(name: str | None) -> None:
    from causalfairness.datasets import available, describe

    shown: Any = (
        [asdict(describe(one)) for one in available()] if name is None else asdict(describe(name))
    )
    print_answer(json.dumps(shown, indent=2) + "\n")


def _write(name: str, out: Path, *, all_rows: bool) -> None:
    from causalfairness import datasets as bundled
    from causalfairness.tables import open_table

    bundled.describe(name)  # or an error that lists what there is
    if all_rows and name != "compas":
        raise typer.BadParameter("the other data sets have no rows aside", param_hint="--all-rows")
    load = getattr(bundled, f"load_{name}")
    frame: Any = open_table(load(propublica_filter=False) if all_rows else load()).frame
    write_frame(frame, str(out))
