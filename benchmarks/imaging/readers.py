"""Which networks read findings, and which one the group? Each trained on films nobody else sees.

Auditees are made of them afterwards: what a network says of a film is kept as log odds, and a
reader that leans towards the group by any amount, or not at all, follows without a network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from causalfairness.imaging import checkpoints
from causalfairness.imaging.checkpoints import refuse_other_plan
from causalfairness.imaging.classifiers import (
    Classifier,
    fit_classifier,
    one_column_each,
    small_network,
)
from causalfairness.imaging.parents import FINDINGS, Parents
from causalfairness.imaging.simulator import Radiographs, Simulator
from causalfairness.imaging.simulator.people import GROUPS

EVERYONE = ("plain", "plain", "plain", "steady", "steady", "shifted", "shifted")
SHIFT = 1.5  # of prevalence by group, where there is one
PENALTY = 2.0  # on seeing the group, where it is to be overlooked
TOWARDS = 1  # the group that leaning readers look for
_WIDTH = 24


@dataclass(frozen=True)
class School:
    """On which films do networks learn, and for how long? Network `number` sees films of its own.

    >>> school = School(Simulator(size=32), seed=0, people=40, epochs=1)
    >>> school.of_groups(3)(torch.zeros(1, 1, 32, 32)).shape
    torch.Size([1, 3])
    """

    simulator: Simulator
    seed: int
    people: int
    epochs: int
    device: str = "cpu"

    def of_groups(self, number: int) -> Classifier:
        """Which network tells the group?"""
        return self.learned(number, 3, lambda parents: one_column_each(parents.group))

    def of_findings(self, number: int, *, kind: str = "plain") -> Classifier:
        """Which network reads findings?

        A steady one also sees each film as that of another group and learns to say the same; a
        shifted one learns where some groups have findings more often.
        """
        shift = SHIFT if kind == "shifted" else 0.0
        elsewhere = replace(self, simulator=replace(self.simulator, prevalence_shift=shift))
        penalty = PENALTY if kind == "steady" else 0.0
        return elsewhere.learned(
            number, len(FINDINGS), lambda parents: parents.findings, penalty=penalty
        )

    def learned(
        self,
        number: int,
        outputs: int,
        targets: Callable[[Parents], Tensor],
        *,
        penalty: float = 0.0,
    ) -> Classifier:
        """Which network learns these targets? With a penalty, not to see the group."""
        films = self.simulator.draw(
            self.people, seed=9_000 + 100 * self.seed + number, device=self.device
        )
        network = small_network(outputs=outputs, seed=number, width=_WIDTH)
        fit_classifier(
            network,
            films.images(),
            targets(films.parents),
            epochs=self.epochs,
            batch=128,
            seed=number,
            device=self.device,
            counterfactuals=_next_group(films).images() if penalty else None,
            penalty=penalty,
        )
        return network


@dataclass(frozen=True, eq=False)
class Readers:
    """Who reads the films? One network for the group, several of a known kind for findings.

    >>> school = School(Simulator(size=32), seed=0, people=40, epochs=1)
    >>> found = trained_readers(school, kinds=("plain", "steady"))
    >>> found.logits(torch.zeros(2, 1, 32, 32)).shape
    torch.Size([2, 11])
    """

    of_groups: Classifier
    of_findings: tuple[Classifier, ...]
    kinds: tuple[str, ...]  # of those for findings

    def logits(self, images: Tensor) -> Tensor:
        """What are the log odds of the group, and of the findings, reader by reader?"""
        with torch.no_grad():
            seen = self.of_groups.logits(images)[:, TOWARDS, None]
            return torch.cat([seen, *(reader.logits(images) for reader in self.of_findings)], 1)


def trained_readers(
    school: School, *, kinds: Sequence[str] = EVERYONE, path: Path | None = None
) -> Readers:
    """Who reads the films? Trained, or taken from the file where they were kept.

    >>> import tempfile
    >>> school = School(Simulator(size=32), seed=0, people=40, epochs=1)
    >>> path = Path(tempfile.mkdtemp()) / "readers.pt"
    >>> one, again = (trained_readers(school, kinds=["plain"], path=path) for _ in range(2))
    >>> films = torch.rand(2, 1, 32, 32)
    >>> bool((one.logits(films) == again.logits(films)).all())
    True
    """
    learning = {"groups": partial(school.of_groups, 3)} | {
        f"{kind} {at + 1}": partial(school.of_findings, 4 + at, kind=kind)
        for at, kind in enumerate(kinds)
    }
    of_groups, *of_findings = kept_networks(school, learning, path=path)
    return Readers(of_groups, tuple(of_findings), tuple(kinds))


def kept_networks(
    school: School, learning: Mapping[str, Callable[[], Classifier]], *, path: Path | None
) -> list[Classifier]:
    """Which networks come of this learning, by name? Those in the file, where they were kept.

    A file of a school that taught otherwise, or of networks with other names, is refused.

    >>> school = School(Simulator(size=32), seed=0, people=40, epochs=1)
    >>> len(kept_networks(school, {"groups": partial(school.of_groups, 3)}, path=None))
    1
    """
    if path is not None and path.exists():
        kept = checkpoints.load(path, plan=school, but=("device",))["networks"]
        refuse_other_plan({"networks": list(kept)}, {"networks": list(learning)}, path=path)
        networks = [_network(weights) for weights in kept.values()]
    else:
        networks = [learn() for learn in learning.values()]
        if path is not None:
            states = (network.state_dict() for network in networks)
            named = dict(zip(learning, states, strict=True))
            checkpoints.save(path, {"networks": named}, plan=school)
    return [network.to(school.device).train(False) for network in networks]


def _network(weights: dict[str, Tensor]) -> Classifier:
    outputs = sum(name.endswith("2.bias") for name in weights if name.startswith("heads."))
    network = small_network(outputs=outputs, width=_WIDTH)
    network.load_state_dict(weights)
    return network


def _next_group(films: Radiographs) -> Radiographs:
    return films.told(group=(films.parents.group + 1) % GROUPS)
