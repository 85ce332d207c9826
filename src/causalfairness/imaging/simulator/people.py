"""Who is on the images? Group, age, sex, scanner and findings, with everything that causes them.

Two hidden causes, `origin` and `referral`, drive the group, and age (origin) and sex (referral)
with it: confounding without an arrow between them. With e a standard normal number of its own,

    group     argmax_a ( share_a + confounding (w_a origin + v_a referral) + Gumbel_a )
    age       .18 + .72 sigmoid( .3 + .8 confounding origin + .8 e )       years / 100
    sex       1{ .6 confounding referral + e > 0 }
    scanner   1{ 2 (age - .55) + e > .2 }                                  1: portable
    finding_k 1{ b_k + c_k (age - .55) + d_k (sex - .5) + prevalence_shift s_k(group) + e > 0 }
    severity_k sigmoid( 1.5 (severity (finding_k - .5) + e) )              what there is to see

A reader who sees severity_k and nothing else has AUC Phi(severity / sqrt 2), whatever the network.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from causalfairness.imaging.parents import Parents
from causalfairness.imaging.simulator.noise import FINDING, SEVERITY, Noise

GROUPS = 3
_SHARE = (0.25, 0.0, 0.0)
_BY_ORIGIN = (0.6, -0.5, -0.1)
_BY_REFERRAL = (0.0, 0.5, -0.5)
_COMMON = (-0.45, -0.45, -0.55, -0.45, -0.45)  # b, of the findings in order
_BY_AGE = (1.2, 1.0, 0.4, 0.8, 1.0)
_BY_SEX = (0.3, 0.1, -0.2, -0.3, 0.1)
_BY_GROUP = ((0.0,) * 5, (0.7, 0.5, 0.4, 0.5, 0.6), (-0.6, -0.5, -0.4, -0.6, -0.5))
_STEEPNESS = 1.5


@dataclass(frozen=True)
class Causes:
    """How strongly does what cause what? The structural model's adjustable arrows.

    >>> Causes(strength=1.0, prevalence_shift=0.0, severity=1.8, confounding=1.0).severity
    1.8
    """

    strength: float
    prevalence_shift: float
    severity: float
    confounding: float


def people(noise: Noise, causes: Causes) -> Parents:
    """Who are these people, as they are?

    >>> from causalfairness.imaging.simulator.noise import Noise
    >>> people(Noise.draw(4, seed=1), Causes(1.0, 0.0, 1.8, 1.0)).sex.shape
    torch.Size([4])
    """
    sway = causes.confounding
    origin, referral = noise["origin"], noise["referral"]
    age = 0.18 + 0.72 * torch.sigmoid(0.3 + 0.8 * sway * origin + 0.8 * noise["age"])
    sex = (0.6 * sway * referral + noise["sex"] > 0).long()
    scanner = (2 * (age - 0.55) + noise["scanner"] > 0.2).long()
    group = _group(noise, sway)
    return Parents(
        group=group,
        age=age.float(),
        sex=sex,
        scanner=scanner,
        findings=findings(noise, causes, group=group, age=age.float(), sex=sex),
    )


def findings(noise: Noise, causes: Causes, *, group: Tensor, age: Tensor, sex: Tensor) -> Tensor:
    """Which findings does each person have, with this group, age and sex? (n, 5), 0 or 1."""
    row = {"dtype": torch.float64, "device": age.device}
    risk = (
        torch.tensor(_COMMON, **row)
        + torch.tensor(_BY_AGE, **row) * (age.double()[:, None] - 0.55)
        + torch.tensor(_BY_SEX, **row) * (sex.double()[:, None] - 0.5)
        + causes.prevalence_shift * torch.tensor(_BY_GROUP, **row)[group]
        + noise.columns(FINDING)
    )
    return (risk > 0).long()


def severities(noise: Noise, causes: Causes, found: Tensor) -> Tensor:
    """How much of each finding is there to see? (n, 5), between 0 and 1."""
    told = causes.severity * (found.double() - 0.5)
    return torch.sigmoid(_STEEPNESS * (told + noise.columns(SEVERITY)))


def _group(noise: Noise, sway: float) -> Tensor:
    normal = noise.columns(("group_0", "group_1", "group_2"))
    gumbel = -torch.log(-torch.log(torch.special.ndtr(normal)))
    row = {"dtype": torch.float64, "device": normal.device}
    lean = noise["origin"][:, None] * torch.tensor(_BY_ORIGIN, **row)
    lean = lean + noise["referral"][:, None] * torch.tensor(_BY_REFERRAL, **row)
    return (torch.tensor(_SHARE, **row) + sway * lean + gumbel).argmax(dim=1)
