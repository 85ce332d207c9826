"""Rows of the table of trust, from outcomes of draws, and how pages show them.

    coverage   share of intervals that hold the truth, among draws that do not warn of themselves
    bias       mean error over the standard deviation of the values
    se / sd    mean standard error over that standard deviation
    found      share of tests that found something: the level where nothing is there, else the power

A row is short where so few intervals hold the truth, or so many tests find what is not there, as
chance brings about once in a hundred tables at the nominal rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from benchmarks.coverage.cell import Cell, Estimated, Outcome, Tested

SELDOM = 0.01
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
HEADINGS = (
    *("call", "world", "part", "coverage", "bias / sd", "se / sd", "level", "power", "warned"),
    *("refused", "draws", "error", "CPU s"),
)


class Row(NamedTuple):
    """What came of one part of one cell."""

    call: str
    world: str
    part: str
    page: str
    coverage: float | None
    bias: float | None
    ratio: float | None
    level: float | None
    power: float | None
    warned: float
    refused: float
    draws: int
    error: float
    seconds: float
    short: bool


def rows_of(cell: Cell, outcomes: Sequence[Outcome], seconds: float) -> list[Row]:
    """The rows of a cell; draws without an outcome were refused.

    >>> cell = Cell("mean", "coin", lambda seed: {}, draws=2)
    >>> (row,) = rows_of(cell, [{"mean": Estimated(0.1, 0.1, -0.1, 0.3, 0.0)}, {}], 1.5)
    >>> row.coverage, row.refused, row.seconds
    (1.0, 0.5, 0.75)
    """
    answered = [outcome for outcome in outcomes if outcome]
    parts = dict.fromkeys(part for outcome in answered for part in outcome) or {"": None}
    return [
        _row(cell, part, [each[part] for each in answered if part in each], len(outcomes), seconds)
        for part in parts
    ]


def _row(
    cell: Cell, part: str, found: Sequence[Estimated | Tested], draws: int, seconds: float
) -> Row:
    told: dict[str, Any] = dict.fromkeys(("coverage", "bias", "ratio", "level", "power"))
    warned, judged, short = 0.0, len(found), not found
    tests = [each for each in found if isinstance(each, Tested)]
    intervals = [each for each in found if isinstance(each, Estimated)]
    if tests:
        hits = sum(each.found for each in tests)
        told["power" if tests[0].there else "level"] = hits / len(tests)
        chance = binom.sf(hits - 1, len(tests), 1 - cell.level)
        short = not tests[0].there and bool(chance < SELDOM)
    if intervals:
        kept = [each for each in intervals if each.settled is not False]
        judged, warned = len(kept), 1 - len(kept) / len(intervals)
        hits = sum(each.low <= each.truth <= each.high for each in kept)
        short = bool(kept) and bool(binom.cdf(hits, len(kept), cell.level) < SELDOM)
        told |= {"coverage": hits / len(kept) if kept else None} | _errors(intervals)
    error = math.sqrt(cell.level * (1 - cell.level) / judged) if judged else math.nan
    shares = {"warned": warned, "refused": 1 - len(found) / draws}
    about = {"draws": draws, "error": error, "seconds": seconds / draws, "short": short}
    return Row(cell.call, cell.world, part, cell.page, **told, **shares, **about)


def _errors(found: Sequence[Estimated]) -> dict[str, float | None]:
    """Bias and standard errors in units of the standard deviation of the values."""
    values, truths, errors = np.array([(e.value, e.truth, e.standard_error) for e in found]).T
    spread = float((values - truths).std(ddof=1)) if len(values) > 1 else 0.0
    if spread == 0:
        return {"bias": None, "ratio": None}
    return {"bias": float((values - truths).mean()) / spread, "ratio": errors.mean() / spread}


def table(rows: Iterable[Row]) -> str:
    """Rows in Markdown; a number that is short stands out."""
    heads = ["| " + " | ".join(HEADINGS) + " |", "|" + " --- |" * len(HEADINGS)]
    return "\n".join([*heads, *map(_line, rows)])


def _line(row: Row) -> str:
    bad = '<strong style="color:#b2182b">{}, short</strong>' if row.short else "{}"
    numbers = [
        bad.format(_share(row.coverage)) if row.coverage is not None else "",
        *("" if each is None else f"{each:+.2f}" for each in (row.bias,)),
        *("" if each is None else f"{each:.2f}" for each in (row.ratio,)),
        bad.format(_share(row.level)) if row.level is not None else "",
        _share(row.power),
        _share(row.warned or None),
        _share(row.refused or None),
        f"{row.draws:,}",
        _share(row.error),
        f"{row.seconds:.2g}",
    ]
    return "| " + " | ".join([row.call, row.world, row.part, *numbers]) + " |"


def _share(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.3f}"


def written_into(text: str, rows: Sequence[Row], missing: Sequence[str] = ()) -> str:
    """A page with the rows that belong to it between its marks; without marks as it is.

    `missing` are the cells that were not drawn yet.

    >>> written_into("no marks", [])
    'no marks'
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        return text
    told = f"\n\nNot drawn yet: {'; '.join(missing)}." if missing else ""
    return f"{before}{BEGIN}\n\n{table(rows)}{told}\n\n{END}{after}"


def write_pages(
    kept: Mapping[str, Sequence[Row]], docs: Path, missing: Sequence[str] = ()
) -> list[Path]:
    """Write all rows into `coverage.md`, and into each page its own. Returns what changed."""
    rows = [row for name in sorted(kept) for row in kept[name]]
    changed = []
    for name in ("coverage", *sorted({row.page for row in rows})):
        path = docs / f"{name}.md"
        before = path.read_text("utf-8")
        own = [row for row in rows if name in ("coverage", row.page)]
        after = written_into(before, own, missing if name == "coverage" else ())
        if after != before:
            path.write_text(after, "utf-8")
            changed.append(path)
    return changed
