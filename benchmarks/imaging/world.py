"""Which simulated world does a folder of the experiment belong to? One; others are refused.

Networks, judges, scores and figures of a folder rest on the same simulator. It is known by what its
films look like, so that a version that draws them otherwise does not take up what another one left.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from causalfairness.errors import CheckpointError
from causalfairness.imaging.checkpoints import refuse_other_plan
from causalfairness.imaging.parents import codes_of
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.simulator.people import GROUPS
from causalfairness.imaging.stages import Settings
from causalfairness.writing import write_whole

PEOPLE = 40
CLOSE = 1e-6  # of a mean of 40,960 pixels: what processors differ by, and less than arrows do


def belongs(settings: Settings) -> Path:
    """Does the folder belong to this world? It does from now on, if it did to none.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> belongs(Settings(folder, size=32)) == belongs(Settings(folder, size=128))
    True
    >>> belongs(Settings(folder, strength=2.0))
    Traceback (most recent call last):
    causalfairness.errors.CheckpointError: ...world.json belongs to another configuration: strength
    is 1.0, not 2.0; use that configuration, or another folder
    """
    path = settings.folder / "world.json"
    world: dict[str, Any] = {"strength": settings.strength, "seed": settings.seed, "look": look()}
    if not path.exists():
        if any(settings.folder.glob("*.pt")):
            raise CheckpointError(
                f"{settings.folder} holds networks, and does not say with which films they were "
                "trained; use another folder"
            )
        return write_whole(json.dumps(world, indent=1) + "\n", path)
    kept = json.loads(path.read_text("utf-8"))
    if _alike(kept.get("look"), world["look"]):
        world["look"] = kept["look"]
    refuse_other_plan(kept, world, path=path)
    return path


def look() -> dict[str, float]:
    """What do simulated films look like in this version? Brightness and contrast, group by group.

    >>> sorted(look())[:3]
    ['brightness 0', 'brightness 1', 'brightness 2']
    """
    films = Simulator(size=32).draw(PEOPLE, seed=0)
    found = {"people": float(codes_of(films.parents).double().mean())}
    for group in range(GROUPS):
        images = films.told(group=group).images().double()
        found |= {f"brightness {group}": float(images.mean())}
        found |= {f"contrast {group}": float(images.std())}
    return {name: round(value, 8) for name, value in found.items()}


def _alike(one: Any, other: dict[str, float]) -> bool:
    """The same but for what another processor does to the last digits."""
    return (
        isinstance(one, dict)
        and one.keys() == other.keys()
        and all(abs(one[name] - value) <= CLOSE for name, value in other.items())
    )
