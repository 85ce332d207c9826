"""Does every interface give a model its own columns, in one order, or refuse it by name?"""

from functools import partial

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import causalfairness as cf
from causalfairness.errors import (
    GroupNotFoundError,
    OutcomeError,
    PredictorError,
    RoleError,
    SourceError,
)
from causalfairness.estimators import KnownModel
from causalfairness.estimators.answers import check_order, features_of, own_order
from causalfairness.individuals.auditee import auditee_of

COLUMNS = ["g", "sex", "age", "record"]
GROUPS = {"protected": "g", "reference": 0, "comparison": 1}
ORDERS = (["sex", "age"], ["age", "sex"])
LEARNERS = {"group": LogisticRegression(), "nested": LinearRegression(), "folds": 2}


def people(n=300):
    rng = np.random.default_rng(20)
    age, sex = rng.normal(size=n), rng.integers(0, 2, n)
    g = (rng.random(n) < 1 / (1 + np.exp(-0.8 * age))).astype(int)
    record = rng.poisson(np.exp(0.4 * g - 0.3 * age))
    y = (rng.random(n) < 1 / (1 + np.exp(1 - 0.6 * record + 0.5 * age))).astype(int)
    return pd.DataFrame({"g": g, "sex": sex, "age": age, "record": record, "y": y})


DATA = people()
X, Y = DATA[COLUMNS], DATA["y"].to_numpy()
NAMED = LogisticRegression().fit(X, Y)
NAMELESS = LogisticRegression().fit(X.to_numpy(), Y)
GRAPH = cf.CausalGraph.parse("g <-> {age, sex}; {g, age, sex} -> record")
SCM = cf.StructuralCausalModel.fit(GRAPH, DATA, seed=0)


def roles(confounders, **told):
    return cf.StandardFairnessModel(
        **GROUPS, confounders=confounders, mediators=["record"], outcome="y", **told
    )


def disparity(model):
    found = cf.decompose_disparity(
        DATA, model, of="prediction", estimator=KnownModel(model.predict, **LEARNERS)
    )
    return [found.total.value, found.direct.value, found.direct.standard_error]


def error_rates(model):
    found = cf.decompose_error_rates(
        DATA, model, "fpr", with_mediators=True, estimator=KnownModel(model.predict, **LEARNERS)
    )
    return [found.total.value, found.direct.value, found.direct.standard_error]


def group_metrics(model):
    return [each["value"] for each in cf.group_metrics(DATA, model).gaps().to_records()]


def predictive_parity(model):
    found = cf.decompose_predictive_parity(DATA, model, bins=2, replicates=20)
    return found.ppm.integrated.value


def structural(model):
    taken = cf.estimators.Structural(SCM, replicates=None)
    found = cf.decompose_disparity(DATA, model, of="prediction", estimator=taken)
    return [found.total.value, found.direct.value]


DOORS = (disparity, error_rates, group_metrics, predictive_parity, structural)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_an_array_model_answers_as_the_one_of_a_frame_or_is_refused(door):
    expected = door(roles(ORDERS[0], prediction=NAMED.predict))
    for order in ORDERS:
        told = roles(order, prediction=NAMELESS.predict, predictor_columns=COLUMNS)
        assert door(told) == pytest.approx(expected, abs=1e-9)
        with pytest.raises(PredictorError, match=r"takes 4 columns and has no names.*predictor_c"):
            door(roles(order, prediction=NAMELESS.predict))


def unnamed(people):
    return NAMELESS.predict(np.asarray(people))


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_function_that_goes_by_place_is_told_its_columns_or_refused(door):
    expected = door(roles(ORDERS[0], prediction=NAMED.predict))
    told = roles(ORDERS[1], prediction=unnamed, predictor_columns=COLUMNS)
    assert door(told) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(PredictorError, match="change with the order of the columns"):
        door(roles(ORDERS[1], prediction=unnamed))


def totals(predictor, **told):
    estimator = KnownModel(predictor.predict, **LEARNERS)
    for order in ORDERS:
        settings = {"confounders": order, "mediators": ["record"], "estimator": estimator, **told}
        asked = cf.CausalFairnessDecomposition(X, Y, predictor=predictor, **GROUPS, **settings)
        yield asked.analyse_mean_difference().total.value
        yield asked.analyse_counterfactual_fairness(scm=SCM)[1].shift.value


def test_the_class_gives_an_array_model_the_order_of_x():
    expected = [*totals(NAMED)]
    assert expected[:2] == pytest.approx(expected[2:], abs=1e-12)
    plain = NAMED.predict(X)
    gap = plain[DATA.g == 1].mean() - plain[DATA.g == 0].mean()
    assert expected[0] == pytest.approx(gap, abs=1e-12)
    assert [*totals(NAMELESS)] == pytest.approx(expected, abs=1e-12)
    shuffled = LogisticRegression().fit(X[COLUMNS[::-1]].to_numpy(), Y)
    told = [*totals(shuffled, predictor_columns=COLUMNS[::-1])]
    assert told == pytest.approx(expected, abs=1e-4)  # fitted to the same, in another order


def test_pipelines_searches_and_bound_methods_are_asked_alike():
    for kind in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2),
    ):
        expected = [*totals(clone(kind).fit(X, Y))]
        nameless = clone(kind).fit(X.to_numpy(), Y)
        assert [*totals(nameless)] == pytest.approx(expected, abs=1e-12)
        bound = roles(ORDERS[1], prediction=partial(nameless.predict), predictor_columns=COLUMNS)
        assert disparity(bound)[0] == pytest.approx(expected[0], abs=1e-12)
    chances = roles(ORDERS[1], prediction=NAMED.predict_proba)
    with pytest.raises(PredictorError, match="returned 600 values for 300 rows"):
        disparity(chances)


def test_widths_and_names_that_do_not_fit_are_named():
    three = LogisticRegression().fit(X.to_numpy()[:, :3], Y)
    with pytest.raises(PredictorError, match="takes 3 columns and has no names"):
        next(totals(three))
    with pytest.raises(PredictorError, match="takes 3 columns and predictor_columns names 4"):
        next(totals(three, predictor_columns=COLUMNS))
    with pytest.raises(PredictorError, match="fitted to the columns 'g', 'sex', 'age', 'record'"):
        next(totals(NAMED, predictor_columns=COLUMNS[::-1]))
    with pytest.raises(PredictorError, match="'pay', which have no role"):
        next(totals(NAMELESS, predictor_columns=["g", "sex", "age", "pay"]))
    with pytest.raises(RoleError, match="predictor_columns is a list of names"):
        next(totals(NAMELESS, predictor_columns="g"))
    without = DATA.drop(columns="sex")
    scm = cf.StructuralCausalModel.fit(cf.CausalGraph.parse("g -> record"), without, seed=0)
    with pytest.raises(PredictorError, match="'sex', not given here"):
        cf.counterfactual_fairness(NAMED, without, scm, {"g": 1})


def test_individuals_are_asked_about_in_one_order():
    expected = cf.counterfactual_fairness(NAMED, DATA, SCM, {"g": 1})[0].shift.value
    by_order = [
        cf.counterfactual_fairness(NAMELESS, X, SCM, {"g": 1}),
        cf.counterfactual_fairness(NAMELESS, DATA, SCM, {"g": 1}, predictor_columns=COLUMNS),
    ]
    told = cf.compare_graphs(NAMELESS, DATA, {"a": SCM}, {"g": 1}, predictor_columns=COLUMNS)
    by_order.append(told.by_graph["a"])
    for found in by_order:
        assert found[0].shift.value == pytest.approx(expected, abs=1e-12)
    with pytest.raises(PredictorError, match="takes 4 columns and has no names"):
        cf.counterfactual_fairness(NAMELESS, DATA, SCM, {"g": 1})
    with pytest.raises(PredictorError, match="change with the order"):
        cf.counterfactual_fairness(unnamed, X, SCM, {"g": 1})
    asked = {
        **GROUPS, "features": ["age", "record"], "decision": "y", "favorable": 1, "k": 5,
        "ids": None,
    }  # fmt: skip
    aged = lambda people: (np.asarray(people)[:, 2] > 0).astype(int)  # noqa: E731
    for predict, words in ((NAMELESS, "no names"), (aged, "change with the order")):
        with pytest.raises(PredictorError, match=words):
            cf.counterfactual_situation_test(DATA, SCM, predict=predict, **asked)


def test_audit_files_say_the_order(tmp_path):
    joblib.dump(NAMELESS, tmp_path / "nameless.joblib")
    joblib.dump(NAMED, tmp_path / "named.joblib")
    (tmp_path / "going_by_place.py").write_text(
        "import joblib, numpy, pathlib\n"
        "model = joblib.load(pathlib.Path(__file__).parent / 'nameless.joblib')\n"
        "def predict(people): return model.predict(numpy.asarray(people))\n"
    )
    asked = {
        "roles": {**GROUPS, "confounders": ["age", "sex"], "mediators": ["record"], "outcome": "y"},
        "questions": [{"ask": "group_metrics"}, {"ask": "counterfactual_fairness"}],
    }

    def answered(**predictor):
        audit = cf.Audit(**asked, predictor=predictor).found_in(tmp_path)
        return audit.run(DATA, trust=True)

    def values(result):
        return [[each["value"] for each in one["effects"]] for one in result.record["answers"]]

    expected = values(answered(file="named.joblib"))
    for code in ({"file": "nameless.joblib"}, {"function": "going_by_place:predict"}):
        found = values(answered(**code, columns=COLUMNS))
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, abs=1e-12)
        refused = answered(**code).unanswered
        assert len(refused) == 2
        assert "predictor.columns in an audit file" in refused["group metrics"]
    with pytest.raises(cf.errors.AuditError, match="columns says what a function or model takes"):
        cf.Audit(roles=asked["roles"], predictor={"columns": ["age"]})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_a_model_that_works_in_place_changes_nothing(frame):
    """Scaling in place, of arrays and of frames, leaves the data as it was."""
    kept = DATA.astype(float)  # of one type, which an array can show without a copy
    data = frame(kept.copy())
    scm = cf.StructuralCausalModel.fit(GRAPH, kept, seed=0)
    scaled = make_pipeline(StandardScaler(copy=False), LogisticRegression()).fit(X.to_numpy(), Y)

    def spoiling(people):
        if isinstance(people, pd.DataFrame):
            people["age"] -= people["age"].mean()
            people.iloc[:, 0] = 0.0
        return np.asarray(people["record"]) / 10

    for predict, told in ((scaled, COLUMNS), (spoiling, ())):
        found = cf.counterfactual_fairness(predict, data, scm, {"g": 1}, predictor_columns=told)
        assert np.isfinite(found.shift).all()
        assert pa.table(data).to_pandas()[[*kept]].equals(kept)


def test_functions_that_pick_by_name_or_answer_by_chance_are_asked():
    frame = pa.Table.from_pandas(X)
    rng = np.random.default_rng(0)
    for ask in (
        lambda people: people["age"],
        lambda people: rng.random(len(people)),
        lambda people: ["low"] * len(people),
    ):
        check_order(ask, frame)
    with pytest.raises(PredictorError, match="change with the order"):
        check_order(lambda people: people.column(1), frame)
    with pytest.raises(PredictorError, match="change with the order"):
        check_order(lambda people: people.column(1).to_numpy() > 0.5, frame)
    assert own_order(NAMELESS.predict, COLUMNS) == tuple(COLUMNS)
    assert isinstance(features_of(NAMELESS, frame, COLUMNS), np.ndarray)
    with pytest.raises(cf.errors.SourceError, match="found a ndarray"):
        cf.CausalFairnessDecomposition(
            X.to_numpy(), Y, predictor=NAMELESS, confounders=["age"], **GROUPS
        )


# --- classes that are numbers -----------------------------------------------------------------


def by_class(y, **told):
    settings = {**GROUPS, "confounders": ["sex"], **told}
    return cf.CausalFairnessDecomposition(X, y, **settings).analyse_mean_difference().total.value


def test_codes_of_classes_are_refused_like_words_and_asked_about_one_by_one():
    label = np.where(DATA.record > 1, "c", np.where(DATA.y == 1, "b", "a"))
    expected = by_class(label, outcome_value="c")
    for order in ("abc", "bca", "cab"):
        codes = np.array([order.index(each) for each in label])
        with pytest.raises(OutcomeError, match=r"values 0, 1, 2: codes of classes.*outcome_value"):
            by_class(codes)
        assert by_class(codes, outcome_value=order.index("c")) == pytest.approx(expected, abs=1e-12)
        assert np.isfinite(by_class(codes, task="regression"))
        with pytest.raises(OutcomeError, match="column 'prediction' has the values 0, 1, 2"):
            cf.CausalFairnessDecomposition(X, None, codes, **GROUPS).analyse_mean_difference()
    with pytest.raises(OutcomeError, match="values -1, 1"):
        by_class(2 * Y - 1)  # twice the gap in shares
    assert by_class(Y + 1) == pytest.approx(by_class(Y), abs=1e-12)
    scores = cf.CausalFairnessDecomposition(X, Y, DATA.record.to_numpy(), **GROUPS)
    assert scores.analyse_mean_difference().total.value > 0  # a score beside 0 and 1


def test_classifiers_of_several_classes_are_refused_or_asked_about_one():
    three = np.where(DATA.record > 1, 2, Y)
    fitted = LogisticRegression(max_iter=500).fit(X, three)
    plain = fitted.predict(X) == 2
    gap = plain[DATA.g == 1].mean() - plain[DATA.g == 0].mean()
    with pytest.raises(OutcomeError, match="between 0, 1, 2"):
        cf.decompose_disparity(DATA, roles(ORDERS[0], prediction=fitted.predict))
    alone = {**GROUPS, "confounders": ["age", "sex"], "mediators": ["record"]}
    with pytest.raises(OutcomeError, match="between 0, 1, 2"):
        disparity(cf.StandardFairnessModel(**alone, prediction=fitted.predict))
    told = cf.StandardFairnessModel(**alone, prediction=fitted.predict, outcome_value=2)
    assert disparity(told)[0] == pytest.approx(gap, abs=1e-12)
    words = LogisticRegression(max_iter=500).fit(X, np.array(["a", "b", "c"])[three])
    told = cf.StandardFairnessModel(**alone, prediction=words.predict, outcome_value="c")
    assert disparity(told)[0] == pytest.approx(gap, abs=1e-12)
    with pytest.raises(OutcomeError, match="between 0, 1, 2"):
        cf.CausalFairnessDecomposition(X, predictor=fitted, **alone).analyse_mean_difference()
    for predict in (fitted, fitted.predict):
        with pytest.raises(PredictorError, match="has 3 classes"):
            cf.counterfactual_fairness(predict, DATA, SCM, {"g": 1})


def test_answers_with_another_index_than_their_rows_are_refused():
    """Taken by position, the score of one person would be that of another."""
    turned = lambda people: people["record"].sort_values()  # noqa: E731
    asked = cf.StandardFairnessModel(**GROUPS, mediators=["record"], prediction=turned, outcome="y")
    asks = [
        lambda: cf.decompose_disparity(DATA, asked, of="prediction"),
        lambda: cf.group_metrics(DATA, asked),
        lambda: auditee_of(turned, None).score(DATA),
    ]
    for ask in asks:
        with pytest.raises(PredictorError, match="what the model returned has another index"):
            ask()
    kept = auditee_of(lambda people: people["record"], None).score(DATA[::-1])
    assert kept.tolist() == DATA["record"][::-1].tolist()


def test_an_adapter_refuses_an_outcome_of_another_index():
    graph = cf.CausalGraph.parse("g -> record")
    adapter = cf.FairAdapter(graph, protected="g", reference=0)
    with pytest.raises(SourceError, match="y has another index than data"):
        adapter.fit(DATA[["g", "record"]], DATA["y"][::-1])


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1), (1, 2)])
def test_classes_that_are_not_those_of_the_outcome_are_named(classes):
    target = np.array(classes)[Y]
    data = DATA.assign(y=np.where(Y == 1, "accepted", "declined"))
    fitted = LogisticRegression().fit(X, target)
    asked = {"mediators": ["sex", "age", "record"], "outcome_value": "accepted"}
    model = cf.StandardFairnessModel(**GROUPS, **asked, outcome="y", prediction=fitted.predict)
    asks = [
        lambda: cf.CausalFairnessDecomposition(
            data[COLUMNS], data["y"], **GROUPS, **asked, predictor=fitted
        ).analyse_mean_difference()
    ]
    if classes != (0, 1):  # these are taken for what they say
        asks.append(lambda: cf.decompose_disparity(data, model, of="prediction"))
    for ask in asks:
        with pytest.raises(PredictorError, match=r"decides between .* asks for 'accepted'"):
            ask()


def test_a_reference_in_quotes_is_told_from_a_number():
    adapter = cf.FairAdapter(cf.CausalGraph.parse("g -> record"), protected="g", reference="0")
    with pytest.raises(GroupNotFoundError, match="'0' has no rows: 'g' has the values 0, 1"):
        adapter.fit(DATA[["g", "record"]])
