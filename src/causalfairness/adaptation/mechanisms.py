"""Where does each row stand among its own group, and what has that place in the reference group?

For a column v with causes x, with F_a the distribution in group a and a0 the reference group,

    u = F_a(v | x in fact),      adapted v = F_a0^-1(u | x adapted).

Ties get a random place among themselves. A row whose causes have not changed, where groups share
one mechanism, keeps its value; rows of the reference group are not touched at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import call

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.learner import Array, ConditionalDistribution, QuantileLearner
from causalfairness.adaptation.plan import Move
from causalfairness.adaptation.steps import Steps
from causalfairness.inference import run_all
from causalfairness.scm.causes import Causes
from causalfairness.scm.domain import Domain
from causalfairness.scm.evaluation import in_order
from causalfairness.tables.fingerprint import Arrangement

Codes = NDArray[np.int64]
Values = Mapping[str, Array]
REFERENCE = 0
FITTING, MOVING = 0, 1  # purposes that chance is drawn for


@dataclass(frozen=True, eq=False)
class Mechanism:
    """How does one column follow from its causes, group by group?"""

    move: Move
    causes: tuple[Domain, ...]
    steps: Steps
    distributions: tuple[ConditionalDistribution, ...]  # by group; a single one if all share it

    def of(self, group: int) -> ConditionalDistribution:
        """Which distribution does this group have?"""
        return self.distributions[group if self.move.by_group else REFERENCE]

    def design(self, values: Values, rows: NDArray[np.intp]) -> Array:
        """What does a learner see of the causes of these rows?"""
        taken = tuple(values[domain.name][rows] for domain in self.causes)
        return Causes(len(rows), self.causes, taken).design()

    def ranks(self, values: Values, group: Codes, rows: NDArray[np.intp], luck: Array) -> Array:
        """Which place does each of these rows have in its own group, given its causes in fact?"""
        spread = self.steps.spread(values[self.move.column][rows], luck[rows])
        design, of_row = self.design(values, rows), group[rows]
        ranks = np.empty(len(rows))
        for code in np.unique(of_row):
            here = of_row == code
            ranks[here] = self.of(int(code)).rank(design[here], spread[here])
        return ranks


def fit_mechanisms(
    blanks: Sequence[Mechanism],
    learners: Sequence[QuantileLearner],
    values: Values,
    group: Codes,
    *,
    seed: int,
    workers: int,
) -> tuple[Mechanism, ...]:
    """How does each column follow from its causes? `blanks` are mechanisms without distributions.

    Every column and group is a task of its own with its own seed, so the answer does not depend on
    the number of workers.
    """
    order = arranged(blanks, values, group).rows
    values, group = {name: column[order] for name, column in values.items()}, group[order]
    tasks, counts = [], []
    for at, (blank, learner) in enumerate(zip(blanks, learners, strict=True)):
        groups = range(int(group.max()) + 1) if blank.move.by_group else (None,)
        edges = blank.steps.edges
        luck = np.random.default_rng([seed, FITTING, at]).random(len(group))
        for code in groups:
            rows = np.arange(len(group)) if code is None else np.flatnonzero(group == code)
            spread = blank.steps.spread(values[blank.move.column][rows], luck[rows])
            own = np.random.SeedSequence([seed, FITTING, at, code or 0]).generate_state(1)[0]
            design = blank.design(values, rows)
            tasks.append(partial(learner.fit, design, spread, edges=edges, seed=int(own)))
        counts.append(len(groups))
    fitted = iter(run_all(call, tasks, workers=workers, what="learning how columns follow"))
    return tuple(
        Mechanism(blank.move, blank.causes, blank.steps, tuple(next(fitted) for _ in range(count)))
        for blank, count in zip(blanks, counts, strict=True)
    )


def arranged(mechanisms: Sequence[Mechanism], values: Values, group: Codes) -> Arrangement:
    """In which order do rows come, by the causes of what is moved, and then by what is?"""
    causes = {d.name: values[d.name] for one in mechanisms for d in one.causes if d.name in values}
    moved = {
        one.move.column: values[one.move.column] for one in mechanisms if one.move.column in values
    }
    return in_order(causes, {"group": group, **moved})[0]


def adapt(
    mechanisms: Sequence[Mechanism], values: Values, group: Codes, *, seed: int
) -> dict[str, Array]:
    """What would every column be in the reference group? Columns without values are passed over."""
    adapted = dict(values)
    places = arranged(mechanisms, values, group).places
    rows = np.flatnonzero(group != REFERENCE)
    for at, mechanism in enumerate(mechanisms):
        column = mechanism.move.column
        if column not in values:
            continue
        luck = np.random.default_rng([seed, MOVING, at]).random(len(group))[places]
        moving = rows if mechanism.move.by_group else _changed(mechanism, values, adapted, rows)
        if not len(moving):
            continue
        ranks = mechanism.ranks(values, group, moving, luck)
        told = mechanism.of(REFERENCE).quantile(mechanism.design(adapted, moving), ranks)
        adapted[column] = values[column].copy()
        adapted[column][moving] = mechanism.steps.settle(told)
    return adapted


def _changed(
    mechanism: Mechanism, values: Values, adapted: Values, rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The rows of which some cause has changed."""
    changed = np.zeros(len(rows), dtype=bool)
    for domain in mechanism.causes:
        changed |= values[domain.name][rows] != adapted[domain.name][rows]
    return rows[changed]
