"""How do I get a bundled data set? One function each, for the frame library at hand.

A file is read only if its sha256 sum is the one in its data dictionary. All functions take
`frame`: "pyarrow" (always installed), "pandas" or "polars". Text columns hold plain strings.
Missing values are null; where whole numbers are missing, pandas holds the column as floats.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from causalfairness.datasets.dictionary import bundle, describe
from causalfairness.errors import DatasetError

if TYPE_CHECKING:
    import pyarrow as pa

FrameName = Literal["pyarrow", "pandas", "polars"]


def load_adult(frame: FrameName = "pyarrow") -> Any:
    """Who earned more than 50,000 dollars in 1994? Census income, 48,842 adults.

    >>> from causalfairness.datasets import load_adult
    >>> adult = load_adult("pandas")
    >>> round(float((adult["income"] == ">50K").mean()), 4)
    0.2393
    >>> adult["split"].value_counts().to_dict()
    {'train': 32561, 'test': 16281}
    """
    return converter(frame)(read("adult"))


def load_compas(*, propublica_filter: bool = True, frame: FrameName = "pyarrow") -> Any:
    """Who was scored as likely to reoffend, and who did? COMPAS scores, 7,214 defendants.

    With `propublica_filter` the 6,172 defendants of ProPublica's own analysis remain: an arrest
    within 30 days of the screening, a known recidivism flag, no ordinary traffic charge, a score.

    >>> from causalfairness.datasets import load_compas
    >>> load_compas().num_rows, load_compas(propublica_filter=False).num_rows
    (6172, 7214)
    >>> compas = load_compas(propublica_filter=False, frame="pandas")
    >>> round(float(compas["two_year_recid"].mean()), 4)
    0.4507
    >>> followed = compas[compas["full_follow_up"] == 1]  # undoes a known sampling error
    >>> round(float(followed["two_year_recid"].mean()), 4)
    0.3625
    """
    convert = converter(frame)
    table = read("compas")
    return convert(keep_propublica_sample(table) if propublica_filter else table)


def load_german_credit(frame: FrameName = "pyarrow") -> Any:
    """Who kept the credit contract? 1,000 credits of a German bank, 1973 to 1975.

    The labels are those of the original documentation, and several are known to be wrong, sex and
    foreign_worker among them: read `describe("german_credit").caveats` first.

    >>> from causalfairness.datasets import load_german_credit
    >>> load_german_credit("pandas")["credit_risk"].value_counts().to_dict()
    {'good': 700, 'bad': 300}
    """
    return converter(frame)(read("german_credit"))


def load_law_school(frame: FrameName = "pyarrow") -> Any:
    """Who does well at law school and passes the bar? 21,791 students who entered in 1991.

    >>> from causalfairness.datasets import load_law_school
    >>> law = load_law_school("pandas")
    >>> law.groupby("race")["pass_bar"].mean().round(2)[["Black", "White"]].to_dict()
    {'Black': 0.62, 'White': 0.92}
    """
    return converter(frame)(read("law_school"))


def read(name: str) -> pa.Table:
    """What does the bundled file hold, if it is undamaged?

    >>> read("law_school").num_rows
    21791
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = (bundle() / f"{name}.parquet").read_bytes()
    found, expected = hashlib.sha256(content).hexdigest(), describe(name).sha256
    if found != expected:
        raise DatasetError(
            f"the bundled file {name}.parquet is damaged: its sha256 sum is {found}, its data "
            f"dictionary says {expected}; install the package again"
        )
    return pq.ParquetFile(pa.BufferReader(content)).read()


def keep_propublica_sample(table: pa.Table) -> pa.Table:
    """Which rows did ProPublica analyze?

    >>> keep_propublica_sample(read("compas")).num_rows
    6172
    """
    import pyarrow.compute as pc

    near = pc.less_equal(pc.abs(table["days_b_screening_arrest"]), 30)
    known = pc.not_equal(table["is_recid"], -1)
    charged = pc.not_equal(table["c_charge_degree"], "O")
    scored = pc.is_valid(table["score_text"])
    return table.filter(pc.and_(pc.and_(near, known), pc.and_(charged, scored)))


def converter(frame: str) -> Callable[[pa.Table], Any]:
    """How does a table become the frame that was asked for?

    >>> type(converter("polars")(read("german_credit"))).__name__
    'DataFrame'
    """
    converters: dict[str, Callable[[pa.Table], Any]] = {
        "pyarrow": lambda table: table,
        "pandas": to_pandas,
        "polars": to_polars,
    }
    if frame not in converters:
        raise DatasetError(
            f"frame is {frame!r}, expected one of {', '.join(map(repr, converters))}"
        )
    return converters[frame]


def to_pandas(table: pa.Table) -> Any:
    """What does the table look like in pandas?

    >>> to_pandas(read("compas"))["priors_count"].dtype
    dtype('int64')
    """
    frame_library("pandas")
    return table.to_pandas()


def to_polars(table: pa.Table) -> Any:
    """What does the table look like in polars?

    >>> to_polars(read("compas"))["priors_count"].dtype
    Int64
    """
    return frame_library("polars").from_arrow(table)


def frame_library(name: str) -> Any:
    """Is the frame library installed? The library, or an error that says what to install.

    >>> frame_library("pandas").__name__
    'pandas'
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise DatasetError(
            f'frame="{name}" needs {name}, which is not installed: run "pip install {name}", '
            'or use frame="pyarrow"'
        ) from error


def as_frame(columns: Mapping[str, NDArray[Any]], frame: FrameName) -> Any:
    """Which table holds these columns? One of the library that is named, in the given order.

    >>> import numpy as np
    >>> columns = {"group": np.array(["blue", "green"]), "y": np.array([0, 1])}
    >>> as_frame(columns, "pyarrow").column_names
    ['group', 'y']
    >>> as_frame(columns, "polars")["group"].to_list()
    ['blue', 'green']
    """
    import pyarrow as pa

    return converter(frame)(pa.table({name: pa.array(each) for name, each in columns.items()}))
