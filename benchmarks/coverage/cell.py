"""One cell of the table of trust: a public call in one world, drawn again and again.

A module beside this one holds the worlds of one subject and lists its cells as `CELLS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Estimated(NamedTuple):
    """One interval of one draw, and the truth that it is to hold.

    `settled` is False where the result itself says that its models are not to be relied on: such
    a draw counts as warned, and not as an interval that misses.
    """

    value: float
    standard_error: float
    low: float
    high: float
    truth: float
    settled: bool | None = True


class Tested(NamedTuple):
    """Whether one draw's test found something, and whether there was something to find."""

    found: bool
    there: bool
    __test__ = False  # for pytest, which takes such names for tests


Outcome = Mapping[str, Estimated | Tested]  # by the name of the part or of the test


@dataclass(frozen=True)
class Cell:
    """A public call in one world. A draw that is refused by a named error returns an empty mapping.

    `draw` must be a function of a module, since draws are spread over processes; `page` is the page
    of `docs/` that speaks of the call.
    """

    call: str
    world: str
    draw: Callable[[int], Outcome]
    draws: int
    quick: int = 0  # draws in `make test`; 0: only in the full table
    page: str = "estimators"
    level: float = 0.95  # nominal coverage of intervals; tests are held against 1 - level
