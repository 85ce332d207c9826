"""Rare outcomes and small groups: do intervals hold the truth where a group has few events?

Two groups of fixed sizes and one confounder of two values, idle or acting. The group has no effect:
direct is 0, and where the confounder acts, total and spurious are a fifth of the rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import causalfairness as cf
from benchmarks.coverage.cell import Cell, Estimated, Outcome
from causalfairness.errors import CausalFairnessError
from causalfairness.inference.intervals import normal_reach

GROUPS = {"protected": "A", "reference": 0, "comparison": 1}
MODEL = cf.StandardFairnessModel(**GROUPS, confounders=["C"], outcome="Y")
WEIGHTED = cf.StandardFairnessModel(**GROUPS, confounders=["C"], outcome="Y", weights="W")
ALONE = cf.StandardFairnessModel(**GROUPS, outcome="Y")
AUDITED = cf.StandardFairnessModel(**GROUPS, confounders=["C"], outcome="Y", prediction="P")
DEAF = cf.StandardFairnessModel(
    **GROUPS, confounders=["C"], mediators=["M"], prediction=lambda some: some["M"].to_numpy()
)
COUNTED = cf.estimators.Strata()
PARTS = ("total", "direct", "spurious")


class World(NamedTuple):
    """Sizes of the two groups, the outcome's rate, and whether the confounder acts on it."""

    sizes: tuple[int, int]
    rate: float
    acts: bool

    @property
    def name(self) -> str:
        """How the world is called on the page."""
        reference, comparison = self.sizes
        confounder = "acting" if self.acts else "idle"
        return f"{reference:,} and {comparison:,} at {self.rate:.0%}, confounder {confounder}"

    @property
    def truth(self) -> Mapping[str, float]:
        """What the parts are."""
        return {"total": self.gap, "direct": 0.0, "spurious": self.gap}

    @property
    def gap(self) -> float:
        """How far the groups' rates are apart: .6 against .4 of 1.5 and .5 times the rate."""
        return 0.2 * self.rate if self.acts else 0.0


RARE = tuple(
    World(sizes, rate, acts)
    for sizes, rate in (
        ((1_000, 15), 0.10),
        ((1_000, 30), 0.10),
        ((1_000, 100), 0.02),
        ((2_000, 300), 0.01),
    )
    for acts in (False, True)
)
ORDINARY = tuple(World((1_000, small), 0.30, True) for small in (100, 1_000))


def people(world: World, seed: int, outcome: str = "yes or no") -> pl.DataFrame:
    """Rows of a world. `outcome` may also be `"amount"`: an exponential number of that mean."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], world.sizes)
    c = (rng.random(len(group)) < np.where(group == 1, 0.6, 0.4)).astype(int)
    chance = world.rate * (np.where(c == 1, 1.5, 0.5) if world.acts else np.ones(len(c)))
    weight = rng.choice([0.5, 1.0, 2.0], len(group))
    if outcome == "amount":
        y: Any = rng.exponential(chance)
    else:
        y = (rng.random(len(group)) < chance).astype(int)
    return pl.DataFrame({"A": group, "C": c, "Y": y, "W": weight})


def estimated(effect: cf.Effect, truth: float, level: float = 0.95) -> Estimated:
    """An effect beside what it estimates."""
    return Estimated(effect.value, effect.standard_error, *effect.interval(level), truth)


def parts(
    world: World,
    seed: int,
    *,
    estimator: Any = COUNTED,
    model: cf.StandardFairnessModel = MODEL,
    outcome: str = "yes or no",
    names: tuple[str, ...] = PARTS,
) -> Outcome:
    """The parts of one draw."""
    try:
        found = cf.decompose_disparity(
            people(world, seed, outcome), model, estimator=estimator, seed=seed
        )
    except CausalFairnessError:
        return {}
    return {name: estimated(getattr(found, name), world.truth[name]) for name in names}


def gap_of_rates(world: World, seed: int) -> Outcome:
    """The difference of two base rates, as group metrics have it."""
    try:
        found = cf.group_metrics(people(world, seed), ALONE)
    except CausalFairnessError:
        return {}
    (gap,) = found.gaps()
    error = (gap["high"] - gap["low"]) / (2 * normal_reach(0.95))
    return {"difference": Estimated(gap["value"], error, gap["low"], gap["high"], world.gap)}


def error_rate(world: World, seed: int) -> Outcome:
    """Decisions that depend on no outcome: false positives are as rare as they are."""
    data = people(world, seed).rename({"Y": "P"})
    half = np.random.default_rng((seed, 1)).integers(0, 2, len(data))
    try:
        found = cf.decompose_error_rates(
            data.with_columns(Y=half), AUDITED, "fpr", estimator=COUNTED
        )
    except CausalFairnessError:
        return {}
    return {name: estimated(getattr(found, name), world.truth[name]) for name in PARTS}


def known_decisions(world: World, seed: int) -> Outcome:
    """A function that decides by a rare mediator alone, and so is deaf to the group."""
    data = people(world, seed).rename({"Y": "M"})
    try:
        found = cf.decompose_disparity(data, DEAF, of="prediction", seed=seed)
    except CausalFairnessError:
        return {}
    return {"total": estimated(found.total, world.gap)}


def cell(
    call: str, world: World, draw: Callable[..., Outcome], draws: int, quick: int = 0, **more: Any
) -> Cell:
    """A cell of this subject."""
    return Cell(call, world.name, partial(draw, world), draws, quick, **more)


def drawn(estimator: Any, **options: Any) -> Callable[..., Outcome]:
    """The parts by an estimator."""
    return partial(parts, estimator=estimator, **options)


SMALL, FEW, SELDOM, MANY = (RARE[at] for at in (1, 3, 5, 7))  # with an acting confounder
CELLS: tuple[Cell, ...] = (
    *(
        cell(
            "decompose_disparity, Strata", world, parts, 2_000, 150 if world in (SMALL, FEW) else 0
        )
        for world in (*RARE, *ORDINARY)
    ),
    cell("decompose_disparity, Strata, weights", FEW, drawn(COUNTED, model=WEIGHTED), 2_000, 100),
    cell("decompose_disparity, Strata, numbers", SMALL, drawn(COUNTED, outcome="amount"), 2_000),
    cell("group_metrics, differences", SMALL, gap_of_rates, 1_000, 100, page="group-metrics"),
    cell("decompose_error_rates, Strata", SELDOM, error_rate, 1_000, page="equalized-odds"),
    cell("decompose_disparity, KnownModel", FEW, known_decisions, 60),
    *(
        cell("decompose_disparity, DoublyRobust", world, drawn(cf.estimators.DoublyRobust()), 50)
        for world in (FEW, SELDOM, MANY)
    ),
    *(
        cell(f"decompose_disparity, {name}", FEW, drawn(estimator, names=PARTS[:2]), 400)
        for name, estimator in (
            ("Strata(replicates)", cf.estimators.Strata(replicates=200)),
            ("Weighting", cf.estimators.Weighting(replicates=100)),
            ("Regression", cf.estimators.Regression(replicates=100)),
        )
    ),
)
