"""Which radiographs are in a folder of CheXpert or of MIMIC-CXR, as they are published?

    folder/train.csv, folder/valid.csv     Path, Sex, Age, Frontal/Lateral, AP/PA and 14 findings
    folder/train/patient00001/study1/view1_frontal.jpg
    demographics CSV                       PATIENT, GENDER, PRIMARY_RACE (CHEXPERT DEMO.xlsx as CSV)

and of MIMIC-CXR, JPEG or DICOM,

    folder/mimic-cxr-2.0.0-chexpert.csv    subject_id, study_id and 14 findings (or -negbio)
    folder/mimic-cxr-2.0.0-metadata.csv    dicom_id, subject_id, study_id, ViewPosition, StudyDate
    folder/mimic-cxr-2.0.0-split.csv       dicom_id, study_id, subject_id, split
    folder/files/p10/p10000032/s50414267/<dicom_id>.jpg or .dcm
    patients CSV (MIMIC-IV)                subject_id, gender, anchor_age, anchor_year
    admissions CSV (MIMIC-IV)              subject_id, race (or, in version 1, ethnicity)

Every CSV may be packed (.csv.gz). In MIMIC-CXR the age is that of the study, anchor_age + year -
anchor_year, and unknown where one of them is not stated.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from causalfairness.errors import DemographicsError, ImageFileError
from causalfairness.imaging.parents import UNKNOWN
from causalfairness.imaging.readers.folder import Entry, RadiographFolder, gathered
from causalfairness.imaging.readers.listing import (
    OLDEST,
    PUBLISHED,
    age_of,
    findings,
    group_of,
    heading,
    listed,
    once,
    policy_of,
    sex_of,
)

_SEX_WORDS = {"Male": 0, "Female": 1, "Unknown": UNKNOWN}  # of CheXpert
_SEX_LETTERS = {"M": 0, "F": 1}  # of MIMIC-CXR
_SCANNERS = {"PA": 0, "AP": 1}  # the frontal views
_COLUMNS = ("Path", "Sex", "Age", "Frontal/Lateral", "AP/PA", *PUBLISHED)
_METADATA = ("dicom_id", "subject_id", "study_id", "ViewPosition", "StudyDate")
Said = Mapping[tuple[str, ...], tuple[str, ...]]


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
            sex_code = sex_of(sex, _SEX_WORDS, where=path)
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
    other = sex_of(gender, _SEX_WORDS, where=patient)
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


def MimicCxr(
    folder: Path | str,
    *,
    patients: Path | str,
    admissions: Path | str,
    labels: str = "mimic-cxr-2.0.0-chexpert.csv",
    size: int = 256,
    groups: Sequence[str] = ("White", "Black", "Asian"),
    uncertain: int = UNKNOWN,
    unmentioned: int = 0,
    workers: int = 4,
) -> RadiographFolder:
    """Which frontal radiographs of these groups are in a MIMIC-CXR folder?

    `uncertain` is what a finding of -1 counts as, and `unmentioned` what a blank does: 1, 0 or
    UNKNOWN. The scanner is 0 for PA films and 1 for AP ones. What is left out is in `account`:
    also people whose race is not stated, or differs between their admissions.

    >>> MimicCxr("nowhere", patients="patients.csv", admissions="admissions.csv")
    Traceback (most recent call last):
    causalfairness.errors.ImageFileError: There is no file 'nowhere/mimic-cxr-2.0.0-chexpert.csv...
    """
    origin = {
        "collection": "MIMIC-CXR",
        "labels": labels,
        **policy_of(uncertain=uncertain, unmentioned=unmentioned),
    }
    root = Path(folder)
    known = _Known.read(root, labels, Path(patients), Path(admissions), groups)
    entries: list[Entry] = []
    dropped: Counter[str] = Counter()
    for dicom, subject, study, view, date in listed(
        root / "mimic-cxr-2.0.0-metadata.csv", _METADATA
    ):
        group = known.group_or_reason(subject, study, view)
        if isinstance(group, str):
            dropped[group] += 1
            continue
        sex, anchor_age, anchor_year = known.people[(subject,)]
        entries.append(
            Entry(
                path=root / "files" / f"p{subject[:2]}" / f"p{subject}" / f"s{study}" / dicom,
                patient=f"p{subject}",
                part=known.part.get((dicom,), ("none",))[0],
                group=group,
                age=_age_then(anchor_age, anchor_year, date, subject),
                sex=sex_of(sex, _SEX_LETTERS, where=f"subject {subject}"),
                scanner=_SCANNERS[view],
                findings=findings(
                    known.labels[(subject, study)],
                    uncertain=uncertain,
                    unmentioned=unmentioned,
                    where=f"study {study}",
                ),
            )
        )
    return gathered(entries, dropped, groups=groups, size=size, workers=workers, origin=origin)


@dataclass(frozen=True)
class _Known:
    """What the files beside the images say."""

    labels: Said
    part: Said
    people: Said
    group: Mapping[str, int | str]

    @classmethod
    def read(
        cls, root: Path, labels: str, patients: Path, admissions: Path, groups: Sequence[str]
    ) -> _Known:
        found = listed(root / labels, ("subject_id", "study_id", *PUBLISHED))
        split = listed(root / "mimic-cxr-2.0.0-split.csv", ("dicom_id", "split"))
        people = listed(patients, ("subject_id", "gender", "anchor_age", "anchor_year"))
        races: dict[str, list[str]] = defaultdict(list)
        column = "race" if "race" in heading(admissions) else "ethnicity"
        for subject, race in listed(admissions, ("subject_id", column)):
            races[subject].append(race)
        return cls(
            labels=once(found, keys=2, file=labels),
            part=once(split, keys=1, file="mimic-cxr-2.0.0-split.csv"),
            people=once(people, keys=1, file=patients.name),
            group={subject: group_of(said, groups) for subject, said in races.items()},
        )

    def group_or_reason(self, subject: str, study: str, view: str) -> int | str:
        """The group of the person on a film, or the reason why the film is left out."""
        if view not in _SCANNERS:
            return "not a frontal view"
        if (subject, study) not in self.labels:
            return "study without labels"
        if (subject,) not in self.people:
            return "patient without demographics"
        return self.group.get(subject, "patient without an admission")


def _age_then(anchor_age: str, anchor_year: str, date: str, subject: str) -> float:
    if "" in (anchor_age, anchor_year, date):
        return math.nan
    if not (anchor_year.isdigit() and date[:4].isdigit() and len(date) >= 8):
        raise DemographicsError(
            f"Subject {subject} has anchor_year {anchor_year!r} and StudyDate {date!r}; expected a "
            "year and a date as YYYYMMDD."
        )
    anchor = age_of(anchor_age, where=f"subject {subject}")
    age = anchor + (int(date[:4]) - int(anchor_year)) / 100
    if not 0 <= age <= OLDEST / 100:
        raise DemographicsError(
            f"Subject {subject} would be {100 * age:g} years old on {date}: {anchor_age} in "
            f"{anchor_year}. Correct the files, or leave the person out of them."
        )
    return age
