"""What would other samples of the same size have looked like, cell by cell?

A table collapsed to cells is resampled without going back to the rows. Each draw returns the
size and the outcome sum of every cell, with the draws along the first axis.

`bayesian_cells` draws Gamma weights, the Bayesian bootstrap collapsed to cells: no cell with rows
ever becomes empty. `multinomial_cells` redraws the rows themselves; with few rows per cell it
empties some of them (one in e with a single row), which is why it is not the default.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class CellDraws(NamedTuple):
    """How large is each cell, and what do its outcomes add up to, in every draw?

    >>> CellDraws(np.array([[2.0]]), np.array([[1.0]])).total
    array([[1.]])
    """

    size: Array
    total: Array


def check_count(name: str, count: int, *, least: int) -> None:
    """Is this a whole number, and enough of them?

    >>> check_count("repetitions", 1, least=2)
    Traceback (most recent call last):
    ...
    ValueError: repetitions must be a whole number, at least 2; found 1
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; found {count!r}")


def bayesian_cells(
    size: Array,
    total: Array,
    variance: Array,
    *,
    binary: bool,
    draws: int,
    rng: np.random.Generator,
) -> CellDraws:
    """What sizes and sums does the Bayesian bootstrap give each cell?

    `variance` is the outcome variance within each cell; for a binary outcome successes and
    failures are weighted separately and it is not used.

    >>> rng = np.random.default_rng(0)
    >>> draw = bayesian_cells(np.array([9.0]), np.array([3.0]), np.array([0.2]),
    ...                       binary=True, draws=4000, rng=rng)
    >>> bool(abs((draw.total / draw.size).mean() - 1 / 3) < 0.01)
    True
    """
    shape = (draws, len(size))
    if binary:
        successes = rng.standard_gamma(total, shape)
        failures = rng.standard_gamma(size - total, shape)
        return CellDraws(successes + failures, successes)
    drawn = rng.standard_gamma(size, shape)
    mean, spread = (
        np.divide(of, size, out=np.zeros_like(of), where=size > 0) for of in (total, variance)
    )
    return CellDraws(drawn, drawn * (mean + np.sqrt(spread) * rng.standard_normal(shape)))


def multinomial_cells(
    size: Array,
    total: Array,
    variance: Array,
    *,
    binary: bool,
    draws: int,
    rng: np.random.Generator,
) -> CellDraws:
    """What sizes and sums does redrawing the rows give each cell?

    >>> rng = np.random.default_rng(0)
    >>> draw = multinomial_cells(np.array([9.0, 1.0]), np.array([3.0, 1.0]), np.zeros(2),
    ...                          binary=True, draws=2000, rng=rng)
    >>> draw.size.sum(axis=1).min(), bool((draw.size[:, 1] == 0).mean() > 0.3)
    (np.float64(10.0), True)
    """
    everyone = round(float(size.sum()))
    drawn = rng.multinomial(everyone, size / size.sum(), draws)
    mean = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    if binary:
        successes = rng.binomial(drawn, np.clip(mean, 0.0, 1.0))
        return CellDraws(drawn.astype(float), successes.astype(float))
    noise = rng.standard_normal(drawn.shape) * np.sqrt(variance * drawn)
    return CellDraws(drawn.astype(float), drawn * mean + noise)
