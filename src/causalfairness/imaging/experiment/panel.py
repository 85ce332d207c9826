"""Who judges the images, and who is audited? Networks trained on images nobody else sees.

Judges say which group, and which other parents, an image shows. Auditees are readers of findings
that lean towards the group by a known amount (`classifiers.Leaning`), from not at all to strongly,
and decide at the median of their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from causalfairness.imaging.classifiers import Leaning, scores
from causalfairness.imaging.experiment.readers import School
from causalfairness.imaging.quality import OTHERS, Judge, Judges
from causalfairness.imaging.simulator import Simulator

LEANINGS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True, eq=False)
class Panel:
    """Who judges, and who is audited? `judges` never see what the auditees were trained on.

    >>> Panel(Judges(lambda x: x, lambda x: x), ()).auditees
    ()
    """

    judges: Judges
    auditees: Sequence[Judge]


def trained_panel(
    *,
    size: int,
    device: str,
    seed: int,
    people: int,
    epochs: int,
    readers: int = 3,
    strength: float = 1.0,
) -> Panel:
    """Who judges, and who is audited? Ten leanings of each reader.

    >>> panel = trained_panel(size=32, device="cpu", seed=0, people=60, epochs=1, readers=1)
    >>> len(panel.auditees)
    10
    """
    simulator = Simulator(size=size, strength=strength)
    school = School(simulator, seed=seed, people=people, epochs=epochs, device=device)
    others = school.learned(2, len(OTHERS), Judges(group=_nobody, others=_nobody).labels)
    judges = Judges(school.of_groups(1), others)
    of_groups = school.of_groups(3)
    found = [school.of_findings(4 + number) for number in range(readers)]
    auditees = [
        Leaning(reader, of_groups, dependence=leaning).to(device).train(False)
        for reader in found
        for leaning in LEANINGS
    ]
    return Panel(judges, auditees)


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
