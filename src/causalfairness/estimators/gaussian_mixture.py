"""Which few normal distributions, in which shares, could these rows have come from?

    p(x) = sum_g share_g N(x; mean_g, covariance_g)

by weighted maximum likelihood (EM), the number of components by BIC. The log of a normal density
is linear in 1, x and all products of two coordinates, so with these *products* computed once, a
whole EM step is two matrix products: densities in, expected sums out. EM creeps where components
overlap; steps are therefore extrapolated (Anderson), and taken back if the likelihood falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SUBSAMPLE = 2_000  # rows on which starts compete
STARTS, START_STEPS = 4, 30  # how many compete, and for how long
MOST_STEPS = 100
SETTLED = 1e-2  # what three steps may still add to the log-likelihood of all rows together
WINDOW = 5  # steps that an extrapolation looks back on
VANISHED = 1e-8  # share below which a component is no component


class Gaussians(NamedTuple):
    """Which normal distributions, in which shares?

    >>> rows = np.array([[0.0], [2.0]])
    >>> gaussians_of(np.ones((1, 2)) @ products_of(rows).T, np.zeros(1)).means
    array([[1.]])
    """

    shares: Array  # (g,)
    means: Array  # (g, d)
    covariances: Array  # (g, d, d)


class Fitted(NamedTuple):
    """Which expected sums did EM arrive at, and how likely do they make the rows?

    `sums` holds, for each component, the sums of the products over the rows it is expected to own:
    all there is to know about its normal distribution.
    """

    sums: Array  # (g, 1 + d + d (d + 1) / 2)
    log_likelihood: float  # mean over the weighted rows
    settled: bool


def fit_gaussians(
    products: Array, weights: Array, components: int, ridge: Array, rng: np.random.Generator
) -> Fitted:
    """Which `components` normal distributions make the rows most likely?

    Starts compete on a subsample; the best is carried on with all rows. `ridge` is added to the
    variances, so that no component can shrink onto a single value.

    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(-5, 1, (300, 1)), rng.normal(5, 1, (100, 1))])
    >>> fitted = fit_gaussians(products_of(rows), np.ones(400), 2, np.full(1, 1e-6), rng)
    >>> np.sort(gaussians_of(fitted.sums, np.full(1, 1e-6)).shares).round(2)
    array([0.25, 0.75])
    """
    if components == 1:
        return climb(products, weights, (weights @ products.T)[None], ridge)
    seen = rng.permutation(products.shape[1])[:SUBSAMPLE]
    some, their_weights = np.ascontiguousarray(products[:, seen]), weights[seen]
    starts = [_start(some, their_weights, components, rng) for _ in range(STARTS)]
    rivals = [climb(some, their_weights, start, ridge, most_steps=START_STEPS) for start in starts]
    best = max(rivals, key=lambda rival: rival.log_likelihood)
    return climb(products, weights, best.sums * (weights.sum() / their_weights.sum()), ridge)


def climb(
    products: Array, weights: Array, sums: Array, ridge: Array, most_steps: int = MOST_STEPS
) -> Fitted:
    """How far up does EM get from these sums? One component is there at once."""
    points, (image, reached) = [sums], _step(products, weights, sums, ridge)
    if len(sums) == 1:
        return Fitted(image, _step(products, weights, image, ridge)[1], True)
    images, gains = [image], [np.inf]
    for _ in range(most_steps):
        point = _extrapolate(points, images)
        found = None if point is None else _step(products, weights, point, ridge)
        if point is None or found is None or not found[1] >= reached:
            point = images[-1]
            points, images = points[-1:], images[-1:]
            found = _step(products, weights, point, ridge)
        if not np.isfinite(found[1]):
            break
        gains.append(float((found[1] - reached) * weights.sum()))
        reached = found[1]
        points, images = [*points[1 - WINDOW :], point], [*images[1 - WINDOW :], found[0]]
        if sum(gains[-3:]) < SETTLED:
            break
    alive = bool((images[-1][:, 0] > VANISHED * weights.sum()).all())
    sums = images[-1] if alive else points[-1]  # images add up to the sums of all rows exactly
    return Fitted(sums, reached, sum(gains[-3:]) < SETTLED)


def products_of(rows: Array) -> Array:
    """What are 1, each coordinate and each product of two, with rows along the last axis?

    >>> products_of(np.array([[2.0, 3.0]]))[:, 0].tolist()
    [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]
    """
    n, d = rows.shape
    first, second = _pairs(d)
    products = np.empty((1 + d + len(first), n))
    products[0], products[1 : 1 + d] = 1.0, rows.T
    np.multiply(products[1 + first], products[1 + second], out=products[1 + d :])
    return products


def gaussians_of(sums: Array, ridge: Array) -> Gaussians:
    """Which normal distributions have these sums?"""
    d = len(ridge)
    size = sums[:, 0]
    averages = sums / size[:, None]
    means = averages[:, 1 : 1 + d]
    covariances = np.empty((len(sums), d, d))
    first, second = _pairs(d)
    covariances[:, first, second] = covariances[:, second, first] = averages[:, 1 + d :]
    covariances -= means[:, :, None] * means[:, None, :]
    return Gaussians(size / size.sum(), means, covariances + np.diag(ridge))


def log_densities(products: Array, gaussians: Gaussians) -> Array:
    """How dense is each component at each row, its share included? (g, n)

    >>> unit = Gaussians(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)))
    >>> log_densities(products_of(np.zeros((1, 1))), unit).round(4)
    array([[-0.9189]])
    """
    shares, means, covariances = gaussians
    d = means.shape[1]
    factor = np.linalg.cholesky(covariances)
    inverse = np.linalg.inv(factor)
    precision = np.swapaxes(inverse, 1, 2) @ inverse
    pull = (precision @ means[:, :, None])[:, :, 0]
    log_root = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    constant = -log_root - d / 2 * np.log(2 * np.pi) - (means * pull).sum(axis=1) / 2
    first, second = _pairs(d)
    squares = np.where(first == second, -0.5, -1.0) * precision[:, first, second]
    terms = np.column_stack([constant + np.log(shares), pull, squares])
    return np.asarray(terms @ products)


def bayesian_criterion(log_likelihood: float, rows: float, parameters: int) -> float:
    """How well do components explain the rows, less what they cost? Lower is better (BIC).

    >>> bayesian_criterion(-1.5, 100, 2) < bayesian_criterion(-1.5, 100, 5)
    True
    """
    return float(-2 * rows * log_likelihood + parameters * np.log(rows))


def count_parameters(components: int, d: int) -> int:
    """How many numbers describe that many normal distributions in d dimensions?

    >>> count_parameters(2, 1)
    5
    """
    return components * (1 + d + d * (d + 1) // 2) - 1


@lru_cache
def _pairs(d: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which two coordinates does each product multiply?"""
    first, second = np.triu_indices(d)
    return first, second


def _step(products: Array, weights: Array, sums: Array, ridge: Array) -> tuple[Array, float]:
    """The sums after one EM step, and the mean log-likelihood before it; -inf where EM ends."""
    if not (sums[:, 0] > VANISHED * weights.sum()).all():
        return sums, -np.inf
    try:
        logs = log_densities(products, gaussians_of(sums, ridge))
    except np.linalg.LinAlgError:  # an extrapolation left the covariances
        return sums, -np.inf
    top = logs.max(axis=0)
    owned = np.exp(logs - top)
    total = owned.sum(axis=0)
    reached = float(weights @ (top + np.log(total)) / weights.sum())
    owned *= weights / total
    return owned @ products.T, reached


def _extrapolate(points: Sequence[Array], images: Sequence[Array]) -> Array | None:
    """Where would EM end, if its last steps were those of a linear map?"""
    if len(points) < 2:
        return None
    moves = np.stack([(i - p).ravel() for p, i in zip(points, images, strict=True)])
    shifts = np.diff(np.stack([image.ravel() for image in images]), axis=0)
    mixture, *_ = np.linalg.lstsq(np.diff(moves, axis=0).T, moves[-1], rcond=1e-10)
    return np.asarray(images[-1] - (mixture @ shifts).reshape(images[-1].shape))


def _start(products: Array, weights: Array, components: int, rng: np.random.Generator) -> Array:
    """The sums of a partition around centers that are far apart (k-means++, then a few rounds)."""
    d = round((np.sqrt(8 * len(products) + 1) - 3) / 2)
    rows = products[1 : 1 + d].T
    centers = rows[rng.choice(len(rows), p=weights / weights.sum())][None]
    for _ in range(components - 1):
        far = weights * _squared_distances(rows, centers).min(axis=1)
        chance = far if far.sum() > 0 else weights
        centers = np.vstack([centers, rows[rng.choice(len(rows), p=chance / chance.sum())]])
    for _ in range(5):
        owner = _squared_distances(rows, centers).argmin(axis=1)
        owned = (owner == np.arange(components)[:, None]) * weights + 1e-6 * weights
        centers = owned @ rows / owned.sum(axis=1, keepdims=True)
    return np.asarray(owned @ products.T)


def _squared_distances(rows: Array, centers: Array) -> Array:
    return np.asarray(((rows[:, None, :] - centers) ** 2).sum(axis=2))
