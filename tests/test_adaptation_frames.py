"""Every kind of column and library, new rows, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness import errors
from causalfairness.adaptation import LinearQuantiles, SharedQuantiles

GRAPH = cf.CausalGraph.parse(
    "sex <-> age; {sex, age} -> {visits, job, grade, member}; {sex, visits, job, grade, member} "
    "-> pay -> hired"
)
SHARED = SharedQuantiles()


def people(n=600, seed=0):
    """A table with every kind of column."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n, p=[0.4, 0.6])
    high, age = sex == "M", rng.normal(40, 10, n)
    pull = 0.8 * high + 0.02 * age + rng.normal(size=n)
    job = np.array(["nurse", "clerk", "smith"])[np.digitize(pull + rng.normal(size=n), (1.0, 2.0))]
    grade = pd.Categorical.from_codes(
        np.digitize(pull, (0.5, 2.0)), ["low", "mid", "top"], ordered=True
    )
    visits = rng.poisson(np.exp(0.5 + 0.5 * high)).astype(float)
    pay = 10 + pull + visits + 2 * (job == "smith") + rng.normal(size=n)
    return pd.DataFrame(
        {
            "sex": sex,
            "age": age,
            "visits": visits,
            "job": pd.Series(job, dtype="str"),
            "grade": grade,
            "member": rng.random(n) < 0.3 + 0.4 * high,
            "pay": pay.astype(np.float32),
            "hired": (pay > 14).astype(np.int8),
            "name": np.arange(n),
        }
    )


def adapter(**choices):
    told = {"learner": SHARED, "outcome": "hired"} | choices
    return cf.FairAdapter(GRAPH, protected="sex", reference="M", **told)


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.fixture(scope="module")
def fitted(table):
    return adapter().fit(table)


@pytest.fixture(scope="module")
def moved(fitted, table):
    return fitted.transform(table)


# --- columns -------------------------------------------------------------------------------------


def test_types_index_and_order_come_back_as_they_went_in(fitted, table):
    shuffled = table.set_index(table.index * 3 + 7)[list(reversed(table.columns))]
    found = fitted.transform(shuffled)
    assert (found.dtypes == shuffled.dtypes).all()
    assert found.index.equals(shuffled.index)
    assert list(found.columns) == list(shuffled.columns)
    assert found["name"].equals(shuffled["name"])
    assert list(found["grade"].cat.categories) == ["low", "mid", "top"]


def test_adapted_values_are_among_those_seen(moved, table):
    for column in ("visits", "job", "grade", "member", "hired"):
        assert set(moved[column]) <= set(table[column])
    women = (table["sex"] == "F").to_numpy()
    for column in ("visits", "job", "grade", "member", "pay", "hired"):
        assert not moved[column].equals(table[column])
        assert moved[column][~women].equals(table[column][~women])
    assert moved["age"].equals(table["age"])


def test_whole_numbers_behave_as_whole_numbers_however_they_are_stored(fitted, table, moved):
    stored = table.astype({"visits": "int64", "hired": "float64", "member": "int64"})
    found = adapter().fit(stored).transform(stored)
    assert found["visits"].dtype == np.int64
    for column in ("visits", "hired", "member", "pay", "job"):
        assert (found[column].astype(moved[column].dtype) == moved[column]).all()
    lines = adapter(learner=LinearQuantiles()).fit(table).transform(table)
    assert set(lines["visits"]) <= set(table["visits"])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_every_library_gets_the_same_rows_back(library, table, moved):
    plain = table.astype({"grade": "str"})
    expected = adapter().fit(plain).transform(plain)
    frame = pl.from_pandas(plain) if library == "polars" else pa.Table.from_pandas(plain)
    found = adapter().fit(frame).transform(frame)
    assert type(found) is type(frame)
    assert found.schema == frame.schema
    for column in expected.columns:
        values = found[column].to_list() if library == "polars" else found[column].to_pylist()
        assert values == expected[column].to_list()


def test_ranked_categories_keep_their_order_and_others_go_by_the_mean_outcome(fitted, table):
    means = table.groupby("job")["hired"].mean().sort_values()
    assert fitted.report_.orders == {"job": tuple(means.index)}
    assert " < ".join(means.index) in str(fitted.report_)
    # a person who moves up in rank moves up in this order
    twins = fitted.twins(table)
    women = twins[twins["sex"] == "F"]
    place = {job: at for at, job in enumerate(means.index)}
    steps = women["job_adapted"].map(place) - women["job"].map(place)
    assert steps.mean() > 0.1
    assert (women["grade_adapted"].cat.codes - women["grade"].cat.codes).mean() > 0.1


def test_several_protected_columns_make_one_group():
    rng, n = np.random.default_rng(0), 900
    race, sex = rng.choice(["b", "w"], n), rng.choice([0, 1], n)
    y = (race == "b") + 2.0 * sex + rng.normal(size=n)
    data = pd.DataFrame({"race": race, "sex": sex, "y": y})
    graph = cf.CausalGraph.parse("{race, sex} -> y")
    found = cf.FairAdapter(graph, protected=["race", "sex"], reference=("w", 0)).fit(data)
    moved = found.transform(data)
    assert set(moved["race"]) == {"w"}
    assert set(moved["sex"]) == {0}
    own = data[(data["race"] == "w") & (data["sex"] == 0)]["y"].mean()
    for _, inside in data.groupby(["race", "sex"]):
        assert abs(moved["y"][inside.index].mean() - own) < 3 * np.sqrt(2 / 200)


# --- new rows ------------------------------------------------------------------------------------


def test_new_rows_need_no_outcome_and_are_moved_as_with_it(fitted):
    new = people(200, seed=5)
    whole = fitted.transform(new)
    assert fitted.transform(new.drop(columns="hired")).equals(whole.drop(columns="hired"))
    assert "hired" not in fitted.transform(new.drop(columns=["hired", "pay"])).columns


def test_one_row_and_no_row_can_be_moved(fitted, table):
    woman = table[table["sex"] == "F"].head(1)
    assert fitted.transform(woman).shape == woman.shape
    assert fitted.transform(table.head(0)).shape == (0, table.shape[1])


def test_numbers_that_were_not_seen_are_moved_all_the_same(fitted, table):
    woman = table[table["sex"] == "F"].head(1).assign(visits=40.0, pay=np.float32(99))
    assert fitted.transform(woman)["visits"].iloc[0] <= table["visits"].max()


def test_twins_stand_next_to_each_other(fitted, table, moved):
    twins = fitted.twins(table.rename(columns={"name": "pay_adapted"}))
    at = list(twins.columns)
    assert at[:3] == ["sex", "sex_adapted", "age"]
    assert at[at.index("pay") + 1] == "pay_adapted_"
    assert twins["pay_adapted_"].equals(moved["pay"].rename("pay_adapted_"))
    assert twins["pay"].equals(table["pay"])
    assert len(at) == table.shape[1] + 7


def test_the_same_seed_gives_the_same_rows_whatever_the_workers(table, moved):
    assert adapter(workers=2).fit(table).transform(table).equals(moved)
    other = adapter().fit(table)
    assert other.transform(table).equals(moved)
    ties_anew = other.set_params(seed=1).transform(table)  # the same mechanisms
    assert not ties_anew["visits"].equals(moved["visits"])


# --- the report ----------------------------------------------------------------------------------


def test_the_report_says_what_happens_to_each_column(table):
    text = str(adapter(resolving=["visits"], transport_confounders=True).fit(table).report_)
    assert "rows) adapted to M (" in text.splitlines()[0]
    assert "age: transported, given no other column" in text
    assert "visits: resolving, left as they are" in text
    assert "hired: adapted, given pay; all groups share a mechanism (SharedQuantiles: " in text
    assert "another order of these columns gives another answer" in text
    assert "note: name: not in the graph" in text
    records = adapter().fit(table).report_.to_records()
    assert {record["group"] for record in records} == {"M", "F"}
    assert max(record["distance"] for record in records) < 0.15


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"job": "pilot"}, errors.ColumnTypeError, "'job' has the value 'pilot'"),
        ({"sex": "X"}, errors.GroupNotFoundError, "'X', a group that was not there"),
        ({"age": np.nan}, errors.MissingValuesError, "'age' has 1 missing values, and adaptation"),
        ({"job": None}, errors.MissingValuesError, "'job' has 1 missing"),
        ({"sex": None}, errors.MissingValuesError, "'sex' has 1 missing values, and nobody"),
    ],
)
def test_rows_that_cannot_be_placed_are_refused(fitted, table, change, error, message):
    strange = table.head(5).copy()
    for column, value in change.items():
        strange.loc[0, column] = value
    with pytest.raises(error, match=message):
        fitted.transform(strange)


def test_a_column_that_others_follow_from_must_be_there(fitted, table):
    with pytest.raises(errors.ColumnNotFoundError, match="no column 'job'"):
        fitted.transform(table.drop(columns="job"))
    with pytest.raises(errors.ColumnNotFoundError, match="no column 'sex'"):
        fitted.transform(table.drop(columns="sex"))
    with pytest.raises(errors.SourceError, match="ndarray"):
        fitted.transform(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"reference": "Male"}, errors.GroupNotFoundError, "'Male' has no rows.*'F', 'M'"),
        ({"reference": ("M", "F")}, errors.RoleError, "one value for each"),
        ({"resolving": ["age"]}, errors.RoleError, "'age', but 'sex' does not lead to it"),
        ({"resolving": "visits"}, errors.RoleError, r"write \['visits'\]"),
        ({"resolving": ["visit"]}, errors.UnknownNodeError, "visit"),
        ({"resolving": iter(["visits"])}, errors.RoleError, "only once"),
        ({"protected": "hired"}, errors.RoleError, "no arrow out of 'hired'"),
        ({"protected": "race"}, errors.UnknownNodeError, "race"),
        ({"outcome": "sex"}, errors.RoleError, "cannot be the outcome"),
        ({"learner": LinearQuantiles}, errors.LearnerError, "expected one such as"),
        ({"learner": {"jobs": SHARED}}, errors.UnknownNodeError, "jobs"),
    ],
)
def test_questions_that_make_no_sense_are_refused(table, choices, error, message):
    told = {"protected": "sex", "reference": "M", "outcome": None} | choices
    with pytest.raises(error, match=message):
        cf.FairAdapter(GRAPH, **told).fit(table)


def test_a_hidden_cause_of_group_and_mediator_is_refused(table):
    graph = cf.CausalGraph.parse("sex -> visits; sex <-> visits")
    with pytest.raises(errors.NotIdentifiedError, match="sex <-> visits"):
        cf.FairAdapter(graph, protected="sex", reference="M").fit(table)


def test_groups_of_a_handful_are_refused_unless_pooled(table):
    few = table.assign(sex=np.where(table.index < 5, "X", table["sex"]))
    with pytest.raises(errors.TooFewRowsError, match="'X' has 5 rows"):
        adapter().fit(few)
    assert (adapter(pooled=True).fit(few).transform(few)["sex"] == "M").all()
    with pytest.raises(errors.GroupNotFoundError, match="nobody to adapt"):
        adapter().fit(table[table["sex"] == "M"])


def test_categories_without_an_order_need_an_outcome(table):
    graph = cf.CausalGraph.parse("sex -> job; sex -> pay")
    with pytest.raises(
        errors.RoleError, match=r"'job' has categories without an order.*no outcome"
    ):
        cf.FairAdapter(graph, protected="sex", reference="M").fit(table)
    alone = cf.FairAdapter(graph, protected="sex", reference="M", outcome="pay", learner=SHARED)
    with pytest.raises(errors.RoleError, match="'pay' is not in the data"):
        alone.fit(table.drop(columns="pay"))
    assert alone.fit(table.drop(columns="pay"), table["pay"]).report_.orders["job"][-1] == "smith"
    with pytest.raises(errors.RoleError, match="3 unordered labels"):
        alone.fit(table.drop(columns="pay"), table["job"].to_numpy())
