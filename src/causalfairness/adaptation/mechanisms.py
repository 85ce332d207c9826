"""Where does each row stand among its own group, and what has that place in the reference group?

For a column v with causes x, with F_a the distribution in group a and a0 the reference group,

    u = F_a(v | x in fact),      adapted v = F_a0^-1(u | x adapted).

Ties get a random place among themselves. A row whose causes have not changed, where groups share
one mechanism, keeps its value; rows of the reference group are not touched at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.adaptation.held_out import HeldOut, Task, learn
from causalfairness.adaptation.learner import Array, Codes, QuantileLearner
from causalfairness.adaptation.plan import Move
from causalfairness.adaptation.reading import Values
from causalfairness.adaptation.saved_earlier import SAVED_EARLIER
from causalfairness.adaptation.shared import SharedQuantiles
from causalfairness.adaptation.steps import Steps
from causalfairness.errors import LearnerError
from causalfairness.inference import run_all
from causalfairness.scm.causes import Term
from causalfairness.scm.domain import Domain
from causalfairness.tables import Column
from causalfairness.tables.fingerprint import Arrangement, arrange

REFERENCE = 0
FITTING, MOVING = 0, 1  # purposes that chance is drawn for
EVERYONE = "everyone"  # where groups share a mechanism


@dataclass(frozen=True, eq=False)
class Mechanism:
    """How does one column follow from its causes, group by group?

    `stream` numbers the chance that it draws, by what columns hold and not by their names.
    """

    move: Move
    causes: tuple[Domain, ...]
    steps: Steps
    stream: int
    found: Any = None  # distributions in all groups, once they are learned
    held_out: HeldOut | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "stream" not in state:
            raise LearnerError(SAVED_EARLIER)
        self.__dict__.update(state)

    def terms(self) -> Iterator[Term]:
        """Which columns does a learner see? Of more than two labels each: none is set apart."""
        for at, domain in enumerate(self.causes):
            levels = range(len(domain.labels)) if len(domain.labels) > 2 else (None,)
            yield from (Term(at, level) for level in levels)

    def design(self, values: Values, rows: NDArray[np.intp]) -> Array:
        """What does a learner see of the causes of these rows?"""
        taken = [values[domain.name][rows] for domain in self.causes]
        columns = [term.of(taken[term.cause]) for term in self.terms()]
        return np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))

    def groups(self, group: Codes) -> Codes:
        """Of which mechanism are these rows?"""
        return group if self.move.by_group else np.zeros_like(group)


def fit_mechanisms(
    blanks: Sequence[Mechanism],
    learners: Sequence[QuantileLearner | SharedQuantiles],
    values: Values,
    group: Codes,
    names: tuple[str, ...],
    *,
    seed: int,
    workers: int,
) -> tuple[Mechanism, ...]:
    """How does each column follow from its causes? `blanks` are mechanisms without distributions.

    Every column is a task of its own with its own seed, so the answer does not depend on the
    number of workers.
    """
    order = arranged(blanks, values, group).rows
    values, group = {name: column[order] for name, column in values.items()}, group[order]
    rows, tasks = np.arange(len(group)), []
    for blank, learner in zip(blanks, learners, strict=True):
        luck = np.random.default_rng([seed, FITTING, blank.stream]).random(len(group))
        spread = blank.steps.spread(values[blank.move.column], luck)
        own = np.random.SeedSequence([seed, FITTING, blank.stream]).generate_state(1)[0] >> 1
        causes = tuple(blank.causes[term.cause].name for term in blank.terms())
        groups = names if blank.move.by_group else (EVERYONE,)
        told = blank.design(values, rows), spread, blank.groups(group), blank.steps.edges
        tasks.append(Task(blank.move.column, causes, groups, learner, *told, int(own)))
    fitted = run_all(learn, tasks, workers=workers, what="learning how columns follow")
    return tuple(
        replace(blank, found=found, held_out=held_out)
        for blank, (found, held_out) in zip(blanks, fitted, strict=True)
    )


def arranged(mechanisms: Sequence[Mechanism], values: Values, group: Codes) -> Arrangement:
    """In which order do rows come, by the causes of what is moved, and then by what is?"""
    domains = {d.name: d for one in mechanisms for d in one.causes if d.name in values}
    causes = [
        Column(name, None, values[name].astype(np.int64), domain.labels)
        if domain.labels
        else Column.numbers(name, values[name])
        for name, domain in domains.items()
    ]
    placed = sorted(mechanisms, key=lambda one: one.stream)
    moved = [values[one.move.column] for one in placed if one.move.column in values]
    size = np.bincount(group)[group] if len(group) else group
    ties = [Column.numbers("", column) for column in (group != REFERENCE, size, *moved)]
    return arrange(causes, ties)


def adapt(
    mechanisms: Sequence[Mechanism], values: Values, group: Codes, *, seed: int
) -> dict[str, Array]:
    """What would every column be in the reference group? Columns without values are passed over."""
    adapted = dict(values)
    places = arranged(mechanisms, values, group).places
    rows = np.flatnonzero(group != REFERENCE)
    for mechanism in mechanisms:
        column = mechanism.move.column
        if column not in values:
            continue
        luck = np.random.default_rng([seed, MOVING, mechanism.stream]).random(len(group))[places]
        before, after = (mechanism.design(each, rows) for each in (values, adapted))
        moves = mechanism.move.by_group | (before != after).any(axis=1)
        moving = rows[moves]
        if not len(moving):
            continue
        spread, own = mechanism.steps.spread(values[column][moving], luck[moving]), group[moving]
        told = mechanism.found.moved(spread, before[moves], mechanism.groups(own), after[moves])
        adapted[column] = values[column].copy()
        adapted[column][moving] = mechanism.steps.settle(told)
    return adapted
