"""What can be said on the command line? Every option, its name and its help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ROLES = "Who is compared, and which column plays which part"
METHOD = "How the answer is found"
OUTPUT = "Where the answer goes"


class Of(StrEnum):
    """Whose mean is asked for?"""

    OUTCOME = "outcome"
    PREDICTION = "prediction"


class Convention(StrEnum):
    """In which order are the paths told the other group?"""

    SEQUENTIAL = "sequential"
    SYMMETRIC = "symmetric"


class Method(StrEnum):
    """Which estimator answers?"""

    AUTO = "auto"
    STRATA = "strata"
    DOUBLY_ROBUST = "doubly-robust"


class EmptyCells(StrEnum):
    """What happens to combinations that only one group has?"""

    REFUSE = "refuse"
    RESTRICT = "restrict"
    REGRESSION = "regression"
    ZERO = "zero"


class Missing(StrEnum):
    """What happens to missing values?"""

    REFUSE = "refuse"
    DROP = "drop"
    CATEGORY = "category"


def _level(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"a level lies between 0 and 1, such as 0.95; found {value:g}")
    return value


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV or Parquet file, a pattern such as 'data/*.parquet', or dataset:NAME for bundled "
        "data (see: causalfairness datasets).",
        show_default=False,
    ),
]
Protected = Annotated[
    list[str],
    typer.Option(
        help="Protected column; several (repeated, or a,b) are combined.",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
Reference = Annotated[
    str,
    typer.Option(
        help="Group to compare with; for several protected columns one value each: White,Male.",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
Comparison = Annotated[
    str | None,
    typer.Option(
        help="Group that is compared. Left out: everyone else.",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
EachGroup = Annotated[
    bool,
    typer.Option(
        "--each-group", help="Compare every group with the reference.", rich_help_panel=ROLES
    ),
]
Confounders = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns that the protected attribute does not cause (repeated, or a,b).",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
Mediators = Annotated[
    list[str] | None,
    typer.Option(
        help="Columns that the protected attribute may cause (repeated, or a,b).",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
Graph = Annotated[
    str | None,
    typer.Option(
        help="Causal graph instead of roles: text such as 'a -> b; a <-> c', or a file with it.",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
Outcome = Annotated[
    str | None, typer.Option(help="Outcome column.", rich_help_panel=ROLES, show_default=False)
]
OutcomeValue = Annotated[
    str | None,
    typer.Option(
        help="Value of the outcome that counts as 1.", rich_help_panel=ROLES, show_default=False
    ),
]
Prediction = Annotated[
    str | None,
    typer.Option(help="Column of predictions.", rich_help_panel=ROLES, show_default=False),
]
WhoseMean = Annotated[
    Of | None,
    typer.Option(
        "--of",
        help="Whose gap is explained. Left out: the outcome, if there is one.",
        rich_help_panel=ROLES,
        show_default=False,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(help="Column of row weights.", rich_help_panel=ROLES, show_default=False),
]
Order = Annotated[
    Convention,
    typer.Option("--convention", help="How the parts are separated.", rich_help_panel=METHOD),
]
Estimator = Annotated[
    Method,
    typer.Option("--estimator", help="auto chooses and says why.", rich_help_panel=METHOD),
]
Cells = Annotated[
    EmptyCells | None,
    typer.Option(
        "--empty-cells",
        help="With --estimator strata: combinations that only one group has.",
        rich_help_panel=METHOD,
        show_default="refuse",
    ),
]
MissingValues = Annotated[
    Missing, typer.Option("--missing", help="Missing values.", rich_help_panel=METHOD)
]
Level = Annotated[
    float, typer.Option(callback=_level, help="Level of the intervals.", rich_help_panel=METHOD)
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all chance.", rich_help_panel=METHOD)]
Workers = Annotated[
    int, typer.Option(min=1, help="Processes that work in parallel.", rich_help_panel=METHOD)
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print JSON, and nothing else.", rich_help_panel=OUTPUT),
]
Report = Annotated[
    list[Path] | None,
    typer.Option(
        help="Write a report: .html, .md or .json (repeatable).",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Plot = Annotated[
    list[Path] | None,
    typer.Option(
        help="Draw the picture: .svg, .png or .pdf (repeatable).",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT),
]
RecordFile = Annotated[
    Path | None,
    typer.Option(
        "--record",
        help="Write the record to this .json file.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
