"""How do features, outcomes and predictions that come apart become one table?"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from causalfairness.errors import SourceError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.tables.columns import column_of
from causalfairness.tables.groups import label_groups, members
from causalfairness.tables.source import check_columns, collect, open_frame, reading


def add_column(data: Any, values: Any, *, name: str) -> tuple[Any, str]:
    """What is this frame with one more column, and what is the column called?

    `values` is anything with one value per row. A series keeps its own name unless the frame has
    a column of that name already. Rows meet by position: a pandas series whose index is not
    that of the frame is refused.

    >>> import pyarrow as pa
    >>> frame, column = add_column(pa.table({"age": [31, 45]}), [0, 1], name="outcome")
    >>> frame.column_names, column
    (['age', 'outcome'], 'outcome')
    """
    frame = open_frame(data)
    if isinstance(frame, nw.LazyFrame):
        raise SourceError(
            f"the data stays where it is, so {name} cannot be joined to it; name a column of the "
            "data instead"
        )
    own = getattr(values, "name", None)
    taken = {str(each).lower() for each in frame.columns}
    called = own if isinstance(own, str) and own and own.lower() not in taken else name
    while called.lower() in taken:
        called += "_"
    check_indexes(**{"the data": data, name: values})
    with reading():
        series = nw.new_series(
            called, _as_list(values, len(frame), name), backend=frame.implementation
        )
        if frame.implementation.is_pandas():
            native = series.to_native()
            native.index = frame.to_native().index
            series = nw.from_native(native, series_only=True)
        return frame.with_columns(series).to_native(), called


def check_indexes(error: type[Exception] = SourceError, /, **brought: Any) -> None:
    """Do rows of pandas objects mean the same people? Objects without an index go by position.

    >>> check_indexes(group=["F", "M"], features=np.zeros((2, 1)))
    """
    found = ((name, getattr(values, "index", None)) for name, values in brought.items())
    indexes: list[tuple[str, Any]] = [
        (name, index) for name, index in found if hasattr(index, "equals")
    ]
    for name, index in indexes[1:]:
        if not index.equals(indexes[0][1]):
            raise error(
                f"{name} has another index than {indexes[0][0]}, so it is not clear whose value is "
                "whose; give both in the same order, with the same index"
            )


def _as_list(values: Any, rows: int, name: str) -> list[Any]:
    if isinstance(values, nw.Series):
        values = values.to_native()
    plain = values.to_pylist() if hasattr(values, "to_pylist") else np.asarray(values).tolist()
    if not isinstance(plain, list) or len(plain) != rows:
        found = f"{len(plain)} values" if isinstance(plain, list) else f"the single value {plain!r}"
        raise SourceError(f"{name} holds {found}; expected one for each of the {rows} rows")
    if plain and isinstance(plain[0], list):
        if any(len(row) != 1 for row in plain):
            raise SourceError(f"{name} holds {len(plain[0])} columns; expected one value per row")
        plain = [row[0] for row in plain]
    return plain


def exchange(data: Any, model: StandardFairnessModel) -> dict[str, list[Any]]:
    """Which value would each protected column have, were everyone in the other of two groups?

    One value per row; people of neither group keep theirs.

    >>> import pyarrow as pa
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> exchange(pa.table({"sex": ["M", "F", "X"]}), model)
    {'sex': ['F', 'M', 'X']}
    """
    frame = collect(open_frame(data))
    columns = model.protected_columns
    check_columns(frame, columns)
    groups, group = label_groups([column_of(frame[name]) for name in columns])
    role = members(groups, model)[group]
    told = {}
    for name in columns:
        values = np.array(frame[name].to_list(), dtype=object)
        first = [values[role == side][0] for side in (0, 1)]
        values[role == 0], values[role == 1] = first[1], first[0]
        told[name] = values.tolist()
    return told
