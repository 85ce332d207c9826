"""What rows that were left out say about how a column was learned: losses, and two warnings.

* **Loss**: a learner that was named loses over 2 % more than what `SharedQuantiles` found, and by
  more than three standard errors.
* **Ranks**: in some group the rank u depends on a cause: a rank correlation beyond .10 and four
  standard errors, or a mean over a third of the rows, by that cause, beyond .03 from 1/2 and 4.2
  standard errors.

Nothing is corrected by them. With a learner that is right, a table is warned of 4 times in 100.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from causalfairness.adaptation.continuous import JUDGED, check_loss
from causalfairness.adaptation.discrete import log_losses
from causalfairness.adaptation.forms import FOLDS, sample_of
from causalfairness.adaptation.learner import (
    Array,
    Codes,
    OwnDistributions,
    QuantileLearner,
    fit_each,
)
from causalfairness.adaptation.shared import Race, SharedDistribution, SharedQuantiles, race

LOSS = "another learner loses less on rows left out"
RANKS = "ranks of rows left out depend on a cause"
WORSE, ERRORS = 1.02, 3.0
RELATED, RELATED_ERRORS = 0.10, 4.0
THIRDS, OFF, OFF_ERRORS = 3, 0.03, 4.2


class Warned(NamedTuple):
    """Which column, in which of two ways, and in words."""

    column: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.column}: {self.kind} ({self.text})"


@dataclass(frozen=True)
class HeldOut:
    """What rows that were left out say about how one column was learned."""

    column: str
    learner: str
    chosen: str  # the candidate of `SharedQuantiles` that won
    losses: Mapping[str, float]  # by candidate, and of the learner that was named
    warnings: tuple[Warned, ...]

    @property
    def shared(self) -> bool:
        """Whether groups are learned together."""
        return self.learner not in self.losses

    @property
    def model(self) -> str:
        """What the column is learned by."""
        return f"{self.learner}: {self.chosen}" if self.shared else self.learner


class Task(NamedTuple):
    """A column to learn, given its causes and the group, and how they are called."""

    column: str
    names: tuple[str, ...]  # of causes
    groups: tuple[str, ...]
    learner: QuantileLearner | SharedQuantiles
    causes: Array
    values: Array
    group: Codes
    edges: Array
    seed: int


def learn(task: Task) -> tuple[SharedDistribution | OwnDistributions, HeldOut]:
    """How values are distributed given causes and group, and what rows left out say about it."""
    column, _, _, learner, causes, values, group, edges, seed = task
    raced = race(sample_of(causes, values, group, seed), edges)
    names = [candidate.name for candidate in raced.candidates]
    chosen = names[raced.first]
    losses = dict(zip(names, raced.losses.mean(axis=1).tolist(), strict=True))
    name, warned = type(learner).__name__, list[Warned]()
    found: SharedDistribution | OwnDistributions
    if isinstance(learner, SharedQuantiles):
        found, ranks = raced.winner(), raced.ranks()
    else:
        found = fit_each(learner, causes, values, group, edges, seed)
        ranks, own = _held_out(learner, task, raced)
        losses[name] = float(own.mean())
        warned += _worse(column, name, own, raced.losses[raced.first])
    warned += _related(task, ranks)
    return found, HeldOut(column, name, chosen, losses, tuple(warned))


def _held_out(learner: QuantileLearner, task: Task, raced: Race) -> tuple[Array, Array]:
    """Ranks and losses of all rows, by a learner fitted to the rows of other folds."""
    *_, causes, values, group, edges, seed = task
    fold, ranks, losses = raced.sample.fold, np.empty(len(values)), np.empty(len(values))
    for left_out in range(FOLDS):
        rows, train = fold == left_out, fold != left_out
        found = fit_each(learner, causes[train], values[train], group[train], edges, seed)
        x, v, g = causes[rows], values[rows], group[rows]
        ranks[rows] = found.rank(x, v, g)
        if raced.cuts is None:
            told = [found.quantile(x, np.full(len(v), level), g) for level in JUDGED]
            losses[rows] = check_loss(v, np.column_stack(told))
        else:
            told = [found.rank(x, np.full(len(v), cut), g) for cut in raced.cuts]
            losses[rows] = log_losses(v, raced.cuts, np.column_stack(told))
    return ranks, losses


def _worse(column: str, name: str, own: Array, best: Array) -> Iterator[Warned]:
    more, error = float((own - best).mean()), float((own - best).std() / np.sqrt(len(own)))
    if more > (WORSE - 1) * best.mean() and more > ERRORS * error:
        text = f"{name} loses {more / best.mean():.1%} more than SharedQuantiles"
        yield Warned(column, LOSS, text)


def _related(task: Task, ranks: Array) -> Iterator[Warned]:
    """The first cause in each group that the ranks depend on."""
    for code, name in enumerate(task.groups):
        here = np.flatnonzero(task.group == code)
        for cause, column in zip(task.names, task.causes[here].T, strict=True):
            if np.ptp(column) and (text := _dependence(ranks[here], column)):
                yield Warned(task.column, RANKS, f"{cause}, in the group {name}: {text}")
                break


def _dependence(ranks: Array, cause: Array) -> str:
    """How ranks depend on a cause, in words; nothing if they hardly do."""
    from scipy.stats import rankdata

    place, related = (rankdata(cause) - 0.5) / len(cause), rank_correlation(ranks, cause)
    if related > RELATED and related * np.sqrt(len(cause)) > RELATED_ERRORS:
        return f"rank correlation {related:.2f}"
    third = (THIRDS * place).astype(np.intp)
    rows = np.bincount(third, minlength=THIRDS)
    off = np.bincount(third, ranks - 0.5, THIRDS) / np.maximum(rows, 1)
    beyond = (np.abs(off) > OFF) & (np.abs(off) * np.sqrt(12 * rows) > OFF_ERRORS)
    return f"mean rank {off[beyond][0] + 0.5:.2f} in a third of the rows" if beyond.any() else ""


def rank_correlation(one: Array, other: Array) -> float:
    """The size of the correlation of ranks.

    >>> round(rank_correlation(np.array([1.0, 2.0, 9.0]), np.array([3.0, 2.0, 1.0])), 6)
    1.0
    """
    from scipy.stats import rankdata

    return abs(float(np.corrcoef(rankdata(one), rankdata(other))[0, 1]))


def said_of_warnings(adapters: Sequence[Sequence[Warned]]) -> tuple[str, ...]:
    """What must be said of many adapters: each warning once, and of how many.

    >>> said_of_warnings([[Warned("pay", RANKS, "age: rank correlation 0.21")], []])
    ('pay: ranks of rows left out depend on a cause, in 1 of 2 adapters',)
    """
    told = Counter(
        text for one in adapters for text in {f"{each.column}: {each.kind}" for each in one}
    )
    return tuple(
        f"{text}, in {count} of {len(adapters)} adapters" for text, count in sorted(told.items())
    )
