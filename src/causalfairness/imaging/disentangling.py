"""Can a latent be moved a little so that it no longer tells the group? Paper 004, App. C and H.

    phi(z) = z + length * ||z|| * m(z) / ||m(z)||

m is trained against a critic T that holds up the Donsker-Varadhan *lower* bound on the mutual
information of latent and group,

    I(phi(z); a) >= E_joint[T] - log E_product[exp T],

T to raise it (five updates), m to lower it (one). The paper's length, .001 without ||z||, moves a
32 x 32 x 8 latent by about 1e-5 of its norm (errata); here it is relative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from causalfairness.imaging.training import chance
from causalfairness.progress import track

CRITIC_UPDATES = 5
_RATE, _CLIP = 1e-4, 1.0


class DisentanglingMap(nn.Module):
    """Where does a latent go, so that it tells less? By at most `length` of its own norm.

    >>> moved = DisentanglingMap(4, length=0.1)(torch.ones(1, 4, 8, 8)) - 1
    >>> round(float(moved.detach().norm() / 16), 4)
    0.1
    """

    def __init__(self, channels: int, *, length: float) -> None:
        super().__init__()
        self.length = length
        inner = [nn.Sequential(_mixed(a, b), nn.MaxPool2d(2)) for a, b in _pairs(channels)]
        outer = [
            nn.Sequential(nn.Upsample(scale_factor=2), _mixed(b, a))
            for a, b in reversed(_pairs(16))
        ]
        self.network = nn.Sequential(*inner, *outer, nn.Conv2d(16, channels, 3, padding=1))

    def forward(self, latents: Tensor) -> Tensor:
        """Where do these latents go?"""
        direction = self.network(latents)
        norms = [
            value.flatten(1).norm(dim=1)[:, None, None, None] for value in (latents, direction)
        ]
        return latents + self.length * norms[0] * direction / norms[1].clamp(min=1e-12)


class Critic(nn.Module):
    """How much more likely is this latent with this group than with any? T of the bound.

    >>> Critic(4, groups=3)(torch.zeros(2, 4, 8, 8), torch.tensor([0, 2])).shape
    torch.Size([2])
    """

    def __init__(self, channels: int, *, groups: int) -> None:
        super().__init__()
        self.groups = groups
        steps = [nn.Sequential(_mixed(a, b), nn.AvgPool2d(2)) for a, b in _pairs(channels + groups)]
        self.network = nn.Sequential(*steps, nn.Flatten(), nn.LazyLinear(1))

    def forward(self, latents: Tensor, groups: Tensor) -> Tensor:
        """How much more likely is each latent with its group?"""
        marks = functional.one_hot(groups, self.groups).to(latents)[:, :, None, None]
        planes = marks.expand(-1, -1, *latents.shape[2:])
        return self.network(torch.cat([latents, planes], 1))[:, 0]


@dataclass(frozen=True, eq=False)
class Disentangled:
    """Which map was learned, and how much do latents tell of the group before and after?

    >>> print(Disentangled(nn.Identity(), before=0.9, after=0.8))
    at least 0.9 nats of the group in the latents, 0.8 after the map
    """

    map: Any  # from latents to latents
    before: float  # lower bounds of the information, in nats
    after: float

    def __str__(self) -> str:
        return (
            f"at least {self.before:.3g} nats of the group in the latents, "
            f"{self.after:.3g} after the map"
        )


def disentangle(
    lots: Callable[[int], tuple[Tensor, Tensor]],
    *,
    groups: int,
    length: float,
    steps: int,
    seed: int,
) -> Disentangled:
    """Which small move hides the group from a critic? `lots(step)` gives latents and groups.

    >>> def lots(step):
    ...     group = torch.arange(32) % 2
    ...     return group[:, None, None, None] + torch.zeros(32, 2, 8, 8), group
    >>> found = disentangle(lots, groups=2, length=0.1, steps=2, seed=0)
    >>> found.map.length
    0.1
    """
    latents, labels = lots(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        mover = DisentanglingMap(latents.shape[1], length=length).to(latents.device)
        critics = [Critic(latents.shape[1], groups=groups).to(latents.device) for _ in range(2)]
        for critic in critics:
            critic(latents, labels)  # gives the last layer its size
    stay = _fit_critic(critics[0], lots, nn.Identity(), None, steps, seed)
    moved = _fit_critic(critics[1], lots, mover, mover, steps, seed)
    return Disentangled(mover.train(False), stay, moved)


def information_bound(critic: nn.Module, latents: Tensor, groups: Tensor, order: Tensor) -> Tensor:
    """How much do latents tell of the group, at least? Donsker and Varadhan, in nats.

    >>> latents, groups = torch.zeros(4, 1), torch.arange(4) % 2
    >>> float(information_bound(lambda z, a: z[:, 0], latents, groups, torch.arange(4)))
    0.0
    """
    joint = critic(latents, groups).mean()
    product = torch.logsumexp(critic(latents, groups[order]), 0) - math.log(len(groups))
    return joint - product


def _fit_critic(
    critic: nn.Module,
    lots: Callable[[int], tuple[Tensor, Tensor]],
    phi: nn.Module,
    mover: nn.Module | None,
    steps: int,
    seed: int,
) -> float:
    """Alternates five updates of the critic with one of the map, where there is one; the bound on
    the last tenth of the steps.
    """
    raise_it = torch.optim.Adam(critic.parameters(), lr=_RATE * 10, weight_decay=1e-5)
    lower_it = mover and torch.optim.Adam(mover.parameters(), lr=_RATE * 10, weight_decay=1e-5)
    found = []
    for step in track(range(steps), total=steps, what="disentangling"):
        latents, groups = lots(step)
        order = torch.randperm(len(groups), generator=chance(seed, step, stream=20))
        bound = information_bound(critic, phi(latents), groups, order.to(groups.device))
        turn_of_the_map = lower_it is not None and step % (CRITIC_UPDATES + 1) == CRITIC_UPDATES
        optimizer = lower_it if turn_of_the_map and lower_it is not None else raise_it
        optimizer.zero_grad()
        (bound if turn_of_the_map else -bound).backward()
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], _CLIP)
        optimizer.step()
        found.append(bound.detach())
    return float(torch.stack(found[-max(steps // 10, 1) :]).mean())


def _pairs(first: int) -> list[tuple[int, int]]:
    return list(pairwise((first, 16, 32, 64)))


def _mixed(before: int, after: int) -> nn.Module:
    """Two convolutions; normalized by image, not by batch, so that the map is one of each image."""
    layers: list[nn.Module] = []
    for width in (before, after):
        layers += [nn.Conv2d(width, after, 3, padding=1), nn.ReLU(), nn.GroupNorm(4, after)]
    return nn.Sequential(*layers)
