"""Is nothing fitted twice within a study, and is the answer the one that a first fit gives?"""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import causalfairness as cf
from audit_studies import PREDICTED, people
from causalfairness.estimators import DoublyRobust, cross_fitting, fit_memory
from causalfairness.estimators.fit_memory import remembered_fits, solve_once

DATA = people(900)
MODEL = cf.StandardFairnessModel(**PREDICTED)
LINEAR = DoublyRobust(outcome=LinearRegression(), group=LogisticRegression(), folds=2)


@pytest.fixture
def fits(monkeypatch):
    """A list with an entry for every model that is fitted."""
    seen, fit = [], cross_fitting.fit
    monkeypatch.setattr(
        cross_fitting, "fit", lambda *given: (seen.append(type(given[0])), fit(*given))[1]
    )
    return seen


def decompose(of="outcome", estimator=LINEAR, seed=0):
    return cf.decompose_disparity(DATA, MODEL, of=of, estimator=estimator, seed=seed)


def test_what_was_fitted_is_not_fitted_again_and_says_the_same(fits):
    plain = decompose()
    alone = len(fits)
    with remembered_fits():
        first, second = decompose(), decompose()
        assert len(fits) == 2 * alone
        decompose("prediction")
        groups = 2 * 2  # P(A | C) and P(A | M, C), in both folds
        assert len(fits) == 3 * alone - groups
    for found in (first, second):
        assert np.array_equal(found.world_means.spreads, plain.world_means.spreads)
        assert found.diagnostics == plain.diagnostics
    decompose()
    assert len(fits) == 4 * alone - groups  # outside nothing is kept


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"estimator": DoublyRobust(outcome=LinearRegression(fit_intercept=False), folds=2)},
        {"estimator": DoublyRobust(group=LogisticRegression(C=0.01), folds=3)},
    ],
    ids=["seed", "learner", "folds"],
)
def test_another_question_is_not_answered_with_what_is_kept(other):
    plain = decompose(**other)
    with remembered_fits():
        decompose()
        again = decompose(**other)
    assert np.array_equal(again.world_means.spreads, plain.world_means.spreads)
    assert not np.array_equal(decompose().world_means.spreads, plain.world_means.spreads)


def test_an_audit_learns_nothing_new_for_business_necessity(fits):
    gaps = [{"ask": "disparity", "of": of} for of in ("outcome", "prediction")]
    asked = {"roles": PREDICTED, "estimator": {"method": "doubly_robust", "folds": 2}}
    counts = []  # of models fitted
    for questions in (gaps, [*gaps, {"ask": "necessity", "margin": 0.1}]):
        fits.clear()
        cf.Audit(questions=questions, sensitivity={"benchmarks": False}, **asked).run(DATA)
        counts.append(len(fits))
    assert counts[0] == counts[1] > 0


def test_what_cannot_be_written_down_is_solved_every_time():
    def solve(some):
        return [np.full(1, each()) for each in some]

    with remembered_fits():
        found = [solve_once(solve, [lambda: 1, lambda: 2]) for _ in range(2)]
    assert [[each.item() for each in some] for some in found] == [[1, 2], [1, 2]]


def test_no_more_is_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(fit_memory, "LARGEST", 20)
    solved = []

    def solve(some):
        solved.extend(some)
        return [np.zeros(1) for _ in some]  # 8 bytes each

    with remembered_fits():
        for asked in ("ab", "ac", "ab"):  # c drives out b, which was not asked for longest
            solve_once(solve, [*asked])
    assert solved == [*"ab", "c", "b"]
