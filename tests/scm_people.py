"""People with every kind of column, and the graphs of worlds: shared by tests of `scm`."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

import causalfairness as cf
from causalfairness.scm import Categorical, Linear, Poisson
from causalfairness.scm.causes import Causes
from causalfairness.scm.domain import Domain
from causalfairness.scm.mechanism import Sample


def people(n, seed=0):
    """A table with every kind of column; pay between 0 and 60, visits a count, job a label."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n, p=[0.4, 0.6])
    age = rng.normal(40, 10, n)
    region = rng.choice(["north", "south", "west"], n)
    high = (sex == "M") + (region == "west")
    pay = 60 * expit(-0.5 + 0.4 * high + 0.02 * (age - 40) + 0.5 * rng.normal(size=n))
    visits = np.minimum(rng.poisson(np.exp(0.6 + 0.3 * high - 0.01 * age)), 19)
    job = np.array(["clerk", "nurse", "smith"])[
        np.argmax(rng.gumbel(size=(n, 3)) + np.stack([0 * high, -0.5 * high, 0.6 * high], 1), 1)
    ]
    return pd.DataFrame(
        {"sex": sex, "age": age, "region": region, "pay": pay, "visits": visits, "job": job}
    )


WORK = cf.CausalGraph.parse("sex <-> age; {sex, age, region} -> {pay, visits, job}")
PLAIN = {"pay": Linear(), "visits": Poisson(), "job": Categorical()}  # no choice, no learner
SWAP = {"sex": {"F": "M", "M": "F"}}


def graph_of(world):
    """What the worlds assume: confounders, then the group, then mediators, then the outcome."""
    c, m, y = list(world.model.confounders), list(world.model.mediators), world.model.outcome
    arrows = [(cause, each) for each in m for cause in ("group", *c)]
    arrows += [(cause, y) for cause in ("group", *c, *m)]
    return cf.CausalGraph.from_edges(arrows, hidden=[("group", each) for each in c])


def gap(one, other, columns):
    """The largest difference in these columns of two frames."""
    return max(
        np.abs(np.asarray(one[column], float) - np.asarray(other[column], float)).max()
        for column in columns
    )


def green(causes):
    return (causes["group"] == "green").astype(float)


def sample(values, causes=None, *, target=None, seed=0):
    """A sample of one node; causes by name, words become labels."""
    values = np.asarray(values)
    domains, columns = [], []
    for name, column in (causes or {}).items():
        column = np.asarray(column)
        if column.dtype.kind in "US":
            labels, column = np.unique(column, return_inverse=True)
            domains.append(Domain(name, labels=tuple(map(str, labels))))
        else:
            domains.append(Domain(name))
        columns.append(column.astype(float))
    seen = Causes(len(values), tuple(domains), tuple(columns))
    return Sample(target or Domain("v"), values.astype(float), seen, seed)


def levels(values):
    return Domain("v", levels=tuple(map(float, np.unique(values))), whole=True, integers=True)
