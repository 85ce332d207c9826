"""Worlds of the tests of invariance: does the group move predictions beyond three features?

The group has no part in a prediction unless it is shifted: `shift` is added to the score, or to
what a rule looks at, of the second group. Level is judged without a shift, power with half a
standard deviation. A finding that is not sure is none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import causalfairness as cf
from benchmarks.coverage.cell import Cell, Outcome, Tested

Array = NDArray[np.float64]
SHIFT = 0.5
NOISE = 0.7


class World(NamedTuple):
    """How groups and predictions follow the features; the second takes the shift and the noise."""

    chance: Callable[[Array], Array]
    prediction: Callable[[Array, Array, Array], Array]


class Drawn(NamedTuple):
    """Predictions, groups and features of some people."""

    predictions: Array
    group: NDArray[np.int64]
    features: Array


def corner(z: Array, s: Array, _: Array) -> Array:
    """A rule: one feature above 0, another above -1."""
    return ((z[:, 0] + s > 0) & (z[:, 1] > -1)) * 1.0


def corner_with_mistakes(z: Array, s: Array, e: Array) -> Array:
    """The same, turned round for one in twenty."""
    return np.abs(corner(z, s, e) - (np.abs(e) > 1.96 * NOISE))


def edge(z: Array) -> Array:
    """A direction that is no feature."""
    return z[:, 0] + 0.5 * z[:, 1]


def tiles(z: Array) -> Array:
    """A checkerboard of two features."""
    return (np.floor(2 * z[:, 0]) + np.floor(2 * z[:, 1])) % 2


def bent(z: Array) -> Array:
    """How likely the second group is along a bend."""
    return expit(1.5 * (z[:, 0] ** 2 - 1))


WORLDS = {
    "straight": World(lambda z: expit(2 * z[:, 0]), lambda z, s, e: edge(z) + s + e),
    "bend": World(bent, lambda z, s, e: z[:, 0] ** 2 + s + e),
    "product": World(
        lambda z: expit(2 * z[:, 0] * z[:, 1]), lambda z, s, e: z[:, 0] * z[:, 1] + s + e
    ),
    "yes/no of a bend": World(bent, lambda z, s, e: (z[:, 0] ** 2 + s + e > 1) * 1.0),
    "heavy tails": World(
        lambda z: expit(z[:, 0]), lambda z, s, e: z[:, 0] + 0.3 * z[:, 1] ** 2 + s + e
    ),
    "rare group": World(lambda z: expit(z[:, 0] - 3), lambda z, s, e: z[:, 0] + s + e),
    "rule": World(lambda z: np.where(z[:, 0] > 0, 0.7, 0.3), corner),
    "steps": World(
        lambda z: np.where(z[:, 0] > 0, 0.9, 0.1),
        lambda z, s, e: np.sign(z[:, 0]) + z[:, 1] + s + e,
    ),
    "sin 3x": World(
        lambda z: expit(2 * np.sin(3 * z[:, 0])), lambda z, s, e: np.sin(3 * z[:, 0]) + s + e
    ),
    "noisy rule": World(lambda z: np.where(z[:, 0] > 0, 0.8, 0.2), corner_with_mistakes),
    "oblique rule": World(
        lambda z: np.where(edge(z) > 0, 0.8, 0.2), lambda z, s, _: (edge(z) + s > 0) * 1.0
    ),
    "sin 8x": World(
        lambda z: expit(2 * np.sin(8 * z[:, 0])), lambda z, s, e: np.sin(8 * z[:, 0]) + s + e
    ),
    "checkerboard": World(
        lambda z: np.where(tiles(z) == 0, 0.9, 0.1), lambda z, s, e: tiles(z) + s + e
    ),
}
HARD = ("rule", "steps", "sin 3x", "noisy rule", "oblique rule")
SMOOTH = ("straight", "bend", "product", "yes/no of a bend", "heavy tails", "rare group")


def people(name: str, n: int, rng: np.random.Generator, shift: float = 0.0) -> Drawn:
    """Draw people of a world."""
    world = WORLDS[name]
    z = rng.standard_t(2.5, size=(n, 3)) if name == "heavy tails" else rng.normal(size=(n, 3))
    group = (rng.random(n) < world.chance(z)).astype(np.int64)
    return Drawn(world.prediction(z, shift * group, NOISE * rng.normal(size=n)), group, z)


def draw(name: str, n: int, shift: float, seed: int) -> Outcome:
    """Ask the test about one draw."""
    drawn = people(name, n, np.random.default_rng([5, seed]), shift)
    found = cf.invariance_test(*drawn, seed=seed)
    return {"dependence on the group": Tested(bool(found.rejected[0]), shift > 0)}


def _cell(name: str, n: int, shift: float, draws: int, quick: int = 0) -> Cell:
    about = f"{name}, shift {shift:g}" if shift else name
    return Cell(
        call="invariance_test",
        world=f"{about}, n = {n:,}",
        draw=partial(draw, name, n, shift),
        draws=draws,
        quick=quick,
        page="invariance",
    )


CELLS: tuple[Cell, ...] = (
    *(_cell(name, 400, 0.0, 60, quick=6 if name == "rule" else 0) for name in HARD),
    *(_cell(name, 2_000, 0.0, 60) for name in HARD),
    *(_cell(name, 400, 0.0, 60) for name in SMOOTH),
    *(_cell(name, 400, SHIFT, 60, quick=6 if name == "straight" else 0) for name in SMOOTH),
    *(_cell(name, 400, SHIFT, 60) for name in ("rule", "noisy rule", "oblique rule")),
    *(_cell(name, 400, 0.0, 30) for name in ("sin 8x", "checkerboard")),
)
