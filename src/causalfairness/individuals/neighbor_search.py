"""Which candidates are nearest, without looking at most of them?

Nodes of the tree are visited nearest first. A node is left out where even its bound is no better
than the worst of the k best so far: farther, or as far and of a later rank. Bounds are formed by
the same additions, in the same order, as the distances themselves; floating-point addition never
turns an order around, so that nothing is lost.

Distances are compared as keys: in steps of 1e-9, or as they are where they are not rounded.
Import this module inside functions only: it loads the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.individuals.compiling import compiled, inlined
from causalfairness.individuals.distances import Terms
from causalfairness.individuals.neighbor_tree import Tree

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
Bits = NDArray[np.uint64]
STEPS = 1e9  # steps of rounding in a unit of distance
FEW = 128  # best ones that are kept in order
HALF = 0.500002  # halves are rounded up, also those that float noise puts a little below


class Queries(NamedTuple):
    """Whose neighbors are looked for?"""

    numbers: Array  # (m, p)
    codes: Codes  # (m, q)
    bits: Bits  # (m, q) of the codes
    excluded: Positions  # (m,) a rank that is left out, or -1


class Rule(NamedTuple):
    """How is a sum over features turned into a key, and how far away may neighbors be?"""

    penalties: Array  # (p + q,)
    divisor: float
    steps: float  # of rounding in a unit of the sum; 0 where distances are not rounded
    limit: float  # the largest key of a neighbor


class Best(NamedTuple):
    """Which are the k best so far? The worst comes first. Rank n stands for nobody.

    They are sorted where they are few, and a heap where they are many.
    """

    keys: Array  # (k,)
    ranks: Positions  # (k,)


class Space(NamedTuple):
    """Which nodes are still to be visited? A stack. And how far away are the members of a leaf?"""

    nodes: Positions
    bounds: Array
    keys: Array
    mismatch: Array


def rule_of(terms: Terms, within: float) -> Rule:
    """How are these distances compared?

    >>> from causalfairness.individuals.distances import Points
    >>> one = Points(np.zeros((1, 1)), np.zeros((1, 0), np.int32))
    >>> rule_of(Terms(one, one, penalties=np.ones(1)), within=0.1).limit
    100000000.0
    """
    penalties = np.require(terms.penalties, float, ("C", "W"))
    if terms.rounded:
        steps, limit = STEPS / terms.divisor, float(np.floor(within * STEPS + HALF))
    else:
        steps, limit = 0.0, float(within)
    return Rule(penalties, float(terms.divisor), float(steps), limit)


def search(
    tree: Tree, queries: Queries, rule: Rule, part: slice, ranks: Positions, distances: Array
) -> None:
    """Which candidates are nearest to a part of the queries? Writes what is found, nearest first.

    >>> from causalfairness.individuals.neighbor_tree import tree_of
    >>> no_codes = np.zeros((2, 0), np.int32)
    >>> tree = tree_of(np.array([[0.3], [0.1]]), no_codes, np.ones(1))
    >>> ranks, distances = np.full((2, 1), -1), np.full((2, 1), np.inf)
    >>> queries = Queries(
    ...     np.array([[0.0], [1.0]]), no_codes, no_codes.astype(np.uint64), np.full(2, -1))
    >>> search(tree, queries, Rule(np.ones(1), 1.0, STEPS, np.inf), slice(0, 2), ranks, distances)
    >>> ranks.tolist(), distances.tolist()
    ([[1], [0]], [[0.1], [0.7]])
    """
    k = ranks.shape[1]
    best = Best(np.empty(k), np.empty(k, np.int64))
    levels, members = tree.depth + 1, tree.largest
    space = Space(
        np.empty(levels, np.int64), np.empty(levels), np.empty(members), np.empty(members)
    )
    _search(tree, queries, rule, part.start, part.stop, ranks, distances, best, space)


@compiled
def _search(
    tree: Tree,
    queries: Queries,
    rule: Rule,
    start: int,
    stop: int,
    ranks: Positions,
    distances: Array,
    best: Best,
    space: Space,
) -> None:
    n, k = len(tree.ranks), ranks.shape[1]
    for query in range(start, stop):
        for place in range(k):
            best.keys[place], best.ranks[place] = rule.limit, n
        _visit(tree, queries, query, rule, best, space)
        for place in range(k - 1, -1, -1):
            worst = k - 1 - place if k <= FEW else 0
            key, rank = best.keys[worst], best.ranks[worst]
            if rank < n:
                ranks[query, place] = rank
                distances[query, place] = key / STEPS if rule.steps else key
            if k > FEW:
                _put_into_heap(best, place, best.keys[place], best.ranks[place])


@inlined
def _visit(
    tree: Tree,
    queries: Queries,
    query: int,
    rule: Rule,
    best: Best,
    space: Space,
) -> None:
    """Go down wherever something better may be, to the nearer child first."""
    space.nodes[0], space.bounds[0], count = 0, 0.0, 1
    while count > 0:
        count -= 1
        at, bound = space.nodes[count], space.bounds[count]
        if not _is_better(bound, tree.firsts[at], best.keys[0], best.ranks[0]):
            continue
        if tree.children[at] == 0:
            _look(tree, at, queries, query, rule, best, space)
            continue
        near, near_bound, far, far_bound = -1, np.inf, -1, np.inf
        for child in range(tree.children[at], tree.children[at] + 2):
            bound = _bound(tree, child, queries, query, rule)
            if near < 0 or _is_better(bound, tree.firsts[child], near_bound, tree.firsts[near]):
                near, near_bound, far, far_bound = child, bound, near, near_bound
            else:
                far, far_bound = child, bound
        space.nodes[count], space.bounds[count] = far, far_bound
        space.nodes[count + 1], space.bounds[count + 1] = near, near_bound
        count += 2


@inlined
def _look(
    tree: Tree, at: int, queries: Queries, query: int, rule: Rule, best: Best, space: Space
) -> None:
    """Measure all members of a leaf, and keep those that are better than the worst so far."""
    start, end = tree.starts[at], tree.ends[at]
    _measure(tree, start, end, queries, query, rule, space)
    for i in range(end - start):
        key = space.keys[i]
        if key <= best.keys[0]:
            rank = tree.ranks[start + i]
            better = _is_better(key, rank, best.keys[0], best.ranks[0])
            if better and rank != queries.excluded[query]:
                if len(best.keys) <= FEW:
                    _put_in_order(best, key, rank)
                else:
                    _put_into_heap(best, len(best.keys), key, rank)


@inlined
def _measure(
    tree: Tree, start: int, end: int, queries: Queries, query: int, rule: Rule, space: Space
) -> None:
    """The keys of the candidates from `start` to `end`."""
    size, p, mismatch = end - start, len(tree.numbers), space.mismatch
    for i in range(size):
        space.keys[i] = mismatch[i] = 0.0
    for j in range(p):
        number, penalty = queries.numbers[query, j], rule.penalties[j]
        column = tree.numbers[j, start:end]
        for i in range(size):
            apart = abs(column[i] - number)
            space.keys[i] += penalty if np.isnan(apart) else apart
    for c in range(len(tree.codes)):
        code, penalty = queries.codes[query, c], rule.penalties[p + c]
        words = tree.codes[c, start:end]
        for i in range(size):
            mismatch[i] += 0.0 if words[i] == code and code >= 0 else penalty
    for i in range(size):
        space.keys[i] = _key(space.keys[i] + mismatch[i], rule)


@inlined
def _bound(tree: Tree, at: int, queries: Queries, query: int, rule: Rule) -> float:
    """A key that no member of the node goes below."""
    total, mismatch, p = 0.0, 0.0, len(tree.numbers)
    for j in range(p):
        number = queries.numbers[query, j]
        if np.isnan(number):
            total += rule.penalties[j]
        else:
            outside = max(tree.lows[at, j] - number, number - tree.highs[at, j], 0.0)
            total += min(outside, tree.caps[at, j])
    for c in range(len(tree.codes)):
        if tree.masks[at, c] & queries.bits[query, c] == 0:
            mismatch += rule.penalties[p + c]
    return _key(total + mismatch, rule)


@inlined
def _key(total: float, rule: Rule) -> float:
    """What are distances compared as?"""
    return np.floor(total * rule.steps + HALF) if rule.steps else total / rule.divisor


@compiled
def _is_better(key: float, rank: int, other_key: float, other_rank: int) -> bool:
    """Is this one nearer, or as near and of a lower rank?"""
    return key < other_key or (key == other_key and rank < other_rank)


@compiled
def _put_in_order(best: Best, key: float, rank: int) -> None:
    """Put this one where it belongs, in place of the worst."""
    at, after = 0, 1
    while after < len(best.keys) and _is_better(key, rank, best.keys[after], best.ranks[after]):
        best.keys[at], best.ranks[at] = best.keys[after], best.ranks[after]
        at, after = after, after + 1
    best.keys[at], best.ranks[at] = key, rank


@compiled
def _put_into_heap(best: Best, size: int, key: float, rank: int) -> None:
    """Put this one into the heap of the first `size`, in place of the worst."""
    at, child = 0, 1
    while child < size:
        other = child + 1
        if other < size and _is_better(
            best.keys[child], best.ranks[child], best.keys[other], best.ranks[other]
        ):
            child = other
        if not _is_better(key, rank, best.keys[child], best.ranks[child]):
            break
        best.keys[at], best.ranks[at] = best.keys[child], best.ranks[child]
        at, child = child, 2 * child + 1
    best.keys[at], best.ranks[at] = key, rank
