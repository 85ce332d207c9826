"""What does a statistical screen show? Rates, ratios and counts, and what the rule says of them.

A screen says where to look, and is no verdict: nothing here passes or fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from causalfairness.effects.table import as_section
from causalfairness.parity.metrics.table import MetricTable, Record
from causalfairness.parity.screens.ratios import CategoryRate, Division
from causalfairness.parity.screens.rule import Rule
from causalfairness.parity.screens.words import sentences_about
from causalfairness.tables import RowAccount

SCREEN = (
    "This is a screen, not a verdict: it says where groups differ, not why, and neither passes nor "
    "fails anything."
)
NO_THRESHOLD = "{rule} sets no threshold for the impact ratio: ratios are stated, none is flagged."


@dataclass(frozen=True, eq=False)
class Screening:
    """What does a statistical screen show, and what does its rule say of that?

    `divisions` hold the numbers, one for each attribute alone or several together, as the rule
    asks. `median` is the pooled one that scores were held against.

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
        """Which categories lie below the threshold of the rule? Pairs of attribute and category.

        None where the rule has no threshold; see `rule.threshold`.

        >>> import pyarrow as pa
        >>> from causalfairness.parity import screens
        >>> data = pa.table({"sex": ["F", "M", None], "hired": [0, 1, 1]})
        >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
        >>> found.flagged
        (('sex', 'F'),)
        """
        return tuple(
            (part.attribute, each.category)
            for part in self.divisions
            for each in part.rates
            if each.flagged
        )

    @property
    def unknown(self) -> dict[str, int]:
        """How many people were not included because their category is not known?

        >>> import pyarrow as pa
        >>> from causalfairness.parity import screens
        >>> data = pa.table({"sex": ["F", "M", None], "hired": [0, 1, 1]})
        >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
        >>> found.unknown
        {'sex': 1}
        """
        return {part.attribute: part.unknown for part in self.divisions}

    def table(self) -> MetricTable:
        """What is the rate and the impact ratio of every category? Excluded ones have no ratio.

        The columns `flagged` and `reading` are there where the rule has a threshold.

        >>> import pyarrow as pa
        >>> from causalfairness.parity import screens
        >>> data = pa.table({"sex": ["F", "M", None], "hired": [0, 1, 1]})
        >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
        >>> [(row["group"], row["rate"], row["ratio"]) for row in found.table()]
        [('F', 0.0, 0.0), ('M', 1.0, 1.0)]
        """
        return MetricTable(tuple(self._records()))

    def excluded(self) -> MetricTable:
        """Which categories were left out of the ratios, and how large are they?

        >>> import pyarrow as pa
        >>> from causalfairness.parity import screens
        >>> data = pa.table({"sex": ["F", "M", None], "hired": [0, 1, 1]})
        >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
        >>> len(found.excluded())
        0
        """
        return MetricTable(
            tuple(
                {
                    "by": part.attribute,
                    "group": each.category,
                    "people": each.people,
                    "share": each.share,
                    "selected": each.selected,
                    "rate": each.rate,
                }
                for part in self.divisions
                for each in part.excluded
            )
        )

    def sentences(self) -> tuple[str, ...]:
        """What do the numbers say, in plain words?

        >>> import pyarrow as pa
        >>> from causalfairness.parity import screens
        >>> data = pa.table({"sex": ["F", "M", None], "hired": [0, 1, 1]})
        >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
        >>> print(found.sentences()[2])
        Four-fifths screen by sex: 1 of 2 categories below 0.8 of the highest rate (F); intervals
        contain 0.8 for F.
        """
        said = [
            sentence
            for part in self.divisions
            for sentence in sentences_about(
                part, self.rule, self.measure, self.level, self.justification
            )
        ]
        if self.rule.threshold is None:
            return *said, NO_THRESHOLD.format(rule=self.rule.name), SCREEN
        return *said, SCREEN

    def to_dict(self) -> dict[str, Any]:
        """What was found, as plain data that JSON can hold?

        >>> import json
        >>> import pyarrow as pa
        >>> from causalfairness.parity import screens
        >>> data = pa.table({"sex": ["F", "M"], "hired": [1, 0]})
        >>> found = screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired")
        >>> json.loads(json.dumps(found.to_dict()))["divisions"][0]["highest"]
        ['F']
        """
        return {
            "rule": self.rule.to_dict(),
            "measure": self.measure,
            "column": self.column,
            "level": self.level,
            "median": self.median,
            "rows_read": self.account.read,
            "rows_used": self.account.used,
            "divisions": [_division(part) for part in self.divisions],
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
        source = self.rule.source
        return [
            f"source: {source.title}, {source.citation}, {source.date}",
            *(
                f"rule: {limit.says}"
                for limit in (self.rule.exclusion, self.rule.threshold)
                if limit
            ),
            *(f"rule: {note}" for note in self.rule.notes),
            f"rows: {self.account}",
            *(f"note: {note}" for note in self.notes),
        ]

    def _records(self) -> Iterator[Record]:
        for part in self.divisions:
            for each in part.rates:
                yield _record(part.attribute, each, self.rule)


def _record(by: str, each: CategoryRate, rule: Rule) -> Record:
    judged: Record = {}
    if rule.threshold is not None:
        reading = f"interval {each.interval_lies} {rule.threshold.value:g}"
        judged = {"flagged": each.flagged, "reading": reading if each.interval_lies else None}
    return {"by": by, **_numbers(each), **judged, "remark": each.remark}


def _numbers(each: CategoryRate) -> Record:
    low, high = each.ratio_interval or (None, None)
    return {
        "group": each.category,
        "people": each.people,
        "share": each.share,
        "selected": each.selected,
        "rate": each.rate,
        "rate_low": each.rate_interval.low,
        "rate_high": each.rate_interval.high,
        "ratio": each.ratio,
        "ratio_low": low,
        "ratio_high": high,
    }


def _division(part: Division) -> dict[str, Any]:
    return {
        "by": list(part.by),
        "people": part.people,
        "unknown": part.unknown,
        "highest": list(part.highest),
        "categories": [
            {
                **_numbers(each),
                "excluded": each.excluded,
                "flagged": each.flagged,
                "interval_lies": each.interval_lies,
                "remark": each.remark,
            }
            for each in part.rates
        ],
    }
