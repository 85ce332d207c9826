"""What did the test find, for each model? P-values, effects, and sentences that they support.

The effect is E[(g - h)^2], the variance that the group adds to the expected prediction once the
features are known; its root is in units of the prediction. Near 0 only its upper bound is to be
trusted. P-values are adjusted for the number of models (Benjamini-Hochberg).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from causalfairness.effects.column_table import ColumnTable
from causalfairness.effects.table import as_section, format_p_value
from causalfairness.inference import benjamini_hochberg

Array = NDArray[np.float64]
SHOWN = 10  # models that are printed
HEADINGS = ("model", "statistic", "log p", "p", "p (adjusted)", "moved by", "at most", "n")


@dataclass(frozen=True)
class Claim:
    """Which question was asked, and what do its two answers say?

    >>> Claim("a test", depends="depend on the group", silent="consistent with not").method
    'a test'
    """

    method: str
    depends: str  # "The predictions of m ..."
    silent: str  # "The predictions of m are ..."
    reach: str = ""  # what bounds are about, where that is not everything


class Explained(NamedTuple):
    """How far the features alone reproduce predictions, held out. One number per model.

    >>> Explained(np.array([0.8]), np.array([0.2]), np.array([0.01]), np.array([False])).share
    array([0.8])
    """

    share: Array  # of the variance
    missed: Array  # mean square of what they leave open
    error: Array  # standard error of that
    function: NDArray[np.bool_]  # predictions are a function of the features, as far as one can see


@dataclass(frozen=True, eq=False, repr=False)
class InvarianceTest:
    """Do predictions depend on the group? Arrays have one number per model.

    `statistic` is in standard deviations under invariance, `effect` is E[(g - h)^2], and `n` the
    number of people it was judged by.

    >>> import causalfairness as cf
    >>> rng = np.random.default_rng(0)
    >>> z, a = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    >>> found = cf.invariance_test(z[:, 0] + a, a, z)
    >>> bool(found.p_value[0] < 0.001), bool(found.rejected[0])
    (True, True)
    """

    claim: Claim
    models: tuple[str, ...]
    groups: tuple[str, ...]
    statistic: Array
    log_p_value: Array
    effect: Array
    standard_error: Array
    score: Array  # mean of d
    noise: Array  # root mean square of prediction - h
    n: int
    level: float
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    explained: Explained | None = None  # by the features alone, where they were asked
    doubts: tuple[str, ...] = ()  # why a finding is not sure; empty where it is
    untestable: str = ""  # why no answer could be sure, whatever was found

    @property
    def method(self) -> str:
        """What is this form of the test called?"""
        return self.claim.method

    @cached_property
    def p_value(self) -> Array:
        """How often would chance alone do this? 0 where that is too small for a float."""
        return np.asarray(np.exp(self.log_p_value))

    @cached_property
    def p_adjusted(self) -> Array:
        """The same, allowing for the number of models (Benjamini-Hochberg)."""
        return benjamini_hochberg(self.p_value)

    @cached_property
    def rejected(self) -> NDArray[np.bool_]:
        """For which models does the finding stand, at the level and for so many models?"""
        return np.asarray(self._beyond_chance & ~self.undecided)

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """For which models is it not sure, although chance alone would hardly do this?

        For all of them where the features tell the group: nobody is alike but in the same group.
        """
        if self.untestable:
            return np.ones(len(self.models), dtype=bool)
        doubted = np.array([bool(why) for why in self.doubts or [""] * len(self.models)])
        return np.asarray(self._beyond_chance & doubted)

    @property
    def _beyond_chance(self) -> NDArray[np.bool_]:
        return np.asarray(self.p_adjusted <= 1 - self.level + 1e-12)

    @cached_property
    def upper(self) -> Array:
        """Above which value would the effect no longer fit the data? One-sided.

        The largest x^2 with x^2 - 2 z x noise / sqrt(n) <= found: an effect of x^2 would have a
        standard error of 2 x noise / sqrt(n), however small the one that was found. That is the
        larger one of `effect` and `score`, since errors of g lower the first. Nor can the group add
        more than the features leave open.
        """
        reach, found = ndtri(self.level), np.maximum(self.effect, self.score)
        half = reach * self.noise / np.sqrt(self.n)
        allowed = (half + np.sqrt(half**2 + np.maximum(found, 0.0))) ** 2
        highest = np.maximum(found + reach * self.standard_error, allowed)
        if (known := self.explained) is None:
            return np.asarray(highest)
        return np.asarray(np.minimum(highest, known.missed + reach * known.error))

    def table(self) -> InvarianceTable:
        """What was found for each model, in rows?"""
        known = self.explained
        return InvarianceTable(
            {
                "model": np.array(self.models, dtype=object),
                "statistic": self.statistic,
                "log_p_value": self.log_p_value,
                "p_value": self.p_value,
                "p_adjusted": self.p_adjusted,
                "rejected": self.rejected,
                "undecided": self.undecided,
                "effect": self.effect,
                "standard_error": self.standard_error,
                "upper": self.upper,
                "explained": np.nan * self.effect if known is None else known.share,
                "n": np.full(len(self.models), self.n),
            }
        )

    def sentences(self) -> tuple[str, ...]:
        """What may be said about each model? Of many models, those with the smallest p-values."""
        order = np.argsort(self.log_p_value, kind="stable")[:SHOWN]
        said = [self._sentence(int(at)) for at in sorted(order)]
        if len(self.models) > SHOWN:
            doubted = int(self.undecided.sum())
            unsure = f"; for {doubted} it is not sure" if doubted else ""
            many = (
                f"For {int(self.rejected.sum())} of {len(self.models)} models the predictions "
                f"{self.claim.depends}, at the {100 * self.level:g}% level after adjustment for "
                f"their number{unsure}. Those with the smallest p-values:"
            )
            return (many, *said)
        return tuple(said)

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.method}: {self.n:,} people in the groups {', '.join(self.groups)}",
                str(self.table()),
                *self.sentences(),
                *(f"assumes: {line}" for line in self.assumptions),
                *(f"note: {line}" for line in self.notes),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section("", self.table()._repr_html_(), self.sentences())

    def _sentence(self, at: int) -> str:
        p = f"p {_signed(self.p_value[at])}"
        if len(self.models) > 1:
            p += f", {format_p_value(self.p_adjusted[at])} after adjustment"
        bound = f"{_root(self.upper[at]):.3g} ({100 * self.level:g}% bound)"
        most = f"{bound}, root mean square{self.claim.reach}"
        who = f"The predictions of {self.models[at]}"
        if self.untestable:
            return (
                f"It is not sure whether the predictions of {self.models[at]} "
                f"{self.claim.depends}: {self.untestable}."
            )
        if self.explained is not None and self.explained.function[at]:
            return f"{who} are a function of the features, as far as these people show: {p}."
        alone = self.explained and _reproduced(self.explained.share[at])
        if self.rejected[at]:
            moved = f"the group moves them by about {_root(self.effect[at]):.3g}, at most {most}"
            return f"{who} {self.claim.depends}: {p}; {moved}.{alone or ''}"
        if self.undecided[at]:
            return (
                f"It is not sure whether the predictions of {self.models[at]} "
                f"{self.claim.depends}, in spite of {p}: {self.doubts[at]}. The group moves them "
                f"by at most {most}.{alone or ''}"
            )
        return (
            f"{who} are {self.claim.silent} that would move them by more than {most}, under "
            f"these assumptions: {p}.{alone or ''}"
        )


class InvarianceTable(ColumnTable):
    """What was found for each model? One row per model; columns by name.

    Printed, it shows those with the smallest p-values, and effects by their roots, in units of the
    prediction.

    >>> table = InvarianceTable({"model": np.array(["a"]), "log_p_value": np.array([-2.0])})
    >>> table.to_records()
    [{'model': 'a', 'log_p_value': -2.0}]
    """

    headings = HEADINGS
    shown = SHOWN
    others = "with larger p-values"

    def order(self) -> NDArray[np.int64]:
        """Which models are printed first?"""
        return np.argsort(self["log_p_value"], kind="stable")

    def line(self, at: int) -> tuple[str, ...]:
        """What is printed of this model?"""
        chances = (format_p_value(self[name][at]) for name in ("p_value", "p_adjusted"))
        roots = (f"{_root(self[name][at]):.3g}" for name in ("effect", "upper"))
        numbers = (f"{self['statistic'][at]:+.2f}", f"{self['log_p_value'][at]:.2f}")
        return (str(self["model"][at]), *numbers, *chances, *roots, f"{self['n'][at]:,}")


def _reproduced(share: float) -> str:
    """How much the features alone do, never rounded up to all of it."""
    percent = "more than 99.9%" if share > 0.999 else f"{100 * max(share, 0.0):.3g}%"
    return f" Features alone reproduce {percent} of their variance, held out."


def _root(effect: float) -> float:
    return float(np.sqrt(max(effect, 0.0)))


def _signed(p_value: float) -> str:
    text = format_p_value(p_value)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"
