"""Which candidates are nearest, if everyone is measured? A block of people at a time.

scipy adds features up in an order of its own, so that the last bits of a sum may differ. Whoever
may be among the k best by that is measured again, by the same additions in the same order as in
a tree, so that true ties are ties here as there. Ranks grow from block to block: once k are
found, whoever is as far away as the worst of them comes too late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.individuals.distances import HALF, Array, Points, Positions, Rule, Terms

BLOCK = 2048  # candidates
SPARE = 2  # times k: where more may be near, the sums themselves say who is
UNLIKE_ANY = -2  # a code that no candidate has


def by_blocks(
    terms: Terms, rule: Rule, excluded: Positions
) -> Callable[[slice, Positions, Array], None]:
    """Which candidates are nearest? What is returned answers a part of the queries."""

    def answer(part: slice, ranks: Positions, keys: Array) -> None:
        asked, own = terms.queries.take(part), excluded[part]
        best, found = np.full_like(keys[part], np.nan), ranks[part]  # nan stands for nobody
        for start in range(0, len(terms.candidates), BLOCK):
            block = terms.candidates.take(slice(start, start + BLOCK))
            near = _near(_rough_sums(asked, block, rule.penalties), best, rule)
            rows, places = np.divmod(np.flatnonzero(near), len(block))
            new = _keys(asked, block, rows, places, rule)
            better = (new <= rule.limit) & (start + places != own[rows])
            _merge(best, found, rows[better], new[better], start + places[better])
        keys[part] = np.where(np.isnan(best), np.inf, best)

    return answer


def _rough_sums(asked: Points, block: Points, penalties: Array) -> Array:
    """The sums of every pair, but for rounding errors. (queries, candidates)"""
    from scipy.spatial.distance import cdist

    p = asked.shape[0]
    whole = ~(np.isnan(asked.numbers).any(axis=0) | np.isnan(block.numbers).any(axis=0))
    sums: Array = cdist(_columns(asked.numbers, whole), _columns(block.numbers, whole), "cityblock")
    for j in np.flatnonzero(~whole):
        apart = np.abs(asked.numbers[:, j, None] - block.numbers[:, j])
        sums += np.where(np.isnan(apart), penalties[j], apart)
    codes = np.where(asked.codes < 0, UNLIKE_ANY, asked.codes)
    for penalty in np.unique(penalties[p:]):
        alike = penalties[p:] == penalty
        shares = cdist(_columns(codes, alike), _columns(block.codes, alike), "hamming")
        sums += np.multiply(shares, penalty * alike.sum(), out=shares)
    return sums


def _columns(table: NDArray[Any], which: Any) -> Array:
    """Some columns, row after row in memory, as scipy is fastest with."""
    return np.ascontiguousarray(table[:, which], float)


def _near(sums: Array, best: Array, rule: Rule) -> NDArray[np.bool_]:
    """Who may be among the k best, whichever way rounding errors went? `best` are keys so far."""
    slack = 1 + 4 * (len(rule.penalties) + 4) * np.finfo(float).eps
    k, full = best.shape[1], ~np.isnan(best[:, -1])
    worst = np.where(full, best[:, -1], rule.limit)
    reach = (worst - full + 1 - HALF) / rule.steps if rule.steps else worst * rule.divisor
    near = sums <= slack * reach[:, None]
    if k < sums.shape[1] and np.count_nonzero(near) > SPARE * best.size:
        nearest = np.partition(sums, k, axis=1)[:, k]  # of k + 1, as one may be excluded
        step = 1 / rule.steps if rule.steps else 0.0
        near &= sums <= (slack**2 * (nearest + step))[:, None]
    return near


def _keys(asked: Points, block: Points, rows: Positions, places: Positions, rule: Rule) -> Array:
    """The keys of these pairs, added up as in the search through a tree."""
    sums, mismatch = np.zeros(len(rows)), np.zeros(len(rows))
    p = asked.shape[0]
    for j, penalty in enumerate(rule.penalties[:p]):
        apart = np.abs(block.numbers[places, j] - asked.numbers[rows, j])
        sums += np.where(np.isnan(apart), penalty, apart)
    for c, penalty in enumerate(rule.penalties[p:]):
        mine, theirs = asked.codes[rows, c], block.codes[places, c]
        mismatch += np.where((mine == theirs) & (mine >= 0), 0.0, penalty)
    sums += mismatch
    return np.floor(sums * rule.steps + HALF) if rule.steps else sums / rule.divisor


def _merge(best: Array, ranks: Positions, rows: Positions, keys: Array, new: Positions) -> None:
    """Put the new ones, who come in the order of their ranks, where they belong in their rows."""
    count, k = best.shape
    each = np.bincount(rows, minlength=count)
    places = k + np.arange(len(rows)) - np.repeat(np.cumsum(each) - each, each)  # after the best
    wide = np.full((count, k + each.max(initial=0)), np.nan)
    names = np.full(wide.shape, -1)
    wide[:, :k], names[:, :k] = best, ranks
    wide[rows, places], names[rows, places] = keys, new
    order = np.argsort(wide, axis=1, kind="stable")[:, :k]  # nobody comes last
    best[:], ranks[:] = (np.take_along_axis(both, order, axis=1) for both in (wide, names))
