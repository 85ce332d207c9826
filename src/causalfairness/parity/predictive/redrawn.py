"""How do the means vary, if mechanisms are fitted anew to other people? (methods §7)

Rows are drawn with replacement, a structural causal model learns its mechanisms from them again,
and outcomes of the comparison group in the other world follow from these. Bins stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OverlapError
from causalfairness.parity.predictive.averages import Placed
from causalfairness.parity.predictive.otherwise import by_model
from causalfairness.parity.predictive.rows import Scored
from causalfairness.scm import StructuralCausalModel
from causalfairness.scm.evaluation import Equations
from causalfairness.scm.refits import refits_of, replicate
from causalfairness.tables import only_rows

Array = NDArray[np.float64]
FEW = 10  # rows of a group in a bin


@dataclass(frozen=True, eq=False)
class Redrawn:
    """The same question, asked of mechanisms that were fitted to redrawn rows."""

    scm: StructuralCausalModel
    people: Scored
    native: Any
    placed: Placed
    draws: int
    seed: int

    def spreads(self, replicates: int, workers: int) -> Array:
        """How do the means vary over people and mechanisms? (3, 2, bins, replicates)"""
        rows = self.placed.rows
        few = (rows > 0) & (rows < FEW)
        if few.any():
            raise OverlapError(
                f"refit=True redraws rows, and of {self.placed.bins} bins "
                f"{int(few.any(axis=0).sum())} hold fewer than {FEW} rows of a group, which a draw "
                "may leave empty; use fewer bins, or do without refit"
            )
        kept = np.flatnonzero(self.people.pair.rows.kept)
        place = np.searchsorted(kept, self.people.pair.index)
        needed = {}
        for cell in np.unique(self.placed.cell):
            inside = np.zeros(len(kept), dtype=bool)
            inside[place[self.placed.cell == cell]] = True
            needed[f"cell {cell}"] = inside
        values = self.scm.encode(only_rows(self.native, kept))
        nodes = self.scm.graph.descendants(self.people.model.protected_columns)
        return replicate(
            refits_of(self.scm, values, nodes),
            _Answer(self, place),
            needed,
            replicates=replicates,
            workers=workers,
            seed=self.seed,
        )


@dataclass(frozen=True, eq=False)
class _Answer:
    """What one replicate computes; it travels to workers."""

    of: Redrawn
    place: NDArray[np.int64]  # of each person among the rows that are redrawn

    def __call__(self, equations: Equations, counts: Array) -> Array:
        """All means, if rows count this often. (3, 2, bins); 0 where a group has nobody."""
        of = self.of
        scm = replace(of.scm, equations=equations)
        columns = of.placed.columns.copy()
        moved = by_model(scm, of.people, of.native, draws=of.draws, seed=of.seed)
        columns[2, of.people.is_comparison] = moved
        return np.nan_to_num(replace(of.placed, columns=columns).means(counts[self.place]))
