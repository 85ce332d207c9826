"""Does an answer stay when only what must not matter changes?

Lists of roles in another order, columns with other names, weights in another unit, rows in another
order: values and standard errors are equal. Labels with other names, in another alphabetical order,
and every row twice with half its weight: values are equal, and within .2 standard errors where
models are learned (folds and penalties may differ).
"""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.estimators import DoublyRobust, KnownModel, Strata
from causalfairness.scm import Linear

CATEGORIES = {"g": "ab", "sex": "fm", "area": "nsw", "job": "xy"}  # levels, by code
LOGISTIC = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12)
LEARNERS = {"group": LOGISTIC, "nested": LinearRegression(), "folds": 5}
NEAR = 0.2  # standard errors, where models are learned


def people(n):
    rng = np.random.default_rng(7)
    sex, area = rng.integers(0, 2, n), rng.integers(0, 3, n)
    g = (rng.random(n) < 0.35 + 0.2 * sex).astype(int)
    job = (rng.random(n) < 0.3 + 0.3 * g + 0.1 * sex).astype(int)
    pay = rng.normal(size=n) + 0.5 * g + 0.3 * sex
    y = (rng.random(n) < 0.2 + 0.2 * g + 0.3 * job + 0.1 * (area == 1)).astype(int)
    d = (rng.random(n) < 0.3 + 0.1 * g + 0.2 * job + 0.1 * y).astype(int)
    weight = rng.uniform(0.5, 2, n)
    codes = {"g": g, "sex": sex, "area": area, "job": job}
    return pd.DataFrame(
        {
            **{name: np.array([*CATEGORIES[name]])[code] for name, code in codes.items()},
            "pay": pay,
            "y": y,
            "d": d,
            "score": np.round(0.3 + 0.2 * g + 0.2 * job + 0.2 * rng.random(n), 2),
            "w": weight,
        }
    )


@dataclass(frozen=True, eq=False)
class World:
    """The same people, told in another way."""

    data: pd.DataFrame
    names: dict = field(default_factory=dict)  # of columns
    labels: dict = field(default_factory=dict)  # of levels, by column
    backwards: bool = False  # lists of roles
    repeats: int = 1  # of splits; many where learned answers are to be close and not equal

    def called(self, *columns):
        found = [self.names.get(column, column) for column in columns]
        return found[::-1] if self.backwards else found

    def one(self, column):
        return self.names.get(column, column)

    def label(self, column, level):
        return self.labels.get(column, {}).get(level, level)

    def numbers(self, people):
        """The columns as codes, in one order, whatever they are called."""
        parts = []
        for column, levels in CATEGORIES.items():
            places = {self.label(column, level): at for at, level in enumerate(levels)}
            parts.append(people[self.one(column)].map(places).to_numpy(dtype=float))
        return np.column_stack([*parts, people[self.one("pay")]])

    def score(self, people):
        return np.tanh(self.numbers(people) @ [0.2, 0.1, 0.05, 0.4, 0.1])

    def decide(self, people):
        return (self.score(people) > 0.4).astype(int)

    def roles(self, *, mediators=("job",), confounders=("sex", "area"), **told):
        return cf.StandardFairnessModel(
            protected=self.one("g"),
            reference=self.label("g", "a"),
            comparison=self.label("g", "b"),
            confounders=self.called(*confounders),
            mediators=self.called(*mediators),
            **{"outcome": self.one("y"), "weights": self.one("w"), **told},
        )


def permuted(world):
    return replace(world, backwards=True)


def renamed(world):
    names = {name: f"{9 - at} of {name[::-1]}" for at, name in enumerate(world.data)}
    return replace(world, data=world.data.rename(columns=names), names=names)


def rearranged(world):
    return replace(world, data=world.data[world.data.columns[::-1]])


def scaled(world):
    return replace(world, data=world.data.assign(w=3.7 * world.data.w))


def shuffled(world):
    return replace(world, data=world.data.sample(frac=1, random_state=3).reset_index(drop=True))


def relabeled(world):
    labels = {
        c: {old: f"{9 - at}{old}" for at, old in enumerate(CATEGORIES[c])} for c in CATEGORIES
    }
    return replace(world, data=world.data.replace(labels), labels=labels)


def doubled(world):
    twice = pd.concat([world.data, world.data], ignore_index=True)
    return replace(world, data=twice.assign(w=twice.w / 2))


def parts(found):
    named = {part: getattr(found, part) for part in ("total", "direct", "indirect", "spurious")}
    return {name: (effect.value, effect.standard_error) for name, effect in named.items()}


def keyed(prefix, found):
    return {f"{prefix} {name}": each for name, each in found.items()}


# --- questions: each gives numbers by name, a value and a standard error or None ---------------


def strata(world):
    return parts(cf.decompose_disparity(world.data, world.roles(), estimator=Strata()))


def known_model(world):
    model = world.roles(mediators=("job", "pay"), prediction=world.score)
    estimator = KnownModel(world.score, **LEARNERS, repeats=world.repeats)
    return parts(cf.decompose_disparity(world.data, model, of="prediction", estimator=estimator))


def doubly_robust(world):
    model = world.roles(mediators=("job", "pay"))
    estimator = DoublyRobust(outcome=LOGISTIC, **LEARNERS, repeats=world.repeats)
    return parts(cf.decompose_disparity(world.data, model, estimator=estimator))


def groups(world):
    model = world.roles().for_groups(comparison=None)
    found = cf.compare_groups(world.data, model, estimator=Strata())
    return {"b": parts(found[world.label("g", "b")])["direct"]}


def error_rates(world):
    model = world.roles(confounders=("sex",), prediction=world.one("d"))
    found = cf.decompose_error_rates(
        world.data, model, "fpr", with_mediators=True, estimator=Strata()
    )
    return parts(found)


def necessity(world):
    model = world.roles(prediction=world.one("d"))
    found = cf.check_business_necessity(
        world.data, model, allowed=("indirect",), margin=0.05, estimator=Strata()
    )
    return {
        f"{path.name} {side}": (
            getattr(path, side).value,
            getattr(path, side).standard_error,
        )
        for path in found
        for side in ("outcome", "prediction", "difference")
    }


def predictive_parity(world):
    model = world.roles(prediction=world.one("score"))
    found = cf.decompose_predictive_parity(world.data, model, bins=4, replicates=20)
    table = found.summary().to_records()
    return {each["name"]: (each["value"], each["standard_error"]) for each in table}


def metrics(world):
    model = world.roles(prediction=world.one("d"))
    found = cf.group_metrics(world.data, model).gaps().to_records()
    return {each["metric"]: (each["value"], each["low"]) for each in found}


def situations(world):
    data = world.data.assign(**{world.one("w"): 1.0})
    found = cf.situation_test(
        data,
        protected=world.one("g"),
        comparison=world.label("g", "b"),
        features=world.called("pay", "sex", "area"),
        decision=world.one("d"),
        favorable=1,
        k=9,
    )
    (summary,) = found.summary().to_records()
    return {name: (summary[name], None) for name in ("complainants", "evidence", "significant")}


@cache
def mechanisms(world):
    called = [world.one(each) for each in ("g", "sex", "area", "pay")]
    graph = cf.CausalGraph.from_edges(
        [(cause, called[3]) for cause in called[:3]],
        [(called[0], called[1]), (called[0], called[2])],
        called[::-1] if world.backwards else called,
    )
    return cf.StructuralCausalModel.fit(graph, world.data, {called[3]: Linear()}, seed=0)


def individuals(world):
    found = cf.counterfactual_fairness(
        world.score, world.data, mechanisms(world), {world.one("g"): world.label("g", "b")}
    )
    shift = found[world.label("g", "a")].shift
    return {"shift": (shift.value, shift.standard_error)}


def one_class(world, mediators=("job", "pay"), **told):
    roles = world.roles(mediators=mediators)
    settings = {
        name: getattr(roles, name)
        for name in (
            "protected",
            "reference",
            "comparison",
            "confounders",
            "mediators",
            "weights",
        )
    }
    return cf.CausalFairnessDecomposition(world.data, world.one("y"), **{**settings, **told})


def of_the_class(world):
    estimator = KnownModel(world.decide, **LEARNERS, repeats=world.repeats)
    asked = one_class(world, predictor=world.decide, estimator=estimator)
    odds = asked.analyse_equalized_odds(rates=("fpr",), with_mediators=True)["fpr"]
    return {
        **keyed("mean", parts(asked.analyse_mean_difference())),
        **keyed("odds", parts(odds)),
    }


def individuals_of_the_class(world):
    asked = one_class(world, predictor=world.decide)
    scm = mechanisms(world)
    found = asked.analyse_counterfactual_fairness(
        scm=scm, do={world.one("g"): world.label("g", "b")}
    )
    shift = found[world.label("g", "a")].shift
    return {"shift": (shift.value, shift.standard_error)}


def page(world):
    """The whole text of a class, line by line."""
    asked = one_class(world, ("job",), confounders=["sex"], y_pred="d", estimator=Strata())
    return str(asked).splitlines()


COUNTED = (strata, groups, error_rates, necessity, metrics)
LEARNED = (known_model, doubly_robust, of_the_class)
OTHERS = (predictive_parity, situations, individuals, individuals_of_the_class)
FEW, MANY = World(people(480)), World(people(2_400), repeats=12)


@cache
def answer(question, world):
    return question(world)


SAME = [
    (question, change)
    for question in (*COUNTED, *LEARNED, *OTHERS)
    for change in (permuted, renamed, rearranged, scaled, shuffled)
]


@pytest.mark.parametrize(("question", "change"), SAME)
def test_what_must_not_matter_changes_nothing(question, change):
    expected, found = answer(question, FEW), question(change(FEW))
    assert found.keys() == expected.keys()
    for name in found:
        assert found[name] == pytest.approx(expected[name], abs=1e-9), name


@pytest.mark.parametrize("change", [rearranged, scaled, shuffled])
def test_the_page_of_the_class_says_the_same_words(change):
    assert page(change(FEW)) == answer(page, FEW)


def test_a_model_fitted_on_an_array_answers_as_one_fitted_on_a_frame():
    """In the class, whatever the order of roles; or it is refused where nobody said the order."""
    columns = [*CATEGORIES, "pay"]
    coded = pd.DataFrame(FEW.numbers(FEW.data), columns=columns)
    roles = {"protected": "g", "reference": 0, "comparison": 1, "mediators": ["job", "pay"]}
    graph = cf.CausalGraph.parse("g <-> {sex, area}; {g, sex, area} -> {job, pay}; job <-> pay")
    scm = cf.StructuralCausalModel.fit(graph, coded, {"pay": Linear(), "job": Linear()}, seed=0)
    found = []
    for seen in (coded, coded.to_numpy()):
        model = LogisticRegression().fit(seen, FEW.data["y"])
        for confounders in (["sex", "area"], ["area", "sex"]):
            asked = cf.CausalFairnessDecomposition(
                coded,
                FEW.data["y"],
                predictor=model,
                confounders=confounders,
                estimator=KnownModel(model.predict, **LEARNERS),
                **roles,
            )
            odds = asked.analyse_equalized_odds(rates=("fnr",), with_mediators=True)["fnr"]
            shift = asked.analyse_counterfactual_fairness(scm=scm)[1].shift
            found.append(
                {
                    **keyed("mean", parts(asked.analyse_mean_difference())),
                    **keyed("odds", parts(odds)),
                    "shift": (shift.value, shift.standard_error),
                }
            )
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        for name, numbers in other.items():
            assert numbers == pytest.approx(found[0][name], abs=1e-9), name


TOLD = [
    (question, change)
    for question in (*COUNTED, *LEARNED, *OTHERS)
    for change in (relabeled, doubled)
    if (question, change) != (situations, doubled)
]


@pytest.mark.parametrize(("question", "change"), TOLD)
def test_other_labels_and_rows_told_twice_change_no_value(question, change):
    """Situation tests are not asked of rows told twice: everybody then has a twin as a neighbor."""
    world = MANY if question in LEARNED else FEW
    expected, found = answer(question, world), question(change(world))
    assert found.keys() == expected.keys()
    for name in found:
        value, error = expected[name]
        learned = question in LEARNED and change is doubled
        near = NEAR * error if learned else 0.0
        assert found[name][0] == pytest.approx(value, abs=max(near, 1e-9)), name
