"""How is an answer written so that a machine, and the next version, can read it? As plain data.

Numbers keep twelve significant digits: what lies beyond is noise of arithmetic, and two engines
that add in another order should write the same record. Numbers that are not finite become None.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import date
from typing import Any

import numpy as np

from causalfairness.effects import Diagnostics

DIGITS = 12
DEEPEST = 50  # lists and tables within each other; a record has about ten


def plain(value: Any) -> Any:
    """What is this value, as JSON knows it?

    >>> plain({"a": (np.float64(0.1) + 0.2, np.nan), 1: np.array([True])})
    {'a': [0.3, None], '1': [True]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, set) else value)]
    if isinstance(value, float):
        return rounded(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


def rounded(number: float) -> float | None:
    """How is a number kept? To twelve digits; None where it is not finite, and no minus zero.

    >>> rounded(1 / 3), rounded(-0.0), rounded(math.inf)
    (0.333333333333, 0.0, None)
    """
    return float(f"{number:.{DIGITS}g}") + 0.0 if math.isfinite(number) else None


def written(value: Any) -> str:
    """How is plain data written? Sorted keys and one line each: the same data, the same bytes.

    >>> written({"b": [1], "a": None}) == '{\\n "a": null,\\n "b": [\\n  1\\n ]\\n}\\n'
    True
    """
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def is_deep(found: Any) -> bool:
    """Whether plain data is nested deeper than anything that is written here.

    >>> is_deep({"a": [1, {"b": 2}]})
    False
    """
    level: list[Any] = [[found]]
    for _ in range(DEEPEST):
        inside = (each.values() if isinstance(each, Mapping) else each for each in level)
        level = [one for held in inside for one in held if isinstance(one, list | Mapping)]
    return bool(level)


def as_table(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How are records kept? Names of columns once, then rows; None where a record has no value.

    >>> as_table([{"a": 1, "b": 2.0}, {"a": 3}])
    {'columns': ['a', 'b'], 'rows': [[1, 2.0], [3, None]]}
    """
    names = [*dict.fromkeys(name for record in records for name in record)]
    return {
        "columns": names,
        "rows": [[plain(record.get(name)) for name in names] for record in records],
    }


def diagnosis(told: Diagnostics) -> dict[str, Any]:
    """What must a reader know before believing numbers, as plain data?"""
    return {
        "estimator": told.estimator,
        "chosen_because": told.chosen_because,
        "rows": {"text": str(told.rows), **asdict(told.rows)},
        "overlap": {"text": str(told.overlap), **asdict(told.overlap)},
        "learners": [asdict(learner) for learner in told.learners],
        "remainders": [asdict(remainder) for remainder in told.remainders],
        "settled": told.settled,
    }
