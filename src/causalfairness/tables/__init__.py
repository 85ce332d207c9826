"""Where is the data, and what do estimators need of it?

One door (`open_table`) for data frames, database relations and files; two products: `Rows`, arrays
for row-level estimators, and `Cells`, counts and sums from one GROUP BY where the data lives.
"""

from causalfairness.tables.cells import CellPair, Cells, CellSums
from causalfairness.tables.columns import Column
from causalfairness.tables.joining import add_column
from causalfairness.tables.missing import Missing, RowAccount
from causalfairness.tables.rows import RowPair, Rows
from causalfairness.tables.source import only_columns, only_rows
from causalfairness.tables.table import Table, ask, open_table
from causalfairness.tables.target import Of, Within

__all__ = [
    "CellPair",
    "CellSums",
    "Cells",
    "Column",
    "Missing",
    "Of",
    "RowAccount",
    "RowPair",
    "Rows",
    "Table",
    "Within",
    "add_column",
    "ask",
    "only_columns",
    "only_rows",
    "open_table",
]
