"""Each of four causes for refusing a weighted answer is named where it alone is present.

A group too small, rows that weigh much by themselves, rows that repeat, and groups that hardly
overlap: all make a few rows count for a whole group, and each is mended in another way.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import causalfairness as cf
from causalfairness.errors import OverlapError, SmallGroupError, WeightError
from causalfairness.estimators import DoublyRobust, Mixture, Regression, Weighting
from causalfairness.inference import detectable_effect, difference_error, rows_to_rule_out

MODEL = cf.StandardFairnessModel(
    protected="sex",
    reference="M",
    comparison="F",
    confounders=["c1", "c2"],
    mediators=["m"],
    outcome="y",
)
PLAIN = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())
WEIGHTED, MIXED = Weighting(replicates=20), Mixture(components=1, replicates=20)
BY_WEIGHTS = pytest.mark.parametrize("estimator", [PLAIN, WEIGHTED], ids=["robust", "weighting"])


def people(n=600, *, women=0.5, shift=0.3, seed=0):
    rng = np.random.default_rng(seed)
    group = (np.arange(n) < round(women * n)).astype(int)
    c = rng.normal(size=(n, 2)) + shift * group[:, None]
    m = c[:, 0] + rng.normal(size=n)
    y = m + c[:, 1] + rng.normal(size=n)
    sex = np.array(["M", "F"])[group]
    return pa.table({"sex": sex, "c1": c[:, 0], "c2": c[:, 1], "m": m, "y": y})


def refused(table, estimator, model=MODEL):
    with pytest.raises((OverlapError, WeightError)) as caught:
        cf.decompose_disparity(table, model, estimator=estimator)
    return caught.value, str(caught.value)


@pytest.mark.parametrize(
    "estimator", [PLAIN, WEIGHTED, MIXED], ids=["robust", "weighting", "mixture"]
)
def test_groups_that_hardly_overlap(estimator):
    error, words = refused(people(shift=4.0), estimator)
    assert type(error) is OverlapError
    assert "the groups hardly overlap. The row that counts most weighs" in words
    assert "are those of 0 others in its group and of 0 in the other" in words
    assert "Strata(empty_cells='restrict')" in words
    assert words.endswith("(reference group 'M', comparison group 'F')")


@BY_WEIGHTS
@pytest.mark.parametrize("women", [13, 18])
def test_a_group_that_is_too_small(estimator, women):
    table = people(400, women=women / 400, shift=0.5)
    error, words = refused(table, estimator)
    assert type(error) is SmallGroupError
    assert f"the comparison group has only {women} rows, too few to be weighted" in words
    assert "comparison group 'F'" in words
    assert "hardly overlap" not in words
    y, sex = np.asarray(table["y"]), np.asarray(table["sex"])
    variances = [y[sex == label].var() for label in ("M", "F")]
    least = detectable_effect(difference_error(variances, [400 - women, women]))
    assert f"distinguished from zero four times in five only if it is {least:.2g} or more" in words


@BY_WEIGHTS
def test_a_few_rows_that_weigh_much_by_themselves(estimator):
    weights = np.ones(600)
    weights[[0, 1, -1]] = 5_000.0
    table = people(shift=0.0).append_column("w", pa.array(weights))
    error, words = refused(table, estimator, replace(MODEL, weights="w"))
    assert type(error) is WeightError
    assert "by their own weights, before anything is compared, the 300 rows of the" in words
    assert "one row weighs 5,000 times as much as the median one and makes up" in words
    assert "hardly overlap" not in words
    assert "Check the column of weights" in words


def test_rows_that_repeat():
    once = people(60, shift=0.0)
    table = once.take(np.repeat(np.arange(60), 10))
    memory = DoublyRobust(outcome=LinearRegression(), group=DecisionTreeClassifier(random_state=0))
    error, words = refused(table, memory)
    assert type(error) is OverlapError
    assert "90% of the rows are copies of others" in words
    assert "comes 10 times" in words
    assert "Bring everybody once, with a column of weights" in words
    assert "hardly overlap" not in words


def test_people_alike_in_coarse_columns_are_no_copies():
    """A confounder that is the group: everybody shares it with many, and none is there twice."""
    rng = np.random.default_rng(1)
    table = people().drop_columns(["c1", "c2", "m"])
    told = (np.asarray(table["sex"]) == "F") * 1.0
    table = table.append_column("c", pa.array(told)).append_column(
        "d", pa.array(rng.integers(0, 20, 600))
    )
    asked = cf.Table(table, accept=["c"])
    words = refused(asked, PLAIN, replace(MODEL, confounders=["c", "d"], mediators=[]))[1]
    assert "hardly overlap" in words
    assert "copies" not in words


def test_what_was_cut_and_dropped_is_said_on_the_result():
    table = people().to_pandas()
    table.loc[3, "c1"] = 40.0
    table.loc[7, "c2"] = None
    table["y"] = (table["y"] > 0).astype(int)
    for estimator in (DoublyRobust(folds=2), WEIGHTED, Regression(replicates=20)):
        found = cf.decompose_disparity(table, MODEL, estimator=estimator, missing="drop")
        said = found.diagnostics
        assert any("dropped for missing values as if chance" in line for line in said.assumptions)
        assert any("as if they lay there: c1 (0.17% of rows)" in note for note in said.notes)
    whole = cf.decompose_disparity(table.drop(index=7), MODEL, estimator=WEIGHTED)
    assert not any("missing" in line for line in whole.diagnostics.assumptions)


def test_what_so_many_people_could_show():
    """200 against 800, p = .3: 10.1 points (methods 2, H); a margin of .01 takes 86,000 rows."""
    error = difference_error([0.21, 0.21], [200, 800])
    assert detectable_effect(error) == pytest.approx(0.1015, abs=1e-4)
    assert rows_to_rule_out(0.01, [0.25, 0.25]) == pytest.approx(85_640, abs=10)
    rng = np.random.default_rng(3)
    drawn = rng.normal(detectable_effect(1.0), 1.0, 20_000)
    assert np.mean(np.abs(drawn) > 1.96) == pytest.approx(0.8, abs=0.01)  # 3.5 standard errors
    n = rows_to_rule_out(0.2, [1.0, 1.0], power=0.9)
    se = difference_error([1.0, 1.0], [n / 2, n / 2])
    inside = np.abs(rng.normal(0.0, se, 20_000)) < 0.2 - 1.645 * se
    assert inside.mean() == pytest.approx(0.9, abs=0.008)
    for wrong in (0, 1, 1.5):
        with pytest.raises(ValueError, match="between 0 and 1"):
            detectable_effect(1.0, power=wrong)
    with pytest.raises(ValueError, match="above 0"):
        rows_to_rule_out(0.0, [1.0, 1.0])
