"""Which latent comes from this noise, and which noise from this latent? DDIM, both ways.

With a velocity v (see `schedule`) held fixed over one step, the exact move between two angles is
a rotation,

    z(b) = cos(b - a) * z(a) + sin(b - a) * v(z(a), a).

Sampling goes down the grid of angles, inversion goes up. Going up, the plain step takes v at the
lower end. A step that undoes a sampling step exactly has v at its *upper* end, which is not known
yet: `refinement` solves for it by that many fixed-point rounds, one network call each. Where two
kinds of film part ways, plain rounds swing about the solution, further each time, and come back
with the other kind: from the second round on each is corrected by the last one (Anderson's secant).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor

Velocity = Callable[[Tensor, Tensor], Tensor]  # of noisy latents and one angle
FURTHEST = -9.0  # rounds that shrink their error by less than a tenth are followed no further
_TINY = 1e-30


def sample(velocity: Velocity, noise: Tensor, *, angles: Tensor) -> Tensor:
    """Which latent comes from this noise? One network call per step, no chance involved.

    A latent that is always 3 has the velocity (3 cos - z) / sin on the way down:

    >>> from causalfairness.imaging.schedule import cosine
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

    >>> from causalfairness.imaging.schedule import cosine
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


def velocity_of_noise(predict: Velocity) -> Velocity:
    """What velocity does a network imply that predicts the noise instead? Below pi / 2 only.

    >>> all_noise = velocity_of_noise(lambda z, a: z / torch.sin(a))  # the latent is always 0
    >>> round(float(all_noise(torch.ones(1), torch.tensor(0.5)) * torch.tan(torch.tensor(0.5))), 4)
    1.0
    """
    return lambda z, angle: (predict(z, angle) - torch.sin(angle) * z) / torch.cos(angle)


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
