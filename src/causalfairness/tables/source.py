"""Where is the data? Data frames, database relations and files behind one kind of frame.

In-memory frames (pandas, polars, pyarrow) stay as they are. Relations, lazy frames and files
stay where they are: only the columns with a role, or the counts made of them, are brought in.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from itertools import chain
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar, cast

import narwhals as nw

from causalfairness.errors import ColumnNotFoundError, ColumnTypeError, SourceError

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]
SomeFrame = TypeVar("SomeFrame", bound=Frame)

CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
PARQUET = (".parquet", ".pq")
TOP = 2**21  # characters of a CSV file in which names are looked for
MOST_COLUMNS = 10_000  # of a CSV file: its reader takes a second for 5,000
SNIFFED = 20_000  # rows of a CSV file that its column types are judged by
ACCEPTED = "a pandas, polars or pyarrow table, a DuckDB relation, or a path to CSV or Parquet files"


def open_frame(data: Any) -> Frame:
    """How is this data read? Anything tabular becomes a narwhals frame; files are not loaded.

    >>> import pyarrow
    >>> open_frame(pyarrow.table({"age": [31, 45]})).columns
    ['age']
    """
    if isinstance(data, str | Path):
        return _open_files(str(data))
    with reading():
        own = getattr(data, "frame", None)  # of a table; a relation whose source has gone refuses
    if isinstance(own, nw.DataFrame | nw.LazyFrame):
        return own
    if isinstance(data, Mapping):
        raise SourceError(f"found a {type(data).__name__}; expected {ACCEPTED}")
    with reading():
        try:
            frame: Frame = nw.from_native(data)
            check_names(frame.columns)
            return frame
        except nw.exceptions.DuplicateError as cause:
            raise SourceError(f"the data has two columns of the same name: {cause}") from cause
        except TypeError as cause:
            raise SourceError(f"found a {type(data).__name__}; expected {ACCEPTED}") from cause


def check_names(names: Iterable[Any]) -> None:
    """Is each column told from all others by its name, whatever engine reads it?

    >>> check_names(["age", "Age"])
    Traceback (most recent call last):
    ...
    causalfairness.errors.SourceError: column 'Age' is also called 'age' to some engines; rename \
    or drop it
    """
    seen: dict[Any, Any] = {}
    for name in names:
        same = name.lower() if isinstance(name, str) else name
        if same in seen or "\0" in str(name):
            why = f"is also called {seen[same]!r}" if same in seen else "ends at the character NUL"
            raise SourceError(f"column {name!r} {why} to some engines; rename or drop it")
        seen[same] = name


def check_columns(frame: Frame, wanted: Iterable[str]) -> None:
    """Are all columns there? The error names the nearest ones that are."""
    present = frame.collect_schema().names()
    for column in wanted:
        if column not in present:
            words = [name for name in present if isinstance(name, str)]
            near = get_close_matches(column, words, n=3, cutoff=0.6)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else f"it has {', '.join(map(repr, present[:20])) or 'no columns at all'}"
            )
            raise ColumnNotFoundError(f"the data has no column {column!r}; {hint}")


def column_there(frame: Frame, name: str) -> nw.Expr:
    """What is this column of the frame? Found by its place: no name is read as a pattern.

    >>> import pyarrow
    >>> frame = open_frame(pyarrow.table({"q": [1], "^q$": [2]}))
    >>> frame.select(column_there(frame, "^q$"))["^q$"].to_list()
    [2]
    """
    if name == "*" and frame.implementation.is_duckdb():
        raise SourceError("DuckDB takes the column called '*' for all columns; rename it")
    kinds = frame.collect_schema()
    column = nw.nth(kinds.names().index(name))
    return column.cast(nw.Int128) if kinds[name] == nw.UInt128 else column  # as Arrow needs it


def select(frame: SomeFrame, names: Iterable[str]) -> SomeFrame:
    """What do these columns hold, in this order, whatever they are called?

    >>> import pyarrow
    >>> select(open_frame(pyarrow.table({"*": [1], "sex": ["F"]})), ["sex"]).columns
    ['sex']
    """
    return cast(SomeFrame, frame.select(*(column_there(frame, name) for name in names)))


def with_numbers_of_words(frame: Frame, names: Sequence[str]) -> Frame:
    """What does the frame hold, with text in these columns read as numbers?

    >>> import pyarrow
    >>> frame = open_frame(pyarrow.table({"pay": ["12.5", None, "1e3"]}))
    >>> with_numbers_of_words(frame, ["pay"])["pay"].to_list()
    [12.5, None, 1000.0]
    """
    schema = frame.collect_schema()
    words = [
        name for name in names if not (schema[name].is_numeric() or schema[name] == nw.Boolean)
    ]
    if not words:
        return frame
    if isinstance(frame, nw.LazyFrame):
        return frame.with_columns(*(_cast(frame, name) for name in words))
    return frame.with_columns(*(_numbers_of(frame[name]) for name in words))


def _cast(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """The text of a column as numbers, made there. All of it is read once to know that it can."""
    made = column_there(frame, name).cast(nw.Float64)
    try:
        frame.select(made.sum()).collect()
    except _engine_errors():
        _numbers_of(collect(frame.select(column_there(frame, name)).unique())[name])
        raise
    return made


def _numbers_of(words: nw.Series[Any]) -> nw.Series[Any]:
    numbers: list[float | None] = []
    for value in words.to_list():
        try:
            numbers.append(None if value is None or value != value else float(value))
        except (TypeError, ValueError):
            raise ColumnTypeError(
                f"column {words.name!r} holds text that is no number, and numeric= names it; leave "
                "it out of numeric, or correct the column"
            ).about(f"column {words.name!r} holds {value!r}") from None
    found = nw.new_series(words.name, numbers, nw.Float64, backend=words.implementation)
    return nw.maybe_align_index(found, words)


def only_columns(native: Any, names: Sequence[str]) -> Any:
    """What do these columns hold, in this order, in the library the frame came in?

    >>> import pyarrow
    >>> only_columns(pyarrow.table({"age": [31], "sex": ["F"]}), ["sex", "age"]).column_names
    ['sex', 'age']
    """
    return select(nw.from_native(native, eager_only=True), names).to_native()


def only_rows(native: Any, positions: Any) -> Any:
    """What do these rows hold, in this order, in the library the frame came in?

    >>> import pyarrow
    >>> only_rows(pyarrow.table({"age": [31, 45, 28]}), [2, 0])["age"].to_pylist()
    [28, 31]
    """
    whole = [int(position) for position in positions]
    return nw.from_native(native, eager_only=True)[whole].to_native()


def collect(frame: Frame) -> nw.DataFrame[Any]:
    """What are the rows? Lazy polars frames come as polars, all other lazy sources as pyarrow."""
    if isinstance(frame, nw.DataFrame):
        return frame
    return frame.collect(backend="polars" if frame.implementation.is_polars() else "pyarrow")


@contextmanager
def reading() -> Iterator[None]:
    """Can the data be read? What its engine has to say against it becomes one error of ours."""
    try:
        yield
    except _engine_errors() as cause:
        hint = (
            ". If a column changes its type further down the file, convert the file to Parquet or "
            "open it with explicit types first"
        )
        changed = type(cause).__name__ in ("ConversionException", "ComputeError")
        if changed:  # the engine's words hold a single value, and a query that nobody wrote
            why = "a value does not fit the type of its column"
            raise SourceError(f"the data could not be read: {why}{hint}").about(
                str(cause).partition("\n\nLINE ")[0]
            ) from None
        raise SourceError(f"the data could not be read: {cause}") from cause


def _open_files(path: str) -> Frame:
    import duckdb

    literal = Path(path)
    if literal.is_dir():
        raise SourceError(f"{path!r} is a folder; name the files in it, such as '*.parquet'")
    pattern = glob.escape(path) if literal.is_file() else path
    found = [name for name in sorted(glob.glob(pattern, recursive=True)) if Path(name).is_file()]
    if not found:
        raise SourceError(f"no file matches {path!r}{_nearby(literal)}")
    kinds = {_kind(name) for name in found}
    if len(kinds) > 1:
        raise SourceError(f"{path!r} matches both CSV and Parquet files; read one kind at a time")
    for name in found:
        if not Path(name).stat().st_size:
            raise SourceError(f"{name!r} is empty: not even the names of columns are in it")
    try:
        return open_frame(_relation(found, kinds))
    except duckdb.Error as cause:
        raise SourceError(f"{path!r} cannot be read: {cause}") from cause


def _relation(names: Sequence[str], kinds: Set[str]) -> Any:
    """The rows of all files. Their own names of columns are looked at: the engine changes them."""
    from pyarrow import parquet

    files = [glob.escape(name) for name in names]  # the engine looks for patterns once more
    connection = _connection(os.getpid(), get_ident())
    if kinds == {"parquet"}:
        relation = connection.read_parquet(files, union_by_name=True)
        headers = [parquet.read_schema(name).names for name in names]
    else:
        headers = [_names_in_csv(name) for name in names]
        relation = _read_csv(connection, files)
    for together in (*headers, {*chain(*headers)}):
        check_names(sorted(together))
    return relation


def _names_in_csv(name: str) -> list[str]:
    """The names in the first line, before the engine makes others of those that it cannot hold."""
    opened = gzip.open if name.lower().endswith(".gz") else open
    try:
        with opened(name, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
            top = file.read(TOP)
        first = top.partition("\n")[0]
        separator = max(",;\t|", key=first.count)
        if (columns := first.count(separator) + 1) > MOST_COLUMNS:
            raise SourceError(
                f"{name!r} has {columns:,} columns or more, and at most {MOST_COLUMNS:,} of a CSV "
                "file are read; write those with a role into another file, or all into Parquet"
            )
        names = next(csv.reader(io.StringIO(top), delimiter=separator), [])
    except (OSError, EOFError, zlib.error, csv.Error):  # the engine says what is wrong with it
        return []
    return [each.strip() for each in names if each.strip()]


@cache
def _connection(process: int, thread: int) -> Any:
    """One for each thread, kept for good: before DuckDB 1.5 a relation does not keep its own."""
    import duckdb

    return duckdb.connect()


def _read_csv(connection: Any, files: list[str]) -> Any:
    """Columns meet by name across files, and yes and no stay words: only true and false are not."""

    def read(words: Iterable[str]) -> Any:
        """Asked in SQL: before DuckDB 2 the method forgets types where columns meet by name."""
        types = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in words)
        names = ", ".join(map(_literal, files))
        options = f"header = true, union_by_name = true, types = {{{types}}}"
        return connection.sql(f"FROM read_csv([{names}], {options})")

    relation = connection.read_csv(files, header=True, union_by_name=True)
    kinds = zip(relation.columns, relation.types, strict=True)
    truths = [name for name, kind in kinds if str(kind) == "BOOLEAN"]
    if not truths:
        return relation
    columns = read(truths).limit(SNIFFED).to_arrow_table().select(truths)
    spelled = {name: set(columns[name].drop_null().to_pylist()) for name in truths}
    words = [name for name in truths if {w.lower() for w in spelled[name]} - {"true", "false"}]
    return read(words) if words else relation


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


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

    errors: list[type[Exception]] = [nw.exceptions.NarwhalsError, OSError]
    for module, name in (("duckdb", "Error"), ("polars.exceptions", "PolarsError")):
        if module in sys.modules:
            errors.append(getattr(sys.modules[module], name))
    return tuple(errors)
