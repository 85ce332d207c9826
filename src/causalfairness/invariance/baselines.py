"""Do predictions differ between groups at all? The questions invariance is confused with.

* Demographic parity: the mean prediction is the same in all groups.
* Equal opportunity: it is, among people with the favorable outcome.

Both are Welch's test, which does not take the spread to be equal: with two groups the t test, with
more the analysis of variance. The effect is the variance of the group means, E[(g - h)^2] without
features, so that it can be read beside that of an invariance test.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from causalfairness.errors import InvarianceError
from causalfairness.fairness_model import NOBODY_SAID
from causalfairness.invariance.reading import Array, Brought, check_known, read, read_group
from causalfairness.invariance.result import Claim, InvarianceTest
from causalfairness.invariance.scores import Judged, effect_of
from causalfairness.invariance.tails import log_f_tail
from causalfairness.tables.frames import column_from
from causalfairness.tables.joining import check_indexes

PARITY = Claim(
    "demographic parity (Welch)",
    depends="differ between groups",
    silent="consistent with no difference between groups",
)
OPPORTUNITY = Claim(
    "equal opportunity (Welch)",
    depends="differ between groups among people with the favorable outcome",
    silent="consistent with no difference between groups among people with the favorable outcome",
)
DRAWN = ("people are independent draws",)
ABOUT = "differences that features explain count too: this is not a test of invariance"
FLAT = (
    "some groups get one and the same prediction throughout; their spread was taken from all groups"
)
SPLIT = (
    "predictions never vary within groups; the p-value is the chance that random groups would fall "
    "together with them"
)


def demographic_parity_test(predictions: Any, group: Any, *, level: float = 0.95) -> InvarianceTest:
    """Do groups get different predictions on average?

    >>> found = demographic_parity_test([0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0],
    ...                                 ["f"] * 8 + ["m"] * 8)
    >>> round(float(found.p_value[0]), 2)
    0.05
    """
    nothing = np.empty((len(column_from("group", group)), 0))
    return _welch(read(predictions, group, nothing), PARITY, level)


def equal_opportunity_test(
    predictions: Any, group: Any, outcome: Any, *, favorable: Any = None, level: float = 0.95
) -> InvarianceTest:
    """Do groups get different predictions on average, among people with the favorable outcome?

    >>> y, a = np.tile([1, 0], 20), np.repeat(["f", "m"], 20)
    >>> found = equal_opportunity_test((np.arange(40) % 3 == 0) & (a == "m"), a, y, favorable=1)
    >>> found.n, round(float(found.p_value[0]), 2)
    (20, 0.08)
    """
    column, people = column_from("outcome", outcome), len(column_from("group", group))
    check_known(column)
    if len(column) != people:
        raise InvarianceError(
            f"the outcome has {len(column):,} rows, the group {people:,}; row i must be the same "
            "person in both"
        )
    check_indexes(outcome=outcome, group=group)
    levels = column.levels()
    brought = read(predictions, group, levels.codes[:, None].astype(float))  # rows are put in order
    there = ", ".join(map(repr, levels.values[:5]))
    if favorable is None:
        raise InvarianceError(f"{NOBODY_SAID}; the outcome holds {there}")
    wanted = favorable if column.is_number else str(favorable)
    if wanted not in levels.values:
        raise InvarianceError(f"nobody has the outcome {favorable!r}; there are {there}")
    kept = np.flatnonzero(brought.features[:, 0] == levels.values.index(wanted))
    names = np.array(brought.levels, dtype=object)[brought.group[kept]].tolist()
    present, codes = read_group(names)
    said = brought.predictions[kept]
    part = replace(brought, predictions=said, levels=present, group=codes, groups=present)
    return _welch(part, OPPORTUNITY, level)


def _welch(brought: Brought, claim: Claim, level: float) -> InvarianceTest:
    groups = [brought.predictions[brought.group == at] for at in range(len(brought.levels))]
    sizes = np.array([len(each) for each in groups], dtype=float)
    means = np.stack([each.mean(axis=0) for each in groups])
    variances = np.stack([each.var(axis=0, ddof=1) * (np.ptp(each, axis=0) > 0) for each in groups])
    pooled = ((sizes - 1) @ variances) / (sizes.sum() - len(sizes))
    f, between, within = _variance_ratio(sizes, means, variances, pooled)
    split = (variances == 0).all(axis=0)
    apart = np.ptp(means, axis=0) > 0
    by_chance = float(gammaln(sizes + 1).sum() - gammaln(sizes.sum() + 1))
    log_p = np.where(split, np.where(apart, by_chance, 0.0), log_f_tail(f, between, within))
    flat = len(sizes) > 2 and ((variances == 0) & (pooled > 0)).any()
    notes = [ABOUT, *[FLAT] * bool(flat), *[SPLIT] * bool((split & apart).any())]
    shares = np.repeat((sizes / sizes.sum())[:, None], len(brought), axis=1)
    expected = np.repeat(means[:, None], len(brought), axis=1)
    size = effect_of([Judged(brought.predictions, brought.group, expected, shares)])
    numbers = np.where(split, 0.0, np.sqrt(f)), log_p, *size, len(brought)
    return InvarianceTest(
        claim, brought.models, brought.groups, *numbers, level, DRAWN, tuple(notes)
    )


def _variance_ratio(
    sizes: Array, means: Array, variances: Array, pooled: Array
) -> tuple[Array, float, Array]:
    """Welch's F and its degrees of freedom; with two groups the square of Welch's t."""
    if len(sizes) == 2:
        parts = variances / sizes[:, None]
        total = np.where(pooled > 0, parts.sum(axis=0), 1.0)
        within = total**2 / np.maximum((parts**2 / (sizes - 1)[:, None]).sum(axis=0), 1e-300)
        return (means[1] - means[0]) ** 2 / total, 1.0, np.maximum(within, 1.0)
    spread = np.where(variances == 0, pooled, variances)
    weights = sizes[:, None] / np.where(pooled > 0, spread, 1.0)
    share = weights / weights.sum(axis=0)
    center = (share * means).sum(axis=0)
    others = len(sizes) - 1
    uneven = ((1 - share) ** 2 / (sizes - 1)[:, None]).sum(axis=0)
    scale = 1 + 2 * (others - 1) / (others * (others + 2)) * uneven
    f = (weights * (means - center) ** 2).sum(axis=0) / others / scale
    return f, float(others), others * (others + 2) / (3 * uneven)
