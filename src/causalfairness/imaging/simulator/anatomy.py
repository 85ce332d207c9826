"""Which body, on which scanner, with which nuisances? Numbers that an image is drawn from.

The group reaches four of them, and nothing else: soft tissue, exposure, texture and marker, each
with the arrow strength x shift(group) beside noise of its own. Lengths are in half image widths.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch import Tensor

from causalfairness.imaging.parents import Parents
from causalfairness.imaging.simulator.noise import Noise

_TISSUE = (0.0, 0.15, -0.15)  # by group, at strength 1: small, but several times their own noise,
_EXPOSURE = (0.0, 0.08, -0.08)  # so that every film tells; those that cover it more than the others
_TEXTURE = (0.0, 0.3, -0.3)
_MARKER = (0.0, -1.2, 1.2)

Anatomy = SimpleNamespace  # a field for every number, (n, 1, 1) float32


def anatomy(noise: Noise, parents: Parents, severities: Tensor, *, strength: float) -> Anatomy:
    """Which numbers is each image drawn from?

    >>> from causalfairness.imaging.simulator.people import Causes, people, severities
    >>> noise, causes = Noise.draw(3, seed=0), Causes(1.0, 0.0, 1.8, 1.0)
    >>> who = people(noise, causes)
    >>> anatomy(noise, who, severities(noise, causes, who.findings), strength=1.0).heart.shape
    torch.Size([3, 1, 1])
    """
    values = {
        **_posture(noise),
        **_organs(noise, parents, severities),
        **_lesions(noise, severities),
        **_nuisances(noise, parents, strength),
    }
    return Anatomy(**{name: value.float().view(-1, 1, 1) for name, value in values.items()})


def _posture(noise: Noise) -> dict[str, Tensor]:
    return {
        "shift_x": 0.03 * _calm(noise["shift_x"]),
        "shift_y": 0.03 * _calm(noise["shift_y"]),
        "tilt": 0.025 * _calm(noise["tilt"]),
        "zoom": 1 + 0.035 * _calm(noise["zoom"]),
    }


def _organs(noise: Noise, parents: Parents, severities: Tensor) -> dict[str, Tensor]:
    age, sex = parents.age.double(), parents.sex.double()
    breath = 0.045 * _calm(noise["breath"])
    lift = 0.17 * severities[:, 3] + 0.03 * _calm(noise["domes"])
    right = _right(noise["plate_side"])
    big_heart = 0.345 + 0.16 * severities[:, 0] + 0.02 * (age - 0.55)
    return {
        "chest": 0.80 - 0.045 * sex + 0.025 * _calm(noise["chest"]),
        "dome_right": 0.50 + breath - lift * right,
        "dome_left": 0.55 + breath - lift * (1 - right),
        "bone": 1.05 - 0.5 * (age - 0.55) - 0.1 * sex + 0.08 * _calm(noise["bone"]),
        "rib_spacing": 0.165 + 0.006 * _calm(noise["rib_spacing"]),
        "rib_phase": 0.25 * _calm(noise["rib_phase"]),
        "rib_slope": 0.42 + 0.05 * _calm(noise["rib_slope"]),
        "collar": 0.03 * _calm(noise["collar"]),
        "heart": big_heart + 0.012 * _calm(noise["heart"]),
        "heart_x": 0.10 + 0.012 * _calm(noise["heart_x"]) + 0.08 * severities[:, 0],
        "heart_tilt": 0.35 + 0.08 * _calm(noise["heart_tilt"]),
        "knob": 0.055 + 0.08 * (age - 0.2) + 0.006 * _calm(noise["knob"]),
        "hila": 1 + 0.12 * _calm(noise["hila"]),
        "breast": sex * (0.16 + 0.04 * _calm(noise["breast"])),
        "stomach": 0.10 + 0.02 * _calm(noise["stomach"]),
    }


def _lesions(noise: Noise, severities: Tensor) -> dict[str, Tensor]:
    return {
        "edema": severities[:, 1],
        "consolidation": severities[:, 2],
        "patch_right": _right(noise["patch_side"]),
        "patch_x": 0.43 + 0.05 * _calm(noise["patch_x"]),
        "patch_y": -0.08 + 0.13 * _calm(noise["patch_y"]),
        "patch_size": 0.19 + 0.02 * _calm(noise["patch_size"]),
        "atelectasis": severities[:, 3],
        "plate_right": _right(noise["plate_side"]),
        "plate_x": 0.42 + 0.03 * _calm(noise["plate_x"]),
        "plate_y": 0.22 + 0.03 * _calm(noise["plate_y"]),
        "plate_slope": -0.2 + 0.12 * _calm(noise["plate_slope"]),
        "effusion": severities[:, 4],
        "fluid_right": _right(noise["fluid_side"]),
        "fluid_shape": 3 + 0.4 * _calm(noise["fluid_shape"]),
    }


def _nuisances(noise: Noise, parents: Parents, strength: float) -> dict[str, Tensor]:
    def shift(by_group: tuple[float, ...]) -> Tensor:
        values = torch.tensor(by_group, dtype=torch.float64, device=parents.group.device)
        return strength * values[parents.group]

    portable = parents.scanner.double()
    return {
        "portable": portable,
        "tissue": torch.exp(0.03 * _calm(noise["tissue"]) + shift(_TISSUE)),
        "exposure": torch.exp(
            0.015 * _calm(noise["exposure"]) - 0.08 * portable + shift(_EXPOSURE)
        ),
        "texture": 0.022 * torch.exp(0.08 * _calm(noise["texture"]) + shift(_TEXTURE)),
        "marker": torch.sigmoid(0.35 * _calm(noise["marker"]) + shift(_MARKER) + 0.5),
        "marker_x": -0.80 + 0.03 * _calm(noise["marker_x"]) + 1.6 * portable,
        "marker_y": -0.80 + 0.03 * _calm(noise["marker_y"]),
    }


def _calm(normal: Tensor) -> Tensor:
    """The same number, never beyond 2.5: no body is impossible."""
    return 2.5 * torch.tanh(normal / 2.5)


def _right(normal: Tensor) -> Tensor:
    """1 where a finding lies in the right lung, which is drawn on the left."""
    return (normal > 0).double()
