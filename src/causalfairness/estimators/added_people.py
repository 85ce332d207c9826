"""Two more people per group, for uncertainty only: what intervals allow for rare outcomes.

Agresti and Caffo (2000) count one more person with the outcome and one without in either group.
Here their rule is carried through the algebra of effects: a group of n people with share p has

    s      = (1 - 2 p) / (n + 2)                        by which the center of its mean moves,
    delta  = (1 - 2 p)^2 (n + 1) / (n + 2)^2            what one person's variance grows by.

For numbers nothing moves, and a group whose variance is below that of both groups is given what
the skewness of both lets its mean miss (u and t are their second and third moments about the
group's own mean, v its own variance):

    delta  = (t / u)^2 / n * max(0, 1 - v / u)

n is the number of people, or what their weights are worth (Kish). A mean in which the outcome of a
row counts c gets one more coordinate, sqrt(delta) c, in a block of its own measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.effect import Blocks
from causalfairness.estimators.within_cells import ratio
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference import added_people, effective_size
from causalfairness.tables import CellPair, RowPair
from causalfairness.tables.fingerprint import digest_of
from causalfairness.tables.target import Target

Array = NDArray[np.float64]
Positions = NDArray[np.int64]
BLOCK = "added people"
NOT_ALL = "these people are in the total and the direct part; the others have replicates alone"
RARE = 5  # people with, or without, the outcome in a group, below whom intervals say so


@dataclass(frozen=True)
class AddedPeople:
    """How two more people per group move the center of a mean, and widen it. By group.

    >>> import pyarrow as pa
    >>> from causalfairness.tables import open_table
    >>> model = StandardFairnessModel(
    ...     protected="sex", reference="M", comparison="F", outcome="hired")
    >>> table = open_table(pa.table({"sex": ["M"] * 8 + ["F"] * 2, "hired": [1] * 2 + [0] * 8}))
    >>> added = AddedPeople.of_cells(table.cells(model, "outcome").pair(model))
    >>> added.correction.tolist(), added.notes[0][:44]
    ([0.05, 0.25], 'Only 2 of 8 people of M have the outcome: in')
    """

    block: str  # the name of the coordinates of its measurement
    correction: Array
    variance: Array  # delta
    weight: Array  # of each group's rows
    notes: tuple[str, ...] = ()

    @classmethod
    def of_cells(cls, pair: CellPair) -> AddedPeople:
        """What is added to two groups that were counted in cells."""
        sums, binary = pair.sums, pair.cells.is_binary
        parts = [sums.w2, sums.w, *((sums.wy,) if binary else sums.powers)]
        return cls._of(
            _by_group(parts, pair.group), _block_of_cells(pair), pair.cells.target, pair.model
        )

    @classmethod
    def of_rows(cls, pair: RowPair, outcome: Array) -> AddedPeople:
        """What is added to two groups of rows with this outcome, or with these predictions."""
        w, binary = pair.weights, bool(np.isin(outcome, (0.0, 1.0)).all())
        y = outcome if binary else outcome - np.average(outcome, weights=w)
        parts = [w**2, *(w * y**power for power in range(2 if binary else 4))]
        whole, target = pair.rows.outcome, pair.rows.target
        block = BLOCK if whole is None else f"{BLOCK} of {digest_of(whole.view(np.int64))}"
        return cls._of(_by_group(parts, pair.group), block, target, pair.model)

    @classmethod
    def _of(
        cls, parts: Array, block: str, target: Target | None, model: StandardFairnessModel
    ) -> AddedPeople:
        """From the sums of w^2, and of w, w y and so on of each group."""
        powers = parts[1:]
        size = effective_size(powers[0], parts[0])
        notes: tuple[str, ...] = ()
        if len(powers) == 2:
            share = powers[1] / powers[0]
            correction, variance = added_people(share, size)
            labels = model.reference_label, model.comparison_label
            had = "prediction" if target is None else target.role
            rare = zip(share * size, size, labels, strict=True)
            notes = tuple(said for each in rare if (said := _said(*each, had)))
        else:
            correction, variance = np.zeros(2), _skewed(powers, size)
        return cls(block, correction, variance, powers[0], notes)

    @property
    def notes_on_replicates(self) -> tuple[str, ...]:
        """The notes, and what replicates leave out."""
        return (*self.notes, NOT_ALL) if self.notes else ()

    @property
    def of_gap(self) -> float:
        """The correction of the comparison group's mean minus that of the reference group's."""
        return float(self.correction[1] - self.correction[0])

    @property
    def of_told(self) -> Array:
        """The corrections of world means, by the group that the direct path is told. (2, 2, 3)"""
        return np.broadcast_to(self.correction[:, None, None], (2, 2, 3))

    def worlds(self, coefficients: Array, group: NDArray[np.int8]) -> tuple[Array, Array]:
        """Corrections of means in which a row, or cell, counts so much; their further coordinates.

        `coefficients` is (..., n) and `group` says of which group each of the n is.
        """
        return coefficients @ self.correction[group], np.sqrt(self.variance[group]) * coefficients

    def told(
        self, label: Positions, labels: int, group: NDArray[np.int8], squares: Array
    ) -> tuple[Blocks, Blocks]:
        """One coordinate per label of a group, for replicates, which have neither rows nor cells.

        Of the world means, which are told a group, and of the gap. `squares` are the sums of w^2.
        """
        at = group.astype(np.int64) * labels + label
        added = np.bincount(at, squares, minlength=2 * labels).reshape(2, labels)
        block = np.sqrt(self.variance[:, None] * added) / self.weight[:, None]
        worlds = np.broadcast_to(block[:, None, None], (2, 2, 3, labels))
        return {self.block: worlds}, {self.block: block[1] - block[0]}


def _block_of_cells(pair: CellPair) -> str:
    """The name of a measurement's coordinates. Two columns that hold the same share them."""
    own, beside = pair.cells.sums, pair.cells.beside
    if beside is None or not beside.goes_first:
        return BLOCK
    twice = np.stack([beside.sums.w2y2, beside.products])
    return BLOCK if np.allclose(twice, own.w2y2, rtol=1e-12, atol=0.0) else f"{BLOCK}, second"


def _by_group(parts: Sequence[Array], group: NDArray[np.int8]) -> Array:
    return np.stack([np.bincount(group, part, minlength=2).astype(float) for part in parts])


def _skewed(powers: Array, size: Array) -> Array:
    """delta of numbers, from the sums of w, w y, w y^2 and w y^3 of each group."""
    mean, own = powers[1] / powers[0], powers[2] / powers[0]
    _, first, second, third = powers.sum(axis=1) / powers[0].sum()
    u = second - 2 * mean * first + mean**2
    t = third - 3 * mean * second + 3 * mean**2 * first - mean**3
    v = np.maximum(own - mean**2, 0.0) * ratio(size, np.where(size > 1, size - 1, 0.0))
    return ratio(ratio(t, u) ** 2 * np.maximum(0.0, 1 - ratio(v, u)), size)


def _said(events: float, size: float, label: str, had: str) -> str:
    """Whether so few people of a group have the outcome, or lack it, that the rule matters."""
    few, which = (events, "have") if 2 * events <= size else (size - events, "lack")
    if few >= RARE:
        return ""
    thing = "the outcome" if had == "outcome" else "a positive prediction"
    return (
        f"Only {few:.3g} of {size:,.0f} people of {label} {which} {thing}: intervals count two "
        "more people per group, one with it and one without (Agresti and Caffo)"
    )
