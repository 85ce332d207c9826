"""How does a network learn findings? Adam on the summed binary cross-entropy of all of them.

    loss = mean of sum_k BCE(f_k(x), y_k)  +  penalty x mean squared (logit(x) - logit(x'))

An unknown finding (-1) adds nothing. x' is the same image of another group, where the caller has
one: with a penalty the network learns not to see the group.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.errors import LabelError, TrainingError
from causalfairness.imaging.classifiers.networks import Classifier
from causalfairness.imaging.classifiers.scoring import Images, look
from causalfairness.imaging.parents import UNKNOWN
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
    if loss != loss or loss in (float("inf"), float("-inf")):
        raise TrainingError(f"The loss of epoch {epoch + 1} is {loss}; lower the rate.")
    return loss


def _cards(device: torch.device | str) -> list[torch.device]:
    return [torch.device(device)] if torch.device(device).type == "cuda" else []
