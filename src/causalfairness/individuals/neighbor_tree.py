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

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Positions = NDArray[np.int64]
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
    """Between which numbers are the members of each node? (nodes, p)

    A missing number is never farther than its penalty, which caps the distance of its node.
    """

    lows: Array
    highs: Array
    caps: Array  # inf where no number is missing


class Tree(NamedTuple):
    """Which candidates are in which node? They lie leaf by leaf, one row for each feature."""

    ranks: Positions  # (n,) of the candidate at each place
    numbers: Array  # (p, n)
    codes: Codes  # (q, n)
    starts: Positions  # this and the next three as in Nodes
    ends: Positions
    firsts: Positions
    children: Positions
    lows: Array  # this and the next two as in Boxes
    highs: Array
    caps: Array
    masks: Bits  # (nodes, q) a bit for each category, shared by those 64 apart
    depth: int  # levels of nodes
    largest: int  # members of a leaf


class Space(NamedTuple):
    """Where are members written to while they are sorted?"""

    members: Positions
    values: Array
    sample: Array


def tree_of(numbers: Array, codes: Codes, penalties: Array) -> Tree:
    """How are these candidates best laid out? Penalties are those of `Terms`.

    >>> tree = tree_of(np.array([[0.3], [0.1]]), np.zeros((2, 0), np.int32), np.ones(1))
    >>> tree.ranks.tolist(), tree.lows.tolist(), tree.highs.tolist()
    ([0, 1], [[0.1]], [[0.3]])
    """
    n = len(numbers)
    ranks = np.arange(n, dtype=np.int64)
    space = Space(np.empty(n, np.int64), np.empty(n), np.empty(SAMPLE))
    room = Nodes(*(np.empty(2 * n + 1, np.int64) for _ in Nodes._fields))
    count, depth = _grow(numbers, codes, penalties, ranks, room, space)
    nodes = Nodes(*(column[:count].copy() for column in room))
    columns, words = _columns(numbers, ranks), _columns(codes, ranks)
    boxes = Boxes(*(np.empty((count, len(columns))) for _ in Boxes._fields))
    _enclose(columns, penalties, nodes, boxes)
    masks = np.zeros((count, len(words)), np.uint64)
    _mark(words, nodes, masks)
    largest = int((nodes.ends - nodes.starts)[nodes.children == 0].max())
    return Tree(ranks, columns, words, *nodes, *boxes, masks, depth, largest)


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


@compiled
def _grow(
    numbers: Array, codes: Codes, penalties: Array, ranks: Positions, nodes: Nodes, space: Space
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
            middle = start + _split(numbers, codes, penalties, ranks[start:end], space)
            nodes.children[at] = count
            nodes.starts[count], nodes.ends[count] = start, middle
            nodes.firsts[count] = ranks[start]
            nodes.starts[count + 1], nodes.ends[count + 1] = middle, end
            nodes.firsts[count + 1] = ranks[middle]
            count += 2
        at += 1
    return count, depth


@inlined
def _split(numbers: Array, codes: Codes, penalties: Array, members: Positions, space: Space) -> int:
    """Move some members to the front. How many? Those of lower rank, where all are alike."""
    front, p = len(members) // 2, numbers.shape[1]
    feature = _widest(numbers, codes, penalties, members)
    if feature != ALIKE:
        for i in range(len(members)):
            if feature < p:
                number = numbers[members[i], feature]
                space.values[i] = np.inf if np.isnan(number) else number
            else:
                space.values[i] = codes[members[i], feature - p]
        front = _divide(members, space)
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
def _divide(members: Positions, space: Space) -> int:
    """Move members of small values to the front, both parts in order of rank. How many?"""
    n, values = len(members), space.values
    middle = _middle(values, n, space.sample)
    below, not_above = 0, 0
    for i in range(n):
        below += values[i] < middle
        not_above += values[i] <= middle
    with_equal = below == 0 or not_above < n - below  # the more even way, and nobody is alone
    front = not_above if with_equal else below
    left, right = 0, front
    for i in range(n):
        if values[i] < middle or (with_equal and values[i] == middle):
            space.members[left] = members[i]
            left += 1
        else:
            space.members[right] = members[i]
            right += 1
    for i in range(n):
        members[i] = space.members[i]
    return front


@inlined
def _middle(values: Array, n: int, sample: Array) -> float:
    """The median of a few of the first n values."""
    size = min(n, SAMPLE)
    for i in range(size):
        value, place = values[i * n // size], i
        while place > 0 and sample[place - 1] > value:
            sample[place] = sample[place - 1]
            place -= 1
        sample[place] = value
    middle: float = sample[size // 2]
    return middle


@compiled
def _enclose(numbers: Array, penalties: Array, nodes: Nodes, boxes: Boxes) -> None:
    """Leaves look at their members, other nodes at their children."""
    for at in range(len(nodes.starts) - 1, -1, -1):
        child = nodes.children[at]
        for j in range(len(numbers)):
            low, high, cap = np.inf, -np.inf, np.inf
            if child:
                low = min(boxes.lows[child, j], boxes.lows[child + 1, j])
                high = max(boxes.highs[child, j], boxes.highs[child + 1, j])
                cap = min(boxes.caps[child, j], boxes.caps[child + 1, j])
            else:
                for i in range(nodes.starts[at], nodes.ends[at]):
                    number = numbers[j, i]
                    if np.isnan(number):
                        cap = penalties[j]
                    else:
                        low, high = min(low, number), max(high, number)
            boxes.lows[at, j], boxes.highs[at, j], boxes.caps[at, j] = low, high, cap


@compiled
def _mark(codes: Codes, nodes: Nodes, masks: Bits) -> None:
    """Which categories are there in each node?"""
    for at in range(len(masks) - 1, -1, -1):
        child = nodes.children[at]
        for c in range(len(codes)):
            if child:
                masks[at, c] = masks[child, c] | masks[child + 1, c]
            else:
                for i in range(nodes.starts[at], nodes.ends[at]):
                    if codes[c, i] >= 0:
                        masks[at, c] |= np.uint64(1) << np.uint64(codes[c, i] & 63)
