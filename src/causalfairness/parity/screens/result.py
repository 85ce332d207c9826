"""What does a statistical screen show? Rates, ratios and counts: where to look, and no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from causalfairness.effects.table import as_section
from causalfairness.parity.metrics.table import MetricTable
from causalfairness.parity.metrics.words import between
from causalfairness.parity.screens.rule import Rule
from causalfairness.tables import RowAccount

NO_THRESHOLD = "{} sets no threshold for the impact ratio: ratios are stated, none is flagged."
SCREEN = (
    "This is a screen, not a verdict: it says where groups differ, not why, and neither passes nor "
    "fails anything."
)


@dataclass(frozen=True)
class CategoryRate:
    """How many of one category are selected, and which share of the highest rate is that?

    `ratio` is None where the category is excluded or nobody at all is selected; `flagged` and
    `interval_lies` (below, contains or above the threshold) where the rule has no threshold.

    >>> CategoryRate("F", 10, 0.5, 3, 0.3, 0.11, 0.6).excluded
    False
    """

    group: str
    people: int
    share: float  # of the people whose category is known
    selected: int
    rate: float
    rate_low: float
    rate_high: float
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    excluded: bool = False
    flagged: bool | None = None
    interval_lies: str | None = None
    remark: str = ""


@dataclass(frozen=True)
class Division:
    """How do the categories compare that people are divided into, by one attribute or several?

    `people` counts those whose category is known, `unknown` the others. `highest` are the
    categories with the highest rate: none where nobody is selected, several where they are equal.

    >>> Division(("sex", "race"), people=0, unknown=3, highest=(), categories=()).attribute
    'sex, race'
    """

    by: tuple[str, ...]
    people: int
    unknown: int
    highest: tuple[str, ...]
    categories: tuple[CategoryRate, ...]

    @property
    def attribute(self) -> str:
        """By what are people divided, in words?"""
        return ", ".join(self.by)

    def __getitem__(self, group: str) -> CategoryRate:
        return {each.group: each for each in self.categories}[group]


@dataclass(frozen=True, eq=False)
class Screening:
    """What does a statistical screen show, and what does its rule say of that?

    `divisions` hold the numbers, one for each attribute alone or several together, as the rule
    asks. `median` is the pooled one that scores were held against.

    >>> import pyarrow as pa
    >>> from causalfairness.parity import screens
    >>> data = pa.table({"sex": ["F", "F", "M", "M"], "hired": [1, 0, 1, 1]})
    >>> screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired").flagged
    (('sex', 'F'),)
    """

    rule: Rule
    measure: str
    column: str
    level: float
    median: float | None
    divisions: tuple[Division, ...]
    account: RowAccount
    justification: str
    notes: tuple[str, ...]

    @property
    def flagged(self) -> tuple[tuple[str, str], ...]:
        """Which categories lie below the threshold of the rule? Pairs of attribute and category."""
        return tuple((row["by"], row["group"]) for row in self.table() if row.get("flagged"))

    def table(self) -> MetricTable:
        """What is the rate and the impact ratio of every category? Excluded ones have no ratio.

        The columns `flagged` and `reading` are there where the rule has a threshold.
        """
        limit, rows = self.rule.threshold, []
        for part in self.divisions:
            for each in part.categories:
                row = {"by": part.attribute, **asdict(each)}
                flagged, lies, remark = map(row.pop, ("flagged", "interval_lies", "remark"))
                del row["excluded"]  # the remark says so
                if limit is not None:
                    reading = lies and f"interval {lies} {limit.value:g}"
                    row |= {"flagged": flagged, "reading": reading}
                rows.append({**row, "remark": remark})
        return MetricTable(tuple(rows))

    def sentences(self) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        said = [sentence for part in self.divisions for sentence in _sentences(part, self)]
        none = [] if self.rule.threshold else [NO_THRESHOLD.format(self.rule.name)]
        return *said, *none, SCREEN

    def to_dict(self) -> dict[str, Any]:
        """What was found, as plain data that JSON can hold?"""
        found = {**vars(self), "rule": self.rule.to_dict(), "sentences": self.sentences()}
        account = found.pop("account")
        rows = {"rows_read": account.read, "rows_used": account.used}
        return {**found, **rows, "divisions": [asdict(part) for part in self.divisions]}

    def __str__(self) -> str:
        return "\n".join([self._title, f"{self.table()}\n", *self._lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section(self._title, self.table()._repr_html_(), self._lines())

    @property
    def _title(self) -> str:
        above = "" if self.median is None else f", above the pooled median of {self.median:g}"
        return (
            f"{self.rule}: {self.measure} of {self.column}{above}, {self.account.used:,} people, "
            f"{100 * self.level:.6g}% intervals"
        )

    def _lines(self) -> Iterator[str]:
        """The sentences, and what else a reader must know."""
        rule, source = self.rule, self.rule.source
        yield from self.sentences()
        yield f"source: {source.title}, {source.citation}, {source.date}"
        limits = [limit.says for limit in (rule.exclusion, rule.threshold) if limit]
        yield from (f"rule: {says}" for says in (*limits, *rule.notes))
        yield f"rows: {self.account}"
        yield from (f"note: {note}" for note in self.notes)


def _sentences(part: Division, found: Screening) -> Iterator[str]:
    """What the numbers of one division say."""
    by, exclusion, threshold = part.attribute, found.rule.exclusion, found.rule.threshold
    rates = {c.group: between(c.rate, c.rate_low, c.rate_high) for c in part.categories}
    highest = "; ".join(f"{name}, {rates[name]}" for name in part.highest)
    if highest:
        yield f"By {by}: the highest {found.measure} is that of {highest}."
    else:
        yield f"By {by}: no {found.measure} above 0 is left to compare."
    compared = [each for each in part.categories if each.ratio_low is not None]
    if compared:
        ratios = [f"{c.group} {between(c.ratio, c.ratio_low, c.ratio_high)}" for c in compared]
        yield f"Impact ratios by {by} ({100 * found.level:.6g}% intervals): {'; '.join(ratios)}."
    if compared and threshold:
        below = "; ".join(each.group for each in compared if each.flagged)
        unsure = "; ".join(each.group for each in compared if each.interval_lies == "contains")
        yield (
            f"{found.rule.name} by {by}: {sum(bool(each.flagged) for each in compared)} of "
            f"{len(compared) + 1} categories below {threshold.value:g} of the highest rate"
            f"{f' ({below})' if below else ''}"
            f"{f'; intervals contain {threshold.value:g} for {unsure}' if unsure else ''}."
        )
    small = [
        f"{each.group} ({_people(each.people)}, {100 * each.share:.2g}%, rate {rates[each.group]})"
        for each in part.categories
        if each.excluded
    ]
    if small and exclusion:
        why = f"Justification: {found.justification}"
        yield (
            f"Excluded from the ratios by {by}, each under {100 * exclusion.value:g}% of "
            f"{part.people:,} people: {'; '.join(small)}. "
            f"{why if found.justification else 'No justification was given.'}"
        )
    yield f"Not included by {by} because the category is not known: {_people(part.unknown)}."


def _people(count: int) -> str:
    return f"{count:,} {'person' if count == 1 else 'people'}"
