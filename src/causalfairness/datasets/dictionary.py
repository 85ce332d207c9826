"""What is in a bundled data set, where does it come from, and what is wrong with it?

Each data set is a parquet file with a JSON file of the same name beside it: the data dictionary.
Nothing about the data is written in code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from causalfairness.errors import DatasetError


@dataclass(frozen=True)
class Column:
    """What does a column hold?

    `type` is integer, number or text; `missing` counts the rows without a value.

    >>> from causalfairness.datasets import describe
    >>> describe("adult").column("occupation")
    Column(name='occupation', type='text', missing=2809, meaning='Kind of work')
    """

    name: str
    type: str
    missing: int
    meaning: str


@dataclass(frozen=True)
class DataDictionary:
    """What is in a data set, where does it come from, and may it be used?

    `sha256` is the sum of the bundled file, checked at every loading.

    >>> from causalfairness.datasets import describe
    >>> compas = describe("compas")
    >>> compas.rows, len(compas.columns), compas.columns[0].name
    (7214, 18, 'sex')
    >>> print(compas)
    COMPAS two-year recidivism: 7,214 rows, 18 columns
    ...
    """

    name: str
    title: str
    about: str
    source: str
    license: str
    citation: str
    caveats: tuple[str, ...]
    sha256: str
    rows: int
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """What does the column of this name hold?

        >>> from causalfairness.datasets import describe
        >>> describe("law_school").column("ugpa").meaning
        'Undergraduate grade point average'
        """
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns)
        raise DatasetError(f"{self.name!r} has no column {name!r}; its columns are {known}")

    def __str__(self) -> str:
        width = max(len(column.name) for column in self.columns)
        return "\n".join(
            [
                f"{self.title}: {self.rows:,} rows, {len(self.columns)} columns",
                "",
                self.about,
                "",
                f"Source: {self.source}",
                f"License: {self.license}",
                f"Citation: {self.citation}",
                f"sha256: {self.sha256}",
                "",
                *(f"Caveat: {caveat}" for caveat in self.caveats),
                "",
                *(
                    f"{column.name:<{width}}  {column.type:<7}  {column.meaning}"
                    for column in self.columns
                ),
            ]
        )


def available() -> tuple[str, ...]:
    """Which data sets are bundled?

    >>> from causalfairness.datasets import available
    >>> available()
    ('adult', 'compas', 'german_credit', 'law_school')
    """
    names = (entry.name for entry in bundle().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def describe(name: str) -> DataDictionary:
    """What is in the data set of this name?

    >>> from causalfairness.datasets import describe
    >>> credit = describe("german_credit")
    >>> credit.rows
    1000
    >>> credit.column("credit_risk").meaning
    'Outcome: good if the contract was kept, else bad'
    """
    if name not in available():
        raise DatasetError(
            f"no bundled data set is called {name!r}; there are {', '.join(available())}"
        )
    entry = json.loads((bundle() / f"{name}.json").read_text("utf-8"))
    entry["caveats"] = tuple(entry["caveats"])
    entry["columns"] = tuple(Column(**column) for column in entry["columns"])
    return DataDictionary(**entry)


def bundle() -> Traversable:
    """Where do the bundled files lie?

    >>> (bundle() / "adult.parquet").is_file()
    True
    """
    return files("causalfairness.datasets") / "files"
