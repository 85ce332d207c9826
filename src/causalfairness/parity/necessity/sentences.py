"""What do the verdicts say, in plain words? One sentence or two per path, and one about all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causalfairness.effects import Effect
from causalfairness.effects.table import decimals, format_p_value

if TYPE_CHECKING:
    from causalfairness.parity.necessity.report import NecessityReport, PathVerdict


def sentences_of(report: NecessityReport) -> Iterator[str]:
    """What is said about each path, and about all of them?"""
    unit = Unit.of([effect for row in report for effect in row.effects], points=report.in_points)
    for row in report:
        yield " ".join([_permission(row), _found(row, report, unit), _judged(row, report, unit)])
    yield _overall(report, unit)


@dataclass(frozen=True)
class Unit:
    """How are effects written? In percentage points where they are changes of shares.

    >>> Unit(True, 1).change(0.0784), Unit(False, 3).size(0.02)
    ('+7.8 points', '0.02')
    """

    points: bool
    places: int

    @classmethod
    def of(cls, effects: Sequence[Effect], *, points: bool) -> Unit:
        """How many decimals does it take to see the standard errors of these effects?"""
        scale = 100 if points else 1
        errors = (scale * effect.standard_error for effect in effects)
        return cls(points, decimals(errors, least=1 if points else 3))

    def change(self, value: float) -> str:
        """How is a change written, with its sign?"""
        return f"{self.bare(value)}{' points' if self.points else ''}"

    def bare(self, value: float) -> str:
        """The same without a word for its unit."""
        return f"{value * (100 if self.points else 1):+.{self.places}f}"

    def size(self, value: float) -> str:
        """How is the size of a margin written?"""
        if not self.points:
            return f"{abs(value):.6g}"
        return f"{100 * abs(value):.6g} point{'' if abs(value) == 0.01 else 's'}"


def _permission(row: PathVerdict) -> str:
    through = f" ({row.through})" if row.through else ""
    opening = f"The {row.name} path{through} is"
    if not row.allowed:
        return f"{opening} not allowed."
    declared = "; ".join(one.words for one in row.declarations)
    return f"{opening} allowed{f', declared necessary {declared}' if declared else ''}."


def _found(row: PathVerdict, report: NecessityReport, unit: Unit) -> str:
    if row.is_absent:
        return "Nothing runs this way, by the stated roles or in this data."
    text = f"The prediction's effect along it is {_measured(row.prediction, report.level, unit)}"
    if row.allowed:
        text += (
            f", the outcome's {_measured(row.outcome, report.level, unit)}: a difference of "
            f"{_measured(row.difference, report.level, unit)}"
        )
    return f"{text}{_direction(row.difference, report)}."


def _measured(effect: Effect, level: float, unit: Unit) -> str:
    low, high = effect.interval(level)
    if effect.standard_error == 0:
        return f"{unit.change(effect.value)} exactly"
    return f"{unit.change(effect.value)} ({unit.bare(low)} to {unit.bare(high)})"


def _direction(effect: Effect, report: NecessityReport) -> str:
    """Who has more, where the interval says so."""
    low, high = effect.interval(report.level)
    if low <= 0 <= high:
        return ""
    side = "higher" if low > 0 else "lower"
    return f", {side} for {report.comparison} than for {report.reference}"


def _judged(row: PathVerdict, report: NecessityReport, unit: Unit) -> str:
    goal = "the outcome's" if row.allowed else "zero"
    margin, verdict = unit.size(report.margin), row.verdict
    if row.violation_adjusted is None or row.equivalence_adjusted is None:
        more = "more" if verdict == "violated" else "no more"
        return f"As estimated, that is {more} than {margin} from {goal}: {verdict}."
    beyond, within = map(format_p_value, (row.violation_adjusted, row.equivalence_adjusted))
    if verdict == "violated":
        far = f"further from {goal} than {margin}" if report.margin else f"not {goal}"
        return f"It is {far}, beyond what chance explains (p {beyond}): violated."
    if verdict == "satisfied":
        return f"It is closer to {goal} than {margin} (p {within}): satisfied."
    if report.margin:
        return (
            f"The data leave open whether it is within {margin} of {goal} (p {beyond} for beyond, "
            f"{within} for within): undecided."
        )
    return (
        f"The data are consistent with {goal} (p {beyond}); with a margin of 0 that cannot be "
        "shown to hold: undecided."
    )


def _overall(report: NecessityReport, unit: Unit) -> str:
    margin = unit.size(report.margin)
    how = (
        f"at the {100 * report.level:.6g}% level with a margin of {margin}"
        if report.is_tested
        else f"by the estimates alone with a tolerance of {margin}"
    )
    opening = f"Overall, {how}, under the stated assumptions: {report.verdict}"
    if report.verdict == "violated":
        names = [row.name for row in report if row.verdict == "violated"]
        return f"{opening}, along {_listed(names)}."
    if report.verdict == "satisfied":
        return f"{opening}, along every path."
    open_ = [row.name for row in report if row.verdict == "undecided"]
    return f"{opening}; the data do not settle {_listed(open_)}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
