"""How does a published collection become a folder of one's own? A table that names its files.

    folder/radiographs.csv     one row per film: where its file is, whose it is, what is known
    folder/origin.json         the collection, how its labels were read, what was left out

No image is copied: paths are written as seen from the folder, so both can be moved together. What
was decided, about uncertain labels say, can be read in the two files, and `PlainFolder` takes it up
from there. The table is written last.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from causalfairness.errors import DemographicsError, ImageFileError
from causalfairness.imaging.parents import FINDINGS, UNKNOWN, Parents
from causalfairness.imaging.readers.decoding import found
from causalfairness.imaging.readers.folder import RadiographFolder
from causalfairness.imaging.readers.plain import ORIGIN, TABLE
from causalfairness.writing import write_whole


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
