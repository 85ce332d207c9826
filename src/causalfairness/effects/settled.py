"""Whether the models behind a decomposition have settled, by what they leave unexplained.

Each weighted mean behind a part may be off by what models of weights and of the outcome miss
together. Smooth functions of the columns measure it (`estimators.remainder`). The models are not
settled if in one of these means it exceeds half a standard error of the part and 2.5 of its own;
the part is the direct one where mediators are weighted, and the spurious one elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from causalfairness.effects.contrasts import PARTS, Convention
from causalfairness.effects.diagnostics import Remainder
from causalfairness.effects.effect import Effect, worst
from causalfairness.effects.world_means import Estimate

MOST_OF_PART, MOST_OF_OWN = 0.5, 2.5  # standard errors: of the part, and of what was measured
FIRST = {"mediators": ("direct", "indirect"), "confounders": ("spurious", "direct", "indirect")}
UNSETTLED = (
    "The models have not caught how the confounders act: what they leave unexplained still differs "
    "between the groups and would move {parts}. Intervals are too narrow. Give better learners "
    "(outcome=, group=) or more rows."
)
UNCHECKED = (
    "{rows:,} rows in the smaller group for {columns} columns: too few to check the models; "
    "standard errors may be a quarter too small (DoublyRobust(spread='jackknife') finds out)"
)


class Moved(NamedTuple):
    """By how much a part would move, were a remainder subtracted; None where it is not known."""

    part: str
    by: float | None
    errors: float  # the same in standard errors of the part
    status: bool | None


def told(estimate: Estimate, convention: Convention) -> Estimate:
    """Return the estimate with what the alarm says about the parts of this convention."""
    moved = [*_moved(estimate, convention)]
    status, notes = worst(each.status for each in moved), estimate.diagnostics.notes
    if status is False:
        alarming = [each for each in moved if each.status is False]
        largest = {each.part: each for each in sorted(alarming, key=lambda each: each.errors)}
        parts = [
            f"the {part} part by about {each.by:+.2g} ({each.errors:.1f} standard errors)"
            for part, each in largest.items()
        ]
        notes = (UNSETTLED.format(parts=" and ".join(parts)), *notes)
    elif status is None:
        few = [each for each in estimate.diagnostics.remainders if each.smooth is None]
        most = max(few, key=lambda each: each.columns)
        notes = (*notes, UNCHECKED.format(rows=most.rows, columns=most.columns))
    return replace(estimate, diagnostics=replace(estimate.diagnostics, settled=status, notes=notes))


def part(estimate: Estimate, name: str, convention: Convention) -> Effect:
    """Return one part, which says whether the models behind all of them have settled."""
    effect = estimate.world_means.combine(PARTS[convention][name].terms, name)
    return replace(effect, settled=estimate.diagnostics.settled)


def _moved(estimate: Estimate, convention: Convention) -> Iterator[Moved]:
    """What each remainder behind a part would do to it."""
    parts = PARTS[convention]
    for each in estimate.diagnostics.remainders:
        shares = {name: _share(parts[name].terms, each) for name in FIRST[each.weighted]}
        behind = next((name for name, share in shares.items() if share), None)
        if behind is None:
            continue
        if each.smooth is None or each.smooth_error is None:
            yield Moved(behind, None, 0.0, None)
            continue
        effect = estimate.world_means.combine(parts[behind].terms, behind)
        by, own = -shares[behind] * each.smooth, abs(shares[behind]) * each.smooth_error
        error = effect.standard_error
        alarming = abs(by) > max(MOST_OF_PART * error, MOST_OF_OWN * own)
        yield Moved(behind, by, abs(by) / error if error else 0.0, not alarming)


def _share(terms: Mapping[Any, float], remainder: Remainder) -> float:
    """How often a part counts the world means that this remainder is in."""
    return sum((terms.get(world, 0.0) for world in remainder.worlds), 0.0)
