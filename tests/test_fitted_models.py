"""Answers of fitted models: intervals hold the fit, or say that they do not."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from benchmarks.coverage.fitted_models import (
    LINES,
    MODEL,
    RATE,
    draw,
    fitted,
    network,
    predictor,
)
from scipy.stats import t

import causalfairness as cf
from causalfairness.audit.answers.answer import Answer, judged
from causalfairness.effects import Basis, Effect, EffectTable
from causalfairness.inference import equivalence_p_value, minimum_effect_p_value, normal_interval
from causalfairness.parity.necessity.rules import UNJUDGED, EquivalenceRule
from causalfairness.scm import refits

DO = {"A": {1: 0}}
INPUTS = ["A", "C", "M"]


def shift(data, scm, **settings):
    return cf.counterfactual_fairness(predictor, data, scm, DO, **settings)[1].shift


def path(data, scm, **settings):
    return scm.path_effect(data, MODEL, edges="A -> M", **settings)


def term(data, scm, **settings):
    found = cf.decompose_predictive_parity(data, MODEL, counterfactual=scm, bins=4, **settings)
    return found.causal.integrated


def indirect(data, scm, **settings):
    found = cf.neural.effects(
        network,
        data[INPUTS].to_numpy(dtype=float),
        protected_index=0,
        mediator_indices=[2],
        mediator_model=scm,
        names=INPUTS,
        **settings,
    )
    return found.natural_indirect_effect


QUESTIONS = (shift, path, term, indirect)


@pytest.fixture(scope="module")
def people():
    return draw("linear", 800, seed=3).data


@pytest.fixture(scope="module")
def scm(people):
    return fitted(people)


@pytest.fixture(scope="module")
def counted():
    data = draw("count", 300, seed=3).data
    return data, fitted(data, RATE)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_lines_have_the_error_of_refits_without_refits(people, scm, asked):
    """The error of a standard error from 60 refits is about 9 %: four of these."""
    exact, drawn = asked(people, scm), asked(people, scm, replicates=60)
    assert exact.value == pytest.approx(drawn.value, abs=1e-12)
    assert exact.standard_error == pytest.approx(drawn.standard_error, rel=4 / math.sqrt(120))
    assert (exact.freedom, drawn.freedom) == (math.inf, 59)
    given = asked(people, scm, replicates=0)
    assert given.rows_alone
    assert not exact.rows_alone
    assert given.standard_error < 0.5 * exact.standard_error
    assert "rows alone" in str(given)
    assert "rows alone" not in str(exact)


def test_the_path_effect_has_the_error_of_the_delta_method(people, scm):
    """Two slopes and their product, by the sandwich of two least squares."""
    slopes, variances = [], []
    for target, causes in (("M", ["A", "C"]), ("Y", ["M", "A", "C"])):
        x = people[causes].to_numpy(dtype=float)
        x = x - x.mean(axis=0)
        y = people[target].to_numpy()
        inverse = np.linalg.inv(x.T @ x)
        found = inverse @ x.T @ (y - y.mean())
        rest = (y - y.mean() - x @ found)[:, None]
        slopes.append(found[0])
        variances.append((inverse @ (x * rest).T @ (x * rest) @ inverse)[0, 0])
    effect = path(people, scm)
    assert effect.value == pytest.approx(slopes[0] * slopes[1], rel=1e-9)
    apart = math.hypot(
        slopes[1] * math.sqrt(variances[0]), slopes[0] * math.sqrt(variances[1])
    )  # but for the covariance of the residuals, which is one over the rows
    assert effect.standard_error == pytest.approx(apart, rel=0.05)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_other_mechanisms_are_fitted_again_by_default(counted, asked):
    data, scm = counted
    whole, given = asked(data, scm), asked(data, scm, replicates=0)
    assert (whole.freedom, whole.rows_alone, given.rows_alone) == (99, False, True)
    assert whole.value == given.value
    assert whole.standard_error > 1.2 * given.standard_error
    assert whole.interval().high - whole.value == pytest.approx(
        t.ppf(0.975, 99) * whole.standard_error
    )


@pytest.mark.parametrize("asked", QUESTIONS)
def test_neither_the_order_of_rows_nor_the_size_of_weights_matters(people, asked):
    moved = people.sample(frac=1, random_state=1).reset_index(drop=True)
    one, two = (asked(data, fitted(data)) for data in (people, moved))
    assert (one.value, one.standard_error) == pytest.approx(
        (two.value, two.standard_error), rel=1e-9
    )


@pytest.mark.parametrize("replicates", [None, 10])
def test_scaled_weights_change_nothing(people, replicates):
    weighted = people.assign(w=1 + (people["C"] > 0))
    found = []
    for times in (1, 7):
        table = cf.Table(weighted.assign(w=times * weighted["w"]), weights="w")
        graph = cf.CausalGraph.parse("A <-> C; {A, C} -> M; {A, C, M} -> Y")
        scm = cf.StructuralCausalModel.fit(graph, table, {"M": LINES, "Y": LINES})
        found.append(shift(table, scm, replicates=replicates))
    assert found[0].value == pytest.approx(found[1].value, rel=1e-9)
    assert found[0].standard_error == pytest.approx(found[1].standard_error, rel=1e-9)
    plain = shift(people, fitted(people), replicates=replicates)
    assert found[0].standard_error != pytest.approx(plain.standard_error, rel=1e-3)


@pytest.mark.parametrize("asked", [shift, path, term])
def test_workers_change_nothing_and_the_seed_something(counted, asked):
    data, scm = counted
    one, two, other = (
        asked(data, scm, replicates=20, workers=workers, seed=seed)
        for workers, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert np.array_equal(one.spread, two.spread)
    assert not np.array_equal(one.spread, other.spread)


# --- what the model was fitted to --------------------------------------------------------------


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_model_of_fewer_other_rows_is_less_sure(people, scm, asked):
    """Half as many rows: an error of the fit that is 1.4 times as large, give or take a few %."""
    elsewhere = fitted(draw("linear", 400, seed=9).data)
    here, there = asked(people, scm), asked(people, elsewhere)
    assert 1.15 < there.standard_error / here.standard_error < 1.7
    assert here.basis != there.basis
    drawn = asked(people, elsewhere, replicates=60)
    assert there.standard_error == pytest.approx(drawn.standard_error, rel=4 / math.sqrt(120))


def test_remembered_rows_speak_for_all_that_a_model_was_fitted_to(people, monkeypatch):
    other = draw("linear", 1_600, seed=9).data
    whole = path(people, fitted(other)).standard_error
    monkeypatch.setattr("causalfairness.scm.fitting.KEPT", 800)
    assert path(people, fitted(other)).standard_error == pytest.approx(whole, rel=0.1)


def test_a_rare_category_stays_possible_in_every_refit():
    data = draw("count", 300, seed=3).data
    data = data.assign(M=np.where(np.arange(300) == 7, 12, np.minimum(data["M"], 3)))
    scm = fitted(data, cf.scm.Ordered())
    assert path(data, scm, replicates=10).standard_error > 0


def test_answers_that_jump_are_refitted(people, scm):
    decide = lambda rows: (predictor(rows) > 1).astype(int)  # noqa: E731
    found = cf.counterfactual_fairness(decide, people, scm, DO)
    assert found[1].shift.freedom == 99
    assert "fitted to them, 100 times anew" in str(found)


# --- rows alone ----------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", QUESTIONS)
def test_what_cannot_be_refitted_is_of_rows_alone(people, scm, asked, tmp_path, monkeypatch):
    scm.save(tmp_path / "model.json")
    loaded = cf.StructuralCausalModel.load(tmp_path / "model.json")
    equation = cf.scm.StructuralEquation(
        lambda causes, noise: 0.6 * causes["A"] + 0.5 * causes["C"] + noise,
        lambda values, causes: values - 0.6 * causes["A"] - 0.5 * causes["C"],
    )
    for model in (loaded, fitted(people, equation)):
        assert asked(people, model).rows_alone
    data = draw("count", 300, seed=3).data
    monkeypatch.setattr(refits, "USUAL", ((100, 100), (200, 30)))
    many = fitted(data, RATE)
    assert asked(data, many).rows_alone
    assert not asked(data, many, replicates=10).rows_alone


def test_more_rows_are_refitted_less_often(counted, monkeypatch):
    monkeypatch.setattr(refits, "USUAL", ((100, 100), (400, 12)))
    assert path(*counted).freedom == 11


def test_functions_that_predict_mediators_are_of_rows_alone(people):
    found = indirect(people, lambda rows: 0.6 * rows[:, 0] + 0.5 * rows[:, 1])
    assert found.rows_alone
    inputs = people[INPUTS].to_numpy(dtype=float)
    held = cf.neural.controlled_direct_effect(network, inputs, protected_index=0)
    assert not held.rows_alone


def test_mediators_are_fitted_in_order_where_models_are_still_to_be_fitted(people):
    columns = np.column_stack([people[INPUTS], people["Y"]])
    asked = {"protected_index": 0, "mediator_indices": [2, 3], "continuous": False}
    tell = lambda rows: rows[:, 3]  # noqa: E731
    chain = cf.neural.InOrder([LINES, LINES])
    found = cf.neural.effects(tell, columns, mediator_model=chain, **asked)
    graph = cf.CausalGraph.parse("{A, C} -> M; {A, C, M} -> Y")
    frame = people[["A", "C", "M", "Y"]]
    scm = cf.StructuralCausalModel.fit(graph, frame, {"M": LINES, "Y": LINES})
    same = scm.path_effect(frame, replace(MODEL, prediction=None))
    assert found.total_effect.value == pytest.approx(same.value, rel=1e-9)
    assert found.total_effect.standard_error == pytest.approx(same.standard_error, rel=1e-6)
    grouped = found.within(people["A"].to_numpy())
    assert grouped[1].total_effect.standard_error > 0.05


def test_a_group_too_small_to_be_redrawn_is_of_rows_alone():
    data = draw("count", 300, seed=3).data.astype({"A": str})
    data.loc[:3, "A"] = "2"
    scm = fitted(data, RATE)
    found = cf.counterfactual_fairness(predictor, data, scm, {"A": {"1": "0", "2": "0"}})
    assert [found[group].shift.rows_alone for group in "012"] == [False, False, True]
    assert "groups of fewer than 10 people are of rows alone: 2" in str(found)


EFFECT = Effect("gap", 0.3, np.array([0.01]), Basis("3f9a", "rows"))


def test_nothing_of_rows_alone_is_judged():
    alone = replace(EFFECT, rows_alone=True)
    rule = EquivalenceRule(margin=0.1, level=0.95)
    assert rule.judge([EFFECT]).verdict == "violated"
    assert rule.judge([EFFECT, alone]).verdict is None
    assert rule.judge([EFFECT - alone]).verdict is None
    answer = judged(Answer(sentences=()), [alone], 0.1, 0.95, [10])
    assert (answer.verdict, answer.sentences) == (None, (UNJUDGED,))
    told = str(EffectTable((EFFECT.named("other"), alone)))
    assert "rows alone, the fit of a model left out: gap" in told
    assert EffectTable((alone,)).to_records()[0]["rows_alone"]


def test_few_refits_make_wider_intervals_and_fewer_verdicts():
    few, many = replace(EFFECT, freedom=9), replace(EFFECT, freedom=29)
    assert (few - many).freedom == 9
    for level in (0.9, 0.99):
        reach = t.ppf((1 + level) / 2, 9) * 0.01
        assert few.interval(level) == pytest.approx((0.3 - reach, 0.3 + reach))
    assert few.p_value == pytest.approx(2 * t.sf(30, 9))
    assert minimum_effect_p_value(0.3, 0.1, 0.1, 9) == pytest.approx(t.sf(2, 9) + t.sf(4, 9))
    assert equivalence_p_value(0.3, 0.1, 0.5, 9) == pytest.approx(t.sf(2, 9))
    assert normal_interval(0.0, 1.0, 0.95, 1e9).high == pytest.approx(1.959964, abs=1e-6)


def test_a_necessity_report_over_rows_alone_gives_no_verdict():
    data = pd.DataFrame(draw("linear", 300, seed=3).data)
    given = cf.estimators.Structural(fitted(data), replicates=None)
    model = replace(MODEL, prediction=lambda people: 0.5 * np.asarray(people["M"]))
    report = cf.check_business_necessity(data, model, margin=0.1, estimator=given)
    assert report.verdict is None
    assert UNJUDGED in report.sentences()
