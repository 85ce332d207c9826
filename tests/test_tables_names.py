"""Names are data: whatever a column is called, it is that column, or refused by name."""

import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import causalfairness as cf
from causalfairness.errors import RoleError, SourceError
from causalfairness.tables import add_column, open_table
from causalfairness.tables.columns import column_of
from forms import assert_same_cells, cells_of, every_form, in_memory_and_lazy, lending, loans

PLAIN = (
    loans(120)
    .assign(w=lambda d: 1 + d.m / 4, score=lambda d: 0.2 + 0.5 * d.m, q=7, Group=lambda d: d.c)
    .drop(columns="Group")
)
COLUMNS = ("group", "c", "m", "y", "w", "score")
HOSTILE = {
    "patterns": ("^q$", "^m$", "^.*$", "q", "^(?i)y$", "**"),
    "quotes": ('"', "'", '""', "`", '"a"."b"', "a'b"),
    "braces": ("{", "{0}", "%(a)s", "[c]", "${x}", "}"),
    "white space": ("a\nb", "a\r\nb", "a\tb", " y", "y ", "  "),
    "inner names": ("key0", "number of rows", "y0", "w", "rows", "sum_wy0"),
    "other inner names": ("key1", "y1", "wy0", "has_y0", "values", "exact_w1"),
    "words of SQL": ("select", "from", "where", "null", "rowid", "count(*)"),
    "unicode": ("Straße", "日本語", "🙂", "e\u0301", "\u202e", "ﬁ"),
    "words of Python": ("index", "columns", "level_0", "literal", "len", "None"),
    "commas": ("a,b", "a;b", "a|b", "a:b", "#c", "-- d"),
}


def renamed(frame, names):
    new = dict(zip(COLUMNS, names, strict=True))
    model = lending(
        protected=new["group"],
        confounders=[new["c"]],
        mediators=[new["m"]],
        outcome=new["y"],
        weights=new["w"],
        prediction=new["score"],
    )
    rest = [name for name in ("q",) if name not in names]
    return frame[[*COLUMNS, *rest]].rename(columns=new), model


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_column_is_what_it_is_called_on_every_engine(kind, tmp_path):
    expected_frame, plain = renamed(PLAIN, COLUMNS)
    expected = cf.decompose_disparity(expected_frame, plain)
    rows = open_table(expected_frame).rows(plain, "outcome")
    people = open_table(expected_frame).people(plain)
    frame, model = renamed(PLAIN, HOSTILE[kind])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    (confounder,), (mediator,) = model.confounders, model.mediators
    prints = set()
    for name, data in every_form(table, tmp_path, csv=kind not in ("white space",)).items():
        found = cf.decompose_disparity(data, model)
        for effect, same in zip(found.table(), expected.table(), strict=True):
            assert effect.value == pytest.approx(same.value, abs=1e-12), (name, effect.name)
        opened = open_table(data)
        read = opened.rows(model, "outcome")
        assert sorted(read.outcome) == sorted(rows.outcome), name
        assert read.pair(model).features(1) is not None
        assert opened.people(model) == people, name
        assert opened.value_counts((confounder, mediator)) == {confounder: 2, mediator: 2}, name
        assert opened.values(mediator) == (0.0, 1.0), name
        assert opened.coarsened({mediator: [0]})[0].values(mediator) == ("above 0", "up to 0")
        assert opened.with_indicator("is 1", mediator, 1).values("is 1") == (0.0, 1.0), name
        prints.add((opened.cells_of_both(model)[0].fingerprint, read.identity.fingerprint))
    assert len(prints) == 1


def test_spaces_around_names_of_csv_files_are_no_part_of_them(tmp_path):
    PLAIN.rename(columns={"y": " y "}).to_csv(tmp_path / "a.csv", index=False)
    assert_same_cells(cells_of(tmp_path / "a.csv", lending()), cells_of(PLAIN, lending()))
    PLAIN.assign(**{" y": 1}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(SourceError, match="column 'y' is also called 'y' to some engines"):
        open_table(tmp_path / "b.csv")


@pytest.mark.parametrize("twin", ["Y", "GROUP", "Q"])
def test_names_that_differ_in_capital_letters_only_are_refused_on_every_engine(twin, tmp_path):
    """DuckDB takes them for one column, and adds the parts of both up."""
    one = PLAIN.columns[[*PLAIN.columns].index(twin.lower())]
    wide = PLAIN.assign(**{twin: 1 - PLAIN.m})
    forms = {"pandas": wide, "polars": pl.from_pandas(wide), "pyarrow": pa.table(dict(wide))}
    forms["lazy polars"] = forms["polars"].lazy()
    forms["duckdb relation"] = duckdb.sql(f'select 1 as "{one}", 2 as "{twin}"')
    for part, rows in enumerate((PLAIN.iloc[:50], PLAIN.iloc[50:].rename(columns={one: twin}))):
        rows.to_csv(tmp_path / f"part-{part}.csv", index=False)
        rows.to_parquet(tmp_path / f"part-{part}.parquet")
    wide.to_csv(tmp_path / "whole.csv", index=False)
    wide.to_csv(tmp_path / "whole.csv.gz", index=False, sep=";")
    pq.write_table(forms["pyarrow"], tmp_path / "whole.parquet")
    for name in ("part-*.csv", "part-*.parquet", "whole.csv", "whole.csv.gz", "whole.parquet"):
        forms[name] = tmp_path / name
    for name, data in forms.items():
        with pytest.raises(SourceError, match=r"is also called '.*' to some engines") as caught:
            cf.decompose_disparity(data, lending())
        assert repr(one) in str(caught.value), name
        assert repr(twin) in str(caught.value), name
    graph = cf.CausalGraph.parse("group -> y")
    with pytest.raises(SourceError, match="is also called"):
        cf.FairAdapter(graph, protected="group", reference="a").fit(wide)


def test_a_star_is_a_name_where_the_engine_lets_it_be_one(tmp_path):
    frame, expected = PLAIN.rename(columns={"m": "*"}), cf.decompose_disparity(PLAIN, lending())
    model = lending(mediators=["*"])
    for name, data in in_memory_and_lazy(frame).items():
        if name == "duckdb relation":
            with pytest.raises(SourceError, match="DuckDB takes the column called '\\*' for all"):
                cf.decompose_disparity(data, model)
            assert cf.decompose_disparity(data, lending(mediators=[])).direct.value
        else:
            assert cf.decompose_disparity(data, model).direct.value == expected.direct.value, name


def test_two_columns_of_one_name_in_a_file_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("group,c,m,y,y\na,1,1,0,1\nb,1,1,1,0\n")
    pq.write_table(pa.table([["a"], [1], [2]], ["group", "y", "y"]), tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(SourceError, match="column 'y' is also called 'y'"):
            open_table(tmp_path / name)
    with pytest.raises(SourceError, match="'y'"):
        open_table(duckdb.sql("select 1 as y, 2 as y"))


def test_a_name_with_nul_is_refused_on_every_engine():
    frame = PLAIN.rename(columns={"m": "m\0x"})
    forms = {"pandas": frame, "polars": pl.DataFrame({"a": [1], "m\0x": [2]})}
    forms["lazy polars"] = forms["polars"].lazy()
    forms["pyarrow"] = pa.table({"m\0x": [1]})
    for name, data in forms.items():
        with pytest.raises(SourceError, match=r"column 'm\\x00x' ends at the character NUL"):
            cf.decompose_disparity(data, lending())
        assert name
    assert column_of(open_table(PLAIN).frame["m"].alias("m\0x")).levels().values == (0.0, 1.0)


def test_columns_that_are_added_take_no_name_that_is_there():
    frame, called = add_column(pa.table({"Outcome": [1], "outcome_": [2]}), [3], name="outcome")
    assert called == "outcome__"
    assert open_table(frame).values(called) == (3.0,)
    x = PLAIN[["group", "c", "m"]].rename(columns={"c": "Outcome"})
    found = cf.CausalFairnessDecomposition(
        x,
        PLAIN.y.to_numpy(),
        protected="group",
        reference="a",
        comparison="b",
        confounders=["Outcome"],
        mediators=["m"],
    )
    total = found.analyse_mean_difference().total.value
    assert total == cf.decompose_disparity(PLAIN, lending()).total.value


def test_empty_names_and_numbers_for_names_disturb_nobody(tmp_path):
    frame = PLAIN.assign(**{"": 1})
    expected = cells_of(PLAIN, lending())
    forms = {"pandas": frame, "polars": pl.from_pandas(frame), "pyarrow": pa.table(dict(frame))}
    forms["lazy polars"] = forms["polars"].lazy()
    forms["numbered"] = PLAIN.assign(**{"x": 1}).rename(columns={"x": 1})
    frame.to_csv(tmp_path / "a.csv", index=False)
    forms["csv"] = tmp_path / "a.csv"
    for name, data in forms.items():
        assert_same_cells(cells_of(data, lending()), expected), name


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv"])
def test_a_file_with_very_many_columns_is_refused_at_once(suffix, tmp_path):
    path, separator = tmp_path / f"wide.{suffix}", "\t" if suffix == "tsv" else ","
    wide = pd.DataFrame(np.zeros((2, 100_000), dtype=np.int8)).add_prefix("c")
    text = separator.join(wide.columns) + "\n" + separator.join(["0"] * 100_000) + "\n"
    if suffix == "csv.gz":
        import gzip

        path.write_bytes(gzip.compress(text.encode(), 1))
    else:
        path.write_text(text)
    begun = time.process_time()
    with pytest.raises(SourceError, match="has 100,000 columns or more, and at most 10,000 of a"):
        open_table(path)
    assert time.process_time() - begun < 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"weights": np.ones(120)}, "weights holds .*; expected the name of a column"),
        ({"weights": PLAIN.w}, "weights holds .*; expected the name of a column"),
        ({"outcome": PLAIN.y}, "outcome holds .*; expected the name of a column"),
        ({"protected": PLAIN.group}, "protected holds values"),
        ({"protected": PLAIN.group.to_numpy()}, "protected holds values"),
        ({"protected": pl.Series("group", ["a", "b"])}, "protected holds values"),
        ({"confounders": PLAIN.c}, "confounders holds values"),
        ({"confounders": pa.array(["a"])}, "confounders names the column <pyarrow.StringScalar"),
    ],
)
def test_values_in_place_of_names_of_columns_are_refused(settings, said):
    with pytest.raises(RoleError, match=said):
        lending(**settings)
    assert lending(confounders=PLAIN.columns[1:2], mediators=np.array(["m"])).confounders == ("c",)
