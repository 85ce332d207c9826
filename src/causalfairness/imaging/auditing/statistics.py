r"""Does what a classifier says depend on the group, beyond all other parents? Tests that stay valid
when the generator is wrong.

Let w be the named parents of an image but the group (age, sex, scanner, findings), y_i what the
classifier says of the image as it is, g_i(a) what it says of the image that the generator makes of
it under group a, and pi(a | w) the chance of a group. Taken literally, the test of methods §11 is

    d_i = (y_i - h_i) (g_i(a_i) - h_i),   h_i = sum_a pi(a | w_i) g_i(a)            ("individual")

but an image that is told its own group comes back as it was, g_i(a_i) = y_i, so that d_i is
(y_i - h_i)^2: whatever the generator does wrong to the images of other groups has a square, and
counts as dependence. A generator that is taken from its noise to the image and back by the same
flow does this exactly, however well or badly it was trained, so no number of images helps. What the
generator got wrong and what the classifier does wrong cannot be told apart within one person. A
placebo, a generator trained with permuted groups, helps as far as it makes the same mistakes: it
has those of the walk to the noise and back, but as it learned to change nothing, it cannot be wrong
about how much the group changes (with the Gaussian generator true invariance is rejected always,
with such a placebo or without).

They can be between people. Under invariance y does not depend on the group once w is known: for any
function c(a, w) that was not learned from person i,

    E[(y_i - m(w_i)) (c(a_i, w_i) - sum_a pi(a | w_i) c(a, w_i))] = 0                ("projected")

whatever the generator does, if m or pi is right. Here the generator says in which direction and for
whom to look, c(a, w) = E[g(a) - g(0) | w], and the classifier's answers about real images decide.
This is the projected test of methods §11 with g(a, w) = m(w) + c(a, w) - sum_b pi(b | w) c(b, w):
with the true generator E[d] = E[(g - h)^2], the variance that the group adds. m, c and pi are
learned from other people, in folds.

All folds are pooled, unlike in `invariance_test`, because c is not learned from y. The worst a
generator can do is to make c out of the same chance differences between groups that y has (images
of other groups that are paler, say, so that c follows the mean of y in each group). Then
t = R - k / R where R^2 is chi-square with k free directions, one less than there are groups, and
P(t > 1.645) is 0.034 for k = 1 and 0.049 for k = 2: still no more than 0.05. Were the folds' c
and y independent or c fixed, t would be standard normal.

What it cannot see: a dependence that averages to nothing among people with the same w.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from causalfairness.imaging.auditing.generating import Generated
from causalfairness.imaging.parents import UNKNOWN, Parents
from causalfairness.imaging.tokens import codes_of
from causalfairness.invariance.kernel_ridge import regress
from causalfairness.invariance.propensity import chances_of_groups
from causalfairness.invariance.scores import Judged, means_of, studentized
from causalfairness.invariance.statistics import Statistics, paired, projected, randomization
from causalfairness.invariance.tails import log_normal_tail

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Method = Literal["projected", "randomization", "individual", "paired"]
METHODS = ("projected", "randomization", "individual", "paired")
FOLDS = 5


def features_of(parents: Parents) -> Array:
    """What is known about people but their group? (n, columns) numbers, none missing.

    Age, and one column per value of sex, scanner and each finding but the first; what is not known
    is a value of its own. Columns that never change are left out.

    >>> from causalfairness.imaging.simulator import Simulator
    >>> features_of(Simulator(size=32).draw(50, seed=0).parents).shape
    (50, 8)
    """
    codes = codes_of(parents).double().cpu().numpy()[:, 1:]
    age, known = codes[:, 0], codes[:, 0] != UNKNOWN
    columns = [np.where(known, age, age[known].mean() if known.any() else 0.0), known.astype(float)]
    for column in codes[:, 1:].T:
        columns += [(column == value).astype(float) for value in np.unique(column)[1:]]
    return np.column_stack([column for column in columns if np.ptp(column) > 0] or [age * 0])


def judged_between_people(
    said: Array, under: Array, group: Codes, features: Array, rng: np.random.Generator
) -> Judged:
    """What do other people, and the generator, lead us to expect of each person in each group?

    `said` is (people, columns), `under` (groups, people, columns).

    >>> rng = np.random.default_rng(0)
    >>> w, a = rng.normal(size=(200, 2)), np.arange(200) % 2
    >>> said = w[:, :1] + a[:, None]
    >>> under = np.stack([w[:, :1], w[:, :1] + 1])
    >>> judged = judged_between_people(said, under, a, w, rng)
    >>> bool(abs(judged.effects.mean() - 0.25) < 0.03)
    True
    """
    levels, people, columns = under.shape
    chances, expected = np.empty((levels, people)), np.zeros((levels, people, columns))
    level = np.empty_like(said)
    beyond = np.concatenate(list(under[1:] - under[0]), axis=1)
    for fold in _folds(group, rng):
        rest = np.setdiff1d(np.arange(people), fold)
        chances[:, fold] = chances_of_groups(features[rest], group[rest], features[fold], levels)
        target = np.hstack([said[rest], beyond[rest]])
        found = regress(features[rest], target, features[fold])
        level[fold] = found[:, :columns]
        expected[1:, fold] = np.stack(np.split(found[:, columns:], levels - 1, axis=1))
    expected += level - np.einsum("anm,an->nm", expected, chances)
    return Judged(said, group, expected, chances)


def asked(
    method: Method,
    judged: Judged,
    generated: Generated,
    placebo: Generated | None,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Statistics:
    """Which statistic and p-value does each classifier and finding have, by this method?"""
    if method == "projected":
        return projected([judged], draws, rng)
    if method == "randomization":
        return randomization([judged], draws, rng)
    own = within_people(generated, judged)
    if method == "paired":
        average = own.of_own(own.expected) - own.of_own(own.apart)
        withheld = generated.withheld
        plain = average if withheld is None else withheld.reshape(len(withheld), -1)
        return paired([own], [plain], draws, rng)
    found = projected([own], draws, rng)
    if placebo is None:
        return found
    t = studentized(means_of(own.scores - within_people(placebo, judged).scores))
    t = np.where(np.isfinite(t), t, 0.0)
    return found._replace(statistic=t, log_p_value=log_normal_tail(t) * (t != 0))


def within_people(generated: Generated, judged: Judged) -> Judged:
    """What does the generator alone lead us to expect of each person in each group?"""
    levels, people = generated.counterfactual.shape[:2]
    under = generated.counterfactual.reshape(levels, people, -1)
    return Judged(generated.original.reshape(people, -1), judged.group, under, judged.chances)


def _folds(group: Codes, rng: np.random.Generator) -> list[Codes]:
    """By chance, with as many of each group in all."""
    mixed = rng.permutation(len(group))
    order = mixed[np.argsort(group[mixed], kind="stable")]
    return [rng.permutation(order[start::FOLDS]) for start in range(FOLDS)]
