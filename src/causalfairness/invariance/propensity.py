"""How likely is each group, given the features? Penalized logistic regression.

    log odds of level a against the rest = base + z . slopes,     penalty |slopes|^2 / 2 each

on standardized features, once more with smooth bumps around 60 of the people beside them, so that
bends can be followed, and once more with further columns, if there are any. Form and penalty are
those under which people who are left out would be least surprising; leaving one out is approximated
by one Newton step. With several groups each is set against the rest and the chances are made to add
to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from causalfairness.invariance.kernel_ridge import REACH, smooth_functions, standardized
from causalfairness.invariance.reading import Array, Codes

Chosen = NDArray[np.bool_]
PENALTIES = np.logspace(4, -1, 11)  # largest first
BENT = PENALTIES[-5:]  # beside bumps; larger ones leave little of them
LANDMARKS = 60  # people around whom bumps stand
ROUNDS = 30
CLOSE = 1e-8  # Newton step at which the search has ended


def chances_of_groups(
    features: Array,
    group: Codes,
    unseen: Array,
    levels: int,
    *,
    beside: tuple[Array, Array] | None = None,
) -> Array:
    """How likely would each group be for unseen people? (levels, people); they add to one.

    `beside` holds further columns, of those learned from and of those unseen, such as products:
    they are used where people who are left out are less surprising with them.

    >>> z = np.linspace(-1, 1, 400)[:, None]
    >>> a = (np.arange(400) * 7 % 10 < 4.5 + 4 * z[:, 0]).astype(np.int64)
    >>> chances_of_groups(z, a, np.array([[0.0]]), 2).round(1).tolist()
    [[0.5], [0.5]]
    """
    near, width = standardized(features, REACH), features.shape[1]
    learned, told = beside or (features[:, :0], unseen[:, :0])
    basis, further = smooth_functions(near(features), LANDMARKS), standardized(learned, REACH)

    def design(rows: Array, more: Array) -> list[Array]:
        z = near(rows)
        bumps = np.sqrt(width) * basis(z)[:, width:]
        return [np.hstack([np.ones((len(rows), 1)), z]), bumps, further(more)]

    parts, others = design(features, learned), np.hstack(design(unseen, told))
    of = np.repeat(np.arange(3), [part.shape[1] for part in parts])
    forms = [of == 0, of <= 1, of != 1][: 3 if beside else 2]
    rows = np.hstack(parts)
    return of_levels(lambda chosen: expit(others @ _logistic(rows, chosen, forms)), group, levels)


def of_levels(chance: Callable[[Chosen], Array], group: Codes, levels: int) -> Array:
    """Return the chances of all groups, (levels, people), from that of one against the rest.

    >>> of_levels(lambda chosen: np.array([chosen.mean()]), np.array([0, 1, 1, 2]), 3).tolist()
    [[0.25], [0.5], [0.25]]
    """
    if levels == 2:
        one = chance(group == 1)
        return np.stack([1 - one, one])
    found = [chance(group == level) for level in range(levels)]
    return np.asarray(found / np.sum(found, axis=0))


class LogisticFit(NamedTuple):
    """Base and slopes of log odds, and how surprising people who are left out would be."""

    slopes: Array
    surprise: float


def _logistic(rows: Array, chosen: Chosen, forms: Sequence[Chosen]) -> Array:
    """Base and slopes of the least surprising form: which columns are in use, the others 0.

    The first form is the straight one, from which the search for the others starts.
    """
    target, found = chosen.astype(float), list[LogisticFit]()
    for form in forms:
        told = (BENT, found[0].slopes[form]) if found else (PENALTIES,)
        fit = logistic_path(rows[:, form], target, *told)
        slopes = np.zeros(rows.shape[1])
        slopes[form] = fit.slopes
        found.append(LogisticFit(slopes, fit.surprise))
    return min(found, key=lambda fit: fit.surprise).slopes


def logistic_path(
    rows: Array, target: Array, penalties: Array, start: Array | None = None
) -> LogisticFit:
    """Return the least surprising fit; every penalty starts from the solution of a larger one.

    The first column is the constant, and is not penalized.

    >>> rows, y = np.column_stack([np.ones(6), np.arange(6)]), np.array([0, 1, 0, 1, 1, 1.0])
    >>> logistic_path(rows, y, np.array([1.0])).slopes.round(1).tolist()
    [-0.9, 0.7]
    """
    share = np.clip(target.mean(), 1e-9, 1 - 1e-9)
    base = np.r_[np.log(share / (1 - share)), np.zeros(rows.shape[1] - 1)]
    slopes, fits = base if start is None else start, []
    for penalty in penalties:
        fits.append(_newton(rows, target, penalty, slopes))
        slopes = fits[-1].slopes
    return min(fits, key=lambda fit: fit.surprise)


def _newton(rows: Array, target: Array, penalty: float, slopes: Array) -> LogisticFit:
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = 1e-9
    for _ in range(ROUNDS):
        chance = expit(rows @ slopes)
        weight = chance * (1 - chance)
        curvature = (rows.T * weight) @ rows + np.diag(ridge)
        step = np.linalg.solve(curvature, rows.T @ (target - chance) - ridge * slopes)
        slopes = slopes + step
        if np.abs(step).max() < CLOSE:
            break
    inverse = np.linalg.inv(curvature)
    pull = ((rows @ inverse) * rows).sum(axis=1)
    line = rows @ slopes - pull * (target - chance) / np.maximum(1 - weight * pull, 1e-3)
    return LogisticFit(slopes, float(np.logaddexp(0, np.where(target == 1, -line, line)).mean()))
