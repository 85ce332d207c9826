"""How much noise is there at each step? Angles, from a clean latent to pure noise.

    z(angle) = cos(angle) * latent + sin(angle) * noise,        0 <= angle <= pi / 2

so cos is the signal level, sin the noise level, and the velocity that a denoiser predicts is

    v = dz / d angle = cos(angle) * noise - sin(angle) * latent.

A grid of angles is explicit: sampler and inverter walk exactly the same points. A direction in
which latents spread by s is decided where tan(angle) is about s: a hundredth where they hardly
differ, ten and more in those that large structures take. So half of the points are even in the
angle, half in the logarithm of its tangent. Were all even in the angle, the last step alone would
decide about large structures, and their noise lie far outside what a denoiser is trained on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

SPREAD = (0.01, 60.0)  # tangents of the half that is even in their logarithm


@dataclass(frozen=True)
class Schedule:
    """How much noise is there at each step? A fixed fine grid to train on, any number to sample on.

    >>> schedule = cosine()
    >>> [round(float(angle), 3) for angle in schedule.grid(2)]
    [0.0, 0.752, 1.571]
    >>> round(float(schedule.signal_left), 6)
    0.0
    """

    name: str
    last: float  # the largest angle that occurs
    fine: tuple[float, ...] | None = None  # the angles of a discrete schedule, from the clean end

    def grid(self, steps: int, *, device: torch.device | str = "cpu") -> Tensor:
        """Which angles does a walk of this many steps visit? steps + 1 of them, from 0."""
        share = torch.linspace(0.0, 1.0, steps + 1, dtype=torch.float64)
        if self.fine is None:
            return torch.tensor(_reached(share.numpy()), dtype=torch.float32, device=device)
        points = torch.tensor((0.0, *self.fine), dtype=torch.float64)
        chosen = (share * (len(points) - 1)).round().long()
        return points[chosen].to(torch.float32).to(device)

    def angles_at(self, share: Tensor) -> Tensor:
        """Which angles do draws from [0, 1) train at? Uniform angles, or the discrete ones."""
        if self.fine is None:
            return share * self.last
        points = torch.tensor(self.fine, dtype=share.dtype, device=share.device)
        return points[(share * len(points)).long().clamp(max=len(points) - 1)]

    @property
    def signal_left(self) -> float:
        """How much of the latent does the noisiest point still show? It should be 0."""
        return max(math.cos(self.last), 0.0)


def cosine() -> Schedule:
    """Which schedule ends in pure noise? The angle grows evenly in training.

    >>> [round(angle, 4) for angle in cosine().angles_at(torch.tensor([0.0, 0.5])).tolist()]
    [0.0, 0.7854]
    """
    return Schedule("cosine", math.pi / 2)


def linear_beta(*, steps: int = 250, scale: float = 0.2) -> Schedule:
    """Which schedule does paper 004 use? beta from .001 to .01, scaled down, few steps.

    Its noisiest point keeps most of the signal, so it still reveals the group (errata of 004):

    >>> round(linear_beta().signal_left ** 2, 2)
    0.76
    """
    beta = torch.linspace(0.001, 0.01, steps, dtype=torch.float64) * scale
    fine = torch.arccos(torch.cumprod(1 - beta, 0).sqrt()).tolist()
    return Schedule("linear_beta", fine[-1], tuple(fine))


def _reached(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The angles below which these shares of a walk lie."""
    low, high = np.log(SPREAD)
    angles = np.linspace(0.0, 1.0, 20_001)[1:-1] * (math.pi / 2)
    spread = np.clip((np.log(np.tan(angles)) - low) / (high - low), 0.0, 1.0)
    below = (angles / (math.pi / 2) + spread) / 2
    below, angles = np.append(below, 1.0), np.append(angles, math.pi / 2)
    return np.asarray(np.interp(share, np.insert(below, 0, 0.0), np.insert(angles, 0, 0.0)))
