"""What models miss together in each weighted term of the world means, subtracted and kept in mind.

World (i, j, k) has up to two such terms: Q_i - nu_ij of group j, weighted to resemble group k in
the confounders, and y - Q_i of group i, weighted to resemble those of group j in mediators and
confounders. What is linear in these columns is subtracted from the mean, and its error is one
more coordinate of the spread, by itself: eight for a measurement. What smooth functions find is
only compared with the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Remainder
from causalfairness.estimators.nuisance import Sample
from causalfairness.estimators.remainder import (
    LINEAR_CUT,
    SMOOTH_CUT,
    Functions,
    Missed,
    WeightedTerm,
    linear_basis,
    remainders,
    smooth_basis,
    standardized,
)
from causalfairness.inference import run_all

Array = NDArray[np.float64]
World = tuple[int, int, int]
Terms = Mapping[tuple[World, int], WeightedTerm]  # by world, and the group that is weighted
WITHIN: tuple[World, ...] = tuple((i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1))
MOST = 8  # terms of one measurement


def collapsed(sample: Sample, world: World) -> World:
    """Return the world whose mean this one has, where nobody is told of what is not there."""
    i, j, k = world
    j = j if sample.has_mediators else i
    return i, j, k if sample.has_confounders else j


def missed_by(sample: Sample, terms: Terms, seed: int) -> tuple[Remainder, ...]:
    """Return what models miss in each term, by linear and by smooth functions; on one thread."""
    measure = partial(_missed_by, sample, seed)
    return run_all(measure, [terms], workers=1, what="measuring what models miss")[0]


def _missed_by(sample: Sample, seed: int, terms: Terms) -> tuple[Remainder, ...]:
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    smaller = int(np.bincount(sample.group[weights > 0], minlength=2).min())
    found: list[Remainder] = []
    for weighted in ("confounders", "mediators"):
        of_kind = {key: term for key, term in terms.items() if _weighted(*key) == weighted}
        if not of_kind:
            continue
        columns = sample.confounders
        if weighted == "mediators":
            columns = np.column_stack([sample.mediators, columns])
        columns = standardized(columns, weights)
        linear, smooth = linear_basis(columns), smooth_basis(columns, smaller, seed)
        known = _of_each_group(linear, of_kind, LINEAR_CUT)
        curved = {} if smooth is None else _of_each_group(smooth, of_kind, SMOOTH_CUT)
        for key, missed in known.items():
            same = tuple(each for each in WITHIN if collapsed(sample, each) == key[0])
            check: tuple[float | None, float | None] = curved.get(key, (None, None))
            found.append(Remainder(same, weighted, *missed, *check, smaller, columns.shape[1]))
    return tuple(found)


def subtracted(values: Array, missed: Sequence[Remainder]) -> tuple[Array, Array]:
    """Return the means within groups less what was missed, and one coordinate for each error."""
    values, errors = values.copy(), np.zeros((2, 2, 2, MOST))
    for at, each in enumerate(missed):
        for world in each.worlds:
            values[world] -= each.value
            errors[(*world, at)] = each.error
    return values, errors


def averaged(runs: Sequence[tuple[Remainder, ...]]) -> tuple[Remainder, ...]:
    """Return the mean of what was missed in several repetitions, errors as if they were one."""
    return tuple(_mean(of_one) for of_one in zip(*runs, strict=True))


def _mean(runs: Sequence[Remainder]) -> Remainder:
    numbers = ("value", "error", "smooth", "smooth_error")
    means: dict[str, Any] = {
        name: float(np.mean(found))
        for name in numbers
        if None not in (found := [getattr(each, name) for each in runs])
    }
    return replace(runs[0], **means)


def _weighted(world: World, group: int) -> str:
    """What makes the rows of this group stand for others in the mean of this world."""
    return "confounders" if group == world[1] else "mediators"


def _of_each_group(basis: Functions, terms: Terms, cut: float) -> dict[tuple[World, int], Missed]:
    found: dict[tuple[World, int], Missed] = {}
    for g in (0, 1):
        own = {key: term for key, term in terms.items() if key[1] == g}
        found |= dict(zip(own, remainders(basis, [*own.values()], cut), strict=True))
    return found
