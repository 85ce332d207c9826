"""Where do the batches of training come from? Each from the seed and the number of its step.

A source is asked for a numbered lot of people and gives their images and parents, the same ones
whenever it is asked. A simulator never runs out of lots; a fixed set of images is dealt out in a
new order every time it is through.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from causalfairness.imaging.classifiers.scoring import Images, look
from causalfairness.imaging.configuration import Configuration
from causalfairness.imaging.parents import UNKNOWN, Parents, codes_of
from causalfairness.imaging.training import chance

Source = Callable[[int, int], tuple[Tensor, Parents]]  # of a lot's number and its size
POOL = 32_768  # latents that are encoded at once
_LOTS, _POSTERIOR, _ORDER, _NOISE, _DROPPED = range(5)  # whose chance a stream of numbers is


def simulated(simulator: Any, *, seed: int, device: torch.device | str = "cpu") -> Source:
    """Where do new images come from for every lot? A `Simulator`.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> images, people = simulated(Simulator(size=32), seed=0)(3, 2)
    >>> images.shape, len(people)
    (torch.Size([2, 1, 32, 32]), 2)
    """

    def lot(number: int, size: int) -> tuple[Tensor, Parents]:
        words = np.random.SeedSequence((seed, _LOTS, number)).generate_state(1, np.uint64)
        drawn = simulator.draw(size, seed=int(words[0] >> np.uint64(1)), device=device)
        return drawn.images(), drawn.parents

    return lot


def stored(
    images: Images, parents: Parents, *, seed: int, device: torch.device | str | None = None
) -> Source:
    """Where do batches of a fixed set come from? A lot is drawn from it, without repeats.

    A tensor stays where it is, unless a device is named; what is in files is decoded lot by lot.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(6, seed=0)
    >>> lot = stored(films.images(), films.parents, seed=0)
    >>> bool((lot(1, 4)[0] == lot(1, 4)[0]).all())
    True
    """
    at = images.device if isinstance(images, Tensor) else "cpu"
    where = at if device is None else device

    def lot(number: int, size: int) -> tuple[Tensor, Parents]:
        order = torch.randperm(len(images), generator=chance(seed, number, stream=_ORDER))
        chosen = order[torch.arange(size) % len(images)]
        return look(images, chosen, where), parents.take(chosen.to(parents.group.device)).to(where)

    return lot


def autoencoder_batches(
    source: Source, configuration: Configuration, *, seed: int
) -> Callable[[int], tuple[Tensor, ...]]:
    """What does an autoencoder learn from at each step? Images, and noise for their latents.

    >>> from causalfairness.imaging.configuration import configuration
    >>> from causalfairness.imaging.simulator import Simulator
    >>> source = simulated(Simulator(size=32), seed=0)
    >>> batch = autoencoder_batches(source, configuration(32), seed=0)
    >>> [tuple(part.shape) for part in batch(0)]
    [(16, 1, 32, 32), (16, 4, 8, 8)]
    """
    plan = configuration.autoencoder

    def batch(step: int) -> tuple[Tensor, ...]:
        images, _ = source(step, plan.pace.batch)
        drawn = chance(seed, step, stream=_POSTERIOR, device=images.device)
        shape = (len(images), *plan.latent_shape)
        return images, torch.randn(shape, generator=drawn, device=images.device)

    return batch


def denoiser_batches(
    source: Source,
    encode: Callable[[Tensor], Tensor],
    configuration: Configuration,
    *,
    seed: int,
    pool: int = POOL,
    renewed: int = 2_000,
) -> Callable[[int], tuple[Tensor, ...]]:
    """What does a denoiser learn from at each step? Latents, codes, noise and angles.

    `pool` images are encoded at once; after `renewed` steps others take their place. Each token is
    withheld now and then, and now and then all of them are.

    >>> from causalfairness.imaging.configuration import configuration
    >>> from causalfairness.imaging.simulator import Simulator
    >>> source = simulated(Simulator(size=32), seed=0)
    >>> corner = lambda images: images[:, :, :8, :8]
    >>> batch = denoiser_batches(source, corner, configuration(32), seed=0, pool=64)
    >>> [tuple(part.shape) for part in batch(0)]
    [(32, 1, 8, 8), (32, 9), (32, 1, 8, 8), (32,)]
    """
    plan, schedule = configuration.denoiser, configuration.schedule

    @lru_cache(maxsize=1)
    def pool_at(number: int) -> tuple[Tensor, Tensor]:
        """Latents, encoded in pieces of at most 512 images, and the codes of their parents."""
        piece = min(pool, 512)
        latents, codes = [], []
        for at in range(-(-pool // piece)):
            images, parents = source(number * 1_000_003 + at, piece)
            with torch.no_grad():
                latents.append(encode(images))
            codes.append(codes_of(parents, told=plan.told))
        return torch.cat(latents), torch.cat(codes)

    def batch(step: int) -> tuple[Tensor, ...]:
        pooled, known = pool_at(step // renewed)
        device = pooled.device
        drawn = chance(seed, step, stream=_NOISE, device=device)
        chosen = torch.randint(len(pooled), (plan.pace.batch,), generator=drawn, device=device)
        latents = pooled[chosen].float()
        noise = torch.randn(latents.shape, generator=drawn, device=device)
        share = torch.rand(len(latents), generator=drawn, device=device)
        codes = _with_gaps(known[chosen], plan.dropped, plan.all_dropped, drawn)
        return latents, codes, noise, schedule.angles_at(share)

    return batch


def _with_gaps(codes: Tensor, each: float, all_of_them: float, drawn: Any) -> Tensor:
    """Codes with each one withheld by chance, and by chance all of a row."""
    one = torch.rand(codes.shape, generator=drawn, device=codes.device) < each
    row = torch.rand(len(codes), 1, generator=drawn, device=codes.device) < all_of_them
    return codes.masked_fill(one | row, float(UNKNOWN))
