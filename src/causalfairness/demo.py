"""What can the library say about a real data set? The COMPAS records, decomposed and explained.

    python -m causalfairness.demo

Defendants recorded as African-American reoffend on record more often than those recorded as
Caucasian. How much of that gap is direct, how much runs through the criminal record, and how much
comes along with age and sex? One estimation answers in both conventions: they are different sums
of the same twelve world means. And who bears the errors of the COMPAS score itself? All signs are
a change from Caucasian to African-American.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from causalfairness import report
from causalfairness.datasets import load_compas
from causalfairness.effects import Decomposition, Diagnostics, Effect, EffectTable
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.parity import (
    ErrorRateDecomposition,
    decompose_disparity,
    decompose_error_rates,
)
from causalfairness.tables import add_column

MODEL = StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    confounders=["age", "sex"],
    mediators=[
        "priors_count",
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "c_charge_degree",
    ],
    outcome="two_year_recid",
)
WALKS = {
    "sequential": "One path after the other, starting from the Caucasian group as it is: first the "
    "direct path is told the other race, then the criminal record, then age and sex.",
    "symmetric": "The same twelve means, other sums: among African-American defendants each path "
    "is told the other race both ways and averaged; age and sex come first.",
}
REMAINS = {
    "direct": "Remains when age, sex and criminal record are alike.",
    "indirect": "Runs through the criminal record, which differs by race at equal age and sex.",
    "spurious": "Comes along with age and sex, which differ between the groups and which race "
    "does not cause.",
}
RISKY = 4  # deciles of the COMPAS score above this one are called medium or high risk
ERRORS = {
    "fpr": ("called risky, no new offense", "without a new offense were called risky"),
    "fnr": ("called low risk, new offense", "with a new offense were called low risk"),
}
LEVEL = 0.95
WIDEST = 100  # columns; longer lines are hard to read
TRACK = 21  # columns of an interval drawn as a line


def main(console: Console | None = None, folder: Path | None = None) -> None:
    """What does the library say about COMPAS? Prints gaps, errors, caveats and assumptions.

    With a folder, the findings are also written there as `report.html`.

    >>> import io
    >>> page = Console(file=io.StringIO(), width=80)
    >>> main(page)
    >>> "symmetric" in page.file.getvalue()
    True
    """
    page = console or Console()
    width = min(page.width, WIDEST)
    page.print(_opening(), width=width)
    compas = load_compas()
    found = decompose_disparity(compas, MODEL)
    for view in (found, replace(found, convention="symmetric")):
        page.print(_findings(view, ascii_only=page.options.ascii_only), width=width)
    page.print(_errors(error_rates(compas), ascii_only=page.options.ascii_only), width=width)
    page.print(_caveats(found.diagnostics), width=width)
    if folder is not None:
        path = report.write_html(
            found, folder / "report.html", model=MODEL, source="dataset:compas", seed=0
        )
        page.print(Text(f"\nThe whole study, to read and to hand on: {path}"), width=width)


def error_rates(compas: Any) -> dict[str, ErrorRateDecomposition]:
    """How do the errors of the COMPAS score itself fall on the two groups?"""
    risky = np.asarray(compas["decile_score"]) > RISKY
    data, column = add_column(compas, risky, name="risky")
    model = replace(MODEL, prediction=column)
    return {rate: decompose_error_rates(data, model, rate, with_mediators=True) for rate in ERRORS}


def _opening() -> RenderableType:
    question = (
        f"Why do more {MODEL.comparison_label} than {MODEL.reference_label} defendants reoffend "
        "on record?"
    )
    about = (
        "A new offense recorded within two years, among defendants of Broward County, Florida, "
        "scored with COMPAS in 2013 and 2014 (the sample of ProPublica's analysis)."
    )
    roles = Table.grid(padding=(0, 2))
    roles.add_row("confounders", ", ".join(MODEL.confounders))
    roles.add_row("mediators", ", ".join(MODEL.mediators))
    return Group("", Text(question, style="bold"), about, "", Padding(roles, (0, 0, 0, 2)))


def _findings(found: Decomposition, *, ascii_only: bool) -> RenderableType:
    rows = found.summary(LEVEL)
    scale = _Scale.around(rows, ascii_only=ascii_only)
    table = Table(box=None, padding=(0, 2, 1, 0), pad_edge=False, show_edge=False)
    table.add_column("part")
    table.add_column("value", justify="right")
    table.add_column(f"{LEVEL:.0%} interval", min_width=TRACK)
    table.add_column("in words", ratio=1)
    for part in rows:
        low, high = part.interval(LEVEL)
        drawn = Text.assemble(f"{low:+.3f} to {high:+.3f}\n", (scale.draw(part), _color(part)))
        name = Text(part.name.replace("_", " "), style="bold")
        table.add_row(name, f"{part.value:+.3f}", drawn, _words(part, found))
    title = Rule(f"[bold]{found.convention}", align="left", characters="-" if ascii_only else "─")
    return Group("", title, WALKS[found.convention], "", Padding(table, (0, 0, 0, 2)))


def _errors(found: dict[str, ErrorRateDecomposition], *, ascii_only: bool) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("part")
    for heading, _ in ERRORS.values():
        table.add_column(heading)
    for name in ("total", "direct", "indirect", "spurious"):
        cells = []
        for rate in ERRORS:
            part = getattr(found[rate], name)
            low, high = part.interval(LEVEL)
            cells.append(f"{part.value:+.3f} ({low:+.3f} to {high:+.3f})")
        table.add_row(Text(name, style="bold"), *cells)
    words = [_shares(found[rate], words) for rate, (_, words) in ERRORS.items()]
    extra = found["fpr"].diagnostics.assumptions[-1].replace("two_year_recid = 0", "either outcome")
    title = Rule("[bold]error rates", align="left", characters="-" if ascii_only else "─")
    about = (
        "The COMPAS score sorts people into deciles; from the fifth on they are called medium or "
        "high risk. The same paths explain who is wrongly called risky, and who wrongly is not:"
    )
    assumes = f"Assumes, besides the lines below, that {extra}."
    return Group("", title, about, "", Padding(table, (0, 0, 1, 2)), *words, "", assumes)


def _shares(found: ErrorRateDecomposition, words: str) -> str:
    reference, comparison = found.world_means[0, 0, 0], found.world_means[1, 1, 1]
    return (
        f"{comparison.value:.1%} of {MODEL.comparison_label} defendants {words}, against "
        f"{reference.value:.1%} of {MODEL.reference_label} ones."
    )


def _words(part: Effect, found: Decomposition) -> str:
    if part.name == "total":
        reference, comparison = found.world_means[0, 0, 0], found.world_means[1, 1, 1]
        return (
            f"{comparison.value:.1%} of {found.comparison} defendants, against "
            f"{reference.value:.1%} of {found.reference} ones."
        )
    low, high = part.interval(LEVEL)
    if low <= 0 <= high:
        return (
            f"Consistent with no {part.name} effect above {max(-low, high):.3f}, under the "
            "assumptions below."
        )
    return REMAINS[part.name]


def _color(part: Effect) -> str:
    low, high = part.interval(LEVEL)
    return "dim" if low <= 0 <= high else "cyan"


@dataclass(frozen=True)
class _Scale:
    """Where on a line of text does a number stand?"""

    low: float
    high: float
    ascii_only: bool

    @classmethod
    def around(cls, rows: EffectTable, *, ascii_only: bool) -> _Scale:
        ends = [end for name in rows.names for end in rows.interval(name)]
        return cls(min(0.0, *ends), max(0.0, *ends), ascii_only)

    def draw(self, part: Effect) -> str:
        """An interval as a line with a dot, and zero as a mark."""
        apart, zero, line, crossed, dot = " :-+o" if self.ascii_only else " ┊─┼●"
        low, high = part.interval(LEVEL)
        track = [apart] * TRACK
        for at in range(self._place(low), self._place(high) + 1):
            track[at] = line
        at_zero = self._place(0.0)
        track[at_zero] = crossed if track[at_zero] == line else zero
        track[self._place(part.value)] = dot
        return "".join(track)

    def _place(self, value: float) -> int:
        return round((value - self.low) / (self.high - self.low) * (TRACK - 1))


def _caveats(diagnostics: Diagnostics) -> RenderableType:
    learned = [model for model in diagnostics.learners if model.loss < model.baseline]
    facts = Table.grid(padding=(0, 2))
    facts.add_row("estimator", escape(diagnostics.estimator.partition("(")[0]))
    facts.add_row("chosen because", escape(diagnostics.chosen_because))
    facts.add_row("rows", escape(str(diagnostics.rows)))
    facts.add_row("overlap", escape(str(diagnostics.overlap)))
    facts.add_row(
        "models",
        f"{len(learned)} of {len(diagnostics.learners)} predict unseen people better than a mean",
    )
    for note in diagnostics.notes:
        facts.add_row("note", escape(note))
    about_data = (
        'About the data: an offense on record is not an offense; datasets.describe("compas") says '
        "this and more."
    )
    return Group(
        "",
        Text("How much to trust this", style="bold"),
        Padding(facts, (0, 0, 1, 2)),
        Text("True only if", style="bold"),
        *(Padding(line, (0, 0, 0, 2)) for line in _bullets(diagnostics.assumptions)),
        "",
        Text(about_data),
    )


def _bullets(lines: Iterable[str]) -> Iterable[RenderableType]:
    for line in lines:
        bullet = Table.grid(padding=(0, 1))
        bullet.add_row("-", escape(line))
        yield bullet


if __name__ == "__main__":
    main(folder=Path())
