"""A table: how rows were drawn and columns are read is said once, and every function listens."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner

import causalfairness as cf
from causalfairness.cli import app
from causalfairness.errors import (
    AuditError,
    ColumnNotFoundError,
    ColumnTypeError,
    MissingValuesError,
    RoleError,
    WeightError,
)
from causalfairness.estimators import DoublyRobust, KnownModel, Strata
from forms import every_form

ROLES = {"protected": "g", "reference": 0, "comparison": 1, "outcome": "y"}


def jobs(n=3_000, seed=3):
    """Twelve jobs decide about group and outcome, in no order; the direct effect is .3."""
    rng = np.random.default_rng(seed)
    job = rng.integers(0, 12, n)
    base = rng.normal(size=12)
    g = (rng.random(n) < 1 / (1 + np.exp(-base[job]))).astype(int)
    y = 0.3 * g + base[job] + rng.normal(size=n)
    return pd.DataFrame({"g": g, "job": 100 + 7 * job, "y": y, "w": rng.integers(1, 4, n)})


MODEL = cf.StandardFairnessModel(**ROLES, confounders=["job"])
LINES = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression(C=100), folds=2)


def test_codes_are_levels_and_not_amounts():
    data = jobs()
    as_words = cf.decompose_disparity(data.assign(job=data.job.astype(str)), MODEL, estimator=LINES)
    as_codes = cf.decompose_disparity(cf.Table(data, categorical=["job"]), MODEL, estimator=LINES)
    as_amounts = cf.decompose_disparity(data, MODEL, estimator=LINES)
    assert as_codes.direct.value == as_words.direct.value
    assert abs(as_codes.direct.value - 0.3) < 3 * as_codes.direct.standard_error
    assert abs(as_amounts.direct.value - 0.3) > 3 * as_amounts.direct.standard_error


def test_a_model_that_is_asked_sees_codes_as_they_are_in_the_data():
    seen = []

    def predict(people):
        seen.append(people["job"].dtype)
        return people["job"] / 200

    table = cf.Table(jobs(), categorical=["job"])
    cf.decompose_disparity(table, MODEL, of="prediction", estimator=KnownModel(predict))
    assert {kind.kind for kind in seen} == {"i"}


def test_structural_models_take_codes_and_give_them_back():
    data = jobs(400)
    graph = cf.CausalGraph.parse("g -> job -> y; g -> y")
    scm = cf.StructuralCausalModel.fit(graph, cf.Table(data, categorical=["job"]))
    otherwise = scm.counterfactual(data, do={"g": 1})
    assert otherwise["job"].dtype == data["job"].dtype
    assert set(otherwise["job"]) <= set(data["job"])


def test_every_form_of_the_data_is_read_alike(tmp_path):
    text = pa.table(
        {"g": [0, 1, 0, 1, 0, 1], "job": ["1", "1", "2", "2", "1", "2"], "y": list("100110")}
    )
    found = {
        name: cf.decompose_disparity(cf.Table(form, numeric=["y"]), MODEL, estimator=Strata())
        for name, form in every_form(text, tmp_path / "forms").items()
    }
    values = {each.direct.value for each in found.values()}
    assert len(values) == 1


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_that_is_no_number_is_named(frame):
    data = frame({"g": [0, 1], "y": ["1", "one"]})
    model = cf.StandardFairnessModel(**ROLES)
    with pytest.raises(ColumnTypeError, match="column 'y' holds text that is no number"):
        cf.decompose_disparity(cf.Table(data, numeric=["y"]), model)


def test_weights_of_the_table_are_those_of_the_roles():
    data = jobs()
    weighted = cf.StandardFairnessModel(**ROLES, confounders=["job"], weights="w")
    one = cf.decompose_disparity(cf.Table(data, weights="w"), MODEL, estimator=LINES)
    other = cf.decompose_disparity(data, weighted, estimator=LINES)
    assert one.direct.value == other.direct.value
    assert one.direct.standard_error == other.direct.standard_error


def asked(function, data, model):
    if function == "group_metrics":
        return cf.group_metrics(data, model)["1"]["mean_outcome"].value
    if function == "compare_groups":
        return cf.compare_groups(data, model, estimator=LINES)[1].total.value
    if function == "compare_estimators":
        return cf.compare_estimators(data, model, [LINES]).by_estimator["DoublyRobust"].total.value
    return cf.sensitivity.benchmark_confounders(data, model, estimator=LINES).found.total.value


@pytest.mark.parametrize(
    "function", ["group_metrics", "compare_groups", "compare_estimators", "benchmarks"]
)
def test_every_function_takes_it(function):
    data = jobs(600)
    data.loc[:20, "y"] = np.nan
    weighted = cf.StandardFairnessModel(**ROLES, confounders=["job"], weights="w")
    table = cf.Table(data, weights="w", missing="drop")
    complete = data.dropna().reset_index(drop=True)
    assert asked(function, table, MODEL) == pytest.approx(
        asked(function, complete, weighted), abs=0.2
    )
    with pytest.raises(MissingValuesError):
        asked(function, cf.Table(data, weights="w"), MODEL)


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"categorical": "job"}, RoleError, r"categorical='job'; expected a list"),
        ({"categorical": ["job"], "numeric": ["job"]}, RoleError, "'job' is both in categorical"),
        ({"categorical": ["jop"]}, ColumnNotFoundError, "did you mean 'job'"),
        ({"weights": "v"}, ColumnNotFoundError, "no column 'v'"),
        ({"missing": "ignore"}, MissingValuesError, "found 'ignore'"),
    ],
)
def test_what_contradicts_itself_or_is_not_there_is_refused(settings, error, says):
    with pytest.raises(error, match=says):
        cf.decompose_disparity(cf.Table(jobs(50), **settings), MODEL)


def test_one_thing_is_said_in_one_place():
    data = jobs(50)
    weighted = cf.StandardFairnessModel(**ROLES, weights="w")
    with pytest.raises(WeightError, match="say it in one place"):
        cf.decompose_disparity(cf.Table(data, weights="w"), weighted)
    with pytest.raises(MissingValuesError, match="say it in one place"):
        cf.decompose_disparity(cf.Table(data, missing="drop"), MODEL, missing="drop")
    with pytest.raises(RoleError, match="a Table already"):
        cf.Table(cf.Table(data))


READ = {"missing": "drop", "categorical": ["job"], "numeric": ["y"], "accept": ["job"]}


def words_of_jobs():
    """Jobs as whole numbers, outcomes as text, one of them not known."""
    data = jobs(600, seed=4)
    data["y"] = data.y.astype(str)
    data.loc[3, "y"] = None
    return data


def audited(data, section=None, **roles):
    about = {} if section is None else {"data": {"source": "d.csv", **section}}
    audit = cf.Audit(
        roles={**ROLES, "mediators": ["job"], **roles},
        questions=[{"ask": "disparity"}],
        estimator={"method": "strata"},
        **about,
    )
    return audit.run(data).record


@pytest.mark.parametrize("form", ["audit", "table"])
def test_an_audit_reads_columns_as_it_says_or_as_the_table_says(form):
    data = words_of_jobs()
    said = READ | {"weights": "w"}
    record = audited(data, said) if form == "audit" else audited(cf.Table(data, **said))
    model = cf.StandardFairnessModel(**ROLES, mediators=["job"])
    found = cf.decompose_disparity(cf.Table(data, **said), model, estimator=Strata())
    parts = {part["name"]: part["value"] for part in record["answers"][0]["effects"]}
    assert parts["direct"] == pytest.approx(found.direct.value, abs=1e-12)
    stated = record["settings"]["data"]
    assert {name: stated[name] for name in said} == said
    assert record["settings"]["roles"]["weights"] == "w"
    again = cf.Audit(**{key: record["settings"][key] for key in ("data", "roles", "estimator")})
    assert again.data.accept == ("job",)


def test_what_contradicts_itself_in_an_audit_is_refused():
    data = words_of_jobs()
    with pytest.raises(AuditError, match="say it in one place"):
        audited(cf.Table(data, **READ), READ)
    with pytest.raises(AuditError, match=r"data\.weights: the data says 'w'.*'job'"):
        audited(data, {"weights": "w"}, weights="job", mediators=[])
    with pytest.raises(AuditError, match="'job' is both in categorical and in numeric"):
        audited(data, {"categorical": ["job"], "numeric": ["job"]})
    with pytest.raises(AuditError, match="did you mean 'job'"):
        audited(data, READ | {"categorical": ["jop"]})


def test_structural_models_of_an_audit_take_codes():
    data = jobs(400)
    audit = cf.Audit(
        data={"source": "d.csv", "categorical": ["job"]},
        roles={**ROLES, "mediators": ["job"], "prediction": "p"},
        questions=[{"ask": "counterfactual_fairness"}],
    )
    answer = audit.run(data.assign(p=data.job / 200)).record["answers"][0]
    mechanisms = {each["node"]: each["mechanism"] for each in answer["details"]["mechanisms"]}
    assert mechanisms["job"].startswith("categorical")


def test_the_class_takes_a_table_or_its_words():
    data, roles = words_of_jobs(), {key: ROLES[key] for key in list(ROLES)[:3]}
    roles |= {"mediators": ["job"], "estimator": Strata()}
    by_table = cf.CausalFairnessDecomposition(cf.Table(data, weights="w", **READ), "y", **roles)
    by_words = cf.CausalFairnessDecomposition(data, "y", weights="w", **READ, **roles)
    model = cf.StandardFairnessModel(**ROLES, mediators=["job"])
    asked = cf.Table(data, weights="w", **READ)
    right = cf.decompose_disparity(asked, model, estimator=Strata()).direct.value
    assert by_table.analyse_mean_difference().direct.value == right
    assert by_words.analyse_mean_difference().direct.value == right
    with pytest.raises(RoleError, match="say there how its columns are read"):
        cf.CausalFairnessDecomposition(cf.Table(data), "y", categorical=["job"], **roles)


@pytest.mark.parametrize("command", ["decompose", "necessity", "situations", "counterfactuals"])
def test_commands_take_it(command, tmp_path):
    data = words_of_jobs().dropna()
    data["y"] = (data.y.astype(float) > 0).map({True: "1.0", False: "0.0"}) + "0"
    data["p"] = data.y.astype(float)
    data.to_parquet(tmp_path / "d.parquet")
    read = ["--categorical", "job", "--numeric", "y"]
    file = str(tmp_path / "d.parquet")
    groups = ["--protected", "g", "--reference", "0", "--comparison", "1"]
    roles = [*groups, "--mediators", "job", "--outcome", "y", "--estimator", "strata", "--json"]
    words = {
        "decompose": [*roles, "--accept", "job"],
        "necessity": [*roles, "--prediction", "p", "--accept", "job", "--margin", "0.01"],
        "situations": [*groups, "--features", "job", "--decision", "y", "--favorable", "1"],
        "counterfactuals": ["--graph", "g -> job -> y", "--do", "g=0", "--out", "-"],
    }
    found = CliRunner().invoke(app, [command, file, *read, *words[command]])
    assert found.exit_code == 0, found.output
