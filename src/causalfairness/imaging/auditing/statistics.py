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

Between people the two can be told apart. Under invariance y does not depend on the group once w is
known: for any function c(a, w) that was not learned from person i,

    E[(y_i - m(w_i)) (c(a_i, w_i) - sum_a pi(a | w_i) c(a, w_i))] = 0                ("projected")

whatever the generator does, if m or pi is right (both are learned, from the columns of
`features_of_codes`). Here the generator says in which direction
and for whom to look, c(a, w) = E[g(a) - g(0) | w], and the classifier's answers about real images
decide. This is the projected test of methods §11 with

    g(a, w) = m(w) + c(a, w) - sum_b pi(b | w) c(b, w);

with the true generator E[d] = E[(g - h)^2], the variance that the group adds. m, c and pi are
learned from other people, in folds.

The size is another matter: a generator may have the direction right and do twice as much as there
is. The effect is therefore that of s (c - sum_b pi(b | w) c(b, w)), with the s that fits the real
scores best, s = max(sum of d, 0) / (sum of (g - h)^2), and not below 0.

All folds are pooled, unlike in `invariance_test`, because c is not learned from y (measured with
three groups and 400 people: pooled over five folds, level 0.055 to 0.075 and power 0.77; the mean
of the t of two folds, 0.02 and 0.52). The worst a generator can do is to make c out of the same
chance differences between groups that y has (images of other groups that are paler, say, so that c
follows the mean of y in each group). Then t = R - k / R where R^2 is chi-square with k free
directions, and P(t > 1.645) follows from k, one less than there are groups where c does not depend
on w: 0.034 for k = 1, 0.049 for k = 2, 0.063 for k = 4. c also follows w, and pi is estimated:
measured with three groups and 400 people, 0.07 to 0.09 for such generators, 0.05 to 0.06 for
mistakes that do not follow y. Were c fixed, t would be standard normal.

Where scores and groups follow the same bend or step of age, age by scanner or finding, or sex by
scanner (by 0.4 standard deviations and 0.7 in log odds; two groups), the level is 0.05 to 0.11 with
500 people and 0.08 to 0.17 with 200, where lines and age by sex alone left up to 0.44. Bumps and
products stand apart from the lines, with a penalty of their own: in one ridge with them, what the
findings do is shrunk, and with three groups the level with a generator that makes one mistake about
everyone was 0.10.

What it cannot see: a dependence that averages to nothing among people with the same w.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.imaging.auditing.generating import Generated
from causalfairness.imaging.parents import UNKNOWN, Parents, codes_of
from causalfairness.invariance.kernel_ridge import regress
from causalfairness.invariance.propensity import chances_of_groups
from causalfairness.invariance.scores import EffectSize, Judged, means_of, studentized
from causalfairness.invariance.statistics import Statistics, paired, projected, randomization
from causalfairness.invariance.tails import log_normal_tail

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Method = Literal["projected", "randomization", "individual", "paired"]
METHODS = ("projected", "randomization", "individual", "paired")
FOLDS = 5
BUMPS = 6  # along age


class Described(NamedTuple):
    """What is known about people but their group, as numbers? One row each, none missing.

    >>> Described.of_lines(np.zeros((3, 2))).curves.shape
    (3, 0)
    """

    lines: Array  # held in every regression
    curves: Array  # bends and products, used as far as they help

    @classmethod
    def of_lines(cls, lines: Array) -> Described:
        """What if nothing bends?"""
        return cls(lines, np.empty((len(lines), 0)))

    def of(self, people: Codes) -> Described:
        """What is known about these?"""
        return Described(self.lines[people], self.curves[people])


def features_of(parents: Parents) -> Described:
    """What is known about people but their group?

    >>> from causalfairness.imaging.simulator import Simulator
    >>> found = features_of(Simulator(size=32).draw(50, seed=0).parents)
    >>> found.lines.shape, found.curves.shape
    ((50, 10), (50, 13))
    """
    return features_of_codes(codes_of(parents).double().cpu().numpy())


def features_of_codes(codes: Array) -> Described:
    """What is known about people but their group, by the codes of their parents (`codes_of`)?

    Lines: age and its square, age by sex, and one column per value of sex, scanner and each finding
    but the first; what is not known is a value of its own. Curves: bumps along age, age by scanner
    and by each finding, sex by scanner. Columns that never change are left out.

    >>> found = features_of_codes(np.array([[0.0, 0.3, 0, 0], [1.0, 0.5, 1, 0], [1.0, 0.4, 1, 1]]))
    >>> found.lines.shape, found.curves.shape
    ((3, 5), (3, 8))
    """
    age, known = codes[:, 1], codes[:, 1] != UNKNOWN
    years = np.where(known, age - (age[known].mean() if known.any() else 0.0), 0.0)
    told = [
        [(column == value).astype(float) for value in np.unique(column)[1:]]
        for column in codes[:, 2:].T
    ]
    sex, scanner, *_ = told
    rest = [column for columns in told[1:] for column in columns]
    lines = [years, years**2, known.astype(float), *sex, *(years * it for it in sex), *rest]
    curves = [*_bumps(age, known), *(years * it for it in rest)]
    curves += [one * other for one in sex for other in scanner]
    return Described(_varying(lines), _varying([*curves, 0 * years]))


def _varying(columns: list[Array]) -> Array:
    """Those that are not the same for everyone, side by side."""
    chosen = [column for column in columns if np.ptp(column) > 0]
    return np.column_stack(chosen) if chosen else np.empty((len(columns[0]), 0))


def _bumps(age: Array, known: NDArray[np.bool_]) -> list[Array]:
    """Round hills along the ages that are known, from the youngest tenth to the oldest."""
    if not known.any():
        return []
    tops = np.quantile(age[known], np.linspace(0.1, 0.9, BUMPS))
    width = 0.75 * (tops[-1] - tops[0]) / (BUMPS - 1)
    if width == 0:
        return []
    return [known * np.exp(-(((age - top) / width) ** 2) / 2) for top in np.unique(tops)]


def judged_between_people(
    said: Array, under: Array, group: Codes, features: Described, rng: np.random.Generator
) -> Judged:
    """What do other people, and the generator, lead us to expect of each person in each group?

    `said` is (people, columns), `under` (groups, people, columns).

    >>> rng = np.random.default_rng(0)
    >>> w, a = rng.normal(size=(200, 2)), np.arange(200) % 2
    >>> said = w[:, :1] + a[:, None]
    >>> under = np.stack([w[:, :1], w[:, :1] + 1])
    >>> judged = judged_between_people(said, under, a, Described.of_lines(w), rng)
    >>> bool(abs(judged.effects.mean() - 0.25) < 0.03)
    True
    """
    levels, people, columns = under.shape
    chances, expected = np.empty((levels, people)), np.zeros((levels, people, columns))
    level = np.empty_like(said)
    beyond = np.concatenate(list(under[1:] - under[0]), axis=1)
    for fold in _folds(group, rng):
        rest = np.setdiff1d(np.arange(people), fold)
        known, asked = features.of(rest), features.of(fold)
        beside = (known.curves, asked.curves) if known.curves.size else None
        chances[:, fold] = chances_of_groups(
            known.lines, group[rest], asked.lines, levels, beside=beside
        )
        target = np.hstack([said[rest], beyond[rest]])
        found = regress(known.lines, target, asked.lines, beside=beside)
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
    if method in ("projected", "randomization"):
        test = projected if method == "projected" else randomization
        return test([judged], draws, rng)._replace(effect=calibrated_effect(judged))
    own = within_people(generated, judged)
    if method == "paired":
        average = own.of_own(own.expected) - own.of_own(own.apart)
        withheld = generated.withheld
        plain = average if withheld is None else withheld.reshape(len(withheld), -1)
        return paired([own], [plain], draws, rng)
    found = projected([own], draws, rng)
    if placebo is None:
        return found
    apart = own.scores - within_people(placebo, judged).scores
    t = studentized(means_of(apart))
    # a difference that is the same for everyone has no t: if positive, redrawn groups decide
    constant = ~np.isfinite(t)
    decided = np.where(t > 0, found.log_p_value, 0.0)
    t = np.where(constant, np.where(t > 0, found.statistic, 0.0), t)
    return found._replace(
        statistic=t, log_p_value=np.where(constant, decided, log_normal_tail(t) * (t != 0))
    )


def calibrated_effect(judged: Judged) -> EffectSize:
    """How large is the effect in the direction that the generator gives, whatever size it gives?

    >>> own, expected = np.arange(8) % 2, np.zeros((2, 8, 1))
    >>> expected[1] = 4.0  # the generator says that the group adds 4; it adds 1
    >>> judged = Judged(own[:, None] + 1.5, own, expected, np.full((2, 8), 0.5))
    >>> calibrated_effect(judged).value.tolist()
    [0.25]
    """
    apart, scores = judged.of_own(judged.apart), judged.scores
    squares = (apart**2).sum(axis=0)
    size = np.maximum(scores.sum(axis=0), 0.0) / np.where(squares > 0, squares, 1.0)
    found = means_of(2 * size * scores - (size * apart) ** 2)
    noise = np.sqrt((judged.surprise**2).mean(axis=0))
    return EffectSize(found.value, found.error, found.value, noise)


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
