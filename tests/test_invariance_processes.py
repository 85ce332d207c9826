"""Do the six processes know who is invariant, and do the tests find out? Reduced benchmarks."""

import numpy as np
import pytest
from benchmarks import invariance as benchmark
from benchmarks.processes import PROCESSES, invariance_process
from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import binom, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import causalfairness as cf
from causalfairness.errors import DatasetError
from causalfairness.invariance import demographic_parity_test, expected_counterfactual_agreement
from test_invariance import STRAIGHT

every_process = pytest.mark.parametrize("name", list(PROCESSES))


def agreement(process, predict, *, people=2_000, seed=5):
    drawn = process.draw(people, seed=seed)
    there = process.counterfactual_predictions(predict, drawn)
    return expected_counterfactual_agreement(predict(drawn.inputs), there)


# --- the processes --------------------------------------------------------------------------------


@every_process
def test_without_strength_the_group_reaches_nothing(name):
    process = invariance_process(name, strength=0.0, confounding=1.0)
    people = process.draw(200, seed=0)
    for group in (0, 1):
        np.testing.assert_array_equal(process.under(people, group), people.inputs)
    assert agreement(process, lambda x: x[:, 0] > 0).tolist() == [1.0]


@every_process
def test_what_is_seen_is_that_of_the_own_group(name):
    process = invariance_process(name, strength=0.4)
    people = process.draw(300, seed=1)
    own = people.group == 1
    assert 0.2 < own.mean() < 0.4
    np.testing.assert_array_equal(process.under(people, 1)[own], people.inputs[own])
    np.testing.assert_array_equal(process.under(people, 0)[~own], people.inputs[~own])
    assert np.abs(process.under(people, 0)[own] - people.inputs[own]).mean() > 0.1


def test_equations_are_those_of_the_module():
    process = invariance_process("linear", strength=0.3, width=4)
    people = process.draw(50, seed=2)
    fixed, turn = process.coefficients, 0.15 * np.pi
    state = people.features[0]
    for step in range(3):
        matrix = fixed.own[step]
        if people.group[0]:
            matrix = np.cos(turn) * matrix + np.sin(turn) * fixed.other[step]
        state = matrix @ state + people.noise[step, 0]
    seen = fixed.to_inputs @ state + fixed.bias + people.noise[3, 0]
    np.testing.assert_allclose(people.inputs[0], seen)
    for matrix in (*fixed.own, *fixed.other, fixed.to_inputs):
        assert np.abs(matrix).max() <= np.sqrt(3 / 4)


def test_labels_and_groups_follow_their_chances():
    process = invariance_process("linear", confounding=2.0)
    people = process.draw(40_000, seed=3)
    for chance, happened in (
        (process.group_probability(people.features), people.group),
        (expit(process.coefficients.outcome(people.features)), people.labels),
    ):
        error = np.sqrt((chance * (1 - chance)).mean() / len(chance))
        assert abs(happened.mean() - chance.mean()) < 4 * error
        leaning = (happened - chance) * (chance - chance.mean())
        assert abs(leaning.mean()) < 4 * leaning.std() / np.sqrt(len(chance))
    none = invariance_process("linear").draw(40_000, seed=3)
    tied = np.corrcoef(none.group, none.features @ process.coefficients.leaning)[0, 1]
    assert abs(tied) < 4 / np.sqrt(40_000)


def test_outcomes_have_the_published_forms():
    z = np.random.default_rng(0).normal(size=(500, 32))
    f = {name: invariance_process(name).coefficients.outcome for name in PROCESSES}
    np.testing.assert_allclose(f["linear"](z) + f["linear"](-z), 2 * f["linear"](0 * z))
    for even in ("quadratic", "interactive"):
        np.testing.assert_allclose(f[even](z), f[even](-z))
    np.testing.assert_allclose(f["sine"](z), f["sine"](z + 2 * np.pi))
    alone = np.eye(32)[:3]
    np.testing.assert_allclose(f["interactive"](alone), f["interactive"](0 * alone))
    doubled = f["quadratic"](2 * alone) - f["quadratic"](0 * alone)
    np.testing.assert_allclose(doubled, 4 * (f["quadratic"](alone) - f["quadratic"](0 * alone)))
    assert np.isfinite(f["log_exponent"](50 * z)).all()
    floor = f["log_exponent"](-1e6 * np.sign(f["linear"](z) - f["linear"](0 * z))[:, None] * z)
    assert floor.min() >= np.log(np.log1p(np.exp(5.0 - 4.0)))  # b within four sd of 5


def test_what_is_not_a_process_is_refused():
    with pytest.raises(DatasetError, match="'cubic'; there are linear, quadratic"):
        invariance_process("cubic")
    with pytest.raises(DatasetError, match="strength must lie between 0 and 1; found 2"):
        invariance_process("linear", strength=2)
    with pytest.raises(DatasetError, match="width"):
        invariance_process("linear", width=0)


# --- the tests on them ----------------------------------------------------------------------------


def test_power_grows_with_strength_where_parity_sees_nothing():
    model, draws = benchmark.trained_at_zero(), 14
    for agreed, strength in benchmark.STRENGTHS.items():
        process = benchmark._linear(strength, 0.0)
        assert agreement(process, model.predict)[0] == pytest.approx(agreed, abs=0.02)
    found = {"projected": 0, "randomization": 0, "parity": 0}
    process = benchmark._linear(benchmark.STRENGTHS[0.82], 0.0)
    for draw in range(draws):
        people = process.draw(400, seed=draw)
        y = model.predict(people.inputs)
        for method in ("projected", "randomization"):
            asked = {"method": method, "draws": 99, **STRAIGHT}
            test = cf.invariance_test(y, people.group, people.features, **asked)
            found[method] += test.rejected[0]
        found["parity"] += demographic_parity_test(y, people.group).rejected[0]
    enough = binom.ppf(0.99, draws, 0.5)  # more than a power of 0.5 would give
    assert found["projected"] > enough
    assert found["randomization"] > enough
    assert found["parity"] < binom.ppf(0.5, draws, 0.5)


def small_pool(process, seed):
    people = process.draw(600, seed=100 + seed)
    models = (
        LogisticRegression(max_iter=1_000),
        DecisionTreeClassifier(max_depth=5, random_state=seed),
        SVC(),
        SVC(kernel="linear", C=0.1),
    )
    return [
        make_pipeline(StandardScaler(), model).fit(people.inputs, people.labels) for model in models
    ]


@pytest.mark.parametrize("name", ["linear", pytest.param("sine", marks=pytest.mark.slow)])
def test_log_p_follows_agreement_over_a_pool(name):
    log_p, agreed = {"projected": [], "parity": []}, []
    for scenario, strength in enumerate((0.0, 0.04, 0.1, 0.3, 1.0)):
        process = invariance_process(name, strength=strength, confounding=1.0)
        models = small_pool(process, scenario)

        def predict(x, models=models):
            return np.column_stack([model.predict(x) for model in models])

        agreed.append(agreement(process, predict, seed=scenario))
        people = process.draw(500, seed=200 + scenario)
        y = predict(people.inputs)
        test = cf.invariance_test(y, people.group, people.features)
        log_p["projected"].append(test.log_p_value)
        log_p["parity"].append(demographic_parity_test(y, people.group).log_p_value)
    ranked = {
        test: spearmanr(np.concatenate(values), np.concatenate(agreed)).statistic
        for test, values in log_p.items()
    }
    assert ranked["projected"] > 0.5
    assert ranked["projected"] > ranked["parity"] + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("confounding", [0.0, benchmark.CONFOUNDING])
def test_level_over_a_thousand_draws(confounding):
    found = {each.name.split(": ")[1]: each for each in benchmark.level(1_000, confounding)}
    assert found["projected"].met
    assert found["randomization"].met
    assert found["paired"].value > 0.3


@pytest.mark.slow
def test_power_over_hundreds_of_draws():
    held = [each for each in benchmark.power(300) if each.met is not None]
    assert len(held) == 4
    assert all(each.met for each in held)


@pytest.mark.slow
@every_process
def test_order_over_a_hundred_models(name):
    held = [each for each in benchmark.order(name, 10) if each.met is not None]
    assert [each.met for each in held] == [True]


# --- the picture ----------------------------------------------------------------------------------


def of_two_models():
    rng = np.random.default_rng(0)
    z, a = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    scores = np.column_stack([z[:, 0], z[:, 0] + a])
    methods = ("projected", "randomization", "paired")
    tests = {method: cf.invariance_test(scores, a, z, method=method) for method in methods}
    return tests | {"demographic parity": demographic_parity_test(scores, a)}


@pytest.mark.parametrize("theme", [cf.plots.LIGHT, cf.plots.DARK], ids=["light", "dark"])
def test_every_model_is_a_dot_in_every_panel(theme):
    tests = of_two_models()
    figure = Figure(layout="constrained")
    ax = cf.plots.invariance(tests, [1.0, 0.6], figure.subplots(), theme=theme, caption=True)
    figure.draw_without_rendering()
    assert [panel.get_title(loc="left") for panel in ax.child_axes] == list(tests)
    for panel, test in zip(ax.child_axes, tests.values(), strict=True):
        dots = [line for line in panel.lines if line.get_marker() == "o"]
        drawn = {(x, y) for line in dots for x, y in line.get_xydata().tolist()}
        assert drawn == set(zip([1.0, 0.6], test.log_p_value.tolist(), strict=True))
        for line in dots:
            filled = line.get_markerfacecolor() == theme.indirect
            assert ((line.get_ydata() <= np.log(0.05)) == filled).all()
    words = cf.plots.invariance_caption(tests, [1.0, 0.6])
    assert "projected 0 of 1 that always agree and 1 of 1 others" in words
    assert "between 60% and 100% of the time" in words


def test_pictures_refuse_pools_that_do_not_match():
    tests = of_two_models()
    with pytest.raises(ValueError, match="projected tested 2 models, agreement is given for 1"):
        cf.plots.invariance(tests, [1.0])
    with pytest.raises(ValueError, match="1 to 9 tests"):
        cf.plots.invariance({}, [1.0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        cf.plots.invariance(tests, [1.0, 60.0])
