"""How large are the networks for images of a given size, and how are they trained?

One plan for the autoencoder, one for the denoiser of its latents. A checkpoint belongs to a plan:
another plan does not read it. The 256 plan is paper 004's, 256 x 256 x 1 -> 32 x 32 x 8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from causalfairness.errors import ImageError
from causalfairness.imaging.parents import NAMES
from causalfairness.imaging.sampler import Schedule, cosine, linear_beta

SCHEDULES: dict[str, Callable[[], Schedule]] = {"cosine": cosine, "linear_beta": linear_beta}


@dataclass(frozen=True)
class Pace:
    """How fast does training go? Batches, learning rate, clipping, averaging of the weights.

    >>> pace = Pace(batch=64, steps=1_000, rate=1e-3, warmup=100)
    >>> [round(pace.rate_at(step), 6) for step in (0, 99, 550, 999)]
    [1e-05, 0.001, 0.000524, 5e-05]
    """

    batch: int
    steps: int  # the learning rate falls to a twentieth over so many
    rate: float
    warmup: int = 200
    clip: float = 1.0
    average: float = 0.999  # of the weights, from step to step

    def rate_at(self, step: int) -> float:
        """How large is the learning rate at a step? It rises, then falls evenly."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        left = max(self.steps - 1 - step, 0) / max(self.steps - 1 - self.warmup, 1)
        return self.rate * (0.05 + 0.95 * left)

    def average_at(self, step: int) -> float:
        """How much of the averaged weights is kept at a step? Less while they are new."""
        return min(self.average, (step + 1) / (step + 10))


@dataclass(frozen=True)
class AutoencoderPlan:
    """How is an image turned into a small latent and back?

    >>> configuration(256).autoencoder.latent_shape
    (8, 32, 32)
    """

    size: int
    latent_channels: int
    channels: tuple[int, ...]
    blocks: int
    norm_groups: int
    pace: Pace
    kl_weight: float = 1e-6
    coarse_weight: float = 1.0  # of the errors after pooling by 2 and by 4

    @property
    def latent_shape(self) -> tuple[int, int, int]:
        """How large is a latent? Channels, rows, columns."""
        side = self.size // 2 ** (len(self.channels) - 1)
        return self.latent_channels, side, side


@dataclass(frozen=True)
class DenoiserPlan:
    """How is a latent told from noise, given the parents of the image?

    >>> group_only = configuration(128).changed(told=("group",)).denoiser
    >>> group_only.told, group_only.schedule
    (('group',), 'cosine')
    """

    channels: tuple[int, ...]
    attention: tuple[bool, ...]
    head_channels: int
    blocks: int
    norm_groups: int
    width: int  # of a parent's token
    pace: Pace
    groups: int = 3
    scanners: int = 3
    told: tuple[str, ...] = NAMES
    dropped: float = 0.1  # share of the tokens withheld in training, one by one
    all_dropped: float = 0.05  # share of the images for which all are
    added_to_time: bool = True  # the tokens also join the time embedding
    schedule: str = "cosine"  # or "linear_beta", the paper's
    disentangling: float = 0.0  # length of the paper's map, relative to the latent's own


@dataclass(frozen=True)
class Configuration:
    """How large are the networks, and how are they trained? Both plans together.

    >>> configuration(128).autoencoder.latent_shape
    (4, 32, 32)
    """

    autoencoder: AutoencoderPlan
    denoiser: DenoiserPlan

    @property
    def schedule(self) -> Schedule:
        """How much noise is there at each step?"""
        return SCHEDULES[self.denoiser.schedule]()

    def changed(self, **denoiser: object) -> Configuration:
        """Which configuration differs in these fields of the denoiser's plan?"""
        return replace(self, denoiser=replace(self.denoiser, **denoiser))  # type: ignore[arg-type]


def configuration(size: int) -> Configuration:
    """Which networks suit images of this size? 32 (tiny, for tests), 64, 128 or 256.

    >>> configuration(100)
    Traceback (most recent call last):
    ...
    causalfairness.errors.ImageError: no plan for images of 100 x 100; there is one for 32, 64, 128
    and 256. Resize the images, or build a Configuration of your own
    """
    if size not in _PLANS:
        raise ImageError(
            f"no plan for images of {size} x {size}; there is one for 32, 64, 128 and 256. "
            "Resize the images, or build a Configuration of your own"
        )
    return _PLANS[size]


def _plan(size: int, latent: int, encoder: tuple[int, ...], unet: DenoiserPlan) -> Configuration:
    pace = Pace(batch=64, steps=8_000, rate=4e-4)
    return Configuration(AutoencoderPlan(size, latent, encoder, 2, 16, pace), unet)


_TINY = Configuration(
    AutoencoderPlan(32, 4, (8, 16, 16), 1, 4, Pace(16, 300, 4e-3, warmup=20, average=0.98)),
    DenoiserPlan(
        (16, 32), (False, True), 16, 1, 8, 16, Pace(32, 300, 4e-3, warmup=20, average=0.98)
    ),
)
_UNET = DenoiserPlan(
    (96, 192, 224), (False, True, True), 32, 2, 32, 192, Pace(128, 10_000, 3e-4, warmup=500)
)
_SMALL_UNET = replace(_UNET, channels=(64, 128, 160), width=128)
_PLANS = {
    32: _TINY,
    64: _plan(64, 4, (32, 64, 64), _SMALL_UNET),
    128: _plan(128, 4, (32, 64, 128), _UNET),
    256: _plan(256, 8, (32, 64, 128, 128), _UNET),
}
