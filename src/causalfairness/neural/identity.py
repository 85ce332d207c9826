"""Is this the same table? A digest that is worked out wherever the rows are, block by block.

Every value is read as the two halves of a double, and one word per row is mixed from them and the
place of their columns. Words are added up modulo 2^64: once as they are, so that the sum does not
depend on the order of rows, and once mixed with the row's place, so that it does. Addition of
integers is exact, so neither the device nor the size of a block has a say, and a table of singles
has the digest of the same numbers stored as doubles.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

GOLDEN = 0x9E3779B97F4A7C15  # step and multipliers of SplitMix64
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
SALT = 0xD1B54A32D192ED03


class TableIdentity(NamedTuple):
    """Which table is it, and in which order do its rows come?"""

    fingerprint: str
    order: str


@dataclass(frozen=True, eq=False)
class Digest:
    """What is known of a table so far? Sums of words, on the device of the rows.

    >>> import torch
    >>> def digest(*blocks):
    ...     seen = Digest.of(2, torch.device("cpu"))
    ...     for start, rows in blocks:
    ...         seen.add(torch.tensor(rows), start)
    ...     return seen.identity(2)
    >>> whole = digest((0, [[0.0, 1.0], [2.0, 3.0]]))
    >>> whole == digest((0, [[0.0, 1.0]]), (1, [[2.0, 3.0]]))
    True
    >>> turned = digest((0, [[2.0, 3.0], [0.0, 1.0]]))
    >>> whole.fingerprint == turned.fingerprint, whole.order == turned.order
    (True, False)
    """

    keys: Tensor  # two odd numbers per column
    sums: Tensor  # rows, rows salted, rows with their place

    @classmethod
    def of(cls, width: int, device: Any) -> Digest:
        """What is known before the first row?"""
        import torch

        places = (np.arange(1, 2 * width + 1, dtype=np.uint64) * np.uint64(GOLDEN)).view(np.int64)
        keys = _mixed(torch.from_numpy(places)) | 1
        return cls(keys.to(device), torch.zeros(3, dtype=torch.int64, device=device))

    def add(self, rows: Tensor, start: int) -> None:
        """Take in more rows, the first of which is row `start` of the table."""
        import torch

        doubles = rows.to(torch.float64) + 0.0  # no minus zero
        halves = doubles.contiguous().view(torch.int32)
        words = (halves * self.keys).sum(dim=1)
        place = torch.arange(start, start + len(words), dtype=torch.int64, device=words.device)
        self.sums[0] += _mixed(words).sum()
        self.sums[1] += _mixed(words + _signed(SALT)).sum()
        self.sums[2] += _mixed(_mixed(words) + place * _signed(GOLDEN)).sum()

    def identity(self, rows: int) -> TableIdentity:
        """Which table was it?"""
        first, second, order = self.sums.tolist()
        content = hashlib.sha256(f"{rows} {len(self.keys) // 2} {first} {second}".encode())
        return TableIdentity(content.hexdigest(), hashlib.sha256(f"{order}".encode()).hexdigest())


def _mixed(words: Tensor) -> Tensor:
    """The finalizer of SplitMix64."""
    words = (words ^ _shifted(words, 30)) * _signed(FIRST)
    words = (words ^ _shifted(words, 27)) * _signed(SECOND)
    return words ^ _shifted(words, 31)


def _shifted(words: Tensor, by: int) -> Tensor:
    """To the right, with zeros from the left: torch would repeat the sign."""
    return (words >> by) & ((1 << (64 - by)) - 1)


def _signed(word: int) -> int:
    """The signed number with the same 64 bits."""
    return word - (1 << 64) if word >> 63 else word
