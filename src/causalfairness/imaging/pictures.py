"""What do counterfactual images look like? A few people, every group, and what changed.

A difference is drawn in color, made stronger by a stated factor: red is brighter than the image at
hand, blue darker, gray the same. People are the first of each group in turn, not chosen by what
they show.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from causalfairness.imaging.counterfactuals import CounterfactualGenerator
from causalfairness.imaging.parents import FINDINGS, Parents

FACTORS = (1, 2, 5, 10, 20, 50, 100)
NONE, MORE, LESS = np.array([[228, 228, 228], [178, 24, 43], [33, 102, 172]])  # colors of changes
FAR = 0.99  # share of the changes that are to fit on the scale of colors


def examples(
    images: Tensor,
    parents: Parents,
    *,
    generator: CounterfactualGenerator,
    groups: Sequence[str],
    count: int = 4,
) -> dict[str, Any]:
    """What do counterfactual images look like? Plain data, with PNG files in base64.

    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(6, seed=0)
    >>> found = examples(films.images(), films.parents, generator=DoNothing(), groups=("a", "b"),
    ...                  count=2)
    >>> [len(row["counterfactuals"]) for row in found["people"]], found["factor"]
    ([2, 2], 100)
    """
    rows = _first_of_each(parents.group, count)
    shown, people = images[rows], parents.take(rows)
    worlds = [generator.counterfactual(shown, people, group=group) for group in range(len(groups))]
    changes = [world - shown for world in worlds]
    factor = _factor(torch.stack(changes))
    return {
        "groups": list(groups),
        "factor": factor,
        "people": [
            {
                **_told(people, place, groups),
                "factual": png(shown[place]),
                "counterfactuals": [png(world[place]) for world in worlds],
                "differences": [png_of_change(it[place], factor=factor) for it in changes],
            }
            for place in range(len(rows))
        ],
    }


def png(film: Tensor) -> str:
    """What is the PNG file of a film, 8-bit gray, in base64?

    >>> png(torch.zeros(1, 2, 2))[:10]
    'iVBORw0KGg'
    """
    return _file(255 * film[0].double().clamp(0, 1).cpu().numpy())


def png_of_change(change: Tensor, *, factor: float) -> str:
    """What is the PNG file of a change, in color? Red is more, blue is less, gray is none.

    >>> png_of_change(torch.zeros(1, 2, 2), factor=5.0)[:10]
    'iVBORw0KGg'
    """
    far = (factor * change[0].double()).clamp(-1, 1).cpu().numpy()[..., None]
    end = np.where(far > 0, MORE, LESS)
    return _file(NONE + np.abs(far) * (end - NONE))


def _first_of_each(group: Tensor, count: int) -> Tensor:
    """The first person of every group, then the second, until there are enough."""
    seen: dict[int, int] = {}
    turns = []
    for row, value in enumerate(group.tolist()):
        seen[value] = seen.get(value, 0) + 1
        turns.append((seen[value], value, row))
    return torch.tensor([row for _, _, row in sorted(turns)[:count]])


def _factor(changes: Tensor) -> int:
    """How much stronger can changes be drawn, so that nearly all fit on the scale?"""
    far = float(torch.quantile(changes.abs().flatten(1).double().cpu(), FAR, dim=1).max())
    return max((factor for factor in FACTORS if factor * far <= 1), default=FACTORS[0])


def _told(people: Parents, place: int, groups: Sequence[str]) -> dict[str, Any]:
    age, values = 100 * float(people.age[place]), people.findings[place].tolist()
    return {
        "group": groups[int(people.group[place])],
        "age": age if age == age else None,
        "findings": [name for name, there in zip(FINDINGS, values, strict=True) if there == 1],
    }


def _file(values: NDArray[np.float64]) -> str:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.rint(values).astype(np.uint8)).save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode("ascii")
