"""What may be said about an audit, what does it rest on, and what should its reader know?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalfairness.imaging.auditing.generating import Generated
from causalfairness.invariance.result import Claim
from causalfairness.invariance.scores import Judged
from causalfairness.invariance.statistics import Statistics
from causalfairness.invariance.testing import RARE

COMPOSITION, REVERSIBILITY = 0.008, 0.015  # beyond these a generator is said to be rough
BEYOND = "on the group beyond age, sex, scanner and findings"
CLAIMS = {
    method: Claim(
        f"{method} audit", f"depend {BEYOND}", f"consistent with no dependence {BEYOND}", reach
    )
    for method, reach in (
        ("projected", ", in the direction the generator points to"),
        ("randomization", ", in the direction the generator points to"),
        ("individual", ", if the generator is right"),
        ("paired", ", if the generator is right"),
    )
}
ASSUMED = (
    "age, sex, scanner and findings explain why images of the groups would differ for other "
    "reasons than the group itself; nothing else drives both the group and what is on the image",
    "every group can occur with any of them",
    "how scores or how groups follow age, sex, scanner and findings was learned well from these "
    "images: by lines and smooth curves, squares of age, and age by sex",
    "images are of different people, drawn independently, and the generator was not trained on "
    "them",
)
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
    method: str, generated: Generated, judged: Judged, found: Statistics, *, has_placebo: bool
) -> tuple[str, ...]:
    """What should a reader of the audit know?"""
    notes = list(_about_method(method, has_placebo=has_placebo))
    for name, values, bound in (
        ("told its own group", generated.composition, COMPOSITION),
        ("taken to another group and back", generated.reversibility, REVERSIBILITY),
    ):
        if len(values) and values.mean() > bound:
            notes.append(
                f"the generator moves an image by {values.mean():.3g} per pixel when it is {name}, "
                f"more than {bound:g}: agreement and generated scores carry this mistake"
            )
    if method in ("projected", "randomization"):
        notes += _silent(generated, judged.scores)
    if method != "randomization" and found.drawn.any():
        notes.append("scores that are constant have no t: their p-values come from redrawn groups")
    rare = int((judged.chances.min(axis=0) < RARE).sum())
    if rare:
        notes.append(
            f"for {rare:,} of {judged.chances.shape[1]:,} people some group has a chance below "
            f"{RARE:g} given age, sex, scanner and findings: about them these images say little"
        )
    return tuple(notes)


def _about_method(method: str, *, has_placebo: bool) -> tuple[str, ...]:
    if method == "individual":
        return (LIKE_PLACEBO if has_placebo else ARTIFACTS,)
    return (PUBLISHED,) if method == "paired" else ()


def _silent(generated: Generated, scores: NDArray[np.float64]) -> list[str]:
    silent = int((scores == 0).all(axis=0).sum())
    if not silent:
        return []
    return [
        f"for {silent} of {scores.shape[1]} classifiers and findings the generator moves no score "
        "between groups, so that there is no direction to look in: p = 1 says nothing more"
    ]
