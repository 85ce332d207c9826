"""How much of a gap is direct, indirect or spurious? The command `causalfairness decompose`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from causalfairness.cli import options as o
from causalfairness.cli.asking import Roles, listed, model_for, open_data, reading
from causalfairness.cli.failing import readable
from causalfairness.cli.writing import draw, pictures, print_answer, say_written

PAGES = (".html", ".htm", ".md", ".markdown", ".json")
PICTURES = (".svg", ".png", ".pdf")


HELP = """How much of the gap between two groups is direct, indirect or spurious?

Example:

[bold]causalfairness decompose[/] dataset:compas --protected race --reference Caucasian
--comparison African-American --confounders age,sex --mediators priors_count
--outcome two_year_recid --report report.html

A value is matched to its column: 1 is a number where the column holds numbers, and text where it \
holds text. Commas separate names; "double quotes" protect a comma inside a name.
"""


def decompose(
    file: o.File,
    protected: o.Protected,
    reference: o.Reference,
    comparison: o.Comparison = None,
    each_group: o.EachGroup = False,
    confounders: o.Confounders = None,
    mediators: o.Mediators = None,
    graph: o.Graph = None,
    outcome: o.Outcome = None,
    outcome_value: o.OutcomeValue = None,
    prediction: o.Prediction = None,
    of: o.WhoseMean = None,
    weights: o.Weights = None,
    convention: o.Order = o.Convention.SEQUENTIAL,
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
    report: o.Report = None,
    plot: o.Plot = None,
    debug: o.Debug = False,
) -> None:
    """How much of the gap between two groups is direct, indirect or spurious?"""
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
        "of": _whose(of, roles),
        "convention": convention.value,
        "seed": seed,
        "workers": workers,
    }
    goals = Goals(level, as_json, tuple(report or ()), tuple(plot or ()))
    read = reading(file, categorical, numeric, accept, missing=missing.value)
    with readable(debug=debug):
        roles.check(each_group=each_group)
        goals.check()
        settings["estimator"] = estimator_of(estimator, empty_cells)
        _answer(read, roles, settings, goals, each_group=each_group)


@dataclass(frozen=True)
class Goals:
    """Where does the answer go, with intervals of which level?"""

    level: float
    as_json: bool
    reports: tuple[Path, ...]
    plots: tuple[Path, ...]

    def check(self) -> None:
        """Can all files be written? Better known before the work than after it."""
        check_goals(self.reports, PAGES, "--report")
        check_goals(self.plots, PICTURES, "--plot")


def check_goals(paths: Iterable[Path] | None, known: Sequence[str], option: str) -> None:
    """Can all these files be written, as far as their names and folders tell?"""
    for path in paths or ():
        check_goal(path, known, option)


def check_goal(path: Path | None, known: Sequence[str], option: str) -> None:
    """Can this file, if any, be written, as far as name, folder and what is installed tell?"""
    if path is None:
        return
    if path.suffix.lower() not in known:
        raise typer.BadParameter(
            f"{str(path)!r} ends in {path.suffix!r}; expected {', '.join(known)}",
            param_hint=option,
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(
            f"there is no folder {str(path.parent)!r}; make it first", param_hint=option
        )
    if known is PICTURES:
        pictures()  # says what to install where matplotlib is missing


def _whose(of: o.Of | None, roles: Roles) -> str:
    if of is None:
        return "prediction" if roles.outcome is None else "outcome"
    if of == o.Of.PREDICTION and roles.prediction is None:
        raise typer.BadParameter("name the column with --prediction", param_hint="--of prediction")
    if of == o.Of.OUTCOME and roles.outcome is None:
        raise typer.BadParameter("name the column with --outcome", param_hint="--of outcome")
    return of.value


def estimator_of(method: o.Method, empty_cells: o.EmptyCells | None) -> Any:
    """Which estimator was asked for? None lets the library choose."""
    if empty_cells is not None and method != o.Method.STRATA:
        raise typer.BadParameter(
            f"only --estimator strata has cells that can be empty; found {method.value}",
            param_hint="--empty-cells",
        )
    from causalfairness import estimators

    if method == o.Method.STRATA:
        cells = o.EmptyCells.REFUSE if empty_cells is None else empty_cells
        return estimators.Strata(empty_cells=cells.value)
    return estimators.DoublyRobust() if method == o.Method.DOUBLY_ROBUST else None


def _answer(
    read: dict[str, Any], roles: Roles, settings: dict[str, Any], goals: Goals, *, each_group: bool
) -> None:
    from causalfairness import report
    from causalfairness.cli.printing import print_summary
    from causalfairness.parity import compare_groups, decompose_disparity
    from causalfairness.writing import write_whole

    data = open_data(**read)
    model = model_for(data.frame, roles)
    found: Any = (compare_groups if each_group else decompose_disparity)(data, model, **settings)
    summary = report.summarise(
        found,
        model=model,
        level=goals.level,
        source=read["name"],
        seed=settings["seed"],
        date=_today(),
    )
    if goals.as_json:
        print_answer(report.to_json(summary))
    else:
        print_summary(summary, Console())
    for path in goals.reports:
        write_whole(_renderer(path)(summary), path)
        say_written(path)
    for path in goals.plots:
        draw(lambda plots: _picture(plots, found, goals.level), path)


def _renderer(path: Path) -> Callable[[Any], str]:
    from causalfairness import report

    kind = path.suffix.lower()
    if kind == ".json":
        return report.to_json
    return report.render_html if kind in (".html", ".htm") else report.render_markdown


def _picture(plots: Any, found: Any, level: float) -> Any:
    from causalfairness.effects import Decomposition

    if isinstance(found, Decomposition):
        return plots.waterfall(found, level=level)
    return plots.forest(found.table(level))


def _today() -> str:
    """The date of the report; SOURCE_DATE_EPOCH stands for it where bytes must not change."""
    moment = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(moment), UTC) if moment.isdecimal() else datetime.now(UTC)
    return now.date().isoformat()
