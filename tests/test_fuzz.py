"""Does any input end in something else than an answer or an error with a name?"""

import time
from itertools import cycle, islice
from pathlib import Path

import pytest

from fuzzing import KINDS, Readers, finding, rounds, seeds

MUTANTS = {"audit": 200, "dot": 800, "graph": 1500, "csv": 200, "record": 150, "kept": 100}
MINUTES = 10


@pytest.fixture(scope="module")
def readers():
    return Readers()


def described(error, content):
    return f"{type(error).__name__}: {str(error)[:300]}\n{content[:2_000]!r}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kept_input_is_answered_or_refused_by_name(kind, readers, tmp_path):
    assert seeds(kind)
    for name, content in seeds(kind).items():
        error = finding(readers, kind, content, tmp_path, Path(name).suffix)
        assert error is None, f"{name}: {described(error, content)}"


@pytest.mark.parametrize("kind", KINDS)
def test_mutants_of_the_kept_inputs_are_answered_or_refused_by_name(kind, readers, tmp_path):
    for ending, content in islice(rounds(kind, 0), MUTANTS[kind]):
        error = finding(readers, kind, content, tmp_path, ending)
        assert error is None, described(error, content)


@pytest.mark.slow
def test_ten_minutes_of_mutants_are_answered_or_refused_by_name(readers, tmp_path):
    turns = cycle([kind for kind in KINDS for _ in range(KINDS[kind][2])])
    streams, began = {kind: rounds(kind, 1) for kind in KINDS}, time.process_time()
    while time.process_time() - began < 60 * MINUTES:
        kind = next(turns)
        ending, content = next(streams[kind])
        error = finding(readers, kind, content, tmp_path, ending)
        assert error is None, f"{kind}{ending}: {described(error, content)}"
