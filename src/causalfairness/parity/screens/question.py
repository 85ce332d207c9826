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
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import OutcomeError, RoleError
from causalfairness.parity.metrics.decisions import is_binary
from causalfairness.parity.metrics.records import NONE_SELECTED
from causalfairness.parity.metrics.sums import Shares
from causalfairness.parity.screens.result import CategoryRate, Division, Screening
from causalfairness.parity.screens.rule import Limit, Rule, rule_called
from causalfairness.tables import Column, Missing, RowAccount
from causalfairness.tables.columns import Value, column_of
from causalfairness.tables.groups import canonical, label_groups, shown, shown_value
from causalfairness.tables.missing import check_policy
from causalfairness.tables.source import check_columns, collect, open_frame, reading
from causalfairness.tables.target import Target

SMALLEST = 30  # people; categories of fewer are marked
ALONE = "no other category to compare with"


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
    >>> round(found.divisions[0]["Female"].ratio, 3)
    0.36
    """
    rule = rule_called(rule)
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
) -> Division:
    """How the categories by some attributes compare, of all people whose category is known."""
    labels, group = label_groups([attributes[name] for name in by])
    known = [at for at, label in enumerate(labels) if nobody.isdisjoint(label)]
    if not known:
        raise OutcomeError(
            f"the category of nobody is known by {' and '.join(by)}; check the columns, and which "
            "values stand for unknown"
        )
    hit, total = (np.bincount(group, w)[known].astype(float) for w in (hits, None))
    shares = Shares(hit, total, total)
    categories, highest = _compared([shown(labels[at]) for at in known], shares, rule, level)
    people = int(total.sum())
    return Division(by, people, len(hits) - people, highest, categories)


def _compared(
    names: Sequence[str], shares: Shares, rule: Rule, level: float
) -> tuple[tuple[CategoryRate, ...], tuple[str, ...]]:
    """The rate and the ratio of each category, and which ones have the highest rate."""
    people, selected = ([*map(int, counts)] for counts in (shares.people, shares.hits))
    everyone, rates = sum(people), [*map(Fraction, selected, people)]
    small = [_is_below(Fraction(count, everyone), rule.exclusion) is True for count in people]
    kept = [at for at, left_out in enumerate(small) if not left_out]
    top = max(kept, key=lambda at: (rates[at], people[at]), default=0)
    highest = [at for at in kept if rates[at] == rates[top] > 0]
    limit = rule.threshold if len(kept) > 1 else None
    under = f"under {100 * rule.exclusion.value:g}% of the people" if rule.exclusion else ""
    usual = NONE_SELECTED if not highest else ALONE if len(kept) == 1 else ""
    ends = np.column_stack([*shares.interval(level), *shares.over(shares.at([top]), level)])
    found = []
    for at, (low, high, *over) in enumerate(ends.tolist()):
        ratio = rates[at] / rates[top] if highest and not small[at] else None
        ratio_low, ratio_high = (None, None) if ratio is None or at == top else over
        few = f"fewer than {SMALLEST} people" if people[at] < SMALLEST else ""
        found.append(
            CategoryRate(
                group=names[at],
                people=people[at],
                share=people[at] / everyone,
                selected=selected[at],
                rate=selected[at] / people[at],
                rate_low=low,
                rate_high=high,
                ratio=None if ratio is None else float(ratio),
                ratio_low=ratio_low,
                ratio_high=ratio_high,
                excluded=small[at],
                flagged=None if ratio is None else _is_below(ratio, limit),
                interval_lies=_lies(ratio_low, ratio_high, limit),
                remark="; ".join(filter(None, [f"excluded: {under}" if small[at] else usual, few])),
            )
        )
    return tuple(found), tuple(names[at] for at in highest)


def _is_below(share: Fraction, limit: Limit | None) -> bool | None:
    """Held against the number as it was written: 0.8 is four fifths."""
    return None if limit is None else share < Fraction(str(limit.value))


def _lies(low: float | None, high: float | None, limit: Limit | None) -> str | None:
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
