"""How does a network learn findings? Adam on the summed binary cross-entropy of all of them.

    loss = mean of sum_k BCE(f_k(x), y_k)  +  penalty x mean squared (logit(x) - logit(x'))

An unknown finding (-1) adds nothing. x' is the same image of another group, where the caller has
one: with a penalty the network learns not to see the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.errors import CheckpointError, LabelError, TrainingError
from causalfairness.imaging import checkpoints
from causalfairness.imaging.classifiers.networks import (
    Classifier,
    dense_network,
    inception_network,
    small_network,
    vgg_network,
)
from causalfairness.imaging.classifiers.scoring import Images, look
from causalfairness.imaging.parents import FINDINGS, UNKNOWN
from causalfairness.progress import track


def fit_classifier(
    network: Classifier,
    images: Images,
    targets: Tensor,
    *,
    epochs: int = 20,
    batch: int = 64,
    rate: float = 1e-3,
    seed: int = 0,
    device: torch.device | str = "cpu",
    counterfactuals: Images | None = None,
    penalty: float = 0.0,
) -> tuple[float, ...]:
    """How low does the loss get, epoch by epoch? The network learns in place, ready for use after.

    >>> from causalfairness.imaging.classifiers import small_network
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(32, seed=0)
    >>> losses = fit_classifier(small_network(), films, films.parents.findings, epochs=3)
    >>> losses[-1] < losses[0]
    True
    """
    known = _checked(targets, images, network, counterfactuals)
    twins = counterfactuals is not None and penalty > 0
    network.to(device).train()
    learner = torch.optim.Adam(network.parameters(), lr=rate)
    steps = epochs * _pieces(len(images), batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(learner, max_lr=rate, total_steps=steps)
    order = torch.Generator().manual_seed(seed)
    losses: list[float] = []
    with torch.random.fork_rng(devices=_cards(device)):
        torch.manual_seed(seed)  # for dropout
        for epoch in track(range(epochs), total=epochs, what="training a classifier"):
            total = 0.0
            for rows in _batches(len(images), batch, order):
                films, truth = look(images, rows, device), known[rows].to(device)
                others = look(counterfactuals, rows, device) if twins else None
                loss = _loss(network, films, truth, others, penalty)
                learner.zero_grad(set_to_none=True)
                loss.backward()
                learner.step()
                schedule.step()
                total += float(loss.detach()) * len(rows)
            losses.append(_finite(total / len(images), epoch))
    network.train(False)
    return tuple(losses)


def _batches(n: int, batch: int, order: torch.Generator) -> list[Tensor]:
    """Everyone once, in random order, in batches of nearly the same size (never of one)."""
    shuffled = torch.randperm(n, generator=order)
    pieces = _pieces(n, batch)
    cuts = [n * piece // pieces for piece in range(pieces + 1)]
    return [shuffled[start:stop] for start, stop in pairwise(cuts)]


def _pieces(n: int, batch: int) -> int:
    return max(1, round(n / batch))


def _loss(
    network: Classifier, films: Tensor, truth: Tensor, others: Tensor | None, penalty: float
) -> Tensor:
    both = network.logits(films if others is None else torch.cat([films, others]))
    logits = both[: len(films)]
    each = functional.binary_cross_entropy_with_logits(
        logits, truth.clamp(min=0).to(logits), reduction="none"
    )
    loss = (each * (truth != UNKNOWN)).sum() / len(films)
    if others is None:
        return loss
    return loss + penalty * ((logits - both[len(films) :]) ** 2).mean()


def _checked(
    targets: Tensor, images: Images, network: Classifier, counterfactuals: Images | None
) -> Tensor:
    wanted = (len(images), len(network.heads))
    if tuple(targets.shape) != wanted:
        raise LabelError(
            f"Targets have the shape {tuple(targets.shape)}; expected {wanted}, a row per image "
            "and a column per output of the network."
        )
    strange = sorted(set(targets.unique().tolist()) - {0, 1, UNKNOWN})
    if strange:
        raise LabelError(f"Targets hold {strange[0]!r}; expected 0, 1, or -1 for unknown.")
    if len(images) < 2:
        raise TrainingError(f"{len(images)} image is too few to train on.")
    if counterfactuals is not None and len(counterfactuals) != len(images):
        raise TrainingError(
            f"{len(counterfactuals)} counterfactuals came with {len(images)} images; one for each."
        )
    return targets.cpu()


def _finite(loss: float, epoch: int) -> float:
    if not math.isfinite(loss):
        raise TrainingError(f"The loss of epoch {epoch + 1} is {loss}; lower the rate.")
    return loss


def _cards(device: torch.device | str) -> list[torch.device]:
    return [torch.device(device)] if torch.device(device).type == "cuda" else []


NETWORKS: dict[str, Callable[..., Classifier]] = {
    "small": small_network,
    "dense121": partial(dense_network, 121),
    "dense169": partial(dense_network, 169),
    "dense201": partial(dense_network, 201),
    "vgg13": partial(vgg_network, 13, normalized=True),
    "vgg16": partial(vgg_network, 16, normalized=True),
    "vgg19": partial(vgg_network, 19, normalized=True),
    "inception": inception_network,
}


@dataclass(frozen=True)
class ClassifierPlan:
    """Which network was trained, on which films, and for how long?

    >>> ClassifierPlan("small", epochs=20, seed=0, images="2f1c").network
    'small'
    """

    network: str
    epochs: int
    seed: int
    images: str  # fingerprint of the films


def trained_classifier(
    name: str,
    films: Any,
    *,
    images: str,
    epochs: int = 20,
    seed: int = 0,
    device: torch.device | str = "cpu",
    folder: Path | None = None,
) -> Classifier:
    """Which reader of findings do these films make? From `folder` where it was trained before.

    `films` has `parents` and can be looked at; `images` is its fingerprint.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(32, seed=0)
    >>> trained_classifier("small", films, images="simulated", epochs=1).training
    False
    """
    if name not in NETWORKS:
        raise CheckpointError(f"there is no network {name!r}; there are {', '.join(NETWORKS)}")
    told = films.parents.findings
    unknown = (told == UNKNOWN).all(0).tolist()
    if silent := [name for name, nobody in zip(FINDINGS, unknown, strict=False) if nobody]:
        raise LabelError(
            f"nothing is known about {', '.join(silent)} in the films to learn from; expected 0 "
            "and 1 for every finding. Audit a classifier of your own instead"
        )
    plan = ClassifierPlan(name, epochs, seed, images)
    path = None if folder is None else folder / f"classifier-{name}.pt"
    network = NETWORKS[name](seed=seed)
    if path is not None and path.exists():
        network.load_state_dict(checkpoints.load(path, plan=plan)["state"])
        network.to(device).train(False)
        return network
    fit_classifier(network, films, told, epochs=epochs, seed=seed, device=device)
    if path is not None:
        checkpoints.save(path, {"state": network.state_dict()}, plan=plan)
    return network
