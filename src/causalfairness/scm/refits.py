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
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

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
from causalfairness.scm.linear import (
    Linear,
    LinearEquation,
    flat_slopes,
    slope_influences,
    slopes_by_cause,
)
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
UNDRAWN = 1e-9  # how often a row counts that was not drawn: its category, its bin stays possible
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
    of all `rows` that the model was fitted to. Where all of them are lines, answers can be followed
    along their slopes instead.
    """

    equations: Equations
    mechanisms: Mapping[str, Mechanism]
    values: Values
    seed: int
    weights: Array | None
    others: bool
    rows: int

    def drawn(self, rows: NDArray[np.intp], rng: np.random.Generator) -> Equations:
        """The equations, learned from redrawn rows: these, or others if the fit is to others."""
        kept = len(next(iter(self.values.values())))
        if self.others:
            rows = rng.integers(0, kept, kept)
        counts = np.bincount(rows, minlength=kept)
        again: dict[str, FittedMechanism] = {}
        for node, mechanism in self.mechanisms.items():
            sample = self.sample(node)
            if isinstance(mechanism, Categorical | Ordered) and takes_weights(mechanism.model):
                weights = np.asarray(counts + UNDRAWN, dtype=np.float64)
                weights *= 1.0 if self.weights is None else self.weights
                unseen = ~np.isin(sample.values, sample.values[rows])
                taken = np.flatnonzero((counts > 0) | unseen)
                again[node] = mechanism.fit(replace(sample, weights=weights).take(taken))
            else:
                again[node] = mechanism.fit(sample.take(rows))
        return self.equations._replace(fitted={**self.equations.fitted, **again})

    def sample(self, node: str) -> Sample:
        """From what was the mechanism of a node learned?"""
        return self.equations.sample(node, self.values, self.seed, self.weights)

    @property
    def lines(self) -> dict[str, LinearEquation]:
        """Which line does each node that was learned follow?"""
        fitted = ((node, self.equations.fitted[node]) for node in self.mechanisms)
        return {node: line for node, line in fitted if isinstance(line, LinearEquation)}

    @cached_property
    def influences(self) -> Array:
        """What each row of the fit adds to the error of each slope. (slopes, rows of the fit)"""
        every = [slope_influences(line, self.sample(node)) for node, line in self.lines.items()]
        return math.sqrt(every[0].shape[1] / self.rows) * np.concatenate(every)

    def coordinates(self, places: NDArray[np.int64]) -> Array:
        """The same by row as brought, or on coordinates of its own if the fit is to others."""
        if not self.others:
            return np.asarray(self.influences[:, places])
        values, vectors = np.linalg.eigh(self.influences @ self.influences.T)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def basis(self, identity: Identity | Basis) -> Basis:
        """What do coordinates stand for, those of the rows asked about before those of the fit?"""
        nodes = ", ".join(self.mechanisms)
        elsewhere = f"{nodes} fitted to {self.rows} others" if self.others else ""
        return Basis(identity.fingerprint, "rows", identity.order, elsewhere)

    def derivatives(
        self, answer: Callable[[Equations], Array], error: Array, mean: Callable[[Array], Array]
    ) -> Array | None:
        """How answers move with each slope, along a new last axis; None where they jump or bend.

        `error` is the standard error of their `mean` over people, with the slopes as given.
        """
        errors = np.linalg.norm(self.influences, axis=1)

        def move(steps: Array) -> Array:
            ahead, back = (answer(self._moved(sign * steps * errors)) for sign in (1, -1))
            return np.asarray((ahead - back) / 2)

        usual = answer(self.equations)
        along = np.resize([1.0, -1.0], len(errors)) / math.sqrt(len(errors))
        near, far = mean(move(STEP * along)) / STEP, mean(move(along))
        rounding = ROUNDING / STEP * np.abs(usual).max()
        if (np.abs(near - far) > BENT * np.hypot(error, far) + rounding).any():
            return None
        steps = STEP * np.eye(len(errors))
        moves = [move(step) if step @ errors else 0.0 * usual for step in steps]
        return np.stack(moves, axis=-1) / np.where(errors > 0, STEP * errors, 1.0)

    def _moved(self, steps: Array) -> Equations:
        """The equations with slopes that are moved by these steps."""
        equations, fitted = self.equations, dict(self.equations.fitted)
        for node, line in self.lines.items():
            domains = [equations.domains[cause] for cause in equations.graph.parent_map[node]]
            slopes = flat_slopes(line)
            by, steps = np.split(steps, [len(slopes)])
            fitted[node] = replace(line, slopes=slopes_by_cause(domains, slopes + by))
        return equations._replace(fitted=fitted)


class RefitPlan(NamedTuple):
    """How is the fit to enter an answer's uncertainty? `said` tells; without `refits` not at all.

    Where answers follow `moves` along slopes, nothing is fitted again, else `replicates` times.
    """

    said: str
    refits: Refits | None = None
    moves: Array | None = None
    replicates: int = 0
    rows_alone: bool = False

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
    answer: Callable[[Equations], Array],
    error: Array,
    *,
    mean: Callable[[Array], Array] = np.asarray,
    people: float = math.inf,
) -> RefitPlan:
    """Return how the fit of these nodes' mechanisms enters what is asked about these rows.

    `values` holds the nodes and their causes, in the order of their content. `replicates=None`
    refits as often as the rows allow, unless lines are all that was learned and the `answer` is
    smooth beside the `error` of its `mean` over people, or there are too few `people`; 0 takes the
    mechanisms as given.
    """
    check_replicates(replicates)
    chosen = {}
    if isinstance(scm.background, Remembered):
        chosen = {node: scm.background.choices[node].mechanism for node in nodes}
    known = [m for m in chosen.values() if m.learns or isinstance(m, Deterministic)]
    given = len(known) < len(nodes)
    if not given and not any(mechanism.learns for mechanism in known):
        return RefitPlan(KNOWN)
    if replicates == 0 or (given and replicates is None):
        return RefitPlan(GIVEN.format(LOADED if given else ASKED), rows_alone=True)
    refits = refits_of(scm, values, nodes, weights)
    if replicates is None:
        lines = all(isinstance(mechanism, Linear) for mechanism in refits.mechanisms.values())
        if lines and (moves := refits.derivatives(answer, error, mean)) is not None:
            rows = f"{refits.rows:,}{' other' if refits.others else ''}"
            return RefitPlan(EXACT.format(rows), refits, moves)
        most = max(refits.rows, len(next(iter(values.values()))))
        replicates = next((count for limit, count in USUAL if most <= limit), 0)
        if not replicates or people < FEWEST_ROWS:
            return RefitPlan(GIVEN.format(FEW if replicates else MANY), rows_alone=True)
    return RefitPlan(REFITTED.format(replicates), refits, replicates=replicates)


class Uncertainty(NamedTuple):
    """How answers would move with other people, and with mechanisms that are fitted to these."""

    spreads: Array  # (answers, coordinates)
    basis: Basis
    plan: RefitPlan


def uncertainty(
    scm: StructuralCausalModel,
    values: Values,
    nodes: Sequence[str],
    weights: Array | None,
    replicates: int | None,
    *,
    answer: Answer,
    by_row: Array,
    needed: Mapping[str, Mask],
    places: NDArray[np.int64],
    identity: Identity,
    drawn: Identity,
    workers: int,
    seed: int,
) -> Uncertainty:
    """Return how sure answers of a model are, the fitting of its mechanisms included.

    Rows come by their content, in `values` of the `nodes` that follow and of their causes, in
    `weights` and in `needed`: the groups, by name, of which every draw must hold somebody. `places`
    are those of the rows as they were brought, whose `identity` it is, and `by_row` (answers, rows)
    is what each of them adds to the error, mechanisms as given. `drawn` is the identity of the rows
    in the order in which they are drawn.
    """
    error, once = np.linalg.norm(by_row, axis=-1), np.ones(len(places))
    found = plan(
        *(scm, values, nodes, weights, replicates),
        *(lambda equations: answer(equations, once), error),
        people=min(int(inside.sum()) for inside in needed.values()),
    )
    if found.refits is None:
        return Uncertainty(by_row, Basis(identity.fingerprint, "rows", identity.order), found)
    if found.moves is not None:
        fit = found.moves @ found.refits.coordinates(places)
        others = found.refits.others
        spreads = np.concatenate([by_row, fit], axis=-1) if others else by_row + fit
        return Uncertainty(spreads, found.refits.basis(identity), found)
    drawing = (found.refits, answer, needed, found.replicates)
    spreads = replicate(*drawing, workers=workers, seed=seed)
    return Uncertainty(spreads, resampled_basis(drawn, found.replicates, seed), found)


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
    replicates: int,
    *,
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
    work = partial(_redrawn, refits, answer, tuple(needed.values()))
    drawn = run_all(work, tasks, workers=workers, what="refitting mechanisms")
    found = np.stack([one for block in drawn for one in block], axis=-1)
    centered = found - found.mean(axis=-1, keepdims=True)
    centered[np.abs(centered) < ROUNDING * np.abs(found).max()] = 0.0
    return np.asarray(centered / np.sqrt(replicates - 1))


def resampled_basis(
    identity: Identity | Basis, replicates: int, seed: int, how: str = "redrawn"
) -> Basis:
    """What do the coordinates of such replicates stand for? Other draws have other words.

    >>> resampled_basis(Identity("3f9a", "11"), 50, 0).seed
    '0/50 rows redrawn'
    """
    draws = f"{seed}/{replicates} rows {how}"
    return Basis(identity.fingerprint, "replicates", identity.order, draws)


def _redrawn(
    refits: Refits,
    answer: Answer,
    needed: Sequence[Mask],
    generators: Sequence[np.random.Generator],
) -> list[Array]:
    """The answers by some of the replicates, one for each generator."""
    answers, n = [], len(needed[0])
    for rng in generators:
        rows = rng.integers(0, n, n)
        while not all(inside[rows].any() for inside in needed):
            rows = rng.integers(0, n, n)
        counts = np.bincount(rows, minlength=n).astype(float)
        answers.append(answer(refits.drawn(rows, rng), counts))
    return answers
