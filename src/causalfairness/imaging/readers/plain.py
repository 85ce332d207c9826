"""Which radiographs are in a folder of one's own? Image files, and a table of whose they are.

    folder/radiographs.csv     image, person, group; where known also split, age, sex, scanner
                               and the findings cardiomegaly, edema, consolidation, atelectasis,
                               effusion (1, 0, nothing for unknown)
    folder/images/00001.png    .png, .jpg or .dcm files, as `image` names them, seen from the folder
    folder/origin.json         where a published collection was listed, how its labels were read,
                               and what of it was left out; not needed

Age is in years, sex is 0 or M, 1 or F, scanner 0 or PA, 1 or AP, 2 another one. What is not known
stays empty, or the column is left out. `simulator.saving` writes such folders, and
`list_radiographs` makes one of a published collection: no image is copied, paths are written as
seen from the folder, so both can be moved together, and the table is written last.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch

from causalfairness.errors import DemographicsError, ImageError, ImageFileError, LabelError
from causalfairness.imaging.parents import FINDINGS, UNKNOWN, Parents
from causalfairness.imaging.readers.decoding import found, measured
from causalfairness.imaging.readers.folder import Entry, RadiographFolder, gathered
from causalfairness.imaging.readers.listing import age_of, finding, heading, listed, once, sex_of
from causalfairness.progress import track
from causalfairness.writing import write_whole

TABLE = "radiographs.csv"
ORIGIN = "origin.json"
NEEDED = ("image", "person", "group")
KNOWN = ("split", "age", "sex", "scanner", *FINDINGS)
SEXES = {"0": 0, "M": 0, "1": 1, "F": 1}
SCANNERS = {"0": 0, "PA": 0, "1": 1, "AP": 1, "2": 2, "": UNKNOWN}
NOWHERE = "none"  # the part of people whose split nobody stated


def PlainFolder(
    folder: Path | str,
    *,
    size: int,
    groups: Sequence[str] | None = None,
    resize: bool = False,
    workers: int = 4,
) -> RadiographFolder:
    """Which radiographs are in this folder? Every file is looked for, and its size, at once.

    `groups` are the compared ones in order (left out: all there are, sorted); people of others are
    left out and counted in `account`. Images of another size are refused, unless `resize` says that
    they are to be squeezed.

    >>> PlainFolder("nowhere", size=64)
    Traceback (most recent call last):
    causalfairness.errors.ImageFileError: There is no file 'nowhere/radiographs.csv', nor 'radi...
    """
    root = Path(folder)
    columns = [name for name in heading(root / TABLE) if name in (*NEEDED, *KNOWN)]
    wanted = dict.fromkeys((*NEEDED, *columns))
    rows = [dict(zip(wanted, row, strict=True)) for row in listed(root / TABLE, wanted)]
    for column in ("group", "split"):  # a person is in one, whatever the number of films
        once(((row["person"], row.get(column, "")) for row in rows), keys=1, file=TABLE)
    present = sorted({row["group"] for row in rows} - {""})
    chosen = present if groups is None else list(groups)
    entries: list[Entry] = []
    about = _origin(root / ORIGIN)
    dropped = Counter(about.get("left out", {}))
    for row in rows:
        if row["group"] in chosen:
            entries.append(_entry(row, root, chosen))
        else:
            dropped["group outside the groups" if row["group"] else "group not stated"] += 1
    if rows and not entries:
        asked, there = (", ".join(map(repr, names)) or "none" for names in (chosen, present))
        raise ImageFileError(
            f"Nobody in {root / TABLE} is of the groups {asked}; it has the groups {there}. Name "
            "groups that it has."
        )
    origin = about.get("origin", {})
    films = gathered(entries, dropped, groups=chosen, size=size, workers=workers, origin=origin)
    _check_files(films, resize=resize)
    return films


def stated_split(films: RadiographFolder, *, seed: int = 0) -> dict[str, RadiographFolder]:
    """Who is learned from, and who is kept for later? As the files say, else by a hash of names.

    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     saved = save_radiographs(Simulator(size=16), place, people=40, seed=0)
    ...     sorted(stated_split(PlainFolder(place, size=16)))
    ['test', 'train', 'validate']
    """
    stated = set(films.part) != {NOWHERE}
    return films.published_split() if stated else films.split(seed=seed)


def _origin(path: Path) -> dict[str, Any]:
    """What a listed collection left behind, if this is one."""
    if not path.exists():
        return {}
    try:
        about = json.loads(path.read_text("utf-8"))
        origin = {name: _as(str, said) for name, said in about["origin"].items()}
        return {
            "origin": origin,
            "left out": {why: _count(count) for why, count in about["left out"].items()},
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
        raise ImageFileError(
            f"{path} does not say where the films come from ({cause!r}). List the collection "
            "again, or delete the file: it is not needed."
        ) from cause


def _as(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _count(value: Any) -> int:
    if _as(int, value) < 0:
        raise ValueError(f"{value} is less than 0")
    return int(value)


def _entry(row: dict[str, str], root: Path, groups: Sequence[str]) -> Entry:
    where = row["image"]
    if not where or not row["person"]:
        raise ImageFileError(
            f"{root / TABLE} has a row with image {where!r} and person {row['person']!r}; "
            "expected both to be stated."
        )
    return Entry(
        path=root / where,
        patient=row["person"],
        part=row.get("split") or NOWHERE,
        group=groups.index(row["group"]),
        age=age_of(row.get("age", ""), where=where),
        sex=sex_of(row.get("sex", ""), SEXES, where=where),
        scanner=_scanner(row.get("scanner", ""), where),
        findings=tuple(
            finding(
                row.get(name, ""),
                uncertain=UNKNOWN,
                unmentioned=UNKNOWN,
                where=f"{name} of {where}",
            )
            for name in FINDINGS
        ),
    )


def _scanner(value: str, where: str) -> int:
    if value not in SCANNERS:
        known = ", ".join(map(repr, SCANNERS))
        raise LabelError(f"The scanner of {where} is {value!r}; expected {known}.")
    return SCANNERS[value]


def _check_files(films: RadiographFolder, *, resize: bool) -> None:
    """Are all the files there, and of the right size? Only their first bytes are read."""
    with ThreadPoolExecutor(films.workers) as pool:
        sizes = pool.map(lambda path: measured(found(path)), films.paths)
        for path, (height, width) in zip(
            films.paths, track(sizes, total=len(films), what="looking at files"), strict=True
        ):
            if not resize and (height, width) != (films.size, films.size):
                raise ImageError(
                    f"{str(path)!r} has {height} x {width} pixels; expected {films.size} x "
                    f"{films.size}. Ask for that size, or for images to be resized (resize=True)."
                )


def list_radiographs(films: RadiographFolder, folder: Path | str) -> Path:
    """Where is the table of these films now? In `folder`, which `PlainFolder` reads.

    A folder with a table of other films is refused. The parts are those that `films` is in:
    `divided` makes new ones.

    >>> import tempfile
    >>> from causalfairness.imaging.readers import PlainFolder
    >>> from causalfairness.imaging.simulator import Simulator, save_radiographs
    >>> with tempfile.TemporaryDirectory() as place:
    ...     saved = save_radiographs(Simulator(size=16), f"{place}/all", people=6, seed=0)
    ...     some = PlainFolder(f"{place}/all", size=16).take(slice(4))
    ...     table = list_radiographs(some, f"{place}/some")
    ...     again = PlainFolder(f"{place}/some", size=16)
    ...     table.name, bool((again.images() == some.images()).all())
    ('radiographs.csv', True)
    """
    _check_groups(films)
    root = Path(folder)
    here = root.resolve()
    names = [os.path.relpath(_real(found(path)), here) for path in films.paths]
    groups = [films.groups[code] for code in films.parents.group.tolist()]
    table = table_of(names, films.patients, films.part, groups, films.parents)
    about = {"origin": dict(films.account.origin), "left out": dict(films.account.dropped)}
    texts = {ORIGIN: json.dumps(about, indent=1, ensure_ascii=False) + "\n", TABLE: table}
    for name, text in texts.items():
        path = root / name
        if path.exists() and path.read_bytes() != text.encode("utf-8"):
            raise ImageFileError(
                f"{path} is there already, of other films or read in another way. Name another "
                "folder, or delete it."
            )
    root.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_whole(text, root / name)
    return root / TABLE


def _real(path: Path) -> Path:
    """The same file without links on the way to it, which `..` would not go back."""
    return path.parent.resolve() / path.name


def _check_groups(films: RadiographFolder) -> None:
    counts = torch.bincount(films.parents.group, minlength=len(films.groups)).tolist()
    for name, count in zip(films.groups, counts, strict=True):
        if count == 0:
            raise DemographicsError(
                f"Nobody of {name!r} is left. A race belongs to the group whose name it starts "
                f"with; name the groups as the collection does.\n{films.account}"
            )


def table_of(
    names: Iterable[str],
    people: Iterable[str],
    parts: Iterable[str],
    groups: Iterable[object],
    parents: Parents,
) -> str:
    """What does the table of a folder say? CSV; ages come back from it unchanged.

    >>> import torch
    >>> person = Parents(torch.tensor([2]), torch.tensor([0.31]), torch.tensor([1]),
    ...                  torch.tensor([-1]), torch.tensor([[1, 0, 0, -1, 0]]))
    >>> print(table_of(["a.png"], ["p1"], ["train"], ["Asian"], person))
    image,person,split,group,age,sex,scanner,cardiomegaly,edema,consolidation,atelectasis,effusion
    a.png,p1,train,Asian,31,1,,1,0,0,,0
    <BLANKLINE>
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("image", "person", "split", "group", "age", "sex", "scanner", *FINDINGS))
    known = zip(
        *(them.tolist() for them in (parents.age, parents.sex, parents.scanner, parents.findings)),
        strict=True,
    )
    for name, person, part, group, (age, sex, scanner, findings) in zip(
        names, people, parts, groups, known, strict=True
    ):
        codes = ("" if code == UNKNOWN else code for code in (sex, scanner, *findings))
        writer.writerow((name, person, part, group, _years(age), *codes))
    return text.getvalue()


def _years(age: float) -> str:
    """The shortest number of years that is read as this age; nothing where it is not known."""
    if math.isnan(age):
        return ""
    texts = (f"{100 * age:.{digits}f}" for digits in range(8))
    return next((it for it in texts if float(np.float32(float(it) / 100)) == age), f"{100 * age!r}")
