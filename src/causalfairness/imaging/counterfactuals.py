"""What would these images be, had the group been another? What every generator can be asked.

Images are (n, 1, size, size) float tensors with values about 0 to 1. A counterfactual may leave
that range slightly: it is not clipped. What is no such image is refused, given or made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from causalfairness.errors import ImageError
from causalfairness.imaging.parents import UNKNOWN, Parents

Names = Sequence[str] | Mapping[int, str] | None  # of the groups, by their numbers
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


def made_images(
    generator: CounterfactualGenerator,
    images: Tensor,
    people: Parents,
    groups: Sequence[int],
    *,
    names: Names = None,
) -> list[Tensor]:
    """What are the images under each of these groups? At once where the generator can.

    `names` are those of the groups, by their number.

    >>> len(made_images(DoNothing(), torch.zeros(2, 1, 8, 8), None, [0, 1, 2]))
    3
    """
    at_once = getattr(generator, "counterfactuals", None)
    if at_once is not None:
        found = list(at_once(images, people, groups=list(groups)))
    else:
        found = [generator.counterfactual(images, people, group=group) for group in groups]
    for group, them in zip(groups, found, strict=True):
        check_made(generator, images, them, under=group_name(group, names))
    return found


def check_made(
    generator: CounterfactualGenerator, images: Tensor, made: Tensor, *, under: str
) -> None:
    """Are these images, as those that the generator was given? Refused if they are not.

    >>> given = torch.zeros(2, 1, 8, 8)
    >>> check_made(DoNothing(), given, given + 3, under="group White")
    Traceback (most recent call last):
    ...
    causalfairness.errors.ImageError: the generator (DoNothing) made images under group White with
    values from 3 to 3; expected about 0 to 1: train it further
    """
    who = f"the generator ({type(generator).__name__}) made images"
    if made.shape != images.shape:
        raise ImageError(
            f"{who} of the shape {tuple(made.shape)} under {under}; expected "
            f"{tuple(images.shape)}, as the images it was given"
        )
    if not bool(torch.isfinite(made).all()):
        raise ImageError(
            f"{who} under {under} that hold values which are not numbers; train it further, or "
            "with a lower rate"
        )
    least, most = (float(value) for value in torch.aminmax(made))
    if least < -SLACK or most > 1 + SLACK:
        raise ImageError(
            f"{who} under {under} with values from {least:.3g} to {most:.3g}; expected about 0 to "
            "1: train it further"
        )


def group_name(code: int, names: Names) -> str:
    """How is a group called in a message? By its name where there is one.

    >>> group_name(1, ["White", "Black"]), group_name(2, None)
    ('group Black', 'group 2')
    """
    if code == UNKNOWN:
        return "a group that is withheld"
    known = names is not None and (
        code in names if isinstance(names, Mapping) else code < len(names)
    )
    name = str(names[code]) if names is not None and known else str(code)
    return name if name.startswith("group ") else f"group {name}"
