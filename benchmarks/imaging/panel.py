"""Who judges the images, and who is audited? Networks trained on images nobody else sees.

Judges say which group, and which other parents, an image shows. Auditees are readers of findings
that lean towards the group by a known amount (`classifiers.Leaning`), from not at all to strongly,
and decide at the median of their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.imaging.readers import Readers, School, kept_networks
from causalfairness.imaging.classifiers import Leaning, scores
from causalfairness.imaging.quality import OTHERS, Judge, Judges

LEANINGS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True, eq=False)
class Panel:
    """Who judges, and who is audited? `judges` never see what the auditees were trained on.

    >>> Panel(Judges(lambda x: x, lambda x: x), ()).auditees
    ()
    """

    judges: Judges
    auditees: Sequence[Judge]


def trained_panel(school: School, readers: Readers, *, path: Path | None = None) -> Panel:
    """Who judges, and who is audited? Ten leanings of each plain reader.

    The judges are trained, or taken from the file where they were kept.

    >>> from benchmarks.imaging.readers import trained_readers
    >>> from causalfairness.imaging.simulator import Simulator
    >>> school = School(Simulator(size=32), seed=0, people=60, epochs=1)
    >>> panel = trained_panel(school, trained_readers(school, kinds=["plain"]))
    >>> len(panel.auditees)
    10
    """
    labels = Judges(group=_nobody, others=_nobody).labels
    learning = {
        "group": partial(school.of_groups, 1),
        "others": partial(school.learned, 2, len(OTHERS), labels),
    }
    judges = kept_networks(school, learning, path=path)
    plain = [
        reader
        for reader, kind in zip(readers.of_findings, readers.kinds, strict=True)
        if kind == "plain"
    ]
    auditees = [
        Leaning(reader, readers.of_groups, dependence=leaning).to(school.device).train(False)
        for reader in plain
        for leaning in LEANINGS
    ]
    return Panel(Judges(*judges), auditees)


def agreement(auditees: Sequence[Judge], images: Tensor, worlds: Sequence[Tensor]) -> Tensor:
    """How often is the decision in another world the one at hand? ECA, (auditees, findings).

    `worlds` holds the images under each group in turn.

    >>> images = torch.rand(4, 1, 2, 2)
    >>> agreement([lambda x: x.flatten(1)], images, [images, images]).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """
    found = []
    for auditee in auditees:
        said = scores(auditee, images, device=images.device)
        bar = said.median(0).values
        same = [
            ((scores(auditee, world, device=world.device) > bar) == (said > bar)).double().mean(0)
            for world in worlds
        ]
        found.append(torch.stack(same).mean(0))
    return torch.stack(found)


def _nobody(images: Tensor) -> Tensor:
    return images
