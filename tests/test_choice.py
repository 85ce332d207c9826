"""Which estimator is chosen when the user does not say, and is the reason stated?"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.errors import PredictorError, RoleError

WORLDS = cf.datasets.worlds.WORLDS


def chosen(data, model, **options):
    return str(cf.decompose_disparity(data, model, **options).diagnostics).splitlines()[0]


def test_few_values_and_full_cells_are_counted():
    world = WORLDS["binary"]()
    told = chosen(world.draw(2_000, seed=0), world.model)
    assert told.startswith("estimator: Strata(")
    assert "every combination is seen in both groups" in told


def test_many_values_call_for_models_and_the_column_is_named():
    world = WORLDS["count_mediator"]()
    told = chosen(world.draw(400, seed=0), world.model)
    assert told.startswith("estimator: DoublyRobust(")
    assert "column 'age' has" in told


def test_one_sided_cells_call_for_models():
    rng = np.random.default_rng(0)
    group, c = rng.integers(0, 2, 400), rng.integers(0, 10, 400)
    c[(group == 0) & (c == 9)] = 8
    table = pa.table({"a": group, "c": c, "y": c + rng.normal(size=400)})
    model = cf.StandardFairnessModel(
        protected="a", reference=0, comparison=1, confounders=["c"], outcome="y"
    )
    assert "seen in one group only" in chosen(table, model)


@pytest.mark.parametrize("values", [20, 21])
def test_twenty_values_are_few_and_twenty_one_are_not(values):
    rng = np.random.default_rng(1)
    n = 40 * values
    table = pa.table(
        {
            "a": np.tile([0, 1], n // 2),
            "c": np.repeat(np.arange(values), n // values),
            "y": rng.normal(size=n),
        }
    )
    model = cf.StandardFairnessModel(
        protected="a", reference=0, comparison=1, confounders=["c"], outcome="y"
    )
    assert ("Strata(" in chosen(table, model)) == (values == 20)


def test_lazy_data_is_judged_by_the_same_rule():
    import polars

    world = WORLDS["binary"]()
    lazy = polars.from_arrow(world.draw(2_000, seed=0)).lazy()
    assert chosen(lazy, world.model) == chosen(world.draw(2_000, seed=0), world.model)


def test_an_estimator_given_by_the_user_comes_without_a_reason():
    world = WORLDS["binary"]()
    told = chosen(world.draw(500, seed=0), world.model, estimator=cf.estimators.Strata())
    assert "chosen because" not in told


def test_a_model_as_prediction_is_not_a_column_to_count():
    world = WORLDS["binary"]()
    model = replace(world.model, prediction=lambda frame: np.arange(len(frame)))
    with pytest.raises(PredictorError, match="a model, not a column"):
        cf.decompose_disparity(
            world.draw(100, seed=0), model, of="prediction", estimator=cf.estimators.Strata()
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [({"of": "prediction"}, "names no prediction"), ({"of": "y"}, "'outcome' or 'prediction'")],
)
def test_questions_about_what_the_model_does_not_name_are_refused(options, words):
    world = WORLDS["binary"]()
    with pytest.raises(RoleError, match=words):
        cf.decompose_disparity(world.draw(100, seed=0), world.model, **options)
