"""Situation tests where nobody is treated differently, and where somebody is.

Three features; 40 % belong to the group, whose first feature may lie lower, so that neighbors of
the group lie to one side. A decision is declined more often where that feature is low; in the group
it may be declined more often still, the features being the same.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit

import causalfairness as cf
from benchmarks.coverage.cell import Cell, Outcome, Tested

FEATURES = ["x0", "x1", "x2"]


def applicants(n: int, seed: int, *, apart: float = 0.0, harsher: float = 0.0) -> pd.DataFrame:
    """People of whom about 30 % are declined.

    Parameters
    ----------
    apart
        How many standard deviations lower the first feature of the group lies.
    harsher
        By how much the log odds of being declined are higher in the group, features alike.
    """
    rng = np.random.default_rng(seed)
    group = (rng.random(n) < 0.4).astype(int)
    x = rng.normal(size=(n, 3))
    x[:, 0] -= apart * group
    declined = rng.random(n) < expit(np.log(0.3 / 0.7) - 1.2 * x[:, 0] + harsher * group)
    return pd.DataFrame({"group": group, **dict(zip(FEATURES, x.T, strict=True)), "ok": ~declined})


def compared(people: pd.DataFrame, k: int = 15) -> cf.individuals.SituationTest:
    """The situation test of the group, as it is asked by default."""
    return cf.situation_test(
        people,
        protected="group",
        comparison=1,
        features=FEATURES,
        decision="ok",
        favorable=True,
        k=k,
    )


def _found(seed: int, *, n: int, k: int, apart: float = 0.0, harsher: float = 0.0) -> Outcome:
    line = compared(applicants(n, seed, apart=apart, harsher=harsher), k).summary()[k]
    return {
        "discoveries": Tested(line.discoveries > 0, harsher > 0),
        "discoveries, mirror image": Tested(line.positive_discoveries > 0, False),
    }


def _cell(world: str, draws: int, quick: int = 0, **settings: float) -> Cell:
    return Cell(
        call="situation_test",
        world=world,
        draw=partial(_found, **settings),
        draws=draws,
        quick=quick,
        page="situation-testing",
    )


CELLS: tuple[Cell, ...] = (
    _cell("nobody treated differently, 1,000 people, k = 15", 300, n=1_000, k=15),
    _cell("nobody, groups 1 sd apart, 500 people, k = 30", 300, 20, n=500, k=30, apart=1.0),
    _cell("nobody, groups 1 sd apart, 1,000 people, k = 15", 300, 20, n=1_000, k=15, apart=1.0),
    _cell("nobody, groups 1 sd apart, 1,000 people, k = 30", 300, n=1_000, k=30, apart=1.0),
    _cell("nobody, groups 1 sd apart, 4,000 people, k = 30", 100, n=4_000, k=30, apart=1.0),
    _cell("odds 3.3 times higher, 1,000 people, k = 15", 200, 10, n=1_000, k=15, harsher=1.2),
    _cell(
        "odds 3.3 times higher, 1 sd apart, 1,000 people, k = 15",
        200,
        n=1_000,
        k=15,
        apart=1.0,
        harsher=1.2,
    ),
    _cell(
        "odds 3.3 times higher, 1 sd apart, 1,000 people, k = 30",
        200,
        n=1_000,
        k=30,
        apart=1.0,
        harsher=1.2,
    ),
)
