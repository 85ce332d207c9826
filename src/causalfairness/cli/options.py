"""What can be said on the command line? Every option, its name and its help."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

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


def under(heading: str | None, **common: Any) -> Callable[..., Any]:
    """Make options that stand under one heading of the help: from their help, and their names."""

    def option(text: str, *names: str, **more: Any) -> Any:
        return typer.Option(*names, help=text, rich_help_panel=heading, **(common | more))

    return option


role = under(ROLES, show_default=False)
read = under("How columns are read", show_default=False)
method = under(METHOD)
output = under(OUTPUT, show_default=False)
plain = under(None, show_default=False)


def argument(name: str, text: str) -> Any:
    """What has to be named, without an option?"""
    return typer.Argument(metavar=name, help=text, show_default=False)


File = Annotated[
    str,
    argument(
        "FILE",
        "CSV or Parquet file, a pattern such as 'data/*.parquet', or dataset:NAME for bundled data "
        "(see: causalfairness datasets).",
    ),
]
GivenRecord = Annotated[str, argument("RECORD", "Record of an audit.")]
Protected = Annotated[list[str], role("Protected column; several (repeated, or a,b) are combined.")]
Reference = Annotated[
    str,
    role("Group to compare with; for several protected columns one value each: White,Male."),
]
Comparison = Annotated[str | None, role("Group that is compared. Left out: everyone else.")]
EachGroup = Annotated[bool, role("Compare every group with the reference.", "--each-group")]
Confounders = Annotated[
    list[str] | None,
    role("Columns that the protected attribute does not cause (repeated, or a,b)."),
]
Mediators = Annotated[
    list[str] | None, role("Columns that the protected attribute may cause (repeated, or a,b).")
]
Graph = Annotated[
    str | None,
    role("Causal graph instead of roles: text such as 'a -> b; a <-> c', or a file with it."),
]
Outcome = Annotated[str | None, role("Outcome column.")]
OutcomeValue = Annotated[str | None, role("Value of the outcome that counts as 1.")]
Prediction = Annotated[str | None, role("Column of predictions.")]
WhoseMean = Annotated[
    Of | None, role("Whose gap is explained. Left out: the outcome, if there is one.", "--of")
]
Weights = Annotated[str | None, role("Column of row weights.")]
Order = Annotated[Convention, method("How the parts are separated.", "--convention")]
Estimator = Annotated[Method, method("auto chooses and says why.", "--estimator")]
Cells = Annotated[
    EmptyCells | None,
    method(
        "With --estimator strata: combinations that only one group has.",
        "--empty-cells",
        show_default="refuse",
    ),
]
MissingValues = Annotated[Missing, method("Missing values.", "--missing")]
Codes = Annotated[
    list[str] | None,
    read(
        "Columns of whole numbers that are codes, not amounts (repeated, or a,b).", "--categorical"
    ),
]
Amounts = Annotated[
    list[str] | None,
    read("Columns of text that holds numbers, or of whole numbers that are amounts.", "--numeric"),
]
Accepted = Annotated[
    list[str] | None,
    read("Columns that were looked at, and are used all the same.", "--accept"),
]
Level = Annotated[float, method("Level of the intervals.", callback=_level)]
Seed = Annotated[int, method("Seed of all chance.", min=0)]
Workers = Annotated[int, method("Processes that work in parallel.", min=1)]
Json = Annotated[bool, output("Print JSON, and nothing else.", "--json")]
Report = Annotated[list[Path] | None, output("Write a report: .html, .md or .json (repeatable).")]
Plot = Annotated[list[Path] | None, output("Draw the picture: .svg, .png or .pdf (repeatable).")]
Debug = Annotated[bool, output("Show where an error came from.", "--debug")]
RecordFile = Annotated[Path | None, output("Write the record to this .json file.", "--record")]
