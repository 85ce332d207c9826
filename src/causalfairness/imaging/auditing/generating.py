"""What would each classifier say of these images, had the group been another? Made once, and kept.

An image is taken to its noise once and made again under every group a, and a classifier f is asked
about all of them:

    g_i(a) = f(image of i under a),     original_i = f(image of i)

With a `folder` every batch is kept as soon as it is there, whole or not at all: whoever is stopped
goes on where they were and ends with the same bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from causalfairness.errors import CheckpointError, ImageError, ParentsError
from causalfairness.imaging import checkpoints
from causalfairness.imaging.classifiers.scoring import (
    Images,
    Reader,
    Readers,
    look,
    named,
    said,
)
from causalfairness.imaging.counterfactuals import (
    CounterfactualGenerator,
    check_made,
    checked_images,
    made_images,
)
from causalfairness.imaging.parents import UNKNOWN, Parents, codes_of, finding_called
from causalfairness.progress import track

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
THERE_AND_BACK = 32  # the first so many images are also taken to another group and back
CLOSE = 1e-4  # scores that are asked for again may differ by this much, in another batch


@dataclass(frozen=True, eq=False)
class Generated:
    """What does each classifier say of each image, as it is and under every group?

    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(6, seed=3)
    >>> found = generated_scores(lambda x: x.mean((1, 2, 3)), films, generator=DoNothing())
    >>> found.counterfactual.shape, float(abs(found.counterfactual - found.original).max())
    ((3, 6, 1, 1), 0.0)
    """

    models: tuple[str, ...]
    findings: tuple[str, ...]
    groups: tuple[str, ...]
    own: Codes  # (n,), the place of each person's group in `groups`
    original: Array  # (n, models, findings)
    counterfactual: Array  # (groups, n, models, findings)
    composition: Array  # (n,), mean |image under its own group - image|
    reversibility: Array  # of the first images, mean |there and back - image|
    withheld: Array | None = None  # (n, models, findings), under a group nobody names

    def __len__(self) -> int:
        return len(self.own)

    def take(self, rows: Codes) -> Generated:
        """What is said of these people, in this order? Distances of images stay as they are."""
        return replace(
            self,
            own=self.own[rows],
            original=self.original[rows],
            counterfactual=self.counterfactual[:, rows],
            withheld=None if self.withheld is None else self.withheld[rows],
        )

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Where does the generator move no score between groups? (models, findings)."""
        return np.asarray((np.ptp(self.counterfactual, axis=0) == 0).all(axis=0))


def generated_scores(
    classifiers: Readers,
    images: Images,
    parents: Parents | None = None,
    *,
    generator: CounterfactualGenerator,
    groups: Sequence[str] | None = None,
    findings: Sequence[str] | None = None,
    withheld: bool = False,
    batch: int = 64,
    device: torch.device | str | None = None,
    folder: Path | str | None = None,
    stamp: str = "",
) -> Generated:
    """What would each classifier say of these images, had the group been another?

    `classifiers` is one callable or several by name; each takes a batch of images and returns one
    score per image, or one per image and finding. `parents` may be left out where the images have
    them. `withheld` also asks under a group nobody names. In `folder` batches are kept and taken
    up again; `stamp` says in your words which generator it was, and another one is refused.

    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=32).draw(6, seed=3)
    >>> found = generated_scores({"bright": lambda x: x.mean((1, 2, 3))}, films,
    ...                          generator=DoNothing(), batch=4)
    >>> found.models, found.findings, len(found)
    (('bright',), ('score',), 6)
    """
    if batch < 1:
        raise ImageError(f"batch={batch}: expected at least one image at a time")
    people = people_of(images, parents)
    codes, names = _groups(people, images, groups)
    where = device or (images.device if isinstance(images, Tensor) else "cpu")
    called = dict(zip(codes, names, strict=True))
    asked = _Asked(named(classifiers), images, people, generator, called, withheld, where)
    told = findings_of(asked.classifiers, findings)
    known = hashlib.blake2b(codes_of(people).cpu().numpy().tobytes(), digest_size=8).hexdigest()
    plan = _Plan(tuple(asked.classifiers), names, len(people), known, batch, withheld, stamp)
    home = None if folder is None else Path(folder)
    _check_kept(asked, plan, home)
    starts = range(0, len(people), batch)
    parts: list[dict[str, Tensor]] = []
    for start in track(starts, total=len(starts), what="asking about counterfactual images"):
        parts.append(_kept(asked, plan, slice(start, min(start + batch, len(people))), home))
        called_findings = _finding_names(told, parts[0]["original"].shape[-1])  # known by now
    return _together(asked, plan, parts, called_findings)


def people_of(images: Images, parents: Parents | None) -> Parents:
    """Who is on the images? Their own parents where none are given; refused if they do not fit.

    >>> people_of(torch.zeros(2, 1, 8, 8), None)
    Traceback (most recent call last):
    ...
    causalfairness.errors.ParentsError: nothing is known about the people on these images; pass
    their parents
    """
    if not isinstance(images, Tensor) and not callable(getattr(images, "images", None)):
        raise ImageError(
            f"images are {type(images).__name__}; expected a torch tensor of (n, 1, size, size), "
            "or films such as a RadiographFolder"
        )
    if not len(images):
        raise ImageError("there are no images; an audit needs those of some people")
    found = getattr(images, "parents", None) if parents is None else parents
    if not isinstance(found, Parents):
        raise ParentsError("nothing is known about the people on these images; pass their parents")
    if len(found) != len(images):
        raise ParentsError(f"{len(images)} images came with parents of {len(found)} people")
    unknown = int((found.group == UNKNOWN).sum())
    if unknown:
        raise ParentsError(
            f"the group of {unknown} of {len(found)} people is not known; leave them out of the "
            "audit, with `take`"
        )
    return found


class _Asked(NamedTuple):
    """Who is asked about which images, and told what?"""

    classifiers: Mapping[str, Reader]
    images: Images
    parents: Parents
    generator: CounterfactualGenerator
    names: Mapping[int, str]  # of the groups, by their codes
    withheld: bool
    device: torch.device | str

    @property
    def codes(self) -> tuple[int, ...]:
        """Which groups are told?"""
        return tuple(self.names)


@dataclass(frozen=True)
class _Plan:
    """What a kept batch belongs to."""

    models: tuple[str, ...]
    groups: tuple[str, ...]
    images: int
    people: str  # digest of what is known about them
    batch: int
    withheld: bool
    stamp: str


def _groups(
    people: Parents, images: Images, names: Sequence[str] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    codes: list[int] = people.group.unique().tolist()
    told = getattr(images, "groups", None) if names is None else names
    if told is None:
        return tuple(codes), tuple(f"group {code}" for code in codes)
    if max(codes) >= len(told) or min(codes) < 0:
        strange = next(code for code in codes if not 0 <= code < len(told))
        raise ParentsError(
            f"someone is of group {strange}, but there are names for 0 to {len(told) - 1} "
            f"({', '.join(told)})"
        )
    return tuple(codes), tuple(told[code] for code in codes)


def _kept(asked: _Asked, plan: _Plan, rows: slice, home: Path | None) -> dict[str, Tensor]:
    path = None if home is None else _path(home, rows.start)
    if path is not None and path.exists():
        found = checkpoints.load(path, plan=plan)
        seen = _looks(look(asked.images, rows, asked.device))
        if found["looks"].shape != seen.shape or float((found["looks"] - seen).abs().max()) > CLOSE:
            raise CheckpointError(
                f"{path} holds scores of other images than those of rows {rows.start:,} to "
                f"{rows.stop - 1:,}; use another folder, or delete this one to start again"
            )
        return {name: value for name, value in found.items() if name != "plan"}
    part = _one_batch(asked, rows)
    if path is not None:
        checkpoints.save(path, part, plan=plan)
    return part


def _check_kept(asked: _Asked, plan: _Plan, home: Path | None) -> None:
    """Are the kept scores those of these images and classifiers? The first batch is asked again."""
    if home is None or not _path(home, 0).exists():
        return
    found = checkpoints.load(_path(home, 0), plan=plan)["original"]
    again = said(asked.classifiers, look(asked.images, slice(0, len(found)), asked.device))
    if found.shape != again.shape or float((found - again).abs().max()) > CLOSE:
        raise CheckpointError(
            f"the scores kept in {home} are of other images or other classifiers: asked again, the "
            "first ones differ; use another folder, or delete this one to start again"
        )


def _path(home: Path, start: int) -> Path:
    return home / f"scores-{start:07d}.pt"


def _one_batch(asked: _Asked, rows: slice) -> dict[str, Tensor]:
    images = look(asked.images, rows, asked.device)
    images = checked_images(images, size=images.shape[-1])
    people = asked.parents.take(rows).to(images.device)
    told = [*asked.codes, *([UNKNOWN] if asked.withheld else [])]
    films = made_images(asked.generator, images, people, told, names=asked.names)
    place = torch.searchsorted(torch.tensor(asked.codes), people.group.cpu())
    own = torch.stack([films[at][row] for row, at in enumerate(place.tolist())])
    early = slice(max(0, min(rows.stop, THERE_AND_BACK) - rows.start))
    next_place = (place[early] + 1) % len(asked.codes)
    return {
        "original": said(asked.classifiers, images),
        "made": torch.stack([said(asked.classifiers, them) for them in films], 1),
        "composition": _apart(own, images),
        "back": _there_and_back(asked, images[early], people.take(early), films, next_place),
        "own": place,
        "looks": _looks(images),
    }


def _looks(images: Tensor) -> Tensor:
    """By what images are known again: brightness, contrast, and where it is bright, (n, 3)."""
    values = images.flatten(1).double()
    along = torch.linspace(-1, 1, values.shape[1], dtype=torch.float64, device=values.device)
    return torch.stack([values.mean(1), values.std(1), (values * along).mean(1)], 1).cpu()


def _there_and_back(
    asked: _Asked, images: Tensor, people: Parents, films: Sequence[Tensor], place: Tensor
) -> Tensor:
    """How far from itself is each image that went to the next group and back?"""
    if not len(images):
        return torch.empty(0, dtype=torch.float64)
    there = torch.stack([films[at][row] for row, at in enumerate(place.tolist())])
    told = torch.tensor(asked.codes)[place].to(people.group)
    back = asked.generator.counterfactual(there, people.told(group=told), group=people.group)
    check_made(asked.generator, images, back, under="another group and the own one again")
    return _apart(back, images)


def _apart(one: Tensor, other: Tensor) -> Tensor:
    return (one - other).abs().flatten(1).double().mean(1).cpu()


def _together(
    asked: _Asked,
    plan: _Plan,
    parts: Sequence[Mapping[str, Tensor]],
    findings: tuple[str, ...],
) -> Generated:
    whole: dict[str, Any] = {
        name: torch.cat([part[name] for part in parts]).numpy() for name in parts[0]
    }
    by_group = np.ascontiguousarray(whole["made"].transpose(1, 0, 2, 3))
    return Generated(
        plan.models,
        findings,
        plan.groups,
        whole["own"],
        whole["original"],
        by_group[: len(asked.codes)],
        whole["composition"],
        whole["back"],
        by_group[-1] if asked.withheld else None,
    )


def findings_of(
    classifiers: Mapping[str, Reader], names: Sequence[str] | None
) -> tuple[str, ...] | None:
    """What are the outputs called? As is said, else as the networks themselves say; else unknown.

    >>> from causalfairness.imaging.classifiers import small_network
    >>> findings_of({"net": small_network()}, None)
    ('cardiomegaly', 'edema', 'consolidation', 'atelectasis', 'effusion')
    >>> findings_of({"other": len}, None)
    """
    own = {name: getattr(one, "findings", None) for name, one in classifiers.items()}
    stated = {name: tuple(them) for name, them in own.items() if them is not None}
    told = None if names is None else tuple(map(finding_called, names))
    if told is not None and len(set(told)) < len(told):
        twice = next(name for name in told if told.count(name) > 1)
        raise ImageError(f"two outputs are called {twice}; each has a name of its own")
    if not stated:
        return told
    first = next(iter(stated.values()))
    wanted = first if told is None else told
    for name, them in stated.items():
        if them != wanted:
            raise ImageError(
                f"the outputs of {name} are {', '.join(them)}, not {', '.join(wanted)}; audit it "
                "by itself, or put the outputs of the others in this order"
            )
    silent = [name for name in own if name not in stated]
    if silent and names is None:
        raise ImageError(
            f"{silent[0]} does not say what its outputs are; those of {next(iter(stated))} are "
            f"{', '.join(first)}. If they are the same, name them (findings=...)"
        )
    return wanted


def _finding_names(names: Sequence[str] | None, columns: int) -> tuple[str, ...]:
    if names is None:
        return ("score",) if columns == 1 else tuple(f"output {at + 1}" for at in range(columns))
    if len(names) != columns:
        raise ImageError(
            f"{len(names)} findings are named ({', '.join(names)}); classifiers return {columns}"
        )
    return tuple(names)
