"""A world whose error rates can be counted out, and ways to ask about them: shared by tests.

Group a, confounder c, mediator m and outcome y are all 0 or 1; classifiers are functions of a, m
and c, so every mean mu_y[i, j, k] = sum of f(i, m, c) P(m | j, c, y) P(c | k, y) is a finite sum.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import causalfairness as cf
from causalfairness.effects.contrasts import PARTS as CONVENTIONS
from causalfairness.estimators import DoublyRobust, KnownModel, Strata
from causalfairness.parity.error_rate import RATES
from judging import PARTS

SHARE = 0.6  # of the comparison group
C_GIVEN_A = np.array([0.3, 0.6])
M_GIVEN_AC = np.array([[0.25, 0.5], [0.45, 0.75]])
Y_GIVEN_AMC = np.array([[[0.2, 0.3], [0.5, 0.6]], [[0.3, 0.45], [0.55, 0.8]]])
A, C, M, Y = (axis.ravel() for axis in np.meshgrid(*[[0, 1]] * 4, indexing="ij"))


def chance(probability, value):
    return np.where(value == 1, probability, 1 - probability)


POPULATION = pd.DataFrame(
    {
        "a": A,
        "c": C,
        "m": M,
        "y": Y,
        "p": chance(SHARE, A)
        * chance(C_GIVEN_A[A], C)
        * chance(M_GIVEN_AC[A, C], M)
        * chance(Y_GIVEN_AMC[A, M, C], Y),
    }
)


def listens_to_all(a, m, c):
    return (2 * a + 2 * m + 3 * c >= 4).astype(float)


def deaf_to_the_group(a, m, c):
    return (m + c >= 1).astype(float)


def deaf_to_the_mediator(a, m, c):
    return (a != c).astype(float)


def hard_to_please(a, m, c):
    return (m * c).astype(float)


CLASSIFIERS = {f.__name__: f for f in (listens_to_all, deaf_to_the_group, deaf_to_the_mediator)}


def predicting(classifier):
    """The classifier as a function of a frame, and it does look at the mediators."""

    def predict(people):
        a, m, c = (np.asarray(people[name]) for name in "amc")
        return classifier(a, m, c)

    return predict


MODEL = cf.StandardFairnessModel(
    protected="a",
    reference=0,
    comparison=1,
    confounders=["c"],
    mediators=["m"],
    outcome="y",
    prediction="yhat",
)
ALONE = replace(MODEL, mediators=())  # nothing is told through a mediator


def everyone(classifier, copies=1):
    """The whole population: one row per kind of person, weighted by how common it is."""
    whole = POPULATION.assign(yhat=classifier(A, M, C))
    return pd.concat([whole] * copies, ignore_index=True)


def draw(classifier, n, seed):
    rng = np.random.default_rng(seed)
    people = POPULATION.iloc[rng.choice(16, n, p=POPULATION.p)].drop(columns="p")
    people = people.assign(yhat=classifier(people.a, people.m, people.c))
    return people.reset_index(drop=True)


def true_means(classifier, rate, *, mediators=True):
    """mu[i, j, k] among the people a rate is about, by enumeration; k = 2 is everyone."""
    asked, whole = RATES[rate], everyone(classifier)
    of, given = ("yhat", "y") if asked.of == "prediction" else ("y", "yhat")
    people = whole[whole[given] == float(asked.given)]
    p, values = people.p.to_numpy(), people[of].to_numpy()
    a, c, m = (people[name].to_numpy() for name in "acm")
    if not mediators:
        m = np.zeros_like(m)

    def mean(i, at_m, at_c):
        here = (a == i) & (m == at_m) & (c == at_c)
        return p[here] @ values[here] / p[here].sum()

    def share(column, value, *where):
        inside = np.logical_and.reduce(where)
        return p[inside & (column == value)].sum() / p[inside].sum() if inside.any() else 0.0

    found = np.zeros((2, 2, 3))
    for i, j, k in product((0, 1), (0, 1), (0, 1, 2)):
        among = (a == k) if k < 2 else np.ones(len(a), dtype=bool)
        found[i, j, k] = sum(
            mean(i, at_m, at_c) * share(m, at_m, a == j, c == at_c) * share(c, at_c, among)
            for at_m, at_c in product(np.unique(m), (0, 1))
            if share(m, at_m, a == j, c == at_c) > 0
        )
    return 1 - found if asked.complement else found


def true_parts(means, convention="sequential"):
    def combine(terms):
        at = {0: 0, 1: 1, "everyone": 2}
        return sum(weight * means[i, j, at[k]] for (i, j, k), weight in terms.items())

    parts = {name: combine(c.terms) for name, c in CONVENTIONS[convention].items()}
    return {"total": means[1, 1, 1] - means[0, 0, 0], **parts}


LEARNERS = {"group": LogisticRegression(C=1e4), "nested": LinearRegression()}
ROUTES = {
    "counted": (MODEL, Strata()),
    "known": (replace(MODEL, prediction=predicting(listens_to_all)), KnownModel),
    "learned": (
        MODEL,
        DoublyRobust(
            outcome=DecisionTreeClassifier(max_depth=3),
            group=DecisionTreeClassifier(max_depth=2),
            nested=LinearRegression(),
        ),
    ),
}


def by_route(route, people, rate, **options):
    model, estimator = ROUTES[route]
    if estimator is KnownModel:
        estimator = KnownModel(model.predict, **LEARNERS)
    return cf.decompose_error_rates(
        people, model, rate, with_mediators=True, estimator=estimator, **options
    )


def same_answer(found, expected):
    for part in PARTS:
        one, other = getattr(found, part), getattr(expected, part)
        assert one.value == pytest.approx(other.value, abs=1e-12), part
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-12), part
