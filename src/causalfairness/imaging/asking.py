"""What do classifiers say of a batch of images, and what does a generator make of it? Checked.

A classifier that returns another number of rows, or something that is not a number, is refused by
its name; an exception that it raises itself is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from causalfairness.errors import ImageError, PredictorError
from causalfairness.imaging.counterfactuals import SLACK, CounterfactualGenerator
from causalfairness.imaging.parents import UNKNOWN, Parents

Classifier = Callable[[Tensor], Tensor]
Classifiers = Classifier | Mapping[str, Classifier]
Names = Sequence[str] | Mapping[int, str] | None


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
        if getattr(each, "training", False) is True:
            raise PredictorError(
                f"{name} is a network in training mode, whose scores follow chance and the rest of "
                "the batch; call its eval() first"
            )
    return found


def said(classifiers: Mapping[str, Classifier], images: Tensor) -> Tensor:
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

    >>> from causalfairness.imaging.counterfactuals import DoNothing
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

    >>> from causalfairness.imaging.counterfactuals import DoNothing
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
