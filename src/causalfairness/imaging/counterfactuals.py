"""What would these images be, had the group been another? What every generator can be asked.

Images are (n, 1, size, size) float tensors with values about 0 to 1. A counterfactual may leave
that range slightly: it is not clipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from causalfairness.errors import ImageError
from causalfairness.imaging.parents import UNKNOWN, Parents

SLACK = 0.5  # how far outside 0 to 1 a value may lie before it is taken for another scale


class CounterfactualGenerator(Protocol):
    """What would these images be, had the group been another? Anything that answers this way.

    >>> generator: CounterfactualGenerator = DoNothing()
    """

    def counterfactual(self, images: Tensor, parents: Parents, *, group: int | Tensor) -> Tensor:
        """What would the images be under this group? UNKNOWN: under a group nobody names."""
        ...


@dataclass(frozen=True)
class DoNothing:
    """What if the images are left as they are? The baseline.

    >>> DoNothing().counterfactual(torch.zeros(1), None, group=1).tolist()
    [0.0]
    """

    def counterfactual(self, images: Tensor, parents: Parents, *, group: int | Tensor) -> Tensor:
        """What would the images be? The same."""
        return images


def withheld_group(generator: CounterfactualGenerator, images: Tensor, parents: Parents) -> Tensor:
    """What would the images be under a group nobody names? h(z) of methods §11 is asked on these.

    >>> from causalfairness.imaging.parents import Parents
    >>> class Prints:
    ...     def counterfactual(self, images, parents, *, group):
    ...         print("group", group)
    ...         return images
    >>> _ = withheld_group(Prints(), None, None)
    group -1
    """
    return generator.counterfactual(images, parents, group=UNKNOWN)


def checked_images(images: Tensor, *, size: int) -> Tensor:
    """Are these images of the right shape and range? Returned as float, or refused.

    >>> checked_images(torch.full((2, 1, 32, 32), 200.0), size=32)
    Traceback (most recent call last):
    ...
    causalfairness.errors.ImageError: images hold values from 200 to 200; expected about 0 to 1
    (divide 8-bit values by 255)
    """
    if images.ndim != 4 or tuple(images.shape[1:]) != (1, size, size):
        raise ImageError(
            f"images have the shape {tuple(images.shape)}; expected (n, 1, {size}, {size})"
        )
    if not len(images):
        raise ImageError("there are no images; expected at least one")
    if not images.is_floating_point():
        raise ImageError(f"images are {images.dtype}; expected floating point from 0 to 1")
    least, most = (float(value) for value in torch.aminmax(images))
    if not (least >= -SLACK and most <= 1 + SLACK):
        raise ImageError(
            f"images hold values from {least:g} to {most:g}; expected about 0 to 1 "
            "(divide 8-bit values by 255)"
        )
    return images.float()
