"""How does a summary look as one HTML file that needs nothing else?

The file holds its own style, no script and no address of anything outside, and says so to the
browser, which then refuses to load or run anything. Whatever comes from the data is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from causalfairness.report.environment import environment
from causalfairness.report.legible import LONGEST, legible
from causalfairness.report.numbers import decimals_for
from causalfairness.report.page.drawings import draw
from causalfairness.report.summary import Fact, Row, Sentence, Summary


def render_html(summary: Summary) -> str:
    """How does this look in a browser, on paper and on a phone?"""
    page = environment().get_template("page.html")
    return page.render(
        summary=summary,
        drawings=[draw(finding.waterfall) for finding in summary.findings],
        tables=by_group(summary.table),
        track=Track.around(summary.table),
        decimals=decimals_for(summary.table),
        long_names=[name for name in _names(summary) if len(legible(name)) > LONGEST],
    )


@dataclass(frozen=True)
class Track:
    """Where in a narrow cell does an interval lie, in percent of its width?

    >>> Track(-1.0, 1.0).place(0.0)
    50.0
    """

    low: float
    high: float

    @classmethod
    def around(cls, rows: Sequence[Row], margin: float | None = None) -> Track:
        """Which scale holds all these intervals that have ends, zero, and the margin around it?"""
        ends = [end for row in rows for end in (row.low, row.high) if math.isfinite(end)]
        ends += [-margin, margin] if margin else []
        low, high = min([0.0, *ends]), max([0.0, *ends])
        free = 0.04 * (high - low) or 1.0
        return cls(low - free, high + free)

    def place(self, value: float) -> float:
        """Where does this number stand?"""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


def by_group(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Which rows are about which group?"""
    return [(group, list(found)) for group, found in groupby(rows, key=lambda row: row.group)]


def _names(summary: Summary) -> list[str]:
    """Every name that somebody else chose, once, in order of appearance."""
    facts: list[Fact] = [*summary.roles, *summary.not_compared]
    said: list[Sentence] = [summary.title, *summary.sentences, *summary.assumptions]
    names: list[str] = []
    for finding in summary.findings:
        names += [finding.what, finding.reference, finding.comparison]
        said += finding.sentences
        facts += finding.diagnostics
    names += [fact.name for fact in summary.not_compared]
    said += [fact.text for fact in facts]
    names += [piece.text for one in said for piece in one.pieces() if piece.is_name]
    return list(dict.fromkeys([*names, summary.provenance.source]))
