"""Does the command line say what the library says, and fail in words that help?"""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import causalfairness as cf
from causalfairness.cli import app

PROJECT = Path(__file__).resolve().parents[1]
HEAVY = ("pandas", "polars", "matplotlib", "sklearn", "duckdb", "pyarrow", "scipy", "networkx")
COMPAS = (
    *("decompose", "dataset:compas", "--protected", "race", "--reference", "Caucasian"),
    *("--outcome", "two_year_recid"),
)
PAIR = (*COMPAS, "--comparison", "African-American", "--mediators", "c_charge_degree")
MODEL = cf.StandardFairnessModel(
    protected="race",
    reference="Caucasian",
    comparison="African-American",
    mediators=["c_charge_degree"],
    outcome="two_year_recid",
)


def run(*words, code=0, env=None):
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "100", **(env or {})})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output or "--debug" in words
    return done


def told(*words):
    return json.loads(run(*words, "--json").stdout)


def values(summary):
    return {row["name"]: row["value"] for row in summary["table"]}


def process(*words, **more):
    env = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    command = [sys.executable, "-W", "error", "-m", "causalfairness.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, **more)


@pytest.fixture(scope="module")
def found():
    return cf.decompose_disparity(cf.datasets.load_compas(), MODEL)


@pytest.fixture
def people(tmp_path):
    """Numbers as groups, words with commas, a weight, a label and a score."""
    world = cf.datasets.worlds.binary().draw(600, seed=1)
    group = [int(word == world["group"][0].as_py()) for word in world["group"].to_pylist()]
    label = ["yes, paid" if y else "no" for y in world["y"].to_pylist()]
    table = pyarrow.table(
        {
            "member": group,
            "sex": ["M" if at % 3 else "F" for at in range(600)],
            "a, b": [at % 2 for at in range(600)],
            "paid": label,
            "score": [0.5 + 0.4 * one for one in group],
            "weight": [1.0 + at % 2 for at in range(600)],
        }
    )
    path = tmp_path / "people.csv"
    pyarrow.csv.write_csv(table, path)
    return path


# --- answers --------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_library(found):
    summary = told(*PAIR)
    for part in ("total", "direct", "indirect", "spurious"):
        assert values(summary)[part] == pytest.approx(getattr(found, part).value, abs=1e-12)
    assert summary["schema"] == "causalfairness.report/1"
    assert summary["provenance"]["source"] == "dataset:compas"


def test_people_get_a_table_sentences_and_assumptions(found):
    text = run(*PAIR).stdout
    for effect in found.summary():
        assert re.search(rf"{effect.name} +[+]?{effect.value:.4f} ", text)
    words = " ".join(text.split())
    for sentence in found.sentences():
        assert sentence in words
    assert "chosen because every mediator" in words
    assert "True only if - no hidden common cause" in words
    assert "\x1b" not in text
    assert not re.search(r"\b(un)?fair(ly)?\b", text, re.IGNORECASE)


def test_lists_and_repeated_options_are_the_same(people):
    base = ("decompose", people, "--protected", "member", "--reference", "0")
    base = (*base, "--outcome", "paid", "--outcome-value", "yes, paid")
    one = told(*base, "--mediators", 'sex,"a, b"')
    two = told(*base, "--mediators", "sex", "--mediators", '"a, b"')
    assert one == two
    assert one["roles"][2]["text"]["text"].startswith("sex, a, b")


def test_a_value_is_matched_to_its_column(people):
    base = ("decompose", people, "--protected", "member", "--outcome", "paid")
    base = (*base, "--outcome-value", "yes, paid", "--comparison", "1")
    assert told(*base, "--reference", "0") == told(*base, "--reference", "false")
    summary = told(*base, "--reference", "0.0")
    assert summary["findings"][0]["reference"] == "0"


def test_several_protected_columns_take_tuples():
    words = ("decompose", "dataset:compas", "--protected", "race,sex", "--outcome")
    words = (*words, "two_year_recid", "--mediators", "c_charge_degree")
    summary = told(
        *words, "--reference", "Caucasian, Male", "--comparison", "African-American,Male"
    )
    model = cf.StandardFairnessModel(
        protected=["race", "sex"],
        reference=("Caucasian", "Male"),
        comparison=("African-American", "Male"),
        mediators=["c_charge_degree"],
        outcome="two_year_recid",
    )
    expected = cf.decompose_disparity(cf.datasets.load_compas(), model)
    assert values(summary)["direct"] == pytest.approx(expected.direct.value, abs=1e-12)


def test_without_a_comparison_it_is_everyone_else_or_each_group():
    rest = told(*COMPAS, "--mediators", "sex")
    assert rest["findings"][0]["comparison"] == "everyone else"
    each = told(*COMPAS, "--mediators", "sex", "--each-group")
    assert each["kind"] == "group comparison"
    assert {row["group"] for row in each["table"]} >= {"African-American", "Hispanic"}


def test_a_graph_replaces_roles(tmp_path, found):
    text = "race -> {c_charge_degree, two_year_recid}; c_charge_degree -> two_year_recid"
    file, dot = tmp_path / "graph.txt", tmp_path / "graph.dot"
    file.write_text(text)
    dot.write_text(cf.CausalGraph.parse(text).to_dot())
    for graph in (text, file, dot):
        summary = told(*COMPAS, "--comparison", "African-American", "--graph", graph)
        assert values(summary)["indirect"] == pytest.approx(found.indirect.value, abs=1e-12)


def test_a_prediction_can_be_explained(people):
    base = ("decompose", people, "--protected", "member", "--reference", "0")
    alone = told(*base, "--prediction", "score")
    assert alone["findings"][0]["what"] == "score"
    assert values(alone)["total"] == pytest.approx(0.4)
    both = (*base, "--prediction", "score", "--outcome", "paid", "--outcome-value", "yes, paid")
    assert told(*both)["findings"][0]["what"] == "paid = yes, paid"
    of_score = told(*base, "--prediction", "score", "--outcome", "a, b", "--of", "prediction")
    assert values(of_score)["total"] == pytest.approx(0.4)


def test_settings_reach_the_library(people):
    base = ("decompose", people, "--protected", "member", "--reference", "0", "--mediators", "sex")
    base = (*base, "--outcome", "paid", "--outcome-value", "no")
    plain = told(*base)
    assert values(told(*base, "--weights", "weight")) != values(plain)
    assert told(*base, "--convention", "symmetric")["findings"][0]["convention"] == "symmetric"
    narrow = told(*base, "--level", "0.5")
    assert narrow["level"] == 0.5
    assert narrow["table"][0]["high"] < plain["table"][0]["high"]
    strata = told(*base, "--estimator", "strata", "--empty-cells", "restrict", "--seed", "7")
    assert strata["provenance"]["estimator"] == "Strata(empty_cells='restrict')"
    assert strata["provenance"]["seed"] == "7"


def test_reports_and_pictures_are_written(tmp_path):
    pages = [tmp_path / name for name in ("a.html", "a.md", "a.json")]
    picture = tmp_path / "a.svg"
    words = [word for page in pages for word in ("--report", page)]
    done = run(*PAIR, *words, "--plot", picture, "--json")
    assert json.loads(done.stdout) == json.loads(pages[2].read_text())
    assert pages[0].read_text().startswith("<!DOCTYPE html>")
    assert pages[1].read_text().startswith("# Why does")
    assert "<svg" in picture.read_text()
    assert done.stderr.count("written: ") == 4


def test_the_same_question_gives_the_same_bytes(tmp_path):
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        run(*PAIR, "--report", page, env={"SOURCE_DATE_EPOCH": "1714521600"})
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert "2024-05-01" in pages[0].read_text()


# --- data sets ------------------------------------------------------------------------------------


def test_bundled_data_are_listed_described_and_written(tmp_path):
    listing = run("datasets").stdout
    assert all(name in listing for name in cf.datasets.available())
    assert "Broward County" in run("datasets", "compas").stdout
    assert json.loads(run("datasets", "adult", "--json").stdout)["rows"] == 48842
    parquet, everyone, text = (tmp_path / name for name in ("c.parquet", "all.pq", "c.csv"))
    run("datasets", "compas", "--out", parquet)
    run("datasets", "compas", "--out", everyone, "--all-rows")
    run("datasets", "compas", "--out", text)
    assert pyarrow.parquet.read_table(parquet).equals(cf.datasets.load_compas())
    assert pyarrow.parquet.read_table(everyone).num_rows == 7214
    bundled, written = told(*PAIR), told(*PAIR[:1], text, *PAIR[2:])
    assert bundled["table"] == written["table"]
    assert bundled["provenance"]["fingerprint"] == written["provenance"]["fingerprint"]


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("decompose", "nowhere.csv", *COMPAS[2:]), 3, "no file matches 'nowhere.csv'"),
        (("decompose", "dataset:compass", *COMPAS[2:]), 3, "there are adult, compas"),
        ((*COMPAS, "--mediators", "priors_cont"), 3, "did you mean 'priors_count'?"),
        ((*COMPAS[:3], "rase", *COMPAS[4:]), 3, "did you mean 'race'?"),
        ((*COMPAS, "--comparison", "Hispanik"), 3, "did you mean 'Hispanic'?"),
        ((*COMPAS, "--comparison", "Caucasian"), 3, "compare two different groups"),
        ((*COMPAS, "--outcome-value", "2"), 3, "--outcome-value '2': column 'two_year_recid'"),
        ((*COMPAS, "--graph", "race -> "), 3, "error:"),
        ((*COMPAS, "--graph", "race -> race"), 3, "cycle"),
        ((*COMPAS, "--graph", "graph.txt"), 3, "neither a file nor a graph"),
        ((*COMPAS, "--graph", "race <-> two_year_recid"), 3, "hidden cause"),
        ((*COMPAS, "--mediators", "race"), 3, "two roles"),
        ((*COMPAS, "--mediators", "days_b_screening_arrest,c_charge_desc"), 3, "no column"),
        (
            (*COMPAS, "--mediators", "priors_count", "--estimator", "strata"),
            3,
            "--empty-cells restr",
        ),
        ((*COMPAS, "--graph", "a -> b", "--mediators", "sex"), 2, "either --graph"),
        ((*COMPAS, "--empty-cells", "restrict"), 2, "only --estimator strata"),
        ((*COMPAS, "--of", "prediction"), 2, "--prediction"),
        ((*COMPAS, "--each-group", "--comparison", "Other"), 2, "leave out --comparison"),
        ((*COMPAS, "--level", "95"), 2, "between 0 and 1"),
        ((*COMPAS, "--report", "report.doc"), 2, "ends in '.doc'"),
        ((*COMPAS, "--report", "nowhere/report.html"), 2, "no folder"),
        ((*COMPAS, "--plot", "plot.gif"), 2, ".svg, .png, .pdf"),
        ((*COMPAS, "--mediators", "sex,,age"), 2, "empty"),
        ((*COMPAS, "--convention", "both"), 2, "sequential"),
        ((*COMPAS, "--protected", "sex"), 2, "one for each"),
        ((*COMPAS, "--wrong"), 2, "No such option"),
        (COMPAS[:6], 2, "name the column to explain"),
        (COMPAS[:4], 2, "--reference"),
        (("datasets", "compass"), 3, "there are adult, compas"),
        (("datasets", "--out", "x.csv"), 2, "which data set"),
        (("datasets", "adult", "--out", "x.xlsx"), 2, "ends in '.xlsx'"),
        (("datasets", "adult", "--all-rows"), 2, "--out"),
        (("decomposs",), 2, "No such command"),
    ],
)
def test_a_mistake_is_explained(words, code, says):
    done = run(*words, code=code)
    assert done.stdout == ""
    assert says in " ".join(re.sub("[│╭╮╰╯─]", " ", done.stderr).split())


def test_missing_values_are_refused_with_the_option_that_helps():
    words = ("decompose", "dataset:adult", "--protected", "sex", "--reference", "Male")
    words = (*words, "--mediators", "occupation", "--outcome", "income", "--outcome-value", ">50K")
    counted = ("--estimator", "strata", "--empty-cells", "restrict")
    assert "--missing drop" in " ".join(run(*words, code=3).stderr.split())
    assert told(*words, "--missing", "drop", *counted)["kind"] == "decomposition"


def test_a_traceback_is_shown_only_on_request():
    done = run(*COMPAS, "--mediators", "nothing", "--debug", code=3)
    assert "Traceback (most recent call last)" in done.stderr
    assert "ColumnNotFoundError" in done.stderr


def test_a_defect_is_admitted(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("causalfairness.parity.decompose_disparity", broken)
    done = run(*PAIR, code=70)
    assert "defect of the program: ZeroDivisionError" in done.stderr
    assert "--debug" in done.stderr
    assert "Traceback" in run(*PAIR, "--debug", code=70).stderr


def test_a_file_that_cannot_be_written_is_explained(tmp_path):
    (tmp_path / "taken.html").mkdir()
    assert "taken.html" in run(*PAIR, "--report", tmp_path / "taken.html", code=3).stderr


def test_hostile_names_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "hostile.csv"
    red = "\x1b[31mred\x1b[0m [bold]x[/bold]"
    rows = [(name, y) for name in (red, "blue") for y in (0, 1, 1)][:-1]
    table = pyarrow.table({"a": [a for a, _ in rows], "y": [y for _, y in rows]})
    pyarrow.csv.write_csv(table, path)
    done = run("decompose", path, "--protected", "a", "--reference", "blue", "--comparison", red,
               "--outcome", "y")  # fmt: skip
    assert "\x1b" not in done.output
    assert "\\x1b[31mred\\x1b[0m [bold]x[/bold]" in " ".join(done.stdout.split())
    wrong = run("decompose", path, "--protected", "a", "--reference", "green", "--outcome", "y",
                code=3)  # fmt: skip
    assert "\x1b" not in wrong.output


# --- the program ----------------------------------------------------------------------------------


def test_help_and_version_are_light():
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom causalfairness.cli import app\n"
        "for words in (['-h'], ['--version'], ['decompose', '-h'], ['datasets', '-h']):\n"
        "    assert CliRunner().invoke(app, words).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_command_shows_an_example_in_its_help():
    for words in ((), ("decompose",), ("datasets",)):
        text = run(*words, "--help").stdout
        assert "Example" in text
        assert "causalfairness d" in text
    assert run("--version").stdout == f"causalfairness {cf.__version__}\n"
    assert "--install-completion" in run("--help").stdout


def test_the_script_leads_to_the_program():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    home, _, name = project["scripts"]["causalfairness"].partition(":")
    assert callable(getattr(import_module(home), name))


def test_a_process_answers_and_fails_like_the_library():
    done = process(*PAIR, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["kind"] == "decomposition"
    failed = process(*COMPAS, "--mediators", "nothing")
    assert failed.returncode == 3
    assert failed.stdout == ""
    assert failed.stderr.startswith("error: the data has no column 'nothing'")
    assert "\x1b" not in failed.stderr


def test_a_pipe_that_closes_early_is_no_crash():
    command = f"{sys.executable} -W error -m causalfairness.cli {{}} | head -1"
    for words in ("datasets adult", "datasets --json", "decompose --help"):
        done = subprocess.run(command.format(words), shell=True, capture_output=True, text=True)
        assert done.stderr == ""


def test_letters_that_a_terminal_lacks_are_spelled_out(tmp_path):
    path = tmp_path / "emoji.csv"
    path.write_text("a,y\n🦊,1\n🦊,0\nb,0\nb,1\nb,1\n", "utf-8")
    words = ("decompose", path, "--protected", "a", "--reference", "b", "--outcome", "y")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "causalfairness.cli", *map(str, words), "--comparison", "🦊"]
    done = subprocess.run(command, capture_output=True, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"\\U0001f98a" in done.stdout
