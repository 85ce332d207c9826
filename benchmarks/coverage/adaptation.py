"""Fair adaptation: how far adapted outcomes are from those of the other world, and its warnings.

Graph: A <-> C; {A, C} -> M1; {A, C, M1} -> M2; {A, C, M1, M2} -> Y. A row's noise is known, so its
outcome as of group 0 is known too. Adaptation states no interval, so a draw is a test with nothing
to find: "too far" is found where, over the rows of group 1, the root mean squared error of Y is
above .6 of that of rows left as they are, and above 1.4 of an oracle's. The oracle knows all
mechanisms; columns of counts or yes and no leave it, like anybody, to draw a row's noise among what
fits its value, so that it errs too: with a yes/no outcome by more than who leaves rows as they are.
"warned" is found where the report warns of a column: nothing is there by default, something is
where a learner was named that cannot follow the world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm, poisson

import causalfairness as cf
from benchmarks.coverage.cell import Cell, Outcome, Tested
from causalfairness.adaptation import LinearQuantiles

Array = NDArray[np.float64]
Rng = np.random.Generator
GRAPH = cf.CausalGraph.parse("A <-> C; {A, C} -> M1; {A, C, M1} -> M2; {A, C, M1, M2} -> Y")
COLUMNS = ("M1", "M2", "Y")
FAR, BEYOND_ORACLE = 0.6, 1.4  # the ratio to an oracle has a standard deviation of .13 over draws
ROWS = 2_000


@dataclass(frozen=True)
class Number:
    """A value that tells its noise: f(a, c, *causes, e)."""

    value: Callable[..., Array]

    def __call__(self, e: Array, *causes: Array) -> Array:
        """The column with this noise."""
        return self.value(*causes, e)

    def believed(self, value: Array, e: Array, rng: Rng, *causes: Array) -> Array:
        """The noise that an oracle takes a row to have."""
        return e


@dataclass(frozen=True)
class Yes:
    """Yes where the noise is below the probit of a chance with these log odds."""

    score: Callable[..., Array]

    def __call__(self, e: Array, *causes: Array) -> Array:
        """The column with this noise."""
        return (norm.cdf(e) < expit(self.score(*causes))).astype(float)

    def believed(self, value: Array, e: Array, rng: Rng, *causes: Array) -> Array:
        """The noise that an oracle takes a row to have: any that fits the value."""
        chance, luck = expit(self.score(*causes)), rng.random(len(e))
        return norm.ppf(np.where(value == 1, luck * chance, chance + luck * (1 - chance)))


@dataclass(frozen=True)
class Count:
    """The Poisson quantile of the noise, at a rate with this logarithm."""

    log_rate: Callable[..., Array]

    def __call__(self, e: Array, *causes: Array) -> Array:
        """The column with this noise."""
        return poisson.ppf(norm.cdf(e), np.exp(self.log_rate(*causes))).astype(float)

    def believed(self, value: Array, e: Array, rng: Rng, *causes: Array) -> Array:
        """The noise that an oracle takes a row to have: any that fits the value."""
        rate = np.exp(self.log_rate(*causes))
        low, high = poisson.cdf(value - 1, rate), poisson.cdf(value, rate)
        return norm.ppf(low + rng.random(len(e)) * (high - low))


Mechanism = Number | Yes | Count


@dataclass(frozen=True)
class World:
    """How M1, M2 and Y follow, each from A, C and those before it; A from C with this slope."""

    mechanisms: tuple[Mechanism, Mechanism, Mechanism]
    confounding: float = 0.8


class Drawn(NamedTuple):
    """Rows, Y as of group 0 with the same noise, and what an oracle says it would be."""

    rows: dict[str, Array]
    truth: Array
    oracle: Array


M1 = Number(lambda a, c, e: 0.5 * c + 0.7 * a + e)
M2 = Number(lambda a, c, m, e: 0.5 * m + 0.5 * a + 0.5 * c + e)
Y = Number(lambda a, c, m, k, e: 0.4 * a + m + 0.5 * k + 0.5 * c + e)
EASY = {
    "linear": World((M1, M2, Y)),
    "no confounding": World((M1, M2, Y), 0.0),
    "curved": World(
        (
            Number(lambda a, c, e: np.sin(c) + 0.7 * a + np.exp(0.3 * c) * e),
            Number(lambda a, c, m, e: 0.5 * m + 0.5 * a * c + e),
            Y,
        )
    ),
    "discrete mediators": World(
        (
            Count(lambda a, c: 0.3 + 0.4 * c + 0.5 * a),
            Yes(lambda a, c, m: -1 + 0.3 * m + 0.6 * a + 0.5 * c),
            Number(lambda a, c, m, k, e: 0.4 * a + 0.3 * m + 0.7 * k + 0.5 * c + e),
        )
    ),
    "yes/no outcome": World(
        (M1, M2, Yes(lambda a, c, m, k: -0.5 - 0.6 * a + 0.6 * m + 0.4 * k + 0.3 * c))
    ),
    "counts, yes/no outcome": World(
        (
            Count(lambda a, c: 0.8 + 0.5 * c + 0.4 * a),
            Count(lambda a, c, m: -0.5 + 0.15 * np.minimum(m, 8) + 0.4 * a),
            Yes(lambda a, c, m, k: -1 + 0.4 * a + 0.15 * np.minimum(m, 10) + 0.3 * k - 0.3 * c),
        )
    ),
}
HARD = {
    "bent": World(
        (
            Number(lambda a, c, e: 0.5 * c**2 + 0.7 * a + e),
            Number(lambda a, c, m, e: 0.4 * m * c + 0.5 * a + (1 + 0.5 * np.tanh(m)) * e),
            Number(
                lambda a, c, m, k, e: 0.4 * a + np.sin(1.5 * m) + 0.3 * k * c + np.exp(0.2 * k) * e
            ),
        )
    ),
    "skewed": World(
        (
            Number(lambda a, c, e: np.exp(0.3 * c + 0.4 * a + 0.6 * e)),
            Number(lambda a, c, m, e: 0.5 * np.log1p(m) + 0.5 * a + 0.5 * c + np.exp(0.7 * e) - 1),
            Number(lambda a, c, m, k, e: 0.4 * a + 0.5 * m + 0.5 * k + 0.5 * c + np.exp(0.7 * e)),
        )
    ),
    "own slopes": World(
        (
            Number(lambda a, c, e: 0.5 * c + 0.7 * a + (1 + 0.4 * a) * e),
            Number(lambda a, c, m, e: (0.5 - 0.6 * a) * m + 0.5 * a + 0.5 * c + e),
            Number(
                lambda a, c, m, k, e: (
                    0.4 * a + (1 - 0.5 * a) * m + 0.5 * k + 0.5 * c + (1 + 0.3 * a) * e
                )
            ),
        )
    ),
    "products": World(
        (
            M1,
            Number(lambda a, c, m, e: 0.6 * m * c + 0.5 * a + e),
            Number(lambda a, c, m, k, e: 0.4 * a + 0.6 * m * k + 0.5 * c + e),
        )
    ),
}
WORLDS = {**EASY, **HARD}
RESOLVING: dict[str, tuple[str, ...]] = {
    "": (),
    ", M1 kept": ("M1",),
    ", M1, M2 kept": ("M1", "M2"),
}


def draw(world: World, n: int, seed: int, resolving: tuple[str, ...] = ()) -> Drawn:
    """Rows of a world; resolving columns are as they were in the other world as well."""
    rng = np.random.default_rng(seed)
    c, *noise = rng.normal(size=(1 + len(COLUMNS), n))
    a = (rng.random(n) < expit(world.confounding * c)).astype(float)
    rows, zero = {"A": a, "C": c}, np.zeros(n)
    as_0, oracle = {"A": zero, "C": c}, {"A": zero, "C": c}
    for name, mechanism, e in zip(COLUMNS, world.mechanisms, noise, strict=True):
        causes = tuple(rows.values())
        value = mechanism(e, *causes)
        believed = mechanism.believed(value, e, rng, *causes)
        for other, own in ((as_0, e), (oracle, believed)):
            moved = mechanism(own, *other.values())
            other[name] = value if name in resolving else moved
        rows[name] = value
    return Drawn(rows, as_0["Y"], oracle["Y"])


def adapted(
    drawn: Drawn, resolving: tuple[str, ...] = (), learner: Any = None
) -> tuple[Array, Any]:
    """Y as an adapter moves it, and the adapter."""
    import pandas

    frame = pandas.DataFrame(drawn.rows)
    adapter = cf.FairAdapter(
        GRAPH, protected="A", reference=0, resolving=resolving, outcome="Y", learner=learner
    ).fit(frame)
    return adapter.transform(frame)["Y"].to_numpy(), adapter


def error(drawn: Drawn, told: Array) -> float:
    """The root mean squared error of Y over the rows of group 1."""
    off = (told - drawn.truth)[drawn.rows["A"] == 1]
    return float(np.sqrt(np.mean(off**2)))


def by_default(name: str, resolving: tuple[str, ...], seed: int) -> Outcome:
    """Whether one draw's outcomes are too far away, and whether the report warns."""
    drawn = draw(WORLDS[name], ROWS, seed, resolving)
    told, adapter = adapted(drawn, resolving)
    allowed = max(FAR * error(drawn, drawn.rows["Y"]), BEYOND_ORACLE * error(drawn, drawn.oracle))
    return {
        "too far": Tested(error(drawn, told) > allowed, there=False),
        "warned": Tested(bool(adapter.report_.warnings), there=False),
    }


def by_line(name: str, seed: int) -> Outcome:
    """Whether the report warns of linear quantiles, which cannot follow the hard worlds."""
    adapter = adapted(draw(WORLDS[name], ROWS, seed), learner=LinearQuantiles())[1]
    return {"warned": Tested(bool(adapter.report_.warnings), there=name in HARD)}


QUICK = {"linear", "curved, M1, M2 kept", "yes/no outcome, M1 kept"}
CELLS: tuple[Cell, ...] = (
    *(
        Cell(
            "FairAdapter",
            name + kept,
            partial(by_default, name, resolving),
            draws=20,
            quick=3 if name + kept in QUICK else 0,
            page="fair-adaptation",
        )
        for name in WORLDS
        for kept, resolving in RESOLVING.items()
        if name in EASY or resolving == ("M1", "M2")
    ),
    *(
        Cell(
            "FairAdapter(learner=LinearQuantiles())",
            name,
            partial(by_line, name),
            draws=20,
            page="fair-adaptation",
        )
        for name in ("linear", "bent", "products")
    ),
)
