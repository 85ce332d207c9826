"""Which signed sum of world means is which effect? The whole of methods §2 as one table.

All effects are changes from the reference group (0) to the comparison group (1) or, where the
name says `10`, the reverse. In the notation of the literature `direct_01_given_0` is
Ctf-DE_{a0,a1}(y | a0), `indirect_10_given_0` is Ctf-IE_{a1,a0}(y | a0) and `spurious_10` is
Ctf-SE_{a1,a0}(y).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from causalfairness.effects.world_means import Among, World

Convention = Literal["sequential", "symmetric"]
Terms = Mapping[World, float]


class Contrast(NamedTuple):
    """Which world means make up an effect, and what does it mean in words?

    >>> CONTRASTS["spurious_01"].formula
    'mu[0,0,1] - mu[0,0,0]'
    """

    terms: Terms
    meaning: str

    @property
    def formula(self) -> str:
        """How is the effect written?"""
        written = ""
        for (i, j, k), weight in self.terms.items():
            sign = ("- " if weight < 0 else "+ ") if written else ("-" if weight < 0 else "")
            size = "" if abs(weight) == 1 else f"{abs(weight):g} "
            written += (
                f"{' ' if written else ''}{sign}{size}mu[{i},{j},{'*' if k == 'everyone' else k}]"
            )
        return written


def _change(to: World, start: World) -> Terms:
    return {to: 1.0, start: -1.0}


def _half_difference(forward: Terms, backward: Terms) -> Terms:
    return {w: 0.5 * t for w, t in forward.items()} | {w: -0.5 * t for w, t in backward.items()}


def _given(k: Among) -> Mapping[str, Contrast]:
    among = {0: "the reference group", 1: "the comparison group", "everyone": "everyone"}[k]
    direct_01, direct_10 = _change((1, 0, k), (0, 0, k)), _change((0, 1, k), (1, 1, k))
    indirect_01, indirect_10 = _change((0, 1, k), (0, 0, k)), _change((1, 0, k), (1, 1, k))
    both = _change((1, 1, k), (0, 0, k))
    return {
        f"direct_01_given_{k}": Contrast(direct_01, f"direct path 0 to 1, among {among}"),
        f"direct_10_given_{k}": Contrast(direct_10, f"direct path 1 to 0, among {among}"),
        f"indirect_01_given_{k}": Contrast(indirect_01, f"mediators 0 to 1, among {among}"),
        f"indirect_10_given_{k}": Contrast(indirect_10, f"mediators 1 to 0, among {among}"),
        f"direct_symmetric_given_{k}": Contrast(
            _half_difference(direct_01, direct_10),
            f"direct path, both ways averaged, among {among}",
        ),
        f"indirect_symmetric_given_{k}": Contrast(
            _half_difference(indirect_01, indirect_10),
            f"mediators, both ways averaged, among {among}",
        ),
        f"treatment_given_{k}": Contrast(both, f"direct path and mediators 0 to 1, among {among}"),
    }


def _among_everyone(effect: str, short: str) -> Contrast:
    return Contrast(_given("everyone")[f"{effect}_given_everyone"].terms, f"{short}, everyone")


def _experimental_spurious(a: Literal[0, 1]) -> Contrast:
    name = ("reference", "comparison")[a]
    return Contrast(
        _change((a, a, a), (a, a, "everyone")), f"{name} group as it is, against everyone set to it"
    )


CONTRASTS: Mapping[str, Contrast] = MappingProxyType(
    {
        "spurious_01": Contrast(_change((0, 0, 1), (0, 0, 0)), "confounders 0 to 1, paths as in 0"),
        "spurious_10": Contrast(_change((1, 1, 0), (1, 1, 1)), "confounders 1 to 0, paths as in 1"),
        **_given(0),
        **_given(1),
        "total_effect": _among_everyone("treatment", "TE"),
        "natural_direct_effect": _among_everyone("direct_01", "NDE"),
        "natural_indirect_effect": _among_everyone("indirect_01", "NIE"),
        **{
            f"{name}_given_everyone": _given("everyone")[f"{name}_given_everyone"]
            for name in ("direct_10", "indirect_10", "direct_symmetric", "indirect_symmetric")
        },
        "experimental_spurious_0": _experimental_spurious(0),
        "experimental_spurious_1": _experimental_spurious(1),
    }
)

EXPLAINED: Contrast = Contrast(_change((1, 1, 1), (0, 0, 0)), "the gap between the groups")

_among_1 = _given(1)
PARTS: Mapping[Convention, Mapping[str, Contrast]] = MappingProxyType(
    {
        "sequential": {
            "direct": Contrast(_change((1, 0, 0), (0, 0, 0)), "direct path, mediators as in 0"),
            "indirect": Contrast(_change((1, 1, 0), (1, 0, 0)), "then the mediators"),
            "spurious": Contrast(_change((1, 1, 1), (1, 1, 0)), "then the confounders"),
        },
        "symmetric": {
            "direct": _among_1["direct_symmetric_given_1"],
            "indirect": _among_1["indirect_symmetric_given_1"],
            "spurious": CONTRASTS["spurious_01"],
        },
    }
)
