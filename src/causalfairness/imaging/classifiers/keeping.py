"""Which classifier is trained here, by name? Kept in a file, so that it is trained only once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from causalfairness.errors import CheckpointError, LabelError
from causalfairness.imaging import checkpoints
from causalfairness.imaging.classifiers.networks import (
    Classifier,
    dense_network,
    inception_network,
    small_network,
    vgg_network,
)
from causalfairness.imaging.classifiers.training import fit_classifier
from causalfairness.imaging.parents import FINDINGS, UNKNOWN

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
    silent = [FINDINGS[column] for column in range(told.shape[1]) if _unknown(told[:, column])]
    if silent:
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


def _unknown(column: torch.Tensor) -> bool:
    return bool((column == UNKNOWN).all())
