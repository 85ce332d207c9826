"""Which statistic decides? The three forms of the test, and the p-value each has.

* projected: d of either half from what deviates by group in the other, t of each half's mean, the
  mean of the two t against a standard normal, one-sided. Under invariance the two t rest on the
  same product of noises and are correlated, by 2/pi or more where regressions are linear, so that
  their mean has a variance between 1/2 and 1: the normal errs on the safe side.
* randomization: the mean of d of one half, against the same with the group drawn anew from pi.
* paired: prediction times (g - h), h being a regression of its own; t with n - 1 degrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.invariance.reading import Array
from causalfairness.invariance.scores import EffectSize, Judged, effect_of, means_of, studentized
from causalfairness.invariance.tails import log_f_tail, log_normal_tail

CELLS = 2**22  # redrawn groups that are held at a time
TIED = 1e-12  # of a statistic: closer is equal


class Statistics(NamedTuple):
    """What was found for each model? Arrays of one number each; `drawn` marks redrawn p-values."""

    statistic: Array
    log_p_value: Array
    effect: EffectSize
    people: int
    drawn: NDArray[np.bool_]


def projected(parts: Sequence[Judged], draws: int, rng: np.random.Generator) -> Statistics:
    """Do scores lie above 0, judging either half by the other? The mean of two t."""
    t = np.stack([studentized(means_of(part.scores)) for part in parts])
    silent = np.all([np.all(part.scores == 0, axis=0) for part in parts], axis=0)
    with np.errstate(invalid="ignore"):
        mean = t.mean(axis=0)
    log_p = np.where(silent, 0.0, log_normal_tail(np.nan_to_num(mean)))
    people = sum(len(part.group) for part in parts)
    return _finite(Statistics(mean, log_p, effect_of(parts), people, silent), parts, draws, rng)


def randomization(parts: Sequence[Judged], draws: int, rng: np.random.Generator) -> Statistics:
    """Do scores lie above what they are with groups drawn anew? One half judged by the other."""
    standing, log_p = redrawn(parts[0], draws, rng)
    drawn, people = np.ones(len(log_p), dtype=bool), len(parts[0].group)
    return Statistics(standing, log_p, effect_of(parts[:1]), people, drawn)


def paired(
    parts: Sequence[Judged], pooled: Sequence[Array], draws: int, rng: np.random.Generator
) -> Statistics:
    """Does g times the prediction differ from h times it, with h a regression of its own?"""
    scores = np.concatenate(
        [
            part.predictions * (part.of_own(part.expected) - plain)
            for part, plain in zip(parts, pooled, strict=True)
        ]
    )
    t = studentized(means_of(scores))
    silent = np.all(scores == 0, axis=0)
    log_p = log_f_tail(np.where(np.isfinite(t), t, 0.0) ** 2, 1, len(scores) - 1)
    return _finite(Statistics(t, log_p, effect_of(parts), len(scores), silent), parts, draws, rng)


def redrawn(judged: Judged, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """How does the mean of d compare with its like, with groups drawn from their chances?

    The standing is in standard deviations of the redrawn means; log p counts those that are as
    large, and the observed one.
    """
    observed = judged.scores.mean(axis=0)
    borders = np.cumsum(judged.chances, axis=0)[:-1]
    total, squares = np.zeros_like(observed), np.zeros_like(observed)
    above = np.zeros(len(observed), dtype=np.int64)
    reach = observed - TIED * np.abs(judged.told).max(axis=(0, 1))
    step = max(1, CELLS // len(judged.group))
    for start in range(0, draws, step):
        u = rng.random((min(step, draws - start), len(judged.group)))
        level = (u[None] > borders[:, None]).sum(axis=0)
        means = sum((level == at) @ told for at, told in enumerate(judged.told)) / len(judged.group)
        total, squares = total + means.sum(axis=0), squares + (means**2).sum(axis=0)
        above += (means >= reach).sum(axis=0)
    mean = total / draws
    spread = np.sqrt(np.maximum(squares / draws - mean**2, 0.0))
    known = spread > TIED * np.abs(observed)
    standing = np.where(known, (observed - mean) / np.where(known, spread, 1.0), 0.0)
    return standing, np.log((above + 1) / (draws + 1))


def _finite(
    found: Statistics, parts: Sequence[Judged], draws: int, rng: np.random.Generator
) -> Statistics:
    """Where scores are constant, t has no meaning: groups are drawn anew instead."""
    endless = ~np.isfinite(found.statistic)
    statistic, log_p = found.statistic, found.log_p_value
    if endless.any():
        standing, from_draws = redrawn(parts[0], draws, rng)
        statistic = np.where(endless, standing, statistic)
        log_p = np.where(endless, from_draws, log_p)
    return found._replace(statistic=statistic, log_p_value=log_p, drawn=endless)
