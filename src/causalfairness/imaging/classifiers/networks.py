"""Which networks read findings from radiographs? Those of paper 004, App. G.2, and a small one.

All have one shape: a backbone, the mean over all places, and for every finding dropout, batch
normalization and a 1x1 convolution of its own. Images in [0, 1] come in, probabilities go out.
Weights are random, from a seed, or from a file: one of these networks' own, or a backbone of
DenseNet or VGG in the names of torchvision, whose three color channels are added up for gray.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from monai.networks.nets import DenseNet
from torch import Tensor, nn

from causalfairness.errors import CheckpointError, ImageError
from causalfairness.imaging.classifiers.inception import inception_backbone
from causalfairness.imaging.parents import FINDINGS

_DENSE = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}
_VGG = {13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class Classifier(nn.Module):
    """How probable is each finding on these radiographs? (n, 1, H, W) in [0, 1] to (n, outputs).

    >>> network = small_network(seed=0).eval()
    >>> network(torch.zeros(3, 1, 64, 64)).shape
    torch.Size([3, 5])
    """

    def __init__(self, backbone: nn.Module, channels: int, *, outputs: int, dropout: float) -> None:
        super().__init__()
        self.backbone = backbone
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Dropout(dropout), nn.BatchNorm2d(channels), nn.Conv2d(channels, 1, 1))
            for _ in range(outputs)
        )

    @property
    def findings(self) -> tuple[str, ...] | None:
        """What are the outputs called? The five findings, in their order; nothing else is known."""
        return FINDINGS if len(self.heads) == len(FINDINGS) else None

    def logits(self, images: Tensor) -> Tensor:
        """What are the log odds of each finding?"""
        if images.ndim != 4 or images.shape[1] != 1:
            raise ImageError(
                f"Images have the shape {tuple(images.shape)}; expected (n, 1, height, width)."
            )
        features = self.backbone(2 * images - 1).mean(dim=(2, 3), keepdim=True)
        return torch.cat([head(features).flatten(1) for head in self.heads], dim=1)

    def forward(self, images: Tensor) -> Tensor:
        """How probable is each finding?"""
        return torch.sigmoid(self.logits(images))


def dense_network(
    depth: int = 121,
    *,
    outputs: int = len(FINDINGS),
    dropout: float = 0.2,
    seed: int = 0,
    weights: Path | str | None = None,
) -> Classifier:
    """Which DenseNet reads findings? Of depth 121, 169 or 201.

    >>> sum(p.numel() for p in dense_network(121).backbone.parameters())
    6947584
    """
    blocks = _known(depth, _DENSE, "DenseNet")

    def build() -> tuple[nn.Module, int]:
        whole = DenseNet(spatial_dims=2, in_channels=1, out_channels=1, block_config=blocks)
        features = OrderedDict(whole.features.named_children(), relu5=nn.ReLU())
        return nn.Sequential(features), int(whole.class_layers.out.in_features)

    return _built(build, outputs=outputs, dropout=dropout, seed=seed, weights=weights)


def vgg_network(
    depth: int = 16,
    *,
    normalized: bool = False,
    outputs: int = len(FINDINGS),
    dropout: float = 0.2,
    seed: int = 0,
    weights: Path | str | None = None,
) -> Classifier:
    """Which VGG reads findings? Of depth 13, 16 or 19, `normalized` in every layer or not.

    >>> vgg_network(13)(torch.zeros(2, 1, 32, 32)).shape
    torch.Size([2, 5])
    """
    stages = _known(depth, _VGG, "VGG")

    def build() -> tuple[nn.Module, int]:
        layers: list[nn.Module] = []
        before = 1
        for width, repeats in zip((64, 128, 256, 512, 512), stages, strict=True):
            for _ in range(repeats):
                layers.append(_scaled(nn.Conv2d(before, width, 3, padding=1)))
                layers += [nn.BatchNorm2d(width), nn.ReLU()] if normalized else [nn.ReLU()]
                before = width
            layers.append(nn.MaxPool2d(2))
        return nn.Sequential(*layers), before

    return _built(build, outputs=outputs, dropout=dropout, seed=seed, weights=weights)


def inception_network(
    *,
    outputs: int = len(FINDINGS),
    dropout: float = 0.2,
    seed: int = 0,
    weights: Path | str | None = None,
) -> Classifier:
    """Which Inception network reads findings? Version 3's three kinds of blocks, for any size.

    >>> inception_network().eval()(torch.zeros(2, 1, 32, 32)).shape
    torch.Size([2, 5])
    """
    return _built(inception_backbone, outputs=outputs, dropout=dropout, seed=seed, weights=weights)


def small_network(
    *,
    width: int = 16,
    outputs: int = len(FINDINGS),
    dropout: float = 0.1,
    seed: int = 0,
    weights: Path | str | None = None,
) -> Classifier:
    """Which network is trained in a minute, on a processor? Four convolutions.

    >>> sum(p.numel() for p in small_network().parameters())
    61621
    """

    def build() -> tuple[nn.Module, int]:
        layers: list[nn.Module] = []
        for before, after, stride in (
            (1, width, 2),
            (width, 2 * width, 2),
            (2 * width, 4 * width, 2),
            (4 * width, 4 * width, 1),
        ):
            kernel = 5 if before == 1 else 3
            layers += [
                nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
            ]
        return nn.Sequential(*layers), 4 * width

    return _built(build, outputs=outputs, dropout=dropout, seed=seed, weights=weights)


def _built(
    build: Callable[[], tuple[nn.Module, int]],
    *,
    outputs: int,
    dropout: float,
    seed: int,
    weights: Path | str | None,
) -> Classifier:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone, channels = build()
        network = Classifier(backbone, channels, outputs=outputs, dropout=dropout)
    if weights is not None:
        _load(network, Path(weights))
    return network


def _load(network: Classifier, path: Path) -> None:
    if not path.is_file():
        raise CheckpointError(f"There is no file of weights {str(path)!r}.")
    found = torch.load(path, map_location="cpu", weights_only=True)
    own = network.state_dict()
    if found.keys() != own.keys():
        found = {**own, **_from_torchvision(found)}
    wrong = [name for name in found if name not in own or found[name].shape != own[name].shape]
    told = sum(name.startswith("backbone.") and found[name] is not own[name] for name in own)
    if wrong or told < sum(name.startswith("backbone.") for name in own):
        raise CheckpointError(
            f"{path.name} holds weights of another network: "
            f"{', '.join(wrong[:3]) or 'parts of the backbone are missing'}. Build the network it "
            "was saved from, with the same depth and outputs."
        )
    network.load_state_dict(found)


def _from_torchvision(found: dict[str, Tensor]) -> dict[str, Tensor]:
    """The backbone of another library's file, in our names, for gray images."""
    renamed = {}
    for name, value in found.items():
        if not name.startswith("features."):
            continue
        parts = name.removeprefix("features.").split(".")
        if len(parts) > 3 and parts[1].startswith("denselayer"):
            parts.insert(2, "layers")
        gray = value.ndim == 4 and value.shape[1] == 3
        own = value.sum(dim=1, keepdim=True) if gray else value
        renamed[".".join(["backbone", *parts])] = own
    return renamed


def _known(depth: int, table: Mapping[int, tuple[int, ...]], family: str) -> tuple[int, ...]:
    if depth not in table:
        depths = ", ".join(map(str, table))
        raise CheckpointError(f"There is no {family} of depth {depth}; there are {depths}.")
    return table[depth]


def _scaled(layer: nn.Conv2d) -> nn.Conv2d:
    """Without normalization, only this start lets a deep stack learn at all."""
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)
    return layer
