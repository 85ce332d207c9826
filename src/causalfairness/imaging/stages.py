"""How are the networks of a generator trained? One file each, in one folder, resumed if there.

Images are simulated on the device as they are needed, new ones in every batch, unless the settings
name films to learn from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from causalfairness.imaging import checkpoints
from causalfairness.imaging.configuration import Configuration, configuration
from causalfairness.imaging.disentangling import DisentanglingMap, disentangle
from causalfairness.imaging.generator import DiffusionGenerator, untrained
from causalfairness.imaging.latent_networks import Autoencoder, standardize
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.streams import (
    POOL,
    Source,
    autoencoder_batches,
    denoiser_batches,
    simulated,
    stored,
)
from causalfairness.imaging.training import TrainingRun, averaged_weights, train
from causalfairness.imaging.vae import ConditionalVAE, VAEPlan, vae_batches

VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "control": {},  # as `all`: to be trained as long as the others
    "group": {"told": ("group",)},
    "schedule": {"schedule": "linear_beta"},
    "mine": {"disentangling": 0.1},
    "paper": {"told": ("group",), "schedule": "linear_beta", "disentangling": 0.1},
}
MAP_STEPS = 600


@dataclass(frozen=True)
class Settings:
    """What is to be trained, where, and for how long?

    >>> Settings(Path("runs"), size=128, variant="group").configuration.denoiser.told
    ('group',)
    """

    folder: Path
    size: int = 128
    variant: str = "all"
    seconds: float = math.inf
    steps: int | None = None
    seed: int = 0
    device: str = "cpu"
    films: Any = None  # with `parents`, such as a RadiographFolder; None: simulated ones
    groups: int = 3
    strength: float = 1.0  # of the group, in simulated films

    @property
    def configuration(self) -> Configuration:
        """How large are the networks of this variant, and how are they trained?"""
        found = configuration(self.size).changed(groups=self.groups, **VARIANTS[self.variant])
        if self.steps is None:
            return found
        return Configuration(
            replace(found.autoencoder, pace=replace(found.autoencoder.pace, steps=self.steps)),
            replace(found.denoiser, pace=replace(found.denoiser.pace, steps=self.steps)),
        )

    def path(self, name: str) -> Path:
        """Where is this network kept?"""
        return self.folder / f"{name}-{self.size}.pt"

    def source(self, *, stream: int) -> Source:
        """Where do images come from? Different ones for every stream."""
        seed = 1_000 * self.seed + stream
        if self.films is not None:
            return stored(self.films, self.films.parents, seed=seed, device=self.device)
        return simulated(self.simulator, seed=seed, device=self.device)

    @property
    def simulator(self) -> Simulator:
        """Which simulator draws films that are not given?"""
        return Simulator(size=self.size, strength=self.strength)


def train_autoencoder(settings: Settings) -> TrainingRun:
    """How does the autoencoder learn? The same one for all variants.

    >>> import tempfile
    >>> run = train_autoencoder(Settings(Path(tempfile.mkdtemp()), size=32, steps=2))
    >>> run.step
    2
    """
    plan = settings.configuration
    return train(
        untrained(plan, seed=settings.seed).autoencoder.to(settings.device),
        autoencoder_batches(settings.source(stream=0), plan, seed=settings.seed),
        path=settings.path("autoencoder"),
        plan=plan.autoencoder,
        pace=plan.autoencoder.pace,
        seconds=settings.seconds,
        what="autoencoder",
    )


def train_denoiser(settings: Settings) -> TrainingRun:
    """How does the denoiser of a variant learn? On the latents of the trained autoencoder.

    >>> import tempfile
    >>> settings = Settings(Path(tempfile.mkdtemp()), size=32, steps=2)
    >>> first, second = train_autoencoder(settings), train_denoiser(settings)
    >>> second.step
    2
    """
    plan = settings.configuration
    beginning = replace(
        untrained(plan, seed=settings.seed), autoencoder=trained_autoencoder(settings)
    )
    ready = replace(beginning, disentangle=_map(settings, beginning))
    return train(
        ready.denoiser.to(settings.device),
        denoiser_batches(
            settings.source(stream=1), _quick(ready), plan, seed=settings.seed, pool=_pool(settings)
        ),
        path=settings.path(f"denoiser-{settings.variant}"),
        plan=plan.denoiser,
        pace=plan.denoiser.pace,
        seconds=settings.seconds,
        what="denoiser",
    )


def train_vae(settings: Settings, *, beta: float) -> TrainingRun:
    """How does a conditional variational autoencoder learn?

    >>> import tempfile
    >>> train_vae(Settings(Path(tempfile.mkdtemp()), size=32, steps=1), beta=1.0).step
    1
    """
    plan = vae_plan(settings, beta=beta)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        network = ConditionalVAE(plan).to(settings.device)
    return train(
        network,
        vae_batches(settings.source(stream=2), plan, seed=settings.seed),
        path=settings.path(f"vae-{beta:g}"),
        plan=plan,
        pace=plan.pace,
        seconds=settings.seconds,
        what=f"variational autoencoder, beta {beta:g}",
    )


def vae_plan(settings: Settings, *, beta: float) -> VAEPlan:
    """How large is the variational autoencoder, and how is it trained?

    >>> vae_plan(Settings(Path("runs"), size=32, steps=7), beta=1.0).pace.steps
    7
    """
    plan = VAEPlan(size=settings.size, beta=beta, groups=settings.groups)
    pace = plan.pace if settings.steps is None else replace(plan.pace, steps=settings.steps)
    return replace(plan, pace=pace)


def trained_autoencoder(settings: Settings) -> Autoencoder:
    """Which autoencoder was trained? With latents standardized over eight lots of images.

    >>> trained_autoencoder(Settings(Path("nowhere"), size=32))
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint nowhere/autoencoder-32.pt; train
    first
    """
    plan = settings.configuration.autoencoder
    found = Autoencoder(plan)
    averaged_weights(found, settings.path("autoencoder"), plan=plan, device=settings.device)
    source, piece = settings.source(stream=3), 512 if settings.device != "cpu" else 64
    standardize(found, (source(lot, piece)[0] for lot in range(8)))
    return found


def trained_generator(settings: Settings) -> DiffusionGenerator:
    """Which generator was trained? The denoiser of the variant and the autoencoder.

    >>> trained_generator(Settings(Path("nowhere"), size=32))
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint nowhere/autoencoder-32.pt; train
    first
    """
    plan = settings.configuration
    beginning = replace(untrained(plan, seed=0), autoencoder=trained_autoencoder(settings))
    path = settings.path(f"denoiser-{settings.variant}")
    averaged_weights(beginning.denoiser, path, plan=plan.denoiser, device=settings.device)
    return replace(beginning, disentangle=_map(settings, beginning))


def _map(settings: Settings, generator: DiffusionGenerator) -> Callable[[Tensor], Tensor] | None:
    """The paper's map of latents, trained once and kept."""
    plan = settings.configuration
    if not plan.denoiser.disentangling:
        return None
    channels, path = plan.autoencoder.latent_channels, settings.path("map")
    if path.exists():
        kept = checkpoints.load(path, plan=plan.autoencoder, but=("pace",))
        found = DisentanglingMap(channels, length=plan.denoiser.disentangling)
        found.load_state_dict(kept["map"])
        return partial(found.to(settings.device).train(False))
    source, encode = settings.source(stream=4), _quick(generator)

    def lots(step: int) -> tuple[Tensor, Tensor]:
        images, parents = source(step, 64)
        with torch.no_grad():
            return encode(images), parents.group

    learned = disentangle(
        lots,
        groups=plan.denoiser.groups,
        length=plan.denoiser.disentangling,
        steps=min(MAP_STEPS, settings.steps or MAP_STEPS),
        seed=settings.seed,
    )
    told = {"map": learned.map.state_dict(), "before": learned.before, "after": learned.after}
    checkpoints.save(path, told, plan=plan.autoencoder)
    return partial(learned.map)


def _quick(generator: DiffusionGenerator) -> Callable[[Tensor], Tensor]:
    """Encodes in bfloat16 on a GPU, as in training."""

    def encode(images: Tensor) -> Tensor:
        with torch.autocast(images.device.type, torch.bfloat16, enabled=images.is_cuda):
            return generator.encode(images)

    return encode


def _pool(settings: Settings) -> int:
    """As many latents at once as a GPU encodes in seconds; on a CPU few."""
    return POOL if settings.device.startswith("cuda") else 256
