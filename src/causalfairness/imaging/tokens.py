"""How is a network told about the parents of an image? One token each, and one for not knowing.

Codes are a (n, 9) table of numbers: the value of each parent, -1 where it is not known. Each parent
has its own token for -1, so one network answers with any of them withheld; withholding the group
gives h(z) of methods §11, withholding all gives the unconditional half of guidance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor, nn

from causalfairness.errors import ParentsError
from causalfairness.imaging.parents import FINDINGS, UNKNOWN, Parents

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


def withhold(codes: Tensor, *, names: Sequence[str] = NAMES) -> Tensor:
    """What is a network told when some parents are kept from it?

    >>> withhold(torch.ones(1, 9), names=("group", "effusion")).int().tolist()
    [[-1, 1, 1, 1, 1, 1, 1, 1, -1]]
    """
    chosen = torch.tensor([name in names for name in NAMES], device=codes.device)
    return codes.masked_fill(chosen, float(UNKNOWN))


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
