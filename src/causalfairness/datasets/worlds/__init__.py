"""Which made-up data have known answers? Worlds: structural equations whose 12 means are known.

`WORLDS` maps each name to a function that makes the world; most take the strengths `direct`
(A -> Y), `indirect` (A -> M) and `spurious` (C -> A). `curved` stands beside them: it has no
confounders, and `true_terms` knows what predictive parity is made of in it.

>>> sorted(WORLDS)
['binary', 'count_mediator', 'heavy_tailed', 'interacting', 'linear_gaussian', 'med', 'nomed',
 'rare_group', 'sparse_cells', 'ten_confounders']
>>> world = WORLDS["linear_gaussian"]()
>>> rows = world.draw(1_000, seed=0)
>>> sorted(world.true_effects())
['direct', 'indirect', 'spurious', 'total']
"""

from __future__ import annotations

from collections.abc import Callable

from causalfairness.datasets.worlds.curved import TrueTerms, curved, true_terms
from causalfairness.datasets.worlds.discrete import binary, count_mediator, sparse_cells
from causalfairness.datasets.worlds.linear import (
    heavy_tailed,
    interacting,
    linear_gaussian,
    rare_group,
    ten_confounders,
)
from causalfairness.datasets.worlds.published import med, nomed
from causalfairness.datasets.worlds.world import ARROWS, World

WORLDS: dict[str, Callable[[], World]] = {
    "linear_gaussian": linear_gaussian,
    "binary": binary,
    "interacting": interacting,
    "rare_group": rare_group,
    "heavy_tailed": heavy_tailed,
    "sparse_cells": sparse_cells,
    "ten_confounders": ten_confounders,
    "count_mediator": count_mediator,
    "nomed": nomed,
    "med": med,
}

__all__ = [
    "ARROWS",
    "WORLDS",
    "TrueTerms",
    "World",
    "binary",
    "count_mediator",
    "curved",
    "heavy_tailed",
    "interacting",
    "linear_gaussian",
    "med",
    "nomed",
    "rare_group",
    "sparse_cells",
    "ten_confounders",
    "true_terms",
]
