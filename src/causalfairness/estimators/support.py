"""Where do two groups meet, cell by cell? Common support, and what is said where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Overlap
from causalfairness.errors import EmptyCellsError, OverlapError
from causalfairness.estimators.saturated import CellPieces
from causalfairness.tables import CellPair

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
WORST_CELLS_NAMED = 3
FEWEST_ROWS = 2


@dataclass(frozen=True, eq=False)
class Support:
    """Which profiles are seen in one group only, and how many people are in them?"""

    one_sided: Mask  # per profile
    in_lone_stratum: Mask  # per profile: its stratum is seen in one group only
    weight: Array  # per profile, both groups

    @property
    def share_outside(self) -> float:
        """What share of people has no counterpart with the same values?"""
        return float(self.weight[self.one_sided].sum() / self.weight.sum())

    @property
    def share_in_lone_strata(self) -> float:
        """What share of people has confounders that the other group never has?"""
        return float(self.weight[self.in_lone_stratum].sum() / self.weight.sum())


def support_of(pair: CellPair) -> Support:
    """Where do the two groups meet?"""
    weight, stratum = pair.by_profile(pair.sums.w), pair.stratum
    starts = np.flatnonzero(np.diff(stratum, prepend=-1))
    lone = (np.add.reduceat(weight, starts, axis=1) == 0).any(axis=0)
    return Support((weight == 0).any(axis=0), lone[stratum], weight.sum(axis=0))


def check_sizes(pair: CellPair) -> None:
    """Are there enough people? One says nothing about how much people vary."""
    rows = np.bincount(pair.group, pair.sums.rows * (pair.sums.w > 0), minlength=2)
    for role, name in enumerate(("reference", "comparison")):
        if rows[role] < FEWEST_ROWS:
            raise OverlapError(
                f"the {name} group has {rows[role]:.0f} row; at least {FEWEST_ROWS} are needed to "
                "tell how sure one can be of its mean"
            )


def overlap_of(pieces: CellPieces, share_outside: float) -> Overlap:
    """How much are a group's rows worth, weighted as some world asks? The worst of all worlds."""
    strained = []
    sums, group, profile = pieces.pair.sums, pieces.pair.group, pieces.pair.profile
    for i, k in product((0, 1), repeat=2):
        ratio = np.zeros(len(pieces.kept))
        ratio[pieces.kept] = pieces.saturated.weights_of(i, 1 - i, k)
        inside = (group == i) & (sums.w > 0)
        on_rows = ratio[profile[inside]]
        total = float(on_rows @ sums.w[inside])
        squares = float(on_rows**2 @ sums.w2[inside])
        if squares > 0:
            of_rows = int(sums.rows[inside].sum())
            per_row = on_rows * sums.w[inside] / np.maximum(sums.rows[inside], 1)
            strained.append((total**2 / squares, of_rows, float(per_row.max()) / total))
    if not strained:
        return Overlap(share_outside_support=share_outside)
    effective, of_rows, _ = min(strained, key=lambda found: found[0] / found[1])
    return Overlap(share_outside, effective, of_rows, max(found[2] for found in strained))


def refusal(pair: CellPair, where: Mask, kind: str) -> EmptyCellsError:
    """Which combinations have no counterpart, how many people are in them, and what can be done?"""
    rows = pair.by_profile(pair.sums.rows).sum(axis=0)
    lost = np.where(where, rows, 0.0)
    worst = np.argsort(-lost, kind="stable")[: min(WORST_CELLS_NAMED, int(where.sum()))]
    named = "; ".join(f"{pair.describe(p)} ({lost[p]:,.0f} rows)" for p in worst)
    share = lost.sum() / rows.sum()
    count = int(where.sum())
    many = f"{count:,} combinations of" if count > 1 else "one combination of"
    return EmptyCellsError(
        f"{many} {kind}confounders, with {share:.1%} of the rows, {'are' if count > 1 else 'is'} "
        "seen in one group only. Choose what to do: "
        "Strata(empty_cells='restrict') compares where both groups are seen, a model given as "
        "empty_cells fills in its own predictions, Strata(bins={'age': 4}) counts a column of "
        "numbers in wider bins, DoublyRobust() smooths over the gaps; or use fewer columns"
    ).about(f"for instance {named}")
