"""Do single attributes and their intersection stand side by side, each what it would be alone?"""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.errors import RoleError
from causalfairness.estimators import DoublyRobust, Strata
from causalfairness.tables import open_table
from judging import PARTS

MODEL = cf.StandardFairnessModel(
    protected=["race", "sex"],
    reference=("white", "m"),
    comparison=("black", "f"),
    mediators=["grade"],
    outcome="hired",
)

LINEAR = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression())


def people(n, seed, *, extra=0.0):
    """Race and sex each cost ten points; together `extra` more. Grades are blind to both."""
    rng = np.random.default_rng(seed)
    race = np.where(rng.random(n) < 0.4, "black", "white")
    sex = np.where(rng.random(n) < 0.55, "f", "m")
    grade = rng.integers(0, 3, n)
    black, female = race == "black", sex == "f"
    chance = 0.5 + 0.1 * grade - 0.1 * black - 0.1 * female - extra * (black & female)
    hired = (rng.random(n) < chance).astype(int)
    return pd.DataFrame({"race": race, "sex": sex, "grade": grade, "hired": hired})


def test_each_question_is_the_one_asked_alone():
    data = people(4_000, seed=0)
    found = cf.compare_attributes(data, MODEL)
    alone = {
        "race": replace(
            MODEL, protected="race", reference="white", comparison="black", confounders=["sex"]
        ),
        "sex": replace(MODEL, protected="sex", reference="m", comparison="f", confounders=["race"]),
        "race and sex": MODEL,
    }
    assert list(found.by_attribute) == list(alone)
    for name, model in alone.items():
        one = cf.decompose_disparity(data, model)
        for part in PARTS:
            assert getattr(found.by_attribute[name], part).value == getattr(one, part).value


def test_what_only_the_intersection_suffers_shows_there():
    found = cf.compare_attributes(people(40_000, seed=1, extra=0.2), MODEL).by_attribute
    truth = {"race": -0.1 - 0.2 * 0.55, "sex": -0.1 - 0.2 * 0.4, "race and sex": -0.4}
    for name, expected in truth.items():
        total = found[name].total
        assert abs(total.value - expected) < 4 * total.standard_error, name
    single = abs(found["race"].total.value) + abs(found["sex"].total.value)
    assert abs(found["race and sex"].total.value) < single + 0.1


def test_small_groups_are_named_and_not_pooled():
    data = people(2_000, seed=2)
    few = pd.DataFrame({"race": ["other"] * 3, "sex": ["f"] * 3, "grade": [0, 1, 2], "hired": 1})
    found = cf.compare_attributes(pd.concat([data, few], ignore_index=True), MODEL)
    assert found.people["other", "f"] == 3
    assert sum(found.people.values()) == 2_003
    assert found.small() == {("other", "f"): 3}
    assert "Only 3 people are other, f: little can be said of them." in str(found)
    assert found.by_attribute["race"].diagnostics.rows.outside == 3


def test_counts_do_not_depend_on_where_the_data_lives():
    data = people(500, seed=3)
    lazy = duckdb.from_arrow(pa.Table.from_pandas(data))
    assert open_table(data).people(MODEL) == open_table(lazy).people(MODEL)


def test_an_attribute_shared_by_both_groups_is_no_question_of_its_own():
    found = cf.compare_attributes(people(2_000, seed=4), replace(MODEL, reference=("white", "f")))
    assert list(found.by_attribute) == ["race", "race and sex"]


def test_a_question_without_overlap_is_reported_beside_the_others():
    data = people(2_000, seed=5)
    chosen = np.random.default_rng(0).random(2_000) < 0.5
    data["school"] = np.where((data["sex"] == "f") & chosen, "girls", "mixed")
    model = replace(MODEL, mediators=["grade", "school"])
    found = cf.compare_attributes(data, model, estimator=Strata())
    assert list(found.by_attribute) == ["race"]
    assert "seen in one group only" in found.refused["race and sex"]
    assert "not compared: race and sex" in str(found)


def test_answers_are_drawn_on_one_basis_and_can_be_subtracted():
    found = cf.compare_attributes(people(1_500, seed=6), MODEL, estimator=LINEAR)
    race, both = found.by_attribute["race"].direct, found.by_attribute["race and sex"].direct
    assert (both - race).standard_error > 0
    assert found.table().names[0] == "race: total"
    assert "<pre>" in found._repr_html_()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protected": "race", "reference": "white", "comparison": "black"}, "one protected"),
        ({"comparison": None}, "only between named groups"),
    ],
)
def test_what_is_no_intersection_is_refused(change, message):
    with pytest.raises(RoleError, match=message):
        cf.compare_attributes(people(200, seed=0), replace(MODEL, **change))
