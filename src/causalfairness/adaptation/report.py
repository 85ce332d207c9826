"""What does an adapter do, in plain words? Which columns it moves and keeps, and how well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from causalfairness.adaptation.grouping import FEW_ROWS, Grouping
from causalfairness.adaptation.held_out import HeldOut, Warned, rank_correlation
from causalfairness.adaptation.learner import Codes
from causalfairness.adaptation.mechanisms import MOVING, Mechanism, arranged
from causalfairness.adaptation.plan import Move, Plan
from causalfairness.adaptation.reading import Values
from causalfairness.effects.table import as_text
from causalfairness.tables.missing import RowAccount, said_of_dropped

CHECKED = 20_000  # rows of a group that are looked at
GRAPH = (
    "every arrow between these columns is in the graph, and every hidden common cause that would "
    "matter"
)
RANK = (
    "a person would have had the same place among people alike in the reference group as in their "
    "own; for columns with ties the place among equals is drawn"
)
TRANSPORT = (
    "the confounders {columns} are moved to the distribution they have in the reference group, "
    "each given those before it: no counterfactual, since the group does not cause them, and "
    "another order of these columns gives another answer"
)


@dataclass(frozen=True)
class RankFit:
    """Do the ranks of a column look uniform in a group?

    `distance` is 0 for perfectly uniform ranks, `p_value` that of a test for it: meant for rows
    that the adapter was not fitted on. `dependence` is the largest rank correlation with a cause.

    >>> print(RankFit("pay", "F", 500, 0.031, 0.72, 0.04))
    pay, F: distance from uniform 0.031 (p = 0.72), correlation with a cause 0.04
    """

    column: str
    group: str
    rows: int
    distance: float
    p_value: float
    dependence: float

    def __str__(self) -> str:
        return (
            f"{self.column}, {self.group}: distance from uniform {self.distance:.3f} "
            f"(p = {self.p_value:.2g}), correlation with a cause {self.dependence:.2f}"
        )


@dataclass(frozen=True)
class AdaptationReport:
    """What does a fitted adapter do to each column?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.linear_gaussian()
    >>> graph = cf.CausalGraph.parse("group <-> c1; {group, c1} -> m1; {group, m1} -> y")
    >>> adapter = cf.FairAdapter(
    ...     graph, protected="group", reference="blue", resolving=["m1"],
    ...     learner=cf.adaptation.LinearQuantiles())
    >>> report = adapter.fit(world.draw(500, seed=0)).report_
    >>> print(str(report).splitlines()[1])
    y: adapted, given m1; each group is learned on its own (LinearQuantiles)
    """

    grouping: Grouping
    plan: Plan
    held_out: tuple[HeldOut, ...]
    orders: Mapping[str, tuple[str, ...]]
    absent: tuple[str, ...]
    outside: tuple[str, ...]
    fits: tuple[RankFit, ...]
    account: RowAccount | None = None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What does the adaptation rest on, beyond the data?"""
        return GRAPH, RANK

    @property
    def notes(self) -> tuple[str, ...]:
        """What should a reader know before using the adapted rows?"""
        found = [
            f"{column}: its categories have no order of their own and were ordered by the mean "
            f"outcome: {' < '.join(order)}"
            for column, order in self.orders.items()
        ]
        transported = [move.column for move in self.plan.moves if move.transported]
        if transported:
            found.append(TRANSPORT.format(columns=", ".join(transported)))
        found += [
            f"the group {name} has {count} rows: its places are rough"
            for name, count in self.grouping.counts
            if count < FEW_ROWS
        ]
        if self.absent:
            found.append(f"{', '.join(self.absent)}: in the graph, not in the data; not adapted")
        if self.outside:
            found.append(
                f"{', '.join(self.outside)}: not in the graph, left as they are; they may carry "
                "the group's influence"
            )
        return (*found, *said_of_dropped(self.account))

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """Where do rows that were left out not follow from what was learned?"""
        return tuple(warned for each in self.held_out for warned in each.warnings)

    def to_records(self) -> list[dict[str, Any]]:
        """How uniform are the ranks, as plain data? One record per column and group."""
        return [dict(vars(fit)) for fit in self.fits]

    def __str__(self) -> str:
        reference, *groups = (f"{name} ({count:,} rows)" for name, count in self.grouping.counts)
        by = ", ".join(self.grouping.protected)
        lines = [f"{', '.join(groups)} adapted to {reference}, by {by}"]
        moves = {move.column: move for move in self.plan.moves}
        lines += [_told(moves[each.column], each) for each in self.held_out]
        for what, columns in (
            ("resolving, left as they are", self.plan.resolving),
            (
                "left as they are, since all that changed before them is resolving or nothing did",
                self.plan.resolved_too,
            ),
            ("not caused by the group, left as they are", self.plan.staying),
        ):
            if columns:
                lines.append(f"{', '.join(columns)}: {what}")
        if self.fits:
            lines.append(self._ranks())
        lines += [f"assumes: {assumption}" for assumption in self.assumptions]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"warning: {warned}" for warned in self.warnings]
        return "\n".join(lines)

    __repr__ = __str__

    def _ranks(self) -> str:
        head = ("ranks of the rows fitted on", "group", "rows", "from uniform", "with a cause")
        lines = [
            (fit.column, fit.group, f"{fit.rows:,}", f"{fit.distance:.3f}", f"{fit.dependence:.2f}")
            for fit in self.fits
        ]
        return as_text([head, *lines], words=(0, 1))


def _told(move: Move, found: HeldOut) -> str:
    given = ", ".join(move.causes) or "no other column"
    what = "transported" if move.transported else "adapted"
    if not move.by_group:
        own = "all groups share a mechanism"
    elif found.shared:
        own = "groups are learned together"
    else:
        own = "each group is learned on its own"
    return f"{move.column}: {what}, given {given}; {own} ({found.model})"


def rank_fits(
    mechanisms: Sequence[Mechanism],
    names: Sequence[str],
    values: Values,
    group: Codes,
    *,
    seed: int,
) -> Iterator[RankFit]:
    """Do the ranks of every column look uniform in every group? Up to 20,000 rows of each.

    If a mechanism is right, the rank u = F(v | causes) of a row is uniform between 0 and 1 whatever
    its causes. Two departures are measured: the distance of the ranks from uniform (Kolmogorov and
    Smirnov), and the largest rank correlation of u with one of the causes.
    """
    from scipy.stats import kstest

    order = arranged(mechanisms, values, group).rows
    values, group = {name: column[order] for name, column in values.items()}, group[order]
    for mechanism in mechanisms:
        column = mechanism.move.column
        if column not in values:
            continue
        luck = np.random.default_rng([seed, MOVING, mechanism.stream]).random(len(group))
        for code, name in enumerate(names):
            rows = np.flatnonzero(group == code)[:CHECKED]
            if not len(rows):
                continue
            design, own = mechanism.design(values, rows), mechanism.groups(group[rows])
            spread = mechanism.steps.spread(values[column][rows], luck[rows])
            ranks = mechanism.found.rank(design, spread, own)
            distance, p_value = map(float, kstest(ranks, "uniform"))
            varying = [each for each in design.T if np.ptp(each)]
            related = [rank_correlation(ranks, each) for each in varying if len(rows) > 2]
            most = max(related, default=0.0)
            yield RankFit(column, name, len(rows), distance, p_value, most)
