"""Do the tests of invariance keep their level, find what is there, and order models rightly?

* Level: a logistic regression that was trained where the group does not reach what it sees; how
  often is its invariance rejected at 0.05?
* Power: the same model, judged where the group reaches what it sees as far as the strength says.
* Order: ten families of classifiers in ten scenarios each, for every one of the six processes. A
  scenario has its own people, seed and strength, from 0 to 1, or all models would depend on the
  group alike. Spearman's correlation of log p with the expected counterfactual agreement, the mean
  of three draws of people to be judged, since one draw moves it by about 0.04.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import causalfairness as cf
from benchmarks.measuring import Finding
from benchmarks.processes import PROCESSES, People, Process, invariance_process
from causalfairness.invariance import (
    InvarianceTest,
    demographic_parity_test,
    equal_opportunity_test,
    expected_counterfactual_agreement,
)

Array = NDArray[np.float64]
DRAWS = {"small": 100, "standard": 1_000, "large": 5_000}  # for the level
POWER_DRAWS = {"small": 50, "standard": 300, "large": 1_000}
SCENARIOS = {"small": 4, "standard": 10, "large": 10}
PARAMETERS = 5  # coefficients with which the strongest group leaves an agreement of 0.70
STRENGTHS = {1.0: 0.0, 0.91: 0.085, 0.82: 0.195, 0.70: 1.0}  # by the agreement they leave
HELD = {0.82: 0.5, 0.70: 0.85}  # power that is asked for
FOR_LEVEL, FOR_POWER, FOR_ORDER = 300, 400, 2_000  # people who are judged
TRAINED, COUNTED = 1_000, 4_000  # people who train a model, and by whom agreement is counted
CONFOUNDING = 1.0
JUDGINGS = 3  # draws of people by whom a pool is judged
HONEST = ("projected", "randomization")


def measure(size: str) -> Iterator[Finding]:
    """Level with and without confounding, power by strength, and order on six processes."""
    for confounding in (0.0, CONFOUNDING):
        yield from level(DRAWS[size], confounding)
    yield from power(POWER_DRAWS[size])
    for name in PROCESSES:
        yield from order(name, SCENARIOS[size])


def level(draws: int, confounding: float) -> Iterator[Finding]:
    """How often is true invariance rejected at 0.05?"""
    process = _linear(0.0, confounding)
    rates = rejections(process, trained_at_zero(), FOR_LEVEL, draws, seed=10_000)
    about = "confounded" if confounding else "not confounded"
    for test, rate in rates.items():
        name = f"type I error, {about}, n = {FOR_LEVEL}, {draws:,} draws: {test}"
        held = test in HONEST
        yield Finding(name, rate, "", "<= 0.07" if held else "", rate <= 0.07 if held else None)


def power(draws: int) -> Iterator[Finding]:
    """How often is a dependence found, by how much the prediction agrees with itself?"""
    model = trained_at_zero()
    for about, strength in STRENGTHS.items():
        process = _linear(strength, 0.0)
        people = process.draw(COUNTED, seed=5)
        agreed = expected_counterfactual_agreement(
            model.predict(people.inputs), process.counterfactual_predictions(model.predict, people)
        )[0]
        rates = rejections(process, model, FOR_POWER, draws, seed=50_000)
        asked = HELD.get(about)
        for test, rate in rates.items():
            name = f"power, ECA {agreed:.2f}, n = {FOR_POWER}, {draws:,} draws: {test}"
            held = asked if test in HONEST else None
            target = "" if held is None else f">= {held:g}"
            yield Finding(name, rate, "", target, None if held is None else rate >= held)


def order(name: str, scenarios: int) -> Iterator[Finding]:
    """Does log p grow with the agreement over a pool of models?"""
    log_p, agreed = ordered_pool(name, scenarios)
    found = {
        test: float(np.mean([spearman(judged, agreed) for judged in values]))
        for test, values in log_p.items()
    }
    parity = found["demographic parity"]
    for test, value in found.items():
        about = f"Spearman of log p and ECA, {name}, {len(agreed)} models: {test}"
        if test != "projected":
            yield Finding(about, value, "")
        else:
            target = f">= 0.5 and >= {parity + 0.1:.2f}"
            yield Finding(about, value, "", target, value >= max(0.5, parity + 0.1))


def ordered_pool(name: str, scenarios: int) -> tuple[dict[str, Array], Array]:
    """What is each test's log p (judgings, models), and the agreement of every model?"""
    log_p: dict[str, list[Array]] = {}
    agreed = []
    for scenario, strength in enumerate(np.linspace(0, 1, scenarios) ** 2):
        process = invariance_process(name, strength=strength, confounding=CONFOUNDING)
        models = pool(process, seed=scenario)

        def predict(inputs: Array, models: list[Any] = models) -> Array:
            return np.column_stack([model.predict(inputs) for model in models])

        many = process.draw(COUNTED, seed=20_000 + scenario)
        there = process.counterfactual_predictions(predict, many)
        agreed.append(expected_counterfactual_agreement(predict(many.inputs), there))
        for test, found in _judged(process, predict, scenario).items():
            log_p.setdefault(test, []).append(found)
    together = {test: np.concatenate(found, axis=1) for test, found in log_p.items()}
    return together, np.concatenate(agreed)


def _judged(process: Process, predict: Callable[[Array], Array], scenario: int) -> dict[str, Array]:
    """Each test's log p of the models of one scenario, (judgings, models)."""
    log_p: dict[str, list[Array]] = {}
    for judging in range(JUDGINGS):
        people = process.draw(FOR_ORDER, seed=30_000 + 100 * judging + scenario)
        for test, found in tests_of(predict(people.inputs), people).items():
            log_p.setdefault(test, []).append(found.log_p_value)
    return {test: np.stack(found) for test, found in log_p.items()}


def rejections(
    process: Process, model: Any, people: int, draws: int, *, seed: int
) -> dict[str, float]:
    """How often does each test reject at 0.05, over independent draws of people?"""
    counts: dict[str, int] = {}
    for draw in range(draws):
        drawn = process.draw(people, seed=seed + draw)
        for test, found in tests_of(model.predict(drawn.inputs), drawn).items():
            counts[test] = counts.get(test, 0) + int(found.log_p_value[0] <= np.log(0.05))
    return {test: count / draws for test, count in counts.items()}


def trained_at_zero() -> Any:
    """Which model is judged for level and power? One trained where the group reaches nothing."""
    from sklearn.linear_model import LogisticRegression

    people = _linear(0.0, 0.0).draw(2 * TRAINED, seed=1_000)
    return _scaled(LogisticRegression(max_iter=1_000)).fit(people.inputs, people.labels)


def tests_of(predictions: Array, people: People) -> dict[str, InvarianceTest]:
    """What does every test say about these predictions?"""
    found = {
        method: cf.invariance_test(predictions, people.group, people.features, method=method)
        for method in ("projected", "randomization", "paired")
    }
    found["demographic parity"] = demographic_parity_test(predictions, people.group)
    found["equal opportunity"] = equal_opportunity_test(
        predictions, people.group, people.labels, favorable=1
    )
    return found


def families() -> dict[str, Callable[[int], Any]]:
    """Which ten kinds of classifiers are in the pool? Each is made with a seed."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    return {
        "linear svm": lambda seed: LinearSVC(random_state=seed),
        "rbf svm": lambda seed: SVC(kernel="rbf", random_state=seed),
        "polynomial svm": lambda seed: SVC(kernel="poly", random_state=seed),
        "logistic regression": lambda seed: LogisticRegression(random_state=seed),
        "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
        "forest": lambda seed: RandomForestClassifier(50, random_state=seed),
        "boosting": lambda seed: GradientBoostingClassifier(random_state=seed),
        "tree of depth 5": lambda seed: DecisionTreeClassifier(max_depth=5, random_state=seed),
        "network 16-8-4": lambda seed: MLPClassifier((16, 8, 4), max_iter=500, random_state=seed),
        "network 16-4": lambda seed: MLPClassifier((16, 4), max_iter=500, random_state=seed),
    }


def pool(process: Process, *, seed: int) -> list[Any]:
    """One model of each family, trained on people of its own."""
    people = process.draw(TRAINED, seed=1_000 + seed)
    models = [_scaled(make(seed)) for make in families().values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks that have not converged are models as well
        return [model.fit(people.inputs, people.labels) for model in models]


def spearman(one: Array, other: Array) -> float:
    """How well do two orders agree? 0 where one of them has no order."""
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (one, other)]
    if any(np.ptp(rank) == 0 for rank in ranks):
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _linear(strength: float, confounding: float) -> Process:
    return invariance_process(
        "linear", strength=strength, confounding=confounding, parameters=PARAMETERS
    )


def _scaled(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)
