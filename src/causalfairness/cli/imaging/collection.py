"""Which radiographs of a published collection? `imaging chexpert` and `imaging mimic` list them."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from causalfairness.cli import options as o
from causalfairness.cli.asking import listed
from causalfairness.cli.imaging.options import (
    check_folder,
    check_free,
    of_images,
    readable_images,
)
from causalfairness.cli.lines import columns
from causalfairness.cli.writing import say_written

_WRITTEN = """Writes a table of the frontal films of these groups to --to/radiographs.csv, from \
where [bold]imaging train[/] and [bold]imaging audit[/] read it (with --resize), and beside it in \
origin.json how labels were read and what was left out. No image is copied. The same command \
writes the same table; a folder with another one is refused.

Exit codes: 0 done; 2 wrong use; 3 it cannot be done, such as with a file that is not as published.
"""
CHEXPERT = f"""Which radiographs of CheXpert? Lists them for training and audits.

Example:

[bold]causalfairness imaging chexpert[/] CheXpert-v1.0-small --demographics 'CHEXPERT DEMO.csv' \
--to films

Groups are those of PRIMARY_RACE in the demographics (save the spreadsheet as CSV): a race belongs \
to the group whose name it starts with. {_WRITTEN}"""
MIMIC = f"""Which radiographs of MIMIC-CXR, JPEG or DICOM? Lists them for training and audits.

Example:

[bold]causalfairness imaging mimic[/] mimic-cxr-jpg --patients patients.csv.gz --admissions \
admissions.csv.gz --to films

Groups are those of the race in the admissions (MIMIC-IV): a race belongs to the group whose name \
it starts with, and people who are said to be of several are left out. {_WRITTEN}"""
of_csv = o.under("Which images", metavar="CSV", show_default=False)
of_labels = o.under("How labels are read")
NEXT = "next: causalfairness imaging train --data {} --resize --size 128 --to generator"


class Split(StrEnum):
    """Who is learned from, and who is kept for later?"""

    PUBLISHED = "published"
    NAMES = "names"


class CountsAs(StrEnum):
    """What does a label without a clear answer count as?"""

    UNKNOWN = "unknown"
    ABSENT = "absent"
    PRESENT = "present"


Folder = Annotated[Path, o.argument("FOLDER", "The collection, as it was published.")]
Demographics = Annotated[Path, of_csv("The demographics, CHEXPERT DEMO saved as CSV.")]
Patients = Annotated[Path, of_csv("Patients of MIMIC-IV (hosp/patients.csv.gz): sex and age.")]
Admissions = Annotated[Path, of_csv("Admissions of MIMIC-IV (hosp/admissions.csv.gz): race.")]
Groups = Annotated[list[str], of_images("Compared groups (repeated, or a,b).")]
Partial = Annotated[
    bool,
    of_images(
        "Leave out and count films without a file. Else the first such film is refused.",
        "--partial",
    ),
]
WhoLearns = Annotated[
    Split,
    of_images(
        "The published parts, or train, validate and test by a hash of people's names and --seed.",
        "--split",
    ),
]
Uncertain = Annotated[CountsAs, of_labels("What a finding of -1 counts as.")]
Unmentioned = Annotated[CountsAs, of_labels("What a blank finding counts as.")]
Labels = Annotated[str, of_labels("Which file of findings: of chexpert or negbio.")]
Goal = Annotated[Path, o.output("Where the table goes.", "--to", metavar="FOLDER")]
RACES = ["White", "Black", "Asian"]


def chexpert(
    folder: Folder,
    demographics: Demographics,
    to: Goal,
    groups: Groups = RACES,
    split: WhoLearns = Split.NAMES,
    partial: Partial = False,
    uncertain: Uncertain = CountsAs.UNKNOWN,
    unmentioned: Unmentioned = CountsAs.ABSENT,
    seed: o.Seed = 0,
    debug: o.Debug = False,
) -> None:
    """Which radiographs of CheXpert?"""
    with readable_images(debug=debug):
        from causalfairness.imaging.readers import CheXpert

        check_folder(folder, "FOLDER")
        policy = _policy(uncertain, unmentioned)
        films = CheXpert(
            folder, demographics=demographics, groups=listed(groups, "--groups"), **policy
        )
        _list(films, to, split=split, partial=partial, seed=seed)


def mimic(
    folder: Folder,
    patients: Patients,
    admissions: Admissions,
    to: Goal,
    groups: Groups = RACES,
    split: WhoLearns = Split.PUBLISHED,
    partial: Partial = False,
    labels: Labels = "mimic-cxr-2.0.0-chexpert.csv",
    uncertain: Uncertain = CountsAs.UNKNOWN,
    unmentioned: Unmentioned = CountsAs.ABSENT,
    seed: o.Seed = 0,
    debug: o.Debug = False,
) -> None:
    """Which radiographs of MIMIC-CXR?"""
    with readable_images(debug=debug):
        from causalfairness.imaging.readers import MimicCxr

        check_folder(folder, "FOLDER")
        films = MimicCxr(
            folder,
            patients=patients,
            admissions=admissions,
            labels=labels,
            groups=listed(groups, "--groups"),
            **_policy(uncertain, unmentioned),
        )
        _list(films, to, split=split, partial=partial, seed=seed)


def _policy(uncertain: CountsAs, unmentioned: CountsAs) -> dict[str, Any]:
    from causalfairness.imaging.readers.listing import COUNTS_AS

    codes = {word: code for code, word in COUNTS_AS.items()}
    return {"uncertain": codes[uncertain.value], "unmentioned": codes[unmentioned.value]}


def _list(films: Any, to: Path, *, split: Split, partial: bool, seed: int) -> None:
    from causalfairness.imaging.readers.plain import list_radiographs

    check_free(to, "--to")
    films = films.there() if partial else films
    films = films.divided(seed=seed) if split is Split.NAMES else films
    table = list_radiographs(films, to)
    page = Console(highlight=False)
    page.print(Text(str(films.account)), "", sep="\n", soft_wrap=True)
    page.print(_counts(films))
    say_written(table)
    Console(stderr=True, highlight=False).print(Text(NEXT.format(to), style="dim"), soft_wrap=True)


def _counts(films: Any) -> Table:
    """How many films, of how many people, are in each part, by group?"""
    table = columns("films (people)", *films.groups, right=films.groups)
    rows = list(zip(films.patients, films.part, films.parents.group.tolist(), strict=True))
    each, people = (Counter(row[1:] for row in them) for them in (rows, set(rows)))
    for part in sorted(set(films.part)):
        cells = [(part, group) for group in range(len(films.groups))]
        table.add_row(part, *(f"{each[cell]:,} ({people[cell]:,})" for cell in cells))
    return table
