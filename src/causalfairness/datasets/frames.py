"""In which kind of table should made-up rows come? numpy columns -> pyarrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from causalfairness.datasets.bundled import FrameName, converter


def as_frame(columns: Mapping[str, NDArray[Any]], frame: FrameName) -> Any:
    """Which table holds these columns? One of the library that is named, in the given order.

    >>> import numpy as np
    >>> columns = {"group": np.array(["blue", "green"]), "y": np.array([0, 1])}
    >>> as_frame(columns, "pyarrow").column_names
    ['group', 'y']
    >>> as_frame(columns, "polars")["group"].to_list()
    ['blue', 'green']
    """
    import pyarrow

    convert = converter(frame)
    return convert(pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()}))
