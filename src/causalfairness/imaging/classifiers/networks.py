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
            layers += _unit(before, after, 5 if before == 1 else 3, stride=stride)
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


def inception_backbone() -> tuple[nn.Module, int]:
    """Which backbone, with how many channels at its end?

    >>> backbone, channels = inception_backbone()
    >>> backbone(torch.zeros(1, 1, 64, 64)).shape[1] == channels
    True
    """
    layers = nn.Sequential(
        _unit(1, 32, 3, stride=2),
        _unit(32, 32, 3),
        _unit(32, 64, 3),
        nn.MaxPool2d(2),
        _small(64),
        _small(256),
        _shrinking(256, 384),
        _factorized(768 - 128, 128),
        _factorized(768, 160),
        _shrinking(768, 320),
        _wide(1088),
    )
    return layers, 2048


class Beside(nn.Module):
    """What do several branches see in the same image? Their channels, one after the other.

    >>> Beside(nn.Identity(), nn.Identity())(torch.zeros(1, 2, 4, 4)).shape
    torch.Size([1, 4, 4, 4])
    """

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, images: Tensor) -> Tensor:
        """What do all branches see?"""
        return torch.cat([branch(images) for branch in self.branches], dim=1)


def _unit(
    before: int, after: int, kernel: int | tuple[int, int], *, stride: int = 1
) -> nn.Sequential:
    tall, wide = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    padding = (tall // 2, wide // 2)
    return nn.Sequential(
        nn.Conv2d(before, after, (tall, wide), stride=stride, padding=padding, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(),
    )


def _pooled(before: int, after: int) -> nn.Module:
    return nn.Sequential(nn.AvgPool2d(3, stride=1, padding=1), _unit(before, after, 1))


def _small(before: int) -> nn.Module:
    return Beside(
        _unit(before, 64, 1),
        nn.Sequential(_unit(before, 48, 1), _unit(48, 64, 5)),
        nn.Sequential(_unit(before, 64, 1), _unit(64, 96, 3), _unit(96, 96, 3)),
        _pooled(before, 32),
    )


def _shrinking(before: int, after: int) -> nn.Module:
    return Beside(_unit(before, after, 3, stride=2), nn.MaxPool2d(3, stride=2, padding=1))


def _factorized(before: int, width: int) -> nn.Module:
    across, down = (1, 7), (7, 1)
    once = (_unit(width, width, across), _unit(width, 192, down))
    twice = (
        _unit(width, width, down),
        _unit(width, width, across),
        _unit(width, width, down),
        _unit(width, 192, across),
    )
    return Beside(
        _unit(before, 192, 1),
        nn.Sequential(_unit(before, width, 1), *once),
        nn.Sequential(_unit(before, width, 1), *twice),
        _pooled(before, 192),
    )


def _wide(before: int) -> nn.Module:
    def split(width: int) -> nn.Module:
        return Beside(_unit(width, 384, (1, 3)), _unit(width, 384, (3, 1)))

    return Beside(
        _unit(before, 320, 1),
        nn.Sequential(_unit(before, 384, 1), split(384)),
        nn.Sequential(_unit(before, 448, 1), _unit(448, 384, 3), split(384)),
        _pooled(before, 192),
    )
