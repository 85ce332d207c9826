"""How do simulated radiographs become a folder of files? One PNG each, and a table of the people.

    folder/simulation.json              how they were simulated
    folder/images/00000.png             16-bit gray: a value moves by at most 1 / 131,070
    folder/counterfactuals/1/00000.png  the same person told group 1; findings and all else stay
    folder/radiographs.csv              whose films they are, written when all of them are there

Every file is written beside its place and moved there, and one that is there is not drawn again: a
run that was killed is taken up by the same call and ends with the same bytes. `readers.PlainFolder`
reads the folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from causalfairness.errors import CheckpointError, SimulationError
from causalfairness.imaging.checkpoints import refuse_other_plan
from causalfairness.imaging.readers.folder import part_of
from causalfairness.imaging.readers.plain import TABLE, table_of
from causalfairness.imaging.simulator.people import GROUPS
from causalfairness.imaging.simulator.radiographs import Radiographs, Simulator
from causalfairness.progress import track
from causalfairness.writing import write_whole

SETTINGS = "simulation.json"
WHITE = 65_535  # the largest value of 16 bits
_AT_ONCE = 64  # films drawn before they are written


@dataclass(frozen=True)
class SavedRadiographs:
    """Which folder was written, and how much of it now?

    >>> print(SavedRadiographs(Path("films"), people=100, drawn=40, kept=60))
    100 people in films: 40 films drawn, 60 were there
    """

    folder: Path
    people: int
    drawn: int
    kept: int

    def __str__(self) -> str:
        there = f", {self.kept:,} were there" if self.kept else ""
        return f"{self.people:,} people in {self.folder}: {self.drawn:,} films drawn{there}"


def save_radiographs(
    simulator: Simulator,
    folder: Path | str,
    *,
    people: int,
    seed: int,
    counterfactuals: bool = False,
) -> SavedRadiographs:
    """Where are the simulated films now? Goes on where an earlier call of the same was stopped.

    >>> import tempfile
    >>> from causalfairness.imaging.readers import PlainFolder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     saved = save_radiographs(Simulator(size=32), place, people=4, seed=0)
    ...     films = PlainFolder(place, size=32)
    ...     apart = (films.images() - Simulator(size=32).draw(4, seed=0).images()).abs().max()
    >>> saved.drawn, bool(apart < 1 / 131_000)
    (4, True)
    """
    films = simulator.draw(people, seed=seed)
    settings = {
        **asdict(simulator),
        "people": people,
        "seed": seed,
        "counterfactuals": counterfactuals,
    }
    root = Path(folder)
    _begin(root, settings)
    worlds = {"images": films}
    if counterfactuals:
        worlds |= {f"counterfactuals/{group}": films.told(group=group) for group in range(GROUPS)}
    drawn = _write_missing(root, worlds)
    write_whole(_table(films, seed=seed), root / TABLE)
    return SavedRadiographs(root, people, drawn, len(worlds) * people - drawn)


def file_name(person: int) -> str:
    """What is the file of a simulated person called?

    >>> file_name(12)
    '00012.png'
    """
    return f"{person:05d}.png"


def _begin(root: Path, settings: Mapping[str, Any]) -> None:
    """Refuses a folder of other films; otherwise it says from now on what it is for."""
    path = root / SETTINGS
    if path.exists():
        try:
            known = json.loads(path.read_text("utf-8"))
        except ValueError as cause:
            raise CheckpointError(f"{path} cannot be read ({cause}); use another folder") from cause
        refuse_other_plan(known, settings, path=path)
        return
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise SimulationError(
            f"{str(root)!r} holds other files; name an empty folder, or one that does not exist"
        )
    root.mkdir(parents=True, exist_ok=True)
    write_whole(json.dumps(settings, indent=1) + "\n", path)


def _write_missing(root: Path, worlds: Mapping[str, Radiographs]) -> int:
    """Draws the films without a file, and says how many they were."""
    lots = list(_missing(root, worlds))
    for world in worlds:
        (root / world).mkdir(parents=True, exist_ok=True)
    for world, rows in track(lots, total=len(lots), what="drawing radiographs"):
        pictures = worlds[world].images(torch.tensor(rows))
        for row, film in zip(rows, pictures, strict=True):
            _write_png(film[0], root / world / file_name(row))
    return sum(len(rows) for _, rows in lots)


def _missing(root: Path, worlds: Mapping[str, Radiographs]) -> Iterator[tuple[str, list[int]]]:
    for world, films in worlds.items():
        there = {path.name for path in (root / world).glob("*.png")}
        rows = [row for row in range(len(films)) if file_name(row) not in there]
        for start in range(0, len(rows), _AT_ONCE):
            yield world, rows[start : start + _AT_ONCE]


def _write_png(film: Tensor, path: Path) -> None:
    from PIL import Image

    levels = np.rint(film.double().numpy() * WHITE).astype(np.uint16)
    beside = path.with_name(f".{path.name}.part")
    Image.fromarray(levels).save(beside, format="PNG")
    os.replace(beside, path)


def _table(films: Radiographs, *, seed: int) -> str:
    names = [f"images/{file_name(row)}" for row in range(len(films))]
    people = [f"s{row:05d}" for row in range(len(films))]
    parts = [part_of(person, seed=seed) for person in people]
    return table_of(names, people, parts, films.parents.group.tolist(), films.parents)
