"""What is left of a weighted mean where models of weights and of the outcome err together.

A weighted mean of what a model leaves unexplained is off by E[(w - true w) (true Q - Q)]. The part
of it that lies in the span of some functions z of the columns can be estimated without bias, from
predictions about rows that the models have not seen. With weights of the rows, each summing to 1,
a (as weighted), b (as they are) and v (of the rows that they stand for), and e what is left:

    S = sum b z z';   T = its eigenvectors, each over the root of its eigenvalue;   u = T' z
    gy = sum b e u;   gw = sum a u - sum v u;   B = gw' gy - sum a b e |u|^2

The weighted mean is too high by B. Its variance follows from those of gy and gw. All are sums over
rows and are added up block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BLOCK = 65_536  # rows whose functions are held at once
REACH = 3.0  # standard deviations that columns are taken to
LINEAR_CUT, SMOOTH_CUT = 1e-6, 1e-4  # share of the largest eigenvalue below which one is noise
WIDTH = 1.6  # of the kernel, in standard deviations of three columns
FEWEST, MOST, ROWS_EACH = 10, 250, 10  # functions, and rows of the smaller group for each


class WeightedTerm(NamedTuple):
    """A weighted mean of what a model leaves unexplained; arrays over all rows, 0 outside."""

    weighted: Array  # as the rows of the group are weighted
    plain: Array  # the same rows as they are
    target: Array  # the rows that they stand for
    left: Array


class Missed(NamedTuple):
    """By how much a weighted mean is too high, and how sure that is."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of the columns, block by block: `of` gives them for a slice of rows."""

    rows: int
    of: Callable[[slice], Array]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their functions; of few rows they are worked out once."""
        if self.rows <= BLOCK:
            yield slice(0, self.rows), self._whole
            return
        for start in range(0, self.rows, BLOCK):
            here = slice(start, min(start + BLOCK, self.rows))
            yield here, self.of(here)

    @cached_property
    def _whole(self) -> Array:
        return self.of(slice(0, self.rows))


def standardized(columns: Array, weights: Array) -> Array:
    """Return columns with mean 0 and variance 1, cut at three standard deviations.

    >>> standardized(np.array([[0.0, 5.0], [2.0, 5.0]]), np.ones(2)).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    center = np.average(columns, axis=0, weights=weights)
    spread = np.sqrt(np.average((columns - center) ** 2, axis=0, weights=weights))
    spread[spread == 0] = np.inf
    return np.asarray(np.clip((columns - center) / spread, -REACH, REACH))


def linear_basis(columns: Array) -> Functions:
    """Return the functions 1 and standardized columns."""
    return Functions(len(columns), lambda rows: _with_constant(columns[rows]))


def smooth_basis(columns: Array, smaller: int, seed: int) -> Functions | None:
    """Return these and smooth functions of all columns, as many as the smaller group allows.

    None where that would be fewer than ten smooth functions.

    >>> people = np.random.default_rng(0).normal(size=(400, 3))
    >>> smooth_basis(people, smaller=100, seed=0) is None
    True
    >>> smooth_basis(people, smaller=200, seed=0).of(slice(0, 5)).shape
    (5, 20)
    """
    d = columns.shape[1]
    smooth = int(np.clip(smaller // ROWS_EACH, FEWEST, MOST)) - d - 1
    if smooth < FEWEST:
        return None
    from sklearn.kernel_approximation import Nystroem

    gamma = 1 / (2 * WIDTH**2 * d / 3)
    kernel = Nystroem(gamma=gamma, n_components=smooth, random_state=seed).fit(columns)
    return Functions(
        len(columns),
        lambda rows: np.hstack([_with_constant(columns[rows]), kernel.transform(columns[rows])]),
    )


def remainders(basis: Functions, terms: Sequence[WeightedTerm], cut: float) -> list[Missed]:
    """Return the remainder of each term; all of them weight the rows of one group.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=4_000)
    >>> first = np.arange(4_000) < 2_000
    >>> plain, target = first / 2_000, ~first / 2_000
    >>> missed = WeightedTerm(plain * (1 + 0.5 * x), plain, target, 2 * x)
    >>> round(remainders(linear_basis(x[:, None]), [missed], 1e-6)[0].value)
    1
    """
    if not terms:
        return []
    whitening = _whitening(basis, terms[0].plain, cut)
    sums = [_Sums(term, whitening.shape[1]) for term in terms]
    for rows, functions in basis.blocks():
        white = functions @ whitening
        for each in sums:
            each.add(rows, white)
    return [each.missed() for each in sums]


def _with_constant(columns: Array) -> Array:
    return np.column_stack([np.ones(len(columns)), columns])


def _whitening(basis: Functions, plain: Array, cut: float) -> Array:
    """What makes the functions uncorrelated, with variance 1, over the rows as they are."""
    moments: Array | float = 0.0
    for rows, functions in basis.blocks():
        inside = plain[rows] > 0
        own = functions[inside] * np.sqrt(plain[rows][inside])[:, None]
        moments = moments + own.T @ own
    values, vectors = np.linalg.eigh(moments)
    kept = values > cut * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


class _Sums:
    """The sums over rows behind one term's remainder."""

    def __init__(self, term: WeightedTerm, functions: int) -> None:
        self.term = term
        self.moved = np.zeros(functions)  # gy
        self.added = np.zeros((2, functions))  # of a u, and of v u
        self.squares = np.zeros((3, functions, functions))  # of b e u, a u and v u
        self.rows = np.zeros(2)
        self.own = 0.0  # what a row contributes by itself

    def add(self, rows: slice, white: Array) -> None:
        """Add a block of rows."""
        a, b, v, left = (each[rows] for each in self.term)
        inside, target = b > 0, v > 0
        u, (a, b, left) = white[inside], (each[inside] for each in (a, b, left))
        moved = u * (b * left)[:, None]
        self.moved += moved.sum(axis=0)
        self.own += float((a * b * left) @ np.einsum("ij,ij->i", u, u))
        weighted = (moved, u * a[:, None], white[target] * v[target, None])
        for at, each in enumerate(weighted):
            self.squares[at] += each.T @ each
        for at, each in enumerate(weighted[1:]):
            self.added[at] += each.sum(axis=0)
            self.rows[at] += len(each)

    def missed(self) -> Missed:
        """The estimate, and the root of its variance."""
        gw, gy = self.added[0] - self.added[1], self.moved
        about = np.einsum("gi,gj,g->ij", self.added, self.added, 1 / np.maximum(self.rows, 1))
        of_y, of_w = self.squares[0], self.squares[1] + self.squares[2] - about
        both = float(np.sum(of_y * of_w))
        through_y = max(0.0, float(gw @ of_y @ gw) - both)
        through_w = max(0.0, float(gy @ of_w @ gy) - both)
        variance = max(0.0, both) + through_y + through_w
        return Missed(float(gw @ gy - self.own), float(np.sqrt(variance)))
