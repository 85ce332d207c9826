"""Which of the compared groups does a record of race belong to?

A race belongs to the group whose name it starts with: "White, non-Hispanic" and "WHITE - RUSSIAN"
to White, "BLACK/AFRICAN AMERICAN" to Black. What says that nothing is known is not a race.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from causalfairness.errors import DemographicsError
from causalfairness.imaging.parents import UNKNOWN

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
        raise DemographicsError(
            f"The sex of {where} is {value!r}; expected {', '.join(map(repr, codes))}."
        )
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
