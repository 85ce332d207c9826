"""Are the neighbors those that looking at everyone would find, ties and all?

`look_at_everyone` is slow and follows the definition word by word; the search must return the same
people in the same order. Data are drawn so that most distances are tied.
"""

import os
import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalfairness.errors import MissingValuesError, NeighborError, WeightError
from causalfairness.individuals import (
    MixedDistance,
    Points,
    StandardizedDistance,
    mixed_distance,
    nearest_neighbors,
    neighbors,
    standardized,
)
from causalfairness.individuals.distances import Terms

repeatable = settings(max_examples=250, deadline=None, derandomize=True)


# --- the oracle -------------------------------------------------------------------------------


def look_at_everyone(distances, k, *, exclude=-1, within=np.inf, larger_first=False):
    """The k nearest to one query: sort everyone by distance, then by position."""
    allowed = [at for at, apart in enumerate(distances) if at != exclude and apart <= within]
    best = sorted(allowed, key=lambda at: (distances[at], -at if larger_first else at))[:k]
    rest = k - len(best)
    return [*best, *[-1] * rest], [*[distances[at] for at in best], *[np.inf] * rest]


def mixed_by_hand(candidates, numbers, codes, ranges, weights):
    """Distances of all candidates from one query, feature by feature."""
    total = np.zeros(len(candidates))
    for j, reach in enumerate(ranges):
        mine = candidates.numbers[:, j]
        apart = (mine != numbers[j]).astype(float) if reach == 0 else abs(mine - numbers[j]) / reach
        apart[np.isnan(mine) | np.isnan(numbers[j])] = 1
        total += weights[j] * apart
    for c, code in enumerate(codes):
        mine = candidates.codes[:, c]
        total += weights[len(ranges) + c] * ((mine != code) | (mine == -1))
    return np.round(total / sum(weights), 9)


def published_by_hand(candidates, numbers, codes, features):
    total = np.zeros(len(candidates))
    for j, number in enumerate(numbers):
        total += abs(candidates.numbers[:, j] - number)
    return ((candidates.codes != codes).sum(axis=1) + total) / features


# --- people -----------------------------------------------------------------------------------


@st.composite
def crowds(draw):
    """Candidates and queries on a coarse grid, so that nearly all distances are tied."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p, q = draw(st.sampled_from([(1, 0), (0, 1), (0, 3), (2, 0), (2, 2), (3, 1), (1, 4)]))
    n, m = draw(st.integers(1, 900)), draw(st.integers(1, 25))
    steps, categories = draw(st.sampled_from([2, 5, 40])), draw(st.sampled_from([2, 3, 80]))
    missing = draw(st.sampled_from([0.0, 0.0, 0.1, 0.9]))
    beyond = draw(st.integers(0, 2))  # counterfactual people may leave the range

    def people(count, beyond=0):
        numbers = rng.integers(-beyond, steps + 1 + beyond, (count, p)) * 0.1
        codes = rng.integers(0, categories + beyond, (count, q))
        numbers[rng.random((count, p)) < missing] = np.nan
        codes[rng.random((count, q)) < missing] = -1
        return Points(numbers, codes)

    return rng, people(n), people(m, beyond)


def everyone(candidates, queries, k, distance, exclude, within):
    found = [
        look_at_everyone(
            mixed_by_hand(candidates, *query, distance.ranges, distance.weights),
            k,
            exclude=exclude[at],
            within=within,
        )
        for at, query in enumerate(zip(queries.numbers, queries.codes, strict=True))
    ]
    return [rows for rows, _ in found], [distances for _, distances in found]


# --- the same people as looking at everyone -----------------------------------------------------


@repeatable
@given(
    crowds(),
    st.sampled_from([1, 2, 15, 100, 200]),
    st.sampled_from([None, 0.0, 0.1, 0.25, 0.5]),
    st.booleans(),
)
def test_neighbors_are_those_of_looking_at_everyone(crowd, k, within, weighted):
    rng, candidates, queries = crowd
    weights = rng.choice([0, 0.5, 1, 3], candidates.features) if weighted else None
    if weighted and not weights.any():
        weights[0] = 1
    distance = mixed_distance(candidates, weights)
    exclude = rng.integers(-1, len(candidates), len(queries))
    limit = np.inf if within is None else within
    rows, distances = everyone(candidates, queries, k, distance, exclude, limit)
    with patch.object(neighbors, "BLOCK", 4):  # so that there is something to share
        for workers in (1, 2):
            found = nearest_neighbors(
                candidates,
                queries,
                k,
                distance=distance,
                exclude=exclude,
                within=within,
                workers=workers,
            )
            assert found.rows.tolist() == rows
            assert found.distances.tolist() == distances


@repeatable
@given(crowds(), st.sampled_from([1, 16, 101, 301]), st.sampled_from([None, 0.6, 1.0]))
def test_the_published_variant_compares_floats_and_prefers_the_larger_row(crowd, k, within):
    rng, candidates, queries = crowd
    both = [Points(np.nan_to_num(people.numbers), abs(people.codes)) for people in crowd[1:]]
    scale = rng.normal(size=candidates.numbers.shape[1])  # so that true ties differ in last bits
    candidates, queries = (Points(people.numbers * scale, people.codes) for people in both)
    found = [
        nearest_neighbors(
            candidates,
            queries,
            k,
            distance=StandardizedDistance(features=3),
            within=within,
            workers=workers,
        )
        for workers in (1, 2)
    ]
    limit = np.inf if within is None else within
    for at, query in enumerate(zip(queries.numbers, queries.codes, strict=True)):
        distances = published_by_hand(candidates, *query, 3)
        expected = look_at_everyone(distances, k, within=limit, larger_first=True)
        for answer in found:
            assert (answer.rows[at].tolist(), answer.distances[at].tolist()) == expected


def test_many_people_on_a_fine_scale():
    rng = np.random.default_rng(1)
    people = Points(rng.normal(size=(6_000, 3)), rng.integers(0, 4, (6_000, 2)))
    distance = mixed_distance(people)
    asked = people.take(np.arange(0, 6_000, 60))
    exclude = np.arange(0, 6_000, 60)
    rows, distances = everyone(people, asked, 30, distance, exclude, np.inf)
    found = nearest_neighbors(people, asked, 30, distance=distance, exclude=exclude, workers=2)
    assert found.rows.tolist() == rows
    assert found.distances.tolist() == distances


def test_the_answer_is_the_same_on_one_thread_and_where_nothing_can_be_kept_on_disk(tmp_path):
    blocked = tmp_path / "not-a-folder"
    blocked.touch()
    settings = {
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
        "NUMBA_CACHE_DIR": str(blocked / "kept"),
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    lines = """
import numpy as np
from causalfairness.individuals import Points, mixed_distance, nearest_neighbors
rng = np.random.default_rng(0)
people = Points(rng.integers(0, 4, (2000, 2)), rng.integers(0, 3, (2000, 1)))
found = nearest_neighbors(people, people, 5, distance=mixed_distance(people), workers=2)
answer = int((found.rows * np.arange(1, 6)).sum()), float(found.distances.sum())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", lines + "print(answer)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **settings},
    )
    here = {}
    exec(lines, here)
    assert done.stdout.strip() == str(here["answer"])


# --- distances ----------------------------------------------------------------------------------


def one(numbers=(), codes=()):
    return Points(np.array([numbers], float), np.array([codes], dtype=np.int64))


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (one([2.0], [0]), one([4.0], [0]), 0.1),  # |2 - 4| / 10, half of it
        (one([2.0], [0]), one([4.0], [1]), 0.6),
        (one([np.nan], [0]), one([4.0], [0]), 0.5),
        (one([4.0], [0]), one([np.nan], [0]), 0.5),
        (one([np.nan], [-1]), one([np.nan], [-1]), 1.0),  # missing is unlike missing
        (one([2.0], [-1]), one([2.0], [0]), 0.5),
        (one([0.0], [1]), one([25.0], [1]), 1.25),  # beyond the range
    ],
)
def test_the_mixed_distance_of_two_people(first, second, apart):
    distance = MixedDistance(ranges=np.array([10.0]), weights=np.ones(2))
    assert nearest_neighbors(first, second, 1, distance=distance).distances[0, 0] == apart


def test_a_number_that_never_varies_is_compared_as_a_category():
    table = Points(np.full((3, 1), 7.0), np.array([[0], [1], [1]]))
    distance = mixed_distance(table)
    assert distance.ranges.tolist() == [0.0]
    asked = Points(np.array([[7.0], [7.5], [np.nan]]), np.array([[1], [1], [1]]))
    found = nearest_neighbors(table, asked, 1, distance=distance)
    assert found.rows.ravel().tolist() == [1, 1, 1]
    assert found.distances.ravel().tolist() == [0.0, 0.5, 0.5]


def test_ranges_ignore_what_is_missing():
    table = Points(
        np.array([[1.0, np.nan], [np.nan, np.nan], [4.0, np.nan]]), np.zeros((3, 0), int)
    )
    assert mixed_distance(table).ranges.tolist() == [3.0, 0.0]


def test_weights_count_features_more_or_not_at_all():
    table = Points(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[0], [0], [1]]))
    distance = MixedDistance(ranges=np.ones(2), weights=np.array([3.0, 1.0, 0.0]))
    found = nearest_neighbors(table, table.take(np.array([0])), 3, distance=distance)
    assert found.rows.tolist() == [[0, 2, 1]]
    assert found.distances.tolist() == [[0.0, 0.25, 0.75]]


def test_true_ties_are_ties_whatever_the_last_bits_say():
    thirds = np.array([[0.1, 0.1, 0.1], [0.3, 0.0, 0.0], [0.0, 0.2, 0.1], [0.1, 0.0, 0.2]])
    table = Points(thirds[[0, 1, 2, 3, 0, 1]], np.zeros((6, 0), int))
    distance = MixedDistance(ranges=np.ones(3), weights=np.ones(3))
    assert len({sum(row) for row in thirds.tolist()}) > 1  # as floats they are no ties
    found = nearest_neighbors(table, one([0.0] * 3), 6, distance=distance, within=0.1)
    assert found.rows.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert found.distances.tolist() == [[0.1] * 6]


def test_ties_half_way_between_two_steps_of_rounding_are_ties_too():
    """1/1024 is 976562.5 steps; sums of six parts that amount to it differ in the last bits."""
    parts = np.array(
        [[6, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [2, 1, 3, 0, 0, 0], [1, 5, 0, 0, 0, 0]]
    )
    sums = [sum(part / 1024 * (1 / 6) for part in row) for row in parts]
    assert len({np.floor(total * 1e9 + 0.5) for total in sums}) > 1
    table = Points(parts / 1024, np.zeros((4, 0), int))
    distance = MixedDistance(ranges=np.ones(6), weights=np.ones(6))
    found = nearest_neighbors(table, one([0.0] * 6), 4, distance=distance)
    assert found.rows.tolist() == [[0, 1, 2, 3]]


def test_points_far_from_zero_keep_their_ties():
    table = Points(np.array([[1e9 + 1], [1e9 + 3], [1e9 + 2], [1e9 + 4]]), np.zeros((4, 0), int))
    found = nearest_neighbors(table, one([1e9 + 2]), 3, distance=mixed_distance(table))
    assert found.rows.tolist() == [[2, 0, 1]]
    assert found.distances.tolist() == [[0.0, 0.333333333, 0.333333333]]


def test_standardized_people_have_mean_0_and_deviation_1_in_their_own_table():
    rng = np.random.default_rng(0)
    table = Points(rng.gamma(2.0, size=(50, 2)), np.zeros((50, 0), int))
    scores = standardized(table).numbers
    assert scores.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert (scores**2).mean(axis=0) == pytest.approx([1, 1], abs=1e-12)


class Halved:
    """A distance of one's own: half the difference, whatever the range."""

    def terms(self, candidates, queries):
        return Terms(candidates, queries, penalties=np.ones(1), divisor=2.0)


def test_a_distance_of_ones_own_is_a_sum_over_features():
    table = Points(np.array([[0.0], [0.6], [np.nan]]), np.zeros((3, 0), int))
    found = nearest_neighbors(table, one([0.2]), 3, distance=Halved(), within=0.3)
    assert found.rows.tolist() == [[0, 1, -1]]
    assert found.distances.tolist() == [[0.1, 0.2, np.inf]]


# --- edges --------------------------------------------------------------------------------------


def test_copies_of_one_person_come_in_their_order():
    same = Points(np.full((5_000, 1), np.nan), np.full((5_000, 1), -1))
    asked = same.take(np.array([4_000]))
    distance = MixedDistance(ranges=np.ones(1), weights=np.ones(2))
    found = nearest_neighbors(same, asked, 3, distance=distance, exclude=np.array([1]))
    assert found.rows.tolist() == [[0, 2, 3]]
    found = nearest_neighbors(same, asked, 3, distance=StandardizedDistance())
    assert found.rows.tolist() == [[4_999, 4_998, 4_997]]


def test_fewer_candidates_than_k_leave_places_empty():
    table = Points(np.array([[0.0], [1.0]]), np.zeros((2, 0), int))
    found = nearest_neighbors(table, table, 3, distance=mixed_distance(table))
    assert found.rows.tolist() == [[0, 1, -1], [1, 0, -1]]
    assert found.distances.tolist() == [[0.0, 1.0, np.inf], [0.0, 1.0, np.inf]]
    assert found.counts.tolist() == [2, 2]
    nobody = table.take(np.array([], dtype=np.int64))
    found = nearest_neighbors(nobody, table, 2, distance=mixed_distance(table))
    assert found.counts.tolist() == [0, 0]
    assert nearest_neighbors(table, nobody, 2, distance=mixed_distance(table)).rows.shape == (0, 2)


def test_one_compiled_function_serves_every_layout_of_the_data():
    from causalfairness.individuals.neighbor_search import _search

    rng = np.random.default_rng(0)
    numbers, codes = rng.random((200, 2)), rng.integers(0, 3, (200, 2), dtype=np.int32)
    table = Points(numbers, codes)
    expected = nearest_neighbors(table, table, 4, distance=StandardizedDistance())
    before = len(_search.signatures)
    frozen = numbers.copy()
    frozen.setflags(write=False)
    for other in (np.asfortranarray(numbers), frozen, np.repeat(numbers, 2, axis=1)[:, ::2]):
        layout = Points(other, np.asfortranarray(codes).astype(np.int64))
        found = nearest_neighbors(layout, layout, 4, distance=StandardizedDistance())
        assert np.array_equal(found.rows, expected.rows)
        nearest_neighbors(layout, layout, 4, distance=mixed_distance(layout))
    bare = Points(numbers, np.zeros((200, 0), int))
    nearest_neighbors(bare, bare, np.int64(4), distance=mixed_distance(bare), within=1)
    assert len(_search.signatures) == before


def test_the_data_are_left_as_they_were():
    rng = np.random.default_rng(0)
    table = Points(rng.random((500, 2)), rng.integers(0, 3, (500, 1)))
    numbers, codes = table.numbers.copy(), table.codes.copy()
    for distance in (mixed_distance(table), StandardizedDistance()):
        nearest_neighbors(table, table, 4, distance=distance)
    assert np.array_equal(table.numbers, numbers)
    assert np.array_equal(table.codes, codes)


# --- refusals -----------------------------------------------------------------------------------

PAIR = Points(np.array([[0.0], [1.0]]), np.array([[0], [1]]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": 0}, "at least 1; found 0"),
        ({"k": 1.5}, r"found 1\.5"),
        ({"k": True}, "found True"),
        ({"within": -0.1}, r"found -0\.1"),
        ({"within": float("nan")}, "found nan"),
        ({"exclude": np.array([0])}, "each of 2 queries"),
        ({"exclude": np.array([0.0, 1.0])}, "float64"),
        ({"exclude": np.array([0, 2])}, "from 0 to 2; there are 2 candidates"),
        ({"exclude": np.array([-2, 0])}, "from -2 to 0"),
        ({"queries": one([1.0])}, "1 numbers and 1 categories; found points of 1 numbers and 0"),
        (
            {"queries": one([1.0]), "distance": StandardizedDistance()},
            "candidates have 1 numbers and 1 categories, queries 1 and 0",
        ),
        ({"distance": MixedDistance(np.ones(2), np.ones(3))}, "2 numbers and 1 categories; found"),
        ({"distance": StandardizedDistance(features=0)}, "divisor 0"),
        ({"candidates": one(), "queries": one()}, "no feature"),
    ],
)
def test_questions_that_make_no_sense_are_refused(change, says):
    question = {"candidates": PAIR, "queries": PAIR, "k": 1, "distance": mixed_distance(PAIR)}
    with pytest.raises(NeighborError, match=says):
        nearest_neighbors(**{**question, **change})


def test_without_a_worker_nothing_is_done():
    with pytest.raises(ValueError, match="workers must be 1 or more; found 0"):
        nearest_neighbors(PAIR, PAIR, 1, distance=mixed_distance(PAIR), workers=0)


@pytest.mark.parametrize(
    ("numbers", "codes", "says"),
    [
        ([[0.0], [-np.inf]], [[0], [0]], "number 0 of row 1 is -inf"),
        ([[0.0]], [[0], [0]], r"\(1, 1\) and codes of shape \(2, 1\)"),
        ([0.0], [[0]], r"shape \(1,\)"),
        ([[0.0]], [[-2]], "from -2"),
        ([[0.0]], [[0.5]], "float64"),
        ([[0.0]], [[2**40]], "up to 1099511627776"),
    ],
)
def test_points_that_cannot_be_compared_are_refused(numbers, codes, says):
    with pytest.raises(NeighborError, match=says):
        Points(np.array(numbers), np.array(codes))


@pytest.mark.parametrize("weights", [[1.0, -1.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(WeightError, match="at least one of them above 0"):
        mixed_distance(PAIR, weights)


def test_a_weight_is_needed_for_every_feature():
    with pytest.raises(NeighborError, match="1 numbers and 0 categories; found points"):
        nearest_neighbors(PAIR, PAIR, 1, distance=mixed_distance(PAIR, [1.0]))


@pytest.mark.parametrize("ranges", [[-1.0], [np.nan], [np.inf]])
def test_ranges_that_are_none_are_refused(ranges):
    with pytest.raises(NeighborError, match="found the ranges"):
        MixedDistance(ranges=np.array(ranges), weights=np.ones(2))


def test_numbers_too_far_apart_to_have_a_range_are_refused():
    far = Points(np.array([[1e308], [-1e308]]), np.zeros((2, 0), int))
    with pytest.raises(NeighborError, match="found the ranges"):
        mixed_distance(far)


def test_numbers_too_far_apart_for_their_range_are_refused():
    distance = MixedDistance(ranges=np.array([1e-200]), weights=np.ones(2))
    far = Points(np.array([[0.0], [1e200]]), np.array([[0], [0]]))
    with pytest.raises(NeighborError, match="too many ranges apart"):
        nearest_neighbors(far, far, 1, distance=distance)


def test_a_distance_of_ones_own_is_checked():
    with pytest.raises(NeighborError, match="expected 2 finite penalties"):
        Terms(PAIR, PAIR, penalties=np.array([-1.0, 1.0]))


def test_standardizing_needs_numbers_that_are_there_and_vary():
    gaps = Points(np.array([[0.0], [np.nan]]), np.zeros((2, 0), int))
    with pytest.raises(MissingValuesError, match="no rule for that"):
        standardized(gaps)
    constant = Points(np.array([[0.0, 0.1], [1.0, 0.1], [2.0, 0.1]]), np.zeros((3, 0), int))
    assert constant.numbers[:, 1].var() > 0  # in floating point
    with pytest.raises(NeighborError, match="number 1 is the same for everyone"):
        standardized(constant)
