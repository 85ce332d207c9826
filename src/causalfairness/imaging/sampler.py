"""Which latent comes from this noise, and which noise from this latent? DDIM, both ways.

A noisy latent lies at an angle, from a clean latent to pure noise,

    z(angle) = cos(angle) * latent + sin(angle) * noise,        0 <= angle <= pi / 2

so cos is the signal level, sin the noise level, and the velocity that a denoiser predicts is

    v = dz / d angle = cos(angle) * noise - sin(angle) * latent.

With a velocity held fixed over one step, the exact move between two angles is a rotation,

    z(b) = cos(b - a) * z(a) + sin(b - a) * v(z(a), a).

Sampling goes down a grid of angles, inversion goes up the same one. Going up, the plain step takes
v at the lower end. A step that undoes a sampling step exactly has v at its *upper* end, which is
not known yet: `refinement` solves for it by that many fixed-point rounds, one network call each.
Where two kinds of film part ways, plain rounds swing about the solution, further each time, and
come back with the other kind: from the second round on each is corrected by the last one
(Anderson's secant).

A direction in which latents spread by s is decided where tan(angle) is about s: a hundredth where
they hardly differ, ten and more in those that large structures take. So half of the points of a
grid are even in the angle, half in the logarithm of its tangent. Were all even in the angle, the
last step alone would decide about large structures, and their noise lie far outside what a denoiser
is trained on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

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


def cosine() -> Schedule:
    """Which schedule ends in pure noise? The angle grows evenly in training.

    >>> [round(angle, 4) for angle in cosine().angles_at(torch.tensor([0.0, 0.5])).tolist()]
    [0.0, 0.7854]
    """
    return Schedule("cosine", math.pi / 2)


def linear_beta(*, steps: int = 250, scale: float = 0.2) -> Schedule:
    """Which schedule does paper 004 use? beta from .001 to .01, scaled down, few steps.

    Its noisiest point keeps most of the signal, so it still reveals the group (errata of 004):

    >>> round(math.cos(linear_beta().last) ** 2, 2)
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


Velocity = Callable[[Tensor, Tensor], Tensor]  # of noisy latents and one angle
FURTHEST = -9.0  # rounds that shrink their error by less than a tenth are followed no further
_TINY = 1e-30


def sample(velocity: Velocity, noise: Tensor, *, angles: Tensor) -> Tensor:
    """Which latent comes from this noise? One network call per step, no chance involved.

    A latent that is always 3 has the velocity (3 cos - z) / sin on the way down:

    >>> from causalfairness.imaging.sampler import cosine
    >>> always_3 = lambda z, a: (torch.cos(a) * z - 3) / torch.sin(a)
    >>> sample(always_3, torch.zeros(1), angles=cosine().grid(5)).round(decimals=4).tolist()
    [3.0]
    """
    z = noise
    for step in range(len(angles) - 1, 0, -1):
        z = _rotated(z, velocity(z, angles[step]), angles[step - 1] - angles[step])
    return z


def invert(velocity: Velocity, latent: Tensor, *, angles: Tensor, refinement: int = 0) -> Tensor:
    """Which noise does this latent come from? Abduction: `sample` brings the latent back.

    >>> from causalfairness.imaging.sampler import cosine
    >>> halves = lambda z, a: z * torch.sin(2 * a) * 3 / (5 - 3 * torch.cos(2 * a))  # variance 1/4
    >>> latent, angles = torch.tensor([0.5]), cosine().grid(50)
    >>> back = [sample(halves, invert(halves, latent, angles=angles, refinement=rounds),
    ...                angles=angles) for rounds in (0, 3)]
    >>> [round(abs(float(found) / 0.5 - 1), 4) for found in back]
    [0.0627, 0.0]
    """
    z = latent
    for below, above in pairwise(angles):
        guess = _rotated(z, velocity(z, below), above - below)
        undoes = partial(_undoes, z, velocity, above, above - below)
        z = _fixed_point(undoes, guess, rounds=refinement)
    return z


def guided(conditional: Velocity, unconditional: Velocity, *, strength: float) -> Velocity:
    """What does a denoiser say that listens harder to the parents? Strength 1 is plain.

    >>> one, none = (lambda z, a: z + 1), (lambda z, a: z)
    >>> guided(one, none, strength=1.5)(torch.zeros(1), torch.zeros(())).tolist()
    [1.5]
    """
    if strength == 1.0:
        return conditional

    def velocity(z: Tensor, angle: Tensor) -> Tensor:
        plain = unconditional(z, angle)
        return plain + strength * (conditional(z, angle) - plain)

    return velocity


def _undoes(z: Tensor, velocity: Velocity, angle: Tensor, turn: Tensor, higher: Tensor) -> Tensor:
    """From where a sampling step arrives at z, with the velocity that `higher` has."""
    return (z + torch.sin(turn) * velocity(higher, angle)) / torch.cos(turn)


def _fixed_point(image: Callable[[Tensor], Tensor], guess: Tensor, *, rounds: int) -> Tensor:
    """What is its own image? Each latent by itself: along the line through its last two rounds, the
    point where an image would miss its latent least.
    """
    here, before = guess, None
    for _ in range(rounds):
        there = image(here)
        missed = there - here
        here = there
        if before is not None:
            last_there, last_missed = before
            turned = missed - last_missed
            back = _inner(missed, turned) / _inner(turned, turned).clamp(min=_TINY)
            here = there - back.clamp(min=FURTHEST) * (there - last_there)
        before = there, missed
    return here


def _inner(one: Tensor, other: Tensor) -> Tensor:
    """The inner product of each row's numbers, in the shape of rows."""
    found = (one * other).reshape(len(one), -1).sum(1)
    return found.reshape(-1, *[1] * (one.dim() - 1))


def _rotated(z: Tensor, velocity: Tensor, turn: Tensor) -> Tensor:
    return torch.cos(turn) * z + torch.sin(turn) * velocity
