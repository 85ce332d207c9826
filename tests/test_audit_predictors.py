"""Is a model asked only where it is trusted, and does it answer as it would by itself?"""

import joblib
import pytest
from sklearn.linear_model import LogisticRegression

import causalfairness as cf
from audit_studies import ROLES, people, study
from causalfairness.errors import AuditError, PredictorError, TrustError

FUNCTION = """
def predict(people):
    return 0.2 + 0.3 * (people["group"] == "green") + 0.3 * people["m1"]

not_a_function = 5
"""
ASKED = [
    {"ask": "disparity", "of": "prediction"},
    {"ask": "group_metrics"},
    {"ask": "counterfactual_fairness"},
    {"ask": "invariance", "features": ["c1", "c2"]},
    {"ask": "predictive_parity", "bins": 4, "replicates": 50},
]


@pytest.fixture(scope="module")
def data():
    return people(800)


def audit_in(folder, predictor, questions=None):
    """An audit file beside its model."""
    import json

    told = {"roles": ROLES, "predictor": predictor, "questions": questions or ASKED}
    path = folder / "audit.json"
    path.write_text(json.dumps(told), "utf-8")
    return cf.Audit.from_file(path)


@pytest.fixture
def model(tmp_path, data):
    frame = data.to_pandas()
    fitted = LogisticRegression().fit(frame[["c1", "m1"]], frame["y"])
    joblib.dump(fitted, tmp_path / "model.joblib")
    return fitted


def test_nothing_is_loaded_without_trust(tmp_path, data):
    (tmp_path / "dangerous_scoring.py").write_text("raise SystemExit('this ran')")
    audit = audit_in(tmp_path, {"function": "dangerous_scoring:predict"})
    with pytest.raises(TrustError, match="trust=True"):
        audit.run(data)
    (tmp_path / "model.joblib").write_bytes(b"anything")
    with pytest.raises(TrustError, match="--trust"):
        audit_in(tmp_path, {"file": "model.joblib"}).run(data)


def test_a_function_is_asked(tmp_path, data):
    (tmp_path / "own_scoring.py").write_text(FUNCTION)
    result = audit_in(tmp_path, {"function": "own_scoring:predict"}).run(data, trust=True)
    assert result.unanswered == {}
    gap = {each["name"]: each for each in result.record["answers"][0]["effects"]}
    assert gap["direct"]["value"] == pytest.approx(0.3)
    assert result.record["model"]["name"] == "own_scoring:predict"
    assert len(result.record["model"]["sha256"]) == 64
    shifts = result["counterfactual fairness: green against blue"]
    assert not any("not at hand" in line for line in shifts["assumptions"])


def test_a_saved_model_is_asked(tmp_path, data, model):
    audit = audit_in(tmp_path, {"file": "model.joblib"})
    result = audit.run(data, trust=True)
    assert result.unanswered == {}
    chance = model.predict_proba(data.to_pandas()[["c1", "m1"]])[:, 1]
    table = result["predictive parity: green against blue"]["table"]
    lowest = table["rows"][0][table["columns"].index("score_from")]
    assert lowest == pytest.approx(chance.min())
    decided = audit_in(
        tmp_path, {"file": "model.joblib", "threshold": 0.5}, [{"ask": "error_rates"}]
    ).run(data, trust=True)
    rates = cf.group_metrics(
        data.append_column("d", [(chance >= 0.5).astype(int).tolist()]),
        cf.StandardFairnessModel(**ROLES, prediction="d"),
    ).gaps().where(metric="fpr")  # fmt: skip
    (expected,) = rates.to_records()
    total = decided.record["answers"][0]["details"]["audited"]
    assert total["value"] == pytest.approx(expected["value"])


def test_another_model_is_another_answer(tmp_path, data, model):
    audit = audit_in(tmp_path, {"file": "model.joblib"}, [{"ask": "group_metrics"}])
    audit.run(data, trust=True, folder=tmp_path)
    again = audit.run(data, trust=True, folder=tmp_path).record
    assert again["timings"]["questions"][0]["restored"]
    frame = data.to_pandas()
    other = LogisticRegression().fit(frame[["c1", "m1", "c2"]], frame["y"])
    joblib.dump(other, tmp_path / "model.joblib")
    changed = audit.run(data, trust=True, folder=tmp_path).record
    assert not changed["timings"]["questions"][0]["restored"]


@pytest.mark.parametrize(
    ("predictor", "words"),
    [
        ({"function": "no_such_module:predict"}, "cannot be loaded: ModuleNotFoundError"),
        ({"function": "own_scoring:not_there"}, "cannot be loaded: AttributeError"),
        ({"function": "own_scoring:not_a_function"}, "is a int, no function"),
        ({"file": "absent.joblib"}, "there is no file"),
        ({"file": "broken.joblib"}, "holds no model that can be loaded"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_refused(tmp_path, data, predictor, words):
    (tmp_path / "own_scoring.py").write_text(FUNCTION)
    (tmp_path / "broken.joblib").write_bytes(b"not a pickle")
    with pytest.raises(AuditError, match=words):
        audit_in(tmp_path, predictor).run(data, trust=True)


def test_a_model_that_needs_columns_without_a_role_is_refused(tmp_path, data):
    frame = data.to_pandas()
    fitted = LogisticRegression().fit(frame[["c1", "score"]], frame["y"])
    joblib.dump(fitted, tmp_path / "model.joblib")
    result = audit_in(tmp_path, {"file": "model.joblib"}, ASKED[:1]).run(data, trust=True)
    (reason,) = result.unanswered.values()
    assert "uses 'score', which it is not given here" in reason
    assert result.record["answers"][0]["refused_by"] == PredictorError.__name__


def test_a_model_may_ask_for_pyarrow(tmp_path, data):
    (tmp_path / "arrow_scoring.py").write_text(
        "def predict(people):\n    return [float(each) for each in people['m1'].to_pylist()]\n"
    )
    choice = {"function": "arrow_scoring:predict", "frame": "pyarrow"}
    result = audit_in(tmp_path, choice, ASKED[:1]).run(data, trust=True)
    assert result.unanswered == {}


def test_a_threshold_needs_numbers(data):
    words = data.append_column("said", [["yes", "no"] * 400])
    roles = ROLES | {"prediction": "said"}
    with pytest.raises(cf.errors.ColumnTypeError, match="holds words"):
        study(roles=roles, predictor={"threshold": 1}).run(words)
