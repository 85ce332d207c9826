"""Who are a person's control group and test group? (methods §8)

    control   the k people nearest to the person among the comparison group, without themselves
    test      the k people nearest to the person, or to their counterfactual, among the
              others

One search serves all k: the groups of a smaller k are the first members of those of a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalfairness.individuals.distances import Array, Distance, Points, Positions, Truths
from causalfairness.individuals.neighbors import nearest_neighbors

NOBODY = -1
SAME = 0.5e-9  # distances are rounded to 1e-9


@dataclass(frozen=True, eq=False)
class PeerGroups:
    """Who is near each person, nearest first? Rows of the data, -1 for nobody.

    A group of k are the first `k + beyond` that are somebody.

    >>> near = PeerGroups(np.array([[4, 7, -1]]), np.array([[0.1, 0.1, np.inf]]))
    >>> near.sizes([1, 3]).tolist(), near.tied([1]).tolist()
    ([[1.0, 2.0]], [[True]])
    """

    rows: Positions  # (people, largest k, and one more where there is somebody)
    distances: Array
    beyond: int = 0

    def members(self, place: int, k: int) -> tuple[Positions, Array]:
        """Who is in the group of one person, and how far away?"""
        rows, distances = self.rows[place, : k + self.beyond], self.distances[place]
        return rows[rows != NOBODY], distances[: k + self.beyond][rows != NOBODY]

    def sizes(self, ks: Sequence[int]) -> Array:
        """How many people are in the groups? (people, ks)"""
        return self._sums(self.rows != NOBODY, ks)

    def count(self, marked: Truths, ks: Sequence[int]) -> Array:
        """How many of them are marked, by one truth per row of the data? (people, ks)"""
        return self._sums((self.rows != NOBODY) & marked[self.rows], ks)

    def tied(self, ks: Sequence[int]) -> Truths:
        """Whose group ends between people who are equally near? (people, ks)"""
        ends = [np.zeros(len(self.rows), dtype=bool) for _ in ks]
        for at, k in enumerate(ks):
            last = k + self.beyond
            if last < self.rows.shape[1]:
                pair = self.distances[:, last - 1 : last + 1]
                known = np.isfinite(pair).all(axis=1)
                ends[at][known] = np.abs(pair[known, 1] - pair[known, 0]) < SAME
        return np.stack(ends, axis=1)

    def _sums(self, marks: Truths, ks: Sequence[int]) -> Array:
        ends = [marks[:, : k + self.beyond].sum(axis=1) for k in ks]
        return np.stack(ends, axis=1).astype(float)


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Where are peers looked for, and by which distance?"""

    points: Points  # all rows of the data
    complainants: Positions
    others: Positions
    distance: Distance
    within: float | None = None
    workers: int = 1
    lots: Positions | None = (
        None  # which row comes first of those equally near; None: as they stand
    )

    def control(self, k: int) -> PeerGroups:
        """Which k others of their own group is each person most like?"""
        people = self.points.take(self.complainants)
        return self.peers(people, people, self.complainants, k + 1, np.arange(len(people)))

    def test(self, centers: Points, k: int) -> PeerGroups:
        """Which k people of the other group is each of these most like?"""
        return self.peers(self.points.take(self.others), centers, self.others, k + 1, None)

    def peers(
        self, people: Points, centers: Points, rows: Positions, k: int, exclude: Positions | None
    ) -> PeerGroups:
        """Which k of these people, who stand in these rows, is each center most like?"""
        drawn = np.arange(len(rows)) if self.lots is None else np.argsort(self.lots[rows])
        if exclude is not None:
            exclude = np.argsort(drawn)[exclude]
        near = nearest_neighbors(
            people.take(drawn),
            centers,
            k,
            distance=self.distance,
            exclude=exclude,
            within=self.within,
            workers=self.workers,
        )
        found = np.where(near.rows == NOBODY, NOBODY, rows[drawn][near.rows])
        return PeerGroups(found, near.distances)
