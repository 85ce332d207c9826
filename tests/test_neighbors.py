"""Are the neighbors those that looking at everyone would find, ties and all?

`look_at_everyone` is slow and follows the definition word by word; the search must return the same
people in the same order, through the compiled tree and by measuring everyone, block by block. Data
are drawn so that most distances are tied.
"""

import os
import subprocess
import sys
from contextlib import contextmanager
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
    neighbor_blocks,
    neighbors,
    standardized,
)
from causalfairness.individuals.distances import Terms
from causalfairness.individuals.neighbor_blocks import by_blocks
from causalfairness.individuals.neighbor_search import by_tree
from causalfairness.individuals.neighbors import usual_search

repeatable = settings(max_examples=250, deadline=None, derandomize=True)
both_searches = pytest.mark.parametrize("search", [by_tree, by_blocks])
SHARED = ((by_tree, 1), (by_tree, 2), (by_blocks, 1), (by_blocks, 2))  # with so many workers


@contextmanager
def small_blocks():
    """So that there is something to share, and several blocks of candidates to merge."""
    with patch.object(neighbors, "BLOCK", 4), patch.object(neighbor_blocks, "BLOCK", 150):
        yield


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
    shapes = [(1, 0), (0, 1), (0, 3), (2, 0), (2, 2), (3, 1), (1, 4), (11, 0), (10, 2)]
    p, q = draw(st.sampled_from(shapes))
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
    with small_blocks():
        for search, workers in SHARED:
            found = nearest_neighbors(
                candidates,
                queries,
                k,
                distance=distance,
                exclude=exclude,
                within=within,
                workers=workers,
                search=search,
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
    with small_blocks():
        found = [
            nearest_neighbors(
                candidates,
                queries,
                k,
                distance=StandardizedDistance(features=3),
                within=within,
                workers=workers,
                search=search,
            )
            for search, workers in SHARED
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
    for search in (by_tree, by_blocks):
        found = nearest_neighbors(
            people, asked, 30, distance=distance, exclude=exclude, workers=2, search=search
        )
        assert found.rows.tolist() == rows
        assert found.distances.tolist() == distances


@pytest.mark.parametrize("order", [1, -1])
def test_many_neighbors_of_people_who_stand_in_a_row(order):
    """Where people come sorted, every block holds nearer ones than the last, or none at all."""
    numbers = np.arange(2_000)[::order, None] // 3 * 0.01
    people = Points(numbers, np.zeros((2_000, 0), int))
    distance = mixed_distance(people)
    asked = people.take(np.array([0, 700, 1_999]))
    rows, distances = everyone(people, asked, 400, distance, [-1] * 3, np.inf)
    with small_blocks():
        for search in (by_tree, by_blocks):
            found = nearest_neighbors(people, asked, 400, distance=distance, search=search)
            assert found.rows.tolist() == rows
            assert found.distances.tolist() == distances


# --- which search -------------------------------------------------------------------------------


def search_of(p, q=1):
    people = Points(np.zeros((2, p)), np.zeros((2, q), int))
    return usual_search(Terms(people, people, penalties=np.ones(p + q)))


def test_everyone_is_measured_where_there_are_many_numbers_or_no_compiler(monkeypatch):
    assert search_of(0) is search_of(9) is search_of(9, 20) is by_tree
    assert search_of(10) is search_of(30) is by_blocks
    monkeypatch.setitem(sys.modules, "numba", None)
    assert search_of(0) is search_of(9) is by_blocks


def test_the_usual_search_is_taken_unless_another_is_named():
    wide = Points(np.zeros((2, 10)), np.zeros((2, 0), int))
    with patch.object(neighbor_blocks, "by_blocks", side_effect=by_blocks) as called:
        nearest_neighbors(wide, wide, 1, distance=StandardizedDistance())
        nearest_neighbors(PAIR, PAIR, 1, distance=mixed_distance(PAIR))
        assert called.call_count == 1
        nearest_neighbors(wide, wide, 1, distance=StandardizedDistance(), search=by_tree)
        assert called.call_count == 1


def test_the_tree_says_what_to_install_where_there_is_no_compiler():
    lines = """
import sys
sys.modules["numba"] = None
from causalfairness.individuals.neighbor_search import by_tree
"""
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert done.returncode != 0
    assert "NotInstalledError" in done.stderr
    assert 'pip install "causalfairness[fast]"' in done.stderr


def test_loops_are_compiled_where_nothing_can_be_kept_on_disk(tmp_path):
    blocked = tmp_path / "not-a-folder"
    blocked.touch()
    settings = {
        "NUMBA_CACHE_DIR": str(blocked / "kept"),
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    lines = """
from numba.core.caching import NullCache
from causalfairness.individuals.neighbor_search import _is_better, _search
print([type(loop._cache) is NullCache for loop in (_is_better, _search)])
print([_is_better(0.5, rank, 0.5, 3) for rank in (2, 3)])
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", lines],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **settings},
    )
    assert done.stdout.splitlines() == ["[True, True]", "[True, False]"]


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


@both_searches
def test_true_ties_are_ties_whatever_the_last_bits_say(search):
    thirds = np.array([[0.1, 0.1, 0.1], [0.3, 0.0, 0.0], [0.0, 0.2, 0.1], [0.1, 0.0, 0.2]])
    table = Points(thirds[[0, 1, 2, 3, 0, 1]], np.zeros((6, 0), int))
    distance = MixedDistance(ranges=np.ones(3), weights=np.ones(3))
    assert len({sum(row) for row in thirds.tolist()}) > 1  # as floats they are no ties
    found = nearest_neighbors(
        table, one([0.0] * 3), 6, distance=distance, search=search, within=0.1
    )
    assert found.rows.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert found.distances.tolist() == [[0.1] * 6]


@both_searches
def test_ties_half_way_between_two_steps_of_rounding_are_ties_too(search):
    """1/1024 is 976562.5 steps; sums of six parts that amount to it differ in the last bits."""
    parts = np.array(
        [[6, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [2, 1, 3, 0, 0, 0], [1, 5, 0, 0, 0, 0]]
    )
    sums = [sum(part / 1024 * (1 / 6) for part in row) for row in parts]
    assert len({np.floor(total * 1e9 + 0.5) for total in sums}) > 1
    table = Points(parts / 1024, np.zeros((4, 0), int))
    distance = MixedDistance(ranges=np.ones(6), weights=np.ones(6))
    found = nearest_neighbors(table, one([0.0] * 6), 4, distance=distance, search=search)
    assert found.rows.tolist() == [[0, 1, 2, 3]]


@both_searches
def test_distances_within_one_step_of_rounding_are_ties_however_they_are_ordered(search):
    numbers = 0.1 + np.array([4e-10, 0.0, -4e-10, 3e-10, 1e-10, -1e-10])
    table = Points(numbers[:, None], np.zeros((6, 0), int))
    distance = MixedDistance(ranges=np.ones(1), weights=np.ones(1))
    found = nearest_neighbors(table, one([0.0]), 2, distance=distance, search=search)
    assert found.rows.tolist() == [[0, 1]]
    assert found.distances.tolist() == [[0.1, 0.1]]


@both_searches
def test_points_far_from_zero_keep_their_ties(search):
    table = Points(np.array([[1e9 + 1], [1e9 + 3], [1e9 + 2], [1e9 + 4]]), np.zeros((4, 0), int))
    found = nearest_neighbors(
        table, one([1e9 + 2]), 3, distance=mixed_distance(table), search=search
    )
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


@both_searches
def test_copies_of_one_person_come_in_their_order(search):
    same = Points(np.full((5_000, 1), np.nan), np.full((5_000, 1), -1))
    asked = same.take(np.array([4_000]))
    distance = MixedDistance(ranges=np.ones(1), weights=np.ones(2))
    found = nearest_neighbors(
        same, asked, 3, distance=distance, search=search, exclude=np.array([1])
    )
    assert found.rows.tolist() == [[0, 2, 3]]
    found = nearest_neighbors(same, asked, 3, distance=StandardizedDistance(), search=search)
    assert found.rows.tolist() == [[4_999, 4_998, 4_997]]


@both_searches
def test_fewer_candidates_than_k_leave_places_empty(search):
    table = Points(np.array([[0.0], [1.0]]), np.zeros((2, 0), int))
    found = nearest_neighbors(table, table, 3, distance=mixed_distance(table), search=search)
    assert found.rows.tolist() == [[0, 1, -1], [1, 0, -1]]
    assert found.distances.tolist() == [[0.0, 1.0, np.inf], [0.0, 1.0, np.inf]]
    assert found.counts.tolist() == [2, 2]
    nobody = table.take(np.array([], dtype=np.int64))
    found = nearest_neighbors(nobody, table, 2, distance=mixed_distance(table), search=search)
    assert found.counts.tolist() == [0, 0]
    assert nearest_neighbors(
        table, nobody, 2, distance=mixed_distance(table), search=search
    ).rows.shape == (0, 2)


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


@both_searches
def test_the_data_are_left_as_they_were(search):
    rng = np.random.default_rng(0)
    table = Points(rng.random((500, 2)), rng.integers(0, 3, (500, 1)))
    numbers, codes = table.numbers.copy(), table.codes.copy()
    for distance in (mixed_distance(table), StandardizedDistance()):
        nearest_neighbors(table, table, 4, distance=distance, search=search)
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
