"""Finding the nearest neighbors: against a plain loop, scipy's k-d tree, and brute force.

The loop follows the definition: for each woman of the loan data the distances to the other women
and to all men, sorted. The k-d tree gets one column for each word, worth half a mismatch, so that
its distances are ours; it is timed on some of the queries, because it is slow. Measuring everyone,
which is what remains without a compiler and with many numbers, is held against scikit-learn's
brute force, in turns. CPU time is compared, on one thread each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import causalfairness as cf
from benchmarks.measuring import Finding, cpu_seconds, peak_megabytes
from causalfairness.individuals import Points, mixed_distance, nearest_neighbors
from causalfairness.individuals.neighbor_blocks import by_blocks
from causalfairness.individuals.neighbors import Search

K = 15
LOANS = 5_000
SHARE_FEMALE = 0.343  # as in the published file
FEATURES = ["annual_salary", "account_balance"]
MIXED = 50_000
NUMBERS, CATEGORIES, WORDS = 4, 4, 5  # features of either kind, and words per category
ASKED = {"small": 200, "standard": 500, "large": 2_000}  # queries that the k-d tree is timed on
MANY = {"small": (10**5, 10**4), "standard": (10**6, 10**5), "large": (10**7, 10**5)}
MEASURED, MEASURED_BY = 20_000, 5_000  # people that brute force is timed on, and queries
SHAPES = ((2, 0), (8, 0), (NUMBERS, CATEGORIES))  # numbers and categories, without the compiler
WIDE = 20  # numbers, where no tree is used
ROUNDS = 5
FIRST_CALL = """
import time
import numpy as np
from causalfairness.individuals import Points, mixed_distance, nearest_neighbors
people = Points(np.random.default_rng(0).random((500, 2)), np.zeros((500, 1), np.int32))
started = time.process_time()
nearest_neighbors(people, people, 3, distance=mixed_distance(people))
print(time.process_time() - started)
"""


def measure(size: str) -> Iterator[Finding]:
    """CPU time beside a loop and a tree, the same neighbors, the first call, and memory."""
    yield _first_call()
    yield from _beside_a_loop()
    yield from _beside_a_tree(ASKED[size])
    for shape in SHAPES:
        yield _beside_brute_force(*shape, by_blocks, "without numba")
    yield _beside_brute_force(WIDE, 0, None, "usual search")
    yield from _many(*MANY[size])


# --- a plain loop -----------------------------------------------------------------------------


def by_loop(frame: Any) -> tuple[list[Any], list[Any]]:
    """Neighbors of every woman among women and among men, one woman after the other."""
    table = frame[FEATURES]
    ranges = table.max() - table.min()
    women, men = table[frame["gender"] == "Female"], table[frame["gender"] == "Male"]
    alike: list[Any] = []
    others: list[Any] = []
    for row, woman in women.iterrows():
        for group, found in ((women.drop(index=row), alike), (men, others)):
            distances = ((group - woman).abs() / ranges).mean(axis=1).round(9)
            found.append(distances.sort_values(kind="stable").index[:K].tolist())
    return alike, others


def by_search(frame: Any) -> tuple[Any, Any]:
    """The same, all at once."""
    people = Points(frame[FEATURES].to_numpy(float), np.zeros((len(frame), 0), np.int32))
    distance = mixed_distance(people)
    is_woman = (frame["gender"] == "Female").to_numpy()
    women, men = np.flatnonzero(is_woman), np.flatnonzero(~is_woman)
    asked = people.take(women)
    myself = np.arange(len(women))
    alike = nearest_neighbors(asked, asked, K, distance=distance, exclude=myself)
    others = nearest_neighbors(people.take(men), asked, K, distance=distance)
    return women[alike.rows], men[others.rows]


def _beside_a_loop() -> Iterator[Finding]:
    frame = cf.datasets.make_loan_application(
        LOANS, seed=0, share_female=SHARE_FEMALE, frame="pandas"
    )
    found, ours = _best(lambda: by_search(frame))
    expected, theirs = _timed(lambda: by_loop(frame))
    women = len(found[0])
    name = f"{K} neighbors of {women:,} women in {LOANS:,} loans, both groups"
    yield Finding(name, 1e3 * ours, "CPU ms")
    yield Finding(f"a loop with pandas, {name}", 1e3 * theirs, "CPU ms")
    gain = theirs / ours
    yield Finding(f"a loop with pandas / {name}", gain, "x", ">= 200", gain >= 200)
    pairs = zip(found, expected, strict=True)
    differ = sum(int((mine != np.array(plain)).any(axis=1).sum()) for mine, plain in pairs)
    yield Finding(f"{name}, women whose neighbors differ", differ, "", "== 0", differ == 0)


# --- a k-d tree -------------------------------------------------------------------------------


def mixed_people(rows: int, seed: int, p: int = NUMBERS, q: int = CATEGORIES) -> Points:
    """People of normal numbers and independent words."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, p))
    return Points(numbers, rng.integers(0, WORDS, (rows, q), dtype=np.int32))


def _beside_a_tree(asked: int) -> Iterator[Finding]:
    from scipy.spatial import cKDTree

    people = mixed_people(MIXED, seed=0)
    distance = mixed_distance(people)
    found, ours = _best(lambda: nearest_neighbors(people, people, K, distance=distance))
    columns = _one_hot(people, distance.ranges)
    tree, building = _timed(lambda: cKDTree(columns))
    (theirs, _), answering = _timed(lambda: tree.query(columns[:asked], K, p=1))
    whole = building + answering * MIXED / asked
    name = f"{K} neighbors, {MIXED:,} x {MIXED:,}, {NUMBERS} numbers and {CATEGORIES} categories"
    yield Finding(name, 1e3 * ours, "CPU ms")
    yield Finding(f"cKDTree, {name}, from {asked:,} queries", 1e3 * whole, "CPU ms")
    gain = whole / ours
    yield Finding(f"cKDTree / {name}", gain, "x", ">= 15", gain >= 15)
    gap = float(np.abs(theirs - found.distances[:asked]).max())
    yield Finding(f"{name}, largest difference of distances", gap, "", "<= 1e-9", gap <= 1e-9)


def _one_hot(people: Points, ranges: Any) -> Any:
    """Columns whose absolute differences add up to the mixed distance."""
    words = [column[:, None] == np.arange(WORDS) for column in people.codes.T]
    return np.hstack([people.numbers / ranges, *(hot / 2 for hot in words)]) / people.features


# --- brute force ------------------------------------------------------------------------------


def _beside_brute_force(p: int, q: int, search: Search | None, how: str) -> Finding:
    """The same distances by scikit-learn, which also looks at everyone."""
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    people = mixed_people(MEASURED, 0, p, q)
    asked = people.take(slice(0, MEASURED_BY))
    distance = mixed_distance(people)
    columns = _one_hot(people, distance.ranges)
    peer = NearestNeighbors(n_neighbors=K, algorithm="brute", metric="manhattan").fit(columns)
    ours, theirs = [], []
    with threadpool_limits(1):
        for _ in range(ROUNDS):
            ours.append(
                cpu_seconds(
                    lambda: nearest_neighbors(people, asked, K, distance=distance, search=search)
                )
            )
            theirs.append(cpu_seconds(lambda: peer.kneighbors(columns[:MEASURED_BY])))
    ratio = min(ours) / min(theirs)
    name = f"{how} / brute force, {p} numbers and {q} categories ({min(ours):.2f} CPU s)"
    return Finding(name, ratio, "x", "<= 1.3", ratio <= 1.3)


# --- many people ------------------------------------------------------------------------------


def _many(rows: int, asked: int) -> Iterator[Finding]:
    """What is needed beyond the people that are brought and the neighbors that come back."""
    name = f"{K} neighbors of {asked:,} people among {rows:,}"
    yield Finding(name, _seconds_for_many(rows, asked), "CPU s")
    peak, before = (peak_megabytes(_answer_once, rows, asked, whether) for whether in (True, False))
    yield Finding(f"{name}, peak memory", peak, "MB")
    returned = 16 * K * asked / 2**20
    beyond = (peak - before - returned) * 2**20 / rows
    yield Finding(
        f"{name}, beyond data and result, per row", beyond, "bytes", "< 250", beyond < 250
    )


def _seconds_for_many(rows: int, asked: int) -> float:
    people, others = mixed_people(rows, seed=0), mixed_people(asked, seed=1)
    distance = mixed_distance(people)
    return cpu_seconds(lambda: nearest_neighbors(people, others, K, distance=distance))


def _answer_once(rows: int, asked: int, whether: bool) -> None:
    few = mixed_people(300, seed=0)
    nearest_neighbors(few, few, K, distance=mixed_distance(few))  # what is loaded on first use
    people, others = mixed_people(rows, seed=0), mixed_people(asked, seed=1)
    if whether:
        nearest_neighbors(people, others, K, distance=mixed_distance(people))


# --- timing -----------------------------------------------------------------------------------


def _first_call() -> Finding:
    """In a fresh process with nothing kept from earlier ones."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", FIRST_CALL],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    seconds = float(done.stdout)
    return Finding("neighbors, first call ever", seconds, "CPU s", "< 6", seconds < 6)


def _best(answer: Callable[[], Any]) -> tuple[Any, float]:
    """The least CPU time of some rounds; one before them warms up."""
    answer()
    rounds = [_timed(answer) for _ in range(ROUNDS)]
    return rounds[0][0], min(seconds for _, seconds in rounds)


def _timed(answer: Callable[[], Any]) -> tuple[Any, float]:
    kept: list[Any] = []
    seconds = cpu_seconds(lambda: kept.append(answer()))
    return kept[0], seconds
