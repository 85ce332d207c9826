"""Does the command give the answers of the library, and fail in words that help?"""

import json
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
from causalfairness.datasets.loan import make_loan_application_counterfactual

ROWS = 800
FEATURES = ["annual_salary", "account_balance"]
WHO = ("--protected", "gender", "--comparison", "Female", "--decision", "approved")
WHO += ("--favorable", "1")
WORDS = (*WHO, "--features", ",".join(FEATURES))
ASKED = {
    "protected": "gender",
    "comparison": "Female",
    "features": FEATURES,
    "decision": "approved",
    "favorable": 1,
}
GRAPH = "gender -> {annual_salary, account_balance}; annual_salary -> account_balance"
HEAVY = ("pandas", "polars", "matplotlib", "sklearn", "duckdb", "pyarrow", "scipy", "numba")


def run(*words, code=0):
    done = CliRunner().invoke(app, ["situations", *map(str, words)], env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output or "--debug" in words
    return done


def flat(text):
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("situations")


@pytest.fixture(scope="module")
def loans(folder):
    """Applications with ids, the same as if of men, and the files of both."""
    ids = pa.array([f"A{at:03}" for at in range(ROWS)])
    tables = [
        cf.datasets.make_loan_application(ROWS, seed=5).append_column("id", ids),
        make_loan_application_counterfactual(ROWS, seed=5, do="Male").append_column("id", ids),
    ]
    paths = [folder / "loans.parquet", folder / "as-men.csv"]
    pyarrow.parquet.write_table(tables[0], paths[0])
    pyarrow.csv.write_csv(tables[1], paths[1])
    return *tables, *paths


# --- answers --------------------------------------------------------------------------------------


def test_the_table_is_that_of_the_library(loans, folder):
    data, _, path, _ = loans
    out = folder / "table.csv"
    done = run(path, *WORDS, "--k", "15,30", "--out", out)
    expected = cf.situation_test(data, k=[15, 30], **ASKED)
    found = pyarrow.csv.read_csv(out).to_pydict()
    for name, values in expected.table().to_lists().items():
        assert found[name] == pytest.approx(values)
    text = flat(done.stdout)
    for line in expected.summary():
        first = f"{line.k} {line.complainants} {line.discoveries} {line.positive_discoveries}"
        assert f"{first} {line.evidence} {line.share:.1%}" in text
    for sentence in expected.sentences():
        assert sentence in text
    for assumption in expected.assumptions:
        assert f"- {assumption}" in text
    assert "situation testing: people with gender = Female compared with other people" in text
    wald = run(path, *WORDS, "--k", "5", "--interval", "wald")
    assert "--interval newcombe stays honest there" in flat(wald.stdout)
    assert f"({2 * expected.summary()[15].complainants} rows)" in flat(done.stderr)
    assert "\x1b" not in done.output


def test_parquet_keeps_types_and_missing_answers(loans, folder):
    out = folder / "table.parquet"
    run(loans[2], *WORDS, "--within", "0.001", "--ids", "id", "--out", out)
    table = pyarrow.parquet.read_table(out)
    assert table["evidence"].type == pa.bool_()
    assert table["id"].type == pa.string()
    expected = cf.situation_test(loans[0], within=0.001, ids="id", **ASKED)
    assert table["delta"].null_count == expected.summary()[15].no_verdict > 0


def test_counterfactuals_from_a_file_and_from_a_graph(loans):
    data, as_men, path, other = loans
    done = run(path, *WORDS, "--counterfactuals", other, "--include-centers", "--json")
    said = json.loads(done.stdout)
    expected = cf.counterfactual_situation_test(data, as_men, include_centers=True, **ASKED)
    assert said["summary"] == expected.summary().to_records()
    assert said["method"] == "counterfactual situation testing, with centers"
    assert said["assumptions"] == list(expected.assumptions)
    assert said["dossier"] is None
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(GRAPH), data)
    expected = cf.counterfactual_situation_test(data, scm, interval="newcombe", **ASKED)
    for do in ((), ("--do", "gender=Female:Male")):
        done = run(path, *WORDS, "--graph", GRAPH, *do, "--interval", "newcombe", "--json")
        assert json.loads(done.stdout)["summary"] == expected.summary().to_records()


def test_settings_reach_the_library(loans):
    data, _, path, _ = loans
    options = ("--tau", "0.1", "--level", "0.9", "--sided", "two", "--interval", "agresti-caffo")
    done = run(path, *WORDS, *options, "--k", "20", "--reference", "Male", "--json")
    expected = cf.situation_test(
        data, k=20, tau=0.1, level=0.9, sided="two", interval="agresti-caffo", reference="Male",
        **ASKED,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert said["summary"] == expected.summary().to_records()
    assert said["interval"] == "Agresti-Caffo, two-sided at the 90% level"
    swapped = cf.situation_test(data, **(ASKED | {"favorable": 0}))
    done = run(path, *WORDS, "--favorable", "0", "--json")
    assert json.loads(done.stdout)["summary"] == swapped.summary().to_records()


def test_a_dossier_in_text_on_a_page_and_as_a_picture(loans, folder):
    data, as_men, path, other = loans
    expected = cf.counterfactual_situation_test(data, as_men, ids="id", **ASKED)
    person = expected.table()["id"][0]
    goals = [folder / name for name in ("dossier.html", "dossier.txt", "dossier.svg")]
    done = run(
        path, *WORDS, "--counterfactuals", other, "--ids", "id", "--dossier", person,
        "--report", goals[0], "--report", goals[1], "--plot", goals[2],
    )  # fmt: skip
    dossier = expected.dossier(person)
    assert goals[0].read_text() == dossier.to_html()
    assert goals[1].read_text() == f"{dossier}\n"
    assert goals[2].read_text().startswith("<svg")
    assert flat(str(dossier)) in flat(done.stdout)
    assert [f"written: {goal}" in done.stderr for goal in goals] == [True, True, True]
    said = json.loads(run(path, *WORDS, "--ids", "id", "--dossier", person, "--json").stdout)
    assert said["dossier"]["person"] == f"id {person}"
    assert len(said["dossier"]["control"]["peers"]) == 15


def test_an_empty_group_is_null_in_json(loans):
    row = cf.situation_test(loans[0], **ASKED).table()["row"][0]
    done = run(loans[2], *WORDS, "--within", "0", "--dossier", row, "--json")
    finding = json.loads(done.stdout)["dossier"]["finding"]
    assert finding["delta"] is finding["p_value"] is None


def test_intersections_take_one_value_per_column(folder):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "sex": rng.choice(["F", "M"], 400),
            "race": rng.choice(["a", "b"], 400),
            "pay": rng.random(400),
            "hired": rng.integers(0, 2, 400),
        }
    )
    path = folder / "both.csv"
    pyarrow.csv.write_csv(table, path)
    done = run(
        path, "--protected", "sex,race", "--comparison", "F,b", "--features", "pay", "--decision",
        "hired", "--favorable", "higher", "--json",
    )  # fmt: skip
    expected = cf.situation_test(
        table, protected=["sex", "race"], comparison=("F", "b"), features=["pay"],
        decision="hired", favorable=1,
    )  # fmt: skip
    assert json.loads(done.stdout)["summary"] == expected.summary().to_records()


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--k", "15,x"), 2, "'15,x' is no list of whole numbers, such as 15,30"),
        (("--k", "5000"), 3, "k = 5000 is larger than the control group can be"),
        (("--k", "0"), 3, "none below 1"),
        (("--comparison", "Femal"), 3, "did you mean 'Female'?"),
        (("--reference", "X"), 3, "--reference 'X': column 'gender' has the values"),
        (("--favorable", "yes"), 3, "--favorable 'yes': column 'approved' has the values '0', '1'"),
        (("--decision", "aproved"), 3, "did you mean 'approved'?"),
        (("--features", "salary"), 3, "the data has no column 'salary'"),
        (("--features", "gender"), 3, "the column 'gender' has two roles"),
        (("--level", "1.5"), 2, "a level lies between 0 and 1"),
        (("--level", "0.4"), 3, "level of one-sided intervals"),
        (("--interval", "exact"), 2, "exact"),
        (("--dossier", "P1"), 2, "'P1' is no row position; name people with --ids COLUMN"),
        (("--dossier", "999999"), 3, "999999 is no row"),
        (("--ids", "id", "--dossier", "P1"), 3, "--dossier 'P1': column 'id' has the values"),
        (("--report", "x.html"), 2, "say whose, with --dossier"),
        (("--plot", "x.svg"), 2, "say whose, with --dossier"),
        (("--dossier", "1", "--report", "x.docx"), 2, "ends in '.docx'; expected .html"),
        (("--dossier", "1", "--plot", "x.gif"), 2, "ends in '.gif'"),
        (("--out", "x.xlsx"), 2, "ends in '.xlsx'; expected .csv"),
        (("--out", "nowhere/x.csv"), 2, "no folder 'nowhere'"),
        (("--do", "gender=Male"), 2, "say which with --counterfactuals or --graph"),
        (("--include-centers",), 2, "say which with --counterfactuals or --graph"),
        (("--graph", GRAPH, "--do", "gender=Mail"), 3, "column 'gender' has no value 'Mail'"),
        (("--graph", GRAPH, "--include-centers"), 3, "or to the graph"),
        (("--graph", "gender -> income"), 3, "no column 'income'"),
        (("--counterfactuals", "nowhere.csv"), 3, "no file matches 'nowhere.csv'"),
    ],
)
def test_a_mistake_is_explained(loans, words, code, says):
    done = run(loans[2], *WORDS, *words, code=code)
    assert done.stdout == ""
    assert says in flat(done.stderr)
    assert "predict=" not in done.stderr


def test_tables_that_do_not_fit_are_refused(loans, folder):
    _, as_men, path, other = loans
    short, mixed = folder / "short.csv", folder / "mixed.csv"
    pyarrow.csv.write_csv(as_men.slice(1), short)
    order = np.random.default_rng(1).permutation(ROWS)
    pyarrow.csv.write_csv(as_men.take(pa.array(order)), mixed)
    done = run(path, *WORDS, "--counterfactuals", short, code=3)
    assert "has 799 rows and the data 800" in flat(done.stderr)
    done = run(path, *WORDS, "--counterfactuals", mixed, code=3)
    assert "rows seem to be in another order" in flat(done.stderr)
    assert "name people with --ids" in flat(done.stderr)
    done = run(path, *WORDS, "--counterfactuals", mixed, "--ids", "id", code=3)
    assert "from row 0 on, id is another in the data" in flat(done.stderr)
    done = run(path, *WORDS, "--counterfactuals", other, "--graph", GRAPH, code=2)
    assert "give one of them" in flat(done.stderr)
    done = run(path, *WORDS, "--counterfactuals", other, "--do", "gender=Male", code=2)
    assert "holds one world already" in flat(done.stderr)


def test_a_defect_is_admitted(loans, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("causalfairness.individuals.situation_test", broken)
    assert "defect of the program: ZeroDivisionError" in run(loans[2], *WORDS, code=70).stderr
    assert "Traceback" in run(loans[2], *WORDS, "--debug", code=70).stderr


def test_hostile_names_do_not_reach_the_terminal(folder):
    red = "\x1b[31mred\x1b[0m [bold]x[/bold]"
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "sex": rng.choice([red, "M"], 80),
            "pay": rng.random(80),
            "hired": rng.integers(0, 2, 80),
        }
    )
    path = folder / "hostile.parquet"
    pyarrow.parquet.write_table(table, path)
    row = table["sex"].to_pylist().index(red)
    done = run(
        path, "--protected", "sex", "--comparison", red, "--features", "pay", "--decision", "hired",
        "--favorable", "1", "--k", "5", "--dossier", row,
    )  # fmt: skip
    assert "\x1b" not in done.output
    assert "\\x1b[31mred\\x1b[0m [bold]x[/bold]" in flat(done.stdout)


# --- the program ----------------------------------------------------------------------------------


def test_help_shows_examples_and_is_light():
    assert "causalfairness situations loans.csv --protected gender" in flat(run("--help").stdout)
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom causalfairness.cli import app\n"
        "assert CliRunner().invoke(app, ['situations', '-h']).exit_code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_must_be_said(loans):
    whole = {
        "--protected": "gender",
        "--comparison": "Female",
        "--features": "annual_salary",
        "--decision": "approved",
        "--favorable": "1",
    }
    for left_out in whole:
        words = [word for name in whole.keys() - {left_out} for word in (name, whole[name])]
        assert f"Missing option '{left_out}'" in flat(run(loans[2], *words, code=2).stderr)
