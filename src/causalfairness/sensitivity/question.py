"""How strong would a hidden confounder have to be to change what was found? (methods §12)

    |bias| <= sum over stages of  sqrt( E[residual²] E[weight²] R_y² R_a² / (1 - R_a²) )

for the direct, indirect and spurious parts of a gap, and for every other sum of world means. The
gap itself needs no assumption about causes and cannot be moved by a hidden one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from causalfairness.effects import Decomposition, SecondMoments
from causalfairness.effects.contrasts import CONTRASTS, PARTS, Contrast
from causalfairness.errors import SensitivityError
from causalfairness.inference.intervals import check_margin, normal_reach
from causalfairness.sensitivity.effect_sensitivity import EffectSensitivity
from causalfairness.sensitivity.result import Sensitivity
from causalfairness.sensitivity.stages import stages_of
from causalfairness.sensitivity.strengths import Share, Strengths, strengths_of
from causalfairness.sensitivity.words import LIMITS

ASKED = ("direct", "indirect", "spurious", "total_effect")
SUPPORTED = "Strata, DoublyRobust or KnownModel"


def sensitivity_to_confounding(
    found: Decomposition,
    *,
    outcome_share: Share,
    group_share: Share,
    margin: float = 0.0,
    level: float = 0.95,
    effects: Sequence[str] | None = None,
) -> Sensitivity:
    """How far could a hidden confounder move each effect, and how strong must it be to matter?

    `outcome_share` (R_y²) is the share of what is left unexplained that the hidden cause would
    explain, `group_share` (R_a²) the share of the weights that would come from it alone; one number
    for both stages, or one for each: `{"mediators": 0.1, "group": 0.02}`. Robustness values say at
    which strength an effect reaches `margin`, the size that would not matter. `effects` are names
    of `found.table()`; by default the parts of the gap, and the total effect.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
    >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05)
    >>> shown["direct"].bound() > 0, shown["direct"].robustness() > 0.05
    (True, True)
    """
    moments = moments_of(found)
    strengths = strengths_of(outcome_share, group_share)
    check_margin(margin)
    normal_reach(level)  # refuses what is no level
    shown = tuple(
        about(found, moments, name, strengths, margin, level) for name in asked(found, effects)
    )
    return Sensitivity(
        what=found.what,
        reference=found.reference,
        comparison=found.comparison,
        effects=shown,
        strengths=strengths,
        margin=margin,
        level=level,
        estimator=found.diagnostics.estimator,
        assumptions=found.diagnostics.assumptions,
        notes=(*LIMITS, *_caveats(found)),
    )


def moments_of(found: Any) -> SecondMoments:
    """Does this result know the weights and residuals behind it?"""
    if not isinstance(found, Decomposition):
        raise SensitivityError(
            f"found {type(found).__name__}; expected a decomposition, such as "
            "decompose_disparity(data, model) returns"
        )
    moments = found.estimate.second_moments
    if moments is None:
        raise SensitivityError(
            f"{found.diagnostics.estimator} has no weights and residuals that a hidden cause could "
            f"be held against; decompose again with estimator={SUPPORTED}"
        )
    return moments


def asked(found: Decomposition, effects: Sequence[str] | None) -> tuple[str, ...]:
    """Which effects are asked about? By default the parts, and the total effect."""
    if effects is None:
        return ASKED
    if isinstance(effects, str) or not isinstance(effects, Iterable):
        raise SensitivityError(f"effects is a list of names; found {effects!r}")
    known = contrasts_of(found)
    for name in effects:
        if name == "total":
            raise SensitivityError(
                "the total is the plain gap between the groups: it needs no assumption about "
                "causes, and no hidden cause can move it; 'total_effect' is the causal one"
            )
        if name not in known:
            raise SensitivityError(
                f"no effect is named {name!r}; expected some of {', '.join(known)}"
            )
    return tuple(effects)


def contrasts_of(found: Decomposition) -> dict[str, Contrast]:
    """Which signed sums of world means have a name here?"""
    return {**PARTS[found.convention], **CONTRASTS}


def about(
    found: Decomposition,
    moments: SecondMoments,
    name: str,
    strengths: Strengths,
    margin: float,
    level: float,
) -> EffectSensitivity:
    """How far could a hidden cause of this strength move one effect?"""
    contrast = contrasts_of(found)[name]
    return EffectSensitivity(
        effect=found.world_means.combine(contrast.terms, name),
        meaning=contrast.meaning,
        stages=stages_of(moments, contrast.terms),
        strengths=strengths,
        margin=margin,
        level=level,
    )


def _caveats(found: Decomposition) -> tuple[str, ...]:
    notes = []
    overlap = found.diagnostics.overlap
    if found.outside_support.value or found.outside_support.standard_error:
        notes.append(
            "bounds speak of the people who are compared; what lies outside common support is "
            "not in them"
        )
    elif overlap.share_outside_support:
        notes.append(
            f"{overlap.share_outside_support:.1%} of rows sit where a group has no rows and its "
            "mean was filled in: how wrong the fill may be is not in the bounds"
        )
    if overlap.share_clipped:
        notes.append(
            "some weights were cut: the bound is about the weights as they were used, and with "
            "those as they would be it is larger"
        )
    return tuple(notes)
