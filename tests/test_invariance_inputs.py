"""What may be brought to the tests of invariance, what is refused, and what is said in the end?"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVR

import causalfairness as cf
from causalfairness.audit.answers.answer import Answer
from causalfairness.audit.answers.predictions import _within
from causalfairness.errors import (
    ColumnTypeError,
    InvarianceError,
    LearnerError,
    MissingValuesError,
    SourceError,
    TooFewRowsError,
)
from causalfairness.invariance import (
    demographic_parity_test,
    equal_opportunity_test,
    expected_counterfactual_agreement,
)
from test_invariance import HONEST, METHODS, people

# --- what may be brought --------------------------------------------------------------------------


def test_a_pool_is_answered_as_each_model_alone():
    rng = np.random.default_rng(12)
    y, a, z = people(240, rng, shift=0.7)
    pool = np.column_stack([y, z[:, 0], y > 0])
    for method in METHODS:
        together = cf.invariance_test(pool, a, z, method=method)
        for at in range(3):
            alone = cf.invariance_test(pool[:, at], a, z, method=method)
            assert together.log_p_value[at] == pytest.approx(alone.log_p_value[0], abs=1e-6)
            assert together.effect[at] == pytest.approx(alone.effect[0], abs=1e-9)
    assert together.p_adjusted == pytest.approx(stats.false_discovery_control(together.p_value))


def test_frames_words_and_labels_are_read_alike():
    rng = np.random.default_rng(13)
    y, a, z = people(200, rng, shift=1.0)
    city = rng.choice(["x", "y", "z"], 200)
    frame = pd.DataFrame({"z1": z[:, 0], "z2": z[:, 1], "city": city})
    words = np.where(a == 1, "old", "young")
    of_pandas = cf.invariance_test(pd.DataFrame({"mine": y, "other": -y}), words, frame)
    of_polars = cf.invariance_test(
        pl.DataFrame({"mine": y, "other": -y}), pl.Series(words), pl.from_pandas(frame)
    )
    hot = np.column_stack([z[:, :2], city == "x", city == "y", city == "z"]).astype(float)
    by_hand = cf.invariance_test(np.column_stack([y, -y]), a == 0, hot)
    assert of_pandas.models == ("mine", "other")
    assert of_pandas.groups == ("old", "young")
    np.testing.assert_array_equal(of_pandas.log_p_value, of_polars.log_p_value)
    np.testing.assert_allclose(of_pandas.log_p_value, by_hand.log_p_value, rtol=1e-9)
    rows = [list(row) for row in zip(z[:, 0], z[:, 1], city, strict=True)]
    of_lists = cf.invariance_test([[v, -v] for v in y.tolist()], words.tolist(), rows)
    np.testing.assert_array_equal(of_lists.log_p_value, of_pandas.log_p_value)


def test_several_groups_are_compared_at_once():
    rng = np.random.default_rng(14)
    z = rng.normal(size=(900, 2))
    a = rng.choice(["a", "b", "c"], 900, p=[0.5, 0.3, 0.2])
    truth = 0.36 * 0.2 * 0.8
    y = np.column_stack([z[:, 0], z[:, 0] + 0.6 * (a == "c")]) + 0.3 * rng.normal(size=(900, 2))
    for method in HONEST:
        found = cf.invariance_test(y, a, z, method=method)
        assert found.rejected.tolist() == [False, True]
        assert abs(found.effect[1] - truth) < 3 * found.standard_error[1]


def test_any_scikit_learn_model_may_learn():
    y, a, z = people(160, np.random.default_rng(15), shift=1.5)
    pool = np.column_stack([y, -y])
    forest = RandomForestRegressor(20, random_state=0)  # several targets in one fit
    for regressor in (forest, SVR(), LinearRegression()):
        found = cf.invariance_test(pool, a, z, regressor=regressor, propensity=LogisticRegression())
        assert found.rejected.all()
    chances = cf.invariance_test(pool > 0, a, z, regressor=LogisticRegression())
    assert chances.rejected.all()
    with pytest.raises(LearnerError, match="classifier"):
        cf.invariance_test(pool, a, z, regressor=LogisticRegression())
    with pytest.raises(LearnerError, match="unfitted scikit-learn model"):
        cf.invariance_test(y, a, z, regressor="ridge")
    with pytest.raises(LearnerError, match="predict_proba"):
        cf.invariance_test(y, a, z, propensity=LinearRegression())


def test_the_answer_depends_on_the_seed_and_not_on_the_workers():
    y, a, z = people(120, np.random.default_rng(16), shift=0.3)
    for method in METHODS:
        one, two, other = (
            cf.invariance_test(y, a, z, method=method, seed=seed, workers=workers).log_p_value[0]
            for seed, workers in ((1, 1), (1, 2), (2, 1))
        )
        assert one == two != other


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"predictions": ["yes", "no"] * 20}, ColumnTypeError, "'no', 'yes'.*0 and 1"),
        ({"predictions": [np.nan, 1.0] * 20}, MissingValuesError, "missing for 20 of 40"),
        ({"predictions": np.zeros(39)}, InvarianceError, "predictions 39, group 40"),
        ({"predictions": np.zeros((40, 0))}, InvarianceError, "no predictions"),
        ({"predictions": np.zeros((2, 20, 1))}, InvarianceError, "3 dimensions"),
        ({"group": np.arange(40.0)}, InvarianceError, "40 different values.*bins"),
        ({"group": np.zeros(40)}, InvarianceError, "everyone is of the group 0"),
        ({"group": np.r_[np.zeros(37), np.ones(3)]}, TooFewRowsError, "group 1 has 3 people"),
        ({"group": [None, "a"] * 20}, MissingValuesError, "group is missing"),
        ({"features": np.full((40, 1), np.inf)}, ColumnTypeError, "feature 1 holds infinite"),
        ({"features": np.zeros((41, 1))}, InvarianceError, "features 41"),
        ({"method": "pairs"}, InvarianceError, "projected, randomization, paired; found 'pairs'"),
        ({"level": 95}, ValueError, "between 0 and 1"),
        ({"draws": 5}, InvarianceError, "19 or more"),
        ({"draws": 99.5}, InvarianceError, "whole number, 19 or more.*99.5"),
        ({"group": []}, TooFewRowsError, "no people"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, error, message):
    rng = np.random.default_rng(17)
    given = {"predictions": rng.random(40), "group": np.tile([0, 1], 20)}
    given |= {"features": rng.random((40, 2))} | change
    with pytest.raises(error, match=message):
        cf.invariance_test(
            given.pop("predictions"), given.pop("group"), given.pop("features"), **given
        )


def test_too_many_words_are_refused():
    names = pd.DataFrame({"name": [f"person {at}" for at in range(120)]})
    with pytest.raises(ColumnTypeError, match="name has 120 different words"):
        cf.invariance_test(np.arange(120.0), np.tile([0, 1], 60), names)


# --- baselines and agreement ----------------------------------------------------------------------


def test_the_baselines_are_welch_tests():
    rng = np.random.default_rng(18)
    y, a, _ = people(150, rng, shift=0.4)
    label = rng.integers(0, 2, 150)
    parity = demographic_parity_test(y, a)
    known = stats.ttest_ind(y[a == 0], y[a == 1], equal_var=False)
    assert parity.p_value[0] == pytest.approx(known.pvalue)
    assert parity.statistic[0] == pytest.approx(abs(known.statistic))
    equal = equal_opportunity_test(y, a, label, favorable=1)
    kept = label == 1
    known = stats.ttest_ind(y[kept & (a == 0)], y[kept & (a == 1)], equal_var=False)
    assert equal.p_value[0] == pytest.approx(known.pvalue)
    assert equal.n == kept.sum()
    words = equal_opportunity_test(y, a, np.where(kept, "good", "bad"), favorable="good")
    assert words.log_p_value[0] == equal.log_p_value[0]
    three = rng.integers(0, 3, 150)
    known = stats.f_oneway(*(y[three == at] for at in range(3)), equal_var=False)
    assert demographic_parity_test(y, three).p_value[0] == pytest.approx(known.pvalue)
    for nobodys in (2, "good"):
        with pytest.raises(InvarianceError, match=f"nobody has the outcome {nobodys!r}"):
            equal_opportunity_test(y, a, label, favorable=nobodys)
    with pytest.raises(MissingValuesError, match="outcome is missing for 1 of 150"):
        equal_opportunity_test(y, a, np.where(np.arange(150) == 7, np.nan, label))


def test_the_baselines_never_divide_by_nothing():
    a = np.tile([0, 1], 20)
    split = demographic_parity_test(np.column_stack([a, np.ones(40), a * (np.arange(40) % 4)]), a)
    assert split.log_p_value[0] == pytest.approx(
        -np.log(float(stats.binom.pmf(20, 40, 0.5)) * 2.0**40)
    )
    assert split.p_value[1] == 1.0
    assert np.isfinite(split.log_p_value).all()
    three = np.tile([0, 1, 2], 20)
    odd = demographic_parity_test((three == 2) * np.tile([0, 1, 0, 1, 1, 1], 10), three)
    assert np.isfinite(odd.log_p_value).all()
    assert "their spread was taken from all groups" in str(odd)


def test_agreement_is_the_share_of_predictions_that_stay():
    factual = np.array([1, 0, 1, 1, 0])
    others = [np.array([1, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0])]
    assert expected_counterfactual_agreement(factual, others).tolist() == [0.7]
    scores = np.array([[0.2, 0.5], [0.4, 0.5]])
    moved = scores + np.array([0.0, 0.04])
    agreed = expected_counterfactual_agreement(scores, [moved], tolerance=0.05)
    assert agreed.tolist() == [1.0, 1.0]
    assert expected_counterfactual_agreement(scores, [moved]).tolist() == [1.0, 0.0]
    with pytest.raises(InvarianceError, match=r"shape \(5, 1\), their counterfactuals \(4, 1\)"):
        expected_counterfactual_agreement(factual, [factual[:4]])
    with pytest.raises(InvarianceError, match="tolerance"):
        expected_counterfactual_agreement(factual, others, tolerance=-1)


# --- what is said ---------------------------------------------------------------------------------


def test_the_result_says_what_was_found_and_never_gives_a_verdict():
    rng = np.random.default_rng(19)
    y, a, z = people(300, rng, shift=1.0)
    found = cf.invariance_test(np.column_stack([y, z[:, 1] + rng.normal(size=300)]), a, z)
    text = str(found)
    assert "The predictions of model 1 depend on the group beyond the features: p < 0.001" in text
    assert "The predictions of model 2 are consistent with no dependence on the group" in text
    assert "fair" not in text.lower()
    assert text.count("assumes:") == 3
    table = found.table()
    assert len(table) == 2
    assert table.to_pandas()["model"].tolist() == ["model 1", "model 2"]
    assert table.to_polars()["n"].to_list() == [300, 300]
    assert "<table>" in found._repr_html_()
    with pytest.raises(KeyError, match="no column is named 'p'"):
        table["p"]
    many = cf.invariance_test(np.column_stack([y] * 12), a, z)
    assert "For 12 of 12 models" in str(many)
    assert "... and 2 more" in str(many)
    assert "50% to 60% of the time" in str(cf.invariance_test(y, a, z, method="paired"))


def test_people_without_counterparts_are_counted():
    rng = np.random.default_rng(20)
    y, a, z = people(600, rng, confounding=4.0)
    assert "some group has a chance below 0.01" in str(cf.invariance_test(y, a, z))


@pytest.mark.parametrize("brought", ["predictions", "group", "features", "labels"])
def test_rows_of_another_index_are_refused(brought):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"z": rng.normal(size=60), "a": np.arange(60) % 2, "y": np.arange(60) % 3})
    given = {"predictions": data["z"], "group": data["a"], "features": data[["z"]]}
    given |= {"labels": (data["y"] > 0).astype(int)}
    given[brought] = given[brought].iloc[::-1]  # the same labels in another order
    scores, a, z, y = given.values()
    said = "another index than"
    if brought != "labels":
        with pytest.raises(SourceError, match=said):
            cf.invariance_test(scores, a, z)
    if brought in ("predictions", "group"):
        with pytest.raises(SourceError, match=said):
            demographic_parity_test(scores, a)
    if brought != "features":
        with pytest.raises(SourceError, match=said):
            equal_opportunity_test(scores, a, y, favorable=1)
    plain = [np.asarray(each) for each in (scores, a, z)]
    assert cf.invariance_test(plain[0], *plain[1:]).n == 60  # without an index, by position


@pytest.mark.parametrize("method", METHODS)
def test_where_features_tell_the_group_nothing_is_sure(method):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2, 400)
    z = np.column_stack([rng.normal(size=400), a])
    found = cf.invariance_test(z[:, 0] + 3 * a + rng.normal(size=400), a, z, method=method)
    assert found.undecided.all()
    assert not found.rejected.any()
    assert "features tell the group for" in found.sentences()[0]
    assert "consistent with" not in str(found)
    answer = _within(Answer(sentences=()), found, 5.0)
    assert answer.verdict == "undecided"
    assert "nobody alike to compare with" in answer.sentences[-1]
