"""How good are counterfactual images? What must not change, what must, and how far from the truth.

    composition      mean |x - made(x, own group)|          after 1, 2, ... cycles; 0 is right
    reversibility    mean |x - made(made(x, a'), a)|        there and back; 0 is right
    effectiveness    share of made images that a judge sees in the told group; 1 is right
    drift            change of a judge's AUC for every other parent; 0 is right
    truth error      mean |made - true| / mean |x - true|   1 is as good as doing nothing
    score error      the same of an audited score

Judges are networks independent of the audited one. Effectiveness alone proves nothing: a generator
that ruins the image can have it. The last two need known counterfactuals.

Whether made images look real as a set is said by Fréchet's distance between their features,

    |m1 - m2|² + trace(S1 + S2 - 2 (S1^(1/2) S2 S1^(1/2))^(1/2))

with means m and covariances S. The value means nothing without its features and its floor: what two
halves of the *real* images are apart. The features here are those of a fixed random network, the
same for everyone who states the seed; published figures use Inception's, which a user with its
weights can pass instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from causalfairness.errors import ImageError
from causalfairness.imaging.classifiers import area_under_curve, scores
from causalfairness.imaging.counterfactuals import CounterfactualGenerator, check_made
from causalfairness.imaging.parents import NAMES, UNKNOWN, Parents, codes_of

Judge = Callable[[Tensor], Tensor]
OTHERS = NAMES[1:]  # all parents but the group, in the order of a judge's columns


@dataclass(frozen=True)
class Judges:
    """Who says what is on an image? One for the group, one for all other parents.

    `group` gives one column per group, `others` one per name in `OTHERS`: age (older than
    `middle_age`), sex, scanner and the findings. More is more likely.

    >>> Judges(group=lambda images: images, others=lambda images: images).middle_age
    0.55
    """

    group: Judge
    others: Judge
    middle_age: float = 0.55

    def labels(self, parents: Parents) -> Tensor:
        """What should the judge of the other parents say? 0, 1, or -1 where it is not known."""
        codes = codes_of(parents)[:, 1:].cpu()
        older = torch.where(codes[:, 0] < 0, UNKNOWN, (codes[:, 0] > self.middle_age).float())
        return torch.cat([older[:, None], codes[:, 1:]], 1).long()


@dataclass(frozen=True)
class TruthError:
    """How far are made images from the true counterfactuals, against doing nothing?

    >>> print(TruthError(made=0.01, nothing=0.04))
    0.25 of doing nothing (0.0100 against 0.0400)
    """

    made: float
    nothing: float

    @property
    def ratio(self) -> float:
        """Which part of the error of doing nothing is left?"""
        return self.made / self.nothing if self.nothing else float("inf") if self.made else 0.0

    def __str__(self) -> str:
        return f"{self.ratio:.2f} of doing nothing ({self.made:.4f} against {self.nothing:.4f})"


@dataclass(frozen=True)
class Quality:
    """How good are the counterfactual images of a generator? What was not asked is None.

    >>> print(Quality((0.004,), (0.01,), 0.99, {"age": -0.01, "sex": 0.002}, None, None, None))
    composition    0.0040
    reversibility  0.0100
    effectiveness  0.990
    largest drift  -0.010 (age)
    """

    composition: tuple[float, ...]
    reversibility: tuple[float, ...]
    effectiveness: float
    drift: Mapping[str, float]
    realism: Frechet | None
    truth: TruthError | None
    score: TruthError | None

    @property
    def largest_drift(self) -> tuple[str, float]:
        """Which other parent changed most, and by how much did its AUC? NaN if none has an AUC."""
        known = {name: drift for name, drift in self.drift.items() if drift == drift}
        return max((known or self.drift).items(), key=lambda item: abs(item[1]))

    def __str__(self) -> str:
        name, drift = self.largest_drift
        lines = {
            "composition": ", ".join(f"{value:.4f}" for value in self.composition),
            "reversibility": ", ".join(f"{value:.4f}" for value in self.reversibility),
            "effectiveness": f"{self.effectiveness:.3f}",
            "largest drift": f"{drift:+.3f} ({name})",
            "Fréchet distance": self.realism,
            "truth error": self.truth,
            "score error": self.score,
        }
        shown = {what: value for what, value in lines.items() if value is not None}
        return "\n".join(f"{what:<14} {value}" for what, value in shown.items())


def quality(
    generator: CounterfactualGenerator,
    images: Tensor,
    parents: Parents,
    *,
    judges: Judges,
    group: Tensor,
    truth: Tensor | None = None,
    audited: Sequence[Judge] = (),
    features: Features | None = None,
    cycles: int = 1,
) -> Quality:
    """How good are the counterfactual images of this generator? `group` is told, one per image.

    `truth` holds the true counterfactual images, `audited` classifiers whose scores should move as
    they do between the image and the truth.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> films = Simulator(size=32).draw(60, seed=0)
    >>> told = (films.parents.group + 1) % 3
    >>> bright = Judges(group=lambda x: x.flatten(1)[:, :3], others=lambda x: x.flatten(1)[:, :8])
    >>> found = quality(DoNothing(), films.images(), films.parents, judges=bright, group=told,
    ...                 truth=films.told(group=told).images())
    >>> found.composition, found.truth.ratio, found.largest_drift[1]
    ((0.0,), 1.0, 0.0)
    """
    if truth is not None and truth.shape != images.shape:
        raise ImageError(
            f"true counterfactuals have the shape {tuple(truth.shape)}, images "
            f"{tuple(images.shape)}; expected the same"
        )
    if audited and truth is None:
        raise ImageError("audited scores need `truth`, the true counterfactual images")
    made = generator.counterfactual(images, parents, group=group)
    check_made(generator, images, made, under="the groups asked for")
    return Quality(
        composition(generator, images, parents, cycles=cycles),
        reversibility(generator, images, parents, group=group, cycles=cycles, made=made),
        effectiveness(judges.group, made, group=group),
        drift(judges, images, made, parents),
        frechet(made, images, features=features),
        None if truth is None else _error(made, images, truth),
        _score_error(audited, made, images, truth) if audited and truth is not None else None,
    )


def composition(
    generator: CounterfactualGenerator, images: Tensor, parents: Parents, *, cycles: int = 1
) -> tuple[float, ...]:
    """How far does an image move when it is told its own group? After 1, 2, ... cycles.

    >>> class Brighter:
    ...     def counterfactual(self, images, parents, *, group):
    ...         return images + 0.01
    >>> people = Parents(*(torch.zeros(1) for _ in range(4)), torch.zeros(1, 5))
    >>> [round(it, 4) for it in composition(Brighter(), torch.zeros(1, 1, 4, 4), people, cycles=2)]
    [0.01, 0.02]
    """
    made, found = images, []
    for _ in range(cycles):
        made = generator.counterfactual(made, parents, group=parents.group)
        found.append(_apart(made, images))
    return tuple(found)


def reversibility(
    generator: CounterfactualGenerator,
    images: Tensor,
    parents: Parents,
    *,
    group: Tensor,
    cycles: int = 1,
    made: Tensor | None = None,
) -> tuple[float, ...]:
    """How far from itself is an image that went to another group and back? After 1, 2, ... cycles.

    >>> class Brighter:
    ...     def counterfactual(self, images, parents, *, group):
    ...         return images + 0.01
    >>> people = Parents(*(torch.zeros(1) for _ in range(4)), torch.zeros(1, 5))
    >>> reversibility(Brighter(), torch.zeros(1, 1, 4, 4), people, group=torch.ones(1))
    (0.019999...,)
    """
    back, found = images, []
    for cycle in range(cycles):
        known = made if cycle == 0 else None
        there = known if known is not None else generator.counterfactual(back, parents, group=group)
        back = generator.counterfactual(there, parents.told(group=group), group=parents.group)
        found.append(_apart(back, images))
    return tuple(found)


def effectiveness(judge: Judge, made: Tensor, *, group: Tensor) -> float:
    """Which share of the made images does a judge see in the group they were told?

    >>> effectiveness(lambda x: x[:, 0, 0], torch.eye(3).reshape(3, 1, 1, 3), group=torch.arange(3))
    1.0
    """
    seen = scores(judge, made, device=made.device).argmax(1)
    return float((seen == group.cpu()).double().mean())


def drift(judges: Judges, images: Tensor, made: Tensor, parents: Parents) -> dict[str, float]:
    """How much worse or better can the other parents be told from made images? Change of AUC.

    >>> people = Parents(torch.zeros(4), torch.tensor([0.2, 0.8, 0.3, 0.9]), torch.arange(4) % 2,
    ...                  torch.arange(4) % 2, (torch.arange(4) % 2)[:, None].expand(4, 5))
    >>> shade = torch.tensor([0.1, 0.9, 0.2, 0.8]).reshape(4, 1, 1, 1).expand(4, 1, 1, 8)
    >>> judges = Judges(group=lambda x: x, others=lambda x: x[:, 0, 0])
    >>> drift(judges, shade, 1 - shade, people)["age"]
    -1.0
    """
    labels = judges.labels(parents)
    before, after = (
        area_under_curve(scores(judges.others, them, device=them.device), labels)
        for them in (images, made)
    )
    return dict(zip(OTHERS, (after - before).tolist(), strict=True))


def _score_error(
    audited: Sequence[Judge], made: Tensor, images: Tensor, truth: Tensor
) -> TruthError:
    """The mean over classifiers and their outputs."""

    def said(them: Tensor) -> Tensor:
        each = [scores(judge, them, device=them.device) for judge in audited]
        return torch.cat([column.reshape(len(them), -1) for column in each], 1)

    return _error(said(made), said(images), said(truth))


def _error(made: Tensor, images: Tensor, truth: Tensor) -> TruthError:
    return TruthError(_apart(made, truth), _apart(images, truth))


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().double().mean())


Features = Callable[[Tensor], Tensor]
_WIDTHS = (16, 32, 64)


@dataclass(frozen=True)
class Frechet:
    """Do generated images look real as a set? The distance, and what real ones are apart.

    >>> print(Frechet(distance=1.5, floor=0.5, features="random network, seed 0"))
    1.5 (0.5 between two halves of the real images; features: random network, seed 0)
    """

    distance: float
    floor: float
    features: str

    def __str__(self) -> str:
        return (
            f"{self.distance:.3g} ({self.floor:.3g} between two halves of the real images; "
            f"features: {self.features})"
        )


def frechet(
    generated: Tensor,
    real: Tensor,
    *,
    features: Features | None = None,
    name: str | None = None,
    batch: int = 256,
) -> Frechet:
    """Do generated images look real as a set? Every other one, with the real ones between.

    Where `generated` are images of the people in `real`, in their order, other people are thus
    compared, as in the floor, and leaving all images as they are gives exactly the floor.

    >>> images = torch.rand(400, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    >>> found = frechet(images + 0.1, images)
    >>> found.distance > 10 * found.floor
    True
    """
    if len(generated) < 4 or len(real) < 4:
        raise ImageError(
            f"{len(generated)} generated and {len(real)} real images; expected at least 4 of each"
        )
    told = name or ("random network, seed 0" if features is None else "given by the caller")
    described = [
        torch.cat(
            [(features or random_features)(piece).double().cpu() for piece in them.split(batch)]
        )
        for them in (generated, real)
    ]
    made, first, second = described[0][1::2], described[1][::2], described[1][1::2]
    return Frechet(frechet_distance(made, first), frechet_distance(second, first), told)


def frechet_distance(first: Tensor, second: Tensor) -> float:
    """How far apart are two sets of features, as Gaussians?

    Not by `monai.metrics.compute_frechet_distance`: it fails with SciPy 1.18 (MONAI 1.6.1), and the
    root of S1 S2 that it takes has lost half of its digits where there are fewer images than
    features.

    >>> grid = torch.cartesian_prod(torch.tensor([-1.0, 1.0]), torch.tensor([-1.0, 1.0]))
    >>> round(frechet_distance(grid, grid + 3), 6), round(frechet_distance(grid, 2 * grid), 3)
    (18.0, 2.667)
    """
    means = [them.double().mean(0) for them in (first, second)]
    one, two = (
        torch.cov(them.double().T).reshape(2 * (them.shape[1],)) for them in (first, second)
    )
    root = _root(one)
    shared = torch.linalg.eigvalsh(root @ two @ root).clamp(min=0).sqrt().sum()
    apart = float(((means[0] - means[1]) ** 2).sum())
    return max(apart + float(one.trace() + two.trace() - 2 * shared), 0.0)


def random_features(images: Tensor, *, seed: int = 0) -> Tensor:
    """How does a fixed random network describe images? Means and spreads of every layer's maps.

    >>> random_features(torch.zeros(3, 1, 32, 32)).shape
    torch.Size([3, 226])
    """
    drawn = torch.Generator().manual_seed(seed)
    shown, found = images.float(), [images.float()]
    for before, after in zip((1, *_WIDTHS), _WIDTHS, strict=False):
        weight = torch.randn(after, before, 3, 3, generator=drawn) / (3 * before**0.5)
        shown = functional.leaky_relu(functional.conv2d(shown, weight.to(shown), padding=1), 0.2)
        found.append(shown)
        shown = functional.avg_pool2d(shown, 2)
    described = [(maps.mean((2, 3)), maps.flatten(2).std(2)) for maps in found]
    return torch.cat([part for parts in described for part in parts], 1)


def _root(matrix: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors * values.clamp(min=0).sqrt()) @ vectors.T
