"""Is all that is wrong with an audit file said at once, in words, whatever is wrong with it?"""

import copy
import json
import tomllib
from importlib.resources import files

import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import causalfairness as cf
from audit_studies import PREDICTED, ROLES, people
from causalfairness.cli import app
from causalfairness.errors import AuditError, CausalFairnessError

COMPAS = files("causalfairness.audit").joinpath("files", "compas.toml").read_text("utf-8")
SMALL = """
title = "fuzz"
notes = ["one", "two"]

[data]
source = "people.parquet"
missing = "refuse"

[roles]
protected = "group"
reference = "blue"
comparison = "green"
confounders = ["c1", "c2"]
mediators = ["m1"]
outcome = "y"
prediction = "score"

[groups]
each = true
pairs = [{reference = "green", comparison = "blue"}]

[predictor]
threshold = 0.5
favorable = 0

[[questions]]
ask = "disparity"
margin = 0.02

[[questions]]
ask = "situations"
k = [12]
tau = 0.1

[[questions]]
ask = "necessity"
allowed = ["spurious"]
declarations = [{path = "direct", by = "a", because = "b", on = 2020-01-02}]

[[questions]]
ask = "counterfactual_fairness"
do = {group = {green = "blue"}}

[[questions]]
ask = "screens"
rule = "four_fifths"
columns = {sex = "group"}
selected = "score"

[settings]
level = 0.95
seed = 0
"""


def refused(**sections):
    with pytest.raises(AuditError) as caught:
        cf.Audit(**({"roles": ROLES} | sections))
    return str(caught.value)


# --- what is said -----------------------------------------------------------------------------


def test_every_error_is_said_at_once_with_its_path():
    said = refused(
        data=5,
        roles={"protected": [], "reference": True, "confounder": ["a"]},
        questions=[
            {"ask": "disparty"},
            {"of": "outcome"},
            {"ask": "situations", "k": [0], "kk": 1},
            {"ask": "necessity", "declarations": [{"path": "direct", "by": ""}]},
        ],
        settings={"level": 1.5, "seed": -1},
        colour="red",
    )
    for line in (
        "data: found 5; expected a table with source",
        "roles.protected: found []; expected a column, or a list of columns",
        "roles.confounder: is no key here; did you mean confounders?",
        "questions[0].ask: found 'disparty'; did you mean disparity?",
        "questions[1].ask: is missing; expected one of disparity, error_rates",
        "questions[2].k[0]: found 0; expected a list of whole numbers of at least 1",
        "questions[2].kk: is no key here; did you mean k?",
        "questions[3].declarations[0].by: found ''; expected text: who declared it",
        "questions[3].declarations[0].because: is missing; expected text: why",
        "settings.level: found 1.5; expected a number between 0.5 and 1, such as 0.95",
        "settings.seed: found -1; expected a whole number of 0 or more",
        "colour: is no key here; expected one of title, data, roles",
    ):
        assert line in said


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"roles": ROLES | {"mediators": ["c1"]}}, "roles: the column 'c1' has two roles"),
        ({"roles": ROLES | {"reference": "green"}}, "roles: reference and comparison are the same"),
        ({"roles": ROLES | {"graph": "a -> b"}}, "roles: the graph says which columns"),
        (
            {"roles": {"protected": "a", "reference": 1, "outcome": "b", "graph": "a ->"}},
            "roles: ",
        ),
        ({"roles": ROLES | {"confounders": ["c1", "c1"]}}, "'c1' is named twice"),
        ({"roles": {"protected": "a", "reference": 1}}, "neither an outcome nor a prediction"),
        ({"predictor": {"threshold": 1}}, "predictor.threshold: there is no prediction"),
        ({"predictor": {"function": "a:b", "file": "c"}}, "predictor: give either function or"),
        ({"predictor": {"function": "nocolon"}}, "such as 'scoring:predict'"),
        (
            {"roles": PREDICTED, "predictor": {"function": "a:b"}},
            "predictor: the prediction is a column (roles.prediction) and a model",
        ),
        ({"questions": [{"ask": "error_rates"}]}, "questions[0]: error_rates needs a prediction"),
        (
            {"questions": [{"ask": "screens", "rule": "four_fifths", "columns": {"sex": "group"}}]},
            "questions[0]: screens needs either selected",
        ),
        ({"groups": {"intersections": True}}, "groups.intersections: there is one protected"),
        (
            {"groups": {"pairs": [{"reference": ["a", "b"], "comparison": "c"}]}},
            "groups.pairs[0]: reference has 2 values",
        ),
        ({"settings": {"level": float("nan")}}, "settings.level: found nan"),
        ({"settings": {"seed": True}}, "settings.seed: found True"),
        ({"notes": "one"}, "notes: found 'one'; expected a list of texts"),
        ({"questions": [{"ask": "disparity", "judge": ["drect"]}]}, "judge[0]: found 'drect'"),
    ],
)
def test_what_contradicts_itself_is_refused(sections, words):
    assert words in refused(**sections)


def test_questions_need_an_outcome_where_there_is_none():
    roles = {"protected": "a", "reference": 1, "prediction": "p"}
    said = refused(
        roles=roles, questions=[{"ask": "necessity"}, {"ask": "disparity", "of": "outcome"}]
    )
    assert "questions[0]: necessity needs an outcome" in said
    assert "questions[1]: disparity needs an outcome" in said


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "title = \n", "is not TOML: Invalid value (at line 1, column 9)"),
        ("a.json", '{\n "title": }', "is not JSON: Expecting value (at line 2, column 11)"),
        ("a.json", "[1]", "found [1]; expected a table of keys"),
        ("a.toml", "x = " + "[" * 5_000, "is not TOML"),
        ("a.json", "[" * 100_000, "nested too deep"),
        ("a.json", "9" * 5_000, "is not JSON"),
        ("a.json", '{"title": "\\ud800"}', "title: found"),
    ],
)
def test_a_syntax_error_says_where(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(AuditError) as caught:
        cf.Audit.from_file(path)
    assert words in str(caught.value)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(AuditError, match="not text in UTF-8"):
        cf.Audit.from_file(path)
    with pytest.raises(AuditError, match="No such file"):
        cf.Audit.from_file(tmp_path / "b.toml")


def test_columns_and_groups_that_are_not_there_are_named_at_once():
    data = people(100)
    roles = PREDICTED | {"confounders": ["c_1", "c2"], "mediators": ["m_1"]}
    with pytest.raises(AuditError, match=r"(?s)no column 'c_1'; did you mean.*no column 'm_1'"):
        cf.Audit(roles=roles).run(data)
    pairs = {"pairs": [{"reference": "blue", "comparison": "rot"}]}
    with pytest.raises(AuditError, match="'rot' has no rows"):
        cf.Audit(roles=PREDICTED, groups=pairs).run(data)
    with pytest.raises(AuditError, match="names no data"):
        cf.Audit(roles=PREDICTED).run()


def test_toml_json_and_python_say_the_same(tmp_path):
    told = json.loads(json.dumps(tomllib.loads(SMALL), default=str))
    (tmp_path / "a.toml").write_text(SMALL, "utf-8")
    (tmp_path / "a.json").write_text(json.dumps(told), "utf-8")
    one, two = (cf.Audit.from_file(tmp_path / name) for name in ("a.toml", "a.json"))
    assert one == two
    assert one.to_dict() == cf.Audit(**told).to_dict()
    assert cf.Audit(**one.to_dict()).to_dict() == one.to_dict()
    with pytest.raises(ValueError, match="frozen"):
        one.title = "other"


def test_paths_start_at_the_file(tmp_path, monkeypatch):
    parquet.write_table(people(300), tmp_path / "people.parquet")
    (tmp_path / "a.toml").write_text(SMALL, "utf-8")
    monkeypatch.chdir("/")
    assert cf.Audit.from_file(tmp_path / "a.toml").run().record["data"]["rows"] == 300


# --- files that were tampered with ------------------------------------------------------------

PIECES = st.sampled_from(
    ["=", "[", "]", "[[", "\n", '"', "'", "\x00", "é", "{", "}", ",", "0", "-1", "nan", "inf",
     "true", "1e999", "1979-05-27", "questions", "roles.x = 1\n", "#", "\\", "\\u0000", "😀", "."]
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.sampled_from(
            ["", "group", "score", "y", "c1", "green", "blue", "disparity", "\x00", "a" * 5_000,
             "../x", "dataset:compas", "dataset:nothing", "x.parquet", "group -> y", "-> ->"]
        ),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=4,
)  # fmt: skip


@st.composite
def tampered_texts(draw):
    """The text of a file with some of it cut out, doubled or replaced."""
    text = draw(st.sampled_from([SMALL, COMPAS]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.one_of(st.just(""), PIECES, st.text(max_size=4))) + text[end:]
    return "a.toml", text.encode("utf-8", "replace")


@st.composite
def tampered_tables(draw):
    """What a file says, with some of it left out, renamed or replaced by something else."""
    told = copy.deepcopy(json.loads(json.dumps(tomllib.loads(SMALL), default=str)))
    for _ in range(draw(st.integers(1, 3))):
        place, key = draw(st.sampled_from(list(places(told))))
        match draw(st.sampled_from(["replace", "replace", "leave out", "add"])):
            case "replace":
                place[key] = draw(VALUES)
            case "leave out":
                del place[key]
            case _ if isinstance(place, dict):
                place[draw(st.text(max_size=8))] = draw(VALUES)
    return "a.json", json.dumps(told).encode()


def places(told):
    """Every key of every table and list, inside out."""
    for key, value in told.items() if isinstance(told, dict) else enumerate(told):
        yield told, key
        if isinstance(value, dict | list):
            yield from places(value)
    if not told:
        yield {"empty": 0}, "empty"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tampered")
    parquet.write_table(people(60), place / "people.parquet")
    return place


def check_by_command(folder, tampered):
    name, content = tampered
    path = folder / name
    path.write_bytes(content)
    done = CliRunner().invoke(app, ["audit", str(path), "--check"])
    assert done.exit_code in (0, 3), (content, done.output, done.exception)
    assert "Traceback" not in done.output
    assert "defect" not in done.output


def run_as_library(folder, tampered):
    name, content = tampered
    path = folder / name
    path.write_bytes(content)
    try:
        record = cf.Audit.from_file(path).run().record
    except CausalFairnessError:
        return
    json.dumps(record, allow_nan=False)


tampered = st.one_of(tampered_texts(), tampered_tables())
patient = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@given(tampered)
@settings(max_examples=200, **patient)
def test_no_tampered_file_makes_the_command_crash(folder, tampered):
    check_by_command(folder, tampered)


@pytest.mark.slow
@given(tampered)
@settings(max_examples=2_000, **patient)
def test_no_tampered_file_makes_the_command_crash_in_2000_tries(folder, tampered):
    check_by_command(folder, tampered)


@given(tampered_tables())
@settings(max_examples=25, **patient)
def test_no_tampered_table_makes_the_run_crash(folder, tampered):
    run_as_library(folder, tampered)


@pytest.mark.slow
@given(tampered_tables())
@settings(max_examples=150, **patient)
def test_no_tampered_table_makes_the_run_crash_in_150_tries(folder, tampered):
    run_as_library(folder, tampered)
