"""What is random in each image? A few numbers per person, and grain derived from one key.

Pixel noise and textures are not stored. Every pixel's noise is a hash of the image's key, of the
texture's name and of the pixel's place, so that any batch, subset or device gives the same noise,
bit for bit. The four bytes of a 32-bit hash add up to an (almost) normal number: mean 510,
variance 4 (256² - 1) / 12, never beyond 3.46 standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

PEOPLE = ("origin", "referral", "group_0", "group_1", "group_2", "age", "sex", "scanner")
FINDING = tuple(f"finding_{k}" for k in range(5))
SEVERITY = tuple(f"severity_{k}" for k in range(5))
BODY = (
    *("shift_x", "shift_y", "tilt", "zoom", "chest", "breath", "domes", "bone", "rib_spacing"),
    *("rib_phase", "rib_slope", "collar", "heart", "heart_x", "heart_tilt", "knob", "hila"),
    *("breast", "stomach", "patch_side", "patch_x", "patch_y", "patch_size", "plate_side"),
    *("plate_x", "plate_y", "plate_slope", "fluid_side", "fluid_shape"),
)
NUISANCE = ("tissue", "exposure", "texture", "marker", "marker_x", "marker_y")
NAMES = (*PEOPLE, *FINDING, *SEVERITY, *BODY, *NUISANCE)
_PLACE = {name: place for place, name in enumerate(NAMES)}
_MIDDLE = 510.0
_SPREAD = float(np.sqrt(4 * (256**2 - 1) / 12))


@dataclass(frozen=True, eq=False)
class Noise:
    """What is random about each person, before anything is decided? Standard normal numbers.

    >>> noise = Noise.draw(5, seed=0)
    >>> len(noise), noise["heart"].shape
    (5, torch.Size([5]))
    >>> bool((Noise.draw(3, seed=0).numbers == noise.take(slice(3)).numbers).all())
    True
    """

    numbers: Tensor  # (n, len(NAMES)) float64
    key: Tensor  # (n,) int32, what an image's grain is derived from

    @classmethod
    def draw(cls, n: int, *, seed: int) -> Noise:
        """What is random about n people? The first m of them are those of a draw of m."""
        for_numbers, for_keys = (np.random.default_rng(s) for s in _streams(seed))
        numbers = for_numbers.standard_normal((n, len(NAMES)))
        key = for_keys.integers(-(2**31), 2**31, n, dtype=np.int64).astype(np.int32)
        return cls(torch.from_numpy(numbers), torch.from_numpy(key))

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, name: str) -> Tensor:
        return self.numbers[:, _PLACE[name]]

    def columns(self, names: tuple[str, ...]) -> Tensor:
        """What do these numbers hold, side by side?"""
        return self.numbers[:, [_PLACE[name] for name in names]]

    def take(self, index: Tensor | slice) -> Noise:
        """What is random about these people, in this order?"""
        return Noise(self.numbers[index], self.key[index])

    def to(self, device: torch.device | str) -> Noise:
        """The same noise, on another device?"""
        return Noise(self.numbers.to(device), self.key.to(device))


def grain(key: Tensor, size: int, *, stream: int) -> Tensor:
    """What is the noise of every pixel? (n, size, size), mean 0, variance 1, no two alike.

    >>> pixels = grain(torch.arange(40, dtype=torch.int32), 64, stream=1)
    >>> round(float(pixels.mean()), 2), round(float(pixels.std()), 2)
    (0.0, 1.0)
    """
    place = torch.arange(size * size, dtype=torch.int32, device=key.device).view(1, size, size)
    start = _mix(_mix(key ^ (stream * 0x3C6EF35)) ^ 0x2545F491)
    mixed = _mix(place * -0x61C88647 + start[:, None, None])
    pairs = (mixed & 0x00FF00FF) + ((mixed >> 8) & 0x00FF00FF)
    total = (pairs & 0xFFFF) + ((pairs >> 16) & 0xFFFF)
    return (total.to(torch.float32) - _MIDDLE) * (1 / _SPREAD)


def texture(key: Tensor, size: int, *, cells: int, stream: int) -> Tensor:
    """What is a smooth random surface? (n, size, size), `cells` knots per side whatever the size.

    >>> texture(torch.arange(2, dtype=torch.int32), 32, cells=8, stream=2).shape
    torch.Size([2, 32, 32])
    """
    knots = grain(key, cells, stream=stream)[:, None]
    surface = functional.interpolate(knots, size=(size, size), mode="bilinear", align_corners=True)
    return surface[:, 0]


def _streams(seed: int) -> list[np.random.SeedSequence]:
    return np.random.SeedSequence(seed).spawn(2)


def _mix(bits: Tensor) -> Tensor:
    """One round of a 32-bit finalizer that spreads every bit over all of them; it can be undone,
    so that different bits stay different.
    """
    bits = (bits ^ ((bits >> 16) & 0xFFFF)) * 0x7FEB352D
    bits = (bits ^ ((bits >> 15) & 0x1FFFF)) * -0x7B935975
    return bits ^ ((bits >> 16) & 0xFFFF)
