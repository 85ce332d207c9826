"""What is known about the person behind each image? All the causes of an image that have names.

A generator that is told the group alone lets everything else drift, so it is told all of them.
What is not known is -1 (NaN for age) and has a token of its own in every generator.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

FINDINGS = ("cardiomegaly", "edema", "consolidation", "atelectasis", "effusion")
UNKNOWN = -1
_ALSO = {"pleural effusion": "effusion"}


def finding_called(name: str) -> str:
    """What is this finding called here? As it is, where it is none of the five.

    >>> [finding_called(name) for name in ("Edema", "Pleural Effusion", "Lung Opacity")]
    ['edema', 'effusion', 'Lung Opacity']
    """
    plain = _ALSO.get(name.strip().lower(), name.strip().lower())
    return plain if plain in FINDINGS else name


@dataclass(frozen=True, eq=False)
class Parents:
    """What is known about the person behind each image? One entry per image.

    >>> people = Parents(
    ...     group=torch.tensor([0, 2]), age=torch.tensor([0.31, 0.74]), sex=torch.tensor([1, 0]),
    ...     scanner=torch.tensor([0, 1]), findings=torch.zeros(2, 5, dtype=torch.int64))
    >>> len(people), people.told(group=1).group.tolist()
    (2, [1, 1])
    """

    group: Tensor  # (n,) int64, from 0
    age: Tensor  # (n,) float32, years / 100
    sex: Tensor  # (n,) int64, 0 or 1
    scanner: Tensor  # (n,) int64, from 0
    findings: Tensor  # (n, 5) int64, 0 or 1, in the order of FINDINGS

    def __len__(self) -> int:
        return len(self.group)

    def told(self, *, group: int | Tensor) -> Parents:
        """Who are the same people, told another group? One value, or one per person."""
        told = torch.as_tensor(group, dtype=self.group.dtype, device=self.group.device)
        return replace(self, group=told.expand(len(self)).clone())

    def take(self, index: Tensor | slice) -> Parents:
        """Who are these people, in this order?"""
        return self._each(lambda values: values[index])

    def to(self, device: torch.device | str) -> Parents:
        """Who are they, on another device?"""
        return self._each(lambda values: values.to(device, non_blocking=True))

    def _each(self, change: object) -> Parents:
        assert callable(change)
        return Parents(**{field.name: change(getattr(self, field.name)) for field in fields(self)})
