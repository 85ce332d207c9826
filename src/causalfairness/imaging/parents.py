"""What is known about the person behind each image, and how is a network told?

A generator that is told the group alone lets everything else drift, so it is told all of them: all
the causes of an image that have names. What is not known is -1 (NaN for age). Codes are a (n, 9)
table of numbers: the value of each parent, -1 where it is not known. Each parent has a token of its
own for every value and for -1, so one network answers with any of them withheld; withholding the
group gives h(z) of methods §11, withholding all gives the unconditional half of guidance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate

import torch
from torch import Tensor, nn

from causalfairness.errors import ParentsError

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

    def _each(self, change: Callable[[Tensor], Tensor]) -> Parents:
        return Parents(**{field.name: change(getattr(self, field.name)) for field in fields(self)})


NAMES = ("group", "age", "sex", "scanner", *FINDINGS)
WAVES = 8  # pairs of sine and cosine that describe an age


def codes_of(parents: Parents, *, told: Sequence[str] = NAMES) -> Tensor:
    """What is a network told? One row per image, one column per parent, -1 for not known.

    >>> person = Parents(torch.tensor([2]), torch.tensor([float("nan")]), torch.tensor([1]),
    ...                  torch.tensor([0]), torch.tensor([[1, 0, 0, -1, 0]]))
    >>> codes_of(person).tolist()
    [[2.0, -1.0, 1.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0]]
    >>> codes_of(person, told=("group",)).tolist()[0][:3]
    [2.0, -1.0, -1.0]
    """
    age = torch.nan_to_num(parents.age.float(), nan=float(UNKNOWN))
    single = [parents.group, age, parents.sex, parents.scanner]
    codes = torch.cat([torch.stack([x.float() for x in single], 1), parents.findings.float()], 1)
    withheld = torch.tensor([name not in told for name in NAMES], device=codes.device)
    return codes.masked_fill(withheld, float(UNKNOWN))


class ParentTokens(nn.Module):
    """Which vectors stand for the parents? Learned ones, (n, 9, width) from (n, 9) codes.

    >>> tokens = ParentTokens(groups=3, scanners=2, width=4)
    >>> tokens(torch.full((5, 9), -1.0)).shape
    torch.Size([5, 9, 4])
    """

    def __init__(self, *, groups: int, scanners: int, width: int) -> None:
        super().__init__()
        self.values = (groups, 0, 2, scanners, *[2] * len(FINDINGS))  # 0: a number, not a category
        starts = list(accumulate((count + 1 for count in self.values), initial=0))
        self.categories = nn.Embedding(starts[-1], width)  # the first of each parent: not known
        self.register_buffer("starts", torch.tensor(starts[:-1]), persistent=False)
        waves = math.pi * 2.0 ** torch.linspace(0, 4, WAVES)
        self.register_buffer("waves", waves, persistent=False)
        category = torch.tensor([float(count > 0) for count in self.values])
        self.register_buffer("category", category, persistent=False)
        self.age = nn.Sequential(
            nn.Linear(2 * WAVES + 1, width), nn.SiLU(), nn.Linear(width, width)
        )

    def forward(self, codes: Tensor) -> Tensor:
        """Which vectors stand for these codes?"""
        tokens = self.categories(((codes + 1) * self.category).long() + self.starts)
        age = codes[:, 1:2]
        turned = age * self.waves
        described = self.age(torch.cat([age, torch.sin(turned), torch.cos(turned)], 1))
        known = (age >= 0).to(described.dtype)
        spoken = tokens[:, 1] + known * described
        return torch.cat([tokens[:, :1], spoken[:, None].to(tokens.dtype), tokens[:, 2:]], 1)


def checked(parents: Parents, *, count: int, groups: int, scanners: int) -> Parents:
    """Do these parents fit the images and the network? Refused where a value has no token.

    >>> person = Parents(torch.tensor([3]), torch.tensor([0.5]), torch.tensor([1]),
    ...                  torch.tensor([0]), torch.zeros(1, 5))
    >>> checked(person, count=1, groups=3, scanners=2)
    Traceback (most recent call last):
    ...
    causalfairness.errors.ParentsError: group is 3 for image 0; expected -1 (not known) to 2
    """
    if len(parents) != count:
        raise ParentsError(f"{count} images came with parents of {len(parents)} people")
    limits = {"group": groups, "sex": 2, "scanner": scanners, "findings": 2}
    for name, limit in limits.items():
        values = getattr(parents, name)
        wrong = ((values < UNKNOWN) | (values >= limit)).reshape(count, -1).any(1).nonzero()
        if len(wrong):
            row = int(wrong[0])
            found = values[row].tolist()
            raise ParentsError(
                f"{name} is {found} for image {row}; expected -1 (not known) to {limit - 1}"
            )
    return parents
