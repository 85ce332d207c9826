"""What would the mechanisms be, had other people been drawn?

Rows of the table are drawn with replacement and every learned mechanism on the way is fitted again
to them, of the same kind as before: which kind suits a node is not chosen anew. Spreads are centred
replicates divided by sqrt(B - 1). Answers that share seed, number of replicates and table share
their draws, and may be subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis
from causalfairness.errors import MechanismError, OverlapError
from causalfairness.inference import run_all
from causalfairness.scm.evaluation import Equations, Values
from causalfairness.scm.fitting import Remembered
from causalfairness.scm.mechanism import Mechanism
from causalfairness.tables.fingerprint import Identity

if TYPE_CHECKING:
    from causalfairness.scm.structural_causal_model import StructuralCausalModel

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Answer = Callable[[Equations, Array], Array]  # equations, and how often each row counts
FEWEST_REPLICATES = 20
FEWEST_ROWS = 10  # of a group, for a draw with replacement to imitate drawing other people
AT_ONCE = 10  # replicates that one task computes
ROUNDING = 1e-13  # relative size below which replicates differ by rounding only


@dataclass(frozen=True, eq=False)
class Refits:
    """Which mechanisms are learned again, and from which rows?"""

    equations: Equations
    mechanisms: Mapping[str, Mechanism]
    values: Values
    seed: int
    weights: Array | None = None

    def on(self, rows: NDArray[np.intp]) -> Equations:
        """What are the equations, learned from these rows?"""
        again = {
            node: mechanism.fit(
                self.equations.sample(node, self.values, self.seed, self.weights).take(rows)
            )
            for node, mechanism in self.mechanisms.items()
        }
        return self.equations._replace(fitted={**self.equations.fitted, **again})


def refits_of(
    scm: StructuralCausalModel, values: Values, nodes: Sequence[str], weights: Array | None
) -> Refits:
    """How are these nodes of a model learned again? `values` holds them and their causes."""
    if not isinstance(scm.background, Remembered):
        raise MechanismError(
            "this model was loaded from a file, which keeps its equations but not how they were "
            "learned, so they cannot be learned again; fit it anew, or do without replicates"
        )
    choices = scm.background.choices
    learned = {node: choices[node].mechanism for node in nodes if choices[node].mechanism.learns}
    return Refits(scm.equations, learned, values, scm.background.seed, weights)


def check_replicates(replicates: int | None) -> None:
    """Are there enough replicates to tell a spread from noise? None asks for none.

    >>> check_replicates(50)
    """
    if replicates is None:
        return
    if not isinstance(replicates, int) or replicates < FEWEST_REPLICATES:
        raise ValueError(
            f"replicates must be a whole number, at least {FEWEST_REPLICATES}, or None; found "
            f"{replicates!r}"
        )


def replicate(
    refits: Refits,
    answer: Answer,
    needed: Mapping[str, Mask],
    *,
    replicates: int,
    workers: int,
    seed: int,
) -> Array:
    """What does `answer` give on each draw of rows? Replicates along the last axis, centred.

    `needed` are the groups, by name, of which every draw must hold somebody.
    """
    for name, inside in needed.items():
        if (rows := int(inside.sum())) < FEWEST_ROWS:
            raise OverlapError(
                f"the {name} has only {rows} rows, too few to imagine others drawn in their place; "
                f"at least {FEWEST_ROWS} are needed"
            )
    generators = np.random.default_rng(seed).spawn(replicates)
    tasks = [generators[at : at + AT_ONCE] for at in range(0, replicates, AT_ONCE)]
    drawing = _Drawing(refits, answer, tuple(needed.values()))
    drawn = run_all(drawing.again, tasks, workers=workers, what="refitting mechanisms")
    found = np.stack([one for block in drawn for one in block], axis=-1)
    centered = found - found.mean(axis=-1, keepdims=True)
    centered[np.abs(centered) < ROUNDING * np.abs(found).max()] = 0.0
    return np.asarray(centered / np.sqrt(replicates - 1))


def resampled_basis(identity: Identity, replicates: int, seed: int) -> Basis:
    """What do the coordinates of such replicates stand for? Other draws have other words.

    >>> resampled_basis(Identity("3f9a", "11"), 50, 0).seed
    '0/50 rows redrawn'
    """
    draws = f"{seed}/{replicates} rows redrawn"
    return Basis(identity.fingerprint, "replicates", identity.order, draws)


@dataclass(frozen=True, eq=False)
class _Drawing:
    """What a replicate needs to know; it travels to workers."""

    refits: Refits
    answer: Answer
    needed: tuple[Mask, ...]

    def again(self, generators: Sequence[np.random.Generator]) -> list[Array]:
        return [self._one(rng) for rng in generators]

    def _one(self, rng: np.random.Generator) -> Array:
        n = len(self.needed[0])
        rows = rng.integers(0, n, n)
        while not all(inside[rows].any() for inside in self.needed):
            rows = rng.integers(0, n, n)
        counts = np.bincount(rows, minlength=n).astype(float)
        return self.answer(self.refits.on(rows), counts)
