"""Which prediction is expected given group and features? Ridge regression on smooth functions.

    g(a, z) = mean + phi(z) . b + sum_j c_j(a) (d_j + phi(z) . e_j)

phi holds the standardized features, and smooth bumps around up to 300 of the rows, so that bends
and interactions can be followed; the contrasts c_j of the groups have mean 0 and variance 1 and
are uncorrelated. A penalty shrinks everything but the mean, and the interactions e_j up to a
hundred times as much; both numbers are chosen for each model by generalized cross-validation. All
models share the decompositions: a pool costs as much as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
REACH = 3.0  # standard deviations beyond which further columns are not followed
LANDMARKS = 300  # rows around which bumps stand
TRUST = (1.0, 0.1, 0.01)  # in interactions, beside the other columns
BESIDE = (1.0, 0.1, 0.01, 0.0)  # trust in columns that are to be used as far as they help
PENALTIES = np.logspace(1, -5, 19)  # shares of the sum of squares of the design, largest first
BLOCK = 20_000  # rows that are worked on at a time
THINNEST = 1e-8  # share of the largest eigenvalue below which a direction is noise


def regress_by_group(
    features: Array, group: Codes, predictions: Array, unseen: Array, levels: int
) -> Array:
    """What would be expected of unseen people in each group? (levels, people, models).

    >>> z = np.linspace(-1, 1, 80)[:, None]
    >>> a = np.tile([0, 1], 40)
    >>> g = regress_by_group(z, a, (a * z[:, 0])[:, None], np.array([[0.5]]), 2)
    >>> g[:, 0, 0].round(1).tolist()
    [0.0, 0.5]
    """
    basis = Basis.of(features)
    contrasts = _contrasts(np.bincount(group, minlength=levels) / len(group))

    def design(rows: Array, codes: Codes) -> Array:
        smooth = basis.of_rows(rows)
        told = contrasts[codes]
        apart = [told[:, [column]] * smooth for column in range(levels - 1)]
        return np.hstack([smooth, told, *apart])

    plain = basis.columns + levels - 1
    interactions = np.arange(plain + (levels - 1) * basis.columns) >= plain
    trusts = [
        np.where(interactions, np.sqrt(trust), 1.0) for trust in TRUST[: None if levels > 1 else 1]
    ]
    line = ridge(lambda block: design(features[block], group[block]), predictions, trusts)
    expected = np.empty((levels, len(unseen), predictions.shape[1]))
    for block in _blocks(len(unseen)):
        for level in range(levels):
            codes = np.full(len(unseen[block]), level)
            expected[level, block] = line.start + design(unseen[block], codes) @ line.slopes
    return expected


def regress(
    features: Array,
    predictions: Array,
    unseen: Array,
    *,
    beside: tuple[Array, Array] | None = None,
    basis: Basis | None = None,
) -> Array:
    """What would be expected of unseen people, whatever their group? (people, models).

    `beside` holds further columns, of those learned from and of those unseen, such as products:
    they stand as lines, no bump looks at them, none is followed beyond 3 standard deviations, and
    each model uses them as far as they help. `basis` holds the smooth functions, by default those
    that suit the people learned from.

    >>> z = np.linspace(-1, 1, 80)[:, None]
    >>> regress(z, z**2, np.array([[0.5]])).round(2).tolist()
    [[0.25]]
    >>> wave = np.sin(20 * z)
    >>> regress(z, wave, z[:1], beside=(wave, wave[:1])).round(2) == wave[:1].round(2)
    array([[ True]])
    """
    basis = Basis.of(features) if basis is None else basis
    if beside is None:
        plain = [np.ones(basis.columns)]
        line = ridge(lambda block: basis.of_rows(features[block]), predictions, plain)
        return np.asarray(line.start + basis.of_rows(unseen) @ line.slopes)
    near, more = within_reach(beside[0]), beside[0].shape[1]

    def design(rows: Array, further: Array) -> Array:
        return np.hstack([basis.of_rows(rows), near(further) / np.sqrt(more)])

    apart = np.arange(basis.columns + more) >= basis.columns
    trusts = [np.where(apart, np.sqrt(share), 1.0) for share in BESIDE]
    line = ridge(lambda block: design(features[block], beside[0][block]), predictions, trusts)
    return np.asarray(line.start + design(unseen, beside[1]) @ line.slopes)


def within_reach(learned: Array) -> Callable[[Array], Array]:
    """Which numbers stand for a column? In standard deviations of those learned from, at most 3:
    a product that hardly varied there is followed no further.

    >>> within_reach(np.array([[1.0], [3.0]]))(np.array([[2.5], [99.0]])).tolist()
    [[0.5], [3.0]]
    """
    center, scale = learned.mean(axis=0), learned.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return lambda rows: np.asarray(np.clip((rows - center) / scale, -REACH, REACH))


@dataclass(frozen=True, eq=False)
class Basis:
    """Which smooth functions of the features are combined? Lines, and bumps around landmarks.

    With fewer rows than landmarks the combinations of bumps are those of kernel ridge regression
    with the kernel exp(-|z - z'|^2 / 2k) for k features; with more they approximate it.

    >>> Basis.of(np.random.default_rng(0).normal(size=(30, 2))).of_rows(np.zeros((1, 2))).shape[0]
    1
    """

    center: Array
    scale: Array
    landmarks: Array
    whitening: Array

    @classmethod
    def of(cls, features: Array, landmarks: int = LANDMARKS) -> Basis:
        """Which functions suit these rows? Bumps stand around so many of them, at most."""
        center, scale = features.mean(axis=0), features.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        spacing = max(1, len(features) // landmarks)
        chosen = ((features - center) / scale)[::spacing][:landmarks]
        if not features.shape[1]:
            return cls(center, scale, chosen, np.empty((len(chosen), 0)))
        values, vectors = _spectrum(_bumps(chosen, chosen))
        return cls(center, scale, chosen, vectors / np.sqrt(values))

    @property
    def columns(self) -> int:
        """How many functions are there?"""
        return len(self.center) + int(self.whitening.shape[1])

    def of_rows(self, rows: Array) -> Array:
        """What are the functions of these rows? Lines and bumps count alike altogether."""
        z = (rows - self.center) / self.scale
        if not z.shape[1]:
            return z
        return np.hstack([z / np.sqrt(z.shape[1]), _bumps(z, self.landmarks) @ self.whitening])


class RidgeLine(NamedTuple):
    """Start and slopes of a linear function, one column per model."""

    start: Array
    slopes: Array


def _bumps(z: Array, landmarks: Array) -> Array:
    squared = (z**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1) - 2 * z @ landmarks.T
    return np.asarray(np.exp(-np.maximum(squared, 0) / (2 * z.shape[1])))


def _contrasts(shares: Array) -> Array:
    """Numbers for the groups, one column each: mean 0, variance 1 and uncorrelated."""
    values, vectors = np.linalg.eigh(np.diag(1 / shares) - 1.0)
    return np.asarray(vectors[:, 1:] * np.sqrt(values[1:]))


def ridge(design: Callable[[slice], Array], target: Array, trusts: Sequence[Array]) -> RidgeLine:
    """Return the ridge regression of each column of `target` on a design, given block by block.

    `trusts` are scales of the columns; each model takes that, and the penalty, which it likes.

    >>> z = np.linspace(-1, 1, 80)[:, None]
    >>> ridge(lambda block: z[block], 2 * z, [np.ones(1)]).slopes.round(3).tolist()
    [[2.0]]
    """
    middle = sum(design(block).sum(axis=0) for block in _blocks(len(target))) / len(target)
    mean = target.mean(axis=0)
    rest = np.where(np.ptp(target, axis=0) > 0, target - mean, 0.0)
    if len(target) < min(len(middle), BLOCK):
        rows = design(slice(None)) - middle
        fits = [_shrunk(_axes_of_rows(rows * trust, rest), rest) for trust in trusts]
    else:
        gram, cross = _moments(lambda block: design(block) - middle, rest)
        fits = [
            _shrunk(_axes_of_columns(gram * np.outer(trust, trust), cross * trust[:, None]), rest)
            for trust in trusts
        ]
    best = np.argmin([fit.score for fit in fits], axis=0)
    slopes = np.stack(
        [fit.slopes * trust[:, None] for fit, trust in zip(fits, trusts, strict=True)]
    )
    chosen = slopes[best, :, np.arange(len(best))].T
    return RidgeLine(mean - middle @ chosen, chosen)


class _Fit(NamedTuple):
    """Slopes, and how well they would do for others, one column and one number per model."""

    slopes: Array
    score: Array


class _Axes(NamedTuple):
    """The singular value decomposition of a design, and the targets along it."""

    squares: Array  # of the singular values
    directions: Array  # (columns, axes), of length 1
    along: Array  # (axes, models)


def _shrunk(axes: _Axes, target: Array) -> _Fit:
    """The penalty of each model by generalized cross-validation."""
    penalties = PENALTIES * max(float(axes.squares.sum()), np.finfo(float).tiny)
    kept = axes.squares[:, None] / (axes.squares[:, None] + penalties)  # (axes, penalties)
    freedom = (len(target) - 1 - kept.sum(axis=0))[:, None]
    missed = (target**2).sum(axis=0) - (2 * kept - kept**2).T @ axes.along**2
    score = np.where(freedom > 1, missed / np.maximum(freedom, 1) ** 2, np.inf)
    best = penalties[np.argmin(score, axis=0)]
    shrunk = axes.along * np.sqrt(axes.squares)[:, None] / (axes.squares[:, None] + best)
    return _Fit(axes.directions @ shrunk, score.min(axis=0))


def _axes_of_rows(rows: Array, target: Array) -> _Axes:
    values, vectors = _spectrum(rows @ rows.T)
    return _Axes(values, rows.T @ vectors / np.sqrt(values), vectors.T @ target)


def _axes_of_columns(gram: Array, cross: Array) -> _Axes:
    values, vectors = _spectrum(gram)
    return _Axes(values, vectors, vectors.T @ cross / np.sqrt(values)[:, None])


def _spectrum(square: Array) -> tuple[Array, Array]:
    """Eigenvalues that are not thin, and their vectors, one column each."""
    values, vectors = np.linalg.eigh(square)
    kept = values > THINNEST * values.max(initial=0.0)
    return values[kept], vectors[:, kept]


def _moments(design: Callable[[slice], Array], target: Array) -> tuple[Array, Array]:
    """Products of the columns of a design with each other and with the targets."""
    parts = [
        ((rows := design(block)).T @ rows, rows.T @ target[block]) for block in _blocks(len(target))
    ]
    grams, crosses = zip(*parts, strict=True)
    return np.sum(grams, axis=0), np.sum(crosses, axis=0)


def _blocks(rows: int) -> Iterator[slice]:
    yield from (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))
