"""What is true where something is hidden? Small worlds with a planted confounder U, in closed form.

Everything is a table of probabilities P[c, u, a, m, y], so that effects, biases and the shares of
methods §12 are sums, written here without the library's own code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pyarrow as pa

import causalfairness as cf

KINDS = {"A-M": "am", "M-Y": "my", "A-Y": "ay"}
SEEN = cf.StandardFairnessModel(
    protected="a", reference=0, comparison=1, confounders=["c"], mediators=["m"], outcome="y"
)
ALL_SEEN = cf.StandardFairnessModel(
    protected="a", reference=0, comparison=1, confounders=["c", "u"], mediators=["m"], outcome="y"
)


@dataclass(frozen=True, eq=False)
class Table:
    """Means and weights of a world whose confounders are all in sight: P[z, a, m, y]."""

    p: np.ndarray

    @cached_property
    def cells(self):
        return self.p.sum(axis=-1)

    @cached_property
    def outcome(self):
        """Q[z, a, m]"""
        return self.p[..., 1] / self.cells

    @cached_property
    def mediators(self):
        """P(m | z, a)"""
        return self.cells / self.cells.sum(axis=-1, keepdims=True)

    @cached_property
    def nested(self):
        """nu[i, j, z]"""
        return np.einsum("zim,zjm->ijz", self.outcome, self.mediators)

    def among(self, k):
        """P(z | k)"""
        of_group = self.cells.sum(axis=-1)
        chosen = of_group.sum(axis=1) if k == "everyone" else of_group[:, k]
        return chosen / chosen.sum()

    def alpha(self, i, j, k):
        """alpha1(i, j, k) on rows of group i: [z, m]"""
        return self.mediators[:, j] * self.among(k)[:, None] / self.cells[:, i]

    def mean(self, i, j, k):
        return float(np.sum(self.alpha(i, j, k) * self.p[:, i, :, 1]))

    def effect(self, terms):
        return sum(size * self.mean(*world) for world, size in terms.items())


@dataclass
class Sums:
    """What was added up over the rows of a stage?"""

    explained: float = 0.0
    residual: float = 0.0
    added: float = 0.0
    weight: float = 0.0
    bias: float = 0.0

    def add(self, rows, explained, residual, added, weight):
        self.explained += np.sum(rows * explained**2)
        self.residual += residual
        self.added += np.sum(rows * added**2)
        self.weight += np.sum(rows.sum(axis=1) * weight**2)
        self.bias += np.sum(rows * explained * added)

    @property
    def outcome_share(self):
        return self.explained / self.residual if self.residual > 1e-15 else 0.0

    @property
    def group_share(self):
        return self.added / (self.added + self.weight) if self.weight else 0.0

    @property
    def bound(self):
        """By the definitions alone: sqrt(explained * added)."""
        return float(np.sqrt(self.explained * self.added))


@dataclass(frozen=True, eq=False)
class Confounded:
    """A world with a hidden confounder: P[c, u, a, m, y]."""

    p: np.ndarray

    @cached_property
    def long(self):
        shape = self.p.shape
        return Table(self.p.reshape(shape[0] * shape[1], *shape[2:]))

    @cached_property
    def short(self):
        return Table(self.p.sum(axis=1))

    def stages(self, terms):
        """Both stages of an effect, by the definitions of methods §12, row by row."""
        used = {world: size for world, size in terms.items() if len(set(world)) > 1}
        crossed = {g for i, j, _ in used if i != j for g in (i, j)}
        first, second = Sums(), Sums()
        for g in (0, 1):
            own = {world: size for world, size in used.items() if world[0] == g}
            nested = {w: size for w, size in used.items() if w[1] == g and w[2] != g}
            if g in crossed:
                self._outcome_stage(first, g, own)
                self._nested_stage(second, g, nested)
            else:
                self._joint_stage(second, g, own)
        return {"mediators": first, "group": second}

    def _rows(self, g):
        return self.p[:, :, g].sum(axis=-1)  # [c, u, m]

    def _weights(self, g, worlds):
        """Summed weights with U in sight [c, u, m] and without it [c, m]."""
        shape = self._rows(g).shape
        long = sum(size * self.long.alpha(*world).reshape(shape) for world, size in worlds.items())
        return long, sum(size * self.short.alpha(*world) for world, size in worlds.items())

    def _outcome_stage(self, sums, g, worlds):
        if not worlds:
            return
        rows, (long, short) = self._rows(g), self._weights(g, worlds)
        seen = (long * rows).sum(axis=1) / rows.sum(axis=1)  # E[alpha_long | observed]
        mean = self.short.outcome[:, g]
        explained = self.long.outcome[:, g].reshape(rows.shape) - mean[:, None]
        variance = np.sum(rows.sum(axis=1) * mean * (1 - mean))
        sums.add(rows, explained, variance, long - seen[:, None], short)

    def _nested_stage(self, sums, g, worlds):
        if not worlds:
            return
        rows = self._rows(g)
        told = {k: {i: s for (i, _, kk), s in worlds.items() if kk == k} for _, _, k in worlds}
        if len(told) == 1:
            ((k, sizes),) = told.items()
            largest = max(sizes.values(), key=abs)
            weights = {(g, g, k): largest}
            parts = {i: size / largest for i, size in sizes.items()}
        else:
            (i,) = {i for sizes in told.values() for i in sizes}
            weights, parts = {(g, g, k): sizes[i] for k, sizes in told.items()}, {i: 1.0}
        left = sum(
            size * (self.short.outcome[:, i] - self.short.nested[i, g][:, None])
            for i, size in parts.items()
        )
        long, short = self._weights(g, weights)
        explained = (rows * left[:, None]).sum(axis=-1) / rows.sum(axis=-1)
        shown = np.broadcast_to(explained[..., None], rows.shape)
        sums.add(rows, shown, np.sum(rows.sum(axis=1) * left**2), long - short[:, None], short)

    def _joint_stage(self, sums, g, worlds):
        if not worlds:
            return
        rows, (long, short) = self._rows(g), self._weights(g, worlds)
        outcome = self.long.outcome[:, g].reshape(rows.shape)
        mean = self.short.nested[g, g]
        given = (rows * outcome).sum(axis=-1) / rows.sum(axis=-1)
        explained = np.broadcast_to((given - mean[:, None])[..., None], rows.shape)
        variance = np.sum(rows.sum(axis=(1, 2)) * mean * (1 - mean))
        sums.add(rows, explained, variance, long - short[:, None], short)

    def table(self, rows=200_000):
        """A table whose frequencies are the probabilities, up to one row per cell."""
        counts = np.round(rows * self.p).astype(int).reshape(-1)
        return self._as_table(np.repeat(np.arange(self.p.size), counts))

    def draw(self, rows, seed):
        rng = np.random.default_rng(seed)
        return self._as_table(rng.choice(self.p.size, size=rows, p=self.p.reshape(-1)))

    def _as_table(self, at):
        return pa.table(dict(zip("cuamy", np.unravel_index(at, self.p.shape), strict=True)))


def planted(kind, *, group=0.3, mediators=0.25, outcome=0.35):
    """A confounder of two things: "A-M", "M-Y" or "A-Y". A strength of 0 cuts its arrow."""
    moves = KINDS[kind]
    to_a = group if "a" in moves else 0.0
    to_m = mediators if "m" in moves else 0.0
    to_y = outcome if "y" in moves else 0.0
    c, u, a, m = np.ogrid[:2, :2, :2, :2]
    p_a = 0.35 + 0.15 * c + to_a * (u - 0.5)
    p_m = 0.35 + 0.1 * c + 0.2 * a + to_m * (u - 0.5)
    p_y = 0.25 + 0.08 * c + 0.12 * a + 0.15 * m + to_y * (u - 0.5)
    both = np.concatenate([1 - p_m, p_m], axis=-1)  # chances of m = 0 and m = 1
    return Confounded(_joint(0.4, 0.5, p_a[:, :, 0, 0], both, p_y))


def anything(rng):
    """A world in which everything depends on everything, with three values of M."""
    chances = rng.uniform(0.1, 0.9, size=(2, 2, 2, 3))
    mediators = rng.dirichlet(np.full(3, 3.0), size=(2, 2, 2))
    return Confounded(
        _joint(*rng.uniform(0.2, 0.8, 2), rng.uniform(0.2, 0.8, (2, 2)), mediators, chances)
    )


def _joint(p_c, p_u, p_a, p_m, p_y):
    p = np.zeros((2, 2, 2, p_m.shape[-1], 2))
    for c, u, a, m, y in product(*map(range, p.shape)):
        outside = _of(p_c, c) * _of(p_u, u) * _of(p_a[c, u], a)
        p[c, u, a, m, y] = outside * p_m[c, u, a, m] * _of(p_y[c, u, a, m], y)
    return p


def _of(chance, value):
    return chance if value else 1 - chance
