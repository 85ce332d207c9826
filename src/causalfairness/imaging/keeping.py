"""Which generator is in a folder, and from whom did it learn? They are not to be audited with it.

folder/generator.json     kind, size, groups, seed, steps, where the images came from, losses,
                          composition; written last, so a folder without it is not finished
folder/*-0.pt             weights: bfloat16 for networks, full precision for the Gaussian
folder/learned.json       from whom it learned; nobody where films were simulated

A generator follows the chance differences between those it learned from, and any classifier looks
dependent on them. `learned.json` holds a key of each film, made of its size and both of its ends,
keys of the people's names, and the collection. A film is known again wherever it lies and whatever
the table says, unless it was saved anew; a name is that of the same person where the collection is
the same, or where films of the folder are known. Elsewhere names that are met again are said, since
two collections may count alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from causalfairness.errors import CheckpointError, SplitError
from causalfairness.imaging import checkpoints
from causalfairness.imaging.analytic import GaussianGenerator
from causalfairness.imaging.counterfactuals import CounterfactualGenerator
from causalfairness.imaging.generator import DiffusionGenerator, pack_generator, unpack_generator
from causalfairness.imaging.readers.decoding import found
from causalfairness.imaging.readers.folder import RadiographFolder
from causalfairness.imaging.stages import Settings, vae_plan
from causalfairness.imaging.vae import ConditionalVAE, VAEGenerator
from causalfairness.progress import track
from causalfairness.writing import write_whole

NOTE = "generator.json"
SIMULATED = "simulated"  # what a generator learned from that saw nobody's films
KINDS = ("diffusion", "gaussian", "vae")
NUMBERS = ("components", "steps", "seed")
BETA = 1.0  # of the variational autoencoder


@dataclass(frozen=True)
class GaussianPlan:
    """How large is a Gaussian generator? What its file is known by.

    >>> GaussianPlan(size=64, components=40, groups=3).components
    40
    """

    size: int
    components: int
    groups: int


@dataclass(frozen=True, eq=False)
class KeptGenerator:
    """Which generator is this, for which images and groups? `about` is the note beside it.

    >>> KeptGenerator(None, {"kind": "vae", "size": 32, "groups": ["a", "b"]}).groups
    ('a', 'b')
    """

    generator: Any  # CounterfactualGenerator
    about: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Is it a diffusion model, a Gaussian or a variational autoencoder?"""
        return str(self.about["kind"])

    @property
    def size(self) -> int:
        """How many pixels per side have its images?"""
        return int(self.about["size"])

    @property
    def groups(self) -> tuple[str, ...]:
        """Which groups does it know, in order?"""
        return tuple(self.about["groups"])


def keep_generator(
    generator: CounterfactualGenerator, folder: Path, *, about: Mapping[str, Any]
) -> None:
    """Where is the generator kept? `about` says at least kind, size, groups, seed and steps.

    >>> import tempfile
    >>> from causalfairness.imaging.analytic import fit_gaussian
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(300, seed=0)
    >>> made = fit_gaussian(films.images(), films.parents, components=5)
    >>> about = {"kind": "gaussian", "size": 32, "groups": ["0", "1", "2"], "components": 5}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep_generator(made, Path(folder), about=about)
    ...     again = kept_generator(Path(folder)).generator
    >>> bool((again.counterfactual(films.images(), films.parents, group=1)
    ...       == made.counterfactual(films.images(), films.parents, group=1)).all())
    True
    """
    keep_weights(generator, folder, about=about)
    write_whole(json.dumps(about, indent=1) + "\n", folder / NOTE)


def keep_weights(
    generator: CounterfactualGenerator, folder: Path, *, about: Mapping[str, Any]
) -> None:
    """Where are the weights of a generator kept? Without the note that says it is finished.

    >>> keep_weights(None, Path("."), about={})
    Traceback (most recent call last):
    ...
    TypeError: NoneType is not a generator that can be kept
    """
    if isinstance(generator, DiffusionGenerator):
        pack_generator(generator, folder)
    elif isinstance(generator, GaussianGenerator):
        by_group = {str(group): table for group, table in generator.coefficients.items()}
        parts = {name: getattr(generator, name) for name in ("components", "center", "residual")}
        content = {**parts, "coefficients": by_group}
        checkpoints.save(folder / "gaussian-0.pt", content, plan=_gaussian_plan(about))
    elif isinstance(generator, VAEGenerator):
        state, plan = generator.network.state_dict(), vae_plan(_settings(folder, about), beta=BETA)
        checkpoints.pack(state, folder, name="vae", plan=plan)
    else:
        raise TypeError(f"{type(generator).__name__} is not a generator that can be kept")


def kept_generator(
    folder: Path | str, *, device: torch.device | str = "cpu", walk: int | None = None
) -> KeptGenerator:
    """Which generator is in this folder? `walk`: steps of a diffusion model, if not the usual 50.

    >>> kept_generator("nowhere")
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no generator in 'nowhere' (no generator.json);
    train one first, or let its training go on to the end
    """
    root = Path(folder)
    about = _note(root)
    found = kept_weights(root, about=about, device=device)
    if walk is not None and isinstance(found, DiffusionGenerator):
        found = replace(found, walk=replace(found.walk, steps=walk))
    return KeptGenerator(found, about)


def kept_weights(
    folder: Path, *, about: Mapping[str, Any], device: torch.device | str = "cpu"
) -> CounterfactualGenerator:
    """Which generator have these weights made, if it is what the note says?

    >>> kept_weights(Path("nowhere"), about={"kind": "vae", "size": 32, "groups": [], "steps": 1})
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint nowhere/vae-0.pt; train first
    """
    kind = about["kind"]
    if kind == "gaussian":
        return _gaussian(folder, about)
    settings = _settings(folder, about)
    if kind == "vae":
        plan = vae_plan(settings, beta=BETA)
        network = ConditionalVAE(plan).train(False)
        network.load_state_dict(checkpoints.unpack(folder, name="vae", plan=plan))
        return VAEGenerator(network.to(device))
    found = unpack_generator(settings.configuration, folder)
    return replace(
        found, autoencoder=found.autoencoder.to(device), denoiser=found.denoiser.to(device)
    )


def _note(root: Path) -> dict[str, Any]:
    path = root / NOTE
    if not path.is_file():
        raise CheckpointError(
            f"there is no generator in {str(root)!r} (no {NOTE}); train one first, or let its "
            "training go on to the end"
        )
    try:
        about = json.loads(path.read_text("utf-8"))
        kind, _ = about["kind"], [int(about[name]) for name in NUMBERS if about.get(name)]
        _ = int(about["size"]), list(about["groups"])
    except (ValueError, KeyError, TypeError) as cause:
        raise CheckpointError(
            f"{path} does not say what the generator is ({cause!r}); train it again"
        ) from cause
    if kind not in KINDS:
        raise CheckpointError(f"{path} names the kind {kind!r}; expected {', '.join(KINDS)}")
    return dict(about)


def _settings(folder: Path, about: Mapping[str, Any]) -> Settings:
    size, groups = int(about["size"]), len(about["groups"])
    return Settings(folder, size=size, steps=about.get("steps"), groups=groups)


def _gaussian(folder: Path, about: Mapping[str, Any]) -> GaussianGenerator:
    content = checkpoints.load(folder / "gaussian-0.pt", plan=_gaussian_plan(about))
    return GaussianGenerator(
        size=int(about["size"]),
        components=content["components"],
        center=content["center"],
        coefficients={int(group): table for group, table in content["coefficients"].items()},
        residual=content["residual"],
    )


def _gaussian_plan(about: Mapping[str, Any]) -> GaussianPlan:
    return GaussianPlan(int(about["size"]), int(about["components"]), len(about["groups"]))


LEARNED = "learned.json"
END = 4_096  # bytes of a file that are read, at the start and at the end


def keep_learned(films: RadiographFolder, folder: Path) -> Path:
    """Where is it written down whom a generator learned from?

    >>> import tempfile
    >>> from causalfairness.imaging.readers import PlainFolder
    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> place = Path(tempfile.mkdtemp())
    >>> saved = save_radiographs(Simulator(size=16), place / "films", people=3, seed=0)
    >>> films = PlainFolder(place / "films", size=16)
    >>> keep_learned(films, place).name
    'learned.json'
    >>> refuse_learned(films.take(slice(1)), films, place)
    Traceback (most recent call last):
    causalfairness.errors.SplitError: The generator learned from 1 of the 1 films that were to be...
    """
    told = {
        "collection": films.account.origin.get("collection", ""),
        "films": sorted(set(_keys(films))),
        "people": sorted(map(_name_key, set(films.patients))),
    }
    return write_whole(json.dumps(told, ensure_ascii=False) + "\n", folder / LEARNED)


def refuse_learned(
    chosen: RadiographFolder, films: RadiographFolder, folder: Path, *, simulated: bool = False
) -> list[str]:
    """Did the generator in this folder learn from a chosen film, or from the person on it?

    `films` are all of the chosen ones' folder. A generator of simulated films learned from nobody.
    Returns what a reader should know where that cannot be told.
    """
    if simulated:
        return []
    known, people, collection = _learned(folder / LEARNED)
    met_films = [
        path for path, key in zip(chosen.paths, _keys(chosen), strict=True) if key in known
    ]
    if met_films:
        raise SplitError(
            f"The generator learned from {len(met_films):,} of the {len(chosen):,} films that were "
            f"to be audited, such as {str(met_films[0])!r}: with it, any classifier looks "
            "dependent on them. Audit another part, such as 'test', or leave such films out."
        )
    met = sorted(name for name in set(chosen.patients) if _name_key(name) in people)
    if not met:
        return []
    same = collection and films.account.origin.get("collection") == collection
    if same or any(key in known for key in _keys(films)):
        raise SplitError(
            f"The generator learned from other films of {len(met):,} of the people who were to be "
            f"audited, such as {met[0]!r}. Keep all films of a person in one part."
        )
    return [
        f"{len(met):,} audited people, such as {met[0]}, have names that people have from whom the "
        "generator learned, in another folder: if they are the same people, the audit is not valid"
    ]


def _learned(path: Path) -> tuple[set[str], set[str], str]:
    try:
        told = json.loads(path.read_text("utf-8"))
        return set(told["films"]), set(told["people"]), str(told["collection"])
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise CheckpointError(
            f"{path} does not say whom the generator learned from ({cause!r}); train it again"
        ) from cause


def _name_key(name: str) -> str:
    """Names of people stay where they are: a generator may be handed on."""
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _keys(films: RadiographFolder) -> Iterator[str]:
    with ThreadPoolExecutor(films.workers) as pool:
        keys = pool.map(_key, films.paths)
        yield from track(keys, total=len(films), what="looking whether films were learned from")


def _key(stem: Path) -> str:
    path = found(stem)
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(END)
        file.seek(max(size - END, 0))
        told = hashlib.blake2b(f"{size}:".encode() + start + file.read(END), digest_size=8)
    return told.hexdigest()
