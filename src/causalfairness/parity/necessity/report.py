"""What was found: are the paths used as they may be? The verdicts, with all that they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from causalfairness.effects import Diagnostics, Effect, EffectTable
from causalfairness.effects.effect import worst
from causalfairness.effects.table import as_section, decimals, format_p_value
from causalfairness.parity.necessity.ledger import Declaration, Ledger
from causalfairness.parity.necessity.paths import Findings
from causalfairness.parity.necessity.rules import Evidence, Rule, Verdict, unjudged
from causalfairness.parity.necessity.table import REPORTED, NecessityTable

NO_VERDICT = "No margin was set: effects are reported, and nothing is judged."


@dataclass(frozen=True, eq=False)
class PathVerdict:
    """Is one path used as it may be, and what shows it?

    `difference` is what must vanish: the prediction's effect where the path is not allowed, its
    distance from the outcome's where it is.

    >>> import causalfairness as cf
    >>> compas = cf.datasets.load_compas()
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female", confounders=["age_cat"],
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> report = cf.check_business_necessity(compas, model, allowed={"spurious"})
    >>> direct = report["direct"]
    >>> direct.allowed, direct.difference.value == direct.prediction.value
    (False, True)
    """

    name: str
    through: str
    allowed: bool
    outcome: Effect
    prediction: Effect
    difference: Effect
    evidence: Evidence
    declarations: tuple[Declaration, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """Is the path violated, satisfied or undecided? None where no margin was set."""
        return self.evidence.verdict

    @property
    def violation_adjusted(self) -> float | None:
        """How likely is such a value within the margin, adjusted for the number of paths?"""
        return self.evidence.violation_adjusted

    @property
    def equivalence_adjusted(self) -> float | None:
        """How likely is such a value beyond the margin, adjusted for the number of paths?"""
        return self.evidence.equivalence_adjusted

    @property
    def effects(self) -> tuple[Effect, Effect, Effect]:
        """What are the effects on outcome and prediction, and what must vanish?"""
        return self.outcome, self.prediction, self.difference

    @property
    def is_absent(self) -> bool:
        """Does nothing run this way, neither to the outcome nor to the prediction?"""
        return all(
            effect.value == 0 and effect.standard_error == 0
            for effect in (self.outcome, self.prediction)
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """What is said about the path, as plain data?"""
        low, high = self.difference.interval(level)
        return {
            "path": self.name,
            "through": self.through,
            "allowed": self.allowed,
            "outcome": self.outcome.value,
            "outcome_standard_error": self.outcome.standard_error,
            "outcome_correction": self.outcome.correction,
            "prediction": self.prediction.value,
            "prediction_standard_error": self.prediction.standard_error,
            "prediction_correction": self.prediction.correction,
            "difference": self.difference.value,
            "standard_error": self.difference.standard_error,
            "correction": self.difference.correction,
            "low": low,
            "high": high,
            "p_value": self.difference.p_value,
            **self.evidence._asdict(),
        }


@dataclass(frozen=True, eq=False)
class NecessityReport:
    """Does a predictor use only the paths it may, and those as the world does?

    `verdict` is violated, satisfied or undecided, or None where no margin was set or the models
    behind the effects have not `settled`; iterating
    gives one `PathVerdict` per path, and so does `report["direct"]`. `ledger` says who declared
    which path necessary.

    >>> import causalfairness as cf
    >>> compas = cf.datasets.load_compas()
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female", confounders=["age_cat"],
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> report = cf.check_business_necessity(compas, model, allowed={"spurious"}, margin=0.01)
    >>> report.verdict, [path.verdict for path in report]
    ('violated', ['violated', 'satisfied', 'satisfied'])
    """

    what: str  # the prediction, against the outcome
    reference: str
    comparison: str
    paths: tuple[PathVerdict, ...]
    verdict: Verdict | None
    rule: Rule
    ledger: Ledger
    findings: Findings

    def __iter__(self) -> Iterator[PathVerdict]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, name: str) -> PathVerdict:
        for path in self.paths:
            if path.name == name:
                return path
        names = ", ".join(path.name for path in self.paths)
        raise KeyError(f"no path is named {name!r}; there are {names}")

    @property
    def margin(self) -> float | None:
        """How far from what is required may an effect be? None where nobody said."""
        return self.rule.margin

    @property
    def level(self) -> float:
        """At which level are tests made and intervals drawn?"""
        return self.rule.level

    @property
    def is_tested(self) -> bool:
        """Do the verdicts allow for chance? Not in the published algorithm."""
        return self.rule.is_tested

    @property
    def in_points(self) -> bool:
        """Are outcome and prediction shares, to be read in percentage points?"""
        return self.findings.in_points

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """How much should the effects be trusted, on the outcome and on the prediction?"""
        return self.findings.diagnostics

    @property
    def settled(self) -> bool | None:
        """Have the models caught how confounders act? None where that could not be checked."""
        return worst(each.settled for each in self.diagnostics)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What do the effects rest on?"""
        return self.findings.assumptions

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known before this is believed?"""
        return self.findings.notes

    def table(self) -> NecessityTable:
        """What was found on each path? One row each.

        >>> import causalfairness as cf
        >>> model = cf.StandardFairnessModel(
        ...     protected="sex", reference="Male", comparison="Female",
        ...     outcome="two_year_recid", prediction="is_recid")
        >>> compas = cf.datasets.load_compas()
        >>> len(cf.check_business_necessity(compas, model, allowed={"spurious"}).table())
        3
        """
        return NecessityTable(tuple(path.to_dict(self.level) for path in self.paths))

    def effects(self) -> EffectTable:
        """What are the effects on outcome and prediction, path by path? For a forest plot."""
        rows = [
            path.effects[pick].named(f"{what}: {path.name}")
            for what, pick in (("outcome", 0), ("prediction", 1))
            for path in self.paths
        ]
        return EffectTable(tuple(rows), level=self.level)

    def sentences(self) -> tuple[str, ...]:
        """What do the verdicts say, in plain words? One for each path, the last about all."""
        return tuple(_sentences(self))

    def to_dict(self) -> Mapping[str, Any]:
        """What was asked, declared and found, as plain data? It can be written as JSON.

        >>> import json
        >>> import causalfairness as cf
        >>> model = cf.StandardFairnessModel(
        ...     protected="sex", reference="Male", comparison="Female",
        ...     outcome="two_year_recid", prediction="is_recid")
        >>> compas = cf.datasets.load_compas()
        >>> report = cf.check_business_necessity(compas, model, allowed={"spurious"})
        >>> json.loads(json.dumps(report.to_dict()))["allowed"]
        ['spurious']
        """
        return {
            "what": self.what,
            "reference": self.reference,
            "comparison": self.comparison,
            "allowed": list(self.ledger.allowed),
            "declarations": [one.to_dict() for one in self.ledger.declarations],
            "margin": None if self.margin is None else float(self.margin),
            "level": float(self.level),
            "tested": self.is_tested,
            "settled": self.settled,
            "verdict": self.verdict,
            "paths": [path.to_dict(self.level) for path in self.paths],
            "sentences": list(self.sentences()),
            "estimators": [str(each.estimator) for each in self.diagnostics],
            "rows": [str(each.rows) for each in self.diagnostics],
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join([self._title, str(self.table()), *self._lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_section(self._title, self.table()._repr_html_(), self._lines())

    @property
    def _title(self) -> str:
        said = self.verdict or REPORTED
        return f"{self.what}: {self.comparison} against {self.reference}: {said}"

    def _lines(self) -> Iterator[str]:
        yield from self.sentences()
        yield from (f"ledger: {line}" for line in self.ledger.lines())
        told = dict.fromkeys(f"{each.estimator}; {each.rows}" for each in self.diagnostics)
        yield from told
        yield from (f"assumes: {line}" for line in self.assumptions)
        yield from (f"note: {line}" for line in self.notes)


def _sentences(report: NecessityReport) -> Iterator[str]:
    """What is said about each path, and about all of them?"""
    unit = Unit.of([effect for row in report for effect in row.effects], points=report.in_points)
    for row in report:
        said = [_permission(row), _found(row, report, unit)]
        if row.verdict is not None and report.margin is not None:
            said.append(_judged(row, unit.size(report.margin), exact=not report.margin))
        yield " ".join(said)
    if report.margin is None:
        yield NO_VERDICT
    elif report.verdict is None:
        yield unjudged([row.difference for row in report])
    else:
        yield _overall(report, unit.size(report.margin))


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


def _judged(row: PathVerdict, margin: str, *, exact: bool) -> str:
    goal = "the outcome's" if row.allowed else "zero"
    verdict = row.verdict
    if row.violation_adjusted is None or row.equivalence_adjusted is None:
        more = "more" if verdict == "violated" else "no more"
        return f"As estimated, that is {more} than {margin} from {goal}: {verdict}."
    beyond, within = map(format_p_value, (row.violation_adjusted, row.equivalence_adjusted))
    if verdict == "violated":
        far = f"not {goal}" if exact else f"further from {goal} than {margin}"
        return f"It is {far}, beyond what chance explains (p {beyond}): violated."
    if verdict == "satisfied":
        return f"It is closer to {goal} than {margin} (p {within}): satisfied."
    if not exact:
        reach = row.evidence.out_of_reach(margin)
        return (
            f"The data leave open whether it is within {margin} of {goal} (p {beyond} for beyond, "
            f"{within} for within): undecided{f': {reach}' if reach else ''}."
        )
    return (
        f"The data are consistent with {goal} (p {beyond}); with a margin of 0 that cannot be "
        "shown to hold: undecided."
    )


def _overall(report: NecessityReport, margin: str) -> str:
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
    open_ = [row for row in report if row.verdict == "undecided"]
    most = max(open_, key=lambda row: row.evidence.people_needed or 0)
    reach = most.evidence.out_of_reach(margin)
    listed = _listed([row.name for row in open_])
    return f"{opening}; the data do not settle {listed}{f': {reach}' if reach else ''}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
