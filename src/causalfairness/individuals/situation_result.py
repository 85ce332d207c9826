"""What did situation testing find, for everyone and for each person?

The result knows its people, their groups and its rule; every number is worked out from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from causalfairness.effects.table import as_section
from causalfairness.errors import SituationError
from causalfairness.individuals.distances import Truths
from causalfairness.individuals.dossier import Dossier, dossier_of
from causalfairness.individuals.situation_chance import Chance, chance_of
from causalfairness.individuals.situation_evidence import Counts, Evidence, PublishedRule, Rule
from causalfairness.individuals.situation_groups import Neighborhood, PeerGroups
from causalfairness.individuals.situation_rows import Situations, value_of
from causalfairness.individuals.situation_selves import Selves
from causalfairness.individuals.situation_table import (
    SituationCounts,
    SituationSummary,
    SituationTable,
)
from causalfairness.inference.exact_difference import LARGEST
from causalfairness.tables.groups import typed

NO_WIDTH = (
    "{count:,} of {total:,} intervals have no width, because both shares are 0 or 1; so few people "
    "cannot make that sure: interval='newcombe' stays honest there"
)

DIFFERENCE = ("control_rate", "test_rate", "delta", "low", "high")
LARGE = f"p-values of groups of more than {LARGEST} people are those of a normal approximation"


@dataclass(frozen=True, eq=False, repr=False)
class SituationTest:
    """Are people like each one declined more often than those they are compared with?

    `summary()` counts people for each k, `table()` has one row for each of them, and
    `dossier(row)` lays out one. `flipped` says who is declined in fact and would not have been in
    the other world: counterfactual fairness, the case k = 0.

    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> found = cf.situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> len(found.table()), found.ks
    (422, (15,))
    """

    situations: Situations
    neighborhood: Neighborhood
    control: PeerGroups
    test: PeerGroups
    ks: tuple[int, ...]
    rule: Rule
    assumptions: tuple[str, ...]
    reported: tuple[str, ...] = ()
    selves: Selves | None = None
    include_centers: bool = False

    @property
    def name(self) -> str:
        """What is this kind of test called?"""
        if self.selves is None:
            return "situation testing"
        centers = "with" if self.include_centers else "without"
        return f"counterfactual situation testing, {centers} centers"

    @cached_property
    def counts(self) -> Counts:
        """How many people are in the groups, and how many of them were declined? Per k."""
        declined, ks = self.situations.negative, self.ks
        found = [
            self.control.count(declined, ks),
            self.control.sizes(ks),
            self.test.count(declined, ks),
            self.test.sizes(ks),
        ]
        if self.include_centers:
            assert self.selves is not None
            assert self.selves.negative is not None
            people = self.situations.complainants
            one = np.ones(len(people), dtype=bool)
            centers = (declined[people], one, self.selves.negative[people], one)
            found = [
                counted + center[:, None] for counted, center in zip(found, centers, strict=True)
            ]
        return Counts(*found)

    @cached_property
    def chance(self) -> Chance | None:
        """What groups exchanged among neighbors give. None in the replication setting."""
        if isinstance(self.rule, PublishedRule):
            return None
        return chance_of(self.neighborhood, self.situations.negative, self.ks, self.rule.tau)

    @cached_property
    def evidence(self) -> Evidence:
        """What do the counts say? Arrays of (people, ks)."""
        return self._weighed(self.counts, 1)

    @cached_property
    def positive(self) -> Evidence:
        """The mirror image: who fares better than those they are compared with?"""
        return self._weighed(self.counts.exchanged(), -1)

    @cached_property
    def flipped(self) -> Truths | None:
        """Who is declined in fact and not in the other world? None where that is not known."""
        if self.selves is None or self.selves.negative is None:
            return None
        people = self.situations.complainants
        return np.asarray(self.situations.negative[people] & ~self.selves.negative[people])

    @cached_property
    def findings(self) -> dict[str, Any]:
        """What was found, by the names of the table? Arrays of (people, ks)."""
        said, counts = self.evidence, self.counts
        return {
            "control_size": counts.control.astype(np.int64),
            "test_size": counts.test.astype(np.int64),
            **{name: getattr(said, name) for name in DIFFERENCE},
            "evidence": said.found,
            "significant": said.significant,
            **({} if self.chance is None else {"by_chance": self.chance.delta}),
            "p_value": said.p_value,
            "p_adjusted": said.p_adjusted,
            "discovery": said.discoveries,
            "positive": self.positive.found,
            "positive_significant": self.positive.significant,
            "positive_discovery": self.positive.discoveries,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known before these numbers are believed?"""
        known = self.counts.known
        flat = int(np.sum(known & (self.evidence.high - self.evidence.low <= 0)))
        said = NO_WIDTH.format(count=flat, total=int(known.sum()))
        large = max(self.counts.control.max(), self.counts.test.max()) > LARGEST
        return (*self.reported, *([said] if flat else []), *([LARGE] if large else []))

    def table(self, *, neighbors: bool = False) -> SituationTable:
        """What was found for each person and k? `neighbors` adds their groups' rows.

        `row` is the position of the person in the data, from 0, `delta` the share of negative
        decisions in the control group minus that in the test group.
        """
        people = self.situations.complainants
        columns: dict[str, Any] = {"row": np.tile(self.situations.brought(people), len(self.ks))}
        if self.situations.ids is not None:
            ids = [value_of(self.situations.ids, int(row)) for row in people]
            columns["id"] = [typed(value) for value in ids] * len(self.ks)
        columns["k"] = np.repeat(np.array(self.ks, dtype=np.int64), len(people))
        for name, values in self.findings.items():
            columns[name] = values.T.reshape(-1)  # everybody for the first k, then the next
        if self.flipped is not None:
            columns["flipped"] = np.tile(self.flipped, len(self.ks))
        return SituationTable(columns | (self._neighbors() if neighbors else {}))

    def summary(self) -> SituationSummary:
        """How many people were found, for each k?"""
        return SituationSummary(tuple(self._line(at) for at in range(len(self.ks))))

    def sentences(self) -> tuple[str, ...]:
        """What do the counts say, in plain words? For each k in turn."""
        return tuple(_sentences(self, self.summary()))

    def dossier(self, person: Any, *, k: int | None = None) -> Dossier:
        """What is the evidence about one person? By row position, or by id where there are.

        >>> import causalfairness as cf
        >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
        >>> found = cf.situation_test(
        ...     loans, protected="gender", comparison="Female", decision="approved",
        ...     favorable=1, features=["annual_salary", "account_balance"])
        >>> found.dossier(2).person
        'row 2'
        """
        return dossier_of(self, self.situations.find(person), self.at(k))

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.name}: {self.situations.complaining} compared with "
                f"{self.situations.compared}, intervals {self.rule.words}",
                str(self.summary()),
                *self.sentences(),
                *(f"assumes: {line}" for line in self.assumptions),
                *(f"note: {line}" for line in self.notes),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section("", self.summary()._repr_html_(), self.sentences())

    def at(self, k: int | None) -> int:
        """Which of `ks` is meant? The first, where none is named."""
        if k is None:
            return 0
        if k not in self.ks:
            known = ", ".join(map(str, self.ks))
            raise SituationError(f"k = {k!r} was not asked for; there are {known}")
        return self.ks.index(k)

    def _weighed(self, counts: Counts, sign: int) -> Evidence:
        if isinstance(self.rule, PublishedRule):
            return self.rule.weigh(counts)
        assert self.chance is not None
        return self.rule.weigh(counts, sign * self.chance.delta)

    def _line(self, at: int) -> SituationCounts:
        said, mirror, chance = self.evidence, self.positive, self.chance
        people = len(self.situations.complainants)
        marks = {
            "discoveries": said.discoveries,
            "positive_discoveries": mirror.discoveries,
            "evidence": said.found,
            "significant": said.significant,
            "positive": mirror.found,
            "positive_significant": mirror.significant,
            "no_verdict": ~self.counts.known,
            "tied": self.control.tied(self.ks) | self.test.tied(self.ks),
        }
        return SituationCounts(
            k=self.ks[at],
            complainants=people,
            share=int(said.found[:, at].sum()) / people,
            **{name: int(each[:, at].sum()) for name, each in marks.items()},
            evidence_by_chance=None if chance is None else float(chance.evidence[at]),
            positive_by_chance=None if chance is None else float(chance.positive[at]),
            flipped=None if self.flipped is None else int(self.flipped.sum()),
        )

    def _neighbors(self) -> dict[str, Any]:
        """Rows and distances of everyone's groups, nearest first."""
        found: dict[str, Any] = {}
        for name, groups in (("control", self.control), ("test", self.test)):
            pairs = [
                groups.members(place, k)
                for k in self.ks
                for place in range(len(self.situations.complainants))
            ]
            brought = self.situations.brought
            found[f"{name}_rows"] = [brought(rows).tolist() for rows, _ in pairs]
            found[f"{name}_distances"] = [distances.tolist() for _, distances in pairs]
        return found


def _sentences(test: SituationTest, found: SituationSummary) -> Iterator[str]:
    """Counts, never a verdict: first what stands when chance among so many is allowed for."""
    tau, level = f"{test.rule.tau:g}", f"{100 * test.rule.level:.6g}%"
    yield (
        f"Of {len(test.situations.complainants):,} people of the comparison group, "
        f"{_each(found, 'discoveries')} stand out when chance among so many is allowed for: people "
        f"like them are declined more often than those they are compared with, by more than {tau}, "
        "under these assumptions. In the mirror image "
        f"{_each(found, 'positive_discoveries')} stand out."
    )
    evidence = ", ".join(f"{line.evidence:,} ({line.share:.1%}) at k = {line.k}" for line in found)
    yield (
        f"Chance not allowed for, there is evidence of a difference above {tau}, under these "
        f"assumptions, for {evidence}{_by_chance(found, 'evidence_by_chance')}; intervals lie "
        f"above {tau}, one by one at the {level} level, for {_counts(found, 'significant')}."
    )
    yield (
        f"The mirror image, a difference below {0.0 - test.rule.tau:g}: "
        f"{_each(found, 'positive')}{_by_chance(found, 'positive_by_chance')}."
    )
    yield from _caveats(test, found)


def _caveats(test: SituationTest, found: SituationSummary) -> Iterator[str]:
    """About whom nothing can be said, and where a draw decides."""
    if any(line.no_verdict for line in found):
        yield (
            "Nothing can be said, because nobody near enough is in a group: "
            f"{_counts(found, 'no_verdict')}."
        )
    if any(line.tied for line in found):
        decides = "The order of rows" if test.neighborhood.lots is None else "A lot"
        yield (
            f"{decides} decides who of several equally near people is compared: "
            f"{_counts(found, 'tied')}."
        )


def _by_chance(found: SituationSummary, name: str) -> str:
    """What groups exchanged among neighbors give, where that is known."""
    if any(getattr(line, name) is None for line in found):
        return ""
    return f" (groups exchanged among neighbors give {_counts(found, name)})"


def _counts(found: SituationSummary, name: str) -> str:
    return ", ".join(f"{getattr(line, name):,.0f}" for line in found)


def _each(found: SituationSummary, name: str) -> str:
    return ", ".join(f"{getattr(line, name):,.0f} at k = {line.k}" for line in found)
