"""Group questions in worlds whose answers are known in closed form: estimators, rates, necessity.

The ten bundled worlds at 2,000 rows, and one of yes and no in which a decision is made:

    P(c = 1) = .5,   P(a = 1 | c) = .4 + .2 c,   P(m = 1 | a, c) = .2 + .4 a + .2 c
    P(y = 1 | a, m, c) = .2 + DIRECT a + .3 m + .2 c,        decision: m = 1 or c = 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

import causalfairness as cf
from benchmarks.coverage.cell import Cell, Estimated, Outcome, Tested
from causalfairness.errors import CausalFairnessError

ROWS, Z = 2_000, 1.959964
PARTS = ("total", "direct", "indirect", "spurious")
WORLDS = cf.datasets.worlds.WORLDS
DISCRETE = ("binary", "sparse_cells")
STRAIGHT = [name for name in WORLDS if name not in ("heavy_tailed", "med")]


def structural() -> Any:
    """A structural model of the world `linear_gaussian`, fitted to what is asked about."""
    roles = WORLDS["linear_gaussian"]().model
    c, m, y = roles.confounders, roles.mediators, roles.outcome
    arrows = [*product(("group", *c), (*m, y)), *product(m, (y,))]
    graph = cf.CausalGraph.from_edges(arrows, product(("group",), c))
    return cf.estimators.Structural(graph, replicates=50)


ESTIMATORS: Mapping[str, tuple[Callable[[], Any], list[str], int]] = {
    "Strata": (cf.estimators.Strata, [*DISCRETE], 400),
    "DoublyRobust": (cf.estimators.DoublyRobust, [*WORLDS], 60),
    "Regression": (cf.estimators.Regression, [*WORLDS], 60),
    "Weighting": (cf.estimators.Weighting, STRAIGHT, 60),
    "Structural": (structural, ["linear_gaussian"], 40),
}
QUICK = {("Strata", "sparse_cells"): 150, ("DoublyRobust", "linear_gaussian"): 8}


@cache
def world_of(name: str) -> tuple[Any, Mapping[str, float]]:
    """A bundled world and its parts, which take seconds to integrate."""
    world = WORLDS[name]()
    return world, world.true_effects()


def parts(name: str, make: Callable[[], Any], seed: int) -> Outcome:
    """The parts of the gap of one draw of a bundled world."""
    world, truth = world_of(name)
    data = world.draw(ROWS, seed=seed)
    try:
        found = cf.decompose_disparity(data, world.model, estimator=make(), workers=1, seed=seed)
    except CausalFairnessError:
        return {}
    settled = getattr(found.diagnostics, "settled", True)
    told = {part: getattr(found, part) for part in PARTS}
    return {part: estimated(each, truth[part], settled) for part, each in told.items()}


def estimated(effect: Any, truth: float, settled: bool | None = True) -> Estimated:
    """An effect with its default interval, beside the truth."""
    return Estimated(effect.value, effect.standard_error, *effect.interval(), truth, settled)


# --- a world of yes and no ------------------------------------------------------------------------

GROUPS = {"protected": "a", "reference": 0, "comparison": 1}
ROLES = {**GROUPS, "confounders": ["c"], "mediators": ["m"]}
MODEL = cf.StandardFairnessModel(**ROLES, outcome="y", prediction="d")
DRAWN = cf.StandardFairnessModel(**ROLES, outcome="d", prediction="y")  # a decision by chance
CELLS_OF_IT = np.array([*product((0, 1), repeat=4)])  # a, c, m, y


def chances(direct: float) -> np.ndarray:
    """The chance of each cell."""
    a, c, m, y = CELLS_OF_IT.T
    of_a, of_m = 0.4 + 0.2 * c, 0.2 + 0.4 * a + 0.2 * c
    of_y = 0.2 + direct * a + 0.3 * m + 0.2 * c
    told = zip((of_a, of_m, of_y), (a, m, y), strict=True)
    return 0.5 * np.prod([np.where(value == 1, p, 1 - p) for p, value in told], axis=0)


def decided(n: int, seed: int, direct: float = 0.0) -> pa.Table:
    """Rows of that world."""
    rng = np.random.default_rng(seed)
    a, c, m, y = CELLS_OF_IT[rng.choice(16, n, p=chances(direct))].T
    return pa.table({"a": a, "c": c, "m": m, "y": y, "d": (m + c > 0).astype(int)})


def true_rates(label: int) -> Mapping[str, float]:
    """Parts of the gap in P(decision = 1 | y = label): the decision does not know the group."""
    p, (a, c, m, y) = chances(0.0), CELLS_OF_IT.T

    def mean(j: int, k: int) -> float:
        among_c = [p[(a == k) & (c == v) & (y == label)].sum() for v in (0, 1)]
        share = among_c[1] / sum(among_c)
        told = [p[(a == j) & (c == 0) & (m == v) & (y == label)].sum() for v in (0, 1)]
        return share + (1 - share) * told[1] / sum(told)

    total = mean(1, 1) - mean(0, 0)
    indirect = mean(1, 0) - mean(0, 0)
    spurious = mean(1, 1) - mean(1, 0)
    return {"total": total, "direct": 0.0, "indirect": indirect, "spurious": spurious}


def rates(rate: str, label: int, seed: int) -> Outcome:
    """The parts of a gap in error rates."""
    found = cf.decompose_error_rates(decided(ROWS, seed), MODEL, rate=rate, with_mediators=True)
    truth = true_rates(label)
    return {part: estimated(getattr(found, part), truth[part]) for part in PARTS}


def plain(seed: int) -> Outcome:
    """The plain gap in outcomes, from the table of metrics."""
    records = cf.group_metrics(decided(ROWS, seed), MODEL, favorable=1).gaps().to_records()
    (found,) = (row for row in records if row["metric"] == "base_rate")
    low, high = found["low"], found["high"]
    p, (a, _, _, y) = chances(0.0), CELLS_OF_IT.T
    shares = [p[(a == k) & (y == 1)].sum() / p[a == k].sum() for k in (0, 1)]
    truth = float(shares[1] - shares[0])
    return {"difference": Estimated(found["value"], (high - low) / 2 / Z, low, high, truth)}


def necessity(direct: float, margin: float, n: int, seed: int) -> Outcome:
    """Is the direct path of a decision said to matter more, or surely less, than the margin?"""
    allowed = {"indirect", "spurious"}
    rows = decided(n, seed, direct)
    found = cf.check_business_necessity(rows, DRAWN, allowed=allowed, margin=margin)
    verdict = found["direct"].verdict
    return {
        "violated": Tested(verdict == "violated", abs(direct) > margin),
        "satisfied": Tested(verdict == "satisfied", abs(direct) < margin),
    }


CELLS = (
    *(
        Cell(
            f"decompose_disparity, {called}",
            world,
            partial(parts, world, make),
            draws,
            QUICK.get((called, world), 0),
        )
        for called, (make, worlds, draws) in ESTIMATORS.items()
        for world in worlds
    ),
    *(
        Cell(
            f"decompose_error_rates, {rate}",
            "yes and no",
            partial(rates, rate, label),
            400,
            quick,
            "equalized-odds",
        )
        for rate, label, quick in (("fpr", 0, 100), ("tpr", 1, 0))
    ),
    Cell("group_metrics", "yes and no", plain, 400, 100, "group-metrics"),
    *(
        Cell(
            "check_business_necessity",
            f"yes and no, direct {direct:g}, margin {margin:g}",
            partial(necessity, direct, margin, ROWS),
            400,
            quick,
            "business-necessity",
        )
        for direct, margin, quick in ((0.05, 0.05, 100), (0.0, 0.1, 0))
    ),
)
