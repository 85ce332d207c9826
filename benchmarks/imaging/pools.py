"""What do readers see on test films, as they are, as generated, and as they truly would be?

The work of a GPU: films are drawn, made again under every group, and read. What comes back is a few
numbers per film, from which any auditee can be made later, without a GPU. Every batch is added to
one file, whole or not at all, and a run that stops goes on from there.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.imaging.evaluation import generator_of
from benchmarks.imaging.readers import Readers
from causalfairness.imaging import checkpoints
from causalfairness.imaging.counterfactuals import CounterfactualGenerator, made_images
from causalfairness.imaging.generator import Walk, course
from causalfairness.imaging.parents import codes_of
from causalfairness.imaging.simulator import Radiographs
from causalfairness.imaging.stages import Settings
from causalfairness.progress import track

POOL_SEED = 5_077


@dataclass(frozen=True)
class PoolPlan:
    """Which test films are read, and how are they made under other groups?

    >>> PoolPlan(Settings(Path("runs"), size=32), form="difference", shift=1.5).path.name
    'pool-all-difference-1.5-32.pt'
    """

    settings: Settings
    form: str
    shift: float
    count: int = 4_000
    walk: Walk = field(default_factory=Walk)

    @property
    def path(self) -> Path:
        """Where is the pool kept?"""
        return self.settings.path(f"pool-{self.settings.variant}-{self.form}-{self.shift:g}")


@dataclass(frozen=True)
class _Known:
    """What a kept pool is known by."""

    size: int
    strength: float
    variant: str
    form: str
    shift: float
    steps: int
    refinement: int
    batch: int
    course: str


@dataclass(frozen=True, eq=False)
class Pool:
    """What was read from each film? Log odds of the group and of findings, reader by reader.

    >>> nothing = torch.zeros(4, 9)
    >>> len(Pool(nothing, nothing, torch.zeros(3, 4, 9), torch.zeros(3, 4, 9), nothing[:, 0], ()))
    4
    """

    codes: Tensor  # (n, 9), the parents
    original: Tensor  # (n, outputs)
    made: Tensor  # (groups, n, outputs)
    true: Tensor  # (groups, n, outputs)
    composition: Tensor  # (n,)
    kinds: tuple[str, ...]  # of the readers, in the order of the outputs after the first

    def __len__(self) -> int:
        return len(self.codes)


def read_pool(plan: PoolPlan, readers: Readers, *, seconds: float = math.inf) -> Pool:
    """What do the readers see? As far as the time goes; call again for the rest.

    >>> import tempfile
    >>> from benchmarks.imaging.readers import School, trained_readers
    >>> settings = Settings(Path(tempfile.mkdtemp()), size=32)
    >>> school = School(settings.simulator, seed=0, people=40, epochs=1)
    >>> plan = PoolPlan(settings, form="nothing", shift=0.0, count=6, walk=Walk(batch=4))
    >>> len(read_pool(plan, trained_readers(school, kinds=["plain"])))
    6
    """
    started = time.monotonic()
    known, settings = _known(plan), plan.settings
    content = checkpoints.load(plan.path, plan=known) if plan.path.exists() else {}
    content.pop("plan", None)
    done = len(content.get("codes", ()))
    simulator = replace(settings.simulator, prevalence_shift=plan.shift)
    films = simulator.draw(
        plan.count, seed=POOL_SEED + round(10 * plan.shift), device=settings.device
    )
    generator = (
        None if plan.form == "truth" else generator_of(plan.form, settings, plan.walk, films)
    )
    starts = range(done, plan.count, plan.walk.batch)
    for start in track(starts, total=len(starts), what="reading counterfactual films"):
        if content and time.monotonic() - started > seconds:
            break
        some = films.take(slice(start, start + plan.walk.batch))
        piece = _read(some, generator, readers)
        content = {
            name: torch.cat([content[name], it.cpu()]) if name in content else it.cpu()
            for name, it in piece.items()
        }
        checkpoints.save(plan.path, {**content, "kinds": list(readers.kinds)}, plan=known)
    return kept_pool(plan)


def kept_pool(plan: PoolPlan) -> Pool:
    """What was read so far?

    >>> kept_pool(PoolPlan(Settings(Path("nowhere"), size=32), form="difference", shift=0.0))
    Traceback (most recent call last):
    ...
    causalfairness.errors.CheckpointError: there is no checkpoint
    nowhere/pool-all-difference-0-32.pt; train first
    """
    found = checkpoints.load(plan.path, plan=_known(plan))
    by_group = {name: found[name].transpose(0, 1) for name in ("made", "true")}
    return Pool(
        found["codes"],
        found["original"],
        by_group["made"],
        by_group["true"],
        found["composition"],
        tuple(found["kinds"]),
    )


def _read(
    films: Radiographs, generator: CounterfactualGenerator | None, readers: Readers
) -> dict[str, Tensor]:
    """What the readers see on a batch; without a generator the made films are the true ones."""
    images, true = films.images(), [films.told(group=group).images() for group in range(3)]
    found = true if generator is None else made_images(generator, images, films.parents, range(3))
    everyone = torch.arange(len(films), device=images.device)
    own = torch.stack(found)[films.parents.group, everyone]
    return {
        "codes": codes_of(films.parents),
        "original": readers.logits(images),
        "made": torch.stack([readers.logits(them) for them in found], 1),
        "true": torch.stack([readers.logits(them) for them in true], 1),
        "composition": (own - images).abs().flatten(1).mean(1),
    }


def _known(plan: PoolPlan) -> _Known:
    settings, walk = plan.settings, plan.walk
    return _Known(
        *(settings.size, settings.strength, settings.variant, plan.form, plan.shift),
        *(walk.steps, walk.refinement, walk.batch, course()),
    )
