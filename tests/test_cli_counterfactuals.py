"""Does the command write the counterfactual table of the library, and fail in words that help?"""

import io
import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import causalfairness as cf
from causalfairness.cli import app

ROWS = 3_000
WORLD = cf.datasets.worlds.linear_gaussian()
GRAPH = "group <-> {c1, c2}; {group, c1, c2} -> m1; {group, c1, c2, m1} -> y"
SMALL = "{sex, rank, score} -> pay"
HEAVY = ("pandas", "polars", "matplotlib", "sklearn", "duckdb", "pyarrow", "scipy", "networkx")


def run(*words, code=0):
    done = CliRunner().invoke(app, ["counterfactuals", *map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output or "--debug" in words
    return done


def flat(text):
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


def library(data, graph, do, **settings):
    model = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(graph), data)
    return model.counterfactual(data, do=do, **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("counterfactuals")


@pytest.fixture(scope="module")
def drawn(folder):
    """A world with a column that is not in the graph, and its file."""
    data = WORLD.draw(ROWS, seed=3).append_column("id", pa.array(range(ROWS)))
    path = folder / "world.parquet"
    pyarrow.parquet.write_table(data, path)
    return data, path


@pytest.fixture(scope="module")
def everyone_blue(drawn, folder):
    out = folder / "blue.parquet"
    done = run(drawn[1], "--graph", GRAPH, "--do", "group=blue", "--out", out)
    return done, pyarrow.parquet.read_table(out)


@pytest.fixture(scope="module")
def staff(folder):
    """Pay is exactly 2 for men, plus rank, plus half the score; words, numbers, truths, colons."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M", "n:a"], 240)
    rank, score = rng.integers(1, 6, 240), rng.normal(size=240)
    table = pa.table(
        {
            "sex": sex,
            "rank": rank,
            "score": score,
            "manager": rank > 3,
            "pay": 2.0 * (sex == "M") + rank + score / 2,
            "note": ["é, ü"] * 240,
        }
    )
    path = folder / "staff.parquet"
    pyarrow.parquet.write_table(table, path)
    return table, path


def set_staff(staff, out, *do, graph=SMALL):
    words = [word for text in do for word in ("--do", text)]
    run(staff[1], "--graph", graph, *words, "--out", out)
    return pyarrow.parquet.read_table(out)


def moved(before, after):
    return np.asarray(after["pay"]) - np.asarray(before["pay"])


# --- answers --------------------------------------------------------------------------------------


def test_the_table_is_that_of_the_library(drawn, everyone_blue):
    assert everyone_blue[1].equals(library(drawn[0], GRAPH, {"group": "blue"}))


def test_the_table_is_near_the_true_counterfactual(drawn, everyone_blue):
    truth, found = WORLD.counterfactual(ROWS, seed=3, do="blue"), everyone_blue[1]
    for column in ("c1", "c2", "id"):
        assert found[column].equals(drawn[0][column])
    assert set(found["group"].to_pylist()) == {"blue"}
    # Slopes of the group have standard errors of at most 1.2 / sqrt(n p (1 - p)) = 0.045; y adds
    # the error of m1 times 0.8. Four of them.
    for column, error in (("m1", 0.045), ("y", 0.08)):
        gap = np.asarray(found[column]) - np.asarray(truth[column])
        assert np.abs(gap).max() < 4 * error


def test_with_an_arrow_cut_the_mediator_stays(folder):
    world = cf.datasets.worlds.linear_gaussian(indirect=0.0)
    path, out = folder / "cut.parquet", folder / "cut-blue.parquet"
    pyarrow.parquet.write_table(world.draw(ROWS, seed=4), path)
    run(path, "--graph", GRAPH.replace("{group, c1, c2} -> m1", "{c1, c2} -> m1"),
        "--do", "group=blue", "--out", out)  # fmt: skip
    before, after = pyarrow.parquet.read_table(path), pyarrow.parquet.read_table(out)
    assert after["m1"].equals(before["m1"])
    assert not after["y"].equals(before["y"])


def test_people_get_changes_fit_and_assumptions(drawn, everyone_blue):
    data, (done, after) = drawn[0], everyone_blue
    text = flat(done.stdout)
    green = data["group"].to_pylist().count("green")
    assert f"What would these {ROWS:,} rows be, had group been blue?" in text
    share = f"{green:,} ({green / ROWS:.1%})"
    assert f"group {share} green to blue {green:,}" in text
    for column in ("m1", "y"):
        old, new = (float(np.mean(np.asarray(table[column]))) for table in (data, after))
        assert f"{column} {share} mean {old:.4g} to {new:.4g} ({new - old:+.3g})" in text
    assert "All other columns are as they were." in text
    assert re.search(r"- m1: linear \(numbers; R2 0\.\d+, boosting R2 0\.\d+\), R2 0\.\d+", text)
    model = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(GRAPH), data)
    for assumption in model.assumptions:
        assert f"- {assumption}" in text
    assert "noise is added to a linear prediction and is the same in every world" in text
    assert "A small p says" not in text
    assert not re.search(r"\b(un)?fair(ly)?\b", text, re.IGNORECASE)
    assert "\x1b" not in done.output
    assert flat(done.stderr).endswith(f"({ROWS:,} rows)")


def test_noise_that_depends_on_its_causes_is_pointed_out(folder):
    rng = np.random.default_rng(1)
    x = rng.normal(size=1_000)
    table = pa.table({"x": x, "y": x + np.exp(x) * rng.normal(size=1_000)})
    path = folder / "spread.parquet"
    pyarrow.parquet.write_table(table, path)
    done = run(path, "--graph", "x -> y", "--do", "x=0", "--out", folder / "s.csv")
    assert "A small p says that noise still depends on the causes" in flat(done.stdout)


def test_a_value_a_mapping_and_several_columns(staff, folder):
    table, out = staff[0], folder / "out.parquet"
    sex, rank = np.asarray(table["sex"]), np.asarray(table["rank"])
    assert moved(table, set_staff(staff, out, "sex=M")) == pytest.approx(2.0 * (sex != "M"))
    assert moved(table, set_staff(staff, out, " sex = F:M ")) == pytest.approx(2.0 * (sex == "F"))
    both = set_staff(staff, out, "sex=F:M", "sex=n:a:M")
    assert moved(table, both) == pytest.approx(2.0 * (sex != "M"))
    two = set_staff(staff, out, "rank=5:1", "score=1.5")
    score = np.asarray(table["score"])
    assert moved(table, two) == pytest.approx(-4.0 * (rank == 5) + (1.5 - score) / 2)
    assert two["rank"].type == table["rank"].type


def test_a_colon_may_be_part_of_a_word(staff, folder):
    out = folder / "out.parquet"
    assert set(set_staff(staff, out, "sex=n:a")["sex"].to_pylist()) == {"n:a"}
    assert set(set_staff(staff, out, "sex=n:a:F")["sex"].to_pylist()) == {"F", "M"}


def test_truths_and_names_with_an_equals_sign(folder):
    rng = np.random.default_rng(2)
    kept = rng.random(100) < 0.5
    table = pa.table({"a=b": kept, "y": kept + rng.normal(size=100)})
    path, out = folder / "equals.parquet", folder / "equals-out.parquet"
    pyarrow.parquet.write_table(table, path)
    graph = cf.CausalGraph.from_edges([("a=b", "y")]).to_text()
    run(path, "--graph", graph, "--do", "a=b=true", "--out", out)
    assert set(pyarrow.parquet.read_table(out)["a=b"].to_pylist()) == {True}


def test_kinds_of_graphs_and_files_give_the_same(drawn, everyone_blue, folder):
    text, dot, csv = folder / "graph.txt", folder / "graph.dot", folder / "world.csv"
    text.write_text(GRAPH)
    dot.write_text(cf.CausalGraph.parse(GRAPH).to_dot())
    pyarrow.csv.write_csv(drawn[0], csv)
    out = folder / "again.parquet"
    for file, graph in ((drawn[1], text), (drawn[1], dot), (csv, GRAPH)):
        run(file, "--graph", graph, "--do", "group=blue", "--out", out)
        assert pyarrow.parquet.read_table(out).equals(everyone_blue[1])


def test_bundled_data_and_draws(folder):
    graph = "race <-> age; {race, age} -> priors_count"
    out = folder / "compas.csv"
    do = ("--do", "race=African-American:Caucasian", "--draws", "2", "--seed", "5")
    done = run("dataset:compas", "--graph", graph, *do, "--out", out)
    data = cf.datasets.load_compas()
    model = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(graph), data, seed=5)
    mapping = {"race": {"African-American": "Caucasian"}}
    expected = model.counterfactual(data, do=mapping, draws=2, seed=5)
    found = pyarrow.csv.read_csv(out)
    assert found["priors_count"].to_pylist() == expected["priors_count"].to_pylist()
    assert found["race"].to_pylist() == expected["race"].to_pylist()
    said = flat(done.stdout)
    assert "had race been Caucasian where it is African-American? (2 draws, one table" in said
    assert "race 6,350 (51.4%) African-American to Caucasian 6,350" in said
    assert "counts are coupled by quantiles" in said


def test_the_seed_decides_the_draws(folder):
    graph, bytes_of = "race <-> age; {race, age} -> priors_count", {}
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        out = folder / f"{name}.csv"
        run("dataset:compas", "--graph", graph, "--do", "race=Caucasian", "--seed", seed,
            "--out", out)  # fmt: skip
        bytes_of[name] = out.read_bytes()
    assert bytes_of["one"] == bytes_of["two"]
    assert bytes_of["one"] != bytes_of["three"]


def test_stdout_gets_the_table_and_nothing_else(staff, folder):
    words = (staff[1], "--graph", SMALL, "--do", "sex=M")
    done = run(*words, "--out", "-")
    assert pyarrow.csv.read_csv(io.BytesIO(done.stdout_bytes))["note"].to_pylist()[0] == "é, ü"
    assert "had sex been M?" in done.stderr
    assert "written:" not in done.stderr
    run(*words, "--out", folder / "same.csv")
    assert (folder / "same.csv").read_bytes() == done.stdout_bytes


def test_many_moves_between_words_are_counted(folder):
    rng = np.random.default_rng(3)
    table = pa.table({"g": rng.choice(list("abcdef"), 200), "y": rng.normal(size=200)})
    path = folder / "many.parquet"
    pyarrow.parquet.write_table(table, path)
    done = run(path, "--graph", "g -> y", "--do", "g=a", "--out", folder / "many.csv")
    assert "; 2 other moves" in flat(done.stdout)
    assert len(re.findall(r"[b-f] to a \d+", flat(done.stdout))) == 3


def test_what_is_there_is_replaced_and_nothing_is_left_behind(staff, folder):
    home = folder / "home"
    home.mkdir()
    out = home / "table.csv"
    out.write_text("old")
    run(staff[1], "--graph", SMALL, "--do", "sex=M", "--out", out)
    assert out.read_text().startswith('"sex"')
    assert [path.name for path in home.iterdir()] == ["table.csv"]


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "code", "says"),
    [
        ({"do": "sex=W"}, 3, "--do 'sex=W': column 'sex' has no value 'W'; known are 'F', 'M'"),
        ({"do": "sex=F:W"}, 3, "column 'sex' has no value 'W'"),
        ({"do": "sex=W:M"}, 3, "column 'sex' has no value 'W'"),
        ({"do": "sax=M"}, 3, "the graph has no node 'sax'; did you mean 'sex'?"),
        ({"do": "note=x"}, 3, "the graph has no node 'note'"),
        ({"do": "rank=high"}, 3, "column 'rank' holds numbers, and 'high' is not a finite one"),
        ({"do": "rank=inf"}, 3, "not a finite one"),
        ({"do": "rank=9:1"}, 3, "column 'rank' has no value 9; known are 1, 2, 3, 4, 5"),
        ({"do": "rank=false:1"}, 3, "column 'rank' has no value false"),
        ({"do": "rank=1:2:3"}, 3, "'2:3' is not a finite one"),
        ({"do": "rank=1.5"}, 3, "holds integers"),
        ({"do": "manager=2", "graph": "manager -> pay"}, 3, "has no value 2; known are 0, 1"),
        ({"do": "sex"}, 2, "expected COLUMN=VALUE"),
        ({"do": "=M"}, 2, "expected COLUMN=VALUE"),
        ({"graph": "sex -> pai"}, 3, "the data has no column 'pai'; did you mean 'pay'?"),
        ({"graph": "sex <-> pay; sex -> pay"}, 3, "sex <-> pay: a hidden common cause"),
        ({"graph": "sex -> sex"}, 3, "cycle"),
        ({"graph": "graph.dot"}, 3, "neither a file nor a graph"),
        ({"out": "table.xlsx"}, 2, "ends in '.xlsx'; expected .parquet, .pq, .csv"),
        ({"out": "nowhere/table.csv"}, 2, "no folder 'nowhere'"),
        ({"file": "nowhere.csv"}, 3, "no file matches 'nowhere.csv'"),
        ({"file": "dataset:compass"}, 3, "there are adult, compas"),
        ({"file": "dataset:adult", "graph": "occupation -> income"}, 3, "missing values"),
    ],
)
def test_a_mistake_is_explained(staff, folder, changed, code, says):
    asked = {"file": staff[1], "graph": SMALL, "do": "sex=M", "out": folder / "no.csv"} | changed
    if asked["graph"] == "occupation -> income":
        asked["do"] = "occupation=Sales"
    done = run(asked["file"], "--graph", asked["graph"], "--do", asked["do"], "--out",
               asked["out"], code=code)  # fmt: skip
    assert done.stdout == ""
    assert says in flat(done.stderr)
    assert not (folder / "no.csv").exists()


@pytest.mark.parametrize(
    "pair", [("sex=M", "sex=F"), ("sex=M", "sex=F:M"), ("sex=F:M", "sex=M"), ("sex=F:M", "sex=F:F")]
)
def test_a_column_is_set_once(staff, folder, pair):
    words = [word for text in pair for word in ("--do", text)]
    done = run(staff[1], "--graph", SMALL, *words, "--out", folder / "no.csv", code=2)
    assert "'sex' is set twice" in flat(done.stderr)


def test_a_word_that_can_be_read_in_two_ways_is_refused(folder):
    table = pa.table({"t": ["a", "b:c", "a:b", "c"] * 10, "y": [1.0, 2.0, 3.0, 4.0] * 10})
    path = folder / "ways.parquet"
    pyarrow.parquet.write_table(table, path)
    done = run(path, "--graph", "t -> y", "--do", "t=a:b:c", "--out", "-", code=3)
    assert "can be read as 'a' to 'b:c' or as 'a:b' to 'c'" in flat(done.stderr)


def test_graph_do_and_out_must_be_given(staff):
    whole = {"--graph": SMALL, "--do": "sex=M", "--out": "-"}
    for left_out in whole:
        words = [word for name in whole.keys() - {left_out} for word in (name, whole[name])]
        assert f"Missing option '{left_out}'" in flat(run(staff[1], *words, code=2).stderr)


@pytest.mark.parametrize("pattern", ["staff.parquet", "st*f.parquet"])
def test_the_data_are_never_written_over(staff, folder, pattern):
    before = staff[1].read_bytes()
    done = run(folder / pattern, "--graph", SMALL, "--do", "sex=M", "--out", staff[1], code=2)
    assert "holds the data; name another file" in flat(done.stderr)
    assert staff[1].read_bytes() == before


def test_a_table_that_csv_cannot_hold_is_explained(staff, folder):
    path, out = folder / "nested.parquet", folder / "nested.csv"
    table = staff[0].append_column("tags", pa.array([[1, 2]] * 240))
    pyarrow.parquet.write_table(table, path)
    words = (path, "--graph", SMALL, "--do", "sex=M", "--out")
    assert "write a .parquet file" in flat(run(*words, out, code=3).stderr)
    assert not list(folder.glob("*nested.csv*"))
    run(*words, folder / "nested-out.parquet")
    assert pyarrow.parquet.read_table(folder / "nested-out.parquet")["tags"].equals(table["tags"])


def test_a_place_that_cannot_be_written_is_explained(staff, folder):
    (folder / "taken.csv").mkdir()
    words = (staff[1], "--graph", SMALL, "--do", "sex=M", "--out", folder / "taken.csv")
    assert "taken.csv" in run(*words, code=3).stderr
    assert not list(folder.glob(".taken*"))


def test_a_defect_is_admitted(staff, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("causalfairness.scm.StructuralCausalModel.fit", broken)
    words = (staff[1], "--graph", SMALL, "--do", "sex=M", "--out", "-")
    assert "defect of the program: ZeroDivisionError" in run(*words, code=70).stderr
    assert "Traceback" in run(*words, "--debug", code=70).stderr


def test_hostile_names_do_not_reach_the_terminal(folder):
    red, name = "\x1b[31mred\x1b[0m [bold]x[/bold]", "a\x1b[32m"
    table = pa.table({name: [red, "blue"] * 20, "y": np.random.default_rng(4).normal(size=40)})
    path, graph = folder / "hostile.parquet", folder / "hostile.txt"
    pyarrow.parquet.write_table(table, path)
    graph.write_text(cf.CausalGraph.from_edges([(name, "y")]).to_text())
    done = run(path, "--graph", graph, "--do", f"{name}=blue", "--out", folder / "h.parquet")
    assert "\x1b" not in done.output
    assert "- a\\x1b[32m: as observed" in flat(done.stdout)
    assert "\\x1b[31mred\\x1b[0m [bold]x[/bold] to blue 20" in flat(done.stdout)
    wrong = run(path, "--graph", graph, "--do", f"{name}=green", "--out", "-", code=3)
    assert "\x1b" not in wrong.output


# --- the program ----------------------------------------------------------------------------------


def test_help_shows_examples_and_is_light():
    assert "causalfairness counterfactuals dataset:compas" in flat(run("--help").stdout)
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom causalfairness.cli import app\n"
        "assert CliRunner().invoke(app, ['counterfactuals', '-h']).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_pipe_gets_the_same_letters_whatever_the_terminal(staff):
    words = ("counterfactuals", staff[1], "--graph", SMALL, "--do", "sex=M", "--out", "-")
    command = [sys.executable, "-W", "error", "-m", "causalfairness.cli", *map(str, words)]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "é, ü".encode() in done.stdout
