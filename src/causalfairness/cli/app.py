"""Which commands are there, and what holds for all of them?"""

from __future__ import annotations

import sys
from importlib.metadata import version as installed
from typing import Annotated

import typer

from causalfairness.cli import (
    audit,
    counterfactuals,
    datasets,
    decompose,
    imaging,
    init,
    necessity,
    records,
    report,
    situations,
)

app = typer.Typer(
    name="causalfairness",
    help="Why does a decision system treat groups differently, and for whom?",
    epilog="Example: causalfairness decompose dataset:adult --protected sex --reference Male "
    "--mediators marital_status --outcome income --outcome-value '>50K'",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(help=init.HELP)(init.init)
app.command(help=audit.HELP)(audit.audit)
app.command(help=report.HELP)(report.report)
app.command(help=records.VERIFY_HELP)(records.verify)
app.command(help=records.DIFF_HELP)(records.diff)
app.command(help=decompose.HELP)(decompose.decompose)
app.command(help=necessity.HELP)(necessity.necessity)
app.command(help=counterfactuals.HELP)(counterfactuals.counterfactuals)
app.command(help=situations.HELP)(situations.situations)
app.add_typer(imaging.app)
app.command(help=datasets.HELP)(datasets.datasets)


def main() -> None:
    """What was asked? The door of the `causalfairness` command.

    >>> from typer.testing import CliRunner
    >>> CliRunner().invoke(app, ["--version"]).output
    'causalfairness ...'
    """
    if hasattr(sys.stdout, "reconfigure"):  # letters that a terminal lacks are spelled out
        sys.stdout.reconfigure(errors="backslashreplace")
    app(prog_name="causalfairness")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"causalfairness {installed('causalfairness')}")
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Which one?")
    ] = False,
) -> None:
    """Why does a decision system treat groups differently, and for whom?"""
