"""How does a summary look on a terminal? A table, sentences, and what to know before believing."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from causalfairness.cli.lines import bullet, columns, naming, print_part, width_of
from causalfairness.effects.table import format_p_value
from causalfairness.report.legible import legible
from causalfairness.report.numbers import decimals_for, percent, written
from causalfairness.report.summary import Fact, Row, Sentence, Summary


def print_summary(summary: Summary, page: Console) -> None:
    """What was found? Printed for people, in at most 100 columns.

    >>> import io
    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> page = Console(file=io.StringIO(), width=80)
    >>> print_summary(cf.report.summarise(found), page)
    >>> "True only if" in page.file.getvalue()
    True
    """
    width = width_of(page)
    several = summary.compares_groups
    page.print(Text(_plain(summary.title), style="bold"), "", sep="\n", width=width)
    page.print(Padding(_parts(summary, several=several), (0, 0, 1, 0)), width=width)
    page.print(
        *(bullet(_plain(sentence)) for sentence in summary.sentences), "", sep="\n", width=width
    )
    for name, facts in _caveats(summary, several=several):
        page.print(Text(name, style="bold"), _facts(facts), width=width)
    print_part(page, "True only if", map(_plain, summary.assumptions))


def _parts(summary: Summary, *, several: bool) -> RenderableType:
    p_name = "p, adjusted" if several else "p"
    numbers = ("value", f"{percent(summary.level)} interval", "std. error", p_name)
    table = columns("part", *numbers, right=numbers)
    places, group = decimals_for(summary.table), None
    for row in summary.table:
        if several and row.group != group:
            table.add_row(Text(naming(row.group), style="bold"))
            group = row.group
        table.add_row(*_cells(row, places, indent="  " if several else ""))
    return table


def _cells(row: Row, places: int, *, indent: str) -> Iterable[RenderableType]:
    unsure = row.low <= 0 <= row.high
    yield Text(indent + row.name.replace("_", " "), style="" if indent else "bold")
    yield Text(written(row.value, places), style="" if unsure else "cyan")
    yield f"{written(row.low, places)} to {written(row.high, places)}"
    yield f"{row.standard_error:,.{places}f}"
    yield format_p_value(row.p_value if row.p_adjusted is None else row.p_adjusted)


def _caveats(summary: Summary, *, several: bool) -> Iterable[tuple[str, list[Fact]]]:
    for finding in summary.findings:
        learned = sum(model.loss < model.baseline for model in finding.models)
        facts = list(finding.diagnostics)
        if finding.models:
            said = f"{learned} of {len(finding.models)} predict unseen people better than a mean"
            facts.append(Fact("models", Sentence(said)))
        about = f": {naming(finding.comparison)}" if several else ""
        yield f"How much to trust this{about}", facts
    if summary.not_compared:
        yield "Not compared", list(summary.not_compared)


def _facts(facts: Iterable[Fact]) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for fact in facts:
        table.add_row(Text(naming(fact.name)), Text(_plain(fact.text)))
    return Padding(table, (0, 0, 1, 2))


def _plain(sentence: Sentence) -> str:
    return "".join(
        naming(piece.text) if piece.is_name else legible(piece.text) for piece in sentence.pieces()
    )
