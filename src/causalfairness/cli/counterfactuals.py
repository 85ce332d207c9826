"""What would each row be, had a column been different? `causalfairness counterfactuals` tells.

A value in `--do` is matched to its column: words must be among those that it holds, numbers are
read as numbers. The table that is written is that of `StructuralCausalModel.counterfactual`; a
value counts as changed if it moved by more than rounding.
"""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.asking import TRUTHS, open_data, read_graph, reading
from causalfairness.cli.datasets import FILES
from causalfairness.cli.decompose import check_goal
from causalfairness.cli.failing import readable
from causalfairness.cli.lines import columns, naming, print_part, width_of
from causalfairness.cli.writing import STDOUT, write_frame
from causalfairness.errors import InterventionError, UnknownNodeError
from causalfairness.graph import CausalGraph

_world = o.under("Which world is asked for", show_default=False)
ROUNDING = 1e-9  # relative; smaller moves are those of arithmetic
DOUBTFUL = 0.01  # p-value below which noise visibly depends on the causes
MOST_MOVES = 3  # moves between words that are listed
HELP = """What would each row be, had a column been different? Writes the counterfactual table.

Examples:

[bold]causalfairness counterfactuals[/] dataset:compas
--graph "race <-> age; {race, age} -> priors_count; {race, age, priors_count} -> two_year_recid"
--do race=Caucasian --out counterfactuals.csv

[bold]causalfairness counterfactuals[/] people.parquet --graph graph.dot
--do race=African-American:Caucasian --do age=30 --out -

Each column of the graph gets a mechanism that is fitted to the data. What a row has of its own \
(its noise) is kept, so only the columns in --do and those that follow from them change.
"""

Graph = Annotated[
    str,
    _world("Causal graph: text such as 'a -> b; a <-> c', or a file with it."),
]
Do = Annotated[
    list[str],
    _world(
        "Set a column: race=Caucasian for every row, race=Hispanic:Caucasian for rows that "
        "have the first value (repeatable).",
        "--do",
        metavar="COLUMN=VALUE",
    ),
]
Draws = Annotated[
    int,
    o.method(
        "Draws of the noise that the data leave open: whole tables, one below the other.", min=1
    ),
]
Out = Annotated[
    str,
    o.output("Write the table to this .parquet or .csv file; - for CSV on stdout.", metavar="FILE"),
]


def counterfactuals(
    file: o.File,
    graph: Graph,
    do: Do,
    out: Out,
    draws: Draws = 1,
    categorical: o.Codes = None,
    numeric: o.Amounts = None,
    seed: o.Seed = 0,
    debug: o.Debug = False,
) -> None:
    """What would each row be, had a column been different?"""
    with readable(debug=debug):
        _check_out(out, file)
        data = open_data(**reading(file, categorical, numeric))
        _answer(data, read_graph(graph), do, out, draws=draws, seed=seed)


def _check_out(out: str, file: str) -> None:
    """Can the table be written? Better known before the work than after it."""
    if out == STDOUT:
        return
    path = Path(out)
    check_goal(path, FILES, "--out")
    sources = [Path(name) for name in (file, *glob.glob(file, recursive=True))]
    if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
        raise typer.BadParameter(f"{out!r} holds the data; name another file", param_hint="--out")


def _answer(
    table: Any, graph: CausalGraph, given: Sequence[str], out: str, *, draws: int, seed: int
) -> None:
    from causalfairness.scm import StructuralCausalModel
    from causalfairness.tables.frames import frame_rows

    before = frame_rows(table, graph.nodes)
    do = read_do(given, graph, before)
    data = replace(table, data=before.native)
    model = StructuralCausalModel.fit(graph, data, seed=seed)
    otherwise = model.counterfactual(data, do=do, draws=draws, seed=seed)
    after = frame_rows(replace(table, data=otherwise), graph.nodes)
    page = Console(stderr=out == STDOUT, highlight=False)
    _print_title(page, do, len(before), draws)
    _print_changes(page, _changes(before, after, (*do, *graph.descendants(do))))
    _print_model(page, model)
    write_frame(after.frame, out)


def read_do(given: Sequence[str], graph: CausalGraph, rows: Any) -> dict[str, Any]:
    """What is set? A value for each column, or a mapping from old to new values."""
    found: dict[str, Any] = {}
    for text in given:
        node, said = _halves(text, graph)
        value = _value(said, rows.read(node).levels().values, f"--do {text!r}", node)
        known = found.setdefault(node, value)
        if known is value:
            continue
        if not isinstance(known, dict) or not isinstance(value, dict) or known.keys() & value:
            raise typer.BadParameter(
                f"{node!r} is set twice; give one value, or OLD:NEW once for each old value",
                param_hint="--do",
            )
        found[node] = known | value
    return found


def _halves(text: str, graph: CausalGraph) -> tuple[str, str]:
    """The column and what is said about it; of several columns that fit, the longest name."""
    places = [at for at, letter in enumerate(text) if letter == "="]
    for at in reversed(places):
        if text[:at].strip() in graph.nodes:
            return text[:at].strip(), text[at + 1 :].strip()
    name = text[: places[0]].strip() if places else ""
    if not name:
        raise typer.BadParameter(
            f"{text!r} names no column and value; expected COLUMN=VALUE, such as race=Caucasian",
            param_hint="--do",
        )
    hint = _nearest(name, graph.nodes)
    raise UnknownNodeError(f"--do {text!r}: the graph has no node {name!r}; {hint}")


def _value(said: str, present: Sequence[str | float | None], where: str, column: str) -> Any:
    """One value, or {old: new}."""
    words = [value for value in present if isinstance(value, str)]
    if words:
        return _word(said, words, where, column)
    numbers = [value for value in present if isinstance(value, float)]
    old, colon, new = said.partition(":")
    if not colon:
        return _number(said, numbers, where, column)
    found = _number(old.strip(), numbers, where, column)
    if found not in numbers:
        hint = _nearest(found, numbers)
        raise InterventionError(f"{where}: column {column!r} has no value {old}; {hint}")
    return {found: _number(new.strip(), numbers, where, column)}


def _word(said: str, words: Sequence[str], where: str, column: str) -> Any:
    """A colon may also be part of a word, which is looked for first."""
    if said in words:
        return said
    places = [at for at, letter in enumerate(said) if letter == ":"]
    pairs = [(said[:at].strip(), said[at + 1 :].strip()) for at in places]
    known = [pair for pair in pairs if set(pair) <= set(words)]
    if len(known) == 1:
        return dict(known)
    if known:
        ways = " or as ".join(f"{old!r} to {new!r}" for old, new in known)
        raise InterventionError(f"{where}: this can be read as {ways}; rename one of these values")
    half = [pair for pair in pairs if set(pair) & set(words)]
    wrong = next((word for pair in half for word in pair if word not in words), said)
    hint = _nearest(wrong, words)
    raise InterventionError(f"{where}: column {column!r} has no value {wrong!r}; {hint}")


def _number(text: str, present: Sequence[float], where: str, column: str) -> float:
    """A number, as the column holds them; one of two, where it has only two."""
    try:
        number = TRUTHS[text.lower()] if text.lower() in TRUTHS else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InterventionError(
            f"{where}: column {column!r} holds numbers, and {text!r} is not a finite one"
        )
    if len(present) == 2 and number not in present:
        hint = _nearest(number, present)
        raise InterventionError(f"{where}: column {column!r} has no value {text}; {hint}")
    return int(number) if number.is_integer() else number


def _nearest(value: Any, known: Sequence[Any]) -> str:
    from causalfairness.scm.domain import nearest

    return nearest(value, known)


def _changes(before: Any, after: Any, columns: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each column, how many of its values changed, and by how much."""
    import numpy as np

    copies = len(after) // len(before) if len(before) else 1
    for name in columns:
        old, new = before.read(name), after.read(name)
        if old.values is not None and new.values is not None:
            was = np.tile(old.values, copies)
            moved = np.abs(new.values - was) > ROUNDING * np.maximum(1.0, np.abs(was))
            how = _means(float(old.values.mean()), float(new.values.mean())) if len(was) else ""
        else:
            words = (*old.labels, *(word for word in new.labels if word not in old.labels))
            place = np.array([words.index(word) for word in new.labels], dtype=np.int64)
            was, now = np.tile(old.codes, copies), place[new.codes]
            moved = was != now
            how = _moves(words, was[moved] * len(words) + now[moved])
        share = f" ({moved.sum() / len(moved):.1%})" if len(moved) else ""
        yield naming(name), f"{moved.sum():,}{share}", how


def _means(old: float, new: float) -> str:
    return f"mean {old:.4g} to {new:.4g} ({new - old:+.3g})"


def _moves(words: Sequence[str], pairs: Any) -> str:
    """The most frequent moves from word to word."""
    import numpy as np

    found, counts = np.unique(pairs, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = [
        f"{naming(words[found[at] // len(words)])} to {naming(words[found[at] % len(words)])} "
        f"{counts[at]:,}"
        for at in order[:MOST_MOVES]
    ]
    others = len(order) - len(shown)
    return "; ".join([*shown, f"{others} other moves"] if others else shown)


def _print_title(page: Console, do: Mapping[str, Any], rows: int, draws: int) -> None:
    said = " and ".join(_said(node, value) for node, value in do.items())
    times = "" if draws == 1 else f" ({draws:,} draws, one table below the other)"
    title = f"What would these {rows:,} rows be, had {said}?{times}"
    page.print(Text(title, style="bold"), "", sep="\n", width=width_of(page))


def _said(node: str, value: Any) -> str:
    if not isinstance(value, dict):
        return f"{naming(node)} been {naming(str(value))}"
    pairs = [f"{naming(str(new))} where it is {naming(str(old))}" for old, new in value.items()]
    return f"{naming(node)} been {', '.join(pairs)}"


def _print_changes(page: Console, changes: Iterator[tuple[str, str, str]]) -> None:
    table = columns("column", "rows changed", "how", right=("rows changed",))
    for column, rows, how in changes:
        table.add_row(Text(column, style="bold"), rows, Text(how))
    page.print(table, "", "All other columns are as they were.", "", sep="\n", width=width_of(page))


def _print_model(page: Console, model: Any) -> None:
    """Which mechanism each column has, how well it fits, and what is assumed."""
    fits = [(str(fit), fit.independence) for fit in model.fits]
    print_part(page, "How each column follows from its causes", [text for text, _ in fits])
    if any(p is not None and p < DOUBTFUL for _, p in fits):
        doubt = "A small p says that noise still depends on the causes: do not trust such a column."
        page.print(Padding(Text(doubt), (0, 0, 0, 2)), width=width_of(page))
    page.print()
    print_part(page, "True only if", model.assumptions)
