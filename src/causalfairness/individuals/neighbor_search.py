"""Which candidates are nearest, without looking at most of them?

Nodes of the tree are visited nearest first. A node is left out where even its bound is no better
than the worst of the k best so far: farther, or as far and of a later rank. Bounds are formed by
the same additions, in the same order, as the distances themselves; floating-point addition never
turns an order around, so that nothing is lost.

Import this module inside functions only: it loads the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.individuals.compiling import compiled, inlined
from causalfairness.individuals.distances import HALF, Array, Codes, Positions, Rule, Terms
from causalfairness.individuals.neighbor_tree import Bits, Tree, bits_of, tree_of


class Queries(NamedTuple):
    """Whose neighbors are looked for?"""

    numbers: Array  # (m, p)
    codes: Codes  # (m, q)
    bits: Bits  # (m, q) of the codes
    excluded: Positions  # (m,) a rank that is left out, or -1


class Best(NamedTuple):
    """Which are the k best so far, in order? Rank n stands for nobody."""

    keys: Array  # (k,)
    ranks: Positions  # (k,)


class Space(NamedTuple):
    """Which nodes are still to be visited? A stack. And how far away are the members of a leaf?"""

    nodes: Positions
    bounds: Array
    keys: Array
    mismatch: Array


def by_tree(
    terms: Terms, rule: Rule, excluded: Positions
) -> Callable[[slice, Positions, Array], None]:
    """Which candidates are nearest? What is returned answers a part of the queries.

    >>> from causalfairness.individuals.distances import Points, rule_of
    >>> people = Points(np.array([[0.3], [0.1]]), np.zeros((2, 0), np.int32))
    >>> terms = Terms(people, people, penalties=np.ones(1))
    >>> ranks, keys = np.full((2, 1), -1), np.full((2, 1), np.inf)
    >>> by_tree(terms, rule_of(terms, np.inf), np.arange(2))(slice(0, 2), ranks, keys)
    >>> ranks.tolist(), keys.tolist()
    ([[1], [0]], [[200000000.0], [200000000.0]])
    """
    tree = tree_of(_plain(terms.candidates.numbers), _plain(terms.candidates.codes), rule.penalties)
    codes = _plain(terms.queries.codes)
    queries = Queries(_plain(terms.queries.numbers), codes, bits_of(codes), excluded)
    levels, members, n = tree.depth + 1, tree.largest, len(tree.ranks)

    def answer(part: slice, ranks: Positions, keys: Array) -> None:
        space = Space(
            np.empty(levels, np.int64), np.empty(levels), np.empty(members), np.empty(members)
        )
        keys[part], ranks[part] = rule.limit, n
        _search(tree, queries, rule, part.start, part.stop, ranks, keys, space)
        nobody = ranks[part] == n
        keys[part][nobody], ranks[part][nobody] = np.inf, -1

    return answer


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """One layout for all, so that one compiled function serves all."""
    return np.require(values, requirements=("C", "W"))


@compiled
def _search(
    tree: Tree,
    queries: Queries,
    rule: Rule,
    start: int,
    stop: int,
    ranks: Positions,
    keys: Array,
    space: Space,
) -> None:
    for query in range(start, stop):
        _visit(tree, queries, query, rule, Best(keys[query], ranks[query]), space)


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
        if not _is_better(bound, tree.firsts[at], best.keys[-1], best.ranks[-1]):
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
        if key <= best.keys[-1]:
            rank = tree.ranks[start + i]
            better = _is_better(key, rank, best.keys[-1], best.ranks[-1])
            if better and rank != queries.excluded[query]:
                _put_in_order(best, key, rank)


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
    """Put this one where it belongs; the worst goes."""
    at = len(best.keys) - 1
    while at > 0 and _is_better(key, rank, best.keys[at - 1], best.ranks[at - 1]):
        best.keys[at], best.ranks[at] = best.keys[at - 1], best.ranks[at - 1]
        at -= 1
    best.keys[at], best.ranks[at] = key, rank
