"""Are only allowed paths used, and as the world does? The command `causalfairness necessity`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.asking import Roles, listed, model_for, open_data, reading
from causalfairness.cli.decompose import PICTURES, check_goals, estimator_of
from causalfairness.cli.failing import readable
from causalfairness.cli.lines import bullet, columns, naming, print_part, width_of
from causalfairness.cli.writing import draw, print_answer

PATHS = ("direct", "indirect", "spurious")
VERDICTS = {"violated": "bold red", "satisfied": "green", "undecided": "yellow"}
HELP = """Does a prediction use only the paths it may, and those as the world does?

Example:

[bold]causalfairness necessity[/] dataset:compas --protected race --reference Caucasian
--comparison African-American --confounders sex --mediators c_charge_degree
--outcome two_year_recid --prediction is_recid --allow spurious

[bold]--declare[/] "spurious: the district court: sex is relevant to risk" allows a path as well, \
and keeps who declared it necessary, and why. A path that is not allowed must have no effect on \
the prediction; one that is allowed must have the effect that it has on the outcome.
"""

Allow = Annotated[
    list[str] | None,
    o.role(
        "Path that may be used: direct, indirect or spurious (repeated, or a,b). Left out: none "
        "may.",
        metavar="PATH",
    ),
]
Declare = Annotated[
    list[str] | None,
    o.role(
        "Allow a path and record who declared it necessary, and why (repeatable).",
        metavar="'PATH: BY: WHY'",
    ),
]
Margin = Annotated[
    float | None,
    o.method(
        "How far from what is required an effect may be; 0 can show violations only. Left out: "
        "nothing is judged.",
        min=0.0,
    ),
]
PredictionColumn = Annotated[str, o.role("Column of predictions.", "--prediction")]
OutcomeColumn = Annotated[str, o.role("Outcome column.", "--outcome")]


def necessity(
    file: o.File,
    protected: o.Protected,
    reference: o.Reference,
    outcome: OutcomeColumn,
    prediction: PredictionColumn,
    comparison: o.Comparison = None,
    confounders: o.Confounders = None,
    mediators: o.Mediators = None,
    graph: o.Graph = None,
    outcome_value: o.OutcomeValue = None,
    weights: o.Weights = None,
    allow: Allow = None,
    declare: Declare = None,
    margin: Margin = None,
    estimator: o.Estimator = o.Method.AUTO,
    empty_cells: o.Cells = None,
    missing: o.MissingValues = o.Missing.REFUSE,
    categorical: o.Codes = None,
    numeric: o.Amounts = None,
    accept: o.Accepted = None,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    workers: o.Workers = 1,
    as_json: o.Json = False,
    plot: o.Plot = None,
    debug: o.Debug = False,
) -> None:
    """Does a prediction use only the paths it may, and those as the world does?"""
    roles = Roles(
        protected=listed(protected, "--protected"),
        reference=reference,
        comparison=comparison,
        confounders=listed(confounders, "--confounders"),
        mediators=listed(mediators, "--mediators"),
        graph=graph,
        outcome=outcome,
        outcome_value=outcome_value,
        prediction=prediction,
        weights=weights,
    )
    settings: dict[str, Any] = {
        "margin": margin,
        "level": level,
        "seed": seed,
        "workers": workers,
    }
    read = reading(file, categorical, numeric, accept, missing=missing.value)
    with readable(debug=debug):
        roles.check(each_group=False)
        check_goals(plot, PICTURES, "--plot")
        settings["allowed"] = [*_paths(listed(allow, "--allow")), *map(_declaration, declare or ())]
        _check_rule(margin, level)
        settings["estimator"] = estimator_of(estimator, empty_cells)
        _answer(read, roles, settings, plot or (), as_json=as_json)


def _paths(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in PATHS:
            raise typer.BadParameter(
                f"{name!r} is no path; expected {', '.join(PATHS)}", param_hint="--allow"
            )
    return names


def _check_rule(margin: float | None, level: float) -> None:
    """Can verdicts be given with these? The library says why not."""
    from causalfairness.parity.necessity.rules import EquivalenceRule

    try:
        EquivalenceRule(margin, level)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--margin, --level") from None


def _declaration(text: str) -> Any:
    from causalfairness.parity import Declaration

    parts = [part.strip() for part in text.split(":", maxsplit=2)]
    if len(parts) < 3 or not all(parts) or parts[0] not in PATHS:
        raise typer.BadParameter(
            f"{text!r} does not say which path ({', '.join(PATHS)}), who declared it necessary, "
            "and why, with a colon after each of the first two",
            param_hint="--declare",
        )
    return Declaration(*parts)


def _answer(
    read: dict[str, Any],
    roles: Roles,
    settings: dict[str, Any],
    pictures: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    from causalfairness.parity import check_business_necessity

    data = open_data(**read)
    report = check_business_necessity(data, model_for(data.frame, roles), **settings)
    if as_json:
        print_answer(json.dumps(report.to_dict(), indent=2) + "\n")
    else:
        _print(report, Console(highlight=False))
    for path in pictures:
        draw(lambda plots: plots.necessity(report), path)


def _print(report: Any, page: Console) -> None:
    width = width_of(page)
    title = Text(
        f"May {naming(report.what)} use these paths? {naming(report.comparison)} against "
        f"{naming(report.reference)}: "
    )
    title.append(*_said(report.verdict))
    page.print(title, "", _table(report), "", sep="\n", width=width)
    page.print(*map(bullet, report.sentences()), "", sep="\n", width=width)
    told = dict.fromkeys(f"{each.estimator}; {each.rows}" for each in report.diagnostics)
    for heading, lines in (
        ("Who declared what", report.ledger.lines()),
        ("How much to trust this", (*told, *report.notes)),
        ("True only if", report.assumptions),
    ):
        print_part(page, heading, lines)


def _said(verdict: str | None) -> tuple[str, str]:
    """The verdict, or that there is none, and how it looks."""
    return ("reported", "") if verdict is None else (verdict, VERDICTS[verdict])


def _table(report: Any) -> Table:
    from causalfairness.report.numbers import decimals_for, written

    numbers = ("outcome", "prediction", "must vanish", "std. error")
    table = columns("path", "allowed", *numbers, "", right=numbers)
    places = decimals_for([path.difference for path in report])
    for path in report:
        sizes = (path.outcome.value, path.prediction.value, path.difference.value)
        table.add_row(
            Text(path.name, style="bold"),
            "yes" if path.allowed else "no",
            *(written(number, places) for number in sizes),
            f"{path.difference.standard_error:.{places}f}",
            Text(*_said(path.verdict)),
        )
    return table
