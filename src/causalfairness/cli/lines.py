"""How are words set on a terminal? Names that cannot do harm, and lines with a dash before them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
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


class Numbers(Table):
    """A table that cuts no number: where it is too wide, words are folded first, then columns of
    numbers at their spaces; where that does not do, each cell has a line, with its heading.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, none of them longer than there is room for."""
        cells = [[column.header, *column.cells] for column in self.columns]
        full = [max(cell_len(str(cell)) for cell in each) for each in cells]
        excess = sum(full) + self.padding[1] * (len(full) - 1) - options.max_width
        numeric = [column.justify == "right" for column in self.columns]
        for at in sorted(range(len(full)), key=lambda at: (numeric[at], -full[at])):
            cut = min(max(excess, 0), full[at] - _least(" ".join(map(str, cells[at]))))
            excess -= cut
            self.columns[at].width, self.columns[at].no_wrap = full[at] - cut, not cut
        if excess <= 0:
            yield from super().__rich_console__(console, options)
            return
        head, *rows = zip(*cells, strict=True)
        for name, cell in (pair for row in rows for pair in zip(head, row, strict=True)):
            yield Text(f"{name}: {cell}" if str(name) else str(cell), overflow="fold")


def _least(text: str) -> int:
    """How narrow may this be? As wide as its longest number; words may be folded."""
    words = text.split()
    numbers = [cell_len(word) for word in words if any(map(str.isdigit, word))]
    return max([*numbers, min(8, max(map(cell_len, words), default=0))])


def columns(*headings: str, right: Collection[str] = ()) -> Numbers:
    """Which table has these columns, some of them set to the right? Rows are added later."""
    table = Numbers(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for heading in headings:
        is_right = heading in right
        justify: JustifyMethod = "right" if is_right else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    return table


def print_part(page: Console, heading: str, lines: Iterable[str]) -> None:
    """Print a heading, and a sentence on each line below it."""
    page.print(Text(heading, style="bold"), *map(bullet, lines), sep="\n", width=width_of(page))


def width_of(page: Console) -> int:
    """How wide may a line be?"""
    return min(page.width, WIDEST)
