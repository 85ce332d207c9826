"""How is one cell of a table written, and by what is it ordered? Column by column, so that the
numbers of a column have the same decimals.

Numbers are ordered as numbers, yes after no, everything else as text; what is missing comes last in
either order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from causalfairness.effects.table import format_p_value
from causalfairness.report.legible import LONGEST
from causalfairness.report.page.blocks import Cell, Column, Table, Tone

TONES: tuple[str, ...] = get_args(Tone)
NUMBERS = ("number", "share", "p")
MOST_DECIMALS = 9


@dataclass(frozen=True)
class Written:
    """What stands in a cell? `order` is the number it is sorted by, empty where it has none.

    >>> Written("0.50", order="0.5").missing
    False
    """

    text: str
    order: str = ""
    tone: str = ""
    missing: bool = False


def write_rows(table: Table) -> list[list[Written]]:
    """How are all cells of a table written?

    >>> write_rows(Table("Rates", (Column("rate", "rate", "share"),), ((0.251,), (None,))))[0]
    [Written(text='25.1%', order='0.251', tone='', missing=False)]
    """
    columns = []
    for at, column in enumerate(table.columns):
        cells = [row[at] for row in table.rows]
        decimals = _decimals(cells)
        columns.append([_write(column, cell, decimals) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def long_columns(rows: Sequence[Sequence[Written]]) -> set[int]:
    """Which columns hold sentences rather than words, and need room?

    >>> long_columns([[Written("Male"), Written("nobody knows, " * 5)]])
    {1}
    """
    return {at for row in rows for at, cell in enumerate(row) if len(cell.text) > LONGEST}


def _write(column: Column, cell: Cell, decimals: int) -> Written:
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return Written("", missing=True)
    if column.kind == "yes" or isinstance(cell, bool):
        return Written("yes" if cell else "no", order=str(int(bool(cell))))
    if isinstance(cell, str):
        tone = cell if column.kind == "verdict" and cell in TONES else ""
        return Written(cell, tone=tone)
    order = f"{cell:.12g}"
    if column.kind == "share":
        return Written(f"{100 * cell:.1f}%", order)
    if column.kind == "p":
        return Written(format_p_value(cell), order)
    return Written(f"{cell:z,.{decimals}f}", order)


def _decimals(cells: Sequence[Cell]) -> int:
    """As many as show the largest number with three digits, and small ones with two, as far as
    these are among the first three decimals."""
    numbers = [abs(float(cell)) for cell in cells if isinstance(cell, float | int)]
    finite = [number for number in numbers if 0 < number < math.inf]
    if not finite or all(number == round(number) for number in finite):
        return 0
    largest, smallest = (math.floor(math.log10(end(finite))) for end in (max, min))
    wanted = max(3 - max(largest, 0), 2 - largest, min(1 - smallest, 3))
    return min(max(wanted, 0), MOST_DECIMALS)
