"""Do two sets of images look alike as sets? Fréchet's distance between their features.

    |m1 - m2|² + trace(S1 + S2 - 2 (S1^(1/2) S2 S1^(1/2))^(1/2))

for features with means m and covariances S. The value means nothing without its features and its
floor: what two halves of the *real* images are apart. The features here are those of a fixed random
network, the same for everyone who states the seed; published figures use Inception's, which a user
with its weights can pass instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.errors import ImageError

Features = Callable[[Tensor], Tensor]
_WIDTHS = (16, 32, 64)


@dataclass(frozen=True)
class Frechet:
    """Do generated images look real as a set? The distance, and what real ones are apart.

    >>> print(Frechet(distance=1.5, floor=0.5, features="random network, seed 0"))
    1.5 (0.5 between two halves of the real images; features: random network, seed 0)
    """

    distance: float
    floor: float
    features: str

    def __str__(self) -> str:
        return (
            f"{self.distance:.3g} ({self.floor:.3g} between two halves of the real images; "
            f"features: {self.features})"
        )


def frechet(
    generated: Tensor,
    real: Tensor,
    *,
    features: Features | None = None,
    name: str | None = None,
    batch: int = 256,
) -> Frechet:
    """Do generated images look real as a set? Every other one, with the real ones between.

    Where `generated` are images of the people in `real`, in their order, other people are thus
    compared, as in the floor, and leaving all images as they are gives exactly the floor.

    >>> images = torch.rand(400, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    >>> found = frechet(images + 0.1, images)
    >>> found.distance > 10 * found.floor
    True
    """
    if len(generated) < 4 or len(real) < 4:
        raise ImageError(
            f"{len(generated)} generated and {len(real)} real images; expected at least 4 of each"
        )
    told = name or ("random network, seed 0" if features is None else "given by the caller")
    described = [
        torch.cat(
            [(features or random_features)(piece).double().cpu() for piece in them.split(batch)]
        )
        for them in (generated, real)
    ]
    made, first, second = described[0][1::2], described[1][::2], described[1][1::2]
    return Frechet(frechet_distance(made, first), frechet_distance(second, first), told)


def frechet_distance(first: Tensor, second: Tensor) -> float:
    """How far apart are two sets of features, as Gaussians?

    Not by `monai.metrics.compute_frechet_distance`: it fails with SciPy 1.18 (MONAI 1.6.1), and the
    root of S1 S2 that it takes has lost half of its digits where there are fewer images than
    features.

    >>> grid = torch.cartesian_prod(torch.tensor([-1.0, 1.0]), torch.tensor([-1.0, 1.0]))
    >>> round(frechet_distance(grid, grid + 3), 6), round(frechet_distance(grid, 2 * grid), 3)
    (18.0, 2.667)
    """
    means = [them.double().mean(0) for them in (first, second)]
    one, two = (
        torch.cov(them.double().T).reshape(2 * (them.shape[1],)) for them in (first, second)
    )
    root = _root(one)
    shared = torch.linalg.eigvalsh(root @ two @ root).clamp(min=0).sqrt().sum()
    apart = float(((means[0] - means[1]) ** 2).sum())
    return max(apart + float(one.trace() + two.trace() - 2 * shared), 0.0)


def random_features(images: Tensor, *, seed: int = 0) -> Tensor:
    """How does a fixed random network describe images? Means and spreads of every layer's maps.

    >>> random_features(torch.zeros(3, 1, 32, 32)).shape
    torch.Size([3, 226])
    """
    drawn = torch.Generator().manual_seed(seed)
    shown, found = images.float(), [images.float()]
    for before, after in zip((1, *_WIDTHS), _WIDTHS, strict=False):
        weight = torch.randn(after, before, 3, 3, generator=drawn) / (3 * before**0.5)
        shown = functional.leaky_relu(functional.conv2d(shown, weight.to(shown), padding=1), 0.2)
        found.append(shown)
        shown = functional.avg_pool2d(shown, 2)
    described = [(maps.mean((2, 3)), maps.flatten(2).std(2)) for maps in found]
    return torch.cat([part for parts in described for part in parts], 1)


def _root(matrix: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors * values.clamp(min=0).sqrt()) @ vectors.T
