"""Who is most alike? The exact k nearest neighbors of many people at once.

Candidates are ranked by their distance from the query, rounded to 1e-9, and then by their
position, so that true ties are recognized as ties and decided the same way every time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import NeighborError
from causalfairness.individuals.distances import (
    Distance,
    MixedDistance,
    Points,
    StandardizedDistance,
    Terms,
    mixed_distance,
    standardized,
)
from causalfairness.progress import track

__all__ = [
    "Distance",
    "MixedDistance",
    "Neighbors",
    "Points",
    "StandardizedDistance",
    "mixed_distance",
    "nearest_neighbors",
    "standardized",
]

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
NOBODY = -1
BLOCK = 1024  # queries that a thread takes at a time


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Who is most alike to each query, and how far away?

    `rows` are positions among the candidates, nearest first, and -1 where there are fewer than k;
    `distances` are inf there.

    >>> Neighbors(np.array([[4, -1]]), np.array([[0.1, np.inf]])).counts.tolist()
    [1]
    """

    rows: Positions  # (queries, k)
    distances: Array  # (queries, k)

    @property
    def counts(self) -> Positions:
        """How many neighbors were found for each query?"""
        return np.asarray((self.rows != NOBODY).sum(axis=1), dtype=np.int64)


def nearest_neighbors(
    candidates: Points,
    queries: Points,
    k: int,
    *,
    distance: Distance,
    exclude: Positions | None = None,
    within: float | None = None,
    workers: int = 1,
) -> Neighbors:
    """Which k candidates are nearest to each query?

    `exclude` names for each query the position of one candidate that is not its neighbor, such as
    the person itself, or -1. Nobody farther away than `within` is a neighbor. The answer does
    not depend on `workers`.

    >>> people = Points(np.array([[0.0], [1.0], [2.0], [10.0]]), np.zeros((4, 0), np.int32))
    >>> found = nearest_neighbors(
    ...     people, people, 2, distance=mixed_distance(people), exclude=np.arange(4))
    >>> found.rows.tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    >>> found.distances[0].tolist()
    [0.1, 0.2]
    """
    _check(candidates, queries, k, exclude, within, workers)
    terms = distance.terms(candidates, queries)
    excluded = np.full(len(queries), NOBODY, np.int64)
    if exclude is not None:
        excluded[:] = exclude
    reach = np.inf if within is None else float(within)
    if not terms.larger_first:
        return _search(terms, k, excluded, reach, workers)
    last = len(candidates) - 1  # those that come first in ties have to come first
    turned = replace(terms, candidates=terms.candidates.take(np.arange(last, -1, -1)))
    found = _search(turned, k, _turned(excluded, last), reach, workers)
    return replace(found, rows=_turned(found.rows, last))


def _turned(positions: Positions, last: int) -> Positions:
    return np.where(positions == NOBODY, np.int64(NOBODY), last - positions)


def _search(terms: Terms, k: int, excluded: Positions, within: float, workers: int) -> Neighbors:
    """Queries are shared between threads, which write to different rows of the answer."""
    from causalfairness.individuals.neighbor_search import Queries, rule_of, search
    from causalfairness.individuals.neighbor_tree import bits_of, tree_of

    rule = rule_of(terms, within)
    numbers, codes = _plain(terms.candidates.numbers), _plain(terms.candidates.codes)
    tree = tree_of(numbers, codes, rule.penalties)
    numbers, codes = _plain(terms.queries.numbers), _plain(terms.queries.codes)
    queries = Queries(numbers, codes, bits_of(codes), excluded)
    rows = np.full((len(numbers), k), NOBODY, np.int64)
    distances = np.full((len(numbers), k), np.inf)
    starts = range(0, len(numbers), BLOCK)
    parts = [slice(start, min(start + BLOCK, len(numbers))) for start in starts]

    def work(part: slice) -> None:
        search(tree, queries, rule, part, rows, distances)

    with ThreadPoolExecutor(max_workers=workers) as pool:
        done = pool.map(work, parts) if workers > 1 else map(work, parts)
        for _ in track(done, total=len(parts), what="finding neighbors"):
            pass
    return Neighbors(rows, distances)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """One layout for all, so that one compiled function serves all."""
    return np.require(values, requirements=("C", "W"))


def _check(
    candidates: Points,
    queries: Points,
    k: int,
    exclude: Positions | None,
    within: float | None,
    workers: int,
) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise NeighborError(f"k is how many neighbors, a whole number of at least 1; found {k!r}")
    if not candidates.features:
        raise NeighborError("there is no feature to compare people by; give at least one")
    if within is not None and not within >= 0:
        raise NeighborError(f"within is a distance of at least 0, or None; found {within!r}")
    if exclude is not None:
        _check_excluded(np.asarray(exclude), len(candidates), len(queries))
    if workers < 1:
        raise ValueError(f"workers must be 1 or more; found {workers!r}")


def _check_excluded(exclude: Positions, candidates: int, queries: int) -> None:
    if exclude.shape != (queries,) or exclude.dtype.kind not in "iu":
        raise NeighborError(
            f"exclude holds {exclude.dtype} of shape {exclude.shape}; expected the position of one "
            f"candidate, or {NOBODY}, for each of {queries} queries"
        )
    if queries and not (exclude.min() >= NOBODY and exclude.max() < candidates):
        raise NeighborError(
            f"exclude names positions from {exclude.min()} to {exclude.max()}; there are "
            f"{candidates} candidates, counted from 0, and {NOBODY} excludes nobody"
        )
