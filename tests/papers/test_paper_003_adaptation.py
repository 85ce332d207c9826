"""COMPAS adapted to the Caucasian group, age and sex untouched.

Numbers cite `adaptation_means_comparison_group` of `paper_003_compas` in the reference file: means
of everyone else before and after, worked out independently.
"""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import causalfairness as cf
from causalfairness.adaptation import LinearQuantiles
from judging import NORTHPOINTE

OTHERS = ("race", *NORTHPOINTE.confounders)
GRAPH = cf.CausalGraph.from_edges(
    [(cause, effect) for effect in NORTHPOINTE.mediators for cause in OTHERS]
    + [(cause, "two_year_recid") for cause in (*OTHERS, *NORTHPOINTE.mediators)],
    hidden=[("race", confounder) for confounder in NORTHPOINTE.confounders],
)
MEANS = {  # before, after, how far off the mean may be
    "two_year_recid": (0.480, 0.429, 0.03),
    "priors_count": (3.93, 2.49, 0.05 * 2.49),
    "juv_other_count": (0.118, 0.137, 0.03),
}


@pytest.fixture(scope="module")
def compas():
    rows = cf.datasets.load_compas(propublica_filter=False, frame="pandas")
    return rows[[*OTHERS, *NORTHPOINTE.mediators, "two_year_recid"]]


def adapter(**choices):
    return cf.FairAdapter(GRAPH, protected="race", reference="Caucasian", **choices)


@pytest.mark.parametrize(
    "choices",
    [{}, {"pooled": True, "seed": 1}, {"learner": LinearQuantiles()}],
    ids=["shared", "pooled", "linear"],
)
def test_adapted_means_are_those_of_an_independent_calculation(compas, choices):
    found = adapter(**choices).fit(compas)
    moved = found.transform(compas)
    others = compas["race"] != "Caucasian"
    assert others.sum() == 7214 - 2454
    for column, (before, after, tolerance) in MEANS.items():
        assert compas[column][others].mean() == pytest.approx(before, abs=0.005)
        assert moved[column][others].mean() == pytest.approx(after, abs=tolerance), column
    assert moved[~others].equals(compas[~others])
    assert moved[["age", "sex"]].equals(compas[["age", "sex"]])
    assert moved.dtypes.equals(compas.dtypes)


def test_the_gap_is_wider_where_mediators_are_kept(compas):
    """Only the ends of the published sweep: no mediator kept, all of them kept."""
    order = np.random.default_rng(0).permutation(len(compas))
    train, test = compas.iloc[order[:4_800]], compas.iloc[order[4_800:]]
    encoded = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["sex", "c_charge_degree"]), remainder="passthrough"
    )
    forest = RandomForestClassifier(100, min_samples_leaf=20, random_state=0)
    gap = {}
    for keep in (("spurious",), ("spurious", "indirect")):
        found = cf.FairPredictor(
            adapter(pooled=True, outcome="two_year_recid"),
            make_pipeline(encoded, forest),
            keep=keep,
        ).fit(train)
        score = found.predict_proba(test)[:, 1]
        others = (test["race"] != "Caucasian").to_numpy()
        gap[keep] = score[others].mean() - score[~others].mean()
        assert 0.6 < found.score(test) < 0.7
    nothing, everything = gap
    # scores have a standard deviation of 0.2, and the two sets of them are nearly the same
    assert gap[nothing] + 0.02 < gap[everything]
