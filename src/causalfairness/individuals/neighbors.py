"""Who is most alike? The exact k nearest neighbors of many people at once.

Candidates are ranked by their distance from the query, rounded to 1e-9, and then by their
position, so that true ties are recognized as ties and decided the same way every time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from causalfairness.errors import NeighborError
from causalfairness.individuals.distances import (
    STEPS,
    Array,
    Distance,
    Points,
    Positions,
    Rule,
    Terms,
    rule_of,
)
from causalfairness.progress import track

NOBODY = -1
BLOCK = 512  # queries that a thread takes at a time
MANY = 10  # numbers, from which on a tree leaves out too few to be worth it

# What finds the nearest: made for terms, their rule and who is excluded, it answers a part of the
# queries, by the ranks and the keys of who is found.
Search = Callable[[Terms, Rule, Positions], Callable[[slice, Positions, Array], None]]


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
    search: Search | None = None,
) -> Neighbors:
    """Which k candidates are nearest to each query?

    `exclude` names for each query the position of one candidate that is not its neighbor, such as
    the person itself, or -1. Nobody farther away than `within` is a neighbor. The answer depends
    neither on `workers` nor on the `search`, which is `usual_search` if you do not choose.

    >>> from causalfairness.individuals import mixed_distance
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
    search = usual_search(terms) if search is None else search
    if not terms.larger_first:
        return _found(search, terms, k, excluded, reach, workers)
    last = len(candidates) - 1  # those that come first in ties have to come first
    turned = replace(terms, candidates=terms.candidates.take(np.arange(last, -1, -1)))
    found = _found(search, turned, k, _turned(excluded, last), reach, workers)
    return replace(found, rows=_turned(found.rows, last))


def _turned(positions: Positions, last: int) -> Positions:
    return np.where(positions == NOBODY, np.int64(NOBODY), last - positions)


def usual_search(terms: Terms) -> Search:
    """By which search are neighbors found? Everyone is measured where a tree would not help.

    That is from 10 numbers on, and without numba, which compiles the tree.
    """
    if terms.candidates.shape[0] >= MANY or find_spec("numba") is None:
        from causalfairness.individuals.neighbor_blocks import by_blocks

        return by_blocks
    from causalfairness.individuals.neighbor_search import by_tree

    return by_tree


def _found(
    search: Search, terms: Terms, k: int, excluded: Positions, within: float, workers: int
) -> Neighbors:
    """Queries are shared between threads, which write to different rows of the answer."""
    count = len(terms.queries)
    rows, keys = np.full((count, k), NOBODY, np.int64), np.full((count, k), np.inf)
    answer = search(terms, rule_of(terms, within), excluded)
    parts = [slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]

    def work(part: slice) -> None:
        answer(part, rows, keys)

    with ThreadPoolExecutor(max_workers=workers) as pool:
        done = pool.map(work, parts) if workers > 1 else map(work, parts)
        for _ in track(done, total=len(parts), what="finding neighbors"):
            pass
    return Neighbors(rows, keys / STEPS if terms.rounded else keys)


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
