"""What is the evidence about one person, laid out so that it can be followed?

The person, the counterfactual where there is one, and the two groups side by side: what they
are like, what was decided about them, and which differences fit. It says what was found, never what
to conclude: "evidence of a difference above tau, under these assumptions".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from causalfairness.effects.table import as_text, format_p_value
from causalfairness.individuals.distances import Array, Positions
from causalfairness.individuals.situation_rows import spelled, value_of
from causalfairness.tables import Column
from causalfairness.tables.columns import Value

if TYPE_CHECKING:
    from causalfairness.individuals.situation_result import SituationTest

COMMON = 3  # labels that are listed for a group


@dataclass(frozen=True)
class Peer:
    """Who is one member of a group, how near are they, and were they declined?

    >>> Peer("row 7", 0.01, True, (31.0, "clerk")).declined
    True
    """

    name: str
    distance: float | None  # None for the person and their counterfactual
    declined: bool | None  # None where it is not known
    values: tuple[Value, ...]  # one per feature


@dataclass(frozen=True)
class Group:
    """Who is compared, and how many of them were declined?

    >>> group = Group("control", "2 people", (Peer("a", 0.1, True, ()), Peer("b", 0.2, False, ())))
    >>> len(group), group.declined
    (2, 1)
    """

    name: str
    about: str
    peers: tuple[Peer, ...]

    def __len__(self) -> int:
        return len(self.peers)

    @property
    def declined(self) -> int:
        """How many were declined?"""
        return sum(bool(peer.declined) for peer in self.peers)

    def values(self, at: int) -> tuple[Value, ...]:
        """What does everyone have in one feature?"""
        return tuple(peer.values[at] for peer in self.peers)


@dataclass(frozen=True)
class Finding:
    """What do the two groups say about one person? NaN where a group is empty."""

    control_rate: float
    test_rate: float
    delta: float
    low: float
    high: float
    evidence: bool
    significant: bool
    p_value: float
    p_adjusted: float
    discovery: bool
    by_chance: float | None  # what groups exchanged among neighbors give; None in replications
    positive_discovery: bool  # of the mirror image


@dataclass(frozen=True)
class Dossier:
    """What is the evidence about one person? Print it, or write `to_html()` into a file.

    `plain` is the group that plain situation testing would compare with: people of the other
    group who are most like the person as they are. None where that is the test group.

    >>> import causalfairness as cf
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> found = cf.situation_test(
    ...     loans, protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> dossier = found.dossier(2)
    >>> len(dossier.control), len(dossier.test), dossier.features
    (15, 15, ('annual_salary', 'account_balance'))
    >>> "Female" in str(dossier), dossier.to_html().startswith("<!DOCTYPE html>")
    (True, True)
    """

    person: str
    complaining: str
    method: str
    k: int
    means_declined: str  # such as "approved = 0"
    features: tuple[str, ...]
    fact: Peer
    otherwise: Peer | None
    control: Group
    test: Group
    plain: Group | None
    finding: Finding
    tests: int  # people who were tested at once
    tau: float
    level: float
    interval: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def centers(self) -> str:
        """Who do the groups stand around?"""
        other = "" if self.otherwise is None else ", in the test group the counterfactual"
        return f"the person{other}"

    def sentences(self) -> tuple[str, ...]:
        """What was found, in plain words?"""
        return tuple(_sentences(self))

    def rows(self) -> list[tuple[str, ...]]:
        """What do person, counterfactual and groups have? Lines of text, headings first."""
        other = [] if self.otherwise is None else [self.otherwise]
        heads = ["", self.person, *(peer.name for peer in other), "control group", "test group"]
        lines: list[tuple[str, ...]] = [tuple(heads)]
        for at, name in enumerate(self.features):
            own = [written(peer.values[at]) for peer in (self.fact, *other)]
            groups = [summed_up(group.values(at)) for group in (self.control, self.test)]
            lines.append((name, *own, *groups))
        own = [decided(peer.declined) for peer in (self.fact, *other)]
        counts = [counted(group) for group in (self.control, self.test)]
        return [*lines, ("decision", *own, *counts)]

    def to_html(self) -> str:
        """How does this look as a page that needs nothing else?"""
        from causalfairness.individuals.dossier_page import page

        return page(self)

    def __str__(self) -> str:
        lines = self.rows()
        words = (0, len(lines[0]) - 2, len(lines[0]) - 1)
        return "\n".join(
            [
                f"Dossier of {self.person}: {self.method}, k = {self.k}",
                f"Comparison group: {self.complaining}. Declined means {self.means_declined}.",
                "",
                as_text(lines, words=words),
                "Of numbers in a group: the median (smallest to largest).",
                "",
                *self.sentences(),
                "",
                *(f"assumes: {line}" for line in self.assumptions),
                *(f"note: {line}" for line in self.notes),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from causalfairness.individuals.dossier_page import body

        return body(self)


def dossier_of(test: SituationTest, place: int, at: int) -> Dossier:
    """What is the evidence about the person at this place, for this one of the ks?"""
    who, k = test.situations, test.ks[at]
    row = int(who.complainants[place])
    people = _People(test, [who.rows.read(name) for name in who.features])
    otherwise = people.other_self(row)
    control, tested = people.groups(place, k)
    found: dict[str, Any] = {"by_chance": None}
    found |= {name: values[place, at].item() for name, values in test.findings.items()}
    return Dossier(
        person=who.called(row),
        complaining=who.complaining,
        method=test.name,
        k=k,
        means_declined=who.declined,
        features=who.features,
        fact=people.peer(row, None),
        otherwise=otherwise,
        control=control,
        test=tested,
        plain=None if otherwise is None else people.plain(row, k),
        finding=Finding(**{field.name: found[field.name] for field in fields(Finding)}),
        tests=int(np.sum(test.counts.known[:, at])),
        tau=test.rule.tau,
        level=test.rule.level,
        interval=test.rule.words,
        assumptions=test.assumptions,
        notes=test.reported,
    )


@dataclass(frozen=True, eq=False)
class _People:
    """Rows of the data, as members of groups."""

    test: SituationTest
    columns: Sequence[Column]

    def peer(self, row: int, distance: float | None) -> Peer:
        who = self.test.situations
        values = tuple(value_of(column, row) for column in self.columns)
        return Peer(who.called(row), distance, bool(who.negative[row]), values)

    def members(self, rows: Positions, distances: Array) -> tuple[Peer, ...]:
        pairs = zip(rows.tolist(), distances.tolist(), strict=True)
        return tuple(self.peer(row, distance) for row, distance in pairs)

    def other_self(self, row: int) -> Peer | None:
        selves = self.test.selves
        if selves is None:
            return None
        columns = [selves.rows.read(name) for name in self.test.situations.features]
        declined = None if selves.negative is None else bool(selves.negative[row])
        return Peer("counterfactual", None, declined, tuple(value_of(c, row) for c in columns))

    def groups(self, place: int, k: int) -> tuple[Group, Group]:
        """The control group and the test group, with their centers where these count."""
        who = self.test.situations
        row = int(who.complainants[place])
        control = self.members(*self.test.control.members(place, k))
        tested = self.members(*self.test.test.members(place, k))
        otherwise = self.other_self(row)
        if self.test.include_centers and otherwise is not None:
            own = f"the person and {_about(control, who.complaining, 'them')}"
            other = f"the counterfactual and {_about(tested, who.compared, 'it')}"
            control, tested = (self.peer(row, None), *control), (otherwise, *tested)
        else:
            like = "them" if otherwise is None else "their counterfactual"
            own = _about(control, who.complaining, "them")
            other = _about(tested, who.compared, like)
        return Group("control group", own, control), Group("test group", other, tested)

    def plain(self, row: int, k: int) -> Group:
        """Whom would plain situation testing compare with?"""
        place = self.test.neighborhood
        near = place.test(place.points.take(np.array([row])), k)
        members = self.members(*near.members(0, k))
        about = _about(members, self.test.situations.compared, "them as they are")
        return Group("plain test group", about, members)


def written(value: Value) -> str:
    """How is a value of a feature written?

    >>> written(35000.0), written(0.12345), written(None), written("clerk")
    ('35,000', '0.1235', 'missing', 'clerk')
    """
    if not isinstance(value, float):
        return spelled(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def summed_up(values: Sequence[Value]) -> str:
    """What does a group have in a feature? Median and ends of numbers, the most common labels.

    >>> summed_up((1.0, 2.0, 9.0, None)), summed_up(("a", "a", "b"))
    ('2 (1 to 9), 1 missing', 'a 2, b 1')
    """
    numbers = [value for value in values if isinstance(value, float)]
    missing = sum(value is None for value in values)
    aside = f", {missing} missing" if missing else ""
    if numbers:
        ends = f"{written(min(numbers))} to {written(max(numbers))}"
        return f"{written(median(numbers))} ({ends}){aside}"
    words = Counter(value for value in values if isinstance(value, str)).most_common()
    listed = ", ".join(f"{word} {count}" for word, count in words[:COMMON])
    more = f", {sum(count for _, count in words[COMMON:])} others" if len(words) > COMMON else ""
    return (listed + more + aside).removeprefix(", ") or "nobody"


def decided(declined: bool | None) -> str:
    """How is a decision written?"""
    return "not known" if declined is None else ("declined" if declined else "not declined")


def counted(group: Group) -> str:
    """How many of a group were declined?"""
    if not len(group):
        return "nobody"
    return f"{group.declined} of {len(group)} declined ({group.declined / len(group):.0%})"


def _about(people: tuple[Peer, ...], group: str, like: str) -> str:
    return f"the {len(people)} {group} who are most like {like}"


def _sentences(found: Dossier) -> list[str]:
    control, test, said = found.control, found.test, found.finding
    if not len(control) or not len(test):
        empty = control if not len(control) else test
        return [f"Nothing can be said: nobody near enough is in the {empty.name}."]
    lines = [
        _standing(found),
        f"Of {control.about}, {control.declined} were declined ({said.control_rate:.0%}); "
        f"of {test.about}, {test.declined} ({said.test_rate:.0%}).",
        f"The difference is {said.delta:+.3f}. Differences from {said.low:+.3f} to "
        f"{said.high:+.3f} fit these counts (interval: {found.interval}).",
        _conclusion(found),
    ]
    if found.otherwise is not None and found.otherwise.declined is not None:
        fact, other = decided(found.fact.declined), decided(found.otherwise.declined)
        lines.append(f"This person was {fact}; the counterfactual is {other}.")
    if found.plain is not None and len(found.plain):
        lines.append(
            f"Of {found.plain.about}, {found.plain.declined} were declined: this is whom plain "
            "situation testing compares with."
        )
    return lines


def _standing(found: Dossier) -> str:
    """Whether the difference stands out among all who were tested: what is said first."""
    said = found.finding
    alone, adjusted = format_p_value(said.p_value), format_p_value(said.p_adjusted)
    opening = f"This is one of {found.tests:,} people who were tested at once: the difference"
    chances = f"p is {alone} alone, and {adjusted} adjusted for their number"
    if said.discovery:
        return f"{opening} stands out ({chances}), under these assumptions."
    if said.positive_discovery:
        return (
            f"{opening} stands out in the mirror image: people like them are declined less often."
        )
    return f"{opening} does not stand out from chance ({chances})."


def _conclusion(found: Dossier) -> str:
    said, tau, level = found.finding, f"{found.tau:g}", f"{100 * found.level:.6g}%"
    line = f"evidence of a difference above {tau}, under these assumptions"
    if not said.evidence:
        line = f"no {line}"
    elif not said.significant:
        line += f", but the interval includes {tau}: of so few people chance alone may give as much"
    else:
        line += f", and the interval excludes {tau} at the {level} level"
    if said.by_chance is None:
        return f"That is {line}."
    return f"That is {line}. Groups exchanged among neighbors give {said.by_chance:+.3f} here."
