"""Do categories of people differ in rates, by the arithmetic of a published rule? (methods §13)

    rate          selected / people; for scores, the share above the pooled median
    impact ratio  rate of a category / highest rate of a category

Rates, ratios and their intervals are those of group metrics. The pooled median is that of everyone
with a score, whether or not their category is known; people count one by one. The highest rate is
that of a category which is not excluded; of several with the same rate, the one with the most
people stands in the intervals, which take it as given. Its own ratio is 1, which is no comparison
and has no interval. Equal rates, thresholds and shares are judged in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import ColumnTypeError, OutcomeError, RoleError
from causalfairness.inference import Bounds, Interval
from causalfairness.inference.intervals import normal_reach
from causalfairness.parity.metrics.records import NONE_SELECTED
from causalfairness.parity.metrics.sums import Shares
from causalfairness.parity.screens.result import CategoryRate, Division, Screening
from causalfairness.parity.screens.rule import Limit, Name, Rule, rule_called
from causalfairness.tables import Column, Missing, RowAccount
from causalfairness.tables.columns import Value, column_of
from causalfairness.tables.groups import canonical, label_groups, quoted, shown, shown_value
from causalfairness.tables.missing import check_policy
from causalfairness.tables.source import check_columns, collect, open_frame, reading

Mask = NDArray[np.bool_]
SMALLEST = 30  # people; categories of fewer are marked
FEW = f"fewer than {SMALLEST} people"
ALONE = "no other category to compare with"


def screen(
    data: Any,
    rule: Rule | Name,
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
    files; `rule` is a `Rule`, the name of a bundled one (`bundled_rules()`), or the path of a rule
    file of your own. `columns` says in which column of the data each attribute of the rule is, as
    in `{"sex": "gender", "race": "ethnicity"}`; divisions by an attribute that is not given are
    left out, and said to be. Either `selected` is the column of decisions, `favorable` the value of
    it that is selected (by default 1), or `score` a column of scores.

    People without a category, or with one of the values in `unknown`, are counted and left out of
    that division. `exclude_small=False` keeps categories that the rule allows to be left out;
    `justification` says why they are. A row without a decision or score is refused, or with
    `missing="drop"` left out and counted.

    >>> import causalfairness as cf
    >>> from causalfairness.parity import screens
    >>> found = screens.screen(
    ...     cf.datasets.load_adult(), "nyc_local_law_144", columns={"sex": "sex", "race": "race"},
    ...     selected="income", favorable=">50K")
    >>> round(found.divisions[0]["Female"].ratio, 3)
    0.36
    >>> print(found.excluded().where(by="race"))
    by    group               people  share  selected   rate
    race  Amer-Indian-Eskimo     470  0.010        55  0.117
    race  Other                  406  0.008        50  0.123
    """
    normal_reach(level)
    found = rule_called(rule)
    measure, measured = _measured(found, selected, favorable, score)
    wanted = _divisions(found, columns)
    if isinstance(unknown, str) or not isinstance(unknown, Sequence):
        raise RoleError(
            f"unknown={unknown!r}; expected a list of the values that stand for an unknown "
            "category, such as ['Unknown', 'Prefer not to say']"
        )
    rows, account = _read(data, [*columns.values(), measured], measured, missing)
    if score is None:
        median, hits = None, _decided(rows[measured], favorable)
    else:
        median = float(np.median(values := _scores(rows[measured])))
        hits = values > median
    attributes = {attribute: rows[name] for attribute, name in columns.items()}
    nobody = frozenset({None, *map(canonical, unknown)})
    exclusion = found.exclusion if exclude_small else None
    divisions = tuple(
        _division(by, attributes, hits, nobody, found.threshold, exclusion, level) for by in wanted
    )
    return Screening(
        rule=found,
        measure=measure,
        column=measured,
        level=level,
        divisions=divisions,
        account=account,
        median=median,
        justification=justification,
        notes=tuple(_notes(found, attributes, nobody, divisions, exclude_small)),
    )


def _measured(
    rule: Rule, selected: str | None, favorable: Any, score: str | None
) -> tuple[str, str]:
    """What is measured, and in which column: a decision or a score. The rule must know it."""
    if (selected is None) == (score is None):
        raise RoleError(
            f"found selected={selected!r} and score={score!r}; give exactly one: the column of "
            "decisions, or that of scores"
        )
    if score is not None and favorable is not None:
        raise RoleError(
            f"favorable={favorable!r} goes with a decision, not with a score: the share above the "
            "median is counted. Where low scores are the good ones, give their negative"
        )
    measure = "selection rate" if score is None else "scoring rate"
    if measure not in rule.measures:
        raise RoleError(
            f"{rule.name} measures the {' or the '.join(rule.measures)}, and not the {measure}; "
            f"{'give selected=...' if score else 'give score=...'} instead"
        )
    return measure, str(selected if score is None else score)


def _divisions(rule: Rule, columns: Mapping[str, str]) -> list[tuple[str, ...]]:
    """By which attributes people are divided, of those that the rule knows and that are given."""
    found = [by for by in rule.by if isinstance(columns, Mapping) and {*by} <= {*columns}]
    if not found or not {*columns} <= {*rule.categories}:
        raise RoleError(
            f"columns={columns!r}; expected the column of each attribute that {rule.name} divides "
            f"people by, such as {dict.fromkeys(rule.by[0], 'a column')!r}: it has "
            f"{', '.join(rule.categories)}"
        )
    return found


def _read(
    data: Any, names: Sequence[str], measured: str, missing: Missing
) -> tuple[dict[str, Column], RowAccount]:
    """The columns of all rows with a decision or score."""
    names = [*dict.fromkeys(names)]
    with reading():
        frame = open_frame(data)
        check_columns(frame, names)
        rows = collect(frame.select(*names))
    found = {name: column_of(rows[name]) for name in names}
    absent = found[measured].is_missing
    lacking = {measured: int(absent.sum())}
    check_policy(lacking, missing, measured=[measured])
    kept = np.flatnonzero(~absent)
    if not len(kept):
        raise OutcomeError(f"nobody is left to count: column {measured!r} holds no value")
    dropped = {f"missing {name}": count for name, count in lacking.items() if count}
    account = RowAccount(read=len(absent), used=len(kept), dropped=dropped)
    return {name: column.take(kept) for name, column in found.items()}, account


def _scores(column: Column) -> NDArray[np.float64]:
    if column.values is None:
        raise ColumnTypeError(
            f"the score column {column.name!r} holds words such as {column.labels[0]!r}; expected "
            "numbers, or give it as selected=... with favorable=... the value that is selected"
        )
    if not np.isfinite(column.values).all():
        raise ColumnTypeError(f"the score column {column.name!r} holds infinite values")
    return column.values


def _decided(column: Column, favorable: Any) -> Mask:
    levels = column.levels()
    wanted = 1.0 if favorable is None else canonical(favorable)
    if favorable is None and not (column.is_number and {*levels.values} <= {0.0, 1.0}):
        raise OutcomeError(
            f"column {column.name!r} is not 0 or 1, so it does not say who is selected; name the "
            f"value that is with favorable=..., one of {quoted(levels.values[:20])}, or ask with "
            "score=..."
        )
    if favorable is not None and wanted not in levels.values:
        raise OutcomeError(
            f"favorable={favorable!r} does not occur in column {column.name!r}; its values are "
            f"{quoted(levels.values[:20])} (numbers without quotes, words with)"
        )
    return np.array([value == wanted for value in levels.values], dtype=bool)[levels.codes]


def _division(
    by: tuple[str, ...],
    attributes: Mapping[str, Column],
    hits: Mask,
    nobody: Set[Value],
    threshold: Limit | None,
    exclusion: Limit | None,
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
    people = np.bincount(group)[known].astype(float)
    shares = Shares(np.bincount(group, hits)[known].astype(float), people, people)
    names = [shown(labels[at]) for at in known]
    rates, highest = _compared(names, shares, threshold, exclusion, level)
    return Division(by, rates, highest, unknown=len(hits) - int(people.sum()))


def _compared(
    names: Sequence[str],
    shares: Shares,
    threshold: Limit | None,
    exclusion: Limit | None,
    level: float,
) -> tuple[tuple[CategoryRate, ...], tuple[str, ...]]:
    """The rate and the ratio of each category, and which ones have the highest rate."""
    people, hits = ([*map(int, counts)] for counts in (shares.people, shares.hits))
    rates, everyone = [*map(Fraction, hits, people)], sum(people)
    small = [_is_below(Fraction(count, everyone), exclusion) or False for count in people]
    kept = [at for at, left_out in enumerate(small) if not left_out]
    top = max((rates[at] for at in kept), default=Fraction(0))
    tied = [at for at in kept if top and rates[at] == top]
    against = max(tied, key=people.__getitem__, default=None)
    usual = NONE_SELECTED if against is None else ALONE if len(kept) == 1 else ""
    left_out = f"excluded: under {100 * exclusion.value:g}% of the people" if exclusion else ""
    intervals = _intervals(shares.interval(level))
    ratio_intervals = _intervals(shares.over(shares.at([against or 0]), level))
    found = []
    for at, name in enumerate(names):
        remarks = left_out if small[at] else usual, FEW if people[at] < SMALLEST else ""
        ratio = None if against is None or small[at] else rates[at] / top
        interval = None if ratio is None or at == against else ratio_intervals[at]
        limit = None if ratio is None or len(kept) == 1 else threshold
        found.append(
            CategoryRate(
                category=name,
                people=people[at],
                share=people[at] / everyone,
                selected=hits[at],
                rate=hits[at] / people[at],
                rate_interval=intervals[at],
                excluded=small[at],
                ratio=None if ratio is None else float(ratio),
                ratio_interval=interval,
                flagged=None if ratio is None else _is_below(ratio, limit),
                interval_lies=_lies(interval, limit),
                remark="; ".join(filter(None, remarks)),
            )
        )
    return tuple(found), tuple(names[at] for at in tied)


def _intervals(bounds: Bounds) -> list[Interval]:
    return [Interval(float(low), float(high)) for low, high in zip(*bounds, strict=True)]


def _is_below(share: Fraction, limit: Limit | None) -> bool | None:
    """Held against the number as it was written: 0.8 is four fifths."""
    return None if limit is None else share < Fraction(str(limit.value))


def _lies(interval: Interval | None, limit: Limit | None) -> str | None:
    if interval is None or limit is None:
        return None
    if interval.high < limit.value:
        return "below"
    return "above" if interval.low >= limit.value else "contains"


def _notes(
    rule: Rule,
    attributes: Mapping[str, Column],
    nobody: Set[Value],
    divisions: Sequence[Division],
    exclude_small: bool,
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
    if rule.exclusion is not None and not exclude_small:
        yield "small categories were kept, though the rule allows to leave them out"
    if any(len(part.rates) > 1 for part in divisions):
        yield (
            "intervals of ratios hold one by one, and take the category with the highest rate as "
            "given, though it was found by looking"
        )
