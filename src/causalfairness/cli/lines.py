"""How are words set on a terminal? Names that cannot do harm, and lines with a dash before them."""

from __future__ import annotations

from rich.console import Console
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


def width_of(page: Console) -> int:
    """How wide may a line be?"""
    return min(page.width, WIDEST)
