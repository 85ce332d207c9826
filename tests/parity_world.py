"""A world whose scores, outcomes and other outcomes are all known. Shared by two test files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import causalfairness as cf

CURVED = cf.datasets.worlds.curved()
GRAPH = cf.CausalGraph.parse("group -> {w1, w2, y}; w1 -> {w2, y}; w2 -> y")
MODEL = replace(CURVED.model, prediction="score")


def quadratic():
    """A learner that the equations of the curved world are within reach of."""
    return make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())


def oracle(people):
    """E[y | a, w1, w2]: an efficient learner."""
    told = (CURVED.outcome_given_all(people, told=group) for group in (0, 1))
    return np.where(people["group"] == "green", *reversed([*told]))


def drawn(n, seed, score=oracle):
    """People with their score, and what their outcome would be as blue."""
    people = CURVED.draw(n, seed=seed, frame="pandas")
    blue = CURVED.counterfactual(n, seed=seed, do="blue", frame="pandas")
    return people.assign(score=score(people), y_blue=blue["y"])


def fitted(people):
    """A structural model whose mechanisms can represent the world."""
    learned = {"w2": cf.scm.Additive(quadratic()), "y": cf.scm.Additive(quadratic())}
    return cf.StructuralCausalModel.fit(GRAPH, people, {"w1": cf.scm.Linear(), **learned})


def columns_of(people):
    """What a learner sees."""
    return np.column_stack([people["group"] == "green", people["w1"], people["w2"]]).astype(float)
