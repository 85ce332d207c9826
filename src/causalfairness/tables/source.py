"""Where is the data? Data frames, database relations and files behind one kind of frame.

In-memory frames (pandas, polars, pyarrow) stay as they are. Relations, lazy frames and files
stay where they are: only the columns with a role, or the counts made of them, are brought in.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import narwhals as nw

from causalfairness.errors import ColumnNotFoundError, SourceError

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
ACCEPTED = "a pandas, polars or pyarrow table, a DuckDB relation, or a path to CSV or Parquet files"


def open_frame(data: Any) -> Frame:
    """How is this data read? Anything tabular becomes a narwhals frame; files are not loaded.

    >>> import pyarrow
    >>> open_frame(pyarrow.table({"age": [31, 45]})).columns
    ['age']
    """
    if isinstance(data, str | Path):
        return _open_files(str(data))
    if isinstance(data, Mapping):
        raise SourceError(f"found a {type(data).__name__}; expected {ACCEPTED}")
    try:
        frame: Frame = nw.from_native(data)
        return frame
    except nw.exceptions.DuplicateError as cause:
        raise SourceError(f"the data has two columns of the same name: {cause}") from cause
    except TypeError as cause:
        raise SourceError(f"found a {type(data).__name__}; expected {ACCEPTED}") from cause


def check_columns(frame: Frame, wanted: Iterable[str]) -> None:
    """Are all columns there? The error names the nearest ones that are."""
    present = frame.collect_schema().names()
    for column in wanted:
        if column not in present:
            near = get_close_matches(column, present, n=3, cutoff=0.6)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else "they are " + ", ".join(map(repr, present[:20]))
            )
            raise ColumnNotFoundError(f"the data has no column {column!r}; {hint}")


def collect(frame: Frame) -> nw.DataFrame[Any]:
    """What are the rows? Lazy polars frames come as polars, all other lazy sources as pyarrow."""
    if isinstance(frame, nw.DataFrame):
        return frame
    try:
        if frame.implementation.is_polars():
            return frame.collect(backend="polars")
        return frame.collect(backend="pyarrow")
    except _engine_errors() as cause:
        raise SourceError(
            f"the data could not be read: {cause}. If a column changes its type further down the "
            "file, convert the file to Parquet or open it with explicit types first"
        ) from cause


def _open_files(path: str) -> Frame:
    import duckdb

    literal = Path(path)
    pattern = glob.escape(path) if literal.is_file() else path
    found = sorted(glob.glob(pattern, recursive=True))
    if not found:
        raise SourceError(f"no file matches {path!r}{_nearby(literal)}")
    kinds = {_kind(name) for name in found}
    if len(kinds) > 1:
        raise SourceError(f"{path!r} matches both CSV and Parquet files; read one kind at a time")
    connection = duckdb.connect()
    try:
        read = connection.read_parquet if kinds == {"parquet"} else connection.read_csv
        return open_frame(read(found))
    except duckdb.Error as cause:
        raise SourceError(f"{path!r} cannot be read: {cause}") from cause


def _kind(name: str) -> str:
    lower = name.lower()
    if lower.endswith(PARQUET):
        return "parquet"
    if lower.endswith(CSV):
        return "csv"
    raise SourceError(f"{name!r} is of no known kind; expected one of {', '.join(CSV + PARQUET)}")


def _nearby(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r}"
    near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def _engine_errors() -> tuple[type[Exception], ...]:
    import sys

    errors: list[type[Exception]] = [nw.exceptions.NarwhalsError]
    for module, name in (("duckdb", "Error"), ("polars.exceptions", "PolarsError")):
        if module in sys.modules:
            errors.append(getattr(sys.modules[module], name))
    return tuple(errors)
