"""How good are the generated counterfactuals of an experiment, form by form?

Everything is measured on people that no network was trained on, against the true counterfactuals
of the simulator, and written to a JSON file as it is found: a form that is in the file already is
not measured again, and refused if it was measured with other settings.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.imaging.measured import keep_measured, measured
from benchmarks.imaging.panel import Panel, agreement
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.counterfactuals import CounterfactualGenerator, DoNothing, made_images
from causalfairness.imaging.generator import DiffusionGenerator, Walk, course
from causalfairness.imaging.parents import Parents
from causalfairness.imaging.quality import quality
from causalfairness.imaging.simulator import Radiographs
from causalfairness.imaging.stages import (
    Settings,
    trained_autoencoder,
    trained_generator,
    vae_plan,
)
from causalfairness.imaging.training import averaged_weights
from causalfairness.imaging.vae import ConditionalVAE, VAEGenerator

TEST_SEED = 77
_Making = Callable[[Settings, Walk, Radiographs], CounterfactualGenerator]


@dataclass(frozen=True, eq=False)
class _Truth:
    """What if the generator knew the simulator? What the judges make of the truth itself."""

    films: Radiographs

    def counterfactual(self, images: Tensor, parents: Parents, *, group: int | Tensor) -> Tensor:
        """What would the images be, of the people in `films`?"""
        return self.films.told(group=group).images()


@dataclass(frozen=True, eq=False)
class _Ceiling:
    """What if the denoiser were perfect? The true latents, through the autoencoder."""

    films: Radiographs
    generator: DiffusionGenerator

    def counterfactual(self, images: Tensor, parents: Parents, *, group: int | Tensor) -> Tensor:
        """What would the images be, of the people in `films`?"""
        true = self.films.told(group=group).images()
        with torch.no_grad():
            before, after = (
                self.generator.autoencoder.decode(self.generator.autoencoder.encode(them))
                for them in (self.films.images(), true)
            )
        return (images + after - before).clamp(0.0, 1.0)


@dataclass(frozen=True, eq=False)
class _Known:
    """What a generator made of these images is not asked again; of others it is asked."""

    generator: CounterfactualGenerator
    images: Tensor
    people: Parents
    made: Tensor  # (groups, images, ...)

    def counterfactual(self, images: Tensor, parents: Parents, *, group: Tensor) -> Tensor:
        """What would the images be under the group told to each?"""
        if images is self.images and parents is self.people:
            return self.made[group, torch.arange(len(images), device=group.device)]
        return self.generator.counterfactual(images, parents, group=group)


def evaluate(
    settings: Settings,
    panel: Panel,
    *,
    forms: Iterable[str],
    count: int,
    walk: Walk,
    path: Path,
    seconds: float = math.inf,
) -> dict[str, Any]:
    """How good is each form? `forms` are keys of `FORMS`; returns what was found for them.

    No form is begun once the time is over: call again for the rest.

    >>> import tempfile
    >>> from benchmarks.imaging.panel import trained_panel
    >>> from benchmarks.imaging.readers import School, trained_readers
    >>> school = School(Settings(Path("runs"), size=32).simulator, seed=0, people=60, epochs=1)
    >>> panel = trained_panel(school, trained_readers(school, kinds=["plain"]))
    >>> folder = Path(tempfile.mkdtemp())
    >>> found = evaluate(Settings(folder, size=32), panel, forms=["nothing"], count=40,
    ...                  walk=Walk(), path=folder / "quality.json")
    >>> found["all nothing"]["truth"]["ratio"]
    1.0
    """
    begun = time.monotonic()
    films = settings.simulator.draw(count, seed=TEST_SEED, device=settings.device)
    wanted: dict[str, Any] = {
        **{"count": count, "strength": settings.strength, "seed": settings.seed},
        **{"walk": asdict(walk), "course": course()},
    }
    found: dict[str, Any] = {}
    for form in forms:
        name = f"{settings.variant} {form}"
        known = measured(path, name, settings=wanted)
        if known is not None:
            found[name] = known
            continue
        if time.monotonic() - begun > seconds:
            break
        started = time.monotonic()
        generator = generator_of(form, settings, walk, films)
        entries = {name: {"settings": wanted, **_figures(generator, films, panel)}}
        entries[name]["seconds"] = round(time.monotonic() - started, 1)
        if form == "ceiling":
            entries["autoencoder error"] = _autoencoder_error(settings, films)
        keep_measured(path, entries)
        found |= entries
    return found


def generator_of(
    form: str, settings: Settings, walk: Walk, films: Radiographs
) -> CounterfactualGenerator:
    """Which generator has this form? `films` are those it will be asked about.

    >>> settings = Settings(Path("runs"), size=32)
    >>> generator_of("nothing", settings, Walk(), settings.simulator.draw(2, seed=0))
    DoNothing()
    """

    return FORMS[form](settings, walk, films)


def _autoencoder_error(settings: Settings, films: Radiographs) -> dict[str, float]:
    """What the autoencoder misses of images, and of the same images without pixel noise."""
    autoencoder, images = trained_autoencoder(settings), films.images()
    with torch.no_grad():
        back = torch.cat([autoencoder.decode(autoencoder.encode(it)) for it in images.split(250)])
    smooth = replace(films, simulator=replace(films.simulator, noise=0.0)).images()
    compared = {"image": images, "without_noise": smooth}
    return {name: float((back - it).abs().mean()) for name, it in compared.items()}


def _figures(
    generator: CounterfactualGenerator, films: Radiographs, panel: Panel
) -> dict[str, Any]:
    """Quality for the next group of each person, and ECA over all groups, generated and true."""
    images, people = films.images(), films.parents
    told = (people.group + 1) % 3
    made = made_images(generator, images, people, range(3))
    judged = quality(
        _Known(generator, images, people, torch.stack(made)),
        images,
        people,
        judges=panel.judges,
        group=told,
        truth=films.told(group=told).images(),
        audited=panel.auditees,
    )
    true = [films.told(group=group).images() for group in range(3)]
    generated, known = (agreement(panel.auditees, images, worlds) for worlds in (made, true))
    apart = (generated - known).abs()
    found = asdict(judged)
    for name in ("truth", "score"):
        found[name]["ratio"] = getattr(judged, name).ratio
    found["largest_drift"] = judged.largest_drift
    found["agreement"] = {
        "mean_error": float(apart.mean()),
        "largest_error": float(apart.max()),
        "of_auditees": float((generated.mean(1) - known.mean(1)).abs().mean()),
        "true_from": float(known.mean(1).min()),
        "true_to": float(known.mean(1).max()),
        "correlation": float(
            torch.corrcoef(torch.stack([generated.flatten(), known.flatten()]))[0, 1]
        ),
    }
    return found


def _walked(**changes: Any) -> _Making:
    """The trained denoiser, on a walk changed like this."""
    return lambda settings, walk, films: replace(
        trained_generator(settings), walk=replace(walk, **changes)
    )


def _variational(beta: float) -> _Making:
    def made(settings: Settings, walk: Walk, films: Radiographs) -> CounterfactualGenerator:
        plan = vae_plan(settings, beta=beta)
        path = settings.path(f"vae-{beta:g}")
        network = averaged_weights(ConditionalVAE(plan), path, plan=plan, device=settings.device)
        return VAEGenerator(network)

    return made


def _gaussian(settings: Settings, walk: Walk, films: Radiographs) -> CounterfactualGenerator:
    others = settings.simulator.draw(4_000, seed=TEST_SEED + 1, device=settings.device)
    return fit_gaussian(others.images(), others.parents)


FORMS: dict[str, _Making] = {
    "nothing": lambda settings, walk, films: DoNothing(),
    "truth": lambda settings, walk, films: _Truth(films),
    "residual": _walked(form="residual"),
    "difference": _walked(form="difference"),
    "decode": _walked(form="decode"),
    "guided": _walked(form="residual", guidance=1.5),
    "plain": _walked(form="residual", refinement=0),
    "ceiling": lambda settings, walk, films: _Ceiling(films, trained_generator(settings)),
    "gaussian": _gaussian,
    "vae-0": _variational(0.0),
    "vae-1": _variational(1.0),
    "vae-10": _variational(10.0),
}
