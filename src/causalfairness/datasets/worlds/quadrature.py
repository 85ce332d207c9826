"""How are averages over confounders and noise taken without simulation? By weighted nodes."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rule = tuple[Array, Array]  # nodes and weights; the weights add up to 1


def normal_rule(count: int) -> Rule:
    """Which nodes average a smooth function of a standard normal? Gauss-Hermite.

    >>> nodes, weights = normal_rule(5)
    >>> round(float(weights @ nodes**4), 12)
    3.0
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / weights.sum()


def kinked_normal_rule(count: int) -> Rule:
    """Which nodes average a function of a standard normal that has a kink at 0, such as |z|?

    Gauss-Legendre on either side of 0, out to 8.

    >>> nodes, weights = kinked_normal_rule(16)
    >>> bool(np.isclose(weights @ abs(nodes), np.sqrt(2 / np.pi), rtol=1e-9))
    True
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    half = 4 * (nodes + 1)
    mass = weights * np.exp(-(half**2) / 2)
    both = np.concatenate([mass, mass])
    return np.concatenate([-half, half]), both / both.sum()


def uniform_rule(count: int) -> Rule:
    """Which nodes average a smooth function of a uniform number on (-1, 1)? Gauss-Legendre.

    >>> nodes, weights = uniform_rule(3)
    >>> round(float(weights @ nodes**2), 12)
    0.333333333333
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights / 2


def levels_rule(levels: tuple[float, ...], chances: tuple[float, ...]) -> Rule:
    """Which nodes average a function of a discrete column? Its levels, exactly.

    >>> nodes, weights = levels_rule((0, 1), (0.7, 0.3))
    >>> float(weights @ nodes)
    0.3
    """
    return np.array(levels, dtype=float), np.array(chances, dtype=float)


def product_rule(rules: list[Rule]) -> tuple[Array, Array]:
    """Which nodes average a function of several independent columns? Every combination.

    >>> nodes, weights = product_rule([levels_rule((0, 1), (0.7, 0.3)), normal_rule(4)])
    >>> nodes.shape, round(float(weights.sum()), 12)
    ((8, 2), 1.0)
    """
    meshes = np.meshgrid(*(nodes for nodes, _ in rules), indexing="ij")
    weights = reduce(np.multiply.outer, (weights for _, weights in rules))
    return np.stack([mesh.ravel() for mesh in meshes], axis=1), np.asarray(weights).ravel()
