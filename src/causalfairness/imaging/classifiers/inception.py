"""What does an Inception backbone look like? Branches of several widths beside each other.

The three kinds of blocks of version 3 (small, factorized and wide), two of the first two kinds and
one of the last, every one padded so that images from 32x32 on pass.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def inception_backbone() -> tuple[nn.Module, int]:
    """Which backbone, with how many channels at its end?

    >>> backbone, channels = inception_backbone()
    >>> backbone(torch.zeros(1, 1, 64, 64)).shape[1] == channels
    True
    """
    layers = nn.Sequential(
        _unit(1, 32, 3, stride=2),
        _unit(32, 32, 3),
        _unit(32, 64, 3),
        nn.MaxPool2d(2),
        _small(64),
        _small(256),
        _shrinking(256, 384),
        _factorized(768 - 128, 128),
        _factorized(768, 160),
        _shrinking(768, 320),
        _wide(1088),
    )
    return layers, 2048


class Beside(nn.Module):
    """What do several branches see in the same image? Their channels, one after the other.

    >>> Beside(nn.Identity(), nn.Identity())(torch.zeros(1, 2, 4, 4)).shape
    torch.Size([1, 4, 4, 4])
    """

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, images: Tensor) -> Tensor:
        """What do all branches see?"""
        return torch.cat([branch(images) for branch in self.branches], dim=1)


def _unit(before: int, after: int, kernel: int | tuple[int, int], *, stride: int = 1) -> nn.Module:
    tall, wide = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    padding = (tall // 2, wide // 2)
    return nn.Sequential(
        nn.Conv2d(before, after, (tall, wide), stride=stride, padding=padding, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(),
    )


def _pooled(before: int, after: int) -> nn.Module:
    return nn.Sequential(nn.AvgPool2d(3, stride=1, padding=1), _unit(before, after, 1))


def _small(before: int) -> nn.Module:
    return Beside(
        _unit(before, 64, 1),
        nn.Sequential(_unit(before, 48, 1), _unit(48, 64, 5)),
        nn.Sequential(_unit(before, 64, 1), _unit(64, 96, 3), _unit(96, 96, 3)),
        _pooled(before, 32),
    )


def _shrinking(before: int, after: int) -> nn.Module:
    return Beside(_unit(before, after, 3, stride=2), nn.MaxPool2d(3, stride=2, padding=1))


def _factorized(before: int, width: int) -> nn.Module:
    across, down = (1, 7), (7, 1)
    once = (_unit(width, width, across), _unit(width, 192, down))
    twice = (
        _unit(width, width, down),
        _unit(width, width, across),
        _unit(width, width, down),
        _unit(width, 192, across),
    )
    return Beside(
        _unit(before, 192, 1),
        nn.Sequential(_unit(before, width, 1), *once),
        nn.Sequential(_unit(before, width, 1), *twice),
        _pooled(before, 192),
    )


def _wide(before: int) -> nn.Module:
    def split(width: int) -> nn.Module:
        return Beside(_unit(width, 384, (1, 3)), _unit(width, 384, (3, 1)))

    return Beside(
        _unit(before, 320, 1),
        nn.Sequential(_unit(before, 384, 1), split(384)),
        nn.Sequential(_unit(before, 448, 1), _unit(448, 384, 3), split(384)),
        _pooled(before, 192),
    )
