"""Is a record true of this data, and what changed between two records?

Records are compared key by key: numbers up to a tolerance, lists of things with a name by that
name, all else as it is. `timings` are left out. Differences come in groups, in this order: data,
assumptions, settings, estimates, verdicts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from causalfairness.audit.record import check_record, data_section, read_record
from causalfairness.audit.result import AuditResult
from causalfairness.audit.running import run_audit
from causalfairness.audit.schema import Audit
from causalfairness.audit.study import prepare

Record = Mapping[str, Any]
Given = AuditResult | Record | str | os.PathLike[str]
TOLERANCE = 1e-6
FLOOR = 1e-9  # differences of numbers below this are none
GROUPS = ("data", "assumptions", "settings", "estimates", "verdicts")
SECTION = {
    "data": "data",
    "roles": "assumptions",
    "graph": "assumptions",
    "assumptions": "assumptions",
    "title": "settings",
    "settings": "settings",
    "asked": "settings",
    "seed": "settings",
    "model": "settings",
    "versions": "settings",
    "notes": "settings",
    "verdict": "verdicts",
}
JUDGED = ("verdict", "status", "reason", "refused_by", "judgment")
NAMES = ("name", "title", "assumption", "independence", "question", "node")
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
NOTHING = "(not there)"
LONGEST = 70  # characters of a value that is shown
SHOWN = 8  # differences of a group that are printed
BY_THE_WAY = ("source", "order")  # of the data; a record is found again whatever they are
HUGE = 1e300  # numbers beyond are the same or they are not
OTHER_DATA = "the data is not that of the record, so nothing was asked again"


@dataclass(frozen=True)
class Difference:
    """What is one thing that changed?

    >>> print(Difference("estimates", "disparity: direct: value", 0.1, 0.2))
    disparity: direct: value: 0.1 before, 0.2 now
    """

    group: str
    where: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.where}: {_shown(self.before)} before, {_shown(self.now)} now"


@dataclass(frozen=True)
class Comparison:
    """What changed between two records? Differences by group, and what else should be known.

    >>> found = Comparison((Difference("verdicts", "verdict", "satisfied", "violated"),))
    >>> found.is_same, found.first.where
    (False, 'verdict')
    >>> print(found)
    1 difference.
    verdicts
      verdict: 'satisfied' before, 'violated' now
    """

    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Do the two say the same?"""
        return not self.differences

    @property
    def first(self) -> Difference | None:
        """What is the first difference, if there is one?"""
        return self.differences[0] if self.differences else None

    def by_group(self) -> dict[str, tuple[Difference, ...]]:
        """What changed, by what it is about?

        >>> found = Comparison((Difference("verdicts", "verdict", "satisfied", "violated"),))
        >>> [group for group, differences in found.by_group().items() if differences]
        ['verdicts']
        """
        return {
            group: tuple(each for each in self.differences if each.group == group)
            for group in GROUPS
        }

    def to_records(self) -> list[dict[str, Any]]:
        """What changed, as plain data?

        >>> Comparison((Difference("data", "data: rows", 10, 11),)).to_records()
        [{'group': 'data', 'where': 'data: rows', 'before': 10, 'now': 11}]
        """
        return [asdict(each) for each in self.differences]

    def __str__(self) -> str:
        count = len(self.differences)
        lines = [f"{count:,} difference{'' if count == 1 else 's'}." if count else "No difference."]
        for group, found in self.by_group().items():
            if found:
                lines += [group, *(f"  {each}" for each in found[:SHOWN])]
                if len(found) > SHOWN:
                    lines.append(f"  ... and {len(found) - SHOWN:,} more")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__


def diff(a: Given, b: Given, *, tolerance: float = TOLERANCE) -> Comparison:
    """What changed from one record to another? Timings are left out.

    Records are results, plain data, or paths. Numbers count as the same where they differ by less
    than `tolerance`, relative to the larger one.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> roles = {"protected": "group", "reference": "blue", "comparison": "green",
    ...          "confounders": ["c1", "c2"], "mediators": ["m1"], "outcome": "y"}
    >>> audit = cf.Audit(roles=roles, questions=[{"ask": "disparity"}])
    >>> one, other = (audit.run(world.draw(1_000, seed=seed)) for seed in (0, 1))
    >>> from causalfairness.audit import diff
    >>> diff(one, one).is_same, diff(one, other).first.group
    (True, 'data')
    """
    return Comparison(tuple(_differences(_record(a), _record(b), tolerance)))


def verify(
    record: Given,
    data: Any,
    *,
    trust: bool = False,
    workers: int = 1,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """Does this data give this record? Asks all questions again, as the record says they were.

    The data may come from another engine: a path to Parquet files in place of a pandas frame. Data
    that is not the same is named at once, by its columns, and nothing is asked again. Where paths
    of models stand in the record, they are taken from its folder.

    >>> import causalfairness as cf
    >>> from causalfairness.audit import verify
    >>> world = cf.datasets.worlds.binary()
    >>> data = world.draw(1_000, seed=0)
    >>> audit = cf.Audit(questions=[{"ask": "disparity"}], roles={
    ...     "protected": "group", "reference": "blue", "comparison": "green",
    ...     "confounders": ["c1", "c2"], "mediators": ["m1"], "outcome": "y"})
    >>> record = audit.run(data).record
    >>> verify(record, data).is_same, verify(record, data.slice(1)).first.where
    (True, 'data: rows')
    """
    before = _record(record)
    audit = Audit(**before["settings"])
    if isinstance(record, str | os.PathLike):
        audit = audit.found_in(Path(record).resolve().parent)
    study = prepare(audit, data, trust=trust, workers=workers)
    found = _within("data", before["data"], data_section(study), tolerance, without=BY_THE_WAY)
    if other := tuple(Difference("data", *each) for each in found):
        return Comparison(other, (OTHER_DATA,))
    now = run_audit(audit, data, trust=trust, workers=workers, folder=None).record
    aside = (*(f"data: {key}" for key in BY_THE_WAY), "versions")
    differing = (e for e in _differences(before, now, tolerance) if not e.where.startswith(aside))
    return Comparison(tuple(differing), tuple(_remarks(before, now)))


def _record(given: Given) -> Record:
    if isinstance(given, AuditResult):
        return given.record
    if isinstance(given, str | os.PathLike):
        return read_record(given)
    return check_record(given, "this")


def _remarks(before: Record, now: Record) -> Iterator[str]:
    if before["data"].get("order") != now["data"]["order"]:
        yield "the same rows come in another order, which moves the last digits of sums and no more"
    for where, old, new in _within("", before["versions"], now["versions"], 0.0):
        yield f"{where}: {old} before, {new} now"


def _differences(a: Record, b: Record, tolerance: float) -> list[Difference]:
    return sorted(_all(a, b, tolerance), key=lambda each: GROUPS.index(each.group))


def _all(a: Record, b: Record, tolerance: float) -> Iterator[Difference]:
    for key in dict.fromkeys((*SECTION, *a, *b)):
        if key in ("timings", "answers", "schema", "warnings"):
            continue
        group = SECTION.get(key, "settings")
        for each in _within(key, a.get(key), b.get(key), tolerance):
            yield Difference(group, *each)
    one, other = (_by_name(record["answers"]) or {} for record in (a, b))
    for title in dict.fromkeys((*one, *other)):
        for where, old, new in _within(title, one.get(title), other.get(title), tolerance):
            part = where.removeprefix(title).lstrip(": ").partition(":")[0]
            yield Difference("verdicts" if part in JUDGED else "estimates", where, old, new)


def _within(
    where: str, a: Any, b: Any, tolerance: float, *, without: Sequence[str] = ()
) -> Iterator[tuple[str, Any, Any]]:
    """Every place at which two pieces of plain data differ."""
    named = [_by_name(each) for each in (a, b)]
    if named[0] is not None and named[1] is not None:
        a, b = named
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            if key not in without:
                place = f"{where}: {key}" if where else str(key)
                yield from _within(place, a.get(key, NOTHING), b.get(key, NOTHING), tolerance)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _within(f"{where}[{at}]", one, other, tolerance)
    elif not _same(a, b, tolerance):
        yield where, a, b


def _by_name(value: Any) -> dict[str, Any] | None:
    """A list of things with a name, by that name; None for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(x, Mapping) for x in value):
        return None
    for key in NAMES:
        names = [each.get(key) for each in value]
        if all(isinstance(name, str) for name in names) and len({*names}) == len(names):
            return dict(zip(names, value, strict=True))
    return None


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, float | int) and isinstance(b, float | int) and max(abs(a), abs(b)) < HUGE:
        return abs(a - b) <= max(FLOOR, tolerance * max(abs(a), abs(b)))
    if isinstance(a, str) and isinstance(b, str) and a != b and " " in a:
        return _same_words(a, b, tolerance)
    return bool(a == b)


def _same_words(a: str, b: str, tolerance: float) -> bool:
    """Sentences whose numbers were rounded from numbers that are the same."""
    if not tolerance or NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(one == other or _rounded_alike(one, other) for one, other in pairs)


def _rounded_alike(one: str, other: str) -> bool:
    """Two numbers with decimals that are one unit apart in the last of them."""
    if "." not in one or "e" in one + other or len(one) != len(other):
        return False
    unit = 10.0 ** -len(one.partition(".")[2])
    return abs(float(one.replace(",", "")) - float(other.replace(",", ""))) <= 1.001 * unit


def _shown(value: Any) -> str:
    text = value if value == NOTHING else repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
