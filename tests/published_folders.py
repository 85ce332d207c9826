"""Small folders in exactly the layouts in which CheXpert and MIMIC-CXR are published."""

import csv
import gzip
import io

import numpy as np
from PIL import Image

CHEXPERT_HEADING = [
    *("Path", "Sex", "Age", "Frontal/Lateral", "AP/PA", "No Finding"),
    *("Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema"),
    *("Consolidation", "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion"),
    *("Pleural Other", "Fracture", "Support Devices"),
]
MIMIC_LABELS = [
    *("subject_id", "study_id", "Atelectasis", "Cardiomegaly", "Consolidation", "Edema"),
    *("Enlarged Cardiomediastinum", "Fracture", "Lung Lesion", "Lung Opacity", "No Finding"),
    *("Pleural Effusion", "Pleural Other", "Pneumonia", "Pneumothorax", "Support Devices"),
]
MIMIC_METADATA = [
    *("dicom_id", "subject_id", "study_id", "PerformedProcedureStepDescription"),
    *("ViewPosition", "Rows", "Columns", "StudyDate", "StudyTime"),
]


def write_csv(path, heading, rows, packed=False):
    """A CSV file; cells that a row does not name are blank."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, heading, restval="")
    writer.writeheader()
    writer.writerows(rows)
    content = text.getvalue().encode()
    if packed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))
    else:
        path.write_bytes(content)


def chexpert_row(patient, *, study=1, part="train", view="Frontal", **cells):
    """One line of train.csv or valid.csv."""
    path = f"CheXpert-v1.0-small/{part}/{patient}/study{study}/view1_{view.lower()}.jpg"
    direction = "AP" if view == "Frontal" else ""
    row = {"Path": path, "Sex": "Female", "Age": 60, "Frontal/Lateral": view, "AP/PA": direction}
    return {**row, **cells}


def chexpert_folder(root, rows, people, valid=()):
    """A CheXpert folder with an image for every row, and its demographics; both paths."""
    folder = root / "CheXpert-v1.0-small"
    folder.mkdir()
    for part, lines in (("train", rows), ("valid", valid)):
        write_csv(folder / f"{part}.csv", CHEXPERT_HEADING, lines)
        for line in lines:
            path = root / line["Path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(slope(48, 40)).save(path, quality=95)
    demographics = folder / "CHEXPERT DEMO.csv"
    heading = ["PATIENT", "GENDER", "AGE_AT_CXR", "PRIMARY_RACE", "ETHNICITY"]
    named = ({"PATIENT": p, "GENDER": g, "PRIMARY_RACE": r} for p, g, r in people)
    write_csv(demographics, heading, named)
    return folder, demographics


def mimic_film(subject, study, dicom, *, view="AP", date="21800506"):
    """One line of the metadata file."""
    return {
        "dicom_id": dicom,
        "subject_id": subject,
        "study_id": study,
        "ViewPosition": view,
        "StudyDate": date,
    }


def mimic_folder(root, films, labels, people, races, *, packed=False, race="race"):
    """A MIMIC-CXR folder without images; with MIMIC-IV's two files beside it."""
    folder = root / "mimic-cxr-jpg"
    folder.mkdir()
    start = folder / "mimic-cxr-2.0.0-metadata.csv"
    write_csv(start, MIMIC_METADATA, films, packed)
    write_csv(folder / "mimic-cxr-2.0.0-chexpert.csv", MIMIC_LABELS, labels, packed)
    split = [
        {**{name: film[name] for name in ("dicom_id", "study_id", "subject_id")}, "split": "train"}
        for film in films
    ]
    write_csv(
        folder / "mimic-cxr-2.0.0-split.csv",
        ["dicom_id", "study_id", "subject_id", "split"],
        split,
        packed,
    )
    patients, admissions = root / "patients.csv", root / "admissions.csv"
    heading = ["subject_id", "gender", "anchor_age", "anchor_year", "anchor_year_group", "dod"]
    write_csv(patients, heading, people, packed)
    lines = [{"subject_id": s, "hadm_id": n, race: r} for n, (s, r) in enumerate(races)]
    write_csv(admissions, ["subject_id", "hadm_id", race], lines, packed)
    return {"folder": folder, "patients": patients, "admissions": admissions}


def mimic_image(folder, subject, study, dicom, suffix):
    """Where the image of a film belongs."""
    path = folder / "files" / f"p{str(subject)[:2]}" / f"p{subject}" / f"s{study}"
    path.mkdir(parents=True, exist_ok=True)
    return path / f"{dicom}{suffix}"


def slope(height, width, top=255):
    """Gray values that grow from left to right."""
    ramp = np.linspace(0, top, width).round()
    return np.tile(ramp, (height, 1)).astype(np.uint8 if top == 255 else np.uint16)


def write_dicom(path, pixels, kind="MONOCHROME2", **tags):
    """A DICOM file with these stored values."""
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, generate_uid

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.1.1"
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    file.SOPClassUID = meta.MediaStorageSOPClassUID
    file.SOPInstanceUID = meta.MediaStorageSOPInstanceUID
    file.Rows, file.Columns = pixels.shape
    file.SamplesPerPixel, file.PixelRepresentation = 1, 0
    file.BitsAllocated, file.BitsStored, file.HighBit = 16, 12, 11
    file.PhotometricInterpretation = kind
    file.PixelData = pixels.astype(np.uint16).tobytes()
    for name, value in tags.items():
        setattr(file, name, value)
    file.save_as(path, enforce_file_format=True)
