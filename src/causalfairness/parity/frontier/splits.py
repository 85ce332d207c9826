"""Which rows does a predictor learn from, and on which is it judged?

Every repetition is a new split of both groups alike, and the same one for every set of paths, so
that sets are compared on the same people.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.errors import TooFewRowsError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.inference.resampling import check_count
from causalfairness.tables.groups import Members

Positions = NDArray[np.intp]
FEWEST = 10  # rows of each group, in training and in test


class Split(NamedTuple):
    """Which rows are learned from, which are judged, and which seed does the work have?"""

    train: Positions
    test: Positions
    seed: int


def random_splits(
    group: Members, model: StandardFairnessModel, *, repetitions: int, holdout: float, seed: int
) -> list[Split]:
    """Which rows are held out, repetition by repetition? The share `holdout` of either group.

    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> group = np.repeat([0, 1], 40).astype(np.int8)
    >>> one, other = random_splits(group, model, repetitions=2, holdout=0.25, seed=0)
    >>> len(one.train), np.bincount(group[one.test]).tolist(), bool((one.test == other.test).all())
    (60, [10, 10], False)
    """
    check_count("repetitions", repetitions, least=2)
    if not 0 < holdout < 1:
        raise ValueError(f"holdout is the share of rows that are held out; found {holdout!r}")
    return [
        _split(group, model, np.random.default_rng(stream), holdout, stream)
        for stream in np.random.SeedSequence(seed).spawn(repetitions)
    ]


def fold_splits(
    group: Members, model: StandardFairnessModel, *, folds: int, seed: int
) -> list[Split]:
    """Which rows are judged fold by fold, so that everyone is judged once?

    >>> model = StandardFairnessModel(protected="sex", reference="M", comparison="F", outcome="y")
    >>> found = fold_splits(np.repeat([0, 1], 40).astype(np.int8), model, folds=2, seed=0)
    >>> sorted(np.concatenate([each.test for each in found]).tolist()) == list(range(80))
    True
    """
    from causalfairness.estimators.cross_fitting import assign_folds

    check_count("folds", folds, least=2)
    first, *rest = np.random.SeedSequence(seed).spawn(folds + 1)
    fold = assign_folds(group, folds, np.random.default_rng(first))
    found = [
        Split(np.flatnonzero(fold != at), np.flatnonzero(fold == at), _number(stream))
        for at, stream in enumerate(rest)
    ]
    for split in found:
        _check_filled(split, group, model)
    return found


def _split(
    group: Members,
    model: StandardFairnessModel,
    rng: np.random.Generator,
    holdout: float,
    stream: np.random.SeedSequence,
) -> Split:
    train, test = [], []
    for role in (0, 1):
        order = rng.permutation(np.flatnonzero(group == role))
        cut = round(holdout * len(order))
        test.append(order[:cut])
        train.append(order[cut:])
    ends = np.sort(np.concatenate(train)), np.sort(np.concatenate(test))
    found = Split(*ends, _number(stream))
    _check_filled(found, group, model)
    return found


def _number(stream: np.random.SeedSequence) -> int:
    return int(stream.generate_state(1)[0])


def _check_filled(split: Split, group: Members, model: StandardFairnessModel) -> None:
    for what, rows in (("training", split.train), ("test", split.test)):
        counts = np.bincount(group[rows], minlength=2)
        for role, label in enumerate((model.reference_label, model.comparison_label)):
            if counts[role] < FEWEST:
                raise TooFewRowsError(
                    f"the group {label!r} has {counts[role]} {what} rows, at least {FEWEST} are "
                    "needed; bring more data, or hold out another share"
                )
