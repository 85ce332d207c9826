"""Who is found by which test? Several tests of the same people, side by side.

Situation testing, its counterfactual sister and counterfactual fairness (the case k = 0: declined
in fact, not in the other world) find different people. Of tests about different attributes, those
found by all are cases of multiple discrimination. An intersectional test, whose people have
all the attributes at once, is another question and another test. With p_1 <= ... <= p_m the
p-values of a person in m tests,

    found by all    max p_i           (an intersection-union test)
    found by any    min m p_i / i     (Simes)

are adjusted over the people, by Benjamini and Hochberg, where discoveries are counted; where
evidence is counted, as in the published experiments, those are meant whom all tests, or any, find.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np

from causalfairness.effects.table import as_pandas, as_polars, as_text
from causalfairness.errors import SituationError
from causalfairness.individuals.distances import Array, Positions, Truths
from causalfairness.individuals.situation_evidence import PublishedRule
from causalfairness.individuals.situation_result import SituationTest
from causalfairness.inference import benjamini_hochberg

By = Literal["evidence", "significant", "discovery"]
FLIPPED = "counterfactual fairness"


@dataclass(frozen=True, eq=False)
class SituationComparison:
    """Who is found by which test?

    `rows` are all who were tested, as positions in the data, and `found` has a truth for each of
    them and each name; who is not tested by a test is not found by it. The last names may be those
    of `flips`, who is declined in fact and not in another world: they stand beside the tests, and
    no test is asked to find them.

    >>> found = np.array([[True, True], [True, False]])
    >>> both = SituationComparison(("one", "two"), np.array([3, 8]), found, 15, "evidence")
    >>> both.overlap("one", "two"), both.found_by_all.tolist(), both.only("one").tolist()
    (1, [3], [8])
    """

    names: tuple[str, ...]
    rows: Positions
    found: Truths  # (rows, names)
    k: int
    by: By
    flips: int = 0  # how many of the names, the last ones, are flips
    p_values: Array | None = None  # (rows, tests), NaN where not tested; needed for discoveries
    error: float = 0.05

    @property
    def counts(self) -> dict[str, int]:
        """How many people does each test find?"""
        return dict(zip(self.names, self.found.sum(axis=0).tolist(), strict=True))

    def overlap(self, one: str, other: str) -> int:
        """How many people do two tests both find?"""
        return int(np.sum(self._of(one) & self._of(other)))

    def only(self, *names: str) -> Positions:
        """Which people do exactly these tests find, and no other?"""
        wanted = np.isin(self.names, names)
        for name in names:
            self._of(name)  # an unknown name is refused
        return np.asarray(self.rows[(self.found == wanted).all(axis=1)])

    @property
    def found_by_all(self) -> Positions:
        """Which people does every test find? Of tests on several attributes: on every one."""
        return self._judged(lambda p_values: p_values.max(axis=1), np.all)

    @property
    def found_by_any(self) -> Positions:
        """Which people does at least one test find? Of several attributes: on one or more."""
        return self._judged(_simes, np.any)

    def patterns(self) -> dict[tuple[str, ...], int]:
        """How many people are found by exactly which tests? Most frequent first."""
        sets = [tuple(np.array(self.names)[row].tolist()) for row in self.found if row.any()]
        return dict(sorted(Counter(sets).items(), key=lambda pair: (-pair[1], pair[0])))

    def to_records(self) -> list[dict[str, Any]]:
        """Who is found by which test, as plain data?"""
        return [
            {"row": row, **dict(zip(self.names, marks, strict=True))}
            for row, marks in zip(self.rows.tolist(), self.found.tolist(), strict=True)
        ]

    def to_pandas(self) -> Any:
        """Who is found by which test, as a pandas data frame?"""
        return as_pandas(self.to_records())

    def to_polars(self) -> Any:
        """Who is found by which test, as a polars data frame?"""
        return as_polars(self.to_records())

    def sentences(self) -> tuple[str, ...]:
        """How do the tests overlap, in plain words?"""
        said = [
            f"All {self.counts[one]:,} found by {one} are found by {other}."
            for one, other in permutations(self.names, 2)
            if self.overlap(one, other) == self.counts[one] > 0
        ]
        tests = f"the {len(self.names) - self.flips} tests"
        by_all, by_any = len(self.found_by_all), len(self.found_by_any)
        return (
            f"{by_all:,} people are found by every one of {tests}, {by_any:,} by at least one.",
            *said,
        )

    def __str__(self) -> str:
        lines = [("found by (and by)", *self.names)]
        for one in self.names:
            lines.append((one, *(f"{self.overlap(one, other):,}" for other in self.names)))
        exactly = [
            f"exactly by {' and '.join(names)}: {count:,}"
            for names, count in self.patterns().items()
        ]
        title = f"k = {self.k}, counting {self.by}"
        return "\n".join([title, as_text(lines), *exactly, *self.sentences()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _judged(self, combine: Callable[[Array], Array], marked: Callable[..., Any]) -> Positions:
        """Which people stand after adjustment, by p-values or, without them, by marks?"""
        if self.p_values is None:
            marks = marked(self.found[:, : len(self.names) - self.flips], axis=1)
            return np.asarray(self.rows[marks])
        p_values = combine(self.p_values)
        known = np.isfinite(p_values)
        stands = benjamini_hochberg(p_values[known]) <= self.error
        return np.asarray(self.rows[known][stands])

    def _of(self, name: str) -> Truths:
        if name not in self.names:
            raise KeyError(f"no test is named {name!r}; there are {', '.join(self.names)}")
        return np.asarray(self.found[:, self.names.index(name)])


def compare_situations(
    tests: Mapping[str, SituationTest], *, k: int | None = None, by: By | None = None
) -> SituationComparison:
    """Who is found by which of several tests of the same data?

    `by` says what counts: discoveries after adjustment, significant evidence, or evidence; left
    out, discoveries, and evidence between tests in the replication setting. Where counterfactual
    decisions are known, counterfactual fairness stands beside the tests. Without `k` the first one
    of the first test is compared.

    >>> import causalfairness as cf
    >>> from causalfairness.datasets.loan import make_loan_application_counterfactual
    >>> loans = cf.datasets.make_loan_application(1_000, seed=0)
    >>> as_men = make_loan_application_counterfactual(1_000, seed=0, do="Male")
    >>> asked = dict(protected="gender", comparison="Female", decision="approved",
    ...     favorable=1, features=["annual_salary", "account_balance"])
    >>> both = cf.compare_situations({
    ...     "ST": cf.situation_test(loans, **asked),
    ...     "CST": cf.counterfactual_situation_test(loans, as_men, **asked)})
    >>> both.names
    ('ST', 'CST', 'counterfactual fairness')
    """
    if not isinstance(tests, Mapping) or not tests:
        raise SituationError("tests maps a name to each test, and has at least one")
    if by is None:
        published = all(isinstance(test.rule, PublishedRule) for test in tests.values())
        by = "evidence" if published else "discovery"
    if by not in get_args(By):
        raise SituationError(f"by is one of {', '.join(map(repr, get_args(By)))}; found {by!r}")
    _check_same_people(tests)
    size = next(iter(tests.values())).ks[0] if k is None else k
    marks = {name: _marked(test, test.at(size), by) for name, test in tests.items()}
    flips = _flips(tests)
    people = [test.situations.brought(test.situations.complainants) for test in tests.values()]
    rows = np.unique(np.concatenate(people))
    p_values = np.full((len(rows), len(tests)), np.nan)
    for at, (test, tested) in enumerate(zip(tests.values(), people, strict=True)):
        p_values[np.searchsorted(rows, tested), at] = _p_values(test, test.at(size))
    return SituationComparison(
        names=(*marks, *flips),
        rows=rows,
        found=np.stack([np.isin(rows, marked) for marked in (marks | flips).values()], axis=1),
        k=size,
        by=by,
        flips=len(flips),
        p_values=p_values if by == "discovery" else None,
        error=min(1 - test.rule.level for test in tests.values()),
    )


def _p_values(test: SituationTest, at: int) -> Array:
    """P-values of a difference above tau; two-sided ones are small below -tau too."""
    found = test.evidence.found[:, at] | ~test.counts.known[:, at]
    return np.where(found, test.evidence.p_value[:, at], 1.0)


def _simes(p_values: Array) -> Array:
    ranked = np.sort(p_values, axis=1)  # not tested last
    tests = np.isfinite(ranked).sum(axis=1, keepdims=True)
    scaled = ranked * tests / np.arange(1, ranked.shape[1] + 1)
    return np.asarray(np.fmin.reduce(scaled, axis=1))


def _marked(test: SituationTest, at: int, by: By) -> Positions:
    """Rows of the people that a test finds."""
    people = test.situations.complainants[test.findings[by][:, at]]
    return np.asarray(test.situations.brought(people))


def _flips(tests: Mapping[str, SituationTest]) -> dict[str, Positions]:
    """Counterfactual fairness, once for each world that decisions are known in."""
    found: dict[str, Positions] = {}
    for name, test in tests.items():
        if test.flipped is not None:
            rows = test.situations.brought(test.situations.complainants[test.flipped])
            if not any(np.array_equal(rows, known) for known in found.values()):
                found[name] = rows
    if len(found) == 1:
        return {FLIPPED: next(iter(found.values()))}
    return {f"{FLIPPED} ({name})": rows for name, rows in found.items()}


def _check_same_people(tests: Mapping[str, SituationTest]) -> None:
    (name, first), *others = tests.items()
    for other, test in others:
        if not np.array_equal(test.situations.negative, first.situations.negative):
            raise SituationError(
                f"{name} and {other} are tests of different data: their rows, or the decisions in "
                "them, differ; compare tests of one table and one decision"
            )
