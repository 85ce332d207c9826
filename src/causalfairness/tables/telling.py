"""What is an audited model told about people? Frames with columns dealt out anew, or made alike.

All of it in the library the frame came in, as the model expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalfairness.tables.columns import Column, column_of

Positions = NDArray[np.int64]


def dealt_anew(people: Any, columns: Sequence[str], order: Positions) -> Any:
    """What would a model see, had these columns been dealt out among people in this order?

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "M"], "priors": [0, 7]})
    >>> dealt_anew(people, ["priors"], np.array([1, 0]))["priors"].to_pylist()
    [7, 0]
    """
    frame = nw.from_native(people, eager_only=True)
    return frame.with_columns(*(frame[name][order].alias(name) for name in columns)).to_native()


def made_alike(people: Any, example: Any) -> Any:
    """What would a model see, had everybody what the one person in `example` has?

    >>> import pyarrow as pa
    >>> one = pa.table({"priors": [3]})
    >>> made_alike(pa.table({"sex": ["F", "M"]}), one)["priors"].to_pylist()
    [3, 3]
    """
    frame = nw.from_native(people, eager_only=True)
    one = nw.from_native(example, eager_only=True)
    same = np.zeros(len(frame), dtype=np.int64)
    return frame.with_columns(*(one[name][same].alias(name) for name in one.columns)).to_native()


def read_columns(people: Any, names: Sequence[str]) -> tuple[Column, ...]:
    """What do these columns hold, whatever library the frame came in?

    >>> import pyarrow as pa
    >>> read_columns(pa.table({"age": [31, 45]}), ["age"])[0].values.tolist()
    [31.0, 45.0]
    """
    frame = nw.from_native(people, eager_only=True)
    return tuple(column_of(frame[name]) for name in names)
