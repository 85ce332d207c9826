"""Is a record found again from the same data, and is what changed named?"""

import copy
import json

import duckdb
import pyarrow.parquet as parquet
import pytest

import causalfairness as cf
from audit_studies import EVERY_KIND, people, study
from causalfairness.audit import diff, read_record, verify
from causalfairness.audit.plain import plain, written
from causalfairness.errors import AuditError, RecordError


@pytest.fixture(scope="module")
def result():
    return study(questions=EVERY_KIND).run(people(900, frame="pandas"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("records")
    parquet.write_table(people(900), place / "people.parquet")
    people(900, frame="pandas").to_csv(place / "people.csv", index=False)
    return place


# --- verify -----------------------------------------------------------------------------------


def test_parquet_files_give_the_record_of_a_pandas_frame(result, folder):
    found = verify(result, str(folder / "people.parquet"))
    assert found.is_same, found
    assert found.first is None
    told = [answer["sensitivity"] for answer in result.record["answers"]]
    assert sum(each["applies"] for each in told) == 4  # these were found again as well


def test_fingerprints_do_not_depend_on_the_engine(result, folder):
    import polars

    audit = study(questions=[{"ask": "group_metrics"}])
    connection = duckdb.connect()
    sources = [
        people(900),
        polars.from_arrow(people(900)),
        connection.read_parquet(str(folder / "people.parquet")),
        str(folder / "people.csv"),
    ]
    for source in sources:
        data = audit.run(source).record["data"]
        for key in ("rows", "columns", "fingerprint", "order", "groups"):
            assert data[key] == result.record["data"][key]


def test_the_order_of_rows_changes_no_fingerprint_and_is_said():
    data = people(900, frame="pandas")
    record = study().run(data).record
    found = verify(record, data.iloc[::-1])
    assert found.is_same, found
    assert any("another order" in note for note in found.notes)


@pytest.mark.parametrize("column", ["c1", "m1", "y", "score", "group"])
def test_one_changed_row_is_named(folder, column):
    data = people(900, frame="pandas")
    record = study(questions=[{"ask": "disparity"}, {"ask": "group_metrics"}]).run(data).record
    changed = data.copy()
    other = {"blue": "green", "green": "blue"}
    value = changed.loc[17, column]
    changed.loc[17, column] = other[value] if column == "group" else 1 - value
    parquet.write_table(
        people(900).from_pandas(changed, preserve_index=False), folder / "x.parquet"
    )
    found = verify(record, str(folder / "x.parquet"))
    assert not found.is_same
    assert found.first.where == f"data: columns: {column}"
    assert {each.group for each in found.differences} == {"data"}


def test_a_row_too_many_is_named():
    data = people(500)
    record = study().run(data).record
    found = verify(record, data.slice(1))
    assert str(found.first) == "data: rows: 500 before, 499 now"


def test_an_estimate_that_was_tampered_with_is_named(result, folder):
    record = copy.deepcopy(result.record)
    record["answers"][0]["effects"][1]["value"] += 1e-4
    found = verify(record, str(folder / "people.parquet"))
    (difference,) = found.differences
    assert difference.group == "estimates"
    assert difference.where == "disparity of y: green against blue: effects: direct: value"


@pytest.mark.parametrize(
    ("place", "where"),
    [
        (("effects", 0, "robustness"), "effects: direct: robustness"),
        (("benchmarks", 1, "times"), "benchmarks: direct: c2: times"),
        (("to_change_verdict",), "to_change_verdict"),
    ],
)
def test_a_bound_that_was_tampered_with_is_named(result, folder, place, where):
    record = copy.deepcopy(result.record)
    *inside, last = place
    told = record["answers"][0]["sensitivity"]
    for step in inside:
        told = told[step]
    told[last] *= 1.01
    found = verify(record, str(folder / "people.parquet"))
    (difference,) = found.differences
    assert difference.group == "estimates"
    assert difference.where == f"disparity of y: green against blue: sensitivity: {where}"


def test_a_verdict_that_was_tampered_with_is_named(result, folder):
    record = copy.deepcopy(result.record)
    record["answers"][0]["verdict"] = "satisfied"
    record["verdict"] = "satisfied"
    found = verify(record, str(folder / "people.parquet"))
    assert {each.group for each in found.differences} == {"verdicts"}


def test_another_version_is_a_note(result):
    record = copy.deepcopy(result.record)
    record["versions"]["libraries"]["numpy"] = "0.1"
    record["settings"]["questions"] = [{"ask": "group_metrics"}]
    keep = [answer for answer in record["answers"] if answer["kind"] == "group_metrics"]
    record |= {"answers": keep}
    fewer = people(900).select([*record["data"]["columns"]])
    found = verify(record, fewer)
    assert any(note.startswith("libraries: numpy: 0.1 before") for note in found.notes)


def test_data_that_does_not_fit_is_refused(result):
    with pytest.raises(AuditError, match="no column 'c1'"):
        verify(result, people(50).drop(["c1"]))


# --- diff -------------------------------------------------------------------------------------


def test_a_record_does_not_differ_from_itself(result, tmp_path):
    path = result.to_json(tmp_path / "record.json")
    again = copy.deepcopy(result.record)
    again["timings"] = {"started": "another day"}
    assert diff(result, again).is_same
    assert diff(path, str(path)).is_same
    assert str(diff(result, again)) == "No difference."
    assert read_record(path) == result.record


def test_what_changed_is_grouped(result):
    other = study(
        questions=EVERY_KIND[:4], settings={"level": 0.9}, notes=["one"]
    ).run(people(900, seed=1))  # fmt: skip
    found = diff(result, other)
    groups = found.by_group()
    changed = {group for group, each in groups.items() if each}
    assert changed >= {"data", "assumptions", "settings", "estimates"}
    assert found.first.group == "data"
    assert any(each.where == "settings: settings: level" for each in groups["settings"])
    gone = [each for each in groups["estimates"] if each.now is None]
    assert any(each.where.startswith("business necessity") for each in gone)
    assert json.loads(json.dumps(found.to_records()))


def test_another_stated_strength_is_named_and_moves_no_estimate():
    data = people(900)
    before, now = (
        study(questions=EVERY_KIND[:1], sensitivity={"outcome_share": share}).run(data)
        for share in (0.05, 0.1)
    )
    found = diff(before, now)
    wheres = [each.where for each in found.differences]
    assert "settings: sensitivity: outcome_share" in wheres
    assert "disparity of y: green against blue: sensitivity: effects: direct: bound" in wheres
    assert not any(": effects: direct: value" in where for where in wheres)
    assert not any("robustness" in where for where in wheres)
    assert found.by_group()["verdicts"] == ()


def test_numbers_have_a_tolerance(result):
    near = copy.deepcopy(result.record)
    near["answers"][0]["effects"][1]["value"] *= 1 + 1e-9
    assert diff(result, near).is_same
    near["answers"][0]["effects"][1]["value"] *= 1 + 1e-4
    assert not diff(result, near).is_same
    assert diff(result, near, tolerance=1e-2).is_same


def test_sentences_may_differ_by_a_rounded_digit_only(result):
    near = copy.deepcopy(result.record)
    near["answers"][0]["sentences"][0] = "Gap: mean y is 0.100 higher"
    far = copy.deepcopy(near)
    one, other = copy.deepcopy(near), copy.deepcopy(near)
    one["answers"][0]["sentences"][0] = "Gap: mean y is 0.101 higher"
    other["answers"][0]["sentences"][0] = "Gap: mean y is 0.103 higher"
    assert diff(near, one).is_same
    assert not diff(near, other).is_same
    far["answers"][0]["sentences"][0] = "Gap: mean y is 0.100 lower"
    assert not diff(near, far).is_same


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "is no record of an audit"),
        ("{", "is no record"),
        ('{"schema": "causalfairness.audit/99"}', "this version reads"),
        ('{"schema": "causalfairness.audit/1"}', "is no whole record: data, settings"),
        (
            '{"schema": "causalfairness.audit/1", "data": {}, "settings": {}, "versions": {}, '
            '"assumptions": [], "answers": [{}]}',
            "the title of every answer",
        ),
    ],
)
def test_what_is_no_record_is_refused(tmp_path, text, words):
    path = tmp_path / "record.json"
    path.write_text(text, "utf-8")
    with pytest.raises(RecordError, match=words):
        diff(path, path)


# --- how it is written ------------------------------------------------------------------------


def test_numbers_are_written_alike_whatever_the_last_bits():
    assert written(plain({"x": 0.1 + 0.2})) == written(plain({"x": 0.3}))
    assert written(plain([float("nan"), -0.0])) == "[\n null,\n 0.0\n]\n"


def test_the_record_names_its_data_settings_and_versions(result):
    record = result.record
    assert record["schema"] == "causalfairness.audit/1"
    assert record["data"]["groups"][0]["group"] == "blue"
    assert sum(each["people"] for each in record["data"]["groups"]) == 900
    assert record["versions"]["causalfairness"] == cf.__version__
    assert {"numpy", "scipy", "scikit-learn"} <= {*record["versions"]["libraries"]}
    assert record["roles"]["confounders"] == ["c1", "c2"]
    assert record["graph"]["text"].startswith("group <-> {c1, c2}")
    assert record["seed"] == 0
    assert record["settings"]["questions"][0]["margin"] == 0.02
