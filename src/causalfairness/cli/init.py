"""What could an audit of this data look like? The command `causalfairness init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from causalfairness.cli import options as o
from causalfairness.cli.decompose import check_goal
from causalfairness.cli.failing import readable
from causalfairness.cli.writing import print_answer, say_written

HELP = """What could an audit of this data look like? Proposes a commented file, and runs nothing.

Example:

[bold]causalfairness init[/] people.parquet --out audit.toml

Roles are guessed by names and types of columns. Read every line before running it: which column \
is a confounder and which a mediator, no data can tell. Which value people want only they can: \
that line is yours to fill in, and the file is refused until it is.
"""
Out = Annotated[
    Path | None,
    o.output(
        "Write it to this .toml file, which must not be there yet. Left out: it is printed.",
        metavar="FILE",
    ),
]


def init(file: o.File, out: Out = None, debug: o.Debug = False) -> None:
    """What could an audit of this data look like?"""
    with readable(debug=debug):
        from causalfairness.audit import propose
        from causalfairness.writing import write_whole

        if out is None:
            print_answer(propose(file))
            return
        check_goal(out, (".toml",), "--out")
        if out.exists():
            raise typer.BadParameter(
                f"{str(out)!r} is there already; name another file", param_hint="--out"
            )
        say_written(write_whole(propose(file, source=_from(out, file)), out))


def _from(out: Path, file: str) -> str:
    """How is the data found from the folder of the file? Paths in an audit start there."""
    from causalfairness.cli.asking import BUNDLED

    if file.startswith(BUNDLED) or Path(file).is_absolute():
        return file
    return file if out.parent == Path() else str(Path(file).absolute())
