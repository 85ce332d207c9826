"""Which decompositions stand next to each other, and what tells them apart?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from causalfairness.effects import Decomposition, Effect
from causalfairness.plots.parts import remainder_of

MOST = 6  # fillings that can be told apart


@dataclass(frozen=True)
class Series:
    """Which decomposition is drawn under which name?"""

    name: str
    found: Decomposition

    def part(self, name: str) -> Effect | None:
        """How large is this part? None for a remainder that is not there."""
        if name in ("outside_support", "misfit"):
            rest = remainder_of(self.found)
            return rest if rest is not None and rest.name == name else None
        effect: Effect = getattr(self.found, name)
        return effect


def series_of(found: Sequence[Decomposition] | Mapping[str, Decomposition]) -> list[Series]:
    """Which decompositions are drawn? Without names, each is called by what sets it apart.

    >>> series_of([])
    Traceback (most recent call last):
    ...
    ValueError: between 1 and 6 decompositions can be drawn side by side, found 0; ...
    """
    if not 1 <= len(found) <= MOST:
        raise ValueError(
            f"between 1 and {MOST} decompositions can be drawn side by side, found {len(found)}; "
            "for more, draw a forest of their effects"
        )
    if isinstance(found, Mapping):
        return [Series(name, each) for name, each in found.items()]
    return [Series(name, each) for name, each in zip(_told_apart(found), found, strict=True)]


def _told_apart(found: Sequence[Decomposition]) -> list[str]:
    traits = [
        (
            each.what,
            f"{each.comparison} against {each.reference}",
            each.diagnostics.estimator.partition("(")[0],
            each.convention,
        )
        for each in found
    ]
    columns = [column for column in zip(*traits, strict=True) if len(set(column)) > 1]
    if not columns:
        return [found[0].what] if len(found) == 1 else [f"{at + 1}" for at in range(len(found))]
    return [", ".join(row) for row in zip(*columns, strict=True)]
