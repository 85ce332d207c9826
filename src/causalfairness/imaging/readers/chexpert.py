"""Which radiographs are in a CheXpert folder?

folder/train.csv, folder/valid.csv     Path, Sex, Age, Frontal/Lateral, AP/PA and 14 findings
folder/train/patient00001/study1/view1_frontal.jpg
demographics CSV                       PATIENT, GENDER, PRIMARY_RACE (CHEXPERT DEMO.xlsx as CSV)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from causalfairness.errors import ImageFileError
from causalfairness.imaging.parents import UNKNOWN
from causalfairness.imaging.readers.folder import Entry, RadiographFolder, gathered
from causalfairness.imaging.readers.listing import (
    PUBLISHED,
    age_of,
    findings,
    group_of,
    listed,
    once,
    policy_of,
    sex_of,
)

_SEXES = {"Male": 0, "Female": 1, "Unknown": UNKNOWN}
_SCANNERS = {"PA": 0, "AP": 1}
_COLUMNS = ("Path", "Sex", "Age", "Frontal/Lateral", "AP/PA", *PUBLISHED)


def CheXpert(
    folder: Path | str,
    *,
    demographics: Path | str,
    size: int = 256,
    groups: Sequence[str] = ("White", "Black", "Asian"),
    uncertain: int = UNKNOWN,
    unmentioned: int = 0,
    parts: Sequence[str] = ("train", "valid"),
    workers: int = 4,
) -> RadiographFolder:
    """Which frontal radiographs of these groups are in a CheXpert folder?

    `uncertain` is what a finding of -1 counts as, and `unmentioned` what a blank does: 1, 0 or
    UNKNOWN. The scanner is 0 for PA films and 1 for AP ones. What is left out is in `account`.

    >>> CheXpert("nowhere", demographics="nowhere/demo.csv")
    Traceback (most recent call last):
    causalfairness.errors.ImageFileError: There is no file 'nowhere/demo.csv', nor 'demo.csv.gz'.
    """
    origin = {"collection": "CheXpert", **policy_of(uncertain=uncertain, unmentioned=unmentioned)}
    root, people_file = Path(folder), Path(demographics)
    people = once(
        listed(people_file, ("PATIENT", "GENDER", "PRIMARY_RACE")), keys=1, file=people_file.name
    )
    entries: list[Entry] = []
    dropped: Counter[str] = Counter()
    for part in parts:
        for row in listed(root / f"{part}.csv", _COLUMNS):
            path, sex, age, view, direction, *values = row
            patient = _patient(path, f"{part}.csv")
            sex_code = sex_of(sex, _SEXES, where=path)
            group = _group(view, sex_code, people.get((patient,)), groups, patient)
            if isinstance(group, str):
                dropped[group] += 1
                continue
            entries.append(
                Entry(
                    path=root / path.partition("/")[2],
                    patient=patient,
                    part=part,
                    group=group,
                    age=age_of(age, where=path),
                    sex=sex_code,
                    scanner=_SCANNERS.get(direction, UNKNOWN),
                    findings=findings(
                        values, uncertain=uncertain, unmentioned=unmentioned, where=path
                    ),
                )
            )
    return gathered(entries, dropped, groups=groups, size=size, workers=workers, origin=origin)


def _group(
    view: str, sex: int, person: tuple[str, ...] | None, groups: Sequence[str], patient: str
) -> int | str:
    """The group of the person on a film, or the reason why the film is left out."""
    if view != "Frontal":
        return "not a frontal view"
    if person is None:
        return "patient without demographics"
    gender, race = person
    other = sex_of(gender, _SEXES, where=patient)
    if UNKNOWN not in (sex, other) and sex != other:
        return "sex differs between the files"
    return group_of([race], groups)


def _patient(path: str, file: str) -> str:
    found = re.search(r"patient\d+", path)
    if found is None or "/" not in path:
        raise ImageFileError(
            f"{file} names the image {path!r}; expected .../patient00001/study1/view1_frontal.jpg."
        )
    return found.group()
