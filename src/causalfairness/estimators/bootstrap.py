"""How far would the answer move, had other people been drawn? For estimators that refit.

Estimators without an influence function are computed again under random row weights: the Bayesian
bootstrap, weights Exponential(1) times the rows' own. No row ever vanishes, so no group, label or
cell does. Those that take no weights are given rows drawn with replacement, as whole numbers. The
rows of the whole table are drawn, whichever groups are asked about: answers of different groups,
outcomes and estimators then share their draws and may be subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis, Effect, WorldMeans
from causalfairness.errors import SmallGroupError
from causalfairness.estimators.added_people import AddedPeople
from causalfairness.estimators.protocol import ASSUMPTIONS
from causalfairness.inference import run_all
from causalfairness.inference.resampling import check_count
from causalfairness.tables import RowPair

Array = NDArray[np.float64]
MeansOf = Callable[[Array], Array]  # row weights -> the (2, 2, 2) means within each group
Draw = Callable[[np.random.Generator, int], Array]  # how much does each row of a table count?
FEWEST_REPLICATES = 20
ROUNDING = 1e-13  # relative size below which replicates differ by rounding only
AT_ONCE = 10  # replicates that one task computes
FEWEST_ROWS = 10  # of a group, for weights to imitate drawing other people


@dataclass(frozen=True, eq=False)
class Bootstrapped:
    """What are the world means and the plain gap, with spreads over the replicates?"""

    world_means: WorldMeans
    raw_gap: Effect
    notes: tuple[str, ...] = ()  # on rare outcomes


def check_replicates(replicates: int) -> None:
    """Are there enough replicates to tell a spread from noise?"""
    check_count("replicates", replicates, least=FEWEST_REPLICATES)


def check_sizes(pair: RowPair) -> None:
    """Has each group enough people to imagine others drawn in their place?"""
    rows = np.bincount(pair.group[pair.weights > 0], minlength=2)
    for role, name in enumerate(("reference", "comparison")):
        if rows[role] < FEWEST_ROWS:
            raise SmallGroupError(
                f"the {name} group has only {rows[role]} rows, too few to imagine others drawn in "
                f"their place; at least {FEWEST_ROWS} are needed"
            )


def draw_weights(rng: np.random.Generator, rows: int) -> Array:
    """How much does each row count in a replicate of the Bayesian bootstrap? On average 1."""
    return rng.exponential(size=rows)


def draw_rows(rng: np.random.Generator, rows: int) -> Array:
    """How often is each row drawn, if as many rows are drawn with replacement?

    >>> draw_rows(np.random.default_rng(0), 5).tolist()
    [0.0, 2.0, 1.0, 1.0, 1.0]
    """
    return np.bincount(rng.integers(0, rows, rows), minlength=rows).astype(float)


def bootstrap(
    pair: RowPair,
    means_of: MeansOf,
    *,
    draw: Draw = draw_weights,
    replicates: int,
    workers: int,
    seed: int,
    assumptions: Sequence[str] = ASSUMPTIONS,
) -> Bootstrapped:
    """What does `means_of` give for the rows as they are, and how does it vary with their weights?

    `means_of` takes one weight per row of the pair, with mean about 1. Answers share a basis if
    their rows were drawn in the same way.
    """
    check_sizes(pair)
    rows = len(pair.rows.kept)
    drawing = _Drawing(
        means_of, draw, pair.group, pair.measured, row_weights(pair), pair.places, rows
    )
    values, plain = drawing.answer(drawing.weights)
    generators = np.random.default_rng(seed).spawn(replicates)
    tasks = [generators[at : at + AT_ONCE] for at in range(0, replicates, AT_ONCE)]
    drawn = run_all(drawing.again, tasks, workers=workers, what="bootstrap replicates")
    means = np.stack([means for block in drawn for means, _ in block])
    gaps = np.array([gap for block in drawn for _, gap in block])
    stated = frozenset(assumptions)
    drawn_as = f"{seed}/{replicates}{'' if draw is draw_weights else ' ' + draw.__name__}"
    fingerprint, order = pair.rows.drawn(pair.rows.arrangement.rows)
    basis = Basis(fingerprint, "replicates", order, drawn_as)
    scale = float(np.abs(values).max())
    added = AddedPeople.of_rows(pair, pair.measured)
    label, labels = pair.rows.group_of_row[pair.index], len(pair.rows.groups)
    blocks, block = added.told(label, labels, pair.group, pair.weights**2)
    gap = Effect("total", plain, _spread(gaps, scale), basis, stated, added.of_gap, block)
    found = WorldMeans(values, _spread(means, scale), basis, stated, added.of_told, blocks)
    return Bootstrapped(found, gap, added.notes_on_replicates)


def row_weights(pair: RowPair) -> Array:
    """How much does each row of the pair count, on average 1?"""
    return np.asarray(pair.weights / pair.weights.mean())


def _spread(replicates: Array, scale: float) -> Array:
    """Centred replicates over sqrt(B - 1), along the last axis."""
    centered = replicates - replicates.mean(axis=0)
    centered[np.abs(centered) < ROUNDING * scale] = 0.0
    return np.asarray(np.moveaxis(centered, 0, -1) / np.sqrt(len(replicates) - 1))


@dataclass(frozen=True, eq=False)
class _Drawing:
    """What a replicate needs to know, and nothing of the table besides: it travels to workers."""

    means_of: MeansOf
    draw: Draw
    group: NDArray[np.int8]
    outcome: Array
    weights: Array
    places: NDArray[np.int64]
    table_rows: int

    def again(self, generators: Sequence[np.random.Generator]) -> list[tuple[Array, float]]:
        draws = (self.draw(rng, self.table_rows)[self.places] for rng in generators)
        return [self.answer(self.weights * drawn) for drawn in draws]

    def answer(self, weights: Array) -> tuple[Array, float]:
        """The twelve means and the plain gap under these weights."""
        means = self.means_of(weights)
        share = float(np.average(self.group, weights=weights))
        pooled = (1 - share) * means[..., 0] + share * means[..., 1]
        plain = [np.average(self.outcome, weights=weights * (self.group == g)) for g in (0, 1)]
        return np.concatenate([means, pooled[..., None]], axis=-1), float(plain[1] - plain[0])
