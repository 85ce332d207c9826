"""What would this radiograph be, had the patient been of another group? Here the answer is known.

A structural model (`people`) with a renderer (`drawing`). Exogenous noise is kept, pixel noise as
a key, and an intervention computes everything that follows it again: exact counterfactuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from causalfairness.errors import SimulationError
from causalfairness.imaging.parents import Parents
from causalfairness.imaging.simulator.anatomy import anatomy
from causalfairness.imaging.simulator.drawing import draw
from causalfairness.imaging.simulator.noise import Noise
from causalfairness.imaging.simulator.people import GROUPS, Causes, findings, people, severities

EVERYONE = slice(None)
_PIXELS_AT_ONCE = {"cpu": 2**16, "cuda": 2**25}  # what a cache, and a graphics card, hold well


@dataclass(frozen=True)
class Simulator:
    """Where do radiographs with known counterfactuals come from?

    `strength` scales what the group does to the image (0: nothing, exactly), `prevalence_shift`
    what it does to findings (0: nothing), `severity` how far a finding moves what is to be seen,
    in standard deviations (the best AUC of a reader of images is about Phi(severity / sqrt 2)),
    `noise` the standard deviation of a pixel and `confounding` how strongly hidden causes tie the
    group to age and sex. The same seed gives the same people at every size.

    >>> drawn = Simulator(size=32).draw(4, seed=0)
    >>> drawn.images().shape, tuple(drawn.parents.findings.shape)
    (torch.Size([4, 1, 32, 32]), (4, 5))
    """

    size: int = 64
    strength: float = 1.0
    prevalence_shift: float = 0.0
    severity: float = 1.8
    noise: float = 0.0125
    confounding: float = 1.0

    def __post_init__(self) -> None:
        if not 16 <= self.size <= 2048:
            raise SimulationError(f"size={self.size}: a radiograph has 16 to 2048 pixels per side.")
        for name in ("strength", "prevalence_shift", "severity", "noise", "confounding"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SimulationError(
                    f"{name}={getattr(self, name)!r}: expected a number from 0 up."
                )

    def draw(self, n: int, *, seed: int, device: torch.device | str = "cpu") -> Radiographs:
        """Who are n people, and what is on their films? The first m are those of a draw of m.

        >>> len(Simulator(size=32).draw(3, seed=1))
        3
        """
        if n < 1:
            raise SimulationError(f"n={n}: draw at least one radiograph.")
        noise = Noise.draw(n, seed=seed)
        return Radiographs(self, noise, people(noise, self.causes)).to(device)

    @property
    def causes(self) -> Causes:
        """How strongly does what cause what?"""
        return Causes(self.strength, self.prevalence_shift, self.severity, self.confounding)


@dataclass(frozen=True, eq=False)
class Radiographs:
    """What is on the films, who are the people, and what would be, had they been others?

    Images are drawn when asked for, in any order and any number, always with the same bits.

    >>> films = Simulator(size=32).draw(6, seed=0)
    >>> same = films.do(group=films.parents.group)
    >>> float((films.images() - same.images()).abs().max())
    0.0
    >>> bool((films.do(group=1).parents.findings == films.parents.findings).all())
    True
    """

    simulator: Simulator
    noise: Noise
    parents: Parents

    def __len__(self) -> int:
        return len(self.noise)

    @property
    def severities(self) -> Tensor:
        """How much of each finding is there to see? (n, 5), between 0 and 1."""
        return severities(self.noise, self.simulator.causes, self.parents.findings)

    def images(self, index: Tensor | slice = EVERYONE) -> Tensor:
        """What is on these films? (n, 1, size, size) float32 in [0, 1], on the people's device."""
        chosen = self.take(index)
        size = self.simulator.size
        films = torch.empty(len(chosen), 1, size, size, device=self.noise.key.device)
        step = max(1, _PIXELS_AT_ONCE.get(films.device.type, 2**20) // size**2)
        for start in range(0, len(chosen), step):
            films[start : start + step] = chosen.take(slice(start, start + step))._drawn()
        return films

    def batches(self, size: int) -> Iterator[Tensor]:
        """What is on the films, `size` at a time? For more of them than fit in memory.

        >>> [len(batch) for batch in Simulator(size=32).draw(5, seed=0).batches(2)]
        [2, 2, 1]
        """
        for start in range(0, len(self), size):
            yield self.images(slice(start, start + size))

    def do(self, *, group: int | Tensor) -> Radiographs:
        """What if they had been of another group? Everything that follows from it follows.

        Findings are decided again with the same noise: with `prevalence_shift=0` they stay.

        >>> films = Simulator(size=32, prevalence_shift=2.0).draw(200, seed=0)
        >>> bool((films.do(group=1).parents.findings >= films.do(group=2).parents.findings).all())
        True
        """
        told = self.told(group=group).parents
        found = findings(
            self.noise, self.simulator.causes, group=told.group, age=told.age, sex=told.sex
        )
        return replace(self, parents=replace(told, findings=found))

    def told(self, *, group: int | Tensor) -> Radiographs:
        """What if only the film had been that of another group? Findings and all else stay.

        This is the counterfactual of an audit that holds the findings, E[f | do(a), z]: `do` with
        every other named parent held where it was. Without a prevalence shift both are the same.

        >>> films = Simulator(size=32, prevalence_shift=2.0).draw(200, seed=0)
        >>> bool((films.told(group=1).parents.findings == films.parents.findings).all())
        True
        """
        values = torch.as_tensor(group)
        if bool(((values < 0) | (values >= GROUPS)).any()) or values.is_floating_point():
            raise SimulationError(f"group={group!r}: there are the groups 0, 1 and 2.")
        return replace(self, parents=self.parents.told(group=group))

    def take(self, index: Tensor | slice) -> Radiographs:
        """Which films are these, in this order?

        >>> len(Simulator(size=32).draw(5, seed=0).take(torch.tensor([3, 1])))
        2
        """
        return replace(self, noise=self.noise.take(index), parents=self.parents.take(index))

    def to(self, device: torch.device | str) -> Radiographs:
        """The same films, drawn on another device (the last bits of a pixel may differ there).

        >>> Simulator(size=32).draw(2, seed=0).to("cpu").images().device
        device(type='cpu')
        """
        return replace(self, noise=self.noise.to(device), parents=self.parents.to(device))

    def _drawn(self) -> Tensor:
        body = anatomy(self.noise, self.parents, self.severities, strength=self.simulator.strength)
        return draw(body, self.noise.key, size=self.simulator.size, noise=self.simulator.noise)
