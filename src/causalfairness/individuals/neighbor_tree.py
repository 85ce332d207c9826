"""Which candidates lie close together? A tree of boxes, whose leaves hold few candidates each.

A node is split near the median of the feature by which its members are farthest apart, in units
of the distance. For each node the tree knows the range of every number and which categories there
are, so that no member can be nearer than a bound that is cheap to find. Candidates come in the
order of their ranks, which decide ties; within a leaf they stay in that order.

Import this module inside functions only: it loads the compiler.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.individuals.compiling import compiled, inlined
from causalfairness.individuals.distances import Array, Codes, Positions

Bits = NDArray[np.uint64]
LEAF = 64  # at most so many candidates are looked at one by one
SAMPLE = 63  # values that a median is taken of
ALIKE = -1  # no feature tells the members of a node apart


class Nodes(NamedTuple):
    """Which places belong to each node, from start to end, and which are its children?

    The second child follows the first, which is 0 for a leaf. Children come after their parents.
    """

    starts: Positions
    ends: Positions
    firsts: Positions  # the first rank among the members
    children: Positions


class Boxes(NamedTuple):
    """Between which numbers are the members of each node, and which categories are there?

    A missing number is never farther than its penalty, which caps the distance of its node.
    """

    lows: Array  # (nodes, p)
    highs: Array
    caps: Array  # inf where no number is missing
    masks: Bits  # (nodes, q) a bit for each category, shared by those 64 apart


class Tree(NamedTuple):
    """Which candidates are in which node? They lie leaf by leaf, one row for each feature."""

    ranks: Positions  # (n,) of the candidate at each place
    numbers: Array  # (p, n)
    codes: Codes  # (q, n)
    starts: Positions  # this and the next three as in Nodes
    ends: Positions
    firsts: Positions
    children: Positions
    lows: Array  # this and the next three as in Boxes
    highs: Array
    caps: Array
    masks: Bits
    depth: int  # levels of nodes
    largest: int  # members of a leaf


def tree_of(numbers: Array, codes: Codes, penalties: Array) -> Tree:
    """How are these candidates best laid out? Penalties are those of `Terms`.

    >>> tree = tree_of(np.array([[0.3], [0.1]]), np.zeros((2, 0), np.int32), np.ones(1))
    >>> tree.ranks.tolist(), tree.lows.tolist(), tree.highs.tolist()
    ([0, 1], [[0.1]], [[0.3]])
    """
    n = len(numbers)
    ranks = np.arange(n, dtype=np.int64)
    room = Nodes(*(np.empty(2 * n + 1, np.int64) for _ in Nodes._fields))
    count, depth = _grow(numbers, codes, penalties, ranks, room)
    nodes = Nodes(*(column[:count].copy() for column in room))
    columns, words = _columns(numbers, ranks), _columns(codes, ranks)
    boxes = _boxes(columns, words, penalties, nodes)
    largest = int((nodes.ends - nodes.starts)[nodes.children == 0].max())
    return Tree(ranks, columns, words, *nodes, *boxes, depth, largest)


def bits_of(codes: Codes) -> Bits:
    """Which bit stands for each category? None for a missing one.

    >>> bits_of(np.array([[0, 3, -1]])).tolist()
    [[1, 8, 0]]
    """
    bits = np.left_shift(np.uint64(1), (codes & 63).astype(np.uint64))
    bits[codes < 0] = 0
    return bits


def _columns(table: NDArray[Any], order: Positions) -> NDArray[Any]:
    """Rows in this order, laid out column by column."""
    found = np.empty(table.shape[::-1], dtype=table.dtype)
    for column, values in zip(found, table.T, strict=True):
        column[:] = values[order]
    return found


def _boxes(columns: Array, words: Codes, penalties: Array, nodes: Nodes) -> Boxes:
    leaves = np.sort(nodes.starts[nodes.children == 0])
    edges = np.searchsorted(leaves, np.stack([nodes.starts, nodes.ends], axis=1)).ravel()

    def over(reduce: np.ufunc, values: NDArray[Any], neutral: float) -> NDArray[Any]:
        """What all members of a node come to, leaf by leaf; `neutral` where there are none."""
        last = values.dtype.type(neutral)
        found = reduce.reduceat(np.append(values, last), leaves)
        return np.asarray(reduce.reduceat(np.append(found, last), edges)[::2])

    lows, highs, caps = (np.empty((len(nodes.starts), len(columns))) for _ in range(3))
    for j, column in enumerate(columns):
        gaps = np.isnan(column)
        lows[:, j] = over(np.minimum, np.where(gaps, np.inf, column), np.inf)
        highs[:, j] = over(np.maximum, np.where(gaps, -np.inf, column), -np.inf)
        caps[:, j] = np.where(over(np.logical_or, gaps, False), penalties[j], np.inf)
    masks = np.empty((len(nodes.starts), len(words)), np.uint64)
    for c, codes in enumerate(words):
        masks[:, c] = over(np.bitwise_or, bits_of(codes), 0)
    return Boxes(lows, highs, caps, masks)


@compiled
def _grow(
    numbers: Array, codes: Codes, penalties: Array, ranks: Positions, nodes: Nodes
) -> tuple[int, int]:
    """Split until leaves are small, level by level. How many nodes, on how many levels?"""
    nodes.starts[0], nodes.ends[0], nodes.firsts[0] = 0, len(ranks), 0
    at, count, depth, level = 0, 1, 1, 1  # the next level begins at `level`
    while at < count:
        if at == level:
            depth, level = depth + 1, count
        start, end = nodes.starts[at], nodes.ends[at]
        nodes.children[at] = 0
        if end - start > LEAF:
            middle = start + _split(numbers, codes, penalties, ranks[start:end])
            nodes.children[at] = count
            nodes.starts[count], nodes.ends[count] = start, middle
            nodes.firsts[count] = ranks[start]
            nodes.starts[count + 1], nodes.ends[count + 1] = middle, end
            nodes.firsts[count + 1] = ranks[middle]
            count += 2
        at += 1
    return count, depth


@inlined
def _split(numbers: Array, codes: Codes, penalties: Array, members: Positions) -> int:
    """Move some members to the front. How many? Those of lower rank, where all are alike."""
    front, p = len(members) // 2, numbers.shape[1]
    feature = _widest(numbers, codes, penalties, members)
    if feature != ALIKE:
        values = np.empty(len(members))
        for i in range(len(members)):
            if feature < p:
                number = numbers[members[i], feature]
                values[i] = np.inf if np.isnan(number) else number
            else:
                values[i] = codes[members[i], feature - p]
        front = _divide(members, values)
    return front


@inlined
def _widest(numbers: Array, codes: Codes, penalties: Array, members: Positions) -> int:
    """Which feature tells these members best apart?"""
    best, widest, p = ALIKE, 0.0, numbers.shape[1]
    for j in range(p):
        low, high, missing = np.inf, -np.inf, 0
        for member in members:
            number = numbers[member, j]
            if np.isnan(number):
                missing += 1
            else:
                low, high = min(low, number), max(high, number)
        width = high - low if missing < len(members) else 0.0
        if 0 < missing < len(members):
            width = max(width, penalties[j])
        if width > widest:
            best, widest = j, width
    for c in range(codes.shape[1]):
        differing = 0
        for member in members:
            differing += codes[member, c] != codes[members[0], c]
        if differing > 0 and penalties[p + c] > widest:
            best, widest = p + c, penalties[p + c]
    return best


@inlined
def _divide(members: Positions, values: Array) -> int:
    """Move members of small values to the front, both parts in order of rank. How many?"""
    few = np.sort(values[:: len(values) // SAMPLE + 1])
    middle = few[len(few) // 2]
    below, not_above = 0, 0
    for value in values:
        below += value < middle
        not_above += value <= middle
    with_equal = below == 0 or not_above < len(values) - below  # more even, and nobody is alone
    left, right = 0, not_above if with_equal else below
    front, before = right, members.copy()
    for i in range(len(values)):
        if values[i] < middle or (with_equal and values[i] == middle):
            members[left] = before[i]
            left += 1
        else:
            members[right] = before[i]
            right += 1
    return front
