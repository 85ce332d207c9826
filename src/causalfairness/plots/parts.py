"""Which parts has a gap, and what are they called in a picture?"""

from __future__ import annotations

import re
from typing import Final

from causalfairness.effects import Decomposition, Effect

PATHS: Final = ("direct", "indirect", "spurious")
REMAINDERS: Final = ("outside_support", "misfit")
GLOSSES: Final = {
    "total": "the whole gap",
    "direct": "all else alike",
    "indirect": "through mediators",
    "spurious": "with confounders",
    "outside_support": "no counterpart",
    "misfit": "missed by the model",
}
COMPARABLE: Final = {"outside_support": "where comparable", "misfit": "as modeled"}


def paths_of(found: Decomposition) -> tuple[Effect, ...]:
    """What are the direct, indirect and spurious parts?"""
    return found.direct, found.indirect, found.spurious


def remainder_of(found: Decomposition) -> Effect | None:
    """What do the three paths leave over? None where they add up to the gap."""
    for rest in (found.outside_support, found.misfit):
        if rest.value or rest.standard_error:
            return rest
    return None


def path_in(name: str) -> str:
    """Which part does the name of an effect speak of? The last one it mentions, or none.

    >>> path_in("natural_direct_effect"), path_in("direct labor: total"), path_in("score")
    ('direct', 'total', '')
    """
    known = (*PATHS, "total", "misfit")
    words = [word for word in re.split(r"[^a-z]+", name.lower()) if word in known]
    return "outside_support" if name.endswith("outside_support") else (words or [""])[-1]
