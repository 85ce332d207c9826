"""Do categories of people differ in rates, by the arithmetic of a published rule? (methods §13)

    rate          selected / people; for scores, the share on the wanted side of the pooled median
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

from causalfairness.effects.table import as_section
from causalfairness.errors import OutcomeError, RoleError
from causalfairness.fairness_model import HIGHER, LOWER
from causalfairness.inference.proportions import flag_chances
from causalfairness.parity.metrics.records import NONE_SELECTED, reading_of, remark_of
from causalfairness.parity.metrics.rows import Array, Mask
from causalfairness.parity.metrics.sums import Shares
from causalfairness.parity.metrics.table import MetricTable, Record
from causalfairness.parity.metrics.words import between, said_of_screen
from causalfairness.parity.screens.rule import Rule, read_rule
from causalfairness.tables import Column, Missing, RowAccount, open_table
from causalfairness.tables.columns import Value, column_of
from causalfairness.tables.frames import refuse_weights
from causalfairness.tables.groups import canonical, label_groups, shown, shown_value
from causalfairness.tables.missing import check_policy
from causalfairness.tables.source import check_columns, collect, reading, select
from causalfairness.tables.target import Target

FEW = 30  # people; categories of fewer are marked
ALONE = "no other category to compare with"
SCREEN = (
    "This is a screen, not a verdict: it says where groups differ, not why, and neither passes nor "
    "fails anything. Its intervals take the highest rate as given, though it was found by looking."
)


@dataclass(frozen=True, eq=False)
class Screening:
    """What does a statistical screen show, and what does its rule say of that?

    Each of `divisions` holds as plain data `by` which attributes people are divided, how many
    `people` there are, of how many the category is `unknown`, which categories are `highest` and
    `excluded`, how often chance alone would put `any_by_chance` below the threshold, and the rows
    of the table, with `by_chance` for each (`categories`). `median` is that of all scores.

    >>> import pyarrow as pa
    >>> from causalfairness.parity import screens
    >>> data = pa.table({"sex": ["F", "F", "M", "M"], "hired": [1, 0, 1, 1]})
    >>> screens.screen(data, "four_fifths", columns={"sex": "sex"}, selected="hired",
    ...                favorable=1).flagged
    (('sex', 'F'),)
    """

    rule: Rule
    measure: str
    column: str
    favorable: Any
    level: float
    median: float | None
    divisions: tuple[Record, ...]
    account: RowAccount
    justification: str
    notes: tuple[str, ...]

    @property
    def flagged(self) -> tuple[tuple[str, str], ...]:
        """Which categories lie below the threshold of the rule? Pairs of attribute and category."""
        return tuple((row["by"], row["group"]) for row in self.table() if row["flagged"])

    def table(self) -> MetricTable:
        """What is the rate and the impact ratio of every category? Excluded ones have no ratio."""
        return MetricTable(tuple(row for part in self.divisions for row in part["categories"]))

    def sentences(self) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        return *(said for part in self.divisions for said in _sentences(part, self)), SCREEN

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
        side = "below" if self.favorable == LOWER else "above"
        above = "" if self.median is None else f", {side} the pooled median of {self.median:g}"
        return (
            f"{self.rule}: {self.measure} of {self.column}{above}, {self.account.used:,} people, "
            f"{100 * self.level:.6g}% intervals"
        )

    def _lines(self) -> Iterator[str]:
        """The sentences, and what else a reader must know."""
        yield from self.sentences()
        source = self.rule.source
        yield f"source: {source.title}, {source.citation}, {source.date}"
        yield from (f"rule: {says}" for says in self.rule.notes)
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
    are left out, and said to be. Either `selected` is the column of decisions, and `favorable` the
    value of it that people want, or `score` is a column of scores, and `favorable` says whether
    people want them "higher" or "lower".

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
    wanted = [by for by in rule.by if isinstance(columns, Mapping) and {*by} <= {*columns}]
    if not wanted or not {*columns} <= {*rule.categories}:
        raise RoleError(
            f"columns={columns!r}; expected the column of each attribute that {rule.name} divides "
            f"people by: it has {', '.join(rule.categories)}"
        )
    if isinstance(unknown, str):
        raise RoleError(f"unknown={unknown!r}; expected a list of values, such as [{unknown!r}]")
    measure, column = ("selection rate", selected) if score is None else ("scoring rate", score)
    stated = favorable is not None if score is None else favorable in (HIGHER, LOWER)
    if column is None or None not in (selected, score) or not stated:
        raise RoleError(
            f"found selected={selected!r}, favorable={favorable!r} and score={score!r}; give "
            "exactly one: the column of decisions, with the value that people want, or that of "
            f"scores, with favorable={HIGHER!r} or {LOWER!r}, whichever people want"
        )
    if measure not in rule.measures:
        raise RoleError(f"{rule.name} measures the {rule.measures[0]}, and not the {measure}")
    attributes, values, account = _read(data, columns, column, selected and favorable, missing)
    median = None if score is None else float(np.median(values))
    hits = values < median if median is not None and favorable == LOWER else values > (median or 0)
    nobody = frozenset({None, *map(canonical, unknown)})
    applied = rule if exclude_small else rule.model_copy(update={"share_below": None})
    return Screening(
        rule=rule,
        measure=measure,
        column=column,
        favorable=favorable,
        level=level,
        median=median,
        divisions=tuple(_division(by, attributes, nobody, hits, applied, level) for by in wanted),
        account=account,
        justification=justification,
        notes=tuple(_notes(rule, applied, attributes, nobody)),
    )


def _read(
    data: Any, columns: Mapping[str, str], measured: str, favorable: Any, missing: Missing
) -> tuple[dict[str, Column], Array, RowAccount]:
    """The attributes of all rows with a decision or score, and that as a number."""
    names = dict.fromkeys([*columns.values(), measured])
    table = open_table(data, missing=missing)
    refuse_weights(table.weights, "a published screen")
    with reading():
        check_columns(table.frame, names)
        rows = collect(select(table.frame, names))
    column = column_of(rows[measured])
    coded = favorable in (0, 1) and {*column.levels().values} <= {0.0, 1.0, None}
    values = Target(measured, None if coded else favorable, "outcome", "favorable").read(column)
    values = 1 - values if coded and favorable == 0 else values
    kept = np.flatnonzero(~np.isnan(values))
    lacking = len(values) - len(kept)
    check_policy({measured: lacking}, table.missing, measured=[measured])
    if not len(kept):
        raise OutcomeError(f"nobody is left to count: column {measured!r} holds no value")
    dropped = {f"missing {measured}": lacking} if lacking else {}
    account = RowAccount(len(values), len(kept), dropped=dropped)
    attributes = {name: column_of(rows[column]).take(kept) for name, column in columns.items()}
    return attributes, values[kept], account


def _division(
    by: tuple[str, ...],
    attributes: Mapping[str, Column],
    nobody: Set[Value],
    hits: Mask,
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
    least = Fraction(str(rule.share_below or 0))  # as it was written: 0.02 is one of fifty
    kept = [at for at, count in enumerate(people) if Fraction(count, everyone) >= least]
    top = max(kept, key=lambda at: (rates[at], people[at]), default=0)
    ratios = {at: rates[at] / rates[top] for at in kept if rates[top]}
    limit = rule.ratio_below if len(ratios) > 1 else None
    each, some = flag_chances(hit[kept], total[kept], limit) if limit else (np.empty(0), None)
    by_chance = dict(zip(kept, each.tolist(), strict=False))  # of nobody without a limit
    usual = NONE_SELECTED if not ratios else ALONE if len(kept) == 1 else ""
    ends = np.column_stack([*shares.interval(level), *shares.over(shares.at([top]), level)])
    rows: list[Record] = []
    for at, (low, high, *over) in enumerate(ends.tolist()):
        ratio = ratios.get(at)
        ratio_low, ratio_high = (None, None) if ratio is None or at == top else over
        below = ratio < Fraction(str(limit)) if ratio is not None and limit else None
        why = usual if at in kept else f"excluded: under {100 * float(least):g}% of the people"
        rows.append(
            {
                "by": ", ".join(by),
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
                "flagged": below,
                "by_chance": by_chance.get(at),
                "reading": reading_of(below, ratio_low, ratio_high, limit),
                "remark": "; ".join(filter(None, [why, remark_of(people[at], smallest=FEW)])),
            }
        )
    return {
        "by": by,
        "people": everyone,
        "unknown": len(hits) - everyone,
        "highest": tuple(names[at] for at, ratio in ratios.items() if ratio == 1),
        "excluded": tuple(name for at, name in enumerate(names) if at not in kept),
        "any_by_chance": some,
        "categories": tuple(rows),
    }


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
    if rule.ratio_below is None:
        yield f"{rule.name} sets no threshold for the impact ratio: none is flagged"


def _sentences(part: Record, found: Screening) -> Iterator[str]:
    """What the numbers of one division say."""
    by, rule, rows = ", ".join(part["by"]), found.rule, part["categories"]
    highest = _listed(rows, part["highest"], "rate", ", ")
    said = f"the highest {found.measure} is that of {highest}"
    yield f"By {by}: {said if highest else f'no {found.measure} above 0 is left to compare'}."
    if compared := [row["group"] for row in rows if row["ratio_low"] is not None]:
        ratios = _listed(rows, compared, "ratio", " ")
        yield f"Impact ratios by {by} ({100 * found.level:.6g}% intervals): {ratios}."
    if rule.ratio_below and part["any_by_chance"] is not None:
        held = [row for row in rows if row["ratio"] is not None]
        flagged, some = [row["group"] for row in held if row["flagged"]], part["any_by_chance"]
        yield f"{rule.name} by {by}: {said_of_screen(held, flagged, rule.ratio_below, some)}"
    if part["excluded"]:
        small = _listed(rows, part["excluded"], "rate", " ")
        why = f"Justification: {found.justification or 'none was given'}"
        yield f"Excluded from the ratios by {by}, as the rule allows: {small}. {why}"
    unknown = f"{part['unknown']:,} {'person' if part['unknown'] == 1 else 'people'}"
    yield f"Not included by {by} because the category is not known: {unknown}."


def _listed(rows: Sequence[Record], groups: Sequence[str], of: str, beside: str) -> str:
    keys = (of, f"{of}_low", f"{of}_high")
    chosen = (row for row in rows if row["group"] in groups)
    return "; ".join(f"{row['group']}{beside}{between(*map(row.get, keys))}" for row in chosen)
