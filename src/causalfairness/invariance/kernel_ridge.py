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

import numpy as np

from causalfairness.invariance.reading import Array, Codes

Columns = Callable[[Array], Array]  # of rows
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
    basis = smooth_functions(features)
    contrasts = _contrasts(np.bincount(group, minlength=levels) / len(group))

    def design(rows: Array, codes: Codes) -> Array:
        smooth, told = basis(rows), contrasts[codes]
        return np.hstack([smooth, told, *(column[:, None] * smooth for column in told.T)])

    columns = basis(features[:1]).shape[1]
    interactions = np.arange(levels * (columns + 1) - 1) >= columns + levels - 1
    shares = TRUST[: None if levels > 1 else 1]
    trusts = [np.where(interactions, np.sqrt(share), 1.0) for share in shares]
    start, slopes = ridge(lambda rows: design(features[rows], group[rows]), predictions, trusts)
    expected = np.empty((levels, len(unseen), predictions.shape[1]))
    for block in _blocks(len(unseen)):
        for level in range(levels):
            codes = np.full(len(unseen[block]), level)
            expected[level, block] = start + design(unseen[block], codes) @ slopes
    return expected


def regress(
    features: Array,
    predictions: Array,
    unseen: Array,
    *,
    beside: tuple[Array, Array] | None = None,
    basis: Columns | None = None,
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
    basis = smooth_functions(features) if basis is None else basis
    learned, told = beside or (features[:, :0], unseen[:, :0])
    near, more = standardized(learned, REACH), learned.shape[1]

    def design(rows: Array, further: Array) -> Array:
        return np.hstack([basis(rows), near(further) / np.sqrt(max(more, 1))])

    columns = basis(features[:1]).shape[1] + more
    apart = np.arange(columns) >= columns - more
    trusts = [np.where(apart, np.sqrt(share), 1.0) for share in BESIDE[: None if more else 1]]
    start, slopes = ridge(lambda rows: design(features[rows], learned[rows]), predictions, trusts)
    return np.asarray(start + design(unseen, told) @ slopes)


def standardized(learned: Array, reach: float = np.inf) -> Columns:
    """Return what tells columns in standard deviations of those learned from, `reach` at most:
    a product that hardly varied there is followed no further.

    >>> standardized(np.array([[1.0], [3.0]]), 3.0)(np.array([[2.5], [99.0]])).tolist()
    [[0.5], [3.0]]
    """
    center, scale = learned.mean(axis=0), learned.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return lambda rows: np.asarray(np.clip((rows - center) / scale, -reach, reach))


def smooth_functions(features: Array, landmarks: int = LANDMARKS) -> Columns:
    """Return what tells smooth functions of rows: lines, and bumps around landmarks.

    Bumps stand around so many of the rows, at most; lines and bumps count alike altogether. With
    fewer rows than landmarks the combinations of bumps are those of kernel ridge regression
    with the kernel exp(-|z - z'|^2 / 2k) for k features; with more they approximate it.

    >>> smooth_functions(np.random.default_rng(0).normal(size=(30, 2)))(np.zeros((1, 2))).shape[0]
    1
    """
    standard, width = standardized(features), features.shape[1]
    if not width:
        return standard
    chosen = standard(features)[:: max(1, len(features) // landmarks)][:landmarks]
    values, vectors = _spectrum(_bumps(chosen, chosen))
    whitening = vectors / np.sqrt(values)

    def columns(rows: Array) -> Array:
        z = standard(rows)
        return np.hstack([z / np.sqrt(width), _bumps(z, chosen) @ whitening])

    return columns


def _bumps(z: Array, landmarks: Array) -> Array:
    squared = (z**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1) - 2 * z @ landmarks.T
    return np.asarray(np.exp(-np.maximum(squared, 0) / (2 * z.shape[1])))


def _contrasts(shares: Array) -> Array:
    """Numbers for the groups, one column each: mean 0, variance 1 and uncorrelated."""
    values, vectors = np.linalg.eigh(np.diag(1 / shares) - 1.0)
    return np.asarray(vectors[:, 1:] * np.sqrt(values[1:]))


def ridge(
    design: Callable[[slice], Array], target: Array, trusts: Sequence[Array]
) -> tuple[Array, Array]:
    """Return start and slopes, one column for each of `target`, on a design told block by block.

    `trusts` are scales of the columns; each model takes that, and the penalty, which it likes.

    >>> z = np.linspace(-1, 1, 80)[:, None]
    >>> ridge(lambda block: z[block], 2 * z, [np.ones(1)])[1].round(3).tolist()
    [[2.0]]
    """
    middle = sum(design(block).sum(axis=0) for block in _blocks(len(target))) / len(target)
    mean = target.mean(axis=0)
    rest = np.where(np.ptp(target, axis=0) > 0, target - mean, 0.0)
    if len(target) < min(len(middle), BLOCK):
        rows = design(slice(None)) - middle
        axes = [_axes_of_rows(rows * trust, rest) for trust in trusts]
    else:
        parts = (
            ((rows := design(block) - middle).T @ rows, rows.T @ rest[block])
            for block in _blocks(len(target))
        )
        gram, cross = (np.sum(each, axis=0) for each in zip(*parts, strict=True))
        axes = [
            _axes_of_columns(gram * np.outer(trust, trust), cross * trust[:, None])
            for trust in trusts
        ]
    fits = [_shrunk(*each, rest) for each in axes]
    best = np.argmin([score for _, score in fits], axis=0)
    slopes = np.stack([own * trust[:, None] for (own, _), trust in zip(fits, trusts, strict=True)])
    chosen = slopes[best, :, np.arange(len(best))].T
    return mean - middle @ chosen, chosen


def _shrunk(squares: Array, directions: Array, along: Array, target: Array) -> tuple[Array, Array]:
    """Slopes of each model, its penalty by generalized cross-validation, and the score of that.

    A design is known by its squared singular values, by directions (columns, axes) of length 1,
    and by the targets along them (axes, models).
    """
    penalties = PENALTIES * max(float(squares.sum()), np.finfo(float).tiny)
    kept = squares[:, None] / (squares[:, None] + penalties)  # (axes, penalties)
    freedom = (len(target) - 1 - kept.sum(axis=0))[:, None]
    missed = (target**2).sum(axis=0) - (2 * kept - kept**2).T @ along**2
    score = np.where(freedom > 1, missed / np.maximum(freedom, 1) ** 2, np.inf)
    best = penalties[np.argmin(score, axis=0)]
    shrunk = along * np.sqrt(squares)[:, None] / (squares[:, None] + best)
    return directions @ shrunk, score.min(axis=0)


def _axes_of_rows(rows: Array, target: Array) -> tuple[Array, Array, Array]:
    values, vectors = _spectrum(rows @ rows.T)
    return values, rows.T @ vectors / np.sqrt(values), vectors.T @ target


def _axes_of_columns(gram: Array, cross: Array) -> tuple[Array, Array, Array]:
    values, vectors = _spectrum(gram)
    return values, vectors, vectors.T @ cross / np.sqrt(values)[:, None]


def _spectrum(square: Array) -> tuple[Array, Array]:
    """Eigenvalues that are not thin, and their vectors, one column each."""
    values, vectors = np.linalg.eigh(square)
    kept = values > THINNEST * values.max(initial=0.0)
    return values[kept], vectors[:, kept]


def _blocks(rows: int) -> Iterator[slice]:
    yield from (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))
