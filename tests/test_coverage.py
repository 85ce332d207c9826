"""Do 95 % intervals hold the truth 95 % of the time? By repetition, at n = 2,000.

`make test-all` draws each world 400 times; `make test` looks at fewer draws and worlds. All counts
of a run are judged together by one familywise binomial bound at 1 %.
"""

import warnings
from collections import Counter

import pytest
from joblib import Parallel, delayed

import causalfairness as cf
from causalfairness.errors import EmptyCellsError
from causalfairness.estimators import DoublyRobust, Strata
from judging import PARTS, fewest_and_most_hits

WORLDS = cf.datasets.worlds.WORLDS
ROWS = 2_000


def hits(name, estimator, seed):
    """Which parts' intervals hold the truth in one draw? None where the draw is refused."""
    world = WORLDS[name]()
    truth = world.true_effects()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = cf.decompose_disparity(
                world.draw(ROWS, seed=seed), world.model, estimator=estimator, seed=seed
            )
        except EmptyCellsError:
            return None
    covered = {}
    for part in PARTS:
        low, high = getattr(found, part).interval()
        covered[part] = low <= truth[part] <= high
    return covered


def judge(names, estimator, draws, workers, first_seed=10_000):
    """Count hits per world and part, and hold each against the bound."""
    counts, answered = Counter(), Counter()
    for name in names:
        seeds = range(first_seed, first_seed + draws)
        for covered in Parallel(n_jobs=workers)(
            delayed(hits)(name, estimator, seed) for seed in seeds
        ):
            if covered is not None:
                answered[name] += 1
                counts.update((name, part) for part, held in covered.items() if held)
    comparisons = len(names) * len(PARTS)
    report = {key: (counts[key], answered[key[0]]) for key in sorted(counts)}
    print("\n".join(f"{n:16} {p:10} {c / d:.3f}" for (n, p), (c, d) in report.items()))
    for name in names:
        assert answered[name] >= 0.9 * draws, name
        for part in PARTS:
            fewest, most = fewest_and_most_hits(answered[name], comparisons)
            count = counts[name, part]
            if part == "indirect" and not WORLDS[name]().model.mediators:
                assert count == answered[name]  # there is no such path: exactly zero, always right
            else:
                assert fewest <= count <= most, (name, part, count, answered[name])


def test_counting_covers_in_a_reduced_run():
    judge(["binary", "sparse_cells"], Strata(), draws=300, workers=1)


def test_models_cover_in_a_reduced_run():
    judge(["linear_gaussian", "rare_group", "med"], DoublyRobust(), draws=25, workers=1)


@pytest.mark.slow
def test_counting_covers_at_the_nominal_rate():
    judge(["binary", "sparse_cells"], Strata(), draws=1_000, workers=2)


@pytest.mark.slow
def test_models_cover_at_the_nominal_rate_in_every_world():
    judge(list(WORLDS), DoublyRobust(), draws=400, workers=2)
