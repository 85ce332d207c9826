"""The door: what may come in, what is turned away, and what is said about it."""

import gc
import gzip
import weakref

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import causalfairness as cf
from causalfairness.errors import (
    CausalFairnessError,
    ColumnNotFoundError,
    ColumnTypeError,
    MissingValuesError,
    SourceError,
)
from causalfairness.tables import open_table, source
from causalfairness.tables.source import collect, open_frame
from forms import in_memory_and_lazy, lending, loans


def total(data, model=None, **options):
    return cf.decompose_disparity(data, model or lending(), **options).total.value


EXPECTED = total(loans())


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "separator"),
    [("a.csv", ","), ("A.CSV", ","), ("a.tsv", "\t"), ("a.txt", ";"), ("a.tsv.gz", "\t")],
)
def test_text_files_are_read_whatever_separates_their_columns(name, separator, tmp_path):
    loans().to_csv(tmp_path / name, sep=separator, index=False)
    assert total(tmp_path / name) == EXPECTED
    assert total(str(tmp_path / name)) == EXPECTED


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a.PARQUET"])
def test_parquet_files_are_read(name, tmp_path):
    loans().to_parquet(tmp_path / name)
    assert total(tmp_path / name) == EXPECTED


def test_a_pattern_finds_files_in_folders_below(tmp_path):
    for part, rows in enumerate(np.array_split(np.arange(400), 3)):
        folder = tmp_path / f"region={part}" / "deeper"
        folder.mkdir(parents=True)
        loans().iloc[rows].to_parquet(folder / "rows.parquet")
    (tmp_path / "region=0" / "empty.parquet").mkdir()  # a folder of that name is no file
    assert total(tmp_path / "**" / "*.parquet") == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["data[1]", "a*b", "what?", "[[]", "{x,y}", "a b'c"])
def test_a_file_whose_name_looks_like_a_pattern_is_that_file(name, suffix, tmp_path):
    decoys = ("data1", "axb", "whatx", "[", "x", "y", "abc")
    for place in (name, *decoys):
        frame = loans(seed=0 if place == name else 9)
        path = tmp_path / f"{place}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    assert total(loans(seed=9)) != EXPECTED
    assert total(tmp_path / f"{name}.{suffix}") == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_engine_that_reads_a_file_lives_as_long_as_what_is_read(suffix, tmp_path, monkeypatch):
    """Before DuckDB 1.5 a relation outlives its connection, and then cannot be read."""
    alive, connect = [], duckdb.connect

    class Connection:
        def __init__(self):
            self.engine = connect()
            alive.append(weakref.ref(self))

        def __getattr__(self, name):
            return getattr(self.engine, name)

    monkeypatch.setattr(duckdb, "connect", Connection)
    source._connection.cache_clear()
    try:
        frame = open_frame(str(write_parts(tmp_path, [loans()], suffix))).select("y")
        gc.collect()
        assert [each() is not None for each in alive] == [True]
        assert collect(frame)["y"].sum() == loans()["y"].sum()
    finally:
        source._connection.cache_clear()


def write_parts(folder, parts, suffix):
    for number, part in enumerate(parts):
        path = folder / f"part-{number}.{suffix}"
        part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path)
    return folder / f"part-*.{suffix}"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_several_files_meet_by_name_not_by_position(suffix, tmp_path):
    frame = loans()
    parts = [frame.iloc[:150], frame.iloc[150:][["y", "m", "group", "c"]]]
    assert total(write_parts(tmp_path, parts, suffix)) == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_numbers_of_several_files_keep_their_fractions(suffix, tmp_path):
    frame = loans().assign(y=lambda d: d.y + 0.0)
    frame.loc[200:, "y"] += 0.4
    parts = [frame.iloc[:200].astype({"y": int}), frame.iloc[200:]]
    assert total(write_parts(tmp_path, parts, suffix)) == pytest.approx(total(frame), abs=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_that_one_of_the_files_lacks_is_missing_there(suffix, tmp_path):
    parts = [loans().iloc[:150], loans().iloc[150:].drop(columns="c")]
    with pytest.raises(MissingValuesError, match="'c': 250"):
        total(write_parts(tmp_path, parts, suffix))


@pytest.mark.parametrize("words", [("no", "yes"), ("f", "t"), ("False", "True"), ("N", "Y")])
def test_words_that_mean_true_or_false_stay_words_in_csv_files(words, tmp_path):
    frame = loans().assign(y=lambda d: d.y.map(dict(enumerate(words))))
    frame.to_csv(tmp_path / "words.csv", index=False)
    truths = words == ("False", "True")
    model = lending(outcome_value=True if truths else words[1])
    assert total(tmp_path / "words.csv", model) == EXPECTED
    if truths:
        assert total(tmp_path / "words.csv", lending()) == EXPECTED
    else:
        assert total(frame, model) == EXPECTED


def test_a_weight_that_is_true_or_false_counts_rows_or_not(tmp_path):
    frame = loans().assign(w=lambda d: d.index % 3 > 0)
    frame.to_csv(tmp_path / "truths.csv", index=False)
    expected = total(frame[frame.w])
    for data in (*in_memory_and_lazy(frame).values(), tmp_path / "truths.csv"):
        assert total(data, lending(weights="w")) == pytest.approx(expected, abs=1e-12)


def test_true_and_false_in_a_relation_of_a_csv_file_are_numbers(tmp_path):
    """The engine hands a cast on to its CSV reader, which cannot read false as a number."""
    frame = loans().assign(y=lambda d: d.y == 1, w=True)
    frame.to_csv(tmp_path / "truths.csv", index=False)
    connection = duckdb.connect()
    for model in (lending(), lending(outcome_value=True), lending(weights="w")):
        relation = connection.read_csv(str(tmp_path / "truths.csv"))
        assert total(relation, model) == EXPECTED


def test_only_columns_with_a_role_are_read_from_where_the_data_lives(tmp_path):
    frame = loans().assign(notes=[[1]] * 400)
    frame.to_parquet(tmp_path / "a.parquet")
    assert total(tmp_path / "a.parquet") == EXPECTED
    relation = duckdb.sql(
        "select 'a' as \"group\", 1 as c, 1 as m, range % 2 as y, error('was read') as trap "
        "from range(10) union all select 'b', 1, 1, range % 3, error('was read') from range(9)"
    )
    assert total(relation) == pytest.approx(1 - 0.5)
    assert open_table(relation).rows(lending(), "outcome").pair(lending()).group.sum() == 9


# --- files that cannot be read -------------------------------------------------------------------


def refused(data, match, error=SourceError):
    with pytest.raises(error, match=match):
        total(data)


def test_a_missing_file_is_refused_with_the_nearest_name(tmp_path):
    loans().to_csv(tmp_path / "applicants.csv", index=False)
    refused(tmp_path / "aplicants.csv", r"no file matches .*; did you mean 'applicants.csv'\?")
    refused(tmp_path / "zzz.parquet", r"no file matches '.*zzz.parquet'$")
    refused(tmp_path / "*.pq", r"no file matches '.*\*.pq'")
    refused(tmp_path / "nowhere" / "a.csv", r"there is no folder '.*nowhere'")


def test_a_folder_an_unknown_kind_and_a_mixture_are_refused(tmp_path):
    refused(tmp_path, "is a folder; name the files in it")
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    refused(
        tmp_path / "a.xlsx", r"'.*a.xlsx' is of no known kind; expected one of .csv, .*.parquet"
    )
    (tmp_path / "a.xlsx").unlink()
    loans().to_csv(tmp_path / "a.csv", index=False)
    loans().to_parquet(tmp_path / "a.parquet")
    refused(tmp_path / "a.*", "matches both CSV and Parquet files")


def test_damaged_files_are_refused_in_the_library_s_own_words(tmp_path):
    (tmp_path / "empty.csv").touch()
    refused(tmp_path / "empty.csv", r"'.*empty.csv' is empty")
    (tmp_path / "words.parquet").write_text("certainly not Parquet, but long enough")
    refused(tmp_path / "words.parquet", r"words.parquet' cannot be read: .*magic bytes")
    loans().to_parquet(tmp_path / "good.parquet")
    refused(tmp_path / "*.parquet", "cannot be read: .*magic bytes")
    content = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "holes.parquet").write_bytes(content[:60] + bytes(200) + content[260:])
    refused(tmp_path / "holes.parquet", "could not be read")
    (tmp_path / "short.parquet").write_bytes(content[:300])
    refused(tmp_path / "short.parquet", "cannot be read")
    (tmp_path / "text.csv.gz").write_text("group,c,m,y\na,1,1,1\n")
    refused(tmp_path / "text.csv.gz", "cannot be read")
    zipped = gzip.compress(loans().to_csv(index=False).encode())
    (tmp_path / "half.csv.gz").write_bytes(zipped[: len(zipped) // 2])
    refused(tmp_path / "half.csv.gz", "read")
    (tmp_path / "latin.csv").write_bytes("group,c,m,y\né,1,1,1\n".encode("latin-1") * 5)
    refused(tmp_path / "latin.csv", "not utf-8 encoded")
    ragged = loans(30_000).to_csv(index=False) + "b,1,0\n"
    (tmp_path / "ragged.csv").write_text(ragged)
    refused(tmp_path / "ragged.csv", "Expected Number of Columns: 4 Found: 3")


def test_a_column_that_changes_its_type_further_down_is_refused_with_advice(tmp_path):
    rows = ["a,0,0,0\n", "b,0,0,1\n"] * 15_000 + ["b,0,0,unknown\n"]
    (tmp_path / "late.csv").write_text("group,c,m,y\n" + "".join(rows))
    for estimator in (None, cf.estimators.DoublyRobust()):
        with pytest.raises(SourceError, match="convert the file to Parquet") as found:
            total(tmp_path / "late.csv", estimator=estimator)
        assert "unknown" not in str(found.value)
        assert any("unknown" in note for note in found.value.__notes__)


def test_a_source_that_has_gone_is_refused(tmp_path):
    refused(pl.scan_parquet(tmp_path / "gone.parquet"), "could not be read: No such file")
    refused(pl.scan_csv(tmp_path / "gone.csv"), "could not be read: No such file")
    connection = duckdb.connect()
    relation = connection.from_df(loans())
    connection.execute("create table people as select * from relation")
    people = connection.table("people")
    connection.execute("drop table people")
    refused(people, "could not be read: .*people")
    connection.close()
    refused(relation, "could not be read: .*closed")
    loans().to_parquet(tmp_path / "a.parquet")
    table = open_table(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(SourceError, match=r"a\.parquet"):
        table.cells(lending(), "outcome")


# --- tables that cannot be understood ------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        [1, 2],
        {"group": ["a"]},
        np.ones((2, 2)),
        None,
        7,
        b"people.csv",
        pd.Series([1], name="y"),
        pl.Series("y", [1]),
        iter([1]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_table_is_refused_by_its_type(data):
    refused(data, rf"found a {type(data).__name__}; expected a pandas, polars or pyarrow table")


def test_two_columns_of_one_name_are_refused():
    twice = pd.DataFrame([["a", 1, 1, 0, 1]], columns=["group", "c", "m", "y", "y"])
    refused(twice, r"two columns of the same name: (?s:.*)'y' 2 times")
    refused(pa.table([["a"], [1], [2]], ["group", "y", "y"]), "two columns of the same name")


def test_an_unknown_column_is_refused_with_the_nearest_name():
    for name, data in in_memory_and_lazy(loans().rename(columns={"y": "approved"})).items():
        with pytest.raises(ColumnNotFoundError) as caught:
            total(data, lending(outcome="aproved"))
        said = "the data has no column 'aproved'; did you mean 'approved'?"
        assert str(caught.value) == said, name
        with pytest.raises(ColumnNotFoundError, match=r"it has 'group', 'c', 'm', 'approved'$"):
            total(data, lending(outcome="zzz"))
    with pytest.raises(ColumnNotFoundError, match="it has 0, 1"):
        total(pd.DataFrame({0: ["a"], 1: [1]}))
    with pytest.raises(ColumnNotFoundError, match="no columns at all"):
        total(pd.DataFrame())


NESTED = {
    "list": [[1], [2], [1], [3]],
    "struct": [{"u": 1}, {"u": 2}, {"u": 1}, {"u": 3}],
    "binary": [b"a", b"b", b"a", b"c"],
}


@pytest.mark.parametrize("role", ["group", "c", "y", "w"])
@pytest.mark.parametrize("kind", NESTED)
def test_columns_of_nested_values_are_refused_whatever_their_role(kind, role):
    table = pa.table({"group": list("abab"), "c": [1, 1, 2, 2], "y": [0, 1, 1, 0], "w": [1.0] * 4})
    table = table.set_column(table.column_names.index(role), role, pa.array(NESTED[kind]))
    model = lending(mediators=[], weights="w")
    for data in (
        table,
        table.to_pandas(),
        pl.from_arrow(table),
        pl.from_arrow(table).lazy(),
        duckdb.from_arrow(table),
    ):
        for ask in (cf.decompose_disparity, cf.compare_groups):
            with pytest.raises(CausalFairnessError, match=f"'{role}'"):
                ask(data, model)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([1, "a", 2, "b"], "cannot be read"),
        ([object()] * 4, "cannot be read"),
        ([10**30, 1, 2, 3], "cannot be read"),
        ([1j] * 4, "cannot be read"),
        (pd.to_timedelta([1, 2, 3, 4], "D"), "has type duration"),
    ],
    ids=["mixed", "objects", "huge", "complex", "durations"],
)
def test_columns_of_no_known_kind_are_refused(values, why):
    frame = pd.DataFrame({"group": list("abab"), "c": values, "y": [0, 1, 1, 0]})
    said = rf"column 'c' {why}.*; expected numbers, booleans, strings, categories or dates"
    with pytest.raises(ColumnTypeError, match=said):
        total(frame, lending(mediators=[]))


def test_intervals_of_time_in_a_database_are_refused():
    relation = duckdb.sql(
        "select 'a' as \"group\", interval 1 day as c, 1 as y union all select 'b', "
        "interval 2 day, 0"
    )
    with pytest.raises(ColumnTypeError, match=r"column 'c' has type .*interval"):
        total(relation, lending(mediators=[]))


def test_parquet_columns_of_every_width_are_numbers(tmp_path):
    frame = loans()
    kinds = [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(21, 2), pa.bool_()]
    for kind in kinds:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        by_way_of = pa.float32() if kind == pa.float16() else pa.int64()
        table = table.set_column(3, "y", table["y"].cast(by_way_of).cast(kind))
        pq.write_table(table, tmp_path / "a.parquet")
        assert total(tmp_path / "a.parquet") == pytest.approx(EXPECTED, abs=1e-12), kind
        assert total(table) == pytest.approx(EXPECTED, abs=1e-12), kind


def test_a_value_that_is_no_number_is_a_note_and_no_query_is_shown(tmp_path):
    (tmp_path / "w.csv").write_text("sex,ssn\nF,454492203-x\nM,1\n")
    lazy = pl.scan_csv(tmp_path / "w.csv", infer_schema=False)
    eager = pl.read_csv(tmp_path / "w.csv", infer_schema=False)
    for data in (str(tmp_path / "w.csv"), lazy, eager):
        with pytest.raises(cf.errors.ColumnTypeError) as found:
            cf.Table(data, numeric=["ssn"]).frame  # noqa: B018
        said = str(found.value)
        assert "column 'ssn' holds text that is no number" in said
        assert "454492203" not in said
        assert "CAST" not in said
        assert any("454492203-x" in note for note in found.value.__notes__)
