"""Are tables on a terminal whole, however narrow it is?"""

import io

import pytest
from rich.console import Console
from rich.text import Text

from causalfairness.cli.lines import Numbers, columns

NUMBERS = ("value", "95% interval", "std. error", "people")


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_no_number_is_cut_at_any_width(width):
    table = columns("part", *NUMBERS, right=NUMBERS)
    table.add_row(Text("spurious effect"), Text("-0.2269"), "-0.2345 to -0.2011", "0.0123", "1,776")
    grid = Numbers.grid(padding=(0, 2))
    grid.add_row("spurious effect", "-0.2269", "-0.2345 to -0.2011", "0.0123", "1,776")
    for shown in (table, grid):
        page = Console(file=io.StringIO(), width=width)
        page.print(shown, "", sep="\n", width=width)
        text = page.file.getvalue()
        for number in ("-0.2269", "-0.2345", "-0.2011", "0.0123", "1,776"):
            assert number in text.split()
        assert max(map(len, text.splitlines())) <= width


def test_numbers_of_a_narrow_table_of_neighbors_are_whole():
    names = ["k", "complainants", "controls", "positive", "share", "low", "high"]
    table = columns(*names, right=names)
    table.add_row("15", "1,776", "2,310", "104", "5.9 %", "4.9 %", "7.1 %")
    page = Console(file=io.StringIO(), width=40)
    page.print(table, width=40)
    assert {"15", "1,776", "2,310"} <= {*page.file.getvalue().split()}
