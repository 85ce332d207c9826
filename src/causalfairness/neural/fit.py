"""How the fit of a mediator model moves a network's answers, row by row.

Either as derivatives by each slope of the fitted lines, or as the answers by every model that was
fitted again to redrawn rows (`causalfairness.scm.refits`). Rows are kept apart, so that effects
among any of them follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis
from causalfairness.progress import track

if TYPE_CHECKING:
    from causalfairness.scm import StructuralCausalModel

Array = NDArray[np.float64]
UNDRAWN = 1e-9  # how often a row counts that was not drawn, so that no group is ever empty


class Outputs(NamedTuple):
    """What a network answers: (worlds, rows), the group of each row, and what table it is."""

    by_row: NDArray[Any]
    group: NDArray[np.int8]
    basis: Basis


@dataclass(frozen=True, eq=False)
class MediatorFit:
    """How answers move with what was fitted, along the last axis but one.

    `rows` is what each row adds to each slope, or on coordinates of its own, or how often it was
    `drawn` by each replicate.
    """

    by_row: NDArray[Any]  # (2, 2, slopes or replicates, rows)
    rows: Array
    drawn: bool = False

    def spread(self, by_row: Array, moved: NDArray[Any], inside: NDArray[np.bool_]) -> Array:
        """The spread of a mean among these rows. `by_row` is what each adds without the fit."""
        if self.drawn:
            counts = inside * (self.rows + UNDRAWN)
            means = (counts * moved).sum(axis=1) / counts.sum(axis=1)
            return np.asarray((means - means.mean()) / math.sqrt(len(means) - 1))
        fit = (moved @ (inside / np.count_nonzero(inside))) @ self.rows
        if len(fit) == len(by_row):
            return np.asarray(by_row + fit)
        return np.concatenate([by_row, fit])


class Sure(NamedTuple):
    """On which basis spreads are, and what they hold of the fit."""

    basis: Basis
    rows_alone: bool = False
    freedom: float = math.inf
    said: tuple[str, ...] = ()
    fit: MediatorFit | None = None

    def of(self, places: Sequence[int]) -> Sure:
        """The same for four of the worlds."""
        if self.fit is None:
            return self
        four = self.fit.by_row[places].reshape(2, 2, *self.fit.by_row.shape[1:])
        return self._replace(fit=replace(self.fit, by_row=four))


def sure_of(
    model: StructuralCausalModel,
    moved: Sequence[str],
    columns: Mapping[str, Array],
    found: Outputs,
    by: Callable[[StructuralCausalModel], NDArray[Any]],
    *,
    replicates: int | None,
    seed: int,
) -> Sure:
    """How sure answers by a structural model of the mediators are. `by` gives those by another."""
    from causalfairness.scm.evaluation import in_order
    from causalfairness.scm.refits import plan, resampled_basis

    needed = dict.fromkeys((*moved, *model.graph.parents(moved)))
    order, values = in_order({node: columns[node] for node in needed})
    groups = [found.group == code for code in np.unique(found.group)]

    def means(by_row: Array) -> Array:
        return np.stack([by_row[:, inside].mean(axis=1) for inside in groups])

    sizes = np.array([[inside.sum()] for inside in groups])
    error = np.sqrt(np.maximum(means(found.by_row**2) - means(found.by_row) ** 2, 0) / sizes)
    planned = plan(
        *(model, values, moved, None, replicates),
        *(lambda equations: by(replace(model, equations=equations)), error),
        mean=means,
    )
    refits, said = planned.refits, (planned.said,)
    if refits is None:
        return Sure(found.basis, planned.rows_alone, said=said)
    if planned.moves is not None:
        fit = MediatorFit(np.moveaxis(planned.moves, -1, 1), refits.coordinates(order.places))
        return Sure(refits.basis(found.basis), said=said, fit=fit)
    answers, counts, n = [], [], len(order.rows)
    streams = np.random.default_rng(seed).spawn(planned.replicates)
    for rng in track(streams, total=len(streams), what="refitting mechanisms"):
        rows = rng.integers(0, n, n)
        counts.append(np.bincount(rows, minlength=n)[order.places])
        answers.append(by(replace(model, equations=refits.drawn(rows, rng))))
    fit = MediatorFit(np.stack(answers, axis=1), np.stack(counts).astype(float), drawn=True)
    basis = resampled_basis(found.basis, planned.replicates, seed)
    return Sure(basis, freedom=planned.freedom, said=said, fit=fit)
