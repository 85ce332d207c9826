"""What should the reader of an audit know?"""

from __future__ import annotations

from causalfairness.imaging.auditing.generating import Generated
from causalfairness.imaging.auditing.known import Known
from causalfairness.invariance.scores import Judged
from causalfairness.invariance.statistics import Statistics
from causalfairness.invariance.testing import RARE

COMPOSITION, REVERSIBILITY = 0.008, 0.015  # beyond these a generator is said to be rough
ARTIFACTS = (
    "each image is compared with its own counterfactuals: whatever the generator does wrong to "
    "images of other groups counts as dependence, and with any imperfect generator true "
    "invariance is rejected nearly always; use method='projected'"
)
LIKE_PLACEBO = (
    "the p-value allows for mistakes of the generator that the placebo, trained with permuted "
    "groups, makes as well, and for no others"
)
PUBLISHED = (
    "the paired test is kept for replication: it takes the mistakes of the generator for "
    "evidence; use method='projected'"
)


def notes_of(
    method: str,
    generated: Generated,
    judged: Judged,
    found: Statistics,
    known: Known,
    *,
    has_placebo: bool,
) -> tuple[str, ...]:
    """What should a reader of the audit know?"""
    notes = [*known.notes(), *_about_method(method, has_placebo=has_placebo)]
    for name, values, bound in (
        ("given its own group", generated.composition, COMPOSITION),
        ("taken to another group and back", generated.reversibility, REVERSIBILITY),
    ):
        if len(values) and values.mean() > bound:
            notes.append(
                f"the generator moves an image by {values.mean():.3g} per pixel when it is {name}, "
                f"more than {bound:g}: agreement and generated scores carry this mistake"
            )
    if method in ("projected", "randomization"):
        notes += _silent(generated)
    if method != "randomization" and found.drawn.any():
        notes.append("scores that are constant have no t: their p-values come from redrawn groups")
    rare = int((judged.chances.min(axis=0) < RARE).sum())
    if rare:
        given = f" given {known.listed}" if known.listed else ""
        notes.append(
            f"for {rare:,} of {judged.chances.shape[1]:,} people some group has a chance below "
            f"{RARE:g}{given}: about them these images say little"
        )
    return tuple(notes)


def _about_method(method: str, *, has_placebo: bool) -> tuple[str, ...]:
    if method == "individual":
        return (LIKE_PLACEBO if has_placebo else ARTIFACTS,)
    return (PUBLISHED,) if method == "paired" else ()


def _silent(generated: Generated) -> list[str]:
    silent = int(generated.silent.sum())
    if not silent:
        return []
    return [
        f"for {silent} of {generated.silent.size} classifiers and findings the generator moves no "
        "score between groups, so that there is no direction to look in: p = 1 says nothing more"
    ]
