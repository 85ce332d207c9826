"""What do made films look like beside the true ones? A picture of the first test people."""

from __future__ import annotations

from pathlib import Path

import torch

from benchmarks.imaging.evaluation import TEST_SEED, generator_of
from causalfairness.imaging.generator import Walk
from causalfairness.imaging.pictures import png_of_grid
from causalfairness.imaging.stages import Settings
from causalfairness.writing import write_whole

SHOWN = 5
FACTOR = 4.0  # a difference of a quarter has the full color


def draw_films(settings: Settings, *, form: str, walk: Walk) -> Path:
    """Where is the picture? Film, made and true under the next group, and made minus true.

    >>> import tempfile
    >>> draw_films(Settings(Path(tempfile.mkdtemp()), size=32), form="nothing", walk=Walk()).name
    'films-all-nothing-32.png'
    """
    films = settings.simulator.draw(SHOWN, seed=TEST_SEED, device=settings.device)
    images, people = films.images(), films.parents
    told = (people.group + 1) % 3
    made = generator_of(form, settings, walk, films).counterfactual(images, people, group=told)
    true = films.told(group=told).images()
    rows = torch.stack([images, made, true], 1)
    picture = png_of_grid([list(row) for row in rows], made - true, factor=FACTOR)
    path = settings.folder / f"films-{settings.variant}-{form}-{settings.size}.png"
    return write_whole(picture, path)
