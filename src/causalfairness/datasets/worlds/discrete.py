"""Which worlds can be counted out? Three whose confounders and mediator take a few values.

Every average is a finite sum over the levels of C and M: the truths are exact enumerations.
Across worlds discrete values are coupled monotonely: a row keeps its uniform number and takes the
level whose cumulative chance the number meets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, ndtri, softmax

from causalfairness.datasets.worlds.quadrature import levels_rule, product_rule
from causalfairness.datasets.worlds.world import World, roles_of

Array = NDArray[np.float64]
Numbers = tuple[float, ...]


def binary(*, direct: float = 0.5, indirect: float = 1.0, spurious: float = 0.8) -> World:
    """What if every column is binary? Sixteen cells, each with plenty of rows at n = 2,000.

    `direct`, `indirect` and `spurious` are log-odds: A -> Y, A -> M and C -> A.

    >>> binary().model.confounders
    ('c1', 'c2')
    """

    def group(c: Array) -> Array:
        return np.asarray(expit(0.1 + spurious * (c[:, 0] - 0.5 * c[:, 1])))

    def mediator(a: Array, c: Array) -> Array:
        chance = expit(-0.2 + indirect * a + 0.6 * c[:, 0] - 0.5 * c[:, 1])
        return np.stack([1 - chance, chance], axis=1)

    def mean(a: Array, c: Array, m: Array) -> Array:
        logit = -1.0 + direct * a + (1.0 + 0.5 * a) * m + 0.7 * c[:, 0] - 0.4 * c[:, 1]
        return np.asarray(expit(logit))

    equations = Discrete(
        levels=((0, 1), (0, 1)),
        chances=((0.4, 0.6), (0.6, 0.4)),
        group=group,
        mediator_levels=(0, 1),
        mediator=mediator,
        mean=mean,
        spread=coin,
    )
    whole = frozenset({"c1", "c2", "m1", "y"})
    return World(
        "binary",
        "binary columns throughout",
        roles_of(["c1", "c2"], ["m1"]),
        equations,
        whole_numbers=whole,
    )


def sparse_cells(*, direct: float = 0.5, indirect: float = 0.1, spurious: float = 0.12) -> World:
    """What if there are almost as many cells as rows can fill? About 11 rows each at n = 2,000.

    Ten confounder levels and nine mediator levels make 180 cells (a, m, c). At n = 2,000 about
    half of the draws have cells of one or two rows, while fewer than 2 draws in 100 have a cell
    that one group misses altogether.

    >>> table = sparse_cells().draw(2_000, seed=0)
    >>> table.group_by(["group", "c1", "c2", "m1"]).aggregate([]).num_rows
    180
    """

    def group(c: Array) -> Array:
        return np.asarray(expit(0.3 + spurious * (c[:, 0] - 2) - spurious * (c[:, 1] - 0.5)))

    def mediator(a: Array, c: Array) -> Array:
        tilt = indirect * (a - 0.5) + 0.02 * (c[:, 0] - 2)
        return np.asarray(softmax(np.multiply.outer(tilt, np.arange(9) - 4), axis=1))

    def mean(a: Array, c: Array, m: Array) -> Array:
        return np.asarray(direct * a + (0.4 + 0.1 * a) * m + 0.5 * c[:, 0] - 0.6 * c[:, 1])

    equations = Discrete(
        levels=((0, 1, 2, 3, 4), (0, 1)),
        chances=((0.2,) * 5, (0.5,) * 2),
        group=group,
        mediator_levels=tuple(range(9)),
        mediator=mediator,
        mean=mean,
        spread=bell,
    )
    whole = frozenset({"c1", "c2", "m1"})
    return World(
        "sparse_cells",
        "few rows per cell",
        roles_of(["c1", "c2"], ["m1"]),
        equations,
        whole_numbers=whole,
    )


def count_mediator(*, direct: float = 0.4, indirect: float = 0.35, spurious: float = 0.3) -> World:
    """What if the mediator is a count and the confounder an age? Prior offences, 18 to 69 years.

    Priors are Poisson with log mean 0.7 + `indirect` A - 0.015 (age - 40); counts beyond 30, with
    a chance below 1e-15, are counted as 30. The outcome is binary.

    >>> count_mediator().draw(2, seed=0).column_names
    ['group', 'age', 'priors', 'reoffended']
    """
    ages = tuple(range(18, 70))
    youth = np.exp(-np.arange(52) / 25)
    counts = np.arange(31)

    def group(c: Array) -> Array:
        return np.asarray(expit(0.3 - spurious * (c[:, 0] - 40) / 10))

    def mediator(a: Array, c: Array) -> Array:
        log_mean = (0.7 + indirect * a - 0.015 * (c[:, 0] - 40))[:, None]
        chances = np.exp(counts * log_mean - np.exp(log_mean) - gammaln(counts + 1))
        chances[:, -1] = 1 - chances[:, :-1].sum(axis=1)
        return np.asarray(np.maximum(chances, 0.0))

    def mean(a: Array, c: Array, m: Array) -> Array:
        return np.asarray(expit(-1.0 + direct * a + 0.25 * m - 0.03 * (c[:, 0] - 40)))

    equations = Discrete(
        levels=(ages,),
        chances=(tuple(youth / youth.sum()),),
        group=group,
        mediator_levels=tuple(range(31)),
        mediator=mediator,
        mean=mean,
        spread=coin,
    )
    model = roles_of(["age"], ["priors"], "reoffended")
    return World(
        "count_mediator",
        "a count between group and outcome, confounded by age",
        model,
        equations,
        whole_numbers=frozenset({"age", "priors", "reoffended"}),
    )


def coin(mean: Array, noise: Array) -> Array:
    """Which binary outcome has this mean?

    >>> coin(np.array([0.3, 0.3]), np.array([0.1, 0.9]))
    array([1., 0.])
    """
    return np.asarray((noise < mean).astype(float))


def bell(mean: Array, noise: Array) -> Array:
    """Which normal outcome of variance 1 has this mean?

    >>> bell(np.array([0.3]), np.array([0.5]))
    array([0.3])
    """
    return np.asarray(mean + ndtri(noise))


@dataclass(frozen=True)
class Discrete:
    """Which tables and functions make a discrete world with one mediator?

    `mediator(a, c)` gives the chance of each mediator level, one row per person.

    >>> round(float(binary().equations.nested_mean(0, 0, np.zeros((1, 2)))[0]), 3)
    0.373
    """

    levels: tuple[Numbers, ...]  # one tuple per confounder
    chances: tuple[Numbers, ...]
    group: Callable[[Array], Array]
    mediator_levels: Numbers
    mediator: Callable[[Array, Array], Array]
    mean: Callable[[Array, Array, Array], Array]
    spread: Callable[[Array, Array], Array]

    def confounders(self, noise: Array) -> Array:
        """Which C comes from this noise?"""
        columns = [
            np.array(levels, dtype=float)[np.searchsorted(np.cumsum(chances)[:-1], u)]
            for levels, chances, u in zip(self.levels, self.chances, noise.T, strict=True)
        ]
        return np.stack(columns, axis=1)

    def group_probability(self, c: Array) -> Array:
        """How likely is the comparison group, given C?"""
        return self.group(c)

    def mediators(self, a: Array, c: Array, noise: Array) -> Array:
        """Which M comes from A, C and this noise? The level whose cumulative chance it meets."""
        below = np.cumsum(self.mediator(a, c), axis=1)[:, :-1]
        position = (noise[:, 0] > below).sum(axis=1)
        return np.asarray(np.array(self.mediator_levels, dtype=float)[position][:, None])

    def mediator_density(self, a: int, c: Array, m: Array) -> Array:
        """How likely is M given A and C?"""
        position = np.searchsorted(np.array(self.mediator_levels), m[:, 0])
        return self.mediator(np.full(len(c), float(a)), c)[np.arange(len(c)), position]

    def outcome(self, a: Array, c: Array, m: Array, noise: Array) -> Array:
        """Which Y comes from A, C, M and this noise?"""
        return self.spread(self.mean(a, c, m[:, 0]), noise)

    def outcome_mean(self, a: int, c: Array, m: Array) -> Array:
        """Which Y is expected given A, C and M?"""
        return self.mean(np.full(len(c), float(a)), c, m[:, 0])

    def nested_mean(self, i: int, j: int, c: Array) -> Array:
        """Which Y is expected given C if Y is told i and M is told j?"""
        told_i, told_j = (np.full(len(c), float(told)) for told in (i, j))
        means = [self.mean(told_i, c, np.full(len(c), level)) for level in self.mediator_levels]
        return np.asarray((self.mediator(told_j, c) * np.stack(means, axis=1)).sum(axis=1))

    def confounder_grid(self) -> tuple[Array, Array]:
        """Over which values of C do averages run? Every combination of levels."""
        return product_rule(
            [levels_rule(*column) for column in zip(self.levels, self.chances, strict=True)]
        )
