"""What would these images be, by a conditional variational autoencoder? The baseline of paper 004.

    loss = E|x - decode(z, parents)| / scale + beta KL(z | x, parents || N(0, I)),    per pixel

The latent is a vector, the parents enter both halves. beta 0 is an autoencoder, 1 the bound, 10
compresses. The residual form adds back what the decoder misses of the image as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from causalfairness.imaging.configuration import Pace
from causalfairness.imaging.counterfactuals import checked_images
from causalfairness.imaging.parents import Parents, ParentTokens, checked, codes_of
from causalfairness.imaging.streams import Source
from causalfairness.imaging.training import chance

SCALE = 0.05  # of the errors of a pixel, a Laplace distribution


@dataclass(frozen=True)
class VAEPlan:
    """How large is the variational autoencoder, and how much is its latent worth?

    >>> VAEPlan(size=64, beta=10.0).channels
    (32, 64, 128)
    """

    size: int
    beta: float
    latent: int = 64
    channels: tuple[int, ...] = (32, 64, 128)
    width: int = 16
    groups: int = 3
    scanners: int = 3
    pace: Pace = field(default_factory=lambda: Pace(128, 4_000, 1e-3))


class ConditionalVAE(nn.Module):
    """Which vector stands for an image, and which image for a vector, given the parents?

    >>> network = ConditionalVAE(VAEPlan(size=32, beta=1.0, latent=8))
    >>> mean, spread = network.encode(torch.rand(2, 1, 32, 32), torch.zeros(2, 9))
    >>> mean.shape, network.decode(mean, torch.zeros(2, 9)).shape
    (torch.Size([2, 8]), torch.Size([2, 1, 32, 32]))
    """

    def __init__(self, plan: VAEPlan) -> None:
        super().__init__()
        self.plan = plan
        first, last = plan.channels[0], plan.channels[-1]
        side = plan.size // 2 ** len(plan.channels)
        self.tokens = ParentTokens(groups=plan.groups, scanners=plan.scanners, width=plan.width)
        told = plan.width * len(self.tokens.values)
        self.hear = nn.Linear(told, first)
        self.look = nn.Conv2d(1, first, 3, padding=1)
        pairs = list(zip((first, *plan.channels), plan.channels, strict=False))
        self.down = nn.Sequential(*(_stage(nn.Conv2d, before, after) for before, after in pairs))
        self.summary = nn.Linear(last * side * side, 2 * plan.latent)
        self.start = nn.Linear(plan.latent + told, last * side * side)
        self.shape = (last, side, side)
        wider = (_stage(nn.ConvTranspose2d, after, before) for before, after in reversed(pairs))
        self.up = nn.Sequential(*wider)
        self.show = nn.Conv2d(first, 1, 3, padding=1)

    def encode(self, images: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Which vectors stand for these images? Mean and standard deviation."""
        heard = self.hear(self.tokens(codes).flatten(1))[:, :, None, None]
        mean, log = self.summary(self.down(self.look(images) + heard).flatten(1)).chunk(2, 1)
        return mean, torch.exp(log.clamp(-8, 4))

    def decode(self, latents: Tensor, codes: Tensor) -> Tensor:
        """Which images do these vectors stand for, under these codes?"""
        start = self.start(torch.cat([latents, self.tokens(codes).flatten(1)], 1))
        return self.show(self.up(start.reshape(-1, *self.shape))).float()

    def loss(self, images: Tensor, codes: Tensor, noise: Tensor) -> Tensor:
        """How bad are what comes back and what the latent costs, per pixel?"""
        mean, spread = (part.float() for part in self.encode(images, codes))
        error = (self.decode(mean + spread * noise, codes) - images).abs().mean() / SCALE
        cost = 0.5 * (mean**2 + spread**2 - 2 * spread.log() - 1).sum(1).mean()
        return error + self.plan.beta * cost / self.plan.size**2


@dataclass(frozen=True, eq=False)
class VAEGenerator:
    """What would these images be, had the group been another? `CounterfactualGenerator`.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(2, seed=0)
    >>> generator = VAEGenerator(ConditionalVAE(VAEPlan(size=32, beta=1.0)).eval())
    >>> generator.counterfactual(films.images(), films.parents, group=2).shape
    torch.Size([2, 1, 32, 32])
    """

    network: ConditionalVAE
    add_residual: bool = True
    batch: int = 512

    def counterfactual(self, images: Tensor, parents: Parents, *, group: int | Tensor) -> Tensor:
        """What would the images be under this group? Cut to values from 0 to 1, as films are."""
        plan, device = self.network.plan, self.network.show.weight.device
        images = checked_images(images, size=plan.size)
        own, told = (
            codes_of(
                checked(them, count=len(images), groups=plan.groups, scanners=plan.scanners)
            ).to(device)
            for them in (parents, parents.told(group=group))
        )
        made = []
        with torch.inference_mode():
            for start in range(0, len(images), self.batch):
                piece = slice(start, start + self.batch)
                shown = images[piece].to(device)
                mean, _ = self.network.encode(shown, own[piece])
                changed = self.network.decode(mean, told[piece])
                if self.add_residual:
                    changed = shown + changed - self.network.decode(mean, own[piece])
                made.append(changed)
        return torch.cat(made).clamp(0.0, 1.0).to(images.device)


def vae_batches(source: Source, plan: VAEPlan, *, seed: int) -> Callable[[int], tuple[Tensor, ...]]:
    """What does it learn from at each step? Images, codes of their parents, noise.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> from causalfairness.imaging.streams import simulated
    >>> plan = VAEPlan(size=32, beta=1.0, pace=Pace(4, 1, 1e-3))
    >>> batch = vae_batches(simulated(Simulator(size=32), seed=0), plan, seed=0)
    >>> [tuple(part.shape) for part in batch(0)]
    [(4, 1, 32, 32), (4, 9), (4, 64)]
    """

    def batch(step: int) -> tuple[Tensor, ...]:
        images, parents = source(step, plan.pace.batch)
        drawn = chance(seed, step, stream=10, device=images.device)
        noise = torch.randn(len(images), plan.latent, generator=drawn, device=images.device)
        return images, codes_of(parents), noise

    return batch


def _stage(convolution: Callable[..., nn.Module], before: int, after: int) -> nn.Module:
    resized = convolution(before, after, 4, stride=2, padding=1)
    return nn.Sequential(resized, nn.GroupNorm(8, after), nn.SiLU())
