"""What is the question? From words on the command line to data and a model.

A value is matched to what is in its column: the same text first; else, where the column holds
numbers, the same number (and true and false for 1 and 0). Anything else is an error that names the
nearest value.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from causalfairness.errors import (
    CausalFairnessError,
    GraphSyntaxError,
    GroupNotFoundError,
    OutcomeError,
)
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph

BUNDLED = "dataset:"
TRUTHS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Who is compared with whom, as it was typed?"""

    protected: Sequence[str]
    reference: str
    comparison: str | None
    confounders: Sequence[str]
    mediators: Sequence[str]
    graph: str | None
    outcome: str | None
    outcome_value: str | None
    prediction: str | None
    weights: str | None

    def check(self, *, each_group: bool) -> None:
        """Do the options contradict each other?"""
        if each_group and self.comparison is not None:
            raise typer.BadParameter(
                "every group is compared; leave out --comparison", param_hint="--each-group"
            )
        if self.graph is not None and (self.confounders or self.mediators):
            raise typer.BadParameter(
                "the graph says which columns are confounders and mediators; give either --graph "
                "or --confounders and --mediators",
                param_hint="--graph",
            )
        if self.outcome is None and self.prediction is None:
            raise typer.BadParameter(
                "name the column to explain with --outcome, or a prediction with --prediction",
                param_hint="--outcome",
            )


def open_data(name: str, **read: Any) -> Any:
    """Which table is meant? A file or pattern, or bundled data by its name, read as it is said.

    >>> open_data("dataset:german_credit").frame.shape
    (1000, 22)
    """
    from causalfairness import datasets
    from causalfairness.tables import Table

    if not name.startswith(BUNDLED):
        return Table(name, **read)
    wanted = name.removeprefix(BUNDLED)
    datasets.describe(wanted)  # or an error that lists what there is
    return Table(getattr(datasets, f"load_{wanted}")(), **read)


def reading(file: str, *columns: Sequence[str] | None, missing: str = "refuse") -> dict[str, Any]:
    """How is a file read, as it was typed? Which columns hold codes, numbers, or are accepted."""
    said = zip(("categorical", "numeric", "accept"), columns, strict=False)
    listed_columns = {name: listed(each, f"--{name}") for name, each in said}
    return {"name": file, "missing": missing, **listed_columns}


def model_for(data: Any, roles: Roles) -> StandardFairnessModel:
    """Which model do these words and this data make?"""
    groups = {
        side: None if text is None else read_group(data, roles.protected, text, f"--{side}")
        for side, text in (("reference", roles.reference), ("comparison", roles.comparison))
    }
    common: dict[str, Any] = groups | {
        "protected": roles.protected[0] if len(roles.protected) == 1 else list(roles.protected),
        "outcome": roles.outcome,
        "outcome_value": _outcome_value(data, roles),
        "prediction": roles.prediction,
        "weights": roles.weights,
    }
    if roles.graph is not None:
        return StandardFairnessModel.from_graph(read_graph(roles.graph), **common)
    return StandardFairnessModel(confounders=roles.confounders, mediators=roles.mediators, **common)


def listed(values: Sequence[str] | None, option: str) -> list[str]:
    """Which names does a repeated option, or a list with commas, hold?

    >>> listed(["age, sex", "prior offenses"], "--confounders")
    ['age', 'sex', 'prior offenses']
    >>> listed(['"last, first"'], "--mediators")
    ['last, first']
    """
    found = [name for value in values or () for name in _split(value)]
    if any(not name for name in found):
        raise typer.BadParameter("a name in the list is empty", param_hint=option)
    return found


def read_graph(given: str) -> CausalGraph:
    """Which graph is meant? The text itself, or the file that holds it (DOT files end in .dot).

    >>> print(read_graph("race -> priors -> recid"))
    race -> priors; priors -> recid
    """
    if _is_file(given):
        try:
            text = Path(given).read_text("utf-8-sig")
        except UnicodeDecodeError as cause:
            raise GraphSyntaxError(f"{given!r} is not text in UTF-8: {cause}") from None
        is_dot = given.endswith((".dot", ".gv"))
        return CausalGraph.from_dot(text) if is_dot else CausalGraph.parse(text)
    if not any(mark in given for mark in ("->", "<-", ";", "{", "\n")):
        raise GraphSyntaxError(
            f"--graph {given!r} is neither a file nor a graph; name a file that is there, or "
            "write arrows, such as 'race -> priors; race <-> age'"
        )
    return CausalGraph.parse(given)


def match(text: str, present: Sequence[str | float | None]) -> Any:
    """Which value of a column does this text mean? None if no value does.

    >>> match("1", ("1", "2")), match("1.0", (0.0, 1.0)), match("true", (0.0, 1.0))
    ('1', 1, 1)
    >>> match("Femal", ("Female", "Male")) is None
    True
    """
    if text in present:
        return text
    number = TRUTHS.get(text.lower())
    try:
        number = (int if text.isdecimal() else float)(text) if number is None else number
    except ValueError:
        return None
    if number not in [value for value in present if isinstance(value, float | int)]:
        return None
    return int(number) if number % 1 == 0 else number


def read_group(data: Any, columns: Sequence[str], text: str, option: str) -> Any:
    """Which group does an option mean? One value, or a tuple with one per protected column."""
    if len(columns) == 1:
        return read_value(data, columns[0], text, option)
    values = _split(text)
    if len(values) != len(columns):
        raise typer.BadParameter(
            f"{text!r} has {len(values)} values for {len(columns)} protected columns "
            f"({', '.join(columns)}); give one for each, separated by commas",
            param_hint=option,
        )
    return tuple(
        read_value(data, column, value, option)
        for column, value in zip(columns, values, strict=True)
    )


def read_value(
    data: Any,
    column: str,
    text: str,
    option: str,
    error: type[CausalFairnessError] = GroupNotFoundError,
) -> Any:
    """Which value of a column does an option mean? An error names the nearest one."""
    present = _values(data, column)
    value = match(text, present)
    if value is None:
        raise error(f"{option} {text!r}: {_absent(column, text, present)}")
    return value


def _outcome_value(data: Any, roles: Roles) -> Any:
    column, text = roles.outcome or roles.prediction, roles.outcome_value
    if column is None or text is None:
        return None
    return read_value(data, column, text, "--outcome-value", OutcomeError)


def _values(data: Any, column: str) -> tuple[str | float | None, ...]:
    from causalfairness.tables.columns import column_of
    from causalfairness.tables.source import check_columns, collect, reading, select

    with reading():
        check_columns(data, [column])
        return column_of(collect(select(data, [column]).unique())[column]).levels().values


def _absent(column: str, text: str, present: Sequence[str | float | None]) -> str:
    from causalfairness.tables.groups import shown_value

    words = [shown_value(value) for value in present if value is not None]
    near = get_close_matches(text, words, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ". Give a value that it has"
    shown = ", ".join(map(repr, words[:20])) + (", ..." if len(words) > 20 else "")
    return f"column {column!r} has the values {shown or 'none at all'}, not this one{hint}"


def _split(text: str) -> list[str]:
    """Commas separate, double quotes protect a comma."""
    rows = list(csv.reader([text], skipinitialspace=True))
    return [name.strip() for name in rows[0]] if rows else [""]


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):
        return False
