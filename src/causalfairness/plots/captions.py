"""Which sentence does a picture support? In plain words, with intervals and assumptions.

A caption says what was found and how sure one can be, and under which assumptions. Where an
interval includes zero it says what the data are consistent with. It gives no verdict.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from causalfairness.effects import Decomposition, Effect, EffectTable
from causalfairness.inference import Interval
from causalfairness.parity import NecessityReport
from causalfairness.plots.numbers import Unit, in_percent
from causalfairness.plots.parts import (
    COMPARABLE,
    Names,
    Series,
    paths_of,
    remainder_of,
    rows_of,
    series_of,
)

LONGEST_NAME = 60
LISTED = 4  # effects named one by one; more are counted


def waterfall_caption(
    found: Decomposition, *, level: float = 0.95, percent: bool | None = None
) -> str:
    """Which sentence does the waterfall support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary().without("direct")
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=1), world.model)
    >>> print(waterfall_caption(found))
    Mean y is ...% for blue and ...% for green: a gap of ... points (95% interval ... to ...).
    Of it, ... is direct (... to ..., consistent with no direct effect above ... points), ...
    """
    unit = unit_of([found], percent)
    start, end = found.world_means[0, 0, 0], found.world_means[1, 1, 1]
    rest = remainder_of(found)
    whom = "" if rest is None else f" ({COMPARABLE[rest.name]})"
    low, high = found.total.interval(level)
    gap = (
        f"Mean {brief(found.what)} is {unit.level(start.value)} for {brief(found.reference)} and "
        f"{unit.level(end.value)} for {brief(found.comparison)}{whom}: a gap of "
        if rest is None
        else f"Mean {brief(found.what)}{whom} is {unit.level(start.value)} for "
        f"{brief(found.reference)} and {unit.level(end.value)} for {brief(found.comparison)}. "
        "The plain gap between all of them is "
    )
    gap += (
        f"{unit.spoken(found.total.value)} ({percentage(level)} interval {unit.change(low)} to "
        f"{unit.change(high)}{_none_above('gap', Interval(low, high), unit)})."
    )
    parts = [*paths_of(found), *([] if rest is None else [rest])]
    shares = _listed([_share(part, level, unit) for part in parts])
    return f"{gap} Of it, {shares}, {_under([found])}"


def forest_caption(table: EffectTable, *, names: Names = None, percent: bool = False) -> str:
    """Which sentence does the forest plot support?

    >>> import numpy as np
    >>> from causalfairness.effects import Basis
    >>> gap = Effect("gap", 0.2, np.array([0.05]), Basis("3f9a", "rows"))
    >>> print(forest_caption(EffectTable((gap,))))
    At the 95% level the interval excludes zero for 1 of 1 effects: gap +0.200 (+0.102 to +0.298),
    under the stated assumptions.
    """
    rows = rows_of(table, names)
    unit = Unit.of([row.effect.value for row in rows], percent=percent)
    apart = [row for row in rows if not row.interval.low <= 0 <= row.interval.high]
    open_ = [row for row in rows if row not in apart]
    together = "" if table.reach is None else ", with intervals that hold all together,"
    text = (
        f"At the {percentage(table.level)} level{together} the interval excludes zero for "
        f"{len(apart)} of {len(rows)} effects"
    )
    if apart:
        largest = sorted(apart, key=lambda row: -abs(row.effect.value))[:LISTED]
        some = ", the largest of them" if len(apart) > LISTED else ""
        text += f"{some}: " + _listed(
            [f"{brief(row.name)} {_value(row.effect, row.interval, unit)}" for row in largest]
        )
    if open_:
        widest = max(open_, key=lambda row: max(-row.interval.low, row.interval.high))
        bound = unit.size(max(-widest.interval.low, widest.interval.high))
        whose = "That of" if len(open_) == 1 else "Of the others, that of"
        wide = "" if len(open_) == 1 else "reaches farthest and "
        text += f". {whose} {brief(widest.name)} {wide}is consistent with no effect above {bound}"
    return f"{text}, {_assuming(_assumptions_of_effects(table))}"


def side_by_side_caption(
    found: Sequence[Decomposition] | Mapping[str, Decomposition],
    *,
    level: float = 0.95,
    percent: bool | None = None,
) -> str:
    """Which sentence do decompositions side by side support?

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=1), world.model)
    >>> print(side_by_side_caption({"once": found, "again": found}))
    Total: once ... (... to ...) and again ... (... to ...), in percentage points. Direct: ...
    """
    series = series_of(found)
    unit = unit_of([each.found for each in series], percent)
    points = ", in percentage points" if unit.percent else ""
    sentences = []
    for part in parts_of(series):
        values = [
            f"{brief(each.name)} {_value(effect, effect.interval(level), unit)}"
            for each in series
            if (effect := each.part(part))
        ]
        sentences.append(f"{part.replace('_', ' ').capitalize()}: {_listed(values)}{points}.")
        points = ""
    caution = (
        f"Each interval ({percentage(level)}) is that of one bar: whether two bars differ is a "
        "question about their difference."
    )
    under = _under([each.found for each in series])
    return " ".join([*sentences, caution, under[0].upper() + under[1:]])


def necessity_caption(found: NecessityReport) -> str:
    """Which sentences does the picture of business necessity support? Those of the report.

    >>> import causalfairness as cf
    >>> model = cf.StandardFairnessModel(
    ...     protected="sex", reference="Male", comparison="Female",
    ...     outcome="two_year_recid", prediction="is_recid")
    >>> found = cf.check_business_necessity(cf.datasets.load_compas(), model, allowed={"spurious"})
    >>> print(necessity_caption(found))
    The direct path is not allowed. The prediction's effect along it is ...
    """
    stated = "; ".join(found.assumptions)
    return " ".join([*found.sentences(), f"Assumptions: {stated}." if stated else ""]).strip()


def parts_of(series: Sequence[Series]) -> list[str]:
    """Which parts are shown? Remainders only where there is one."""
    rests = [rest.name for each in series if (rest := remainder_of(each.found))]
    return ["total", "direct", "indirect", "spurious", *dict.fromkeys(rests)]


def unit_of(all_found: Sequence[Decomposition], percent: bool | None) -> Unit:
    """Which unit do decompositions share? Percent where all of them can be read so."""
    chosen = all(map(in_percent, all_found)) if percent is None else percent
    parts = [part.value for found in all_found for part in (found.total, *paths_of(found))]
    return Unit.of(parts, percent=chosen)


def brief(name: str) -> str:
    """How is a name written within a sentence? On one line, shortened in the middle.

    >>> len(brief("x" * 10_000)) <= LONGEST_NAME
    True
    """
    text = " ".join(name.split()) or "(no name)"
    if len(text) > LONGEST_NAME:
        half = (LONGEST_NAME - 1) // 2
        text = f"{text[:half].rstrip()}…{text[-half:].lstrip()}"
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text):
        return f"\u2068{text}\u2069"  # keeps its direction from spreading to the numbers beside it
    return text


def percentage(level: float) -> str:
    """How is a level of confidence written?

    >>> percentage(0.95), percentage(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * level:.6g}%"


def _share(part: Effect, level: float, unit: Unit) -> str:
    low, high = interval = part.interval(level)
    name = part.name.replace("_", " ")
    if part.value == 0 and part.standard_error == 0:
        return f"nothing is {name}"
    effect = f"{name} effect" if name in ("direct", "indirect", "spurious") else name
    between = f"{unit.change(low)} to {unit.change(high)}{_none_above(effect, interval, unit)}"
    return f"{unit.change(part.value)} is {name} ({between})"


def _none_above(what: str, interval: Interval, unit: Unit) -> str:
    low, high = interval
    if not low <= 0 <= high:
        return ""
    return f", consistent with no {what} above {unit.size(max(-low, high))}"


def _value(effect: Effect, interval: Interval, unit: Unit) -> str:
    low, high = map(unit.change, interval)
    return f"{unit.change(effect.value)} ({low} to {high})"


def _under(all_found: Sequence[Decomposition]) -> str:
    stated = [text for found in all_found for text in found.diagnostics.assumptions]
    return _assuming(stated)


def _assuming(stated: Iterable[str]) -> str:
    listed = "; ".join(dict.fromkeys(stated))
    return f"under the stated assumptions{f': {listed}' if listed else ''}."


def _assumptions_of_effects(table: EffectTable) -> list[str]:
    return sorted({text for effect in table for text in effect.assumptions})


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
