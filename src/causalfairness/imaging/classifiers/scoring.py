"""What does a classifier say about many images, and how well does it rank them?

AUC is the share of (sick, healthy) pairs in which the sick one has the higher score, ties half:
(mean rank of the sick - (n1 + 1) / 2) / n0. Unknown findings are left out, finding by finding.

Of audited classifiers what they say is checked: one that returns another number of rows, or
something that is not a number, is refused by its name; an exception that it raises itself is not
touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor

from causalfairness.errors import PredictorError
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
Reader = Callable[[Tensor], Tensor]  # of a batch of images: one score for each, or several
Readers = Reader | Mapping[str, Reader]


def look(images: Images, rows: Tensor | slice, device: torch.device | str) -> Tensor:
    """What is on these images, wherever they are kept?

    >>> look(torch.zeros(5, 1, 8, 8), slice(2), "cpu").shape
    torch.Size([2, 1, 8, 8])
    """
    chosen = images[rows] if isinstance(images, Tensor) else images.images(rows)
    return chosen.to(device, non_blocking=True)


def scores(
    classifier: Reader,
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


def named(classifiers: Readers) -> dict[str, Reader]:
    """Who is asked, by name? One classifier alone is called "classifier".

    >>> list(named(lambda images: images))
    ['classifier']
    """
    found = dict(classifiers) if isinstance(classifiers, Mapping) else {"classifier": classifiers}
    if not found:
        raise PredictorError("there is no classifier to audit; pass one, or several by name")
    for name, each in found.items():
        if not callable(each):
            raise PredictorError(
                f"{name} is {type(each).__name__}; a classifier is called with a batch of images "
                "and returns their scores"
            )
        if getattr(each, "training", False) is True:
            raise PredictorError(
                f"{name} is a network in training mode, whose scores follow chance and the rest of "
                "the batch; call its eval() first"
            )
    return found


def said(classifiers: Mapping[str, Reader], images: Tensor) -> Tensor:
    """What does everyone say of these images? (n, classifiers, findings) float64, on the processor.

    Each is asked about a copy: what it does to its batch is its own affair.

    >>> said({"bright": lambda x: x.mean((1, 2, 3))}, torch.ones(2, 1, 8, 8)).tolist()
    [[[1.0]], [[1.0]]]
    """
    with torch.no_grad():
        each = {
            name: _checked(name, one(images.clone()), len(images))
            for name, one in classifiers.items()
        }
    widths = {name: scores.shape[1] for name, scores in each.items()}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{name} {width}" for name, width in widths.items())
        raise PredictorError(
            f"classifiers return different numbers of findings ({told}); audit those together that "
            "return the same"
        )
    return torch.stack(list(each.values()), 1)


def _checked(name: str, scores: Any, rows: int) -> Tensor:
    try:
        found = torch.as_tensor(scores).detach().to("cpu", torch.float64)
    except (TypeError, ValueError, RuntimeError) as cause:
        raise PredictorError(
            f"{name} returned {type(scores).__name__}, no numbers ({cause}); expected a tensor of "
            f"{rows} scores, or of ({rows}, findings)"
        ) from cause
    if found.ndim not in (1, 2) or len(found) != rows:
        raise PredictorError(
            f"{name} returned the shape {tuple(found.shape)} for {rows} images; expected ({rows},) "
            f"or ({rows}, findings)"
        )
    if not bool(torch.isfinite(found).all()):
        row = int((~torch.isfinite(found.reshape(rows, -1)).all(1)).nonzero()[0])
        raise PredictorError(
            f"{name} returned a score that is not a number for image {row} of the batch; scores "
            "must be finite"
        )
    return found.reshape(rows, -1)
