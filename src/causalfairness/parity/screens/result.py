"""What does a statistical screen show? Rates, ratios and counts, and what the rule says of them.

A screen says where to look, and is no verdict: nothing here passes or fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from causalfairness.effects.table import as_section
from causalfairness.inference import Interval
from causalfairness.parity.metrics.table import MetricTable, Record, written
from causalfairness.parity.metrics.words import between
from causalfairness.parity.screens.rule import Rule
from causalfairness.tables import RowAccount

COUNTS = ("by", "group", "people", "share", "selected", "rate")
NUMBERS = (*COUNTS, "rate_low", "rate_high", "ratio", "ratio_low", "ratio_high")
NO_THRESHOLD = "{rule} sets no threshold for the impact ratio: ratios are stated, none is flagged."
SCREEN = (
    "This is a screen, not a verdict: it says where groups differ, not why, and neither passes nor "
    "fails anything."
)


@dataclass(frozen=True)
class CategoryRate:
    """How many of one category are selected, and which share of the highest rate is that?

    `ratio` is None where the category is excluded or nobody at all is selected; `flagged` and
    `interval_lies` (below, contains or above the threshold) where the rule has no threshold.

    >>> CategoryRate("F", 10, 0.5, 3, 0.3, Interval(0.11, 0.6), ratio=0.6).to_dict()["rate_high"]
    0.6
    """

    category: str
    people: int
    share: float  # of the people whose category is known
    selected: int
    rate: float
    rate_interval: Interval
    excluded: bool = False
    ratio: float | None = None
    ratio_interval: Interval | None = None
    flagged: bool | None = None
    interval_lies: str | None = None
    remark: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What is said of the category, as plain data? Intervals by their ends."""
        found: dict[str, Any] = {"group": self.category, **vars(self)}
        del found["category"]
        for name in ("rate", "ratio"):
            ends = found.pop(f"{name}_interval")
            found[f"{name}_low"], found[f"{name}_high"] = ends or (None, None)
        return found


@dataclass(frozen=True)
class Division:
    """How do the categories compare that people are divided into, by one attribute or several?

    `highest` are the categories with the highest rate: none where nobody is selected, several
    where they are equal. `unknown` counts people who are in no category.

    >>> Division(("sex", "race"), (), (), unknown=3).attribute
    'sex, race'
    """

    by: tuple[str, ...]
    rates: tuple[CategoryRate, ...]
    highest: tuple[str, ...]
    unknown: int = 0

    @property
    def attribute(self) -> str:
        """By what are people divided, in words?"""
        return ", ".join(self.by)

    @property
    def people(self) -> int:
        """How many people have a known category?"""
        return sum(each.people for each in self.rates)

    @property
    def excluded(self) -> tuple[CategoryRate, ...]:
        """Which categories are left out of the ratios?"""
        return tuple(each for each in self.rates if each.excluded)

    def __getitem__(self, category: str) -> CategoryRate:
        return {each.category: each for each in self.rates}[category]

    def to_dict(self) -> dict[str, Any]:
        """What is said of the division, as plain data?"""
        return {
            "by": list(self.by),
            "people": self.people,
            "unknown": self.unknown,
            "highest": list(self.highest),
            "categories": [each.to_dict() for each in self.rates],
        }


@dataclass(frozen=True, eq=False)
class Screening:
    """What does a statistical screen show, and what does its rule say of that?

    `divisions` hold the numbers, one for each attribute alone or several together, as the rule
    asks. `median` is the pooled one that scores were held against. `flagged` are the categories
    below the threshold of the rule, `unknown` counts people whose category is not known.

    >>> import causalfairness as cf
    >>> from causalfairness.parity import screens
    >>> found = screens.screen(
    ...     cf.datasets.load_adult(), "four_fifths", columns={"sex": "sex", "race": "race"},
    ...     selected="income", favorable=">50K")
    >>> found.flagged
    (('sex', 'Female'), ('race', 'Amer-Indian-Eskimo'), ('race', 'Black'), ('race', 'Other'))
    """

    rule: Rule
    measure: str
    column: str
    level: float
    divisions: tuple[Division, ...]
    account: RowAccount
    median: float | None = None
    justification: str = ""
    notes: tuple[str, ...] = ()

    @property
    def flagged(self) -> tuple[tuple[str, str], ...]:
        """Which categories lie below the threshold of the rule? Pairs of attribute and category."""
        return tuple((row["by"], row["group"]) for row in self._rows() if row["flagged"])

    @property
    def unknown(self) -> dict[str, int]:
        """How many people were not included because their category is not known?"""
        return {part.attribute: part.unknown for part in self.divisions}

    def table(self) -> MetricTable:
        """What is the rate and the impact ratio of every category? Excluded ones have no ratio.

        The columns `flagged` and `reading` are there where the rule has a threshold.
        """
        judged = () if self.rule.threshold is None else ("flagged", "reading")
        columns = (*NUMBERS, *judged, "remark")
        return MetricTable(tuple({name: row[name] for name in columns} for row in self._rows()))

    def excluded(self) -> MetricTable:
        """Which categories were left out of the ratios, and how large are they?"""
        rows = (row for row in self._rows() if row["excluded"])
        return MetricTable(tuple({name: row[name] for name in COUNTS} for row in rows))

    def sentences(self) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        said = [sentence for part in self.divisions for sentence in _sentences(part, self)]
        none = [] if self.rule.threshold else [NO_THRESHOLD.format(rule=self.rule.name)]
        return *said, *none, SCREEN

    def to_dict(self) -> dict[str, Any]:
        """What was found, as plain data that JSON can hold?"""
        return {
            "rule": self.rule.to_dict(),
            "measure": self.measure,
            "column": self.column,
            "level": self.level,
            "median": self.median,
            "rows_read": self.account.read,
            "rows_used": self.account.used,
            "divisions": [part.to_dict() for part in self.divisions],
            "justification": self.justification,
            "sentences": list(self.sentences()),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [self._title, str(self.table()), "", *self.sentences(), *self._remarks()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table, remarks = self.table()._repr_html_(), "\n".join(self._remarks())
        return as_section(self._title, table, self.sentences(), remarks)

    @property
    def _title(self) -> str:
        above = "" if self.median is None else f", above the pooled median of {self.median:g}"
        return (
            f"{self.rule}: {self.measure} of {self.column}{above}, {self.account.used:,} people, "
            f"{100 * self.level:.6g}% intervals"
        )

    def _remarks(self) -> list[str]:
        rule = self.rule
        limits = [limit.says for limit in (rule.exclusion, rule.threshold) if limit]
        return [
            f"source: {rule.source.title}, {rule.source.citation}, {rule.source.date}",
            *(f"rule: {says}" for says in (*limits, *rule.notes)),
            f"rows: {self.account}",
            *(f"note: {note}" for note in self.notes),
        ]

    def _rows(self) -> Iterator[Record]:
        limit = self.rule.threshold
        for part in self.divisions:
            for each in part.rates:
                lies = limit and each.interval_lies and f"{each.interval_lies} {limit.value:g}"
                reading = f"interval {lies}" if lies else None
                yield {"by": part.attribute, "reading": reading, **each.to_dict()}


def _sentences(part: Division, found: Screening) -> Iterator[str]:
    """What the numbers of one division say."""
    rule, by = found.rule, part.attribute
    yield f"By {by}: {_highest(part, found.measure)}"
    compared = [each for each in part.rates if each.ratio_interval is not None]
    if compared:
        ratios = [f"{each.category} {_with(each.ratio, each.ratio_interval)}" for each in compared]
        yield f"Impact ratios by {by} ({100 * found.level:.6g}% intervals): {'; '.join(ratios)}."
    if compared and rule.threshold is not None:
        yield _flags(part, rule.name, rule.threshold.value)
    if part.excluded and rule.exclusion is not None:
        left_out = [
            f"{each.category} ({_people(each.people)}, {100 * each.share:.2g}%, rate "
            f"{_with(each.rate, each.rate_interval)})"
            for each in part.excluded
        ]
        why = f"Justification: {found.justification}"
        yield (
            f"Excluded from the ratios by {by}, each under {100 * rule.exclusion.value:g}% of "
            f"{part.people:,} people: {'; '.join(left_out)}. "
            f"{why if found.justification else 'No justification was given.'}"
        )
    yield f"Not included by {by} because the category is not known: {_people(part.unknown)}."


def _highest(part: Division, measure: str) -> str:
    kept = [each for each in part.rates if not each.excluded]
    if not kept:
        return "no category is left to compare."
    if not part.highest:
        return f"no {measure} is above 0, so that there are no ratios."
    first = part[part.highest[0]]
    rate = _with(first.rate, first.rate_interval)
    if len(kept) == 1:
        alone = "there is no other category to compare with"
        return f"{measure} {rate} for {first.category}; {alone}."
    if len(part.highest) > 1:
        names = "; ".join(part.highest)
        return f"the highest {measure}, {written(first.rate)}, is shared by {names}."
    return f"the highest {measure} is that of {first.category}, {rate}."


def _flags(part: Division, rule: str, threshold: float) -> str:
    judged = [each for each in part.rates if each.flagged is not None]
    below = [each.category for each in judged if each.flagged]
    unsure = [each.category for each in judged if each.interval_lies == "contains"]
    text = (
        f"{rule} by {part.attribute}: {len(below)} of {len(judged)} categories below {threshold:g} "
        "of the highest rate"
    )
    if below:
        text += f" ({'; '.join(below)})"
    if unsure:
        text += f"; intervals contain {threshold:g} for {'; '.join(unsure)}"
    return f"{text}."


def _people(count: int) -> str:
    return f"{count:,} {'person' if count == 1 else 'people'}"


def _with(value: float | None, interval: Interval | None) -> str:
    return between(value, *(interval or (None, None)))
