"""The uncertainty of what a structural model answers: of the people drawn, and of what was fitted.

    s_r = (h_r - theta)/n + D' psi_r,    D = mean dh/dbeta,    psi_r = A^-1 (x_r - mean x) e_r / n

for a mean theta of h(row; beta), if all that was learned on the way are lines with slopes beta; e
are their residuals (methods §10). D is taken by central differences, and the answer must be smooth.
Where the model was fitted to other rows, the second term has coordinates of its own.

Elsewhere rows are drawn with replacement and every learned mechanism on the way is fitted again to
them, of the same kind as before. Spreads are centered replicates divided by sqrt(B - 1), with B - 1
degrees of freedom. Answers that share seed, number of replicates and table share their draws, and
may be subtracted. What can be had in neither way is of rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects import Basis
from causalfairness.errors import MechanismError, OverlapError
from causalfairness.inference import run_all
from causalfairness.scm.categorical import Categorical, Ordered
from causalfairness.scm.evaluation import Equations, Values
from causalfairness.scm.fitting import Remembered
from causalfairness.scm.given import Deterministic
from causalfairness.scm.learners import takes_weights
from causalfairness.scm.linear import Linear, LinearEquation, flat_slopes, shifted, slope_influences
from causalfairness.scm.mechanism import FittedMechanism, Mechanism, Sample
from causalfairness.tables.fingerprint import Identity

if TYPE_CHECKING:
    from causalfairness.scm.structural_causal_model import StructuralCausalModel

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Answer = Callable[[Equations, Array], Array]  # equations, and how often each row counts
FEWEST_REPLICATES = 10  # by t, a few tell how little they know
FEWEST_ROWS = 10  # of a group, for a draw with replacement to imitate drawing other people
AT_ONCE = 10  # replicates that one task computes
UNDRAWN = 1e-9  # how often a row counts that was not drawn: its category stays possible
ROUNDING = 1e-13  # relative size below which replicates differ by rounding only
USUAL = ((10_000, 100), (50_000, 30))  # up to so many rows, so many replicates; none above
STEP = 1e-3  # of slopes, in standard errors, at which derivatives are taken
BENT = 0.1  # standard errors by which an answer may bend where slopes move by one of theirs
KNOWN = "intervals are over people; no mechanism on the way was learned"
EXACT = "intervals are over people and over the slopes that were fitted to {} rows"
REFITTED = "intervals are over people and the mechanisms fitted to them, {} times anew"
GIVEN = (
    "rows alone: intervals are over people, with the mechanisms taken as given, so they may be far "
    "too short and nothing is judged by them ({})"
)
LOADED = "the model was loaded, or a mechanism is a function: how they were found is not known"
MANY = "so many rows are not fitted again unless replicates=... says how often"
ASKED = "as replicates=0 asks for"
FEW = "too few people to imagine others drawn in their place"


@dataclass(frozen=True, eq=False)
class Refits:
    """Which mechanisms are learned again, and from which rows?

    The rows are those that are asked about, in the same order, unless these are `others`: a share
    of all `rows` that the model was fitted to.
    """

    equations: Equations
    mechanisms: Mapping[str, Mechanism]
    values: Values
    seed: int
    weights: Array | None = None
    others: bool = False
    rows: int = 0

    def on(self, rows: NDArray[np.intp]) -> Equations:
        """What are the equations, learned from these rows?"""
        counts = np.bincount(rows, minlength=len(next(iter(self.values.values()))))
        again: dict[str, FittedMechanism] = {}
        for node, mechanism in self.mechanisms.items():
            sample = self.sample(node)
            if isinstance(mechanism, Categorical | Ordered) and takes_weights(mechanism.model):
                weights = np.asarray(counts + UNDRAWN, dtype=np.float64)
                weights *= 1.0 if self.weights is None else self.weights
                unseen = ~np.isin(sample.values, sample.values[rows])
                kept = np.flatnonzero((counts > 0) | unseen)
                again[node] = mechanism.fit(replace(sample, weights=weights).take(kept))
            else:
                again[node] = mechanism.fit(sample.take(rows))
        return self.equations._replace(fitted={**self.equations.fitted, **again})

    def drawn(self, rows: NDArray[np.intp], rng: np.random.Generator) -> Equations:
        """The equations, learned from redrawn rows: these, or others if the fit is to others."""
        if self.others:
            kept = len(next(iter(self.values.values())))
            rows = rng.integers(0, kept, kept)
        return self.on(rows)

    def sample(self, node: str) -> Sample:
        """From what was the mechanism of a node learned?"""
        return self.equations.sample(node, self.values, self.seed, self.weights)


@dataclass(frozen=True, eq=False)
class Slopes:
    """The slopes of fitted lines, and what each row of the fit adds to their errors."""

    refits: Refits

    @property
    def lines(self) -> dict[str, LinearEquation]:
        """Which line does each node that was learned follow?"""
        fitted = ((node, self.refits.equations.fitted[node]) for node in self.refits.mechanisms)
        return {node: line for node, line in fitted if isinstance(line, LinearEquation)}

    @cached_property
    def influences(self) -> Array:
        """What each row adds to the error of each slope. (slopes, rows of the fit)"""
        every = []
        for node, line in self.lines.items():
            sample = self.refits.sample(node)
            share = math.sqrt(len(sample) / self.refits.rows)
            every.append(share * slope_influences(line, sample))
        return np.concatenate(every)

    def coordinates(self, places: NDArray[np.int64]) -> Array:
        """The same by row as brought, or on coordinates of its own if the fit is to others."""
        if not self.refits.others:
            return np.asarray(self.influences[:, places])
        values, vectors = np.linalg.eigh(self.influences @ self.influences.T)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def basis(self, identity: Identity) -> Basis:
        """What do coordinates stand for, those of the rows asked about before those of the fit?"""
        nodes = ", ".join(self.refits.mechanisms)
        elsewhere = f"{nodes} fitted to {self.refits.rows} others" if self.refits.others else ""
        return Basis(identity.fingerprint, "rows", identity.order, elsewhere)

    def derivatives(
        self,
        answer: Callable[[Equations], Array],
        error: Array,
        mean: Callable[[Array], Array] = np.asarray,
    ) -> Array | None:
        """How answers move with each slope, along a new last axis; None where they jump or bend.

        `error` is the standard error of their `mean` over people, with the slopes as given.
        """
        errors = np.linalg.norm(self.influences, axis=1)

        def move(steps: Array) -> Array:
            ahead, back = (answer(self._moved(sign * steps * errors)) for sign in (1, -1))
            return np.asarray((ahead - back) / 2)

        usual = answer(self.refits.equations)
        along = np.resize([1.0, -1.0], len(errors)) / math.sqrt(len(errors))
        near, far = mean(move(STEP * along)) / STEP, mean(move(along))
        rounding = ROUNDING / STEP * np.abs(usual).max()
        if (np.abs(near - far) > BENT * np.hypot(error, far) + rounding).any():
            return None
        steps = STEP * np.eye(len(errors))
        moves = [move(step) if step @ errors else 0.0 * usual for step in steps]
        return np.stack(moves, axis=-1) / np.where(errors > 0, STEP * errors, 1.0)

    def _moved(self, steps: Array) -> Equations:
        equations, at = self.refits.equations, 0
        fitted = dict(equations.fitted)
        for node, line in self.lines.items():
            domains = [equations.domains[cause] for cause in equations.graph.parent_map[node]]
            until = at + len(flat_slopes(line))
            fitted[node] = shifted(line, domains, steps[at:until])
            at = until
        return equations._replace(fitted=fitted)


class Plan(NamedTuple):
    """How is the fit to enter an answer's uncertainty? `said` tells; by slopes, refits or not."""

    said: str
    slopes: Slopes | None = None
    refits: Refits | None = None
    replicates: int = 0
    rows_alone: bool = False

    @property
    def fitted(self) -> bool:
        """Do spreads hold more than the drawing of people?"""
        return self.slopes is not None or self.refits is not None

    @property
    def freedom(self) -> float:
        """Degrees of freedom of standard errors."""
        return self.replicates - 1 if self.replicates else math.inf


def plan(
    scm: StructuralCausalModel,
    values: Values,
    nodes: Sequence[str],
    weights: Array | None,
    replicates: int | None,
    *,
    people: float = math.inf,
    smooth: bool = True,
) -> Plan:
    """Return how the fit of these nodes' mechanisms enters what is asked about these rows.

    `values` holds the nodes and their causes, in the order of their content. `replicates=None`
    refits as often as the rows allow, unless answers are `smooth` and lines are all that was
    learned, or there are too few `people`; 0 takes the mechanisms as given.
    """
    check_replicates(replicates)
    learned, given = _learned(scm, nodes)
    if not learned and not given:
        return Plan(KNOWN)
    if replicates == 0 or (given and replicates is None):
        return Plan(GIVEN.format(LOADED if given else ASKED), rows_alone=True)
    refits = refits_of(scm, values, nodes, weights)
    rows = f"{refits.rows:,}{' other' if refits.others else ''}"
    if replicates is None and smooth and all(isinstance(m, Linear) for m in learned.values()):
        return Plan(EXACT.format(rows), slopes=Slopes(refits))
    if replicates is None:
        most = max(refits.rows, len(next(iter(values.values()))))
        replicates = next((count for limit, count in USUAL if most <= limit), 0)
        if not replicates or people < FEWEST_ROWS:
            return Plan(GIVEN.format(FEW if replicates else MANY), rows_alone=True)
    return Plan(REFITTED.format(replicates), refits=refits, replicates=replicates)


class Uncertainty(NamedTuple):
    """How answers would move with other people, and with mechanisms that are fitted to these."""

    spreads: Array  # (answers, coordinates)
    basis: Basis
    plan: Plan


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a model's equations, and of which rows. These come by their content.

    `values` are those of the `nodes` that follow and of their causes. `by_row` is what each row
    adds to the error, mechanisms as given, and `needed` the groups, by name, of which every draw
    must hold somebody. `places` are those of the rows as they were brought, whose `identity` it
    is; `drawn` is that of the rows in the order in which they are drawn.
    """

    values: Values
    nodes: Sequence[str]
    answer: Answer
    by_row: Array  # (answers, rows)
    needed: Mapping[str, Mask]
    weights: Array | None
    places: NDArray[np.int64]
    identity: Identity
    drawn: Identity


def uncertainty(
    scm: StructuralCausalModel,
    asked: Asked,
    *,
    replicates: int | None,
    workers: int,
    seed: int,
) -> Uncertainty:
    """Return how sure answers of a model are, the fitting of its mechanisms included."""
    given = (scm, asked.values, asked.nodes, asked.weights, replicates)
    people = min(int(inside.sum()) for inside in asked.needed.values())
    found, by_row = plan(*given, people=people), asked.by_row[..., asked.places]
    if (slopes := found.slopes) is not None:
        once, error = np.ones(len(asked.places)), np.linalg.norm(by_row, axis=-1)
        moves = slopes.derivatives(lambda equations: asked.answer(equations, once), error)
        if moves is not None:
            fit = moves @ slopes.coordinates(asked.places)
            if slopes.refits.others:
                spreads = np.concatenate([by_row, fit], axis=-1)
            else:
                spreads = by_row + fit
            return Uncertainty(spreads, slopes.basis(asked.identity), found)
        found = plan(*given, people=people, smooth=False)
    if found.refits is None:
        basis = Basis(asked.identity.fingerprint, "rows", asked.identity.order)
        return Uncertainty(by_row, basis, found)
    spreads = replicate(
        *(found.refits, asked.answer, asked.needed),
        replicates=found.replicates,
        workers=workers,
        seed=seed,
    )
    return Uncertainty(spreads, resampled_basis(asked.drawn, found.replicates, seed), found)


def _learned(scm: StructuralCausalModel, nodes: Sequence[str]) -> tuple[Mapping[str, Any], bool]:
    """Which mechanisms were learned, and is there one of which it is not known how it was found?"""
    if not isinstance(scm.background, Remembered):
        return {}, bool(nodes)
    chosen = {node: scm.background.choices[node].mechanism for node in nodes}
    learned = {node: mechanism for node, mechanism in chosen.items() if mechanism.learns}
    others = (mechanism for node, mechanism in chosen.items() if node not in learned)
    return learned, not all(isinstance(mechanism, Deterministic) for mechanism in others)


def refits_of(
    scm: StructuralCausalModel, values: Values, nodes: Sequence[str], weights: Array | None
) -> Refits:
    """How are these nodes of a model learned again? `values` holds them and their causes."""
    known = scm.background
    if not isinstance(known, Remembered):
        raise MechanismError(
            "this model was loaded from a file, which keeps its equations but not how they were "
            "learned, so they cannot be learned again; fit it anew, or do without replicates"
        )
    chosen = {node: known.choices[node].mechanism for node in nodes}
    learned = {node: mechanism for node, mechanism in chosen.items() if mechanism.learns}
    others = not known.fitted_to(values)
    counted = known.weights if others else None if known.weights is None else weights
    rows = known.rows if others else values
    return Refits(scm.equations, learned, rows, known.seed, counted, others, known.count)


def check_replicates(replicates: int | None) -> None:
    """Are there enough replicates to tell a spread from noise? None and 0 ask for none.

    >>> check_replicates(50)
    """
    if replicates is None or replicates == 0:
        return
    if not isinstance(replicates, int) or replicates < FEWEST_REPLICATES:
        raise ValueError(
            f"replicates must be a whole number, at least {FEWEST_REPLICATES}, 0 or None; found "
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
        return self.answer(self.refits.drawn(rows, rng), counts)
