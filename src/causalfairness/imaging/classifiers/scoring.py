"""What does a classifier say about many images, and how well does it rank them?

AUC is the share of (sick, healthy) pairs in which the sick one has the higher score, ties half:
(mean rank of the sick - (n1 + 1) / 2) / n0. Unknown findings are left out, finding by finding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from causalfairness.imaging.parents import UNKNOWN


class Films(Protocol):
    """Where do images come from, when they are not all in memory? Any data set here is one."""

    def __len__(self) -> int:
        """How many images are there?"""
        ...

    def images(self, index: Tensor | slice) -> Tensor:
        """What is on these images? (n, 1, H, W) float32 in [0, 1]."""
        ...


Images: TypeAlias = Tensor | Films


def look(images: Images, rows: Tensor | slice, device: torch.device | str) -> Tensor:
    """What is on these images, wherever they are kept?

    >>> look(torch.zeros(5, 1, 8, 8), slice(2), "cpu").shape
    torch.Size([2, 1, 8, 8])
    """
    chosen = images[rows] if isinstance(images, Tensor) else images.images(rows)
    return chosen.to(device, non_blocking=True)


def scores(
    classifier: Callable[[Tensor], Tensor],
    images: Images,
    *,
    batch: int = 256,
    device: torch.device | str = "cpu",
) -> Tensor:
    """What does a classifier say about every image? (n, outputs), on the processor.

    >>> from causalfairness.imaging.classifiers import small_network
    >>> scores(small_network().eval(), torch.zeros(5, 1, 32, 32)).shape
    torch.Size([5, 5])
    """
    with torch.no_grad():
        said = [
            classifier(look(images, slice(start, start + batch), device)).cpu()
            for start in range(0, len(images), batch)
        ]
    return torch.cat(said)


def area_under_curve(said: Tensor, targets: Tensor) -> Tensor:
    """How often is the sick one of two ranked above the healthy one? One AUC per finding.

    NaN where nobody, or everybody, has the finding.

    >>> area_under_curve(torch.tensor([[0.1], [0.4], [0.4]]), torch.tensor([[0], [0], [1]]))
    tensor([0.7500], dtype=torch.float64)
    """
    pairs = zip(said.cpu().double().T, targets.cpu().T, strict=True)
    return torch.stack(
        [_area(score[sick != UNKNOWN], sick[sick != UNKNOWN]) for score, sick in pairs]
    )


def _area(score: Tensor, sick: Tensor) -> Tensor:
    _, place, count = score.unique(return_inverse=True, return_counts=True)
    last = count.cumsum(0).double()
    rank = (last - (count - 1) / 2)[place]  # ties share the mean of their ranks
    ill = (sick == 1).sum().double()
    return (rank[sick == 1].mean() - (ill + 1) / 2) / (len(sick) - ill)
