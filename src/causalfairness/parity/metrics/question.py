"""Do groups fare differently, by the plain metrics that people expect? (methods §13)

Selection rates and their ratio to the highest one, with the four-fifths screen; error rates;
calibration; means and errors where the outcome is a number. Gaps are a group minus the reference,
ratios a group over the highest. Nothing here is causal: groups differ, and why is not said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

from causalfairness.effects.table import as_html, as_section, as_text
from causalfairness.errors import OutcomeError, RoleError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference.intervals import normal_reach
from causalfairness.parity.metrics.decisions import decision_of
from causalfairness.parity.metrics.hiding import without_few
from causalfairness.parity.metrics.partitions import Partition, partitions_of
from causalfairness.parity.metrics.records import (
    calibration_records,
    extreme_records,
    gap_records,
    number,
    rate_records,
    ratio_records,
    screen_records,
)
from causalfairness.parity.metrics.rows import People, read_people
from causalfairness.parity.metrics.sums import Sums, add_up
from causalfairness.parity.metrics.table import MetricTable, Record
from causalfairness.parity.metrics.words import (
    CAUTION,
    GROUPS_DIFFER,
    SCREEN,
    page_tables,
    sentences_about,
)
from causalfairness.tables import Missing, RowAccount

TURNED = (
    "a positive is what people want, which is 0 here: a false negative rate of this table is what "
    "error rates of the value that counts as 1 call a false positive rate, and the other way round"
)
Records = Callable[[Partition, float, int], Iterator[Record]]


class Measured(NamedTuple):
    """How large is one metric in one group? None where there is nobody to have it.

    >>> Measured(0.5, 0.2, 0.8, 10).people
    10
    """

    value: float | None
    low: float | None
    high: float | None
    people: int


@dataclass(frozen=True, eq=False)
class GroupMetrics:
    """Do groups fare differently, by the plain metrics that people expect?

    Tables hold one row per group and metric, for each protected attribute alone and for all of them
    together. `found[group]` holds the metrics of one group. `absent` says of metrics that are not
    there why; `about` says what each one speaks of; `partitions` holds the numbers as arrays.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="income", outcome_value=">50K", favorable=">50K")
    >>> found = cf.group_metrics(cf.datasets.load_adult(), model)
    >>> round(found["Female"]["selection_rate"].value, 4)
    0.1093
    >>> row = found.screen().where(group="Female").to_records()[0]
    >>> round(row["ratio"], 3), row["reading"], row["by_chance"]
    (0.36, 'below', 0.0)
    """

    about: Mapping[str, str]  # what each metric speaks of, in words
    partitions: tuple[Partition, ...]
    level: float
    smallest: int
    absent: Mapping[str, str]
    account: RowAccount
    notes: tuple[str, ...] = ()
    whole: bool = True  # False where something was left out, since it is of few people

    def table(self) -> MetricTable:
        """How large is every metric in every group, and how sure are we?"""
        return self._collect(rate_records)

    def gaps(self) -> MetricTable:
        """How far is every group from the reference? Group minus reference."""
        return self._collect(gap_records)

    def ratios(self) -> MetricTable:
        """Which share of the highest rate does every group have?

        The ratio of the selection rates is the impact ratio.
        """
        if not any(metric not in self.absent for metric in ("selection_rate", "base_rate")):
            raise OutcomeError(f"there are no rates: {self.absent['selection_rate']}")
        return self._collect(ratio_records)

    def extremes(self) -> MetricTable:
        """How far apart are the groups at most? Highest minus lowest, and lowest over highest.

        These are the `difference` and the `ratio` of fairlearn: of the selection rate, demographic
        parity; of `tpr`, equal opportunity; `equalized_odds` is the worse of `tpr` and `fpr`.
        Intervals allow for having picked the two groups after looking.
        """
        return self._collect(extreme_records)

    def screen(self) -> MetricTable:
        """Which groups are selected at less than four fifths of the highest rate?

        A screen says where to look, and is no verdict. `reading` says whether the interval lies on
        one side of 0.8; `by_chance` and `any_by_chance` how often chance alone would flag this
        group, and some group, were all rates equal.
        """
        if "selection_rate" in self.absent:
            raise OutcomeError(f"there is no selection rate: {self.absent['selection_rate']}")
        return self._collect(screen_records)

    def calibration(self) -> MetricTable:
        """How often does a score come true in each group? Bins are the same in all groups."""
        if "calibration" in self.absent:
            raise OutcomeError(f"there is no calibration: {self.absent['calibration']}")
        return self._collect(calibration_records)

    def sentences(self) -> tuple[str, ...]:
        """What do the numbers say, in plain words?"""
        asked = self.about, self.level, self.smallest
        said = chain.from_iterable(sentences_about(part, *asked) for part in self.partitions)
        closing = CAUTION if self.whole else GROUPS_DIFFER
        return *said, *([] if "selection_rate" in self.absent else [SCREEN]), closing

    def without_few(self, smallest: int, *, whole: bool = True) -> GroupMetrics:
        """Return the metrics without those that tell of fewer people than `smallest`.

        `whole` is False where groups were left out before.
        """
        found = (without_few(part, smallest) for part in self.partitions)
        parts, said = zip(*found, strict=True)
        notes = (*self.notes, *chain.from_iterable(said))
        return replace(self, partitions=parts, notes=notes, whole=whole and not any(said))

    def __getitem__(self, group: Any) -> Mapping[str, Measured]:
        found = [part for part in self.partitions if group in (*part.groups, *part.names)]
        if not found:
            names = [name for part in self.partitions for name in part.names]
            raise KeyError(f"no group {group!r}; there are {'; '.join(names)}")
        if len(found) > 1:
            raise KeyError(
                f"{group!r} is a group by {' and by '.join(part.attribute for part in found)}; "
                "say which: found.table().where(by=..., group=...)"
            )
        return _measured(found[0], group, self.level)

    def __str__(self) -> str:
        tables = [line for table in self._tables() for line in (as_text(table), "")]
        return "\n".join([self._title, *tables, *self.sentences(), *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = "".join(as_html(table) for table in self._tables())
        return as_section(self._title, tables, self.sentences(), "\n".join(self._remarks()))

    @property
    def _title(self) -> str:
        reference, first = self.partitions[-1].reference, next(iter(self.partitions[0].measures))
        return (
            f"{self.about[first]}: {self.account.used:,} people, reference {reference}, "
            f"{100 * self.level:.6g}% intervals"
        )

    def _tables(self) -> Iterator[list[list[str]]]:
        tables = (page_tables(part, self.level, self.smallest) for part in self.partitions)
        return chain.from_iterable(tables)

    def _remarks(self) -> list[str]:
        reasons: dict[str, list[str]] = {}
        for metric, reason in self.absent.items():
            reasons.setdefault(reason, []).append(metric)
        missing = [f"not given: {', '.join(names)}: {why}" for why, names in reasons.items()]
        return [f"rows: {self.account}", *missing, *(f"note: {note}" for note in self.notes)]

    def _collect(self, records: Records) -> MetricTable:
        found = (records(part, self.level, self.smallest) for part in self.partitions)
        return MetricTable(tuple(chain.from_iterable(found)))


def group_metrics(
    data: Any,
    model: StandardFairnessModel,
    *,
    groups: Sequence[Any] | None = None,
    threshold: float | None = None,
    favorable: Any = None,
    level: float = 0.95,
    bins: int = 10,
    smallest: int = 30,
    missing: Missing = "refuse",
) -> GroupMetrics:
    """Do groups fare differently, by the plain metrics that people expect?

    `data` is a pandas, polars or pyarrow table, a DuckDB relation, or a path to CSV or Parquet
    files. The question is about the prediction of the model, held against its outcome; without a
    prediction, about the outcome. `groups=None` takes every group; the reference is always among
    them. `threshold` says from which score on someone is selected, `favorable` what people want (0
    where 1 means trouble), unless the model does; all rates are about that value. Without it there
    is no selection rate, and the others are about 1. `bins` cut the scores for calibration.
    Groups of fewer than `smallest` people are marked, never pooled or left out.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="race", reference="Caucasian", comparison=None,
    ...     outcome="two_year_recid", prediction="decile_score")
    >>> races = ["Caucasian", "African-American"]
    >>> found = cf.group_metrics(cf.datasets.load_compas(), model, groups=races, threshold=5)
    >>> print(found.gaps().where(metric="fpr"))
    by    group             reference  metric  value    low   high
    race  African-American  Caucasian  fpr     0.203  0.169  0.237
    """
    normal_reach(level)
    model = model.wanting(favorable)
    people = read_people(data, model, groups, missing)
    decision = decision_of(people, model, threshold)
    if not (decision.rates or decision.values):
        raise RoleError(f"there is nothing to measure: {decision.absent['selection_rate']}")
    sums = add_up(people, decision, bins=bins)
    return GroupMetrics(
        about=decision.about,
        partitions=partitions_of(people.groups, sums, decision, model, single=groups is None),
        level=level,
        smallest=smallest,
        absent=decision.absent,
        account=people.account,
        notes=(
            *([TURNED] if people.wants_one is False and "tpr" in decision.rates else []),
            *_notes(people, sums, model, bins=bins, chosen=groups is not None),
        ),
    )


def _measured(part: Partition, group: Any, level: float) -> dict[str, Measured]:
    at = (part.groups if group in part.groups else part.names).index(group)
    found = {}
    for metric, measure in part.measures.items():
        low, high = measure.interval(level)
        found[metric] = Measured(
            number(measure.value[at]), number(low[at]), number(high[at]), int(measure.people[at])
        )
    return found


def _notes(
    people: People,
    sums: Sums,
    model: StandardFairnessModel,
    *,
    bins: int,
    chosen: bool,
) -> Iterator[str]:
    """What was done that a reader must know?"""
    if people.prediction is None:
        yield "the model names no prediction: rates are those of the outcome itself"
    if people.weights is not None:
        size = float(people.weights.sum() ** 2 / (people.weights**2).sum())
        yield (
            f"rows count by {model.weights}: intervals are those of the effective number of people "
            f"(Kish), in all {size:,.0f} for {len(people):,} rows"
        )
    if people.weightless:
        yield f"{people.weightless:,} rows of weight 0 count for nothing"
    if sums.calibration is not None and (found := len(sums.calibration.edges) - 1) < bins:
        yield f"many people share a score: {found} bins for calibration instead of {bins}"
    if sums.calibration is not None and not sums.calibration.of_chances:
        yield "scores are no chances between 0 and 1: no expected calibration error"
    if model.reference is None:
        yield f"{model.comparison_label} is held against everyone else together, as the model says"
    if chosen and len(model.protected_columns) > 1:
        yield "single attributes are left out, since only some of their people were asked about"
