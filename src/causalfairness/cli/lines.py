"""How are words set on a terminal? Names that cannot do harm, and lines with a dash before them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

WIDEST = 100  # columns; longer lines are hard to read


def naming(text: str) -> str:
    """How is a name from the data shown? Legible, and not too long.

    >>> naming("race")
    'race'
    """
    from causalfairness.report.legible import legible, shortened

    return shortened(legible(text))


def bullet(text: str) -> Table:
    """How is a sentence set? With a dash, and folded behind it."""
    from causalfairness.report.legible import legible

    table = Table.grid(padding=(0, 1))
    table.add_row("-", Text(legible(text), overflow="fold"))
    return table


def columns(*headings: str, right: Collection[str] = ()) -> Table:
    """Which table has these columns, some of them set to the right? Rows are added later."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for heading in headings:
        is_right = heading in right
        justify: JustifyMethod = "right" if is_right else "left"
        table.add_column(heading, justify=justify, no_wrap=is_right, overflow="fold")
    return table


def print_part(page: Console, heading: str, lines: Iterable[str]) -> None:
    """Print a heading, and a sentence on each line below it."""
    page.print(Text(heading, style="bold"), *map(bullet, lines), sep="\n", width=width_of(page))


def width_of(page: Console) -> int:
    """How wide may a line be?"""
    return min(page.width, WIDEST)
