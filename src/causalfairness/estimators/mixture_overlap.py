"""How much are a group's rows worth once they are weighted to resemble the other group?

The mixtures say how dense each group is at every row, hence which weight a row of group i would
need to speak for world (i, j, k): P(m | j, c) P(c | k) / P(m, c | i). Nothing is weighted by them
here; they tell where a mixture would answer for people it has hardly seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from causalfairness.effects import Overlap
from causalfairness.errors import OverlapError
from causalfairness.estimators.mixture_algebra import Components
from causalfairness.estimators.mixture_columns import Arranged
from causalfairness.estimators.one_step import Guard, Strain, weigh
from causalfairness.tables.groups import ROLES

Array = NDArray[np.float64]
AT_ONCE = 50_000  # rows
LARGEST = 100.0  # logarithm of a ratio; far above any level at which ratios are cut


def overlap_of(groups: Sequence[Components], arranged: Arranged, weights: Array) -> Overlap:
    """How far do the groups overlap, in the world that asks most? Refuses if hardly at all."""
    everything, confounders = _log_densities(groups, arranged)
    strains, guard = [], Guard()
    for i, k in product((0, 1), repeat=2):
        j = 1 - i
        wanted = everything[j] - everything[i] + confounders[k] - confounders[j]
        ratio = np.exp(np.minimum(wanted, LARGEST))
        _, strain = weigh(ratio, weights, arranged.group == i, (i, j, k), i, guard)
        if arranged.has_numbers:
            _refuse_if_strained(strain, guard)
        strains.append(strain)
    worst = min(strains, key=lambda strain: strain.effective / strain.rows)
    return Overlap(
        effective_rows=worst.effective,
        of_rows=worst.rows,
        largest_share=max(strain.largest for strain in strains),
    )


def _log_densities(groups: Sequence[Components], arranged: Arranged) -> tuple[Array, Array]:
    """Per group and row: how dense are all columns, and how dense are the confounders alone?"""
    rows, c = len(arranged.group), arranged.confounders
    everything, confounders = np.empty((2, rows)), np.empty((2, rows))
    numbers = arranged.numbers[:, : c + arranged.mediators]
    order = np.argsort(arranged.profile, kind="stable")
    starts = np.searchsorted(arranged.profile[order], np.arange(len(arranged.stratum)))
    for profile, members in enumerate(np.split(order, starts[1:])):
        for start in range(0, len(members), AT_ONCE):
            some = members[start : start + AT_ONCE]
            for role, group in enumerate(groups):
                around = group.in_stratum(int(arranged.stratum[profile]))
                everything[role, some] = _log_density(group.in_profile(profile), numbers[some])
                confounders[role, some] = _log_density(around, numbers[some, :c])
    return everything, confounders


def _log_density(components: Components, points: Array) -> Array:
    return np.asarray(logsumexp(components.log_density(components.whiten(points)), axis=1))


def _refuse_if_strained(strain: Strain, guard: Guard) -> None:
    if strain.average >= guard.least_average and strain.effective >= guard.least_effective:
        return
    own, other = ROLES[strain.group], ROLES[1 - strain.group]
    raise OverlapError(
        f"weighted to resemble the {other} group, the {strain.rows:,} rows of the {own} group "
        f"count for {strain.effective:.1f} (at least {guard.least_effective:g} are asked for), and "
        f"their weights average {strain.average:.2g} where 1 is expected: a mixture would answer "
        "for people it has hardly seen. Leave out columns that all but reveal the group, or "
        "compare groups that overlap"
    )
