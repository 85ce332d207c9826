"""How far is an estimate from the truth? Shared by the tests of estimators."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import binom

import causalfairness as cf

PARTS = ("total", "direct", "indirect", "spurious")
NORTHPOINTE = cf.StandardFairnessModel(  # the question of the business-necessity paper
    protected="race",
    reference="Caucasian",
    comparison=None,
    confounders=["age", "sex"],
    mediators=[
        "juv_fel_count",
        "juv_misd_count",
        "juv_other_count",
        "priors_count",
        "c_charge_degree",
    ],
    outcome="two_year_recid",
)
ALL_WORLDS = tuple(product((0, 1), (0, 1), (0, 1, "everyone")))


def errors_in_standard_errors(found, world):
    """Each of the twelve means' distance from the truth, in its own standard errors."""
    truth = dict(zip(ALL_WORLDS, np.asarray(world.true_means()).reshape(-1), strict=True))
    means = {at: found.world_means[at] for at in ALL_WORLDS}
    return {at: (mean.value - truth[at]) / mean.standard_error for at, mean in means.items()}


def gap_between_sum_and_total(found):
    """What the parts miss of the plain gap."""
    parts = (found.direct, found.indirect, found.spurious, found.outside_support)
    return abs(sum(part.value for part in parts) - found.total.value)


def fewest_and_most_hits(draws, comparisons, level=0.95, familywise=0.01):
    """How often may `draws` intervals at `level` cover, if all `comparisons` counts are honest?"""
    tail = familywise / comparisons / 2
    return binom.ppf(tail, draws, level), binom.ppf(1 - tail, draws, level)


def graph_of(world):
    """Which graph does a world have? Confounders, group, mediators, then the outcome."""
    outside, m, y = ("group", *world.model.confounders), world.model.mediators, world.model.outcome
    arrows = [*product(outside, (*m, y)), *product(m, (y,))]
    return cf.CausalGraph.from_edges(arrows, product(("group",), world.model.confounders))
