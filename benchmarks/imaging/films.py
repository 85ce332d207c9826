"""What do made films look like beside the true ones? A picture of the first test people."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.imaging.evaluation import TEST_SEED, generator_of
from causalfairness.imaging.generator import Walk
from causalfairness.imaging.pictures import png, png_of_change
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
    rows = [
        [*map(png, row), png_of_change(row[1] - row[2], factor=FACTOR)]
        for row in zip(images, made, true, strict=True)
    ]
    grid = io.BytesIO()
    pixels = [np.concatenate([*map(_pixels, row)], axis=1) for row in rows]
    Image.fromarray(np.concatenate(pixels)).save(grid, format="PNG")
    path = settings.folder / f"films-{settings.variant}-{form}-{settings.size}.png"
    return write_whole(grid.getvalue(), path)


def _pixels(file: str) -> np.ndarray:
    """The colors in a PNG file in base64, (rows, columns, 3)."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(file))).convert("RGB"))
