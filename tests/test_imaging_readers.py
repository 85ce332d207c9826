"""CheXpert and MIMIC-CXR, from small folders written in the published layouts."""

import gzip

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.stats import chi2_contingency

from causalfairness.errors import (
    ColumnNotFoundError,
    DemographicsError,
    ImageFileError,
    LabelError,
    SplitError,
)
from causalfairness.imaging.parents import UNKNOWN, Parents
from causalfairness.imaging.readers import CheXpert, MimicCxr, association
from causalfairness.imaging.readers.decoding import decode, found, measured
from causalfairness.imaging.readers.dicom import _number
from published_folders import (
    CHEXPERT_HEADING,
    chexpert_folder,
    chexpert_row,
    mimic_film,
    mimic_folder,
    mimic_image,
    slope,
    write_csv,
    write_dicom,
)

PEOPLE = [
    ("patient00001", "Female", "White, non-Hispanic"),
    ("patient00002", "Male", "Black or African American"),
    ("patient00003", "Female", "Asian"),
    ("patient00004", "Female", "Other"),
    ("patient00005", "Female", "Unknown"),
    ("patient00006", "Male", "White"),
]


@pytest.fixture
def chexpert(tmp_path):
    rows = [
        chexpert_row("patient00001", **{"Cardiomegaly": "1.0", "Edema": "-1.0", "Age": 71}),
        chexpert_row("patient00001", study=2, view="Lateral"),
        chexpert_row("patient00002", Sex="Male", **{"Pleural Effusion": "1.0", "AP/PA": "PA"}),
        chexpert_row("patient00004"),
        chexpert_row("patient00005"),
        chexpert_row("patient00006"),
        chexpert_row("patient00099"),
    ]
    valid = [chexpert_row("patient00003", part="valid", Atelectasis="0.0", Consolidation="1.0")]
    return chexpert_folder(tmp_path, rows, PEOPLE, valid)


@pytest.fixture
def mimic(tmp_path):
    films = [
        mimic_film(10000032, 50414267, "aa"),
        mimic_film(10000032, 50414267, "ab", view="LATERAL"),
        mimic_film(10000764, 57375967, "ba", view="PA", date="21330101"),
        mimic_film(10000898, 50771383, "ca"),
        mimic_film(10000935, 50578979, "da"),
        mimic_film(10000980, 50985099, "ea"),
        mimic_film(10001038, 53971784, "fa"),
        mimic_film(10001122, 53447138, "ga"),
        mimic_film(10001176, 53186264, "ha"),
    ]
    labels = [
        {"subject_id": s, "study_id": t, "Cardiomegaly": "1.0", "Edema": "-1.0"}
        for s, t in {(film["subject_id"], film["study_id"]) for film in films}
        if s != 10001122
    ]
    people = [
        {"subject_id": s, "gender": "F", "anchor_age": 52, "anchor_year": 2180}
        for s in sorted({film["subject_id"] for film in films} - {10001176})
    ]
    races = [
        (10000032, "WHITE"),
        (10000032, "WHITE - RUSSIAN"),
        (10000032, "UNKNOWN"),
        (10000764, "BLACK/CAPE VERDEAN"),
        (10000898, "WHITE"),
        (10000898, "ASIAN - CHINESE"),
        (10000935, "HISPANIC/LATINO - PUERTO RICAN"),
        (10000980, "PATIENT DECLINED TO ANSWER"),
    ]
    return films, labels, people, races


def test_chexpert_is_read_as_published(chexpert):
    folder, demographics = chexpert
    data = CheXpert(folder, demographics=demographics, size=32)
    assert data.patients == ("patient00001", "patient00002", "patient00003")
    assert data.parents.group.tolist() == [0, 1, 2]
    assert data.parents.sex.tolist() == [1, 0, 1]
    assert data.parents.scanner.tolist() == [1, 0, 1]
    assert data.parents.age.tolist() == pytest.approx([0.71, 0.60, 0.60])
    expected = [[1, UNKNOWN, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 1, 0, 0]]
    assert data.parents.findings.tolist() == expected
    assert data.part == ("train", "train", "valid")
    assert {name: len(part) for name, part in data.published_split().items()} == {
        "train": 2,
        "valid": 1,
    }


def test_what_was_left_out_is_accounted_for(chexpert):
    folder, demographics = chexpert
    data = CheXpert(folder, demographics=demographics)
    assert data.account.dropped == {
        "not a frontal view": 1,
        "race outside the groups": 1,
        "race not stated": 1,
        "sex differs between the files": 1,
        "patient without demographics": 1,
    }
    assert (data.account.read, data.account.kept, len(data)) == (8, 3, 3)
    assert "3 radiographs of 3 people" in str(data)
    assert "1 left out: race not stated" in str(data)


@pytest.mark.parametrize("uncertain", [0, 1, UNKNOWN])
def test_uncertain_and_blank_findings_are_what_the_policy_says(chexpert, uncertain):
    folder, demographics = chexpert
    data = CheXpert(folder, demographics=demographics, uncertain=uncertain, unmentioned=UNKNOWN)
    assert data.parents.findings[0].tolist() == [1, uncertain, UNKNOWN, UNKNOWN, UNKNOWN]


def test_films_are_decoded_when_looked_at(chexpert):
    folder, demographics = chexpert
    data = CheXpert(folder, demographics=demographics, size=20)
    films = data.images()
    assert films.shape == (3, 1, 20, 20)
    ramp = (torch.arange(20) + 0.5) / 20
    assert (films[0, 0, 10] - ramp).abs().max() < 0.02  # JPEG, and 40 columns in 20
    assert torch.equal(data.images(torch.tensor([2, 0])), films[[2, 0]])
    assert torch.equal(data.take(slice(1, None)).images(), films[1:])
    assert torch.equal(data.images(torch.tensor([False, True, False])), films[1:2])
    data.paths[1].unlink()
    assert data.images(slice(1)).shape == (1, 1, 20, 20)
    with pytest.raises(ImageFileError, match=r"There is no image .*patient00002.*complete\?"):
        data.images()


def test_mimic_is_read_as_published(mimic, tmp_path):
    files = mimic_folder(tmp_path, *mimic, packed=True)
    slope_image = Image.fromarray(slope(30, 40))
    slope_image.save(mimic_image(files["folder"], 10000032, 50414267, "aa", ".jpg"), quality=95)
    write_dicom(
        mimic_image(files["folder"], 10000764, 57375967, "ba", ".dcm"),
        slope(30, 40, top=4095),
        kind="MONOCHROME1",
    )
    data = MimicCxr(**files, size=16)
    assert data.patients == ("p10000032", "p10000764")
    assert data.parents.group.tolist() == [0, 1]
    assert data.parents.scanner.tolist() == [1, 0]
    assert data.parents.age.tolist() == pytest.approx([0.52, 0.05])  # 47 years before the anchor
    assert data.parents.findings.tolist() == [[1, UNKNOWN, 0, 0, 0]] * 2
    films = data.images()
    assert (films[0] + films[1] - 1).abs().max() < 0.02
    assert data.part == ("train", "train")
    assert data.account.dropped == {
        "not a frontal view": 1,
        "race differs between admissions": 1,
        "race outside the groups": 1,
        "race not stated": 1,
        "patient without an admission": 1,
        "study without labels": 1,
        "patient without demographics": 1,
    }


def test_version_1_of_mimic_calls_race_ethnicity(mimic, tmp_path):
    files = mimic_folder(tmp_path, *mimic, race="ethnicity")
    assert len(MimicCxr(**files, groups=("Black", "White"), uncertain=1)) == 2
    assert MimicCxr(**files, groups=("Black",)).parents.group.tolist() == [0]


@pytest.mark.parametrize("kind", ["MONOCHROME1", "MONOCHROME2"])
def test_a_dicom_file_is_rescaled_windowed_and_turned(tmp_path, kind):
    stored = slope(24, 24, top=4000)
    tags = {
        "RescaleSlope": "0.5",
        "RescaleIntercept": "-100",
        "WindowCenter": ["900", "1"],
        "WindowWidth": ["1001", "2"],
    }
    write_dicom(tmp_path / "film.dcm", stored, kind, **tags)
    shown = ((stored * 0.5 - 100 - 900 + 0.5) / 1000 + 0.5).clip(0, 1)
    expected = 1 - shown if kind == "MONOCHROME1" else shown
    film = decode(tmp_path / "film.dcm", size=24)[0].numpy()
    np.testing.assert_allclose(film, expected, atol=1e-6)
    assert 0 < film.mean() < 1


STORED = np.array([[0, 1000, 2000, 4000]])
WINDOW = {"WindowCenter": "2000", "WindowWidth": "2000"}


def shown(path, stored, **tags):
    """The bottom row, each value in a block that resizing leaves alone."""
    write_dicom(path, np.tile(stored, (stored.shape[1], 1)), **tags)
    return decode(path, size=stored.shape[1])[0, -1].numpy()


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({**WINDOW, "VOILUTFunction": "SIGMOID"}, [0.01799, 0.11920, 0.5, 0.98201]),
        ({**WINDOW, "VOILUTFunction": "LINEAR_EXACT"}, [0, 0, 0.5, 1]),
        (WINDOW, [0, 0, 0.50025, 1]),
        ({"WindowCenter": "1000", "WindowWidth": "1"}, [0, 1, 1, 1]),
        ({"RescaleSlope": None, "RescaleIntercept": None}, [0, 0.25, 0.5, 1]),
        ({"PixelPaddingValue": 4000}, [0, 0.5, 1, 0]),
        ({"PixelPaddingValue": 4000, "kind": "MONOCHROME1"}, [1, 0.5, 0, 0]),
        ({"PixelPaddingValue": 4000, "PixelPaddingRangeLimit": 1500}, [0, 1, 0, 0]),
        ({"PixelPaddingValue": 0, "PixelPaddingRangeLimit": 4095}, [0, 0, 0, 0]),
    ],
)
def test_a_dicom_file_shows_what_a_viewer_shows(tmp_path, tags, expected):
    np.testing.assert_allclose(shown(tmp_path / "film.dcm", STORED, **tags), expected, atol=5e-5)


def test_tables_of_gray_values_are_looked_up(tmp_path):
    from pydicom.dataset import Dataset
    from pydicom.sequence import Sequence

    table = Dataset()
    table.LUTDescriptor = [4096, 0, 12]
    table.LUTData = np.sqrt(np.arange(4096) * 4095).astype(np.uint16).tobytes()
    found = shown(tmp_path / "voi.dcm", STORED, **WINDOW, VOILUTSequence=Sequence([table]))
    np.testing.assert_allclose(found, np.sqrt(STORED[0] / 4095), atol=5e-4)
    table.LUTDescriptor, table.ModalityLUTType = [4096, 0, 16], "US"
    found = shown(tmp_path / "modality.dcm", STORED, ModalityLUTSequence=Sequence([table]))
    np.testing.assert_allclose(found, np.sqrt(STORED[0] / 4000), atol=5e-4)


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({"WindowCenter": "5", "WindowWidth": "0"}, "its window has the width 0"),
        ({**WINDOW, "VOILUTFunction": "CUBIC"}, "its window has the function 'CUBIC'"),
    ],
)
def test_a_window_that_means_nothing_is_refused(tmp_path, tags, said):
    with pytest.raises(ImageFileError, match=rf"does not say how its values are shown \({said}"):
        shown(tmp_path / "film.dcm", STORED, **tags)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("nan"), 3.0]])
def test_a_tag_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="WindowWidth is "):
        _number({"WindowWidth": value}, "WindowWidth")


def test_a_way_of_compression_without_a_decoder_is_named(tmp_path):
    from pydicom import dcmread
    from pydicom.encaps import encapsulate
    from pydicom.uid import JPEGLSLossless

    write_dicom(tmp_path / "film.dcm", STORED)
    file = dcmread(tmp_path / "film.dcm")
    file.file_meta.TransferSyntaxUID = JPEGLSLossless
    file.PixelData = encapsulate([b"\xff\xd8\xff\xf7" + b"\0" * 60])
    file["PixelData"].is_undefined_length = True
    file.save_as(tmp_path / "film.dcm", enforce_file_format=True)
    with pytest.raises(ImageFileError, match=r"no decoder here [\s\S]*Install one"):
        decode(tmp_path / "film.dcm", size=4)


def test_capital_suffixes_are_read_and_other_kinds_named(tmp_path):
    Image.fromarray(slope(16, 16)).save(tmp_path / "FILM.PNG")
    assert decode(found(tmp_path / "FILM.PNG"), size=16).shape == (1, 16, 16)
    write_dicom(tmp_path / "FILM.DCM", STORED)
    assert measured(found(tmp_path / "FILM.DCM")) == (1, 4)
    Image.fromarray(slope(16, 16)).save(tmp_path / "film.tif")
    with pytest.raises(ImageFileError, match=r"film.tif' is of a kind that is not read; expected"):
        found(tmp_path / "film.tif")
    with pytest.raises(ImageFileError, match=r"There is no image .*film.gif"):
        found(tmp_path / "film.gif")
    write_dicom(tmp_path / "1.2.840.dcm", STORED)
    assert found(tmp_path / "1.2.840").name == "1.2.840.dcm"


def test_a_picture_that_claims_to_be_huge_is_refused(tmp_path, monkeypatch):
    Image.fromarray(slope(64, 64)).save(tmp_path / "huge.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(ImageFileError, match=r"huge.png' says that it is larger than any film"):
        decode(tmp_path / "huge.png", size=16)


def test_deep_and_colored_pictures_are_gray_values(tmp_path):
    Image.fromarray(slope(16, 16, top=65535)).save(tmp_path / "deep.png")
    Image.fromarray(slope(16, 16)).convert("RGB").save(tmp_path / "color.png")
    for name in ("deep", "color"):
        film = decode(tmp_path / f"{name}.png", size=16)
        np.testing.assert_allclose(film[0, 3], np.linspace(0, 1, 16), atol=0.003)


def test_shrinking_averages_over_what_is_lost(tmp_path):
    board = np.random.default_rng(0).integers(0, 2, (128, 128)).astype(np.uint8) * 255
    Image.fromarray(board).save(tmp_path / "board.png")
    film = decode(tmp_path / "board.png", size=8)
    assert (film - 0.5).abs().max() < 0.15  # means of 256 pixels and more; of four, up to 0.5


def test_damaged_images_are_named(tmp_path):
    whole = tmp_path / "whole.jpg"
    Image.fromarray(slope(64, 64)).save(whole)
    for name, content in (
        ("cut.jpg", whole.read_bytes()[:300]),
        ("text.png", b"no image"),
        ("text.dcm", b"no image" * 50),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ImageFileError, match=f"{name}' cannot be decoded"):
            decode(tmp_path / name, size=16)
    write_dicom(tmp_path / "color.dcm", slope(9, 9, top=99), kind="PALETTE COLOR")
    with pytest.raises(ImageFileError, match="kind PALETTE COLOR; expected one gray frame"):
        decode(tmp_path / "color.dcm", size=16)


def test_people_are_never_on_two_sides_of_a_split(tmp_path):
    names = [f"patient{number:05d}" for number in range(400)]
    rows = [chexpert_row(name, study=study) for name in names for study in (1, 2, 3)]
    people = [(name, "Female", "White") for name in names]
    folder, demographics = chexpert_folder(tmp_path, rows[:3], people)
    write_csv(folder / "train.csv", CHEXPERT_HEADING, rows)
    data = CheXpert(folder, demographics=demographics)
    parts = data.split(seed=3)
    seen = [set(part.patients) for part in parts.values()]
    assert sum(map(len, seen)) == 400
    assert sum(map(len, parts.values())) == 1200
    error = (0.1 * 0.9 / 400) ** 0.5
    for name, share in (("train", 0.8), ("validate", 0.1), ("test", 0.1)):
        assert abs(len(set(parts[name].patients)) / 400 - share) < 4 * error * 4 / 3
    fewer = data.take(torch.arange(600)).split(seed=3)
    assert set(fewer["test"].patients) == seen[2] & set(names[:200])
    assert set(data.split(seed=4)["test"].patients) != seen[2]
    assert len(data.one_each()) == 400
    with pytest.raises(SplitError, match="do not sum to 1"):
        data.split({"train": 0.5, "test": 0.4})
    with pytest.raises(SplitError, match="Nobody is in 'b': 1 people are too few"):
        data.take(slice(1)).split({"a": 1 - 1e-12, "b": 1e-12})


def test_the_association_test_is_pearsons():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 900)
    found = (rng.random((900, 5)) < 0.2 + 0.1 * group[:, None]).astype(int)
    found[:100, 1] = UNKNOWN
    people = Parents(
        group=torch.from_numpy(group),
        age=torch.zeros(900),
        sex=torch.zeros(900),
        scanner=torch.zeros(900),
        findings=torch.from_numpy(found),
    )
    result = association(people, ("White", "Black", "Asian"))
    for column, name in ((0, "cardiomegaly"), (1, "edema")):
        known = found[:, column] != UNKNOWN
        counts = [
            [np.sum((group == g) & known & (found[:, column] == v)) for g in range(3)]
            for v in (0, 1)
        ]
        truth = chi2_contingency(counts, correction=False)
        assert result[name].chi_square == pytest.approx(truth.statistic)
        assert result[name].p_value == pytest.approx(truth.pvalue)
        assert result[name].log_p == pytest.approx(np.log(truth.pvalue))
        assert result[name].counts == tuple(np.sum(counts, axis=0))
    assert len(result.to_records()) == 15
    assert "p is too small" in str(result)
    with pytest.raises(KeyError, match="no finding is named 'fracture'"):
        result["fracture"]


def test_an_association_without_variation_is_no_association(chexpert):
    folder, demographics = chexpert
    data = CheXpert(folder, demographics=demographics, groups=("White", "Pacific"))
    row = data.association()["cardiomegaly"]
    assert (row.chi_square, row.degrees_of_freedom, row.p_value, row.log_p) == (0, 0, 1, 0)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda text: text.replace(b"patient00001/", b"Jos\xe9/"),
            "train.csv is not written in UTF-8",
        ),
        (lambda text: text + b'"' + b"x" * 140_000, "train.csv cannot be read as a table"),
    ],
)
def test_a_table_that_no_reader_can_read_is_named(chexpert, spoil, said):
    folder, demographics = chexpert
    (folder / "train.csv").write_bytes(spoil((folder / "train.csv").read_bytes()))
    with pytest.raises(ImageFileError, match=said):
        CheXpert(folder, demographics=demographics)


@pytest.mark.parametrize("spoil", [lambda packed: packed[:-40], lambda packed: b"plain,text"])
def test_a_packed_table_that_was_cut_is_named(chexpert, spoil):
    folder, demographics = chexpert
    packed = gzip.compress((folder / "train.csv").read_bytes())
    (folder / "train.csv").unlink()
    (folder / "train.csv.gz").write_bytes(spoil(packed))
    with pytest.raises(ImageFileError, match=r"train.csv.gz cannot be read as a table"):
        CheXpert(folder, demographics=demographics)


def test_what_is_not_stated_is_not_known(chexpert, mimic, tmp_path):
    folder, demographics = chexpert
    text = (folder / "train.csv").read_text()
    (folder / "train.csv").write_text(text.replace("Female,71", ",", 1))
    data = CheXpert(folder, demographics=demographics)
    assert data.parents.sex.tolist()[:2] == [UNKNOWN, 0]
    assert data.parents.age.isnan().tolist()[:2] == [True, False]
    films, labels, people, races = mimic
    films[0]["StudyDate"], people[1]["anchor_age"] = "", ""
    data = MimicCxr(**mimic_folder(tmp_path, films, labels, people, races))
    assert data.parents.age.isnan().tolist() == [True, True]


@pytest.mark.parametrize("absent", ["train.csv", "valid.csv", "CHEXPERT DEMO.csv"])
def test_missing_lists_are_named(chexpert, absent):
    folder, demographics = chexpert
    (folder / absent).unlink()
    with pytest.raises(ImageFileError, match=f"There is no file .*{absent}"):
        CheXpert(folder, demographics=demographics)


def test_a_spreadsheet_is_to_be_saved_as_csv(chexpert):
    folder, _ = chexpert
    with pytest.raises(ImageFileError, match="save it as CSV"):
        CheXpert(folder, demographics=folder / "CHEXPERT DEMO.xlsx")


@pytest.mark.parametrize(
    ("old", "new", "error", "said"),
    [
        (
            ",1.0,",
            ",2.0,",
            LabelError,
            "Cardiomegaly of .*patient00001.* is '2.0'; expected 1, 0, -1",
        ),
        ("Female,71", "F,71", DemographicsError, "The sex of .*patient00001.* is 'F'; expected"),
        (",71,", ",old,", DemographicsError, "The age of .*patient00001.* is 'old'"),
        (",71,", ",271,", DemographicsError, "is '271'; expected a number of years, at most 130"),
        ("AP/PA", "Side", ColumnNotFoundError, "train.csv has no column 'AP/PA'"),
        ("train/patient00002", "train/x", ImageFileError, "train.csv names the image"),
        (",71,Frontal,AP,,,1.0,,,-1.0,,,,,,,,", ",71", ImageFileError, "Line 2 of train.csv has 3"),
    ],
)
def test_a_list_that_is_not_as_published_is_refused(chexpert, old, new, error, said):
    folder, demographics = chexpert
    text = (folder / "train.csv").read_text()
    assert old in text
    (folder / "train.csv").write_text(text.replace(old, new, 1))
    with pytest.raises(error, match=said):
        CheXpert(folder, demographics=demographics)


def test_demographics_that_contradict_themselves_are_refused(chexpert, mimic, tmp_path):
    folder, demographics = chexpert
    with demographics.open("a") as file:
        file.write("patient00001,Female,71,Asian,\n")
    with pytest.raises(
        DemographicsError, match="says Female, White, non-Hispanic and Female, Asia"
    ):
        CheXpert(folder, demographics=demographics)
    films, labels, people, races = mimic
    again = {**people[0], "gender": "M"}
    files = mimic_folder(tmp_path, films, labels, [*people, again], races)
    with pytest.raises(DemographicsError, match=r"patients.csv says F, 52, 2180 and M, 52, 2180"):
        MimicCxr(**files)


def test_a_policy_and_a_date_are_checked(chexpert, mimic, tmp_path):
    folder, demographics = chexpert
    with pytest.raises(LabelError, match="uncertain=2: expected 1, 0 or UNKNOWN"):
        CheXpert(folder, demographics=demographics, uncertain=2)
    with pytest.raises(ImageFileError, match="No image is left to look at"):
        CheXpert(folder, demographics=demographics, groups=("Martian",))
    films, *rest = mimic
    films[0]["StudyDate"] = "May"
    files = mimic_folder(tmp_path, films, *rest)
    with pytest.raises(DemographicsError, match="StudyDate 'May'; expected a year and a date"):
        MimicCxr(**files)


def test_nobody_is_filmed_before_birth(mimic, tmp_path):
    films, *rest = mimic
    films[0]["StudyDate"] = "21200506"
    files = mimic_folder(tmp_path, films, *rest)
    with pytest.raises(DemographicsError, match="10000032 would be -8 years old on 21200506: 52 i"):
        MimicCxr(**files)
