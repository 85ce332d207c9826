"""Are CheXpert and MIMIC-CXR listed as they are read, and taken up from there unchanged?"""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from causalfairness.cli import app
from causalfairness.errors import ImageFileError
from causalfairness.imaging.parents import UNKNOWN
from causalfairness.imaging.readers import CheXpert, MimicCxr, PlainFolder, list_radiographs
from causalfairness.imaging.readers.plain import stated_split
from causalfairness.imaging.simulator import Simulator
from published_folders import (
    chexpert_folder,
    chexpert_row,
    mimic_film,
    mimic_folder,
    mimic_image,
    slope,
    write_dicom,
)

RACES = ("White, non-Hispanic", "Black or African American", "Asian", "Other")
SAID = ("group", "age", "sex", "scanner", "findings")


def run(*given, code=0):
    done = CliRunner().invoke(app, ["imaging", *map(str, given)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


@pytest.fixture
def chexpert(tmp_path):
    """Sixty people, some with two films, one with a film from the side; ages with odd digits."""
    rows, people = [], []
    for number in range(60):
        patient = f"patient{number:05d}"
        people.append((patient, "Female", RACES[number % 4]))
        edema = "-1.0" if number % 3 == 0 else "1.0"
        rows.append(chexpert_row(patient, Edema=edema, Age=30 + number, **{"AP/PA": ""}))
        if number % 5 == 0:
            rows.append(chexpert_row(patient, study=2, Consolidation="1.0"))
    rows.append(chexpert_row("patient00001", study=2, view="Lateral"))
    folder, demographics = chexpert_folder(tmp_path, rows, people)
    image = folder / "train/patient00000/study1/view1_frontal.jpg"
    Image.fromarray(slope(48, 40)[:, ::-1].copy()).save(image)
    return ("chexpert", folder, "--demographics", demographics, "--to", tmp_path / "films")


@pytest.fixture
def mimic(tmp_path):
    films = [mimic_film(10000000 + n, 50000000 + n, f"d{n}-{n}") for n in range(6)]
    labels = [{"subject_id": 10000000 + n, "study_id": 50000000 + n} for n in range(6)]
    people = [
        {"subject_id": 10000000 + n, "gender": "MF"[n % 2], "anchor_age": 91, "anchor_year": 2170}
        for n in range(6)
    ]
    races = [
        (10000000 + n, ("WHITE", "BLACK/CAPE VERDEAN", "ASIAN - KOREAN")[n % 3]) for n in range(6)
    ]
    places = mimic_folder(tmp_path, films, labels, people, races, packed=True)
    for n in range(6):
        path = mimic_image(places["folder"], 10000000 + n, 50000000 + n, f"d{n}-{n}", ".dcm")
        write_dicom(path, slope(24, 20, 4095), "MONOCHROME1" if n else "MONOCHROME2")
    return places


def same(one, other):
    for name in SAID:
        ours, theirs = getattr(one.parents, name), getattr(other.parents, name)
        assert torch.equal(ours.nan_to_num(-1), theirs.nan_to_num(-1)), name
    assert one.patients == other.patients
    assert torch.equal(one.images(), other.images())


def test_chexpert_is_taken_up_as_it_is_read(chexpert, tmp_path):
    said = run(*chexpert).stdout
    read = CheXpert(chexpert[1], demographics=chexpert[3], size=20)
    films = PlainFolder(tmp_path / "films", size=20, groups=read.groups, resize=True)
    same(films, read)
    assert films.parents.scanner[0] == UNKNOWN
    assert films.parents.findings[0, 1] == UNKNOWN
    assert len({*films.patients}) < len(films)
    assert (
        films.account.dropped
        == read.account.dropped
        == {
            "race outside the groups": 18,
            "not a frontal view": 1,
        }
    )
    assert films.account.origin == {
        "collection": "CheXpert",
        "uncertain findings": "unknown",
        "unmentioned findings": "absent",
        "parts": "by a hash of people's numbers, seed 0",
    }
    for name, part in stated_split(films).items():
        assert part.patients == read.split(seed=0)[name].patients
    assert str(read.account) in said
    assert "White" in said


def test_what_labels_count_as_and_the_split_are_choices(chexpert, tmp_path):
    run(*chexpert, "--uncertain", "present", "--unmentioned", "unknown", "--split", "published")
    read = CheXpert(chexpert[1], demographics=chexpert[3], size=20, uncertain=1, unmentioned=-1)
    films = PlainFolder(tmp_path / "films", size=20, groups=read.groups, resize=True)
    same(films, read)
    assert set(films.part) == {"train"}
    assert films.account.origin["uncertain findings"] == "present"
    assert "parts" not in films.account.origin


def test_another_seed_divides_people_otherwise(chexpert, tmp_path):
    run(*chexpert, "--seed", 5)
    read = CheXpert(chexpert[1], demographics=chexpert[3])
    films = PlainFolder(tmp_path / "films", size=20, groups=read.groups, resize=True)
    assert films.part == read.divided(seed=5).part != read.divided(seed=0).part


def test_mimic_is_taken_up_as_it_is_read(mimic, tmp_path):
    where = [f"--{name}={mimic[name]}" for name in ("patients", "admissions")]
    run("mimic", mimic["folder"], *where, "--to", tmp_path / "films", "--groups", "Black, White")
    read = MimicCxr(**mimic, size=20, groups=("Black", "White"))
    films = PlainFolder(tmp_path / "films", size=20, groups=("Black", "White"), resize=True)
    same(films, read)
    assert set(films.part) == {"train"}
    assert films.parents.age.tolist() == pytest.approx([1.01] * 4)  # 91 in 2170, filmed in 2180
    assert films.images()[0, 0, 0, 0] < 0.1 < 0.9 < films.images()[1, 0, 0, 0]
    assert films.account.origin["collection"] == "MIMIC-CXR"
    assert films.account.origin["labels"] == "mimic-cxr-2.0.0-chexpert.csv"
    assert films.account.dropped == {"race outside the groups": 2}


def test_the_same_command_writes_the_same_table_and_another_one_is_refused(chexpert, tmp_path):
    run(*chexpert)
    before = {path.name: path.read_bytes() for path in (tmp_path / "films").iterdir()}
    assert set(before) == {"radiographs.csv", "origin.json"}
    run(*chexpert)
    said = run(*chexpert, "--uncertain", "absent", code=3).stderr
    assert "is there already, of other films or read in another way" in " ".join(said.split())
    run(*chexpert, "--groups", "White,Asian", code=3)
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "films").iterdir()}


def test_the_table_may_move_together_with_its_films(chexpert, tmp_path):
    run(*chexpert)
    (tmp_path / "elsewhere").mkdir()
    for name in ("films", "CheXpert-v1.0-small"):
        (tmp_path / name).rename(tmp_path / "elsewhere" / name)
    films = PlainFolder(tmp_path / "elsewhere/films", size=20, resize=True)
    assert films.images(slice(1)).shape == (1, 1, 20, 20)


def test_a_folder_behind_a_link_names_files_that_are_there(chexpert, tmp_path):
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far/away")
    run(*chexpert[:-1], tmp_path / "link/films")
    films = PlainFolder(tmp_path / "link/films", size=20, resize=True)
    assert films.images(slice(1)).shape == (1, 1, 20, 20)


def test_a_table_in_another_encoding_is_another_table(chexpert, tmp_path):
    (tmp_path / "films").mkdir()
    (tmp_path / "films/radiographs.csv").write_bytes(b"Jos\xe9")
    assert "is there already" in run(*chexpert, code=3).stderr
    assert (tmp_path / "films/radiographs.csv").read_bytes() == b"Jos\xe9"


def test_a_download_in_part_is_refused_or_counted(chexpert, tmp_path):
    (chexpert[1] / "train/patient00001/study1/view1_frontal.jpg").unlink()
    said = run(*chexpert, code=3).stderr
    assert "There is no image" in said
    assert "patient00001" in said
    assert not (tmp_path / "films").exists()
    assert "1 left out: image without a file" in run(*chexpert, "--partial").stdout
    films = PlainFolder(tmp_path / "films", size=20, resize=True)
    assert "patient00001" not in films.patients
    assert films.account.dropped["image without a file"] == 1
    assert films.account.read == films.account.kept + 20


def test_nothing_but_files_that_are_absent_is_refused(chexpert):
    films = CheXpert(chexpert[1], demographics=chexpert[3]).take(slice(2))
    for path in films.paths:
        path.unlink()
    with pytest.raises(ImageFileError, match=r"No image is left[\s\S]* 2 left out: image without"):
        films.there()


def test_a_group_of_nobody_is_refused(chexpert, tmp_path):
    said = run(*chexpert, "--groups", "White,Blak", code=3).stderr
    assert "Nobody of 'Blak' is left" in said
    assert "left out: race outside the groups" in said
    assert not (tmp_path / "films").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "JSONDecodeError"), ('{"origin": {}}', "left out"), ("[]", "TypeError")],
)
def test_an_origin_that_says_nothing_is_refused(chexpert, tmp_path, text, said):
    run(*chexpert)
    (tmp_path / "films/origin.json").write_text(text)
    with pytest.raises(ImageFileError, match=rf"origin.json does not say .*{said}"):
        PlainFolder(tmp_path / "films", size=20, resize=True)


def test_names_with_commas_and_ages_come_back(tmp_path):
    drawn = Simulator(size=16).draw(40, seed=0)
    for row in range(40):
        level = np.rint(drawn.images()[row, 0].numpy() * 65_535).astype(np.uint16)
        Image.fromarray(level).save(tmp_path / f"film, {row}.png")
    lines = ["image,person,group,age"]
    ages = [0.1 + 1.7 * row for row in range(40)]
    lines += [f'"film, {row}.png","a, ""{row}""",x,{ages[row]}' for row in range(40)]
    (tmp_path / "radiographs.csv").write_text("\n".join(lines))
    films = PlainFolder(tmp_path, size=16)
    list_radiographs(films, tmp_path / "again")
    again = PlainFolder(tmp_path / "again", size=16)
    same(again, films)
    assert again.parents.sex.tolist() == [UNKNOWN] * 40
    assert "x,0.1," in (tmp_path / "again/radiographs.csv").read_text()  # not 0.10000000149


def test_a_collection_is_audited_from_the_command_line(tmp_path):
    drawn = Simulator(size=32).draw(700, seed=0)
    groups = [RACES[code] for code in drawn.parents.group.tolist()]
    names = [f"patient{number:05d}" for number in range(700)]
    rows = [
        chexpert_row(name, Age=round(100 * float(age)))
        for name, age in zip(names, drawn.parents.age, strict=True)
    ]
    folder, demographics = chexpert_folder(
        tmp_path, rows, [(name, "Female", race) for name, race in zip(names, groups, strict=True)]
    )
    for name, film in zip(names, drawn.images(), strict=True):
        levels = (255 * film[0]).round().to(torch.uint8).numpy()
        Image.fromarray(levels).save(folder / f"train/{name}/study1/view1_frontal.jpg", quality=95)
    films, made = tmp_path / "films", tmp_path / "made"
    given = ("--demographics", demographics, "--to", films, "--groups", "White,Black")
    run("chexpert", folder, *given)
    data = ("--data", films, "--resize")
    run("train", *data, "--size", 32, "--generator", "gaussian", "--to", made)
    record, report = tmp_path / "record.json", tmp_path / "report.html"
    asked = ("--train-classifier", "small", "--epochs", 1, "--record", record, "--report", report)
    CliRunner().invoke(app, ["imaging", "audit", *map(str, (*data, "--generator", made, *asked))])
    found = json.loads(record.read_text("utf-8"))
    asian = groups.count("Asian")
    assert found["data"]["left_out"] == {"race outside the groups": asian}
    assert list(found["data"]["groups"]) == ["Black", "White"]
    page = report.read_text("utf-8")
    for said in (
        "collection",
        "CheXpert",
        "uncertain findings",
        f"{asian} race outside the groups",
    ):
        assert said in page
