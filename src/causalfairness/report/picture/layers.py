"""Where does each column of a graph stand? In layers: every arrow leads to a later one.

A column's layer is the length of the longest way that leads to it. A line that passes a layer keeps
a lane free there, so that no line runs through a box. Within layers, things are ordered such that
few lines cross, and stand as near to their neighbors as the order allows. Layers are columns of the
picture, from left to right, or rows from top to bottom: *along* is the direction of the arrows,
*across* the other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from causalfairness.graph import CausalGraph
from causalfairness.report.picture.parts import Curve, Point, straight

Key = str | tuple[str, str, bool, int]  # a column, or the lane of a link (one, other, hidden)
Tie = tuple[str, str, bool]
BETWEEN, LANE, BESIDE = 56.0, 8.0, 16.0  # layers; width of a lane; boxes of a layer
PORT = 10.0  # between the ends of two lines on the side of a box
SWEEPS = 12
BEND = 0.3  # of its length, by which a line between two boxes of a layer bends


@dataclass(frozen=True, eq=False)
class Layers:
    """Where do the columns of a graph stand, if a box is so large, along and across?

    `first` says who comes first within a layer where it makes no difference to the lines.

    >>> graph = CausalGraph.parse("a -> b -> c; a -> c")
    >>> layers = Layers(graph, dict.fromkeys("abc", (60.0, 30.0)), dict.fromkeys("abc", 0))
    >>> layers.layer, round(layers.spot("b").y - layers.spot("a").y) != 0
    ({'a': 0, 'b': 1, 'c': 2}, True)
    """

    graph: CausalGraph
    sizes: Mapping[str, tuple[float, float]]
    first: Mapping[str, int]
    downwards: bool = False
    margin: float = 14.0

    @cached_property
    def layer(self) -> dict[str, int]:
        """In which layer is each column?"""
        found: dict[str, int] = {}
        for node in self.graph.topological_order():
            found[node] = max((found[cause] + 1 for cause in self.graph.parents(node)), default=0)
        return found

    @cached_property
    def ties(self) -> list[Tie]:
        """Which lines are drawn? From the earlier layer to the later one."""
        arrows = [(one, other, False) for one, other in self.graph.arrows]
        hidden = [
            (one, other, True) if self.layer[one] <= self.layer[other] else (other, one, True)
            for one, other in self.graph.hidden
        ]
        return arrows + hidden

    @cached_property
    def order(self) -> list[list[Key]]:
        """Who stands beside whom in each layer? The best of several sweeps."""
        order = self._at_first()
        best, fewest = order, self._crossings(order)
        for sweep in range(SWEEPS):
            order = self._swept(order, backwards=sweep % 2 == 1)
            crossings = self._crossings(order)
            if crossings < fewest:
                best, fewest = order, crossings
        return best

    @cached_property
    def across(self) -> dict[Key, float]:
        """How far from the edge of the picture does each column and lane stand, across?"""
        from scipy.optimize import isotonic_regression

        place: dict[Key, float] = {}
        apart = [self._apart(layer) for layer in self.order]
        for layer, offsets in zip(self.order, apart, strict=True):
            place |= dict(zip(layer, offsets - offsets[-1] / 2, strict=True))
        for _ in range(SWEEPS):
            for layer, offsets in zip(self.order, apart, strict=True):
                wanted = [self._wanted(key, place) for key in layer]
                found = isotonic_regression(np.array(wanted) - offsets).x + offsets
                place |= dict(zip(layer, found.tolist(), strict=True))
        edge = min(at - self._width(key) / 2 for key, at in place.items())
        return {key: at - edge + self.margin for key, at in place.items()}

    @cached_property
    def begins(self) -> list[float]:
        """Where does each layer begin, along? After the last one, where the picture ends."""
        bends = [self._bend(tie) for tie in self._within if self.layer[tie[0]] == 0]
        begins = [self.margin + max(bends, default=0.0)]
        for at in range(len(self.order)):
            begins.append(begins[-1] + self._thickness(at) + BETWEEN)
        return begins

    @property
    def extent(self) -> Point:
        """How large is the picture, x and y?"""
        along = self.begins[-1] - BETWEEN + self.margin
        across = max(at + self._width(key) / 2 for key, at in self.across.items()) + self.margin
        return self._point(along, across)

    def spot(self, node: str) -> Point:
        """Where is the middle of a box?"""
        at = self.layer[node]
        return self._point(self.begins[at] + self._thickness(at) / 2, self.across[node])

    def size(self, node: str) -> Point:
        """How wide and high is a box? The boxes of a layer are alike along."""
        return self._point(self._thickness(self.layer[node]), self._width(node))

    def line(self, tie: Tie) -> tuple[Point, tuple[Curve, ...]]:
        """How does the line of a tie run? Where it starts, and its curves."""
        one, other, _ = tie
        if tie in self._within:
            return self._bent(tie)
        at = self.begins[self.layer[one]] + self._thickness(self.layer[one])
        across = self._port(one, "out", tie)
        start, curves = self._point(at, across), []
        for nth, key in enumerate(self._chain(tie)[1:], self.layer[one] + 1):
            begin, end = self.begins[nth], self.begins[nth] + self._thickness(nth)
            to = self._port(other, "in", tie) if key == other else self.across[key]
            middle = (at + begin) / 2
            passed = self._point(begin, to)
            curves.append(Curve(self._point(middle, across), self._point(middle, to), passed))
            if key != other:
                curves.append(straight(passed, self._point(end, to)))
            at, across = end, to
        return start, tuple(curves)

    def _bent(self, tie: Tie) -> tuple[Point, tuple[Curve, ...]]:
        """A line between two boxes of a layer bends into the space before it."""
        one, other, _ = tie
        begin, reach = self.begins[self.layer[one]], self._bend(tie) / 0.75
        start, end = self._port(one, "in", tie), self._port(other, "in", tie)
        curve = Curve(
            self._point(begin - reach, start),
            self._point(begin - reach, end),
            self._point(begin, end),
        )
        return self._point(begin, start), (curve,)

    def _bend(self, tie: Tie) -> float:
        return min(14.0 + BEND * abs(self.across[tie[0]] - self.across[tie[1]]), BETWEEN - 18.0)

    @cached_property
    def _within(self) -> list[Tie]:
        return [tie for tie in self.ties if self.layer[tie[0]] == self.layer[tie[1]]]

    def _chain(self, tie: Tie) -> list[Key]:
        """The boxes at both ends of a line, and its lanes between them."""
        one, other, hidden = tie
        lanes = range(self.layer[one] + 1, self.layer[other])
        return [one, *((one, other, hidden, at) for at in lanes), other]

    @cached_property
    def _steps(self) -> list[list[tuple[Key, Key]]]:
        """The pieces of lines between each layer and the next."""
        steps: list[list[tuple[Key, Key]]] = [[] for _ in range(max(self.layer.values()) + 1)]
        for tie in self.ties:
            if tie not in self._within:
                for at, step in enumerate(pairwise(self._chain(tie)), self.layer[tie[0]]):
                    steps[at].append(step)
        return steps

    @cached_property
    def _neighbors(self) -> dict[Key, tuple[list[Key], list[Key]]]:
        """What each column and lane is tied to, in the layer before it and in the next."""
        found: dict[Key, tuple[list[Key], list[Key]]] = {node: ([], []) for node in self.layer}
        for steps in self._steps:
            for one, other in steps:
                found.setdefault(one, ([], []))[1].append(other)
                found.setdefault(other, ([], []))[0].append(one)
        return found

    def _at_first(self) -> list[list[Key]]:
        layers: list[list[Key]] = [[] for _ in range(max(self.layer.values()) + 1)]
        for node in self.graph.nodes:
            layers[self.layer[node]].append(node)
        for tie in self.ties:
            for at, key in enumerate(self._chain(tie)[1:-1], self.layer[tie[0]] + 1):
                layers[at].append(key)
        return [sorted(layer, key=self._rank) for layer in layers]

    def _rank(self, key: Key) -> float:
        return self.first[key] if isinstance(key, str) else self.first[key[0]] + 0.5

    def _swept(self, order: list[list[Key]], *, backwards: bool) -> list[list[Key]]:
        """Each layer by the mean place of what it is tied to in the layer before (or after)."""
        swept = [list(layer) for layer in order]
        side = 1 if backwards else 0
        turns = range(len(swept) - 2, -1, -1) if backwards else range(1, len(swept))
        for at in turns:
            near = {key: place for place, key in enumerate(swept[at + 1 if backwards else at - 1])}
            own = {key: place for place, key in enumerate(swept[at])}
            wanted = {
                key: float(np.mean([near[other] for other in self._neighbors[key][side]]))
                if self._neighbors[key][side]
                else float(own[key])
                for key in swept[at]
            }
            swept[at].sort(key=wanted.__getitem__)
        return swept

    def _crossings(self, order: Sequence[Sequence[Key]]) -> int:
        place = {key: at for layer in order for at, key in enumerate(layer)}
        return sum(
            (place[a] - place[c]) * (place[b] - place[d]) < 0
            for steps in self._steps
            for (a, b), (c, d) in combinations(steps, 2)
        )

    def _apart(self, layer: Sequence[Key]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        gaps = [
            (self._width(one) + self._width(other)) / 2
            + (BESIDE if isinstance(one, str) and isinstance(other, str) else LANE)
            for one, other in pairwise(layer)
        ]
        return np.cumsum([0.0, *gaps])

    def _wanted(self, key: Key, place: Mapping[Key, float]) -> float:
        before, after = self._neighbors[key]
        near = [place[other] for other in (*before, *after)]
        return float(np.mean(near)) if near else place[key]

    def _thickness(self, at: int) -> float:
        return max(self.sizes[key][0] for key in self.order[at] if isinstance(key, str))

    def _width(self, key: Key) -> float:
        """How much room does it take across? A box has room for the ends of all its lines."""
        if not isinstance(key, str):
            return LANE
        most = max(len(self._at(key, side)) for side in ("in", "out"))
        return max(self.sizes[key][1], PORT * (most + 1))

    def _at(self, node: str, side: str) -> list[Tie]:
        """Which lines end on this side of a box?"""
        if side == "out":
            return [tie for tie in self.ties if tie[0] == node and tie not in self._within]
        inside = [tie for tie in self._within if node in tie[:2]]
        return inside + [tie for tie in self.ties if tie[1] == node and tie not in self._within]

    def _port(self, node: str, side: str, tie: Tie) -> float:
        """Where on the side of a box does a line end? In the order of where they come from.

        Lines to boxes of the same layer lie around these, the farther ones around the nearer.
        """

        def origin(each: Tie) -> tuple[int, float]:
            if each in self._within:
                there = self.across[each[1] if each[0] == node else each[0]]
                return (0 if there < self.across[node] else 2), -there
            chain = self._chain(each)
            return 1, self.across[chain[1] if side == "out" else chain[-2]]

        ends = sorted(self._at(node, side), key=origin)
        return self.across[node] + PORT * (ends.index(tie) - (len(ends) - 1) / 2)

    def _point(self, along: float, across: float) -> Point:
        return Point(across, along) if self.downwards else Point(along, across)
