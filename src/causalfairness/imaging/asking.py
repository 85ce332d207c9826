"""What do classifiers say of a batch of images, and what does a generator make of it? Checked.

A classifier that returns another number of rows, or something that is not a number, is refused by
its name; an exception that it raises itself is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from causalfairness.errors import ImageError, PredictorError
from causalfairness.imaging.counterfactuals import CounterfactualGenerator
from causalfairness.imaging.parents import Parents

Classifier = Callable[[Tensor], Tensor]
Classifiers = Classifier | Mapping[str, Classifier]


def named(classifiers: Classifiers) -> dict[str, Classifier]:
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
    return found


def said(classifiers: Mapping[str, Classifier], images: Tensor) -> Tensor:
    """What does everyone say of these images? (n, classifiers, findings) float64, on the processor.

    >>> said({"bright": lambda x: x.mean((1, 2, 3))}, torch.ones(2, 1, 8, 8)).tolist()
    [[[1.0]], [[1.0]]]
    """
    with torch.no_grad():
        each = {name: _checked(name, one(images), len(images)) for name, one in classifiers.items()}
    widths = {name: scores.shape[1] for name, scores in each.items()}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{name} {width}" for name, width in widths.items())
        raise PredictorError(
            f"classifiers return different numbers of findings ({told}); audit those together that "
            "return the same"
        )
    return torch.stack(list(each.values()), 1)


def made_images(
    generator: CounterfactualGenerator, images: Tensor, people: Parents, groups: Sequence[int]
) -> list[Tensor]:
    """What are the images under each of these groups? At once where the generator can.

    >>> from causalfairness.imaging.experiment.evaluation import DoNothing
    >>> len(made_images(DoNothing(), torch.zeros(2, 1, 8, 8), None, [0, 1, 2]))
    3
    """
    at_once = getattr(generator, "counterfactuals", None)
    if at_once is not None:
        found = list(at_once(images, people, groups=list(groups)))
    else:
        found = [generator.counterfactual(images, people, group=group) for group in groups]
    for group, them in zip(groups, found, strict=True):
        if them.shape != images.shape:
            raise ImageError(
                f"the generator made images of the shape {tuple(them.shape)} under group {group}; "
                f"expected {tuple(images.shape)}, as the images it was given"
            )
        if not bool(torch.isfinite(them).all()):
            raise ImageError(
                f"the generator made images under group {group} that hold values which are not "
                "numbers; train it further, or with a lower rate"
            )
    return found


def _checked(name: str, scores: Tensor, rows: int) -> Tensor:
    found = torch.as_tensor(scores).detach().to("cpu", torch.float64)
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
