"""What situation testing finds where groups are exchanged among neighbors: by chance alone.

Everybody's group is drawn anew from among the ten people nearest to them, of both groups, so that
groups live where they live and have nothing to do with decisions otherwise. Control and test groups
around the same people are then counted as in the test itself. Where the groups are spread
differently, neighbors from one of them lie farther to one side than those from the other, and their
decisions differ though nobody asked for the group: that difference is found here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from causalfairness.individuals.distances import Array, Positions, Truths
from causalfairness.individuals.situation_evidence import TIE
from causalfairness.individuals.situation_groups import NOBODY, Neighborhood, PeerGroups

DRAWS, NEAR, SEED = 10, 10, 1


class Chance(NamedTuple):
    """What groups exchanged among neighbors give: means over draws."""

    delta: Array  # the difference for each person, (people, ks); 0 where none is known
    evidence: Array  # how many people have a difference above tau, (ks,)
    positive: Array  # and below -tau


def chance_of(place: Neighborhood, negative: Truths, ks: Sequence[int], tau: float) -> Chance:
    """Return what chance alone gives in this neighborhood.

    Parameters
    ----------
    place
        Who is tested, who they are compared with, and by which distance.
    negative
        Who got the negative decision, one per row of the data.
    ks
        Sizes of groups.
    tau
        The difference that is put up with.
    """
    drawn = np.stack([*_differences(place, negative, ks)])
    known = np.isfinite(drawn).sum(axis=0)
    return Chance(
        np.nansum(drawn, axis=0) / np.maximum(known, 1),
        (drawn > tau + TIE).sum(axis=1).mean(axis=0),
        (drawn < -tau - TIE).sum(axis=1).mean(axis=0),
    )


def _differences(place: Neighborhood, negative: Truths, ks: Sequence[int]) -> Iterator[Array]:
    """Differences of shares around each person, one array of (people, ks) per draw."""
    assert place.lots is not None
    pool = np.concatenate([place.complainants, place.others])
    pool = pool[np.argsort(place.lots[pool])]  # by what rows hold, not by where they stand
    people, everyone = place.points.take(pool), np.arange(len(pool))
    near = place.peers(people, people, pool, min(NEAR, len(pool) - 1), everyone).rows
    own = np.isin(np.arange(len(negative)), place.complainants)
    rng = np.random.default_rng(SEED)
    for _ in range(DRAWS):
        chosen = near[everyone, rng.integers(near.shape[1], size=len(pool))]
        told = own[np.where(chosen == NOBODY, pool, chosen)]
        yield np.subtract(*(_share(place, pool[told == side], negative, ks) for side in (1, 0)))


def _share(place: Neighborhood, rows: Positions, negative: Truths, ks: Sequence[int]) -> Array:
    """Shares of negative decisions among the nearest of these rows, the person left out."""
    share: Array = np.full((len(place.complainants), len(ks)), np.nan)
    if not len(rows):
        return share
    centers, k = place.points.take(place.complainants), min(max(ks) + 1, len(rows))
    found = place.peers(place.points.take(rows), centers, rows, k, None)
    oneself = found.rows == place.complainants[:, None]
    order = np.argsort(oneself, axis=1, kind="stable")  # the person last, and then nobody
    others = np.take_along_axis(np.where(oneself, NOBODY, found.rows), order, axis=1)
    groups = PeerGroups(others, found.distances)
    sizes = groups.sizes(ks)
    return np.divide(groups.count(negative, ks), sizes, out=share, where=sizes > 0)
