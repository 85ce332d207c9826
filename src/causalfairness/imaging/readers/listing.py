"""What do the published CSV files say? Only the columns in use are kept in memory.

A race belongs to the group whose name it starts with: "White, non-Hispanic" and "WHITE - RUSSIAN"
to White, "BLACK/AFRICAN AMERICAN" to Black. What says that nothing is known is not a race.
"""

from __future__ import annotations

import csv
import gzip
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from causalfairness.errors import (
    ColumnNotFoundError,
    DemographicsError,
    ImageFileError,
    LabelError,
)
from causalfairness.imaging.parents import FINDINGS, UNKNOWN

PUBLISHED = ("Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion")
COUNTS_AS = {UNKNOWN: "unknown", 0: "absent", 1: "present"}
_STATED = {"1": 1, "1.0": 1, "0": 0, "0.0": 0}
assert len(PUBLISHED) == len(FINDINGS)


def listed(path: Path, columns: Iterable[str]) -> list[tuple[str, ...]]:
    """What does a CSV file hold in these columns? `.csv` or `.csv.gz`, whichever is there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("x,y\\n1,2\\n")
    ...     listed(Path(folder) / "a.csv", ["y"])
    [('2',)]
    """
    names = tuple(columns)
    with _opened(path) as file:
        reader = csv.reader(file)
        heading = [name.strip() for name in next(reader, [])]
        absent = [name for name in names if name not in heading]
        if absent:
            raise ColumnNotFoundError(
                f"{path.name} has no column {absent[0]!r}; it has {', '.join(heading[:20])}."
            )
        places = [heading.index(name) for name in names]
        rows = []
        for row in reader:
            if len(row) < len(heading):
                raise ImageFileError(
                    f"Line {reader.line_num} of {path.name} has {len(row)} of {len(heading)} cells."
                )
            rows.append(tuple(row[place].strip() for place in places))
    return rows


def heading(path: Path) -> list[str]:
    """Which columns does a CSV file have?"""
    with _opened(path) as file:
        return [name.strip() for name in next(csv.reader(file), [])]


def once(
    rows: Iterable[tuple[str, ...]], *, keys: int, file: str
) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What is said about each key? Refuses two rows that say different things about the same.

    >>> once([("p1", "White"), ("p1", "White")], keys=1, file="a.csv")
    {('p1',): ('White',)}
    """
    said: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row in rows:
        key, rest = row[:keys], row[keys:]
        if said.setdefault(key, rest) != rest:
            raise DemographicsError(
                f"{file} says {', '.join(said[key])} and {', '.join(rest)} about "
                f"{' '.join(key)}. Correct the file, or leave the person out of it."
            )
    return said


def finding(value: str, *, uncertain: int, unmentioned: int, where: str) -> int:
    """Is the finding there? 1, 0 or unknown, as the policy says for -1 and blank.

    >>> [finding(v, uncertain=-1, unmentioned=0, where="row 1") for v in ("1.0", "-1.0", "")]
    [1, -1, 0]
    """
    meanings = {**_STATED, "-1": uncertain, "-1.0": uncertain, "": unmentioned}
    if value not in meanings:
        raise LabelError(f"{where} is {value!r}; expected 1, 0, -1 or nothing.")
    return meanings[value]


def findings(
    values: Iterable[str], *, uncertain: int, unmentioned: int, where: str
) -> tuple[int, ...]:
    """Which of the five findings are there?"""
    return tuple(
        finding(value, uncertain=uncertain, unmentioned=unmentioned, where=f"{name} of {where}")
        for name, value in zip(PUBLISHED, values, strict=True)
    )


def policy_of(**policy: int) -> dict[str, str]:
    """What do labels without a clear answer count as, in words? One of the three there are.

    >>> policy_of(uncertain=-1, unmentioned=0)
    {'uncertain findings': 'unknown', 'unmentioned findings': 'absent'}
    """
    for name, value in policy.items():
        if value not in COUNTS_AS:
            raise LabelError(f"{name}={value!r}: expected 1, 0 or UNKNOWN (-1).")
    return {f"{name} findings": COUNTS_AS[value] for name, value in policy.items()}


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    if path.suffix in (".xlsx", ".xls"):
        raise ImageFileError(f"{path.name} is a spreadsheet; save it as CSV, and give that file.")
    packed = path.with_name(path.name + ".gz")
    if not path.is_file() and not packed.is_file():
        raise ImageFileError(f"There is no file {str(path)!r}, nor {packed.name!r}.")
    chosen = path if path.is_file() else packed
    opened = gzip.open if chosen.suffix == ".gz" else open
    try:
        with opened(chosen, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as cause:
        raise ImageFileError(
            f"{chosen.name} is not written in UTF-8 ({cause}). Save it as CSV in UTF-8."
        ) from cause
    except (gzip.BadGzipFile, EOFError, zlib.error, csv.Error) as cause:
        raise ImageFileError(
            f"{chosen.name} cannot be read as a table ({cause}). Fetch the file again, or save it "
            "as CSV."
        ) from cause


OLDEST = 130  # years
NOT_STATED = "race not stated"
DIFFERS = "race differs between admissions"
OUTSIDE = "race outside the groups"
_SAYS_NOTHING = re.compile(r"unknown|unable|declined|refused|not specified|^$", re.IGNORECASE)


def group_of(races: Iterable[str], groups: Sequence[str]) -> int | str:
    """Which group do all records of a person name? Its number, or the reason why there is none.

    >>> groups = ("White", "Black", "Asian")
    >>> group_of(["BLACK/AFRICAN AMERICAN", "UNKNOWN"], groups)
    1
    >>> group_of(["White", "Asian"], groups)
    'race differs between admissions'
    """
    told = {_group(race, groups) for race in races if not _SAYS_NOTHING.search(race.strip())}
    if not told:
        return NOT_STATED
    if len(told) > 1:
        return DIFFERS
    place = told.pop()
    return OUTSIDE if place is None else place


def sex_of(value: str, codes: dict[str, int], *, where: str) -> int:
    """Which sex is recorded? 0 male, 1 female, unknown; that too where nothing is said."""
    if value == "":
        return UNKNOWN
    if value not in codes:
        raise DemographicsError(f"The sex of {where} is {value!r}; expected {', '.join(codes)}.")
    return codes[value]


def age_of(value: str, *, where: str) -> float:
    """How old, in years / 100? NaN where nothing is said.

    >>> age_of("64", where="patient 1"), age_of("", where="patient 2")
    (0.64, nan)
    """
    if value == "":
        return math.nan
    if not re.fullmatch(r"\d{1,3}(\.\d+)?", value) or float(value) > OLDEST:
        raise DemographicsError(
            f"The age of {where} is {value!r}; expected a number of years, at most {OLDEST}, or "
            "nothing for unknown."
        )
    return float(value) / 100


def _group(race: str, groups: Sequence[str]) -> int | None:
    for place, name in enumerate(groups):
        if re.match(rf"{re.escape(name)}\b", race.strip(), re.IGNORECASE):
            return place
    return None
