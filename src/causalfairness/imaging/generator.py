"""What would these images be, had the group been another? A latent diffusion model's answer.

    latent  z = encode(x),   noise  e = invert(z | own parents),   z' = sample(e | told parents)

and, with D the decoder, one of three forms of the image (methods §11):

    residual     x + D(z') - D(z)                what the autoencoder cannot express stays as it is
    difference   x + D(z') - D(z0)               z0 = sample(e | own): no change gives x
    decode       D(z')                           the paper's: the decoder's blur seems an effect

The group UNKNOWN withholds it: the image under a group nobody names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from causalfairness.imaging.checkpoints import pack, unpack
from causalfairness.imaging.configuration import Configuration
from causalfairness.imaging.counterfactuals import checked_images
from causalfairness.imaging.devices import captured
from causalfairness.imaging.latent_networks import Autoencoder, Denoiser
from causalfairness.imaging.parents import UNKNOWN, Parents, checked, codes_of
from causalfairness.imaging.sampler import Velocity, cosine, guided, invert, sample
from causalfairness.progress import track

Form = Literal["residual", "difference", "decode"]


@dataclass(frozen=True)
class Walk:
    """How is a latent taken to its noise and back? Steps, rounds of refinement, guidance.

    >>> Walk(steps=20).refinement
    2
    """

    steps: int = 50
    refinement: int = 2
    guidance: float = 1.0
    form: Form = "residual"
    batch: int = 128
    mixed: bool = True  # the walk in bfloat16 on a GPU; latents and images never are


@dataclass(frozen=True, eq=False)
class DiffusionGenerator:
    """What would these images be, had the group been another? `CounterfactualGenerator`.

    >>> from causalfairness.imaging.configuration import configuration
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(2, seed=0)
    >>> generator = untrained(configuration(32), seed=0)
    >>> generator.counterfactual(films.images(), films.parents, group=1, steps=3).shape
    torch.Size([2, 1, 32, 32])
    """

    configuration: Configuration
    autoencoder: Autoencoder
    denoiser: Denoiser
    walk: Walk = Walk()
    disentangle: Callable[[Tensor], Tensor] | None = None  # the paper's map of latents
    captures: dict[Any, Callable[..., Tensor]] = field(default_factory=dict, repr=False)

    def counterfactual(
        self,
        images: Tensor,
        parents: Parents,
        *,
        group: int | Tensor,
        steps: int | None = None,
        refinement: int | None = None,
        guidance: float | None = None,
        form: Form | None = None,
    ) -> Tensor:
        """What would the images be under this group? What is not given is as in `walk`."""
        given = {"steps": steps, "refinement": refinement, "guidance": guidance, "form": form}
        changes: dict[str, Any] = {name: it for name, it in given.items() if it is not None}
        walking = replace(self, walk=replace(self.walk, **changes))
        return walking.counterfactuals(images, parents, groups=[group])[0]

    def counterfactuals(
        self, images: Tensor, parents: Parents, *, groups: Sequence[int | Tensor]
    ) -> list[Tensor]:
        """What would the images be under each of these groups? Their noise is found only once.

        Films hold values from 0 to 1: what would lie beyond is cut there.
        """
        images = checked_images(images, size=self.configuration.autoencoder.size)
        plan, device = self.configuration.denoiser, self.autoencoder.center.device
        people = [parents, *(parents.told(group=group) for group in groups)]
        codes = [
            codes_of(
                checked(them, count=len(images), groups=plan.groups, scanners=plan.scanners),
                told=plan.told,
            )
            for them in people
        ]
        starts = range(0, len(images), self.walk.batch)
        made = [
            self._one_batch(
                images[start : start + self.walk.batch].to(device),
                [code[start : start + self.walk.batch].to(device) for code in codes],
            )
            for start in track(starts, total=len(starts), what="counterfactual images")
        ]
        whole = (torch.cat(parts) for parts in zip(*made, strict=True))
        return [them.float().clamp(0.0, 1.0).to(images.device) for them in whole]

    def encode(self, images: Tensor) -> Tensor:
        """Which latents does the denoiser know these images by?"""
        latent = self.autoencoder.encode(images)
        return latent if self.disentangle is None else self.disentangle(latent)

    def velocity(self, codes: Tensor) -> Velocity:
        """Which way is the noise, for people with these codes? With the guidance of `walk`."""
        nothing = torch.full_like(codes, float(UNKNOWN))
        plain, blind = (partial(self._ask, codes=told) for told in (codes, nothing))
        return guided(plain, blind, strength=self.walk.guidance)

    def _one_batch(self, images: Tensor, codes: Sequence[Tensor]) -> list[Tensor]:
        """Encodes and decodes in full precision: a rounded latent is another film's."""
        with torch.inference_mode():
            latent = self.encode(images)
            changed, unchanged = self._walked(latent, codes)
            decoded = [self.autoencoder.decode(them) for them in changed]
            if self.walk.form == "decode":
                return decoded
            start = unchanged if self.walk.form == "difference" else latent
            return [images - self.autoencoder.decode(start) + them for them in decoded]

    def _walked(self, latent: Tensor, codes: Sequence[Tensor]) -> tuple[list[Tensor], Tensor]:
        """Each latent as sampled under what is told, and under its own parents."""
        walk, angles = self.walk, self.configuration.schedule.grid(self.walk.steps)
        angles, own = angles.to(latent.device), self.velocity(codes[0])
        mixed = walk.mixed and latent.is_cuda
        with torch.autocast(latent.device.type, torch.bfloat16, enabled=mixed, cache_enabled=False):
            noise = invert(own, latent, angles=angles, refinement=walk.refinement)
            changed = [sample(self.velocity(told), noise, angles=angles) for told in codes[1:]]
            if walk.form != "difference":
                return changed, latent
            unchanged = _unchanged(codes, changed)
            if unchanged is None:
                unchanged = sample(own, noise, angles=angles)
        return changed, unchanged

    def _ask(self, latents: Tensor, angle: Tensor, *, codes: Tensor) -> Tensor:
        """One call of the denoiser, captured once for each shape."""
        values = (latents, angle.expand(len(latents)), codes)
        key = (id(self.denoiser), latents.shape, self.walk.mixed)
        if key not in self.captures:
            self.captures[key] = captured(self.denoiser, values)
        return self.captures[key](*values).clone()


def _unchanged(codes: Sequence[Tensor], changed: Sequence[Tensor]) -> Tensor | None:
    """The latents that were sampled as the people are; None where someone is told nothing such."""
    own = torch.stack([(told == codes[0]).all(1) for told in codes[1:]])
    if not bool(own.any(0).all()):
        return None
    everyone = torch.arange(own.shape[1], device=own.device)
    return torch.stack(list(changed))[own.int().argmax(0), everyone]


def course() -> str:
    """Which way do walks go in this version? To be known by what one does to a few numbers.

    Steps that lie elsewhere, or rounds that are taken otherwise, end in others.

    >>> course()
    '50 steps, 2 rounds: -1.04974 1.04822 3.14550'
    """
    numbers = torch.tensor([[-2.0], [0.3], [2.5]], dtype=torch.float64)
    angles = cosine().grid(Walk.steps).double()
    found = invert(
        lambda z, angle: 3 * torch.sin(3 * z) * torch.sin(angle),
        numbers,
        angles=angles,
        refinement=Walk.refinement,
    )
    ends = " ".join(f"{float(it):.5f}" for it in found)
    return f"{Walk.steps} steps, {Walk.refinement} rounds: {ends}"


def untrained(configuration: Configuration, *, seed: int) -> DiffusionGenerator:
    """Which generator has learned nothing yet? Where training starts, from a seed.

    >>> from causalfairness.imaging.configuration import configuration
    >>> sum(weight.numel() for weight in untrained(configuration(32), seed=0).denoiser.parameters())
    259540
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        autoencoder = Autoencoder(configuration.autoencoder)
        denoiser = Denoiser(
            configuration.denoiser, channels=configuration.autoencoder.latent_channels
        )
    return DiffusionGenerator(configuration, autoencoder.train(False), denoiser.train(False))


def pack_generator(generator: DiffusionGenerator, folder: Path) -> list[Path]:
    """How is a trained generator carried elsewhere? In files of at most 15 MiB, in bfloat16.

    >>> import tempfile
    >>> from causalfairness.imaging.configuration import configuration
    >>> files = pack_generator(untrained(configuration(32), seed=0), Path(tempfile.mkdtemp()))
    >>> [file.name for file in files]
    ['autoencoder-0.pt', 'denoiser-0.pt']
    """
    plan = generator.configuration
    first = pack(generator.autoencoder.state_dict(), folder, name="autoencoder", plan=plan)
    return first + pack(generator.denoiser.state_dict(), folder, name="denoiser", plan=plan)


def unpack_generator(configuration: Configuration, folder: Path) -> DiffusionGenerator:
    """Which generator was packed here? Refused if it is of another configuration.

    >>> import tempfile
    >>> from causalfairness.imaging.configuration import configuration
    >>> folder = Path(tempfile.mkdtemp())
    >>> files = pack_generator(untrained(configuration(32), seed=0), folder)
    >>> unpack_generator(configuration(32), folder).walk.steps
    50
    """
    found = untrained(configuration, seed=0)
    found.autoencoder.load_state_dict(unpack(folder, name="autoencoder", plan=configuration))
    found.denoiser.load_state_dict(unpack(folder, name="denoiser", plan=configuration))
    return found
