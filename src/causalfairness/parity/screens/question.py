"""Do categories of people differ in rates, by the arithmetic of a published rule? (methods §13)

    rate          selected / people; for scores, the share above the pooled median
    impact ratio  rate of a category / highest rate of a category

Nothing here is causal, and nothing is a verdict. What is measured, for whom, who may be left out
and what is flagged stands in a dated rule file with its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from causalfairness.errors import OutcomeError, RoleError
from causalfairness.inference.intervals import normal_reach
from causalfairness.parity.screens.people import People, asked_of, read_people
from causalfairness.parity.screens.ratios import Division, compared
from causalfairness.parity.screens.result import Screening
from causalfairness.parity.screens.rule import Name, Rule, rule_called
from causalfairness.tables import Missing


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
    `missing="drop"` left out and counted. People count one by one: rules of this kind know no
    weights.

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
    asked = asked_of(found, selected, favorable, score)
    wanted = _divisions(found, columns)
    _check_unknown(unknown)
    people = read_people(data, asked, columns, unknown, missing)
    divisions = tuple(
        _division(people, by, found, level=level, exclude_small=exclude_small) for by in wanted
    )
    return Screening(
        rule=found,
        measure=asked.measure,
        column=asked.column,
        level=level,
        divisions=divisions,
        account=people.account,
        median=people.median,
        justification=justification,
        notes=tuple(_notes(found, people, columns, divisions, exclude_small)),
    )


def _divisions(rule: Rule, columns: Mapping[str, str]) -> list[tuple[str, ...]]:
    if not isinstance(columns, Mapping) or not columns:
        raise RoleError(
            f"columns={columns!r}; expected the column of each attribute, such as "
            f"{ {name: name for name in rule.categories}!r}"
        )
    for name in columns:
        if name not in rule.categories:
            raise RoleError(
                f"{rule.name} knows no attribute {name!r}; it has {', '.join(rule.categories)}"
            )
    found = [by for by in rule.by if all(name in columns for name in by)]
    if not found:
        raise RoleError(
            f"{rule.name} divides people by {'; by '.join(map(' and '.join, rule.by))}; the "
            f"columns given ({', '.join(columns)}) are not enough for any of these"
        )
    return found


def _check_unknown(unknown: Sequence[Any]) -> None:
    if isinstance(unknown, str) or not isinstance(unknown, Sequence):
        raise RoleError(
            f"unknown={unknown!r}; expected a list of the values that stand for an unknown "
            "category, such as ['Unknown', 'Prefer not to say']"
        )


def _division(
    people: People, by: tuple[str, ...], rule: Rule, *, level: float, exclude_small: bool
) -> Division:
    counts = people.counted(by)
    if not counts:
        raise OutcomeError(
            f"the category of nobody is known by {' and '.join(by)}; check the columns, and which "
            "values stand for unknown"
        )
    return compared(
        by,
        counts,
        unknown=people.unknown(by),
        exclusion=rule.exclusion if exclude_small else None,
        threshold=rule.threshold,
        level=level,
    )


def _notes(
    rule: Rule,
    people: People,
    columns: Mapping[str, str],
    divisions: Sequence[Division],
    exclude_small: bool,
) -> Iterator[str]:
    """What was done, or not done, that a reader must know?"""
    absent = [" and ".join(by) for by in rule.by if not set(by) <= set(columns)]
    if absent:
        yield f"the rule also divides people by {'; by '.join(absent)}: columns were not given"
    for name in columns:
        named = {value.casefold() for value in rule.categories[name]}
        others = [
            each
            for (each,) in (count.category for count in people.counted([name]))
            if named and each.casefold() not in named
        ]
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
