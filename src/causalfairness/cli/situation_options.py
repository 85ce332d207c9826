"""What can be said to `causalfairness situations`? Every option of its own, with its help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from causalfairness.cli import options as o

_world = o.under("The other world, for counterfactual situation testing", show_default=False)


class Sided(StrEnum):
    """Does each end of an interval hold by itself, or both together?"""

    ONE = "one"
    TWO = "two"


class Interval(StrEnum):
    """Which interval of a difference of shares?"""

    WALD = "wald"
    NEWCOMBE = "newcombe"
    AGRESTI_CAFFO = "agresti-caffo"


Comparison = Annotated[str, o.role("Whose situation is tested; one value per protected column.")]
Reference = Annotated[str | None, o.role("Compared with this group. Left out: everyone else.")]
Features = Annotated[list[str], o.role("Columns that make people alike (repeated, or a,b).")]
Decision = Annotated[str, o.role("Column of decisions, with two values.")]
Favorable = Annotated[str, o.role("The decision that people want; of numbers, higher or lower.")]
Ids = Annotated[str | None, o.role("Column that names people; left out: row positions, from 0.")]
Sizes = Annotated[str, o.method("People per group; several with commas.")]
Tau = Annotated[float, o.method("Difference of shares that is put up with.")]
Ends = Annotated[Sided, o.method("Ends of intervals hold one by one, or two together.")]
Method = Annotated[Interval, o.method("Kind of interval.")]
Within = Annotated[float | None, o.method("Compare nobody farther away than this distance.")]
Otherwise = Annotated[str | None, _world("File of the same rows in the other world.")]
Graph = Annotated[str | None, _world("Causal graph, or a file with it, that makes that table.")]
Do = Annotated[
    list[str] | None,
    _world("What is set there. Left out: the reference group.", "--do", metavar="COLUMN=VALUE"),
]
Centers = Annotated[
    bool, _world("Count the person and the counterfactual too.", "--include-centers")
]
Out = Annotated[Path | None, o.output("Write one row per person to this .csv or .parquet file.")]
Person = Annotated[
    str | None, o.output("Show the evidence about this person: id, or row; for the first k.")
]
Report = Annotated[list[Path] | None, o.output("Write that dossier: .html or .txt (repeatable).")]
Plot = Annotated[list[Path] | None, o.output("Draw that dossier: .svg, .png or .pdf (repeatable).")]
