"""Models come back from their files as they were, and nothing runs code unasked."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import causalfairness as cf
from causalfairness.errors import ColumnTypeError, MechanismError, SourceError, TrustError
from causalfairness.scm import (
    Additive,
    Bounded,
    Categorical,
    Deterministic,
    Linear,
    LogNormal,
    Monotone,
    NegativeBinomial,
    Ordered,
    StructuralEquation,
)

Model = cf.StructuralCausalModel
GRAPH = cf.CausalGraph.parse(
    'sex <-> age; {sex, age, "home region"} -> {job, level, visits, pay, share, wealth}'
)
PARAMETRIC = {
    "job": Categorical(),
    "level": Ordered(),
    "visits": NegativeBinomial(),
    "pay": Linear(),
    "share": Bounded(0, 1),
    "wealth": LogNormal(),
}
SWAP = {"sex": {"F": "M", "M": "F"}}


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["F", "M"], n), rng.normal(40, 9, n)
    lean = (sex == "M") + rng.normal(size=n)
    return pd.DataFrame(
        {
            "sex": sex,
            "age": age,
            "home region": rng.choice(["north", "south", "west"], n),
            "job": np.array(["clerk", "nurse", "smith"])[np.digitize(lean, [0, 1])],
            "level": np.digitize(lean + rng.normal(size=n), [-1, 0, 1]),
            "visits": rng.poisson(np.exp(1 + lean / 4)),
            "pay": lean + age / 9,
            "share": 1 / (1 + np.exp(-lean)),
            "wealth": np.exp(lean),
        }
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def same(one, other):
    data = people()
    pd.testing.assert_frame_equal(
        one.counterfactual(data, do=SWAP, seed=3), other.counterfactual(data, do=SWAP, seed=3)
    )
    pd.testing.assert_frame_equal(
        one.sample(50, seed=4), other.sample(50, seed=4), check_dtype=False
    )
    assert one.fits == other.fits
    assert one.assumptions == other.assumptions
    assert one.graph == other.graph


def test_parametric_models_are_plain_json_and_come_back_exactly(path):
    scm = Model.fit(GRAPH, people(), PARAMETRIC)
    scm.save(path)
    assert [each.name for each in path.parent.iterdir()] == ["model.json"]
    record = json.loads(path.read_text("utf-8"))
    assert record["graph"] == GRAPH.to_text()
    assert record["mechanisms"]["pay"]["is"] == "LinearEquation"
    same(scm, Model.load(path))


def test_monotone_and_chosen_models_come_back(path):
    mechanisms = PARAMETRIC | {"job": Categorical(coupling=Monotone())}
    scm = Model.fit(GRAPH, people(), mechanisms)
    scm.save(path)
    same(scm, Model.load(str(path)))


def test_a_loaded_model_can_be_saved_again(path, tmp_path):
    Model.fit(GRAPH, people(), PARAMETRIC).save(path)
    again = tmp_path / "again.json"
    Model.load(path).save(again)
    assert again.read_bytes() == path.read_bytes()


def test_learners_are_loaded_only_when_trusted(path):
    learned = PARAMETRIC | {"pay": Additive(), "job": Categorical(GaussianNB())}
    scm = Model.fit(GRAPH, people(), learned)
    scm.save(path)
    assert sorted(each.name for each in path.parent.iterdir()) == ["model.joblib", "model.json"]
    with pytest.raises(TrustError, match=r"'model.json' has scikit-learn models in 'model.joblib'"):
        Model.load(path)
    same(scm, Model.load(path, trust=True))


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (open, (self.target, "w"))


def test_a_file_of_learners_that_was_exchanged_is_not_loaded(path, tmp_path):
    Model.fit(GRAPH, people(), PARAMETRIC | {"pay": Additive()}).save(path)
    evil = path.with_suffix(".joblib")
    evil.write_bytes(pickle.dumps(Bomb(str(tmp_path / "boom"))))
    for trust in (False, True):
        with pytest.raises(TrustError):
            Model.load(path, trust=trust)
    assert not (tmp_path / "boom").exists()
    evil.unlink()
    with pytest.raises(SourceError, match=r"the learners of .* are not there"):
        Model.load(path, trust=True)


def test_functions_are_not_saved_and_are_asked_for(path):
    given = {
        "pay": StructuralEquation(lambda v, u: v["age"] / 9 + u, lambda y, v: y - v["age"] / 9),
        "job": Categorical(lambda causes: np.array([0.5, 0.3, 0.2])),
    }
    scm = Model.fit(GRAPH, people(), PARAMETRIC | given)
    scm.save(path)
    with pytest.raises(
        MechanismError, match=r"of '(pay|job)' is a function, which is not saved; g"
    ):
        Model.load(path)
    same(scm, Model.load(path, mechanisms=given))


def test_a_rule_is_asked_for_as_well(path):
    data = people().assign(old=lambda d: (d.age > 40).astype(int))
    rule = {"old": Deterministic(lambda causes: causes["age"] > 40)}
    graph = cf.CausalGraph.parse("age -> old")
    Model.fit(graph, data, rule).save(path)
    found = Model.load(path, mechanisms=rule).counterfactual(data, do={"age": 50.0})
    assert (found["old"] == 1).all()


def test_a_file_that_is_no_model_is_refused(path):
    with pytest.raises(SourceError, match="there is no file"):
        Model.load(path)
    path.write_text("{not json", "utf-8")
    with pytest.raises(SourceError, match="is no saved model"):
        Model.load(path)
    path.write_text('{"version": 99}', "utf-8")
    with pytest.raises(SourceError, match="is no structural causal model of version 1"):
        Model.load(path)


def test_a_loaded_model_still_refuses_what_it_does_not_know(path):
    Model.fit(GRAPH, people(), PARAMETRIC).save(path)
    with pytest.raises(ColumnTypeError, match="has the value 'X', which was not there"):
        Model.load(path).counterfactual(people().replace("F", "X"), do={"sex": "M"})
