"""Which simulated world does a folder of the experiment belong to? One; others are refused.

Networks, judges, scores and figures of a folder rest on the same simulator. It is known by what its
films look like, so that a version that draws them otherwise does not take up what another one left.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from causalfairness.imaging.checkpoints import refuse_other_plan
from causalfairness.imaging.experiment.stages import Settings
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.simulator.people import GROUPS
from causalfairness.imaging.tokens import codes_of
from causalfairness.writing import write_whole

PEOPLE = 40


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
    if path.exists():
        refuse_other_plan(json.loads(path.read_text("utf-8")), world, path=path)
        return path
    return write_whole(json.dumps(world, indent=1) + "\n", path)


def look() -> str:
    """What do simulated films look like in this version? Brightness and contrast, group by group.

    >>> look().count("contrast")
    3
    """
    films = Simulator(size=32).draw(PEOPLE, seed=0)
    told = [films.told(group=group).images() for group in range(GROUPS)]
    seen = [f"brightness {float(it.mean()):.5f}, contrast {float(it.std()):.5f}" for it in told]
    return "; ".join([*seen, f"people {float(codes_of(films.parents).mean()):.5f}"])
