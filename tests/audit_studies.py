"""Which studies do the tests of audits share? Small worlds with known answers, as tables."""

from __future__ import annotations

import json

import numpy as np

import causalfairness as cf

ROLES = {
    "protected": "group",
    "reference": "blue",
    "comparison": "green",
    "confounders": ["c1", "c2"],
    "mediators": ["m1"],
    "outcome": "y",
    "favorable": 1,
}
PREDICTED = ROLES | {"prediction": "score"}
EVERY_KIND = [
    {"ask": "disparity", "margin": 0.02},
    {"ask": "disparity", "of": "prediction", "convention": "symmetric"},
    {"ask": "error_rates", "rates": ["fpr"]},
    {"ask": "group_metrics"},
    {"ask": "predictive_parity", "bins": 4, "replicates": 50},
    {"ask": "necessity", "allowed": ["indirect", "spurious"], "margin": 0.05},
    {"ask": "counterfactual_fairness"},
    {"ask": "situations", "k": [12], "features": ["c1", "m1"], "listed": 500, "dossiers": 2},
    {"ask": "invariance", "features": ["c1", "c2"]},
    {
        "ask": "screens",
        "rule": "four_fifths",
        "columns": {"sex": "group"},
        "selected": "score",
    },
]


def people(n=1_500, seed=0, frame="pyarrow"):
    """A binary world with a column of decisions that follow group and mediator."""
    data = cf.datasets.worlds.binary().draw(n, seed=seed, frame="pandas")
    rng = np.random.default_rng(seed)
    chance = 0.15 + 0.3 * (data["group"] == "green") + 0.3 * data["m1"]
    data["score"] = (rng.random(n) < chance).astype(int)
    if frame == "pandas":
        return data
    import pyarrow as pa

    return pa.Table.from_pandas(data, preserve_index=False)


def study(**more):
    """An audit of these people, with one question unless others are given."""
    given = {"roles": PREDICTED, "questions": [{"ask": "disparity"}]} | more
    return cf.Audit(**given)


def without_timings(record):
    """What must not differ between two runs of the same study, as bytes."""
    return json.dumps({**record, "timings": None}, sort_keys=True).encode()
