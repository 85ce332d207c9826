"""Worlds in which answers rest on models that were fitted to the same rows, or to others.

A <-> C; {A, C} -> M; {A, C, M} -> Y. All of it linear with normal noise; or with a curved M, which
boosting follows; or with a count M, which is coupled by quantiles. Truths are means over a large
draw of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm, poisson
from sklearn.linear_model import Ridge

import causalfairness as cf
from causalfairness.effects import Effect

from .cell import Cell, Estimated, Outcome

Array = NDArray[np.float64]
GRAPH = "A <-> C; {A, C} -> M; {A, C, M} -> Y"
MODEL = cf.StandardFairnessModel(
    protected="A",
    reference=0,
    comparison=1,
    confounders=["C"],
    mediators=["M"],
    outcome="Y",
    prediction="score",
)
ROWS = 800
LARGE = 400_000
BINS = 4
Mechanism = Callable[[Array, Array, Array], Array]  # of A, C and the rank of the noise


def _linear(a: Array, c: Array, rank: Array) -> Array:
    return 0.6 * a + 0.5 * c + norm.ppf(rank)


def _curved(a: Array, c: Array, rank: Array) -> Array:
    return 0.6 * a + np.sin(1.5 * c) + 0.8 * norm.ppf(rank)


def _count(a: Array, c: Array, rank: Array) -> Array:
    return np.asarray(poisson.ppf(rank, np.exp(0.8 + 0.4 * a + 0.3 * c)))


MEDIATORS: Mapping[str, Mechanism] = {"linear": _linear, "curved": _curved, "count": _count}


class People(NamedTuple):
    """What was drawn, and what M of each row would be in either group."""

    data: pd.DataFrame
    other: Array  # (2, rows)


def draw(kind: str, rows: int, seed: int) -> People:
    """Draw people of a world."""
    rng = np.random.default_rng(seed)
    c = rng.normal(size=rows)
    a = (rng.random(rows) < 1 / (1 + np.exp(-0.8 * c))).astype(int)
    rank = rng.random(rows)
    other = np.stack([MEDIATORS[kind](np.full(rows, group), c, rank) for group in (0, 1)])
    m = np.where(a == 1, other[1], other[0])
    y = 0.3 * a + 0.7 * m + 0.4 * c + rng.normal(size=rows)
    score = np.round(0.7 * m + 0.4 * c, 6)
    return People(pd.DataFrame({"A": a, "C": c, "M": m, "Y": y, "score": score}), other)


def predictor(people: pd.DataFrame) -> Array:
    """The audited model."""
    return np.asarray(2 * people["M"] + people["C"])


def network(rows: Array) -> Array:
    """The audited network, of the inputs A, C, M."""
    return np.asarray(np.tanh(0.5 * rows[:, 0] + 0.4 * rows[:, 1] + 0.6 * rows[:, 2]))


@cache
def truths(kind: str) -> Mapping[str, float]:
    """What the answers are among all people, or among those of the comparison group."""
    data, other = draw(kind, LARGE, seed=1)
    second, gain = data["A"].to_numpy() == 1, (other[1] - other[0])
    inputs = data[["A", "C", "M"]].to_numpy()
    worlds = {(i, j): inputs.copy() for i in (0, 1) for j in (0, 1)}
    for (i, j), rows in worlds.items():
        rows[:, 0], rows[:, 2] = i, other[j]
    told = {world: network(rows).mean() for world, rows in worlds.items()}
    place = np.digitize(data["score"], cuts(kind))
    in_bins = [gain[second & (place == at)].mean() for at in range(BINS)]
    return {
        "shift": float(2 * gain[second].mean()),
        "path": float(0.7 * gain.mean()),
        "term": float(0.3 + 0.7 * np.mean(in_bins)),
        "total_effect": float(told[1, 1] - told[0, 0]),
        "natural_indirect_effect": float(told[0, 1] - told[0, 0]),
    }


@cache
def cuts(kind: str) -> tuple[float, ...]:
    """Where bins of the score end: at its quartiles in a large draw."""
    score = draw(kind, LARGE, seed=2).data["score"]
    return tuple(np.quantile(score, np.arange(1, BINS) / BINS).round(3).tolist())


def fitted(data: pd.DataFrame, mechanism: Any = None) -> cf.StructuralCausalModel:
    """A structural model of these people, M by this mechanism."""
    lines = {"M": cf.scm.Linear() if mechanism is None else mechanism, "Y": cf.scm.Linear()}
    columns = data[["A", "C", "M", "Y"]]
    return cf.StructuralCausalModel.fit(cf.CausalGraph.parse(GRAPH), columns, lines)


def held(effect: Effect, truth: float) -> Estimated:
    """An effect beside its truth; one over rows alone is no interval of it."""
    low, high = effect.interval()
    settled = not effect.rows_alone
    return Estimated(effect.value, effect.standard_error, low, high, truth, settled)


def _shift(kind: str, mechanism: Any, seed: int) -> Outcome:
    data = draw(kind, ROWS, seed).data
    scm = fitted(data, mechanism)
    found = cf.counterfactual_fairness(predictor, data, scm, {"A": {1: 0}})
    return {"shift": held(found[1].shift, truths(kind)["shift"])}


def _decision(kind: str, seed: int) -> Outcome:
    """Decisions jump, so that even lines are fitted again."""
    data = draw(kind, ROWS, seed).data
    found = cf.counterfactual_fairness(
        lambda people: (predictor(people) > 1).astype(int), data, fitted(data), {"A": {1: 0}}
    )
    return {"share": held(found[1].shift, _decided(kind))}


@cache
def _decided(kind: str) -> float:
    data, other = draw(kind, LARGE, seed=1)
    second = data["A"].to_numpy() == 1
    moved = predictor(data.assign(M=other[0])) > 1
    return float(((predictor(data) > 1)[second].mean()) - moved[second].mean())


def _path(kind: str, mechanism: Any, seed: int) -> Outcome:
    data = draw(kind, ROWS, seed).data
    effect = fitted(data, mechanism).path_effect(data, MODEL, edges="A -> M")
    return {"A -> M -> Y": held(effect, truths(kind)["path"])}


def _elsewhere(seed: int) -> Outcome:
    """The model was fitted to other rows, fewer than it is asked about."""
    scm = fitted(draw("linear", ROWS // 2, seed + 10_000).data)
    effect = scm.path_effect(draw("linear", ROWS, seed).data, MODEL, edges="A -> M")
    return {"A -> M -> Y": held(effect, truths("linear")["path"])}


def _term(kind: str, mechanism: Any, seed: int) -> Outcome:
    data = draw(kind, ROWS, seed).data
    scm = fitted(data, mechanism)
    found = cf.decompose_predictive_parity(data, MODEL, counterfactual=scm, bins=cuts(kind))
    assert found.causal is not None
    return {"Term I": held(found.causal.integrated, truths(kind)["term"])}


def _network(mechanism: Any, seed: int) -> Outcome:
    inputs = draw("linear", ROWS, seed).data[["A", "C", "M"]].to_numpy(dtype=float)
    found = cf.neural.effects(
        network, inputs, protected_index=0, mediator_indices=[2], mediator_model=mechanism
    )
    names = ("total_effect", "natural_indirect_effect")
    return {name: held(getattr(found, name), truths("linear")[name]) for name in names}


LINES, TREES, RATE = cf.scm.Linear(), cf.scm.Additive(), cf.scm.Poisson()
CELLS: tuple[Cell, ...] = (
    Cell(
        "counterfactual_fairness",
        "linear, lines",
        partial(_shift, "linear", LINES),
        200,
        quick=8,
        page="counterfactual-fairness",
    ),
    Cell(
        "counterfactual_fairness",
        "linear, decisions",
        partial(_decision, "linear"),
        60,
        page="counterfactual-fairness",
    ),
    Cell(
        "counterfactual_fairness",
        "curved mediator, boosting",
        partial(_shift, "curved", TREES),
        20,
        page="counterfactual-fairness",
    ),
    Cell(
        "counterfactual_fairness",
        "count mediator",
        partial(_shift, "count", RATE),
        60,
        page="counterfactual-fairness",
    ),
    Cell(
        "scm.path_effect",
        "linear, lines",
        partial(_path, "linear", LINES),
        200,
        quick=8,
        page="path-effects",
    ),
    Cell("scm.path_effect", "linear, fitted elsewhere", _elsewhere, 200, page="path-effects"),
    Cell(
        "scm.path_effect", "count mediator", partial(_path, "count", RATE), 60, page="path-effects"
    ),
    Cell(
        "decompose_predictive_parity",
        "linear, lines",
        partial(_term, "linear", LINES),
        200,
        quick=4,
        page="predictive-parity",
    ),
    Cell(
        "decompose_predictive_parity",
        "count mediator",
        partial(_term, "count", RATE),
        60,
        page="predictive-parity",
    ),
    Cell(
        "neural.effects",
        "linear, line",
        partial(_network, LINES),
        200,
        quick=8,
        page="neural",
    ),
    Cell("neural.effects", "linear, ridge", partial(_network, Ridge(1.0)), 60, page="neural"),
)
