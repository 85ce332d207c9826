"""How much of a gap is direct, indirect or spurious?

    total = E[y | a1] - E[y | a0] = direct + indirect + spurious + outside_support

in one of two conventions (methods §2): `sequential` walks from the reference group's world to the
comparison group's, one path at a time; `symmetric` averages both ways of telling a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from causalfairness.effects.contrasts import CONTRASTS, EXPLAINED, PARTS, Convention
from causalfairness.effects.diagnostics import Diagnostics
from causalfairness.effects.effect import Effect
from causalfairness.effects.settled import part, told
from causalfairness.effects.table import EffectTable, as_section, decimals
from causalfairness.effects.world_means import Estimate, WorldMeans

READINGS = {
    "direct": "remains when mediators and confounders are held alike",
    "indirect": "runs through the mediators, which differ by group where confounders are alike",
    "spurious": "comes along with the confounders, in which the groups differ",
    "outside_support": "concerns people without a counterpart in the other group",
    "misfit": "is what the fitted model misses of the groups' plain means",
}
REMAINDERS = {
    "outside_support": "what cannot be compared: people without a counterpart in the other group",
    "misfit": "what the fitted model misses of the groups' plain means",
}


@dataclass(frozen=True, eq=False)
class Decomposition:
    """How much of a gap between two groups is direct, indirect or spurious?

    The four parts and `total` are effects on one basis: subtract them, compare them, ask each for
    its `interval(level)`. `table()` holds every effect that can be made of the world means.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(2_000, seed=0), world.model)
    >>> parts = found.direct + found.indirect + found.spurious
    >>> bool(abs(parts.value - found.total.value) < 1e-12)
    True
    """

    what: str
    reference: str
    comparison: str
    convention: Convention
    estimate: Estimate

    @property
    def world_means(self) -> WorldMeans:
        """What would the mean be in each of the twelve worlds?"""
        return self.estimate.world_means

    @property
    def diagnostics(self) -> Diagnostics:
        """How much should this result be trusted?"""
        return self._told.diagnostics

    @property
    def settled(self) -> bool | None:
        """Have the models caught how confounders act? None where that could not be checked."""
        return self.diagnostics.settled

    @property
    def total(self) -> Effect:
        """How large is the plain gap, comparison group minus reference group?"""
        return self.estimate.raw_gap.named("total")

    @property
    def direct(self) -> Effect:
        """How much of the gap runs directly from group to outcome?"""
        return self._part("direct")

    @property
    def indirect(self) -> Effect:
        """How much of the gap runs through the mediators?"""
        return self._part("indirect")

    @property
    def spurious(self) -> Effect:
        """How much of the gap comes from confounders, not from the group?"""
        return self._part("spurious")

    @property
    def outside_support(self) -> Effect:
        """How much of the gap concerns people without a counterpart? Zero unless restricted."""
        return self._remainder_called("outside_support")

    @property
    def misfit(self) -> Effect:
        """How much of the gap does the fitted model miss? Zero unless the estimator is plug-in."""
        return self._remainder_called("misfit")

    def table(self, level: float = 0.95) -> EffectTable:
        """What is every effect that the world means can tell?

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary()
        >>> table = cf.decompose_disparity(world.draw(500, seed=0), world.model).table()
        >>> table.names[:5]
        ('total', 'direct', 'indirect', 'spurious', 'outside_support')
        """
        rows = [
            (self.total, "the gap between the groups"),
            *((self._part(name), c.meaning) for name, c in PARTS[self.convention].items()),
            (self._remainder, REMAINDERS[self.estimate.remainder]),
            *(
                (self.world_means.combine(c.terms, name), c.meaning)
                for name, c in CONTRASTS.items()
            ),
        ]
        effects, meanings = zip(*rows, strict=True)
        return EffectTable(effects, meanings, level=level)

    def summary(self, level: float = 0.95) -> EffectTable:
        """What are the gap and its parts? The first rows of `table`."""
        names = ["total", "direct", "indirect", "spurious"]
        if self._remainder.value or self._remainder.standard_error:
            names.append(self.estimate.remainder)
        table = self.table(level)
        return EffectTable(tuple(table[name] for name in names), level=level)

    def sentences(self, level: float = 0.95) -> tuple[str, ...]:
        """What do the numbers say, in plain words?

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary().without("direct")
        >>> print(cf.decompose_disparity(world.draw(4_000, seed=1), world.model).sentences()[1])
        Direct: ... consistent with no direct part above ... (95% level), under these assumptions.
        """
        low, high = self.total.interval(level)
        start = self.estimate.raw_gap.value
        rows = self.summary(level)
        places = decimals((part.standard_error for part in rows), least=3)
        size = f"{abs(start):.{places}f} {'higher' if start > 0 else 'lower'}"
        gap = (
            f"Gap: mean {self.what} is {'the same' if start == 0 else size} for {self.comparison} "
            f"{'as' if start == 0 else 'than'} for {self.reference} ({low:+.{places}f} to "
            f"{high:+.{places}f} at the {_percent(level)} level)."
        )
        return gap, *(_sentence(part, level, places) for part in rows if part.name != "total")

    def __str__(self) -> str:
        title = f"{self.what}: {self.comparison} against {self.reference} ({self.convention})"
        return "\n".join([title, str(self.summary()), *self.sentences(), str(self.diagnostics)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = f"{self.what}: {self.comparison} against {self.reference} ({self.convention})"
        table = self.summary()._repr_html_()
        return as_section(title, table, self.sentences(), str(self.diagnostics))

    def _part(self, name: str) -> Effect:
        return part(self._told, name, self.convention)

    @cached_property
    def _told(self) -> Estimate:
        return told(self.estimate, self.convention)

    @cached_property
    def _remainder(self) -> Effect:
        explained = self.world_means.combine(EXPLAINED.terms, "explained")
        rest = (self.estimate.raw_gap - explained).named(self.estimate.remainder)
        return self.world_means.rounded(rest)

    def _remainder_called(self, name: str) -> Effect:
        rest = self._remainder if self.estimate.remainder == name else self._remainder * 0.0
        return rest.named(name)


def _sentence(part: Effect, level: float, places: int) -> str:
    low, high = part.interval(level)
    opening = f"{part.name.replace('_', ' ').capitalize()}: {part.value:+.{places}f}"
    if part.standard_error == 0 and part.value == 0:
        return f"{opening} exactly: by the stated roles, or in this data, nothing runs this way."
    between = f"({low:+.{places}f} to {high:+.{places}f})"
    if low <= 0 <= high:
        bound = max(-low, high)
        return (
            f"{opening} {between}, consistent with no {_noun(part.name)} above "
            f"{bound:.{places}f} ({_percent(level)} level), under these assumptions."
        )
    return f"{opening} {between} of the gap {READINGS[part.name]}."


def _percent(level: float) -> str:
    return f"{100 * level:.6g}%"


def _noun(name: str) -> str:
    return f"{name} part" if name in ("direct", "indirect", "spurious") else name.replace("_", " ")
