"""How is a generator made from radiographs? In one folder, in as many calls as it takes.

A diffusion model learns its autoencoder first, then the denoiser of its latents; a variational
autoencoder learns at once; the Gaussian is fitted. Checkpoints lie in folder/training. A call that
was killed, or ran out of time, is taken up by the next one and ends with the same numbers. The
folder belongs to the images and settings it was begun with (folder/training.json): others are
refused. At the end the generator is packed (`keeping`) and its composition measured, mean
|x - made(x, own group)| on people it did not learn from.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from causalfairness.errors import CheckpointError, SplitError
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.checkpoints import refuse_other_plan
from causalfairness.imaging.configuration import configuration
from causalfairness.imaging.counterfactuals import CounterfactualGenerator
from causalfairness.imaging.keeping import (
    BETA,
    KINDS,
    SIMULATED,
    keep_generator,
    keep_learned,
    keep_weights,
    kept_weights,
)
from causalfairness.imaging.parents import Parents
from causalfairness.imaging.quality import composition
from causalfairness.imaging.readers import RadiographFolder
from causalfairness.imaging.readers.folder import fingerprint
from causalfairness.imaging.readers.plain import stated_split
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.stages import (
    Settings,
    train_autoencoder,
    train_denoiser,
    train_vae,
    trained_generator,
    vae_plan,
)
from causalfairness.imaging.training import TrainingRun
from causalfairness.imaging.vae import VAEGenerator
from causalfairness.writing import write_whole

BEGUN = "training.json"
COMPONENTS = 40  # of the Gaussian
CHECKED = 16  # people on whom composition is measured
PEOPLE = 4_000  # simulated ones that a Gaussian is fitted to
HELD = 2**31  # bytes of images that are kept in memory; larger sets are decoded as they are needed


@dataclass(frozen=True)
class MadeGenerator:
    """How did making a generator go? `about` is the note that is kept beside it.

    >>> print(MadeGenerator({"kind": "gaussian", "composition": 0.0}, finished=True))
    gaussian: composition 0
    """

    about: Mapping[str, Any]
    finished: bool
    runs: Mapping[str, TrainingRun] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{name}: {run}" for name, run in self.runs.items()]
        if self.finished:
            lines.append(f"{self.about['kind']}: composition {self.about['composition']:.2g}")
        else:
            lines.append("not finished: call it again to go on")
        return "\n".join(lines)


def make_generator(
    films: RadiographFolder | None,
    folder: Path | str,
    *,
    size: int,
    kind: str = "diffusion",
    steps: int | None = None,
    seconds: float = math.inf,
    device: str = "cpu",
    seed: int = 0,
) -> MadeGenerator:
    """Which generator do these radiographs make? None: simulated ones, new in every batch.

    Learns from the people whose split is "train". `steps` are those of each network (left out:
    what suits the size), `seconds` those of this call.

    >>> import tempfile
    >>> made = make_generator(None, tempfile.mkdtemp(), size=32, kind="vae", steps=2)
    >>> made.finished, made.about["groups"]
    (True, ['0', '1', '2'])
    """
    if kind not in KINDS:
        raise CheckpointError(f"there is no generator of kind {kind!r}; use {', '.join(KINDS)}")
    configuration(size)  # refuses a size without a plan, before anything is written
    root, about = Path(folder), _about(films, kind=kind, size=size, steps=steps, seed=seed)
    train, others = _apart(films, size=size, seed=seed)
    learned = train if films is None else held(train)
    _begin(root, about)
    settings = Settings(
        root / "training",
        size=size,
        steps=steps,
        seconds=seconds,
        seed=seed,
        device=device,
        films=None if films is None else learned,
        groups=len(about["groups"]),
    )
    made, runs = _LEARNERS[kind](settings, learned)
    if made is None:
        return MadeGenerator(about, finished=False, runs=runs)
    keep_weights(made, root, about=about)
    packed = kept_weights(root, about=about, device=device)
    apart = composition(packed, others.images(slice(CHECKED)), others.parents.take(slice(CHECKED)))
    about = {**about, "composition": apart[0]}
    if films is not None:
        keep_learned(train, root)
    keep_generator(made, root, about=about)
    return MadeGenerator(about, finished=True, runs=runs)


@dataclass(frozen=True, eq=False)
class HeldFilms:
    """Which films are in memory, and whose? What a `RadiographFolder` is once it is decoded.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> drawn = Simulator(size=16).draw(3, seed=0)
    >>> HeldFilms(drawn.images(), drawn.parents).images(slice(2)).shape
    torch.Size([2, 1, 16, 16])
    """

    pictures: Tensor
    parents: Parents

    def __len__(self) -> int:
        return len(self.pictures)

    def images(self, index: Tensor | slice = slice(None)) -> Tensor:
        """What is on these films?"""
        return self.pictures[index]


def held(films: Any) -> Any:
    """How are films looked at many times? From memory where they fit, else decoded each time.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> type(held(Simulator(size=16).draw(3, seed=0))).__name__
    'HeldFilms'
    """
    size = films.images(slice(1)).shape[-1]
    if 4 * size**2 * len(films) > HELD:
        return films
    return HeldFilms(films.images(slice(None)), films.parents)


def _about(
    films: RadiographFolder | None, *, kind: str, size: int, steps: int | None, seed: int
) -> dict[str, Any]:
    groups = ["0", "1", "2"] if films is None else list(films.groups)
    learned = {"components": COMPONENTS} if kind == "gaussian" else {"steps": steps}
    source = SIMULATED if films is None else fingerprint(films)
    return {"kind": kind, "size": size, "groups": groups, "seed": seed, "images": source, **learned}


def _apart(films: RadiographFolder | None, *, size: int, seed: int) -> tuple[Any, Any]:
    """Films to learn from, and others to look at afterwards."""
    if films is None:
        draw = Simulator(size=size).draw
        return draw(PEOPLE, seed=seed + 1), draw(CHECKED, seed=seed + 2)
    parts = stated_split(films, seed=seed)
    if "train" not in parts:
        raise SplitError(
            f"Nobody is in 'train': the table has the parts {', '.join(sorted(parts))}. Name the "
            "people to learn from 'train' in the column split, or leave the column out."
        )
    train = parts["train"]
    counts = torch.bincount(train.parents.group, minlength=len(films.groups)).tolist()
    present = [name for name, count in zip(films.groups, counts, strict=True) if count]
    if len(present) < max(len(films.groups), 2):
        raise SplitError(
            f"Only {', '.join(present)} is in 'train', of the groups {', '.join(films.groups)}; a "
            "generator learns what a group looks like from its films, of two groups or more. Add "
            "films, or leave the other groups out."
        )
    return train, next((part for name, part in parts.items() if name != "train"), train)


def _begin(root: Path, about: Mapping[str, Any]) -> None:
    path = root / BEGUN
    if path.exists() and any(root.rglob("*.pt")):  # else nothing was learned yet
        refuse_other_plan(json.loads(path.read_text("utf-8")), about, path=path)
        return
    root.mkdir(parents=True, exist_ok=True)
    write_whole(json.dumps(about, indent=1) + "\n", path)


Learned = tuple[CounterfactualGenerator | None, dict[str, TrainingRun]]


def _diffusion(settings: Settings, films: Any) -> Learned:
    plan, started = settings.configuration, time.monotonic()
    first = train_autoencoder(settings)
    if first.step < plan.autoencoder.pace.steps:
        return None, {"autoencoder": first}
    left = max(settings.seconds - (time.monotonic() - started), 0.0)
    second = train_denoiser(replace(settings, seconds=left))
    runs = {"autoencoder": first, "denoiser": second}
    whole = second.step >= plan.denoiser.pace.steps
    return trained_generator(settings) if whole else None, runs


def _variational(settings: Settings, films: Any) -> Learned:
    run = train_vae(settings, beta=BETA)
    whole = run.step >= vae_plan(settings, beta=BETA).pace.steps
    return VAEGenerator(run.network) if whole else None, {"autoencoder": run}


def _gaussian(settings: Settings, films: Any) -> Learned:
    with torch.no_grad():
        return fit_gaussian(films.images(slice(None)), films.parents, components=COMPONENTS), {}


_LEARNERS: dict[str, Callable[[Settings, Any], Learned]] = {
    "diffusion": _diffusion,
    "gaussian": _gaussian,
    "vae": _variational,
}
