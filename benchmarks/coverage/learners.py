"""Worlds for default learners: five smooth confounders in four kinds, and forty confounders.

`additive` and `mix` are within reach of the default learners of `DoublyRobust`; no default set of
learners is right on `pairs` and `deep`, and there the result is to say so.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import causalfairness as cf
from benchmarks.coverage.cell import Cell, Estimated, Outcome, Tested

Array = NDArray[np.float64]
DEFAULT = "decompose_disparity, DoublyRobust()"
REACHED, BEYOND = ("additive", "mix"), ("pairs", "deep")
SLOPES = np.r_[0.5, -0.4, 0.3, 0.3, -0.3, 0.2, 0.2, 0.2, np.zeros(32)]


class World(NamedTuple):
    """A table, who is who in it, and the true parts of the sequential convention."""

    rows: Any
    model: cf.StandardFairnessModel
    truth: dict[str, float]
    beyond: bool = False  # whether default learners are known not to catch it


def surface(kind: str, c: Array) -> Array:
    """What confounders do, to the group as to mediator and outcome."""
    c1, c2, c3, c4, c5 = c.T
    if kind == "additive":
        bent = np.sin(1.5 * c1) + np.cos(2 * c2) + np.sin(2 * c3)
        return bent + np.abs(c4) - 0.8 + np.tanh(2 * c5)
    if kind == "mix":
        return np.sin(1.5 * c1) + c2 * c3 + np.cos(2 * c4) + 0.5 * np.sin(2 * c5) * c1
    if kind == "pairs":
        waves = np.sin(1.5 * c1 * c2) + np.cos(1.5 * c3 + c4)
        return waves + 1.5 * np.sin(2 * c5) * np.exp(-(c1**2) / 2) + 0.5 * np.tanh(c2 * c4)
    return 1.5 * np.sin(c1 + c2 + c3) + np.cos(c3 - c4 + c5) + np.tanh(c1 * c2 * c5)


def smooth(kind: str, n: int, rng: np.random.Generator) -> World:
    """Five confounders that bend, and one mediator. The direct part is 0.5."""
    c = rng.normal(size=(n, 5))
    g = surface(kind, c)
    a = (rng.random(n) < _logistic(0.8 * g)).astype(int)
    own = 0.5 * np.sin(1.5 * c[:, 0]) + 0.3 * g
    m = 0.6 * a + own + rng.normal(size=n)
    y = 0.5 * a + 1.2 * g + _through(m) + rng.normal(size=n)
    columns = {f"C{at}": c[:, at] for at in range(5)}
    rows = pd.DataFrame({"A": a, **columns, "M": m, "Y": y})
    return _world(rows, {"direct": 0.5})._replace(beyond=kind in BEYOND)


def wide(n: int, rng: np.random.Generator) -> World:
    """Forty confounders, eight of which act. Direct and indirect parts are 0.3."""
    c = rng.normal(size=(n, 40))
    a = (rng.random(n) < _logistic(c @ SLOPES)).astype(int)
    m = 0.6 * a + 0.4 * c[:, 0] + rng.normal(size=n)
    y = 0.3 * a + 0.5 * m + 0.8 * c @ SLOPES + rng.normal(size=n)
    columns = {f"C{at}": c[:, at] for at in range(40)}
    truth = {"direct": 0.3, "indirect": 0.3, "spurious": spurious_when_wide()}
    return _world(pd.DataFrame({"A": a, **columns, "M": m, "Y": y}), truth)


def spurious_when_wide() -> float:
    """The gap that forty confounders make by themselves.

    y has slopes 0.8 b + 0.2 e_1; with s = b'c normal of variance v, and E[c | s] = b s / v, it is
    (0.8 + 0.2 b_1 / v) (E[s | A = 1] - E[s | A = 0]).
    """
    v = float(SLOPES @ SLOPES)
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    s = np.sqrt(v) * points
    p = weights / weights.sum() * _logistic(s)  # half of all people are in group 1
    return float((0.8 + 0.2 * SLOPES[0] / v) * 4 * (p @ s))


def decomposed(world: World, seed: int) -> Outcome:
    """The parts whose truth is known, and whether the alarm was raised."""
    found = cf.decompose_disparity(
        world.rows, world.model, estimator=cf.estimators.DoublyRobust(), seed=seed
    )
    parts = {name: _estimated(found, name, true) for name, true in world.truth.items()}
    return {**parts, "not settled": Tested(found.settled is False, world.beyond)}


def draw_smooth(kind: str, n: int, seed: int) -> Outcome:
    """One draw of five smooth confounders."""
    return decomposed(smooth(kind, n, np.random.default_rng([seed, n, ord(kind[0])])), seed)


def draw_wide(n: int, seed: int) -> Outcome:
    """One draw of forty confounders."""
    return decomposed(wide(n, np.random.default_rng([seed, n])), seed)


def draw_easy(name: str, n: int, seed: int) -> Outcome:
    """One draw of a bundled world, where default learners have nothing to be warned of."""
    world = cf.datasets.worlds.WORLDS[name]()
    truth = {part: world.true_effects()[part] for part in ("direct", "indirect", "spurious")}
    return decomposed(World(world.draw(n, seed=seed), world.model, truth), seed)


CELLS: tuple[Cell, ...] = (
    *(
        Cell(
            DEFAULT,
            f"five smooth confounders, {kind}, n = 2,000",
            partial(draw_smooth, kind, 2_000),
            n,
            quick,
        )
        for kind, n, quick in (
            ("additive", 50, 0),
            ("mix", 40, 0),
            ("pairs", 25, 0),
            ("deep", 25, 1),
        )
    ),
    *(
        Cell(
            DEFAULT,
            f"five smooth confounders, {kind}, n = 8,000",
            partial(draw_smooth, kind, 8_000),
            6,
        )
        for kind in REACHED
    ),
    Cell(DEFAULT, "forty confounders, n = 1,000", partial(draw_wide, 1_000), 40),
    *(
        Cell(
            DEFAULT,
            f"{name}, n = 1,000",
            partial(draw_easy, name, 1_000),
            12,
            int(name == "binary"),
        )
        for name in sorted(cf.datasets.worlds.WORLDS)
    ),
)


def _estimated(found: Any, name: str, truth: float) -> Estimated:
    part = getattr(found, name)
    low, high = part.interval()
    return Estimated(part.value, part.standard_error, low, high, truth, found.settled)


def _world(rows: pd.DataFrame, truth: dict[str, float]) -> World:
    confounders = [name for name in rows.columns if name.startswith("C")]
    model = cf.StandardFairnessModel(
        protected="A", reference=0, comparison=1, confounders=confounders, mediators=["M"],
        outcome="Y",
    )  # fmt: skip
    return World(rows, model, truth)


def _through(m: Array) -> Array:
    return 0.5 * (m + 0.3 * np.sin(2 * m))


def _logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))
