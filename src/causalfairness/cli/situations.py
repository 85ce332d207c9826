"""Are like people treated alike? The command `causalfairness situations`, for everyone or for one.

Without counterfactuals this is situation testing; with a table of them, or a graph that makes one,
it is counterfactual situation testing. All numbers are those of `situation_test` and
`counterfactual_situation_test`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli import situation_options as w
from causalfairness.cli.asking import (
    listed,
    open_data,
    read_graph,
    read_group,
    read_value,
    reading,
)
from causalfairness.cli.decompose import PICTURES, check_goal, check_goals
from causalfairness.cli.failing import readable, spelled
from causalfairness.cli.lines import columns, print_part, width_of
from causalfairness.cli.writing import draw, print_answer, say_written, write_frame
from causalfairness.fairness_model import HIGHER, LOWER

TABLES = (".csv", ".parquet", ".pq")
TEXTS = (".html", ".htm", ".txt")
HELP = """Are people like each one declined more often than those they are compared with?

Examples:

[bold]causalfairness situations[/] loans.csv --protected gender --comparison Female
--features salary,balance --decision approved --favorable 1 --k 15,30,50,100 --out table.csv

[bold]causalfairness situations[/] loans.csv --protected gender --comparison Female
--features salary,balance --decision approved --favorable 1 --counterfactuals as-men.csv
--dossier 44 --report dossier.html

[bold]causalfairness situations[/] loans.csv --protected gender --comparison Female
--features salary,balance --decision approved --favorable 1
--graph "gender -> {salary, balance}; salary -> balance" --do gender=Male

A control group (the k people of the same group most like each one) is compared with a test \
group (the k others most like them, or like their counterfactual). Row i of --counterfactuals \
belongs to row i of FILE. What is found is evidence under assumptions, not a verdict.
"""


def situations(
    file: o.File,
    protected: o.Protected,
    comparison: w.Comparison,
    features: w.Features,
    decision: w.Decision,
    favorable: w.Favorable,
    reference: w.Reference = None,
    ids: w.Ids = None,
    k: w.Sizes = "15",
    tau: w.Tau = 0.0,
    level: o.Level = 0.95,
    sided: w.Ends = w.Sided.ONE,
    interval: w.Method = w.Interval.NEWCOMBE,
    within: w.Within = None,
    categorical: o.Codes = None,
    numeric: o.Amounts = None,
    accept: o.Accepted = None,
    counterfactuals: w.Otherwise = None,
    graph: w.Graph = None,
    do: w.Do = None,
    include_centers: w.Centers = False,
    seed: o.Seed = 0,
    workers: o.Workers = 1,
    out: w.Out = None,
    dossier: w.Person = None,
    report: w.Report = None,
    plot: w.Plot = None,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Are people like each one declined more often than those they are compared with?"""
    world = World(counterfactuals, graph, tuple(do or ()), include_centers, seed)
    goals = Goals(out, dossier, tuple(report or ()), tuple(plot or ()), as_json)
    asked = {
        "protected": listed(protected, "--protected"),
        "comparison": comparison,
        "reference": reference,
        "features": listed(features, "--features"),
        "decision": decision,
        "favorable": favorable,
        "ids": ids,
        "k": _sizes(k),
        "tau": tau,
        "level": level,
        "sided": sided.value,
        "interval": interval.value,
        "within": within,
        "workers": workers,
    }
    read = reading(file, categorical, numeric, accept, missing="category")
    with readable(debug=debug):
        world.check()
        goals.check()
        _answer(read, asked, world, goals)


@dataclass(frozen=True)
class World:
    """Which other world is asked for, if any?"""

    file: str | None
    graph: str | None
    do: tuple[str, ...]
    include_centers: bool
    seed: int

    @property
    def is_asked_for(self) -> bool:
        """Is there another world?"""
        return self.file is not None or self.graph is not None

    def check(self) -> None:
        """Do the options contradict each other?"""
        if self.file is not None and self.graph is not None:
            raise typer.BadParameter(
                "the counterfactual table comes from a file or from a graph; give one of them",
                param_hint="--counterfactuals",
            )
        for given, option in ((self.do, "--do"), (self.include_centers, "--include-centers")):
            if given and not self.is_asked_for:
                raise typer.BadParameter(
                    "this is about another world; say which with --counterfactuals or --graph",
                    param_hint=option,
                )
        if self.do and self.graph is None:
            raise typer.BadParameter(
                "a table of counterfactuals holds one world already", param_hint="--do"
            )


@dataclass(frozen=True)
class Goals:
    """Where does the answer go?"""

    out: Path | None
    dossier: str | None
    reports: tuple[Path, ...]
    plots: tuple[Path, ...]
    as_json: bool

    def check(self) -> None:
        """Can all files be written, and is it clear whose dossier they hold?"""
        check_goal(self.out, TABLES, "--out")
        for option, paths, known in (
            ("--report", self.reports, TEXTS),
            ("--plot", self.plots, PICTURES),
        ):
            check_goals(paths, known, option)
            if paths and self.dossier is None:
                raise typer.BadParameter("say whose, with --dossier", param_hint=option)


def _sizes(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no list of whole numbers, such as 15,30", param_hint="--k"
        ) from None


def _matched(data: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """The keywords of the library: what was typed, with values matched to the data."""
    columns, decision = asked["protected"], asked["decision"]
    found = {"protected": columns[0] if len(columns) == 1 else columns}
    for name in ("reference", "comparison"):
        if asked[name] is not None:
            found[name] = read_group(data, columns, asked[name], f"--{name}")
    if asked["favorable"] not in (HIGHER, LOWER):
        found["favorable"] = read_value(data, decision, asked["favorable"], "--favorable")
    return asked | found


def _answer(read: dict[str, Any], asked: dict[str, Any], world: World, goals: Goals) -> None:
    from causalfairness.individuals import counterfactual_situation_test, situation_test
    from causalfairness.tables.frames import frame_rows

    data = open_data(**read)
    columns, ids = [*asked["protected"], *asked["features"], asked["decision"]], asked["ids"]
    asked = _matched(data.frame, asked)
    if world.is_asked_for:
        rows = frame_rows(data, columns if ids is None else [*columns, ids], as_is=True)
        people = replace(data, data=rows.native)
        otherwise, do = _other_world(people, rows, world)
        more = {"include_centers": world.include_centers, "do": do, "seed": world.seed}
        found = counterfactual_situation_test(people, otherwise, **more, **asked)
    else:
        found = situation_test(data, **asked)
    dossier = (
        None if goals.dossier is None else found.dossier(_person(data.frame, ids, goals.dossier))
    )
    if goals.as_json:
        print_answer(_json(found, dossier))
    else:
        _print(found, dossier, Console(highlight=False))
    _write(found, dossier, goals)


def _other_world(people: Any, rows: Any, world: World) -> tuple[Any, Any]:
    """The counterfactual table, or the model that makes it, and what is set there."""
    if world.graph is None:
        assert world.file is not None
        return replace(people, data=open_data(world.file).data), None
    from causalfairness.cli.counterfactuals import read_do
    from causalfairness.scm import StructuralCausalModel

    graph = read_graph(world.graph)
    model = StructuralCausalModel.fit(graph, people, seed=world.seed)
    return model, read_do(world.do, graph, rows) if world.do else None


def _person(data: Any, ids: str | None, text: str) -> Any:
    if ids is not None:
        return read_value(data, ids, text, "--dossier")
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} is no row position; name people with --ids COLUMN, or give a number from 0",
            param_hint="--dossier",
        )
    return int(text)


def _json(found: Any, dossier: Any) -> str:
    from causalfairness.report.summary import plain

    said = {
        "method": found.name,
        "tau": found.rule.tau,
        "level": found.rule.level,
        "interval": found.rule.words,
        "summary": found.summary().to_records(),
        "sentences": list(found.sentences()),
        "assumptions": list(found.assumptions),
        "notes": list(found.notes),
        "dossier": plain(dossier),
    }
    return json.dumps(said, indent=2, allow_nan=False) + "\n"


def _print(found: Any, dossier: Any, page: Console) -> None:
    from causalfairness.report.legible import legible, legible_lines

    width = width_of(page)
    who = found.situations
    title = f"{found.name}: {who.complaining} compared with {who.compared}"
    page.print(Text(legible(title), style="bold"), "", sep="\n", width=width)
    head, *lines = found.summary().cells()
    names = [name.strip() for name in head]
    table = columns(*names, right=names)
    for line in lines:
        table.add_row(*line)
    page.print(table, "", sep="\n", width=width)
    for name, said in (
        ("What the counts say", found.sentences()),
        ("How much to trust this", (f"intervals: {found.rule.words}", *found.notes)),
        ("True only if", found.assumptions),
    ):
        print_part(page, name, map(spelled, said))
        page.print()
    if dossier is not None:
        page.print(Text(legible_lines(str(dossier))), soft_wrap=True)


def _write(found: Any, dossier: Any, goals: Goals) -> None:
    from causalfairness.datasets.bundled import as_frame
    from causalfairness.tables.source import open_frame
    from causalfairness.writing import write_whole

    if goals.out is not None:
        columns: Any = found.table().to_lists()
        write_frame(open_frame(as_frame(columns, "pyarrow")), str(goals.out))
    for path in goals.reports:
        is_page = path.suffix.lower() != ".txt"
        write_whole(dossier.to_html() if is_page else f"{dossier}\n", path)
        say_written(path)
    for path in goals.plots:
        draw(lambda plots: plots.dossier(dossier), path)
