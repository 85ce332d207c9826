"""Worlds of yes and no in which every effect on outcome and prediction is a product of numbers.

    P(c = 1) = .5,   P(a = 1 | c) = .5 + .2 (c - .5),   P(m = 1 | a, c) = .3 + LIFT a + .1 c
    P(v = 1 | a, m, c) = base + direct a + slope m + shift c     for v the outcome, the prediction

so that, from a = 0 to a = 1 and in the sequential convention,

    direct = direct,  indirect = LIFT slope,  spurious = (shift + .1 slope) SHARE

with SHARE the difference in P(c = 1 | a). Outcome and prediction agree more than chance would have
it: half of the people have one number that decides both.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import causalfairness as cf

LIFT, SHARE = 0.4, 0.2
COLUMNS = ("a", "c", "m", "y", "p")
MODEL = cf.StandardFairnessModel(
    protected="a",
    reference=0,
    comparison=1,
    confounders=["c"],
    mediators=["m"],
    outcome="y",
    prediction="p",
)


class Chances(NamedTuple):
    """How does one of the two follow from group, mediator and confounder?"""

    base: float
    direct: float
    slope: float
    shift: float

    def of(self, a, m, c):
        return self.base + self.direct * a + self.slope * m + self.shift * c

    @property
    def effects(self):
        spurious = (self.shift + 0.1 * self.slope) * SHARE
        return {"direct": self.direct, "indirect": LIFT * self.slope, "spurious": spurious}


OUTCOME = Chances(0.3, 0.05, 0.2, 0.15)


def predicting(*, direct=0.0, indirect=0.0, spurious=0.0):
    """The prediction with these direct and indirect effects, so far off on the spurious path."""
    slope = indirect / LIFT
    wanted = OUTCOME.effects["spurious"] + spurious
    return Chances(0.3, direct, slope, wanted / SHARE - 0.1 * slope)


def chances_of_cells(prediction, outcome=OUTCOME):
    """The 32 combinations of a, c, m, y and p, and how likely each is."""
    cells, chances = [], []
    for a, c, m, y, p in product((0, 1), repeat=5):
        told = 0.5 + 0.2 * (c - 0.5)
        lifted = 0.3 + LIFT * a + 0.1 * c
        one, other = outcome.of(a, m, c), prediction.of(a, m, c)
        both = 0.5 * min(one, other) + 0.5 * one * other
        joint = {(1, 1): both, (1, 0): one - both, (0, 1): other - both}
        joint[0, 0] = 1 - one - other + both
        chance = 0.5 * (told if a else 1 - told) * (lifted if m else 1 - lifted) * joint[y, p]
        cells.append((a, c, m, y, p))
        chances.append(chance)
    return np.array(cells), np.array(chances)


def draw(prediction, n, rng):
    """A table of n people of this world."""
    cells, chances = chances_of_cells(prediction)
    rows = np.repeat(cells, rng.multinomial(n, chances / chances.sum()), axis=0)
    return pa.table(dict(zip(COLUMNS, rows.T, strict=True)))
