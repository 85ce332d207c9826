"""Which mixtures fit the rows of each group, stratum by stratum?

A *cell* is a group, a combination of the discrete columns and, if the outcome is discrete, one of
its values. Each cell has a mixture of normal distributions over the continuous columns. BIC chooses
between one component with the covariance that all cells of the group share, and 1, 2, ...
components with covariances of their own; a cell with too few rows for a covariance always shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import EmptyCellsError, SmallGroupError
from causalfairness.estimators.gaussian_mixture import (
    bayesian_criterion,
    climb,
    count_parameters,
    fit_gaussians,
    gaussians_of,
    log_densities,
    products_of,
)
from causalfairness.estimators.mixture_algebra import Components
from causalfairness.estimators.mixture_columns import Arranged
from causalfairness.inference import run_all
from causalfairness.tables.groups import ROLES

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
ROWS_PER_MEAN = 5  # rows that a component needs for each of its means, and once more
REFIT_STEPS = 10  # of EM, from the full fit, under other row weights
WORST_NAMED = 3


class Chosen(NamedTuple):
    """Which mixture was chosen, and how sure is EM of it?"""

    sums: Array  # (components, ...) of the products, as of `Fitted`
    shares: bool = False  # does it share its group's covariance?
    settled: bool = True


class Cell(NamedTuple):
    """Which rows are these, and which mixture was chosen for them?"""

    profile: int
    level: int  # of a discrete outcome
    rows: Positions
    products: Array
    chosen: Chosen


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """Which mixtures were chosen, and what are they under other row weights?"""

    arranged: Arranged
    cells: tuple[tuple[Cell, ...], tuple[Cell, ...]]  # by group, sorted by profile and level
    numbers: tuple[int, ...]  # of components that BIC could choose from; one: no choice

    def components(self, weights: Array) -> tuple[Components, Components]:
        """Which normal distributions make up each group, if rows count like this?"""
        first, second = (self._components(cells, weights) for cells in self.cells)
        return first, second

    def _components(self, cells: Sequence[Cell], weights: Array) -> Components:
        ridge = self.arranged.ridge
        sums = [_refit(cell, weights[cell.rows], ridge) for cell in cells]
        shared = pooled_covariance(sums, ridge)
        fitted = [gaussians_of(one, ridge) for one in sums]
        covariances = [
            shared[None] if cell.chosen.shares else g.covariances
            for cell, g in zip(cells, fitted, strict=True)
        ]
        counts = [len(one) for one in sums]
        return _assemble(
            self.arranged,
            share=np.concatenate([one[:, 0] for one in sums]),
            mean=np.concatenate([g.means for g in fitted]),
            covariance=np.concatenate(covariances),
            profile=np.repeat([cell.profile for cell in cells], counts),
            level=np.repeat([cell.level for cell in cells], counts),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How many components were chosen where, in words?"""
        if not self.arranged.has_numbers:
            return ("no continuous mediator or confounder: strata are counted, as in Strata",)
        cells = [cell for of_group in self.cells for cell in of_group]
        notes = [_described(*of_group) for of_group in zip(ROLES, self.cells, strict=True)]
        of = f"of {len(cells):,} mixtures"
        most, offered = max(self.numbers), len(self.numbers) > 1
        full, short = (
            sum(len(cell.chosen.sums) == most for cell in cells),
            sum(len(cell.chosen.sums) < most for cell in cells),
        )
        if offered and full:
            notes.append(
                f"BIC took all {most} components it was offered in {full:,} {of}: raise most; if "
                "it goes on, a mixture describes these columns badly"
            )
        if short and not offered:
            notes.append(f"{short:,} {of} had too few rows for {most} components")
        if unsettled := sum(not cell.chosen.settled for cell in cells):
            notes.append(f"EM had not settled in {unsettled:,} {of}")
        return tuple(notes)


def fit_mixtures(
    arranged: Arranged,
    weights: Array,
    *,
    numbers: tuple[int, ...],
    workers: int,
    rng: np.random.Generator,
) -> MixtureFit:
    """Which mixtures does BIC choose, among these numbers of components? A single one is taken."""
    check_profiles(arranged)
    first, second = (_plain_cells(arranged, weights, group) for group in (0, 1))
    if not arranged.has_numbers:  # only means matter, and one component has the right one
        return MixtureFit(arranged, (first, second), numbers)
    searches = [
        *_searches(arranged, weights, first, numbers, 0),
        *_searches(arranged, weights, second, numbers, 1),
    ]
    tasks = list(zip(searches, rng.spawn(len(searches)), strict=True))
    chosen = tuple(run_all(_choose, tasks, workers=workers, what="fitting mixtures"))
    cells = tuple(
        cell._replace(chosen=found) for cell, found in zip((*first, *second), chosen, strict=True)
    )
    return MixtureFit(arranged, (cells[: len(first)], cells[len(first) :]), numbers)


def check_profiles(arranged: Arranged) -> None:
    """Is every combination of discrete columns seen in both groups?"""
    profiles = len(arranged.stratum)
    rows = np.stack(
        [np.bincount(arranged.profile[arranged.group == g], minlength=profiles) for g in (0, 1)]
    )
    lost = np.where((rows == 0).any(axis=0), rows.sum(axis=0), 0)
    if not lost.any():
        return
    count = int((lost > 0).sum())
    worst = np.argsort(-lost, kind="stable")[: min(count, WORST_NAMED)]
    named = "; ".join(f"{arranged.described[p]} ({lost[p]:,} rows)" for p in worst)
    many = f"{count:,} combinations of" if count > 1 else "one combination of"
    raise EmptyCellsError(
        f"{many} discrete mediators and confounders, with {lost.sum() / rows.sum():.1%} of the "
        f"rows, {'are' if count > 1 else 'is'} seen in one group only, for instance {named}. "
        "Mixture(discrete='dequantize') smooths over whole numbers, DoublyRobust() over anything; "
        "or use fewer or coarser columns"
    )


def pooled_covariance(sums: Sequence[Array], ridge: Array) -> Array:
    """How do rows vary around the mean of their own cell? (d, d)

    >>> cells = [np.array([[2.0, 2.0, 4.0]]), np.array([[2.0, 0.0, 2.0]])]
    >>> pooled_covariance(cells, np.zeros(1))
    array([[1.]])
    """
    totals = np.stack([one.sum(axis=0) for one in sums])
    each = gaussians_of(totals, np.zeros_like(ridge))
    return np.asarray(np.tensordot(each.shares, each.covariances, 1) + np.diag(ridge))


class Search(NamedTuple):
    """For which rows is a mixture sought, and which ones compete?"""

    products: Array
    sums: Array  # of one component
    weights: Array
    numbers: tuple[int, ...]  # of components
    shared: Array | None  # the covariance of all cells, where one component may use it
    ridge: Array


def _searches(
    arranged: Arranged,
    weights: Array,
    cells: Sequence[Cell],
    numbers: tuple[int, ...],
    group: int,
) -> list[Search]:
    """What is sought in each cell of a group?"""
    d, rows = len(arranged.ridge), sum(len(cell.rows) for cell in cells)
    needed = ROWS_PER_MEAN * (d + 1) + len(cells) - 1
    if rows < needed:
        raise SmallGroupError(
            f"the {ROLES[group]} group has {rows:,} rows in {len(cells):,} strata, too few for the "
            f"covariance of {d} columns; at least {needed:,} are needed"
        )
    shared = None
    if len(numbers) > 1 and len(cells) > 1:
        shared = pooled_covariance([cell.chosen.sums for cell in cells], arranged.ridge)
    return [
        Search(cell.products, cell.chosen.sums, weights[cell.rows], numbers, shared, arranged.ridge)
        for cell in cells
    ]


def _plain_cells(arranged: Arranged, weights: Array, group: int) -> tuple[Cell, ...]:
    """The cells of a group, each with one component."""
    inside = np.flatnonzero(arranged.group == group)
    levels = len(arranged.outcome.values)
    code = arranged.profile[inside] * levels + arranged.outcome.level[inside]
    order = np.argsort(code, kind="stable")
    found, starts = np.unique(code[order], return_index=True)
    cells = []
    for key, rows in zip(found, np.split(inside[order], starts[1:]), strict=True):
        products = products_of(arranged.numbers[rows])
        sums = (weights[rows] @ products.T)[None]
        cells.append(Cell(int(key // levels), int(key % levels), rows, products, Chosen(sums)))
    return tuple(cells)


def _choose(task: tuple[Search, np.random.Generator]) -> Chosen:
    """The mixture that BIC prefers. Two failures in a row end the search."""
    (products, sums, weights, numbers, shared, ridge), rng = task
    d = len(ridge)
    possible = len(weights) // (ROWS_PER_MEAN * (d + 1))
    if possible == 0:
        return Chosen(sums, shares=True)
    rows = float(weights.sum() ** 2 / (weights @ weights))
    best, lowest, failures = Chosen(sums), np.inf, 0
    if shared is not None:
        alone = gaussians_of(sums, ridge)._replace(covariances=shared[None])
        likelihood = float(weights @ log_densities(products, alone)[0] / weights.sum())
        best, lowest = Chosen(sums, shares=True), bayesian_criterion(likelihood, rows, d)
    for number in sorted({min(number, possible) for number in numbers}):
        fitted = fit_gaussians(products, weights, number, ridge, rng)
        criterion = bayesian_criterion(fitted.log_likelihood, rows, count_parameters(number, d))
        if number > 1 and len(numbers) > 1 and fitted.sums[:, 0].min() <= d:
            criterion = np.inf  # a few rows that happen to line up are no component
        if criterion < lowest:
            best = Chosen(fitted.sums, settled=fitted.settled)
            lowest, failures = criterion, 0
        elif (failures := failures + 1) == 2:
            break
    return best


def _refit(cell: Cell, weights: Array, ridge: Array) -> Array:
    """The sums of a cell's components under these weights; EM starts from the full fit."""
    if len(cell.chosen.sums) == 1:
        return np.asarray((weights @ cell.products.T)[None])
    return climb(cell.products, weights, cell.chosen.sums, ridge, most_steps=REFIT_STEPS).sums


def _assemble(
    arranged: Arranged,
    share: Array,
    mean: Array,
    covariance: Array,
    profile: Positions,
    level: Positions,
) -> Components:
    """Components of confounders and mediators, with the outcome as a level and slopes."""
    outcome, d = arranged.outcome, arranged.confounders + arranged.mediators
    factor: Array = np.asarray(np.linalg.cholesky(covariance), dtype=float)
    levels: Array = outcome.values[level]
    slope: Array = np.zeros((len(share), d))
    if not outcome.is_discrete:
        levels = levels + outcome.scale * mean[:, d]
        slope = outcome.scale * factor[:, d, :d]
    factor = factor[:, :d, :d]
    return Components(
        share=share / share.sum(),
        stratum=arranged.stratum[profile],
        profile=profile,
        mean=mean[:, :d],
        factor=factor,
        inverse=np.asarray(np.linalg.inv(factor), dtype=float),
        level=levels,
        slope=slope,
    )


def _described(name: str, cells: Sequence[Cell]) -> str:
    chosen = Counter((cell.chosen.shares, len(cell.chosen.sums)) for cell in cells)
    parts = []
    for (shares, number), count in sorted(chosen.items()):
        words = "1 component" if number == 1 else f"{number} components"
        words += " with the covariance of the whole group" if shares else ""
        parts.append(words if len(cells) == 1 else f"{words} in {count:,} of {len(cells):,} strata")
    return f"{name} group: {', '.join(parts)}"
