"""Do classifiers depend on the group, by the radiographs of a folder and a generator in another?

People who were learned from are not audited: only those of one part of the split (`part`) are, one
film each. The split is the generator's: the one that the files state, else a hash of names with the
seed that the generator was made with, whatever the seed of the audit. With a `folder`, trained
classifiers and generated scores are kept there, and a run that was stopped is taken up by the same
call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from causalfairness.errors import SplitError
from causalfairness.imaging.auditing import audit
from causalfairness.imaging.classifiers import area_under_curve
from causalfairness.imaging.classifiers.scoring import Reader
from causalfairness.imaging.classifiers.training import trained_classifier
from causalfairness.imaging.generator import course
from causalfairness.imaging.keeping import SIMULATED, KeptGenerator, kept_generator, refuse_learned
from causalfairness.imaging.making import held
from causalfairness.imaging.parents import FINDINGS
from causalfairness.imaging.pictures import examples
from causalfairness.imaging.readers import PlainFolder, RadiographFolder
from causalfairness.imaging.readers.folder import fingerprint
from causalfairness.imaging.readers.plain import stated_split
from causalfairness.imaging.recording import record_of
from causalfairness.tables.disclosure import SMALLEST, without_few

LEARNED = "train"
FURTHER = "further films of a person"


@dataclass(frozen=True, eq=False)
class FolderAudit:
    """What was found, and what is written down about it?

    >>> FolderAudit(audit=None, record={"title": "Films"}).record["title"]
    'Films'
    """

    audit: Any  # ImagingAudit
    record: Mapping[str, Any]


def audit_folder(
    data: Path | str,
    generator: Path | str,
    *,
    classifiers: Mapping[str, Reader] | None = None,
    networks: Sequence[str] = (),
    findings: Sequence[str] | None = None,
    part: str = "test",
    epochs: int = 20,
    resize: bool = False,
    method: str = "projected",
    level: float = 0.95,
    draws: int = 999,
    batch: int = 64,
    walk: int | None = None,
    device: str = "cpu",
    seed: int = 0,
    title: str = "",
    folder: Path | str | None = None,
    listed: int = 0,
    dossiers: int = 0,
) -> FolderAudit:
    """Do these classifiers depend on the group? `networks` are trained on the part "train" first.

    The first film of each person in `part` is audited; the parts are those of the generator. The
    part "train" is refused where the generator learned from it. `classifiers` are callables by
    name, `networks` names in `classifiers.training.NETWORKS`. `findings` says what the outputs of
    the callables are, in their order (those of networks are the five that the images have). `walk`
    is the number of steps of a diffusion model, where it is not the usual 50. The record says
    nothing about single people, unless it is to hold the scores of the `listed` first ones, or the
    images of as many as `dossiers` says, with group, age and findings.

    >>> import tempfile
    >>> from causalfairness.imaging.making import make_generator
    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> place = Path(tempfile.mkdtemp())
    >>> saved = save_radiographs(Simulator(size=32), place / "films", people=600, seed=0)
    >>> films = PlainFolder(place / "films", size=32)
    >>> made = make_generator(films, place / "made", size=32, kind="gaussian")
    >>> found = audit_folder(place / "films", place / "made",
    ...                      classifiers={"brightness": lambda films: films.mean((1, 2, 3))})
    >>> found.record["data"]["part"], len(found.record["rows"])
    ('test', 1)
    """
    kept = kept_generator(generator, device=device, walk=walk)
    films = PlainFolder(data, size=kept.size, groups=kept.groups, resize=resize)
    parts = stated_split(films, seed=int(kept.about.get("seed", seed)))
    everyone = _part(parts, part)
    simulated = kept.about.get("images", SIMULATED) == SIMULATED
    doubts = refuse_learned(everyone, films, Path(generator), simulated=simulated)
    chosen = everyone.one_each()
    where = None if folder is None else Path(folder)
    choices = {"epochs": epochs, "seed": seed, "device": device, "folder": where}
    readers = {**(classifiers or {}), **_trained(networks, parts, choices)}
    known = held(chosen)
    asked: dict[str, Any] = {"method": method, "draws": draws, "level": level, "seed": seed}
    found = audit(
        readers,
        known,
        known.parents,
        generator=kept.generator,
        groups=kept.groups,
        findings=findings,
        batch=batch,
        device=device,
        folder=None if where is None else where / "scores",
        stamp=_stamp(kept, walk, chosen),
        **asked,
    )
    absent = set(kept.groups) - {kept.groups[code] for code in known.parents.group.tolist()}
    record = record_of(
        found,
        listed=listed,
        title=title,
        data=_about(films, everyone, chosen, Path(data).name, part),
        generator=kept.about,
        classifiers=_areas(found, chosen, networks),
        settings={**asked, "epochs": epochs, "walk": walk},
        pictures=_pictures(kept, known, device, dossiers) if dossiers else None,
    )
    notes = [f"the generator knows the group {name}; nobody audited is of it" for name in absent]
    return FolderAudit(found, {**record, "notes": [*record["notes"], *doubts, *sorted(notes)]})


def _stamp(kept: KeptGenerator, walk: int | None, chosen: RadiographFolder) -> str:
    """By what kept scores are known: the generator, where its walks go, and the images."""
    about = json.dumps(dict(kept.about), sort_keys=True)
    made = hashlib.blake2b(f"{about} {walk} {course()}".encode(), digest_size=4).hexdigest()
    return f"{kept.kind} generator {made} for images {fingerprint(chosen)[:8]}"


def _trained(
    networks: Sequence[str], parts: Mapping[str, RadiographFolder], choices: Mapping[str, Any]
) -> dict[str, Reader]:
    """Networks by name, each trained on the part "train"."""
    if not networks:
        return {}
    films = _part(parts, LEARNED)
    learned, images = held(films), fingerprint(films)
    return {name: trained_classifier(name, learned, images=images, **choices) for name in networks}


def _part(parts: Mapping[str, RadiographFolder], name: str) -> RadiographFolder:
    if name not in parts:
        raise SplitError(f"Nobody is in the part {name!r}; there are {', '.join(sorted(parts))}.")
    return parts[name]


def _about(
    films: RadiographFolder,
    everyone: RadiographFolder,
    chosen: RadiographFolder,
    name: str,
    part: str,
) -> dict[str, Any]:
    """Which films of the whole folder, and of everyone in a part, are audited."""
    further = len(everyone) - len(chosen)
    counts = torch.bincount(chosen.parents.group, minlength=len(films.groups)).tolist()
    return {
        "folder": name,
        "origin": dict(films.account.origin),
        "fingerprint": fingerprint(films),
        "part": part,
        "images": len(chosen),
        "people": len(set(chosen.patients)),
        "groups": dict(zip(films.groups, counts, strict=True)),
        "findings": [
            {
                "finding": row.finding,
                "shares": _shares(films.groups, counts, row.shares),
                "p_value": row.p_value,
            }
            for row in chosen.association().rows
        ],
        "left_out": {**films.account.dropped, **({FURTHER: further} if further else {})},
    }


def _shares(
    groups: Sequence[str], counts: Sequence[int], shares: Sequence[float]
) -> dict[str, float | None]:
    """The share with a finding in each group, where it does not tell on single people."""
    rows = zip(groups, counts, shares, strict=True)
    told = [{"group": name, "people": n, "share": share} for name, n, share in rows]
    kept = ((row["group"], row["share"]) for row in without_few(told, SMALLEST))
    return {name: share if share == share else None for name, share in kept}


def _areas(found: Any, chosen: RadiographFolder, networks: Sequence[str]) -> dict[str, Any]:
    """How well each classifier reads the audited films, where its outputs are named findings."""
    told = {}
    for place, name in enumerate(found.generated.models):
        about: dict[str, Any] = {"kind": "trained here" if name in networks else "given"}
        outputs = {finding: at for at, finding in enumerate(found.generated.findings)}
        both = [finding for finding in FINDINGS if finding in outputs]
        if both:
            said = torch.from_numpy(found.generated.original[:, place])
            has = chosen.parents.findings[:, [FINDINGS.index(finding) for finding in both]]
            areas = area_under_curve(said[:, [outputs[it] for it in both]], has).tolist()
            about["auc"] = {
                finding: area if area == area else None
                for finding, area in zip(both, areas, strict=True)
            }
        told[name] = about
    return told


def _pictures(kept: KeptGenerator, known: Any, device: str, count: int) -> dict[str, Any]:
    """Pictures of so many people, the first of each group."""
    first = slice(max(64, count))
    return examples(
        known.images(first).to(device),
        known.parents.take(first).to(device),
        generator=kept.generator,
        groups=kept.groups,
        count=count,
    )
