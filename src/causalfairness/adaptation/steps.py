"""Which values can a column take, and how are ties between them broken?

Every value that was seen owns a cell, up to halfway to its neighbors. A value that many rows may
share is a *step*: labels, whole numbers however they are stored, and any number seen twice. The
rows that share a step are spread evenly over its cell, at random; and whatever comes to lie in the
cell of a step becomes that value again. Numbers that are not steps are left as they are.

Labels have no scale of their own: ranked ones take the places 0, 1, 2, ... in their order, others
in the order of the mean outcome among people who have them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.learner import Array
from causalfairness.scm.domain import Domain


@dataclass(frozen=True, eq=False)
class Steps:
    """Which values were seen, and which of them do several rows share?

    >>> steps = steps_of(Domain("n", whole=True), np.array([0.0, 1.0, 1.0, 4.0]))
    >>> steps.edges.tolist()
    [-0.5, 0.5, 2.5, 5.5]
    >>> steps.settle(np.array([0.2, 2.4, 9.0])).tolist()
    [0.0, 1.0, 4.0]
    """

    seen: Array  # distinct values, in increasing order; places of labels
    is_step: NDArray[np.bool_]
    edges: Array  # ends of the cells, one more than values
    order: NDArray[np.intp]  # which label has each place; empty for numbers

    def spread(self, values: Array, luck: Array) -> Array:
        """Where do rows lie if those that share a step are spread over its cell?

        A number that was not seen in fitting stays where it is.
        """
        placed = values
        if len(self.order):  # labels stand at their place in the order
            placed = np.argsort(self.order)[values.astype(np.intp)].astype(np.float64)
        at = np.minimum(np.searchsorted(self.seen, placed), len(self.seen) - 1)
        shared = self.is_step[at] & (self.seen[at] == placed)
        inside = self.edges[at] + luck * (self.edges[at + 1] - self.edges[at])
        return np.where(shared, inside, placed)

    def settle(self, spread: Array) -> Array:
        """Which values are meant? A place in the cell of a step is that step."""
        cell = cells(self.edges, spread)
        values = np.where(self.is_step[cell], self.seen[cell], spread)
        return values if not len(self.order) else self.order[cell].astype(np.float64)


def steps_of(domain: Domain, values: Array, outcome: Array | None = None) -> Steps:
    """Which values does this column take? `outcome` orders labels that have no order.

    >>> job = Domain("job", labels=("clerk", "nurse", "smith"))
    >>> paid = np.array([3.0, 1.0, 2.0])
    >>> steps_of(job, np.array([0.0, 1.0, 2.0]), paid).order.tolist()  # nurse, smith, clerk
    [1, 2, 0]
    """
    if domain.labels:
        order = _order(len(domain.labels), values, None if domain.ranked else outcome)
        seen = np.arange(len(domain.labels), dtype=np.float64)
        return Steps(seen, np.ones(len(seen), dtype=bool), _edges(seen), order)
    seen, counts = np.unique(values, return_counts=True)
    is_step = np.full(len(seen), True) if domain.whole else counts > 1
    return Steps(seen, is_step, _edges(seen), np.empty(0, dtype=np.intp))


def choose_cuts(edges: Array, values: Array, most: int) -> Array:
    """Where are values cut into bins? At all edges, or at some, closer together at the ends.

    A value that many rows share keeps a bin to itself. Edges may be those of other groups' values:
    the outermost bins are those of the lowest and the highest value here, and where a single row
    has it they reach no further than that row.

    >>> choose_cuts(np.arange(5.0), np.array([0.3, 0.5, 2.5]), 128).tolist()
    [0.0, 1.0, 2.0, 2.5]
    >>> len(choose_cuts(np.arange(1_001.0), np.arange(1_000) + 0.5, 128)) <= 129
    True
    """
    cell = cells(edges, values)
    rows = np.bincount(cell)
    at = np.arange(len(edges))
    if len(edges) > most + 1:
        shares = (1 - np.cos(np.pi * np.arange(1, most) / most)) / 2
        wanted = np.searchsorted(edges, np.quantile(values, shares))
        heavy = np.flatnonzero(rows >= len(values) / most)
        at = np.unique(np.concatenate([wanted, heavy, heavy + 1]))
    first, last = cell.min(), cell.max()
    low = values.min() if rows[first] == 1 else edges[first]
    high = values.max() if rows[last] == 1 else edges[last + 1]
    return np.concatenate([[low], edges[at[(at > first) & (at <= last)]], [high]])


def cells(edges: Array, values: Array) -> NDArray[np.intp]:
    """Between which two edges does each value lie? Beyond the outermost: in the last cell there.

    >>> cells(np.array([0.0, 1.0, 2.0]), np.array([-3.0, 0.5, 1.0, 9.0])).tolist()
    [0, 0, 1, 1]
    """
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)


def _order(labels: int, values: Array, outcome: Array | None) -> NDArray[np.intp]:
    """The labels from the lowest mean outcome to the highest; ties as they came."""
    if outcome is None:
        return np.arange(labels)
    codes = values.astype(np.intp)
    counts = np.bincount(codes, minlength=labels)
    sums = np.bincount(codes, weights=outcome, minlength=labels)
    return np.argsort(sums / np.maximum(counts, 1), kind="stable")


def _edges(seen: Array) -> Array:
    if len(seen) == 1:
        return np.array([seen[0] - 0.5, seen[0] + 0.5])
    between = (seen[1:] + seen[:-1]) / 2
    return np.concatenate([[2 * seen[0] - between[0]], between, [2 * seen[-1] - between[-1]]])
