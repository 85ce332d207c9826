"""What do Gaussian mixtures say about the world means?

Each group's confounders, mediators and outcome are described by mixtures of normal distributions
(`sklearn.mixture.GaussianMixture`), one per combination of the discrete columns; P(c | k),
P(m | j, c) and E[y | i, m, c] follow by conditioning and are put together as they are (methods §2.1
item 2). A plug-in: where columns are no such mixtures the answer is biased. EM keeps the groups'
means, so the parts add up to the plain gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Diagnostics, Estimate
from causalfairness.errors import (
    ColumnTypeError,
    EmptyCellsError,
    MissingValuesError,
    SmallGroupError,
    WeightError,
)
from causalfairness.estimators.bootstrap import bootstrap, check_replicates, draw_rows
from causalfairness.estimators.mixture_algebra import RIDGE, Cell, Components, means_of, overlap_of
from causalfairness.estimators.protocol import ASSUMPTIONS
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import run_all
from causalfairness.inference.resampling import check_count
from causalfairness.tables import Column, Of, RowPair, Rows, Table
from causalfairness.tables.groups import ROLES, shown

Array = NDArray[np.float64]
LEAST = {"components": 1, "most": 1, "most_values": 2, "draws": 64}
ENOUGH = 5  # rows per column of a group's covariance, and per parameter of a cell's own mixture
SEARCH, SETTLED = 1e-5, 1e-2  # what EM may still gain: per row in the search, in all at the end
STEPS, DRAWN_STEPS = 300, 20  # of EM at most, in the full fit and for rows drawn again
MIXTURES = (
    *ASSUMPTIONS,
    "in each stratum of either group the continuous columns follow a mixture of a few normal "
    "distributions",
    "standard errors hold the number of components fixed",
)
ADVICE = "Use fewer or coarser columns, Mixture(most_values=2) for fewer strata, or DoublyRobust()"


@dataclass(frozen=True)
class Mixture:
    """What do Gaussian mixtures say about the world means?

    `components` is the number of normal distributions in each stratum; None lets BIC choose, up to
    `most`. Labels, and numbers with at most `most_values` values, make strata. Standard errors come
    from `replicates` refits to rows drawn again. The means are integrated over about `draws`
    quasi-random people of each group. Row weights are refused.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> mixture = cf.estimators.Mixture(replicates=20)
    >>> found = cf.decompose_disparity(world.draw(500, seed=0), world.model, estimator=mixture)
    >>> error = found.direct.value - world.true_effects()["direct"]
    >>> bool(abs(error) < 4 * found.direct.standard_error)
    True
    """

    components: int | None = None
    most: int = 5
    most_values: int = 20
    replicates: int = 100
    draws: int = 4096

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if (name, getattr(self, name)) != ("components", None):
                check_count(name, getattr(self, name), least=least)
        check_replicates(self.replicates)

    def read(self, table: Table, model: StandardFairnessModel, of: Of) -> Rows:
        """What does each person's row hold? Row weights are refused."""
        if model.weights is not None:
            raise WeightError(
                f"rows are weighted by {model.weights!r}, and Mixture() takes no weights; use "
                "Strata(), DoublyRobust(), Regression() or Weighting(), or leave the weights out"
            )
        return table.rows(model, of)

    def estimate(
        self, reading: Rows, model: StandardFairnessModel, *, workers: int, seed: int
    ) -> Estimate:
        """What are the twelve world means, by mixtures?"""
        from scipy.stats import qmc

        pair = reading.pair(model)
        jitter, starts, draws = np.random.default_rng((seed, 1)).spawn(3)
        arranged = arrange(pair, self.most_values, jitter)
        numbers = (self.components,) if self.components else tuple(range(1, self.most + 1))
        search = partial(choose, numbers=numbers, seed=int(starts.integers(2**31)))
        cells = run_all(search, arranged.cells, workers=workers, what="fitting mixtures")
        arranged = arranged._replace(cells=cells)
        groups = arranged.groups()
        overlap = overlap_of(groups, cells, arranged.confounders, pair)
        half = max(self.draws // max(len(group.share) for group in groups), 16).bit_length() - 2
        quasi = qmc.MultivariateNormalQMC(np.zeros(arranged.inputs), seed=draws).random(2**half)
        normals = np.concatenate([quasi, -quasi])  # linear functions are integrated exactly
        found = bootstrap(
            pair,
            partial(arranged.means, normals),
            draw=draw_rows,
            replicates=self.replicates,
            workers=workers,
            seed=seed,
            assumptions=MIXTURES,
        )
        diagnostics = Diagnostics(
            estimator=str(self),
            rows=pair.account,
            overlap=overlap,
            assumptions=MIXTURES,
            notes=(*arranged.notes, *found.notes, *_notes(cells, numbers)),
        )
        return Estimate(found.world_means, found.raw_gap, diagnostics, remainder="misfit")


class Arranged(NamedTuple):
    """Which cells are there, and what became of which column?"""

    cells: Sequence[Cell]
    confounders: int  # how many of their numbers are confounders,
    inputs: int  # and how many confounders or mediators
    scale: float  # the standard deviation of a continuous outcome; 0 for a discrete one
    notes: tuple[str, ...]

    def groups(self) -> list[Components]:
        """Which normal distributions make up each group?"""
        groups = [[cell for cell in self.cells if cell.group == group] for group in (0, 1)]
        return [Components.of(cells, self.inputs, self.scale) for cells in groups]

    def means(self, normals: Array, counts: Array) -> Array:
        """What are the (2, 2, 2) world means, if the rows of the pair occur that often?"""
        drawn = self._replace(cells=[_drawn(cell, counts) for cell in self.cells])
        return means_of(drawn.groups(), self.confounders, normals)


def arrange(pair: RowPair, most_values: int, rng: np.random.Generator) -> Arranged:
    """Which cells and which numbers do the role columns make?"""
    assert pair.rows.target is not None
    inside = pair.model.confounders
    in_order, outcome = pair.columns.index, pair.measured
    names = (*sorted(inside, key=in_order), *sorted(pair.model.mediators, key=in_order))
    columns = [pair.rows.columns[name].take(pair.index) for name in names]
    few = [c for c in columns if c.values is None or len(c.levels().values) <= most_values]
    many = [column for column in columns if column not in few]
    if not many:
        raise ColumnTypeError(
            "no confounder or mediator is continuous: all have labels, or at most "
            f"{most_values} values; use Strata(), which counts them exactly"
        )
    numbers, notes = map(list, zip(*(_continuous(column, rng) for column in many), strict=True))
    discrete, others = (", ".join(sorted(repr(c.name) for c in some)) for some in (few, many))
    notes = [f"{others} taken as continuous", *sorted(filter(None, notes))]
    if few:
        notes.insert(0, f"strata by {discrete} (labels, or at most {most_values} values)")
    levels, level = np.unique(outcome, return_inverse=True)
    said, scale = f"has {len(levels)} values, with mixtures of their own", 0.0
    if len(levels) > most_values:
        numbers, said, scale = [*numbers, outcome], "taken as continuous", float(outcome.std())
        levels, level = outcome.mean(keepdims=True), np.zeros_like(level)
    kept = np.column_stack(numbers)
    kept = (kept - kept.mean(axis=0)) / kept.std(axis=0)
    keys: list[Any] = [pair.group, level, *(column.levels().codes for column in few)]
    found, which = np.unique(np.stack(keys), axis=1, return_inverse=True)
    strata, cells = sum(column.name in inside for column in few), []
    for at, (group, of, *_) in enumerate(found.T.tolist()):
        rows = np.flatnonzero(which == at)
        words = [f"{c.name}={shown(c.take(rows[:1]).levels().values)}" for c in few]
        stratum, profile = (", ".join(some) or "everyone" for some in (words[:strata], words))
        cells.append(Cell(group, stratum, profile, float(levels[of]), rows, kept[rows]))
    _check(cells)
    notes.append(f"outcome {pair.rows.target.column!r} {said}")
    return Arranged(cells, len(inside) - strata, len(many), scale, tuple(notes))


def _continuous(column: Column, rng: np.random.Generator) -> tuple[Array, str]:
    """The numbers of a column, such that no component can settle on one, and what was done."""
    values, missing = column.values, int(column.is_missing.sum())
    assert values is not None
    if missing:
        raise MissingValuesError(
            f"column {column.name!r} has {missing:,} missing values, which no normal distribution "
            "describes; choose missing='drop', or another estimator"
        )
    distinct = np.unique(values)
    if len(distinct) >= len(values) / 2:
        return values, ""
    step = float(np.diff(distinct).min())
    words = f"{column.name!r} dequantized: a seeded uniform number of width {step:g} is added"
    return values + step * rng.uniform(-0.5, 0.5, len(values)), words


def _check(cells: Sequence[Cell]) -> None:
    """Is every profile seen in both groups, and each group often enough for a covariance?"""
    groups = [[cell for cell in cells if cell.group == group] for group in (0, 1)]
    for group, others in zip(groups, reversed(groups), strict=True):
        lonely = [cell for cell in group if cell.profile not in {other.profile for other in others}]
        if lonely:
            worst = max(lonely, key=lambda cell: len(cell.rows))
            raise EmptyCellsError(
                f"{sum(len(cell.rows) for cell in lonely):,} rows have combinations of discrete "
                f"mediators and confounders that only the {ROLES[worst.group]} group has. {ADVICE}"
            ).about(f"for instance {worst.profile} ({len(worst.rows):,} rows)")
        rows, d = sum(len(cell.rows) for cell in group), group[0].numbers.shape[1]
        if rows < (needed := ENOUGH * (d + 1) + len(group) - 1):
            raise SmallGroupError(
                f"the {ROLES[group[0].group]} group has {rows:,} rows for {len(group):,} mixtures, "
                f"too few for a covariance of {d} columns; at least {needed:,} are needed. {ADVICE}"
            )


def choose(cell: Cell, *, numbers: Sequence[int], seed: int) -> Cell:
    """Which mixture does BIC prefer, with one of these numbers of components? Two failures end the
    search; rows that happen to line up are no component."""
    from sklearn.mixture import GaussianMixture

    rows, d = cell.numbers.shape
    best, lowest, failures = None, np.inf, 0
    for number in numbers:
        if failures == 2 or rows < number * ENOUGH * (d + 1) * (d + 2) / 2:
            break
        start = GaussianMixture(number, reg_covar=RIDGE, random_state=seed)
        fit = _em(start, cell.numbers, SEARCH, STEPS)
        sound = number == min(numbers) or fit.weights_.min() * rows > d
        criterion = fit.bic(cell.numbers) if sound else np.inf
        failures += 1
        if criterion < lowest:
            best, lowest, failures = fit, criterion, 0
    several = best is not None and best.n_components > 1
    mixture = _em(best, cell.numbers, SETTLED / rows, STEPS) if several else None
    return cell._replace(shares=best is None, mixture=mixture)


def _drawn(cell: Cell, counts: Array) -> Cell:
    """The cell, if its rows occur that often. One that would be empty keeps a row."""
    drawn = np.repeat(cell.numbers, counts[cell.rows].astype(int), axis=0)
    if cell.mixture is None:
        return cell._replace(numbers=drawn if len(drawn) else cell.numbers[:1])
    mixture = _em(cell.mixture, drawn, SETTLED / len(drawn), DRAWN_STEPS)
    return cell._replace(numbers=drawn, mixture=mixture)


def _em(start: Any, rows: Array, tolerance: float, steps: int) -> Any:
    """A fitted mixture, from a fitted one on; `converged_` says whether EM has settled."""
    from sklearn.exceptions import ConvergenceWarning

    mixture = copy(start).set_params(tol=tolerance, max_iter=steps, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(rows)


def _notes(cells: Sequence[Cell], numbers: Sequence[int]) -> list[str]:
    """How many components were chosen where, in words?"""
    notes, most, of = [], max(numbers), f"of {len(cells):,} mixtures"
    for group, name in enumerate(ROLES):
        own = {c.mixture.n_components if c.mixture else 1 for c in cells if c.group == group}
        notes.append(f"components in the {name} group: {', '.join(map(str, sorted(own)))}")
    chosen = [cell.mixture for cell in cells if cell.mixture]
    if small := sum(cell.shares for cell in cells):
        notes.append(f"{small:,} {of} had few rows: one component, with their group's covariance")
    if len(numbers) > 1 and (full := sum(m.n_components == most for m in chosen)):
        notes.append(
            f"BIC took all {most} components it was offered in {full:,} {of}: raise most; if it "
            "goes on, a mixture describes these columns badly"
        )
    if unsettled := sum(not mixture.converged_ for mixture in chosen):
        notes.append(f"EM had not settled after {STEPS} steps in {unsettled:,} {of}")
    return notes
