"""What do people alike show? Quantile forests: distributions read off the leaves of trees.

Each tree splits people by their causes; F(v | x) is the mean over trees of the share of people in
the leaf of x whose value is at most v. This is the weighting by shared leaves of Meinshausen
(2006), without the n x n matrix: every tree keeps one table, leaves times values, of counts summed
along the values. With more distinct values than the table has room for, neighboring ones share a
bin and lie evenly in it; bins are narrower towards both ends, where quantiles are hardest.

Trees are grown on at most `rows` rows each and then filled with all of them, so time grows linearly
with rows and memory hardly at all. Nothing is extrapolated: quantiles stay within what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.learner import Array

Table = NDArray[np.float32]
MOST_BINS = 128
FEWEST = 10  # rows in a leaf of a small group
BLOCK = 2**12  # rows whose distributions are held at once
LEAST_RANK = 1e-6  # below what single precision tells from 0


@dataclass(frozen=True)
class QuantileForest:
    """What do people alike show? Any shape of dependence, nothing beyond what was seen.

    `leaf` is the least number of rows in a leaf, None the square root of the rows that a tree is
    grown on. `share` is the share of causes that a split may choose from; with fewer than all,
    ranks are smoother but group means are pulled together. `rows` is the most rows that one tree is
    grown on.

    >>> rng = np.random.default_rng(0)
    >>> causes = rng.integers(0, 2, size=(2_000, 1)).astype(float)
    >>> hired = (rng.random(2_000) < 0.2 + 0.5 * causes[:, 0]).astype(float)
    >>> spread = hired + rng.random(2_000) - 0.5
    >>> edges = np.array([-0.5, 0.5, 1.5])
    >>> found = QuantileForest().fit(causes, spread, edges=edges, seed=0)
    >>> found.rank(np.array([[0.0], [1.0]]), np.array([0.5, 0.5])).round(1).tolist()
    [0.8, 0.3]
    """

    trees: int = 100
    leaf: int | None = None
    share: float = 1.0
    rows: int = 5_000

    def fit(self, causes: Array, values: Array, *, edges: Array, seed: int) -> ForestDistribution:
        """How are these values distributed given these causes?"""
        cuts = choose_cuts(edges, values)
        bins = _bins(cuts, values)
        grown_on = min(len(values), self.rows)
        leaf = self.leaf or max(FEWEST, round(grown_on**0.5))
        if not causes.shape[1] or grown_on < 2 * leaf:
            whole = _Tree(None, _table(np.zeros(len(values), np.intp), bins, len(cuts) - 1))
            return ForestDistribution(cuts, (whole,))
        seen = np.ascontiguousarray(causes, dtype=np.float32)
        grown = self._grow(seen, bins, grown_on, leaf, seed)
        return ForestDistribution(cuts, tuple(_fill(tree, seen, bins, cuts) for tree in grown))

    def _grow(
        self, causes: Any, bins: NDArray[np.intp], rows: int, leaf: int, seed: int
    ) -> list[Any]:
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(
            self.trees,
            min_samples_leaf=leaf,
            max_features=self.share,
            max_samples=rows,
            random_state=seed,
        )
        return [grown.tree_ for grown in forest.fit(causes, _scores(bins)).estimators_]


class _Tree(NamedTuple):
    """Where does a row end up, and how are the values there distributed?"""

    nodes: Any  # the splits, as scikit-learn keeps them; None for a tree that is one leaf
    below: Table  # (places, bins + 1): share of the leaf below each cut
    place: Any = None  # row of the table by number of the node

    def leaves(self, causes: Any) -> NDArray[np.intp]:
        """In which leaf does each of these rows end up?"""
        if self.nodes is None:
            return np.zeros(len(causes), dtype=np.intp)
        return np.asarray(self.place[self.nodes.apply(causes)])


@dataclass(frozen=True, eq=False)
class ForestDistribution:
    """How are values distributed among people alike?"""

    cuts: Array
    trees: tuple[_Tree, ...]

    def rank(self, causes: Array, values: Array) -> Array:
        """Which share of people alike has a lower value?"""
        seen = np.ascontiguousarray(causes, dtype=np.float32)
        at = _bins(self.cuts, values)
        low, high = np.zeros(len(values)), np.zeros(len(values))
        for tree in self.trees:
            leaf = tree.leaves(seen)
            low += tree.below[leaf, at]
            high += tree.below[leaf, at + 1]
        width = np.maximum(self.cuts[at + 1] - self.cuts[at], np.finfo(float).tiny)
        inside = (values - self.cuts[at]) / width
        return np.asarray((low + np.clip(inside, 0, 1) * (high - low)) / len(self.trees))

    def quantile(self, causes: Array, ranks: Array) -> Array:
        """Which value has this place among people alike?"""
        result = np.empty(len(ranks))
        for part in _blocks(len(ranks)):
            below = self._below(causes[part])
            asked = np.clip(ranks[part], LEAST_RANK, 1.0)[:, None]
            at = np.minimum((below[:, 1:] < asked).sum(axis=1), below.shape[1] - 2)
            low, high = (np.take_along_axis(below, (at + k)[:, None], 1) for k in (0, 1))
            inside = np.clip((asked - low) / np.maximum(high - low, LEAST_RANK), 0, 1)[:, 0]
            result[part] = self.cuts[at] + inside * (self.cuts[at + 1] - self.cuts[at])
        return result

    def _below(self, causes: Array) -> NDArray[Any]:
        """The share of people alike below each cut. (rows, bins + 1)"""
        seen = np.ascontiguousarray(causes, dtype=np.float32)
        total = np.zeros((len(seen), len(self.cuts)), dtype=np.float32)
        for tree in self.trees:
            total += tree.below[tree.leaves(seen)]
        return np.asarray(total / total[:, -1:])


def choose_cuts(edges: Array, values: Array, most: int = MOST_BINS) -> Array:
    """Where are values cut into bins? At all edges, or at some, closer together at the ends.

    A value that many rows share keeps a bin to itself. Edges may be those of other groups' values:
    the outermost bins are those of the lowest and the highest value here, and where a single row
    has it they reach no further than that row.

    >>> choose_cuts(np.arange(5.0), np.array([0.3, 0.5, 2.5])).tolist()
    [0.0, 1.0, 2.0, 2.5]
    >>> len(choose_cuts(np.arange(1_001.0), np.arange(1_000) + 0.5)) <= 129
    True
    """
    cell = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
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


def _bins(cuts: Array, values: Array) -> NDArray[np.intp]:
    return np.clip(np.searchsorted(cuts, values, side="right") - 1, 0, len(cuts) - 2)


def _scores(bins: NDArray[np.intp]) -> Array:
    """Ranks in place of values: a few extreme values should not choose all splits."""
    counts = np.bincount(bins)
    return np.asarray((np.cumsum(counts) - counts / 2)[bins] / len(bins))


def _fill(nodes: Any, causes: Any, bins: NDArray[np.intp], cuts: Array) -> _Tree:
    """All rows go down the tree; every leaf has some, since it was grown on some of them."""
    reached = nodes.apply(causes)
    numbers, leaf = np.unique(reached, return_inverse=True)
    place = np.zeros(nodes.node_count, dtype=np.intp)
    place[numbers] = np.arange(len(numbers))
    return _Tree(nodes, _table(leaf.reshape(-1), bins, len(cuts) - 1), place)


def _table(leaf: NDArray[np.intp], bins: NDArray[np.intp], width: int) -> Table:
    leaves = int(leaf.max()) + 1
    counts = np.bincount(leaf * width + bins, minlength=leaves * width).reshape(leaves, width)
    table = np.zeros((leaves, width + 1), dtype=np.float32)
    np.cumsum(counts, axis=1, out=table[:, 1:])
    return table / table[:, -1:]


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, BLOCK):
        yield slice(start, start + BLOCK)
