"""Does the audited model use the mediators? Told from the model itself, or from its decisions.

A model at hand is asked again with the mediators dealt out anew among people: if no decision
changes, it does not listen to them. Of a column of decisions one can only see whether people alike
in group and confounders are decided about alike; where hardly anyone has such a counterpart, it
cannot be told, and the mediators count as used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from causalfairness.parity.yes_or_no import NOTHING, Decide, Decided
from causalfairness.tables.telling import dealt_anew

DEALS = 5  # how often the mediators are dealt out anew
TELLING = 0.5  # share of people that must have a counterpart with other mediators


class Reliance(NamedTuple):
    """Are the mediators used, and how is that known?"""

    uses_mediators: bool
    because: str


def reliance_on_mediators(decided: Decided, seed: int) -> Reliance:
    """Does the audited model use the mediators?"""
    if decided.decide is not None:
        return _ask(decided, decided.decide, seed)
    return _compare(decided)


def _ask(decided: Decided, decide: Decide, seed: int) -> Reliance:
    pair = decided.people()
    people = pair.features()
    before, changed = decide(people), np.zeros(len(pair), dtype=bool)
    for rng in np.random.default_rng(seed).spawn(DEALS):
        order = rng.permutation(len(pair))
        changed |= decide(dealt_anew(people, decided.model.mediators, order)) != before
    if changed.any():
        return Reliance(
            True,
            f"{int(changed.sum()):,} of {len(pair):,} decisions change when the mediators are "
            f"dealt out anew among people {DEALS} times",
        )
    return Reliance(
        False,
        f"none of {len(pair):,} decisions changes when the mediators are dealt out anew among "
        f"people {DEALS} times",
    )


def _compare(decided: Decided) -> Reliance:
    asked = replace(decided.model, outcome=None)
    pair = decided.table.cells(asked, "prediction").pair(asked)
    alike = pair.group.astype(np.int64) * len(pair.stratum) + pair.stratum[pair.profile]
    sums, size = pair.sums, int(alike.max()) + 1

    def among(here: np.ndarray) -> np.ndarray:
        return np.bincount(alike, here, minlength=size) > 0

    yes, no = sums.wy > NOTHING * sums.w, sums.w - sums.wy > NOTHING * sums.w
    if (among(yes) & among(no)).any():
        return Reliance(True, "people alike in group and confounders are decided about differently")
    profiles = np.unique(np.stack([alike, pair.profile]), axis=1)[0]
    telling = np.bincount(profiles, minlength=size)[alike] > 1
    share = float(sums.rows[telling].sum() / sums.rows.sum())
    if share < TELLING:
        return Reliance(
            True,
            f"only {share:.0%} of people share group and confounders with someone whose mediators "
            "differ, too few to tell from decisions alone; give the model itself as prediction",
        )
    return Reliance(
        False, "people alike in group and confounders are decided about alike, whatever mediators"
    )
