"""Columns with a role are looked at before anything is estimated: copies, ids, dates, codes."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner

import causalfairness as cf
from causalfairness.cli import app
from causalfairness.errors import GroupColumnError, RoleColumnError
from causalfairness.estimators import DoublyRobust, Strata, role_columns
from causalfairness.estimators.fit_memory import remembered_fits
from causalfairness.estimators.role_columns import look_at
from causalfairness.tables import open_table

ROLES = {"protected": "g", "reference": 0, "comparison": 1, "outcome": "y"}
LINES = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression(C=100), folds=2)


def people(n=1_500, seed=1):
    """Age and sex act on a record, which acts on the outcome; nothing is a copy of anything."""
    rng = np.random.default_rng(seed)
    age, sex = rng.normal(size=n), rng.integers(0, 2, n)
    g = (rng.random(n) < 1 / (1 + np.exp(-0.5 * sex))).astype(int)
    record = (rng.random(n) < 0.3 + 0.3 * g).astype(int)
    y = (rng.random(n) < 0.2 + 0.4 * record + 0.1 * sex).astype(int)
    return pd.DataFrame({"g": g, "sex": sex, "age": age, "record": record, "y": y})


def model(confounders=("sex",), mediators=("record",), **more):
    return cf.StandardFairnessModel(
        **(ROLES | more), confounders=[*confounders], mediators=[*mediators]
    )


def looked(data, asked=None, of="outcome"):
    asked = asked or model(("age", "sex"), ("m", "record"))
    return look_at(open_table(data).rows(asked, of), asked)


# --- every question asks ----------------------------------------------------------------------


def leaking():
    return people(600).assign(approved=lambda d: 1 - d.y, p=lambda d: d.record * 1.0)


LEAKY = model(("sex",), ("record", "approved"), prediction="p")
GRAPH = "{g, sex} -> record; {g, sex} -> approved; {g, sex, record, approved} -> y"


def by_command(data, command, folder, *more):
    data.to_parquet(folder / "d.parquet")
    words = f"{command} {folder}/d.parquet --protected g --reference 0 --comparison 1 --outcome y "
    words += "--prediction p --confounders sex --mediators record,approved --estimator strata"
    done = CliRunner().invoke(app, [*words.split(), *more], env={"COLUMNS": "400"})
    if done.exit_code:
        raise RoleColumnError(done.output)


def by_audit(data, **section):
    names = ("protected", "reference", "comparison", "outcome")
    roles = {name: ROLES[name] for name in names}
    roles |= {"confounders": ["sex"], "mediators": ["record", "approved"]}
    audit = cf.Audit(data={"source": "d", **section}, roles=roles, questions=[{"ask": "disparity"}])
    answer = audit.run(data).record["answers"][0]
    if answer["status"] != "answered":
        raise RoleColumnError(answer["reason"])


def by_class(data):
    cfd = cf.CausalFairnessDecomposition(
        data, "y", protected="g", reference=0, comparison=1, mediators=["approved"]
    )
    cfd.analyse_mean_difference()


def by_structure(data, asked):
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse(GRAPH), data)
    cf.decompose_predictive_parity(data, asked, counterfactual=scm, bins=2, replicates=20)


QUESTIONS = {
    "strata": lambda d, m, _: cf.decompose_disparity(d, m, estimator=Strata()),
    "models": lambda d, m, _: cf.decompose_disparity(d, m, estimator=LINES),
    "groups": lambda d, m, _: cf.compare_groups(d, m),
    "estimators": lambda d, m, _: cf.compare_estimators(d, m, [Strata()]),
    "attributes": lambda d, m, _: cf.compare_attributes(
        d.assign(h=d.sex),
        replace(m, protected=("g", "h"), reference=(0, 0), comparison=(1, 1), confounders=()),
    ),
    "error rates": lambda d, m, _: cf.decompose_error_rates(d, m, "ppv", with_mediators=True),
    "necessity": lambda d, m, _: cf.check_business_necessity(d, m, margin=0.1),
    "predictive parity": lambda d, m, _: by_structure(d, m),
    "benchmarks": lambda d, m, _: cf.sensitivity.benchmark_confounders(d, m),
    "class": lambda d, m, _: by_class(d),
    "audit": lambda d, m, _: by_audit(d),
    "decompose": lambda d, m, folder: by_command(d, "decompose", folder),
    "necessity command": lambda d, m, folder: by_command(d, "necessity", folder, "--margin", "0.1"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_outcome_told_backwards_is_refused_by_every_question(question, tmp_path):
    with pytest.raises(RoleColumnError, match=r"'approved' tells 'y' in 100\.0% of rows"):
        QUESTIONS[question](leaking(), LEAKY, tmp_path)


def test_a_column_that_is_accepted_is_used(tmp_path):
    data = leaking()
    found = cf.decompose_disparity(cf.Table(data, accept=["approved"]), LEAKY, estimator=LINES)
    assert found.diagnostics.notes == ()
    by_audit(data.assign(y=data.y * 1.0), accept=["approved"], numeric=["y"], categorical=["sex"])
    by_command(data, "decompose", tmp_path, "--accept", "approved", "--empty-cells", "restrict")
    with pytest.raises(RoleColumnError, match="or --accept 'approved' if it is no copy"):
        by_command(data, "decompose", tmp_path)


def test_estimates_are_made_in_one_place():
    package = Path(role_columns.__file__).parents[1]
    callers = {
        path.stem
        for path in package.rglob("*.py")
        if re.search(r"(?<!>>> )\.estimate\(\w*reading", path.read_text("utf-8"))
    }
    assert callers == {"role_columns"}


# --- what is seen -----------------------------------------------------------------------------

N = 1_500
RNG = np.random.default_rng(5)
DAYS = pd.date_range("2020-01-01", periods=300)[RNG.integers(0, 300, N)]
REFUSED = {
    "number above the outcome": (lambda d: d.y * 5 + RNG.random(N), "'m' tells 'y' .AUC"),
    "ids": (lambda d: RNG.permutation(N) + 7, "'m' has a value of its own in 100.0% of rows"),
    "names": (lambda d: [f"c{i}" for i in range(N)], "as an id has. As a mediator it tells"),
    "dates": (lambda d: DAYS, "'m' holds dates, .* labels: .* Give years, or days"),
    "dates as text": (lambda d: DAYS.strftime("%d.%m.%Y"), "'m' holds dates"),
    "numbers as text": (
        lambda d: RNG.integers(0, 90, N).astype(str),
        r"numeric=\['m'\] reads them as amounts, categorical=\['m'\] takes them as codes",
    ),
}
NOTED = {
    "a score near it": (
        lambda d: d.y + 0.35 * RNG.normal(size=N),
        r"'m' tells 'y' almost \(AUC 0.9",
    ),
    "the group": (lambda d: d.g * 3 + RNG.random(N), "'m' tells the group"),
    "a constant": (lambda d: np.ones(N), "'m' has one value in 100.0% of rows"),
    "a copy": (lambda d: 7 - 3 * d.sex, "'m' and 'sex' say the same"),
    "a copy of numbers": (lambda d: -2 * d.age, "'age' and 'm' say the same"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_nothing_can_stand_on_is_refused(kind):
    made, says = REFUSED[kind]
    with pytest.raises(RoleColumnError, match=says):
        looked(people().assign(m=made))


@pytest.mark.parametrize("kind", NOTED)
def test_what_is_doubtful_is_noted(kind):
    made, says = NOTED[kind]
    data = people().assign(m=made)
    notes = looked(data)
    assert len(notes) == 1
    assert re.match(says, notes[0])
    assert looked(cf.Table(data, accept=["m"])) == ()


def test_a_number_that_fixes_a_number_is_refused():
    data = people().assign(m=lambda d: d.age * 2, y=lambda d: d.age**3)
    with pytest.raises(RoleColumnError, match=r"'m' tells 'y' \(R2 1\.000\)"):
        looked(data, model(("sex",), ("m",)))


def test_confounders_that_tell_the_group():
    data = people()
    with pytest.raises(GroupColumnError, match="leaves nobody in the other group"):
        looked(data.assign(m=data.g + 4), model(("m",), ("record",)))
    near = data.assign(m=data.g * 2.3 + RNG.normal(size=N))
    (note,) = looked(near, model(("age", "m"), ("record",)))
    assert re.match(r"the confounders tell the group almost \(AUC 0\.9.*: about 0\.0", note)


@pytest.mark.parametrize("setting", ["categorical", "numeric"])
def test_text_of_numbers_is_read_as_it_is_said(setting):
    data = people().assign(m=RNG.integers(0, 90, N).astype(str))
    assert looked(cf.Table(data, **{setting: ["m"]})) == ()


def test_honest_columns_go_unmentioned():
    data = people().assign(m=lambda d: RNG.integers(18, 90, N))
    assert looked(data) == ()
    strong = data.assign(m=lambda d: np.where(RNG.random(N) < 0.9, d.y, 1 - d.y))
    assert looked(strong) == ()
    texts = data.assign(m=lambda d: np.where(d.record == 1, "1", "2"))
    assert [*looked(texts)] == ["'m' and 'record' say the same: leave one of them out"]


def test_a_handful_of_people_is_not_looked_at():
    data = people(40).assign(m=lambda d: d.y)
    assert looked(data) == ()


# --- predictions ------------------------------------------------------------------------------


def test_a_prediction_may_be_made_of_its_inputs():
    data = people().assign(m=lambda d: np.round(d.age, 1), p=lambda d: (d.m > 0.3) * 1)
    asked = model(("sex",), ("m", "record"), prediction="p")
    (note,) = looked(data, asked, "prediction")
    assert note.startswith("'m' tells 'p' (AUC 1.000). If it is 'p' under another name")
    by_model = replace(asked, prediction=lambda rows: (rows["m"] > 0.3) * 1)
    found = cf.decompose_disparity(data, by_model, of="prediction")
    assert not any("tells" in note for note in found.diagnostics.notes)


# --- codes taken for amounts ------------------------------------------------------------------


def occupations(n=3_000, seed=0):
    """Sixty codes decide about group and outcome, in no order; the direct effect is .3."""
    rng = np.random.default_rng(seed)
    base, code = rng.normal(size=60), rng.integers(0, 60, n)
    g = (rng.random(n) < 1 / (1 + np.exp(-base[code]))).astype(int)
    y = 0.3 * g + (0.8 * base + 0.4 * rng.normal(size=60))[code] + rng.normal(size=n)
    return pd.DataFrame({"g": g, "occupation": 100 + 3 * code, "y": y})


def test_codes_are_named_with_both_losses():
    asked, data = model(("occupation",), ()), occupations()
    found = cf.decompose_disparity(data, asked, estimator=LINES)
    (note,) = (each for each in found.diagnostics.notes if "occupation" in each)
    labels, amounts = map(float, re.findall(r"(?:error of|with) (\d\.\d+)", note))
    assert labels < 0.98 * amounts
    assert "categorical=['occupation'] takes them as labels" in note
    for said in ("categorical", "numeric", "accept"):
        assert looked(cf.Table(data, **{said: ["occupation"]}), asked) == ()


def test_amounts_are_not_taken_for_codes():
    rng, n = np.random.default_rng(3), 3_000
    age, g = rng.integers(18, 90, n), rng.integers(0, 2, n)
    shapes = {
        "bent": np.abs(age - 40) / 10,
        "wave": np.sin(age / 6),
        "steps": 1.0 * (age > 25) + (age > 65),
        "none": 0 * age,
    }
    for shape in shapes.values():
        data = pd.DataFrame({"g": g, "age": age, "y": shape + rng.normal(size=n)})
        assert looked(data, model(("age",), ())) == ()


# --- what must not matter ---------------------------------------------------------------------


def test_neither_the_order_of_rows_nor_that_of_roles_matters(monkeypatch):
    monkeypatch.setattr(role_columns, "SAMPLE", 1_000)
    data = people().assign(m=lambda d: d.y + 0.35 * np.round(RNG.normal(size=N), 1))
    whole = looked(data, model(("age", "sex"), ("m", "record")))
    shuffled = data.sample(frac=1, random_state=0).reset_index(drop=True)
    assert looked(shuffled, model(("sex", "age"), ("record", "m"))) == whole
    assert looked(shuffled[["y", "m", "record", "age", "sex", "g"]]) == whole


def test_cells_say_what_rows_say_without_a_second_pass():
    data = leaking()
    counts = Strata().read(open_table(data), LEAKY, "outcome")
    with pytest.raises(RoleColumnError) as by_cells:
        look_at(counts, LEAKY)
    with pytest.raises(RoleColumnError) as by_rows:
        looked(data, LEAKY)
    assert str(by_cells.value) == str(by_rows.value)
    honest = data.assign(approved=7 - 3 * data.record)
    assert look_at(Strata().read(open_table(honest), LEAKY, "outcome"), LEAKY) == looked(
        honest, LEAKY
    )


def test_a_study_looks_once(monkeypatch):
    data, asked, times = people(), model(), []
    look = role_columns._look
    monkeypatch.setattr(role_columns, "_look", lambda seen: times.append(seen) or look(seen))
    with remembered_fits():
        first, again = (looked(data.copy(), asked) for _ in range(2))
    assert first == again
    assert len(times) == 1


# --- bundled data -----------------------------------------------------------------------------

RACES = {"protected": "race", "reference": "Caucasian", "comparison": "African-American"}
SEXES = {"protected": "sex", "reference": "Male", "comparison": "Female"}
RECORD = ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "c_charge_degree")
BUNDLED = {
    "compas": (RACES, ("age", "sex"), RECORD, {"outcome": "two_year_recid"}),
    "adult": (
        SEXES,
        ("age", "race", "native_country"),
        ("marital_status", "education_num", "workclass", "occupation", "hours_per_week"),
        {"outcome": "income", "outcome_value": ">50K"},
    ),
    "german_credit": (
        SEXES,
        ("age",),
        ("credit_amount", "duration_months", "savings", "employment_since", "housing", "job"),
        {"outcome": "credit_risk", "outcome_value": "good"},
    ),
    "law_school": (
        {"protected": "race", "reference": "White", "comparison": "Black"},
        ("sex",),
        ("lsat", "ugpa"),
        {"outcome": "zfya"},
    ),
}


@pytest.mark.parametrize("name", BUNDLED)
def test_nothing_is_said_of_bundled_data(name):
    groups, confounders, mediators, outcome = BUNDLED[name]
    data = getattr(cf.datasets, f"load_{name}")()
    asked = cf.StandardFairnessModel(
        **groups, **outcome, confounders=confounders, mediators=mediators
    )
    assert look_at(open_table(data, missing="drop").rows(asked, "outcome"), asked) == ()


def test_nothing_is_said_of_bundled_audits_and_worlds():
    folder = Path(cf.audit.__file__).parent / "files"
    for file in folder.glob("*.toml"):
        audit = cf.Audit.from_file(file)
        roles = audit.roles.model(audit.roles.prediction)
        data = open_table(getattr(cf.datasets, f"load_{audit.data.source.partition(':')[2]}")())
        for of in ("outcome", "prediction"):
            assert look_at(data.rows(roles, of), roles) == ()
    for world in (cf.datasets.worlds.binary(), cf.datasets.worlds.linear_gaussian()):
        drawn = open_table(world.draw(2_000, seed=0))
        assert look_at(drawn.rows(world.model, "outcome"), world.model) == ()


# --- codes for missing values -----------------------------------------------------------------


@pytest.mark.parametrize("code", [999, -9, 99_999])
def test_codes_for_missing_values_are_named(code):
    rng = np.random.default_rng(5)
    data = people().assign(m=rng.integers(20, 30, 1_500)).astype({"m": float})
    data.loc[rng.random(1_500) < 0.03, "m"] = code
    (note,) = looked(data)
    share = (data.m == code).mean()
    assert note.startswith(f"{code:g} stands in {share:.1%} of rows of 'm', far from all other")
    for said in ("categorical", "numeric", "accept"):
        assert looked(cf.Table(data, **{said: ["m"]})) == ()
    few = data.assign(m=data.m // 2)  # the same of counted cells, without a sample of rows
    few.loc[data.m == code, "m"] = code
    assert looked(few)[0].startswith(f"{code:g} stands in")
    (found,) = cf.decompose_disparity(
        few, model(("sex",), ("m",)), estimator=Strata()
    ).diagnostics.notes[:1]
    assert found.startswith(f"{code:g} stands in")


def test_numbers_that_have_neighbors_are_no_codes_for_missing_values():
    rng = np.random.default_rng(6)
    counts = np.minimum(rng.geometric(0.4, 1_500), 9)  # capped: 9 stands for 9 and more
    for m in (counts, rng.integers(0, 2, 1_500) * 2 - 1, rng.integers(0, 100, 1_500)):
        assert looked(people().assign(m=m)) == ()


# --- leaks through several columns ------------------------------------------------------------


def test_an_outcome_that_two_columns_tell_together_is_noted():
    """Neither of two random columns says anything; their sum is the outcome."""
    rng = np.random.default_rng(7)
    data = people().assign(m=rng.integers(0, 2, 1_500))
    data["record"] = data.m ^ data.y
    (note,) = looked(data)
    assert note.startswith("confounders and mediators together tell 'y' in 100.0% of rows")
    asked = model(("sex",), ("m", "record"))
    found = cf.decompose_disparity(data, asked, estimator=Strata())
    assert any(each.startswith("confounders and med") for each in found.diagnostics.notes)
    rate = rng.uniform(1, 3, 1_500)
    assert looked(people().assign(m=rate)) == ()
    times = (
        people()
        .assign(m=rate, record=rng.integers(20, 60, 1_500))
        .assign(y=lambda d: d.record * d.m)
    )
    assert "together tell 'y' almost (R2 0.9" in looked(times)[0]


# --- values that stand for missing ones -----------------------------------------------------------


@pytest.mark.parametrize("library", [pd.DataFrame.copy, pl.from_pandas, pa.Table.from_pandas])
@pytest.mark.parametrize("of", ["cells", "rows"])
def test_stand_ins_for_missing_values_are_refused_in_what_is_measured(library, of):
    data = people(600)
    asked = model(outcome_value="1")
    gaps = (data.g == 1) & (np.arange(600) % 3 == 0)
    text = data.assign(y=data.y.astype(str).where(~gaps, "NA"))
    coded = data.assign(y=data.y.where(~gaps, 9))
    named = data.assign(g=data.g.astype(str).where(~gaps, "?"))
    told = cf.StandardFairnessModel(
        **(ROLES | {"reference": "0", "comparison": "1"}), confounders=["sex"]
    )

    def read(table, roles):
        return table.cells(roles, "outcome") if of == "cells" else table.rows(roles, "outcome")

    for frame, roles, value, name in (
        (text, asked, "'NA'", "y"),
        (coded, model(), "9", "y"),
        (coded, model(outcome_value=1), "9", "y"),
        (named, told, "'?'", "g"),
    ):
        with pytest.raises(RoleColumnError, match=rf"^{re.escape(value)}.* rows of '{name}'"):
            read(cf.Table(library(frame), missing="drop"), roles)
        read(cf.Table(library(frame), accept=[name]), roles)
    read(cf.Table(library(data.assign(y=data.y.where(data.y == 1, -1)))), model())  # two values
    read(cf.Table(library(text)), model(outcome_value="NA"))  # asked for by name


def test_stand_ins_for_missing_values_are_noted_elsewhere():
    data = people(600).assign(m=lambda d: np.where(d.age > 1, "unknown", "a"))
    assert any("'unknown' stands in" in note for note in looked(data))
    assert not any("stands in" in note for note in looked(cf.Table(data, categorical=["m"])))
    paid = data.assign(y=np.where(np.arange(600) % 10 == 0, 99_999, data.age))
    assert any("99999 stands in 10.0% of rows of 'y'" in note for note in looked(paid))


def test_several_codes_beside_zero_and_one_are_refused_too():
    data = people()
    data.loc[:30, "y"], data.loc[31:60, "y"] = 9, 99
    with pytest.raises(RoleColumnError, match=r"9 stands in 4\.1% of rows of 'y', as missing"):
        cf.decompose_disparity(data, model(), estimator=Strata())
