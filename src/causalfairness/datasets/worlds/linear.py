"""Which worlds have linear equations? Five, from plain to ten confounders; integrals are exact.

    C_l = N(0, 1) or a coin,       A = 1 with chance expit(base + C . to_group),
    M   = A to_mediators + C . confounders_to_mediators + noise,
    Y   = A direct + M . (from_mediators + A mediators_by_group)
        + C . (from_confounders + A confounders_by_group) + noise

Noise has mean 0 and variance 1. Q is linear in M and nu in C, so nu_ij is Q_i at the mean of M_j,
and P(c | k) matters only along the line that decides the group: one dimension and the coins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri, stdtrit

from causalfairness.datasets.worlds.quadrature import levels_rule, normal_rule, product_rule
from causalfairness.datasets.worlds.world import World, roles_of

Array = NDArray[np.float64]
Numbers = tuple[float, ...]


def linear_gaussian(*, direct: float = 0.5, indirect: float = 0.6, spurious: float = 0.5) -> World:
    """What if everything is linear and normal? Then each part is a product of coefficients.

    `direct` is A -> Y, `indirect` A -> M, `spurious` the log-odds of the group per sd of C.

    >>> parts = linear_gaussian(direct=0.5, indirect=0.6).true_effects()
    >>> round(parts["direct"], 12), round(parts["indirect"], 12)
    (0.5, 0.48)
    """
    equations = Linear(
        base=0.45,
        to_group=(spurious, -0.6 * spurious),
        to_mediators=(indirect,),
        confounders_to_mediators=((0.5,), (0.3,)),
        direct=direct,
        from_mediators=(0.8,),
        from_confounders=(0.7, -0.4),
    )
    return _world("linear_gaussian", "linear equations with normal noise", equations)


def interacting(*, direct: float = 0.4, indirect: float = 0.7, spurious: float = 0.5) -> World:
    """What if the outcome rewards mediators and confounders differently in the two groups?

    The parts then depend on the order in which the paths are told: conventions differ.

    >>> world = interacting()
    >>> sequential, symmetric = world.true_effects(), world.true_effects("symmetric")
    >>> abs(sequential["indirect"] - symmetric["indirect"]) > 0.1
    True
    """
    equations = Linear(
        base=0.45,
        to_group=(spurious, 0.5 * spurious),
        to_mediators=(indirect,),
        confounders_to_mediators=((0.4,), (-0.5,)),
        direct=direct,
        from_mediators=(0.5,),
        from_confounders=(0.8, 0.3),
        mediators_by_group=(0.6,),
        confounders_by_group=(-0.5, 0.2),
    )
    return _world(
        "interacting", "the group changes what mediators and confounders are worth", equations
    )


def rare_group(*, direct: float = -0.4, indirect: float = 0.5, spurious: float = 0.4) -> World:
    """What if the comparison group is rare, about 8 in 100, but has counterparts everywhere?

    >>> round(rare_group().share, 2)
    0.08
    """
    equations = Linear(
        base=-2.55,
        to_group=(spurious, 0.5 * spurious),
        to_mediators=(indirect, -0.6 * indirect),
        confounders_to_mediators=((0.4, 0.2), (-0.3, 0.5)),
        direct=direct,
        from_mediators=(0.7, 0.4),
        from_confounders=(0.5, 0.6),
        mediators_by_group=(0.2, 0.0),
    )
    return _world("rare_group", "the comparison group is about 8 % of the people", equations)


def heavy_tailed(*, direct: float = 0.5, indirect: float = 0.8, spurious: float = 0.5) -> World:
    """What if noise has heavy tails? Student t with 4 degrees of freedom, scaled to variance 1.

    >>> import numpy as np
    >>> y = np.asarray(heavy_tailed().draw(20_000, seed=0)["y"])
    >>> bool(abs(y - np.median(y)).max() > 10 * y.std())
    True
    """
    equations = Linear(
        base=0.45,
        to_group=(spurious, -0.5 * spurious),
        to_mediators=(indirect,),
        confounders_to_mediators=((0.3,), (0.4,)),
        direct=direct,
        from_mediators=(-0.6,),
        from_confounders=(0.5, -0.5),
        noise=STUDENT,
    )
    return _world("heavy_tailed", "Student noise in mediator and outcome", equations)


def ten_confounders(*, direct: float = 0.3, indirect: float = 0.4, spurious: float = 0.3) -> World:
    """What if there are ten confounders, six normal and four coins, and two mediators?

    >>> len(ten_confounders().model.confounders)
    10
    """
    leaning = (1.0, -0.8, 0.6, 0.5, -0.4, 0.3, 0.8, -0.6, 0.5, 0.4)
    equations = Linear(
        base=0.28,
        to_group=tuple(spurious * lean for lean in leaning),
        to_mediators=(indirect, 0.7 * indirect),
        confounders_to_mediators=tuple(
            (0.2 * (-1) ** column, 0.1 * (column % 4 - 1)) for column in range(10)
        ),
        direct=direct,
        from_mediators=(0.7, -0.4),
        from_confounders=(0.5, -0.3, 0.4, 0.0, -0.2, 0.3, 0.6, 0.0, -0.4, 0.5),
        mediators_by_group=(0.0, 0.3),
        confounders_by_group=(0.2, 0.0, 0.0, 0.0, 0.0, 0.0, -0.3, 0.0, 0.0, 0.0),
        coins=(0.5, 0.3, 0.6, 0.2),
    )
    return _world("ten_confounders", "six normal and four binary confounders", equations)


class UnitNoise(NamedTuple):
    """Which noise of mean 0 and variance 1? Its quantiles and its density.

    >>> round(float(STUDENT.quantile(np.array(0.975))), 3)
    1.963
    """

    quantile: Callable[[Array], Array]
    density: Callable[[Array], Array]


def _student_quantile(u: Array) -> Array:
    return np.asarray(stdtrit(4, u) / np.sqrt(2))


def _student_density(x: Array) -> Array:
    return np.asarray(0.375 * np.sqrt(2) * (1 + x**2 / 2) ** -2.5)


def _normal_density(x: Array) -> Array:
    return np.asarray(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))


NORMAL = UnitNoise(ndtri, _normal_density)
STUDENT = UnitNoise(_student_quantile, _student_density)


@dataclass(frozen=True)
class Linear:
    """Which coefficients make a linear world? The equations are those of the module.

    >>> plain = Linear(base=0.0, to_group=(1.0,), to_mediators=(0.5,),
    ...                confounders_to_mediators=((0.0,),), direct=2.0,
    ...                from_mediators=(1.0,), from_confounders=(0.0,))
    >>> plain.nested_mean(1, 1, np.zeros((1, 1)))
    array([2.5])
    """

    base: float
    to_group: Numbers
    to_mediators: Numbers
    confounders_to_mediators: tuple[Numbers, ...]  # one row per confounder
    direct: float
    from_mediators: Numbers
    from_confounders: Numbers
    mediators_by_group: Numbers = ()
    confounders_by_group: Numbers = ()
    coins: Numbers = ()  # chances of the last confounders, which are binary
    noise: UnitNoise = NORMAL

    @property
    def _normals(self) -> int:
        return len(self.to_group) - len(self.coins)

    def confounders(self, noise: Array) -> Array:
        """Which C comes from this noise? Normals first, then coins."""
        bells, coins = noise[:, : self._normals], noise[:, self._normals :]
        return np.asarray(np.hstack([ndtri(bells), coins < np.array(self.coins)]), dtype=float)

    def group_probability(self, c: Array) -> Array:
        """How likely is the comparison group, given C?"""
        return np.asarray(expit(self.base + c @ np.array(self.to_group)))

    def mediators(self, a: Array, c: Array, noise: Array) -> Array:
        """Which M comes from A, C and this noise?"""
        return self._mediator_mean(a, c) + self.noise.quantile(noise[:, 0])

    def mediator_density(self, a: int, c: Array, m: Array) -> Array:
        """How dense is M given A and C? The noises of the mediators are independent."""
        told = np.full(len(c), float(a))
        return np.asarray(self.noise.density(m - self._mediator_mean(told, c)).prod(axis=1))

    def outcome(self, a: Array, c: Array, m: Array, noise: Array) -> Array:
        """Which Y comes from A, C, M and this noise?"""
        return self._outcome_mean(a, c, m) + self.noise.quantile(noise)

    def outcome_mean(self, a: int, c: Array, m: Array) -> Array:
        """Which Y is expected given A, C and M?"""
        return self._outcome_mean(np.full(len(c), float(a)), c, m)

    def nested_mean(self, i: int, j: int, c: Array) -> Array:
        """Which Y is expected given C if Y is told i and M is told j?"""
        return self.outcome_mean(i, c, self._mediator_mean(np.full(len(c), float(j)), c))

    def confounder_grid(self) -> tuple[Array, Array]:
        """Over which values of C do averages of linear functions of the normals run?

        Given coins and the position z along the line that decides the group, the normals' mean
        is z times the line's direction: one node stands for all that share z.
        """
        line = np.array(self.to_group[: self._normals])
        length = np.linalg.norm(line)
        direction = line / length if length else line
        coins = [levels_rule((0, 1), (1 - chance, chance)) for chance in self.coins]
        nodes, weights = product_rule([normal_rule(120), *coins])
        return np.hstack([nodes[:, :1] * direction, nodes[:, 1:]]), weights

    def _mediator_mean(self, a: Array, c: Array) -> Array:
        from_c = c @ np.array(self.confounders_to_mediators)
        return np.asarray(np.multiply.outer(a, np.array(self.to_mediators)) + from_c)

    def _outcome_mean(self, a: Array, c: Array, m: Array) -> Array:
        plain = m @ np.array(self.from_mediators) + c @ np.array(self.from_confounders)
        extra = np.full(len(c), self.direct)
        if self.mediators_by_group:
            extra = extra + m @ np.array(self.mediators_by_group)
        if self.confounders_by_group:
            extra = extra + c @ np.array(self.confounders_by_group)
        return np.asarray(plain + a * extra)


def _world(name: str, description: str, equations: Linear) -> World:
    model = roles_of(
        [f"c{number + 1}" for number in range(len(equations.to_group))],
        [f"m{number + 1}" for number in range(len(equations.to_mediators))],
    )
    coins = len(equations.coins)
    whole = frozenset(model.confounders[len(model.confounders) - coins :])
    return World(name, description, model, equations, whole_numbers=whole)
