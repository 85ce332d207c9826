"""Do estimators that agree look like it, and does a wrong one stand out?"""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from causalfairness.errors import ColumnNotFoundError, EmptyCellsError
from causalfairness.estimators import DoublyRobust, Strata, Weighting
from causalfairness.inference import holm, two_sided_p_value
from judging import PARTS

BINARY = cf.datasets.worlds.binary()
GAUSSIAN = cf.datasets.worlds.linear_gaussian()
PLAIN = {"outcome": LinearRegression(), "group": LogisticRegression()}


@pytest.fixture(scope="module")
def agreeing():
    estimators = [Strata(), DoublyRobust(**PLAIN, nested=LinearRegression())]
    return cf.compare_estimators(BINARY.draw(4_000, seed=0), BINARY.model, estimators)


@pytest.fixture(scope="module")
def contradicting():
    blind = Weighting(group=DummyClassifier(strategy="prior"), replicates=50)
    estimators = {"sighted": Weighting(replicates=50), "blind": blind}
    return cf.compare_estimators(GAUSSIAN.draw(4_000, seed=0), GAUSSIAN.model, estimators)


def test_each_answer_is_that_of_the_estimator_alone(agreeing):
    alone = cf.decompose_disparity(
        BINARY.draw(4_000, seed=0), BINARY.model, estimator=Strata(), seed=0
    )
    for part in PARTS:
        one, other = getattr(agreeing.by_estimator["Strata"], part), getattr(alone, part)
        assert (one.value, one.standard_error) == (other.value, other.standard_error)


def test_right_estimators_agree(agreeing):
    assert agreeing.disagreements() == ()
    assert len(agreeing.differences()) == 3
    assert all("no further apart than chance" in line for line in agreeing.sentences())


def test_a_blind_one_stands_out(contradicting):
    found = contradicting.disagreements()
    assert {pair.part for pair in found} >= {"direct", "spurious"}
    assert all(pair.is_exact for pair in found)
    assert "further apart than chance explains: sighted and blind by" in str(contradicting)
    assert [pair.p_value for pair in found] == sorted(pair.p_value for pair in found)


def test_on_one_basis_the_difference_has_its_own_standard_error(contradicting):
    one, other = contradicting.by_estimator.values()
    pair = next(pair for pair in contradicting.differences() if pair.part == "direct")
    assert pair.value == pytest.approx(one.direct.value - other.direct.value)
    spread = one.direct.spread - other.direct.spread
    assert pair.standard_error == pytest.approx(np.linalg.norm(spread))
    assert pair.standard_error < one.direct.standard_error + other.direct.standard_error


def test_across_bases_the_standard_error_is_an_upper_bound(agreeing):
    one, other = agreeing.by_estimator.values()
    pair = next(pair for pair in agreeing.differences() if pair.part == "indirect")
    assert not pair.is_exact
    assert pair.standard_error == pytest.approx(
        one.indirect.standard_error + other.indirect.standard_error
    )


def test_p_values_are_adjusted_after_holm(contradicting):
    pairs = contradicting.differences()
    raw = np.array([two_sided_p_value(pair.value, pair.standard_error) for pair in pairs])
    assert [pair.p_value for pair in pairs] == pytest.approx(holm(raw).tolist())
    assert max(pair.p_value for pair in pairs) > raw.min()
    assert any(pair.p_value > p for pair, p in zip(pairs, raw, strict=True) if 0 < p < 1)


def test_p_values_allow_for_all_pairs_and_parts():
    estimators = {str(at): Weighting(replicates=20 + at) for at in range(3)}
    found = cf.compare_estimators(BINARY.draw(600, seed=1), BINARY.model, estimators)
    assert len(found.differences()) == 9
    assert all(pair.p_value == 1.0 for pair in found.differences())  # the same answer thrice


def test_one_that_refuses_is_reported_and_the_others_answer():
    found = cf.compare_estimators(
        GAUSSIAN.draw(500, seed=0), GAUSSIAN.model, [Strata(), DoublyRobust(**PLAIN)]
    )
    assert list(found.by_estimator) == ["DoublyRobust"]
    assert "seen in one group only" in found.refused["Strata"]
    assert "no answer: Strata: " in str(found)


def test_if_none_answers_the_first_reason_is_raised():
    with pytest.raises(EmptyCellsError, match="seen in one group only"):
        cf.compare_estimators(GAUSSIAN.draw(500, seed=0), GAUSSIAN.model, [Strata()])
    with pytest.raises(ColumnNotFoundError, match="no column"):
        cf.compare_estimators(BINARY.draw(50, seed=0).select(["y"]), BINARY.model, [Strata()])


def test_two_of_a_kind_are_numbered_and_explained():
    found = cf.compare_estimators(
        BINARY.draw(1_000, seed=0), BINARY.model, [Strata(), Strata(smoothing=2)]
    )
    assert list(found.by_estimator) == ["Strata #1", "Strata #2"]
    assert "Strata #2: Strata(empty_cells='refuse', smoothing=2)" in str(found)
    assert found.table().names[:2] == ("Strata #1: total", "Strata #1: direct")
    assert "Strata #2: misfit" in found.table().names


def test_a_picture_can_be_drawn_of_it(agreeing):
    from matplotlib.figure import Figure

    ax = Figure(layout="constrained").subplots()
    assert cf.plots.side_by_side(agreeing.by_estimator, ax) is ax
    assert "<pre>" in agreeing._repr_html_()


def test_nothing_to_compare_is_refused():
    with pytest.raises(ValueError, match="there is no estimator to compare"):
        cf.compare_estimators(BINARY.draw(50, seed=0), BINARY.model, [])
    with pytest.raises(ValueError, match="convention must be"):
        cf.compare_estimators(BINARY.draw(50, seed=0), BINARY.model, [Strata()], convention="both")
