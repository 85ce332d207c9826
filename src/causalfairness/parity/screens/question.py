"""Do categories of people differ in rates, by the arithmetic of a published rule? (methods §13)

    rate          selected / people; for scores, the share above the pooled median of everyone
    impact ratio  rate of a category / highest rate of a category that is not excluded

Rates, ratios and their intervals are those of group metrics. Of several categories with the same
highest rate, the one with the most people stands in the intervals, which take it as given. Equal
rates, thresholds and shares are judged in whole numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.effects.table import as_section
from causalfairness.errors import OutcomeError, RoleError
from causalfairness.parity.metrics.decisions import is_binary
from causalfairness.parity.metrics.records import NONE_SELECTED
from causalfairness.parity.metrics.sums import Shares
from causalfairness.parity.metrics.table import MetricTable, Record
from causalfairness.parity.metrics.words import between
from causalfairness.parity.screens.rule import Rule, read_rule
from causalfairness.tables import Column, Missing, RowAccount
from causalfairness.tables.columns import Value, column_of
from causalfairness.tables.groups import canonical, label_groups, shown, shown_value
from causalfairness.tables.missing import check_policy
from causalfairness.tables.source import check_columns, collect, open_frame, reading
from causalfairness.tables.target import Target

SMALLEST = 30  # people; categories of fewer are marked
ALONE = "no other category to compare with"
SCREEN = (
    "This is a screen, not a verdict: it says where groups differ, not why, and neither passes nor "
    "fails anything."
)


@dataclass(frozen=True, eq=False)
class Screening:
    """What does a statistical screen show, and what does its rule say of that?

    Each of `divisions`, by one attribute or several as the rule asks, holds as plain data how many
    people are in it (`people`) and of how many the category is not known (`unknown`), which
    categories have the `highest` rate (none where nobody is selected) and the numbers of all
    `categories`. A category has no `ratio` where it is excluded or nobody at all is selected;
    `flagged` and `interval_lies` (below, contains or above the threshold) are None where the rule
    has no threshold. `median` is the pooled one that scores were held against.

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
    divisions: tuple[Record, ...]
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
            for each in part["categories"]:
                row = {"by": ", ".join(part["by"]), **each}
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
        if self.rule.threshold is None:
            said.append(
                f"{self.rule.name} sets no threshold for the impact ratio: ratios are stated, none "
                "is flagged."
            )
        return *said, SCREEN

    def to_dict(self) -> dict[str, Any]:
        """What was found, as plain data that JSON can hold?"""
        found = {**vars(self), "rule": self.rule.to_dict(), "sentences": self.sentences()}
        account = found.pop("account")
        return {**found, "rows_read": account.read, "rows_used": account.used}

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


def screen(
    data: Any,
    rule: Rule | str | os.PathLike[str],
    *,
    columns: Mapping[str, str],
    selected: str | None = None,
    favorable: Any = None,
    score: str | None = None,
    unknown: Sequence[Any] = (),
    exclude_small: bool = True,
    justification: str = "",
    level: float = 0.95,
    missing: Missing = "refuse",
) -> Screening:
    """Which rates and impact ratios does a rule ask for, and which are flagged by it?

    `data` is a pandas, polars or pyarrow table, a DuckDB relation, or a path to CSV or Parquet
    files; `rule` is a `Rule`, the name of a bundled one, or the path of a rule file of your own.
    `columns` says in which column of the data each attribute of the rule is; divisions by others
    are left out, and said to be. Either `selected` is the column of decisions, `favorable` the
    value of it that is selected (by default 1), or `score` a column of scores.

    People without a category, or with one of the values in `unknown`, are counted and left out of
    that division. `exclude_small=False` keeps categories that the rule allows to be left out;
    `justification` says why they are. A row without a decision or score is refused, or with
    `missing="drop"` left out and counted.

    >>> import causalfairness as cf
    >>> found = cf.parity.screens.screen(
    ...     cf.datasets.load_adult(), "nyc_local_law_144", columns={"sex": "sex"},
    ...     selected="income", favorable=">50K")
    >>> [round(row["ratio"], 3) for row in found.table()]
    [0.36, 1.0]
    """
    rule = read_rule(rule)
    measure, measured = _measured(rule, selected, favorable, score)
    wanted = [by for by in rule.by if isinstance(columns, Mapping) and {*by} <= {*columns}]
    if not wanted or not {*columns} <= {*rule.categories}:
        raise RoleError(
            f"columns={columns!r}; expected the column of each attribute that {rule.name} divides "
            f"people by: it has {', '.join(rule.categories)}"
        )
    if isinstance(unknown, str):
        raise RoleError(f"unknown={unknown!r}; expected a list of values, such as [{unknown!r}]")
    rows, values, account = _read(data, [*columns.values()], measured, favorable, missing)
    median = None if score is None else float(np.median(values))
    if median is None and not is_binary(values):
        raise OutcomeError(
            f"column {measured!r} holds other numbers than 0 and 1; name the one that is selected "
            "with favorable=..., or ask with score=..."
        )
    attributes = {name: rows[column] for name, column in columns.items()}
    nobody = frozenset({None, *map(canonical, unknown)})
    hits = values > (0 if median is None else median)
    applied = rule if exclude_small else rule.model_copy(update={"exclusion": None})
    return Screening(
        rule=rule,
        measure=measure,
        column=measured,
        level=level,
        median=median,
        divisions=tuple(_division(by, attributes, nobody, hits, applied, level) for by in wanted),
        account=account,
        justification=justification,
        notes=tuple(_notes(rule, applied, attributes, nobody)),
    )


def _measured(
    rule: Rule, selected: str | None, favorable: Any, score: str | None
) -> tuple[str, str]:
    """What is measured, and in which column: a decision or a score. The rule must know it."""
    measure, column = ("selection rate", selected) if score is None else ("scoring rate", score)
    if column is None or (score is not None and (selected, favorable) != (None, None)):
        raise RoleError(
            f"found selected={selected!r}, favorable={favorable!r} and score={score!r}; give "
            "exactly one: the column of decisions, with the value that is favorable, or that of "
            "scores (where low scores are the good ones, their negative)"
        )
    if measure not in rule.measures:
        raise RoleError(f"{rule.name} measures the {rule.measures[0]}, and not the {measure}")
    return measure, column


def _read(
    data: Any, names: Sequence[str], measured: str, favorable: Any, missing: Missing
) -> tuple[dict[str, Column], NDArray[np.float64], RowAccount]:
    """The columns of all rows with a decision or score, and that as a number."""
    with reading():
        frame = open_frame(data)
        check_columns(frame, [*names, measured])
        rows = collect(frame.select(*dict.fromkeys([*names, measured])))
    values = Target(measured, favorable, "outcome", "favorable").read(column_of(rows[measured]))
    kept = np.flatnonzero(~np.isnan(values))
    lacking = len(values) - len(kept)
    check_policy({measured: lacking}, missing, measured=[measured])
    if not len(kept):
        raise OutcomeError(f"nobody is left to count: column {measured!r} holds no value")
    dropped = {f"missing {measured}": lacking} if lacking else {}
    account = RowAccount(read=len(values), used=len(kept), dropped=dropped)
    return {name: column_of(rows[name]).take(kept) for name in names}, values[kept], account


def _division(
    by: tuple[str, ...],
    attributes: Mapping[str, Column],
    nobody: Set[Value],
    hits: NDArray[np.bool_],
    rule: Rule,
    level: float,
) -> Record:
    """How the categories by some attributes compare, of all people whose category is known."""
    labels, group = label_groups([attributes[name] for name in by])
    known = [at for at, label in enumerate(labels) if nobody.isdisjoint(label)]
    if not known:
        raise OutcomeError(
            f"the category of nobody is known by {' and '.join(by)}; check the columns, and which "
            "values stand for unknown"
        )
    hit, total = (np.bincount(group, w)[known].astype(float) for w in (hits, None))
    names, shares = [shown(labels[at]) for at in known], Shares(hit, total, total)
    people, selected = ([*map(int, counts)] for counts in (total, hit))
    everyone, rates = sum(people), [*map(Fraction, selected, people)]
    small = [bool(_is_below(Fraction(count, everyone), rule.exclusion)) for count in people]
    kept = [at for at, left_out in enumerate(small) if not left_out]
    top = max(kept, key=lambda at: (rates[at], people[at]), default=0)
    highest = [at for at in kept if rates[at] == rates[top] > 0]
    limit = rule.threshold if len(kept) > 1 else None
    under = f"excluded: under {_percent(rule)} of the people" if rule.exclusion else ""
    usual = NONE_SELECTED if not highest else ALONE if len(kept) == 1 else ""
    ends = np.column_stack([*shares.interval(level), *shares.over(shares.at([top]), level)])
    categories: list[Record] = []
    for at, (low, high, *over) in enumerate(ends.tolist()):
        ratio = rates[at] / rates[top] if highest and not small[at] else None
        ratio_low, ratio_high = (None, None) if ratio is None or at == top else over
        few = f"fewer than {SMALLEST} people" if people[at] < SMALLEST else ""
        categories.append(
            {
                "group": names[at],
                "people": people[at],
                "share": people[at] / everyone,
                "selected": selected[at],
                "rate": selected[at] / people[at],
                "rate_low": low,
                "rate_high": high,
                "ratio": None if ratio is None else float(ratio),
                "ratio_low": ratio_low,
                "ratio_high": ratio_high,
                "excluded": small[at],
                "flagged": None if ratio is None else _is_below(ratio, limit),
                "interval_lies": _lies(ratio_low, ratio_high, limit),
                "remark": "; ".join(filter(None, [under if small[at] else usual, few])),
            }
        )
    return {
        "by": by,
        "people": everyone,
        "unknown": len(hits) - everyone,
        "highest": tuple(names[at] for at in highest),
        "categories": tuple(categories),
    }


def _is_below(share: Fraction, limit: Any) -> bool | None:
    """Held against the number as it was written: 0.8 is four fifths."""
    return None if limit is None else share < Fraction(str(limit.value))


def _lies(low: float | None, high: float | None, limit: Any) -> str | None:
    if low is None or high is None or limit is None:
        return None
    return "below" if high < limit.value else "above" if low >= limit.value else "contains"


def _notes(
    rule: Rule, applied: Rule, attributes: Mapping[str, Column], nobody: Set[Value]
) -> Iterator[str]:
    """What was done, or not done, that a reader must know."""
    absent = [" and ".join(by) for by in rule.by if not {*by} <= {*attributes}]
    if absent:
        yield f"the rule also divides people by {'; by '.join(absent)}: columns were not given"
    for name, column in attributes.items():
        named = {value.casefold() for value in rule.categories[name]}
        found = [shown_value(value) for value in column.levels().values if value not in nobody]
        others = [value for value in found if named and value.casefold() not in named]
        if others:
            yield (
                f"by {name}, the rule does not name {'; '.join(others)}: values were taken as they "
                "are, none was renamed or pooled"
            )
    if applied != rule:
        yield "small categories were kept, though the rule allows to leave them out"
    yield (
        "intervals of ratios hold one by one, and take the category with the highest rate as "
        "given, though it was found by looking"
    )


def _sentences(part: Record, found: Screening) -> Iterator[str]:
    """What the numbers of one division say."""
    by, rule, rows = ", ".join(part["by"]), found.rule, part["categories"]
    rates = {
        row["group"]: between(*(row[of] for of in ("rate", "rate_low", "rate_high")))
        for row in rows
    }
    highest = "; ".join(f"{name}, {rates[name]}" for name in part["highest"])
    if highest:
        yield f"By {by}: the highest {found.measure} is that of {highest}."
    else:
        yield f"By {by}: no {found.measure} above 0 is left to compare."
    compared = {row["group"]: row for row in rows if row["ratio_low"] is not None}
    if compared:
        ratios = "; ".join(
            f"{name} {between(*(row[of] for of in ('ratio', 'ratio_low', 'ratio_high')))}"
            for name, row in compared.items()
        )
        yield f"Impact ratios by {by} ({100 * found.level:.6g}% intervals): {ratios}."
    if compared and rule.threshold:
        limit = f"{rule.threshold.value:g}"
        below = [name for name, row in compared.items() if row["flagged"]]
        unsure = [name for name, row in compared.items() if row["interval_lies"] == "contains"]
        named = f" ({'; '.join(below)})" if below else ""
        wide = f"; intervals contain {limit} for {'; '.join(unsure)}" if unsure else ""
        yield (
            f"{rule.name} by {by}: {len(below)} of {len(compared) + 1} categories below {limit} of "
            f"the highest rate{named}{wide}."
        )
    small = "; ".join(
        f"{row['group']} ({_people(row['people'])}, {100 * row['share']:.2g}%, rate "
        f"{rates[row['group']]})"
        for row in rows
        if row["excluded"]
    )
    if small:
        why = f"Justification: {found.justification}"
        yield (
            f"Excluded from the ratios by {by}, each under {_percent(rule)} of "
            f"{part['people']:,} people: {small}. "
            f"{why if found.justification else 'No justification was given.'}"
        )
    yield f"Not included by {by} because the category is not known: {_people(part['unknown'])}."


def _percent(rule: Rule) -> str:
    return f"{100 * rule.exclusion.value:g}%" if rule.exclusion else ""


def _people(count: int) -> str:
    return f"{count:,} {'person' if count == 1 else 'people'}"
